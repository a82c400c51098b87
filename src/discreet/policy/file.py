"""The policy file: TOML, read with all errors at once, written with reasons for whoever edits it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeVar

import tomlkit
from pydantic import ValidationError
from tomlkit.items import Comment
from tomlkit.items import Table as TomlTable

from discreet.errors import DiscreetError, InvalidParameter, InvalidPolicy
from discreet.files.documents import parse_toml
from discreet.files.reading import read_text
from discreet.files.writing import write_text
from discreet.perturb.base import Perturbation
from discreet.perturb.registry import make_step
from discreet.plain import plain
from discreet.policy.analysis import Analysis
from discreet.policy.constraint import Constraint
from discreet.policy.document import (
    FORMAT,
    AnalysisEntry,
    ConstraintEntry,
    MistakeEntry,
    PolicyDocument,
)
from discreet.policy.guarantee import DifferentialPrivacy, make_guarantee
from discreet.policy.intruder import Intruder
from discreet.policy.kpi import Kpi
from discreet.policy.mistake import Mistake
from discreet.policy.plan import Plan
from discreet.policy.policy import ColumnPolicy, Policy, Rating
from discreet.policy.problems import explain, placed
from discreet.policy.settings import frozen, given
from discreet.privacy import KnownBy, PrivacyModel, build_required
from discreet.privacy.confidence import names
from discreet.sentences import Sentence
from discreet.table.hierarchies.builder import Builder
from discreet.table.hierarchies.registry import BUILDERS, make_builder
from discreet.table.reading import ReadOptions

Made = TypeVar("Made")
GivenPolicy = Policy | str | PathLike[str] | Mapping[str, object]
"""What verbs take for a policy: one, the path of its file, or what stands in such a file as a dict."""


def open_policy(given: object) -> Policy:
    """A policy as it is, that of a file, or that of a dict with the keys of such a file.

    >>> open_policy({"columns": {"age": {"role": "quasi-identifier"}}}).quasi_identifiers
    ('age',)
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, str | PathLike):
        return load(given)
    if isinstance(given, Mapping):
        return _read_document(given, "", "the policy")
    raise InvalidParameter(
        Sentence("an object of type {kind} is no policy", kind=type(given).__name__),
        remedy="pass a discreet.Policy, the path of a policy file, or a dict with what stands in one",
    )


def load(path: str | PathLike[str]) -> Policy:
    """Read a policy file. Every problem is reported at once, each with its line and remedy."""
    place = Path(path)
    text = read_text(place, "policy file", remedy="it must be a UTF-8 text file in TOML")
    policy = loads(text, name=place.name)
    if policy.profile.endswith(".toml"):
        # A profile of one's own lies beside the policy that names it.
        object.__setattr__(policy, "profile", str(place.parent / policy.profile))
    if policy.population is not None:
        policy = policy.replace(population=place.parent / policy.population)
    # And so does a hierarchy file.
    return policy.generalise(
        {
            column.name: str(place.parent / column.hierarchy)
            for column in policy.columns
            if isinstance(column.hierarchy, str)
        }
    )


def loads(text: str, *, name: str = "policy") -> Policy:
    """Read a policy from TOML text.

    >>> loads('[columns.age]\\nrole = "quasi-identifier"').quasi_identifiers
    ('age',)
    """
    try:
        raw = parse_toml(text)
    except ValueError as error:
        raise InvalidPolicy(
            [Sentence("{name} is not valid TOML: {error}", name=name, error=error)],
            remedy="correct this line",
        ) from None
    return _read_document(raw, text, name)


