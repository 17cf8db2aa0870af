"""Data: profile, types, missing values, and reading a file again."""

from __future__ import annotations

import io
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
import xlsxwriter
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadInput
from anon_core.data.profile import distribution
from anon_core.data.reading import DataOptions
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from tests.ui.sessions import RUN, open_page, words
from ui.charts import column_distribution
from ui.state import loading, state
from ui.state.loading import Opened

DATA = "pages/1_Data.py"


def opened(app: AppTest, sample: str) -> AppTest:
    app.button(key=f"start/sample/{sample}").click().run()
    return app.switch_page(DATA).run()


def test_without_a_table_it_names_the_next_step(start: AppTest) -> None:
    start.switch_page(DATA).run()
    assert not start.exception
    assert "There is no table yet" in words(start)


def test_shows_every_column(start: AppTest) -> None:
    opened(start, "toth-private")
    assert not start.exception
    table = start.dataframe[0].value
    assert list(table["Column"]) == ["Name", "Zip", "Age", "Salary"]
    assert list(table["Unique values"]) == [100.0, 12.5, 0.0, 75.0]


def test_every_column_has_a_distribution(start: AppTest) -> None:
    opened(start, "hospital")
    for name in ("name", "birth_date", "zip", "cost"):
        start.selectbox(key="data/column").select(name).run()
        assert not start.exception
        (note,) = [c.value for c in start.caption if "distinct values" in c.value]
        assert "\\\\" not in note
        assert "Rows by" in words(start)


def test_a_broken_workbook_is_refused_with_a_remedy(start: AppTest) -> None:
    content = b"PK\x03\x04" + b"[Content_Types].xml" + b"xl/workbook.xml"
    start.file_uploader(key="start/upload/0").upload("people.xlsx", content, "x/y").run()
    assert "save it again" in start.error[0].value


def test_a_doubtful_column_says_why_beside_its_type(start: AppTest) -> None:
    cells = "".join(f"{n},x\n" for n in (*range(9), "unsure"))
    content = f"age,job\n{cells}".encode()
    start.file_uploader(key="start/upload/0").upload("people.csv", content, "text/csv").run()
    start.switch_page(DATA).run()
    assert any("1 of 10 distinct values are not numbers" in one.value for one in start.caption)


def test_rows_are_counted_in_whole_steps_whatever_is_drawn() -> None:
    ages = [n + 0.25 for n in range(60)]
    data = Dataset.from_frame(pd.DataFrame({"city": ["a", "b", "b"] * 20, "age": ages}))
    for name, channel in (("city", "x"), ("age", "y")):
        found = distribution(data.column(name), most=15)
        drawn = column_distribution.figure_of(found)
        layer = drawn.spec["layer"][0]
        assert layer["encoding"][channel]["axis"]["tickMinStep"] == 1
        assert drawn.data["bars"]["rows"].to_pylist() == [bar.rows for bar in found.bars]


def test_a_type_is_changed_and_taken_back(start: AppTest) -> None:
    opened(start, "toth-private")
    start.selectbox(key="data/column").select("Age").run()
    start.selectbox(key="data/kind/Age").select("text").run()
    assert not start.exception
    assert start.session_state["state/work"]["draft"]["types"]["Age"] == "text"
    start.button(key="data/undo").click().run()
    assert "Age" not in start.session_state["state/work"]["draft"]["types"]
    assert start.selectbox(key="data/kind/Age").value == "number"


def test_a_type_that_does_not_fit_is_refused(start: AppTest) -> None:
    opened(start, "toth-private")
    start.selectbox(key="data/kind/Name").select("number").run()
    assert "The type stays as it was" in start.error[0].value
    assert start.selectbox(key="data/kind/Name").value == "text"
    start.run()
    assert not start.error


def test_missing_rows_are_counted_before_they_are_dropped(start: AppTest) -> None:
    opened(start, "hospital")
    radio = start.radio(key="data/missing")
    assert "181" in radio.options[1]
    radio.set_value("drop").run()
    assert start.session_state["state/work"]["draft"]["data"]["missing"] == "drop"


