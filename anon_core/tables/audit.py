"""Audit of what goes out: over everything published together, can a reader come too close?

A cell is safe only where two tables say so that the reader cannot rule out; whatever stays open is
unsafe. An interval is what these sums and limits prove. It is never the most anyone can learn: a
reader who knows how cells were chosen rules out more tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from anon_core.base.concurrency import only_stopped
from anon_core.base.context import Context
from anon_core.tables.contributions import Members
from anon_core.tables.reader import Reader, Side
from anon_core.tables.sensitivity import Rule, sensitive_cells
from anon_core.tables.system import Bounds, Level, Number, System, shown_interval

Answer = Literal["safe", "unsafe", "undecided"]
#: Answers of a linear program that an audit waits for before all readers are asked at once.
MOST_PROGRAMS = 4_000


@dataclass(frozen=True, kw_only=True)
class Interval:
    """What a reader can tell of one suppressed cell.

    Attributes
    ----------
    low, high : int, Fraction or None
        What is proven; None where there is no limit.
    exact : bool
        Whether both ends are reached by tables that the reader cannot rule out.
    least, greatest : mapping of int to int or Fraction
        Two of these tables, by suppressed cell.
    """

    cell: int
    low: Number | None
    high: Number | None
    exact: bool
    least: Mapping[int, Number]
    greatest: Mapping[int, Number]

    def __str__(self) -> str:
        """Show the interval."""
        return shown_interval(self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whether a sensitive cell is protected, from someone.

    Attributes
    ----------
    answer : {'safe', 'unsafe', 'undecided'}
        Undecided counts as unsafe.
    reader : str
        Who reads: an outsider, or a respondent who knows their own contribution.
    """

    cell: int
    answer: Answer
    interval: Interval
    reader: str = ""


@dataclass(frozen=True, kw_only=True)
class Insider:
    """A respondent, who knows what they contribute to each suppressed cell.

    Attributes
    ----------
    known : mapping of int to (least, greatest)
        A cell whose only respondent they are is known; of others they know that it is no less than
        their own part.
    """

    name: str
    known: Mapping[int, tuple[Number | None, Number | None]]


@dataclass(frozen=True, kw_only=True)
class Implied:
    """Suppressed cells whose sum is published, and sensitive as one cell."""

    total: int
    cells: tuple[int, ...]
    value: Number
    reason: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What a reader can work out of a whole publication.

    Attributes
    ----------
    judgements : tuple of Judgement
    readers : int
        Whom it was asked of: anyone, and respondents who are alone in a suppressed cell.
    """

    judgements: tuple[Judgement, ...]
    readers: int

    @property
    def safe(self) -> bool:
        """Whether each sensitive cell is safe from each reader."""
        return not self.exposed

    @property
    def exposed(self) -> tuple[Judgement, ...]:
        """What is not proven safe."""
        return tuple(one for one in self.judgements if one.answer != "safe")


def interval(reader: Reader, cell: int, *, whole: bool = False) -> Interval:
    """Return what a reader can tell of a cell, with two tables that reach it."""
    return _between(
        reader, cell, reader.side(cell, -1, whole=whole), reader.side(cell, 1, whole=whole)
    )


def _between(reader: Reader, cell: int, down: Side, up: Side) -> Interval:
    value = reader.system.values[cell]
    return Interval(
        cell=cell,
        low=None if down.proven is None else _plain(value - down.proven),
        high=None if up.proven is None else _plain(value + up.proven),
        exact=down.exact and up.exact,
        least=reader.values(down.witness),
        greatest=reader.values(up.witness),
    )


def intervals(
    system: System,
    suppressed: Iterable[int],
    bounds: Bounds,
    *,
    cells: Iterable[int] | None = None,
    whole: bool = False,
    context: Context | None = None,
) -> dict[int, Interval]:
    """Return what a reader can tell of every suppressed cell, or of some.

    Parameters
    ----------
    suppressed : iterable of int
        A cell is known where one that is the same is not among them; see `System.closed`.
    whole : bool
        Whether the reader knows that values are whole numbers, as counts are.
    """
    suppressed = frozenset(suppressed)
    reader = Reader(system, suppressed, bounds)
    asked = sorted(suppressed if cells is None else cells)
    found: dict[int, Interval] = {}
    for number, cell in enumerate(asked):
        if context is not None:
            context.report(number / len(asked), "Auditing")
        first = system.same[cell]
        known = found.get(first)
        found[cell] = known if known is not None else interval(reader, cell, whole=whole)
    return found


def judged(
    reader: Reader, cell: int, level: Level, name: str = "", *, whole: bool = False
) -> Judgement:
    """Return whether a reader is kept far enough from a cell."""
    down, up = reader.side(cell, -1, whole=whole), reader.side(cell, 1, whole=whole)
    answer: Answer = "undecided"
    if _reaches(down, level.lower) and _reaches(up, level.upper) and _wide(down, up, level):
        answer = "safe"
    elif not (
        _may(down, level.lower)
        and _may(up, level.upper)
        and (down.proven is None or up.proven is None or down.proven + up.proven >= level.sliding)
    ):
        answer = "unsafe"
    return Judgement(
        cell=cell,
        answer=answer,
        reader=name,
        interval=_between(reader, cell, down, up),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Everyone:
    """All readers at once: what even they cannot rule out together, none of them can.

    Attributes
    ----------
    bounds : Bounds
        Of each cell what the best informed reader knows; cells in `alone` are known.
    outside : Bounds
        What anyone knows.
    alone : frozenset of int
        Cells whose only respondent may read: they hide no other cell from that one.
    """

    bounds: Bounds
    outside: Bounds
    alone: frozenset[int] = frozenset()

    def own(self, system: System, cell: int) -> tuple[Number | None, Number | None] | None:
        """Return the change that a cell's only respondent knows better; None: it has others."""
        first = system.same[cell]
        alike = [c for c in system.closed([first]) if c in self.alone]
        if first not in self.alone or not alike:
            return None
        value = system.values[first]
        lows = [low - value for c in alike if (low := self.outside.lower[c]) is not None]
        highs = [high - value for c in alike if (high := self.outside.upper[c]) is not None]
        return max(lows, default=None), min(highs, default=None)

    def kept_by(
        self,
        system: System,
        hidden: frozenset[int],
        cell: int,
        level: Level,
        change: Mapping[int, int],
    ) -> bool:
        """Return whether a change of hidden cells keeps every sum, and a cell from every reader.

        Parameters
        ----------
        change : mapping of int to int
            By the first of cells that are the same; it holds as often as the level asks for.
        """
        first = system.same[cell]
        if change.get(first, 0) < 1 or not change.keys() <= hidden:
            return False
        for number in {n for c in change for n in system.relations_of[c]}:
            relation = system.distinct[number]
            if sum(change.get(c, 0) for c in relation.children) != change.get(relation.parent, 0):
                return False
        own = self.own(system, cell)
        up = max(level.upper, level.sliding - level.lower)
        for sign, need in ((1, up), (-1, level.lower)):
            most, per = (Fraction(need) / change[first]).as_integer_ratio()
            for c, by in change.items():
                low, high, value = self.bounds.lower[c], self.bounds.upper[c], system.values[c]
                if c == first and own is not None:
                    low = None if own[0] is None else value + own[0]
                    high = None if own[1] is None else value + own[1]
                move = sign * by * most  # times `per`, in whole numbers
                if (low is not None and move < (low - value) * per) or (
                    high is not None and move > (high - value) * per
                ):
                    return False
        return True


