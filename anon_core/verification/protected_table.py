"""A protected table, recomputed from its published file, its recipe and the private rows.

Own parser, own sums, own rules: nothing of what made the table is used. A linear program only
proposes tables that a reader cannot rule out; each is checked here in whole numbers.
"""

from __future__ import annotations

import csv
import io
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b, sha256
from itertools import pairwise, product
from math import lcm, prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from anon_core.base.errors import BadPlan, NotVerified
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.findings import Check
from anon_core.verification.rows.recipe_changes import rows_where
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.kinds import KINDS, kind_of
from anon_core.verification.text.texts import MISSING_TOKENS, PrivateColumn, read_private_column

Key = tuple[str, ...]
_HIDDEN = "×"
_TOTAL, _MISSING = "Total", "(missing)"
#: What no column is called.
NUMBER = "\0"
#: Seconds that linear programs look for tables no reader can rule out.
_SECONDS = 300
#: Readers times sensitive cells from which on all readers are asked at once first.
_MANY = 1_000
#: Seconds of a linear program's first try: a stop has its processor back by then.
_TRY = 2
Ints = npt.NDArray[Any]
_ROUNDED = ("random-rounding", "controlled-rounding", "small-cells")


def verify_table(
    published: bytes,
    recipe: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
    changes: Mapping[Key, Mapping[Key, int]] | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Check]:
    """Return what was recomputed of a table; what cannot be is undecided, and does not hold.

    Parameters
    ----------
    published : bytes
        The CSV file.
    recipe : mapping
        As it is written.
    rows : sequence of mapping of str to str
        The private rows.
    changes : mapping of cells to mapping of cells to int, optional
        By sensitive cell, how others may move with it. They are proposals, as those of a linear
        program are: each is checked, and what fails counts for nothing.
    report : callable, optional
        Called with what is recomputed, again and again; what it raises ends the work.
    """
    table = cast(Mapping[str, Any], recipe["table"])
    say = report or _silent
    say("Adding up the rows again")
    lines = _read(published)
    digits = max((len(line[-1].partition(".")[2]) for line in lines if line), default=0)
    cells = _tabulated(table, rows, levels, digits)
    shown = cells.texts(lines)
    if shown is None:
        words = "The published cells are not those of the recipe."
        return [Check(name="cells", holds=False, sentence=words)]
    method = recipe.get("protect", {}).get("method", "optimal")
    if method in _ROUNDED:
        return _rounded(shown, cells, recipe["protect"])
    rules = recipe.get("rules", [])
    if method == "adjust":
        return _adjusted(shown, cells, recipe)
    if method == "cell-key":
        return [_keyed(shown, cells, recipe)]
    hidden = np.array([text == _HIDDEN for text in shown], dtype=np.bool_)
    wrong = sum(
        not concealed and _number(text) != Fraction(int(value), cells.unit)
        for text, value, concealed in zip(shown, cells.values, hidden.tolist(), strict=True)
    )
    found = [_check("values", not wrong, "Every published number is that of the rows.", wrong)]
    say("Applying the rules again")
    sensitive = _needs(cells.held, cells.values, rules, cells.unit)
    bare = sum(not hidden[cell] for cell in sensitive)
    found.append(_check("sensitive cells", not bare, "No sensitive cell is published.", bare))
    say("Checking that sensitive cells stay hidden")
    found.append(_protection(cells, hidden, sensitive, recipe, changes or {}, digits, say))
    say("Checking sums of suppressed cells")
    groups, values, among = _hidden_parts(cells, hidden)
    needed = len(_needs(cells.held.together(groups, among), values, rules, cells.unit))
    words = "No published sum of suppressed cells is sensitive as one cell."
    found.append(_check("sums", not needed, words, needed))
    return found


def _silent(_words: str) -> None:
    """Report to no one."""


