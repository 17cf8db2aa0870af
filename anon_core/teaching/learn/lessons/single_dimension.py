"""Aalborg's partitioner: one dimension is split for all rows at once, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.teaching.learn.example import Example, six_people
from anon_core.teaching.learn.lesson import (
    DIAL_K,
    Choice,
    Exercise,
    Lesson,
    Pseudocode,
    Question,
    Source,
    Step,
)
from anon_core.teaching.learn.pictures import Bar, Bars, Cut, Plane
from anon_core.teaching.learn.readings import if_boxes, published
from anon_core.teaching.learn.text import (
    class_bars,
    codes_of,
    least_of,
    listed,
    number_question,
    places_of,
    plane,
    release_table,
    table,
)
from anon_core.teaching.learn.trace import Trace

_RUN, _OTHER = "single", "mondrian"
_K2 = [{"name": "k-anonymity", "k": 2}]


_CODE = Pseudocode(
    lines=(
        "Put all rows in one class.",
        "Take the widest part of any column.",
        "Split it for all rows, the best way that leaves k rows in every class.",
        "No way does: the part stays whole.",
        "No part is left: publish.",
    )
)


class SingleDimensionLesson(Lesson):
    """The same data, one dimension for all rows: why less detail survives."""

    name = "single-dimension"
    number = 7
    title = "Aalborg's partitioner"
    summary = (
        "The widest column is split for the whole table at once. Equal values publish the same "
        "everywhere, but one small class forbids a split: much is lost."
    )
    about = ("single-dimension",)
    source = Source(
        author="Aalborg University, group 3",
        year=2022,
        title="Anonymization techniques",
        where="algorithms 1 to 3, figure 3.2",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="toth", title="Toth's eight people, as for Mondrian", sample="toth-private",
            person="Ada",
        ),
        Example(name="aalborg", title="Aalborg's six people", made=six_people, person="Maria"),
        Example(name="li", title="Li's nine patients", sample="li-microdata", person="Bob"),
    )  # fmt: skip
    runs = {
        _RUN: {"algorithm": {"name": "single-dimension"}, "models": _K2},
        _OTHER: {"algorithm": {"name": "mondrian"}, "models": _K2},
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: every part that was looked at, the release, and Mondrian's."""
        whole = (0,) * trace.rows
        found = [
            Step(
                title="One class to begin with",
                code=_CODE.at(1),
                words=f"All rows are one class. The widest part of a column is split, for all rows "
                f"at once, if every class keeps k = {least_of(trace[_RUN])} rows. A column's "
                "parts are the same everywhere in the table.",
                pictures=(
                    plane(trace, "All rows, one class", whole),
                    table(trace, "The table as it is held"),
                ),
                together=whole,
                seen=if_boxes(trace, whole),
            )
        ]
        found += _splits(trace)
        found.append(_published(trace))
        found.append(_compared(trace))
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what was refused."""
        dimensions = [event.facts for event in trace[_RUN].events_of("dimension")]
        stayed = sum(facts["taken"] is None for facts in dimensions)
        return (
            Exercise(
                question=number_question(
                    f"{len(dimensions)} parts were looked at. How many stayed whole?",
                    stayed,
                    "Each way to split them would have left a class with too few rows.",
                    among=len(dimensions),
                    mistakes=(len(dimensions) - stayed, len(set(trace[_RUN].together))),
                )
            ),
            Exercise(
                question=number_question(
                    "Into how many classes does Mondrian cut the same table?",
                    len(set(trace[_OTHER].together)),
                    f"One dimension at a time gives {len(set(trace[_RUN].together))}.",
                    among=trace.rows // least_of(trace[_RUN]),
                    least=1,
                    mistakes=(len(set(trace[_RUN].together)), trace.rows // least_of(trace[_RUN])),
                )
            ),
        )


class _Columns:
    """The parts that columns are in, as the run has reported so far."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.codes = [codes_of(trace.problem, name) for name in trace.quasi]
        leaves = [len(trace.problem.hierarchies[name].leaves) for name in trace.quasi]
        self.begin: list[npt.NDArray[np.int32]] = [np.zeros(n, dtype=np.int32) for n in leaves]

    def together(self) -> tuple[int, ...]:
        """Return the class of every row."""
        parts = [
            tuple(int(b[c[row]]) for b, c in zip(self.begin, self.codes, strict=True))
            for row in range(self.trace.rows)
        ]
        order = sorted(set(parts))
        return tuple(order.index(part) for part in parts)

    def lines(self) -> tuple[Cut, ...]:
        """Return where the columns of the plane are cut: through the whole of it."""
        trace = self.trace
        axes = (trace.quasi[0], trace.quasi[min(1, len(trace.quasi) - 1)])
        high = [max(places_of(trace.problem, name)) + 0.5 for name in axes]
        found: list[Cut] = []
        for place, name in enumerate(axes if len(trace.quasi) > 1 else axes[:1]):
            column = trace.quasi.index(name)
            both = zip(self.codes[column], places_of(trace.problem, name), strict=True)
            for (leaf, at), (following, _) in pairwise(sorted(set(both))):
                if self.begin[column][leaf] != self.begin[column][following]:
                    along = "y" if place else "x"
                    found.append(Cut(along=along, at=at + 0.5, stretch=(-0.5, high[1 - place])))
        return tuple(found)

    def picture(self, title: str) -> Plane:
        """Return all rows with the parts there are."""
        return plane(self.trace, title, self.together(), cuts=self.lines())

    def part_said(self, column: int, part: int) -> str:
        """Return a part of a column by its first and last value."""
        name = self.trace.quasi[column]
        leaves = self.trace.problem.hierarchies[name].leaves
        seen = sorted({c for c in self.codes[column] if self.begin[column][c] == part})
        return leaves[seen[0]] if len(seen) == 1 else f"{leaves[seen[0]]} to {leaves[seen[-1]]}"


