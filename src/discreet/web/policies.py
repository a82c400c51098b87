"""The policy of a case: the same TOML file as the command line's, changed in place so that its comments stay."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import tomlkit
from tomlkit.exceptions import TOMLKitError

from discreet.errors import InvalidParameter, InvalidPolicy, UnknownColumn
from discreet.files.documents import check_document, parse_json
from discreet.files.writing import write_text
from discreet.plain import plain
from discreet.policy import Policy, load, loads
from discreet.policy.plan import FOLLOWED
from discreet.policy.suggest import NOT_SURE
from discreet.release.profile import load_profile
from discreet.sentences import loads as loads_view
from discreet.table import Column
from discreet.table.roles import Role
from discreet.web.api.parameters import PlanParameters
from discreet.web.cases import Case
from discreet.web.refusals import Refusal, changed_meanwhile, not_found

PolicyPart = Literal["roles", "forms", "policy"]
"""All but the plan; that, and which settings a plan has; or all of it."""
LARGEST_POLICY = 4 << 20
PLANNED_ROLES: Mapping[str, tuple[Role, ...]] = {
    "keep": ("quasi-identifier",),
    "drop_attributes": ("quasi-identifier", "weight"),
}
"""Which columns go on standing in a setting of the plan when they are given another role."""


def policy_text(case: Case) -> str:
    """The policy file of a case, which is there once the table has been read."""
    try:
        return case.policy_file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Refusal(
            409, "not-ready", "the table has not been read yet", "wait until its columns are there"
        ) from None


def fingerprint(file: Path, *, plan: bool) -> str:
    """A hash that tells whether a policy is still the one that a result rests on.

    Reasons and comments do not count, nor do the plan and the steps before it for what has nothing to do with them.
    """
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    if not plan:
        raw.pop("anonymize", None)
        raw.pop("perturb", None)
    for column in raw.get("columns", {}).values():
        column.pop("reason", None)
    return hashlib.sha256(repr(raw).encode()).hexdigest()[:16]


def policy_hash(case: Case, part: PolicyPart) -> str:
    """A hash of a part of the policy as it is now."""
    try:
        return _part_hashes(case.policy_file.read_text(encoding="utf-8"))[part]
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=64)
def _part_hashes(text: str) -> dict[PolicyPart, str]:
    raw = tomllib.loads(text)
    plan = raw.pop("anonymize", {})
    parts: dict[PolicyPart, object] = {
        "roles": raw,
        "forms": (
            raw,
            plan.get("objective"),
            [n for n, those in FOLLOWED.items() if plan.get("method") in those],
        ),
        "policy": (raw, plan),
    }
    return {part: hashlib.sha256(repr(seen).encode()).hexdigest()[:16] for part, seen in parts.items()}


def policy_of(case: Case) -> Policy:
    """The policy of a case."""
    policy_text(case)
    return load(case.policy_file)


def columns_document(case: Case) -> dict[str, Any]:
    """What reading the table found out about it and its columns."""
    policy_text(case)
    document: dict[str, Any] = loads_view(case.columns_file.read_text(encoding="utf-8"))
    return document


def columns_of(case: Case) -> list[dict[str, Any]]:
    """What is known about each column, in the order of the table."""
    columns: list[dict[str, Any]] = columns_document(case)["columns"]
    return columns


def column_at(case: Case, number: int) -> dict[str, Any]:
    """What is known about the column at a place of the table."""
    columns = columns_of(case)
    if not 0 <= number < len(columns):
        raise not_found("column")
    return columns[number]


def column_named(case: Case, name: str) -> dict[str, Any]:
    """What is known about the column with a name."""
    columns = {column["name"]: column for column in columns_of(case)}
    if name not in columns:
        raise UnknownColumn(name, list(columns))
    return columns[name]


def known_columns(file: Path) -> list[Column]:
    """The columns of a table, from the document about them."""
    columns = loads_view(file.read_text(encoding="utf-8"))["columns"]
    return [Column(column["name"], column["type"], column["storage"]) for column in columns]


def with_sentences(policy: Policy, file: Path) -> Policy:
    """The policy with the reasons of the suggestion as sentences, where its own are the same.

    A policy file has the words only, and a report may be in another language.
    """
    said = {
        column["name"]: column["reason"] for column in loads_view(file.read_text(encoding="utf-8"))["columns"]
    }
    return replace(
        policy,
        columns=tuple(
            replace(column, reason=said[column.name]) if said.get(column.name) == column.reason else column
            for column in policy.columns
        ),
    )


def mark_of(text: str) -> str:
    """A short hash of a policy file or of an entry of it, which tells whether somebody has changed it since it was seen."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def replace_policy(case: Case, text: str, seen: Collection[str] | None = None) -> list[str]:
    """Replace the policy by another that can be read; what keeps it from being applied to this table.

    With ``seen`` only a policy with one of these marks is replaced.
    """
    with case.changing():
        present = policy_text(case)
        if seen is not None and mark_of(present) not in seen:
            raise changed_meanwhile()
        policy = loads(text)
        if not policy.profile.endswith(".toml"):
            load_profile(policy.profile)
        write_text(case.policy_file, text)
        return policy_problems(case)


