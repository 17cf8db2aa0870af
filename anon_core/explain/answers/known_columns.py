"""What does someone who knows some columns learn? Rows that fit, people alone, values learned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.base.errors import BadPlan, listing
from anon_core.explain.answers import Answer, Cell
from anon_core.explain.answers.fitting import fitting, known_combinations
from anon_core.pipeline.result import Result
from anon_core.release.outcome import figure, per_cent

#: A chance this near to 1 is one that rounding alone keeps from it.
_SURE = 1 - 1e-9
#: Rows of the table of the answer.
_LISTED = 20


def known_columns(result: Result, columns: Sequence[str], sensitive: str = "") -> Answer:
    """Say what someone learns who knows these columns of everyone in the table.

    Parameters
    ----------
    columns : sequence of str
        Quasi-identifiers, known as they are in the table.
    sensitive : str
        Column of which the most likely value is reported; by default the first sensitive one that
        is not a quasi-identifier, if there is one.

    Returns
    -------
    Answer
        Its table lists the people with the fewest rows that fit first.

    Raises
    ------
    BadPlan
        If a column is of another role, or no one fits a cell for sure.
    """
    secret = result.audience.secret
    if sensitive and sensitive not in secret:
        raise BadPlan(
            f"'{sensitive}' is not a sensitive column that an attacker lacks.",
            remedy=f"Name one of {listing(secret) or 'none: there is none'}.",
        )
    secret_column = sensitive or next(iter(secret), "")
    problem = result.problem
    leaves, people, of_key = known_combinations(problem, columns)
    found = fitting(result, columns, leaves, secret_column)
    published = _published(result, of_key, len(people))
    there = published > 0
    if not there.any():
        return Answer(sentence="No row is published, so nothing is learned.")
    many = int(published.sum())
    fewest = float(found.rows[there].min())
    mean = float((published * found.rows)[there].sum() / many)
    single = int(published[there & (found.rows <= 1 + 1e-9)].sum())
    names = ", ".join(columns)
    words = [
        f"An attacker who knows {names} of a published person finds at least {figure(fewest)} rows "
        f"that fit, and {figure(mean)} on average; {single:,} of {many:,} are unique"
    ]
    best = np.zeros(len(people))
    if secret_column:
        best = found.shown.max(axis=1) / np.maximum(found.rows, 1e-300)
        best[found.rows <= 0] = 0.0
        right = float((published * best)[there].sum() / many)
        sure = int(published[there & (best >= _SURE)].sum())
        words.append(
            f"the most likely '{secret_column}' is in {per_cent(right)} of these rows on average, "
            f"and for {sure:,} people all matching rows agree"
        )
    order = np.lexsort((-best, np.where(there, found.rows, np.inf)))[:_LISTED]
    rows: list[dict[str, Cell]] = []
    for at in order[there[order]].tolist():
        row: dict[str, Cell] = {
            name: problem.hierarchies[name].leaves[leaves[at, d]] or "(missing)"
            for d, name in enumerate(columns)
        }
        row |= {"people": int(published[at]), "rows that fit": float(found.rows[at])}
        if secret_column:
            row |= {
                f"most likely {secret_column}": found.values[int(found.shown[at].argmax())]
                or "(missing)",
                "share of them": float(best[at]),
            }
        rows.append(row)
    note = "" if found.exact else _APART
    if result.counted == "people":
        note = f"Rows are counted, and one person has several. {note}".strip()
    return Answer(sentence="; ".join(words) + ".", rows=tuple(rows), note=note)


_APART = (
    "Columns are permuted separately, so which cells belong together is open: rows that fit are "
    "counted on average over all ways to combine the columns of a group."
)


def _published(result: Result, of_key: np.ndarray, combinations: int) -> np.ndarray:
    """Return the published rows of each combination, shape (combinations,)."""
    grouping = result.release.grouping
    kept = grouping.member >= 0
    return np.bincount(
        of_key[grouping.key[kept]], weights=grouping.count[kept], minlength=combinations
    ).astype(np.int64)
