"""A table that is published again: m-invariance recomputed from the files and the private table."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from anon_core.verification.files.csv_files import rows_of
from anon_core.verification.findings import Check

_RANGE = re.compile(r"\[(\S+), (\S+)\]")


def republication_checks(
    files: Mapping[str, str],
    private: Mapping[str, tuple[Sequence[str], str]],
    group_of: Mapping[str, str],
    before: Mapping[str, Sequence[str]],
    m: int,
) -> list[Check]:
    """Recompute what is promised of one release of several.

    Parameters
    ----------
    files : mapping of str to str
        ``release.csv``, whose columns are the group, quasi-identifiers and the value, and
        ``counterfeits.csv``, which has a group and its number of counterfeits in a line.
    private : mapping of str to (sequence of str, str)
        Person → quasi-identifiers as they were read, and the value.
    group_of : mapping of str to str
        Person → published group, as the one who publishes keeps it.
    before : mapping of str to sequence of str
        Person → signature in every release before this one.
    """
    _, *lines = rows_of(files["release.csv"], ",")
    values: defaultdict[str, list[str]] = defaultdict(list)
    boxes: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for group, *box, value in lines:
        values[group].append(value)
        boxes[group].add(tuple(box))
    _, *told = rows_of(files["counterfeits.csv"], ",")
    fake = {group: int(count) for group, count in told}
    people = Counter(group_of.get(person, "") for person in private)
    small = sum(len(own) < m for own in values.values())
    twice = sum(len({*own}) < len(own) for own in values.values())
    uncounted = sum(len(own) - people[g] != fake.get(g, 0) for g, own in values.items())
    lost = sum(group_of.get(p, "") not in values for p in private) + sum(
        p not in private for p in group_of
    )
    theirs: defaultdict[str, list[str]] = defaultdict(list)
    for person in private:
        theirs[group_of.get(person, "")].append(private[person][1])
    foreign = sum(bool(Counter(theirs[g]) - Counter(own)) for g, own in values.items())
    held = [p for p in private if group_of.get(p, "") in values]
    moved = sum(sorted(before[p]) != sorted(values[group_of[p]]) for p in held if p in before)
    outside = sum(
        len(boxes[group_of[p]]) != 1
        or not all(map(_covers, next(iter(boxes[group_of[p]])), private[p][0]))
        for p in held
    )
    return [
        _check("size", small, f"Every group has at least {m} rows.", "groups"),
        _check("distinct", twice, "The values of every group are all different.", "groups"),
        _check("persons", lost, "Every person of the table is in one group.", "persons"),
        _check("values", foreign, "Every group has the values of its persons.", "groups"),
        _check(
            "signatures",
            moved,
            "Everyone published before is among the same values as then.",
            "persons",
        ),
        _check("boxes", outside, "Every group's cells cover its persons.", "persons"),
        _check(
            "counterfeits",
            uncounted,
            "Counterfeits of every group are its rows without a person.",
            "groups",
        ),
    ]


def _check(name: str, wrong: int, words: str, what: str) -> Check:
    return Check(
        name=name,
        holds=not wrong,
        sentence=f"{words} Not so for {wrong:,} {what}." if wrong else words,
    )


def _covers(cell: str, own: str) -> bool:
    if cell in ("*", own):
        return True
    if cell.startswith("{") and cell.endswith("}"):
        return f", {own}, " in f", {cell[1:-1]}, "
    ends = _RANGE.fullmatch(cell)
    if ends is None:
        return False
    try:
        return Decimal(ends[1]) <= Decimal(own) <= Decimal(ends[2])
    except InvalidOperation:
        return False
