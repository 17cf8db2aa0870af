"""Several rows about one person, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anon_core.__main__ import main

RECIPE = """\
version = 2
[types]
age = "text"
[roles]
person = "patient_id"
quasi = ["age"]
sensitive = ["illness"]
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
k = 4
"""
ILLNESSES = ("flu", "cold", "gout")
TABLE = "\n".join(
    [
        "patient_id,age,illness",
        *(
            f"p{i // 3:02},{20 if i < 12 else 40},{['flu', 'cold', 'gout'][i % 3]}"
            for i in range(24)
        ),
    ]
)


def test_a_run_counts_people_and_verify_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, table, out = tmp_path / "plan.toml", tmp_path / "stays.csv", tmp_path / "out"
    recipe.write_text(RECIPE, encoding="utf-8")
    table.write_text(TABLE + "\n", encoding="utf-8")
    run = ["run", str(recipe), "--data", str(table), "--out", str(out)]
    verify = ["verify", str(recipe), "--data", str(table), "--release", str(out)]
    assert main([*run, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["rows"], printed["people"], printed["published_people"]) == (24, 8, 8)
    assert (printed["smallest_class"], printed["smallest_class_people"]) == (12, 4)
    assert printed["unique_people_over_all_columns"] == 0
    assert printed["models"][0]["value"] == 4
    assert (out / "release.csv").read_text(encoding="utf-8").splitlines()[0] == "age,illness"
    assert main(verify) == 0
    assert "k = 4 people holds (fewest people in a class 4)" in capsys.readouterr().out
    # Twelve rows in every class, and too few people for k = 5.
    recipe.write_text(RECIPE.replace("k = 4", "k = 5"), encoding="utf-8")
    assert main(verify) != 0
    assert "k = 5 people is broken in 2 classes" in capsys.readouterr().out
    assert main(run) == 0
    assert "24 rows of 8 people written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('person = ["patient_id"]', "person is not the name of a column"),
        ('person = "patient"', "patient"),
        ('person = "age"', "identifies persons and is also quasi-identifier"),
    ],
)
def test_a_person_column_that_is_none_is_refused(
    change: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, table = tmp_path / "plan.toml", tmp_path / "stays.csv"
    recipe.write_text(RECIPE.replace('person = "patient_id"', change), encoding="utf-8")
    table.write_text(TABLE + "\n", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["run", str(recipe), "--data", str(table), "--out", str(out)]) != 0
    assert said in capsys.readouterr().err
    assert not out.exists()
