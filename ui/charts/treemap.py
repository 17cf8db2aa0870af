"""The treemap: classes or groups as areas, as large as the people in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anon_core.words.phrases import count, share

from .areas_chart import Area, Areas
from .chart_frame import Chart, Palette, Series, readable, shortened
from .size_bins import binned, size_edges

_MOST_TILES = 120


def treemap(runs: Sequence[Series], colours: Palette, height: int = 300) -> Chart:
    """Return the classes of one run as areas, as large as the people in them."""
    import pandas as pd

    run = runs[0]
    facts = run.facts
    largest_first = facts.by_size[::-1]
    drawn = largest_first[:_MOST_TILES]
    rest = largest_first[_MOST_TILES:]
    sizes = facts.sizes[drawn].tolist()
    one, many = facts.noun
    names = [f"{one} {int(facts.numbers[n])}" for n in drawn]
    cells = [facts.cells(int(n)) for n in drawn]
    titles = [", ".join(c.values()) or n for c, n in zip(cells, names, strict=True)]
    hover = _hovers(run, drawn)
    chances = _chances(run)
    chance = chances[drawn].tolist()
    shown = [f"{size:,}" for size in sizes]
    if len(rest):
        edges = size_edges([facts.least], int(facts.sizes[rest].max()))
        place = np.searchsorted(np.array(edges), facts.sizes[rest], side="right") - 1
        bins = binned(facts.sizes[rest], edges)
        for i, (bounds, classes, people) in enumerate(bins.itertuples(index=False)):
            if not people:
                continue
            inside = rest[place == i]
            names.append(f"others, {bounds} rows")
            titles.append(f"{count(classes, one, many)} of {bounds} rows")
            hover.append(titles[-1])
            shown.append(f"{classes:,} {many}\nof {bounds}")
            sizes.append(int(people))
            chance.append(float((chances[inside] * facts.sizes[inside]).sum() / people))
    steps = [_step(c) for c in chance]
    numbers = pd.DataFrame({one: names, "rows": sizes, "says": titles, "chance": chance})
    areas = [
        Area(
            size=size,
            colour=colours.scale[step],
            ink=readable(colours.scale[step]),
            text=text,
            tip=f"{size:,} rows\n{told}",
        )
        for size, step, text, told in zip(sizes, steps, shown, hover, strict=True)
    ]
    return Chart(
        title=f"{many.capitalize()}{' of ' + run.heading if run.heading else ''} by their rows",
        figure=Areas(areas=tuple(areas), height=height),
        numbers=numbers,
        note=f"An area is a {one} with its rows, or many small ones together. The stronger the "
        f"colour, the {_meaning(run)}. Point at an area to read what it says.",
        formats={"chance": "%.4f"},
    )


def _guessed(run: Series) -> list[str]:
    """Return the sensitive columns a group is coloured by; none where it shows classes."""
    problem = run.facts.result.problem
    return [c for c in problem.sensitive if c not in problem.quasi and run.facts.permuted]


def _meaning(run: Series) -> str:
    if _guessed(run):
        return "surer the guess at a person's sensitive value from the group"
    return (
        "fewer people a person hides among"
        if run.facts.permuted
        else ("easier a person is picked out")
    )


def _chances(run: Series) -> npt.NDArray[np.float64]:
    """Return, per class the chance of picking a person; per group that of a value, if any."""
    facts = run.facts
    tops = [facts.surest(column)[0] for column in _guessed(run)]
    return np.max(tops, axis=0) if tops else 1 / facts.sizes


def _hovers(run: Series, drawn: npt.NDArray[np.int64]) -> list[str]:
    """Return what the drawn classes say, or how sure the surest value of the drawn groups is."""
    facts = run.facts
    if not facts.permuted:
        return [
            "\n".join(f"{shortened(c, 30)}: {shortened(v, 60)}" for c, v in facts.cells(n).items())
            for n in drawn.tolist()
        ]
    found = [f"group {n}" for n in facts.numbers[drawn].tolist()]
    for column in _guessed(run):
        top, values = facts.surest(column)
        found = [
            f"{so_far}\n{shortened(column, 30)}: {share(float(top[n]))} have the most common value"
            f" ({shortened(values[n], 40)})"
            for so_far, n in zip(found, drawn.tolist(), strict=True)
        ]
    return found


def _step(chance: float) -> int:
    return (
        4
        if chance >= 0.2
        else 3
        if chance >= 0.1
        else 2
        if chance >= 0.04
        else 1
        if chance >= 0.01
        else 0
    )
