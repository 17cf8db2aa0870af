"""What a recipe or a file says is done, or refused by name, with every engine."""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.data.reading import DataOptions, read_table
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


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    ("ending", "key", "value"),
    [
        ("csv", "sheet", '"Data"'),
        ("csv", "header_row", "3"),
        ("csv", "value_labels", '"codes"'),
        ("parquet", "separator", '";"'),
        ("parquet", "encoding", '"utf-8"'),
        ("parquet", "header_row", "2"),
    ],
)
def test_a_setting_that_says_nothing_of_such_a_file_is_refused(
    tmp_path: Path,
    engine: str,
    ending: str,
    key: str,
    value: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe, data = written(tmp_path, data=f"{key} = {value}", engine=engine), Path(table(tmp_path))
    if ending == "parquet":
        parquet.write_table(csv.read_csv(data), tmp_path / "t.parquet")
        data = tmp_path / "t.parquet"
    assert main(["run", recipe, "--data", str(data), "--out", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr().err
    assert f"[data] {key} is" in printed
    assert f"Remove {key}" in printed


def test_settings_of_a_workbook_are_refused_of_a_text_and_others_of_a_workbook() -> None:
    workbook = io.BytesIO()
    pd.DataFrame({"age": ["1", "2"], "more": ["a", "b"]}).to_excel(workbook, index=False)
    for options in (DataOptions(separator=";"), DataOptions(encoding="cp1252")):
        with pytest.raises(BadPlan, match="is a workbook"):
            read_table(workbook.getvalue(), options)
    assert read_table(workbook.getvalue(), DataOptions(header_row=1)).rows == 2
    assert read_table(b"age\n1\n", DataOptions(header_row=1)).rows == 1  # as it is anyway


@pytest.mark.parametrize(("encoding", "status"), [("cp1252", 1), ("UTF8", 0)])
def test_an_encoding_that_duckdb_does_not_read_is_refused_there(
    tmp_path: Path, encoding: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = written(tmp_path, data=f'encoding = "{encoding}"', engine="duckdb")
    asked = ["run", recipe, "--data", table(tmp_path), "--out", str(tmp_path / "out")]
    assert main(asked) == status
    assert ("encoding" in capsys.readouterr().err) == (status == 1)


@pytest.mark.parametrize(
    ("export", "more", "says"),
    [
        ('formats = "sav"', "", "[export] formats is 'sav'; allowed is a list"),
        ("", '[earlier]\npeople = "all"\n', "[earlier] says who its people are"),
    ],
)
def test_settings_of_a_wrong_form_or_of_nothing_are_refused(
    tmp_path: Path, export: str, more: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Path(written(tmp_path, export=export))
    recipe.write_text(recipe.read_text() + more, encoding="utf-8")
    asked = ["run", str(recipe), "--data", table(tmp_path), "--out", str(tmp_path / "out")]
    assert main(asked) == 1
    assert says in capsys.readouterr().err


def test_a_hierarchy_of_a_column_that_is_published_unchanged_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Path(written(tmp_path))
    recipe.write_text(recipe.read_text() + '[hierarchies]\nmore = "m.csv"\n', encoding="utf-8")
    (tmp_path / "m.csv").write_text("m0;all\nm1;all\n", encoding="utf-8")
    asked = ["run", str(recipe), "--data", table(tmp_path), "--out", str(tmp_path / "out")]
    assert main(asked) == 0
    assert "'more' has a hierarchy, and is published unchanged" in capsys.readouterr().out


@pytest.mark.parametrize("given", ["", "0", "1"])
def test_the_levels_that_a_recipe_names_are_those_of_the_release(
    tmp_path: Path, given: str
) -> None:
    (tmp_path / "age.csv").write_text(
        "".join(f"{age};{'20-21' if age < 22 else '22'};*\n" for age in (20, 21, 22)),
        encoding="utf-8",
    )

    def recipe(level: str) -> str:
        path = Path(written(tmp_path))
        named = f"age = {level}" if level else ""
        chosen = f'name = "fixed-levels"\nmax_suppression = 1.0\nlevels = {{ {named} }}'
        text = path.read_text().replace('name = "mondrian"', chosen)
        path.write_text(text + '[hierarchies]\nage = "age.csv"\n', encoding="utf-8")
        return str(path)

    data, out = table(tmp_path), str(tmp_path / "out")
    assert main(["run", recipe(given), "--data", data, "--out", out]) == 0
    for other in ("", "0", "1", "2"):
        same = other == given or {other, given} == {"", "2"}
        verified = main(["verify", recipe(other), "--data", data, "--release", out])
        assert verified == (0 if same else 3), (given, other)


def test_a_role_with_an_empty_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = Path(written(tmp_path))
    recipe.write_text(recipe.read_text().replace('["age"]', '["age", ""]'), encoding="utf-8")
    asked = ["run", str(recipe), "--data", table(tmp_path), "--out", str(tmp_path / "out")]
    assert main(asked) == 1
    assert "[roles] quasi is not a list of column names" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        '[[confirmed]]\ncolumn = "nope"\nwhat = "names"\nrows = 3',
        '[types]\nmore = "number"',
        '[labels]\nnope = "rename"',
        '[labels]\nage = { names = "they are" }',
        '[hierarchies]\nnope = "h.csv"',
        "[algorithm.weights]\nmore = 2",
        '[population]\nfile = "gone.csv"',
        "[population]\nsize = 3",
        '[earlier]\nfile = "gone.csv"',
        '[data.missing_in]\nnope = ["x"]',
        '[data.dates]\nnope = "dmy"',
        '[data]\nsheet = "a"',
        "[data]\nheader_row = 3",
    ],
)
def test_what_run_refuses_of_a_recipe_verify_refuses(tmp_path: Path, more: str) -> None:
    recipe, data, out = written(tmp_path), table(tmp_path), str(tmp_path / "out")
    (tmp_path / "h.csv").write_text("20,2*,*\n21,2*,*\n22,2*,*\n")
    verify = ["verify", recipe, "--data", data, "--release", out]
    assert main(["run", recipe, "--data", data, "--out", out]) == 0
    assert main(verify) == 0
    head, name = more.partition("\n")[0], 'name = "mondrian"\n'
    text = Path(recipe).read_text()
    text = text.replace(head, more, 1) if f"{head}\n" in text else f"{text}\n{more}\n"
    assert name in text
    Path(recipe).write_text(text)
    assert main(["run", recipe, "--data", data, "--out", str(tmp_path / "other")]) in (1, 4)
    assert main(verify) == 1


@pytest.mark.parametrize("gone", ["release.parquet", "release.csv"])
def test_a_file_of_the_release_that_is_missing_is_named(
    tmp_path: Path, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, data, out = written(tmp_path), table(tmp_path), tmp_path / "out"
    assert main(["run", recipe, "--data", data, "--out", str(out)]) == 0
    (out / gone).unlink()
    capsys.readouterr()
    verify = ["verify", recipe, "--data", data, "--release"]
    assert main([*verify, str(out)]) in (1, 3)
    printed = capsys.readouterr()
    assert gone in printed.out + printed.err
    assert main(["verify", recipe, "--release-only", "--release", str(out)]) in (1, 3)
    if gone == "release.parquet":
        assert main([*verify, str(out / "release.csv")]) == 0
    assert main([*verify, str(tmp_path / "t.csv")]) == 1
