"""The published JSON schemas: what `--json` prints, and what `discreet schema NAME` says about it."""

from discreet.reports.schema import private as private
from discreet.reports.schema import related as related
from discreet.reports.schema.audit import AUDIT_SCHEMA
from discreet.reports.schema.documents import PRINTED_BY, SCHEMAS

__all__ = ["AUDIT_SCHEMA", "PRINTED_BY", "SCHEMAS"]
