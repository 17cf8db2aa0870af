"""After the sources: two releases together, why a search went on, and where it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anon_core.base.context import Context
from anon_core.data.reading import read_table
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.pipeline.measure.extra_attacks import against_earlier
from anon_core.recipe.earlier_release import EarlierFile
from anon_core.release.attack_result import AttackResult
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.lesson_run import attacked
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import head, least_of, listed, number_question, people_of
from anon_core.teaching.learn.trace import Run, Trace

_FIRST, _SECOND, _FURTHER, _STOPPED = "october", "november", "diverse", "refined"
#: Of the lesson's own table, the quasi-identifiers of each run; of any other table all of them.
_COLUMNS = {
    _FIRST: ("Age", "Zip"),
    _SECOND: ("Age", "Zip"),
    _FURTHER: ("Area",),
    _STOPPED: ("Ward",),
}
_OWN = {name for names in _COLUMNS.values() for name in names}
_K2 = [{"name": "k-anonymity", "k": 2}]


def _levels(age: int, code: int) -> dict[str, Any]:
    return {
        "algorithm": {"name": "fixed-levels", "levels": {"Age": age, "Zip": code}},
        "models": _K2,
    }


def _eight_people() -> Material:
    import pandas as pd

    columns = {
        "Name": ["Ann", "Ben", "Cem", "Dan", "Eva", "Fay", "Gil", "Hal"],
        "Age": ["30", "30", "40", "40", "50", "50", "50", "50"],
        "Zip": ["111", "112", "111", "112", "113", "113", "113", "113"],
        "Area": ["South", "North", "North", *["South"] * 5],
        "Ward": ["A1", "A2", "B1", "B1", "B1", "C1", "C1", "C1"],
        "Disease": ["flu", "HIV", "HIV", "gout", "asthma", "angina", "anaemia", "migraine"],
    }
    names = tuple(name for name in columns if name not in ("Name", "Disease"))
    wards = [["A1", "A", "*"], ["A2", "A", "*"], ["B1", "B", "*"], ["C1", "C", "*"]]
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(columns)),
        roles=Roles(identifier=("Name",), quasi=names, sensitive=("Disease",)),
        types=dict.fromkeys(columns, "text"),
        levels={
            **{n: [[own, "*"] for own in sorted(set(columns[n]))] for n in ("Age", "Zip", "Area")},
            "Ward": wards,
        },
    )


class AfterwardsLesson(Lesson):
    """Every release keeps its privacy model, and something is learned anyway."""

    name = "afterwards"
    number = 14
    title = "After the sources: minimality, composition, refinement"
    summary = (
        "Two releases together can reveal more than each alone. Each satisfies its privacy models; "
        "someone who has both, or knows the rule of the search, learns more."
    )
    about = ("composition", "minimality", "refinement")
    source = Source(
        author="Wong, Fu, Wang and Pei",
        year=2007,
        title="Minimality attack in privacy preserving data publishing",
        where="VLDB; and Ganta et al. 2008, doi 10.1145/1401890.1401926",
    )
    examples = (
        Example(
            name="eight",
            title="Eight people, made up",
            made=_eight_people,
            person="Ben",
            runs={_FIRST: _levels(0, 1), _SECOND: _levels(1, 0)},
        ),
    )
    runs = {
        _FIRST: {"algorithm": {"name": "optimal", "max_suppression": 0.0}, "models": _K2},
        _SECOND: {"algorithm": {"name": "mondrian"}, "models": _K2},
        _FURTHER: {
            "algorithm": {"name": "optimal", "max_suppression": 0.0},
            "models": [{"name": "l-diversity", "l": 2}],
        },
        _STOPPED: {"algorithm": {"name": "optimal", "max_suppression": 0.0}, "models": _K2},
    }
    may_refuse = frozenset({_FURTHER})
    dial = Dial(label="k", values=(2, 3, 4, 5), runs=(_STOPPED,))

    def roles(self, run: str, material: Material) -> Roles:
        """Return the roles; on the lesson's own table each run publishes columns of its own."""
        if set(material.roles.quasi) != _OWN:
            return material.roles
        return replace(material.roles, quasi=_COLUMNS[run])

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: two releases and both, a search that went on, one that stopped."""
        found = [_held(trace), _released(trace, _FIRST), _released(trace, _SECOND), _both(trace)]
        if _FURTHER in trace.runs:
            found += [_diverse(trace), _went_on(trace)]
        found += [_stopped(trace), _refined(trace), _compared(trace)]
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what each attacker adds."""
        both, alone = _certain_of_both(trace)
        return (
            Exercise(
                question=number_question(
                    f"Of how many people is {trace.sensitive[0]} certain only from both releases?",
                    max(both - alone, 0),
                    f"{both} are certain from both, {alone} already from one.",
                    among=trace.rows,
                    mistakes=(both, alone),
                )
            ),
            Exercise(question=_recovered(trace)),
        )


