"""Releases read in bulk and plainly: the same checks hold or break, with the same words."""

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
from anon_core.verification import checks
from anon_core.verification.checks import verify_files
from anon_core.verification.files import bulk as bulk_reader
from anon_core.verification.files import bulk as row_groups
from anon_core.verification.files import file_formats, published, reading
from anon_core.verification.rows import row_coverage, tables
from anon_core.verification.text import cells

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


def told(desk: Path, release: Path, *, bulk: bool) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_formats, "_QUICK_FROM", 0 if bulk else 1 << 40)
        patch.setattr(reading, "FROM_BYTES", 1 if bulk else 1 << 40)
        patch.setattr(tables, "_HASHED_FROM", 0 if bulk else 1 << 40)
        patch.setattr(checks, "LINED_FROM", 0 if bulk else 1 << 40)
        if bulk:
            patch.setattr(tables, "AT_A_TIME", 7)
            patch.setattr(published, "_AT_A_TIME", 5)
            patch.setattr(row_coverage, "_AT_A_TIME", 6)
            patch.setattr(row_coverage, "MOST_ROWS", 8)
            patch.setattr(row_coverage, "_ROOM", 40)  # several words a row
            patch.setattr(cells, "_NEAR", 9)
            patch.setattr(bulk_reader, "FROM_GROUPS", -1)
            patch.setattr(row_groups, "_ROWS", 20)
        table = desk / ("t.parquet" if bulk else "t.csv")
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
    found, plainly = (told(desk, release, bulk=bulk) for bulk in (True, False))
    if any(check["name"] == "order" and not check["holds"] for check in found["checks"]):
        del plainly["facts"]["unique_over_all_columns"]
    assert found == plainly
    if how in (1, 3, 4, 7) and where != "both" and not note:
        same = rows == list(csv.reader(io.StringIO((desk / "out/release.csv").read_text())))
        assert found["holds"] == (same and where == "csv")


def test_the_release_itself_holds_either_way(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # no CSV file needs to be taken apart
        patch.delattr(file_formats.PublishedTable, "_read")
        patch.setattr("anon_core.verification.files.published.read_plain", lambda _: None)
        found = told(desk, desk / "out", bulk=True)
    assert found["holds"]
    assert found == told(desk, desk / "out", bulk=False)


@pytest.mark.parametrize("ill", ["flu", "cold"])
def test_where_somebody_fits_two_classes_the_narrower_is_tried(ill: str, tmp_path: Path) -> None:
    ages, shown = [20, 22, 24, 30, 35, 40], ["[20, 24]"] * 3 + ["[20, 40]"] * 3
    own = [[str(age), "F", "flu", ""] for age in ages]
    own[1][2] = "cold"
    rows = sorted([age, *row[1:]] for age, row in zip(shown, own, strict=True))
    rows[-1][2] = ill  # nobody of 25 to 40 has a cold
    (tmp_path / "t.csv").write_bytes(written([["age", "sex", "ill", "note"], *own]))
    (tmp_path / "out").mkdir()
    rows.sort()
    (tmp_path / "out/release.csv").write_bytes(written([["age", "sex", "ill", "note"], *rows]))
    (tmp_path / "r.toml").write_text(RECIPE.format("mondrian") + "[export]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "LINED_FROM", 0)
        asked: list[object] = []
        whole = tables.PrivateTable.lined_by_all
        patch.setattr(
            tables.PrivateTable, "lined_by_all", lambda own: asked.append(own) or whole(own)
        )
        found = verify_files(tmp_path / "r.toml", tmp_path / "t.csv", tmp_path / "out").as_json()
    coverage = next(check for check in found["checks"] if check["name"] == "coverage")
    assert coverage["holds"] == (ill == "flu")
    assert bool(asked) == (ill == "cold")


@settings(max_examples=60)
@given(st.data())
def test_who_fits_several_classes_is_matched_as_row_by_row(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("overlap")
    age, ill = st.integers(20, 26), st.sampled_from(["flu", "cold"])
    own = data.draw(st.lists(st.tuples(age, ill), min_size=4, max_size=12))
    ends = [(20, 22), (20, 24), (21, 26), (24, 26), (20, 26)]
    rows: list[list[str]] = []
    for place, (years, illness) in enumerate(own):
        inside = [(low, high) for low, high in ends if low <= years <= high]
        low, high = data.draw(st.sampled_from(inside), label=f"class of {place}")
        rows.append([f"[{low}, {high}]", "F", illness, ""])
    if data.draw(st.booleans(), label="tampered"):
        place = data.draw(st.integers(0, len(rows) - 1))
        rows[place][data.draw(st.sampled_from([0, 2]))] = data.draw(
            st.sampled_from(["[20, 22]", "flu", "cold", "[24, 26]"])
        )
    header = ["age", "sex", "ill", "note"]
    table = [[str(years), "F", illness, ""] for years, illness in own]
    (folder / "t.csv").write_bytes(written([header, *table]))
    (folder / "out").mkdir()
    (folder / "out/release.csv").write_bytes(written([header, *sorted(rows)]))
    (folder / "r.toml").write_text(RECIPE.format("mondrian") + "[export]\n")
    checks_of: list[dict[str, Any]] = []
    for lined_from in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checks, "LINED_FROM", lined_from)
            patch.setattr(row_coverage, "MOST_ROWS", 6)
            found = verify_files(folder / "r.toml", folder / "t.csv", folder / "out").as_json()
        checks_of.append({c["name"]: c for c in found["checks"]}["coverage"])
    assert checks_of[0] == checks_of[1]


def test_where_somebody_has_to_be_in_the_wider_class_rows_are_matched(tmp_path: Path) -> None:
    ages, shown = [20, 21, 22, 24, 30, 35], ["[20, 24]"] * 3 + ["[20, 40]"] * 3
    own = [[str(age), "F", "flu", ""] for age in ages]
    rows = sorted([age, *row[1:]] for age, row in zip(shown, own, strict=True))
    (tmp_path / "t.csv").write_bytes(written([["age", "sex", "ill", "note"], *own]))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/release.csv").write_bytes(written([["age", "sex", "ill", "note"], *rows]))
    (tmp_path / "r.toml").write_text(RECIPE.format("mondrian") + "[export]\n")

    def coverage(most: int) -> dict[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checks, "LINED_FROM", 0)
            patch.setattr(row_coverage, "MOST_MATCHED", most)
            if most >= 12:  # told by the classes that are linked, and no others
                patch.delattr(tables.PrivateTable, "lined_by_all")
            found = verify_files(tmp_path / "r.toml", tmp_path / "t.csv", tmp_path / "out")
        return next(c for c in found.as_json()["checks"] if c["name"] == "coverage")

    assert coverage(12)["holds"]
    assert coverage(11) == coverage(12)


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
    checks = {check["name"]: check for check in told(desk, tmp_path, bulk=True)["checks"]}
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
    found = told(desk, release, bulk=True)
    broken = {check["name"] for check in found["checks"] if not check["holds"]}
    assert broken == {"parquet"}
