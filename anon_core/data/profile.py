"""What a table shows before anything is done to it: its columns, and how unique its rows are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.data.column import Column
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.hierarchy.intervals import grid_of
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """What one column holds.

    Attributes
    ----------
    kind : {'text', 'ordered', 'number', 'date'}
    distinct : int
        Distinct values, the missing value not counted.
    missing : int
        Rows without a value.
    top : str
        The most frequent value; the first of several, empty if every value is missing.
    top_share : float
        Share of all rows that have it.
    once : int
        Rows whose value no other row has.
    once_share : float
        The same as a share of all rows.
    """

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    top: str
    top_share: float
    once: int
    once_share: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Uniqueness:
    """How many rows are alone with their combination of values.

    Where a column distinguishes persons, persons instead of rows: who is alone with one of theirs.

    Attributes
    ----------
    unique : int
        Rows whose combination no other row has; persons with one that no other person has.
    classes : int
        Distinct combinations.
    contribution : mapping of str to int
        By column: unique rows that would no longer be unique if the column were left out.
    counted : {'rows', 'people'}
    """

    columns: tuple[str, ...]
    rows: int
    unique: int
    classes: int
    contribution: Mapping[str, int] = field(default_factory=dict[str, int])
    counted: Literal["rows", "people"] = "rows"

    @property
    def share(self) -> float:
        """Unique rows as a share of all rows."""
        return self.unique / self.rows if self.rows else 0.0

    @property
    def most(self) -> str:
        """The column that contributes most; empty where no column contributes anything."""
        best = max(self.contribution, key=lambda n: self.contribution[n], default="")
        return best if best and self.contribution[best] > 0 else ""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar of a distribution: its label, its rows, and for numbers its bounds."""

    label: str
    rows: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """How the rows spread over a column's values.

    Attributes
    ----------
    bars : tuple of Bar
        Numbers and dates: equal intervals in order, else the most frequent values first.
    intervals : bool
        Whether the bars are intervals, low included and high not (the last one: both).
    other_values, other_rows : int
        Values that have no bar of their own, and their rows.
    missing : int
        Rows without a value; they have no bar.
    """

    bars: tuple[Bar, ...]
    intervals: bool
    other_values: int
    other_rows: int
    missing: int


@dataclass(frozen=True, kw_only=True)
class LevelEffect:
    """What one level of a hierarchy does while every other column stays as it is.

    Attributes
    ----------
    groups : int
        Groups of the level that rows of the table are in; missing values, which are by
        themselves up to the top, are not counted as one.
    classes : int
        Distinct combinations of all quasi-identifiers.
    unique : int
        Rows that are alone with theirs.
    smallest : int
        Rows of the smallest class.
    loss : float
        Mean over rows of (leaves covered − 1) / (|A| − 1) of this column (Iyengar 2002).
    """

    level: int
    groups: int
    classes: int
    unique: int
    smallest: int
    loss: float


def profile(dataset: Dataset) -> tuple[ColumnProfile, ...]:
    """Describe every column of a table, in the table's order."""
    return tuple(_profile(column, dataset.rows) for column in dataset.columns)


def _profile(column: Column, rows: int) -> ColumnProfile:
    counts = column.counts
    place = int(np.argmax(counts)) if len(counts) else -1
    once = int(np.count_nonzero(counts == 1))
    return ColumnProfile(
        name=column.name,
        kind=column.kind,
        distinct=len(column.values),
        missing=column.missing,
        top=column.values[place] if place >= 0 else "",
        top_share=float(counts[place]) / rows if place >= 0 else 0.0,
        once=once,
        once_share=once / rows,
        notes=column.notes,
    )


def rows_missing(dataset: Dataset, columns: Sequence[str]) -> int:
    """Return how many rows miss a value in any of `columns`.

    Raises
    ------
    BadInput
        If a column is not in the table.
    """
    gone = np.zeros(dataset.rows, dtype=np.bool_)
    for name in columns:
        gone |= dataset.column(name).codes < 0
    return int(np.count_nonzero(gone))


