"""Amounts of privacy loss as exact fractions: eleven times 1/11 is 1, and nothing is lost in the last digit."""

from __future__ import annotations

import math
import re
import sys
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

Amount = int | float | str | Decimal | Fraction
"""How an amount may be given; a float means the decimal number that it prints as."""

SMALLEST = Fraction(sys.float_info.min)
"""Below it floats lose digits, and mechanisms would compute with another amount than was asked for."""
GREATEST = Fraction(sys.float_info.max)
"""Beyond it there is no float to compute with."""
LONGEST = 60
"""So many characters may an amount have: a short text like ``1e999999999`` would fill the memory."""


def exact(amount: Amount, name: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """An amount as a fraction. Refused: negative, −0, NaN, infinite, too large and subnormal ones, and 0 unless it makes sense.

    >>> sum([exact("1/11", "epsilon")] * 11), exact(0.1, "epsilon"), exact("1e-6", "delta")
    (Fraction(1, 1), Fraction(1, 10), Fraction(1, 1000000))
    >>> exact(-0.0, "delta", zero=True)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: delta is -0.0; give a positive number such as 0.5, 1/11 or 1e-6
    """
    number = _number(amount)
    usable = number is not None and (SMALLEST <= number <= GREATEST or (number == 0 and zero))
    if number is None or not usable:
        raise _refused(amount, name, "give a positive number such as 0.5, 1/11 or 1e-6")
    if below_one and number >= 1:
        raise _refused(amount, name, "it is a probability far below 1, such as 1e-6")
    return number


def whole_number(number: object, name: str, most: int) -> int:
    """A setting that is a whole number from 1 on; refused if it is not.

    >>> whole_number(3, "bins", 10)
    3
    """
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InvalidParameter(
            Sentence("{name} is {number}", name=name, number=number),
            remedy=Sentence("it is a whole number from 1 to {most}", most=most),
        )
    return number


def _refused(amount: Amount, name: str, remedy: str) -> InvalidParameter:
    return InvalidParameter(
        Sentence("{name} is {amount}", name=name, amount=str(amount)[:LONGEST]), remedy=remedy
    )


def _number(amount: Amount) -> Fraction | None:
    """The number, or nothing if it is none, not finite, or a negative zero."""
    if isinstance(amount, bool):
        return None
    if isinstance(amount, Fraction | int):
        return Fraction(amount)
    text = str(amount).strip()
    exponent = re.search(r"[eE]([+-]?\d+)$", text)
    if len(text) > LONGEST or text.startswith("-") or (exponent and abs(int(exponent[1])) > 400):
        return None
    try:
        if "/" in text:
            return Fraction(text)
        return Fraction(Decimal(text))
    except (ValueError, ZeroDivisionError, OverflowError, InvalidOperation):
        return None


def said(amount: Fraction) -> str:
    """An amount as people write it: a short decimal number where it is one, a fraction where not.

    >>> said(Fraction(1, 2)), said(Fraction(1, 11)), said(Fraction(1, 10**9)), said(Fraction(3))
    ('0.5', '1/11', '1e-9', '3')
    """
    short = f"{float(amount):.12g}"
    if Fraction(Decimal(short)) != amount:
        return str(amount)
    return re.sub(r"e-0*", "e-", short)


def floor_float(amount: Fraction) -> float:
    """The largest float that is not above an amount."""
    number = float(amount)
    return math.nextafter(number, -math.inf) if Fraction(number) > amount else number


def ceiling_float(amount: Fraction) -> float:
    """The smallest float that is not below an amount."""
    number = float(amount)
    return math.nextafter(number, math.inf) if Fraction(number) < amount else number
