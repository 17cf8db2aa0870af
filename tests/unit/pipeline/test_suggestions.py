"""Suggestions where headers say little: by signs of types, by values, by shipped lists."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_core.data.roles.suggestions import suggested
from anon_core.data.table import Dataset
from tests.unit.data.test_findings import STAYS


@pytest.mark.parametrize(
    ("name", "values", "role", "why"),
    [
        ("isex", ["0", "1"], "quasi", "like 'sex'"),
        ("irace", ["1", "2", "3", "7"], "quasi", "like 'race'"),
        ("dincome", ["0", "1", "2"], "sensitive", "like 'income'"),
        ("sex1", ["0", "1"], "quasi", "like 'sex'"),
        ("v3", ["White", "Black", "Asian-Pac-Islander", "Other"], "quasi", "races"),
        ("v4", ["Peru", "Chile", "Mali", "Cuba"], "quasi", "4 of its 4 values are in the shipped"),
        ("v5", ["Private", "Federal-gov", "Self-emp-inc"], "quasi", "classes of workers"),
        ("q7", ["yes", "no"], "undecided", "No suggestion"),
        ("page", ["1", "2"], "undecided", "No suggestion"),
    ],
)
def test_headers_that_say_little(name: str, values: list[str], role: str, why: str) -> None:
    (one,) = suggested(Dataset.from_frame(pd.DataFrame({name: values * 20}, dtype=object)))
    assert one.role == role
    assert why in one.reason


def test_stays_of_patients() -> None:
    found = {one.name: one for one in suggested(STAYS)}
    roles = {name: one.role for name, one in found.items()}
    assert roles == {
        "patient": "person",
        "name": "identifier",
        "age": "quasi",
        "note": "left_out",
        "admitted": "quasi",
        "cost": "identifier",
        "ward": "undecided",
    }
    assert found["note"].reason.startswith("10 of 40 rows of 'note' hold words of 'name'")


@pytest.mark.parametrize(
    ("name", "values", "role", "why"),
    [
        (
            "Age of the person at the day of the interview",
            [*map(str, range(20, 60))],
            "quasi",
            "age",
        ),
        ("ZIP_CODE_OF_THE_RESIDENCE_OF_THE_PERSON", ["80331", "80333"], "quasi", "zip"),
        ("Country in which the first passport was issued", ["Peru", "Mali"], "quasi", "country"),
        (
            "Diagnosis at discharge, with the text of the catalogue",
            ["a b", "c d"],
            "sensitive",
            "di",
        ),
        ("Monthly income of the household before taxes", ["1200", "900"], "sensitive", "income"),
        ("Number of the person in the register of residents", ["17", "18"], "person", "several"),
        ("Name of the ward to which the patient was admitted", [*"ABABAB"], "quasi", "name"),
        ("Alter der versicherten Person am Tag der Befragung", ["30", "41"], "quasi", "alter"),
        (
            "Salaire du patient en euros par mois de travail",
            ["1200", "900"],
            "sensitive",
            "salaire",
        ),
        ("Remarks of the interviewer on the course of it", ["fine", "long"], "left_out", "remarks"),
        (
            "Telephone at which the person is reached by day",
            ["a1", "b2"],
            "identifier",
            "telephone",
        ),
    ],
)
def test_long_names_say_it_first(name: str, values: list[str], role: str, why: str) -> None:
    (one,) = suggested(Dataset.from_frame(pd.DataFrame({name: values * 20}, dtype=object)))
    assert (one.role, why in one.reason) == (role, True), one.reason


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("balance", [*map(str, range(-40, 40, 3))], "sensitive"),
        ("amount", [*map(str, range(-40, 4000, 31))], "quasi"),
        ("amount", [str(7 + 31 * n) for n in range(99)] * 2, "undecided"),
        ("file", [*map(str, range(70_100, 70_199))], "identifier"),
        ("Nettoeinkommen", ["900", "1200"], "sensitive"),
        ("Hauptdiagnose", ["Asthma", "Gicht"], "sensitive"),
        ("Kreis", ["Erding", "Freising"], "quasi"),
        ("score_text", ["low", "high"], "sensitive"),
        ("shop_text", ["low", "high"], "undecided"),
        ("num_calls", [*map(str, range(1, 60))] * 2, "undecided"),
    ],
)
def test_amounts_are_no_keys_and_categories_no_texts(
    name: str, values: list[str], role: str
) -> None:
    times = 1 if len(values) > 30 else 60
    (one,) = suggested(Dataset.from_frame(pd.DataFrame({name: values * times}, dtype=object)))
    assert one.role == role, one.reason
