"""Connections of the page: one on which no request arrives in time is closed."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


def connections(header_seconds: float) -> type[H11Protocol]:
    """How the server speaks with clients: each has so many seconds to send the head of a request.

    Whoever opens many connections and sends a byte now and then would hold them all, also without the token. The body
    of a request may take longer: nobody reads it without the token.
    """

    class PatientConnection(H11Protocol):
        _closing: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def _watch(self) -> None:
            """Set the limit while no request is being answered; a request that has arrived lifts it."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self._closing is None:
                self._closing = self.loop.call_later(header_seconds, self._end)

        def _end(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

        def _forget(self) -> None:
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None

    return PatientConnection
