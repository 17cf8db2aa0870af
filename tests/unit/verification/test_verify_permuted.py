"""The second computation of permuted releases: what it finds, and what it cannot be fooled by."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from anon_core.verification.files.published import PublishedTable, split_release
from anon_core.verification.findings import Verification
from anon_core.verification.rows.permutation import numbers_of
from anon_core.verification.text.texts import Spelling
from tests.making import Case

Table = list[list[str]]

PEOPLE = Case(
    columns={
        "name": [f"n{i}" for i in range(12)],
        "age": ["20", "21", "22", "23", "30", "31", "32", "33", "40", "41", "42", "43"],
        "job": list("aabbaabbaabb"),
        "illness": ["flu", "cold", "gout", "flu", "cold", "gout"] * 2,
        "city": list("xyzxyzxyzxyz"),
    },
    identifier=("name",),
    quasi=("age", "job"),
    sensitive=("illness",),
    kinds={"age": "number", "job": "text", "illness": "text", "city": "text"},
)
L3 = [{"name": "frequency-l-diversity", "l": 3}]
NAMES = ("anatomy", "bucketization", "one-attribute-slicing", "permutation", "slicing")


def carried_out(name: str, models: list[dict[str, Any]] = L3, **settings: Any) -> Result:
    algorithm = {"name": name, "partition": "balanced", **settings}
    return run(PEOPLE.plan(algorithm=algorithm, models=models), PEOPLE.dataset, assess=False)


def again(result: Result, files: Mapping[str, bytes], **changes: Any) -> Verification:
    return verify({**result.plan.completed(), **changes}, PEOPLE.frame, {}, files)


def table(content: bytes) -> Table:
    return list(csv.reader(io.StringIO(content.decode())))


def content(rows: Table) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def tampered(result: Result, file: str, change: Callable[[Table], Table]) -> set[str]:
    """Return the checks that a changed file breaks."""
    files = {**result.files, file: content(change(table(result.files[file])))}
    return {check.name for check in again(result, files).broken}


def in_order(rows: Table) -> Table:
    return [rows[0], *sorted(rows[1:], key=lambda row: (int(row[0]), row[1:]))]


@pytest.mark.parametrize("name", NAMES)
def test_a_release_holds_with_its_parquet_files(name: str) -> None:
    result = carried_out(name)
    found = again(result, {**result.files, **result.parquet_files})
    assert found.holds
    assert [c.name for c in found.checks].count("parquet") == len(result.files)
    assert found.facts["classes"] == 4
    assert found.facts["smallest_class"] == 3
    assert found.facts["rows"] == found.facts["table_rows"] == 12
    assert ("unique_over_all_columns" in found.facts) == (len(result.files) == 1)
    (truth,) = [c for c in found.checks if c.name == "truth"]
    assert "Which rows form a group cannot be read from the publication." in truth.sentence
    assert ("row by row" in truth.sentence) == (name in ("anatomy", "bucketization"))


def swap_values(rows: Table) -> Table:
    """Give the first group a value twice, in exchange with another group."""
    place = len(rows[0]) - 1
    first = [row for row in rows[1:] if row[0] == "1"]
    twice = first[0][place]
    other = next(row for row in rows[1:] if row[0] != "1" and row[place] == twice)
    first[1][place], other[place] = twice, first[1][place]
    return in_order(rows)


def test_values_swapped_between_groups_break_the_promise() -> None:
    assert "frequency-l-diversity" in tampered(carried_out("anatomy"), "sensitive.csv", swap_values)


def test_a_value_moved_away_from_people_who_stand_nowhere_else() -> None:
    """The promise still holds; but whose quasi-identifiers are in one group only is known."""
    result = carried_out("anatomy", [{"name": "bucket-size", "k": 2}], partition="mondrian")
    assert "membership" in tampered(result, "sensitive.csv", swap_values)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_left_out(name: str) -> None:
    for file in carried_out(name).files:
        assert "rows" in tampered(carried_out(name), file, lambda rows: rows[:-1])


def test_a_row_doubled_or_in_two_tables_of_different_sizes() -> None:
    result = carried_out("anatomy")
    assert "rows" in tampered(result, "quasi.csv", lambda rows: [*rows, rows[-1]])

    def moved(rows: Table) -> Table:
        rows[-1][0] = "1"
        return in_order(rows)

    assert "groups" in tampered(result, "quasi.csv", moved)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_value_is_no_truth(name: str) -> None:
    result = carried_out(name)
    first = next(iter(result.files))

    def changed(rows: Table) -> Table:
        rows[1][1] = "99"
        return in_order(rows)

    assert "truth" in tampered(result, first, changed)


def test_a_link_changed_inside_a_block() -> None:
    result = carried_out("bucketization")

    def changed(rows: Table) -> Table:
        one = next(row for row in rows[2:] if row[2] != rows[1][2])
        rows[1][2], one[2] = one[2], rows[1][2]
        return in_order(rows)

    assert tampered(result, "release.csv", changed) >= {"truth"}


@pytest.mark.parametrize("name", NAMES)
def test_groups_numbered_otherwise(name: str) -> None:
    result = carried_out(name)

    def swapped(rows: Table) -> Table:
        other = {"1": "2", "2": "1"}
        return in_order([rows[0], *([other.get(r[0], r[0]), *r[1:]] for r in rows[1:])])

    files = {file: content(swapped(table(c))) for file, c in result.files.items()}
    assert {check.name for check in again(result, files).broken} == {"numbering"}


@pytest.mark.parametrize("texts", [("1", "7"), ("1", "01"), ("1", "x"), ("1", "0"), ("2", "5")])
def test_numbers_with_gaps_or_in_other_spellings(texts: tuple[str, str]) -> None:
    result = carried_out("bucketization")

    def renumbered(rows: Table) -> Table:
        old, new = texts
        return [[new if cell == old and i == 0 else cell for i, cell in enumerate(r)] for r in rows]

    assert "groups" in tampered(result, "release.csv", renumbered)


@pytest.mark.parametrize("name", NAMES)
def test_rows_in_another_order(name: str) -> None:
    result = carried_out(name)

    def reversed_in_a_group(rows: Table) -> Table:
        return [rows[0], *rows[3:0:-1], *rows[4:]]

    first = next(iter(result.files))
    assert tampered(result, first, reversed_in_a_group) == {"order"}


def test_identifiers_and_other_columns() -> None:
    result = carried_out("anatomy")
    shown = tampered(
        result,
        "quasi.csv",
        lambda rows: [[*r, "name" if i == 0 else "n"] for i, r in enumerate(rows)],
    )
    assert {"identifiers", "columns"} <= shown
    assert "columns" in tampered(result, "quasi.csv", lambda rows: [r[:-1] for r in rows])
    swapped = tampered(result, "quasi.csv", lambda rows: [[r[0], r[2], r[1], *r[3:]] for r in rows])
    assert "columns" in swapped


def test_files_that_are_missing_or_no_tables() -> None:
    result = carried_out("anatomy")
    (check,) = again(result, {"quasi.csv": result.files["quasi.csv"]}).checks
    assert (check.name, check.holds) == ("readable", False)
    assert "sensitive.csv is missing" in check.sentence
    assert tampered(result, "quasi.csv", lambda rows: [rows[0], rows[1][:-1]]) == {"readable"}
    assert not again(result, {**result.files, "quasi.csv": b"\xff\xfe\xfa"}).holds
    assert not again(result, {**result.files, "quasi.csv": b""}).holds


def test_a_parquet_file_that_says_something_else() -> None:
    result = carried_out("anatomy")
    rows = table(result.files["sensitive.csv"])
    columns = {name: [row[i] for row in rows[1:]] for i, name in enumerate(rows[0])}
    columns["illness"][0] = "plague"
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    found = again(result, {**result.files, "sensitive.parquet": sink.getvalue()})
    assert [check.name for check in found.broken] == ["parquet"]
    assert found.broken[0].rows == (1,)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"name": "k-anonymity", "k": 2}, "cannot be recomputed where columns are permuted"),
        ({"name": "bucket-size", "k": 4}, "fewer than 4 rows, first group 1 with 3"),
        ({"name": "l-diversity", "l": 4}, "fewer than 4 values"),
        ({"name": "frequency-l-diversity", "l": 4}, "fills more than 1/4"),
        ({"name": "frequency-l-diversity", "l": "4"}, "is not a whole number"),
        ({"name": "l-diversity", "l": 2, "column": "age"}, "'age' is not sensitive only"),
        ({"name": "no-such-model", "t": 0.2}, "not known here"),
    ],
)
def test_other_promises_do_not_hold(model: dict[str, Any], words: str) -> None:
    result = carried_out("bucketization")
    found = again(result, result.files, models=[model])
    assert any(words in check.sentence for check in found.broken)
    assert {check.name for check in found.broken} == {model["name"]}


def test_a_promise_on_a_linked_column_says_nothing() -> None:
    """Slicing refuses it; a recipe changed afterwards is found as well."""
    result = carried_out(
        "slicing",
        [{"name": "bucket-size", "k": 3}],
        partition="mondrian",
        sets=[["age", "illness"]],
    )
    found = again(result, result.files, models=L3)
    assert any("stays linked to 'age'" in check.sentence for check in found.broken)


def test_where_the_column_group_is_taken() -> None:
    frame = pd.DataFrame({"group": list("aabb"), "group number": list("aabb"), "s": list("uvuv")})
    case = Case(
        columns={str(n): frame[n].tolist() for n in frame},
        quasi=("group", "group number"),
        sensitive=("s",),
    )
    models = [{"name": "bucket-size", "k": 2}]
    result = run(
        case.plan(algorithm={"name": "bucketization"}, models=models), case.dataset, assess=False
    )
    assert table(result.csv)[0] == ["group number number", "group", "group number", "s"]
    assert result.verification.holds


def test_the_column_without_a_role_travels_as_asked() -> None:
    for side, columns in (("quasi", ["illness"]), ("sensitive", ["illness", "city"])):
        result = carried_out("anatomy", insensitive_with=side)
        assert table(result.files["sensitive.csv"])[0] == ["group", *columns]
        other = "sensitive" if side == "quasi" else "quasi"
        release = {**result.plan.completed()["release"], "insensitive_with": other}
        broken = {c.name for c in again(result, result.files, release=release).broken}
        assert "columns" in broken


@pytest.mark.parametrize(
    ("shown", "groups"),
    [("121", [0, 1]), (["1", "02"], None), (["1", "3"], None), (["0", "1"], None), ([], None)],
)
def test_groups_are_counted_from_one_in_one_spelling(
    shown: Sequence[str], groups: list[int] | None
) -> None:
    content = "group,ill\n" + "".join(f"{number},flu\n" for number in shown)
    text = Spelling(kind="text", neutralised=False)
    file = PublishedTable(split_release(content.encode()), (), lambda _: text)
    found = numbers_of(file.lines, "group")
    assert (None if found is None else found.tolist()) == groups
