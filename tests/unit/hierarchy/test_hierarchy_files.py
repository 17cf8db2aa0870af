"""Hierarchy files: what is exported imports back equal, and what is wrong is shown at its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_core.base.errors import AnonError, BadHierarchy, InputChanged
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import Hierarchy, from_rows, levels_csv, parse_levels, read_levels
from anon_core.data.hierarchy.edit.placing import placed
from anon_core.data.hierarchy.files.json_file import hierarchy_json
from anon_core.data.hierarchy.files.relations import is_relations, parse_relations, relations_text
from anon_core.data.samples import SAMPLES, hierarchy_folder
from anon_core.verification.files import recipe_files as second
from tests.often import often

SECRET = "Zebulon"


def column(*values: str) -> Column:
    return encode("x", np.arange(len(values), dtype=np.int32), values, kind="text")


def arx_csv(separator: str, quoting: int) -> Callable[[Hierarchy], str]:
    def write(h: Hierarchy) -> str:
        text = io.StringIO()
        csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\r\n").writerows(
            h.rows()
        )
        return text.getvalue()

    return write


WRITERS: dict[str, Callable[[Hierarchy], str]] = {
    "csv": levels_csv,
    "arx comma": arx_csv(",", csv.QUOTE_MINIMAL),
    "arx comma quoted": arx_csv(",", csv.QUOTE_ALL),
    "arx semicolon quoted": arx_csv(";", csv.QUOTE_ALL),
    "relations": relations_text,
    "json": hierarchy_json,
}
LABEL = st.text(st.sampled_from("abRot01 :;,\"'#*<>{}[]=é\\\n\t-"), min_size=1, max_size=6).filter(
    lambda t: t.strip() not in ("", "?", "NA") and t == t.strip()
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    leaves = draw(st.lists(LABEL, min_size=1, max_size=9, unique=True))
    rows = [[leaf] for leaf in leaves]
    starts = list(range(len(leaves)))
    for level in range(draw(st.integers(0, 3))):
        starts = [0, *(s for s in starts[1:] if draw(st.booleans()))]
        names: list[str] = []
        for first in starts:
            kept = rows[first][level] if draw(st.booleans()) else draw(LABEL)
            names.append(kept)
        assume(len(set(names)) == len(names))
        for place, row in enumerate(rows):
            row.append(names[sum(s <= place for s in starts) - 1])
    for row in rows:
        row.append(draw(st.just("*")) if len(leaves) > 4 else "top: x" if "a" in leaves else "*")
    try:
        return from_rows(column(*leaves), rows)
    except AnonError:
        assume(False)
        raise


@often(400)
@given(trees())
def test_what_is_exported_imports_back_equal(h: Hierarchy) -> None:
    rows = [list(row) for row in h.rows()]
    for name, write in WRITERS.items():
        text = write(h)
        if "arx" in name:  # what others write may look like something else
            assume(not is_relations(text))
            assume("comma" not in name or ";" not in text)
        assert parse_levels(text, "x") == rows, name
        assert second.read_levels(text, "x") == rows, name


def test_the_shipped_hierarchies_in_every_format() -> None:
    for one in SAMPLES:
        for name, path in one.hierarchies.items():
            rows = read_levels(hierarchy_folder() / path, name)
            h = from_rows(column(*[row[0] for row in rows]), rows)
            for kind, write in WRITERS.items():
                found = parse_levels(write(h), name)
                assert [tuple(row) for row in found] == h.rows(), (path, kind)
                assert second.read_levels(write(h), name) == found, (path, kind)


def test_the_taxonomy_of_aalborg() -> None:
    """A-17: parent : child1, child2, ... with a Root."""
    text = "Root : A, B\nA : a1, a2\nB : b1, b2, b3"
    rows = parse_levels(text, "x")
    h = from_rows(column("a1", "a2", "b1", "b2", "b3"), rows)
    assert h.height == 2
    assert h.labels[1:] == (("A", "B"), ("*",))
    assert [int(n) for n in np.diff([*h.starts[1], len(h.leaves)])] == [2, 3]
    assert relations_text(h).splitlines() == text.splitlines()


def test_a_value_that_hangs_higher_stays_itself() -> None:
    rows = parse_relations("Root : A, b\nA : c, d\nc : e", "x")
    assert rows == [["e", "c", "A", "*"], ["d", "d", "A", "*"], ["b", "b", "b", "*"]]


def test_relations_need_no_spaces_and_may_lack_a_root() -> None:
    assert parse_levels("Root:A,B\nA:a\nB:b\n", "x") == parse_levels(
        "B : b\n\n# a comment\nRoot : A\nRoot : B\nA : a", "x"
    )[::-1] or parse_levels("Root:A,B\nA:a\nB:b\n", "x")
    assert parse_levels("Any : A, B\nA : a\nB : b", "x")[0] == ["a", "A", "Any"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Root : A\nA : a\nB : b", 3, "second top"),
        ("Root : A\nA : a\nB : C\nC : B", 3, "cycle"),
        ("A : B\nB : A", 1, "cycle"),
        ("Root : A\nA : Root", 2, "cycle"),
        ("Root : A\nA : A", 2, "used again"),
        ("Root : A, B\nA : a\nB :", 3, "empty group"),
        ("Root : A,, B", 1, "empty group or label"),
        ("Root : A, B\nA : a\nB : b, a", 3, "in line 2"),
        ("Root : A, A", 1, "used twice"),
        ('Root : "A', 1, "quoted label"),
        ('Root : "A" B', 1, "after the closing quote"),
        ("Root : A\nnothing here", 2, "no ':'"),
        ("# level 1\nRoot : A\n# level 2\nA : a", 3, ""),
    ],
)
def test_relations_that_are_refused_at_their_place(text: str, line: int, words: str) -> None:
    with pytest.raises(BadHierarchy) as caught:
        parse_levels(text, "job")
    assert "'job'" in caught.value.message
    assert words in caught.value.message
    if words:
        assert f"line {line}:" in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"tree": {"label": "*", "children": [1]}}', "child 1: a node has no label"),
        ('{"tree": {"label": "*", "children": []}}', "empty group"),
        ('{"tree": {"label": "*", "children": ["a", {"label": "b", "children": []}]}}', "child 2"),
        ('{"tree": {"label": "*", "children": [""]}}', "empty label"),
        ('{"tree": {"label": "", "children": ["a"]}}', "no label"),
        ('{"tree": {"label": "*"}}', "no children"),
        ('{"rows": []}', "no 'tree'"),
        ('{"tree":\n oops}', "line 2: no valid JSON"),
        ('{"tree": ' + '{"label": "a", "children": [' * 200 + '"b"' + "]}" * 200 + "}", "levels"),
        ('{"a": ' + "[" * 100_000, ""),
    ],
)
def test_json_that_is_refused_at_its_place(text: str, words: str) -> None:
    with pytest.raises(BadHierarchy) as caught:
        parse_levels(text, "job")
    assert words in caught.value.message
    assert "'job'" in caught.value.message


def test_a_chain_that_is_too_long() -> None:
    text = "Root : g0\n" + "".join(f"g{i} : g{i + 1}\n" for i in range(200))
    with pytest.raises(BadHierarchy, match="more than 100 levels"):
        parse_levels(text, "x")


def test_a_label_of_a_megabyte() -> None:
    long = "y" * 1_000_000
    for text in (f"a;{long};*\nb;c;*", f"Root : {long}, c\n{long} : a\nc : b"):
        with pytest.raises(BadHierarchy, match=r"line 1: the label on level 1 has 1,000,000 char"):
            from_rows(column("a", "b"), parse_levels(text, "x"))
    assert from_rows(column(long), [[long, long, "*"]]).leaves == (long,)


def test_markup_is_a_label_like_any_other() -> None:
    text = "<script>alert(1)</script>"
    h = from_rows(column("a", "b", "c"), [["a", text, "*"], ["b", text, "*"], ["c", "d", "*"]])
    for write in WRITERS.values():
        assert parse_levels(write(h), "x") == [list(row) for row in h.rows()]


def test_a_file_of_another_column() -> None:
    rows = [["red", "warm", "*"], ["blue", "cold", "*"]]
    with pytest.raises(BadHierarchy, match="none of the column's 2 values") as caught:
        placed(rows, column(SECRET, "cat"))
    assert SECRET not in str(caught.value)
    with pytest.raises(InputChanged, match="none of the column's 2 values"):
        from_rows(column(SECRET, "cat"), rows)


def test_values_that_the_file_lacks_are_offered_and_those_it_has_are_kept() -> None:
    own = encode("x", np.array([0, 1, 1, 2, -1], dtype=np.int32), ["a", "b", "c"], kind="text")
    rows = [["a", "A", "*"], ["z", "A", "*"], ["", "?", "*"]]
    found = placed(rows, own)
    assert (found.unplaced, found.rows_unplaced, found.unseen) == (("b", "c"), 3, 1)
    assert [r[0] for r in found.rows] == ["a", "z", ""]
    ages = encode("age", np.array([0, 1], dtype=np.int32), ["39.0", "40"], kind="number")
    assert placed([["39", "*"], ["41", "*"]], ages).unplaced == ("40",)


def test_a_recipe_may_name_any_format(tmp_path: Path) -> None:
    from anon_core.__main__ import main

    cells = [f"{zip_code};{i % 2}" for i, zip_code in enumerate(["94138", "94139", "94141"] * 4)]
    (tmp_path / "data.csv").write_text("zip;sick\n" + "\n".join(cells) + "\n", encoding="utf-8")
    recipe = """
