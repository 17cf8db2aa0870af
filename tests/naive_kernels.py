"""Plain-loop twins of the kernels that work on codes: slow, and easy to see through.

Like `tests.naive` they share nothing with the core. A tuple is a tuple of leaf numbers, one per
attribute; what a cell costs that must cover several of them is in a `Way` per attribute.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tests import naive

Codes = tuple[int, ...]


# ---- what cells cost -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """How one attribute is published: by nodes, or else by ranges.

    `nodes` are all nodes of the hierarchy from the leaves up, as (leaves, price); without them a
    range costs the distance of the `position` of its ends and `step` besides, and `whole` where it
    mixes the leaf `missing` (-1: there is none) with others.
    """

    leaves: int
    nodes: list[tuple[range, float]] = field(default_factory=list[tuple[range, float]])
    position: list[float] = field(default_factory=list[float])
    step: float = 0.0
    whole: float = 1.0
    missing: int = -1


def cell_price(way: Way, lo: int, hi: int) -> float:
    """Return the price of a cell that must cover leaves lo to hi."""
    if lo == hi:
        return 0.0
    if way.nodes:
        return next(price for inside, price in way.nodes if lo in inside and hi in inside)
    if hi == way.missing:
        return way.whole
    return way.position[hi] - way.position[lo] + way.step


def pair_table(way: Way) -> list[float]:
    """Return the price of every pair of leaves, row by row."""
    every = range(way.leaves)
    return [cell_price(way, min(a, b), max(a, b)) for a in every for b in every]


def box_price(ways: Sequence[Way], low: Codes, high: Codes) -> float:
    return sum(cell_price(w, a, b) for w, a, b in zip(ways, low, high, strict=True))


def box_of(tuples: Iterable[Codes]) -> tuple[Codes, Codes]:
    columns = list(zip(*tuples, strict=True))
    return tuple(map(min, columns)), tuple(map(max, columns))


def row_price(ways: Sequence[Way], tuples: Iterable[Codes]) -> float:
    """Return what a row pays in a class of some tuples."""
    return box_price(ways, *box_of(tuples))


# ---- rows that are suppressed at a node of the lattice -----------------------------------


def rows_kept(count: Sequence[int], keep: Sequence[bool]) -> int:
    return sum(rows for rows, kept in zip(count, keep, strict=True) if kept)


def spared(removed: Sequence[int], prices: Sequence[Sequence[float]]) -> list[float]:
    """Return what the suppressed rows of each leaf would pay at most, level by level."""
    return [sum(r * p for r, p in zip(removed, own, strict=True)) for own in prices]


# ---- on the lattice ------------------------------------------------------------------------------


def smallest_below(levels: Sequence[Codes], weight: Sequence[int], node: Codes) -> int:
    """Return the lightest of the nodes that stand at or below one, the first of equals."""
    below = [
        i for i, own in enumerate(levels) if all(a <= b for a, b in zip(own, node, strict=True))
    ]
    return min(below, key=lambda i: (weight[i], i))


def highest(bound: Mapping[Codes, float], node: Codes, most: float) -> Codes:
    """Return where a climb ends that takes the first node one level up that may still win."""
    above = [(*node[:d], level + 1, *node[d + 1 :]) for d, level in enumerate(node)]
    ahead = [p for p in above if p in bound and bound[p] <= most and bound[p] < math.inf]
    return highest(bound, ahead[0], most) if ahead else node


# ---- clusters ------------------------------------------------------------------------------------


def farthest(ways: Sequence[Way], tuples: Sequence[Codes], free: Iterable[int], here: int) -> int:
    """Return the first of the free tuples that are farthest from one; -1 where none is free."""
    order = sorted(free, key=lambda t: (-row_price(ways, [tuples[here], tuples[t]]), t))
    return order[0] if order else -1


def grown_cluster(
    ways: Sequence[Way],
    tuples: Sequence[Codes],
    count: Sequence[int],
    free: Iterable[int],
    seed: int,
    k: int,
) -> list[int]:
    """Grow a cluster by the tuple that costs least, in the order they join; empty if it fails."""
    cluster, left = [seed], set(free) - {seed}

    def price(t: int) -> float:
        whole = [*cluster, t]
        return row_price(ways, [tuples[i] for i in whole]) * sum(count[i] for i in whole)

    while sum(count[i] for i in cluster) < k:
        if not left:
            return []
        cluster.append(min(sorted(left), key=price))
        left.remove(cluster[-1])
    return cluster


def cheapest_cut(
    ways: Sequence[Way], tuples: Sequence[Codes], count: Sequence[int], k: int
) -> float:
    """Return the least price of cutting a sequence into runs of at least k rows."""
    size, best = len(tuples), math.inf
    for marks in itertools.product([False, True], repeat=size - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(marks) if cut), size]
        runs = list(itertools.pairwise(ends))
        if all(sum(count[a:b]) >= k for a, b in runs):
            best = min(best, sum(row_price(ways, tuples[a:b]) * sum(count[a:b]) for a, b in runs))
    return best


def halves(
    ways: Sequence[Way], tuples: Sequence[Codes], count: Sequence[int], k: int, part: list[int]
) -> list[list[int]]:
    """Halve a part between two distant seeds for as long as both sides have k rows."""

    def apart(a: int, b: int) -> float:
        return row_price(ways, [tuples[a], tuples[b]])

    def rows(side: Iterable[int]) -> int:
        return sum(count[t] for t in side)

    one = other = part[0]
    for _ in range(3):  # from the farthest to the farthest
        one, other = other, max(part, key=lambda t, here=other: apart(here, t))
    sides: tuple[list[int], list[int]] = ([], [])
    boxes = [[tuples[one]], [tuples[other]]]
    for t in part:
        grown = [row_price(ways, [*box, tuples[t]]) - row_price(ways, box) for box in boxes]
        more = [rows(side) for side in sides]
        s = int(grown[1] < grown[0] or (grown[1] == grown[0] and more[1] < more[0]))
        s = 0 if t == one else 1 if t == other else s
        sides[s].append(t)
        boxes[s].append(tuples[t])
    # The side that is too small takes what it grows least by, if the other can spare it. The order
    # of a side matters for ties: what goes is exchanged with the row at the border.
    order, left = [*sides[0], *sides[1]], len(sides[0])
    small = 0 if rows(sides[0]) < rows(sides[1]) else 1
    while rows(sides[small]) < k and rows(part) >= 2 * k:
        theirs = range(left, len(order)) if small == 0 else range(left)
        spare = [i for i in theirs if rows(sides[1 - small]) - count[order[i]] >= k]
        if not spare:
            break
        chosen = min(spare, key=lambda i: row_price(ways, [*boxes[small], tuples[order[i]]]))
        border = left if small == 0 else left - 1
        order[chosen], order[border] = order[border], order[chosen]
        boxes[small].append(tuples[order[border]])
        left += 1 if small == 0 else -1
        sides = (order[:left], order[left:])
    if min(map(rows, sides)) < k or one == other:
        return [sorted(part)]
    return [found for side in sides for found in halves(ways, tuples, count, k, side)]


Leaf = list[int]
Test = tuple[int, int, bool]


def leaf_splits(
    ways: Sequence[Way],
    tuples: Sequence[Codes],
    count: Sequence[int],
    leaf: Leaf,
    k: int,
    full: int,
) -> list[tuple[Leaf, list[Test]]]:
    """Return the leaves that a full one becomes, each with the tests that lead to it."""

    def rows(part: Leaf) -> int:
        return sum(count[t] for t in part)

    def sides(d: int, cut: int) -> tuple[Leaf, Leaf]:
        return [t for t in leaf if tuples[t][d] <= cut], [t for t in leaf if tuples[t][d] > cut]

    best: tuple[float, int, int] | None = None
    for d in range(len(ways)):
        for cut in sorted({tuples[t][d] for t in leaf})[:-1]:
            parts = sides(d, cut)
            if min(map(rows, parts)) >= k:
                price = sum(rows(p) * row_price(ways, [tuples[t] for t in p]) for p in parts)
                if best is None or price < best[0]:
                    best = price, d, cut
    if best is None:
        return [(leaf, [])]
    found: list[tuple[Leaf, list[Test]]] = []
    for beyond, part in zip((False, True), sides(*best[1:]), strict=True):
        inner = (
            leaf_splits(ways, tuples, count, part, k, full) if rows(part) >= full else [(part, [])]
        )
        found += [(own, [(best[1], best[2], beyond), *tests]) for own, tests in inner]
    return found


def grown_tree(
    ways: Sequence[Way],
    tuples: Sequence[Codes],
    count: Sequence[int],
    k: int,
    full: int,
    order: Iterable[int],
) -> list[tuple[list[Leaf], list[Leaf]]]:
    """Return leaves of a spatial index and what they are cut into, after every insertion."""

    def rows(part: Leaf) -> int:
        return sum(count[t] for t in part)

    # A leaf: the tests that lead to it, its tuples, and the rows from which a split is tried.
    leaves: list[tuple[list[Test], Leaf, int]] = [([], [], full)]
    steps: list[tuple[list[Leaf], list[Leaf]]] = []
    for t in order:
        inside = [all((tuples[t][d] > c) == b for d, c, b in tests) for tests, _, _ in leaves]
        tests, own, again = leaves.pop(inside.index(True))
        own = [*own, t]
        if rows(own) < again:
            leaves.append((tests, own, again))
        else:
            for part, more in leaf_splits(ways, tuples, count, own, k, full):
                stuck = not more or rows(part) >= full
                wait = rows(part) + 1 + rows(part) // 16 if stuck else full
                leaves.append(([*tests, *more], part, wait))
        whole = sorted(sorted(leaf) for _, leaf, _ in leaves)
        parts = [
            sorted(part)
            for leaf in whole
            for part, _ in (
                leaf_splits(ways, tuples, count, leaf, k, 2 * k)
                if rows(leaf) >= 2 * k
                else [(leaf, [])]
            )
        ]
        steps.append((whole, sorted(parts)))
    return steps


# ---- nearest boxes -------------------------------------------------------------------------------

Box = tuple[Codes, Codes]


def nearest_box(ways: Sequence[Way], boxes: Sequence[Box], size: Sequence[int], b: int) -> int:
    """Return the box to join with at the least additional price; -1 where there is no other."""

    def grown(other: int) -> float:
        joint = box_of([*boxes[b], *boxes[other]])
        now = size[other] * box_price(ways, *boxes[other])
        return box_price(ways, *joint) * (size[b] + size[other]) - now

    others = [o for o in range(len(boxes)) if o != b]
    return min(others, key=grown, default=-1)


# ---- boxes of their own --------------------------------------------------------------------------


def shown_box(ways: Sequence[Way], box: Box) -> Box:
    """Return what a box shows that must cover two leaves a column."""
    low, high = list(box[0]), list(box[1])
    for d, way in enumerate(ways):
        lo, hi = low[d], high[d]
        if lo == hi:
            continue
        if way.nodes:
            inside = next(r for r, _ in way.nodes if lo in r and hi in r)
            low[d], high[d] = inside.start, inside.stop - 1
        elif hi == way.missing:
            low[d] = 0
    return tuple(low), tuple(high)


def covers(box: Box, t: Codes) -> bool:
    return all(a <= c <= b for a, b, c in zip(*box, t, strict=True))


def growth(ways: Sequence[Way], box: Box, t: Codes) -> float:
    """Return what a row of a box costs more when it takes in a tuple; 0 where it covers it."""
    if covers(box, t):
        return 0.0
    return row_price(ways, [*box, t]) - box_price(ways, *box)


def with_tuple(ways: Sequence[Way], box: Box, t: Codes) -> Box:
    return shown_box(ways, box_of([*box, t]))


def fitting(boxes: Sequence[Box], size: Sequence[int], t: Codes) -> int:
    """Return the rows whose boxes cover a tuple."""
    return sum(n for b, n in zip(boxes, size, strict=True) if covers(b, t))


def nearest_outside(
    ways: Sequence[Way], box: Box, tuples: Sequence[Codes], wanted: Sequence[bool]
) -> int:
    """Return the tuple that costs least to take in; -1 where none is left."""
    outside = [t for t, c in enumerate(tuples) if wanted[t] and not covers(box, c)]
    return min(outside, key=lambda t: growth(ways, box, tuples[t]), default=-1)


def reaching_box(
    ways: Sequence[Way], box: Box, tuples: Sequence[Codes], count: Sequence[int], k: int
) -> Box:
    """Widen a box to its nearest tuple until k rows fit it, or all do."""
    while True:
        fit = sum(n for t, n in zip(tuples, count, strict=True) if covers(box, t))
        nearest = nearest_outside(ways, box, tuples, [True] * len(tuples))
        if fit >= k or nearest < 0:
            return box
        box = with_tuple(ways, box, tuples[nearest])


def taking_in(
    ways: Sequence[Way], boxes: Sequence[Box], size: Sequence[int], t: Codes, fits: int, k: int
) -> list[Box]:
    """Let a tuple be covered by those boxes that cost least, until it fits k rows."""
    room, found = k - fits, list(boxes)

    def price(b: int) -> float:
        weight = size[b] / min(size[b], room)
        more = 0.0
        for d, way in enumerate(ways):
            lo, hi = boxes[b][0][d], boxes[b][1][d]
            if not lo <= t[d] <= hi:
                wider = cell_price(way, min(t[d], lo), max(t[d], hi))
                more += (wider - cell_price(way, lo, hi)) * weight
        return more

    outside = [b for b in range(len(boxes)) if not covers(boxes[b], t)]
    for b in sorted(outside, key=price):
        if fitting(found, size, t) >= k:
            break
        found[b] = with_tuple(ways, found[b], t)
    return found


def reached_parts(links: Sequence[Sequence[int]], part: int, most: int) -> list[int]:
    """Return the other parts that links lead to, the nearest first."""
    found: list[int] = []
    for here in itertools.chain([part], found):  # grows while it is walked
        for to in links[here]:
            if to != part and to not in found and len(found) < most:
                found.append(to)
    return found


def cheapest_join(
    ways: Sequence[Way],
    boxes: Sequence[Box],
    size: Sequence[int],
    tuples: Sequence[Codes],
    mine: Sequence[int],
    ahead: Sequence[bool],
    few: Sequence[int],
    behind: Sequence[bool],
) -> tuple[float, int, int]:
    """Return price, box and tuple of the cheapest match that closes a cycle of a part.

    `mine` are the part's boxes, which may take in tuples marked in `ahead`; `few` its lacking
    tuples, which boxes marked in `behind` may take in.
    """
    found: list[tuple[float, int, int]] = []
    for b in mine:
        t = nearest_outside(ways, boxes[b], tuples, ahead)
        if t >= 0:
            found.append((growth(ways, boxes[b], tuples[t]) * size[b], b, t))
    for t in few:
        taken = [b for b, inside in enumerate(behind) if inside]
        found += [(growth(ways, boxes[b], tuples[t]) * size[b], b, t) for b in taken]
    return min(found, key=lambda option: option[0], default=(math.inf, -1, -1))


def joined_boxes(
    ways: Sequence[Way],
    boxes: Sequence[Box],
    tuples: Sequence[Codes],
    of_box: Sequence[int],
    of_tuple: Sequence[int],
    options: Sequence[tuple[int, int]],
) -> list[Box]:
    """Widen boxes, option after option, unless both parts were options' before."""
    found, done = list(boxes), set[int]()
    for b, t in options:
        both = {of_box[b], of_tuple[t]}
        if b >= 0 and not both <= done:
            found[b] = with_tuple(ways, found[b], tuples[t])
        done |= both if b >= 0 else set()
    return found


