"""One choice for all panels of Results: what is chosen in one of them is chosen in all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import streamlit as st

from anon_core.explain.text.phrases import chance, share
from ui.charts import class_values
from ui.charts.chart_frame import Series, table
from ui.components.guard import handled
from ui.panels.results import workspace
from ui.state import results, selection
from ui.state.result_view import Facts
from ui.state.result_view import facts as facts_of
from ui.state.work.fragments import redraw_linked
from ui.words.escaping import plain

if TYPE_CHECKING:
    import pandas as pd

_CLASS, _ROW = "chosen/class", "chosen/row"
_BY_NUMBER = "chosen-by-number"
#: Letters of a column's name that a table shows whole, and pixels of a column with more.
_LETTERS, _COLUMN = 28, 200
#: Pixels of a row.
_HEIGHT = 24
#: Pixels of three columns: what a figure is, of what is chosen, and of everyone.
_WIDE = 600


def bar(run: Series) -> None:
    """Draw what is chosen, what clears it, and the choice by a number; take what is clicked."""
    facts = run.facts
    left = selection.follow(facts)
    now = selection.now(facts)
    one = facts.noun[0]
    if now is None:
        st.markdown(plain(left) if left else f"No {one} is selected")
    else:
        st.markdown(f"**Chosen: {plain(now.title)}** – {plain(_extent(facts, now))}")
        st.button(
            "Clear the choice",
            key="chosen-clear",
            icon=":material/close:",
            shortcut=None if workspace.is_any_open() else "Esc",
            on_click=handled("The choice")(_clear),
        )
    _steps(facts, now)
    by_number = st.popover(f"Choose a {one}", key=_BY_NUMBER, on_change="rerun")
    if not by_number.open:
        return
    with by_number:
        _number(f"Choose a {one} by its number", _CLASS, len(facts.sizes), _by_class(facts))
        _number("Choose a row of your table", _ROW, facts.result.problem.rows, _by_row(facts))
        if now is None:
            st.caption(
                "Click a column of the tracks, tick a row, or type a number: the "
                f"{one} is then chosen in the table, the charts, the metrics and the attacks."
            )
            return
        fold = st.expander("Figures of what is chosen", key="chosen-fold", on_change="rerun")
        if fold.open:
            with fold, st.container(width=_WIDE):
                table(figures(facts, now.groups), key="chosen-figures", wide="figure")


#: The block that the bar is drawn in.
BLOCK = {"key": "chosen-bar", "horizontal": True, "vertical_alignment": "center"}


def drawn_from() -> object:
    """Return what the bar is drawn from as long as nothing is chosen."""
    result = results.shown()
    if result is None or selection.is_any() or st.session_state.get(_BY_NUMBER):
        return object()
    return facts_of(result).noun, selection.turn()


def figures(facts: Facts, groups: np.ndarray[Any, np.dtype[np.int64]]) -> pd.DataFrame:
    """Return what is known of chosen classes, next to the same of everyone: the charts as a table.

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
    for name, values in class_values.metrics(facts):
        rows.append(
            {
                "figure": f"{name}, mean of the {many}",
                "chosen": f"{np.average(values[groups], weights=weight[groups]):.3f}",
                "everyone": f"{np.average(values, weights=weight):.3f}",
            }
        )
    for column, values in class_values.differences(facts):
        rows.append(
            {
                "figure": f"{column}: mean difference to the whole",
                "chosen": f"{np.average(values[groups], weights=weight[groups]):.3f}",
                "everyone": f"{np.average(values, weights=weight):.3f}",
            }
        )
    for name, values in class_values.attacks(facts):
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
    place = selection.place(key)

    @handled("Table")
    def take() -> None:
        event = cast(Mapping[str, Any], st.session_state.get(place) or {})
        rows = event.get("selection", {}).get("rows", [])
        if rows:
            selection.afresh(key)  # the row is elsewhere among the chosen ones
            selection.choose_number(facts, int(numbers[rows[0]]))
            redraw_linked()

    picker = {"key": place, "on_select": take, "selection_mode": "single-row"}
    return picker | rows_look(facts, frame)


def rows_look(facts: Facts, frame: pd.DataFrame) -> dict[str, Any]:
    """Return how a table of rows looks.

    A long name would leave no room for other columns; the pointer shows the rest of it.
    """
    long = [(at, str(one)) for at, one in enumerate(frame.columns) if len(str(one)) > _LETTERS]
    return {
        "hide_index": True,
        "row_height": _HEIGHT,
        "column_config": {
            facts.head: st.column_config.NumberColumn(format="localized", width="small"),
            **{at: st.column_config.Column(width=_COLUMN, help=plain(name)) for at, name in long},
        },
    }


def only_chosen(facts: Facts, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of chosen classes; all of them where nothing is chosen."""
    now = selection.now(facts)
    if now is None:
        return frame
    return frame[np.isin(frame[facts.head].to_numpy(), facts.numbers[now.groups])]


def _extent(facts: Facts, now: selection.Chosen) -> str:
    many = facts.noun[1]
    people = int(facts.hiding[now.groups].sum())
    counted = facts.result.counted
    count = f"{len(now.groups):,}"
    complete = len(now.groups) == 1 or count in now.title
    some = "" if complete else f"{count} {many}, "
    return f"{some}{people:,} {counted}" if people != 1 else f"{some}1 of the {counted}"


def _number(title: str, key: str, most: int, take: Callable[[int], None]) -> None:
    place = f"{key}-{selection.turn()}"

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


def _steps(facts: Facts, now: selection.Chosen | None) -> None:
    """Draw what chooses the class before the chosen ones, and the one after them."""
    one, last = facts.noun[0], len(facts.sizes) - 1
    places = [] if now is None else facts.place[now.groups].tolist()
    for sign, name, at in (
        ("chevron_left", "Smaller", min(places) - 1 if places else -1),
        ("chevron_right", "Larger", max(places, default=-1) + 1),
    ):
        st.button(
            f"{name} {one}",
            key=f"chosen-{name.lower()}",
            icon=f":material/{sign}:",
            type="tertiary",
            disabled=bool(places) and not 0 <= at <= last,
            on_click=handled("The choice")(_choose_place),
            args=(at,),
            help=f"Choose the next {one} in the order of sizes.",
        )


def _choose_place(at: int) -> None:
    """Choose the class at a place in the order of sizes, -1 for the largest."""
    result = results.shown()
    if result is not None:
        facts = facts_of(result)
        selection.choose_number(facts, int(facts.numbers[facts.by_size[at]]))
        redraw_linked()


def _clear() -> None:
    selection.clear()
    redraw_linked()


def _by_class(facts: Facts) -> Callable[[int], None]:
    return lambda number: selection.choose_number(facts, number)


def _by_row(facts: Facts) -> Callable[[int], None]:
    return lambda number: selection.choose_row(facts, number - 1)
