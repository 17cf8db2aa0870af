"""The second computation: what it reads, what it confirms, and that tampering does not pass."""

from __future__ import annotations

import csv
import datetime
import gzip
import importlib
import io
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w

from anon_core.base.errors import BadHierarchy, BadInput, BadPlan
from anon_core.pipeline.publish.file_formats import as_parquet
from anon_core.pipeline.verify.verify_release import verify_release
from anon_core.verification.checks import verify as verify_published
from anon_core.verification.checks import verify_files
from anon_core.verification.findings import Check, Verification
from anon_core.verification.recipe import Shape, read_shape
from anon_core.verification.rows.matching import covering_pairs, text_runs, unmet
from anon_core.verification.text.cells import Cells, text_of
from anon_core.verification.text.kinds import day_of, kind_of, number_of
from anon_core.verification.text.texts import is_formula, members_of, read_private_column

MATCH = importlib.import_module("anon_core.verification.rows.matching")
Rows = list[tuple[str, ...]]

SEX = [["F", "*"], ["M", "*"]]
JOB = [
    ["nurse", "health", "any"],
    ["doctor", "health", "any"],
    ["smith", "craft", "any"],
    ["baker", "craft", "any"],
]


def written(header: list[str], rows: Rows) -> bytes:
    """Return rows as the run writes them: comma, line feed, quotes where needed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def verify(
    plan: dict[str, Any],
    private: pd.DataFrame,
    levels: Any,
    release: bytes,
    parquet: bytes | None = None,
) -> Verification:
    files = {"release.csv": release}
    return verify_published(
        plan, private, levels, files if parquet is None else {**files, "release.parquet": parquet}
    )


def recipe(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "seed": 7,
        "roles": {
            "identifier": ["name"],
            "quasi": ["sex", "age", "job"],
            "sensitive": ["ill"],
            "insensitive": ["note"],
        },
        "algorithm": {"name": "mondrian"},
        "models": [
            {"name": "k-anonymity", "k": 2},
            {"name": "l-diversity", "l": 2, "column": ""},
        ],
        "export": {"formulas": "neutralise"},
    }
    return {**base, **changes}


HEADER = ["sex", "age", "job", "ill", "note"]
PEOPLE = pd.DataFrame(
    [
        ("Ada", "F", "21", "nurse", "flu", "a"),
        ("Bob", "M", "45", "smith", "flu", "b"),
        ("Cyd", "F", "29", "doctor", "cold", "a"),
        ("Dan", "M", "48", "baker", "gout", "c"),
        ("Eve", "F", "25", "nurse", "gout", "d"),
        ("Fay", "F", "45", "smith", "cold", "e"),
    ],
    columns=["name", *HEADER],
)
LEVELS = {"sex": SEX, "job": JOB}
RELEASE: Rows = [
    ("*", "[45, 48]", "craft", "cold", "e"),
    ("*", "[45, 48]", "craft", "flu", "b"),
    ("*", "[45, 48]", "craft", "gout", "c"),
    ("F", "[21, 29]", "health", "cold", "a"),
    ("F", "[21, 29]", "health", "flu", "a"),
    ("F", "[21, 29]", "health", "gout", "d"),
]


def people(rows: Rows = RELEASE, *, header: list[str] = HEADER, **changes: Any) -> Verification:
    return verify(recipe(**changes), PEOPLE, LEVELS, written(header, rows))


def broken(found: Verification) -> set[str]:
    return {check.name for check in found.broken}


def misread(found: Verification) -> set[str]:
    """Return what is broken of what the cells mean; how they are spelled is another matter."""
    return broken(found) - {"spelling"}


def named(found: Verification, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


def one_column(
    values: list[str | None], cells: list[str], levels: Any = None, **changes: Any
) -> Verification:
    """Verify a table with the single quasi-identifier `x`, promising k = 1."""
    plan = {"roles": {"quasi": ["x"]}, "models": [{"name": "k-anonymity", "k": 1}], **changes}
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    given = {} if levels is None else {"x": levels}
    return verify(plan, frame, given, written(["x"], sorted((cell,) for cell in cells)))


# ---- an honest release -----------------------------------------------------------------------


def test_an_honest_release_holds_in_every_check():
    found = people()
    assert found.holds
    assert found.broken == ()
    assert [check.name for check in found.checks] == [
        "identifiers",
        "columns",
        "rows",
        "suppression",
        "order",
        "formulas",
        "k-anonymity",
        "l-diversity",
        "coverage",
        "spelling",
        "writing",
    ]
    k = named(found, "k-anonymity")
    assert (k.bound, k.reached) == (2, 3)
    assert k.sentence == "Recomputed from the published file: k = 2 holds (smallest class 3)."
    l = named(found, "l-diversity")  # noqa: E741
    assert (l.bound, l.reached, l.column) == (2, 3, "ill")
    assert found.facts == {
        "rows": 6,
        "table_rows": 6,
        "suppressed": 0,
        "classes": 2,
        "smallest_class": 3,
        "unique_over_all_columns": 6,
    }


def test_the_result_is_plain_values_as_json():
    found = people(RELEASE[1:]).as_json()
    assert found["holds"] is False
    assert found["facts"]["suppressed"] == 1
    assert found["checks"][3] == {
        "name": "suppression",
        "holds": False,
        "bound": 0.0,
        "reached": pytest.approx(1 / 6),
        "column": "",
        "rows": [],
        "sentence": "1 row is suppressed (16.67%); at most 0 may be (0.00%). Which rows these are "
        "is not checked: the technique chooses them.",
    }


def test_row_order_and_index_of_the_table_play_no_part():
    shuffled = PEOPLE.iloc[[4, 0, 5, 2, 1, 3]]
    assert verify(recipe(), shuffled, LEVELS, written(HEADER, RELEASE)).holds


def test_a_byte_order_mark_and_crlf_are_read_and_nothing_else_is_wrong():
    text = b"\xef\xbb\xbf" + written(HEADER, RELEASE).replace(b"\n", b"\r\n")
    assert broken(verify(recipe(), PEOPLE, LEVELS, text)) == {"writing"}


# ---- tampering -------------------------------------------------------------------------------


def changed(row: int, place: int, text: str) -> Rows:
    rows = [list(cells) for cells in RELEASE]
    rows[row - 1][place] = text
    return sorted(tuple(cells) for cells in rows)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (0, "M"),  # a leaf of somebody else
        (1, "[22, 29]"),  # a range that leaves one out
        (1, "[29, 21]"),  # an empty range
        (1, "29"),
        (2, "craft"),  # another node
        (2, "smith"),
        (3, "gout"),  # a sensitive value exchanged
        (3, "plague"),
        (4, "e"),  # a column published as it is
    ],
)
def test_one_changed_cell_is_found(place: int, text: str):
    found = people(changed(5, place, text), models=[{"name": "k-anonymity", "k": 1}])
    assert misread(found) == {"coverage"}
    check = named(found, "coverage")
    assert check.reached is not None
    assert check.reached < 6
    assert len(check.rows) >= 1


@pytest.mark.parametrize("text", ["woman", "{F, X}", "[1, 2]", "{F,M}", "{}", "{F", '{"F}', ""])
def test_a_text_that_means_nothing_is_named_by_its_column(text: str):
    found = people(changed(5, 0, text), models=[{"name": "k-anonymity", "k": 1}])
    assert broken(found) == {"coverage"}
    if text:  # the empty cell is the missing value, which no row has
        assert named(found, "coverage").column == "sex"
        assert "no value explains" in named(found, "coverage").sentence


@pytest.mark.parametrize("text", ["[21]", "[21, x]", "[21, 25, 29]", "{21, 29}", "21-29"])
def test_a_range_is_two_numbers(text: str):
    found = people(changed(5, 1, text), models=[{"name": "k-anonymity", "k": 1}])
    assert named(found, "coverage").column == "age"


def test_sensitive_values_swapped_between_classes_are_found():
    rows = [list(cells) for cells in RELEASE]
    rows[0][4], rows[3][4] = rows[3][4], rows[0][4]
    found = people(sorted(tuple(cells) for cells in rows))
    assert broken(found) == {"coverage"}
    assert named(found, "coverage").reached == 4


def test_swapping_within_a_class_is_found_by_the_columns_linked_to_it():
    rows = [list(cells) for cells in RELEASE]
    rows[1][4], rows[2][4] = rows[2][4], rows[1][4]
    assert broken(people(sorted(tuple(cells) for cells in rows))) == {"coverage"}


def test_a_duplicated_row_is_found():
    found = people(sorted([*RELEASE, RELEASE[3]]))
    assert broken(found) == {"rows", "coverage"}
    assert named(found, "rows").sentence == "7 rows are published, but the table has only 6."
    assert len(named(found, "coverage").rows) == 1


def test_an_invented_row_in_place_of_a_real_one_is_found():
    assert broken(people(sorted([*RELEASE[1:], RELEASE[3]]))) == {"coverage"}


def test_a_removed_row_needs_a_budget():
    assert broken(people(RELEASE[1:])) == {"suppression"}
    allowed = {"name": "optimal", "max_suppression": 0.17}
    assert people(RELEASE[1:], algorithm=allowed).holds
    assert broken(people(RELEASE[2:], algorithm=allowed)) == {"suppression", *SMALL}


SMALL = {"k-anonymity", "l-diversity"}


def test_the_budget_is_the_decimal_that_was_written():
    values: list[str | None] = ["a"] * 50
    assert one_column(values, ["a"] * 49, algorithm={"max_suppression": 0.02}).holds
    assert not one_column(values, ["a"] * 48, algorithm={"max_suppression": 0.02}).holds
    assert not one_column(values, ["a"] * 49, algorithm={"max_suppression": 0.0199}).holds
    assert one_column(values[:10], ["a"] * 3, algorithm={"max_suppression": 0.1 * 7}).holds


def test_a_recipe_without_a_budget_lets_no_row_go():
    values: list[str | None] = ["a"] * 50
    assert one_column(values, ["a"] * 50, algorithm={"name": "datafly"}).holds
    assert not one_column(values, ["a"] * 49, algorithm={"name": "datafly"}).holds


@pytest.mark.parametrize(("name", "kept"), [("optimal", 50), ("datafly", 49), ("k-optimize", 2)])
def test_what_a_recipe_leaves_out_is_taken_from_the_plan(tmp_path: Path, name: str, kept: int):
    given = {
        "roles": {"quasi": ["x"]},
        "algorithm": {"name": name},
        "models": [{"name": "k-anonymity"}],
    }
    (tmp_path / "recipe.toml").write_text(tomli_w.dumps(given))
    (tmp_path / "people.csv").write_text("x\n" + "a\n" * 50)
    (tmp_path / "out").mkdir()
    for rows in {kept, max(kept - 1, 2), 4, 50}:
        (tmp_path / "out/release.csv").write_bytes(written(["x"], [("a",)] * rows))
        alone = tmp_path / "out/release.csv"
        found = verify_release(tmp_path / "recipe.toml", tmp_path / "people.csv", alone)
        small = {"k-anonymity"} if rows < 5 else set()
        few = {"suppression"} if rows < kept else set[str]()
        if name != "k-optimize" and rows < 50:  # all rows are one class, which stays whole
            few |= {"suppressed-rows"}
        assert broken(found) == small | few


def test_the_shape_of_a_release_is_read_and_nothing_else():
    assert read_shape({}) == Shape()
    known = read_shape({"tables": 2, "linked": "sets", "sets": [["a", "b"]], "cells": "exact"})
    assert (known.permuted, known.sets) == (True, (("a", "b"),))
    for bad in (
        {"tables": 3},
        {"tables": True, "linked": "nothing", "cells": "exact"},
        {"linked": "mostly"},
        {"insensitive_with": ""},
        {"cells": "fine"},
        {"cells": ["exact"]},
        {"cells": "exact"},
        {"tables": 2},
        {"linked": "nothing", "cells": "averaged"},
        {"tables": 2, "linked": "nothing"},
        {"sets": "a+b", "linked": "sets", "cells": "exact"},
        {"sets": ["a"], "linked": "sets", "cells": "exact"},
    ):
        with pytest.raises(BadPlan, match=r"release|sets"):
            read_shape(bad)
        with pytest.raises(BadPlan):
            people(release=bad)


def test_a_changed_order_is_found():
    rows = [RELEASE[1], RELEASE[0], *RELEASE[2:]]
    found = people(rows)
    assert broken(found) == {"order"}
    assert named(found, "order").rows == (2,)
    assert "1 row is not in canonical order (row 2)" in named(found, "order").sentence


def test_order_is_by_text_not_by_number():
    assert one_column(["9", "10"], ["10", "9"]).holds
    plan = {"roles": {"quasi": ["x"]}, "models": [{"name": "k-anonymity", "k": 1}]}
    found = verify(plan, pd.DataFrame({"x": ["9", "10"]}), {}, b"x\n9\n10\n")
    assert broken(found) == {"order"}


def test_an_identifier_that_is_published_is_found():
    rows = [("?", *cells) for cells in RELEASE]
    found = people(rows, header=["name", *HEADER])
    assert broken(found) == {"identifiers", "columns"}
    assert named(found, "identifiers").sentence == "Identifier 'name' is published."
    assert "1 column too many" in named(found, "columns").sentence


@pytest.mark.parametrize(
    ("keep", "gone"),
    [([0, 1, 2, 3], {"columns", "coverage"}), ([0, 1, 3, 4], {"columns", "coverage", *SMALL})],
)
def test_a_column_that_is_missing_is_found(keep: list[int], gone: set[str]):
    rows = sorted(tuple(cells[i] for i in keep) for cells in RELEASE)
    found = people(rows, header=[HEADER[i] for i in keep])
    assert broken(found) == gone
    assert "not published" in named(found, "columns").sentence
    assert "Treated as broken." in named(found, "coverage").sentence


def test_columns_out_of_order_or_twice_are_found():
    turned = sorted(tuple(cells[i] for i in (1, 0, 2, 3, 4)) for cells in RELEASE)
    header = ["age", "sex", "job", "ill", "note"]
    found = people(turned, header=header)
    assert broken(found) == {"columns"}
    assert "order" in named(found, "columns").sentence
    twice = [(*cells, cells[3]) for cells in RELEASE]
    found = people(twice, header=[*HEADER, "ill"])
    assert broken(found) == {"columns", "l-diversity", "coverage"}
    assert "repeated" in named(found, "columns").sentence


# ---- promises --------------------------------------------------------------------------------


def test_a_class_below_k_is_found_with_its_rows():
    found = people(models=[{"name": "k-anonymity", "k": 4}])
    k = named(found, "k-anonymity")
    assert not k.holds
    assert (k.bound, k.reached, k.rows) == (4, 3, (1, 2, 3, 4, 5, 6))
    assert k.sentence == (
        "k = 4 is broken: 2 classes have fewer than 4 rows, the smallest 3 "
        "(rows 1, 2, 3, 4, 5 and 1 more)."
    )


def test_at_most_twenty_rows_are_named():
    values: list[str | None] = [str(i) for i in range(40)]
    found = one_column(
        values, [str(i) for i in range(40)], models=[{"name": "k-anonymity", "k": 2}]
    )
    assert named(found, "k-anonymity").rows == tuple(range(1, 21))


@pytest.mark.parametrize(("rows", "holds"), [(2, False), (5000, True)])
def test_a_risk_of_many_digits_is_kept_by_a_large_class(rows: int, holds: bool):
    # 5,000 people times a numerator of 16 digits is more than 64 bits.
    plan = {
        "roles": {"quasi": ["sex"]},
        "types": {"sex": "text"},
        "algorithm": {"name": "optimal"},
        "models": [
            {"name": "maximum-risk", "risk": 0.3333333333333333},
            {"name": "share-at-risk", "risk": 0.3333333333333333, "share": 0.1},
        ],
    }
    cells: Rows = [("F",)] * rows
    found = verify(plan, pd.DataFrame({"sex": ["F"] * rows}), {}, written(["sex"], cells))
    assert found.holds is holds
    assert {check.name for check in found.broken} <= {"maximum-risk", "share-at-risk"}


def test_classes_are_equal_texts_even_where_numbers_are_equal():
    models = [{"name": "k-anonymity", "k": 2}]
    assert misread(one_column(["1", "1.0"], ["1", "1.0"], models=models)) == {"k-anonymity"}
    assert one_column(["1", "1.0"], ["1", "1"], models=models).holds


def test_too_few_sensitive_values_are_found():
    private = PEOPLE.assign(ill=["flu", "flu", "flu", "gout", "flu", "cold"])
    rows = sorted([*RELEASE[:3], *((*cells[:3], "flu", cells[4]) for cells in RELEASE[3:])])
    found = verify(recipe(), private, LEVELS, written(HEADER, rows))
    assert broken(found) == {"l-diversity"}
    check = named(found, "l-diversity")
    assert (check.bound, check.reached, check.column, check.rows) == (2, 1, "ill", (4, 5, 6))
    assert "1 class has fewer than 2 values, the fewest 1 (rows 4, 5, 6)" in check.sentence


def test_spellings_of_one_number_are_one_sensitive_value():
    plan = {
        "roles": {"quasi": ["x"], "sensitive": ["s"]},
        "models": [{"name": "l-diversity", "l": 2}],
    }
    private = pd.DataFrame({"x": ["a", "a"], "s": ["1,0", "1"]})
    found = verify(plan, private, {}, written(["x", "s"], [("a", "1"), ("a", "1,0")]))
    assert misread(found) == {"l-diversity"}
    plan["types"] = {"s": "text"}
    assert verify(plan, private, {}, written(["x", "s"], [("a", "1"), ("a", "1,0")])).holds


def test_every_sensitive_column_is_checked_unless_one_is_named():
    plan = {
        "roles": {"quasi": ["x"], "sensitive": ["s", "t"]},
        "models": [{"name": "l-diversity", "l": 2}, {"name": "l-diversity", "l": 2, "column": "s"}],
    }
    private = pd.DataFrame({"x": ["a", "a"], "s": ["u", "v"], "t": ["w", "w"]})
    found = verify(plan, private, {}, written(["x", "s", "t"], [("a", "u", "w"), ("a", "v", "w")]))
    held = [(c.column, c.holds) for c in found.checks if c.name == "l-diversity"]
    assert held == [("s", True), ("t", False), ("s", True)]


def test_a_sensitive_quasi_identifier_follows_the_rules_of_quasi_identifiers():
    plan = {
        "roles": {"quasi": ["x"], "sensitive": ["x"]},
        "models": [{"name": "k-anonymity", "k": 2}, {"name": "l-diversity", "l": 2}],
    }
    found = verify(plan, pd.DataFrame({"x": ["a", "b"]}), {}, written(["x"], [("*",), ("*",)]))
    assert broken(found) == {"l-diversity"}  # one text in every class


@pytest.mark.parametrize("name", ["l-diversity", "frequency-l-diversity", "slicing-l-diversity"])
def test_of_several_sensitive_columns_those_that_are_quasi_identifiers_are_left_out(name: str):
    private = pd.DataFrame({"x": ["a", "a"], "s": ["u", "v"]})
    plan: dict[str, Any] = {
        "roles": {"quasi": ["x"], "sensitive": ["s", "x"]},
        "models": [{"name": name, "l": 2}],
    }
    rows = [("a", "u"), ("a", "v")]
    found = verify(plan, private, {}, written(["x", "s"], rows))
    assert [(c.column, c.holds) for c in found.checks if c.name == name] == [("s", True)]
    plan["models"] = [{"name": name, "l": 2, "column": "x"}]
    assert broken(verify(plan, private, {}, written(["x", "s"], rows))) == {name}


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"name": "no-such-model", "t": 0.2}, "not known here"),
        ({}, "not known here"),
        ({"name": "k-anonymity", "k": None}, "not a whole number"),
        ({"name": "k-anonymity", "k": True}, "not a whole number"),
        ({"name": "k-anonymity", "k": "5"}, "not a whole number"),
        ({"name": "k-anonymity", "k": float("nan")}, "not a whole number"),
        ({"name": "l-diversity", "l": 0}, "not a whole number"),
        ({"name": "l-diversity", "l": 2, "column": "name"}, "it needs column 'name'"),
    ],
)
def test_what_cannot_be_recomputed_does_not_hold(model: dict[str, Any], why: str):
    found = people(models=[{"name": "k-anonymity", "k": 2}, model])
    assert len(found.broken) == 1
    assert why in found.broken[0].sentence
    assert "cannot be recomputed" in found.broken[0].sentence


def test_diversity_without_a_sensitive_column_does_not_hold():
    found = one_column(["a"], ["a"], models=[{"name": "l-diversity", "l": 1}])
    assert broken(found) == {"l-diversity"}


def test_nothing_published_holds_for_nobody_and_only_within_the_budget():
    assert broken(people([])) == {"suppression"}
    found = people([], algorithm={"name": "optimal", "max_suppression": 1.0})
    assert found.holds
    assert "No row is published" in named(found, "k-anonymity").sentence
    assert named(found, "k-anonymity").reached is None
    assert found.facts["smallest_class"] == 0


# ---- files that cannot be read ---------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\xfa",
        b'sex,age\n"F,1\n',
        b'sex,age\n"F"x,1\n',
        written(HEADER, RELEASE)[:-3] + b',"',
        b"\n" + written(HEADER, RELEASE),
    ],
)
def test_a_garbled_file_is_a_check_that_does_not_hold(content: bytes):
    found = verify(recipe(), PEOPLE, LEVELS, content)
    assert broken(found) == {"readable"}
    assert len(found.checks) == 1


@pytest.mark.parametrize("line", [b"F,1\n", b"F,1,x,y,z,z\n", b"\n"])
def test_a_ragged_file_names_its_rows(line: bytes):
    content = written(HEADER, RELEASE[:3]) + line + written(HEADER, RELEASE[3:]).split(b"\n", 1)[1]
    found = verify(recipe(), PEOPLE, LEVELS, content)
    assert broken(found) == {"readable"}
    assert found.checks[0].rows == (4,)
    assert "differs in length from the header (row 4)" in found.checks[0].sentence


def test_cells_longer_than_the_csv_module_takes_by_default_are_read():
    long = "x" * 200_000
    assert one_column([long], [long]).holds


# ---- texts -----------------------------------------------------------------------------------


def test_leaves_nodes_ranges_sets_and_the_star_are_read():
    ages: list[str | None] = ["21", "25", "29", "40", "41"]
    assert not misread(one_column(ages, ["[21, 29]", "[21, 29]", "25", "*", "[39.5, 1e3]"]))
    text = {"x": "text"}
    sets = ["{21, 29}", "{21, 29}", "25", "*", "{41, 40}"]
    assert not misread(one_column(ages, sets, types=text))
    assert not one_column(ages, ["{21, 29}", "{21, 29}", "25", "{21}", "41"], types=text).holds


def test_members_of_a_set_are_quoted_where_they_need_it():
    values: list[str | None] = ["a, b", "{c}", 'say "no"', "F", None, "Z"]
    cells = ['{F, "a, b", "say ""no""", "{c}", ""}'] * 5 + ["Z"]
    assert one_column(values, cells).holds
    short = ['{F, "a, b", "say ""no""", "{c}"}'] * 5 + ["Z"]
    assert misread(one_column(values, short)) == {"coverage"}


