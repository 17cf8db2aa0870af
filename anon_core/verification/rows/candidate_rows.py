"""Which rows of the private table can stand behind which published class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.verification.rows.groups import Grouped
from anon_core.verification.rows.histogram import Histogram, tally
from anon_core.verification.rows.matching import covering_pairs, text_runs
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.texts import PrivateColumn


@dataclass(frozen=True, kw_only=True, eq=False)
class Behind:
    """The people who can stand behind each class.

    Attributes
    ----------
    counted : Histogram
        How many rows of the table whose cells are true of them, and whose exactly published values
        the class shows, have each value. Each of `values` is a tuple, one value a column asked for.
    sure : bool array of shape (classes,)
        Whether these are the rows of the class: as many as it has, and they fit no other. Else some
        of them stand elsewhere or are hidden; what holds whichever they are may be said of them.
    """

    counted: Histogram
    sure: npt.NDArray[np.bool_]


def behind(
    promise: Promise,
    grouped: Grouped,
    private: PrivateTable,
    asked: Sequence[PrivateColumn],
) -> Behind | None:
    """Match rows of the table and classes; None where a published text has no clear meaning.

    The values of the columns `asked` for are counted.

    Raises
    ------
    TooLarge
        If there are too many pairs to look at.
    """
    release, classes = grouped.table, len(grouped.sizes)
    covers = [private.cover(n, release.texts_of(n)) for n in promise.quasi]
    if any(cover.unknown or cover.ambiguous for cover in covers):
        return None
    quasi = [private.codes(n) for n in promise.quasi]
    point, first_of_point = joined(quasi, len(private))
    first = np.unique(grouped.group, return_index=True)[1]
    near_point, near_box = covering_pairs(
        np.stack([codes[first_of_point] for codes in quasi], axis=1),
        np.stack([release.codes_of(n)[first] for n in promise.quasi], axis=1),
        [
            text_runs(cover.runs, private.columns[n].missing + 1)
            for n, cover in zip(promise.quasi, covers, strict=True)
        ],
    )
    # What is published exactly, coded alike in both tables; a value the table lacks is 0.
    exact = [
        np.concatenate(
            [
                private.codes(n),
                private.columns[n].codes_of_texts(release.texts_of(n))[release.codes_of(n)],
            ]
        )
        + 1
        for n in promise.exact
    ]
    payload, _ = joined(exact, len(private) + len(release))
    wide = int(payload.max(initial=0)) + 1
    shown = np.unique(grouped.group * wide + payload[len(private) :])
    line, row, often = private.parted(asked)
    point, payload = point[line], payload[line]
    told = [column.codes_at(row) for column in asked]
    own, first_own = joined(told, len(row))
    giver, first = joined([point, payload, own], len(row))
    rows = tally(giver, often, len(first))
    # Every kind of row with every class that covers its quasi-identifiers …
    order = np.argsort(near_point, kind="stable")
    start = np.searchsorted(near_point[order], np.arange(len(first_of_point) + 1))
    width = np.diff(start)[point[first]]
    kind = np.repeat(np.arange(len(first)), width)
    nth = np.arange(len(kind)) - np.repeat(np.cumsum(width) - width, width)
    box = near_box[order][start[point[first]][kind] + nth]
    # … and shows what it shows exactly.
    meets = np.isin(box * wide + payload[first][kind], shown)
    kind, box = kind[meets], box[meets]
    fits = np.bincount(kind, minlength=len(first))
    pair, lead = joined([box, own[first][kind]], len(kind))
    sorted_ = np.lexsort([own[first][kind][lead], box[lead]])
    counted = Histogram(
        owner=box[lead][sorted_],
        value=own[first][kind][lead][sorted_],
        count=tally(pair, rows[kind])[sorted_],
        values=tuple(
            tuple(
                None if codes[row] == column.missing else column.keys[int(codes[row])]
                for column, codes in zip(asked, told, strict=True)
            )
            for row in first_own.tolist()
        ),
        classes=classes,
    )
    alone = np.ones(classes, dtype=np.bool_)
    alone[box[fits[kind] > 1]] = False
    return Behind(counted=counted, sure=alone & (counted.sizes == grouped.sizes))
