"""Attack a release: every attack that what is at hand allows, and why the others were not run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from discreet.attacks.catalogue import ATTACKS, WHY_NOT, AttackKind, Need, Setup, at_hand
from discreet.attacks.result import AttackResult
from discreet.attacks.scenario import Scenario, make_scenario
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.engine.read import read
from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy, UnknownColumn, unknown
from discreet.policy import Policy
from discreet.policy.hierarchies import hierarchies
from discreet.policy.suggest import suggest
from discreet.privacy import PrivacyModel
from discreet.release.audit import Audit, audit
from discreet.release.build import count_classes
from discreet.release.legal import UPPER_BOUNDS, Summary, Untested, summarise
from discreet.release.pairing import count_people, make_pair
from discreet.release.profile import load_profile
from discreet.release.release import Release
from discreet.release.requirements import goals
from discreet.table import Source, Table
from discreet.table.hierarchies.hierarchy import Hierarchy
from discreet.types import Progress


@dataclass(frozen=True)
class Attacks:
    """What every attack came to, what was not run and why, and what that says of the three legal criteria."""

    source: Source
    scenario: Scenario
    results: tuple[AttackResult, ...]
    untested: tuple[Untested, ...]
    criteria: tuple[Summary, ...]
    audit: Audit = field(repr=False)
    matched: str
    seed: int
    notes: tuple[str, ...] = ()

    def result(self, attack: str, target: str | None = None) -> AttackResult:
        """The result of one attack (on one sensitive attribute)."""
        for one in self.results:
            if one.attack == attack and (target is None or one.target == target):
                return one
        raise InvalidParameter(
            f"the attack {attack!r} was not run",
            remedy="run were: " + ", ".join(dict.fromkeys(one.attack for one in self.results)),
        )

    @property
    def exposure(self) -> float:
        """The largest advantage that an attack gained over its baseline, 0 if none is beyond chance."""
        return 0.0 if self.furthest is None else self.furthest.advantage

    @property
    def furthest(self) -> AttackResult | None:
        """The attack that got furthest beyond chance.

        The intruder who holds the original is not counted: what that one finds was known before.
        """
        counted = [one for one in self.results if one.attack not in UPPER_BOUNDS and one.better_than_baseline]
        return max(counted, key=lambda one: one.advantage, default=None)

    def __repr__(self) -> str:
        # Results hold values of the data, which a traceback or a log must not show.
        return f"Attacks({self.source.name!r}, {len(self.results)} run, exposure {self.exposure:.3f})"

    def __str__(self) -> str:
        from discreet.reports.evidence.terminal import attacks_as_text

        return attacks_as_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the three legal criteria and how far attacks got."""
        from discreet.reports.evidence.html import notebook_attacks

        return notebook_attacks(self)

    def to_dict(self, *, exposed: bool = False) -> dict[str, object]:
        """Everything as JSON-ready data; the most exposed people only if asked for, as they show values."""
        results = []
        for one in self.results:
            told = one.to_dict()
            if not exposed:
                told.pop("exposed")
            results.append(told)
        return {
            "schema": "discreet-attacks-1",
            "release": self.source.to_dict(),
            "scenario": {
                "name": self.scenario.name,
                "says": self.scenario.preset.says,
                "known": list(self.scenario.known),
            },
            "seed": self.seed,
            "matched": self.matched,
            "exposure": self.exposure,
            "attacks": results,
            "not_tested": [one.to_dict() for one in self.untested],
            "criteria": [one.to_dict() for one in self.criteria],
            "notes": list(self.notes),
        }


