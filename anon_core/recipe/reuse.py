"""A decided recipe on a new table: nothing is searched, and gates say when the result will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, InputChanged, NotAccepted, brief, listing
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import TOP, LevelTable
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS
from anon_core.release.attack_result import AttackResult
from anon_core.release.outcome import Measure

#: What becomes of them: the run is refused; they are published as the top of their hierarchy; or
#: their rows are left out of the release.
Unseen = Literal["fail", "top", "suppress"]
UNSEEN: tuple[Unseen, ...] = get_args(Unseen)


@dataclass(frozen=True, kw_only=True)
class Met:
    """A table with the hierarchies that know all of its values, and what was unknown.

    Attributes
    ----------
    values : mapping of str to int
        By column the distinct values that its hierarchy did not have.
    rows : int
        Rows with such a value.
    """

    table: Dataset
    hierarchies: Mapping[str, LevelTable]
    values: Mapping[str, int]
    rows: int


def read_unseen(given: object) -> Unseen:
    """Read ``[reuse] unseen``.

    Raises
    ------
    BadPlan
    """
    for known in UNSEEN:
        if given == known:
            return known
    raise BadPlan(f"[reuse] unseen is {brief(given)}.", remedy="Use 'fail', 'top' or 'suppress'.")


def met(
    unseen: Unseen, table: Dataset, hierarchies: Mapping[str, LevelTable], columns: tuple[str, ...]
) -> Met:
    """Do with unknown values as a recipe says.

    Parameters
    ----------
    unseen : {'fail', 'top', 'suppress'}
        With 'fail' nothing is done here: building the hierarchy refuses them.
    table : Dataset
        With the kinds of its columns.
    columns : tuple of str
        Those whose hierarchies decide what is published.

    Raises
    ------
    InputChanged
        If a number or a date is to be published as the top: groups of these are intervals, and a
        value outside of all would be in the middle of one. If such a value is written as a group
        of its hierarchy is: no one could tell which of both a cell says.
    """
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for name in columns if unseen != "fail" else ():
        if hierarchies.get(name):
            new = _unknown(table.column(name), hierarchies[name])
            if new.any() and not new.all():  # none at all: the hierarchy is another column's
                _refuse_labels(name, table.column(name), new, hierarchies[name])
                found[name] = new
    if not found:
        return Met(table=table, hierarchies=hierarchies, values={}, rows=0)
    held = np.zeros(table.rows, dtype=np.bool_)
    for name, new in found.items():
        held |= np.append(new, False)[table.column(name).codes]  # -1, missing, is the last
    values = {name: int(np.count_nonzero(new)) for name, new in found.items()}
    rows = int(np.count_nonzero(held))
    if unseen == "suppress":
        left = table.without_unseen(held)
        return Met(table=left, hierarchies=hierarchies, values=values, rows=rows)
    widened = dict(hierarchies)
    for name, new in found.items():
        column = table.column(name)
        if KINDS[column.kind].measured:
            raise InputChanged(
                f"The hierarchy of '{name}' lacks {values[name]} of the column's "
                f"{len(column.values)} values, and {KINDS[column.kind].several} cannot be "
                "published as its top.",
                remedy="Add them to the hierarchy, or set unseen = 'suppress' under [reuse].",
                values=[v for v, n in zip(column.values, new.tolist(), strict=True) if n][:5],
            )
        above = [cell.strip() for cell in hierarchies[name][0]][1:] or [TOP]
        more = [
            [value, *[above[-1]] * len(above)]
            for value, n in zip(column.values, new.tolist(), strict=True)
            if n
        ]
        own = [list(row) if len(row) > 1 else [*row, TOP] for row in hierarchies[name]]
        widened[name] = [*own, *more]
    return Met(table=table, hierarchies=widened, values=values, rows=rows)


def _refuse_labels(name: str, column: Column, new: npt.NDArray[np.bool_], rows: LevelTable) -> None:
    labels = {cell.strip() for row in rows for cell in row[1:]}
    alike = [v for v, n in zip(column.values, new.tolist(), strict=True) if n and v in labels]
    if alike:
        one = "a value" if len(alike) == 1 else f"{len(alike)} values"
        are = "is written as a group" if len(alike) == 1 else "are written as groups"
        raise InputChanged(
            f"Column '{name}' has {one} that its hierarchy does not know and that {are} of it, so "
            "a published cell could mean either.",
            remedy="Replace such values in the table, or give the hierarchy's groups other labels.",
            values=alike[:5],
        )


def _unknown(column: Column, rows: LevelTable) -> npt.NDArray[np.bool_]:
    """Say of every value of a column whether its level table lacks it, shape (values,)."""
    listed = {row[0].strip() for row in rows if row}
    new = np.array([value not in listed for value in column.values], dtype=np.bool_)
    read = KINDS[column.kind].read
    if read is not None and column.measure is not None and new.any():
        measures = np.array([read(text) for text in listed], dtype=np.float64)
        new &= ~np.isin(column.measure, measures)
    return new


Mode = Literal["search", "fixed"]
#: Which of an attack's two figures a gate is about: of the person it fares best with, or the mean.
At = Literal["worst", "average"]
_KINDS = ("rows", "metric", "attack")


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """What a recipe says of its use on other tables than the one it was decided on.

    Attributes
    ----------
    mode : {'search', 'fixed'}
        With 'fixed' the technique must be one that carries out what was decided and searches
        nothing.
    unseen : {'fail', 'top', 'suppress'}
        What becomes of values that a hierarchy does not have: the run is refused, they are
        published as the top, or their rows are left out. Rows left out are no part of what a
        technique may suppress; they are reported, and count in the gate on rows.
    """

    mode: Mode = "search"
    unseen: Unseen = "fail"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Reuse:
        """Read ``[reuse]``; its keys are known.

        Raises
        ------
        BadPlan
        """
        mode = given.get("mode", "search")
        if mode not in get_args(Mode):
            raise BadPlan(f"[reuse] mode is {brief(mode)}.", remedy="Use 'search' or 'fixed'.")
        return cls(mode=mode, unseen=read_unseen(given.get("unseen", "fail")))

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table; empty where nothing is said."""
        return {} if self == Reuse() else {"mode": self.mode, "unseen": self.unseen}

    def refuse_searching(self, algorithm: Algorithm, earlier: str) -> None:
        """Refuse to call fixed what searches, or parts that are found nowhere.

        Parameters
        ----------
        earlier : str
            The earlier release that the plan names; empty for none.

        Raises
        ------
        BadPlan
        """
        carries_out = algorithm.needs.levels_parameter or algorithm.needs.earlier_parts
        if self.mode == "fixed" and not carries_out:
            raise BadPlan(
                f"[reuse] mode is 'fixed', but {algorithm.title} searches every table again.",
                remedy="Carry out a run with --decided-out, which writes what it decided as a "
                "recipe of its own.",
            )
        if self.mode == "fixed" and algorithm.needs.earlier_parts and not earlier:
            raise BadPlan(
                "[reuse] mode is 'fixed', but no earlier release says which parts to carry out.",
                remedy="Name as [earlier] file the release that was decided on; on the pages, "
                "load it on Run, under Attackers.",
            )


