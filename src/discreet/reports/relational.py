"""Several tables judged and released together: in the terminal, and as a picture of their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.relational.judging import RelationalAudit
from discreet.relational.keys import KeyReference
from discreet.relational.release import RelationalRelease
from discreet.reports.charts.svg import FONT, SMALL, Drawing, width_of
from discreet.reports.words import percent
from discreet.sentences import Sentence

ROW = 64
"""How far tables of a picture are apart, in pixels."""


def show_references(
    rows: Mapping[str, int], keys: Mapping[str, str], references: Sequence[KeyReference]
) -> RenderableType:
    """Tables with their keys, and what refers to them."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("table", "rows", "key", "refers to", "rows for one"):
        grid.add_column(head, overflow="fold")
    for name, count in rows.items():
        own = [reference for reference in references if reference.table == name]
        ties = [f"{each.column} → {each.to}.{each.key}" for each in own]
        many = [
            f"{each.least} to {each.most}" + (f", {each.orphans:,} to none" if each.orphans else "")
            for each in own
        ]
        grid.add_row(
            Text(name), f"{count:,}", Text(keys.get(name, "")), Text("\n".join(ties)), "\n".join(many)
        )
    return grid


def show_relational_audit(audit: RelationalAudit) -> RenderableType:
    """The judgement, who is found by how many known rows, and what each table fails."""
    lines: list[RenderableType] = [Text(f"{'✔' if audit.holds else '✘'} {audit.says}", style="bold")]
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("an intruder knows", "people it may be, at least", "people alone"):
        grid.add_column(head, overflow="fold")
    for risk in audit.intruders:
        known = {"all": "all rows", 0: "the people's table"}.get(
            risk.known, f"and {risk.known} of the other rows"
        )
        counted = (
            ["too much to count"] * 2 if risk.fewest is None else [f"{risk.fewest:,}", f"{risk.alone:,}"]
        )
        mark = " ←" if risk.known == audit.required else ""
        grid.add_row(known + mark, *counted)
    lines.append(grid)
    for name, verdict in audit.verdicts.items():
        lines.append(Text(f"{'✔' if verdict.passes else '✘'} {name}: {verdict.words}"))
        lines += [Text(f"    {row.description}; found {row.found}") for row in verdict.obstacles]
    return Group(*lines, *(Text(f"  {note}", style="dim") for note in audit.notes))


def show_relational_release(release: RelationalRelease) -> RenderableType:
    """What became of each table, what it cost, and what holds."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("table", "rows before", "after", "levels"):
        grid.add_column(head, overflow="fold")
    for name, change in release.changes.items():
        levels = ", ".join(f"{column} {level}" for column, level in change.levels.items())
        grid.add_row(Text(name), f"{change.rows:,}", f"{change.kept:,}", Text(levels))
    return Group(
        grid,
        Text(f"Lost of the tables beside that of the people: {percent(release.loss)} of their cells."),
        *(Text(f"  {note}", style="dim") for note in release.notes),
        show_relational_audit(release.after),
    )


def chart_of_tables(
    rows: Mapping[str, int], keys: Mapping[str, str], references: Sequence[KeyReference]
) -> str:
    """The tables and their keys as a file of its own."""
    return drawing_of_tables(rows, keys, references).standalone(title="Tables and their keys")


def drawing_of_tables(
    rows: Mapping[str, int], keys: Mapping[str, str], references: Sequence[KeyReference]
) -> Drawing:
    """Tables as boxes, one below what it refers to, with lines that say how many rows there are for one."""
    above = {reference.table: reference for reference in references}
    depth: dict[str, int] = {}
    for name in rows:
        at, steps = name, 0
        while at in above and steps < len(rows):
            at, steps = above[at].to, steps + 1
        depth[name] = steps
    columns = {
        name: i
        for level in set(depth.values())
        for i, name in enumerate(n for n in rows if depth[n] == level)
    }
    said = {
        name: Sentence("{key}, {count:,} rows", key=keys[name], count=count)
        if name in keys
        else Sentence("{count:,} rows", count=count)
        for name, count in rows.items()
    }
    wide = 44 + max(max(width_of(name, FONT), width_of(said[name], SMALL)) for name in rows)
    across, down = wide + 90, ROW + 70
    drawing = Drawing(across * (max(columns.values()) + 1) - 90, down * (max(depth.values()) + 1) - 70)
    place = {name: (across * columns[name], down * depth[name]) for name in rows}
    for reference in references:
        (x, y), (to_x, to_y) = place[reference.table], place[reference.to]
        start, end = (x + wide / 2, y), (to_x + wide / 2, to_y + ROW)
        drawing.line(start, end, "muted", width=2)
        drawing.text(
            (start[0] + end[0]) / 2 + 8, (start[1] + end[1]) / 2, reference.cardinality, "ink", size=SMALL
        )
    for name, (x, y) in place.items():
        drawing.rect(x, y, wide, ROW, "accent", corner=6)
        drawing.rect(x + 2, y + 2, wide - 4, ROW - 4, "paper", corner=5)
        drawing.text(x + 14, y + 26, name, "ink", bold=True)
        drawing.text(x + 14, y + 48, said[name], "muted", size=SMALL)
    return drawing
