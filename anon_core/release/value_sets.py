"""The members of a published value set: ``{F, "a, b"}``, as `vocabulary.range_texts` writes it."""

from __future__ import annotations

import csv


def members_of(text: str) -> tuple[str, ...] | None:
    """Return what a value set holds; None where a text is none.

    Examples
    --------
    >>> members_of('{F, "a, b"}'), members_of("F")
    (('F', 'a, b'), None)
    """
    if len(text) < 2 or not (text.startswith("{") and text.endswith("}")):
        return None
    (row,) = csv.reader([text[1:-1]], skipinitialspace=True) if text[1:-1] else ([""],)
    return tuple(row)
