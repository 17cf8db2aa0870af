"""An experiment as it is run and read: the choice, the run, the figures, and what they say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath

import streamlit as st

from anon_core.teaching.experiments import Experiment, Report, all_experiments
from anon_core.teaching.experiments.execution import documented, run_said, size_of
from anon_core.teaching.experiments.experiment import Outcome, Size
from anon_core.teaching.experiments.result_files import (
    CSV,
    HTML,
    as_csv,
    as_html,
    figures_of,
)
from anon_core.teaching.experiments.tables import FILES, WANTED
from ui.charts.chart_frame import palette, show
from ui.charts.experiment_plot import experiment_chart
from ui.components.downloads import download, later
from ui.components.guard import handled, panel, show_error
from ui.state.kept_fields import last_number, remembered
from ui.state.work import experiment_runs, jobs
from ui.words.escaping import plain

#: Seconds between two looks at the points of an experiment under way.
_LOOK = 3.0
_SIZES: tuple[Size, ...] = ("small", "full")
_ICONS: dict[Outcome, str] = {
    "reproduced": ":material/check_circle:",
    "differs": ":material/difference:",
    "source wrong": ":material/report:",
    "not decided in time": ":material/timer_off:",
    "open": ":material/pending:",
}


#: Widths of the list's columns, in pixels.
_TITLE, _VERDICT = 360, 150
#: All of a row is in one size.
_STYLE = """<style>[class*="st-key-experiments-row-"] {flex-wrap: nowrap;}
[class*="st-key-experiments-row-"] p {font-size: .875rem;}</style>"""


def draw_all() -> None:
    """Draw an experiment a row: its title, which opens it, what it came to, and its source."""
    st.html(_STYLE)
    with st.container(gap=None):
        for experiment in all_experiments():
            with st.container(
                key=f"experiments-row-{experiment.id}", horizontal=True, vertical_alignment="center"
            ):
                _row(experiment)


def _row(experiment: Experiment) -> None:
    with st.container(width=_TITLE):
        st.button(
            f"{experiment.id} · {plain(experiment.title)}",
            key=f"experiments/open/{experiment.id}",
            type="tertiary",
            on_click=_open,
            args=(experiment.id,),
            help=plain(experiment.shows),
        )
    found, whose = experiment_runs.last(experiment), "Your run"
    if found is None:
        found, whose = documented(experiment), "A documented run"
    if found is None:
        st.markdown("not run yet", width=_VERDICT)
    else:
        verdict = found.verdict
        st.markdown(
            f"{_ICONS[verdict.outcome]} {verdict.outcome}",
            width=_VERDICT,
            help=plain(f"{verdict.why} {whose}: {run_said(found)}."),
        )
    st.caption(plain(experiment.source.short), width="stretch")


def draw(experiment: Experiment) -> None:
    """Draw one experiment: how it is run, its figures, and how they are to the source."""
    st.write(plain(experiment.shows))
    st.caption(plain(experiment.source.cited))
    _tables(experiment)
    size, seed = _form(experiment)
    jobs.watch(experiment_runs.JOB)
    error = experiment_runs.error()
    if error is not None:
        show_error(error)
    busy = experiment_runs.is_running()
    if experiment_runs.note() and not busy:
        st.caption(plain(experiment_runs.note()))

    @st.fragment(run_every=_LOOK if busy else None)
    @panel("Figures of the experiment")
    def live() -> None:
        found = experiment_runs.report(experiment, size, seed)
        if found is not None and found.done:
            _figures(found)
            _more_time(found, size, seed)
            return
        figures = documented(experiment)
        if busy:
            st.info("The first figures are under way.", icon=":material/info:")
        if figures is not None:
            st.info(
                plain(f"A documented run with {size_of(figures)}. Run it to see your own figures."),
                icon=":material/history:",
            )
            _figures(figures)

    live()
    _settings(experiment, size)


def _more_time(found: Report, size: Size, seed: int) -> None:
    """Offer to go on where time boxes ended before something was decided."""
    if not found.timed_out or not found.whole:
        return
    st.button(
        f"More time: {len(found.timed_out)} step{'s' * (len(found.timed_out) > 1)} again",
        key="experiments/longer",
        icon=":material/more_time:",
        on_click=_longer,
        args=(found.experiment, size, seed),
        disabled=experiment_runs.is_running(),
        help=f"Four times the time box of {found.settings.seconds:g} s for the steps that were not "
        "decided; all others are kept.",
    )


def _tables(experiment: Experiment) -> None:
    """Draw which table the experiment is on, and take the source's own."""
    with st.expander("The source's table"):
        names = " or ".join(PurePosixPath(place).name for place in FILES[experiment.table][:1])
        st.write(
            f"This experiment is on {plain(WANTED[experiment.table])}. Without it, a generated "
            f"table with the same columns is used, and every figure says so. Choose the folder "
            f"that holds {names}; docs/experiments.md names its columns."
        )
        files = st.file_uploader(
            "Folder with the source's tables",
            accept_multiple_files="directory",
            key="experiments/folder",
        )
        experiment_runs.hand_over({PurePosixPath(f.name).name: f.getvalue() for f in files or ()})


