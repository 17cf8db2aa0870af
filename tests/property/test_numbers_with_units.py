"""Numbers as accountants and Excel show them, and what values suggest and nobody said."""

from __future__ import annotations

import csv
import io
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xlsxwriter

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadInput
from anon_core.data.column import Column, encode
from anon_core.data.reading import DataOptions, notation, read_table
from anon_core.data.table import Dataset
from anon_core.data.values.doubts import code_rows, looks_like_days, looks_like_numbers, sum_rows
from anon_core.verification.files import reading_options as again
from tests.making import Case

NUMBERS = [
    "16595",
    "1'200",
    "16 595",
    "1.5",
    "16,6",
    "1.200,5",
    "1,200.5",
    "",
    "12..5",
    "1 2",
    "07",
]
BEFORE = [
    "",
    "+",
    "-",
    "€",
    "€ -",
    "-$",
    "CHF ",
    " £",
    "+-",
    "- €",
    "(",
    "(€ ",
    "−",
    "\u2013",
    "(-",
]
BEHIND = ["", "%", " %", "€", " EUR", "-", " -", " € -", "%%", "+", "$€", ")", " €)", "-)", ") €"]
RECIPE = """
{data}
[roles]
quasi = ["x", "sex"]
sensitive = ["cause"]
[algorithm]
name = "mondrian"
[[models]]
name = "k-anonymity"
k = 3
"""


def test_both_readers_find_the_same_in_every_text() -> None:
    for before, number, behind, mark in product(BEFORE, NUMBERS, BEHIND, ".,"):
        text = f"{before}{number}{behind}".strip()
        assert notation._plain(text, mark) == again._number(text, mark), text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("€ 1'200", "1200"),
        ("1'200 CHF", "1200"),
        ("16.6%", "16.6"),
        ("350-", "-350"),
        ("-€ 350", "-350"),
        ("€ -350", "-350"),
        ("16\u202f595", "16595"),
        ("(350)", "-350"),
        ("(€ 1'200.50)", "-1200.50"),
        ("\u2212350", "-350"),
        ("\u2013350", "-350"),
        ("(-350)", None),
        ("(350", None),
        ("--350", None),
        ("5 € 3", None),
        ("%", None),
    ],
)
def test_units_go_and_the_sign_stands_first(text: str, plain: str | None) -> None:
    assert notation._plain(text, ".") == plain


@pytest.mark.parametrize("texts", [["5%", "5"], ["€ 5", "$ 5"]])
def test_numbers_of_several_units_are_refused(texts: list[str]) -> None:
    content = "x\n" + "\n".join(texts) + "\n"
    with pytest.raises(BadInput, match="'x' is to be read as numbers, but they have several units"):
        read_table(content.encode(), DataOptions(decimals={"x": "."}, separator=";"))


def column(cells: list[str]) -> Column:
    pool = list(dict.fromkeys(cells))
    return encode("x", np.array([pool.index(c) for c in cells], dtype=np.int32), pool)


