"""Sets of items in cells: which itemsets rows hold, how many hold each, and trees of items.

A cell is a text of items with a separator between them. An item that is written twice is one, an
empty set holds no itemset, and a missing cell is an item of its own.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.contracts.group_stats import Histogram

Items = tuple[str, ...]
#: Itemsets of the distinct cells that are counted at most.
MOST_ITEMSETS = 10_000_000


def items_of(cell: str, separator: str) -> Items:
    """Return the items of a cell, ascending, each once.

    Examples
    --------
    >>> items_of("b | a|b", "|"), items_of(" | ", "|")
    (('a', 'b'), ())
    """
    return tuple(sorted({item.strip() for item in cell.split(separator)} - {""}))


def itemsets_in_all(sets: Iterable[Items], m: int) -> int:
    """Return how many itemsets of 1 to m items sets hold, each set by itself."""
    return sum(math.comb(len(one), size) for one in sets for size in range(1, m + 1))


def refuse_many(sets: Iterable[Items], m: int, column: str) -> None:
    """Refuse cells that hold more itemsets than are counted.

    Raises
    ------
    BadPlan
    """
    found = itemsets_in_all(sets, m)
    if found > MOST_ITEMSETS:
        raise BadPlan(
            f"The cells of '{column}' hold {found:,} itemsets of up to {m} items; at most "
            f"{MOST_ITEMSETS:,} are counted.",
            remedy="Choose a smaller m, or leave out rows with very many items.",
        )


def rare_itemsets(sets: Mapping[Items, int], k: int, size: int) -> dict[Items, int]:
    """Return the itemsets of a size that 1 to k − 1 rows hold, with these.

    Parameters
    ----------
    sets : mapping of Items to int
        Rows of each set.

    Examples
    --------
    >>> rare_itemsets({("a", "b"): 1, ("b",): 3}, k=2, size=1)
    {('a',): 1}
    """
    held = Counter[Items]()
    for items, rows in sets.items():
        for itemset in itertools.combinations(items, size):
            held[itemset] += rows
    return {itemset: rows for itemset, rows in held.items() if rows < k}


@dataclass(frozen=True, kw_only=True, eq=False)
class Itemsets:
    """The itemsets of 1 to m items of each value of a column, by number.

    Attributes
    ----------
    first : int64 array of shape (values + 1,)
        Where those of each value begin in `of`.
    of : int64 array
        Numbers of itemsets, one value after the other.
    """

    first: I64
    of: I64
    number: int

    def fewest(self, counted: Histogram, sizes: I64) -> I64:
        """Return the rows of each group that hold its rarest itemset; the empty one is in all.

        Parameters
        ----------
        sizes : int64 array of shape (groups,)
            Rows of each group.
        """
        found = sizes.copy()
        np.minimum.at(found, *self._rows(counted))
        return found

    def most(self, counted: Histogram) -> I64:
        """Return the rows of each group that hold its most frequent itemset or an empty set."""
        held = (self.first[1:] - self.first[:-1])[counted.value] > 0
        found = np.bincount(
            counted.group[~held], counted.count[~held], minlength=counted.groups
        ).astype(np.int64)
        np.maximum.at(found, *self._rows(counted))
        return found

    def _rows(self, counted: Histogram) -> tuple[I64, I64]:
        """Return the group of each itemset that it holds, and how many of its rows do."""
        start = self.first[counted.value]
        many = self.first[counted.value + 1] - start
        ends = np.cumsum(many)
        at = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - many, many)
        itemset = self.of[np.repeat(start, many) + at]
        pair = np.repeat(counted.group, many) * max(self.number, 1) + itemset
        found, place = np.unique(pair, return_inverse=True)
        rows = np.bincount(place, np.repeat(counted.count, many), minlength=len(found))
        return found // max(self.number, 1), rows.astype(np.int64)


@lru_cache(maxsize=8)
def itemsets_of(values: tuple[str, ...], missing: int, separator: str, m: int) -> Itemsets:
    """Return the itemsets of each value; the missing one, by its number, is an item of its own."""
    place: dict[Items, int] = {}
    of: list[int] = []
    first = [0]
    for number, value in enumerate(values):
        items = ("",) if number == missing else items_of(value, separator)
        for size in range(1, m + 1):
            for itemset in itertools.combinations(items, size):
                of.append(place.setdefault(itemset, len(place)))
        first.append(len(of))
    return Itemsets(
        first=np.array(first, dtype=np.int64),
        of=np.array(of, dtype=np.int64),
        number=len(place),
    )


# Trees of items, and cuts through them.


@dataclass(frozen=True, kw_only=True)
class ItemTree:
    """A tree whose leaves are items: what is published instead of them.

    Attributes
    ----------
    children : mapping of str to tuple of str
        Of each group, in the order of the lines.
    top : str
    """

    children: Mapping[str, Items]
    top: str
    parent: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Find the group of each label."""
        up = {one: group for group, under in self.children.items() for one in under}
        object.__setattr__(self, "parent", up)

    @cached_property
    def leaves(self) -> Mapping[str, Items]:
        """The items under each label; an item is under itself."""
        found: dict[str, Items] = {}

        def under(label: str) -> Items:
            if label not in found:
                own = self.children.get(label, ())
                found[label] = tuple(x for one in own for x in under(one)) if own else (label,)
            return found[label]

        under(self.top)
        return found

    def number_of_cuts(self) -> int:
        """Return how many ways there are to publish each item as itself or a group above it."""

        def of(label: str) -> int:
            own = self.children.get(label, ())
            return 1 + math.prod(map(of, own)) if own else 1

        return of(self.top)

    def cuts(self) -> Iterator[Items]:
        """Return every cut: labels, in the order of the tree."""

        def of(label: str) -> Iterator[Items]:
            own = self.children.get(label, ())
            if own:
                for parts in itertools.product(*(list(of(one)) for one in own)):
                    yield tuple(itertools.chain.from_iterable(parts))
            yield (label,)

        return of(self.top)

    def cost(self, cut: Iterable[str], rows: Mapping[str, int]) -> int:
        """Return the loss of a cut: Σ over items, as often as rows hold them, of leaves − 1."""
        return sum(
            (len(self.leaves[label]) - 1) * sum(rows.get(x, 0) for x in self.leaves[label])
            for label in cut
        )

    def labels(self, cut: Iterable[str]) -> dict[str, str]:
        """Return the label of each item."""
        return {item: label for label in cut for item in self.leaves[label]}


