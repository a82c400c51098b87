"""Access control: checks token, path, Host and Origin of every request, and sets the headers of every response."""

from __future__ import annotations

import hmac
import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.web.refusals import ProblemDetails
from discreet.web.settings import Settings

HOME = "discreet.home"
READING = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""Reports are pages of their own, with their style inside: they get no script at all and no origin."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Door:
    """ASGI middleware before the application: refuses requests without access and adds the headers to responses."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("content-security-policy", POLICY)
            await send(message)

        if self._under_path(scope):
            scope = {**scope, "root_path": self._settings.path, HOME: self._settings.path}
        answer = self._answer(scope)
        await (self._app if answer is None else answer)(scope, receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """The refusal of a request, or the page that sets the cookie; ``None`` for a request with access."""
        headers = Headers(scope=scope)
        if not self._settings.serves(headers.get("host", "")):
            return refuse(scope, 421, "wrong-host", "this server is not reached under this name", _OPEN)
        if scope["method"] not in READING and not self._same_origin(headers):
            return refuse(scope, 403, "foreign-origin", "this request comes from another page", _OPEN)
        token = QueryParams(scope["query_string"]).get("token")
        if scope["path"] == "/" and token is not None:
            return self._set_cookie(scope, token)
        if not self._has_access(scope, headers):
            return refuse(scope, 401, "no-token", "this page needs the token of its server", _OPEN)
        return None

    def _under_path(self, scope: Scope) -> bool:
        """Whether a request goes to the path that only browsers with the cookie know."""
        first, mark, _ = scope["path"].removeprefix("/").partition("/")
        return bool(mark) and same(f"/{first}", self._settings.path)

    def _same_origin(self, headers: Headers) -> bool:
        """Whether a request that changes something was made by our own page or by a program."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin == "null":
            # So say forms of a page that sends no referrer, ours included, but also pages without an origin.
            return site == "same-origin"
        if origin is not None:
            try:
                parts = urlsplit(origin)
            except ValueError:
                return False
            if parts.scheme != "http" or not self._settings.serves(parts.netloc):
                return False
        return site in (None, "same-origin", "none")

    def _has_access(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request has the token, or under the secret path the cookie that was set for it."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same(given.strip(), self._settings.token):
            return True
        cookie = Request(scope).cookies.get(self._settings.cookie, "")
        return bool(home_of(scope)) and same(cookie, self._settings.session)

    def _set_cookie(self, scope: Scope, token: str) -> Response:
        """Exchange the token for cookie and path, so that it stays neither in the address bar nor in the history.

        Browsers send a cookie to every port of a host, but only to its path, which other servers cannot guess; nor
        does whoever has come by the cookie know where it counts.

        A page that leads on, not a redirect: the browser gives a strict cookie only to a request that our
        own page has made, and the first one may come from a terminal, a mail or a file.
        """
        if not same(token, self._settings.token):
            return refuse(scope, 401, "no-token", "this token is not the one of this server", _OPEN)
        response = HTMLResponse(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>discreet</title>'
            f'<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url={self._settings.path}/">'
            f'<p><a href="{self._settings.path}/">discreet</a></p></html>'
        )
        response.set_cookie(
            self._settings.cookie,
            self._settings.session,
            httponly=True,
            samesite="strict",
            path=self._settings.path,
        )
        return response


_OPEN = "open the address that `discreet serve` has printed, token included"


def home_of(scope: Scope) -> str:
    """What stands before every path of the page: the secret path for a browser, nothing for a program."""
    home: str = scope.get(HOME, "")
    return home


def same(given: str, secret: str) -> bool:
    """Compare secrets in a time that does not tell how much of them was right."""
    return hmac.compare_digest(given.encode(), secret.encode())


def refuse(scope: Scope, status: int, code: str, message: str, remedy: str) -> Response:
    """A refusal as JSON for programs and as a plain page for people."""
    if wants_json(scope):
        body = json.dumps(ProblemDetails(code, message, remedy).to_dict())
        return Response(body, status, media_type="application/json")
    return HTMLResponse(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>discreet</title><link rel="icon" href="data:,">'
        f"<h1>{message.capitalize()}</h1><p>{remedy.capitalize()}.</p></html>",
        status,
    )


def wants_json(scope: Scope) -> bool:
    """Whether a request is one of the REST interface."""
    path: str = scope["path"]
    return path.removeprefix(home_of(scope)).startswith("/api/")
