"""`discreet anonymize`, `discreet apply` and `discreet compare-methods`."""

from __future__ import annotations

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console

from discreet.cli.options import (
    load_policy,
    make_policy,
    open_table,
    reading_options,
    refuse_unwritable,
    role_options,
    split,
)
from discreet.cli.progress import progress
from discreet.errors import InvalidParameter
from discreet.plain import write_text
from discreet.policy import Policy
from discreet.policy.file import make_model
from discreet.policy.plan import METHODS, Numbers, Plan
from discreet.privacy import PrivacyModel
from discreet.release.anonymize import anonymize as run_anonymize
from discreet.release.apply import apply as run_apply
from discreet.release.apply import judged_by, policy_of
from discreet.release.release import Release
from discreet.release.write import check_target
from discreet.transform.recipe import Recipe

PLAN = [
    click.option("--method", type=click.Choice(METHODS), help="How to search (auto if not given)."),
    click.option("--objective", help="What to lose least of: loss, ncp, precision, discernibility … (loss)."),
    click.option(
        "--suppression",
        type=click.FloatRange(0, 1),
        help="Largest share of records that may be suppressed (0.2).",
    ),
    click.option("--keep", help="Quasi-identifiers that must stay as they are.", metavar="A,B,…"),
    click.option("--weights", help="How much attributes matter, e.g. age=2,sex=0.5.", metavar="A=W,…"),
    click.option(
        "--suppressed",
        type=click.Choice(["drop", "star"]),
        help="Leave suppressed records out, or show them with * (drop).",
    ),
    click.option(
        "--suppressed-numbers",
        type=click.Choice(get_args(Numbers)),
        help="What numbers of suppressed records show in place of *: a statistic of those released.",
    ),
    click.option(
        "--person-ids",
        type=click.Choice(["pseudonymise", "drop"]),
        help="Replace person ids by keyed hashes, or leave them out (pseudonymise).",
    ),
    click.option(
        "--seconds", type=click.FloatRange(0, min_open=True), help="Time limit of searches that can stop."
    ),
    click.option(
        "--sample", type=click.FloatRange(0, 1, min_open=True), help="Draw this share of the rows first (1)."
    ),
    click.option("--seed", type=click.IntRange(min=0), help="Which rows are drawn (1)."),
    click.option(
        "--suppress-values",
        multiple=True,
        help="A value that becomes * everywhere, e.g. 'town=Little Hope'. May be repeated.",
        metavar="A=VALUE",
    ),
    click.option(
        "--suppress-rare",
        help="Values of fewer records become *, e.g. town=20,job=5.",
        metavar="A=N,…",
    ),
    click.option("--suppress-attributes", help="Show these only as *.", metavar="A,B,…"),
    click.option("--drop-attributes", help="Quasi-identifiers to leave out.", metavar="A,B,…"),
    click.option(
        "--require",
        multiple=True,
        help="A further requirement, e.g. 'l-diversity l=3 sensitive=diagnosis'. May be repeated.",
        metavar="MODEL …",
    ),
]


def plan_options(command: Any) -> Any:
    """Add the options that say how to anonymise."""
    for option in reversed(PLAN):
        command = option(command)
    return command


def make_plan(policy: Policy, given: dict[str, Any]) -> Plan:
    """The policy's plan with what the command line says instead."""
    changed: dict[str, Any] = {}
    for key, option in (
        ("method", "method"),
        ("objective", "objective"),
        ("suppression_limit", "suppression"),
        ("suppressed", "suppressed"),
        ("suppressed_numbers", "suppressed_numbers"),
        ("person", "person_ids"),
        ("seconds", "seconds"),
        ("sample", "sample"),
        ("seed", "seed"),
    ):
        if given.get(option) is not None:
            changed[key] = given[option]
    for key in ("keep", "suppress_attributes", "drop_attributes"):
        if given.get(key) is not None:
            changed[key] = tuple(split(given[key]) or ())
    if given.get("suppress_rare") is not None:
        changed["suppress_rare"] = dict(_rare(part) for part in split(given["suppress_rare"]) or ())
    if given.get("suppress_values"):
        values: dict[str, tuple[str, ...]] = {}
        for text in given["suppress_values"]:
            name, mark, value = text.partition("=")
            if not mark:
                raise InvalidParameter(
                    "a value to suppress has no attribute", remedy="write attribute=value, e.g. town=Rome"
                )
            values[name.strip()] = (*values.get(name.strip(), ()), value)
        changed["suppress_values"] = values
    if given.get("weights") is not None:
        changed["weights"] = dict(_pair(part) for part in split(given["weights"]) or ())
    return dataclasses.replace(policy.plan, **changed)


