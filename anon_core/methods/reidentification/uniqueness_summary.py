"""The population's uniques in words and bars, where nothing but the population's size is known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anon_core.base.arrays import B1
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.matching.fitting_rows import fits
from anon_core.methods.reidentification.population_uniques import (
    LEAST_REPEATS,
    Estimate,
    class_sizes,
    estimates,
    fitted,
    individual_uniqueness,
    match_correctness,
    tells_enough,
)
from anon_core.release.attack_result import Cell, Details
from anon_core.release.audience import Audience
from anon_core.release.ground_truth import Truth
from anon_core.release.outcome import per_cent
from anon_core.release.release import Persons, View

_SINGLES = 5
_NONE = (
    "0 by construction: no published class has a single row, so these estimators have nothing to "
    "go by. That does not mean that no one can be found."
)
_NOTE = (
    "Indicative: three estimators of how many people are unique in the population, from the "
    "number of published classes with one row, two rows and so on. Up to a sampling share of 0.1 "
    "Pitman's is taken, or Zayatz's where Pitman's model does not fit; beyond, the smaller of "
    "Zayatz's and the slide negative binomial's (SNB). They assume a simple random sample and a "
    "population of their own model's shape; do not rely on any of them where they differ much."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Uniques:
    """What is said of unique people in the population.

    Attributes
    ----------
    details : tuple of Details
    sentence : str
        Begins with a blank; empty where nothing is said.
    chance : float
        Chance that a row which is a class of its own is that of a person who is unique in the
        population, by the estimate that is taken; 0 where there is none.
    single : bool array of shape (classes,)
        Which classes have one row.
    """

    details: tuple[Details, ...] = ()
    sentence: str = ""
    chance: float = 0.0
    single: B1 = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


def uniques_told(view: View, audience: Audience, truth: Truth, context: Context) -> Uniques:
    """Return the estimates in words and bars.

    Nothing is said where a population table is counted instead, or where classes overlap, so that
    their sizes are no sample of anything.
    """
    population = audience.population
    if population is None or population.codes is not None or not view.rows:
        return Uniques()
    persons = matched(view)
    if fits(truth.frequency, view, persons, context).rows_of_person is not None:
        return Uniques()
    sizes = persons.sizes if truth.crowd is None else truth.crowd.sizes
    title = "Unique people in the population, indicative estimates"
    sample = class_sizes(sizes, population.size)
    if not sample.of(1):
        row: dict[str, Cell] = {"estimator": "all", "people": 0, "share": 0.0}
        told = Details(
            title=title, rows=(row,), x="estimator", y=("share",), drawn="table", note=_NONE
        )
        return Uniques(details=(told,), sentence=f" Unique people in the population: {_NONE}")
    if not tells_enough(sample):
        return Uniques(
            sentence=(
                f" How many people of the population are unique is not estimated: {sample.repeats} "
                f"of {sample.rows:,} rows equal another one, and fewer than {LEAST_REPEATS} "
                "are not enough."
            ),
        )
    singles = _singles(view, persons, population.size, context)
    found = estimates(sample)
    told = Details(
        title=title,
        rows=tuple(_row(one, population.size) for one in found),
        x="estimator",
        y=("share",),
        drawn="bars",
        note=_NOTE,
    )
    taken = next(one for one in found if one.chosen)
    if taken.uniques is None:
        return Uniques(details=(told, singles))
    chance = min(taken.uniques * sample.share / sample.of(1), 1.0)
    return Uniques(
        details=(told, singles),
        sentence=(
            f" Indicative: about {taken.uniques:,.0f} people of the population are unique in these "
            f"columns ({taken.name}), {per_cent(chance)} of the {sample.of(1):,} rows that are "
            "alone in their class."
        ),
        chance=chance,
        single=sizes == 1,
    )


def _row(one: Estimate, size: int) -> dict[str, Cell]:
    return {
        "estimator": one.name,
        "people": "no estimate" if one.uniques is None else round(one.uniques, 2),
        "share": 0.0 if one.uniques is None else one.uniques / size,
        "taken": "yes" if one.chosen else "",
    }


def _singles(view: View, persons: Persons, size: int, context: Context) -> Details:
    """Return how likely single rows are unique in the population; the first of very many."""
    single = np.flatnonzero(persons.sizes == 1)[:_SINGLES]
    copula = fitted(persons.codes, persons.sizes)
    rows: list[dict[str, Cell]] = []
    for line in single.tolist():
        context.check()
        values = persons.codes[line]
        mass = copula.mass(values, context.generator)
        cells = [
            f"{name} = {view.vocabularies[name].texts[code]}"
            for name, code in zip(persons.columns, values.tolist(), strict=True)
        ]
        rows.append(
            {
                "row": ", ".join(cells),
                "unique in the population": individual_uniqueness(mass, size),
                "a match is right": match_correctness(mass, size),
            }
        )
    return Details(
        title="How likely single rows are unique in the population",
        rows=tuple(rows),
        x="row",
        y=("unique in the population", "a match is right"),
        drawn="table",
        note=f"Of the first {_SINGLES} rows that are a class of their own: (1 − p)^(N − 1), and "
        "the chance that a match is right, where p is the mass of the row's cells under a Gaussian "
        "copula of the published columns (Rocher et al. 2019). Texts are taken in the order of "
        "their hierarchy.",
    )
