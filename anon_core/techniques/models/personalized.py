"""Personalized privacy: everyone's own k, or a node of the hierarchy that guards their value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import BadInput, BadPlan, Infeasible
from anon_core.base.params import choice, number, private_column, sensitive_column
from anon_core.base.registry import register
from anon_core.base.terms import times
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import (
    GroupModel,
    ModelAim,
    ModelLogic,
    ModelScope,
    sensitive_columns,
)
from anon_core.data.roles.roles import ByRole
from anon_core.data.values.kinds import as_number
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.matching.matching import plainly_behind
from anon_core.methods.reidentification.personal_k import (
    below,
    guards_hold,
    largest_own,
    rows_that_can_stay,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference, ValueCounts, reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import View


class _Entries(NamedTuple):
    """Values per class: class, leaf and rows of each entry."""

    group: I64
    value: npt.NDArray[np.int32]
    rows: I64

    @classmethod
    def of(cls, reference: Reference, column: str) -> _Entries:
        """Return the values of a column in the published classes."""
        placed = reference.placed(column)
        return cls(placed.group, placed.value, placed.count)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What people of each class asked for, and how far the class is from it.

    Attributes
    ----------
    good : bool array of shape (classes,)
    worst : float
        Own k: rows of the class that falls shortest, as a share of what is asked there. Guards: the
        highest chance of a guarded value.
    """

    good: npt.NDArray[np.bool_]
    worst: float


