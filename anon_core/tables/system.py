"""What is published as one system: cells, how they add up, and what a reader knows of them.

Values are integers or fractions, never floats: anyone who checks a table decides in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from anon_core.base.errors import BadInput, BadPlan, clipped, listing

Number = int | Fraction


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A total and the cells it is the sum of."""

    parent: int
    children: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """Cells with true values, and every sum that a reader knows to hold among them."""

    names: tuple[str, ...]
    values: tuple[Number, ...]
    relations: tuple[Relation, ...]

    def __post_init__(self) -> None:
        """Refuse sums that do not hold."""
        wrong = [
            relation
            for relation in self.relations
            if self.values[relation.parent] != sum(self.values[c] for c in relation.children)
        ]
        if wrong:
            one = wrong[0]
            raise BadInput(
                f"'{clipped(self.names[one.parent])}' is not the sum of its parts, and so are "
                f"{len(wrong) - 1:,} more totals. Totals have to add up exactly: no tolerance."
                if len(wrong) > 1
                else f"'{clipped(self.names[one.parent])}' is not the sum of "
                f"{listing(self.names[c] for c in one.children)}. Totals have to add up exactly.",
                remedy="Mend the total or its parts, or build the table from rows.",
                values=[
                    str(self.values[one.parent]),
                    str(sum(self.values[c] for c in one.children)),
                ],
            )

    @classmethod
    def of(cls, values: Mapping[str, Number], relations: Iterable[str]) -> System:
        """Make a system of named values and sums such as ``T=A+B``.

        Raises
        ------
        BadInput
            If a sum names an unknown cell, or does not hold.

        Examples
        --------
        >>> System.of({"T": 5, "A": 2, "B": 3}, ["T=A+B"]).relations
        (Relation(parent=0, children=(1, 2)),)
        """
        place = {name: at for at, name in enumerate(values)}
        found: list[Relation] = []
        for text in relations:
            total, _, parts = text.partition("=")
            names = [total.strip(), *(part.strip() for part in parts.split("+"))]
            unknown = [name for name in names if name not in place]
            if unknown:
                raise BadInput(
                    f"The sum {clipped(text)} names {listing(unknown)}; cells are "
                    f"{listing(place)}.",
                    remedy="Use the names of cells.",
                )
            at = [place[name] for name in names]
            found.append(Relation(parent=at[0], children=tuple(at[1:])))
        return cls(names=tuple(values), values=tuple(values.values()), relations=tuple(found))

    @cached_property
    def place(self) -> dict[str, int]:
        """Cell by name."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def answers(self) -> dict[Any, Any]:
        """Of small programs over these cells, what was answered already: see `Reader`."""
        return {}

    @cached_property
    def same(self) -> tuple[int, ...]:
        """The first of the cells that are the same one: a total of a single part is that part."""
        root = list(range(len(self.names)))

        def first(cell: int) -> int:
            while root[cell] != cell:
                root[cell] = root[root[cell]]
                cell = root[cell]
            return cell

        for relation in self.relations:
            if len(relation.children) == 1:
                one, other = sorted((first(relation.parent), first(relation.children[0])))
                root[other] = one
        return tuple(first(cell) for cell in range(len(root)))

    @cached_property
    def _repeats(self) -> dict[int, list[int]]:
        """The cells that repeat another, by that one."""
        found: dict[int, list[int]] = {}
        for cell, first in enumerate(self.same):
            if cell != first:
                found.setdefault(first, []).append(cell)
        return found

    @cached_property
    def distinct(self) -> tuple[Relation, ...]:
        """The sums among cells that differ, each once."""
        same, found = self.same, dict[Relation, None]()
        for relation in self.relations:
            if len(relation.children) > 1:
                children = tuple(sorted(same[c] for c in relation.children))
                found[Relation(parent=same[relation.parent], children=children)] = None
        return tuple(found)

    @cached_property
    def relations_of(self) -> tuple[tuple[int, ...], ...]:
        """Which of the distinct sums each cell is in; empty for cells that repeat another."""
        found: list[list[int]] = [[] for _ in self.names]
        for number, relation in enumerate(self.distinct):
            for cell in (relation.parent, *relation.children):
                found[cell].append(number)
        return tuple(map(tuple, found))

    def with_sums(self, sums: Sequence[Sequence[int]]) -> System:
        """Return the system with a further cell for the sum of each of these sets of cells.

        Examples
        --------
        >>> row = System.of({"T": 9, "A": 2, "B": 3, "C": 4}, ["T=A+B+C"])
        >>> row.with_sums([(1, 2)]).values
        (9, 2, 3, 4, 5)
        """
        if not sums:
            return self
        first = len(self.names)
        found = System(
            names=(*self.names, *(" + ".join(self.names[c] for c in cells) for cells in sums)),
            values=(*self.values, *(sum(self.values[c] for c in cells) for cells in sums)),
            relations=(
                *self.relations,
                *(
                    Relation(parent=first + at, children=tuple(cells))
                    for at, cells in enumerate(sums)
                ),
            ),
        )
        if min(map(len, sums)) > 1:  # no cell is the same as a sum: what is known of them stays
            same = self.same
            more = [
                Relation(parent=first + at, children=tuple(sorted(same[c] for c in cells)))
                for at, cells in enumerate(sums)
            ]
            within: dict[int, list[int]] = {}
            for number, relation in enumerate(more, start=len(self.distinct)):
                for cell in (relation.parent, *relation.children):
                    within.setdefault(cell, []).append(number)
            relations_of = [*self.relations_of, *(() for _ in sums)]
            for cell, numbers in within.items():
                relations_of[cell] = (*relations_of[cell], *numbers)
            vars(found).update(
                same=(*same, *range(first, first + len(sums))),
                distinct=(*self.distinct, *more),
                relations_of=tuple(relations_of),
            )
        return found

    def cells(self, names: Iterable[str]) -> frozenset[int]:
        """Return the cells of these names."""
        return frozenset(self.place[name] for name in names)

    def closed(self, cells: Iterable[int]) -> frozenset[int]:
        """Return cells with all that are the same: they have one status."""
        firsts = {self.same[cell] for cell in cells}
        repeats = self._repeats
        return frozenset(firsts).union(*(repeats[f] for f in firsts & repeats.keys()))


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Least and greatest value a reader allows each cell before reading the table; None: no limit.

    They are part of what is required, and printed with it.
    """

    lower: tuple[Number | None, ...]
    upper: tuple[Number | None, ...]

    @classmethod
    def of(
        cls,
        system: System,
        *,
        lower: Number | None = 0,
        upper: Number | None = None,
        impossible: Iterable[int] = (),
    ) -> Bounds:
        """Return the same limits for all cells; those that are known to be empty have [0, 0]."""
        none, cells = set(impossible), range(len(system.names))
        return cls(
            lower=tuple(0 if c in none else lower for c in cells),
            upper=tuple(0 if c in none else upper for c in cells),
        )

    @classmethod
    def relative(cls, system: System, percent: Number, least: Number | None = 0) -> Bounds:
        """Return limits of some per cent around every value: what a good guess is taken to be."""
        share = Fraction(percent) / 100
        low = [Fraction(v) - share * abs(v) for v in system.values]
        return cls(
            lower=tuple(v if least is None else max(v, Fraction(least)) for v in low),
            upper=tuple(Fraction(v) + share * abs(v) for v in system.values),
        )

    def with_sums(self, sums: Sequence[Sequence[int]]) -> Bounds:
        """Return the limits with those of further cells, each the sum of a set of cells."""

        def total(of: tuple[Number | None, ...], cells: Sequence[int]) -> Number | None:
            known = [one for one in (of[c] for c in cells) if one is not None]
            return sum(known) if len(known) == len(cells) else None

        return Bounds(
            lower=(*self.lower, *(total(self.lower, cells) for cells in sums)),
            upper=(*self.upper, *(total(self.upper, cells) for cells in sums)),
        )

    def with_known(self, known: Mapping[int, tuple[Number | None, Number | None]]) -> Bounds:
        """Return the limits of someone who knows more of some cells."""
        lower, upper = list(self.lower), list(self.upper)
        for cell, (least, most) in known.items():
            if least is not None:
                old = lower[cell]
                lower[cell] = least if old is None else max(old, least)
            if most is not None:
                above = upper[cell]
                upper[cell] = most if above is None else min(above, most)
        return replace(self, lower=tuple(lower), upper=tuple(upper))

    def refuse_false(self, system: System, cells: Iterable[int]) -> None:
        """Refuse limits that the true value of a cell breaks.

        Raises
        ------
        BadPlan
        """
        for cell in cells:
            value, low, high = system.values[cell], self.lower[cell], self.upper[cell]
            if (low is not None and value < low) or (high is not None and value > high):
                raise BadPlan(
                    f"'{clipped(system.names[cell])}' is outside what a reader is taken to know "
                    f"({shown_interval(low, high)}).",
                    remedy="Publish the cell, or widen what a reader knows.",
                    values=[str(value)],
                )