# ---- groups of few changed cells -----------------------------------------------------------------


def grown_forest(
    ways: Sequence[Way], tuples: Sequence[Codes], count: Sequence[int], k: int
) -> list[int]:
    """Link tops of trees of fewer than k rows to their nearest; return who hangs below whom."""
    parent = [-1] * len(tuples)
    tree = [{t} for t in range(len(tuples))]  # of each tuple; one set is shared by a whole tree
    for at in range(len(tuples)):
        while sum(count[t] for t in tree[at]) < k:
            (top,) = [t for t in tree[at] if parent[t] < 0]
            near = sorted(range(len(tuples)), key=lambda t, top=top: (abs(t - top), t))
            others = [t for t in near if t not in tree[at]]
            if not others:
                return parent
            found = min(others, key=lambda t, top=top: row_price(ways, [tuples[top], tuples[t]]))
            parent[top] = found
            both = tree[at] | tree[found]
            for t in both:
                tree[t] = both
    return parent


def parted_forest(parent: Sequence[int], k: int) -> list[list[int]]:
    """Part trees into groups: bundles travel up, and are a group once they hold k rows."""
    rows = range(len(parent))
    open_ = Counter(p for p in parent if p >= 0)
    queue = [v for v in rows if not open_[v]]
    bundle: list[list[int]] = [[] for _ in rows]
    touching: dict[int, int] = {}
    groups: list[list[int]] = []

    def settle(v: int) -> None:
        if len(bundle[v]) >= k:
            groups.append(bundle[v])
            touching[v] = len(groups) - 1
            bundle[v] = []

    while queue:
        v = queue.pop(0)
        bundle[v] = [v, *bundle[v]]
        settle(v)
        up = parent[v]
        if up < 0:
            if bundle[v] and not groups:
                groups.append([])
            if bundle[v]:
                groups[touching.get(v, 0)] += bundle[v]
            continue
        if bundle[v]:
            bundle[up] += bundle[v]
            settle(up)
        if up not in touching and v in touching:
            touching[up] = touching[v]
        open_[up] -= 1
        if not open_[up]:
            queue.append(up)
    return groups


