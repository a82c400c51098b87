"""Measures and risks by name, as machines read them: the worst of several, and each."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.measure import Measure, RecordRisk


def worst_measure(measures: Sequence[Measure]) -> Measure:
    """The least protective of several measures of one kind."""
    pick = min if measures[0].better == "higher" else max
    return pick(measures, key=lambda measure: measure.value)


def grouped(measures: Sequence[Measure]) -> dict[str, object]:
    """Measures by name: the worst over sensitive attributes, and each attribute's own."""
    groups: dict[str, object] = {}
    for name in dict.fromkeys(measure.name for measure in measures):
        same = [measure for measure in measures if measure.name == name]
        entry = worst_measure(same).to_dict()
        if same[0].attribute is not None:
            entry["by_attribute"] = {str(measure.attribute): measure.to_dict()["value"] for measure in same}
        elif len(same) > 1:
            entry["by_unit"] = {measure.unit: measure.to_dict()["value"] for measure in same}
        groups[name] = entry
    return groups


def grouped_risks(risks: Sequence[RecordRisk]) -> dict[str, object]:
    """Risks by name: for the whole quasi-identifier, and for each attribute alone."""
    groups: dict[str, object] = {}
    for name in dict.fromkeys(risk.name for risk in risks):
        same = [risk for risk in risks if risk.name == name]
        whole = [risk for risk in same if risk.attribute is None] or same
        entry = max(whole, key=lambda risk: risk.max).to_dict()
        told = ("attribute", "sensitive", "min", "mean", "median", "max")
        entry["parts"] = [{k: v for k, v in risk.to_dict().items() if k in told} for risk in same]
        groups[name] = entry
    return groups
