"""The choice of technique: first what may be changed, then which published way of changing it."""

from __future__ import annotations

from typing import cast

import streamlit as st

from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, Approach, order_of_use
from ui.components.guard import handled
from ui.forms import models_form
from ui.forms.draft_sync import place
from ui.state import state
from ui.words.escaping import plain

_TECHNIQUE = "run_form/technique"
_APPROACH = "run_form/approach"
_LAST = "technique_picker/last"
#: In the order in which they are offered: title, and what is done.
APPROACHES: dict[Approach, tuple[str, str]] = {
    "levels": (
        "One level per column",
        "Equal values are published alike in the whole table. Usually all values of a "
        "column have the same level of its hierarchy.",
    ),
    "ranges": (
        "Ranges per group",
        "Similar rows form groups, and each group publishes ranges of its own.",
    ),
    "cells": ("Single cells", "Only cells that need it are made coarser or suppressed."),
    "links": (
        "Cut links",
        "Columns are permuted within groups, which cuts their links. Values usually stay exact.",
    ),
    "values": ("Changed values", "Values themselves are averaged, bounded or disturbed."),
}


def approach_of(technique: type[Algorithm]) -> Approach:
    """Return under what a technique is offered; whatever permutes columns separately cuts links."""
    return "links" if technique.shape.permutes else technique.shape.approach


def pick(present: str) -> type[Algorithm]:
    """Draw the choice, starting from the draft's technique, and return what is chosen."""
    known = _known()
    _follow(present)
    approaches = [a for a in APPROACHES if any(approach_of(t) == a for t in known.values())]
    # Pills would keep Ctrl+Enter to themselves while they have
    # the focus; the page's own handler listens before them.
    st.pills(
        "What may be changed",
        approaches,
        default=st.session_state[_APPROACH],
        format_func=lambda a: APPROACHES[a][0],
        required=True,
        wrap=True,
        key=_APPROACH,
        on_change=_another_approach,
    )
    approach = cast(Approach, st.session_state[_APPROACH])
    st.caption(APPROACHES[approach][1])
    names = _offered(approach)
    name = st.radio(
        "Technique",
        names,
        index=place(names, st.session_state[_TECHNIQUE]),
        format_func=lambda n: known[n].title,
        captions=[caption(known[n]) for n in names],
        key=_TECHNIQUE,
        on_change=_another,
        label_visibility="collapsed",
    )
    st.session_state[f"{_TECHNIQUE}/before"] = name
    st.session_state.setdefault(_LAST, {})[approach] = name
    return known[name]


def caption(technique: type[Algorithm]) -> str:
    """Return for whom a technique is, and that it cannot count persons where it has to."""
    person = state.roles().unit
    text = plain(technique.offer.when or technique.summary)
    if not person or technique.needs.counts_people:
        return text
    return f":material/block: Not here: it counts rows, '{plain(person)}' counts persons. {text}"


def chosen(present: str) -> type[Algorithm]:
    """Return the technique that `pick` will show as chosen, before it is drawn."""
    known = _known()
    if st.session_state.get(f"{_TECHNIQUE}/before") == present:
        present = st.session_state.get(_TECHNIQUE) or present
    return known.get(present, next(iter(known.values())))


def _follow(present: str) -> None:
    """Show the draft's technique where it is new or was changed elsewhere."""
    known = _known()
    before = st.session_state.get(f"{_TECHNIQUE}/before")
    # A choice is None where a browser sent a place of the list that was offered before.
    if before != present or st.session_state.get(_TECHNIQUE) is None:
        st.session_state[_TECHNIQUE] = present if present in known else next(iter(known))
    st.session_state[_APPROACH] = approach_of(known[st.session_state[_TECHNIQUE]])


@handled("Choices")
def _another_approach() -> None:
    """Choose the technique of the approach that was chosen last, or its first."""
    approach = cast(Approach, st.session_state[_APPROACH])
    last: dict[str, str] = st.session_state.get(_LAST, {})
    st.session_state[_TECHNIQUE] = last.get(approach, _offered(approach)[0])
    _another()


@handled("Choices")
def _another() -> None:
    models_form.restore(_known()[st.session_state[_TECHNIQUE]])


def _offered(approach: Approach) -> list[str]:
    known = _known()
    found = [name for name, technique in known.items() if approach_of(technique) == approach]
    return sorted(found, key=lambda name: order_of_use(known[name]))


def _known() -> dict[str, type[Algorithm]]:
    return cast(dict[str, type[Algorithm]], family("algorithm"))
