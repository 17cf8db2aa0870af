"""Tables of counts and sums: what is tabulated on the left, the protected grid on the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import pandas as pd
import streamlit as st

from anon_core.base.terms import count
from anon_core.data.table import Dataset
from anon_core.recipe.plan import LevelTable
from anon_core.tables.publication import SUPPRESSED, Publication, files_of
from anon_core.tables.recipe import METHODS, TableRecipe
from anon_core.tables.sensitivity import Threshold, sensitive_cells
from anon_core.tables.suppressed import Judged
from anon_core.tables.suppression import Pattern
from anon_core.teaching.learn.lesson import find_lesson
from anon_core.verification.findings import Check
from ui.charts.theme import dark
from ui.components.downloads import Content, download, later
from ui.components.guard import handled, show_error
from ui.forms import table_form
from ui.forms.table_form import Chosen
from ui.panels import table_drawers
from ui.state import state, table_work
from ui.state.table_work import Out
from ui.state.work import jobs
from ui.words.escaping import lesson_link, plain

PANEL = "Tables"
Packed = Callable[[TableRecipe, Mapping[str, LevelTable], Out | None], bytes]
#: Cells of a grid that are drawn; a larger table is for the command line.
_MOST = 3_000
#: Heights that show form and grid on a screen of 900 pixels, without scrolling the page.
_HIGH, _GRID = 690, 560
#: Most pixels of the categories in front of the numbers.
_MOST_WIDE = 320
#: The grid holds what is suppressed, so its own toolbar, which would save that, is not offered.
#: The form keeps room for its words next to the table.
_LOOK = """<style>.st-key-tables-grid [data-testid=stElementToolbar] {display: none}
[data-testid="stColumn"]:has(> * > * > .st-key-tables-form) {min-width: 15.5rem;}
[data-testid="stHorizontalBlock"]:has(> * > * > * > .st-key-tables-form) {flex-wrap: nowrap;}
[data-testid="stColumn"]:has(> * > * > .st-key-tables-form) + * {min-width: 0;}</style>"""
#: Sign before a number, by what becomes of its cell.
_SIGN = {"sensitive": "▲ ", "primary": "× ", "secondary": "□ ", "plain": ""}
_WORDS = {
    "sensitive": "▲ sensitive",
    "primary": "× suppressed: sensitive",
    "secondary": "□ suppressed: hides others",
}


def draw(*, packed: Packed) -> None:
    """Draw both sides; `packed` makes the zip that runs of a recipe and its hierarchies."""
    table_work.settle()
    data = state.released_dataset()
    if data is None:
        return
    left, right = st.columns([1, 2.6], gap="medium")
    with left, st.container(height=_HIGH, border=False, key="tables-form"):
        chosen = table_form.draw(data)
    if chosen is None:
        return
    data = table_work.tabulated(data, chosen.recipe, chosen.levels)
    with right:
        judged = table_work.judged(data, chosen.recipe, chosen.levels)
        _shown(data, judged, chosen, packed)
    table_drawers.draw(data, judged, chosen)
    lesson_link(find_lesson("trackers"))  # what answers about sets give away


def _shown(data: Dataset, judged: Judged, chosen: Chosen, packed: Packed) -> None:
    finished = table_work.finished(data, chosen.recipe)
    done = None if finished is None else finished.published
    cells, red = len(judged.table.values), len(judged.findings)
    facts = [f"**{cells:,}** cells", f"**{red:,}** sensitive"]
    if done is not None and done.pattern is not None:
        facts.append(_price(done.pattern))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(" · ".join(facts))
        st.button(
            METHODS[chosen.recipe.protection.method],
            key="tables/protect",
            type="primary",
            icon=":material/shield:",
            on_click=_protect,
            args=(data, judged, chosen),
        )
    jobs.watch(table_work.PROTECT)
    _curve(judged)
    if (error := table_work.error(table_work.PROTECT, data, chosen.recipe)) is not None:
        show_error(error)
    if cells > _MOST:
        st.info(
            f"The grid shows tables of up to {_MOST:,} cells. Use coarser levels, or the command "
            "line.",
            icon=":material/info:",
        )
        return
    become = [_status(judged, done, cell) for cell in range(cells)]
    frame, places = _grid(judged, done, become)
    st.html(_LOOK)
    picked = st.dataframe(
        _coloured(frame, places, become),
        height=min(_GRID, 38 + 35 * len(frame)),
        width="content",  # else heads at the left are far from their numbers at the right
        on_select="rerun",
        selection_mode="single-cell",
        column_config={
            "_index": st.column_config.TextColumn(width=_wide(frame)),
            **{name: st.column_config.TextColumn(alignment="right") for name in frame.columns},
        },
        key="tables/grid",
    )
    signs = [f"{words}. " for status, words in _WORDS.items() if status in become]
    st.caption("".join(signs) + "Click a cell for the reason and what a reader can tell.")
    cell = _picked(picked, frame, places)
    if cell is not None:
        _reason(judged, done, cell)
    if finished is not None:
        _proof(finished.published)
        archive = later(packed, judged.recipe, chosen.levels, finished.before)
        _published(finished.published, finished.checks, archive)


def _wide(frame: pd.DataFrame) -> int:
    """Return pixels in which the categories of the first column are read whole."""
    letters = max(map(len, (str(frame.index.name), *frame.index.astype(str))))
    return min(_MOST_WIDE, 24 + 7 * letters)


def _price(pattern: Pattern) -> str:
    """Say what a pattern costs, and how good it is proven to be."""
    how = "heuristic"
    if pattern.optimal:
        how = "optimal"
    elif pattern.bound is not None and pattern.gap is not None:
        how = f"none below {pattern.bound:,} is possible: a gap of {float(pattern.gap):.1%}"
    return f"**{len(pattern.secondary):,}** further suppressed, cost {pattern.cost:,} ({how})"


def _curve(judged: Judged) -> None:
    """Say how many cells other thresholds would make sensitive, before one is set."""
    others = [rule for rule in judged.recipe.rules if not isinstance(rule, Threshold)]
    cells = judged.table.contributions

    def counted() -> list[str]:
        found = ((n, sensitive_cells(cells, [Threshold(n=n), *others])) for n in (2, 3, 5, 10, 20))
        return [f"{n} → {len(one):,}" for n, one in found]

    found = state.once("tables/curve", (judged.table, repr(others)), counted)
    st.caption("Sensitive cells by threshold: " + " · ".join(found))


@handled(PANEL)
def _protect(data: Dataset, judged: Judged, chosen: Chosen) -> None:
    table_work.start(data, judged, chosen.levels)


def _status(judged: Judged, done: Publication | None, cell: int) -> str:
    if done is not None and done.pattern is not None:
        if cell in done.pattern.primary:
            return "primary"
        return "secondary" if cell in done.pattern.secondary else "plain"
    return "sensitive" if cell in judged.findings else "plain"


def _grid(
    judged: Judged, done: Publication | None, become: Sequence[str]
) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return the table with the last column's categories across, and the cell at each place."""
    table = judged.table
    across = table.axes[-1]
    wide = len(across.labels) if len(table.axes) > 1 else 1
    places = [list(range(at, at + wide)) for at in range(0, len(table.values), wide)]
    texts: list[list[str]] = []
    for row in places:
        texts.append([])
        for cell in row:
            text = table.text(table.values[cell])
            if done is not None and done.pattern is None:
                text = done.texts[cell]
            texts[-1].append(_SIGN[become[cell]] + _grouped(text))
    down = table.axes[:-1] if wide > 1 or len(table.axes) > 1 else table.axes
    index: list[str] = []
    for row in places:
        nodes = table.nodes[row[0]]
        parts = [
            " " * 2 * axis.depth[n] + axis.labels[n] for axis, n in zip(down, nodes, strict=False)
        ]
        index.append(" · ".join(parts))
    head = list(across.labels) if len(table.axes) > 1 else [judged.recipe.layout.value or "count"]
    unique = [f"{text}{'​' * at if index[:at].count(text) else ''}" for at, text in enumerate(index)]
    name = " · ".join(axis.column for axis in down)
    return pd.DataFrame(texts, index=pd.Index(unique, name=name), columns=head), places


