"""A release in several files: the same rows, from every engine, and whatever is amiss."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.pipeline.publish.file_formats import part_ends
from anon_core.pipeline.verify.verify_release import verify_release
from anon_core.recipe.plan import Plan
from tests.unit.command_line.test_engines import _recipe, _table, promised


def _released(folder: Path, table: str, engine: str = "memory") -> dict[str, bytes]:
    out = folder / f"{engine}-{table}"
    asked = ["run", str(folder / "recipe.toml"), "--data", str(folder / table), "--out", str(out)]
    assert main([*asked, "--engine", engine]) == 0
    return {file.name: file.read_bytes() for file in sorted(out.iterdir())}


def _asked(folder: Path, technique: str, export: str) -> None:
    recipe = _recipe(folder, {"name": technique}, "keep", promised({"name": technique}))
    text = recipe.read_text(encoding="utf-8").replace("[export]", f"[export]\n{export}")
    recipe.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a release that holds, by how it is exported; made once."""
    made: dict[str, Path] = {}

    def folder_of(export: str) -> Path:
        if export not in made:
            folder = made[export] = tmp_path_factory.mktemp("parts")
            _table(1).to_csv(folder / "t.csv", index=False)
            _asked(folder, "mondrian", export)
            _released(folder, "t.csv")
            given = (folder / "recipe.toml", folder / "t.csv", folder / "memory-t.csv")
            assert verify_release(*given).holds
        return made[export]

    return folder_of


@pytest.mark.parametrize("technique", ["mondrian", "anatomy"])
def test_parts_hold_the_rows_of_the_whole_whoever_writes_them_and_in_whatever_order(
    tmp_path: Path, technique: str
) -> None:
    parts = 3
    frame = _table(1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.sample(frac=1, random_state=3).to_csv(tmp_path / "shuffled.csv", index=False)
    _asked(tmp_path, technique, "csv = false")
    whole = _released(tmp_path, "t.csv", "duckdb")
    recipe = tmp_path / "recipe.toml"  # it keeps its secret: what is drawn stays the same
    recipe.write_text(
        recipe.read_text(encoding="utf-8").replace("csv = false", f"csv = false\nparts = {parts}"),
        encoding="utf-8",
    )
    found = _released(tmp_path, "t.csv")
    assert len(found) == parts * len(whole)
    assert _released(tmp_path, "shuffled.csv", "duckdb") == found
    for name, content in whole.items():
        title = name.removesuffix(".parquet")
        mine = [part for part in found if part.startswith(f"{title}-")]
        read = [pq.read_table(pa.BufferReader(found[part])) for part in mine]
        assert [len(table) for table in read] == [
            len(range(*ends))
            for ends in zip([0, *part_ends(240, parts)], part_ends(240, parts), strict=False)
        ]
        rows = pa.concat_tables(read).to_pylist()
        assert rows == pq.read_table(pa.BufferReader(content)).to_pylist()


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_more_parts_than_rows_leave_some_without_any(tmp_path: Path, engine: str) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n1,a\n1,b\n2,a\n2,b\n")
    (tmp_path / "recipe.toml").write_text(
        '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n[algorithm]\nname = "mondrian"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n[export]\ncsv = false\nparts = 7\n'
    )
    found = _released(tmp_path, "t.csv", engine)
    rows = [pq.read_table(pa.BufferReader(content)).num_rows for content in found.values()]
    assert rows == [0, 1, 0, 1, 0, 1, 1]
    given = (tmp_path / "recipe.toml", tmp_path / "t.csv", tmp_path / f"{engine}-t.csv")
    assert verify_release(*given).holds


def _exchanged(first: Path, second: Path) -> None:
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)


def _moved(first: Path, second: Path) -> None:
    one, two = (pq.read_table(file).to_pylist() for file in (first, second))
    pq.write_table(pa.Table.from_pylist([*one, two[0]]), first)
    pq.write_table(pa.Table.from_pylist(two[1:]), second)


def _changed(file: Path) -> None:
    rows = pq.read_table(file).to_pylist()
    rows[5]["illness"] = "flu" if rows[5]["illness"] != "flu" else "cold"
    pq.write_table(pa.Table.from_pylist(rows), file)


