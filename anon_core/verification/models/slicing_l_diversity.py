"""The l-diversity of slicing, recomputed from what the published rows show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_core.verification.evidence import CannotTell, Evidence, at_most_shares
from anon_core.verification.findings import Check, judged
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Block, Grouped, blocks, coded, sets_are_formed, tally
from anon_core.verification.rows.membership import meetings, refuse_many, shown_by_group
from anon_core.verification.rows.tables import joined, stretched
from anon_core.verification.text.texts import Codes

#: People and groups looked at before the question is given up.
MOST_MEETINGS = 200_000_000
_AT_A_TIME = 2_000_000
_NEAR = 1e-9  # what comes nearer to the bound is computed in fractions


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One set of linked columns: what people and published rows show of quasi-identifiers.

    Attributes
    ----------
    own : int64 array of shape (lines of the table,)
    shown, group, count : int64 arrays of shape (lines,)
        Coded like `own`; the group of each line, and how many rows it has.
    """

    own: Codes
    shown: Codes
    group: Codes
    count: Codes


def check_posteriors(
    least: int, star: Shown, values: Codes, others: Sequence[Shown], sizes: Codes
) -> tuple[bool, float]:
    """Recompute whether p(t, s) ≤ 1/l for everyone of the table and every sensitive value.

    Parameters
    ----------
    least : int
        l.
    star : Shown
        The columns linked with the sensitive one; the same number for all where there are none.
    values : int64 array of shape (lines,)
        The sensitive value of each line of `star`; -1 where it has none.
    sizes : int64 array of shape (groups,)

    Returns
    -------
    broken : bool
        Whether the highest chance is above 1/l.
    worst : float
        The highest chance; of people whose groups all keep the bound by themselves it is the
        largest share in such a group.

    Raises
    ------
    TooLarge
        If too many people fit too many groups.

    Notes
    -----
    p(t, s) is a mean of shares over groups, of the rows that have a sensitive value. Where each
    share is at most 1/l, so is the mean; only people who meet another share are looked at one by
    one. Who meets no row with a value has no crowd to hide in: p counts as 1.
    """
    of_line, first = joined([star.group, star.shown], len(values))
    has = values >= 0
    size = tally(of_line[has], star.count[has], len(first))
    pair, lead = joined([of_line[has], values[has]], int(np.count_nonzero(has)))
    count, owner, value = tally(pair, star.count[has]), of_line[has][lead], values[has][lead]
    most = np.ones(len(size), dtype=np.int64)
    np.maximum.at(most, owner, count)
    bad = most * least > size
    worst = float((most[~bad] / size[~bad]).max(initial=0.0))
    people = np.isin(star.own, np.unique(star.shown[first][bad]))
    if not people.any():
        return False, worst
    columns = [s.own[people] for s in (star, *others)]
    one = joined(columns, int(people.sum()))[1]
    columns = [c[one] for c in columns]
    groups, key = len(sizes), star.shown[first] * len(sizes) + star.group[first]
    # Rows of one group that show the same next to the sensitive column, in the order of their key.
    rank = np.argsort(np.argsort(key, kind="stable"), kind="stable")
    order = np.argsort(rank[owner], kind="stable")
    classes = _Classes(
        key=np.sort(key),
        size=size[np.argsort(rank)],
        start=np.searchsorted(rank[owner][order], np.arange(len(size) + 1)),
        value=value[order],
        count=count[order],
    )
    shown = [shown_by_group(s.shown, s.group, s.count, groups) for s in (star, *others)]
    for some, by in _stretches(columns, shown, groups):
        chance, broken = _chances(least, [c[some] for c in columns], by, shown, sizes, classes)
        worst = max(worst, chance)
        if broken:
            return True, worst
    return False, worst


@dataclass(frozen=True, kw_only=True, eq=False)
class _Classes:
    """Rows of one group that show the same next to the sensitive column.

    Attributes
    ----------
    key, size : int64 arrays of shape (classes,)
        What they show and their group in one number; their rows that have a sensitive value.
    start : int64 array of shape (classes + 1,)
        Where the sensitive values of each begin in `value` and `count`.
    value, count : int64 arrays of shape (values of all classes,)
    """

    key: Codes
    size: Codes
    start: Codes
    value: Codes
    count: Codes


def _stretches(
    columns: Sequence[Codes], shown: Sequence[tuple[Codes, Codes]], groups: int
) -> Iterator[tuple[Codes, int]]:
    """Yield people some at a time, with the block that the fewest groups show what they show in."""
    width = np.stack(
        [
            np.searchsorted(keys, (own + 1) * groups) - np.searchsorted(keys, own * groups)
            for (keys, _), own in zip(shown, columns, strict=True)
        ]
    )
    lead, least = np.argmin(width, axis=0), np.min(width, axis=0)
    refuse_many(int(least.sum()), MOST_MEETINGS)
    for by in range(len(columns)):
        some = np.flatnonzero(lead == by)
        if len(some):
            part = np.cumsum(least[some]) // _AT_A_TIME
            for few in np.split(some, np.flatnonzero(np.diff(part)) + 1):
                yield few, by


