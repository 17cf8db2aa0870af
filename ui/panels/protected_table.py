"""Tables of counts and sums: what is tabulated on the left, the protected grid on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
import streamlit as st

from anon_core.base.terms import count
from anon_core.data.table import Dataset
from anon_core.tables.publication import SUPPRESSED, Judged, Publication, files_of
from anon_core.tables.recipe import METHODS, Known, Method, Protection, TableRecipe
from anon_core.tables.sensitivity import Dominance, PPercent, Rule, Threshold, sensitive_cells
from anon_core.tables.table import Layout
from anon_core.verification.findings import Check
from ui.charts.theme import dark
from ui.components.downloads import download
from ui.components.guard import handled
from ui.state import state, table_work
from ui.words.escaping import plain

PANEL = "Tables"
#: Cells of a grid that are drawn; a larger table is for the command line.
_MOST = 3_000
_COUNT = "Count rows"
#: The grid holds what is suppressed, so its own toolbar, which would save that, is not offered.
_NO_DOWNLOAD = "<style>.st-key-tables-grid [data-testid=stElementToolbar] {display: none}</style>"
#: Sign before a number, by what becomes of its cell.
_SIGN = {"sensitive": "▲ ", "primary": "× ", "secondary": "□ ", "plain": ""}
_WORDS = {
    "sensitive": "▲ sensitive",
    "primary": "× suppressed: sensitive",
    "secondary": "□ suppressed: hides others",
}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the left side says."""

    recipe: TableRecipe
    levels: Mapping[str, Sequence[Sequence[str]]]


def draw() -> None:
    """Draw both sides."""
    data = state.typed_dataset()
    if data is None:
        return
    left, right = st.columns([1, 2.4], gap="medium")
    with left:
        chosen = _form(data)
    if chosen is None:
        return
    with right:
        _shown(data, chosen)


def _form(data: Dataset) -> Chosen | None:
    own = state.levels()
    offered = [c.name for c in data.columns if c.name in own or len(c.values) <= 60]
    quasi = [name for name in state.roles().quasi if name in offered]
    columns = st.multiselect(
        "Columns of the table",
        offered,
        default=(quasi or offered)[:2],
        max_selections=4,
        format_func=plain,
        key="tables/columns",
        help="The last one is printed across. Columns with a hierarchy get its subtotals.",
    )
    if not columns:
        st.info("Choose at least one column.", icon=":material/info:")
        return None
    numbers = [c.name for c in data.columns if c.kind == "number"]
    value = st.selectbox("Content", [_COUNT, *numbers], key="tables/value", format_func=_content)
    value = "" if value == _COUNT else value
    levels = {name: own[name] for name in columns if name in own}
    shown: dict[str, tuple[int, ...]] = {}
    for name, rows in levels.items():
        height = len(rows[0]) - 1
        if height > 1:
            finest = st.slider(
                f"Finest level of {plain(name)}",
                0,
                height - 1,
                height - 1,
                key=f"tables/level/{name}",
            )
            shown[name] = tuple(range(finest, height))
    rules = _rules(value)
    st.markdown("**What a reader knows**")
    zeros = st.toggle(
        "Empty cells are always printed",
        True,
        key="tables/zeros",
        help="A suppressed cell is then known to be at least 1.",
    )
    single = st.toggle(
        "A single respondent may be reading",
        True,
        key="tables/single",
        help="Someone who is alone in a suppressed cell knows its value.",
    )
    of_amounts = ("none", "optimal", "heuristic", "cell-key", "adjust")
    offer = [m for m in METHODS if not value or m in of_amounts]
    method = st.selectbox(
        "Protection",
        offer,
        index=offer.index("optimal"),
        format_func=lambda m: METHODS[cast(Method, m)],
        key=f"tables/method/{bool(value)}",
    )
    base = 5
    if method.endswith("rounding") or method == "small-cells":
        base = st.slider("Base", 2, 10, 5, key="tables/base")
    recipe = TableRecipe(
        layout=Layout(columns=tuple(columns), levels=shown, value=value),
        rules=rules,
        known=Known(zeros_printed=zeros, single_respondents=single),
        protection=Protection(method=cast(Method, method), base=base, seconds=30, levels="cap"),
        seed=table_work.seed(),
    )
    return Chosen(recipe=recipe, levels=levels)


