"""The command ``table``: a recipe and rows become a protected table, the same bytes each time."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from anon_core.__main__ import main
from tests.tabulated import CHILDREN

RECIPE = """
seed = "{seed}"
[table]
columns = ["education", "race"]
[[rules]]
name = "threshold"
n = 3
[reader]
single_respondents = false
"""


def written(folder: Path, recipe: str) -> tuple[Path, Path]:
    with open(folder / "rows.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(CHILDREN)
        out.writerows(zip(*CHILDREN.values(), strict=True))
    place = folder / "recipe.toml"
    place.write_text(recipe.replace("{seed}", "0123456789abcdef" * 4))
    return place, folder / "rows.csv"


def test_the_same_recipe_gives_the_same_bytes(tmp_path: Path) -> None:
    recipe, rows = written(tmp_path, RECIPE)
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        assert main(["table", str(recipe), "--data", str(rows), "--out", str(out)]) == 0
    names = ["table.csv", "table.xlsx", "about.json", "internal/report.json"]
    for name in names:
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()
    with open(outs[0] / "table.csv", newline="") as file:
        cells = {(row["education"], row["race"]): row["count"] for row in csv.DictReader(file)}
    assert cells["Total", "Total"] == "20"
    hidden = {cell for cell, text in cells.items() if text == "×"}
    assert len(hidden) == 9
    assert {("high", "Total"), ("low", "black"), ("low", "white")} <= hidden
    assert stat.S_IMODE((outs[0] / "internal" / "report.json").stat().st_mode) == 0o600
    report = json.loads((outs[0] / "internal" / "report.json").read_text())
    assert report["suppression"]["cost"] == report["suppression"]["bound"] == 18
    assert [check["holds"] for check in report["recomputed"]] == [True] * 4
    assert "primary" not in (outs[0] / "about.json").read_text()


def test_a_completed_recipe_gives_the_same_table(tmp_path: Path) -> None:
    recipe, rows = written(tmp_path, RECIPE + '[protect]\nmethod = "random-rounding"\nbase = 3\n')
    main(["table", str(recipe), "--data", str(rows), "--out", str(tmp_path / "one")])
    again = tmp_path / "one" / "internal" / "recipe.toml"
    assert main(["table", str(again), "--data", str(rows), "--out", str(tmp_path / "two")]) == 0
    one, two = ((tmp_path / n / "table.csv").read_bytes() for n in ("one", "two"))
    assert one == two
    assert all(int(line.rpartition(b",")[2]) % 3 == 0 for line in one.splitlines()[1:])


@pytest.mark.parametrize("method", ["adjust", "optimal", "random-rounding"])
def test_a_text_that_stands_for_a_missing_value_is_one_for_both_computations(
    tmp_path: Path, method: str
) -> None:
    place, rows = written(tmp_path, RECIPE + f'[protect]\nmethod = "{method}"\n')
    rows.write_text(rows.read_text().replace("medium", "?"))
    out = tmp_path / "out"
    assert main(["table", str(place), "--data", str(rows), "--out", str(out)]) == 0
    assert "(missing),Total," in (out / "table.csv").read_text()
    report = json.loads((out / "internal" / "report.json").read_text())
    assert all(check["holds"] for check in report["recomputed"])


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ('[table]\ncolumns = ["education", "rase"]\n', "There is no column 'rase'"),
        ("[table]\ncolumns = []\n", "0 columns; allowed are 1 to 4"),
        (
            '[table]\ncolumns = ["race"]\nvalu = "salary"\n',
            "[table] has the unknown key 'valu'",
        ),
        (RECIPE + '[protect]\nmethod = "optimum"\n', "[protect] method is 'optimum'; allowed are"),
        (RECIPE.replace("n = 3", "n = 1"), "The rule threshold has n = 1; allowed are"),
        (RECIPE.replace("n = 3", ""), "The rule threshold lacks 'n'"),
        (
            RECIPE + '[protect]\npublished = ["medium|white"]\n',
            "'medium|white' is sensitive and has to be published",
        ),
        (RECIPE + "[protect]\nbase = 1\n", "The base is 1; allowed are whole numbers from 2 up"),
        (RECIPE + "[protect]\npublished = [1]\n", "published is [1]; allowed is a list of cells"),
        (RECIPE + '[protect]\npublished = "low"\n', "published is 'low'; allowed is a list"),
        (RECIPE + '[protect]\nseconds = "x"\n', "seconds is 'x'; allowed are numbers above 0"),
        (RECIPE + "[protect]\nvariance = nan\n", "variance is nan; allowed are numbers above 0"),
        (RECIPE + '[protect]\nvariance = "x"\n', "variance is 'x'; allowed are numbers above 0"),
        (RECIPE.replace("n = 3", "n = inf"), "The rule threshold has n = inf; allowed are numbers"),
        (RECIPE.replace("n = 3", "n = 2.5"), "The rule threshold has n = 2.5; allowed are whole"),
        (
            RECIPE.replace('"threshold"\nn = 3', '"p-percent"\np = 10\ncoalition = 1.5'),
            "The rule p-percent has coalition = 1.5; allowed are whole numbers from 1 up",
        ),
        (
            RECIPE.replace("[[rules]]", "levels = { salary = [0] }\n[[rules]]"),
            "[table] levels names 'salary'; columns of the table are 'education', 'race'",
        ),
        (
            RECIPE + '[protect]\nmethod = "none"\n',
            "6 cells would be published and are sensitive, such as",
        ),
    ],
)
def test_refused_recipes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recipe: str, message: str
) -> None:
    place, rows = written(tmp_path, recipe)
    out = tmp_path / "out"
    assert main(["table", str(place), "--data", str(rows), "--out", str(out)]) != 0
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_table_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, rows = written(tmp_path, RECIPE)
    assert main(["table", str(recipe), "--data", str(rows), "--out", str(tmp_path)]) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_second_table_is_protected_together_with_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, rows = written(tmp_path, RECIPE)
    one, two, alone = (tmp_path / name for name in ("one", "two", "alone"))
    given = ["--data", str(rows), "--out"]
    assert main(["table", str(recipe), *given, str(one)]) == 0
    recipe.write_text(recipe.read_text().replace('["education", "race"]', '["education"]'))
    assert main(["table", str(recipe), *given, str(alone)]) == 0
    assert main(["table", str(recipe), *given, str(two), "--earlier", str(one)]) == 0
    assert "Audited together with an earlier table of 15 cells" in capsys.readouterr().out
    assert b"medium,\xc3\x97" in (two / "table.csv").read_bytes()
    (one / "table.csv").write_text("education,race,count\n")
    again = ["table", str(recipe), *given, str(tmp_path / "three"), "--earlier", str(one)]
    assert main(again) != 0
    assert "earlier table does not print" in capsys.readouterr().err
