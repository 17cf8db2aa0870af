"""Hierarchies and the lattice: the value trees and the node move together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from anon_core.teaching.learn.example import TOTH, Example
from anon_core.teaching.learn.lesson import DIAL_K, Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Lattice, State
from anon_core.teaching.learn.readings import if_levels, published
from anon_core.teaching.learn.text import (
    Levels,
    cells_at,
    lattice,
    least_of,
    listed,
    node_label,
    node_said,
    number_question,
    release_table,
    rows_said,
    table,
    together_at,
    value_tree,
    yes_or_no,
)
from anon_core.teaching.learn.text.lattices import heights_of, too_large
from anon_core.teaching.learn.trace import Trace

_RUN = "search"


class HierarchiesLesson(Lesson):
    """From the values to the top, one level of one column at a time."""

    name = "hierarchies"
    number = 2
    title = "Hierarchies and the lattice"
    summary = (
        "A hierarchy lists what can replace a value. A level for every column is a node of a "
        "lattice; going up, classes only grow."
    )
    about = ("optimal", "fixed-levels")
    source = Source(
        author="Samarati",
        year=2001,
        title="Protecting respondents' identities in microdata release",
        doi="10.1109/69.971193",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, slides 22 to 30",
            sample="samarati",
            quasi=("Race", "ZIP"),
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def refuses(self, trace: Trace) -> str:
        """Refuse lattices that are too large to be drawn."""
        return too_large(trace)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: up from the table itself to the top, then the node of the run."""
        path = _path(trace)
        found = [
            Step(
                title="What a value may become",
                words="A hierarchy is a tree: the values are its leaves, and each level replaces "
                "them by fewer, more general ones. At the top they are all alike. Hierarchies for "
                f"{listed(trace.quasi)} are given; nothing else may be published.",
                pictures=(
                    table(trace, "The table as it is held"),
                    *(value_tree(trace.problem, name) for name in trace.quasi),
                ),
            )
        ]
        found += [_at(trace, path, place) for place in range(len(path))]
        account = trace[_RUN].result.account
        assert account.node is not None
        chosen: Levels = tuple(account.node[name] for name in trace.quasi)
        sizes = [trace[_RUN].together.count(g) for g in set(trace[_RUN].together) - {-1}]
        found.append(
            Step(
                title="The lowest levels that satisfy the model",
                words=f"A search looks for the node that loses least among those that hold. Here "
                f"it is {node_said(trace.quasi, chosen)}: the smallest class has "
                f"{rows_said(min(sizes))}.",
                pictures=(
                    _lattice(trace, path, chosen=chosen),
                    release_table(trace, _RUN, "What is published"),
                ),
                question=number_question(
                    f"How many classes does {node_label(trace.quasi, chosen)} have?",
                    len(sizes),
                    f"They have {listed(map(str, sorted(sizes)))} rows.",
                    among=trace.rows,
                    least=1,
                    mistakes=(least_of(trace[_RUN]), max(sizes)),
                ).on(_lattice(trace, path, chosen=chosen)),
                together=trace[_RUN].together,
                seen=published(trace[_RUN]),
            )
        )
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about the lattice."""
        heights = heights_of(trace)
        size = int(np.prod([h + 1 for h in heights]))
        return (
            Exercise(
                question=number_question(
                    "How many nodes does this lattice have?",
                    size,
                    f"A column with h steps has h + 1 levels: "
                    f"{' · '.join(str(h + 1) for h in heights)}.",
                    among=2 * size + 1,
                    least=1,
                    mistakes=(sum(heights), sum(heights) + 1, size + 1, int(np.prod(heights))),
                )
            ),
            Exercise(
                question=number_question(
                    "At the top, how many rows share each combination?",
                    max(Counter(together_at(trace.problem, heights, 1)).values()),
                    "Every hierarchy ends in one value, so all rows are alike.",
                    among=trace.rows,
                    least=1,
                    mistakes=(1, sum(heights)),
                )
            ),
        )


def _path(trace: Trace) -> list[Levels]:
    """Return nodes from the bottom to the top: first one column, then the next."""
    found: list[Levels] = [(0,) * len(trace.quasi)]
    for d, height in enumerate(heights_of(trace)):
        for _ in range(height):
            last = list(found[-1])
            last[d] += 1
            found.append(tuple(last))
    return found


def _smallest(trace: Trace, levels: Levels) -> int:
    return min(Counter(together_at(trace.problem, levels, 1)).values())


def _lattice(
    trace: Trace,
    path: Sequence[Levels],
    *,
    now: Levels | None = None,
    chosen: Levels | None = None,
) -> Lattice:
    least = least_of(trace[_RUN])

    def state(levels: Levels) -> State:
        if levels == chosen:
            return "chosen"
        if levels == now:
            return "now"
        if levels in path:
            return "holds" if _smallest(trace, levels) >= least else "fails"
        return "open"

    notes = {n: f"smallest: {_smallest(trace, n)}" for n in path}
    return lattice(trace.quasi, heights_of(trace), "The lattice", state=state, notes=notes)


def _at(trace: Trace, path: Sequence[Levels], place: int) -> Step:
    levels, least = path[place], least_of(trace[_RUN])
    together = together_at(trace.problem, levels, 1)
    smallest = _smallest(trace, levels)
    label = node_label(trace.quasi, levels)
    classes = len(set(together))
    holds = smallest >= least
    why = (
        f"The smallest class has {rows_said(smallest)}, "
        f"{'so k = ' if holds else 'fewer than k = '}{least}{' holds.' if holds else '.'}"
    )
    trees = [
        value_tree(trace.problem, name, level=level)
        for name, level in zip(trace.quasi, levels, strict=True)
    ]
    shown = table(
        trace,
        f"The table at {label}",
        together=together,
        cells=cells_at(trace.problem, levels),
        identifier=False,
    )
    if not place:
        words = f"At level 0 every column says what it is. There are {classes} classes. {why}"
        question = yes_or_no(f"Does every combination occur at least {least} times?", holds, why)
        question = question.on(table(trace, "The table as it is held", identifier=False))
        title = f"The bottom, {label}"
    else:
        before = path[place - 1]
        raised = next(d for d, n in enumerate(levels) if n != before[d])
        words = (
            f"{trace.quasi[raised]} rises to level {levels[raised]}: in its tree one level up, in "
            f"the lattice one node up. {len(set(together_at(trace.problem, before, 1)))} classes "
            f"become {classes}. {why}"
        )
        question = Question(
            asks=f"{trace.quasi[raised]} rises one level. How many rows has the smallest class?",
            choices=tuple(
                Choice(id=f"number:{n}", label=str(n))
                for n in sorted({smallest, 1, 2, 3, trace.rows} | {_smallest(trace, before)})
            ),
            answer=f"number:{smallest}",
            why="Classes that now say the same are one.",
            pictures=(
                table(
                    trace,
                    f"The table at {node_label(trace.quasi, before)}",
                    together=together_at(trace.problem, before, 1),
                    cells=cells_at(trace.problem, before),
                    identifier=False,
                    heads={trace.quasi[raised]: "now"},
                ),
                trees[raised],
            ),
        )
        title = f"One step up, {label}"
    return Step(
        title=title,
        words=words,
        pictures=(*trees, _lattice(trace, path[: place + 1], now=levels), shown),
        question=question,
        together=together,
        seen=if_levels(trace, levels),
    )
