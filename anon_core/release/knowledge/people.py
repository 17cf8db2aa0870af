"""What is known of the people the table was drawn from: the public table, or its size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32
from anon_core.base.errors import BadInput, BadPlan, clipped, listing, nearest
from anon_core.data.column import Column, encode
from anon_core.data.frequency import frequency_set
from anon_core.data.hierarchy import TOP, Hierarchy, beyond_root, widened
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind, a_kind, kind_that_writes
from anon_core.data.values.thousands import without_thousands
from anon_core.release.vocabulary import TAILS, Vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """The people the table was drawn from.

    Values that only they have are leaves of hierarchies of the population's own (see
    `hierarchy.widened`), so that nothing a search or a metric looks at depends on them.

    Attributes
    ----------
    size : int
        Number of people.
    codes : int32 array of shape (tuples, quasi), or None
        Distinct quasi tuples of the population table, as leaves of `hierarchies`; -1 for a value
        that no cell of the column can cover.
    tuple_count : int64 array of shape (tuples,), or None
    row_tuple : int64 array of shape (size,), or None
        Tuple of each row of the population table.
    hierarchies : mapping of str to Hierarchy
        The quasi-identifiers' hierarchies with the population's further values.
    place : mapping of str to int32 array of shape (leaves of the table's hierarchy,)
        Where the table's own leaves are among those.
    lacking : tuple of str
        Quasi-identifiers that the population table does not have. Anyone who holds it does not know
        them: all values of such a column are one leaf, which every cell covers.
    """

    size: int
    codes: I32 | None = None
    tuple_count: npt.NDArray[np.int64] | None = None
    row_tuple: npt.NDArray[np.int64] | None = None
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict[str, Hierarchy])
    place: Mapping[str, I32] = field(default_factory=dict[str, I32])
    lacking: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether there is a table of the population, with every quasi-identifier."""
        return self.codes is not None and not self.lacking

    def cover(self, vocabulary: Vocabulary) -> tuple[I32, I32]:
        """Return the first and last of the population's leaves each published text covers.

        A hierarchy's label covers what is under it; a range of numbers or dates all values
        from end to end, a tail all values from its limit on; a value set its members.

        Returns
        -------
        lo, hi : int32 arrays of shape (entries,)
        """
        if vocabulary.column in self.lacking:
            everything = np.zeros_like(vocabulary.lo)
            return everything, np.where(vocabulary.lo <= vocabulary.hi, everything, -1)
        hierarchy, place = self.hierarchies[vocabulary.column], self.place[vocabulary.column]
        lo, hi = place[vocabulary.lo], place[vocabulary.hi]
        for level in np.unique(vocabulary.level[vocabulary.level > 0]).tolist():
            first, last = hierarchy.bounds(level)
            node = hierarchy.node(level)[lo]
            labels = hierarchy.labels[level]
            # A box may be as wide as a node and still be written as a range.
            named = np.array(
                [labels[n] == text for n, text in zip(node, vocabulary.texts, strict=True)]
            )
            here = named & (vocabulary.level == level)
            lo, hi = np.where(here, first[node], lo), np.where(here, last[node], hi)
        if hierarchy.measure is not None:
            measure = hierarchy.measure[: len(hierarchy.measure) - hierarchy.has_missing]
            kind = (
                kind_that_writes(hierarchy.leaves[0], float(measure[0])) if len(measure) else "text"
            )
            read = KINDS[kind].measure
            for entry, text in enumerate(vocabulary.texts):
                if vocabulary.level[entry] < 0 and text[:1] in TAILS:
                    limit = read(text[1:])
                    upper = text[0] == TAILS[1]
                    lo[entry] = np.searchsorted(measure, limit) if upper else 0
                    hi[entry] = (
                        len(measure) if upper else np.searchsorted(measure, limit, "right")
                    ) - 1
        return lo.astype(np.int32), hi.astype(np.int32)


def encode_population(
    population: Dataset | int | None,
    dataset: Dataset,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy],
    *,
    people: int,
) -> Population | None:
    """Encode what is known of the population; `people` is the number of those of the table.

    Raises
    ------
    BadPlan
        If it is smaller than the table.
    BadInput
        If it has no quasi-identifier, or one under another spelling of its name, or has texts
        where the table has numbers or dates.
    """
    if population is None:
        return None
    size = population if isinstance(population, int) else population.rows
    if size < people:
        held = f"{people} persons" if roles.unit else f"{people} rows"
        raise BadPlan(
            f"The population has {size} {'person' if size == 1 else 'people'}, but the table has "
            f"{held}, and everyone of the table belongs to it.",
            remedy="Give the size of the population the table was drawn from, or its whole table.",
        )
    if isinstance(population, int):
        return Population(size=size)
    gone = tuple(name for name in roles.quasi if name not in population.names)
    others = [name for name in population.names if name not in dataset.names]
    near = {name: _resembling(name, others) for name in gone}
    if len(gone) == len(roles.quasi) or any(near.values()):
        named = [name for name in gone if near[name]] or gone
        raise BadInput(
            f"The population table has no column {listing(named)}, which is a quasi-identifier; it "
            f"has {listing(population.names)}.",
            remedy="Name the columns in the population table as in the table that is released; it "
            "needs one quasi-identifier at least, and none whose name only resembles one."
            f"{near[named[0]]}",
        )
    wide: dict[str, Hierarchy] = {}
    place: dict[str, I32] = {}
    codes: list[I32] = []
    for name in roles.quasi:
        if name in gone:
            wide[name] = _unknown(name)
            place[name] = np.zeros(len(hierarchies[name].leaves), dtype=np.int32)
            codes.append(np.zeros(population.rows, np.int32))
            continue
        kind = dataset.column(name).kind
        column = of_kind(population.column(name), kind)
        _refuse_other_marks(column, dataset.column(name))
        wide[name], place[name], leaf = _leaves(column, kind, hierarchies[name])
        codes.append(leaf)
    # Ranks want codes from 0; -1 is shifted up and back.
    found = frequency_set(
        roles.quasi,
        [c + np.int32(1) for c in codes],
        [len(wide[name].leaves) + 1 for name in roles.quasi],
        quasi=len(roles.quasi),
    )
    return Population(
        size=size,
        codes=found.codes - np.int32(1),
        tuple_count=found.count,
        row_tuple=found.row_key,
        hierarchies=wide,
        place=place,
        lacking=gone,
    )


