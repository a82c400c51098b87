"""Whatever is sent to the REST interface by its own description: no server error, and answers as described."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from helpers.server import Program, wait_for

pytest_plugins = ("helpers.server",)
EXAMPLES = 6
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
TABLE = "age,sex,illness\n" + "".join(
    f"{30 + i % 5},{'fm'[i % 2]},{('flu', 'cold', 'gout')[i % 3]}\n" for i in range(200)
)


def judged(home: Program) -> dict[str, str]:
    """A table with a verdict and a release, and the job that found the verdict."""
    table = home.client.post("/api/v1/tables", params={"name": "people.csv"}, content=TABLE).json()["id"]

    def done(kind: str) -> str | None:
        jobs = home.client.get(f"/api/v1/tables/{table}").json()["jobs"]
        return next((one["id"] for one in jobs if (one["kind"], one["state"]) == (kind, "done")), None)

    audit = wait_for(lambda: done("audit"))
    home.client.post(f"/api/v1/tables/{table}/jobs/anonymize", json={"suppression_limit": 0.5})
    wait_for(lambda: done("anonymize"))
    return {"table": table, "job": audit, "what": "release"}


def attacked(
    operation: schemathesis.APIOperation, real: dict[str, str], headers: dict[str, str]
) -> list[int]:
    """Send an operation what its description allows, to a real table and to made-up ones; the statuses."""
    statuses = []
    kept = {} if operation.method.upper() == "DELETE" else real

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(), at_real=st.sampled_from([True, True, False]))
    def send(case: schemathesis.Case, at_real: bool) -> None:
        if at_real and case.path_parameters:
            case.path_parameters = {
                name: kept.get(name, value) for name, value in case.path_parameters.items()
            }
        answer = case.call_and_validate(headers=headers, checks=CHECKS)
        statuses.append(answer.status_code)

    send()
    return statuses


def test_no_server_error_and_answers_as_described(own_home: Program) -> None:
    headers = {"authorization": own_home.client.headers["authorization"]}
    address = str(own_home.client.base_url).rstrip("/")
    described = schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", headers=headers)
    real = judged(own_home)
    found, wrong = {}, []
    for one in described.get_all_operations():
        operation = one.ok()
        try:
            found[operation.label] = attacked(operation, real, headers)
        except BaseExceptionGroup as error:
            wrong.append(f"{operation.label}: {error!r} {[str(part) for part in error.exceptions]}")
    assert wrong == [], "\n\n".join(wrong)
    assert len(found) >= 15
    # What was sent did reach the real table, and not only the door.
    for label, statuses in found.items():
        if "{" in label and not label.startswith("DELETE"):
            assert any(status != 404 for status in statuses), label
    assert own_home.client.get(f"/api/v1/tables/{real['table']}").status_code == 200
    assert own_home.process.poll() is None
