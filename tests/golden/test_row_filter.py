"""Rows that a condition chooses: PE-48 to PE-50, its errors, and the second computation.

PE-48 and PE-49 were found by looking at all nodes, and by ARX 3.9.2; PE-50 is SQL's definition.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan, InputChanged
from anon_core.data.reading import DataOptions
from anon_core.data.reading.row_filter import chosen, columns_of, filtered
from anon_core.data.table import Dataset
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.runner import run
from anon_core.release.knowledge.people import Population
from anon_core.verification.checks import verify
from anon_core.verification.recipe import read_terms
from anon_core.verification.rows.recipe_changes import chosen_rows
from anon_core.verification.text.cells import TextTable
from tests.golden.test_preferences import CASE
from tests.making import Case
from tests.often import times

E = replace(CASE, kinds={"sex": "text", "age": "number", "zip": "text"})
X = Case(columns={"x": ["A", "B", None]}, quasi=("x",), kinds={"x": "text"})


def rows(case: Case, where: str) -> list[int]:
    """Return the rows that both computations choose, from 1."""
    try:
        found = chosen(case.dataset, where)
    except BadPlan:
        with pytest.raises(BadPlan):
            again(case, where)
        raise
    assert again(case, where) == int(found.sum())
    return (np.flatnonzero(found) + 1).tolist()


def again(case: Case, where: str) -> int:
    recipe = {**case.plan().completed(), "data": {"where": where}}
    terms = read_terms(recipe, list(case.columns))
    try:
        return len(chosen_rows(recipe, terms, TextTable.of_frame(case.frame))[1])
    except BadPlan as error:
        if "no row" in error.message:
            return 0
        raise


def test_pe_48_rows_chosen() -> None:
    assert rows(E, "sex = 'F' and zip = '1010'") == [1, 2, 3]
    assert rows(E, "(age > 30 or zip <= '1010') and sex = 'M'") == [4, 5, 6, 9, 10]


@pytest.mark.parametrize(("k", "node", "loss"), [(2, 1, "1/12"), (3, 1, "1/12"), (4, 2, "5/12")])
def test_pe_49_the_whole_table_is_the_population(k: int, node: int, loss: str) -> None:
    plan = E.plan(
        data={"where": "sex = 'F' and zip = '1010'", "rest": "population"},
        models=[{"name": "k-map", "k": k}],
        algorithm={"name": "optimal", "metric": "loss"},
    )
    result = run(plan, E.dataset, E.levels)
    expected = {1: {"sex": 0, "age": 1, "zip": 0}, 2: {"sex": 1, "age": 1, "zip": 0}}
    assert dict(result.account.node or {}) == expected[node]
    assert result.measures["loss"].value == pytest.approx(float(Fraction(loss)))
    assert result.problem.rows == 3
    assert result.problem.dataset.outside == 9
    assert result.verification.holds
    figures = figures_of(result)
    assert (figures["rows"], figures["rows_outside"]) == (3, 9)
    assert figures["where"] == plan.data.where


@pytest.mark.parametrize(
    ("where", "expected"),
    [("x = 'A'", [1]), ("x <> 'A'", [2]), ("not x = 'A'", [2]), ("x is missing", [3])],
)
def test_pe_50_what_hangs_on_a_missing_value_is_unknown(where: str, expected: list[int]) -> None:
    assert rows(X, where) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x not in ('A')", [2]),
        ("x is not missing", [1, 2]),
        ("x = 'A' or x is missing", [1, 3]),
        ("not (x = 'A' and x is missing)", [1, 2]),
        ("NOT x BETWEEN 'A' AND 'A'", [2]),
        ("\"x\" in ('A', 'B')", [1, 2]),
        ("not not x < 'B'", [1]),
    ],
)
def test_words_and_signs(where: str, expected: list[int]) -> None:
    assert rows(X, where) == expected


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ("age >", 6), ("age > 'old'", 1), ("sex = F", 7), ("sex = 1", 1), ("(age > 3", 9),
        ("age > 3)", 8), ("age == 3", 6), ("age != 3", 5), ("upper(sex) = 'F'", 1),
        ("age in ()", 9), ("sex = 'F", 7), ("and age > 3", 1), ("age > 3 age", 9),
        ("age not = 3", 1), ("age between 1", 14), ("age is 3", 8), ("age + 1 > 3", 5),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(where: str, place: int) -> None:
    with pytest.raises(
        BadPlan, match=f"at character {place}: |where, character {place}: "
    ) as refused:
        rows(E, where)
    assert refused.value.remedy


def test_unknown_columns_no_row_and_odd_options_are_refused() -> None:
    with pytest.raises(InputChanged, match="no column 'Age'") as refused:
        filtered(E.dataset, "Age > 3")
    assert "'age'" in refused.value.remedy
    with pytest.raises(BadPlan, match="true of none of the 12 rows"):
        filtered(E.dataset, "age > 99")
    for odd in ({"where": 3}, {"rest": "all"}, {"rest": "population"}, {"where": "age >"}):
        with pytest.raises(BadPlan):
            DataOptions.from_mapping(odd)
    with pytest.raises(BadPlan, match="population of its own"):
        E.plan(data={"where": "age > 3", "rest": "population"}, population={"size": 99})
    assert columns_of('age > 3 and "a ""b" = \'x\'') == ("age", 'a "b')


def drawn(rng: random.Random, depth: int = 0) -> str:
    """Return a condition put together at random."""
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind < 5:
        name, values = rng.choice(
            [("n", ("1", "2.50", "-3", "'4'")), ("t", ("'a'", "'b'", "'it''s'"))]
        )
        pick = [rng.choice(values) for _ in range(3)]
        return rng.choice(
            [
                f"{name} {rng.choice(['=', '<>', '<', '<=', '>', '>='])} {pick[0]}",
                f"{name} {rng.choice(['', 'not '])}in ({', '.join(pick)})",
                f"{name} {rng.choice(['', 'not '])}between {pick[0]} and {pick[1]}",
                f"{name} is {rng.choice(['', 'not '])}missing",
            ]
        )
    if kind == 5:
        return f"not {drawn(rng, depth + 1)}"
    joined = f"{drawn(rng, depth + 1)} {rng.choice(['and', 'or'])} {drawn(rng, depth + 1)}"
    return f"({joined})" if kind == 6 else joined


@pytest.mark.often
def test_both_computations_choose_alike() -> None:
    rng = random.Random(5)
    columns: dict[str, list[str | None]] = {
        "n": [rng.choice(["1", "2.5", "2,50", "-3", "4", None]) for _ in range(40)],
        "t": [rng.choice(["a", "b", "it's", "c", None]) for _ in range(40)],
    }
    columns["n"] = [None if v is None else v.replace(",", ".") for v in columns["n"]]
    case = Case(columns=columns, quasi=("n", "t"), kinds={"n": "number", "t": "text"})
    sizes = {len(rows(case, drawn(rng))) for _ in range(times(600, share=3))}
    assert len(sizes) > times(20, share=2)


def test_a_release_of_other_rows_is_refused(tmp_path: Path) -> None:
    rng = random.Random(3)
    columns: dict[str, list[str | None]] = {
        "age": [str(rng.choice([20, 21, 30, 31])) for _ in range(60)],
        "sex": [rng.choice("FM") for _ in range(60)],
        "ill": [rng.choice(["flu", "cold", "gout"]) for _ in range(60)],
    }
    case = Case(columns=columns, quasi=("age",), sensitive=("ill",), kinds={"age": "number"})
    plan = case.plan(
        data={"where": "sex = 'F'"}, algorithm={"name": "fixed-levels", "levels": {"age": 0}}
    )
    result = run(plan, case.dataset, {})
    assert result.verification.holds
    assert "where" in {check.name for check in result.verification.checks}
    recipe = result.recipe.completed()
    other = {**recipe, "data": {**recipe["data"], "where": "sex = 'M'"}}
    assert not verify(other, case.frame, {}, result.files).holds


RECIPE = """
[data]
where = "ward <> 'C' and age >= 30"
[roles]
identifier = ["ward"]
quasi = ["age"]
sensitive = ["ill"]
[algorithm]
name = "optimal"
max_suppression = 0.5
[[models]]
name = "k-anonymity"
k = 2
[export]
formulas = "neutralise"
"""


def test_from_the_command_line_to_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(9)
    data, recipe, out = (tmp_path / name for name in ("t.csv", "r.toml", "out"))
    lines = [[str(rng.randrange(20, 60)), rng.choice("ABC"), rng.choice("xyz")] for _ in range(80)]
    with data.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["age", "ward", "ill"], *lines])
    recipe.write_text(RECIPE, encoding="utf-8")
    kept = sum(ward != "C" and int(age) >= 30 for age, ward, _ in lines)
    asked = [str(recipe), "--data", str(data)]
    full = str(tmp_path / "full.toml")
    assert main(["run", *asked, "--out", str(out), "--recipe-out", full, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["rows"], figures["rows_outside"]) == (kept, 80 - kept)
    published = list(csv.reader(io.StringIO((out / "release.csv").read_text(encoding="utf-8"))))
    assert len(published) - 1 <= kept
    assert main(["verify", full, "--data", str(data), "--release", str(out)]) == 0
    capsys.readouterr()
    files = ["--release", str(out), "--out", str(tmp_path / "report"), "--format", "json"]
    assert main(["report", full, "--data", str(data), *files]) == 0
    report = tmp_path / "report" / "report.json"
    text = json.loads(report.read_text(encoding="utf-8"))["data"]
    assert text["condition"] == "ward <> 'C' and age >= 30"
    assert text["rows_outside"] == 80 - kept
    # An engine that keeps counts alone refuses by name.
    recipe.write_text(RECIPE + '[engine]\nname = "duckdb"\n', encoding="utf-8")
    assert main(["run", *asked, "--out", str(tmp_path / "other")]) != 0
    assert "a condition on rows" in capsys.readouterr().err


def test_counts_and_tables_obey_the_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "t.csv"
    data.write_text("sex,ward\n" + "F,A\n" * 30 + "F,B\n" * 20 + "M,A\n" * 50, encoding="utf-8")
    recipe = tmp_path / "table.toml"
    recipe.write_text(
        '[data]\nwhere = "sex = \'F\'"\n[table]\ncolumns = ["ward"]\n'
        '[[rules]]\nname = "threshold"\nn = 3\n',
        encoding="utf-8",
    )
    status = main(["table", str(recipe), "--data", str(data), "--out", str(tmp_path / "out")])
    assert status == 0, capsys.readouterr().err
    cells = (tmp_path / "out" / "table.csv").read_text(encoding="utf-8")
    assert "50" in cells
    assert "80" not in cells
    assert Dataset.from_frame(E.frame).rows == 12


@pytest.mark.parametrize("data", [{"missing": "drop", "sample": 0.4}, {"benchmark": 2}], ids=str)
def test_l85_a_sample_of_the_complete_rows_is_the_benchmarks_private_table(
    data: dict[str, Any],
) -> None:
    """Public are all complete rows, private are m of them, drawn without replacement."""
    ages: list[str | None] = ["1", "2", "3", "4", "5", None]
    case = Case(columns={"age": ages, "ill": list("abcdef")}, quasi=("age",), sensitive=("ill",))
    drawn: Counter[tuple[str, ...]] = Counter()
    for number in range(150):
        plan = case.plan(
            algorithm={"name": "fixed-levels", "levels": {"age": 0}},
            data=data,
            seed=number,
        )
        problem = prepare(plan, case.dataset)
        drawn[tuple(sorted(problem.dataset.column("ill").texts().tolist()))] += 1
        assert isinstance(problem.population, Population)
        assert problem.population.size == 5
    assert len(drawn) == 10
    assert all(0 < often < 38 for often in drawn.values())  # 15 each, six deviations above
    for value in "abcde":
        own = sum(often for pair, often in drawn.items() if value in pair)
        assert abs(own / 150 - 2 / 5) < 0.2


SEED = "f3a1952b7c08de4609b8c7d6e5f4a3b2109b8c7d6e5f4a3b2177e01c5a9d2b4f"


def benchmark(**data: Any) -> Any:
    ages: list[str | None] = [*(str(n % 7) for n in range(40)), None]
    case = Case(columns={"age": ages, "ill": [*list("ab" * 20), "a"]}, quasi=("age",))
    plan = case.plan(
        algorithm={"name": "optimal"},
        data=data,
        models=[{"name": "k-map", "k": 2}],
        seed=SEED,
        roles={"quasi": ["age"], "sensitive": ["ill"], "insensitive": [], "identifier": []},
    )
    return run(plan, case.dataset, assess=False), case


def test_a_benchmark_is_one_line_of_a_recipe_and_is_verified() -> None:
    result, case = benchmark(benchmark=10)
    assert result.problem.rows == 10
    assert result.problem.population.size == 40  # the complete ones
    assert result.verification.holds
    completed = result.plan.of_kinds(result.kinds).completed()
    assert completed["data"]["benchmark"] == 10
    assert completed["data"]["missing"] == "drop"
    frame = TextTable.of_frame(case.frame)
    for number in (0, 11):
        other = {**completed, "data": {**completed["data"], "benchmark": number}}
        assert not verify(other, frame, {}, result.files).holds
    # k-map counts the complete rows, of which each age has five or six.
    (model,) = (c for c in result.verification.checks if c.name == "k-map")
    assert model.reached == min(Counter(str(n % 7) for n in range(40)).values())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"benchmark": 1}, "whole numbers from 2"),
        ({"benchmark": 2.5}, "whole numbers from 2"),
        ({"benchmark": True}, "whole numbers from 2"),
        ({"benchmark": 10, "sample": 0.5}, "each draws rows"),
        ({"benchmark": 10, "missing": "keep"}, "from complete rows"),
        ({"benchmark": 10, "where": "age > 1", "rest": "population"}, "makes the complete rows"),
        ({"benchmark": 41}, "the table has 40 complete"),
    ],
)
def test_bad_benchmarks_are_refused(data: dict[str, Any], why: str) -> None:
    with pytest.raises(BadPlan, match=why):
        benchmark(**data)
