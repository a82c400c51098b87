"""The requirements of a case: those of its profile in words, and its own, which forms can add, change and remove."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit

from discreet.errors import InvalidParameter
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.policy.guarantee import DifferentialPrivacy
from discreet.privacy.registry import MODELS
from discreet.release.profile import Profile, load_profile
from discreet.release.requirements import limit_models, models_of
from discreet.sentences import Sentence
from discreet.table import DataType
from discreet.web.cases import Case
from discreet.web.form_fields import FormField, input_of, number_in, shown
from discreet.web.policies import changed_policy, columns_of, mark_of, policy_of
from discreet.web.refusals import changed_meanwhile, not_found

FIRST = ("k-anonymity", "l-diversity", "t-closeness")
"""What is asked for most stands first."""
USUAL: Mapping[str, Mapping[str, object]] = {
    "k-anonymity": {"k": 11},
    "l-diversity": {"l": 3},
    "t-closeness": {"t": 0.3},
}
"""What a form for a new requirement begins with."""


@dataclass(frozen=True)
class ListedRequirement:
    """A requirement in words. ``number`` is its place among the policy's own; those of a profile have none."""

    words: str
    source: str
    number: int | None = None
    model: str = ""
    title: str = ""
    fields: tuple[FormField, ...] = ()
    mark: str = ""
    """Tells whether another one stands at its place by now."""


def listed(case: Case) -> list[ListedRequirement]:
    """Everything that is required of a release: first by the profile, then by the policy itself."""
    policy = policy_of(case)
    kinds = {column["name"]: column["type"] for column in columns_of(case)}
    rows = of_profile(load_profile(policy.profile), policy, kinds)
    rows += [ListedRequirement(asked.describe(), asked.source) for asked in policy.guarantees]
    for number, model in enumerate(policy.requirements):
        rows.append(
            ListedRequirement(
                model.describe(),
                model.source,
                number,
                model.id,
                model.title,
                tuple(fields_of(model.id, policy.sensitive, model.parameters())),
                mark_of(repr(model)),
            )
        )
    return rows


def of_profile(profile: Profile, policy: Policy, kinds: Mapping[str, DataType]) -> list[ListedRequirement]:
    """What a profile asks of classes, for each sensitive attribute in turn."""
    sensitive = {name: kinds.get(name) in ("integer", "continuous", "date") for name in policy.sensitive}
    sources = [
        (model.describe(), requirement.source)
        for requirement in profile.requirements
        for model in models_of(requirement.entry, sensitive)
    ]
    sources += [(model.describe(), source) for model, source in limit_models(profile)]
    sources += [
        (limit.describe(), limit.source)
        for limit in profile.limits
        if limit.risk == "prosecutor" and limit.statistic == "mean"
    ]
    sources += [(guarantee.describe(), source) for guarantee, source in profile.guarantees]
    first: dict[str, str] = {}
    for words, source in sources:
        first.setdefault(words, source)
    return [ListedRequirement(words, source) for words, source in first.items()]


# ── forms ─────────────────────────────────────────────────────────────────────────────────────────────


def models() -> list[tuple[str, str]]:
    """Every privacy model with its title, the usual ones first."""
    names = [*FIRST, *(name for name in MODELS if name not in FIRST)]
    return [(name, MODELS[name].title) for name in names]


def fields_of(
    model: str, sensitive: Sequence[str], given: Mapping[str, object] | None = None
) -> list[FormField]:
    """The fields of a form for a model.

    >>> [(field.name, field.input, field.needed, field.value) for field in fields_of("l-diversity", ["dx"], {"l": 3})]
    [('l', 'number', True, '3'), ('sensitive', 'column', True, ''), ('kind', 'choice', False, ''), ('c', 'number', False, '')]
    """
    if model not in MODELS:
        raise not_found("model")
    kind = MODELS[model]
    values = {**(USUAL.get(model, {}) if given is None else {}), **(given or {})}
    hints = typing.get_type_hints(kind)
    fields = []
    for parameter in dataclasses.fields(kind):  # type: ignore[arg-type]  # all are dataclasses
        if not parameter.init:
            continue
        entry, choices = input_of(hints[parameter.name]) or ("text", ())
        if parameter.name == "sensitive":
            entry, choices = "column", tuple(sensitive)
        fields.append(
            FormField(
                parameter.name,
                entry,
                parameter.default is dataclasses.MISSING,
                choices,
                shown(values.get(parameter.name)),
            )
        )
    return fields


