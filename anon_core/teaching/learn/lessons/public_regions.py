"""MPALM and CombinedAlg: table and public table are cut together, and presence stays open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from anon_core.base.context import Event
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.partition.public_partition import Boxes, Partition
from anon_core.release.grouping import group_runs
from anon_core.release.release import one_block
from anon_core.teaching.learn.example import Example, Material
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
from anon_core.teaching.learn.permuted_tables import published_table
from anon_core.teaching.learn.pictures import (
    Bar,
    Bars,
    Cell,
    Head,
    Lattice,
    Node,
    Plane,
    Point,
    Row,
    Scale,
    State,
    Table,
    group_tone,
)
from anon_core.teaching.learn.public_people import (
    Presence,
    chance_said,
    made_up,
    own_rows,
    people_table,
    people_who_fit,
    presence,
    presence_found,
    presence_if,
    public_people,
    public_table,
    published_numbers,
)
from anon_core.teaching.learn.readings import Seen, as_read
from anon_core.teaching.learn.text import (
    listed,
    node_label,
    number_question,
    release_table,
    rows_listed,
    rows_said,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Trace

_CUT, _COMBINED = "mpalm", "combined"
#: Nodes of a group that are reported one by one.
_MOST_NODES = 8


def _asked(low: float, high: float, k: int, cuts: str) -> Mapping[str, Any]:
    """Return both runs at the δ of a source, as its figures have them."""
    delta = {"name": "delta-presence", "delta_min": low, "delta_max": high}
    by_mondrian = {"name": "combined", "partition": "mondrian"}
    return {
        _CUT: {"algorithm": {"name": "mpalm", "cuts": cuts}, "models": [delta]},
        _COMBINED: {"algorithm": by_mondrian, "models": [delta, {"name": "bucket-size", "k": k}]},
    }


def _square() -> Material:
    import pandas as pd

    everyone = {"Who": list("ABCD"), "col1": list("0011"), "col2": list("0101")}
    kinds = dict.fromkeys(everyone, "text")
    frame = pd.DataFrame(everyone, dtype=object)
    return Material(
        dataset=Dataset.from_frame(frame.iloc[1:3].reset_index(drop=True)),
        roles=Roles(identifier=("Who",), quasi=("col1", "col2")),
        types=kinds,
        population=Dataset.from_frame(frame),
    )


_MPALM = Pseudocode(
    lines=(
        "Put everyone in one region.",
        "Cut a region at the median of a column.",
        "δ of a side: private people by public people.",
        "Both sides keep the bounds: cut.",
        "No cut keeps them: the region stays.",
        "Publish the box of every region.",
    )
)


_COMBINED_CODE = Pseudocode(
    lines=(
        "Put the rows in groups.",
        "Take the lowest node that was not tried.",
        "GetDelta: count the subsets of public people that yield the columns.",
        "Everyone keeps the bounds: shuffle each column, and publish.",
        "Someone does not: try the next node.",
    )
)


class PublicRegionsLesson(Lesson):
    """Public and private people in regions, and what share of each is in the table."""

    name = "mpalm"
    number = 13
    title = "MPALM and CombinedAlg"
    summary = (
        "Here the secret is who is in the table. Table and public table are cut together as long "
        "as, in every region, some of the public people may be in the table and some may not."
    )
    about = ("mpalm", "combined", "delta-presence")
    source = Source(
        author="Toth",
        year=2015,
        title="Data anonymization",
        where="figures 2.10 to 2.14 and 5.1 to 5.8, after Nergiz, Atzori and Clifton 2007",
    )
    dial = Dial(label="δ", values=(0.5, 0.6, 0.7, 0.8, 0.9, 0.95), sets=("delta_max",))
    examples = (
        Example(
            name="toth",
            title="Toth's eight people, δ from 0.1 to 0.9",
            sample="toth-private",
            person="Sara",
            runs=_asked(0.1, 0.9, 4, "hierarchy"),
        ),
        Example(
            name="square",
            title="Toth's two of four people, δ = 0.5",
            made=_square,
            runs=_asked(0.5, 0.5, 2, "hierarchy"),
        ),
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
        """Return the steps: everyone in the plane, every part looked at, nodes, both releases."""
        events = trace[_CUT].events_of("region")
        found = [_everyone(trace)]
        found += [_looked_at(trace, event, place) for place, event in enumerate(events)]
        found += [_regions(trace), *_walk(trace), _combined(trace), _released(trace)]
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about regions."""
        return (Exercise(question=_in_region(trace)),)


