"""A release of any model that was tampered with: a promise that breaks is found, and where.

One cell is made more specific, one row deleted, or one sensitive value changed; then the rows are
sorted again, as a tamperer would. What that breaks is shown by the models' plain definitions.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.verification.checks import verify
from tests.everywhere import Trial, trial
from tests.models_twin import Cells, Class, fits, keeps
from tests.output_spaces import covered, matched
from tests.tampering import in_order, read, released, written

WAYS = ("a cell more specific", "a row gone", "another value")
#: A release has no promise of it, or nobody can be shown to stand behind a row.
_APART = {"differential-privacy", "slicing-l-diversity"}
MODELS = [name for name in family("model") if name not in _APART]
#: What is promised of all rows together, or of whom a row may be of.
_TOGETHER = {
    "average-risk",
    "population-uniques",
    "share-at-risk",
    "one-k-anonymity",
    "k-one-anonymity",
    "k-k-anonymity",
    "global-one-k-anonymity",
}


@dataclass(frozen=True, kw_only=True)
class Tampered:
    """A table of a release after it was tampered with.

    Attributes
    ----------
    header : list of str
    rows : list of lists of str
        As published, with the place of anyone who is behind each at the end.
    touched : set of int
        Rows of the release, from 1, of the classes that were changed.
    """

    header: list[str]
    rows: list[list[str]]
    touched: set[int]


def _rows(trial: Trial, content: bytes) -> tuple[list[str], list[list[str]]]:
    """Return a table's header and rows, each with the number of a person it may be of."""
    header, *rows = csv.reader(io.StringIO(content.decode()))
    people, values = trial.case.rows, trial.case.column("s0")
    place = {n: header.index(n) for n in (*trial.case.quasi, "s0") if n in header}
    wanted: list[list[int]] = []
    for row in rows:
        cells = {n: row[place[n]] for n in trial.case.quasi if n in place}
        fitting = [
            i
            for i in range(len(people))
            if values[i] == row[place["s0"]]
            and (trial.technique.shape.permutes or fits(people[i], _cells(trial, cells)))
        ]
        wanted.append(fitting)
    return header, [[*row, str(i)] for row, i in zip(rows, matched(wanted), strict=True)]


def _cells(trial: Trial, row: dict[str, str]) -> Cells:
    return tuple(covered(trial, n, row[n]) for n in trial.case.quasi)


def _class(trial: Trial, header: Sequence[str], row: Sequence[str]) -> tuple[str, ...]:
    """Return what rows of one class, or group, share in the text."""
    names = ("group",) if trial.technique.shape.permutes else trial.case.quasi
    return tuple(row[header.index(n)] for n in names)


def tampered(trial: Trial, content: bytes, way: str, rng: np.random.Generator) -> Tampered | None:
    """Tamper with a table that shows sensitive values; None where there is nothing to do."""
    header, rows = _rows(trial, content)
    at = int(rng.integers(len(rows)))
    before = _class(trial, header, rows[at])
    changed = list(rows[at])
    if way == WAYS[0]:
        coarse = [
            n
            for n in trial.case.quasi
            if n in header and changed[header.index(n)] not in trial.case.column(n)
        ]
        if not coarse:
            return None
        name = str(rng.choice(coarse))
        changed[header.index(name)] = trial.case.column(name)[int(changed[-1])]
    if way == WAYS[2]:
        others = sorted({*trial.case.column("s0")} - {changed[header.index("s0")]})
        if not others:
            return None
        changed[header.index("s0")] = str(rng.choice(others))
    rows = [*rows[:at], *([] if way == WAYS[1] else [changed]), *rows[at + 1 :]]
    if not rows:
        return None
    rows.sort(key=lambda r: (int(r[0]), r[1:-1]) if header[0] == "group" else (0, r[:-1]))
    concerned = {before, _class(trial, header, changed)}
    touched = {i + 1 for i, r in enumerate(rows) if _class(trial, header, r) in concerned}
    return Tampered(header=header, rows=rows, touched=touched)


def broken(trial: Trial, found: Tampered) -> bool:
    """Say whether what is left breaks the promise by its plain definition."""
    members: defaultdict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for row in found.rows:
        members[_class(trial, found.header, row)].append(row)
    shown = list(trial.values)
    for row in found.rows:
        shown[int(row[-1])] = int(row[found.header.index("s0")])
    classes = [
        Class(
            cells=()
            if trial.technique.shape.permutes
            else _cells(trial, dict(zip(found.header, own[0], strict=False))),
            rows=tuple(int(r[-1]) for r in own),
        )
        for own in members.values()
    ]
    return keeps(trial, classes, shown) is False


