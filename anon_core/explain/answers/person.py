"""About this person? Rows that fit all that is known of them, the chance, and what is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anon_core.base.arrays import I32
from anon_core.base.errors import BadInput, BadPlan, listing
from anon_core.base.terms import times
from anon_core.data.table import Dataset
from anon_core.explain.answers import Answer, Cell, rows_said
from anon_core.explain.answers.fitting import Covers, fitting
from anon_core.pipeline.result import Result
from anon_core.release.knowledge.people import encode_population
from anon_core.release.outcome import per_cent


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
    """Say what the release says of a person of whom some values are known.

    Parameters
    ----------
    known : mapping of str to str
        Quasi-identifiers with the values that are known, written as in the table; no one there
        needs to have them.
    row : int, optional
        The person's row, counted from 0, where it is known which one it is: it is then said whether
        it is published.

    Raises
    ------
    BadPlan
        If nothing is known, or a value is not a number or date where its column holds such.
    """
    problem = result.problem
    columns = [name for name in problem.quasi if name in known]
    if not columns or len(columns) < len(known):
        wrong = [name for name in known if name not in problem.quasi]
        raise BadPlan(
            f"{listing(wrong)} is not a quasi-identifier." if wrong else "Nothing is known.",
            remedy=f"Give values of some of {listing(problem.quasi)}.",
        )
    person, covers = _leaves(result, {name: known[name] for name in columns})
    rows: list[dict[str, Cell]] = []
    learned: list[str] = []
    found = fitting(result, columns, person, covers=covers)
    fit = float(found.rows[0])
    for column in result.audience.secret:
        matches = fitting(result, columns, person, column, covers)
        if not matches.rows[0]:
            continue
        share = matches.shown[0] / matches.rows[0]
        best = int(share.argmax())
        value = matches.values[best] or "(missing)"
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
                        "value": matches.values[at] or "(missing)",
                        "share of the rows that fit": float(share[at]),
                    }
                )
    standing = _standing(result, columns, person, row, own=covers is None)
    if not fit:
        return Answer(
            sentence="No published row fits: a person with these values is not in the release."
            f"{standing}"
        )
    counted = rows_said(round(fit)) if found.exact else f"{fit:,.3g} rows on average"
    chance = times(min(1 / fit, 1.0))
    verb = "fits" if found.exact and round(fit) == 1 else "fit"
    words = f"{counted} {verb}, so the right one is picked {chance}."
    guess_words = f" The best guess: {'; '.join(learned)}." if learned else ""
    return Answer(
        sentence=f"{words}{guess_words}{standing}",
        rows=tuple(rows),
        note="The chance holds for a person who is known to be in the release"
        + (
            "."
            if found.exact
            else "; columns are permuted separately, so rows are averaged over all ways to "
            "combine them."
        ),
    )


def _leaves(result: Result, known: Mapping[str, str]) -> tuple[I32, Covers | None]:
    """Return what is known as leaves, shape (1, columns), and what texts cover of further leaves.

    Values that no one of the table has are leaves of their own, as those of a population are.
    """
    problem = result.problem
    leaves: list[int] = []
    for name, value in known.items():
        hierarchy = problem.hierarchies[name]
        code = hierarchy.code.get(value)
        if code is None and not value and hierarchy.has_missing:
            code = hierarchy.missing_leaf
        leaves.append(-1 if code is None else code)
    if min(leaves) >= 0:
        return np.array([leaves], dtype=np.int32), None
    one = Dataset.from_frame(pd.DataFrame({name: [value] for name, value in known.items()}))
    try:
        people = encode_population(
            one, problem.dataset, problem.roles, problem.hierarchies, people=0
        )
    except BadInput as error:
        new = [name for name, leaf in zip(known, leaves, strict=True) if leaf < 0]
        kinds = ", ".join(f"'{n}' is {problem.dataset.column(n).kind}" for n in new)
        raise BadPlan(
            f"What was typed cannot be read as the table's columns are: {kinds}.",
            remedy="Write it as the table does.",
            values=list(known.values()),
        ) from error
    assert people is not None
    assert people.codes is not None
    places = [problem.quasi.index(name) for name in known]
    covers = {name: people.cover(result.release.view.vocabularies[name]) for name in known}
    return people.codes[:, places], covers


def _standing(
    result: Result, columns: Sequence[str], person: I32, row: int | None, *, own: bool
) -> str:
    """Say whether they are in the table, and published: what the attacker would like to know."""
    if row is not None:
        there = "is" if result.row_group[row] >= 0 else "is not"
        return f" This row {there} published."
    if not own:
        return " No one in the table has exactly these values."
    frequency = result.problem.frequency
    places = [result.problem.quasi.index(name) for name in columns]
    keys = np.flatnonzero(np.all(frequency.codes[:, places] == person, axis=1))
    here = np.isin(frequency.row_key, keys)
    rows, shown = int(here.sum()), int((here & (result.row_group >= 0)).sum())
    if not rows:
        return " No one in the table has exactly these values."
    verb = "has" if rows == 1 else "have"
    return f" In the table {rows_said(rows)} {verb} exactly these values; {shown:,} published."