def _grouped(text: str) -> str:
    """Return a number with its thousands set apart; other texts as they are.

    Examples
    --------
    >>> _grouped("5000"), _grouped("-1234567.50"), _grouped("×")
    ('5,000', '-1,234,567.50', '×')
    """
    whole, point, digits = text.partition(".")
    return f"{int(whole):,}{point}{digits}" if whole.lstrip("-").isdigit() else text


def _coloured(frame: pd.DataFrame, places: list[list[int]], become: Sequence[str]) -> Any:
    red, grey = ("#5A1F24", "#39424E") if dark() else ("#FBE3E1", "#E8EBEF")
    ink = "#FFFFFF" if dark() else "#1F2430"
    look = {
        "sensitive": f"background-color: {red}; color: {ink}",
        "primary": f"background-color: {red}; color: {ink}",
        "secondary": f"background-color: {grey}; color: {ink}",
        "plain": "",
    }
    styles = pd.DataFrame(
        [[look[become[cell]] for cell in row] for row in places],
        index=frame.index,
        columns=frame.columns,
    )
    return frame.style.apply(lambda _: styles, axis=None)


def _picked(picked: Any, frame: pd.DataFrame, places: list[list[int]]) -> int | None:
    cells = cast(list[tuple[int, str]], picked.get("selection", {}).get("cells", []))
    if not cells or cells[0][1] not in frame.columns or cells[0][0] >= len(places):
        return None
    row, name = cells[0]
    return places[row][list(frame.columns).index(name)]


