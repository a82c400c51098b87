"""Loops that are compiled: ahead of time where the installation brought them, else by numba at their first call.

An installation from a wheel has them in the extension ``discreet._kernels``, which ``hatch_build.py`` makes of the functions
that :func:`kernel` marks; then no compiler is loaded, and nothing is compiled while somebody waits. A checkout has none, and
numba compiles. Without either the same functions run as they are written: the results are the same, only slowly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

try:
    from discreet import _kernels

    ahead: Any = _kernels
except ImportError:
    ahead = None

P = ParamSpec("P")
R = TypeVar("R")

SLOW = "no compiled loop {}: it runs as it is written, many times slower; pip install numba"
SCALAR = "s"

registered: list[Callable[..., Any]] = []
"""What is called from outside and is compiled ahead, as it was written."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled loop that is called from outside; its annotations say for which arrays it is compiled ahead."""
    registered.append(function)
    return _at_call(function) if ahead is None else _compiled_ahead(function)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """A compiled loop that only others of its kind call: it is compiled into them, and nothing makes it callable from Python."""
    return _at_call(function, no_cpython_wrapper=True) if ahead is None else function


def _at_call(function: Callable[P, R], **without: bool) -> Callable[P, R]:
    """Compiled by numba when it is first called, if there is numba; nothing is made for callers that are written in C."""
    jit = _jit()
    if jit is None:
        return function
    compiled: Callable[P, R] = jit(cache=True, nogil=True, no_cfunc_wrapper=True, **without)(function)
    return compiled


@cache
def _jit() -> Callable[..., Any] | None:
    try:
        from numba import njit
    except ImportError:
        warnings.warn(SLOW.format("at all"), RuntimeWarning, stacklevel=2)
        return None
    return cast(Callable[..., Any], njit)


def compiles_at_calls() -> bool:
    """Whether loops are compiled when they are first called."""
    return ahead is None and _jit() is not None


def _compiled_ahead(function: Callable[P, R]) -> Callable[P, R]:
    """Calls what was compiled for arrays such as those it is given: another one would read them as what they are not."""
    loops: dict[tuple[Any, ...], Callable[..., R]] = {}

    @wraps(function)
    def call(*values: Any) -> R:
        key = _key(values)
        loop = loops.get(key)
        if loop is None:
            loop = loops[key] = _loop(function, values)
        return loop(*values)

    return cast(Callable[P, R], call)


def _loop(function: Callable[..., R], values: Iterable[Any]) -> Callable[..., R]:
    name = symbol(function, _kinds(values))
    loop: Callable[..., R] | None = getattr(ahead, name, None)
    if loop is None:
        warnings.warn(SLOW.format(name), RuntimeWarning, stacklevel=2)
        return function
    return loop


def _key(values: Iterable[Any]) -> tuple[Any, ...]:
    """What tells apart the arrays of two calls."""
    return tuple(
        (value.dtype, value.ndim, _plain(value))
        if isinstance(value, np.ndarray)
        else _key(value)
        if isinstance(value, tuple)
        else None
        for value in values
    )


def _kinds(values: Iterable[Any]) -> Iterator[str]:
    """The kinds of values, those of tuples one by one: the item of an array and its dimensions, or a scalar.

    >>> list(_kinds([np.zeros((2, 2)), (np.arange(3)[::2], 4)]))
    ['f8d2', 'strided', 's']
    """
    for value in values:
        if isinstance(value, np.ndarray):
            yield f"{value.dtype.str[1:]}d{value.ndim}" if _plain(value) else "strided"
        elif isinstance(value, tuple):
            yield from _kinds(value)
        else:
            yield SCALAR


def _plain(values: np.ndarray[Any, Any]) -> bool:
    """Whether items stand side by side, where and in the order of bytes that the processor reads them."""
    return values.flags.c_contiguous and values.flags.aligned and values.dtype.isnative


def symbol(function: Callable[..., Any], kinds: Iterable[str]) -> str:
    """What the extension calls a loop that was compiled for arrays of some kinds.

    >>> symbol(symbol, ["i8d1", "s"])
    'compiled_symbol_i8d1_s'
    """
    place = function.__module__.removeprefix("discreet.").replace(".", "_")
    return "_".join([place, function.__name__, *kinds])
