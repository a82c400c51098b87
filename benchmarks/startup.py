"""What does somebody wait for who has just installed it? `python benchmarks/startup.py`

Prints what the package and everything that it needs take on disk (core, and with each extra), and how long the import, the
help, the first verdict and the first release of the made-up town take: cold, with no compiled kernel kept from before, and
warm. Peers that are installed are the yardstick: their size with what they need, their import, and their first answer (the
k of the same table); they have no release and no verdict to wait for.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from discreet.example import write_example

PEERS = {
    "pycanon": "from pycanon import anonymity; import pandas as pd; "
    "print(anonymity.k_anonymity(pd.read_csv('residents.csv'), ['age', 'sex', 'postcode']))",
    "anjana": "import anjana.anonymity",
    "anonymeter": "import anonymeter.evaluators",
}


def needed(name: str, extras: Sequence[str] = ()) -> set[str]:
    """A package and everything that it needs, with some of its extras."""
    seen: set[tuple[str, str]] = set()
    ahead = [(canonicalize_name(name), extra) for extra in ("", *extras)]
    while ahead:
        package, extra = ahead.pop()
        if (package, extra) in seen:
            continue
        seen.add((package, extra))
        try:
            asked = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            continue
        for requirement in map(Requirement, asked):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted = canonicalize_name(requirement.name)
                ahead += [(wanted, part) for part in ("", *requirement.extras)]
    return {package for package, _ in seen}


def megabytes(packages: set[str]) -> float:
    """What packages take on disk, without what Python compiles."""

    def files() -> Iterator[Path]:
        for package in packages:
            try:
                listed = metadata.files(package) or []
            except metadata.PackageNotFoundError:
                continue
            yield from {Path(str(file.locate())).resolve() for file in listed if ".pyc" not in file.name}

    return sum(file.stat().st_size for file in set(files()) if file.is_file()) / 1e6


def seconds(arguments: Sequence[str], folder: Path, **environment: str) -> float:
    """How long a command takes in a process of its own."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def main() -> None:
    extras = metadata.metadata("discreet").get_all("Provides-Extra") or []
    core = needed("discreet")
    print("| package | with what it needs, MB |\n|---|---|")
    print(f"| discreet | {megabytes(core):.0f} |")
    for extra in extras:
        added = needed("discreet", [extra]) - core
        print(f"| its extra `{extra}` | + {megabytes(added):.0f} |")
    installed = {canonicalize_name(d.metadata["Name"]) for d in metadata.distributions()}
    peers = [name for name in PEERS if canonicalize_name(name) in installed]
    for name in peers:
        print(f"| {name} | {megabytes(needed(name)):.0f} |")
    weights = sorted(((megabytes({name}), name) for name in core), reverse=True)[:5]
    print("\nHeaviest in the core: " + ", ".join(f"{name} {size:.0f}" for size, name in weights) + ".\n")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_example(folder)
        bare = seconds(["-c", "pass"], folder)
        steps = {
            "import": ["-c", "import discreet"],
            "help": ["-m", "discreet", "--help"],
            "first verdict": ["-m", "discreet", "audit", "residents.csv", "-q"],
            "first release": ["-m", "discreet", "anonymize", "residents.csv", "-o", "release.csv", "-q"],
        }
        print("| step | cold, s | warm, s |\n|---|---|---|")
        print(f"| Python itself | {bare:.2f} | {bare:.2f} |")
        for number, (step, arguments) in enumerate(steps.items()):
            kept = str(folder / f"kernels-{number}")
            cold, warm = (seconds(arguments, folder, NUMBA_CACHE_DIR=kept) for _ in range(2))
            print(f"| {step} | {cold:.2f} | {warm:.2f} |", flush=True)
        for name in peers:
            imported = seconds(["-c", re.split(r"[;\n]", PEERS[name])[0]], folder)
            print(f"| {name}: import | {imported:.2f} | |")
            if ";" in PEERS[name]:
                print(f"| {name}: first k | {seconds(['-c', PEERS[name]], folder):.2f} | |", flush=True)


if __name__ == "__main__":
    main()
