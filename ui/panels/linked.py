"""One choice for all panels of Results: what is chosen in one of them is chosen in all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import streamlit as st

from anon_core.words.phrases import chance, share

from ..charts.attack_plots import name_of
from ..charts.chart_frame import Palette, Series, show, table
from ..charts.class_plots import size_chart
from ..charts.linked_plots import Spread, picked, picks, share_spread, size_spread, strips
from ..charts.metric_plots import metric_names, title_of
from ..components import picking
from ..components.guard import handled
from ..session import chosen
from ..session.alone import redraw_linked
from ..session.result_view import Facts
from ..words.explain import plain

if TYPE_CHECKING:
    import pandas as pd

_CLASS, _ROW = "chosen/class", "chosen/row"


def bar(run: Series) -> None:
    """Draw what is chosen, what clears it, and the choice by a number; take what is clicked."""
    facts = run.facts
    now = chosen.now(facts)
    picking.listens(lambda place: _take(facts, place), name="The choice", key="linked-picking")
    one = facts.noun[0]
    with st.container(border=True, key="chosen-bar"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _number(f"Choose a {one} by its number", _CLASS, len(facts.sizes), _by_class(facts))
            _number("Choose a row of your table", _ROW, facts.result.problem.rows, _by_row(facts))
            if now is not None:
                st.button(
                    "Clear the choice",
                    key="chosen-clear",
                    icon=":material/close:",
                    shortcut="Esc",
                    on_click=handled("The choice")(_clear),
                )
        if now is None:
            st.caption(
                "Nothing is chosen. Click a bar or a cell, tick a row, or type a number: the "
                f"{one} is then chosen in the table, the charts, the metrics and the attacks."
            )
            return
        st.markdown(f"**Chosen: {plain(now.title)}** – {plain(_extent(facts, now))}")
        fold = st.expander("Figures of what is chosen", key="chosen-fold", on_change="rerun")
        if fold.open:
            with fold:
                table(figures(facts, now.groups), key="chosen-figures", wide="figure")


def sizes(run: Series, colours: Palette) -> None:
    """Draw the people by the size of their class; a bar chooses its classes."""
    facts = run.facts
    pick = picks("sizes", [size_spread(facts)], chosen.title(facts))
    mine = chosen.mask(facts)
    show(size_chart([run], colours, mine, lambda at: pick(0, at)), key="sizes")


def differences(run: Series, colours: Palette) -> None:
    """Draw how much the sensitive values of each class differ from the whole."""
    _strips(
        run,
        colours,
        title="Values against the whole",
        axis=f"of the {run.facts.noun[0]}: 0 as the whole, 1 nothing in common",
        key="difference-strips",
    )


def metrics(run: Series, colours: Palette) -> None:
    """Draw what the classes lost, class by class; nothing where no metric tells it."""
    _strips(
        run,
        colours,
        title=f"What the {run.facts.noun[1]} lost",
        axis=f"of the {run.facts.noun[0]}: 0 nothing, 1 everything",
        key="metric-strips",
    )


def attacks(run: Series, colours: Palette) -> None:
    """Draw the chance of every attack, class by class; nothing where no attack tells it."""
    _strips(
        run,
        colours,
        title="Who stands how",
        axis="chance of success against them",
        key="attack-strips",
    )


def figures(facts: Facts, groups: np.ndarray[Any, np.dtype[np.int64]]) -> pd.DataFrame:
    """Return what is known of chosen classes, beside the same of everyone: the charts as a table.

    Parameters
    ----------
    facts : Facts
    groups : int64 array of shape (chosen,)
    """
    import pandas as pd

    one, many = facts.noun
    people, total = int(facts.hiding[groups].sum()), max(int(facts.hiding.sum()), 1)
    rows: list[dict[str, str]] = [
        {"figure": many, "chosen": f"{len(groups):,}", "everyone": f"{len(facts.sizes):,}"},
        {
            "figure": facts.result.counted,
            "chosen": f"{people:,} ({share(people / total)})",
            "everyone": f"{total:,}",
        },
    ]
    if len(groups) == 1:
        rows += [
            {"figure": name, "chosen": text, "everyone": ""}
            for name, text in facts.cells(int(groups[0])).items()
        ]
    weight = facts.hiding.astype(np.float64)
    for name, values in _metrics(facts):
        rows.append(
            {
                "figure": f"{name}, mean of the {many}",
                "chosen": f"{np.average(values[groups], weights=weight[groups]):.3f}",
                "everyone": f"{np.average(values, weights=weight):.3f}",
            }
        )
    for column, values in _differences(facts):
        rows.append(
            {
                "figure": f"{column}: mean difference to the whole",
                "chosen": f"{np.average(values[groups], weights=weight[groups]):.3f}",
                "everyone": f"{np.average(values, weights=weight):.3f}",
            }
        )
    for name, values in _attacks(facts):
        rows.append(
            {
                "figure": f"{name}, highest chance in a {one}",
                "chosen": chance(float(values[groups].max(initial=0.0))),
                "everyone": chance(float(values.max(initial=0.0))),
            }
        )
    return pd.DataFrame(rows)


def row_picker(facts: Facts, frame: pd.DataFrame, key: str) -> dict[str, Any]:
    """Return what lets a click on a row of a table, its class first, choose that class."""
    numbers = frame[facts.head].to_numpy()
    place = chosen.place(key)

    @handled("Table")
    def take() -> None:
        event = cast(Mapping[str, Any], st.session_state.get(place) or {})
        rows = event.get("selection", {}).get("rows", [])
        if rows:
            chosen.afresh(key)  # the row stands elsewhere among the chosen ones
            chosen.choose_number(facts, int(numbers[rows[0]]))
            redraw_linked()

    return {"key": place, "on_select": take, "selection_mode": "single-row"}


def only_chosen(facts: Facts, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of chosen classes; all of them where nothing is chosen."""
    now = chosen.now(facts)
    if now is None:
        return frame
    return frame[np.isin(frame[facts.head].to_numpy(), facts.numbers[now.groups])]


