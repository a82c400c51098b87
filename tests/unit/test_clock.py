"""Searches end by the work of this process: not by how busy the machine is, and not by compiling."""

from __future__ import annotations

import numba
import pytest
from numba.core import event

from discreet.search.clock import WorkClock


class Hands:
    """Hands of the two clocks that the test moves."""

    passed = 0.0
    busy = 0.0


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    moved = Hands()
    monkeypatch.setattr("discreet.search.clock.time.monotonic", lambda: moved.passed)
    monkeypatch.setattr("discreet.search.clock.time.process_time", lambda: moved.busy)
    return moved


@pytest.mark.parametrize(
    ("passed", "busy", "counted"),
    [
        (2.0, 2.0, 2.0),  # alone on one core
        (4.0, 2.0, 2.0),  # beside another process
        (2.0, 4.0, 2.0),  # on two cores
        (60.0, 2.0, 20.0),  # waiting for a processor that others have: nobody waits for ever
    ],
)
def test_work_counts_and_waiting_by_a_third(hands: Hands, passed: float, busy: float, counted: float) -> None:
    clock = WorkClock()
    start = clock.now()
    hands.passed, hands.busy = passed, busy
    assert clock.now() - start == pytest.approx(counted)


def test_waiting_before_a_search_buys_it_no_time(hands: Hands) -> None:
    clock = WorkClock()
    hands.passed, hands.busy = 3600.0, 1.0
    start = clock.now()
    hands.passed, hands.busy = 3601.0, 2.0
    assert clock.now() - start == pytest.approx(1.0)


class Compiling(event.Listener):
    """Moves the hands while numba compiles, and at no other time."""

    def __init__(self, hands: Hands) -> None:
        self.hands = hands

    def on_start(self, event: object) -> None:
        self.hands.passed += 7
        self.hands.busy += 7

    def on_end(self, event: object) -> None:
        pass


def test_compiling_a_kernel_takes_no_time_from_a_search(hands: Hands) -> None:
    clock = WorkClock()
    start = clock.now()

    @numba.njit
    def inner(number: int) -> int:
        return number + 1

    @numba.njit
    def outer(number: int) -> int:
        return inner(number) * 2

    with event.install_listener("numba:compile", Compiling(hands)):
        assert outer(3) == 8
    assert hands.passed >= 7
    assert clock.now() == start
    hands.passed, hands.busy = hands.passed + 2, hands.busy + 2
    assert clock.now() - start == 2