@dataclass(frozen=True, kw_only=True)
class Level:
    """How far a reader's interval has to reach: below the value, above it, and in all."""

    lower: Number = 0
    upper: Number = 0
    sliding: Number = 0

    def kept(self, value: Number, least: Number | None, most: Number | None) -> bool:
        """Return whether an interval reaches the level; reaching it suffices, None is no limit.

        Examples
        --------
        >>> Level(lower=17, upper=8).kept(22, 5, 30), Level(upper=9).kept(22, 5, 30)
        (True, False)
        """
        return (
            (least is None or least <= value - self.lower)
            and (most is None or most >= value + self.upper)
            and (least is None or most is None or most - least >= self.sliding)
        )


def refuse_levels(system: System, needs: Mapping[int, Level], bounds: Bounds) -> None:
    """Refuse a level that no table can reach, since a reader knows better beforehand.

    Raises
    ------
    BadPlan
    """
    for cell, level in needs.items():
        value, low, high = system.values[cell], bounds.lower[cell], bounds.upper[cell]
        name = clipped(system.names[cell])
        if low is not None and value < low:
            raise BadPlan(
                f"'{name}' is {shown(value)} and sensitive, and a reader is taken to know that a "
                f"suppressed cell is at least {shown(low)}.",
                remedy="Say zeros_printed = false in [reader], or change the rule.",
            )
        if low is not None and value - level.lower < low:
            raise BadPlan(
                f"'{name}' is to be protected by {shown(level.lower)} downwards, but a reader "
                f"knows that it is at least {shown(low)}: allowed is at most {shown(value - low)}.",
                remedy="Lower the level, or have it capped (levels = 'cap'); the report then says "
                "so.",
            )
        if high is not None and value + level.upper > high:
            raise BadPlan(
                f"'{name}' is to be protected by {shown(level.upper)} upwards, but a reader knows "
                f"that it is at most {shown(high)}: allowed is at most {shown(high - value)}.",
                remedy="Lower the level, or have it capped (levels = 'cap'); the report then says "
                "so.",
            )
        if low is not None and high is not None and high - low < level.sliding:
            raise BadPlan(
                f"'{name}' is to have an interval of {shown(level.sliding)}, but a reader knows "
                f"{shown_interval(low, high)}.",
                remedy="Lower the level, or let the reader know less.",
            )


