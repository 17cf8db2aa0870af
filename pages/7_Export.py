"""Export: the public edition for those who get the data, the internal one for the house."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from anon_core.errors import AnonError
from anon_core.runner import Result
from ui import bundle, jobs, population, results, running, state, verdict_lines
from ui.explain import plain
from ui.group_panel import title_of
from ui.report import report
from ui.script import script
from ui.shell import page, show_error
from ui.words import hidden, promises

_FORMULAS = {
    "neutralise": "Neutralise: an apostrophe goes before them",
    "keep": "Keep: they stay as they are",
}


def download(
    label: str, note: str, make: Callable[[], str | bytes], *, file: str, mime: str
) -> None:
    """Draw one download with what it is for; it is made when it is asked for."""
    with st.container(key=f"stack-{file}"):
        button, words = st.columns([1, 3], vertical_alignment="center", gap="medium")
    button.download_button(
        label,
        make,
        file_name=file,
        mime=mime,
        key=f"get-{file}",
        on_click="ignore",
        width="stretch",
    )
    words.markdown(note)


def formulas(result: Result) -> None:
    """Draw the choice for cells that a spreadsheet would execute; changing it takes a new run."""
    now = result.plan.formulas
    st.session_state.setdefault("export-formulas", now)
    choice = st.radio(
        "Cells that begin like a formula (=, +, -, @)",
        list(_FORMULAS),
        format_func=_FORMULAS.__getitem__,
        key="export-formulas",
        help="Opened in a spreadsheet, a cell such as =HYPERLINK(…) is executed. Neutralise writes "
        "'=HYPERLINK(…) instead; plain numbers such as -5 stay as they are.",
    )
    if choice == now:
        return
    if choice == "keep":
        st.warning("Keep only if a program reads the file: a spreadsheet would execute such cells.")
    st.caption(
        "The files below are still as they were run. Run again to make them with this choice."
    )
    if st.button("Run again with this choice", key="rerun", disabled=running.is_running()):
        state.update_draft(export={"formulas": choice})
        try:
            running.start()
        except AnonError as error:
            show_error(error)
        else:
            st.rerun()


def public(result: Result) -> None:
    """Draw the downloads that may leave the house."""
    st.subheader("Public edition", anchor=False)
    several = len(result.tables) > 1
    st.markdown(
        "The published rows alone. No file holds the seed, the recipe or the order of the table: "
        "rows are sorted by what they say."
        + (
            " The tables are joined by the group number alone; publish both or neither."
            if several
            else ""
        )
    )
    formulas(result)
    for name in result.tables:
        title = title_of(name)
        download(
            f"{title} as CSV",
            "**Public edition.** UTF-8, comma, quotes where they are needed.",
            lambda name=name: result.files[f"{name}.csv"],
            file=f"{name}.csv",
            mime="text/csv",
        )
        download(
            f"{title} as Parquet",
            "**Public edition.** The same rows for programs.",
            lambda name=name: result.parquet_files[f"{name}.parquet"],
            file=f"{name}.parquet",
            mime="application/vnd.apache.parquet",
        )
    if several:
        download(
            "All tables",
            "**Public edition.** A zip of the files above and nothing else.",
            lambda: bundle.public_archive(result),
            file="release.zip",
            mime="application/zip",
        )


def internal(result: Result) -> None:
    """Draw the downloads that stay in the house."""
    title, note = state.dataset_title(), verdict_lines.note_of(result)
    people = population.find(result.plan.population_file)
    st.subheader("Internal edition", anchor=False)
    st.warning(
        "These files hold the seed or figures of the private table. Whoever has the seed can undo "
        "a permutation. Keep them apart from the release."
    )
    download(
        "Report as HTML",
        "**Internal edition.** Verdicts, your judgement, plan, figures and charts in one file that "
        "opens without a network.",
        lambda: report(result, title=title, judgement=note),
        file="report.html",
        mime="text/html",
    )
    download(
        "Recipe and hierarchies",
        "**Internal edition, holds the seed.** A zip that runs where it is unpacked, "
        "with the workbench's own Python (`.venv/bin/python`): "
        "`python -m anon_core run recipe.toml --data FILE --out DIR`",
        lambda: bundle.archive(result, people),
        file="recipe.zip",
        mime="application/zip",
    )
    download(
        "Recipe alone",
        "**Internal edition, holds the seed.** TOML; it can be opened on Start. Its hierarchies "
        "are in the zip.",
        lambda: bundle.recipe(result),
        file="recipe.toml",
        mime="application/toml",
    )
    download(
        "Python script",
        "**Internal edition.** Makes the release again and says whether it is the same, byte for "
        "byte. It reads the recipe, with the seed, beside it; the zip holds both.",
        lambda: script(result),
        file="reproduce.py",
        mime="text/x-python",
    )


running.settle()
if page("Export", "📦", needs="result"):
    last = results.last()
    if last is not None:
        if not results.is_current():
            st.info(
                "The choices have changed since the last run. What is exported here is that run, "
                "with the choices it was made with."
            )
        problem = running.error()
        if problem is not None:
            show_error(problem)
        if running.is_running():
            jobs.watch(running.JOB)
        with st.container(border=True):
            for sentence in promises(last):
                st.markdown(f":material/check: {plain(sentence)}")
            st.caption(plain(hidden(last)))
        public(last)
        st.divider()
        internal(last)
