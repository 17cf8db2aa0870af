"""Releases that are tampered with, and whether what is left could be a release all the same.

Whether it could is found out by trying: rows of the table are dealt to the published rows, or to
the groups, in every way. Nothing of the workbench is asked.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np

from anon_core.base.errors import AnonError
from anon_core.contracts.algorithm import refuse_unsteered
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.everywhere import Trial, trial
from tests.making import random_case
from tests.models_twin import Class, keeps
from tests.output_spaces import covered

Table = list[list[str]]  # with its header
Tables = dict[str, Table]


@dataclass(frozen=True, kw_only=True)
class Family:
    """Releases of one technique and one promise; of wider tables, where `wide`."""

    algorithm: str
    model: str
    wide: bool = False

    def __str__(self) -> str:
        return f"{self.algorithm} {self.model}{' wide' * self.wide}"


def drawn(family: Family, number: int) -> Trial:
    """Return the trial of a number."""
    found = trial(family.model, family.algorithm, number)
    if not family.wide:
        return found
    rng = np.random.default_rng([number, 7])
    rows = int(rng.integers(5, 9))
    case = random_case(rng, rows=rows, quasi=3, kinds=("text", "flat"), missing=False)
    columns = {name: own for name, own in case.columns.items() if name != "s1"}
    values = rng.choice([1, 2, 3, 6], rows).tolist()
    case = replace(
        case,
        columns={**columns, "s0": [str(v) for v in values]},
        sensitive=("s0",),
        kinds={**dict.fromkeys(case.quasi, "text"), "s0": "number"},
    )
    return replace(found, case=case)


def released(one: Trial) -> Result | None:
    """Return the release of a trial; None where there is none."""
    try:
        refuse_unsteered(one.technique, [one.promise])
        levels, public = one.case.levels, one.public
        return run(one.plan, one.case.dataset, levels, population=public, assess=False)
    except AnonError:
        return None


def read(files: Mapping[str, bytes]) -> Tables:
    return {
        name: list(csv.reader(io.StringIO(content.decode(), newline="")))
        for name, content in files.items()
        if name.endswith(".csv")
    }


def written(tables: Tables) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, rows in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        found[name] = text.getvalue().encode()
    return found


# ---- ways to tamper, as somebody would who knows what is looked at -------------------------------


def _place(tables: Tables, column: str) -> tuple[Table, int]:
    table = next(t for t in tables.values() if column in t[0])
    return table, table[0].index(column)


def _other_value(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    name = str(rng.choice([*one.case.sensitive, *one.case.quasi]))
    table, at = _place(tables, name)
    row = table[int(rng.integers(1, len(table)))]
    row[at] = str(rng.choice(sorted({*one.case.column(name)})))


def _other_text(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    """Coarser or finer: what another row shows, or a label of the hierarchy."""
    name = str(rng.choice(one.case.quasi))
    table, at = _place(tables, name)
    texts = {row[at] for row in table[1:]} | {t for r in one.case.levels.get(name, ()) for t in r}
    table[int(rng.integers(1, len(table)))][at] = str(rng.choice(sorted(texts)))


def _exchanged(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    """Exchange the cells of a column between some rows, once around."""
    name = str(rng.choice([*one.case.quasi, *one.case.sensitive]))
    table, at = _place(tables, name)
    some = rng.permutation(len(table) - 1)[: int(rng.integers(2, 4))] + 1
    cells = [table[i][at] for i in some]
    for i, cell in zip(some, [*cells[1:], cells[0]], strict=True):
        table[i][at] = cell


def _several_exchanged(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(2, 4))):
        _exchanged(one, tables, rng)


def _row_gone(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    table = tables[str(rng.choice(sorted(tables)))]
    del table[int(rng.integers(1, len(table)))]


def _row_twice(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    table = tables[str(rng.choice(sorted(tables)))]
    table.append(list(table[int(rng.integers(1, len(table)))]))


def _as_another(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    """Write over a row what another one shows."""
    table = tables[str(rng.choice(sorted(tables)))]
    i, j = rng.integers(1, len(table), 2)
    table[i] = list(table[j])


def _class_as_another(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    """Let a row join the class, or group, of another."""
    table = tables[str(rng.choice(sorted(tables)))]
    i, j = rng.integers(1, len(table), 2)
    for at, name in enumerate(table[0]):
        if name == "group" or (table[0][0] != "group" and name in one.case.quasi):
            table[i][at] = table[j][at]


def _number_off(one: Trial, tables: Tables, rng: np.random.Generator) -> None:
    """Move a number a little: an average above all."""
    places = [
        (table, i, at)
        for table in tables.values()
        for i in range(1, len(table))
        for at, cell in enumerate(table[0])
        if cell in one.case.quasi and _number(table[i][at]) is not None
    ]
    if places:
        table, i, at = places[int(rng.integers(len(places)))]
        old, off = table[i][at], Fraction(int(rng.choice([-5, -1, 1, 5])), 10)
        new = Fraction(old) + off
        for row in table[1:]:
            if row[at] == old:
                row[at] = f"{float(new):.1f}" if "." in old else str(round(new))


WAYS: Mapping[str, Callable[[Trial, Tables, np.random.Generator], None]] = {
    "another value": _other_value,
    "another text": _other_text,
    "cells exchanged": _exchanged,
    "many cells exchanged": _several_exchanged,
    "a row gone": _row_gone,
    "a row twice": _row_twice,
    "a row as another": _as_another,
    "into another class": _class_as_another,
    "a number off": _number_off,
}


def tampered(one: Trial, result: Result, rng: np.random.Generator) -> tuple[str, Tables] | None:
    """Tamper with a release and put it in order again; None where it says what it said before."""
    before = read(result.files)
    tables = {name: [list(row) for row in rows] for name, rows in before.items()}
    way = str(rng.choice(sorted(WAYS)))
    WAYS[way](one, tables, rng)
    if any(len(rows) < 2 for rows in tables.values()):
        return None
    in_order(tables)
    return None if tables == before else (way, tables)


def in_order(tables: Tables) -> None:
    """Number groups by what they say and sort rows, as a release does."""
    if next(iter(tables.values()))[0][0] == "group":
        says: defaultdict[str, list[list[list[str]]]] = defaultdict(list)
        for number in dict.fromkeys(row[0] for rows in tables.values() for row in rows[1:]):
            for rows in tables.values():
                says[number].append(sorted(row[1:] for row in rows[1:] if row[0] == number))
        new = {old: str(n) for n, old in enumerate(sorted(says, key=says.__getitem__), start=1)}
        for rows in tables.values():
            rows[1:] = sorted(([new[r[0]], *r[1:]] for r in rows[1:]), key=_by_group)
        return
    for rows in tables.values():
        rows[1:] = sorted(rows[1:])


def _by_group(row: list[str]) -> tuple[int, list[str]]:
    return int(row[0]), row[1:]


# ---- could it be a release? ----------------------------------------------------------------------


def possible(one: Trial, result: Result, tables: Tables) -> bool:
    """Say whether some way to make a release of the table, as was promised, gives these tables."""
    if one.technique.shape.mechanism:  # its secret draws one sample and no other
        return tables == read(result.files)
    if one.technique.shape.permutes:
        return _in_groups(one, result, tables)
    return _whole(one, next(iter(tables.values())))


def _whole(one: Trial, table: Table) -> bool:
    header, *rows = table
    people, values = one.case.rows, one.case.column("s0")
    budget = int(float(one.settings.get("max_suppression", 0)) * len(people) + 1e-9)
    if not len(people) - budget <= len(rows) <= len(people):
        return False
    quasi = [header.index(n) for n in one.case.quasi]
    classes: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for j, row in enumerate(rows):
        classes[tuple(row[at] for at in quasi)].append(j)
    averaged = [
        one.technique.shape.averages and one.case.kinds[n] == "number" for n in one.case.quasi
    ]
    covers = [
        {t: _covers(one, n, t, averaged=a) for t in {row[at] for row in rows}}
        for n, at, a in zip(one.case.quasi, quasi, averaged, strict=True)
    ]
    if any(own is None for cover in covers for own in cover.values()):
        return False
    shown = header.index("s0")
    fits = [
        [
            i
            for i, person in enumerate(people)
            if values[i] == row[shown]
            and all(
                value in (cover[row[at]] or ())
                for value, cover, at in zip(person, covers, quasi, strict=True)
            )
        ]
        for row in rows
    ]
    means = [at for at, own in zip(quasi, averaged, strict=True) if own]
    for owner in _matchings(fits):
        if means and not _averages(one, rows, owner, classes, means, header):
            continue
        numbers = list(one.values)
        made = [
            Class(
                cells=tuple(frozenset(c[t] or ()) for c, t in zip(covers, text, strict=True)),
                rows=tuple(owner[j] for j in own),
            )
            for text, own in classes.items()
        ]
        if _kept(one, made, numbers):
            return True
        if not means and one.model != "personalized":
            return False  # whose rows they are plays no part in it
    return False


def _kept(one: Trial, classes: Sequence[Class], shown: Sequence[int]) -> bool:
    """Say whether classes may keep the promise: also where its definition does not tell."""
    try:
        return keeps(one, classes, shown) is not False
    except ZeroDivisionError:  # a class that covers nobody hides nobody among others
        return False


def _covers(one: Trial, name: str, text: str, *, averaged: bool) -> frozenset[str] | None:
    """Return what a text covers; None where nothing explains it, and of averages everything."""
    if averaged:
        everything = frozenset({*one.case.column(name)})
        return everything if _number(text) is not None or text == "*" else None
    try:
        return covered(one, name, text)
    except (KeyError, ValueError, IndexError):
        return None


def _averages(
    one: Trial,
    rows: Sequence[Sequence[str]],
    owner: Sequence[int],
    classes: Mapping[tuple[str, ...], Sequence[int]],
    means: Sequence[int],
    header: Sequence[str],
) -> bool:
    for own in classes.values():
        for at in means:
            text = rows[own[0]][at]
            column = one.case.column(header[at])
            values = sorted(Fraction(column[owner[j]]) for j in own)
            half = len(values) // 2
            average = sum(values) / len(values)
            if one.settings.get("statistic") == "median":
                average = (values[half] + values[-1 - half]) / 2
            if text == "*" or abs(Fraction(text) - average) > Fraction(1, 20):
                return False
    return True


def _matchings(fits: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Return every way to give each published row a person of its own."""

    def place(j: int, taken: list[int]) -> Iterator[list[int]]:
        if j == len(fits):
            yield list(taken)
            return
        for i in fits[j]:
            if i not in taken:
                taken.append(i)
                yield from place(j + 1, taken)
                taken.pop()

    yield from place(0, [])


