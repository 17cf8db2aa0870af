"""Sensitive columns published at a level of their hierarchy: tables recomputed by hand.

Three illnesses of the stomach are three values to a promise that counts them; a reader of the class
learns that everyone there has an illness of the stomach.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_core.base.errors import AnonError, BadPlan, Infeasible
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify
from tests.diversity_twin import equal
from tests.making import Case

STOMACH = [("q1", "ulcer"), ("q1", "gastritis"), ("q1", "cancer of the stomach")]
CHEST = [("q2", "flu"), ("q2", "bronchitis"), ("q2", "pneumonia")]
PAIRS = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]
MIXED = [("q1", "ulcer"), ("q1", "flu"), ("q2", "gastritis"), ("q2", "pneumonia")]
LEVELS = [
    *([value, "stomach", "*"] for value in ("ulcer", "gastritis", "cancer of the stomach")),
    *([value, "chest", "*"] for value in ("flu", "bronchitis", "pneumonia")),
]


def plan_of(case: Case, model: dict[str, Any], level: int | str | None) -> Plan:
    raised = {} if level is None else {"sensitive_levels": {"s": level}}
    return case.plan(
        algorithm={"name": "fixed-levels", "levels": {"q": 0}}, models=[model], **raised
    )


def case_of(rows: list[tuple[str, str | None]]) -> Case:
    return Case(
        columns={"q": [q for q, _ in rows], "s": [s for _, s in rows]},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )


def published(rows: Any, model: dict[str, Any], level: int | str | None) -> Result:
    case = case_of(rows)
    result = run(plan_of(case, model, level), case.dataset, {"s": LEVELS}, assess=False)
    assert result.verification.holds
    return result


def test_values_that_are_alike_are_one_value_to_the_promise() -> None:
    diverse = {"name": "l-diversity", "l": 2}
    assert published([*STOMACH, *CHEST], diverse, None).verdicts[0].reached == 3
    with pytest.raises(Infeasible):
        published([*STOMACH, *CHEST], diverse, 1)
    held = published(MIXED, diverse, 1)
    assert held.verdicts[0].reached == 2
    shown = held.published.to_pandas()
    assert sorted(zip(shown["q"], shown["s"], strict=True)) == [
        ("q1", "chest"),
        ("q1", "stomach"),
        ("q2", "chest"),
        ("q2", "stomach"),
    ]
    assert any("published at level 1" in sentence for sentence in held.cautions)


def test_a_coarser_column_can_be_closer_to_the_table() -> None:
    """Each class has half of either kind of illness, and none of the other class's illnesses."""
    close = {"name": "t-closeness", "t": 0.1}
    with pytest.raises(Infeasible):
        published(MIXED, close, None)  # half of the values are missing from each class: 1/2
    assert published(MIXED, close, 1).verdicts[0].reached == 0


def test_the_distance_by_hierarchy_goes_by_what_is_left_of_it() -> None:
    close = {"name": "t-closeness", "t": 1, "distance": "hierarchical"}
    apart = [*STOMACH, *CHEST]
    # Half of the rows have to go one step of two below the top, and one of one at level 1.
    assert published(apart, close, 1).verdicts[0].reached == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rows", "model", "level"),
    [
        ([*STOMACH, *CHEST], {"name": "l-diversity", "l": 2}, 0),
        (MIXED, {"name": "t-closeness", "t": 0.1}, 1),  # halves of either kind in both classes
        ([*STOMACH, *CHEST], {"name": "t-closeness", "t": 0.1}, 2),  # one kind in each class
    ],
)
def test_the_least_level_that_will_do_is_found(
    rows: Any, model: dict[str, Any], level: int
) -> None:
    found = published(rows, model, "search")
    figures = figures_of(found)
    assert figures["level_search"]["levels"] == {"s": level}
    assert figures["level_search"]["proven"]
    assert [t["ended"] for t in figures["level_search"]["tried"]] == ["infeasible"] * level
    assert figures["sensitive_levels"] == ({"s": level} if level else {})
    same = published(rows, model, level or None)
    assert found.files == same.files
    assert found.plan == same.plan
    case = case_of(rows)
    asked = plan_of(case, model, "search")
    assert Plan.from_toml(asked.as_toml()) == asked
    again = verify(asked.completed(), case.dataset.frame(), {"s": LEVELS}, found.files)
    assert again.holds