def attack(
    release: object,
    policy: Policy | None = None,
    *,
    original: object | None = None,
    public: object | None = None,
    control: object | None = None,
    scenario: str = "prosecutor",
    known: Sequence[str] | None = None,
    attacks: Sequence[str] | None = None,
    key: str | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Attacks:
    """Try what an intruder could still do to a release, made here or elsewhere.

    With the ``original`` all attacks can be judged; without it only those that read the release alone. ``public``
    is a table about people whom the intruder wants to find (else the people of the original are taken);
    ``control`` one about people who are not in the release. ``known`` overrides which columns the ``scenario``
    takes to be known. ``attacks`` names those to run (all if not given). ``key`` is a column that tells which
    record is which. Everything random follows from ``seed``.
    """
    say = progress or (lambda _: None)
    wanted = _wanted(attacks)
    if isinstance(release, Release):
        policy = policy or release.policy
        table = release.table
    else:
        table = release if isinstance(release, Table) else read(release)
    before = None if original is None else original if isinstance(original, Table) else read(original)
    notes: list[str] = []
    if policy is None:
        policy = suggest(before or table)
        notes.append("no policy was given: roles were suggested from names and content and should be checked")
    given = make_scenario(
        scenario,
        quasi_identifiers=policy.quasi_identifiers,
        sensitive=policy.sensitive,
        availability={c.name: c.rating.availability for c in policy.columns if c.rating is not None},
        known=known,
        columns=(before or table).names,
    )
    counter = _Counter(table, before, policy, given, key=key)
    base = counter.setup(public, control, seed)
    say("auditing the release")
    judged = audit(table, _present(policy, table), detail="core")
    results: list[AttackResult] = []
    untested: list[Untested] = []
    for kind in wanted:
        for sensitive in policy.sensitive if kind.per_sensitive else ("",):
            about = f"{sensitive}: " if sensitive else ""
            if sensitive and (barred := counter.out_of_reach(sensitive)) is not None:
                untested.append(Untested(kind.id, kind.criterion, about + WHY_NOT[barred]))
                continue
            say(f"attacking: {kind.id}" + (f" on {sensitive}" if sensitive else ""))
            setup = counter.against(base, sensitive)
            missing = next((need for need in kind.needs if not at_hand(need, setup, sensitive)), None)
            if missing is not None:
                untested.append(Untested(kind.id, kind.criterion, about + WHY_NOT[missing]))
                continue
            listed: list[AttackResult] = []
            start = perf_counter()
            try:
                listed += kind.run(setup, sensitive)
            except DiscreetError as error:
                untested.append(Untested(kind.id, kind.criterion, about + str(error)))
            each = (perf_counter() - start) / max(len(listed), 1)
            for one in listed:
                if not one.tries:
                    why = "; ".join(one.notes) or "it found nobody to be tried on"
                    untested.append(Untested(one.attack, kind.criterion, about + why))
            results += [
                replace(
                    one,
                    scenario=given.name,
                    target=one.target or sensitive or None,
                    known=one.known or given.known,
                    seconds=each,
                )
                for one in listed
                if one.tries
            ]
        if kind.per_sensitive and not policy.sensitive:
            untested.append(Untested(kind.id, kind.criterion, WHY_NOT["sensitive"]))
    return Attacks(
        table.source,
        given,
        tuple(results),
        tuple(untested),
        summarise(results, untested, judged.measures),
        judged,
        counter.matched,
        seed,
        (*notes, *counter.notes),
    )


def _wanted(names: Sequence[str] | None) -> list[AttackKind]:
    if names is None:
        return list(ATTACKS.values())
    if not names:
        raise InvalidParameter("no attack was named", remedy=f"attacks are: {', '.join(ATTACKS)}")
    for name in names:
        if name not in ATTACKS:
            raise unknown("attack", name, ATTACKS)
    return [ATTACKS[name] for name in dict.fromkeys(names)]


class _Counter:
    """Counts a release (and its original) by what an intruder knows, once for each set of columns."""

    def __init__(
        self, table: Table, original: Table | None, policy: Policy, scenario: Scenario, *, key: str | None
    ) -> None:
        self.table, self.original, self.policy = table, original, policy
        self.scenario, self.key = scenario, key
        self._paired = None if original is None else make_pair(original, table, policy, key=key)
        self.matched = "the original was not given" if self._paired is None else self._paired.matched
        self.notes: tuple[str, ...] = () if self._paired is None else self._paired.notes
        self._counted: dict[tuple[str, ...], tuple[Pair | None, EquivalenceClasses]] = {}

    def setup(self, public: object | None, control: object | None, seed: int) -> Setup:
        if self.original is None and (public is not None or control is not None):
            raise InvalidParameter(
                "a public table or a control group can only be used together with the original",
                remedy="give the original table, too",
            )
        known = self.scenario.known
        return Setup(
            *self._count(known),
            self.scenario,
            _people(public, known),
            _people(control, known),
            self._models(),
            self._hierarchies(),
            seed,
        )

    def against(self, base: Setup, sensitive: str) -> Setup:
        """The same intruder, who does not know the attribute that is to be found out."""
        pair, released = self._count(self.scenario.known_against(sensitive))
        return replace(base, pair=pair, released=released)

    def out_of_reach(self, sensitive: str) -> Need | None:
        """Why an attribute cannot be the target of any attack: it is not released, or nothing else is known."""
        if sensitive not in self.table.names:
            return "released"
        return None if self.scenario.known_against(sensitive) else "known"

    def _count(self, names: tuple[str, ...]) -> tuple[Pair | None, EquivalenceClasses]:
        if names not in self._counted:
            self._counted[names] = self._side_by_side(names)
        return self._counted[names]

    def _side_by_side(self, names: tuple[str, ...]) -> tuple[Pair | None, EquivalenceClasses]:
        table, policy = self.table, self.policy
        if self.original is None:
            released = table.engine.count(
                table,
                quasi_identifiers=[name for name in names if name in table.names],
                sensitive=[n for n in policy.sensitive if n in table.names and n not in names],
                person=policy.person if policy.person in table.names else None,
            )
            return None, released
        # Which row is which is best told by all columns, however few of them the intruder knows.
        paired = make_pair(self.original, table, policy, names=names, like=self._paired)
        return paired.pair, paired.pair.released

    def _models(self) -> tuple[PrivacyModel, ...]:
        """What the release had to meet, as far as policy and profile say."""
        source = self.original or self.table
        own = _present(self.policy, source)
        try:
            return goals(own, load_profile(own.profile), count_classes(source, own))
        except InvalidPolicy:
            return ()

    def _hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies that the policy gives to sensitive attributes."""
        found: dict[str, Hierarchy] = {}
        source = self.original or self.table
        for name in self.policy.sensitive:
            column = self.policy.column(name)
            if column is not None and column.hierarchy is not None:
                own = Policy.of(quasi_identifiers=[name]).generalise({name: column.hierarchy})
                counted = source.engine.count(source, quasi_identifiers=[name])
                found[name] = hierarchies(own, counted)[0].hierarchy
        return found


def _people(source: object | None, names: Sequence[str]) -> EquivalenceClasses | None:
    if source is None:
        return None
    table = source if isinstance(source, Table) else read(source)
    there = [name for name in names if name in table.names]
    if not there:
        raise UnknownColumn(names[0], table.names)
    return count_people(table, there)


def _present(policy: Policy, table: Table) -> Policy:
    """The policy without the columns that a release lacks."""
    return replace(
        policy,
        columns=tuple(column for column in policy.columns if column.name in table.names),
        requirements=tuple(
            model for model in policy.requirements if model.sensitive in (None, "*", *table.names)
        ),
    )
