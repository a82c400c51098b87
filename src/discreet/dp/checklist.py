"""What to ask of a claim of differential privacy, with the answers that a statement gives and those that people owe.

After the factors of the pyramid of NIST SP 800-226, *Guidelines for Evaluating Differential Privacy Guarantees*, 2025: each
protects only as far as those below it hold, down to how the data were collected.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.dp.amounts import said
from discreet.dp.statement import Guarantee
from discreet.sentences import Sentence

SOURCE = "NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees, 2025"


@dataclass(frozen=True)
class ChecklistItem:
    """A question and its answer; without one, people have to answer it."""

    question: str
    answer: str = ""

    @property
    def open(self) -> bool:
        return not self.answer


def checklist(guarantee: Guarantee) -> tuple[ChecklistItem, ...]:
    """The questions from the top of the pyramid to its foot."""
    amounts = Sentence(
        "ε = {epsilon}, δ = {delta}", epsilon=said(guarantee.epsilon), delta=said(guarantee.delta)
    )
    return (
        ChecklistItem(Sentence("How large are the parameters?"), amounts),
        ChecklistItem(Sentence("Whom does the unit of privacy protect?"), guarantee.unit_description),
        ChecklistItem(Sentence("Which tables are neighbours?"), guarantee.neighbouring),
        ChecklistItem(Sentence("How do several releases add up?"), guarantee.composition),
        ChecklistItem(Sentence("By which mechanisms?"), Sentence("{all:; }", all=guarantee.mechanisms)),
        ChecklistItem(Sentence("What was learned from the data beforehand?"), guarantee.tuning),
        ChecklistItem(Sentence("What was taken for public?"), Sentence("{all:; }", all=guarantee.public)),
        ChecklistItem(Sentence("What is not protected?"), Sentence("{all:; }", all=guarantee.unprotected)),
        ChecklistItem(
            Sentence("Whom does one have to trust?"),
            Sentence("whoever makes the release sees the rows (the central model)"),
        ),
        ChecklistItem(
            Sentence("Does the arithmetic betray anything?"),
            Sentence("noise is drawn as whole numbers with exact arithmetic, from the system's randomness"),
        ),
        ChecklistItem(Sentence("Is the error acceptable, also for small groups?")),
        ChecklistItem(Sentence("Who may read the table, the ledger and the machine?")),
        ChecklistItem(
            Sentence("Who has seen the data since they were collected, and what was published before?")
        ),
    )
