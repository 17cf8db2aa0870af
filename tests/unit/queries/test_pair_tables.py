"""Tables of pairs: the same in either order, and kept no further than a view may take."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.methods.queries import pair_tables
from anon_core.methods.queries.pair_tables import entries, expected, few, pairs_of
from anon_core.pipeline.runner import run
from anon_core.release.release import View
from tests.making import PATIENTS


@pytest.fixture
def view() -> View:
    """Return what is published of six patients, counted by nobody yet."""
    plan = PATIENTS.plan(metrics=[{"name": "loss"}])
    return run(plan, PATIENTS.dataset, PATIENTS.levels).release.view


def test_either_order_gives_the_same_table(view: View) -> None:
    forth, back = (few(view, *pair) for pair in (("zip", "age"), ("age", "zip")))
    assert forth is not None
    assert back is not None
    assert forth.sum() == 6
    assert forth.tolist() == back.T.tolist()


@pytest.mark.parametrize("limit", ["_FEW", "_KEPT", "_KEPT_IN_ALL"])
def test_what_is_not_kept_is_counted_again_alike(
    view: View, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    pairs = pairs_of(PATIENTS.problem()).looked
    kept = [expected(view, *pair) for pair in pairs]
    pair_tables._COUNTED.clear()
    monkeypatch.setattr(pair_tables, limit, 0)
    for pair, before in zip(pairs, kept, strict=True):
        for one, other in zip(entries(before), entries(expected(view, *pair)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    kept_now = pair_tables._COUNTED.get(view)
    assert kept_now is None or not kept_now.tables