def _read_document(raw: Mapping[str, object], text: str, name: str) -> Policy:
    """The policy of a document; problems name the lines of its ``text``, if it has one."""
    problems: list[str] = []
    try:
        parsed = PolicyDocument.model_validate(raw)
    except ValidationError as error:
        problems += explain(text, name, error)
        parsed = None
    hierarchies: dict[str, Builder | str] = {}
    columns = raw.get("columns")
    for column_name, entry in columns.items() if isinstance(columns, Mapping) else ():
        if isinstance(entry, Mapping) and "hierarchy" in entry:
            try:
                hierarchies[column_name] = make_hierarchy(entry["hierarchy"])
            except DiscreetError as error:
                where = ("columns", column_name, "hierarchy")
                told = Sentence("{path}: {problem}", path=".".join(where), problem=error.sentence)
                problems.append(placed(text, name, where, told))
    asked = _made(raw.get("require"), make_requirement, text, name, "require", problems)
    steps = _made(raw.get("perturb"), _step, text, name, "perturb", problems)
    constraints = _constraints(parsed.constraint if parsed is not None else (), text, name, problems)
    analyses = _analyses(parsed.analysis if parsed is not None else (), text, name, problems)
    mistakes = _mistakes(parsed.mistake if parsed is not None else (), text, name, problems)
    people = _intruders(parsed, text, name, problems)
    problems += _repeated_kpis(raw.get("kpi"), text, name)
    if parsed is not None and parsed.format != FORMAT:
        problems.append(
            Sentence(
                "{name} has format {format}; this version reads format {own}: let `discreet suggest` write a new one",
                name=name,
                format=parsed.format,
                own=FORMAT,
            )
        )
    if problems or parsed is None:
        raise InvalidPolicy(problems, remedy="see the reference of the policy file in the documentation")
    return Policy(
        columns=tuple(
            ColumnPolicy(
                column_name,
                column.role,
                column.type,
                column.reason,
                None if column.rating is None else Rating(**column.rating.model_dump()),
                hierarchies.get(column_name),
            )
            for column_name, column in parsed.columns.items()
        ),
        requirements=tuple(model for model in asked if not isinstance(model, DifferentialPrivacy)),
        guarantees=tuple(model for model in asked if isinstance(model, DifferentialPrivacy)),
        profile=parsed.profile,
        unknown=parsed.unknown,
        sampling_fraction=parsed.population.sampling_fraction,
        population=parsed.population.table,
        population_count=parsed.population.count,
        read=ReadOptions(**given(parsed.read, ReadOptions)).given(),
        plan=Plan(**given(parsed.anonymize, Plan)),
        kpis=tuple(Kpi(**kpi.model_dump()) for kpi in parsed.kpi),
        perturb=tuple(steps),
        constraints=constraints,
        analyses=analyses,
        mistakes=mistakes,
        intruders=people,
        judged=parsed.judged,
    )


def _made(
    entries: object,
    make: Callable[[Mapping[str, object]], Made],
    text: str,
    name: str,
    table: str,
    problems: list[str],
) -> list[Made]:
    """What the entries of a list of tables say; what is wrong with them is added to the problems."""
    made = []
    for i, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, Mapping):
            try:
                made.append(make(entry))
            except DiscreetError as error:
                problems.append(placed(text, name, (table, i), error))
    return made


def _step(entry: Mapping[str, object]) -> Perturbation:
    return make_step({key: frozen(value) for key, value in entry.items()})


def _repeated_kpis(entries: object, text: str, name: str) -> list[Sentence]:
    """A problem for every KPI that has the name of one before it."""
    kpis = entries if isinstance(entries, list) else []
    named = [kpi.get("name") for kpi in kpis if isinstance(kpi, Mapping)]
    return [
        placed(
            text,
            name,
            ("kpi", i, "name"),
            Sentence("two KPIs are called {name!r}; rename one of them", name=kpi),
        )
        for i, kpi in enumerate(named)
        if kpi is not None and kpi in named[:i]
    ]


def _constraints(
    entries: Sequence[ConstraintEntry], text: str, name: str, problems: list[str]
) -> tuple[Constraint, ...]:
    """The rules of a document; what is wrong with them is added to the problems."""
    constraints = []
    for i, entry in enumerate(entries):
        try:
            constraints.append(
                Constraint(entry.name, entry.holds or "", entry.column or "", tuple(entry.follows))
            )
        except DiscreetError as error:
            problems.append(placed(text, name, ("constraint", i, "name"), error))
    return tuple(constraints)


def _analyses(
    entries: Sequence[AnalysisEntry], text: str, name: str, problems: list[str]
) -> tuple[Analysis, ...]:
    """The analyses of a document; what is wrong with formulas is added to the problems."""
    analyses = []
    for i, entry in enumerate(entries):
        try:
            analyses.append(Analysis(entry.formula, entry.name))
        except DiscreetError as error:
            problems.append(placed(text, name, ("analysis", i, "formula"), error))
    return tuple(analyses)


