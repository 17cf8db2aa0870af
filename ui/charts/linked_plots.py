"""Charts whose bars and cells are classes that can be chosen: what is chosen stands out in each.

They are drawn from counts by bin, never from rows, so that a table of a million rows is as small
in the browser as one of ten.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_core.words.phrases import count

from ..session.result_view import Facts
from .cells_chart import Cell, Cells, Grid
from .chart_frame import Chart, Palette, readable
from .plain_look import Pick
from .size_bins import binned, size_edges
from .treemap import tiles_of

if TYPE_CHECKING:
    import pandas as pd

#: Upper ends of the bins of a share; what is 0 and what is 1 have bins of their own.
_ENDS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1 - 1e-12)
_SHARES = ("0", "to 1%", "to 5%", "to 10%", "to 20%", "to 50%", "< 1", "1")
#: Pixels of the dot in a cell that holds some of the chosen people, and of one that holds all.
_DOT, _LARGEST_DOT = 5, 13


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """What is told of every class, in bins.

    Attributes
    ----------
    name : str
        Empty where the bins tell it.
    bins : tuple of str
        From the lowest to the highest.
    place : int64 array of shape (classes,)
        The bin of each class; -1 has none.
    """

    name: str
    bins: tuple[str, ...]
    place: npt.NDArray[np.int64]


def size_spread(facts: Facts) -> Spread:
    """Return the classes by what hides a person in them: rows, or distinct people."""
    edges = size_edges([facts.least], int(facts.hiding.max(initial=1)))
    labels = tuple(binned(facts.hiding, edges).iloc[:, 0])
    place = np.searchsorted(np.array(edges), facts.hiding, side="right") - 1
    return Spread(name=f"size of the {facts.noun[0]}", bins=labels, place=place.astype(np.int64))


def area_spread(facts: Facts) -> Spread:
    """Return the classes by the area that they are in."""
    tiles = tiles_of(facts)
    return Spread(name="", bins=tiles.names, place=tiles.place)


def share_spread(name: str, values: npt.NDArray[np.float64]) -> Spread:
    """Return the classes by a share or a chance, 0 to 1."""
    place = np.searchsorted(np.array(_ENDS), values, side="left").astype(np.int64)
    return Spread(name=name, bins=_SHARES, place=np.where(np.isfinite(values), place, -1))


def counts(facts: Facts, spreads: Sequence[Spread], chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return a row for each bin of each spread: its classes, its people, and the chosen of both."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    for spread in spreads:
        here = spread.place >= 0
        place, bins = spread.place[here], len(spread.bins)
        mine, people = chosen[here], facts.hiding[here]
        parts.append(
            pd.DataFrame(
                {
                    "what": spread.name,
                    "bin": list(spread.bins),
                    facts.noun[1]: np.bincount(place, minlength=bins),
                    "people": np.bincount(place, people, bins).astype(np.int64),
                    f"chosen {facts.noun[1]}": np.bincount(place[mine], minlength=bins),
                    "chosen people": np.bincount(place[mine], people[mine], bins).astype(np.int64),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def picked(spreads: Sequence[Spread], place: str) -> tuple[npt.NDArray[np.int64], str]:
    """Return the classes of the bin at a place that was clicked, and what they are in words.

    Parameters
    ----------
    spreads : sequence of Spread
        Those of the chart.
    place : str
        As `picks` writes it; what it would not write is the place of no class.
    """
    _, *numbers = place.split("/")
    if len(numbers) == 2 and all(n.isdecimal() for n in numbers):
        line, at = map(int, numbers)
        if line < len(spreads) and at < len(spreads[line].bins):
            spread = spreads[line]
            return np.flatnonzero(spread.place == at), _words(spread, at)
    return np.empty(0, dtype=np.int64), ""


def picks(chart: str, spreads: Sequence[Spread], chosen: str) -> Callable[[int, int], Pick]:
    """Return what a click on a bin chooses, by the place of its spread and its own in that.

    Parameters
    ----------
    chart : str
        The chart's name on the page.
    spreads : sequence of Spread
    chosen : str
        What is chosen now, in the words of `picked`.
    """
    told = (np.unique(spread.place) for spread in spreads)
    first = next(((n, at[at >= 0][0]) for n, at in enumerate(told) if (at >= 0).any()), None)

    def pick(line: int, at: int) -> Pick:
        return Pick(
            place=f"{chart}/{line}/{at}",
            first=(line, at) == first,
            pressed=_words(spreads[line], at) == chosen,
        )

    return pick


def _words(spread: Spread, at: int) -> str:
    return f"{spread.name}: {spread.bins[at]}" if spread.name else spread.bins[at]


def strips(
    facts: Facts,
    spreads: Sequence[Spread],
    mine: npt.NDArray[np.bool_],
    colours: Palette,
    *,
    title: str,
    axis: str,
    pick: Callable[[int, int], Pick],
) -> Chart:
    """Return a line for every spread and a cell for every bin: how many people stand there.

    Cells in which chosen people stand carry a dot, the larger the more of them they are.
    """
    frame = counts(facts, spreads, mine)
    frame["share"] = frame["people"] / max(int(facts.hiding.sum()), 1)
    frame["chosen share"] = frame["chosen people"] / max(int(facts.hiding[mine].sum()), 1)
    told = [frame[c].tolist() for c in (facts.noun[1], "people", "share", "chosen share")]
    across = len(_SHARES)
    cells: list[list[Cell | None]] = [[] for _ in spreads]
    for number, (many, people, part, own) in enumerate(zip(*told, strict=True)):
        line, at = divmod(number, across)
        cell = Cell(colour=colours.scale[0], ink=colours.ink)
        if people:
            colour = colours.scale[1 + round(3 * part**0.5)]  # few people are not nobody
            said = f"{spreads[line].name}, {_SHARES[at]}: {count(people, 'person', 'people')} in "
            said += count(many, *facts.noun) + (f"; {own:.1%} of the chosen ones" if own else "")
            dot = round(_DOT + (_LARGEST_DOT - _DOT) * own) if own else 0
            here = pick(line, at)
            cell = Cell(colour=colour, ink=readable(colour), tip=said, pick=here, dot=dot)
        cells[line].append(cell)
    return Chart(
        title=title,
        figure=Cells(
            names=tuple(s.name for s in spreads),
            heads=_SHARES,
            grids=(Grid(cells=cells),),
            axis=axis,
            height=24,
            dots=colours.warning,
        ),
        numbers=frame.rename(columns={"share": "share of people"}),
        note="Stronger cells hold more people. Click one to choose them"
        + ("; dots mark where the chosen ones stand." if mine.any() else "."),
        formats={"share of people": "percent", "chosen share": "percent"},
    )
