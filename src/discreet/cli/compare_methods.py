"""`discreet compare-methods`: risk against loss of several methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import CHART, FILE, print_json, reading_options, refuse_unwritable, role_options
from discreet.cli.plan_options import open_with_plan, plan_options
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.errors import InvalidParameter
from discreet.files.writing import write_text
from discreet.reports.console import Terminal


@click.command("compare-methods", cls=StrictCommand)
@FILE
@click.option("--methods", help="Methods to compare (all that fit, if not given).", metavar="A,B,…")
@click.option(
    "--exposure",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    help="Compare all families instead, each just so strong that at most this share of the people is found.",
    metavar="SHARE",
)
@click.option(
    "--families", help="Which families (with --exposure; all that fit, if not given).", metavar="A,B,…"
)
@click.option(
    "--drawn",
    type=click.IntRange(min=50),
    help="Rows to try families on (with --exposure; 3,000 if not given).",
)
@CHART
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_methods(
    file: Path,
    methods: str | None,
    exposure: float | None,
    families: str | None,
    drawn: int | None,
    chart: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Anonymise FILE by several methods and show risk against loss. Writes no release."""
    from discreet.release.family_contest import ROWS, compare_families
    from discreet.release.frontier import compare_methods as run_compare_methods
    from discreet.reports.charts.points import chart_of_methods
    from discreet.reports.families import show_families
    from discreet.reports.release.terminal import show_methods

    if exposure is None and (families or drawn):
        raise InvalidParameter("families are compared at an exposure", remedy="give --exposure, such as 0.05")
    if exposure is not None and methods:
        raise InvalidParameter(
            "methods and families are compared apart", remedy="leave out --methods or --exposure"
        )
    refuse_unwritable(chart)
    with progress(quiet=as_json) as tell:
        table, policy, plan, _ = open_with_plan(file, given, tell)
        if exposure is not None:
            compared = compare_families(
                table,
                policy,
                plan=plan,
                exposure=exposure,
                families=split(families),
                rows=drawn or ROWS,
                progress=tell,
            )
            if chart is not None:
                write_text(chart, compared.chart())
            if as_json:
                print_json(compared.to_dict())
            else:
                Terminal().print(show_families(compared))
            return
        outcomes = run_compare_methods(table, policy, plan=plan, methods=split(methods), progress=tell)
        if chart is not None:
            write_text(chart, chart_of_methods(outcomes))
    if as_json:
        print_json(
            {
                "schema": "discreet-outcomes-1",
                "outcomes": [outcome.to_dict(setting=False) for outcome in outcomes],
            }
        )
    else:
        Terminal().print(show_methods(outcomes))
