"""How often cells cover the values behind them, estimated by splink from the register itself."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.arrays import F64, I32, I64
from ..base.context import Context
from ..base.errors import AnonError
from .agreement import Agreement

#: What the optional part of the installation is called, and what it installs.
EXTRA = "splink"

_PAIRS = 300_000  # pairs of a row and a person that one estimate compares: about five seconds
_ROWS = 20  # fewer than so many say next to nothing
_COLUMNS = 4  # with two columns beside that of the pairs, several answers explain them alike
_LOOK = 0.1  # seconds between two looks at whether somebody cancelled
_TRIES = 15
_ROUNDS = 50


def splink() -> tuple[Any, ...]:
    """Return splink, its comparisons and levels, and DuckDB, on which it works here.

    Raises
    ------
    AnonError
        If it is not installed.
    """
    names = ("splink", "splink.comparison_library", "splink.comparison_level_library", "duckdb")
    try:
        return tuple(importlib.import_module(name) for name in names)
    except ImportError as error:
        raise AnonError(
            "The weights are to be estimated by splink, and it is not installed.",
            remedy=f"Install the extra '{EXTRA}': pip install 'anonymity-workbench[{EXTRA}]', or "
            "state the chance of an error.",
        ) from error


def estimated(
    columns: Sequence[Agreement], cells: I32, codes: I32, count: I64, context: Context
) -> list[Agreement]:
    """Return the columns with m estimated by expectation maximisation.

    Someone who does not know how often a cell misses its person's value finds it in the pairs: each
    row has one person, so what agrees more often than by chance does so because of them. As splink
    advises, pairs are taken from those that agree on one column, and the other columns are
    estimated there; the column of the pairs, from those that agree on another one. How often people
    agree by chance (u) is counted from the register text by text, as without splink.

    Parameters
    ----------
    columns : sequence of Agreement
        What is set for m stands where nothing can be estimated: of cells that cover everyone, and
        where fewer than four columns tell people apart.
    cells : int32 array of shape (rows, columns)
        Texts.
    codes : int32 array of shape (tuples, columns)
        The register's people; -1 for a value that no cell covers.
    count : int64 array of shape (tuples,)
        People of each tuple.
    context : Context

    Raises
    ------
    AnonError
        If splink is not installed, or too few rows can be compared with so many people.
    Cancelled

    Notes
    -----
    Winkler 1988, *Using the EM algorithm for weight computation in the Fellegi–Sunter model*;
    splink: Linacre et al. 2022, doi 10.23889/ijpds.v7i3.1794. The model takes columns for
    independent among those who agree by chance. Where they are not, m is off: it is what an
    attacker with this tool would believe, and never a promise.
    """
    splink()
    people = np.repeat(codes, count, axis=0)
    telling = [d for d, c in enumerate(columns) if (c.chance[cells[:, d], 0] < 1.0).any()]
    if len(telling) < _COLUMNS or not len(people):
        return list(columns)
    share = [float(columns[d].chance[cells[:, d], 0].mean()) for d in telling]
    first, second = (telling[i] for i in np.argsort(share, kind="stable")[:2])
    found = list(columns)
    for block, wanted in ((first, [d for d in telling if d != first]), (second, [first])):
        context.report(0.0, "Estimating weights")
        # The other columns of the second look only help: they tell whose pair it is.
        compared = [d for d in telling if d != block]
        sample = _sample(columns[block], cells[:, block], len(people))
        sides = _Sides(columns, cells[sample], people, block, compared)
        for d, match in zip(compared, _in_thread(sides, context), strict=True):
            if d in wanted and match is not None:
                found[d] = _reweighed(columns[d], match)
    return found


def _sample(column: Agreement, texts: I32, people: int) -> I64:
    """Return rows, spread evenly, whose pairs are few enough to be compared."""
    pairs = max(float(column.chance[texts, 0].mean()) * people, 1.0)
    rows = min(int(_PAIRS / pairs), len(texts))
    if rows < min(_ROWS, len(texts)):
        raise AnonError(
            f"The register has {people:,} people, too many for splink to compare them with "
            f"{_ROWS} rows.",
            remedy="State the chance of an error in place of having it estimated.",
        )
    return np.linspace(0, len(texts) - 1, rows).astype(np.int64)


@dataclass(frozen=True)
class _Sides:
    """Rows and people whose pairs are compared, where the row's cell covers in one column."""

    columns: Sequence[Agreement]
    cells: I32
    people: I32
    block: int
    compared: list[int]

    def tables(self) -> tuple[Any, Any]:
        """Return the tables of both sides: limits of cells, and values; the other's are empty."""
        import pandas as pd

        rows: dict[str, Any] = {"unique_id": np.arange(len(self.cells))}
        people: dict[str, Any] = {"unique_id": np.arange(len(self.people))}
        for d in (self.block, *self.compared):
            column, texts = self.columns[d], self.cells[:, d]
            limits = (column.low, column.high, column.near_low, column.near_high)
            for name, limit in zip(("low", "high", "near_low", "near_high"), limits, strict=True):
                rows[f"{name}_{d}"] = limit[texts].astype(np.int64)
                people[f"{name}_{d}"] = pd.NA
            rows[f"value_{d}"] = pd.NA
            people[f"value_{d}"] = self.people[:, d].astype(np.int64)
        return pd.DataFrame(rows).astype("Int64"), pd.DataFrame(people).astype("Int64")

    @property
    def prior(self) -> float:
        """Share of the pairs that are a row and its person, one a row."""
        pairs = self.columns[self.block].chance[self.cells[:, self.block], 0].sum()
        return min(len(self.cells) / max(float(pairs) * len(self.people), 1.0), 0.5)

    def estimate(self, connection: Any) -> list[F64 | None]:
        """Return m of each compared column by level, shape (3,)."""
        tool, comparisons, levels, _ = splink()
        settings: list[Any] = []
        kept: list[list[int]] = []
        for d in self.compared:
            column, texts = self.columns[d], self.cells[:, d]
            chance, match = column.chance[texts].mean(axis=0), column.match[texts].mean(axis=0)
            some = [i for i in range(3) if chance[i] > 0 or i == 2]
            made: list[Any] = []
            for i in some:
                name = ("", "near_")[i] if i < 2 else ""
                sql = f"value_{d}_r BETWEEN {name}low_{d}_l AND {name}high_{d}_l"
                level = levels.CustomLevel(sql) if i < 2 else levels.ElseLevel()
                level.configure(
                    m_probability=float(np.clip(match[i], 1e-6, 1.0)),
                    u_probability=float(np.clip(chance[i], 1e-9, 1.0)),
                )
                made.append(level)
            kept.append(some)
            settings.append(
                comparisons.CustomComparison(
                    output_column_name=f"column_{d}", comparison_levels=made
                )
            )
        backend = tool.DuckDBAPI(connection)
        sides = zip(self.tables(), ("a", "b"), strict=True)
        linker = tool.Linker(
            [backend.register(table, dataset_display_name=name) for table, name in sides],
            tool.SettingsCreator(
                link_type="link_only",
                comparisons=settings,
                probability_two_random_records_match=self.prior,
                max_iterations=_ROUNDS,
                retain_matching_columns=False,
            ),
            log_level=None,
        )
        block = self.block
        session = linker.training.estimate_parameters_using_expectation_maximisation(
            f"r.value_{block} BETWEEN l.low_{block} AND l.high_{block}",
            fix_probability_two_random_records_match=True,
            fix_u_probabilities=False,
        )
        found: list[F64 | None] = []
        learned = session.core_model_settings.comparisons
        for some, comparison in zip(kept, learned, strict=True):
            match = np.zeros(3)
            match[some] = [_number(v.m_probability) for v in comparison.comparison_levels]
            found.append(match if np.isfinite(match).all() and match[0] > 0 else None)
        return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, float | int) else 0.0