def _bounds(trace: Trace) -> tuple[float, float]:
    """Return the lowest and highest chance of presence that are required."""
    model = next(m for m in trace[_CUT].result.plan.models if m.scope.public)
    low, high = model.presence_bounds()
    return float(low), float(high)


def _allowed(trace: Trace) -> str:
    low, high = _bounds(trace)
    return f"δ = {high:g}" if low == high else f"δ from {low:g} to {high:g}"


def _delta(value: float) -> str:
    return f"{value:.3g}"


# ---- the plane ---------------------------------------------------------------------------------


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
    """Return the public people over two columns; those who are in the table by their group."""
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
        code=_MPALM.at(1),
        words=f"{trace.rows} of {len(names)} public people are in the table: an attacker who knows "
        f"nothing else is right about anyone with a chance of δ = {trace.rows}/{len(names)} = "
        f"{_delta(share)}. The release may leave everyone {_allowed(trace)}.{made_up(trace)}",
        pictures=(
            _plane(trace, "Everyone, by two columns", [0] * trace.rows),
            table(trace, "The table as it is held"),
            people_table(trace, "The public table", (), [()] * len(names)),
        ),
    )


# ---- MPALM -------------------------------------------------------------------------------------


def _rows_of_runs(trace: Trace, name: str, runs: Sequence[int]) -> list[int]:
    frequency = trace[name].result.problem.frequency
    of_row = frequency.run[frequency.row_key].tolist()
    wanted = set(runs)
    return [row for row, run in enumerate(of_row) if run in wanted]


def _parts_so_far(trace: Trace, until: int) -> list[tuple[int, ...]]:
    """Return the tuples of every part after some parts were looked at, the first `until`."""
    events = trace[_CUT].events_of("region")
    first: Any = events[0].facts["runs"]
    parts = [tuple(first)]
    for event in events[:until]:
        runs: Any = event.facts["runs"]
        sides: Any = event.facts["sides"]
        if sides:
            place = parts.index(tuple(runs))
            parts[place : place + 1] = [tuple(side) for side in sides]
    return parts


def _groups_so_far(trace: Trace, until: int) -> list[int]:
    """Return the part of every row after some parts were looked at."""
    of_row = [0] * trace.rows
    for number, part in enumerate(_parts_so_far(trace, until)):
        for row in _rows_of_runs(trace, _CUT, part):
            of_row[row] = number
    return of_row


@lru_cache(maxsize=64)
def _if_stopped(trace: Trace, until: int) -> Seen:
    """Return what MPALM would publish if it cut nothing after some parts were looked at."""
    problem = trace.problem
    regions = {tuple(e.facts["runs"]): e.facts["box"] for e in trace[_CUT].events_of("region")}  # type: ignore[arg-type]
    parts = _parts_so_far(trace, until)
    box = np.array([regions[part] for part in parts], dtype=np.int32)
    of_run = np.zeros(len(problem.frequency.run_count), dtype=np.int64)
    for number, part in enumerate(parts):
        of_run[list(part)] = number
    boxes = Boxes(lo=box[:, :, 0], hi=box[:, :, 1], level=box[:, :, 2])
    pools, cells = Partition(part_of_run=of_run, boxes=boxes, people=of_run).cells(problem)
    release = one_block(problem, group_runs(problem.frequency, of_run, len(parts)), pools, cells)
    return as_read(release, of_run[problem.frequency.run[problem.frequency.row_key]])


