"""What the charts of one result are drawn from, computed once and kept with the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from anon_core.contracts.model import GroupModel, least_class
from anon_core.data.frequency import dense_rank
from anon_core.explain.text.phrases import in_order, undefined
from anon_core.methods.matching.matching import ConsistencyModel
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from ui.state import results

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from anon_core.release.release import Persons

_KEPT = "facts"
_MOST = 12
#: Rows of a table whose results are not held longer than needed.
_LARGE = 100_000
#: What a result's measures and attacks say, of which first figures have a part.
_OF_MEASURES = ("figures", "attacks", "not_run", "undefined")
MISSING_TEXT = "(missing)"


def facts(result: Result) -> Facts:
    """Return the facts of a result, from the session where they were computed before."""
    kept: dict[int, Facts] = st.session_state.setdefault(_KEPT, {})
    found = kept.get(id(result))
    if found is None or found.result is not result:
        _let_go(kept)
        found = kept[id(result)] = Facts(result=result)
    return found


def _let_go(kept: dict[int, Facts]) -> None:
    """Forget the facts of results that the session does not hold, where they are large or many."""
    held = {id(result) for result in results.held()}
    for key in [key for key in kept if key not in held]:
        if len(kept) >= _MOST or kept[key].result.problem.rows > _LARGE:
            del kept[key]
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]


def carry(before: Result, now: Result) -> None:
    """Take over what was computed of a run's first figures: its release is the same."""
    kept: dict[int, Facts] = st.session_state.get(_KEPT, {})
    found = kept.get(id(before))
    if found is None or found.result is not before or before.release is not now.release:
        return
    del kept[id(before)]
    own = {n: v for n, v in vars(found).items() if n not in ("result", "number", *_OF_MEASURES)}
    vars(facts(now)).update(own)


def shown(text: str) -> str:
    """Return a cell's text for a label; the missing value gets words."""
    return text or MISSING_TEXT


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Rows from the smallest class to the largest; a frame is made of those alone that are shown.

    Attributes
    ----------
    head : str
        Name of the column of class numbers.
    numbers : int64 array of shape (rows,)
        The number by which the class of each is shown.
    order : int64 array of shape (rows,)
        Which row of the table each is.
    take : callable
        Returns rows of the table as a frame.
    """

    head: str
    numbers: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    take: Callable[[npt.NDArray[np.int64]], pd.DataFrame]

    def __len__(self) -> int:
        return len(self.order)

    def of(self, numbers: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of some classes."""
        here = np.isin(self.numbers, numbers)
        return replace(self, numbers=self.numbers[here], order=self.order[here])

    def frame(self, start: int = 0, stop: int | None = None) -> pd.DataFrame:
        """Return the rows of some places with the numbers of their classes first."""
        frame = self.take(self.order[start:stop]).reset_index(drop=True)
        frame.insert(0, self.head, self.numbers[start:stop])
        return frame


@dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """A result seen as classes, rows and shares. Classes are those an attacker sees.

    Attributes
    ----------
    result : Result
    number : int
        No two facts of this process have the same, also where one result has gone.
    """

    result: Result
    number: int = field(default_factory=count().__next__)

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The result's figures as plain values; everything shown as text comes from here."""
        return figures_of(self.result)

    @cached_property
    def attacks(self) -> list[AttackResult]:
        """The attacks in the order in which they are reported."""
        return in_order(self.result.attacks)

    @cached_property
    def not_run(self) -> dict[str, str]:
        """The attacks that could not be run on what is published: the reason by name."""
        waiting = self.result.on_request
        return {n: why for n, why in self.result.not_run.items() if n not in waiting}

    @cached_property
    def undefined(self) -> list[str]:
        """The attacks that are not defined on what is published, with the reason."""
        return undefined(self.result) if self.permuted else []

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per class, shape (classes,)."""
        return self.result.class_sizes

    @cached_property
    def hiding(self) -> npt.NDArray[np.int64]:
        """What hides a person in each class: rows, or distinct persons; shape (classes,)."""
        return self.result.hiding

    @cached_property
    def permuted(self) -> bool:
        """Whether links are cut within numbered groups, instead of cells made coarser."""
        return self.result.release.grouping.published

    @property
    def noun(self) -> tuple[str, str]:
        """What rows that are together are called, one and many."""
        return ("group", "groups") if self.permuted else ("class", "classes")

    @cached_property
    def least(self) -> int:
        """The smallest class the plan allows; privacy models about matches allow any."""
        return least_class(self._about_classes, self.result.problem.population)

    @property
    def _about_classes(self) -> list[GroupModel]:
        return [m for m in self.result.plan.models if not isinstance(m, ConsistencyModel)]

    @cached_property
    def least_name(self) -> str:
        """The letter of the privacy model behind `least`."""
        people = self.result.problem.population
        model = max(self._about_classes, key=lambda m: m.least_class(people), default=None)
        values = {} if model is None else model.as_mapping()
        return next((n for n, v in values.items() if v == self.least), "least")

    @cached_property
    def persons(self) -> Persons | None:
        """The classes with their cells; None where quasi-identifiers are permuted separately."""
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

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The number by which each class is shown, from 1: the published one, or its place."""
        if not self.permuted:
            return self.place + 1
        found = np.zeros(len(self.sizes), dtype=np.int64)
        found[self.result.member] = group_numbers(self.result.published)
        return found

    @cached_property
    def head(self) -> str:
        """Name of the column of these numbers; longer where the table has one of that name."""
        name = self.noun[0]
        while name in self.result.problem.roles.published(self.result.problem.dataset):
            name += " number"
        return name

    def cells(self, number: int) -> dict[str, str]:
        """Return what a class says, by quasi-identifier; the rows of a group say nothing as one."""
        persons = self.persons
        if persons is None or self.permuted:
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
        """For every row of the table the place of its class, -1 where it is suppressed."""
        group = self.result.row_group
        found = np.full(len(group), -1, dtype=np.int64)
        found[group >= 0] = self.place[group[group >= 0]]
        return found

    @cached_property
    def published_rows(self) -> Rows:
        """The rows of the first published table, whose cells are not permuted."""
        table = self.result.tables[next(iter(self.result.tables))]
        place = self.published_place
        order = np.argsort(place, kind="stable")
        numbers = self.numbers[self.by_size[place[order]]]
        return Rows(
            head=self.head,
            numbers=numbers,
            order=order,
            take=lambda rows: _texts(table.take(rows)),
        )

    @cached_property
    def published(self) -> pd.DataFrame:
        """The published rows with the number of their class, smallest classes first."""
        return self.tables[next(iter(self.result.tables))]

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every published table with the number of the class first, smallest classes first."""
        found: dict[str, pd.DataFrame] = {}
        owner = np.zeros(int(self.numbers.max(initial=0)) + 1, dtype=np.int64)
        owner[self.numbers] = self.place
        for title, table in self.result.tables.items():
            place = owner[group_numbers(table)] if self.permuted else self.published_place
            order = np.argsort(place, kind="stable")
            frame = table.take(order).to_pandas()
            if self.permuted:
                frame = frame.drop(columns=self.head)
            frame.insert(0, self.head, self.numbers[self.by_size[place[order]]])
            found[title] = frame
        return found

    @cached_property
    def original(self) -> pd.DataFrame:
        """The same people as they are in the table, identifiers left out, in the same order."""
        return self.original_rows.frame()

    @cached_property
    def original_rows(self) -> Rows:
        """The rows of `original`."""
        kept = np.flatnonzero(self.original_place >= 0)
        order = kept[np.argsort(self.original_place[kept], kind="stable")]
        numbers = self.numbers[self.by_size[self.original_place[order]]]
        table = self._table
        return Rows(
            head=self.head, numbers=numbers, order=order, take=lambda rows: table.iloc[rows]
        )

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
            if problem.before is not None and name not in problem.roles.shown:
                column = problem.before.columns.get(name, column)
            pool: Any = list(column.values)
            data[name] = pd.Categorical.from_codes(column.codes, categories=pool)
        return pd.DataFrame(data)

    @cached_property
    def coarse(self) -> dict[str, frozenset[str]]:
        """By quasi-identifier, the published texts that represent more than one value."""
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
        owner, value, count = self._counted(column)
        texts, groups = self.result.release.vocabularies[column].texts, len(self.sizes)
        whole = np.bincount(value, weights=count, minlength=len(texts)) / max(count.sum(), 1)
        share = count / self.sizes[owner]
        apart = np.bincount(owner, weights=np.abs(share - whole[value]), minlength=groups)
        covered = np.bincount(owner, weights=whole[value], minlength=groups)
        # A value that a class does not show differs by its whole share.
        return (apart + 1 - covered) / 2

    def surest(self, column: str) -> tuple[npt.NDArray[np.float64], list[str]]:
        """Return, per class, the share of its most common value, and that value."""
        if column not in self._surest:
            self._surest[column] = self._most_common(column)
        return self._surest[column]

    @cached_property
    def _surest(self) -> dict[str, tuple[npt.NDArray[np.float64], list[str]]]:
        return {}

    def _most_common(self, column: str) -> tuple[npt.NDArray[np.float64], list[str]]:
        owner, value, count = self._counted(column)
        last = np.lexsort((count, owner))
        ends = last[np.searchsorted(owner[last], np.arange(len(self.sizes)), side="right") - 1]
        texts = self.result.release.vocabularies[column].texts
        return count[ends] / self.sizes, [shown(texts[v]) for v in value[ends].tolist()]

    def _counted(
        self, column: str
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return the (class, value) pairs of a sensitive column and the rows that show them."""
        block = self.result.release.view.block_of(column)
        codes = block.codes[:, block.columns.index(column)]
        sizes = [len(self.sizes), len(self.result.release.vocabularies[column].texts)]
        rank, first = dense_rank([block.group.astype(np.int32), codes], sizes)
        count = np.bincount(rank, weights=block.count, minlength=len(first))
        return block.group[first], codes[first], count.astype(np.float64)


def group_numbers(table: pa.Table) -> npt.NDArray[np.int64]:
    """Return the published group number of every row of a table that begins with it."""
    column = table.column(0).to_pandas()
    return np.asarray(column.astype(str).astype(np.int64), dtype=np.int64)


def _texts(table: pa.Table) -> pd.DataFrame:
    """Return a few rows without dictionaries, each of which pandas would look through whole."""
    import pyarrow as pa

    columns = [
        one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one
        for one in table.columns
    ]
    return pa.table(columns, names=table.column_names).to_pandas()
