"""SafePub: truthful records with a guarantee, by random sampling and k-anonymous generalisation.

Every record is kept with probability β, generalised to levels that were chosen without the data or by a search that is paid for, and left
out if fewer than k records look like it afterwards. Nothing is made up: whoever is shown is shown truthfully. Bild, Kuhn and Prasser, *SafePub: A
Truthful Data Anonymization Algorithm With Strong Privacy Guarantees*, 2018, after Li, Qardaji and Su, *On Sampling,
Anonymization, and Differential Privacy*, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoFrame
from scipy.special import bdtrc

from discreet.dp.amounts import Amount, exact, floor_float, said, whole_number
from discreet.dp.generalization import HierarchyGiven, ReleasedColumn, released_columns
from discreet.dp.ledger import Ledger
from discreet.dp.level_search import SCORES, LevelSearch, Sampling
from discreet.dp.noise import OpenDP
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, describe_unit
from discreet.dp.terms import people_of, refuse_part, resolve_ledger
from discreet.dp.tree import shuffled, uniforms
from discreet.engine.read import read
from discreet.errors import InvalidParameter
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.types import BoolArray, IntArray

LEAST, MOST = Fraction(1, 100), Fraction(10)
"""Below, samples are empty; above, nobody is left out."""
MOST_STEPS = 1000


@dataclass(frozen=True)
class TruthfulRecords(GuaranteedRows):
    """Sampled and generalised records, the level of each column, and what they guarantee."""

    sampling: Sampling
    levels: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        own = {
            "schema": "discreet-truthful-1",
            "share": self.sampling.share,
            "k": self.sampling.k,
            "levels": self.levels,
        }
        return {**own, **super().to_dict()}


def sampling_for(epsilon: Fraction, delta: Fraction) -> Sampling:
    """The largest sample and the smallest k that are (ε, δ)-private.

    β = 1 − e^{-ε}, and k is the smallest number with

    .. math:: \\max_{n \\ge \\lceil k/\\gamma - 1 \\rceil} P(B(n, \\beta) > \\gamma n) \\le \\delta, \\quad
              \\gamma = (e^{\\varepsilon} - 1 + \\beta) / e^{\\varepsilon}

    (theorem 4 of the paper; B is binomial).

    >>> sampling_for(Fraction(1), Fraction(1, 10**5)).k, sampling_for(Fraction(2), Fraction(1, 10**5)).k
    (61, 113)
    """
    if not LEAST <= epsilon <= MOST:
        raise InvalidParameter(
            Sentence(
                "for truthful records epsilon lies between {least} and {most}",
                least=said(LEAST),
                most=said(MOST),
            ),
            remedy="give one such as 1 or 2",
        )
    amount = floor_float(epsilon)
    # Rounded down, so that the sample is never larger than ε allows.
    share = -math.expm1(-amount) * (1 - 1e-15)
    gamma = 1 - (1 - share) * math.exp(-amount)
    high = 1
    while _failure(high, share, gamma) > delta:
        high *= 2
    low = high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        if _failure(middle, share, gamma) <= delta:
            high = middle
        else:
            low = middle + 1
    # The failure falls with k, but not from each k to the next.
    while low > 1 and _failure(low - 1, share, gamma) <= delta:
        low -= 1
    return Sampling(share, low)


def _failure(k: int, share: float, gamma: float) -> float:
    """The δ of a k: the largest tail from n = ⌈k/γ − 1⌉ on, until a bound on all further ones is below it."""
    # The bound of Chernoff and Hoeffding: P(B(n, β) > γn) ≤ e^{-n·KL(γ‖β)}.
    divergence = gamma * math.log(gamma / share) + (1 - gamma) * math.log((1 - gamma) / (1 - share))
    n = max(1, math.ceil(k / gamma - 1))
    worst = 0.0
    while math.exp(-n * divergence) > max(worst, 1e-300):
        # A little more than what is computed, which is right to some twelve digits.
        worst = max(worst, float(bdtrc(math.floor(gamma * n), n, share)) * (1 + 1e-9))
        n += 1
    return max(worst, math.exp(-n * divergence))


def safepub(
    source: str | PathLike[str] | IntoFrame | pa.Table | pa.RecordBatchReader | Table,
    *,
    epsilon: Amount,
    delta: Amount,
    levels: Mapping[str, int] | None = None,
    hierarchies: Mapping[str, HierarchyGiven] | None = None,
    degree: str | None = None,
    search_epsilon: Amount | None = None,
    score: str = "granularity",
    target: str | None = None,
    steps: int = 10,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> TruthfulRecords:
    """Release truthful records with (ε, δ)-differential privacy, paid for from the table's ledger.

    Each row has to be somebody else. ``levels`` says which columns are released and how far each is generalised, chosen without looking
    at the data; above level 0 a hierarchy is needed (a `Hierarchy` or its file). Values that it does not know become ``*``. For columns
    with a hierarchy and no level, the ``degree`` (``"low"`` to ``"high"``) says which part of its height they are generalised by. Or levels are
    searched for with ``search_epsilon``, a part of ``epsilon``: in ``steps`` choices by a ``score`` (``"granularity"``, ``"intensity"``,
    ``"group-size"``, ``"discernibility"``, ``"entropy"``, or ``"classification"`` of a ``target`` whose level is given).
    """
    table = read(source)
    refuse_part(table)
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    search = None
    if search_epsilon is not None:
        OpenDP()
        search = _search(table, amounts[0], exact(search_epsilon, "search_epsilon"), score, steps, target)
    elif target is not None:
        raise InvalidParameter("a target is named, and no level is searched for", remedy="leave it out")
    columns = released_columns(table, levels or {}, hierarchies or {}, degree, search=search is not None)
    if search and search.target and not any(c.name == search.target and not c.searched for c in columns):
        raise InvalidParameter("the target has no level", remedy="give one for it, such as 0")
    sampling = sampling_for(amounts[0] - (search.epsilon if search else 0), amounts[1])
    if search is not None:
        search.check(sampling)
    place = resolve_ledger(source, ledger)
    purpose = f"truthful records with {', '.join(column.name for column in columns)}"
    with place.reserve(*amounts, purpose=purpose, table=people_of(table, None), unit="record") as reservation:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        reservation.drawing()
        cells = table.engine.to_arrow(table, [column.name for column in columns])
        chosen = (
            search.levels(cells, columns, sampling)
            if search
            else tuple(column.levels[0] for column in columns)
        )
        # The sample is drawn after the levels are known and by itself, so that the amounts of both add up.
        rows = _released(
            cells.filter(pa.array(_drawn(cells.num_rows, sampling.share))), columns, chosen, sampling.k
        )
    balance = place.balance()
    left = balance.left_epsilon, balance.left_delta
    shown = {column.name: level for column, level in zip(columns, chosen, strict=True)}
    guarantee = _guarantee(columns, degree, *amounts, sampling, search)
    return TruthfulRecords(rows, guarantee, *left, reservation.payment, sampling, shown)


def _search(
    table: Table, epsilon: Fraction, part: Fraction, score: str, steps: int, target: str | None
) -> LevelSearch:
    """The search that was asked for, checked."""
    if score not in SCORES:
        raise InvalidParameter(
            Sentence("the score is {score!r}", score=score),
            remedy=Sentence("choose one of: {choices}", choices=tuple(SCORES)),
        )
    whole_number(steps, "steps", MOST_STEPS)
    if part >= epsilon:
        raise InvalidParameter(
            Sentence("the search takes all of ε {epsilon}", epsilon=said(epsilon)),
            remedy="give it a part, such as a tenth",
        )
    if (score == "classification") != (target is not None):
        raise InvalidParameter(
            "a target belongs to the score of classification, and to no other",
            remedy="name the column that is predicted, or leave it out",
        )
    return LevelSearch(score, steps, part, None if target is None else table.column(target).name)


def _drawn(rows: int, share: float) -> BoolArray:
    """Which records are kept: each by itself, with a probability of at most the share."""
    return np.asarray(uniforms(rows) < share - 2.0**-53)


def _released(cells: pa.Table, columns: Sequence[ReleasedColumn], levels: Sequence[int], k: int) -> pa.Table:
    """Generalised records of which at least k are alike, in an order that nobody knows."""
    shown = {}
    codes: IntArray = np.zeros(cells.num_rows, dtype=np.int64)
    for column, level in zip(columns, levels, strict=True):
        made = column.shown(cells[column.name], level)
        shown[column.name] = made
        kinds = made.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(codes * (len(made) + 1) + kinds, return_inverse=True)
    kept = np.flatnonzero(np.bincount(codes, minlength=1)[codes] >= k) if len(codes) else codes
    return pa.table(shown).take(pa.array(shuffled(kept.astype(np.int64))))


def _guarantee(
    columns: Sequence[ReleasedColumn],
    degree: str | None,
    epsilon: Fraction,
    delta: Fraction,
    sampling: Sampling,
    search: LevelSearch | None,
) -> Guarantee:
    description, neighbouring = describe_unit("record", None, 1, 1)
    mechanisms = [
        Sentence(
            "each record is kept with probability {share:.4f}, then shown if {k} are alike",
            share=sampling.share,
            k=sampling.k,
        )
    ]
    public = [Sentence("names and types of the columns")]
    public += [
        Sentence("the levels of {name}, given", name=column.name) for column in columns if not column.searched
    ]
    public += [
        Sentence("the hierarchy of {name}, given", name=column.name) for column in columns if column.hierarchy
    ]
    tuning = Sentence("none: levels were given")
    if degree is not None:
        tuning = Sentence("none: levels follow from the degree of generalisation {degree!r}", degree=degree)
    if search is not None:
        tuning = Sentence(
            "levels were searched for with ε {part}, the sample has ε {rest}",
            part=said(search.epsilon),
            rest=said(epsilon - search.epsilon),
        )
        mechanisms.append(
            Sentence(
                "levels by {steps} choices of the exponential mechanism, score {score!r}",
                steps=search.steps,
                score=search.score,
            )
        )
    return Guarantee(
        unit="record",
        unit_description=description,
        neighbouring=neighbouring,
        epsilon=epsilon,
        delta=delta,
        mechanisms=tuple(mechanisms),
        release_type=Sentence("truthful records"),
        public=tuple(public),
        unprotected=(Sentence("how long it took"),),
        composition=Sentence("amounts of all answers from one ledger add up"),
        post_processing=(),
        tuning=tuning,
    )
