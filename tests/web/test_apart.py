"""Releases that cut ties, over REST: buckets and fragments, by the policy of the case."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZipFile

import pytest

pytest.importorskip("fastapi")

import pyarrow.csv
from starlette.testclient import TestClient

from discreet.web.service import Service
from helpers.server import ended

pytest_plugins = ("helpers.server",)
ILLS = ("flu", "cold", "gout", "acne")
TABLE = "age,town,job,ill\n" + "".join(f"{20 + i % 30},t{i % 4},j{i % 5},{ILLS[i % 4]}\n" for i in range(120))
POLICY = """profile = "research-partner-5"
unknown = "drop"
[columns]
age = {role = "quasi-identifier"}
town = {role = "quasi-identifier"}
job = {role = "quasi-identifier"}
ill = {role = "sensitive"}
[[require]]
model = "l-diversity"
l = 3
kind = "simple"
sensitive = "ill"
"""


def test_buckets_and_fragments_are_made_and_fetched(
    client: TestClient, service: Service, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    table = client.post("/api/v1/tables/from-path", json={"path": str(tmp_path / "people.csv")}).json()["id"]
    assert ended(service, table, "read") == "done"
    home = f"/api/v1/tables/{table}"
    sent = client.put(f"{home}/policy", content=POLICY, headers={"content-type": "application/toml"})
    assert sent.status_code == 200, sent.text
    started = client.post(f"{home}/jobs/bucketize", json={"column": "room"})
    assert started.status_code == 202, started.text
    assert ended(service, table, "bucketize") == "done"
    rows, values = (
        pyarrow.csv.read_csv(io.BytesIO(client.get(f"{home}/downloads/{name}").content))
        for name in ("bucket-rows", "bucket-values")
    )
    assert set(rows.column_names) == {"age", "town", "job", "room"}
    assert rows.num_rows == 120
    assert set(values["ill"].to_pylist()) == set(ILLS)
    # Fragments leave values as they are, so that no model may be required of them.
    client.put(
        f"{home}/policy",
        content=POLICY.partition("[[require]]")[0],
        headers={"content-type": "application/toml"},
    )
    asked = {"confidential": [["age", "ill"]], "loose": 2}
    assert client.post(f"{home}/jobs/fragment", json=asked).status_code == 202
    assert ended(service, table, "fragment") == "done"
    with ZipFile(io.BytesIO(client.get(f"{home}/downloads/fragments").content)) as archive:
        heads = [set(archive.read(name).decode().split("\n")[0].split(",")) for name in archive.namelist()]
    assert len(heads) == 2
    assert not any({'"age"', '"ill"'} <= head for head in heads)
    assert client.post(f"{home}/jobs/fragment", json={"fragments": 1}).status_code == 422
