"""What is found of columns that are published as they are."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_core.data.roles.findings import findings
from anon_core.data.roles.redaction import holding_names, without_names, words_of_names
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.verification.rows import recipe_changes as second

ROWS = 40
FIRST = ("Ada", "Bo", "Cleo", "Dora", "Emil", "Finn", "Gerda", "Hugo")
NAMES = [f"{FIRST[i % 8]} Sand{chr(97 + i % 20)}berg" for i in range(ROWS)]
NOTES = [
    f"seen with {NAMES[i]} on the ward, {i} pills" if i % 4 == 0 else f"seen on the ward, {i} pills"
    for i in range(ROWS)
]
#: Stays in hospital: 25 patients, with notes that name some of them.
STAYS = Dataset.from_frame(
    pd.DataFrame(
        {
            "patient": [f"P-{10000 + i % 25}" for i in range(ROWS)],
            "name": NAMES,
            "age": [str(20 + i % 5) for i in range(ROWS)],
            "note": NOTES,
            "admitted": [f"{1 + i % 28:02d}/03/2024" for i in range(ROWS)],
            "cost": [str(1000 + 7 * i) for i in range(ROWS)],
            "ward": [("A", "B")[i % 2] for i in range(ROWS)],
        },
        dtype=object,
    )
)


def found(**roles: tuple[str, ...] | str) -> dict[tuple[str, str], int]:
    given = Roles(quasi=("age",), **roles)
    return {(one.column, one.what): one.rows for one in findings(STAYS, given)}


def test_what_leads_to_people_is_found_with_its_rows() -> None:
    every = found(identifier=("name", "patient"), insensitive=("note", "admitted", "cost", "ward"))
    assert every == {
        ("patient", "repeats"): 30,
        ("note", "unique"): 40,
        ("note", "text"): 40,
        ("note", "names"): 10,
        ("admitted", "day"): 40,
        ("cost", "unique"): 40,
    }


def test_what_is_not_published_as_it_is_is_not_asked_about() -> None:
    assert found(identifier=("name",), person="patient", sensitive=("ward",)) == {}
    assert ("note", "names") in found(identifier=("name",), sensitive=("note",))
    coarser = findings(
        STAYS, Roles(identifier=("name",), quasi=("age",), sensitive=("note",)), ["note"]
    )
    assert coarser == ()


def test_sentences_hold_no_value_of_the_table() -> None:
    roles = Roles(identifier=("name",), quasi=("age",), insensitive=("note", "admitted", "cost"))
    text = " ".join(f"{one.sentence} {one.remedy}" for one in findings(STAYS, roles))
    assert "10 of 40 rows of 'note' hold words of 'name'" in text
    assert not any(word in text for word in ("Sandaberg", "Ada", "03/2024", "1007"))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ada came", "[redacted] came"),
        ("ada came", "ada came"),
        ("saw ada  sandaberg", "saw [redacted]  [redacted]"),
        ("SANDABERG's chart", "[redacted]'s chart"),
        ("Sandaberg/Ada; P-10003, 4", "[redacted]/[redacted]; P-[redacted], 4"),
        ("Adam and the ward", "Adam and the ward"),
    ],
)
def test_names_are_redacted_alike_by_both_computations(text: str, kept: str) -> None:
    values = ["Ada Sandaberg", "Bo Poe", "Cleo Lee", "Dora Dam", "Emil Ash", "P-10003"]
    names = words_of_names(values)
    assert without_names(text, names) == kept
    assert holding_names([text, ""], names).tolist() == [kept != text, False]
    twin = second._names_of(set(values))
    assert twin == names
    assert second._hide(text, twin) == kept


def test_a_word_that_many_values_share_tells_nobody_apart() -> None:
    streets = [f"{n} {name} Street" for n, name in enumerate(("Elm", "Oak", "Ash", "Fir", "Yew"))]
    assert words_of_names(streets) == {"elm", "oak", "ash", "fir", "yew"}
    assert second._names_of(set(streets)) == words_of_names(streets)


def test_people_of_one_address_are_no_person_with_several_rows() -> None:
    frame = pd.DataFrame(
        {
            "home": [f"Gartenweg {n % 60}" for n in range(100)],
            "number": [f"K-{n % 60:04}" for n in range(100)],
        }
    )
    roles = Roles(identifier=("home", "number"))
    found = findings(Dataset.from_frame(frame), roles)
    assert [one.column for one in found if one.what == "repeats"] == ["number"]
