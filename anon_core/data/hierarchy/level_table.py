"""Level tables: a hierarchy as a file has it, and the form that every builder gives its levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from anon_core.data.hierarchy.construction import MOST_LETTERS
from anon_core.data.hierarchy.model import TOP

#: A level table: one row a value, the value first, then its label on each level.
Rows = tuple[tuple[str, ...], ...]
#: Letters that are left of a label that is too long.
_SHORT = 80


def tidied(rows: Sequence[Sequence[str]]) -> Rows:
    """Return a level table under ``*``, each level coarser than the one below and none one group.

    A label that is longer than one may be is cut short. A text that would represent different
    values on different levels gets ``(group)`` behind it, since a cell of a release that is recoded
    locally must mean one thing.

    Parameters
    ----------
    rows : sequence of sequences of str
        The value first, then a label for every level; levels must nest.

    Examples
    --------
    >>> tidied([["a", "x", "all"], ["b", "x", "all"], ["c", "c", "all"]])
    (('a', 'x', '*'), ('b', 'x', '*'), ('c', 'c', '*'))
    >>> tidied([["a", "b", "s"], ["b", "b", "s"], ["c", "c", "t"], ["d", "d", "t"]])
    (('a', 'b (group)', 's', '*'), ('b', 'b (group)', 's', '*'), ('c', 'c', 't', '*'), ('d', 'd', 't', '*'))
    """  # noqa: E501 - a result is in one line
    if not rows:
        return ()
    given = [list(level) for level in zip(*rows, strict=True)]
    kept = [given[0]]
    groups = len(given[0])
    for level in given[1:]:
        found = len(set(level))
        if 1 < found < groups:
            kept.append(level)
            groups = found
    kept.append([TOP] * len(given[0]))
    return tuple(zip(*_one_meaning(kept), strict=True))


def _one_meaning(levels: list[list[str]]) -> list[list[str]]:
    cover: dict[str, tuple[int, ...]] = {text: (place,) for place, text in enumerate(levels[0])}
    named = [levels[0]]
    for level in levels[1:-1]:
        members: dict[str, list[int]] = {}
        for place, label in enumerate(level):
            members.setdefault(label, []).append(place)
        new: dict[str, str] = {}
        for label, places in members.items():
            label_of = label if len(label) <= MOST_LETTERS else f"{label[:_SHORT].rstrip()}…"
            text, turn = label_of, 1
            while cover.setdefault(text, tuple(places)) != tuple(places):
                text = f"{label_of} (group)" if turn == 1 else f"{label_of} (group {turn})"
                turn += 1
            new[label] = text
        named.append([new[label] for label in level])
    return [*named, levels[-1]]


#: One row a value, the value first, then a label per level.
LevelTable: TypeAlias = Sequence[Sequence[str]]
