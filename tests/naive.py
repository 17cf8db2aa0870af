"""Plain-loop twins of the core, written from the definitions: slow, and easy to see through.

They share nothing with the core. A table is a list of rows, a row a tuple of texts (``""`` where a
value is missing); what a column's hierarchy says is in an `Attribute`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

MISSING = ""
Row = tuple[str, ...]
Node = tuple[int, ...]
#: Published cells → numbers of the rows that show them.
Classes = dict[Row, list[int]]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier.

    `leaves` are its values in order, the missing one last; `labels` gives each leaf's text on
    every level, itself first; `number` its value, for numbers; `tree` says that a Mondrian cut
    follows the hierarchy; `ordered` that its order means something.
    """

    leaves: list[str]
    labels: dict[str, Row]
    number: dict[str, Fraction] | None = None
    tree: bool = False
    ordered: bool = True

    @property
    def height(self) -> int:
        return len(next(iter(self.labels.values()))) - 1

    def under(self, label: str, level: int) -> list[str]:
        """Return the leaves that a label on a level covers."""
        return [leaf for leaf in self.leaves if self.labels[leaf][level] == label]


def attribute(
    values: Iterable[str],
    levels: Sequence[Sequence[str]] | None = None,
    *,
    number: bool = False,
    tree: bool = False,
    ordered: bool = True,
) -> Attribute:
    """Read an attribute from the values of a column and its level table, if there is one."""
    seen = set(values)
    present = seen - {MISSING}
    table = [tuple(line) for line in levels] if levels else [(v, "*") for v in sorted(present)]
    if number:
        table.sort(key=lambda line: Fraction(line[0]))
    else:
        table = depth_first(table)
    labels = {line[0]: line for line in table}
    leaves = [line[0] for line in table]
    if MISSING in seen:  # missing hangs directly under the root
        leaves.append(MISSING)
        labels[MISSING] = (MISSING,) * (len(table[0]) - 1) + (table[0][-1],)
    return Attribute(
        leaves=leaves,
        labels=labels,
        number={v: Fraction(v) for v in leaves if v != MISSING} if number else None,
        tree=tree and len(table[0]) > 2,
        ordered=ordered,
    )


def depth_first(table: Sequence[Row]) -> list[Row]:
    """Order a level table so that every node is a run, keeping the order of first appearance."""

    def below(lines: Sequence[Row], level: int) -> list[Row]:
        if level < 0:
            return list(lines)
        parts: dict[str, list[Row]] = {}
        for line in lines:
            parts.setdefault(line[level], []).append(line)
        return [line for part in parts.values() for line in below(part, level - 1)]

    return below(table, len(table[0]) - 1)


# ---- nodes of the lattice ------------------------------------------------------------------------


def every_node(attributes: Sequence[Attribute]) -> list[Node]:
    return list(itertools.product(*(range(a.height + 1) for a in attributes)))


def classes(rows: Sequence[Row], attributes: Sequence[Attribute], node: Node) -> Classes:
    """Group the rows by what they say at a node."""
    found: Classes = {}
    for i, row in enumerate(rows):
        cells = tuple(a.labels[v][n] for a, v, n in zip(attributes, row, node, strict=True))
        found.setdefault(cells, []).append(i)
    return found


def keeps(
    members: Sequence[int], k: int = 1, needs: Sequence[tuple[Sequence[str], int]] = ()
) -> bool:
    """Say whether a set of rows has k rows and, per sensitive column, enough distinct values.

    A missing value is none of them.
    """
    return len(members) >= k and all(
        len({column[i] for i in members} - {MISSING}) >= least for column, least in needs
    )


def no_value_too_common(members: Sequence[int], column: Sequence[str], least: int) -> bool:
    """Say whether, of the rows that have a value, some do and no value fills more than 1/least."""
    known = [column[i] for i in members if column[i] != MISSING]
    return bool(known) and max(Counter(known).values()) * least <= len(known)


def kept_classes(
    found: Classes, k: int = 1, needs: Sequence[tuple[Sequence[str], int]] = ()
) -> Classes:
    return {cells: members for cells, members in found.items() if keeps(members, k, needs)}


def removed_rows(found: Classes, kept: Classes) -> list[int]:
    return sorted(i for cells, members in found.items() if cells not in kept for i in members)