def uniqueness(dataset: Dataset, columns: Sequence[str], person: str = "") -> Uniqueness:
    """Count the rows that are unique by `columns`, and what each column contributes to that.

    The missing value counts as a value of its own. Without columns all rows are alike. Where the
    column `person` distinguishes persons, they are counted instead of rows.

    Raises
    ------
    BadInput
        If a column is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": ["30", "30", "40"], "sex": ["F", "M", "M"]})
    >>> found = uniqueness(Dataset.from_frame(frame), ["age", "sex"])
    >>> found.unique, dict(found.contribution)
    (3, {'age': 2, 'sex': 2})
    """
    chosen = [dataset.column(name) for name in dict.fromkeys(columns)]
    codes = [column.codes + np.int32(1) for column in chosen]
    sizes = [len(column.values) + 1 for column in chosen]
    if person:
        return _unique_people(chosen, codes, sizes, dataset.column(person))
    if not chosen:
        return Uniqueness(columns=(), rows=dataset.rows, unique=int(dataset.rows == 1), classes=1)
    rank, first = dense_rank(codes, sizes)
    count = np.bincount(rank, minlength=len(first))
    unique = int(np.count_nonzero(count == 1))
    keys = [code[first] for code in codes]  # each combination once is enough from here on
    contribution: dict[str, int] = {}
    for left_out, column in enumerate(chosen):
        others = [key for place, key in enumerate(keys) if place != left_out]
        rest = [size for place, size in enumerate(sizes) if place != left_out]
        contribution[column.name] = unique - _unique(others, rest, count)
    return Uniqueness(
        columns=tuple(column.name for column in chosen),
        rows=dataset.rows,
        unique=unique,
        classes=len(first),
        contribution=contribution,
    )


def _unique_people(
    chosen: Sequence[Column],
    codes: Sequence[npt.NDArray[np.int32]],
    sizes: Sequence[int],
    person: Column,
) -> Uniqueness:
    """Count the persons who are alone with one of their combinations."""
    owner, persons = person.codes + np.int32(1), len(person.values) + 1
    _, first = dense_rank([*codes, owner], [*sizes, persons])  # each person with each combination
    owner, keys = owner[first], [code[first] for code in codes]

    def alone(kept: Sequence[int]) -> tuple[int, int]:
        """Return the rows that are unique by some columns, and how many combinations there are."""
        own, room = [keys[d] for d in kept], [sizes[d] for d in kept]
        _, pair = dense_rank([*own, owner], [*room, persons])
        whose = owner[pair]
        if not own:
            return int(len(whose) == 1), 1
        rank, combinations = dense_rank([key[pair] for key in own], room)
        lonely = np.bincount(rank)[rank] == 1
        return len(np.unique(whose[lonely])), len(combinations)

    every = range(len(keys))
    unique, classes = alone(every)
    return Uniqueness(
        columns=tuple(column.name for column in chosen),
        rows=len(np.unique(owner)),
        unique=unique,
        classes=classes,
        contribution={
            column.name: unique - alone([d for d in every if d != place])[0]
            for place, column in enumerate(chosen)
        },
        counted="people",
    )


def _unique(
    keys: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int], count: npt.NDArray[np.intp]
) -> int:
    """Return the rows alone with their key, where key i represents count[i] rows."""
    if not keys:
        return int(count.sum() == 1)
    rank, first = dense_rank(keys, sizes)
    return int(np.count_nonzero(np.bincount(rank, weights=count, minlength=len(first)) == 1))


def level_effects(
    dataset: Dataset, quasi: Sequence[str], hierarchy: Hierarchy
) -> tuple[LevelEffect, ...]:
    """Return what each level of one column's hierarchy does, the other columns left as they are.

    Parameters
    ----------
    quasi : sequence of str
        The quasi-identifiers; the hierarchy's column is counted with them in any case.
    hierarchy : Hierarchy
        Of a column of `dataset`; it must cover its values (see `from_rows`).
    """
    own = dataset.column(hierarchy.column)
    others = [dataset.column(name) for name in dict.fromkeys(quasi) if name != own.name]
    keys, count, leaf = _keys(own, others, hierarchy)
    sizes = [len(column.values) + 1 for column in others]
    effects: list[LevelEffect] = []
    for level in range(hierarchy.height + 1):
        node = hierarchy.node(level)[leaf]
        nodes = len(hierarchy.starts[level])
        rank, first = dense_rank([node, *keys], [nodes, *sizes])
        # Levels nest: the next one is counted from the classes of this one, which are fewer.
        count = np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64)
        keys, leaf = [key[first] for key in keys], leaf[first]
        lo, hi = hierarchy.bounds(level)
        price = np.maximum(hierarchy.leaf_count(lo, hi) - 1, 0) / max(hierarchy.size - 1, 1)
        effects.append(
            LevelEffect(
                level=level,
                groups=len(np.unique(node)) - int(_apart(hierarchy, lo, hi, node)),
                classes=len(first),
                unique=int(np.count_nonzero(count == 1)),
                smallest=int(count.min(initial=dataset.rows)),
                loss=float(price[node[first]] @ count) / max(dataset.rows, 1),
            )
        )
    return tuple(effects)


