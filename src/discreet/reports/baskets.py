"""Baskets and releases of them in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.baskets.exposure import BasketAudit
from discreet.baskets.release import BasketRelease
from discreet.reports.words import percent


def show_basket_audit(audit: BasketAudit, *, itemsets: int = 0) -> RenderableType:
    """The verdict, then what an intruder finds by how many items are known."""
    verdict = Text(f"✔ {audit.says}", "bold green") if audit.holds else Text(f"✘ {audit.says}", "bold red")
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in (
        "items known",
        "sets that occur",
        f"in fewer than {audit.k}",
        "rarest",
        "baskets exposed",
        "picked rightly",
    ):
        grid.add_column(head, justify="right")
    for known in audit.by_known:
        grid.add_row(
            str(known.known),
            f"{known.itemsets:,}",
            f"{known.rare:,}",
            f"{known.least:,}",
            f"{known.exposed:,}",
            percent(known.success),
        )
    shown: list[RenderableType] = [verdict, Text(f"{audit.baskets:,} baskets, {audit.items:,} items"), grid]
    if itemsets and audit.exposing:
        shown.append(
            Text("The smallest sets that expose (internal: they are values of the data)", style="bold")
        )
        shown += [Text(f"  {' + '.join(items)}: {support}") for items, support in audit.exposing[:itemsets]]
    if audit.surest is not None:
        shown.append(
            Text(
                f"Of the baskets with some known items, {percent(audit.surest)} at most hold a given sensitive item; "
                f"{percent(audit.rho or 0)} are tolerated."
            )
        )
    if audit.absent:
        shown.append(Text(f"No basket holds: {', '.join(audit.absent)}.", "yellow"))
    shown.append(
        Text(
            "Picked rightly: how often an intruder who knows so many items, chosen at random, picks the right basket. "
            "Lower is safer.",
            style="dim",
        )
    )
    return Group(*shown)


METHODS = {
    "generalize": "rare items are shown as groups",
    "suppress": "items of single baskets are left out",
    "disassociate": "all items are shown, and which of them belong together is partly left open",
}


def show_basket_release(release: BasketRelease, name: str) -> RenderableType:
    """What was written, what it guarantees, and what it costs."""
    loss = release.loss
    goal = release.goal
    lines: list[RenderableType] = [
        Text(f"✔ {name}: {release.says}", "bold green"),
        Text(f"Method: {release.method}, {METHODS[release.method]}."),
    ]
    if goal.rho is not None:
        share = f"At most {percent(goal.rho)} of the released baskets with up to {goal.m} known items hold a given sensitive one."
        lines.append(Text(share))
    if loss.certainty is not None:
        lines.append(
            Text(f"Detail lost: {percent(loss.certainty)} (0 % is none; what is left out counts as 100 %)")
        )
    lines += [
        Text(f"Pairs of common items: their number is wrong by {percent(loss.pair_error)} on average"),
        Text(f"Most frequent sets that are so no longer: {percent(loss.lost_itemsets)}"),
    ]
    if loss.items_gone:
        lines.append(Text(f"{loss.items_gone:,} items are no longer shown at all.", "yellow"))
    if loss.empty:
        lines.append(Text(f"{loss.empty:,} baskets hold nothing any more and were left out.", "yellow"))
    after = release.after
    if after is not None:
        before = release.before.by_known[-1]
        lines.append(
            Text(
                f"An intruder who knows {goal.m} items picks the right basket in {percent(before.success)} of cases before, "
                f"in {percent(after.by_known[-1].success)} after."
            )
        )
    return Group(*lines)
