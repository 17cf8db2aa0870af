"""Attacks on sensitive values by hand: what each is made for, and what it must not claim."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.contracts.attack import Attack
from anon_core.contracts.group_stats import histogram
from anon_core.methods.inference.bucket_posteriors import ranked
from anon_core.methods.inference.sensitive_beliefs import Entries, entries_of
from anon_core.pipeline.runner import run
from anon_core.release.attack_result import AttackResult
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.release import raw_view
from anon_core.techniques.attacks.background import Background
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.attacks.probabilistic import Probabilistic
from anon_core.techniques.attacks.similarity import Similarity, within
from anon_core.techniques.attacks.skewness import Skewness
from tests.asked import attacked
from tests.making import Case

CONTEXT = Context()
EVERY: list[Attack] = [Background(), Probabilistic(), Similarity(width=0.3), Skewness()]


def table(classes: Sequence[Sequence[str | None]], *, number: bool = False) -> Case:
    """Return a table whose classes hold the given values."""
    return Case(
        columns={
            "zip": [str(c) for c, own in enumerate(classes) for _ in own],
            "s": [v for own in classes for v in own],
        },
        quasi=("zip",),
        sensitive=("s",),
        kinds={"zip": "text", "s": "number" if number else "text"},
        levels={"zip": [(str(c), "*") for c in range(len(classes))]},
    )


def attack(case: Case, by: Attack) -> AttackResult:
    """Attack the table as it is: its classes are the given ones."""
    problem = case.problem()
    (found,) = by.run(*attacked(problem, raw_view(problem)), CONTEXT)
    return found


def test_what_is_left_once_values_are_ruled_out() -> None:
    case = table([list("aaabbc"), list("abcd"), list("dddd")])
    none, one, three = (attack(case, Background(ruled_out=r)) for r in (0, 1, 3))
    assert none.per_class == pytest.approx([3 / 6, 1 / 4, 1])
    assert one.per_class == pytest.approx([3 / 4, 1 / 3, 1])  # b is ruled out of the first
    assert three.per_class.tolist() == [1, 1, 1]
    assert (none.at_risk, one.at_risk, three.at_risk) == (4, 4, 14)
    # a: 3 of 3+1; b without a: 2 of 3; c without a: 1 of 3.
    first = 3 * 3 / 4 + 2 * 2 / 3 + 1 * 1 / 3
    assert one.succeeded == pytest.approx(first + 4 * 1 / 3 + 4)
    (curve,) = one.details
    assert [row["people certain"] for row in curve.rows] == pytest.approx(
        [4 / 14, 4 / 14, 10 / 14, 1]
    )


def test_beliefs_are_those_of_every_choice_of_values_ruled_out() -> None:
    rng = np.random.default_rng(331)
    for _ in range(40):
        counts = rng.integers(1, 6, int(rng.integers(1, 6))).tolist()
        out = int(rng.integers(0, 4))
        best = []
        for j, own in enumerate(counts):
            others = counts[:j] + counts[j + 1 :]
            tried = itertools.combinations(range(len(others)), min(out, len(others)))
            left = [sum(others) - sum(others[i] for i in gone) for gone in tried]
            best.append(own / (own + min(left)))
        places = ranked(np.zeros(len(counts), np.int64), np.array(counts, dtype=float), 1)
        found = np.empty(len(counts))
        found[places.entry] = places.beliefs(out)
        assert found == pytest.approx(best)


def test_knowledge_of_single_values() -> None:
    case = table([list("aabb"), list("aaab")])
    assert attack(case, Background(ruled_out=0, knows={"a": 0.0})).eligible == 3
    # Twice as likely as the others: 2·2 of 4 + 2, and 3·2 of 6 + 1.
    likelier = attack(case, Background(ruled_out=0, knows={"a": 2.0}))
    assert likelier.per_class == pytest.approx([4 / 6, 6 / 7])
    assert likelier.eligible == 8
    wrong = Background(knows={"z": 0.0})
    problem = case.problem()
    assert "'z', which no sensitive column contains" in wrong.reason_not_applicable(
        raw_view(problem), audience_of(problem)
    )


def test_shares_that_grow() -> None:
    case = table([list("aaab"), list("bbbb"), list("bbbb"), list("bbbb"), list("bbab")])
    found = attack(case, Skewness(gain=0.5))
    # a: 4 of 20 everywhere, 3 of 4 in the first; b: 16 of 20, 4 of 4.
    assert found.per_class == pytest.approx([0.55, 0.2, 0.2, 0.2, 0.05])
    assert (found.at_risk, found.classes_hit.tolist()) == (4, [0])
    assert found.rate == pytest.approx((4 * 0.55 + 12 * 0.2 + 4 * 0.05) / 20)
    assert "'a' goes from 20% of everyone to 75%, 3.75 times as likely" in found.sentence
    belief = attack(case, Probabilistic(gain=0.5))
    gains = [0.55] * 3 + [-0.55] + [0.2] * 12 + [-0.05] * 3 + [0.05]
    assert belief.rate == pytest.approx(np.mean(gains))
    assert (belief.at_risk, belief.worst) == (3, pytest.approx(0.55))
    (bars,) = belief.details
    assert sum(float(row["people"]) for row in bars.rows) == pytest.approx(1)


def test_numbers_that_lie_close_together() -> None:
    classes = [["0", "1", "2"], ["0", "100"], ["50", "60"], ["7"]]
    found = attack(table(classes, number=True), Similarity(width=0.1))
    assert found.per_class == pytest.approx([1, 1 / 2, 1, 1])  # 10 of a range of 100 is within
    assert (found.succeeded, found.baseline) == (6, 0)
    assert "5 of them are in classes with different values" in found.sentence
    (curve,) = found.details
    certain = [float(row["people certain"]) for row in curve.rows]
    assert certain == sorted(certain)
    assert certain[0] == pytest.approx(1 / 8)


def test_ranges_are_those_of_every_window() -> None:
    rng = np.random.default_rng(337)
    for _ in range(30):
        measure = np.sort(rng.choice(40, 8, replace=False)).astype(float)
        value = rng.integers(0, 8, 20).astype(np.int32)
        group = rng.integers(0, 3, 20)
        counted = histogram(group, value, np.ones(20, np.int64), 3, 8)
        entries = entries_of(counted, 8)
        width = float(rng.integers(0, 20))
        best = [
            max(
                (int(((own >= low) & (own <= low + width)).sum()) for low in own.tolist()),
                default=0,
            )
            for own in (measure[value[group == g]] for g in range(3))
        ]
        assert within(entries, measure, width).tolist() == best


@pytest.mark.parametrize("by", EVERY, ids=lambda by: by.name)
def test_all_hidden_tells_nothing(by: Attack) -> None:
    case = table([["0", "0", "1"], ["5", "9", "5"]], number=True)
    plan = case.plan(
        algorithm={"name": "fixed-levels", "levels": {"zip": 1}},
        attacks=[by.as_mapping() | {"name": by.name}],
    )
    result = run(plan, case.dataset, case.levels)
    (found,) = (a for a in result.attacks if a.attack == by.name)
    assert found.rate == pytest.approx(found.baseline)
    assert found.raw > found.rate


@pytest.mark.parametrize("by", EVERY, ids=lambda by: by.name)
def test_absent_values_are_no_values(by: Attack) -> None:
    values = [["1", "2", "1"], ["3", "9", "0"]]
    absent: list[list[str | None]] = [[*values[0], None, None], [*values[1], None], [None]]
    with_gaps, without = (attack(table(t, number=True), by) for t in (absent, values))
    assert (with_gaps.attempted, with_gaps.eligible) == (10, without.eligible)
    assert with_gaps.succeeded == pytest.approx(without.succeeded)
    assert with_gaps.at_risk == without.at_risk
    assert with_gaps.worst == pytest.approx(without.worst)


@pytest.mark.parametrize("by", EVERY, ids=lambda by: by.name)
def test_a_planted_leak_is_found_where_it_was_planted(by: Attack) -> None:
    rng = np.random.default_rng(347)
    plain = [rng.permutation([str(v) for v in range(0, 100, 10)]).tolist() for _ in range(20)]
    leaking = [*plain[:-1], ["50"] * 9 + ["60"]]
    calm, hit = attack(table(plain, number=True), by), attack(table(leaking, number=True), by)
    assert calm.at_risk == 0
    assert hit.classes_hit.tolist() == [19]


def test_people_are_counted_or_the_attack_is_refused() -> None:
    counting = {by.name for by in EVERY if by.needs.counts_people}
    assert counting == {"probabilistic", "skewness", "similarity"}


def test_shares_of_a_table_without_values() -> None:
    found = [
        attack(table([[None, None]]), by) for by in (Background(), Probabilistic(), Skewness())
    ]
    assert all((a.eligible, a.rate, a.worst) == (0, 0, 0) for a in found)
    assert all(a.idle and a.sentence.startswith("No published row has a value") for a in found)


def test_entries_are_those_of_the_classes_together() -> None:
    value = np.array([2, 0, 2], dtype=np.int32)
    counted = histogram(np.array([0, 0, 1]), value, np.array([1, 2, 3]), 2, 4)
    alone: Entries = entries_of(counted, 4).together()
    assert (alone.value.tolist(), alone.count.tolist()) == ([0, 2], [2, 4])
    assert alone.known.tolist() == [6]


def test_beliefs_keep_weights_that_are_small_beside_others() -> None:
    # Next to a class of a million, c and d of the second are as likely as each other.
    case = table([["a"] * 1000, ["c", "d"], list("acd")])
    known = {"a": 999_999.0, "c": 1e-12, "d": 1e-12}
    none = attack(case, Background(ruled_out=0, knows=known))
    assert none.per_class == pytest.approx([1, 1 / 2, 1])
    assert none.succeeded == pytest.approx(1000 + 2 * 1 / 2 + 1)
    one = attack(case, Background(ruled_out=1, knows=known))
    # Of the third a is ruled out, and c and d stay; of anyone who has a one of them.
    assert one.succeeded == pytest.approx(1000 + 2 + 1 + 2 * 1 / 2)


@pytest.mark.parametrize("by", [Homogeneity(), Similarity()])
def test_nothing_is_certain_beforehand_of_whom_no_value_is_known(by: Attack) -> None:
    case = table([["7", "7", None], ["7", None, None]], number=True)
    found = attack(case, by)
    assert (found.baseline, found.raw, found.rate) == (0.5, 0.5, 0.5)
