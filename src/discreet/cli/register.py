"""`discreet register`: what was published about the same people, so that the next release is judged with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from discreet.cli import EXIT_NOT_MET
from discreet.cli.command import StrictGroup
from discreet.cli.options import LANGUAGE, PATH, load_policy, print_json, read_key
from discreet.cli.streams import InputFile
from discreet.files.writing import write_text
from discreet.policy import Policy
from discreet.register import Register
from discreet.register.entry import RegisterEntry
from discreet.register.people import GroupedRows
from discreet.reports.certificate import render_certificate
from discreet.reports.console import Terminal
from discreet.reports.register import show_entries, show_entry
from discreet.reports.timeline import TITLE, drawing, show_timeline

DIR = click.argument("folder", metavar="DIR", type=PATH)
NUMBER = click.argument("number", type=click.IntRange(min=1))
JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group(cls=StrictGroup)
def register() -> None:
    """Keep what was published about the same people, to judge the next release together with it.

    DIR is a folder of plain files. It holds no row and no value: people and values are keyed hashes. Keep the key apart.
    """


@register.command()
@DIR
@click.argument("release", type=PATH)
@click.option(
    "--policy", "-p", "policy_file", type=InputFile(), required=True, help="Policy file of the release."
)
@click.option("--original", type=InputFile(), help="The table that the release was made from.")
@click.option("--person", metavar="COLUMN", help="Column of it that identifies people (else the policy's).")
@click.option("--key-file", type=PATH, help="File with the key of the register.")
@click.option("--audience", default="", help="For whom the release was made.", metavar="TEXT")
@click.option("--links", type=PATH, help="Of a release of `discreet republish`: which row is whose.")
@click.option("--group", default="group", show_default=True, help="The name of its groups' column.")
@JSON
def add(
    folder: Path,
    release: Path,
    policy_file: Path,
    original: Path | None,
    person: str | None,
    key_file: Path | None,
    audience: str,
    links: Path | None,
    group: str,
    as_json: bool,
) -> None:
    """Enter RELEASE, which is published, into the register in DIR."""
    entry = Register(folder).add(
        release,
        _policy(policy_file),
        original=original,
        person=person,
        key=read_key(key_file),
        audience=audience,
        groups=None if links is None else GroupedRows(group, links),
    )
    _print(_document([entry]), lambda: show_entry(entry), as_json=as_json)


@register.command("list")
@DIR
@JSON
def list_(folder: Path, as_json: bool) -> None:
    """List what was published, and what was withdrawn."""
    entries = Register(folder).entries()
    _print(_document(entries), lambda: show_entries(entries), as_json=as_json)


@register.command()
@DIR
@NUMBER
@JSON
def show(folder: Path, number: int, as_json: bool) -> None:
    """Show everything that is known about release NUMBER."""
    entry = Register(folder).show(number)
    _print(_document([entry]), lambda: show_entry(entry), as_json=as_json)


@register.command()
@DIR
@NUMBER
@click.option("--reason", required=True, help="Why.", metavar="TEXT")
@click.option("--unseen", is_flag=True, help="Nobody had received it: it no longer counts.")
@JSON
def withdraw(folder: Path, number: int, reason: str, unseen: bool, as_json: bool) -> None:
    """Enter that release NUMBER was withdrawn. It still counts, for who has it keeps it, unless nobody received it."""
    entry = Register(folder).withdraw(number, reason, unseen=unseen)
    _print(_document([entry]), lambda: show_entry(entry), as_json=as_json)


@register.command()
@DIR
@JSON
def check(folder: Path, as_json: bool) -> None:
    """Read everything in DIR and say whether it is as it was written."""
    entries = Register(folder).check()
    _print(_document(entries), lambda: show_entries(entries), as_json=as_json)


@register.command()
@DIR
@click.option("--chart", type=PATH, help="Also draw it into this SVG file.")
@JSON
def timeline(folder: Path, chart: Path | None, as_json: bool) -> None:
    """Show how the risk of people accumulates: what all releases up to each one leave possible for them. Needs no key."""
    laid_over = Register(folder).timeline()
    if chart is not None:
        write_text(chart, drawing(laid_over).standalone(title=TITLE))
    _print(laid_over.to_dict(), lambda: show_timeline(laid_over), as_json=as_json)


@register.command()
@DIR
@NUMBER
@click.option("--output", "-o", type=PATH, required=True, help="Where the page is written (HTML).")
@click.option("--release", type=PATH, help="A file that is to be the published one: end with 1 if it is not.")
@LANGUAGE
def certificate(folder: Path, number: int, output: Path, release: Path | None, language: str) -> int:
    """Write what is known about release NUMBER as one page: when, for whom, by which policy, and what all releases up to it
    leave open. Reads and checks everything in DIR; needs no key.
    """
    told = Register(folder).certificate(number, release=release)
    write_text(output, render_certificate(told, language=language))
    Terminal().print(f"Wrote the certificate of release {number} to {output.name}.")
    return EXIT_NOT_MET if told.unchanged is False else 0


def _policy(file: Path) -> Policy:
    policy = load_policy({"policy_file": file})
    assert policy is not None
    return policy


def _document(entries: Sequence[RegisterEntry]) -> dict[str, object]:
    return {"schema": "discreet-register-1", "entries": [entry.to_dict() for entry in entries]}


def _print(document: object, shown: Callable[[], Any], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        Terminal().print(shown())
