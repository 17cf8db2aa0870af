"""Count rows by categories that are fixed beforehand, and publish the counts with noise."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, nextafter, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, brief, listing, nearest
from anon_core.base.registry import find
from anon_core.counts.noise import above_threshold, refuse_without_library, with_noise
from anon_core.data.column import Column
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import from_rows
from anon_core.data.table import MISSING, Dataset
from anon_core.data.values.formulas import neutralised

#: Cells of one table of counts: noise is drawn for every one of them.
MOST_CELLS = 100_000
#: Beyond it e^ε says that one row may change nearly everything.
MOST_EPSILON = 10
LevelTable = Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class CountTable:
    """Noisy counts by the categories of some columns. The exact ones are kept nowhere.

    Attributes
    ----------
    by : tuple of str
        The columns.
    levels : mapping of str to int
        Level of each column's hierarchy that its categories are the labels of.
    cells : mapping of tuple of str to int
        Noisy count by category; an empty text is the missing value.
    epsilon, delta : float
        What this table spends; δ only where categories come from the table itself.
    threshold : int
        Noisy counts below it are left out; 0 where categories are fixed, and all are there.
    """

    by: tuple[str, ...]
    levels: Mapping[str, int]
    cells: Mapping[tuple[str, ...], int]
    epsilon: float
    delta: float = 0.0
    threshold: int = 0


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Tables of noisy counts, and what they spend together.

    Attributes
    ----------
    epsilon, delta : float
        The whole budget: those of the tables add up to no more.
    clipped : bool
        Whether counts below 0 were raised to 0, which says nothing new of anyone.
    """

    tables: tuple[CountTable, ...]
    epsilon: float
    delta: float
    clipped: bool

    @property
    def sentence(self) -> str:
        """What is guaranteed, in the words of NIST SP 800-226."""
        many = len(self.tables)
        split = f", split among {many} tables" if many > 1 else ""
        return (
            f"(ε, δ)-differential privacy with ε = {self.epsilon:g} and δ = {self.delta:g}{split}: "
            "the unit is one row, neighbours differ by one row added or removed, the trust model "
            "is central. It covers these counts alone; every further release of the same rows adds "
            "its own budget."
        )

    def as_json(self) -> dict[str, Any]:
        """Return all that may be published, as plain values."""
        return {
            "guarantee": find("model", "differential-privacy").name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": "one row",
            "neighbours": "one row added or removed",
            "trust": "central: the person who runs it sees the table",
            "composition": "the budgets of the tables, and of all releases of these rows, add up",
            "noise": "two-sided geometric (discrete Laplace), drawn by OpenDP",
            "clipped": self.clipped,
            "sentence": self.sentence,
            "tables": [
                {
                    "by": list(table.by),
                    "levels": dict(table.levels),
                    "epsilon": table.epsilon,
                    "delta": table.delta,
                    "threshold": table.threshold or None,
                    "cells": [[*cell, count] for cell, count in table.cells.items()],
                }
                for table in self.tables
            ],
        }


