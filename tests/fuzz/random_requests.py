"""Random requests to a running page: whatever is sent, no answer is a server error and none is missing."""

from __future__ import annotations

import json
import random
import re
import shutil
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute

from discreet.dp.ledger import Ledger
from discreet.web.app import create_app, routers
from discreet.web.connections import connections
from discreet.web.service import Service
from discreet.web.settings import Settings

TABLE = "age,sex,illness,when\n" + "".join(
    f"{20 + i % 12},{'fm'[i % 2]},{'ab'[i % 3 % 2]},2020-0{1 + i % 9}-01\n" for i in range(60)
)
PATIENCE = 120.0
"""A request that is not answered within so many seconds hangs."""
TABLES = 3
RENEWED = 20
"""After so many requests tables that were wiped are made anew."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY", "get")
SLOW = (
    "/example",
    "path",
    "POST /api/v1/tables",
    "/reading",
    "/jobs/{kind}",
    "/profile",
    "{case_id}/remove",
    "{what}",
)
"""What makes the machine work for a second, or makes such work necessary: asked for now and then only."""
STARTED = re.compile("POST /api/v1/tables/{table}/jobs/([a-z-]+)")
KNOWN = {
    "number": ("0", "1", "2", "3", "7", "-1", "99999999999999999999", "1.5", "x"),
    "what": (
        "policy",
        "bundle",
        "release",
        "recipe",
        "report",
        "audit-report",
        "evidence",
        "frontier",
        "nothing",
    ),
    "kind": (
        "read",
        "audit",
        "values",
        "preview",
        "recommend",
        "anonymize",
        "compare",
        "attack",
        "frontier",
        "ask",
        "tabulate",
        "synthesize",
        "safepub",
        "x",
    ),
    "fold": ("findings", "riskiest", "became", "changes", "attacks", "losses", "exposure", "x"),
    "section": (
        "bar",
        "file",
        "columns",
        "verdict",
        "advice",
        "plan",
        "preview",
        "release",
        "evidence",
        "frontier",
        "budget",
        "downloads",
    ),
    "step": (
        "choose",
        "parameters",
        "edit",
        "view",
        "undo",
        "redo",
        "reset",
        "save",
        "file",
        "count",
        "stop",
    ),
    "file": ("page.js", "page.css", "htmx.min.js", "../app.py", "%2e%2e/app.py", ""),
}
TEXTS = (
    *(
        "",
        "age",
        "sex",
        "illness",
        "when",
        "*",
        "0",
        "-1",
        "1e308",
        "nan",
        "NaN",
        "inf",
        "true",
        "null",
        "\0",
        "\x1b[2J",
    ),
    *(
        "\ud800",
        "ä",
        "日本",
        "'",
        '"',
        "<script>",
        "{{7*7}}",
        "../../etc/passwd",
        "/dev/zero",
        "~",
        "~nouser/x",
        "/",
    ),
    *(
        "x" * 300,
        "x" * 5000,
        "9" * 400,
        "9" * 5000,
        "[",
        "{",
        "a=b&c=d",
        "%",
        "%zz",
        "%00",
        "k-anonymity",
        "open-data",
    ),
    *(
        "quasi-identifier",
        "sensitive",
        "weight",
        "person",
        "loss",
        "optimal",
        "mondrian",
        "intervals",
        "flat",
        "mask",
    ),
)
NUMBERS = (0, 1, -1, 2, 0.5, 1e308, -1e-320, 2**31, 2**63, -(2**63) - 1, 10**400, True, None)
NAMES = (
    *(
        "name",
        "role",
        "path",
        "table",
        "column",
        "columns",
        "hierarchy",
        "builder",
        "widths",
        "cuts",
        "steps",
        "levels",
    ),
    *(
        "k",
        "l",
        "t",
        "model",
        "sensitive",
        "seed",
        "method",
        "methods",
        "objective",
        "suppression_limit",
        "suppressed",
    ),
    *(
        "detail",
        "edition",
        "format",
        "labels",
        "queries",
        "scenario",
        "known",
        "attacks",
        "suggest",
        "delimiter",
    ),
    *(
        "encoding",
        "header",
        "profile",
        "require",
        "anonymize",
        "population",
        "weights",
        "keep",
        "kpi",
        "query",
        "seen",
    ),
    *(
        "characters",
        "character",
        "order",
        "sizes",
        "lang",
        "show",
        "formulas",
        "action",
        "mark",
        "members",
    ),
    *(
        "group",
        "level",
        "text",
        "part",
        "form",
        "policy",
        "file",
        "attributes",
        "weight-0",
        "keep-0",
        "token",
    ),
    *(
        "epsilon",
        "delta",
        "unit",
        "max_rows",
        "bounds",
        "keys",
        "question",
        "names",
        "tables",
        "ways",
        "product",
    ),
    *("low-0", "high-0", "values-1", "line", "foreseen", "degree", "search_epsilon", "score", "hierarchies"),
)
KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "application/toml",
    "text/plain; charset=utf-16",
    "application/octet-stream",
    "application/json; charset=\xff",
    "",
)
TERMS = {"epsilon": "0.01", "unit": "record"}
LIKELY: dict[str, dict[str, object]] = {
    "ask": {**TERMS, "question": "select sex, count(*) from data group by sex", "keys": {"sex": ["f", "m"]}},
    "ask-kpis": dict(TERMS),
    "tabulate": {**TERMS, "tables": [["sex"]], "keys": {"sex": ["f", "m"]}},
    "synthesize": {**TERMS, "delta": "1e-9", "columns": ["sex"], "keys": {"sex": ["f", "m"]}},
    "safepub": {"epsilon": "1", "delta": "1e-4", "levels": {"sex": 0}},
    "budget": {"epsilon": "3", "delta": "1e-6"},
    "foresee": {"epsilon": "1/3"},
}
"""What a job or a route takes, by its name: one of its settings is exchanged now and then."""
HEADERS = (
    ("Accept", ("text/html", "*/*", "application/json", "x" * 3000)),
    ("Accept-Language", ("de", "en;q=x", "fr;q=1e400", ",;q=", "de" * 500)),
    ("Cookie", ('=;;"', "discreet-language=de", "discreet-language=\xff", "a" * 3000)),
    ("HX-Request", ("true", "")),
    ("If-Match", ("*", '"x"', ",,,", "W/", '"' * 50)),
    ("If-None-Match", ("*", '"x"')),
    ("If-Modified-Since", ("x", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 99 Foo 99999 99:99:99 GMT")),
    ("If-Range", ("x", '"x"')),
    (
        "Range",
        ("bytes=0-10", "bytes=-5", "bytes=9-1", "bytes=99999999999999999999-", "bytes=" + "0-1," * 60, "x"),
    ),
    ("Origin", ("null", "http://[::1", "http://evil.example", "http://127.0.0.1", "\xff")),
    ("Sec-Fetch-Site", ("same-origin", "cross-site", "none", "x")),
    ("X-Forwarded-For", ("1.2.3.4", "x" * 200)),
    ("Upgrade", ("websocket", "h2c")),
    ("Expect", ("100-continue", "x")),
    ("Content-Encoding", ("gzip", "x")),
    ("Authorization", ("Bearer", "Bearer wrong", "Basic eDp5", "\xff")),
)


@dataclass(frozen=True)
class Sent:
    """One request, as it goes over the line."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def to_bytes(self) -> bytes:
        head = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join([*head, f"Content-Length: {len(self.body)}", "", ""]).encode("latin-1") + self.body

    def __str__(self) -> str:
        return f"{self.method} {self.path[:200]} {dict(self.headers)!s:.400} {self.body[:300]!r}"


