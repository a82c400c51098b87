"""The hierarchy editor: every request is one step on the draft of a column, and answers with what it does."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from starlette.datastructures import UploadFile

from discreet.errors import DiscreetError, InvalidParameter
from discreet.reports.words import SYMBOLS
from discreet.table.hierarchies.edit import (
    as_sets,
    dissolved,
    groups,
    moved,
    renamed,
    taken_out,
    without_level,
)
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.table.hierarchies.registry import BUILDERS
from discreet.web.cases import Case
from discreet.web.hierarchies import (
    Draft,
    Spec,
    column_at,
    describe,
    draft_of,
    fitted,
    records_of,
    required_k,
    set_hierarchy,
)
from discreet.web.jobs.column_values import Values, values_of
from discreet.web.pages.builder_forms import BY_HAND, CHOICES, LEARNED, filled, parsed, proposal
from discreet.web.pages.case import CHANGED, Content, render
from discreet.web.policies import LARGEST_POLICY, policy_of
from discreet.web.refusals import Refusal, explain, not_found
from discreet.web.service import Service

BY_HAND_VALUES = 5_000
"""More values than this cannot be put into groups by hand."""
CHIPS = 150
"""So many values that stand alone are shown at once; a filter finds the others."""
CHIPS_IN_GROUP = 40
GROUPS = 80
Fields = dict[str, list[str]]


async def form_fields(request: Request) -> Fields:
    """All fields of a form; a name can come several times."""
    async with request.form(max_files=0, max_fields=2 * BY_HAND_VALUES) as form:
        return {
            key.removesuffix("[]"): [one for one in form.getlist(key) if isinstance(one, str)] for key in form
        }


async def file_given(request: Request) -> bytes:
    """The file of a form, as far as one more byte than may be taken."""
    async with request.form(max_files=1, max_fields=1) as form:
        given = form.get("file")
        if not isinstance(given, UploadFile):
            raise not_found("file")
        return await given.read(LARGEST_POLICY + 1)


Given = Annotated[Fields, Depends(form_fields)]


def router(service: Service) -> APIRouter:
    """All routes of the editor, on one service."""
    routes = APIRouter(include_in_schema=False, prefix="/case/{case_id}/hierarchy/{number}")

    @routes.get("")
    def open_editor(request: Request, case_id: str, number: int) -> Response:
        desk = Desk(service, case_id, number)
        if desk.values is None and (desk.job is None or desk.job.state == "done"):
            desk.count()
        return desk.show(request)

    @routes.post("/count")
    def count(request: Request, case_id: str, number: int) -> Response:
        desk = Desk(service, case_id, number)
        desk.count()
        return desk.show(request)

    @routes.post("/stop")
    def stop(request: Request, case_id: str, number: int) -> Response:
        desk = Desk(service, case_id, number)
        if desk.job is not None:
            service.jobs.cancel(desk.job)
        return desk.show(request)

    @routes.post("/choose")
    def choose(request: Request, case_id: str, number: int, given: Given) -> Response:
        desk = Desk(service, case_id, number)
        builder = _one(given, "builder")
        if builder not in CHOICES:
            raise not_found("builder")
        return desk.step(request, lambda draft: desk.chosen(draft, builder), form=builder)

    @routes.post("/parameters")
    def parameters(request: Request, case_id: str, number: int, given: Given) -> Response:
        desk = Desk(service, case_id, number)
        builder = _one(given, "builder")
        return desk.step(request, lambda draft: parsed(builder, given), form=builder, part="shown")

    @routes.post("/edit")
    def edit(request: Request, case_id: str, number: int, given: Given) -> Response:
        desk = Desk(service, case_id, number)
        view = View.of(given)
        return desk.step(request, lambda draft: desk.edited(draft, given, view), form=BY_HAND, view=view)

    @routes.post("/view")
    def look(request: Request, case_id: str, number: int, given: Given) -> Response:
        return Desk(service, case_id, number).show(
            request, form=BY_HAND, view=View.of(given), part="groups" if _one(given, "part") else "editor"
        )

    @routes.post("/undo")
    def undo(request: Request, case_id: str, number: int) -> Response:
        return Desk(service, case_id, number).travel(request, -1)

    @routes.post("/redo")
    def redo(request: Request, case_id: str, number: int) -> Response:
        return Desk(service, case_id, number).travel(request, 1)

    @routes.post("/reset")
    def reset(request: Request, case_id: str, number: int) -> Response:
        return Desk(service, case_id, number).step(request, lambda draft: None)

    @routes.post("/save")
    def save(request: Request, case_id: str, number: int, given: Given) -> Response:
        return Desk(service, case_id, number).save(request, _one(given, "form"))

    @routes.post("/file")
    def take_file(
        request: Request, case_id: str, number: int, raw: Annotated[bytes, Depends(file_given)]
    ) -> Response:
        desk = Desk(service, case_id, number)
        return desk.step(request, lambda draft: desk.from_file(raw))

    @routes.get("/file")
    def give_file(case_id: str, number: int) -> Response:
        desk = Desk(service, case_id, number)
        with draft_of(desk.case, desk.name) as draft:
            text = desk.hierarchy(draft.spec).to_csv()
        return Response(
            text,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": f'attachment; filename="hierarchy-{number}.csv"'},
        )

    return routes


class View:
    """What of the groups is looked at: a level, and the values that hold a text."""

    def __init__(self, level: int = 1, text: str = "") -> None:
        self.level = level
        self.text = text

    @classmethod
    def of(cls, given: Fields) -> View:
        level = _one(given, "level")
        return cls(int(level) if level.isascii() and level.isdigit() else 1, _one(given, "text"))


class Desk:
    """One column of one case, with everything that the editor of its hierarchy needs."""

    def __init__(self, service: Service, case_id: str, number: int) -> None:
        self.service = service
        self.case: Case = service.cases.get(case_id)
        column = column_at(self.case, number)
        if column is None:
            raise not_found("column")
        self.number = number
        self.column = column
        self.name: str = column["name"]
        self.values: Values | None = values_of(self.case, self.name)
        self.job = service.latest(self.case, "values")

    def count(self) -> None:
        """Begin to count the values, unless that is under way."""
        if self.job is None or not self.job.active:
            # The table is read once for all columns that may be looked at next.
            others = policy_of(self.case).quasi_identifiers
            names = list(dict.fromkeys([self.name, *others]))
            self.job = self.service.start(self.case, "values", {"columns": names})

    def known(self) -> Values:
        if self.values is None:
            raise Refusal(
                409, "not-ready", "the values have not been counted yet", "open the hierarchy again"
            )
        return self.values

    def hierarchy(self, spec: Spec) -> Hierarchy:
        return fitted(self.case, self.column, spec, self.known()).hierarchy

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────

    def step(
        self,
        request: Request,
        change: Callable[[Draft], Spec],
        *,
        form: str = "",
        view: View | None = None,
        part: str = "editor",
    ) -> Response:
        """Make a step; what makes no hierarchy for this column is told, and is no step."""
        problem = None
        with draft_of(self.case, self.name) as draft:
            try:
                spec = change(draft)
                fitted(self.case, self.column, spec, self.known())
                draft.step(spec)
            except DiscreetError as error:
                problem = explain(error)
        return self.show(request, form=form, view=view, part=part, problem=problem)

    def chosen(self, draft: Draft, builder: str) -> Spec:
        """What another builder makes to begin with; by hand one goes on from where one is."""
        if builder != BY_HAND:
            return proposal(builder, self.known().domain)
        self._refuse_many()
        try:
            return as_sets(self.hierarchy(draft.spec)).to_dict()
        except DiscreetError:
            # What cannot be built cannot be gone on from.
            return {"builder": "flat"}

    def edited(self, draft: Draft, given: Fields, view: View) -> Spec:
        """One change by hand: values are named by their place, so that no value need be repeated."""
        if _one(given, "mark") != draft.mark:
            raise InvalidParameter(
                "this hierarchy has been changed in another window", remedy="look at it again and repeat"
            )
        self._refuse_many()
        found = self.hierarchy(draft.spec)
        level = min(max(view.level, 1), found.height)
        action = _one(given, "action")
        name = _one(given, "name").strip()
        if action in ("move", "take-out"):
            members = _labels(found.labels[level - 1], given.get("members", []))
            if action == "take-out":
                return as_sets(taken_out(found, level, members)).to_dict()
            target = _one(given, "group")
            label = _labels(found.labels[level], [target])[0] if target else name
            return as_sets(moved(found, level, members, label)).to_dict()
        if action == "remove-level":
            return as_sets(without_level(found, level)).to_dict()
        group = _labels(found.labels[level], given.get("group", []))[0]
        if action == "rename":
            return as_sets(renamed(found, level, group, name)).to_dict()
        if action == "dissolve":
            return as_sets(dissolved(found, level, group)).to_dict()
        raise not_found("action")

    def from_file(self, raw: bytes) -> Spec:
        """A hierarchy file as sets, so that the policy needs no file beside it."""
        if len(raw) > LARGEST_POLICY:
            raise Refusal(
                413, "too-large", "this is too large for a hierarchy file", "name it in a policy file"
            )
        place = self.case.folder / f"hierarchy-{secrets.token_hex(8)}.csv"
        try:
            place.write_bytes(raw)
            return as_sets(Hierarchy.read(place, self.name)).to_dict()
        finally:
            place.unlink(missing_ok=True)

    def _refuse_many(self) -> None:
        if len(self.known().domain.values) > BY_HAND_VALUES:
            raise InvalidParameter(
                f"more than {BY_HAND_VALUES:,} values cannot be grouped by hand",
                remedy="choose a builder, or take a hierarchy file",
            )

    def travel(self, request: Request, by: int) -> Response:
        with draft_of(self.case, self.name) as draft:
            draft.move(by)
        return self.show(request)

    def save(self, request: Request, form: str) -> Response:
        """The draft becomes the policy's."""
        with draft_of(self.case, self.name) as draft:
            fitted(self.case, self.column, draft.spec, self.known())
            set_hierarchy(self.case, self.name, draft.spec)
            draft.saved = draft.spec
        response = self.show(request, form=form)
        response.headers.update(CHANGED)
        return response

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────

    def show(
        self,
        request: Request,
        *,
        form: str = "",
        view: View | None = None,
        part: str = "editor",
        problem: Any = None,
    ) -> Response:
        content: Content = {
            "case": self.case,
            "number": self.number,
            "name": self.name,
            "job": self.job,
            "base": f"/case/{self.case.id}/hierarchy/{self.number}",
            "symbols": SYMBOLS,
            "ready": self.values is not None,
            "problem": problem,
        }
        if self.values is not None:
            with draft_of(self.case, self.name) as draft:
                content |= self._content(draft, form, view or View(), problem)
        return render(request, f"parts/hierarchy_{part}.html.jinja", content)

    def _content(self, draft: Draft, form: str, view: View, problem: Any) -> Content:
        values = self.known()
        found = None
        try:
            found = fitted(self.case, self.column, draft.spec, values)
        except DiscreetError as error:
            problem = problem or explain(error)
        builder = _builder_of(draft.spec)
        form = form if form in CHOICES else builder
        by_hand = form == BY_HAND and found is not None and len(values.domain.values) <= BY_HAND_VALUES
        return {
            "problem": problem,
            "draft": draft,
            "in_use": draft.spec == draft.saved,
            "builders": CHOICES,
            "form": form,
            "fields": filled(form, draft.spec),
            "shown": found and describe(self.name, draft.spec, found, values, required_k(self.case)),
            "grouping": found and by_hand and grouping(found.hierarchy, values, view),
        }


