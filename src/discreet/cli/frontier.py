"""`discreet frontier`: requirements and methods swept over a policy."""

from __future__ import annotations

from dataclasses import replace
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


@click.command(cls=StrictCommand)
@FILE
@click.option("--k", "sizes", help="Values of k to try (2,3,5,10,20,50 if nothing is swept).", metavar="K,…")
@click.option("--l", "diversities", help="Values of l (distinct l-diversity) to try.", metavar="L,…")
@click.option("--t", "closenesses", help="Values of t (t-closeness) to try.", metavar="T,…")
@click.option("--methods", help="Methods to try (the policy's own if not given).", metavar="A,B,…")
@CHART
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print all points as JSON.")
def frontier(
    file: Path,
    sizes: str | None,
    diversities: str | None,
    closenesses: str | None,
    methods: str | None,
    chart: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Sweep k, l, t and methods over the policy of FILE and show risk against loss. Writes no release."""
    from discreet.release.frontier import frontier as run_frontier
    from discreet.reports.evidence.terminal import show_frontier

    refuse_unwritable(chart)
    swept = [_numbers(text, name) for text, name in ((sizes, "k"), (diversities, "l"), (closenesses, "t"))]
    with progress(quiet=as_json) as tell:
        table, policy, plan, assumed = open_with_plan(file, given, tell)
        outcome = run_frontier(
            table,
            policy,
            plan=plan,
            k=None if swept[0] is None else [int(k) for k in swept[0]],
            l=None if swept[1] is None else [int(l) for l in swept[1]],  # noqa: E741
            t=swept[2],
            methods=split(methods),
            progress=tell,
        )
        outcome = replace(outcome, notes=(*assumed, *outcome.notes))
        if chart is not None:
            write_text(chart, outcome.chart())
    if as_json:
        print_json(outcome.to_dict())
    else:
        console = Terminal()
        console.print(show_frontier(outcome))
        if chart is not None:
            console.print(f"Wrote {chart}", soft_wrap=True, markup=False)


def _numbers(text: str | None, name: str) -> list[float] | None:
    """The values of one option."""
    listed = split(text)
    if listed is None:
        return None
    try:
        numbers = [float(text) for text in listed]
    except ValueError:
        numbers = []
    fits = [0 <= number <= 1 if name == "t" else number >= 1 and number.is_integer() for number in numbers]
    if not numbers or not all(fits):
        usual = "between 0 and 1, e.g. --t 0.2,0.5" if name == "t" else f"of at least 1, e.g. --{name} 2,5,10"
        raise InvalidParameter(
            f"the values of --{name} cannot be swept",
            remedy=f"give {'' if name == 't' else 'whole '}numbers {usual}",
        )
    return numbers