def noisy_counts(
    dataset: Dataset,
    by: Sequence[Sequence[str]],
    *,
    epsilon: float,
    hierarchies: Mapping[str, LevelTable] | None = None,
    levels: Mapping[str, int] | None = None,
    delta: float = 0.0,
    clip: bool = False,
    spend: Callable[[], object] | None = None,
) -> Counts:
    """Count the rows of a table by one or more sets of columns, with noise.

    Categories are the labels of a level of each column's hierarchy, all of them, whether a row has
    them or not, and the missing value. The hierarchies must have been made without the table.

    Parameters
    ----------
    dataset : Dataset
        With the kinds of columns as they were declared.
    by : sequence of sequences of str
        The columns of each table of counts. All tables have the same part of the budget.
    epsilon : float
        ε of all tables together.
    hierarchies : mapping of str to level table, optional
        By column: value first, then one label a level.
    levels : mapping of str to int, optional
        Level by column; 0, the values themselves, where none is given.
    delta : float
        δ of all tables together. Only with it columns without a hierarchy may be counted by: their
        categories are then those of the table that are common enough.
    clip : bool
        Raise counts below 0 to 0.
    spend : callable, optional
        Called once nothing is refused any more and before noise is drawn, to enter the budget
        somewhere; what it raises, ends the draw.

    Returns
    -------
    Counts
        Drawn again by every call, and spent by every call.

    Raises
    ------
    BadPlan
        If columns, levels or budget are not what is allowed, or categories would come from the
        table without δ.
    InputChanged
        If the table has a value that its hierarchy lacks.
    AnonError
        If OpenDP's library is not installed.
    """
    given, chosen = dict(hierarchies or {}), dict(levels or {})
    _refuse_budget(epsilon, delta)
    _refuse_columns(dataset, by, given, chosen)
    refuse_without_library()
    parts = [_Part(dataset, names, given, chosen) for names in by]
    own = [part for part in parts if not part.fixed]
    if own and not delta:
        raise BadPlan(
            f"Counts by {listing(own[0].free)} would name categories that the table itself gives, "
            "so that one row could bring a new one.",
            remedy="Give a hierarchy that lists all its values, or a delta above 0: categories "
            "that are common enough are then published.",
        )
    if delta and not own:
        raise BadPlan(
            f"delta is {brief(delta)}, but all categories are fixed, and no δ is spent.",
            remedy="Leave delta out.",
        )
    if spend is not None:
        spend()
    each = _below(Fraction(str(epsilon)) / len(parts))
    chance = _below(Fraction(str(delta)) / len(own)) if own else 0.0
    return Counts(
        tables=tuple(part.counted(each, 0.0 if part.fixed else chance, clip) for part in parts),
        epsilon=epsilon,
        delta=delta,
        clipped=clip,
    )


class _Part:
    """One table of counts before it is drawn."""

    def __init__(
        self,
        dataset: Dataset,
        names: Sequence[str],
        hierarchies: Mapping[str, LevelTable],
        levels: Mapping[str, int],
    ) -> None:
        self.by = tuple(names)
        self.levels = {name: levels.get(name, 0) for name in names}
        self.free = [name for name in names if name not in hierarchies]
        self._pools: list[list[str]] = []
        codes: list[npt.NDArray[np.int32]] = []
        for name in names:
            column = dataset.column(name)
            pool, of_value = _categories(column, hierarchies.get(name), self.levels[name])
            self._pools.append(pool)
            codes.append(of_value[column.codes])  # a missing value is -1, and the last
        cells = prod(len(pool) for pool in self._pools)
        if self.fixed and cells > MOST_CELLS:
            raise BadPlan(
                f"Counts by {listing(names)} have {cells:,} categories; at most {MOST_CELLS:,} are "
                "counted.",
                remedy="Count by fewer columns, or at coarser levels.",
            )
        rank, first = dense_rank(codes, [len(pool) for pool in self._pools])
        distinct = np.stack([own[first] for own in codes], axis=1).tolist()
        counts = np.bincount(rank, minlength=len(first)).tolist()
        self._exact = Counter(dict(zip(map(tuple, distinct), counts, strict=True)))

    @property
    def fixed(self) -> bool:
        """Whether no category comes from the table."""
        return not self.free

    def counted(self, epsilon: float, delta: float, clip: bool) -> CountTable:
        """Draw the noise, once."""
        if self.fixed:
            every = list(product(*(range(len(pool)) for pool in self._pools)))
            noisy = with_noise([self._exact[cell] for cell in every], epsilon)
            found, threshold = dict(zip(every, noisy, strict=True)), 0
        else:
            keys = {json.dumps(cell): count for cell, count in self._exact.items()}
            above, threshold = above_threshold(keys, epsilon, delta)
            found = {tuple(json.loads(key)): above[key] for key in sorted(above)}
        return CountTable(
            by=self.by,
            levels=self.levels,
            cells={
                tuple(pool[code] for pool, code in zip(self._pools, cell, strict=True)): (
                    max(count, 0) if clip else count
                )
                for cell, count in sorted(found.items())
            },
            epsilon=epsilon,
            delta=delta,
            threshold=threshold,
        )


