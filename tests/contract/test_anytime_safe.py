"""Cancelled, or out of time, at any moment: a valid release or nothing, never an invalid one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled, Infeasible, NotFound
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.table import Dataset
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from tests.asked import lost
from tests.contract.settings import formed
from tests.making import BUDGET, MECHANISM, Case, for_mechanisms, random_case
from tests.often import EVERY, times
from tests.presence_cases import public_of

#: What coarsens nothing finds at once whatever it finds.
ALGORITHMS = [
    name for name, found in family("algorithm").items() if cast(type[Algorithm], found).needs.models
]
#: What must return the best it has when time is up, whatever the moment.
ANYTIME = (
    "annealing",
    "anytime",
    "cell-suppression",
    "genetic",
    "k-member",
    "k-optimize",
    "local-recoding",
    "matching",
    "mondrian",
    "single-dimension",
    "top-down",
    "utility-halving",
)
DRAWS = times(12, share=12)


def measured(algorithm: str) -> bool:
    """Say whether a technique's runs are measured: at every change those of one in three are."""
    return EVERY or ALGORITHMS.index(algorithm) % 3 == 0


class CancelledLater(threading.Event):
    """A stop that comes at the n-th look at it, and stays."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after
        self.looks = 0

    def is_set(self) -> bool:
        self.looks += 1
        return self.looks > self.after


@dataclass(frozen=True, kw_only=True)
class LateAfter(Context):
    """A deadline that passes at the n-th look at the clock."""

    after: int
    looks: list[None] = field(default_factory=list[None])

    def out_of_time(self) -> bool:
        self.looks.append(None)
        return len(self.looks) > self.after


def drawn(algorithm: str, seed: int) -> tuple[Case, Plan, Dataset]:
    """Return a table of a few dozen distinct tuples, and a plan the technique can keep."""
    rng = np.random.default_rng([137, seed])
    case = random_case(rng, rows=60, quasi=3, missing=False, kinds=("text", "number", "ordered"))
    spread = {"s0": [*"abcd"] * 15}  # so that every technique can keep its promise
    case = replace(case, columns=case.columns | spread)
    chosen = cast(type[Algorithm], find("algorithm", algorithm))
    settings = formed(chosen)
    if any(p.name == "max_suppression" for p in chosen.parameters()):
        # Coded tails leave the values between as they are, so that most rows stay rare.
        settings["max_suppression"] = 1.0 if chosen.shape.codes_tails else 0.3
    if algorithm == "earlier-parts":
        settings["small"] = "remove"
    asked: list[object] = [{"name": "k-anonymity", "k": 3}]
    if chosen.shape.permutes:
        asked = [{"name": "frequency-l-diversity", "l": 2, "column": "s0"}]
    if algorithm in ("combined", "mpalm"):
        asked = [{"name": "bucket-size", "k": 3}, {"name": "delta-presence", "delta_max": 0.9}]
    if algorithm == "matching":
        asked = [{"name": "k-k-anonymity", "k": 3}]
    if chosen.shape.mechanism:
        case, settings, asked = (
            for_mechanisms(case, 10),
            {**MECHANISM, "levels_epsilon": 0.1},
            [BUDGET],
        )
    plan = case.plan(algorithm={"name": algorithm, **settings}, models=asked)
    return case, plan, public_of(case, rng, 90)[1]


def valid(result: Result, plan: Plan) -> None:
    assert result.verification.holds
    assert all(v.holds for v in result.verdicts)
    rows = result.problem.rows
    assert 0 < int(result.release.grouping.sizes.sum()) <= rows


@pytest.mark.often
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cancelled_at_any_moment(algorithm: str) -> None:
    case, plan, public = drawn(algorithm, 10)
    whole = CancelledLater(10**9)
    asked: dict[str, Any] = {"population": public, "assess": measured(algorithm)}
    valid(run(plan, case.dataset, case.levels, context=Context(cancel=whole), **asked), plan)
    assert whole.looks > 2
    rng = np.random.default_rng([139, len(algorithm)])
    ended = 0
    for after in [0, 1, *rng.integers(2, whole.looks, DRAWS).tolist()]:
        stop = CancelledLater(after)
        try:
            result = run(plan, case.dataset, case.levels, context=Context(cancel=stop), **asked)
        except Cancelled:
            ended += 1
            continue
        valid(result, plan)
    assert ended >= 2


#: Whose many steps take seconds; cut short they are looked at in the long run.
SLOW = {"cell-suppression", "matching"}
TIMED = [
    pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in ALGORITHMS
]


@pytest.mark.often
@pytest.mark.parametrize("algorithm", TIMED)
def test_out_of_time_at_any_moment(algorithm: str) -> None:
    """Of one table anywhere in a run, of the other while it searches."""
    released = 0
    for seed in (5, 10):
        case, plan, public = drawn(algorithm, seed)
        unhurried = LateAfter(after=10**9)
        asked: dict[str, Any] = {"population": public, "assess": seed == 10 and measured(algorithm)}
        try:
            valid(run(plan, case.dataset, case.levels, context=unhurried, **asked), plan)
        except (Infeasible, NotFound):
            continue
        looks = len(unhurried.looks)
        assert looks > 0 or algorithm not in ANYTIME
        rng = np.random.default_rng([149, seed])
        for after in {0, *rng.integers(0, max(looks, 1), DRAWS).tolist()}:
            late = LateAfter(after=after)
            try:
                result = run(plan, case.dataset, case.levels, context=late, **asked)
            except (Infeasible, NotFound):  # openly nothing, where a search has nothing yet
                assert algorithm not in ANYTIME
                continue
            valid(result, plan)
            released += 1
    assert released > 0 or algorithm not in ANYTIME


@pytest.mark.often
def test_time_that_ends_while_a_release_is_measured_is_no_error_of_the_workbench() -> None:
    case, plan, public = drawn("combined", 10)
    unhurried = LateAfter(after=10**9)
    run(plan, case.dataset, case.levels, context=unhurried, population=public)
    values: list[str] = []
    for after in range(0, len(unhurried.looks), 1 if EVERY else 3):
        try:
            late = LateAfter(after=after)
            valid(run(plan, case.dataset, case.levels, context=late, population=public), plan)
        except NotFound as error:
            values.append(error.message)
    assert any("time was up before the workbench had measured" in message for message in values)


@pytest.mark.parametrize("method", ["forest", "balls"])
def test_cell_methods_out_of_time_at_any_moment(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small steps between two looks at the clock, so that it strikes half-way."""
    monkeypatch.setattr("anon_core.methods.clusters.cell_groups._PAIRS", 10)
    case, plan, _ = drawn("cell-suppression", 10)
    plan = Plan.from_mapping(
        plan.as_mapping() | {"algorithm": {"name": "cell-suppression", "method": method}}
    )
    unhurried = LateAfter(after=10**9)
    best = run(plan, case.dataset, case.levels, context=unhurried, assess=False)
    assert len(unhurried.looks) > 3
    losses = [lost(best)]
    for after in range(len(unhurried.looks)):
        late = LateAfter(after=after)
        result = run(plan, case.dataset, case.levels, context=late, assess=False)
        valid(result, plan)
        losses.append(lost(result))
    if method == "forest":  # without any time more is lost; a cover by balls may do worse by itself
        assert losses[1] > losses[0]


@pytest.mark.parametrize("algorithm", ["mondrian", "utility-halving", "k-member"])
def test_what_is_cut_so_far_stays_cut(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer a partition may take, the more classes it leaves."""
    monkeypatch.setattr("anon_core.methods.partition.parallel_split.WORK", 300)
    monkeypatch.setattr("anon_core.methods.partition.mondrian_cuts.WORK", 100)
    monkeypatch.setattr("anon_core.methods.clusters.cluster_rows.WORK", 1_000)
    case, plan, _ = drawn(algorithm, 10)
    unhurried = LateAfter(after=10**9)
    whole = run(plan, case.dataset, case.levels, context=unhurried, assess=False)
    classes = len(whole.class_sizes)
    found: list[int] = []
    for after in range(len(unhurried.looks)):
        late = LateAfter(after=after)
        result = run(plan, case.dataset, case.levels, context=late, assess=False)
        valid(result, plan)
        found.append(len(result.class_sizes))
    assert found[0] == 1
    assert found == sorted(found)
    assert 1 < max(found) <= classes
