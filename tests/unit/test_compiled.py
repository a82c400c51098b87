"""Loops are compiled ahead for exactly what is passed to them, and are told apart by it."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

import discreet
from discreet import compiled
from discreet.compiled import kernel, part, symbol
from discreet.example import town
from discreet.types import AnyIntArray, FloatArray, IntArray, IntMatrix

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """The hook that makes the extension of a wheel."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Pair(NamedTuple):
    left: IntArray
    right: FloatArray


def total(pair: Pair, rows: IntMatrix, open_width: AnyIntArray, start: int, sign: bool) -> float:
    return float(pair.left.sum() + pair.right.sum() + rows.sum() + open_width.sum() + start) * (
        1 if sign else -1
    )


VALUES = (
    Pair(np.array([1]), np.array([0.5])),
    np.ones((2, 2), dtype=np.int64),
    np.array([3], dtype=np.int32),
    4,
    True,
)


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    extension = SimpleNamespace()
    monkeypatch.setattr(compiled, "ahead", extension)
    monkeypatch.setattr(compiled, "registered", [])
    return extension


def symbols(build: ModuleType, function: Any) -> set[str]:
    return {symbol(function, build.kinds(parameters)) for parameters in build.signatures(function)}


def test_what_an_array_holds_is_found_however_numpy_names_its_type(build: ModuleType) -> None:
    """As an array with a shape, or by an alias of its own, as numpy 2.5 does."""
    held = TypeVar("held", bound=np.generic)
    named = TypeAliasType("named", np.ndarray[Any, np.dtype[held]], type_params=(held,))
    for arrays in (np.ndarray[Any, np.dtype[np.float64]], named[np.float64], FloatArray):
        assert build.item_of(arrays) is np.float64


def test_annotations_say_for_what_a_loop_is_compiled(build: ModuleType) -> None:
    place = total.__module__.replace(".", "_")
    assert symbols(build, total) == {
        f"{place}_total_i8d1_f8d1_i8d2_i4d1_s_s",
        f"{place}_total_i8d1_f8d1_i8d2_i8d1_s_s",
    }


def test_a_call_finds_what_was_compiled_for_its_arrays(build: ModuleType, ahead: SimpleNamespace) -> None:
    for name in symbols(build, total):
        setattr(ahead, name, lambda *values, name=name: name)
    loop = kernel(total)
    narrow, wide = loop(*VALUES), loop(*VALUES[:2], np.array([3]), *VALUES[3:])
    assert "_i4d1_" in str(narrow)
    assert "_i4d1_" not in str(wide)
    assert loop(*VALUES) == narrow


@pytest.mark.parametrize(
    "values",
    [
        (*VALUES[:2], np.arange(4)[::2], *VALUES[3:]),
        (*VALUES[:2], np.array([3.0]), *VALUES[3:]),
        (*VALUES[:2], np.array([3]).astype(np.dtype(np.int64).newbyteorder()), *VALUES[3:]),
        (VALUES[0], np.ones(2, dtype=np.int64), *VALUES[2:]),
        (Pair(np.array([1]), np.array([1])), *VALUES[1:]),
    ],
    ids=["gaps", "floats", "bytes turned around", "dimensions", "inside a tuple"],
)
def test_other_arrays_are_never_taken_for_them(
    build: ModuleType, ahead: SimpleNamespace, values: tuple[Any, ...]
) -> None:
    def never(*values: Any) -> float:
        raise AssertionError("memory would be read as what it is not")

    for name in symbols(build, total):
        setattr(ahead, name, never)
    with pytest.warns(RuntimeWarning, match="no compiled loop"):
        assert kernel(total)(*values) == total(*values)


def test_without_a_compiler_loops_run_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "registered", [])
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled._jit.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="pip install numba"):
            assert part(total) is total
        assert kernel(total) is total
        assert not compiled.compiles_at_calls()
    finally:
        compiled._jit.cache_clear()


@pytest.mark.slow
def test_what_is_called_is_what_is_compiled(build: ModuleType) -> None:
    """Every call of a search, of a comparison and of attacks is one for which a wheel has a loop."""
    people = town(300)
    policy = discreet.suggest(people)
    for method in ("optimal", "subtree", "local", "mondrian", "clustering", "microaggregation"):
        release = discreet.anonymize(people, policy, plan=discreet.Plan(method=method, seconds=0.2))
    discreet.compare(people, release.table, policy)
    discreet.attack(release.table, policy, original=people)
    called = 0
    for function in build.kernels():
        loop = getattr(sys.modules[function.__module__], function.__name__)
        made = symbols(build, function)
        for parameters in loop.signatures:
            called += 1
            assert symbol(function, build.kinds(parameters)) in made
    assert called > 20


@pytest.mark.parametrize(
    ("version", "code", "made", "compiled_ahead"),
    [("standard", 0, True, True), ("standard", 1, False, False), ("editable", 0, True, False)],
    ids=["a wheel", "no compiler", "a checkout"],
)
def test_a_wheel_without_compiled_loops_asks_for_numba(
    build: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    code: int,
    made: bool,
    compiled_ahead: bool,
) -> None:
    name = f"_kernels{EXTENSION_SUFFIXES[0]}"

    def compiler(command: list[str], **options: Any) -> SimpleNamespace:
        if made:
            Path(command[-1], name).touch()
        return SimpleNamespace(returncode=code, stderr="no compiler here")

    monkeypatch.setattr(build.subprocess, "run", compiler)
    warned: list[str] = []
    app = SimpleNamespace(display_warning=warned.append)
    hook = build.CustomBuildHook(str(ROOT), {}, None, None, "", "wheel", app)
    data: dict[str, Any] = {"dependencies": [], "force_include": {}, "pure_python": True, "infer_tag": False}
    hook.initialize(version, data)
    assert data["dependencies"] == ([] if compiled_ahead else [build.NUMBA])
    assert list(data["force_include"].values()) == ([f"discreet/{name}"] if compiled_ahead else [])
    assert data["pure_python"] is not compiled_ahead
    assert data["infer_tag"] is compiled_ahead
    assert bool(warned) is bool(code)
    hook.finalize(version, data, "")
    assert hook.folder is None or not Path(hook.folder).exists()
