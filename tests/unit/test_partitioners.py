"""Partitioners: the groups they form, what they cannot be steered by, and their plain twins."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from anon_core.context import Context
from anon_core.errors import BadPlan, Cancelled, Infeasible
from anon_core.kernels.deal import anatomize, bisect
from anon_core.kinds import Buckets
from anon_core.models.bucket_size import BucketSize
from anon_core.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.models.l_diversity import DistinctLDiversity
from anon_core.partition import deal
from anon_core.partitioners.anatomize import Anatomize
from anon_core.partitioners.balanced import Dealt
from anon_core.partitioners.bisection import Bisection
from anon_core.partitioners.mondrian import MondrianGroups
from anon_core.problem import Problem
from tests.making import PATIENTS, Case

BY_VALUE = (Anatomize(), Bisection(), Dealt())
EVERY = (*BY_VALUE, MondrianGroups())
_WRAP = (1 << 64) - 1


def eligible_case(rng: np.random.Generator, least: int) -> Case:
    """Draw a table whose sensitive column is eligible for `least`."""
    rows = int(rng.integers(2 * least, 60))
    pool = [f"s{i}" for i in range(int(rng.integers(least, 2 * least + 3)))]
    values: list[str | None] = []
    while len(values) < rows:
        open_ = [v for v in pool if values.count(v) < rows // least]
        if not open_:
            open_ = [f"s{len(pool)}"]
            pool += open_
        values.append(str(rng.choice(open_)))
    assert max(Counter(values).values()) * least <= rows
    return Case(
        columns={
            "age": [str(v) for v in rng.integers(20, 60, rows)],
            "job": [f"j{v}" for v in rng.integers(0, 5, rows)],
            "illness": values,
        },
        quasi=("age", "job"),
        sensitive=("illness",),
        kinds={"age": "number", "job": "text", "illness": "text"},
    )


def values_of(problem: Problem, buckets: Buckets) -> list[list[int]]:
    """Return the sensitive values of every group."""
    place = problem.frequency.columns.index("illness")
    found: list[list[int]] = [[] for _ in range(int(buckets.group.max()) + 1)]
    for key, group, count in zip(buckets.key, buckets.group, buckets.count, strict=True):
        found[group] += [int(problem.frequency.codes[key, place])] * int(count)
    return found


@pytest.mark.parametrize("partitioner", EVERY, ids=lambda p: p.name)
def test_groups_hold_every_row_once_and_keep_the_promise(partitioner: Any) -> None:
    rng = np.random.default_rng(211)
    for _ in range(75):
        least = int(rng.integers(2, 5))
        problem = eligible_case(rng, least).problem()
        models = [FrequencyLDiversity(l=least)]
        buckets = partitioner.split(problem, models, Context(generator=rng))
        assert np.all(np.diff(buckets.key) >= 0)
        placed = np.bincount(buckets.key, weights=buckets.count)
        assert placed.tolist() == problem.frequency.count.tolist()
        for values in values_of(problem, buckets):
            assert max(Counter(values).values()) * least <= len(values)
            if partitioner in BY_VALUE:
                assert len(set(values)) == len(values)
                assert least <= len(values) <= 2 * least - 1


def test_anatomize_spreads_the_rest_over_groups() -> None:
    """P-14's property for Anatomize: sizes are l, and only the last l - 1 rows are added."""
    rng = np.random.default_rng(223)
    for _ in range(100):
        least = int(rng.integers(2, 6))
        problem = eligible_case(rng, least).problem()
        found = Anatomize().split(problem, [FrequencyLDiversity(l=least)], Context(generator=rng))
        sizes = [len(v) for v in values_of(problem, found)]
        assert len(sizes) == problem.rows // least
        assert sum(sizes) - least * len(sizes) == problem.rows % least < least


def test_anatomize_draws_the_most_numerous_values() -> None:
    rng = np.random.default_rng(227)
    for _ in range(100):
        least = int(rng.integers(2, 5))
        left = rng.integers(0, 9, int(rng.integers(least, 9)))
        expected = left.copy()
        groups = np.empty((int(left.sum()) + 1, least), dtype=np.int64)
        formed = anatomize(left, least, len(groups), groups)
        for group in groups[:formed].tolist():
            assert len(set(group)) == least
            others = np.delete(expected, group)
            assert expected[group].min() >= others.max(initial=0)
            assert expected[group].min() > 0
            expected[group] -= 1
        assert expected.tolist() == left.tolist()
        assert np.count_nonzero(left) < least


def test_dealing_gives_l_to_2l_minus_1_rows_with_no_value_twice() -> None:
    """P-14 on 300 tables."""
    rng = np.random.default_rng(229)
    for _ in range(300):
        least = int(rng.integers(2, 6))
        problem = eligible_case(rng, least).problem()
        value = problem.leaf_codes("illness").astype(np.int64)
        group = deal(value, least, rng)
        assert int(group.max()) + 1 == len(value) // least
        for g in range(int(group.max()) + 1):
            here = value[group == g].tolist()
            assert len(set(here)) == len(here)
            assert least <= len(here) <= 2 * least - 1


