"""A released file that was changed in any way is refused, whatever technique made it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.pipeline.publish.file_formats import as_parquet
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from anon_core.verification.findings import Verification
from anon_core.verification.rows.membership import Witness
from tests.making import BUDGET, MECHANISM, Case, for_mechanisms

Files = dict[str, bytes]
Change = Callable[[Files, np.random.Generator], Files]

#: Numbers in several spellings, signs of formulas, quotes, and values that are missing.
PEOPLE = Case(
    columns={
        "name": [f"n{i}" for i in range(16)],
        "age": ["20", "20.0", "21", "+22", "30", "31", "32,0", "33"] * 2,
        "born": ["1999-01-02", "2.1.1999", "03.02.1998", "1998-02-04"] * 4,
        "job": ["nurse", "doctor", "smith", "baker, own"] * 4,
        "illness": ["flu", "cold", "gout", '"flu"'] * 4,
        "pay": ["-5", "1.50", "1.5", "7"] * 4,
        "note": ["=1+1", "'=1+1", "x", ""] * 4,
    },
    identifier=("name",),
    quasi=("age", "born", "job"),
    sensitive=("illness",),
    kinds={"age": "number", "born": "date", "job": "text", "illness": "text", "pay": "number"},
    levels={
        "job": [
            ("nurse", "health", "*"),
            ("doctor", "health", "*"),
            ("smith", "craft", "*"),
            ("baker, own", "craft", "*"),
        ],
    },
)
NAMES = tuple(sorted(family("algorithm")))


def people_of(name: str) -> Case:
    """Return the table as a technique takes it."""
    technique = cast(type[Algorithm], family("algorithm")[name])
    answer = replace(PEOPLE, quasi=(*PEOPLE.quasi, "illness"))
    return for_mechanisms(answer, 20) if technique.shape.mechanism else PEOPLE


@cache
def released(name: str) -> tuple[dict[str, Any], Files, Witness | None]:
    """Return a small verified release of a technique, its recipe, and what the run knows of it."""
    technique = cast(type[Algorithm], family("algorithm")[name])
    models = [
        {"name": "frequency-l-diversity", "l": 2, "column": "illness"}
        if technique.shape.permutes
        else {"name": "k-anonymity", "k": 2}
    ]
    given = {"partition": "mondrian"} if technique.shape.permutes else {}
    if any(p.name == "max_suppression" for p in technique.parameters()):
        given["max_suppression"] = 0.0  # type: ignore[assignment]
    if technique.shape.mechanism:
        given, models = {**MECHANISM, "levels": {"illness": 0}}, [BUDGET]  # type: ignore[assignment]
    people = people_of(name)
    plan = people.plan(algorithm={"name": name, **given}, models=models)
    population = people.dataset if technique.needs.public else None
    result = run(plan, people.dataset, people.levels, population=population, assess=False)
    return plan.completed(), {**result.files, **result.parquet_files}, result.witness


def verified(name: str, files: Mapping[str, bytes]) -> Verification:
    recipe, _, witness = released(name)
    return verify(recipe, people_of(name).frame, PEOPLE.levels, files, witness=witness)


# ---- ways to tamper ------------------------------------------------------------------------------


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def content_of(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def a_csv(files: Files, rng: np.random.Generator) -> str:
    return str(rng.choice([name for name in files if name.endswith(".csv")]))


def bytes_change(change: Callable[[bytes, np.random.Generator], bytes]) -> Change:
    def apply(files: Files, rng: np.random.Generator) -> Files:
        name = a_csv(files, rng)
        return {**files, name: change(files[name], rng)}

    return apply


def cell_change(change: Callable[[str, np.random.Generator], str]) -> Change:
    """Change one cell that the change is for; the rows are sorted again where they have no group.

    The Parquet file says the same, as anyone who tampers would see to it.
    """

    def apply(files: Files, rng: np.random.Generator) -> Files:
        name = a_csv(files, rng)
        header, *rows = rows_of(files[name])
        places = [
            (i, j, new)
            for i, row in enumerate(rows)
            for j, cell in enumerate(row)
            if header[j] != "group" and (new := change(cell, rng)) != cell
        ]
        if not places:
            return files
        i, j, new = places[int(rng.integers(len(places)))]
        rows[i][j] = new
        rows.sort(key=lambda row: (int(row[0]), row[1:]) if header[0] == "group" else (0, row))
        return told_alike(files, name, [header, *rows])

    return apply


def told_alike(files: Files, name: str, rows: list[list[str]]) -> Files:
    header, *body = rows
    columns = [
        pa.array(column, type=pa.string()).dictionary_encode() for column in zip(*body, strict=True)
    ]
    again = as_parquet(pa.Table.from_arrays(columns, names=header))
    return {**files, name: content_of(rows), name.replace(".csv", ".parquet"): again}


def numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def of_numbers(form: str) -> Callable[[str, np.random.Generator], str]:
    return lambda cell, rng: form.format(cell) if numeric(cell) else cell


def wide_digits(cell: str, rng: np.random.Generator) -> str:
    return cell.translate({48 + i: 0xFF10 + i for i in range(10)}) if cell.isdecimal() else cell


def respaced(cell: str, rng: np.random.Generator) -> str:
    return cell.replace(", ", ",", 1) if cell[:1] in "[{" else cell


def turned(cell: str, rng: np.random.Generator) -> str:
    if cell[:1] not in ("[", "{") or '"' in cell:
        return cell
    return cell[0] + ", ".join(reversed(cell[1:-1].split(", "))) + cell[-1]


def twice_named(cell: str, rng: np.random.Generator) -> str:
    return "{" + cell[1:-1] + ", " + cell[1:] if cell[:1] == "{" else cell


def other_row_order(files: Files, rng: np.random.Generator) -> Files:
    name = a_csv(files, rng)
    header, *rows = rows_of(files[name])
    i = next((i for i in range(len(rows) - 1) if rows[i] != rows[i + 1]), -1)
    if i < 0:
        return files
    rows[i], rows[i + 1] = rows[i + 1], rows[i]
    return told_alike(files, name, [header, *rows])


def doubled_row(files: Files, rng: np.random.Generator) -> Files:
    name = a_csv(files, rng)
    header, *rows = rows_of(files[name])
    i = int(rng.integers(len(rows)))
    return told_alike(files, name, [header, *rows[: i + 1], *rows[i:]])


def removed_row(files: Files, rng: np.random.Generator) -> Files:
    name = a_csv(files, rng)
    header, *rows = rows_of(files[name])
    del rows[int(rng.integers(len(rows)))]
    return told_alike(files, name, [header, *rows])


def other_value(files: Files, rng: np.random.Generator) -> Files:
    """Give a person an illness that somebody else has."""
    name = next(n for n in files if n.endswith(".csv") and b"illness" in files[n])
    header, *rows = rows_of(files[name])
    j, i = header.index("illness"), int(rng.integers(len(rows)))
    rows[i][j] = "flu" if rows[i][j] != "flu" else "cold"
    rows.sort(key=lambda row: (int(row[0]), row[1:]) if header[0] == "group" else (0, row))
    return told_alike(files, name, [header, *rows])


def other_groups(files: Files, rng: np.random.Generator) -> Files:
    """Exchange the numbers of two groups, in every table."""
    found = dict(files)
    for name in files:
        if not name.endswith(".csv"):
            continue
        header, *rows = rows_of(files[name])
        if header[0] != "group" or len({row[0] for row in rows}) < 2:
            return files
        swap = {"1": "2", "2": "1"}
        rows = [[swap.get(row[0], row[0]), *row[1:]] for row in rows]
        rows.sort(key=lambda row: (int(row[0]), row[1:]))
        found = told_alike(found, name, [header, *rows])
    return found


def parquet_change(change: Callable[[bytes, np.random.Generator], bytes]) -> Change:
    def apply(files: Files, rng: np.random.Generator) -> Files:
        name = str(rng.choice([n for n in files if n.endswith(".parquet")]))
        return {**files, name: change(files[name], rng)}

    return apply


def noted(content: bytes, rng: np.random.Generator) -> bytes:
    table = pq.read_table(io.BytesIO(content))
    sink = io.BytesIO()
    marked = table.replace_schema_metadata({"marked": str(int(rng.integers(100)))})
    pq.write_table(marked, sink, compression="zstd")
    return sink.getvalue()


def packed_otherwise(content: bytes, rng: np.random.Generator) -> bytes:
    sink = io.BytesIO()
    how = [{"compression": "none"}, {"write_statistics": False}, {"write_page_index": True}]
    table = pq.read_table(io.BytesIO(content))
    pq.write_table(table, sink, **how[int(rng.integers(3))])  # type: ignore[arg-type]
    return sink.getvalue()


def one_bit(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    flipped = content[place] ^ (1 << int(rng.integers(8)))
    return content[:place] + bytes([flipped]) + content[place + 1 :]


def quoted_cell(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    plain = [i for i, line in enumerate(lines) if line and b'"' not in line]
    i = int(rng.choice(plain))
    first, *rest = lines[i].split(b",")
    lines[i] = b",".join([b'"' + first + b'"', *rest])
    return b"\n".join(lines)


WAYS: dict[str, Change] = {
    "line ends": bytes_change(lambda c, r: c.replace(b"\n", b"\r\n")),
    "one line end": bytes_change(lambda c, r: c.replace(b"\n", b"\r\n", 1)),
    "old line end": bytes_change(lambda c, r: c[:-1] + b"\r"),
    "byte order mark": bytes_change(lambda c, r: b"\xef\xbb\xbf" + c),
    "no last line end": bytes_change(lambda c, r: c[:-1]),
    "empty line": bytes_change(lambda c, r: c + b"\n"),
    "zero byte": bytes_change(lambda c, r: c + b"\0"),
    "quotes": bytes_change(quoted_cell),
    "a bit of a table": bytes_change(one_bit),
    "space after": cell_change(lambda c, r: c + " "),
    "space before": cell_change(lambda c, r: " " + c),
    "apostrophe": cell_change(lambda c, r: "'" + c),
    "capital": cell_change(lambda c, r: c.swapcase()),
    "decimals": cell_change(of_numbers("{}.000")),
    "sign": cell_change(of_numbers("+{}")),
    "exponent": cell_change(of_numbers("{}e0")),
    "zeros": cell_change(of_numbers("0{}")),
    "wide digits": cell_change(wide_digits),
    "missing otherwise": cell_change(lambda c, r: c or "NA"),
    "spaces in a range": cell_change(respaced),
    "ends exchanged": cell_change(turned),
    "member twice": cell_change(twice_named),
    "order of rows": other_row_order,
    "row twice": doubled_row,
    "row gone": removed_row,
    "other value": other_value,
    "groups exchanged": other_groups,
    "note in Parquet": parquet_change(noted),
    "Parquet packed otherwise": parquet_change(packed_otherwise),
    "bytes after Parquet": parquet_change(lambda c, r: c + b"\0"),
    "a bit of Parquet": parquet_change(one_bit),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_was_changed_is_refused(name: str) -> None:
    files = released(name)[1]
    assert verified(name, files).holds, [c.sentence for c in verified(name, files).broken]
    rng = np.random.default_rng([9, NAMES.index(name)])
    tried = 0
    for way in rng.permutation(list(WAYS))[:10].tolist():
        changed = WAYS[way](files, rng)
        if changed != files:
            tried += 1
            assert not verified(name, changed).holds, way
    assert tried >= 5


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_whatever_was_changed_is_refused(name: str) -> None:
    files = released(name)[1]
    rng = np.random.default_rng([10, NAMES.index(name)])
    ways = list(WAYS)
    for _ in range(300):
        way = ways[int(rng.integers(len(ways)))]
        changed = WAYS[way](files, rng)
        if changed == files:
            continue
        try:
            assert not verified(name, changed).holds, way
        except AnonError:
            pytest.fail(f"{way}: {name} raised instead of finding it broken")