def _pair(text: str) -> tuple[str, float]:
    name, mark, weight = text.partition("=")
    try:
        value = float(weight)
    except ValueError:
        value = -1.0
    if not mark or value < 0:
        raise InvalidParameter(f"{text!r} is not a weight", remedy="write name=number, e.g. age=2")
    return name.strip(), value


def _rare(text: str) -> tuple[str, int]:
    name, mark, least = text.partition("=")
    if not mark or not least.strip().isdecimal():
        raise InvalidParameter(
            f"{text!r} does not say below how many records a value is rare",
            remedy="write name=number, e.g. town=20",
        )
    return name.strip(), int(least)


def parse_requirement(text: str) -> PrivacyModel:
    """A model from ``l-diversity l=3 sensitive=diagnosis``.

    >>> parse_requirement("k-anonymity k=5").describe()
    'every class has at least 5 persons'
    """
    try:
        model, *rest = shlex.split(text)
    except ValueError:
        raise InvalidParameter(
            "a requirement is empty or has an open quote", remedy="write e.g. 'k-anonymity k=5'"
        ) from None
    entry: dict[str, object] = {"model": model}
    for part in rest:
        name, mark, value = part.partition("=")
        if not mark:
            raise InvalidParameter(f"{part!r} is not a parameter", remedy="write name=value, e.g. k=5")
        try:
            # The name of a column stays a text, also if it is a number.
            entry[name] = value if name == "sensitive" else json.loads(value)
        except ValueError:
            entry[name] = value
    return make_model(entry)


def settle(file: Path, given: dict[str, Any], tell: Any) -> tuple[Any, Policy, Plan, list[str]]:
    """Read the file and settle policy and plan."""
    written = load_policy(given)
    table = open_table(file, given, written)
    policy, assumed = make_policy(table, written, given, tell)
    policy = policy.require(*(parse_requirement(text) for text in given.get("require") or ()))
    return table, policy, make_plan(policy, given), assumed


