"""Is every column published at one level of its hierarchy, where the technique states one?"""

from __future__ import annotations

import numpy as np

from anon_core.base.errors import listing
from anon_core.verification.findings import Check, many, named, undecided
from anon_core.verification.histogram import tally
from anon_core.verification.lines import Lines
from anon_core.verification.tables import PrivateTable, Promise
from anon_core.verification.texts import on_levels


def check_one_level(promise: Promise, release: Lines, table: PrivateTable) -> Check:
    """Check that some level of each hierarchy has all texts that its column shows.

    Whoever may choose a level cell by cell can mark a person, though every cell is true.
    """
    if not release.has(promise.quasi):
        return undecided("levels", "Whether columns are at one level cannot be recomputed.")
    wrong = np.zeros(len(release), dtype=np.bool_)
    mixed: list[str] = []
    for name in promise.quasi:
        column, texts = table.columns[name], release.texts_of(name)
        if not texts:
            continue
        leaves, labels = table.level_sets(name)
        # A missing value is itself on every level below the top.
        below = range(len(labels))
        at = np.array(
            [
                [level in places for level in range(len(labels) + 1)]
                if text
                else [level in below for level in range(len(labels) + 1)]
                for text in texts
                for places in (on_levels(column, leaves, labels, text),)
            ],
            dtype=np.bool_,
        ).reshape(len(texts), -1)
        if at.all(axis=0).any():
            continue
        codes = release.codes_of(name)
        rows = tally(codes, release.count, len(texts))
        wrong |= ~at[:, int(np.argmax(rows @ at))][codes]
        mixed.append(name)
    found = release.rows_of(wrong)
    return Check(
        name="levels",
        holds=not mixed,
        column=mixed[0] if mixed else "",
        rows=found.first,
        sentence=f"Column {listing(mixed)} shows several levels of its hierarchy, though the "
        f"technique publishes a column at one: {many(len(found), 'row', 'stands', 'stand')} at "
        f"another than most {named(found)}."
        if mixed
        else "Every quasi-identifier is published at one level of its hierarchy.",
    )
