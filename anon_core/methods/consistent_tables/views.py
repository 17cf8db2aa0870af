"""Several views of one table: which values a person may have in any table that fits all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from anon_core.base.context import Context, now
from anon_core.base.errors import BadInput, BadPlan, listing
from anon_core.methods.consistent_tables.program import Program, solutions

#: Different rows that may fit the views; a program of more is not tried.
_MOST_ROWS = 200_000
#: Seconds for one question of one person and one value.
_ONE = 10.0

Row = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Projection:
    """A view: some columns of the rows of a table, each row once for every row of the table.

    Attributes
    ----------
    name : str
        What messages call it.
    columns : tuple of str
    rows : Counter of tuples of str
    """

    name: str
    columns: tuple[str, ...]
    rows: Counter[Row]


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The values that each person has in some table that fits all views (Yao et al. 2005).

    Attributes
    ----------
    possible : mapping of str to set of str
        Person → values that some table gives her.
    open : mapping of str to set of str
        Person → values of which it was not decided in time.
    one_table : bool or None
        Whether a single table fits; None where that was not decided.
    """

    possible: Mapping[str, set[str]]
    open: Mapping[str, set[str]]
    one_table: bool | None

    @property
    def least(self) -> int:
        """The k over the join: the fewest values that a person is known to share."""
        return min(map(len, self.possible.values()))

    @property
    def most(self) -> int:
        """The same if every open value is possible."""
        return min(len(own) + len(self.open.get(x, ())) for x, own in self.possible.items())


def candidates(
    views: Sequence[Projection], person: str, about: str, context: Context
) -> Candidates:
    """Return what all views together leave open about each person.

    With two views, any rows that agree in their common columns can be one row of the table. With
    more, an integer program decides each person and value: pairs of views are not enough.

    Raises
    ------
    BadInput
        If no table fits all views.
    BadPlan
        If a column is in no view, or the join of the views is too large.
    """
    names = list(dict.fromkeys(n for view in views for n in view.columns))
    for asked in (person, about):
        if asked not in names:
            raise BadPlan(
                f"No view has a column '{asked}'; there are {listing(names)}.",
                remedy="Name a column of a view.",
            )
    if len({view.rows.total() for view in views}) > 1:
        sizes = listing([f"'{view.name}' has {view.rows.total():,}" for view in views])
        raise BadInput(
            f"Views of one table have as many rows as it has; {sizes}.",
            remedy="Leave equal rows in the views, and use views of one table.",
        )
    rows = joined(views, names)
    pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    x, s = names.index(person), names.index(about)
    for number, row in enumerate(rows):
        pairs[row[x], row[s]].append(number)
    program = fitting(views, names, rows)
    first = program.solve(context)
    if first.state == "none":
        raise BadInput("No table fits all views.", remedy="Use views of one table.")
    people = {row[x] for row in rows}
    possible: dict[str, set[str]] = {p: set() for p in people}
    left: dict[str, set[str]] = {p: set() for p in people}
    if len(views) <= 2:
        for p, value in pairs:
            possible[p].add(value)
    for (p, value), own in sorted(pairs.items()):
        if value in possible[p]:
            continue
        if first.x is not None and first.x[own].any():
            possible[p].add(value)
            continue
        asked_of = program.copy()
        asked_of.add(dict.fromkeys(own, 1.0), low=1)
        ends = now() + _ONE
        end = ends if context.deadline is None else min(context.deadline, ends)
        answer = asked_of.solve(replace(context, deadline=end))
        if answer.x is not None:  # one table answers for everyone in it
            for number in answer.x.nonzero()[0].tolist():
                possible[rows[number][x]].add(rows[number][s])
        elif answer.state == "unknown":
            left[p].add(value)
    some = solutions([program], range(len(program)), 2, context)
    one = len(some.found) == 1 if some.complete or len(some.found) > 1 else None
    return Candidates(
        possible=possible, open={p: own - possible[p] for p, own in left.items()}, one_table=one
    )


def joined(views: Sequence[Projection], names: Sequence[str]) -> list[Row]:
    """Return every row that each view has a part of, columns in the order of `names`.

    Raises
    ------
    BadPlan
        If there are too many.
    """
    found: list[dict[str, str]] = [{}]
    known: set[str] = set()
    waiting = list(views)
    while waiting:  # what shares most columns with those before comes next
        view = max(waiting, key=lambda v: len(known & {*v.columns}))
        waiting.remove(view)
        common = [n for n in view.columns if n in known]
        by_common: defaultdict[Row, list[dict[str, str]]] = defaultdict(list)
        for row in sorted(view.rows):
            own = dict(zip(view.columns, row, strict=True))
            by_common[tuple(own[n] for n in common)].append(own)
        rows: list[dict[str, str]] = []
        for part in found:
            rows += [part | own for own in by_common[tuple(part[n] for n in common)]]
            if len(rows) > _MOST_ROWS:
                raise BadPlan(
                    f"More than {_MOST_ROWS:,} different rows fit the views.",
                    remedy="Leave out columns, or take part of the rows.",
                )
        found, known = rows, known | {*view.columns}
    return [tuple(row[n] for n in names) for row in found]


def fitting(views: Sequence[Projection], names: Sequence[str], rows: Sequence[Row]) -> Program:
    """Return a program of how often each row is in the table, so that it fits all views."""
    program = Program()
    most = views[0].rows.total()
    for _ in rows:
        program.variable(0, most)
    for view in views:
        places = [names.index(n) for n in view.columns]
        shown: dict[Row, list[int]] = {row: [] for row in view.rows}
        for number, row in enumerate(rows):
            shown[tuple(row[p] for p in places)].append(number)
        for row, own in shown.items():
            program.add(dict.fromkeys(own, 1.0), low=view.rows[row], high=view.rows[row])
    return program


# Rows that a pseudonym joins, in one table or in several.


@dataclass(frozen=True, kw_only=True)
class Joined:
    """How many persons fit, by one row and by all rows of a pseudonym.

    Attributes
    ----------
    by_row : mapping of str to int
        View → the fewest persons who have one of its rows.
    all_rows : int
        The fewest persons who have every row of one pseudonym.
    """

    by_row: Mapping[str, int]
    all_rows: int


def joined_by(views: Sequence[Projection], pseudonym: str) -> Joined:
    """Return how many persons fit each row of some tables, and all rows of each pseudonym.

    Raises
    ------
    BadPlan
        If a view lacks the pseudonym, or has nothing else.
    """
    having: defaultdict[tuple[int, Row], set[str]] = defaultdict(set)
    of: defaultdict[str, set[tuple[int, Row]]] = defaultdict(set)
    for number, view in enumerate(views):
        if pseudonym not in view.columns or len(view.columns) < 2:
            raise BadPlan(
                f"'{view.name}' needs a column '{pseudonym}' and another one; it has "
                f"{listing(view.columns)}.",
                remedy="Name the column that holds the pseudonym in every table.",
            )
        at = view.columns.index(pseudonym)
        for row in view.rows:
            shown = number, (*row[:at], *row[at + 1 :])
            having[shown].add(row[at])
            of[row[at]].add(shown)
    return Joined(
        by_row={
            view.name: min(len(who) for (of_view, _), who in having.items() if of_view == number)
            for number, view in enumerate(views)
        },
        all_rows=min(len(set.intersection(*(having[r] for r in rows))) for rows in of.values()),
    )
