"""Averages that replace values: what the files alone confirm, and what the rows behind them do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.base.errors import NotVerified
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms import microaggregation as aggregation
from anon_core.verification.checks import verify
from anon_core.verification.findings import Check
from anon_core.verification.rows.membership import Witness
from tests.making import Case

AGES = ["20", "22", "30", "34", "60", "80"]
PEOPLE = pd.DataFrame({"age": AGES, "sex": list("FFMMMM"), "ill": list("abcdef")})
SEX = {"sex": [["F", "*"], ["M", "*"]]}
TRUE = ["21.0,F,a", "21.0,F,b", "32.0,M,c", "32.0,M,d", "70.0,M,e", "70.0,M,f"]
STRAIGHT = list(range(6))


def recipe(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "roles": {"quasi": ["age", "sex"], "sensitive": ["ill"]},
        "types": {"age": "number"},
        "algorithm": {"name": "microaggregation", "statistic": "mean", "decimals": 1},
        "models": [{"name": "k-anonymity", "k": 2}],
        "release": {"cells": "averaged"},
    }
    return given | changes


def csv(rows: list[str]) -> bytes:
    return "\n".join(["age,sex,ill", *rows, ""]).encode()


def broken(rows: list[str], private: pd.DataFrame = PEOPLE, **changes: Any) -> set[str]:
    found = verify(recipe(**changes), private, SEX, {"release.csv": csv(rows)})
    return {check.name for check in found.broken}


def groups(
    rows: list[str], place: list[int], private: pd.DataFrame = PEOPLE, **changes: Any
) -> list[Check]:
    """Return what comes of saying which row is behind which."""
    codes, texts = zip(*(pd.factorize(private[n]) for n in private.columns), strict=True)
    witness = Witness(
        texts=dict(zip(private.columns, (list(t) for t in texts), strict=True)),
        codes=dict(zip(private.columns, codes, strict=True)),
        place=np.array(place),
    )
    found = verify(recipe(**changes), private, SEX, {"release.csv": csv(rows)}, witness=witness)
    return [check for check in found.checks if check.name == "groups"]


def test_true_averages_hold() -> None:
    assert broken(TRUE) == set()
    (found,) = groups(TRUE, STRAIGHT)
    assert found.holds
    # Rows of equal texts may stand for each other; nothing else may.
    (swapped,) = groups(TRUE, [1, 0, 2, 3, 4, 5])
    assert (swapped.holds, swapped.column, swapped.rows) == (False, "ill", (1, 2))


def test_without_the_groups_of_the_run_averages_are_not_decided() -> None:
    found = verify(recipe(), PEOPLE, SEX, {"release.csv": csv(TRUE)})
    assert not found.broken
    assert [check.name for check in found.unchecked] == ["groups"]
    assert not found.holds


def test_a_witness_of_another_table_is_not_believed() -> None:
    other = PEOPLE.assign(age=[*AGES[:-1], "81"])
    codes = {n: np.arange(6) for n in PEOPLE.columns}
    values = Witness(texts={n: list(other[n]) for n in other}, codes=codes, place=np.arange(6))
    found = verify(recipe(), PEOPLE, SEX, {"release.csv": csv(TRUE)}, witness=values)
    assert {check.name for check in found.broken} == {"groups"}


def test_averages_that_are_values_of_the_table_have_their_decimals_too() -> None:
    people = PEOPLE.assign(age=["20", "22", "21", "20", "22", "21"], sex=list("FFFMMM"))
    rows = [f"21.0,{sex},{ill}" for sex, ill in zip("FFFMMM", "abcdef", strict=True)]
    assert broken(rows, people) == set()
    assert broken([row.replace("21.0", "21") for row in rows], people) == {"spelling"}


@pytest.mark.parametrize(
    ("age", "why"),
    [
        (["21.0", "32.0", "80.0"], "80 is above the mean of any two"),
        (["20.0", "32.0", "70.0"], "20 is below the mean of any two"),
        (["21.0", "40.0", "70.0"], "the sum is another"),
        (["21.0", "about 32", "70.0"], "a text"),
        (["21.0", "[30, 34]", "70.0"], "a range"),
        (["21.0", "", "70.0"], "a gap that the table does not have"),
    ],
)
def test_what_no_groups_could_have_is_found_in_the_files_alone(age: list[str], why: str) -> None:
    rows = [
        ",".join(
            ['"' + age[i // 2] + '"' if "," in age[i // 2] else age[i // 2], *r.split(",")[1:]]
        )
        for i, r in enumerate(TRUE)
    ]
    rows.sort(key=lambda r: r.replace('"', ""))
    assert "averages" in broken(rows), why


def test_averages_of_other_rows_are_found_from_the_rows_behind_them() -> None:
    # The same numbers, each the mean of some group, but dealt to other rows of the same sex.
    wrong = ["21.0,F,a", "21.0,F,b", "32.0,M,e", "32.0,M,f", "70.0,M,c", "70.0,M,d"]
    assert broken(wrong) == set()
    (found,) = groups(wrong, [0, 1, 4, 5, 2, 3])
    assert (found.name, found.holds, found.column) == ("groups", False, "age")
    assert found.rows == (3, 4, 5, 6)


def test_cells_that_cover_and_cells_that_are_exact_are_looked_at_too() -> None:
    other = [TRUE[0].replace("F", "M"), *TRUE[1:]]
    assert {"coverage", "k-anonymity"} <= broken(other)
    columns = {check.column for check in groups(other, STRAIGHT)}
    assert "sex" in columns
    changed = [TRUE[0].replace(",a", ",f"), *TRUE[1:]]
    assert "coverage" in broken(changed)
    assert "ill" in {check.column for check in groups(changed, STRAIGHT)}


def test_k_is_counted_by_equal_texts() -> None:
    assert broken(["20.0,F,a", "22.0,F,b", *TRUE[2:]]) == {"k-anonymity"}


@pytest.mark.parametrize("place", [[0, 1, 2, 3, 4, 4], [0, 1, 2, 3, 4, -1], [0, 1, 2, 3, 4]])
def test_rows_without_a_place_of_their_own_are_not_decided(place: list[int]) -> None:
    (found,) = groups(TRUE, place)
    assert not found.holds
    assert "Treated as broken." in found.sentence


def test_unknown_statistics_and_decimals_are_not_believed() -> None:
    odd = {"name": "microaggregation", "statistic": "mode"}
    assert "averages" in broken(TRUE, algorithm=odd)
    assert not groups(TRUE, STRAIGHT, algorithm=odd)[0].holds
    rough = [r.replace("21.0", "21.3") for r in TRUE]
    assert not groups(rough, STRAIGHT)[0].holds
    rounded = {"name": "microaggregation", "decimals": 0}
    assert groups(rough, STRAIGHT, algorithm=rounded)[0].holds
    for decimals in (-3, True, 99, "1"):
        given = {"name": "microaggregation", "decimals": decimals}
        assert not groups(rough, STRAIGHT, algorithm=given)[0].holds


def test_medians() -> None:
    median = {"name": "microaggregation", "statistic": "median"}
    three = ["22.0,*,a", "22.0,*,b", "22.0,*,c", "60.0,M,d", "60.0,M,e", "60.0,M,f"]
    assert broken(three, algorithm=median) == set()
    assert groups(three, STRAIGHT, algorithm=median)[0].holds
    assert not groups(three, STRAIGHT)[0].holds
    far = [r.replace("60.0", "75.0") for r in three]
    assert "averages" in broken(far, algorithm=median)


def test_gaps_and_hidden_numbers() -> None:
    private = pd.DataFrame(
        {"age": [None, None, "30", None], "sex": list("FFMM"), "ill": list("abcd")}
    )
    rows = [",F,a", ",F,b", "*,M,c", "*,M,d"]
    assert broken(rows, private) == set()
    place = list(range(4))
    assert groups(rows, place, private)[0].holds
    for wrong in ([",F,a", ",F,b", "30.0,M,c", "30.0,M,d"], ["*,F,a", "*,F,b", "*,M,c", "*,M,d"]):
        assert not groups(wrong, place, private)[0].holds


def test_promises_about_who_fits_are_not_decided_by_averages() -> None:
    models = [{"name": "one-k-anonymity", "k": 3}, {"name": "delta-presence"}]
    assert broken(TRUE, models=models) == {"one-k-anonymity", "delta-presence"}
    assert broken(TRUE, models=[{"name": "k-k-anonymity", "k": 2}]) == set()


def test_a_run_whose_averages_are_not_confirmed_releases_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Case(
        columns={"x": ["1", "2", "8", "9"], "s": list("abcd")},
        quasi=("x",),
        kinds={"x": "number", "s": "text"},
    )
    plan = case.plan(algorithm={"name": "microaggregation"})
    assert run(plan, case.dataset, assess=False).verification.holds
    right = aggregation.means

    def swapped(*given: Any) -> np.ndarray:
        return right(*given)[::-1]

    monkeypatch.setattr("anon_core.techniques.algorithms.microaggregation.means", swapped)
    with pytest.raises(NotVerified, match="average of 'x' that is not its group's"):
        run(plan, case.dataset, assess=False)