def capped(level: Level, value: Number, low: Number | None, high: Number | None) -> Level:
    """Return a level cut down to what a reader's own limits allow."""
    return Level(
        lower=level.lower if low is None else max(0, min(level.lower, value - low)),
        upper=level.upper if high is None else max(0, min(level.upper, high - value)),
        sliding=level.sliding
        if low is None or high is None
        else max(0, min(level.sliding, high - low)),
    )


def shown(value: Number | None) -> str:
    """Return a number for people: whole, or decimal where that is exact enough."""
    if value is None:
        return "∞"
    if Fraction(value).denominator == 1:
        return f"{int(value):,}"
    return f"{float(value):,.4g}"


def shown_interval(low: Number | None, high: Number | None) -> str:
    """Return an interval for people."""
    return f"{'−∞' if low is None else shown(low)} to {shown(high)}"


def union(systems: Sequence[System]) -> System:
    """Return several systems as one: cells of one name are one cell.

    Raises
    ------
    BadInput
        If two tables give the same cell different values.
    """
    values: dict[str, Number] = {}
    relations: list[Relation] = []
    for system in systems:
        for name, value in zip(system.names, system.values, strict=True):
            if values.setdefault(name, value) != value:
                raise BadInput(
                    f"Two tables give '{clipped(name)}' different values.",
                    remedy="Build all tables from the same rows.",
                )
        place = {name: at for at, name in enumerate(values)}
        relations += [
            Relation(
                parent=place[system.names[r.parent]],
                children=tuple(place[system.names[c]] for c in r.children),
            )
            for r in system.relations
        ]
    return System(names=tuple(values), values=tuple(values.values()), relations=tuple(relations))
