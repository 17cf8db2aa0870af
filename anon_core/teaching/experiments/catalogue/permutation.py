"""What the experiments on permutation anonymization share: both techniques, and both partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_core.base.context import Context
from anon_core.pipeline.result import Result
from anon_core.release.outcome import Measure
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.chart import shown
from anon_core.teaching.experiments.experiment import Claim, Figure, Point, Settings, Source, Step
from anon_core.teaching.experiments.points import Found, Way, goes, mean, per_cent

ANATOMY, PA = "Anatomy", "Permutation"
PA_SAME, ANATOMY_SAME = "Permutation on Anatomy's groups", "Anatomy on Permutation's groups"
#: Series → what is run; the source has the first two.
SIDES: Mapping[str, Mapping[str, Any]] = {
    ANATOMY: {"name": "anatomy", "partition": {"name": "anatomize"}},
    PA: {"name": "permutation", "partition": {"name": "bisection"}},
    PA_SAME: {"name": "permutation", "partition": {"name": "anatomize"}},
    ANATOMY_SAME: {"name": "anatomy", "partition": {"name": "bisection"}},
}
#: Name of the source's data sets → the sensitive column.
SETS: Mapping[str, str] = {"SAL": "salary-class", "OCC": "occupation"}
QUASI = ("age", "gender", "education", "marital-status", "race", "workclass", "country")
#: The source does not say how large l is where another parameter is varied.
L_NOT_SAID = "The source does not say which l it is drawn for; here it is 8."
STAND_IN = (
    "The source's 500,000 rows of CENSUS are not available; --data replaces them with 295,243 "
    "rows of the American Community Survey 2018, with 25 groups of occupations instead of 50 "
    "occupations, so that l = 10 cannot be reached there."
)
EXPONENT = (
    "The printed length of a query's intervals has the exponent 1/(w + 1), although w counts the "
    "sensitive predicate as well; here it is 1/w, so that the selectivity is s (E-37)."
)


def li(where: str) -> Source:
    """Return the source, and where in it."""
    return Source(
        author="Li, He, Cao and Chen", year=2015, title="Permutation anonymization", where=where
    )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which release a step is about.

    Attributes
    ----------
    side : str
        One of `SIDES`.
    name : str
        One of `SETS`.
    columns, size, rows : int
        d, l and n; 0 rows for all.
    """

    side: str
    name: str
    columns: int
    size: int
    rows: int

    @classmethod
    def of(cls, step: Step) -> Asked:
        """Read it from a step."""
        given = step.given
        return cls(
            side=str(given["side"]),
            name=str(given["set"]),
            columns=int(given["d"]),
            size=int(given["l"]),
            rows=int(given["n"]),
        )

    def step(self) -> Step:
        """Return it as a step."""
        given = {
            "side": self.side,
            "set": self.name,
            "d": self.columns,
            "l": self.size,
            "n": self.rows,
        }
        rows = f", n = {self.rows:,}" if self.rows else ""
        return Step(
            key=f"{self.name}-{self.columns}, l = {self.size}{rows}: {self.side}", given=given
        )

    def released(self, bench: Bench, context: Context) -> Result:
        """Carry it out.

        Raises
        ------
        AnonError
            As a run does, if l cannot be reached.
        """
        data = bench.data("census", QUASI[: self.columns], (SETS[self.name],), rows=self.rows)
        models = [{"name": "frequency-l-diversity", "l": self.size}]
        return bench.released(data, SIDES[self.side], models, context)


def error(
    bench: Bench, result: Result, context: Context, *, predicates: int, selectivity: float
) -> float:
    """Return the average relative error of the settings' number of queries."""
    return answers(bench, result, context, predicates=predicates, selectivity=selectivity).value


def answers(
    bench: Bench, result: Result, context: Context, *, predicates: int, selectivity: float
) -> Measure:
    """Return all that is measured of the settings' number of queries."""
    return bench.measured(
        result,
        "query-error",
        context,
        queries=bench.settings.queries,
        predicates=predicates,
        selectivity=selectivity,
        seed=bench.settings.seed,
    )


def as_printed(selectivity: float, predicates: int) -> float:
    """Return the s whose intervals are as long as the source's formula makes those of another s.

    Examples
    --------
    >>> round(as_printed(0.1, 4) ** (1 / 4), 6) == round(0.1 ** (1 / 5), 6)
    True
    """
    return selectivity ** (predicates / (predicates + 1))


def figures(x: str, y: str, over: Sequence[int] = (3, 4, 5, 6, 7)) -> tuple[Figure, ...]:
    """Return the axes for both sets of data and each d."""
    return tuple(
        Figure(name=f"{name}-{d}", title=f"{name}-{d}", x=x, y=y, unit="share")
        for name in SETS
        for d in over
    )


