"""Membership: presolve, the integer program, the counting, and what happens when time runs out."""

from __future__ import annotations

import math
import threading
import time
from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.context import Context, now
from anon_core.base.errors import BadInput
from anon_core.methods.membership import presolve as backbone
from anon_core.methods.membership.bucket import BucketProblem, from_types
from anon_core.methods.membership.decisions import NO, UNKNOWN, YES, Answer, decide
from anon_core.methods.membership.equations_from_view import PeopleByLeaf
from anon_core.methods.membership.exact_chances import count, shares
from anon_core.methods.membership.integer_program import Targets, relaxed, solve
from anon_core.methods.membership.neighbour_solutions import first_solution, local_witnesses
from anon_core.methods.membership.presolve import parts, presolve
from anon_core.methods.membership.settling_order import log_ways
from tests.membership_twin import from_people, random_bucket
from tests.often import times


def late() -> Context:
    return Context(deadline=now() - 1.0)


def stopped() -> Context:
    event = threading.Event()
    event.set()
    return Context(cancel=event)


def square(side: int, copies: int = 1) -> BucketProblem:
    """Every combination of two columns of `side` values; each value is published `side // 2`."""
    codes = np.array([(a, b) for a in range(side) for b in range(side)], dtype=np.int32)
    half = np.full(side, side // 2, dtype=np.int64)
    return BucketProblem(
        codes=codes, count=np.full(side * side, copies, dtype=np.int64), margins=(half, half)
    )


def test_one_possible_absence_among_very_many_choices_is_seen() -> None:
    codes = np.array([(0, 0), (1, 0), (0, 1), (1, 1)], dtype=np.int32)
    people = np.array([1, 40, 40, 80], dtype=np.int64)
    # With a = x_A: x_B = x_C = 40 − a and x_D = 40 + a.
    problem = BucketProblem(
        codes=codes,
        count=people,
        margins=(np.array([40, 80], dtype=np.int64), np.array([40, 80], dtype=np.int64)),
    )
    counted = count(problem.system)
    ways = {a: Fraction(math.comb(40, 40 - a) ** 2 * math.comb(80, 40 + a)) for a in (0, 1)}
    rest = ways[0] / (ways[0] + ways[1])
    assert shares(problem, counted.mean)[0] == pytest.approx(float(1 - rest), rel=1e-12)
    assert counted.least[0] == 0
    assert decide(problem).all_present[0] == NO


def test_the_twentieth_decimal_decides() -> None:
    # A ring in which leaving out A forces every link to its single extreme choice.
    chain = 14
    codes: list[tuple[int, int]] = []
    people: list[int] = []
    for i in range(chain):
        codes += [(i, i), (i, (i + 1) % chain)]
        people += [1 if i == 0 else 30, 30]
    margin = np.full(chain, 30, dtype=np.int64)
    problem = BucketProblem(
        codes=np.array(codes, dtype=np.int32),
        count=np.array(people, dtype=np.int64),
        margins=(margin, margin),
    )
    # x(i, i) = a for all i and x(i, i + 1) = 30 − a, with a ≤ 1 because of A.
    none = Fraction(1)
    one = Fraction(30 ** (2 * chain - 1))
    delta = one / (none + one)
    assert 0 < 1 - delta < Fraction(1, 10**20)
    assert float(delta) == 1.0
    counted = count(problem.system)
    assert shares(problem, counted.mean)[0] == 1.0  # the float says so …
    assert counted.least[0] == 0  # … and the live edges do not
    decision = decide(problem)
    assert decision.all_present[0] == NO
    assert decision.answer[0] == Answer.NEITHER


def test_large_numbers_do_not_overflow() -> None:
    logs = log_ways(3000, False, 0, 3000)
    assert np.isfinite(logs).all()
    assert logs[1500] == pytest.approx(math.log(math.comb(3000, 1500)), rel=1e-12)
    problem, _ = from_types(
        np.array([(0,), (0,)], dtype=np.int32),
        np.array([2000, 1000], dtype=np.int64),
        [np.array([1500], dtype=np.int64)],
    )
    assert shares(problem, count(problem.system).mean).tolist() == [0.5]


def test_a_table_that_is_no_part_of_the_public_one_is_infeasible() -> None:
    problem, _ = from_people([("a", "x"), ("b", "y")], [["a", "b"], ["x", "x"]])
    decision = decide(problem)
    assert not decision.feasible
    assert set(decision.answer.tolist()) == {Answer.INFEASIBLE}
    assert decision.all_present.tolist() == [UNKNOWN] * len(decision.people)
    assert decision.none_present.tolist() == [UNKNOWN] * len(decision.people)
    counted = count(problem.system)
    assert counted.infeasible.all()
    assert np.isnan(shares(problem, counted.mean)).all()


def test_contradictions_that_only_whole_numbers_show_are_infeasible() -> None:
    # The pairs (0,0,1), (0,1,0), (1,0,0), (1,1,1): halves meet every sum, whole people do not.
    codes = np.array([(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)], dtype=np.int32)
    one = np.ones(2, dtype=np.int64)
    problem = BucketProblem(codes=codes, count=np.ones(4, dtype=np.int64), margins=(one, one, one))
    assert not presolve(problem.system).infeasible.any()
    decision = decide(problem)
    assert set(decision.answer.tolist()) == {Answer.INFEASIBLE}
    assert decision.broken.all()
    assert count(problem.system).infeasible.all()


def test_infeasible_parts_leave_the_others_decided() -> None:
    problem, type_of = from_people(
        [("a", "x"), ("b", "y"), ("c", "z")], [["a", "a", "c"], ["x", "x", "z"]]
    )
    decision = decide(problem)
    assert decision.answer[type_of[0]] == Answer.INFEASIBLE
    assert decision.answer[type_of[2]] == Answer.ONE


@pytest.mark.parametrize("context", [late, stopped])
def test_what_is_not_decided_in_time_is_undecided(context) -> None:  # type: ignore[no-untyped-def]
    problem = square(6)
    decision = decide(problem, context())
    assert set(decision.answer.tolist()) == {Answer.UNDECIDED}
    assert decision.feasible
    assert set(decision.some_present.tolist()) == {UNKNOWN}
    assert not count(problem.system, context()).counted.any()


@pytest.mark.parametrize("context", [late, stopped])
def test_what_presolve_settles_stays_decided(context) -> None:  # type: ignore[no-untyped-def]
    problem, type_of = from_people([(1, 1), (1, 2), (2, 2)], [[1, 2], [2, 1]])
    answer = decide(problem, context()).answer
    assert [Answer(answer[t]) for t in type_of] == [Answer.ONE, Answer.ZERO, Answer.ONE]


def test_a_large_solve_is_left_when_cancelled() -> None:
    problem = square(60, copies=2)
    event = threading.Event()
    threading.Timer(0.2, event.set).start()
    start = time.monotonic()
    decision = decide(problem, Context(cancel=event))
    assert UNKNOWN in decision.all_present or time.monotonic() - start < 60.0
    assert YES not in decision.all_present  # by symmetry every type can be missing


def test_some_copy_is_more_than_each_copy() -> None:
    problem, _ = from_types(
        np.array([(0,), (1,)], dtype=np.int32),
        np.array([3, 2], dtype=np.int64),
        [np.array([2, 2], dtype=np.int64)],
    )
    decision = decide(problem)
    assert decision.all_present.tolist() == [NO, YES]
    assert decision.some_present.tolist() == [YES, YES]
    assert [Answer(a) for a in decision.answer] == [Answer.NEITHER, Answer.ONE]


def test_without_zero_no_answer_claims_neither() -> None:
    problem = square(2)
    decision = decide(problem, zero=False)
    assert set(decision.all_present.tolist()) == {NO}
    full = decide(problem)
    assert set(full.answer.tolist()) == {Answer.NEITHER}


def test_a_known_solution_changes_no_answer() -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        problem, truth = random_bucket(rng, people=14, values=3)
        known = BucketProblem(
            codes=problem.codes, count=problem.count, margins=problem.margins, known=truth
        )
        bare, seeded = decide(problem), decide(known)
        for name in ("all_present", "none_present", "some_present", "answer"):
            assert np.array_equal(getattr(bare, name), getattr(seeded, name))


@pytest.mark.often
def test_large_parts_go_through_local_witnesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbone, "_LARGE", 1)
    monkeypatch.setattr(backbone, "_HUGE", 1)
    rng = np.random.default_rng(5)
    for _ in range(times(40, share=4)):
        problem, truth = random_bucket(rng, people=30, values=4)
        counted = count(problem.system)
        assert counted.counted.all()
        for known in (None, truth):
            asked = BucketProblem(
                codes=problem.codes, count=problem.count, margins=problem.margins, known=known
            )
            decision = decide(asked)
            assert np.array_equal(decision.all_present == YES, counted.least == problem.count)
            assert np.array_equal(decision.none_present == YES, counted.most == 0)
            assert np.array_equal(decision.some_present == YES, counted.least > 0)


