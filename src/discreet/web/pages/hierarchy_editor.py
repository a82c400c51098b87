"""The hierarchy editor: each request changes the draft of a column by one step and shows its effect."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from discreet.errors import DiscreetError, InvalidParameter
from discreet.reports.words import SYMBOLS
from discreet.sentences import Sentence
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
    describe,
    draft_of,
    fitted,
    records_of,
    required_k,
    set_hierarchy,
)
from discreet.web.jobs.column_values import Values, values_of
from discreet.web.pages.builder_forms import BY_HAND, CHOICES, LEARNED, filled, parsed, proposal
from discreet.web.pages.forms import field_lists, sent_file
from discreet.web.pages.rendering import render
from discreet.web.pages.sections import Content
from discreet.web.policies import LARGEST_POLICY, column_at, policy_of
from discreet.web.refusals import ProblemDetails, Refusal, explain, not_found
from discreet.web.security import home_of
from discreet.web.service import Service

BY_HAND_VALUES = 5_000
"""More values than this cannot be put into groups by hand."""
CHIPS = 150
"""So many values that stand alone are shown at once; a filter finds the others."""
CHIPS_IN_GROUP = 40
GROUPS = 80
Fields = dict[str, list[str]]


async def form_fields(request: Request) -> Fields:
    """All fields of a form of the editor."""
    return await field_lists(request, 2 * BY_HAND_VALUES)


async def hierarchy_file(request: Request) -> bytes:
    """The hierarchy file that was sent."""
    return await sent_file(request, "file")


Given = Annotated[Fields, Depends(form_fields)]


def router(service: Service) -> APIRouter:
    """All routes of the editor, on one service."""
    routes = APIRouter(include_in_schema=False, prefix="/case/{case_id}/hierarchy/{number}")
    _opening_routes(routes, service)
    _step_routes(routes, service)
    _file_routes(routes, service)
    return routes


def _opening_routes(routes: APIRouter, service: Service) -> None:
    @routes.get("")
    def open_editor(request: Request, case_id: str, number: int) -> Response:
        editor = Editor(service, case_id, number)
        if editor.values is None and (editor.job is None or editor.job.state == "done"):
            editor.count()
        return editor.show(request)

    @routes.post("/count")
    def count(request: Request, case_id: str, number: int) -> Response:
        editor = Editor(service, case_id, number)
        editor.count()
        return editor.show(request)

    @routes.post("/stop")
    def stop(request: Request, case_id: str, number: int) -> Response:
        editor = Editor(service, case_id, number)
        if editor.job is not None:
            service.jobs.cancel(editor.job)
        return editor.show(request)


def _step_routes(routes: APIRouter, service: Service) -> None:
    @routes.post("/choose")
    def choose(request: Request, case_id: str, number: int, given: Given) -> Response:
        editor = Editor(service, case_id, number)
        builder = _first(given, "builder")
        if builder not in CHOICES:
            raise not_found("builder")
        return editor.step(request, lambda draft: editor.chosen(draft, builder), form=builder)

    @routes.post("/parameters")
    def parameters(request: Request, case_id: str, number: int, given: Given) -> Response:
        editor = Editor(service, case_id, number)
        builder = _first(given, "builder")
        return editor.step(request, lambda draft: parsed(builder, given), form=builder, part="shown")

    @routes.post("/edit")
    def edit(request: Request, case_id: str, number: int, given: Given) -> Response:
        editor = Editor(service, case_id, number)
        view = GroupView.of(given)
        return editor.step(request, lambda draft: editor.edited(draft, given, view), form=BY_HAND, view=view)

    @routes.post("/view")
    def look(request: Request, case_id: str, number: int, given: Given) -> Response:
        return Editor(service, case_id, number).show(
            request,
            form=BY_HAND,
            view=GroupView.of(given),
            part="groups" if _first(given, "part") else "editor",
        )

    @routes.post("/undo")
    def undo(request: Request, case_id: str, number: int) -> Response:
        return Editor(service, case_id, number).move(request, -1)

    @routes.post("/redo")
    def redo(request: Request, case_id: str, number: int) -> Response:
        return Editor(service, case_id, number).move(request, 1)

    @routes.post("/reset")
    def reset(request: Request, case_id: str, number: int) -> Response:
        return Editor(service, case_id, number).step(request, lambda draft: None)

    @routes.post("/save")
    def save(request: Request, case_id: str, number: int, given: Given) -> Response:
        return Editor(service, case_id, number).save(request, _first(given, "form"))


def _file_routes(routes: APIRouter, service: Service) -> None:
    @routes.post("/file")
    def take_file(
        request: Request, case_id: str, number: int, raw: Annotated[bytes, Depends(hierarchy_file)]
    ) -> Response:
        editor = Editor(service, case_id, number)
        return editor.step(request, lambda draft: editor.from_file(raw))

    @routes.get("/file")
    def give_file(case_id: str, number: int) -> Response:
        editor = Editor(service, case_id, number)
        with draft_of(editor.case, editor.name) as draft:
            text = editor.hierarchy(draft.spec).to_csv()
        return Response(
            text,
            media_type="text/csv; charset=utf-8",
            headers={"content-disposition": f'attachment; filename="hierarchy-{number}.csv"'},
        )


@dataclass(frozen=True)
class GroupView:
    """What of the groups is shown: a level, and the values that hold a text."""

    level: int = 1
    text: str = ""

    @classmethod
    def of(cls, given: Fields) -> GroupView:
        level = _first(given, "level")
        return cls(int(level) if level.isascii() and level.isdigit() else 1, _first(given, "text"))


class Editor:
    """The editor of the hierarchy of one column: its values, its draft, the steps, and what is shown."""

    def __init__(self, service: Service, case_id: str, number: int) -> None:
        self.service = service
        self.case: Case = service.cases.get(case_id)
        self.number = number
        self.column = column_at(self.case, number)
        self.name: str = self.column["name"]
        self.values: Values | None = values_of(self.case, self.name)
        self.job = service.latest(self.case, "values")

    def count(self) -> None:
        """Start to count the values, unless that is under way."""
        if self.job is None or not self.job.active:
            # The table is read once for all columns that may be looked at next.
            others = policy_of(self.case).quasi_identifiers
            names = list(dict.fromkeys([self.name, *others]))
            self.job = self.service.start(self.case, "values", {"columns": names})

    def known_values(self) -> Values:
        """The values of the column, which must have been counted."""
        if self.values is None:
            raise Refusal(
                409, "not-ready", "the values have not been counted yet", "open the hierarchy again"
            )
        return self.values

    def hierarchy(self, spec: Spec) -> Hierarchy:
        """The hierarchy that a specification makes of the values."""
        return fitted(self.case, self.column, spec, self.known_values()).hierarchy

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────

    def step(
        self,
        request: Request,
        change: Callable[[Draft], Spec],
        *,
        form: str = "",
        view: GroupView | None = None,
        part: str = "editor",
    ) -> Response:
        """Add a step to the draft; a change that makes no hierarchy for this column is shown as a problem instead."""
        problem = None
        with draft_of(self.case, self.name) as draft:
            try:
                spec = change(draft)
                fitted(self.case, self.column, spec, self.known_values())
                draft.step(spec)
            except DiscreetError as error:
                problem = explain(error)
        return self.show(request, form=form, view=view, part=part, problem=problem)

    def chosen(self, draft: Draft, builder: str) -> Spec:
        """The first proposal of another builder; grouping by hand goes on from the present draft."""
        if builder != BY_HAND:
            return proposal(builder, self.known_values().domain)
        self._refuse_many()
        try:
            return as_sets(self.hierarchy(draft.spec)).to_dict()
        except DiscreetError:
            # What cannot be built cannot be gone on from.
            return {"builder": "flat"}

    def edited(self, draft: Draft, given: Fields, view: GroupView) -> Spec:
        """One change by hand: values are named by their place, so that no value need be repeated."""
        if _first(given, "mark") != draft.mark:
            raise InvalidParameter(
                "this hierarchy has been changed in another window", remedy="look at it again and repeat"
            )
        self._refuse_many()
        hierarchy = self.hierarchy(draft.spec)
        level = min(max(view.level, 1), hierarchy.height)
        action = _first(given, "action")
        name = _first(given, "name").strip()
        if action in ("move", "take-out"):
            members = _labels(hierarchy.labels[level - 1], given.get("members", []))
            if action == "take-out":
                return as_sets(taken_out(hierarchy, level, members)).to_dict()
            target = _first(given, "group")
            label = _labels(hierarchy.labels[level], [target])[0] if target else name
            return as_sets(moved(hierarchy, level, members, label)).to_dict()
        if action == "remove-level":
            return as_sets(without_level(hierarchy, level)).to_dict()
        group = _labels(hierarchy.labels[level], given.get("group", []))[0]
        if action == "rename":
            return as_sets(renamed(hierarchy, level, group, name)).to_dict()
        if action == "dissolve":
            return as_sets(dissolved(hierarchy, level, group)).to_dict()
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
        if len(self.known_values().domain.values) > BY_HAND_VALUES:
            raise InvalidParameter(
                Sentence(
                    "more than {by_hand_values:,} values cannot be grouped by hand",
                    by_hand_values=BY_HAND_VALUES,
                ),
                remedy="choose a builder, or take a hierarchy file",
            )

    def move(self, request: Request, by: int) -> Response:
        """Undo (-1) or redo (1) a step."""
        with draft_of(self.case, self.name) as draft:
            draft.move(by)
        return self.show(request)

    def save(self, request: Request, form: str) -> Response:
        """Write the draft into the policy."""
        with draft_of(self.case, self.name) as draft:
            fitted(self.case, self.column, draft.spec, self.known_values())
            set_hierarchy(self.case, self.name, draft.spec)
            draft.saved = draft.spec
        return self.show(request, form=form)

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────

    def show(
        self,
        request: Request,
        *,
        form: str = "",
        view: GroupView | None = None,
        part: str = "editor",
        problem: ProblemDetails | None = None,
    ) -> Response:
        """The editor, or a part of it, as it is now."""
        if part != "editor":
            # A part shows what the values become.
            self.known_values()
        content: Content = {
            "case": self.case,
            "number": self.number,
            "name": self.name,
            "job": self.job,
            "base": f"{home_of(request.scope)}/case/{self.case.id}/hierarchy/{self.number}",
            "symbols": SYMBOLS,
            "ready": self.values is not None,
            "problem": problem,
        }
        if self.values is not None:
            with draft_of(self.case, self.name) as draft:
                content |= self._content(draft, form, view or GroupView(), problem)
        return render(request, f"parts/hierarchy_{part}.html.jinja", content)

    def _content(self, draft: Draft, form: str, view: GroupView, problem: ProblemDetails | None) -> Content:
        values = self.known_values()
        hierarchy = None
        try:
            hierarchy = fitted(self.case, self.column, draft.spec, values)
        except DiscreetError as error:
            problem = problem or explain(error)
        builder = _builder_of(draft.spec)
        form = form if form in CHOICES else builder
        by_hand = form == BY_HAND and hierarchy is not None and len(values.domain.values) <= BY_HAND_VALUES
        return {
            "problem": problem,
            "draft": draft,
            "in_use": draft.spec == draft.saved,
            "builders": CHOICES,
            "form": form,
            "fields": filled(form, draft.spec),
            "shown": hierarchy and describe(self.name, draft.spec, hierarchy, values, required_k(self.case)),
            "grouping": hierarchy and by_hand and grouping(hierarchy.hierarchy, values, view),
        }


def _builder_of(spec: Spec) -> str:
    if isinstance(spec, dict):
        return spec["builder"] if spec.get("builder") in BUILDERS else LEARNED
    return LEARNED


def grouping(hierarchy: Hierarchy, values: Values, view: GroupView) -> dict[str, Any]:
    """One level as groups and what stands alone, by places instead of values; not more than one can look at."""
    level = min(max(view.level, 1), hierarchy.height)
    records = records_of(hierarchy, values)
    totals = [0] * len(hierarchy.labels[level - 1])
    for node, count in zip(hierarchy.nodes[level - 1].tolist(), records.tolist(), strict=True):
        totals[node] += count
    places = {label: place for place, label in enumerate(hierarchy.labels[level - 1])}
    wanted = view.text.casefold().strip()

    def chips(labels: Sequence[str], most: int) -> tuple[list[dict[str, Any]], int]:
        matching = [label for label in labels if wanted in label.casefold()]
        shown = [
            {"place": places[label], "label": label, "records": totals[places[label]]}
            for label in matching[:most]
        ]
        return shown, len(matching) - len(shown)

    alone, named = [], []
    new = level == hierarchy.height
    for place, (label, members) in enumerate(groups(hierarchy, level).items() if not new else ()):
        if members == [label]:
            alone.append(label)
        else:
            named.append((place, label, members))
    if new:
        alone = list(hierarchy.labels[level - 1])
    shown, more = chips(sorted(alone, key=lambda label: -totals[places[label]]), CHIPS)
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
                "records": sum(totals[places[member]] for member in members),
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


def _first(given: Fields, name: str) -> str:
    return (given.get(name) or [""])[0]


def _labels(labels: Sequence[str], given: Sequence[str]) -> list[str]:
    places = [int(text) for text in given if text.isascii() and text.isdigit()]
    if not places or len(places) < len(given) or max(places) >= len(labels):
        raise InvalidParameter("no value was chosen", remedy="choose one or several values first")
    return [labels[place] for place in places]
