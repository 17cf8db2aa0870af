"""MPALM and CombinedAlg: table and public table are cut together, and presence stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.context import Event
from anon_core.data.table import Dataset
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import (
    Bar,
    Bars,
    Cell,
    Head,
    Plane,
    Point,
    Row,
    Scale,
    Table,
    group_tone,
)
from anon_core.teaching.learn.public_people import (
    made_up,
    own_rows,
    people_table,
    presence,
    public_people,
    public_table,
    published_numbers,
)
from anon_core.teaching.learn.published_tables import published_table
from anon_core.teaching.learn.text import (
    listed,
    number_question,
    release_table,
    rows_said,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Trace

_CUT, _COMBINED = "mpalm", "combined"


class PublicRegionsLesson(Lesson):
    """Public and private people in regions, and what share of each is in the table."""

    name = "mpalm"
    number = 13
    title = "MPALM and CombinedAlg"
    summary = (
        "Being in the table is the secret. Table and public table are cut together for as long as "
        "in every region some of the public people may be in the table, and some may not."
    )
    source = Source(
        author="Toth",
        year=2015,
        title="Data anonymization",
        where="algorithm 2 and section 5.2, after Nergiz, Atzori and Clifton 2007",
    )
    examples = (
        Example(name="toth", title="Toth's eight people", sample="toth-private", person="Sara"),
    )
    runs = {
        _CUT: {"algorithm": {"name": "mpalm"}, "models": [{"name": "delta-presence"}]},
        _COMBINED: {"algorithm": {"name": "combined"}, "models": [{"name": "delta-presence"}]},
    }

    def population(self, material: Material) -> Dataset:
        """Return the public table; one is made up where none was given."""
        return public_table(material)

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: δ may be half-way from that of everyone to certainty, at most."""
        share = material.dataset.rows / public_table(material).rows
        most = round((1 + share) / 2, 2)
        return {
            **self.runs[run],
            "models": [{"name": "delta-presence", "delta_min": 0.0, "delta_max": most}],
        }

    def refuses(self, trace: Trace) -> str:
        """Ask for two quasi-identifiers, which span the plane."""
        return "" if len(trace.quasi) > 1 else "This lesson needs two quasi-identifiers."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: everyone in the plane, every part looked at, both releases."""
        events = trace[_CUT].told("region")
        found = [_everyone(trace)]
        found += [_looked_at(trace, event, place) for place, event in enumerate(events)]
        found += [_regions(trace), _combined(trace), _released(trace)]
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about regions."""
        return (Exercise(question=_in_region(trace)),)


def _most(trace: Trace) -> float:
    """Return the highest chance of presence that is promised."""
    (model,) = trace[_CUT].result.plan.models
    return float(getattr(model, "delta_max", 1.0))


def _scale(trace: Trace, column: int) -> tuple[Scale, dict[str, int]]:
    """Return a quasi-identifier as an axis over the public people's values."""
    _, public = public_people(trace)
    texts = {row[column] for row in public} | set(trace.texts(trace.quasi[column]))
    try:
        order = sorted(texts, key=float)
    except ValueError:
        order = sorted(texts)
    ticks = tuple((float(place), text) for place, text in enumerate(order))
    axis = Scale(column=trace.quasi[column], low=-0.5, high=len(order) - 0.5, ticks=ticks)
    return axis, {text: place for place, text in enumerate(order)}


def _plane(trace: Trace, title: str, groups: Sequence[int]) -> Plane:
    """Return the public people over two columns; those who are in the table by their group.

    Whoever only the public table holds is quiet.
    """
    across, x = _scale(trace, 0)
    up, y = _scale(trace, 1)
    names, public = public_people(trace)
    rows_of = own_rows(trace)
    points: list[Point] = []
    for place, (name, row) in enumerate(zip(names, public, strict=True)):
        own = rows_of.get(name)
        points.append(
            Point(
                id=f"public:{place}",
                x=x[row[0]],
                y=y[row[1]],
                label=name[:1] if own is None else str(own + 1),
                tone="quiet" if own is None else group_tone(groups[own]),
                people=() if own is None else (own,),
            )
        )
    return Plane(
        title=title,
        across=across,
        up=up,
        points=tuple(points),
        note="Quiet: people of the public table who are not in the table.",
    )


def _everyone(trace: Trace) -> Step:
    names, _ = public_people(trace)
    share = trace.rows / len(names)
    return Step(
        title="Public and private people",
        words=f"{trace.rows} of {len(names)} public people are in the table. An attacker who knows "
        f"nothing else is right about anyone with a chance of {share:.3g}. In this release, no "
        f"region raises it above {_most(trace):g}.{made_up(trace)}",
        pictures=(
            _plane(trace, "Everyone, by two columns", [0] * trace.rows),
            table(trace, "The table as it is held"),
            people_table(trace, "The public table", (), [()] * len(names)),
        ),
    )


def _rows_of_runs(trace: Trace, runs: Sequence[int]) -> list[int]:
    frequency = trace[_CUT].result.problem.frequency
    of_row = frequency.run[frequency.row_key].tolist()
    wanted = set(runs)
    return [row for row, run in enumerate(of_row) if run in wanted]


def _sides_so_far(trace: Trace, until: int) -> list[int]:
    """Return the part of every row after some parts were looked at."""
    of_row = [0] * trace.rows
    number = 0
    for event in trace[_CUT].told("region")[: until + 1]:
        sides: Any = event.facts["sides"]
        for side in sides[1:]:
            number += 1
            for row in _rows_of_runs(trace, side):
                of_row[row] = number
    return of_row


