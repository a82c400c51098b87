"""Write docs/reference/coverage.md from the registries: python tools/coverage_page.py"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from discreet.attacks.catalogue import ATTACKS
from discreet.attacks.composition import correspondence, differencing, intersection
from discreet.files.writing import write_text
from discreet.perturb.registry import STEPS
from discreet.privacy import MODELS
from discreet.search import methods
from discreet.utility.measures import MEASURES
from discreet.utility.objectives.registry import OBJECTIVES

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "coverage.md"
HEAD = """# Coverage

Every method, privacy model, objective, risk, measure of loss and attack, and what stands beside them: its name, where it is, and
what it cites.
This page is made from the registries by `python tools/coverage_page.py`; do not edit it.
"""
YEAR = r"\b(?:1[89]|20)\d\d\b"
Row = tuple[str, str, str]
ABSENT: tuple[Row, ...] = (
    (
        "deep generators of artificial records",
        "`synthetic-trees`, `synthesize --method aim`",
        "Xu et al. 2019",
    ),
)
"""What sources name and is not there, what comes nearest, and where it is described."""


def coverage() -> str:
    """The page."""
    return "\n".join(
        [
            HEAD,
            *_section(
                "Methods",
                "`discreet anonymize --method`, or `method` in the policy's `[anonymize]`; [how they search](../explanation/search.md).",
                [(name, _place(method), _cited(method)) for name, method in methods.FUNCTIONS.items()],
            ),
            *_section(
                "Buckets, fragments, streams, baskets and several releases",
                "What `discreet bucketize`, `fragment`, `republish`, `stream` and `baskets` are made of: buckets and fragments "
                "[keep values and cut ties](../how-to/beyond-generalisation.md), a [register](../how-to/register.md) judges "
                "releases together, [streams](../how-to/streams.md) publish while records arrive, "
                "[baskets](../how-to/baskets.md) are sets of items, [trips](cli.md#discreet-trips) rows of events merged.",
                _citing(
                    "discreet.search.buckets",
                    "discreet.search.fragments",
                    "discreet.register",
                    "discreet.baskets",
                )
                + _citing_in(
                    "discreet.release.stream",
                    "discreet.release.composition",
                    "discreet.attacks.linkage.matchings",
                    "discreet.release.confidentiality",
                    "discreet.release.trips",
                ),
            ),
            *_section(
                "Differential privacy",
                "What `discreet ask`, `tabulate`, `synthesize`, `learn` and `safepub` are made of; "
                "[what they promise](../explanation/differential-privacy.md).",
                _citing("discreet.dp"),
            ),
            *_section(
                "Steps of perturbation",
                "`discreet anonymize --perturb`, or `[[perturb]]` in the policy; [what they do](../how-to/beyond-generalisation.md).",
                [(name, _place(step), step.source) for name, step in STEPS.items()],
            ),
            *_section(
                "Privacy models",
                "`model` of a `[[require]]` in the policy; [definitions](measures.md).",
                [(name, _place(model), model.source) for name, model in MODELS.items()],
            ),
            *_section(
                "Objectives",
                "`discreet anonymize --objective`, or `objective` in the policy's `[anonymize]`.",
                [(name, _place(goal), _cited(goal)) for name, goal in _objectives()],
            ),
            *_section(
                "Risks",
                "`discreet audit`; [definitions](risks.md).",
                _citing("discreet.risk"),
            ),
            *_section(
                "Measures of loss",
                "`discreet compare`; [definitions](../explanation/utility.md).",
                [(name, _place(entry.function), entry.definition.source) for name, entry in MEASURES.items()],
            ),
            *_section(
                "Attacks",
                "`discreet attack --attacks`; [those that look for a record](../explanation/attacks-linkage.md), "
                "[those on what classes say](../explanation/attacks-disclosure.md).",
                [
                    *(
                        (name, f"discreet.attacks.{kind.function}", kind.source)
                        for name, kind in ATTACKS.items()
                    ),
                    (
                        intersection.INTERSECTION,
                        "discreet.attacks.composition.intersection:intersect_pairs",
                        intersection.SOURCE,
                    ),
                    *(
                        (
                            direction,
                            "discreet.attacks.composition.correspondence:correspond",
                            correspondence.SOURCE,
                        )
                        for direction in correspondence.DIRECTIONS
                    ),
                    *(
                        (change, "discreet.attacks.composition.differencing:difference", differencing.SOURCE)
                        for change in differencing.CHANGES
                    ),
                ],
            ),
            "## Named by sources, and not there",
            "",
            "What comes nearest, and where it is described.",
            "",
            "| name | what comes nearest | cites |",
            "|---|---|---|",
            *(f"| {name} | {nearest} | {cites} |" for name, nearest, cites in ABSENT),
            "",
        ]
    )


def _section(title: str, lead: str, rows: Iterable[Row]) -> list[str]:
    lines = [
        f"| `{name}` | `{place.replace(':', '.')}` | {cites.replace('|', chr(92) + '|')} |"
        for name, place, cites in rows
    ]
    return [f"## {title}", "", lead, "", "| name | in Python | cites |", "|---|---|---|", *lines, ""]


def _citing(*rooms: str) -> list[Row]:
    """Each module, function and class of a room that cites a paper."""
    found = [
        row
        for room in rooms
        for module in iter_modules(import_module(room).__path__, f"{room}.")
        for row in _citing_in(module.name)
    ]
    return sorted(found)


def _citing_in(*names: str) -> list[Row]:
    """Each module of these names that cites a paper, and each of its functions and classes."""
    rows: list[Row] = []
    for module in map(import_module, names):
        if papers := _cited(module):
            rows.append((module.__name__.rpartition(".")[2], module.__name__, papers))
        for name, thing in inspect.getmembers(
            module, lambda thing: inspect.isfunction(thing) or inspect.isclass(thing)
        ):
            if thing.__module__ == module.__name__ and not name.startswith("_") and (papers := _cited(thing)):
                rows.append((name, _place(thing), papers))
    return sorted(rows)


def _objectives() -> Iterable[tuple[str, object]]:
    """Each objective and what defines it: its class, or the cost of a cell."""
    for name, objective in OBJECTIVES.items():
        yield name, getattr(objective, "cost", None) or type(objective)


def _place(thing: object) -> str:
    thing = thing if hasattr(thing, "__qualname__") else type(thing)
    return f"{thing.__module__}.{thing.__qualname__}"  # type: ignore[attr-defined]


def _cited(thing: object) -> str:
    """The papers that a docstring names: the parentheses, or else the sentences, with a year."""
    prose = re.sub(
        r"\.\. math::.*?\n\n(?=\S)", "\n", (inspect.getdoc(thing) or "").partition(">>>")[0], flags=re.DOTALL
    )
    text = re.sub(r"\s+", " ", prose)
    papers: list[str] = []
    for sentence in re.split(r"\.\s+(?=[A-Z`])", text.strip().removesuffix(".")):
        if re.search(YEAR, sentence):
            papers += re.findall(rf"\(([^()]*[A-Z][^()]*{YEAR}[^()]*)\)", sentence) or [sentence]
    return "; ".join(dict.fromkeys(paper.removesuffix(".") for paper in papers))


if __name__ == "__main__":
    write_text(PAGE, coverage())