def test_a_sample_is_drawn_by_share(start: AppTest) -> None:
    opened(start, "hospital")
    start.number_input(key="data/sample").set_value(12.5).run()
    assert start.session_state["state/work"]["draft"]["data"]["sample"] == 0.125
    assert any("rows are drawn" in c.value for c in start.caption)
    start.radio(key="data/missing").set_value("drop").run()
    assert start.session_state["state/work"]["draft"]["data"]["sample"] == 0.125


def test_the_benchmark_of_the_literature_is_one_button(start: AppTest) -> None:
    opened(start, "hospital")
    start.button(key="data/benchmark").click().run()
    data = start.session_state["state/work"]["draft"]["data"]
    assert (data["benchmark"], data["missing"], data["sample"]) == (2000, "drop", 1.0)
    assert start.number_input(key="data/sample").disabled
    assert start.radio(key="data/missing").disabled
    assert any("2,000 of the complete rows" in c.value for c in start.caption)
    start.button(key="data/benchmark").click().run()
    assert start.session_state["state/work"]["draft"]["data"]["benchmark"] == 0
    assert not start.number_input(key="data/sample").disabled


def test_a_file_is_read_again(session: None) -> None:
    loading.load_file(Opened(name="x.csv", content=b"a,b\n1,-9\n2,3\n"), DataOptions())
    loading.read_again(DataOptions(missing_values=("-9",)))
    data = state.dataset()
    assert data is not None
    assert data.column("b").missing == 1
    with pytest.raises(BadInput):
        loading.read_again(DataOptions(separator=";"))
    assert state.dataset() is data


def test_kinds_are_undone_with_the_rest(session: None) -> None:
    loading.load_sample("toth-private")
    loading.set_kind("Age", "text")
    typed = state.typed_dataset()
    assert typed is not None
    assert typed.column("Age").kind == "text"
    loading.set_kind("Age", "number")
    assert "Age" not in state.draft()["types"]
    assert state.undo()
    assert state.undo()
    assert not state.undo()


def test_dates_that_may_be_read_in_two_ways_are_asked_for_before_a_run() -> None:
    content = b"born,job\n" + b"01/02/1990,x\n03/04/1991,y\n" * 5
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held):
        loading.load_file(Opened(name="people.csv", content=content), DataOptions())
        state.set_roles(Roles(quasi=("born",), sensitive=("job",)))
    start = open_page(RUN, held)
    assert any("writes dates that may be" in one.value for one in start.error)
    start.switch_page(DATA).run()
    assert any("1 column can be read in two ways" in one.value for one in start.warning)
    start.selectbox(key="data/notation/born").select("dmy").run()
    assert not start.exception
    data = start.session_state["state/work"]["draft"]["data"]
    assert data["dates"] == {"born": "dmy"}
    assert not any("read in two ways" in one.value for one in start.warning)
    assert not any("writes dates" in one.value for one in start.switch_page(RUN).run().error)


def test_the_sheet_of_a_workbook_is_asked_for(start: AppTest) -> None:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        for name in ("Notes", "People"):
            book.add_worksheet(name).write_row(0, 0, ["age", "job"])
            book.get_worksheet_by_name(name).write_row(1, 0, [30, name])
    start.file_uploader(key="start/upload/0").upload("p.xlsx", file.getvalue(), "x/y").run()
    assert any("several sheets" in one.value for one in start.info)
    start.selectbox(key="start/sheet").select("People").run()
    assert not start.exception
    assert start.session_state["state/work"]["draft"]["data"]["sheet"] == "People"


