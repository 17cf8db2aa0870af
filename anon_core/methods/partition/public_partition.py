"""Partitions of a table together with its public table: MPALM's cuts, and the boxes they publish.

Everyone of the public table lies in exactly one part, and so does every row. A part may be cut for
as long as the boxes that would be published of both sides keep every privacy model (Toth 2015,
algorithm 2). What is tested is what is published: of the people of a part only those whom its box
covers count as possible, and the rest of them are known to be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.params import choice
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel, least_class
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.matching.fitting_people import PublicPeople, public_people
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.vocabulary import Vocabulary, of_cells


def cuts_choice() -> Any:
    """Declare the parameter that says where a part may be cut."""
    return choice(
        default="by-kind",
        options={
            "by-kind": "text along its hierarchy, other columns between values",
            "hierarchy": "every column along its hierarchy",
            "values": "every column between values",
        },
        help="Along a hierarchy a part is cut into all children of a node at once, between values "
        "into < v and ≥ v.",
        label="Cuts",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A region of the public table's values with its people and rows.

    Attributes
    ----------
    people : int64 array
        Tuples of the public table.
    runs : int64 array
        Quasi tuples of the table; may be empty.
    whole : bool array of shape (quasi,)
        Columns that were never cut.
    """

    people: I64
    runs: I64
    whole: npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """What parts publish of one column each: an interval of the table's leaves.

    Attributes
    ----------
    lo, hi : int32 arrays of shape (parts, quasi)
    level : int32 array of shape (parts, quasi)
        Level of the node whose label is written; -1 for a range or value set.
    """

    lo: I32
    hi: I32
    level: I32


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """The parts that hold rows.

    Attributes
    ----------
    part_of_run : int64 array of shape (runs,)
    people : int64 array of shape (parts,)
        Public people whom each part's box covers.
    """

    part_of_run: I64
    boxes: Boxes
    people: I64

    def cells(self, problem: Problem) -> tuple[dict[str, Vocabulary], dict[str, I32]]:
        """Return what each column publishes, and each part's cell."""
        vocabularies: dict[str, Vocabulary] = {}
        cells: dict[str, I32] = {}
        for d, (name, hierarchy) in enumerate(
            zip(problem.quasi, problem.quasi_hierarchies, strict=True)
        ):
            kind = problem.dataset.column(name).kind
            vocabularies[name], cells[name] = of_cells(
                hierarchy,
                kind,
                self.boxes.lo[:, d],
                self.boxes.hi[:, d],
                self.boxes.level[:, d],
            )
        return vocabularies, cells


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """One way to cut a part between values: rows and people below, and in all.

    Attributes
    ----------
    value : int
        First leaf (of the public table's) of the upper side.
    rows, people : tuple of int
        Below, and from the value on.
    """

    value: int
    rows: tuple[int, int]
    people: tuple[int, int]


