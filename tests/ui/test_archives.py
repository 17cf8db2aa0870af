"""The zip of an internal edition is opened on Start, and a zip made to do harm is not."""

from __future__ import annotations

import io
import stat
import zipfile
from dataclasses import replace
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadInput
from tests.ui.sessions import carried_out, load, words
from ui.export import bundle
from ui.state import loading, state
from ui.state.loading import Opened
from ui.state.sessions import archives


def packed(files: dict[str, bytes], **changes: object) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            for key, value in changes.items():
                setattr(entry, key, value)
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def opened(content: bytes) -> tuple[Opened, ...]:
    return archives.unpacked(Opened(name="it.zip", content=content))


def choose(app: AppTest, name: str, content: bytes) -> AppTest:
    """Hand a file to the uploader."""
    uploader = next(u for u in app.file_uploader if u.key.startswith("start/upload/"))
    return uploader.upload(name, content, "application/zip").run()


def test_the_zip_that_export_made_restores_recipe_and_hierarchies(session: None) -> None:
    held = load("toth-private", algorithm={"name": "mondrian"})
    result = carried_out(held)
    files = opened(bundle.archive(result))
    (recipe,) = (one for one in files if one.name.endswith(".toml"))
    others = [one for one in files if one is not recipe]
    assert archives.table_of(recipe, others) is None
    loading.load_sample("toth-private")
    state.set_levels("Age", None)
    loading.open_recipe(recipe, others)
    with patch.object(st, "session_state", held):
        wanted, levels = state.plan(), state.levels()
    # The recipe names the kind that every column was read as, so that another table is read alike.
    data = result.problem.dataset
    kinds = {column.name: column.kind for column in data.columns}
    found = state.plan()
    assert found == replace(wanted, types=kinds, data=found.data)
    assert found.data == replace(wanted.data, kinds_found=found.data.kinds_found)
    assert set(found.data.kinds_found) <= set(kinds) - set(wanted.types)
    assert state.levels() == levels


def test_a_table_beside_the_recipe_is_loaded_with_it(start: AppTest) -> None:
    held = load("toth-private")
    content = bundle.archive(carried_out(held))
    with patch.object(st, "session_state", held):
        data = state.dataset()
        assert data is not None
        table = loading.table_csv(data)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    choose(start, "all.zip", packed({**files, "people.csv": table}))
    assert not start.exception
    assert "The recipe was opened and fits the table" in words(start)
    assert start.session_state["state/work"]["roles"]["quasi"] == ["Zip", "Age"]
    assert start.session_state["state/work"]["title"] == "people.csv"


def test_a_recipe_waits_for_its_table(start: AppTest) -> None:
    choose(start, "it.zip", bundle.archive(carried_out(load("toth-private"))))
    assert not start.exception
    assert "Now load the table it belongs to" in words(start)
    start.button(key="start/sample/toth-private").click().run()
    assert "The recipe was opened and fits the table" in words(start)


def test_a_damaged_zip_is_told_on_the_page(start: AppTest) -> None:
    choose(start, "it.zip", b"PK no zip at all")
    assert not start.exception
    assert "The zip is damaged" in words(start)


LINK = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (packed({"a.toml": b"", "../b.csv": b""}), "File 2 of the zip has a path that leads out"),
        (packed({"/etc/b.csv": b""}), "File 1 of the zip has a path that leads out"),
        (packed({"C:\\b.csv": b""}), "File 1 of the zip has a path that leads out"),
        (packed({"a.toml": b"", "A.TOML": b""}), "File 2 of the zip has the name of an earlier"),
        (packed({"a.toml": b"", "b/c.ZIP": b""}), "File 2 of the zip is another archive"),
        (packed({"a.toml": b""}, external_attr=LINK), "File 1 of the zip is a link"),
        (packed({"n" * 301: b""}), "has a name of 301 characters"),
        (packed({f"{i}.csv": b"" for i in range(501)}), "The zip has 501 files; at most 500"),
        (packed({"a.csv": b"x"})[:-30], "The zip is damaged"),
        (b"", "The zip is damaged"),
    ],
)
def test_a_zip_made_to_do_harm_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        opened(content)
    assert says in caught.value.message
    assert caught.value.remedy


def test_an_encrypted_zip_is_refused() -> None:
    content = bytearray(packed({"a.toml": b"x"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadInput) as caught:
        opened(bytes(content))
    assert "is encrypted" in caught.value.message


def test_a_zip_that_grows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_UNPACKED", 1000)
    content = bytearray(packed({"a.csv": b"0" * 800, "b.csv": b"0" * 800}))
    with pytest.raises(BadInput, match="come to more than"):
        opened(bytes(content))
    assert len(opened(packed({"a.csv": b"0" * 800}))) == 1


def test_a_damaged_entry_is_refused() -> None:
    content = bytearray(packed({"a.csv": bytes(range(256)) * 9}))
    content[60] ^= 255
    with pytest.raises(BadInput, match="damaged"):
        opened(bytes(content))
