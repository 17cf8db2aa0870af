"""X-09: the time that both techniques take, over the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permuting import (
    ANATOMY,
    PA,
    SETS,
    STAND_IN,
    Asked,
    directed,
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
from anon_core.teaching.experiments.measured_points import Found

_D = 7


class Runtime(Experiment):
    """Seconds of the search, without verification and files."""

    id = "X-09"
    title = "Runtime over the number of rows"
    source = li("section 4.3, figure 5")
    shows = "What the better groups of permutation anonymization cost in time."
    table = "census"
    figures = tuple(
        Figure(name=name, title=f"{name}-{_D}, l = 10", x="n, rows", y="seconds") for name in SETS
    )
    printed = tuple(
        Printed(figure=name, series=PA, low=0.0, high=80.0, words="less than 80 seconds")
        for name in SETS
    )
    remarks = (
        STAND_IN,
        "Seconds are those of the search alone; each release is verified afterwards. Of three "
        "repeats the quickest counts. The source ran on a processor of 1.9 GHz with 1 GB.",
    )
    small = Settings(at=(5_000, 10_000, 20_000, 40_000), columns=(_D,), size=10)
    full = Settings(at=(50_000, 100_000, 200_000, 295_000), columns=(_D,), size=10)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a release."""
        return [
            Asked(side=side, name=name, columns=d, size=settings.size, rows=int(n)).step()
            for d in settings.columns
            for name in SETS
            for n in settings.at
            for side in (ANATOMY, PA)
        ]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release three times."""
        asked = Asked.of(step)
        results = [asked.released(bench, context) for _ in range(3)]
        quickest = min(result.seconds["search"] for result in results)
        rows = results[0].problem.rows
        return [Point(figure=asked.name, series=asked.side, x=rows, y=quickest)]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 5."""
        series = {
            f"{side} on {name}": list(found.series(name, side).values())
            for name in found.names_of_figures()
            for side in (ANATOMY, PA)
        }
        return [
            _under_80(found),
            directed(found, "The time grows with n.", series, "rises", unit="s"),
            _anatomy_is_quicker(found),
        ]


def _under_80(found: Found) -> Claim:
    says = "Permutation takes less than 80 seconds."
    values = [y for name in SETS for y in found.series(name, PA).values()]
    if not found.whole or not values:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    measured = f"It takes {max(values):.2f} s at most."
    holds = max(values) < 80
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else measured)


def _anatomy_is_quicker(found: Found) -> Claim:
    says = "Anatomy is quicker than permutation."
    pairs = [pair for name in SETS for pair in found.both(name, ANATOMY, PA)]
    if not found.whole or not pairs:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    quicker = sum(a < b for a, b in pairs)
    measured = f"It is at {quicker} of {len(pairs)} sizes."
    holds = quicker == len(pairs)
    because = f"{measured} Both take so little that what else the machine did decides."
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
