"""`make fuzz N=1000 SEED=1`: random releases, broken files, random commands, random requests and kills, as many of each as are wanted.

Everything follows from its seed. A run that was stopped goes on where it was; one that was killed by what it tried says
so and goes on behind it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "truth"), str(TESTS / "fuzz")]

Try = Callable[[int], list[str]]


@contextmanager
def releases() -> Iterator[Try]:
    from random_releases import release

    with tempfile.TemporaryDirectory() as folder:
        yield lambda seed: release(seed, Path(folder))


@contextmanager
def files() -> Iterator[Try]:
    from broken_files import try_file

    with tempfile.TemporaryDirectory() as folder:
        yield lambda seed: try_file(seed, Path(folder))


@contextmanager
def requests() -> Iterator[Try]:
    from random_requests import Attack, page

    with page() as there:
        attack = Attack(there)
        yield attack.request
        print(f"requests: {dict(sorted(attack.statuses.items()))}")


@contextmanager
def kills() -> Iterator[Try]:
    from kills import Kills

    with tempfile.TemporaryDirectory() as folder:
        yield Kills(Path(folder)).attempt


@contextmanager
def commands() -> Iterator[Try]:
    from random_commands import Commands

    with tempfile.TemporaryDirectory() as folder:
        yield Commands(Path(folder)).attempt


@contextmanager
def kinds() -> Iterator[Try]:
    from random_kinds import attempt

    with tempfile.TemporaryDirectory() as folder:
        yield lambda seed: attempt(seed, Path(folder))


KINDS = {
    "releases": releases,
    "kinds": kinds,
    "files": files,
    "commands": commands,
    "requests": requests,
    "kills": kills,
}


class Progress:
    """How far each kind of one seed is, kept in a file."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._done: dict[str, int] = json.loads(place.read_text()) if place.exists() else {}

    def get(self, name: str) -> int:
        return self._done.get(name, 0)

    def put(self, name: str, value: int) -> None:
        self._done[name] = value
        self._place.write_text(json.dumps(self._done))


def fuzz(kind: str, count: int, first: int, progress: Progress) -> int:
    """Try the seeds of a kind that are not done; how many mistakes there were."""
    name = f"{kind} from {first}"
    done = progress.get(name)
    if progress.get(f"{name}, begun") > done:
        print(f"{kind}: the process died at seed {first + done}", flush=True)
        done += 1
    mistakes = 0
    began = time.monotonic()
    print(f"{kind}: seeds {first + done} to {first + count - 1}", flush=True)
    with KINDS[kind]() as attempt:
        for number in range(done, count):
            progress.put(f"{name}, begun", number + 1)
            for mistake in attempt(first + number):
                mistakes += 1
                print(f"{kind}, seed {first + number}: {mistake}", flush=True)
            progress.put(name, number + 1)
    print(
        f"{kind}: {count - done} tried in {time.monotonic() - began:.0f} s, {mistakes} mistakes", flush=True
    )
    return mistakes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "kinds", nargs="*", default=list(KINDS), help=f"of {', '.join(KINDS)}; all if not given"
    )
    parser.add_argument("--count", type=int, default=1000, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument(
        "--state", type=Path, default=Path(".fuzz.json"), help="where it is kept how far a run is"
    )
    given = parser.parse_args()
    progress = Progress(given.state)
    mistakes = [fuzz(kind, given.count, given.seed, progress) for kind in given.kinds]
    sys.exit(1 if any(mistakes) else 0)


if __name__ == "__main__":
    main()
