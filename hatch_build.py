"""Compiles the loops of discreet into an extension when a wheel is built, so that nobody waits for it or needs a compiler.

    python hatch_build.py FOLDER    writes the extension there, as the build does

An editable installation, and a build without a C compiler, has no extension: it needs numba then, which is said in its metadata.

The README goes along as an index shows it, where links into the repository lead nowhere: with DISCREET_HOME set to the address
of the repository, they lead there, and the package names it; else their words stay, without links.
"""

from __future__ import annotations

import importlib
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import typing
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

HOOK = Path(__file__).resolve()
SOURCE = HOOK.parent / "src"
NUMBA = "numba>=0.60"
BASELINE = {"x86_64": "x86-64-v2", "amd64": "x86-64-v2"}
"""The oldest processor that the extension runs on: where Arrow, too, runs on no older one."""


class CustomMetadataHook(MetadataHookInterface):
    """Says where the project lies, and describes it by its README."""

    def update(self, metadata: dict[str, Any]) -> None:
        home = os.environ.get("DISCREET_HOME", "").rstrip("/")
        text = HOOK.with_name("README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": as_shown_elsewhere(text, home)}
        if home:
            metadata["urls"] = {
                "Homepage": home,
                "Documentation": f"{home}/blob/HEAD/docs/index.md",
                "Changelog": f"{home}/blob/HEAD/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }


def as_shown_elsewhere(text: str, home: str) -> str:
    """Markdown of this repository for a place where its files are not: links lead to its home, or are only words."""

    def replaced(link: re.Match[str]) -> str:
        image, words, target = link["image"], link["words"], link["target"]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        if not home:
            return "" if image else words
        return f"{image}[{words}]({home}/{'raw' if image else 'blob'}/HEAD/{target})"

    return re.sub(r"(?P<image>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)", replaced, text)


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the extension to a wheel."""

    folder: str | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        extension = None if version == "editable" else self._compiled()
        if extension is None:
            build_data["dependencies"].append(NUMBA)
            return
        build_data["force_include"][str(extension)] = f"discreet/{extension.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def _compiled(self) -> Path | None:
        self.folder = tempfile.mkdtemp(prefix="discreet-kernels-")
        # A process of its own: what numba compiles for is decided before it is imported.
        built = subprocess.run([sys.executable, str(HOOK), self.folder], capture_output=True, text=True)
        extensions = [
            file for file in Path(self.folder).iterdir() if file.name.endswith(tuple(EXTENSION_SUFFIXES))
        ]
        if built.returncode or not extensions:
            self.app.display_warning(
                f"The loops are not compiled ahead, numba will do it:\n{built.stderr[-2000:]}"
            )
            return None
        return extensions[0]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder)


def kernels() -> list[Callable[..., Any]]:
    """Every loop that is called from outside, as it is written."""
    from discreet.compiled import registered

    for file in sorted(SOURCE.rglob("*kernels.py")):
        importlib.import_module(".".join(file.relative_to(SOURCE).with_suffix("").parts))
    return registered


def signatures(function: Callable[..., Any]) -> Iterator[list[Any]]:
    """For which parameters a loop is compiled, by its annotations: one list for each choice of widths that they leave open."""
    hints = typing.get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    yield from map(list, itertools.product(*map(types_of, hints.values())))


def types_of(hint: Any) -> list[Any]:
    """What numba calls the types that an annotation allows."""
    from numba import types

    from discreet.types import AnyIntArray, CodeArray

    widths = {AnyIntArray: ("i4", "i8"), CodeArray: ("u1", "u2", "u4", "u8")}
    scalars = {int: types.int64, float: types.float64, bool: types.boolean}
    if hint in scalars:
        return [scalars[hint]]
    if hint in widths:
        return [array(item) for item in widths[hint]]
    if typing.get_origin(hint) is typing.Annotated:
        held, dimensions = typing.get_args(hint)
        return [array(item_of(held), dimensions)]
    if typing.get_origin(hint) is tuple:
        return [types.Tuple([types_of(field)[0] for field in typing.get_args(hint)])]
    if isinstance(hint, type) and issubclass(hint, tuple):
        fields = typing.get_type_hints(hint, include_extras=True)
        return [types.NamedTuple([types_of(field)[0] for field in fields.values()], hint)]
    return [array(item_of(hint))]


def item_of(hint: Any) -> Any:
    """What an annotated array holds. Its type has a shape before it, or a name of its own: since numpy 2.5 under Python 3.12."""
    while held := typing.get_args(hint):
        hint = held[-1]
    return hint


def array(item: Any, dimensions: int = 1) -> Any:
    import numpy as np
    from numba import from_dtype, types

    return types.Array(from_dtype(np.dtype(item)), dimensions, "C")


def kinds(parameters: Sequence[Any]) -> Iterator[str]:
    """The kinds of parameters, as calls tell them."""
    import numpy as np
    from numba import types
    from numba.np.numpy_support import as_dtype

    from discreet.compiled import SCALAR

    for parameter in parameters:
        if isinstance(parameter, types.Array):
            yield f"{np.dtype(as_dtype(parameter.dtype)).str[1:]}d{parameter.ndim}"
        elif isinstance(parameter, types.BaseTuple):
            yield from kinds(parameter.types)
        else:
            yield SCALAR


def compile_into(folder: Path) -> None:
    """Compile every loop for every signature."""
    warnings.simplefilter("ignore")  # that this way of compiling will be replaced one day
    from numba.pycc import CC, compiler

    from discreet.compiled import symbol

    plain = compiler.Flags

    def flags() -> Any:
        chosen = plain()
        chosen.release_gil = True
        return chosen

    compiler.Flags = flags
    extension = CC("_kernels", source_module="__main__")
    extension.output_dir = str(folder)
    extension.target_cpu = os.environ["NUMBA_CPU_NAME"]
    for function in kernels():
        for parameters in signatures(function):
            extension.export(symbol(function, kinds(parameters)), tuple(parameters))(function)
    extension.compile()


if __name__ == "__main__":
    # What a kernel calls is compiled by numba as for a call: for the same processors, and without what it kept before.
    os.environ["NUMBA_CPU_NAME"] = BASELINE.get(platform.machine().lower(), "generic")
    os.environ["NUMBA_CPU_FEATURES"] = ""
    with tempfile.TemporaryDirectory() as kept:
        os.environ["NUMBA_CACHE_DIR"] = kept
        sys.path.insert(0, str(SOURCE))
        compile_into(Path(sys.argv[1]))
