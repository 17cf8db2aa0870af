"""Export: the public edition for those who get the data, the internal one for the house."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.job.file_formats import FORMATS
from anon_core.job.result import Result
from anon_core.words import checklist
from ui.components.guard import panel, show_error
from ui.export import bundle
from ui.export.report import report, report_json
from ui.export.script import script
from ui.panels import verdict_lines
from ui.panels.group_panel import title_of
from ui.panels.shell import page
from ui.session import jobs, results, running, state
from ui.session import population_tables as population
from ui.words.explain import plain

_FORMULAS = {
    "neutralise": "Neutralise: an apostrophe goes before them",
    "keep": "Keep: they stay as they are",
}
_SIGNS = {
    "holds": ":material/check:",
    "warning": ":material/warning:",
    "note": ":material/info:",
}


def download(
    label: str,
    note: str,
    make: Callable[[], str | bytes],
    *,
    file: str,
    mime: str,
    disabled: bool = False,
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
        disabled=disabled,
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


def items(found: list[checklist.Item]) -> None:
    """Draw lines of the checklist, each with its sign."""
    for item in found:
        st.markdown(f"{_SIGNS[item.mark]} {plain(item.sentence)}")


def checked(result: Result) -> bool:
    """Draw what is to be seen before the release goes out; tell whether it was seen.

    Nothing here is forbidden: somebody decides, but not without having seen it.
    """
    st.subheader("Before it goes out", anchor=False)
    with st.container(key="stack-checklist"):
        first, second, third = st.columns([1, 1.35, 1], gap="medium")
    with first.container(border=True, height="stretch"):
        st.markdown("**1 · Promises, recomputed**")
        items(checklist.promises(result))
    with second.container(border=True, height="stretch"):
        st.markdown("**2 · Your threshold**")
        items(checklist.thresholds(result))
    with third.container(border=True, height="stretch"):
        st.markdown("**3 · Your judgement**")
        st.caption("Identifiability in this context is yours to judge. It goes into the report.")
        verdict_lines.judgement(result, key="export")
    with st.container(border=True):
        st.markdown("**What is published**")
        items(checklist.published(result))
    warned = checklist.warnings(result)
    if not warned:
        return True
    with st.container(border=True):
        lines = "\n".join(f"- {plain(sentence)}" for sentence in warned)
        st.warning(f"To be seen before the release is taken away:\n\n{lines}")
        return st.checkbox(
            "I have seen what does not hold, and publish all the same",
            key=f"export-seen-{id(result)}",
            help="The files of the public edition can be downloaded then.",
        )


def public(result: Result, *, seen: bool) -> None:
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
        for ending, one in FORMATS.items():
            file = f"{name}.{ending}"
            download(
                f"{title} as {one.title}",
                f"**Public edition.** {one.help}",
                lambda file=file: result.file(file),
                file=file,
                mime=one.mime,
                disabled=not seen,
            )
    if several:
        download(
            "All tables",
            "**Public edition.** A zip of the files above and nothing else.",
            lambda: bundle.public_archive(result),
            file="release.zip",
            mime="application/zip",
            disabled=not seen,
        )


def internal(result: Result) -> None:
    """Draw the downloads that stay in the house."""
    title = state.dataset_title()
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
        lambda: report(result, title=title, judgement=verdict_lines.note_of(result)),
        file="report.html",
        mime="text/html",
    )
    download(
        "Report as JSON",
        "**Internal edition.** The same verdicts, judgement, plan and figures for programs.",
        lambda: report_json(result, title=title, judgement=verdict_lines.note_of(result)),
        file="report.json",
        mime="application/json",
    )
    download(
        "Recipe and hierarchies",
        "**Internal edition, holds the seed.** A zip that runs where it is unpacked: "
        "`anonymity-workbench run recipe.toml --data FILE --out DIR`, or from a checkout "
        "`.venv/bin/python -m anon_core run` with the same arguments.",
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
        seen = False
        with panel("Before it goes out"):
            seen = checked(last)
        with panel("Public edition"):
            public(last, seen=seen)
        st.divider()
        with panel("Internal edition"):
            internal(last)