@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (lambda parts: parts[1].unlink(), "release-0002-of-0003.parquet is missing"),
        (
            lambda parts: parts[0].with_name("release-0004-of-0003.parquet").write_bytes(b""),
            "'release-0004-of-0003.parquet', which is not a file of this release",
        ),
        (
            lambda parts: parts[0].with_name("release.parquet").write_bytes(b""),
            "'release.parquet', which is not a file of this release",
        ),
        (
            lambda parts: _exchanged(parts[0], parts[1]),
            "1 row is not in canonical order (row 81)",
        ),
        (
            lambda parts: pq.write_table(pq.read_table(parts[1]), parts[1]),
            "release-0002-of-0003.parquet is not, byte for byte, what is written of rows 81 to 160",
        ),
        (lambda parts: _changed(parts[1]), "1 published row has no row of the table"),
        (
            lambda parts: _moved(parts[0], parts[1]),
            "release-0001-of-0003.parquet is not, byte for byte, what is written of rows 1 to 80",
        ),
        (
            lambda parts: parts[2].write_bytes(b"PAR1 nothing"),
            "release-0003-of-0003.parquet is not a readable Parquet file",
        ),
        (
            lambda parts: pq.write_table(pa.table({"x": ["1"]}), parts[2]),
            "release-0003-of-0003.parquet has other columns than release-0001-of-0003.parquet",
        ),
    ],
    ids=["gone", "more", "whole", "swapped", "rewritten", "changed", "moved", "broken", "other"],
)
def test_whatever_is_amiss_with_a_part_is_named(
    tmp_path: Path,
    whole: Callable[[str], Path],
    tamper: Callable[[list[Path]], object],
    text: str,
) -> None:
    shutil.copytree(whole("csv = false\nparts = 3"), tmp_path, dirs_exist_ok=True)
    place = tmp_path / "memory-t.csv"
    given = (tmp_path / "recipe.toml", tmp_path / "t.csv", place)
    tamper(sorted(place.iterdir()))
    found = verify_release(*given)
    assert any(text in check.sentence for check in found.broken), found.broken


@pytest.mark.parametrize("technique", ["mondrian", "anatomy"])
def test_csv_parts_are_the_whole_file_cut_whoever_writes_them(
    tmp_path: Path, technique: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = 3
    frame = _table(1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.sample(frac=1, random_state=3).to_csv(tmp_path / "shuffled.csv", index=False)
    _asked(tmp_path, technique, "")
    whole = _released(tmp_path, "t.csv", "duckdb")
    recipe = tmp_path / "recipe.toml"
    text = recipe.read_text(encoding="utf-8").replace("[export]", f"[export]\nparts = {parts}")
    recipe.write_text(text, encoding="utf-8")
    found = _released(tmp_path, "t.csv")
    assert len(found) == parts * len(whole)
    assert _released(tmp_path, "shuffled.csv", "duckdb") == found
    for name, content in whole.items():
        title, _, ending = name.partition(".")
        mine = [f"{title}-{nth:04}-of-0003.{ending}" for nth in (1, 2, 3)]
        assert set(mine) <= set(found)
        if ending == "csv":
            header = content[: content.index(b"\n") + 1]
            assert all(found[part].startswith(header) for part in mine)
            assert header + b"".join(found[part][len(header) :] for part in mine) == content
    given = ["verify", str(recipe), "--release", str(tmp_path / "memory-t.csv")]
    capsys.readouterr()
    assert main([*given, "--release-only"]) == 5  # nothing broken, not all could be checked
    assert "BROKEN" not in capsys.readouterr().out


def test_engines_tell_the_same_digest_of_csv_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    _asked(tmp_path, "mondrian", "parts = 3")
    values: list[str] = []
    for engine in ("memory", "duckdb"):
        asked = ["run", str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "t.csv")]
        capsys.readouterr()
        assert main([*asked, "--out", str(tmp_path / engine), "--engine", engine, "--json"]) == 0
        values.append(json.loads(capsys.readouterr().out)["output_sha256"])
    files = sorted((tmp_path / "memory").glob("*.csv"))
    whole = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    assert values == [whole, whole]


def test_a_report_is_written_of_csv_parts(tmp_path: Path) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    _asked(tmp_path, "mondrian", "parts = 3")
    _released(tmp_path, "t.csv")
    given = [str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "t.csv")]
    given += ["--release", str(tmp_path / "memory-t.csv"), "--out", str(tmp_path / "report")]
    assert main(["report", *given, "--format", "json"]) == 0


def _csv_moved(first: Path, second: Path) -> None:
    header, line, rest = second.read_bytes().split(b"\n", 2)
    first.write_bytes(first.read_bytes() + line + b"\n")
    second.write_bytes(header + b"\n" + rest)


