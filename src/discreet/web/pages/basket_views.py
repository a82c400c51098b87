"""Baskets on the page: what an intruder finds, what became of the first ones, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from discreet.baskets import Baskets
from discreet.baskets.exposure import SOURCE, BasketAudit
from discreet.baskets.release import BasketRelease
from discreet.reports.baskets import METHODS
from discreet.reports.words import percent
from discreet.sentences import Sentence, loads
from discreet.web.cases import Case
from discreet.web.jobs.worker import BASKETS, VIEW
from discreet.web.pages.release_views import data
from discreet.web.policies import columns_of

if TYPE_CHECKING:
    from discreet.web.jobs.scheduler import Job
    from discreet.web.service import Service

MOST_SETS = 12
"""So many of the sets that expose are shown to whoever asks."""
MOST_LABELS = 40
"""Of so many labels it is shown what they stand for."""
METHOD_CHOICES = ("auto", *METHODS)
Content = dict[str, Any]


def audit(result: BasketAudit, first: Sequence[Sequence[str]]) -> Content:
    """The verdict on baskets, and what explains it."""
    return data(
        {
            "tone": "good" if result.holds else "bad",
            "words": "These baskets may be released." if result.holds else "Do not release these baskets.",
            "says": result.says,
            "baskets": f"{result.baskets:,}",
            "items": f"{result.items:,}",
            "k": result.k,
            "m": result.m,
            "rho": result.rho,
            "first": first,
            "known": [
                {
                    "known": known.known,
                    "exposed": f"{known.exposed:,}",
                    "share": percent(known.exposed / max(result.baskets, 1)),
                    "success": percent(known.success),
                    "least": f"{known.least:,}",
                }
                for known in result.by_known
            ],
            "sets": [{"items": items, "baskets": support} for items, support in result.exposing[:MOST_SETS]],
            "absent": result.absent,
            "source": SOURCE,
        }
    )


def release(made: BasketRelease, original: Baskets, most: int) -> Content:
    """What became of baskets, what is guaranteed, and what it costs."""
    loss, after = made.loss, made.after
    return data(
        {
            "tone": "good",
            "words": "This release may be handed out.",
            "says": made.says,
            "method": made.method,
            "happened": Sentence(METHODS[made.method]),
            "loss": "" if loss.certainty is None else percent(loss.certainty),
            "pair_error": percent(loss.pair_error),
            "lost_itemsets": percent(loss.lost_itemsets),
            "items_gone": f"{loss.items_gone:,}" if loss.items_gone else "",
            "empty": f"{loss.empty:,}" if loss.empty else "",
            "before": percent(made.before.by_known[-1].success),
            "after": percent(after.by_known[-1].success) if after and after.by_known else "",
            "rows": _rows(made, original, most),
            "labels": [
                {"label": label, "items": items}
                for label, items in islice(made.codebook.items(), MOST_LABELS)
            ],
            "more_labels": max(0, len(made.codebook) - MOST_LABELS),
        }
    )


def _rows(made: BasketRelease, original: Baskets, most: int) -> list[Content]:
    """The first baskets, each item with what became of it; nothing where baskets are not told apart any more."""
    if made.in_order is None:
        return []
    label_of = {item: label for label, items in made.codebook.items() for item in items}
    rows = []
    # A basket without items is none.
    held = (items for items in original.lists() if items)
    for before, after in islice(zip(held, made.in_order.lists(), strict=False), most):
        shown = set(after)
        cells = [(item, label_of.get(item, item)) for item in before]
        rows.append(
            {
                "kept": [item for item, label in cells if item == label and label in shown],
                "gone": [item for item, label in cells if label not in shown],
                "become": [[item, label] for item, label in cells if item != label and label in shown],
            }
        )
    return rows


def offered(case: Case) -> Content | None:
    """What a file that could not be read as a table seems to hold, if that is baskets."""
    file = case.folder / BASKETS
    return loads(file.read_text(encoding="utf-8")) if file.exists() and not case.was_read else None


def items(service: Service, case: Case) -> Content:
    """The columns of a table that may say which item belongs to which basket."""
    if not case.was_read:
        return {"columns": []}
    return {"columns": [(number, column["name"]) for number, column in enumerate(columns_of(case))]}


def judged(service: Service, case: Case) -> Content:
    """By what the baskets were judged, or will be."""
    return {"given": _parameters(service.latest(case, "judge-baskets"))}


def released(service: Service, case: Case) -> Content:
    """How items may be hidden, what was asked for, and whether there is a verdict to release by."""
    done = service.latest(case, "judge-baskets", done=True)
    return {
        "methods": [(name, METHODS.get(name, "")) for name in METHOD_CHOICES],
        "given": _parameters(service.latest(case, "release-baskets")),
        "rho": done is not None and service.document(done, VIEW)["rho"] is not None,
        "judged": done is not None,
    }


def _parameters(job: Job | None) -> Content:
    return {} if job is None else job.task.parameters.model_dump()
