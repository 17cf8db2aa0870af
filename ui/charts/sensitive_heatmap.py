"""The groups of one run at a glance: as areas where sizes differ, as strips of values elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from anon_core.words.phrases import share

from ..session.result_view import Facts
from .cells_chart import Cell, Cells, Grid
from .chart_frame import Chart, Palette, Series, apart, readable
from .plain_look import Pick
from .treemap import treemap

_MOST_GROUPS = 120
_MOST_VALUES = 12
_NUMBERED = 30
_WRITTEN = 12
#: Share of a group from which on the colour is strongest.
_STRONGEST = 0.5


def group_chart(
    runs: Sequence[Series],
    colours: Palette,
    height: int = 300,
    mine: npt.NDArray[np.bool_] | None = None,
    pick: Callable[[int], Pick] | None = None,
) -> Chart:
    """Return the groups of one run in the way that tells more of them; see `treemap`.

    Areas of equal size say nothing; where a sensitive value is protected, what the groups hold of
    it does.
    """
    facts = runs[0].facts
    names = [c for c in facts.result.problem.sensitive if c not in facts.result.problem.quasi]
    if names and about_equal(facts):
        return value_strip(runs, colours, names[0], height)
    return treemap(runs, colours, height, mine, pick)


def about_equal(facts: Facts) -> bool:
    """Say whether nine of ten people stand in groups of which none is twice as large as another."""
    sizes = np.sort(facts.sizes)
    if not len(sizes):
        return False
    people = np.cumsum(sizes) / sizes.sum()
    low, high = np.searchsorted(people, [0.05, 0.95])
    return bool(sizes[high] < 2 * sizes[low])


def value_strip(runs: Sequence[Series], colours: Palette, column: str, height: int = 300) -> Chart:
    """Return the share of every sensitive value in each group, those that give most away first."""
    import pandas as pd

    run = runs[0]
    facts = run.facts
    one, many = facts.noun
    top, common = facts.surest(column)
    differs = facts.difference(column)
    drawn = np.lexsort((-differs, -np.round(top, 9)))[:_MOST_GROUPS]
    whole = facts.whole(column)
    held = [facts.within(column, int(n)) for n in drawn]
    # Lines are for what the drawn groups hold most of; elsewhere they might all stay empty.
    weight = {v: sum(here.get(v, 0.0) for here in held) for v in whole}
    ranked = sorted(whole, key=lambda v: (-weight[v], -whole[v]))
    lines = _MOST_VALUES if len(ranked) > _MOST_VALUES + 1 else len(ranked)
    shown = sorted(ranked[:lines], key=lambda v: -whole[v])
    grid = [[here.get(v, 0.0) for here in held] for v in shown]
    names = [f"{v} · {share(whole[v])}" for v in shown]
    rest = ranked[len(shown) :]
    if rest:
        # Together they would look like a sure guess where each of them is a rare one.
        grid.append([max(here.get(v, 0.0) for v in rest) for here in held])
        names.append(f"one of {len(rest)} others · {share(sum(whole[v] for v in rest))}")
    heads = [f"{n}" for n in facts.numbers[drawn].tolist()]
    cells = [
        [
            _cell(value, f"{one} {head}", name, colours, told=len(drawn) <= _WRITTEN)
            for head, value in zip(heads, line, strict=True)
        ]
        for name, line in zip(names, grid, strict=True)
    ]
    some = f"{len(drawn):,} of {len(facts.sizes):,} " if len(drawn) < len(facts.sizes) else ""
    numbered = len(drawn) <= _NUMBERED
    of = f" of {run.heading}" if run.heading else ""
    return Chart(
        title=f"What the {many}{of} hold of “{column}”",
        figure=Cells(
            names=tuple(apart(names, 30)),
            heads=tuple(heads) if numbered else ("",) * len(heads),
            grids=(Grid(cells=cells),),
            axis=f"{some}{many}, surest guess first",
            height=max(19, (height - 80) // len(grid)),
        ),
        numbers=pd.DataFrame(
            {
                one: facts.numbers[drawn],
                "rows": facts.sizes[drawn],
                "most common value": [common[n] for n in drawn.tolist()],
                "its share": top[drawn],
                "difference to the whole": differs[drawn],
            }
        ),
        note=f"A strip is a {one}, a line a value with its share of all rows; the {many} have "
        "about the same size. Stronger cells hold a larger share of "
        f"their {one}, half or more the strongest: one strong cell is a sure guess."
        + (f" Of the other values the {one}'s most common one counts." if rest else ""),
        formats={"its share": "percent", "difference to the whole": "%.3f"},
    )


def _cell(value: float, head: str, name: str, colours: Palette, *, told: bool) -> Cell | None:
    """Return the cell of a share, which is written where there is room; None where it is 0."""
    if not value:
        return None
    colour = colours.scale[round(4 * min(value / _STRONGEST, 1.0))]
    return Cell(
        colour=colour,
        ink=readable(colour),
        text=share(value) if told else "",
        tip=f"{head}: {value:.1%} have {name} of all",
    )
