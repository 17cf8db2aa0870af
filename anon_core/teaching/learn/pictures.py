"""Pictures as data: what is to be drawn, by whichever means; nothing here draws.

What can be clicked has an `id`; a question's choices name these ids. `people` are rows of the
table, from 0: a reader who follows one person finds them in every picture by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: How a thing is: each has a colour and a sign of its own. Letters distinguish groups.
Tone = Literal["plain", "quiet", "now", "good", "bad", "a", "b", "c", "d", "e", "f"]
GROUPS: tuple[Tone, ...] = ("a", "b", "c", "d", "e", "f")
#: What became of a node of a lattice or tree.
State = Literal[
    "open", "now", "holds", "fails", "must hold", "must fail", "pruned", "candidate", "chosen"
]
People = tuple[int, ...]


def group_tone(number: int) -> Tone:
    """Return the tone of a group by its number, from 0; those that are suppressed are quiet."""
    return "quiet" if number < 0 else GROUPS[number % len(GROUPS)]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a table: its text, how it is, and what it was before if it has changed."""

    text: str
    tone: Tone = "plain"
    was: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table; `label` is before it, such as its number or its group."""

    id: str
    cells: tuple[Cell, ...]
    label: str = ""
    tone: Tone = "plain"
    people: People = ()


@dataclass(frozen=True, kw_only=True)
class Head:
    """A column of a table, with its role where it has one."""

    name: str
    role: str = ""
    tone: Tone = "plain"

    @property
    def id(self) -> str:
        """What it is clicked by."""
        return f"column:{self.name}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table; `release` names the run whose whole release it shows, empty if none.

    `corner` says what the labels of its rows are.
    """

    title: str
    columns: tuple[Head, ...]
    rows: tuple[Row, ...]
    note: str = ""
    release: str = ""
    corner: str = "row"


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of a lattice: `height` from the bottom, `note` below its label."""

    id: str
    label: str
    height: int
    state: State = "open"
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """Nodes by height, lowest at the bottom; `probe` marks a height.

    A height is clicked by `height:` and its number.
    """

    title: str
    nodes: tuple[Node, ...]
    links: tuple[tuple[str, str], ...] = ()
    probe: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis: from `low` to `high`, with a text at some places."""

    column: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    @property
    def id(self) -> str:
        """What it is clicked by."""
        return f"column:{self.column}"


@dataclass(frozen=True, kw_only=True)
class Point:
    """A row in the plane; several may be at one place."""

    id: str
    x: float
    y: float
    label: str
    tone: Tone = "plain"
    people: People = ()


@dataclass(frozen=True, kw_only=True)
class Box:
    """A part in the plane, by its edges."""

    id: str
    x: tuple[float, float]
    y: tuple[float, float]
    label: str = ""
    tone: Tone = "plain"
    people: People = ()


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A line across the plane at a place of one axis, over a stretch of the other."""

    along: Literal["x", "y"]
    at: float
    stretch: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Rows as points over two columns, parts as boxes."""

    title: str
    across: Scale
    up: Scale
    points: tuple[Point, ...]
    boxes: tuple[Box, ...] = ()
    cuts: tuple[Cut, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A node of a tree with what is below it."""

    id: str
    label: str
    state: State = "open"
    note: str = ""
    people: People = ()
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A tree, root at the top."""

    title: str
    root: Branch
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar with its figure as text."""

    id: str
    label: str
    value: float
    text: str
    tone: Tone = "plain"
    people: People = ()


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Bars from 0; `limit` is a line with its word, such as k."""

    title: str
    bars: tuple[Bar, ...]
    unit: str
    limit: tuple[float, str] | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line between a row of the left table and one of the right, by their ids.

    Where someone is followed, only lines with them among its `people` are out.
    """

    left: str
    right: str
    tone: Tone = "plain"
    label: str = ""
    people: People = ()


@dataclass(frozen=True, kw_only=True)
class Links:
    """Two tables side by side, with lines between their rows."""

    title: str
    left: Table
    right: Table
    lines: tuple[Line, ...]
    note: str = ""


Picture = Table | Lattice | Plane | Tree | Bars | Links


class Part(NamedTuple):
    """A part of a picture: what it is clicked by, what sentences call it, and whose it is."""

    id: str
    label: str = ""
    people: People = ()


def parts(picture: Picture) -> Iterator[Part]:
    """Yield the parts of a picture that have an id."""
    if isinstance(picture, Table):
        yield from (Part(head.id, head.name if head.role else "") for head in picture.columns)
        yield from (Part(row.id, row.label, row.people) for row in picture.rows)
    elif isinstance(picture, Lattice):
        heights = sorted({node.height for node in picture.nodes})
        yield from (Part(f"height:{height}", f"height {height}") for height in heights)
        yield from (Part(node.id, node.label) for node in picture.nodes)
    elif isinstance(picture, Plane):
        yield from (Part(axis.id, axis.column) for axis in (picture.across, picture.up))
        marks = (*picture.points, *picture.boxes)
        yield from (Part(mark.id, mark.label, mark.people) for mark in marks)
    elif isinstance(picture, Tree):
        yield from (Part(one.id, one.label, one.people) for one in branches(picture.root))
    elif isinstance(picture, Bars):
        yield from (Part(bar.id, bar.label, bar.people) for bar in picture.bars)
    else:
        yield from parts(picture.left)
        yield from parts(picture.right)


def ids(picture: Picture) -> frozenset[str]:
    """Return what can be clicked in a picture."""
    return frozenset(part.id for part in parts(picture))


def branches(root: Branch) -> tuple[Branch, ...]:
    """Return a branch with all below it, each before what is below it."""
    return (root, *(found for below in root.below for found in branches(below)))
