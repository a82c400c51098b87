"""Record linkage as the release allows it, and the people whom it singles out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.attacks.linkage.compatible import compatible_linkage
from discreet.attacks.linkage.linked import linked_singling_out
from discreet.attacks.linkage.nearest import nearest_linkage
from discreet.attacks.result import AttackResult
from discreet.classes.equivalence import EquivalenceClasses
from discreet.classes.pair import Pair
from discreet.sentences import Sentence

SOURCE = "Article 29 Working Party, Opinion 05/2014 (WP216); sample uniques: Skinner, Elliot 2002"


def record_linkage(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    targets: EquivalenceClasses | None = None,
    seed: int = 1,
) -> AttackResult:
    """Link by what fits, or by distance where values were averaged, noised or made up and fit nobody."""
    link = compatible_linkage if pair.truthful else nearest_linkage
    return link(pair, known=known, targets=targets, seed=seed)


def singling_out(
    pair: Pair,
    *,
    known: Sequence[str] | None = None,
    targets: EquivalenceClasses | None = None,
    seed: int = 1,
) -> AttackResult:
    """Find the people whom exactly one released record fits, and it is theirs; baseline: a blind guess at a record.

    Where the release tells which rows belong to one person, all rows of a person are known together
    (`linked_singling_out`), as far as values say less than the original and nothing else; ``figures`` then also tell
    whom a single row singles out.

    A record that fits nobody else may still be another's, above all where many of the people are not in the release:
    ``figures`` tell both shares, of people whom one record isolates and of those for whom it is the right one.
    Article 29 Working Party, Opinion 05/2014; Skinner, Elliot, "A measure of disclosure risk for microdata", 2002.

    >>> original = EquivalenceClasses.from_columns({"age": [31, 34, 47]})
    >>> released = EquivalenceClasses.from_columns({"age": ["[30, 39]", "[30, 39]", "47"]})
    >>> singling_out(Pair.of(original, released)).successes
    1.0
    """
    linked = record_linkage(pair, known=known, targets=targets, seed=seed)
    figures = dict(linked.figures)
    fits = "singled-out" in figures
    isolated, right = (
        ("singled-out", "singled-out-and-right") if fits else ("one-nearest", "one-nearest-and-right")
    )
    if pair.original.event_level and pair.released.event_level and pair.truthful and targets is None:
        together = linked_singling_out(pair, known=known, seed=seed)
        by_one_row = (
            ("isolated-by-one-row", figures[isolated]),
            ("isolated-by-one-row-and-right", figures[right]),
        )
        return replace(together, figures=(*together.figures, *by_one_row))
    alone = figures[right] * linked.tries
    told = {"tries": linked.tries, "alone": alone}
    return replace(
        linked,
        attack="singling-out",
        criterion="singling-out",
        successes=alone,
        meaning=Sentence(
            "Of {tries:,.0f} people, {alone:,.0f} are those whom exactly one record of the release fits, and it is their "
            "own. Without the release nobody can be singled out in it.",
            **told,
        )
        if fits
        else Sentence(
            "Of {tries:,.0f} people, {alone:,.0f} are those whom exactly one record of the release is nearest to, and it "
            "is their own. Without the release nobody can be singled out in it.",
            **told,
        ),
        source=SOURCE,
        # One record fits or not: hits and misses.
        interval=None,
        figures=(("isolated", figures[isolated]), ("isolated-and-right", figures[right])),
    )
