"""Propose hierarchies for a column, each with its reason; a person decides which one is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anon_core.base.errors import AnonError, BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.edit.cutting import cut_points
from anon_core.data.hierarchy.edit.draft import draft_of_rows, unplaced
from anon_core.data.hierarchy.edit.operations import MOST_LEVELS
from anon_core.data.hierarchy.intervals import MOST_CUTS, Cuts, cut
from anon_core.data.hierarchy.label_truth import refuse_false_labels
from anon_core.data.hierarchy.model import Rows, tidied
from anon_core.data.hierarchy.propose.builders import Builder, builders, flat
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

# What the builder takes: the limits that everything proposed is held to.


def few_cuts(column: Column, rows: Rows) -> tuple[Rows, int]:
    """Return a level table without the levels that have too many cuts, and how many these are.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> even = [str(2 * i) for i in range(1200)]
    >>> own = encode("x", np.arange(1200, dtype=np.int32), even)
    >>> rows = tuple((v, v, "low" if int(v) < 600 else "high", "*") for v in even)
    >>> few, gone = few_cuts(own, rows)
    >>> few[0], gone
    (('0', 'low', '*'), 1)
    """
    if not KINDS[column.kind].measured or not rows:
        return rows, 0
    # A level has the cuts of all levels above it, too, so that the finest ones have most.
    gone = sum(len(points) > MOST_CUTS for points in cut_points(column, rows))
    if not gone:
        return rows, 0
    return tidied([(row[0], *row[1 + gone : -1]) for row in rows]), gone


def accept(column: Column, rows: Rows) -> None:
    """Refuse a level table that the builder would refuse, or could not draw.

    Raises
    ------
    BadHierarchy
        If it is no hierarchy of the column, lacks values, or has more levels than can be edited.
    """
    draft = draft_of_rows(column, rows)
    if unplaced(draft, column):
        raise BadHierarchy("It has no place for some values.", remedy="Place them by hand.")
    if draft.height > MOST_LEVELS:
        raise BadHierarchy(
            f"It has {draft.height} levels; at most {MOST_LEVELS} can be edited.",
            remedy="Leave levels out.",
        )


def _refuse_misread(column: Column, rows: Rows) -> None:
    """Refuse groups whose names readers would take for something else, as a run would."""
    try:
        refuse_false_labels(column.name, rows, column.kind)
    except BadHierarchy as error:
        raise BadHierarchy(
            "Readers could take the name of one of its groups for something else.",
            remedy="Name the groups by hand.",
        ) from error


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A hierarchy to start from.

    Attributes
    ----------
    builder : str
        What made it, for example ``round numbers``.
    reason : str
        Why, in plain words, without values of the data.
    rows : Rows
        The level table, for `from_rows`; it covers every value of the column.
    parameters : mapping of str to plain values
        What the builder was given, for example the cuts.
    unplaced : tuple of str
        Values that the builder had no place for; they are in a group of their own.
    """

    column: str
    builder: str
    reason: str
    rows: Rows
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unplaced: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """Levels above the values."""
        return max(len(self.rows[0]) - 1, 1) if self.rows else 1


def propose_all(dataset: Dataset, quasi: Sequence[str]) -> dict[str, Proposal]:
    """Return the best proposal for each of some columns.

    Raises
    ------
    BadInput
        If a column is not in the table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"zip": ["01010", "01013", "01101"], "sex": ["F", "M", "F"]})
    >>> found = propose_all(Dataset.from_frame(frame), ["zip", "sex"])
    >>> {name: (one.builder, one.rows[0]) for name, one in found.items()}
    {'zip': ('mask', ('01010', '0101*', '*')), 'sex': ('flat', ('F', '*'))}
    """
    return {name: offer(dataset.column(name), most=1).proposals[0] for name in quasi}


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """A proposal that is not offered: what would have made it, and why it is not."""

    builder: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What can be proposed for a column.

    Attributes
    ----------
    proposals : tuple of Proposal
        The best one first; there is always one, and the builder takes each.
    withheld : tuple of Withheld
        What the builder would not take.
    """

    proposals: tuple[Proposal, ...]
    withheld: tuple[Withheld, ...] = ()


def propose(column: Column) -> tuple[Proposal, ...]:
    """Return proposals for a column, the best one first; there is always one.

    Structure comes first (dates, times, codes), then the shipped library, then numbers by round
    numbers or by rows, then categories by shared text, and by frequency at last.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> codes = np.repeat(np.arange(3, dtype=np.int32), [6, 3, 1])
    >>> first, *rest = propose(encode("pet", codes, ["cat", "dog", "yak"]))
    >>> first.builder, first.rows[1], [one.builder for one in rest]
    ('frequency', ('dog', 'dog / yak', '*'), ['flat'])
    """
    return offer(column).proposals


def offer(column: Column, *, most: int | None = None) -> Offer:
    """Return proposals for a column as `propose` does, and what was withheld from them and why.

    Parameters
    ----------
    most : int, optional
        Make no more than so many; the flat one is always there.
    """
    found: list[Proposal] = []
    withheld: list[Withheld] = []
    for builder in builders(column):
        if len(found) == most:
            break
        try:
            one = _within_limits(column, _built(column, builder))
            if one.height > 1:
                accept(column, one.rows)
                if builder.by_parts:
                    _refuse_misread(column, one.rows)
                found.append(one)
        except AnonError as error:
            withheld.append(Withheld(builder=builder.name, reason=error.message))
    return Offer(proposals=(*found, _built(column, flat(column))), withheld=tuple(withheld))


def _built(column: Column, builder: Builder) -> Proposal:
    """Return the proposal that a builder makes; it is not made before it is asked for."""
    made, parameters = builder.make(), builder.parameters
    if isinstance(made, Cuts):
        made, parameters = cut(column, made), made.as_mapping()
    return Proposal(
        column=column.name,
        builder=builder.name,
        reason=builder.reason,
        rows=made,
        parameters=parameters,
        unplaced=builder.unplaced,
    )


def _within_limits(column: Column, one: Proposal) -> Proposal:
    """Leave out the finest levels of numbers and dates that have more cuts than can be drawn."""
    rows, gone = few_cuts(column, one.rows)
    if not gone:
        return one
    if len(rows[0]) < 3:
        raise BadHierarchy(
            f"Every level of it would have more than {MOST_CUTS:,} cuts.",
            remedy="Use wider intervals.",
        )
    levels = "Its finest level is" if gone == 1 else f"Its {gone} finest levels are"
    reason = f"{one.reason} {levels} left out: more than {MOST_CUTS:,} cuts are no groups any more."
    return replace(one, rows=rows, reason=reason, parameters={**one.parameters, "left_out": gone})
