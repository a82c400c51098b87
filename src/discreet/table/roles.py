"""The roles a column can play in a release."""

from __future__ import annotations

from typing import Final, Literal, get_args

Role = Literal[
    "direct-identifier",
    "quasi-identifier",
    "sensitive",
    "person-id",
    "guarding-node",
    "weight",
    "insensitive",
]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""Every role, in the order in which people are told about them.

``direct-identifier`` names a person by itself and has to go; ``quasi-identifier`` does so together with
others; ``sensitive`` is what nobody should learn; ``person-id`` says which rows belong to the same person;
``guarding-node`` is what each person wants to have guarded, a node of the hierarchy of a sensitive attribute, and is never released;
``weight`` is the sampling weight of a survey; ``insensitive`` is everything else.
"""
