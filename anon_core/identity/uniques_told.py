"""The population's uniques in words and bars, where nothing but the population's size is known."""

from __future__ import annotations

import numpy as np

from ..base.context import Context
from ..overlap.fitting_people import matched
from ..overlap.fitting_rows import fits
from ..release.attack_result import Cell, Details
from ..release.audience import Audience
from ..release.release import Persons, View
from ..release.truth import Truth
from .copula import fitted, individual_uniqueness, match_correctness
from .population_uniques import Estimate, class_sizes, estimates

_SINGLES = 5
_NONE = (
    "0 by construction: no published class has a single row, so these estimators have nothing to "
    "go by. That is no sign that nobody can be found."
)
_NOTE = (
    "Three estimators of how many people of the population nobody else is like, told from how many "
    "published classes have one row, two rows and so on. Up to a sampling share of 0.1 Pitman's is "
    "taken, or Zayatz's where Pitman's model does not fit; beyond, the smaller of Zayatz's and the "
    "slide negative binomial's (SNB). The interval holds if the taken estimator's model is right. "
    "They assume a simple random sample."
)


def uniques_told(
    view: View, audience: Audience, truth: Truth, context: Context
) -> tuple[tuple[Details, ...], str]:
    """Return the estimates, and a sentence that begins with a blank.

    Both are empty where a population table is counted instead, or where classes overlap, so that
    their sizes are no sample of anything.
    """
    population = audience.population
    if population is None or population.codes is not None or not view.rows:
        return (), ""
    persons = matched(view)
    if fits(truth.frequency, view, persons, context).rows_of_person is not None:
        return (), ""
    sizes = persons.sizes if truth.crowd is None else truth.crowd.sizes
    title = "Unique people in the population, estimated"
    sample = class_sizes(sizes, population.size)
    if not sample.of(1):
        row: dict[str, Cell] = {"estimator": "all", "people": 0, "share": 0.0}
        told = Details(
            title=title, rows=(row,), x="estimator", y=("share",), drawn="table", note=_NONE
        )
        return (told,), f" Unique people in the population: {_NONE}"
    found = estimates(sample, context)
    told = Details(
        title=title,
        rows=tuple(_row(one, population.size) for one in found),
        x="estimator",
        y=("share",),
        drawn="bars",
        note=_NOTE,
    )
    singles = _singles(view, persons, population.size, context)
    taken = next(one for one in found if one.chosen)
    if taken.uniques is None or taken.interval is None:
        return (told, singles), ""
    low, high = taken.interval
    return (told, singles), (
        f" About {taken.uniques:,.0f} people of the population are unique in these columns "
        f"({taken.name}; {low:,.0f} to {high:,.0f} if its model is right)."
    )


def _row(one: Estimate, size: int) -> dict[str, Cell]:
    low, high = one.interval or ("", "")
    return {
        "estimator": one.name,
        "people": "no estimate" if one.uniques is None else round(one.uniques, 2),
        "share": 0.0 if one.uniques is None else one.uniques / size,
        "from": low if isinstance(low, str) else round(low, 2),
        "to": high if isinstance(high, str) else round(high, 2),
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
