"""The cells of a protected table, added up again from the private rows, and which are sensitive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.verification.rows.tables import stretched

Key = tuple[str, ...]
Ints = npt.NDArray[Any]
_TOTAL, _MISSING = "Total", "(missing)"
#: What no column is called.
NUMBER = "\0"


def _paths(
    name: str,
    table: Mapping[str, Any],
    values: Iterable[str],
    levels: Mapping[str, Sequence[Sequence[str]]],
) -> dict[str, Key]:
    """Return the labels from the total down to each value, each node once."""
    lines: dict[str, Sequence[str]] = {line[0]: line for line in levels.get(name, [])}
    # Where two are called alike, the first keeps its label; what is missing comes last.
    more = sorted((v for v in values if v not in lines), key=lambda v: (v == "", v))
    lines |= {v: [v, "*"] for v in more}
    height = max((len(line) for line in lines.values()), default=2) - 1
    chosen = set(table.get("levels", {}).get(name, range(height))) - {height}
    raw: dict[str, list[Key]] = {value: [(_TOTAL,)] for value in lines}
    for level in sorted(chosen, reverse=True):
        own = {
            value: str(line[level] if level < len(line) - 1 else line[0])
            for value, line in lines.items()
        }
        parts: dict[Key, set[str]] = defaultdict(set)
        for value, path in raw.items():
            parts[path[-1]].add(own[value])
        for value, path in raw.items():
            # The only part of a total, of the same label, is that total.
            if parts[path[-1]] != {path[-1][-1]}:
                path.append((*path[-1], own[value]))
    labels: dict[Key, str] = {}
    used: set[str] = set()
    for node in (node for path in raw.values() for node in path):
        if node not in labels:
            labels[node] = _label_of(node, used)
            used.add(labels[node])
    return {value: tuple(labels[node] for node in path) for value, path in raw.items()}


def _label_of(node: Key, others: set[str]) -> str:
    """Return how a node is called that may have the label of another; the total has its own."""
    text = label = node[-1] or _MISSING
    number = 1
    while label in others:
        number += 1
        label = f"{text} of {node[-2] or _MISSING}" if number == 2 else f"{text} ({number})"
    return label


class Tree:
    """The nodes of one column, by their labels, and how they add up."""

    def __init__(self, paths: Mapping[str, Key]) -> None:
        labels = dict.fromkeys(label for path in paths.values() for label in path)
        self.labels = list(labels)
        self.place = {label: at for at, label in enumerate(labels)}
        pairs = {pair for path in paths.values() for pair in pairwise(path)}
        self.children: dict[int, list[int]] = defaultdict(list)
        #: Nodes above each node; more than one where a label is at two places.
        self.above: dict[int, list[int]] = defaultdict(list)
        for above, under in sorted((self.place[a], self.place[u]) for a, u in pairs):
            self.children[above].append(under)
            self.above[under].append(above)
        #: Value → its nodes from the total down.
        self.nodes = {value: [self.place[x] for x in path] for value, path in paths.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Held:
    """What respondents contribute to groups of rows, in whole units: runs of entries, by group.

    Attributes
    ----------
    begin : int64 array of shape (groups + 1,)
    who : int64 array of shape (entries,)
    own, weighted : array of whole numbers of shape (entries,)
        Without and with weights.
    agreed : bool array of shape (respondents,)
    spread : tuple of arrays or None
        With expanded weights: the group, size and weight of each contribution.
    """

    begin: Ints
    who: Ints
    own: Ints
    weighted: Ints
    agreed: npt.NDArray[np.bool_]
    spread: tuple[Ints, Ints, Ints] | None = None

    @property
    def sizes(self) -> Ints:
        """Respondents of each group."""
        return np.diff(self.begin)

    def group(self) -> Ints:
        """Return the group of each entry."""
        return np.repeat(np.arange(len(self.begin) - 1), self.sizes)

    def of(self, cell: int) -> dict[int, int]:
        """Return what each respondent contributes to one cell."""
        own = slice(self.begin[cell], self.begin[cell + 1])
        return dict(zip(self.who[own].tolist(), self.own[own].tolist(), strict=True))

    def together(self, groups: Ints, cells: Ints) -> Held:
        """Return groups of cells: the cells of each group are one; groups ascend."""
        many = int(groups.max(initial=-1)) + 1
        sizes = self.sizes[cells]
        _, at = stretched(self.begin[:-1][cells], sizes)
        spread = None
        if self.spread is not None:
            cell, amount, times = self.spread
            first = np.argsort(cell, kind="stable")
            begin = np.searchsorted(cell[first], np.arange(len(self.begin)))
            own = np.diff(begin)[cells]
            which = first[stretched(begin[:-1][cells], own)[1]]
            spread = np.repeat(groups, own), amount[which], times[which]
        return _held(
            np.repeat(groups, sizes), self.who[at], self.own[at], self.weighted[at], many,
            self.agreed, spread,
        )  # fmt: skip


def _held(
    group: Ints,
    who: Ints,
    own: Ints,
    weighted: Ints,
    many: int,
    agreed: npt.NDArray[np.bool_],
    spread: tuple[Ints, Ints, Ints] | None,
) -> Held:
    """Add up what each respondent contributes to each group."""
    order = np.lexsort((who, group))
    group, who = group[order], who[order]
    first = np.flatnonzero(
        np.concatenate([[True], (group[1:] != group[:-1]) | (who[1:] != who[:-1])])[: len(group)]
    )
    sums = [np.add.reduceat(x[order], first) if len(first) else x for x in (own, weighted)]
    begin = np.searchsorted(group[first], np.arange(many + 1))
    return Held(
        begin=begin, who=who[first], own=sums[0], weighted=sums[1], agreed=agreed, spread=spread
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class TableCells:
    """Every cell of a table, computed from the rows: the first column slowest.

    Attributes
    ----------
    unit : int
        All amounts are whole numbers of 1/unit.
    values : array of whole numbers of shape (cells,)
        With weights.
    people : list of str
        Whose each respondent's number is.
    """

    trees: Sequence[Tree]
    unit: int
    values: Ints
    held: Held
    people: Sequence[str]
    amounts: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes of each column."""
        return tuple(len(tree.labels) for tree in self.trees)

    def labels(self, cell: int) -> Key:
        """Return the labels of a cell."""
        nodes = np.unravel_index(cell, self.shape)
        return tuple(tree.labels[int(n)] for tree, n in zip(self.trees, nodes, strict=True))

    def at(self, key: Key) -> int:
        """Return a cell by its labels; -1: there is none."""
        found = 0
        if len(key) != len(self.trees):
            return -1
        for tree, label, size in zip(self.trees, key, self.shape, strict=True):
            node = tree.place.get(label)
            if node is None:
                return -1
            found = found * size + node
        return found

    def texts(self, lines: Sequence[Key]) -> list[str] | None:
        """Return what is published of each cell; none where these are not the cells."""
        found = [""] * len(self.values)
        placed = [self.at(line[:-1]) for line in lines]
        if sorted(placed) != list(range(len(found))):
            return None
        for cell, line in zip(placed, lines, strict=True):
            found[cell] = line[-1]
        return found

    def sums(self) -> Iterator[tuple[Ints, list[Ints]]]:
        """Yield totals with their parts: arrays of cells, those at one place belong together."""
        at = np.arange(len(self.values)).reshape(self.shape)
        for axis, tree in enumerate(self.trees):
            for node, parts in tree.children.items():
                yield (at.take(node, axis).ravel(), [at.take(part, axis).ravel() for part in parts])

    def off(self, values: Ints) -> int:
        """Return how many totals are not the sum of their parts."""
        return sum(
            int((values[total] != sum(values[part] for part in parts)).sum())
            for total, parts in self.sums()
        )