def read_item_tree(lines: str, items: Iterable[str]) -> ItemTree:
    """Read lines such as ``fruit: apple, pear``; what has no group is under ``*``.

    Without lines all items are under ``*``.

    Raises
    ------
    BadPlan
        A line that cannot be read, a label twice, a circle, or items that no line names.
    """
    known = sorted(set(items))
    children: dict[str, Items] = {}
    grouped: set[str] = set()
    for number, line in enumerate(lines.splitlines(), start=1):
        if not line.strip():
            continue
        group, colon, rest = (part.strip() for part in line.partition(":"))
        under = tuple(one.strip() for one in rest.split(","))
        if not colon or not group or not all(under):
            raise _bad_tree(number, "it is not 'group: item, item'")
        if group in children:
            raise _bad_tree(number, "its group has another line")
        if grouped & set(under) or len(set(under)) < len(under):
            raise _bad_tree(number, "a label on it is in a group already")
        children[group] = under
        grouped |= set(under)
    tops = [group for group in children if group not in grouped]
    if not children:
        tops = known
    elif unknown := [x for x in known if x not in grouped]:
        raise BadPlan(
            f"{len(unknown):,} of {len(known):,} items are in no group of the tree of items.",
            remedy="Add them to a line such as 'fruit: apple, pear', or leave the tree empty.",
        )
    held = [group for group in children if group in set(known)]
    if held:
        raise BadPlan(
            f"The tree of items has {len(held)} groups that are items in cells too.",
            remedy="Give the groups other names.",
        )
    if len(tops) != 1 or not children:
        if "*" in grouped or "*" in children or "*" in known:
            raise BadPlan(
                "The tree of items has several tops and uses * itself, which is put above them.",
                remedy="Name one group above all others, or use no '*'.",
            )
        children["*"] = tuple(tops)
        tops = ["*"]
    tree = ItemTree(children=children, top=tops[0])
    if not set(children) <= {tree.top, *_below(tree, tree.top)}:
        raise BadPlan(
            "The tree of items has a circle: a group is under itself.",
            remedy="Write each group below the one that holds it.",
        )
    return tree


