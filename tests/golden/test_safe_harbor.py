"""Safe Harbor's identifiers (45 CFR 164.514(b)(2)): PE-43 to PE-45, and a table and its release."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.data.roles.safe_harbor import free_texts, is_card, is_iban, is_vin, safe_harbor
from anon_core.data.table import Dataset

CELLS = (
    *(("zip", "90210", True), ("zip", "902", False), ("zip", "036", True), ("zip", "000", False)),
    *(("age", "89", False), ("age", "90", True), ("age", "90+", False)),
    *(("date", "2024-03-05", True), ("date", "2024-03", True), ("date", "2024", False)),
    *(("birth year", "1936", True), ("birth year", "1937", False)),
    *(("email", "a@b.org", True), ("ip", "2001:db8::1", True), ("ssn", "123-45-6789", True)),
    *(("phone", "+1 202 555 0143", True), ("url", "https://example.org/a", True)),
    *(("vin", "1M8GDM9AXKP042788", True), ("vin", "1M8GDM9A1KP042788", False)),
    ("state", "CA", False),
)


@pytest.mark.parametrize(("what", "cell", "stays"), CELLS)
def test_pe_43_cells_that_stay_an_identifier(what: str, cell: str, stays: bool) -> None:
    header = what.replace(" ", "_") if what in ("zip", "age", "birth year") else "v"
    assert bool(found(**{header: [cell]})) == stays


def test_pe_43_the_list_of_small_areas_can_be_replaced() -> None:
    table = Dataset.from_frame(pd.DataFrame({"zip": ["036", "902"]}))
    (kind,) = (k for k in safe_harbor(table, year=2026, small_areas=["902"]) if k.letter == "B")
    assert [column.share for column in kind.columns] == [0.5]
    assert not found(zip=["902"])


def found(**columns: list[str]) -> dict[str, list[str]]:
    """Return the columns that are found, by the letter of the kind."""
    kinds = safe_harbor(Dataset.from_frame(pd.DataFrame(columns, dtype=object)), year=2026)
    assert [k.letter for k in kinds] == list("ABCDEFGHIJKLMNOPQR")
    assert [k.letter for k in kinds if k.state == "cannot be seen"] == list("PQR")
    return {k.letter: [c.column for c in k.columns] for k in kinds if k.state == "found"}


@pytest.mark.parametrize(
    ("cells", "letters"),
    [
        (["90210", "10001"], ["B"]),
        (["+1 202 555 0143"], ["D"]),
        (["1M8GDM9AXKP042788"], ["L"]),
        (["1", "2", "3"], []),
        (["34", "51", "89"], []),  # ages up to 89 may stay
        (["192.168.0.1"], ["O"]),
        (["4111111111111111", "5500000000000004"], ["J"]),
        (["4111111111111112"], []),
        (["2.5", "3"], []),
    ],
)
def test_pe_44_columns_are_found_by_their_values(cells: list[str], letters: list[str]) -> None:
    assert list(found(v=cells)) == letters


def test_pe_45_check_digits() -> None:
    vins = "1M8GDM9AXKP042788", "11111111111111111", "1M8GDM9AXKP04278I"
    assert [is_vin(cell) for cell in vins] == [True, True, False]
    assert [is_card(c) for c in ("4111111111111111", "4111111111111112")] == [True, False]
    ibans = "DE89370400440532013000", "DE89370400440532013001"
    assert [is_iban(cell) for cell in ibans] == [True, False]


def test_a_header_names_the_kind_and_the_cells_decide() -> None:
    raw = found(
        patient_name=["A B"], zip=["90210"], age=["91"], birth_year=["1930"], seen=["2024-03-05"]
    )
    assert raw == {"A": ["patient_name"], "B": ["zip"], "C": ["age", "birth_year", "seen"]}
    # A header 'zip' is no address of the Internet, and '90+', three digits and years may stay.
    assert found(zip=["902"], age=["90+"], birth_year=["1950"], seen=["2024"]) == {}


def test_the_command_lists_all_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("email,zip\na@b.org,902\nc@d.org,036\n", encoding="utf-8")
    assert main(["safe-harbor", "--data", str(path), "--year", "2026", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["year"], len(printed["kinds"])) == (2026, 18)
    by_letter = {kind["letter"]: kind for kind in printed["kinds"]}
    assert by_letter["F"]["columns"] == [{"column": "email", "by": "values", "share": 1.0}]
    assert by_letter["B"]["columns"] == [{"column": "zip", "by": "header", "share": 0.5}]
    assert by_letter["P"]["state"] == "cannot be seen"
    assert main(["safe-harbor", "--data", str(path), "--small-areas", "902"]) == 0
    said = capsys.readouterr().out
    assert "F. E-mail addresses: found: email (by values, 100% of values)" in said
    assert "Q. Photographs of a face: cannot be seen" in said


def test_names_are_found_by_their_values_and_free_texts_may_hold_any_kind() -> None:
    names = ["Anna Becker", "Jonas Weber", "Weiß, Clara", "Paul Koch", "Nina Wolf"]
    assert found(Patient=names, **{"Patient ID": list("12345"), "Nachname": list("abcde")}) == {
        "A": ["Patient", "Nachname"],
        "H": ["Patient ID"],
    }
    said = "came with strong pain two days ago and asked for the same drug again"
    table = pd.DataFrame({"v": [f"{said} {n}" for n in range(30)], "zip": ["90210"] * 30})
    kinds = safe_harbor(Dataset.from_frame(table), year=2026)
    assert {k.state for k in kinds if k.letter != "B"} == {"cannot be seen"}
    assert free_texts(Dataset.from_frame(table)) == ("v",)
