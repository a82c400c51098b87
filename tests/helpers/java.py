"""How Java runs for tests."""

from __future__ import annotations

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.sql.codegen.wholeStage=false -Dspark.sql.codegen.factoryMode=NO_CODEGEN"
"""Many small queries: a quick compiler and a collector without threads serve them better than thorough ones."""
