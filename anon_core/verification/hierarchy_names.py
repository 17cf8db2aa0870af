"""Which file of a folder is the hierarchy of which column, told anew from the names alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadHierarchy, clipped

#: What stands for every column without a file of its own.
ALL = "*"


def files_of_folder(place: Path, columns: Iterable[str]) -> Mapping[str, Path]:
    """Return the hierarchy file of each column that has one in a folder.

    Raises
    ------
    BadHierarchy
        If the folder cannot be read, or a file and a column do not belong to each other alone.
    """
    try:
        present = [one for one in place.iterdir() if one.is_file() and _is_levels(one.name)]
    except OSError as error:
        raise BadHierarchy(
            f"The folder {clipped(place.name)} cannot be read ({error.strerror}).",
            remedy="Check the path; it is relative to the recipe.",
        ) from error
    free = set(columns)
    given: dict[str, Path] = {}
    for fits in (_is_name, _is_spelled_alike, _is_part):
        pairs = [(c, f) for c in sorted(free) for f in present if fits(c, f.stem)]
        if len({c for c, _ in pairs}) != len(pairs) or len({f for _, f in pairs}) != len(pairs):
            raise BadHierarchy(
                f"In the folder {clipped(place.name)} a file and a column do not belong to each "
                "other alone.",
                remedy="Name each file after one column.",
            )
        given |= dict(pairs)
        free -= set(given)
        present = [one for one in present if one not in given.values()]
    return given


def columns_named(recipe: Mapping[str, Any]) -> list[str]:
    """Return every column that a role of a recipe names."""
    roles: Mapping[str, Any] = recipe.get("roles", {})
    told = [n for role in roles.values() for n in (role if isinstance(role, list) else [role])]
    return [str(name) for name in dict.fromkeys(told) if name]


def _is_levels(name: str) -> bool:
    return name[:1] != "." and name.lower()[-4:] in (".csv", ".txt")


def _is_name(column: str, stem: str) -> bool:
    return column == stem


def _is_spelled_alike(column: str, stem: str) -> bool:
    return _signs(column) != "" and _signs(column) == _signs(stem)


def _is_part(column: str, stem: str) -> bool:
    low = stem.casefold()
    cuts = [(low.find(word), word) for word in ("hierarchy", "hierarchies") if word in low]
    if not cuts or not _signs(column):
        return False
    first = min(place for place, _ in cuts)
    last = max(low.rfind(word) + len(word) for _, word in cuts)
    return _signs(column) in (_signs(low[:first]), _signs(low[last:]))


def _signs(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
