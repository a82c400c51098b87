"""The privacy models by the name they have in a policy file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType

from discreet.errors import InvalidParameter, refuse_surplus, unknown
from discreet.measure import Wording
from discreet.privacy.base import PrivacyModel
from discreet.privacy.closeness import TCloseness
from discreet.privacy.confidence import AlphaKAnonymity, ConfidenceBounding, XYPrivacy
from discreet.privacy.diversity import LDiversity, LPlusDiversity, MultiAttributeLDiversity
from discreet.privacy.events import GBalance, HAffiliation, LinkedKAnonymity
from discreet.privacy.identity import KAnonymity
from discreet.privacy.knowledge import CKSafety
from discreet.privacy.likeness import BetaLikeness, DeltaDisclosure
from discreet.privacy.numeric import EpsilonMAnonymity, KEAnonymity, WorstGroupProtection
from discreet.privacy.personal import PersonalisedPrivacy
from discreet.privacy.presence import DeltaPresence, KMap
from discreet.privacy.sensitivity import PAlphaSensitivity, PPlusSensitivity, PSensitivity
from discreet.sentences import Sentence

_ALL: tuple[type[PrivacyModel], ...] = (
    KAnonymity,
    KMap,
    DeltaPresence,
    LDiversity,
    MultiAttributeLDiversity,
    LPlusDiversity,
    PSensitivity,
    PPlusSensitivity,
    PAlphaSensitivity,
    AlphaKAnonymity,
    ConfidenceBounding,
    XYPrivacy,
    CKSafety,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    KEAnonymity,
    EpsilonMAnonymity,
    WorstGroupProtection,
    LinkedKAnonymity,
    GBalance,
    HAffiliation,
    PersonalisedPrivacy,
)

MODELS: Mapping[str, type[PrivacyModel]] = MappingProxyType({model.id: model for model in _ALL})
"""Every model by its ``id``, the name in a policy file."""

WORDING: Mapping[str, Wording] = MappingProxyType(
    {
        name: wording
        for model in _ALL
        for name, wording in {model.id: Wording(model.title, model.says), **model.kinds}.items()
    }
)
"""Title and meaning of every name under which a model is measured."""


def build_model(model: str, parameters: Mapping[str, object]) -> PrivacyModel:
    """The model that a policy file asks for, or an error that says which name or parameter is wrong.

    >>> build_model("l-diversity", {"l": 3, "kind": "entropy", "sensitive": "dx"})
    LDiversity(l=3, sensitive='dx', kind='entropy', c=None)
    >>> build_model("k-anonimity", {"k": 5})
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: there is no model 'k-anonimity'; did you mean 'k-anonymity'? ...
    """
    kind, known = MODELS.get(model), _known(model)
    if kind is None:
        raise unknown("model", model, MODELS)
    refuse_surplus(model, parameters, known)
    missing = [name for name, needed in known.items() if needed and name not in parameters]
    if missing:
        raise InvalidParameter(
            Sentence("{model} lacks {missing}", model=model, missing=tuple(missing)),
            remedy=Sentence("{model} takes {known}", model=model, known=tuple(known)),
        )
    return kind(**parameters)


def build_required(model: str, parameters: Mapping[str, object]) -> PrivacyModel:
    """The model that a requirement asks for: of each sensitive attribute, ``*``, where it names none.

    >>> build_required("l-diversity", {"l": 3}).sensitive
    '*'
    """
    if _known(model).get("sensitive"):
        parameters = {"sensitive": "*", **parameters}
    return build_model(model, parameters)


def _known(model: str) -> dict[str, bool]:
    """The parameters of a model, and whether each has to be given; none of a model that there is not."""
    if model not in MODELS:
        return {}
    every = fields(MODELS[model])  # type: ignore[arg-type]  # all are dataclasses
    return {parameter.name: parameter.default is MISSING for parameter in every if parameter.init}
