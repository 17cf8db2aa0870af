"""The lessons that do sums: their figures are the sources', and those of models and metrics."""

from __future__ import annotations

import pytest

from anon_core.teaching.learn import Step, find_lesson, traced
from anon_core.teaching.learn.pictures import Bars, Table


def steps_of(name: str, example: int = 0) -> dict[str, Step]:
    lesson = find_lesson(name)
    trace = traced(lesson, lesson.examples[example])
    return {step.title.split(":")[0]: step for step in lesson.steps(trace)}


def bars_of(step: Step) -> list[float]:
    return [bar.value for p in step.pictures if isinstance(p, Bars) for bar in p.bars]


def table_of(step: Step) -> Table:
    return next(p for p in step.pictures if isinstance(p, Table))


def test_salaries_are_as_far_as_li_li_and_venkatasubramanian_say() -> None:
    """Their tables 3 to 5: 0.375 for salaries of 3 to 5 thousand, and 0.167-closeness after."""
    steps = steps_of("t-closeness")
    assert max(bars_of(steps["Values in their order"])) == pytest.approx(0.375)
    assert max(bars_of(steps["A release that keeps t = 0.17"])) == pytest.approx(1 / 6)
    assert bars_of(steps["All values are equally far"]) == pytest.approx([2 / 3] * 3)
    shown = table_of(steps["Values in their order"])
    carried = [float(row.cells[3].text) for row in shown.rows if row.cells[3].text]
    assert sum(carried) / 8 == pytest.approx(0.375, abs=1e-3)


def test_a_hierarchy_makes_values_of_one_kind_near() -> None:
    steps = steps_of("t-closeness", 1)
    near, equal = (
        bars_of(steps[t]) for t in ("Values in a hierarchy", "All values are equally far")
    )
    assert all(one <= other + 1e-9 for one, other in zip(near, equal, strict=True))
    assert min(near) < min(equal)


def test_one_class_meets_some_models_and_breaks_others() -> None:
    """A-06: distinct 2, entropy 0.637 below ln 2, 2 not below 2 · 1, a share of 2/3."""
    steps = steps_of("diversity")
    assert "The sum is 0.637. The class breaks it." in steps["Entropy, l = 2"].words
    assert "r₁ = 2, and 2 · 1 = 2" in steps["Recursive, c = 2, l = 2"].words
    assert "2/3 = 0.667" in steps["(α, k), α = 0.5, k = 2"].words
    every = table_of(steps["Every class, every model"])
    rows = {row.label: {cell.text for cell in row.cells} for row in every.rows}
    assert rows.pop("distinct, l = 2") == {"meets"}
    assert len(rows) == 4
    assert all(verdicts == {"breaks"} for verdicts in rows.values())


def test_costs_are_those_of_toths_figures() -> None:
    """T-20: DM 34 and 22, AG 8 and 6; C_AVG and GCP as they are defined."""
    steps = steps_of("costs")
    compared = table_of(steps["Two releases compared"])
    rows = {row.label: [cell.text for cell in row.cells] for row in compared.rows}
    assert rows == {
        "DM": ["34", "22"],
        "C_AVG": ["2", "1.33"],
        "AG": ["8", "6"],
        "GCP": ["0.5", "0.188"],
        "precision": ["0.5", "0.625"],
    }
    by_hand = {
        "DM": 34.0,
        "AG": 8.0,
        "NCP and GCP": 8.0,
    }
    for title, total in by_hand.items():
        shown = table_of(steps[title])
        assert sum(float(row.cells[-1].text) for row in shown.rows) == pytest.approx(total)


def test_precision_counts_every_column_alike() -> None:
    """The share of its hierarchy that each column climbed, averaged over columns, not levels."""
    lesson = find_lesson("costs")
    for example in lesson.examples:
        trace = traced(lesson, example)
        question = lesson.exercises(trace)[1].question
        node = trace["levels"].result.account.node
        assert node is not None
        raised = [node[h.column] / h.height for h in trace.problem.quasi_hierarchies]
        assert question.answer == f"number:{round(100 * (1 - sum(raised) / len(raised)))}"


def test_queries_are_answered_factor_by_factor() -> None:
    """P-01 to P-04, E-01: each group's factors multiply to what is added up."""
    steps = steps_of("queries")
    factors = {
        title: [[cell.text for cell in row.cells] for row in table_of(steps[title]).rows]
        for title in ("Generalization", "Anatomy", "Permutation")
    }
    assert factors == {
        "Generalization": [
            ["5 rows · 1/2 · 1/2 · 1/5", "0.25"],
            ["4 rows · 1/4 · 1/2 · 1/4", "0.125"],
        ],
        "Anatomy": [["2 rows · 1/5", "0.4"], ["2 rows · 1/4", "0.5"]],
        "Permutation": [
            ["5 rows · 4/5 · 3/5 · 1/5", "0.48"],
            ["4 rows · 3/4 · 1/2 · 1/4", "0.375"],
        ],
    }
    assert steps["How far each is off"].question is not None
    assert steps["How far each is off"].question.answer == "way:Anatomy"
    assert "3/4 × 2/4" in steps["Permutation"].printed
