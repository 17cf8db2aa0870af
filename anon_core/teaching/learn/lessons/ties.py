"""Strict and relaxed cuts side by side, where many rows have the median."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import DIAL_K, Exercise, Lesson, Source, Step
from anon_core.teaching.learn.lesson_run import measured
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.readings import as_held, if_boxes, published
from anon_core.teaching.learn.text import (
    codes_of,
    least_of,
    listed,
    number_question,
    plane,
    release_table,
    rows_said,
    table,
)
from anon_core.teaching.learn.trace import Trace, rows_of_tuples

_STRICT, _RELAXED = "strict", "relaxed"


def _asked(k: int) -> dict[str, dict[str, Any]]:
    models = [{"name": "k-anonymity", "k": k}]
    return {
        name: {"algorithm": {"name": "mondrian", "cuts": name}, "models": models}
        for name in (_STRICT, _RELAXED)
    }


def _six_patients() -> Material:
    import pandas as pd

    columns = {
        "Zipcode": ["53711", "53712", "53711", "53710", "53712", "53711"],
        "Sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "Disease": ["Flu", "Hepatitis", "Bronchitis", "Broken arm", "AIDS", "Hang nail"],
    }
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(columns, dtype=object)),
        roles=Roles(quasi=("Zipcode", "Sex"), sensitive=("Disease",)),
        types={"Zipcode": "number", "Sex": "ordered"},
    )


class TiesLesson(Lesson):
    """One column with a heavy tie: a strict cut has to stop, a relaxed one parts equal rows."""

    name = "ties"
    number = 19
    title = "Strict and relaxed cuts where values tie"
    summary = (
        "Many rows share the median. A strict cut keeps them together and may have to stop; a "
        "relaxed one deals them to both sides, so that ranges overlap."
    )
    about = ("relaxed-mondrian",)
    source = Source(
        author="LeFevre, DeWitt and Ramakrishnan",
        year=2006,
        title="Mondrian multidimensional k-anonymity",
        doi="10.1109/ICDE.2006.101",
        where="strict and relaxed partitioning, on the patients of its first figure",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="LeFevre's six patients, Zipcode and Sex, k = 3",
            made=_six_patients,
            runs=_asked(3),
        ),
        TOTH,
    )
    runs = _asked(2)

    def refuses(self, trace: Trace) -> str:
        """Refuse tables whose rows are not parted at a median at first."""
        done = _done(trace)
        if done is None or "median" not in done:
            return "Relaxed cuts do not part all rows at a median, so that there is no tie to see."
        return ""

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the tie, the strict cut and release, the relaxed ones, the costs."""
        tie = _tie(trace)
        return [
            _begin(trace, tie),
            _strict_cut(trace, tie),
            _strict_release(trace),
            _relaxed_cut(trace, tie),
            _relaxed_release(trace, tie),
            _compared(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about people who fit several classes."""
        classes = _classes_that_fit(trace)
        several = sum(n > 1 for n in classes)
        tie = _tie(trace)
        return (
            Exercise(
                question=number_question(
                    "How many people fit more than one class of the relaxed release?",
                    several,
                    "Ranges overlap at values whose rows were dealt to both sides; whether people "
                    "fit both classes depends on all their columns.",
                    among=trace.rows,
                    mistakes=(0, len(tie.at), trace.rows, trace.rows - several),
                )
            ),
        )


@dataclass(frozen=True, kw_only=True)
class _Tie:
    """The median of all rows along the column that relaxed cuts part first.

    `below`, `at` and `above` are rows; `lower` are those on the lower side of the relaxed cut, and
    `holds` says whether a strict cut is made along the same column.
    """

    column: str
    median: str
    below: tuple[int, ...]
    at: tuple[int, ...]
    above: tuple[int, ...]
    lower: frozenset[int]
    holds: bool


def _done(trace: Trace) -> dict[str, Any] | None:
    """Return how relaxed cuts part all rows, if they do."""
    parts = trace[_RELAXED].events_of("part")
    if not parts or not trace[_STRICT].events_of("part"):
        return None
    tries: Any = parts[0].facts["tries"]
    return next((attempt for attempt in tries if attempt["cut"]), None)


def _tie(trace: Trace) -> _Tie:
    done = _done(trace)
    assert done is not None
    column = trace.quasi[done["attribute"]]
    codes, median = codes_of(trace.problem, column), done["median"]
    rows = range(trace.rows)
    behind = rows_of_tuples(trace[_RELAXED])
    pieces: Any = trace[_RELAXED].events_of("cut")[0].facts["pieces"]
    lower = frozenset(r for t in np.asarray(pieces[0]).tolist() for r in behind[t].tolist())
    tries: Any = trace[_STRICT].events_of("part")[0].facts["tries"]
    strict = next(attempt for attempt in tries if attempt["attribute"] == done["attribute"])
    return _Tie(
        column=column,
        median=trace.problem.hierarchies[column].leaves[median],
        below=tuple(r for r in rows if codes[r] < median),
        at=tuple(r for r in rows if codes[r] == median),
        above=tuple(r for r in rows if codes[r] > median),
        lower=lower,
        holds=bool(strict["cut"]),
    )


def _classes_that_fit(trace: Trace) -> list[int]:
    """Return of everyone the classes of the relaxed release that can hold them."""
    seen, together = published(trace[_RELAXED]), trace[_RELAXED].together
    return [len({together[row] for row in seen.fits(person)}) for person in range(trace.rows)]


def _values(trace: Trace, tie: _Tie) -> Bars:
    """Return how many rows have each value of the column, the median out."""
    codes = codes_of(trace.problem, tie.column)
    leaves = trace.problem.hierarchies[tie.column].leaves
    bars = tuple(
        Bar(
            id=f"value:{code}",
            label=leaves[code],
            value=count,
            text=rows_said(count),
            tone="now" if leaves[code] == tie.median else "plain",
            people=tuple(r for r, own in enumerate(codes) if own == code),
        )
        for code, count in sorted(Counter(codes).items())
    )
    return Bars(title=f"Rows by {tie.column}", bars=bars, unit="rows")


def _begin(trace: Trace, tie: _Tie) -> Step:
    return Step(
        title="A column with a tie",
        words=f"Mondrian cuts all {trace.rows} rows along {tie.column}, at the median, the value "
        f"in the middle when rows are in order. It is {tie.median}, found in "
        f"{rows_said(len(tie.at))}; equal rows have no order. Each side of a cut needs "
        f"k = {least_of(trace[_STRICT])} rows.",
        pictures=(_values(trace, tie), table(trace, "The table as it is held")),
        seen=as_held(trace),
    )


def _strict_cut(trace: Trace, tie: _Tie) -> Step:
    below, at, above = len(tie.below), len(tie.at), len(tie.above)
    least = least_of(trace[_STRICT])
    ways = (
        (f"up to {tie.median}", (*tie.below, *tie.at)),
        (f"above {tie.median}", tie.above),
        (f"below {tie.median}", tie.below),
        (f"from {tie.median} on", (*tie.at, *tie.above)),
    )
    best = max(min(below + at, above), min(below, at + above))
    verdict = (
        f"The better way leaves {best} on the smaller side, enough for k = {least}."
        if tie.holds
        else f"At best {best} are on the smaller side, fewer than k = {least}: no strict cut along "
        f"{tie.column}."
    )
    whole = (0,) * trace.rows
    return Step(
        title="Strict: equal rows stay together",
        words=f"A strict cut is after the median or before it, so that the rows with {tie.median} "
        f"go to one side. After it, sides have {below + at} and {above} rows; before it, {below} "
        f"and {at + above}. {verdict}",
        pictures=(
            Bars(
                title="Sides of both strict cuts",
                bars=tuple(
                    Bar(
                        id=f"side:{number}",
                        label=label,
                        value=len(rows),
                        text=rows_said(len(rows)),
                        tone="good" if len(rows) >= least else "bad",
                        people=rows,
                    )
                    for number, (label, rows) in enumerate(ways)
                ),
                unit="rows",
                limit=(least, f"k = {least}"),
            ),
            plane(trace, "All rows, one part", whole),
        ),
        question=number_question(
            f"A strict cut is before or after {tie.median}. How many rows are on the smaller side, "
            "by the better of both?",
            best,
            f"Sides have {below + at} and {above} rows, or {below} and {at + above}.",
            among=trace.rows,
            mistakes=(trace.rows // 2, at, min(below, above), least, above, below),
        ).on(_values(trace, tie)),
        together=whole,
        seen=if_boxes(trace, whole),
    )


def _sizes(trace: Trace, name: str) -> list[int]:
    return sorted(Counter(trace[name].together).values())


def _strict_release(trace: Trace) -> Step:
    run, sizes = trace[_STRICT], _sizes(trace, _STRICT)
    if len(sizes) == 1:
        words = (
            f"No strict cut along {listed(trace.quasi, 'or')} leaves k = {least_of(run)} rows on "
            f"both sides, so all {trace.rows} rows are one class."
        )
    else:
        words = (
            f"{len(sizes)} classes of {listed(map(str, sizes))} rows are left. Equal rows are in "
            "one class."
        )
    return Step(
        title="The strict release",
        words=words,
        pictures=(
            release_table(trace, _STRICT, "What strict cuts publish"),
            plane(trace, "Every class as a box", run.together),
        ),
        question=number_question(
            "Other columns and parts are tried as well. How many classes do strict cuts leave?",
            len(sizes),
            f"They have {listed(map(str, sizes))} rows.",
            among=trace.rows,
            least=1,
            mistakes=(
                trace.rows // least_of(run),
                len(_sizes(trace, _RELAXED)),
                len(trace.quasi),
                len(sizes) + 1,
            ),
        ),
        together=run.together,
        seen=published(run),
    )


def _relaxed_cut(trace: Trace, tie: _Tie) -> Step:
    dealt = sum(row in tie.lower for row in tie.at)
    whole = len(tie.lower), trace.rows - len(tie.lower)
    together = tuple(0 if row in tie.lower else 1 for row in range(trace.rows))
    groups = (
        (f"below {tie.median}", tie.below),
        (f"{tie.median}, lower side", tuple(r for r in tie.at if r in tie.lower)),
        (f"{tie.median}, upper side", tuple(r for r in tie.at if r not in tie.lower)),
        (f"above {tie.median}", tie.above),
    )
    parted = 0 < dealt < len(tie.at)
    why = f"{dealt} to the lower side, {len(tie.at) - dealt} to the upper: sides of {whole[0]} and "
    why += f"{whole[1]} rows."
    return Step(
        title="Relaxed: equal rows are dealt",
        words=f"A relaxed cut deals the rows with {tie.median} so that both sides are as equally "
        f"large as can be: {why} "
        + (
            "Which row goes where is drawn, not decided by the table's order."
            if parted
            else "Here none of them has to part."
        ),
        pictures=(
            Bars(
                title="Where rows go",
                bars=tuple(
                    Bar(
                        id=f"side:{number}",
                        label=label,
                        value=len(rows),
                        text=rows_said(len(rows)),
                        tone=group_tone(number // 2),
                        people=rows,
                    )
                    for number, (label, rows) in enumerate(groups)
                ),
                unit="rows",
            ),
            plane(trace, f"Parted along {tie.column}", together),
        ),
        question=number_question(
            f"Of the {len(tie.at)} rows with {tie.median}, how many go to the lower side?",
            dealt,
            why,
            among=len(tie.at),
            mistakes=(0, len(tie.at), len(tie.at) // 2, len(tie.at) - dealt),
        ).on(_values(trace, tie)),
        together=together,
        seen=if_boxes(trace, together),
    )


def _relaxed_release(trace: Trace, tie: _Tie) -> Step:
    run, sizes, classes = trace[_RELAXED], _sizes(trace, _RELAXED), _classes_that_fit(trace)
    person = max(tie.at, key=lambda row: (classes[row], -row))
    seen = published(run)
    fit, own = len(seen.fits(person)), run.together.count(run.together[person])
    if classes[person] > 1:
        why = (
            f"{classes[person]} classes cover the values of {trace.names[person]}, with {fit} rows "
            "together."
        )
        words = (
            "Ranges overlap where equal rows parted. Someone who knows such values cannot tell "
            f"the class: {why}"
        )
    else:
        why = f"One class covers the values of {trace.names[person]}, with {rows_said(fit)}."
        words = f"Ranges may overlap where equal rows parted, but need not: {why}"
    return Step(
        title="The relaxed release",
        words=f"{len(sizes)} classes of {listed(map(str, sizes))} rows are left. {words}",
        pictures=(
            release_table(trace, _RELAXED, "What relaxed cuts publish"),
            plane(trace, "Every class as a box", run.together),
        ),
        question=number_question(
            f"Someone knows {listed(trace.quasi)} of {trace.names[person]}. How many rows of the "
            "relaxed release fit?",
            fit,
            why,
            among=trace.rows,
            least=1,
            mistakes=(own, len(tie.at), 1, trace.rows, 2 * own),
        ).on(release_table(trace, _RELAXED, "What relaxed cuts publish")),
        together=run.together,
        seen=seen,
    )


def _compared(trace: Trace) -> Step:
    k, both = least_of(trace[_STRICT]), (_STRICT, _RELAXED)
    classes = [len(_sizes(trace, name)) for name in both]
    harm = [round(measured(trace[name], "discernibility").value) for name in both]
    size = [measured(trace[name], "average-class-size", k=k).value for name in both]
    loss = [measured(trace[name], "ncp").value for name in both]
    figures = (
        ("classes", [float(n) for n in classes]),
        ("DM", [float(n) for n in harm]),
        ("C_AVG", size),
        ("GCP", loss),
    )
    rows: list[Row] = []
    for name, (one, two) in figures:
        sign = -1 if name == "classes" else 1
        better = 0 if abs(one - two) < 1e-9 else 1 if sign * two < sign * one else -1
        cells = (
            Cell(text=f"{one:.3g}", tone="good" if better < 0 else "plain"),
            Cell(text=f"{two:.3g}", tone="good" if better > 0 else "plain"),
        )
        rows.append(Row(id=f"cost:{name}", label=name, cells=cells))
    squares = " + ".join(f"{n}²" for n in _sizes(trace, _RELAXED))
    why = f"{squares} = {harm[1]}; strict cuts cost {harm[0]}."
    return Step(
        title="What strictness costs",
        words=f"DM of relaxed cuts is {why} Where columns have an order, relaxed cuts go on "
        "until a part has fewer than 2k rows, or equal rows only. Strict cuts publish equal rows "
        "alike, so that values can be counted and joined; relaxed ones need not.",
        pictures=(
            Table(
                title="Both releases",
                columns=(Head(name=_STRICT), Head(name=_RELAXED)),
                rows=tuple(rows),
                corner="figure",
                note="Higher is worse, but for classes.",
            ),
            release_table(trace, _RELAXED, "What relaxed cuts publish"),
        ),
        question=number_question(
            f"Relaxed classes have {listed(map(str, _sizes(trace, _RELAXED)))} rows. What is DM, "
            "the sum of their squares?",
            harm[1],
            why,
            among=trace.rows**2,
            least=1,
            mistakes=(harm[0], trace.rows, harm[1] // 2, 2 * harm[1], trace.rows * classes[1]),
        ).on(release_table(trace, _RELAXED, "What relaxed cuts publish")),
        together=trace[_RELAXED].together,
        seen=published(trace[_RELAXED]),
    )
