"""Learn: published algorithms step by step, each on the example of its own source."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.teaching.learn import all_lessons
from ui.components.guard import handled, panel, show_error
from ui.panels import page_frame
from ui.panels.teaching import lesson_panel
from ui.state import lesson_place


def main() -> None:
    """Draw the page."""
    if lesson_place.leads_away():
        st.switch_page("pages/4_Run.py")
    page_frame.page("Learn", "🎓")
    with panel("Lesson"):
        lesson = None
        try:
            lesson = lesson_place.chosen_lesson()
            if lesson is None:
                _course()
                return
            typed = lesson_place.typing(lesson)
            if typed is not None:
                lesson_panel.draw_typing(lesson, typed)
                return
            lesson_panel.draw_lesson(lesson_place.reading(lesson), _all)
        except AnonError as error:
            show_error(error)
            if lesson is not None:
                if (typed := lesson_place.typed(lesson)) is not None:
                    lesson_panel.draw_typing(lesson, typed)
                    return
                with suppress(AnonError):  # a setting that nothing satisfies can be moved back
                    lesson_panel.draw_dial(lesson)
            st.button("To the lessons", key="learn/away", on_click=_all)


def _course() -> None:
    st.write("Published algorithms, step by step, each on its paper's own example.")
    lesson_panel.cards(all_lessons())


@handled("Lesson")
def _all() -> None:
    lesson_place.open_lesson("")


main()