def _categories(
    column: Column, levels: LevelTable | None, level: int
) -> tuple[list[str], npt.NDArray[np.int32]]:
    """Return a column's categories, and the category of each value, then of a missing one.

    They follow from the hierarchy alone, not from what the table holds of it. The missing value
    hangs under the root: on the top level it is counted with all others.
    """
    if levels is None:
        if column.spelled is not None:
            raise BadPlan(
                f"'{column.name}' has equal values in several spellings (1.0 and 1) or marks "
                "between thousands, and which spelling names a category would follow from all rows "
                "together.",
                remedy="Write them one way, declare the column as text, or give a hierarchy.",
            )
        own = np.arange(len(column.values) + 1, dtype=np.int32)
        return [*column.values, MISSING], own
    from_rows(column, levels)  # refuses values that it lacks
    nobody = replace(column, values=(), codes=column.codes[:0], measure=column.codes[:0])
    hierarchy = from_rows(nobody, levels)
    if level > hierarchy.height:
        raise BadPlan(
            f"The level of '{column.name}' is {brief(level)}; its hierarchy has the levels 0 to "
            f"{hierarchy.height}.",
            remedy="Choose one of these.",
        )
    if hierarchy.measure is not None and column.measure is not None:
        leaves = np.searchsorted(hierarchy.measure, column.measure).astype(np.int32)
    elif any(value not in hierarchy.code for value in column.values):
        raise BadPlan(
            f"'{column.name}' has a value that is written like a missing one, and its hierarchy "
            "lists it.",
            remedy="Name the text among [data] missing_values, or write the value in another way.",
        )
    else:
        leaves = np.array([hierarchy.code[value] for value in column.values], dtype=np.int32)
    pool = list(hierarchy.labels[level])
    if level < hierarchy.height:
        pool.append(MISSING)
    return pool, np.append(hierarchy.node(level)[leaves], len(pool) - 1).astype(np.int32)


def _below(value: Fraction) -> float:
    """Return the nearest float that is not above a fraction."""
    found = float(value)
    return found if Fraction(found) <= value else nextafter(found, -inf)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse_budget(epsilon: float, delta: float) -> None:
    if not _is_number(epsilon) or not 0 < epsilon <= MOST_EPSILON:
        raise BadPlan(
            f"epsilon is {brief(epsilon)}; allowed is a number above 0, up to {MOST_EPSILON}.",
            remedy="Set it to what one row may change at most, for example 0.5.",
        )
    if not _is_number(delta) or not 0 <= delta < 1:
        raise BadPlan(
            f"delta is {brief(delta)}; allowed is a number from 0 to below 1.",
            remedy="Leave it out, or set it far below 1 by the number of rows, for example 1e-6.",
        )


def _refuse_columns(
    dataset: Dataset,
    by: Sequence[Sequence[str]],
    hierarchies: Mapping[str, LevelTable],
    levels: Mapping[str, int],
) -> None:
    if not by or not all(by):
        raise BadPlan(
            "No column is named to count by.", remedy="Name at least one, for example age."
        )
    for names in by:
        for name in names:
            dataset.column(name)
        if len(set(names)) < len(names):
            raise BadPlan(
                f"Counts by {listing(names)} name a column twice.", remedy="Name each once."
            )
    named = {name for names in by for name in names}
    for name, level in levels.items():
        if name not in named:
            raise BadPlan(
                f"A level is given for '{name}', by which nothing is counted.",
                remedy=f"Remove it.{nearest(name, named)}",
            )
        if not _is_number(level) or level < 0 or level != int(level):
            raise BadPlan(
                f"The level of '{name}' is {brief(level)}; allowed are whole numbers from 0 up.",
                remedy="Choose a level of its hierarchy.",
            )
        if level and name not in hierarchies:
            raise BadPlan(
                f"Level {level} of '{name}' needs a hierarchy, and none is given.",
                remedy="Give one, or count by its values.",
            )


# Counts with noise as files: a CSV for each table, and what is guaranteed of all of them.


def files_of(found: Counts) -> dict[str, bytes]:
    """Return what may be published, by file name: ``counts-1.csv`` and so on, ``guarantee.json``.

    Cells that a spreadsheet would execute are neutralised.
    """
    files: dict[str, bytes] = {}
    for number, table in enumerate(found.tables, 1):
        text = io.StringIO(newline="")
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([*(neutralised(name) for name in table.by), "count"])
        for cell, count in table.cells.items():
            lines.writerow([*(neutralised(label) for label in cell), count])
        files[f"counts-{number}.csv"] = text.getvalue().encode()
    report = json.dumps(found.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    files["guarantee.json"] = f"{report}\n".encode()
    return files
