"""X-11: loss, class sizes and runtime of the top-down partitioner over K."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.top_down import (
    CAVG,
    DM,
    GCP,
    SECONDS,
    STAND_IN,
    WHOLE,
    aalborg,
    figures,
    points,
)
from anon_core.teaching.experiments.chart import shown
from anon_core.teaching.experiments.experiment import Claim, Experiment, Point, Settings, Step
from anon_core.teaching.experiments.points import Found, Way, goes

_SERIES = "K-anonymity"


class TopDownOverK(Experiment):
    """One dimension at a time, split for all rows."""

    id = "X-11"
    title = "Top-down partitioning over K"
    source = aalborg("section 5.1, figure 5.1")
    shows = (
        "What a larger K costs where a column is split for all rows at once: information loss, "
        "average class size, discernibility, and time."
    )
    table = "adult-all"
    figures = figures("K")
    remarks = (
        STAND_IN,
        "The source prints the curves without figures; which K it tried is not said.",
        "GCP has weights of 1 (E-36); numbers are split as the corrected algorithm does (E-33).",
    )
    small = Settings(rows=10_000, at=(2, 5, 10, 20, 50, 100))
    full = Settings(at=(2, 5, 10, 20, 50, 100, 200, 500))

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step for each K."""
        return [Step(key=f"K = {k:g}", given={"k": int(k)}) for k in settings.at]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and measure."""
        k = int(step.given["k"])
        return points(bench, [{"name": "k-anonymity", "k": k}], k, (_SERIES, k), context)

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 5.1."""
        return [
            _high(found),
            _way(found, GCP, "The information loss rises with K.", "rises"),
            _way(found, CAVG, "The average class size, in units of K, falls.", "falls"),
            _way(found, DM, "The discernibility rises with K.", "rises"),
            _way(found, SECONDS, "The runtime falls with K.", "falls"),
        ]


def _high(found: Found) -> Claim:
    says = "The information loss is high already at K = 2."
    loss = found.series(GCP, _SERIES)
    if not loss:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    least = min(loss)
    measured = f"It is {loss[least]:.2f} at K = {least:g}, on a scale from 0 to 1."
    holds = loss[least] > 0.5
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else measured)


def _way(found: Found, figure: str, says: str, way: Way) -> Claim:
    line = found.series(figure, _SERIES)
    holds = goes(list(line.values()), way) if found.whole else None
    if holds is None:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    rise = ", ".join(f"{shown(y, '')} at {x:g}" for x, y in line.items())
    whole = found.series(WHOLE, _SERIES)
    left = ", ".join(f"{y:g} at {x:g}" for x, y in whole.items())
    because = (
        f"It is {rise}. A column is split for all rows or not at all, and a split that one "
        "class cannot bear is refused for good: a larger K refuses other splits early on and "
        f"leaves room for later ones, so which columns are left whole changes with K (columns: "
        f"{left}; E-31)."
    )
    if figure == SECONDS:
        because = f"It is {rise}: so short that what else the machine did decides."
    measured = f"It is {rise}."
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
