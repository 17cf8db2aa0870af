"""What is dropped on Start is recognized by its content, whatever it is called."""

from __future__ import annotations

import io
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadInput
from tests.ui.sessions import carried_out, load, tips, words
from tests.ui.test_archives import packed
from ui.export import bundle
from ui.state import session_owner
from ui.state.loading import Opened
from ui.state.sessions import dropped_files, kept_sessions, session_file

TABLE = b"age;zip\n31;5370\n"
RECIPE = b'[roles]\nquasi = ["age"]\n[algorithm]\nname = "optimal"\n'


def kinds(*files: tuple[str, bytes]) -> tuple[list[str], list[str], list[str]]:
    found = dropped_files.files_by_kind(
        [Opened(name=name, content=content) for name, content in files]
    )
    return (
        [one.name for one in found.sessions],
        [one.name for one in found.recipes],
        [one.name for one in found.others],
    )


def session_content() -> bytes:
    held = load()
    carried_out(held)
    with patch.object(st, "session_state", held):
        return session_file.as_bytes(session_file.content())


def workbook() -> bytes:
    made = io.BytesIO()
    pd.DataFrame({"age": [31], "zip": ["5370"]}).to_excel(made, index=False)
    return made.getvalue()


def test_each_kind_is_known_by_its_content() -> None:
    assert kinds(("t.csv", TABLE)) == ([], [], ["t.csv"])
    assert kinds(("t", "größe\n".encode("utf-16"))) == ([], [], ["t"])
    assert kinds(("t.data", workbook())) == ([], [], ["t.data"])  # packed as a zip, and is none
    assert kinds(("recipe.txt", RECIPE)) == ([], ["recipe.txt"], [])
    assert kinds(("r.toml", b"seed =")) == ([], ["r.toml"], [])  # what is wrong with it is shown
    assert kinds(("s.json", session_content())) == (["s.json"], [], [])


def test_a_zip_is_taken_apart_whatever_it_is_called() -> None:
    content = packed({"t.csv": TABLE, "r.toml": RECIPE, "cat.png": b"\x89PNG\x00"})
    for name in ("all.zip", "all", "all.ZIP"):
        assert kinds((name, content)) == ([], ["r.toml"], ["t.csv"])


def test_several_are_opened_together() -> None:
    archive = bundle.archive(carried_out(load("toth-private")))
    _, recipes, others = kinds(("recipe.zip", archive), ("people.csv", TABLE))
    assert recipes == ["recipe.toml"]
    assert "people.csv" in others
    assert "hierarchies/Zip.csv" in others


def test_what_is_none_of_them_is_named_with_all_that_is_accepted() -> None:
    files = [("t.csv", TABLE), ("a.png", b"\x89PNG\x00"), ("b.exe", b"MZ\x00\x01")]
    with pytest.raises(BadInput) as caught:
        kinds(*files)
    assert "'a.png', 'b.exe' cannot be opened here" in caught.value.message
    assert dropped_files.ACCEPTED in caught.value.message
    assert "t.csv" not in caught.value.message


def test_two_tables_are_not_guessed_between(start: AppTest) -> None:
    content = packed({"a.csv": TABLE, "b.csv": TABLE})
    start.file_uploader(key="start/upload/0").upload("two.zip", content, "application/zip").run()
    assert not start.exception
    assert "'a.csv', 'b.csv' are several tables" in words(start).replace("\\", "")
    start.button(key="start/one/1").click().run()  # the remedy is one click away
    assert not start.exception
    assert "b.csv** is loaded" in words(start).replace("\\", "")
    assert "several tables" not in words(start)


def test_whether_sessions_are_kept_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: AppTest
) -> None:
    assert "session/answer/True" not in [b.key for b in start.button]  # the variable has settled it
    monkeypatch.delenv(kept_sessions.FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    place = tmp_path / "anonymity-workbench" / "sessions" / "own"
    start.run()
    assert str(place) in tips(start)
    start.button(key="start/sample/toth-private").click().run()
    assert place.is_dir()
    start.button(key="session/answer/False").click().run()
    assert not start.exception
    assert not place.exists()
    assert kept_sessions.folder() is None
    assert "session/answer/True" not in [b.key for b in start.button]
    start.button(key="start/sample/samarati").click().run()
    assert not place.exists()
    kept_sessions.answer(keep=True)
    assert kept_sessions.folder() == place
    assert kept_sessions.asks() is None
    monkeypatch.setattr(session_owner, "is_shared", lambda: True)
    assert kept_sessions.folder() is None
