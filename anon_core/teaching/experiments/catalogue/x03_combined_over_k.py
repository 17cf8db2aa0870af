"""X-03: CombinedAlg's generalization and runtime over k."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.presence import (
    AG,
    COMBINED,
    COMBINED_BY_MPALM,
    MPALM,
    STAND_INS,
    kept_unsure,
    lower,
    toth,
)
from anon_core.teaching.experiments.chart import shown
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Point,
    Printed,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found, goes

_SECONDS = "seconds"
_HIGH = 0.9
#: The k with which the source's program did not end.
_NEVER = 64
#: What has no k, so that its figure is drawn at every k.
_STEADY = (MPALM, COMBINED_BY_MPALM)
_DAY = 25 * 3_600.0


class CombinedOverK(Experiment):
    """Larger groups, δ from 0 to 0.9."""

    id = "X-03"
    title = "CombinedAlg over k"
    source = toth("section 6.3, figures 6.5 and 6.6")
    shows = "What larger groups cost CombinedAlg, in generalization and in time."
    table = "adult-train"
    figures = (
        Figure(name=AG, title="Amount of generalization (AG)", x="k", y="levels"),
        Figure(name=_SECONDS, title="Runtime of the search", x="k", y="seconds", log=True),
    )
    printed = (
        Printed(
            figure=_SECONDS,
            series=COMBINED,
            low=_DAY,
            high=_DAY,
            at=_NEVER,
            words="k = 64 did not end within 25 hours",
        ),
    )
    remarks = (
        STAND_INS,
        "MPALM has no k: its figure is drawn at every k, as is that of CombinedAlg on its groups.",
        "The source counts subsets of people one by one; here chances of presence are "
        "proven by counting columns, so times do not measure the source's program.",
    )
    small = Settings(rows=500, at=(3, 4, 5), seconds=5.0)
    full = Settings(rows=2_000, at=(4, 8, 16, 32, 64), seconds=600.0)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step for MPALM and one for each k."""
        found = [
            Step(key=f"{COMBINED}, k = {k:g}", given={"name": COMBINED, "k": int(k)})
            for k in settings.at
        ]
        steady = [Step(key=name, given={"name": name, "k": 0}) for name in _STEADY]
        return [*steady, *found]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release."""
        name, k = str(step.given["name"]), int(step.given["k"])
        result, costs = kept_unsure(bench, name, _HIGH, k, context)
        places = [k] if k else [int(x) for x in bench.settings.at]
        return [
            Point(figure=figure, series=name, x=x, y=y, beyond=name == COMBINED_BY_MPALM)
            for x in places
            for figure, y in ((AG, costs[AG]), (_SECONDS, result.seconds["search"]))
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """Compare with what the source says of its figures 6.5 and 6.6."""
        both = [_rises(found), lower(found, AG, "amount of generalization")]
        tried = max(found.settings.at) >= _NEVER  # small settings do not come that far
        return [*both, _never_ends(found)] if tried else both


def _rises(found: Found) -> Claim:
    says = "The amount of generalization rises with k."
    line = found.series(AG, COMBINED)
    holds = goes(list(line.values()), "rises") if found.whole else None
    figures = ", ".join(f"{shown(y, '')} at {x:g}" for x, y in line.items())
    if holds is None:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    measured = f"It is {figures}."
    because = (
        f"{measured} Each k cuts the table elsewhere, and in larger groups more public people "
        "fit the shuffled values, so that a group may need fewer levels."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)


def _never_ends(found: Found) -> Claim:
    says = "CombinedAlg is not practical for large k: with k = 64 it did not end within 25 hours."
    line = found.series(_SECONDS, COMBINED)
    if not found.whole:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    box = found.settings.seconds
    late = [key for key in found.refused if found.seconds.get(key, 0.0) >= box]
    if late:
        measured = f"{', '.join(late)}: no release within {box:g} s."
        return Claim(says=says, holds=True, measured=measured)
    times = ", ".join(f"{shown(y, '')} s at {x:g}" for x, y in line.items())
    measured = f"It takes {times}."
    because = (
        f"{measured} The source tries all subsets of the public people of a group, whose number "
        "grows exponentially; here chances are counted over the columns' values."
    )
    return Claim(says=says, holds=False, measured=measured, because=because)
