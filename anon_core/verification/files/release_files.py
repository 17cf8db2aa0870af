"""The files of a release: their names, the cells that they show, and how they are written.

Everything is recomputed from what the CSV file says; where the recipe publishes Parquet alone, from
that file. A file of any other format must be, byte for byte, what is written of the same cells.
The run has its own table of formats (`anon_core/pipeline/publish/file_formats.py`); a file of a
format that is not in this one breaks a release.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from anon_core.base.errors import BadInput, clipped, listing
from anon_core.verification.files import writing
from anon_core.verification.files.bounded_reading import Content, FileBytes
from anon_core.verification.files.published import (
    PublishedTable,
    check_readable,
    split_cells,
    split_release,
)
from anon_core.verification.files.reading import joined, read_parquet
from anon_core.verification.findings import Check, Rows, broken, judged, many, named, numbers
from anon_core.verification.recipe import demand, is_whole
from anon_core.verification.rows.tables import PrivateTable
from anon_core.verification.text.cells import Narrow, TextTable
from anon_core.verification.text.texts import Codes, Spelling

# A published table that lies in several files of a format, whose rows follow each other.


_MOST = 9999
_PART = re.compile(r"-[0-9]{4}-of-([0-9]{4})\.(csv|parquet)\Z")


def number_of_parts(export: Mapping[str, Any]) -> int:
    """Return in how many files the recipe publishes a table.

    Raises
    ------
    BadPlan
    """
    number = export.get("parts", 1)
    kept, what = is_whole(number, 1), "The recipe's parts is not a number of files."
    demand(kept and number <= _MOST, what, "Correct [export] parts.")
    return int(number)


def part_names(table: str, parts: int, ending: str) -> list[str]:
    """Return the names of the files of a table that lies in several of one format."""
    return [f"{table}-{nth:04}-of-{parts:04}.{ending}" for nth in range(1, parts + 1)]


def parts_there(table: str, names: Iterable[str], ending: str) -> list[str]:
    """Return which of some files are parts of a table in one format, in their order."""
    mine = (name for name in names if is_part(name) and name.endswith(f".{ending}"))
    return sorted(name for name in mine if table_of(name) == table)


def is_part(name: str) -> bool:
    """Return whether a file is one of several that make up a table."""
    return _PART.search(name) is not None


def parts_said(name: str) -> int:
    """Return of how many files the name of a part says that it is one."""
    found = _PART.search(name)
    return int(found[1]) if found else 1


def table_of(name: str) -> str:
    """Return the table that a published file holds, or a part of it."""
    return _PART.sub("", name) if is_part(name) else name.rpartition(".")[0]


def read_parts(
    names: Sequence[str], files: Mapping[str, Content], read: Callable[[Content, str], TextTable]
) -> TextTable:
    """Read the parts of a published table as one.

    Parameters
    ----------
    read : callable
        Reads one part, by its content and name.

    Raises
    ------
    BadInput
        If one is no file of its format, or has other columns than the first.
    """
    return joined(names, [read(files[name], name) for name in names], "Run it again.")


def odd_csv_part(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> tuple[str, int]:
    """Return the first CSV part that is not the one way to write its share of the rows, and where.

    Where is a row of the table, 0 for the header of the part; the name is empty where all are.
    """
    for name, rows in _shares(release.rows, names):
        row = writing.first_difference(files[name], release, rows)
        if row >= 0:
            return name, rows.start + row if row else 0
    return "", -1


def check_writing(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that a CSV file is, byte for byte, the one way to write its cells.

    Of several, that each is the one way to write its share of the rows.
    """
    odd, row = ("", -1) if release.is_written else odd_csv_part(release, names, files)
    what, where = "a release", f"in row {row}" if row > 0 else "in its header"
    marks = "quotes, line ends and marks that no cell needs"
    written = f"{names[0]} is, byte for byte, the one way to write its cells."
    if len(names) > 1:
        what, where = "a part of a release", f"{where} of the table" if row > 0 else where
        marks = f"other rows than its share, or {marks},"
        written = f"Each of the {len(names)} parts, {names[0]} and so on, is, byte for byte, the "
        written += "one way to write its share of the rows."
    words = f"{odd} is not written as {what} is, first {where}: {marks} could mark a person."
    return judged("writing", Rows(total=1, first=(row,)) if row > 0 else odd, words, written)


