"""Level files, as ARX writes them: one line a value, then its label on each level."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ..errors import BadHierarchy
from ..table import MISSING, Column
from .building import from_rows
from .model import Hierarchy


def parse_levels(text: str, name: str) -> list[list[str]]:
    """Read a level table: ``;`` or ``,`` separated, quoted or not, value first.

    Raises
    ------
    BadHierarchy
        If the text holds no line.
    """
    lines = text.lstrip("\ufeff").splitlines()
    first = next((line for line in lines if line.strip()), "")
    separator = ";" if ";" in first else ","
    rows = [
        row for row in csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=separator) if row
    ]
    if not rows:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is empty.",
            remedy="It needs one line per value: the value, then its label on each level.",
        )
    return rows


def levels_csv(hierarchy: Hierarchy) -> str:
    """Return a hierarchy as the text of a level file, one line a value, separated by semicolons.

    The missing value is left out: it hangs under the root by itself.
    """
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(
        row for row in hierarchy.rows() if row[0] != MISSING
    )
    return text.getvalue()


def read_levels(path: Path, name: str) -> list[list[str]]:
    """Read a hierarchy file.

    Raises
    ------
    BadHierarchy
        If the file is not there, is no UTF-8 text, or is empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' cannot be read: {path.name} ({error.strerror}).",
            remedy="Check the path; it is relative to the recipe.",
        ) from error
    except UnicodeDecodeError as error:
        raise BadHierarchy(
            f"The hierarchy file of '{name}' is not UTF-8 text ({path.name}, byte {error.start}).",
            remedy="Save it as UTF-8.",
        ) from error
    return parse_levels(text, name)


def read_hierarchy(path: Path, column: Column) -> Hierarchy:
    """Read a column's hierarchy from a level file; see `from_rows` for what is refused."""
    return from_rows(column, read_levels(path, column.name))
