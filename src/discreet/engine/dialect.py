"""How the SQL dialects differ. All other SQL is common to them."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.table import Column


@dataclass(frozen=True)
class SqlDialect:
    """Names and functions that DuckDB, Spark and PostgreSQL spell differently."""

    quote_mark: str
    text: str
    infinite: str
    nan: str
    sorted_list: str
    matches: str
    sample: str
    row_number: str
    keyed_hash: str
    drawn: str
    """Whether values belong to the one in so many that are drawn by their hash."""
    own_hash: str
    """The engine's own hash of values, which is fast and differs between engines; nothing if it cannot tell nulls apart."""
    label_number: str = ""
    """The number of a label, where the engine keeps numbers in place of labels."""
    timestamp: str = "TIMESTAMP"
    double: str = "DOUBLE"
    number: str = "TRY_CAST({text} AS DOUBLE)"
    """A text as a number, or null."""
    text_order: str = "{value}"
    """Texts as they are put in order: by their bytes."""
    estimates: bool = True
    """Whether distinct values of many rows are estimated."""
    as_text: tuple[str, ...] = ()
    """Types whose values are read as text: no file of a release holds them, or nothing tells how to print them."""
    backslash: str = "\\"
    """How a backslash is written inside a text constant."""

    def quote(self, identifier: str) -> str:
        """The one way an identifier gets into SQL.

        >>> DUCKDB.quote('the "odd" one')
        '"the ""odd"" one"'
        """
        mark = self.quote_mark
        return f"{mark}{identifier.replace(mark, mark * 2)}{mark}"

    def value(self, column: Column, prefix: str = "") -> str:
        """A column's value as it is grouped and compared: no NaN, no negative zero, lists as sorted text."""
        name = prefix + self.quote(column.name)
        if column.storage == "float":
            number = f"CAST({name} AS {self.double}) + CAST(0 AS {self.double})"
            return f"(CASE WHEN {self.nan.format(name=name)} THEN NULL ELSE {number} END)"
        if column.storage == "list":
            return self.sorted_list.format(name=name)
        if column.storage == "other":
            return f"CAST({name} AS {self.text})"
        return name

    def cell(self, column: Column, type_name: str) -> str:
        """A column as it is read: NaN, which some files and frames have for what is missing, is a null."""
        name = self.quote(column.name)
        if type_name.startswith(self.as_text):
            return f"CAST({name} AS {self.text}) AS {name}"
        if column.storage != "float":
            return name
        return f"(CASE WHEN {self.nan.format(name=name)} THEN NULL ELSE {name} END) AS {name}"

    def literal(self, text: str) -> str:
        """A text constant (missing marks and the like; never a cell value)."""
        return "'" + text.replace("\\", self.backslash).replace("'", "''") + "'"

    def type(self, name: str) -> str:
        """A type of the shared SQL; a timestamp is a reading of clock and calendar, without a time zone."""
        return self.timestamp if name == "TIMESTAMP" else name


DUCKDB = SqlDialect(
    quote_mark='"',
    text="VARCHAR",
    infinite="isinf({name})",
    # Statistics of a Parquet file leave NaN out, and DuckDB would conclude from them that there is none.
    nan="isnan(TRY({name}))",
    sorted_list="array_to_string(list_sort(CAST({name} AS VARCHAR[])), ', ')",
    matches="regexp_full_match({value}, {pattern})",
    sample="SELECT * FROM {relation} USING SAMPLE reservoir({rows} ROWS) REPEATABLE (1)",
    row_number="row_number() OVER ()",
    keyed_hash="sha256({key} || sha256({key} || {value}))",
    drawn="hash({values}) % {of} = 0",
    own_hash="hash({values})",
    label_number="enum_code({name})",
    as_text=("INTERVAL", "BLOB", "BIT"),
)

SPARK = SqlDialect(
    quote_mark="`",
    text="STRING",
    infinite="({name} = double('infinity') OR {name} = double('-infinity'))",
    nan="isnan({name})",
    sorted_list="array_join(sort_array(CAST({name} AS ARRAY<STRING>)), ', ')",
    # Java's $ also matches before a line end; \\z matches at the end only.
    matches=r"{value} RLIKE ('\\A(' || {pattern} || ')\\z')",
    sample="SELECT * FROM {relation} ORDER BY rand(1) LIMIT {rows}",
    row_number="monotonically_increasing_id()",
    keyed_hash="sha2({key} || sha2({key} || {value}, 256), 256)",
    drawn="pmod(xxhash64({values}), {of}) = 0",
    # Its own takes a null for nothing at all.
    own_hash="",
    timestamp="TIMESTAMP_NTZ",
    as_text=("interval",),
    backslash="\\\\",
)

POSTGRES = SqlDialect(
    quote_mark='"',
    text="TEXT",
    infinite="({name} = 'Infinity' OR {name} = '-Infinity')",
    nan="({name} = 'NaN')",
    sorted_list="CAST({name} AS TEXT)",
    matches="{value} ~ ('^(' || {pattern} || ')$')",
    sample="SELECT * FROM {relation} AS r ORDER BY md5(CAST(r AS TEXT)) LIMIT {rows}",
    row_number="row_number() OVER ()",
    keyed_hash="encode(sha256(convert_to({key} || encode(sha256(convert_to({key} || {value}, 'UTF8')), 'hex'), 'UTF8')), 'hex')",
    drawn="hashtextextended(concat_ws('|', {values}), 0) % {of} = 0",
    own_hash="",
    double="DOUBLE PRECISION",
    number=(
        "(CASE WHEN {text} ~ '^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?[[:space:]]*$' "
        "THEN CAST({text} AS DOUBLE PRECISION) END)"
    ),
    text_order='{value} COLLATE "C"',
    estimates=False,
)
