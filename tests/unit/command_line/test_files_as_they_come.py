"""Releases from files that are no CSV, on the command line: run, verified from the original."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
import python_calamine

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.recipe.plan import Plan

RECIPE = """
version = 3
seed = 3
[data]
value_labels = "{shown}"
[roles]
quasi = ["sex", "age"]
insensitive = []
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 2
"""


@pytest.mark.parametrize(("shown", "text"), [("labels", "Female"), ("codes", "2")])
def test_labels_or_codes_are_published_and_verified(
    tmp_path: Path, shown: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"sex": [1, 1, 2, 2] * 2, "age": [30, 30, 40, 40] * 2})
    pyreadstat.write_sav(frame, "s.sav", variable_value_labels={"sex": {1: "Male", 2: "Female"}})
    Path("recipe.toml").write_text(RECIPE.format(shown=shown))
    asked = ["recipe.toml", "--data", "s.sav"]
    assert main(["run", *asked, "--out", "release"]) == 0
    assert set(pd.read_csv("release/release.csv", dtype=str)["sex"]) >= {text}
    assert main(["verify", *asked, "--release", "release"]) == 0
    other = "codes" if shown == "labels" else "labels"
    Path("recipe.toml").write_text(RECIPE.format(shown=other))
    assert main(["verify", *asked, "--release", "release"]) != 0


def test_a_column_of_dates_in_two_orders_blocks_a_release_until_the_recipe_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["1;01/02/1990;1.200,5", "2;03/04/1991;7,25"] * 3
    Path("t.csv").write_text("sex;born;cost\n" + "\n".join(rows) + "\n")
    text = RECIPE.format(shown="labels").replace('"sex", "age"', '"born", "cost"')
    Path("recipe.toml").write_text(text)
    asked = ["recipe.toml", "--data", "t.csv"]
    assert main(["run", *asked, "--out", "release"]) != 0
    said = capsys.readouterr().err
    assert "'born' writes dates that may be day/month/year or month/day/year" in said
    assert '[data.dates] "born" = "dmy" or "mdy"' in said
    settled = 'dates = { born = "mdy" }\ndecimals = { cost = "," }\n[roles]'
    Path("recipe.toml").write_text(text.replace("[roles]", settled))
    assert main(["run", *asked, "--out", "release"]) == 0
    assert main(["verify", *asked, "--release", "release"]) == 0
    released = Path("release/release.csv").read_text()
    assert "1990-01-02" in released
    assert "1200.5" in released
    Path("recipe.toml").write_text(text.replace("[roles]", settled.replace("mdy", "dmy")))
    assert main(["verify", *asked, "--release", "release"]) != 0
    Path("recipe.toml").write_text(text.replace("[roles]", settled.replace("born", "birth")))
    assert main(["run", *asked, "--out", "other"]) != 0
    assert "'birth'" in capsys.readouterr().err


DIALECTS = {
    'separator = ";"\ndecimal = ","\nbom = true\nline_end = "crlf"': (
        b'\xef\xbb\xbfcost;job\r\n1,5;"a;""b"""\r\n1,5;x,y\r\n'
    ),
    'separator = "\\t"\nquotes = "all"': (b'"cost"\t"job"\n"1.5"\t"a;""b"""\n"1.5"\t"x,y"\n'),
    "": b'cost,job\n1.5,"a;""b"""\n1.5,"x,y"\n',
}


@pytest.mark.parametrize("marks", DIALECTS)
def test_the_file_for_a_spreadsheet_has_the_marks_that_the_recipe_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], marks: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text('cost|job\n1.5|"a;""b"""\n1.5|x,y\n')
    content = RECIPE.format(shown="labels").replace('"sex", "age"', '"cost"')
    content = content.replace("insensitive = []", 'insensitive = []\nsensitive = ["job"]')
    Path("recipe.toml").write_text(f"{content}\n[export.dialect]\n{marks}\n")
    asked = ["recipe.toml", "--data", "t.csv"]
    assert main(["run", *asked, "--out", "release", "--recipe-out", "made.toml"]) == 0
    file = Path("release/release.spreadsheet.csv")
    assert file.read_bytes() == DIALECTS[marks]
    asked[0] = "made.toml"  # the completed recipe promises the same
    check = ["verify", *asked, "--release", "release"]
    assert main(check) == 0
    right = file.read_bytes()
    for wrong in (right.replace(b"1", b" 1", 1), right.replace(b"\n", b"\r", 1), right + b"\n"):
        file.write_bytes(wrong)
        capsys.readouterr()
        assert main(check) == 3
        assert "BROKEN  dialect: release.spreadsheet.csv is not byte for byte" in (
            capsys.readouterr().out
        )
    file.unlink()
    assert main(check) == 3
    assert "is missing, which the recipe declares" in capsys.readouterr().out
    file.write_bytes(right)
    text = Path("recipe.toml").read_text().partition("[export.dialect]")[0]
    Path("recipe.toml").write_text(text)
    assert main(["verify", "recipe.toml", *asked[1:], "--release", "release"]) == 3
    assert "declares no file for a spreadsheet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ('separator = ","\ndecimal = ","', "one mark for separator and decimals"),
        ('separator = "a"', "separator is 'a'; allowed are"),
        ("bom = 1", "bom is 1"),
        ('quote = "all"', "unknown key 'quote'"),
    ],
)
def test_a_dialect_that_is_none_is_refused(marks: str, says: str) -> None:
    with pytest.raises(BadPlan, match=says):
        Plan.from_toml(RECIPE.format(shown="labels") + f"\n[export.dialect]\n{marks}\n")


