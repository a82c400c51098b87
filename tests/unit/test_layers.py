"""Imports go down only, SQL stays in the engine, modules stay small, and starting is quick."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

import discreet

SOURCE = Path(discreet.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 500
MAX_PARAMETERS = 7
MAX_FUNCTION_LINES = 80

BOTTOM = {"arrays", "compiled", "errors", "files", "measure", "plain", "progress", "sentences", "types"}
COUNTED = BOTTOM | {"table", "classes"}
FAMILIES = COUNTED | {"privacy", "risk", "utility", "transform", "perturb"}
ALLOWED: dict[str, set[str]] = {
    "arrays": {"types"},
    "compiled": {"_kernels"},
    "errors": {"sentences"},
    "files": {"errors", "sentences"},
    "kinds": {"errors", "sentences"},
    "measure": {"plain", "types"},
    "plain": {"types"},
    "progress": {"types"},
    "sentences": set(),
    "types": set(),
    "table": BOTTOM,
    "classes": BOTTOM | {"table"},
    "engine": COUNTED,
    "privacy": COUNTED,
    "risk": COUNTED,
    "utility": COUNTED | {"risk.dependence"},
    "transform": COUNTED,
    "perturb": COUNTED,
    "search": FAMILIES,
    "attacks": FAMILIES,
    "policy": COUNTED | {"privacy", "risk", "perturb", "engine.read", "dp.amounts"},
    "dp": COUNTED | {"engine.read", "engine.question", "engine.bounded"},
    "release": FAMILIES | {"search", "attacks", "policy", "dp", "engine.read", "engine.targets"},
    "baskets": COUNTED | {"privacy"},
    "register": FAMILIES | {"search", "attacks", "policy", "release"},
    "relational": FAMILIES | {"search", "policy", "release", "baskets", "engine.read", "engine.table_sets"},
    "reports": FAMILIES
    | {"search", "attacks", "policy", "release", "dp", "register", "baskets", "relational"},
    "web": FAMILIES
    | {
        "search",
        "attacks",
        "policy",
        "release",
        "reports",
        "dp",
        "engine",
        "register",
        "baskets",
        "relational",
        "example",
    },
    "cli": FAMILIES
    | {
        "search",
        "attacks",
        "policy",
        "release",
        "reports",
        "dp",
        "register",
        "baskets",
        "relational",
        "engine",
        "example",
        "web",
    },
    "example": BOTTOM,
    "sklearn": BOTTOM | {"__init__", "policy", "transform"},
    "pytest_plugin": {"__init__", "policy", "release"},
    "__init__": set(),  # and whatever is public, by its name
    "__main__": {"cli"},
}
"""What each room may import besides itself. ``engine.read`` opens that module of the engine only."""

ALLOWED_MODULES = {"release/rendered.py": {"reports"}}
"""What one module may import beyond its room: results know how they are shown only through it."""

BY_NAME = {"__init__.py", "attacks/catalogue.py", "release/rendered.py", "web/jobs/worker.py"}
"""Modules that may import by a name: tables of what is loaded when it is asked for, and what shows results."""

VAGUE = {"found", "one", "settle", "perform", "beyond"}
"""Names that do not say what they hold or do."""

NO_ROWS = {"privacy", "risk", "utility", "transform", "perturb", "search", "attacks", "classes"}
FRAMES = {"narwhals", "pandas", "polars", "duckdb", "pyspark"}
SQL = ("SELECT ", "GROUP BY", "CREATE ")
SLOW = ("duckdb", "pyarrow", "scipy", "pandas")


def label(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module: every rule looks at them."""
    return tuple(ast.walk(parsed(path)))


def runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but what stands under ``if TYPE_CHECKING``: types do not couple at run time."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            todo += node.orelse
        else:
            yield node
            todo += ast.iter_child_nodes(node)


