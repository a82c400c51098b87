"""`discreet compare-methods`: risk against loss of several methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from discreet.cli.options import CHART, FILE, reading_options, refuse_unwritable, role_options, split
from discreet.cli.plan_options import open_with_plan, plan_options
from discreet.cli.progress import progress
from discreet.plain import write_text


@click.command("compare-methods")
@FILE
@click.option("--methods", help="Methods to compare (all that fit, if not given).", metavar="A,B,…")
@CHART
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_methods(file: Path, methods: str | None, chart: Path | None, as_json: bool, **given: Any) -> None:
    """Anonymise FILE by several methods and show risk against loss. Writes no release."""
    from discreet.release.contest import chart_of
    from discreet.release.contest import compare_methods as run_compare_methods
    from discreet.reports.release.terminal import show_comparison

    refuse_unwritable(chart, inputs=[file])
    with progress(quiet=as_json) as tell:
        table, policy, plan, _ = open_with_plan(file, given, tell)
        contenders = run_compare_methods(table, policy, plan=plan, methods=split(methods), progress=tell)
        if chart is not None:
            write_text(chart, chart_of(contenders))
    if as_json:
        click.echo(json.dumps([contender.to_dict() for contender in contenders], indent=2))
    else:
        Console(highlight=False).print(show_comparison(contenders))
