"""`discreet budget`: what may be spent on a table under differential privacy, and what was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from discreet.cli.command import StrictGroup
from discreet.cli.options import PATH, print_json, refuse_unwritable
from discreet.dp.amounts import said
from discreet.dp.certificate import statement_beside
from discreet.dp.disjoint import combined, declare_disjoint
from discreet.dp.foresight import foresee_amount
from discreet.dp.ledger import Ledger
from discreet.dp.statement import PRIOR
from discreet.errors import InvalidParameter
from discreet.files.addresses import DatabaseAddress
from discreet.plain import printable
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_balance

LEDGER = click.option(
    "--ledger", type=PATH, help="The ledger to spend from (default: TABLE.budget, beside the table)."
)
TABLE = click.argument("table", type=PATH)


def ledger_of(table: Path | DatabaseAddress, ledger: Path | None) -> Ledger:
    """The ledger that was named, or the one beside the table."""
    if ledger is not None:
        return Ledger(ledger)
    if isinstance(table, DatabaseAddress):
        raise InvalidParameter(
            "beside a table of a database lies no ledger", remedy="name the ledger with --ledger"
        )
    return Ledger.beside(table)


def refuse_unpayable(
    output: Path | None, table: Path | DatabaseAddress, ledger: Path | None, inputs: Iterable[Path] = ()
) -> Ledger:
    """The ledger that pays, after looking whether what it pays for, and the statement beside it, can be written."""
    paid = ledger_of(table, ledger)
    if output is not None:
        refuse_unwritable(output, statement_beside(output), inputs=[*inputs, paid.path, paid.head])
    return paid


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


@budget.command()
@TABLE
@click.option("--epsilon", required=True, help="What might be spent: 0.5, 1/3.", metavar="AMOUNT")
@click.option("--delta", default="0", show_default=True, help="The same of delta.", metavar="AMOUNT")
@click.option(
    "--prior", type=float, default=PRIOR, show_default=True, help="How sure an intruder was before, 0 to 1."
)
@LEDGER
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def foresee(table: Path, epsilon: str, delta: str, prior: float, ledger: Path | None, as_json: bool) -> None:
    """Say what an amount would mean for those in TABLE, before it is spent. Nothing is spent."""
    foresight = foresee_amount(ledger_of(table, ledger).balance(), epsilon, delta, prior)
    if as_json:
        print_json(foresight.to_dict())
        return
    click.echo(printable(foresight.alone))
    click.echo(printable(f"With everything that is spent on the table then: {foresight.together}"))
    if not foresight.allowed:
        click.echo("The budget does not have so much left.")


@budget.command()
@click.argument("tables", type=PATH, nargs=-1, required=True)
@click.option(
    "--person", required=True, help="Column that says which rows belong to one person.", metavar="COLUMN"
)
@click.option("--ledger", type=PATH, required=True, help="The ledger that all of them spend from.")
def disjoint(tables: tuple[Path, ...], person: str, ledger: Path) -> None:
    """Declare that nobody is in two of TABLES, after comparing their person ids.

    Of what is spent on them only the largest sum counts then, as long as the files stay as they are.
    """
    declare_disjoint(tables, person, ledger)
    book = Ledger(ledger)
    Terminal().print(show_balance(book.balance(), book.path.name))


@budget.command()
@click.argument("ledgers", type=PATH, nargs=-1, required=True)
@click.option("--disjoint", is_flag=True, help="Nobody is with two of the holders: declared, not checked.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def total(ledgers: tuple[Path, ...], disjoint: bool, as_json: bool) -> None:
    """Say what several holders spent together, by their LEDGERS: the sum, or with --disjoint the largest."""
    spent = combined([Ledger(path).balance() for path in ledgers], disjoint=disjoint)
    epsilon, delta = map(said, spent)
    if as_json:
        print_json(
            {"schema": "discreet-budget-total-1", "disjoint": disjoint, "epsilon": epsilon, "delta": delta}
        )
    else:
        how = "the largest, as nobody is said to be with two of them" if disjoint else "the sum"
        click.echo(printable(f"Spent by {len(ledgers)} holders together: ε {epsilon}, δ {delta} ({how})."))
