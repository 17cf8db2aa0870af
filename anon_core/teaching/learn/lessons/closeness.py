"""t-closeness: how far a class is from the whole table, by three distances between values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.model import PrivacyModel
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.private_reference import reference_of
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    listed,
    number_question,
    people_of,
    release_table,
    rows_listed,
    table,
    value_tree,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Run, Trace

_BEFORE, _AFTER = "k", "t"
_PATIENTS = (
    ("47677", "29", "3", "gastric ulcer"),
    ("47602", "22", "4", "gastritis"),
    ("47678", "27", "5", "stomach cancer"),
    ("47905", "43", "6", "gastritis"),
    ("47909", "52", "11", "flu"),
    ("47906", "47", "8", "bronchitis"),
    ("47605", "30", "7", "bronchitis"),
    ("47673", "36", "9", "pneumonia"),
    ("47607", "32", "10", "stomach cancer"),
)
_KINDS = {
    **dict.fromkeys(("gastric ulcer", "gastritis", "stomach cancer"), "stomach"),
    **dict.fromkeys(("flu", "bronchitis", "pneumonia"), "respiratory"),
}


def _levels(zip_code: int, age: int, t: float, distance: str) -> dict[str, Any]:
    return {
        "algorithm": {"name": "fixed-levels", "levels": {"ZIP": zip_code, "Age": age}},
        "models": [{"name": "t-closeness", "t": t, "distance": distance}],
    }


def _patients(secret: str) -> Material:
    import pandas as pd

    frame = pd.DataFrame(_PATIENTS, columns=["ZIP", "Age", "Salary", "Disease"], dtype=object)
    ages = {age: "2*" if age < "30" else "3*" if age < "40" else "≥40" for age in frame["Age"]}
    return Material(
        dataset=Dataset.from_frame(frame[["ZIP", "Age", secret]]),
        roles=Roles(quasi=("ZIP", "Age"), sensitive=(secret,)),
        types={"ZIP": "ordered", "Age": "number", secret: _TYPES[secret]},
        levels={
            "ZIP": [[code, f"{code[:4]}*", f"{code[:3]}**", "*"] for code in frame["ZIP"]],
            "Age": [[age, ten, "≥40" if ten == "≥40" else "<40", "*"] for age, ten in ages.items()],
            **(
                {"Disease": [[own, kind, "*"] for own, kind in _KINDS.items()]}
                if secret == "Disease"
                else {}
            ),
        },
    )


_TYPES = {"Salary": "number", "Disease": "text"}


def _by_salary() -> Material:
    return _patients("Salary")


def _by_disease() -> Material:
    return _patients("Disease")


class ClosenessLesson(Lesson):
    """One release after the other, and how far its classes are from the table."""

    name = "t-closeness"
    number = 15
    title = "t-closeness and its three distances"
    summary = (
        "A class reveals how its values differ from those of the whole table. The earth mover's "
        "distance measures the difference, by how far two values are from each other."
    )
    about = ("t-closeness",)
    source = Source(
        author="Li, Li and Venkatasubramanian",
        year=2007,
        title="t-Closeness: privacy beyond k-anonymity and l-diversity",
        doi="10.1109/ICDE.2007.367856",
        where="tables 3 to 5",
    )
    dial = Dial(label="t", values=(0.1, 0.2, 0.3, 0.4, 0.5), runs=(_AFTER,))
    examples = (
        Example(
            name="salaries",
            title="Nine patients, salaries in thousands",
            made=_by_salary,
            runs={_BEFORE: _levels(2, 1, 0.4, "ordered"), _AFTER: _levels(1, 2, 0.17, "ordered")},
        ),
        Example(
            name="diseases",
            title="The same patients, diseases with a hierarchy",
            made=_by_disease,
            person="flu",
            runs={
                _BEFORE: _levels(2, 1, 0.45, "hierarchical"),
                _AFTER: _levels(1, 2, 0.4, "hierarchical"),
            },
        ),
    )
    runs = {
        _BEFORE: {"algorithm": {"name": "mondrian"}, "models": [{"name": "k-anonymity", "k": 2}]},
        _AFTER: {
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": 2}, {"name": "t-closeness", "t": 0.4}],
        },
    }

    def refuses(self, trace: Trace) -> str:
        """Ask for a sensitive column."""
        return "" if trace.sensitive else "This lesson needs a sensitive column."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a release, one class by each distance, a release that is closer."""
        found = [_begin(trace), _equal(trace)]
        hierarchy = trace.problem.hierarchies[trace.sensitive[0]]
        if hierarchy.measure is not None and not hierarchy.has_missing:
            found.append(_ordered(trace))
        if trace.sensitive[0] in trace.problem.trees:
            found.append(_hierarchical(trace))
        return [*found, _closer(trace)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about the whole table as a class."""
        question = number_question(
            "All rows are one class. How far is it from the whole table, in hundredths?",
            0,
            "Its shares are those of the table, so that nothing has to be moved.",
            among=100,
            mistakes=(100, 50, 1, round(100 * _t(trace))),
        )
        return (Exercise(question=question),)


def _asked(trace: Trace) -> Mapping[str, Any]:
    """Return how the second release is held to t-closeness."""
    models: Sequence[Mapping[str, Any]] = trace[_AFTER].result.plan.as_mapping()["models"]
    return next(model for model in models if model["name"] == "t-closeness")


def _t(trace: Trace) -> float:
    """Return the t that the second release keeps."""
    return float(_asked(trace)["t"])


def _distance(trace: Trace) -> str:
    """Return the distance between values that both releases are held to."""
    return str(_asked(trace).get("distance", "equal"))


def _emd(trace: Trace, name: str, distance: str) -> tuple[float, ...]:
    """Return the distance of every class of a run to the table, as the model measures it."""
    asked: dict[str, object] = {"t": _t(trace), "distance": distance}
    model = cast(PrivacyModel, find("model", "t-closeness")(**asked))
    run = trace[name]
    reference = reference_of(run.result.problem)
    audience = audience_of(run.result.problem)
    (verdict, *_) = model.measure(run.release.view, audience, reference, Context())
    return tuple(float(one) for one in verdict.per_class)


def _groups(run: Run) -> list[int]:
    return sorted(set(run.together) - {-1})


def _bars(trace: Trace, name: str, distance: str, title: str) -> Bars:
    found, run = _emd(trace, name, distance), trace[name]
    return Bars(
        title=title,
        bars=tuple(
            Bar(
                id=f"part:{group}",
                label=rows_listed(people_of(run.together, group)),
                value=found[group],
                text=f"{found[group]:.3f}",
                tone=group_tone(group),
                people=people_of(run.together, group),
            )
            for group in _groups(run)
        ),
        unit="distance (EMD)",
        limit=(_t(trace), f"t = {_t(trace):g}") if distance == _distance(trace) else None,
    )


def _shares(trace: Trace, group: int) -> tuple[list[str], Mapping[str, float], Mapping[str, float]]:
    """Return the values in their order, and the shares of each in a class and in the table."""
    column = trace.sensitive[0]
    texts, leaves = trace.texts(column), trace.problem.hierarchies[column].leaves
    own = Counter(texts[row] for row in people_of(trace[_BEFORE].together, group))
    everyone = Counter(texts)
    values = [text for text in leaves if text in everyone]
    values += [text for text in everyone if text not in values]
    return (
        values,
        {text: own[text] / own.total() for text in values},
        {text: n / trace.rows for text, n in everyone.items()},
    )


def _followed(trace: Trace) -> int:
    """Return the class of the person who is followed, or the first where they are suppressed."""
    group = trace[_BEFORE].together[trace.person]
    return group if group >= 0 else _groups(trace[_BEFORE])[0]


def _by_hand(trace: Trace, group: int, *, summed: bool) -> tuple[Table, float]:
    """Return the differences of a class from the table, value by value, and their sum.

    Where values are in order, what has to be carried on past each value is added up.
    """
    values, own, everyone = _shares(trace, group)
    carried, total, rows = 0.0, 0.0, list[Row]()
    for place, text in enumerate(values):
        difference = own[text] - everyone[text]
        carried += difference
        last = place == len(values) - 1
        total += abs(carried) if summed else abs(difference)
        cells = [f"{own[text]:.3f}", f"{everyone[text]:.3f}", f"{difference:+.3f}"]
        cells += ["" if last else f"{abs(carried):.3f}"] if summed else []
        rows.append(
            Row(id=f"share:{text}", label=text, cells=tuple(Cell(text=cell) for cell in cells))
        )
    heads = ["class", "table", "difference", *(["carried on"] if summed else [])]
    mine = rows_listed(people_of(trace[_BEFORE].together, group))
    shown = Table(
        title=f"Shares of {trace.sensitive[0]}: {mine}",
        columns=tuple(Head(name=name) for name in heads),
        rows=tuple(rows),
        corner="value",
    )
    return shown, total


def _begin(trace: Trace) -> Step:
    run, column = trace[_BEFORE], trace.sensitive[0]
    return Step(
        title="A class shows what it has",
        words=f"No one's row is known, and every class shows several values of {column}. Still a "
        "class whose values are all small, or all alike, reveals much. The question is how far "
        "its values are from those of the whole table, which everyone knows anyway.",
        pictures=(
            release_table(trace, _BEFORE, "What is published"),
            table(trace, "The table as it is held"),
        ),
        together=run.together,
        seen=published(run),
    )


def _far(trace: Trace, distance: str) -> tuple[set[int], float]:
    found = _emd(trace, _BEFORE, distance)
    most = max(found[group] for group in _groups(trace[_BEFORE]))
    return {g for g in _groups(trace[_BEFORE]) if found[g] >= most - 1e-9}, most


def _which(trace: Trace, distance: str, asks: str, why: str) -> Question | None:
    """Return a question for the class that is farthest; none where all are equally far."""
    groups, (right, _) = _groups(trace[_BEFORE]), _far(trace, distance)
    if len(right) == len(groups):
        return None
    return Question(
        asks=asks,
        choices=tuple(
            Choice(id=f"part:{group}", label=rows_listed(people_of(trace[_BEFORE].together, group)))
            for group in groups
        ),
        answer=f"part:{min(right)}",
        also=frozenset(f"part:{group}" for group in right),
        why=why,
        pictures=(release_table(trace, _BEFORE, "What is published"),),
    )


def _equal(trace: Trace) -> Step:
    group, column = _followed(trace), trace.sensitive[0]
    shown, total = _by_hand(trace, group, summed=False)
    return Step(
        title="All values are equally far",
        words=f"The shares of {column} in the class have to become those of the table. If moving "
        "from any value to any other costs 1, the distance is what has to be moved: half the sum "
        f"of the differences, {total:.3f} / 2 = {total / 2:.3f}.",
        pictures=(shown, _bars(trace, _BEFORE, "equal", "EMD, all values equally far")),
        question=_which(
            trace,
            "equal",
            "If all values are equally far from each other, which class is farthest?",
            "Most of its share has to be moved.",
        ),
        together=trace[_BEFORE].together,
        seen=published(trace[_BEFORE]),
    )


def _ordered(trace: Trace) -> Step:
    group, column = _followed(trace), trace.sensitive[0]
    values, _, _ = _shares(trace, group)
    shown, total = _by_hand(trace, group, summed=True)
    steps = max(len(values) - 1, 1)
    found = _emd(trace, _BEFORE, "ordered")[group]
    return Step(
        title="Values in their order",
        words=f"{column} has an order, and the next value is nearer than the last. What one value "
        "has too much is carried on to the next: the distance is the sum of what is carried, "
        f"over m − 1 = {steps} steps: {total:.3f} / {steps} = {found:.3f}. Three small values "
        "count as far from the table, three spread ones do not.",
        pictures=(shown, _bars(trace, _BEFORE, "ordered", "EMD, values in order")),
        question=_which(
            trace,
            "ordered",
            f"{column} is ordered. Which class is farthest from the whole table now?",
            "Its values are all at one end, so that shares have to be carried far.",
        ),
        together=trace[_BEFORE].together,
        seen=published(trace[_BEFORE]),
    )


def _hierarchical(trace: Trace) -> Step:
    column = trace.sensitive[0]
    tree = trace.problem.trees[column]
    group = _followed(trace)
    equal, near = (_emd(trace, _BEFORE, d)[group] for d in ("equal", "hierarchical"))
    return Step(
        title="Values in a hierarchy",
        words=f"Two values of {column} are as far as the node that joins them is high: the height "
        f"of that node over the height of the tree, {tree.height}. Moving within a kind costs "
        f"little: the class of {trace.names[trace.person]} is {near:.3f} from the table, and "
        f"{equal:.3f} where all are equally far. A class of one kind stays far, since its shares "
        "have to leave the kind.",
        pictures=(
            value_tree(trace.problem, column, tree=tree),
            _bars(trace, _BEFORE, "hierarchical", "EMD, by the hierarchy"),
        ),
        question=yes_or_no(
            f"Values of one kind are near each other now. Is the class of "
            f"{trace.names[trace.person]} nearer to the table than before?",
            near < equal - 1e-9,
            f"It is at {near:.3f}, and at {equal:.3f} where all values are equally far.",
        ),
        together=trace[_BEFORE].together,
        seen=published(trace[_BEFORE]),
    )


def _closer(trace: Trace) -> Step:
    run, distance = trace[_AFTER], _distance(trace)
    before, after = (
        max(_emd(trace, name, distance)[group] for group in _groups(trace[name]))
        for name in (_BEFORE, _AFTER)
    )
    why = f"Its farthest class is at {after:.3f}; the farthest was at {before:.3f} before."
    return Step(
        title=f"A release that keeps t = {_t(trace):g}",
        words=f"Other rows are together here. {why} It says of no one much more than the whole "
        f"table does, and {listed(trace.quasi)} say less or other things than before.",
        pictures=(
            release_table(trace, _AFTER, "What is published"),
            _bars(trace, _AFTER, distance, "EMD of every class"),
        ),
        question=yes_or_no(
            f"Does the first release keep t = {_t(trace):g} as well?",
            before <= _t(trace) + 1e-9,
            why,
        ),
        together=run.together,
        seen=published(run),
    )
