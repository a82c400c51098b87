"""Whoever gives a public function something of another kind than it takes is told so, and by no error of Python's."""

from __future__ import annotations

import inspect
import pickle
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet.errors import DiscreetError, InvalidParameter
from discreet.kinds import explained

FUNCTIONS = [name for name in sorted(discreet.__all__) if inspect.isfunction(getattr(discreet, name))]
FRAME = pd.DataFrame({"age": [31, 47] * 4, "ill": ["a", "b", "a", "c"] * 2})
POLICY = discreet.Policy.of(quasi_identifiers=["age"], sensitive=["ill"])
GIVEN = {"policy": POLICY, "path": "report.html", "epsilon": 1.0, "delta": 1e-5, "m": 2, "columns": ["age"]}
WRONG = [None, 7, 3.5, [], [FRAME], {}, object(), "nosuch.csv", b"x", FRAME["age"], pd]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_another_kind(name: str) -> None:
    function: Callable[..., Any] = getattr(discreet, name)
    parameters = inspect.signature(function).parameters
    required = [p.name for p in parameters.values() if p.default is p.empty]
    draw = random.Random(name)
    for wrong in required:
        for value in draw.sample(WRONG, 3):
            given = {each: GIVEN.get(each, FRAME) for each in required} | {wrong: value}
            with suppress(DiscreetError):
                function(**given)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: discreet.report(FRAME, "r.html"), "audit is an object of type DataFrame; pass Audit"),  # type: ignore[arg-type]
        (lambda: discreet.audit_baskets([["a"]]), "baskets is an object of type list; pass Baskets"),  # type: ignore[arg-type]
        (lambda: discreet.audit(FRAME, POLICY, order=7), "order is an object of type int"),  # type: ignore[arg-type]
        (lambda: discreet.load_policy(7), "path is an object of type int; pass str | PathLike"),  # type: ignore[arg-type]
        (lambda: discreet.read(FRAME, engine="spark"), "engine is an object of type str"),  # type: ignore[arg-type]
        (lambda: discreet.suggest_tables({}), "no table was given"),
    ],
)
def test_the_error_names_the_argument_and_what_it_takes(call: Callable[[], object], told: str) -> None:
    with pytest.raises(DiscreetError, match=r"^" + told.replace("|", r"\|")):
        call()


def test_a_language_that_nobody_speaks() -> None:
    with pytest.raises(InvalidParameter, match=r"there is no language 'fr'.*: en, de"):
        discreet.report(discreet.audit(FRAME, POLICY, detail="core"), "r.html", language="fr")


def test_an_error_of_our_own_stays_what_it_is() -> None:
    """Only what an argument's kind explains is said so: all else would hide a mistake of the program."""

    def broken(number: int) -> float:
        return 1 / (number - number)

    with pytest.raises(ZeroDivisionError):
        explained(broken, "broken")(7)
    with pytest.raises(TypeError, match="missing 1 required"):
        discreet.tabulate(FRAME, ["age"])  # type: ignore[call-arg]


def test_public_functions_can_be_named_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(discreet.check)) is discreet.check
    assert inspect.signature(discreet.check).parameters["policy"].default is not None