def test_witnesses_are_solutions() -> None:
    rng = np.random.default_rng(6)
    problem, truth = random_bucket(rng, people=400, values=12)
    full = np.flatnonzero(truth == problem.count)
    targets = Targets(
        variable=full, bound=problem.count[full] - 1, up=np.zeros(len(full), dtype=np.bool_)
    )
    system = problem.system
    first = first_solution(system, targets, Context())
    assert first.x is not None
    assert system.solves(first.x)
    left = targets
    for x in local_witnesses(system, targets, truth, Context()):
        assert system.solves(x)
        assert left.met(x).any()
        left = left.chosen(~left.met(x))


def test_fractions_prove_that_there_is_no_solution() -> None:
    problem, _ = from_people([("a", "x"), ("b", "y")], [["a", "b"], ["x", "x"]])
    nothing = np.empty(0, dtype=np.int64)
    targets = Targets(variable=nothing, bound=nothing, up=nothing.astype(np.bool_))
    generator = np.random.default_rng(0)
    assert relaxed(problem.system, targets, Context(), generator).state == "none"
    assert relaxed(problem.system, targets, late(), generator).state == "unknown"
    assert solve(problem.system, targets, Context(), must=False).state == "none"


def test_a_part_that_is_too_large_is_not_counted() -> None:
    problem = square(5)
    assert not count(problem.system, max_states=3).counted.any()
    assert not count(problem.system, max_edges=3).counted.any()
    assert count(problem.system).counted.all()


