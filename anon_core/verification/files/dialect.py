"""The file for the reader's spreadsheet, written again from the cells as the recipe promises it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check

#: What follows a table's name in that of the file.
ENDING = "spreadsheet.csv"
_KNOWN: Mapping[str, tuple[object, ...]] = {
    "separator": (",", ";", "\t", "|"),
    "decimal": ("", ",", "."),
    "bom": (False, True),
    "line_end": ("lf", "crlf"),
    "quotes": ("needed", "all"),
}


def names_of(tables: list[str]) -> list[str]:
    """Return what the files of some tables would be called."""
    return [f"{table}.{ENDING}" for table in tables]


def check_dialect(
    export: Mapping[str, Any], published: Mapping[str, PublishedTable], files: Mapping[str, Content]
) -> list[Check]:
    """Check that each such file has the promised marks, the cells of the release, and no more.

    Raises
    ------
    BadPlan
        If what the recipe promises is no dialect.
    """
    promised = _promised(export)
    found: list[Check] = []
    for name, release in published.items():
        file = f"{name}.{ENDING}"
        if file not in files:
            continue
        if promised is None:
            sentence = f"{file} is there, but the recipe declares no file for a spreadsheet."
            found.append(Check(name="dialect", holds=False, sentence=sentence))
            continue
        same = files[file][:] == _again(release, promised)
        found.append(
            Check(
                name="dialect",
                holds=same,
                sentence=f"{file} is, byte for byte, what is written of the same rows with the "
                "marks that the recipe declares."
                if same
                else f"{file} is not byte for byte what is written of the release's cells with the "
                "separator, decimal mark, line ends and quotes that the recipe declares.",
            )
        )
    return found


def check_presence(
    export: Mapping[str, Any], tables: list[str], files: Mapping[str, Content]
) -> list[Check]:
    """Check that what the recipe promises for a spreadsheet is there."""
    gone = [name for name in names_of(tables) if name not in files]
    if _promised(export) is None or not gone:
        return []
    sentence = f"{gone[0]} is missing, which the recipe declares for a spreadsheet."
    return [Check(name="dialect", holds=False, sentence=sentence)]


def _promised(export: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if "dialect" not in export:
        return None
    given = cast(object, export["dialect"])
    table = cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {"": given}
    for key, value in table.items():
        if key not in _KNOWN or (value, type(value)) not in [(v, type(v)) for v in _KNOWN[key]]:
            raise BadPlan("The recipe's dialect is none.", remedy="Correct [export.dialect].")
    return {**{key: values[0] for key, values in _KNOWN.items()}, **table}


def _again(release: PublishedTable, marks: Mapping[str, Any]) -> bytes:
    """Write a release's distinct lines once, and each row as its line."""
    between, end = marks["separator"], "\r\n" if marks["line_end"] == "crlf" else "\n"
    only = len(release.header) == 1

    def cell(text: str) -> str:
        if marks["decimal"]:
            text = re.sub(r"\A([+-]?[0-9]+)[.,]([0-9]+)\Z", rf"\1{marks['decimal']}\2", text)
        plain = re.search(rf'[{re.escape(between)}"\r\n]', text) is None and (text or not only)
        if plain and marks["quotes"] == "needed":
            return text
        return '"' + text.replace('"', '""') + '"'

    pools = [[cell(text) for text in texts] for texts in release.texts]
    line = release.line_of_row
    _, first = np.unique(line, return_index=True)
    written = [
        between.join(pool[codes[row]] for pool, codes in zip(pools, release.codes, strict=True))
        + end
        for row in first.tolist()
    ]
    begin = "\ufeff" if marks["bom"] else ""
    head = between.join(map(cell, release.header)) + end
    return (begin + head + "".join([written[place] for place in line.tolist()])).encode()
