"""Attack a release: every attack that what is at hand allows, and why the others were not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from time import perf_counter

from discreet.attacks.catalogue import AT_HAND, ATTACKS, WHY_NOT, AttackKind, Need, Setup
from discreet.attacks.result import AttackResult
from discreet.attacks.scenario import Scenario, make_scenario
from discreet.classes import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy, UnknownColumn, unknown
from discreet.policy import Policy
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.hierarchies import fit
from discreet.privacy import PrivacyModel
from discreet.progress import Asked, telling
from discreet.release import rendered
from discreet.release.audit import Audit, audit_counted
from discreet.release.bucketize import BucketRelease, opened_buckets
from discreet.release.buckets import BucketedTable
from discreet.release.codebook import Given as GivenCodebook
from discreet.release.composition import compared, earlier_pair, laid_over, told_by_bucket
from discreet.release.legal import UPPER_BOUNDS, Summary, Untested, summarise
from discreet.release.links import Given
from discreet.release.pairing import MatchedPair, count_people, make_pair
from discreet.release.prepare import count_classes, open_table, refuse_unnamed_persons, with_roles
from discreet.release.profile import load_profile
from discreet.release.promises import beside_promise
from discreet.release.release import codebook_of, open_release
from discreet.release.requirements import goals
from discreet.sentences import Sentence
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
        for result in self.results:
            if result.attack == attack and (target is None or result.target == target):
                return result
        raise InvalidParameter(
            Sentence("the attack {attack!r} was not run", attack=attack),
            remedy=Sentence(
                "run were: {attacks}", attacks=tuple(dict.fromkeys(result.attack for result in self.results))
            ),
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
        counted = [
            result
            for result in self.results
            if result.attack not in UPPER_BOUNDS and result.better_than_baseline
        ]
        return max(counted, key=lambda result: result.advantage, default=None)

    def __repr__(self) -> str:
        # Results hold values of the data, which a traceback or a log must not show.
        return f"Attacks({self.source.name!r}, {len(self.results)} run, exposure {self.exposure:.3f})"

    def __str__(self) -> str:
        return rendered.attacks_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the three legal criteria and how far attacks got."""
        return rendered.attacks_notebook(self)

    def to_dict(self, *, exposed: bool = False) -> dict[str, object]:
        """Everything as JSON-ready data; the most exposed people only if asked for, as they show values."""
        hidden = () if exposed else ("exposed",)
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
            "attacks": [
                {key: value for key, value in result.to_dict().items() if key not in hidden}
                for result in self.results
            ],
            "not_tested": [attack.to_dict() for attack in self.untested],
            "criteria": [criterion.to_dict() for criterion in self.criteria],
            "notes": list(self.notes),
        }


def attack(
    release: object,
    policy: GivenPolicy | None = None,
    *,
    original: object | None = None,
    earlier: Sequence[object] = (),
    public: object | None = None,
    control: object | None = None,
    scenario: str = "prosecutor",
    known: Sequence[str] | None = None,
    attacks: Sequence[str] | None = None,
    key: str | None = None,
    links: Given | None = None,
    codebook: GivenCodebook | None = None,
    buckets: object | None = None,
    statement: str | PathLike[str] | None = None,
    seed: int = 1,
    paired: MatchedPair | None = None,
    progress: Asked = None,
) -> Attacks:
    """Try what an intruder could still do to a release, made here or elsewhere.

    With the ``original`` all attacks can be judged; without it only those that read the release alone. ``earlier``
    are earlier releases about the same people, which are laid over this one (`intersect_pairs`, `correspond`, `difference`). ``public``
    is a table about people whom the intruder wants to find (else the people of the original are taken);
    ``control`` one about people who are not in the release. ``known`` overrides which columns the ``scenario``
    takes to be known. ``attacks`` names those to run (all if not given). ``key`` is a column that tells which
    record is which, ``links`` the links that were made with the release (a file or `Release.links`; a `Release` has
    its own), ``codebook`` what tells its short labels, ``buckets`` the table of sensitive values by bucket (both as for
    `compare`); ``paired`` the pair of a comparison of the same tables. What the ``statement`` of a guarantee (or the one beside the release) allows
    stands beside what attacks came to (`beside_promise`). Everything random follows from ``seed``.
    """
    say = telling(progress)
    wanted = _wanted(attacks)
    bucketed, given = opened_buckets(release, buckets, None if policy is None else open_policy(policy))
    if bucketed is None:
        table, given = open_release(release, given)
    else:
        # A comparison has values in its rows that were dealt out.
        table, paired = bucketed.table, None
        links = release.links if links is None and isinstance(release, BucketRelease) else links
    before = None if original is None else open_table(original, given)
    policy, notes = with_roles(before or table, given, say)
    intruder = _scenario(scenario, policy, known, (before or table).names)
    if paired is None and before is not None:
        paired = make_pair(
            before, table, policy, key=key, links=links, codebook=codebook_of(release, codebook)
        )
    counter = _Counter(table, before, policy, intruder, paired, bucketed)
    base = counter.setup(public, control, seed)
    say("auditing the release")
    judged = counter.audit()
    results: list[AttackResult] = []
    untested: list[Untested] = []
    for kind in wanted:
        for sensitive in policy.sensitive if kind.per_sensitive else ("",):
            tried, skipped = _try(kind, sensitive, counter, base, say)
            results += tried
            untested += skipped
        if kind.per_sensitive and not policy.sensitive:
            untested.append(Untested(kind.id, kind.criterion, WHY_NOT["sensitive"]))
    together = list(counter.laid_over(earlier, base)) if earlier else []
    results += [outcome for outcome in together if isinstance(outcome, AttackResult)]
    untested += [outcome for outcome in together if isinstance(outcome, Untested)]
    results, promised = beside_promise(results, release, table, statement)
    return Attacks(
        table.source,
        intruder,
        tuple(results),
        tuple(untested),
        summarise(results, untested, judged.measures),
        judged,
        counter.matched,
        seed,
        (*notes, *counter.notes, *promised),
    )


