"""Downcoding: a table in more detail than the release, which still holds of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.base.errors import AnonError
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.consistent_tables.base_cells import Boxes, boxes_of
from anon_core.methods.consistent_tables.program import Program
from anon_core.methods.matching.fitting_people import why_not
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.minimality_rule import MinimalRows
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Base cells, or cells above them, of a class beyond which nothing is decided.
_MOST_CELLS = 2_000

Ends = tuple[tuple[int, int], ...]


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Downcoding(Attack):
    """Lower rows of a release of which no row could have been published in more detail.

    1. A row whose smaller cell is published as well would have been published there.
    2. So would k rows of one smaller cell, where k others stay.
    3. How many rows lie in a smaller cell at least, whatever the table: so many are lowered.
    """

    name: ClassVar[str] = "downcoding"
    title: ClassVar[str] = "Downcoding"
    summary: ClassVar[str] = (
        "An attacker who knows that no row could be published in more detail infers which smaller"
        " cells the rows of a class must lie in, and publishes a more detailed table that is "
        "true."
    )
    formula: ClassVar[str] = (
        "Σ over disjoint cells d below a class of min j(d) / n; j(d) = 0 where d is published and "
        "m > k, j(d) < k where it is not and m ≥ 2k; no class dissolves into its children"
    )
    source: ClassVar[str] = (
        "Cohen 2022, Attacks on deidentification's defenses, USENIX Security 2022"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(stop_rule=True)
    report: ClassVar[AttackReport] = AttackReport(place=8, certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    seconds: float = number(
        default=10.0,
        low=0.0,
        high=86_400.0,
        help="Time after which classes not decided yet are left undecided, and count as exposed.",
        label="Time box",
        unit="seconds",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a technique of which it is proven that no row can be published in more detail."""
        if not isinstance(view.stopped, MinimalRows):
            return (
                "It needs a technique that says when it stopped, and that no row could be "
                "published in more detail; as it was set, this one does not."
            )
        if not view.stopped.sizes_alone:
            return "Privacy models other than the size of classes decided what is published."
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Lower the rows of every class.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        reason, rule = self.reason_not_applicable(view, audience), view.stopped
        boxes = boxes_of(view, [audience.hierarchies[name] for name in view.quasi])
        if reason or not isinstance(rule, MinimalRows) or boxes is None:
            raise AnonError(reason, remedy="Use it where cells are generalized at the least cost.")
        end = now() + self.seconds
        if context.deadline is not None:
            end = min(end, context.deadline)
        boxed = replace(context, deadline=end)
        classes = len(boxes.size)
        found: list[Lowered] = []
        for place in range(classes):
            context.report(place / classes, "Looking for rows in smaller cells")
            found.append(lowered(rule, boxes, place, boxed))
        claimed = np.array([one.rows for one in found], dtype=np.int64)
        right = _right(view, truth, found)
        left = np.array([not one.decided for one in found]) * (boxes.size - claimed)
        rows, lower, undecided = truth.rows, int(right.sum()), int(left.sum())
        above = int(boxes.size[(boxes.lo < boxes.hi).any(axis=1)].sum())
        wrong = int(claimed.sum()) - lower
        chance = np.where(left > 0, 1.0, claimed / boxes.size)
        return [
            AttackResult(
                attack=self.name,
                attempted=rows,
                eligible=above,
                succeeded=float(lower),
                undecided=undecided,
                rate=(lower + undecided) / rows,
                worst=float(chance.max(initial=0.0)),
                baseline=0.0,
                raw=1.0,
                at_risk=int(claimed.sum()) + undecided,
                threshold=0.0,
                per_class=chance,
                interval=(lower / rows, (lower + undecided) / rows) if undecided else None,
                upper_bound=bool(undecided),
                sentence=_sentence(lower, above, wrong, undecided),
            )
        ]


def _right(view: View, truth: Truth, found: Sequence[Lowered]) -> I64:
    """Return how many of the rows that were lowered lie where it was said, by class."""
    right = np.zeros(len(found), dtype=np.int64)
    block = view.whole_quasi()
    if block is None:
        return right
    persons, places, frequency = view.persons(block), truth.places, truth.frequency
    quasi = [frequency.columns.index(name) for name in view.quasi]
    for place, one in enumerate(found):
        own = np.flatnonzero(places.group == persons.group[place])
        codes: npt.NDArray[np.int64] = frequency.codes[places.key[own]][:, quasi].astype(np.int64)
        for ends, least in zip(one.cells, one.least, strict=True):
            there = int(places.count[own][inside(codes, ends)].sum())
            right[place] += min(there, least)
    return right


def _sentence(lower: int, above: int, wrong: int, undecided: int) -> str:
    if not above:
        return "Every cell says its value already, so no row can be lowered."
    sentence = (
        f"Someone who knows that no row could be published in more detail lowers {lower:,} of "
        f"{above:,} generalized rows ({per_cent(lower / above)}) for certain."
    )
    if wrong:
        sentence += f" Of {wrong:,} rows what was claimed is wrong, so its figures are void."
    if undecided:
        sentence += f" {undecided:,} rows not decided; treated as exposed."
    return sentence


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """Cells below a class's that no row is in both of, with the rows that surely lie in each.

    Attributes
    ----------
    cells : tuple of tuples of (first, last)
        Leaves of each cell by quasi-identifier.
    decided : bool
        Whether these are the most that can be known.
    """

    cells: tuple[Ends, ...] = ()
    least: tuple[int, ...] = ()
    decided: bool = True

    @property
    def rows(self) -> int:
        """Rows that surely lie in smaller cells."""
        return sum(self.least)