def _tries(trace: Trace, event: Event) -> Table:
    """Return the cuts that were tried of a region: every side with its chance."""
    low, high = _bounds(trace)
    tries: Any = event.facts["tries"]
    rows: list[Row] = []
    for number, tried in enumerate(tries):
        for place, (values, private, people) in enumerate(tried["sides"]):
            share = private / people
            fine = low <= share <= high
            rows.append(
                Row(
                    id=f"try:{number}:{place}",
                    label=trace.quasi[tried["column"]],
                    tone="good" if tried["kept"] else "quiet",
                    cells=(
                        Cell(text=", ".join(values)),
                        Cell(text=f"{private} of {people}"),
                        Cell(text=_delta(share), tone="plain" if fine else "bad"),
                    ),
                )
            )
    heads = (Head(name="side"), Head(name="in the table"), Head(name="δ"))
    return Table(title="Cuts that were tried", columns=heads, rows=tuple(rows), corner="along")


def _tried_said(trace: Trace, tried: Mapping[str, Any]) -> str:
    """Say what a cut that was tried would leave."""
    sides = [f"{private}/{people}" for _, private, people in tried["sides"]]
    where = f" at {tried['at']}" if tried["at"] else ""
    name = trace.quasi[tried["column"]]
    verdict = "so it is cut" if tried["kept"] else "which breaks the bounds"
    return f"Along {name}{where} the sides would have δ = {listed(sides)}, {verdict}."


def _looked_at(trace: Trace, event: Event, place: int) -> Step:
    runs: Any = event.facts["runs"]
    sides: Any = event.facts["sides"]
    people: Any = event.facts["people"]
    tries: Any = event.facts["tries"]
    mine = _rows_of_runs(trace, _CUT, runs)
    said = rows_listed(mine)
    words = (
        f"{said} {'is in' if len(mine) == 1 else 'share'} a region with {people} public people: "
        f"δ = {len(mine)}/{people} = {_delta(len(mine) / people)}."
    )
    if sides:
        parts = [listed(str(row + 1) for row in _rows_of_runs(trace, _CUT, side)) for side in sides]
        why = f"{_tried_said(trace, tries[-1])} Rows {' | rows '.join(parts)} are regions now."
        title = f"Cut {place + 1}, along {trace.quasi[tries[-1]['column']]}"
    else:
        why = "No cut leaves sides that all keep the bounds, so the region stays."
        title = f"{said}: the region stays"
    refused = [_tried_said(trace, tried) for tried in tries if not tried["kept"]]
    before = _plane(trace, "Regions so far", _groups_so_far(trace, place))
    together = _groups_so_far(trace, place + 1)
    question = yes_or_no(
        f"{said}, {people} public people, and {_allowed(trace)} is allowed: is this region cut?",
        bool(sides),
        why,
    )
    return Step(
        title=title,
        code=_MPALM.at(2, 3, 4 if sides else 5),
        words=" ".join([words, *refused[:2], why]),
        pictures=(_plane(trace, "Regions so far", together), _tries(trace, event)),
        question=question.on(before),
        together=tuple(together),
        found=presence_found(trace, presence_if(_if_stopped(trace, place + 1)), if_published=True),
        printed=_printed_cut(trace, place),
    )


def _printed_cut(trace: Trace, place: int) -> str:
    if not trace.as_printed("toth") or place:
        return ""
    return (
        "Printed: algorithm 2 cuts into < v and ≥ v, and the text cuts “by value 25”, which leaves "
        "one side empty; figure 2.13 has 11 rows. Corrected: the figures cut into all children of "
        "a node, here at Age 27, and 6 and 4 people are in the regions. With < v and ≥ v the cuts "
        "at Zip 5371 (3/4 and 5/6) and 5372 would have been allowed."
    )


def _in_region(trace: Trace) -> Question:
    found = presence(trace, _CUT)
    number = published_numbers(trace, _CUT)[trace[_CUT].together[trace.person]]
    people = sum(number in fits for fits in found.fits)
    return number_question(
        f"How many public people are in the region of {trace.names[trace.person]}?",
        people,
        "All whose values lie in what the region publishes.",
        among=len(found.joint),
        least=1,
        mistakes=(trace[_CUT].together.count(trace[_CUT].together[trace.person]), len(found.joint)),
    )


