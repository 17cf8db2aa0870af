"""Checks of one published file that do not depend on how it was made."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import BadInput
from .findings import MOST_ROWS, Check, many, named, numbers
from .reading import read_parquet
from .tables import PublishedTable
from .texts import is_formula, text_of


def check_formulas(release: PublishedTable) -> Check:
    """Check that no cell is one a spreadsheet would execute."""
    wrong = np.zeros(release.rows, dtype=np.bool_)
    for codes, texts in zip(release.codes, release.texts, strict=True):
        wrong |= np.array([is_formula(t) for t in texts], dtype=np.bool_)[codes]
    rows = numbers(wrong)
    return Check(
        name="formulas",
        holds=not rows,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{many(len(rows), 'row', 'has', 'have')} a cell that a spreadsheet could "
        f"execute {named(rows)}."
        if rows
        else "No cell starts like a formula.",
    )


def check_readable(release: PublishedTable) -> Check | None:
    """Return a broken check where rows differ in length from the header, else nothing."""
    if not release.ragged:
        return None
    what = many(len(release.ragged), "published row", "differs", "differ")
    return Check(
        name="readable",
        holds=False,
        rows=tuple(release.ragged[:MOST_ROWS]),
        sentence=f"{what} in length from the header {named(release.ragged)}.",
    )


def check_parquet(release: PublishedTable, content: bytes, file: str) -> Check:
    """Check that a Parquet file says what the CSV file says."""
    name = "parquet"
    try:
        frame = read_parquet(content, file, every=True)
    except BadInput as error:
        return Check(name=name, holds=False, sentence=error.message)
    if list(frame.columns) != release.header or len(frame) != release.rows:
        return Check(
            name=name,
            holds=False,
            sentence="The Parquet file has other columns or more or fewer rows than the CSV file.",
        )
    wrong = np.zeros(release.rows, dtype=np.bool_)
    for place, column in enumerate(release.header):
        spelling = release.spelling(column)
        codes, values = pd.factorize(frame.iloc[:, place])
        texts = ["", *(text_of(value) for value in values)]  # code -1 is null, an empty cell
        pairs = release.codes[place] * len(texts) + codes + 1
        unlike = [
            pair
            for pair in np.unique(pairs).tolist()
            if spelling.key(release.texts[place][pair // len(texts)])
            != spelling.key(texts[pair % len(texts)])
        ]
        wrong |= np.isin(pairs, unlike)
    rows = numbers(wrong)
    return Check(
        name=name,
        holds=not rows,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"{many(len(rows), 'row', 'differs', 'differ')} between the Parquet and the CSV "
        f"file {named(rows)}."
        if rows
        else "The Parquet file holds the same rows in the same order.",
    )
