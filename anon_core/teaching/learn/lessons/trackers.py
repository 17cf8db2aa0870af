"""Trackers: a box that only counts, and refuses small sets, is asked about one person."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.queries.trackers import (
    QueryBox,
    Refused,
    Set,
    determined,
    general_tracker,
    individual_tracker,
    tracker_window,
)
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import Dial, Exercise, Lesson, Source, Step
from anon_core.teaching.learn.pictures import Cell, Head, Row, Table, Tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    least_of,
    listed,
    number_question,
    release_table,
    rows_listed,
    rows_said,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Trace

_RUN = "release"
_EDUCATION = ("very high", "high", "high", "high", "medium", *("low",) * 15)
_RACE = "bwbwwwbwwbwbbwbwwbbw"
_SALARY = (201, 103, 77, 61, 72, 103, 91, 84, 75, 62, 58, 56, 54, 52, 55, 48, 48, 41, 44, 37)
_NAMES = (
    *("John", "Jim", "Sue", "Pete", "Ramesh", "Dante", "Virgil", "Wanda", "Stan", "Irmi"),
    *("Renee", "Virginia", "Mary", "Kim", "Tom", "Ken", "Mike", "Joe", "Jeff", "Nancy"),
)


def _children() -> Material:
    import pandas as pd

    columns = {
        "Education": list(_EDUCATION),
        "Race": ["black" if one == "b" else "white" for one in _RACE],
        "Salary": [str(salary) for salary in _SALARY],
    }
    order = ("low", "medium", "high", "very high")
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(columns, dtype=object)),
        roles=Roles(quasi=("Education", "Race"), sensitive=("Salary",)),
        types={"Education": "text", "Race": "text", "Salary": "text"},
        levels={
            "Education": [
                [one, "up to medium" if one in order[:2] else "high", "*"] for one in order
            ]
        },
    )


# ---- the lesson -------------------------------------------------------------------------------


class TrackersLesson(Lesson):
    """Nothing is published but answers, and one person's value comes out."""

    name = "trackers"
    number = 23
    title = "Trackers: answers about sets only"
    summary = (
        "A box counts sets of records, and refuses small ones. Questions that "
        "it does answer add up to those that it refuses."
    )
    about = ()
    source = Source(
        author="Denning, Denning and Schwartz",
        year=1979,
        title="The tracker: a threat to statistical database security",
        doi="10.1145/320064.320069",
        where="on the twenty children of Samarati 2008, slide 9",
    )
    dial = Dial(label="k", values=(2, 3, 4, 5))
    examples = (
        Example(
            name="children",
            title="Twenty children, slide 9",
            made=_children,
            names=_NAMES,
            person="Ramesh",
            runs={
                _RUN: {
                    "algorithm": {"name": "optimal", "max_suppression": 0.0},
                    "models": [{"name": "k-anonymity", "k": 3}],
                }
            },
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "optimal", "max_suppression": 0.0},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def refuses(self, trace: Trace) -> str:
        """Ask for a secret, two known columns, and a set of medium size."""
        if not trace.sensitive or len(trace.quasi) < 2:
            return "This lesson needs two quasi-identifiers and a sensitive column."
        k = least_of(trace[_RUN])
        if trace.rows < 4 * k:
            return f"This lesson needs 4 k = {4 * k} rows: no general tracker is there otherwise."
        if not _tracker(trace):
            return "No value splits the table into two sets of medium size."
        return "" if _targets(trace) else f"Everyone is one of {k} or more with equal values."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the rule, a refusal, two trackers, a secret, an audit, a release."""
        single = _individual(trace)
        return [
            _rule(trace),
            _refused(trace),
            *([single] if single else []),
            _general(trace),
            _secret(trace),
            _audit(trace),
            _release(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about when a tracker exists."""
        window = tracker_window(20, 5)
        assert window is not None
        question = number_question(
            "A box has 20 records. Up to which k is there room for a general tracker, of 2k to "
            "n − 2k records?",
            window[0] // 2,
            "2k ≤ 20 − 2k, so k is 5 at most.",
            among=20,
            least=1,
            mistakes=(10, 4, 6, 20),
        )
        return (Exercise(question=question),)


@dataclass(kw_only=True)
class _Asked:
    """A box with the sets that it was asked about."""

    box: QueryBox
    sets: list[Set] = field(default_factory=list[Set])

    def count(self, chosen: Set, words: str) -> int:
        """Ask how many records a set has."""
        found = self.box.count(chosen, words)
        self.sets.append(chosen)
        return found

    def any_count(self, chosen: Set, tracker: Set) -> int:
        """Return the count of a set: as answered, or by a general tracker."""
        k, n = self.box.least, len(self.box.values)
        if k <= len(chosen) <= n - k:
            return self.count(chosen, "q(C)")
        large = len(chosen) > n - k
        return general_tracker(self.count, self.box.everyone, chosen, tracker, large=large)


def _box(trace: Trace) -> _Asked:
    return _Asked(box=QueryBox(values=(1,) * trace.rows, least=least_of(trace[_RUN])))


def _where(trace: Trace, person: int, columns: Sequence[str]) -> Set:
    """Return the rows that have what a person has in some columns."""
    texts = [trace.texts(name) for name in columns]
    return frozenset(
        row for row in range(trace.rows) if all(own[row] == own[person] for own in texts)
    )


def _tracker(trace: Trace) -> tuple[str, Set] | None:
    """Return a set of medium size in words, and its rows; None where no value makes one."""
    window = tracker_window(trace.rows, least_of(trace[_RUN]))
    if window is None:
        return None
    for name in (*trace.quasi[::-1], *trace.sensitive):
        texts, values = trace.texts(name), list[str]()
        for value in sorted(set(texts), key=lambda one: -texts.count(one)):
            values.append(value)
            rows = frozenset(row for row, text in enumerate(texts) if text in values)
            if window[0] <= len(rows) <= window[1]:
                return f"{name} is {listed(values, 'or')}", rows
    return None


def _medium(trace: Trace) -> tuple[str, Set]:
    found = _tracker(trace)
    assert found is not None
    return found


def _targets(trace: Trace) -> list[int]:
    """Return the people whom few others are like, so that a question about them is refused."""
    everyone = sorted(range(trace.rows), key=lambda row: (row != trace.person, row))
    k = least_of(trace[_RUN])
    return [row for row in everyone if len(_where(trace, row, trace.quasi)) < k]


def _own(trace: Trace) -> str:
    """Return what the person who is asked about has, in words."""
    person = _targets(trace)[0]
    return listed(f"{name} is {trace.texts(name)[person]}" for name in trace.quasi)


def _log(asked: _Asked, title: str) -> Table:
    """Return what was asked, and what came back."""
    rows = tuple(
        Row(
            id=f"query:{place}",
            label=str(place + 1),
            cells=(
                Cell(text=step.words),
                Cell(
                    text="refused" if step.answer is None else str(step.answer),
                    tone="bad" if step.answer is None else "plain",
                ),
            ),
        )
        for place, step in enumerate(asked.box.log)
    )
    heads = (Head(name="question"), Head(name="answer"))
    return Table(title=title, columns=heads, rows=rows, corner="")


def _held(trace: Trace, rows: Set) -> Table:
    tones: dict[int, Tone] = dict.fromkeys(rows, "now")
    return table(trace, "Inside the box: no one sees it", tones=tones)


def _rule(trace: Trace) -> Step:
    k, n = least_of(trace[_RUN]), trace.rows
    return Step(
        title="A box that answers",
        words="No row is published. Ask how many records have some values, and the box counts "
        f"them. So that no one is singled out, it refuses sets of fewer than k = {k} of its {n} "
        f"records, and sets that lack fewer than {k}: those would tell the same by what is "
        "missing.",
        pictures=(_held(trace, frozenset()),),
    )


def _refused(trace: Trace) -> Step:
    asked, chosen = _box(trace), _where(trace, _targets(trace)[0], trace.quasi)
    said = f"C: {_own(trace)}"
    with suppress(Refused):
        asked.count(chosen, said)
    k, who = least_of(trace[_RUN]), trace.names[_targets(trace)[0]]
    why = (
        f"The set has {rows_said(len(chosen))}, and {k} to {trace.rows - k} are allowed: the box "
        "refuses."
    )
    return Step(
        title=f"Asked about {who}",
        words=f"You know that {_own(trace)} for {who}, and ask how many have both. {why} The "
        "question may be asked in another way.",
        pictures=(_log(asked, "What was asked"), _held(trace, chosen)),
        question=yes_or_no(
            f"How many records have this: {_own(trace)}? Sets of {k} to {trace.rows - k} records "
            "are answered. Is this one?",
            False,
            why,
        ).on(_held(trace, frozenset())),
    )


def _individual(trace: Trace) -> Step | None:
    """Return the step in which two answers differ by the person; None where no split allows it."""
    for name in trace.quasi:
        asked = _box(trace)
        rest = [other for other in trace.quasi if other != name]
        a, b = (_where(trace, _targets(trace)[0], columns) for columns in ([name], rest))
        try:
            found = individual_tracker(asked.count, a, b)
        except Refused:
            continue
        own = trace.texts(name)[_targets(trace)[0]]
        others = listed(f"{other} is {trace.texts(other)[_targets(trace)[0]]}" for other in rest)
        one, two = (step.answer for step in asked.box.log)
        why = f"{one} − {two} = {found}."
        return Step(
            title="An individual tracker",
            words=f"Split what you know: A is all with {name} {own}, and B all of whom {others}. "
            "The box answers A, and it answers A without B; both are large enough. The difference "
            f"is what it refused: {why}",
            pictures=(_log(asked, f"A: {name} is {own}; B: {others}"), _held(trace, a)),
            question=number_question(
                f"q(A) is {one}, and q(A and not B) is {two}. How many have both A and B?",
                found,
                why,
                among=trace.rows,
                mistakes=(int(one or 0), int(two or 0), found + 1, 0),
            ),
        )
    return None


def _general(trace: Trace) -> Step:
    asked, chosen = _box(trace), _where(trace, _targets(trace)[0], trace.quasi)
    said, tracker = _medium(trace)
    found = general_tracker(asked.count, asked.box.everyone, chosen, tracker)
    t, other, with_t, with_other = (int(step.answer or 0) for step in asked.box.log)
    why = f"{with_t} + {with_other} − ({t} + {other}) = {found}."
    low, high = 2 * least_of(trace[_RUN]), trace.rows - 2 * least_of(trace[_RUN])
    size = str(low) if low == high else f"{low} to {high}"
    return Step(
        title="A general tracker asks anything",
        words=f"One set T of medium size opens the box for good, here all of whom {said}. C or T, "
        "and C or not T, are large enough whatever C is, and each other record is in one of them: "
        f"q(C) = q(C or T) + q(C or not T) − n. {why} T needs {size} of the {trace.rows} "
        "records.",
        pictures=(_log(asked, f"T: {said}"), _held(trace, tracker)),
        question=number_question(
            f"q(C or T) is {with_t}, q(C or not T) is {with_other}, and n is {trace.rows}. What is "
            "q(C)?",
            found,
            why,
            among=trace.rows,
            mistakes=(0, with_t - with_other if with_t > with_other else 2, with_t - t, t),
        ),
    )


def learned(trace: Trace, person: int) -> tuple[int, int]:
    """Return what the box lets one find out: rows that fit a person, and those with their value."""
    chosen = _where(trace, person, trace.quasi)
    having = chosen & _where(trace, person, trace.sensitive[:1])
    _, tracker = _medium(trace)
    asked = _box(trace)
    return asked.any_count(chosen, tracker), asked.any_count(having, tracker)


def _secret(trace: Trace) -> Step:
    column, person = trace.sensitive[0], trace.person
    value, who = trace.texts(column)[person], trace.names[person]
    every = [learned(trace, row) for row in range(trace.rows)]
    rows, having = every[person]
    known = sum(one == two for one, two in every)
    why = (
        f"{rows_said(rows)} {'fits' if rows == 1 else 'fit'} {who}, and {having} of them "
        f"{'has' if having == 1 else 'have'} {column} {value}."
    )
    return Step(
        title="The secret, by counting",
        words=f"Ask the same with one condition more, {column} is {value}: the tracker works as "
        f"well. {why} In this way {column} of {known} of {trace.rows} people is confirmed, though "
        "the box has shown no row.",
        pictures=(
            Table(
                title="Found out by counts",
                columns=(Head(name="rows that fit"), Head(name=f"with their {column}")),
                rows=tuple(
                    Row(
                        id=f"person:{row}",
                        label=trace.names[row],
                        people=(row,),
                        cells=(
                            Cell(text=str(one)),
                            Cell(text=str(two), tone="bad" if one == two else "plain"),
                        ),
                    )
                    for row, (one, two) in enumerate(every)
                ),
                corner="who",
            ),
        ),
        question=number_question(
            f"Of how many of the {trace.rows} people can {column} be confirmed by counts?",
            known,
            "Of those with whom no one shares the known values but has another secret.",
            among=trace.rows,
            mistakes=(0, 1, trace.rows),
        ),
        found=tuple(
            f"Someone who knows {listed(trace.quasi)} of {trace.names[row]}, and only asks for "
            f"counts, finds {rows_said(one)} that can be theirs; {two} of {one} "
            f"{'has' if two == 1 else 'have'} {column} {trace.texts(column)[row]}"
            + (", so it is known." if one == two else ".")
            for row, (one, two) in enumerate(every)
        ),
    )


def _audit(trace: Trace) -> Step:
    asked, chosen = _box(trace), _where(trace, _targets(trace)[0], trace.quasi)
    _, tracker = _medium(trace)
    general_tracker(asked.count, asked.box.everyone, chosen, tracker)
    follows = determined(trace.rows, asked.sets)
    number = len(follows)
    said = (
        f"{rows_listed(sorted(follows)).lower()} {'follows' if number == 1 else 'follow'} from them"
        if follows
        else "no single record follows from them"
    )
    return Step(
        title="An audit of the answers",
        words=f"{len(asked.sets)} sets were answered, each of them large. Answers are equations, "
        f"with a record an unknown each; solved together, {said}. So a box has to remember "
        "everything it has answered, to everyone: that is what the workbench audits in tables that "
        "are published together.",
        pictures=(_held(trace, follows), _log(asked, "The answers")),
        question=number_question(
            "Four large sets were answered. How many single records follow from them?",
            number,
            f"Solved together, {said}.",
            among=trace.rows,
            mistakes=(0, 1, 4, trace.rows),
        ).on(_log(asked, "The answers")),
    )


def _release(trace: Trace) -> Step:
    run = trace[_RUN]
    return Step(
        title="A release instead",
        words="What is published once cannot be asked again: in this release every row looks like "
        f"at least {least_of(run)}, and whatever is counted in it is counted in whole classes. "
        "Boxes that must answer add noise, and stop when a budget is spent.",
        pictures=(release_table(trace, _RUN, "What is published"),),
        together=run.together,
        seen=published(run),
    )
