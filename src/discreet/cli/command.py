"""Commands that take an option once, unless it says that it may be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

import click

from discreet.errors import InvalidParameter

Value = TypeVar("Value")


class StrictCommand(click.Command):
    """A command that refuses an option given twice: the last would count, and ``--qi age --qi sex`` release the age."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for parameter, times in Counter(order).items():
                if times > 1 and isinstance(parameter, click.Option) and _counts_once(parameter):
                    raise click.UsageError(f"{parameter.opts[0]} is given more than once", ctx)
        return super().parse_args(ctx, args)


class StrictGroup(StrictCommand, click.Group):
    """A group of such commands."""

    command_class = StrictCommand


def once(pairs: Iterable[tuple[str, Value]], what: str) -> dict[str, Value]:
    """What each name is given, from an option that names several.

    >>> once([("age", 2), ("sex", 1)], "a weight")
    {'age': 2, 'sex': 1}
    """
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name in given:
            raise InvalidParameter(f"{name} is given {what} twice", remedy="give it once")
        given[name] = value
    return given


def _counts_once(option: click.Option) -> bool:
    """Whether the last of several counts; a flag that cannot be denied says the same each time."""
    return not (option.multiple or option.count or (option.is_flag and not option.secondary_opts))
