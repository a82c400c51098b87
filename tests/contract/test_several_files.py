"""A table may lie in several files: on every engine they are the same rows, and folders called ``sex=f`` are columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.engine.duckdb import DuckDBEngine
from discreet.engine.protocol import Engine
from discreet.engine.read import read
from discreet.errors import InvalidParameter, UnreadableInput
from discreet.files.writing import refuse_clashes

JANUARY = pa.table({"age": [31, 47], "ill": ["flu", None]})
FEBRUARY = pa.table({"age": [62], "ill": ["cold"]})


def shown(pattern: str, engine: Engine) -> list[dict[str, object]]:
    table = read(f"glob:{pattern}", engine=engine)
    return sorted(table.engine.to_arrow(table).to_pylist(), key=str)


def written(folder: Path, *parts: tuple[str, pa.Table]) -> Path:
    for name, rows in parts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(rows, folder / name)
    return folder


def test_folders_of_parquet_files_are_one_table(engine: Engine, tmp_path: Path) -> None:
    null = "__HIVE_DEFAULT_PARTITION__"
    written(
        tmp_path,
        ("town=A%20b/sex=f/0.parquet", JANUARY),
        (f"town=01/sex={null}/0.parquet", FEBRUARY),
        ("other.txt", FEBRUARY),
    )
    assert shown(f"{tmp_path}/**/*.parquet", engine) == [
        {"age": 31, "ill": "flu", "town": "A b", "sex": "f"},
        {"age": 47, "ill": None, "town": "A b", "sex": "f"},
        {"age": 62, "ill": "cold", "town": "01", "sex": None},
    ]
    # What the pattern says itself is no column.
    table = read(f"glob:{tmp_path}/town=01/*/*.parquet", engine=engine)
    assert (table.names, table.rows) == (("age", "ill", "sex"), 1)
    assert table.source.settings["files"] == 1
    assert table.source.name == "town=01/*/*.parquet"


@pytest.mark.parametrize("second", ['age,ill\n62,"co""ld"\n', '\ufeffage,ill\n62,"co""ld"\n'])
def test_text_files_are_one_table_with_types_of_all_of_them(
    engine: Engine, tmp_path: Path, second: str
) -> None:
    (tmp_path / "year=2023").mkdir()
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2023" / "a.csv").write_text("age,ill\n31,flu\n47,\n")
    (tmp_path / "year=2024" / "b.csv").write_text(second, encoding="utf-8")
    table = read(f"glob:{tmp_path}/year=*/*.csv", engine=engine)
    assert {column.name: column.storage for column in table.columns}["age"] == "integer"
    assert shown(f"{tmp_path}/year=*/*.csv", engine) == [
        {"age": 31, "ill": "flu", "year": 2023},
        {"age": 47, "ill": "", "year": 2023},
        {"age": 62, "ill": 'co"ld', "year": 2024},
    ]


def test_rows_can_be_limited(engine: Engine, tmp_path: Path) -> None:
    written(tmp_path, ("a.parquet", JANUARY), ("b.parquet", FEBRUARY))
    assert read(f"glob:{tmp_path}/*.parquet", rows=2, engine=engine).rows == 2


# ── what is refused needs no engine ───────────────────────────────────────────────────────────────


def test_a_path_stays_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("glob:a*.csv").write_text("age\n31\n")
    Path("a1.csv").write_text("age\n31\n47\n")
    assert read("glob:a*.csv").rows == 1
    with pytest.raises(UnreadableInput, match=r"there is no file a\*.csv"):
        read("a*.csv")


def test_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    engine = DuckDBEngine()
    written(tmp_path, ("a.parquet", JANUARY), ("b.parquet", FEBRUARY.append_column("zip", pa.array([1]))))
    (tmp_path / "a.csv").write_text("age,ill\n31,flu\n")
    (tmp_path / "b.csv").write_text("ill,age\nflu,31\n")
    for pattern in ("*.parquet", "*.csv", "a.*"):
        with pytest.raises(UnreadableInput, match=r"another format or other columns than a\."):
            read(f"glob:{tmp_path}/{pattern}", engine=engine)
    with pytest.raises(UnreadableInput, match="no file fits"):
        read(f"glob:{tmp_path}/*.tsv", engine=engine)
    engine.close()


def test_folders_must_divide_alike(tmp_path: Path) -> None:
    written(tmp_path, ("sex=f/a.parquet", JANUARY), ("b.parquet", FEBRUARY))
    with pytest.raises(UnreadableInput, match="name other columns"):
        read(f"glob:{tmp_path}/**/*.parquet")
    written(tmp_path, ("c/ill=flu/a.parquet", JANUARY))
    with pytest.raises(UnreadableInput, match="'ill' is a column of the files and the name of a folder"):
        read(f"glob:{tmp_path}/c/*/*.parquet")


def test_none_of_the_files_is_overwritten(tmp_path: Path) -> None:
    written(tmp_path, ("a.parquet", JANUARY), ("b.parquet", FEBRUARY))
    with pytest.raises(InvalidParameter, match=r"b\.parquet is a file that is read"):
        refuse_clashes([tmp_path / "b.parquet"], [Path(f"glob:{tmp_path}/*.parquet")])
