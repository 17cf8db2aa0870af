"""Random problems for Hypothesis: what fails is made smaller, down to a table one can read.

Tables of a few rows, their hierarchies, roles, promises and a budget; where it is asked for, a
public table around them. `random_case` of `tests/making.py` draws the same kinds from a seed, for
tests of sizes that nobody would read.

Everything shrinks towards fewer rows, fewer columns, fewer and equal values, no gaps, and
hierarchies of one level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
from hypothesis import strategies as st

from anon_core.data.kinds import ColumnKind
from anon_core.data.table import Dataset
from tests.making import Case, Levels

KINDS = ("text", "flat", "ordered", "number")
#: Values of sensitive columns, each as often in the list as it is likely.
_SENSITIVE = [*"aaaabbcd"]
_MOST = 6
Cell = str | None


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A table with what is asked of its release.

    Attributes
    ----------
    case : Case
    models : list of dict
        Promises as a recipe has them.
    budget : float
        The share of rows that may be removed.
    public : Dataset or None
        A table of everyone who could be in it, everyone who is among them.
    """

    case: Case
    models: list[dict[str, object]]
    budget: float
    public: Dataset | None


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
            name if short and group.count(g) == 1 else f"g{level}.{g}"
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

    def told(place: int, likely: Sequence[Cell]) -> list[Cell]:
        return [likely[line[place] % len(likely)] for line in drawn]

    cells = {
        name: told(2 + d, likely)
        for d, (name, (*_, likely)) in enumerate(zip(names, columns, strict=True))
    }
    for name, (*_, likely) in zip(names, columns, strict=True):
        if not any(cell is not None for cell in cells[name]):  # a column needs a value
            cells[name][0] = likely[0]
    return Case(
        columns={**cells, "s0": told(0, _SENSITIVE), "s1": told(1, _SENSITIVE)},
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


@st.composite
def roles(draw: st.DrawFn, case: Case) -> Case:
    """Draw other roles for a table: which sensitive columns stay so, and whether rows are named."""
    sensitive = draw(st.sampled_from([("s0", "s1"), ("s0",), ()]))
    if not draw(st.booleans()):
        return replace(case, sensitive=sensitive)
    named: dict[str, list[Cell]] = {"name": [f"person {i}" for i in range(len(case.rows))]}
    return replace(
        case, sensitive=sensitive, identifier=("name",), columns={**named, **case.columns}
    )


def ks(case: Case, most: int = 5) -> st.SearchStrategy[int]:
    """Draw a k from 2 that a table has rows enough for."""
    return st.integers(2, max(2, min(most, len(case.rows))))


def budgets(most: float = 1.0) -> st.SearchStrategy[float]:
    """Draw the share of rows that may be removed: none, all that is allowed, or between."""
    return st.sampled_from([0.0, 0.02, 0.1, 0.3, most]).map(lambda b: min(b, most)) | st.floats(
        0.0, most
    ).map(lambda b: round(b, 3))


@st.composite
def promises(draw: st.DrawFn, case: Case) -> list[dict[str, object]]:
    """Draw promises as a recipe has them: a k, and an l for a sensitive column."""
    asked: list[dict[str, object]] = [{"name": "k-anonymity", "k": draw(ks(case))}]
    if case.sensitive:
        least = draw(st.sampled_from([0, 2, 3]))
        name = draw(st.sampled_from(["l-diversity", "frequency-l-diversity"]))
        if least:
            asked.append({"name": name, "l": least, "column": case.sensitive[0]})
    return asked


@st.composite
def publics(draw: st.DrawFn, case: Case, *, more: int = 20) -> Dataset:
    """Draw a public table: a table's rows and up to so many others of its values, in any order."""
    own = list(zip(*(case.columns[name] for name in case.quasi), strict=True))
    seen = [sorted({v for v in case.columns[n] if v is not None}) for n in case.quasi]
    others = draw(st.lists(st.tuples(*map(st.sampled_from, seen)), max_size=more))
    everyone = draw(st.permutations([*own, *others]))
    frame = pd.DataFrame(everyone, columns=list(case.quasi), dtype=object)
    return Dataset.from_frame(frame, kinds={n: case.kinds[n] for n in case.quasi})


@st.composite
def problems(draw: st.DrawFn, *, public: bool = False, **given: object) -> Posed:
    """Draw a table with roles, promises and a budget; `given` goes to `cases`."""
    case = draw(roles(draw(cases(**given))))  # type: ignore[arg-type]
    return Posed(
        case=case,
        models=draw(promises(case)),
        budget=draw(budgets()),
        public=draw(publics(case)) if public else None,
    )