def _scenario(name: str, policy: Policy, known: Sequence[str] | None, columns: Sequence[str]) -> Scenario:
    """Who attacks, and which columns are known to them."""
    return make_scenario(
        name,
        quasi_identifiers=policy.quasi_identifiers,
        sensitive=policy.sensitive,
        availability={c.name: c.rating.availability for c in policy.columns if c.rating is not None},
        known=known,
        columns=columns,
    )


def _try(
    kind: AttackKind, sensitive: str, counter: _Counter, base: Setup, say: Progress
) -> tuple[list[AttackResult], list[Untested]]:
    """Run one attack (on one sensitive attribute), or say why it was not run."""

    def skipped(why: str) -> Untested:
        return Untested(
            kind.id,
            kind.criterion,
            Sentence("{sensitive}: {why}", sensitive=sensitive, why=Sentence(why)) if sensitive else why,
        )

    if sensitive and (barred := counter.out_of_reach(sensitive)) is not None:
        return [], [skipped(WHY_NOT[barred])]
    say(
        Sentence("attacking: {attack} on {column}", attack=Sentence(kind.id), column=sensitive)
        if sensitive
        else Sentence("attacking: {attack}", attack=Sentence(kind.id))
    )
    setup = counter.against(base, sensitive)
    missing = next((need for need in kind.needs if not AT_HAND[need](setup, sensitive)), None)
    if missing in ("original", "people") and setup.pair is None and base.pair is not None:
        missing = "records"
    if missing is not None:
        return [], [skipped(WHY_NOT[missing])]
    listed: list[AttackResult] = []
    untested = []
    start = perf_counter()
    try:
        # Of several results, those before an error stay.
        listed += kind.run(setup, sensitive)
    except DiscreetError as error:
        untested.append(skipped(str(error)))
    each = (perf_counter() - start) / max(len(listed), 1)
    tried = [
        replace(
            result,
            scenario=setup.scenario.name,
            target=result.target or sensitive or None,
            known=result.known or setup.scenario.known,
            seconds=each,
        )
        for result in listed
        if result.tries
    ]
    untested += [
        replace(skipped("; ".join(result.notes) or "it found nobody to be tried on"), attack=result.attack)
        for result in listed
        if not result.tries
    ]
    return tried, untested


def _wanted(names: Sequence[str] | None) -> list[AttackKind]:
    if names is None:
        return list(ATTACKS.values())
    if not names:
        raise InvalidParameter(
            "no attack was named", remedy=Sentence("attacks are: {attacks}", attacks=tuple(ATTACKS))
        )
    for name in names:
        if name not in ATTACKS:
            raise unknown("attack", name, ATTACKS)
    return [ATTACKS[name] for name in dict.fromkeys(names)]


