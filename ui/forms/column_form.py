"""Values of single columns, and sets of columns: one place for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import streamlit as st

from anon_core.base.params import Parameter
from anon_core.data.values.kinds import KINDS
from ui.forms.draft_sync import follow, place
from ui.state import state
from ui.words.escaping import plain

#: Kinds of parameters that are drawn here.
DRAWN = ("by-column", "by-value", "columns", "private-column", "column-sets")
_ALONE = "by itself"


def draw(parameter: Parameter, value: object, key: str) -> object:
    """Draw a parameter that is about columns; return what a recipe has of it.

    Parameters
    ----------
    parameter : Parameter
        Of a kind in `DRAWN`.
    value : object
        As a recipe has it.
    key : str
        Begins the keys of all its widgets.
    """
    if parameter.kind == "column-sets":
        return _sets(parameter, cast(Sequence[Sequence[str]], value), key)
    if parameter.kind == "private-column":
        return _private(parameter, str(value), key)
    if parameter.kind == "columns":
        return _some(parameter, cast(Sequence[str], value), key)
    settings = cast(Mapping[str, object], value)
    if parameter.kind == "by-value":
        return _values(parameter, cast(Mapping[str, float], settings), key)
    columns = _columns(parameter, settings)
    if not columns:
        return dict(settings)
    each = cast(Parameter, parameter.each)
    found: dict[str, object] = {}
    fold = st.expander(
        parameter.label,
        expanded=bool(settings) or each.kind == "level",
        key=f"{key}/fold",
        on_change="rerun",
    )
    if not fold.open:  # a browser lays out what a closed fold holds too
        return dict(settings)
    with fold:
        st.caption(plain(f"{each.help} Columns that are left out: {parameter.empty}."))
        row = st.container(horizontal=True, vertical_alignment="bottom")
        for name in columns:
            widget = f"{key}/{name}"
            if each.kind == "limits":
                given = limits_form(
                    name, cast(Mapping[str, object], settings.get(name, {})), widget
                )
            else:
                with row, st.container(key=f"half-{widget}"):
                    given = (
                        _level(name, settings.get(name), widget, parameter.empty)
                        if each.kind == "level"
                        else _number(name, each, settings.get(name), widget)
                    )
            if given is not None:
                found[name] = given
    return found


def _private(parameter: Parameter, named: str, key: str) -> str:
    """Draw a choice among the columns that are not published; return the one that is named.

    A quiet one is about survey weights: it is drawn only where a column has that role.
    """
    data, weight = state.dataset(), state.roles().weight
    if parameter.quiet and not weight and not named:
        return named
    published = state.roles().published(data) if data is not None else ()
    known = [name for name in (data.names if data is not None else ()) if name not in published]
    if parameter.quiet:
        known = [name for name in known if name == weight]
    options = ["", *known, *([named] if named and named not in known else [])]
    return st.selectbox(
        plain(parameter.label),
        options,
        index=place(options, follow(key, named)),
        key=key,
        help=plain(parameter.help),
        format_func=lambda name: name or parameter.empty,
    )


def _some(parameter: Parameter, named: Sequence[str], key: str) -> list[str]:
    """Draw a choice among the quasi-identifiers; return those that are named."""
    quasi = list(state.roles().quasi)
    options = [*quasi, *(name for name in named if name not in quasi)]
    if not options:
        return list(named)
    return st.multiselect(
        plain(parameter.label),
        options,
        default=follow(key, list(named)),
        key=key,
        help=plain(parameter.help),
        placeholder=parameter.empty,
    )


def _values(parameter: Parameter, given: Mapping[str, float], key: str) -> dict[str, float]:
    """Draw a choice among the values of the sensitive columns, and a number for each chosen."""
    data, each = state.typed_dataset(), cast(Parameter, parameter.each)
    own = state.roles().sensitive if data is not None else ()
    known = [v for n in own if data is not None and n in data.names for v in data.column(n).values]
    options = list(dict.fromkeys((*known, *given)))
    if not options:
        return dict(given)
    chosen = st.multiselect(
        plain(parameter.label),
        options,
        default=follow(key, list(given)),
        key=key,
        help=plain(parameter.help),
        placeholder=parameter.empty,
    )
    found: dict[str, float] = {}
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for name in chosen:
        widget = f"{key}/{name}"
        with row, st.container(key=f"half-{widget}"):
            found[name] = st.number_input(
                plain(name),
                min_value=each.low,
                max_value=each.high,
                value=follow(widget, float(given.get(name, cast(float, each.default)))),
                step=0.5,
                format="%g",
                key=widget,
                help=plain(each.help),
            )
    return found


def _columns(parameter: Parameter, given: Mapping[str, object]) -> list[str]:
    """Return the columns that can have a value of their own, and those that have one now."""
    quasi = list(state.roles().quasi)
    data = state.typed_dataset()
    if data is not None and cast(Parameter, parameter.each).kind == "limits":
        known = [name for name in quasi if name in data.names]
        quasi = [name for name in known if KINDS[data.column(name).kind].measured]
    return [*quasi, *(name for name in given if name not in quasi)]


def _level(name: str, given: object, widget: str, empty: str) -> int | None:
    words = [empty, *_level_words(name)]
    wanted = min(given + 1, len(words) - 1) if isinstance(given, int) else 0
    at = st.selectbox(
        plain(name),
        range(len(words)),
        index=follow(widget, wanted),
        format_func=words.__getitem__,
        key=widget,
    )
    return at - 1 if at else None


def _number(name: str, each: Parameter, given: object, widget: str) -> float | None:
    usual = float(cast(float, each.default))
    chosen = st.number_input(
        plain(name),
        min_value=each.low,
        max_value=each.high,
        value=follow(widget, float(given) if isinstance(given, int | float) else usual),
        step=0.5,
        format="%g",
        key=widget,
        help=plain(each.help),
    )
    return None if chosen == usual else chosen


def limits_form(name: str, given: Mapping[str, object], widget: str) -> dict[str, object] | None:
    """Draw a lower and an upper limit in one row; return those that are given."""
    found: dict[str, object] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for end, words in (("low", "lower limit"), ("high", "upper limit")):
            own = f"{widget}/{end}"
            text = st.text_input(
                plain(f"{name}: {words}"),
                value=follow(own, str(given.get(end, ""))),
                key=own,
                placeholder="none",
            ).strip()
            if text:
                found[end] = _as_written(text)
    return found or None


def _as_written(text: str) -> object:
    """Return a number where `str` writes it like that, or else the text."""
    for kind in (int, float):
        try:
            if str(kind(text)) == text:
                return kind(text)
        except ValueError:
            continue
    return text


def _level_words(column: str) -> list[str]:
    """Return every level in words, the exact values first."""
    rows = state.levels().get(column) or [["", "*"]]
    height = len(rows[0]) - 1
    found = ["exact"]
    for level in range(1, height + 1):
        labels = list(dict.fromkeys(row[level] for row in rows if row[level]))
        example = labels[len(labels) // 2] if labels else "(missing)"
        found.append(f"{level}: {example}{', …' if len(labels) > 1 else ''}")
    return found


def _sets(parameter: Parameter, sets: Sequence[Sequence[str]], key: str) -> list[list[str]]:
    """Draw for every published column which set it is in; return the sets."""
    data = state.dataset()
    published = list(state.roles().published(data)) if data is not None else []
    if not published:
        return [list(names) for names in sets]
    at = {name: number for number, names in enumerate(sets, start=1) for name in names}
    columns = [*published, *(name for name in at if name not in published)]
    options = [_ALONE, *(f"Set {number}" for number in range(1, len(sets) + 2))]
    found: dict[str, list[str]] = {option: [] for option in options}
    with st.expander(parameter.label, expanded=bool(sets)):
        st.caption(plain(f"{parameter.help} Without a set: {parameter.empty}."))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            for name in columns:
                widget = f"{key}/{name}"
                now = follow(widget, options[at.get(name, 0)])
                with st.container(key=f"half-{widget}"):
                    chosen = st.selectbox(
                        plain(name), options, index=place(options, now), key=widget
                    )
                found[chosen if chosen in found else _ALONE].append(name)
        unknown = [name for name in at if name not in published]
        if unknown:
            st.warning(plain(f"Not a published column: {', '.join(unknown)}."))
        formed = [
            sorted(names, key=lambda n: sets[at[n] - 1].index(n) if n in at else len(at))
            for option, names in found.items()
            if option != _ALONE and names
        ]
        if formed:
            alone = [*found[_ALONE], *(names[0] for names in formed if len(names) == 1)]
            linked = [" + ".join(names) for names in formed if len(names) > 1]
            st.caption(
                plain(
                    f"Linked: {'; '.join(linked) or 'none'}. "
                    f"By themselves: {', '.join(alone) or 'none'}."
                )
            )
    return formed
