"""What was spent and what was answered under differential privacy, in the terminal."""

from __future__ import annotations

from fractions import Fraction

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.dp.amounts import said
from discreet.dp.ledger import Balance

BAR = 30
"""How many signs the bar of a budget has."""


def show_balance(balance: Balance, name: str) -> RenderableType:
    """The budget as a bar that empties, and every answer that was paid for."""
    lines: list[RenderableType] = [Text(f"Budget in {name}", style="bold")]
    for what, spent, total in (
        ("epsilon", balance.spent_epsilon, balance.epsilon),
        ("delta", balance.spent_delta, balance.delta),
    ):
        if total or spent:
            lines.append(Text(f"  {what:8} {_bar(spent, total)} {said(spent)} of {said(total)} spent"))
    paid = [entry for entry in balance.entries if entry.kind == "reserve"]
    if paid:
        closed = {entry.reservation: entry.kind for entry in balance.entries}
        grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
        for head in ("when", "epsilon", "delta", "for what", ""):
            grid.add_column(head, overflow="fold")
        for entry in paid:
            state = {"commit": "", "void": "given back: nothing was drawn"}.get(
                closed.get(entry.number, ""), "spent, but it was not answered to the end"
            )
            grid.add_row(entry.time, said(entry.epsilon), said(entry.delta), Text(entry.purpose), state)
        lines.append(grid)
    return Group(*lines)


def _bar(spent: Fraction, total: Fraction) -> str:
    used = min(BAR, round(BAR * spent / total)) if total else BAR
    return "█" * (BAR - used) + "░" * used