class _Counter:
    """Counts a release (and its original) by what an intruder knows, once for each set of columns."""

    def __init__(
        self,
        table: Table,
        original: Table | None,
        policy: Policy,
        scenario: Scenario,
        paired: MatchedPair | None,
        bucketed: BucketedTable | None = None,
    ) -> None:
        self.bucketed = bucketed
        self.table, self.original, self.policy, self.scenario = table, original, policy, scenario
        self._paired = None if original is None else paired
        self.matched = "the original was not given" if self._paired is None else self._paired.matched
        self.notes: tuple[str, ...] = () if self._paired is None else self._paired.notes
        self._counted: dict[tuple[str, ...], tuple[Pair | None, EquivalenceClasses]] = {}

    @cached_property
    def _released(self) -> EquivalenceClasses:
        """The release by all quasi-identifiers that it has."""
        if self._paired is not None:
            return self._paired.released
        present = _present(self.policy, self.table)
        return count_classes(self.table, present)

    def audit(self) -> Audit:
        """The audit of the release by what it still has of the policy's columns."""
        present = _present(self.policy, self.table)
        table = present.fit(self.table)
        refuse_unnamed_persons(table, present)
        # Pairs are counted without weights.
        weighed = self._paired is not None and present.weight is not None
        return audit_counted(table, present, count_classes(table, present) if weighed else self._released)

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
            _people(control, known, self.policy.sensitive),
            self._models(),
            self._hierarchies(),
            seed,
            self.policy.perturb,
        )

    def against(self, base: Setup, sensitive: str) -> Setup:
        """The same intruder, who does not know the attribute that is to be found out.

        What is told by bucket is read there: the row of a person is found, and with it the bucket.
        """
        if self.bucketed is not None and sensitive == self.bucketed.sensitive:
            pair, _ = self._count(self.scenario.known_against(sensitive))
            people = None if pair is None else self.bucketed.with_people(pair)
            return replace(base, pair=None, released=self.bucketed.classes, in_buckets=people)
        pair, released = self._count(self.scenario.known_against(sensitive))
        return replace(base, pair=pair, released=released)

    def laid_over(self, earlier: Sequence[object], base: Setup) -> Iterator[AttackResult | Untested]:
        """The intersection, correspondence and differencing attacks with earlier releases, on each sensitive attribute."""
        if self.original is None:
            raise InvalidParameter(
                "earlier releases can only be laid over this one for people who are known",
                remedy="give the original table, too, or a table of the people who are looked for",
            )
        for sensitive in self.policy.sensitive:
            newest = self.against(base, sensitive).pair
            if newest is None:
                yield from told_by_bucket(sensitive)
                continue
            pairs = [earlier_pair(release, self.original, self.policy, newest.names) for release in earlier]
            for outcome in (laid_over(newest, pairs, sensitive), *compared(newest, pairs, sensitive)):
                yield (
                    replace(outcome, scenario=base.scenario.name)
                    if isinstance(outcome, AttackResult)
                    else outcome
                )

    def out_of_reach(self, sensitive: str) -> Need | None:
        """Why an attribute cannot be the target of any attack: it is not released, or nothing else is known."""
        told = () if self.bucketed is None else (self.bucketed.sensitive,)
        if sensitive not in (*self.table.names, *told):
            return "released"
        return None if self.scenario.known_against(sensitive) else "known"

    def _count(self, names: tuple[str, ...]) -> tuple[Pair | None, EquivalenceClasses]:
        if names not in self._counted:
            self._counted[names] = self._side_by_side(names)
        return self._counted[names]

    def _side_by_side(self, names: tuple[str, ...]) -> tuple[Pair | None, EquivalenceClasses]:
        if self.original is not None:
            if self._paired is not None and names == self._paired.pair.names:
                return self._paired.pair, self._paired.pair.released
            # Which row is which is best told by all columns, however few of them the intruder knows.
            paired = make_pair(self.original, self.table, self.policy, names=names, like=self._paired)
            return paired.pair, paired.pair.released
        shown = [name for name in names if name in self.table.names]
        if shown and set(shown) <= set(self._released.names):
            return None, self._released.project(shown)
        hidden = [name for name in self.policy.sensitive if name in self.table.names and name not in names]
        person = self.policy.person if self.policy.person in self.table.names else None
        return None, self.table.engine.count(
            self.table, quasi_identifiers=shown, sensitive=hidden, person=person
        )

    @property
    def _source(self) -> EquivalenceClasses:
        """The classes of the original, or of the release where that is all there is."""
        return self._released if self._paired is None else self._paired.pair.original

    def _models(self) -> tuple[PrivacyModel, ...]:
        """What the release had to meet, as far as policy and profile say."""
        own = _present(self.policy, self.original or self.table)
        if own.person not in self.table.names:
            own = own.without([own.person or ""])
        try:
            return goals(own, load_profile(own.profile), self._source)
        except InvalidPolicy:
            return ()

    def _hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies that the policy gives to sensitive attributes."""
        given = {}
        for domain in self._source.sensitive:
            column = self.policy.column(domain.name)
            if column is not None and column.hierarchy is not None:
                totals = self._source.histogram(domain.name).totals
                try:
                    given[domain.name] = fit(domain, totals, column.hierarchy).hierarchy
                except DiscreetError as error:
                    raise InvalidPolicy(
                        [Sentence("{name}: {error}", name=domain.name, error=error)],
                        remedy="correct the hierarchies, or leave them out to have them learned",
                    ) from None
        return given


def _people(
    source: object | None, names: Sequence[str], sensitive: Sequence[str] = ()
) -> EquivalenceClasses | None:
    """Further people by what is known of them, and what they have of sensitive attributes."""
    if source is None:
        return None
    table = open_table(source)
    there = [name for name in names if name in table.names]
    if not there:
        raise UnknownColumn(names[0], table.names)
    told = [name for name in sensitive if name in table.names and name not in there]
    return count_people(table, there, sensitive=told)


def _present(policy: Policy, table: Table) -> Policy:
    """The policy without the columns that a release lacks."""
    return replace(
        policy,
        columns=tuple(column for column in policy.columns if column.name in table.names),
        requirements=tuple(
            model for model in policy.requirements if model.sensitive in (None, "*", *table.names)
        ),
    )
