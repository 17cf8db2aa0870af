"""The second computation of slicing's l-diversity, from what the published rows show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .match import MOST_PAIRS, TooLarge
from .tables import joined
from .texts import Codes

_NEAR = 1e-9  # what comes nearer to the bound is computed in fractions


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One set of linked columns: what people and published rows show of quasi-identifiers.

    Attributes
    ----------
    own : int64 array of shape (rows of the table,)
    shown, group : int64 arrays of shape (published rows,)
        Coded like `own`; and the group of each row.
    """

    own: Codes
    shown: Codes
    group: Codes


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """The highest chance of a sensitive value that was found, as l times the chance.

    Attributes
    ----------
    broken : bool
        Whether it is above 1.
    worst : float
        The highest chance; of people whose groups all keep the bound by themselves it is the
        largest share in such a group.
    """

    broken: bool
    worst: float


def check_posteriors(
    least: int, star: Shown, values: Codes, others: Sequence[Shown], sizes: Codes
) -> Posterior:
    """Recompute whether p(t, s) ≤ 1/l for everyone of the table and every sensitive value.

    Parameters
    ----------
    least : int
        l.
    star : Shown
        The columns linked with the sensitive one; the same number for all where there are none.
    values : int64 array of shape (published rows,)
        The sensitive value of each row of `star`.
    others : sequence of Shown
    sizes : int64 array of shape (groups,)

    Raises
    ------
    TooLarge
        If too many people fit too many groups.

    Notes
    -----
    p(t, s) is a mean of shares over groups. Where each share is at most 1/l, so is the mean; only
    people who meet another share are looked at one by one.
    """
    of_row, first = joined([star.group, star.shown], len(values))
    size = np.bincount(of_row)
    pair, lead = joined([of_row, values], len(values))
    count, owner = np.bincount(pair), of_row[lead]
    most = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(most, owner, count)
    bad = most * least > size
    worst = float((most / size)[~bad].max(initial=0.0))
    people = np.isin(star.own, np.unique(star.shown[first][bad]))
    if not people.any():
        return Posterior(broken=False, worst=worst)
    columns = [s.own[people] for s in (star, *others)]
    person, one = joined(columns, int(people.sum()))
    del person
    columns = [c[one] for c in columns]
    who, group, rows = _meetings(columns, (star, *others), sizes)
    # f(t, B) without the factor of the linked columns, which the share beside them divides out.
    weight = np.ones(len(who))
    for n in rows[1:]:
        weight *= n / sizes[group]
    weight /= sizes[group]
    class_of = {
        (int(g), int(v)): c
        for c, (g, v) in enumerate(zip(star.group[first], star.shown[first], strict=True))
    }
    classes = np.array(
        [class_of[g, v] for g, v in zip(group.tolist(), columns[0][who].tolist(), strict=True)],
        dtype=np.int64,
    )
    order = np.argsort(owner, kind="stable")
    start = np.searchsorted(owner[order], np.arange(len(size) + 1))
    width = (start[1:] - start[:-1])[classes]
    meeting = np.repeat(np.arange(len(who)), width)
    entry = order[
        np.arange(len(meeting))
        - np.repeat(np.cumsum(width) - width, width)
        + np.repeat(start[classes], width)
    ]
    total = np.bincount(who, weight * size[classes], len(columns[0]))
    mass_of, of = joined([who[meeting], values[lead[entry]]], len(meeting))
    mass = np.bincount(mass_of, weight[meeting] * count[entry])
    asked = who[meeting[of]]
    chance = mass / total[asked]
    near = np.flatnonzero(np.abs(least * chance - 1.0) <= _NEAR)
    broken = bool(np.any(least * chance > 1.0 + _NEAR))
    for m in near.tolist():
        if broken:
            break
        mine = np.flatnonzero(who == asked[m])
        value = values[lead[entry[of[m]]]]
        exact = Fraction(0)
        for i in mine.tolist():
            here = entry[meeting == i]
            own = int(count[here][values[lead[here]] == value].sum())
            n = int(sizes[group[i]])
            exact += Fraction(
                int(np.prod([int(r[i]) for r in rows[1:]], dtype=object))
                * (least * own - int(size[classes[i]])),
                n ** len(rows),
            )
        broken = exact > 0
    return Posterior(broken=broken, worst=max(worst, float(chance.max(initial=0.0))))


def _meetings(
    columns: Sequence[Codes], blocks: Sequence[Shown], sizes: Codes
) -> tuple[Codes, Codes, list[Codes]]:
    """Return every person and group in which all blocks show what the person shows.

    Returns
    -------
    person, group : int64 arrays of shape (meetings,)
    rows : list of int64 arrays of shape (meetings,)
        Per block, the group's rows that show it.
    """
    groups = len(sizes)
    found = [np.unique(b.shown * groups + b.group, return_counts=True) for b in blocks]
    begin = [np.searchsorted(k, c * groups) for (k, _), c in zip(found, columns, strict=True)]
    end = [np.searchsorted(k, (c + 1) * groups) for (k, _), c in zip(found, columns, strict=True)]
    width = [e - b for b, e in zip(begin, end, strict=True)]
    lead = int(np.argmin([w.sum() for w in width]))
    if width[lead].sum() > MOST_PAIRS:
        raise TooLarge(
            "There are too many people and groups they may be in.",
            remedy="Link more columns, or form groups of similar rows.",
        )
    person = np.repeat(np.arange(len(columns[0])), width[lead])
    place = np.arange(len(person)) - np.repeat(np.cumsum(width[lead]) - width[lead], width[lead])
    group = found[lead][0][place + begin[lead][person]] % groups
    rows: list[Codes] = []
    for b, (keys, count) in enumerate(found):
        asked = columns[b][person] * groups + group
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        meets = keys[at] == asked
        person, group = person[meets], group[meets]
        rows = [r[meets] for r in rows]
        rows.append(count[at[meets]].astype(np.int64))
    return person, group, rows
