"""What several tables of the same rows, or answers about them, reveal together.

Rows with the same membership in all published cells are an atom. Every cell is a sum of atoms, so
hierarchical, linked and earlier tables are one system. Tables that are safe one by one can tell
more together: one that is out stays as it is, and a new one is protected so that a reader of both
is kept from the sensitive cells of either.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, clipped, listing
from anon_core.base.terms import count
from anon_core.tables.audit import Audit, Insider, audit, insiders_of
from anon_core.tables.contributions import Contributions, members_of
from anon_core.tables.publication import SUPPRESSED, Publication
from anon_core.tables.recipe import SUPPRESSES
from anon_core.tables.sensitivity import sensitive_cells
from anon_core.tables.suppressed import MAX_SUMS, Judged, NotSafe
from anon_core.tables.suppression import Pattern, costs_of, suppress
from anon_core.tables.system import Bounds, Level, Number, Relation, System, capped, shown

_Row = TypeVar("_Row", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A cell taken off a larger one: what is left is as good as published."""

    larger: str
    smaller: str
    value: Number


def atoms(cells: Mapping[str, Collection[_Row]]) -> dict[frozenset[str], list[_Row]]:
    """Return the rows of each atom, by the cells that hold it.

    Examples
    --------
    >>> found = atoms({"<20": ["a"], "<25": ["a", "b"]})
    >>> {tuple(sorted(cells)): rows for cells, rows in found.items()}
    {('<20', '<25'): ['a'], ('<25',): ['b']}
    """
    held: dict[_Row, set[str]] = defaultdict(set)
    for name, rows in cells.items():
        for row in rows:
            held[row].add(name)
    found: dict[frozenset[str], list[_Row]] = defaultdict(list)
    for row, names in held.items():
        found[frozenset(names)].append(row)
    return dict(found)


def linked(
    cells: Mapping[str, Collection[_Row]], amounts: Mapping[_Row, Number] | None = None
) -> tuple[System, frozenset[int]]:
    """Return everything published as one system over atoms, and which of its cells are atoms.

    Parameters
    ----------
    cells : mapping of str to collection
        By name, the rows of each cell of all tables.
    amounts : mapping, optional
        What each row adds; 1 by default.
    """
    every = atoms(cells)

    def total(rows: Collection[_Row]) -> Number:
        return sum(1 if amounts is None else amounts[row] for row in rows)

    names = list(cells)
    place = {name: at for at, name in enumerate(names)}
    parts: list[list[int]] = [[] for _ in names]
    values = [total(cells[name]) for name in names]
    for own, rows in every.items():
        at = len(names)
        names.append("atom of " + ", ".join(sorted(own)))
        values.append(total(rows))
        for name in own:
            parts[place[name]].append(at)
    system = System(
        names=tuple(names),
        values=tuple(values),
        relations=tuple(
            Relation(parent=at, children=tuple(below)) for at, below in enumerate(parts) if below
        ),
    )
    return system, frozenset(range(len(cells), len(names)))


def differences(
    first: Mapping[str, Collection[_Row]],
    second: Mapping[str, Collection[_Row]],
    amounts: Mapping[_Row, Number] | None = None,
) -> list[Difference]:
    """Return what cells of one table leave of cells of another that hold all their rows."""
    found: list[Difference] = []
    sets = [{name: frozenset(rows) for name, rows in table.items()} for table in (first, second)]
    for one, other in (sets, sets[::-1]):
        for larger, whole in one.items():
            for smaller, inside in other.items():
                if inside and inside < whole:
                    rest = whole - inside
                    value = sum(1 if amounts is None else amounts[row] for row in rest)
                    found.append(Difference(larger=larger, smaller=smaller, value=value))
    return found


#: Cells of two tables whose system is still built.
MOST_TOGETHER = 4_000