def _bad_tree(line: int, why: str) -> BadPlan:
    return BadPlan(
        f"Line {line} of the tree of items cannot be read: {why}.",
        remedy="Write a line for each group, such as 'fruit: apple, pear', each label once.",
    )


#: Cuts times itemsets up to which every cut is looked at.
EXACT = 2_000_000


def best_cut(tree: ItemTree, sets: Mapping[Items, int], k: int, m: int) -> Items:
    """Return the cut of least loss at which k rows hold each itemset of up to m items.

    Of equal losses the first by its labels. Where there are too many cuts to look at all of them,
    groups take over their labels one after the other, for itemsets of 1 item, then 2, up
    to m: the group with the least loss for each rare itemset that it touches (apriori anonymization
    of Terrovitis et al. 2008, with this choice among groups).

    Parameters
    ----------
    sets : mapping of Items to int
        Rows of each set of items.

    Raises
    ------
    Infeasible
        If k rows do not hold the top: fewer rows have any item.
    """
    rows = Counter[str]()
    for items, many in sets.items():
        for item in items:
            rows[item] += many
    some = sum(many for items, many in sets.items() if items)
    if 0 < some < k:
        raise Infeasible(
            f"Only {some} rows hold an item, fewer than k = {k}.",
            remedy=f"Choose k of at most {some}, or leave these rows out.",
            best=float(some),
            best_of="k",
        )

    def at(cut: Items) -> dict[Items, int]:
        label, found = tree.labels(cut), Counter[Items]()
        for items, many in sets.items():
            found[tuple(sorted({label[x] for x in items}))] += many
        return found

    if tree.number_of_cuts() * max(itemsets_in_all(sets, m), 1) <= EXACT:

        def holds(cut: Items) -> bool:
            held = at(cut)
            return not any(rare_itemsets(held, k, size) for size in range(1, m + 1))

        ordered = sorted((tree.cost(cut, rows), cut) for cut in tree.cuts())
        return next(cut for _, cut in ordered if holds(cut))
    cut = tree.leaves[tree.top]
    for size in range(1, m + 1):
        while rare := rare_itemsets(at(cut), k, size):
            touched = Counter(
                group
                for itemset in rare
                for group in {tree.parent[x] for x in itemset if x in tree.parent}
            )
            under = {group: _below(tree, group) for group in touched}
            own = {group: [x for x in cut if x in under[group]] for group in touched}

            def added(group: str, own: Mapping[str, list[str]] = own) -> int:
                return tree.cost((group,), rows) - tree.cost(own[group], rows)

            chosen = min(touched, key=lambda group: (Fraction(added(group), touched[group]), group))
            first = own[chosen][0]
            cut = tuple(
                chosen if x == first else x for x in cut if x == first or x not in own[chosen]
            )
    return cut


def _below(tree: ItemTree, group: str) -> set[str]:
    """Return all labels under a group, without itself."""
    found = set(waiting := list(tree.children.get(group, ())))
    for label in waiting:
        waiting += tree.children.get(label, ())
        found |= set(tree.children.get(label, ()))
    return found
