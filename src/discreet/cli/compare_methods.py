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
from discreet.files.writing import write_text
from discreet.reports.console import Terminal


@click.command("compare-methods", cls=StrictCommand)
@FILE
@click.option("--methods", help="Methods to compare (all that fit, if not given).", metavar="A,B,…")
@CHART
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_methods(file: Path, methods: str | None, chart: Path | None, as_json: bool, **given: Any) -> None:
    """Anonymise FILE by several methods and show risk against loss. Writes no release."""
    from discreet.release.frontier import compare_methods as run_compare_methods
    from discreet.reports.charts.points import chart_of_methods
    from discreet.reports.release.terminal import show_methods

    refuse_unwritable(chart, inputs=[file], given=given)
    with progress(quiet=as_json) as tell:
        table, policy, plan, _ = open_with_plan(file, given, tell)
        outcomes = run_compare_methods(table, policy, plan=plan, methods=split(methods), progress=tell)
        if chart is not None:
            write_text(chart, chart_of_methods(outcomes))
    if as_json:
        print_json([outcome.to_dict(setting=False) for outcome in outcomes])
    else:
        Terminal().print(show_methods(outcomes))