def _apart(
    hierarchy: Hierarchy,
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    node: npt.NDArray[np.int32],
) -> bool:
    """Say whether missing values are among a level's nodes, with no other value next to them."""
    last = len(lo) - 1  # the missing value is the last leaf
    alone = len(lo) > 1 and hierarchy.leaves[-1] == ""
    return alone and bool(lo[last] == hi[last]) and bool(np.any(node == last))


def _keys(
    own: Column, others: Sequence[Column], hierarchy: Hierarchy
) -> tuple[list[npt.NDArray[np.int32]], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the distinct rows: the others' codes, how often they are, and the own leaf."""
    leaf_of = _leaf_of_code(own, hierarchy)
    codes = [leaf_of[own.codes], *(column.codes + np.int32(1) for column in others)]
    sizes = [len(hierarchy.leaves), *(len(column.values) + 1 for column in others)]
    rank, first = dense_rank(codes, sizes)
    count = np.bincount(rank).astype(np.int64)
    return [c[first] for c in codes[1:]], count, codes[0][first]


def _leaf_of_code(column: Column, hierarchy: Hierarchy) -> npt.NDArray[np.int32]:
    """Return the leaf of each code; the last entry, reached by code -1, is the missing value's."""
    places = [hierarchy.code[text] for text in column.values]
    return np.array([*places, len(hierarchy.leaves) - 1], dtype=np.int32)


def distribution(column: Column, *, most: int = 24) -> Distribution:
    """Return how the rows spread over a column's values.

    Parameters
    ----------
    most : int
        Largest number of bars. Numbers and dates with more distinct values get intervals.
    """
    if column.measure is not None and len(column.values) > most:
        bars = _intervals(column, column.measure, most)
        return Distribution(
            bars=bars, intervals=True, other_values=0, other_rows=0, missing=column.missing
        )
    places = np.arange(len(column.values))
    if column.measure is None and not KINDS[column.kind].ordered:
        places = np.argsort(-column.counts, kind="stable")
    elif len(places) > most:  # an order without measure: the most frequent, in their order
        places = np.sort(np.argsort(-column.counts, kind="stable")[:most])
    shown = places[:most]
    bars = tuple(Bar(label=column.values[i], rows=int(column.counts[i])) for i in shown)
    return Distribution(
        bars=bars,
        intervals=False,
        other_values=len(column.values) - len(shown),
        other_rows=int(column.counts.sum()) - sum(bar.rows for bar in bars),
        missing=column.missing,
    )


def _intervals(column: Column, measure: npt.NDArray[np.float64], most: int) -> tuple[Bar, ...]:
    """Return bars that cover equally many of the values that the column's grid has."""
    grid = grid_of(measure)
    width = float(measure[-1]) / (most - 1) - float(measure[0]) / (most - 1)
    least = 0.0 if grid is None else grid.step
    round_ones = (step for step in KINDS[column.kind].steps if step >= max(width, least))
    wide = next(round_ones, None) or _round_step(max(width, 1e-290), least=least)
    # A bar that ends between two points of the grid would hold one more than the next one.
    if grid is not None:
        wide = grid.step * math.ceil(wide / grid.step - 1e-9)
    begin = math.floor(float(measure[0]) / wide + 1e-9)
    place = np.floor(measure / wide + 1e-9).astype(np.int64) - begin
    rows = np.bincount(place, weights=column.counts)
    bars: list[Bar] = []
    for i in range(len(rows)):
        low, high = (begin + i) * wide, (begin + i + 1) * wide
        bars.append(
            Bar(
                label=f"{_mark(low, column)} – {_mark(high, column)}",
                rows=int(rows[i]),
                low=low,
                high=high,
            )
        )
    return tuple(bars)


def _round_step(width: float, *, least: float) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ that is at least `width`, or `least` if that is more."""
    if width <= least:
        return least
    size = 10.0 ** np.floor(np.log10(width))
    return float(next(size * part for part in (1.0, 2.0, 5.0, 10.0) if size * part >= width))


def _mark(value: float, column: Column) -> str:
    return KINDS[column.kind].tick(value)
