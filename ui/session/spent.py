"""What counts with noise have spent of a table's budget in this session, and the last draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

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
    """

    draws: tuple[Counts, ...] = ()

    @property
    def epsilon(self) -> float:
        """Sum of ε: what all draws together let anyone learn of a row."""
        return sum(draw.epsilon for draw in self.draws)

    @property
    def delta(self) -> float:
        """Sum of δ."""
        return sum(draw.delta for draw in self.draws)

    @property
    def last(self) -> Counts | None:
        """The draw that is shown."""
        return self.draws[-1] if self.draws else None


def of(fingerprint: str) -> Spent:
    """Return what was drawn from the table with that fingerprint."""
    return _ledger().get(fingerprint, Spent())


def enter(fingerprint: str, drawn: Counts) -> None:
    """Enter a draw; nothing takes it back, not even another table in between."""
    _ledger()[fingerprint] = Spent(draws=(*of(fingerprint).draws, drawn))


def _ledger() -> dict[str, Spent]:
    return cast(dict[str, Spent], st.session_state.setdefault(_SPENT, {}))
