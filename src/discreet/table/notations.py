"""Printed forms that other tools use for generalised values; each is only believed if the original bears it out."""

from __future__ import annotations

import datetime
import math
import re

TRUTH = {"true": 1.0, "false": 0.0}
_MIDNIGHT = " 00:00:00"
_SEPARATORS = ("~", "|", ";", ",")
_HIDDEN = re.compile(r"(?P<shown>.*?[^xX#?_.])(?P<hidden>x+|X+|#+|\?+|_+|\.+)", re.DOTALL)
_FROM_TO = re.compile(
    r"[\[(\]]?\s*(\d[\dT:.+ -]*?\d)Z?\s*(?:,|;|/|\.\.|~|–|to|bis| - )\s*(\d[\dT:.+ -]*?\d)Z?\s*[\])\[]?"
)


def listed(text: str) -> tuple[str, ...]:
    """The members of a set as other tools print it; nothing if the text lists no two of them.

    >>> listed("Bachelors~Masters"), listed("['a', 'b']"), listed("a, b; c"), listed("baker")
    (('Bachelors', 'Masters'), ('a', 'b'), ('a, b', 'c'), ())
    """
    inside = text.strip()
    if len(inside) > 1 and inside[0] + inside[-1] in ("{}", "[]", "()"):
        inside = inside[1:-1]
    for separator in _SEPARATORS:
        if separator in inside:
            parts = [unquoted(part) for part in inside.split(separator)]
            return tuple(parts) if len(parts) > 1 and all(parts) else ()
    return ()


def unquoted(member: str) -> str:
    """A member without the quotation marks that Python or R put around it.

    >>> unquoted(" 'a' "), unquoted('"b"'), unquoted("c")
    ('a', 'b', 'c')
    """
    stripped = member.strip()
    if len(stripped) > 1 and stripped[0] == stripped[-1] and stripped[0] in "'\"":
        return stripped[1:-1]
    return stripped


def starred(text: str) -> str | None:
    """A text whose last characters are hidden by something else than stars, with stars; ``None`` if none are.

    >>> starred("101xx"), starred("1990-05-??"), starred("baker")
    ('101**', '1990-05-**', None)
    """
    match = _HIDDEN.fullmatch(text)
    return match["shown"] + "*" * len(match["hidden"]) if match else None


def days(text: str) -> float | None:
    """An ISO date (and time) in days since 1970; ``None`` for all else.

    >>> days("1970-01-02"), days("1970-01-01 12:00:00"), days("1970")
    (1.0, 0.5, None)
    """
    try:
        moment = datetime.datetime.fromisoformat(text) if "-" in text else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)


def span_of_days(text: str) -> tuple[float, float] | None:
    """An interval of dates or of years in days since 1970, both ends included; ``None`` for all else.

    >>> span_of_days("[1970-01-02, 1970-01-31]"), span_of_days("1970-1971"), span_of_days("1970s")
    ((1.0, 30.0), (0.0, 729.0), (0.0, 3651.0))
    >>> span_of_days(">= 1970-01-02"), span_of_days("<= 1970-01-31")
    ((1.0, inf), (-inf, 30.0))
    >>> span_of_days("[1970-01-02 12:00:00+00:00, 1970-01-03T00:00:00Z]")
    (1.5, 2.0)
    """
    stripped = text.strip()
    if half := re.fullmatch(r"(<=|>=|≤|≥)\s*(\d.*)", stripped):
        bound = days(half[2])
        if bound is None:
            return None
        return (-math.inf, bound) if half[1] in ("<=", "≤") else (bound, math.inf)
    if decade := re.fullmatch(r"(\d{3}0)s", stripped):
        return _years(int(decade[1]), int(decade[1]) + 9)
    if years := re.fullmatch(r"\[?(\d{4})\s*(?:,|;|-|–|\.\.|~|to|bis)\s*(\d{4})\]?", stripped):
        return _years(int(years[1]), int(years[2]))
    match = _FROM_TO.fullmatch(stripped)
    ends = [days(end) for end in match.groups()] if match else []
    if len(ends) < 2 or ends[0] is None or ends[1] is None or ends[0] > ends[1]:
        return None
    return ends[0], ends[1]


def _years(first: int, last: int) -> tuple[float, float] | None:
    if not 1 <= first <= last < 9999:
        return None
    start = datetime.date(1970, 1, 1).toordinal()
    return (
        float(datetime.date(first, 1, 1).toordinal() - start),
        float(datetime.date(last + 1, 1, 1).toordinal() - start - 1),
    )


def forms(text: str) -> tuple[str, ...]:
    """How else the same value may be printed: without blanks, as Python or SQL print truth, with or without midnight.

    >>> forms("true"), forms("2024-05-17 00:00:00")[:2]
    (('true', 'True'), ('2024-05-17 00:00:00', '2024-05-17'))
    """
    plain = text.strip()
    if plain.lower() in TRUTH:
        return text, *dict.fromkeys(
            form for form in (plain, plain.lower(), plain.capitalize()) if form != text
        )
    if plain.endswith(_MIDNIGHT):
        return text, plain.removesuffix(_MIDNIGHT)
    return (text, plain, plain + _MIDNIGHT) if plain.count("-") == 2 else (text, plain)
