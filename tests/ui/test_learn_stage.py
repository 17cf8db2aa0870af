"""The stage of a lesson: text next to pictures, a link to the step, doors to and from Run."""

from __future__ import annotations

from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.registry import Family, family
from anon_core.teaching.learn import all_lessons, find_lesson
from tests.ui.test_learn import opened, press
from ui.words.escaping import linked


def test_a_step_can_be_linked_to() -> None:
    app = opened(lesson="mondrian", step="3", show="1")
    (address,) = [one.value for one in app.code if "lesson=" in one.value]
    assert address.endswith("?lesson=mondrian&example=toth&step=3&show=1")


def test_a_lesson_opens_run_with_its_table_and_settings() -> None:
    app = press(opened(lesson="mondrian", step="3", show="1"), "learn/run/relaxed")
    work = app.session_state["state/work"]
    assert work["draft"]["algorithm"]["name"] == "mondrian"
    assert work["draft"]["algorithm"]["cuts"] == "relaxed"
    assert work["draft"]["models"] == [{"name": "k-anonymity", "k": 2}]
    assert work["roles"]["quasi"] == ["Zip", "Age"]
    assert app.title[0].value == "Run"


@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda one: one.name)
def test_dois_are_links(lesson: object) -> None:
    source = find_lesson(lesson.name).source  # type: ignore[attr-defined]
    if source.doi:
        assert f"(https://doi.org/{source.doi})" in linked(source.cited)


def test_text_is_beside_the_pictures() -> None:
    app = opened(lesson="mondrian", step="3", show="1")
    pictures, shown = (column for column in app.columns if column)
    assert any(
        one.proto.component_name.endswith("lesson") for one in pictures.get("bidi_component")
    )
    assert shown.subheader[0].value == "3\\. Cut along Zip"


def test_changes_of_cells_come_along_to_run() -> None:
    app = press(opened(lesson="changes", step="2", show="1"), "learn/run/ranks")
    draft = app.session_state["state/work"]["draft"]
    assert draft["algorithm"]["name"] == "as-is"
    assert draft["changes"] == [{"name": "rank-swapping", "columns": ["Age", "Salary"], "p": 40}]
    assert app.title[0].value == "Run"


def test_what_a_technique_is_leads_to_its_lesson(start: AppTest) -> None:
    start.button(key="start/sample/samarati").click().run()
    start.switch_page("pages/4_Run.py").run()
    assert not start.exception
    links = [one.proto for one in start.get("page_link")]
    assert any("lesson=" in one.query_string and one.label.startswith("Lesson") for one in links)


def test_lessons_name_techniques_that_there_are_each_in_one() -> None:
    known = {name for which in get_args(Family) for name in family(which)}
    about = [name for lesson in all_lessons() for name in lesson.about]
    assert set(about) <= known
    assert len(set(about)) == len(about)
    assert all(lesson.about for lesson in all_lessons() if lesson.name != "trackers")


def test_tables_lead_to_the_lesson_on_trackers(start: AppTest) -> None:
    start.button(key="start/sample/samarati").click().run()
    start.switch_page("pages/10_Tables.py").run()
    assert not start.exception
    links = [one.proto for one in start.get("page_link")]
    assert any(one.query_string == "lesson=trackers" for one in links)