def _chances(
    least: int,
    columns: Sequence[Codes],
    by: int,
    shown: Sequence[tuple[Codes, Codes]],
    sizes: Codes,
    classes: _Classes,
) -> tuple[float, bool]:
    """Return the highest chance of a sensitive value of some people, and if it is above 1/l."""
    who, group = meetings([keys for keys, _ in shown], columns, len(sizes), by)
    rows = [
        count[np.searchsorted(keys, own[who] * len(sizes) + group)]
        for (keys, count), own in zip(shown, columns, strict=True)
    ]
    # f(t, B) without the factor of the linked columns, which the share next to them divides out.
    weight = np.ones(len(who))
    for n in rows[1:]:
        weight *= n / sizes[group]
    weight /= sizes[group]
    at = np.searchsorted(classes.key, columns[0][who] * len(sizes) + group)
    width = classes.start[at + 1] - classes.start[at]
    meeting, entry = stretched(classes.start[at], width)
    total = np.bincount(who, weight * classes.size[at], len(columns[0]))
    if np.any(total <= 0.0):
        return 1.0, True
    wide = int(classes.value.max(initial=0)) + 1
    mass_of, of = joined([who[meeting] * wide + classes.value[entry]], len(meeting))
    mass = np.bincount(mass_of, weight[meeting] * classes.count[entry])
    person, value = who[meeting[of]], classes.value[entry[of]]
    chance = mass / total[person]
    highest = float(chance.max(initial=0.0))
    if np.any(least * chance > 1.0 + _NEAR):
        return highest, True
    begin = np.searchsorted(who, np.arange(len(columns[0]) + 1))
    for m in np.flatnonzero(least * chance >= 1.0 - _NEAR).tolist():
        exact = Fraction(0)
        for i in range(int(begin[person[m]]), int(begin[person[m] + 1])):
            here = slice(int(classes.start[at[i]]), int(classes.start[at[i] + 1]))
            own = int(classes.count[here][classes.value[here] == value[m]].sum())
            exact += Fraction(
                math.prod(int(r[i]) for r in rows[1:]) * (least * own - int(classes.size[at[i]])),
                int(sizes[group[i]]) ** len(rows),
            )
        if exact > 0:
            return highest, True
    return highest, False


# Slicing's l-diversity, recomputed.


@recomputes("slicing-l-diversity", forms=("whole", "averaged", "permuted"))
def slicing_l_diversity(evidence: Evidence) -> list[Check]:
    """No sensitive value is likelier than 1/l over all groups a person may be in."""
    least = evidence.integer("l")
    if evidence.others_known:
        raise CannotTell("it is not defined against who knows other sensitive values")
    if evidence.form == "permuted":
        return [_check(evidence, least, column) for column in evidence.columns]
    # Of whole rows this is what is enough: a mean over classes stays below.
    return [
        at_most_shares(evidence, evidence.histogram(column), least, column)
        for column in evidence.columns
    ]


def _check(evidence: Evidence, least: int, column: str) -> Check:
    evidence.refuse_not_sensitive(column)
    terms, table = evidence.terms, evidence.private
    if any(part.table.rows != table.rows for part in evidence.parts.values()):
        raise CannotTell("not every row is published")
    source = evidence.part_of(column)
    if sets_are_formed(terms) or terms.coarsened:
        # Which quasi-identifiers stay linked is unknown, or cells are coarse: each group has to
        # keep it by itself.
        return at_most_shares(evidence, source.histogram(column), least, column)
    values, keys = source.table.keyed(column)
    known = np.array([key is not None for key in keys], dtype=np.bool_)[values]
    own = next((b for b in blocks(terms) if column in b), ())
    star, *others = (
        _shown(evidence, quasi, source)
        for block in (own, *(b for b in blocks(terms) if b != own))
        if (quasi := tuple(n for n in block if n in terms.quasi)) or block == own
    )
    over, worst = check_posteriors(least, star, np.where(known, values, -1), others, source.sizes)
    return judged(
        evidence.name,
        over,
        f"l = {least} for '{column}' is broken: over all groups a person may be in, a value has a "
        f"chance of {worst:.3g}, above 1/{least}.",
        "Recomputed from the published file: over all groups a person may be in, no value of "
        f"'{column}' is likelier than 1/{least} ({worst:.3g} at most).",
        column=column,
        bound=float(least),
        reached=1.0 / worst if worst else float(least),
    )


def _shown(evidence: Evidence, quasi: Block, source: Grouped) -> Shown:
    if not quasi:
        return Shown(
            own=np.zeros(len(evidence.private), np.int64),
            shown=np.zeros(len(source.table), np.int64),
            group=source.group,
            count=source.table.count,
        )
    own, shown, found = coded(quasi, evidence.parts, evidence.private)
    return Shown(own=own, shown=shown, group=found.group, count=found.table.count)
