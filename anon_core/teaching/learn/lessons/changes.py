"""Noise, rank swapping, swapping and pseudonyms: cells say other things than were held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import BadInput
from anon_core.methods.changes.closeness import nearest_chances, points_of
from anon_core.methods.changes.keyed import pseudonym
from anon_core.release.ground_truth import truth_of
from anon_core.release.outcome import per_cent
from anon_core.teaching.learn.example import TOTH, Example, Material, six_people
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.lesson_run import attacked, measured
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table
from anon_core.teaching.learn.text import listed, number_question, rows_said, table, yes_or_no
from anon_core.teaching.learn.trace import Trace

_NOISE, _RANKS, _SWAPPED = "noise", "ranks", "swapped"
#: Ranks to either side of a published number, in per cent.
_WINDOW = 20.0
_TITLES = {_NOISE: "Additive noise", _RANKS: "Rank swapping", _SWAPPED: "Swapping"}


class ChangesLesson(Lesson):
    """One table, changed in three ways, and a register that is laid next to it."""

    name = "changes"
    number = 24
    title = "Noise, swapping, pseudonyms"
    summary = (
        "A release can say other things instead of less. Numbers get noise, values are those of "
        "other people, names need a key. What stays true, and what is still found?"
    )
    about = (
        "additive-noise", "rank-swapping", "swapping", "pseudonym", "as-is", "distance-linkage",
        "interval-disclosure",
    )  # fmt: skip
    source = Source(
        author="Hundepool and others",
        year=2012,
        title="Statistical Disclosure Control",
        doi="10.1002/9781118348239",
        where="chapter 3",
    )
    dial = Dial(label="α", values=(0.01, 0.1, 0.25, 0.5, 1), sets=("alpha",), runs=(_NOISE,))
    examples = (
        Example(name="aalborg", title="Aalborg's six people", made=six_people, person="Maria"),
        TOTH,
    )
    runs = {
        _NOISE: {"algorithm": {"name": "as-is"}, "models": []},
        _RANKS: {"algorithm": {"name": "as-is"}, "models": []},
        _SWAPPED: {"algorithm": {"name": "as-is"}, "models": []},
    }

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: numbers are changed, and the last of them swapped."""
        numbers = _numbers(material)
        if not numbers:
            raise BadInput(
                "This lesson needs a quasi-identifier of numbers, with two values at least.",
                remedy="Read the lesson on its own example.",
            )
        change = {
            _NOISE: {"name": "additive-noise", "columns": numbers, "alpha": 0.1},
            _RANKS: {"name": "rank-swapping", "columns": numbers, "p": 40},
            _SWAPPED: {"name": "swapping", "columns": numbers[-1:], "share": 0.5},
        }[run]
        return {**self.runs[run], "changes": [change]}

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the table, three changes with what a register finds, pseudonyms."""
        return [
            _held(trace),
            _noise(trace),
            _interval(trace),
            _ranks(trace),
            _swapped(trace),
            _pseudonyms(trace),
            _compared(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about a swap of the whole column."""
        question = yes_or_no(
            "A column is swapped at random as a whole. Are its mean and its counts still exact?",
            True,
            "Each value is published once, only in another row; what is lost is what it goes with.",
        )
        return (Exercise(question=question),)


def _numbers(material: Material) -> list[str]:
    """Return the quasi-identifiers that are numbers with more than one value."""
    columns = {name: material.dataset.column(name) for name in material.roles.quasi}
    return [
        name
        for name, column in columns.items()
        if material.types.get(name, column.kind) == "number" and len(column.values) > 1
    ]


def _changed(trace: Trace, name: str) -> list[str]:
    return list(trace[name].result.plan.changes[0].columns)


def _table(trace: Trace, name: str, title: str) -> Table:
    """Return what a run publishes, with what was held where it differs."""
    columns = (*trace.quasi, *trace.sensitive)
    texts = {column: trace[name].published(column) for column in columns}
    return table(trace, title, cells=texts, identifier=False, release=name)


def linked(trace: Trace, name: str) -> list[float]:
    """Return with which chance every published row is linked to its own person."""
    run = trace[name]
    truth = truth_of(run.result.problem, run.release)
    points = points_of([c for c in truth.changed if c.name in trace.quasi])
    rows = np.arange(trace.rows, dtype=np.int64)
    return [float(one) for one in nearest_chances(points, rows, Context())]


