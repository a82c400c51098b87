"""`discreet budget`: what may be spent on a table under differential privacy, and what was."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.command import StrictGroup
from discreet.cli.options import PATH, print_json
from discreet.dp.ledger import Ledger
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_balance

LEDGER = click.option(
    "--ledger", type=PATH, help="The ledger to spend from (default: TABLE.budget, beside the table)."
)
TABLE = click.argument("table", type=PATH)


def ledger_of(table: Path, ledger: Path | None) -> Ledger:
    """The ledger that was named, or the one beside the table."""
    return Ledger.beside(table) if ledger is None else Ledger(ledger)


@click.group(cls=StrictGroup, invoke_without_command=True)
@click.pass_context
def budget(ctx: click.Context) -> None:
    """Say what may be spent on a table in all, and show what was.

    Every answer with noise spends a part; what was spent never comes back.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@budget.command("set")
@TABLE
@click.option("--epsilon", required=True, help="What may be spent in all: 1, 0.5, 1/3.", metavar="AMOUNT")
@click.option(
    "--delta", default="0", show_default=True, help="The same of delta, e.g. 1e-6.", metavar="AMOUNT"
)
@LEDGER
def set_(table: Path, epsilon: str, delta: str, ledger: Path | None) -> None:
    """Set what may be spent on TABLE in all; what was spent before counts."""
    place = ledger_of(table, ledger)
    place.set_budget(epsilon, delta)
    Terminal().print(show_balance(place.balance(), place.path.name))


@budget.command()
@TABLE
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print the ledger as JSON.")
def show(table: Path, ledger: Path | None, as_json: bool) -> None:
    """Show what may be spent on TABLE, what was spent, and for what."""
    place = ledger_of(table, ledger)
    balance = place.balance()
    if as_json:
        print_json(balance.to_dict())
    else:
        Terminal().print(show_balance(balance, place.path.name))
