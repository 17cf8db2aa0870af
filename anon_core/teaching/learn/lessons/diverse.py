"""Distinct, entropy, recursive, frequency, (α, k): what each asks of one and the same class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log

from anon_core.teaching.learn.example import Example, six_people
from anon_core.teaching.learn.lesson import DIAL_K, Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.lesson_run import classes_that_keep
from anon_core.teaching.learn.pictures import Cell, Head, Row, Table
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    least_of,
    number_question,
    people_of,
    release_table,
    rows_listed,
    rows_said,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Trace

#: Cells of a value, made of its rows and those of the class.
Cells = Callable[[int, int], Sequence[str]]
_RUN, _L, _C, _ALPHA = "k", 2, 2.0, 0.5
#: Privacy model → its model with parameters.
_MODELS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "distinct, l = 2": ("l-diversity", {"l": _L}),
    "entropy, l = 2": ("entropy-l-diversity", {"l": _L}),
    "recursive, c = 2, l = 2": ("recursive-l-diversity", {"c": _C, "l": _L}),
    "frequency, l = 2": ("frequency-l-diversity", {"l": _L}),
    "(α, k), α = 0.5, k = 2": ("alpha-k-anonymity", {"alpha": _ALPHA, "k": 2}),
}


class DiverseLesson(Lesson):
    """One class, five models of its sensitive values, each by hand."""

    name = "diversity"
    number = 16
    title = "Entropy, recursive and (α, k) on one class"
    summary = (
        "Five privacy models mean different things by diverse values. The same class keeps some of "
        "them and breaks others."
    )
    about = ("alpha-k-anonymity",)
    source = Source(
        author="Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam",
        year=2007,
        title="l-diversity: privacy beyond k-anonymity",
        doi="10.1145/1217299.1217302",
        where="as presented by Aalborg group 3 2022, section 3.3.2",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="aalborg", title="Aalborg's six people", made=six_people, person="Maria",
            runs={_RUN: {"models": [{"name": "k-anonymity", "k": 3}]}},
        ),
        Example(name="samarati", title="Samarati's nine patients", sample="samarati",
                quasi=("Race", "ZIP")),
    )  # fmt: skip
    runs = {
        _RUN: {"algorithm": {"name": "mondrian"}, "models": [{"name": "k-anonymity", "k": 2}]},
    }

    def refuses(self, trace: Trace) -> str:
        """Ask for a sensitive column."""
        return "" if trace.sensitive else "This lesson needs a sensitive column."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a class and its counts, five models, all classes."""
        return [
            _begin(trace),
            _distinct(trace),
            _entropy(trace),
            _recursive(trace),
            _share(trace),
            _all(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about evenly spread values."""
        question = number_question(
            "A class has 12 rows, and four values are equally frequent. Which l does it reach by "
            "entropy?",
            4,
            "Evenly spread values have entropy log 4.",
            among=12,
            least=1,
            mistakes=(3, 12, 2, 1),
        )
        return (Exercise(question=question),)


def _rows(n: int, of: int) -> tuple[str, ...]:
    return (str(n),)


def _rows_and_share(n: int, of: int) -> tuple[str, ...]:
    return str(n), f"{n}/{of}"


def _term(n: int, of: int) -> tuple[str, ...]:
    return f"{n}/{of}", f"{-n / of * log(n / of) + 0.0:.3f}"


def _share_said(n: int, of: int) -> tuple[str, ...]:
    return (f"{n}/{of} = {n / of:.3f}",)


def _group(trace: Trace) -> int:
    group = trace[_RUN].together[trace.person]
    return group if group >= 0 else min(set(trace[_RUN].together) - {-1})


def _counts(trace: Trace, group: int) -> Counter[str]:
    texts = trace.texts(trace.sensitive[0])
    return Counter(texts[row] for row in people_of(trace[_RUN].together, group))


def _mine(trace: Trace) -> str:
    return rows_listed(people_of(trace[_RUN].together, _group(trace))).lower()


def _holds(trace: Trace, model: str, group: int) -> bool:
    """Say whether one class keeps a privacy model, as its model judges the release."""
    name, asked = _MODELS[model]
    return classes_that_keep(trace[_RUN], name, **asked)[group]


def _step(trace: Trace, model: str, words: str, shown: Table, why: str) -> Step:
    """Return a step for a privacy model: the class by hand, and whether it keeps it."""
    run, holds = trace[_RUN], _holds(trace, model, _group(trace))
    title = model[:1].upper() + model[1:]
    said = f"{why} The class {'meets' if holds else 'breaks'} it."
    return Step(
        title=title,
        words=f"{words} {said}",
        pictures=(shown, release_table(trace, _RUN, "What is published")),
        question=yes_or_no(
            f"Does the class of {_mine(trace)} meet this model: {model}?", holds, why
        ).on(_table(trace, ("rows", "share"), _rows_and_share)),
        together=run.together,
        seen=published(run),
    )


def _table(trace: Trace, heads: Sequence[str], cells: Cells) -> Table:
    """Return the values of the class, the commonest first, with cells made of rows and all rows."""
    counts = _counts(trace, _group(trace))
    rows = tuple(
        Row(
            id=f"value:{text}",
            label=text,
            cells=tuple(Cell(text=cell) for cell in cells(n, counts.total())),
        )
        for text, n in counts.most_common()
    )
    return Table(
        title=f"{trace.sensitive[0]} in the class of {_mine(trace)}",
        columns=tuple(Head(name=name) for name in heads),
        rows=rows,
        corner="value",
    )


def _begin(trace: Trace) -> Step:
    run = trace[_RUN]
    counts = _counts(trace, _group(trace))
    return Step(
        title="A class and its values",
        words=f"The release keeps k = {least_of(run)}. One class is looked at: {_mine(trace)}, "
        f"{rows_said(counts.total())} with {len(counts)} values of {trace.sensitive[0]}. How "
        "diverse is it? Five privacy models count differently.",
        pictures=(
            release_table(trace, _RUN, "What is published"),
            _table(trace, ("rows", "share"), _rows_and_share),
        ),
        together=run.together,
        seen=published(run),
    )


def _distinct(trace: Trace) -> Step:
    values = len(_counts(trace, _group(trace)))
    return _step(
        trace,
        "distinct, l = 2",
        f"Distinct l-diversity counts values, and nothing else: at least l = {_L} of them.",
        _table(trace, ("rows",), _rows),
        f"There {'is 1 value' if values == 1 else f'are {values} values'}.",
    )


def _entropy(trace: Trace) -> Step:
    counts = _counts(trace, _group(trace))
    of = counts.total()
    entropy = -sum(n / of * log(n / of) for n in counts.values())
    return _step(
        trace,
        "entropy, l = 2",
        "Entropy l-diversity asks for values as evenly spread as l equally frequent ones: "
        f"−Σ p ln p of at least ln {_L} = {log(_L):.3f}.",
        _table(
            trace,
            ("share p", "−p ln p"),
            _term,
        ),
        f"The sum is {entropy + 0.0:.3f}.",
    )


def _recursive(trace: Trace) -> Step:
    ranked = [n for _, n in _counts(trace, _group(trace)).most_common()]
    tail = sum(ranked[_L - 1 :])
    return _step(
        trace,
        "recursive, c = 2, l = 2",
        f"Recursive (c, l)-diversity bounds the commonest value by the rare ones: r₁ < c (r_l + … "
        f"+ r_m), here with c = {_C:g} and from the second one on.",
        _table(trace, ("rows r",), _rows),
        f"r₁ = {ranked[0]}, and {_C:g} · {tail} = {_C * tail:g}; it has to be below.",
    )


def _share(trace: Trace) -> Step:
    counts = _counts(trace, _group(trace))
    most = counts.most_common(1)[0][1]
    return _step(
        trace,
        "(α, k), α = 0.5, k = 2",
        f"(α, k)-anonymity asks for k rows, and that no value has more than a share α = {_ALPHA:g} "
        f"of them. With α = 1/l that is frequency l-diversity.",
        _table(trace, ("share",), _share_said),
        f"The commonest value has {most}/{counts.total()} = {most / counts.total():.3f}.",
    )


def _all(trace: Trace) -> Step:
    run = trace[_RUN]
    groups = sorted(set(run.together) - {-1})
    rows: list[Row] = []
    kept: dict[str, int] = {}
    for model in _MODELS:
        holds = [_holds(trace, model, group) for group in groups]
        kept[model] = sum(holds)
        cells = tuple(
            Cell(text="meets" if one else "breaks", tone="good" if one else "bad") for one in holds
        )
        rows.append(Row(id=f"promise:{model}", label=model, cells=cells))
    heads = tuple(Head(name=rows_listed(people_of(run.together, group))) for group in groups)
    every = [model for model in kept if kept[model] == len(groups)]
    why = (
        f"All {len(groups)} classes meet {len(every)} of {len(_MODELS)} models."
        if len(groups) > 1
        else f"The one class meets {len(every)} of {len(_MODELS)} models."
    )
    return Step(
        title="Every class, every model",
        words=f"A release meets a model if all of its classes do. {why} Entropy, recursive and "
        "frequency l-diversity see how often values occur; none of them sees what values mean.",
        pictures=(
            Table(title="What classes meet", columns=heads, rows=tuple(rows), corner="model"),
            release_table(trace, _RUN, "What is published"),
        ),
        question=Question(
            asks=f"How many of the {len(_MODELS)} models do all classes meet?",
            choices=tuple(Choice(id=f"number:{n}", label=str(n)) for n in range(len(_MODELS) + 1)),
            answer=f"number:{len(every)}",
            why=why,
        ),
        together=run.together,
        seen=published(run),
    )
