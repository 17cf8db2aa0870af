"""What releases of the same rows have spent of a privacy budget: a file that its holder keeps.

Budgets add up (plain composition), as the decimals that were written: no float rounds one away. An
entry is made before anything is drawn, so that what fails afterwards was spent all the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Self, cast

from anon_core.base.errors import BadInput, BadPlan, clipped
from anon_core.base.file_lock import in_turn
from anon_core.base.private_file import refuse_link, write_private

_SCHEMA = 1
_REPAIR = "Restore the ledger from a copy; without what was spent no budget can be kept."


@dataclass(frozen=True, kw_only=True)
class Budget:
    """ε and δ as decimals."""

    epsilon: Decimal
    delta: Decimal

    @classmethod
    def of(cls, epsilon: object, delta: object) -> Self:
        """Return a budget of numbers or of texts as they were written.

        Raises
        ------
        BadInput
            If one is no decimal from 0 up.
        """
        try:
            budget = cls(epsilon=Decimal(str(epsilon)), delta=Decimal(str(delta)))
        except InvalidOperation as error:
            raise BadInput(
                "A budget is not a decimal number.", remedy="Write ε and δ as 0.5 and 1e-6."
            ) from error
        if not all(part.is_finite() and part >= 0 for part in (budget.epsilon, budget.delta)):
            raise BadInput("A budget is below 0.", remedy="Write ε and δ as 0.5 and 1e-6.")
        return budget

    def __add__(self, other: Budget) -> Budget:
        """Return what both spend together."""
        return Budget(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)

    def __sub__(self, other: Budget) -> Budget:
        """Return what is left; below 0 where more is spent."""
        return Budget(epsilon=self.epsilon - other.epsilon, delta=self.delta - other.delta)

    @property
    def spent_out(self) -> bool:
        """Whether it is below 0."""
        return self.epsilon < 0 or self.delta < 0

    def as_json(self) -> dict[str, str]:
        """Return both as decimal texts."""
        return {"epsilon": _text(self.epsilon), "delta": _text(self.delta)}


def _text(number: Decimal) -> str:
    """Return a decimal without zeros that say nothing."""
    short = number.normalize()
    return f"{short:f}" if -5 < short.adjusted() < 6 else f"{short:e}".replace("e+", "e")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release: of which table, when, what, and what it spent."""

    table: str
    date: str
    what: str
    spent: Budget


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Releases of tables, and the most that those of one table may spend.

    Attributes
    ----------
    cap : Budget or None
        For each table; None where nothing is refused.
    """

    entries: tuple[Entry, ...] = ()
    cap: Budget | None = None

    def spent(self, table: str) -> Budget:
        """Return what the releases of a table spent together."""
        own = (entry.spent for entry in self.entries if entry.table == table)
        return sum(own, start=Budget.of(0, 0))

    def left(self, table: str) -> Budget | None:
        """Return what is left of the cap for a table; None without a cap."""
        return None if self.cap is None else self.cap - self.spent(table)

    def with_entry(self, entry: Entry) -> Ledger:
        """Return the ledger with a release more.

        Raises
        ------
        BadPlan
            If it spends more than is left.
        """
        left = self.left(entry.table)
        if left is not None and (left - entry.spent).spent_out:
            rest = left.as_json()
            raise BadPlan(
                f"ε = {_text(entry.spent.epsilon)} and δ = {_text(entry.spent.delta)} are more "
                f"than the ledger has left for this table: ε = {rest['epsilon']} and δ = "
                f"{rest['delta']}. Nothing was drawn.",
                remedy=f"Spend at most ε = {rest['epsilon']}, or have the holder raise the cap.",
            )
        return replace(self, entries=(*self.entries, entry))

    def as_json(self) -> dict[str, Any]:
        """Return the file's content; budgets are texts."""
        return {
            "schema": _SCHEMA,
            "cap": None if self.cap is None else self.cap.as_json(),
            "entries": [
                {"table": e.table, "date": e.date, "what": e.what, **e.spent.as_json()}
                for e in self.entries
            ],
        }

    @classmethod
    def from_json(cls, content: object) -> Self:
        """Read the file's content.

        Raises
        ------
        BadInput
            If it is not that of a ledger.
        """
        try:
            given = cast(Mapping[str, Any], content)
            if given["schema"] != _SCHEMA:
                raise KeyError("schema")
            cap = given["cap"]
            return cls(
                cap=None if cap is None else _budget(cap),
                entries=tuple(
                    Entry(
                        table=str(one["table"]),
                        date=str(one["date"]),
                        what=str(one["what"]),
                        spent=_budget(one),
                    )
                    for one in cast(Sequence[Mapping[str, Any]], given["entries"])
                ),
            )
        except (KeyError, TypeError) as error:
            raise BadInput("The file is not a ledger of budgets.", remedy=_REPAIR) from error


def _budget(content: Mapping[str, Any]) -> Budget:
    epsilon, delta = content["epsilon"], content["delta"]
    if not isinstance(epsilon, str) or not isinstance(delta, str):
        raise BadInput("The ledger has a budget that is not a text.", remedy=_REPAIR)
    return Budget.of(epsilon, delta)


def enter(place: Path, table: str, what: str, spent: Budget, cap: Budget | None = None) -> Ledger:
    """Enter a release into a ledger's file before it is drawn; return the ledger.

    Parameters
    ----------
    place : Path
        The file, which is made where it is not there.
    table : str
        Fingerprint of the rows.
    cap : Budget, optional
        That of a new ledger. One that is there keeps its own.

    Raises
    ------
    BadInput
        If the file is no ledger, a link, or has another cap.
    BadPlan
        If the release spends more than is left.
    """
    refuse_link(place)
    with in_turn(place.parent):
        known = Ledger(cap=cap)
        if place.exists():
            try:
                known = Ledger.from_json(json.loads(place.read_text(encoding="utf-8")))
            except ValueError as error:
                if isinstance(error, BadInput):
                    raise
                raise BadInput(f"{clipped(str(place))} is not a ledger.", remedy=_REPAIR) from error
            if cap is not None and cap != known.cap:
                raise BadInput(
                    f"{clipped(str(place))} has another cap than --cap says.",
                    remedy="Leave --cap out; its holder changes the cap in the file.",
                )
        date = datetime.now(UTC).date().isoformat()
        ledger = known.with_entry(Entry(table=table, date=date, what=what, spent=spent))
        content = json.dumps(ledger.as_json(), indent=1, ensure_ascii=False) + "\n"
        write_private(place, content.encode("utf-8"))
    return ledger