@click.command()
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, help="Where the release is written."
)
@click.option("--report", "report_file", type=click.Path(path_type=Path), help="Also write an HTML report.")
@click.option(
    "--recipe", "recipe_file", type=click.Path(path_type=Path), help="Also write the recipe (.json or .toml)."
)
@click.option(
    "--key-file", type=click.Path(path_type=Path), help="File with the key for pseudonyms of person ids."
)
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def anonymize(
    file: Path,
    output: Path,
    report_file: Path | None,
    recipe_file: Path | None,
    key_file: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Write a release of FILE that meets the policy and its profile, at the least loss.

    The written file is read back and verified before it appears. Exit code 1 if the goal cannot be reached:
    then no file is written.
    """
    check_target(output)
    _refuse_targets(file, output, report_file, recipe_file)
    key = _key(key_file)
    with progress(quiet=quiet or as_json) as tell:
        tell(f"reading {file.name}")
        table, policy, plan, assumed = settle(file, given, tell)
        release = run_anonymize(table, policy, plan=plan, key=key, progress=tell)
        release = dataclasses.replace(release, notes=(*release.notes, *assumed))
        tell("writing and verifying")
        release.save(output, report=report_file, recipe=recipe_file)
    _tell(release, as_json=as_json, quiet=quiet, files=[output, report_file, recipe_file])


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path, readable=False))
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, help="Where the release is written."
)
@click.option(
    "--unseen",
    type=click.Choice(["refuse", "suppress"]),
    default="refuse",
    show_default=True,
    help="What to do with values that the recipe does not know.",
)
@click.option(
    "--key-file", type=click.Path(path_type=Path), help="File with the key for pseudonyms of person ids."
)
@role_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def apply(
    recipe: Path,
    file: Path,
    output: Path,
    unseen: str,
    key_file: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Apply RECIPE to the rows of FILE and write them, verified like any release.

    Name the policy under which the recipe was made (--policy), so that the same is asked of these rows; without
    one, what the recipe itself says is asked, and what the profile asks by which its release was judged.
    """
    check_target(output)
    _refuse_targets(file, output)
    known = Recipe.load(recipe)
    known = dataclasses.replace(known, unseen="suppress" if unseen == "suppress" else "refuse")
    with progress(quiet=quiet or as_json) as tell:
        tell(f"reading {file.name}")
        named = load_policy(given)
        written = named or policy_of(known)
        table = open_table(file, given, written)
        policy, _ = make_policy(table, written, given, tell)
        release = run_apply(known, table, policy, key=_key(key_file), progress=tell)
        if named is None and given.get("profile") is None:
            release = dataclasses.replace(release, notes=(judged_by(policy), *release.notes))
        tell("writing and verifying")
        release.save(output)
    _tell(release, as_json=as_json, quiet=quiet, files=[output])


def _refuse_targets(file: Path, *targets: Path | None) -> None:
    for target in filter(None, targets):
        refuse_unwritable(target, file)


def _key(file: Path | None) -> str | None:
    """The key for pseudonyms, from a file so that it never stands on a command line."""
    if file is None:
        return None
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            f"the key file {file.name} could not be read", remedy="check the path"
        ) from None
    if len(key) < 16:
        raise InvalidParameter(
            f"the key in {file.name} is shorter than 16 characters", remedy="use a long random text"
        )
    return key


def _tell(release: Release, *, as_json: bool, quiet: bool, files: list[Path | None]) -> None:
    if as_json:
        click.echo(json.dumps(release.to_dict(), ensure_ascii=False, indent=2))
    elif not quiet:
        from discreet.reports.release.terminal import show_release

        console = Console(highlight=False)
        console.print(show_release(release))
        for path in filter(None, files):
            console.print(f"Wrote [bold]{path}[/bold]", soft_wrap=True)


@click.command("compare-methods")
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option("--methods", help="Methods to compare (all that fit, if not given).", metavar="A,B,…")
@click.option("--chart", type=click.Path(path_type=Path), help="Write risk against loss as an SVG picture.")
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare_methods(file: Path, methods: str | None, chart: Path | None, as_json: bool, **given: Any) -> None:
    """Anonymise FILE by several methods and show risk against loss. Writes no release."""
    from discreet.release.frontier import compare_methods as run_compare_methods
    from discreet.reports.charts.points import chart_of_methods
    from discreet.reports.release.terminal import show_methods

    _refuse_targets(file, chart)
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        table, policy, plan, _ = settle(file, given, tell)
        found = run_compare_methods(table, policy, plan=plan, methods=split(methods), progress=tell)
        if chart is not None:
            write_text(chart, chart_of_methods(found))
    if as_json:
        click.echo(json.dumps([outcome.to_dict(setting=False) for outcome in found], indent=2))
    else:
        Console(highlight=False).print(show_methods(found))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@role_options
@plan_options
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the advice as JSON.")
def recommend(file: Path, as_json: bool, **given: Any) -> None:
    """Say the smallest changes under which every requirement holds for FILE, and what each requirement costs."""
    from discreet.release.recommend import recommend as run_recommend
    from discreet.reports.release.terminal import show_advice

    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        table, policy, plan, _ = settle(file, given, tell)
        found = run_recommend(table, policy, plan=plan, progress=tell)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
    else:
        Console(highlight=False).print(show_advice(found))
