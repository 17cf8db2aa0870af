"""Other releases, recomputed: networks, boxes for places, and a table that is published again."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import permutations

from anon_core.verification.files.csv_files import rows_of
from anon_core.verification.findings import Check, judged, tallied


def network_checks(
    published: Mapping[str, str],
    private: set[frozenset[str]],
    number_of: Mapping[str, str],
    k: int,
    label_of: Mapping[str, str] | None = None,
) -> list[Check]:
    """Recompute what is promised of a published network.

    Parameters
    ----------
    published : mapping of str to str
        ``edges.csv``: two numbers of vertices in a line; ``labels.csv``: a number and a label.
    private : set of frozensets of str
        The ties among people, without loops.
    number_of : mapping of str to str
        Person → published number, which only the one who publishes knows.
    label_of : mapping of str to str, optional
        Person → label, where labels are published.
    """
    _, *lines = rows_of(published["edges.csv"], ",")
    edges = {frozenset(line) for line in lines}
    simple = len(edges) == len(lines) and all(len(edge) == 2 for edge in edges)
    people = set(number_of.values())
    ties = {frozenset(number_of[name] for name in tie) for tie in private}
    kept = {edge for edge in edges if edge <= people} == ties and len(people) == len(number_of)
    found = [
        judged("edges", not simple, "Every edge is published once, and none is a loop."),
        judged("ties", not kept, "Among people the ties are those that they have."),
    ]
    shown: dict[str, str] = {}
    if label_of:
        _, *said = rows_of(published["labels.csv"], ",")
        shown = {line[0]: line[1] for line in said}
        ends = {end for edge in edges for end in edge}
        right = len(shown) == len(said) and shown.keys() >= ends | people
        right &= all(shown.get(number) == label_of[name] for name, number in number_of.items())
        found.append(judged("labels", not right, "Every vertex has a label, people their own."))
    near: dict[str, list[str]] = {number: [] for number in people}
    for edge in edges if simple else ():
        for one, other in permutations(edge):
            if one in near:
                near[one].append(shown.get(other, ""))
    alike = Counter((shown.get(one, ""), *sorted(own)) for one, own in near.items())
    least = min(alike.values(), default=0)
    what = "label with those of neighbours" if label_of else "degree"
    sentence = (
        f"The rarest {what} of a person is that of {least:,} people; {k:,} at least are asked for. "
        "New vertices do not count."
    )
    found.append(judged("degrees", least < k, sentence, bound=k, reached=least))
    return found


def cloak_checks(
    published: str,
    place_of: Mapping[str, tuple[str, str]],
    box_of: Mapping[str, tuple[str, ...]],
    asked: Mapping[str, int],
) -> list[Check]:
    """Recompute what is promised of published boxes.

    Parameters
    ----------
    published : str
        ``cloaks.csv``: left, lower, right and upper edge in a line for each request.
    place_of : mapping of str to pair of str
        Where each person is.
    box_of : mapping of str to tuple of str
        Person → published box, which only the one who publishes knows.
    asked : mapping of str to int
        Person → how many people could have sent the box, at least.
    """
    _, *lines = rows_of(published, ",")
    boxes = [tuple(line) for line in lines]
    senders = Counter(box_of.values())
    outside = False
    for person, box in box_of.items():
        left, lower, right, upper = map(Decimal, box)
        x, y = map(Decimal, place_of[person])
        outside |= not (left <= x <= right and lower <= y <= upper)
    fewer = sum(senders[box] < asked[person] for person, box in box_of.items())
    same, least = Counter(boxes) == senders, min(senders.values(), default=0)
    words = f"{fewer:,} persons have a box that fewer people could have sent than asked."
    return [
        judged("rows", not same, "Every request with a box is published once, and nothing else."),
        judged(
            "order",
            boxes != sorted(boxes),
            "Boxes are in their own order, which says nothing about persons.",
        ),
        judged("places", outside, "Every person is in the own box."),
        judged("senders", fewer, words, reached=least),
    ]


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
    _, *rows = rows_of(files["counterfeits.csv"], ",")
    fake = {group: int(count) for group, count in rows}
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
        tallied("size", small, f"Every group has at least {m} rows.", "groups"),
        tallied("distinct", twice, "The values of every group are all different.", "groups"),
        tallied("persons", lost, "Every person of the table is in one group.", "persons"),
        tallied("values", foreign, "Every group has the values of its persons.", "groups"),
        tallied(
            "signatures",
            moved,
            "Everyone published before is among the same values as then.",
            "persons",
        ),
        tallied("boxes", outside, "Every group's cells cover its persons.", "persons"),
        tallied(
            "counterfeits",
            uncounted,
            "Counterfeits of every group are its rows without a person.",
            "groups",
        ),
    ]


def _covers(cell: str, own: str) -> bool:
    if cell in ("*", own):
        return True
    if cell.startswith("{") and cell.endswith("}"):
        return f", {own}, " in f", {cell[1:-1]}, "
    ends = re.fullmatch(r"\[(\S+), (\S+)\]", cell)
    if ends is None:
        return False
    try:
        return Decimal(ends[1]) <= Decimal(own) <= Decimal(ends[2])
    except InvalidOperation:
        return False