def best_ball(
    distance: Sequence[Sequence[float]], covered: Sequence[bool], k: int
) -> tuple[int, list[int]]:
    """Return the ball that costs least per row it newly covers: its centre and its rows."""
    best: tuple[float, int, list[int]] = (math.inf, -1, [])
    for c, own in enumerate(distance):
        near = sorted(range(len(own)), key=lambda i, own=own: own[i])
        for size in range(k, len(near) + 1):
            fresh = sum(not covered[i] for i in near[:size])
            if fresh and 2.0 * own[near[size - 1]] / fresh < best[0]:
                best = 2.0 * own[near[size - 1]] / fresh, c, near[:size]
    return best[1:]


def disjoint(cover: Sequence[set[int]], k: int) -> list[list[int]]:
    """Turn a cover into groups: a row in two sets leaves one with rows to spare, or both join."""
    sets = [set(own) for own in cover]
    for t, s in sorted(itertools.combinations(range(len(sets)), 2), key=lambda pair: pair[::-1]):
        for row in sorted(sets[s] & sets[t]):
            if len(sets[s]) > k:
                sets[s].remove(row)
            elif len(sets[t]) > k:
                sets[t].remove(row)
            else:
                sets[s] |= sets[t]
                sets[t] = set()
                break
    groups: list[list[int]] = []
    for own in map(sorted, sets):
        while len(own) >= 2 * k:
            groups.append(own[:k])
            own = own[k:]
        groups += [own] if own else []
    return groups


