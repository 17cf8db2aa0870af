"""Top and bottom coding: tails by share and by limit, what is published, and what is refused."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import BadHierarchy, BadPlan, Infeasible
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from tests.making import PATIENTS, Case, random_case
from tests.often import times


def ages(*values: str | None, **more: list[str]) -> Case:
    columns: dict[str, list[str | None]] = {"age": list(values)}
    columns |= {name: list(own) for name, own in more.items()}
    return Case(columns=columns, quasi=tuple(columns), kinds={"age": "number"})


def released(case: Case, k: int = 2, **given: object) -> Result:
    plan = case.plan(
        algorithm={"name": "top-bottom-coding", **given},
        models=[{"name": "k-anonymity", "k": k}],
    )
    return run(plan, case.dataset, case.levels)


def shown(result: Result) -> dict[str, int]:
    rows = list(csv.reader(io.StringIO(result.csv.decode())))[1:]
    return dict(Counter(row[0] for row in rows))


TEN = ages("1", "2", "30", "30", "31", "31", "32", "32", "80", "90")


def test_the_shortest_tails_with_the_share_asked() -> None:
    middle = {"30": 2, "31": 2, "32": 2}
    assert shown(released(TEN, bottom=0.2, top=0.2)) == {"≤2": 2, "≥80": 2} | middle
    # Fewer than two rows: 11 % of ten rows takes the second as well, 10 % does not.
    assert shown(released(TEN, bottom=0.11, top=0.11)) == {"≤2": 2, "≥80": 2} | middle
    alone = released(TEN, bottom=0.1, top=0.1)
    assert shown(alone) == middle
    assert alone.release.suppressed == 4
    assert shown(released(TEN, bottom=0.0, top=0.4)) == {"30": 2, "31": 2, "≥32": 4}


def test_tails_that_meet_leave_one_value() -> None:
    assert shown(released(TEN, bottom=0.5, top=0.4)) == {"≤31": 6, "≥32": 4}
    assert shown(released(TEN, bottom=0.9, top=0.9)) == {"*": 10}
    assert shown(released(TEN, bottom=1.0, top=0.0)) == {"≤90": 10}


def test_limits_are_published_as_they_are_written() -> None:
    found = released(TEN, limits={"age": {"low": 10, "high": 75}})
    assert shown(found) == {"≤10": 2, "30": 2, "31": 2, "32": 2, "≥75": 2}
    assert shown(released(TEN, limits={"age": {"high": 31.5}}, bottom=1.0)) == {
        "30": 2,
        "31": 2,
        "≥31.5": 4,
    }
    assert shown(released(TEN, limits={"age": {"low": 500}})) == {"≤500": 10}
    with pytest.raises(Infeasible, match="10 of 10 rows"):
        released(
            replace(TEN, columns={"age": [str(i) for i in range(10)]}),
            limits={"age": {"low": -5, "high": 100}},
        )


def test_dates_and_gaps() -> None:
    days: list[str | None] = ["2001-01-01", "2002-02-02", "2020-05-05", "2020-05-05", None, None]
    case = Case(columns={"born": days}, quasi=("born",), kinds={"born": "date"})
    assert shown(released(case, limits={"born": {"low": "2010-01-01"}})) == {
        "≤2010-01-01": 2,
        "2020-05-05": 2,
        "": 2,
    }
    assert shown(released(case, bottom=0.4, top=0.0)) == {"≤2002-02-02": 2, "2020-05-05": 2, "": 2}


@pytest.mark.parametrize(
    "limits",
    [
        "age = 1..2..3",
        {"age": 5},
        {"age": {}},
        {"age": {"low": 9, "high": 3}},
        {"age": {"low": "a", "high": 9}},
        {"age": {"low": "", "high": 9}},
        {"age": {"from": 1}},
        {"age": {"low": float("nan")}},
        {"sex": {"low": 1, "high": 2}},
        {"x": {"low": 1}},
    ],
)
def test_limits_that_are_none_are_refused(limits: object) -> None:
    case = ages("1", "2", "3", sex=["F", "M", "F"])
    with pytest.raises(BadPlan, match="top-bottom-coding: "):
        released(case, limits=limits)


def test_a_budget_and_a_text_that_means_something_else_are_respected() -> None:
    with pytest.raises(Infeasible, match="4 of 10 rows") as refused:
        released(TEN, bottom=0.1, top=0.1, max_suppression=0.3)
    assert refused.value.best == 0.4
    values = ("1", "2", "30", "31", "32", "80", "90")
    levels = {"age": [(v, "≤2" if int(v) < 31 else "more", "*") for v in values]}
    with pytest.raises(BadHierarchy, match="is not true of"):
        released(replace(TEN, levels=levels), bottom=0.2)  # type: ignore[arg-type]


@pytest.mark.often
def test_random_tables_keep_what_lies_between() -> None:
    rng = np.random.default_rng(239)
    done = 0
    for _ in range(times(60, share=3)):
        case = random_case(rng, rows=40, quasi=2)
        low, high = rng.uniform(0, 0.5, 2)
        try:
            result = released(case, 2, bottom=float(low), top=float(high))
        except Infeasible:
            continue
        done += 1
        assert result.verification.holds
        for name in case.quasi:
            texts = result.published.column(name).to_pylist()
            own = Counter("" if v is None else v for v in case.columns[name])
            tails = [t for t in texts if t[:1] in "≤≥*" and t]
            if case.kinds[name] != "number":
                assert not Counter(texts) - own
                continue
            numbers = [float(v) for v in case.columns[name] if v is not None]
            for text in set(tails) - {"*"}:
                limit = float(text[1:])
                inside = [v for v in numbers if (v <= limit if text[0] == "≤" else v >= limit)]
                assert len(inside) >= (low if text[0] == "≤" else high) * len(numbers) - 1e-9
                assert texts.count(text) <= len(inside)
            assert not Counter(t for t in texts if t not in tails) - own
    assert done > times(20, share=3)


def test_a_wrong_tail_is_found() -> None:
    frame = pd.DataFrame({"age": ["1", "2", "50", "60"]})
    recipe = {
        "roles": {"quasi": ["age"]},
        "types": {"age": "number"},
        "algorithm": {"name": "top-bottom-coding", "max_suppression": 1.0},
        "models": [{"name": "k-anonymity", "k": 2}],
        "release": {"tails": "coded"},
    }

    def broken(*cells: str) -> set[str]:
        content = "\n".join(["age", *cells, ""]).encode()
        return {c.name for c in verify(recipe, frame, {}, {"release.csv": content}).broken}

    assert broken("≤2", "≤2", "≥50", "≥50") == set()
    assert broken("≤1", "≤1", "≥50", "≥50") == {"coverage"}
    assert broken("≤2", "≤2", "≥55", "≥55") == {"coverage", "spelling"}
    assert broken("≤2", "≤2", "≥old", "≥old") == {"coverage", "spelling"}
    assert broken("≤2", "≤2") == set()


def test_a_tail_covers_all_of_a_population_beyond_its_limit() -> None:
    case = ages("1", "2", "30", "30", "80", "90")
    public = pd.DataFrame({"age": ["1", "2", "0", "3", "30", "30", "31", "76", "80", "90", "99"]})
    people = Dataset.from_frame(public, kinds={"age": "number"})
    plan = case.plan(
        algorithm={"name": "top-bottom-coding", "limits": {"age": {"low": 5, "high": 75}}}
    )
    result = run(plan, case.dataset, population=people)
    found = result.problem.population
    assert found is not None
    pool = result.release.vocabularies["age"]
    leaves = found.hierarchies["age"].leaves
    low, high = found.cover(pool)
    covered = {t: leaves[a : b + 1] for t, a, b in zip(pool.texts, low, high, strict=True)}
    assert covered == {
        "≤5": ("0", "1", "2", "3"),
        "30": ("30",),
        "≥75": ("76", "80", "90", "99"),
    }
    journalist = next(a for a in result.attacks if a.attack == "journalist")
    assert journalist.per_class.tolist() == pytest.approx([1 / 4, 1 / 2, 1 / 4])


def test_the_patients_of_the_recipe() -> None:
    result = released(PATIENTS, 2, bottom=0.5, top=0.5)
    assert result.verification.holds
    assert {a.attack for a in result.attacks} >= {"prosecutor", "homogeneity"}


def test_a_tail_ends_at_its_limit_and_at_no_part_of_it() -> None:
    frame = pd.DataFrame({"age": ["1", "2", "50", "60"]})

    def spelled(*cells: str, **limits: object) -> bool:
        recipe = {
            "roles": {"quasi": ["age"]},
            "types": {"age": "number"},
            "algorithm": {"max_suppression": 1.0, "limits": {"age": limits}},
            "models": [{"name": "k-anonymity", "k": 1}],
            "release": {"tails": "coded"},
        }
        content = "\n".join(["age", *cells, ""]).encode()
        found = verify(recipe, frame, {}, {"release.csv": content})
        return next(c.holds for c in found.checks if c.name == "spelling")

    assert spelled("≤24", "≤24", "≥45.5", "≥45.5", low=24, high=45.5)
    assert not spelled("≤2", "≤2", "≥45.5", "≥45.5", low=24, high=45.5)  # a part of the limit
    assert not spelled("≤24", "≤24", "≥5.5", "≥5.5", low=24, high=45.5)
    assert not spelled("≤45.5", "≤45.5", "≥24", "≥24", low=24, high=45.5)  # the other side's
    assert not spelled("1", "2", "≥50", "≥50", low=24)  # a side that is not coded


def test_without_a_technique_that_codes_them_tails_are_no_spelling() -> None:
    frame = pd.DataFrame({"age": ["1", "2", "50", "60"]})
    recipe = {
        "roles": {"quasi": ["age"]},
        "types": {"age": "number"},
        "algorithm": {"name": "mondrian", "limits": {"age": {"low": 2}}},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    content = "\n".join(["age", "50", "60", "≤2", "≤2", ""]).encode()
    found = verify(recipe, frame, {}, {"release.csv": content})
    assert {c.name for c in found.broken} == {"spelling"}