def _mistakes(
    entries: Sequence[MistakeEntry], text: str, name: str, problems: list[str]
) -> tuple[Mistake, ...]:
    """The mistakes of a document; what is wrong with them is added to the problems."""
    mistakes: list[Mistake] = []
    for i, entry in enumerate(entries):
        try:
            mistake = Mistake(**entry.model_dump())
            if any(
                (mistake.column, mistake.value, mistake.taken_for) == (m.column, m.value, m.taken_for)
                for m in mistakes
            ):
                raise InvalidParameter(
                    Sentence("a mistake about {column!r} is named twice", column=mistake.column),
                    remedy="name each once",
                )
            mistakes.append(mistake)
        except DiscreetError as error:
            problems.append(placed(text, name, ("mistake", i, "cost"), error))
    return tuple(mistakes)


def _intruders(
    parsed: PolicyDocument | None, text: str, name: str, problems: list[str]
) -> tuple[Intruder, ...]:
    """The intruders of a document; what is wrong with them is added to the problems."""
    people: list[Intruder] = []
    for i, entry in enumerate(parsed.intruder if parsed is not None else ()):
        try:
            people.append(Intruder(entry.name, tuple(entry.columns)))
        except DiscreetError as error:
            problems.append(placed(text, name, ("intruder", i, "columns"), error))
            continue
        strangers = [column for column in entry.columns if parsed is None or column not in parsed.columns]
        if strangers:
            told = Sentence(
                "the intruder {name!r} knows {columns}, which the policy has no columns for",
                name=entry.name,
                columns=tuple(strangers),
            )
            problems.append(placed(text, name, ("intruder", i, "columns"), told))
    return tuple(people)


def make_model(entry: Mapping[str, object]) -> PrivacyModel:
    """A privacy model from a ``[[require]]`` entry.

    >>> make_model({"model": "k-anonymity", "k": 5}).describe()
    'every class has at least 5 persons'
    >>> make_model({"model": "k-anonymity", "k": 5, "intruder": "employer"}).describe()
    'for employer: every class has at least 5 persons'
    """
    if entry.get("model") == DifferentialPrivacy.id:
        raise InvalidParameter(
            "no change of values gives differential privacy, nor can it be measured on a table",
            remedy="require it in the policy file, and make the release with `discreet tabulate`, `discreet synthesize` or `discreet safepub`",
        )
    parameters = _parameters(entry)
    intruder, knows = (parameters.pop(key, None) for key in ("intruder", "knows"))
    model = build_required(str(entry.get("model", "")), parameters)
    if intruder is None and knows is None:
        return model
    return KnownBy(model, str(intruder), None if knows is None else names("knows", knows))


def make_requirement(entry: Mapping[str, object]) -> PrivacyModel | DifferentialPrivacy:
    """What a ``[[require]]`` entry asks for: a model of classes, or a guarantee of how the release was made."""
    if entry.get("model") == DifferentialPrivacy.id:
        return make_guarantee(_parameters(entry))
    return make_model(entry)


def _parameters(entry: Mapping[str, object]) -> dict[str, object]:
    return {key: frozen(value) for key, value in entry.items() if key != "model"}


def make_hierarchy(entry: object) -> Builder | str:
    """The path of a hierarchy file, or the builder that a table of ``builder`` and parameters asks for.

    >>> make_hierarchy("age.csv"), make_hierarchy({"builder": "mask", "characters": [1, 2]}).parameters()
    ('age.csv', {'characters': (1, 2)})
    """
    if isinstance(entry, str) and entry:
        return entry
    if isinstance(entry, Mapping) and isinstance(entry.get("builder"), str):
        return make_builder(
            entry["builder"], {key: value for key, value in entry.items() if key != "builder"}
        )
    raise InvalidParameter(
        "a hierarchy must be a file or name a builder",
        remedy=Sentence(
            'write hierarchy = "age.csv" or hierarchy = {{builder = "…"}}; the builders are: {builders}',
            builders=tuple(BUILDERS),
        ),
    )