@dataclass(frozen=True, kw_only=True)
class Rest:
    """What a published cell of one table leaves of a published cell of the other.

    Attributes
    ----------
    reason : str
        Why it is sensitive as a cell; empty if it is not.
    atoms : tuple of int
        What it is the sum of.
    level : Level or None
        How far a reader has to be kept from it, if it is sensitive.
    """

    larger: str
    smaller: str
    value: Number
    reason: str = ""
    atoms: tuple[int, ...] = ()
    level: Level | None = None

    def __str__(self) -> str:
        """Say what it is and why it is sensitive."""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.larger} less {self.smaller} leaves {shown(self.value)}{why}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Earlier:
    """A table that is out already: built again from the rows, with the cells that it suppressed."""

    judged: Judged
    suppressed: frozenset[int]

    @classmethod
    def read(cls, judged: Judged, published: bytes) -> Earlier:
        """Return an earlier table from its CSV file.

        Raises
        ------
        BadPlan
            If its cells are others, it prints other values, or its numbers were changed.
        """
        method = judged.recipe.protection.method
        if method not in ("none", *SUPPRESSES):
            raise BadPlan(
                f"The earlier table was protected by '{method}'; allowed are tables with "
                "suppressed cells.",
                remedy="Publish from this one table alone, or from the earlier one alone.",
            )
        lines = list(csv.reader(io.StringIO(published.decode("utf-8"))))[1:]
        texts = {tuple(cell.removeprefix("'") for cell in line[:-1]): line[-1] for line in lines}
        table, hidden = judged.table, set[int]()
        for cell, nodes in enumerate(table.nodes):
            key = tuple(axis.labels[n] for axis, n in zip(table.axes, nodes, strict=True))
            text = texts.pop(key, None)
            if text == SUPPRESSED:
                hidden.add(cell)
            elif text != table.text(table.values[cell]):
                raise BadPlan(
                    f"The earlier table does not print '{clipped(table.names[cell])}' as these "
                    "rows have it.",
                    remedy="Give the rows, the recipe and the file of one publication.",
                )
        if texts:
            raise BadPlan(
                f"The earlier table has {len(texts):,} cells that its recipe does not make.",
                remedy="Give the rows, the recipe and the file of one publication.",
            )
        return cls(judged=judged, suppressed=frozenset(hidden))


