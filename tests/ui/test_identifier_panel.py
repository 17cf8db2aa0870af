"""The sets of columns that identify, on Roles: made once the button is opened."""

from __future__ import annotations

from unittest.mock import patch

from tests.ui.sessions import load, open_page, words
from ui.panels import identifier_panel

ROLES = "pages/2_Roles.py"


def test_nothing_is_counted_before_it_is_opened() -> None:
    with patch.object(identifier_panel, "identifying_sets", side_effect=AssertionError):
        assert not open_page(ROLES, load("hospital")).exception


def test_the_smallest_sets_are_listed_with_what_they_tell_apart() -> None:
    app = open_page(ROLES, {**load("hospital"), "roles/identifying": True})
    assert not app.exception
    table = next(t for t in app.dataframe if "Pairs distinguished" in t.value.columns).value
    assert "name" in set(table["Columns"])  # nearly every name is another one
    assert (table["Pairs distinguished"] >= 90).all()
    assert "every set of up to" in words(app)


def test_the_kinds_of_safe_harbor_are_listed_with_what_cannot_be_seen() -> None:
    app = open_page(ROLES, {**load("hospital"), "roles/identifying": True})
    table = next(t for t in app.dataframe if "Kind" in t.value.columns).value
    assert len(table) == 18
    states = dict(zip(table["Kind"].str[0], table["State"], strict=True))
    assert (states["A"], states["C"], states["P"]) == ("found", "found", "cannot be seen")
    columns = dict(zip(table["Kind"].str[0], table["Columns"], strict=True))
    assert "birth_date" in columns["C"]
    assert "zip" in columns["B"]
