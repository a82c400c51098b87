"""Whatever real runs show on the page has German words: in views, in drawings, and while work is under way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

from discreet.attacks.catalogue import ATTACKS
from discreet.engine.read import read
from discreet.example import write_example
from discreet.policy.plan import Method
from discreet.policy.suggest import suggestion
from discreet.release.anonymize import anonymize
from discreet.release.attack import attack
from discreet.release.audit import audit as run_audit
from discreet.release.compare import compare
from discreet.release.recommend import recommend
from discreet.reports.audit.html import render
from discreet.reports.charts.svg import SAID
from discreet.reports.evidence.html import render_evidence
from discreet.reports.phrasebook import words_of
from discreet.reports.release.html import render_release
from discreet.reports.words import Edition
from discreet.utility.measures import MEASURES as LOSSES
from discreet.web.pages import evidence_views as proof_views
from discreet.web.pages import release_views as views
from discreet.web.pages.language import translate


def german(text: str, names: tuple[str, ...]) -> str | None:
    return translate(text, "de", names)


NOT_SAID = frozenset(
    (
        *("svg", "picture", "source", "criteria_source", "labels", "id", "name", "target", "known", "tested"),
        *(
            "tone",
            "category_tone",
            "symbols",
            "side_by_side",
            "profile",
            "profile_date",
            "direction",
            "schema",
        ),
    )
)
"""Fields of a view that the page does not show as words of the core: drawings, sources, names and values."""


QUICK = (
    "singling-out",
    "record-linkage",
    "homogeneity",
    "background-knowledge",
    "skewness",
    "proximity",
    "worst-case",
)


EDITIONS: tuple[Edition, ...] = ("internal", "public")
IDENTIFIERS = {*LOSSES, "discreet", "duckdb", "numpy", "pyarrow", "python", "arrow", "c", "|ln ratio|"}
"""What is called the same in every language, besides values of the data."""


def english(page: str) -> list[str]:
    """What a report in another language says in English, but for the sources that it cites."""
    body = re.sub(r'<details class="source">.*?</details>', "", page, flags=re.DOTALL)
    said = [unescape(text) for text in re.findall(r'<span lang="en">(.*?)</span>', body, re.DOTALL)]
    return [text for text in said if not re.search(r"(19|20)\d\d", text)]


def texts(value: object, field: str = "") -> Iterator[str]:
    if isinstance(value, str) and field not in NOT_SAID:
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            if key not in NOT_SAID:
                yield from texts(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one, field)


def in_drawings(view: dict[str, object]) -> Iterator[str]:
    for picture in view.get("pictures", ()):  # type: ignore[attr-defined]
        yield from words_of(picture["svg"])


def residents() -> pa.Table:
    return _of_town("residents").select(["name", "age", "sex", "postcode", "diagnosis"]).slice(0, 160)


def visits() -> pa.Table:
    return _of_town("visits").slice(0, 160)


def students() -> pa.Table:
    """Like the OULAD: bands as text, a repeated id and a result."""
    return pa.table(
        {
            "id_student": [11391 + i // 2 for i in range(120)],
            "gender": ["M", "F"] * 60,
            "region": [("Scotland", "London Region", "Wales")[i % 3] for i in range(120)],
            "age_band": [("0-35", "35-55", "55<=")[i % 7 % 3] for i in range(120)],
            "disability": ["N"] * 110 + ["Y"] * 10,
            "final_result": [("Pass", "Fail", "Withdrawn", "Distinction")[i % 5 % 4] for i in range(120)],
        }
    )


def _of_town(name: str) -> pa.Table:
    with TemporaryDirectory() as folder:
        write_example(Path(folder) / "town")
        table = read(Path(folder) / "town" / f"{name}.csv")
        return table.engine.to_arrow(table)


@pytest.mark.parametrize(
    ("rows", "profile", "method"),
    [
        (residents, "research-partner-3", "mondrian"),
        (visits, "research-partner-5", "local"),
        (students, "open-data", "auto"),
        (residents, "hipaa-safe-harbor", None),
        (students, "ema-0070", None),
    ],
)
def test_what_real_runs_show_has_german(
    rows: Callable[[], pa.Table], profile: str, method: Method | None
) -> None:
    table = read(rows())
    suggested = suggestion(table)
    policy = replace(suggested.policy, profile=profile)
    said: list[str] = []
    audited = run_audit(table, policy, progress=said.append)
    shown: list[dict[str, object]] = [views.audit(audited)]
    pages = [render(audited, edition=edition, language="de") for edition in EDITIONS]
    if method is not None:
        plan = replace(policy.plan, method=method, suppression_limit=1.0)
        made = anonymize(table, policy, plan=plan, progress=said.append)
        shown.append(views.release(made, views.release_drawings(made)))
        choices = views.ready(made, [made, *(other.make() for other in made.alternatives)])
        shown.append(
            {**choices, "releases": [], "values_before": [], "pictures": [choices] if choices["svg"] else []}
        )
        compared = compare(table, made.table, policy, labels=(), queries=20, progress=said.append)
        attacked = attack(made.table, policy, original=table, attacks=QUICK, progress=said.append)
        shown.append(proof_views.evidence(compared, attacked))
        proof = partial(render_evidence, comparison=compared, attacks=attacked, policy=policy, language="de")
        for edition in EDITIONS:
            pages += [render_release(made, edition=edition, language="de"), proof(edition=edition)]
    if profile == "research-partner-3":
        shown.append(recommend(table, policy, progress=said.append).to_dict())
    said += table.source.notes
    said += [column.reason for column in policy.columns]
    said += [one for view in shown for one in texts(view)]
    names = tuple(table.names)
    assert len(said) > 100
    assert sorted({one for one in said if one and german(one, names) is None}) == []
    cells = table.engine.to_arrow(table)
    values = {str(value) for name in cells.column_names for value in cells[name].to_pylist()}
    assert [page for page in pages if SAID in page] == []
    left = {one for page in pages for one in english(page)} - values - IDENTIFIERS
    assert sorted(one for one in left if not set(one.split(", ")) <= {*names, *ATTACKS}) == []
    drawn = {one for view in shown for one in in_drawings(view) if german(one, names) is None}
    # Names of columns, in a drawing some of them shortened, and values of the data stay as they are.
    values = {str(one) for column in rows().columns for one in column.unique().to_pylist()}
    assert {one for one in drawn if "…" not in one and one not in values and " + " not in one} == set()
