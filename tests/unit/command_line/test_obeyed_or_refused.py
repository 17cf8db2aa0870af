"""What a recipe or a file says is done, or refused by name, with every engine."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from anon_core.__main__ import main
from anon_core.data.reading import read_table
from anon_core.verification.files.reading import read_table as read_again

RECIPE = """
version = 3
[data]
{data}
[roles]
quasi = ["age"]
insensitive = ["more"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
[export]
{export}
[engine]
name = "{engine}"
"""


def written(folder: Path, *, data: str = "", export: str = "", engine: str = "memory") -> str:
    path = folder / "r.toml"
    path.write_text(RECIPE.format(data=data, export=export, engine=engine), encoding="utf-8")
    return str(path)


def table(folder: Path) -> str:
    path = folder / "t.csv"
    rows = "".join(f"{20 + i % 3},m{i % 2}\n" for i in range(12))
    path.write_text("age,more\n" + rows, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_that_no_table_has_is_refused_where_missing_texts_are_named(
    tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = written(tmp_path, data='missing_in = { Age = ["-9"] }', engine=engine)
    out = str(tmp_path / "out")
    assert main(["run", recipe, "--data", table(tmp_path), "--out", out]) == 4
    printed = capsys.readouterr().err
    assert "no column 'Age'" in printed
    assert "'age'" in printed


def test_a_csv_file_in_a_release_of_parquet_alone_is_foreign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, data = written(tmp_path, export="csv = false"), table(tmp_path)
    out = tmp_path / "out"
    assert main(["run", recipe, "--data", data, "--out", str(out)]) == 0
    asked = ["verify", recipe, "--data", data, "--release", str(out)]
    assert main(asked) == 0
    rows = parquet.read_table(out / "release.parquet").to_pylist()
    planted = "age,more\n" + "".join(f"{r['age']},{r['more']}\n" for r in rows)
    (out / "release.csv").write_text(planted, encoding="utf-8")
    capsys.readouterr()
    assert main(asked) == 3
    assert "files" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1, 2]] * 6),
        pa.array([{"a": 1}] * 6),
        pa.array([b"\xff\x00"] * 6),
        pa.array([datetime.timedelta(seconds=1)] * 6),
    ],
    ids=["list", "struct", "bytes", "duration"],
)
def test_values_that_are_no_plain_ones_are_refused_or_read_alike(
    tmp_path: Path, engine: str, values: pa.Array, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"age": [1, 1, 1, 2, 2, 2], "more": values}), path)
    recipe, out = written(tmp_path, engine=engine), str(tmp_path / "out")
    status = main(["run", recipe, "--data", str(path), "--out", out])
    printed = capsys.readouterr().err
    assert "error of the workbench" not in printed
    if status:
        assert "column 'more' holds" in printed
    else:
        assert (engine, values.type) == ("memory", pa.duration("us"))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_times_of_day_in_nanoseconds_are_kept_or_refused(
    tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    second = 10**9
    times = [second, second + 5000, second + 5, second + 6, second * 86_399 + 999_999_999, None]
    wanted = [
        "00:00:01", "00:00:01.000005", "00:00:01.000000005", "00:00:01.000000006",
        "23:59:59.999999999", None,
    ]  # fmt: skip
    path, out = tmp_path / "t.parquet", tmp_path / "out"
    ages = pa.array([1, 1, 1, 2, 2, 2])
    parquet.write_table(pa.table({"age": ages, "more": pa.array(times, pa.time64("ns"))}), path)
    recipe = written(tmp_path, engine=engine)
    status = main(["run", recipe, "--data", str(path), "--out", str(out)])
    if engine == "duckdb":
        assert status == 1
        assert "column 'more' holds times in nanoseconds" in capsys.readouterr().err
        return
    assert status == 0, capsys.readouterr().err
    assert read_table(path).column("more").texts().tolist() == wanted
    assert read_again(path).column("more").row_texts() == wanted
    assert main(["verify", recipe, "--data", str(path), "--release", str(out)]) == 0


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(("first", "lacks"), [("20", "-9"), ("old", "k.A.")])
def test_a_value_that_a_hierarchy_lacks_is_refused_alike_by_every_engine(
    tmp_path: Path, engine: str, first: str, lacks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "age.csv").write_text(f"{first};all\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text(
        "age,more\n" + f"{first},m\n" * 6 + f"{lacks},m\n" * 3, encoding="utf-8"
    )
    recipe = Path(written(tmp_path, engine=engine))
    recipe.write_text(recipe.read_text() + '[hierarchies]\nage = "age.csv"\n', encoding="utf-8")
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
    assert main(asked) == 4
    assert "lacks 1 of the column's 2 values; they are in 3 rows" in capsys.readouterr().err
