"""Roles: contradictions are refused, everything not named is left out."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_core.base.errors import BadInput, BadPlan
from anon_core.data.roles.header_words import words_of
from anon_core.data.roles.roles import Roles
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.table import Dataset

TABLE = Dataset.from_frame(
    pd.DataFrame(
        {"name": ["x", "y"], "age": [1, 2], "zip": [3, 4], "pay": [5, 6], "cat": ["a", "b"]}
    )
)


@pytest.mark.parametrize("role", ["identifier", "quasi", "sensitive", "insensitive"])
def test_a_column_twice_in_a_role(role: str) -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(**{role: ("age", "zip", "age")})
    assert f"Role {role}" in caught.value.message
    assert "'age'" in caught.value.message
    assert "'zip'" not in caught.value.message
    assert "once" in caught.value.remedy


@pytest.mark.parametrize(
    ("role", "word"),
    [("quasi", "quasi-identifier"), ("sensitive", "sensitive"), ("insensitive", "insensitive")],
)
def test_an_identifier_is_nothing_else(role: str, word: str) -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(identifier=("name", "age"), **{role: ("age",)})
    assert "'age'" in caught.value.message
    assert word in caught.value.message
    assert "removed from the release" in caught.value.remedy


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
def test_an_insensitive_column_is_nothing_else(role: str) -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(insensitive=("name", "age"), **{role: ("age",)})
    assert "Column 'age' is insensitive" in caught.value.message
    assert role in caught.value.message
    assert "published as it is" in caught.value.remedy


def test_people_of_one_household_count_as_one() -> None:
    roles = Roles(quasi=("age",), person="name", household="cat")
    roles.check(TABLE)
    assert roles.unit == "cat"
    assert roles.hidden == ("name", "cat")
    assert roles.published(TABLE) == ("age",)
    with pytest.raises(BadInput, match="1 person of 'cat' has several households in 'name'"):
        Roles(quasi=("age",), person="cat", household="name").check(
            Dataset.from_frame(pd.DataFrame({"age": [1, 2], "cat": ["a", "a"], "name": ["x", "y"]}))
        )
    for wrong in ({"person": "cat"}, {"identifier": ("cat",)}, {"quasi": ("cat",)}):
        with pytest.raises(BadPlan):
            Roles(household="cat", **wrong)


def test_quasi_and_sensitive_may_coincide() -> None:
    roles = Roles(quasi=("age",), sensitive=("age",))
    assert roles.of("age") == ("quasi", "sensitive")


def test_no_quasi_identifier() -> None:
    with pytest.raises(BadPlan) as caught:
        Roles(sensitive=("pay",)).check(TABLE)
    assert "No column is marked as quasi-identifier" in caught.value.message
    assert "Mark at least one" in caught.value.remedy


@pytest.mark.parametrize("role", ["identifier", "quasi", "sensitive", "insensitive"])
def test_a_column_that_is_not_there(role: str) -> None:
    with pytest.raises(BadInput) as caught:
        Roles(**{role: ("agee",)}).check(TABLE)
    assert "'agee'" in caught.value.message
    assert "Did you mean 'age'?" in caught.value.remedy


def test_what_each_column_is() -> None:
    roles = Roles(identifier=("name",), quasi=("zip", "age"), sensitive=("pay",))
    roles.check(TABLE)
    assert [roles.of(n) for n in TABLE.names] == [
        ("identifier",),
        ("quasi",),
        ("quasi",),
        ("sensitive",),
        (),
    ]
    assert roles.exact(TABLE) == ()
    assert roles.left_out(TABLE) == ("cat",)
    assert roles.published(TABLE) == ("age", "zip", "pay")


def test_only_what_is_named_insensitive_is_published_as_it_is() -> None:
    roles = Roles(quasi=("zip",), insensitive=("cat", "age"))
    assert roles.of("cat") == ("insensitive",)
    assert roles.exact(TABLE) == ("age", "cat")
    assert roles.left_out(TABLE) == ("name", "pay")
    assert roles.published(TABLE) == ("age", "zip", "cat")


def test_capitals_before_a_word_are_one_of_their_own() -> None:
    names = ("IPAddress", "HIVStatus", "PatientID", "IDs", "iAge", "HbA1c", "DOB")
    assert [words_of(name) for name in names] == [
        ["ip", "address"], ["hiv", "status"], ["patient", "id"], ["ids"], ["i", "age"],
        ["hb", "a1c"], ["dob"],
    ]  # fmt: skip


def test_numbers_of_persons_that_repeat_and_what_people_keep_private() -> None:
    """Of several rows about one person no column is a key: the name has to say it."""
    numbered = [f"{40_000 + row % 30 * 7}" for row in range(150)]
    amounts = [f"{1200 + row * 37 % 4001}" for row in range(150)]
    few = [f"{row * 7 % 45}" for row in range(150)]
    hidden = ("Kontonummer", "Personalnummer", "Matrikelnr", "IMSI", "IPAddress", "caller", "IPP")
    private = ("Monatsnetto", "Kreditscore", "Schulden", "Bruttogehalt", "netto")
    sick = ("Fehltage", "sick_days", "Krankheitstage", "HIVStatus")
    columns = {**dict.fromkeys(hidden, numbered), **dict.fromkeys(private, amounts)}
    table = Dataset.from_frame(pd.DataFrame({**columns, **dict.fromkeys(sick, few)}))
    found = {one.name: one.role for one in suggest_roles(table)}
    assert {found[name] for name in hidden} == {"identifier", "person"}
    assert {found[name] for name in (*private, *sick)} == {"sensitive"}


def test_what_is_said_of_persons_is_no_number_of_theirs() -> None:
    """A patient's age was suggested as the column whose values are the people."""
    known = ("patient_age", "Patient Age", "customer zip", "PatientPLZ", "pat_gebjahr")
    private = ("insured_income", "client score", "user_rating", "employee salary", "hh_income")
    counted = ("number of patients", "n_persons", "hh_size", "pers_tax", "member since")
    theirs = ("customer", "patient code", "Patient number", "subject_id", "person 1", "Kunden-Nr")
    ages = [f"{20 + row * 7 % 61}" for row in range(240)]
    table = pd.DataFrame(dict.fromkeys((*known, *private, *counted, *theirs), ages))
    found = {one.name: one.role for one in suggest_roles(Dataset.from_frame(table))}
    assert {found[name] for name in known} == {"quasi"}
    assert {found[name] for name in private} == {"sensitive"}
    assert {found[name] for name in counted} <= {"undecided", "quasi"}
    assert {found[name] for name in theirs} == {"identifier", "person"}


