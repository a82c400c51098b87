"""`discreet stream`: records from standard input, published in clusters after a bounded wait."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import click
import pyarrow as pa

from discreet.cli.command import StrictCommand
from discreet.cli.options import PATH, load_policy
from discreet.errors import UnreadableInput
from discreet.release.stream import LINKED, Record, RecordStream, refuse_ragged
from discreet.reports.console import Terminal

NO_HEADER = "standard input has no header"
SEND = "send a header and lines of comma-separated values, or a stream of Arrow with --format arrow"


@click.command(cls=StrictCommand)
@click.option("--policy", "-p", "policy_file", type=PATH, required=True, help="Policy file with the roles.")
@click.option("--k", type=click.IntRange(min=2), required=True, help="So many people in every cluster.")
@click.option(
    "--l",
    "diversity",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="So many values of every sensitive attribute in it.",
)
@click.option("--delay", type=click.IntRange(min=2), required=True, help="At most so many records wait.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "arrow"]),
    default="csv",
    show_default=True,
    help="What is read and written: lines with a header, or Arrow's format of streams.",
)
@click.option("--quiet", "-q", is_flag=True, help="Do not say at the end what was published.")
def stream(policy_file: Path, k: int, diversity: int, delay: int, kind: str, quiet: bool) -> None:
    """Read records from standard input and write them to standard output in clusters of people who look alike.

    A record is published with those that are nearest to it, at the latest when DELAY others came after it. What cannot be
    grouped, at the end too, is suppressed and counted. Every cluster is verified before it is written.
    """
    policy = load_policy({"policy_file": policy_file})
    assert policy is not None
    names, records = _arrow_records() if kind == "arrow" else _lines()
    records_stream = RecordStream(policy, names, k=k, delay=delay, l=diversity)
    output: Output = (
        _ArrowOutput(records_stream.columns) if kind == "arrow" else _LineOutput(records_stream.columns)
    )
    for record in records:
        output.write(records_stream.push(record))
    for rows in records_stream.finish():
        output.write(rows)
    output.close()
    if not quiet:
        told = Terminal(stderr=True)
        told.print(
            f"{records_stream.published:,} records published in {records_stream.clusters:,} clusters, {records_stream.suppressed:,} suppressed",
            soft_wrap=True,
        )
        told.print(LINKED, soft_wrap=True)


def _lines() -> tuple[list[str], Iterator[Record]]:
    """The header of the lines of standard input, and the records as they come; cells without content are missing."""
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    reader = csv.reader(text)

    def told() -> Iterator[list[str]]:
        try:
            yield from reader
        except (UnicodeDecodeError, csv.Error):
            raise UnreadableInput("standard input is no text in UTF-8", remedy=SEND) from None

    lines = told()
    header = next(lines, None)
    if not header:
        raise UnreadableInput(NO_HEADER, remedy=SEND)

    def records() -> Iterator[Record]:
        for cells in lines:
            if cells:
                refuse_ragged(header, cells, reader.line_num)
                yield {name: cell or None for name, cell in zip(header, cells, strict=True)}

    return header, records()


def _arrow_records() -> tuple[list[str], Iterator[Record]]:
    """The columns of a stream of Arrow, and its records as texts."""
    try:
        reader = pa.ipc.open_stream(sys.stdin.buffer)
    except (pa.ArrowException, OSError):
        raise UnreadableInput("standard input is no stream of Arrow", remedy=SEND) from None

    def records() -> Iterator[Record]:
        try:
            for batch in reader:
                texts = pa.record_batch(
                    [column.cast(pa.string()) for column in batch.columns], names=batch.schema.names
                )
                yield from texts.to_pylist()
        except (pa.ArrowException, OSError):
            raise UnreadableInput(
                "the stream of Arrow breaks off, or has values that are no texts, numbers or dates",
                remedy="send it whole, with one value in every cell",
            ) from None

    return reader.schema.names, records()


class Output(Protocol):
    """Where clusters go."""

    def write(self, rows: Sequence[Record]) -> None: ...

    def close(self) -> None: ...


class _LineOutput:
    """Lines of comma-separated values, cluster by cluster."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._text = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.DictWriter(self._text, columns, lineterminator="\n")
        self._writer.writeheader()

    def write(self, rows: Sequence[Record]) -> None:
        self._writer.writerows(rows)
        self._text.flush()

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


class _ArrowOutput:
    """A batch of a stream of Arrow for every cluster."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._schema = pa.schema([(name, pa.string()) for name in columns])
        self._writer = pa.ipc.new_stream(sys.stdout.buffer, self._schema)

    def write(self, rows: Sequence[Record]) -> None:
        if rows:
            self._writer.write_batch(
                pa.RecordBatch.from_pylist([dict(row) for row in rows], schema=self._schema)
            )
            sys.stdout.buffer.flush()

    def close(self) -> None:
        self._writer.close()
