"""What a recipe says of labels that are not true of their values: renamed here, too, or names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from anon_core.verification.claims import ranges_of, untrue
from anon_core.verification.tables import section
from anon_core.verification.texts import Key, Spelling

Levels = Mapping[str, Sequence[Sequence[str]]]


def relabelled(
    recipe: Mapping[str, Any], levels: Levels, spelling_of: Callable[[str], Spelling]
) -> Levels:
    """Return the level tables with each false label as the range of its values, where asked.

    A group is written from its least to its greatest value: ``4-5``, or ``4 to 5`` or ``[4, 5]``
    where that is not read as this range.

    Examples
    --------
    >>> told = {"labels": {"age": "rename"}}
    >>> rows = {"age": [["4", "0-4", "*"], ["5", "0-4", "*"], ["6", "5-9", "*"]]}
    >>> relabelled(told, rows, lambda _: Spelling(kind="number", neutralised=False))["age"]
    [['4', '4-5', '*'], ['5', '4-5', '*'], ['6', '5-9', '*']]
    """
    found = dict(levels)
    for column, told in section(recipe, "labels").items():
        if told == "rename" and column in levels:
            found[column] = _renamed(levels[column], spelling_of(column))
    return found


def _renamed(lines: Sequence[Sequence[str]], spelling: Spelling) -> list[list[str]]:
    cells = [[cell.strip() for cell in line] for line in lines]
    for level in range(1, max(map(len, cells), default=0)):
        members: dict[str, list[str]] = {}
        for line in cells:
            if level < len(line) and line[0]:
                members.setdefault(line[level], []).append(line[0])
        one_level = [[line[0], line[level]] for line in cells if level < len(line)]
        false = untrue(one_level, spelling, list(members))
        instead = {label: _range(members[label], spelling) for label in false}
        for line in cells:
            if level < len(line):
                line[level] = instead.get(line[level], line[level])
    return cells


def _range(members: Sequence[str], spelling: Spelling) -> str:
    def place(text: str) -> Key:
        return spelling.key(text)

    ordered = sorted(members, key=cast(Any, place))
    low, high = ordered[0], ordered[-1]
    ways = (f"{low}-{high}", f"{low} to {high}", f"[{low}, {high}]")

    def spans(way: str) -> bool:
        lines = [[member, way] for member in members]
        return bool(ranges_of(way, spelling)) and not untrue(lines, spelling, [way])

    return next(filter(spans, ways), ways[0])