def audit(
    system: System,
    suppressed: Iterable[int],
    needs: Mapping[int, Level],
    bounds: Bounds,
    *,
    insiders: Sequence[Insider] = (),
    everyone: Everyone | None = None,
    changes: Mapping[int, Mapping[int, int]] | None = None,
    context: Context | None = None,
) -> Audit:
    """Judge every sensitive cell, from an outsider's side and from each insider's.

    Parameters
    ----------
    system : System
        Everything that is published together: see `linked`.
    needs : mapping of int to Level
        Sensitive cells.
    everyone : Everyone, optional
        All these readers at once: they are asked first. A cell that is safe from all together is
        safe from each, and what it is known by is at least its level wide. Where more than
        `MOST_PROGRAMS` answers are left, these cells stay undecided.
    changes : mapping of int to mapping of int to int, optional
        By sensitive cell, a change that may keep everyone from it; it is checked.

    Raises
    ------
    BadPlan
        If a true value is outside what readers are taken to know.
    """
    hidden = frozenset(suppressed)
    bounds.refuse_false(system, hidden)
    readers: list[tuple[str, Callable[[], Bounds], set[int]]] = [("", lambda: bounds, set())]
    for one in insiders:
        own = {c for c, (low, high) in one.known.items() if low is not None and low == high}
        readers.append((one.name, partial(bounds.with_known, one.known), own))
    found: list[Judgement] = []
    left = dict(needs)
    if everyone is not None:
        found = _safe_from_all(system, hidden, needs, everyone, changes or {}, context)
        for one in found:
            del left[one.cell]
        if len(left) * len(readers) > MOST_PROGRAMS:
            found += [_undecided(system, cell, everyone) for cell in sorted(left)]
            left = {}
    for number, (name, known, own) in enumerate(readers if left else ()):
        if context is not None:
            context.report(number / len(readers), "Auditing")
        reader = Reader(system, hidden, known(), context=only_stopped(context))
        found += [
            judged(reader, cell, level, name)
            for cell, level in sorted(left.items())
            if cell not in own
        ]
    return Audit(judgements=tuple(found), readers=len(readers))


