"""Hierarchies as ``parent : child, child`` lines, the taxonomy text of the literature (S-17)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from anon_core.base.errors import BadHierarchy
from anon_core.data.hierarchy.files.json_file import Tree, rows_of_tree
from anon_core.data.hierarchy.model import TOP, Hierarchy
from anon_core.data.table import MISSING

ROOT = "Root"
_LEVEL = re.compile(r"#\s*level\s+(\d+)\s*")
_TOP = re.compile(r"#\s*top\s+(\".*\")\s*")
_PLAIN = re.compile(r"[^\s,:\"#\x00-\x1f][^,:\"#\x00-\x1f]*")
_FIRST = re.compile(r"(?:Root|\"Root\")\s*:")
_LINE = re.compile(r"(?:[^;,\":]+\s:|\"(?:[^\"\\]|\\.)*\"\s*:)\s*\S.*")
_CELL = re.compile(r"\"(?:[^\"]|\"\")*\"\s*[;,]")


def is_relations(text: str) -> bool:
    """Return whether a text is written as ``parent : child, child`` lines.

    Examples
    --------
    >>> is_relations("Root : A, B"), is_relations("a;A;*"), is_relations("8:00,morning,*")
    (True, False, False)
    """
    lines = [line.strip() for line in text.split("\n")]
    content = [line for line in lines if line and not line.startswith("#")]
    if not content or _CELL.match(content[0]):
        return False
    if any(_FIRST.match(line) for line in content):
        return True
    tops = {line.rpartition(",")[2].strip() for line in content}
    return len(tops) > 1 and all(_LINE.fullmatch(line) for line in content)


@dataclass
class _Relations:
    """The lines that were read: children by group, and where each label was first placed."""

    children: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    line: dict[str, int] = field(default_factory=dict[str, int])
    parent: dict[str, tuple[str | None, int]] = field(
        default_factory=dict[str, "tuple[str | None, int]"]
    )


def parse_relations(text: str, name: str) -> list[list[str]]:
    """Read ``parent : child, child`` lines as a level table, the value first.

    The top is called ``Root``; it is written ``*`` unless a comment ``# top "label"`` names it.
    Labels with a comma, colon, quote or ``#`` are in double quotes, as in JSON. A value that
    hangs higher than others stays itself on the levels between. Comments ``# level 2`` part the
    lines by the level of their group, for files in which a label is on several levels.

    Raises
    ------
    BadHierarchy
        A line that cannot be read, an empty group, a label twice, a cycle, or several tops; names
        the line.

    Examples
    --------
    >>> parse_relations("Root : A, B\\nA : a1, a2\\nB : b1, b2, b3", "x")[0]
    ['a1', 'A', '*']
    >>> parse_relations("Root : A, b\\nA : a", "x")
    [['a', 'A', '*'], ['b', 'b', '*']]
    """
    levels: dict[int, _Relations] = {}
    level, top = 0, TOP
    for number, raw in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        line = raw.strip()
        if not line:
            continue
        if line.startswith("#"):
            if found := _LEVEL.fullmatch(line):
                level = int(found[1])
            elif found := _TOP.fullmatch(line):
                top, _ = _quoted(found[1], 0, name, number)
            continue
        _add(levels.setdefault(level, _Relations()), line, name, number)
    if not levels:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is empty.",
            remedy="It needs lines such as 'Root : A, B' and 'A : first, second'.",
        )
    tree = _one_tree(levels[0], name) if set(levels) == {0} else _by_level(levels, name)
    return rows_of_tree(tree if tree[0] is not None else (top, tree[1]), name)


def _add(relations: _Relations, line: str, name: str, number: int) -> None:
    group, place = _label(line, 0, ":", name, number)
    members: list[str] = []
    place += 1
    while True:
        one, place = _label(line, place, ",", name, number)
        if one is None:
            raise _bad(name, number, "the top is under a group, which makes a cycle", [])
        members.append(one)
        if place >= len(line):
            break
        place += 1
    key = ROOT if group is None else f"={group}"
    relations.line.setdefault(key, number)
    for one in members:
        before = relations.parent.get(one)
        if before is not None:
            where = f"in line {before[1]}" if before[1] != number else "twice"
            raise _bad(
                name,
                number,
                f"a label that is under a group already, {where}, is used again"
                if before[1] != number
                else "a label is used twice",
                [one],
                remedy="Give every value and group one place.",
            )
        relations.parent[one] = (group, number)
    relations.children.setdefault(key, []).extend(members)


def _label(line: str, place: int, end: str, name: str, number: int) -> tuple[str | None, int]:
    """Return a label and the place of the separator after it; None for the bare word Root."""
    while place < len(line) and line[place] == " ":
        place += 1
    if line[place : place + 1] == '"':
        label, place = _quoted(line, place, name, number)
        while place < len(line) and line[place].isspace():
            place += 1
        if place < len(line) and line[place] != end:
            raise _bad(name, number, f"'{end}' is expected after the closing quote", [])
    else:
        at = line.find(" : ", place) + 1 if end == ":" and " : " in line[place:] else -1
        at = line.find(end, place) if at < 0 else at
        stop = len(line) if at < 0 else at
        label, place = line[place:stop].strip(), stop
        if label == ROOT:
            return None, place
    if end == ":" and place >= len(line):
        raise _bad(name, number, "there is no ':' after the group's label", [])
    if label == MISSING:
        what = "the group has no label" if end == ":" else "an empty group or label"
        raise _bad(
            name, number, what, [], remedy="Write what belongs to the group, or remove the line."
        )
    return label, place


def _quoted(line: str, place: int, name: str, number: int) -> tuple[str, int]:
    try:
        label, stop = json.JSONDecoder().raw_decode(line, place)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _bad(name, number, "a quoted label does not end or has a wrong escape", []) from error
    return str(label).strip(), stop


def _one_tree(relations: _Relations, name: str) -> Tree:
    """Join lines whose labels are all different into one tree."""
    groups = set(relations.children)
    tops = [key for key in groups if key == ROOT or key[1:] not in relations.parent]
    if not tops:
        first = min(relations.line.values())
        raise _bad(name, first, "every group lies in another one: a cycle", [])
    if len(tops) > 1:
        tops.sort(key=lambda key: relations.line[key])
        raise _bad(
            name,
            relations.line[tops[1]],
            f"a second top (the first one is in line {relations.line[tops[0]]})",
            [key[1:] for key in tops if key != ROOT],
            remedy="Put it under a group; only Root has none.",
        )
    reached: set[str] = set()
    label, top = (None if tops[0] == ROOT else tops[0][1:]), tops[0]
    nodes: list[Tree] = []
    stack: list[tuple[str, list[Tree]]] = [(top, nodes)]
    while stack:
        key, into = stack.pop()
        reached.add(key)
        for one in relations.children[key]:
            below: list[Tree] = []
            into.append((one, below))
            if f"={one}" in groups:
                stack.append((f"={one}", below))
    if lost := groups - reached:
        at = min(relations.line[key] for key in lost)
        raise _bad(
            name,
            at,
            "a group contains itself, directly or through others: a cycle",
            [key[1:] for key in lost][:5],
            remedy="Take one of its parents away.",
        )
    return label, nodes


def _by_level(levels: dict[int, _Relations], name: str) -> Tree:
    """Join lines that are parted by level into one tree."""
    height = max(levels)
    gone = [level for level in range(1, height + 1) if level not in levels]
    if gone or 0 in levels:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' has "
            + (f"no lines for level {gone[0]}." if gone else "lines before its first '# level'."),
            remedy=f"Part all lines by '# level 1' up to '# level {height}'.",
        )
    below: dict[str, list[Tree]] = {}
    for level in range(1, height + 1):
        here = levels[level]
        made: dict[str, list[Tree]] = {}
        for key, members in here.children.items():
            made[key] = [(one, below.get(f"={one}", [])) for one in members]
        for key in below:
            if key[1:] not in here.parent:
                at = levels[level - 1].line[key]
                raise _bad(name, at, f"a group that has no group on level {level}", [key[1:]])
        if level > 1:
            for one, (_, at) in here.parent.items():
                if f"={one}" not in below:
                    raise _bad(name, at, f"an empty group on level {level - 1}", [one])
        below = made
    if set(below) != {ROOT}:
        at = max(levels[height].line.values())
        raise _bad(name, at, f"level {height} has another top than Root", [])
    return None, below[ROOT]


def _bad(
    name: str, line: int, what: str, values: list[str], *, remedy: str = "Correct that line."
) -> BadHierarchy:
    return BadHierarchy(
        f"Hierarchy file of '{name}', line {line}: {what}.", remedy=remedy, values=values
    )


# ---- writing -------------------------------------------------------------------------------------


def relations_text(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as ``parent : child, child`` lines that read back as the same one.

    The missing value is left out: it hangs under the root by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.hierarchy import from_rows
    >>> from anon_core.data.column import encode
    >>> zips = encode("zip", np.array([0, 1], dtype=np.int32), ["94138", "94142"], kind="text")
    >>> rows = [["94138", "9413*", "*"], ["94139", "9413*", "*"], ["94142", "9414*", "*"]]
    >>> print(relations_text(from_rows(zips, rows)), end="")
    Root : 9413*, 9414*
    9413* : 94138, 94139
    9414* : 94142
    """
    rows = [list(row) for row in hierarchy.rows() if row[0] != MISSING]
    if not rows:
        return ""
    head = [] if rows[0][-1] == TOP else [f"# top {json.dumps(rows[0][-1], ensure_ascii=False)}"]
    simple = "".join(f"{line}\n" for line in (*head, *_lines(rows, parted=False)))
    try:
        if parse_relations(simple, hierarchy.column) == rows:
            return simple
    except BadHierarchy:
        pass  # a label is on several levels: they have to be parted
    return "".join(f"{line}\n" for line in (*head, *_lines(rows, parted=True)))


def _lines(rows: list[list[str]], *, parted: bool) -> Iterable[str]:
    height = len(rows[0]) - 1
    for level in range(height, 0, -1):
        if parted:
            yield f"# level {level}"
        members: dict[str, dict[str, None]] = {}
        for row in rows:
            members.setdefault(row[level], {}).setdefault(row[level - 1])
        for group, inside in members.items():
            if not parted and list(inside) == [group] and level < height:
                continue
            written = ROOT if level == height else _written(group)
            yield f"{written} : {', '.join(map(_written, inside))}"


def _written(label: str) -> str:
    plain = _PLAIN.fullmatch(label) is not None and label == label.strip() and label != ROOT
    return label if plain else json.dumps(label, ensure_ascii=False)
