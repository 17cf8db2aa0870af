"""Charts of classes and groups: how large they are, what they say, how their values differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_core.words.phrases import count

from .chart_frame import Chart, Palette, Series, apart, heading_of
from .plain_look import Pick
from .rows_chart import Bar, Item, Mark, Plot, Rows, Span
from .size_bins import binned, size_edges

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 14


def nouns(runs: Sequence[Series]) -> tuple[str, str]:
    """Return what rows that stand together are called in these runs, one and many."""
    found = dict.fromkeys(r.facts.noun for r in runs)
    if len(found) == 1:
        return next(iter(found))
    return ("class or group", "classes or groups")


def size_chart(
    runs: Sequence[Series],
    colours: Palette,
    mine: npt.NDArray[np.bool_] | None = None,
    pick: Callable[[int], Pick] | None = None,
) -> Chart:
    """Return how many people stand in classes of which size, with the line of the least size.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    mine : bool array of shape (classes,), optional
        Of a single run, the classes that are chosen.
    pick : callable, optional
        What a click on the bar of a bin chooses.
    """
    import pandas as pd

    largest = max(int(r.facts.hiding.max(initial=1)) for r in runs)
    counted = " or ".join(dict.fromkeys(r.facts.result.counted for r in runs))
    edges = size_edges([r.facts.least for r in runs], largest)
    noun = nouns(runs)
    size = f"{counted} in the {noun[0]}"
    every = [binned(run.facts.hiding, edges, noun, counted) for run in runs]
    names = [str(name) for name in every[0][size]]
    # A promise's line stands above the least size that it allows.
    lines = {
        edges.index(of): " · ".join(dict.fromkeys(_least(r) for r in runs if r.facts.least == of))
        for of in sorted({r.facts.least for r in runs if r.facts.least > 1})
    }
    highest = max(1, *(int(bins["people"].max()) for bins in every))
    plots: list[Plot] = []
    for run, bins in zip(runs, every, strict=True):
        drawn: dict[str, list[Item]] = {}
        if run.facts.least > 1:
            line = Span(low=0, high=1, colour=colours.warning, dashed=True, tip=_least(run))
            drawn[lines[edges.index(run.facts.least)]] = [line]
        if mine is not None and mine.any():
            chosen = binned(run.facts.hiding[mine], edges, noun, counted)
            bins[f"chosen {noun[1]}"] = chosen[noun[1]]
            bins["chosen people"] = chosen["people"]
        told = (bins.get(c, [None] * len(bins)) for c in (noun[1], "people", "chosen people"))
        for place, (name, many, people, part) in enumerate(zip(names, *told, strict=True)):
            if not people:
                continue
            what = f"{run.facts.noun[1].capitalize()} of {name} {counted}"
            drawn[name] = [
                Bar(
                    to=people / highest,
                    colour=run.colour,
                    text=f"{people:,}",
                    tip=f"{what}: {count(people, 'person', 'people')} in "
                    + count(many, *run.facts.noun)
                    + (f", {part:,} of them chosen" if part else ""),
                    pick=None if pick is None else pick(place),
                    chosen=None if part is None else part / highest,
                )
            ]
        plots.append(Plot(lines=drawn, heading=heading_of(run, runs), colour=run.colour))
    shown: list[str] = []
    for place in range(len(edges)):
        shown += [lines[place]] if place in lines else []
        shown += names[place : place + 1]
    meaning = [
        "A class is a set of rows with identical quasi-identifiers."
        if not all(r.facts.permuted for r in runs)
        else "",
        "A group is a set of rows with one published number, among which links are cut."
        if any(r.facts.permuted for r in runs)
        else "",
        "If the promise holds, nobody is above the dashed line."
        if lines
        else "The promises name no least size.",
    ]
    tables = (
        every if len(runs) == 1 else [_with_run(b, r) for b, r in zip(every, runs, strict=True)]
    )
    return Chart(
        title=f"People by the size of their {noun[0]}",
        figure=Rows(
            names=tuple(shown),
            plots=tuple(plots),
            low=0,
            high=1.3,
            ticks={0: "0", 1: f"{highest:,}"},
            axis=f"people, by {size}",
            height=24,
        ),
        numbers=pd.concat(tables, ignore_index=True),
        note=" ".join(m for m in meaning if m),
    )


def sensitive_chart(runs: Sequence[Series], colours: Palette, column: str, number: int) -> Chart:
    """Return the shares of a sensitive column's values in one class of a run against the whole."""
    import pandas as pd

    facts = runs[0].facts
    inside = f"this {facts.noun[0]}"
    whole = facts.whole(column)
    within = facts.within(column, number)
    ranked = sorted(whole, key=lambda v: -max(whole[v], within.get(v, 0.0)))
    rows = [(v, within.get(v, 0.0), whole[v]) for v in ranked[:_MOST_VALUES]]
    if len(ranked) > _MOST_VALUES:
        rest = ranked[_MOST_VALUES:]
        rows.append(
            (
                f"{len(rest)} other {'value' if len(rest) == 1 else 'values'}",
                sum(within.get(v, 0.0) for v in rest),
                sum(whole[v] for v in rest),
            )
        )
    names = apart([r[0] for r in rows], 28)
    lines: dict[str, list[Item]] = {
        name: [
            Span(low=min(here, there), high=max(here, there), colour=colours.grid, width=3),
            Mark(
                at=there,
                shape="line-ns-open",
                colour=colours.original,
                tip=f"whole release: {there:.1%}",
            ),
            Mark(at=here, shape="circle", colour=colours.sensitive, tip=f"{inside}: {here:.1%}"),
        ]
        for name, (_, here, there) in zip(names, rows, strict=True)
    }
    return Chart(
        title=f"Values of “{column}” in one {facts.noun[0]}",
        figure=Rows(
            names=tuple(names),
            plots=(Plot(lines=lines),),
            low=-0.02,
            high=1.04,
            ticks={0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"},
            axis="share of rows",
            legend=(
                ("line-ns-open", colours.original, "whole release"),
                ("circle", colours.sensitive, inside),
            ),
            height=24,
        ),
        numbers=pd.DataFrame(
            [(v, here, there, here - there) for v, here, there in rows],
            columns=["value", inside, "whole release", "difference"],
        ),
        note=f"Where the {facts.noun[0]} differs much from the whole, finding someone's "
        f"{facts.noun[0]} already tells something about them.",
        formats={inside: "percent", "whole release": "percent", "difference": "%+.3f"},
    )


def most_different(run: Series, column: str, count: int = 20) -> list[tuple[int, float]]:
    """Return the classes whose values differ most from the whole, with by how much."""
    differs = run.facts.difference(column)
    # Among equally different classes the larger one concerns more people.
    order = np.lexsort((-run.facts.sizes, -np.round(differs, 3)))[:count]
    return [(int(n), float(differs[n])) for n in order]


def _least(run: Series) -> str:
    return f"{run.facts.least_name} = {run.facts.least}"


def _with_run(frame: pd.DataFrame, run: Series) -> pd.DataFrame:
    found = frame.copy()
    found.insert(0, "run", run.letter)
    return found
