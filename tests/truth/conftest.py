"""What several recomputations share."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_losses import TREES


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The trees as hierarchy files."""
    folder = tmp_path_factory.mktemp("trees")
    paths = {}
    for name, tree in TREES.items():
        paths[name] = folder / f"{name}.csv"
        paths[name].write_text("\n".join(";".join(path) for path in tree.values()) + "\n", encoding="utf-8")
    return paths
