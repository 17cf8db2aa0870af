"""What every command ends with: its exit status, and what goes to standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.errors import clipped
from anon_core.base.plain_values import finite

_MOST_LETTERS = 20_000
#: Told where a killed run had left something private behind.
LEFT_OVER = "An earlier run was killed; what it had put aside of the table was removed.\n"
#: Exit statuses.
OK, ERROR, INFEASIBLE, BROKEN, CHANGED, NOT_FOUND, STOPPED = 0, 1, 2, 3, 4, 5, 130


def write_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output."""
    json.dump(finite(value), sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def tell(line: str) -> None:
    """Write one line to standard output.

    Signs that a terminal would carry out are spelled, since lines name columns and paths.
    """
    sys.stdout.write(clipped(line, _MOST_LETTERS) + "\n")


def note(notes: Sequence[str]) -> None:
    """Tell what was renewed in a recipe of an older version."""
    for note in notes:
        sys.stderr.write(f"Older recipe: {note}\n")
