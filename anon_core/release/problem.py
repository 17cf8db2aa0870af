"""The problem a technique solves: roles, hierarchies and the frequency set of one table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.base.errors import BadPlan, InputChanged, nearest
from anon_core.data.column import Column, encode
from anon_core.data.frequency import FrequencySet, dense_rank, frequency_set, stable_order
from anon_core.data.hierarchy import Hierarchy, flat
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.release.changed_rows import Before
from anon_core.release.combined_values import with_combinations
from anon_core.release.knowledge.earlier_release import Earlier
from anon_core.release.knowledge.holdout import Holdout, holdout_of
from anon_core.release.knowledge.people import Population, encode_population
from anon_core.release.table_pieces import Pieces


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A table with roles and hierarchies, encoded.

    Attributes
    ----------
    hierarchies : mapping of str to Hierarchy
        For every published column, and every private one; flat where none was given.
    frequency : FrequencySet
        Over the quasi-identifiers, then the sensitive columns that are not quasi-identifiers, then
        private columns that a privacy model looks at. Where persons are distinguished, the last
        private ones are the person column and, per sensitive column before, the pairs of persons
        and values. Where a privacy model looks at them, the combinations of sensitive values come
        last.
    before : Before or None
        What the table had in columns that were changed before; metrics and attacks on them ask.
    trees : mapping of str to Hierarchy
        What values of sensitive columns are generalized to, where that was given for a privacy
        model or an attack that asks for it: such a column is published exactly all the same, and
        `hierarchies` has it flat.
    larger : tuple of Dataset
        Tables that hold everyone of this one and more, whom attacks are controlled by; the first
        that has every column is taken.
    earlier : Earlier or None
        A release of the same people that is out already.
    floors : mapping of str to int
        The level from which on a quasi-identifier's values were distinguished when the table was
        counted, where that is not 0: the frequency set has the first leaf of each value's group
        there, and no search may choose a level below.
    by_class : bool
        Whether the frequency set has one quasi tuple for each class that the table was cut into,
        its least corner, and shows nothing of what is behind it.
    pieces : Pieces or None
        What cuts the table, where its distinct tuples fit no memory: of quasi-identifiers the
        frequency set shows nothing then.
    searched : mapping of str to Hierarchy
        Quasi-identifiers' hierarchies with the levels that a search may choose, where these are not
        all; prices are those of `hierarchies`.
    level_bounds : mapping of str to (int, int)
        The lowest and the highest level that a search may choose for a quasi-identifier, where
        these are not all.
    meant : mapping of str to mapping of str to tuple of str
        By sensitive column with a hierarchy, which published values each of its texts represents:
        an earlier release may have published it at another level.
    """

    dataset: Dataset
    roles: Roles
    hierarchies: Mapping[str, Hierarchy]
    frequency: FrequencySet
    before: Before | None = None
    population: Population | None = None
    trees: Mapping[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    larger: tuple[Dataset, ...] = ()
    earlier: Earlier | None = None
    floors: Mapping[str, int] = field(default_factory=dict[str, int])
    by_class: bool = False
    pieces: Pieces | None = None
    searched: Mapping[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    level_bounds: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    meant: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[str, ...]]], repr=False
    )

    @property
    def is_coarse(self) -> bool:
        """Whether the frequency set distinguishes less than the table's values."""
        return self.by_class or bool(self.floors)

    @property
    def replaced(self) -> tuple[str, ...]:
        """Published columns whose cells need not be their person's own."""
        return () if self.before is None else self.before.replaced

    def tells_values(self, column: str) -> bool:
        """Return whether the frequency set distinguishes the values of a column."""
        return not self.floors.get(column) and not (self.by_class and column in self.quasi)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers in the order of the roles."""
        return self.roles.quasi

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Sensitive columns in the order of the roles."""
        return self.roles.sensitive

    @property
    def private(self) -> tuple[str, ...]:
        """Columns that privacy models look at and that are never published."""
        return self.frequency.columns[len(self.frequency.shown) :]

    @property
    def person(self) -> str:
        """The column that distinguishes persons; empty where a row is a person."""
        return self.roles.unit

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return self.dataset.rows

    @cached_property
    def people(self) -> int:
        """Number of distinct persons of the table; its rows where a row is a person."""
        return len(np.unique(self.key_person)) if self.person else self.rows

    @cached_property
    def key_person(self) -> npt.NDArray[np.int64]:
        """The person of each key of the frequency set, shape (keys,).

        Only where persons are distinguished.
        """
        place = self.frequency.columns.index(self.person)
        return self.frequency.codes[:, place].astype(np.int64)

    @cached_property
    def row_weight(self) -> F64 | None:
        """How many people of the population each row represents, shape (rows,); None if unsaid."""
        if not self.roles.weight:
            return None
        column = self.dataset.column(self.roles.weight)
        assert column.measure is not None  # `Roles.check` refuses what is not a number
        return column.measure[column.codes]

    @cached_property
    def person_weight(self) -> F64 | None:
        """The weight of each person, shape (persons,); None where a row is one, or has no weight.

        Rows of a person count once. Of a household it is the mean over its people, since it is one
        household however many of them were asked.
        """
        weight = self.row_weight
        if weight is None or not self.person:
            return None
        person = self.leaf_codes(self.person).astype(np.int64)
        if self.roles.household and self.roles.person:
            _, first = np.unique(self.dataset.column(self.roles.person).codes, return_index=True)
            person, weight = person[first], weight[first]
        people = np.bincount(person)
        return np.bincount(person, weights=weight) / np.maximum(people, 1)

    @property
    def weighed_people(self) -> float:
        """Sum of the weights of all persons: how many people the table represents; 0 if unsaid."""
        found = self.row_weight if self.person_weight is None else self.person_weight
        return 0.0 if found is None else float(found.sum())

    @cached_property
    def run_people(self) -> npt.NDArray[np.int64]:
        """Distinct persons per quasi tuple of the table, shape (runs,)."""
        frequency = self.frequency
        if not self.person:
            return frequency.run_count
        pairs = np.unique(frequency.run * (self.key_person.max(initial=0) + 1) + self.key_person)
        own = pairs // (self.key_person.max(initial=0) + 1)
        return np.bincount(own, minlength=len(frequency.run_count)).astype(np.int64)

    @cached_property
    def leaf_people(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """Distinct persons per leaf of every quasi-identifier; see `leaf_rows`."""
        if not self.person:
            return self.leaf_rows
        found: dict[str, npt.NDArray[np.int64]] = {}
        for d, name in enumerate(self.quasi):
            leaves = len(self.hierarchies[name].leaves)
            pairs = np.unique(self.key_person * leaves + self.frequency.codes[:, d])
            found[name] = np.bincount(pairs % leaves, minlength=leaves).astype(np.int64)
        return found

    @cached_property
    def quasi_hierarchies(self) -> tuple[Hierarchy, ...]:
        """Hierarchies of the quasi-identifiers, in their order, with the levels to choose from."""
        return tuple(self.searched.get(name, self.hierarchies[name]) for name in self.quasi)

    @cached_property
    def leaf_rows(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """Rows per leaf of every quasi-identifier."""
        if self.is_coarse:  # the frequency set tells groups apart, the columns' own counts leaves
            return {name: self.leaf_counts(name) for name in self.quasi}
        f = self.frequency
        return {
            name: np.bincount(
                f.run_codes[:, d], weights=f.run_count, minlength=len(self.hierarchies[name].leaves)
            ).astype(np.int64)
            for d, name in enumerate(self.quasi)
        }

    def leaf_codes(self, name: str) -> npt.NDArray[np.int32]:
        """Return a published column as leaf numbers, shape (rows,)."""
        return leaf_codes(self.dataset.column(name), self.hierarchies[name])

    def leaf_counts(self, name: str) -> npt.NDArray[np.int64]:
        """Return the rows per leaf of a column, shape (leaves,); counts are enough to tell."""
        column, hierarchy = self.dataset.column(name), self.hierarchies[name]
        leaves = np.array([hierarchy.code[v] for v in column.values], dtype=np.int64)
        rows = np.bincount(leaves, weights=column.counts, minlength=len(hierarchy.leaves))
        rows[-1] += column.missing  # missing is the last leaf
        return rows.astype(np.int64)

    @cached_property
    def row_order(self) -> npt.NDArray[np.int64]:
        """Rows ordered by all they publish, shape (rows,): the input's order plays no part."""
        free = self.roles.exact(self.dataset)
        frequency, wide = self.frequency, len(self.frequency.shown)
        key, keys = frequency.row_key, len(frequency.count)
        if frequency.private:  # the order of rows must not show what is not published
            shown = [frequency.codes[:, d] for d in range(wide)]
            place, first = dense_rank(shown, [int(c.max(initial=0)) + 1 for c in shown])
            key, keys = place[key], len(first)
        columns = [key.astype(np.int32), *(self.leaf_codes(n) for n in free)]
        sizes = [keys, *(len(self.hierarchies[n].leaves) for n in free)]
        rank, first = dense_rank(columns, sizes)
        return stable_order(rank, len(first))

    @cached_property
    def public_alike(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Quasi tuples of the table that the population table does not distinguish.

        None where there is no such table. Where it has every quasi-identifier, each tuple is one by
        itself.

        Returns
        -------
        kind : int64 array of shape (runs,)
        people : int64 array of shape (kinds,)
            People of the population table.
        """
        people = self.population
        if people is None or people.codes is None or people.tuple_count is None:
            return None
        codes = self.frequency.run_codes
        own = [people.place[name][codes[:, d]] for d, name in enumerate(self.quasi)]
        both = [np.append(c, people.codes[:, d]) + np.int32(1) for d, c in enumerate(own)]
        sizes = [len(people.hierarchies[name].leaves) + 1 for name in self.quasi]
        rank, first = dense_rank(both, sizes)
        public = np.zeros(len(first), dtype=np.int64)
        public[rank[len(codes) :]] = people.tuple_count
        kinds, kind = np.unique(rank[: len(codes)], return_inverse=True)
        return kind.ravel().astype(np.int64), public[kinds]

    @cached_property
    def holdout(self) -> Holdout | None:
        """Those of a larger table who had no part in this one; None where there are none."""
        names = (*self.frequency.shown, *([self.person] if self.person else []))
        kinds = {name: self.dataset.column(name).kind for name in names}
        for table in self.larger:
            found = holdout_of(table, self.frequency, self.hierarchies, kinds, person=self.person)
            if found is not None:
                return found
        return None

    @property
    def strangers(self) -> int:
        """People of the table without one of their own in the population table."""
        if self.public_alike is None:
            return 0
        kind, people = self.public_alike
        if self.person:  # several tuples of a kind may be one person's
            own = np.zeros(len(people), dtype=np.int64)
            np.maximum.at(own, kind, self.run_people)
        else:
            own = np.bincount(kind, self.run_people, len(people)).astype(np.int64)
        return int(np.maximum(own - people, 0).sum())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the data, the roles and the hierarchies."""
        digest = hashlib.sha256(self.dataset.fingerprint.encode())
        digest.update(repr(self.roles).encode())
        if self.person:
            digest.update(repr(("person", self.person)).encode("utf-8", "surrogatepass"))
        if self.roles.weight:
            digest.update(repr(("weight", self.roles.weight)).encode("utf-8", "surrogatepass"))
        for name, hierarchy in self.hierarchies.items():
            digest.update(repr((name, hierarchy.rows())).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def build_problem(
    dataset: Dataset,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    population: Dataset | int | None = None,
    private: Sequence[str] = (),
    combined: bool = False,
) -> Problem:
    """Encode a table for the searches.

    Parameters
    ----------
    hierarchies : mapping of str to Hierarchy, optional
        By column; a column without one is either published exactly or not at all.
    population : Dataset, int or None
        A table of the population with the quasi-identifiers, or its size.
    private : sequence of str
        Columns that privacy models look at and that are never published.
    combined : bool
        Whether a privacy model looks at the combinations of sensitive values.

    Raises
    ------
    BadInput, BadPlan
        If roles, hierarchies or population do not fit the table.
    """
    roles.check(dataset)
    given = dict(hierarchies or {})
    for name in given:
        dataset.column(name)
    # Only quasi-identifiers are coarsened; a hierarchy of another column is known of, at most.
    every = {
        name: (given.get(name) if name in roles.quasi else None) or flat(dataset.column(name))
        for name in roles.published(dataset)
    }
    if roles.unit:
        private = (*(name for name in private if name != roles.unit), roles.unit)
    _refuse_published(private, dataset, roles)
    every |= {name: flat(dataset.column(name)) for name in private}
    for name in roles.quasi:
        _check_fit(dataset.column(name), every[name])
    names = [*roles.quasi, *(n for n in roles.sensitive if n not in roles.quasi), *private]
    bare = Problem(
        dataset=dataset,
        roles=roles,
        hierarchies=every,
        frequency=FrequencySet(
            columns=(),
            quasi=0,
            codes=np.empty((0, 0), np.int32),
            count=np.empty(0, np.int64),
            row_key=np.empty(0, np.int64),
        ),
    )
    frequency = frequency_set(
        names,
        [bare.leaf_codes(n) for n in names],
        [len(every[n].leaves) for n in names],
        quasi=len(roles.quasi),
        private=len(private),
    )
    for name in frequency.shown[len(roles.quasi) :] if roles.unit else ():
        frequency, every[paired(roles.unit, name)] = _with_pairs(frequency, roles.unit, name)
    if combined:
        frequency, combinations = with_combinations(frequency, every)
        every |= combinations
    problem = Problem(
        dataset=dataset,
        roles=roles,
        hierarchies=every,
        frequency=frequency,
        trees={n: given[n] for n in roles.sensitive if n in given and n not in roles.quasi},
    )
    known = encode_population(population, dataset, roles, every, people=problem.people)
    return replace(problem, population=known)


def leaf_codes(column: Column, hierarchy: Hierarchy, rows: I64 | None = None) -> I32:
    """Return a column, or some rows of it, as leaf numbers of its hierarchy."""
    codes = column.codes if rows is None else column.codes[rows]
    missing = len(hierarchy.leaves) - 1  # the last leaf
    if hierarchy.leaves[: len(column.values)] == column.values:
        return np.where(codes < 0, np.int32(missing), codes)
    pool = [*(hierarchy.code[v] for v in column.values), missing]
    return np.array(pool, dtype=np.int32)[codes]


def paired(person: str, column: str) -> str:
    """Return what the frequency set calls the pairs of a person and a value of a column.

    Examples
    --------
    >>> paired("patient", "illness")
    'patient\\x00illness'
    """
    return f"{person}\0{column}"


def _with_pairs(
    frequency: FrequencySet, person: str, column: str
) -> tuple[FrequencySet, Hierarchy]:
    """Return the frequency set with the pairs of persons and values as one more column.

    A key has one person and one value, so keys and their order stay.
    """
    both = [frequency.codes[:, frequency.columns.index(name)] for name in (column, person)]
    pair, first = dense_rank(both, [int(codes.max(initial=0)) + 1 for codes in both])
    name, digits = paired(person, column), len(str(len(first)))
    values = [f"{number:0{digits}}" for number in range(len(first))]
    codes = pair.astype(np.int32)
    extended = replace(
        frequency,
        columns=(*frequency.columns, name),
        codes=np.concatenate([frequency.codes, codes[:, None]], axis=1),
        private=frequency.private + 1,
    )
    return extended, flat(encode(name, codes, values, kind="text"))


def _refuse_published(private: Sequence[str], dataset: Dataset, roles: Roles) -> None:
    """Refuse columns of private facts that the table lacks, or that would be published.

    Raises
    ------
    BadPlan
    """
    for name in private:
        if name not in dataset.names:
            raise BadPlan(
                f"A privacy model needs the private column '{name}', which the table lacks.",
                remedy=f"Name one of its columns.{nearest(name, dataset.names)}",
            )
        if name in roles.published(dataset):
            raise BadPlan(
                f"A privacy model needs '{name}' as a private column, but its role publishes it: "
                "everyone would see what each person asked for.",
                remedy=f"Leave '{name}' out of the release: give it no role.",
            )


def _check_fit(column: Column, hierarchy: Hierarchy) -> None:
    unknown = [v for v in column.values if v not in hierarchy.code]
    if unknown or (column.missing and not hierarchy.has_missing):
        what = f"{len(unknown)} of its values" if unknown else "its missing values"
        raise InputChanged(
            f"The hierarchy given for '{column.name}' does not know {what}.",
            remedy="Build the hierarchy from the column of this very table.",
            values=unknown[:5],
        )
