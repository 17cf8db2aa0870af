"""Promises that cannot be meant, on the command line: place, what is allowed, found, remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.base.registry import family

RECIPE = """version = 2
[types]
zip = "text"
age = "number"
[roles]
quasi = ["zip", "age"]
sensitive = ["ill"]
identifier = ["own", "guard"{also}]
[algorithm]
name = "optimal"
{tables}[[models]]
name = "{model}"
{promise}
"""
#: Numbers that nobody can mean for any parameter but those listed.
BAD = ("-3", "nan", "inf", "-inf", "1e400")
NUMBERS = [
    (model, p.name, p.allowed(), value)
    for model, kind in family("model").items()
    for p in kind.parameters()
    if p.kind in ("integer", "number")
    for value in BAD
]
#: Bounds that are just beyond.
BEYOND = [
    ("l-diversity", "l", "0"),
    ("frequency-l-diversity", "l", "0"),
    ("entropy-l-diversity", "l", "0"),
    ("recursive-l-diversity", "l", "0"),
    ("recursive-l-diversity", "c", "0"),
    ("slicing-l-diversity", "l", "0"),
    ("t-closeness", "t", "2"),
    ("alpha-k-anonymity", "alpha", "2"),
    ("maximum-risk", "risk", "0"),
    ("delta-disclosure", "delta", "0"),
    ("beta-likeness", "beta", "0"),
    ("background-bound", "factor", "0"),
    ("delta-presence", "delta_max", "2"),
    ("differential-privacy", "epsilon", "0"),
]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{100 + i % 3},{20 + i % 4},{'abcd'[i % 4]},{1 + i % 2},x" for i in range(12)]
    (tmp_path / "table.csv").write_text("\n".join(["zip,age,ill,own,guard", *rows]) + "\n")
    people = [f"{100 + i % 3},{20 + i % 4}" for i in range(24)]
    (tmp_path / "people.csv").write_text("\n".join(["zip,age", *people]) + "\n")
    (tmp_path / "few.csv").write_text("zip,age\n100,20\n")
    (tmp_path / "narrow.csv").write_text("zip\n" + "100\n" * 24)
    (tmp_path / "ill.csv").write_text("a;v;*\nb;v;*\nc;w;*\nd;w;*\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(capsys, model: str, promise: str = "", *, tables: str = "", also: str = "") -> str:
    """Run a recipe that is refused, and return what is said of it."""
    text = RECIPE.format(model=model, promise=promise, tables=tables, also=also)
    Path("recipe.toml").write_text(text)
    assert main(["run", "recipe.toml", "--data", "table.csv", "--out", "release"]) == 1
    assert not Path("release").exists()
    return capsys.readouterr().err


@pytest.mark.parametrize(("model", "parameter", "value"), BEYOND)
def test_a_bound_beyond_is_told_with_what_is_allowed(desk, capsys, model, parameter, value) -> None:
    declared = next(p for p in family("model")[model].parameters() if p.name == parameter)
    said = refusal(capsys, model, f"{parameter} = {value}")
    assert f"{model}: parameter '{parameter}'" in said
    assert declared.allowed() in said
    assert value in said
    assert f"Set '{parameter}' to" in said


def test_what_is_no_number_of_any_use_is_told_for_every_promise(desk, capsys) -> None:
    for model, parameter, allowed, value in NUMBERS:
        said = refusal(capsys, model, f"{parameter} = {value}")
        assert f"{model}: parameter '{parameter}'" in said, (model, parameter, value)
        assert allowed in said


@pytest.mark.parametrize("model", family("model"))
def test_a_sensitive_column_that_is_an_identifier_is_told(desk, capsys, model) -> None:
    said = refusal(capsys, model, also=', "ill"')
    assert "'ill' is an identifier and also sensitive" in said
    assert "give the column one of the two roles" in said


@pytest.mark.parametrize("model", ["k-map", "delta-presence"])
@pytest.mark.parametrize(
    ("people", "words"),
    [
        ("narrow.csv", ("population table has no 'age'", "remove the model")),
        ("few.csv", ("1 person, but the table has 12 rows", "Give the size")),
        ("", ("needs a public table", "under [population] file")),
    ],
)
def test_a_public_table_that_cannot_be_one_is_told(desk, capsys, model, people, words) -> None:
    tables = f'[population]\nfile = "{people}"\n' if people else ""
    said = refusal(capsys, model, tables=tables)
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("", ("needs the hierarchy of 'ill'", "under [hierarchies] 'ill'")),
        ('[hierarchies]\nill = "ill.csv"\n', ("12 guards in 'guard'", "no node", "row 1")),
    ],
)
def test_a_guard_that_is_no_node_is_told(desk, capsys, tables, words) -> None:
    guard = 'column = "guard"\nlevel = "guard"\nsensitive = "ill"'
    said = refusal(capsys, "personalized", guard, tables=tables)
    for word in words:
        assert word in said


@pytest.mark.parametrize("model", ["k-e-anonymity", "epsilon-m-anonymity"])
def test_a_promise_about_numbers_is_told_of_other_columns(desk, capsys, model) -> None:
    said = refusal(capsys, model)
    assert "is about numbers; 'ill' is a column of another kind" in said
    assert "Name a sensitive column of numbers" in said