@contextmanager
def changed_policy(case: Case) -> Iterator[tomlkit.TOMLDocument]:
    """The policy as a document to change, which is written at the end of the context; nobody else changes it meanwhile.

    What could not be read again raises, and the file stays as it was.
    """
    with case.changing():
        document = tomlkit.parse(policy_text(case))
        yield document
        text = tomlkit.dumps(document)
        loads(text)
        write_text(case.policy_file, text)


def policy_problems(case: Case) -> list[str]:
    """Everything that keeps the policy from being applied to the table, in words."""
    policy_text(case)
    columns = known_columns(case.columns_file)
    try:
        return list(policy_of(case).problems(columns))
    except InvalidPolicy as error:
        return list(error.problems)


def set_role(case: Case, name: str, role: Role) -> None:
    """Give one column another role; what the plan says about a quasi-identifier goes with that role."""
    set_roles(case, [name], role)


def set_roles(case: Case, names: Collection[str], role: Role | None) -> None:
    """Give columns a role; ``None`` says that they have the right one, about which nobody has to be asked again."""
    for name in names:
        column_named(case, name)
    with changed_policy(case) as document:
        columns = document.setdefault("columns", tomlkit.table(is_super_table=True))
        plan = document.get("anonymize", {})
        for name in names:
            entry = columns.get(name)
            if entry is None:
                columns.add(name, tomlkit.table())
                entry = columns[name]
            given = role or entry.get("role", "insensitive")
            changed = entry.get("role", "insensitive") != given
            if entry.get("role") != given or uncertain(str(entry.get("reason", ""))):
                entry["role"] = given
                entry["reason"] = "chosen by the user"
            if given != "quasi-identifier" and name in plan.get("weights", {}):
                del plan["weights"][name]
            for setting, roles in PLANNED_ROLES.items():
                if changed and given not in roles and name in plan.get(setting, []):
                    plan[setting].remove(name)


def uncertain(reason: str) -> bool:
    """Whether a suggested role needs a person's eye."""
    return reason.startswith(NOT_SURE)


def to_check(case: Case) -> int:
    """Of how many columns somebody should look at the role."""
    return sum(uncertain(column.reason) for column in policy_of(case).columns)


def set_profile(case: Case, profile: str) -> None:
    """Name another profile in the policy."""
    load_profile(profile)
    with changed_policy(case) as document:
        document["profile"] = profile


def policy_from(body: bytes, *, json: bool = False) -> str:
    """The text of a policy that was sent, as TOML or as JSON."""
    if len(body) > LARGEST_POLICY:
        raise Refusal(413, "too-large", "this is too large for a policy", "send a policy file")
    try:
        text = body.decode("utf-8")
        if not json:
            return text
        document = parse_json(text)
    except ValueError:
        raise InvalidPolicy(
            ["the policy is not UTF-8 text, or not valid JSON"], remedy="send TOML or JSON"
        ) from None
    if not isinstance(document, dict):
        raise InvalidPolicy(
            ["the policy is no JSON object"], remedy="send an object with columns and profile"
        )
    return toml_of(document)


def set_plan(case: Case, given: PlanParameters) -> None:
    """Write what was given into the policy's plan."""
    with changed_policy(case) as document:
        plan = document.setdefault("anonymize", tomlkit.table())
        changed = given.given()
        plan.update(plain(changed))
        if changed.get("objective", "classification") != "classification":
            # No other objective predicts anything.
            plan.pop("label", None)
        for name, methods in FOLLOWED.items():
            if name not in changed and changed.get("method", methods[0]) not in methods:
                # It was said for another method.
                plan.pop(name, None)


def toml_of(document: Mapping[str, object]) -> str:
    """A policy that was given as JSON, in TOML.

    >>> print(toml_of({"profile": "open-data", "columns": {"age": {"role": "quasi-identifier"}}}))
    profile = "open-data"
    <BLANKLINE>
    [columns.age]
    role = "quasi-identifier"
    <BLANKLINE>
    """
    try:
        return tomlkit.dumps(_without_nulls(check_document(document)))
    except (TOMLKitError, TypeError, ValueError):
        raise InvalidParameter(
            "the policy holds something that a policy file cannot",
            remedy="give tables, lists, texts and numbers",
        ) from None


def _without_nulls(value: Any) -> Any:
    """Leave out nulls, which TOML does not have."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nulls(entry) for entry in value if entry is not None]
    return value
