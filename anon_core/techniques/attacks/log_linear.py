"""Log-linear risk: how many single rows are of people who are unique in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.errors import AnonError, listing
from anon_core.base.params import choice, sets_of_columns
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
    acceptable_chance,
)
from anon_core.methods.matching.fitting_people import matched, why_not
from anon_core.methods.matching.fitting_rows import texts_overlap
from anon_core.methods.reidentification.log_linear_models import (
    MODELS,
    FilledCells,
    Fit,
    Pairs,
    filled_cells,
    fit_model,
)
from anon_core.release.attack_result import AttackResult, Cell, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

_SHOWN = 5


@register("attack")
@dataclass(frozen=True, kw_only=True)
class LogLinear(Attack):
    """Name a person of the population for every row that is alone, by a log-linear model.

    How many people fit a cell is borrowed from the other cells: f ~ Poisson(π λ), and π λ follows
    from the columns, and from pairs of them. A model that does not converge decides nothing.
    """

    name: ClassVar[str] = "log-linear"
    title: ClassVar[str] = "Log-linear risk of single rows"
    summary: ClassVar[str] = (
        "An attacker names a person of the population for each unique row. A log-linear model of "
        "the columns, and of pairs of them, estimates how many people fit."
    )
    formula: ClassVar[str] = (
        "τ₁ = Σ e^−a are unique in the population, τ₂ = Σ (1 − e^−a) / a are named right, over "
        "cells of one row; a = (1 − π) λ, λ = μ / π, μ fitted rows of the cell, π = n / N, or "
        "rows / weights of the cell; rate τ₂ / n; an estimate"
    )
    source: ClassVar[str] = (
        "Skinner and Holmes 1998, Journal of Official Statistics 14(4); Skinner and Shlomo 2008, "
        "doi 10.1198/016214507000001328"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability"), learns=True
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        from_groups=True,
        takes_weights=True,
        counts_people=True,
    )
    report: ClassVar[AttackReport] = AttackReport(
        place=3,
        achieves="By a log-linear model, someone who does not know who is in the table pins a "
        "single row to the right person",
    )
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    model: str = choice(
        default="independence",
        options=MODELS,
        help="What the fitted rows depend on. All are shown; this one gives the attack's figures.",
        label="Model",
    )
    sets: tuple[tuple[str, ...], ...] = sets_of_columns(
        help="Quasi-identifiers that depend on each other, such as [['age', 'zip']]: chosen are "
        "the pairs within each set.",
        label="Columns that depend",
        empty="none chosen",
    )
    threshold: float = acceptable_chance()

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a population, and for cells that are the same for everyone."""
        if audience.population is None and not audience.roles.weight:
            return "It needs a population: a table of it, its size, or the weights of a survey."
        if why := why_not(view):
            return why
        strange = [n for own in self.sets for n in own if n not in view.quasi]
        if strange:
            return f"{listing(strange)} is chosen and no quasi-identifier."
        if any(len(own) < 2 for own in self.sets) or (self.model == "chosen" and not self.sets):
            return "Choose at least two columns that depend on each other."
        persons = matched(view)
        if view.averaged or any(
            texts_overlap(view.vocabularies[name], persons.codes[:, d])
            for d, name in enumerate(persons.columns)
        ):
            return "It needs labels of which each value has one: here they overlap."
        too_many = filled_cells(view, 1.0, None).too_many(self.model, self._chosen(view))
        return too_many and (
            f"It would fit {too_many}. Choose independent columns, or publish coarser labels."
        )

    def _chosen(self, view: View) -> Pairs:
        at = matched(view).columns.index
        return tuple((at(a), at(b)) for own in self.sets for a, b in combinations(own, 2))

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Fit the models, and one of them to the table as it is.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks, or there is no population.
        """
        population = audience.population
        weighted = bool(audience.roles.weight)
        if population is None and not weighted:
            raise AnonError(
                self.reason_not_applicable(view, audience),
                remedy="State a population under [population], as a size or a file.",
            )
        size = truth.weighed_people if population is None or weighted else float(population.size)
        chosen, crowd = self._chosen(view), truth.crowd
        everyone = truth.rows if crowd is None else crowd.total
        shown = view.rows if crowd is None else crowd.published
        cells = filled_cells(
            view, min(shown / size, 1.0), truth.class_weights if weighted else None, crowd
        )
        models = [name for name in MODELS if name != "chosen" or self.sets]
        fits = [fit_model(cells, name, chosen, context) for name in models]
        taken = fits[models.index(self.model)]
        raw_view = truth.raw_in_groups
        raw_cells = filled_cells(
            raw_view,
            min(everyone / size, 1.0),
            truth.raw_class_weights if weighted else None,
            truth.raw_crowd_in_groups,
        )
        of_raw = fit_model(raw_cells, self.model, self._chosen(raw_view), context)
        singles = int(cells.single.sum())
        # Where nothing could be fitted, each of the single rows may be that of a unique person.
        per_class, right = _named(cells, taken, crowd)
        open_ = len(right) if taken.right is None else 0
        succeeded = 0.0 if open_ else float(right.sum())
        raw = float(_named(raw_cells, of_raw, truth.raw_crowd_in_groups)[1].sum())
        return [
            AttackResult(
                attack=self.name,
                attempted=everyone,
                eligible=shown,
                succeeded=succeeded,
                undecided=open_,
                rate=(succeeded + open_) / everyone,
                interval=(0.0, open_ / everyone) if open_ else None,
                worst=float(right.max(initial=0.0)),
                baseline=len(right) / size / everyone,
                raw=raw / everyone,
                at_risk=int((right > self.threshold).sum()),
                threshold=self.threshold,
                per_class=per_class,
                estimated=True,
                sentence=_sentence(taken, singles, None if crowd is None else right)
                + _of_raw(of_raw),
                details=(_models(fits, singles), *_rows(view, cells, taken)),
            )
        ]


def _named(cells: FilledCells, fit: Fit, crowd: Crowd | None) -> tuple[F64, F64]:
    """Return the chance of each class, and of each single row, or person with one, to be named.

    A person with several rows is as exposed as the most exposed of them. Where nothing could be
    fitted, each counts as named.
    """
    chance = np.zeros(len(cells.count))
    chance[cells.single] = 1.0 if fit.right is None else fit.right
    per_class = chance[cells.of_class]
    if crowd is None:
        return per_class, chance[cells.single]
    highest = crowd.highest(per_class)
    return per_class, highest[highest > 0]


def _sentence(fit: Fit, singles: int, people: F64 | None) -> str:
    """Return the finding; `people` are the chances of persons, where rows are not persons."""
    alone = f"{singles:,} {'row is' if singles == 1 else 'rows are'} alone in the release"
    if people is not None:
        alone = (
            f"{singles:,} {'combination is' if singles == 1 else 'combinations are'} of one person "
            f"alone in the release, {len(people):,} {'person' if len(people) == 1 else 'people'}"
        )
    if fit.unique is None or fit.right is None:
        return (
            f"{alone}. The log-linear model of {MODELS[fit.name]} does not say how many people "
            f"fit them ({fit.said}): all count as exposed."
        )
    if not singles:
        return f"{alone}, so that a log-linear model names no one."
    unique, right = float(fit.unique.sum()), float(fit.right.sum())
    return (
        f"{alone}. Estimated by a log-linear model of {MODELS[fit.name]}, {unique:.3g} of them "
        f"({per_cent(unique / singles)}) are of people who are unique in the population, and "
        f"{right:.3g} are named right, with chance {float(fit.right.max()):.3g} at worst."
        + ("" if people is None else f" About {float(people.sum()):.3g} people are named.")
        + f"{f' But {fit.said}.' if fit.said else ''}"
    )


def _of_raw(fit: Fit) -> str:
    """Return what is to be known of the table as it is, beginning with a blank; empty for most."""
    if fit.right is not None:
        return ""
    return f" Of the table as it is all single rows count, since no model is fitted ({fit.said})."


def _models(fits: Sequence[Fit], singles: int) -> Details:
    return Details(
        title="Single rows by log-linear models, estimates",
        rows=tuple(fit.line(singles) for fit in fits),
        x="model",
        y=("share unique in the population", "share named right"),
        drawn="table",
        note="Shares are of the rows that are alone. Which model is right is not settled: with too "
        "few terms it mostly overstates the risk, with too many it understates it. Combinations "
        "that cannot exist are left out where their pair of columns is modelled.",
    )


def _rows(view: View, cells: FilledCells, fit: Fit) -> tuple[Details, ...]:
    """Return the single rows that are named right most often."""
    if fit.mean is None or fit.unique is None or fit.right is None or not len(fit.right):
        return ()
    persons = matched(view)
    first = np.unique(cells.of_class, return_index=True)[1]
    single = np.flatnonzero(cells.single)
    rows: list[dict[str, Cell]] = []
    for at in np.argsort(-fit.right, kind="stable")[:_SHOWN].tolist():
        codes = persons.codes[first[single[at]]].tolist()
        shown = [
            f"{name} = {view.vocabularies[name].texts[code]}"
            for name, code in zip(persons.columns, codes, strict=True)
        ]
        rows.append(
            {
                "row": ", ".join(shown),
                "people who fit": float(fit.mean[at]),
                "unique in the population": float(fit.unique[at]),
                "named right": float(fit.right[at]),
            }
        )
    return (
        Details(
            title="Single rows at most risk, estimates",
            rows=tuple(rows),
            x="row",
            y=("unique in the population", "named right"),
            drawn="table",
            note=f"At most {_SHOWN} rows. People who fit: λ, as the model of "
            f"{MODELS[fit.name]} expects them before one was drawn.",
        ),
    )
