"""X-05: the error of count queries over l, for Anatomy and permutation anonymization."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
    ANATOMY,
    EXPONENT,
    PA,
    STAND_IN,
    Asked,
    as_printed,
    directed,
    error,
    figures,
    li,
    lines,
    permutation_is_better,
    point,
    releases,
)
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Point,
    Printed,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found, mean, per_cent

_S = 0.1
_LONGER = "Permutation, intervals as printed"


class QueryErrorOverL(Experiment):
    """Both techniques, and each on the other's groups."""

    id = "X-05"
    title = "Query error over l"
    source = li("section 4.2.1, figure 1")
    shows = (
        "How far count queries are off that are answered from the two releases, as more diverse "
        "groups are asked for; and what of the difference is the partition's."
    )
    table = "census"
    figures = figures("l", "average relative error")
    printed = tuple(
        one
        for figure in figures
        for one in (
            Printed(
                figure=figure.name,
                series=ANATOMY,
                low=0.14,
                high=0.25,
                words="about 14 to 25 % average error",
            ),
            Printed(
                figure=figure.name, series=PA, low=0.0, high=0.14, words="consistently below 14 %"
            ),
        )
    )
    remarks = (STAND_IN, EXPONENT, "Queries ask for all d + 1 columns, with s = 0.1.")
    small = Settings(rows=10_000, at=(2, 6, 10), columns=(3, 7), queries=1_000)
    full = Settings(at=(2, 4, 6, 8, 10), columns=(3, 4, 5, 6, 7), queries=1_000)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a release."""
        return releases(settings, settings.at)

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and ask."""
        asked = Asked.of(step)
        result = asked.released(bench, context)
        figure, w = f"{asked.name}-{asked.columns}", asked.columns + 1
        found = error(bench, result, context, predicates=w, selectivity=_S)
        points = [point(asked, asked.size, found)]
        if asked.side == PA:
            longer = error(bench, result, context, predicates=w, selectivity=as_printed(_S, w))
            points.append(Point(figure=figure, series=_LONGER, x=asked.size, y=longer, beyond=True))
        return points

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 1."""
        names = [figure.name for figure in self.figures if found.names(figure.name)]
        return [
            permutation_is_better(found, names),
            directed(found, "The error grows with l.", lines(found, names), "rises"),
            _below(found, names),
            _sal_below_occ(found, names),
        ]


def _below(found: Found, names: Sequence[str]) -> Claim:
    says = "Permutation's error stays below 14 %."
    values = [y for name in names for y in found.series(name, PA).values()]
    longer = [y for name in names for y in found.series(name, _LONGER).values()]
    if not found.whole or not values or not longer:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    below = sum(y < 0.14 for y in values)
    measured = f"It is at {below} of {len(values)} points, and {per_cent(max(values))} at most."
    still = sum(y < 0.14 for y in longer)
    because = (
        f"{measured} With intervals as long as the printed formula makes them it is at {still} "
        f"points, {per_cent(mean(longer))} on average instead of {per_cent(mean(values))}: the "
        "formula explains "
        + ("the difference" if still == len(longer) else "part of it, and the table is another one")
        + "."
    )
    holds = below == len(values)
    return Claim(
        says=says,
        holds=holds,
        measured=measured,
        because="" if holds else because,
        error="E-37",
    )


def _sal_below_occ(found: Found, names: Sequence[str]) -> Claim:
    says = "Permutation errs less on SAL-d than on OCC-d."
    pairs: list[tuple[float, float]] = []
    for name in names:
        other = found.series(name.replace("SAL", "OCC"), PA)
        own = found.series(name, PA) if name.startswith("SAL") else {}
        pairs += [(y, other[x]) for x, y in own.items() if x in other]
    if not found.whole or not pairs:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    lower = sum(sal < occ for sal, occ in pairs)
    measured = (
        f"It does at {lower} of {len(pairs)} points: on average "
        f"{per_cent(mean([a for a, _ in pairs]))} against {per_cent(mean([b for _, b in pairs]))}."
    )
    holds = lower == len(pairs)
    because = (
        f"{measured} The source gives the most frequent sensitive value as the reason, and how "
        "frequent it is differs between its table and this one."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
