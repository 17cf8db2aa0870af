"""The problem a technique solves: roles, hierarchies and the frequency set of one table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .errors import InputChanged
from .frequency import FrequencySet, dense_rank, frequency_set, stable_order
from .hierarchy import Hierarchy, flat
from .people import Population, encode_population
from .roles import Roles
from .table import Column, Dataset


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A table with roles and hierarchies, encoded.

    Attributes
    ----------
    dataset : Dataset
    roles : Roles
    hierarchies : mapping of str to Hierarchy
        For every published column; flat where none was given.
    frequency : FrequencySet
        Over the quasi-identifiers, then the sensitive columns that are not quasi-identifiers.
    population : Population or None
    """

    dataset: Dataset
    roles: Roles
    hierarchies: Mapping[str, Hierarchy]
    frequency: FrequencySet
    population: Population | None = None

    @property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers in the order of the roles."""
        return self.roles.quasi

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Sensitive columns in the order of the roles."""
        return self.roles.sensitive

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return self.dataset.rows

    @cached_property
    def quasi_hierarchies(self) -> tuple[Hierarchy, ...]:
        """Hierarchies of the quasi-identifiers, in their order."""
        return tuple(self.hierarchies[name] for name in self.quasi)

    @cached_property
    def leaf_rows(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """Rows per leaf of every quasi-identifier."""
        f = self.frequency
        return {
            name: np.bincount(
                f.run_codes[:, d], weights=f.run_count, minlength=len(self.hierarchies[name].leaves)
            ).astype(np.int64)
            for d, name in enumerate(self.quasi)
        }

    def leaf_codes(self, name: str) -> npt.NDArray[np.int32]:
        """Return a published column as leaf numbers, shape (rows,)."""
        column = self.dataset.column(name)
        hierarchy = self.hierarchies[name]
        pool = [hierarchy.code[v] for v in column.values]
        pool.append(len(hierarchy.leaves) - 1)  # missing is the last leaf
        return np.array(pool, dtype=np.int32)[column.codes]

    @cached_property
    def row_order(self) -> npt.NDArray[np.int64]:
        """Rows ordered by all they publish, shape (rows,): the input's order plays no part."""
        free = self.roles.insensitive(self.dataset)
        columns = [self.frequency.row_key.astype(np.int32), *(self.leaf_codes(n) for n in free)]
        sizes = [len(self.frequency.count), *(len(self.hierarchies[n].leaves) for n in free)]
        rank, first = dense_rank(columns, sizes)
        return stable_order(rank, len(first))

    @cached_property
    def public_count(self) -> npt.NDArray[np.int64] | None:
        """People of the population table per quasi tuple of the table, shape (runs,).

        None where there is no such table.
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
        return public[rank[: len(codes)]]

    @property
    def strangers(self) -> int:
        """Rows of the table without a person of their own in the population table."""
        if self.public_count is None:
            return 0
        return int(np.maximum(self.frequency.run_count - self.public_count, 0).sum())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the data, the roles and the hierarchies."""
        digest = hashlib.sha256(self.dataset.fingerprint.encode())
        digest.update(repr((self.roles.identifier, self.quasi, self.sensitive)).encode())
        for name, hierarchy in self.hierarchies.items():
            digest.update(repr((name, hierarchy.rows())).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def build_problem(
    dataset: Dataset,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    *,
    population: Dataset | int | None = None,
) -> Problem:
    """Encode a table for the searches.

    Parameters
    ----------
    dataset : Dataset
    roles : Roles
    hierarchies : mapping of str to Hierarchy, optional
        By column; a column without one is either published exactly or not at all.
    population : Dataset, int or None
        A table of the population with the quasi-identifiers, or its size.

    Raises
    ------
    BadInput, BadPlan
        If roles, hierarchies or population do not fit the table.
    """
    roles.check(dataset)
    given = dict(hierarchies or {})
    for name in given:
        dataset.column(name)
    # Only quasi-identifiers are coarsened; a hierarchy of another column has no effect.
    every = {
        name: (given.get(name) if name in roles.quasi else None) or flat(dataset.column(name))
        for name in roles.published(dataset)
    }
    for name in roles.quasi:
        _check_fit(dataset.column(name), every[name])
    names = [*roles.quasi, *(n for n in roles.sensitive if n not in roles.quasi)]
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
    )
    return Problem(
        dataset=dataset,
        roles=roles,
        hierarchies=every,
        frequency=frequency,
        population=encode_population(population, dataset, roles, every),
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
