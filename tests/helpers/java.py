"""How Java runs for tests."""

from __future__ import annotations

QUICK_JAVA = " ".join(
    (
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote",
        "-Dspark.sql.codegen.wholeStage=false",
        "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
    )
)
"""Many small queries: a quick compiler and a collector without threads serve them better than thorough ones, and the
thousands of Spark's own classes are taken as they are."""