def _splits(trace: Trace) -> list[Step]:
    columns, found = _Columns(trace), list[Step]()
    least = least_of(trace[_RUN])
    for event in trace[_RUN].events_of("dimension"):
        facts: Any = event.facts
        column = int(facts["column"])
        name, part = trace.quasi[column], columns.part_said(column, int(facts["part"]))
        before = columns.picture("Click an axis")
        ways = [
            (_way_said(columns, column, int(facts["part"]), split), degree)
            for split, degree in facts["ways"]
        ]
        taken = facts["taken"]
        if taken is not None:
            columns.begin[column] = np.asarray(taken)
        together = columns.together()
        why = f"{name}, {part}, is the widest part that is left."
        if max(facts["width"]) in facts["width"][:column]:
            why = f"{name}, {part}, is as wide as any."
        outcome = (
            f"{name} is split: {_taken_said(ways, facts)}, for all rows, whatever "
            "their other columns say."
            if taken is not None
            else f"Each way to split it leaves a class of fewer than {least} rows somewhere, so it "
            "stays whole everywhere."
        )
        width = zip(trace.quasi, facts["width"], strict=True)
        found.append(
            Step(
                title=f"{name}, {part}: {'split' if taken is not None else 'stays whole'}",
                code=_CODE.at(2, 3 if taken is not None else 4),
                words=f"{why} {outcome}",
                pictures=(
                    columns.picture(f"Parts after looking at {name}"),
                    Bars(
                        title="Ways to split it",
                        bars=tuple(
                            Bar(
                                id=f"way:{n}",
                                label=said,
                                value=float(degree or 0),
                                text="refused" if degree is None else f"degree {degree:g}",
                                tone="bad" if degree is None else "good",
                            )
                            for n, (said, degree) in enumerate(ways)
                        ),
                        unit="degree: rows, or values, of the smallest class",
                        limit=(least, f"k = {least}"),
                    ),
                ),
                question=Question(
                    asks=f"Widths: {listed(f'{n} {w:.2f}' for n, w in width if w >= 0)}. "
                    "What is done next?",
                    choices=(
                        *(Choice(id=f"column:{n}", label=f"{n} is split") for n in trace.quasi),
                        Choice(id="none", label="The widest part stays whole"),
                    ),
                    answer=f"column:{name}" if taken is not None else "none",
                    why=outcome,
                    pictures=(before,),
                ),
                together=together,
                seen=if_boxes(trace, together),
            )
        )
    return found


def _way_said(columns: _Columns, column: int, part: int, split: npt.NDArray[np.int32]) -> str:
    """Return a way to split a part by the values at which the new parts begin."""
    name = columns.trace.quasi[column]
    leaves = columns.trace.problem.hierarchies[name].leaves
    seen = sorted({c for c in columns.codes[column] if columns.begin[column][c] == part})
    begins = [leaves[b] for a, b in pairwise(seen) if split[a] != split[b]]
    return f"from {listed(begins)} on"