class PublicPartition:
    """Cuts a table and its public table top-down.

    Parameters
    ----------
    models : sequence of GroupModel
    cuts : str
        See `cuts_choice`.
    owner : str
        Who asks, for messages.

    Raises
    ------
    BadPlan
        If there is no public table of which the table is a part.
    """

    def __init__(
        self, problem: Problem, models: Sequence[GroupModel], cuts: str, owner: str
    ) -> None:
        self.problem = problem
        self.models = models
        self._reference = reference_of(problem)
        self.public: PublicPeople = public_people(problem.population, problem.frequency, owner)
        self.wide = self.public.hierarchies
        self.codes = self.public.codes
        frequency = problem.frequency
        self.own = np.stack(
            [p[c] for p, c in zip(self.public.place, frequency.run_codes.T, strict=True)], axis=1
        )
        by_kind = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        self.tree = np.array(
            [cuts == "hierarchy" or (cuts == "by-kind" and tree) for tree in by_kind]
        )
        self.least = least_class(models, problem.population)
        self.needed = list(dict.fromkeys(n for m in models for n in m.needs(problem)))
        self._width = [_positions(h) for h in self.wide]
        # Looked at once for every part and column.
        self._node = [_nodes(h) for h in self.wide]
        self._own_node = [_nodes(h) for h in problem.quasi_hierarchies]
        self._bounds = [
            [h.bounds(level) for level in range(h.height + 1)] for h in problem.quasi_hierarchies
        ]

    # ---- the search --------------------------------------------------------------------------

    def root(self) -> Part:
        """Return everyone as one part."""
        return Part(
            people=np.arange(len(self.codes)),
            runs=np.arange(len(self.own)),
            whole=np.ones(len(self.wide), dtype=np.bool_),
        )

    def search(self, context: Context) -> Partition:
        """Cut for as long as the privacy models hold.

        Raises
        ------
        Infeasible
            If not even the whole table as one part keeps them, and that decides.
        NotFound
            If it breaks a privacy model that parts of it may keep.
        """
        whole = self.root()
        begun = self.published([whole])
        if begun is None:
            self._refuse_whole()
        waiting = [(whole, begun)]
        done: list[tuple[Part, Boxes]] = []
        settled = 0
        while waiting:
            context.report(settled / len(self.own), "Partitioning")
            part, boxes = waiting.pop()
            tries: list[Mapping[str, Any]] | None = [] if context.listening else None
            children = self._cut(part, tries)
            if tries is not None:
                sides = () if children is None else children[0]
                self._tell(context, part, boxes, tries, sides)
            if children is None:
                done.append((part, boxes))
                settled += len(part.runs)
                continue
            waiting += [(child, _row(children[1], i)) for i, child in enumerate(children[0])]
        part_of_run = np.empty(len(self.own), dtype=np.int64)
        for number, (part, _) in enumerate(done):
            part_of_run[part.runs] = number
        boxes = Boxes(
            lo=np.concatenate([b.lo for _, b in done]),
            hi=np.concatenate([b.hi for _, b in done]),
            level=np.concatenate([b.level for _, b in done]),
        )
        people = np.array([self._covered(p, b, 0) for p, b in done], dtype=np.int64)
        return Partition(part_of_run=part_of_run, boxes=boxes, people=people)

    def _tell(
        self,
        context: Context,
        part: Part,
        box: Boxes,
        tries: Sequence[Mapping[str, Any]],
        sides: Sequence[Part],
    ) -> None:
        """Tell a part that was looked at, its box, and the cuts that were tried until one held."""
        context.event(
            "region",
            runs=part.runs.tolist(),
            people=int(self.public.count[part.people].sum()),
            box=[(int(box.lo[0, d]), int(box.hi[0, d]), int(box.level[0, d])) for d in self._all],
            tries=tries,
            sides=[side.runs.tolist() for side in sides],
        )

    @property
    def _all(self) -> range:
        return range(len(self.wide))

    def _tried(self, d: int, parts: Sequence[Part], at: int, *, kept: bool) -> Mapping[str, Any]:
        """Return a cut that was tried: its column, where, and rows and people of every side."""
        leaves, count = self.wide[d].leaves, self.problem.frequency.run_count
        return {
            "column": d,
            "at": "" if at < 0 else leaves[at],
            "sides": [
                (
                    sorted({leaves[code] for code in self.codes[part.people, d].tolist()}),
                    int(count[part.runs].sum()),
                    int(self.public.count[part.people].sum()),
                )
                for part in parts
            ],
            "kept": kept,
        }

    def _refuse_whole(self) -> NoReturn:
        """Refuse where cuts cannot begin, naming what breaks; see `search`."""
        rows, people = self.problem.rows, self.public.size
        reached = f"it holds {rows} of {people} public people (chance {rows / people:.4g})"
        broken = [m for m in self.models if not self._whole_keeps([m])] or list(self.models)
        proven = [m for m in broken if m.decided_by_whole()]
        of_presence = any(m.scope.public for m in proven or broken)
        best, best_of = 0.0, "classes that keep it"
        if of_presence:
            best, best_of = rows / people, "chance of presence with everyone in one class"
        if proven:
            raise Infeasible(
                "Not even the whole table as one class satisfies "
                + (f"the privacy models: {reached}." if of_presence else f"{proven[0].title}."),
                remedy=f"Ask for less, or {'publish fewer' if of_presence else 'load more'} rows.",
                best=best,
                best_of=best_of,
            )
        together = any(m.sliced_share(self.problem) for m in broken)
        raise NotFound(
            f"Not found: the whole table as one class, where cuts begin, breaks "
            f"{' and '.join(m.title for m in broken)}"
            + (f": {reached}." if of_presence else "; other groups may keep it."),
            remedy="Ask for less, or load more rows."
            if together
            else "Choose the optimal search or Mondrian, ask for less, or publish fewer rows.",
            best=best,
            best_of=best_of,
        )

    def _whole_keeps(self, models: Sequence[GroupModel]) -> bool:
        whole = [self.root()]
        boxes = (self._boxes(whole, public=wide) for wide in (False, True))
        return any(bool(self._keep(whole, box, models).all()) for box in boxes)

    def _cut(
        self, part: Part, tries: list[Mapping[str, Any]] | None = None
    ) -> tuple[list[Part], Boxes] | None:
        """Return the parts of the first cut that is allowed, widest column first.

        What was tried is noted in `tries`, where someone listens.
        """
        for d in self.column_order(part):
            for parts, at in self._ways(part, d):
                found = self.allowed(parts)
                if tries is not None:
                    tries.append(self._tried(d, parts, at, kept=found is not None))
                if found is not None:
                    return found
        return None

    def _ways(self, part: Part, d: int) -> Iterator[tuple[list[Part], int]]:
        """Yield the ways to cut a part along a column, with the first leaf above; -1 by nodes."""
        if self.tree[d]:
            tried = self.children(part, d)
            if tried is not None:
                yield tried, -1
            return
        for cut in self.cuts(part, d):
            yield self.halves(part, d, cut.value), cut.value

    def column_order(self, part: Part) -> list[int]:
        """Return the columns by the width of the part's people, widest first, ties in order."""
        codes = self.codes[part.people]
        width = [
            float(place[codes[:, d].max()] - place[codes[:, d].min()])
            for d, place in enumerate(self._width)
        ]
        return [d for d in np.argsort(-np.array(width), kind="stable").tolist() if width[d] > 0]

    def children(self, part: Part, d: int) -> list[Part] | None:
        """Return the parts by the children of the smallest node that holds the part's people."""
        hierarchy = self.wide[d]
        codes, own = self.codes[part.people, d], self.own[part.runs, d]
        for level in range(hierarchy.height - 1, -1, -1):
            node = self._node[d][level]
            labels = np.unique(node[codes])
            if len(labels) > 1:
                return [
                    self._child(part, d, node[codes] == n, node[own] == n) for n in labels.tolist()
                ]
        return None

    def halves(self, part: Part, d: int, value: int) -> list[Part]:
        """Return the parts below a value and from it on."""
        codes, own = self.codes[part.people, d], self.own[part.runs, d]
        return [
            self._child(part, d, codes < value, own < value),
            self._child(part, d, codes >= value, own >= value),
        ]

    def _child(
        self, part: Part, d: int, people: npt.NDArray[np.bool_], runs: npt.NDArray[np.bool_]
    ) -> Part:
        whole = part.whole.copy()
        whole[d] = False
        return Part(people=part.people[people], runs=part.runs[runs], whole=whole)

    def cuts(self, part: Part, d: int) -> list[Cut]:
        """Return the cuts between values that shares of people allow, the most even first.

        A box that covers a side can only hold fewer people than the side, so what the sides
        themselves do not keep no box of them keeps.
        """
        allowed, cuts = self.all_cuts(part, d)
        half = sum(cuts[0].people) / 2 if cuts else 0.0
        kept = [cut for cut, good in zip(cuts, allowed, strict=True) if good]
        return sorted(kept, key=lambda cut: abs(cut.people[0] - half))

    def all_cuts(self, part: Part, d: int) -> tuple[npt.NDArray[np.bool_], list[Cut]]:
        """Return every cut between two values of the part's people, and which are allowed."""
        hierarchy = self.wide[d]
        leaves = len(hierarchy.leaves)
        people = np.bincount(
            self.codes[part.people, d], self.public.count[part.people], leaves
        ).astype(np.int64)
        rows = np.bincount(
            self.own[part.runs, d], self.problem.frequency.run_count[part.runs], leaves
        ).astype(np.int64)
        values = np.flatnonzero(people)[1:]
        if hierarchy.measure is None:  # the public's further categories stand behind the table's
            ends = [int(self.public.place[d][-1]), leaves - 1 if hierarchy.has_missing else -1]
            values = values[(values <= ends[0]) | (values == ends[1])]
        if hierarchy.has_missing and people[leaves - 1] and len(values):
            values = values[-1:]  # the missing value is cut off first
        below = np.cumsum(people)[values - 1], np.cumsum(rows)[values - 1]
        among = (int(people.sum()), int(rows.sum()))
        good = np.ones(len(values), dtype=np.bool_)
        for side in (0, 1):
            sizes = below[1] if side == 0 else among[1] - below[1]
            held = below[0] if side == 0 else among[0] - below[0]
            good &= (sizes == 0) | (sizes >= self.least)
            stats = GroupStats(sizes=sizes, histograms={}, population=held)
            for model in self.models:
                if model.scope.public:
                    good &= model.per_group(stats, self._reference)
        return good, [
            Cut(value=int(v), rows=(int(r), among[1] - int(r)), people=(int(p), among[0] - int(p)))
            for v, p, r in zip(values, *below, strict=True)
        ]

    # ---- what is published -------------------------------------------------------------------

    def allowed(self, parts: list[Part]) -> tuple[list[Part], Boxes] | None:
        """Return the parts that hold rows with their boxes, or None where a model breaks."""
        filled = [p for p in parts if len(p.runs)]
        if len(filled) < len(parts) and not all(m.allows_removal() for m in self.models):
            return None
        found = self.published(filled) if filled else None
        return None if found is None else (filled, found)

    def published(self, parts: Sequence[Part]) -> Boxes | None:
        """Return the boxes of parts: those of their rows, or of their people where these break.

        None where a part keeps the privacy models with neither.
        """
        tight = self._boxes(parts, public=False)
        good = self._keep(parts, tight)
        if good.all():
            return tight
        wide = self._boxes(parts, public=True)
        if not (good | self._keep(parts, wide)).all():
            return None
        return Boxes(
            lo=np.where(good[:, None], tight.lo, wide.lo),
            hi=np.where(good[:, None], tight.hi, wide.hi),
            level=np.where(good[:, None], tight.level, wide.level),
        )

    def _keep(
        self, parts: Sequence[Part], boxes: Boxes, models: Sequence[GroupModel] | None = None
    ) -> npt.NDArray[np.bool_]:
        """Return which parts keep every privacy model, or some of them, under their boxes."""
        frequency = self.problem.frequency
        covered = np.array([self._covered(p, boxes, i) for i, p in enumerate(parts)], np.int64)
        everyone = np.array([self.public.count[p.people].sum() for p in parts], np.int64)
        sizes = np.array([frequency.run_count[p.runs].sum() for p in parts], np.int64)
        stats = GroupStats(
            sizes=sizes,
            histograms={n: self._histogram(parts, n) for n in self.needed},
            population=covered,
        )
        good = np.ones(len(parts), dtype=np.bool_)
        for model in self.models if models is None else models:
            good &= model.per_group(stats, self._reference)
            if not model.allows_removal():  # whom the box leaves out is known to be absent
                good &= covered == everyone
        return good

    def _histogram(self, parts: Sequence[Part], name: str) -> Any:
        frequency = self.problem.frequency
        group = np.full(len(self.own), -1, dtype=np.int64)
        for i, part in enumerate(parts):
            group[part.runs] = i
        of_key = group[frequency.run]
        inside = of_key >= 0
        return histogram(
            of_key[inside],
            frequency.codes[inside, frequency.columns.index(name)],
            frequency.count[inside],
            len(parts),
            len(self.problem.hierarchies[name].leaves),
            self.problem.hierarchies[name].missing_leaf,
        )

    def _boxes(self, parts: Sequence[Part], *, public: bool) -> Boxes:
        quasi = len(self.wide)
        lo, hi = np.zeros((len(parts), quasi), np.int32), np.zeros((len(parts), quasi), np.int32)
        level = np.full((len(parts), quasi), -1, dtype=np.int32)
        for i, part in enumerate(parts):
            own = self.problem.frequency.run_codes[part.runs]
            ends = zip(own.min(axis=0).tolist(), own.max(axis=0).tolist(), strict=True)
            for d, (hierarchy, reach) in enumerate(
                zip(self.problem.quasi_hierarchies, ends, strict=True)
            ):
                lo[i, d], hi[i, d], level[i, d] = self._cell(
                    part, d, hierarchy, reach, public=public
                )
        return Boxes(lo=lo, hi=hi, level=level)

    def _cell(
        self, part: Part, d: int, hierarchy: Hierarchy, reach: tuple[int, int], *, public: bool
    ) -> tuple[int, int, int]:
        """Return first and last leaf of a part's cell, and the level of its label or -1.

        `reach` is the first and last leaf of its own rows.
        """
        last, top = len(hierarchy.leaves) - 1, hierarchy.height
        first, final = reach
        if public:
            if part.whole[d]:
                return 0, last, top
            place = self.public.place[d]
            codes = self.codes[part.people, d]
            first = int(np.searchsorted(place, codes.min()))
            final = int(np.searchsorted(place, codes.max(), side="right")) - 1
        if first == final:
            return first, final, 0
        if hierarchy.has_missing and final == last:
            return 0, last, top
        if not self.tree[d]:
            # A set of all categories is written as the top.
            everything = hierarchy.measure is None and first == 0 and final == last
            return first, final, top if everything else -1
        nodes = self._own_node[d]
        level = next(i for i, node in enumerate(nodes) if node[first] == node[final])
        node = int(nodes[level][first])
        low, high = self._bounds[d][level]
        return int(low[node]), int(high[node]), level

    def _covered(self, part: Part, boxes: Boxes, i: int) -> int:
        """Return how many people of a part its box covers."""
        inside = part.people
        for d, place in enumerate(self.public.place):
            level, low, high = int(boxes.level[i, d]), boxes.lo[i, d], boxes.hi[i, d]
            codes = self.codes[inside, d]
            if level < 0:
                inside = inside[(codes >= place[low]) & (codes <= place[high])]
            elif level < self.wide[d].height:
                node = self._node[d][level]
                inside = inside[node[codes] == node[place[low]]]
        return int(self.public.count[inside].sum())


def _nodes(hierarchy: Hierarchy) -> list[I32]:
    return [hierarchy.node(level) for level in range(hierarchy.height + 1)]


def _row(boxes: Boxes, i: int) -> Boxes:
    return Boxes(lo=boxes.lo[i : i + 1], hi=boxes.hi[i : i + 1], level=boxes.level[i : i + 1])


def _positions(hierarchy: Hierarchy) -> npt.NDArray[np.float64]:
    """Return a position in [0, 1] per leaf: by value for numbers and dates, else by order."""
    size = len(hierarchy.leaves)
    found = np.arange(size, dtype=np.float64) / max(size - 1, 1)
    if hierarchy.measure is not None:
        seen = hierarchy.measure[~np.isnan(hierarchy.measure)]
        span = float(seen[-1] - seen[0]) if len(seen) > 1 else 0.0
        found[: len(seen)] = (seen - seen[0]) / span if span > 0 else 0.0
    if hierarchy.has_missing:
        found[-1] = 2.0
    return found