def _form(experiment: Experiment) -> tuple[Size, int]:
    """Draw the settings and the button that runs the experiment, or goes on with it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.selectbox(
            "Settings",
            _SIZES,
            **remembered(f"experiments/size/{experiment.id}"),
            width=160,
            help="Small settings take less than half a minute; full ones are as near to the "
            "source's as can be, and may take long.",
        )
        seed = int(
            st.number_input(
                "Seed",
                min_value=0,
                value=last_number(f"experiments/seed/{experiment.id}", 1),
                step=1,
                **remembered(f"experiments/seed/{experiment.id}"),
                width=120,
                help="Draws the rows, the questions, and the table where it is generated.",
            )
        )
        found = experiment_runs.report(experiment, size, seed)
        goes_on = found is not None and not found.whole
        st.button(
            "Continue" if goes_on else "Run",
            key="experiments/run",
            type="primary",
            on_click=_run,
            args=(experiment, size, seed),
            disabled=experiment_runs.is_running() or (found is not None and found.whole),
        )
    return size, seed


def _figures(report: Report) -> None:
    verdict = report.verdict
    st.markdown(f"#### {_ICONS[verdict.outcome]} {verdict.outcome.capitalize()}")
    st.write(plain(verdict.why))
    where = ", a substitute for the source's" if report.generated else ""
    st.caption(
        plain(
            f"On {report.table}{where}. {len(report.done)} of "
            f"{len(report.experiment.steps(report.settings))} steps, {report.seconds:.1f} s."
        )
    )
    colours = palette()
    for figure in figures_of(report):
        show(
            experiment_chart(report, figure, colours),
            key=f"experiment-{report.experiment.id}-{figure.name}",
        )
    _claims(report)
    with st.container(horizontal=True):
        name = report.experiment.id.lower()
        for label, write, file, key in (
            ("Figures as CSV", as_csv, CSV, "csv"),
            ("As a page", as_html, HTML, "html"),
        ):
            download(label, later(write, report), file=f"{name}-{file}", key=f"experiments/{key}")


def _claims(report: Report) -> None:
    import pandas as pd

    st.markdown("**What the source says, and what was measured**")
    words = {True: "yes", False: "no", None: "open"}
    rows = [
        {
            "the source": f"{claim.says}{f' ({claim.error})' if claim.error else ''}",
            "holds": words[claim.holds],
            "measured": claim.because or claim.measured,
        }
        for claim in report.claims
    ]
    st.table(pd.DataFrame(rows).map(plain), hide_index=True, alt="What the source says")
    refused = [one for one in report.done if one.why_not]
    if refused:
        with st.expander("Releases that could not be made"):
            for one in refused:
                st.markdown(f"- {plain(one.key)}: {plain(one.why_not)}")


def _settings(experiment: Experiment, size: Size) -> None:
    with st.expander("Settings, and what the source leaves open"):
        given = {n: v for n, v in asdict(experiment.settings(size)).items() if v and n != "seed"}
        for name, value in given.items():
            words = ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else f"{value:,}"
            st.markdown(f"- {name}: {words}")
        for remark in experiment.remarks:
            st.markdown(f"- {plain(remark)}")


@handled("Experiment")
def _open(id: str) -> None:
    experiment_runs.choose(id)


@handled("Experiment")
def _longer(experiment: Experiment, size: Size, seed: int) -> None:
    experiment_runs.start(experiment, size, seed, longer=True)


@handled("Experiment")
def _run(experiment: Experiment, size: Size, seed: int) -> None:
    experiment_runs.start(experiment, size, seed)
