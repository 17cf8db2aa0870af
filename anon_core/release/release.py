"""A release – grouping × coarsening × linkage – and the attacker's view of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I32
from anon_core.base.errors import AnonError
from anon_core.data.frequency import dense_rank
from anon_core.release.grouping import Grouping, group_runs
from anon_core.release.linked_columns import RowSource
from anon_core.release.minimality_rule import StopRule
from anon_core.release.problem import Problem
from anon_core.release.vocabulary import Vocabulary, of_level

Block = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What a mechanism is proven to guarantee, and no release shows: (ε, δ)-differential privacy.

    It is that of the way a release was made, one row more or less. It is public: anyone who
    attacks a release knows how it was made.

    Attributes
    ----------
    spent : mapping of str to Fraction
        ε by what it was spent on; they add up (sequential composition).
    delta : Fraction
        δ, rounded up.
    share : Fraction
        Chance of every row to be in the sample.
    least : int
        Least number of sampled rows of a class that is published.
    """

    spent: Mapping[str, Fraction]
    delta: Fraction
    share: Fraction
    least: int

    @property
    def epsilon(self) -> Fraction:
        """ε in all."""
        return sum(self.spent.values(), start=Fraction(0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """The three choices every grouping-based technique makes.

    Attributes
    ----------
    grouping : Grouping
        Which rows are together.
    vocabularies : mapping of str to Vocabulary
        What each published column can say.
    cells : mapping of str to int32 array of shape (classes,)
        What each quasi-identifier says in each class; codes into its vocabulary.
    blocks : tuple of tuples of str
        Columns that stay linked row by row inside a group; different blocks are permuted
        independently. Together they are the published columns.
    tables : tuple of tuples of str
        Columns of each published table, joined by group id where there are several; empty is one
        table of all columns.
    behind : mapping of str to int32 array of shape (classes, 2)
        Of columns whose values are replaced, the first and last leaf of the values that each
        class's cell represents. It is not published; what is lost is measured by it.
    guarantee : Guarantee or None
        What the way it was made is proven to guarantee, whatever the table.
    stopped : StopRule or None
        When the search stopped, where the technique says it; public as the technique itself is.
    """

    problem: Problem
    grouping: Grouping
    vocabularies: Mapping[str, Vocabulary]
    cells: Mapping[str, npt.NDArray[np.int32]]
    blocks: tuple[Block, ...]
    tables: tuple[Block, ...] = ()
    behind: Mapping[str, npt.NDArray[np.int32]] = field(
        default_factory=dict[str, npt.NDArray[np.int32]]
    )
    guarantee: Guarantee | None = None
    stopped: StopRule | None = None

    @property
    def replaced(self) -> tuple[str, ...]:
        """Columns that publish something else instead of their values, or of what covers them."""
        return tuple(self.behind)

    def ends(self, name: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return first and last leaf that each class's cell represents, (classes,) each."""
        if name in self.behind:
            return self.behind[name][:, 0], self.behind[name][:, 1]
        vocabulary, cells = self.vocabularies[name], self.cells[name]
        return vocabulary.lo[cells], vocabulary.hi[cells]

    def by_cover(self, name: str, measure: Callable[[I32, I32], F64]) -> F64:
        """Return what a function says of the leaves that each class's cell represents, (classes,).

        Parameters
        ----------
        name : str
            A quasi-identifier.
        measure : callable
            Given first and last leaves, it returns a number for each pair. Where classes share
            cells, it is asked of each published text once.
        """
        if name in self.behind:
            return measure(*self.ends(name))
        vocabulary = self.vocabularies[name]
        return measure(vocabulary.lo, vocabulary.hi)[self.cells[name]]

    @property
    def suppressed(self) -> int:
        """Rows of the table that are not in the release."""
        return self.grouping.removed

    @cached_property
    def seen_group(self) -> npt.NDArray[np.int64]:
        """The group an attacker sees for each class of the grouping, shape (classes,)."""
        if self.grouping.published:
            return self.grouping.group
        quasi = self.problem.quasi
        wide = [len(self.vocabularies[name].texts) for name in quasi]
        return dense_rank([self.cells[name] for name in quasi], wide)[0]

    @cached_property
    def view(self) -> View:
        """What an attacker sees."""
        return view(self)


def one_block(
    problem: Problem,
    grouping: Grouping,
    vocabularies: Mapping[str, Vocabulary],
    cells: Mapping[str, npt.NDArray[np.int32]],
) -> Release:
    """Build a release whose rows stay whole: every published column in one link block."""
    exact = {
        name: of_level(problem.hierarchies[name], 0)
        for name in problem.roles.published(problem.dataset)
        if name not in vocabularies
    }
    return Release(
        problem=problem,
        grouping=grouping,
        vocabularies={**exact, **vocabularies},
        cells=cells,
        blocks=(problem.roles.published(problem.dataset),),
    )


def hidden_view(problem: Problem) -> View:
    """Return what is left where every quasi-identifier is at its top and no row is suppressed.

    It is made once for a problem.
    """
    found = _HIDDEN.get(problem)
    if found is None:
        runs = len(problem.frequency.run_count)
        nothing = np.zeros(1, dtype=np.int32)
        found = _HIDDEN[problem] = one_block(
            problem,
            group_runs(problem.frequency, np.zeros(runs, dtype=np.int64), 1),
            {h.column: of_level(h, h.height) for h in problem.quasi_hierarchies},
            dict.fromkeys(problem.quasi, nothing),
        ).view
    return found


def raw_view(problem: Problem) -> View:
    """Return what an attacker would see of the table as it is, identifiers removed.

    It is made once for a problem.
    """
    found = _RAW.get(problem)
    if found is None:
        found = _RAW[problem] = _raw_view(problem)
    return found


def _raw_view(problem: Problem) -> View:
    frequency = problem.frequency
    runs = np.arange(len(frequency.run_count), dtype=np.int64)
    # Keys are distinct and sorted, quasi-identifiers first: they are the table of the one block.
    block = BlockTable(
        columns=frequency.shown,
        group=frequency.run,
        codes=frequency.codes,
        count=frequency.count,
    )
    if frequency.private:  # keys that differ in what nobody sees are one
        wide = len(frequency.shown)
        shown = frequency.codes[:, :wide]
        sizes = [int(column.max(initial=0)) + 1 for column in shown.T]
        rank, first = dense_rank(list(shown.T), sizes)
        block = BlockTable(
            columns=frequency.shown,
            group=frequency.run[first],
            codes=np.ascontiguousarray(shown[first]),
            count=np.bincount(rank, weights=frequency.count).astype(np.int64),
        )
    persons = Persons(
        of_entry=block.group,
        sizes=frequency.run_count,
        group=runs,
        codes=frequency.run_codes,
        columns=problem.quasi,
    )
    names = problem.roles.published(problem.dataset)
    return View(
        vocabularies={name: of_level(problem.hierarchies[name], 0) for name in names},
        blocks=(block,),
        group_size=frequency.run_count,
        quasi=problem.quasi,
        sensitive=problem.sensitive,
        published=False,
        _persons={block.columns: persons},
        _source=raw_source(problem),
    )


def raw_source(problem: Problem) -> RowSource:
    """Return where the rows of the table as it is come from, one block of all columns."""
    frequency = problem.frequency
    return RowSource(
        dataset=problem.dataset,
        hierarchies=problem.hierarchies,
        frequency=frequency,
        member=frequency.run,
        group=np.arange(len(frequency.run_count), dtype=np.int64),
        cells=dict(zip(problem.quasi, frequency.run_codes.T, strict=True)),
        blocks=(problem.roles.published(problem.dataset),),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockTable:
    """What is published of one link block: distinct (group, codes) with the rows that show it.

    Attributes
    ----------
    columns : tuple of str
        The block's quasi-identifiers and sensitive columns.
    group : int64 array of shape (entries,)
        Ascending in the blocks of a view.
    codes : int32 array of shape (entries, columns)
        Codes into the vocabularies.
    count : int64 array of shape (entries,)
    """

    columns: tuple[str, ...]
    group: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Persons:
    """The sets of rows that share what an attacker can match them by (equivalence classes).

    Attributes
    ----------
    of_entry : int64 array of shape (entries,)
        Class of each entry of the block's table.
    sizes : int64 array of shape (classes,)
    group : int64 array of shape (classes,)
    codes : int32 array of shape (classes, columns matched)
    columns : tuple of str
        The columns matched.
    """

    of_entry: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """The attacker's side: only what is published, with nothing of the truth behind it.

    Attributes
    ----------
    group_size : int64 array of shape (groups,)
        Rows of each group; a group is known by its published id, else by equal cells.
    published : bool
        Whether group ids are in the release.
    guarantee : Guarantee or None
        What the way it was made is proven to guarantee: no secret.
    stopped : StopRule or None
        When the search stopped: no secret.
    replaced : tuple of str
        Columns whose cells were changed before, so that they need not be their person's own.
    """

    vocabularies: Mapping[str, Vocabulary]
    blocks: tuple[BlockTable, ...]
    group_size: npt.NDArray[np.int64]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    published: bool
    guarantee: Guarantee | None = None
    stopped: StopRule | None = None
    replaced: tuple[str, ...] = ()
    _persons: dict[tuple[str, ...], Persons] = field(default_factory=dict, repr=False)
    _source: RowSource | None = field(default=None, repr=False)

    def linked(self, among: B1 | None = None) -> tuple[BlockTable, ...] | None:
        """Return the tables of the link blocks with every published column.

        Insensitive ones as well. None where it is drawn when the release is written which of equal
        rows say what.

        Parameters
        ----------
        among : bool array of shape (rows,), optional
            The rows of the table that they are made of; all that are published where it is left
            out. It is the truth, and no view shows it.
        """
        if self._source is None:
            return None
        return tuple(
            BlockTable(columns=columns, group=group, codes=codes, count=count)
            for columns, group, codes, count in self._source.distinct_lines(among)
        )

    @property
    def rows(self) -> int:
        """Published rows."""
        return int(self.group_size.sum())

    def block_of(self, column: str) -> BlockTable:
        """Return the table of the block that publishes `column`.

        Raises
        ------
        AnonError
            If no block does.
        """
        for block in self.blocks:
            if column in block.columns:
                return block
        raise AnonError(f"Column '{column}' is not published.", remedy="Choose a published column.")

    def rows_of_cells(self, column: str) -> npt.NDArray[np.int64]:
        """Return how many published rows show each cell of a column, shape (entries,)."""
        block = self.block_of(column)
        code = block.codes[:, block.columns.index(column)]
        entries = len(self.vocabularies[column].texts)
        return np.bincount(code, block.count, entries).astype(np.int64)

    @property
    def averaged(self) -> bool:
        """Whether numbers replace quasi-identifiers' values, and cover none for sure."""
        return any(self.vocabularies[name].shown is not None for name in self.quasi)

    def whole_quasi(self) -> BlockTable | None:
        """Return the block that holds all quasi-identifiers, or None if they are split."""
        for block in self.blocks:
            if all(name in block.columns for name in self.quasi):
                return block
        return None

    def persons(self, block: BlockTable) -> Persons:
        """Return the classes a person is matched to by group and the block's quasi-identifiers.

        `block` is one of the view's.
        """
        found = self._persons.get(block.columns)
        if found is None:
            found = self._persons[block.columns] = self._matched(block)
        return found

    def _matched(self, block: BlockTable) -> Persons:
        matched = tuple(name for name in block.columns if name in self.quasi)
        place = [block.columns.index(name) for name in matched]
        parts = [block.group.astype(np.int64), *(block.codes[:, p] for p in place)]
        sizes = [len(self.group_size), *(len(self.vocabularies[n].texts) for n in matched)]
        rank, first = dense_rank([p.astype(np.int32) for p in parts], sizes)
        return Persons(
            of_entry=rank,
            sizes=np.bincount(rank, weights=block.count, minlength=len(first)).astype(np.int64),
            group=block.group[first],
            codes=block.codes[first][:, place],
            columns=matched,
        )


def view(release: Release) -> View:
    """Derive what is published from a release, and forget the rest."""
    problem, grouping = release.problem, release.grouping
    frequency = problem.frequency
    kept = grouping.member >= 0
    key, member, count = grouping.key[kept], grouping.member[kept], grouping.count[kept]

    def codes_of(name: str) -> npt.NDArray[np.int32]:
        if name in release.cells:
            return release.cells[name][member]
        return frequency.codes[key, frequency.columns.index(name)]

    groups = int(release.seen_group.max(initial=-1)) + 1
    group = release.seen_group[member]
    shown = (*problem.quasi, *(n for n in problem.sensitive if n not in problem.quasi))
    tables: list[BlockTable] = []
    for block in release.blocks:
        columns = tuple(n for n in shown if n in block)
        tables.append(
            _count(columns, group, [codes_of(n) for n in columns], count, release, groups)
        )
    return View(
        vocabularies=release.vocabularies,
        blocks=tuple(tables),
        group_size=np.bincount(group, weights=count, minlength=groups).astype(np.int64),
        quasi=problem.quasi,
        sensitive=problem.sensitive,
        published=grouping.published,
        guarantee=release.guarantee,
        stopped=release.stopped,
        replaced=problem.replaced,
        _source=row_source(release),
    )


def row_source(release: Release) -> RowSource | None:
    """Return where a release's rows come from; None where it is drawn when it is written."""
    problem, grouping = release.problem, release.grouping
    if not grouping.whole_keys:
        return None
    return RowSource(
        dataset=problem.dataset,
        hierarchies=problem.hierarchies,
        frequency=problem.frequency,
        member=grouping.member,
        group=release.seen_group,
        cells=release.cells,
        blocks=release.blocks,
    )


def _count(
    columns: tuple[str, ...],
    group: npt.NDArray[np.int64],
    codes: Sequence[npt.NDArray[np.int32]],
    count: npt.NDArray[np.int64],
    release: Release,
    groups: int,
) -> BlockTable:
    sizes = [groups, *(len(release.vocabularies[n].texts) for n in columns)]
    rank, first = dense_rank([group.astype(np.int32), *codes], sizes)
    stacked = (
        np.stack([c[first] for c in codes], axis=1)
        if codes
        else np.empty((len(first), 0), np.int32)
    )
    return BlockTable(
        columns=columns,
        group=group[first],
        codes=stacked.astype(np.int32),
        count=np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64),
    )


_RAW: WeakKeyDictionary[Problem, View] = WeakKeyDictionary()
_HIDDEN: WeakKeyDictionary[Problem, View] = WeakKeyDictionary()
