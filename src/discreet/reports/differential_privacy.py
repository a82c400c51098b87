"""What was spent and what was answered under differential privacy, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.dp.amounts import said
from discreet.dp.answer import Answer, NoisyFigure
from discreet.dp.foresight import mixed_units
from discreet.dp.learning import ClassifierTest, PrivateClassifier
from discreet.dp.ledger import Balance
from discreet.dp.safepub import TruthfulRecords
from discreet.dp.statement import Guarantee
from discreet.dp.synthesize import ArtificialPeople
from discreet.dp.tabulate import NoisyTables
from discreet.release.kpi_answers import KpiAnswer
from discreet.sentences import Sentence

PRECISE = "Every interval is within the tolerance of the KPI."
IMPRECISE = "Intervals reach farther than the tolerance of the KPI: it needs a larger ε, or fewer groups."
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
    if (mixed := mixed_units(balance)) is not None:
        lines.append(Text(f"  {mixed}"))
    lines += [
        Text(
            f"  nobody is in two of {len(entry.tables)} tables ({entry.time}): of those the largest sum counts"
        )
        for entry in balance.entries
        if entry.kind == "disjoint"
    ]
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


def show_answer(answer: Answer) -> RenderableType:
    """The figures with their intervals, what they guarantee, and what is left."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for name in answer.keys:
        grid.add_column(name, overflow="fold")
    for name in answer.figures:
        grid.add_column(name, justify="right")
        grid.add_column(f"{answer.confidence:.0%} interval", justify="right")
    for row in answer.rows:
        cells = [Text("missing" if key is None else str(key)) for key in row.keys]
        for figure in row.figures:
            cells += [Text(_shown(figure.value)), Text(_interval(figure))]
        grid.add_row(*cells)
    lines: list[RenderableType] = [grid, *(Text(f"  {note}") for note in answer.notes)]
    lines += show_guarantee(answer.guarantee)
    left = f"Left of the budget: ε {said(answer.left_epsilon)}, δ {said(answer.left_delta)}."
    return Group(*lines, Text(left))


def show_kpi_answers(answers: Sequence[KpiAnswer]) -> RenderableType:
    """Each KPI with its figures, or why it has none."""
    lines: list[RenderableType] = []
    for told in answers:
        lines.append(Text(told.name, style="bold"))
        if told.answer is None:
            lines.append(Text(f"  not answered: {told.reason}"))
            continue
        lines.append(show_answer(told.answer))
        if told.precise is not None:
            lines.append(Text(f"  {PRECISE if told.precise else IMPRECISE}"))
    return Group(*lines)


def show_artificial_people(people: ArtificialPeople, name: str) -> RenderableType:
    """What was written, which columns it keeps together, and what it guarantees."""
    kept = "; ".join(str(Sentence("{columns:and}", columns=columns)) for columns in people.tables)
    lines: list[RenderableType] = [
        Text(f"{people.rows.num_rows:,} artificial people were written to {name}.", style="bold"),
        Text(f"Together these columns are kept: {kept}. All else follows from them."),
        *show_guarantee(people.guarantee),
        Text(f"Left of the budget: ε {said(people.left_epsilon)}, δ {said(people.left_delta)}."),
    ]
    return Group(*lines)


def show_tables(made: NoisyTables, name: str) -> RenderableType:
    """Which tables were written, how large their noise is, and what they guarantee."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    grid.add_column("table", overflow="fold")
    for head in ("cells", "mean error", f"within, in {made.confidence:.0%} of cells"):
        grid.add_column(head, justify="right")
    for table in made.tables:
        shown = Text(str(Sentence("{columns:and}", columns=table.columns)))
        grid.add_row(shown, f"{table.cells:,}", f"{table.mean_error:,.1f}", f"± {table.margin:,}")
    lines: list[RenderableType] = [
        Text(f"{made.rows.num_rows:,} counts were written to {name}.", style="bold"),
        grid,
        Text("Errors are those of the noise, before tables were made to agree."),
        *show_guarantee(made.guarantee),
        Text(f"Left of the budget: ε {said(made.left_epsilon)}, δ {said(made.left_delta)}."),
    ]
    return Group(*lines)


def show_truthful_records(records: TruthfulRecords, name: str) -> RenderableType:
    """How many were written, and what they guarantee."""
    lines: list[RenderableType] = [
        Text(f"{records.rows.num_rows:,} records were written to {name}.", style="bold"),
        Text(f"Levels: {', '.join(f'{column} {level}' for column, level in records.levels.items())}."),
        *show_guarantee(records.guarantee),
        Text(f"Left of the budget: ε {said(records.left_epsilon)}, δ {said(records.left_delta)}."),
    ]
    return Group(*lines)


def show_classifier(
    classifier: PrivateClassifier, tested: ClassifierTest | None, name: str
) -> RenderableType:
    """What was learned, what it predicts of others, and what it guarantees."""
    lines: list[RenderableType] = [
        Text(f"A classifier of {classifier.label} was written to {name}.", style="bold"),
        *show_guarantee(classifier.guarantee),
    ]
    if tested is not None:
        lines.append(
            Text(
                f"Of {tested.records:,} records it predicts {tested.accuracy:.1%} rightly, the commonest label {tested.constant:.1%}; "
                "these shares are not protected."
            )
        )
    lines.append(
        Text(f"Left of the budget: ε {said(classifier.left_epsilon)}, δ {said(classifier.left_delta)}.")
    )
    return Group(*lines)


def show_guarantee(guarantee: Guarantee) -> list[RenderableType]:
    """What is guaranteed, to whom, by what, in a few lines."""
    lines = [
        f"{guarantee.meaning}",
        f"Protected is {guarantee.unit_description}.",
        f"Mechanisms: {'; '.join(guarantee.mechanisms)}.",
        f"Public: {'; '.join(guarantee.public)}.",
        f"Tuned to the data: {guarantee.tuning}.",
    ]
    return [Text(line) for line in lines]


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _interval(figure: NoisyFigure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{_shown(figure.low)} to {_shown(figure.high)}"


def _bar(spent: Fraction, total: Fraction) -> str:
    used = min(BAR, round(BAR * spent / total)) if total else BAR
    return "█" * (BAR - used) + "░" * used
