"""Is a release true whose cells are coarsened and whose columns are permuted apart?"""

from __future__ import annotations

import numpy as np

from anon_core.verification.findings import Check, Rows, many, named, undecided
from anon_core.verification.lines import Lines
from anon_core.verification.match import TooLarge, covering_pairs, text_runs, without_partner
from anon_core.verification.tables import PrivateTable, Promise, joined


def check_coarsened(
    promise: Promise,
    release: Lines,
    table: PrivateTable,
) -> list[Check]:
    """Check column by column that every cell is true of a row of the table of its own.

    Which rows form a group cannot be read from the publication.
    """
    if release.rows != table.rows or not release.has(promise.published):
        return [undecided("truth", "Whether the cells are true cannot be recomputed.")]
    broken: list[Check] = []
    for name in promise.published:
        found = _check_column(name, promise, release, table)
        if found is not None:
            broken.append(found)
    if broken:
        return broken
    return [
        Check(
            name="truth",
            holds=True,
            bound=float(table.rows),
            reached=float(table.rows),
            sentence=f"In every column each of the {table.rows} cells is true of a row of the "
            "table of its own. Which rows form a group cannot be read from the publication.",
        )
    ]


def _check_column(
    name: str,
    promise: Promise,
    release: Lines,
    table: PrivateTable,
) -> Check | None:
    column = table.columns[name]
    texts, codes = release.texts_of(name), release.codes_of(name)
    if name in promise.quasi:
        cover = table.cover(name, texts)
        unclear = [*cover.unknown, *cover.ambiguous]
        if unclear:
            rows = release.rows_of(np.isin(codes, unclear))
            what = f"Column '{name}' shows texts without one clear meaning {named(rows)}."
            return _broken(name, rows, what)
        runs = cover.runs
    else:
        told = [column.code_of_text(text) for text in texts]
        runs = tuple(((code, code),) if code >= 0 else () for code in told)
    own = table.codes(name)
    point, first = joined([own], len(table))
    shown, text = joined([codes], len(release))
    try:
        pairs = covering_pairs(
            own[first][:, None], codes[text][:, None], [text_runs(runs, column.missing + 1)]
        )
        alone = without_partner(
            point,
            np.zeros_like(point),
            table.count,
            shown,
            np.zeros_like(shown),
            release.count,
            *pairs,
        )
    except TooLarge as error:
        return undecided("truth", f"Whether '{name}' is true is not decided. {error.message}")
    rows = release.last_rows_of(alone)
    if not rows:
        return None
    few = many(len(rows), "published row", "has", "have")
    return _broken(
        name, rows, f"{few} a cell of '{name}' that is true of no row of its own {named(rows)}."
    )


def _broken(name: str, rows: Rows, sentence: str) -> Check:
    return Check(name="truth", holds=False, column=name, rows=rows.first, sentence=sentence)