def _resembling(name: str, others: Sequence[str]) -> str:
    """Return a question for the name that resembles one, beginning with a blank; else nothing."""
    alike = [other for other in others if other.casefold() == name.casefold()]
    return f" Did you mean '{clipped(alike[0])}'?" if alike else nearest(name, others)


def _unknown(column: str) -> Hierarchy:
    """Return the hierarchy of a column that the population table lacks: one leaf for everything."""
    return Hierarchy(
        column=column,
        leaves=(TOP,),
        measure=None,
        starts=(np.zeros(1, dtype=np.int32),),
        labels=((TOP,),),
        counted=np.zeros(1, dtype=np.bool_),
        has_missing=False,
    )


def of_kind(column: Column, kind: ColumnKind) -> Column:
    """Return a population's column read as the table's is, whatever it looks like by itself."""
    if column.kind == kind:
        return column
    read = KINDS[kind].read
    codes, values = column.as_read
    plain = [without_thousands(v, column.thousands) for v in values]
    bad = [i for i, v in enumerate(plain) if read is not None and math.isnan(read(v))]
    if bad:
        row = int(np.flatnonzero(np.isin(codes, bad))[0])
        raise BadInput(
            f"In the population table, {len(bad)} distinct "
            f"{'value' if len(bad) == 1 else 'values'} of '{column.name}' "
            f"{'is' if len(bad) == 1 else 'are'} not {a_kind(kind)} (first in row {row + 1}); in "
            f"the table the column is {a_kind(kind)}.",
            remedy="Correct them in the population table or mark them as missing, or declare "
            f"'{column.name}' as text.",
            values=[values[i] for i in bad[:5]],
        )
    return encode(column.name, codes, values, kind=kind, thousands=column.thousands)


def _refuse_other_marks(column: Column, own: Column) -> None:
    """Refuse a population's numbers that would be others if they were read as the table's are.

    Raises
    ------
    BadInput
    """
    if not KINDS[own.kind].marks or column.thousands == own.thousands:
        return
    for one, other in ((column, own), (own, column)):
        _, values = one.as_read
        if any(without_thousands(v, other.thousands) != v for v in values):
            raise BadInput(
                f"The numbers of '{column.name}' mark thousands in one way in the table and in "
                "another in the population table, so that what they are is not known.",
                remedy="Take the marks between thousands out of both files.",
            )


def _leaves(column: Column, kind: ColumnKind, hierarchy: Hierarchy) -> tuple[Hierarchy, I32, I32]:
    """Return the widened hierarchy, where the table's leaves went, and each person's leaf."""
    measure = None
    if hierarchy.measure is not None:  # a column without any value has none
        measure = np.empty(0) if column.measure is None else column.measure
    if hierarchy.measure is None or measure is None:
        own = [hierarchy.code.get(v, -1) for v in column.values]
        beyond = np.zeros(len(own), dtype=np.bool_)
    else:
        # The two tables may spell one number differently (39 and 39.0).
        leaf = {m: i for i, m in enumerate(hierarchy.measure.tolist())}
        own = [leaf.get(m, -1) for m in measure.tolist()]
        beyond = beyond_root(hierarchy, kind, measure)
    known = np.array(own, dtype=np.int64)
    new = np.flatnonzero((known < 0) & ~beyond)
    wide, place = widened(
        hierarchy,
        kind,
        [column.values[i] for i in new.tolist()],
        measure[new] if measure is not None else None,
        missing=column.missing > 0,
    )
    known[new] = len(hierarchy.leaves) + np.arange(len(new))
    pool = np.append(place, np.int32(-1))[known]
    missing = np.int32(len(wide.leaves) - 1)  # the last leaf
    leaf_of = np.append(pool, missing)[column.codes].astype(np.int32)
    return wide, place[: len(hierarchy.leaves)], leaf_of
