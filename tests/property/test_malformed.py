"""Malformed recipes, tables and hierarchies: each is refused in words, or its release verifies."""

from __future__ import annotations

import csv
import gzip
import io
import time
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.__main__ import main
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm

RECIPE = """\
[data]
separator = ""
missing = "keep"
missing_values = ["", "?"]
encoding = ""
[types]
zip = "text"
[roles]
identifier = ["name"]
quasi = ["sex", "age", "zip"]
sensitive = ["ill"]
[hierarchies]
age = "age.csv"
zip = "zip.csv"
[algorithm]
name = "optimal"
max_suppression = 0.1
[[models]]
name = "k-anonymity"
k = 2
[[models]]
name = "l-diversity"
l = 2
column = "ill"
[[attacks]]
name = "prosecutor"
[population]
size = 1000
[export]
formulas = "neutralise"
"""
ROWS = [
    ["name", "sex", "age", "zip", "ill"],
    *(
        [f"n{i}", "FM"[i % 2], str(20 + i % 4 * 5), f"0{1 + i % 3}", ["flu", "cold", "=x"][i % 3]]
        for i in range(18)
    ),
]
AGES = "".join(f"{a};{a // 10 * 10}-{a // 10 * 10 + 9};*\n" for a in range(20, 40))
ZIPS = {
    "zip.csv": "01,0*,*\n02,0*,*\n03,0*,*\n",
    "tree": "Root : A, 03\nA : 01, 02\n",
    "json": '{"tree": {"label": "*", "children": [{"label": "A", "children": ["01", "02"]},'
    ' "03"]}}',
}
#: What a value of a recipe is replaced by.
VALUES = [
    "0",
    "-1",
    "1",
    "2.5",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[1]",
    "9223372036854775807",
    "99999999999999999999999",
    "0x7fffffffffffffff",
    "1979-05-27",
    "07:32:00",
    '""',
    '"',
    '"',
    '"*"',
    '"\\u0000"',
    '"\\ud800"',
    '"\\U0001F600"',
    '"../.."',
    '"/dev/null"',
    '"."',
    '".."',
    '"name"',
    '"sex"',
    '["sex"]',
    '["sex","sex"]',
    '[""]',
    '[["sex"]]',
    "{a=1}",
    '"a|b"',
    '"sex',
    "=",
    "1",
    "|",
    "age",
    "=",
    '2"',
    '"sex+ill|age"',
    '"utf-16"',
    '"idna"',
    '"rot13"',
    '"zlib"',
    '"cp037"',
    '"undefined"',
    '"unicode_escape"',
]
CELLS = (
    "",
    "?",
    "NA",
    "nan",
    "1e999",
    "-1e999",
    "1e-999",
    "9" * 400,
    "0,5",
    "1,000",
    "*",
    "{F, M}",
    "[20, 30]",
    "\u2264 5",
    '"',
    "\\",
    "\0",
    "\r",
    "\n",
    "\ufeff",
    "\u2028",
    "é",
    "=1+1",
    "'",
    ",",
    ";",
    "\t",
    "\x1f",
    "01",
    "2020-02-30",
    "x" * 5000,
    "٣",
    "1_000",
    "+5",
    "-0",
)


def pick(rng: np.random.Generator, of: object) -> str:
    options = list(of)  # type: ignore[call-overload]
    return options[int(rng.integers(len(options)))]


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with a few of them changed, lost, doubled or exchanged."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at, kind = int(rng.integers(len(found) + 1)), int(rng.integers(5))
        stop = at + int(rng.integers(1, 12))
        if kind == 0 and at < len(found):
            found[at] = int(rng.integers(256))
        elif kind == 1:
            del found[at:stop]
        elif kind == 2:
            found[at:at] = bytes(rng.integers(0, 256, 3).astype(np.uint8))
        elif kind == 3:
            found[at:at] = found[at:stop] * int(rng.integers(1, 40))
        else:
            found[at:at] = bytes([int(rng.choice(list(b'",;\n\r\t[]{}=#.\0\xff')))])
    return bytes(found)


def a_recipe(rng: np.random.Generator) -> bytes:
    text = RECIPE
    if rng.random() < 0.5:
        text = text.replace('"optimal"', f'"{pick(rng, family("algorithm"))}"')
    if rng.random() < 0.3:
        text = text.replace('"l-diversity"', f'"{pick(rng, family("model"))}"')
    lines = text.splitlines()
    kind = int(rng.integers(6))
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        key, equals, _ = lines[at].partition(" = ")
        if kind <= 2 and equals:
            lines[at] = f"{key} = {pick(rng, VALUES)}"
        elif kind == 3:
            del lines[at]
        elif kind == 4:
            lines.insert(at, pick(rng, lines))
        else:
            return mutated("\n".join(lines).encode(), rng)
    return ("\n".join(lines) + "\n").encode()