def minimal_nodes(satisfied: Iterable[Node]) -> set[Node]:
    """Return the satisfied nodes that have no other satisfied node below them."""
    nodes = set(satisfied)
    return {
        node
        for node in nodes
        if not any(
            other != node and all(o <= n for o, n in zip(other, node, strict=True))
            for other in nodes
        )
    }


def rolled(
    keys: Sequence[Sequence[int]], count: Sequence[int], maps: Mapping[int, Sequence[int]]
) -> dict[tuple[int, ...], int]:
    """Map the fields of keys and add up equal keys."""
    found: Counter[tuple[int, ...]] = Counter()
    for key, rows in zip(keys, count, strict=True):
        found[tuple(maps[d][v] if d in maps else v for d, v in enumerate(key))] += rows
    return dict(found)


def rows_around(
    keys: Sequence[Sequence[int]],
    count: Sequence[int],
    levels: Sequence[Sequence[Sequence[int]]],
    row: Sequence[int],
) -> dict[Node, int]:
    """Return the size of a row's class at every node; `levels` by field, level and leaf."""
    return {
        node: sum(
            rows
            for key, rows in zip(keys, count, strict=True)
            if all(
                own[n][v] == own[n][mine]
                for own, n, v, mine in zip(levels, node, key, row, strict=True)
            )
        )
        for node in itertools.product(*(range(len(own)) for own in levels))
    }


def tallied(
    found: Mapping[tuple[int, ...], int], cost: Sequence[Sequence[float]], limits: Sequence[int]
) -> list[tuple[int, int, int, float]]:
    """Count classes by least size: rows suppressed, classes kept, Σ rows² of them, Σ cost removed.

    `cost` is by field and value.
    """
    values: list[tuple[int, int, int, float]] = []
    for limit in limits:
        kept = [rows for rows in found.values() if rows >= limit]
        gone = {key: rows for key, rows in found.items() if rows < limit}
        paid = sum(
            rows * sum(own[v] for own, v in zip(cost, key, strict=True))
            for key, rows in gone.items()
        )
        values.append((sum(gone.values()), len(kept), sum(rows * rows for rows in kept), paid))
    return values


def removed_by_leaf(
    keys: Sequence[Sequence[int]],
    count: Sequence[int],
    keep: Sequence[bool],
    leaves: Sequence[int],
) -> list[list[int]]:
    """Count suppressed rows per attribute and leaf."""
    found = [[0] * size for size in leaves]
    for key, rows, kept in zip(keys, count, keep, strict=True):
        for d, leaf in enumerate(key):
            found[d][leaf] += 0 if kept else rows
    return found


def raised_below(
    bound: Mapping[Node, float], node: Node, part: Sequence[Sequence[float]], base: float
) -> dict[Node, float]:
    """Raise the bounds of all nodes below (and of) a node to a sum of one number per attribute."""
    return {
        other: max(value, base + sum(part[d][n] for d, n in enumerate(other)))
        if all(a <= b for a, b in zip(other, node, strict=True))
        else value
        for other, value in bound.items()
    }


# ---- metrics -------------------------------------------------------------------------------------


def loss_of(a: Attribute, cover: Sequence[str]) -> Fraction:
    """(leaves − 1) / (|A| − 1) of one cell."""
    return Fraction(len(cover) - 1, max(len(a.leaves) - 1, 1))


def ncp_of(a: Attribute, cover: Sequence[str], column: Sequence[str]) -> Fraction:
    """NCP of one cell; `column` is the whole column, whose range counts as 1."""
    if a.number is None:
        return Fraction(len(cover), len(a.leaves)) if len(cover) > 1 else Fraction(0)
    if MISSING in cover and len(cover) > 1:
        return Fraction(1)
    observed = [a.number[v] for v in column if v != MISSING]
    inside = [a.number[v] for v in column if v != MISSING and v in cover]
    if not inside or max(observed) == min(observed):
        return Fraction(0)
    return (max(inside) - min(inside)) / (max(observed) - min(observed))


def price_of(metric: str, a: Attribute, cover: Sequence[str], column: Sequence[str]) -> Fraction:
    """Return the price of one cell."""
    if metric in ("loss", "weighted-loss"):  # every weight is 1 where none is given
        return loss_of(a, cover)
    if metric == "ncp":
        return ncp_of(a, cover, column)
    return Fraction(covering_level(a, cover), max(a.height, 1))


def discernibility(sizes: Iterable[int], removed: int, rows: int) -> int:
    return sum(size * size for size in sizes) + removed * rows


