"""Partitioners: the groups they form, what they cannot be steered by, and their plain twins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled, Infeasible
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.methods.partition.mondrian_cuts import deal
from anon_core.release.problem import Problem
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.entropy_l_diversity import EntropyLDiversity
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from anon_core.techniques.models.recursive_l_diversity import RecursiveLDiversity
from anon_core.techniques.models.t_closeness import TCloseness
from anon_core.techniques.partitioners.anatomize import Anatomize
from anon_core.techniques.partitioners.balanced import Dealt
from anon_core.techniques.partitioners.bisection import Bisection
from anon_core.techniques.partitioners.mondrian import MondrianGroups
from tests import diversity_twin as twin
from tests.making import PATIENTS, Case
from tests.often import times

BY_VALUE = (Anatomize(), Bisection(), Dealt())
EVERY = (*BY_VALUE, MondrianGroups())


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


@pytest.mark.often
@pytest.mark.parametrize("partitioner", EVERY, ids=lambda p: p.name)
def test_groups_hold_every_row_once_and_keep_the_promise(partitioner: Any) -> None:
    rng = np.random.default_rng(211)
    for _ in range(times(75, share=3)):
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


@pytest.mark.often
def test_dealing_gives_l_to_2l_minus_1_rows_with_no_value_twice() -> None:
    """P-14 on 300 tables."""
    rng = np.random.default_rng(229)
    for _ in range(times(300, share=4)):
        least = int(rng.integers(2, 6))
        problem = eligible_case(rng, least).problem()
        value = problem.leaf_codes("illness").astype(np.int64)
        group = deal(value, least, rng)
        assert int(group.max()) + 1 == len(value) // least
        for g in range(int(group.max()) + 1):
            here = value[group == g].tolist()
            assert len(set(here)) == len(here)
            assert least <= len(here) <= 2 * least - 1


# ---- what they refuse ----------------------------------------------------------------------------


#: Promises other than one column's frequency l-diversity, and when a group keeps them.
OTHERS: list[tuple[list[GroupModel], Callable[[list[int]], bool]]] = [
    ([BucketSize(k=2)], lambda g: len(g) >= 2),
    ([FrequencyLDiversity(l=2), BucketSize(k=3)], lambda g: len(g) >= 3 and diverse(g, 2)),
    (
        [FrequencyLDiversity(l=2), DistinctLDiversity(l=3)],
        lambda g: len({*g}) > 2 and diverse(g, 2),
    ),
    ([RecursiveLDiversity(c=2.0, l=2)], lambda g: twin.recursive(g, Fraction(2), 2)),
    ([TCloseness(t=0.0)], lambda g: len(g) == len(PATIENTS.rows)),
]


def diverse(group: list[int], least: int) -> bool:
    return max(Counter(group).values()) * least <= len(group)


@pytest.mark.parametrize("partitioner", BY_VALUE, ids=lambda p: p.name)
@pytest.mark.parametrize(("models", "kept"), OTHERS)
def test_a_partition_by_values_keeps_other_promises_as_well(
    partitioner: Any, models: list[GroupModel], kept: Callable[[list[int]], bool]
) -> None:
    problem = PATIENTS.problem()
    found = values_of(problem, partitioner.split(problem, models, Context()))
    assert all(kept(group) for group in found)
    assert sum(map(len, found)) == problem.rows


@pytest.mark.parametrize("partitioner", BY_VALUE, ids=lambda p: p.name)
def test_a_partition_by_values_refuses_what_all_rows_together_break(partitioner: Any) -> None:
    with pytest.raises(Infeasible, match="Not even the whole table"):
        partitioner.split(PATIENTS.problem(), [EntropyLDiversity(l=2.9)], Context())
    alone = replace(PATIENTS, sensitive=()).problem()
    with pytest.raises(BadPlan, match="none is marked"):
        partitioner.split(alone, [BucketSize(k=2)], Context())


def test_a_smaller_bucket_is_no_further_wish() -> None:
    models = [FrequencyLDiversity(l=2), BucketSize(k=2), DistinctLDiversity(l=2)]
    for partitioner in BY_VALUE:
        found = partitioner.split(PATIENTS.problem(), models, Context())
        assert len(values_of(PATIENTS.problem(), found)) == 3


@pytest.mark.often
@pytest.mark.parametrize("partitioner", BY_VALUE, ids=lambda p: p.name)
@pytest.mark.parametrize("known", [False, True])
def test_several_columns_are_hosted_at_once(partitioner: Any, known: bool) -> None:
    """Every group keeps the share of every column, counted by hand, also within the others'."""
    rng, formed = np.random.default_rng(227), 0
    for _ in range(times(30, share=3)):
        first, second = int(rng.integers(2, 4)), 2
        case = eligible_case(rng, first)
        rows = len(case.columns["illness"])
        note = [str(v) for v in rng.permutation([f"n{i % 3}" for i in range(rows)])]
        two = replace(
            case,
            columns={**case.columns, "note": note},
            kinds={**case.kinds, "note": "text"},
            sensitive=("illness", "note"),
        )
        problem = two.problem(combined=known)
        models = [
            FrequencyLDiversity(l=first, column="illness"),
            FrequencyLDiversity(l=second, column="note", others_known=known),
        ]
        try:
            buckets = partitioner.split(problem, models, Context(generator=rng))
        except Infeasible:
            assert known  # each column by itself is eligible
            continue
        formed += 1
        assert int(buckets.count.sum()) == rows
        frequency = problem.frequency
        pairs = [
            [int(frequency.codes[k, frequency.columns.index(n)]) for n in ("illness", "note")]
            for k in buckets.key.tolist()
        ]
        groups: dict[int, list[list[int]]] = {}
        for pair, group, count in zip(pairs, buckets.group, buckets.count, strict=True):
            groups.setdefault(int(group), []).extend([pair] * int(count))
        for members in groups.values():
            own = Counter(a for a, _ in members)
            assert max(own.values()) * first <= len(members)
            for a in own if known else (None,):
                part = [n for b, n in members if a is None or a == b]
                assert max(Counter(part).values()) * second <= len(part)
    assert formed


def test_mondrian_groups_cannot_keep_what_the_whole_table_breaks() -> None:
    with pytest.raises(Infeasible, match="Not even the whole table"):
        MondrianGroups().split(PATIENTS.problem(), [FrequencyLDiversity(l=3)], Context())


@pytest.mark.parametrize("partitioner", [Anatomize(), Bisection(), MondrianGroups()])
def test_partitioners_can_be_cancelled(partitioner: Any) -> None:
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        partitioner.split(PATIENTS.problem(), [FrequencyLDiversity(l=2)], context)
