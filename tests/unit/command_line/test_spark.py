"""The same recipe in Spark: the bytes that DuckDB and memory publish, or a refusal.

`make test-spark` installs what these need and runs them.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base import secret
from anon_core.engines import spark_table as spark_session
from tests.unit.command_line.test_coarsened_first import room_for
from tests.unit.command_line.test_engines import TECHNIQUES, _recipe, _table, promised
from tests.unit.command_line.test_first_cuts import room_to_cut
from tests.unit.command_line.test_folders import RECIPE as FOLDERS
from tests.unit.command_line.test_folders import hive

pytestmark = pytest.mark.spark
spark = pytest.mark.skipif(
    not os.environ.get("TEST_SPARK") or importlib.util.find_spec("pyspark") is None,
    reason="Spark is tested by `make test-spark`",
)
LARGE = """\
seed = "{secret}"
[roles]
quasi = ["age", "sex", "region"]
sensitive = ["illness"]
insensitive = ["note"]
[algorithm]
{technique}
[[models]]
{promise}
[export]
csv = false
"""
K10 = 'name = "k-anonymity"\nk = 10'
L3 = 'name = "frequency-l-diversity"\nl = 3'
SETTINGS = {
    "optimal": ('name = "optimal"\nmax_suppression = 0.02', K10),
    "mondrian": ('name = "mondrian"', K10),
    "fixed-levels": (
        'name = "fixed-levels"\nlevels = {age = 1, sex = 0, region = 0}\nmax_suppression = 1.0',
        K10,
    ),
    "anatomy": ('name = "anatomy"', L3),
    "permutation": ('name = "permutation"', L3),
}


def _released(folder: Path, recipe: Path, table: Path, engine: str) -> dict[str, bytes]:
    out = folder / f"{engine}-{table.name}"
    asked = ["run", str(recipe), "--data", str(table), "--out", str(out), "--engine", engine]
    assert main(asked) == 0
    return {file.name: file.read_bytes() for file in out.iterdir()}


@spark
@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda one: str(one["name"]))
@pytest.mark.parametrize("missing", ["drop", "keep"])
def test_messy_cells_are_published_alike(
    tmp_path: Path, technique: dict[str, object], missing: str
) -> None:
    recipe = _recipe(tmp_path, technique, missing, promised(technique))
    frame = _table(8)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "parts").mkdir()
    frame[:100].to_csv(tmp_path / "parts/a.csv", index=False)
    frame[100:].to_csv(tmp_path / "parts/b.csv", index=False)
    wanted = _released(tmp_path, recipe, tmp_path / "t.csv", "memory")
    for name in ("t.csv", "t.csv.gz", "t.parquet", "parts"):
        assert _released(tmp_path, recipe, tmp_path / name, "spark") == wanted, name


@spark
@pytest.mark.parametrize("missing", ["drop", "keep"])
def test_coarser_levels_are_counted_alike(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _recipe(tmp_path, {"name": "optimal", "max_suppression": 0.1}, missing)
    with recipe.open("a") as file:
        file.write('[engine]\nmemory = "2GB"\n')
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    room_for(60, monkeypatch)
    published = [
        _released(tmp_path, recipe, tmp_path / "t.csv", engine) for engine in ("duckdb", "spark")
    ]
    assert published[0] == published[1]


@spark
@pytest.mark.parametrize("missing", ["drop", "keep"])
def test_first_cuts_are_made_alike(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _recipe(tmp_path, {"name": "mondrian"}, missing)
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    wanted = _released(tmp_path, recipe, tmp_path / "t.csv", "memory")
    for engine in ("duckdb", "spark"):
        with monkeypatch.context() as patch:
            room_to_cut(30, patch)
            assert _released(tmp_path, recipe, tmp_path / "t.csv", engine) == wanted, engine


@spark
def test_numbers_days_and_times_of_parquet_are_published_alike(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    rows = 400
    days = pd.Timestamp("2020-02-28") + pd.to_timedelta(draw.integers(0, 5, rows), unit="D")
    frame = pd.DataFrame(
        {
            "age": pd.array(draw.integers(20, 24, rows), dtype="Int16"),
            "size": np.where(draw.random(rows) < 0.1, np.nan, draw.choice([1.5, 2.0, 1e10], rows)),
            "day": days.date,
            "at": days,
            "well": draw.random(rows) < 0.5,
            "sum": draw.choice([0.1, 1e-7, -0.0, 0.0], rows).astype(np.float32),
        }
    )
    frame.loc[3, "age"] = None
    frame.to_parquet(tmp_path / "t.parquet")
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[roles]\nquasi = ["age", "size", "day", "at", "well"]\ninsensitive = ["sum"]\n'
        '[algorithm]\nname = "mondrian"\n[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    wanted = _released(tmp_path, recipe, tmp_path / "t.parquet", "duckdb")
    assert _released(tmp_path, recipe, tmp_path / "t.parquet", "spark") == wanted


@spark
def test_folders_that_tell_columns_are_read_wherever_they_lie(tmp_path: Path) -> None:
    folder = hive(tmp_path / "in %20 ü")
    recipe = tmp_path / "r.toml"
    recipe.write_text(FOLDERS)
    wanted = _released(tmp_path, recipe, folder, "memory")
    assert _released(tmp_path, recipe, folder, "spark") == wanted
    shutil.move(folder, tmp_path / "in [ab]")
    asked = ["run", str(recipe), "--data", str(tmp_path / "in [ab]"), "--out", str(tmp_path / "o")]
    assert main([*asked, "--engine", "spark"]) != 0


@spark
@pytest.mark.parametrize("technique", SETTINGS)
def test_a_large_table_is_published_alike(tmp_path: Path, technique: str) -> None:
    draw = np.random.default_rng(11)
    rows = 300_000
    pd.DataFrame(
        {
            "age": draw.integers(18, 90, rows),
            "sex": draw.choice(["F", "M"], rows),
            "region": draw.choice([f"r{place}" for place in range(20)], rows),
            "illness": draw.choice(["flu", "cold", "none", "gout", ""], rows),
            "note": draw.integers(0, 1000, rows),
        }
    ).to_parquet(tmp_path / "t.parquet")
    levels = [[str(age), f"{age // 10 * 10}s", "*"] for age in range(18, 90)]
    pd.DataFrame(levels).to_csv(tmp_path / "age.csv", header=False, index=False, sep=";")
    recipe = tmp_path / "r.toml"
    coarse = technique in ("optimal", "fixed-levels")
    ages = '[hierarchies]\nage = "age.csv"\n' if coarse else ""
    of, promise = SETTINGS[technique]
    text = LARGE.format(technique=of, promise=promise, secret=secret.spell(secret.draw()))
    recipe.write_text(text + ages)
    wanted = _released(tmp_path, recipe, tmp_path / "t.parquet", "memory")
    for engine in ("duckdb", "spark"):
        assert _released(tmp_path, recipe, tmp_path / "t.parquet", engine) == wanted, engine


@spark
def test_what_spark_cannot_read_is_refused_without_naming_a_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[roles]\nquasi = ["a"]\n[algorithm]\nname = "mondrian"\n[[models]]\nname = "k-anonymity"\n'
        "k = 2\n"
    )
    (tmp_path / "t.csv").write_text("a,b\nsecret,2\nsecret,2,3\nsecret,4\n")
    out = tmp_path / "out"
    asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(out)]
    assert main([*asked, "--engine", "spark"]) == 1
    printed = capsys.readouterr().err
    assert "more or fewer cells" in printed
    assert "secret" not in printed
    assert not out.exists()


def test_what_is_not_installed_is_named_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = _recipe(tmp_path, {"name": "mondrian"}, "drop")
    asked = ["run", str(recipe), "--data", "none.csv", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(spark_session.importlib.util, "find_spec", lambda name: None)
    assert main([*asked, "--engine", "spark"]) == 1
    assert "pyspark is not installed" in capsys.readouterr().err
    monkeypatch.setattr(spark_session.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(spark_session.shutil, "which", lambda name: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main([*asked, "--engine", "spark"]) == 1
    assert "openjdk-17" in capsys.readouterr().err
