"""The three verdict lines, kept apart: promises recomputed, threshold, the person's judgement."""

from __future__ import annotations

import streamlit as st

from anon_core.runner import Result
from ui import words
from ui.explain import plain
from ui.facts import facts

_NOTES = "judgement"
_SIGNS = {
    "met": ":material/check:",
    "not met": ":material/close:",
    "no threshold": ":material/info:",
}


def note_of(result: Result) -> str:
    """Return the judgement written down for a result."""
    return str(_notes().get(_key(result), ""))


def draw(result: Result, *, key: str) -> None:
    """Draw the three lines of a result."""
    permuted = result.release.grouping.published
    with st.container(key=f"stack-verdicts-{key}"):
        first, second, third = st.columns([1, 1.35, 1], gap="medium")
    with first.container(border=True, height="stretch"):
        st.markdown("**1 · Promises, recomputed**")
        for sentence in words.promises(result):
            st.markdown(f":material/check: {plain(sentence)}")
        _beyond(result)
        with st.popover("What else was recomputed", type="tertiary"):
            for sentence in words.other_checks(result):
                st.markdown(f":material/check: {plain(sentence)}")
    with second.container(border=True, height="stretch"):
        st.markdown("**2 · Your threshold**")
        for attack in words.in_order(result.attacks):
            line = words.against_threshold(attack, permuted=permuted)
            text = _weighed(plain(line.sentence), line.standing)
            st.markdown(f"{_SIGNS[line.standing]} {text}")
        for sentence in result.cautions:
            st.markdown(f":material/warning: {plain(sentence)}")
        for sentence in facts(result).undefined:
            st.caption(plain(f"Not run – {sentence}"))
    with third.container(border=True, height="stretch"):
        st.markdown("**3 · Your judgement**")
        st.caption(
            "Identifiability in this context is yours to judge: who gets the data, what they "
            "know, what keeps them from trying. What you write here goes into the report."
        )
        written = st.text_area(
            "Your judgement",
            value=note_of(result),
            key=f"judgement-{key}",
            label_visibility="collapsed",
            placeholder="For example: Released to the research unit under contract; …",
            height=110,
        )
        _notes()[_key(result)] = written


def _weighed(text: str, standing: words.Standing) -> str:
    """Set the end of a sentence that says "not met" apart, so that it cannot be overlooked."""
    if standing == "not met" and text.endswith("not met\\."):
        return text.removesuffix("not met\\.") + ":red-badge[not met]"
    return text


def _beyond(result: Result) -> None:
    """Say how many rows are unique over all published columns, where rows are anybody's."""
    if result.release.grouping.published:
        return
    alone = int(result.verification.facts.get("unique_over_all_columns", 0))
    total = result.release.view.rows
    if alone:
        st.caption(
            f"Over all published columns together, {alone:,} of {total:,} rows "
            f"({plain(words.share(alone / max(total, 1)))}) are like no other. Whoever knows "
            "columns that are no quasi-identifiers could tell them apart."
        )


def _notes() -> dict[str, str]:
    return st.session_state.setdefault(_NOTES, {})


def _key(result: Result) -> str:
    return f"{id(result)}"