def cheapest_groups(ways: Sequence[Way], tuples: Sequence[Codes], k: int) -> float:
    """Return the least price over all partitions of rows into groups of k to 2k − 1."""
    if not tuples:
        return 0.0
    best = math.inf
    for more in range(k - 1, 2 * k - 1):
        for some in itertools.combinations(range(1, len(tuples)), more):
            group = [tuples[0], *(tuples[i] for i in some)]
            rest = [t for i, t in enumerate(tuples) if i and i not in some]
            price = row_price(ways, group) * len(group) + cheapest_groups(ways, rest, k)
            best = min(best, price)
    return best


# ---- dealing and halving by sensitive value ------------------------------------------------------

_WRAP = (1 << 64) - 1


def drawn_groups(left: Sequence[int], least: int) -> tuple[list[list[int]], list[int]]:
    """Draw one row of each of the most numerous values, while there are `least` of them.

    Of values with as many rows left, the one that got there last comes first.
    """
    rows = list(left)
    order = list(range(len(rows)))  # of equals, the earlier comes first
    groups: list[list[int]] = []
    while sum(n > 0 for n in rows) >= least:
        chosen = sorted(order, key=lambda v: -rows[v])[:least]
        groups.append(chosen)
        for v in chosen:
            rows[v] -= 1
            order.remove(v)
            order.insert(0, v)
    return groups, rows