def attempt(number: int) -> str:
    """Tamper with one release; return what came of it, or an empty text where none was made."""
    rng = np.random.default_rng([4, number])
    algorithm = str(rng.choice(list(family("algorithm"))))
    one = trial(MODELS[number % len(MODELS)], algorithm, 1000 + number)
    result = None if one.technique.shape.averages else released(one)
    if result is None:
        return ""
    name, content = next((n, c) for n, c in result.files.items() if b"s0" in c)
    if b"count" in content.splitlines()[0]:
        return ""
    way = WAYS[int(rng.integers(3))]
    found = tampered(one, content, way, rng)
    if found is None:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([found.header, *(row[:-1] for row in found.rows)])
    files = {**result.files, name: text.getvalue().encode()}
    public = None if one.public is None else one.public.frame()
    private = one.case.dataset.frame()
    recipe = verify(one.plan.completed(), private, one.case.levels, files, public)
    caught = not recipe.holds
    if not broken(one, found):
        return f"{way}: the promise stands, {'refused all the same' if caught else 'accepted'}"
    assert caught, (number, one, way)
    first = min(found.touched, default=1)
    named = {row for check in recipe.broken for row in check.rows}
    if any("cannot be recomputed" in check.sentence for check in recipe.broken) and not named:
        return f"{way}: broken and found, though not where"
    if not found.touched and not named:
        return f"{way}: broken and found, though nothing is left of the class to point at"
    # A mean, and whom else a row may be of, break where nothing was changed as well.
    elsewhere = named and one.model in _TOGETHER
    of_group = any(_group(found, first) in check.sentence for check in recipe.broken)
    assert named & found.touched or elsewhere or of_group, (number, one, way, recipe.broken)
    return f"{way}: broken and found"


def _group(found: Tampered, first: int) -> str:
    """Return how the group of a touched row is shown."""
    return f"first group {found.rows[first - 1][0]}" if found.header[0] == "group" else "\0"


def attempts(first: int, wanted: int) -> Counter[str]:
    """Tamper until so many releases were; return how often what came of it."""
    found: Counter[str] = Counter()
    number = first
    while sum(found.values()) < wanted:
        came = attempt(number)
        if came:
            found[came] += 1
        number += 1
    return found


def _no_lie_is_accepted(found: Counter[str]) -> None:
    """A truer cell, or a row less within the budget, is another true release; a value is a lie."""
    assert not any("accepted" in what and what.startswith(WAYS[2]) for what in found)


def test_a_promise_that_breaks_is_found_and_where() -> None:
    found = attempts(0, 60)
    assert sum(n for what, n in found.items() if what.endswith("broken and found")) > 7
    _no_lie_is_accepted(found)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_promises_that_break_are_found_and_where(chunk: int) -> None:
    found = attempts(10_000 * (chunk + 1), 160)
    assert sum(n for what, n in found.items() if what.endswith("broken and found")) > 30
    _no_lie_is_accepted(found)


#: Texts that are no value of any column drawn; two of them are numbers beyond any float.
NONSENSE = [
    "6*",
    "",
    "x",
    "inf",
    "nan",
    "1e400",
    "1e-400",
    "\u0663",
    "1/2",
    "[1, 2",
    "{1, }",
    "*",
    "9" * 400,
]


@pytest.mark.parametrize("model", MODELS)
def test_a_cell_that_is_no_value_is_never_found_to_hold(model: str) -> None:
    """Nor does verification end in an error of its own, whatever the text is."""
    for technique in ("microaggregation", "mondrian", "optimal", "anatomy", "permutation"):
        try:
            one = next(t for t in (trial(model, technique, n) for n in range(6)) if released(t))
        except (StopIteration, AnonError):
            continue
        result = released(one)
        assert result is not None
        public = None if one.public is None else one.public.frame()
        for text in NONSENSE:
            tables = read(result.files)
            table = next(t for t in tables.values() if "s0" in t[0])
            table[1][table[0].index("s0")] = text
            in_order(tables)
            private, levels = one.case.dataset.frame(), one.case.levels
            recipe, files = result.recipe.completed(), written(tables)
            came = verify(recipe, private, levels, files, public, witness=result.witness)
            assert not came.holds, (technique, text)
        return