def _metrics(facts: Facts) -> list[tuple[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    run = Series(letter="", title="", facts=facts, colour="")
    found: list[tuple[str, np.ndarray[Any, np.dtype[np.float64]]]] = []
    for name in metric_names([run]):
        values = facts.result.measures[name].per_class
        if values is not None and len(values) == len(facts.sizes) and _is_share(values):
            found.append((title_of(name), values))
    return found


def _differences(facts: Facts) -> list[tuple[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    return [
        (column, facts.difference(column))
        for column in facts.result.problem.sensitive
        if column not in facts.result.problem.quasi and len(facts.sizes)
    ]


def _attacks(facts: Facts) -> list[tuple[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    return [
        (name_of(a), a.per_class)
        for a in facts.attacks
        if len(a.per_class) == len(facts.sizes) and len(facts.sizes) and not a.idle
    ]


#: What charts tell of every class as a share, by the chart's name on the page.
_SHARES = {
    "difference-strips": _differences,
    "metric-strips": _metrics,
    "attack-strips": _attacks,
}


def _is_share(values: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    told = values[np.isfinite(values)]
    return bool(len(told)) and float(told.min()) >= 0 and float(told.max()) <= 1 + 1e-9


def _extent(facts: Facts, now: chosen.Chosen) -> str:
    one, many = facts.noun
    people = int(facts.hiding[now.groups].sum())
    counted = facts.result.counted
    some = f"{len(now.groups):,} {one if len(now.groups) == 1 else many}, "
    return f"{some}{people:,} {counted}" if people != 1 else f"{some}1 of the {counted}"


def _number(title: str, key: str, most: int, take: Callable[[int], None]) -> None:
    place = f"{key}-{chosen.turn()}"

    @handled("The choice")
    def taken() -> None:
        number = st.session_state.get(place)
        if number is not None:
            take(int(number))
            redraw_linked()

    st.number_input(
        title,
        min_value=1,
        max_value=max(most, 1),
        value=None,
        step=1,
        key=place,
        width=230,
        placeholder=f"1 to {most:,}",
        on_change=taken,
    )


def _clear() -> None:
    chosen.clear()
    redraw_linked()


def _by_class(facts: Facts) -> Callable[[int], None]:
    return lambda number: chosen.choose_number(facts, number)


def _by_row(facts: Facts) -> Callable[[int], None]:
    return lambda number: chosen.choose_row(facts, number - 1)


def _strips(run: Series, colours: Palette, *, title: str, axis: str, key: str) -> None:
    facts = run.facts
    spreads = _spreads(facts, key)
    if spreads:
        pick = picks(key, spreads, chosen.title(facts))
        mine = chosen.mask(facts)
        show(strips(facts, spreads, mine, colours, title=title, axis=axis, pick=pick), key=key)


def _spreads(facts: Facts, chart: str) -> list[Spread]:
    """Return what a chart of the page tells of every class; nothing of a chart there is not."""
    if chart == "sizes":
        return [size_spread(facts)]
    told = _SHARES[chart](facts) if chart in _SHARES else []
    return [share_spread(name, values) for name, values in told]


def _take(facts: Facts, place: str) -> None:
    """Choose the classes that were clicked; what is chosen already is chosen no longer."""
    groups, title = picked(_spreads(facts, place.partition("/")[0]), place)
    if not title:
        return
    if title == chosen.title(facts):
        chosen.clear()
    else:
        chosen.choose(facts, groups, title)
    redraw_linked()
