"""k-Optimize: the set-enumeration tree, and bounds against the best so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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
from anon_core.teaching.learn.pictures import Bar, Bars, Branch, Cell, Head, Row, State, Table, Tree
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import listed, number_question, release_table, rows_said, table
from anon_core.teaching.learn.trace import Trace

_RUN = "search"
#: Indices whose sets are all drawn.
_MOST_LISTED = 4
#: Nodes of the tree that are reported one by one.
_MOST_OPENED = 24
Splits = tuple[int, ...]


_CODE = Pseudocode(
    lines=(
        "Number the values of all columns in order.",
        "A set of numbers says where intervals begin. A tree lists every set once.",
        "A class of n rows costs n²; a suppressed row costs as much as there are rows.",
        "For a first best, add the number that costs least while the cost falls.",
        "Open a node: leave out every branch whose bound is no less than the best.",
        "No node is open: publish the best set.",
    )
)


class KOptimizeLesson(Lesson):
    """Sets of interval starts as a tree, whose branches are cut off by bounds."""

    name = "k-optimize"
    number = 5
    title = "k-Optimize"
    summary = (
        "A recoding is the set of values at which its intervals begin. A tree lists all sets; a "
        "branch is cut off when its bound cannot beat the best so far."
    )
    minutes = 5
    about = ("k-optimize",)
    source = Source(
        author="Bayardo and Agrawal",
        year=2005,
        title="Data privacy through optimal k-anonymization",
        doi="10.1109/ICDE.2005.42",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, slides 45 and 46",
            sample="samarati",
            quasi=("Race", "ZIP"),
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "k-optimize"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: indices, prices, a first result, the tree, the release."""
        found = [_indices(trace), _enumerated(trace), _price(trace), *_greedy(trace)]
        found += _opened(trace)
        return [*found, _published(trace)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about how much was looked at."""
        alphabet = _facts(trace, "indices")[0]["alphabet"]
        opened = len(_facts(trace, "expanded"))
        return (
            Exercise(
                question=number_question(
                    f"How many sets can be made of {len(alphabet)} indices?",
                    2 ** len(alphabet),
                    f"Each of them is in a set or not: 2^{len(alphabet)}. The search opened "
                    f"{opened} nodes.",
                    among=4 ** len(alphabet),
                    least=1,
                    mistakes=(len(alphabet), len(alphabet) ** 2, 2 ** len(alphabet) - 1, opened),
                )
            ),
            Exercise(
                question=number_question(
                    "What does it cost to keep two equal rows and to suppress all others?",
                    4 + trace.rows * (trace.rows - 2),
                    f"Two rows look like two each, which is 4; each of the {trace.rows - 2} "
                    f"others costs {trace.rows}.",
                    among=trace.rows**2,
                    mistakes=(4, trace.rows**2, trace.rows * (trace.rows - 2), trace.rows + 2),
                )
            ),
        )


def _facts(trace: Trace, kind: str) -> list[Any]:
    return [event.facts for event in trace[_RUN].events_of(kind)]


def _said(indices: Sequence[int]) -> str:
    """Return a set of indices."""
    return "{" + ", ".join(map(str, sorted(indices))) + "}"


def _value(trace: Trace, index: int) -> str:
    column, leaf = _facts(trace, "indices")[0]["of"][index]
    name = trace.quasi[column]
    return f"{name} {trace.problem.hierarchies[name].leaves[leaf]}"


def _indices(trace: Trace) -> Step:
    of: Mapping[int, tuple[int, int]] = _facts(trace, "indices")[0]["of"]
    alphabet = _facts(trace, "indices")[0]["alphabet"]
    rows = tuple(
        Row(
            id=f"index:{index}",
            label=str(index),
            cells=(
                Cell(text=trace.quasi[column]),
                Cell(text=trace.problem.hierarchies[trace.quasi[column]].leaves[leaf]),
                Cell(text="yes" if index in alphabet else "always begins one", tone="quiet"),
            ),
        )
        for index, (column, leaf) in of.items()
        if index
    )
    return Step(
        title="Every value has an index",
        code=_CODE.at(1),
        words=f"The values of {listed(trace.quasi)} are ordered. A set of indices says at "
        "which values a new interval begins, for the whole table: the empty set hides everything, "
        "the full set changes nothing. The smallest value of a column always begins an interval, "
        "so it is never in a set.",
        pictures=(
            table(trace, "The table as it is held"),
            Table(
                title="Indices",
                corner="index",
                columns=(Head(name="column"), Head(name="value"), Head(name="may be in a set")),
                rows=rows,
            ),
        ),
    )


def _enumerated(trace: Trace) -> Step:
    """Return the step that lists sets in the order of their indices, those of one column."""
    of: Mapping[int, tuple[int, int]] = _facts(trace, "indices")[0]["of"]
    alphabet: Sequence[int] = _facts(trace, "indices")[0]["alphabet"]
    columns = [of[index][0] for index in alphabet]
    last = max(set(columns), key=lambda d: (columns.count(d), d), default=0)
    few = sorted(index for index in alphabet if of[index][0] == last)[-_MOST_LISTED:]

    def branch(head: Splits) -> Branch:
        rest = [index for index in few if not head or index > head[-1]]
        return Branch(
            id=f"set:{','.join(map(str, head))}",
            label=_said(head),
            below=tuple(branch((*head, index)) for index in rest),
        )

    return Step(
        title="A tree that lists every set once",
        code=_CODE.at(2),
        words=f"Below a set are those with one more index that comes after all of its own: here "
        f"the sets of {_said(few)}. With all {len(alphabet)} indices there are "
        f"{2 ** len(alphabet):,} sets. The search orders the indices again at every node, those "
        "with the highest bound first, so that more is cut off: a set may then be below another of "
        "its indices, and is still met once.",
        pictures=(Tree(title=f"Sets of {_said(few)}", root=branch(())),),
        question=number_question(
            f"How many sets are there of {_said(few)}, the empty one among them?",
            2 ** len(few),
            f"Each index is in a set or not: 2^{len(few)}.",
            among=4 ** len(few) + 1,
            least=1,
            mistakes=(len(few), len(few) ** 2, 2 ** len(few) - 1, len(few) + 1),
        ),
    )


def _price(trace: Trace) -> Step:
    first = _facts(trace, "priced")[0]
    rows = trace.rows
    return Step(
        title="What a set costs",
        code=_CODE.at(3),
        words=f"A row costs as much as there are rows that look like it, so a class of n costs n². "
        f"A suppressed row costs {rows}, as if it looked like everyone. The empty set makes one "
        f"class of {rows}: {int(first['cost'])}.",
        pictures=(_bars([first], "Cost of the empty set"),),
        question=number_question(
            "What does the empty set cost?",
            int(first["cost"]),
            f"One class of {rows} rows: {rows}² = {rows * rows}.",
            among=rows**2 + rows,
            mistakes=(0, rows, 2 * rows, rows * (rows - 1)),
        ).on(table(trace, "The table as it is held", together=(0,) * rows)),
    )


def _bars(priced: Sequence[Mapping[str, Any]], title: str) -> Bars:
    finite = [p["cost"] for p in priced if np.isfinite(p["cost"])]
    best = min(finite, default=0.0)
    bars = tuple(
        Bar(
            id=f"set:{','.join(map(str, p['head']))}",
            label=_said(p["head"]),
            value=float(p["cost"]) if np.isfinite(p["cost"]) else 0.0,
            text=(
                f"{p['cost']:g}, {p['removed']} suppressed"
                if np.isfinite(p["cost"])
                else "nothing is left"
            ),
            tone="good" if p["cost"] == best else "plain",
        )
        for p in priced
    )
    return Bars(title=title, bars=bars, unit="cost (Σ n² + rows · suppressed)")


def _greedy(trace: Trace) -> list[Step]:
    """Return a step for every round in which one index was added, the best first."""
    rounds: dict[int, list[Any]] = {}
    for event in trace[_RUN].events_of("indices", "priced", "expanded"):
        if event.kind == "expanded":
            break
        facts: Any = event.facts
        if event.kind == "priced" and facts["head"]:
            rounds.setdefault(len(facts["head"]), []).append(facts)
    best = float(_facts(trace, "priced")[0]["cost"])
    found: list[Step] = []
    for size, priced in rounds.items():
        # The last one before the tree is the root, which is priced once more.
        least = min(priced, key=lambda p: (p["cost"], p["head"]))
        better = bool(least["cost"] < best)
        said = _said(least["head"])
        why = (
            f"{said} costs {least['cost']:g}, less than the {best:g} before."
            if better
            else f"The cheapest, {said}, costs {least['cost']:g}, no less than {best:g}."
        )
        choices = tuple(
            Choice(id=f"set:{','.join(map(str, p['head']))}", label=_said(p["head"]))
            for p in priced
        )
        question = Question(
            asks="Which set is the cheapest, or is none cheaper than the best so far?",
            choices=(*choices, Choice(id="none", label="None is cheaper")),
            answer=f"set:{','.join(map(str, least['head']))}" if better else "none",
            why=why,
        )
        found.append(
            Step(
                title=f"A first result: sets of {size}" if better else "No index helps any more",
                code=_CODE.at(4),
                words="To have something to compare bounds with, one index after another is "
                f"added, always the one that costs least. {why}",
                pictures=(_bars(priced, f"Cost of the sets of {size}"),),
                question=question if len(choices) < 9 else None,
            )
        )
        best = min(best, float(least["cost"]))
    return found


def _opened(trace: Trace) -> list[Step]:
    """Return a step for every node of the tree that was opened."""
    tree = _TreeSoFar()
    found: list[Step] = []
    events = trace[_RUN].events_of("priced", "expanded", "cut off")
    price: dict[Splits, float] = {}
    for event in events:
        facts: Any = event.facts
        if event.kind == "priced":
            price[tuple(sorted(facts["head"]))] = float(facts["cost"])
    for event in events:
        facts = event.facts
        if event.kind == "cut off":
            tree.cut[tuple(facts["head"])] = float(facts["bound"])
        if event.kind != "expanded":
            continue
        if len(found) >= _MOST_OPENED:
            tree.opened(facts)
            continue
        before = tree.picture(price, now=tuple(facts["head"]))
        tree.opened(facts)
        found.append(_open(facts, tree, price, before))
    left = len(_facts(trace, "expanded")) - len(found)
    if left > 0:
        found.append(
            Step(
                title=f"{left} more nodes are opened",
                code=_CODE.at(5),
                words=f"The same is done with {left} more nodes of the tree, until none is open.",
                pictures=(_bars([_best(trace)], "The best set"),),
            )
        )
    return found


def _open(
    facts: Mapping[str, Any], tree: _TreeSoFar, price: Mapping[Splits, float], before: Tree
) -> Step:
    head, tail, kept = tuple(facts["head"]), tuple(facts["tail"]), tuple(facts["kept"])
    best = float(facts["best"])
    gone = [i for i in tail if i not in kept]
    words = f"Below {_said(head)}, sets may add {_said(tail)}. "
    if not tail:
        words = f"{_said(head)} has nothing left to add: it is a leaf. "
    if kept:
        bounds = listed(f"{facts['bounds'][i]:g} with {i}" for i in kept)
        words += f"What a branch costs at least is {bounds}, below the best, {best:g}. "
    if gone:
        words += (
            f"{_said(gone)} {'is' if len(gone) == 1 else 'are'} left out: each only parts rows "
            f"that are suppressed, or its bound is no less than {best:g}."
        )
    question = None
    if len(tail) > 1:
        question = number_question(
            f"The best so far costs {best:g}. How many of {_said(tail)} may {_said(head)} still "
            "be joined with?",
            len(kept),
            f"{_said(kept)} stay." if kept else "None: every branch is cut off.",
            among=len(tail),
        ).on(before)
    return Step(
        title=f"Open {_said(head)}",
        code=_CODE.at(5),
        words=words.strip(),
        pictures=(tree.picture(price, now=head),),
        question=question,
    )


class _TreeSoFar:
    """The part of the tree that was opened."""

    def __init__(self) -> None:
        self.below: dict[Splits, tuple[Splits, ...]] = {}
        self.left_out: dict[Splits, tuple[int, ...]] = {}
        self.cut: dict[Splits, float] = {}

    def opened(self, facts: Mapping[str, Any]) -> None:
        """Remember what is below a node."""
        head = tuple(facts["head"])
        kept: Sequence[int] = facts["kept"]
        order = sorted(kept, key=lambda i: (-facts["bounds"][i], i))
        self.below[head] = tuple((*head, i) for i in order)
        self.left_out[head] = tuple(i for i in facts["tail"] if i not in kept)

    def picture(self, price: Mapping[Splits, float], now: Splits) -> Tree:
        """Return it as a tree; what is left out of a tail is below its node."""
        best = min(price.values(), default=0.0)

        def branch(head: Splits) -> Branch:
            cost = price.get(tuple(sorted(head)))
            note = f"cost {cost:g}" if cost is not None and head in self.below else ""
            if head == now:
                note = f"cost {cost:g}" if cost is not None else ""
            if head in self.cut:
                note = f"bound {self.cut[head]:g}"
            out = self.left_out.get(head, ())
            if out and head in self.below:
                note = f"{note}, without {','.join(map(str, sorted(out)))}".strip(", ")
            return Branch(
                id=f"set:{','.join(map(str, sorted(head)))}",
                label=_said(head),
                state=self._state(head, now, cost == best),
                note=note,
                below=tuple(branch(child) for child in self.below.get(head, ())),
            )

        return Tree(title="The tree of sets, as far as it is opened", root=branch(()))

    def _state(self, head: Splits, now: Splits, best: bool) -> State:
        if head == now:
            return "now"
        if head in self.cut:
            return "pruned"
        if head in self.below:
            return "chosen" if best else "open"
        return "candidate"


def _best(trace: Trace) -> Mapping[str, Any]:
    return min(_facts(trace, "priced"), key=lambda p: (p["cost"], len(p["head"])))


def _published(trace: Trace) -> Step:
    run, best = trace[_RUN], _best(trace)
    account = run.result.account
    proven = (
        f"No branch is left that could cost less than {account.cost:g}, so it is proven to be the "
        "optimum."
        if account.proven
        else f"Time ran out; the optimum costs at least {account.bound:g}."
    )
    begins = [_value(trace, index) for index in sorted(best["head"])]
    words = f"The best set is {_said(best['head'])}"
    words += f": intervals begin at {listed(begins)}. " if begins else ". "
    words += f"{rows_said(int(best['removed']))} suppressed. {proven}"
    printed = ""
    if trace.as_printed("toth"):
        printed = (
            "Printed: Toth 2015 (2.1.6.1) lists k-Optimize among full-domain generalizations. "
            "Corrected: it cuts each column into intervals of any width, and suppresses rows."
        )
    return Step(
        title="The release",
        code=_CODE.at(6),
        words=words,
        pictures=(
            release_table(trace, _RUN, "What is published"),
            _bars([best], "The best set"),
        ),
        question=number_question(
            "How many rows does the best set suppress?",
            int(best["removed"]),
            f"They cost {trace.rows} each, and still less than wider intervals.",
            among=trace.rows - 1,
            mistakes=(0, len(best["head"])),
        ),
        together=run.together,
        seen=published(run),
        printed=printed,
    )