def refuse_broken(checks: Sequence[Check]) -> None:
    """Refuse a table that fails a check; what was not checked stays in its words.

    Raises
    ------
    NotVerified
    """
    for check in checks:
        if not check.holds and not check.unchecked:
            raise NotVerified(
                f"The second computation does not confirm the table: {check.sentence}",
                remedy="Nothing was written. Please report it with the recipe.",
            )


def private_rows(
    table: TextTable, recipe: Mapping[str, Any], levels: Mapping[str, Sequence[Sequence[str]]]
) -> list[dict[str, str]]:
    """Return the rows that a recipe tabulates, by column; a missing value is empty.

    Under `NUMBER` each has its number in the file.

    Parameters
    ----------
    table : TextTable
        The private texts as they were read; what was left out already stays out.
    levels : mapping of str to level table
        What a hierarchy lists is a value, though it represents a missing one elsewhere.
    """
    data = cast(Mapping[str, Any], recipe.get("data", {}))
    columns = cast(Sequence[str], recipe["table"]["columns"])
    options, kinds = read_options(data), cast(Mapping[str, str], recipe.get("types", {}))
    unsaid = options.missing == MISSING_TOKENS
    found = set(data.get("kinds_found", []))

    def kept(name: str) -> set[str]:
        missing = {text.strip() for text in options.missing_of(name)} | {""}
        texts = {cell.strip() for cell in table.column(name).row_texts() if cell}
        kind = kinds.get(name) or kind_of(sorted(texts - missing))
        if not unsaid or name in options.missing_in or KINDS[kind].read is not None:
            return set()
        if name in columns and name in levels:
            return {line[0].strip() for line in levels[name] if line} - {""}
        return missing - {""} if name in kinds and name not in found else set()

    where = data.get("where", "")
    numbers: Sequence[int] = range(len(table))
    if where:

        def column(name: str) -> PrivateColumn:
            if name not in table.names:
                raise BadPlan(f"There is no column '{name}', which where names.")
            missing, own = options.missing_of(name), kept(name)
            return read_private_column(
                table.column(name), kinds.get(name), missing, kept=own, neutralised=False,
                ordered=False,
            )  # fmt: skip

        chosen = rows_where(where, column)
        table, numbers = table.kept(chosen), np.flatnonzero(chosen).tolist()
    texts: dict[str, list[str]] = {NUMBER: list(map(str, numbers))}
    for name in table.names:
        absent = {text.strip() for text in options.missing_of(name)} - kept(name)
        cells = [(cell or "").strip() for cell in table.column(name).row_texts()]
        texts[name] = ["" if text in absent else text for text in cells]
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    if data.get("missing") == "drop":
        rows = [row for row in rows if all(row[name] for name in columns)]
    return rows


def _check(name: str, holds: bool, words: str, wrong: int) -> Check:
    return Check(
        name=name, holds=holds, sentence=words if holds else f"{words} Not so for {wrong} cells."
    )


def _read(content: bytes) -> list[Key]:
    lines = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    return [tuple(_plain(cell) for cell in line) for line in lines[1:]]


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" else cell


def _number(text: str) -> Fraction | None:
    """Return a published number; none where the text is not a number."""
    try:
        return Fraction(text)
    except ValueError:
        return None


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


