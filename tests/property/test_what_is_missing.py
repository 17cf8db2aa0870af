"""What file or recipe says of missing values goes before the default; what is replaced is shown."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadHierarchy, BadPlan
from anon_core.data.hierarchy import from_rows
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.table import MISSING_TOKENS, Dataset
from anon_core.verification.checks import verify
from anon_core.verification.text.texts import MISSING_TOKENS as SAME_TOKENS
from tests.making import Case
from tests.often import often

TEXTS = ["", "?", "NA", "null", "a", "b", "c d", "Null", "None"]
NAMIBIA = [["NA", "Southern", "*"], ["ZA", "Southern", "*"], ["ZM", "Eastern", "*"]]
RECIPE = """
[data]
{data}
[roles]
quasi = ["country", "sex"]
sensitive = ["cause"]
insensitive = ["note"]
{more}
[algorithm]
name = "{algorithm}"
[[models]]
name = "k-anonymity"
k = 2
"""


def test_both_sides_have_the_same_default() -> None:
    assert MISSING_TOKENS == SAME_TOKENS


@st.composite
def listed(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, ...]]]:
    """Draw cells of a column of texts, and a level table that lists some of the tokens."""
    cells = draw(st.lists(st.sampled_from(TEXTS), min_size=6, max_size=24))
    names = [t for t in TEXTS if t not in MISSING_TOKENS]
    names += [t for t in MISSING_TOKENS if draw(st.booleans())]
    groups = {name: draw(st.sampled_from(["g0", "g1", "g2"])) for name in names}
    above = {group: draw(st.sampled_from(["h0", "h1"])) for group in ("g0", "g1", "g2")}
    rows = [(name, g, above[g], "*") for name, g in groups.items()]
    return cells, draw(st.permutations(rows))


@often(240)
@given(listed(), st.integers(0, 2))
def test_every_row_is_published_as_its_line_of_the_hierarchy_says(
    drawn: tuple[list[str], list[tuple[str, ...]]], level: int
) -> None:
    cells, rows = drawn
    lines = {row[0]: row for row in rows}
    case = Case(
        columns={"x": [*cells], "ill": [*("ab" * len(cells))[: len(cells)]]},
        quasi=("x",),
        sensitive=("ill",),
        kinds={"x": "text"},
    )
    # What no line lists is missing; that has a line of its own, or stays empty up to the top.
    gap = lines.get("", ("",) * 4)
    expected = Counter(lines.get(cell, gap)[level] for cell in cells)
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": {"x": level}, "max_suppression": 1.0},
        models=[{"name": "k-anonymity", "k": 2}],
    )
    dataset = Dataset.from_frame(case.frame, kinds={"x": "text"})
    if max(expected.values()) < 2:
        return
    result = run(plan, dataset, {"x": rows}, assess=False)
    assert result.verification.holds
    shown = Counter(line["x"] for line in csv.DictReader(io.StringIO(result.csv.decode())))
    assert shown == Counter({text: n for text, n in expected.items() if n >= 2})
    # Anyone who verifies again, with the recipe alone, finds the same.
    assert verify(plan.completed(), case.frame, {"x": rows}, result.files).holds


@pytest.mark.parametrize("name", ["optimal", "mondrian", "local-recoding", "k-member", "anatomy"])
@often(40)
@given(drawn=listed())
def test_every_technique_publishes_such_columns_and_is_verified(
    name: str, drawn: tuple[list[str], list[tuple[str, ...]]]
) -> None:
    cells, rows = drawn
    case = Case(
        columns={
            "x": [*cells],
            "age": [str(20 + 3 * n % 17) for n in range(len(cells))],
            "ill": [*("abcd" * len(cells))[: len(cells)]],
        },
        quasi=("x", "age"),
        sensitive=("ill",),
        kinds={},
    )
    promise: dict[str, object] = {"name": "k-anonymity", "k": 2}
    if name == "anatomy":
        promise = {"name": "frequency-l-diversity", "l": 2}
    algorithm: dict[str, object] = {"name": name}
    if name in ("optimal", "local-recoding"):
        algorithm["max_suppression"] = 0.5
    plan = case.plan(algorithm=algorithm, models=[promise])
    dataset = Dataset.from_frame(case.frame)
    if dataset.column("x").kind != "text":
        return
    assert run(plan, dataset, {"x": rows}, assess=False).verification.holds


class Desk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        cells = ["NA", "ZA", "ZM", "", "NA", "ZA"] * 5
        frame = pd.DataFrame(
            {
                "country": cells,
                "sex": [*"fm" * 15],
                "note": ["NA", "yes", "no"] * 10,
                "cause": ["gout", "flu", "NA"] * 10,
            }
        )
        frame.to_csv(folder / "t.csv", index=False)
        lines = [";".join(row) for row in NAMIBIA]
        (folder / "country.csv").write_text("\n".join(lines) + "\n")

    def run(
        self, data: str = "", more: str = "", *options: str, algorithm: str = "optimal"
    ) -> tuple[int, Sequence[dict[str, str]]]:
        recipe = self.folder / "r.toml"
        recipe.write_text(RECIPE.format(data=data, more=more, algorithm=algorithm))
        given = [str(recipe), "--data", str(self.folder / "t.csv")]
        out = self.folder / "out"
        status = main(["run", *given, "--out", str(out), *options])
        if status:
            return status, []
        assert main(["verify", *given, "--release", str(out)]) == 0
        return 0, list(csv.DictReader(io.StringIO((out / "release.csv").read_text())))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


LISTS = '[hierarchies]\ncountry = "country.csv"'


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_each_replacement_is_told_with_its_rows_and_how_to_keep_it(
    desk: Desk, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows = desk.run("", "", "--engine", engine, "--json")
    said = capsys.readouterr()
    content: dict[str, Any] = json.JSONDecoder().raw_decode(said.out)[0]
    assert status == 0
    assert content["read_as_missing"] == {
        "country": {"NA": 10},
        "note": {"NA": 10},
        "cause": {"NA": 10},
    }
    hint = 'write in the recipe, under [data], missing_in = { "note" = [] }'
    assert any("'note' has 'NA' in 10 rows" in one and hint in one for one in content["cautions"])
    assert {row["note"] for row in rows} == {"", "yes", "no"}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_what_the_recipe_says_of_a_column_is_done_there_alone(
    desk: Desk, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows = desk.run('missing_in = { note = [], cause = ["flu"] }', "", "--engine", engine)
    assert status == 0
    said = capsys.readouterr().out
    assert {row["note"] for row in rows} == {"NA", "yes", "no"}
    assert {row["cause"] for row in rows} == {"gout", "", "NA"}
    assert "'country' has 'NA' in 10 rows" in said
    assert "'note' has" not in said


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_value_that_the_hierarchy_lists_is_a_value(
    desk: Desk, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows = desk.run("", LISTS, "--engine", engine)
    assert status == 0
    assert "'country' has" not in capsys.readouterr().out
    found = Counter(row["country"] for row in rows)
    assert found[""] == 5
    assert set(found) <= {"", "NA", "ZA", "ZM", "Southern", "Eastern", "*"}
    # Named as missing by the recipe, it is missing.
    status, rows = desk.run('missing_values = ["", "NA"]', LISTS, "--engine", engine)
    assert status == 0
    assert Counter(row["country"] for row in rows)[""] == 15


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_row_for_the_missing_value_is_its_place(desk: Desk, engine: str) -> None:
    with (desk.folder / "country.csv").open("a") as file:
        file.write(";Elsewhere;*\n")
    more = LISTS
    status, rows = desk.run(
        "",
        more,
        "--engine",
        engine,
        algorithm='fixed-levels"\nlevels = { country = 1, sex = 1 }\n#"',
    )
    assert status == 0
    assert Counter(row["country"] for row in rows) == {"Southern": 20, "Eastern": 5, "Elsewhere": 5}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_without_a_hierarchy_that_is_declared_as_text_keeps_every_text(
    desk: Desk, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = '[types]\nnote = "text"\ncountry = "text"'
    kept = desk.folder / "kept.toml"
    status, rows = desk.run("", declared, "--engine", engine, "--recipe-out", str(kept))
    assert status == 0
    assert {row["note"] for row in rows} == {"NA", "yes", "no"}
    assert Counter(row["country"] for row in rows)[""] == 5  # the empty cells
    assert {row["cause"] for row in rows} == {"gout", "flu", ""}
    said = capsys.readouterr().out
    assert "'note' has" not in said
    assert "'cause' has 'NA' in 10 rows, read and published as missing" in said
    # The recipe that the run completes names every kind, and still does the same.
    text = tomllib.loads(kept.read_text())
    assert text["types"]["cause"] == "text"
    assert text["data"]["kinds_found"] == ["sex", "cause"]
    again = [str(kept), "--data", str(desk.folder / "t.csv")]
    assert main(["run", *again, "--out", str(desk.folder / "again"), "--engine", engine]) == 0
    assert main(["verify", *again, "--release", str(desk.folder / "out")]) == 0
    first, second = (desk.folder / n / "release.csv" for n in ("out", "again"))
    assert first.read_bytes() == second.read_bytes()


def test_numbers_declared_as_text_keep_their_spellings_and_what_is_no_number() -> None:
    case = Case(
        columns={"code": ["1", "1.0", "NA"] * 4, "ill": [*"ab" * 6]},
        quasi=("code",),
        sensitive=("ill",),
        kinds={},
    )
    data = Dataset.from_frame(case.frame)
    assert data.column("code").values == ("1",)
    for types, values in (({"code": "text"}, ("1", "1.0", "NA")), ({"code": "number"}, ("1",))):
        plan = case.plan(algorithm={"name": "mondrian"}, types=types)
        result = run(plan, data, {}, assess=False)
        assert result.problem.dataset.column("code").values == values
        assert result.verification.holds


def test_a_population_and_an_earlier_release_are_read_by_the_hierarchy_too(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    with (desk.folder / "country.csv").open("a") as file:
        file.write(";Elsewhere;*\n")
    people = [f"{country},{sex}" for country in ("NA", "ZA", "ZM", "") for sex in "fm" * 12]
    (desk.folder / "people.csv").write_text("\n".join(["country,sex", *people]) + "\n")
    levels = 'fixed-levels"\nlevels = { country = 1, sex = 0 }\nmax_suppression = 1.0\n#"'
    presence = '\n[[models]]\nname = "delta-presence"\ndelta_max = 1.0'
    public = f'{LISTS}\n[population]\nfile = "people.csv"{presence}'
    assert desk.run("", public, algorithm=levels)[0] == 0, capsys.readouterr()
    (desk.folder / "before").mkdir()
    for file in (desk.folder / "out").iterdir():
        (desk.folder / "before" / file.name).write_bytes(file.read_bytes())
    earlier = f'{LISTS}\n[earlier]\nfile = "before/release.csv"'
    assert desk.run("", earlier, algorithm=levels)[0] == 0, capsys.readouterr()
    assert "composition" in capsys.readouterr().out
    given = [str(desk.folder / "r.toml"), "--data", str(desk.folder / "t.csv")]
    given += ["--release", str(desk.folder / "out"), "--previous", str(desk.folder / "before")]
    assert main(["verify", *given]) in (0, 3)
    assert "cannot be laid together" not in capsys.readouterr().out


def test_a_row_for_the_missing_value_among_numbers_is_refused() -> None:
    frame = pd.DataFrame({"age": ["20", "30", None]})
    column = Dataset.from_frame(frame).column("age")
    rows = [["20", "young", "*"], ["30", "old", "*"], ["", "unknown", "*"]]
    with pytest.raises(
        BadHierarchy, match="line 3: a row for the missing value has no place among"
    ):
        from_rows(column, rows)
    whole = Dataset.from_frame(frame.dropna()).column("age")
    assert from_rows(whole, rows).leaves == ("20", "30")  # nothing is missing


def test_the_page_of_the_data_says_what_was_read_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\nNA,Null\n?,None\nx,NA\n")
    first, second = read_table(path).columns
    assert (
        "'?' in 1 row, 'NA' in 1 row are read as missing. To keep them as values" in first.notes[-1]
    )
    assert second.values == ("None", "Null")  # a surname and an answer
    assert second.replaced == {"NA": 1}
    kept = read_table(path, DataOptions(missing_in={"b": ()})).column("b")
    assert kept.values == ("NA", "None", "Null")
    assert not any("missing" in note for note in kept.notes)
    some = first.take(np.array([True, False, True]))
    assert some.replaced == {"NA": 1}


@pytest.mark.parametrize("given", ["NA", [1], {"b": 3}])
def test_what_is_no_list_of_texts_is_refused_by_name(given: object) -> None:
    with pytest.raises(BadPlan, match=r"\[data\] missing_in"):
        DataOptions.from_mapping({"missing_in": given if isinstance(given, dict) else {"b": given}})