def below(boxes: Boxes, place: int) -> list[list[list[tuple[int, int]]]]:
    """Return the groups inside a class's cell by quasi-identifier and level, the leaves first."""
    found: list[list[list[tuple[int, int]]]] = []
    for d, hierarchy in enumerate(boxes.hierarchies):
        lo, hi = int(boxes.lo[place, d]), int(boxes.hi[place, d])
        levels: list[list[tuple[int, int]]] = []
        for level in range(hierarchy.height + 1):
            first, last = hierarchy.bounds(level)
            inside = (first >= lo) & (last <= hi)
            levels.append(list(zip(first[inside].tolist(), last[inside].tolist(), strict=True)))
            if (lo, hi) in levels[-1]:
                break
        found.append(levels)
    return found


def class_program(
    rule: MinimalRows, boxes: Boxes, place: int
) -> tuple[Program, I64, list[list[list[tuple[int, int]]]]] | None:
    """Return what a class can hold, its base cells, and the groups inside its cell.

    None where these are too many.

    Notes
    -----
    With m rows in the class and j in a cell below it: (i) where that is published and m > k,
    j = 0, since one row could move there; (ii) where it is not and m ≥ 2k, j < k, since k rows
    could; (iii) the class does not dissolve into the children of one column: some row lies in a
    child that is neither published nor holds k rows. For one column of one level these are all
    there is.
    """
    groups = below(boxes, place)
    distinct = [sorted({ends for level in own for ends in level}) for own in groups]
    size, cells = int(boxes.size[place]), float(np.prod([float(len(own)) for own in distinct]))
    if boxes.cells(place) > _MOST_CELLS or cells > _MOST_CELLS:
        return None
    base, program = boxes.base(place), Program()
    for _ in range(len(base)):
        program.variable(0, size)
    program.add(dict.fromkeys(range(len(base)), 1.0), low=size, high=size)
    pairs = zip(boxes.lo.tolist(), boxes.hi.tolist(), strict=True)
    shown = {tuple(zip(lo, hi, strict=True)) for lo, hi in pairs}
    whole = tuple(own[-1][0] for own in groups)
    for ends in product(*distinct):
        if ends == whole:
            continue
        own, published = inside(base, ends), ends in shown
        if published and size > rule.least:
            program.add(dict.fromkeys(own, 1.0), high=0)
        elif not published and size >= 2 * rule.least:
            program.add(dict.fromkeys(own, 1.0), high=rule.least - 1)
    for d, own in enumerate(groups):
        if len(own) > 1:
            few: dict[int, float] = {}
            for child in own[-2]:
                ends = (*whole[:d], child, *whole[d + 1 :])
                if ends not in shown:
                    rows, switch = inside(base, ends), program.switch()
                    program.at_least_if(switch, rows, 1)
                    program.at_most_if(switch, rows, rule.least - 1, size)
                    few[switch] = 1.0
            program.add(few, low=1)
    return program, base, groups


def inside(base: I64, ends: Ends) -> list[int]:
    """Return the places of the base cells that lie in a cell."""
    lo, hi = np.array(ends).T
    return np.flatnonzero(((base >= lo) & (base <= hi)).all(axis=1)).tolist()


def lowered(rule: MinimalRows, boxes: Boxes, place: int, context: Context) -> Lowered:
    """Return the rows of a class that surely lie in smaller cells, of the best set of such."""
    if (boxes.lo[place] == boxes.hi[place]).all():
        return Lowered()
    found = class_program(rule, boxes, place)
    if found is None:
        return Lowered(decided=False)
    program, base, groups = found
    whole = tuple(own[-1][0] for own in groups)
    families = [
        [(*whole[:d], child, *whole[d + 1 :]) for child in level]
        for d, own in enumerate(groups)
        for level in own[:-1]
    ]
    families.append([tuple((leaf, leaf) for leaf in cell) for cell in base.tolist()])
    best, decided = Lowered(), True
    for family in families:
        least = [_least(program, inside(base, ends), context) for ends in family]
        decided &= all(known for _, known in least)
        rows = tuple(many for many, _ in least)
        if sum(rows) > best.rows:
            best = Lowered(cells=tuple(family), least=rows)
    return Lowered(cells=best.cells, least=best.least, decided=decided)


def _least(program: Program, variables: Sequence[int], context: Context) -> tuple[int, bool]:
    """Return the fewest rows that variables add up to, at least, and whether these are it."""
    least = 0
    while True:
        fewer = program.copy()
        fewer.add(dict.fromkeys(variables, 1.0), high=least)
        state = fewer.solve(context).state
        if state != "none" or least > max(program.upper):
            return least, state == "found"
        least += 1
