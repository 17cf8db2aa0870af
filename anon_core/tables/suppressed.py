"""A judged table, and the cells that are suppressed in it so that sensitive ones stay hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadPlan, Infeasible, listing, nearest
from anon_core.data.reading.columns import Keeping
from anon_core.data.reading.row_filter import filtered
from anon_core.data.table import Dataset
from anon_core.tables.audit import (
    MOST_PROGRAMS,
    Audit,
    Everyone,
    Implied,
    Insider,
    audit,
    implied,
    insiders_of,
)
from anon_core.tables.contributions import Contributions, Members, members_of
from anon_core.tables.product_moves import Moves, product_moves, sides_of
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.sensitivity import Finding, sensitive_cells
from anon_core.tables.suppression import Pattern, changes_of, costs_of, suppress
from anon_core.tables.system import Bounds, Level, Number, capped, refuse_levels
from anon_core.tables.table import Table, build

#: Sums of suppressed cells that are protected as cells; a table that needs more is too fine.
MAX_SUMS = 200
#: Cells up to which the cheapest pattern is searched for; of more, no search comes near it.
MOST_PROVEN = 20_000
#: Cells up to which an answer of a linear program costs what `MOST_PROGRAMS` takes for granted.
_LARGE = 2_500
#: As many times `MOST_PROGRAMS` answers are the most that one waits for at all.
_PATIENCE = 25


class NotSafe(AnonError):
    """A protected table that the audit does not prove safe; it is not written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Judged:
    """A table with its sensitive cells, before it is protected."""

    recipe: TableRecipe
    table: Table
    findings: Mapping[int, Finding]

    @cached_property
    def bounds(self) -> Bounds:
        """What a reader knows beforehand."""
        known = self.recipe.known
        lower = None if known.signed else 1 if known.zeros_printed else 0
        return Bounds.of(self.table.system, lower=lower)

    @cached_property
    def needs(self) -> dict[int, Level]:
        """The level of each sensitive cell, capped where the recipe says so."""
        found = {cell: one.level for cell, one in self.findings.items()}
        values, bounds = self.table.values, self.bounds
        if self.recipe.protection.levels == "cap":
            return {
                c: capped(level, values[c], bounds.lower[c], bounds.upper[c])
                for c, level in found.items()
            }
        return found

    @property
    def capped(self) -> tuple[int, ...]:
        """Cells whose level was cut down to what a reader knows anyway."""
        return tuple(c for c, one in self.findings.items() if one.level != self.needs[c])


