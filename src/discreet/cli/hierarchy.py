"""`discreet hierarchy`: build, show and check the levels to which a column may be generalised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich import box
from rich.table import Table as Grid
from rich.text import Text
from rich.tree import Tree

from discreet.cli import EXIT_BAD_INPUT
from discreet.cli.command import StrictGroup
from discreet.cli.options import (
    FILE,
    PATH,
    add_options,
    load_policy,
    open_table,
    print_document,
    reading_options,
    refuse_unwritable,
    say,
)
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.errors import InvalidParameter, UnknownColumn
from discreet.files.writing import write_text
from discreet.reports.console import Terminal
from discreet.table import DATA_TYPES, DataType, Domain
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.hierarchy import Hierarchy, missing_values, problems, read_rows
from discreet.table.hierarchies.learn import hierarchy_for
from discreet.table.hierarchies.preview import preview
from discreet.table.hierarchies.registry import BUILDERS, make_builder
from discreet.types import IntArray

LEARN = "learn"
SHOWN = (6, 3, 3)
"""So many nodes are shown below the root, below each of those, and so on."""
LISTED = 50
"""So many missing values are listed, at most."""

PARAMETERS = [
    click.option(
        "--widths", help="intervals: width per level, each a multiple of the one before.", metavar="N,N,…"
    ),
    click.option(
        "--groups", help="intervals: groups of equally many records per level, e.g. 8,4,2.", metavar="N,N,…"
    ),
    click.option(
        "--cuts", help="intervals: where intervals begin; levels separated by ';'.", metavar="N,N,…;N,…"
    ),
    click.option("--start", type=float, help="intervals: from where widths are counted (0)."),
    click.option("--below", type=float, help="intervals: values under this become one."),
    click.option("--above", type=float, help="intervals: values from this on become one."),
    click.option("--sizes", help="order: values per group and level.", metavar="N,N,…"),
    click.option("--order", help="order: the values in their order.", metavar="A,B,…"),
    click.option("--characters", help="mask: hidden characters per level.", metavar="N,N,…"),
    click.option("--side", type=click.Choice(["right", "left"]), help="mask: from which side."),
    click.option("--character", help="mask: what hides a character (*).", metavar="C"),
    click.option("--padding", help="mask: what fills shorter values up.", metavar="C"),
    click.option("--align", type=click.Choice(["left", "right"]), help="mask: where shorter values stand."),
    click.option("--levels", help="dates: periods from fine to coarse, e.g. month,year.", metavar="A,B,…"),
    click.option("--format", help="dates: how texts are to be read, e.g. %d.%m.%Y.", metavar="TEXT"),
    click.option("--lengths", help="zip: length of the prefix per level, e.g. 5,3,2.", metavar="N,N,…"),
    click.option("--steps", help="rounding: to multiples of what, per level.", metavar="N,N,…"),
    click.option("--direction", type=click.Choice(["nearest", "down"]), help="rounding: where to."),
]
SOURCE = [
    click.option(
        "--builder",
        type=click.Choice([LEARN, *BUILDERS]),
        help="How it is built; learned from the data if not given.",
    ),
    click.option("--type", "type_", type=click.Choice(DATA_TYPES), help="What the values are, for learning."),
    click.option(
        "--policy",
        "-p",
        "policy_file",
        type=PATH,
        help="Take the column's hierarchy and type from this policy file.",
    ),
    *PARAMETERS,
]
COLUMN = click.argument("column")

builder_options = add_options(SOURCE)


@click.group(cls=StrictGroup, invoke_without_command=True)
@click.pass_context
def hierarchy(ctx: click.Context) -> None:
    """Build, show or check a hierarchy: the levels to which the values of a column may be generalised.

    A hierarchy file has one line per value: value;level 1;…;*
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@hierarchy.command()
@FILE
@COLUMN
@builder_options
@click.option(
    "--output",
    "-o",
    type=PATH,
    help="Where the hierarchy is written (standard output if not given).",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@reading_options
def build(file: Path, column: str, output: Path | None, force: bool, **given: Any) -> None:
    """Write a hierarchy for COLUMN of FILE: by a builder with its parameters, or learned from the data."""
    if output is not None and output.exists() and not force:
        raise InvalidParameter(f"{output.name} exists already", remedy="name another file, or pass --force")
    refuse_unwritable(output)
    made, _, _, origin = _make(file, column, given)
    if output is None:
        print_document(made.to_csv())
        return
    write_text(output, made.to_csv())
    sizes = " → ".join(f"{len(labels):,}" for labels in made.labels)
    say(f"Wrote {output}: {origin}; {made.leaves:,} values, nodes per level {sizes}")
    say(f'Name it in the policy: [columns.{column}] hierarchy = "{output.name}"')


@hierarchy.command()
@FILE
@COLUMN
@click.option(
    "--hierarchy",
    "hierarchy_file",
    type=PATH,
    help="The hierarchy file to show, instead of building one.",
)
@builder_options
@reading_options
def show(file: Path, column: str, hierarchy_file: Path | None, **given: Any) -> None:
    """Print a hierarchy as a tree, and what each level does to COLUMN of FILE."""
    made, domain, totals, origin = _make(file, column, given, hierarchy_file)
    ladder = made.ladder(domain)
    console = Terminal()
    console.print(Text(f"{column}: {origin}", style="bold"))
    console.print(_tree(made))
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("level", "nodes", "smallest group", "average group", "unique records", "mean leaf share"):
        grid.add_column(head, justify="right")
    for level in preview(ladder, totals):
        grid.add_row(
            str(level.level),
            f"{level.nodes:,}",
            f"{level.smallest:,}",
            f"{level.average:,.1f}",
            f"{level.unique:.1%}",
            f"{level.leaf_share:.4g}",
        )
    console.print(grid)


@hierarchy.command()
@FILE
@COLUMN
@click.option(
    "--hierarchy",
    "hierarchy_file",
    required=True,
    type=PATH,
    help="The hierarchy file to check.",
)
@click.option("--show-values", is_flag=True, help="List the values that it misses, not only their number.")
@reading_options
def check(file: Path, column: str, hierarchy_file: Path, show_values: bool, **given: Any) -> int:
    """Say whether a hierarchy file is sound and covers every value of COLUMN of FILE; all problems at once.

    Exit with 0 if it does, with 2 if not.
    """
    rows, lines = read_rows(hierarchy_file)
    domain, totals, _ = _values(file, column, given)
    defects = list(problems(rows, lines))
    missing = missing_values((row[0] for row in rows if row), domain)
    if missing:
        share = f"{len(missing):,} of the {len(domain.values):,} values of {column}"
        records = f"they stand in {int(totals[missing].sum()):,} of {int(totals.sum()):,} records"
        hint = "" if show_values else "; --show-values lists them"
        defects.append(f"it misses {share}; {records}{hint}")
    for defect in defects:
        say(f"✘ {defect}")
    if missing and show_values:
        for code in missing[:LISTED]:
            say(f"    {domain.label(code)}")
        if len(missing) > LISTED:
            say(f"    … and {len(missing) - LISTED:,} more")
    if defects:
        say(f"{hierarchy_file.name} has {len(defects)} problem{'s' if len(defects) != 1 else ''}")
        return EXIT_BAD_INPUT
    made = Hierarchy.of(column, rows, lines=lines)
    say(
        f"✔ {hierarchy_file.name} is sound and covers all {len(domain.values):,} values of {column}: "
        f"{made.leaves:,} values, {made.height} levels above them"
    )
    return 0


def _values(file: Path, column: str, given: dict[str, Any]) -> tuple[Domain, IntArray, DataType]:
    """The values of a column, the records of each, and its type."""
    with progress() as tell:
        tell(f"reading {file.name}")
        policy = load_policy(given)
        table = open_table(file, given, policy)
        kind = table.column(column).type
        tell(f"counting the values of {column}")
        classes = table.engine.count(table, quasi_identifiers=[column])
    domain = classes.attributes[0]
    totals = np.bincount(classes.codes[0], weights=classes.records, minlength=domain.size)
    return domain, totals.astype(np.int64), kind


def _make(
    file: Path, column: str, given: dict[str, Any], hierarchy_file: Path | None = None
) -> tuple[Hierarchy, Domain, IntArray, str]:
    """The hierarchy that the options ask for, the column's values and records, and where it came from."""
    parameters = _parameters(given)
    name = given.get("builder")
    if hierarchy_file is not None and (name or parameters):
        raise InvalidParameter(
            "a hierarchy file and a builder were named",
            remedy="leave out --hierarchy or the builder's options",
        )
    if parameters and name in (None, LEARN):
        raise InvalidParameter(
            f"{', '.join('--' + option for option in parameters)} belong to a builder",
            remedy=f"name it with --builder: {', '.join(BUILDERS)}",
        )
    if name == "sets":
        raise InvalidParameter(
            "sets are too much for a command line", remedy="write them in a policy and pass --policy"
        )
    wanted: Builder | str | None = None
    kind = given.get("type_")
    if hierarchy_file is not None:
        wanted = str(hierarchy_file)
    elif name not in (None, LEARN):
        wanted = make_builder(str(name), parameters)
    else:
        policy = load_policy(given)
        written = policy.column(column) if policy else None
        if policy and written is None:
            raise UnknownColumn(column, [known.name for known in policy.columns])
        if written:
            kind = kind or written.type
            wanted = written.hierarchy if name is None else None
    spec: Builder | Hierarchy | None
    if isinstance(wanted, str):
        spec, origin = Hierarchy.read(wanted, column), f"read from {Path(wanted).name}"
    else:
        spec, origin = wanted, f"built: {wanted.id}" if wanted else "learned from the data"
    domain, totals, own_type = _values(file, column, given)
    made = hierarchy_for(domain, totals, spec=spec, column_type=kind or own_type)
    return made, domain, totals, origin


def _parameters(given: dict[str, Any]) -> dict[str, object]:
    """The builder's parameters that were given, as a policy file would have them."""
    return {name: read(name, given[name]) for name, read in READERS.items() if given.get(name) is not None}


def _numbers(option: str, text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
        return [int(number) if number.is_integer() else number for number in numbers]
    except (ValueError, OverflowError):
        raise InvalidParameter(
            f"--{option} must be numbers", remedy=f"write for example --{option} 5,10,20"
        ) from None


READERS: dict[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(("widths", "groups", "sizes", "characters", "lengths", "steps"), _numbers),
    "cuts": lambda name, text: [_numbers(name, level) for level in text.split(";")],
    **dict.fromkeys(("order", "levels"), lambda name, text: split(text)),
    **dict.fromkeys(
        ("start", "below", "above", "side", "character", "padding", "align", "format", "direction"),
        lambda name, value: value,
    ),
}
"""How each parameter is read from its option."""


def _tree(made: Hierarchy) -> Tree:
    """The hierarchy from its root down, abbreviated."""
    tree = Tree(_node(made, made.height, 0))
    _grow(tree, made, made.height, 0, SHOWN)
    return tree


def _grow(tree: Tree, made: Hierarchy, level: int, node: int, shown: tuple[int, ...]) -> None:
    if level == 0 or not shown:
        return
    below = np.unique(made.nodes[level - 1][made.nodes[level] == node])
    while level > 1 and len(below) == 1:
        # A level that changes nothing here is not worth a line.
        level, node = level - 1, int(below[0])
        below = np.unique(made.nodes[level - 1][made.nodes[level] == node])
    if level == 1 and len(below) == 1:
        return
    for child in below[: shown[0]].tolist():
        branch = tree.add(_node(made, level - 1, child))
        _grow(branch, made, level - 1, child, shown[1:])
    if len(below) > shown[0]:
        tree.add(Text(f"… {len(below) - shown[0]:,} more", style="dim"))


def _node(made: Hierarchy, level: int, node: int) -> Text:
    """A node with the number of values below it; labels are shown as they are, brackets and all."""
    text = Text(made.labels[level][node] or "(empty text)")
    if level:
        count = int((made.nodes[level] == node).sum())
        text.append(f"  {count:,} value{'s' if count != 1 else ''}", style="dim")
    return text
