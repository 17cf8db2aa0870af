"""Boxes instead of places that people ask from, and who could have sent a box."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anon_core.base.errors import BadInput, Infeasible

Place = tuple[Fraction, Fraction]
#: Left, lower, right and upper edge.
Box = tuple[Fraction, Fraction, Fraction, Fraction]
#: Levels of halving below the whole area.
LEVELS = 16
#: Steps of the search for one clique, after which its request expires.
_STEPS = 20_000


@dataclass(frozen=True, kw_only=True)
class Request:
    """What one person asks for.

    Attributes
    ----------
    at : pair of Fraction
    k : int
        People who could have sent the box, at least.
    tolerance : Fraction
        How far, along each axis, the others in the box may be.
    """

    at: Place
    k: int
    tolerance: Fraction


# Boxes that k people are in. The same places give the same boxes: someone who knows all places
# and the method computes them, too.


def quadtree(
    places: Mapping[str, Place], k: int, area: Box, levels: int = LEVELS
) -> dict[str, Box]:
    """Return the smallest quadrant with k people on each person's way down.

    After Gruteser and Grunwald (2003). Quadrants hold their left and lower edge alone.
    """
    _enough(places, k)
    _inside(places, area)
    found: dict[str, Box] = {}
    stack = [(area, list(places), levels)]
    while stack:
        box, people, left = stack.pop()
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        quarters: defaultdict[tuple[bool, bool], list[str]] = defaultdict(list)
        for name in people if left else ():
            quarters[places[name][0] >= x, places[name][1] >= y].append(name)
        deeper: set[str] = set()
        for (right, upper), own in quarters.items():
            if len(own) >= k:
                sides = (x, box[2]) if right else (box[0], x), (y, box[3]) if upper else (box[1], y)
                stack.append(((sides[0][0], sides[1][0], sides[0][1], sides[1][1]), own, left - 1))
                deeper.update(own)
        found |= {name: box for name in people if name not in deeper}
    return found


def pyramid(places: Mapping[str, Place], k: int, area: Box, levels: int = LEVELS) -> dict[str, Box]:
    """Return cells of a pyramid from the lowest level up (Casper: Mokbel, Chow, Aref 2006).

    A cell with fewer than k people is joined with its neighbour, horizontal or vertical, of the
    same parent: with the one that gives k people, the fewer if both do. Else its parent is tried.
    """
    _enough(places, k)
    _inside(places, area)
    width, height = area[2] - area[0], area[3] - area[1]
    lowest = {
        name: (
            math.floor((x - area[0]) * 2**levels / width),
            math.floor((y - area[1]) * 2**levels / height),
        )
        for name, (x, y) in places.items()
    }
    counts = [Counter((i >> up, j >> up) for i, j in lowest.values()) for up in range(levels + 1)]

    def box(up: int, i: int, j: int, wide: int, high: int) -> Box:
        across, along = width * 2**up / 2**levels, height * 2**up / 2**levels
        left, low = area[0] + i * across, area[1] + j * along
        return left, low, left + wide * across, low + high * along

    def cloak(i: int, j: int) -> Box:
        for up in range(levels + 1):
            own = counts[up][i, j]
            if own >= k:
                return box(up, i, j, 1, 1)
            pairs = [
                (own + counts[up][i ^ 1, j], 0, box(up, i & ~1, j, 2, 1)),
                (own + counts[up][i, j ^ 1], 1, box(up, i, j & ~1, 1, 2)),
            ]
            enough = [one for one in pairs if one[0] >= k]
            if enough and up < levels:
                return min(enough)[2]
            i, j = i >> 1, j >> 1
        raise AssertionError("the whole area holds everyone")

    of_cell = {cell: cloak(*cell) for cell in set(lowest.values())}
    return {name: of_cell[cell] for name, cell in lowest.items()}


def nearest(places: Mapping[str, Place], k: int) -> dict[str, Box]:
    """Return the box of each person and the k − 1 nearest others, ties by place, then by name."""
    _enough(places, k)
    names = _in_order(places)
    scale = math.lcm(*(c.denominator for place in places.values() for c in place))
    whole = [[int(c * scale) for c in places[name]] for name in names]
    low = [min(own) for own in zip(*whole, strict=True)]
    whole = [[c - least for c, least in zip(own, low, strict=True)] for own in whole]
    small = max(map(max, whole)) < 2**31  # else the sum of squares needs more than 64 bits
    points = np.array(whole, dtype=np.int64 if small else object)
    found: dict[str, Box] = {}
    for own, name in enumerate(names):
        far = ((points - points[own]) ** 2).sum(axis=1)
        far[own] = -1
        last = np.partition(far, k - 1)[k - 1]
        near = np.flatnonzero(far < last).tolist()
        near += np.flatnonzero(far == last)[: k - len(near)].tolist()
        found[name] = _hull(places[names[one]] for one in near)
    return found


def reciprocal(
    places: Mapping[str, Place], k: int, area: Box | None = None, levels: int = LEVELS
) -> dict[str, Box]:
    """Return the boxes of runs of k along Hilbert's curve (Kalnis et al. 2007).

    The last run takes the rest. All of a run have its box, so that each of them could have sent it.
    """
    _enough(places, k)
    if area is None:
        area = _hull(places.values())
    else:
        _inside(places, area)
    side = max(area[2] - area[0], area[3] - area[1]) or Fraction(1)
    most = 2**levels - 1

    def along(name: str) -> tuple[int, Place, str]:
        x, y = (
            min(math.floor((c - least) * 2**levels / side), most)
            for c, least in zip(places[name], area, strict=False)
        )
        return hilbert_index(x, y, levels), places[name], name

    order = sorted(places, key=along)
    ends = [k * run for run in range(len(order) // k)] + [len(order)]
    found: dict[str, Box] = {}
    for begin, end in itertools.pairwise(ends):
        box = _hull(places[name] for name in order[begin:end])
        found |= dict.fromkeys(order[begin:end], box)
    return found


def hilbert_index(x: int, y: int, levels: int) -> int:
    """Return how far along Hilbert's curve a cell of a grid of 2^levels is (Hilbert 1891)."""
    found = 0
    for level in reversed(range(levels)):
        right, upper = x >> level & 1, y >> level & 1
        found = found << 2 | (3 * right ^ upper)
        x, y = x & (1 << level) - 1, y & (1 << level) - 1
        if not upper:
            if right:
                x, y = (1 << level) - 1 - x, (1 << level) - 1 - y
            x, y = y, x
    return found