@pytest.mark.parametrize(
    "text",
    [
        "{b, a}",  # another order
        "{a, a}",  # a member twice
        "{a}",  # no set
        '{"a", b}',  # quotes that no member needs
        "{a, b, c}",  # all of them: the top
    ],
)
def test_a_set_has_one_spelling(text: str):
    values: list[str | None] = ["a", "a", "b", "c"]
    assert one_column(values, ["{a, b}", "{a, b}", "{a, b}", "c"]).holds
    assert "spelling" in broken(one_column(values, ["{a, b}", "{a, b}", text, "c"]))


def test_members_and_the_top_are_written_as_the_hierarchy_has_them():
    levels = [["b", "x", "any"], ["a", "x", "any"], ["c", "y", "any"]]
    values: list[str | None] = ["a", "b", "c"]
    assert one_column(values, ["{b, a}", "any", "any"], levels).holds
    assert broken(one_column(values, ["{a, b}", "any", "any"], levels)) == {"spelling"}
    assert broken(one_column(values, ["any", "*", "any"], levels)) == {"spelling"}


@pytest.mark.parametrize(
    "text",
    ["[20,30]", "[20, 30.0]", "[020, 30]", "[20, 25]", "[30, 20]", "[20, 20]", "[+20, 30]", "≤30"],
)
def test_a_range_has_one_spelling(text: str):
    values: list[str | None] = ["20", "20", "30", "40"]
    assert one_column(values, ["[20, 30]", "[20, 30]", "[20, 30]", "40"]).holds
    assert "spelling" in broken(one_column(values, ["[20, 30]", text, "[20, 30]", "40"]))