def _composed(trace: Trace) -> AttackResult:
    """Attack the second release next to the first, as Results does."""
    first, second = trace[_FIRST].result, trace[_SECOND].result
    (content,) = (file for name, file in first.files.items() if name.endswith(".csv"))
    file = EarlierFile(file="october.csv", people="all")
    both = against_earlier(second, file, read_table(content), Context())
    return next(a for a in both.attacks if a.column and a.attack == "composition")


def _certain_of_both(trace: Trace) -> tuple[int, int]:
    """Return of how many people both releases are certain, and the better one of them alone."""
    found = _composed(trace)
    return int(found.succeeded), round(found.baseline * found.attempted)


def _quasi(run: Run) -> tuple[str, ...]:
    return run.result.problem.quasi


def _values(trace: Trace, run: Run, row: int) -> set[str]:
    """Return the sensitive values that a release leaves to a person: those of the rows that fit."""
    return set(published(run).values(row, trace.sensitive[0]))


def _of_both(trace: Trace, row: int) -> set[str]:
    """Return the values that both releases leave to a person."""
    return set.intersection(*(_values(trace, trace[name], row) for name in (_FIRST, _SECOND)))


def _both_found(trace: Trace) -> tuple[str, ...]:
    """Return what someone finds of every person who knows that they are in both releases."""
    column, known = trace.sensitive[0], {*_quasi(trace[_FIRST]), *_quasi(trace[_SECOND])}
    columns = [name for name in trace.material.roles.quasi if name in known]
    said: list[str] = []
    for row in range(trace.rows):
        left = sorted(_of_both(trace, row))
        some = f"{column} is {left[0]}" if len(left) == 1 else f"{column} is one of {listed(left)}"
        said.append(
            f"Someone who knows {listed(columns)} of {trace.names[row]}, and that they are in both "
            f"releases, keeps what both allow: {some}."
        )
    return tuple(said)


def _class_found(trace: Trace, name: str, found: AttackResult | None, what: str) -> tuple[str, ...]:
    """Return the surest that an attack is of anyone in a person's class."""
    run, known = trace[name], listed(_quasi(trace[name]))
    if found is None:
        return ()
    return tuple(
        f"{trace.names[row]} is suppressed: there is nothing to find."
        if group < 0
        else f"Someone who knows {known} of everyone, and how the search decided, {what} in the "
        f"class of {trace.names[row]} with a chance of {found.per_class[group]:.2g} at most."
        for row, group in enumerate(run.together)
    )


def _release(trace: Trace, name: str, title: str) -> Table:
    """Return what a run publishes, in its own columns."""
    run = trace[name]
    names = (*_quasi(run), *trace.sensitive)
    shown = sorted(range(trace.rows), key=lambda row: (run.together[row] < 0, run.together[row]))
    rows = tuple(
        Row(
            id=f"row:{row}",
            label=str(row + 1),
            people=(row,),
            tone=group_tone(run.together[row]),
            cells=tuple(_cell(trace, run, name, row) for name in names),
        )
        for row in shown
    )
    heads = tuple(
        Head(name=n, role="sensitive" if n in trace.sensitive else "quasi") for n in names
    )
    return Table(title=title, columns=heads, rows=rows, release=name)


def _cell(trace: Trace, run: Run, column: str, row: int) -> Cell:
    own = trace.texts(column)[row]
    if run.together[row] < 0:
        return Cell(text="suppressed", tone="bad")
    said = run.published(column)[row] if column in _quasi(run) else own
    return Cell(text=said, was=own if said != own else "")


