"""Every release a technique could form of a small table, by plain enumeration; and a published one.

Spaces are those of the techniques' definitions or a little larger, never smaller: where none of
them keeps a promise, the technique has none to offer.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

from anon_core.pipeline.result import Result
from tests import naive
from tests.diversity_twin import partitions
from tests.everywhere import Trial
from tests.models_twin import Cells, Class, Classes, fits
from tests.slicing_twin import SlicedBucket, sliced_posterior

Parts = Sequence[frozenset[str]]


def candidates(trial: Trial) -> Iterator[Classes]:
    """Return the releases that the technique of a trial could publish, by its kind."""
    technique, case = trial.technique, trial.case
    budget = int(float(trial.settings.get("max_suppression", 0)) * len(case.rows) + 1e-9)
    if technique.needs.levels_parameter:
        chosen = trial.settings[technique.needs.levels_parameter]
        nodes = [tuple(chosen[name] for name in case.quasi)]
        whole = (_at_node(trial, node) for node in nodes)
    elif trial.algorithm == "as-is":  # it publishes the table, and nothing else
        whole = iter([_at_node(trial, (0,) * len(case.quasi))])
    elif trial.algorithm == "earlier-parts":  # without an earlier release, the table is one part
        everyone = range(len(case.rows))
        whole = iter([[Class(cells=_around(case.rows, everyone), rows=tuple(everyone))]])
    elif technique.shape.one_level:
        whole = (_at_node(trial, node) for node in naive.every_node(case.attributes))
    elif technique.shape.codes_tails:
        whole = iter([_tails(trial)])
    elif _single(trial):
        columns = [list(_intervals(a)) for a in case.attributes]
        whole = (_by_parts(case.rows, parts) for parts in itertools.product(*columns))
    else:
        alone = technique.shape.permutes or not _whole_tuples(trial)
        whole = _grouped(trial, alone=alone)
    for classes in whole:
        yield from _removed(classes, budget)


def _single(trial: Trial) -> bool:
    """Say whether equal values are published alike in the whole table, as cuts of each column."""
    return trial.algorithm in ("top-down", "single-dimension", "k-optimize")


def _whole_tuples(trial: Trial) -> bool:
    """Say whether rows with equal quasi-identifiers stay together."""
    return trial.algorithm not in ("cell-suppression", "matching")


def _removed(classes: Classes, budget: int) -> Iterator[Classes]:
    """Return classes without each choice of them that the budget lets go."""
    sizes = [len(c.rows) for c in classes]
    for gone in range(len(classes)):
        some = False
        for out in itertools.combinations(range(len(classes)), gone):
            if sum(sizes[i] for i in out) <= budget:
                some = True
                yield [c for i, c in enumerate(classes) if i not in out]
        if not some:
            return


def _at_node(trial: Trial, node: naive.Node) -> Classes:
    attributes = trial.case.attributes
    parts = [
        [
            frozenset(v for v in a.leaves if a.labels[v][level] == label)
            for label in dict.fromkeys(a.labels[v][level] for v in a.leaves)
        ]
        for a, level in zip(attributes, node, strict=True)
    ]
    return _by_parts(trial.case.rows, parts)


def _by_parts(rows: Sequence[naive.Row], parts: Sequence[Parts]) -> Classes:
    """Return the classes of a table whose columns publish parts of their values."""
    found: defaultdict[Cells, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        cells = tuple(next(p for p in own if v in p) for v, own in zip(row, parts, strict=True))
        found[cells].append(i)
    return [Class(cells=cells, rows=tuple(own)) for cells, own in found.items()]


def _intervals(attribute: naive.Attribute) -> Iterator[Parts]:
    """Return every way to cut a column's ordered values; those of a hierarchy's nodes are some."""
    leaves = list(attribute.leaves)
    for begins in itertools.product((False, True), repeat=len(leaves) - 1):
        runs = [[leaves[0]]]
        for value, begin in zip(leaves[1:], begins, strict=True):
            if begin:
                runs.append([])
            runs[-1].append(value)
        yield [frozenset(run) for run in runs]


def _tails(trial: Trial) -> Classes:
    (limits,) = (s for s in trial.settings.values() if isinstance(s, dict))
    parts = [
        _coded(a.leaves, **limits[name]) if name in limits else [frozenset([v]) for v in a.leaves]
        for name, a in zip(trial.case.quasi, trial.case.attributes, strict=True)
    ]
    return _by_parts(trial.case.rows, parts)


def _coded(values: Sequence[str], low: float, high: float) -> Parts:
    """Return what is published of numbers whose tails are coded."""
    ends = [
        frozenset(v for v in values if float(v) <= low),
        frozenset(v for v in values if float(v) >= high),
    ]
    return [*filter(None, ends), *(frozenset([v]) for v in values if low < float(v) < high)]


def _grouped(trial: Trial, *, alone: bool) -> Iterator[Classes]:
    """Return every grouping of the rows, or of equal ones together, with what covers each group."""
    rows = trial.case.rows
    together: defaultdict[object, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        together[i if alone else row].append(i)
    for groups in partitions(list(together.values())):
        members = [[i for own in group for i in own] for group in groups]
        yield [Class(cells=_around(rows, own), rows=tuple(own)) for own in members]


def _around(rows: Sequence[naive.Row], own: Sequence[int]) -> Cells:
    return tuple(frozenset(rows[i][d] for i in own) for d in range(len(rows[0])))


# ---- what was published --------------------------------------------------------------------------


def covered(trial: Trial, column: str, text: str) -> frozenset[str]:
    """Return the values of a column that a published text covers."""
    place = trial.case.quasi.index(column)
    leaves = trial.case.attributes[place].leaves
    if text in leaves:
        return frozenset([text])
    named = frozenset(line[0] for line in trial.case.levels[column] if text in line)
    if named or text == "*":
        return named or frozenset(leaves)
    if text[:1] == "{":
        return frozenset(text[1:-1].split(", "))
    if text[:1] in "≤≥":
        limit = float(text[1:])
        return frozenset(
            v for v in leaves if (float(v) <= limit) == (text[0] == "≤") or float(v) == limit
        )
    low, high = (part.strip() for part in text[1:-1].split(","))
    if low in leaves and high in leaves:
        own = list(leaves)
        return frozenset(own[own.index(low) : own.index(high) + 1])
    return frozenset(v for v in leaves if float(low) <= float(v) <= float(high))


def published(trial: Trial, result: Result) -> Classes:
    """Return the classes of a release by its text, or its groups where columns are permuted apart.

    Where a published row may be of several people it is anyone's of them who has its value.
    """
    if trial.technique.shape.permutes:
        return _groups(trial, result)
    table = list(csv.DictReader(io.StringIO(result.csv.decode())))
    rows = trial.case.rows
    cells = [
        tuple(
            frozenset([r[n]]) if trial.technique.shape.averages else covered(trial, n, r[n])
            for n in trial.case.quasi
        )
        for r in table
    ]
    values = trial.case.column("s0")
    wanted = [
        [
            i
            for i, row in enumerate(rows)
            if values[i] == r["s0"] and (trial.technique.shape.averages or fits(row, cell))
        ]
        for r, cell in zip(table, cells, strict=True)
    ]
    owner = matched(wanted)
    found: defaultdict[Cells, list[int]] = defaultdict(list)
    for j, cell in enumerate(cells):
        found[cell].append(owner[j])
    return [Class(cells=cell, rows=tuple(own)) for cell, own in found.items()]


def _groups(trial: Trial, result: Result) -> Classes:
    """Return the groups of a permuted release: any rows of the table with the values they show."""
    content = next(c for n, c in result.files.items() if n.endswith(".csv") and b"s0" in c)
    values = trial.case.column("s0")
    left = defaultdict[str, list[int]](list)
    for i, value in enumerate(values):
        left[value].append(i)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(content.decode())):
        found[row["group"]] += [left[row["s0"]].pop()] * int(row.get("count", 1))
    return [Class(cells=(), rows=tuple(own)) for own in found.values()]


def shown_chance(trial: Trial, result: Result) -> Fraction:
    """Return the largest p(t, s) over the people of a table, of a permuted release's text."""
    tables = [
        list(csv.DictReader(io.StringIO(content.decode())))
        for name, content in result.files.items()
        if name.endswith(".csv")
    ]
    quasi = trial.case.quasi
    blocks = [tuple(n for n in block if n in quasi) for block in result.release.blocks]
    assert all(
        "s0" not in b or not own for b, own in zip(result.release.blocks, blocks, strict=True)
    )
    sets = [block for block in blocks if block]

    def shown(group: str, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        (table,) = (t for t in tables if columns[0] in t[0])
        return tuple(tuple(r[n] for n in columns) for r in table if r["group"] == group)

    groups = dict.fromkeys(row["group"] for row in tables[0])
    own = {g: _values_of(tables, g) for g in groups}
    buckets = [
        SlicedBucket(
            columns=(*(shown(g, columns) for columns in sets), ((),) * len(own[g])),
            sensitive=tuple(own[g]),
        )
        for g in groups
    ]
    return largest_chance(trial, buckets, sets)


def _values_of(tables: Sequence[Sequence[dict[str, str]]], group: str) -> list[str]:
    """Return the sensitive values of a group, each as often as it is there."""
    (table,) = (t for t in tables if "s0" in t[0])
    return [r["s0"] for r in table if r["group"] == group for _ in range(int(r.get("count", 1)))]


def largest_chance(
    trial: Trial, buckets: Sequence[SlicedBucket], sets: Sequence[Sequence[str]]
) -> Fraction:
    """Return the largest p(t, s) over the people of a table; their last column says nothing."""
    case = trial.case
    people = {
        (*(tuple(row[case.quasi.index(n)] for n in columns) for columns in sets), ())
        for row in case.rows
    }
    return max(max(sliced_posterior(buckets, p).sensitive.values()) for p in people)


def matched(wanted: Sequence[Sequence[int]]) -> list[int]:
    """Return a row of its own for every published one, of those it may be."""
    owner: dict[int, int] = {}

    def place(j: int, tried: set[int]) -> bool:
        for i in wanted[j]:
            if i not in tried:
                tried.add(i)
                if i not in owner or place(owner[i], tried):
                    owner[i] = j
                    return True
        return False

    for j in range(len(wanted)):
        assert place(j, set()), "a published row is nobody's"
    return [i for i, _ in sorted(owner.items(), key=lambda pair: pair[1])]
