"""What pages show of dates with a time, and of texts that were read as missing."""

from __future__ import annotations

import csv
import io
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.data.reading import DataOptions
from anon_core.data.roles.roles import Roles
from tests.ui.sessions import RESULTS, RUN, carried_out, open_page
from ui.state import loading, state
from ui.state.loading import Opened

DATA, ROLES, HIERARCHIES = (f"pages/{p}.py" for p in ("1_Data", "2_Roles", "3_Hierarchies"))


def held(levels: str = "") -> dict[str, Any]:
    """Return a session with a table of visits, and a hierarchy of its countries."""
    rows = [
        f"2024-02-{1 + n % 9:02} {8 + n % 7:02}:15,{('NA', 'ZA', 'ZM', '')[n % 4]},{'ab'[n % 2]}"
        for n in range(48)
    ]
    content = ("seen,country,ill\n" + "\n".join(rows) + "\n").encode()
    found: dict[str, Any] = {}
    with patch.object(st, "session_state", found):
        loading.load_file(Opened(name="visits.csv", content=content), DataOptions())
        state.set_roles(Roles(quasi=("seen", "country"), sensitive=("ill",)))
        if levels:
            loading.load_levels("country", Opened(name="country.csv", content=levels.encode()))
    return found


@pytest.mark.parametrize("page", [DATA, ROLES, HIERARCHIES, RUN])
def test_pages_open_with_dates_that_have_a_time(page: str) -> None:
    app = open_page(page, held("NA;Southern;*\nZA;Southern;*\nZM;Eastern;*\n;Unknown;*\n"))
    assert not app.exception
    assert not app.error


def test_data_shows_the_kind_and_what_was_read_as_missing() -> None:
    shown = open_page(DATA, held()).dataframe[0].value
    assert list(shown["Type"]) == ["date and time", "text", "text"]
    note = shown["Notes"][1]
    assert note.startswith("'NA' in 12 rows is read as missing. To keep it as a value")
    assert 'missing_in = { "country" = [] }' in note


def test_hierarchies_propose_the_calendar() -> None:
    app = open_page(HIERARCHIES, held())
    app.radio(key="hierarchies/column").set_value("seen").run()
    next(b for b in app.button if b.label == "Propose for all columns").click().run()
    assert not app.exception
    rows = app.session_state["state/work"]["levels"]["seen"]["rows"]
    assert rows[0] == ["2024-02-01 08:15", "2024-02-01", "*"]  # no hour holds two


def test_a_listed_value_and_the_place_of_missing_ones_reach_the_release() -> None:
    session = held("NA;Southern;*\nZA;Southern;*\nZM;Eastern;*\n;Unknown;*\n")
    with patch.object(st, "session_state", session):
        data = state.typed_dataset()
        assert data is not None
        assert data.column("country").values == ("", "NA", "ZA", "ZM")
        expected = {
            "name": "fixed-levels",
            "levels": {"seen": 1, "country": 1},
            "max_suppression": 1.0,
        }
        state.update_draft(algorithm=expected, models=[{"name": "k-anonymity", "k": 2}])
    result = carried_out(session)
    rows = list(csv.DictReader(io.StringIO(result.csv.decode())))
    assert {row["country"] for row in rows} == {"Southern", "Eastern", "Unknown"}
    assert result.verification.holds
    assert not open_page(RESULTS, session).exception