class Together:
    """A table with one that is out already, as one system over atoms.

    Cells of the earlier table come first, then those of the new one, then the atoms.

    Raises
    ------
    BadPlan
        If the tables add up different things, or are too large.
    """

    def __init__(self, earlier: Earlier, judged: Judged) -> None:
        self.earlier, self.judged = earlier, judged
        one, two = earlier.judged, judged
        for key in ("value", "weight", "respondent", "holding"):
            first, second = (getattr(j.recipe.layout, key) for j in (one, two))
            if first != second:
                raise BadPlan(
                    f"The tables have different columns as {key}: '{clipped(first)}' and "
                    f"'{clipped(second)}'.",
                    remedy="Tables that are looked at together count or add up the same.",
                )
        if len(one.table.rows.leaf) != len(two.table.rows.leaf):
            raise BadPlan(
                f"The earlier table is made of {len(one.table.rows.leaf):,} rows, and this one of "
                f"{len(two.table.rows.leaf):,}.",
                remedy="Use the same condition and the same handling of missing values.",
            )
        self.first = len(one.table.values)
        self.cells = self.first + len(two.table.values)
        if self.cells > MOST_TOGETHER:
            raise BadPlan(
                f"The two tables have {self.cells:,} cells; allowed are {MOST_TOGETHER:,}.",
                remedy="Use coarser levels.",
            )
        self.groups = self._groups()
        self.system, self.atoms = self._system()

    def _groups(self) -> list[tuple[tuple[int, ...], int, dict[int, int]]]:
        """Return rows that are in the same finest cells: their cells, sum and contributions."""
        one, two = self.earlier.judged.table, self.judged.table
        found: dict[tuple[int, int], tuple[tuple[int, ...], list[int], dict[int, int]]] = {}
        rows = two.rows
        for a, b, amount, own, who in zip(
            one.rows.leaf.tolist(), rows.leaf.tolist(), rows.amount.tolist(), rows.own.tolist(),
            rows.who.tolist(), strict=True,
        ):  # fmt: skip
            if (a, b) not in found:
                above = (*one.above(a), *(self.first + cell for cell in two.above(b)))
                found[a, b] = (above, [0], {})
            _, total, held = found[a, b]
            total[0] += amount
            held[who] = held.get(who, 0) + own
        return [(above, total[0], held) for above, total, held in found.values()]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Cells of both tables, those of the earlier one marked."""
        one, two = self.earlier.judged.table, self.judged.table
        return (*(f"earlier: {name}" for name in one.names), *two.names)

    @cached_property
    def sets(self) -> dict[str, set[int]]:
        """The groups of rows of each cell, by name."""
        found: dict[str, set[int]] = {name: set() for name in self.names}
        for number, (above, _, _) in enumerate(self.groups):
            for cell in above:
                found[self.names[cell]].add(number)
        return found

    def _system(self) -> tuple[System, frozenset[int]]:
        system, every = linked(self.sets, {n: one[1] for n, one in enumerate(self.groups)})
        return system, every

    @cached_property
    def members(self) -> list[dict[int, int]]:
        """What each respondent contributes, by cell and atom."""
        own = [*self.sets.values(), *atoms(self.sets).values()]
        found: list[dict[int, int]] = []
        for groups in own:
            held: dict[int, int] = {}
            for number in groups:
                for who, amount in self.groups[number][2].items():
                    held[who] = held.get(who, 0) + amount
            found.append(held)
        return found

    @cached_property
    def bounds(self) -> Bounds:
        """What a reader knows beforehand of the cells and atoms."""
        signed = self.earlier.judged.recipe.known.signed or self.judged.recipe.known.signed
        one, two = self.earlier.judged.bounds, self.judged.bounds
        least: list[Number | None] = [None if signed else 0] * len(self.atoms)
        # An empty cell is printed, so its atoms are known to be 0 by that.
        return Bounds(
            lower=(*one.lower, *two.lower, *least),
            upper=(*one.upper, *two.upper, *([None] * len(self.atoms))),
        )

    @cached_property
    def needs(self) -> dict[int, Level]:
        """The level of each sensitive cell of either table."""
        later = {self.first + cell: level for cell, level in self.judged.needs.items()}
        return {**self.earlier.judged.needs, **later}

    def hidden(self, suppressed: frozenset[int]) -> frozenset[int]:
        """Return all that is not printed where the new table suppresses these cells."""
        new = (self.first + cell for cell in suppressed)
        return frozenset({*self.earlier.suppressed, *new, *self.atoms})

    def rests(self, suppressed: frozenset[int]) -> list[Rest]:
        """Return what published cells of one table leave of those of the other, the least first."""
        hidden = self.hidden(suppressed)
        place = {name: cell for cell, name in enumerate(self.names)}
        open_cells = {n: s for n, s in self.sets.items() if place[n] not in hidden}
        one = {n: s for n, s in open_cells.items() if place[n] < self.first}
        two = {n: s for n, s in open_cells.items() if place[n] >= self.first}
        amounts = {n: group[1] for n, group in enumerate(self.groups)}
        recipe, found = self.judged.recipe, list[Rest]()
        for each in differences(one, two, amounts):
            large, small = (self.members[place[n]] for n in (each.larger, each.smaller))
            left = {who: a for who, x in large.items() if (a := x - small.get(who, 0))}
            sizes = map(abs, left.values()) if recipe.layout.value else [1] * len(left)
            why = sensitive_cells([Contributions.of(sizes)], recipe.rules, recipe.who).get(0)
            rest = Rest(larger=each.larger, smaller=each.smaller, value=each.value)
            if why is not None:
                parts = {self.atom_of[n] for n in self.sets[each.larger] - self.sets[each.smaller]}
                rest = replace(rest, reason=why.reason, level=why.level, atoms=tuple(sorted(parts)))
            found.append(rest)
        return sorted(found, key=lambda rest: (not rest.reason, rest.value))

    @cached_property
    def atom_of(self) -> dict[int, int]:
        """The atom of each group of rows."""
        return {
            number: self.cells + at
            for at, groups in enumerate(atoms(self.sets).values())
            for number in groups
        }

    def audited(
        self,
        suppressed: frozenset[int],
        rests: Sequence[Rest] = (),
        context: Context | None = None,
    ) -> Audit:
        """Judge every sensitive cell of either table, from someone who reads both.

        Parameters
        ----------
        rests : sequence of Rest
            Sensitive differences that are judged as cells are.
        """
        part = self._with(rests)
        hidden = part.system.closed(
            {*self.hidden(suppressed), *range(len(self.system.names), len(part.system.names))}
        ) - self._same_as_printed(part.system, suppressed)
        readers = self._insiders(part, hidden)
        return audit(
            part.system, hidden, part.needs, part.bounds, insiders=readers, context=context
        )

    def _insiders(self, part: _Part, hidden: frozenset[int]) -> tuple[Insider, ...]:
        known = self.judged.recipe.known
        if not known.single_respondents:
            return ()
        return insiders_of(part.members, part.system.values, hidden, signed=known.signed)

    def _with(self, rests: Sequence[Rest]) -> _Part:
        """Return the system with each difference as a further cell, which is never printed."""
        sums = [rest.atoms for rest in rests]
        system, bounds = self.system.with_sums(sums), self.bounds.with_sums(sums)
        needs = dict(self.needs)
        for at, rest in enumerate(rests, len(self.system.names)):
            assert rest.level is not None
            # Nobody can be kept from what the limits of the parts say already.
            needs[at] = capped(rest.level, system.values[at], bounds.lower[at], bounds.upper[at])
        members = (*self.members, *(members_of(cells, self.members) for cells in sums))
        return _Part(system=system, bounds=bounds, needs=needs, members=members)

    def _same_as_printed(self, system: System, suppressed: frozenset[int]) -> frozenset[int]:
        """Return atoms that are the same as a printed cell."""
        hidden, same = self.hidden(suppressed), system.same
        printed = {same[c] for c in range(self.cells) if c not in hidden}
        return frozenset(c for c, first in enumerate(same) if first in printed)

    def protected(self, context: Context | None = None) -> Publication:
        """Protect the new table by suppression, so that both tables are safe together.

        Raises
        ------
        BadPlan, Infeasible
            If the method does not suppress, or no pattern is safe.
        NotSafe
            If the audit of both does not prove a sensitive cell safe.
        """
        judged, recipe = self.judged, self.judged.recipe
        how, table = recipe.protection, self.judged.table
        if how.method not in SUPPRESSES:
            raise BadPlan(
                f"A table after an earlier one is protected by suppression; found '{how.method}'.",
                remedy=f"Use one of {listing(SUPPRESSES)} as [protect] method.",
            )
        rests: list[Rest] = []
        while True:
            found = self._pattern(rests, context)
            own = frozenset(c - self.first for c in found.cells if self.first <= c < self.cells)
            own = table.system.closed(own)
            open_ones = [one for one in self.rests(own) if one.reason and one not in rests]
            if not open_ones:
                break
            if len(rests) + len(open_ones) > MAX_SUMS:
                raise NotSafe(
                    f"More than {MAX_SUMS} differences of the two tables are sensitive, such as "
                    f"{open_ones[0]}; nothing is published.",
                    remedy="Use coarser categories.",
                )
            rests += open_ones
        proof = self.audited(own, rests, context)
        if proof.exposed:
            name = self._with(rests).system.names[proof.exposed[0].cell]
            raise NotSafe(
                f"The audit of both tables does not prove '{clipped(name)}' safe; nothing is "
                "published.",
                remedy="Use coarser categories, or give the search more seconds.",
            )
        primary = own & frozenset(judged.findings)
        pattern = replace(
            found,
            primary=primary,
            secondary=own - primary,
            cost=sum(
                costs_of(table.system, how.cost, table.members.sizes.tolist())[c]
                for c in own - primary
            ),
            bound=None,
        )
        differ = f" So are {count(len(rests), 'difference')} of their cells." if rests else ""
        texts = tuple(
            SUPPRESSED if cell in own else table.text(value)
            for cell, value in enumerate(table.values)
        )
        note = (
            f"Audited together with an earlier table of {self.first:,} cells: sensitive cells of "
            f"both are safe from someone who reads both.{differ} No second computation checks that."
        )
        return Publication(judged=judged, texts=texts, pattern=pattern, audit=proof, notes=(note,))

    def _pattern(self, rests: Sequence[Rest], context: Context | None) -> Pattern:
        recipe, part = self.judged.recipe, self._with(rests)
        how, system, same = recipe.protection, part.system, part.system.same
        printed = {c for c in range(self.first) if c not in self.earlier.suppressed}
        printed |= {self.first + self.judged.table.system.place[name] for name in how.published}
        # An atom that is one cell of a table has that cell's status; the others are never printed.
        tied = {same[c] for c in range(self.cells)}
        never = {c for c in self.atoms if same[c] not in tied} | self.earlier.suppressed
        needs = {**dict.fromkeys(sorted(never), Level()), **part.needs}
        costs = list(costs_of(system, how.cost, [len(held) for held in part.members]))
        for cell in (*range(self.first), *range(self.cells, len(costs))):
            costs[cell] = 0
        readers, hidden = tuple[Insider, ...](), frozenset[int]()
        found: Pattern | None = None
        for _ in range(4):  # further suppressions can leave further respondents alone
            found = suppress(
                system, needs, part.bounds, costs, published=printed, insiders=readers,
                optimal=how.proves, seconds=how.seconds, context=context,
            )  # fmt: skip
            grown = hidden | found.cells
            if not recipe.known.single_respondents or grown == hidden:
                break
            hidden = grown
            readers = self._insiders(part, hidden)
        assert found is not None
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """The system of two tables with their sensitive differences as cells."""

    system: System
    bounds: Bounds
    needs: dict[int, Level]
    members: Sequence[dict[int, int]]
