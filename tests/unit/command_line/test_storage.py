"""A table in object storage: read where it lies, and the same release as from this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from anon_core.__main__ import main
from anon_core.pipeline.verify.verify_release import verify_release
from tests.object_store import ObjectStore, object_store
from tests.often import crossed

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
[export]
csv = false
"""
ROWS = 900
KEYS = ("who-reads", "HIDDEN-KEY")


def _table() -> pa.Table:
    draw = np.random.default_rng(15)
    return pa.table(
        {
            "age": pa.array(draw.integers(20, 60, ROWS)),
            "illness": draw.choice(["flu", "cold", 'a "b",\nc'], ROWS),
            "place": pa.array(np.sort(draw.choice(["a/b", "ü", "c"], ROWS))),
        }
    )


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[ObjectStore]:
    """Serve a table as one object, as parts in a folder, and as CSV."""
    table = _table()
    bucket = tmp_path / "stored" / "bucket"
    (bucket / "parts" / "year=2024").mkdir(parents=True)
    (bucket / "parts" / "year=2025").mkdir()
    pq.write_table(table, bucket / "t.parquet", row_group_size=100)
    pq.write_table(table.slice(0, 300), bucket / "parts/year=2024/a.parquet", row_group_size=50)
    pq.write_table(table.slice(300), bucket / "parts/year=2025/b.parquet", row_group_size=50)
    (bucket / "parts" / "_SUCCESS").write_bytes(b"")
    table.to_pandas().to_csv(bucket / "t.csv", index=False)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with object_store(tmp_path / "stored") as served:
        yield served