class Bisection:
    """Algorithm 2 of Li et al. (2015) with plain loops, and the same random numbers."""

    def __init__(
        self, rows: list[list[float]], values: list[int], least: int, state: list[int]
    ) -> None:
        self.rows, self.values, self.least, self.state = rows, values, least, state

    def draw(self, below: int) -> int:
        self.state, found = next_random(self.state)
        return found % below

    def parts(self, tries: int) -> set[frozenset[int]]:
        found: set[frozenset[int]] = set()
        work = [list(range(len(self.rows)))]
        while work:
            part = work.pop()
            for _ in range(tries if len(part) >= 2 * self.least else 0):
                for i in range(len(part) - 1, 0, -1):
                    j = self.draw(i + 1)
                    part[i], part[j] = part[j], part[i]
                one, other = self.halves(part)
                part = [*one, *other]
                if all(eligible([self.values[i] for i in h], self.least) for h in (one, other)):
                    work += [one, other]
                    break
            else:
                found.add(frozenset(part))
        return found

    def halves(self, part: list[int]) -> tuple[list[int], list[int]]:
        """Add every row to the half whose rows × width grows less."""
        wide = len(self.rows[0])
        boxes = [([1.0] * wide, [1.0] * wide), ([0.0] * wide, [0.0] * wide)]
        sides: tuple[list[int], list[int]] = ([], [])
        widths = [0.0, 0.0]
        for i in part:
            grow = [
                sum(
                    max(a - p, 0.0) + max(p - b, 0.0)
                    for p, a, b in zip(self.rows[i], low, high, strict=True)
                )
                for low, high in boxes
            ]
            more = [(len(sides[s]) + 1) * grow[s] + widths[s] + grow[s] for s in (0, 1)]
            side = 0 if more[0] < more[1] else 1
            low, high = boxes[side]
            for d, p in enumerate(self.rows[i]):
                low[d], high[d] = min(low[d], p), max(high[d], p)
            widths[side] += grow[side]
            sides[side].append(i)
        return sides


