"""One recipe, two engines: the same bytes from memory and from DuckDB, or a refusal."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadInput, BadPlan
from anon_core.data.reading import DataOptions, read_table
from anon_core.engines import sql_release, sql_source
from anon_core.engines.spark_table import SparkTable
from anon_core.pipeline.publish import file_formats
from anon_core.pipeline.publish import table_files as row_stream
from anon_core.pipeline.publish.release_folder import STAGE
from anon_core.recipe.plan import Plan, read_plan
from anon_core.verification.files import writing as file_bytes
from anon_core.verification.files.reading import read_table as read_again
from tests.often import EVERY

LEVELS = {
    "job": [["a b", "x", "*"], ['c"d', "x", "*"], ["é,f", "y", "*"], ["=g", "y", "*"]],
}
TECHNIQUES = [
    {"name": "mondrian"},
    {"name": "optimal", "max_suppression": 0.1},
    {"name": "fixed-levels", "levels": {"job": 1, "age": 0, "zip": 2}, "max_suppression": 1.0},
    {"name": "mondrian", "cuts": "relaxed"},
    {"name": "anatomy"},
    {"name": "permutation"},
]


def _table(seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    rows = 240
    jobs = [row[0] for row in LEVELS["job"]]
    return pd.DataFrame(
        {
            "text": draw.choice(["", " x", "y\nz", "-5", "@t", '"q"'], rows),
            "age": draw.choice(["20", "20.0", "31", "45", "?", "60"], rows),
            "job": draw.choice(jobs, rows),
            "person name": draw.permutation(rows).astype(str),
            "zip": draw.choice(["011", "012", "121", "NA"], rows),
            "illness": draw.choice(["flu", "cold", "ulcer", ""], rows, p=[0.36, 0.34, 0.2, 0.1]),
        }
    )


_DIVERSE: dict[str, object] = {"name": "frequency-l-diversity", "l": 2}
_MODELS = ({"name": "k-anonymity", "k": 4}, {"name": "l-diversity", "l": 2})


def promised(technique: dict[str, object]) -> tuple[dict[str, object], ...]:
    """Return what a technique can promise of `_table`."""
    return (_DIVERSE,) if technique["name"] in ("anatomy", "permutation") else _MODELS


def _recipe(
    folder: Path,
    technique: dict[str, object],
    missing: str,
    models: tuple[dict[str, object], ...] = _MODELS,
) -> Path:
    levels = {
        **LEVELS,
        "age": [[str(a), "old" if a > 40 else "young", "*"] for a in (20, 31, 45, 60)],
        "zip": [[z, z[:2] + "*", "*"] for z in ("011", "012", "121")],
    }
    for name, rows in levels.items():
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", header=False, index=False, sep=";")
    plan = Plan.from_mapping(
        {
            "data": {"missing": missing},
            "types": {"zip": "text"},
            "roles": {
                "identifier": ["person name"],
                "quasi": ["age", "job", "zip"],
                "sensitive": ["illness"],
                "insensitive": ["text"],
            },
            "hierarchies": {name: f"{name}.csv" for name in levels},
            "algorithm": technique,
            "models": list(models),
        }
    )
    place = folder / "recipe.toml"
    place.write_text(plan.as_toml(), encoding="utf-8")
    return place


@pytest.mark.often
@pytest.mark.parametrize(
    ("technique", "missing"),
    list(zip(TECHNIQUES, ("drop", "keep", "drop", "keep", "drop", "keep"), strict=True)),
    ids=lambda t: str(t["name"]) if isinstance(t, dict) else t,
)
def test_both_engines_publish_the_same_bytes(
    tmp_path: Path,
    technique: dict[str, object],
    missing: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in (file_formats, row_stream, sql_release, file_bytes):
        monkeypatch.setattr(module, "ROW_GROUP", 100)
    recipe = _recipe(tmp_path, technique, missing, promised(technique))
    frame = _table(len(str(technique)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    files: dict[str, dict[str, bytes]] = {}
    figures: dict[str, dict[str, object]] = {}
    stored = [("duckdb", "t.parquet")] * (EVERY or missing == "drop")
    for engine, name in (("memory", "t.csv"), ("duckdb", "t.csv"), *stored):
        out = tmp_path / f"{engine}-{name}"
        asked = ["run", str(recipe), "--data", str(tmp_path / name), "--out", str(out)]
        assert main([*asked, "--engine", engine, "--json"]) == 0, capsys.readouterr()
        printed = json.loads(capsys.readouterr().out)
        figures[out.name] = {
            key: printed[key] for key in ("rows", "dropped", "suppressed", "models")
        }
        figures[out.name]["metrics"] = {
            k: v for k, v in printed["metrics"].items() if k not in printed["attacks_not_run"]
        }
        files[out.name] = {file.name: file.read_bytes() for file in out.iterdir()}
    first, *others = files.values()
    assert len(first) == (4 if promised(technique) == (_DIVERSE,) else 2)
    assert all(other == first for other in others)
    first_figures, *other_figures = figures.values()
    for other in other_figures:
        known = set(other["metrics"])  # pyright: ignore[reportArgumentType]
        assert known
        shared = {k: v for k, v in first_figures["metrics"].items() if k in known}  # pyright: ignore
        assert {**other} == {**first_figures, "metrics": shared}


@pytest.mark.parametrize("asked", ["k-anonymity", "recursive-l-diversity"])
def test_equal_rows_part_by_a_sensitive_value_that_no_two_have(tmp_path: Path, asked: str) -> None:
    """All rows of a key stay together then, and yet not all that look alike."""
    ages = np.random.default_rng(1).integers(20, 24, 60)
    frame = pd.DataFrame({"age": ages, "income": np.arange(60) + 1000})
    frame.to_csv(tmp_path / "t.csv", index=False)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f"""version = 3
        seed = "{hashlib.sha256(asked.encode()).hexdigest()}"
        [roles]
        quasi = ["age"]
        sensitive = ["income"]
        [algorithm]
        name = "mondrian"
        cuts = "relaxed"
        [[models]]
        name = "{asked}"
        """
    )
    given = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out"]
    for engine in ("memory", "duckdb"):
        assert main([*given, str(tmp_path / engine), "--engine", engine]) == 0
    written = [(tmp_path / e / "release.csv").read_bytes() for e in ("memory", "duckdb")]
    assert written[0] == written[1]
    assert pd.read_csv(tmp_path / "duckdb" / "release.csv").groupby("age").size().min() < 10


@pytest.mark.parametrize("technique", ["mondrian", "anatomy"])
def test_parquet_alone_is_the_same_file_and_a_changed_row_is_found(
    tmp_path: Path, technique: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models = _MODELS if technique == "mondrian" else (_DIVERSE,)
    missing = "drop" if technique == "mondrian" else "keep"
    recipe = _recipe(tmp_path, {"name": technique}, missing, models)
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    assert _run(tmp_path, "--recipe-out", str(tmp_path / "whole.toml")) == 0
    both = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    whole = (tmp_path / "whole.toml").read_text(encoding="utf-8")
    recipe.write_text(whole.replace("[export]", "[export]\ncsv = false"), encoding="utf-8")
    assert _run(tmp_path) != 0  # release.csv of the earlier run would stay
    assert "not part of this release" in capsys.readouterr().err
    for engine in ("memory", "duckdb") if technique == "mondrian" else ("memory",):
        shutil.rmtree(tmp_path / "out")
        assert _run(tmp_path, "--engine", engine) == 0, capsys.readouterr()
        alone = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
        assert alone == {n: content for n, content in both.items() if n.endswith(".parquet")}
    asked = [str(recipe), "--data", str(tmp_path / "t.csv"), "--release", str(tmp_path / "out")]
    assert main(["verify", *asked]) == 0
    assert "csv" not in capsys.readouterr().out
    name = min(alone)
    rows = pq.read_table(tmp_path / "out" / name).to_pandas().astype(str)
    rows.loc[100, "age"] = rows["age"].iloc[0]
    rows.to_parquet(tmp_path / "out" / name)
    assert main(["verify", *asked]) != 0
    printed = capsys.readouterr().out
    assert f"{name} is not byte for byte" in printed
    assert technique != "mondrian" or "not in canonical order (row 101)" in printed
    (tmp_path / "out" / name).unlink()
    assert main(["verify", *asked]) != 0
    assert f"{name} is missing" in capsys.readouterr().out


def test_parquet_alone_is_refused_with_files_that_are_compared_with_csv(tmp_path: Path) -> None:
    plan = read_plan(_recipe(tmp_path, {"name": "mondrian"}, "keep"))
    with pytest.raises(BadPlan, match="compared with the CSV file"):
        replace(plan, csv=False, formats=("sav",))
    with pytest.raises(BadPlan, match="csv is 0"):
        replace(plan, csv=0)  # pyright: ignore[reportArgumentType]


def _run(tmp_path: Path, *more: str) -> int:
    asked = ["run", str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "t.csv")]
    return main([*asked, "--out", str(tmp_path / "out"), *more])


def test_what_needs_rows_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "k-member"}, "keep")
    assert _run(tmp_path, "--engine", "duckdb") != 0  # the table is not even there
    assert "DuckDB and Spark keep only counts of the table" in capsys.readouterr().err


def test_more_rows_than_can_be_drawn_from_are_refused_before_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "anatomy"}, "keep", (_DIVERSE,))
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr("anon_core.engines.sql_release.BYTES_A_CELL", 2**22)
    assert _run(tmp_path, "--engine", "duckdb", "--memory", "2GB", "--progress") != 0
    printed = capsys.readouterr().err
    assert "The 240 rows of 5 columns need 5.0 GB for that" in printed
    assert "--memory 6GB" in printed
    assert "Searching" not in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("age,job,zip,illness,text,person name\n20,a b\n", "6 cells, but row 1 has 2"),
        ("age,job,zip,illness,text,person name\n", "has no rows"),
    ],
)
def test_a_broken_file_is_refused_and_nothing_stays(
    tmp_path: Path, broken: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    (tmp_path / "t.csv").write_text(broken)
    assert _run(tmp_path, "--engine", "duckdb") != 0
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not [entry for entry in tmp_path.iterdir() if STAGE in entry.name]


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    states = iter([(1, 1), (2, 1)])
    monkeypatch.setattr("anon_core.engines.counted_table.state", lambda _path: next(states))
    assert _run(tmp_path, "--engine", "duckdb") != 0
    assert "was changed while it was read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("BYTES_A_CODE", "different combinations of the 4 columns"),
        ("_BYTES_A_ROW", "rows of 5 published columns"),
        ("BYTES_A_CELL", "different rows of 5 published columns. The second computation may need"),
    ],
)
def test_what_memory_has_no_room_for_is_refused_before_a_search(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    size: str,
    words: str,
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(f"anon_core.engines.memory_needs.{size}", 1 << 24)
    assert _run(tmp_path, "--engine", "duckdb", "--memory", "2GB") != 0
    printed = capsys.readouterr().err
    assert words in printed
    assert "--memory" in printed
    assert not (tmp_path / "out").exists()


def test_a_killed_run_leaves_nothing_that_the_next_one_does_not_remove_and_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    left = tmp_path / f".out{STAGE}" / "spill"
    left.mkdir(parents=True)
    (left / "table.duckdb").write_bytes(b"private")
    assert _run(tmp_path, "--engine", "duckdb") == 0
    printed = capsys.readouterr()
    assert "was killed" in printed.err
    assert "not run. It looks at single rows" in printed.out
    assert not left.parent.exists()


def test_a_full_disk_is_told_and_the_earlier_release_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    assert _run(tmp_path, "--engine", "duckdb") == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}

    def full(_part: object) -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("anon_core.pipeline.publish.file_formats._csv_parts", full)
    capsys.readouterr()
    assert _run(tmp_path, "--engine", "duckdb") == 1
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err
    assert {f.name: f.read_bytes() for f in (tmp_path / "out").iterdir()} == before
    assert not [entry for entry in tmp_path.iterdir() if STAGE in entry.name]


@pytest.mark.parametrize("name", ["t.csv", "parts"])
def test_a_table_at_an_address_is_brought_here_and_leaves_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    recipe = _recipe(tmp_path, {"name": "mondrian"}, "keep")
    frame = _table(1)
    (tmp_path / "parts").mkdir()
    for part, rows in (("t", frame), ("parts/a", frame[:100]), ("parts/b", frame[100:])):
        rows.to_csv(tmp_path / f"{part}.csv", index=False)
    address = (tmp_path / name).as_uri()
    assert _run(tmp_path) == 0
    wanted = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    asked = ["run", str(recipe), "--data", address, "--out", str(tmp_path / "far")]
    assert main([*asked, "--engine", "duckdb"]) == 0
    assert {file.name: file.read_bytes() for file in (tmp_path / "far").iterdir()} == wanted
    asked = ["verify", str(recipe), "--data", address, "--release", str(tmp_path / "far")]
    assert main(asked) == 0
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("file:///nowhere/t.csv", "There is nothing at /nowhere/t.csv"),
        ("ftp://somewhere/t.csv", "'ftp'. Name a file, or an address that begins with s3://"),
        ("s3://key:HIDDEN@b/t.csv?scheme=no&x=HIDDEN", "s3://b/t.csv cannot be read"),
        ("s3://key:HID/HIDDEN@b/t.csv?scheme=no", "s3://b/t.csv cannot be read"),
    ],
)
def test_an_address_with_nothing_to_read_is_refused_and_no_key_is_told(
    tmp_path: Path, address: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = _recipe(tmp_path, {"name": "mondrian"}, "keep")
    asked = ["run", str(recipe), "--data", address, "--out", str(tmp_path / "out")]
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert text in said
    assert "HIDDEN" not in said
    assert not (tmp_path / "out").exists()


def test_what_a_failure_of_the_engine_says_holds_no_cell() -> None:
    import duckdb

    answer = sql_source.failure(
        duckdb.ConversionException("Could not convert 'Alice Smith'"), "t.csv"
    )
    assert "Alice" not in str(answer)


def test_auto_takes_what_the_table_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _recipe(tmp_path, {"name": "mondrian"}, "keep")
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    assert _run(tmp_path, "--progress") == 0
    assert "Engine: memory. The table fits" in capsys.readouterr().err
    monkeypatch.setattr("anon_core.engines.engine_choice.BYTES_A_CELL", 10**9)
    assert _run(tmp_path, "--memory", "2GB") == 0
    assert "Engine: duckdb. The table is too large" in capsys.readouterr().err
    assert _run(tmp_path, "--memory", "1MB") != 0
    assert "at least" in capsys.readouterr().err


def test_every_engine_names_the_row_of_a_cell_that_it_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = _recipe(tmp_path, {"name": "mondrian"}, "keep")
    frame = _table(1)
    frame.loc[199, "age"] = "old"
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = recipe.read_text(encoding="utf-8")
    recipe.write_text(text.replace('zip = "text"', 'zip = "text"\nage = "number"'))
    for engine in ("memory", "duckdb"):
        asked = ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--engine", engine]
        assert main([*asked, "--out", str(tmp_path / "out")]) != 0
        printed = capsys.readouterr().err
        assert "'age'" in printed
        assert "(first in row 200)" in printed


def test_names_that_differ_in_case_alone_are_refused_before_spark_starts(tmp_path: Path) -> None:
    path = tmp_path / "twins.parquet"
    pq.write_table(pa.table({"Zip": ["1"], "age": [3], "zip": ["2"]}), path)
    with pytest.raises(BadInput, match="'Zip' and 'zip' differ in case alone") as caught:
        SparkTable(path, tmp_path, 1 << 30)
    assert "engine = 'duckdb'" in caught.value.remedy
    assert not (tmp_path / "spark").exists()


def test_times_keep_their_nanoseconds_or_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    values = pa.array([1, 1000, 3_600_000_000_001], pa.time64("ns"))
    pq.write_table(pa.table({"at": values}), path)
    texts = ["00:00:00.000000001", "00:00:00.000001", "01:00:00.000000001"]
    assert read_table(path).column("at").texts().tolist() == texts
    assert list(read_again(path).column_at(0).row_texts()) == texts
    with pytest.raises(BadInput, match="'at' holds times in nanoseconds"):
        sql_source.source(path, DataOptions(), lambda _: pytest.fail("it was read"))
