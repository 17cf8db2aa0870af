"""The charts of Results whose bars and cells choose classes, and what a click on one comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..charts import class_values
from ..charts.chart_frame import Chart, Palette, Series, kept, show
from ..charts.class_plots import size_chart
from ..charts.linked_plots import (
    Spread,
    area_spread,
    picked,
    picks,
    share_spread,
    size_spread,
    strips,
)
from ..charts.sensitive_heatmap import group_chart
from ..session import chosen
from ..session.alone import redraw_linked
from ..session.result_view import Facts

_SIZES, _GROUPS = "sizes", "groups"


@dataclass(frozen=True, kw_only=True)
class _Strips:
    """What a chart of strips tells of every class, its title, and what its cells stand for.

    In both, ``{one}`` and ``{many}`` stand for what rows that stand together are called.
    """

    values: Callable[[Facts], class_values.ByName]
    title: str
    axis: str


#: The charts of strips, by their name on the page.
_STRIPS = {
    "difference-strips": _Strips(
        values=class_values.differences,
        title="Values against the whole",
        axis="of the {one}: 0 as the whole, 1 nothing in common",
    ),
    "metric-strips": _Strips(
        values=class_values.metrics,
        title="What the {many} lost",
        axis="of the {one}: 0 nothing, 1 everything",
    ),
    "attack-strips": _Strips(
        values=class_values.attacks,
        title="Who stands how",
        axis="chance of success against them",
    ),
}


def sizes(run: Series, colours: Palette) -> None:
    """Draw the people by the size of their class; a bar chooses its classes."""
    show(_unless_chosen(_size_chart, run, colours), key=_SIZES)


def groups(run: Series, colours: Palette) -> None:
    """Draw the classes at a glance; an area chooses its classes."""
    show(_unless_chosen(_group_chart, run, colours), key=_GROUPS)


def differences(run: Series, colours: Palette) -> None:
    """Draw how much the sensitive values of each class differ from the whole."""
    _draw_strips(run, colours, "difference-strips")


def metrics(run: Series, colours: Palette) -> None:
    """Draw what the classes lost, class by class; nothing where no metric tells it."""
    _draw_strips(run, colours, "metric-strips")


def attacks(run: Series, colours: Palette) -> None:
    """Draw the chance of every attack, class by class; nothing where no attack tells it."""
    _draw_strips(run, colours, "attack-strips")


def take(facts: Facts, place: str) -> None:
    """Choose the classes that were clicked; what is chosen already is chosen no longer.

    Parameters
    ----------
    facts : Facts
    place : str
        That of the `Pick` which was clicked.
    """
    groups, title = picked(_spreads(facts, place.partition("/")[0]), place)
    if not title:
        return
    if title == chosen.title(facts):
        chosen.clear()
    else:
        chosen.choose(facts, groups, title)
    redraw_linked()


def _spreads(facts: Facts, chart: str) -> list[Spread]:
    """Return what a chart of the page tells of every class; nothing of a chart there is not."""
    if chart == _SIZES:
        return [size_spread(facts)]
    if chart == _GROUPS:
        return [area_spread(facts)]
    if chart not in _STRIPS:
        return []
    return [share_spread(name, values) for name, values in _STRIPS[chart].values(facts)]


def _unless_chosen(make: Callable[..., Chart], run: Series, colours: Palette, *more: str) -> Chart:
    """Return a chart, from the session while nothing is chosen in it."""
    if chosen.now(run.facts) is None:
        return kept(make, [run], colours, *more)
    return make([run], colours, *more)


def _size_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    facts = runs[0].facts
    pick = picks(_SIZES, _spreads(facts, _SIZES), chosen.title(facts))
    return size_chart(runs, colours, chosen.mask(facts), lambda at: pick(0, at))


def _group_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    facts = runs[0].facts
    pick = picks(_GROUPS, _spreads(facts, _GROUPS), chosen.title(facts))
    mine = chosen.mask(facts)
    return group_chart(runs, colours, mine=mine, pick=lambda at: pick(0, at))


def _draw_strips(run: Series, colours: Palette, chart: str) -> None:
    if _STRIPS[chart].values(run.facts):
        show(_unless_chosen(_strip_chart, run, colours, chart), key=chart)


def _strip_chart(runs: Sequence[Series], colours: Palette, chart: str) -> Chart:
    facts = runs[0].facts
    told = _STRIPS[chart]
    spreads = _spreads(facts, chart)
    title, axis = (
        text.format(one=facts.noun[0], many=facts.noun[1]) for text in (told.title, told.axis)
    )
    return strips(
        facts,
        spreads,
        chosen.mask(facts),
        colours,
        title=title,
        axis=axis,
        pick=picks(chart, spreads, chosen.title(facts)),
    )