@pytest.fixture
def asked_once(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what fails be asked of the storage once: by itself Arrow waits and asks again."""

    class Hasty:
        @staticmethod
        def from_uri(address: str) -> tuple[fs.FileSystem, str]:
            given = parse_qs(urlsplit(address).query)
            storage = fs.S3FileSystem(
                endpoint_override=given["endpoint_override"][0],
                scheme=given["scheme"][0],
                region=given["region"][0],
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
            )
            return storage, address.partition("://")[2].partition("?")[0]

    monkeypatch.setattr(fs, "FileSystem", Hasty)


def _run(folder: Path, data: str, out: str, *more: str, engine: str = "duckdb") -> int:
    recipe = str(folder / "recipe.toml")
    asked = ["run", recipe, "--data", data, "--out", str(folder / out), "--engine", engine]
    return main([*asked, "--json", *more])


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@crossed("key, held", ["t.parquet", "parts"], [True, False], share=2)
def test_parquet_is_read_where_it_lies_and_its_release_has_the_same_bytes(
    tmp_path: Path,
    store: ObjectStore,
    key: str,
    held: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not held:
        monkeypatch.setattr("anon_core.engines.sql_table._SHARE_HELD", 1 << 60)
    monkeypatch.setattr("anon_core.data.reading.stored._BLOCK", 1000)
    local = str(tmp_path / "stored" / "bucket" / key)
    assert _run(tmp_path, local, "near") == 0
    near = json.loads(capsys.readouterr().out)
    monkeypatch.setattr("anon_core.data.reading.stored.brought", None)  # nothing is copied
    address = store.address(f"bucket/{key}")
    assert _run(tmp_path, address, "far") == 0
    printed = capsys.readouterr()
    assert f"s3://bucket/{key} is read where it lies" in printed.err
    assert KEYS[1] not in printed.err + printed.out
    assert _files(tmp_path / "far") == _files(tmp_path / "near")
    far = json.loads(printed.out)
    assert far["input_sha256"] == near["input_sha256"]
    assert far["input_sha256_of"] == "file"
    recipe = str(tmp_path / "recipe.toml")
    asked = ["verify", recipe, "--data", address, "--release", str(tmp_path / "far")]
    assert main(asked) == 0
    assert "read where it lies" in capsys.readouterr().err
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(
    ("key", "engine"), [("t.parquet", "memory"), ("t.csv", "duckdb"), ("t.csv", "memory")]
)
def test_what_is_read_otherwise_is_copied_and_leaves_nothing(
    tmp_path: Path, store: ObjectStore, key: str, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, str(tmp_path / "stored" / "bucket" / key), "near", engine=engine) == 0
    near = json.loads(capsys.readouterr().out)
    assert _run(tmp_path, store.address(f"bucket/{key}"), "far", engine=engine) == 0
    printed = capsys.readouterr()
    assert "is copied to this machine" in printed.err
    assert _files(tmp_path / "far") == _files(tmp_path / "near")
    assert json.loads(printed.out)["input_sha256"] == near["input_sha256"]
    assert not list((tmp_path / "temporary").iterdir())


def test_files_for_other_programs_are_verified_beside_a_stored_table(
    tmp_path: Path, store: ObjectStore
) -> None:
    text = RECIPE.replace("csv = false", 'formats = ["xlsx"]')
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    address = store.address("bucket/t.parquet")
    assert _run(tmp_path, address, "out", engine="memory") == 0
    asked = ["verify", str(tmp_path / "recipe.toml"), "--data", address]
    assert main([*asked, "--release", str(tmp_path / "out")]) == 0


def test_other_commands_take_an_address(
    tmp_path: Path, store: ObjectStore, capsys: pytest.CaptureFixture[str]
) -> None:
    address, recipe = store.address("bucket/t.parquet"), str(tmp_path / "recipe.toml")
    text = RECIPE.replace("[export]\ncsv = false", "")
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    assert _run(tmp_path, address, "out") == 0
    asked = ["report", recipe, "--data", address, "--release", str(tmp_path / "out")]
    assert main([*asked, "--out", str(tmp_path / "report"), "--format", "json"]) == 0
    assert main(["sweep", recipe, "--data", address, "--vary", "models.k=4,5", "--json"]) == 0
    printed = capsys.readouterr()
    written = (tmp_path / "report" / "report.json").read_text(encoding="utf-8")
    for text in (printed.err, printed.out, written):
        assert "endpoint_override" not in text
        assert KEYS[1] not in text
    verified = verify_release(recipe, Path(address), tmp_path / "out")
    assert verified.holds


@pytest.mark.parametrize(
    ("held", "nth"), [(True, 3), (True, 6), (False, 4), (False, 9), (False, 14)]
)
def test_an_object_that_changes_meanwhile_is_refused(
    tmp_path: Path,
    store: ObjectStore,
    held: bool,
    nth: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not held:
        monkeypatch.setattr("anon_core.engines.sql_table._SHARE_HELD", 1 << 60)
    file = tmp_path / "stored" / "bucket" / "t.parquet"
    other = _table().append_column("more", pa.array(range(ROWS)))

    made: list[int] = []

    def change(asked: int) -> None:
        if asked >= nth and not made:
            made.append(asked)
            pq.write_table(other, file, row_group_size=100)

    store.before_reading = change
    status = _run(tmp_path, store.address("bucket/t.parquet"), "out")
    printed = capsys.readouterr()
    assert made, "the object was not changed at all"
    assert status == 4, printed.err
    assert "t.parquet was changed while it was read" in printed.err
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "temporary").iterdir())


def test_verification_notices_a_change_by_itself(tmp_path: Path, store: ObjectStore) -> None:
    from anon_core.base.errors import BadInput
    from anon_core.verification.files.reading import read_table

    table = read_table(Path(store.address("bucket/t.parquet")))
    assert len(table) == ROWS
    file = tmp_path / "stored" / "bucket" / "t.parquet"
    pq.write_table(_table().slice(1), file, row_group_size=100)
    with pytest.raises(BadInput, match=r"t\.parquet changed while it was read"):
        table.column("age")


@pytest.mark.parametrize("command", ["run", "verify"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("bucket", "There is nothing at nowhere/t.parquet"),
        ("rights", "may not be read with the rights"),
        ("gone", "cannot be reached, or the connection broke"),
    ],
)
def test_what_storage_refuses_is_one_sentence_with_a_remedy(
    tmp_path: Path,
    store: ObjectStore,
    fault: str,
    words: str,
    command: str,
    asked_once: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store.refused = fault == "rights"
    address = store.address(f"{'nowhere' if fault == 'bucket' else 'bucket'}/t.parquet")
    if fault == "gone":
        address = address.replace(str(store.port), "9")
    recipe = str(tmp_path / "recipe.toml")
    given = {"run": ["--out", str(tmp_path / "out"), "--engine", "duckdb"]}
    more = given.get(command, ["--release", str(tmp_path)])
    assert main([command, recipe, "--data", address, *more]) == 1
    printed = capsys.readouterr().err
    assert words in printed
    assert "Check" in printed
    assert printed.count("\n") == 1
    assert KEYS[0] not in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("held", "after", "words"),
    [
        (True, 3, "s3://bucket/t.parquet cannot be reached, or the connection broke"),
        (False, 5, "s3://bucket/t.parquet cannot be reached, or the connection broke"),
        (True, 4, "t.parquet cannot be read from the object storage"),
    ],
    ids=["held", "by parts", "verification"],
)
def test_a_network_that_breaks_in_the_middle_releases_nothing(
    tmp_path: Path,
    store: ObjectStore,
    held: bool,
    after: int,
    words: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if after != 4:  # one of them waits as a run does
        request.getfixturevalue("asked_once")
    if not held:
        monkeypatch.setattr("anon_core.engines.sql_table._SHARE_HELD", 1 << 60)

    def fail(asked: int) -> None:
        if asked > after:
            store.cut_after = store.sent

    store.before_reading = fail
    assert _run(tmp_path, store.address("bucket/t.parquet"), "out") == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "temporary").iterdir())


def test_an_object_that_is_no_whole_parquet_is_refused(
    tmp_path: Path, store: ObjectStore, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stored" / "bucket" / "t.parquet"
    os.truncate(file, file.stat().st_size // 2)
    assert _run(tmp_path, store.address("bucket/t.parquet"), "out") == 1
    assert "t.parquet is a broken or encrypted Parquet file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_parts_of_other_columns_are_refused(
    tmp_path: Path, store: ObjectStore, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(
        _table().drop_columns(["age"]), tmp_path / "stored/bucket/parts/year=2025/c.parquet"
    )
    assert _run(tmp_path, store.address("bucket/parts"), "out") == 1
    printed = capsys.readouterr().err
    assert "year=2025/c.parquet has other columns than year=2024/a.parquet" in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_release_does_not_overwrite_the_table_at_an_address_of_this_machine(
    tmp_path: Path, store: ObjectStore, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    pq.write_table(_table(), out / "release.parquet")
    before = _files(out)
    assert _run(tmp_path, (out / "release.parquet").as_uri(), "out", engine=engine) == 1
    assert "would overwrite" in capsys.readouterr().err
    assert _files(out) == before


def test_a_program_that_is_told_to_end_while_it_reads_says_so(
    tmp_path: Path,
    store: ObjectStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def end(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("anon_core.engines.sql_table._SHARE_HELD", 1 << 60)
    monkeypatch.setattr("anon_core.engines.stored_files._Ahead.read", end)
    assert _run(tmp_path, store.address("bucket/t.parquet"), "out") == 130
    assert "Stopped; nothing was released" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_permuted_release_of_stored_rows_is_drawn_again(
    store: ObjectStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is carried out again is read on this machine."""
    text = RECIPE.replace('"mondrian"', '"anatomy"').replace(
        'name = "k-anonymity"\nk = 4', 'name = "frequency-l-diversity"\nl = 2'
    )
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    address, made = store.address("bucket/t.parquet"), tmp_path / "made.toml"
    assert _run(tmp_path, address, "out", "--recipe-out", str(made)) == 0
    capsys.readouterr()
    asked = ["verify", str(made), "--data", address, "--release", str(tmp_path / "out")]
    assert main(asked) == 0
    assert "holds   drawn-again" in capsys.readouterr().out
