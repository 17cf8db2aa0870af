"""Count queries: what boxes, Anatomy and shuffled columns answer, factor by factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.methods.queries.count_queries import by_hand, in_words
from anon_core.methods.queries.query_answers import counts
from anon_core.teaching.learn.count_query import (
    answers,
    asked_of,
    box_texts,
    matching,
    most_diverse,
    source_groups,
    ways,
)
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.permuted_tables import published_table, shuffled_found
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, Tone
from anon_core.teaching.learn.text import listed, number_question, people_of, rows_said, table
from anon_core.teaching.learn.trace import Trace

_RUN = "permutation"


class QueriesLesson(Lesson):
    """One query, asked of three ways to publish the same groups."""

    name = "queries"
    number = 18
    title = "Queries and reconstruction"
    summary = (
        "People ask a release how many rows match. The same groups, published as boxes, as two "
        "tables or with shuffled columns, give different counts, and none of them is exact."
    )
    about = ("query-error", "reconstruction-error")
    source = Source(
        author="Li, He, Cao and Chen",
        year=2015,
        title="Permutation anonymization",
        where="examples 1 and 2",
    )
    dial = Dial(label="l", values=(2, 3, 4))
    examples = (
        Example(name="li", title="Li's nine patients", sample="li-microdata", person="Jane"),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "permutation"},
            "models": [{"name": "frequency-l-diversity", "l": 4}],
        }
    }

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: l is what the table allows, up to 4."""
        models = [{"name": "frequency-l-diversity", "l": most_diverse(material)}]
        return {**self.runs[run], "models": models}

    def refuses(self, trace: Trace) -> str:
        """Ask for two quasi-identifiers and a sensitive column."""
        if trace.sensitive and len(trace.quasi) > 1:
            return ""
        return "This lesson needs two quasi-identifiers and a sensitive column."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the query on the table, three ways, their errors, own groups."""
        return [
            _exact(trace),
            *(_way(trace, title) for title in _HOW),
            _errors(trace),
            _rebuilt(trace),
            _own(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about independent shares."""
        question = number_question(
            "A group has 20 rows; half of them match in each of two shuffled columns. How many "
            "rows are expected to match in both?",
            5,
            "20 · 1/2 · 1/2: shuffled columns are independent within the group.",
            among=20,
            mistakes=(10, 20, 0, 1),
        )
        return (Exercise(question=question),)


#: How each way answers.
_HOW = {
    "Generalization": "A box says only where values lie. They are taken to be evenly spread: the "
    "share of the box that the query covers, column by column, times the rows of the group.",
    "Anatomy": "Quasi-identifiers are exact and in one row. Rows that match are counted, and each "
    "counts as much as the value has a share in its group.",
    "Permutation": "Every column is exact, and none belongs to another any more. The share of "
    "every column that matches is multiplied, times the rows of the group.",
}


def _exact_count(trace: Trace) -> int:
    asked, _ = by_hand(trace.problem, [asked_of(trace)])
    return int(counts(trace.problem, asked).sum())


def _factors(trace: Trace, title: str, group: int) -> tuple[list[str], float]:
    """Return what a group's answer is made of: its rows, the share of each column, the product."""
    groups, query = source_groups(trace, _RUN), asked_of(trace)
    alone = [0 if own == group else -1 for own in groups]
    rows = groups.count(group)
    column = trace.sensitive[0]
    quasi = {name: condition for name, condition in query.items() if name != column}
    secret = answers(trace, alone, {column: query[column]})[title] / rows
    if title == "Anatomy":
        together = answers(trace, alone, quasi)[title]
        shares = [f"{together:g} rows", f"{_share(secret)}"]
    else:
        each = [
            answers(trace, alone, {name: condition})[title] / rows
            for name, condition in quasi.items()
        ]
        shares = [f"{rows} rows", *map(_share, each), _share(secret)]
    return shares, answers(trace, alone)[title]


def _share(value: float) -> str:
    """Return a share as a fraction where it is a simple one."""
    found = Fraction(value).limit_denominator(100)
    return str(found) if abs(float(found) - value) < 1e-9 else f"{value:.3g}"


def _shown(trace: Trace, title: str) -> Table:
    """Return the groups as they are published in a way."""
    groups = source_groups(trace, _RUN)
    cells = None
    if title == "Generalization":
        cells = box_texts(trace, groups, ways(trace, groups)[title])
    return table(
        trace,
        "The groups" + (" as boxes" if cells else ""),
        together=groups,
        cells=cells,
        identifier=False,
    )


def _exact(trace: Trace) -> Step:
    count, rows = _exact_count(trace), matching(trace)
    tones: dict[int, Tone] = dict.fromkeys(rows, "now")
    why = f"{rows_said(count)} {'has' if count == 1 else 'have'} all of it."
    return Step(
        title="The query, and what the table answers",
        words=f"How many rows have {in_words(asked_of(trace))}? The table itself answers {count}. "
        "Someone who has only a release has to estimate it from what stays linked.",
        pictures=(table(trace, "The table as it is held", tones=tones),),
        question=number_question(
            f"How many rows have {in_words(asked_of(trace))}?",
            count,
            why,
            among=trace.rows,
            mistakes=(0, 2, 3),
        ).on(table(trace, "The table as it is held")),
    )


