"""Which published files of an earlier release there are: of a folder, or named by one of them."""

from __future__ import annotations

from pathlib import Path

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.file_formats import READ
from anon_core.verification.opening import Content, FileBytes
from anon_core.verification.part_files import is_part, part_names, parts_said, parts_there

#: What the tables of a release are called: of one, and of two.
TABLES = (("release",), ("quasi", "sensitive"))
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
    tables: tuple[tuple[str, ...], ...] = TABLES
    if not place.is_dir():
        if is_part(place.name):
            raise BadInput(
                f"{clipped(place.name)} is a part of the earlier release, which has several.",
                remedy="Name the folder that holds all of them.",
            )
        if place.stem not in TABLES[1] or place.suffix[1:] not in _ENDINGS:
            ending = "parquet" if place.suffix.lower() == ".parquet" else READ
            return {f"release.{ending}": FileBytes(place, "The earlier release")}
        place, tables = place.parent, (TABLES[1],)
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
