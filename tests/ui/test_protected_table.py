"""The page Tables: what is sensitive shows as rules move; what is protected shows its proof."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.tables import publication
from anon_core.tables.publication import Publication
from tests.ui.sessions import load, open_page, words

PAGE = "pages/10_Tables.py"


def opened() -> AppTest:
    app = open_page(PAGE, load("hospital") | {"tables/level/age": 0})
    assert not app.exception
    return app


def test_a_slider_shows_at_once_how_many_cells_are_sensitive() -> None:
    app = opened()
    assert "**465** cells · **7** sensitive" in words(app)
    app.slider(key="tables/n").set_value(8).run()
    assert "**26** sensitive" in words(app)
    assert "2 → 4 · 3 → 7 · 5 → 16" in words(app)
    grid = app.dataframe[0].value
    assert sum(str(text).startswith("▲ ") for text in grid.to_numpy().ravel()) == 26


def test_protected_cells_are_proven_and_a_change_takes_the_proof_away() -> None:
    app = opened()
    app.button(key="tables/protect").click().run()
    assert not app.exception
    assert "further suppressed" in words(app)
    (proof,) = app.success
    assert "Each of 7 sensitive cells reaches its level" in proof.value
    app.slider(key="tables/n").set_value(2).run()
    assert not app.success


def offered(app: AppTest) -> set[str]:
    return {str(one.proto.label) for one in app.get("download_button")}


def test_files_are_offered_once_the_second_computation_agrees() -> None:
    app = opened()
    app.button(key="tables/protect").click().run()
    assert not app.exception
    assert words(app).count("Recomputed") == 4
    assert offered(app) >= {"CSV", "Excel"}


def test_what_the_second_computation_does_not_confirm_is_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = publication.files_of

    def shown(done: Publication) -> dict[str, bytes]:
        files = dict(right(done))
        hidden = str(publication.SUPPRESSED).encode()
        files["table.csv"] = files["table.csv"].replace(hidden, b"1", 1)
        return files

    monkeypatch.setattr("ui.state.table_work.files_of", shown)
    app = opened()
    app.button(key="tables/protect").click().run()
    assert not app.exception
    assert any("second computation does not confirm" in one.value for one in app.error)
    assert not offered(app)


def test_rounded_counts_are_multiples_of_the_base() -> None:
    app = opened()
    app.selectbox(key="tables/method/False").set_value("random-rounding").run()
    app.slider(key="tables/base").set_value(3).run()
    app.button(key="tables/protect").click().run()
    assert not app.exception
    grid = app.dataframe[0].value
    numbers = [int(str(text).rpartition(" ")[2]) for text in grid.to_numpy().ravel()]
    assert any(numbers)
    assert all(number % 3 == 0 for number in numbers)
    assert "do not add up" in words(app)
    assert "A reader who knows the method learns" in words(app)


def test_nothing_chosen_asks_for_a_column() -> None:
    app = opened()
    app.multiselect(key="tables/columns").set_value([]).run()
    assert "Choose at least one column." in words(app)


def test_adjusted_counts_show_every_cell_and_are_recomputed() -> None:
    app = opened()
    app.selectbox(key="tables/method/False").set_value("adjust").run()
    app.button(key="tables/protect").click().run()
    assert not app.exception
    assert "no adjusted table has less than" in words(app)
    assert words(app).count("Recomputed") == 4
    assert "is published as ×" not in words(app)
    grid = app.dataframe[0].value
    assert not [text for text in grid.to_numpy().ravel() if str(text).startswith("×")]
