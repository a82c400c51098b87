"""The steps of perturbation by the name they have in a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType

from discreet.errors import InvalidParameter, refuse_surplus, unknown
from discreet.perturb.base import Perturbation
from discreet.perturb.chains import SyntheticChain
from discreet.perturb.coding import DateShift, GroupAverages, RoundToBase, TopBottomCoding
from discreet.perturb.condensation import Condensation, SvdProjection
from discreet.perturb.encoded import EncodedPart
from discreet.perturb.grid import PositionGrid
from discreet.perturb.imposed import Discretisation, StatisticInstead
from discreet.perturb.joint_pram import JointPram
from discreet.perturb.noise import AdditiveNoise, CorrelatedNoise, MultiplicativeNoise
from discreet.perturb.pram import Pram
from discreet.perturb.shuffling import Shuffling
from discreet.perturb.slicing import Slicing
from discreet.perturb.stand_ins import StandIns
from discreet.perturb.swapping import Permutation, RandomSwap, RankSwap
from discreet.perturb.synthesis import SyntheticCopula, SyntheticTable, SyntheticTrees
from discreet.perturb.targeted import TargetedSwap
from discreet.sentences import Sentence

STEPS: Mapping[str, type[Perturbation]] = MappingProxyType(
    {
        kind.id: kind
        for kind in (
            RankSwap,
            RandomSwap,
            TargetedSwap,
            Permutation,
            Shuffling,
            Slicing,
            AdditiveNoise,
            CorrelatedNoise,
            MultiplicativeNoise,
            Pram,
            JointPram,
            GroupAverages,
            Condensation,
            SvdProjection,
            TopBottomCoding,
            RoundToBase,
            Discretisation,
            StatisticInstead,
            EncodedPart,
            StandIns,
            PositionGrid,
            DateShift,
            SyntheticTrees,
            SyntheticChain,
            SyntheticCopula,
            SyntheticTable,
        )
    }
)
"""Every step by its ``id``, the name in a policy file."""


def make_step(entry: Mapping[str, object]) -> Perturbation:
    """The step that a ``[[perturb]]`` entry asks for, or an error that says which name or parameter is wrong.

    >>> make_step({"method": "rank-swap", "columns": ["age"], "percent": 10})
    RankSwap(columns=('age',), percent=10)
    >>> make_step({"method": "rank-swop"})
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: there is no method 'rank-swop'; did you mean 'rank-swap'? ...
    """
    method = str(entry.get("method", ""))
    if method not in STEPS:
        raise unknown("method", method, STEPS)
    kind = STEPS[method]
    known = {field.name: field for field in fields(kind)}
    given = {name: value for name, value in entry.items() if name != "method"}
    refuse_surplus(method, given, known)
    missing = [name for name, field in known.items() if field.default is MISSING and name not in given]
    if missing:
        raise InvalidParameter(
            Sentence("{method} lacks {missing}", method=method, missing=tuple(missing)),
            remedy=Sentence("{method} takes {known}", method=method, known=tuple(known)),
        )
    return kind(**given)  # type: ignore[arg-type]  # every step checks what it is given