def dumps(
    policy: Policy, *, notes: Mapping[str, Sequence[str]] | None = None, heading: Sequence[str] = ()
) -> str:
    """A policy as commented TOML. ``notes`` are comment lines per column, ``heading`` comes first."""
    document = tomlkit.document()
    for line in heading:
        document.add(_comment(line))
    if heading:
        document.add(tomlkit.nl())
    document.add("format", tomlkit.item(FORMAT))
    document.add("profile", tomlkit.item(policy.profile))
    for key in ("unknown", "judged"):
        if getattr(policy, key) != getattr(Policy, key):
            document.add(key, tomlkit.item(getattr(policy, key)))
    population = {
        "sampling_fraction": policy.sampling_fraction,
        "table": policy.population,
        "count": policy.population_count,
    }
    if any(value is not None for value in population.values()):
        document.add("population", tomlkit.item(plain(population, nulls=False)))
    if policy.read:
        document.add("read", tomlkit.item(policy.read))
    usual = Plan()
    changed = {
        # TOML has infinity, which plain data lack.
        key: value if isinstance(value, float) else plain(value)
        for key, value in vars(policy.plan).items()
        if value != getattr(usual, key)
    }
    if changed:
        document.add("anonymize", tomlkit.item(changed))
    columns = tomlkit.table(is_super_table=True)
    for column in policy.columns:
        columns.add(column.name, _column_item(column, (notes or {}).get(column.name, ())))
    if policy.columns:
        document.add("columns", columns)
    if policy.intruders:
        document.add("intruder", tomlkit.item([plain(vars(each)) for each in policy.intruders]))
    if policy.requirements or policy.guarantees:
        asked: list[PrivacyModel | DifferentialPrivacy] = [*policy.requirements, *policy.guarantees]
        required = [{"model": entry.id, **plain(entry.parameters(), nulls=False)} for entry in asked]
        document.add("require", tomlkit.item(required))
    if policy.perturb:
        document.add("perturb", tomlkit.item([step.to_dict() for step in policy.perturb]))
    if policy.kpis:
        document.add("kpi", tomlkit.item([_kpi_entry(kpi) for kpi in policy.kpis]))
    if policy.constraints:
        document.add("constraint", tomlkit.item([rule.to_dict() for rule in policy.constraints]))
    if policy.analyses:
        document.add("analysis", tomlkit.item([_analysis_entry(each) for each in policy.analyses]))
    if policy.mistakes:
        document.add("mistake", tomlkit.item([plain(vars(each), nulls=False) for each in policy.mistakes]))
    return tomlkit.dumps(document)


def _comment(text: str) -> Comment:
    """A comment on one line; a column's name may hold line ends and other signs that would end it."""
    return tomlkit.comment("".join(sign if sign.isprintable() else " " for sign in text))


def _column_item(column: ColumnPolicy, notes: Sequence[str]) -> TomlTable:
    item = tomlkit.table()
    for note in notes:
        item.add(_comment(note))
    for key, value in vars(column).items():
        if isinstance(value, Builder | Rating):
            inline = tomlkit.inline_table()
            inline.update(value.to_dict() if isinstance(value, Builder) else vars(value))
            item.add(key, inline)
        elif value and key != "name":
            item.add(key, value)
    return item


def _kpi_entry(kpi: Kpi) -> dict[str, object]:
    """A KPI without what it leaves at its default; a query of several lines is written as such."""
    changed = {key: value for key, value in vars(kpi).items() if value != getattr(Kpi, key, None)}
    return changed | {"query": tomlkit.string(kpi.query, multiline="\n" in kpi.query)}


def _analysis_entry(analysis: Analysis) -> dict[str, object]:
    """An analysis with its name if it has one of its own."""
    named = {} if analysis.name == analysis.formula else {"name": analysis.name}
    return {**named, "formula": analysis.formula}


def save(
    policy: Policy,
    path: str | PathLike[str],
    *,
    notes: Mapping[str, Sequence[str]] | None = None,
    heading: Sequence[str] = (),
) -> Path:
    """Write a policy file, whole or not at all."""
    target = Path(path)

    def beside(file: str) -> str:
        """A file as it is named from the policy file."""
        return Path(os.path.relpath(file, target.parent)).as_posix()

    moved = policy.generalise(
        {
            column.name: beside(column.hierarchy)
            for column in policy.columns
            if isinstance(column.hierarchy, str)
        }
    )
    if policy.population is not None:
        moved = moved.replace(population=beside(policy.population))
    return write_text(target, dumps(moved, notes=notes, heading=heading))
