"""Checks of one published file that do not depend on how it was made."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..errors import BadInput, listing
from .findings import MOST_ROWS, Check, many, named, numbers
from .reading import idle_dictionaries, read_parquet
from .tables import PublishedTable
from .texts import Codes, is_formula, text_of


def check_formulas(release: PublishedTable) -> Check:
    """Check that no cell is one a spreadsheet would execute."""
    wrong = np.zeros(release.rows, dtype=np.bool_)
    for codes, texts in zip(release.codes, release.texts, strict=True):
        found = [i for i, text in enumerate(texts) if is_formula(text)]
        if found:
            wrong |= np.isin(codes, found)
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
    idle = idle_dictionaries(content)
    if idle:
        return Check(
            name=name,
            holds=False,
            sentence=f"The dictionary of {listing(idle)} in {file} holds values that stand in no "
            "published row.",
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


def check_shares(
    l: float,  # noqa: E741 - the field's own letter
    column: str,
    group: Codes,
    group_of_value: Codes,
    count: Codes,
    *,
    name: str = "frequency-l-diversity",
) -> Check:
    """Check that no value fills more than 1/l of a group.

    Parameters
    ----------
    l : float
    column : str
    group : int64 array of shape (rows,)
    group_of_value, count : int64 arrays of shape (pairs of a group and a value,)
    name : str
        The promise it is checked for.
    """
    sizes = np.bincount(group)
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, group_of_value, count)
    broken = most * l > sizes  # whole numbers: no quotient decides
    worst = float((sizes / most).min()) if len(most) else l
    rows = numbers(broken[group])
    return Check(
        name=name,
        holds=not rows,
        bound=l,
        reached=worst,
        column=column,
        rows=tuple(rows[:MOST_ROWS]),
        sentence=f"l = {l:g} for '{column}' is broken: in {many(int(broken.sum()), 'group')} a "
        f"value fills more than 1/{l:g} of the rows {named(rows)}."
        if rows
        else f"Recomputed from the published file: no value of '{column}' fills more than "
        f"1/{l:g} of a group (1/{worst:.3g} at most).",
    )
