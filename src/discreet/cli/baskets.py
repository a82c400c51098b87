"""`discreet baskets`: sets of items, judged and released."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast, get_args

import click

from discreet.baskets import Baskets
from discreet.baskets.exposure import BasketAudit, audit_baskets
from discreet.baskets.release import Method, anonymize_baskets, check_basket_target
from discreet.cli.command import StrictGroup
from discreet.cli.options import (
    FILE,
    PATH,
    add_options,
    open_table,
    print_json,
    reading_options,
    refuse_unwritable,
)
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.errors import InvalidParameter
from discreet.reports.baskets import show_basket_audit, show_basket_release
from discreet.reports.console import Terminal
from discreet.table.hierarchies.hierarchy import Hierarchy

READ = [
    click.option(
        "--basket",
        metavar="COLUMN",
        help="FILE is a table with a row per item: this column says to which basket it belongs.",
    ),
    click.option("--item", metavar="COLUMN", help="The column of such a table with the items."),
    click.option(
        "--separator",
        default=",",
        show_default=True,
        metavar="C",
        help="What stands between items of a line.",
    ),
]
ASKED = [
    click.option(
        "--k",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="In so many baskets stands what is shown.",
    ),
    click.option(
        "--m",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        help="So many items of a basket an intruder may know.",
    ),
    click.option("--sensitive", metavar="A,B,…", help="Items that nobody may guess too surely."),
    click.option(
        "--rho",
        type=click.FloatRange(0, 1, min_open=True),
        help="Of the baskets with any known items at most this share holds a given sensitive one.",
    ),
]
JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
basket_options = add_options(READ, ASKED)


@click.group(cls=StrictGroup)
def baskets() -> None:
    """Judge and release sets of items: purchases, diagnoses, pages read.

    FILE has a basket on each line, its items apart by commas; or it is a table with a row per item (--basket, --item).
    """


@baskets.command()
@FILE
@basket_options
@click.option(
    "--itemsets",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Show so many of the smallest sets that expose. They are values of the data.",
)
@JSON
@reading_options
def audit(file: Path, itemsets: int, as_json: bool, **given: Any) -> None:
    """Say how many baskets an intruder finds who knows up to M items of one."""
    result = _audited(file, given, quiet=as_json)
    if as_json:
        print_json(result.to_dict(itemsets=itemsets))
    else:
        Terminal().print(show_basket_audit(result, itemsets=itemsets))


@baskets.command()
@FILE
@basket_options
@JSON
@reading_options
def check(file: Path, as_json: bool, **given: Any) -> None:
    """Exit with 0 if every set of up to M items that occurs stands in K baskets, with 1 if not."""
    result = _audited(file, given, quiet=as_json)
    if as_json:
        print_json(result.to_dict())
    else:
        Terminal().print(show_basket_audit(result))
    if not result.holds:
        raise click.exceptions.Exit(1)


@baskets.command()
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the release is written.")
@basket_options
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="auto",
    show_default=True,
    help="How items are hidden; auto takes what loses less of generalize and suppress.",
)
@click.option("--hierarchy", type=PATH, help="Groups of items, as hierarchy files have them.")
@click.option("--codebook", type=PATH, help="Write which items each label stands for.")
@JSON
@reading_options
def anonymize(
    file: Path,
    output: Path,
    k: int,
    m: int,
    method: str,
    hierarchy: Path | None,
    sensitive: str | None,
    rho: float | None,
    codebook: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Write the baskets with the least change after which every set of up to M items stands in K of them."""
    refuse_unwritable(output, codebook)
    separator = given["separator"]
    check_basket_target(output, separator)
    with progress(quiet=as_json) as tell:
        sets = _read(file, given, tell)
        release = anonymize_baskets(
            sets,
            k=k,
            m=m,
            sensitive=frozenset(split(sensitive) or ()),
            rho=rho,
            method=cast(Method, method),
            hierarchy=None if hierarchy is None else Hierarchy.read(hierarchy, "item"),
            progress=tell,
        )
        tell("writing and verifying")
        release.save(output, separator=separator)
        if codebook is not None:
            release.save_codebook(codebook)
    if as_json:
        print_json(release.to_dict())
    else:
        Terminal().print(show_basket_release(release, output.name))


def _audited(file: Path, given: dict[str, Any], *, quiet: bool) -> BasketAudit:
    """The baskets of a file, judged as the options say."""
    with progress(quiet=quiet) as tell:
        sets = _read(file, given, tell)
        tell("counting sets of items")
        return audit_baskets(
            sets,
            k=given["k"],
            m=given["m"],
            sensitive=frozenset(split(given["sensitive"]) or ()),
            rho=given["rho"],
        )


def _read(file: Path, given: dict[str, Any], tell: Callable[[str], None]) -> Baskets:
    """The baskets of a file of lines, or of a table with a row per item."""
    tell(f"reading {file.name}")
    basket, item = given["basket"], given["item"]
    if (basket is None) != (item is None):
        raise InvalidParameter(
            "a table with a row per item is read by two columns",
            remedy="name both --basket and --item, or none of them",
        )
    if basket is None:
        return Baskets.read(file, separator=given["separator"], encoding=given.get("encoding") or "utf-8")
    return Baskets.of_rows(open_table(file, given), basket, item)
