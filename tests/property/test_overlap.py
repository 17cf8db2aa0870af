"""Attacks on classes whose cells overlap, against counting single people and rows."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from hypothesis import assume, given, settings

from anon_core.base.context import Context
from anon_core.base.errors import Cancelled
from anon_core.explain.text.phrases import against_threshold
from anon_core.methods.matching import fitting_rows as overlap
from anon_core.methods.matching.fitting_people import expected_inverse, matched
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.release.release import Release
from anon_core.techniques.attacks.journalist import Journalist
from anon_core.techniques.attacks.marketer import Marketer
from anon_core.techniques.attacks.prosecutor import Prosecutor
from tests.asked import attacked
from tests.making import Case
from tests.often import often, times
from tests.strategies import Boxed, boxed, by_boxes, cases

CONTEXT = Context()


def overlapping() -> Release:
    """Return two ranges that lie one in the other, and a third that is apart."""
    case = Case(
        columns={"a": [*"123456666"], "b": [*"xyxyxxxxx"]},
        quasi=("a", "b"),
        kinds={"a": "number", "b": "ordered"},
    )
    return by_boxes(case.problem(), [0, 1, 0, 1, 0, 2])


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


def counts_what_fits(release: Release) -> bool:
    """Compare both attacks with the counts, and say whether classes overlap."""
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
    return overlapping


@pytest.mark.often
def test_chances_count_what_fits() -> None:
    kinds = list[bool]()

    @settings(max_examples=times(200))
    @given(drawn=boxed())
    def tried(drawn: Boxed) -> None:
        kinds.append(counts_what_fits(drawn.release))

    tried()
    assert min(kinds.count(True), kinds.count(False)) > 5


def hidden_rows_are_bounded(release: Release) -> bool:
    """Compare attacks where rows are hidden with the counts, and say whether any fit a row."""
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
    return "Rows that are suppressed fit published ones" in known.sentence


@pytest.mark.often
def test_hidden_rows_that_fit_published_ones_leave_an_upper_bound() -> None:
    open_ = list[bool]()

    @settings(max_examples=times(160))
    @given(drawn=boxed(removed=True))
    def tried(drawn: Boxed) -> None:
        open_.append(hidden_rows_are_bounded(drawn.release))

    tried()
    assert min(open_.count(True), open_.count(False)) > 1


@often(40)
@given(drawn=boxed(population=500))
def test_a_stated_population_is_estimated_from_who_fits(drawn: Boxed) -> None:
    release = drawn.release
    _, fitting, _, _ = counted(release)
    result = one(Journalist().run(*attacked(release.problem, release.view), CONTEXT))
    assume(max(fitting) < release.problem.rows)  # a class that says nothing is 1 in 500
    chance = expected_inverse(np.array(fitting), release.problem.rows / 500)
    assert result.succeeded == pytest.approx(float(chance.sum()))
    assert result.worst == pytest.approx(float(chance.max()))
    assert result.estimated


@pytest.mark.parametrize("limit", ["_MOST", "_MOST_PAIRS"])
def test_too_many_classes_are_bounded_by_their_sizes(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlap, limit, 1)
    release = overlapping()
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
    whole, parts = overlapping(), overlapping()
    expected = one(Prosecutor().run(*attacked(whole.problem, whole.view), CONTEXT))
    monkeypatch.setattr(overlap, "_TUPLES", 1)
    found = one(Prosecutor().run(*attacked(parts.problem, parts.view), CONTEXT))
    assert (found.succeeded, found.worst) == (expected.succeeded, expected.worst)
    assert found.per_class.tolist() == expected.per_class.tolist()


def test_counting_what_fits_can_be_cancelled() -> None:
    context = Context()
    context.cancel.set()
    release = overlapping()
    with pytest.raises(Cancelled):
        Prosecutor().run(*attacked(release.problem, release.view), context)


@pytest.mark.often
def test_a_promise_by_matches_bounds_the_prosecutor() -> None:
    """Boxes of fewer than k rows keep the promise, and so does the attack."""
    small = 0

    @settings(max_examples=times(32))
    @given(case=cases(rows=(12, 25), quasi=(3, 3)))
    def tried(case: Case) -> None:
        nonlocal small
        models = [{"name": "k-k-anonymity", "k": 3}]
        plan = case.plan(algorithm={"name": "matching"}, models=models)
        result = run(plan, case.dataset, case.levels)
        attacked = {a.attack: a for a in result.attacks}
        small += int(result.class_sizes.min() < 3)
        assert attacked["prosecutor"].worst <= 1 / 3
        assert attacked["prosecutor"].rate <= 1 / 3
        assert attacked["marketer"].rate <= 1 / 3

    tried()
    assert small > 1
