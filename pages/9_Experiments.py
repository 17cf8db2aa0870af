"""Experiments: figures of the literature, and what this workbench reaches next to them."""

from __future__ import annotations

import streamlit as st

from anon_core.base.errors import AnonError
from ui.components.guard import handled, panel, show_error
from ui.panels import page_frame
from ui.panels.teaching import experiment_panel
from ui.state.work import experiment_runs
from ui.words.escaping import plain


def main() -> None:
    """Draw the page."""
    experiment_runs.settle()  # first, so that the sidebar no longer tells of it
    page_frame.page("Experiments", "🧪")
    with panel("Experiment"):
        try:
            experiment = experiment_runs.chosen()
            if experiment is None:
                _list()
                return
            st.button("All experiments", key="experiments/all", on_click=_all)
            st.header(plain(f"{experiment.id}: {experiment.title}"), anchor=False)
            experiment_panel.draw(experiment)
        except AnonError as error:
            show_error(error)
            st.button("To the experiments", key="experiments/away", on_click=_all)


def _list() -> None:
    st.write(
        "Each experiment repeats a publication's measurements with the runs, metrics and attacks "
        "of this workbench, and compares the figures with the printed ones."
    )
    experiment_panel.draw_all()


@handled("Experiment")
def _all() -> None:
    experiment_runs.choose("")


main()
