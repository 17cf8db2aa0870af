"""Weights estimated by splink: against planted errors, and against plain steps of EM."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.data.table import Dataset
from anon_core.identity.agreement import Agreement
from anon_core.identity.splink_estimates import EXTRA, estimated
from anon_core.job.plan import Plan
from anon_core.job.runner import run
from anon_core.release.attack_result import AttackResult

VALUES, WIDTH, PEOPLE, ROWS = 20, 2, 300, 200
MISSED = np.array([0.02, 0.1, 0.1, 0.3])


def planted() -> tuple[I64, I64]:
    """Return people, and the values behind rows of which some are someone else's."""
    rng = np.random.default_rng(2)
    people = rng.integers(0, VALUES, (PEOPLE, len(MISSED)))
    rows = people[rng.choice(PEOPLE, ROWS, replace=False)]
    wrong = rng.random(rows.shape) < MISSED
    return people, np.where(wrong, rng.integers(0, VALUES, rows.shape), rows)


def columns_of(people: I64) -> list[Agreement]:
    low = np.arange(0, VALUES, WIDTH, dtype=np.int32)
    high = (low + WIDTH - 1).astype(np.int32)
    found: list[Agreement] = []
    for own in people.T:
        share = np.array([np.mean((a <= own) & (own <= b)) for a, b in zip(low, high, strict=True)])
        chance = np.stack([share, 0 * share, 1 - share], axis=1)
        match = np.tile([0.98, 0.0, 0.02], (len(low), 1))
        found.append(
            Agreement(low=low, high=high, near_low=low, near_high=high, chance=chance, match=match)
        )
    return found


def by_steps(people: I64, cells: I64, block: int) -> F64:
    """Return m of the other columns by plain expectation maximisation, u estimated beside it."""
    agree = (people[None] // WIDTH) == cells[:, None]
    pairs = agree[agree[:, :, block]][:, [d for d in range(agree.shape[2]) if d != block]]
    share = [np.mean(agree[:, :, d].mean(axis=1)) for d in range(agree.shape[2])]
    prior = len(cells) / len(pairs)
    m = np.full(pairs.shape[1], 0.98)
    u = np.array([s for d, s in enumerate(share) if d != block])
    for _ in range(300):
        one = prior * np.where(pairs, m, 1 - m).prod(axis=1)
        none = (1 - prior) * np.where(pairs, u, 1 - u).prod(axis=1)
        mine = one / (one + none)
        m = (mine @ pairs) / mine.sum()
        u = ((1 - mine) @ pairs) / (1 - mine).sum()
    return m


def test_what_splink_estimates_is_what_plain_steps_find_and_was_planted() -> None:
    pytest.importorskip("splink", reason="needs the extra 'splink'")
    people, rows = planted()
    cells = rows // WIDTH
    columns = columns_of(people)
    share = [float(c.chance[cells[:, d], 0].mean()) for d, c in enumerate(columns)]
    first, second = np.argsort(share, kind="stable")[:2].tolist()
    found = estimated(
        columns,
        cells.astype(np.int32),
        people.astype(np.int32),
        np.ones(PEOPLE, dtype=np.int64),
        Context(),
    )
    learned = np.array([c.match[0, 0] for c in found])
    wanted = np.zeros(len(MISSED))
    others = [d for d in range(len(MISSED)) if d != first]
    wanted[others] = by_steps(people, cells, first)
    wanted[first] = by_steps(people, cells, second)[first - (first > second)]
    assert learned == pytest.approx(wanted, abs=0.01)
    # What is someone else's may lie in the cell by chance.
    assert learned == pytest.approx(1 - MISSED * (1 - WIDTH / VALUES), abs=0.1)
    assert learned[3] < min(learned[:3])
    for before, after in zip(columns, found, strict=True):
        assert np.array_equal(before.chance, after.chance)
        assert after.match.sum(axis=1) == pytest.approx(1)


def attacked(**attack: object) -> AttackResult:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({n: rng.integers(0, 8, 150).astype(str) for n in "abcd"})
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list("abcd")},
            "types": dict.fromkeys("abcd", "text"),
            "hierarchies": {n: f"{n}.csv" for n in "abcd"},
            "algorithm": {"name": "fixed-levels", "levels": dict.fromkeys("abcd", 1)},
            "models": [{"name": "k-anonymity", "k": 2}],
            "attacks": [{"name": "probabilistic-linkage", **attack}],
        }
    )
    levels = {n: [[str(i), f"half {i // 4}", "*"] for i in range(8)] for n in "abcd"}
    found = run(plan, Dataset.from_frame(frame, kinds=plan.types), levels)
    return next(a for a in found.attacks if a.attack == "probabilistic-linkage")


@pytest.mark.long
def test_the_attack_decides_alike_where_no_cell_misses_its_person() -> None:
    pytest.importorskip("splink", reason="needs the extra 'splink'")
    own, learned = attacked(), attacked(estimator="splink")
    assert (learned.attempted, learned.raw) == (own.attempted, own.raw)
    assert learned.rate == pytest.approx(own.rate, abs=0.1)
    for mine, theirs in zip(own.details[0].rows, learned.details[0].rows, strict=True):
        assert float(theirs["agreement"]) == pytest.approx(float(mine["agreement"]), abs=0.1)
        assert mine["error"] == pytest.approx(0.02)
        assert theirs["error"] != mine["error"]


def test_without_splink_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splink", None)
    with pytest.raises(AnonError) as told:
        attacked(estimator="splink")
    assert f"anonymity-workbench[{EXTRA}]" in told.value.remedy
