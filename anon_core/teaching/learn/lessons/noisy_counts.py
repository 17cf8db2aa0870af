"""Counts with noise: what one answer says, and what many answers to the same question say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from math import exp, log, sqrt

import numpy as np

from anon_core.teaching.learn.example import TOTH, Example
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, Tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import least_of, number_question, release_table, rows_said, table
from anon_core.teaching.learn.trace import Trace

_RUN, _EPSILON = "release", 0.5
#: How often the question is asked in all, step by step.
_TIMES = (1, 4, 16, 64, 256)
#: Answers that are listed to either side of the count.
_SHOWN = 4


class NoisyCountsLesson(Lesson):
    """One count with noise, then the same again, until the noise is gone."""

    name = "noisy-counts"
    number = 25
    title = "Differential privacy: noise again and again"
    summary = (
        "With noise, a count says nearly the same without you. Asked "
        "again and again, noise averages out: the guarantee is a budget, and it is spent."
    )
    about = ("differential-privacy",)
    source = Source(
        author="Dwork, McSherry, Nissim and Smith",
        year=2006,
        title="Calibrating noise to sensitivity in private data analysis",
        doi="10.1007/11681878_14",
        where="with the whole-number noise of Ghosh, Roughgarden and Sundararajan 2012",
    )
    dial = Dial(label="ε", values=(0.1, 0.25, 0.5, 1, 2), begins=_EPSILON)
    draws = True
    examples = (
        Example(name="li", title="Li's nine patients", sample="li-microdata", person="Jane"),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "optimal", "max_suppression": 0.0},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def refuses(self, trace: Trace) -> str:
        """Ask for something to count."""
        return "" if trace.sensitive else "This lesson needs a sensitive column."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a count, its noise, one answer, many answers, a release."""
        return [_count(trace), _noise(trace), _once(trace), _again(trace), _release(trace)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about budgets that add up."""
        question = number_question(
            "Ten tables of counts of the same rows are published, each with ε = 0.2. What is ε of "
            "all of them together?",
            2,
            "Budgets add up: 10 · 0.2.",
            among=20,
            mistakes=(0, 1, 10, 20),
        )
        return (Exercise(question=question),)


def epsilon_of(trace: Trace) -> float:
    """Return ε of one answer."""
    return trace.example.setting or _EPSILON


def chance(noise: int, epsilon: float) -> float:
    """Return the chance of some noise: two-sided geometric, P(x) ∝ e^(−ε|x|)."""
    q = exp(-epsilon)
    return (1 - q) / (1 + q) * q ** abs(noise)


def deviation(epsilon: float) -> float:
    """Return the standard deviation of the noise."""
    q = exp(-epsilon)
    return sqrt(2 * q) / (1 - q)


def answers(trace: Trace) -> list[int]:
    """Return the answers to the question, in the order they are given; drawn for the lesson."""
    epsilon = epsilon_of(trace)
    seed = sha256(f"noise of a lesson, {trace.example.shuffle}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(seed))
    draws = rng.geometric(1 - exp(-epsilon), size=(2, _TIMES[-1]))
    return (len(_counted(trace)) + draws[0] - draws[1]).tolist()


def _value(trace: Trace) -> str:
    return trace.texts(trace.sensitive[0])[trace.person]


def _counted(trace: Trace) -> list[int]:
    """Return the rows that are counted: those with the value of the person who is followed."""
    texts = trace.texts(trace.sensitive[0])
    return [row for row, text in enumerate(texts) if text == _value(trace)]


def _asked(trace: Trace) -> str:
    return f"How many rows have {trace.sensitive[0]} {_value(trace)}?"


def _held(trace: Trace) -> Table:
    tones: dict[int, Tone] = dict.fromkeys(_counted(trace), "now")
    return table(trace, "The table as it is held", tones=tones)


def _count(trace: Trace) -> Step:
    rows, who = len(_counted(trace)), trace.names[trace.person]
    return Step(
        title="An exact count",
        words=f"{_asked(trace)} The answer is {rows}. Someone who knows of all others what they "
        f"have would expect {rows} with {who} and {rows - 1} without, so that one exact count says "
        f"whether {who} is in the table, and has it.",
        pictures=(_held(trace),),
    )


def _noise(trace: Trace) -> Step:
    epsilon, rows, who = epsilon_of(trace), len(_counted(trace)), trace.names[trace.person]
    shown: list[Row] = []
    for answer in range(rows - _SHOWN, rows + _SHOWN + 1):
        with_, without = chance(answer - rows, epsilon), chance(answer - rows + 1, epsilon)
        shown.append(
            Row(
                id=f"answer:{answer}",
                label=str(answer),
                cells=(
                    Cell(text=f"{with_:.1%}"),
                    Cell(text=f"{without:.1%}"),
                    Cell(text=f"{with_ / without:.3g}"),
                ),
            )
        )
    factor = exp(epsilon)
    why = f"e^ε = e^{epsilon:g} = {factor:.3g}, for every answer there is."
    near = (factor, 1.0, epsilon, 1 + epsilon / 2, factor**2)
    labels = sorted({f"{one:.3g}" for one in near}, key=float)
    return Step(
        title="The same count with noise",
        words=f"A whole number x is added, with a chance that falls as e^(−ε|x|); here ε = "
        f"{epsilon:g}, and the standard deviation is {deviation(epsilon):.3g}. Each answer is "
        f"about as likely with {who} as without: both differ by a factor of e^ε = {factor:.3g} at "
        "most. That is differential privacy.",
        pictures=(
            Table(
                title="Chance of each answer",
                columns=(
                    Head(name=f"with {who}"),
                    Head(name=f"without {who}"),
                    Head(name="with / without"),
                ),
                rows=tuple(shown),
                corner="answer",
            ),
        ),
        question=Question(
            asks=f"With ε = {epsilon:g}, how many times likelier can an answer be with {who} than "
            "without, at most?",
            choices=tuple(Choice(id=f"factor:{one}", label=one) for one in labels),
            answer=f"factor:{factor:.3g}",
            why=why,
            pictures=(_held(trace),),
        ),
    )


def odds(trace: Trace, person: int, times: int) -> float:
    """Return the odds that a person is in the table, after some answers, if both were as likely."""
    if person not in _counted(trace):
        return 1.0
    epsilon, rows = epsilon_of(trace), len(_counted(trace))
    logs = (
        log(chance(answer - rows, epsilon)) - log(chance(answer - rows + 1, epsilon))
        for answer in answers(trace)[:times]
    )
    return exp(sum(logs))


def _found(trace: Trace, times: int) -> tuple[str, ...]:
    answers = "one answer" if times == 1 else f"{times} answers"
    return tuple(
        f"Someone who knows everyone but {trace.names[row]}, and hears {answers}, holds it for "
        f"{odds(trace, row, times) / (1 + odds(trace, row, times)):.1%} likely that "
        f"{trace.names[row]} is in the table; it was 50.0% before."
        for row in range(trace.rows)
    )


def _once(trace: Trace) -> Step:
    epsilon, rows = epsilon_of(trace), len(_counted(trace))
    first = answers(trace)[0]
    most = exp(epsilon) / (1 + exp(epsilon))
    return Step(
        title=f"One answer: {first}",
        words=f"{_asked(trace)} The answer drawn is {first}; it is {rows} in truth. Someone who "
        "thought it as likely as not that a person is in the table is now sure by no more than "
        f"{most:.1%}, whatever the answer is. Shuffle, and another answer is drawn.",
        pictures=(
            _held(trace),
            Bars(
                title="The answer, and the truth",
                bars=(
                    Bar(id="answer:drawn", label="drawn", value=max(first, 0), text=str(first)),
                    Bar(id="answer:true", label="true", value=rows, text=str(rows), tone="quiet"),
                ),
                unit="rows",
            ),
        ),
        found=_found(trace, 1),
    )


def _again(trace: Trace) -> Step:
    epsilon, rows = epsilon_of(trace), len(_counted(trace))
    drawn = answers(trace)
    shown = tuple(
        Row(
            id=f"times:{times}",
            label=str(times),
            cells=(
                Cell(text=f"{sum(drawn[:times]) / times:.2f}"),
                Cell(text=f"{deviation(epsilon) / sqrt(times):.2f}"),
                Cell(text=f"{times * epsilon:g}", tone="bad" if times * epsilon > 10 else "plain"),
            ),
        )
        for times in _TIMES
    )
    # The mean is within half a row, with two standard deviations to spare.
    enough = next((n for n in _TIMES if 2 * deviation(epsilon) / sqrt(n) <= 0.5), None)
    why = (
        f"The error of the mean is {deviation(epsilon):.3g} / √n; at {enough} answers two of them "
        "are no more than half a row."
        if enough
        else f"The error of the mean is {deviation(epsilon):.3g} / √n, and too large even at "
        f"{_TIMES[-1]}."
    )
    return Step(
        title="Again and again: the noise is gone",
        words=f"Ask the same question n times, and take the mean. {why} The true count is {rows}. "
        f"Budgets add up: n answers with ε = {epsilon:g} are one with n · ε. So a "
        "box that answers has to keep accounts, and give the same answer to the same question.",
        pictures=(
            Table(
                title="The mean of n answers",
                columns=(Head(name="mean"), Head(name="its error"), Head(name="ε in all")),
                rows=shown,
                corner="n",
                note="Error: the standard deviation of the mean.",
            ),
            _held(trace),
        ),
        question=Question(
            asks="How many answers make the mean good enough to read the exact count from it, two "
            "errors being at most half a row?",
            choices=(
                *(Choice(id=f"times:{n}", label=str(n)) for n in _TIMES),
                Choice(id="times:more", label="More than all of these"),
            ),
            answer=f"times:{enough}" if enough else "times:more",
            why=why,
            pictures=(_held(trace),),
        ),
        found=_found(trace, _TIMES[-1]),
    )


def _release(trace: Trace) -> Step:
    run = trace[_RUN]
    often = Counter(run.together).most_common(1)[0][1]
    return Step(
        title="What k-anonymity says instead",
        words="Differential privacy speaks of the way an answer is made, whatever an attacker "
        f"knows. k-anonymity speaks of what is published: here at least {least_of(run)} rows look "
        f"alike, and {often} at most, but its counts are exact, and two releases together can "
        "tell more than either.",
        pictures=(release_table(trace, _RUN, "What is published"),),
        question=number_question(
            "How many rows look alike in the largest class of a k-anonymous release?",
            often,
            f"{rows_said(often)} share their quasi-identifiers.",
            among=trace.rows,
            least=1,
            mistakes=(least_of(run), 1),
        ).on(_held(trace)),
        together=run.together,
        seen=published(run),
    )
