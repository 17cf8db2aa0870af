"""What counts with noise have spent of a table's budget in this session, and the last draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from anon_core.counts.counting import Counts

_SPENT = "spent/by_table"


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The draws from one table.

    Attributes
    ----------
    draws : tuple of Counts
        In the order in which they were drawn; each spends its own budget.
    earlier : tuple of (float, float)
        ε and δ of the draws that were made before the session was saved; their counts are gone.
    """

    draws: tuple[Counts, ...] = ()
    earlier: tuple[tuple[float, float], ...] = ()

    @property
    def budgets(self) -> tuple[tuple[float, float], ...]:
        """ε and δ of every draw."""
        return (*self.earlier, *((draw.epsilon, draw.delta) for draw in self.draws))

    @property
    def epsilon(self) -> float:
        """Sum of ε: what all draws together let anyone learn of a row."""
        return sum(epsilon for epsilon, _ in self.budgets)

    @property
    def delta(self) -> float:
        """Sum of δ."""
        return sum(delta for _, delta in self.budgets)

    @property
    def last(self) -> Counts | None:
        """The draw that is shown."""
        return self.draws[-1] if self.draws else None


def of(fingerprint: str) -> Spent:
    """Return what was drawn from the table with that fingerprint."""
    return _ledger().get(fingerprint, Spent())


def enter(fingerprint: str, drawn: Counts) -> None:
    """Enter a draw; nothing takes it back, not even another table in between."""
    before = of(fingerprint)
    _ledger()[fingerprint] = replace(before, draws=(*before.draws, drawn))


def totals() -> dict[str, list[list[float]]]:
    """Return ε and δ of every draw by the table's fingerprint, as plain JSON."""
    return {table: [list(one) for one in spent.budgets] for table, spent in _ledger().items()}


def checked(content: Mapping[str, Any]) -> dict[str, tuple[tuple[float, float], ...]]:
    """Return what `totals` returned.

    Raises
    ------
    TypeError, ValueError
        If it is not of that form.
    """
    return {
        str(table): tuple((float(epsilon), float(delta)) for epsilon, delta in drawn)
        for table, drawn in content.items()
    }


def take_over(kept_totals: Mapping[str, tuple[tuple[float, float], ...]]) -> None:
    """Enter what an opened session has spent, where this one does not know of more."""
    for table, drawn in kept_totals.items():
        if len(drawn) > len(of(table).budgets):
            _ledger()[table] = Spent(earlier=drawn)


def _ledger() -> dict[str, Spent]:
    return cast(dict[str, Spent], st.session_state.setdefault(_SPENT, {}))
