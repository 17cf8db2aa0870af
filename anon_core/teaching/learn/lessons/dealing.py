"""Li's algorithms 1 and 2: rows are dealt by sensitive value, after the table has been halved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.teaching.learn.count_query import box_texts
from anon_core.teaching.learn.example import TOTH, Example
from anon_core.teaching.learn.lesson import (
    Choice,
    Dial,
    Exercise,
    Lesson,
    Pseudocode,
    Question,
    Source,
    Step,
)
from anon_core.teaching.learn.permuted_tables import published_table, shuffled_found
from anon_core.teaching.learn.pictures import Bar, Bars, Table
from anon_core.teaching.learn.readings import if_boxes
from anon_core.teaching.learn.text import listed, number_question, rows_said, table
from anon_core.teaching.learn.trace import Trace

_DEALT, _HALVED = "dealt", "halved"
_TITLES = {_DEALT: "Dealt from the whole table", _HALVED: "Halved first, then dealt"}


def _asked(partition: str) -> dict[str, Any]:
    return {
        "algorithm": {"name": "permutation", "partition": partition},
        "models": [{"name": "frequency-l-diversity", "l": 2}],
    }


_CODE = Pseudocode(
    lines=(
        "Order the rows by the sensitive column; make g = ⌊n / l⌋ groups.",
        "Deal the rows to the groups in turn.",
        "Or halve first: each row joins the one of two seeds whose box grows less.",
        "Keep a halving if both halves can be dealt, and halve on.",
        "Deal each piece as in 1 and 2.",
        "Shuffle every column within its group, and publish.",
    )
)


class DealingLesson(Lesson):
    """Sensitive values dealt like cards, and why similar rows are gathered first."""

    name = "dealing"
    number = 22
    title = "Permutation's groups: halve, then deal"
    summary = (
        "Permutation needs groups in which no sensitive value is too common. Dealing rows in the "
        "order of their values makes them at once; halving the table first makes them alike."
    )
    about = ("balanced", "bisection")
    source = Source(
        author="Li, He, Cao and Chen",
        year=2015,
        title="Permutation anonymization",
        where="section 3, algorithms 1 and 2",
    )
    dial = Dial(label="l", values=(2, 3, 4))
    examples = (
        Example(name="li", title="Li's nine patients", sample="li-microdata", person="Bob"),
        TOTH,
    )
    runs = {_DEALT: _asked("balanced"), _HALVED: _asked("bisection")}

    def refuses(self, trace: Trace) -> str:
        """Ask for a quasi-identifier to be alike in, and a column to deal by."""
        if not trace.sensitive:
            return "This lesson needs a sensitive column."
        return "" if len(trace.quasi) > 1 else "This lesson needs two quasi-identifiers."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: rows in order, dealt; the table halved, its pieces dealt; compared."""
        return [
            _ordered(trace),
            _dealt(trace, _DEALT),
            *_halvings(trace),
            _dealt(trace, _HALVED),
            _compared(trace),
            _published(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about the number of groups, and their size."""
        return (
            Exercise(
                question=number_question(
                    "100 rows are dealt with l = 8. How many groups are there?",
                    12,
                    "⌊100 / 8⌋ = 12; rows that are left over join the first groups.",
                    among=100,
                    least=1,
                    mistakes=(13, 8, 92, 25),
                )
            ),
            Exercise(
                question=number_question(
                    "With l = 4, what is the largest group?",
                    7,
                    "A group of 2 · 4 = 8 rows could be dealt into two: 2l − 1 is the most.",
                    among=16,
                    least=1,
                    mistakes=(4, 8, 5, 16),
                )
            ),
        )


def _l(trace: Trace) -> int:
    """Return the l that is asked for."""
    return int(trace[_DEALT].result.plan.as_mapping()["models"][0]["l"])


def _by_value(trace: Trace) -> list[int]:
    """Return the rows in the order of their sensitive value."""
    codes = trace.problem.leaf_codes(trace.sensitive[0]).tolist()
    return sorted(range(trace.rows), key=lambda row: (codes[row], row))


def groups_dealt(trace: Trace, name: str) -> tuple[int, ...]:
    """Return the group that every row was dealt to, as it was reported."""
    (event,) = trace[name].events_of("dealt")
    facts: Mapping[str, Any] = event.facts
    key, own = trace.problem.frequency.row_key.tolist(), trace[name].together
    left = set(range(trace.rows))
    found = [-1] * trace.rows
    # Rows of one key are alike in all columns; the one that is in the release's group is meant.
    keys, groups = np.asarray(facts["keys"]).tolist(), np.asarray(facts["groups"]).tolist()
    met: dict[int, int] = {}
    for wanted, group in zip(keys, groups, strict=True):
        fits = [row for row in sorted(left) if key[row] == wanted]
        row = next((r for r in fits if met.get(group) == own[r]), fits[0])
        met.setdefault(group, own[row])
        left.remove(row)
        found[row] = group
    return tuple(found)


def _ordered(trace: Trace) -> Step:
    column, least = trace.sensitive[0], _l(trace)
    known = trace.problem.leaf_codes(column) != trace.problem.hierarchies[column].missing_leaf
    rows = int(known.sum())
    groups = len(set(groups_dealt(trace, _DEALT)))
    often = Counter(trace.texts(column)).most_common(1)[0]
    why = f"⌊{rows} / {least}⌋ = {groups}."
    return Step(
        title="Rows in the order of their value",
        code=_CODE.at(1),
        words=f"No value of {column} may fill more than one in l = {least} of a group. "
        f"{often[0]} is the most common one, with {rows_said(often[1])} of {trace.rows}. Order "
        f"the rows by {column}, and make g = ⌊n / l⌋ groups: {why}",
        pictures=(table(trace, f"In the order of {column}", order=_by_value(trace)),),
        printed="Printed: algorithm 1 rejects a value of n/l rows, does not round g, and splits "
        "large groups again. Corrected: n/l rows are allowed, g is rounded down, and no group is "
        "large enough to be split."
        if trace.as_printed("li")
        else "",
    )


def _dealt(trace: Trace, name: str) -> Step:
    column, together = trace.sensitive[0], groups_dealt(trace, name)
    sizes = sorted(Counter(together).values())
    least, whole = _l(trace), name == _DEALT
    texts = trace.texts(column)
    pairs = Counter(zip(together, texts, strict=True))
    twice = sum(n > 1 for n in pairs.values())
    repeated = "no group shows a value twice" if not twice else f"{twice} values are there twice"
    begin = (
        "Deal the rows like cards, one to each group in turn. Equal values are next to each other, "
        "so they go to different groups"
        if whole
        else "Each piece is dealt by itself, in the order of its values"
    )
    why = f"Groups have {listed(map(str, sizes))} rows."
    return Step(
        title=_TITLES[name],
        code=_CODE.at(2 if whole else 5),
        words=f"{begin}: {repeated}. {why} "
        + (
            f"{listed(trace.quasi)} play no part."
            if whole
            else "A group takes its rows from one piece only, so they are more alike."
        ),
        pictures=(
            table(trace, "The groups", together=together, order=_in_groups(trace, together)),
        ),
        question=number_question(
            f"{'All rows are' if whole else 'Each piece is'} dealt with l = {least}. How many rows "
            "has the largest group?",
            sizes[-1],
            why,
            among=trace.rows,
            least=1,
            mistakes=(least, 2 * least, trace.rows, least + 1),
        ),
        together=together,
    )


def _in_groups(trace: Trace, together: Sequence[int]) -> list[int]:
    """Return the rows group by group, each in the order of its values."""
    place = {row: n for n, row in enumerate(_by_value(trace))}
    return sorted(range(trace.rows), key=lambda row: (together[row], place[row]))


def pieces_halved(trace: Trace) -> list[tuple[int, ...]]:
    """Return the piece of every row, after every halving that was accepted."""
    key = trace.problem.frequency.row_key.tolist()
    found: list[tuple[int, ...]] = []
    many = 1
    last = groups_dealt(trace, _HALVED)
    for event in trace[_HALVED].events_of("halved"):
        pieces: Any = event.facts["pieces"]
        if len(pieces) == many:
            continue
        many = len(pieces)
        counted = [Counter(np.asarray(piece).tolist()) for piece in pieces]
        own = [-1] * trace.rows
        of_group: dict[int, int] = {}
        # Rows of one group are in one piece, whichever of the rows that are alike they are.
        for row in sorted(range(trace.rows), key=lambda r: (last[r], r)):
            fits = [n for n, left in enumerate(counted) if left[key[row]] > 0]
            piece = of_group.get(last[row], fits[0])
            piece = piece if piece in fits else fits[0]
            of_group.setdefault(last[row], piece)
            counted[piece][key[row]] -= 1
            own[row] = piece
        found.append(tuple(own))
    return found


def _halvings(trace: Trace) -> list[Step]:
    found: list[Step] = []
    least, column = _l(trace), trace.sensitive[0]
    before: tuple[int, ...] = (0,) * trace.rows
    for pieces in pieces_halved(trace):
        sizes = [pieces.count(n) for n in sorted(set(pieces))]
        was = len(set(before))
        found.append(
            Step(
                title=f"Halved: {len(sizes)} pieces",
                code=_CODE.at(3, 4),
                words="Two made-up rows are the seeds, with the highest and the lowest of each of "
                f"{listed(trace.quasi)}. Every row joins the half whose box grows less. "
                f"Both halves can be dealt with l = {least}: no {column} fills more than one in "
                f"{least} of either. Pieces have {listed(map(str, sizes))} rows now.",
                pictures=(table(trace, "The pieces", together=pieces),),
                question=number_question(
                    f"Pieces are halved as long as both halves can be dealt with l = {least}. How "
                    "many rows has the smallest piece after the next halving?",
                    min(sizes),
                    f"Pieces have {listed(map(str, sizes))} rows; one of fewer than {least} cannot "
                    "be dealt.",
                    among=trace.rows,
                    least=1,
                    mistakes=(least, 1, trace.rows // (was + 1), 2 * least),
                ),
                together=pieces,
            )
        )
        before = pieces
    if not found:
        found.append(
            Step(
                title="Halving: refused",
                code=_CODE.at(3),
                words="Two made-up rows are the seeds, with the highest and the lowest of each of "
                f"{listed(trace.quasi)}, and every row joins the half whose box grows "
                f"less. No try makes two halves that can be dealt with l = {least}: the table "
                f"has {trace.rows} rows, and halves need {least} each, of different {column}. It "
                "stays whole.",
                pictures=(table(trace, "The table as it is held"),),
            )
        )
    return found


def _lost(trace: Trace, name: str) -> tuple[float, Table]:
    """Return the share of NCP that groups would lose as boxes, and these boxes."""
    groups = groups_dealt(trace, name)
    boxes = if_boxes(trace, groups).release
    assert boxes is not None
    metric = cast(Metric, find("metric", "ncp")())
    shown = table(
        trace,
        f"{_TITLES[name]}: what the groups span",
        together=groups,
        cells=box_texts(trace, groups, boxes),
        identifier=False,
    )
    return float(metric.measure(trace.problem, boxes, Context()).value), shown


def _compared(trace: Trace) -> Step:
    lost = {name: _lost(trace, name) for name in _TITLES}
    bars = tuple(
        Bar(id=f"run:{name}", label=_TITLES[name], value=value, text=f"{value:.3f}")
        for name, (value, _) in lost.items()
    )
    one, two = (round(lost[name][0], 3) for name in _TITLES)
    right = "same" if one == two else _HALVED if two < one else _DEALT
    why = f"The groups span {one:.3f} of the columns if dealt at once, {two:.3f} if halved first."
    return Step(
        title="What halving is for",
        words=f"Permutation publishes exact values, and loses their links. {why} The narrower the "
        "groups, the less it matters which of their values belong together. Finding the groups "
        "that span least is NP-hard; halving takes n log n steps on average, dealing n.",
        pictures=(
            Bars(title="GCP, if groups were boxes", bars=bars, unit="share of the columns"),
            lost[_HALVED][1],
        ),
        question=Question(
            asks="Which groups span less?",
            choices=(
                *(Choice(id=f"run:{name}", label=title) for name, title in _TITLES.items()),
                Choice(id="run:same", label="Both the same"),
            ),
            answer=f"run:{right}",
            why=why,
            pictures=(lost[_DEALT][1],),
        ),
        together=groups_dealt(trace, _HALVED),
    )


def _published(trace: Trace) -> Step:
    run = trace[_HALVED]
    return Step(
        title="What the workbench publishes",
        code=_CODE.at(6),
        words="Every column of a group is shuffled by itself, and the sensitive one goes into a "
        "table of its own. Shuffle again: groups change, and no value ever fills more than 1 in l "
        "of one.",
        pictures=tuple(
            published_table(trace, _HALVED, number, f"What is published: {title}")
            for number, title in enumerate(run.result.tables)
        ),
        together=run.together,
        found=shuffled_found(trace, _HALVED),
    )
