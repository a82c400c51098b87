"""Shared fixtures: where the public data sets lie, and small tables made by hand."""

from __future__ import annotations

import atexit
import gc
import linecache
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Workers share the processors: threads of matrix products would wait for each other. Before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Its plain loops are also what tests/fuzz counts by; last, because folders have modules of the same name.
sys.path.append(str(Path(__file__).parent / "truth"))
pytest.register_assert_rewrite("helpers")
import helpers.profiles  # noqa: F401, E402
from discreet.engine.spark import SparkEngine  # noqa: E402
from discreet.errors import MissingDependency  # noqa: E402
from helpers.absent import missing  # noqa: E402
from helpers.java import QUICK_JAVA  # noqa: E402

# Unless --hypothesis-profile names another one.
settings.load_profile("ci")

collect_ignore_glob = ["*/conftest.py"]
"""No tests in them; searched for doctests, two of them would be one module of the same name."""
FIRST = ("spark", "browser")
"""Kinds of tests that share something dear to start."""
LONG = ("docs", "fuzz", "golden", "web")
"""Folders of tests that take seconds each."""

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "discreet" / "__init__.py"
DATA = Path(os.environ.get("DISCREET_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public data sets. Absent on a user's machine: say so; absent in CI: that is a failure."""
    if not (DATA / "README.md").exists():
        reason = "the public data sets are not here (set DISCREET_DATA to the folder that holds them)"
        missing(reason)
    return DATA


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkEngine]:
    """Spark inside this process, which has one: every other engine made here without a session works in it, too."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JDK_JAVA_OPTIONS", QUICK_JAVA)
            made = SparkEngine()
    except MissingDependency as error:
        missing(str(error))
    yield made
    made.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays: while it is made nothing is thrown away, and afterwards garbage is looked
    for among what came later, which is a tenth."""
    gc.disable()
    yield
    gc.enable()
    gc.freeze()

    # At the end it goes: libraries complain of what is left. Not before: pytest would look at all of it twice.
    atexit.register(gc.unfreeze)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before every doctest a debugger asks the disk whether any of the files has changed whose lines are remembered."""
    if isinstance(item, pytest.DoctestItem):
        linecache.clearcache()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that share something dear at the front, each kind together, and others that take long in the middle.

    With ``--dist worksteal`` every worker begins with a part of the list, and one that has nothing left takes over
    from the end of another's part. So the first worker starts Spark and Chromium, and no other one does; the
    second begins with what takes long; and what is left at the end are quick ones, so that none waits for another.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "2"))
    items[:] = [item for item in items if not _is_public_name(item)]

    def kind(item: pytest.Item) -> int:
        return next((at for at, name in enumerate(FIRST) if item.get_closest_marker(name)), len(FIRST))

    def takes_long(item: pytest.Item) -> bool:
        return item.path.is_relative_to(TESTS) and item.path.relative_to(TESTS).parts[0] in LONG

    items.sort(key=kind)
    first = [item for item in items if kind(item) < len(FIRST)]
    others = items[len(first) :]
    quick = [item for item in others if not takes_long(item)]
    before = max(len(items) // workers - len(first), 0)
    items[len(first) :] = [*quick[:before], *filter(takes_long, others), *quick[before:]]


def _is_public_name(item: pytest.Item) -> bool:
    """Whether it is the doctest of a function that the package hands on: it is tried where the function is written.

    The package has those that were asked for already while tests were collected, each under its public name.
    """
    return isinstance(item, pytest.DoctestItem) and item.name.startswith("discreet.") and item.path == PACKAGE
