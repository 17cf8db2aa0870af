"""About this person? Rows that fit all that is known of them, the chance, and what is learned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..base.errors import BadPlan, listing, nearest
from ..base.wording import times
from ..job.result import Result
from ..release.results import per_cent
from .answer import Answer, Cell, rows_said
from .fitting import fitting


def values_of(result: Result, row: int) -> dict[str, str]:
    """Return the quasi-identifiers of a row of the table, counted from 0.

    Raises
    ------
    BadPlan
        If there is no such row.
    """
    problem = result.problem
    if not 0 <= row < problem.rows:
        raise BadPlan(
            f"The table has no row {row + 1:,}.", remedy=f"Name one from 1 to {problem.rows:,}."
        )
    codes = problem.frequency.codes[problem.frequency.row_key[row]]
    return {
        name: problem.hierarchies[name].leaves[int(codes[d])]
        for d, name in enumerate(problem.quasi)
    }


def about_person(result: Result, known: Mapping[str, str], row: int | None = None) -> Answer:
    """Say what the release tells of a person of whom some values are known.

    Parameters
    ----------
    result : Result
    known : mapping of str to str
        Quasi-identifiers with the values that are known, as the table has them.
    row : int, optional
        The person's row, counted from 0, where it is known which one it is: it is then said whether
        it is published.

    Raises
    ------
    BadPlan
        If nothing is known, or a value is none of its column.
    """
    problem = result.problem
    columns = [name for name in problem.quasi if name in known]
    if not columns or len(columns) < len(known):
        wrong = [name for name in known if name not in problem.quasi]
        raise BadPlan(
            f"{listing(wrong)} is no quasi-identifier." if wrong else "Nothing is known.",
            remedy=f"Give values of some of {listing(problem.quasi)}.",
        )
    leaves: list[int] = []
    for name in columns:
        code = problem.hierarchies[name].code.get(known[name])
        if code is None and not known[name] and problem.hierarchies[name].has_missing:
            code = problem.hierarchies[name].missing_leaf
        if code is None:
            raise BadPlan(
                f"'{name}' never has that value in this table.",
                remedy="Choose one that occurs."
                + nearest(known[name], problem.hierarchies[name].leaves),
                values=[known[name]],
            )
        leaves.append(code)
    person = np.array([leaves], dtype=np.int32)
    rows: list[dict[str, Cell]] = []
    learned: list[str] = []
    found = fitting(result, columns, person)
    fit = float(found.rows[0])
    for column in result.audience.secret:
        told = fitting(result, columns, person, column)
        if not told.rows[0]:
            continue
        share = told.shown[0] / told.rows[0]
        best = int(share.argmax())
        value = told.values[best] or "(missing)"
        how = (
            "for certain"
            if share[best] >= 1 - 1e-9
            else f"with a chance of {per_cent(share[best])}"
        )
        learned.append(f"'{column}' is {value} {how}")
        for at in np.argsort(-share, kind="stable").tolist():
            if share[at] > 0:
                rows.append(
                    {
                        "column": column,
                        "value": told.values[at] or "(missing)",
                        "share of the rows that fit": float(share[at]),
                    }
                )
    standing = ""
    if row is not None:
        standing = (
            " This row is published."
            if result.row_group[row] >= 0
            else " This row is not published."
        )
    if not fit:
        return Answer(
            sentence="No published row fits: whoever has these values is not in the release."
            + standing
        )
    counted = rows_said(round(fit)) if found.exact else f"{fit:,.3g} rows on average"
    chance = times(min(1 / fit, 1.0))
    verb = "fits" if found.exact and round(fit) == 1 else "fit"
    words = f"{counted} {verb}, so the right one is picked {chance}."
    told_words = f" The best guess: {'; '.join(learned)}." if learned else ""
    return Answer(
        sentence=f"{words}{told_words}{standing}",
        rows=tuple(rows),
        note="The chance holds for somebody who is known to be in the release"
        + (
            "."
            if found.exact
            else "; columns are permuted apart, so rows are averaged over all ways to put them "
            "together."
        ),
    )
