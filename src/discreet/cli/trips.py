"""`discreet trips`: rows of events as trips, one row each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.command import StrictCommand
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options, refuse_unwritable, say
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.errors import InvalidParameter
from discreet.release.trips import GAP, SUMMARIES, merge_events
from discreet.sentences import Sentence


@click.command(cls=StrictCommand)
@FILE
@click.option("--output", "-o", type=PATH, required=True, help="Where the trips are written.")
@click.option("--person", required=True, help="Column that says whose event a row is.", metavar="COLUMN")
@click.option("--time", required=True, help="Column that says when it was.", metavar="COLUMN")
@click.option(
    "--gap",
    type=float,
    default=GAP,
    show_default=True,
    help="Minutes without an event after which a new trip begins.",
    metavar="MINUTES",
)
@click.option("--within", help="Columns whose change begins a new trip, too.", metavar="A,B,…")
@click.option(
    "--take",
    multiple=True,
    help=f"What a trip shows of a column, such as 'speed=mean,maximum': {', '.join(SUMMARIES)}. May be repeated.",
    metavar="COLUMN=HOW,…",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@reading_options
def trips(
    file: Path,
    output: Path,
    person: str,
    time: str,
    gap: float,
    within: str | None,
    take: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> None:
    """Merge consecutive rows of a person in FILE into one row per trip, before anything is judged or released.

    The trips are not anonymous: audit and anonymise them, with the same column as --person.
    """
    refuse_unwritable(output)
    with progress(quiet=as_json) as tell:
        made = merge_events(
            open_table(file, given),
            person=person,
            time=time,
            gap=gap,
            within=split(within) or (),
            take=_taken(take),
            progress=tell,
        )
        tell("writing")
        made.save(output)
    if as_json:
        print_json(made.to_dict())
        return
    for note in made.notes:
        say(note)
    say(f"Wrote {output}")


def _taken(entries: tuple[str, ...]) -> dict[str, Any]:
    """Columns with what is taken of each."""
    taken: dict[str, Any] = {}
    for entry in entries:
        name, sign, ways = entry.rpartition("=")
        if not sign or not name or name in taken:
            raise InvalidParameter(
                "--take names a column twice" if name in taken else "--take says of no column what is taken",
                remedy=Sentence("write --take 'speed=mean,maximum', with {ways}", ways=SUMMARIES),
            )
        taken[name] = split(ways) or ()
        if len(taken[name]) == 1:
            [taken[name]] = taken[name]
    return taken