def _table(trace: Trace, quasi: Sequence[str]) -> Table:
    """Return the table with some of its quasi-identifiers, and everyone's name."""
    roles = trace.material.roles
    names = (*roles.identifier, *quasi, *roles.sensitive)
    rows = tuple(
        Row(
            id=f"row:{row}",
            label=str(row + 1),
            people=(row,),
            cells=tuple(Cell(text=trace.texts(name)[row]) for name in names),
        )
        for row in range(trace.rows)
    )
    heads = tuple(head(trace, name) for name in names)
    return Table(title="The table as it is held", columns=heads, rows=rows)


def _held(trace: Trace) -> Step:
    return Step(
        title="One table, published more than once",
        words="The same people are in several releases, and each meets its privacy model. The "
        "model is about one release, and an attacker who reads nothing else. Three attackers "
        "who know more follow: another release, why the search went on, where it stopped.",
        pictures=(
            _table(trace, trace.material.roles.quasi),
        ),
    )  # fmt: skip


def _released(trace: Trace, name: str) -> Step:
    run = trace[name]
    month = "October" if name == _FIRST else "November"
    sizes = [run.together.count(g) for g in set(run.together) - {-1}]
    return Step(
        title=f"{month}: a release that keeps k",
        words=f"In {month} {listed(_quasi(run))} are published so that every class has at least "
        f"{least_of(run)} rows; the smallest has {min(sizes)}. On its own it reveals no one's row.",
        pictures=(_release(trace, name, f"What is published in {month}"),),
        together=run.together,
        seen=published(run),
    )


def _left(trace: Trace) -> Table:
    """Return the values that each release leaves to everyone, and what both leave."""
    one, two = trace[_FIRST], trace[_SECOND]
    rows: list[Row] = []
    for row in range(trace.rows):
        left, both = [_values(trace, run, row) for run in (one, two)], _of_both(trace, row)
        texts = [", ".join(sorted(own)) or "–" for own in (*left, both)]
        cells = [Cell(text=text) for text in texts[:2]]
        cells.append(Cell(text=texts[2], tone="bad" if len(both) == 1 else "plain"))
        rows.append(Row(id=f"row:{row}", label=trace.names[row], people=(row,), cells=tuple(cells)))
    heads = tuple(Head(name=name) for name in ("October leaves", "November leaves", "both leave"))
    return Table(title="Values left to everyone", columns=heads, rows=tuple(rows), corner="who")