class _Tree:
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
class _Held:
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

    def together(self, groups: Ints, cells: Ints) -> _Held:
        """Return groups of cells: the cells of each group are one; groups ascend."""
        many = int(groups.max(initial=-1)) + 1
        sizes = self.sizes[cells]
        ends = np.cumsum(sizes)
        at = np.repeat(self.begin[:-1][cells] - ends + sizes, sizes) + np.arange(sizes.sum())
        spread = None
        if self.spread is not None:
            cell, amount, times = self.spread
            first = np.argsort(cell, kind="stable")
            begin = np.searchsorted(cell[first], np.arange(len(self.begin)))
            own = np.diff(begin)[cells]
            last = np.cumsum(own)
            which = first[np.repeat(begin[:-1][cells] - last + own, own) + np.arange(own.sum())]
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
) -> _Held:
    """Add up what each respondent contributes to each group."""
    order = np.lexsort((who, group))
    group, who = group[order], who[order]
    first = np.flatnonzero(
        np.concatenate([[True], (group[1:] != group[:-1]) | (who[1:] != who[:-1])])[: len(group)]
    )
    sums = [np.add.reduceat(x[order], first) if len(first) else x for x in (own, weighted)]
    begin = np.searchsorted(group[first], np.arange(many + 1))
    return _Held(
        begin=begin, who=who[first], own=sums[0], weighted=sums[1], agreed=agreed, spread=spread
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cells:
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

    trees: Sequence[_Tree]
    unit: int
    values: Ints
    held: _Held
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
                yield (
                    at.take(node, axis).ravel(),
                    [at.take(part, axis).ravel() for part in parts],
                )

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


def _tabulated(
    table: Mapping[str, Any],
    rows: Sequence[Mapping[str, str]],
    levels: Mapping[str, Sequence[Sequence[str]]],
    digits: int,
) -> _Cells:
    """Add up the rows of every cell, and what each respondent contributes to it."""
    trees: list[_Tree] = []
    paths: list[Ints] = []
    for name in table["columns"]:
        codes, values = _codes(row[name].strip() for row in rows)
        tree = _Tree(_paths(name, table, values, levels))
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
    return _Cells(
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


def _needs(
    held: _Held, values: Ints, rules: Sequence[Mapping[str, Any]], unit: int
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


def _hidden_parts(cells: _Cells, hidden: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Readers:
    """What readers know of suppressed cells beforehand, in units.

    Attributes
    ----------
    least : int or None
        What any cell is at least.
    alone : frozenset of int
        Respondents who are alone in a suppressed cell, and may read.
    known : array of shape (cells,)
        The least that the best informed of them knows of each cell; where there is no least,
        it is not used.
    sole : bool array of shape (cells,)
        Cells that one of them fills alone.
    """

    least: int | None
    alone: frozenset[int]
    known: Ints
    sole: npt.NDArray[np.bool_]


def _readers(
    cells: _Cells, hidden: npt.NDArray[np.bool_], reader: Mapping[str, Any], step: int
) -> _Readers:
    held = cells.held
    least = None if reader.get("signed", False) else 0
    if least is not None and reader.get("zeros_printed", True):
        least = step
    one = held.sizes == 1
    alone = np.zeros(len(cells.people) + 1, dtype=np.bool_)
    if reader.get("single_respondents", True):
        alone[held.who[held.begin[:-1][one & hidden]]] = True
    known = np.full(len(cells.values), least or 0, dtype=cells.values.dtype)
    theirs = np.flatnonzero(alone[held.who])
    np.maximum.at(known, held.group()[theirs], held.own[theirs])
    sole = one.copy()
    sole[one] = alone[held.who[held.begin[:-1][one]]]
    return _Readers(
        least=least, alone=frozenset(np.flatnonzero(alone).tolist()), known=known, sole=sole
    )


def _protection(
    cells: _Cells,
    hidden: npt.NDArray[np.bool_],
    sensitive: Mapping[int, tuple[Fraction, int]],
    recipe: Mapping[str, Any],
    changes: Mapping[Key, Mapping[Key, int]],
    digits: int,
    say: Callable[[str], None],
) -> Check:
    """Return whether two tables are found for each sensitive cell, for every reader."""
    step = cells.unit // 10**digits
    readers = _readers(cells, hidden, recipe.get("reader", {}), step)
    cap = recipe.get("protect", {}).get("levels") == "cap"
    needs: dict[int, tuple[Fraction, Fraction, Fraction]] = {}
    for cell, (each, wide) in sensitive.items():
        need = max(each * cells.unit, Fraction(step)) if each > 0 else Fraction(0)
        down = need
        if cap and readers.least is not None:
            down = min(need, Fraction(int(cells.values[cell]) - readers.least))
        needs[cell] = need, down, Fraction(wide * step)
    exposed = {cell for cell in needs if not hidden[cell]}
    proven = _proven(cells, hidden, needs, readers, changes)
    left = {cell: need for cell, need in needs.items() if cell not in exposed | proven}
    late: set[int] = set()
    if left:
        more, late = _tried(cells, hidden, left, readers, step, say)
        exposed |= more
    words = "Two tables that a reader cannot rule out keep each sensitive cell from being known."
    if late and not exposed:
        name = "|".join(cells.labels(min(late)))
        words = f"{words} Undecided in {_SECONDS} s for {len(late)} cells, such as '{name}'."
        return Check(name="protection", holds=False, undecided=True, sentence=words)
    return _check("protection", not exposed, words, len(exposed))


def _proven(
    cells: _Cells,
    hidden: npt.NDArray[np.bool_],
    needs: Mapping[int, tuple[Fraction, Fraction, Fraction]],
    readers: _Readers,
    changes: Mapping[Key, Mapping[Key, int]],
) -> set[int]:
    """Return the sensitive cells that proposed changes keep from all readers at once.

    A change is one where only suppressed cells move and every total moves as its parts do. No cell
    falls below what any reader knows, and those with one respondent do not move, but the cell
    itself, which that respondent knows anyway.
    """
    asked: list[int] = []
    entries: list[tuple[int, int, int]] = []
    for key, change in changes.items():
        cell = cells.at(key)
        if cell not in needs or not any(change.values()):
            continue
        entries += [(len(asked), cells.at(other), n) for other, n in change.items() if n]
        asked.append(cell)
    if not asked:
        return set()
    number, moved, by = np.array(entries, dtype=np.int64).T
    good = np.ones(len(asked), dtype=np.bool_)
    good[number[(moved < 0) | ~hidden[moved]]] = False
    own = np.array(asked)[number] == moved
    good[number[readers.sole[moved] & ~own]] = False
    times = np.zeros(len(asked), dtype=np.int64)
    times[number[own]] = by[own]
    good &= times > 0
    # Every total that is moved, or has a part that is, moves as its parts do.
    strides = [prod(cells.shape[at + 1 :]) for at in range(len(cells.shape))]
    for tree, stride, size in zip(cells.trees, strides, cells.shape, strict=True):
        node = moved // stride % size
        inner = np.array([bool(tree.children.get(n)) for n in range(size)])[node]
        net = [np.stack([number, moved, -by])[:, inner]]
        nodes_above = [tree.above.get(n, []) for n in range(size)]
        for place in range(max(map(len, nodes_above))):
            above = np.array([n[place] if len(n) > place else -1 for n in nodes_above])[node]
            part = above >= 0
            net.append(np.stack([number, moved + (above - node) * stride, by])[:, part])
        which, parent, change = np.concatenate(net, axis=1)
        key, at = np.unique(which * len(cells.values) + parent, return_inverse=True)
        sums = np.zeros(len(key), dtype=np.int64)
        np.add.at(sums, at, change)
        good[(key // len(cells.values))[sums != 0]] = False
    floor = np.where(own & readers.sole[moved], readers.least or 0, readers.known[moved])
    room = (cells.values[moved] - floor).tolist()
    rise: list[tuple[int, int]] = []
    fall: list[tuple[int, int]] = []
    for cell, often in zip(asked, times.tolist(), strict=True):
        up, down, wide = needs[cell]
        rise.append((max(up, wide - down) / max(often, 1)).as_integer_ratio())
        fall.append((down / max(often, 1)).as_integer_ratio())
    if readers.least is not None:
        for at, n, most in zip(number.tolist(), by.tolist(), room, strict=True):
            over, under = fall[at] if n > 0 else rise[at]
            if abs(n) * over > most * under:
                good[at] = False
    return {cell for cell, kept in zip(asked, good.tolist(), strict=True) if kept}


def _tried(
    cells: _Cells,
    hidden: npt.NDArray[np.bool_],
    needs: Mapping[int, tuple[Fraction, Fraction, Fraction]],
    readers: _Readers,
    step: int,
    say: Callable[[str], None],
) -> tuple[set[int], set[int]]:
    """Return the sensitive cells for which no two tables are found, and those not reached in time.

    Where there are many readers, all of them together are asked first: whom these cannot rule
    out, none of them can.
    """
    until = time.monotonic() + _SECONDS
    order = np.flatnonzero(hidden)
    place = np.full(len(hidden), -1)
    place[order] = np.arange(len(order))
    program = _Program(cells, hidden, place, step, say)
    values = cells.values[order]
    reader = [None if readers.least is None else readers.least - int(v) for v in values]
    exposed, late = set[int](), set[int]()
    left = dict(needs)
    if len(readers.alone) * len(needs) > _MANY:
        for cell, need in needs.items():
            if time.monotonic() > until:
                break
            say("Looking for tables that no reader can rule out")
            low: list[int | None] = list(reader)
            high: list[int | None] = [None] * len(order)
            for at, (c, value) in enumerate(zip(order.tolist(), values.tolist(), strict=True)):
                if readers.sole[c] and c != cell:
                    low[at] = high[at] = 0
                elif readers.least is not None and not readers.sole[c]:
                    low[at] = int(readers.known[c]) - value
            if program.keeps(int(place[cell]), need, low, high, until):
                del left[cell]
    everyone: list[int | None] = [None, *sorted(readers.alone)]
    held = cells.held
    theirs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cell in order.tolist() if left else ():
        for one, amount in held.of(cell).items():
            if one in readers.alone:
                theirs[one].append((cell, amount))
    for one in everyone if left else ():
        low, high = list(reader), [None] * len(order)
        knows = set[int]()
        for cell, amount in theirs.get(one, ()) if one is not None else ():
            at = int(place[cell])
            if held.sizes[cell] == 1:
                low[at] = high[at] = 0
                knows.add(cell)
            elif readers.least is not None:
                low[at] = max(cast(int, low[at]), amount - int(cells.values[cell]))
        for cell, need in left.items():
            if cell in exposed or cell in knows:
                continue
            if time.monotonic() > until:
                late.add(cell)
                continue
            say("Looking for tables that a reader cannot rule out")
            if not program.keeps(int(place[cell]), need, low, high, until):
                (late if time.monotonic() > until else exposed).add(cell)
    return exposed, late - exposed


class _Program:
    """The sums of suppressed cells, as a linear program in their changes."""

    def __init__(
        self,
        cells: _Cells,
        hidden: npt.NDArray[np.bool_],
        place: Ints,
        step: int,
        say: Callable[[str], None],
    ) -> None:
        self.say = say
        rows: list[Ints] = []
        columns: list[Ints] = []
        signs: list[npt.NDArray[np.float64]] = []
        many = 0
        for total, parts in cells.sums():
            at = np.arange(len(total)) + many
            for cell, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                inside = hidden[cell]
                rows.append(at[inside])
                columns.append(place[cell[inside]])
                signs.append(np.full(int(inside.sum()), sign))
            many += len(total)
        row, column, sign = map(np.concatenate, (rows, columns, signs))
        _, row = np.unique(row, return_inverse=True)
        self.step, self.width = step, int(hidden.sum())
        self.size = int(np.abs(cells.values).max(initial=0))
        shape = (int(row.max(initial=-1)) + 1, self.width)
        entries: Any = (sign, (row, column))
        self.matrix = csr_array(entries, shape=shape)
        self.sums: list[list[tuple[int, int]]] = [[] for _ in range(shape[0])]
        for at, c, s in zip(row.tolist(), column.tolist(), sign.tolist(), strict=True):
            self.sums[at].append((c, int(s)))

    def keeps(
        self,
        k: int,
        need: tuple[Fraction, Fraction, Fraction],
        low: Sequence[int | None],
        high: Sequence[int | None],
        until: float,
    ) -> bool:
        """Return whether two tables keep a cell from a reader who knows these limits."""
        up, down, wide = need
        rise = self.reached(k, 1, low, high, until)
        fall = self.reached(k, -1, low, high, until) if rise >= up else Fraction(0)
        return rise >= up and fall >= down and rise + fall >= wide

    def reached(
        self, k: int, sign: int, low: Sequence[int | None], high: Sequence[int | None], until: float
    ) -> Fraction:
        """Return how far a table takes a cell that a reader cannot rule out; checked exactly."""
        goal = np.zeros(self.width)
        goal[k] = -sign
        far = 1e6 * self.step + 10 * self.size
        box = [
            (-far if lo is None else float(lo), far if hi is None else float(hi))
            for lo, hi in zip(low, high, strict=True)
        ]
        found: Any = None
        for most in (_TRY, until - time.monotonic()):
            found = self._solved(goal, box, max(most, 0.1))
            if found is None or found.status != 1:  # 1: its time was up
                break
        if found is None or found.status != 0:
            return Fraction(0)
        for parts in (1, 12, 1000):
            moved = [
                Fraction(round(float(x) / self.step * parts), parts) * self.step
                for x in np.asarray(found.x)
            ]
            kept = all(
                (lo is None or x >= lo) and (hi is None or x <= hi)
                for x, lo, hi in zip(moved, low, high, strict=True)
            )
            if kept and all(sum(moved[c] * e for c, e in row) == 0 for row in self.sums):
                return sign * moved[k]
        return Fraction(0)

    def _solved(self, goal: Any, box: Any, seconds: float) -> Any:
        """Return what the solver finds; `say` may end the wait, and the solver ends by its time."""
        done: list[Any] = []

        def solve() -> None:
            sums = len(self.sums)
            done.append(
                linprog(
                    goal,
                    A_eq=cast(Any, self.matrix) if sums else None,
                    b_eq=np.zeros(sums) if sums else None,
                    bounds=box,
                    options=cast(Any, {"time_limit": seconds}),
                )
            )

        thread = threading.Thread(target=solve, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
            self.say("Looking for tables that readers cannot rule out")
        return done[0] if done else None


def _rounded(shown: Sequence[str], cells: _Cells, protect: Mapping[str, Any]) -> list[Check]:
    base, method = int(protect.get("base", 5)), protect["method"]
    values = np.array([int(text) for text in shown], dtype=object)
    true = cells.values.astype(object)
    found: list[Check] = []
    if method != "small-cells":
        wrong = int((values % base != 0).sum())
        found.append(_check("multiples", not wrong, f"Multiples of {base} alone.", wrong))
        reach = base * (1 + int(protect.get("steps", 0)))
        far = int((np.abs(values * cells.unit - true) >= reach * cells.unit).sum())
        found.append(_check("distance", not far, f"Each changed by less than {reach}.", far))
    if method != "random-rounding":
        off = cells.off(values)
        found.append(_check("sums", not off, "Totals add up.", off))
    return found


def _adjusted(shown: Sequence[str], cells: _Cells, recipe: Mapping[str, Any]) -> list[Check]:
    """Return whether totals add up and sensitive cells are their level off; not what is least."""
    values = np.array([int(Fraction(text) * cells.unit) for text in shown], dtype=object)
    off = cells.off(values)
    found = [_check("sums", not off, "Totals add up.", off)]
    change = np.abs(values - cells.values.astype(object))
    needs = _needs(cells.held, cells.values, recipe.get("rules", []), cells.unit)
    near = sum(
        not change[cell] or change[cell] < each * cells.unit for cell, (each, _) in needs.items()
    )
    words = "Each sensitive cell is published at least its level off."
    found.append(_check("levels", not near, words, near))
    fixed = set(recipe["protect"].get("published", []))
    kept = cells.held.sizes == 0
    names = ("|".join(x.replace("|", "/") for x in key) for key in product(*(
        tree.labels for tree in cells.trees)))  # fmt: skip
    kept |= np.array([name in fixed for name in names], dtype=np.bool_)
    moved = int((kept & (change != 0)).sum())
    words = "Empty cells and those that have to be published are as they were."
    found.append(_check("kept cells", not moved, words, moved))
    if not recipe.get("reader", {}).get("signed", False):
        below = int((values < 0).sum())
        found.append(_check("negative", not below, "No value is below 0.", below))
    return found


def _keyed(shown: Sequence[str], cells: _Cells, recipe: Mapping[str, Any]) -> Check:
    """Return whether each cell has the noise that its records' keys say; the secret is needed."""
    if "seed" not in recipe:
        words = "Noise is drawn from a secret, which the recipe does not have."
        return Check(name="noise", holds=False, sentence=words, undecided=True, unchecked=True)
    given, protect = recipe["seed"], recipe["protect"]
    secret = int(given, 16) if isinstance(given, str) else int(given)
    base = sha256(str(secret).encode()).digest()
    most, variance = int(protect.get("noise", 2)), float(protect.get("variance", 1.05))
    rows = [_chances(count, most, variance) for count in range(most + 3)]
    keys = [
        int.from_bytes(blake2b(one.encode(), key=base, digest_size=8).digest(), "big")
        for one in cells.people
    ]
    digits = max(len(text.partition(".")[2]) for text in shown)
    wrong = 0
    for cell, text in enumerate(shown):
        own = cells.held.of(cell)
        share = sum(keys[one] for one in own) % 2**64 / 2**64
        value = Fraction(int(cells.values[cell]), cells.unit)
        unit = Fraction(1)
        if cells.amounts:
            unit = Fraction(max(map(abs, own.values()), default=0), 10 * cells.unit)
        steps = min(abs(value) / unit, Fraction(len(rows) - 1)) if unit else Fraction(0)
        below = int(steps)
        above, part = min(below + 1, len(rows) - 1), steps - below
        near = Fraction(1, 2 * 10**digits)
        # A key next to a limit of two chances belongs to either: these are not exact.
        wrong += not any(
            abs(Fraction(text) - value - unit * ((1 - part) * one + part * two)) <= near
            for one in _drawn(rows[below], share)
            for two in _drawn(rows[above], share)
        )
    words = "Every number is that of the rows with the noise of its records' keys."
    return _check("noise", not wrong, words, wrong)


def _drawn(row: Mapping[int, float], share: float) -> set[int]:
    """Return the noise whose part of 0 to 1 a key is in, or near."""
    found, total = set[int](), 0.0
    for value, chance in sorted(row.items()):
        if total - 1e-9 <= share <= total + chance + 1e-9 and chance > 0:
            found.add(value)
        total += chance
    return found


def _chances(count: int, most: int, variance: float) -> dict[int, float]:
    """Return the chances of each noise: mean 0, this variance, and else as even as can be."""
    if not count:
        return {0: 1.0}
    steps = np.array([v for v in range(-most, most + 1) if count + v == 0 or count + v > 1], float)
    if len(steps) == 3:
        moments = np.array([steps**0, steps, steps**2])
        chances = np.linalg.solve(moments, np.array([1.0, 0.0, variance]))
    else:
        tilt = np.zeros(2)  # of v and v²: Newton's method on a convex function
        chances = np.full(len(steps), 1 / len(steps))
        powers = np.array([steps, steps**2])
        for _ in range(200):
            chances = np.exp(tilt @ powers - (tilt @ powers).max())
            chances /= chances.sum()
            off = powers @ chances - np.array([0.0, variance])
            if np.abs(off).max() < 1e-13:
                break
            spread = (powers * chances) @ powers.T - np.outer(powers @ chances, powers @ chances)
            tilt -= np.clip(np.linalg.solve(spread, off), -1, 1)
    return {int(v): max(0.0, float(p)) for v, p in zip(steps, chances, strict=True)}
