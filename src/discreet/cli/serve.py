"""`discreet serve`: the local page."""

from __future__ import annotations

import logging
import math
import signal
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from discreet.cli.command import StrictCommand
from discreet.cli.memory import MEMORY_OPTION, THREADS_OPTION
from discreet.errors import InvalidParameter, MissingDependency

DEFAULT_PORT = 8477


@click.command(cls=StrictCommand)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on ({DEFAULT_PORT}, or any free one if that is taken); 0: any free one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
@click.option(
    "--keep-hours",
    type=click.FloatRange(min=0, min_open=True),
    default=12.0,
    show_default=True,
    help="Wipe a table that nobody has used for so long.",
)
@click.option("--max-size", default="4G", show_default=True, help="Largest upload, e.g. 500M or 2G.")
@click.option(
    "--max-disk",
    default="20G",
    show_default=True,
    help="What all tables may take on disk together, with everything made of them.",
)
@click.option(
    "--header-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Close a connection on which no request arrives for so long.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many jobs may run at once.",
)
@MEMORY_OPTION
@THREADS_OPTION
def serve(
    port: int | None,
    host: str,
    allow_remote: bool,
    browser: bool,
    keep_hours: float,
    max_size: str,
    max_disk: str,
    header_seconds: float,
    workers: int,
) -> None:
    """Open a page on this machine: drop a file, read the verdict, leave with a release.

    Ends with Ctrl-C. Everything it has stored is then wiped.
    """
    try:
        import uvicorn

        from discreet.web.app import create_app
        from discreet.web.connections import connections
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "fastapi", "starlette"):
            raise
        raise MissingDependency(
            f"the page needs the package {error.name}", remedy='pip install "discreet[web]"'
        ) from None
    from discreet.engine.limits import parse_size
    from discreet.web.service import Service
    from discreet.web.settings import Settings, is_loopback

    if not is_loopback(host) and not allow_remote:
        raise InvalidParameter(
            f"other machines can reach {host}, and the page shows personal data",
            remedy="pass --allow-remote if that is meant, and then only in a network that you trust",
        )
    size, disk = parse_size(max_size), parse_size(max_disk)
    listening = _listen(host, port)
    settings = Settings(
        host=host,
        port=listening.getsockname()[1],
        max_size=size,
        max_disk=disk,
        keep_hours=keep_hours,
        workers=workers,
        header_seconds=header_seconds,
    )
    # The server ends its jobs first, in its own time.
    signal.set_wakeup_fd(-1)
    service = Service(settings)
    try:
        click.echo(f"discreet is at {settings.door}")
        click.echo("Ctrl-C ends it and wipes everything that it has stored.")
        if not is_loopback(host):
            click.echo(
                "Other machines can reach this page. What it shows travels unencrypted, and whoever has the "
                "address with its token can read every table and every file that you can read.",
                err=True,
            )
        if browser:
            _open_browser(settings.door, service.cases.root)
        # No log at all: it would hold the token and names of columns, and libraries log what they were sent.
        logging.disable(logging.CRITICAL)
        config = uvicorn.Config(
            create_app(service),
            http=connections(header_seconds),
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=math.ceil(header_seconds),
            timeout_graceful_shutdown=2,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        # Wiping is not interrupted by an impatient second Ctrl-C.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        service.close()
        listening.close()
    click.echo("Everything was wiped.")


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the wanted port; without a wish the usual one, or any that is free."""
    wanted = [DEFAULT_PORT, 0] if port is None else [port]
    for number in wanted:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((host, number), family=family)
        except OSError as error:
            told = error.strerror or "no such address"
    raise InvalidParameter(
        f"{host} port {wanted[0]} cannot be listened on ({told})", remedy="choose another --port"
    )


def _open_browser(door: str, folder: Path) -> None:
    """Open the page by a private file that leads there: other users see the commands that are run here."""
    leads = folder / "open.html"
    leads.touch(mode=0o600)
    leads.write_text(
        f'<!doctype html><meta charset="utf-8"><title>discreet</title>'
        f'<meta http-equiv="refresh" content="0;url={door}"><a href="{door}">discreet</a>',
        encoding="utf-8",
    )
    webbrowser.open(leads.as_uri())
