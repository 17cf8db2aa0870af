"""The table panel: the published rows or the original ones, by page or by class."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from anon_core.explain.text.phrases import few
from anon_core.explain.text.phrases import rows as rows_of
from ui.charts.chart_frame import Palette, palette
from ui.panels import panel_head
from ui.panels.results import class_selection, group_panel
from ui.state import results, selection
from ui.state.result_view import MISSING_TEXT, Facts, Rows

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

    from anon_core.pipeline.result import Result

PAGE = 60
_MOST_MARKED = 200
PAGES, CLASSES, SUPPRESSED, ALL = "Pages", "Classes", "Suppressed", "All"


def draw(facts: Facts, *, key: str) -> None:
    """Draw the panel: which side, which rows, and the rows with changed cells marked.

    Parameters
    ----------
    facts : Facts
    key : str
    """
    if facts.permuted:
        group_panel.draw(facts, key=key)
        return
    colours = palette()
    with panel_head.controls("Table", key="table"):
        side = panel_head.either("Side", ["Published", "Original"], key=f"side-{key}")
        hidden = facts.result.release.suppressed
        view = panel_head.either(
            "Rows", [PAGES, CLASSES, *([SUPPRESSED] if hidden else []), ALL], key=f"view-{key}"
        )
        shown = facts.published_rows if side == "Published" else facts.original_rows
        number = 1
        if view == PAGES:
            now = selection.now(facts)
            shown = shown if now is None else shown.of(facts.numbers[now.groups])
            pages = max(1, -(-len(shown) // PAGE))
            number = panel_head.stepper("Page", pages, key=f"page-{key}-{selection.turn()}")
        elif view == CLASSES:
            number = panel_head.stepper(
                "Class", max(len(facts.sizes), 1), key=f"class-{key}", more="1 is the smallest"
            )
    if view == SUPPRESSED:
        total = facts.result.problem.rows
        _note(f"{len(facts.hidden):,} of {total:,} rows are suppressed; originals shown")
        _plain(facts, facts.hidden, key=f"hidden-{key}")
    elif view == ALL:
        _note(f"{rows_of(len(shown))}, smallest classes first; changes are not marked")
        whole = facts.published if side == "Published" else facts.original
        _plain(facts, whole, key=f"whole-{key}-{side}")
    elif view == CLASSES:
        _one_class(facts, shown, number, side, colours, key)
    else:
        _page(facts, shown, number, side, colours, key)


def _page(facts: Facts, shown: Rows, number: int, side: str, colours: Palette, key: str) -> None:
    start = (number - 1) * PAGE
    stop = min(start + PAGE, len(shown))
    # No longer than without a choice: the line would break, and the table jump.
    of = "chosen" if selection.now(facts) else "rows"
    extent = f"{start + 1:,}–{stop:,} of {len(shown):,} {of}"
    _note(_columns(facts), extent, colours, title="Smallest classes first")
    _rows(facts, shown.frame(start, stop), side, colours, key)


def _one_class(
    facts: Facts, shown: Rows, number: int, side: str, colours: Palette, key: str
) -> None:
    start, stop = int(facts.page_starts[number - 1]), int(facts.page_starts[number])
    more = f", the first {_MOST_MARKED} shown" if stop - start > _MOST_MARKED else ""
    _note(_columns(facts), f"{rows_of(stop - start)}{more}", colours)
    _rows(facts, shown.frame(start, min(stop, start + _MOST_MARKED)), side, colours, key)


def _plain(facts: Facts, frame: pd.DataFrame, *, key: str) -> None:
    """Draw a table of any size: the browser asks for the rows that it shows."""
    st.dataframe(
        frame, lazy=True, height="stretch", key=key, **class_selection.rows_look(facts, frame)
    )


def _note(note: str, extent: str = "", colours: Palette | None = None, *, title: str = "") -> None:
    """Draw the line above the table: the levels, which rows these are, what the marks mean."""
    full = re.sub("<[^>]*>", "", note)  # as HTML: what is cut off below the second line
    parts = [f"<span title='{escape(title)}'>{escape(extent)}</span>"] if extent else []
    if colours is not None:
        mark = f"<b style='color: {colours.scale[3]}'>■</b>"
        parts.append(
            f"<span title='Cells published coarser than in your table'>{mark} coarser</span>"
        )
    if note:
        parts.append(f"<span class='aw-levels' title='{full}'>{note}</span>")
    st.html(f"<div class='aw-table-note'>{' '.join(parts)}</div>")


def _columns(facts: Facts) -> str:
    """Return the levels of the columns, and which columns are left out, as HTML."""
    gone = facts.result.left_out
    out = [f"left out: {escape(few(gone))}"] if gone else []
    return " · ".join([*_levels(facts), *out])


def _levels(facts: Facts) -> list[str]:
    """Return the level of every quasi-identifier against the baseline; none where there is none."""
    node = facts.result.account.node
    if node is None:
        return []
    base = results.baseline()
    before = {} if base is None else base.result.account.node or {}
    lines: list[str] = []
    for name, level in node.items():
        height = _height(facts.result, name)
        text = f"{escape(name)}\u00a0{level}/{height}"
        old = before.get(name)
        # A level says the same of both runs only where the hierarchy is as high in both.
        alike = base is not None and _height(base.result, name) == height
        if alike and old is not None and old != level:
            text += f" {_against(level, old)}"
        title = f"{name}: level {level} of {height} (0 unchanged, {height} suppressed)"
        lines.append(f"<span title='{escape(title)}'>{text}</span>")
    return lines


def _height(result: Result, column: str) -> int:
    return result.problem.hierarchies[column].height


def _against(level: int, before: int) -> str:
    word, sign, side = ("worse", "▲", "coarser") if level > before else ("better", "▼", "finer")
    return (
        f"<span class='aw-{word}' title='{side} than the baseline (level {before})'>{sign}</span>"
    )


def _rows(facts: Facts, frame: pd.DataFrame, side: str, colours: Palette, key: str) -> None:
    import pandas as pd

    marks = _marks(facts, frame, side)
    cells: dict[str, Any] = {facts.head: frame[facts.head].to_numpy()}
    for name in frame.columns[1:]:  # in Python: of so few rows it takes pandas far longer
        texts = frame[name].tolist()
        # What is missing is None or a NaN, which differs from itself.
        cells[name] = [MISSING_TEXT if t in (None, "") or t != t else t for t in texts]
    frame = pd.DataFrame(cells)
    st.dataframe(
        _styled(frame, marks, colours),
        height="stretch",
        **class_selection.row_picker(facts, frame, f"rows-{key}-{side}"),
    )


def _styled(frame: pd.DataFrame, marks: dict[str, list[bool]], colours: Palette) -> Styler:
    """Return the rows with marked cells.

    Pandas would write the table as HTML for it, which takes longer than all else in the panel;
    Streamlit reads no more of that than which cells have which look.
    """
    # No bold letters: the browser makes columns as wide as regular ones need.
    look = [("background-color", colours.scale[1]), ("color", colours.ink)]
    cells = [
        f"row{row}_col{place}"
        for place, name in enumerate(frame.columns)
        for row, marked in enumerate(marks.get(str(name), []))
        if marked
    ]
    styled: Any = frame.style
    styled._compute = lambda: styled
    styles = [{"props": look, "selectors": cells}] if cells else []

    def translated(_index: bool, _columns: bool) -> dict[str, Any]:
        return {"cellstyle": styles}

    styled._translate = translated
    return styled


def _marks(facts: Facts, frame: pd.DataFrame, side: str) -> dict[str, list[bool]]:
    """Return, per quasi-identifier, which of the rows' cells are published coarser."""
    marks: dict[str, list[bool]] = {}
    if side == "Published":
        for name, coarse in facts.coarse.items():
            marks[name] = [text in coarse for text in frame[name]]
        return marks
    places = [int(n) - 1 for n in frame[facts.head]]
    release = facts.result.release
    persons = facts.persons
    if persons is None:
        return marks
    for name, codes in zip(persons.columns, persons.codes.T, strict=True):
        pool = release.vocabularies[name]
        wide = pool.lo < pool.hi
        marks[name] = [bool(wide[codes[facts.by_size[place]]]) for place in places]
    return marks