def shuffled_runs(rows: Sequence[int], sizes: Sequence[int], drawn: Sequence[int]) -> list[int]:
    """Put the numbers of each run into a hat, and take the one whose turn it is, from behind."""
    found: list[int] = []
    for size in sizes:
        hat = list(rows[len(found) : len(found) + size])
        turns = drawn[len(found) : len(found) + size]
        taken: list[int] = []
        while hat:
            turn = turns[len(hat) - 1] % len(hat)
            taken.append(hat[turn])
            hat[turn] = hat[-1]
            hat.pop()
        found += taken[::-1]
    return found


def next_random(state: Sequence[int]) -> tuple[list[int], int]:
    """Return the next state of a xoshiro256** sequence, and its number."""

    def turned(x: int, by: int) -> int:
        return ((x << by) | (x >> (64 - by))) & _WRAP

    a, b, c, d = state
    found = (turned((b * 5) & _WRAP, 7) * 9) & _WRAP
    shifted = (b << 17) & _WRAP
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    return [a, b, c ^ shifted, turned(d, 45)], found


def eligible(values: Sequence[int], least: int) -> bool:
    """Say whether no value fills more than 1/least of the rows that have one; -1 is none."""
    known = [v for v in values if v >= 0]
    return bool(known) and max(Counter(known).values()) * least <= len(known)


# ---- counting queries and people -----------------------------------------------------------------


def pairs_linked(entries: Sequence[tuple[int, int, int]]) -> Counter[tuple[int, int]]:
    """Count the rows of (first, second, rows) entries by pair of cells."""
    found: Counter[tuple[int, int]] = Counter()
    for first, second, rows in entries:
        found[first, second] += rows
    return found


def pairs_apart(
    one: Sequence[tuple[int, int, int]], other: Sequence[tuple[int, int, int]], sizes: Sequence[int]
) -> dict[tuple[int, int], Fraction]:
    """Return the expected rows by pair of cells, from (group, cell, rows) entries of both."""
    found: dict[tuple[int, int], Fraction] = {}
    for group, first, rows in one:
        for at, second, others in other:
            if at == group:
                pair = first, second
                found[pair] = found.get(pair, Fraction(0)) + Fraction(rows * others, sizes[group])
    return found


