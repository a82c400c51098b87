"""What the data are: tables, columns, domains, roles, and what columns tell about people."""

from discreet.table.column import DATA_TYPES, Column, ColumnProfile, DataType
from discreet.table.domain import MISSING_MARKS, Domain
from discreet.table.table import Lease, Source, Table

__all__ = [
    "DATA_TYPES",
    "MISSING_MARKS",
    "Column",
    "ColumnProfile",
    "DataType",
    "Domain",
    "Lease",
    "Source",
    "Table",
]
