"""The settings of a server: address, token, limits, and how long cases are kept."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from dataclasses import dataclass, field

DEFAULT_MAX_SIZE = 4 << 30
DEFAULT_MAX_DISK = 20 << 30
DEFAULT_KEEP_HOURS = 12.0
DEFAULT_HEADER_SECONDS = 10.0
DEFAULT_WORKERS = 2
WILDCARDS = ("0.0.0.0", "::")


@dataclass(frozen=True)
class Settings:
    """The settings of one server.

    ``token`` gives access. A browser gets two secrets for it: the cookie ``session``, and the ``path`` under which alone
    the cookie counts and to which alone the browser sends it.
    """

    host: str = "127.0.0.1"
    port: int = 8477
    max_size: int = DEFAULT_MAX_SIZE
    max_disk: int = DEFAULT_MAX_DISK
    """What all tables may take on disk together, with everything that is made of them."""
    keep_hours: float = DEFAULT_KEEP_HOURS
    workers: int = DEFAULT_WORKERS
    header_seconds: float = DEFAULT_HEADER_SECONDS
    """How long a client may take to send the head of a request."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(32)}", repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers share cookies between ports, so that two servers need two names."""
        return f"discreet-{self.port}"

    @property
    def address(self) -> str:
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        return f"http://{_bracketed(host)}:{self.port}"

    @property
    def door(self) -> str:
        """The address that is printed: the only place where the token stands."""
        return f"{self.address}/?token={self.token}"

    def serves(self, host: str) -> bool:
        """Whether a Host header names this server: a foreign name that leads here is an attack by DNS.

        >>> here = Settings(port=8477)
        >>> here.serves("127.0.0.1:8477"), here.serves("localhost:8477"), here.serves("evil.example:8477")
        (True, True, False)
        >>> here.serves("127.0.0.1:80"), Settings(host="0.0.0.0", port=80).serves("192.0.2.7")
        (False, True)
        """
        name, mark, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not mark:
            name, port = host, "80"
        if port != str(self.port):
            return False
        name = name.strip("[]").lower()
        if self.host in WILDCARDS:
            # Nobody's name service decides where a plain address leads.
            return name in ("localhost", socket.gethostname().lower()) or _is_address(name)
        known = {self.host.lower()}
        return name in known | ({"127.0.0.1", "localhost"} if is_loopback(self.host) else set())


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
