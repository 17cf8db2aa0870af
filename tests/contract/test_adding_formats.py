"""Formats that are read and published: one row each, which every place follows."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from anon_core.__main__ import main
from anon_core.data.reading import READABLE
from anon_core.data.reading.any_format import READERS
from anon_core.pipeline.publish import file_formats as published
from anon_core.pipeline.publish.file_formats import FileFormat, file_names
from anon_core.verification.files import release_files as recomputed
from anon_core.verification.files.release_files import same_bytes
from anon_core.verification.text.texts import Codes
from tests.ui import sessions
from tests.ui.sessions import EXPORT, carried_out, compiles_nothing_ahead, load, open_page
from ui.export import bundle
from ui.state.loading import Opened
from ui.state.sessions import archives, dropped_files

RECIPE = """\
[roles]
quasi = ["age"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""


def lines(table: pa.Table) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


def lines_again(header: Sequence[str], codes: Sequence[Codes], texts: Sequence[list[str]]) -> bytes:
    columns = [[pool[code] for code in column] for column, pool in zip(codes, texts, strict=True)]
    rows = [dict(zip(header, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


TOY = FileFormat(
    ending="jsonl",
    title="JSON lines",
    help="One object a row.",
    mime="application/jsonl",
    write=lines,
)


@pytest.fixture(autouse=True)
def _own_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of other tests hold files that were written in the formats of then."""
    monkeypatch.setattr(sessions, "_CARRIED_OUT", [])
    compiles_nothing_ahead(monkeypatch)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(published.FORMATS, "jsonl", TOY)
    monkeypatch.setitem(recomputed.FORMATS, "jsonl", same_bytes("jsonl", lines_again))


class Desk:
    def __init__(self, folder: Path) -> None:
        self.recipe, self.data, self.out = (folder / n for n in ("r.toml", "t.csv", "out"))
        self.recipe.write_text(RECIPE)
        self.data.write_text("age\n20\n21\n30\n31\n")

    def run(self) -> int:
        given = [str(self.recipe), "--data", str(self.data), "--out", str(self.out)]
        return main(["run", *given])

    def verify(self) -> int:
        given = [str(self.recipe), "--data", str(self.data), "--release", str(self.out)]
        return main(["verify", *given])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_readable_kind_has_a_reader_words_and_endings() -> None:
    assert list(READABLE) == list(READERS)
    endings = [end for one in READABLE.values() for end in one.endings]
    assert len(endings) == len(set(endings))
    assert all(title in dropped_files.ACCEPTED for one in READABLE.values() for title in one.titles)


@pytest.mark.parametrize("ending", [end for one in READABLE.values() for end in one.endings])
def test_a_table_in_a_zip_is_found_by_every_ending(ending: str) -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as packed:
        packed.writestr(f"stays.{ending}", "age\n20\n")
        packed.writestr("notes.docx", "")
        packed.writestr("recipe.toml", RECIPE)
    files = archives.unpacked(Opened(name="all.zip", content=sink.getvalue()))
    (recipe,) = (one for one in files if one.name == "recipe.toml")
    found = archives.table_of(recipe, files)
    assert found is not None
    assert found.name == f"stays.{ending}"


def test_both_sides_know_the_same_formats() -> None:
    assert list(published.FORMATS) == list(recomputed.FORMATS)
    assert published.READ == recomputed.READ
    assert [one.ending for one in published.FORMATS.values()] == list(published.FORMATS)


@pytest.mark.usefixtures("toy")
def test_the_command_line_writes_and_verifies_a_new_format(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.run() == 0
    names = sorted(file.name for file in desk.out.iterdir())
    assert names == ["release.csv", "release.jsonl", "release.parquet"]
    assert (desk.out / "release.jsonl").read_bytes() == (
        b'{"age": "[20, 21]"}\n{"age": "[20, 21]"}\n{"age": "[30, 31]"}\n{"age": "[30, 31]"}\n'
    )
    capsys.readouterr()
    assert desk.verify() == 0
    assert "holds   jsonl: release.jsonl is, byte for byte," in capsys.readouterr().out
    assert desk.run() == 0  # an earlier release with such a file is replaced


@pytest.mark.usefixtures("toy")
def test_a_new_format_that_says_more_than_the_rows_breaks_the_release(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk.run() == 0
    with (desk.out / "release.jsonl").open("ab") as file:
        file.write(b" ")
    capsys.readouterr()
    assert desk.verify() == 3
    assert "BROKEN  jsonl: release.jsonl is not byte for byte" in capsys.readouterr().out


def test_a_format_that_only_the_run_knows_is_published_by_nobody(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(published.FORMATS, "jsonl", TOY)
    assert desk.run() == 1
    assert "'release.jsonl', which is not a file of this release" in capsys.readouterr().err
    assert not desk.out.exists()


def test_a_file_of_no_format_is_not_passed_over() -> None:
    (found,) = recomputed.check_formats({}, {}, {"release.csv": b"", "release.odd": b""})[-1:]
    assert not found.holds
    assert "'release.odd'" in found.sentence


@pytest.mark.usefixtures("toy")
def test_export_offers_a_new_format_and_packs_it() -> None:
    held = load()
    result = carried_out(held)
    app = open_page(EXPORT, held)
    assert not app.exception
    labels = [cast(Any, button).label for button in app.get("download_button")]
    assert labels[:3] == ["Release as CSV", "Release as Parquet", "Release as JSON lines"]
    with zipfile.ZipFile(io.BytesIO(bundle.public_archive(result))) as packed:
        assert sorted(packed.namelist()) == sorted(file_names(["release"]))
        assert packed.read("release.jsonl") == lines(result.published)


def test_a_file_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_table: pa.Table) -> bytes:
        raise AssertionError

    result = carried_out(load())
    parquet = published.FORMATS["parquet"]
    monkeypatch.setitem(published.FORMATS, "parquet", replace(parquet, write=never))
    assert result.file("release.csv") == result.csv
