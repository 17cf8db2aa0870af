"""Forms out of declarations: one widget for each parameter a technique declares."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import cast

import streamlit as st

from anon_core.base.errors import BadPlan
from anon_core.base.params import Parameter, Technique
from anon_core.base.registry import option_title
from ui.forms import column_form, query_form
from ui.forms.draft_sync import follow, place
from ui.state import state
from ui.words.escaping import plain, what_is_this

#: The kind of parameters that are count queries.
_QUERIES = "queries"
#: Letters that fit a third of the form.
_MOST_TEXT = 15
#: Options that are explained one by one next to a choice.
_MOST_EXPLAINED = 8


def parameter_form(
    technique: type[Technique],
    values: Mapping[str, object],
    *,
    key: str,
    sensitive: Sequence[str] = (),
    without: Collection[str] = (),
) -> dict[str, object]:
    """Draw one widget for each declared parameter and return what they show.

    The parameters of a technique that is chosen here are in a frame below.

    Parameters
    ----------
    technique : type of Technique
    values : mapping of str to object
        What the session holds; parameters without a value, or with one that is no longer allowed,
        show their default.
    key : str
        Distinguishes this form's widgets from those of other forms.
    sensitive : sequence of str
        Columns that a parameter of kind ``column`` may name.
    without : collection of str
        Parameters that have a form of their own.

    Returns
    -------
    dict of str to object
        Every parameter's value by name, quiet ones where they differ from their default; it is the
        technique that judges them.
    """
    shown: dict[str, object] = {}
    parameters = [p for p in technique.parameters() if p.name not in without]
    simple = [p for p in parameters if p.kind not in (*column_form.DRAWN, _QUERIES)]
    row = st.container(horizontal=True, vertical_alignment="bottom") if simple else nullcontext()
    for parameter in simple:
        wanted = _allowed(parameter, values.get(parameter.name, parameter.default), technique.name)
        widget = f"{key}/{technique.name}/{parameter.name}"
        if parameter.kind == "technique":
            wanted = parameter.named(wanted)
        now = follow(widget, wanted)
        long = _longest(parameter, sensitive) > _MOST_TEXT
        # A choice is no choice where its words are cut off; `shell` gives such a place more room.
        with row, st.container(key=f"long-{widget}") if long else nullcontext():
            shown[parameter.name] = _widget(parameter, widget, sensitive, wanted, now)
    for parameter in parameters:
        if parameter.kind == _QUERIES:
            wanted = _allowed(
                parameter, values.get(parameter.name, parameter.default), technique.name
            )
            shown[parameter.name] = query_form.draw(
                parameter,
                cast(Sequence[Mapping[str, object]], wanted),
                f"{key}/{technique.name}/{parameter.name}",
            )
        elif parameter.kind in column_form.DRAWN:
            wanted = _allowed(
                parameter, values.get(parameter.name, parameter.default), technique.name
            )
            widget = f"{key}/{technique.name}/{parameter.name}"
            shown[parameter.name] = column_form.draw(parameter, wanted, widget)
        elif parameter.kind == "technique":
            chosen = str(shown[parameter.name])
            given = values.get(parameter.name, parameter.default)
            own = given if parameter.named(given) == chosen else chosen
            below = f"{key}/{technique.name}"
            shown[parameter.name] = _part(parameter, chosen, own, below, sensitive)
    return {p.name: shown[p.name] for p in parameters if not (p.quiet and usual(p, shown))}


def further_forms(
    known: Mapping[str, type[Technique]],
    given: Mapping[str, Mapping[str, object]],
    *,
    kind: str,
    label: str,
    help: str,
) -> list[dict[str, object]]:
    """Draw a choice among techniques that run on request, and a form for each; return those chosen.

    Parameters
    ----------
    known : mapping of str to type of Technique
        Those that are offered, by name; nothing is drawn without any.
    given : mapping of str to mapping
        The tables that the session holds, by name.
    kind : {'attack', 'metric'}
        Part of the keys of the widgets.
    label, help : str
        Of the choice.
    """
    if not known:
        return []
    chosen = st.multiselect(
        label,
        list(known),
        default=follow(f"further-{kind}s", [n for n in known if n in given]),
        format_func=lambda n: known[n].title,
        key=f"further-{kind}s",
        help=help,
    )
    found: list[dict[str, object]] = []
    for name in chosen:
        st.markdown(f"**{plain(known[name].title)}**")
        own = parameter_form(
            known[name],
            given.get(name, {}),
            key=f"run_form/{kind}",
            sensitive=state.roles().sensitive,
        )
        found.append({"name": name, **own})
        what_is_this(known[name])
    return found


def usual(parameter: Parameter, values: Mapping[str, object]) -> bool:
    """Say whether a parameter has its default among a technique's values."""
    default = _default(parameter)
    return values.get(parameter.name, default) in (default, parameter.default)


