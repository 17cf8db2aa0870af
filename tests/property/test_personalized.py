"""Everyone's own k and guarding nodes: searches and refusals against plain loops."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import family
from anon_core.data.hierarchy import from_rows
from anon_core.methods.reidentification.personal_k import rows_that_can_stay
from anon_core.pipeline.runner import run
from anon_core.release.problem import Problem, build_problem
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.models.personalized import Personalized
from tests import identity_twin as twin
from tests import naive
from tests.making import Case
from tests.often import often, times
from tests.property.test_up_front import removals
from tests.strategies import cases, cells_of

BUDGETS = (0.0, 0.1, 0.3)
#: Values, the two groups they stand in, and all.
TREE = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
LINES: dict[str, Any] = {line[0]: line for line in TREE}


@st.composite
def drawn(draw: st.DrawFn, level: str, rows: tuple[int, int] = (4, 19)) -> Case:
    """Draw a table with a private column, an identifier so that it is not published."""
    case = draw(cases(rows=rows, quasi=(1, 3)))
    values, own = case.column("s0"), list[str | None]()
    if level == "own-k":
        least, more = draw(st.integers(1, 3)), draw(st.integers(0, 3))
        likely = [str(k) for k in range(least, least + more + 1)]
        own += draw(cells_of(likely, len(values)))
    else:
        guards = [None, None, None, 0, 1, 2][draw(st.integers(0, 2)) :]
        at = draw(cells_of(guards, len(values)))
        own += [None if a is None else LINES[v][a] for v, a in zip(values, at, strict=True)]
    return replace(
        case,
        columns={**case.columns, "own": own},
        identifier=("own",),
        kinds={**case.kinds, "own": "number" if level == "own-k" else "text"},
        levels={**case.levels, "s0": TREE},
    )


def problem_of(case: Case) -> Problem:
    built = {n: from_rows(case.dataset.column(n), rows) for n, rows in case.levels.items()}
    return build_problem(case.dataset, case.roles, built, private=("own",))


def model_of(level: str, p: float) -> Personalized:
    return Personalized(column="own", level=level, p=p, sensitive="s0" if level == "guard" else "")


def rule_of(case: Case, level: str, p: float) -> twin.Keep:
    if level == "own-k":
        return twin.keep_own([int(k) for k in case.column("own")])
    return twin.keep_guards(case.column("s0"), case.column("own"), LINES, Fraction(str(p)))


@pytest.mark.often
@pytest.mark.parametrize("level", ["own-k", "guard"])
def test_the_optimal_search_finds_what_enumeration_finds(level: str) -> None:
    decided = 0

    @settings(max_examples=times(80, share=4))
    @given(case=drawn(level), p=st.sampled_from([0.2, 0.25, 0.5, 0.6, 0.75, 0.9]))
    def tried(case: Case, p: float) -> None:
        nonlocal decided
        problem, model = problem_of(case), model_of(level, p)
        every = twin.EveryNode(case, rule_of(case, level, p), (), ("loss", "discernibility"))
        for metric, budget in itertools.product(("loss", "discernibility"), BUDGETS):
            search = Optimal.from_mapping({"metric": metric, "max_suppression": budget})
            nodes = every.satisfied(budget)
            if not nodes:
                with pytest.raises(Infeasible):
                    search.run(problem, [model], Context())
                continue
            outcome = search.run(problem, [model], Context())
            cost, best = every.best(metric, nodes)
            assert outcome.account.cost == pytest.approx(float(cost), abs=1e-12)
            assert outcome.account.node == dict(zip(case.quasi, best, strict=True))
            assert outcome.release.suppressed == every.removed[best]
            decided += 1

    tried()
    assert decided > 20


@pytest.mark.often
@pytest.mark.parametrize("level", ["own-k", "guard"])
def test_what_is_refused_at_first_is_impossible(level: str) -> None:
    """By every grouping of every choice of rows; for own k nothing else is refused."""
    refusals = 0

    @settings(max_examples=times(200))
    @given(
        case=drawn(level, (2, 5)),
        p=st.sampled_from([0.2, 0.4, 0.5, 0.75]),
        removable=st.integers(0, 2),
    )
    def tried(case: Case, p: float, removable: int) -> None:
        nonlocal refusals
        model = model_of(level, p)
        try:
            model.check(problem_of(case), removable)
            refused = False
        except Infeasible:
            refused = True
        refusals += refused
        if level == "guard" and not refused:
            return
        rule = rule_of(case, level, p)
        possible = any(
            gone <= removable and all(rule({("",): list(part)}, {}) for part in parts)
            for gone, parts in removals(len(case.rows))
        )
        assert refused != possible

    tried()
    assert refusals > 3


@often(400)
@given(own=st.lists(st.integers(1, 7), min_size=1, max_size=8))
def test_as_many_rows_stay_as_can(own: list[int]) -> None:
    kinds, count = np.unique(own, return_counts=True)
    best = max((i for i in range(1, len(own) + 1) if sorted(own)[i - 1] <= i), default=0)
    assert rows_that_can_stay(kinds, count.astype(np.int64)) == best


@pytest.mark.often
@pytest.mark.parametrize("level", ["own-k", "guard"])
def test_any_technique_gives_it_or_says_that_it_found_none(level: str) -> None:
    """What is released keeps the promise by the rows behind each class."""
    released = 0
    names = ("optimal", "mondrian", "k-member", "local-recoding", "cell-suppression", "samarati")

    @settings(max_examples=times(12))
    @given(case=drawn(level, (6, 14)))
    def tried(case: Case) -> None:
        nonlocal released
        promise = {"name": "personalized", "column": "own", "level": level, "p": 0.8}
        promise |= {"sensitive": "s0"} if level == "guard" else {}
        for name in names:
            assert name in family("algorithm")
            plan = case.plan(
                algorithm={"name": name}, models=[promise], hierarchies={"s0": "s0.csv"}
            )
            try:
                result = run(plan, case.dataset, case.levels, assess=False)
            except (Infeasible, NotFound):
                continue
            released += 1
            assert all(v.holds for v in result.verdicts)
            assert "own" not in result.tables["release"].column_names
            (check,) = [c for c in result.verification.checks if c.name == "personalized"]
            assert check.holds

    tried()
    assert released > 3


def test_removing_and_merging() -> None:
    """The counterexamples of the model's words."""
    assert twin.own_holds([0], [1, 3])
    assert not twin.own_holds([0, 1], [1, 3])
    values, guards = ["b", "a", "c"], ["", "x", ""]
    half = Fraction(1, 2)
    assert twin.guards_hold([0], values, guards, LINES, half)
    assert twin.guards_hold([1, 2], values, guards, LINES, half)
    assert not twin.guards_hold([0, 1, 2], values, guards, LINES, half)
    assert naive.MISSING == ""
