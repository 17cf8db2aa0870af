"""What models ask of whole columns of groups at once, against one group at a time in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.contracts.group_stats import Histogram
from anon_core.methods.sensitive_statistics import (
    distance,
    entropy,
)
from anon_core.methods.sensitive_statistics import (
    entropy as ranked,
)
from anon_core.methods.sensitive_statistics import (
    exact_decimal as written,
)
from anon_core.methods.sensitive_statistics import (
    likelihood_ratios as gains,
)
from anon_core.methods.sensitive_statistics import (
    numeric_proximity as nearness,
)
from tests import diversity_twin as twin
from tests.diversity_twin import counted
from tests.often import often

F = Fraction
SEEDS = st.integers(0, 2**32 - 1)


def drawn(rng: np.random.Generator, scale: int = 1) -> tuple[list[list[int]], list[int]]:
    """Draw groups of few values, many of them alike, and the table: groups and a few rows more."""
    m = int(rng.integers(1, 7))
    groups = [
        (rng.integers(0, m, int(rng.integers(1, 9))).tolist() * scale)
        for _ in range(int(rng.integers(1, 7)))
    ]
    more = rng.integers(0, m, int(rng.integers(0, 5))).tolist() * scale
    return groups, [v for own in groups for v in own] + more


def rows_of(table: Sequence[int], leaves: int = 8) -> Any:
    return np.bincount(table, minlength=leaves).astype(np.int64)


LIMITS = [F(1), F(3, 2), F(2), F(9, 5), F(3), F(4), F(1, 2), F(1, 3), F(6), F(27, 10)]


@often(300)
@given(seed=SEEDS)
def test_promises_of_one_group_by_itself(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, _ = drawn(rng)
    own = counted(groups, rng)
    for limit in LIMITS:
        if limit >= 1:
            found = entropy.keeps_entropy(own, limit).tolist()
            assert found == [twin.keeps_entropy(g, limit) for g in groups]
        for l in (2, 3, 4):  # noqa: E741
            found = ranked.recursive(own, limit, l).tolist()
            assert found == [twin.recursive(g, limit, l) for g in groups]
        assert ranked.bounded(own, limit, 3).tolist() == [twin.bounded(g, limit) for g in groups]
        if limit <= 1:
            found = written.at_most(own.most_alike, own.rows, limit).tolist()
            assert found == [twin.most_share(g) <= limit for g in groups]
    assert entropy.entropy(own) == pytest.approx([twin.entropy_of(g) for g in groups], abs=1e-12)


@pytest.mark.parametrize("l", [3, 6, 7, 10, 14, 21, 49, 98])
def test_values_in_equal_numbers_are_a_tie(l: int) -> None:  # noqa: E741
    own = counted([list(range(l)), list(range(l)) * 5, list(range(l - 1)), [0, *range(l)]])
    assert entropy.keeps_entropy(own, F(l)).tolist() == [True, True, False, False]


def test_a_tie_of_values_in_unequal_numbers() -> None:
    """8^8 = 4^8 · 4^4: four values once and one four times have the entropy of four."""
    own = counted([[0, 1, 2, 3, 4, 4, 4, 4], [0, 1, 2, 3, 4, 4, 4, 4] * 3])
    assert entropy.keeps_entropy(own, F(4)).tolist() == [True, True]
    assert entropy.keeps_entropy(own, F(4) + F(1, 10**12)).tolist() == [False, False]
    assert entropy.keeps_entropy(own, F(4) - F(1, 10**12)).tolist() == [True, True]


@often(200)
@given(seed=SEEDS)
def test_distances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, table = drawn(rng)
    own, rows = counted(groups, rng), rows_of(table)
    lines, tree = drawn_tree(rng)
    steps = twin.tree_steps(tree, "*")
    labels = [line[0] for line in lines]
    found = {
        "equal": distance.equal_distance(own, rows),
        "ordered": distance.ordered_distance(own, rows, np.arange(8)),
        "tree": distance.tree_distance(own, rows, distance.tree_of(lines)),
    }
    for i, group in enumerate(groups):
        exact = {"equal": twin.equal(group, table), "ordered": twin.ordered(group, table)}
        for name, value in exact.items():
            measured = F(int(found[name].above[i]), int(found[name].under[i]))
            assert measured == value
            assert found[name].within(value)[i]
            assert not found[name].within(value - F(1, 10**9))[i] or value == 0
        moved = twin.transported([labels[v] for v in group], [labels[v] for v in table], steps)
        assert found["tree"].values[i] == pytest.approx(moved, abs=1e-9)
        least = min(
            (t for t in (F(1, 10), F(1, 4), F(1, 2), F(0)) if exact["equal"] <= t), default=None
        )
        if least is not None:
            assert len(group) >= distance.least_rows(rows, least)


def drawn_tree(rng: np.random.Generator) -> tuple[list[tuple[str, ...]], dict[str, list[str]]]:
    """Draw a ragged tree over leaves 0 to 7, padded by leaf or by parent; lines and children."""
    lines: list[tuple[str, ...]] = []
    tree: dict[str, list[str]] = {"*": []}
    kind = 0
    for leaf in range(8):
        text, low, high = f"{leaf}", f"L{leaf // 2}", f"H{leaf // 4}"
        padded = [(text, low, high), (text, text, text), (text, text, high), (text, high, high)]
        # A pair of leaves hangs alike, so that no node hangs in two places.
        kind = int(rng.integers(0, 4)) if leaf % 2 == 0 else kind
        lines.append((*padded[kind], "*"))
        chain = list(dict.fromkeys(lines[-1]))
        for child, parent in pairwise(chain):
            if child not in tree.setdefault(parent, []):
                tree[parent].append(child)
    return lines, tree


def test_padding_of_a_ragged_tree_makes_no_step() -> None:
    """M-18: the leaf repeated, or its parent: the longest path down counts."""
    own, rows = counted([[2], [3]]), np.array([0, 0, 1, 1])
    for lines in (
        [("a", "A", "X", "*"), ("b", "B", "X", "*"), ("c", "C", "C", "*"), ("d", "C", "C", "*")],
        [("a", "A", "X", "*"), ("b", "B", "X", "*"), ("c", "c", "C", "*"), ("d", "d", "C", "*")],
    ):
        found = distance.tree_distance(own, rows, distance.tree_of(lines))
        assert [F(int(a), int(u)) for a, u in zip(found.above, found.under, strict=True)] == [
            F(1, 6),
            F(1, 6),
        ]
        assert distance.least_step(distance.tree_of(lines), rows) == F(1, 3)


@often(200)
@given(seed=SEEDS)
def test_gains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, table = drawn(rng)
    own, rows = counted(groups, rng), rows_of(table)
    exact = [twin.gain(g, table) for g in groups]
    assert gains.gains(own, rows) == pytest.approx([float(g) for g in exact], abs=1e-12)
    for beta in {F(1, 3), F(1), *exact} - {F(0)}:
        assert gains.gains_at_most(own, rows, beta).tolist() == [g <= beta for g in exact]
    found = gains.gains_below_surprise(own, rows).tolist()
    assert found == [twin.unsurprising(g, table) for g in groups]
    values = [twin.disclosed(g, table) for g in groups]
    for delta in (
        F(1, 10),
        F(1, 2),
        F(1),
        F(2),
        F(405465108108, 10**12),
        F(2027325540541, 5 * 10**12),
    ):
        asked = Decimal(delta.numerator) / delta.denominator
        assert gains.disclosed_below(own, rows, delta).tolist() == [
            t is not None and t < asked for t in values
        ]
    reached = gains.disclosure(own, rows)
    assert reached == pytest.approx(
        [math.inf if t is None else float(t) for t in values], abs=1e-12
    )


def test_what_binary_logarithms_cannot_tell_apart_is_decided() -> None:
    """ln(3/2) to twenty digits, from below and from above."""
    own, rows = counted([[0, 0, 0, 1, 1, 1, 1, 1]]), np.array([2, 6])  # 3/8 against 1/4
    near = F("0.40546510810816438198")
    assert gains.disclosed_below(own, rows, near).tolist() == [True]
    assert gains.disclosed_below(own, rows, near - F(1, 10**19)).tolist() == [False]


@often(200)
@given(seed=SEEDS)
def test_numbers_near_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, _ = drawn(rng)
    texts = sorted(rng.choice(np.arange(1, 60), 8, replace=False).tolist())
    numbers = np.array([n / 10 for n in texts], dtype=np.float64)
    exact = nearness.exact_numbers(numbers)
    own = counted(groups, rng)
    real = [[texts[v] / 10 for v in g] for g in groups]
    for e in (F(0), F(1, 10), F(1, 2), F(2)):
        low, high = nearness.spans(own)
        first = nearness.far_enough(exact, e)
        assert ((own.kinds >= 2) & (high >= first[low])).tolist() == [
            twin.spread(g, 2, e) for g in real
        ]
        for relative in (False, True):
            by = nearness.near(exact, e, relative=relative)
            found = nearness.crowding(own, by).tolist()
            assert found == [twin.crowd(g, e, relative=relative) for g in real]
            with pytest.MonkeyPatch.context() as patch:  # numbers beyond 64 bits
                patch.setattr(nearness, "ROOM", 0)
                long = nearness.near(exact, e, relative=relative)
            assert (long.first == by.first).all()
            assert (long.last == by.last).all()
            if relative:
                continue
            apart = nearness.packed(own, by, 9).tolist()
            assert apart == [most_apart(sorted(set(g)), e) for g in real]
            assert nearness.packed(own, by, 2).tolist() == [min(n, 2) for n in apart]
            # Anyone who is near at most one m-th of a group's rows leaves m values apart.
            assert all(n * c >= len(g) for n, c, g in zip(apart, found, real, strict=True))


def most_apart(values: list[float], e: Fraction) -> int:
    """The most values pairwise more than e apart, by trying every subset."""
    best = 0
    for chosen in range(1 << len(values)):
        own = [F(str(v)) for i, v in enumerate(values) if chosen >> i & 1]
        if all(b - a > e for a, b in pairwise(own)):
            best = max(best, len(own))
    return best


@pytest.mark.parametrize("scale", [1, 10**6, 2 * 10**9])
def test_tables_of_any_size_are_decided_alike(scale: int) -> None:
    """Products beyond 64 bits are made in whole numbers of any length."""
    rng = np.random.default_rng(5)
    tree = distance.tree_of(drawn_tree(rng)[0])
    for _ in range(20):
        groups, table = drawn(rng)
        own, rows = counted(groups), rows_of(table)
        large = Histogram(
            group=own.group, value=own.value, count=own.count * scale, groups=own.groups
        )
        ways: list[Callable[[Histogram, Any], Any]] = [
            lambda h, r: distance.equal_distance(h, r).within(F(1, 4)),
            lambda h, r: distance.ordered_distance(h, r, np.arange(8)).within(F(1, 4)),
            lambda h, r: distance.tree_distance(h, r, tree).within(F(1, 4)),
            lambda h, r: gains.gains_at_most(h, r, F(1, 3)),
            lambda h, r: ranked.recursive(h, F(12345678912345678, 10**16), 2),
            lambda h, r: written.at_most(h.most_alike, h.rows, F(123456789123456789, 10**18)),
        ]
        for way in ways:
            assert way(own, rows).tolist() == way(large, rows * scale).tolist()


def kept(rows: Sequence[int], removable: int) -> list[list[int]]:
    """Every way to remove at most so many rows, but not all."""
    ways = [[]]
    for n in rows:
        ways = [[*w, k] for w in ways for k in range(n + 1)]
    return [w for w in ways if sum(w) > 0 and sum(rows) - sum(w) <= removable]


@often(60)
@given(seed=SEEDS)
def test_what_a_table_allows_at_most(seed: int) -> None:
    """Against every subset of rows; and one group is no worse than any grouping of it."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 6, int(rng.integers(1, 5))).tolist()
    removable = int(rng.integers(0, sum(rows)))
    every = kept(rows, removable)
    values = np.array(rows, dtype=np.int64)
    groups = [[v for v, n in enumerate(w) for _ in range(n)] for w in every]
    best = max(twin.entropy_of(g) for g in groups)
    assert entropy.best_entropy(values, removable) == pytest.approx(math.exp(best), abs=1e-9)
    for l in (F(1), F(3, 2), F(2), F(3), F(4)):  # noqa: E741
        assert entropy.reachable(values, removable, l) == any(
            twin.keeps_entropy(g, l) for g in groups
        )
    for l in (2, 3):  # noqa: E741
        ratios = [F(own[0], sum(own[l - 1 :])) for g in groups if len(own := twin.ranked(g)) >= l]
        assert ranked.least_ratio(values, l, removable) == min(ratios, default=None)


def test_one_group_of_all_rows_is_no_worse_than_any_grouping() -> None:
    for rows in ("aab", "aabb", "abcc", "aaabc", "aabbc", "abcde"):
        for parts in twin.partitions(list(rows)):
            whole = list(rows)
            for l in (F(3, 2), F(2), F(3)):  # noqa: E741
                if all(twin.keeps_entropy(p, l) for p in parts):
                    assert twin.keeps_entropy(whole, l)
            for c in (F(1, 2), F(1), F(2)):
                if all(twin.recursive(p, c, 2) for p in parts):
                    assert twin.recursive(whole, c, 2)
                if all(twin.bounded(p, c) for p in parts):
                    assert twin.bounded(whole, c)