def test_columns_of_many_trades_are_known_by_their_names() -> None:
    few = ["a", "b", "c", "d"] * 20
    known = (
        "ageband", "Altersgruppe", "Office", "Abteilung", "Situation familiale", "Housing",
        "Branch", "Klasse", "Schule",
        "Muttersprache", "Location", "Cell tower", "geschl", "bula", "Provincia", "edu_level",
        "Titolo di studio", "occ_code", "eye color", "Arbeitgeber", "migrationshintergrund",
    )  # fmt: skip
    private = (
        "Performance rating", "Bonus %", "Steuerklasse", "Blood type", "Systolic", "Absences",
        "Default", "Förderbedarf", "GPA", "Free lunch", "Sentence months", "hheink",
        "wahlabsicht", "gesundheitszustand", "sexuelle_orientierung", "Total charges",
    )  # fmt: skip
    table = pd.DataFrame(dict.fromkeys((*known, *private), few))
    found = {one.name: one.role for one in suggest_roles(Dataset.from_frame(table))}
    assert {found[name] for name in known} == {"quasi"}
    assert {found[name] for name in private} == {"sensitive"}


def test_a_few_long_categories_are_no_free_text_and_words_are_no_telephone() -> None:
    """As a census asks: who has moved, and when somebody leaves for work."""
    rows = 2400
    moved = ["No, different house in US", "No, outside US", "Yes, same house (nonmovers)"]
    leaves = [f"{hour}:00 a.m. to {hour}:29 a.m. on most days of a week" for hour in range(1, 13)]
    columns = {
        "Mobility status": [moved[n % 3] for n in range(rows)],
        "Phone type": [("Android", "iPhone", "none")[n % 3] for n in range(rows)],
        "Time of departure": [leaves[n % 12] for n in range(rows)],
        "Self-care difficulty": [("Yes", "No")[n % 2] for n in range(rows)],
        "Surname": [("Smith", "Jones", "Brown", "Miller")[n % 4] for n in range(rows)],
        "Doctor": [("Smith", "Jones", "Brown")[n % 3] for n in range(rows)],
        "Phone": [f"555-{n % 90:04}" for n in range(rows)],
    }
    found = suggest_roles(Dataset.from_frame(pd.DataFrame(columns)))
    roles = {one.name: one.role for one in found}
    assert {roles[n] for n in ("Surname", "Doctor", "Phone")} == {"identifier"}
    assert roles["Mobility status"] == roles["Time of departure"] == "undecided"
    assert roles["Self-care difficulty"] == "sensitive"
    assert roles["Phone type"] != "identifier"