def _codes(texts: Iterable[str]) -> tuple[Ints, list[str]]:
    """Return the number of each text, and the texts."""
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int64)
    return codes, list(place)


def _integers(numbers: Sequence[int], most: int) -> Ints:
    """Return whole numbers as an array; where sums may pass 62 bits, of Python's own."""
    return np.array(numbers, dtype=np.int64 if most < 2**62 else object)


def tabulated(
    table: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
    digits: int,
) -> TableCells:
    """Add up the rows of every cell, and what each respondent contributes to it."""
    trees: list[Tree] = []
    paths: list[Ints] = []
    for name in table["columns"]:
        codes, values = _codes(row[name].strip() for row in rows)
        tree = Tree(_paths(name, table, values, levels))
        nodes = [tree.nodes[value] for value in values]
        deep = max(map(len, nodes), default=1)
        own = np.array([[*path, *[-1] * (deep - len(path))] for path in nodes], dtype=np.int64)
        trees.append(tree)
        paths.append(own.reshape(-1, deep)[codes])
    shape = tuple(len(tree.labels) for tree in trees)
    size = prod(shape)
    amount, per_amount = _numbers(rows, table.get("value", ""))
    weight, per_weight = _numbers(rows, table.get("weight", ""))
    unit = lcm(per_amount * per_weight, 10**digits)
    more = unit // (per_amount * per_weight)
    most = sum(map(abs, amount)) * max(map(abs, weight), default=1) * more * per_weight
    own = _integers([x * more * per_weight for x in amount], most)
    weighted = _integers([x * w * more for x, w in zip(amount, weight, strict=True)], most)
    named = table.get("holding") or table.get("respondent")
    who, people = _codes(
        row[named] if named else row.get(NUMBER, str(number)) for number, row in enumerate(rows)
    )
    agreed = np.zeros(len(people), dtype=np.bool_)
    if table.get("waiver"):  # all rows of someone have to say so
        agreed[:] = True
        agreed[who[[not row[table["waiver"]].strip() for row in rows]]] = False
    cells: list[Ints] = []
    of: list[Ints] = []
    for depths in product(*(range(path.shape[1]) for path in paths)):
        nodes = [path[:, depth] for path, depth in zip(paths, depths, strict=True)]
        inside = np.flatnonzero(np.logical_and.reduce([node >= 0 for node in nodes]))
        cells.append(np.ravel_multi_index([node[inside] for node in nodes], shape))
        of.append(inside)
    cell, row = np.concatenate(cells), np.concatenate(of)
    values = _integers([0] * size, most)
    np.add.at(values, cell, weighted[row])
    spread = None
    if table.get("weights") == "expanded":
        times = np.array([w // per_weight for w in weight], dtype=np.int64)
        spread = cell, np.abs(own)[row], times[row]
    held = _held(cell, who[row], own[row], weighted[row], size, agreed, spread)
    return TableCells(
        trees=trees, unit=unit, values=values, held=held, people=people,
        amounts=bool(table.get("value")),
    )  # fmt: skip


def _numbers(rows: Sequence[Mapping[str, str]], name: str) -> tuple[list[int], int]:
    """Return the numbers of a column as whole ones of a unit, and how many units make one."""
    if not name:
        return [1] * len(rows), 1
    codes, texts = _codes(row[name] for row in rows)
    numbers = [Fraction(text) for text in texts]
    unit = lcm(*(number.denominator for number in numbers))
    whole = [number.numerator * (unit // number.denominator) for number in numbers]
    return [whole[code] for code in codes.tolist()], unit


def sensitive_cells(
    held: Held, values: Ints, rules: Sequence[Mapping[str, Any]], unit: int
) -> dict[int, tuple[Fraction, int]]:
    """Return how far each sensitive cell has to be hidden each way, and how wide.

    Rules go by the size of what is contributed, whatever its sign; where amounts are negative, the
    whole is what these sizes add up to, with weights.
    """
    many, group, sizes = len(held.begin) - 1, held.group(), held.sizes
    amounts, begin = np.abs(held.own), held.begin
    whole = values
    if (held.own < 0).any():
        whole = np.zeros_like(values)
        np.add.at(whole, group, np.abs(held.weighted))
    kept = np.flatnonzero(~held.agreed[held.who])
    kept_group, kept_amounts = group[kept], amounts[kept]
    longest = 1 + max((int(r.get("m", r.get("coalition", 1))) for r in rules), default=1)
    if held.spread is not None:
        cell, amount, times = held.spread
        often = np.minimum(times, longest)
        group, amounts = np.repeat(cell, often), np.repeat(amount, often)
        kept_group, kept_amounts = group, amounts
        whole = np.zeros_like(values)
        np.add.at(whole, cell, amount * times)
        begin = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=many))])
    first = np.argsort(-amounts, kind="stable")
    ordered = amounts[first][np.argsort(group[first], kind="stable")]

    def largest(n: int) -> Ints:
        """Return what the n largest of each group make."""
        found = np.zeros_like(values)
        for at in range(n):
            there = begin[:-1] + at < begin[1:]
            found[there] += ordered[begin[:-1][there] + at]
        return found

    bound = np.full(many, -1, dtype=values.dtype)  # the largest that is to be protected
    np.maximum.at(bound, kept_group, kept_amounts)
    most = max(int(np.abs(whole).max(initial=0)), int(amounts.max(initial=0))) + 1
    each = dict[int, Fraction]()
    wide = np.zeros(many, dtype=np.bool_)
    for rule in rules:
        name = rule["name"]
        if name == "threshold":
            wide |= (sizes > 0) & (sizes < rule["n"])
            continue
        if name == "zero-cells":
            wide |= (sizes > 0) & (largest(1) == 0)
            continue
        if name == "dominance":
            share, size = Fraction(100) / Fraction(str(rule["k"])), int(rule["m"])
        else:
            share = Fraction(str(rule["p"])) / Fraction(str(rule.get("q", 100)))
            size = int(rule.get("coalition", 1))
        up, down = share.as_integer_ratio()
        exact = object if most * (up + (size + 2) * down) >= 2**62 else np.int64
        total = whole.astype(exact)
        if name == "dominance":
            excess = largest(size).astype(exact) * up - total * down
        else:
            own = bound.astype(exact)
            near, next_one = largest(size).astype(exact), largest(size + 1).astype(exact)
            # The largest to protect is among them, or those before it are the others.
            others = np.where(own >= next_one - near, next_one - own, near)
            excess = own * up - (total - own - others) * down
            excess[own < 0] = 0
        for cell in np.flatnonzero(excess > 0).tolist():
            over = Fraction(int(excess[cell]), down * unit)
            each[cell] = max(each.get(cell, over), over)
    cells = sorted({*each, *np.flatnonzero(wide).tolist()})
    return {cell: (each.get(cell, Fraction(0)), int(wide[cell])) for cell in cells}


def hidden_parts(cells: TableCells, hidden: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """Return the suppressed parts of published totals that have several: totals, sums, parts."""
    groups: list[Ints] = []
    among: list[Ints] = []
    many = 0
    sums: list[Ints] = []
    for total, parts in cells.sums():
        inside = np.array([hidden[part] for part in parts])
        asked = np.flatnonzero(~hidden[total] & (inside.sum(axis=0) > 1))
        which, at = np.nonzero(inside[:, asked].T)
        part = np.array(parts)[at, asked[which]]
        groups.append(which + many)
        among.append(part)
        own = np.zeros(len(asked), dtype=cells.values.dtype)
        np.add.at(own, which, cells.values[part])
        sums.append(own)
        many += len(asked)
    none = np.zeros(0, dtype=np.int64)
    if not sums:
        return none, cells.values[:0], none
    return np.concatenate(groups), np.concatenate(sums), np.concatenate(among)
