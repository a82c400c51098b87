"""How a source is to be read. The ``[read]`` part of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Decimal = Literal[".", ","]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source. ``None`` means: find out, and say what was found.

    What the fields say about type, range and meaning holds for the policy file, the command line, the REST
    interface and the page, which are made from them.
    """

    rows: Annotated[int | None, Field(ge=1, description="look only at so many rows, the first ones")] = None
    delimiter: Annotated[str | None, Field(description="field separator of a text file")] = None
    quote: Annotated[str | None, Field(description="quote character of a text file")] = None
    encoding: Annotated[str | None, Field(description="encoding of a text file, e.g. cp1252")] = None
    header: Annotated[bool | None, Field(description="whether the first line holds the column names")] = None
    header_row: Annotated[
        int | None,
        Field(ge=1, description="line of the column names, counted from 1; what is above is skipped"),
    ] = None
    skip_rows: Annotated[int | None, Field(ge=0, description="so many lines above the table are skipped")] = (
        None
    )
    skip_last: Annotated[int | None, Field(ge=0, description="so many lines below the table are skipped")] = (
        None
    )
    decimal: Annotated[Decimal | None, Field(description="decimal mark")] = None
    sheet: Annotated[str | None, Field(description="sheet of a spreadsheet")] = None
    missing: Annotated[tuple[str, ...], Field(description="texts to read as null, e.g. '?'")] = ()
    names: Annotated[tuple[str, ...] | None, Field(description="column names")] = None
    expected: tuple[str, ...] = ()
    """Column names that the policy knows: a line that holds them is the header. No setting: the policy says it."""

    def given(self) -> dict[str, object]:
        """What is not left to be found out, as a policy file has it.

        >>> ReadOptions(delimiter=";", missing=("?",)).given()
        {'delimiter': ';', 'missing': ['?']}
        """
        said = {
            name: value
            for name, value in vars(self).items()
            if value not in (None, ()) and name != "expected"
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}
