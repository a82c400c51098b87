"""The tables of the evidence report: criteria, attacks, methods and provenance.

The public edition is built from what may be shown: names of columns, numbers over many people, and texts that
discreet wrote and that hold no number of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.attacks.catalogue import ATTACKS, WHY_NOT
from discreet.attacks.result import AttackResult
from discreet.policy import Policy
from discreet.release.attack import Attacks
from discreet.release.audit import versions
from discreet.release.compare import Comparison
from discreet.release.legal import (
    CRITERIA,
    DEFENCES,
    TITLES,
    TOLERATED,
    UPPER_BOUNDS,
    State,
    Summary,
    state_of,
)
from discreet.reports.charts.scale import whisker
from discreet.reports.evidence.pictures import (
    advantage_text,
    baseline_told,
    figures_for,
    hidden,
    interval_text,
)
from discreet.reports.figures import Figures, Row, RowGroup, drawn_share
from discreet.reports.words import Tone, about, amount, fingerprint, number, percent, title_of, with_unit
from discreet.risk.special_uniques import SMALL_GROUP
from discreet.sentences import Sentence

STATE_TONES: dict[State, Tone | None] = {
    "gives way": "bad",
    "weakened": "warn",
    "withstood": "good",
    "not tested": None,
}


METHODS = {
    "k-anonymity": ("k-anonymity",),
    "l-diversity": ("l-diversity", "multi-attribute-l-diversity", "l-plus-diversity"),
    "t-closeness": ("t-closeness",),
}
"""The models that make a policy require a method of the method table."""

MOST_EXPOSED = 10
NOT_RUN = "it could not be run on these tables"
NOT_ASKED = "it was not asked for"


# ── the three criteria ────────────────────────────────────────────────────────────────────────────────


def criteria(attacks: Attacks, *, public: bool) -> list[Row]:
    """The three legal criteria: state, finding, what was run, and what the audit of the release says to it."""
    figures = Figures(max(attacks.audit.rows, 1), public=public)
    return [
        {
            "title": summary.title,
            "question": summary.question,
            "state": summary.state,
            "tone": STATE_TONES[summary.state],
            "finding": finding(summary, public=public),
            "tested": Sentence("{attacks}", attacks=tuple(map(Sentence, summary.tested)))
            if summary.tested
            else "none",
            "measures": tuple(
                (
                    about(title_of(measure.name), measure.attribute),
                    with_unit(figures.measured(measure), figures.unit(measure)),
                )
                for measure in summary.measures
            ),
        }
        for summary in attacks.criteria
    ]


def titled(result: AttackResult) -> Sentence:
    """An attack as people call it, with what it goes for: its name in programs is for these."""
    attack = Sentence(title_of(result.attack))
    return Sentence("{attack} on {target}", attack=attack, target=result.target) if result.target else attack


def finding(summary: Summary, *, public: bool) -> str:
    """What was found, in words; of a few people the public edition gives only a bound."""
    worst = summary.worst
    if worst is None:
        return summary.finding
    attack = titled(worst)
    if not hidden(worst, public=public):
        told = summary.finding
        if not isinstance(told, Sentence) or "attack" not in told.parameters:
            return told
        return Sentence(told.template, **{**told.parameters, "attack": attack})
    return Sentence(
        "The attack that got furthest ({attack}) was right about {rate} of {tries:,.0f} {unit}; {baseline}. This is {state}.",
        attack=attack,
        rate=figures_for(worst, public=public).share(worst.rate),
        tries=worst.tries,
        unit=Sentence(worst.unit),
        baseline=Sentence("without the release {share} are expected", share=percent(worst.baseline))
        if baseline_told(worst, public=public)
        else Sentence("how many are expected without the release is withheld"),
        state=Sentence(
            "more than chance" if worst.better_than_baseline else "not distinguishable from chance"
        ),
    )


def came_to(attacks: Attacks) -> str:
    """What all attacks together came to, in one sentence without a count of people.

    Each attribute that an attack goes for counts as an attempt; the intruder who holds the original is not counted.
    """
    tried = [result for result in attacks.results if result.tries and result.attack not in UPPER_BOUNDS]
    if not tried:
        return ""
    states = [state_of(result) for result in tried]
    passed = [result for result, state in zip(tried, states, strict=True) if state == "gives way"]
    if passed:
        furthest = max(passed, key=lambda result: result.advantage)
        return Sentence(
            "Of {tried:,} attempts {passed:,} got beyond the tolerated {tolerated:.0%} of what chance leaves, "
            "furthest by: {furthest}.",
            tried=len(tried),
            passed=len(passed),
            tolerated=TOLERATED,
            furthest=titled(furthest),
        )
    if "weakened" in states:
        return Sentence(
            "Of {tried:,} attempts {some:,} got further than without the release, none beyond the tolerated "
            "{tolerated:.0%} of what chance leaves.",
            tried=len(tried),
            some=states.count("weakened"),
            tolerated=TOLERATED,
        )
    return Sentence("Of {tried:,} attempts none got further than without the release.", tried=len(tried))


def helps(attacks: Attacks) -> str:
    """What to ask of a release to which attacks get beyond what is tolerated; nothing where none does."""
    passed = [
        result
        for result in attacks.results
        if result.tries and result.attack not in UPPER_BOUNDS and state_of(result) == "gives way"
    ]
    ways = tuple(dict.fromkeys(_way(result, attacks.audit.policy.sensitive) for result in passed))
    return Sentence("What helps: {ways:; }.", ways=ways) if ways else ""


def _way(result: AttackResult, sensitive: Sequence[str]) -> Sentence:
    """What helps against one attack."""
    if result.criterion != "inference" or result.target is None:
        return Sentence("larger classes (a higher k), or fewer columns that others know")
    if result.target in sensitive:
        return Sentence(
            "several values of {target} in every class (l-diversity), spread as in the whole table (a smaller t)",
            target=result.target,
        )
    return Sentence("a coarser {target}, or a release without it", target=result.target)


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────────


def attack_groups(attacks: Attacks, *, public: bool) -> list[RowGroup]:
    """Every attack with its interval, under the criterion that it speaks to."""
    return [
        RowGroup(TITLES[criterion], tuple(rows))
        for criterion in CRITERIA
        if (
            rows := [
                _attack(result, public=public) for result in attacks.results if result.criterion == criterion
            ]
        )
    ]


def _attack_tone(result: AttackResult) -> Tone | None:
    """A mark by what the attack came to; what he finds who holds the original, he had before, so it has none."""
    return None if result.attack in UPPER_BOUNDS else STATE_TONES[state_of(result)]


def _attack(result: AttackResult, *, public: bool) -> Row:
    figures = figures_for(result, public=public)
    veiled = hidden(result, public=public)
    right = figures.few(result.successes)
    told = baseline_told(result, public=public)
    return {
        "title": title_of(result.attack),
        "target": result.target or "",
        "question": _question(result.attack),
        "right": Sentence("fewer than {count}", count=SMALL_GROUP)
        if right
        else "nearly all"
        if veiled
        else amount(result.successes),
        "tried": with_unit(amount(result.tries), result.unit),
        "rate": figures.share(result.rate),
        "interval": interval_text(result, public=public),
        "picture": whisker(drawn_share(result.rate, figures), marks=[result.baseline] if told else [])
        if veiled
        else whisker(result.rate, low=result.low, high=result.high, marks=[result.baseline]),
        "baseline": percent(result.baseline) if told else "withheld",
        "beyond": advantage_text(result, public=public),
        "tone": _attack_tone(result),
        "fallen": figures.count(len(result.fallen), "class", "classes") if result.fallen else "none",
        "meaning": "" if public else result.meaning,
        "notes": () if public else (*(_figure(name, value) for name, value in result.figures), *result.notes),
        "source": result.source,
    }


def _question(attack: str) -> str:
    """What an attack asks; an attack by several learners has their name after its own."""
    kind = next((kind for name, kind in ATTACKS.items() if attack.startswith(name)), None)
    return kind.says if kind is not None else ""


def exposed(attacks: Attacks) -> list[Row]:
    """The people with whom each attack got furthest: for the internal edition only."""
    groups = []
    for result in attacks.results:
        worst = sorted(result.exposed, key=lambda person: -person.score)
        if worst:
            groups.append(
                {
                    "title": about(title_of(result.attack), result.target),
                    "rows": tuple(
                        {
                            "values": tuple(person.values.items()),
                            "score": percent(person.score),
                            "people": f"{person.people:,}",
                            "says": person.says,
                        }
                        for person in worst[:MOST_EXPOSED]
                    ),
                    "more": max(0, len(worst) - MOST_EXPOSED),
                }
            )
    return groups


def untested(attacks: Attacks, *, public: bool) -> list[tuple[str, str, str]]:
    """Attacks that were not run, asked for or not: name, criterion, why; in public only reasons that hold no count."""
    rows = []
    for attack in attacks.untested:
        known = next((why for why in WHY_NOT.values() if attack.why.endswith(why)), None)
        why = attack.why if known is not None or not public else NOT_RUN
        rows.append((title_of(attack.attack), TITLES[attack.criterion], why))
    told = (*(result.attack for result in attacks.results), *(attack.attack for attack in attacks.untested))
    return rows + [
        (title_of(kind.id), TITLES[kind.criterion], NOT_ASKED)
        for kind in ATTACKS.values()
        if not any(name.startswith(kind.id) for name in told)
    ]


def defences(policy: Policy) -> list[Row]:
    """The method table: which methods can defend against which criterion, and which of them the policy requires."""
    return [
        {
            "method": defence.method,
            "required": tuple(
                model.describe()
                for model in policy.requirements
                if model.id in METHODS.get(defence.method, ())
            ),
            "verdicts": (defence.singling_out, defence.linkability, defence.inference),
        }
        for defence in DEFENCES
    ]


# ── provenance ────────────────────────────────────────────────────────────────────────────────────────


def provenance(
    comparison: Comparison | None, attacks: Attacks | None, *, public: bool
) -> list[tuple[str, str]]:
    """Which files, with which chance, by which intruder, and made with what."""
    rows: list[tuple[str, str]] = []
    if comparison is not None:
        if not public:
            rows.append(("SHA-256 of the original", fingerprint(comparison.original.sha256)))
        rows.append(("SHA-256 of the release", fingerprint(comparison.release.sha256)))
        rows.append(("Seed of the comparison", f"{comparison.seed}"))
        rows.append(
            (
                "Random queries",
                Sentence("{asked:,} had a true answer", asked=comparison.losses.workload.asked),
            )
        )
    elif attacks is not None:
        rows.append(("SHA-256 of the release", fingerprint(attacks.source.sha256)))
    if attacks is not None:
        preset = attacks.scenario.preset
        rows += [
            (
                "Intruder",
                Sentence(
                    "{name}: {title}, who {says}",
                    name=preset.name,
                    title=Sentence(preset.title),
                    says=Sentence(preset.says),
                ),
            ),
            ("Known to the intruder", Sentence("{names}", names=attacks.scenario.known)),
            ("Source of the scenario", preset.source),
            ("Seed of the attacks", f"{attacks.seed}"),
        ]
    matched = dict.fromkeys(result.matched for result in (comparison, attacks) if result is not None)
    rows.append(("How records were matched", Sentence("{each:; }", each=tuple(map(Sentence, matched)))))
    return [*rows, *versions().items()]


def _figure(name: str, value: float) -> Sentence:
    return Sentence("{name}: {value}", name=Sentence(name.replace("-", " ")), value=number(value))