def _csv_changed(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    other = {"flu": "cold", "cold": "flu"}
    place = next(i for i, line in enumerate(lines[1:], 1) if line.rpartition(",")[2] in other)
    begin, _, last = lines[place].rpartition(",")
    lines[place] = f"{begin},{other[last]}"
    file.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (lambda parts: parts[1].unlink(), "release-0002-of-0003.csv is missing"),
        (
            lambda parts: parts[1].with_suffix(".parquet").unlink(),
            "release-0002-of-0003.parquet is missing",
        ),
        (
            lambda parts: parts[0].with_name("release-0004-of-0003.csv").write_bytes(b""),
            "'release-0004-of-0003.csv', which is not a file of this release",
        ),
        (
            lambda parts: parts[0].with_name("release.csv").write_bytes(b""),
            "'release.csv', which is not a file of this release",
        ),
        (lambda parts: _exchanged(parts[0], parts[1]), "1 row is not in canonical order (row 81)"),
        (
            lambda parts: _csv_changed(parts[1]),
            "release-0002-of-0003.parquet is not, byte for byte",
        ),
        (
            lambda parts: _csv_moved(parts[0], parts[1]),
            "release-0001-of-0003.csv is not written as a part of a release is, first in row 80",
        ),
        (
            lambda parts: parts[2].write_bytes(parts[2].read_bytes().replace(b"\n", b"\r\n")),
            "release-0003-of-0003.csv is not written as a part of a release is, first in its head",
        ),
        (
            lambda parts: parts[2].write_bytes(parts[2].read_bytes() + b"1\n"),
            "release-0003-of-0003.csv cannot be read",
        ),
        (
            lambda parts: parts[2].write_bytes(b"x\n1\n"),
            "release-0003-of-0003.csv has other columns than release-0001-of-0003.csv",
        ),
        (lambda parts: parts[2].write_bytes(b""), "release-0003-of-0003.csv"),
        (lambda parts: parts[2].write_bytes(b'"\xff'), "release-0003-of-0003.csv"),
    ],
    ids=[
        *("gone", "gone beside", "more", "whole", "swapped", "changed", "moved", "lines"),
        *("ragged", "other", "empty", "no text"),
    ],
)
def test_whatever_is_amiss_with_a_csv_part_is_named(
    tmp_path: Path,
    whole: Callable[[str], Path],
    tamper: Callable[[list[Path]], object],
    text: str,
) -> None:
    shutil.copytree(whole("parts = 3"), tmp_path, dirs_exist_ok=True)
    place = tmp_path / "memory-t.csv"
    given = (tmp_path / "recipe.toml", tmp_path / "t.csv", place)
    tamper(sorted(place.glob("*.csv")))
    found = verify_release(*given)
    assert any(text in check.sentence for check in found.broken), found.broken


def test_files_for_other_programs_stay_whole_beside_parts(tmp_path: Path) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    _asked(tmp_path, "mondrian", 'parts = 3\nformats = ["xlsx"]\ndialect = { separator = ";" }')
    found = _released(tmp_path, "t.csv")
    assert {name for name in found if "-of-" not in name} == {
        "release.spreadsheet.csv",
        "release.xlsx",
    }
    given = (tmp_path / "recipe.toml", tmp_path / "t.csv", tmp_path / "memory-t.csv")
    assert verify_release(*given).holds
    file = given[2] / "release.spreadsheet.csv"
    file.write_bytes(file.read_bytes().replace(b";", b","))
    assert any("release.spreadsheet.csv" in one.sentence for one in verify_release(*given).broken)


@pytest.mark.parametrize(
    ("export", "text"),
    [
        ({"parts": 0, "csv": False}, "parts is 0"),
        ({"parts": True, "csv": False}, "parts is True"),
        ({"parts": 10_000, "csv": False}, "parts is 10000"),
    ],
)
def test_other_parts_are_refused(export: dict[str, object], text: str) -> None:
    with pytest.raises(BadPlan, match=text):
        Plan.from_mapping(
            {
                "roles": {"quasi": ["a"]},
                "algorithm": {"name": "mondrian"},
                "models": [{"name": "k-anonymity", "k": 2}],
                "export": export,
            }
        )


@pytest.mark.parametrize("technique", ["mondrian", "anatomy"])
@pytest.mark.parametrize("csv", ["false", "true"])
def test_an_earlier_release_in_parts_is_laid_beside_a_later_one(
    tmp_path: Path, technique: str, csv: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _table(1).to_csv(tmp_path / "t.csv", index=False)
    recipe = tmp_path / "recipe.toml"
    _asked(tmp_path, technique, f"csv = {csv}")
    whole = _released(tmp_path, "t.csv", "duckdb")
    later = tmp_path / "duckdb-t.csv"
    several = recipe.read_text().replace(f"csv = {csv}", f"csv = {csv}\nparts = 3")
    recipe.write_text(several)
    parts = _released(tmp_path, "t.csv")
    earlier = tmp_path / "memory-t.csv"
    recipe.write_text(several.replace("\nparts = 3", ""))
    assert len(parts) == 3 * len(whole)
    given = ["verify", str(recipe), "--data", str(tmp_path / "t.csv"), "--release", str(later)]
    capsys.readouterr()

    def output(previous: Path) -> tuple[int, str]:
        status = main([*given, "--previous", str(previous)])
        out = capsys.readouterr()
        return status, out.out + out.err

    assert output(earlier) == output(later)
    ending = "csv" if csv == "true" else "parquet"
    part = next(iter(earlier.glob(f"*-0002-of-0003.{ending}")))
    status, words = output(part)
    assert status != 0
    assert "is a part of the earlier release" in words
    part.unlink()
    status, words = output(earlier)
    assert status != 0
    assert f"lacks {part.name}" in words
    part.with_name(part.name.replace("0002-of-0003", "0009-of-0003")).write_bytes(b"")
    status, words = output(earlier)
    assert status != 0
