"""Incognito: single columns first, candidates joined, pruned with the subset that pruned them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
from anon_core.teaching.learn.pictures import Lattice, State
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    Levels,
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
    value_tree,
)
from anon_core.teaching.learn.text.lattices import too_large
from anon_core.teaching.learn.trace import Trace

_RUN = "search"


_CODE = Pseudocode(
    lines=(
        "Take sets of columns: each column, then every pair, and on to all.",
        "Candidates are the nodes that held in every smaller set.",
        "From below, count the classes of each candidate.",
        "One holds: mark all above it without looking.",
        "Of all columns: nodes that hold with none below are minimal.",
        "Publish the minimal node with the fewest steps.",
    )
)


class IncognitoLesson(Lesson):
    """Subsets of the quasi-identifiers by size, each lattice pruned by the smaller ones."""

    name = "incognito"
    number = 4
    title = "Incognito"
    summary = (
        "Levels that fail for some columns fail for more columns. So single columns are searched "
        "first, then pairs of what is left, and so on: most nodes are never looked at."
    )
    about = ("incognito",)
    source = Source(
        author="LeFevre, DeWitt and Ramakrishnan",
        year=2005,
        title="Incognito: efficient full-domain k-anonymity",
        doi="10.1145/1066157.1066164",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, slides 48 and 49",
            sample="samarati",
            quasi=("Race", "Sex", "Marital"),
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "incognito"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def refuses(self, trace: Trace) -> str:
        """Refuse lattices that are too large to be drawn."""
        return too_large(trace)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the table, every subset joined and looked at, the release."""
        least = least_of(trace[_RUN])
        found = [
            Step(
                title="A table and its hierarchies",
                code=_CODE.at(1),
                words=f"{listed(trace.quasi)} are the quasi-identifiers, and k = {least}. If the "
                "table is k-anonymous in all of them, it is so in each of them alone and in each "
                "pair: a subset that fails rules out every node that contains it.",
                pictures=(
                    table(trace, "The table as it is held"),
                    *(value_tree(trace.problem, name) for name in trace.quasi),
                ),
            )
        ]
        for part in _parts(trace):
            if part.pruned:
                found.append(_joined(trace, part))
            found.append(_looked(trace, part, least))
        found += _chosen(trace)
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what was pruned and looked at."""
        parts = _parts(trace)
        last = parts[-1]
        return (
            Exercise(
                question=number_question(
                    f"Of the nodes of {listed(trace.quasi)}, how many were pruned?",
                    len(last.pruned),
                    f"A smaller subset failed for them; {len(last.candidates)} are left.",
                    among=len(last.pruned) + len(last.candidates),
                    mistakes=(len(last.candidates), len(last.nodes)),
                )
            ),
            Exercise(
                question=number_question(
                    "How many nodes were looked at in all?",
                    sum(len(part.nodes) for part in parts),
                    "All others were pruned, or are above a node that holds.",
                    among=sum(len(part.candidates) + len(part.pruned) for part in parts),
                    least=1,
                    mistakes=(
                        sum(len(part.candidates) for part in parts),
                        len(last.candidates) + len(last.pruned),
                        len(last.nodes),
                    ),
                )
            ),
        )


@dataclass(frozen=True, kw_only=True)
class _Part:
    """What was reported of one set of columns."""

    columns: tuple[int, ...]
    candidates: tuple[Levels, ...]
    pruned: Mapping[Levels, tuple[int, ...]]
    nodes: dict[Levels, Mapping[str, Any]] = field(default_factory=dict[Levels, Mapping[str, Any]])

    def names(self, trace: Trace) -> tuple[str, ...]:
        return tuple(trace.quasi[d] for d in self.columns)

    def heights(self, trace: Trace) -> tuple[int, ...]:
        return tuple(trace.problem.quasi_hierarchies[d].height for d in self.columns)

    def holds(self, levels: Levels) -> bool:
        """Say whether a node holds, or is above one that does."""
        return any(
            facts["holds"] and all(a >= b for a, b in zip(levels, other, strict=True))
            for other, facts in self.nodes.items()
        )


def _parts(trace: Trace) -> list[_Part]:
    found: list[_Part] = []
    for event in trace[_RUN].events_of("subset", "node"):
        facts: Any = event.facts
        if event.kind == "subset":
            found.append(
                _Part(
                    columns=tuple(facts["columns"]),
                    candidates=tuple(facts["candidates"]),
                    pruned=dict(facts["pruned"]),
                )
            )
        else:
            last = found[-1]
            last.nodes[tuple(facts["levels"][d] for d in last.columns)] = facts
    return found


def _picture(trace: Trace, part: _Part, *, looked: bool, title: str = "") -> Lattice:
    notes = {
        node: f"by {listed(trace.quasi[d] for d in columns)}"
        for node, columns in part.pruned.items()
    }
    if looked:
        notes |= {n: f"{f['removed']} too rare" for n, f in part.nodes.items() if not f["holds"]}

    def state(levels: Levels) -> State:
        if levels in part.pruned:
            return "pruned"
        if looked and levels in part.nodes:
            return "holds" if part.nodes[levels]["holds"] else "fails"
        if looked and part.holds(levels):
            return "must hold"
        return "candidate"

    return lattice(
        part.names(trace),
        part.heights(trace),
        title or f"Nodes of {listed(part.names(trace))}",
        state=state,
        notes=notes,
    )


def _bare(trace: Trace, part: _Part) -> Lattice:
    def open_(levels: Levels) -> State:
        return "open"

    names = part.names(trace)
    title = f"All nodes of {listed(names)}"
    return lattice(names, part.heights(trace), title, state=open_)


def _joined(trace: Trace, part: _Part) -> Step:
    names = listed(part.names(trace))
    by = sorted({listed(trace.quasi[d] for d in columns) for columns in part.pruned.values()})
    why = f"{len(part.pruned)} are pruned, since {listed(by, 'or')} failed at these levels."
    return Step(
        title=f"Join and prune: {names}",
        code=_CODE.at(2),
        words=f"A node is a candidate only if it held in every subset of one column less. {why} "
        "Below each is the subset that pruned it.",
        pictures=(_picture(trace, part, looked=False),),
        question=number_question(
            f"How many nodes of {names} are candidates?",
            len(part.candidates),
            why,
            among=len(part.candidates) + len(part.pruned),
            least=1,
            mistakes=(len(part.pruned), len(part.candidates) + len(part.pruned)),
        ).on(_bare(trace, part)),
    )


def _looked(trace: Trace, part: _Part, least: int) -> Step:
    names = listed(part.names(trace))
    held = [n for n, facts in part.nodes.items() if facts["holds"]]
    failed = [n for n, facts in part.nodes.items() if not facts["holds"]]
    words = f"Candidates are looked at from below, {len(part.nodes)} of {len(part.candidates)}. "
    if failed:
        said = [f"{node_label(part.names(trace), n)}" for n in failed]
        words += f"{listed(said)} {'fails' if len(said) == 1 else 'fail'}: rows are in classes of "
        words += f"fewer than {least}. "
    if held:
        words += (
            f"{listed(node_label(part.names(trace), n) for n in held)} "
            f"{'holds, and with it' if len(held) == 1 else 'hold, and with them'} all above, "
            "which are only marked."
        )
    choices = tuple(
        Choice(id=node_id(n), label=node_label(part.names(trace), n)) for n in part.candidates
    )
    question = None
    if held and len(choices) > 1:
        question = Question(
            asks=f"Which candidate of {names} is the first that holds, from below?",
            choices=choices,
            answer=node_id(held[0]),
            why=f"Every class has at least {least} rows there, and in none looked at before.",
            pictures=(
                _picture(trace, part, looked=False, title=f"Candidates of {names}"),
                table(
                    trace, "The table as it is held", heads=dict.fromkeys(part.names(trace), "now")
                ),
            ),
        )
    return Step(
        title=f"Look at {names}",
        code=_CODE.at(3, 4) if held else _CODE.at(3),
        words=words,
        pictures=(_picture(trace, part, looked=True),),
        question=question,
    )


def _chosen(trace: Trace) -> list[Step]:
    run = trace[_RUN]
    account, last = run.result.account, _parts(trace)[-1]
    assert account.node is not None
    chosen: Levels = tuple(account.node[name] for name in trace.quasi)
    minimal = [node_label(trace.quasi, node) for node in account.minimal]
    total = sum(len(part.candidates) + len(part.pruned) for part in _parts(trace))
    sizes = [run.together.count(group) for group in set(run.together) - {-1}]
    return [
        Step(
            title="What holds of all columns",
            code=_CODE.at(5),
            words=f"The minimal nodes are {listed(minimal)}: none below them holds. Of {total} "
            f"nodes of all subsets, {account.checked} were looked at.",
            pictures=(_picture(trace, last, looked=True),),
            question=number_question(
                "How many minimal nodes are there?",
                len(minimal),
                f"They are {listed(minimal)}.",
                among=len(last.candidates),
                least=1,
                mistakes=(sum(bool(f["holds"]) for f in last.nodes.values()), len(last.candidates)),
            ).on(_picture(trace, last, looked=True)),
        ),
        Step(
            title="The release",
            code=_CODE.at(6),
            words=f"Of the minimal nodes, the one with the fewest steps is published: "
            f"{node_said(trace.quasi, chosen)}. The smallest class has {rows_said(min(sizes))}.",
            pictures=(release_table(trace, _RUN, "What is published"),),
            together=run.together,
            seen=published(run),
        ),
    ]
