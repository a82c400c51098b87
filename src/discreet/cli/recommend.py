"""`discreet recommend`: the smallest changes that would turn the verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import FILE, print_json, reading_options, role_options
from discreet.cli.plan_options import open_with_plan, plan_options
from discreet.cli.progress import progress
from discreet.reports.console import Terminal


@click.command(cls=StrictCommand)
@FILE
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the advice as JSON.")
def recommend(file: Path, as_json: bool, **given: Any) -> None:
    """Say the smallest changes under which every requirement holds for FILE, and what columns and requirements cost."""
    from discreet.release.recommend import recommend as run_recommend
    from discreet.reports.release.terminal import show_advice

    with progress(quiet=as_json) as tell:
        table, policy, plan, assumed = open_with_plan(file, given, tell)
        advice = run_recommend(table, policy, plan=plan, progress=tell)
    advice = replace(advice, first_steps=(*assumed, *advice.first_steps))
    if as_json:
        print_json(advice.to_dict())
    else:
        Terminal().print(show_advice(advice))