def _way(trace: Trace, title: str) -> Step:
    groups, whole = source_groups(trace, _RUN), answers(trace, source_groups(trace, _RUN))[title]
    rows: list[Row] = []
    sentences: list[str] = []
    for group in sorted(set(groups) - {-1}):
        factors, answer = _factors(trace, title, group)
        sentences.append(f"{answer:.3g}")
        rows.append(
            Row(
                id=f"group:{group}",
                label=str(group + 1),
                people=people_of(groups, group),
                cells=(Cell(text=" · ".join(factors)), Cell(text=f"{answer:.3g}")),
            )
        )
    exact = _exact_count(trace)
    why = f"{' + '.join(sentences)} = {whole:.3g}."
    shown = Table(
        title=f"{title}: the answer of every group",
        columns=(Head(name="factors"), Head(name="answer")),
        rows=tuple(rows),
        corner="group",
    )
    # The table's own answer, one group alone, and shares of the wrong column are typical mistakes.
    near = (exact, whole / 2, whole + 0.25, max(whole - 0.25, 0.0))
    labels = sorted({f"{one:.3g}" for one in near} | {f"{whole:.3g}"}, key=float)
    return Step(
        title=f"{title}: {whole:.3g}",
        words=f"{_HOW[title]} {why} The table itself answers {exact}.",
        pictures=(shown, _shown(trace, title)),
        question=Question(
            asks=f"What does {title} answer?",
            choices=tuple(Choice(id=f"answer:{one}", label=one) for one in labels),
            answer=f"answer:{whole:.3g}",
            why=why,
            pictures=(_shown(trace, title),),
        ),
        printed="Printed: example 2 gives 3/5 × 2/4 for the second group, which would make 0.78. "
        "Corrected: three of its four ages are asked for: 3/4 × 2/4."
        if title == "Permutation" and trace.example.name == "li"
        else "",
    )


def _errors(trace: Trace) -> Step:
    exact = _exact_count(trace)
    replies = answers(trace, source_groups(trace, _RUN))
    off = {title: abs(answer - exact) for title, answer in replies.items()}
    least = min(off.values())
    best = [title for title, value in off.items() if abs(value - least) < 1e-9]
    bars = tuple(
        Bar(
            id=f"way:{title}",
            label=title,
            value=value,
            text=f"{replies[title]:.3g}, off by {value:.3g}",
            tone="good" if title in best else "plain",
        )
        for title, value in off.items()
    )
    why = f"{listed(best)} {'is' if len(best) == 1 else 'are'} off by {least:.3g}."
    return Step(
        title="How far each is off",
        words=f"The table answers {exact}. {why} One query says little: the workbench asks a "
        "thousand, and reports the average relative error. Anatomy keeps quasi-identifiers linked, "
        "and so shows who is in the table; shuffled columns do not.",
        pictures=(Bars(title="Error of the answer", bars=bars, unit="rows"),),
        question=Question(
            asks=f"The table answers {exact}. Which of them is nearest?",
            choices=tuple(Choice(id=f"way:{title}", label=title) for title in off),
            answer=f"way:{best[0]}",
            also=frozenset(f"way:{title}" for title in best),
            why=why,
            pictures=(_shown(trace, ""),),
        )
        if len(best) < len(off)
        else None,
    )


def _rebuilt(trace: Trace) -> Step:
    """Return the step that rebuilds every person from what is published: RCE."""
    groups = source_groups(trace, _RUN)
    metric = cast(Metric, find("metric", "reconstruction-error")())
    found = {
        title: metric.measure(trace.problem, release, Context()).also
        for title, release in ways(trace, groups).items()
    }
    errors = {title: also["RCE"] for title, also in found.items()}
    bound = next(v for name, v in found["Anatomy"].items() if name.startswith("Anatomy's"))
    bars = tuple(
        Bar(id=f"way:{title}", label=title, value=error, text=f"{error:.3g}")
        for title, error in errors.items()
    )
    gap = errors["Permutation"] - errors["Anatomy"]
    right = "more" if gap > 1e-9 else "less" if gap < -1e-9 else "same"
    why = f"{errors['Permutation']:.3g} against {errors['Anatomy']:.3g}."
    theirs = {"more": "More", "less": "Less", "same": "The same"}
    printed = ""
    if trace.example.name == "li":
        printed = (
            "Printed: theorem 2's bound is claimed for groups of any size, and the density that is "
            "rebuilt does not add up to 1. Corrected: it holds for groups of l to 2l − 1 rows, as "
            "algorithm 1 makes them; here it is 7.434, below 7.49."
        )
    return Step(
        title="What can be rebuilt: RCE",
        words="An analyst rebuilds each person: a chance for every value the person may have. The "
        "reconstruction error adds up squared distances to the truth: 0 if everyone is rebuilt, "
        f"{trace.rows} if nothing is left of anyone. By Anatomy it is {errors['Anatomy']:.3g}, and "
        f"never below n (1 − 1/l) = {bound:.3g}, with l the rows of the smallest group. By "
        f"permutation, which cuts more links, it is {errors['Permutation']:.3g}. What analysts "
        "lose here, attackers lose too.",
        pictures=(Bars(title="Reconstruction error", bars=bars, unit="RCE"), _shown(trace, "")),
        question=Question(
            asks="Permutation cuts the links among quasi-identifiers, too. Is its reconstruction "
            "error more than Anatomy's?",
            choices=tuple(Choice(id=f"rce:{key}", label=label) for key, label in theirs.items()),
            answer=f"rce:{right}",
            why=why,
            pictures=(_shown(trace, ""),),
        ),
        printed=printed,
    )


def _own(trace: Trace) -> Step:
    run = trace[_RUN]
    groups = len(set(run.together) - {-1})
    return Step(
        title="What the workbench publishes",
        words=f"The workbench forms groups of its own, here {groups}, of rows that are similar, "
        "and shuffles every column within them. The more alike the rows of a group are, the less "
        "a shuffle costs a query.",
        pictures=tuple(
            published_table(trace, _RUN, number, f"What is published: {title}")
            for number, title in enumerate(run.result.tables)
        ),
        together=run.together,
        found=shuffled_found(trace, _RUN),
    )