def mean_overlap(
    entries: Sequence[tuple[Codes, int]], overlap: Sequence[Sequence[float] | None]
) -> float:
    """Return the mean over rows of the product of overlaps; columns not asked for are None.

    `entries` are the published codes of a group with their rows, `overlap` tells the share of each
    code of a column that is asked for.
    """
    total = 0.0
    for codes, rows in entries:
        inside = 1.0
        for code, share in zip(codes, overlap, strict=True):
            inside *= 1.0 if share is None else share[code]
        total += inside * rows
    return total / sum(rows for _, rows in entries)


#: People still missing per row of a bucket.
State = tuple[int, ...]


def takeable(state: State, rows: Sequence[int], later: Sequence[int], most: int) -> range:
    """Return how many people of a type a state allows; `rows` are those the type adds to."""
    low = max([0, *(state[r] - more for r, more in zip(rows, later, strict=True))])
    return range(low, min([most, *(state[r] for r in rows)]) + 1)


Edge = tuple[State, int, State]


def layer(
    weights: Mapping[State, float],
    rows: Sequence[int],
    taken: Mapping[State, range],
    ways: Sequence[float],
) -> tuple[dict[State, float], list[Edge]]:
    """Take every number of people that is allowed; return the weights after, and all edges."""
    after: dict[State, float] = {}
    edges: list[Edge] = []
    for state, weight in weights.items():
        for y in taken[state]:
            to = tuple(n - y if r in rows else n for r, n in enumerate(state))
            after[to] = after.get(to, 0.0) + weight * ways[y]
            edges.append((state, y, to))
    return after, edges


def layer_back(
    edges: Sequence[Edge],
    ways: Sequence[float],
    before: Mapping[State, float],
    onward: Mapping[State, float],
) -> tuple[dict[State, float], float, float, list[int]]:
    """Go back over edges to states that lead on: ways from each, weight, people, people taken."""
    live = [(s, y, to) for s, y, to in edges if to in onward]
    back: dict[State, float] = {}
    for s, y, to in live:
        back[s] = back.get(s, 0.0) + ways[y] * onward[to]
    weight = [before[s] * ways[y] * onward[to] for s, y, to in live]
    people = [w * y for w, (_, y, _) in zip(weight, live, strict=True)]
    return back, math.fsum(weight), math.fsum(people), [y for _, y, _ in live]


# ---- slicing -------------------------------------------------------------------------------------

Cells = Sequence[tuple[str, ...]]


def sign_of_sum(
    excess: Sequence[int], factor: Sequence[Sequence[int]], size: Sequence[int], power: int
) -> int:
    """Return the sign of Σ excess · Π factor / size^power."""
    exact = sum(
        Fraction(e * math.prod(f), n**power) for e, f, n in zip(excess, factor, size, strict=True)
    )
    return (exact > 0) - (exact < 0)


def posterior_of(
    t: Sequence[tuple[str, ...]],
    buckets: Sequence[Sequence[int]],
    shown: Sequence[Cells],
    star: int,
    s: Sequence[str],
) -> Fraction:
    """Return max over s of p(t, s); `shown` are the rows' values, block by block."""
    mass: Counter[str] = Counter()
    whole = Fraction(0)
    for bucket in buckets:
        match = Fraction(1)
        for block, value in zip(shown, t, strict=True):
            match *= Fraction(sum(block[i] == value for i in bucket), len(bucket))
        matching = [s[i] for i in bucket if shown[star][i] == t[star]]
        for value in matching if match else ():
            if value != naive.MISSING:  # the chance among rows that have a value
                mass[value] += match / len(matching)  # type: ignore[assignment]
                whole += match / len(matching)
    return max((Fraction(m) / whole for m in mass.values()), default=Fraction(1))


def highest_posterior(
    buckets: Sequence[Sequence[int]], shown: Sequence[Cells], star: int, s: Sequence[str]
) -> Fraction:
    """Return max p(t, s) over everyone."""
    people = {tuple(block[i] for block in shown) for bucket in buckets for i in bucket}
    return max(posterior_of(t, buckets, shown, star, s) for t in people)


