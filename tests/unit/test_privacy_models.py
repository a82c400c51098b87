"""Privacy models by hand on a few rows: parameters, corners, notes and the table of requirements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from discreet.classes import EquivalenceClasses
from discreet.classes.population import Population
from discreet.errors import EmptyTable, InvalidParameter, UnknownColumn, UnsuitableColumn
from discreet.privacy import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    CKSafety,
    ConfidenceBounding,
    DeltaDisclosure,
    DeltaPresence,
    EpsilonMAnonymity,
    GBalance,
    HAffiliation,
    KAnonymity,
    KEAnonymity,
    KMap,
    LDiversity,
    LinkedKAnonymity,
    LPlusDiversity,
    MultiAttributeLDiversity,
    PAlphaSensitivity,
    PersonalisedPrivacy,
    PPlusSensitivity,
    PrivacyModel,
    PSensitivity,
    TCloseness,
    WorstGroupProtection,
    XYPrivacy,
    assess,
    build_model,
    with_sensitive_as_quasi_identifier,
)

TREE = {"flu": ("lung", "any"), "acne": ("skin", "any")}
EXAMPLES: tuple[PrivacyModel, ...] = (
    KAnonymity(2),
    LDiversity(2, "dx"),
    LDiversity(2, "dx", kind="entropy"),
    LDiversity(2, "dx", kind="simple"),
    LDiversity(2, "dx", kind="recursive", c=3),
    MultiAttributeLDiversity(2),
    LPlusDiversity("dx", {"flu": 0.5}),
    PSensitivity(2, 2, "dx"),
    PPlusSensitivity(2, 2, "dx", {"flu": "mild", "acne": "mild"}),
    PAlphaSensitivity(2, 1, 2, "dx", {"flu": 1, "acne": 1}),
    AlphaKAnonymity(0.5, 2, "dx"),
    ConfidenceBounding(0.5, "dx", "flu"),
    XYPrivacy(2, 0.5, "dx", given=("sex",)),
    TCloseness(0.3, "dx"),
    TCloseness(0.3, "dx", distance="ordered"),
    TCloseness(0.3, "dx", distance="hierarchical", hierarchy=TREE),
    BetaLikeness(1, "dx"),
    BetaLikeness(1, "dx", kind="enhanced"),
    DeltaDisclosure(1, "dx"),
    CKSafety(0.9, 1, "dx"),
    KEAnonymity(2, 5, "pay"),
    EpsilonMAnonymity(5, 2, "pay"),
    WorstGroupProtection(0.5, 5, "pay"),
    GBalance(0.5),
    HAffiliation(0.5, "dx"),
    HAffiliation(0.5, "dx", unit="records"),
    LinkedKAnonymity(3),
    KMap(2),
    KMap(9, estimator="poisson", sampling_fraction=0.1),
    KMap(9, estimator="zero-truncated-poisson", significance=0.05, sampling_fraction=0.1),
    DeltaPresence(0.5),
    PersonalisedPrivacy(0.5, "dx", "wish", {"flu": ("lung", "any"), "acne": ("skin", "any")}),
)


def small(**more: object) -> EquivalenceClasses:
    classes = EquivalenceClasses.from_columns(
        {"sex": ["f", "f", "m", "m"]},
        sensitive={"dx": ["flu", "acne", "flu", "flu"], "pay": [10, 20, 30, 31]},
        guards={"wish": ["lung", None, None, None]},
        **more,  # type: ignore[arg-type]
    )
    people = EquivalenceClasses.from_columns({"sex": ["f"] * 5 + ["m"]})
    return replace(classes, outside=Population(people))


def only(values: list[object], name: str = "pay", classes: list[object] | None = None) -> EquivalenceClasses:
    return EquivalenceClasses.from_columns({"a": classes or [0] * len(values)}, sensitive={name: values})


# ── what every model offers ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda m: m.name)
def test_every_model_measures_decides_and_explains(model: PrivacyModel) -> None:
    classes = small()
    found = model.measure(classes)
    assert found.name == model.name
    assert found.better == model.better
    assert found.attribute == model.sensitive
    assert found.per_class is not None
    assert len(found.per_class) == 2
    assert found.meaning.endswith(".")
    assert found.unit
    assert found.source
    assert model.describe()
    assert model.holds(classes).dtype == np.bool_


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda m: m.name)
def test_every_model_can_be_written_and_read_back(model: PrivacyModel) -> None:
    assert MODELS[model.id] is type(model)
    assert build_model(model.id, model.parameters()) == model
    assert hash(model) == hash(build_model(model.id, model.parameters()))


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda m: m.name)
def test_nothing_is_said_about_an_empty_table(model: PrivacyModel) -> None:
    nothing = EquivalenceClasses(
        attributes=(), codes=(), indptr=np.zeros(1, dtype=np.int64), counts=np.zeros(0, dtype=np.int64)
    )
    for ask in (model.measure, model.holds, model.satisfied):
        with pytest.raises(EmptyTable):
            ask(nothing)


def test_examples_cover_the_registry() -> None:
    assert {model.id for model in EXAMPLES} == set(MODELS)


def test_names_follow_the_kind() -> None:
    assert [m.name for m in EXAMPLES[1:5]] == [
        "l-diversity",
        "entropy-l-diversity",
        "simple-l-diversity",
        "recursive-c-l-diversity",
    ]
    assert {m.name for m in EXAMPLES} >= {
        "ordered-t-closeness",
        "hierarchical-t-closeness",
        "enhanced-beta-likeness",
        "delta-disclosure",
        "g-balance",
        "h-affiliation",
    }


def test_requirements_as_rows() -> None:
    met, failed = assess([KAnonymity(2), LDiversity(2, "dx")], small())
    assert met.holds
    assert not failed.holds
    assert (failed.failing_classes, failed.failing_records) == (1, 2)
    assert failed.to_dict()["description"] == "every class has at least 2 different values of 'dx'"
    assert (failed.threshold, failed.measure.value) == (2.0, 1.0)


# ── parameters ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "make",
    [
        lambda: KAnonymity(0),
        lambda: KAnonymity(2.5),  # type: ignore[arg-type]
        lambda: KAnonymity(True),
        lambda: KAnonymity(2, unit="rows"),  # type: ignore[arg-type]
        lambda: LDiversity(1.5, "dx"),
        lambda: LDiversity(2, ""),
        lambda: LDiversity(0.5, "dx", kind="entropy"),
        lambda: LDiversity(2, "dx", kind="recursive"),
        lambda: LDiversity(2, "dx", kind="recursive", c=0),
        lambda: LDiversity(2, "dx", c=3),
        lambda: LDiversity(2, "dx", kind="fancy"),  # type: ignore[arg-type]
        lambda: MultiAttributeLDiversity(0),
        lambda: LPlusDiversity("dx", {}),
        lambda: LPlusDiversity("dx", {"flu": 1.2}),
        lambda: PSensitivity(0, 2, "dx"),
        lambda: PPlusSensitivity(2, 2, "dx", {}),
        lambda: PAlphaSensitivity(2, 1, 2, "dx", {"flu": -1}),
        lambda: AlphaKAnonymity(0, 2, "dx"),
        lambda: AlphaKAnonymity(0.5, 2, "dx", ()),
        lambda: ConfidenceBounding(1.1, "dx", "flu"),
        lambda: XYPrivacy(0, 0.5, "dx"),
        lambda: TCloseness(1.1, "dx"),
        lambda: TCloseness(math.nan, "dx"),
        lambda: TCloseness("0.5", "dx"),  # type: ignore[arg-type]
        lambda: TCloseness(0.5, "dx", distance="hierarchical"),
        lambda: TCloseness(0.5, "dx", hierarchy=TREE),
        lambda: TCloseness(0.5, "dx", distance="hierarchical", hierarchy={"a": ("r",), "b": ("x", "r")}),
        lambda: TCloseness(0.5, "dx", distance="hierarchical", hierarchy={"a": ("r",), "b": ("s",)}),
        lambda: TCloseness(0.5, "dx", distance="hierarchical", hierarchy={"a": (), "b": ()}),
        lambda: TCloseness(
            0.5, "dx", distance="hierarchical", hierarchy={"a": ("n", "x", "r"), "b": ("n", "y", "r")}
        ),
        lambda: BetaLikeness(0, "dx"),
        lambda: DeltaDisclosure(1, "dx", base=1),
        lambda: KEAnonymity(0, 5, "pay"),
        lambda: EpsilonMAnonymity(-1, 2, "pay"),
        lambda: WorstGroupProtection(0.5, -1, "pay"),
        lambda: GBalance(2),
        lambda: HAffiliation(0, "dx"),
    ],
)
def test_parameters_without_sense_are_refused_with_a_remedy(make: Callable[[], PrivacyModel]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert caught.value.remedy


def test_a_policy_file_may_use_lists_and_one_name() -> None:
    model = build_model("confidence-bounding", {"h": 0.5, "sensitive": "dx", "value": 1, "given": ["sex"]})
    assert model == ConfidenceBounding(0.5, "dx", "1", given=("sex",))


@pytest.mark.parametrize(
    ("model", "parameters", "says"),
    [
        ("l-diversty", {"l": 2}, "did you mean 'l-diversity'"),
        ("k-anonymity", {"k": 2, "kk": 3}, "has no parameter kk"),
        ("t-closeness", {"t": 0.5}, "lacks sensitive"),
    ],
)
def test_building_says_what_is_wrong(model: str, parameters: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        build_model(model, parameters)


def test_an_unknown_sensitive_attribute_is_named() -> None:
    with pytest.raises(UnknownColumn, match="dz"):
        LDiversity(2, "dz").measure(small())


# ── units ─────────────────────────────────────────────────────────────────────────────────────────


def test_k_counts_persons_at_event_level_and_records_otherwise() -> None:
    events = small(person=[1, 1, 2, 3])
    assert [KAnonymity(1, unit=u).measure(events).value for u in (None, "persons", "records")] == [1, 1, 2]
    assert KAnonymity(1).measure(events).unit == "persons"
    assert KAnonymity(1).measure(small()).unit == "records"


def test_k_inside_other_models_counts_persons_too() -> None:
    events = small(person=[1, 1, 2, 3])
    assert PSensitivity(1, 2, "dx").holds(events).tolist() == [False, True]
    assert PSensitivity(1, 2, "dx", unit="records").holds(events).tolist() == [True, True]
    assert XYPrivacy(2, 1, "dx", given=("sex",)).holds(events).tolist() == [False, True]


def test_records_are_counted_where_shares_are_and_that_is_said() -> None:
    events = small(person=[1, 1, 2, 3])
    assert any("records" in note for note in TCloseness(1, "dx").measure(events).notes)
    assert not TCloseness(1, "dx").measure(small()).notes


def test_balance_without_person_ids_takes_every_record_for_a_person() -> None:
    assert GBalance(0.5).measure(small()).per_class == pytest.approx([0.5, 0.5])


# ── values named by label ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "model",
    [
        LPlusDiversity("dx", {"HIV": 0.1, "flu": 1.0}),
        AlphaKAnonymity(0.5, 2, "dx", ("HIV", "flu")),
        ConfidenceBounding(0.5, "dx", "HIV"),
    ],
)
def test_a_named_value_that_does_not_occur_is_noted_without_being_shown(model: PrivacyModel) -> None:
    notes = " ".join(model.measure(small()).notes)
    assert "do not occur" in notes
    assert "HIV" not in notes


def test_a_template_for_an_absent_value_holds() -> None:
    assert ConfidenceBounding(0.5, "dx", "HIV", given=("sex",)).per_class(small()).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "model",
    [
        PPlusSensitivity(1, 1, "dx", {"flu": "mild"}),
        PAlphaSensitivity(1, 1, 1, "dx", {"flu": 1}),
        TCloseness(0.5, "dx", distance="hierarchical", hierarchy={"flu": ("lung", "any")}),
    ],
)
def test_a_value_left_out_is_refused_without_being_shown(model: PrivacyModel) -> None:
    with pytest.raises(InvalidParameter, match="leaves out 1 of the 2 values") as caught:
        model.measure(small())
    assert "acne" not in str(caught.value)


def test_a_null_hangs_under_the_root_of_a_hierarchy() -> None:
    classes = only(["flu", "acne", None, None], "dx", [0, 0, 1, 1])
    found = TCloseness(1, "dx", distance="hierarchical", hierarchy=TREE).measure(classes)
    assert found.value == pytest.approx(0.5)
    assert "root" in found.notes[0]


# ── order and numbers ─────────────────────────────────────────────────────────────────────────────


def test_numbers_in_text_are_ordered_as_numbers() -> None:
    classes = [0, 0, 1, 1]
    as_text = TCloseness(1, "pay", distance="ordered").per_class(
        only(["9", "10", "100", "?"], "pay", classes)
    )
    as_numbers = TCloseness(1, "pay", distance="ordered").per_class(only([9, 10, 100, 1000], "pay", classes))
    assert as_text == pytest.approx(as_numbers)


def test_values_that_no_longer_occur_do_not_stretch_the_order() -> None:
    wide = only([1, 2, 3, 4], "pay", [0, 0, 1, 1])
    # The first class alone, with the domain of the whole table still around it.
    cut = EquivalenceClasses(
        attributes=wide.attributes,
        codes=tuple(codes[:1] for codes in wide.codes),
        indptr=wide.indptr[:2],
        counts=wide.counts[:2],
        sensitive=wide.sensitive,
        sensitive_codes={"pay": wide.sensitive_codes["pay"][:2]},
    )
    for distance in ("equal", "ordered"):
        assert TCloseness(0, "pay", distance=distance).satisfied(cut)
    assert DeltaDisclosure(0.1, "pay").satisfied(cut)
    assert BetaLikeness(0.1, "pay", kind="enhanced").satisfied(cut)


@pytest.mark.parametrize(
    "model", [KEAnonymity(1, 1, "pay"), EpsilonMAnonymity(1, 1, "pay"), WorstGroupProtection(1, 1, "pay")]
)
class TestNumericModels:
    def test_text_is_refused(self, model: PrivacyModel) -> None:
        with pytest.raises(UnsuitableColumn, match="not numeric"):
            model.measure(only(["low", "high"]))
        with pytest.raises(UnsuitableColumn, match="not numeric"):
            model.measure(only(["1", "2", "many"]))

    def test_infinities_are_refused(self, model: PrivacyModel) -> None:
        with pytest.raises(UnsuitableColumn, match="infinite"):
            model.measure(only([1.0, math.inf]))

    def test_missing_numbers_are_left_out_and_counted(self, model: PrivacyModel) -> None:
        with_gaps = model.measure(only([1, 5, None, None]))
        assert with_gaps.value == model.measure(only([1, 5])).value
        assert any("2 records without a number" in note for note in with_gaps.notes)


def test_a_window_hit_exactly_counts_despite_rounding() -> None:
    classes = only([0.1, 0.2, 0.3, 5.0])
    assert WorstGroupProtection(1, 0.2, "pay").measure(classes).value == 0.75
    assert EpsilonMAnonymity(0.1, 1, "pay").measure(classes).value == pytest.approx(4 / 3)


# ── merging ───────────────────────────────────────────────────────────────────────────────────────


def test_epsilon_m_is_rightly_called_not_monotone() -> None:
    model = EpsilonMAnonymity(1, 2, "pay")
    apart = only([1, 10, 0, 2], "pay", [0, 0, 1, 1])
    assert model.satisfied(apart)
    assert not model.satisfied(apart.project([]))
    assert not model.monotone


def test_affiliation_is_rightly_called_not_monotone() -> None:
    model = HAffiliation(0.5, "dx")
    apart = EquivalenceClasses.from_columns(
        {"a": [0, 0, 1, 1]}, person=[1, 2, 1, 2], sensitive={"dx": ["flu", "acne", "hay fever", "flu"]}
    )
    assert model.satisfied(apart)
    assert not model.satisfied(apart.project([]))
    assert not model.monotone


# ── several sensitive attributes ──────────────────────────────────────────────────────────────────


def test_other_sensitive_attributes_become_quasi_identifiers_with_persons_and_weights() -> None:
    classes = small(person=[1, 1, 2, 3], weight=[1.0, 2.0, 3.0, 4.0])
    split = with_sensitive_as_quasi_identifier(classes, "pay")
    assert split.names == ("sex", "dx")
    assert [domain.name for domain in split.sensitive] == ["pay"]
    assert split.records.tolist() == [1, 1, 2]
    assert split.persons.tolist() == [1, 1, 2]
    assert split.class_weights is not None
    assert split.class_weights.tolist() == [2.0, 1.0, 7.0]


@pytest.mark.parametrize("kind", ["distinct", "entropy", "simple", "recursive"])
def test_one_sensitive_attribute_is_plain_l_diversity(kind: str) -> None:
    classes = only(["a", "a", "b", "c", "c"], "dx", [0, 0, 0, 1, 1])
    c = 2.0 if kind == "recursive" else None
    several = MultiAttributeLDiversity(2, kind=kind, c=c)  # type: ignore[arg-type]
    plain = LDiversity(2, "dx", kind=kind, c=c)  # type: ignore[arg-type]
    assert several.per_class(classes) == pytest.approx(plain.per_class(classes))


def test_several_attributes_without_any_are_refused() -> None:
    with pytest.raises(UnsuitableColumn):
        MultiAttributeLDiversity(2).measure(EquivalenceClasses.from_columns({"a": [1, 2]}))


def test_recursive_diversity_with_counts_beyond_one_word() -> None:
    classes = only(["a", "b", "c", "a", "b"], "dx", [0, 0, 0, 1, 1])
    huge = EquivalenceClasses(
        attributes=classes.attributes,
        codes=classes.codes,
        indptr=classes.indptr,
        counts=np.array([2**62, 1, 3, 6, 2], dtype=np.int64),
        sensitive=classes.sensitive,
        sensitive_codes=classes.sensitive_codes,
    )
    found = LDiversity(2, "dx", kind="recursive", c=1).per_class(huge)
    assert found == pytest.approx([2**62 / 4, 3.0])
