"""Taking the best that a search has found so far, while it goes on."""

from __future__ import annotations

import math

import streamlit as st

from anon_core.base.context import SoFar, Standing
from anon_core.explain.text.phrases import in_a_sentence
from anon_core.release.outcome import figure, per_cent
from ui.components.guard import handled
from ui.words.escaping import plain


def draw(name: str, so_far: SoFar) -> None:
    """Draw what the best found so far costs, its bound, and a button that takes it.

    Nothing is drawn where a search has found nothing yet or cannot tell, and once it is over.
    """
    standing = so_far.standing
    if standing is None:
        return
    st.markdown(plain(gap_sentence(standing)))
    st.button(
        "Take the best so far",
        key=f"take-{name}",
        disabled=so_far.taken.is_set(),
        on_click=handled()(so_far.taken.set),
        help="Ends the search here, without a proof that nothing is better. The release is "
        "verified, measured and attacked like any other.",
    )


def gap_sentence(standing: Standing) -> str:
    """Return how far a search is from a proof, in words.

    Examples
    --------
    >>> gap_sentence(Standing(cost=0.4, bound=0.3, metric="Loss"))
    'Best so far: loss 0.4. No choice can have less than 0.3: a gap of 25%.'
    """
    metric = in_a_sentence(standing.metric)
    bound = standing.bound
    if 0 < bound < 1:  # rounded down it is a bound still
        bound = math.floor(bound * 10_000) / 10_000
    return (
        f"Best so far: {metric} {figure(standing.cost)}. No choice can have less than "
        f"{figure(bound)}: a gap of {per_cent(standing.gap)}."
    )
