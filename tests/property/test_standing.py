"""Whether everyone can stand in a group with all their parts: against every way to try it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from anon_core.verification.rows.matching import TooLarge
from anon_core.verification.rows.membership import Part, Standing, can_stand
from tests.often import times

Cells = list[list[str]]  # by group, what it shows of one column


def every_way(rows: Sequence[Sequence[str]], shown: Sequence[Cells]) -> bool:
    """Try every way to put rows into groups; a cell is true of the values that it is made of."""
    room = [len(cells) for cells in shown[0]]

    def placed(row: int, groups: list[list[int]]) -> bool:
        if row == len(rows):
            return all(
                _shows([rows[i][d] for i in own], cells[g])
                for d, cells in enumerate(shown)
                for g, own in enumerate(groups)
            )
        for g, own in enumerate(groups):
            if len(own) < room[g]:
                own.append(row)
                if placed(row + 1, groups):
                    return True
                own.pop()
        return False

    return sum(room) == len(rows) and placed(0, [[] for _ in room])


def _shows(values: list[str], cells: list[str]) -> bool:
    if not values:
        return not cells
    return any(
        values[0] in cell and _shows(values[1:], [*cells[:i], *cells[i + 1 :]])
        for i, cell in enumerate(cells)
    )


def parts_of(rows: Sequence[Sequence[str]], shown: Sequence[Cells]) -> list[Part]:
    found: list[Part] = []
    for d, groups in enumerate(shown):
        values = sorted({row[d] for row in rows})
        cells = sorted({cell for own in groups for cell in own})
        true = [(v, c) for v, x in enumerate(values) for c, y in enumerate(cells) if x in y]
        count = Counter((cells.index(c), g) for g, own in enumerate(groups) for c in own)
        entries = sorted(count)
        found.append(
            Part(
                own=np.array([values.index(row[d]) for row in rows]),
                value=np.array([v for v, _ in true], dtype=np.int64),
                cell=np.array([c for _, c in true], dtype=np.int64),
                shown=np.array([c for c, _ in entries]),
                group=np.array([g for _, g in entries]),
                count=np.array([count[e] for e in entries]),
            )
        )
    return found


def answer(rows: Sequence[Sequence[str]], shown: Sequence[Cells]) -> Standing:
    ones = np.ones(len(rows), dtype=np.int64)
    return can_stand(parts_of(rows, shown), ones, len(shown[0]))


def drawn(rng: np.random.Generator, *, coarse: bool) -> tuple[list[list[str]], list[Cells]]:
    """Draw a table in groups, with cells exchanged between them as often as not."""
    size, width = int(rng.integers(3, 8)), int(rng.integers(2, 5))
    rows = [[str(v) for v in rng.choice(list("abc"), width)] for _ in range(size)]
    group = rng.integers(0, int(rng.integers(2, 4)), size)
    group = np.unique(group, return_inverse=True)[1]
    shown = [
        [
            [
                "".join(sorted({rows[i][d], *(rng.choice(list("abc"), 1) if coarse else [])}))
                for i in np.flatnonzero(group == g)
            ]
            for g in range(int(group.max()) + 1)
        ]
        for d in range(width)
    ]
    for _ in range(int(rng.integers(0, 4))):
        cells = shown[int(rng.integers(width))]
        one, other = (cells[int(rng.integers(len(cells)))] for _ in range(2))
        i, j = int(rng.integers(len(one))), int(rng.integers(len(other)))
        one[i], other[j] = other[j], one[i]
    return rows, shown


@pytest.mark.often
@pytest.mark.parametrize("coarse", [False, True])
def test_standing_is_decided_as_by_trying_every_way(coarse: bool) -> None:
    rng = np.random.default_rng(12)
    found: Counter[bool] = Counter()
    for _ in range(times(1200)):
        rows, shown = drawn(rng, coarse=coarse)
        true = every_way(rows, shown)
        assert answer(rows, shown).possible is true, (rows, shown)
        found[true] += 1
    assert min(found.values()) > 20  # both happen


def test_three_sets_may_fail_where_every_two_of_them_stand() -> None:
    """Each pair of columns has a way of its own to stand, all three together have none."""
    rows = [list(row) for row in ("aaa", "abb", "bab", "bba")]
    shown = [[["a", "b"], ["a", "b"]]] * 3
    assert not every_way(rows, shown)
    assert answer(rows, shown).possible is False
    for gone in range(3):
        few = [[v for d, v in enumerate(row) if d != gone] for row in rows]
        assert answer(few, shown[1:]).possible


def test_what_takes_too_long_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [list(row) for row in ("aaa", "abb", "bab", "bba")]
    shown = [[["a", "b"], ["a", "b"]]] * 3
    monkeypatch.setattr("anon_core.verification.rows.membership.MOST_OPEN", 2)
    found = answer(rows, shown)
    assert found.possible is None
    assert found.why
    monkeypatch.setattr("anon_core.verification.rows.membership.MOST_PAIRS", 2)
    with pytest.raises(TooLarge):
        answer(rows, shown)
