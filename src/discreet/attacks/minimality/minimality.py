"""Minimality: a method that changes no more than needed tells what a finer release would have violated."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.attacks.disclosure.view import EXPOSED, best_values
from discreet.attacks.intervals import interval_of_classes
from discreet.attacks.minimality.tracing import Recoding, finer, recoding_of, shown_links
from discreet.attacks.minimality.worlds import Class, Counted, Part, count, histograms, meets
from discreet.attacks.result import AttackResult, Exposed
from discreet.classes.packing import expanded
from discreet.classes.pair import Links, Pair
from discreet.classes.tracing import traced
from discreet.privacy.base import PrivacyModel, need_choice, need_whole
from discreet.privacy.identity import KAnonymity
from discreet.sentences import Sentence
from discreet.types import BoolArray, FloatArray, IntArray

_AT_ONCE = 2_000_000
"""Counts of hypothetical classes that are judged at once."""

UNASKED = "nothing to find: no requirement looks at {sensitive!r}, so no violation speaks of it"
SOURCE = "Wong et al., Minimality attack in privacy preserving data publishing, 2007"


def minimality(
    pair: Pair,
    models: Sequence[PrivacyModel],
    sensitive: str,
    *,
    recoding: Recoding = "auto",
    limit: int = 200_000,
) -> AttackResult:
    """The intruder knows method and requirements: had a finer release met them, it would have been chosen.

    The intruder also knows the quasi-identifiers of everybody in the original. For every released class and every
    attribute that has a finer level, the class would have fallen into parts; as it did not, some part violates
    ``models``. Of all equally likely assignments of the class's sensitive values to its people only those
    with a violation remain:

    P(s | violated) = (P(s) - P(s and no violation)) / (1 - P(no violation)).

    The intruder guesses the most likely value of each person, from the attribute that makes surest. Baseline: the
    most frequent value of the class, which needs no knowledge of the method. A class falls if a posterior exceeds the
    share of the value in the class; ``max-credibility`` is the largest posterior among them, which
    m-confidentiality keeps at or below 1/m.

    ``recoding="local"``: each class was refined by itself, and parts join classes that already look like them.
    ``"global"``: a whole attribute is refined at once, and some class of the table violates; this is
    tried only if the release suppresses nothing, for else a finer one may have been rejected for its loss. Classes
    whose worlds are more than ``limit`` are passed over and counted in ``classes-skipped``. Wong et al., VLDB 2007;
    Cormode et al., "Minimizing minimality and maximizing utility", PVLDB 2010.

    >>> from discreet.classes import EquivalenceClasses
    >>> from discreet.privacy import AlphaKAnonymity
    >>> ill = {"dx": ["HIV", "HIV", "none", "none", "none", "none", "none"]}
    >>> pair = Pair.of(
    ...     EquivalenceClasses.from_columns({"q": ["q1"] * 2 + ["q2"] * 5}, sensitive=ill),
    ...     EquivalenceClasses.from_columns({"q": ["*"] * 7}, sensitive=ill))
    >>> at_most_half = AlphaKAnonymity(alpha=0.5, k=1, sensitive="dx", values=("HIV",))
    >>> result = minimality(pair, [at_most_half], "dx")
    >>> result.successes, round(result.baseline, 4), round(dict(result.figures)["max-credibility"], 4)
    (7.0, 0.7143, 1.0)
    """
    began = time.perf_counter()
    need_choice("recoding", recoding, ("auto", "local", "global"))
    need_whole("limit", limit)
    pair.original.sensitive_domain(sensitive)
    domain = pair.released.sensitive_domain(sensitive)
    links, note = _testable(pair, models, sensitive)
    if links is None:
        return _result(pair, sensitive, None, (note,))
    whole = not (~pair.suppressed).any()
    scope = recoding_of(pair, links if whole else shown_links(pair, links), recoding)
    dropped = (links.released < 0).any() or (pair.suppressed.any() and not whole)
    if scope == "global" and dropped:
        return _result(
            pair,
            sensitive,
            None,
            (
                "not tried: the release suppresses records, and a finer generalisation may have been "
                "rejected for its loss instead of a violation",
            ),
        )
    kept = links.released >= 0
    links = Links(links.original[kept], links.released[kept], links.records[kept])
    conclusions = _Conclusions.of(pair, links, sensitive)
    for name in pair.names:
        split = _split(pair, links, name, conclusions, local=scope == "local")
        _conclude(split, conclusions, models, limit, local=scope == "local", domain_size=domain.size)
    return replace(_result(pair, sensitive, conclusions, ()), seconds=time.perf_counter() - began)


def _testable(pair: Pair, models: Sequence[PrivacyModel], sensitive: str) -> tuple[Links | None, str]:
    """The links, or why nothing can be concluded."""
    if pair.original.event_level:
        return None, "not tried: worlds are counted where everybody has one record"
    if not pair.truthful:
        return None, "not tried: released values are not generalisations of the original ones"
    if not any(model.sensitive == sensitive for model in models):
        return None, Sentence(UNASKED, sensitive=sensitive)
    if any(
        not isinstance(model, KAnonymity)
        and (model.sensitive != sensitive or model.needs_attributes or model.needs_guards)
        for model in models
    ):
        return None, "not tried: a violation may come from a requirement on something else"
    links = traced(pair)
    return links, "" if links is not None else "not tried: it is not known which records became which"


@dataclass(frozen=True)
class _Conclusions:
    """The best conclusion so far for the people of each link; starts with the most frequent value of the class."""

    pair: Pair
    links: Links
    sensitive: str
    plain: IntArray
    guess: IntArray
    sure: FloatArray
    gain: FloatArray
    attribute: list[str]
    tested: BoolArray
    skipped: BoolArray
    loose: BoolArray

    @classmethod
    def of(cls, pair: Pair, links: Links, sensitive: str) -> _Conclusions:
        histogram = pair.released.histogram(sensitive)
        best, value = best_values(histogram, histogram.records)
        plain = value[links.released]
        share = (best / pair.released.records)[links.released]
        flags = (np.zeros(len(pair.released), dtype=bool) for _ in range(3))
        gain, attribute = np.zeros(len(plain)), [""] * len(plain)
        return cls(pair, links, sensitive, plain, plain.copy(), share, gain, attribute, *flags)


@dataclass(frozen=True)
class _Split:
    """Released classes that would fall into parts along one attribute, and the links that make up each part."""

    name: str
    classes: list[int]
    worlds: list[Class]
    members: list[list[IntArray]]


def _split(pair: Pair, links: Links, name: str, conclusions: _Conclusions, *, local: bool) -> _Split:
    """The released classes cut along one attribute, as a release one level finer would show them."""
    below = finer(pair, links, name)
    at = pair.original.index(name)
    histogram = pair.released.histogram(conclusions.sensitive)
    domain = pair.released.attributes[at]
    code_of = {domain.label(code): code for code in range(domain.size)}
    looks = {
        key: c for c, key in enumerate(zip(*(codes.tolist() for codes in pair.released.codes), strict=True))
    }
    order = np.lexsort((below.child, links.released))
    cuts = np.searchsorted(links.released[order], np.arange(len(pair.released) + 1))
    split = _Split(name, [], [], [])
    for c in np.unique(links.released[below.child >= 0]).tolist():
        mine = order[cuts[c] : cuts[c + 1]]
        children = below.child[mine]
        if children[0] < 0 or links.records[mine].sum() != pair.released.records[c]:
            continue
        entries = slice(histogram.indptr[c], histogram.indptr[c + 1])
        values = histogram.values[entries].astype(np.int64)
        starts = np.flatnonzero(np.diff(children, prepend=-1))
        members = np.split(mine, starts[1:])
        parts = []
        for child, group in zip(children[starts].tolist(), members, strict=True):
            joined = np.zeros(histogram.domain.size, dtype=np.int64)
            like = code_of.get(below.labels[child])
            if local and like is not None:
                key = tuple(like if j == at else int(codes[c]) for j, codes in enumerate(pair.released.codes))
                other = looks.get(key, c)
                if other != c:
                    there = slice(histogram.indptr[other], histogram.indptr[other + 1])
                    joined[histogram.values[there]] = histogram.records[there]
            parts.append(Part(int(links.records[group].sum()), joined))
        split.classes.append(c)
        split.worlds.append(Class(values, histogram.records[entries], tuple(parts)))
        split.members.append(members)
    return split


def _conclude(
    split: _Split,
    conclusions: _Conclusions,
    models: Sequence[PrivacyModel],
    limit: int,
    *,
    local: bool,
    domain_size: int,
) -> None:
    """Count the worlds of every class that may be split, and keep what makes surer."""
    if not split.classes:
        return
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    counted: dict[int, Counted] = {}
    todo: list[tuple[int, Class]] = []
    for c, world in zip(split.classes, split.worlds, strict=True):
        if min(part.people + int(part.joined.sum()) for part in world.parts) < k:
            # Too few people in a part: a violation whatever the values are, which says nothing about them.
            counted[c] = Counted(0.0, np.zeros((len(world.parts), len(world.values))))
        elif world.states > limit:
            conclusions.skipped[c] = True
        else:
            todo.append((c, world))
    if not local and (
        conclusions.skipped[split.classes].any() or any(worlds.ok == 0 for worlds in counted.values())
    ):
        # The violation of the whole table may be in a class that cannot be counted, or was there anyway.
        conclusions.tested[list(counted)] = True
        return
    counted |= _count_all(todo, conclusions, models, domain_size)
    product = float(np.prod([worlds.ok for worlds in counted.values()]))
    for c, world, members in zip(split.classes, split.worlds, split.members, strict=True):
        if c not in counted:
            continue
        conclusions.tested[c] = True
        worlds = counted[c]
        others = 1.0 if local else (product / worlds.ok if worlds.ok > 0 else 0.0)
        violated = 1.0 - worlds.ok * others
        if violated < 1e-12:
            conclusions.loose[c] = True
            continue
        prior = world.counts / world.counts.sum()
        posterior = np.clip((prior - worlds.share * others) / violated, 0.0, 1.0)
        for a, group in enumerate(members):
            # The first of those that are equally likely: rounding must not choose among them.
            best = int(np.argmax(posterior[a] >= posterior[a].max() - 1e-12))
            chance, gain = float(posterior[a, best]), float(posterior[a, best] - prior[best])
            better = group[(conclusions.sure[group] < chance - 1e-9) & (gain > 1e-9)]
            conclusions.guess[better], conclusions.sure[better] = world.values[best], chance
            conclusions.gain[better] = gain
            for link in better.tolist():
                conclusions.attribute[link] = split.name


def _count_all(
    todo: list[tuple[int, Class]], conclusions: _Conclusions, models: Sequence[PrivacyModel], domain_size: int
) -> dict[int, Counted]:
    """Count classes, judging the histograms of many parts at once."""
    histogram = conclusions.pair.released.histogram(conclusions.sensitive)
    counted: dict[int, Counted] = {}
    waiting: list[tuple[int, Class, list[IntArray]]] = []
    size = 0
    for c, world in todo:
        rows = []
        for part in world.parts:
            own = histograms(world.counts, part.people)
            full = np.zeros((len(own), domain_size), dtype=np.int64)
            full[:, world.values] = own
            rows.append(full + part.joined)
            size += full.size
        waiting.append((c, world, rows))
        if size > _AT_ONCE or c == todo[-1][0]:
            fine = meets(
                models,
                histogram.domain,
                histogram.totals,
                np.concatenate([r for _, _, rs in waiting for r in rs]),
            )
            for number, world, parts in waiting:
                cuts = np.cumsum([len(part) for part in parts])
                counted[number] = count(world, np.split(fine[: cuts[-1]], cuts[:-1]))
                fine = fine[cuts[-1] :]
            waiting, size = [], 0
    return counted


def _result(
    pair: Pair, sensitive: str, conclusions: _Conclusions | None, notes: tuple[str, ...]
) -> AttackResult:
    """The conclusions, checked against the original; without any, why nothing was tried."""
    tries = successes = plain = 0.0
    exposed: tuple[Exposed, ...] = ()
    fallen: tuple[int, ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    interval: tuple[float, float] | None = None
    if conclusions is not None:
        links, histogram = conclusions.links, pair.original.histogram(sensitive)
        weight = links.records / pair.original.records[links.original]
        share = np.zeros((2, len(weight)))
        owner, entry = expanded(histogram.indptr, links.original)
        meaning = pair.meaning(sensitive)
        for row, guess in enumerate((conclusions.guess, conclusions.plain)):
            hit = meaning.covers(guess[owner], histogram.values[entry])
            share[row] = np.bincount(owner[hit], weights=histogram.records[entry[hit]], minlength=len(weight))
        tries = float(links.records.sum())
        successes, plain = ((share * weight).sum(axis=1)).tolist()
        interval = interval_of_classes(
            np.bincount(links.released, weights=share[0] * weight),
            np.bincount(links.released, weights=links.records),
        )
        gained = conclusions.gain > 0
        fallen = tuple(np.unique(links.released[gained]).tolist())
        order = np.lexsort((-links.records, -conclusions.gain, -conclusions.sure))
        exposed = tuple(
            Exposed(
                pair.original.labels(int(links.original[i])),
                float(conclusions.sure[i]),
                int(links.records[i]),
                Sentence(
                    "a value of {sensitive!r} is {sure:.0%} likely, {before:.0%} by the class alone, because {attribute!r} "
                    "was not shown in finer detail",
                    sensitive=sensitive,
                    sure=conclusions.sure[i],
                    before=conclusions.sure[i] - conclusions.gain[i],
                    attribute=conclusions.attribute[i],
                ),
            )
            for i in order[gained[order]][:EXPOSED].tolist()
        )
        figures = (
            ("max-credibility", float(conclusions.sure[gained].max(initial=0.0))),
            ("largest-gain", float(conclusions.gain.max(initial=0.0))),
            ("people-narrowed", float(links.records[gained].sum())),
            ("classes-tested", float(conclusions.tested.sum())),
            ("classes-skipped", float((conclusions.skipped & ~conclusions.tested).sum())),
            ("classes-not-minimal", float(conclusions.loose.sum())),
        )
    return AttackResult(
        "minimality",
        "inference",
        tries=tries,
        successes=successes,
        baseline=plain / tries if tries else 0.0,
        meaning="Whoever knows how the release was made knows more about people than the release says.",
        scenario="prosecutor: knows all quasi-identifiers of everybody, the method and the requirements",
        known=pair.names,
        target=sensitive,
        source=SOURCE,
        exposed=exposed,
        fallen=fallen,
        figures=figures,
        notes=notes,
        interval=interval,
    )