def tuple_partition(
    attributes: Sequence[naive.Attribute],
    rows: Cells,
    shown: Sequence[Cells],
    star: int,
    s: Sequence[str],
    least: int,
    size: int,
) -> list[list[int]]:
    """Cut buckets in the order they were made: Q and SB of Li et al.'s algorithm 3 (slicing)."""
    waiting, done = [list(range(len(rows)))], list[list[int]]()
    flat = [replace(a, tree=False) for a in attributes]
    while waiting:
        bucket = waiting.pop(0)
        chosen = next(
            (
                parts
                for parts in _tries(flat, rows, bucket)
                if all(len(p) >= size for p in parts)
                and highest_posterior([*waiting, *parts, *done], shown, star, s) * least <= 1
            ),
            None,
        )
        if chosen is None or len(bucket) < 2 * size:
            done.append(bucket)
        else:
            waiting += chosen
    return done


def _tries(
    attributes: Sequence[naive.Attribute], rows: Cells, bucket: Sequence[int]
) -> list[list[list[int]]]:
    widths = [naive.width(a, [rows[i][d] for i in bucket]) for d, a in enumerate(attributes)]
    found: list[list[list[int]]] = []
    for d in sorted(range(len(attributes)), key=lambda d: (-widths[d], d)):
        if widths[d] > 0:
            values = {i: rows[i][d] for i in bucket}
            found += naive.cuts(attributes[d], values, relaxed=True)
    return found


# ---- classes that overlap ------------------------------------------------------------------------


def fitting_classes(boxes: Sequence[tuple[Codes, Codes]], person: Codes) -> list[int]:
    """Return the classes whose cells, from first to last leaf, cover a person."""
    return [
        c
        for c, (low, high) in enumerate(boxes)
        if all(a <= leaf <= b for a, leaf, b in zip(low, person, high, strict=True))
    ]


def lowest_bit(word: int) -> int:
    """Return the place of the lowest bit of a word that is not zero."""
    return next(place for place in itertools.count() if word >> place & 1)


# ---- values dealt among the rows of a group ------------------------------------------------------


def dealt(weight: Sequence[Sequence[float]], times: Sequence[int]) -> list[list[float]]:
    """Return how likely each row has each value: every deal is written down and weighed."""
    values = [v for v, n in enumerate(times) for _ in range(n)]
    found = [[0.0] * len(times) for _ in weight]
    whole = 0.0
    for deal in set(itertools.permutations(values)):
        own = math.prod(weight[r][v] for r, v in enumerate(deal))
        whole += own
        for r, v in enumerate(deal):
            found[r][v] += own
    return [[x / whole for x in row] for row in found]


def scaled_deals(
    weight: Sequence[Sequence[float]], times: Sequence[int], rounds: int = 400
) -> list[list[float]]:
    """Return a matrix scaled in turn until rows sum to 1 and columns to how often values stand."""
    found = [list(row) for row in weight]
    for _ in range(rounds):
        found = [[x / sum(row) for x in row] for row in found]
        sums = [sum(row[v] for row in found) for v in range(len(times))]
        found = [[x * times[v] / sums[v] for v, x in enumerate(row)] for row in found]
    return [[x / sum(row) for x in row] for row in found]


def settled(rows: Sequence[Sequence[int]], size: int) -> list[int]:
    """Order types so that few rows are open at a time: finish the row with fewest left."""
    waiting: list[set[int]] = [set() for _ in range(size)]
    for j, mine in enumerate(rows):
        for r in mine:
            waiting[r].add(j)
    order: list[int] = []
    opened: set[int] = set()
    while any(waiting):
        unfinished = [r for r in range(size) if waiting[r]]
        row = min(unfinished, key=lambda r: (len(waiting[r]), r not in opened, r))
        for j in sorted(waiting[row]):
            order.append(j)
            for r in rows[j]:
                waiting[r].discard(j)
                opened.add(r)
    return order


# -- orders ------------------------------------------------------------------------------------


def by_bits(words: Sequence[int], low: int, high: int) -> list[int]:
    """Return words ordered by their bits from `low` up to `high`, equal ones as they stand."""
    return sorted(words, key=lambda word: (word >> low) % (1 << (high - low)))


# -- lines -----------------------------------------------------------------------------------------


def joined_texts(columns: Sequence[Sequence[int]], texts: Sequence[Sequence[bytes]]) -> bytes:
    """Return rows of texts one after the other: by column, each row's place among its texts."""
    rows = zip(*columns, strict=True)
    return b"".join(texts[d][place] for row in rows for d, place in enumerate(row))