@pytest.mark.parametrize(
    "form",
    ["{:,}'", "€ {:,}", "{:,} %", "{}-", "{:,} CHF"],
    ids=["swiss", "€", "%", "minus", "chf"],
)
def test_the_command_line_says_it_and_the_option_it_names_does_it(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = form.replace("'", "")
    texts = [form.format(n).replace(",", "'") for n in range(1000, 40000, 1300)]
    rows = [f"{x};{'fm'[n % 2]};{'ab'[n % 2]}" for n, x in enumerate(texts)]
    data, recipe = tmp_path / "t.csv", tmp_path / "r.toml"
    data.write_text("\n".join(["x;sex;cause", *rows]) + "\n")
    recipe.write_text(RECIPE.format(data=""))
    given = [str(recipe), "--data", str(data)]
    assert main(["run", *given, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    if form == "{:,}":  # apostrophes alone
        assert 'decimals = { "x" = "." }' in said
    assert "'x' is read as text, and its values look like numbers" in said
    recipe.write_text(RECIPE.format(data='[data.decimals]\nx = "."'))
    assert main(["run", *given, "--out", str(tmp_path / "out")]) == 0
    assert "look like numbers" not in capsys.readouterr().out
    assert main(["verify", *given, "--release", str(tmp_path / "out")]) == 0
    cells = [
        r["x"] for r in csv.DictReader(io.StringIO((tmp_path / "out/release.csv").read_text()))
    ]
    assert all(c.startswith("[") or c.lstrip("-").isdigit() for c in cells)


@pytest.mark.parametrize(
    ("cells", "looks"),
    [
        (["01.02.2024 10:00 Uhr", "13.02.2024 11:00 Uhr"], True),
        (["13/02/2024 10h00", "14/02/2024 à 11:30"], True),
        (["13.02.24", "14.02.24 11:00"], True),
        (["20240213T100000", "20240214T110000Z"], True),
        (["13-FEB-24 10.00.00.000000 AM", "14FEB2024:11:00:00"], True),
        (["Tue, 13 Feb 2024 10:00:00 +0000", "Tue Feb 13 10:00:00 2024"], True),
        (["2024-02-13 23:59:60", "0000-00-00 00:00:00"], True),
        (["12. Februar 2024", "13 août 2024", "March 3, 2024"], True),
        (["2024-02-13", "2024-02-14 10:00", "2024-02-15T10:00+01:00[Europe/Berlin]"], True),
        (["2 janvier 2024", "31 décembre 2024", "1er mars 2024"], True),
        (["2 de enero de 2024", "31 de diciembre de 2024"], True),
        (["2 gennaio 2024", "31 ottobre 2024"], True),
        (["2 mei 2024", "31 maart 2024", "3rd of May 2024"], True),
        (["Thu Jan  2 03:04:05 2024", "Fri Feb 13 10:00:00 2024"], True),
        (["C50.9", "D12.3"], False),
        (["10.0.0.1", "10.0.0.2"], False),
        (["030 1234", "040 5678"], False),
        (["Jan Meier", "May 12 Smith"], False),
        (["2024-02-13 10:00", "2024-02-14 11:00"], False),  # which are read
    ],
)
def test_texts_that_look_like_days_are_asked_about(
    cells: list[str], looks: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    column = Dataset.from_frame(pd.DataFrame({"x": cells})).column("x")
    assert looks_like_days(column) == looks
    if not looks:
        return
    rows = [f"{cells[n % len(cells)]};{'fm'[n % 2]};{'ab'[n % 2]}" for n in range(12)]
    data, recipe = tmp_path / "t.csv", tmp_path / "r.toml"
    data.write_text("\n".join(["x;sex;cause", *rows]) + "\n")
    values = []
    for more in ("", '[types]\nx = "text"'):
        recipe.write_text(RECIPE.format(data=more))
        given = [str(recipe), "--data", str(data), "--out", str(tmp_path / "out")]
        assert main(["run", *given]) == 0
        values.append(
            "'x' is read as text, and its values look like days" in capsys.readouterr().out
        )
    assert values == [True, False]


@pytest.mark.parametrize(
    ("cells", "looks"),
    [
        (["16'595", "7"], True),
        (["16 595", "1 474"], True),
        (["350-", "20"], True),
        (["(350)", "20"], True),
        (["(€ 1.200,50)", "20"], True),
        (["\u2212350", "20"], True),
        (["\u2013350", "20"], True),  # an en dash for a minus
        (["CHF 1'200.50", "CHF 99.00"], True),
        (["EUR 5", "EUR 7"], True),
        (["(030) 1234", "(040) 5678"], False),
        (["07 123", "08 456"], False),  # codes
        (["10115", "80331"], False),
        (["A 12", "B 13"], False),
        (["2024-01", "2024-02"], False),
        (["-", "%"], False),
    ],
)
def test_what_looks_like_numbers(cells: list[str], looks: bool) -> None:
    own = encode("x", np.arange(len(cells), dtype=np.int32), cells, kind="text")
    assert looks_like_numbers(own) == looks


def test_a_row_of_sums_is_one_row_that_says_so() -> None:
    assert sum_rows(column(["North", "South", "Summe"])) == "Summe"
    assert sum_rows(column(["North", "Total:", "South"])) == "Total:"
    assert sum_rows(column(["total", "total", "part"])) == ""  # a value like others
    assert sum_rows(column(["North", "South"])) == ""


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["-9"] * 5 + ["1", "2", "3"], ("-9", 5)),
        (["-9"] * 2 + ["1"] * 5 + ["2", "3"], ("-9", 2)),  # the only negative number
        (["-9", "-8.5", "-9", "-7", "1"], ("-9", 2)),
        (["999"] * 3 + ["1", "2", "3"], ("999", 3)),
        (["99", "98", "97", "99"], None),  # ages
        (["-1", "0", "1", "2"], None),
        (["5", "6", "7"], None),
        (["a", "-9", "-9"], None),
    ],
)
def test_a_code_at_an_end_of_the_numbers_is_asked_about(
    cells: list[str], found: tuple[str, int] | None
) -> None:
    assert code_rows(column(cells)) == found


def test_cautions_name_the_sum_and_the_code_and_what_answers_them() -> None:
    case = Case(
        columns={
            "region": [*["North"] * 14, *["South"] * 15, "Total"],
            "stay": [*["-9"] * 9, *[str(3 + n % 8) for n in range(21)]],
            "ill": [*"ab" * 15],
        },
        quasi=("region", "stay"),
        sensitive=("ill",),
        kinds={},
    )
    plan = case.plan(algorithm={"name": "mondrian"})
    cautions = run(plan, case.dataset, {}, assess=False).cautions
    assert any("'region' says 'Total' in one row" in one for one in cautions)
    asked = next(one for one in cautions if "'stay' has -9 in 9 rows" in one)
    assert 'missing_in = { "stay" = ["-9"] }' in asked
    settled = case.plan(algorithm={"name": "mondrian"}, data={"missing_in": {"stay": []}})
    assert not any("-9" in one for one in run(settled, case.dataset, {}, assess=False).cautions)


@pytest.mark.parametrize(
    ("form", "cell", "text"),
    [
        ("00000", 2139, "02139"),
        ("00000", 123456, "123456"),
        (r"000\-00\-0000", 12345678, "012-34-5678"),
        ('00" "000', 2139, "02 139"),
        ("00000;@", 7, "00007"),
        ("00000", 2.5, "2.5"),
        ("0.00", 2139, "2139"),
        ("#,##0", 2139, "2139"),
        ("0", 7, "7"),
        ("General", 2139, "2139"),
    ],
)
def test_zeros_that_excel_shows_are_read(
    form: str, cell: float, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, recipe = tmp_path / "t.xlsx", tmp_path / "r.toml"
    with xlsxwriter.Workbook(data) as book:
        book.add_worksheet("first")
        sheet = book.add_worksheet('Köln & "others"')
        own, plain = book.add_format({"num_format": form}), book.add_format({"bold": True})
        sheet.write_row(2, 1, ["x", "sex", "cause"], plain)
        for row in range(12):
            sheet.write_number(3 + row, 1, cell, own)
            sheet.write_row(3 + row, 2, ["fm"[row % 2], "ab"[row % 2]])
    assert read_table(data).column("x").written == (text,)
    recipe.write_text(RECIPE.format(data='[types]\nx = "text"'))
    given = [str(recipe), "--data", str(data)]
    assert main(["run", *given, "--out", str(tmp_path / "out")]) == 0, capsys.readouterr()
    assert main(["verify", *given, "--release", str(tmp_path / "out")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out/release.csv").read_text())))
    assert {row["x"] for row in rows} == {text}
