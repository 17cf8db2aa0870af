"""Singling out: a condition that hardly anybody satisfies, and exactly one row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context, part_of
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
from anon_core.data.frequency import FrequencySet
from anon_core.methods.matching.fitting_people import (
    matched,
    people_of_classes,
    why_not,
    why_not_covered,
)
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.outcome import per_cent
from anon_core.release.release import Persons, View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class SinglingOut(Attack):
    """Name a light predicate for every class that isolates one of its rows.

    1. To fit the class's cells, and to pass a random hash of the whole row as one in m does.
    2. Its weight is the share of the population that satisfies it; only light ones count, since
       heavier ones isolate a row by chance as well.
    3. It isolates with the chance that the hash leaves exactly one row: at least 0.37 where whole
       rows differ.
    """

    name: ClassVar[str] = "singling-out"
    title: ClassVar[str] = "Singling out"
    summary: ClassVar[str] = (
        "An attacker who knows the population the table was drawn from writes a condition that "
        "hardly anyone satisfies, and exactly one person of the table does. The release then "
        "singles that person out; without it, no condition of this kind would."
    )
    formula: ClassVar[str] = (
        "Σ over classes with n·w ≤ limit of P(exactly one row passes) / n; w = share of the "
        "population in the class / m; shown with n·w·(1 − w)^(n − 1)"
    )
    source: ClassVar[str] = "Cohen and Nissim 2020, doi 10.1073/pnas.1914598117"
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("singling out",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        public=True,
        rows_only="It isolates a row, and here one person has several: all of them would have to "
        "be drawn "
        "at once.",
    )
    report: ClassVar[AttackReport] = AttackReport(place=7)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    light: float = number(
        default=0.01,
        low=1e-9,
        high=1.0,
        help="Expected number of rows of a drawn table that satisfy a condition that counts, n·w: "
        "at 1, a third of all conditions isolate someone by chance.",
        label="Lightest conditions",
        unit="rows",
    )
    threshold: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Chance to be isolated above which the people of a class count as at risk.",
        label="At risk above",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a population table, and for whole rows."""
        if audience.population is None or audience.population.codes is None:
            return "It needs a population table that says how likely values are."
        return why_not(view) or why_not_covered(view, audience)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Weigh and score the predicates of all classes.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        people = audience.population
        if people is None or people.codes is None or why_not_covered(view, audience):
            raise AnonError(
                self.reason_not_applicable(view, audience),
                remedy="State a table of the population under [population].",
            )
        persons = matched(view)
        own = part_of(context, 0.0, 0.6)
        found = predicates(view, persons, people, truth, self.light, own)
        raw = truth.raw
        of_raw = predicates(
            raw, matched(raw), people, truth, self.light, part_of(context, 0.6, 1.0)
        )
        rows, sizes = truth.rows, persons.sizes
        isolated, chance = float(found.success.sum()), float(found.chance[found.light].sum())
        risky = found.success > self.threshold
        return [
            AttackResult(
                attack=self.name,
                attempted=rows,
                eligible=view.rows,
                succeeded=isolated,
                rate=isolated / rows,
                worst=float(found.success.max(initial=0.0)),
                baseline=chance / rows,
                raw=float(of_raw.success.sum()) / rows,
                at_risk=int(sizes[risky].sum()),
                threshold=self.threshold,
                per_class=found.success,
                sentence=_sentence(found, isolated, chance, rows, self.light),
                details=(_spread(found, sizes),),
            )
        ]


def _sentence(found: Predicates, isolated: float, chance: float, rows: int, light: float) -> str:
    classes, light_ones = len(found.light), int(found.light.sum())
    if not light_ones:
        least = float((rows * found.weight).min(initial=np.inf))
        return (
            f"None of the {classes:,} classes gives a condition light enough to count: of a drawn "
            f"table at least {least:.2g} rows would satisfy one, more than {light:g}. The "
            "population table is too small for it, or the classes are as full as it."
        )
    return (
        f"{light_ones:,} of {classes:,} classes give a condition so light that {light:g} rows or "
        f"fewer of a drawn table satisfy it. They isolate {isolated:,.1f} of {rows:,} people on "
        f"average ({per_cent(isolated / rows)}); by chance it would be {chance:,.2g}."
    )