def _shares(rows: int, names: Sequence[str]) -> Iterator[tuple[str, range]]:
    """Yield each part with the rows that it has: as many as any other, but for one."""
    for nth, name in enumerate(names):
        yield name, range(rows * nth // len(names), rows * (nth + 1) // len(names))


def check_parts(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that every Parquet part is, byte for byte, what is written of its share of the rows."""
    for name, own in _shares(release.rows, names):
        if not writing.is_parquet_of(files[name], release, own):
            extent = f"rows {own.start + 1:,} to {own.stop:,}" if own else "no row"
            return broken(
                "parquet",
                f"{name} is not, byte for byte, what is written of {extent} of the table that the "
                "parts make up: what else it holds, or leaves out, could mark a person.",
                rows=Rows(total=1, first=(own.start + 1,)),
            )
    sentence = (
        f"Each of the {len(names)} parts, {names[0]} and so on, is, byte for byte, what is written "
        "of its share of the rows in the same order, and holds nothing else."
    )
    return judged("parquet", False, sentence)


# The formats of published files, as the second computation knows them: one row each.


#: Takes a published table, the names of its file or parts, and all files.
FileCheck = Callable[[PublishedTable, Sequence[str], Mapping[str, Content]], Check]
#: Takes a header, and by column the cells as codes into distinct texts; returns the file.
Writer = Callable[[Sequence[str], Sequence[Codes | Narrow], Sequence[list[str]]], bytes]
#: Reads a published Parquet file, with all that is in it.
_read_published = partial(read_parquet, every=True)
_SAME = (
    "{} is, byte for byte, what is written of the same rows in the same order, and holds nothing "
    "else."
)


def read_checked(
    name: str, files: Mapping[str, Content], export: Mapping[str, Any], table: PrivateTable
) -> PublishedTable | Check:
    """Return the cells of a published table, or the check that it cannot be read."""
    if (file := read_from(name, files, export)) not in files:
        return broken("readable", f"The published file {file} is missing.")
    try:
        found = read_release(name, files, table.terms.quasi, table.spelling)
    except BadInput as error:
        return broken("readable", error.message)
    return check_readable(found) or found


def read_release(
    name: str,
    files: Mapping[str, Content],
    quasi: tuple[str, ...],
    spelling: Callable[[str], Spelling],
) -> PublishedTable:
    """Return the cells of a published table: those of its CSV file, or of Parquet without any.

    Where a Parquet file is there whose cells, written as CSV, are the CSV file byte for byte, they
    are read from it: without that, a million rows take a third longer to verify.

    Raises
    ------
    BadInput
        If a file that has to be read is not of its format.
    """
    csv, parquet = (
        [own] if (own := f"{name}.{ending}") in files else parts_there(name, files, ending)
        for ending in (READ, "parquet")
    )

    def of(parts: Sequence[str], read: Callable[[Content, str], TextTable]) -> PublishedTable:
        cells = split_cells(read_parts(parts, files, read))
        if cells is None:
            more = ", or cells without a value" if parts is parquet else ""
            one = parts[0] if parts is csv else f"{name}.parquet"
            raise BadInput(f"{one} has no columns{more}.")
        found = PublishedTable(cells, quasi, spelling)
        found.file = _all_of(name, parts)
        return found

    if csv and len(csv) == len(parquet):
        with suppress(BadInput):
            found = of(parquet, _read_published)
            if _is_in(csv, found, files):
                found.is_written, found.file = True, _all_of(name, csv)
                return found
    if csv == [f"{name}.{READ}"]:
        return PublishedTable(split_release(files[csv[0]]), quasi, spelling)
    return of(csv, _read_csv_part) if csv else of(parquet, _read_published)


def _is_in(csv: Sequence[str], release: PublishedTable, files: Mapping[str, Content]) -> bool:
    """Say whether CSV files are what is written of a table."""
    return not odd_csv_part(release, csv, files)[0]


def _read_csv_part(content: Content, part: str) -> TextTable:
    try:
        found = split_release(content)
        if found.ragged:
            raise BadInput("Rows of the published file differ in length from its header.")
    except BadInput as error:
        raise BadInput(f"{part} cannot be read. {error.message}") from error
    return TextTable.of(found.header, found.columns, found.rows)


def _all_of(name: str, parts: Sequence[str]) -> str:
    """Return what the files of a table are called together; empty for its one CSV file."""
    ending = parts[0].rpartition(".")[2]
    if len(parts) == 1 and not is_part(parts[0]):
        return "" if ending == READ else parts[0]
    return f"{name}-*-of-{len(parts):04}.{ending}"


def read_from(name: str, files: Mapping[str, Content], export: Mapping[str, Any]) -> str:
    """Return the file of a table that is read: CSV, or Parquet where the recipe has no CSV.

    Of a table in parts it is the first that is missing, of any format that has to be there whole.
    """
    if (whole := f"{name}.{READ}") in files:
        return whole
    has_csv = export.get("csv", True) is not False
    if (parts := number_of_parts(export)) == 1:
        return whole if has_csv else f"{name}.parquet"
    wanted = part_names(name, parts, READ if has_csv else "parquet")
    as_parquet = part_names(name, parts, "parquet")
    if any(part in files for part in as_parquet):
        wanted += as_parquet
    return next((part for part in wanted if part not in files), wanted[0])


def check_parquet(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that a Parquet file says what the CSV file says."""
    if len(names) > 1:
        return check_parts(release, names, files)
    name, file = "parquet", names[0]
    content = files[file]
    if writing.is_parquet_of(content, release, range(release.rows)):
        return judged(name, False, _SAME.format(file))
    # It is broken; what follows only finds the words.
    content = content[:]
    try:
        shown = _read_published(content, file)
        shown.prefetch(shown.names)
    except BadInput as error:
        return broken(name, error.message)
    if list(shown.names) != release.header or len(shown) != release.rows:
        what = "The Parquet file has other columns or more or fewer rows than the CSV file."
        return broken(name, what)
    wrong, odd = np.zeros(release.rows, dtype=np.bool_), list[str]()
    for place, title in enumerate(release.header):
        cells, own = shown.column_at(place), np.array(release.texts[place], dtype=object)
        texts = np.array([*cells.texts, ""], dtype=object)  # code -1 is null, an empty cell
        unlike = own[release.codes[place]] != texts[cells.codes]
        odd += [title] if unlike.any() else []
        wrong |= unlike
    rows = numbers(wrong)
    other = f"{_other_writer(content)}: what else it holds could mark a person."
    what = f"{many(len(rows), 'row', 'differs', 'differ')} between the Parquet and the CSV file "
    if rows:
        return broken(name, f"{what}{named(rows)}.", column=odd[0], rows=rows)
    if release.file:
        return broken(name, f"{file} is not byte for byte what is written of its cells{other}")
    what = f"{file} shows the same cells as the CSV file, but is not byte for byte what is written "
    return broken(name, f"{what}of them{other}")


def _other_writer(content: bytes) -> str:
    """Say by what a Parquet file was written, if not by the library that is here."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    here = f"parquet-cpp-arrow version {pa.__version__}"
    maker = ""
    with suppress(UnicodeDecodeError):  # who wrote what is not a text, it was not the one here
        maker = str(pq.read_metadata(pa.BufferReader(content)).created_by)
    return "" if maker == here else f" by {here}, which is here; it names another writer"


def same_bytes(ending: str, write: Writer) -> FileCheck:
    """Return the check that a file is, byte for byte, what `write` makes of the cells."""

    def check(release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]) -> Check:
        (file,) = names
        same = files[file][:] == write(release.header, release.codes, release.texts)
        what = f"{file} is not byte for byte what is written of the CSV file's cells: what else "
        return judged(ending, not same, f"{what}it holds could mark a person.", _SAME.format(file))

    return check


#: By ending.
FORMATS: dict[str, FileCheck] = {"csv": check_writing, "parquet": check_parquet}
#: The file of the mean survey weights of classes.
CLASS_WEIGHTS = "weights.csv"
#: The ending of the format that is read; every published table has a file of it.
READ = "csv"


def file_names(tables: Sequence[str], export: Mapping[str, Any]) -> list[str]:
    """Return the names of the files that published tables may have."""
    parts, csv = number_of_parts(export), export.get("csv", True) is not False
    endings = [ending for ending in FORMATS if csv or ending != READ]
    if parts > 1:
        return [p for name in tables for ending in endings for p in part_names(name, parts, ending)]
    return [f"{name}.{ending}" for name in tables for ending in endings]


def names_of_release(tables: Sequence[str], export: Mapping[str, Any]) -> list[str]:
    """Return the names of all files that a release's folder may hold."""
    typed = [f"{table}.{ending}" for table in tables for ending in writing.TYPED]
    return [*file_names(tables, export), *writing.names_of(list(tables)), *typed, CLASS_WEIGHTS]


def read_files(
    folder: Path, tables: Sequence[str], export: Mapping[str, Any]
) -> dict[str, Content]:
    """Return the files of published tables in a folder by name, of each format that is there.

    Raises
    ------
    BadInput
        If a table has no file of the format that is read, or a file cannot be read.
    """
    whole = export.get("csv", True) is not False and number_of_parts(export) == 1
    needed = {f"{name}.{READ}" for name in tables if whole}
    return {
        name: FileBytes(folder / name, "The published file")
        for name in (*file_names(tables, export), *writing.names_of(list(tables)), CLASS_WEIGHTS)
        if name in needed or os.path.lexists(folder / name)
    }


def check_formats(
    export: Mapping[str, Any], published: Mapping[str, PublishedTable], files: Mapping[str, Content]
) -> list[Check]:
    """Check how every file is written; one that no format has is broken."""
    found = writing.check_dialect(export, published, files)
    for name, release in published.items():
        if not release.file:
            found.append(check_writing(release, [f"{name}.{READ}"], files))
    known = {*writing.names_of(list(published)), CLASS_WEIGHTS}
    for ending, check in FORMATS.items():
        for name, release in published.items():
            known.add(whole := f"{name}.{ending}")
            known |= set(own := parts_there(name, files, ending))
            if whole in files and ending != READ:
                found.append(check(release, [whole], files))
            if own:
                found.append(check(release, own, files))
    if unknown := sorted(set(files) - known):
        what = f"No published table has a file called {listing(unknown)}, and it was not checked."
        found.append(broken("files", what))
    return found


# What a release's folder must hold: the files of the release and nothing else.
#
# Tables of two releases tell more together than either alone, so a file that nobody verified
# breaks the release. A replacement that was stopped half way is named before anything is read.


#: What the command line calls the hidden stage of a folder, next to it or inside.
STAGE = ".anonymity-workbench"


def refuse_unfinished(folder: Path) -> None:
    """Refuse a folder whose release was being replaced when the run was stopped.

    Raises
    ------
    BadInput
    """
    try:
        place = Path(os.path.realpath(folder))
    except ValueError as error:  # a character that no path may hold
        raise BadInput(
            f"{clipped(str(folder))} is not a path to a folder.", remedy="Check its spelling."
        ) from error
    stages = [place / STAGE]
    if place.name:
        stages.append(place.with_name(f".{place.name}{STAGE}"))
    if any((stage / "old").is_dir() for stage in stages):
        raise BadInput(
            f"A run was stopped while it replaced the release in {folder}: files of it are missing "
            "or not those that belong together.",
            remedy="Run a recipe into this folder again: the earlier release is put back first.",
        )


def check_folder(folder: Path, names: Iterable[str]) -> Check:
    """Check that a folder holds no other files than those of the release."""
    known = tuple(names)
    others = sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name not in known or entry.is_symlink() or not entry.is_file()
    )
    return judged(
        "files",
        others,
        f"The folder holds {listing(others)}, which is not a file of this release. Together with "
        "it these may reveal more than the privacy models allow; remove them.",
        "The folder holds the files of this release and nothing else.",
    )