def given_back(folder: Path, ending: str) -> pd.DataFrame:
    place = folder / f"release.{ending}"
    if ending == "xlsx":
        book = python_calamine.load_workbook(place).get_sheet_by_index(0).to_python()
        return pd.DataFrame(book[1:], columns=book[0])
    read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}[ending]
    frame, loaded = read(place)
    assert loaded.column_names_to_labels["sex"] == "Sex of the person"
    assert loaded.variable_value_labels == {"sex": {1: "Male", 2: "Female"}}  # 9 is nobody's
    return frame


@pytest.mark.parametrize("shown", ["labels", "codes"])
def test_labels_are_given_back_and_verified(
    tmp_path: Path, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"sex": [1, 1, 2, 2] * 2, "age": [30, 30, 40, 40] * 2, "job": ["a"] * 8})
    pyreadstat.write_sav(
        frame,
        "s.sav",
        column_labels={"sex": "Sex of the person"},
        variable_value_labels={"sex": {1: "Male", 2: "Female", 9: "Unknown"}},
    )
    text = RECIPE.format(shown=shown).replace('"age"]', '"age", "job"]')
    Path("recipe.toml").write_text(f'{text}\n[export]\nformats = ["sav", "dta", "xlsx"]\n')
    asked = ["recipe.toml", "--data", "s.sav"]
    assert main(["run", *asked, "--out", "release", "--recipe-out", "made.toml"]) == 0
    release = Path("release")
    for ending in ("sav", "dta", "xlsx"):
        found = given_back(release, ending)
        assert sorted(found["age"]) == [30] * 4 + [40] * 4
        assert found["job"].tolist() == ["a"] * 8
        told_sexes = ["Male", "Female"] if shown == "labels" and ending == "xlsx" else [1, 2]
        if ending != "xlsx" or shown == "labels":
            assert sorted(found["sex"].unique()) == sorted(told_sexes)
    check = ["verify", *asked, "--release", "release"]
    assert main(check) == 0
    first = {file.name: file.read_bytes() for file in release.iterdir()}
    assert main(["run", "made.toml", *asked[1:], "--out", "release"]) == 0
    assert {file.name: file.read_bytes() for file in release.iterdir()} == first
    for ending in ("sav", "dta", "xlsx"):
        file = release / f"release.{ending}"
        right = file.read_bytes()
        file.write_bytes(right[:-9] + bytes([right[-9] ^ 1]) + right[-8:])
        capsys.readouterr()
        assert main(check) == 3
        assert f"BROKEN  formats: release.{ending} is not byte for byte" in capsys.readouterr().out
        file.write_bytes(right)
    (release / "release.dta").unlink()
    Path("recipe.toml").write_text(f'{text}\n[export]\nformats = ["dta", "xlsx"]\n')
    assert main(check) == 3
    said = capsys.readouterr().out
    assert "release.dta is missing, which the recipe declares" in said
    assert "release.sav is there, but the recipe does not declare it" in said


def test_names_that_spss_has_not_and_formats_that_are_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("sex (m/f);age\n1;2\n1;2\n")
    text = RECIPE.format(shown="labels").replace('"sex"', '"sex (m/f)"')
    for formats, says in (("sav", "'sex (m/f)' cannot be a variable"), ("pdf", "allowed are")):
        Path("recipe.toml").write_text(f'{text}\n[export]\nformats = ["{formats}"]\n')
        assert main(["run", "recipe.toml", "--data", "t.csv", "--out", "release"]) == 1
        assert says in capsys.readouterr().err
        assert not Path("release").exists()


def test_names_that_are_one_to_spss_are_refused_for_spss_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("Sex;sex;age\n1;f;2\n1;f;2\n")
    text = RECIPE.format(shown="labels").replace('"sex"', '"Sex", "sex"')
    for formats, status in (('"sav", "dta"', 1), ('"dta", "xlsx"', 0)):
        Path("recipe.toml").write_text(f"{text}\n[export]\nformats = [{formats}]\n")
        run = ["run", "recipe.toml", "--data", "t.csv", "--out", "release"]
        assert main(run) == status, capsys.readouterr()
        assert status == 0 or "Columns 'Sex' and 'sex' are one variable" in capsys.readouterr().err