def _regions(trace: Trace) -> Step:
    found, run = presence(trace, _CUT), trace[_CUT]
    private = Counter(run.together)
    high = _bounds(trace)[1]
    bars: list[Bar] = []
    for group in sorted(private):
        people = sum(published_numbers(trace, _CUT)[group] in fits for fits in found.fits)
        mine = tuple(row for row, own in enumerate(run.together) if own == group)
        bars.append(
            Bar(
                id=f"part:{group}",
                label=rows_listed(mine),
                value=len(mine) / people,
                text=f"{len(mine)} of {people} public people: {_delta(len(mine) / people)}",
                tone=group_tone(group),
                people=mine,
            )
        )
    return Step(
        title="Presence in every region",
        code=_MPALM.at(6),
        words="A region publishes one box for its rows, and all public people inside look alike: "
        f"each is in the table with its δ. {_allowed(trace)} was allowed, so no one is certain.",
        pictures=(
            Bars(
                title="Chance of being in the table, by region",
                bars=tuple(bars),
                unit="chance",
                limit=(high, f"δ max = {high:g}"),
            ),
            release_table(trace, _CUT, "What MPALM publishes"),
        ),
        question=_in_region(trace).on(_plane(trace, "Regions", run.together)),
        together=run.together,
        found=presence_found(trace, found),
    )


# ---- CombinedAlg -------------------------------------------------------------------------------


def _nodes(trace: Trace) -> list[Mapping[str, Any]]:
    """Return the nodes that were reported for the group of the person who is followed."""
    nodes: list[Any] = [event.facts for event in trace[_COMBINED].events_of("coarsened")]
    number = next(
        facts["group"]
        for facts in nodes
        if trace.person in _rows_of_runs(trace, _COMBINED, facts["runs"])
    )
    return [facts for facts in nodes if facts["group"] == number]


def _levels_said(trace: Trace, facts: Mapping[str, Any]) -> str:
    return f"⟨{node_label(trace.quasi, facts['levels']).replace(' ', ', ')}⟩"


def _walked(trace: Trace, nodes: Sequence[Mapping[str, Any]], until: int) -> Lattice:
    """Return the group's own lattice after some of its nodes were looked at."""
    heights: Sequence[int] = nodes[0]["options"]
    walked = {tuple(facts["place"]): facts for facts in nodes[:until]}
    every = [tuple(p) for p in np.indices(heights).reshape(len(heights), -1).T.tolist()]
    levels: list[dict[int, int]] = [{} for _ in heights]
    for facts in nodes:
        for of, place, level in zip(levels, facts["place"], facts["levels"], strict=True):
            of[place] = level

    def state(place: tuple[int, ...]) -> State:
        if place not in walked:
            return "open"
        return "chosen" if walked[place]["state"] == "holds" else "fails"

    def label(place: tuple[int, ...]) -> str:
        own = [of.get(p, p) for of, p in zip(levels, place, strict=True)]
        return node_label(trace.quasi, own)

    links = tuple(
        (f"place:{one}", f"place:{two}")
        for one in every
        for two in every
        if sum(two) == sum(one) + 1 and all(a <= b for a, b in zip(one, two, strict=True))
    )
    return Lattice(
        title="Nodes of the group, by the sum of their levels",
        nodes=tuple(
            Node(id=f"place:{p}", label=label(p), height=sum(p), state=state(p)) for p in every
        ),
        links=links,
    )


