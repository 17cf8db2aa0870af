"""What to do about ranges that end at real values of few people: next to the caution, one click."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import listing
from anon_core.base.registry import family
from anon_core.pipeline.result import Result
from ui.components.guard import handled
from ui.state import results, round_ends
from ui.words.escaping import plain

_SAID = "round_ends/said"


def draw(result: Result, *, key: str) -> None:
    """Offer round groups where a result publishes such ends; say what was chosen since."""
    said = st.session_state.get(_SAID)
    if said is not None and said[0] is result and not results.is_current():
        st.caption(plain(said[1]))
        st.page_link("pages/4_Run.py", label="Run it again", icon=":material/arrow_forward:")
        return
    named = round_ends.columns(result)
    if not named:
        return
    if not round_ends.can_round(result):
        st.caption(
            "This technique fits ranges to the rows, so their ends are real values. To publish no "
            "one's value, choose a technique on Run that uses levels of a hierarchy."
        )
        return
    st.button(
        plain(f"Publish round groups of {listing(named, 3)}"),
        key=f"round-ends-{key}",
        icon=":material/straighten:",
        disabled=not results.is_current(),
        on_click=handled("Verdicts")(_choose),
        args=(result,),
        help="Gives these columns a hierarchy with round cuts where they have none, and sets the "
        "technique to publish its groups. Nothing runs yet; Undo takes it back.",
    )


def _choose(result: Result) -> None:
    given = round_ends.choose(result)
    title = family("algorithm")[result.plan.algorithm.name].title
    proposed = f"{listing(given)} got a proposed hierarchy, and " if given else ""
    st.session_state[_SAID] = (
        result,
        f"Chosen: {proposed}{title} publishes groups of hierarchies at the next run.",
    )