@pytest.mark.parametrize("text", ["43.0", "43.000", " 43", "43 ", "+43", "4.3e1", "043", "４３"])
def test_a_number_that_is_published_as_it_is_has_one_spelling(text: str):
    plan = {
        "roles": {"quasi": ["x"], "sensitive": ["pay"]},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    private = pd.DataFrame({"x": ["a", "a"], "pay": ["43", "43"]})
    assert verify(plan, private, {}, written(["x", "pay"], [("a", "43"), ("a", "43")])).holds
    rows = sorted([("a", "43"), ("a", text)])
    assert broken(verify(plan, private, {}, written(["x", "pay"], rows))) >= {"spelling"}


def test_of_several_spellings_of_the_table_the_shortest_is_published():
    plan = {
        "roles": {"quasi": ["x"], "sensitive": ["pay"]},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    private = pd.DataFrame({"x": ["a", "a", "b"], "pay": ["1.0", "1,00", "7"]})
    rows = [("a", "1.0"), ("a", "1.0"), ("b", "7")]
    assert verify(plan, private, {}, written(["x", "pay"], rows)).holds
    rows[1] = ("a", "1,00")
    found = verify(plan, private, {}, written(["x", "pay"], sorted(rows)))
    assert broken(found) == {"spelling"}
    assert "1,00" not in named(found, "spelling").sentence


@pytest.mark.parametrize("text", ["-5", "'-5"])
def test_an_apostrophe_stands_only_before_a_formula(text: str):
    assert one_column(["-5", "-5"], ["-5", text]).holds == (text == "-5")


def test_members_of():
    assert members_of("{F, M}") == ["F", "M"]
    assert members_of('{F, ""}') == ["F", ""]
    for wrong in ("{F,M}", "{}", "{, }", "F, M", "{F, }", "{F}}", '{"F"x}', "{"):
        assert members_of(wrong) is None


def test_numbers_are_equal_whatever_their_spelling():
    private: list[str | None] = ["1,5", "2", "3.00", "1e2"]
    assert not misread(one_column(private, ["1.50", "2.0", "3", "100"]))
    ranges = ["[1,5, 2,0]", "[1.5, 2]", "[3, 100]", "[2,5, 1e2]"]
    assert not misread(one_column(private, ranges))
    assert one_column(private, ["1,5", "2", "[3.00, 1e2]", "[3.00, 1e2]"]).holds
    big: list[str | None] = ["9007199254740992", "9007199254740993"]
    assert not one_column(big, [big[0], big[0]]).holds  # equal only as floats


def test_codes_with_leading_zeros_stay_texts():
    assert not one_column(["0123", "123"], ["123", "123"]).holds
    assert one_column(["0123", "123"], ["123", "123"], types={"x": "number"}).holds


def test_days_are_equal_whatever_their_spelling():
    days: list[str | None] = ["2024-02-29", "01.03.2024", "2024/03/02"]
    read = one_column(days, ["29.02.2024", "[2024-03-01, 2024-03-02]", "2024-03-02"])
    assert not misread(read)
    assert one_column(days, ["2024-02-29", "01.03.2024", "2024/03/02"]).holds
    assert not one_column(days, ["28.02.2024", "2024-03-01", "2024-03-02"]).holds


def test_a_column_whose_values_are_not_of_its_declared_type_is_refused():
    values: list[str | None] = ["3", "many", "1"]
    with pytest.raises(BadPlan, match="'x' has values that its type"):
        one_column(values, ["[1, 3]", "[1, 3]", "many"], types={"x": "number"})
    missing = {"missing_values": ["many"]}
    assert one_column(values, ["[1, 3]", "[1, 3]", ""], types={"x": "number"}, data=missing).holds


def test_reading_single_texts():
    assert number_of("-1,5e2") == -150
    assert number_of("1e99999999999999999999") is None
    assert number_of("1.2.3") is None
    assert day_of("2024-02-29") == datetime.date(2024, 2, 29).toordinal()
    assert day_of("2023-02-29") is None
    assert day_of("soon") is None
    assert [kind_of(v) for v in (["1", "2"], ["01"], ["2024-01-01"], ["a"], [])] == [
        "number",
        "text",
        "date",
        "text",
        "text",
    ]
    assert text_of(39.0) == "39"
    assert text_of(np.float32(0.1)) == "0.1"
    assert text_of(True) == "True"
    assert text_of(datetime.datetime(2024, 2, 29)) == "2024-02-29 00:00:00"
    assert text_of(datetime.datetime(2024, 2, 29, 12)) == "2024-02-29 12:00:00"


def test_a_frame_of_typed_values_is_read_as_texts():
    plan = {
        "roles": {"quasi": ["a", "b", "c"]},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    private = pd.DataFrame(
        {"a": [1.0, None], "b": pd.Series([True, 1], dtype=object), "c": pd.Categorical(["x", "y"])}
    )
    rows = [("", "1", "y"), ("1", "True", "x")]
    assert verify(plan, private, {}, written(["a", "b", "c"], rows)).holds


# ---- missing values --------------------------------------------------------------------------


def test_a_missing_value_is_an_empty_cell_and_covered_by_the_top_only():
    values: list[str | None] = ["a", None, "b", "?"]
    levels = [["a", "ab", "all"], ["b", "ab", "all"]]
    assert one_column(values, ["ab", "ab", "", ""], levels).holds
    listed = [*levels, ["?", "odd", "all"]]  # there it is a value
    assert one_column(values, ["ab", "ab", "", "odd"], listed).holds
    assert not one_column(values, ["ab", "ab", "", ""], listed).holds
    own = [*levels, ["", "ab", "all"]]  # and there the missing value has a place
    assert one_column(values, ["ab", "ab", "ab", "ab"], own).holds
    assert not one_column(["a", "b", "b", "a"], ["ab", "ab", "", "ab"], own).holds
    assert one_column(values, ["ab", "all", "all", ""], levels).holds
    assert not one_column(values, ["ab", "ab", "ab", ""], levels).holds
    assert not one_column(values, ["ab", "ab", "ab", "?"], levels).holds
    assert not misread(one_column(values, ["ab", "ab", "*", "*"], levels))
    assert one_column(values, ["ab", "ab", "all", "all"], levels).holds
    two_tops = [["a", "A"], ["b", "B"]]
    assert not misread(one_column(values, ["A", "B", "*", ""], two_tops))
    assert not one_column(values, ["A", "B", "A", ""], two_tops).holds
    assert one_column(values, ['{a, ""}', '{a, ""}', '{b, ""}', "b"]).holds
    assert not one_column(["1", None], ["[1, 1]", "[0, 9]"]).holds


def test_the_recipe_says_what_is_missing():
    assert one_column(["a", "-9"], ["", "a"], data={"missing_values": ["-9"]}).holds
    assert not one_column(["a", "?"], ["", "a"], data={"missing_values": ["-9"]}).holds
    assert one_column(["a", "?", ""], ["", "?", "a"], data={"missing_values": []}).holds


def test_rows_with_missing_values_are_dropped_where_the_recipe_says_so():
    values: list[str | None] = ["a", None, "?", "b"]
    drop = {"data": {"missing": "drop"}}
    found = one_column(values, ["a", "b"], **drop)
    assert found.holds
    assert found.facts["table_rows"] == 2
    assert broken(one_column(values, ["a", "b"])) == {"suppression"}
    assert broken(one_column(values, ["", "a", "b"], **drop)) == {"rows", "coverage"}


def test_missing_values_of_columns_without_a_role_drop_no_row():
    private = PEOPLE.assign(note=None)
    rows = sorted((*cells[:4], "") for cells in RELEASE)
    found = verify(recipe(data={"missing": "drop"}), private, LEVELS, written(HEADER, rows))
    assert found.holds


def test_a_table_that_drops_to_nothing_is_empty():
    found = one_column([None, "?"], [], data={"missing": "drop"})
    assert found.holds
    assert found.facts["table_rows"] == 0
    assert broken(one_column([None], ["a"], data={"missing": "drop"})) == {"rows", "coverage"}


def test_a_column_of_missing_values_only():
    assert one_column([None, None], ["", ""]).holds
    assert one_column([None, None], ["*", "*"]).holds
    assert one_column([None, None], ["all", "all"], [["a", "ab", "all"]]).holds
    assert not one_column([None, None], ["ab", "ab"], [["a", "ab", "all"]]).holds
    # One column of empty cells: a bare blank line would be no row.
    assert written(["x"], [("",)]) == b'x\n""\n'


# ---- hierarchies -----------------------------------------------------------------------------


def test_a_label_that_is_also_a_value_counts_where_the_column_is_at_one_level():
    levels = [["other", "other", "*"], ["rare", "other", "*"], ["common", "common", "*"]]
    values: list[str | None] = ["other", "rare", "common"]
    assert one_column(values, ["other", "other", "common"], levels).holds
    assert one_column(values, ["other", "rare", "common"], levels).holds
    found = one_column(values, ["other", "rare", "*"], levels)
    assert broken(found) == {"coverage"}
    assert named(found, "coverage").column == "x"
    assert "different things on different levels" in named(found, "coverage").sentence


def test_a_star_that_is_a_value_too_is_ambiguous():
    # Nobody who has only the file could tell one person's own value from a hidden one.
    assert broken(one_column(["*", "a"], ["*", "*"])) == {"coverage"}
    assert broken(one_column(["*", "a"], ["*", "a"])) == {"coverage"}
    assert broken(one_column(["*", "a", "b", "c"], ["*", "*", "{b, c}", "{b, c}"])) == {"coverage"}


def test_one_label_on_two_levels_with_one_cover_is_clear():
    levels = [["a", "x", "*", "*"], ["b", "x", "*", "*"], ["c", "c", "*", "*"]]
    assert one_column(["a", "b", "c", None], ["x", "c", "*", "*"], levels).holds


def test_a_label_comes_before_what_it_looks_like():
    levels = [["20", "[20, 30]", "*"], ["29", "[20, 30]", "*"], ["30", "[30, 40]", "*"]]
    assert one_column(["20", "29", "30"], ["[20, 30]", "[20, 30]", "[30, 40]"], levels).holds
    assert not one_column(["20", "29", "30"], ["[20, 30]"] * 3, levels).holds


def test_values_that_only_the_hierarchy_knows_are_understood_and_cover_nothing():
    levels = [["a", "*"], ["b", "*"], ["z", "*"]]
    assert one_column(["a", "b"], ["{a, z}", "b"], levels).holds
    found = one_column(["a", "b"], ["b", "z"], levels)
    assert "no row of the table" in named(found, "coverage").sentence


def test_a_list_of_values_has_the_star_above():
    assert one_column(["a", "b"], ["*", "*"], [["a"], ["b"]]).holds


def test_values_the_hierarchy_lacks_are_covered_by_the_star_only():
    levels = [["a", "all"]]
    assert one_column(["a", "b"], ["all", "b"], levels).holds
    assert not misread(one_column(["a", "b"], ["*", "*"], levels))
    assert not one_column(["a", "b"], ["all", "all"], levels).holds


def test_numbers_of_a_hierarchy_may_be_spelled_otherwise():
    levels = [["1.0", "low", "*"], ["2,0", "low", "*"], ["30", "high", "*"]]
    assert one_column(["1", "2", "30", "30.0"], ["low", "low", "high", "30"], levels).holds


def test_groups_that_are_no_runs_are_covered_exactly():
    levels = [["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"], ["4", "even", "*"]]
    values: list[str | None] = ["1", "2", "3", "4"]
    assert one_column(values, ["even", "even", "odd", "odd"], levels).holds
    assert not one_column(values, ["even", "odd", "odd", "odd"], levels).holds


@pytest.mark.parametrize(
    "levels",
    [[["a", "x"], ["b"]], [["a", "x"], ["a", "y"]], [[]]],
)
def test_a_broken_level_table_is_refused(levels: Any):
    with pytest.raises(BadHierarchy, match="line"):
        one_column(["a", "b"], ["a", "b"], levels)


# ---- formulas --------------------------------------------------------------------------------


def test_formulas_are_neutralised_and_read_back():
    values: list[str | None] = ["=1+1", "-5", "@me", "+49 1", "plain"]
    cells = ["'=1+1", "-5", "'@me", "'+49 1", "plain"]
    assert one_column(values, cells).holds
    found = one_column(values, ["=1+1", *cells[1:]])
    assert misread(found) == {"formulas"}
    assert named(found, "formulas").rows == (4,)
    assert one_column(
        values, ["=1+1", "-5", "@me", "+49 1", "plain"], export={"formulas": "keep"}
    ).holds
    kept = one_column(values, cells, export={"formulas": "keep"})
    assert broken(kept) == {"coverage"}


def test_neutralised_labels_and_exact_cells_are_read_back():
    plan = {
        "roles": {"quasi": ["x"], "insensitive": ["y"]},
        "models": [{"name": "k-anonymity", "k": 2}],
    }
    private = pd.DataFrame({"x": ["a", "b"], "y": ["=f()", "'=f()"]})
    levels = {"x": [["a", "-low"], ["b", "-low"]]}
    rows = [("'-low", "''=f()"), ("'-low", "'=f()")]
    assert verify(plan, private, levels, written(["x", "y"], rows)).holds
    # The two cells are two values: neither may stand for the other.
    rows = [("'-low", "'=f()"), ("'-low", "'=f()")]
    assert not verify(plan, private, levels, written(["x", "y"], rows)).holds


def test_is_formula():
    assert [t for t in ("=1", "-1", "-x", "+1,5", "@", "\tx", "\r", "a=", "") if is_formula(t)] == [
        "=1",
        "-x",
        "@",
        "\tx",
        "\r",
    ]


# ---- roles -----------------------------------------------------------------------------------


def test_the_published_columns_are_those_the_recipe_names_in_the_tables_order():
    frame = pd.DataFrame({"a": ["1", "1"], "x": ["p", "p"], "b": ["2", "3"]})
    models = [{"name": "k-anonymity", "k": 2}]

    def found(header: list[str], rows: Rows, **roles: Any) -> Verification:
        recipe = {"roles": {"quasi": ["x"], **roles}, "models": models}
        return verify(recipe, frame, {}, written(header, rows))

    one, two = [("p", "2"), ("p", "3")], [("1", "p", "2"), ("1", "p", "3")]
    assert found(["x", "b"], one, insensitive=["b"]).holds
    assert found(["a", "x", "b"], two, insensitive=["b", "a"]).holds
    assert broken(found(["x", "b"], one)) == {"columns", "left-out"}
    assert broken(found(["a", "x", "b"], two, insensitive=["b"])) == {"columns", "left-out"}
    assert "columns" in broken(found(["x", "b"], one, insensitive=["a", "b"]))
    assert "columns" in broken(found(["x"], [("p",), ("p",)], insensitive=["b"]))


# ---- Parquet ---------------------------------------------------------------------------------


def parquet(columns: dict[str, Any]) -> bytes:
    """Return columns as a Parquet file by way of what publishes a release."""
    made = pa.table(columns)
    kinds = [pa.array([str(t) for t in c.to_pylist()]).dictionary_encode() for c in made.columns]
    return as_parquet(pa.Table.from_arrays(kinds, names=made.column_names))


def as_columns(rows: Rows) -> dict[str, Any]:
    return {name: list(cells) for name, cells in zip(HEADER, zip(*rows, strict=True), strict=True)}


def test_a_parquet_file_must_hold_the_same_rows():
    def found(content: bytes) -> Check:
        result = verify(recipe(), PEOPLE, LEVELS, written(HEADER, RELEASE), content)
        assert broken(result) <= {"parquet"}
        return named(result, "parquet")

    same = as_columns(RELEASE)
    assert found(parquet(same)).holds
    assert not found(b"PAR1 and nothing").holds
    assert not found(parquet({**same, "__index_level_0__": list(range(6))})).holds
    assert not found(parquet(as_columns(RELEASE[:5]))).holds
    changed_cell = found(parquet({**same, "ill": [*same["ill"][:5], "flu"]}))
    assert (changed_cell.holds, changed_cell.rows) == (False, (6,))
    assert "1 row differs" in changed_cell.sentence
    assert found(parquet(as_columns([RELEASE[1], RELEASE[0], *RELEASE[2:]]))).rows == (1, 2)


def rewritten(change: Callable[[pa.Table], pa.Table], **how: Any) -> bytes:
    """Return the honest Parquet file read and written again by somebody else."""
    sink = io.BytesIO()
    table = pq.read_table(io.BytesIO(parquet(as_columns(RELEASE))))
    pq.write_table(change(table), sink, **({"compression": "zstd"} | how))
    return sink.getvalue()


def noted(table: pa.Table, place: str) -> pa.Table:
    if place == "file":
        return table.replace_schema_metadata({"marked": "row 3"})
    fields = [table.schema.field(i).with_metadata({"marked": "row 3"}) for i in range(2)]
    return table.cast(pa.schema([*fields, *list(table.schema)[2:]]))


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda t: noted(t, "file"), {}),
        (lambda t: noted(t, "field"), {}),
        (lambda t: t, {"compression": "zstd", "compression_level": 19}),
        (lambda t: t, {"compression": "none"}),
        (lambda t: t, {"row_group_size": 3}),
        (lambda t: t, {"data_page_size": 1, "write_batch_size": 1}),
        (lambda t: t, {"write_statistics": False}),
        (lambda t: t, {"write_page_index": True}),
        (lambda t: t, {"use_dictionary": False}),
        (lambda t: t, {"store_schema": False}),
        (lambda t: t, {"data_page_version": "2.0"}),
        (lambda t: t, {"version": "1.0"}),
        (lambda t: t, {"sorting_columns": [pq.SortingColumn(0)]}),
        (lambda t: pa.table({n: pa.array(t[n].to_pylist()) for n in t.column_names}), {}),
    ],
)
def test_a_parquet_file_holds_nothing_but_its_rows(change: Any, how: dict[str, Any]):
    content = rewritten(change, **how)
    result = verify(recipe(), PEOPLE, LEVELS, written(HEADER, RELEASE), content)
    assert broken(result) == {"parquet"}
    said = named(result, "parquet").sentence
    assert "not byte for byte" in said or "that occur in no published row" in said


