"""This release beside an earlier one of the same people, recomputed from both files.

A promise that each keeps is not kept by both together: of each person the values are left that the
classes of both allow (Ganta, Kasiviswanathan and Smith 2008, doi 10.1145/1401890.1401926). Where
columns are permuted apart, a person's values are those of the groups that show each linked part of
their quasi-identifiers (Xiao and Tao 2006, Anatomy, VLDB).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..base.errors import BadInput, clipped
from .file_formats import READ, read_release
from .findings import Check, undecided
from .match import TooLarge
from .opening import Content, FileBytes
from .part_files import is_part, part_names, parts_said, parts_there, table_of
from .previous_sides import previous_sides, this_side
from .previous_values import Points, Together, together
from .published import PublishedTable
from .tables import PrivateTable, Promise

_NAME = "previous"
_TABLES = (("release",), ("quasi", "sensitive"))
_ENDINGS = (READ, "parquet")


def previous_files(place: Path) -> dict[str, Content]:
    """Return the published files of an earlier release by name: of a folder, or one file.

    A CSV file is taken before a Parquet file of the same rows, and one file before several that
    make up the table. Of two tables that a group number joins either one may be named.

    Raises
    ------
    BadInput
        If there is no whole set of them, or both one table and two, or one part is named.
    """
    tables: tuple[tuple[str, ...], ...] = _TABLES
    if not place.is_dir():
        if is_part(place.name):
            raise BadInput(
                f"{clipped(place.name)} is a part of the earlier release, which has several.",
                remedy="Name the folder that holds all of them.",
            )
        if place.stem not in _TABLES[1] or place.suffix[1:] not in _ENDINGS:
            ending = "parquet" if place.suffix.lower() == ".parquet" else READ
            return {f"release.{ending}": FileBytes(place, "The earlier release")}
        place, tables = place.parent, (_TABLES[1],)
    sets = [[_files_of(place, name) for name in names] for names in tables]
    whole = [found for found in sets if all(found)]
    if len(whole) > 1:
        raise BadInput(
            "The folder of the earlier release holds one table and two tables as well.",
            remedy="Name the file of the one that was published.",
        )
    if not whole:
        raise BadInput(
            "The earlier release has no published table: neither a release nor quasi and "
            "sensitive, as .csv or .parquet.",
            remedy="Name its folder, or the file that was published.",
        )
    return {
        file.name: FileBytes(file, "The earlier release") for files in whole[0] for file in files
    }


def _files_of(folder: Path, name: str) -> list[Path]:
    """Return the file of a published table, or all that make it up; empty where none is there.

    Raises
    ------
    BadInput
        If one of several is missing.
    """
    for ending in _ENDINGS:
        if (folder / f"{name}.{ending}").is_file():
            return [folder / f"{name}.{ending}"]
    names = [file.name for file in folder.iterdir() if file.is_file()]
    found = ((ending, parts_there(name, names, ending)) for ending in _ENDINGS)
    ending, there = next(((e, own) for e, own in found if own), ("", []))
    if not there:
        return []
    wanted = part_names(name, parts_said(there[0]), ending)
    gone = [part for part in wanted if part not in there]
    if gone or there != wanted:
        raise BadInput(
            f"The earlier release lacks {gone[0]}."
            if gone
            else f"The earlier release has parts of several releases, {there[-1]} among them.",
            remedy="Name a folder with all of its parts and nothing else.",
        )
    return [folder / part for part in there]


def check_previous(
    promise: Promise,
    published: Mapping[str, PublishedTable],
    table: PrivateTable,
    files: Mapping[str, Content],
) -> list[Check]:
    """Count whose sensitive value is certain from both releases and from neither alone.

    Everyone of the table is taken to stand in both with the values they have now: where some do
    not, fewer are certain.

    Parameters
    ----------
    promise : Promise
    published : mapping of str to PublishedTable
        This release.
    table : PrivateTable
    files : mapping of str to bytes or FileBytes
        The earlier release, as `previous_files` names it.
    """
    if promise.averaged:
        return [undecided(_NAME, "Averages do not say which values they stand for.")]
    if promise.person:
        return [undecided(_NAME, "A person may have several rows, and none says which.")]
    names = list(dict.fromkeys(map(table_of, files)))
    try:
        told = {name: read_release(name, files, promise.quasi, table.spelling) for name in names}
        if any(found.ragged for found in told.values()):
            raise BadInput("Its rows differ in length.")
    except BadInput as error:
        return [undecided(_NAME, f"The earlier release cannot be read. {error.message}")]
    try:
        sides = previous_sides(promise, told)
        here = this_side(promise, published)
    except BadInput as error:
        return [undecided(_NAME, error.message)]
    columns = [n for n in promise.sensitive if n not in promise.quasi and sides[0].shows(n)]
    if not sides[0].quasi or not columns:
        what = "sensitive column" if sides[0].quasi else "quasi-identifier"
        return [undecided(_NAME, f"The earlier release has no {what} of this one.")]
    points = Points.of(promise.quasi, table)
    checks: list[Check] = []
    for name in columns:
        try:
            found = [together(name, here, side, points) for side in sides]
        except BadInput as error:
            return [undecided(_NAME, error.message)]
        except TooLarge as error:
            return [undecided(_NAME, f"Who fits which class is not decided. {error.message}")]
        taken = sides[0].taken
        if len(sides) > 1:
            taken = "; whether the earlier release's columns stay linked, the worse of both counts"
        most = max(found, key=lambda one: (one.only, one.certain))
        checks.append(_of_column(name, most, table, taken))
    return checks


def _of_column(name: str, found: Together, table: PrivateTable, taken: str) -> Check:
    """Judge one sensitive column; the check holds where nobody is certain only from both."""
    if table.rows and not found.fits:
        return undecided(
            _NAME, "Nobody of the table fits both releases: one of them is of other people."
        )
    return Check(
        name=_NAME,
        holds=not found.only,
        column=name,
        bound=0.0,
        reached=float(found.only),
        sentence=f"Beside the earlier release, the value of '{name}' is certain for "
        f"{found.certain:,} of {table.rows:,} people, and for {found.only:,} of them from neither "
        f"release alone; {found.fits:,} fit both. Everyone is taken to stand in both as they are "
        f"now{taken}.",
    )
