"""Attacks on classes whose cells overlap, against counting single people and rows."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from anon_core.attacks.journalist import Journalist
from anon_core.attacks.marketer import Marketer
from anon_core.attacks.prosecutor import Prosecutor
from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.job.runner import run
from anon_core.overlap import fitting_rows as overlap
from anon_core.overlap.fitting_people import expected_inverse, matched
from anon_core.release.attack_result import AttackResult
from anon_core.release.grouping import group_runs
from anon_core.release.release import Release, one_block
from anon_core.release.vocabulary import of_boxes
from anon_core.words.phrases import against_threshold
from tests.asked import attacked
from tests.making import Case, random_case

CONTEXT = Context()


def boxed(case: Case, group: np.ndarray, population: int | None = None) -> Release:
    """Return a release in which each group of quasi tuples says what covers it; -1 is removed."""
    problem = case.problem(population=population)
    frequency = problem.frequency
    vocabularies, cells = {}, {}
    classes = int(group.max(initial=-1)) + 1
    for d, name in enumerate(problem.quasi):
        codes = frequency.run_codes[:, d]
        low = np.array([codes[group == g].min() for g in range(classes)], dtype=np.int32)
        high = np.array([codes[group == g].max() for g in range(classes)], dtype=np.int32)
        hierarchy, kind = problem.hierarchies[name], problem.dataset.column(name).kind
        vocabularies[name], cells[name] = of_boxes(hierarchy, kind, low, high, as_nodes=False)
    grouping = group_runs(frequency, group.astype(np.int64), classes)
    return one_block(problem, grouping, vocabularies, cells)


def drawn(seed: int, *, removed: float = 0.0, population: int | None = None) -> Release:
    rng = np.random.default_rng([223, seed])
    case = random_case(rng, rows=int(rng.integers(5, 40)))
    tuples = len(case.problem().frequency.run_count)
    group = rng.integers(0, int(rng.integers(1, 9)), tuples)
    group[rng.random(tuples) < removed] = -1
    group[0] = 0
    kept = group >= 0
    group[kept] = np.unique(group[kept], return_inverse=True)[1]
    return boxed(case, group, population)


def counted(release: Release) -> tuple[list[int], list[int], list[int], bool]:
    """Count row by row.

    Return, for every published row, the rows that fit its own person, the people who fit it and
    the rows that say the same; and whether a person fits rows that say different things.
    """
    problem = release.problem
    frequency = problem.frequency
    people = frequency.codes[frequency.row_key, : len(problem.quasi)].tolist()
    member = release.grouping.of_rows(frequency, np.random.default_rng(0)).tolist()
    shown = {
        i: tuple(release.cells[name][m] for name in problem.quasi)
        for i, m in enumerate(member)
        if m >= 0
    }

    def fit(who: int, row: int) -> bool:
        pools = [release.vocabularies[name] for name in problem.quasi]
        return all(
            p.lo[c] <= v <= p.hi[c] for p, c, v in zip(pools, shown[row], people[who], strict=True)
        )

    everyone = range(len(people))
    rows = [sum(fit(i, r) for r in shown) for i in shown]
    fitting = [sum(fit(i, r) for i in everyone) for r in shown]
    alike = [sum(shown[r] == shown[i] for r in shown) for i in shown]
    overlapping = any(len({shown[r] for r in shown if fit(i, r)}) > 1 for i in everyone)
    return rows, fitting, alike, overlapping


def one(results: object) -> AttackResult:
    (found,) = cast(list[AttackResult], results)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_chances_count_what_fits(seed: int) -> None:
    release = drawn(seed)
    problem, view = release.problem, release.view
    rows, fitting, alike, overlapping = counted(release)
    classes = len(matched(view).sizes)
    known = one(Prosecutor(threshold=0.3).run(*attacked(problem, view), CONTEXT))
    linked = one(Marketer().run(*attacked(problem, view), CONTEXT))
    assert known.worst == 1 / min(rows)
    assert known.succeeded == pytest.approx(sum(1 / m for m in rows))
    assert known.at_risk == sum(1 / m > 0.3 for m in rows)
    assert linked.succeeded == pytest.approx(sum(1 / m for m in fitting))
    assert known.rate == known.succeeded / problem.rows
    assert "upper bound" not in known.sentence + linked.sentence
    assert not known.upper_bound
    assert not linked.upper_bound
    assert (
        overlap.fits(problem.frequency, view, matched(view), CONTEXT).rows_of_person is not None
    ) == (overlapping)
    if not overlapping:  # to the last digit what sizes of classes say
        assert (known.rate, known.succeeded) == (classes / problem.rows, classes)
        assert known.per_class.tolist() == (1.0 / matched(view).sizes).tolist()
        assert linked.per_class.tolist() == known.per_class.tolist()
    assert known.succeeded <= classes + 1e-9
    assert sorted(alike) <= sorted(rows)


def test_both_kinds_of_release_are_drawn() -> None:
    kinds = [counted(drawn(seed))[3] for seed in range(60)]
    assert kinds.count(True) >= 15
    assert kinds.count(False) >= 15


@pytest.mark.parametrize("seed", range(40))
def test_hidden_rows_that_fit_published_ones_leave_an_upper_bound(seed: int) -> None:
    release = drawn(seed, removed=0.3)
    problem, view = release.problem, release.view
    rows, fitting, _, _ = counted(release)
    known = one(Prosecutor(threshold=0.3).run(*attacked(problem, view), CONTEXT))
    assert known.worst >= 1 / min(rows)
    assert known.succeeded >= sum(1 / m for m in rows) - 1e-9
    assert known.at_risk >= sum(1 / m > 0.3 for m in rows)
    assert known.at_risk <= known.eligible == len(rows)
    assert known.succeeded <= len(matched(view).sizes) + 1e-9
    assert known.upper_bound == ("upper bound" in known.sentence)
    if not known.upper_bound:
        assert known.worst == 1 / min(rows)
        assert known.succeeded == pytest.approx(sum(1 / m for m in rows))
    found = overlap.fits(problem.frequency, view, matched(view), CONTEXT)
    if found.rows_of_person is not None:
        linked = one(Marketer().run(*attacked(problem, view), CONTEXT))
        assert linked.succeeded == pytest.approx(sum(1 / m for m in fitting))


def test_what_is_hidden_is_left_open_at_times_only() -> None:
    told = [drawn(seed, removed=0.3) for seed in range(40)]
    said = [one(Prosecutor().run(*attacked(r.problem, r.view), CONTEXT)).sentence for r in told]
    assert 3 <= sum("Rows that are suppressed fit published ones" in s for s in said) <= 37


@pytest.mark.parametrize("seed", range(10))
def test_a_stated_population_is_estimated_from_who_fits(seed: int) -> None:
    release = drawn(seed, population=500)
    _, fitting, _, _ = counted(release)
    result = one(Journalist().run(*attacked(release.problem, release.view), CONTEXT))
    chance = expected_inverse(np.array(fitting), release.problem.rows / 500)
    assert result.succeeded == pytest.approx(float(chance.sum()))
    assert result.worst == pytest.approx(float(chance.max()))
    assert result.estimated


@pytest.mark.parametrize("limit", ["_MOST", "_MOST_PAIRS"])
def test_too_many_classes_are_bounded_by_their_sizes(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlap, limit, 1)
    release = next(r for r in map(drawn, range(60)) if counted(r)[3])
    problem, view = release.problem, release.view
    rows, fitting, alike, _ = counted(release)
    known = one(Prosecutor().run(*attacked(problem, view), CONTEXT))
    linked = one(Marketer().run(*attacked(problem, view), CONTEXT))
    assert known.sentence.endswith("their sizes give an upper bound of the chance.")
    assert linked.sentence.endswith("their sizes give an upper bound of the chance.")
    assert known.upper_bound
    assert linked.upper_bound
    assert ", at worst (an upper bound); your threshold" in against_threshold(known).sentence
    assert known.worst == 1 / min(alike) >= 1 / min(rows)
    assert linked.succeeded == pytest.approx(sum(1 / m for m in alike))
    assert linked.succeeded >= sum(1 / m for m in fitting)


def test_many_tuples_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = drawn(3), drawn(3)
    expected = one(Prosecutor().run(*attacked(whole.problem, whole.view), CONTEXT))
    monkeypatch.setattr(overlap, "_TUPLES", 1)
    found = one(Prosecutor().run(*attacked(parts.problem, parts.view), CONTEXT))
    assert (found.succeeded, found.worst) == (expected.succeeded, expected.worst)
    assert found.per_class.tolist() == expected.per_class.tolist()


def test_counting_what_fits_can_be_cancelled() -> None:
    context = Context()
    context.cancel.set()
    release = next(r for r in map(drawn, range(60)) if counted(r)[3])
    with pytest.raises(Cancelled):
        Prosecutor().run(*attacked(release.problem, release.view), context)


def test_a_promise_by_matches_bounds_the_prosecutor() -> None:
    """Boxes of fewer than k rows keep the promise, and so does the attack."""
    small = 0
    for seed in range(12):
        case = random_case(np.random.default_rng([227, seed]), rows=25, quasi=3)
        models = [{"name": "k-k-anonymity", "k": 3}]
        plan = case.plan(algorithm={"name": "matching"}, models=models)
        result = run(plan, case.dataset, case.levels)
        told = {a.attack: a for a in result.attacks}
        small += int(result.class_sizes.min() < 3)
        assert told["prosecutor"].worst <= 1 / 3
        assert told["prosecutor"].rate <= 1 / 3
        assert told["marketer"].rate <= 1 / 3
    assert small > 3
