"""Values in a register: keyed hashes of them, and where they must be readable with the key, sealed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from discreet.release.parts import keyed

BLOCK = 32
"""Sealed values are filled up to a multiple of so many bytes: their length tells little."""
END = b"\x01"
"""What stands between a value and what fills it up."""


def hidden(values: Iterable[str], attribute: str, key: str) -> tuple[str, ...]:
    """The keyed hashes of some values of an attribute."""
    return tuple(keyed(key, f"a value of {attribute}\0{value}") for value in values)


def sealed(value: str, code: str, key: str) -> str:
    """A value that only the key opens: added to a stream that follows from the key and the value's own keyed hash.

    That is deterministic encryption with a synthetic initialisation vector: Rogaway and Shrimpton, EUROCRYPT 2006.

    >>> (code,) = hidden(["gout"], "dx", "a long key")
    >>> unsealed(sealed("gout", code, "a long key"), code, "dx", "a long key")
    'gout'
    """
    text = value.encode() + END
    text += bytes(-len(text) % BLOCK)
    return _added(text, code, key).hex()


def unsealed(seal: str, code: str, attribute: str, key: str) -> str:
    """What was sealed; ``ValueError`` if it is not the value of an attribute that the keyed hash is of."""
    value = _added(bytes.fromhex(seal), code, key).rstrip(b"\0").removesuffix(END).decode()
    (own,) = hidden([value], attribute, key)
    if not hmac.compare_digest(own, code):
        raise ValueError("the seal was changed")
    return value


def _added(text: bytes, code: str, key: str) -> bytes:
    stream = hashlib.shake_256(f"a sealed value\0{code}\0{key}".encode()).digest(len(text))
    return bytes(left ^ right for left, right in zip(text, stream, strict=True))