# ---- the plain twin of the bisection -------------------------------------------------------------


class Twin:
    """Algorithm 2 of Li et al. (2015) with plain loops, and the same random numbers."""

    def __init__(self, rows: list[list[float]], values: list[int], least: int, seed: int) -> None:
        self.rows, self.values, self.least, self.state = rows, values, least, seed

    def draw(self, below: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WRAP
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WRAP
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WRAP
        return (z ^ (z >> 31)) % below

    def holds(self, part: list[int]) -> bool:
        counts = Counter(self.values[i] for i in part)
        return bool(part) and max(counts.values()) * self.least <= len(part)

    def halves(self, part: list[int]) -> tuple[list[int], list[int]]:
        """Add every row to the half whose rows × width grows less."""
        wide = len(self.rows[0])
        boxes = [([1.0] * wide, [1.0] * wide), ([0.0] * wide, [0.0] * wide)]
        sides: tuple[list[int], list[int]] = ([], [])
        widths = [0.0, 0.0]
        for i in part:
            grow = [
                sum(
                    max(a - p, 0.0) + max(p - b, 0.0)
                    for p, a, b in zip(self.rows[i], low, high, strict=True)
                )
                for low, high in boxes
            ]
            more = [(len(sides[s]) + 1) * grow[s] + widths[s] + grow[s] for s in (0, 1)]
            side = 0 if more[0] < more[1] else 1
            low, high = boxes[side]
            for d, p in enumerate(self.rows[i]):
                low[d], high[d] = min(low[d], p), max(high[d], p)
            widths[side] += grow[side]
            sides[side].append(i)
        return sides

    def parts(self, tries: int) -> set[frozenset[int]]:
        found: set[frozenset[int]] = set()
        work = [list(range(len(self.rows)))]
        while work:
            part = work.pop()
            for _ in range(tries if len(part) >= 2 * self.least else 0):
                for i in range(len(part) - 1, 0, -1):
                    j = self.draw(i + 1)
                    part[i], part[j] = part[j], part[i]
                one, other = self.halves(part)
                part = [*one, *other]
                if self.holds(one) and self.holds(other):
                    work += [one, other]
                    break
            else:
                found.add(frozenset(part))
        return found


@pytest.mark.parametrize("work", [1, 1_000_000])
def test_bisection_is_its_plain_twin(work: int) -> None:
    rng = np.random.default_rng(233)
    halved = 0
    for turn in range(60):
        rows, attributes = int(rng.integers(4, 60)), int(rng.integers(1, 4))
        # Quarters add up exactly, in whatever order a compiler adds them.
        position = rng.integers(0, 5, (rows, attributes)) / 4
        value = rng.integers(0, 8, rows)
        least, tries, seed = int(rng.integers(2, 4)), int(rng.integers(1, 4)), 1000 + turn
        order = np.arange(rows)
        stack = np.empty((rows + 1, 2), dtype=np.int64)
        stack[0] = 0, rows
        parts = np.empty((rows, 2), dtype=np.int64)
        state = np.array([seed], dtype=np.uint64)
        depth, found = 1, 0
        while depth:
            depth, found = bisect(
                position, value, order, stack, depth, parts, found, least, tries, state, work
            )
        got = {frozenset(order[a:b].tolist()) for a, b in parts[:found]}
        twin = Twin(position.tolist(), value.tolist(), least, seed)
        assert got == twin.parts(tries)
        assert int(state[0]) == twin.state
        halved += len(got) > 1
    assert halved > 20


# ---- what they refuse ----------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", BY_VALUE, ids=lambda p: p.name)
@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([BucketSize(k=2)], "name none for frequency l-diversity"),
        ([FrequencyLDiversity(l=2), BucketSize(k=3)], "asks for at least 3"),
        ([FrequencyLDiversity(l=2), DistinctLDiversity(l=3)], "cannot be steered|asks for"),
    ],
)
def test_a_partition_by_values_says_what_it_needs(
    partitioner: Any, models: list[Any], words: str
) -> None:
    with pytest.raises(BadPlan, match=words) as refused:
        partitioner.split(PATIENTS.problem(), models, Context())
    assert "Mondrian" in refused.value.remedy


def test_a_smaller_bucket_is_no_further_wish() -> None:
    models = [FrequencyLDiversity(l=2), BucketSize(k=2), DistinctLDiversity(l=2)]
    for partitioner in BY_VALUE:
        found = partitioner.split(PATIENTS.problem(), models, Context())
        assert len(values_of(PATIENTS.problem(), found)) == 3


def test_mondrian_groups_cannot_keep_what_the_whole_table_breaks() -> None:
    with pytest.raises(Infeasible, match="Not even the whole table"):
        MondrianGroups().split(PATIENTS.problem(), [FrequencyLDiversity(l=3)], Context())


@pytest.mark.parametrize("partitioner", [Anatomize(), Bisection(), MondrianGroups()])
def test_partitioners_can_be_cancelled(partitioner: Any) -> None:
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        partitioner.split(PATIENTS.problem(), [FrequencyLDiversity(l=2)], context)