def test_bytes_beside_the_rows_of_a_parquet_file_are_found():
    honest = parquet(as_columns(RELEASE))
    later = honest.replace(b"parquet-cpp-arrow version ", b"parquet-cpp-arrow version 9")
    no_text = honest.replace(b"parquet-cpp-arrow version ", b"parqu\xe5t-cpp-arrow version ")
    assert no_text != honest
    for content in (honest + b"x", b"x" + honest, honest[:4] + b"x" + honest[4:], later, no_text):
        result = verify(recipe(), PEOPLE, LEVELS, written(HEADER, RELEASE), content)
        assert broken(result) == {"parquet"}


def test_the_dictionary_of_a_parquet_file_has_one_order():
    columns = {
        name: pa.DictionaryArray.from_arrays(
            pa.array([sorted(set(cells))[::-1].index(cell) for cell in cells], pa.int32()),
            pa.array(sorted(set(cells))[::-1]),
        )
        for name, cells in as_columns(RELEASE).items()
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, compression="zstd")
    result = verify(recipe(), PEOPLE, LEVELS, written(HEADER, RELEASE), sink.getvalue())
    assert broken(result) == {"parquet"}
    assert as_parquet(pa.table(columns)) == parquet(as_columns(RELEASE))


def test_a_parquet_file_of_numbers_and_nulls_is_none_of_the_workbench():
    plan = {"roles": {"quasi": ["x"]}, "models": [{"name": "k-anonymity", "k": 1}]}
    private = pd.DataFrame({"x": ["1.0", "2.5", None]})
    text = written(["x"], [("",), ("1.0",), ("2.5",)])
    assert verify(plan, private, {}, text).holds
    for values in ([None, 1.0, 2.5], [1.0, None, 2.5]):
        sink = io.BytesIO()
        pq.write_table(pa.table({"x": values}), sink)
        assert broken(verify(plan, private, {}, text, sink.getvalue())) == {"parquet"}