def _in_groups(one: Trial, result: Result, tables: Tables) -> bool:
    """Deal the people to the groups in every way, part by part of what is linked."""
    people = [
        (*row, value) for row, value in zip(one.case.rows, one.case.column("s0"), strict=True)
    ]
    names = [*one.case.quasi, "s0"]
    numbers = [row[0] for row in next(iter(tables.values()))[1:]]
    sizes = Counter(numbers)
    if any(Counter(r[0] for r in t[1:]) != sizes for t in tables.values()):
        return False
    if len(numbers) != len(people) or sorted(map(int, sizes)) != list(range(1, len(sizes) + 1)):
        return False
    blocks = [tuple(n for n in names if n in b) for b in _linked(one, result, names)]
    need = {g: [_shows(tables, g, block) for block in blocks] for g in sizes}
    places = [tuple(names.index(n) for n in block) for block in blocks]
    cover: dict[tuple[str, str], frozenset[str]] = {}
    for name in names:
        table, at = _place(tables, name)
        for text in {row[at] for row in table[1:]}:
            own = frozenset([text])
            if one.technique.shape.coarsens and name in one.case.quasi:
                known = _covers(one, name, text, averaged=False)
                if known is None:
                    return False
                own = known
            cover[name, text] = own

    def true(person: Sequence[str], b: int, line: tuple[str, ...]) -> bool:
        return all(
            person[at] in cover[name, text]
            for at, name, text in zip(places[b], blocks[b], line, strict=True)
        )

    def dealt(i: int, room: dict[str, int], inside: dict[str, list[int]]) -> bool:
        if i == len(people):
            return all(
                _deals([people[j] for j in own], b, need[g][b])
                for g, own in inside.items()
                for b in range(len(blocks))
            )
        for g in room:
            fits = all(
                any(true(people[i], b, line) for line in need[g][b]) for b in range(len(blocks))
            )
            if room[g] and fits:
                room[g] -= 1
                inside[g].append(i)
                if dealt(i + 1, room, inside):
                    return True
                inside[g].pop()
                room[g] += 1
        return False

    def _deals(own: list[tuple[str, ...]], b: int, lines: Counter[tuple[str, ...]]) -> bool:
        if not own:
            return True
        return any(
            true(own[0], b, line) and _deals(own[1:], b, lines - Counter([line])) for line in lines
        )

    if not dealt(0, dict(sizes), {g: [] for g in sizes}):
        return False
    shown: defaultdict[str, list[str]] = defaultdict(list)
    table, at = _place(tables, "s0")
    for row in table[1:]:
        shown[row[0]].append(row[at])
    left, classes = _values_by_number(one), []
    for own in shown.values():
        classes.append(Class(cells=(), rows=tuple(left[v].pop() for v in own)))
    return _kept(one, classes, ())


def _values_by_number(one: Trial) -> defaultdict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for i, value in enumerate(one.case.column("s0")):
        found[value].append(i)
    return found


def _linked(one: Trial, result: Result, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what the recipe says stays linked."""
    release = result.plan.completed()["release"]
    if release["linked"] == "roles":
        return [tuple(one.case.quasi), ("s0",)]
    sets = [tuple(s) for s in release["sets"]] if release["linked"] == "sets" else []
    inside = {n for s in sets for n in s}
    return [*sets, *((n,) for n in names if n not in inside)]


def _shows(tables: Tables, group: str, block: Sequence[str]) -> Counter[tuple[str, ...]]:
    table, _ = _place(tables, block[0])
    at = [table[0].index(n) for n in block]
    return Counter(tuple(row[i] for i in at) for row in table[1:] if row[0] == group)


@cache
def _number(text: str) -> Fraction | None:
    try:
        return Fraction(text)
    except ValueError:
        return None
