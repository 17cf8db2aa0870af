"""Input made to break the workbench: it is refused with a message, soon and in bounded memory."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import os
import random
import resource
import socket
import subprocess
import sys
import time
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core import verify
from anon_core.__main__ import main
from anon_core.base import bounded_reading as opening
from anon_core.base.errors import AnonError, BadInput, BadPlan
from anon_core.cli.output import BROKEN, ERROR
from anon_core.data.hierarchy.files.level_files import parse_levels
from anon_core.data.reading import limits, read_table
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify as own_verify
from anon_core.verification.files import bounded_reading as own_opening
from anon_core.verification.files import reading as own_reading
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.files.recipe_files import read_levels as read_levels_again
from anon_core.verification.files.recipe_files import read_recipe

CHECKOUT = Path(__file__).resolve().parents[3]
RECIPE = """\
[roles]
quasi = ["sex", "age"]
sensitive = ["ill"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""
TABLE = "sex,age,ill\n" + "F,21,flu\nF,23,cold\nM,40,flu\nM,44,gout\n"


class Desk:
    """A recipe, its table and its verified release."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.recipe, self.data = folder / "recipe.toml", folder / "table.csv"
        self.recipe.write_text(RECIPE)
        self.data.write_text(TABLE)

    def refused(self, capsys: pytest.CaptureFixture[str], *, run: bool = True) -> str:
        """Run and verify what must be refused by both, and return what `run` said."""
        recipe, data, out = str(self.recipe), str(self.data), str(self.out)
        said = ""
        for command in (["run", "--out"], ["verify", "--release"])[not run :]:
            began = time.monotonic()
            assert main([command[0], recipe, "--data", data, command[1], out]) in (ERROR, 4)
            said = capsys.readouterr().err
            assert "error of the workbench itself" not in said
            assert len(said) < 10_000
            assert time.monotonic() - began < 10
        return said


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    desk = Desk(folder)
    given = ["run", str(desk.recipe), "--data", str(desk.data), "--out", str(desk.out)]
    assert main(given) == 0
    return folder


@pytest.fixture
def desk(made: Path, tmp_path: Path) -> Desk:
    (tmp_path / "out").mkdir()
    for file in (made / "out").iterdir():
        (tmp_path / "out" / file.name).write_bytes(file.read_bytes())
    return Desk(tmp_path)


# ---- recipes -------------------------------------------------------------------------------------

DEEP = {
    "lists": "seed = " + "[" * 5000 + "]" * 5000,
    "tables": "x = " + "{a = " * 5000 + "1" + "}" * 5000,
    "levels": "x = " + "{a = " * 30 + "1" + "}" * 30,
    "keys": ".".join("a" * 50_000) + " = 1",
    "digits": "seed = " + "9" * 100_000,
    "hexadecimal": "seed = 0x" + "f" * 100_000,
    "unknown": "x" * 1_000_000 + " = 1",
    "nothing": "\0",
}


@pytest.mark.parametrize("name", DEEP)
def test_a_recipe_that_breaks_readers(
    desk: Desk, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    desk.recipe.write_text(DEEP[name] + "\n" + RECIPE)
    assert "ecipe" in desk.refused(capsys)


@pytest.mark.parametrize("name", sorted({*DEEP} - {"levels", "unknown"}))
def test_the_second_computation_reads_recipes_by_itself(name: str) -> None:
    with pytest.raises(BadPlan, match="not valid TOML"):
        read_recipe(DEEP[name].encode(), "recipe.toml")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k = 2", "k = 1", "parameter 'k' is 1"),
        ("k = 2", "k = 2.5", "parameter 'k' is 2.5"),
        ("k = 2", "k = 2\nkk = 3", "unknown parameter 'kk'"),
        ('"mondrian"', '"mondrain"', "mondrain"),
        ('"mondrian"', '"mondrian"\nmax_suppression = 2', "max_suppression"),
        ('"mondrian"', "17", "17"),
        ('"mondrian"', '"anatomy"', "permuted separately"),
        ("[roles]", "[rolls]\n[roles]", "unknown key 'rolls'"),
        ("[roles]", "[data]\nseparator = ',,'\n[roles]", "separator"),
        ("[roles]", "[data]\nencoding = 'utf-8\\u0000'\n[roles]", "encoding"),
        ("[roles]", '[data]\nencoding = "a\\u0000b"\n[roles]', "encoding"),
    ],
)
def test_verify_refuses_what_run_refuses_in_the_same_words(
    desk: Desk, capsys: pytest.CaptureFixture[str], old: str, new: str, words: str
) -> None:
    desk.recipe.write_text(RECIPE.replace(old, new, 1))
    assert old in RECIPE
    given = [str(desk.recipe), "--data", str(desk.data)]
    assert main(["run", *given, "--out", str(desk.folder / "new")]) == ERROR
    run = capsys.readouterr().err
    assert words in run
    assert main(["verify", *given, "--release", str(desk.out)]) == ERROR
    assert capsys.readouterr().err == run
    with pytest.raises(BadPlan):
        verify(desk.recipe, desk.data, desk.out)


def test_what_asks_for_a_public_table_and_names_none_never_verifies(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.recipe.write_text(RECIPE.replace('"k-anonymity"\nk = 2', '"delta-presence"', 1))
    given = [str(desk.recipe), "--data", str(desk.data)]
    assert main(["run", *given, "--out", str(desk.folder / "new")]) == ERROR
    assert "δ-presence needs a public table" in capsys.readouterr().err
    assert main(["verify", *given, "--release", str(desk.out)]) == BROKEN
    assert (
        "no public table with all quasi-identifiers was given. Treated as broken"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize("separator", [",,", '"', "\n", 7])
def test_the_second_computation_needs_one_separator(separator: object) -> None:
    with pytest.raises(BadPlan, match="separator"):
        read_options({"separator": separator})


def test_numbers_and_halves_of_characters_in_a_hierarchy() -> None:
    for tree in (
        '{"tree": {"label": "*", "children": [' + "9" * 100_000 + "]}}",
        '{"tree": {"label": "\\ud800", "children": ["a"]}}',
        'Root : "\\ud800"',
    ):
        with pytest.raises(AnonError, match="Hierarchy file of 'x'"):
            parse_levels(tree, "x")


@pytest.mark.parametrize(
    "text",
    [
        "Root : A, b\nA : A, c\n",  # in itself
        "Root : A, B\nA : B, c\nB : d\n",  # under two groups
        "Root : g0, b\n" + "".join(f"g{i} : g{i + 1}, v{i}\n" for i in range(5000)),
        '{"tree": ' + '{"label": "x", "children": ["v", ' * 200 + '"y"' + "]}" * 200 + "}",
    ],
)
def test_a_hierarchy_without_an_end_is_refused_by_both_readers(text: str) -> None:
    began = time.monotonic()
    for read in (parse_levels, read_levels_again):
        with pytest.raises(AnonError):
            read(text, "x")
    assert time.monotonic() - began < 5


# ---- paths ---------------------------------------------------------------------------------------


def odd(folder: Path, what: str) -> str:
    place = folder / "odd"
    if what == "pipe":
        os.mkfifo(place)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(place))
    elif what == "loop":
        place.symlink_to(place)
    elif what == "folder":
        place.mkdir()
    return {
        "endless device": "/dev/zero",
        "zero byte": "a\0b",
        "megabyte": "x" * 1_000_000,
        "nowhere": "nowhere",
    }.get(what, str(place))


ODD = (
    "pipe",
    "socket",
    "loop",
    "folder",
    "endless device",
    "zero byte",
    "megabyte",
    "nowhere",
)


@pytest.mark.parametrize("what", ODD)
def test_a_table_that_is_no_file(desk: Desk, capsys: pytest.CaptureFixture[str], what: str) -> None:
    desk.data = odd(desk.folder, what)  # type: ignore[assignment]
    desk.refused(capsys)


@pytest.mark.parametrize("what", ODD)
def test_a_table_that_is_no_file_for_duckdb(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    desk.recipe.write_text(desk.recipe.read_text() + '[engine]\nname = "duckdb"\n')
    desk.data = odd(desk.folder, what)  # type: ignore[assignment]
    desk.refused(capsys)


@pytest.mark.parametrize("what", ODD)
def test_a_recipe_that_is_no_file(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    desk.recipe = odd(desk.folder, what)  # type: ignore[assignment]
    assert "recipe" in desk.refused(capsys)


@pytest.mark.parametrize("what", ODD)
def test_a_hierarchy_that_is_no_file(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    place = odd(desk.folder, what).replace("\0", "\\u0000")
    desk.recipe.write_text(RECIPE + f'[hierarchies]\nsex = "{place}"\n')
    assert "hierarchy file" in desk.refused(capsys)


@pytest.mark.parametrize("what", ODD)
def test_a_population_that_is_no_file(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    place = odd(desk.folder, what).replace("\0", "\\u0000")
    desk.recipe.write_text(
        RECIPE.replace('"k-anonymity"\nk = 2', '"delta-presence"').replace("mondrian", "optimal")
        + f'[population]\nfile = "{place}"\n'
    )
    desk.refused(capsys)


@pytest.mark.parametrize("what", [*ODD[:4], "link to a device"])
@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
def test_a_published_file_that_is_none(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str, name: str
) -> None:
    place = desk.out / name
    place.unlink()
    if what == "link to a device":
        place.symlink_to("/dev/zero")
    else:
        os.rename(odd(desk.folder, what), place)
        if what == "loop":
            place.unlink()
            place.symlink_to(place)
    desk.refused(capsys, run=False)


def test_an_output_folder_that_is_a_link_to_itself(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    for what in ("loop", "zero byte", "megabyte"):
        out = odd(desk.folder, what)
        assert main(["run", str(desk.recipe), "--data", str(desk.data), "--out", out]) == ERROR
        said = capsys.readouterr().err
        assert "error of the workbench itself" not in said
        assert len(said) < 5000


@pytest.mark.parametrize("what", ODD)
def test_a_release_folder_that_is_none(
    desk: Desk, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    desk.out = odd(desk.folder, what)  # type: ignore[assignment]
    desk.refused(capsys, run=False)


# ---- size ----------------------------------------------------------------------------------------


def bomb(mebibytes: int) -> bytes:
    """Return zeros, packed a mebibyte at a time."""
    return gzip.compress(bytes(1 << 20)) * mebibytes


@pytest.mark.parametrize("name", ["release.csv", "table.csv"])
def test_what_unpacks_to_a_gibibyte_stops_early_in_bounded_memory(
    desk: Desk, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bomb(1024)
    (desk.out if name == "release.csv" else desk.folder).joinpath(name).write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if name == "table.csv":
        assert "unpack" in desk.refused(capsys)
    else:
        given = ["verify", str(desk.recipe), "--data", str(desk.data), "--release", str(desk.out)]
        assert main(given) == 3  # packed is no way to publish
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (1 << 20)  # KiB: under the gibibyte


def test_a_table_may_unpack_to_more_than_its_ratio_where_it_is_small() -> None:
    rows = b"sex,age\n" + b"F,20\n" * 100_000
    packed = gzip.compress(rows, 9)
    assert len(rows) > limits.MOST_RATIO * len(packed)
    assert read_table(packed).rows == 100_000
    assert own_opening.unpack(packed, "x") == rows


@pytest.mark.parametrize("members", [1, 3])
def test_members_of_a_packed_file_follow_each_other(members: int) -> None:
    parts = [b"sex,age\n", b"F,20\n" * 3000, b"M,31\n"]
    packed = b"".join(map(gzip.compress, parts)) if members == 3 else gzip.compress(b"".join(parts))
    assert read_table(packed).rows == 3001
    with pytest.raises(BadInput, match="broken gzip"):
        read_table(packed[:-9])


def test_many_empty_members_take_no_quadratic_time() -> None:
    packed = gzip.compress(b"") * 30_000 + gzip.compress(b"a\n1\n")
    began = time.monotonic()
    assert read_table(packed).rows == 1
    assert own_opening.unpack(packed, "x") == b"a\n1\n"
    assert time.monotonic() - began < 5


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(own_opening.MOST_BYTES + 1)
    with pytest.raises(BadInput, match="at most"):
        own_opening.read_bytes(huge, "The data file")
    with pytest.raises(opening.TooManyBytes):
        opening.read_regular(huge, 1 << 30)


def constant(rows: int) -> bytes:
    """Return a Parquet file in which a few bytes stand for many rows."""
    sink = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), pa.array(["x" * 1000]))
    pq.write_table(pa.table({"a": column, "b": column}), sink)
    return sink.getvalue()


def test_a_parquet_file_of_more_cells_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = constant(1000)
    assert read_table(content).rows == len(own_reading.read_parquet(content, "x")) == 1000
    monkeypatch.setattr("anon_core.data.reading.parquet.MOST_CELLS", 1999)
    monkeypatch.setattr(own_opening, "MOST_CELLS", 1999)
    with pytest.raises(BadInput, match=r"1,000 rows of 2 columns"):
        read_table(content)
    with pytest.raises(BadInput, match=r"1,000 rows of 2 columns"):
        own_reading.read_parquet(content, "x")
    monkeypatch.undo()
    monkeypatch.setattr(own_opening, "MOST_BYTES", 100)
    with pytest.raises(BadInput, match="unpacked"):
        own_reading.read_parquet(content, "x")


def test_a_parquet_file_that_unpacks_to_more_than_is_read() -> None:
    sink = io.BytesIO()
    table = pa.table({"a": ["x" * 1_000_000, "y"]})
    pq.write_table(table, sink, compression="zstd", write_statistics=False)
    content = sink.getvalue()
    assert len(content) < 10_000
    with pytest.raises(BadInput, match=r"unpacked, has 1\.0 MiB"):
        read_table(content, most_bytes=100_000)


def test_long_texts_of_a_parquet_file_are_not_repeated() -> None:
    rows, text = 20_000, "y" * 1_000_000  # 20 GB, were every cell a text of its own
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": column}), sink)
    assert read_table(sink.getvalue()).rows == rows
    found = own_reading.read_parquet(sink.getvalue(), "x")
    assert len(found) == rows
    assert found.column("a").texts == [text]


def read_parquet_again(content: bytes) -> object:
    found = own_reading.read_parquet(content, "x")
    return [found.column_at(place) for place in range(len(found.names))]


def parquet_files() -> list[bytes]:
    """Return small Parquet files of many kinds of columns, written in several ways."""
    table = pa.table(
        {
            "text": pa.array(["x", "y", None] * 7).dictionary_encode(),
            "whole": list(range(21)),
            "part": [1.5, None, 2.5] * 7,
            "day": [dt.date(2020, 1, i % 28 + 1) for i in range(21)],
            "moment": [dt.datetime(2020, 1, 1, 3)] * 21,
            "exact": [Decimal("1.20")] * 21,
            "flag": [True, False, None] * 7,
        }
    )
    found: list[bytes] = []
    ways: list[dict[str, Any]] = [
        {},
        {"compression": "zstd", "row_group_size": 5},
        {"use_dictionary": False, "compression": "none"},
        {"data_page_version": "2.0", "write_page_index": True},
    ]
    for how in ways:
        sink = io.BytesIO()
        pq.write_table(table, sink, **how)
        found.append(sink.getvalue())
    return found


def mutate_parquet(seeds: range) -> None:
    files, refused = parquet_files(), 0
    for seed in seeds:
        drawn = random.Random(seed)
        content = bytearray(drawn.choice(files))
        for _ in range(drawn.choice((1, 1, 2, 4, 16))):
            place = drawn.randrange(4, len(content))
            kind = drawn.randrange(4)
            if kind == 0:
                del content[place]
            elif kind == 1:
                content.insert(place, drawn.randrange(256))
            else:
                content[place] = drawn.randrange(256)
        for read in (read_table, read_parquet_again):
            began = time.monotonic()
            try:
                read(bytes(content))
            except BadInput:
                refused += 1
            assert time.monotonic() - began < 10, seed
    assert refused > len(seeds)


def test_changed_bytes_of_a_parquet_file_end_in_words() -> None:
    mutate_parquet(range(600))


@pytest.mark.long
def test_many_changed_bytes_of_a_parquet_file_end_in_words() -> None:
    mutate_parquet(range(600, 20_000))


def test_a_day_outside_of_the_calendar_is_refused_in_words() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"day": pa.array([2**31 - 1], pa.int32()).cast(pa.date32())}), sink)
    for read in (read_table, read_parquet_again):
        with pytest.raises(BadInput, match="years 1 to 9999"):
            read(sink.getvalue())


# ---- leaving -------------------------------------------------------------------------------------


def test_a_thread_that_never_ends_does_not_keep_the_program() -> None:
    code = (
        "import threading, time, sys\n"
        "from anon_core.__main__ import leave\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "print('out'); sys.stderr.write('err')\n"
        "leave(2)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, timeout=60, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (2, b"out\n", b"err")


def test_an_ordinary_recipe_is_read() -> None:
    assert Plan.from_toml(RECIPE).models
    assert read_recipe(RECIPE.encode(), "x")["models"]


# ---- signs that a terminal would carry out ----------------------------------------------------


def test_a_name_cannot_write_lines_of_its_own_into_a_message(desk, capsys):
    desk.recipe.write_text(RECIPE.replace('"age"', r'"age\n\u001b[2Kreleased\u202e"'))
    said = desk.refused(capsys)
    assert said.strip().count("\n") == 0
    assert r"age\n\x1b[2Kreleased\u202e" in said


def test_signs_are_spelled_wherever_a_message_names_something():
    error = BadInput("a\x1b[31m\rb", remedy="c\x07\u2066")
    assert str(error) == r"a\x1b[31m\rb c\x07\u2066"


def test_a_name_cannot_write_lines_of_its_own_into_what_is_told_of_a_release(desk, capsys):
    name = "ill\x1b[2K\u202eholds"
    desk.data.write_text(f"age,{name}\n" + "30,a\n30,b\n31,a\n31,b\n")
    desk.recipe.write_text(
        '[roles]\nquasi = ["age"]\nsensitive = ["ill\\u001b[2K\\u202eholds"]\n'
        '[algorithm]\nname = "optimal"\n[[models]]\nname = "l-diversity"\nl = 2\n'
    )
    given = [str(desk.recipe), "--data", str(desk.data)]
    for command, place in (("run", "--out"), ("verify", "--release")):
        assert main([command, *given, place, str(desk.out)]) == 0
        printed = capsys.readouterr().out
        assert r"l = 2 for 'ill\x1b[2K\u202eholds' holds" in printed
        assert "\x1b" not in printed
        assert "\u202e" not in printed
    desk.data.write_text(desk.data.read_text().replace("30,b", "30,a"))
    assert main(["verify", *given, "--release", str(desk.out)]) == 3
    assert "\x1b" not in capsys.readouterr().out


# ---- more columns than a table has ------------------------------------------------------------


def test_a_table_of_too_many_columns_is_refused_by_both(desk, capsys):
    desk.data.write_text(",".join(f"c{i}" for i in range(20_000)) + "\n" + "1," * 19_999 + "1\n")
    began = time.monotonic()
    assert "20,000 columns" in desk.refused(capsys)
    assert time.monotonic() - began < 10


def test_a_release_of_too_many_columns_does_not_hold(tmp_path):
    wide = ",".join(f"c{i}" for i in range(20_000)) + "\n" + "1," * 19_999 + "1\n"
    private = own_reading.read_table(_file(tmp_path, TABLE))
    found = own_verify(tomllib.loads(RECIPE), private, {}, {"release.csv": wide.encode()})
    assert not found.holds
    assert "19,999 columns" in found.checks[0].sentence


def _file(folder: Path, text: str) -> Path:
    place = folder / "given.csv"
    place.write_text(text)
    return place


# ---- a hierarchy without a line ---------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_an_empty_hierarchy_is_refused_by_both(desk, capsys, text):
    desk.recipe.write_text(RECIPE + '[hierarchies]\nage = "age.csv"\n')
    (desk.folder / "age.csv").write_text(text)
    assert "empty" in desk.refused(capsys)