def _builder_of(spec: Spec) -> str:
    if isinstance(spec, dict):
        return spec["builder"] if spec.get("builder") in BUILDERS else LEARNED
    return LEARNED


def grouping(hierarchy: Hierarchy, values: Values, view: View) -> dict[str, Any]:
    """One level as groups and what stands alone, by places instead of values; not more than one can look at."""
    level = min(max(view.level, 1), hierarchy.height)
    records = records_of(hierarchy, values)
    totals = [0] * len(hierarchy.labels[level - 1])
    for node, some in zip(hierarchy.nodes[level - 1].tolist(), records.tolist(), strict=True):
        totals[node] += some
    places = {label: place for place, label in enumerate(hierarchy.labels[level - 1])}
    wanted = view.text.casefold().strip()

    def chips(labels: Sequence[str], most: int) -> tuple[list[dict[str, Any]], int]:
        found = [one for one in labels if wanted in one.casefold()]
        shown = [{"place": places[one], "label": one, "records": totals[places[one]]} for one in found[:most]]
        return shown, len(found) - len(shown)

    alone, named = [], []
    new = level == hierarchy.height
    for place, (label, members) in enumerate(groups(hierarchy, level).items() if not new else ()):
        if members == [label]:
            alone.append(label)
        else:
            named.append((place, label, members))
    if new:
        alone = list(hierarchy.labels[level - 1])
    shown, more = chips(sorted(alone, key=lambda one: -totals[places[one]]), CHIPS)
    cards = []
    for place, label, members in named[:GROUPS]:
        inside, further = chips(members, CHIPS_IN_GROUP)
        cards.append(
            {
                "place": place,
                "label": label,
                "members": inside,
                "more": further,
                "values": len(members),
                "records": sum(totals[places[one]] for one in members),
            }
        )
    return {
        "level": level,
        "levels": hierarchy.height,
        "new": new,
        "text": view.text,
        "alone": shown,
        "more": more,
        "groups": cards,
        "more_groups": len(named) - len(cards),
    }


def _one(given: Fields, name: str) -> str:
    return (given.get(name) or [""])[0]


def _labels(labels: Sequence[str], given: Sequence[str]) -> list[str]:
    places = [int(one) for one in given if one.isascii() and one.isdigit()]
    if not places or len(places) < len(given) or max(places) >= len(labels):
        raise InvalidParameter("no value was chosen", remedy="choose one or several values first")
    return [labels[place] for place in places]
