"""The strip on top of Results: three figures against the baseline, and chips for what was asked."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from anon_core.base.registry import family
from anon_core.explain.text import phrases
from anon_core.explain.text.tiles import Tile, tiles
from anon_core.pipeline.result import Result
from anon_core.release.outcome import Verdict
from ui.charts.chart_frame import shortened
from ui.charts.theme import VERDICT_STYLE, grid, ink, muted, verdict_colour

#: Models whose chips have room for all their words.
_ROOMY = 2
#: Letters of a column's name in a chip.
_LETTERS = 18
#: How a figure is → the sign before its words.
_SIGNS = {"bad": "✕", "doubtful": "⚠", "good": "✓", "plain": ""}


def draw(result: Result, base: Result | None) -> None:
    """Draw the strip of a result, next to the figures of the run that it is compared with.

    Parameters
    ----------
    result : Result
    base : Result or None
        The baseline.
    """
    before: list[Tile | None] = [None] * 3 if base is None else [*tiles(base)]
    figures = [
        _tile(_titled(tile, result), old, pending=result.pending)
        for tile, old in zip(tiles(result), before, strict=True)
    ]
    st.html(f"<div class='aw-strip'>{''.join(figures)}{_chips(result)}</div>")


def against(value: float, before: float, earlier: str, *, better: str = "less") -> str:
    """Return the arrow from the baseline's value to this one as HTML, coloured by better and worse.

    Parameters
    ----------
    value, before : float
    earlier : str
        The baseline's value in words.
    better : {'less', 'more'}
        Which direction is better.
    """
    said = escape(earlier)
    if value == before:
        return f"<span class='aw-same' title='{said} in the baseline too'>= baseline</span>"
    up = value > before
    worse = up == (better == "less")
    word = "worse" if worse else "better"
    return (
        f"<span class='aw-{word}' title='{word} than the baseline: {said}'>"
        f"{'▲' if up else '▼'} from {said}</span>"
    )


def rules() -> str:
    """Return the colours of `against` as CSS."""
    return (
        f".aw-worse {{color: {verdict_colour('bad')};}} "
        f".aw-better {{color: {verdict_colour('good')};}} .aw-same {{color: {muted()};}}"
    )


def _titled(tile: Tile, result: Result) -> Tile:
    """Return a tile without the column its attack is on, where the result has one alone."""
    if tile.of is None or len(result.problem.sensitive) > 1:
        return tile
    return replace(tile, attacker=tile.attacker.removesuffix(f" on {tile.of.column}"))


def _tile(tile: Tile, before: Tile | None, *, pending: bool) -> str:
    by = f" · {tile.attacker or tile.scale}" if tile.attacker or tile.scale else ""
    title = f"{tile.name}{by}"
    arrow = ""
    if before is not None and tile.value is not None and before.value is not None:
        # Of how many people it is, the present figure says.
        same = before.total and before.total == tile.total
        figure = f"{before.value:,.0f}" if same else before.figure
        arrow = against(tile.value, before.value, figure)
    verdict = "plain" if pending and tile.verdict == "good" else tile.verdict
    sign = _SIGNS[verdict]
    word = f"{sign} {tile.word}".strip()
    return (
        f"<div class='aw-tile aw-{verdict}' title='{escape(f'{title}. {tile.note}')}'>"
        f"<div class='aw-text'><b>{escape(tile.name)}</b>{escape(by)}</div>"
        f"<div class='aw-text'><span class='aw-figure'>{escape(tile.figure)}</span> {arrow}</div>"
        f"<div class='aw-text aw-word' title='{escape(tile.word)}'>{escape(word)}</div></div>"
    )


def _chips(result: Result) -> str:
    known = family("model")
    checks = result.verification
    agreed = "✓ second computation agrees" if checks.holds else "✕ second computation disagrees"
    of = f"{len(checks.checks)} checks of the published file"
    if result.pending:
        agreed, of = (
            "recomputing …",
            "Nothing of this is recomputed yet, so it is not a release yet",
        )
    chips = [f"<span class='aw-chip' title='{of}'>{agreed}</span>"]
    close = len(result.verdicts) > _ROOMY
    several = len({v.column for v in result.verdicts if v.column}) > 1
    if result.cautions:
        many = "1 warning" if len(result.cautions) == 1 else f"{len(result.cautions)} warnings"
        cautions = f"{' '.join(result.cautions)} See Verdicts."
        chips.append(f"<span class='aw-chip aw-warns' title='{escape(cautions)}'>⚠ {many}</span>")
    if unlike := phrases.mostly_unique(result):
        total, alone = result.unique_of
        remedy = "Leave columns out on Roles, or make them coarser."
        chips.append(
            f"<span class='aw-chip aw-warns' title='{escape(f'{unlike}. {remedy}')}'>"
            f"⚠ {phrases.share((alone or 0) / total)} unique over all columns</span>"
        )
    for verdict in result.verdicts:
        title = known[verdict.model].title if verdict.model in known else verdict.model
        column = f" of {shortened(verdict.column, _LETTERS)}" if verdict.column and several else ""
        sign = {"holds": "✓", "broken": "✕"}.get(verdict.state, "?")
        sign = "…" if result.pending else sign
        chips.append(
            f"<span class='aw-chip' title='{escape(verdict.sentence)}'>{sign} "
            f"{escape(_reached(title + column, verdict, close=close))}</span>"
        )
    # A region that may scroll can be reached by the keyboard, and says what it is.
    return (
        "<div class='aw-chips' tabindex='0' role='region' aria-label='Privacy models and checks'>"
        f"{''.join(chips)}</div>"
    )


def _reached(title: str, verdict: Verdict, *, close: bool) -> str:
    """Return what a model asked for and reached; of many models in fewer words."""
    asked, reached = _short(verdict.bound), _short(verdict.reached)
    if close:
        return f"{title} {reached} (asked {asked})"
    return f"{title}: asked {asked}, reached {reached}"


def _short(value: float) -> str:
    """Return a number with three digits, or all of those before the point.

    Examples
    --------
    >>> _short(5.0), _short(0.23456), _short(2600.0)
    ('5', '0.235', '2,600')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def look() -> None:
    """Draw the look of the strip, once a page: a browser lays everything out after a new look."""
    verdicts = " ".join(
        f".aw-strip .aw-{v} {{border-left-color: {verdict_colour(v)};}} "
        f".aw-strip .aw-{v} .aw-word {{color: {verdict_colour(v)};}}"
        for v in VERDICT_STYLE
    )
    st.html(
        f"""<style>
.aw-strip {{display: grid; grid-template-columns: 1.2fr 1.05fr 1.05fr 1.5fr; gap: .5rem;
  height: 72px; color: {ink()};}}
.aw-tile {{border: 1px solid {grid()}; border-left-width: 5px; border-radius: .4rem;
  padding: 3px .6rem; min-width: 0; height: 72px; box-sizing: border-box;}}
.aw-text {{white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-size: .8rem;
  line-height: 1.3; font-variant-numeric: tabular-nums;}}
.aw-figure {{font-size: 1.15rem; font-weight: 600;}}
.aw-word {{font-weight: 600;}}
.aw-chips {{display: flex; flex-wrap: wrap; gap: .2rem; align-content: flex-start; min-width: 0;
  max-height: 72px; overflow-y: auto;}}
.aw-chip {{border: 1px solid {grid()}; border-radius: 1rem; padding: 1px .5rem; font-size: .72rem;
  line-height: 1.4;}}
.aw-warns {{color: {verdict_colour("doubtful")}; font-weight: 600;}}
{rules()} {verdicts}
@media (max-width: 1000px) {{.aw-strip {{grid-template-columns: 1fr 1fr; height: auto;}}}}
</style>"""
    )
