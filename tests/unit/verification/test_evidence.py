"""What a promise is given to be recomputed, and how its finding is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.verification import registry
from anon_core.verification.checks import verify
from anon_core.verification.evidence import Evidence, class_check
from anon_core.verification.findings import Check, Verification
from anon_core.verification.registry import Form, recomputes
from anon_core.verification.text.kinds import number_of
from tests.unit.verification.test_verify import written

PEOPLE = pd.DataFrame(
    {
        "zip": ["11", "11", "12", "12", "21", "21", "22"],
        "cost": ["1", "1.0", "", "3", "2", "3", "7"],
        "guard": ["a", "b", "b", "b", "c", "", "c"],
    }
)
LEVELS = {"zip": [["11", "1", "*"], ["12", "1", "*"], ["21", "2", "*"], ["22", "2", "*"]]}
RELEASE = [("1", ""), ("1", "1"), ("1", "1"), ("1", "3"), ("2", "2"), ("2", "3")]
ALL: tuple[Form, ...] = ("whole", "averaged", "permuted")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = registry.second_computations()
    yield
    registry._found.clear()
    registry._found.update(before)


def judged(
    judge: Callable[[Evidence], list[Check]],
    *,
    rows: list[tuple[str, ...]] = RELEASE,
    forms: tuple[Form, ...] = ALL,
    release: Mapping[str, Any] | None = None,
    public: pd.DataFrame | None = None,
    **model: Any,
) -> Verification:
    registry._found.pop("probe", None)
    recomputes("probe", forms=forms, needs_public=public is not None)(judge)
    plan = {
        "roles": {"quasi": ["zip"], "sensitive": ["cost"]},
        "types": {"cost": "number", "zip": "text"},
        "algorithm": {"max_suppression": 1.0},
        "models": [{"name": "probe", **model}],
        "release": release or {},
    }
    header = ["zip", "cost"] if len(rows[0]) == 2 else ["group", "zip", "cost"]
    return verify(plan, PEOPLE, LEVELS, {"release.csv": written(header, rows)}, public)


def seen(look: Callable[[Evidence], Any], **given: Any) -> Any:
    """Return what a promise sees of its evidence."""
    found: list[Any] = []

    def judge(evidence: Evidence) -> list[Check]:
        found.append(look(evidence))
        return []

    answer = judged(judge, **given)
    assert found, [check.sentence for check in answer.checks if check.name == "probe"]
    return found[0]


def refused(look: Callable[[Evidence], Any], **given: Any) -> str:
    """Return why a promise is undecided."""

    def judge(evidence: Evidence) -> list[Check]:
        look(evidence)
        return []

    (check,) = (check for check in judged(judge, **given).checks if check.name == "probe")
    assert not check.holds
    assert check.sentence.endswith("Treated as broken.")
    return check.sentence


def test_parameters_are_the_decimals_that_were_written() -> None:
    assert seen(lambda e: e.number("t"), t=0.1) == Fraction(1, 10)
    assert seen(lambda e: e.number("t"), t=1e-7) == Fraction(1, 10**7)
    assert seen(lambda e: (e.integer("k"), e.text("word"), e.text("none")), k=3, word="x") == (
        3,
        "x",
        "",
    )


@pytest.mark.parametrize("given", [None, True, "0.1", float("nan"), float("inf"), -0.1, 1.1])
def test_a_parameter_that_is_no_such_number_leaves_the_promise_undecided(given: Any) -> None:
    answer = refused(lambda e: e.number("t", least=0, most=1), t=given)
    assert answer.startswith("probe cannot be recomputed: t is not a number")
    assert "t is not a number" in refused(lambda e: e.number("t", above=0.1), t=0.1)


@pytest.mark.parametrize("given", [None, True, 2.0, "2", 1])
def test_a_whole_number_is_one(given: Any) -> None:
    assert "k is not a whole number from 2 up" in refused(
        lambda e: e.integer("k", least=2), k=given
    )


@pytest.mark.parametrize("given", [None, True, 2])
def test_a_text_is_one(given: Any) -> None:
    assert "word is not a text" in refused(lambda e: e.text("word"), word=given)


def test_what_classes_show() -> None:
    counted = seen(lambda e: e.histogram("cost"))
    assert counted.classes == 2
    assert [counted.of(which) for which in range(2)] == [
        {None: 1, number_of("1"): 2, number_of("3"): 1},
        {number_of("2"): 1, number_of("3"): 1},
    ]
    assert counted.sizes.tolist() == [4, 2]
    assert counted.distinct.tolist() == [3, 2]
    assert counted.most.tolist() == [2, 1]
    assert counted.known.of(0) == {number_of("1"): 2, number_of("3"): 1}
    assert counted.known.sizes.tolist() == [3, 2]


def test_spellings_of_a_number_are_one_value() -> None:
    rows = [("1", "1"), ("1", "1.0"), ("2", "2")]
    counted = seen(lambda e: e.histogram("cost"), rows=rows)
    assert counted.of(0) == {number_of("1"): 2}


def test_a_class_that_shows_nothing_known_stays_a_class() -> None:
    known = seen(lambda e: e.histogram("cost").known, rows=[("1", ""), ("2", "2")])
    assert (known.sizes.tolist(), known.most.tolist()) == ([0, 1], [0, 1])
    assert (known.of(0), known.distinct.tolist()) == ({}, [0, 1])


def test_a_rule_is_asked_once_for_classes_that_show_the_same() -> None:
    asked: list[dict[Any, int]] = []

    def rule(counts: Mapping[Any, int]) -> tuple[bool, float]:
        asked.append(dict(counts))
        return len(counts) > 1, float(len(counts))

    rows = [("1", "1"), ("1", "3"), ("2", "3"), ("2", "1"), ("*", "1")]
    broken, reached = seen(lambda e: e.histogram("cost").each(rule), rows=rows)
    assert broken.tolist() == [False, False, True]
    assert reached.tolist() == [2, 2, 1]
    assert len(asked) == 2


def test_the_private_table_before_anything_was_hidden() -> None:
    assert seen(lambda e: e.original("cost")) == {
        None: 1,
        number_of("1"): 2,
        number_of("2"): 1,
        number_of("3"): 2,
        number_of("7"): 1,
    }
    assert seen(lambda e: e.original("guard")) == {"a": 1, "b": 3, "c": 2, None: 1}
    assert "it needs column 'own' of the table" in refused(lambda e: e.original("own"))


def test_who_can_stand_behind_a_class() -> None:
    found = seen(lambda e: e.behind("guard"))
    # The row of 7 is suppressed, since no class shows 7.
    assert [found.counted.of(which) for which in range(2)] == [
        {("a",): 1, ("b",): 3},
        {("c",): 1, (None,): 1},
    ]
    assert found.sure.tolist() == [True, True]
    both = seen(lambda e: e.behind("cost", "guard"))
    assert both.counted.of(1) == {(number_of("2"), "c"): 1, (number_of("3"), None): 1}


def test_where_it_is_not_sure_who_stands_behind_a_class() -> None:
    fewer = [row for row in RELEASE if row != ("1", "1")] + [("1", "1")]
    found = seen(lambda e: e.behind("guard"), rows=sorted(fewer))
    assert found.sure.tolist() == [False, True]  # one of two with 1 is hidden
    assert found.counted.of(0) == {("a",): 1, ("b",): 3}
    overlapping = [("*", "3"), ("1", "1"), ("1", "1"), ("2", "2"), ("2", "3")]
    found = seen(lambda e: e.behind("guard"), rows=overlapping)
    assert found.counted.of(0) == {("b",): 1, (None,): 1}
    assert found.sure.tolist() == [False, True, False]


def test_whom_classes_cover() -> None:
    people = pd.DataFrame({"zip": ["11"] * 5 + ["12", "12", "21", "21", "22", "22"]})
    assert seen(lambda e: e.people_inside().tolist(), public=people) == [7, 4]
    for without in (None, pd.DataFrame({"zap": ["11"]})):
        assert "no public table with all quasi-identifiers was given" in refused(
            lambda e: e.people_inside(), public=without
        )
    assert "3 rows of the table have no person" in refused(
        lambda e: e.people_inside(), public=pd.DataFrame({"zip": ["11", "12", "12", "22"]})
    )


PERMUTED = {"linked": "nothing", "cells": "coarsened"}
GROUPS = [
    ("1", "1", ""),
    ("1", "1", "1"),
    ("1", "1", "1"),
    ("1", "1", "3"),
    ("2", "2", "2"),
    ("2", "2", "3"),
    ("2", "2", "7"),
]


def test_groups_are_classes_where_columns_are_permuted() -> None:
    found = seen(lambda e: (e.form, e.sizes.tolist()), rows=GROUPS, release=PERMUTED)
    assert found == ("permuted", [4, 3])
    counted = seen(lambda e: e.histogram("cost"), rows=GROUPS, release=PERMUTED)
    assert counted.of(0) == {None: 1, number_of("1"): 2, number_of("3"): 1}
    for look in (lambda e: e.behind("guard"), lambda e: e.people_inside()):
        assert "cannot be recomputed" in refused(look, rows=GROUPS, release=PERMUTED)


def test_a_form_it_was_not_written_for_is_undecided() -> None:
    answer = refused(lambda e: None, rows=GROUPS, release=PERMUTED, forms=("whole",))
    assert answer.startswith("'probe' cannot be recomputed where columns are permuted separately.")
    averages = {"cells": "averaged"}
    answer = refused(lambda e: None, release=averages, forms=("whole",))
    assert answer.startswith("probe of averages cannot be recomputed.")


def test_what_each_class_reaches_becomes_a_check() -> None:
    def judge(evidence: Evidence) -> list[Check]:
        reached = evidence.histogram("cost").distinct
        return [
            class_check(
                evidence,
                "x = 3 for 'cost'",
                reached < 3,
                reached,
                bound=3.0,
                measured="fewest values",
                column="cost",
            )
        ]

    (check,) = (c for c in judged(judge).checks if c.name == "probe")
    assert (check.holds, check.bound, check.reached) == (False, 3.0, 2.0)
    assert (check.column, check.rows) == ("cost", (5, 6))
    assert check.sentence == "x = 3 for 'cost' is broken in 1 class, fewest values 2 (rows 5, 6)."
    (check,) = (c for c in judged(judge, rows=RELEASE[:4]).checks if c.name == "probe")
    assert (check.holds, check.reached, check.rows) == (True, 3.0, ())
    assert check.sentence == (
        "Recomputed from the published file: x = 3 for 'cost' holds (fewest values 3)."
    )
    permuted = judged(judge, rows=GROUPS[:4] + GROUPS[4:6] + [GROUPS[5]], release=PERMUTED)
    (check,) = (c for c in permuted.checks if c.name == "probe")
    assert (
        check.sentence == "x = 3 for 'cost' is broken in 1 group, fewest values 2, first group 2."
    )


def test_nothing_published_holds_for_nobody() -> None:
    def judge(evidence: Evidence) -> list[Check]:
        none = np.empty(0, dtype=np.int64)
        assert evidence.sizes.tolist() == []
        return [class_check(evidence, "x = 3", none < 3, none, bound=3.0, measured="fewest")]

    registry._found.pop("probe", None)
    recomputes("probe", forms=ALL)(judge)
    plan = {
        "roles": {"quasi": ["zip"]},
        "algorithm": {"max_suppression": 1.0},
        "models": [{"name": "probe"}],
    }
    found = verify(plan, PEOPLE, LEVELS, {"release.csv": b"zip\n"})
    (check,) = (c for c in found.checks if c.name == "probe")
    assert check.holds
    assert "holds for no one" in check.sentence


def test_without_the_quasi_identifiers_nothing_is_told() -> None:
    registry._found.pop("probe", None)

    def judge(evidence: Evidence) -> list[Check]:
        evidence.sizes  # noqa: B018
        return []

    recomputes("probe", forms=ALL)(judge)
    plan = {"roles": {"quasi": ["zip"], "sensitive": ["cost"]}, "models": [{"name": "probe"}]}
    found = verify(plan, PEOPLE, LEVELS, {"release.csv": b"cost\n1\n"})
    (check,) = (c for c in found.checks if c.name == "probe")
    assert "quasi-identifiers are missing" in check.sentence


def test_a_promise_of_which_nothing_is_told_does_not_hold() -> None:
    assert "nothing was looked at" in refused(lambda e: None)


def test_an_error_of_a_promise_itself_is_no_finding() -> None:
    def judge(evidence: Evidence) -> list[Check]:
        raise KeyError("a mistake")

    with pytest.raises(KeyError):
        judged(judge)