def test_what_does_not_belong_together_is_refused() -> None:
    one = np.ones(1, dtype=np.int64)
    with pytest.raises(BadInput, match="shape"):
        BucketProblem(codes=np.zeros((1, 2), dtype=np.int32), count=one, margins=(one,))
    with pytest.raises(BadInput, match="outside"):
        BucketProblem(codes=np.full((1, 1), 4, dtype=np.int32), count=one, margins=(one,))
    with pytest.raises(BadInput, match="known"):
        BucketProblem(
            codes=np.zeros((1, 1), dtype=np.int32), count=one, margins=(one,), known=0 * one
        )


def test_parts_are_those_of_joining_one_pair_after_another() -> None:
    rng = np.random.default_rng(17)
    together = 0
    for _ in range(60):
        size, many = int(rng.integers(1, 7)), int(rng.integers(0, 6))
        rows = rng.integers(-1, size, (many, 3)).astype(np.int32)
        if many and rng.random() < 0.5:  # all of them add to one row
            rows[:, int(rng.integers(3))] = int(rng.integers(size))
        label = list(range(many + size))
        for j, line in enumerate(rows.tolist()):
            for r in line:
                if r >= 0:
                    old, new = label[many + r], label[j]
                    label = [new if at == old else at for at in label]
        names = {at: i for i, at in enumerate(dict.fromkeys(label))}
        found, of_variable, of_row = parts(rows, size)
        assert found == len(names)
        assert [*of_variable.tolist(), *of_row.tolist()] == [names[at] for at in label]
        together += found == 1
    assert together > 5


def test_people_within_leaves_are_those_of_a_mask() -> None:
    rng = np.random.default_rng(18)
    codes = rng.integers(-1, 4, (40, 3)).astype(np.int32)
    people = PeopleByLeaf(codes, [4, 4, 4])
    for _ in range(20):
        leaves = [np.append(False, rng.random(4) < 0.6) for _ in range(3)]
        wanted = [t for t, c in enumerate(codes) if all(leaves[d][c[d] + 1] for d in range(3))]
        assert people.within(leaves).tolist() == wanted
