"""The treemap: classes or groups as areas, as large as the people in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.words.phrases import count, share

from ..session.result_view import Facts
from .areas_chart import Area, Areas
from .chart_frame import Chart, Palette, Series, readable, shortened
from .plain_look import Pick
from .size_bins import binned, size_edges

_MOST_TILES = 120


@dataclass(frozen=True, kw_only=True, eq=False)
class Tiles:
    """Which area each class is in.

    Attributes
    ----------
    alone : int64 array of shape (areas of one class,)
        The largest classes: each has an area of its own, in this order.
    together : tuple of str
        The sizes of those that are left: the classes of each share one of the areas that follow.
    place : int64 array of shape (classes,)
    names : tuple of str
        Of the areas.
    """

    alone: npt.NDArray[np.int64]
    together: tuple[str, ...]
    place: npt.NDArray[np.int64]
    names: tuple[str, ...]


def tiles_of(facts: Facts) -> Tiles:
    """Return the areas of a result's classes."""
    largest_first = facts.by_size[::-1]
    alone, rest = largest_first[:_MOST_TILES], largest_first[_MOST_TILES:]
    place = np.empty(len(largest_first), dtype=np.int64)
    place[alone] = np.arange(len(alone))
    together: list[str] = []
    if len(rest):
        edges = size_edges([facts.least], int(facts.sizes[rest].max()))
        bins = np.searchsorted(np.array(edges), facts.sizes[rest], side="right") - 1
        used, own = np.unique(bins, return_inverse=True)
        place[rest] = len(alone) + own
        labels: list[str] = binned(facts.sizes[rest], edges).iloc[:, 0].tolist()
        together = [labels[at] for at in used.tolist()]
    names = [f"{facts.noun[0]} {number}" for number in facts.numbers[alone].tolist()]
    names += [f"others, {sizes} rows" for sizes in together]
    return Tiles(alone=alone, together=tuple(together), place=place, names=tuple(names))


def treemap(
    runs: Sequence[Series],
    colours: Palette,
    height: int = 300,
    mine: npt.NDArray[np.bool_] | None = None,
    pick: Callable[[int], Pick] | None = None,
) -> Chart:
    """Return the classes of one run as areas, as large as the people in them.

    Parameters
    ----------
    runs : sequence of Series
        The first is drawn.
    colours : Palette
    height : int
        Pixels.
    mine : bool array of shape (classes,), optional
        The classes that are chosen: where there are some, areas without one are faded.
    pick : callable, optional
        What a click on an area chooses.
    """
    import pandas as pd

    run = runs[0]
    facts = run.facts
    tiles = tiles_of(facts)
    many_tiles, one, many = len(tiles.names), *facts.noun
    sizes = np.bincount(tiles.place, facts.sizes, many_tiles).astype(np.int64)
    chance = np.bincount(tiles.place, _chances(run) * facts.sizes, many_tiles)
    chance /= np.maximum(sizes, 1)
    cells = [facts.cells(int(n)) for n in tiles.alone]
    titles = [", ".join(c.values()) or n for c, n in zip(cells, tiles.names, strict=False)]
    hover = _hovers(run, tiles.alone)
    shown = [f"{size:,}" for size in sizes[: len(tiles.alone)].tolist()]
    classes = np.bincount(tiles.place, minlength=many_tiles)[len(tiles.alone) :].tolist()
    for those, inside in zip(tiles.together, classes, strict=True):
        titles.append(f"{count(inside, one, many)} of {those} rows")
        hover.append(titles[-1])
        shown.append(f"{inside:,} {many}\nof {those}")
    steps = [_step(c) for c in chance.tolist()]
    faded = np.zeros(many_tiles, dtype=np.bool_)
    if mine is not None and mine.any():
        faded = np.bincount(tiles.place[mine], minlength=many_tiles) == 0
    numbers = pd.DataFrame({one: tiles.names, "rows": sizes, "says": titles, "chance": chance})
    areas = [
        Area(
            size=size,
            colour=colours.scale[step],
            ink=readable(colours.scale[step]),
            text=text,
            tip=f"{size:,} rows\n{told}",
            pick=None if pick is None else pick(at),
            faded=bool(faded[at]),
        )
        for at, (size, step, text, told) in enumerate(
            zip(sizes.tolist(), steps, shown, hover, strict=True)
        )
    ]
    return Chart(
        title=f"{many.capitalize()}{' of ' + run.heading if run.heading else ''} by their rows",
        figure=Areas(areas=tuple(areas), height=height),
        numbers=numbers,
        note=f"An area is a {one} with its rows, or many small ones together. The stronger the "
        f"colour, the {_meaning(run)}. Point at an area to read what it says"
        + (", or click it to choose it." if pick else "."),
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