def agree(one: Request, other: Request) -> bool:
    """Say whether each of two is within the tolerance of the other."""
    far = max(abs(a - b) for a, b in zip(one.at, other.at, strict=True))
    return far <= min(one.tolerance, other.tolerance)


def is_clique(requests: Sequence[Request]) -> bool:
    """Say whether all can share a box: in each other's tolerance, and as many as the largest k."""
    return len(requests) >= max(r.k for r in requests) and all(
        agree(one, other) for n, one in enumerate(requests) for other in requests[:n]
    )


def cliques(requests: Mapping[str, Request]) -> dict[str, Box]:
    """Return the boxes of cliques (Gedik, Liu 2005); who is in none expires and has no box.

    The largest k is served first, since no later clique has room for it. Of the people in its
    tolerance the nearest are tried first.
    """
    left = sorted(requests, key=lambda n: (-requests[n].k, requests[n].at, n))
    found: dict[str, Box] = {}
    while left:
        first, *left = left
        own = requests[first]

        def far(name: str, own: Request = own) -> tuple[Fraction, Place, str]:
            x, y = (abs(a - b) for a, b in zip(requests[name].at, own.at, strict=True))
            return x * x + y * y, requests[name].at, name

        near = sorted((n for n in left if agree(requests[n], own)), key=far)
        clique = _clique(requests, [first], near, own.k, [_STEPS])
        if clique:
            box = _hull(requests[name].at for name in clique)
            found |= dict.fromkeys(clique, box)
            left = [name for name in left if name not in clique]
    return found