[types]
zip = "text"
[roles]
quasi = ["zip"]
[hierarchies]
zip = "zip.txt"
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
k = 5
"""
    (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    tree = {"label": "*", "children": [{"label": "9413*", "children": ["94138", "94139"]}]}
    tree["children"].append({"label": "9414*", "children": ["94141"]})  # type: ignore[attr-defined]
    texts = {
        "relations": "Root : 9413*, 9414*\n9413* : 94138, 94139\n9414* : 94141\n",
        "json": json.dumps({"tree": tree}),
        "csv": "94138,9413*,*\n94139,9413*,*\n94141,9414*,*\n",
    }
    published: set[str] = set()
    for name, text in texts.items():
        (tmp_path / "zip.txt").write_text(text, encoding="utf-8")
        out = tmp_path / name
        given = [str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "data.csv")]
        assert main(["run", *given, "--out", str(out)]) == 0
        assert main(["verify", *given, "--release", str(out)]) == 0
        table = next(path for path in sorted(out.iterdir()) if path.suffix == ".csv")
        published.add(table.read_text(encoding="utf-8"))
    assert len(published) == 1


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a;x;*\n\n\nb;x;*\n\nb;y;*\n", ("line 4", "line 6")),
        ("\n\na;x;*\nb;*\n", ("line 4: 2 cells", "line 3 has 3")),
        ('"a\nb";x;*\n\nc;x;*\nc;y;*\n', ("line 4", "line 5")),
        ("\na;x;*\n\nx;y;*\n", ("line 2", "line 4")),
    ],
)
def test_lines_are_counted_as_in_the_file(text: str, places: tuple[str, ...]) -> None:
    column = encode("c", np.array([0], dtype=np.int32), ["a"])
    with pytest.raises(BadHierarchy) as caught:
        from_rows(column, parse_levels(text, "c"))
    assert all(place in caught.value.message for place in places)
