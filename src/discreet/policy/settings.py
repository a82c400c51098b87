"""Settings are declared once, as annotated fields of a dataclass; every form of them is made from that.

``limit: Annotated[float, Field(ge=0, description="…")] = 0.2`` carries type, constraint, help and default for the
policy file, the command line, the REST interface and the page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A model that refuses settings that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@cache
def settings(declared: type) -> dict[str, FieldInfo]:
    """Type, constraint, help and default of every setting of a dataclass: of every annotated field."""
    hints, defaults = get_type_hints(declared, include_extras=True), declared()
    return {
        field.name: FieldInfo.from_annotated_attribute(hints[field.name], getattr(defaults, field.name))
        for field in fields(declared)
        if get_origin(hints[field.name]) is Annotated
    }


def with_settings(declared: type, *, without: Collection[str] = ()) -> Callable[[type[Model]], type[Model]]:
    """Decorate a model so that it takes the settings of a dataclass, too; what is not given is ``None``."""

    def extend(model: type[Model]) -> type[Model]:
        further: dict[str, Any] = {
            name: (
                Annotated[
                    _written(setting.annotation) | None,
                    *setting.metadata,
                    Field(description=setting.description),
                ],
                None,
            )
            for name, setting in settings(declared).items()
            if name not in without
        }
        return create_model(
            model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **further
        )

    return extend


def given(model: BaseModel, declared: type) -> dict[str, Any]:
    """The settings of a dataclass that a model was given, as the dataclass takes them."""
    known = settings(declared)
    return {name: frozen(value) for name, value in model if name in known and value is not None}


def bare(kind: Any) -> Any:
    """A type without ``None`` and constraints.

    >>> bare(Annotated[tuple[str, ...], Field(min_length=1)] | None)
    tuple[str, ...]
    """
    if get_origin(kind) is Annotated:
        return bare(get_args(kind)[0])
    inner = tuple(bare(part) for part in get_args(kind) if part is not type(None))
    if get_origin(kind) in (tuple, Mapping):
        return get_origin(kind)[inner]
    return inner[0] if type(None) in get_args(kind) else kind


def bounds(setting: FieldInfo) -> dict[str, Any]:
    """The smallest and the largest number that a setting takes, as click and HTML name them.

    >>> from discreet.policy.plan import Plan
    >>> bounds(settings(Plan)["sample"])
    {'min': 0, 'min_open': True, 'max': 1}
    """
    limits: dict[str, Any] = {}
    for constraint in setting.metadata:
        for name, end in (("ge", "min"), ("gt", "min"), ("le", "max"), ("lt", "max")):
            if hasattr(constraint, name):
                limits[end] = getattr(constraint, name)
                if name in ("gt", "lt"):
                    limits[f"{end}_open"] = True
    return limits


def frozen(value: object) -> Any:
    """Lists as tuples, at any depth: settings and models are values."""
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, Mapping):
        return {key: frozen(inner) for key, inner in value.items()}
    return value


def _written(kind: Any) -> Any:
    """A type with the containers that TOML and JSON have: lists and dictionaries."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[_written(inner[0]), *inner[1:]]
    if origin in (Union, UnionType):
        return Union[tuple(map(_written, inner))]  # noqa: UP007
    if origin is tuple:
        return list[_written(inner[0])]  # type: ignore[misc]
    if origin is Mapping:
        return dict[_written(inner[0]), _written(inner[1])]  # type: ignore[misc]
    return kind
