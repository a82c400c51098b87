"""What dbt-duckdb loads: every connection gets the function that the test asks."""

from dbt.adapters.duckdb.plugins import BasePlugin
from discreet_function import register


class Plugin(BasePlugin):
    def configure_connection(self, conn):
        register(conn)
