"""A folder of files is the same table as one file, for every engine and for verification."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadInput
from anon_core.data.reading import read_table
from anon_core.verification.files import reading as second

RECIPE = """
version = 3
[roles]
quasi = ["age", "place"]
sensitive = ["illness"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 4
"""
ROWS = 90


def _table() -> pa.Table:
    draw = np.random.default_rng(15)
    return pa.table(
        {
            "age": pa.array(draw.integers(20, 60, ROWS)),
            "illness": draw.choice(["flu", "cold", 'a "b",\nc'], ROWS),
            "place": pa.array(np.sort(draw.choice(["a/b", "ü", "c"], ROWS))),
        }
    )


def _csv(table: pa.Table) -> bytes:
    return table.to_pandas().to_csv(index=False, lineterminator="\n").encode()


def _parts(folder: Path, kind: str) -> Path:
    """Write the table as three parts, the last rows first."""
    table = _table()
    folder.mkdir()
    (folder / "_SUCCESS").write_bytes(b"")
    for number, (start, rows) in enumerate([(60, 30), (0, 25), (25, 35)]):
        part = table.slice(start, rows)
        if kind == "parquet":
            (folder / "more").mkdir(exist_ok=True)
            place = folder / ("more" if number else "") / f"{number}.parquet"
            pq.write_table(part, place, row_group_size=20)
        elif kind == "csv":
            (folder / f"{number}.csv").write_bytes(_csv(part)[: -1 if number == 0 else None])
        else:
            (folder / f"{number}.gz").write_bytes(gzip.compress(_csv(part)))
    return folder


def hive(folder: Path) -> Path:
    table = _table()
    for value, written in (("a/b", "a%2Fb"), ("ü", "%C3%BC"), ("c", "c")):
        place = folder / "year=2024" / f"place={written}"
        place.mkdir(parents=True)
        kept = table.filter(pa.compute.equal(table["place"], value))
        pq.write_table(kept.drop_columns(["place"]), place / "part-0.parquet")
    return folder


def _released(tmp_path: Path, data: Path, engine: str, name: str) -> bytes:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE)
    out = tmp_path / name
    asked = ["--data", str(data), "--out", str(out), "--engine", engine]
    assert main(["run", str(recipe), *asked]) == 0
    return (out / "release.csv").read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "csv", "gzip", "hive"])
def test_folder_is_released_as_the_one_file_is(tmp_path: Path, kind: str) -> None:
    pq.write_table(_table(), tmp_path / "one.parquet")
    wanted = _released(tmp_path, tmp_path / "one.parquet", "memory", "one")
    folder = hive(tmp_path / "in") if kind == "hive" else _parts(tmp_path / "in", kind)
    for engine in ("memory", "duckdb"):
        assert _released(tmp_path, folder, engine, engine) == wanted
    # Another order of the parts is the same release: what order the rows had cannot show.
    if kind == "csv":
        (folder / "0.csv").rename(folder / "9.csv")
        assert _released(tmp_path, folder, "duckdb", "again") == wanted


def test_changed_row_of_a_part_is_found(tmp_path: Path) -> None:
    folder = hive(tmp_path / "in")
    _released(tmp_path, folder, "memory", "out")
    check = [
        *("verify", str(tmp_path / "recipe.toml")),
        *("--data", str(folder), "--release", str(tmp_path / "out")),
    ]
    assert main(check) == 0
    part = folder / "year=2024" / "place=c" / "part-0.parquet"
    table = pq.read_table(part, partitioning=None)
    other = ["cold" if table["illness"][0].as_py() == "flu" else "flu"]
    values = pa.array(other + table["illness"].to_pylist()[1:])
    pq.write_table(table.set_column(1, "illness", values), part)
    assert main(check) == 3


def test_hive_columns_without_value_are_missing_for_both_readers(tmp_path: Path) -> None:
    for name, value in (("a", "__HIVE_DEFAULT_PARTITION__"), ("b", "01")):
        place = tmp_path / "in" / f"x={value}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"n": [1, 2]}), place / f"{name}.parquet")
    column = read_table(tmp_path / "in").column("x")
    assert column.missing == 2
    assert list(column.values) == ["01"]
    loaded = second.read_table(tmp_path / "in").column("x").row_texts()
    assert sorted(loaded, key=str) == ["01", "01", None, None]


def _refused(folder: Path) -> str:
    with pytest.raises(BadInput) as error:
        read_table(folder)
    return error.value.message


def test_what_is_no_part_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    assert "folder in holds no file" in _refused(folder)
    pq.write_table(pa.table({"x": [1], "y": ["a"]}), folder / "a.parquet")
    (folder / "b.csv").write_text("x,y\n1,a\n")
    assert "b.csv is CSV" in _refused(folder)
    (folder / "b.csv").unlink()
    for other, words in (
        (pa.table({"y": ["a"], "x": [1]}), "c.parquet has other columns than a.parquet"),
        (pa.table({"x": [1.5], "y": ["a"]}), "The column 'x' has another type in c.parquet"),
    ):
        pq.write_table(other, folder / "c.parquet")
        assert words in _refused(folder)
    (folder / "c.parquet").write_bytes(b"PAR1 broken")
    assert "c.parquet is a broken" in _refused(folder)
    (folder / "c.parquet").unlink()
    (folder / "x=1").mkdir()
    pq.write_table(pa.table({"x": [1], "y": ["a"]}), folder / "x=1" / "d.parquet")
    assert "x=1/d.parquet define other columns" in _refused(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"y,x\n1,2\n", "b.csv has other columns than a.csv"),
        (b'x,y\n1,"2\n', "A quote stays open in b.csv"),
        (b"x,y\n1,\xe9\n", "b.csv is not written in UTF-8"),
        ("x,y\n1,2\n".encode("utf-16"), "b.csv is not CSV in UTF-8"),
    ],
)
def test_csv_part_that_does_not_fit_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,ü\n", encoding="utf-8")
    (tmp_path / "b.csv").write_bytes(content)
    assert words in _refused(tmp_path)


def test_release_is_not_written_into_the_folder_it_is_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _parts(tmp_path / "in", "csv")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    asked = ["--data", str(folder), "--out", str(folder / "out")]
    assert main(["run", str(tmp_path / "recipe.toml"), *asked]) != 0
    assert "would overwrite" in capsys.readouterr().err
    assert not (folder / "out").exists()
