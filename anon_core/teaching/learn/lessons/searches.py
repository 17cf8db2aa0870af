"""Datafly, top-down, genetic and annealing on one lattice, next to the best node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.lattice.nodes import rows_removable
from anon_core.teaching.learn.example import TOTH, Example, Material
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
from anon_core.teaching.learn.lesson_run import measured
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Lattice, Row, State, Table
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    Levels,
    all_levels,
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
)
from anon_core.teaching.learn.text.lattices import heights_of, too_large
from anon_core.teaching.learn.trace import Trace

_BEST, _DATAFLY, _TOP_DOWN, _GENETIC, _ANNEALING = (
    "optimal",
    "datafly",
    "top-down",
    "genetic",
    "annealing",
)
_TITLES = {
    _DATAFLY: "Datafly",
    _TOP_DOWN: "Top-down",
    _GENETIC: "Genetic",
    _ANNEALING: "Annealing",
    _BEST: "Best node",
}


def _asked(budget: float) -> dict[str, dict[str, Any]]:
    """Return the runs: searches by chance with so few tries that they can miss the best."""
    few = {_GENETIC: {"population": 4, "generations": 3}, _ANNEALING: {"moves": 24}}
    spare = {"max_suppression": budget}
    return {
        name: {
            "algorithm": {
                "name": name,
                **({} if name == _TOP_DOWN else spare),
                **few.get(name, {}),
            },
            "models": [{"name": "k-anonymity", "k": 2}],
        }
        for name in (_BEST, _DATAFLY, _TOP_DOWN, _GENETIC, _ANNEALING)
    }


def _twelve_patients() -> Material:
    import pandas as pd

    columns = {
        "Birth": [
            "1965-09-20", "1965-02-14", "1965-10-23", "1965-08-24", "1964-11-07", "1964-12-01",
            "1964-10-23", "1965-03-15", "1964-08-13", "1964-05-05", "1967-02-13", "1967-03-21",
        ],
        "Gender": [
            "male", "male", "female", "female", "female", "female",
            "male", "female", "male", "male", "male", "male",
        ],
        "ZIP": [
            "02141", "02141", "02138", "02138", "02138", "02138",
            "02138", "02139", "02139", "02139", "02138", "02138",
        ],
        "Problem": [
            "short of breath", "chest pain", "painful eye", "wheezing", "obesity", "chest pain",
            "short of breath", "hypertension", "obesity", "fever", "vomiting", "back pain",
        ],
    }  # fmt: skip
    births = sorted(columns["Birth"])
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(columns, dtype=object)),
        roles=Roles(quasi=("Birth", "Gender", "ZIP"), sensitive=("Problem",)),
        types={"Birth": "text", "ZIP": "text"},
        levels={
            "Birth": [[day, day[:4], "*"] for day in births],
            "Gender": [["female", "*"], ["male", "*"]],
            "ZIP": [[code, f"{code[:4]}*", "*"] for code in ("02138", "02139", "02141")],
        },
    )


_OF_DATAFLY = Pseudocode(
    lines=(
        "Put every column at its lowest level.",
        "Few enough rows left over: suppress them, and publish.",
        "Otherwise raise the column with most distinct values, and go to 2.",
    )
)


_OF_TOP_DOWN = Pseudocode(
    lines=(
        "Put every column at its top.",
        "Score each value: what its children tell, by the privacy they cost.",
        "Reveal the children of the best value, if k holds.",
        "None can be revealed: publish.",
    )
)


_OF_GENETIC = Pseudocode(
    lines=(
        "Draw choices of levels.",
        "Two parents each win a contest of two.",
        "A child has each level from one parent; now and then one changes.",
        "After the last generation, publish the best that held.",
    )
)


_OF_ANNEALING = Pseudocode(
    lines=(
        "Put every column at its top.",
        "Try one level more or less of one column.",
        "Take it if it is better; if worse, with a chance that shrinks.",
        "After the last move, publish the best that held.",
    )
)


class SearchesLesson(Lesson):
    """Four searches that prove nothing, on the lattice of one table."""

    name = "searches"
    number = 20
    title = "Datafly, top-down, genetic, annealing"
    summary = (
        "Four quick searches share one lattice. They go up by a rule of thumb, down value by "
        "value, by breeding, by a random walk. Each sees a part of the nodes, and may miss the "
        "best."
    )
    about = (_DATAFLY, _TOP_DOWN, _GENETIC, _ANNEALING)
    source = Source(
        author="Sweeney",
        year=2002,
        title="Achieving k-anonymity privacy protection using generalization and suppression",
        doi="10.1142/S021848850200165X",
        where="Datafly's table; Fung et al. 2005, Iyengar 2002 and Winkler 2004 for the others",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="sweeney",
            title="Sweeney's twelve patients, without Race",
            made=_twelve_patients,
        ),
        Example(
            name="samarati",
            title="Samarati's nine patients",
            sample="samarati",
            quasi=("Race", "Sex", "Marital"),
        ),
        TOTH,
    )
    runs = _asked(0.17)  # two of twelve rows: Datafly suppresses up to k

    def refuses(self, trace: Trace) -> str:
        """Refuse lattices that are too large to be drawn."""
        return too_large(trace)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the lattice, each search on it, all of them compared."""
        return [
            _begin(trace),
            *_climbed(trace),
            _raised(trace),
            *_specialized(trace),
            _bred(trace),
            _walked(trace),
            _compared(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about the nodes that Datafly looks at."""
        looked, size = len(_looked(trace, _DATAFLY)), len(all_levels(heights_of(trace)))
        return (
            Exercise(
                question=number_question(
                    f"Of the {size} nodes, how many does Datafly look at?",
                    looked,
                    "It looks at one node of every height it reaches, and never goes back.",
                    among=size,
                    least=1,
                    mistakes=(
                        sum(heights_of(trace)) + 1,
                        size,
                        len(_looked(trace, _GENETIC)),
                        len(trace.quasi),
                        looked - 1,
                    ),
                )
            ),
        )


def _looked(trace: Trace, name: str) -> dict[Levels, bool]:
    """Return the nodes that a search looked at, in order, and whether they hold."""
    facts: list[Mapping[str, Any]] = [event.facts for event in trace[name].events_of("node")]
    return {tuple(fact["levels"]): bool(fact["holds"]) for fact in facts}


def _node(trace: Trace, name: str) -> Levels | None:
    """Return the node that a run publishes; None if a column is not at one level."""
    run = trace[name]
    if run.result.account.node is not None:
        return tuple(run.result.account.node[column] for column in trace.quasi)
    for levels in all_levels(heights_of(trace)):
        if all(run.published(c) == texts for c, texts in cells_at(trace.problem, levels).items()):
            return levels
    return None


def _drawn(
    trace: Trace,
    title: str,
    seen: Mapping[Levels, bool],
    *,
    now: Levels | None = None,
    chosen: Levels | None = None,
) -> Lattice:
    """Return the lattice with the nodes that were looked at, numbered in their order."""

    def state(levels: Levels) -> State:
        if levels == chosen:
            return "chosen"
        if levels == now:
            return "now"
        return "open" if levels not in seen else "holds" if seen[levels] else "fails"

    notes = {levels: str(place + 1) for place, levels in enumerate(seen)}
    return lattice(trace.quasi, heights_of(trace), title, state=state, notes=notes)


def _loss(trace: Trace, name: str) -> float:
    return measured(trace[name], "loss").value


def _left_over(removed: int) -> str:
    return f"{rows_said(removed)} would have to be suppressed"


def _begin(trace: Trace) -> Step:
    size = len(all_levels(heights_of(trace)))
    spare = rows_removable(trace.problem, trace[_BEST].result.plan.algorithm)
    return Step(
        title="One lattice",
        words=f"{listed(trace.quasi)} have {size} choices of levels together. k = "
        f"{least_of(trace[_BEST])}, and up to {rows_said(spare)} may be suppressed. Looking at all "
        "nodes finds the one that loses least; where there are millions, searches look at some. "
        "What do four of them find here?",
        pictures=(
            _drawn(trace, f"{size} nodes", {}),
            table(trace, "The table as it is held"),
        ),
    )


def _climbed(trace: Trace) -> list[Step]:
    """Return a step for every column that Datafly raises."""
    found: list[Step] = []
    steps = trace[_DATAFLY].result.account.steps
    at = [0] * len(trace.quasi)
    seen: dict[Levels, bool] = {}
    for step in steps:
        column, left = str(step["column raised"]), int(step["rows left over"])
        seen[tuple(at)] = not column
        if not column:
            break
        said = cells_at(trace.problem, at)
        distinct = {name: len(set(said[name])) for name in trace.quasi}
        before = f"The table at {node_label(trace.quasi, at)}"
        counted = listed(f"{name} {n}" for name, n in distinct.items())
        at[trace.quasi.index(column)] += 1
        why = f"Distinct values: {counted}. {column} has most of those that can be raised"
        ties = [n for n, many in distinct.items() if many == distinct[column]]
        why += ", and comes first among equals." if len(ties) > 1 else "."
        found.append(
            Step(
                title=f"Datafly raises {column}",
                code=_OF_DATAFLY.at(3) if sum(at) > 1 else _OF_DATAFLY.at(1, 3),
                words=f"At {node_label(trace.quasi, _before(at, trace, column))}, "
                f"{_left_over(left)}: too many. {why}",
                pictures=(
                    _drawn(trace, "Datafly's way", seen, now=tuple(at)),
                    _distinct(distinct, column),
                ),
                question=Question(
                    asks=f"{rows_said(left)} are in classes that are too small. Which column does "
                    "Datafly raise?",
                    choices=tuple(Choice(id=f"column:{c}", label=c) for c in trace.quasi),
                    answer=f"column:{column}",
                    why=why,
                    pictures=(table(trace, before, cells=said, identifier=False),),
                ),
            )
        )
    return found


def _distinct(distinct: Mapping[str, int], raised: str) -> Bars:
    """Return how many values each column has, the one that is raised out."""
    bars = tuple(
        Bar(
            id=f"column:{column}",
            label=column,
            value=many,
            text=str(many),
            tone="now" if column == raised else "plain",
        )
        for column, many in distinct.items()
    )
    return Bars(title="Distinct values before", bars=bars, unit="values")


def _before(at: Sequence[int], trace: Trace, column: str) -> Levels:
    place = trace.quasi.index(column)
    return tuple(level - (d == place) for d, level in enumerate(at))


def _raised(trace: Trace) -> Step:
    run, node, best = trace[_DATAFLY], _node(trace, _DATAFLY), _node(trace, _BEST)
    assert node is not None
    assert best is not None
    gone = run.together.count(-1)
    loss, least = _loss(trace, _DATAFLY), _loss(trace, _BEST)
    missed = loss > least + 1e-9
    why = f"Its loss is {loss:.3g}, the least of all nodes."
    if missed:
        why = f"Its loss is {loss:.3g}; {node_label(trace.quasi, best)} has {least:.3g}."
    return Step(
        title="Datafly's release",
        code=_OF_DATAFLY.at(2),
        words=f"At {node_label(trace.quasi, node)}, few enough rows are left over: "
        f"{rows_said(gone)} suppressed. It never asks what a level costs. {why}",
        pictures=(release_table(trace, _DATAFLY, "What Datafly publishes"),),
        question=Question(
            asks="Datafly stops at the first node that holds. Does it lose least of all nodes?",
            choices=(
                Choice(id="yes", label="Yes, of all nodes"),
                Choice(id="no", label="No, another node loses less"),
            ),
            answer="no" if missed else "yes",
            why=why,
            pictures=(_drawn(trace, "Datafly's way", _looked(trace, _DATAFLY), chosen=node),),
        ),
        together=run.together,
        seen=published(run),
    )


def _specialized(trace: Trace) -> list[Step]:
    """Return what top-down reveals, and its release."""
    run = trace[_TOP_DOWN]
    steps, node = run.result.account.steps, _node(trace, _TOP_DOWN)
    rows = tuple(
        Row(
            id=f"turn:{number}",
            label=str(number + 1),
            cells=tuple(
                Cell(text=value if isinstance(value, str) else f"{value:.3g}")
                for value in step.values()
            ),
        )
        for number, step in enumerate(steps)
    )
    first = str(steps[0]["column"]) if steps else ""
    shown = Table(
        title="What top-down reveals, in order",
        columns=tuple(Head(name=name) for name in (steps[0] if steps else ("column",))),
        rows=rows,
        corner="turn",
        note="" if steps else "Nothing can be revealed.",
    )
    why = (
        f"{first} has the best score, {steps[0]['score']:.3g}: what its values tell of the "
        "target, by the privacy they cost."
        if steps
        else "Every value that is revealed would leave a class that is too small."
    )
    top = tuple(heights_of(trace))
    ends = (
        f"It ends with {node_said(trace.quasi, node)}."
        if node is not None
        else "It ends between nodes: some values of a column are revealed, and others are not."
    )
    return [
        Step(
            title="Top-down: from the top, value by value",
            code=_OF_TOP_DOWN.at(1, 2, 3),
            words="Top-down begins with every column at its top, and reveals the children of one "
            f"value at a time while k holds. {why}",
            pictures=(shown, _drawn(trace, "Where it begins", {}, now=top)),
            question=Question(
                asks="Everything is at its top. Which column is revealed first?",
                choices=(
                    *(Choice(id=f"column:{c}", label=c) for c in trace.quasi),
                    Choice(id="none", label="None of them"),
                ),
                answer=f"column:{first}" if steps else "none",
                why=why,
                pictures=(
                    _drawn(trace, "Where it begins", {}, now=top),
                    table(trace, "The table as it is held", identifier=False),
                ),
            ),
        ),
        Step(
            title="Top-down's release",
            code=_OF_TOP_DOWN.at(4),
            words=f"{ends} No row is suppressed, and its loss is {_loss(trace, _TOP_DOWN):.3g}.",
            pictures=(
                release_table(trace, _TOP_DOWN, "What top-down publishes"),
                *([_drawn(trace, "Where it ends", {}, chosen=node)] if node is not None else []),
            ),
            question=Question(
                asks=f"{len(steps)} values were revealed. Is every column at one level now?",
                choices=(
                    Choice(id="yes", label="Yes: it is at a node of the lattice"),
                    Choice(id="no", label="No: it is between nodes"),
                ),
                answer="no" if node is None else "yes",
                why=ends,
                pictures=(shown,),
            ),
            together=run.together,
            seen=published(run),
        ),
    ]


def _bred(trace: Trace) -> Step:
    run, node = trace[_GENETIC], _node(trace, _GENETIC)
    size, looked = len(all_levels(heights_of(trace))), _looked(trace, _GENETIC)
    settings: Any = run.result.plan.algorithm
    tried = settings.population * settings.generations
    why = f"It meets {len(looked)} different nodes, {sum(looked.values())} of which hold."
    return Step(
        title="Genetic: levels are bred",
        code=_OF_GENETIC.at(1, 2, 3, 4),
        words=f"{settings.population} choices of levels are alive. Parents win a contest of two, a "
        "child has each level from one of both, and now and then one changes; for "
        f"{settings.generations} generations. {why}",
        pictures=(_drawn(trace, "Nodes in the order met", looked, chosen=node),),
        question=number_question(
            f"{settings.population} are alive for {settings.generations} generations, of the "
            f"{size} nodes. How many different ones are looked at?",
            len(looked),
            why,
            among=min(size, tried + settings.population),
            least=1,
            mistakes=(
                tried,
                settings.population,
                tried + settings.population,
                size,
                settings.generations,
                sum(looked.values()),
            ),
        ).on(_drawn(trace, f"{size} nodes", {})),
        together=run.together,
        seen=published(run),
    )


def _walked(trace: Trace) -> Step:
    run, node = trace[_ANNEALING], _node(trace, _ANNEALING)
    looked, heights = _looked(trace, _ANNEALING), heights_of(trace)
    first = next(iter(looked))
    settings: Any = run.result.plan.algorithm
    why = f"It begins at the top, {node_label(trace.quasi, first)}, where most privacy models hold."
    wrong = [(0,) * len(heights), tuple(h // 2 for h in heights)]
    wrong += [levels for levels in (_node(trace, _DATAFLY),) if levels is not None]
    offered = sorted({first, *wrong}, key=lambda levels: (sum(levels), levels))
    return Step(
        title="Annealing: a walk that cools down",
        code=_OF_ANNEALING.at(1, 2, 3, 4),
        words=f"{why} From there {settings.moves} moves by one level of one column are tried. A "
        "worse node is taken too, ever more rarely, so that the walk can leave a dead end. It "
        f"meets {len(looked)} nodes and publishes the best.",
        pictures=(_drawn(trace, "Nodes in the order met", looked, chosen=node),),
        question=Question(
            asks="Where does annealing begin?",
            choices=tuple(
                Choice(id=node_id(levels), label=node_label(trace.quasi, levels))
                for levels in offered
            ),
            answer=node_id(first),
            why=why,
            pictures=(_drawn(trace, "Click a node", {}),),
        ),
        together=run.together,
        seen=published(run),
    )


def _compared(trace: Trace) -> Step:
    losses = {name: _loss(trace, name) for name in _TITLES}
    least = min(losses.values())
    cheapest = [name for name, loss in losses.items() if loss < least + 1e-9]
    rows: list[Row] = []
    for name, title in _TITLES.items():
        node = _node(trace, name)
        cells = (
            Cell(text="between nodes" if node is None else node_label(trace.quasi, node)),
            Cell(text="-" if name in (_TOP_DOWN, _BEST) else str(len(_looked(trace, name)))),
            Cell(text=str(trace[name].together.count(-1))),
            Cell(text=f"{losses[name]:.3g}", tone="good" if name in cheapest else "plain"),
        )
        rows.append(Row(id=f"run:{name}", label=title, cells=cells))
    why = f"{listed(_TITLES[name] for name in cheapest)} lose{'s' if len(cheapest) == 1 else ''} "
    why += f"least: {least:.3g}."
    said = why
    if _TOP_DOWN in cheapest and _BEST not in cheapest:
        said += " Top-down is not bound to nodes, and so can lose less than the best of them."
    four = [name for name in _TITLES if name != _BEST]
    lowest = min(losses[name] for name in four)
    first = [name for name in four if losses[name] < lowest + 1e-9]
    question = Question(
        asks="Which of the four searches loses least?",
        choices=(
            *(Choice(id=f"run:{name}", label=_TITLES[name]) for name in four),
            Choice(id="alike", label="All four lose the same"),
        ),
        answer="alike" if len(first) == len(four) else f"run:{first[0]}",
        also=frozenset(f"run:{name}" for name in first if len(first) < len(four)),
        why=", ".join(f"{_TITLES[name]} {losses[name]:.3g}" for name in four) + ".",
        pictures=(
            release_table(trace, _DATAFLY, "What Datafly publishes"),
            release_table(trace, _TOP_DOWN, "What top-down publishes"),
        ),
    )
    return Step(
        title="Four searches compared",
        words=f"{said} None of the four knows how far it is from the best; only a search of all "
        "nodes, or one that may leave out some by proof, does.",
        pictures=(
            Table(
                title="What each search found",
                columns=tuple(Head(name=n) for n in ("node", "looked at", "suppressed", "loss")),
                rows=tuple(rows),
                corner="search",
            ),
            release_table(trace, _BEST, "The best node"),
        ),
        question=question,
        together=trace[_BEST].together,
        seen=published(trace[_BEST]),
    )
