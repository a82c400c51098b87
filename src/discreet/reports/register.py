"""The register of releases and what a new release adds to it, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.register import Judgement
from discreet.register.entry import RegisterEntry
from discreet.register.republish import RepublishedTable
from discreet.reports.words import percent


def show_entries(entries: Sequence[RegisterEntry]) -> RenderableType:
    """A line per entry."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in ("no.", "when", "what", "for whom", "rows", "people"):
        grid.add_column(head, overflow="fold")
    for entry in entries:
        people = f"{entry.persons:,}" if entry.people_sha256 else "not entered"
        if entry.kind == "withdrawal":
            what = f"withdrawal of {entry.withdraws}: {entry.reason}"
            counts = "it no longer counts" if entry.unseen else "it still counts"
            grid.add_row(str(entry.number), entry.time, Text(what), "", "", counts)
        else:
            grid.add_row(
                str(entry.number),
                entry.time,
                Text(entry.file),
                Text(entry.audience),
                f"{entry.rows:,}",
                people,
            )
    return grid


def show_entry(entry: RegisterEntry) -> RenderableType:
    """Everything that an entry says."""
    lines = []
    for name, value in entry.to_dict().items():
        if value not in ("", [], 0, False):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines.append(Text.assemble((f"{name.replace('_', ' '):18} ", "dim"), shown))
    return Group(*lines)


def show_judgement(judgement: Judgement) -> RenderableType:
    """What a release adds to the earlier ones, in words and by attribute."""
    lines: list[RenderableType] = [
        Text(),
        Text("Together with the earlier releases", style="bold"),
        Text(f"  {judgement.says}"),
    ]
    for result in judgement.results:
        lines.append(Text(f"  {result.meaning}"))
        lines.append(
            Text(
                f"  {percent(result.rate)} (95 % interval {percent(result.low)} to {percent(result.high)}); "
                f"by a single release {percent(result.baseline)}"
            )
        )
    return Group(*lines, *(Text(f"  {note}") for note in judgement.notes))


def show_republished(
    release: RepublishedTable, names: tuple[str, str], assumed: Sequence[str] = ()
) -> RenderableType:
    """How many people stayed among the values of before, what that took, and what does not follow from it."""
    told = release.to_dict()
    lines = [
        Text(
            f"{release.people:,} people and {told['counterfeits']:,} counterfeits in {told['groups']:,} groups",
            style="bold",
        ),
        Text(f"  {names[0]}: every group has at least {release.m} values of {release.sensitive}, each once"),
        Text(f"  {names[1]}: how many records of each {release.column} are nobody's"),
        Text(f"  {release.stayed:,} people have the possible values of an earlier release, and no others"),
    ]
    return Group(*lines, *(Text(f"  {note}", style="dim") for note in (*assumed, *release.notes)))
