"""The truth behind a release: who is in it and where. It scores an attack, and never runs it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.data.frequency import FrequencySet, dense_rank, occur_once
from anon_core.release.changed_rows import ChangedColumn, changed_column
from anon_core.release.grouping import Grouping
from anon_core.release.knowledge.holdout import Holdout
from anon_core.release.knowledge.person_counts import (
    Crowd,
    Members,
    class_weights,
    crowd_of,
    line_people,
    members_of,
)
from anon_core.release.problem import Problem
from anon_core.release.release import Release, View, one_block, raw_view
from anon_core.release.vocabulary import of_level

# The table as it is, with the group in which a release puts everyone.
#
# Anyone who attacks sensitive values is handed the group a person is in. Where people with the
# same quasi-identifiers are in several groups, that is more than these say: the same attack on
# the table as it is has to be handed it too, or else a release could seem to reveal more than the
# table.


def raw_in_groups(problem: Problem, key: I64, group: I64, count: I64) -> Release | None:
    """Return exact rows in the groups of a release; None where quasi-identifiers tell the group.

    Parameters
    ----------
    key, group, count : int64 arrays of shape (entries,)
        Rows of each key of the frequency set in each group; -1 is that of rows that are suppressed.

    Returns
    -------
    Release or None
        Nothing is suppressed: suppressed rows are a group of their own.
    """
    frequency = problem.frequency
    run, groups = frequency.run[key], int(group.max(initial=-1)) + 2
    member, first = dense_rank(
        [run.astype(np.int32), (group + 1).astype(np.int32)], [len(frequency.run_count), groups]
    )
    if len(first) == len(frequency.run_count):
        return None
    of = run[first]
    grouping = Grouping(key=key, member=member, count=count, group=group[first] + 1, published=True)
    exact = {n: of_level(problem.hierarchies[n], 0) for n in problem.quasi}
    cells = {n: frequency.run_codes[of, d] for d, n in enumerate(problem.quasi)}
    return one_block(problem, grouping, exact, cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Where the rows of the private table are in the release.

    Attributes
    ----------
    key : int64 array of shape (entries,)
        Key of the frequency set, ascending; one key may be in several groups.
    group : int64 array of shape (entries,)
        Group, as `View` numbers groups; -1 where the rows are not published.
    count : int64 array of shape (entries,)
        Rows of the key in the group.
    """

    key: I64
    group: I64
    count: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """Which row of the private table is where. An attack is scored by it and sees none of it."""

    _problem: Problem = field(repr=False)
    _release: Release | None = field(default=None, repr=False)

    @property
    def frequency(self) -> FrequencySet:
        """The people attacked: distinct private tuples with counts, quasi-identifiers first."""
        return self._problem.frequency

    @property
    def rows(self) -> int:
        """Rows of the private table: everyone an attack is scored against."""
        return self._problem.rows

    @cached_property
    def places(self) -> Places:
        """Where each row is; without a release, that of the table as it is."""
        if self._release is None:
            keys = np.arange(len(self.frequency.count), dtype=np.int64)
            return Places(key=keys, group=self.frequency.run, count=self.frequency.count)
        grouping = self._release.grouping
        group = np.append(self._release.seen_group, -1)[grouping.member]  # -1 is the last
        return Places(key=grouping.key, group=group, count=grouping.count)

    @property
    def bare(self) -> Truth:
        """The truth behind the table as it is: every row is in the group of its values."""
        return replace(self, _release=None)

    @property
    def raw(self) -> View:
        """What the table as it is would show, identifiers removed: the anchor of every attack."""
        return raw_view(self._problem)

    @cached_property
    def _raw_in_groups(self) -> Release | None:
        if self._release is None:
            return None
        places = self.places
        return raw_in_groups(self._problem, places.key, places.group, places.count)

    @property
    def raw_in_groups(self) -> View:
        """As `raw`, for attacks that are handed the group of everyone in the release.

        What they achieve on the release is never more: each of its groups is made of classes of
        this view.
        """
        found = self._raw_in_groups
        return self.raw if found is None else found.view

    @cached_property
    def crowd(self) -> Crowd | None:
        """The distinct persons behind what is published; None where a row is a person."""
        return crowd_of(self._problem, self._release)

    @cached_property
    def raw_crowd(self) -> Crowd | None:
        """The distinct persons behind the table as it is; None where a row is a person."""
        return crowd_of(self._problem)

    @cached_property
    def raw_crowd_in_groups(self) -> Crowd | None:
        """The distinct persons behind `raw_in_groups`; None where a row is a person."""
        return crowd_of(self._problem, self._raw_in_groups)

    @cached_property
    def class_weights(self) -> F64 | None:
        """People whom each class represents by its rows' weights; see `class_weights`."""
        return class_weights(self._problem, self._release)

    @cached_property
    def raw_class_weights(self) -> F64 | None:
        """As `class_weights`, of the classes of `raw_in_groups`."""
        return class_weights(self._problem, self._raw_in_groups)

    @cached_property
    def household_members(self) -> Members | None:
        """Published people of households by their classes and weights; see `members_of`."""
        return members_of(self._problem, self._release)

    @property
    def weighed_people(self) -> float:
        """How many people the table represents by its weights; 0 where it has none."""
        return self._problem.weighed_people

    @cached_property
    def line_people(self) -> tuple[I64, I64] | None:
        """Line of `View.linked` and person of everyone in it; see `crowd.line_people`."""
        return line_people(self._problem, self._release)

    @cached_property
    def raw_line_people(self) -> tuple[I64, I64] | None:
        """As `line_people`, of the table as it is."""
        return line_people(self._problem)

    @cached_property
    def alone(self) -> tuple[B1, int]:
        """Rows that no other row equals in the columns of which every row shows its own value.

        Those that stay linked to all quasi-identifiers: whatever their class says, no one else's
        published row is like theirs. Without a release, all columns but quasi-identifiers.

        Returns
        -------
        rows : bool array of shape (rows,)
            Of the table, published or not.
        published : int
            How many of them are published.
        """
        problem, release = self._problem, self._release
        said, blocks = set(problem.quasi), [problem.roles.published(problem.dataset)]
        if release is not None:
            said, blocks = set(release.cells), list(release.blocks)
        whole = next((block for block in blocks if set(problem.quasi) <= set(block)), ())
        names = [name for name in whole if name not in said]
        if not names:
            return np.zeros(self.rows, dtype=np.bool_), 0
        columns = [problem.leaf_codes(name) for name in names]
        rows = occur_once(columns, [int(codes.max(initial=0)) + 1 for codes in columns])
        if release is None:
            return rows, int(np.count_nonzero(rows))
        shown = release.grouping.member[self.frequency.row_key] >= 0
        return rows, int(np.count_nonzero(rows & shown))

    @cached_property
    def changed(self) -> tuple[ChangedColumn, ...]:
        """Published columns before and after changes, row by row; empty where none was replaced."""
        problem = self._problem
        if problem.before is None or not problem.replaced:
            return ()
        names = problem.roles.published(problem.dataset)
        return tuple(changed_column(problem.dataset, problem.before, name) for name in names)

    @property
    def row_group(self) -> I64:
        """The class of each row of the table, as `View` numbers groups; -1 where it is hidden."""
        keys = self.places
        of_key = np.full(len(self.frequency.count), -1, dtype=np.int64)
        of_key[keys.key] = keys.group
        return of_key[self.frequency.row_key]

    @property
    def holdout(self) -> Holdout | None:
        """People who had no part in the table: what is right of them as well is no leak."""
        return self._problem.holdout

    @property
    def public_alike(self) -> tuple[I64, I64] | None:
        """Quasi tuples that the public table cannot distinguish, and its people; see `Problem`."""
        return self._problem.public_alike

    @property
    def key_person(self) -> I64 | None:
        """The person of each key of the frequency set; None where a row is a person."""
        return self._problem.key_person if self._problem.person else None

    def known_rows(self, column: str) -> I64:
        """Return the rows of every value that occurs in a column; a missing one is none."""
        codes = self.frequency.codes[:, self.frequency.columns.index(column)]
        rows = np.bincount(codes, weights=self.frequency.count).astype(np.int64)
        missing = self._problem.hierarchies[column].missing_leaf
        if 0 <= missing < len(rows):
            rows[missing] = 0
        return rows[rows > 0]


def truth_of(problem: Problem, release: Release | None = None) -> Truth:
    """Return the truth behind a release of a table, or behind the table as it is."""
    return Truth(_problem=problem, _release=release)