def counted(
    dataset: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> Dataset:
    """Return the rows that a recipe tabulates, of a table as it was read; twice changes nothing.

    Texts that a hierarchy lists are values, as in a release of rows.

    Raises
    ------
    BadPlan
        If the recipe asks for what only releases of rows have.
    """
    how, columns = recipe.data, recipe.layout.columns
    if how.rest == "population":
        raise BadPlan(
            "[data] rest is 'population', and a table of counts has none.", remedy="Leave rest out."
        )
    if how.draws:
        raise BadPlan(
            "[data] draws a sample, and a table counts every row.",
            remedy="Leave sample and benchmark out.",
        )
    kept = Keeping(
        data=how,
        types=recipe.types,
        coarsened=columns,
        hierarchies={name: levels[name] for name in columns if name in levels},
    )
    found = filtered(kept.table(dataset).with_kinds(recipe.types), how.where)
    return found.without_missing(columns) if how.missing == "drop" else found


def judge(
    dataset: Dataset, recipe: TableRecipe, levels: Mapping[str, Sequence[Sequence[str]]]
) -> Judged:
    """Build the table of a recipe from its rows, and find its sensitive cells."""
    table = build(counted(dataset, recipe, levels), recipe.layout, levels)
    findings = sensitive_cells(table.contributions, recipe.rules, recipe.who)
    return Judged(recipe=recipe, table=table, findings=findings)


def refuse_unknown_cells(judged: Judged) -> None:
    """Refuse cells to publish that the table does not have."""
    table, names = judged.table, judged.recipe.protection.published
    unknown = [name for name in names if name not in table.system.place]
    if unknown:
        raise BadPlan(
            f"[protect] published names {listing(unknown)}; cells are such as "
            f"{listing(table.names[:3])}.",
            remedy=f"Name cells by their labels.{nearest(unknown[0], table.names)}",
        )


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The suppressed cells of a table, and what was proven of them.

    Attributes
    ----------
    sums : tuple of Implied
        Sums of suppressed cells that are sensitive as one cell: they are protected as one.
    changes : mapping of int to mapping of int to int
        By sensitive cell, how suppressed cells may move with it and keep every sum.
    """

    pattern: Pattern
    audit: Audit
    sums: tuple[Implied, ...]
    changes: Mapping[int, Mapping[int, int]]


def hide(judged: Judged, context: Context | None = None) -> Hidden:
    """Suppress sensitive cells and those that hide them, and audit what is left.

    Raises
    ------
    Infeasible, NotFound
        If there is no such table, or none was found in time.
    NotSafe
        If the audit does not prove every sensitive cell safe.
    """
    table, recipe, own = judged.table, judged.recipe, context or Context()
    system = table.system
    if recipe.protection.proves and len(table.values) > MOST_PROVEN:
        raise BadPlan(
            f"The cheapest cells are searched for in tables of up to {MOST_PROVEN:,} cells; this "
            f"one has {len(table.values):,}.",
            remedy="Set method = 'heuristic', or use coarser levels.",
        )
    refuse_unknown_cells(judged)
    refuse_levels(system, judged.needs, judged.bounds)
    able = _movable(judged)
    own.report(0, "Hiding cells")
    moved = product_moves(
        table.axes, system, judged.needs, able.costs, able.slack, apart=able.apart, context=own
    )
    sums: dict[tuple[int, ...], Implied] = {}
    looked: dict[tuple[int, ...], str] = {}

    def grown(cells: frozenset[int]) -> bool:
        """Take up further sums that are sensitive; return whether there are any."""
        own.report(0, "Looking for sums that tell too much")
        open_sums = implied(system, cells, recipe.rules, table.members, recipe.who, looked=looked)
        more = {one.cells: one for one in open_sums if one.cells not in sums}
        if open_sums and (not more or len(sums) + len(more) > _most_sums(table)):
            one = open_sums[0]
            raise NotSafe(
                f"Suppressed cells of '{table.names[one.total]}' add up to a published number that "
                f"is sensitive itself ({one.reason}); nothing is published.",
                remedy="Use coarser categories.",
            )
        sums.update(more)
        return bool(more)

    if not recipe.protection.proves:
        # Moves are cheap: what they hide is settled before anyone searches and audits.
        while grown(moved.hidden):
            moved = _moves_of_sums(judged, tuple(sums), able, moved, own)
    while True:
        part = _System(judged, able, tuple(sums), moved, own)
        pattern = part.pattern()
        if not grown(pattern.cells & part.real):
            break
        moved = _moves_of_sums(judged, tuple(sums), able, moved, own)
    own.so_far.standing = None  # the search is over: nothing is left to be taken
    proof = part.audited(pattern)
    if proof.exposed:
        one = proof.exposed[0]
        raise NotSafe(
            f"The audit does not prove '{part.system.names[one.cell]}' safe from "
            f"{one.reader or 'a reader'} ({one.answer}); nothing is published.",
            remedy="Give the search more seconds, use coarser categories, or say that no single "
            "respondent reads.",
        )
    pattern = replace(
        pattern, primary=pattern.primary & part.real, secondary=pattern.secondary & part.real
    )
    return Hidden(pattern=pattern, audit=proof, sums=tuple(sums.values()), changes=part.changes)


def _most_sums(table: Table) -> int:
    return max(MAX_SUMS, len(table.values) // 50)


class _System:
    """A table's cells with sums of them as further cells, which are never published.

    The pattern it finds names cells of both; those of the table are `real`.
    """

    def __init__(
        self,
        judged: Judged,
        able: _Movable,
        sums: Sequence[Sequence[int]],
        begin: Moves,
        context: Context,
    ) -> None:
        context.report(0, "Writing down who knows what")
        table, recipe = judged.table, judged.recipe
        self.judged, self.context = judged, context
        self.real = frozenset(range(len(table.values)))
        self.system, self.bounds = table.system.with_sums(sums), judged.bounds.with_sums(sums)
        self.members = table.members.with_sums(sums)
        self.needs = {**judged.needs, **_levels_of_sums(judged, sums)}
        self.costs = (*able.costs.tolist(), *(0 for _ in sums))
        self.begin = begin
        self.changes = changes_of(self.system, begin)
        self.everyone = None if recipe.protection.proves else self._everyone()

    def pattern(self) -> Pattern:
        """Search for suppressed cells that hide the sensitive ones from every reader."""
        known, system = self.judged.recipe.known, self.system
        pattern: Pattern | None = None
        if self.everyone is not None:
            try:
                pattern = self._searched(())
            except Infeasible:  # from each reader alone more cells can be hidden
                if self._programs() > _PATIENCE * MOST_PROGRAMS:
                    raise
                self.everyone = None
        insiders: tuple[Insider, ...] = ()
        hidden = system.closed(self.needs)
        for _ in range(4 if pattern is None else 0):
            # Further suppressions can leave further respondents alone.
            pattern = self._searched(insiders)
            if not known.single_respondents:
                break
            grown = self._insiders(hidden | pattern.cells)
            if [one.name for one in grown] == [one.name for one in insiders] and not fresh(
                insiders, grown
            ):
                break
            insiders, hidden = grown, hidden | pattern.cells
        assert pattern is not None
        return pattern

    def _searched(self, insiders: Sequence[Insider]) -> Pattern:
        how = self.judged.recipe.protection
        return suppress(
            self.system,
            self.needs,
            self.bounds,
            self.costs,
            published=[self.system.place[name] for name in how.published],
            insiders=insiders,
            optimal=how.proves,
            seconds=how.seconds,
            context=self.context,
            start=self.begin,
            changes=self.changes,
            everyone=self.everyone,
        )

    def _insiders(self, cells: frozenset[int]) -> tuple[Insider, ...]:
        signed = self.judged.recipe.known.signed
        return insiders_of(self.members, self.system.values, cells, signed=signed)

    def audited(self, pattern: Pattern) -> Audit:
        """Judge every sensitive cell from the side of every reader."""
        single = self.judged.recipe.known.single_respondents
        return audit(
            self.system,
            pattern.cells,
            self.needs,
            self.bounds,
            insiders=self._insiders(pattern.cells) if single else (),
            everyone=self.everyone,
            changes=self.changes,
            context=self.context,
        )

    def _programs(self) -> float:
        """Return how many answers of small programs all readers one by one are worth."""
        sole = self.members.sole if self.judged.recipe.known.single_respondents else ()
        large = max(1.0, len(self.real) / _LARGE)
        return len(self.judged.needs) * (len(sole) + 1) * large

    def _everyone(self) -> Everyone | None:
        """Return all readers at once, where each by themselves are too many to ask."""
        judged, members = self.judged, self.members
        known = judged.recipe.known
        if self._programs() <= MOST_PROGRAMS:
            return None
        if not known.single_respondents:
            return Everyone(bounds=self.bounds, outside=self.bounds)
        sole = members.sole
        values, many = judged.table.values, len(judged.table.values)
        alone = members.alone[:many]
        own = members.most(() if known.signed else sole)[:many]
        more: dict[int, tuple[Number | None, Number | None]] = {
            cell: (values[cell], values[cell])
            if alone[cell]
            else (min(int(own[cell]), values[cell]), None)
            for cell in np.flatnonzero(alone | (own > 0)).tolist()
        }
        return Everyone(
            bounds=self.bounds.with_known(more),
            outside=self.bounds,
            alone=frozenset(np.flatnonzero(alone).tolist()),
        )


def _levels_of_sums(judged: Judged, sums: Sequence[Sequence[int]]) -> dict[int, Level]:
    """Return how far sums that are sensitive are to be hidden, numbered after the table's cells."""
    table, recipe = judged.table, judged.recipe
    together = [
        Contributions.of(map(abs, members_of(cells, table.members).values())) for cells in sums
    ]
    bounds, first = judged.bounds.with_sums(sums), len(table.values)
    levels: dict[int, Level] = {}
    for number, one in sensitive_cells(together, recipe.rules, recipe.who).items():
        value = sum(table.values[c] for c in sums[number])
        # Nobody can be kept from what the limits of the parts say already.
        at = first + number
        levels[at] = capped(one.level, value, bounds.lower[at], bounds.upper[at])
    return levels


def _moves_of_sums(
    judged: Judged,
    sums: Sequence[Sequence[int]],
    able: _Movable,
    begin: Moves,
    context: Context,
) -> Moves:
    """Return moves with those of sums that have none: one part moves, and no other part of it."""
    table, hidden = judged.table, set(begin.hidden)
    price = able.costs.copy()
    price[list(hidden)] = -1  # suppressed already: see `product_moves`
    apart = able.apart.copy()
    witnesses = dict(begin.witnesses)
    sides = sides_of(table.axes)
    for number, level in _levels_of_sums(judged, sums).items():
        if number in witnesses:
            continue
        context.check()
        cells = sums[number - len(table.values)]
        parts = (c for c in cells if not able.apart[c])  # the others, some reader knows
        for part in sorted(parts, key=lambda c: -able.slack[c])[:4]:
            apart[list(cells)] = True
            apart[part] = False
            found = product_moves(
                table.axes, table.system, {part: level}, price, able.slack, apart=apart,
                context=context, sides=sides,
            )  # fmt: skip
            apart[list(cells)] = able.apart[list(cells)]
            if part in found.witnesses:
                witnesses[number] = found.witnesses[part]
                price[list(found.hidden - hidden)] = -1
                hidden |= found.hidden
                break
    return Moves(hidden=frozenset(hidden), witnesses=witnesses, unserved=begin.unserved)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Movable:
    """What suppressing each cell costs, how far it may fall, and which cells hide no others.

    Arrays of one entry a cell.
    """

    costs: I64
    slack: I64
    apart: npt.NDArray[np.bool_]


def _movable(judged: Judged) -> _Movable:
    """Return how cells may move so that it holds for every reader."""
    table, known, how = judged.table, judged.recipe.known, judged.recipe.protection
    members: Members = table.members
    values = np.array(table.values, dtype=np.int64)
    apart = np.zeros(len(values), dtype=np.bool_)
    apart[[table.system.place[name] for name in how.published]] = True
    if None in judged.bounds.lower:
        far = min(2 * sum(map(abs, table.values)) + 2, 2**62)
        slack = np.array(
            [
                far if low is None else value - math.ceil(low)
                for value, low in zip(table.values, judged.bounds.lower, strict=True)
            ],
            dtype=np.int64,
        )
    else:
        least = np.array([math.ceil(low or 0) for low in judged.bounds.lower], dtype=np.int64)
        if known.single_respondents:  # who is alone knows the cell anyway
            own = members.most(members.sole)
            least = np.where(members.sizes > 1, np.maximum(least, own), least)
        slack = values - least
    if known.single_respondents:
        apart |= members.alone
    costs = costs_of(table.system, how.cost, members.sizes.tolist())
    return _Movable(costs=np.array(costs, dtype=np.int64), slack=slack, apart=apart)


def fresh(old: Sequence[Insider], new: Sequence[Insider]) -> bool:
    """Return whether someone knows of cells that they did not know of before."""
    return [set(one.known) for one in old] != [set(one.known) for one in new]
