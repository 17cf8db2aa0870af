"""Reading SPSS, Stata and SAS files, with their labels and the values they declare as missing.

pyreadstat reads .sav, .zsav, .por, .dta, .sas7bdat and .xpt. A value and its label are kept
separate: the table holds the one that a person chooses, and `Meaning` holds both.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.base.terms import few
from anon_core.data.frames import coded_series, plain_text, refuse_unwritable
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.limits import MOST_CELLS, MOST_COLUMNS, too_many_cells, too_wide
from anon_core.data.reading.loading import statistics_format
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import Dataset, Meaning, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

#: Labels of values that a note says of at most.
_MOST_LISTED = 6


def read_statistics(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    """Return the table that an SPSS, Stata or SAS file holds."""
    found = statistics_format(data)
    assert found is not None
    reader, what = found
    _refuse_large(data, reader, what, options, name)
    frame, metadata = _read(data, reader, what, options, name)
    names = [str(n).strip() for n in frame.columns]
    check_names(names)
    check_kinds(kinds, names)
    if len(frame) == 0:
        raise BadInput(
            f"{name} has {len(names)} columns but no rows.",
            remedy="Load a table with at least one row.",
        )
    declared = _declared_missing(data, reader, what, options, name, frame)
    columns = [coded_series(frame.iloc[:, place]) for place in range(len(names))]
    refuse_unwritable(names, columns)
    made = []
    meanings: dict[str, Meaning] = {}
    for own, plain, (codes, pool) in zip(frame.columns, names, columns, strict=True):
        meaning = _meaning(metadata, str(own))
        notes = _notes(meaning, declared.get(str(own), 0))
        present = {pool[code] for code in np.unique(codes[codes >= 0]).tolist()}
        if options.value_labels == "labels" and meaning.labels:
            gone = present - meaning.labels.keys()
            if gone:
                notes.append(
                    f"The file has labels for {len(present) - len(gone)} of its {len(present)} "
                    "values only, so the values stay as they are."
                )
            else:
                pool = [meaning.labels.get(text, text) for text in pool]
                if len({meaning.labels[text] for text in present}) < len(present):
                    notes.append("Several codes of the file have one label, and are one value.")
        own_texts = all(isinstance(cell, str) for cell in frame[own])
        column = read_column(plain, codes, pool, options, kinds.get(plain), written=own_texts)
        made.append(column.with_notes(*notes))
        if meaning != Meaning():
            meanings[plain] = meaning
    labelled = any(meaning.labels for meaning in meanings.values())
    notes = (
        (
            "Values with labels are read as "
            + ("their labels." if options.value_labels == "labels" else "their codes.")
            + " The other way is chosen where it is said how the file is read.",
        )
        if labelled
        else ()
    )
    return Dataset(
        columns=tuple(made), rows=len(frame), source=name, notes=notes, meanings=meanings
    )


def _read(
    data: bytes, reader: str, what: str, options: DataOptions, name: str, **more: object
) -> tuple[Any, Any]:
    """Return what pyreadstat makes of the bytes: a frame, and what the file says of it."""
    import pyreadstat

    read = cast(Callable[..., tuple[Any, Any]], getattr(pyreadstat, reader))
    if options.encoding and reader != "read_por":  # which has one of its own
        more["encoding"] = options.encoding
    try:
        return read(io.BytesIO(data), **more)
    except (OverflowError, ValueError) as error:
        raise BadInput(
            f"{name} holds a day or a time outside the years 1 to 9999, or a text that is "
            "not in the encoding that it names.",
            remedy="Correct it in the program it comes from, or choose the encoding.",
        ) from error
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise BadInput(
            f"{name} is a broken or encrypted {what} file.",
            remedy="Copy it again, or save it again without a password.",
        ) from error


def _refuse_large(data: bytes, reader: str, what: str, options: DataOptions, name: str) -> None:
    """Refuse a file that declares more cells than are read, before any of them is unpacked."""
    _, metadata = _read(data, reader, what, options, name, metadataonly=True)
    rows, width = metadata.number_rows or 0, len(metadata.column_names)
    if width > MOST_COLUMNS:
        raise too_wide(name, width)
    if rows * width > MOST_CELLS:
        raise too_many_cells(name, rows, width)


def _declared_missing(
    data: bytes, reader: str, what: str, options: DataOptions, name: str, frame: Any
) -> dict[str, int]:
    """Return by column how many cells hold a value that the file declares as missing."""
    if reader in ("read_por", "read_xport"):
        return {}
    full, _ = _read(data, reader, what, options, name, user_missing=True)
    gone = (frame.isna() & full.notna()).sum()
    return {str(column): int(count) for column, count in gone.items() if count}


def _meaning(metadata: Any, column: str) -> Meaning:
    labels = cast(Mapping[object, object], metadata.variable_value_labels.get(column, {}))
    return Meaning(
        title=str(metadata.column_names_to_labels.get(column) or "").strip(),
        labels={plain_text(code).strip(): str(label).strip() for code, label in labels.items()},
    )


def _notes(meaning: Meaning, declared: int) -> list[str]:
    """Say what the file says of a column."""
    notes: list[str] = []
    if meaning.title:
        notes.append(f"Its title in the file: {meaning.title}.")
    if meaning.labels:
        labels = [f"{code} = {label}" for code, label in meaning.labels.items()]
        notes.append(f"Labels in the file: {few(labels, _MOST_LISTED)}.")
    if declared:
        notes.append(
            f"{declared:,} {'cell holds a value' if declared == 1 else 'cells hold values'} that "
            f"the file declares as missing, and {'is' if declared == 1 else 'are'} missing here."
        )
    return notes
