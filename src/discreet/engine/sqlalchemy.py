"""Tables of any database that SQLAlchemy reaches: their rows as Arrow batches, streamed from a cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.errors import DiscreetError, MissingDependency, UnreadableInput, UnsuitableColumn
from discreet.files.addresses import DatabaseAddress
from discreet.files.reading import check_regular
from discreet.sentences import Sentence

BATCH_ROWS = 50_000


def sql_batches(address: DatabaseAddress) -> pa.RecordBatchReader:
    """The rows of a table or view: numbers, dates and truth values as what they are, decimals as doubles, all else as texts."""
    try:
        import sqlalchemy
    except ImportError:
        raise MissingDependency(
            "reading this database needs SQLAlchemy",
            remedy='pip install "discreet[sql]", and the driver of the database',
        ) from None
    engine = _engine(address)
    *schema, name = address.table
    with _told(address):
        inspector = sqlalchemy.inspect(engine)
        try:
            described = inspector.get_columns(name, schema=schema[0] if schema else None)
        except sqlalchemy.exc.NoSuchTableError:
            described = []
    if not described:
        raise UnreadableInput(
            Sentence("the database has no table {name}", name=address.name),
            remedy="check its name after the #",
        )
    kinds = [_kind(column["type"]) for column in described]
    fields = pa.schema([(column["name"], kind) for column, (kind, _) in zip(described, kinds, strict=True)])
    columns = (sqlalchemy.column(column["name"], column["type"]) for column in described)
    table = sqlalchemy.table(name, *columns, schema=schema[0] if schema else None)

    def batches() -> Iterator[pa.RecordBatch]:
        with _told(address), engine.connect() as connection:
            rows = connection.execution_options(yield_per=BATCH_ROWS).execute(sqlalchemy.select(table))
            for chunk in rows.partitions():
                read = zip(zip(*chunk, strict=True), kinds, strict=True)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([None if value is None else plain(value) for value in values], kind)
                        for values, (kind, plain) in read
                    ],
                    schema=fields,
                )

    return pa.RecordBatchReader.from_batches(fields, batches())


def _engine(address: DatabaseAddress) -> Any:
    """What reaches the database; nothing is asked of it yet."""
    import sqlalchemy

    try:
        place = sqlalchemy.make_url(address.database)
        if place.get_backend_name() == "sqlite" and place.database:
            # SQLite would make the file that is not there, and wait for a pipe.
            check_regular(Path(place.database))
        # An engine may take the batches in a thread of its own, one after the other, which only SQLite must be told.
        threads = {"check_same_thread": False} if address.startswith("sqlite+") else {}
        return sqlalchemy.create_engine(
            address.database, poolclass=sqlalchemy.pool.NullPool, connect_args=threads
        )
    except DiscreetError:
        raise
    except ImportError:
        raise MissingDependency(
            "the driver of this database is not installed",
            remedy="install it with pip, or name another one as in mysql+pymysql://…",
        ) from None
    except Exception:
        # Ports that are no numbers, and whatever a dialect thinks of an address.
        raise UnreadableInput(
            "the address is none that SQLAlchemy knows",
            remedy="write it as in mysql+pymysql://user@host/database#table, or install what adds this database",
        ) from None


@contextmanager
def _told(address: DatabaseAddress) -> Iterator[None]:
    """What goes wrong is told without the words of the database, which may hold cells, users and passwords."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception:
        # Drivers raise what they like, with the cell that they stumbled over.
        raise UnreadableInput(
            Sentence("{name} could not be read from the database", name=address.name),
            remedy="check host, name of the database, user and password in the address, and that the table may be read",
        ) from None


def _kind(type_: Any) -> tuple[pa.DataType, Callable[[Any], object]]:
    """The type of a column, and what becomes of its values."""
    from sqlalchemy import types

    for kinds, kind, plain in (
        (types.Boolean, pa.bool_(), bool),
        (types.Integer, pa.int64(), int),
        ((types.Numeric, types.Float), pa.float64(), _double),
        (types.Date, pa.date32(), _itself),
        (types.DateTime, pa.timestamp("us"), _moment),
    ):
        if isinstance(type_, kinds):
            return kind, plain
    return pa.string(), _text


def _itself(value: object) -> object:
    return value


def _double(value: Decimal | float) -> float:
    """A decimal as a double; whole numbers that differ must not become the same one."""
    number = float(value)
    if value != number and value == int(value):
        raise UnsuitableColumn(
            "a column of the database holds whole numbers with more digits than a double keeps",
            remedy="read a view that shows them as texts",
        )
    return number


def _moment(value: datetime) -> datetime:
    """A moment by the clock of UTC, where it says which clock it is by."""
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
