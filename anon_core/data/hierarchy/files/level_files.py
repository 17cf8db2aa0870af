"""Hierarchy files: level files as ARX writes them, ``parent : child`` lines, or JSON."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
from anon_core.base.errors import BadHierarchy, clipped
from anon_core.data.column import Column
from anon_core.data.hierarchy.construction import LevelRows, from_rows
from anon_core.data.hierarchy.files.json_file import parse_json
from anon_core.data.hierarchy.files.relations import is_relations, parse_relations
from anon_core.data.hierarchy.model import Hierarchy
from anon_core.data.table import MISSING

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
        # The sign between words distinguishes columns that are alike without it.
        own = [one for one in files if PurePath(one).stem == column]
        alike = [one for one in files if _bare(PurePath(one).stem) == bare[column]]
        holding = [one for one in files if bare[column] in _without_the_word(PurePath(one).stem)]
        by_column[column] = [own, alike, holding]
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
    candidates = {one for fit in unclear.values() for one in fit}
    left = tuple(one for one in files if one not in taken and one not in candidates)
    ordered = {column: found[column] for column in columns if column in found}
    return Matched(files=ordered, unclear=unclear, left=left)


def _bare(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _without_the_word(stem: str) -> tuple[str, ...]:
    """Return what is before and after “hierarchy” in a name; nothing where it is not in it."""
    parts = _WORD.split(stem.casefold())
    return tuple(_bare(part) for part in (parts[0], parts[-1])) if len(parts) > 1 else ()


def parse_levels(text: str, name: str) -> list[list[str]]:
    """Read a hierarchy file of any format as a level table, the value first.

    JSON, ``parent : child, child`` lines, or a level file: one line a value, ``;`` or ``,``
    separated, quoted or not.

    Raises
    ------
    BadHierarchy
        If the text holds no line, or cannot be read; names the line.

    Examples
    --------
    >>> parse_levels("Root : A\\nA : a", "x") == parse_levels('"a","A","*"', "x")
    True
    """
    text = text.lstrip("\ufeff")
    if re.match(r"\s*\{\s*\"", text):
        return _writable(parse_json(text, name), name)
    if is_relations(text):
        return _writable(parse_relations(text, name), name)
    rows, error = _separated(text, name)
    if error is not None:
        raise error
    if not rows:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is empty.",
            remedy="It needs one line per value: the value, then its label on each level.",
        )
    return rows


def _writable(rows: list[list[str]], name: str) -> list[list[str]]:
    """Refuse halves of characters, which an escape in JSON can write and no file can hold."""
    for row in rows:
        try:
            "".join(row).encode()
        except UnicodeEncodeError as error:
            raise BadHierarchy(
                f"Hierarchy file of '{name}': a label holds half of a character (an escape such as "
                "\\ud800), which cannot be written.",
                remedy="Write the label's characters as they are, in UTF-8.",
            ) from error
    return rows


def _separated(text: str, name: str) -> tuple[LevelRows, BadHierarchy | None]:
    """Return the cells of a level file; the separator is the one that gives it a single top."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    first = next((line for line in text.splitlines() if line.strip()), "")
    found: dict[str, tuple[LevelRows, BadHierarchy | None]] = {}
    for separator in ";," if ";" in text else ",":
        reader = csv.reader(io.StringIO(text), delimiter=separator)
        rows = LevelRows()
        error: BadHierarchy | None = None
        begin = 1
        try:
            for row in reader:
                if row:
                    rows.append(row)
                    rows.lines.append(begin)
                begin = reader.line_num + 1
        except csv.Error as problem:
            error = BadHierarchy(
                f"Hierarchy file of '{name}', line {reader.line_num}: it cannot be read "
                f"({problem}).",
                remedy="Check the quotes and separators of that line.",
            )
        if error is None and len({(len(row), row[-1]) for row in rows}) == 1 and len(rows[0]) > 1:
            return rows, None
        found[separator] = (rows, error)
    return found[";" if ";" in first else ","]


def levels_csv(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as the text of a level file, one line a value, separated by semicolons.

    The missing value is left out: it hangs under the root by itself.
    """
    rows = [list(row) for row in hierarchy.rows() if row[0] != MISSING]
    return rows_csv(rows, hierarchy.column)


def rows_csv(rows: Sequence[Sequence[str]], column: str) -> str:
    """Return a level table as the text of a level file, one line a value."""
    plain = [list(row) for row in rows]
    written = ""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n", quoting=quoting).writerows(plain)
        written = text.getvalue()
        # A text may look like another format unless all is quoted.
        with suppress(BadHierarchy):
            if [list(row) for row in parse_levels(written, column)] == plain:
                break
    return written


def read_levels(path: Path, name: str) -> list[list[str]]:
    """Read a hierarchy file.

    Raises
    ------
    BadHierarchy
        If the file is not there, is no UTF-8 text, or is empty.
    """
    try:
        text = read_regular(path, MOST_TEXT_BYTES).decode("utf-8-sig")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' cannot be read: {clipped(path.name)} "
            f"({error.strerror}).",
            remedy="Check the path; it is relative to the recipe.",
        ) from error
    except UnicodeDecodeError as error:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is not UTF-8 text ({clipped(path.name)}, byte "
            f"{error.start}).",
            remedy="Save it as UTF-8.",
        ) from error
    return parse_levels(text, name)


def read_hierarchy(path: Path, column: Column) -> Hierarchy:
    """Read a column's hierarchy from a level file; see `from_rows` for what is refused."""
    return from_rows(column, read_levels(path, column.name))
