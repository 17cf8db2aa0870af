"""Export: the public edition for those who get the data, the internal one for the house."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.explain.report.checks import Check, checks
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.report.files import makes_pdf
from anon_core.explain.text import checklist
from anon_core.pipeline.publish.file_formats import FORMATS, published_formats
from anon_core.pipeline.publish.table_files import CLASS_WEIGHTS
from anon_core.pipeline.result import Result
from anon_core.recipe.dialect import ENDING as SPREADSHEET
from anon_core.recipe.statistics_files import TYPED
from ui.components import downloads
from ui.components.clicks import clicked
from ui.components.downloads import Content, later
from ui.components.guard import handled, panel, show_error
from ui.export import bundle
from ui.export.bundle import ReportFormat
from ui.export.script import script
from ui.forms import context_form, dialect_form
from ui.forms.draft_sync import follow
from ui.panels.page_frame import page
from ui.panels.results.drawers import verdict_lines
from ui.panels.results.group_panel import title_of
from ui.state import population_tables, release_context, results, state
from ui.state.kept_fields import remembered
from ui.state.sessions import kept_sessions
from ui.state.work import jobs, running
from ui.words.escaping import plain

_FORMULAS = {
    "neutralise": "Neutralise: an apostrophe goes before them",
    "keep": "Keep: they stay as they are",
}
_FOR_ALL = "reason-for-all"
#: Begins the tooltip of each file that stays in the house.
_INTERNAL = "**Internal edition"
_LOCK, _PUBLIC = ":material/lock:", ":material/public:"
_SIGNS = {
    "holds": ":material/check:",
    "warning": ":material/warning:",
    "note": ":material/info:",
}


def download(
    label: str,
    note: str,
    make: Content | Callable[[], Content],
    *,
    file: str,
    mime: str,
    disabled: bool = False,
) -> None:
    """Draw one download with its edition and use in the tooltip; it is made when asked for.

    What makes it reads nothing of the session; see `ui.components.downloads`.
    """
    downloads.download(
        label,
        make,
        file=file,
        mime=mime,
        key=f"get-{file}",
        icon=_LOCK if note.startswith(_INTERNAL) else _PUBLIC,
        help=note,
        disabled=disabled,
    )


def formulas(result: Result) -> None:
    """Draw the choice for cells that a spreadsheet would execute; changing it takes a new run."""
    now = result.plan.formulas
    choice = st.radio(
        "Cells that begin like a formula (=, +, -, @)",
        list(_FORMULAS),
        index=list(_FORMULAS).index(follow("export-formulas", now)),
        format_func=_FORMULAS.__getitem__,
        **remembered("export-formulas"),
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
    if clicked("Run again with this choice", key="rerun", disabled=running.is_running()):
        state.update_draft(export={**state.draft()["export"], "formulas": choice})
        try:
            running.start()
        except AnonError as error:
            show_error(error)
        else:
            st.rerun()


def _context(result: Result) -> ReleaseContext:
    """Return what people say of the release, signed by logins where there are any."""
    return release_context.context_of(result, verdict_lines.note_of(result))


def checked(result: Result) -> bool:
    """Draw what is to be seen before the release goes out; return whether it was seen.

    Nothing here is forbidden: someone decides, and files why, in the line of what does not hold.
    """
    # What is typed below counts above: the list is drawn after it.
    place = st.container()
    with st.container(border=True):
        st.markdown("**Your part of the report**")
        context_form.draw()
    with place:
        return _checklist(result)


def _checklist(result: Result) -> bool:
    """Draw every check, those that do not hold with the field for their reason."""
    found = list(checks(result, _context(result)))
    missed = [check for check in found if check.item.mark == "warning"]
    waiting = sum(check.open for check in missed)
    required, limits = len(checklist.models(result)), len(checklist.thresholds(result))
    threshold = found[required : required + limits]
    title = "Before you publish"
    if missed:
        title += f": {waiting} of {len(missed)} need a reason" if waiting else ""
    st.subheader(
        title,
        anchor=False,
        help="You can still export: give a reason for each failed check. The reasons are printed "
        "in the report.",
    )
    with st.container(border=True, key="checklist", gap="xsmall"):
        _lines(result, "1 · Privacy models, recomputed", found[:required], missed)
        _lines(result, "2 · Your threshold", [c for c in threshold if _shown(c)], missed)
        notes = [check.item for check in threshold if not _shown(check)]
        if notes:
            with st.expander(f"Notes: {len(notes)}", type="compact"):
                st.markdown("\n\n".join(map(_sentence, notes)))
        _lines(result, "What is published", found[required + limits : -2], missed)
        _lines(result, "3 · Your judgement", found[-2:], missed)
        verdict_lines.judgement(result, key="export", height=68)
        if waiting > 1:
            _for_all(result, missed)
        elif missed and not waiting:
            st.caption(f"{len(missed)} do not hold, and each has its reason.")
    return not waiting


def _shown(check: Check) -> bool:
    return check.item.mark != "note"


def _sentence(item: checklist.Item) -> str:
    return f"{_SIGNS[item.mark]} {plain(item.sentence)}"


def _lines(result: Result, title: str, found: Sequence[Check], missed: Sequence[Check]) -> None:
    """Draw a part of the checklist: what holds in one piece, then a line for each that does not."""
    holds = [_sentence(check.item) for check in found if check.item.mark != "warning"]
    st.markdown("  \n".join([f"**{title}**", *holds]))
    for place, check in enumerate(missed):
        if check in found:
            _miss(result, check, place)


def _miss(result: Result, check: Check, place: int) -> None:
    sign = ":material/warning:" if check.open else ":material/edit_note:"
    about = check.item.about
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium", key=f"facing-{place}"
    ):
        st.markdown(f"{sign} {plain(check.item.sentence)}")
        key = _reason_key(result, about)
        st.session_state.setdefault(key, check.reason)
        st.text_input(
            f"Reason {place + 1}: why publish anyway?",
            key=key,
            label_visibility="collapsed",
            placeholder="Why publish anyway?",
            on_change=_give_reason,
            args=(result, about),
        )


def _reason_key(result: Result, about: str) -> str:
    return f"reason-{id(result.release)}-{about}"


@handled("Before you publish")
def _give_reason(result: Result, about: str) -> None:
    reason = st.session_state[_reason_key(result, about)]
    release_context.give_reason(result, about, str(reason))


def _for_all(result: Result, missed: Sequence[Check]) -> None:
    """Draw one field whose text is taken for every check that has no reason yet."""
    said, button = st.columns([4, 1], gap="medium", vertical_alignment="bottom")
    text = said.text_input(
        "One reason for all that have none",
        **remembered(_FOR_ALL),
        label_visibility="collapsed",
        placeholder="One reason for all that have none",
    )
    button.button(
        "Use it",
        key="use-reason",
        disabled=not text.strip(),
        width="stretch",
        on_click=_give_to_all,
        args=(result, [check.item.about for check in missed if check.open]),
    )


@handled("Before you publish")
def _give_to_all(result: Result, without: Sequence[str]) -> None:
    """Give the one reason to every check that has none, and show it in the field of each."""
    text = str(st.session_state[_FOR_ALL])
    for about in without:
        release_context.give_reason(result, about, text)
        st.session_state[_reason_key(result, about)] = text


def public(result: Result, *, seen: bool) -> None:
    """Draw the downloads that may leave the house."""
    several = len(result.tables) > 1
    st.subheader(
        "Public edition",
        anchor=False,
        help="The published rows alone. No file holds the seed, the recipe or the order of the "
        "table: rows are sorted by what they say.",
    )
    if several:
        st.caption("The tables are joined by the group number alone; publish both or neither.")
    with st.expander("Formulas and formats", type="compact"):
        formulas(result)
        if result.plan.csv:
            result = dialect_form.draw(result)
        else:
            st.caption(
                "The recipe says `csv = false`: only Parquet is published. Files for other "
                "programs are compared with the CSV file, so none are written."
            )
    with st.container(horizontal=True, gap="small"):
        _tables(result, seen=seen)
        _reports(result, public=True, disabled=not seen)


def _tables(result: Result, *, seen: bool) -> None:
    """Draw the published tables in every format, and all of them in one file."""
    several = len(result.tables) > 1
    endings = published_formats(csv=result.plan.csv)
    parts = result.plan.parts
    for name in result.tables:
        title = title_of(name)
        for ending in endings if parts == 1 else ():
            one = FORMATS[ending]
            file = f"{name}.{ending}"
            download(
                f"{title} as {one.title}",
                f"**Public edition.** {one.help}",
                later(result.file, file),
                file=file,
                mime=one.mime,
                disabled=not seen,
            )
        if result.plan.dialect is not None:
            marked = f"{name}.{SPREADSHEET}"
            download(
                f"{title} for a spreadsheet",
                "**Public edition.** The same rows as CSV, with the marks chosen above.",
                later(result.file, marked),
                file=marked,
                mime="text/csv",
                disabled=not seen,
            )
        for ending in result.plan.formats:
            typed = f"{name}.{ending}"
            download(
                f"{title} for {TYPED[ending][0]}",
                "**Public edition.** The same rows, numbers as numbers.",
                later(result.file, typed),
                file=typed,
                mime="application/octet-stream",
                disabled=not seen,
            )
    if result.plan.class_weights:
        download(
            "Mean weight of each class",
            "**Public edition.** Quasi-identifiers of each class, its rows, and the mean of their "
            "survey weights.",
            later(result.file, CLASS_WEIGHTS),
            file=CLASS_WEIGHTS,
            mime="text/csv",
            disabled=not seen,
        )
    plan = result.plan
    more = plan.dialect is not None or bool(plan.formats) or plan.class_weights
    if several or more or parts > 1:
        whole = "All tables" if several else "All formats" if more else title_of("release")
        download(
            whole if parts == 1 else f"{whole} in {parts} parts",
            "**Public edition.** A zip of the files above and nothing else."
            if parts == 1
            else f"**Public edition.** A zip of {parts} Parquet files a table, as the recipe "
            "asks for, and nothing else.",
            later(bundle.public_archive, result),
            file="release.zip",
            mime="application/zip",
            disabled=not seen,
        )


def _reports(result: Result, *, public: bool, disabled: bool) -> None:
    """Draw the downloads of one edition of the report."""
    edition = "Public" if public else "Internal"
    name = "public-report" if public else "report"

    made: dict[ReportFormat, tuple[str, str]] = {
        "html": ("One file that opens without a network, on screen and on paper.", "text/html"),
        "json": ("The same report as JSON.", "application/json"),
    }
    if makes_pdf():
        made["pdf"] = ("The same report as PDF.", "application/pdf")
    context = _context(result)
    for ending, (note, mime) in made.items():
        download(
            f"{'Public report' if public else 'Report'} as {ending.upper()}",
            f"**{edition} edition.** {note}",
            later(bundle.report, result, context, ending, public=public),
            file=f"{name}.{ending}",
            mime=mime,
            disabled=disabled,
        )


def internal(result: Result) -> None:
    """Draw the downloads that stay in the house."""
    people = population_tables.find(result.plan.population_file)
    released = population_tables.find(result.plan.earlier.file)
    st.subheader("Internal edition", anchor=False)
    st.caption(
        ":material/lock: Never share these files: they hold the seed or private figures.",
        help="With the seed, a permutation can be undone.",
    )
    with st.container(horizontal=True, gap="small"):
        _reports(result, public=False, disabled=False)
        download(
            "Recipe and hierarchies",
            "**Internal edition, holds the seed.** A zip that runs where it is unpacked: "
            "`anonymity-workbench run recipe.toml --data FILE --out DIR`, or from a checkout "
            "`.venv/bin/python -m anon_core run` with the same arguments.",
            later(bundle.archive, result, people, released),
            file="recipe.zip",
            mime="application/zip",
        )
        download(
            "Recipe alone",
            "**Internal edition, holds the seed.** TOML; it can be opened on Start. Its "
            "hierarchies are in the zip.",
            later(bundle.recipe, result),
            file="recipe.toml",
            mime="application/toml",
        )
        _for_the_next_table(result)
        download(
            "Python script",
            "**Internal edition.** Makes the release again and compares it byte for byte. "
            "It reads the recipe, with the seed, in its folder; the zip holds both.",
            later(script, result),
            file="reproduce.py",
            mime="text/x-python",
        )


def _for_the_next_table(result: Result) -> None:
    """Draw what carries the decision to the next table: the decided recipe, and the figures."""
    decided = bundle.decided(result)
    levels = result.plan.algorithm.shape.one_level
    download(
        "Decided recipe",
        (
            "**Internal edition, no seed.** The decisions of this run, without the search. "
            "Open it on Start with the next table to apply exactly these. Its hierarchies "
            "are in the zip."
        )
        + ("" if levels else " The cut points are stored in the release file: upload it too.")
        if decided
        else (
            "**Internal edition.** The decisions are read from a release of one file, and "
            "this recipe asks for several."
        )
        if result.plan.parts > 1 and not levels
        else (
            "**Internal edition.** This technique decided neither a level for each column "
            "nor parts whose cells cover values, so nothing can be applied to another "
            "table without a search."
        ),
        decided,
        file="decided.toml",
        mime="application/toml",
        disabled=not decided,
    )
    download(
        "Figures",
        "**Internal edition, holds the seed of a random release.** All figures as "
        "JSON; with the recipe of decisions, the next table's run is compared with "
        "them.",
        later(bundle.figures, result),
        file="figures.json",
        mime="application/json",
    )


running.settle()
if page("Export", "📦", needs="result"):
    last = results.last()
    if last is not None:
        if not results.is_current():
            st.info(
                "Settings have changed since the last run. Export still has that run, with its "
                "own settings."
            )
        problem = running.error()
        if problem is not None:
            show_error(problem)
        if running.is_running():
            jobs.watch(running.JOB)
        seen = False
        with panel("Before you publish"):
            seen = checked(last)
        with st.container(key="stack-editions"):
            left, right = st.columns(2, gap="large")
        with left, panel("Public edition"):
            public(last, seen=seen)
        with right, panel("Internal edition"):
            internal(last)
        kept_sessions.save()  # what was typed is known now
