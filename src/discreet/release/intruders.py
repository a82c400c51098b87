"""Several intruders, each with what they know: of whom requirements are asked, and what each can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.classes import EquivalenceClasses
from discreet.measure import RecordRisk
from discreet.policy import Policy
from discreet.policy.intruder import EVERYBODY
from discreet.privacy import KnownBy, PrivacyModel
from discreet.privacy.confidence import largest_share
from discreet.privacy.intruder import may_be_known, seen_by
from discreet.risk.gain import gain
from discreet.risk.prosecutor import prosecutor, unique_records
from discreet.risk.scorr import all_scorr
from discreet.sentences import Sentence


def asked_of(policy: Policy, model: PrivacyModel) -> list[PrivacyModel]:
    """The model as it is asked: of one intruder, of each of them, or of somebody who knows all quasi-identifiers.

    Where intruders are judged separately, what cannot be asked of one is asked of all quasi-identifiers still.
    """
    if isinstance(model, KnownBy):
        if model.intruder != EVERYBODY:
            return [model.resolved({intruder.name: intruder.columns for intruder in policy.intruders})]
        model = model.model
    elif policy.judged == "together" or not may_be_known(model):
        return [model]
    return [KnownBy(model, intruder.name, intruder.columns) for intruder in policy.intruders]


@dataclass(frozen=True)
class IntruderView:
    """What one intruder can tell of the people in a table; without a name somebody who knows all quasi-identifiers.

    ``k`` persons share at least what is known of somebody, ``risk`` is the largest chance to name the person of a record, ``mean_risk`` its
    mean over records, ``unique`` the share of records of people who are alone, and ``certainty`` how surely each sensitive value is inferred at most.
    """

    name: str
    columns: tuple[str, ...]
    k: int
    risk: float
    mean_risk: float
    unique: float
    certainty: dict[str, float]
    classes: EquivalenceClasses = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, object]:
        return {
            "intruder": self.name or None,
            "columns": list(self.columns),
            "k": self.k,
            "risk": self.risk,
            "mean_risk": self.mean_risk,
            "unique": self.unique,
            "certainty": dict(self.certainty),
        }

    def deciding_risks(self) -> list[RecordRisk]:
        """The risks by which a profile may decide, for somebody who knows this and nothing else."""
        seen = self.classes
        return [*all_scorr(seen), prosecutor(seen), *(gain(seen, domain.name) for domain in seen.sensitive)]


def views(policy: Policy, classes: EquivalenceClasses) -> tuple[IntruderView, ...]:
    """What each intruder can tell, and at last who knows all that is known to any; nothing where the policy describes nobody."""
    listed = [(intruder.name, intruder.columns) for intruder in policy.intruders]
    if not listed:
        return ()
    return tuple(_view(name, columns, classes) for name, columns in [*listed, ("", classes.names)])


def together_note(policy: Policy, told: Sequence[IntruderView]) -> list[str]:
    """Where intruders are judged separately: what whoever knows all of it could still tell."""
    if policy.judged == "together" or not told:
        return []
    return [
        Sentence(
            "each intruder was judged by what they know alone: who knows all of it together finds classes of {k} people, and is alone with {unique:.1%} of "
            "the records",
            k=told[-1].k,
            unique=told[-1].unique,
        )
    ]


def _view(name: str, columns: Sequence[str], classes: EquivalenceClasses) -> IntruderView:
    known = tuple(column for column in columns if column in classes.names)
    seen = seen_by(classes, known)[0] if name else classes
    risk = prosecutor(seen)
    return IntruderView(
        name,
        known,
        int(seen.persons.min()),
        risk.max,
        risk.mean,
        unique_records(seen).value,
        {domain.name: float(largest_share(seen.histogram(domain.name)).max()) for domain in seen.sensitive},
        seen,
    )