def a_table(rng: np.random.Generator) -> bytes:
    rows = [list(row) for row in ROWS]
    for _ in range(int(rng.integers(0, 6))):
        row = rows[int(rng.integers(len(rows)))]
        kind = rng.random()
        if kind < 0.8 and row:
            row[int(rng.integers(len(row)))] = pick(rng, CELLS)
        elif kind < 0.9:
            row.append(pick(rng, CELLS))
        elif row:
            row.pop()
    form = int(rng.integers(8))
    if form == 0:
        sink = io.BytesIO()
        whole = [[*row, *[""] * 5][:5] for row in rows]
        names = [f"{name}{i}" if rng.random() < 0.1 else name for i, name in enumerate(ROWS[0])]
        columns = {n: [row[i] for row in whole[1:]] for i, n in enumerate(names)}
        pq.write_table(pa.table(columns), sink)
        content = sink.getvalue()
    else:
        mark = pick(rng, ",;\t|")
        content = "\n".join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")
        if form == 1:
            content = content.decode().encode(
                pick(rng, ("utf-16", "latin-1", "utf-8-sig")), "replace"
            )
    if rng.random() < 0.5:
        content = mutated(content, rng)
    return gzip.compress(content) if form == 2 else content


def odd_cells(rng: np.random.Generator) -> bytes:
    """Return a whole table with odd cells in it, in quotes where they need them."""
    rows = [list(row) for row in ROWS]
    for row in rows[1:]:
        for place in (1, 4):
            if rng.random() < 0.2:
                row[place] = pick(rng, CELLS)
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def a_hierarchy(rng: np.random.Generator, content: str) -> bytes:
    if rng.random() < 0.3:
        return content.encode()
    if rng.random() < 0.5:
        return mutated(content.encode(), rng)
    lines = [line.split(pick(rng, ";,")) for line in content.splitlines()]
    line = lines[int(rng.integers(len(lines)))]
    line[int(rng.integers(len(line)))] = pick(rng, CELLS)
    return "\n".join(";".join(one) for one in lines).encode()


def one_input(folder: Path, rng: np.random.Generator) -> None:
    what = int(rng.integers(6))
    (folder / "recipe.toml").write_bytes(a_recipe(rng) if what in (0, 3) else RECIPE.encode())
    plain = "\n".join(",".join(row) for row in ROWS).encode()
    table = a_table(rng) if what in (1, 3) else odd_cells(rng) if what > 3 else plain
    (folder / "table").write_bytes(table)
    if what > 3:
        name = pick(rng, family("algorithm"))
        text = RECIPE.replace('"optimal"', f'"{name}"')
        if cast(type[Algorithm], family("algorithm")[name]).shape.permutes:
            text = text.replace("k-anonymity", "bucket-size").replace("l-div", "frequency-l-div")
        (folder / "recipe.toml").write_text(text.replace("max_suppression = 0.1\n", ""))
    tree = ZIPS[pick(rng, ZIPS)]
    for name, content in (("age.csv", AGES), ("zip.csv", tree)):
        (folder / name).write_bytes(
            a_hierarchy(rng, content) if what in (2, 3) else content.encode()
        )


def outcome(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, float]:
    """Run and verify what lies in a folder; both end in words, and what is released verifies.

    Return the status of the run, and how long the longer of the two took.
    """
    given = [str(folder / "recipe.toml"), "--data", str(folder / "table")]
    found, longest = -1, 0.0
    for command in (["run", "--out"], ["verify", "--release"]):
        began = time.monotonic()
        status = main([command[0], *given, command[1], str(folder / "out")])
        said = capsys.readouterr().err
        assert "error of the workbench itself" not in said
        assert len(said) < 20_000
        longest = max(longest, time.monotonic() - began)
        assert status in (0, 1, 2, 4) if command[0] == "run" else status in (0, 1, 3, 4)
        # Also said of a release: what was renewed in it, and what cannot be made again.
        notes = ("Older recipe: ", "The random seed was not kept")
        wrong = [line for line in said.splitlines() if not line.startswith(notes)]
        assert bool(wrong) == (status not in (0, 3))
        found = status if command[0] == "run" else found
        if command[0] == "verify" and found == 0:
            assert status == 0
    return found, longest


def attacked(seeds: range, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended: set[int] = set()
    seconds = 0.0
    for seed in seeds:
        try:
            for turn in range(2):  # a first run may have to compile what it needs
                place = folder / f"{seed}-{turn}"
                place.mkdir()
                one_input(place, np.random.default_rng([13, seed]))
                status, seconds = outcome(place, capsys)
                ended.add(status)
                if seconds < 10:
                    break
            else:
                pytest.fail(f"{seconds:.1f} s")
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    assert {0, 1} <= ended


def test_a_malformed_input_ends_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    attacked(range(50), tmp_path, capsys)


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_malformed_inputs_end_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], part: int
) -> None:
    attacked(range(100 * part, 100 * part + 100), tmp_path, capsys)
