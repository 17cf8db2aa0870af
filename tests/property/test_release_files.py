"""Releases read quickly and plainly: the same checks hold or break, with the same words."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.__main__ import main
from anon_core.verification.checks import verify_files
from anon_core.verification.files import csv_files
from anon_core.verification.files import release_files as file_formats
from anon_core.verification.rows import tables

RECIPE = """\
[roles]
quasi = ["age", "sex"]
sensitive = ["ill"]
insensitive = ["note"]
[algorithm]
name = "{}"
[[models]]
name = "k-anonymity"
k = 3
[[models]]
name = "l-diversity"
l = 2
"""
_NOTES = ["", "a, b", 'say "x"', "é", "=1"]


TECHNIQUES = ["mondrian", 'optimal"\nmax_suppression = 0.2\n#"', 'mondrian"\ncuts = "relaxed']


@pytest.fixture(scope="module", params=TECHNIQUES)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    drawn = random.Random(3)
    with (folder / "t.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", "sex", "ill", "note"])
        for _ in range(60):
            cells = [drawn.choice(pool) for pool in ("FM", ["flu", "cold", ""], _NOTES)]
            out.writerow([drawn.randrange(20, 60), *cells])
    table = pa_csv.read_csv(
        folder / "t.csv",
        convert_options=pa_csv.ConvertOptions(column_types={"age": pa.string()}),
    )
    pq.write_table(table, folder / "t.parquet", row_group_size=7)
    (folder / "r.toml").write_text(RECIPE.format(request.param))
    given_ = [str(folder / "r.toml"), "--data", str(folder / "t.csv"), "--out", str(folder / "out")]
    assert main(["run", *given_]) == 0
    return folder


def verdict_of(desk: Path, release: Path, *, quick: bool) -> dict[str, Any]:
    """Verify a release by the quick readers and the table in Parquet, or by neither."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_TABLED", 4 if quick else 0)
        if not quick:
            patch.setattr(csv_files, "_split_plain", lambda *_: None)
            patch.setattr(file_formats, "_is_in", lambda *_: False)
        table = desk / ("t.parquet" if quick else "t.csv")
        return verify_files(desk / "r.toml", table, release).as_json()


def written(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def as_parquet(rows: list[list[str]], note: str = "", group: int = 1 << 20) -> bytes:
    columns = [pa.array(own).dictionary_encode() for own in zip(*rows[1:], strict=True)]
    table = pa.Table.from_arrays(columns, names=rows[0])
    if note:
        table = table.replace_schema_metadata({"note": note})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", row_group_size=group)
    return sink.getvalue()


@settings(max_examples=12)
@given(st.integers(0, 1 << 30), st.sampled_from(["both", "csv", "parquet"]), st.integers(0, 7))
def test_the_same_is_found_of_what_was_tampered_with(
    desk: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, where: str, how: int
) -> None:
    drawn = random.Random(seed)
    rows = list(csv.reader(io.StringIO((desk / "out" / "release.csv").read_text(), newline="")))
    place, column = drawn.randrange(1, len(rows)), drawn.randrange(4)
    note, group = "", 1 << 20
    if how == 1:
        rows[place][column] = drawn.choice(["F", "[20, 59]", "cold", "43.0", "", "=x"])
    elif how == 2:
        other = drawn.randrange(1, len(rows))
        rows[place], rows[other] = rows[other], rows[place]
    elif how == 3:
        del rows[place]
    elif how == 4:
        rows.insert(place, list(rows[place]))
    elif how == 5:
        note = "marked"
    elif how == 6:
        group = 7
    elif how == 7:
        rows[0][column] = drawn.choice(["age", "more"])
    release = tmp_path_factory.mktemp("release")
    for name in ("release.csv", "release.parquet"):
        (release / name).write_bytes((desk / "out" / name).read_bytes())
    if where != "parquet":
        text = written(rows)
        (release / "release.csv").write_bytes(text + b'""' if note else text)
    if where != "csv":
        (release / "release.parquet").write_bytes(as_parquet(rows, note, group))
    found, plainly = (verdict_of(desk, release, quick=quick) for quick in (True, False))
    assert found == plainly
    if how in (1, 3, 4, 7) and where != "both" and not note:
        same = rows == list(csv.reader(io.StringIO((desk / "out/release.csv").read_text())))
        assert found["holds"] == (same and where == "csv")


def test_the_release_itself_holds_either_way(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # no CSV file needs to be taken apart
        patch.setattr(file_formats, "split_release", None)
        found = verdict_of(desk, desk / "out", quick=True)
    assert found["holds"]
    assert found == verdict_of(desk, desk / "out", quick=False)


def test_one_cell_that_only_one_file_shows_is_named_by_row_and_column(
    desk: Path, tmp_path: Path
) -> None:
    content = (desk / "out" / "release.csv").read_bytes()
    lines = content.decode().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if ",flu," in line)
    lines[place] = lines[place].replace(",flu,", ",gout,")
    for name in ("release.csv", "release.parquet"):
        (tmp_path / name).write_bytes((desk / "out" / name).read_bytes())
    (tmp_path / "release.csv").write_text("".join(lines))
    checks = {check["name"]: check for check in verdict_of(desk, tmp_path, quick=True)["checks"]}
    assert not checks["parquet"]["holds"]
    assert checks["parquet"]["rows"] == [place]
    assert checks["parquet"]["column"] == "ill"
    assert checks["coverage"]["rows"] == [place]


@settings(max_examples=12)
@given(st.integers(0, 1 << 30), st.sampled_from(["cut out", "flipped", "ends early"]))
def test_a_broken_parquet_file_is_told_by_its_name(
    desk: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, how: str
) -> None:
    """Whatever a reader makes of the damage, the file is named and the other one still read."""
    drawn = random.Random(seed)
    content = bytearray((desk / "out" / "release.parquet").read_bytes())
    at = drawn.randrange(4, len(content) - 8)
    if how == "flipped":
        content[at] ^= 1 << drawn.randrange(8)
    elif how == "cut out":
        del content[at]
    else:
        del content[at:]
    release = tmp_path_factory.mktemp("release")
    (release / "release.csv").write_bytes((desk / "out" / "release.csv").read_bytes())
    (release / "release.parquet").write_bytes(bytes(content))
    found = verdict_of(desk, release, quick=True)
    broken = {check["name"] for check in found["checks"] if not check["holds"]}
    assert broken == {"parquet"}
