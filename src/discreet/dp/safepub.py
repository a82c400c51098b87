"""SafePub: truthful records with a guarantee, by random sampling and k-anonymous generalisation.

Every record is kept with probability β, generalised to levels that were chosen without the data, and left out if fewer than
k records look like it afterwards. Nothing is made up: whoever is shown is shown truthfully. Bild, Kuhn and Prasser, *SafePub: A
Truthful Data Anonymization Algorithm With Strong Privacy Guarantees*, 2018, after Li, Qardaji and Su, *On Sampling,
Anonymization, and Differential Privacy*, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

import numpy as np
import pyarrow as pa
from narwhals.typing import IntoFrame
from scipy.special import bdtrc

from discreet.dp.amounts import Amount, exact, floor_float, said
from discreet.dp.keys import plain_key
from discreet.dp.ledger import Ledger
from discreet.dp.rows import GuaranteedRows
from discreet.dp.statement import Guarantee, describe_unit
from discreet.dp.terms import people_of, resolve_ledger
from discreet.dp.tree import shuffled, uniforms
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnsuitableColumn
from discreet.sentences import Sentence
from discreet.table import Table
from discreet.table.hierarchies.hierarchy import ROOT, Hierarchy
from discreet.types import BoolArray, IntArray

LEAST, MOST = Fraction(1, 100), Fraction(10)
"""Below, samples are empty; above, nobody is left out."""


@dataclass(frozen=True)
class Sampling:
    """With which probability a record is kept, and how many must look alike."""

    share: float
    k: int


@dataclass(frozen=True)
class TruthfulRecords(GuaranteedRows):
    """Sampled and generalised records, and what they guarantee."""

    sampling: Sampling

    def to_dict(self) -> dict[str, object]:
        own = {"schema": "discreet-truthful-1", "share": self.sampling.share, "k": self.sampling.k}
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
    levels: Mapping[str, int],
    hierarchies: Mapping[str, Hierarchy | str | PathLike[str]] | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
) -> TruthfulRecords:
    """Release truthful records with (ε, δ)-differential privacy, paid for from the table's ledger.

    Each row has to be somebody else. ``levels`` says which columns are released and how far each is generalised, chosen without looking
    at the data; above level 0 a hierarchy is needed (a `Hierarchy` or its file). Values that it does not know become ``*``.
    """
    table = read(source)
    labels = _labels(table, levels, hierarchies or {})
    amounts = exact(epsilon, "epsilon"), exact(delta, "delta", below_one=True)
    sampling = sampling_for(*amounts)
    place = resolve_ledger(source, ledger)
    purpose = f"truthful records with {', '.join(labels)}"
    with place.reserve(*amounts, purpose=purpose, table=people_of(table, None), unit="record") as reservation:
        # Whether rows can be read may depend on them, so from here on the amount is spent.
        reservation.drawing()
        cells = table.engine.to_arrow(table, list(labels))
        rows = _released(cells.filter(pa.array(_drawn(cells.num_rows, sampling.share))), labels, sampling.k)
    balance = place.balance()
    left = balance.left_epsilon, balance.left_delta
    return TruthfulRecords(rows, _guarantee(levels, *amounts, sampling), *left, reservation.payment, sampling)


def _labels(
    table: Table, levels: Mapping[str, int], hierarchies: Mapping[str, Hierarchy | str | PathLike[str]]
) -> dict[str, dict[str, str] | None]:
    """What each value of each column becomes; nothing where values stay."""
    if not levels:
        raise InvalidParameter("no column is released", remedy="say levels, e.g. {'age': 2, 'sex': 0}")
    labels: dict[str, dict[str, str] | None] = {}
    for name, level in levels.items():
        column = table.column(name)
        if column.storage in ("list", "other"):
            raise UnsuitableColumn(
                Sentence("the column {name!r} holds values that cannot be told alike", name=name),
                remedy="leave the column out",
            )
        given = hierarchies.get(name)
        if isinstance(level, bool) or not isinstance(level, int) or level < 0 or (level and given is None):
            raise InvalidParameter(
                Sentence("the level of {name} is {level}, and no hierarchy has it", name=name, level=level),
                remedy="give a hierarchy, or level 0 for values as they are",
            )
        if not level:
            labels[column.name] = None
            continue
        hierarchy = given if isinstance(given, Hierarchy) else Hierarchy.read(str(given), name)
        if level > hierarchy.height:
            raise InvalidParameter(
                Sentence("the level of {name} is {level}, and no hierarchy has it", name=name, level=level),
                remedy="give a hierarchy, or level 0 for values as they are",
            )
        labels[column.name] = {row[0]: row[level] for row in hierarchy.rows()}
    return labels


def _drawn(rows: int, share: float) -> BoolArray:
    """Which records are kept: each by itself, with a probability of at most the share."""
    return np.asarray(uniforms(rows) < share - 2.0**-53)


def _released(cells: pa.Table, labels: Mapping[str, dict[str, str] | None], k: int) -> pa.Table:
    """Generalised records of which at least k are alike, in an order that nobody knows."""
    columns = {}
    codes: IntArray = np.zeros(cells.num_rows, dtype=np.int64)
    for name, known in labels.items():
        column = cells[name].combine_chunks()
        if known is not None:
            encoded = column.dictionary_encode()
            shown = [known.get(str(plain_key(value)), ROOT) for value in encoded.dictionary.to_pylist()]
            column = pa.array([*shown, ROOT], pa.string()).take(encoded.indices.fill_null(len(shown)))
        columns[name] = column
        kinds = column.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(codes * (len(columns[name]) + 1) + kinds, return_inverse=True)
    kept = np.flatnonzero(np.bincount(codes, minlength=1)[codes] >= k) if len(codes) else codes
    return pa.table(columns).take(pa.array(shuffled(kept.astype(np.int64))))


def _guarantee(
    levels: Mapping[str, int], epsilon: Fraction, delta: Fraction, sampling: Sampling
) -> Guarantee:
    description, neighbouring = describe_unit("record", None, 1, 1)
    return Guarantee(
        unit="record",
        unit_description=description,
        neighbouring=neighbouring,
        epsilon=epsilon,
        delta=delta,
        mechanisms=(
            Sentence(
                "each record is kept with probability {share:.4f}, then shown if {k} are alike",
                share=sampling.share,
                k=sampling.k,
            ),
        ),
        release_type=Sentence("truthful records"),
        public=(
            Sentence("names and types of the columns"),
            *(Sentence("the levels of {name}, given", name=name) for name in levels),
        ),
        unprotected=(Sentence("how long it took"),),
        composition=Sentence("amounts of all answers from one ledger add up"),
        post_processing=(),
        tuning=Sentence("none: levels were given"),
    )
