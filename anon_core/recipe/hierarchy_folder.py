"""A folder of hierarchies in a recipe: each file belongs to the column that it is named after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from anon_core.base.errors import BadHierarchy, clipped, listing
from anon_core.data.hierarchy.files.level_files import match_files
from anon_core.data.roles.roles import Roles

Paths = Mapping[str, str]

#: What a recipe names a folder by, instead of a column: every column that has no file of its own.
EVERY_OTHER = "*"
#: Endings of the files of a folder that are hierarchies; others are passed over.
ENDINGS = (".csv", ".txt")


def with_files(hierarchies: Paths, roles: Roles, folder: Path) -> Paths:
    """Return a recipe's hierarchies with a file for each column instead of a folder.

    Parameters
    ----------
    hierarchies : mapping of str to str
        Paths by column, as the recipe names them.
    folder : Path
        That of the recipe, to which paths are relative.

    Raises
    ------
    BadHierarchy
        If the folder cannot be read or holds no hierarchy, or if a file fits no column with a role,
        or a column several files.
    """
    if EVERY_OTHER not in hierarchies:
        return hierarchies
    named = hierarchies[EVERY_OTHER]
    try:
        names = sorted(one.name for one in (folder / named).iterdir() if one.is_file())
    except OSError as error:
        raise BadHierarchy(
            f"The folder of hierarchies {clipped(named)} cannot be read ({error.strerror}).",
            remedy="Check the path; it is relative to the recipe.",
        ) from error
    return with_names(hierarchies, roles, names)


def with_names(
    hierarchies: Paths, roles: Roles, names: Sequence[str], *, strict: bool = True
) -> Paths:
    """Return a recipe's hierarchies with a file for each column instead of a folder with these.

    Parameters
    ----------
    names : sequence of str
        What the folder holds.
    strict : bool
        Whether every file has to fit a column.

    Raises
    ------
    BadHierarchy
        As `with_files` does.
    """
    if EVERY_OTHER not in hierarchies:
        return hierarchies
    own = {name: path for name, path in hierarchies.items() if name != EVERY_OTHER}
    folder = hierarchies[EVERY_OTHER]
    files = [one for one in names if one.lower().endswith(ENDINGS) and not one.startswith(".")]
    found = match_files(files, roles.named)
    for column, several in found.unclear.items():
        raise BadHierarchy(
            f"Of the folder {clipped(folder)} the files {listing(several)} may be the hierarchy of "
            f"'{clipped(column)}' as well.",
            remedy=f"Take all but one away, or name one in the recipe: [hierarchies] {column}.",
        )
    if found.left and strict:
        raise BadHierarchy(
            f"Of the folder {clipped(folder)} no column with a role is named like "
            f"{listing(found.left)}.",
            remedy="Name each file after its column, such as age.csv or age_hierarchy.csv, or take "
            "it out of the folder.",
        )
    if not found.files:
        raise BadHierarchy(
            f"The folder {clipped(folder)} holds no hierarchy of a column with a role.",
            remedy=f"Put files into it that end with {' or '.join(ENDINGS)}.",
        )
    return {**_used(roles, found.files, folder), **own}


def _used(roles: Roles, files: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the paths of those files whose columns are made coarser."""
    coarser = (*roles.quasi, *roles.sensitive)
    return {
        column: str(PurePosixPath(folder, name))
        for column, name in files.items()
        if column in coarser
    }
