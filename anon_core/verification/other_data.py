"""What is no table of rows, recomputed: networks with new vertices, and boxes for places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from anon_core.verification.files.csv_files import rows_of
from anon_core.verification.findings import Check


def network_checks(
    published: str, private: set[frozenset[str]], number_of: Mapping[str, str], k: int
) -> list[Check]:
    """Recompute what is promised of a published edge list.

    Parameters
    ----------
    published : str
        ``edges.csv``: two numbers of vertices in a line.
    private : set of frozensets of str
        The ties among people, without loops.
    number_of : mapping of str to str
        Person → published number, which only the one who publishes knows.
    """
    _, *lines = rows_of(published, ",")
    edges = {frozenset(line) for line in lines}
    simple = len(edges) == len(lines) and all(len(edge) == 2 for edge in edges)
    people = set(number_of.values())
    ties = {frozenset(number_of[name] for name in tie) for tie in private}
    kept = {edge for edge in edges if edge <= people} == ties and len(people) == len(number_of)
    degree = Counter(end for edge in edges for end in edge)
    classes = Counter(degree[number] for number in people)
    least = min(classes.values(), default=0)
    return [
        Check(
            name="edges", holds=simple, sentence="Every edge is published once, and none is a loop."
        ),
        Check(name="ties", holds=kept, sentence="Among people the ties are those that they have."),
        Check(
            name="degrees",
            holds=least >= k,
            bound=float(k),
            reached=float(least),
            sentence=f"The rarest degree of a person is that of {least:,} people; {k:,} at least "
            "are asked for. New vertices do not count.",
        ),
    ]


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
    outside = 0
    for person, (left, lower, right, upper) in box_of.items():
        x, y = map(Decimal, place_of[person])
        outside += not (
            Decimal(left) <= x <= Decimal(right) and Decimal(lower) <= y <= Decimal(upper)
        )
    fewer = sum(senders[box] < asked[person] for person, box in box_of.items())
    return [
        Check(
            name="rows",
            holds=Counter(boxes) == senders,
            sentence="Every request with a box is published once, and nothing else.",
        ),
        Check(
            name="order",
            holds=boxes == sorted(boxes),
            sentence="Boxes are in their own order, which says nothing about persons.",
        ),
        Check(name="places", holds=not outside, sentence="Every person is in the own box."),
        Check(
            name="senders",
            holds=not fewer,
            reached=float(min(senders.values(), default=0)),
            sentence=f"{fewer:,} persons have a box that fewer people could have sent than asked.",
        ),
    ]
