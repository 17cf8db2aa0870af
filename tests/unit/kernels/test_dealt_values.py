"""Values dealt among the rows of groups, against every deal written down."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.kernels.sliced import MOST_EXACT, Dealt, deal, deal_by_scaling, deal_exactly
from tests import naive_kernels

pytestmark = pytest.mark.kernels


def drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    value = np.unique(rng.integers(0, 4, rows), return_counts=True)[1].astype(np.int64)
    return rng.random((rows, len(value))) ** 4 + 1e-6, value


def test_every_deal_is_weighed() -> None:
    rng = np.random.default_rng(359)
    for _ in range(30):
        weight, times = drawn(rng, int(rng.integers(1, 7)))
        share = np.zeros_like(weight)
        deal_exactly(weight, times, share)
        assert share == pytest.approx(np.array(naive_kernels.dealt(weight, times.tolist())))
        assert share.sum(axis=0) == pytest.approx(times)


def test_scaling_ends_where_rows_and_values_have_their_sums() -> None:
    rng = np.random.default_rng(367)
    for _ in range(20):
        weight, times = drawn(rng, int(rng.integers(1, 20)))
        weight = weight**0.25
        share = np.zeros_like(weight)
        deal_by_scaling(weight, times, share)
        expected = np.array(naive_kernels.scaled_deals(weight, times.tolist()))
        assert share == pytest.approx(expected, abs=1e-6)
        assert share.sum(axis=1) == pytest.approx(1)


def test_groups_are_dealt_by_what_their_cells_say() -> None:
    rng = np.random.default_rng(373)
    sizes = [1, 5, MOST_EXACT, MOST_EXACT + 3]
    own = [np.unique(rng.integers(0, 4, n), return_counts=True) for n in sizes]
    kinds = np.array([len(v) for v, _ in own])
    starts = [np.concatenate([[0], np.cumsum(n)]) for n in (sizes, kinds, np.array(sizes) * kinds)]
    cell = rng.integers(0, 6, (sum(sizes), 2)).astype(np.int32)
    says = np.log(rng.random((6, 4)) + 0.1)
    dealt = Dealt(
        row_start=starts[0],
        cell=cell,
        value_start=starts[1],
        value=np.concatenate([v for v, _ in own]).astype(np.int32),
        times=np.concatenate([n for _, n in own]).astype(np.int64),
        share_start=starts[2],
    )
    share = np.zeros(int(starts[2][-1]))
    changed = deal(dealt, says, 0, len(sizes), share)
    assert changed == pytest.approx(share.max())
    assert deal(dealt, says, 0, len(sizes), share) == pytest.approx(0, abs=1e-15)
    for g, rows in enumerate(sizes):
        weight = np.exp(
            [[says[cell[starts[0][g] + r], v].sum() for v in own[g][0]] for r in range(rows)]
        )
        if rows > 6:  # as many deals are too many to write down
            whole = np.zeros_like(weight)
            (deal_exactly if rows <= MOST_EXACT else deal_by_scaling)(weight, own[g][1], whole)
        else:
            whole = np.array(naive_kernels.dealt(weight, own[g][1].tolist()))
        here = share[starts[2][g] : starts[2][g + 1]].reshape(weight.shape)
        assert here == pytest.approx(whole, abs=1e-9)


def test_what_is_next_to_impossible_stays_a_number() -> None:
    weight = np.exp(np.full((MOST_EXACT, 2), -80.0))
    share = np.zeros_like(weight)
    deal_exactly(weight, np.array([3, 5]), share)
    assert share == pytest.approx(np.tile([3 / 8, 5 / 8], (MOST_EXACT, 1)))