def filled(technique: type[Technique], values: Mapping[str, object]) -> dict[str, object]:
    """Return what `parameter_form` returns of these values where no one changes a field."""
    return {
        p.name: values.get(p.name, _default(p))
        for p in technique.parameters()
        if not (p.quiet and usual(p, values))
    }


def _part(
    parameter: Parameter, chosen: str, given: object, key: str, sensitive: Sequence[str]
) -> object:
    """Draw the parameters of a technique that was chosen; return its name, or a table with them."""
    technique = parameter.part(chosen)
    if all(p.name in parameter.governed for p in technique.parameters()):
        return chosen
    values = cast(Mapping[str, object], given) if isinstance(given, Mapping) else {}
    with st.container(border=True, key=f"part-{key}/{parameter.name}"):
        st.caption(plain(f"{label_of(parameter)}: {technique.title}"))
        own = parameter_form(
            technique,
            values,
            key=f"{key}/{parameter.name}",
            sensitive=sensitive,
            without=parameter.governed,
        )
    usual = {p.name: p.default for p in technique.parameters() if p.name in own}
    return chosen if own == usual else {"name": chosen, **own}


def _longest(parameter: Parameter, sensitive: Sequence[str]) -> int:
    """Return how many letters the longest of a parameter's choices has; 0 where there is none."""
    if parameter.kind == "column":
        return max(map(len, (parameter.empty, *sensitive)))
    return max((len(option_title(parameter, option)) for option in parameter.options), default=0)


def _allowed(parameter: Parameter, value: object, owner: str) -> object:
    try:
        return parameter.plain(parameter.accept(value, owner))
    except BadPlan:
        return _default(parameter)


def _default(parameter: Parameter) -> object:
    """Return a parameter's default as a recipe has it."""
    return parameter.default if parameter.parts else parameter.plain(parameter.default)


def _widget(
    parameter: Parameter, widget: str, sensitive: Sequence[str], wanted: object, now: object
) -> object:
    label = label_of(parameter)
    if parameter.options:
        return st.selectbox(
            label,
            parameter.options,
            index=place(parameter.options, now),
            key=widget,
            help=f"{plain(parameter.help)}\n\n{_each(parameter)}",
            format_func=lambda option: option_title(parameter, option),
        )
    note = f"{plain(parameter.help)}\n\nAllowed: {plain(parameter.allowed())}."
    if parameter.kind == "flag":
        return st.checkbox(label, value=bool(now), key=widget, help=note)
    if parameter.kind == "text":
        draw = st.text_area if parameter.lines else st.text_input
        return draw(label, value=str(now), key=widget, help=note)
    if parameter.kind == "column":
        columns = ["", *sensitive]
        if wanted not in columns:  # the plan says what is wrong with it, not the form
            columns.append(str(wanted))
        return st.selectbox(
            label,
            columns,
            index=place(columns, now),
            key=widget,
            help=note,
            format_func=lambda name: name or parameter.empty,
        )
    if parameter.kind == "integer":
        low = None if parameter.low is None else int(parameter.low)
        high = None if parameter.high is None else int(parameter.high)
        return st.number_input(
            label,
            min_value=low,
            max_value=high,
            value=cast(int, now),
            step=1,
            key=widget,
            help=note,
        )
    low, high = parameter.low, parameter.high
    step = 0.01 if high is not None and high <= 1 else 0.1
    return st.number_input(
        label,
        min_value=low,
        max_value=high,
        value=float(cast(float, now)),
        step=step,
        format="%g",
        key=widget,
        help=note,
    )


def label_of(parameter: Parameter) -> str:
    """Return what is on a parameter's field."""
    label = parameter.label or parameter.name.replace("_", " ")
    if label[1:2].isalpha():  # a letter by itself, such as k or the δ of "δ max", is a formula's
        label = label[:1].upper() + label[1:]
    return f"{label} ({parameter.unit})" if parameter.unit else label


def _each(parameter: Parameter) -> str:
    """Return every option in words, with what it is where it is a technique and they are few."""
    if len(parameter.options) > _MOST_EXPLAINED:
        return ""
    lines: list[str] = []
    for option in parameter.options:
        line = f"- {plain(option_title(parameter, option))}"
        if parameter.parts is not None:
            line += f": {plain(parameter.part(option).summary)}"
        lines.append(line)
    return "\n".join(lines)