class Page:
    """A page with a few tables, and who talks to it."""

    def __init__(self, service: Service, routes: Sequence[str]) -> None:
        self.service = service
        self.routes = routes
        self.quick = [
            route for route in routes if not STARTED.match(route) and not any(p in route for p in SLOW)
        ]
        self._kept = service.cases.root / "kept"
        self._file = service.cases.root / "named.csv"
        self._line: socket.socket | None = None

    def tables(self) -> list[str]:
        return [case.id for case in self.service.cases]

    def jobs(self) -> list[str]:
        return [job.id for case in self.service.cases for job in self.service.jobs_of(case)]

    def begin(self) -> None:
        """Read and judge a first table, and keep a copy of what that leaves."""
        case = self.service.cases.create("people.csv", "upload")
        case.source.write_text(TABLE, encoding="utf-8")
        for kind in ("read", "values"):
            self.service.start(case, kind)
            while any(job.active for job in self.service.jobs_of(case)):
                time.sleep(0.02)
        shutil.copytree(case.folder, self._kept)
        self._file.write_text(TABLE, encoding="utf-8")
        Ledger.beside(self._file).set_budget(1000, "0.1")

    def renew(self) -> None:
        """See to it that there are a few tables, and not many; new ones are copies of the first."""
        cases = list(self.service.cases)
        for case in cases[2 * TABLES :]:
            self.service.remove(case)
        for number in range(TABLES - len(cases)):
            # One of a file that was named, beside which a budget lies.
            named = number == 0
            made = self.service.cases.create(
                "people.csv", "path" if named else "upload", self._file if named else None
            )
            shutil.copytree(self._kept, made.folder, dirs_exist_ok=True)
            if not named:
                made.source.write_text(TABLE, encoding="utf-8")

    def send(self, sent: Sent) -> tuple[int, bytes]:
        """The status and body of the answer; a connection that was closed is opened anew once."""
        for again in (True, False):
            fresh = self._line is None
            if self._line is None:
                here = (self.service.settings.host, self.service.settings.port)
                self._line = socket.create_connection(here, timeout=PATIENCE)
                self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                self._line.sendall(sent.to_bytes())
                answer = HTTPResponse(self._line, method=sent.method)
                answer.begin()
                body = answer.read()
            except (HTTPException, ConnectionError):
                self.close()
                if fresh or not again:
                    raise
                continue
            if answer.will_close or answer.status == 400:
                self.close()
            return answer.status, body
        raise AssertionError

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


