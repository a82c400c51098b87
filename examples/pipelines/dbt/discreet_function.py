"""The gate as a function of SQL: ``discreet_obstacles(table, policy)`` gives what stands in the way of a release."""

import weakref

import duckdb

import discreet


def register(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the function known to a connection."""
    asking = weakref.ref(
        connection
    )  # the connection holds the function: holding it too would keep it open for ever

    def obstacles(table: str, policy: str) -> list[str]:
        # A cursor of its own: the connection is busy with the query that asks. Rows are read by DuckDB, where they lie.
        with asking().cursor() as cursor:
            verdict = discreet.check(cursor.sql(f"from {table}"), policy)
        return [f"{obstacle.description}; found {obstacle.found}" for obstacle in verdict.obstacles]

    # With side effects: asked once for each query, not while the query is planned.
    connection.create_function(
        "discreet_obstacles", obstacles, ["VARCHAR", "VARCHAR"], "VARCHAR[]", side_effects=True
    )
