"""A command, option, setting, profile, model, measure, risk, error or public name that is not in the reference
is a failure, and so is one in the reference that does not exist."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import runpy
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import click
import pyarrow as pa
import pytest
from pydantic import BaseModel

import discreet
from discreet.attacks.catalogue import ATTACKS
from discreet.cli import COMMANDS, EXIT_BAD_INPUT, EXIT_CANCELLED, EXIT_INTERNAL, EXIT_NOT_MET, cli
from discreet.errors import DiscreetError
from discreet.perturb.registry import STEPS
from discreet.policy import document as policy_document
from discreet.privacy import MODELS
from discreet.release.audit import Audit
from discreet.release.profile import _ProfileFile, profile_names
from discreet.release.rules import RULES
from discreet.reports.schema import AUDIT_SCHEMA, PRINTED_BY, SCHEMAS
from discreet.search.methods import METHODS
from discreet.table import DATA_TYPES
from discreet.table.hierarchies.registry import BUILDERS, parameter_names
from discreet.table.roles import ROLES
from discreet.utility import (
    class_sizes,
    dependence,
    distances,
    distributions,
    entropy,
    marginals,
    moments,
    precision,
    propensity,
    scaled,
    tradeoff,
    workload,
)
from discreet.utility.definition import Definition
from discreet.utility.measures import MEASURES as LOSSES
from discreet.utility.objectives.registry import OBJECTIVES
from helpers.markdown import REFERENCE, ROOT, names_in, sections


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


# ── command line ─────────────────────────────────────────────────────────────────────────────────────


def command(name: str) -> click.Command:
    """A command by its name; one of a group is named with the group: ``hierarchy build``."""
    found: click.Command = cli
    for part in name.split(" "):
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), part)
        assert inner is not None
        found = inner
    return found


def every_command() -> Iterator[str]:
    for name in COMMANDS:
        yield name
        found = command(name)
        if isinstance(found, click.Group):
            yield from (f"{name} {inner}" for inner in found.list_commands(click.Context(found)))


def options_of(name: str) -> set[str]:
    return {
        flag
        for option in command(name).params
        if isinstance(option, click.Option)
        for flag in (*option.opts, *option.secondary_opts)
    }


def documented_for(name: str) -> str:
    """The command's own section and the shared ones that it links to."""
    found = sections(REFERENCE / "cli.md")
    own = found[f"discreet {name}"]
    return own + "".join(
        text for head, text in found.items() if f"(#{head.lower().replace(' ', '-')})" in own
    )


@pytest.mark.parametrize("name", list(every_command()))
def test_a_command_and_its_options(name: str) -> None:
    documented = set(re.findall(r"`(-{1,2}[a-z][a-z-]*)", documented_for(name))) - {
        "-h",
        "--help",
    }
    assert options_of(name) - documented == set(), f"options of `discreet {name}` that cli.md does not have"
    assert documented - options_of(name) == set(), f"options that `discreet {name}` does not have"


def test_exit_codes() -> None:
    rows = sections(REFERENCE / "cli.md")["Exit codes"]
    for code in (0, EXIT_NOT_MET, EXIT_BAD_INPUT, EXIT_INTERNAL, EXIT_CANCELLED):
        assert f"| {code} |" in rows


# ── files ────────────────────────────────────────────────────────────────────────────────────────────


def settings(model: type[BaseModel]) -> Iterator[str]:
    """The names of all settings of a file, those of nested tables included."""
    for name, field in model.model_fields.items():
        yield name
        for nested in re.findall(r"\w+Entry", str(field.annotation)):
            inner = getattr(policy_document, nested, None)
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from settings(inner)


def test_settings_of_the_policy_file() -> None:
    wanted = set(settings(policy_document.PolicyDocument))
    assert {"rating", "replication", "delimiter", "sampling_fraction", "role"} <= wanted
    documented = {part for name in names_in(page("policy-file.md")) for part in name.strip("[]").split(".")}
    assert wanted - documented == set()
    assert {*ROLES, *DATA_TYPES} - documented == set()


@pytest.mark.parametrize("name", BUILDERS)
def test_a_builder_of_hierarchies_and_its_parameters(name: str) -> None:
    rows = sections(REFERENCE / "policy-file.md")["Hierarchies"].splitlines()
    row = next(line for line in rows if line.startswith(f"| `{name}` |"))
    assert set(parameter_names(BUILDERS[name])) - names_in(row) == set()


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_perturbation_and_its_parameters(name: str) -> None:
    rows = sections(REFERENCE / "policy-file.md")["[[perturb]]"].splitlines()
    row = next(line for line in rows if line.startswith(f"| `{name}` |"))
    assert {field.name for field in dataclasses.fields(STEPS[name])} - names_in(row) == set()
    analyses = (ROOT / "docs" / "how-to" / "beyond-generalisation.md").read_text(encoding="utf-8")
    assert any(line.startswith("| `") and f"`{name}`" in line for line in analyses.splitlines())


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_with_its_thresholds_source_and_date(name: str) -> None:
    text = sections(REFERENCE / "profiles.md")[name]
    raw = tomllib.loads(
        (resources.files("discreet.release") / "profiles" / f"{name}.toml").read_text("utf-8")
    )
    assert raw["source"] in text
    assert raw["date"].isoformat() in text
    wanted = set(raw.get("rules", ()))
    wanted |= {
        f"{key} = {value}" for entry in raw.get("require", ()) for key, value in entry.items() if key in "kt"
    }
    wanted |= {entry["model"] for entry in raw.get("require", ())}
    wanted |= {f"at_most = {entry['at_most']}" for entry in raw.get("limit", ())}
    wanted |= {f"{key} = {value}" for key, value in raw.get("extended", {}).items() if key != "source"}
    assert wanted - names_in(text) == set()