def _reason(judged: Judged, done: Publication | None, cell: int) -> None:
    table = judged.table
    name = plain(table.names[cell].replace("|", " × "))
    found = judged.findings.get(cell)
    with st.container(border=True):
        why = f"sensitive: {found.reason}" if found else "not sensitive"
        st.markdown(f"**{name}** = {_grouped(table.text(table.values[cell]))}, {plain(why)}.")
        if done is None or cell not in done.uncertain:
            return
        interval = done.interval_of(cell)
        low = "no limit" if interval.low is None else _grouped(table.text(interval.low))
        high = "no limit" if interval.high is None else _grouped(table.text(interval.high))
        st.markdown(
            f"From everything published a reader proves **{low}** to **{high}**"
            + ("." if interval.exact else " at most; the exact ends are not decided.")
        )
        moved = [
            c
            for c in sorted(interval.least)
            if interval.least[c] != interval.greatest.get(c) or c == cell
        ]
        st.dataframe(
            pd.DataFrame(
                {
                    "cell": [table.names[c].replace("|", " × ") for c in moved],
                    "true": [_grouped(table.text(table.values[c])) for c in moved],
                    "one table": [_grouped(table.text(interval.least[c])) for c in moved],
                    "another": [_grouped(table.text(interval.greatest[c])) for c in moved],
                }
            ),
            hide_index=True,
            height=min(280, 38 + 35 * len(moved)),
        )
        st.caption(
            "Two tables that agree with all that is published. Someone who knows how cells were "
            "chosen may rule out more."
        )


def _proof(done: Publication) -> None:
    if done.audit is not None:
        if not done.judged.findings:
            st.info("Nothing is sensitive, so nothing is suppressed.", icon=":material/info:")
        else:
            st.success(
                f"Each of {len(done.judged.findings):,} sensitive cells reaches its level for "
                f"{count(done.audit.readers, 'reader')}: two tables for each, checked in whole "
                "numbers.",
                icon=":material/check:",
            )
        for one in done.sums:
            total = plain(done.table.names[one.total].replace("|", " × "))
            st.caption(f"Suppressed cells of {total} are protected as one cell: {one.reason}.")
    for note in done.notes:
        st.info(plain(note), icon=":material/info:")
    if done.pattern is not None and (done.pattern.primary or done.pattern.secondary):
        st.caption(f"Every suppressed cell is published as {SUPPRESSED}, sensitive or not.")


def _published(done: Publication, checks: Sequence[Check], archive: Callable[[], Content]) -> None:
    """Draw what the second computation says of the file, and the file."""
    for words, mark, holds in (("Recomputed", "check", True), ("Not checked", "help", False)):
        sentences = [plain(check.sentence) for check in checks if check.holds == holds]
        if sentences:
            lines = "\n\n".join(f":material/{mark}: {sentence}" for sentence in sentences)
            st.markdown(f"**{words}**\n\n{lines}")
    files = files_of(done)
    with st.container(horizontal=True):
        for file, label in (("table.csv", "CSV"), ("table.xlsx", "Excel")):
            download(
                label, files[file], file=file, key=f"tables/{file}", icon=":material/download:"
            )
        download(
            "Recipe and hierarchies (internal)",
            archive,
            file="table.zip",
            key="tables/recipe",
            icon=":material/lock:",
        )
