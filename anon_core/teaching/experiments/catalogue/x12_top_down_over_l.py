"""X-12: the same top-down partitioner over L, for three kinds of l-diversity of race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.top_down import (
    CAVG,
    GCP,
    STAND_IN,
    aalborg,
    figures,
    points,
)
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Point,
    Printed,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found, mean

_DISTINCT, _ENTROPY, _RECURSIVE = "L-Diverse", "L-Entropy", "L-Recursive"
_C = 7.0
_MODELS: Mapping[str, Mapping[str, Any]] = {
    _DISTINCT: {"name": "l-diversity"},
    _ENTROPY: {"name": "entropy-l-diversity"},
    _RECURSIVE: {"name": "recursive-l-diversity", "c": _C},
}


class TopDownOverL(Experiment):
    """Race as the sensitive column, of which most rows have one value."""

    id = "X-12"
    title = "Top-down partitioning over L"
    source = aalborg("section 5.2, figure 5.2")
    shows = (
        "What distinct, entropy and recursive l-diversity cost where the sensitive column is "
        "uneven, and which of them can be had at all."
    )
    table = "adult-all"
    figures = figures("L")
    printed = (
        Printed(
            figure=GCP, series=_DISTINCT, low=0.77, high=0.77, words="an average of 0.77 for L > 1"
        ),
        Printed(figure=GCP, series="other metrics", low=0.989, high=0.989, words="at most 0.989"),
        Printed(figure=CAVG, series=_DISTINCT, low=200, high=200, words="an average of 200"),
        Printed(
            figure=CAVG,
            series=f"{_ENTROPY}, {_RECURSIVE}",
            low=6460,
            high=6460,
            words="an average of 6,460 for L > 1",
        ),
    )
    remarks = (
        STAND_IN,
        "The source does not state its fixed K; 45,222 rows / 6,460 = 7 is what one single class "
        "gives with K = 7 (E-40), so K is 7 here.",
        f"Nor does it state c of recursive (c, l)-diversity; here it is {_C:g}, the least whole "
        "number with which (c, 2)-diversity of race can be kept at all.",
    )
    small = Settings(at=(1, 2, 3, 4, 5), size=7)
    full = Settings(at=(1, 2, 3, 4, 5), size=7)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step for each kind and L."""
        return [
            Step(key=f"{name}, L = {size:g}", given={"name": name, "l": int(size)})
            for name in _MODELS
            for size in settings.at
        ]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and measure."""
        name, size, k = str(step.given["name"]), int(step.given["l"]), bench.settings.size
        models: list[Mapping[str, Any]] = [{"name": "k-anonymity", "k": k}]
        if size > 1:  # every class has one value
            models.append({**_MODELS[name], "l": size})
        return points(bench, models, k, (name, size), context)

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 5.2."""
        return [
            _entropy(found),
            _near(found, GCP, _DISTINCT, 0.77, 0.05),
            _near(found, CAVG, _DISTINCT, 200, 50),
            _near(found, CAVG, _RECURSIVE, 6460, 65),
        ]


def _entropy(found: Found) -> Claim:
    says = "Entropy l-diversity of race is reached for L of 2 and more, with a C_AVG of 6,460."
    asked = [f"{_ENTROPY}, L = {size:g}" for size in found.settings.at if size > 1]
    reached = {x: y for x, y in found.series(CAVG, _ENTROPY).items() if x > 1}
    done = len(reached) + sum(key in found.refused for key in asked)
    if not asked or done < len(asked):
        return Claim(says=says, holds=None, measured="Not measured yet.", error="E-40")
    measured = f"It is reached for {len(reached)} of {len(asked)} values of L above 1."
    holds = len(reached) == len(asked)
    refused = [key for key in asked if key in found.refused]
    because = measured
    if refused:
        because = f"{measured} {found.refused[refused[0]]}"
    proven = bool(refused) and all(key in found.proven for key in refused)
    return Claim(
        says=says,
        holds=holds,
        measured=measured,
        because="" if holds else because,
        wrong=not holds and proven and not found.generated and not found.settings.rows,
        error="E-40",
    )


def _near(found: Found, figure: str, series: str, printed: float, within: float) -> Claim:
    what = "information loss" if figure == GCP else "average class size"
    says = f"The {what} of {series} is {printed:g} on average for L > 1."
    asked = [f"{series}, L = {size:g}" for size in found.settings.at if size > 1]
    values = [y for x, y in found.series(figure, series).items() if x > 1]
    if not found.whole:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    refused = [key for key in asked if key in found.refused]
    if not values:
        return Claim(
            says=says,
            holds=False,
            measured="It is never reached.",
            because=f"{series} is never reached: {found.refused[refused[0]]}" if refused else says,
        )
    measured = f"It is {mean(values):.4g} on average over {len(values)} values of L"
    measured += f", and not reached for {len(refused)}." if refused else "."
    holds = abs(mean(values) - printed) <= within
    because = (
        f"The {what} of {series} is {mean(values):.4g}, not {printed:g}, for L > 1: the source "
        "states neither K nor which columns it took, and its algorithm checks the first class only "
        "(E-35) where here every class is checked."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
