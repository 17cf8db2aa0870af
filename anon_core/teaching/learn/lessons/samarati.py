"""Samarati's binary search: the lattice by height, the probed height, distance vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anon_core.methods.lattice.nodes import rows_removable
from anon_core.teaching.learn.example import TOTH, Example
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
from anon_core.teaching.learn.pictures import Cell, Head, Lattice, Row, State, Table
from anon_core.teaching.learn.readings import if_levels, published
from anon_core.teaching.learn.text import (
    Levels,
    cells_at,
    lattice,
    least_of,
    listed,
    node_id,
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


_CODE = Pseudocode(
    lines=(
        "Count how far the outliers have to rise to be equal to others.",
        "low = 0, high = the height of the lattice.",
        "Look at nodes of height ⌊(low + high) / 2⌋ until one holds.",
        "One holds: high = its height. None does: low = the height + 1.",
        "low = high: all nodes there that hold are minimal.",
        "Publish the minimal node that is preferred.",
    )
)


class SamaratiLesson(Lesson):
    """The height of the lattice is halved until the lowest solution is left."""

    name = "samarati"
    number = 3
    title = "Samarati's binary search on the lattice"
    summary = (
        "If no node of a height keeps k, none below does. A node is a choice of levels, its height "
        "counts the generalization steps, and each probe halves the heights that are left."
    )
    about = ("samarati",)
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
            title="Samarati's nine patients, slides 28 to 44",
            sample="samarati",
            quasi=("Race", "ZIP"),
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {
                "name": "samarati",
                "max_suppression": 0.23,
                "check": "distance vectors",
            },
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def refuses(self, trace: Trace) -> str:
        """Refuse lattices that are too large to be drawn."""
        return too_large(trace)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: table and lattice, the matrix, every height and node, the release."""
        run, least = trace[_RUN], least_of(trace[_RUN])
        budget = rows_removable(trace.problem, run.result.plan.algorithm)
        heights = heights_of(trace)
        found = [
            Step(
                title="A table and its hierarchies",
                words=f"{listed(trace.quasi)} are the quasi-identifiers. Each value can be "
                f"replaced by one further up its hierarchy. Wanted is a table in which at least "
                f"k = {least} rows share every combination, and of which at most "
                f"{rows_said(budget)} (MaxSup) are suppressed.",
                pictures=(
                    table(trace, "The table as it is held"),
                    *(value_tree(trace.problem, name) for name in trace.quasi),
                ),
            ),
            Step(
                title="Every choice of levels is a node",
                words=f"The lattice has {int(np.prod([h + 1 for h in heights]))} nodes. The height "
                "of a node is the sum of its levels: how many steps of generalization it takes. "
                "Going up, classes only grow, so that fewer rows have to be suppressed.",
                pictures=(_lattice(trace, {}),),
                question=number_question(
                    "How high is the top of this lattice?",
                    sum(heights),
                    f"The hierarchies have {listed(map(str, heights))} steps, together "
                    f"{sum(heights)}.",
                    among=int(np.prod([h + 1 for h in heights])),
                    least=1,
                    mistakes=(
                        max(heights),
                        sum(heights) + len(heights),
                        int(np.prod([h + 1 for h in heights])),
                    ),
                ),
            ),
        ]
        found += _matrix(trace)
        found += self._search(trace, budget)
        found += _chosen(trace, budget)
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what was looked at."""
        run = trace[_RUN]
        looked = [event.facts["levels"] for event in run.events_of("node")]
        total = int(np.prod([h + 1 for h in heights_of(trace)]))
        removed = {e.facts["levels"]: int(str(e.facts["removed"])) for e in run.events_of("node")}
        worst = max(removed, key=lambda levels: removed[levels])
        name = node_said(trace.quasi, worst)  # type: ignore[arg-type]
        return (
            Exercise(
                question=number_question(
                    f"Of {total} nodes, how many did the search look at?",
                    len(looked),
                    "All others follow: what holds at a node holds above it, what fails at one "
                    "fails below.",
                    among=total,
                    least=1,
                    mistakes=(total, sum(heights_of(trace)) + 1, len(run.events_of("height"))),
                )
            ),
            Exercise(
                question=number_question(
                    f"How many rows would have to be suppressed at {name}?",
                    removed[worst],
                    f"So many rows are in classes with fewer than {least_of(run)} rows there.",
                    among=trace.rows,
                    mistakes=(*removed.values(), trace.rows - removed[worst]),
                )
            ),
        )

    def _search(self, trace: Trace, budget: int) -> list[Step]:
        """Return a step for every height that was probed, and every node that was looked at."""
        run = trace[_RUN]
        found: list[Step] = []
        nodes: dict[Levels, Mapping[str, Any]] = {}
        probe: int | None = None
        rest = False
        top = sum(heights_of(trace))
        below, above = 0, top
        for event in run.events_of("height", "node"):
            facts: Any = event.facts
            if event.kind == "height":
                if probe is not None:
                    below, above = _halved(nodes, probe, below, above)
                height = int(facts["height"])
                found.append(self._probed(trace, nodes, height, (below, above), found))
                probe = height
                continue
            node: Levels = tuple(facts["levels"])
            if (
                probe is not None and sum(node) != probe
            ):  # halving is over, and the rest is looked at
                probe = sum(node)
                rest = True
            before = dict(nodes)
            nodes[node] = facts
            found.append(self._looked(trace, before, nodes, node, probe, budget, rest=rest))
        return found

    def _probed(
        self,
        trace: Trace,
        nodes: Mapping[Levels, Mapping[str, Any]],
        height: int,
        open_: tuple[int, int],
        before: Sequence[Step],
    ) -> Step:
        low, high = open_
        why = f"The lowest solution is between height {low} and {high}; halfway is {height}."
        choices = tuple(
            Choice(id=f"height:{h}", label=f"Height {h}") for h in range(sum(heights_of(trace)) + 1)
        )
        return Step(
            title=f"Probe height {height}",
            words=f"{why} Nodes of this height are looked at until one holds.",
            pictures=(_lattice(trace, nodes, probe=height),),
            code=_CODE.at(3) if nodes else _CODE.at(2, 3),
            question=Question(
                asks="Which height is probed next?" if nodes else "Which height is probed first?",
                choices=choices,
                answer=f"height:{height}",
                why=why,
                pictures=(_lattice(trace, nodes, title="Click a height"),),
            ),
        )

    def _looked(
        self,
        trace: Trace,
        before: Mapping[Levels, Mapping[str, Any]],
        nodes: Mapping[Levels, Mapping[str, Any]],
        node: Levels,
        probe: int | None,
        budget: int,
        *,
        rest: bool,
    ) -> Step:
        least = least_of(trace[_RUN])
        run = trace[_RUN]
        removed, holds = int(nodes[node]["removed"]), bool(nodes[node]["holds"])
        together = together_at(trace.problem, node, least)
        name = node_label(trace.quasi, node)
        verdict = "holds" if holds else "fails"
        why = (
            f"{rows_said(removed)} {'is' if removed == 1 else 'are'} in classes of fewer than "
            f"{least}, and at most {budget} may be suppressed: the node {verdict}."
        )
        follows = (
            " Every node above it must hold too."
            if holds
            else " Every node below it must fail too."
        )
        if rest:
            follows += (
                f" Height {sum(node)} is the lowest with a solution: all its nodes are looked at, "
                "to choose among those that hold."
            )
        cells = cells_at(trace.problem, node)
        bare = table(trace, f"The table at {name}", cells=cells, identifier=False)
        return Step(
            title=f"Node {name} {verdict}",
            code=_CODE.at(5 if rest else 4 if holds else 3),
            words=f"{node_said(trace.quasi, node)}: {why}{follows}",
            pictures=(
                _lattice(trace, nodes, probe=probe),
                table(
                    trace,
                    f"The table at {name}",
                    cells=cells,
                    together=together,
                    identifier=False,
                ),
            ),
            question=Question(
                asks=f"Does {name} hold: at most {rows_said(budget)} in classes of fewer "
                f"than {least}?",
                choices=(Choice(id="yes", label="It holds"), Choice(id="no", label="It fails")),
                answer="yes" if holds else "no",
                why=why,
                pictures=(
                    _lattice(trace, before, now=node, probe=probe),
                    bare,
                ),
            ),
            together=together,
            seen=if_levels(trace, node, run.result.plan.models, budget / trace.rows)
            if holds
            else None,
        )


def _lattice(
    trace: Trace,
    nodes: Mapping[Levels, Mapping[str, Any]],
    *,
    now: Levels | None = None,
    probe: int | None = None,
    chosen: Levels | None = None,
    title: str = "The lattice by height",
) -> Lattice:
    """Return the lattice after some nodes were reported, and what follows from it."""

    def state(levels: Levels) -> State:
        if levels == chosen:
            return "chosen"
        if levels == now:
            return "now"
        if levels in nodes:
            return "holds" if nodes[levels]["holds"] else "fails"
        for other, facts in nodes.items():
            pairs = list(zip(levels, other, strict=True))
            if facts["holds"] and all(a >= b for a, b in pairs):
                return "must hold"
            if not facts["holds"] and all(a <= b for a, b in pairs):
                return "must fail"
        return "open"

    notes = {n: f"{f['removed']} suppressed" for n, f in nodes.items() if n != now}
    return lattice(trace.quasi, heights_of(trace), title, state=state, notes=notes, probe=probe)


def _halved(
    nodes: Mapping[Levels, Mapping[str, Any]], probe: int, low: int, high: int
) -> tuple[int, int]:
    """Return between which heights the lowest solution is, after a height was probed."""
    held = any(sum(n) <= probe and f["holds"] for n, f in nodes.items())
    return (low, probe) if held else (probe + 1, high)


def _matrix(trace: Trace) -> list[Step]:
    """Return the step that shows the distance vectors, where the search used them."""
    events = trace[_RUN].events_of("matrix")
    if not events:
        return []
    facts: Any = events[0].facts
    outliers, vectors = np.asarray(facts["outliers"]), np.asarray(facts["vectors"])
    run_of_row = trace.problem.frequency.run[trace.problem.frequency.row_key]
    names: dict[int, str] = {}
    first: dict[int, int] = {}
    for row, run in enumerate(run_of_row.tolist()):
        first.setdefault(run, row)
        names[run] = f"{names[run]}={row + 1}" if run in names else str(row + 1)
    order = sorted(names, key=lambda run: first[run])
    rows = sorted(range(len(outliers)), key=lambda i: first[int(outliers[i])])
    least = least_of(trace[_RUN])

    def said(i: int, run: int) -> str:
        return "[" + ",".join(map(str, vectors[i, run].tolist())) + "]"

    shown = Table(
        title="Distance vectors of the outliers (down) to all tuples (across)",
        columns=tuple(Head(name=names[run]) for run in order),
        rows=tuple(
            Row(
                id=f"outlier:{i}",
                label=names[int(outliers[i])],
                people=tuple(np.flatnonzero(run_of_row == outliers[i]).tolist()),
                cells=tuple(
                    Cell(text=said(i, run), tone="quiet" if not vectors[i, run].any() else "plain")
                    for run in order
                ),
            )
            for i in rows
        ),
        note="Numbers are rows of the table; those joined by = share their quasi-identifiers.",
    )
    words = (
        "An outlier is a combination with fewer than "
        f"k = {least} rows. A distance vector says how many levels each column must rise until two "
        "tuples are equal. At a node, two tuples are equal exactly if their vector is at most the "
        "node in every column, so that no table has to be generalized to count its classes."
    )
    if len(rows) < 1 or len(order) < 2:
        return [Step(title="Distance vectors", words=words, pictures=(shown,), code=_CODE.at(1))]
    i = rows[0]
    other = next(run for run in order if run != int(outliers[i]))
    texts = sorted({said(i, run) for run in order} | {said(i, other)})
    question = Question(
        asks=f"How far do rows {names[int(outliers[i])]} and {names[other]} have to rise in "
        f"[{', '.join(trace.quasi)}] to be equal?",
        choices=tuple(Choice(id=f"vector:{t}", label=t) for t in texts),
        answer=f"vector:{said(i, other)}",
        why="It is the level of the smallest node that holds both values, column by column.",
        pictures=(
            table(
                trace,
                "The table as it is held",
                tones=dict.fromkeys((first[int(outliers[i])], first[other]), "now"),
            ),
            *(value_tree(trace.problem, name) for name in trace.quasi),
        ),
    )
    return [
        Step(
            title="Distance vectors",
            words=words,
            pictures=(shown,),
            question=question,
            code=_CODE.at(1),
        )
    ]


def _chosen(trace: Trace, budget: int) -> list[Step]:
    """Return the steps that choose among the minimal nodes, and show the release."""
    run = trace[_RUN]
    account = run.result.account
    assert account.node is not None
    chosen: Levels = tuple(account.node[name] for name in trace.quasi)
    nodes: dict[Levels, Mapping[str, Any]] = {
        tuple(e.facts["levels"]): e.facts  # type: ignore[arg-type]
        for e in run.events_of("node")
    }
    minimal = [node_label(trace.quasi, node) for node in account.minimal]
    picture = _lattice(trace, nodes, chosen=chosen, title="The node that is published")
    question = Question(
        asks="Which node is published?",
        choices=tuple(
            Choice(id=node_id(node), label=node_label(trace.quasi, node)) for node in nodes
        ),
        answer=node_id(chosen),
        why="It is minimal, and preferred among the minimal ones.",
        pictures=(_lattice(trace, nodes, title="Click a node"),),
    )
    words = (
        f"Height {sum(chosen)} is the lowest with a solution; its solutions are {listed(minimal)}. "
    )
    words += (
        "All take the same number of steps, which is the criterion here; of equals, the first in "
        "the order of levels is taken."
        if len(minimal) > 1
        else "It is the only one."
    )
    printed = ""
    if trace.as_printed("patients"):
        printed = (
            "Printed: slide 40 asks for fewer than MaxSup suppressed tuples. Corrected: at most "
            "MaxSup, as slide 29 defines it."
        )
    removed = run.together.count(-1)
    smallest = min(run.together.count(group) for group in set(run.together) - {-1})
    return [
        Step(
            title=f"{node_label(trace.quasi, chosen)} is published",
            words=words,
            pictures=(picture,),
            question=question if len(nodes) > 1 else None,
            code=_CODE.at(5, 6),
            together=run.together,
            seen=published(run),
            printed=printed,
        ),
        Step(
            title="The release",
            code=_CODE.at(6),
            words=f"{node_said(trace.quasi, chosen)}; {rows_said(removed)} suppressed, at most "
            f"{budget} were allowed. The smallest class has {rows_said(smallest)}.",
            pictures=(release_table(trace, _RUN, "What is published"), picture),
            question=yes_or_no(
                "Is anyone in the release unique in these columns?",
                smallest == 1,
                f"Classes with fewer than {least_of(run)} rows were suppressed.",
            ),
            together=run.together,
            seen=published(run),
        ),
    ]
