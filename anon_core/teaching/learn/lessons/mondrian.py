"""Mondrian, strict and relaxed: people as points, cuts in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
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
from anon_core.teaching.learn.pictures import Bar, Bars, Cut, Tone
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
    rows_said,
    table,
)
from anon_core.teaching.learn.trace import Run, Trace, rows_of_tuples

_K2 = [{"name": "k-anonymity", "k": 2}]
_K3 = [{"name": "k-anonymity", "k": 3}]


_CODE = Pseudocode(
    lines=(
        "Put all rows in one part.",
        "Take a part, and order its columns by width.",
        "Cut it at the median of the first column that leaves k rows on both sides.",
        "No column does: the part is a class.",
        "Publish the ranges of every class.",
    )
)


class MondrianLesson(Lesson):
    """Cuts in the plane, one person's box followed."""

    name = "mondrian"
    number = 6
    title = "Mondrian, strict and relaxed"
    summary = (
        "The plane of quasi-identifiers is cut as long as both sides keep k people. Each part "
        "publishes its own range."
    )
    about = ("mondrian",)
    source = Source(
        author="LeFevre, DeWitt and Ramakrishnan",
        year=2006,
        title="Mondrian multidimensional k-anonymity",
        doi="10.1109/ICDE.2006.101",
    )
    dial = DIAL_K
    examples = (
        TOTH,
        Example(
            name="samarati",
            title="Samarati's nine patients, k = 3",
            sample="samarati",
            quasi=("Marital", "ZIP"),
            runs={
                "strict": {"models": _K3},
                "relaxed": {"models": _K3},
            },
        ),
    )
    runs = {
        "strict": {"algorithm": {"name": "mondrian"}, "models": _K2},
        "relaxed": {"algorithm": {"name": "mondrian", "cuts": "relaxed"}, "models": _K2},
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the points, the strict cuts, the relaxed ones, both compared."""
        whole = (0,) * trace.rows
        least = least_of(trace["strict"])
        found = [
            Step(
                title="People as points",
                words=f"Every row is a point: {trace.quasi[0]} goes across, "
                f"{trace.quasi[min(1, len(trace.quasi) - 1)]} up. Someone who knows a person's "
                "values "
                "finds that person's point. At first all rows form one part, which is "
                f"cut while every piece keeps at least k = {least} rows.",
                pictures=(
                    plane(trace, "All rows, one part", whole),
                    table(trace, "The table as it is held"),
                ),
                together=whole,
                seen=if_boxes(trace, whole),
                code=_CODE.at(1),
            )
        ]
        cuts, parts = _cuts(trace, "strict")
        found += [*cuts, _published(trace, "strict", parts)]
        found.append(
            Step(
                title="Once more, with relaxed cuts",
                words="A strict cut keeps equal values on one side, so that sides can differ in "
                "size. A relaxed cut deals the rows at the median to both sides: halves are "
                "equally large, and the ranges of parts may overlap.",
                pictures=(plane(trace, "All rows, one part", whole),),
                together=whole,
                seen=if_boxes(trace, whole),
                code=_CODE.at(1),
            )
        )
        cuts, parts = _cuts(trace, "relaxed")
        return [*found, *cuts, _published(trace, "relaxed", parts)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions whose answers the two runs give."""
        least = least_of(trace["strict"])
        parts = {name: len(set(run.together)) for name, run in trace.runs.items()}
        sizes = {
            name: [run.together.count(group) for group in set(run.together)]
            for name, run in trace.runs.items()
        }
        return (
            Exercise(
                question=number_question(
                    "How many rows must a part have before Mondrian tries to cut it?",
                    2 * least,
                    f"Both sides need k = {least} rows, so a part with fewer than 2k stays whole.",
                    among=trace.rows,
                    least=1,
                    mistakes=(least, least + 1, 2 * least + 1),
                )
            ),
            Exercise(
                question=number_question(
                    "Into how many classes do the strict cuts divide this table?",
                    parts["strict"],
                    f"The strict release has {parts['strict']} classes, the relaxed one "
                    f"{parts['relaxed']}.",
                    among=trace.rows // least,
                    least=1,
                    mistakes=(
                        parts["relaxed"],
                        trace.rows // least,
                        len(trace["strict"].events_of("cut")),
                    ),
                )
            ),
            Exercise(
                question=number_question(
                    "How large is the largest class of the relaxed release?",
                    max(sizes["relaxed"]),
                    f"Its classes have {listed(map(str, sorted(sizes['relaxed'])))} rows; the "
                    f"strict ones {listed(map(str, sorted(sizes['strict'])))}.",
                    among=trace.rows,
                    least=least,
                    mistakes=(max(sizes["strict"]), min(sizes["relaxed"]), 2 * least),
                )
            ),
        )


def _cuts(trace: Trace, name: str) -> tuple[list[Step], tuple[int, ...]]:
    """Return two steps for every part that was looked at, and the part of every row at last."""
    run, quasi = trace[name], trace.quasi
    behind = rows_of_tuples(run)
    together = [0] * trace.rows
    found: list[Step] = []
    cuts = iter(run.events_of("cut"))
    for event in run.events_of("part"):
        facts: Any = event.facts
        mine = sorted(r for t in np.asarray(facts["tuples"]).tolist() for r in behind[t].tolist())
        tones: dict[int, Tone] = {r: "quiet" for r in range(trace.rows) if r not in mine}
        tries: list[dict[str, Any]] = facts["tries"]
        done = next((t for t in tries if t["cut"]), None)
        found.append(_widest(trace, together, mine, facts["width"], tries, tones))
        before = plane(trace, f"The part of {rows_said(len(mine))}", together, tones=tones)
        if done is None:
            found.append(_stays(trace, name, together, mine, tries, tones))
            continue
        pieces: Any = next(cuts).facts["pieces"]
        sides = [
            sorted(r for t in np.asarray(piece).tolist() for r in behind[t].tolist())
            for piece in pieces
        ]
        for side in sides[1:]:
            number = max(together) + 1
            for row in side:
                together[row] = number
        column = quasi[done["attribute"]]
        where = _where(trace, column, done, sides)
        words = (
            f"{_refused(trace, name, tries, len(mine))}{where} The pieces have "
            f"{listed([str(len(side)) for side in sides])} rows, each at least k = {least_of(run)}."
        )
        small = [len(side) for side in sides if len(side) < 2 * least_of(run)]
        if small:
            words += (
                f" A piece of {listed(map(str, sorted(set(small))), 'or')} cannot be cut again: "
                f"two sides need {2 * least_of(run)} rows."
            )
        found.append(
            Step(
                title=f"Cut along {column}",
                words=words,
                pictures=(
                    plane(
                        trace,
                        f"Cut along {column}",
                        tuple(together),
                        cuts=_lines(trace, column, mine, sides),
                    ),
                    class_bars(trace, together, least_of(run), title="Rows of every part"),
                ),
                question=_which_side(trace, mine, sides, before),
                together=tuple(together),
                seen=if_boxes(trace, together),
                printed=_printed_cut(trace, name, done, sides),
                code=_CODE.at(3, 4) if small else _CODE.at(3),
            )
        )
    return found, tuple(together)


def _widest(
    trace: Trace,
    together: Sequence[int],
    mine: Sequence[int],
    width: Sequence[float],
    tries: Sequence[dict[str, Any]],
    tones: dict[int, Tone],
) -> Step:
    """Return the step that says which column is widest in a part, and which one is cut."""
    quasi = trace.quasi
    done = next((t for t in tries if t["cut"]), None)
    bars = tuple(
        Bar(
            id=f"column:{name}",
            label=name,
            value=max(wide, 0.0),
            text=f"{wide:.2f}" if wide >= 0 else "one value",
            tone="now" if done and quasi[done["attribute"]] == name else "plain",
        )
        for name, wide in zip(quasi, width, strict=True)
    )
    first = quasi[tries[0]["attribute"]] if tries else ""
    ties = sum(abs(w - max(width)) < 1e-9 for w in width) > 1
    why = f"{first} spans the largest share of its range in this part"
    why += ", and comes first among equals." if ties else "."
    if done and tries[0] is not done:
        why = (
            f"{first} is wider, but no cut along it leaves enough rows on both sides; "
            f"{quasi[done['attribute']]} comes next."
        )
    elif not done:
        why = "No cut along any column leaves enough rows on both sides."
    answer = f"column:{quasi[done['attribute']]}" if done else "none"
    choices = (
        *(Choice(id=f"column:{name}", label=name) for name in quasi),
        Choice(id="none", label="None: it stays whole"),
    )
    return Step(
        title=f"Which column is widest in the part of {rows_said(len(mine))}?",
        words=f"A column's width is the share of its whole range that the part spans. {why}",
        pictures=(
            plane(trace, f"The part of {rows_said(len(mine))}", together, tones=tones),
            Bars(
                title="Width of the part, by column",
                bars=bars,
                unit="share of the column's range",
            ),
        ),
        question=Question(
            asks=f"Which column is the part of {rows_said(len(mine))} cut along?",
            choices=choices,
            answer=answer,
            why=why,
            pictures=(plane(trace, "Click an axis", together, tones=tones),),
        ),
        together=tuple(together),
        seen=if_boxes(trace, together),
        code=_CODE.at(2),
    )


def _stays(
    trace: Trace,
    name: str,
    together: Sequence[int],
    mine: Sequence[int],
    tries: Sequence[dict[str, Any]],
    tones: dict[int, Tone],
) -> Step:
    return Step(
        title=f"The part of {rows_said(len(mine))} stays whole",
        words=f"{_refused(trace, name, tries, len(mine))}So this part is finished.",
        pictures=(plane(trace, "A finished part", together, tones=tones),),
        together=tuple(together),
        seen=if_boxes(trace, together),
        code=_CODE.at(4),
    )


def _refused(trace: Trace, name: str, tries: Sequence[dict[str, Any]], rows: int) -> str:
    """Return why the columns that were tried first are not cut."""
    least = least_of(trace[name])
    said = ""
    for event in tries:
        if event["cut"]:
            break
        column = trace.quasi[event["attribute"]]
        if "median" not in event:
            said += f"Of the groups of {column}, one would keep fewer than {least} rows. "
            continue
        leaf = trace.problem.hierarchies[column].leaves[event["median"]]
        upto = event["below"] + event["at"]
        said += (
            f"{column} is not cut: at its median {leaf}, sides of {upto} and {rows - upto} rows, "
            f"or of {event['below']} and {rows - event['below']}, and one is below k = {least}. "
        )
    return said


def _where(trace: Trace, column: str, done: dict[str, Any], sides: Sequence[Sequence[int]]) -> str:
    """Return where a cut is, in words."""
    if "median" not in done:
        return f"{column} is cut into the groups of its hierarchy."
    leaves, codes = trace.problem.hierarchies[column].leaves, codes_of(trace.problem, column)
    median = leaves[done["median"]]
    left = max(codes[r] for r in sides[0])
    right = min(codes[r] for r in sides[1])
    if left == right:
        return (
            f"The median of {column} is {median}. The rows with {median} are dealt to both sides, "
            "so that these are equally large."
        )
    if left < done["median"]:
        return f"The median of {column} is {median}; values below it go to one side."
    return f"The median of {column} is {median}; values up to it go to one side."


def _lines(
    trace: Trace, column: str, mine: Sequence[int], sides: Sequence[Sequence[int]]
) -> tuple[Cut, ...]:
    """Return the line of a cut, where its column is one of the plane's."""
    across, up = trace.quasi[0], trace.quasi[min(1, len(trace.quasi) - 1)]
    if column not in (across, up):
        return ()
    own = places_of(trace.problem, column)
    other = places_of(trace.problem, up if column == across else across)
    stretch = (min(other[r] for r in mine) - 0.5, max(other[r] for r in mine) + 0.5)
    return tuple(
        Cut(
            along="x" if column == across else "y",
            at=(max(own[r] for r in low) + min(own[r] for r in high)) / 2,
            stretch=stretch,
        )
        for low, high in pairwise(sides)
    )


def _which_side(
    trace: Trace, mine: Sequence[int], sides: Sequence[Sequence[int]], before: Any
) -> Question | None:
    """Ask for the size of the first piece."""
    right = len(sides[0])
    others = (len(mine) - right, len(mine) // 2, len(mine) // 2 + 1)
    asked = number_question(
        f"How many of the {len(mine)} rows go to the lower side?",
        right,
        f"The lower side holds {listed([trace.names[r] for r in sides[0]])}.",
        among=len(mine) - 1,
        least=1,
        mistakes=others,
    )
    return Question(
        asks=asked.asks,
        choices=asked.choices,
        answer=asked.answer,
        why=asked.why,
        pictures=(before,),
    )


def _printed_cut(
    trace: Trace, name: str, done: dict[str, Any], sides: Sequence[Sequence[int]]
) -> str:
    """Return what Toth's thesis prints of such a cut, where this one needs the correction."""
    if not trace.as_printed("toth") or name != "strict" or "median" not in done:
        return ""
    column = trace.quasi[done["attribute"]]
    codes = codes_of(trace.problem, column)
    if max(codes[r] for r in sides[0]) >= done["median"]:
        return ""
    return (
        "Printed: algorithm 1 of Toth 2015 cuts at ≤ median only, and then does not reach its own "
        "figure 2.4. Corrected: where that side is too large, the cut is at < median."
    )


def _published(trace: Trace, name: str, parts: Sequence[int]) -> Step:
    """Return the step that shows the release; its classes keep the colours of the parts."""
    run: Run = trace[name]
    if len(set(parts)) != len(set(run.together)):  # parts that publish the same are one class
        parts = run.together
    sizes = sorted(run.together.count(group) for group in set(run.together))
    words = (
        f"No part can be cut any further. Each publishes its own range in every column: "
        f"{len(sizes)} classes of {listed(map(str, sizes))} rows. Someone who knows a person's "
        f"quasi-identifiers is right at most 1 time in {sizes[0]}."
    )
    if name == "relaxed":
        strict = len(set(trace["strict"].together))
        words += f" The strict cuts gave {strict} classes, whose ranges never overlap."
    printed = ""
    if trace.as_printed("toth") and name == "strict":
        printed = (
            "Printed: in figure 2.4 of Toth 2015, the salaries of two classes are exchanged, and "
            "Bob has 12k. Corrected: his salary is 42k as in the private table, and 45k and 9k "
            "belong to Zip 5372 and 5373."
        )
    return Step(
        title=f"The {name} release",
        words=words,
        code=_CODE.at(5),
        pictures=(
            release_table(trace, name, f"What the {name} run publishes", together=parts),
            plane(trace, "Every class as a box", parts),
            class_bars(trace, parts, least_of(run)),
        ),
        question=number_question(
            f"How many classes does the {name} release have?",
            len(sizes),
            f"Every part that is left is a class: {len(sizes)}.",
            among=trace.rows // least_of(run),
            least=1,
            mistakes=(trace.rows // least_of(run), len(run.events_of("cut"))),
        ),
        together=tuple(parts),
        seen=published(run),
        printed=printed,
    )