def _content(name: str) -> str:
    return name if name == _COUNT else f"Sum of {plain(name)}"


def _rules(value: str) -> tuple[Rule, ...]:
    """Draw the sliders of the rules: each move shows at once how many cells turn red."""
    st.markdown("**A cell is sensitive with**")
    n = st.slider("fewer respondents than", 2, 20, 3, key="tables/n")
    rules: list[Rule] = [Threshold(n=n)]
    if value:
        if st.checkbox("its largest known too closely (p %)", True, key="tables/with-p"):
            rules.append(PPercent(p=st.slider("p", 1, 60, 10, key="tables/p")))
        if st.checkbox("a few large respondents (m, k)", key="tables/with-k"):
            k = st.slider("two make more than k %", 50, 99, 85, key="tables/k")
            rules.append(Dominance(m=2, k=k))
    return tuple(rules)


def _shown(data: Dataset, chosen: Chosen) -> None:
    judged = table_work.judged(data, chosen.recipe, chosen.levels)
    done = table_work.done(data, chosen.recipe)
    cells, red = len(judged.table.values), len(judged.findings)
    facts = [f"**{cells:,}** cells", f"**{red:,}** sensitive"]
    if done is not None and done.pattern is not None:
        pattern = done.pattern
        how = (
            "optimal"
            if pattern.optimal
            else f"no pattern below {pattern.bound:,} is known"
            if (pattern.bound is not None)
            else "heuristic"
        )
        facts.append(
            f"**{len(pattern.secondary):,}** further suppressed, cost {pattern.cost:,} ({how})"
        )
    st.markdown(" · ".join(facts))
    _curve(judged)
    st.button(
        METHODS[chosen.recipe.protection.method],
        key="tables/protect",
        type="primary",
        icon=":material/shield:",
        on_click=_protect,
        args=(data, chosen),
    )
    if cells > _MOST:
        st.info(
            f"The grid shows tables of up to {_MOST:,} cells. Use coarser levels, or the command "
            "line.",
            icon=":material/info:",
        )
        return
    frame, places = _grid(judged, done)
    st.html(_NO_DOWNLOAD)
    picked = st.dataframe(
        _coloured(frame, places, judged, done),
        height=min(560, 38 + 35 * len(frame)),
        on_select="rerun",
        selection_mode="single-cell",
        key="tables/grid",
    )
    words = [
        w for k, w in _WORDS.items() if (k == "sensitive") == (done is None or done.pattern is None)
    ]
    st.caption(" · ".join(words) + ". Click a cell for the reason and what a reader can tell.")
    cell = _picked(picked, frame, places)
    if cell is not None:
        _reason(judged, done, cell)
    if done is not None:
        _proof(done)
        _published(done, table_work.checks(data, chosen.recipe))


def _curve(judged: Judged) -> None:
    """Say how many cells other thresholds would make sensitive, before one is set."""
    others = [rule for rule in judged.recipe.rules if not isinstance(rule, Threshold)]
    cells = judged.table.contributions
    found = [
        f"{n} → {len(sensitive_cells(cells, [Threshold(n=n), *others])):,}"
        for n in (2, 3, 5, 10, 20)
    ]
    st.caption("Sensitive cells by threshold: " + " · ".join(found))


@handled(PANEL)
def _protect(data: Dataset, chosen: Chosen) -> None:
    table_work.finish(data, chosen.recipe, chosen.levels)