def outvoted(classes: Iterable[Sequence[str]], removed: int) -> int:
    """Return rows not of their class's most common label, given the labels, and those removed."""
    wrong = removed
    for labels in classes:
        wrong += len(labels) - max(labels.count(label) for label in labels)
    return wrong


def average_class_size(sizes: Sequence[int], rows: int, k: int = 1) -> Fraction:
    return Fraction(rows, len(sizes) * k)


def log2(number: int) -> Fraction:
    """Return a logarithm to so many digits that equal ones are equal and others are not."""
    with localcontext(prec=80):
        return Fraction(Decimal(number).ln() / Decimal(2).ln())


def cost(
    metric: str,
    rows: Sequence[Row],
    attributes: Sequence[Attribute],
    covers: Sequence[tuple[Sequence[Sequence[str]], Sequence[int]]],
) -> Fraction:
    """Return the cost of a release given as (cover of every cell, its rows) per class."""
    sizes = [len(members) for _, members in covers]
    removed = len(rows) - sum(sizes)
    if metric == "discernibility":
        return Fraction(discernibility(sizes, removed, len(rows)))
    if metric == "average-class-size":
        return average_class_size(sizes, len(rows))
    if metric == "choices-left":
        every = math.prod(len(a.leaves) for a in attributes)
        ways = every**removed
        for cells, members in covers:
            ways *= math.prod(map(len, cells)) ** len(members)
        whole = log2(every)
        return log2(ways) / (whole * len(rows)) if whole else Fraction(removed, len(rows))
    columns = list(zip(*rows, strict=True))
    total = Fraction(removed * len(attributes))
    prices: dict[tuple[int, str, str], Fraction] = {}  # a cover is shown by its ends
    for cells, members in covers:
        for d, (a, cover) in enumerate(zip(attributes, cells, strict=True)):
            ends = (d, cover[0], cover[-1])
            if ends not in prices:
                prices[ends] = price_of(metric, a, cover, columns[d])
            total += prices[ends] * len(members)
    return total / (len(rows) * len(attributes))


def covers_at(
    kept: Classes, attributes: Sequence[Attribute], node: Node
) -> list[tuple[list[list[str]], list[int]]]:
    """Return a node's kept classes with the leaves each of their cells covers."""
    return [
        ([a.under(c, n) for a, c, n in zip(attributes, cells, node, strict=True)], members)
        for cells, members in kept.items()
    ]


# ---- Mondrian ------------------------------------------------------------------------------------


def mondrian(
    rows: Sequence[Row],
    attributes: Sequence[Attribute],
    k: int,
    needs: Sequence[tuple[Sequence[str], int]] = (),
    members: Sequence[int] | None = None,
    *,
    relaxed: bool = False,
    most: Sequence[tuple[Sequence[str], int]] = (),
    weights: Sequence[Fraction] | None = None,
) -> list[list[int]]:
    """Partition the rows: strict cuts, widest attribute first, ties in the attributes' order.

    Numbers, dates and ordered values have missing values cut off first; else they are cut at ≤ the
    lower median, and where a side would break a promise at < the median; categories with a
    hierarchy into the children of the node that covers them, all of which must keep the promises.
    Relaxed cuts part the rows at the median of ordered attributes in the order of `members`, the
    earlier ones below.
    `most` gives columns of which no value may fill more than 1/l of a part.
    """
    members = range(len(rows)) if members is None else members
    weights = weights or [Fraction(1)] * len(attributes)
    widths = [
        width(a, [rows[i][d] for i in members]) * w
        for d, (a, w) in enumerate(zip(attributes, weights, strict=True))
    ]
    for d in sorted(range(len(attributes)), key=lambda d: (-widths[d], d)):
        if widths[d] <= 0:
            continue
        for parts in cuts(attributes[d], {i: rows[i][d] for i in members}, relaxed=relaxed):
            if all(keeps(p, k, needs) and rare(p, most) for p in parts):
                return [
                    leaf
                    for part in parts
                    for leaf in mondrian(
                        rows,
                        attributes,
                        k,
                        needs,
                        part,
                        relaxed=relaxed,
                        most=most,
                        weights=weights,
                    )
                ]
    return [sorted(members)]


def rare(part: Sequence[int], most: Sequence[tuple[Sequence[str], int]]) -> bool:
    """Say whether no value of a column fills more than 1/l of a set of rows."""
    return all(
        least * max(Counter(column[i] for i in part).values()) <= len(part)
        for column, least in most
    )


