"""Is every published row of a release of whole rows true of a row of the table of its own?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anon_core.verification.findings import Check, many, named, undecided
from anon_core.verification.rows.lines import Lines
from anon_core.verification.rows.matching import (
    TooLarge,
    beyond,
    covering_pairs,
    sole_text,
    text_runs,
    without_partner,
)
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.claims import untrue
from anon_core.verification.text.texts import Codes, Cover, PrivateColumn


def check_coverage(
    names: Sequence[str],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> list[Check]:
    """Check that every published row is true of a row of the table of its own.

    Rows of the table are points, classes boxes that cover points. A published row of a class needs
    a row of the table that the class covers, with the same values in the columns published exactly.
    `names` are the quasi-identifiers whose cells cover values.
    """
    if not release.has(promise.published):
        return [undecided("coverage", "Coverage cannot be recomputed: columns are missing.")]
    broken: list[Check] = []
    covers = [table.cover(n, release.texts_of(n)) for n in names]
    for name, cover in zip(names, covers, strict=True):
        codes = release.codes_of(name)
        shown = release.texts_of(name)
        claimed = () if name in promise.label_names else levels.get(name, ())
        false = untrue(claimed, table.columns[name].spelling, shown)
        for texts, what in (
            (
                tuple(i for i, text in enumerate(shown) if text in false),
                "labels that claim a range or beginning not all of their values have",
            ),
            (cover.unknown, "texts that no level of its hierarchy and no value explains"),
            (cover.ambiguous, "texts that mean different things on different levels"),
        ):
            rows = release.rows_of(np.isin(codes, texts))
            if rows:
                broken.append(
                    Check(
                        name="coverage",
                        holds=False,
                        column=name,
                        rows=rows.first,
                        sentence=f"Column '{name}' shows {what} {named(rows)}.",
                    )
                )
    if broken:
        return broken
    try:
        rows = release.last_rows_of(_alone(names, promise, release, table, covers))
    except TooLarge as error:
        return [undecided("coverage", f"Coverage is not decided. {error.message}")]
    return [
        Check(
            name="coverage",
            holds=not rows,
            bound=float(release.rows),
            reached=float(release.rows - len(rows)),
            rows=rows.first,
            sentence=f"{many(len(rows), 'published row', 'has', 'have')} no row of the table of "
            f"its own to be true of {named(rows)}."
            if rows
            else f"Each of the {release.rows} published rows is true of a row of the table of its "
            f"own.{_taken_for_names(promise)}",
        )
    ]


def _taken_for_names(promise: Promise) -> str:
    """Return which labels were not held against their values, beginning with a blank."""
    if not promise.label_names:
        return ""
    columns = ", ".join(f"'{name}'" for name in sorted(promise.label_names))
    return f" Labels of {columns} are names, as the recipe confirms: what they say is not checked."


def _alone(
    names: Sequence[str],
    promise: Promise,
    release: Lines,
    table: PrivateTable,
    covers: Sequence[Cover],
) -> Codes:
    """Return how many rows of each line have no row of the table of their own to be true of.

    Raises
    ------
    TooLarge
        If it can't be decided.
    """
    # What is published exactly, coded alike in both tables; a value the table lacks is 0.
    exact = [
        np.concatenate([table.codes(n), _table_codes(table.columns[n], release, n)]) + 1
        for n in promise.exact
    ]
    sizes = [table.columns[n].missing + 1 for n in names]
    runs = [cover.runs for cover in covers]
    sole = [sole_text(own, size) for own, size in zip(runs, sizes, strict=True)]
    texts = [text for text in sole if text is not None]
    if len(texts) == len(names):
        # No two texts share a value: every row of the table can stand in one class only.
        both = [
            np.concatenate([(text + 1)[table.codes(n)], release.codes_of(n) + 1])
            for n, text in zip(names, texts, strict=True)
        ]
        kind, _ = joined([*both, *exact], len(table) + len(release))
        return beyond(kind[: len(table)], table.count, kind[len(table) :], release.count)
    columns = [text_runs(own, size) for own, size in zip(runs, sizes, strict=True)]
    classes, first = joined([release.codes_of(n) for n in names], len(release))
    boxes = np.stack([release.codes_of(n)[first] for n in names], axis=1)
    coded = [table.codes(n) for n in names]
    point, first = joined(coded, len(table))
    points = np.stack([codes[first] for codes in coded], axis=1)
    payload, _ = joined(exact, len(table) + len(release))
    return without_partner(
        point,
        payload[: len(table)],
        table.count,
        classes,
        payload[len(table) :],
        release.count,
        *covering_pairs(points, boxes, columns),
    )


def _table_codes(column: PrivateColumn, release: Lines, name: str) -> Codes:
    return column.codes_of_texts(release.texts_of(name))[release.codes_of(name)]