def workbook(rows: list[list[object]]) -> bytes:
    held = io.BytesIO()
    with xlsxwriter.Workbook(held) as book:
        sheet = book.add_worksheet("People")
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    return held.getvalue()


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
@pytest.mark.parametrize("word", ["Total", "Summe", "GESAMT:", "Insgesamt", "All", "Grand Total"])
@pytest.mark.parametrize("last", [True, False])
def test_a_row_of_totals_is_asked_about(start: AppTest, name: str, word: str, last: bool) -> None:
    people: list[list[object]] = [["north", 30], ["south", 41], [None, 52]]
    rows = [["place", "age"], *people, [word, 123]]
    if not last:
        rows = [["place", "age"], [word, 123], *people]
    lines = (",".join("" if one is None else str(one) for one in row) for row in rows)
    content = workbook(rows) if name == "t.xlsx" else "\n".join(lines).encode()
    start.file_uploader(key="start/upload/0").upload(name, content, "x/y").run()
    start.switch_page(DATA).run()
    assert not start.exception
    place = "Row 4, the last one" if last else "Row 1, the first one"
    assert any(place in one.value for one in start.warning)
    whole = state_of(start)
    start.button(key="data/where/total_out").click().run()
    assert not start.exception
    assert not start.warning
    assert state_of(start)["where"] == f"(place <> '{word}' or place is missing)"
    assert "3 of 4 rows are kept" in words(start)
    start.button(key="data/where/remove").click().run()
    start.button(key="data/where/total_kept").click().run()
    assert not start.warning
    assert state_of(start) == whole


def test_a_category_that_is_called_all_is_no_row_of_totals(start: AppTest) -> None:
    content = b"wards,age\nall,30\nA,40\nB,41\nall,52\n"
    start.file_uploader(key="start/upload/0").upload("t.csv", content, "x/y").run()
    start.switch_page(DATA).run()
    assert not start.exception
    assert not start.warning


def test_rows_are_chosen_by_a_condition_counted_before_and_undone(start: AppTest) -> None:
    opened(start, "hospital")
    whole = state_of(start)
    assert "where" not in whole
    start.selectbox(key="data/where/column").select("sex").run()
    assert "is less than" not in start.selectbox(key="data/where/sign").options
    value = start.selectbox(key="data/where/value/sex/False")
    value.select(value.options[0]).run()
    assert "rows are kept." in words(start)
    assert state_of(start) == whole
    start.button(key="data/where/apply").click().run()
    condition = f"sex = '{value.options[0]}'"
    assert state_of(start)["where"] == condition
    assert condition in [code.value for code in start.code]
    # A second one narrows the first.
    start.selectbox(key="data/where/column").select("zip").run()
    start.selectbox(key="data/where/sign").select("is missing").run()
    start.text_area(key=f"data/where/text/{condition}").input(f"not {condition}").run()
    start.button(key="data/where/apply_text").click().run()
    assert state_of(start)["where"] == f"not {condition}"
    start.checkbox(key="data/where/rest").check().run()
    assert state_of(start)["rest"] == "population"
    start.button(key="data/undo").click().run()
    assert state_of(start)["rest"] == "outside"
    start.button(key="data/where/remove").click().run()
    assert state_of(start) == whole
    assert not start.exception


def test_a_condition_that_cannot_be_read_is_told_and_not_applied(start: AppTest) -> None:
    opened(start, "hospital")
    start.text_area(key="data/where/text/").input("sex == 'F'").run()
    assert "cannot be read at character 6" in words(start)
    assert start.button(key="data/where/apply_text").disabled
    start.text_area(key="data/where/text/").input("sex = 'nobody'").run()
    assert "0 of 5,000 rows are kept." in words(start)
    assert start.button(key="data/where/apply_text").disabled


def state_of(app: AppTest) -> dict[str, Any]:
    return dict(app.session_state["state/work"]["draft"]["data"])


def test_one_row_that_misses_a_value_is_one_row(start: AppTest) -> None:
    content = b"age,zip\n31,5370\n32,\n33,5371\n"
    start.file_uploader(key="start/upload/0").upload("t.csv", content, "text/csv").run()
    start.switch_page("pages/1_Data.py").run()
    assert not start.exception
    assert "1 row misses a value in some column" in "".join(one.value for one in start.caption)