def _walk(trace: Trace) -> list[Step]:
    """Return the steps of CombinedAlg: the group, then its nodes from the finest on."""
    nodes = _nodes(trace)
    mine = _rows_of_runs(trace, _COMBINED, nodes[0]["runs"])
    groups = len(set(trace[_COMBINED].together))
    many = "one group" if groups == 1 else f"{groups} groups; here is one of them"
    found = [
        Step(
            title="CombinedAlg: the rows in groups",
            code=_COMBINED_CODE.at(1),
            words=f"CombinedAlg first forms {many}. {rows_listed(mine)}: "
            "every column of the group will be shuffled by itself. From the exact values upwards, "
            f"the first node that leaves everyone {_allowed(trace)} is published; a node is a "
            "level of every column.",
            pictures=(
                _walked(trace, nodes, 0),
                table(trace, "The groups", together=trace[_COMBINED].together),
            ),
            printed=_printed_walk(trace),
        )
    ]
    shown = range(len(nodes)) if len(nodes) <= _MOST_NODES else (0, len(nodes) - 1)
    return [*found, *(_node(trace, nodes, place) for place in shown)]


def _printed_walk(trace: Trace) -> str:
    if trace.as_printed("square"):
        return (
            "Printed: figure 5.7 counts k = 4 in public rows, and figure 5.8 shows who is in the "
            "table next to unshuffled columns. Corrected: the table has 2 rows, so k = 2 of its "
            "own; the last column is for the reader, and not published."
        )
    if not trace.as_printed("toth"):
        return ""
    return (
        "Printed: the loops of algorithm 6 never reach a second node. Corrected: nodes are tried "
        "by the sum of their levels, and the first that keeps the bounds ends the loop."
    )


def _node(trace: Trace, nodes: Sequence[Mapping[str, Any]], place: int) -> Step:
    facts = nodes[place]
    low, high = _bounds(trace)
    names, public = public_people(trace)
    chance = dict(facts["chances"])
    chances = [float(chance.get(row, 0.0)) for row in public]
    holds = facts["state"] == "holds"
    outside = [n for n, d in zip(names, chances, strict=True) if not low - 1e-9 <= d <= high + 1e-9]
    label = _levels_said(trace, facts)
    first = f"{outside[0]} has δ = {_delta(chances[names.index(outside[0])])}" if outside else ""
    why = (
        f"Everyone has {_allowed(trace)}, so {label} is published."
        if holds
        else f"{first}: {label} fails."
        if outside
        else f"Not everyone's δ was counted: {label} is passed over."
    )
    cells = [
        (Cell(text=_delta(d), tone="plain" if low - 1e-9 <= d <= high + 1e-9 else "bad"),)
        for d in chances
    ]
    question = yes_or_no(
        f"At {label}, with every column shuffled: is everyone's chance within {_allowed(trace)}?",
        holds,
        why,
    )
    printed = ""
    if trace.as_printed("toth") and not place:
        printed = (
            "Printed: the columns of figures 5.3 and 5.4 are no permutations of the group: Zip "
            "5373 became a third 5371, one Age 25 became 27, one 30k a second 15k. Corrected: "
            "every value stays as often as it was."
        )
    return Step(
        title=f"{label} {'holds' if holds else 'fails'}",
        code=_COMBINED_CODE.at(2, 3, 4 if holds else 5),
        words=f"GetDelta counts the subsets of public people that yield the columns at {label}. "
        f"{why}",
        pictures=(
            _walked(trace, nodes, place + 1),
            people_table(trace, f"Chance of being in the table at {label}", ("δ",), cells),
        ),
        question=question.on(
            _walked(trace, nodes, place),
            people_table(trace, "The public table", (), [()] * len(names)),
        ),
        found=_node_found(trace, dict(zip(public, chances, strict=True))),
        printed=printed,
    )


def _node_found(trace: Trace, chance: Mapping[tuple[str, ...], float]) -> tuple[str, ...]:
    """Return what someone with the public table would find of every person at a node."""
    own = [tuple(trace.texts(q)[row] for q in trace.quasi) for row in range(trace.rows)]
    return tuple(
        f"If this were published, someone who knows {listed(trace.quasi)} of {trace.names[row]}, "
        f"and the public table, finds that they are in the table "
        f"{chance_said(chance[values])}."
        for row, values in enumerate(own)
    )


