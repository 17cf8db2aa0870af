"""A folder of hierarchies: each file is its column's, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadHierarchy
from anon_core.recipe.hierarchy_folder import with_names
from anon_core.recipe.plan import Plan, read_plan
from anon_core.verification.files.recipe_files import columns_named, files_of_folder
from ui.state.loading import named_among

RECIPE = """
[roles]
identifier = ["name"]
quasi = ["Age", "ZIP-code", "sex"]
sensitive = ["illness"]
[hierarchies]
sex = "own.csv"
"*" = "levels"
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
k = 2
"""
LEVELS = {"age": "30;30-39;*\n31;30-39;*\n", "zip": "10;1*;*\n11;1*;*\n", "sex": "f;*\nm;*\n"}
TABLE = "name;Age;ZIP-code;sex;illness\n" + "a;30;10;f;x\nb;31;10;f;y\nc;30;11;m;x\nd;31;11;m;y\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "levels").mkdir()
    (tmp_path / "levels" / "my_hierarchy_age.csv").write_text(LEVELS["age"])
    (tmp_path / "levels" / "zip code.csv").write_text(LEVELS["zip"])
    (tmp_path / "levels" / "README.md").write_text("Where these come from.")
    (tmp_path / "own.csv").write_text(LEVELS["sex"])
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


def test_files_go_to_their_columns_and_the_release_verifies(place: Path) -> None:
    found = read_plan(place / "recipe.toml").hierarchies
    assert found == {
        "Age": "levels/my_hierarchy_age.csv",
        "ZIP-code": "levels/zip code.csv",
        "sex": "own.csv",
    }
    given = ["run", str(place / "recipe.toml"), "--data", str(place / "table.csv")]
    assert main([*given, "--out", str(place / "out")]) == 0
    given[0] = "verify"
    assert main([*given, "--release", str(place / "out")]) == 0


@pytest.mark.parametrize(
    ("file", "why"),
    [("aeg.csv", "no column with a role is named like 'aeg.csv'"), ("AGE.csv", "")],
)
def test_a_file_that_fits_none_is_refused(place: Path, file: str, why: str) -> None:
    (place / "levels" / file).write_text(LEVELS["age"])
    with pytest.raises(BadHierarchy, match=why or "named like 'my_hierarchy_age.csv'"):
        read_plan(place / "recipe.toml")


def test_two_files_for_one_column_and_an_empty_folder_are_refused(place: Path) -> None:
    (place / "levels" / "age_hierarchy.csv").write_text(LEVELS["age"])
    with pytest.raises(BadHierarchy, match=r"'age_hierarchy.csv', 'my_hierarchy_age.csv' may be"):
        read_plan(place / "recipe.toml")
    with pytest.raises(BadHierarchy, match="fits no column, or several"):
        files_of_folder(place / "levels", columns_named(Plan.from_toml(RECIPE).as_mapping()))
    for one in (place / "levels").iterdir():
        one.unlink()
    with pytest.raises(BadHierarchy, match="holds no hierarchy"):
        read_plan(place / "recipe.toml")
    (place / "levels").rmdir()
    with pytest.raises(BadHierarchy, match="cannot be read"):
        read_plan(place / "recipe.toml")


@pytest.mark.parametrize(
    "names",
    [
        ["age.csv", "zip-code.csv", "sex.csv"],
        ["Age.csv", "x_hierarchy_zip_code.txt", "hierarchies_illness.csv", "name.csv"],
        ["adult hierarchy age.csv"],
    ],
)
def test_both_computations_match_alike(tmp_path: Path, names: list[str]) -> None:
    plan = Plan.from_toml(RECIPE.replace('sex = "own.csv"\n', ""))
    for name in names:
        (tmp_path / name).write_text("x")
    other = files_of_folder(tmp_path, columns_named(plan.as_mapping()))
    coarser = {*plan.roles.quasi, *plan.roles.sensitive}
    assert with_names(plan.hierarchies, plan.roles, names) == {
        column: f"levels/{path.name}" for column, path in other.items() if column in coarser
    }


def test_pages_take_what_a_zip_has_in_the_folder_or_what_was_chosen() -> None:
    plan = Plan.from_toml(RECIPE)
    inside = ["levels/age.csv", "own.csv", "table.csv"]
    assert set(named_among(plan, inside).hierarchies) == {"Age", "sex"}
    neighbours = ["zip-code.csv", "own.csv", "table.csv"]
    assert set(named_among(plan, neighbours).hierarchies) == {"ZIP-code", "sex"}