def gain_mondrian(
    rows: Sequence[Row],
    attributes: Sequence[Attribute],
    k: int,
    needs: Sequence[tuple[Sequence[str], int]] = (),
    members: Sequence[int] | None = None,
    *,
    metric: str = "ncp",
    weights: Sequence[Fraction] | None = None,
    quartiles: bool = False,
) -> list[list[int]]:
    """Partition the rows by the cut that leaves the cheapest two sides, over all attributes.

    An attribute with `tree` publishes nodes, and one node is set apart from the rest; another is
    cut in two in the order of its leaves, anywhere or at a quartile. Of equal prices the more even
    cut wins, then the lower level, the earlier leaf, the earlier attribute.
    """
    members = list(range(len(rows)) if members is None else members)
    weights = weights or [Fraction(1)] * len(attributes)
    columns = list(zip(*rows, strict=True))

    def price(part: Sequence[int]) -> Fraction:
        total = Fraction(0)
        for d, (a, w) in enumerate(zip(attributes, weights, strict=True)):
            cover = box(a, {rows[i][d] for i in part})
            if len(cover) > 1:
                one = loss_of(a, cover) if metric == "loss" else ncp_of(a, cover, columns[d])
                total += w * one
        return total * len(part)

    best: list[tuple[Fraction, list[list[int]]]] = []
    for d, a in enumerate(attributes):
        value = {i: rows[i][d] for i in members}
        ranked = [
            (price(one) + price(other), -min(len(one), len(other)), n, [one, other])
            for n, (one, other) in enumerate(two_sides(a, value, quartiles))
            if min(len(one), len(other)) >= k
        ]
        if ranked:
            total, _, _, parts = min(ranked, key=lambda r: r[:3])
            best.append((total, parts))
    for _, parts in sorted(best, key=lambda b: b[0]):
        if all(keeps(part, k, needs) for part in parts):
            return [
                leaf
                for part in parts
                for leaf in gain_mondrian(
                    rows,
                    attributes,
                    k,
                    needs,
                    part,
                    metric=metric,
                    weights=weights,
                    quartiles=quartiles,
                )
            ]
    return [sorted(members)]


def two_sides(
    a: Attribute, value: Mapping[int, str], quartiles: bool
) -> list[tuple[list[int], list[int]]]:
    """Return every way to set some values of an attribute apart, in order."""
    seen = [leaf for leaf in a.leaves if leaf in set(value.values())]
    apart: list[list[str]] = []
    if a.tree:
        for level in range(covering_level(a, seen)):
            nodes = dict.fromkeys(a.labels[leaf][level] for leaf in seen)
            apart += [[v for v in seen if a.labels[v][level] == node] for node in nodes]
    else:
        at = [
            next(
                n
                for n in range(len(seen))
                if 4 * sum(v in seen[: n + 1] for v in value.values()) >= quarter * len(value)
            )
            for quarter in (1, 2, 3)
        ]
        wanted = {n for place in at for n in (place, place - 1)} if quartiles else range(len(seen))
        apart = [seen[: n + 1] for n in range(len(seen) - 1) if n in wanted]
    return [
        ([i for i, v in value.items() if v in some], [i for i, v in value.items() if v not in some])
        for some in apart
    ]


def positions(a: Attribute) -> dict[str, Fraction]:
    """Return where every leaf is: by value for numbers, else by rank; missing far outside."""
    span = max(len(a.leaves) - 1, 1)
    where = {leaf: Fraction(i, span) for i, leaf in enumerate(a.leaves)}
    if a.number:
        low, high = min(a.number.values()), max(a.number.values())
        whole = high - low
        for leaf, value in a.number.items():
            where[leaf] = (value - low) / whole if whole else Fraction(0)
    if MISSING in where:
        where[MISSING] = Fraction(2)
    return where


def covering_level(a: Attribute, values: Iterable[str]) -> int:
    """Return the lowest level on which all values have one label."""
    seen = list(values)
    return next(n for n in range(a.height + 1) if len({a.labels[v][n] for v in seen}) == 1)


def width(a: Attribute, values: Sequence[str]) -> Fraction:
    if len(set(values)) < 2:
        return Fraction(-1)
    if a.tree:
        level = covering_level(a, values)
        inside = a.under(a.labels[values[0]][level], level)
        return Fraction(len(inside) - 1, max(len(a.leaves) - 1, 1))
    where = positions(a)
    return max(where[v] for v in values) - min(where[v] for v in values)


