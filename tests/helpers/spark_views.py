"""What a session of Spark holds; by SQL, since its catalogue can list nothing where no code is generated (`helpers.java`)."""

from __future__ import annotations

from typing import Any


def names_of_views(session: Any) -> set[str]:
    """All views that a query without a database may name."""
    return {row.tableName for row in session.sql("SHOW TABLES").collect()}


def global_views(session: Any) -> set[str]:
    """Views that outlive their session; those of the session itself are listed with them and have no database."""
    return {row.viewName for row in session.sql("SHOW VIEWS IN global_temp").collect() if row.namespace}
