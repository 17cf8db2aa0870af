"""A release that is out already: what each of its classes covers, and which values it holds.

It is read from its published cells alone, by the hierarchies that are published with the new
release: who stood in it is not known from it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.errors import BadInput, listing
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import TOP, Hierarchy
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.roles.roles import Roles
from anon_core.data.table import MISSING, Dataset
from anon_core.data.values.formulas import plain as without_guard
from anon_core.data.values.kinds import KINDS, ColumnKind

# The members of a published value set: ``{F, "a, b"}``, as `vocabulary.range_texts` writes it.


def members_of(text: str) -> tuple[str, ...] | None:
    """Return what a value set holds; None where a text is none.

    Examples
    --------
    >>> members_of('{F, "a, b"}'), members_of("F")
    (('F', 'a, b'), None)
    """
    if len(text) < 2 or not (text.startswith("{") and text.endswith("}")):
        return None
    (row,) = csv.reader([text[1:-1]], skipinitialspace=True) if text[1:-1] else ([""],)
    return tuple(row)


#: Who is in both: no one says who, everyone of the table, or everyone of the earlier release,
#: to whom others have come since.
Overlap = Literal["unknown", "all", "grown"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Earlier:
    """The classes of an earlier release, by what can be read of them today.

    Attributes
    ----------
    columns : tuple of str
        Quasi-identifiers that both releases publish.
    cover : mapping of str to bool array of shape (texts, leaves)
        By column, which of today's leaves each published text represents.
    cells : int32 array of shape (classes, columns)
        Text of each class.
    size : int64 array of shape (pools,)
        Rows of each pool: of a class, or of all that share their sensitive values.
    values : mapping of str to (int64, int32, int64) arrays of shape (entries,)
        By sensitive column pool, value and rows. A value is a leaf of today's hierarchy; one that
        no row of today has, a number beyond; so is a missing one where none is missing today. Rows
        that show a label are entered for each value that it represents.
    pool : int64 array of shape (classes,), or None
        Whose sensitive values are those of each class; its own, where it is None.
    people : {'unknown', 'all', 'grown'}
    """

    columns: tuple[str, ...]
    cover: Mapping[str, B1]
    cells: I32
    size: I64
    values: Mapping[str, tuple[I64, I32, I64]] = field(repr=False)
    pool: I64 | None = None
    people: Overlap = "unknown"

    @property
    def rows(self) -> int:
        """Published rows of the earlier release."""
        return int(self.size.sum())


@dataclass(frozen=True, kw_only=True)
class Today:
    """What an earlier release is read by: the table that is released now.

    Attributes
    ----------
    meant : mapping of str to mapping of str to tuple of str
        See `Problem.meant`.
    """

    dataset: Dataset
    roles: Roles
    hierarchies: Mapping[str, Hierarchy]
    meant: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=dict[str, Mapping[str, tuple[str, ...]]]
    )

    def covered(self, name: str, texts: Sequence[str]) -> B1:
        """Return which leaves of a quasi-identifier each text represents."""
        return _covered(texts, self.hierarchies[name], self.dataset.column(name).kind)

    def entries(
        self, name: str, pool: npt.NDArray[np.integer], codes: I32, texts: Sequence[str]
    ) -> tuple[I64, I32, I64]:
        """Return how often each pool shows each value of a sensitive column.

        Parameters
        ----------
        pool, codes : arrays of shape (rows,)
            The pool of each row, and its text.
        """
        covers = self._values(name, texts)
        wide = np.array([len(own) for own in covers], dtype=np.int64)
        start = np.cumsum(wide) - wide
        every = np.concatenate([np.empty(0, dtype=np.int32), *covers])
        row = np.repeat(np.arange(len(codes)), wide[codes])
        nth = np.arange(len(row)) - np.repeat(np.cumsum(wide[codes]) - wide[codes], wide[codes])
        leaf = every[start[codes[row]] + nth].astype(np.int32)
        owner = np.asarray(pool, dtype=np.int64)[row]
        sizes = [int(owner.max(initial=0)) + 1, int(leaf.max(initial=0)) + 1]
        pair, entry = dense_rank([owner.astype(np.int32), leaf], sizes)
        count = np.bincount(pair, minlength=len(entry)).astype(np.int64)
        return owner[entry], leaf[entry], count

    def _values(self, name: str, texts: Sequence[str]) -> list[I32]:
        """Return the leaves that each text of a sensitive column represents.

        Raises
        ------
        BadInput
            If the column has a hierarchy, and neither that nor the table explains a text.
        """
        hierarchy, kind = self.hierarchies[name], self.dataset.column(name).kind
        meant = self.meant.get(name, {})
        found: list[I32] = []
        beyond, odd = len(hierarchy.leaves), 0
        for text in texts:
            plain = text if text in hierarchy.code else without_guard(text)
            own = [hierarchy.missing_leaf] * (text == MISSING and hierarchy.has_missing)
            own += [hierarchy.code[t] for t in (plain,) if t in hierarchy.code and not own]
            if not own and text != MISSING:
                own = [hierarchy.code[t] for t in meant.get(plain, ()) if t in hierarchy.code]
                measured = None if own else _measured(plain, hierarchy, kind)
                if measured is not None:
                    own = np.flatnonzero(measured).tolist()
                known = own or plain in meant or measured is not None or plain == TOP
                odd += bool(meant) and not known
                if plain == TOP and not own:
                    own = list(range(len(hierarchy.leaves)))
            if not own:  # a value that no row of today has
                own, beyond = [beyond], beyond + 1
            found.append(np.array(own, dtype=np.int32))
        if odd:
            raise BadInput(
                f"In the earlier release, {odd} distinct {'text' if odd == 1 else 'texts'} of "
                f"'{name}' {'is' if odd == 1 else 'are'} neither a value nor a label of its "
                "hierarchy.",
                remedy="Give the column the hierarchy that the earlier release was made with.",
            )
        return found


def encode_earlier(
    table: Dataset,
    own: Dataset,
    roles: Roles,
    hierarchies: Mapping[str, Hierarchy],
    people: Overlap = "unknown",
    meant: Mapping[str, Mapping[str, tuple[str, ...]]] | None = None,
) -> Earlier:
    """Read an earlier release of whole rows by what is known of the new one.

    Parameters
    ----------
    table : Dataset
        The published table, as it was read.
    own : Dataset
        The table that is released now.
    people : {'unknown', 'all', 'grown'}
    meant : mapping of str to mapping of str to tuple of str, optional
        See `Problem.meant`.

    Raises
    ------
    BadInput
        If it has no quasi-identifier, or a text that nothing explains: another hierarchy was used.
    """
    today = Today(dataset=own, roles=roles, hierarchies=hierarchies, meant=meant or {})
    columns = tuple(name for name in roles.quasi if name in table.names)
    if not columns:
        raise BadInput(
            f"The earlier release has none of the quasi-identifiers {listing(roles.quasi)}; it "
            f"has {listing(table.names)}.",
            remedy="Give the table that was published, with its columns' names.",
        )
    cover: dict[str, B1] = {}
    parts: list[I32] = []
    for name in columns:
        codes, texts = as_published(table, name)
        cover[name] = today.covered(name, texts)
        parts.append(codes)
    group, first = dense_rank(parts, [len(cover[name]) for name in columns])
    return Earlier(
        columns=columns,
        cover=cover,
        cells=np.stack([part[first] for part in parts], axis=1).astype(np.int32),
        size=np.bincount(group, minlength=len(first)).astype(np.int64),
        values={
            name: today.entries(name, group, *as_published(table, name))
            for name in roles.sensitive
            if name in table.names and name not in roles.quasi
        },
        people=people,
    )


def as_published(table: Dataset, name: str) -> tuple[I32, tuple[str, ...]]:
    """Return a column's codes and texts as they are in the file; missing ones are texts too."""
    codes, texts = table.column(name).as_read
    at = np.where(codes < 0, len(texts), codes).astype(np.int32)
    return at, (*texts, MISSING)


