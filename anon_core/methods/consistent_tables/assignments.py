"""Who may have which sensitive value, where it is known which choices of levels broke a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import comb, factorial, prod

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.consistent_tables.level_programs import maximal
from anon_core.methods.consistent_tables.program import Program
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels

Node = tuple[int, ...]
#: Pairs of a combination of quasi-identifiers and a value, beyond which no program is written down.
MOST_PAIRS = 3_000
_MOST_NODES = 5_000
#: Tables that are counted one by one.
_MOST_TABLES = 20_000
_TIE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """Everyone by quasi-identifiers, and what is published of the classes they are in.

    Attributes
    ----------
    codes : int32 array of shape (tuples, quasi)
        Distinct combinations, as leaves.
    count : int64 array of shape (tuples,)
    member : int64 array of shape (tuples,)
        The class of each.
    values : int64 array of shape (classes, values)
        Rows of each class that show each value.
    least, distinct, share : int
        Rows a class needs, different values, and l where no value may fill more than 1/l; 0 where
        that is not asked for.
    """

    codes: npt.NDArray[np.int32]
    count: I64
    member: I64
    values: I64
    hierarchies: tuple[Hierarchy, ...]
    least: int
    distinct: int
    share: int

    def groups(self, node: Node) -> list[list[int]]:
        """Return the combinations that are one class at some levels, class by class."""
        pairs = enumerate(zip(self.hierarchies, node, strict=True))
        cells = np.stack([h.node(level)[self.codes[:, d]] for d, (h, level) in pairs], axis=1)
        _, own = np.unique(cells, axis=0, return_inverse=True)
        order = np.argsort(own.ravel(), kind="stable")
        return [part.tolist() for part in np.split(order, np.cumsum(np.bincount(own.ravel()))[:-1])]

    def breaks(self, rows: I64) -> bool:
        """Say whether a class breaks a privacy model that holds these rows of each value."""
        return bool(
            np.count_nonzero(rows) < self.distinct or rows.max(initial=0) * self.share > rows.sum()
        )


def failed_levels(rule: CheapestLevels | RaisedLevels, people: People) -> list[Node] | None:
    """Return the choices of levels that failed, and not by the sizes of classes alone.

    None where they are too many to be looked through. Of choices one above the other the upper one
    is reported: what breaks a privacy model breaks it below as well.
    """
    heights = [h.height for h in people.hierarchies]
    if prod(h + 1 for h in heights) > _MOST_NODES:
        return None
    before = _cheaper(rule, people) if isinstance(rule, CheapestLevels) else _passed(rule, people)
    return [
        node
        for node in maximal(before)
        if all(people.count[own].sum() >= people.least for own in people.groups(node))
    ]


def _cheaper(rule: CheapestLevels, people: People) -> list[Node]:
    nodes = rule.choices([h.height for h in people.hierarchies])
    at = rule.levels
    cost = rule.costs(people.codes, people.count)
    known, place = cost(at), (sum(at), at)
    return [
        u
        for u in nodes
        if cost(u) < known - _TIE or (cost(u) <= known + _TIE and (sum(u), u) < place)
    ]


def _passed(rule: RaisedLevels, people: People) -> list[Node]:
    """Return the levels on the way to the published ones: it follows from quasi-identifiers."""
    bounds = rule.bounds_of([h.height for h in people.hierarchies])
    node, found = [low for low, _ in bounds], list[Node]()
    while tuple(node) != rule.levels and sum(node) < sum(rule.levels):
        found.append(tuple(node))
        distinct = [
            len(np.unique(h.node(level)[people.codes[:, d]])) if level < high else -1
            for d, (h, level, (_, high)) in enumerate(
                zip(people.hierarchies, node, bounds, strict=True)
            )
        ]
        node[int(np.argmax(distinct))] += 1
    return found


class Assigned:
    """The integer program of who has which value.

    Parameters
    ----------
    failed : sequence of tuples of int
        Levels that broke a privacy model by the values of some class.
    """

    def __init__(self, people: People, failed: Sequence[Node], context: Context) -> None:
        self.people = people
        self.program = Program()
        self.place: dict[tuple[int, int], int] = {}
        for own, rows in enumerate(people.count.tolist()):
            values = np.flatnonzero(people.values[people.member[own]]).tolist()
            for s in values:
                most = min(rows, int(people.values[people.member[own], s]))
                self.place[own, s] = self.program.variable(0, most)
            self.program.add(dict.fromkeys((self.place[own, s] for s in values), 1.0), rows, rows)
        for group, row in enumerate(people.values.tolist()):
            inside = np.flatnonzero(people.member == group).tolist()
            for s in np.flatnonzero(row).tolist():
                terms = dict.fromkeys((self.place[own, s] for own in inside), 1.0)
                self.program.add(terms, row[s], row[s])
        for node in failed:
            bad: dict[int, float] = {}
            context.check()
            for own in people.groups(node):
                bad[self._bad(own)] = 1.0
            self.program.add(bad, low=1)

    def _bad(self, group: Sequence[int]) -> int:
        """Add a switch that is 1 only where a class breaks a privacy model by its values."""
        program, people = self.program, self.people
        rows = int(people.count[list(group)].sum())
        of_value: dict[int, list[int]] = {}
        for own in group:
            for s in np.flatnonzero(people.values[people.member[own]]).tolist():
                of_value.setdefault(s, []).append(self.place[own, s])
        few, many = program.switch(), dict[int, float]()
        ways = dict[int, float]()
        if people.distinct:
            uniform = program.switch()
            there: dict[int, float] = {}
            for variables in of_value.values():
                present = program.switch()
                program.add({present: -float(rows), **dict.fromkeys(variables, 1.0)}, high=0)
                there[present] = 1.0
            size = len(there)
            if size >= people.distinct:
                program.add({**there, uniform: float(size)}, high=people.distinct - 1 + size)
            ways[uniform] = 1.0
        if people.share:
            for variables in of_value.values():
                filling = program.switch()
                program.at_least_if(filling, variables, rows // people.share + 1)
                many[filling] = 1.0
        program.add({few: -1.0, **ways, **many}, low=0)
        return few

    def certain(self, context: Context) -> tuple[list[tuple[int, int]], bool, list[int]]:
        """Return who has which value in every table, and whether there is any table.

        Returns
        -------
        certain : list of (combination, value)
        consistent : bool
            False where no table leads to the release.
        undecided : list of int
            Combinations of which nothing was decided in time.
        """
        rows = self.people.count
        first = self.program.solve(context)
        if first.x is None:
            everyone = list(range(len(rows))) if first.state == "unknown" else []
            return [], first.state != "none", everyone
        open_ = {pair for pair, v in self.place.items() if first.x[v] == rows[pair[0]]}
        found: list[tuple[int, int]] = []
        undecided: list[int] = []
        size = len(open_)
        while open_:
            context.report(1 - len(open_) / size, "Looking for a table that says otherwise")
            pair = min(open_)
            open_.discard(pair)
            other = self.program.copy()
            other.add({self.place[pair]: 1.0}, high=int(rows[pair[0]]) - 1)
            answer = other.solve(context)
            if answer.x is not None:
                x = answer.x
                open_ = {p for p in open_ if x[self.place[p]] == rows[p[0]]}
            elif answer.state == "none":
                found.append(pair)
            else:
                undecided.append(pair[0])
        return found, True, undecided


def beliefs(
    people: People, failed: Sequence[Node], context: Context
) -> npt.NDArray[np.float64] | None:
    """Return the share of tables in which a person has a value, every deal counting once.

    Returns
    -------
    float64 array of shape (tuples, values), or None
        None where the tables are too many to be counted one by one, or there is none.
    """
    classes = [np.flatnonzero(people.member == n).tolist() for n in range(len(people.values))]
    tables = prod(
        min(comb(int(people.count[o]) + len(row) - 1, len(row) - 1), _MOST_TABLES)
        for row, own in zip(people.values, classes, strict=True)
        for o in own
    )
    if tables > 10 * _MOST_TABLES:
        return None
    ways = [
        list(_dealt(people.count[own].tolist(), tuple(row)))
        for own, row in zip(classes, people.values.tolist(), strict=True)
    ]
    if prod(len(way) for way in ways) > _MOST_TABLES:
        return None
    groups = [people.groups(node) for node in failed]
    total, weighed = 0.0, np.zeros((len(people.count), people.values.shape[1]))
    for dealt in product(*ways):
        context.check()
        y = np.zeros(weighed.shape, dtype=np.int64)
        for own, rows in zip(classes, dealt, strict=True):
            y[own] = np.asarray(rows)
        if all(any(people.breaks(y[own].sum(axis=0)) for own in node) for node in groups):
            weight = prod(
                factorial(int(n)) // reduce(lambda a, b: a * factorial(b), row, 1)
                for n, row in zip(people.count, y.tolist(), strict=True)
            )
            total += weight
            weighed += weight * y
    return weighed / (total * people.count[:, None]) if total else None


def _dealt(rows: list[int], left: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield the ways to deal a class's values to its combinations: rows of each value, by each."""
    if not rows:
        yield []
        return
    for own in _parted(rows[0], left):
        rest = tuple(a - b for a, b in zip(left, own, strict=True))
        for others in _dealt(rows[1:], rest):
            yield [own, *others]


def _parted(rows: int, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take so many rows of what is left of each value."""
    if not left:
        if not rows:
            yield ()
        return
    for own in range(min(rows, left[0]) + 1):
        for others in _parted(rows - own, left[1:]):
            yield (own, *others)