def cuts(a: Attribute, value: Mapping[int, str], *, relaxed: bool = False) -> list[list[list[int]]]:
    """Return the partitions to try, in order."""
    if a.tree:
        level = covering_level(a, value.values()) - 1
        children: dict[str, list[int]] = {}
        for i, v in value.items():
            children.setdefault(a.labels[v][level], []).append(i)
        return [list(children.values())]
    rank = {leaf: i for i, leaf in enumerate(a.leaves)}
    ordered = sorted(rank[v] for v in value.values())
    median = ordered[(len(ordered) + 1) // 2 - 1]
    found: list[list[list[int]]] = []
    bars = [rank[MISSING]] if MISSING in rank else []  # missing values are cut off first
    for attempt, bar in enumerate((*bars, median + 1, median)):
        if relaxed and a.ordered and attempt == len(bars):
            low = [i for i, v in value.items() if rank[v] < median]
            ties = [i for i, v in value.items() if rank[v] == median]
            low += ties[: (len(value) + 1) // 2 - len(low)]
            low = [i for i in value if i in set(low)]
            found.append([low, [i for i in value if i not in set(low)]])
        low = [i for i, v in value.items() if rank[v] < bar]
        high = [i for i in value if i not in set(low)]
        if low and high:
            found.append([low, high])
    return found


def box(a: Attribute, values: Iterable[str]) -> list[str]:
    """Return the leaves that a part publishes: its node, or its range in the order of leaves."""
    seen = set(values)
    if a.tree:
        level = covering_level(a, seen)
        return a.under(a.labels[next(iter(seen))][level], level)
    if MISSING in seen and len(seen) > 1:  # no range holds the missing value but the whole
        return list(a.leaves)
    places = [i for i, leaf in enumerate(a.leaves) if leaf in seen]
    return a.leaves[min(places) : max(places) + 1]


def boxes(
    rows: Sequence[Row], attributes: Sequence[Attribute], partition: Sequence[Sequence[int]]
) -> list[tuple[list[list[str]], list[int]]]:
    """Return what every part publishes: the cover of each cell, and its rows."""
    return [
        ([box(a, (rows[i][d] for i in part)) for d, a in enumerate(attributes)], list(part))
        for part in partition
    ]


def local_parts(
    rows: Sequence[Row],
    attributes: Sequence[Attribute],
    by_entropy: float,
    k: int = 1,
    needs: Sequence[tuple[Sequence[str], int]] = (),
) -> list[list[int]]:
    """Part a table top-down along the hierarchies, each part by itself, steered by loss."""
    leaf = [{v: i for i, v in enumerate(a.leaves)} for a in attributes]
    tuples = sorted({tuple(p[v] for p, v in zip(leaf, row, strict=True)) for row in rows})
    members = {
        t: [
            i
            for i, row in enumerate(rows)
            if tuple(p[v] for p, v in zip(leaf, row, strict=True)) == t
        ]
        for t in tuples
    }

    def rows_of(part: Sequence[tuple[int, ...]]) -> list[int]:
        return [i for t in part for i in members[t]]

    def pieces(
        part: Sequence[tuple[int, ...]], d: int
    ) -> tuple[float, list[list[tuple[int, ...]]]]:
        """Return the score of lowering attribute `d`, and the parts that makes."""
        a = attributes[d]
        level = covering_level(a, [a.leaves[t[d]] for t in part])
        if level == 0:
            return 0.0, []
        children: dict[str, list[tuple[int, ...]]] = {}
        for t in part:
            children.setdefault(a.labels[a.leaves[t[d]]][level - 1], []).append(t)
        size = {c: len(rows_of(own)) for c, own in children.items()}
        pooled = {c for c in children if size[c] < k}
        while 0 < sum(size[c] for c in pooled) < k and len(pooled) < len(children):
            first = {c: a.leaves.index(a.under(c, level - 1)[0]) for c in children}
            pooled.add(min(set(children) - pooled, key=lambda c: (size[c], first[c])))
        alone = [c for c in children if c not in pooled]
        made = (
            [[t for t in part if a.labels[a.leaves[t[d]]][level - 1] in pooled]] if pooled else []
        )
        made += [children[c] for c in alone]
        if not alone or len(made) < 2:
            return 0.0, []
        now = loss_of(a, a.under(a.labels[a.leaves[part[0][d]]][level], level))
        saved = sum(size[c] * (now - loss_of(a, a.under(c, level - 1))) for c in alone)
        total = sum(size.values())
        shares = [len(rows_of(m)) / total for m in made]
        entropy = -total * sum(s * math.log(s) for s in shares)
        return float(saved) / max(entropy, 1e-9) ** by_entropy, made

    def below(part: list[tuple[int, ...]]) -> list[list[int]]:
        if len(rows_of(part)) >= 2 * k and len(part) > 1:
            tried = [pieces(part, d) for d in range(len(attributes))]
            scores = [s for s, _ in tried]
            while max(scores) > 0:
                best = next(d for d, s in enumerate(scores) if s > 0)
                for d, s in enumerate(scores):
                    if s > scores[best] * (1 + 1e-9):
                        best = d
                if all(keeps(rows_of(m), k, needs) for m in tried[best][1]):
                    return [found for m in tried[best][1] for found in below(m)]
                scores[best] = 0.0
        return [sorted(rows_of(part))]

    return below(tuples)


# ---- attacks -------------------------------------------------------------------------------------


def covered_people(cells: Sequence[Sequence[str]], people: Sequence[Row]) -> int:
    """Count the people whose every value is covered by the cells."""
    return sum(all(v in cover for v, cover in zip(p, cells, strict=True)) for p in people)


def sharing_classes(
    classes: Sequence[Sequence[Sequence[str]]], people: Sequence[Row]
) -> list[bool]:
    """Say of every class whether someone who is covered by its cells is covered by another's."""
    inside = [
        {p for p in people if all(v in c for v, c in zip(p, cells, strict=True))}
        for cells in classes
    ]
    return [
        any(own & other for j, other in enumerate(inside) if i != j) for i, own in enumerate(inside)
    ]


def certain_people(groups: Iterable[Sequence[int]], column: Sequence[str]) -> int:
    """Count the people whose group shows a single sensitive value."""
    return sum(len(g) for g in groups if len({column[i] for i in g}) == 1)


def fewest_values(groups: Iterable[Sequence[int]], column: Sequence[str]) -> int:
    return min(len({column[i] for i in g}) for g in groups)


def posterior(values: Sequence[str]) -> dict[str, Fraction]:
    """Return what someone learns who knows a person's group: c(v) / N."""
    return {v: Fraction(c, len(values)) for v, c in Counter(values).items()}


def expected_inverse(f: int, share: float) -> float:
    """Sum P(F = j) / j over j ≥ f, with F the trial of the f-th success of chance `share`."""
    parts: list[float] = []
    for j in itertools.count(f):
        logarithm = (
            math.lgamma(j)
            - math.lgamma(f)
            - math.lgamma(j - f + 1)
            + f * math.log(share)
            + (j - f) * math.log1p(-share)
        )
        parts.append(math.exp(logarithm) / j)
        if j > f / share and parts[-1] < 1e-22:  # past the most likely j the terms only fall
            return math.fsum(parts)
    raise AssertionError


# ---- Microaggregation ----------------------------------------------------------------------------


def mdav(points: Sequence[Sequence[float]], count: Sequence[int], k: int) -> list[list[int]]:
    """Return MDAV's groups of tuples; what is left over below k rows stays tuple by tuple."""

    def apart(t: int, centre: Sequence[float]) -> float:
        return sum((a - b) * (a - b) for a, b in zip(points[t], centre, strict=True))

    def rows_of(tuples: Iterable[int]) -> int:
        return sum(count[t] for t in tuples)

    def take(seed: int) -> list[int]:
        group: list[int] = []
        for t in sorted(left, key=lambda t: (apart(t, points[seed]), t)):
            if rows_of(group) >= k:
                break
            group.append(t)
        for t in group:
            left.remove(t)
        return group

    left = list(range(len(points)))
    groups: list[list[int]] = []
    while rows_of(left) >= 2 * k:
        two = rows_of(left) >= 3 * k
        centre = [0.0] * len(points[0])
        for t in left:
            for d, own in enumerate(points[t]):
                centre[d] += count[t] * own
        centre = [c / rows_of(left) for c in centre]
        seed = max(left, key=lambda t: (apart(t, centre), -t))
        groups.append(take(seed))
        if two and rows_of(left) >= 2 * k:
            groups.append(take(max(left, key=lambda t: (apart(t, points[seed]), -t))))
    if rows_of(left) >= k:
        groups.append(left)
    else:
        groups += [[t] for t in left]
    return groups