def _spread(found: Predicates, sizes: np.ndarray) -> Details:
    """Return how often conditions isolate someone, by how light they are."""
    rows = int(sizes.sum())
    expected = rows * found.weight
    steps = [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, np.inf]
    lines: list[dict[str, float | str]] = []
    for low, high in pairwise(steps):
        inside = (expected > low) & (expected <= high) if low else expected <= high
        if inside.any():
            lines.append(
                {
                    "rows expected": f"up to {high:g}" if np.isfinite(high) else "more",
                    "isolates": float(found.success[inside].mean()),
                    "by chance": float(found.chance[inside].mean()),
                    "classes": int(inside.sum()),
                }
            )
    return Details(
        title="Conditions by the rows of a drawn table that satisfy them",
        rows=tuple(lines),
        x="rows expected",
        y=("isolates", "by chance"),
        drawn="bars",
        note="Conditions that are not light are not counted, and shown at 0.",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Predicates:
    """One predicate a class: to fit its cells, and a keyed hash of the whole row that 1/m pass.

    Attributes
    ----------
    weight : float64 array of shape (classes,)
        Chance that a row drawn from the population satisfies it.
    chance : float64 array of shape (classes,)
        Chance that it isolates one of as many rows drawn from the population.
    success : float64 array of shape (classes,)
        Chance, over the hash, that it isolates a row of the table; 0 where it is not light.
    light : bool array of shape (classes,)
        Whether so few rows of a drawn table are expected to satisfy it that it counts.
    """

    weight: F64
    chance: F64
    success: F64
    light: npt.NDArray[np.bool_]


def by_chance(weight: F64, rows: int) -> F64:
    """Return the chance that exactly one of n drawn rows satisfies a predicate of some weight.

    It is n·w·(1 − w)^(n − 1) (Cohen and Nissim 2020, doi 10.1073/pnas.1914598117).

    Examples
    --------
    >>> by_chance(np.array([1 / 1000]), 1000).round(4).tolist()
    [0.3681]
    """
    return rows * weight * (1 - weight) ** (rows - 1)


def by_hash(single: I64, distinct: I64, share: F64) -> F64:
    """Return the chance that a random hash leaves exactly one row, by whole rows that differ.

    Parameters
    ----------
    single : int64 array of shape (classes,)
        Whole rows that no one else has.
    distinct : int64 array of shape (classes,)
        Whole rows that differ: equal ones pass together.
    share : float64 array of shape (classes,)
        Share of the rows that pass.

    Examples
    --------
    >>> sizes = np.array([2, 3, 5, 10])
    >>> by_hash(sizes, sizes, 1 / sizes).round(3).tolist()
    [0.5, 0.444, 0.41, 0.387]
    """
    return single * share * (1 - share) ** np.maximum(distinct - 1, 0)


def predicates(
    view: View,
    persons: Persons,
    population: Population,
    truth: Truth,
    light: float,
    context: Context,
) -> Predicates:
    """Weigh the predicate of every class, and score those that are light.

    Parameters
    ----------
    persons : Persons
        Its classes of whole rows.
    population : Population
        What rows are taken to be drawn from; with a table.
    light : float
        Rows of a drawn table that may be expected to satisfy a predicate that counts.
    """
    sizes, rows = persons.sizes, int(persons.sizes.sum())
    people = people_of_classes(population, view, persons, context)
    share = 1 / sizes
    weight = people / population.size * share
    lighter = rows * weight <= light
    success = np.zeros(len(sizes))
    if lighter.any():
        single, distinct = _whole_rows(view, persons, truth.frequency, lighter, context)
        success[lighter] = by_hash(single, distinct, share[lighter])
    return Predicates(weight=weight, chance=by_chance(weight, rows), success=success, light=lighter)


def _whole_rows(
    view: View,
    persons: Persons,
    frequency: FrequencySet,
    chosen: npt.NDArray[np.bool_],
    context: Context,
) -> tuple[I64, I64]:
    """Return how many whole rows that fit some classes are single, and how many differ."""
    runs = len(frequency.run_count)
    single = np.bincount(frequency.run[frequency.count == 1], minlength=runs).astype(np.int64)
    distinct = np.bincount(frequency.run, minlength=runs).astype(np.int64)
    codes = persons.codes[chosen]
    ends = [view.vocabularies[n] for n in persons.columns]
    low = np.stack([v.lo[codes[:, d]] for d, v in enumerate(ends)], axis=1)
    high = np.stack([v.hi[codes[:, d]] for d, v in enumerate(ends)], axis=1)
    own = frequency.run_codes[:, [view.quasi.index(n) for n in persons.columns]]
    if np.array_equal(low, high):  # runs are sorted by their codes, whole classes are runs
        place = {tuple(row): n for n, row in enumerate(own.tolist())}
        at = np.array([place.get(tuple(row), -1) for row in low.tolist()], dtype=np.int64)
        none = at < 0
        return np.where(none, 0, single[at]), np.where(none, 0, distinct[at])
    found = np.zeros((2, len(low)), dtype=np.int64)
    for place, (lo, hi) in enumerate(zip(low, high, strict=True)):
        context.check()
        fits = np.ones(runs, dtype=np.bool_)
        for d in range(own.shape[1]):
            fits &= (own[:, d] >= lo[d]) & (own[:, d] <= hi[d])
        found[:, place] = single[fits].sum(), distinct[fits].sum()
    return found[0], found[1]