def test_where_no_level_will_do_there_is_no_release() -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]
    plan = plan_of(case, {"name": "l-diversity", "l": 3}, "search")
    with pytest.raises(Infeasible, match="At no level of 's'"):
        run(plan, case.dataset, {"s": LEVELS})
    with pytest.raises(BadPlan, match="has none"):
        run(plan, case.dataset)


def test_the_search_agrees_with_the_definition_level_by_level() -> None:
    """On drawn tables, the least level at which every class is close to the table."""
    labels: list[dict[str, str]] = [{line[0]: line[n] for line in PAIRS} for n in range(3)]
    found = Counter[int]()
    for number in range(12):
        rng = np.random.default_rng(number)
        rows = [
            (str(q), str(v))
            for q, v in zip(rng.choice(2, 6), rng.choice([*"abcd"], 6), strict=True)
        ]
        plan = plan_of(case_of(rows), {"name": "t-closeness", "t": 0.3}, "search")
        result = run(plan, case_of(rows).dataset, {"s": PAIRS}, assess=False)
        assert result.level_search is not None
        level = result.level_search.levels["s"]
        kept = [
            all(
                equal([up[s] for q, s in rows if q == own], [up[s] for _, s in rows])
                <= Fraction(3, 10)
                for own in {q for q, _ in rows}
            )
            for up in labels
        ]
        assert kept.index(True) == level
        assert result.level_search.proven
        found[level] += 1
    assert set(found) == {0, 1, 2}


def test_missing_values_stay_missing() -> None:
    rows: list[tuple[str, str | None]] = [*MIXED, ("q1", None)]
    shown = published(rows, {"name": "l-diversity", "l": 2}, 1).published.to_pandas()
    assert sorted(shown["s"].fillna("")) == ["", "chest", "chest", "stomach", "stomach"]


@pytest.mark.parametrize(
    ("now", "then"),
    [(b"stomach", b"chest"), (b"stomach", b"ulcer"), (b"chest", b"flu"), (b"chest", b"*")],
)
def test_another_label_is_found(now: bytes, then: bytes) -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]
    plan = plan_of(case, {"name": "entropy-l-diversity", "l": 1}, 1)
    result = run(plan, case.dataset, {"s": LEVELS}, assess=False)
    frame, recipe = case.dataset.frame(), plan.completed()
    assert verify(recipe, frame, {"s": LEVELS}, result.files).holds
    changed = {name: text.replace(now, then, 1) for name, text in result.files.items()}
    assert not verify(recipe, frame, {"s": LEVELS}, changed).holds
    without = {key: value for key, value in recipe.items() if key != "sensitive_levels"}
    assert not verify(without, frame, {"s": LEVELS}, result.files).holds


def test_it_stands_in_the_recipe() -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]
    plan = plan_of(case, {"name": "l-diversity", "l": 2}, 1)
    again = Plan.from_toml(plan.as_toml())
    assert again.sensitive_levels == {"s": 1}
    assert again == plan


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"s": 3}, "levels 1 to 2"),
        ({"s": 0}, "from 1 up"),
        ({"s": True}, "from 1 up"),
        ({"q": 1}, "not sensitive only"),
    ],
)
def test_what_is_no_level_is_refused(levels: dict[str, Any], words: str) -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]

    def attempt() -> None:
        plan = case.plan(models=[{"name": "l-diversity", "l": 2}], sensitive_levels=levels)
        run(plan, case.dataset, {"s": LEVELS}, assess=False)

    with pytest.raises(BadPlan, match=words):
        attempt()


def test_a_column_without_a_hierarchy_has_no_level() -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]
    with pytest.raises(AnonError, match="it has none"):
        run(plan_of(case, {"name": "l-diversity", "l": 2}, 1), case.dataset, assess=False)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "anatomy", "k-member"])
def test_other_techniques_publish_the_labels_too(algorithm: str) -> None:
    case = case_of(MIXED)  # type: ignore[arg-type]
    promise = {"name": "frequency-l-diversity", "l": 2}
    plan = case.plan(algorithm={"name": algorithm}, models=[promise], sensitive_levels={"s": 1})
    result = run(plan, case.dataset, {"s": LEVELS}, assess=False)
    assert result.verification.holds
    everything = b"".join(result.files.values())
    assert b"stomach" in everything
    assert b"ulcer" not in everything
