"""Which of several hierarchy files belongs to which column: told by the name of the file.

ARX writes one level file a column, and projects name them ``age.csv``, ``age_hierarchy.csv`` or
``adult_hierarchy_age.csv``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

_WORD = re.compile(r"hierarch(?:y|ies)")


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Hierarchy files and columns that belong together.

    Attributes
    ----------
    files : dict of str to str
        File by column.
    unclear : dict of str to tuple of str
        Columns that several files fit, with these; none of them is taken.
    left : tuple of str
        Files that fit no column.
    """

    files: dict[str, str] = field(default_factory=dict[str, str])
    unclear: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    left: tuple[str, ...] = ()


def match_files(files: Sequence[str], columns: Sequence[str]) -> Matched:
    """Match hierarchy files to columns by name, regardless of case and of signs between words.

    A file named as the column is comes before one whose name only contains it.

    Examples
    --------
    >>> found = match_files(["my_hierarchy_age.csv", "zip code.csv", "x.csv"], ["Age", "ZIP-code"])
    >>> found.files, found.left
    ({'Age': 'my_hierarchy_age.csv', 'ZIP-code': 'zip code.csv'}, ('x.csv',))
    """
    found: dict[str, str] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    by_column: dict[str, list[list[str]]] = {}
    bare = {column: _bare(column) for column in columns}
    for column in columns:
        # The sign that stands between words tells columns apart that are alike without it.
        own = [one for one in files if PurePath(one).stem == column]
        alike = [one for one in files if _bare(PurePath(one).stem) == bare[column]]
        beside = [one for one in files if bare[column] in _without_the_word(PurePath(one).stem)]
        by_column[column] = [own, alike, beside]
    for rank in range(3):
        for column, ranks in by_column.items():
            fit = [one for one in ranks[rank] if one not in taken]
            if not bare[column] or column in found or column in unclear or not fit:
                continue
            rivals = [
                other
                for other, others in by_column.items()
                if other not in found and set(others[rank]) & set(fit)
            ]
            if len(fit) == 1 and rivals == [column]:
                found[column] = fit[0]
                taken.add(fit[0])
            else:
                unclear[column] = tuple(fit)
    told = {one for fit in unclear.values() for one in fit}
    left = tuple(one for one in files if one not in taken and one not in told)
    ordered = {column: found[column] for column in columns if column in found}
    return Matched(files=ordered, unclear=unclear, left=left)


def _bare(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _without_the_word(stem: str) -> tuple[str, ...]:
    """Return what stands before and after “hierarchy” in a name; nothing where it is not in it."""
    parts = _WORD.split(stem.casefold())
    return tuple(_bare(part) for part in (parts[0], parts[-1])) if len(parts) > 1 else ()