def parts_decide(algorithm: Algorithm) -> bool:
    """Say whether a release of a technique shows where rows of another table go."""
    covering = not algorithm.shape.averages and not algorithm.shape.codes_tails
    return algorithm.shape.forms_ranges and covering and not algorithm.shape.permutes


def refuse_undecidable(algorithm: Algorithm, files: int) -> None:
    """Refuse to write down as decided what is neither levels nor parts that cover values.

    Parts are taken from the one file of a release; `files` is how many it has.

    Raises
    ------
    BadPlan
    """
    if not algorithm.shape.one_level and not parts_decide(algorithm):
        raise BadPlan(
            f"{algorithm.title} decides neither a level for each column nor parts whose cells "
            "cover values, so that what it decided cannot be carried out on another table without "
            "a search.",
            remedy="Choose a technique that publishes each column at one level, such as the "
            "optimal search, or parts with ranges, such as Mondrian; or leave --decided-out out.",
        )
    if not algorithm.shape.one_level and files > 1:
        raise BadPlan(
            "A decided recipe takes what was decided from the one file of a release, and [export] "
            f"asks for {files} parts.",
            remedy="Leave out [export] parts, or --decided-out.",
        )


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What gates look at in a result.

    Attributes
    ----------
    published : float or None
        Share of the table's rows that is published; None for a table without rows.
    """

    published: float | None
    measures: Mapping[str, Measure]
    attacks: Sequence[AttackResult]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A figure that a release has to reach to be accepted: ``[[accept]]``.

    Attributes
    ----------
    kind : {'rows', 'metric', 'attack'}
        The share of the table's rows that is published, a metric, or an attack.
    name : str
        Of the metric or the attack.
    least, most : float or None
        One of the two; of rows the least.
    at : {'worst', 'average'}
        Of an attack: the greatest chance of any person, or the mean of all.
    """

    kind: Literal["rows", "metric", "attack"]
    name: str = ""
    least: float | None = None
    most: float | None = None
    at: At = "worst"

    @classmethod
    def from_mapping(cls, given: object) -> Gate:
        """Read one table of ``[[accept]]``.

        Raises
        ------
        BadPlan
            Naming the key.
        """
        if not isinstance(given, Mapping):
            raise BadPlan("[[accept]] holds something other than tables.", remedy=_HOW)
        table = cast(Mapping[str, Any], given)
        kinds = [kind for kind in _KINDS if kind in table]
        known = {"rows": {"rows"}, "metric": {"metric", "least", "most"}}
        allowed = known.get(kinds[0], {"attack", "most", "at"}) if len(kinds) == 1 else set[str]()
        if len(kinds) != 1 or set(table) - allowed:
            raise BadPlan(f"[[accept]] has the keys {listing(list(table))}.", remedy=_HOW)
        if kinds == ["rows"]:
            return cls(kind="rows", least=_number("rows", table["rows"], 1.0))
        least, most = (_number(k, table[k]) if k in table else None for k in ("least", "most"))
        if (least is None) == (most is None):
            raise BadPlan(f"[[accept]] of {brief(table[kinds[0]])} has no limit.", remedy=_HOW)
        name, at = str(table[kinds[0]]), table.get("at", "worst")
        if at not in get_args(At):
            raise BadPlan(f"[[accept]] at is {brief(at)}.", remedy="Use 'worst' or 'average'.")
        if kinds == ["metric"]:
            return cls(kind="metric", name=find("metric", name).name, least=least, most=most)
        return cls(kind="attack", name=find("attack", name).name, most=most, at=at)

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table."""
        if self.kind == "rows":
            return {"rows": self.least}
        limit = {"least": self.least} if self.least is not None else {"most": self.most}
        at = {"at": self.at} if self.at != "worst" else {}
        return {self.kind: self.name, **limit, **at}

    def broken_by(self, reached: Reached) -> str:
        """Return a sentence that says how a result misses the gate; empty if it passes."""
        found = self.figures(reached)
        title = self.title
        if not found:
            return f"{title} was not measured, so that the gate on it is not passed."
        if self.least is not None and min(found) < self.least:
            return f"{title} is {min(found):.6g}; at least {self.least:.6g} is accepted."
        if self.most is not None and max(found) > self.most:
            return f"{title} is {max(found):.6g}; at most {self.most:.6g} is accepted."
        return ""

    @property
    def title(self) -> str:
        """What the gate is about, as the beginning of a sentence."""
        if self.kind == "rows":
            return "The share of the table's rows that is published"
        of = "" if self.kind == "metric" else ", at worst" if self.at == "worst" else ", on average"
        return f"{find(cast(Any, self.kind), self.name).title}{of}"

    def figures(self, reached: Reached) -> list[float]:
        """Return the figures that the gate is about; none if it was not measured."""
        if self.kind == "rows":
            return [] if reached.published is None else [reached.published]
        if self.kind == "metric":
            measure = reached.measures.get(self.name)
            return [] if measure is None else [measure.value]
        own = [a for a in reached.attacks if a.attack == self.name and not a.idle]
        if any(a.undecided for a in own):
            return [1.0]  # undecided never counts as safe
        return [a.worst if self.at == "worst" else a.rate for a in own]


_HOW = (
    "Write rows = 0.95 (least share published), or metric = 'loss' with most = 0.3 (or least), or "
    "attack = 'prosecutor' with most = 0.09."
)


def _number(key: str, given: object, high: float | None = None) -> float:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)
    if not fits or (high is not None and not 0 <= cast(float, given) <= high):
        raise BadPlan(f"[[accept]] {key} is {brief(given)}.", remedy=_HOW)
    return float(cast(float, given))


def refuse_unaccepted(gates: Sequence[Gate], reached: Reached) -> None:
    """Refuse a result that misses a gate.

    Raises
    ------
    NotAccepted
        Naming every gate that it misses.
    """
    missed = [sentence for gate in gates if (sentence := gate.broken_by(reached))]
    if missed:
        raise NotAccepted(
            f"The release satisfies its privacy models, but not {_several(len(missed))} of the "
            "recipe: " + " ".join(missed),
            remedy="Nothing was released. Check what changed in the table, search again, or "
            "change [[accept]].",
        )


def _several(number: int) -> str:
    return "a gate" if number == 1 else f"{number} gates"
