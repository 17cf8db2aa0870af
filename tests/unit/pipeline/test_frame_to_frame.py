"""From frame to frame in one call, and reading the frames of several libraries."""

from __future__ import annotations

import datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_core import Dataset, Plan, anonymize, run
from anon_core.base.errors import BadInput, BadPlan, NotVerified
from anon_core.data.frames import columns_of, is_pandas
from anon_core.pipeline.data_frames import texts_of
from anon_core.verification.rows import matching

PEOPLE = pd.DataFrame(
    {
        "age": [21, 45, 29, 48, 25, 45, 33, 38],
        "sex": ["F", "M ", "F", "M", "F", "F", "M", " F"],
        "ill": ["flu", "flu", "cold", "gout", "gout", "cold", "flu", "NA "],
    }
)
SEX = {"sex": [["F", "*"], ["M", "*"]]}


def plan(algorithm: str = "mondrian", **more: Any) -> Plan:
    models = [{"name": "k-anonymity", "k": 2}]
    if algorithm == "anatomy":
        models = [{"name": "frequency-l-diversity", "l": 2}]
    return Plan.from_mapping(
        {
            "roles": {"quasi": ["age", "sex"], "sensitive": ["ill"]},
            "algorithm": {"name": algorithm},
            "models": models,
            **more,
        }
    )


def test_a_frame_becomes_the_frame_that_a_run_releases():
    before = PEOPLE.copy(deep=True)
    made = anonymize(PEOPLE, plan(), SEX)
    pd.testing.assert_frame_equal(PEOPLE, before)
    result = run(plan(), Dataset.from_frame(PEOPLE), SEX)
    assert made.equals(texts_of(result.published).to_pandas())
    assert list(made.columns) == ["age", "sex", "ill"]
    assert made.groupby(["age", "sex"]).size().min() >= 2
    assert sorted(made["ill"]) == ["", "cold", "cold", "flu", "flu", "flu", "gout", "gout"]


def test_an_arrow_table_comes_back_as_one():
    table = pa.Table.from_pandas(PEOPLE, preserve_index=False)
    made = anonymize(table, plan(), SEX)
    assert isinstance(made, pa.Table)
    assert made.to_pandas().equals(anonymize(PEOPLE, plan(), SEX))


def test_nothing_comes_back_that_does_not_verify(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(matching, "beyond", lambda own, room, shown, count: count)
    monkeypatch.setattr(matching, "without_partner", lambda *given: given[4])
    with pytest.raises(NotVerified):
        anonymize(PEOPLE, plan(), SEX)


def test_two_tables_are_no_frame():
    with pytest.raises(BadPlan, match="two tables") as caught:
        anonymize(PEOPLE, plan("anatomy", data={"missing": "keep"}))
    assert "run" in caught.value.remedy


def test_what_is_not_assessed_is_verified_all_the_same():
    result = run(plan(), Dataset.from_frame(PEOPLE), SEX, assess=False)
    whole = run(plan(), Dataset.from_frame(PEOPLE), SEX)
    assert (dict(result.measures), result.attacks) == ({}, ())
    assert result.verification.holds
    assert [v.model for v in result.verdicts] == ["k-anonymity"]
    assert result.files == whole.files
    assert whole.measures
    assert whole.attacks


def test_missing_values_are_those_of_the_plan():
    made = anonymize(PEOPLE, plan(data={"missing_values": ["flu"], "missing": "drop"}), SEX)
    assert sorted(made["ill"]) == ["NA", "cold", "cold", "gout", "gout"]


def test_blanks_around_cells_are_no_part_of_them_as_in_a_file():
    dataset = Dataset.from_frame(PEOPLE)
    assert dataset.column("sex").values == ("F", "M")
    assert dataset.column("ill").missing == 1
    assert run(plan(), dataset, SEX).verification.holds


def test_frames_read_alike_whichever_library_made_them():
    frame = pd.DataFrame(
        {
            "whole": [3, 1, 3],
            "gap": [39.0, None, 0.5],
            "day": pd.to_datetime(["2020-01-02", None, "2020-01-01"]),
            "flag": [True, False, True],
            "text": ["x", None, "y "],
            "cat": pd.Categorical(["b", None, "a"]),
        }
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for given in (table, table.to_batches()[0], pa.concat_tables([table.slice(0, 1), table[1:]])):
        assert not is_pandas(given)
        assert Dataset.from_frame(given).fingerprint == Dataset.from_frame(frame).fingerprint


@pytest.mark.parametrize("column", [[[1], [2]], [b"a", b"b"], [{"u": 1}, {"u": 2}]])
def test_columns_without_one_plain_value_a_row_are_refused(column: list[Any]):
    with pytest.raises(BadInput, match="column 'a' holds"):
        columns_of(pa.table({"a": column}))


def test_a_series_is_no_frame():
    with pytest.raises(BadInput, match="not a data frame"):
        columns_of(pd.Series(["a", "b"]))  # type: ignore[arg-type]


def test_halves_of_characters_are_refused_without_showing_them():
    cells = pd.Series(["Zo\udceb", "Ann", None], dtype=object)
    with pytest.raises(BadInput, match="Column 2 of the table holds characters") as refused:
        Dataset.from_frame(pd.DataFrame({"age": [1, 2, 3], "who": cells}))
    assert "Zo" not in str(refused.value)
    name = pd.Index(["Zo\udceb"], dtype=object)
    with pytest.raises(BadInput, match="Column 1 of the table holds characters"):
        Dataset.from_frame(pd.DataFrame([[1], [2]], columns=name))


def test_what_is_no_frame_is_refused():
    given: Any = [[1, 2], [datetime.date(2020, 1, 1)]]
    with pytest.raises(BadInput, match="not a data frame"):
        columns_of(given)
