"""A published release read by groups: of several tables, or of columns permuted separately.

A person may be in every group that shows each linked part of their quasi-identifiers; the values
are those of the group, next to the part that covers the person where the column is linked with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.errors import BadInput
from anon_core.data.frequency import dense_rank
from anon_core.release.knowledge.earlier_release import Earlier, Today

#: Combinations of linked parts, and cells of what groups cover, that are looked at.
_MOST = 1 << 22
_CELLS = 1 << 29


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkedColumns:
    """Columns of a published table that stay linked row by row.

    Attributes
    ----------
    shown : mapping of str to (int32 array of shape (rows,), sequence of str)
        By column, each row's text as a place in the distinct ones.
    group : int64 array of shape (rows,)
        The group of each row; one for all where rows are whole.
    """

    shown: Mapping[str, tuple[I32, Sequence[str]]]
    group: I64


def encode_groups(
    parts: Sequence[LinkedColumns], groups: int, today: Today, column: str
) -> Earlier:
    """Read what a release says of one sensitive column.

    Parameters
    ----------
    parts : sequence of LinkedColumns
        All that is published; one for whole rows.

    Raises
    ------
    BadInput
        If nothing explains a text, or groups have too many combinations of linked parts.
    """
    holder = next(part for part in parts if column in part.shown)
    lines = [
        (names, part)
        for part in parts
        if (names := tuple(n for n in today.roles.quasi if n in part.shown))
    ]
    cover: dict[str, B1] = {}
    cells: dict[str, I64] = {}
    own = np.arange(groups)  # the group of each combination
    pool = own
    row_pool, size = holder.group, np.bincount(holder.group, minlength=groups)
    for names, part in lines:
        if len(names) == 1 and part is not holder and len(lines) > 1:
            (name,) = names
            cover[name], cells[name] = _of_groups(name, part, groups, today), own
            continue
        coded = [part.shown[n] for n in names]
        sizes = [groups, *(len(texts) for _, texts in coded)]
        line, first = dense_rank([part.group.astype(np.int32), *(c for c, _ in coded)], sizes)
        at = _with_lines(own, part.group[first])
        cells = {name: cell[at[0]] for name, cell in cells.items()}
        own, pool = own[at[0]], pool[at[0]]
        if part is holder:
            pool, row_pool, size = at[1], line, np.bincount(line, minlength=len(first))
        for name, (codes, texts) in zip(names, coded, strict=True):
            cover[name] = today.covered(name, texts)
            cells[name] = codes[first][at[1]].astype(np.int64)
    columns = tuple(name for name in today.roles.quasi if name in cells)
    codes, texts = holder.shown[column]
    return Earlier(
        columns=columns,
        cover=cover,
        cells=np.stack([cells[name] for name in columns], axis=1).astype(np.int32),
        pool=pool,
        size=size.astype(np.int64),
        values={column: today.entries(column, row_pool, codes, texts)},
    )


def _of_groups(name: str, part: LinkedColumns, groups: int, today: Today) -> B1:
    """Return what all cells of a column cover together in each group, (groups, leaves)."""
    codes, texts = part.shown[name]
    covered = today.covered(name, texts)
    if groups * covered.shape[1] > _CELLS:
        raise BadInput(f"The groups of '{name}' and its values are too many to look at.")
    pair = np.unique(part.group * len(texts) + codes)
    first = np.flatnonzero(np.diff(pair // len(texts), prepend=-1))
    found = np.zeros((groups, covered.shape[1]), dtype=np.bool_)
    found[pair[first] // len(texts)] = np.logical_or.reduceat(covered[pair % len(texts)], first)
    return found


def _with_lines(own: I64, group: npt.NDArray[np.int64]) -> tuple[I64, I64]:
    """Return every combination with every line of its group: which combination, and which line."""
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], own)
    width = np.searchsorted(group[order], own, side="right") - begin
    if int(width.sum()) > _MOST:
        raise BadInput("The groups have too many combinations of linked columns to look at.")
    which = np.repeat(np.arange(len(own)), width)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(width) - width, width)
    return which, order[np.repeat(begin, width) + nth]