def _found(trace: Trace, name: str) -> tuple[str, ...]:
    said: list[str] = []
    for row, chance in enumerate(linked(trace, name)):
        right = (
            "is wrong"
            if not chance
            else "is right"
            if chance == 1
            else f"is right 1 time in {round(1 / chance)}"
        )
        said.append(
            f"Someone who knows {listed(trace.quasi)} of everyone links the row of "
            f"{trace.names[row]} to the person who is nearest, and {right}."
        )
    return tuple(said)


def _held(trace: Trace) -> Step:
    return Step(
        title="The table as it is held",
        words="Cells are changed here, and rows stay. So every row is still someone's, and no "
        "class hides it: k-anonymity says nothing of such a release. What protects is that a cell "
        "need not be true.",
        pictures=(table(trace, "The table as it is held"),),
    )


def _right(trace: Trace, name: str) -> tuple[int, str]:
    """Return how many rows are linked rightly for certain, and what the attack says."""
    result = attacked(trace[name], "distance-linkage")
    assert result is not None
    return sum(chance == 1 for chance in linked(trace, name)), result.sentence


def _step(trace: Trace, name: str, words: str, asks: str) -> Step:
    certain, said = _right(trace, name)
    return Step(
        title=_TITLES[name],
        words=f"{words} {said}",
        pictures=(_table(trace, name, "What is published"),),
        question=number_question(
            asks,
            certain,
            said,
            among=trace.rows,
            mistakes=(0, trace.rows, trace.rows // 2),
        ).on(table(trace, "The table as it is held", identifier=False)),
        found=_found(trace, name),
    )


def _noise(trace: Trace) -> Step:
    columns = _changed(trace, _NOISE)
    share = trace[_NOISE].result.plan.as_mapping()["changes"][0]["alpha"]
    return _step(
        trace,
        _NOISE,
        f"To every number of {listed(columns)} something is added that is drawn at random; its "
        f"variance is α = {share:g} times that of the column. Means stay about right, and "
        "single cells do not. A register of true values is laid next to it.",
        f"Noise of α = {share:g} times the variance is added to {listed(columns)}, and each row is "
        f"linked to the nearest person. How many of the {trace.rows} rows are linked rightly for "
        "certain?",
    )


def _interval(trace: Trace) -> Step:
    results = {
        name: attacked(trace[name], "interval-disclosure", p=_WINDOW) for name in (_NOISE, _RANKS)
    }
    bars = tuple(
        bar
        for name, result in results.items()
        if result is not None
        for bar in (
            Bar(
                id=f"run:{name}", label=_TITLES[name], value=result.rate, text=per_cent(result.rate)
            ),
            Bar(
                id=f"row:{name}",
                label="…of a random row",
                value=result.baseline,
                text=per_cent(result.baseline),
                tone="quiet",
            ),
        )
    )
    result = results[_NOISE]
    said = "" if result is None else f" {result.sentence}"
    return Step(
        title="An interval is enough",
        words="An attacker need not know the true number: near may be enough. Around each "
        f"published number lies an interval of {_WINDOW:g} % of the ranks to each side; how often "
        f"is the true one in it?{said} More noise makes the figure fall, and the numbers useless.",
        pictures=(
            Bars(title="The true number lies in the interval", bars=bars, unit="share of the rows"),
            _table(trace, _NOISE, "What is published with noise"),
        ),
    )


def _ranks(trace: Trace) -> Step:
    columns = _changed(trace, _RANKS)
    p = trace[_RANKS].result.plan.as_mapping()["changes"][0]["p"]
    return _step(
        trace,
        _RANKS,
        f"Every value of {listed(columns)} changes places with one that is at most {p:g} % of the "
        "ranks away. All values are still there, as often as before: counts, mean and spread of "
        "each column are exact. What goes with what is only about right.",
        f"Values of {listed(columns)} change places within {p:g} % of the ranks. How many of the "
        f"{trace.rows} rows are linked rightly for certain?",
    )


def _swapped(trace: Trace) -> Step:
    (column,) = _changed(trace, _SWAPPED)
    now, was = trace[_SWAPPED].published(column), trace.texts(column)
    moved = sum(one != other for one, other in zip(now, was, strict=True))
    why = f"{rows_said(moved)} of {trace.rows} show another value now."
    _, said = _right(trace, _SWAPPED)
    return Step(
        title="Swapping: values of other people",
        words=f"Half of the rows are drawn, and their values of {column} are dealt among them, "
        f"however far they are. {why} {said} Most cells are true, and no one can say which.",
        pictures=(_table(trace, _SWAPPED, "What is published"),),
        question=yes_or_no(
            f"Half of the rows exchange their {column} at random. Is every value of {column} still "
            "published as often as before?",
            Counter(now) == Counter(was),
            f"Values move, and none is made up. {why}",
        ),
        found=_found(trace, _SWAPPED),
    )


def _pseudonyms(trace: Trace) -> Step:
    first, other = (sha256(f"key {n} of the lesson".encode()).digest() for n in (1, 2))
    rows = tuple(
        Row(
            id=f"row:{row}",
            label=str(row + 1),
            people=(row,),
            cells=tuple(
                Cell(text=text)
                for text in (
                    name,
                    pseudonym(first, "study", name),
                    pseudonym(first, "registry", name),
                    pseudonym(other, "study", name),
                )
            ),
        )
        for row, name in enumerate(trace.names)
    )
    return Step(
        title="Pseudonyms: who has the key",
        words="A name becomes what a secret key makes of it (HMAC). The same name always gives the "
        "same pseudonym, so rows of a person can be joined, within one domain and under one key "
        "only. With the key, everyone can be named again. Without one it is none: hashes of "
        "all names of a register are tried in seconds.",
        pictures=(
            Table(
                title="Names and their pseudonyms",
                columns=(
                    Head(name="name"),
                    Head(name="key 1, study"),
                    Head(name="key 1, registry"),
                    Head(name="key 2, study"),
                ),
                rows=rows,
            ),
        ),
        question=Question(
            asks="Two tables have pseudonyms of one key, for the domains “study” and “registry”. "
            "Can their rows be joined by pseudonym?",
            choices=(
                Choice(id="yes", label="Yes"),
                Choice(id="no", label="No"),
            ),
            answer="no",
            why="The domain goes into the HMAC: one name has another pseudonym in each.",
            pictures=(table(trace, "The table as it is held"),),
        ),
    )


def _compared(trace: Trace) -> Step:
    rows: list[Row] = []
    rates: dict[str, float] = {}
    for name, title in _TITLES.items():
        result = attacked(trace[name], "distance-linkage")
        assert result is not None
        rates[name] = result.rate
        moved = measured(trace[name], "il1s").value
        rows.append(
            Row(
                id=f"run:{name}",
                label=title,
                cells=(
                    Cell(text=per_cent(result.rate)),
                    Cell(text=per_cent(result.baseline)),
                    Cell(text=f"{moved:.3g}"),
                ),
            )
        )
    least = min(rates.values())
    best = [name for name, rate in rates.items() if rate <= least + 1e-9]
    why = f"{listed(_TITLES[name] for name in best)}: {per_cent(least)}."
    return Step(
        title="What each of them leaves",
        words="Linked: the share of rows that a register of true values links rightly, next to a "
        f"guess. IL1s: how far numbers moved, in standard deviations. Fewest links: {why} Judge "
        "such a release by attacks like these, and by what your analysis needs.",
        pictures=(
            Table(
                title="Risk and loss",
                columns=(Head(name="linked"), Head(name="by a guess"), Head(name="IL1s")),
                rows=tuple(rows),
                corner="change",
            ),
            _table(trace, _RANKS, "What rank swapping publishes"),
        ),
        question=Question(
            asks="Which of the three leaves fewest rows linked rightly?",
            choices=tuple(Choice(id=f"run:{name}", label=title) for name, title in _TITLES.items()),
            answer=f"run:{best[0]}",
            also=frozenset(f"run:{name}" for name in best),
            why=why,
            pictures=(table(trace, "The table as it is held", identifier=False),),
        ),
        found=_found(trace, _RANKS),
    )