def routes_of(service: Service) -> list[str]:
    """Every method and path that the page answers, and one that it does not."""
    found = {"GET /{junk}", "GET /static/{file}", "GET /api/v1/openapi.json"}
    described = FastAPI()
    for router in routers(service):
        described.include_router(router)
        for route in router.routes:
            if isinstance(route, APIRoute):
                found |= {f"{method} {route.path}" for method in route.methods}
    for path, methods in described.openapi()["paths"].items():
        found |= {f"{method.upper()} {path}" for method in methods}
    return sorted(found)


@contextmanager
def page() -> Iterator[Page]:
    """A page on a free port of this machine, served as `discreet serve` does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        settings = Settings(port=listening.getsockname()[1], max_size=1 << 20, max_disk=1 << 30)
        service = Service(settings)
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(service),
                http=connections(settings.header_seconds),
                ws="none",
                log_level="critical",
                access_log=False,
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        talker = Page(service, routes_of(service))
        try:
            talker.begin()
            yield talker
        finally:
            talker.close()
            server.should_exit = True
            thread.join(PATIENCE)
            service.close()


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────


def random_request(draw: random.Random, there: Page) -> Sent:
    """A request that is half right: a path that exists, mostly the right token, and parts that fit or do not."""
    route = draw.choice(there.routes if draw.random() < 0.05 else there.quick)
    method, path = route.split(" ")
    if draw.random() < 0.1:
        method = draw.choice(METHODS)
    tables, jobs = there.tables(), there.jobs()
    filled = {name: draw.choice(values) for name, values in KNOWN.items()}
    filled["table"] = draw.choice(tables) if tables and draw.random() < 0.9 else escaped(draw.choice(TEXTS))
    filled["job"] = draw.choice(jobs) if jobs and draw.random() < 0.7 else escaped(draw.choice(TEXTS))
    filled |= {"case_id": filled["table"], "job_id": filled["job"], "place": filled["number"]}
    filled |= {"junk": escaped(draw.choice(TEXTS)), "other_id": draw.choice(tables) if tables else "x"}
    filled["name"] = draw.choice((*KNOWN["section"], *KNOWN["fold"], "open-data", "scorr"))
    filled = {name: filled.get(name, filled["junk"]) for name in re.findall("{([a-z_]+)}", path)}
    if filled and draw.random() < 0.1:
        filled[draw.choice(list(filled))] = escaped(draw.choice(TEXTS))
    address = path.format(**filled)
    if draw.random() < 0.5:
        pairs = [(draw.choice(NAMES), draw.choice(TEXTS)) for _ in range(draw.randint(1, 3))]
        address += "?" + "&".join(f"{name}={escaped(value)}" for name, value in pairs)
    settings = there.service.settings
    headers = [("Host", f"127.0.0.1:{settings.port}")]
    way = draw.random()
    if way < 0.6:
        headers.append(("Authorization", f"Bearer {settings.token}"))
    elif way < 0.95:
        address = settings.path + address
        headers.append(("Cookie", f"{settings.cookie}={settings.session}"))
    kind, body = likely_body(draw, path) or random_body(draw)
    if draw.random() < 0.9:
        headers.append(("Content-Type", kind))
    for name, values in draw.sample(HEADERS, draw.choice([0, 0, 1, 1, 2])):
        headers.append((name, draw.choice(values)))
    return Sent(method, address[:8000], tuple(headers), body)


def likely_body(draw: random.Random, path: str) -> tuple[str, bytes] | None:
    """What a route of the interface takes, now and then with another value for one of its settings."""
    likely = LIKELY.get(path.rsplit("/", 1)[-1]) if path.startswith("/api/") else None
    if likely is None or draw.random() < 0.4:
        return None
    if draw.random() < 0.6:
        likely = {**likely, draw.choice([*likely, *NAMES]): json_value(draw, 2)}
    return "application/json", json.dumps(likely).encode("utf-8", "surrogatepass")


def escaped(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="%") if text != "%zz" else text


def random_body(draw: random.Random) -> tuple[str, bytes]:
    """A body with its type; now and then the type is another one."""
    kind = draw.choice(KINDS)
    actual = kind if draw.random() < 0.85 else draw.choice(KINDS)
    if actual.startswith("application/json"):
        return kind, json_text(draw).encode("utf-8", "surrogatepass")
    if "urlencoded" in actual:
        pairs = [(draw.choice(NAMES), draw.choice(TEXTS)) for _ in range(draw.randint(0, 6))]
        return kind, "&".join(f"{name}={escaped(value)}" for name, value in pairs).encode()
    if "multipart" in actual:
        parts = b"".join(part(draw) for _ in range(draw.randint(0, 3)))
        return kind, parts + draw.choice([b"--b--\r\n", b"--b", b""])
    if "toml" in actual:
        return kind, toml_text(draw).encode("utf-8", "surrogatepass")
    if actual:
        return kind, draw.choice(
            [b"", b"\xff\xfe\x00", bytes(300), TABLE.encode(), b"[" * 2000, b"\x1f\x8b\x08"]
        )
    return kind, b""


def part(draw: random.Random) -> bytes:
    name = draw.choice(NAMES)
    file = f'; filename="{draw.choice(["a.csv", "a.toml", "", "x" * 300])}"' if draw.random() < 0.6 else ""
    content = draw.choice([toml_text(draw), "a;b;*\nc;b;*\n", "", "\0", *TEXTS]).encode(
        "utf-8", "surrogatepass"
    )
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode() + content + b"\r\n"


def json_text(draw: random.Random) -> str:
    text = json.dumps(json_value(draw, 3))
    way = draw.random()
    if way < 0.05:
        return text[: draw.randint(0, len(text))]
    if way < 0.08:
        return "[" * draw.choice([50, 1000, 100_000])
    return text


def json_value(draw: random.Random, depth: int) -> object:
    way = draw.random()
    if depth and way < 0.5:
        return {draw.choice(NAMES): json_value(draw, depth - 1) for _ in range(draw.randint(0, 5))}
    if depth and way < 0.65:
        return [json_value(draw, depth - 1) for _ in range(draw.randint(0, 4))]
    return draw.choice(TEXTS) if way < 0.85 else draw.choice(NUMBERS)


def toml_text(draw: random.Random) -> str:
    """Lines of policies, each of them right or wrong."""
    lines = []
    for _ in range(draw.randint(0, 8)):
        value = draw.choice(
            [json.dumps(draw.choice(TEXTS)), str(draw.choice(NUMBERS)), "[]", "{}", "2020-01-01", "nan"]
        )
        lines.append(
            draw.choice(
                [
                    f"{draw.choice(NAMES)} = {value}",
                    f"[columns.{draw.choice(['age', 'sex', 'illness', 'when', 'none'])}]",
                    f'role = "{draw.choice(["quasi-identifier", "sensitive", "insensitive", "weight", "person"])}"',
                    f'hierarchy = {{builder = "{draw.choice(["intervals", "mask", "flat", "order", "dates"])}"}}',
                    "[[require]]",
                    f'model = "{draw.choice(["k-anonymity", "l-diversity", "t-closeness", "x"])}"',
                    f"k = {value}",
                    'sensitive = "illness"',
                    "[anonymize]",
                    "[read]",
                    'profile = "open-data"',
                ]
            )
        )
    return "\n".join(lines)


# ── what must hold ───────────────────────────────────────────────────────────────────────────────────


class Attack:
    """One request per seed; the same seeds send the same requests, but for the names of tables and jobs."""

    def __init__(self, there: Page) -> None:
        self._there = there
        self._sent = 0
        self.statuses: Counter[int] = Counter()

    def request(self, seed: int) -> list[str]:
        """Send the request of a seed; what is wrong with the answer."""
        if self._sent % RENEWED == 0:
            self._there.renew()
        self._sent += 1
        sent = random_request(random.Random(seed), self._there)
        try:
            status, body = self._there.send(sent)
        except (OSError, HTTPException) as error:
            self._there.close()
            return [f"no answer ({type(error).__name__}) to {sent}"]
        self.statuses[status] += 1
        if status == 500 or status > 507 or b'"code":"internal"' in body.replace(b" ", b""):
            told = re.search(rb"something went wrong[^<]*", body)
            return [f"{status} {told[0] if told else body[:300]!r} to {sent}"]
        return []
