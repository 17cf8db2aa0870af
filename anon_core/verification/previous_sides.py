"""One of two releases that are laid together: which of its columns stay linked, in which groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.errors import BadInput
from .blocks import blocks, group_name, sets_are_formed
from .lines import Lines
from .published import PublishedTable
from .tables import Promise, joined
from .texts import Codes


@dataclass(frozen=True, kw_only=True, eq=False)
class Linked:
    """Columns that stay linked row by row.

    Attributes
    ----------
    lines : Lines
    quasi : tuple of str
        The quasi-identifiers among them.
    columns : tuple of str
    group : int64 array of shape (lines,)
        The group of each line: its class, where rows are whole.
    """

    lines: Lines
    quasi: tuple[str, ...]
    columns: tuple[str, ...]
    group: Codes


@dataclass(frozen=True, kw_only=True)
class Side:
    """A release, as parts that only their groups join.

    Attributes
    ----------
    parts : tuple of Linked
    groups : int
        Groups are numbered below it.
    taken : str
        What is taken to be so of it, for the end of a sentence.
    """

    parts: tuple[Linked, ...]
    groups: int
    taken: str = ""

    @property
    def quasi(self) -> tuple[str, ...]:
        """Return the quasi-identifiers that it publishes."""
        return tuple(name for part in self.parts for name in part.quasi)

    def shows(self, name: str) -> bool:
        """Say whether it publishes a column."""
        return any(name in part.columns for part in self.parts)


def this_side(promise: Promise, published: Mapping[str, PublishedTable]) -> Side:
    """Return the release that is verified.

    Raises
    ------
    BadInput
        If its columns are not those of the recipe, or the run formed what stays linked.
    """
    if not promise.permuted:
        lines = published["release"].lines
        if not lines.has(promise.published):
            raise BadInput("Columns of the recipe are not published.")
        return _whole(lines, promise.quasi)
    group = group_name(promise.published)
    tables = [found.lines for found in published.values()]
    return _permuted(promise, tables, group, _told_links(promise))


def previous_sides(promise: Promise, told: Mapping[str, PublishedTable]) -> list[Side]:
    """Return an earlier release, by what its files say: one side for each way it may be linked.

    Group numbers do not tell what stays linked. Where this recipe publishes as many tables with
    groups, its word is taken for both releases; else two tables may have the columns of each
    linked, or none, and both are looked at.

    Raises
    ------
    BadInput
        If nothing says what stays linked.
    """
    tables = [found.lines for found in told.values()]
    group = group_name((*promise.published, *(n for t in tables for n in t.header[1:])))
    if len(tables) == 1 and tables[0].header[:1] != (group,):
        lines = tables[0]
        return [_whole(lines, tuple(n for n in promise.quasi if lines.has((n,))))]
    if any(lines.header[:1] != (group,) for lines in tables):
        raise BadInput(f"The tables of the earlier release do not begin with the column '{group}'.")
    if promise.permuted and promise.shape.tables == len(tables):
        shown = {name for lines in tables for name in lines.header}
        links = [[name for name in block if name in shown] for block in _told_links(promise)]
        found = _permuted(promise, tables, group, [block for block in links if block])
        also = "; the earlier release's columns are taken to be linked as the recipe links them"
        return [replace(found, taken=also)]
    if len(tables) > 1:
        ways = [t.header[1:] for t in tables], [(n,) for t in tables for n in t.header[1:]]
        return [_permuted(promise, tables, group, links) for links in ways]
    raise BadInput(
        "The earlier release shows group numbers, and neither it nor the recipe tells which of "
        "its columns stay linked."
    )


def _told_links(promise: Promise) -> Sequence[Sequence[str]]:
    if sets_are_formed(promise):
        raise BadInput("Which columns stay linked was decided by the run: the recipe does not say.")
    return blocks(promise)


def _whole(lines: Lines, quasi: tuple[str, ...]) -> Side:
    group, first = joined([lines.codes_of(n) for n in quasi], len(lines))
    part = Linked(lines=lines, quasi=quasi, columns=lines.header, group=group)
    return Side(parts=(part,), groups=len(first))


def _permuted(
    promise: Promise, tables: Sequence[Lines], group: str, links: Sequence[Sequence[str]]
) -> Side:
    place: dict[str, int] = {}
    for lines in tables:
        if not lines.has((group,)):
            raise BadInput(f"A table has no column '{group}'.")
        for text in lines.texts_of(group):
            place.setdefault(text, len(place))
    parts: list[Linked] = []
    for block in links:
        lines = next((found for found in tables if block and found.has(block)), None)
        if lines is None:
            raise BadInput("Columns that stay linked do not stand in one published table.")
        number = np.array([place[text] for text in lines.texts_of(group)], dtype=np.int64)
        parts.append(
            Linked(
                lines=lines,
                quasi=tuple(name for name in block if name in promise.quasi),
                columns=tuple(block),
                group=number[lines.codes_of(group)],
            )
        )
    return Side(parts=tuple(parts), groups=len(place))