def test_every_profile_that_is_documented_exists() -> None:
    heads = {head for head in sections(REFERENCE / "profiles.md") if re.fullmatch(r"[a-z0-9-]+", head)}
    assert heads == set(profile_names())


def test_settings_and_rules_of_a_profile_file() -> None:
    documented = names_in(page("profiles.md"))
    assert set(_ProfileFile.model_fields) - documented == set()
    assert {"risk", "statistic", "at_most", "low", "medium"} - documented == set()
    assert set(RULES) - documented == set()


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", MODELS)
def test_a_privacy_model_with_its_parameters_and_source(name: str) -> None:
    text = sections(REFERENCE / "measures.md")[name]
    parameters = {field.name for field in dataclasses.fields(MODELS[name]) if field.init}  # type: ignore[arg-type]
    documented = {entry.split(" ")[0] for entry in names_in(text)}
    assert parameters - documented == set()
    assert MODELS[name].__name__ in names_in(text)
    assert MODELS[name].source in text
    assert ("Not monotone" in text) != MODELS[name].monotone


def test_every_model_that_is_documented_exists() -> None:
    heads = {h for h, text in sections(REFERENCE / "measures.md").items() if text.startswith("### ")}
    assert set(MODELS) - heads == set()
    own = {"sample-uniques", "average-risk", "marketer", "share-above", "k-map", "delta-presence"}
    assert heads == set(MODELS) | own


@pytest.fixture(scope="module")
def audits() -> list[Audit]:
    """One audit at person level with weights, one at event level, both with a text and a number to hide."""
    rows = 60
    table = pa.table(
        {
            "who": [i // 2 for i in range(rows)],
            "age": [20 + i % 6 for i in range(rows)],
            "sex": ["f" if i % 3 else "m" for i in range(rows)],
            "ill": ["flu" if i % 4 else "cold" for i in range(rows)],
            "pay": [1000 + 37 * (i % 11) for i in range(rows)],
            "weight": [5.0] * rows,
        }
    )
    policy = discreet.Policy.of(quasi_identifiers=["age", "sex"], sensitive=["ill", "pay"])
    return [
        discreet.audit(table, policy.replace(weight="weight")),
        discreet.audit(table, policy.replace(sampling_fraction=0.1)),
        discreet.audit(table, policy.replace(person="who")),
    ]


def test_every_measure_that_an_audit_emits(audits: list[Audit]) -> None:
    emitted = {measure.name for audit in audits for measure in audit.measures}
    assert {"k-anonymity", "ordered-t-closeness", "h-affiliation", "worst-group-protection"} <= emitted
    assert emitted - names_in(page("measures.md")) == set()


def test_every_measure_shows_its_better_direction(audits: list[Audit]) -> None:
    rows = sections(REFERENCE / "measures.md")["Every measure of an audit"]
    for measure in {m.name: m for audit in audits for m in audit.measures}.values():
        row = next(line for line in rows.splitlines() if line.startswith(f"| `{measure.name}` |"))
        assert f"| {measure.better} |" in row, row


def test_every_risk_and_estimate_that_an_audit_emits(audits: list[Audit]) -> None:
    emitted = {risk.name for audit in audits for risk in audit.risks}
    emitted |= {estimate.name for audit in audits for estimate in audit.estimates}
    assert {"uniqueness", "journalist", "population uniqueness", "markov-model"} <= emitted
    assert emitted - names_in(page("risks.md")) == set()
    for risk in (risk for audit in audits for risk in audit.risks):
        told = sections(REFERENCE / "risks.md")[risk.name]
        assert ("Never decides" in told) != risk.decides


def test_every_part_of_the_exposure(audits: list[Audit]) -> None:
    exposure = audits[0].to_dict()["exposure"]
    assert isinstance(exposure, dict)
    assert set(exposure) - names_in(page("risks.md")) == set()
    assert set(exposure) - names_in(page("json.md")) == set()


@pytest.mark.parametrize("name", LOSSES)
def test_a_measure_of_loss_with_its_direction_range_and_source(name: str) -> None:
    text = (ROOT / "docs" / "explanation" / "utility.md").read_text(encoding="utf-8")
    row = next((line for line in text.splitlines() if line.startswith(f"| `{name}` |")), None)
    assert row is not None, f"utility.md has no row for {name}"
    formula, better, bounds, source = re.split(r"(?<!\\) \| ", row.removesuffix(" |"))[1:]
    definition = LOSSES[name].definition
    assert (formula.replace("\\|", "|"), better, bounds.replace("\\|", "|"), source) == (
        definition.formula,
        definition.better,
        definition.bounds,
        definition.source,
    )


def test_every_measure_of_loss_that_is_documented_exists() -> None:
    text = (ROOT / "docs" / "explanation" / "utility.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", text, re.MULTILINE)) == set(LOSSES)