def _undecided(system: System, cell: int, everyone: Everyone) -> Judgement:
    """Return that it is not known whether a cell is safe from each reader."""
    low, high = everyone.outside.lower[cell], everyone.outside.upper[cell]
    between = Interval(cell=cell, low=low, high=high, exact=False, least={}, greatest={})
    return Judgement(cell=cell, answer="undecided", interval=between, reader="all readers together")


def _safe_from_all(
    system: System,
    hidden: frozenset[int],
    needs: Mapping[int, Level],
    everyone: Everyone,
    changes: Mapping[int, Mapping[int, int]],
    context: Context | None,
) -> list[Judgement]:
    """Return the cells that are safe from all readers together: by a known change, or a program."""
    reader: Reader | None = None
    found: list[Judgement] = []
    for number, (cell, level) in enumerate(sorted(needs.items())):
        if context is not None and number % 100 == 0:
            context.report(number / len(needs), "Auditing")
        up, down = max(level.upper, level.sliding - level.lower), level.lower
        if not everyone.kept_by(system, hidden, cell, level, changes.get(cell, {})):
            reader = reader or Reader(
                system, hidden, everyone.bounds, context=only_stopped(context)
            )
            own = everyone.own(system, cell)
            if any(
                not _reaches(reader.side(cell, sign, own=own), need)
                for sign, need in ((1, up), (-1, down))
            ):
                continue
        value = system.values[cell]
        between = Interval(
            cell=cell, low=_plain(value - down), high=_plain(value + up), exact=False, least={},
            greatest={},
        )  # fmt: skip
        found.append(Judgement(cell=cell, answer="safe", interval=between))
    return found


def insiders_of(
    members: Sequence[Mapping[int, int]],
    values: Sequence[Number],
    suppressed: Iterable[int],
    *,
    signed: bool = False,
) -> tuple[Insider, ...]:
    """Return the respondents who are alone in a suppressed cell, and what each of them knows.

    Parameters
    ----------
    members : sequence of mapping of int to int
        By cell, what each respondent contributes.
    values : sequence of int or Fraction
        By cell; anyone who is alone in a cell knows it.
    signed : bool
        Whether others may take away from a cell; one's own part is then no least value.
    """
    hidden = np.array(sorted(suppressed), dtype=np.int64)
    held = members if isinstance(members, Members) else Members.of(members)
    entry, cell = held.entries(hidden)
    by_themselves = held.sizes[cell] == 1
    alone = np.unique(held.who[entry[by_themselves]])
    known: dict[int, dict[int, tuple[Number | None, Number | None]]] = {
        one: {} for one in alone.tolist()
    }
    theirs = np.isin(held.who[entry], alone) & (by_themselves | (not signed))
    for one, c, own, sole in zip(
        held.who[entry[theirs]].tolist(), cell[theirs].tolist(),
        held.amount[entry[theirs]].tolist(), by_themselves[theirs].tolist(), strict=True,
    ):  # fmt: skip
        known[one][c] = (values[c], values[c]) if sole else (min(own, values[c]), None)
    return tuple(Insider(name=f"respondent {one + 1}", known=own) for one, own in known.items())


def implied(
    system: System,
    suppressed: Iterable[int],
    rules: Sequence[Rule],
    members: Sequence[Mapping[int, int]],
    who: str = "respondents",
    *,
    looked: dict[tuple[int, ...], str] | None = None,
) -> tuple[Implied, ...]:
    """Return the sums of suppressed cells that are published by their total, and are sensitive.

    Necessary, and not complete: sums of several totals together are not tried.

    Parameters
    ----------
    looked : dict of cells to text, optional
        Why their sum is sensitive, empty where it is not; filled for the next call.
    """
    looked = {} if looked is None else looked
    hidden = system.closed(suppressed)
    candidates = [
        (relation.parent, cells)
        for relation in system.distinct
        if relation.parent not in hidden
        and len(cells := tuple(c for c in relation.children if c in hidden)) > 1
    ]
    fresh = list(dict.fromkeys(cells for _, cells in candidates if cells not in looked))
    if fresh:
        held = members if isinstance(members, Members) else Members.of(members)
        findings = sensitive_cells(held.unions(fresh).contributions(), rules, who)
        looked |= {
            cells: findings[at].reason if at in findings else "" for at, cells in enumerate(fresh)
        }
    found: list[Implied] = []
    for parent, cells in candidates:
        if looked[cells]:
            found.append(
                Implied(
                    total=parent,
                    cells=cells,
                    value=sum(system.values[c] for c in cells),
                    reason=looked[cells],
                )
            )
    return tuple(found)


def _plain(value: Number) -> Number:
    return int(value) if Fraction(value).denominator == 1 else value


def _reaches(side: Side, level: Number) -> bool:
    return side.endless or side.reached >= level


def _may(side: Side, level: Number) -> bool:
    return side.proven is None or side.proven >= level


def _wide(down: Side, up: Side, level: Level) -> bool:
    return down.endless or up.endless or down.reached + up.reached >= level.sliding
