"""What the register can vouch for about one release."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.register.entry import RegisterEntry
from discreet.register.timeline import Timeline


@dataclass(frozen=True)
class ReleaseCertificate:
    """One release as it was entered, whether it was withdrawn, and what all releases up to it leave possible for people.

    ``latest`` is the number of the last entry: everything up to it was read and found as it was written. ``unchanged`` says whether a
    file that was held against the entry is the published one; ``None`` if none was.
    """

    entry: RegisterEntry
    withdrawal: RegisterEntry | None
    timeline: Timeline
    latest: int
    unchanged: bool | None = None

    @property
    def holds(self) -> bool:
        """Whether the release still stands as it was entered."""
        return self.withdrawal is None and self.unchanged is not False