def _in_thread(sides: _Sides, context: Context) -> list[F64 | None]:
    """Estimate, and give up at once where somebody cancels."""
    import logging

    logging.getLogger("splink").setLevel(logging.ERROR)
    connection = splink()[3].connect(":memory:")
    box: list[list[F64 | None]] = []
    wrong: list[Exception] = []

    def work() -> None:
        try:
            box.append(sides.estimate(connection))
        except Exception as error:  # noqa: BLE001 -- told on the thread that waits
            wrong.append(error)

    # No daemon: DuckDB must not be cut off in mid-query when the process ends.
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK)
        if context.cancel.is_set():
            _stop(thread, connection)
            context.check()
    connection.close()
    if wrong:
        raise AnonError(
            "splink could not estimate the weights.",
            remedy="State the chance of an error in place of having it estimated.",
        ) from wrong[0]
    return box[0]


def _stop(thread: threading.Thread, connection: Any) -> None:
    """End one query after the other for a short time, and leave behind what still goes on."""
    for _ in range(_TRIES):
        connection.interrupt()
        thread.join(_LOOK / 5)
        if not thread.is_alive():
            return


def _reweighed(column: Agreement, match: F64) -> Agreement:
    """Return a column with m of each level, where the level is possible."""
    possible = column.chance[:, 1:] > 1e-12
    inside = np.where(possible.any(axis=1), np.minimum(match[0], 1.0 - 1e-9), 1.0)
    weight = np.where(possible, np.maximum(match[1:], 1e-12), 0.0)
    whole = np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    rest = weight / whole * (1.0 - inside)[:, None]
    return replace(column, match=np.column_stack([inside, rest]))