def entry_of(model: str, filled: Mapping[str, str]) -> dict[str, object]:
    """What was filled in, as a ``[[require]]`` entry; a model that it does not make raises.

    >>> entry_of("l-plus-diversity", {"sensitive": "dx", "thresholds": "flu = 0.5"})
    {'model': 'l-plus-diversity', 'sensitive': 'dx', 'thresholds': {'flu': 0.5}}
    """
    entry: dict[str, object] = {"model": model}
    for field in fields_of(model, ()):
        text = filled.get(field.name, "").strip()
        if text:
            entry[field.name] = _parsed(field, text)
    make_model(entry)
    return entry


def _parsed(field: FormField, text: str) -> object:
    if field.input in ("count", "number"):
        return number_in(text, field.name, whole=field.input == "count")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if field.input == "list":
        return lines
    if field.input == "pairs":
        return dict(_pair(field, line) for line in lines)
    return text


def _pair(field: FormField, line: str) -> tuple[str, object]:
    key, mark, value = line.rpartition("=")
    if not mark or not key.strip():
        raise InvalidParameter(
            Sentence("{name} has a line without =", name=field.name),
            remedy="write one pair per line, e.g. value = 0.5",
        )
    text = value.strip()
    if field.name == "hierarchy":
        return key.strip(), [part.strip() for part in text.split(",")]
    return key.strip(), text if field.name == "categories" else number_in(text, field.name)


# ── changes ───────────────────────────────────────────────────────────────────────────────────────────


def put(
    case: Case, entry: Mapping[str, object], number: int | None = None, *, seen: str | None = None
) -> None:
    """Add a requirement to the policy, or put it in the place of the one with that number.

    ``seen`` is the mark of the requirement that was seen at this place: others move up when one is removed.
    """
    with changed_policy(case) as document:
        entries = document.setdefault("require", tomlkit.aot())
        if number is None:
            entries.append(_toml(entry))
        else:
            entries[_place(entries, number, seen)] = _toml(entry)


def remove(case: Case, number: int, *, seen: str | None = None) -> None:
    """Remove one of the policy's own requirements."""
    with changed_policy(case) as document:
        entries = document.get("require", [])
        del entries[_place(entries, number, seen)]
        if not entries:
            del document["require"]


def use_point(case: Case, point: Mapping[str, Any]) -> None:
    """Write the setting of a point of a frontier into the policy: its k, l and t instead of the policy's own, and its method."""
    with changed_policy(case) as document:
        _write_point(document, policy_of(case).sensitive, point)


def _write_point(document: tomlkit.TOMLDocument, sensitive: Sequence[str], point: Mapping[str, Any]) -> None:
    new: list[dict[str, object]] = []
    replaced = set()
    if point["k"] is not None:
        replaced.add("k-anonymity")
        new.append({"model": "k-anonymity", "k": point["k"]})
    for model, name in (("l-diversity", "l"), ("t-closeness", "t")):
        if point[name] is not None:
            replaced.add(model)
            new += [{"model": model, name: point[name], "sensitive": attribute} for attribute in sensitive]
    entries = tomlkit.aot()
    kept = [entry for entry in document.get("require", []) if entry.get("model") not in replaced]
    for entry in [*kept, *new]:
        entries.append(_toml(entry))
    if entries:
        document["require"] = entries
    document.setdefault("anonymize", tomlkit.table())["method"] = point["method"]


def _toml(entry: Mapping[str, object]) -> tomlkit.items.Table:
    table = tomlkit.table()
    for key, value in entry.items():
        table.add(key, value)
    return table


def _place(entries: Sequence[Mapping[str, Any]], number: int, seen: str | None) -> int:
    """Where the requirement of that number stands; guarantees, which no form changes, have none."""
    places = [at for at, entry in enumerate(entries) if entry.get("model") != DifferentialPrivacy.id]
    if not 0 <= number < len(places):
        raise not_found("requirement")
    if seen is not None and seen != mark_of(repr(make_model(entries[places[number]]))):
        raise changed_meanwhile()
    return places[number]