def test_every_measure_of_loss_is_documented() -> None:
    modules = [
        distances,
        dependence,
        distributions,
        entropy,
        precision,
        class_sizes,
        marginals,
        moments,
        propensity,
        scaled,
        tradeoff,
        workload,
    ]
    found = {one.name for module in modules for one in vars(module).values() if isinstance(one, Definition)}
    for listed in (dependence.CHANGES, workload.MEDIANS, workload.MEANS):
        found |= {definition.name for definition in listed.values()}
    assert found == set(LOSSES)


# ── machines ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_keys_of_the_json(audits: list[Audit]) -> None:
    documented = {name.split(".")[-1] for name in names_in(page("json.md"))}
    emitted = audits[0].to_dict()
    verdict = emitted["verdict"]
    table = emitted["table"]
    assert isinstance(verdict, dict)
    assert isinstance(table, dict)
    wanted = {*emitted, *AUDIT_SCHEMA["properties"], *verdict, *verdict["criteria"][0], *table}
    wanted |= set(AUDIT_SCHEMA["properties"]["verdict"]["properties"]["decision"]["enum"])
    assert wanted - documented == set()


def test_every_schema_stands_with_the_commands_that_print_it() -> None:
    listed = page("json.md").partition("## Schemas")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", listed, re.MULTILINE))
    assert {name: told.replace("`", "") for name, told in rows.items()} == PRINTED_BY
    assert PRINTED_BY.keys() == SCHEMAS.keys()


def test_error_codes() -> None:
    source = Path(discreet.__file__).parent.rglob("*.py")
    codes = {
        code
        for path in source
        for code in re.findall(r'^    code = "([a-z-]+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert DiscreetError.code in codes
    rows = {found[1] for found in re.finditer(r"^\| `([a-z-]+)` \|", page("errors.md"), re.MULTILINE)}
    assert rows == codes


# ── Python ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", discreet.__all__)
def test_a_public_name_and_its_parameters(name: str) -> None:
    found = sections(REFERENCE / "python-api.md")
    assert name in found, f"python-api.md has no section {name}"
    public = getattr(discreet, name)
    if inspect.isfunction(public):
        documented = {entry.split("=")[0].split(":")[0] for entry in names_in(found[name])}
        assert set(inspect.signature(public).parameters) - documented == set()


def test_type_checkers_know_every_public_name() -> None:
    """What `discreet` imports when it is first asked for stands once more under ``TYPE_CHECKING``."""
    tree = ast.parse((ROOT / "src" / "discreet" / "__init__.py").read_text("utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {
        name.asname for node in ast.walk(checked) if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assigned = {node.targets[0].id for node in checked.body if isinstance(node, ast.Assign)}
    assert set(discreet.__all__) <= imported | assigned


def test_changelog_has_the_current_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    entry = sections(ROOT / "CHANGELOG.md")
    heads = [head for head in entry if head.split(" ")[0] == version]
    assert heads, f"CHANGELOG.md has no entry for {version}"
    assert "- " in entry[heads[0]]


def test_the_page_of_coverage_is_what_the_registries_say() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "coverage_page.py"))
    assert page("coverage.md") == tool["coverage"](), "run `python tools/coverage_page.py`"
    named = names_in(page("coverage.md"))
    assert {*MODELS, *LOSSES, *ATTACKS, *METHODS, *OBJECTIVES, *STEPS} <= named


def test_every_method_of_search_has_a_function_of_its_own_that_cites_its_source() -> None:
    rows = [line.split(" | ") for line in sections(REFERENCE / "coverage.md")["Methods"].splitlines()]
    entries = {row[0].strip("|` "): row[1:] for row in rows if row[0].startswith("| `")}
    assert {*METHODS} == entries.keys()
    places = [place for place, _ in entries.values()]
    assert len(set(places)) == len(places)
    assert all(re.search(r"\d{4}", cites) for _, cites in entries.values())


def test_the_readme_counts_what_the_registries_hold() -> None:
    what = sections(ROOT / "README.md")["What it does"]

    def told(pattern: str) -> tuple[int, int]:
        """How many stand there by name, apart by commas, and how many more."""
        named, more = re.search(rf"\| ([^|]+) and (\d+) {pattern}", what).groups()  # type: ignore[union-attr]
        return len(named.split(", ")), int(more)

    for pattern, many in (("more models", len(MODELS)), ("more attacks", len(ATTACKS))):
        assert sum(told(pattern)) == many, (
            f"README.md names another number of {pattern}: there are {many} in all"
        )
    assert f"{len(LOSSES)} measures" in what, f"README.md: there are {len(LOSSES)} measures"
