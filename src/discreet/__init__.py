"""discreet: may this table about people be released, and if not, what is the least that must change?

>>> import discreet
>>> import pyarrow as pa
>>> table = discreet.read(pa.table({"age": [31, 31, 47], "flu": ["yes", "no", "no"]}))
>>> policy = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["flu"])
>>> discreet.audit(table, policy).verdict.decision
'do-not-release'
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.attacks.linkage.matchings import Concealment as Concealment
    from discreet.baskets import Baskets as Baskets
    from discreet.baskets.exposure import BasketAudit as BasketAudit
    from discreet.baskets.exposure import audit_baskets as audit_baskets
    from discreet.baskets.release import BasketRelease as BasketRelease
    from discreet.baskets.release import anonymize_baskets as anonymize_baskets
    from discreet.dp.answer import Answer as Answer
    from discreet.dp.ask import ask as ask
    from discreet.dp.learning import PrivateClassifier as PrivateClassifier
    from discreet.dp.learning import learn as learn
    from discreet.dp.ledger import Ledger as Ledger
    from discreet.dp.safepub import TruthfulRecords as TruthfulRecords
    from discreet.dp.safepub import safepub as safepub
    from discreet.dp.synthesize import ArtificialPeople as ArtificialPeople
    from discreet.dp.synthesize import synthesize as synthesize
    from discreet.dp.tabulate import NoisyTables as NoisyTables
    from discreet.dp.tabulate import tabulate as tabulate
    from discreet.engine.read import read as read
    from discreet.errors import DiscreetError as DiscreetError
    from discreet.policy import Policy as Policy
    from discreet.policy import file as _policy_file
    from discreet.policy.plan import Plan as Plan
    from discreet.policy.suggest import suggest as suggest
    from discreet.privacy import BetaLikeness as BetaLikeness
    from discreet.privacy import DeltaDisclosure as DeltaDisclosure
    from discreet.privacy import KAnonymity as KAnonymity
    from discreet.privacy import LDiversity as LDiversity
    from discreet.privacy import TCloseness as TCloseness
    from discreet.register import Judgement as Judgement
    from discreet.register import Register as Register
    from discreet.register.people import GroupedRows as GroupedRows
    from discreet.register.republish import RepublishedTable as RepublishedTable
    from discreet.register.republish import republish as republish
    from discreet.relational.anonymize import anonymize_tables as anonymize_tables
    from discreet.relational.judging import RelationalAudit as RelationalAudit
    from discreet.relational.judging import audit_tables as audit_tables
    from discreet.relational.release import RelationalRelease as RelationalRelease
    from discreet.relational.suggest import find_tables as find_tables
    from discreet.relational.suggest import suggest_tables as suggest_tables
    from discreet.release.anonymize import anonymize as anonymize
    from discreet.release.apply import apply as apply
    from discreet.release.attack import Attacks as Attacks
    from discreet.release.attack import attack as attack
    from discreet.release.audit import Audit as Audit
    from discreet.release.audit import audit as audit
    from discreet.release.bucketize import BucketRelease as BucketRelease
    from discreet.release.bucketize import bucketize as bucketize
    from discreet.release.check import check as check
    from discreet.release.compare import Comparison as Comparison
    from discreet.release.compare import compare as compare
    from discreet.release.composition import BcfAnonymity as BcfAnonymity
    from discreet.release.composition import bcf_anonymity as bcf_anonymity
    from discreet.release.concealment import concealment as concealment
    from discreet.release.confidentiality import Confidentiality as Confidentiality
    from discreet.release.confidentiality import m_confidentiality as m_confidentiality
    from discreet.release.difference import Difference as Difference
    from discreet.release.difference import diff as diff
    from discreet.release.family_contest import FamilyComparison as FamilyComparison
    from discreet.release.family_contest import compare_families as compare_families
    from discreet.release.fragment import FragmentRelease as FragmentRelease
    from discreet.release.fragment import fragment as fragment
    from discreet.release.frontier import compare_methods as compare_methods
    from discreet.release.frontier import frontier as frontier
    from discreet.release.grown import anonymize_grown as anonymize_grown
    from discreet.release.kpi_answers import KpiAnswer as KpiAnswer
    from discreet.release.kpi_answers import ask_kpis as ask_kpis
    from discreet.release.parts import CountedClasses as CountedClasses
    from discreet.release.parts import count as count
    from discreet.release.parts import merge as merge
    from discreet.release.recommend import recommend as recommend
    from discreet.release.records import RecordRisks as RecordRisks
    from discreet.release.records import record_risks as record_risks
    from discreet.release.release import Release as Release
    from discreet.release.rule_keeper import rule_keeper as rule_keeper
    from discreet.release.rule_search import CandidateRule as CandidateRule
    from discreet.release.rule_search import find_rules as find_rules
    from discreet.release.stream import RecordStream as RecordStream
    from discreet.release.trips import Trips as Trips
    from discreet.release.trips import merge_events as merge_events
    from discreet.reports.audit.html import report as report
    from discreet.reports.evidence.html import evidence_report as evidence_report
    from discreet.table import Table as Table
    from discreet.transform.recipe import Recipe as Recipe

    __version__: str
    load_policy = _policy_file.load
    save_policy = _policy_file.save

# Imported when first asked for, so that `discreet --help` and `import discreet` answer at once.
_PUBLIC = {
    "Answer": "discreet.dp.answer:Answer",
    "ArtificialPeople": "discreet.dp.synthesize:ArtificialPeople",
    "Attacks": "discreet.release.attack:Attacks",
    "Audit": "discreet.release.audit:Audit",
    "BasketAudit": "discreet.baskets.exposure:BasketAudit",
    "BasketRelease": "discreet.baskets.release:BasketRelease",
    "Baskets": "discreet.baskets:Baskets",
    "BcfAnonymity": "discreet.release.composition:BcfAnonymity",
    "BetaLikeness": "discreet.privacy:BetaLikeness",
    "BucketRelease": "discreet.release.bucketize:BucketRelease",
    "CandidateRule": "discreet.release.rule_search:CandidateRule",
    "Concealment": "discreet.attacks.linkage.matchings:Concealment",
    "Confidentiality": "discreet.release.confidentiality:Confidentiality",
    "CountedClasses": "discreet.release.parts:CountedClasses",
    "Comparison": "discreet.release.compare:Comparison",
    "DeltaDisclosure": "discreet.privacy:DeltaDisclosure",
    "Difference": "discreet.release.difference:Difference",
    "DiscreetError": "discreet.errors:DiscreetError",
    "FamilyComparison": "discreet.release.family_contest:FamilyComparison",
    "FragmentRelease": "discreet.release.fragment:FragmentRelease",
    "GroupedRows": "discreet.register.people:GroupedRows",
    "Judgement": "discreet.register:Judgement",
    "KAnonymity": "discreet.privacy:KAnonymity",
    "KpiAnswer": "discreet.release.kpi_answers:KpiAnswer",
    "LDiversity": "discreet.privacy:LDiversity",
    "Ledger": "discreet.dp.ledger:Ledger",
    "NoisyTables": "discreet.dp.tabulate:NoisyTables",
    "Plan": "discreet.policy.plan:Plan",
    "Policy": "discreet.policy:Policy",
    "PrivateClassifier": "discreet.dp.learning:PrivateClassifier",
    "Recipe": "discreet.transform.recipe:Recipe",
    "RecordRisks": "discreet.release.records:RecordRisks",
    "RecordStream": "discreet.release.stream:RecordStream",
    "Register": "discreet.register:Register",
    "RelationalAudit": "discreet.relational.judging:RelationalAudit",
    "RelationalRelease": "discreet.relational.release:RelationalRelease",
    "Release": "discreet.release.release:Release",
    "RepublishedTable": "discreet.register.republish:RepublishedTable",
    "TCloseness": "discreet.privacy:TCloseness",
    "Table": "discreet.table:Table",
    "TruthfulRecords": "discreet.dp.safepub:TruthfulRecords",
    "anonymize": "discreet.release.anonymize:anonymize",
    "anonymize_baskets": "discreet.baskets.release:anonymize_baskets",
    "anonymize_tables": "discreet.relational.anonymize:anonymize_tables",
    "apply": "discreet.release.apply:apply",
    "ask": "discreet.dp.ask:ask",
    "ask_kpis": "discreet.release.kpi_answers:ask_kpis",
    "attack": "discreet.release.attack:attack",
    "audit": "discreet.release.audit:audit",
    "anonymize_grown": "discreet.release.grown:anonymize_grown",
    "bcf_anonymity": "discreet.release.composition:bcf_anonymity",
    "bucketize": "discreet.release.bucketize:bucketize",
    "audit_baskets": "discreet.baskets.exposure:audit_baskets",
    "audit_tables": "discreet.relational.judging:audit_tables",
    "check": "discreet.release.check:check",
    "compare": "discreet.release.compare:compare",
    "compare_families": "discreet.release.family_contest:compare_families",
    "compare_methods": "discreet.release.frontier:compare_methods",
    "concealment": "discreet.release.concealment:concealment",
    "count": "discreet.release.parts:count",
    "diff": "discreet.release.difference:diff",
    "evidence_report": "discreet.reports.evidence.html:evidence_report",
    "find_rules": "discreet.release.rule_search:find_rules",
    "merge_events": "discreet.release.trips:merge_events",
    "Trips": "discreet.release.trips:Trips",
    "find_tables": "discreet.relational.suggest:find_tables",
    "fragment": "discreet.release.fragment:fragment",
    "frontier": "discreet.release.frontier:frontier",
    "learn": "discreet.dp.learning:learn",
    "load_policy": "discreet.policy.file:load",
    "m_confidentiality": "discreet.release.confidentiality:m_confidentiality",
    "merge": "discreet.release.parts:merge",
    "read": "discreet.engine.read:read",
    "recommend": "discreet.release.recommend:recommend",
    "record_risks": "discreet.release.records:record_risks",
    "report": "discreet.reports.audit.html:report",
    "republish": "discreet.register.republish:republish",
    "rule_keeper": "discreet.release.rule_keeper:rule_keeper",
    "safepub": "discreet.dp.safepub:safepub",
    "save_policy": "discreet.policy.file:save",
    "suggest": "discreet.policy.suggest:suggest",
    "suggest_tables": "discreet.relational.suggest:suggest_tables",
    "synthesize": "discreet.dp.synthesize:synthesize",
    "tabulate": "discreet.dp.tabulate:tabulate",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("discreet")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    module, attribute = _PUBLIC[name].split(":")
    value = getattr(import_module(module), attribute)
    if isinstance(value, FunctionType):
        value = import_module("discreet.kinds").explained(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