def _taken_said(ways: Sequence[tuple[str, float | None]], facts: Mapping[str, Any]) -> str:
    """Return the way that was taken."""
    for (said, _), (split, _) in zip(ways, facts["ways"], strict=True):
        if np.array_equal(split, facts["taken"]):
            return said
    return ""


def _published(trace: Trace) -> Step:
    run = trace[_RUN]
    sizes = sorted(run.together.count(group) for group in set(run.together))
    printed = ""
    if trace.as_printed("aalborg"):
        printed = (
            "Printed: the partitioner is called Mondrian, and other tools are said not to force "
            "classes of k rows; algorithm 2 tests < where the text says ≤. Corrected: a dimension "
            "is split for all rows, which Mondrian does not; Mondrian forces k rows too; values "
            "up to the median go left."
        )
    return Step(
        title="The release of one dimension at a time",
        code=_CODE.at(5),
        words=f"Nothing can be split any further: {len(sizes)} classes of "
        f"{listed(map(str, sizes))} rows. Equal values publish the same in every row.",
        pictures=(
            release_table(trace, _RUN, "What is published"),
            class_bars(trace, run.together, least_of(run)),
        ),
        question=number_question(
            "How many classes are there?",
            len(sizes),
            "Every combination of parts that rows show is a class.",
            among=trace.rows // least_of(run),
            least=1,
            mistakes=(
                sum(e.facts["taken"] is not None for e in run.events_of("dimension")),
                trace.rows // least_of(run),
                len(set(trace[_OTHER].together)),
            ),
        ),
        together=run.together,
        seen=published(run),
        printed=printed,
    )


def _loss(trace: Trace, name: str) -> float:
    """Return GCP, the mean share of its column that a published cell covers."""
    metric = cast(Metric, find("metric", "ncp")())
    measured = metric.measure(trace.problem, trace[name].release, Context())
    return float(measured.share or 0.0)


def _reason(trace: Trace, classes: Mapping[str, int]) -> str:
    """Say why Mondrian loses less: its classes are others, or the same and said more narrowly."""
    one, other = trace[_RUN].together, trace[_OTHER].together
    if len(set(zip(one, other, strict=True))) > len(set(one)) or len(set(one)) != len(set(other)):
        return (
            f"Mondrian cuts each part by itself, into {classes[_OTHER]} classes; here a column is "
            f"cut for all rows or not at all, into {classes[_RUN]}."
        )
    for name in trace.quasi:
        wide, narrow = trace[_RUN].published(name), trace[_OTHER].published(name)
        row = next((r for r in range(trace.rows) if wide[r] != narrow[r]), None)
        if row is not None:
            return (
                "both form the same classes, and Mondrian publishes what each class spans. Here "
                f"equal values publish the same everywhere: row {row + 1} says {wide[row]} of "
                f"{name}, Mondrian {narrow[row]}."
            )
    return "both form the same classes."


def _compared(trace: Trace) -> Step:
    names = {_RUN: "One dimension at a time", _OTHER: "Mondrian"}
    loss = {name: _loss(trace, name) for name in names}
    classes = {name: len(set(trace[name].together)) for name in names}
    worse = loss[_RUN] > loss[_OTHER] + 1e-9
    better = loss[_OTHER] > loss[_RUN] + 1e-9
    figures = f"One dimension at a time loses {loss[_RUN]:.2f}, Mondrian {loss[_OTHER]:.2f}"
    why = f"{figures}: {_reason(trace, classes)}" if worse else f"{figures}."
    bars = tuple(
        Bar(
            id=f"run:{name}",
            label=said,
            value=loss[name],
            text=f"{loss[name]:.2f}, {classes[name]} classes",
            tone="a" if name == _RUN else "b",
        )
        for name, said in names.items()
    )
    return Step(
        title="The same table by Mondrian",
        words=f"GCP is the mean share of its column's range that a published cell covers. {why}",
        pictures=(
            Bars(title="Loss (GCP)", bars=bars, unit="0 unchanged, 1 everything hidden"),
            release_table(trace, _RUN, names[_RUN]),
            release_table(trace, _OTHER, names[_OTHER]),
        ),
        question=Question(
            asks="Which of the two loses more?",
            choices=(
                Choice(id=_RUN, label=names[_RUN]),
                Choice(id=_OTHER, label=names[_OTHER]),
                Choice(id="same", label="Both the same"),
            ),
            answer=_RUN if worse else _OTHER if better else "same",
            why=why,
            pictures=(plane(trace, "Mondrian's classes", trace[_OTHER].together),),
        ),
        together=trace[_RUN].together,
        seen=published(trace[_RUN]),
    )