@cache
def imports(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in runtime_nodes(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{label(path)} imports relatively: name the module in full"
            found.add(node.module or "")
            if node.module == "discreet":
                found |= {f"discreet.{alias.name}" for alias in node.names}
    return found


def upward(path: Path) -> set[str]:
    """Imports of other rooms that this module's room may not make."""
    own = room(path)
    found = set()
    for module in imports(path):
        parts = module.split(".")
        if parts[0] == "discreet" and len(parts) > 1 and parts[1] != own:
            place = {parts[1], ".".join(parts[1:3])}
            if not place & (ALLOWED[own] | ALLOWED_MODULES.get(label(path), set())):
                found.add(module)
    return found


def test_every_room_is_known() -> None:
    assert {room(path) for path in MODULES} - set(ALLOWED) == set(), (
        "say in ALLOWED what the new room may import"
    )


def offences(
    check: Callable[[Path], Collection[object]], concerned: Callable[[Path], bool] = lambda path: True
) -> dict[str, Collection[object]]:
    """What a check finds wrong, by module: one test says all of it at once."""
    return {label(path): wrong for path in MODULES if concerned(path) and (wrong := check(path))}


def test_imports_go_down_only() -> None:
    assert offences(upward) == {}, "these import what lies above or beside their rooms"


def test_models_and_risks_know_no_rows() -> None:
    def frames(path: Path) -> set[str]:
        return {module.split(".")[0] for module in imports(path)} & FRAMES

    assert offences(frames, lambda path: room(path) in NO_ROWS) == {}


def sql(path: Path) -> list[str]:
    """The lines that hold SQL."""
    return [
        f"line {node.lineno}"
        for node in nodes(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(word in node.value for word in SQL)
    ]


def test_sql_is_written_in_the_engine_only() -> None:
    assert offences(sql, lambda path: room(path) != "engine") == {}


def late_imports(path: Path) -> set[str]:
    """Modules of our own package that are imported inside functions; compiled kernels may be."""
    late = set()
    for function in functions(path):
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom):
                late.add(node.module or "")
            elif isinstance(node, ast.Import):
                late |= {alias.name for alias in node.names}
    return {name for name in late if name.split(".")[0] == "discreet" and not name.endswith("kernels")}


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def oversized(path: Path) -> list[str]:
    """Functions with too many positional parameters (``self`` aside) or lines."""
    large = []
    for function in functions(path):
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        parameters = len(names) - (names[:1] in (["self"], ["cls"]))
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if parameters > MAX_PARAMETERS or lines > MAX_FUNCTION_LINES:
            large.append(f"{function.name}: {parameters} parameters, {lines} lines")
    return large


@cache
def bound_names(path: Path) -> set[str]:
    """Every name that a module binds, but for fields of results, which are public: variables, parameters, functions."""
    fields = {
        id(line.target)
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    names = set()
    for node in nodes(path):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name.strip("_"))
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def test_our_own_package_is_imported_at_the_top() -> None:
    def by_name(path: Path) -> set[str]:
        return bound_names(path) & {"import_module"}

    assert offences(late_imports, lambda path: room(path) != "cli") == {}, (
        "a cycle or a dependency is hidden inside a function"
    )
    assert offences(by_name, lambda path: room(path) != "cli" and label(path) not in BY_NAME) == {}, (
        "import what is named at the top"
    )


def test_no_class_name_stands_for_two_things() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(label(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_functions_stay_small() -> None:
    assert offences(oversized, lambda path: room(path) != "cli" and not path.stem.endswith("kernels")) == {}


def test_names_say_what_they_hold() -> None:
    assert offences(lambda path: bound_names(path) & VAGUE) == {}, "name it after what it holds or does"


def test_a_module_has_one_subject_and_stays_small() -> None:
    def too_long(path: Path) -> list[str]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        return [f"{lines} lines"] if lines > MAX_LINES else []

    assert offences(too_long) == {}


@pytest.mark.parametrize(
    "start",
    [
        "import discreet",
        "import sys; sys.argv = ['discreet', '--help']\n"
        "from discreet.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code",
    ],
    ids=["import discreet", "discreet --help"],
)
def test_starting_loads_nothing_slow(start: str) -> None:
    script = f"{start}\nimport sys\nprint('loaded:', *({set(SLOW)} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]


LATE = ("scipy.optimize", "scipy.stats")
"""What takes a quarter of a second to import and few commands need: whoever needs it imports it then."""


def imports_at_the_top(path: Path) -> set[str]:
    return {
        name
        for node in parsed(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        )
    }


def test_no_module_imports_at_its_top_what_few_commands_need() -> None:
    assert offences(lambda path: imports_at_the_top(path) & set(LATE)) == {}


def test_the_checks_see_what_they_should(tmp_path: Path) -> None:
    module = tmp_path / "bad.py"
    module.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import polars\n"
        "def late():\n    from discreet.cli import main\n    import duckdb.typing\n"
    )
    assert imports(module) == {"typing", "discreet.cli", "duckdb.typing"}
    assert late_imports(module) == {"discreet.cli"}
    module = tmp_path / "early.py"
    module.write_text("from scipy import stats\nimport scipy.optimize\ndef late():\n    import pandas\n")
    assert imports_at_the_top(module) == {"scipy", "scipy.stats", "scipy.optimize"}
    module = tmp_path / "many.py"
    module.write_text("def many(a, b, c, d, e, f, g, h, *, i):\n    found = a\n    return found\n")
    assert oversized(module) == ["many: 8 parameters, 3 lines"]
    assert bound_names(module) >= {"many", "found", "h", "i"}
    module = tmp_path / "query.py"
    module.write_text("QUERY = 'SELECT 1'\n")
    assert sql(module) == ["line 1"]