def _clique(
    requests: Mapping[str, Request], chosen: list[str], near: list[str], k: int, steps: list[int]
) -> list[str]:
    """Return k of the near ones who all agree, with those chosen; none where there are none."""
    if len(chosen) == k:
        return chosen
    for place, name in enumerate(near):
        steps[0] -= 1
        if len(chosen) + len(near) - place < k or steps[0] < 0:
            break
        rest = [n for n in near[place + 1 :] if agree(requests[n], requests[name])]
        found = _clique(requests, [*chosen, name], rest, k, steps)
        if found:
            return found
    return []


#: Methods that take the same k for everyone, by name; the flag says whether they need an area.
METHODS: Mapping[str, tuple[Callable[..., dict[str, Box]], bool]] = {
    "quadtree": (quadtree, True),
    "pyramid": (pyramid, True),
    "nearest": (nearest, False),
    "reciprocal": (reciprocal, False),
}


# Someone who knows all places and the method.


def senders(cloaks: Mapping[str, Box]) -> dict[Box, list[str]]:
    """Return who could have sent each box: those whose own box it is."""
    found: dict[Box, list[str]] = {}
    for name, box in cloaks.items():
        found.setdefault(box, []).append(name)
    return found


@dataclass(frozen=True, kw_only=True)
class InversionAttack:
    """What a box says to someone who inverts the method.

    Attributes
    ----------
    least : int
        The fewest possible senders of one box.
    found : int
        Boxes sent by one person alone.
    exposed : int
        People whose box fewer could have sent than they ask for.
    mean : Fraction
        Mean chance of the people: one in the senders of their box.
    inside : int
        The fewest people in one box, which is what seems to protect them.
    area : Fraction
        Mean area of the people's boxes.
    """

    least: int
    found: int
    exposed: int
    mean: Fraction
    inside: int
    area: Fraction


def inversion_attack(
    cloaks: Mapping[str, Box], places: Mapping[str, Place], asked: Mapping[str, int]
) -> InversionAttack:
    """Invert boxes.

    Parameters
    ----------
    places : mapping of str to pair of Fraction
        Of everyone, those without a box included.
    asked : mapping of str to int
        The k of each person.
    """
    by_box = senders(cloaks)
    number = {name: len(by_box[box]) for name, box in cloaks.items()}
    x, y = (np.array([float(p[axis]) for p in places.values()]) for axis in (0, 1))
    inside = [
        int(((x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])).sum())
        for box in (tuple(map(float, own)) for own in by_box)
    ]
    return InversionAttack(
        least=min(map(len, by_box.values()), default=0),
        found=sum(len(own) == 1 for own in by_box.values()),
        exposed=sum(number[name] < asked[name] for name in cloaks),
        mean=sum((Fraction(1, n) for n in number.values()), Fraction(0)) / max(len(cloaks), 1),
        inside=min(inside, default=0),
        area=sum(((b[2] - b[0]) * (b[3] - b[1]) for b in cloaks.values()), Fraction(0))
        / max(len(cloaks), 1),
    )


def _hull(places: Iterable[Place]) -> Box:
    x, y = zip(*places, strict=True)
    return min(x), min(y), max(x), max(y)


def _in_order(places: Mapping[str, Place]) -> list[str]:
    return sorted(places, key=lambda name: (places[name], name))


def _enough(places: Mapping[str, Place], k: int) -> None:
    if len(places) < k:
        raise Infeasible(
            f"Boxes of {k} people need as many; there are {len(places)}.",
            remedy="Use a smaller k, or wait for more people.",
            best=float(len(places)),
            best_of="people",
        )


def _inside(places: Mapping[str, Place], area: Box) -> None:
    outside = [
        name
        for name, (x, y) in places.items()
        if not (area[0] <= x < area[2] and area[1] <= y < area[3])
    ]
    if outside:
        raise BadInput(
            f"People outside the area: {len(outside):,}. It holds its left and lower edge, and "
            "not the others.",
            remedy="Name a larger area.",
            values=outside,
        )
