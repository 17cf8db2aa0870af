"""What the charts of one result are drawn from, computed once and kept with the session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from anon_core.frequency import dense_rank
from anon_core.results import AttackResult
from anon_core.runner import Result
from ui.words import in_order

if TYPE_CHECKING:
    import pandas as pd

    from anon_core.release import Persons

_KEPT = "facts"
_MOST = 12
MISSING_TEXT = "(missing)"


def facts(result: Result) -> Facts:
    """Return the facts of a result, from the session where they were computed before."""
    kept: dict[int, Facts] = st.session_state.setdefault(_KEPT, {})
    found = kept.get(id(result))
    if found is None or found.result is not result:
        while len(kept) >= _MOST:
            kept.pop(next(iter(kept)))
        found = kept[id(result)] = Facts(result=result)
    return found


def shown(text: str) -> str:
    """Return a cell's text for a label; the missing value gets words."""
    return text or MISSING_TEXT


@dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """A result seen as classes, rows and shares. Classes are those an attacker sees.

    Attributes
    ----------
    result : Result
    """

    result: Result

    @cached_property
    def figures(self) -> dict[str, object]:
        """The result's figures as plain values; everything shown as text comes from here."""
        return self.result.as_json()

    @cached_property
    def attacks(self) -> list[AttackResult]:
        """The attacks in the order in which they are told."""
        return in_order(self.result.attacks)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per class, shape (classes,)."""
        return self.result.class_sizes

    @cached_property
    def least(self) -> int:
        """The smallest class the plan allows."""
        return max(model.least_size() for model in self.result.plan.models)

    @cached_property
    def persons(self) -> Persons | None:
        """The classes with their cells; None where quasi-identifiers are permuted apart."""
        view = self.result.release.view
        block = view.whole_quasi()
        return None if block is None else view.persons(block)

    @cached_property
    def by_size(self) -> npt.NDArray[np.int64]:
        """Class numbers from the smallest class to the largest, shape (classes,)."""
        return np.argsort(self.sizes, kind="stable").astype(np.int64)

    @cached_property
    def place(self) -> npt.NDArray[np.int64]:
        """Place of every class in `by_size`, counted from 0, shape (classes,)."""
        place = np.empty(len(self.by_size), dtype=np.int64)
        place[self.by_size] = np.arange(len(self.by_size))
        return place

    def cells(self, number: int) -> dict[str, str]:
        """Return what a class says, by quasi-identifier."""
        persons = self.persons
        if persons is None:
            return {}
        pools = self.result.release.vocabularies
        return {
            name: shown(pools[name].texts[code])
            for name, code in zip(persons.columns, persons.codes[number].tolist(), strict=True)
        }

    # ---- rows ------------------------------------------------------------------------------------

    @cached_property
    def published_place(self) -> npt.NDArray[np.int64]:
        """For every published row the place of its class, shape (published rows,)."""
        return self.place[self.result.member]

    @cached_property
    def original_place(self) -> npt.NDArray[np.int64]:
        """For every row of the table the place of its class, -1 where it is hidden."""
        group = self.result.row_group
        found = np.full(len(group), -1, dtype=np.int64)
        found[group >= 0] = self.place[group[group >= 0]]
        return found

    @cached_property
    def published(self) -> pd.DataFrame:
        """The published rows with the number of their class, smallest classes first."""
        order = np.argsort(self.published_place, kind="stable")
        frame = self.result.published.take(order).to_pandas()
        frame.insert(0, "class", self.published_place[order] + 1)
        return frame

    @cached_property
    def original(self) -> pd.DataFrame:
        """The same people as they stand in the table, identifiers left out, in the same order."""
        kept = np.flatnonzero(self.original_place >= 0)
        order = kept[np.argsort(self.original_place[kept], kind="stable")]
        frame = self._table.iloc[order].reset_index(drop=True)
        frame.insert(0, "class", self.original_place[order] + 1)
        return frame

    @cached_property
    def hidden(self) -> pd.DataFrame:
        """The rows of the table that are not published, identifiers left out."""
        return self._table[self.original_place < 0].reset_index(drop=True)

    @cached_property
    def _table(self) -> pd.DataFrame:
        import pandas as pd

        problem = self.result.problem
        data: dict[str, Any] = {}
        for name in problem.roles.published(problem.dataset):
            column = problem.dataset.column(name)
            pool: Any = list(column.values)
            data[name] = pd.Categorical.from_codes(column.codes, categories=pool)
        return pd.DataFrame(data)

    @cached_property
    def coarse(self) -> dict[str, frozenset[str]]:
        """By quasi-identifier, the published texts that stand for more than one value."""
        found: dict[str, frozenset[str]] = {}
        for name in self.result.problem.quasi:
            pool = self.result.release.vocabularies[name]
            wide = pool.lo < pool.hi
            found[name] = frozenset(t for t, w in zip(pool.texts, wide, strict=True) if w)
        return found

    @cached_property
    def page_starts(self) -> npt.NDArray[np.int64]:
        """First row of every class in `published`, and the number of rows, shape (classes + 1,)."""
        ordered = self.sizes[self.by_size]
        return np.concatenate([[0], np.cumsum(ordered)]).astype(np.int64)

    # ---- sensitive values ------------------------------------------------------------------------

    def whole(self, column: str) -> dict[str, float]:
        """Return the share of every value of a sensitive column in the whole release."""
        block = self.result.release.view.block_of(column)
        texts = self.result.release.vocabularies[column].texts
        codes = block.codes[:, block.columns.index(column)]
        count = np.bincount(codes, weights=block.count, minlength=len(texts))
        return {shown(t): float(n) for t, n in zip(texts, count / max(count.sum(), 1), strict=True)}

    def within(self, column: str, number: int) -> dict[str, float]:
        """Return the share of every value that occurs in one class."""
        block = self.result.release.view.block_of(column)
        texts = self.result.release.vocabularies[column].texts
        here = block.group == number
        codes = block.codes[here, block.columns.index(column)]
        count = np.bincount(codes, weights=block.count[here], minlength=len(texts))
        total = max(float(count.sum()), 1.0)
        return {shown(t): float(n) / total for t, n in zip(texts, count, strict=True) if n}

    def difference(self, column: str) -> npt.NDArray[np.float64]:
        """Return, per class, half the sum of differences to the whole, shape (classes,)."""
        if column not in self._differences:
            self._differences[column] = self._difference(column)
        return self._differences[column]

    @cached_property
    def _differences(self) -> dict[str, npt.NDArray[np.float64]]:
        return {}

    def _difference(self, column: str) -> npt.NDArray[np.float64]:
        block = self.result.release.view.block_of(column)
        codes = block.codes[:, block.columns.index(column)]
        texts = self.result.release.vocabularies[column].texts
        groups = len(self.sizes)
        rank, first = dense_rank([block.group.astype(np.int32), codes], [groups, len(texts)])
        count = np.bincount(rank, weights=block.count, minlength=len(first))
        owner, value = block.group[first], codes[first]
        whole = np.bincount(value, weights=count, minlength=len(texts)) / max(count.sum(), 1)
        share = count / self.sizes[owner]
        apart = np.bincount(owner, weights=np.abs(share - whole[value]), minlength=groups)
        covered = np.bincount(owner, weights=whole[value], minlength=groups)
        # A value that a class does not show differs by its whole share.
        return (apart + 1 - covered) / 2


def size_edges(least: Sequence[int], largest: int) -> list[int]:
    """Return where the bins of class sizes begin: 1, 2, 5, 10, 20, …, and every k asked for.

    Examples
    --------
    >>> size_edges([3], 40), size_edges([2], 70)
    ([1, 2, 3, 5, 10, 20, 50], [1, 2, 5, 10, 20, 50, 100])
    """
    edges = {1, *least}
    scale = 1
    while scale <= largest:
        edges |= {scale, 2 * scale, 5 * scale}
        scale *= 10
    edges.add(scale)
    ordered = sorted(edges)
    beyond = next((i for i, e in enumerate(ordered) if e > largest), len(ordered) - 1)
    return ordered[: max(beyond, max(ordered.index(k) for k in least) + 1) + 1]


def binned(sizes: npt.NDArray[np.int64], edges: Sequence[int]) -> pd.DataFrame:
    """Return classes and people per bin of class size, one row a bin."""
    import pandas as pd

    bins = len(edges) - 1
    place = np.searchsorted(np.array(edges), sizes, side="right") - 1
    labels = [f"{lo:,}" if hi == lo + 1 else f"{lo:,}–{hi - 1:,}" for lo, hi in pairwise(edges)]
    return pd.DataFrame(
        {
            "rows in the class": labels,
            "classes": np.bincount(place, minlength=bins)[:bins],
            "people": np.bincount(place, weights=sizes, minlength=bins).astype(np.int64)[:bins],
        }
    )
