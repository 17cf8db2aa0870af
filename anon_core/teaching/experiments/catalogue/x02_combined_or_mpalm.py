"""X-02: what CombinedAlg and MPALM cost over the bounds of δ."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context, now
from anon_core.base.errors import NotFound
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.presence import (
    AG,
    COMBINED,
    COMBINED_BY_MPALM,
    DM,
    MPALM,
    STAND_INS,
    kept_unsure,
    lower,
    toth,
)
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Point,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found

_K = "k"
#: Sizes of groups that are tried, the smallest that is enough being kept.
_SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 32)


class CombinedOrMpalm(Experiment):
    """Each bound with the smallest groups that can keep it."""

    id = "X-02"
    title = "CombinedAlg against MPALM over the bounds of δ"
    source = toth("section 6.2, figures 6.3 and 6.4")
    shows = (
        "Whether permuting within generalized groups loses less than generalizing alone, when no "
        "one's presence may be more certain than a bound."
    )
    table = "adult-train"
    figures = (
        Figure(name=DM, title="Discernibility (DM)", x="highest δ", y="Σ |bucket|²"),
        Figure(name=AG, title="Amount of generalization (AG)", x="highest δ", y="levels"),
        Figure(name=_K, title="Smallest sufficient k", x="highest δ", y="k"),
    )
    remarks = (
        STAND_INS,
        "The bounds are in the source's figures only; here the lowest δ is 0 and the highest is "
        "varied. Its smallest sufficient k are 12, 8, 4, 4 and 4.",
        "The smallest k is searched by trying CombinedAlg with larger and larger groups.",
    )
    small = Settings(rows=500, at=(0.7, 0.9), seconds=5.0)
    full = Settings(rows=2_000, at=(0.2, 0.3, 0.5, 0.7, 0.9), seconds=600.0)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step for each bound and technique; loose bounds first."""
        return [
            Step(key=f"{name}, δ at most {high:g}", given={"name": name, "high": high})
            for high in reversed(settings.at)
            for name in (MPALM, COMBINED_BY_MPALM, COMBINED)
        ]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release with the smallest groups that suffice."""
        name, high = str(step.given["name"]), float(step.given["high"])
        k, costs = self._smallest(bench, name, high, context)
        beyond = name == COMBINED_BY_MPALM
        found = [
            Point(figure=figure, series=name, x=high, y=y, beyond=beyond)
            for figure, y in costs.items()
        ]
        if name == COMBINED:
            found.append(Point(figure=_K, series=name, x=high, y=k))
        return found

    def _smallest(
        self, bench: Bench, name: str, high: float, context: Context
    ) -> tuple[int, dict[str, float]]:
        for k in _SIZES if name == COMBINED else ():
            began = now()
            try:
                return k, kept_unsure(bench, name, high, k, context)[1]
            except NotFound:
                if now() - began >= bench.settings.seconds:  # larger groups take longer still
                    raise
        return 0, kept_unsure(bench, name, high, _SIZES[-1], context)[1]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figures 6.3 and 6.4."""
        return [lower(found, DM, "discernibility"), lower(found, AG, "amount of generalization")]
