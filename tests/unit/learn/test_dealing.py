"""Dealing and halving, as they are drawn: the groups of the release, within the pieces."""

from __future__ import annotations

from collections import Counter

import pytest

from anon_core.teaching.learn import Trace, find_lesson, traced
from anon_core.teaching.learn.lesson_run import moved
from anon_core.teaching.learn.lessons.dealing import groups_dealt, pieces_halved

LESSON = find_lesson("dealing")
CASES = [
    moved(LESSON, one, least, n) for one in LESSON.examples for least in (2, 4) for n in range(3)
]


def parts(together: tuple[int, ...]) -> set[frozenset[int]]:
    return {
        frozenset(row for row, own in enumerate(together) if own == group)
        for group in set(together)
    }


@pytest.mark.parametrize("example", CASES, ids=lambda e: f"{e.name}-{e.setting}-{e.shuffle}")
def test_groups_are_those_of_the_release_and_keep_what_li_claims(example) -> None:  # type: ignore[no-untyped-def]
    trace: Trace = traced(LESSON, example)
    least, texts = int(example.setting or 2), trace.texts(trace.sensitive[0])
    for name, run in trace.runs.items():
        groups = groups_dealt(trace, name)
        assert parts(groups) == parts(run.together)
        for group in parts(groups):  # S-142: l to 2l - 1 rows, all values different
            assert least <= len(group) <= 2 * least - 1
            assert max(Counter(texts[row] for row in group).values()) == 1
    assert len(parts(groups_dealt(trace, "dealt"))) == trace.rows // least
    together = groups_dealt(trace, "halved")
    before = (0,) * trace.rows
    for pieces in pieces_halved(trace):
        assert all(any(new <= old for old in parts(before)) for new in parts(pieces))
        for piece in parts(pieces):  # l-eligible
            most = max(Counter(texts[row] for row in piece).values())
            assert most * least <= len(piece)
        before = pieces
    assert all(any(group <= piece for piece in parts(before)) for group in parts(together))