def _looked_at(trace: Trace, event: Event, place: int) -> Step:
    runs: Any = event.facts["runs"]
    sides: Any = event.facts["sides"]
    people: Any = event.facts["people"]
    mine = _rows_of_runs(trace, runs)
    share = len(mine) / people
    if sides:
        parts = [listed(str(row + 1) for row in _rows_of_runs(trace, side)) for side in sides]
        words = (
            f"Rows {listed(str(row + 1) for row in mine)} share a region with {people} public "
            f"people: δ = {len(mine)}/{people} = {share:.3g}. It is cut into rows "
            f"{' | rows '.join(parts)}, since every side keeps the promise."
        )
        title = f"Cut {place + 1}: the sides keep the promise"
    else:
        words = (
            f"Rows {listed(str(row + 1) for row in mine)} share a region with {people} public "
            f"people: δ = {len(mine)}/{people} = {share:.3g}. No cut of a column leaves sides that "
            "all keep the promise, so the region stays."
        )
        title = f"Region {listed(str(row + 1) for row in mine)} stays"
    together = _sides_so_far(trace, place)
    before = _sides_so_far(trace, place - 1) if place else [0] * trace.rows
    question = yes_or_no(
        f"Rows {listed(str(row + 1) for row in mine)}, {people} public people: is this region cut?",
        bool(sides),
        words.rsplit(". ", 1)[-1],
    )
    return Step(
        title=title,
        words=words,
        pictures=(_plane(trace, "Regions so far", together),),
        question=question.on(_plane(trace, "Regions so far", before)),
        together=tuple(together),
    )


def _in_region(trace: Trace) -> Question:
    found = presence(trace, _CUT)
    number = published_numbers(trace, _CUT)[trace[_CUT].together[trace.person]]
    people = sum(number in fits for fits in found.fits)
    return number_question(
        f"How many public people are in the region of {trace.names[trace.person]}?",
        people,
        "All whose values lie in what the region publishes.",
    )


def _regions(trace: Trace) -> Step:
    found, run = presence(trace, _CUT), trace[_CUT]
    private = Counter(run.together)
    bars: list[Bar] = []
    for group in sorted(private):
        people = sum(published_numbers(trace, _CUT)[group] in fits for fits in found.fits)
        mine = tuple(row for row, own in enumerate(run.together) if own == group)
        bars.append(
            Bar(
                id=f"part:{group}",
                label=f"Rows {listed(str(row + 1) for row in mine)}",
                value=len(mine) / people,
                text=f"{len(mine)} of {people} public people: {len(mine) / people:.3g}",
                tone=group_tone(group),
                people=mine,
            )
        )
    return Step(
        title="Presence in every region",
        words="A region publishes one box for its rows, and all public people inside look alike: "
        f"each is in the table with its δ. None is above {_most(trace):g}, so no one is certain.",
        pictures=(
            Bars(
                title="Chance of being in the table, by region",
                bars=tuple(bars),
                unit="chance",
                limit=(_most(trace), f"δ max = {_most(trace):g}"),
            ),
            release_table(trace, _CUT, "What MPALM publishes"),
        ),
        question=_in_region(trace).on(_plane(trace, "Regions", run.together)),
        together=run.together,
    )


def _combined(trace: Trace) -> Step:
    names, _ = public_people(trace)
    one, two = presence(trace, _CUT), presence(trace, _COMBINED)
    cells = [
        (Cell(text=f"{first:.3g}"), Cell(text=f"{second:.3g}"))
        for first, second in zip(one.joint, two.joint, strict=True)
    ]
    sure = sum(delta >= 1 for delta in two.joint)
    verb = "stands" if sure == 1 else "stand"
    why = f"{sure} {verb} in every choice of people that yields the release."
    return Step(
        title="CombinedAlg: permuted within regions",
        words="CombinedAlg forms groups, shuffles every column within them, and makes the cells of "
        "a group coarser only as far as presence requires: it decides with the attack itself. "
        f"Within a group rows cannot be distinguished. {why}",
        pictures=(
            people_table(
                trace,
                "Chance of being in the table, by either release",
                ("MPALM", "CombinedAlg"),
                cells,
            ),
        ),
        question=number_question(
            f"Of how many of the {len(names)} public people is presence certain after CombinedAlg?",
            sure,
            why,
        ).on(*_published(trace)),
        together=trace[_COMBINED].together,
    )


def _published(trace: Trace) -> tuple[Table, ...]:
    tables = trace[_COMBINED].result.tables
    return tuple(
        published_table(trace, _COMBINED, number, f"What CombinedAlg publishes: {title}")
        for number, title in enumerate(tables)
    )


def _released(trace: Trace) -> Step:
    counted = [
        (name, len(set(trace[run].together) - {-1}))
        for run, name in ((_CUT, "MPALM"), (_COMBINED, "CombinedAlg"))
    ]
    rows = tuple(
        Row(id=f"run:{name}", label=name, cells=(Cell(text=str(many)),)) for name, many in counted
    )
    return Step(
        title="Two releases that keep presence open",
        words=f"Both publish {rows_said(trace.rows)}, and no one's chance to be in the table is "
        f"above {_most(trace):g}.",
        pictures=(
            Table(title="Groups", columns=(Head(name="groups"),), rows=rows, corner="by"),
            release_table(trace, _CUT, "What MPALM publishes"),
            *_published(trace),
        ),
        together=trace[_COMBINED].together,
    )
