"""X-09: the time that both techniques take, over the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
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
from anon_core.teaching.experiments.points import Found

_D = 7
_SHORT = "Both take so little that what else the machine did decides."


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
        """See what the source says of its figure 5, on each of its sets."""
        return [claim for name in SETS for claim in _on(found, name)]


def _on(found: Found, name: str) -> list[Claim]:
    """Return what is claimed on one set; where a release is lacking, that is the reason."""
    lines = {side: found.series(name, side) for side in (ANATOMY, PA)}
    refused = [why for key, why in found.refused.items() if key.startswith(f"{name}-")]
    complete = found.whole and all(len(line) == len(found.settings.at) for line in lines.values())
    why = (
        f"On {name} nothing is released at l = {found.settings.size}: {refused[0]}"
        if refused
        else ""
    )
    says = (
        f"Permutation takes less than 80 seconds on {name}.",
        f"The time grows with n on {name}.",
        f"Anatomy is quicker than permutation on {name}.",
    )
    if not complete:
        measured = "Not measured yet." if not refused else "It cannot be measured."
        return [Claim(says=one, holds=None, measured=measured, because=why) for one in says]
    most = max(lines[PA].values())
    pairs = found.both(name, ANATOMY, PA)
    quicker = sum(a < b for a, b in pairs)
    measured = f"It takes {most:.2f} s at most on {name}."
    compared = f"It is at {quicker} of {len(pairs)} sizes on {name}."
    noise = f"{compared} {_SHORT}"
    series = {f"{side} on {name}": list(line.values()) for side, line in lines.items()}
    return [
        Claim(
            says=says[0], holds=most < 80, measured=measured, because="" if most < 80 else measured
        ),
        directed(found, says[1], series, "rises", unit="s", reason=_SHORT if most < 5 else ""),
        Claim(
            says=says[2],
            holds=quicker == len(pairs),
            measured=compared,
            because="" if quicker == len(pairs) else noise,
        ),
    ]
