"""Random tables with hierarchies: few rows, shrinking to fewer rows, columns, values and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from anon_core.data.values.kinds import ColumnKind
from tests.making import Case, Levels

T = TypeVar("T")
KINDS = ("text", "flat", "ordered", "number")
#: Values of sensitive columns, each as often in the list as it is likely.
_SENSITIVE: list[Cell] = [*"aaaabbcd"]
_MOST = 6
Cell = str | None


def cells_of(likely: Sequence[T], rows: int) -> st.SearchStrategy[list[T]]:
    """Draw a cell for each of some rows; a value is as likely as it often is in the list.

    A byte a cell, counted round the list: one draw is quick, and shrinks cell by cell.
    """
    answer = st.binary(min_size=rows, max_size=rows)
    return answer.map(lambda drawn: [likely[place % len(likely)] for place in drawn])


@st.composite
def hierarchies(draw: st.DrawFn, values: Sequence[str], *, intervals: bool) -> Levels:
    """Draw a level table of one to three levels above the values, unbalanced ones among them.

    Parameters
    ----------
    values : sequence of str
        In their order.
    intervals : bool
        Whether only neighbours may be joined, as numbers are.
    """
    group, names = list(range(len(values))), list(values)
    above: list[list[str]] = []
    for level in range(draw(st.integers(0, 2))):
        parts = max(group) + 1
        if intervals:  # whether a part begins a new one
            begins = draw(st.lists(st.booleans(), min_size=parts - 1, max_size=parts - 1))
            joined = [sum(begins[:p]) for p in range(parts)]
        else:
            drawn = draw(st.lists(st.integers(0, parts - 1), min_size=parts, max_size=parts))
            joined = [sorted(set(drawn)).index(p) for p in drawn]
        group = [joined[g] for g in group]
        # A value that is joined with no other may keep its name: branches of different length.
        short = draw(st.booleans())
        names = [
            name if short and group.count(g) == 1 else f"Group {level}.{g}"
            for name, g in zip(names, group, strict=True)
        ]
        above.append(names)
    lines = list(zip(values, *above, ["*"] * len(values), strict=True))
    return draw(st.permutations(lines))


@st.composite
def _columns(
    draw: st.DrawFn, kinds: Sequence[str], *, missing: bool
) -> tuple[ColumnKind, Levels | None, list[Cell]]:
    """Draw a kind of column, its hierarchy if it has one, and cells as often as they are likely."""
    kind = draw(st.sampled_from(list(kinds)))
    if kind == "number":
        numbers = draw(st.sets(st.integers(0, 39), min_size=1, max_size=_MOST))
        values = [str(v) for v in sorted(numbers)]
    else:
        values = [f"v{i}" for i in range(draw(st.integers(1, _MOST)))]
    levels = None if kind == "flat" else draw(hierarchies(values, intervals=kind == "number"))
    many = draw(st.lists(st.integers(1, 8), min_size=len(values), max_size=len(values)))
    likely: list[Cell] = [v for v, n in zip(values, many, strict=True) for _ in range(n)]
    if missing and draw(st.integers(0, 9)) >= 7:
        likely += [None] * (1 + len(likely) // 4)
    declared: dict[str, ColumnKind] = {"ordered": "ordered", "number": "number"}
    return declared.get(kind, "text"), levels, likely


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    rows: tuple[int, int] = (4, 27),
    quasi: tuple[int, int] = (1, 4),
    kinds: Sequence[str] = KINDS,
    missing: bool = True,
    sensitive: Sequence[Cell] = _SENSITIVE,
) -> Case:
    """Draw a table with hierarchies, and two sensitive columns.

    Parameters
    ----------
    rows, quasi : pair of int
        The fewest and the most.
    kinds : sequence of str
        Of `KINDS`; the simplest first.
    missing : bool
        Whether cells may be missing.
    sensitive : sequence of str or None
        Cells of sensitive columns, each as often in the list as it is likely.
    """
    column = _columns(kinds, missing=missing)
    columns = draw(st.lists(column, min_size=quasi[0], max_size=quasi[1]))
    names = [f"q{d}" for d in range(len(columns))]
    # A row is a byte a cell, counted round what is likely there: one draw is quick, and shrinks
    # cell by cell. Bytes are for the most columns there could be: one can go and others stay.
    width = quasi[1] + 2
    # Lists are short unless they must not be; the least they must have shrinks away first.
    least = draw(st.integers(*rows))
    row = st.binary(min_size=width, max_size=width)
    drawn = draw(st.lists(row, min_size=least, max_size=rows[1]))

    def column_of(place: int, likely: Sequence[Cell]) -> list[Cell]:
        return [likely[line[place] % len(likely)] for line in drawn]

    cells = {
        name: column_of(2 + d, likely)
        for d, (name, (*_, likely)) in enumerate(zip(names, columns, strict=True))
    }
    for name, (*_, likely) in zip(names, columns, strict=True):
        if not any(cell is not None for cell in cells[name]):  # a column needs a value
            cells[name][0] = likely[0]
    return Case(
        columns={**cells, "s0": column_of(0, sensitive), "s1": column_of(1, sensitive)},
        quasi=tuple(names),
        sensitive=("s0", "s1"),
        kinds={
            **{name: kind for name, (kind, *_) in zip(names, columns, strict=True)},
            "s0": "text",
            "s1": "text",
        },
        levels={
            name: levels
            for name, (_, levels, _) in zip(names, columns, strict=True)
            if levels is not None
        },
    )


def numbered_cases(rows: tuple[int, int] = (4, 19)) -> st.SearchStrategy[Case]:
    """Draw a table of two quasi-identifiers whose one sensitive column is of numbers."""
    numbers = {"a": "1", "b": "2", "c": "3", "d": "6"}

    def numbered(case: Case) -> Case:
        return replace(
            case,
            columns={**case.columns, "s0": [numbers[v or "a"] for v in case.columns["s0"]]},
            kinds={**case.kinds, "s0": "number"},
            sensitive=("s0",),
        )

    return cases(rows=rows, quasi=(2, 2), kinds=("text", "number")).map(numbered)


def with_column(
    case: Case, name: str, cells: Sequence[Cell], kind: ColumnKind = "text", *, alone: bool = False
) -> Case:
    """Return a table with other cells in a sensitive column, the only one where it is alone."""
    gone = {n for n in case.sensitive if alone and n != name}
    columns = {n: c for n, c in case.columns.items() if n not in gone}
    kinds = {n: k for n, k in case.kinds.items() if n not in gone}
    named = (*(n for n in case.sensitive if n not in gone and n != name), name)
    return replace(
        case,
        columns={**columns, name: list(cells)},
        kinds={**kinds, name: kind},
        sensitive=tuple(sorted(named)),
    )