def _status(judged: Judged, done: Publication | None, cell: int) -> str:
    if done is not None and done.pattern is not None:
        if cell in done.pattern.primary:
            return "primary"
        return "secondary" if cell in done.pattern.secondary else "plain"
    return "sensitive" if cell in judged.findings else "plain"


def _grid(judged: Judged, done: Publication | None) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return the table with the last column's categories across, and the cell at each place."""
    table = judged.table
    across = table.axes[-1]
    wide = len(across.labels) if len(table.axes) > 1 else 1
    places = [list(range(at, at + wide)) for at in range(0, len(table.values), wide)]
    texts: list[list[str]] = []
    for row in places:
        texts.append([])
        for cell in row:
            status = _status(judged, done, cell)
            text = table.text(table.values[cell])
            if done is not None and done.pattern is None:
                text = done.texts[cell]
            texts[-1].append(_SIGN[status] + text)
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


def _coloured(
    frame: pd.DataFrame, places: list[list[int]], judged: Judged, done: Publication | None
) -> Any:
    red, grey = ("#5A1F24", "#39424E") if dark() else ("#FBE3E1", "#E8EBEF")
    ink = "#FFFFFF" if dark() else "#1F2430"
    look = {
        "sensitive": f"background-color: {red}; color: {ink}",
        "primary": f"background-color: {red}; color: {ink}",
        "secondary": f"background-color: {grey}; color: {ink}",
        "plain": "",
    }
    styles = pd.DataFrame(
        [[look[_status(judged, done, cell)] for cell in row] for row in places],
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
        st.markdown(f"**{name}** = {table.text(table.values[cell])}, {plain(why)}.")
        if done is None or cell not in done.uncertain:
            return
        told = table_work.told(done, cell)
        low = "no limit" if told.low is None else table.text(told.low)
        high = "no limit" if told.high is None else table.text(told.high)
        st.markdown(
            f"From everything published a reader proves **{low}** to **{high}**"
            + ("." if told.exact else " at most; the exact ends are not decided.")
        )
        moved = [
            c for c in sorted(told.least) if told.least[c] != told.greatest.get(c) or c == cell
        ]
        st.dataframe(
            pd.DataFrame(
                {
                    "cell": [table.names[c].replace("|", " × ") for c in moved],
                    "true": [table.text(table.values[c]) for c in moved],
                    "one table": [table.text(told.least[c]) for c in moved],
                    "another": [table.text(told.greatest[c]) for c in moved],
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
        readers = 1 + len(done.insiders)
        if not done.judged.findings:
            st.info("Nothing is sensitive, so nothing is suppressed.", icon=":material/info:")
        else:
            st.success(
                f"Each of {len(done.judged.findings):,} sensitive cells reaches its level for "
                f"{count(readers, 'reader')}: two tables for each, checked in whole numbers.",
                icon=":material/check:",
            )
        for one in done.sums:
            total = plain(done.table.names[one.total].replace("|", " × "))
            st.caption(f"Suppressed cells of {total} are protected as one cell: {one.reason}.")
    for note in done.notes:
        st.info(plain(note), icon=":material/info:")
    if done.pattern is not None:
        st.caption(f"Every suppressed cell is published as {SUPPRESSED}, sensitive or not.")


def _published(done: Publication, checks: Sequence[Check]) -> None:
    """Draw what the second computation says of the file, and the file."""
    for check in checks:
        mark = "check" if check.holds else "help"
        words = "Recomputed" if check.holds else "Not checked"
        st.markdown(f":material/{mark}: {words}: {plain(check.sentence)}")
    files = files_of(done)
    with st.container(horizontal=True):
        for file, label in (("table.csv", "CSV"), ("table.xlsx", "Excel")):
            download(
                label, files[file], file=file, key=f"tables/{file}", icon=":material/download:"
            )
        download(
            "Recipe (internal)",
            done.judged.recipe.as_toml(),
            file="recipe.toml",
            key="tables/recipe",
            icon=":material/lock:",
        )