def _combined(trace: Trace) -> Step:
    names, _ = public_people(trace)
    one, two = presence(trace, _CUT), presence(trace, _COMBINED)
    cells = [
        (Cell(text=_delta(first)), Cell(text=_delta(second)))
        for first, second in zip(one.joint, two.joint, strict=True)
    ]
    sure = sum(delta >= 1 for delta in two.joint)
    why = (
        "Someone is certain: every choice of people that yields the release holds them."
        if sure
        else "No one is in every choice of people that yields the release."
    )
    return Step(
        title="What CombinedAlg publishes",
        code=_COMBINED_CODE.at(4),
        words="Every column of a group is shuffled, at the levels that were found. Within a group "
        f"rows cannot be distinguished. {why}",
        pictures=(
            *_published(trace),
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
            among=trace.rows,
            mistakes=(trace.rows, 1),
        ).on(*_published(trace)),
        together=trace[_COMBINED].together,
        found=presence_found(trace, two),
    )


def _published(trace: Trace) -> tuple[Table, ...]:
    tables = trace[_COMBINED].result.tables
    return tuple(
        published_table(
            trace,
            _COMBINED,
            number,
            f"What CombinedAlg publishes: {title}",
            fit=people_who_fit(trace, _COMBINED),
        )
        for number, title in enumerate(tables)
    )


def _public_sizes(found: Presence) -> Counter[int]:
    """Return how many public people fit each group that a run publishes."""
    return Counter(group for fits in found.fits for group in fits)


def _released(trace: Trace) -> Step:
    rows: list[Row] = []
    squared: dict[str, int] = {}
    for name, title in ((_CUT, "MPALM"), (_COMBINED, "CombinedAlg")):
        sizes = _public_sizes(presence(trace, name))
        squared[name] = sum(n * n for n in sizes.values())
        exact = [q for q in trace.quasi if _kept(trace, name, q)]
        cells = (
            Cell(text=str(len(sizes))),
            Cell(text=str(squared[name])),
            Cell(text=listed(exact) if exact else "none"),
        )
        rows.append(Row(id=f"run:{name}", label=title, cells=cells))
    heads = (Head(name="groups"), Head(name="Σ people²"), Head(name="columns kept exact"))
    titles = {_CUT: "MPALM", _COMBINED: "CombinedAlg", "same": "Both the same"}
    answer = min(squared, key=lambda name: squared[name])
    answer = "same" if len(set(squared.values())) == 1 else answer
    why = f"Σ people² is {squared[_CUT]} by MPALM and {squared[_COMBINED]} by CombinedAlg."
    return Step(
        title="Two releases that keep presence open",
        words=f"Both publish {rows_said(trace.rows)}, and leave everyone {_allowed(trace)}. "
        f"{why} Fewer public people look alike where it is lower; columns that are shuffled may "
        "stay exact where a box cannot.",
        pictures=(
            Table(title="Compared", columns=heads, rows=tuple(rows), corner="by"),
            release_table(trace, _CUT, "What MPALM publishes"),
            *_published(trace),
        ),
        question=Question(
            asks="By which of them do fewer public people look alike (Σ people² over groups)?",
            choices=tuple(Choice(id=id_, label=said) for id_, said in titles.items()),
            answer=answer,
            why=why,
            pictures=(
                release_table(trace, _CUT, "What MPALM publishes"),
                *_published(trace),
            ),
        ),
        together=trace[_COMBINED].together,
        found=presence_found(trace, presence(trace, _COMBINED)),
    )


def _kept(trace: Trace, name: str, column: str) -> bool:
    """Say whether a column publishes every value as often as the table has it."""
    release = trace[name].release
    texts = release.vocabularies[column].texts
    if column not in release.cells:
        return True
    said: Counter[str] = Counter()
    cells = release.cells[column][release.grouping.member].tolist()
    for code, count in zip(cells, release.grouping.count.tolist(), strict=True):
        said[texts[code]] += count
    return said == Counter(trace.texts(column))