def permutation_is_better(found: Found, names: Sequence[str]) -> Claim:
    """Claim that permutation errs less than Anatomy everywhere, and look into why not.

    The same groups under both techniques tell what the partition does and what permuting does.
    """
    pairs = [pair for name in names for pair in found.both(name, PA, ANATOMY)]
    same = [pair for name in names for pair in found.both(name, PA_SAME, ANATOMY)]
    lower = sum(pa < anatomy for pa, anatomy in pairs)
    says = "Permutation errs less than Anatomy in all cases."
    if not found.whole or not pairs:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    measured = (
        f"Permutation errs less at {lower} of {len(pairs)} points: on average "
        f"{per_cent(mean([a for a, _ in pairs]))} against {per_cent(mean([b for _, b in pairs]))}."
    )
    if lower == len(pairs) and (lacking := _lacking(found)):
        return Claim(says=says, holds=None, measured=measured, because=f"{measured} {lacking}")
    return Claim(
        says=says,
        holds=lower == len(pairs),
        measured=measured,
        because="" if lower == len(pairs) else f"{measured} {_why(same)}",
    )


def _lacking(found: Found) -> str:
    """Say which releases could not be made, so that what is said of all cases stays open."""
    if not found.refused:
        return ""
    first, *others = found.refused.items()
    more = f" So could {len(others)} others not." if others else ""
    return f"{first[0]} could not be released: {first[1]}{more}"


def _why(same: Sequence[tuple[float, float]]) -> str:
    """Return what the same groups under both techniques tell."""
    if not same:
        return ""
    worse = sum(pa > anatomy for pa, anatomy in same)
    reason = (
        f"On Anatomy's own groups permutation errs more at {worse} of {len(same)} points, "
        f"{per_cent(mean([a for a, _ in same]))} against {per_cent(mean([b for _, b in same]))}"
    )
    if 2 * worse > len(same):
        return (
            f"{reason}: with equal groups all that permutation changes is that it cuts the links "
            "among the quasi-identifiers, which Anatomy publishes row by row, and the more of them "
            "a question names, the more that costs; the source's order is not found."
        )
    return f"{reason}: it is the partition, not the permutation, that makes the difference."


#: How far a step may go the other way, as a share of the largest figure.
_SLACK = 0.05


def directed(
    found: Found,
    says: str,
    series: Mapping[str, Sequence[float]],
    way: Way,
    *,
    unit: str = "share",
    reason: str = "",
) -> Claim:
    """Claim that series go one way, each given by its figures in order of the axis.

    `reason` is why some do not, by figures that were measured as well.

    A step the other way is let pass up to `_SLACK`, a share of the largest figure.
    """
    known = {name: goes(values, way, _SLACK) for name, values in series.items()}
    directions = {name: one for name, one in known.items() if one is not None}
    if not found.whole or not directions:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    good = sum(directions.values())
    ends = {name: (series[name][0], series[name][-1]) for name in directions}
    measured = f"{good} of {len(directions)} series {'does' if good == 1 else 'do'}."
    others = "; ".join(
        f"{name} goes from {shown(ends[name][0], unit)} to {shown(ends[name][1], unit)}"
        for name, one in directions.items()
        if not one
    )
    holds = good == len(directions)
    if holds and (lacking := _lacking(found)):
        return Claim(says=says, holds=None, measured=measured, because=f"{measured} {lacking}")
    because = f"{measured} The others do not: {others}."
    because += f" {reason}" if reason else ""
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)


def releases(settings: Settings, sizes: Sequence[float], rows: Sequence[int] = ()) -> list[Step]:
    """Return a step for each release: every d, set, l, number of rows, and side."""
    return [
        Asked(side=side, name=name, columns=d, size=int(size), rows=n).step()
        for d in settings.columns
        for name in SETS
        for size in sizes
        for n in (rows or (settings.rows,))
        for side in SIDES
    ]


def point(asked: Asked, x: float, y: float) -> Point:
    """Return a figure of a release."""
    beyond = asked.side in (PA_SAME, ANATOMY_SAME)
    figure = f"{asked.name}-{asked.columns}"
    return Point(figure=figure, series=asked.side, x=x, y=y, beyond=beyond)


def ends(found: Found, figure: str, series: str) -> str:
    """Return a series' first and last figure in words; empty where there are fewer than two."""
    values = list(found.series(figure, series).values())
    if len(values) < 2:
        return ""
    return f"from {shown(values[0], 'share')} to {shown(values[-1], 'share')}"


def lines(found: Found, names: Sequence[str]) -> dict[str, list[float]]:
    """Return the source's two series on each set, by their names."""
    return {
        f"{side} on {name}": list(found.series(name, side).values())
        for name in names
        for side in (ANATOMY, PA)
    }