def _both(trace: Trace) -> Step:
    both, alone = _certain_of_both(trace)
    column = trace.sensitive[0]
    why = (
        f"{both} {_are(both)} certain from both releases, {alone} already from one: what one class "
        "leaves open the other one rules out."
    )
    return Step(
        title="Composition: both releases together",
        words=f"Someone who knows a person is in both releases keeps the values of {column} "
        f"that both allow. {why} Two releases that meet a privacy model each need not meet it "
        "together.",
        pictures=(_left(trace),),
        question=number_question(
            f"For how many people do both releases together make {column} certain?",
            both,
            why,
            among=trace.rows,
            mistakes=(alone, both - alone, both + alone),
        ).on(
            _release(trace, _FIRST, "What was published in October"),
            _release(trace, _SECOND, "What is published in November"),
        ),
        together=trace[_SECOND].together,
        found=_both_found(trace),
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _diverse(trace: Trace) -> Step:
    run = trace[_FURTHER]
    return Step(
        title="A search that went further",
        words=f"Another release requires at least two values of "
        f"{trace.sensitive[0]} in every class, and takes the levels that lose least. Here "
        f"{listed(_quasi(run))} had to be made coarser than many classes would have needed.",
        pictures=(_release(trace, _FURTHER, "What is published"),),
        together=run.together,
        seen=published(run),
    )


def _went_on(trace: Trace) -> Step:
    run, column = trace[_FURTHER], trace.sensitive[0]
    found = attacked(run, "minimality")
    if found is None:
        return Step(
            title="Minimality: why did it go on?",
            words="Nothing says here when this search stopped, so that this attacker has nothing "
            "to go by.",
            pictures=(_release(trace, _FURTHER, "What is published"),),
            together=run.together,
            seen=published(run),
        )
    certain = int(found.succeeded)
    why = (
        "With finer levels some class would have shown a single value: of all ways to deal the "
        "published values to the people only those count in which one does."
        if certain
        else "In different tables that lead to this release different people have each value."
    )
    return Step(
        title="Minimality: why did it go on?",
        words=f"Someone who knows everyone's {listed(_quasi(run))} and the algorithm asks why it "
        "did "
        f"not stop earlier. {why} {found.sentence}",
        pictures=(
            _bars(trace, found, "Highest belief about anyone of a class"),
            _release(trace, _FURTHER, "What is published"),
        ),
        question=number_question(
            f"Of how many people is {column} certain to someone who knows why the search went on?",
            certain,
            why,
            among=trace.rows,
            mistakes=(round(found.baseline * found.attempted),),
        ).on(_release(trace, _FURTHER, "What is published")),
        together=run.together,
        found=_class_found(trace, _FURTHER, found, f"is sure of a value of {column}"),
    )


def _bars(trace: Trace, found: AttackResult, title: str) -> Bars:
    run = trace[_FURTHER]
    bars = tuple(
        Bar(
            id=f"part:{group}",
            label=f"Rows {listed(str(row + 1) for row in people_of(run.together, group))}",
            value=float(found.per_class[group]),
            text=f"{found.per_class[group]:.2f}",
            tone="bad" if found.per_class[group] >= 1 else group_tone(group),
            people=people_of(run.together, group),
        )
        for group in sorted(set(run.together) - {-1})
    )
    return Bars(title=title, bars=bars, unit="share")


def _stopped(trace: Trace) -> Step:
    run = trace[_STOPPED]
    return Step(
        title="A search that stopped",
        words=f"A last release: {listed(_quasi(run))} at the levels that lose least of those that "
        f"keep k = {least_of(run)}. The algorithm is public, and so is its rule: had finer levels "
        "satisfied the model, they would have been taken.",
        pictures=(_release(trace, _STOPPED, "What is published"),),
        together=run.together,
        seen=published(run),
    )


def _recovered(trace: Trace) -> Question:
    found = attacked(trace[_STOPPED], "refinement")
    number = 0 if found is None else int(found.succeeded)
    alone = 0 if found is None else round(found.baseline * found.attempted)
    return number_question(
        "Of how many rows does someone who knows when the search stopped recover the exact "
        "quasi-identifiers?",
        number,
        f"The release alone reveals {alone}. Of all ways to fill the classes, only those count "
        "that "
        "would have violated the model at every choice that comes before.",
        among=trace.rows,
        mistakes=(alone, number - alone),
    )


def _refined(trace: Trace) -> Step:
    run = trace[_STOPPED]
    found = attacked(run, "refinement")
    said = "This attacker has nothing to go by here." if found is None else found.sentence
    question = _recovered(trace)
    return Step(
        title="Refinement: where did it stop?",
        words=f"No values were looked at; only sizes of classes decided. {said}",
        pictures=(
            _table(trace, _quasi(run)),
            _release(trace, _STOPPED, "What is published"),
        ),
        question=question.on(_release(trace, _STOPPED, "What is published")),
        together=run.together,
        seen=published(run),
        found=_class_found(trace, _STOPPED, found, "recovers exact values of rows"),
    )


def _compared(trace: Trace) -> Step:
    both, alone = _certain_of_both(trace)
    lines: list[tuple[str, int, int]] = [("composition", alone, both)]
    for name, words in ((_FURTHER, "minimality"), (_STOPPED, "refinement")):
        found = attacked(trace[name], words) if name in trace.runs else None
        if found is not None:
            own = round(found.baseline * found.attempted)
            lines.append((words, own, int(found.succeeded)))
    bars = tuple(
        Bar(id=f"{words}:{place}", label=f"{words}: {who}", value=value, text=str(value),
            tone="bad" if place and value > alone_ else "quiet")
        for words, alone_, more in lines
        for place, (who, value) in enumerate(
            (("alone", alone_), ("knowing more", more))
        )
    )  # fmt: skip
    return Step(
        title="What defends",
        words="None of the models was violated. A model of what a class adds to what is known "
        "(t-closeness), classes much larger than required, one release that is kept "
        "and extended instead of new ones, or a randomized guarantee leave these "
        "attackers less; on Results, “What would stop it?” tries this on your own table.",
        pictures=(
            Bars(title="People or rows that are certain", bars=bars, unit="people"),
            _release(trace, _STOPPED, "The last release"),
        ),
        together=trace[_STOPPED].together,
        seen=published(trace[_STOPPED]),
    )
