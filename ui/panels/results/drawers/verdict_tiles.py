"""Three tiles: the worst chance, the people at risk and the loss, each with colour and word."""

from __future__ import annotations

import streamlit as st

from anon_core.explain.text.tiles import Tile, tiles
from anon_core.pipeline.result import Result
from ui.charts.theme import VERDICT_STYLE, verdict_colour
from ui.words.escaping import plain

_LOOK = """<style>
.st-key-tiles [class*="st-key-figure-"] p {font-size: 1.9rem; font-weight: 600; line-height: 1.2;
  font-variant-numeric: tabular-nums;}
RULES
</style>"""
_RULE = """[class*="st-key-tile-VERDICT-"] {border-left: .4rem solid COLOUR;}
.st-key-tiles [class*="st-key-word-VERDICT-"] p {color: COLOUR; font-weight: 600;}"""


def draw(result: Result) -> tuple[Tile, ...]:
    """Draw the three tiles of a result, and return them."""
    rules = [
        _RULE.replace("VERDICT", verdict).replace("COLOUR", verdict_colour(verdict))
        for verdict in VERDICT_STYLE
    ]
    st.html(_LOOK.replace("RULES", "\n".join(rules)))
    found = tiles(result)
    with st.container(key="tiles"), st.container(key="stack-tiles"):
        columns = st.columns(len(found), gap="small")
    for place, (column, tile) in enumerate(zip(columns, found, strict=True)):
        with column:
            _tile(tile, place)
    return found


def _tile(tile: Tile, place: int) -> None:
    _, _, icon = VERDICT_STYLE[tile.verdict]
    with st.container(
        border=True, height="stretch", key=f"tile-{tile.verdict}-{place}", gap="xxsmall"
    ):
        by = f" · {plain(tile.attacker)}" if tile.attacker else ""
        st.markdown(f"**{tile.name}**{by}")
        with st.container(key=f"figure-{place}"):
            st.markdown(plain(tile.figure))
        with st.container(key=f"word-{tile.verdict}-{place}"):
            st.markdown(f"{icon} {plain(tile.word)}")
        if tile.note:
            st.caption(plain(tile.note))
