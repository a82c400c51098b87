"""Numbers and codes exchanged for others by a key, one to one: digits stay digits and letters letters."""

from __future__ import annotations

import hashlib
import math
from functools import cache

ROUNDS = 10
DIGITS = "0123456789"
_ASCII = "abcdefghijklmnopqrstuvwxyz"
_LATIN = _ASCII + "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ"
"""Letters of western Europe, each with a capital of its own."""


def keyed_number(key: bytes, purpose: bytes, text: bytes) -> int:
    """A number below 2^128 that follows from a text by a key, and cannot be told without it."""
    return int.from_bytes(hashlib.blake2b(text, key=key, person=purpose, digest_size=16).digest(), "big")


def permuted(key: bytes, purpose: bytes, number: int, size: int) -> int:
    """Where a permutation of the numbers below ``size`` that follows from a key takes a number.

    A Feistel network over two halves of nearly the same size; where it leaves the numbers below ``size``, it goes on until it
    comes back (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).

    >>> sorted(permuted(b"key", b"example", n, 10) for n in range(10)) == list(range(10))
    True
    """
    left = math.isqrt(size - 1) + 1
    right = -(-size // left)
    while True:
        high, low = divmod(number, right)
        for turn in range(0, ROUNDS, 2):
            high = (high + keyed_number(key, purpose, b"%d %d %d" % (size, turn, low))) % left
            low = (low + keyed_number(key, purpose, b"%d %d %d" % (size, turn + 1, high))) % right
        number = high * right + low
        if number < size:
            return number


@cache
def _alphabets(latin: bool) -> tuple[str, ...]:
    letters = _LATIN if latin else _ASCII
    return DIGITS, letters, letters.upper()


def permuted_code(key: bytes, code: str) -> str | None:
    """A code with other digits and letters in the same places; nothing, where it has none or others than those of western Europe.

    Different codes become different ones. A first digit that is not 0 stays none, so that numbers keep their length.

    >>> permuted_code(b"key", "AB-1234/x") == permuted_code(b"key", "AB-1234/x")
    True
    >>> len({permuted_code(b"key", str(number)) for number in range(10, 100)})
    90
    >>> permuted_code(b"key", "---") is None
    True
    """
    alphabets = _alphabets(any(sign.isalpha() and not sign.isascii() for sign in code))
    which = [next((a for a in alphabets if sign in a), "") for sign in code]
    if not any(which) or any(sign.isalnum() and not a for sign, a in zip(code, which, strict=True)):
        return None
    first = next((at for at, alphabet in enumerate(which) if alphabet), 0)
    if which[first] is DIGITS and code[first] != "0":
        which[first] = DIGITS[1:]
    number, size = 0, 1
    for sign, alphabet in zip(code, which, strict=True):
        if alphabet:
            number = number * len(alphabet) + alphabet.index(sign)
            size *= len(alphabet)
    # Codes of one form are exchanged among themselves: the form is part of what the permutation follows from.
    form = "".join(alphabet[:1] if alphabet else sign for sign, alphabet in zip(code, which, strict=True))
    purpose = hashlib.blake2b(form.encode(), digest_size=16).digest()
    number = permuted(key, purpose, number, size)
    made = []
    for sign, alphabet in zip(reversed(code), reversed(which), strict=True):
        if alphabet:
            number, at = divmod(number, len(alphabet))
            sign = alphabet[at]
        made.append(sign)
    return "".join(reversed(made))