# ---- recipes and tables that do not fit ------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"roles": {"quasi": ["sax"]}}, "no column 'sax'"),
        ({"types": {"gone": "text"}}, "no column 'gone'"),
        ({"roles": {"quasi": []}}, "no quasi-identifier"),
        ({"roles": {"quasi": ["sex"], "identifier": ["sex"]}}, "identifier and something else"),
        ({"roles": {"quasi": ["sex"], "insensitive": ["sex"]}}, "insensitive and something else"),
        ({"roles": {"quasi": ["sex"], "insensitive": ["sax"]}}, "no column 'sax'"),
        ({"roles": {"quasi": "sex"}}, "quasi is not a list"),
        ({"roles": {"quasi": [1]}}, "other than texts"),
        ({"roles": ["sex"]}, r"\[roles\] is not a table"),
        ({"models": []}, "names no privacy model"),
        ({"models": ["k-anonymity"]}, "not tables"),
        ({"algorithm": {"max_suppression": "2 %"}}, "not a share"),
        ({"algorithm": {"max_suppression": True}}, "not a share"),
        ({"algorithm": {"max_suppression": 2}}, "not a share"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused(changes: dict[str, Any], message: str):
    with pytest.raises(BadPlan, match=message):
        people(**changes)


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame([["a", "b"]], columns=["x", "x"])
    with pytest.raises(BadPlan, match="one name"):
        verify({"roles": {"quasi": ["x"]}}, twice, {}, b"x,x\na,b\n")


# ---- matching --------------------------------------------------------------------------------


def test_overlapping_classes_are_matched_exactly():
    values: list[str | None] = ["1", "2", "2", "3", "3", "4"]
    assert one_column(values, ["[1, 3]"] * 3 + ["[2, 4]"] * 3).holds
    assert one_column(values, ["[1, 2]"] * 2 + ["[2, 4]"] * 4).holds
    assert one_column(values, ["[1, 2]"] * 3 + ["[3, 4]"] * 3).holds
    # Three rows lie in 1..2, and two rows of the release want 1 alone.
    found = one_column(values, ["[1, 2]"] * 4 + ["[2, 4]"] * 2)
    assert broken(found) == {"coverage"}
    assert named(found, "coverage").reached == 5


def test_a_large_question_is_not_decided_and_does_not_hold(monkeypatch: pytest.MonkeyPatch):
    values: list[str | None] = ["1", "2", "2", "3", "3", "4"]
    cells = ["[1, 3]"] * 3 + ["[2, 4]"] * 3
    for limit in ("MOST_EDGES", "MOST_PAIRS"):
        with monkeypatch.context() as patch:
            patch.setattr(MATCH, limit, 0)
            found = one_column(values, cells)
        assert broken(found) == {"coverage"}
        assert "not decided" in named(found, "coverage").sentence
    monkeypatch.setattr(MATCH, "MOST_PAIRS", 5)  # few enough to look at, too many to keep
    assert "not decided" in named(one_column(values, cells), "coverage").sentence
    monkeypatch.setattr(MATCH, "MOST_PAIRS", 3)  # three pairs, but many ways to give
    private = pd.DataFrame({"x": ["1"] * 5 + ["2"], "y": list("abcdef")})
    plan = {
        "roles": {"quasi": ["x"], "insensitive": ["y"]},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    rows = [*(("1", y) for y in "abc"), *(("[1, 2]", y) for y in "def")]
    found = verify(plan, private, {}, written(["x", "y"], rows))
    assert "not decided" in named(found, "coverage").sentence


def test_classes_that_share_no_value_are_compared_whatever_their_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MATCH, "MOST_PAIRS", 0)
    values: list[str | None] = ["1", "2", "2", "3", "3", "4"]
    assert one_column(values, ["[1, 2]"] * 3 + ["[3, 4]"] * 3).holds
    assert broken(one_column(values, ["[1, 2]"] * 4 + ["[3, 4]"] * 2)) == {"coverage"}


def test_pairs_found_by_halving_are_all_pairs(monkeypatch: pytest.MonkeyPatch):
    generator = np.random.default_rng(5)
    for brute in (0, 40):
        monkeypatch.setattr(MATCH, "_BRUTE", brute)
        for _ in range(20):
            sizes = generator.integers(1, 9, 3).tolist()
            points = np.array(list(itertools.product(*map(range, sizes))), dtype=np.int64)
            points = points[generator.permutation(len(points))[: len(points) // 2 + 1]]
            sets = [
                [set(np.flatnonzero(generator.random(s) < 0.4).tolist()) for _ in range(5)]
                for s in sizes
            ]
            columns = [
                text_runs([tuple((c, c) for c in sorted(own)) for own in some], s)
                for some, s in zip(sets, sizes, strict=True)
            ]
            boxes = generator.integers(0, 5, (12, 3)).astype(np.int64)
            got = set(
                zip(*(a.tolist() for a in covering_pairs(points, boxes, columns)), strict=True)
            )
            assert got == {
                (p, b)
                for p, b in itertools.product(range(len(points)), range(len(boxes)))
                if all(points[p, d] in sets[d][boxes[b, d]] for d in range(3))
            }


@pytest.mark.parametrize("at_every_end", [0, 1, 2])
def test_flow_and_peeling_meet_as_much_as_possible(
    at_every_end: int, monkeypatch: pytest.MonkeyPatch
):
    if at_every_end:  # some of the edges are tried first
        monkeypatch.setattr(MATCH, "THINNED_FROM", 0)
        monkeypatch.setattr(MATCH, "_AT_EVERY_END", at_every_end)
    generator = np.random.default_rng(6)
    for _ in range(200):
        givers, takers = generator.integers(1, 6, 2).tolist()
        supply = generator.integers(1, 4, givers).astype(np.int64)
        demand = generator.integers(1, 4, takers).astype(np.int64)
        giver, taker = (
            a.astype(np.int64) for a in np.nonzero(generator.random((givers, takers)) < 0.5)
        )
        left = unmet(supply, demand, giver, taker)
        assert (left >= 0).all()
        edges = set(zip(giver.tolist(), taker.tolist(), strict=True))
        options = [
            [g for g in range(givers) for _ in range(supply[g]) if (g, t) in edges]
            for t in range(takers)
        ]
        met = _most_matched(
            [g for g in range(givers) for _ in range(supply[g])],
            [set(options[t]) for t in range(takers) for _ in range(demand[t])],
        )
        assert demand.sum() - left.sum() == met


def test_a_few_edges_decide_what_all_of_them_are_too_many_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(MATCH, "MOST_EDGES", 10_000)
    one = np.ones(200, dtype=np.int64)
    giver, taker = (a.astype(np.int64).ravel() for a in np.indices((200, 200)))
    with pytest.raises(MATCH.TooLarge):
        unmet(one, one, giver, taker)
    monkeypatch.setattr(MATCH, "THINNED_FROM", 10_000)
    assert not unmet(one, one, giver, taker).any()
    with pytest.raises(MATCH.TooLarge):  # a demand that stays open is looked at with all edges
        unmet(one, np.append(one[1:], 2), giver, taker)


def _most_matched(owners: list[int], wants: list[set[int]]) -> int:
    """Return the size of a largest matching, by augmenting paths one by one."""
    holder: dict[int, int] = {}

    def place(want: int, seen: set[int]) -> bool:
        for unit, owner in enumerate(owners):
            if owner in wants[want] and unit not in seen:
                seen.add(unit)
                if unit not in holder or place(holder[unit], seen):
                    holder[unit] = want
                    return True
        return False

    return sum(place(want, set()) for want in range(len(wants)))


# ---- random tables ---------------------------------------------------------------------------

AGES = [str(v) for v in (18, 20, 21, 35, 36, 50)]
COVER: dict[str, dict[str, set[str]]] = {
    "sex": {"F": {"F"}, "M": {"M"}, "*": {"F", "M", ""}, "": {""}, "{F, M}": {"F", "M"}},
    "age": {
        **{v: {v} for v in AGES},
        **{
            f"[{a}, {b}]": {v for v in AGES if int(a) <= int(v) <= int(b)}
            for a in AGES
            for b in AGES
        },
        "*": {*AGES, ""},
        "": {""},
    },
    "job": {
        **{row[0]: {row[0]} for row in JOB},
        "health": {"nurse", "doctor"},
        "craft": {"smith", "baker"},
        "any": {row[0] for row in JOB} | {""},
        "": {""},
    },
}
QUASI = list(COVER)
RANDOM_PLAN = {
    "roles": {"quasi": QUASI, "sensitive": ["ill"]},
    "models": [{"name": "k-anonymity", "k": 1}],
    "algorithm": {"max_suppression": 1.0},
    "types": {"age": "number", "sex": "text", "job": "text"},
}


def random_table(generator: np.random.Generator, rows: int) -> Rows:
    return [
        (
            str(generator.choice(["F", "M", ""], p=[0.45, 0.45, 0.1])),
            str(generator.choice([*AGES, ""])),
            str(generator.choice([*(row[0] for row in JOB), ""])),
            str(generator.choice(["flu", "cold", ""])),
        )
        for _ in range(rows)
    ]


def covering(generator: np.random.Generator, name: str, values: set[str]) -> str:
    fitting = [text for text, cover in COVER[name].items() if values <= cover]
    return str(generator.choice(sorted(fitting)))


def generalized(generator: np.random.Generator, table: Rows) -> Rows:
    """Return an honest release: rows in random groups, some hidden, each group one random cover."""
    parts = generator.integers(0, max(1, len(table) // 3), len(table))
    if generator.random() < 0.5:  # neighbours together, so that covers are often small
        parts = np.sort(parts)
        table = sorted(table)
    published: Rows = []
    for part in range(int(parts.max()) + 1):
        group = [row for row, p in zip(table, parts, strict=True) if p == part]
        if not group or generator.random() < 0.15:
            continue
        cells = [covering(generator, n, {row[d] for row in group}) for d, n in enumerate(QUASI)]
        published += [(*cells, row[3]) for row in group]
    return sorted(published)


def true_of(table: Rows, published: Rows) -> bool:
    wants = [
        {
            i
            for i, row in enumerate(table)
            if row[3] == cells[3] and all(row[d] in COVER[n][cells[d]] for d, n in enumerate(QUASI))
        }
        for cells in published
    ]
    return _most_matched(list(range(len(table))), wants) == len(published)


def verified(table: Rows, published: Rows) -> Verification:
    private = pd.DataFrame(table, columns=[*QUASI, "ill"])
    return verify(RANDOM_PLAN, private, LEVELS, written([*QUASI, "ill"], published))


@pytest.mark.parametrize("seed", range(40))
def test_honest_releases_hold_and_tampered_ones_hold_only_where_still_true(seed: int):
    generator = np.random.default_rng(seed)
    table = random_table(generator, int(generator.integers(3, 30)))
    published = generalized(generator, table)
    assert not misread(verified(table, published))
    for _ in range(4 if published else 0):
        rows = [list(cells) for cells in published]
        row, place = int(generator.integers(len(rows))), int(generator.integers(4))
        pool = sorted(COVER[QUASI[place]]) if place < 3 else ["flu", "cold", ""]
        rows[row][place] = str(generator.choice(pool))
        tampered = sorted(tuple(cells) for cells in rows)
        found = verified(table, tampered)
        assert named(found, "coverage").holds == true_of(table, tampered)
        assert misread(found) <= {"coverage"}


@pytest.mark.parametrize("seed", range(10))
def test_a_cell_that_covers_no_row_never_passes(seed: int):
    generator = np.random.default_rng(seed)
    table = [row for row in random_table(generator, 25) if row[2] != "baker" and row[1] != "50"]
    published = generalized(generator, table)
    for place, text in ((1, "50"), (1, "[40, 60]"), (2, "baker"), (0, "X")):
        rows = [list(cells) for cells in published]
        rows[int(generator.integers(len(rows)))][place] = text
        assert misread(verified(table, sorted(tuple(cells) for cells in rows))) == {"coverage"}


# ---- files -----------------------------------------------------------------------------------

TOML = """
seed = 7
[roles]
identifier = ["name"]
quasi = ["sex", "age", "job"]
sensitive = ["ill"]
insensitive = ["note"]
[hierarchies]
sex = "levels/sex.csv"
job = "levels/job.csv"
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 3
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels/sex.csv").write_text("F,*\n\nM,*\n")
    (tmp_path / "levels/job.csv").write_text("\n".join(";".join(row) for row in JOB))
    (tmp_path / "recipe.toml").write_text(TOML)
    (tmp_path / "people.csv").write_text(PEOPLE.to_csv(index=False))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/release.csv").write_bytes(written(HEADER, RELEASE))
    return tmp_path


def on_disk(desk: Path, data: str = "people.csv") -> Verification:
    return verify_files(desk / "recipe.toml", desk / data, desk / "out")


def test_a_release_in_a_folder_is_verified(desk: Path):
    assert on_disk(desk).holds
    (desk / "out/release.parquet").write_bytes(parquet(as_columns(RELEASE)))
    assert named(on_disk(desk), "parquet").holds
    (desk / "out/release.parquet").write_bytes(parquet(as_columns(RELEASE[:2])))
    assert broken(on_disk(desk)) == {"parquet"}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_separator_and_encoding_of_the_data_are_found_out(
    desk: Path, separator: str, encoding: str
):
    text = PEOPLE.rename(columns={"sex": " sex "}).to_csv(index=False, sep=separator)
    text = text.replace("flu", " flu ").replace("\nAda", "\n\nAda")
    (desk / "people.csv").write_bytes(text.encode(encoding))
    assert on_disk(desk).holds


def test_other_encodings_fall_back_or_are_named(desk: Path):
    text = PEOPLE.replace("Eve", "Zoë").to_csv(index=False)
    (desk / "people.csv").write_bytes(text.encode("latin-1"))
    assert on_disk(desk).holds
    (desk / "people.csv").write_bytes(text.encode("utf-16-le"))
    (desk / "recipe.toml").write_text('data.encoding = "utf-16-le"\ndata.separator = ","\n' + TOML)
    assert on_disk(desk).holds
    (desk / "recipe.toml").write_text('data.encoding = "klingon"\n' + TOML)
    with pytest.raises(BadInput, match="'klingon'"):
        on_disk(desk)


def test_packed_and_parquet_data_are_read(desk: Path):
    packed = gzip.compress((desk / "people.csv").read_bytes())
    (desk / "people.csv.gz").write_bytes(packed)
    assert on_disk(desk, "people.csv.gz").holds
    (desk / "cut.csv.gz").write_bytes(packed[:40])
    with pytest.raises(BadInput, match="damaged gzip"):
        on_disk(desk, "cut.csv.gz")
    frame = PEOPLE.assign(age=PEOPLE["age"].astype("int64"), __index_level_0__=range(6))
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), desk / "people.parquet")
    assert on_disk(desk, "people.parquet").holds
    (desk / "people.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadInput, match="not a readable Parquet"):
        on_disk(desk, "people.parquet")


def test_numbers_of_parquet_data_are_written_as_short_as_they_are(desk: Path):
    (desk / "recipe.toml").write_text(
        '[roles]\nquasi = ["x"]\n[[models]]\nname = "k-anonymity"\nk = 1\n'
    )
    numbers = pa.array([0.1, None, 2.0], type=pa.float32())
    pq.write_table(pa.table({"x": numbers}), desk / "x.parquet")
    (desk / "out/release.csv").write_bytes(written(["x"], [("",), ("0.1",), ("2",)]))
    assert on_disk(desk, "x.parquet").holds


def test_a_quoted_line_break_is_part_of_a_cell(desk: Path):
    PEOPLE.replace("a", "two\nlines").to_csv(desk / "people.csv", index=False)
    rows = sorted((*r[:4], "two\nlines" if r[4] == "a" else r[4]) for r in RELEASE)
    (desk / "out/release.csv").write_bytes(written(HEADER, rows))
    assert on_disk(desk).holds


@pytest.mark.parametrize("name", ["recipe.toml", "people.csv", "levels/job.csv", "out/release.csv"])
def test_a_file_that_is_gone_is_named(desk: Path, name: str):
    (desk / name).unlink()
    with pytest.raises(BadInput, match=Path(name).name):
        on_disk(desk)


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("recipe.toml", b"= 5", BadPlan, "not valid TOML"),
        ("recipe.toml", b"\xff", BadPlan, "not valid TOML"),
        ("levels/job.csv", b"\xff", BadInput, "not UTF-8"),
        ("people.csv", b"", BadInput, "empty"),
        ("people.csv", b"a,b\n1,2\n1\n", BadInput, "Row 2 of people.csv has 1 cells"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused(
    desk: Path, name: str, content: bytes, error: type[Exception], message: str
):
    (desk / name).write_bytes(content)
    with pytest.raises(error, match=message):
        on_disk(desk)


def test_a_data_file_without_rows_is_an_empty_table(desk: Path):
    (desk / "people.csv").write_text(",".join(PEOPLE.columns) + "\n")
    assert broken(on_disk(desk)) == {"rows", "coverage"}


def test_values_of_quasi_identifiers_stand_in_the_order_of_their_groups():
    column = read_private_column(
        Cells.of(["b", "c", "a"]),
        "text",
        ("",),
        neutralised=False,
        ordered=True,
        levels=[["a", "2", "*"], ["b", "1", "*"], ["c", "2", "*"]],
    )
    assert column.keys == ("b", "a", "c")


CITIES = [["11", "1", "*"], ["12", "1", "*"], ["21", "2", "*"], ["22", "22", "*"]]


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        (["1", "1", "2", "22"], None),
        (["11", "12", "21", "22"], None),
        (["*", "*", "*", "*"], None),
        (["", "1", "1", "2"], None),
        (["", "11", "12", "22"], None),
        (["1", "1", "21", "22"], (3,)),
        (["*", "1", "1", "2"], (1,)),
        (["", "*", "*", "*"], (1,)),
        (["11", "12", "2", "22"], (3,)),
    ],
)
@pytest.mark.parametrize("text", ["one", "any", ""])
def test_a_column_stands_at_one_level_where_the_technique_says_so(
    cells: list[str], rows: tuple[int, ...] | None, text: str
):
    """A truthful mixture of levels keeps every promise, and could mark a person."""
    values: list[str | None] = ["11", "12", "21", "22"]
    if "" in cells:
        values[values.index("21" if "22" in cells else "22")] = None
    found = one_column(
        values, cells, CITIES, types={"x": "text"}, release={"levels": text} if text else {}
    )
    if rows is None or text != "one":
        assert broken(found) == set()
        assert any(check.name == "levels" for check in found.checks) == (text == "one")
        return
    assert broken(found) == {"levels"}
    check = named(found, "levels")
    assert (check.column, check.rows) == ("x", rows)
    assert "1 row stands at another than most" in check.sentence


def test_a_column_without_a_hierarchy_is_exact_or_hidden():
    expected = {"types": {"x": "text"}, "release": {"levels": "one"}}
    assert broken(one_column(["a", "b"], ["a", "b"], **expected)) == set()
    assert broken(one_column(["a", "b"], ["*", "*"], **expected)) == set()
    assert broken(one_column(["a", "b"], ["*", "b"], **expected)) == {"levels"}


@pytest.mark.parametrize(
    ("header", "model"),
    [
        ("x,ill", {"name": "k-anonymity", "k": 1}),
        ("x,ill", {"name": "maximum-risk", "risk": 1.0}),
        ("x,ill", {"name": "k-map", "k": 1}),
        ("ill,age", {"name": "epsilon-m-anonymity", "epsilon": 1, "m": 1, "column": "ill"}),
    ],
)
def test_columns_under_other_names_are_broken_and_no_error(
    header: str, model: dict[str, Any]
) -> None:
    plan = {
        "roles": {"quasi": ["age"], "sensitive": ["ill"]},
        "types": {"age": "text", "ill": "number"},
        "algorithm": {"name": "optimal"},
        "models": [model],
    }
    frame = pd.DataFrame({"age": list("aabb"), "ill": list("1212")})
    content = f"{header}\na,1\na,2\nb,1\nb,2\n".encode()
    public = pd.DataFrame({"age": list("aabb")})
    found = verify_published(plan, frame, {}, {"release.csv": content}, public)
    assert "columns" in broken(found)
