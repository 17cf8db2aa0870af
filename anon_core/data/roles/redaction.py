"""Names redacted in a column's texts, before anything else looks at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadPlan, brief
from anon_core.data.column import Column, encode
from anon_core.data.roles.names_in_text import holding_names, without_names, words_of_names
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS


def redacted_of(given: Mapping[str, Any], roles: Roles) -> dict[str, tuple[str, ...]]:
    """Read the recipe's ``[redacted]``: by column the identifiers whose words it must not hold.

    Raises
    ------
    BadPlan
        If a column is not published as text, or a source is none of the hidden columns.
    """
    hidden = roles.hidden
    shown = [n for n in (*roles.insensitive, *roles.sensitive) if n not in roles.quasi]
    found: dict[str, tuple[str, ...]] = {}
    for column, sources in given.items():
        names = cast("list[object]", sources) if isinstance(sources, list | tuple) else []
        if not names or any(name not in hidden for name in names) or column not in shown:
            raise BadPlan(
                f"[redacted] '{column}' is {brief(sources)}.",
                remedy="Name an insensitive or sensitive column, and the identifiers whose words "
                'are to be taken out of it: note = ["name"].',
            )
        found[column] = tuple(cast("list[str]", names))
    return found


def without_redacted(redacted: Mapping[str, Sequence[str]], dataset: Dataset) -> Dataset:
    """Return the table without the names that a plan redacts.

    Parameters
    ----------
    redacted : mapping of str to sequence of str
        By column the identifiers whose words are taken out of it.
    dataset : Dataset
        With the kinds of its columns.

    Raises
    ------
    BadPlan
        If a column holds no texts.
    BadInput
        If a column is not in the table.
    """
    if not redacted:
        return dataset
    columns = {column.name: column for column in dataset.columns}
    for name, sources in redacted.items():
        names = frozenset[str]().union(
            *(words_of_names(dataset.column(source).as_read[1]) for source in sources)
        )
        columns[name] = _redacted(dataset.column(name), names)
    return replace(dataset, columns=tuple(columns.values()))


def _redacted(column: Column, names: frozenset[str]) -> Column:
    if KINDS[column.kind].measured:
        raise BadPlan(
            f"[redacted] names '{column.name}', which holds {KINDS[column.kind].several}, no "
            "texts.",
            remedy="Take the column out of [redacted], or leave it out of the release.",
        )
    held = holding_names(column.values, names)
    texts = [
        without_names(v, names) if h else v
        for v, h in zip(column.values, held.tolist(), strict=True)
    ]
    pool = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(pool)}
    codes = np.array([*(place[text] for text in texts), -1], dtype=np.int32)[column.codes]
    made = encode(column.name, codes, pool, kind=column.kind, thousands="")
    return replace(made, origin=column.origin)
