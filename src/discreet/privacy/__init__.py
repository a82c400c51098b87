"""What is required of a table: privacy models, each measured on any table and usable as a requirement."""

from discreet.privacy.base import TOLERANCE, DistributionModel, PrivacyModel, Requirement, assess
from discreet.privacy.closeness import TCloseness
from discreet.privacy.confidence import AlphaKAnonymity, ConfidenceBounding, XYPrivacy
from discreet.privacy.diversity import (
    LDiversity,
    LPlusDiversity,
    MultiAttributeLDiversity,
    with_sensitive_as_quasi_identifier,
)
from discreet.privacy.events import GBalance, HAffiliation, LinkedKAnonymity
from discreet.privacy.identity import KAnonymity
from discreet.privacy.intruder import KnownBy
from discreet.privacy.knowledge import CKSafety
from discreet.privacy.likeness import BetaLikeness, DeltaDisclosure
from discreet.privacy.numeric import EpsilonMAnonymity, KEAnonymity, WorstGroupProtection
from discreet.privacy.personal import PersonalisedPrivacy
from discreet.privacy.presence import DeltaPresence, KMap
from discreet.privacy.registry import MODELS, WORDING, build_model, build_required
from discreet.privacy.sensitivity import PAlphaSensitivity, PPlusSensitivity, PSensitivity

__all__ = [
    "MODELS",
    "TOLERANCE",
    "WORDING",
    "AlphaKAnonymity",
    "BetaLikeness",
    "CKSafety",
    "ConfidenceBounding",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistributionModel",
    "EpsilonMAnonymity",
    "GBalance",
    "HAffiliation",
    "KAnonymity",
    "KEAnonymity",
    "KMap",
    "KnownBy",
    "LDiversity",
    "LPlusDiversity",
    "LinkedKAnonymity",
    "MultiAttributeLDiversity",
    "PAlphaSensitivity",
    "PPlusSensitivity",
    "PSensitivity",
    "PersonalisedPrivacy",
    "PrivacyModel",
    "Requirement",
    "TCloseness",
    "WorstGroupProtection",
    "XYPrivacy",
    "assess",
    "build_model",
    "build_required",
    "with_sensitive_as_quasi_identifier",
]
