"""X-10: by how much permutation lowers Anatomy's error, and how much of it is the partition's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
    ANATOMY,
    ANATOMY_SAME,
    EXPONENT,
    PA,
    PA_SAME,
    SETS,
    STAND_IN,
    Asked,
    error,
    li,
)
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Point,
    Printed,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found, mean, per_cent

_PRINTED: Mapping[str, float] = {"SAL": 0.25, "OCC": 0.30}
#: Series → the release whose error is set against the other's.
_RATIOS: Mapping[str, tuple[str, str]] = {
    "Permutation against Anatomy": (PA, ANATOMY),
    "Same groups, Anatomy's": (PA_SAME, ANATOMY),
    "Same groups, Permutation's": (PA, ANATOMY_SAME),
    "Anatomy on Permutation's groups against its own": (ANATOMY_SAME, ANATOMY),
}
_WHOLE, _SAME_A, _SAME_P, _GROUPS = _RATIOS
_WITHIN = 0.05


class Reduction(Experiment):
    """Permutation's error in units of Anatomy's, with each one's groups and with the same."""

    id = "X-10"
    title = "Permutation's error relative to Anatomy's"
    source = li("section 4, summary")
    shows = (
        "The source sums its figures up: permutation lowers the error by about a quarter or a "
        "third. With the same groups for both it is seen what the partition does, and what "
        "permuting does."
    )
    table = "census"
    figures = tuple(
        Figure(
            name=name,
            title=f"{name}: error relative to the other release's, mean over l",
            x="d, quasi-identifiers",
            y="error / the other's error",
        )
        for name in SETS
    )
    printed = tuple(
        Printed(
            figure=name,
            series=_WHOLE,
            low=1 - cut,
            high=1 - cut,
            words=f"reduced by about {100 * cut:.0f} %",
        )
        for name, cut in _PRINTED.items()
    )
    remarks = (STAND_IN, EXPONENT, "Queries ask for all d + 1 columns, with s = 0.1.")
    small = Settings(rows=10_000, at=(2, 8), columns=(3, 5, 7), queries=1_000)
    full = Settings(at=(2, 4, 6, 8, 10), columns=(3, 5, 7), queries=1_000)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step for each d and set."""
        return [
            Step(key=f"{name}-{d}", given={"set": name, "d": d})
            for d in settings.columns
            for name in SETS
        ]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release with both techniques on both partitions, and ask each."""
        name, d = str(step.given["set"]), int(step.given["d"])
        table = bench.table(self.table)
        most = float(table.frame[SETS[name]].value_counts(normalize=True).iloc[0])
        sizes = [int(size) for size in bench.settings.at if most <= 1 / size]
        errors = {side: mean(self._errors(bench, context, name, d, side, sizes)) for side in _SIDES}
        return [
            Point(
                figure=name,
                series=series,
                x=d,
                y=errors[one] / errors[other],
                beyond=series != _WHOLE,
                note=f"l = {', '.join(str(size) for size in sizes)}",
            )
            for series, (one, other) in _RATIOS.items()
            if errors[other] > 0
        ]

    def _errors(
        self, bench: Bench, context: Context, name: str, d: int, side: str, sizes: Sequence[int]
    ) -> list[float]:
        rows = bench.settings.rows
        asked = [Asked(side=side, name=name, columns=d, size=size, rows=rows) for size in sizes]
        return [
            error(bench, one.released(bench, context), context, predicates=d + 1, selectivity=0.1)
            for one in asked
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says in its summary."""
        return [_reduced(found, name) for name in SETS]


_SIDES = (ANATOMY, PA, PA_SAME, ANATOMY_SAME)


def _reduced(found: Found, name: str) -> Claim:
    says = f"Permutation lowers the error by about {100 * _PRINTED[name]:.0f} % on {name}."
    ratio = {series: list(found.series(name, series).values()) for series in _RATIOS}
    if not found.whole or not all(ratio.values()):
        return Claim(says=says, holds=None, measured="Not measured yet.")
    own, same_a, same_p, groups = (mean(ratio[s]) for s in (_WHOLE, _SAME_A, _SAME_P, _GROUPS))
    measured = f"On {name} its error is {own:.2f} times Anatomy's on average over d and l."
    holds = abs(own - (1 - _PRINTED[name])) <= _WITHIN
    partition = "lower" if groups < 1 else "raise"
    permuting = "raises" if min(same_a, same_p) > 1 else "does not always raise"
    because = (
        f"{measured} With the same groups permuting {permuting} the error: {same_a:.2f} times on "
        f"Anatomy's groups, {same_p:.2f} times on Permutation's, since it cuts the links among "
        f"the quasi-identifiers. The groups of similar rows alone, under Anatomy, {partition} it: "
        f"to {per_cent(groups)} of what Anatomy's own groups give."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
