"""Who may come in: token, Host, Origin, and what every response forbids the browser."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

from discreet.web.service import Service
from discreet.web.settings import Settings
from helpers.server import wait_for

pytest_plugins = ("helpers.server",)
OTHERS = [
    "evil.example",
    "evil.example:8477",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1.evil.example:8477",
    "",
    "[::1]:8477",
]


@pytest.mark.parametrize("path", ["/", "/case/x", "/static/page.js", "/api/v1/openapi.json", "/nowhere"])
def test_nothing_is_answered_without_the_token(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert "token" in answer.text
    if path.startswith("/api/"):
        assert set(answer.json()) == {"code", "message", "remedy"}
    else:
        assert answer.text.startswith("<!doctype html>")


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer wrong"},
        {"authorization": "Bearer "},
        {"authorization": "Basic x"},
        {"cookie": "discreet-8477=wrong"},
        {"cookie": "discreet-8477="},
        {"cookie": '=;;"'},
    ],
)
def test_a_wrong_token_opens_nothing(stranger: TestClient, headers: dict[str, str]) -> None:
    assert stranger.get("/api/v1/openapi.json", headers=headers).status_code == 401


def test_a_wrong_token_in_the_address_gives_no_cookie(stranger: TestClient, service: Service) -> None:
    for token in ("wrong", "", service.settings.token[:-1], service.settings.session):
        answer = stranger.get("/", params={"token": token})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


def test_the_token_is_exchanged_for_a_strict_cookie(stranger: TestClient, service: Service) -> None:
    answer = stranger.get(service.settings.door)
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert service.settings.token not in cookie + answer.text
    # The browser sends it to this path only, which no other server of this machine can guess.
    assert f"Path={service.settings.path};" in f"{cookie};"
    assert len(service.settings.path) >= 43
    # Path and cookie are enough from now on.
    assert "drop" in stranger.get(f"{service.settings.path}/").text
    # And it opens nothing as a token.
    session = {"authorization": f"Bearer {service.settings.session}"}
    stranger.cookies.clear()
    assert stranger.get("/", headers=session).status_code == 401


def test_cookie_and_path_alone_open_nothing(
    client: TestClient, stranger: TestClient, service: Service
) -> None:
    """Another local server that was sent the cookie, or somebody who has read the address, reads nothing."""
    table = client.post("/api/v1/tables", content=b"a,b\n1,2\n3,4\n").json()["id"]
    paths = [
        "/",
        f"/case/{table}",
        f"/case/{table}/section/columns",
        f"/case/{table}/download/policy",
        f"/api/v1/tables/{table}",
        f"/api/v1/tables/{table}/downloads/policy",
        "/api/v1/openapi.json",
        "/static/page.js",
    ]
    stolen = {"cookie": f"{service.settings.cookie}={service.settings.session}"}
    here, wrong = service.settings.path, f"{service.settings.path[:-1]}/"
    for path in paths:
        for tried, headers in (
            (path, stolen),
            (f"{wrong}{path}", stolen),
            (f"/x{here}{path}", stolen),
            (f"{here}{path}", {}),
            (f"{here}{path}", {"cookie": f"{service.settings.cookie}=wrong"}),
            (here, stolen),
        ):
            answer = stranger.get(tried, headers=headers)
            assert answer.status_code == 401, tried
            assert service.settings.path not in answer.text
    assert stranger.post("/api/v1/tables/example", json={}, headers=stolen).status_code == 401
    assert stranger.get(f"{here}/case/{table}", headers=stolen).status_code == 200
    assert client.delete(f"/api/v1/tables/{table}").status_code == 204


def test_every_address_of_the_page_is_under_its_path(client: TestClient, service: Service) -> None:
    here = service.settings.path
    inside = TestClient(client.app, base_url=service.settings.address, follow_redirects=False)
    inside.get(service.settings.door)
    led = inside.post(f"{here}/case/example", data={"table": "residents"})
    assert led.headers["location"].startswith(f"{here}/case/")
    table = led.headers["location"].rpartition("/")[2]
    wait_for(lambda: client.get(f"/api/v1/tables/{table}").json()["rows"])
    pages = [
        inside.get(f"{here}/"),
        inside.get(led.headers["location"]),
        inside.get(f"{here}/static/none.js"),
    ]
    for page in pages:
        addresses = re.findall(r'(?:href|src|action|hx-get|hx-post)="([^"]*)"', page.text)
        assert addresses
        assert [one for one in addresses if not one.startswith((f"{here}/", "#", "?"))] == []
    made = inside.post(f"{here}/api/v1/tables", content=b"a,b\n1,2\n")
    assert made.headers["location"].startswith(f"{here}/api/v1/tables/")
    assert (
        here not in client.get("/api/v1/openapi.json").text + inside.get(f"{here}/api/v1/openapi.json").text
    )
    assert inside.get(f"{here}/api/v1/nothing").json()["code"] == "not-found"
    assert inside.post(f"{here}/case/{table}/remove").headers["location"] == f"{here}/"


@pytest.mark.parametrize("host", OTHERS)
def test_a_foreign_host_is_refused_with_the_right_token(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert client.get("/", headers={"host": "LOCALHOST:8477"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8477"},
        {"origin": "http://127.0.0.1:8477.evil.example"},
        {"origin": "null"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_page_changes_nothing(client: TestClient, service: Service, headers: dict[str, str]) -> None:
    before = len(list(service.cases))
    for path in ("/api/v1/tables/example", "/case/example", "/api/v1/tables"):
        answer = client.post(path, headers=headers)
        assert answer.status_code == 403
    assert len(list(service.cases)) == before


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8477", "sec-fetch-site": "same-origin"},
        {"origin": "http://localhost:8477"},
        # What browsers send with a form of a page that gives no referrer.
        {"origin": "null", "sec-fetch-site": "same-origin"},
    ],
)
def test_our_own_page_and_programs_may(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.patch(
        "/api/v1/tables/none/columns", json={"name": "a", "role": "weight"}, headers=headers
    )
    assert answer.status_code == 404


def test_every_response_has_its_headers(client: TestClient, stranger: TestClient) -> None:
    answers = [
        client.get("/"),
        client.get("/static/htmx.min.js"),
        client.get("/static/report.css"),
        client.get("/nowhere"),
        client.get("/static/../../pyproject.toml"),
        client.get("/api/v1/openapi.json"),
        stranger.get("/"),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd", "/static/"],
)
def test_static_files_lead_nowhere_else(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "create_app" not in answer.text


UPWARDS = [
    "..",
    "%2e%2e",
    "..%2f..%2fpolicy.toml",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5cboot.ini",
    "a%00b",
    ".",
]


@pytest.mark.parametrize("name", UPWARDS)
def test_no_name_in_an_address_leads_to_a_file(client: TestClient, name: str) -> None:
    table = client.post("/api/v1/tables", content=b"a,b\n1,2\n3,4\n").json()["id"]
    for path in (
        f"/api/v1/tables/{name}",
        f"/api/v1/tables/{name}/policy",
        f"/api/v1/tables/{table}/jobs/{name}/result",
        f"/api/v1/tables/{table}/downloads/{name}",
        f"/case/{name}",
        f"/case/{table}/section/{name}",
        f"/case/{table}/download/{name}",
    ):
        answer = client.get(path)
        # A client that resolves the dots itself asks for something else that does not exist or is no file.
        assert answer.status_code in (404, 405) or (name in ("..", ".") and answer.status_code == 200), path
        assert "root:" not in answer.text
        assert "a,b" not in answer.text
    assert client.delete(f"/api/v1/tables/{table}/jobs/{name}").status_code in (404, 405, 204)
    assert client.delete(f"/api/v1/tables/{table}").status_code in (204, 404)


def test_a_wildcard_host_takes_addresses_and_no_foreign_name() -> None:
    everywhere = Settings(host="0.0.0.0", port=8477)
    assert everywhere.serves("192.0.2.7:8477")
    assert not everywhere.serves("evil.example:8477")
    assert not Settings(host="192.0.2.7", port=8477).serves("127.0.0.1:8477")


def test_secrets_are_long_and_not_shown() -> None:
    one, other = Settings(), Settings()
    assert one.token != other.token
    assert len(one.token) >= 43
    assert one.token not in repr(one)
    assert one.session not in repr(one)
    assert one.path not in repr(one)