@register("model")
@dataclass(frozen=True, kw_only=True)
class Personalized(GroupModel):
    """Each record's own k, or a guarding node of the sensitive hierarchy (Xiao and Tao 2006).

    *Own k*: rows of a class ≥ the largest k that anyone in it asks for. Good classes merged stay
    good: rows add up, and the largest k is one of both. Merged with a class that is not good one
    may break ({1} with {3}, the k of two rows). Removing classes leaves the others as they are.

    *Guards*: of a class with a guarded row at most p · N rows show a value under its guard; each of
    the N rows is taken for the person's with the same chance. Merging can break it: {ulcer, not
    guarded} and {gastritis, guarded by stomach; flu} hold for p = 1/2, together it is 2/3. Removing
    classes leaves the others as they are.

    The private column is never published, and nothing is reported of it by row. Sensitive values
    are published exactly, so that a row is under a guard or does not.
    """

    name: ClassVar[str] = "personalized"
    title: ClassVar[str] = "Personalized privacy"
    summary: ClassVar[str] = (
        "A private column states each person's own requirement: how many rows to hide among, or "
        "which group of sensitive values must not be linked to them with more than the largest "
        "chance."
    )
    formula: ClassVar[str] = (
        "own k: |G| ≥ max k of the people in G; guards: |{rows of G under a guard of G}| ≤ p · |G|"
        "; a missing k or guard asks for nothing"
    )
    source: ClassVar[str] = "Xiao and Tao 2006, doi 10.1145/1142473.1142500"
    aim: ClassVar[ModelAim] = ModelAim(stops="attribute")
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True)
    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False)

    column: str = private_column(
        help="The column that says what each person asks for; it has no role and is not published.",
        label="Private column",
    )
    level: str = choice(
        default="own-k",
        options={"own-k": "own k", "guard": "guarding node"},
        help="Whether the column holds each person's own k, or a node of the sensitive column's "
        "hierarchy above their value; empty means no guard.",
        label="It holds",
    )
    p: float = number(
        default=0.5,
        low=1e-6,
        high=1.0,
        help="Largest chance of a value under someone's guarding node; own k has none.",
        label="p",
    )
    sensitive: str = sensitive_column(
        help="Sensitive column that is guarded; own k has none.",
        label="Guarded column",
        empty="the only one",
    )

    def __post_init__(self) -> None:
        """Validate; own k is kept when good classes are merged, guards are not."""
        super().__post_init__()
        unions = replace(self.logic, closed_under_union=self.level == "own-k")
        object.__setattr__(self, "logic", unions)

    def private_columns(self) -> tuple[str, ...]:
        """Return the column that people's own levels are in."""
        return (self.column,) if self.column else ()

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the private column, and the sensitive one where it is guarded."""
        return (self.column, *self._guarded(columns))

    def protects(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive column that is guarded, if any."""
        return self._guarded(columns)

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive column whose hierarchy guards are in."""
        return self._guarded(columns)

    def _guarded(self, columns: ByRole) -> tuple[str, ...]:
        if self.level == "own-k":
            return ()
        found = sensitive_columns(columns, self.sensitive, self.title)
        if len(found) > 1:
            raise BadPlan(
                f"{self.title} by guarding nodes is about one sensitive column, and there are "
                f"{len(found)}.",
                remedy="Name it under sensitive.",
            )
        return found

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse cells that are no level, and what no release of the table keeps.

        Raises
        ------
        BadPlan
            If no column is named.
        BadInput
            If a cell is not a whole number from 1 up, or a guard is not above its row's value.
        Infeasible
            With the rows that could stay, or the least p. For guards that is necessary only.
        """
        if not self.column:
            raise BadPlan(
                f"{self.title} names no private column.",
                remedy="Set column to the one that holds each person's own level.",
            )
        if self.level == "own-k":
            self._check_own(problem, removable)
        else:
            self._check_guards(problem, removable)

    def _check_own(self, problem: Problem, removable: int) -> None:
        leaves = problem.hierarchies[self.column].leaves
        own = _whole_numbers(leaves)
        codes = problem.leaf_codes(self.column)
        bad = np.flatnonzero(own[codes] < 1)
        if len(bad):
            raise BadInput(
                f"{len(bad)} cells of '{self.column}' are not whole numbers from 1 up (first in "
                f"row {int(bad[0]) + 1}); every row needs a k of its own.",
                remedy="Correct them; 1 asks for nothing.",
                values=sorted({leaves[c] for c in codes[bad].tolist()})[:5],
            )
        count = np.bincount(codes, minlength=len(leaves)).astype(np.int64)
        used = count > 0
        stay = rows_that_can_stay(own[used], count[used])
        if problem.rows - stay > removable or not stay:  # all may go, and nothing be left
            raise Infeasible(
                f"{self.title}: at most {stay} of {problem.rows:,} rows can be in classes as large "
                f"as they require, and {removable} may be suppressed; the largest k required is "
                f"{int(own[used].max())}.",
                remedy="Allow more suppression, or ask those people for a smaller k.",
                best=float(stay),
                best_of="rows that can stay",
            )

    def _check_guards(self, problem: Problem, removable: int) -> None:
        (column,) = self._guarded(problem)
        if column not in problem.trees:
            raise BadPlan(
                f"{self.title} by guarding nodes needs the hierarchy of '{column}', which contains "
                "the nodes.",
                remedy=f"Name its file under [hierarchies] '{column}'.",
            )
        lines = _lines(reference_of(problem).counts(column))
        guards = problem.hierarchies[self.column].leaves
        missing = problem.hierarchies[self.column].missing_leaf
        own, value = problem.leaf_codes(self.column), problem.leaf_codes(column)
        under = np.stack(
            [
                np.ones(len(lines), np.bool_) if g == missing else below(lines, node)
                for g, node in enumerate(guards)
            ]
        )
        unknown = [g for g in range(len(guards)) if not under[g].any()]
        bad = np.flatnonzero(~under[own, value])
        if len(bad):
            what = (
                "name no node of the hierarchy"
                if all(code in unknown for code in own[bad].tolist())
                else f"name no node above their own value of '{column}'"
            )
            raise BadInput(
                f"{len(bad)} guards in '{self.column}' {what} (first in row {int(bad[0]) + 1}).",
                remedy="A guard is the person's value itself, or a group of the hierarchy that "
                "holds it; leave the cell empty for none.",
                values=sorted({guards[c] for c in own[bad].tolist()})[:5],
            )
        # Rows that guard s are under it; in each class with one, those under it fill at most p.
        most = Fraction(str(self.p))
        rows = np.bincount(value, minlength=len(lines))
        for g in range(len(guards)):
            guarding = int(np.count_nonzero(own == g))
            if g == missing or guarding <= removable:
                continue
            outside = problem.rows - int(rows[under[g]].sum())
            if (guarding - removable) * (1 - most) > most * outside:
                least = Fraction(guarding - removable, guarding - removable + outside)
                raise Infeasible(
                    f"{self.title}: {guarding} people guard the same node, and only {outside} rows "
                    f"lie outside it, so that its values are likelier than {self.p:g} somewhere.",
                    remedy=f"Choose p of at least {_rounded_up(least):g}, or allow more "
                    "suppression.",
                    best=float(least),
                    best_of="lowest p",
                )

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups give everyone in them what they ask for."""
        asked = stats.histograms[self.column]
        own = _Entries(asked.group, asked.value, asked.count)
        shown = None
        if self.level == "guard":
            histogram = stats.histograms[self._protected(reference)]
            shown = _Entries(histogram.group, histogram.value, histogram.count)
        return self._asked(stats.sizes, own, shown, reference).good

    def _protected(self, reference: Reference) -> str:
        """Return the guarded column: the one named, or the only sensitive one."""
        frequency = reference.frequency
        return self.sensitive or frequency.shown[frequency.quasi]

    def _asked(
        self, sizes: I64, own: _Entries, shown: _Entries | None, reference: Reference
    ) -> _Asked:
        """Return which classes keep the model, from who asked for what and what they show."""
        groups = len(sizes)
        counts = reference.counts(self.column)
        if shown is None:
            wanted = _whole_numbers(counts.leaves)
            largest = largest_own(own.group, wanted[own.value], groups)
            short = np.min(sizes / np.maximum(largest, 1), initial=np.inf)
            return _Asked(good=sizes >= largest, worst=float(short))
        lines = _lines(reference.counts(self._protected(reference)))
        present: dict[str, npt.NDArray[np.bool_]] = {}
        under: dict[str, I64] = {}
        worst = 0.0
        for guard in np.unique(own.value[own.value != counts.missing_leaf]).tolist():
            node = counts.leaves[guard]
            here = np.zeros(groups, dtype=np.bool_)
            here[own.group[own.value == guard]] = True
            inside = below(lines, node)[shown.value]
            rows = np.bincount(shown.group, weights=shown.rows * inside, minlength=groups)
            present[node], under[node] = here, rows.astype(np.int64)
            worst = max(worst, float(np.max(rows[here] / sizes[here], initial=0.0)))
        good = guards_hold(sizes, present, under, Fraction(str(self.p)))
        return _Asked(good=good, worst=worst)

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return what people who asked for something get."""
        named = f"'{self.column}'" if self.column else "a private column, not named yet,"
        if self.level == "own-k":
            return f"Everyone will be among as many rows as {named} requires."
        return f"No one will be suspected of a value that {named} guards more than {times(self.p)}."

    def recomputable(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> bool:
        """Return whether the release shows which rows are in which class."""
        return plainly_behind(view, audience, reference, context)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return how far the worst class is from what its people ask for.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks, or no release was given.
        """
        sizes = matched(view).sizes
        own = _Entries.of(reference, self.column)
        guarded = self.level == "guard"
        shown = _Entries.of(reference, self._protected(reference)) if guarded else None
        found = self._asked(sizes, own, shown, reference)
        broken = int(np.count_nonzero(~found.good))
        if not len(sizes):
            sentence = "No row is published."
        elif guarded:
            sentence = (
                f"A guarded value is suspected with a chance of at most {found.worst:.4g}; "
                f"{self.p:g} was allowed."
            )
        elif broken:
            sentence = f"In {broken} classes a person requires more rows than there are."
        else:
            sentence = "Everyone is among as many rows as they require."
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state="broken" if broken else "holds",
                bound=self.p if guarded else 1.0,
                reached=found.worst if np.isfinite(found.worst) else 1.0,
                # What a class's people ask for is theirs: no figure of a class says of it.
                per_class=sizes.astype(np.float64),
                column=self._protected(reference) if guarded else "",
                sentence=sentence,
            )
        ]


def _lines(counts: ValueCounts) -> list[Sequence[str]]:
    """Return each leaf's text and what it is generalized to, level by level up to the root."""
    lines = counts.tree.rows()
    return [lines[place] for place in counts.place.tolist()]


def _whole_numbers(texts: Sequence[str]) -> I64:
    """Return texts as whole numbers from 1 up; 0 where they are none."""
    found = [as_number(text) for text in texts]
    whole = [int(n) if math.isfinite(n) and n >= 1 and n == int(n) else 0 for n in found]
    return np.array(whole, dtype=np.int64)


def _rounded_up(share: Fraction) -> float:
    """Return a share with four digits, and not below it."""
    return math.ceil(share * 10_000) / 10_000
