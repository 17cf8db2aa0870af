"""Hierarchy files are matched to columns by name, and nothing is guessed."""

from __future__ import annotations

from anon_core.data.hierarchy.files.level_files import match_files


def test_names_as_projects_write_them() -> None:
    files = ["adult_hierarchy_native-country.csv", "Age.csv", "sex-hierarchy.csv", "race (2).csv"]
    found = match_files(files, ["age", "sex", "race", "native-country", "income"])
    assert found.files == {
        "age": "Age.csv",
        "sex": "sex-hierarchy.csv",
        "native-country": "adult_hierarchy_native-country.csv",
    }
    assert found.left == ("race (2).csv",)
    assert not found.unclear


def test_the_own_name_comes_before_a_longer_one() -> None:
    found = match_files(["age_hierarchy.csv", "age.csv"], ["age"])
    assert found.files == {"age": "age.csv"}
    assert found.left == ("age_hierarchy.csv",)


def test_what_several_fit_is_not_taken() -> None:
    found = match_files(["age.csv", "age.txt"], ["age"])
    assert not found.files
    assert found.unclear == {"age": ("age.csv", "age.txt")}
    found = match_files(["zip_code.csv"], ["zip-code", "zipcode"])
    assert not found.files
    assert set(found.unclear) == {"zip-code", "zipcode"}
    assert match_files(["a-b.csv"], ["a-b", "ab"]).files == {"a-b": "a-b.csv"}


def test_a_column_without_a_letter_takes_no_file() -> None:
    assert match_files(["_hierarchy_.csv", "hierarchy.csv"], ["-"]).files == {}
