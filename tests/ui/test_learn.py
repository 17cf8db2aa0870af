"""Learn: lessons by their address, forward and back, questions, and one's own table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.teaching.learn import all_lessons
from tests.ui.sessions import PATIENCE

APP = Path(__file__).resolve().parents[2] / "app.py"


def opened(**address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE).switch_page("pages/8_Learn.py")
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def place(app: AppTest) -> tuple[str, bool]:
    found: Any = app.query_params
    step = found["step"]
    return step if isinstance(step, str) else step[0], "show" in found


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def test_all_lessons_are_listed_and_open_by_a_click() -> None:
    app = opened()
    for lesson in all_lessons():
        assert app.button(key=f"learn/open/{lesson.name}")
    press(app, "learn/open/mondrian")
    assert app.subheader[0].value.startswith("1\\. People")
    press(app, "learn/all")
    assert app.button(key="learn/open/mondrian")


def test_a_step_has_an_address_and_its_question_comes_first() -> None:
    app = opened(lesson="mondrian", step="2")
    assert app.subheader[0].value == "What comes next?"
    press(app, "learn-choice-1")  # Age, which is as wide, but not the first
    assert place(app) == ("2", True)
    assert "You said Age; it is Zip" in app.info[0].value
    press(app, "learn-back")
    assert place(app) == ("1", True)
    press(app, "learn-next")
    assert place(app) == ("2", False)
    press(app, "learn-next")
    assert place(app) == ("2", True)
    press(app, "learn-last")
    assert app.subheader[1].value == "Exercises"
    exercise = app.radio[0]
    exercise.set_value("number:4").run()
    assert "Right" in app.success[0].value
    assert not app.expander[0].code[0].value.startswith("2.")
    assert app.expander[0].code[0].value.count("\n") == int(place(app)[0]) - 1


def test_whom_to_follow_can_be_chosen() -> None:
    app = opened(lesson="mondrian", step="3", show="1")
    assert "Zip and Age of Ada finds 5 rows" in app.info[0].value
    app.selectbox(key="learn/person/mondrian/toth").set_value(7).run()
    assert "of Amanda finds 3 rows" in app.info[0].value


def test_a_lesson_plays_until_a_question_or_the_end() -> None:
    app = press(opened(lesson="samarati", step="1"), "learn-play")
    assert _stage(app)["play"] > 0
    press(app, "learn-next")
    assert _stage(app)["play"] == 0  # a question waits
    assert json.loads(_stage(app)["picks"])
    press(press(app, "learn-choice-0"), "learn-last")
    assert _stage(app)["play"] == 0


def _stage(app: AppTest) -> dict[str, Any]:
    (stage,) = [
        one for one in app.get("bidi_component") if one.proto.component_name.endswith("lesson")
    ]
    return json.loads(stage.proto.json)


@pytest.mark.parametrize(
    "address",
    [
        {"lesson": "gone"},
        {"lesson": "mondrian", "example": "own"},
        {"lesson": "mondrian", "example": "x"},
    ],
)
def test_a_wrong_address_is_told_and_leads_back(address: dict[str, str]) -> None:
    app = opened(**address)
    assert app.error
    press(app, "learn/away")
    assert app.button(key="learn/open/mondrian")
    assert not app.error


def test_a_dial_and_a_shuffle_compute_the_step_again_and_are_in_its_link() -> None:
    app = opened(lesson="anatomy", step="7", show="1")
    before = _stage(app)["html"]
    press(app, "learn-shuffle")
    assert _stage(app)["html"] != before
    assert place(app) == ("7", True)
    app.select_slider(key="learn/dial/anatomy/li").set_value(2).run()
    assert not app.exception
    assert place(app) == ("7", True)
    (address,) = [one.value for one in app.code if "lesson=" in one.value]
    assert address.endswith("&step=7&show=1&set=2&shuffle=1")
    again = opened(lesson="anatomy", step="7", show="1", set="2", shuffle="1")
    assert _stage(again)["html"] == _stage(app)["html"]


def test_a_setting_that_nothing_satisfies_can_be_moved_back() -> None:
    app = opened(lesson="mpalm", step="3", show="1", set="0.5")
    assert "whole table" in app.error[0].value
    app.select_slider(key="learn/dial/mpalm/toth").set_value(0.9).run()
    assert not app.error
    assert _stage(app)["html"]
    assert opened(lesson="mpalm", set="0.77").error
    assert opened(lesson="mpalm", set="x").error


def test_ones_own_table_can_be_read(start: AppTest) -> None:
    start.button(key="start/sample/samarati").click().run()
    start.query_params["lesson"] = "mondrian"
    start.query_params["example"] = "own"
    start.switch_page("pages/8_Learn.py").run()
    assert not start.exception
    assert not start.error
    assert any("Your table" in one for one in start.selectbox[0].options)


def test_a_table_is_typed_in_place_and_a_lesson_read_on_it() -> None:
    app = opened(lesson="mondrian", example="typed")
    text = app.text_area(key="learn/typed/text")
    assert text.value.startswith("Name,Zip,Age,Salary\n")  # begins with the lesson's own table
    text.set_value("who;age;zip;illness\nUma;31;A;flu\nOle;32;A;flu\nIna;58;B;cold\nKai;60;B;flu")
    app.run()
    assert app.button(key="learn/typed/read").disabled  # no column is known to others yet
    known, secret = app.multiselect
    known.set_value(["age", "zip"])
    secret.set_value(["illness"])
    app.run()
    press(app, "learn/typed/read")
    assert app.subheader[0].value.startswith("1\\. People")
    assert "Uma" in app.selectbox(key="learn/person/mondrian/typed").options[0]
    press(app, "learn/typed/again")
    assert "Kai;60" in app.text_area(key="learn/typed/text").value
    press(app, "learn/typed/back")
    assert "Ada" in str(app.selectbox(key="learn/person/mondrian/toth").options)


def test_what_is_typed_stays_where_it_cannot_be_read() -> None:
    app = opened(lesson="samarati", example="typed")
    app.text_area(key="learn/typed/text").set_value('a,b\n"1,2').run()
    assert not app.exception
    assert app.error[0].value.startswith("The typed table")  # no file
    assert app.text_area(key="learn/typed/text").value == 'a,b\n"1,2'
    many = "\n".join(["n,s", *(f"{i},x" for i in range(40))])
    app.text_area(key="learn/typed/text").set_value(many).run()
    app.multiselect[0].set_value(["n"]).run()
    press(app, "learn/typed/read")
    assert "at most 30" in app.error[0].value
    assert app.text_area(key="learn/typed/text").value == many