def _covered(texts: Sequence[str], hierarchy: Hierarchy, kind: ColumnKind) -> npt.NDArray[np.bool_]:
    """Return which leaves each text represents, shape (texts, leaves).

    Raises
    ------
    BadInput
        If nothing explains a text.
    """
    found = np.zeros((len(texts), len(hierarchy.leaves)), dtype=np.bool_)
    labels: dict[str, list[tuple[int, int]]] = {}
    for level in range(hierarchy.height + 1):
        lo, hi = hierarchy.bounds(level)
        for label, a, b in zip(hierarchy.labels[level], lo.tolist(), hi.tolist(), strict=True):
            labels.setdefault(label, []).append((a, b))
    # Without groups of its own a text that is no value of today is one of someone else.
    grouped = KINDS[kind].measured or hierarchy.height > 1 or hierarchy.labels[-1] != (TOP,)
    odd: list[str] = []
    for place, written in enumerate(texts):
        text = written if written in labels else without_guard(written)
        measured = _measured(text, hierarchy, kind)
        members = None if KINDS[kind].measured else members_of(text)
        for a, b in labels.get(text, ()):
            found[place, a : b + 1] = True
        if text in labels:
            continue
        if text == TOP or (text == MISSING and not hierarchy.has_missing):
            found[place] = True
        elif measured is not None:
            found[place] = measured
        elif members is not None:
            leaves = [hierarchy.code[m] for m in members if m in hierarchy.code]
            found[place, leaves] = True
        elif text != MISSING and grouped:
            odd.append(written)
    if odd:
        raise BadInput(
            f"In the earlier release, {len(odd)} distinct "
            f"{'text' if len(odd) == 1 else 'texts'} of '{hierarchy.column}' "
            f"{'is' if len(odd) == 1 else 'are'} neither a value nor a group of its hierarchy.",
            remedy="Give the column the hierarchy that the earlier release was made with.",
            values=odd[:5],
        )
    return found


def _measured(text: str, hierarchy: Hierarchy, kind: ColumnKind) -> B1 | None:
    """Return the leaves of a number, date or range of them; None where it is none."""
    read = KINDS[kind].read
    if read is None or hierarchy.measure is None:
        return None
    value = read(text)
    ends = (value, value) if not np.isnan(value) else read_range(text, kind)
    if ends is None:
        return None
    return (hierarchy.measure >= ends[0]) & (hierarchy.measure <= ends[1])
