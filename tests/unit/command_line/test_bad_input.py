"""Bad input gets a clear error, and nothing is lost.

Every case goes through the command line with an older release in place. The message must name the
place, what was found and the remedy, and hold no cell value; the older release, and a table that is
already loaded, must stay as they are.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core import Dataset, Plan, Roles, read_table, run
from anon_core.__main__ import main
from anon_core.base.errors import AnonError, BadHierarchy, BadInput, BadPlan, Infeasible
from anon_core.data.reading import MOST_BYTES
from anon_core.data.values.formulas import neutralised
from anon_core.pipeline.figures import figures_of
from anon_core.techniques.attacks import membership

#: Is in every cell that is wrong; no message may show it.
SECRET = "Zanzibari"
GOOD = "sex,age,job\n" + "".join(
    f"{sex},{age},{job}\n"
    for sex in "FM"
    for age in (30, 31)
    for job in ("nurse", "smith", "clerk")
)
RECIPE = """\
[roles]
quasi = ["sex", "age"]
sensitive = ["job"]
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
k = 3
"""
PEOPLE = RECIPE + '[population]\nfile = "people.csv"\n'
AGES = "30;30-31;*\n31;30-31;*\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One kind of bad input: what is wrong, how the program leaves, and what its message names."""

    what: str
    table: bytes = GOOD.encode()
    recipe: str = RECIPE
    levels: str = ""
    people: bytes | None = None
    status: int = 1
    says: tuple[str, ...] = field()
    remedy: str


def text(table: str, encoding: str = "utf-8") -> bytes:
    return table.encode(encoding)


def with_levels(column: str) -> str:
    return RECIPE.replace("[algorithm]", f'[hierarchies]\n{column} = "levels.csv"\n[algorithm]')


WIDE = ",".join(f"c{i}" for i in range(10_000))
CASES = [
    Case(what="empty file", table=b"", says=("table.csv is empty",), remedy="Load a file with"),
    Case(
        what="blank lines only",
        table=b"\n\n  \n",
        says=("table.csv holds blank lines only",),
        remedy="Load a file with",
    ),
    Case(
        what="header only",
        table=b"sex,age,job\n",
        says=("a header with 3 columns but no rows",),
        remedy="at least one row below the header",
    ),
    Case(
        what="one column, another one asked for",
        table=text(f"sex\nF\n{SECRET}\n"),
        status=4,
        says=("no column 'age', 'job'", "it has 'sex'"),
        remedy="Restore the column",
    ),
    Case(
        what="duplicate column names",
        table=text(GOOD.replace("job", "sex", 1)),
        says=("Two columns are called 'sex' (columns 1 and 3)",),
        remedy="Rename one of them",
    ),
    Case(
        what="column without a name",
        table=text(GOOD.replace(",age", ",", 1)),
        says=("Column 2 has no name",),
        remedy="Give every column a name",
    ),
    Case(
        what="lines that end with a separator, and one value behind it",
        table=text("".join(f"{line},\n" for line in GOOD.splitlines()).removesuffix("\n") + "x\n"),
        says=("Column 4 has no name",),
        remedy="the last column is empty: delete it",
    ),
    Case(
        what="row numbers as pandas writes them",
        table=text("".join(f"{n or ''},{line}\n" for n, line in enumerate(GOOD.splitlines()))),
        says=("Column 1 has no name",),
        remedy="with index=False",
    ),
    Case(
        what="ragged rows",
        table=text(GOOD + f"F,30,nurse,{SECRET}\n{SECRET}\n"),
        says=("the header has 3 cells", "row 13 has 4", "row 14 has 1"),
        remedy="Correct these rows",
    ),
    Case(
        what="open quote",
        table=text(GOOD + f'F,30,"{SECRET}\nM,30,smith\n'),
        says=("row 13", "a quote is opened and never closed"),
        remedy="Close the quote",
    ),
    Case(
        what="wrong delimiter",
        table=text(GOOD.replace(",", ";")),
        recipe='[data]\nseparator = ","\n' + RECIPE,
        says=("separator is set to comma", "separated by semicolon, with 3 columns"),
        remedy="Set the separator to semicolon",
    ),
    Case(
        what="no delimiter that is known",
        table=text(GOOD.replace(",", "~")),
        status=4,
        says=("no column 'sex', 'age', 'job'",),
        remedy="Restore the column",
    ),
    Case(
        what="declared UTF-8, but Latin-1",
        table=text(GOOD + f"F,30,{SECRET}ä\n", "latin-1"),
        recipe='[data]\nencoding = "utf-8"\n' + RECIPE,
        says=("declared as utf-8", "row 13"),
        remedy="Leave the encoding empty",
    ),
    Case(
        what="UTF-16 without its mark",
        table=text(GOOD, "utf-16-le"),
        says=("UTF-16 or UTF-32 without its mark",),
        remedy="Save it as UTF-8",
    ),
    Case(
        what="unknown encoding",
        recipe='[data]\nencoding = "utf-9"\n' + RECIPE,
        says=("[data] encoding is 'utf-9'", "Did you mean 'utf-8'?"),
        remedy="Leave it empty",
    ),
    Case(
        what="NUL byte",
        table=text(GOOD + f"F,30,{SECRET}\0\n"),
        says=("a NUL byte in row 13",),
        remedy="Remove it",
    ),
    Case(
        what="a broken spreadsheet file",
        table=b"PK\x03\x04" + b"\0" * 40 + b"xl/workbook.xml",
        says=("table.csv looks like a spreadsheet, but cannot be read",),
        remedy="save it again",
    ),
    Case(
        what="10,000 columns",
        table=text(f"{WIDE}\n{','.join('1' * 10_000)}\n"),
        says=("has 10,000 columns; at most 2,000",),
        remedy="Leave out columns",
    ),
    Case(
        what="mixed types in a column declared as numbers",
        table=text(GOOD + f"F,{SECRET},nurse\n"),
        recipe='[types]\nage = "number"\n' + RECIPE,
        status=4,
        says=("Column 'age' is declared as number", "1 distinct value is not", "row 13"),
        remedy="Correct the values, mark them as missing, or declare 'age' as text",
    ),
    Case(
        what="mixed dates in a column declared as dates",
        table=text("sex,age,job\n" + f"F,2020-01-02,nurse\nM,2020-31-31 {SECRET},smith\n"),
        recipe='[types]\nage = "date"\n' + RECIPE,
        status=4,
        says=("Column 'age' is declared as date", "first in row 2"),
        remedy="declare 'age' as text",
    ),
    Case(
        what="all missing, rows dropped",
        table=text("sex,age,job\n" + f",30,{SECRET}\n,31,smith\n"),
        recipe='[data]\nmissing = "drop"\n' + RECIPE,
        says=("Every one of the 2 rows misses a value",),
        remedy="Set missing = 'keep'",
    ),
    Case(
        what="value missing from its hierarchy",
        table=text(GOOD + f"F,32,{SECRET}\nF,33,{SECRET}\nF,33,{SECRET}\n"),
        recipe=with_levels("age"),
        levels=AGES,
        status=4,
        says=("'age'", "2 of the column's 4 values", "row 13"),
        remedy="Add the values to the hierarchy",
    ),
    Case(
        what="hierarchy with two tops",
        recipe=with_levels("age"),
        levels="30;young\n31;old\n",
        says=("Hierarchy of 'age' has 2 tops",),
        remedy="Add a last level that is the same for every value",
    ),
    Case(
        what="hierarchy whose levels do not nest",
        recipe=with_levels("age"),
        levels="30;a;b;*\n31;a;c;*\n",
        says=("Hierarchy of 'age'", "level 1", "line 1", "line 2"),
        remedy="Levels must nest",
    ),
    Case(
        what="ragged hierarchy",
        recipe=with_levels("age"),
        levels="30;a;*\n31;*\n",
        says=("Hierarchy of 'age', line 2: 2 cells where line 1 has 3",),
        remedy="Every line needs",
    ),
    Case(
        what="value twice in a hierarchy",
        recipe=with_levels("age"),
        levels=AGES + "30;30-31;*\n",
        says=("Hierarchy of 'age'", "line 1", "again in line 3"),
        remedy="List every value once",
    ),
    Case(
        what="hierarchy of numbers with a word in it",
        recipe=with_levels("age"),
        levels=AGES + f"{SECRET};30-31;*\n",
        says=("Hierarchy of 'age'", "not a number"),
        remedy="declare 'age' as text",
    ),
    Case(
        what="empty hierarchy",
        recipe=with_levels("age"),
        levels="\n",
        says=("hierarchy file of 'age' is empty",),
        remedy="one line per value",
    ),
    Case(
        what="k above the number of rows",
        recipe=RECIPE.replace("k = 3", "k = 13"),
        status=2,
        says=("k = 13 needs at least 13 rows; the table has 12",),
        remedy="With k = 12, all rows would be alike",
    ),
    Case(
        what="one row alone",
        table=text("\n".join(GOOD.splitlines()[:2]) + "\n"),
        status=2,
        says=("k = 3 needs at least 3 rows; the table has 1",),
        remedy="no one can be hidden alone",
    ),
    Case(
        what="l above the number of values",
        recipe=RECIPE + '[[models]]\nname = "l-diversity"\nl = 4\n',
        status=2,
        says=("l = 4 on 'job'", "only 3 distinct values"),
        remedy="Choose l of at most 3",
    ),
    Case(
        what="l-diversity without a sensitive column",
        recipe=RECIPE.replace('["job"]', "[]") + '[[models]]\nname = "l-diversity"\nl = 2\n',
        says=("l-diversity needs a sensitive column",),
        remedy="Mark the column to protect as sensitive",
    ),
    Case(
        what="l-diversity of a column that is not sensitive",
        recipe=RECIPE + '[[models]]\nname = "l-diversity"\nl = 2\ncolumn = "jobs"\n',
        says=("names 'jobs', which is not marked as sensitive", "sensitive are 'job'"),
        remedy="Did you mean 'job'?",
    ),
    Case(
        what="no quasi-identifier",
        recipe=RECIPE.replace('["sex", "age"]', "[]"),
        says=("No column is marked as quasi-identifier",),
        remedy="Mark at least one column",
    ),
    Case(
        what="an identifier that is also quasi-identifier",
        recipe="[roles]\nidentifier = ['sex']\n" + RECIPE.removeprefix("[roles]\n"),
        says=("Column 'sex' is an identifier and also quasi-identifier",),
        remedy="give the column one of the two roles",
    ),
    Case(
        what="an identifier that is also sensitive",
        recipe="[roles]\nidentifier = ['job']\n" + RECIPE.removeprefix("[roles]\n"),
        says=("Column 'job' is an identifier and also sensitive",),
        remedy="give the column one of the two roles",
    ),
    Case(
        what="a role named twice",
        recipe=RECIPE.replace('["sex", "age"]', '["sex", "sex"]'),
        says=("Role quasi names 'sex' more than once",),
        remedy="Name every column once",
    ),
    Case(
        what="an unknown role",
        recipe=RECIPE.replace("[algorithm]", 'secret = ["job"]\n[algorithm]'),
        says=("[roles] has the unknown key 'secret'",),
        remedy="Remove or rename it",
    ),
    Case(
        what="a column that is insensitive and sensitive",
        recipe=RECIPE.replace("[algorithm]", 'insensitive = ["job"]\n[algorithm]'),
        says=("Column 'job' is insensitive and also sensitive",),
        remedy="one of the two roles",
    ),
    Case(
        what="no model at all",
        recipe="models = []\n" + RECIPE[: RECIPE.index("[[models]]")],
        says=("names no privacy model", "so it protects no one"),
        remedy="Add at least one",
    ),
    Case(
        what="a population smaller than the table",
        recipe=RECIPE + "[population]\nsize = 11\n",
        says=("The population has 11 people, but the table has 12 rows",),
        remedy="Give the size of the population",
    ),
    Case(
        what="a population table smaller than the table",
        recipe=PEOPLE,
        people=text("".join(GOOD.splitlines(keepends=True)[:-1])),
        says=("The population has 11 people, but the table has 12 rows",),
        remedy="or its whole table",
    ),
    Case(
        what="a population table without a quasi-identifier",
        recipe=PEOPLE,
        people=text(GOOD.replace("age", "Age", 1)),
        says=("The population table has no column 'age'", "it has 'sex', 'Age', 'job'"),
        remedy="Did you mean 'Age'?",
    ),
    Case(
        what="a population table with texts where the table has numbers",
        recipe=PEOPLE,
        people=text(GOOD + f"F,{SECRET},nurse\nM,31,nurse\nF,{SECRET}s,nurse\n"),
        says=(
            "In the population table, 2 distinct values of 'age' are not a number",
            "first in row 13",
            "in the table the column is a number",
        ),
        remedy="Correct them in the population table or mark them as missing, or declare 'age'",
    ),
    Case(
        what="a population table without rows",
        recipe=PEOPLE,
        people=b"sex,age,job\n",
        says=("people.csv has a header with 3 columns but no rows",),
        remedy="at least one row below the header",
    ),
    Case(
        what="an empty population file",
        recipe=PEOPLE,
        people=b"",
        says=("people.csv is empty",),
        remedy="Load a file with",
    ),
    Case(
        what="a population file that is not there",
        recipe=PEOPLE,
        says=("There is no file", "people.csv"),
        remedy="Check the path",
    ),
    Case(
        what="a population file that is no table",
        recipe=PEOPLE,
        people=b"PK\x03\x04" + bytes(200),
        says=("people.csv is a zip archive, not a table",),
        remedy="Unpack it",
    ),
    Case(
        what="a population table with ragged rows",
        recipe=PEOPLE,
        people=text(GOOD + f"F,30,nurse,{SECRET}\n"),
        says=("people.csv", "row 13 has 4"),
        remedy="Correct these rows",
    ),
    Case(
        what="an l that the table is not eligible for",
        recipe=RECIPE.replace('"optimal"', '"bucketization"').replace(
            'name = "k-anonymity"\nk = 3', 'name = "frequency-l-diversity"\nl = 4'
        ),
        status=2,
        says=("not eligible for l = 4 on 'job'", "in 4 of 12 rows"),
        remedy="Choose l of at most 3",
    ),
    Case(
        what="a distinct l beyond the column's values",
        recipe=RECIPE.replace('name = "k-anonymity"\nk = 3', 'name = "l-diversity"\nl = 4'),
        status=2,
        says=("l = 4 on 'job' is impossible", "only 3 distinct values"),
        remedy="Choose l of at most 3",
    ),
    Case(
        what="a lattice beyond what can be searched",
        table=text("".join(",".join(f"{m}{i}" for i in range(30)) + "\n" for m in "cxyz")),
        recipe=RECIPE.replace('["sex", "age"]', str([f"c{i}" for i in range(30)])).replace(
            '["job"]', "[]"
        ),
        says=("1,073,741,824 nodes",),
        remedy="Use fewer quasi-identifiers",
    ),
    Case(
        what="a column name that a spreadsheet would execute",
        table=text(GOOD.replace("job", f"=cmd|' /C {SECRET}'!A0", 1)),
        recipe=RECIPE.replace('sensitive = ["job"]', f"insensitive = [\"=cmd|' /C {SECRET}'!A0\"]"),
        says=("The name of column 3 starts like a formula",),
        remedy="Rename the column, or set formulas = 'keep'",
    ),
]


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a release, made once; after all that was refused it is made again the same."""
    folder = tmp_path_factory.mktemp("older")
    (folder / "good.toml").write_text(RECIPE)
    (folder / "good.csv").write_text(GOOD)
    loaded = read_table(folder / "good.csv")
    before = loaded.fingerprint
    assert _run(folder, "good") == 0
    yield folder
    assert loaded.fingerprint == before
    assert Dataset(columns=loaded.columns, rows=loaded.rows).fingerprint == before
    assert run(Plan.from_toml(RECIPE), loaded).csv == (folder / "out/release.csv").read_bytes()


@pytest.fixture
def desk(older: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with an older release, which must be there unchanged in the end."""
    shutil.copytree(older, tmp_path, dirs_exist_ok=True)
    release = {f.name: f.read_bytes() for f in (tmp_path / "out").iterdir()}
    assert release
    yield tmp_path
    assert {f.name: f.read_bytes() for f in (tmp_path / "out").iterdir()} == release


def _run(folder: Path, name: str) -> int:
    recipe, data = folder / f"{name}.toml", folder / f"{name}.csv"
    return main(["run", str(recipe), "--data", str(data), "--out", str(folder / "out")])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_message_names_place_and_remedy_and_nothing_is_lost(desk, capsys, case):
    (desk / "table.toml").write_text(case.recipe)
    (desk / "table.csv").write_bytes(case.table)
    (desk / "levels.csv").write_text(case.levels)
    if case.people is not None:
        (desk / "people.csv").write_bytes(case.people)
    capsys.readouterr()
    assert _run(desk, "table") == case.status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    for part in (*case.says, case.remedy):
        assert part in printed.err
    assert SECRET not in printed.err
    assert "Traceback" not in printed.err


# ---- input that looks bad and is none ----------------------------------------------------------


def released(table: str | bytes, plan: Plan, levels: dict[str, list[list[str]]] | None = None):
    """Run a plan; what comes back is verified, or an error would have been raised."""
    data = table.encode() if isinstance(table, str) else table
    result = run(plan, read_table(data, plan.data, kinds=plan.types), levels)
    assert result.verification.holds
    return result


def plan_of(
    quasi: list[str],
    more: str = "",
    *,
    technique: str = "optimal",
    k: int = 2,
    exact: Sequence[str] = (),
) -> Plan:
    return Plan.from_toml(
        f"{more}\n[roles]\nquasi = {quasi!r}\ninsensitive = {[*exact]!r}\n"
        f'[algorithm]\nname = "{technique}"\n'
        f'[[models]]\nname = "k-anonymity"\nk = {k}\n'
    )


def rows_of(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode())))


TECHNIQUES = pytest.mark.parametrize("technique", ["optimal", "mondrian"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_every_usual_encoding_is_read_alike(encoding):
    table = GOOD.replace("nurse", "Krankenpfleger für Ältere")
    plan = plan_of(["sex", "age"])
    assert released(table.encode(encoding), plan).csv == released(table, plan).csv


@TECHNIQUES
def test_one_column_can_be_released(technique):
    assert released("a\nx\nx\ny\ny\n", plan_of(["a"], technique=technique)).release.suppressed == 0


@TECHNIQUES
def test_a_constant_column_costs_nothing(technique):
    result = released("a,b\nx,1\nx,1\nx,2\nx,2\n", plan_of(["a", "b"], technique=technique))
    assert result.measures["loss"].value == 0.0
    assert result.measures["loss"].per_column["a"] == 0.0
    assert all(np.isfinite(m.value) and 0 <= m.share <= 1 for m in result.measures.values())


@TECHNIQUES
def test_a_column_of_missing_values_is_kept_as_one_value(technique):
    result = released("a,b\n,1\n?,1\nNA,2\n,2\n", plan_of(["a", "b"], technique=technique))
    assert [row[0] for row in rows_of(result.csv)[1:]] == ["", "", "", ""]
    assert result.problem.dataset.dropped == 0


@TECHNIQUES
def test_rows_with_missing_values_are_dropped_and_counted(technique):
    plan = plan_of(["a", "b"], '[data]\nmissing = "drop"', technique=technique)
    result = released("a,b\n,1\nx,1\nx,1\ny,\ny,2\ny,2\n", plan)
    assert (result.problem.dataset.dropped, result.problem.rows) == (2, 4)
    assert figures_of(result)["dropped"] == 2


@TECHNIQUES
def test_decimal_commas_are_numbers(technique):
    plan = plan_of(["a"], technique=technique)
    result = released("a;b\n1,5;x\n1,75;x\n12,5;y\n13,5;y\n", plan)
    assert result.problem.dataset.column("a").kind == "number"
    assert result.problem.dataset.column("a").measure.tolist() == [1.5, 1.75, 12.5, 13.5]
    assert any("comma" in note for note in result.problem.dataset.column("a").notes)


@TECHNIQUES
def test_codes_that_look_like_equal_numbers_stay_apart_when_declared_text(technique):
    plan = plan_of(["code"], '[types]\ncode = "text"', technique=technique)
    table = "code,x\n" + "1.0,a\n1.0,b\n1,c\n1,d\n?,e\n?,f\n"
    loaded = read_table(table.encode(), plan.data)  # as numbers, and one value
    assert loaded.column("code").values == ("1",)
    assert loaded.frame(1)["code"].tolist() == ["1.0"]
    for whole in (loaded, loaded.without_missing(["code"])):
        result = run(plan, whole)
        assert result.release.suppressed == 0
        assert {"1", "1.0"} <= {row[0] for row in rows_of(result.csv)[1:]}
    again = read_table(table.replace("1.0,b", "1,b").replace("1,c", "1.0,c").encode())
    assert again.column("code").codes.tolist() == loaded.column("code").codes.tolist()
    assert again.fingerprint != loaded.fingerprint
    notes = loaded.without_missing(["code"]).column("code").notes
    assert ["spellings" in note for note in notes] == [False, True]
    assert "read as missing" in notes[0]


def test_dates_are_ranges_in_time_whatever_their_form():
    plan = plan_of(["day"], technique="mondrian")
    result = released("day,x\n02.01.2020,a\n31.12.2019,a\n03.05.2021,b\n01.06.2021,b\n", plan)
    assert [row[0] for row in rows_of(result.csv)[1:]] == [
        *["[03.05.2021, 01.06.2021]"] * 2,
        *["[31.12.2019, 02.01.2020]"] * 2,
    ]


def test_mixed_types_are_text_with_a_note():
    table = "a,b\n" + "".join(f"{i},x\n" for i in range(9)) + f"{SECRET},x\n"
    column = read_table(table.encode()).column("a")
    assert column.kind == "text"
    assert "first in row 10" in column.notes[0]
    assert SECRET not in column.notes[0]


def test_a_quasi_identifier_may_be_sensitive_too():
    plan = replace(plan_of(["a", "b"]), roles=Roles(quasi=("a", "b"), sensitive=("b",)))
    assert released("a,b\nx,1\nx,1\nx,2\nx,2\n", plan).release.suppressed == 0


def test_a_file_larger_than_allowed_is_refused_before_it_is_read(tmp_path):
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # a sparse file: it declares 1 GiB and holds nothing
    with pytest.raises(BadInput, match=r"huge\.csv has 1,024\.0 MiB; at most") as caught:
        read_table(huge)
    assert "save it as Parquet" in caught.value.remedy


# ---- formulas and markup in cells ----------------------------------------------------------------

FORMULAS = ("=cmd|' /C calc'!A0", "+1+1", "@SUM(1)", "-2+3", '=HYPERLINK("http://x","y")')


def formula_table() -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["q", "n", "s"])
    writer.writerows([q, n, s] for q in FORMULAS for n in (-1, -2.5, 3) for s in (*FORMULAS, "flu"))
    return out.getvalue()


@TECHNIQUES
def test_formulas_are_neutralised_and_the_release_still_verifies(technique):
    result = released(formula_table(), plan_of(["q", "n"], technique=technique, exact=["s"]))
    cells = [cell for row in rows_of(result.csv)[1:] for cell in row]
    assert cells
    for cell in cells:
        plain = cell.startswith("-") and cell.removeprefix("-").replace(".", "", 1).isdigit()
        assert plain or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell
    assert {row[2] for row in rows_of(result.csv)[1:]} == {*("'" + f for f in FORMULAS), "flu"}
    frame = pd.read_parquet(io.BytesIO(result.parquet)).astype(str)
    assert frame.to_numpy().tolist() == rows_of(result.csv)[1:]


@pytest.mark.parametrize("technique", ["optimal", "mondrian", "one-attribute-slicing"])
def test_cells_that_differ_by_an_apostrophe_stay_apart(technique):
    """Neutralising can be undone without loss: `=x` next to `'=x` stays two values."""
    jobs = ["=x", "'=x", "''=x", "-5", "'-5", "'til", "=x"]
    table = Dataset.from_frame(pd.DataFrame({"sex": ["F"] * 7, "job": jobs}), kinds={"job": "text"})
    promise = "bucket-size" if "slicing" in technique else "k-anonymity"
    for sensitive in (True, False):
        plan = Plan.from_mapping(
            {
                "types": {"job": "text"},
                "roles": {
                    "quasi": ["sex"] if sensitive else ["sex", "job"],
                    "sensitive": ["job"] if sensitive else [],
                },
                "algorithm": {"name": technique},
                "models": [{"name": promise, "k": 3}],
            }
        )
        result = run(plan, table)
        assert result.verification.holds
        if sensitive:
            shown = sorted(row[-1] for row in rows_of(result.csv)[1:])
            assert shown == sorted(["'=x", "''=x", "'''=x", "-5", "''-5", "'til", "'=x"])


@TECHNIQUES
def test_formulas_are_kept_when_asked_for(technique):
    keep = "[export]\nformulas = 'keep'"
    plan = plan_of(["q", "n"], keep, technique=technique, exact=["s"])
    result = released(formula_table(), plan)
    assert {row[2] for row in rows_of(result.csv)[1:]} == {*FORMULAS, "flu"}


@TECHNIQUES
@pytest.mark.parametrize("formulas", ["neutralise", "keep"])
def test_exported_formulas_verify_from_the_files(tmp_path, capsys, technique, formulas):
    (tmp_path / "table.csv").write_text(formula_table())
    asked = f"[export]\nformulas = '{formulas}'"
    plan = plan_of(["q", "n"], asked, technique=technique, exact=["s"])
    (tmp_path / "table.toml").write_text(plan.as_toml())
    assert _run(tmp_path, "table") == 0
    arguments = ["verify", str(tmp_path / "table.toml"), "--data", str(tmp_path / "table.csv")]
    assert main([*arguments, "--release", str(tmp_path / "out")]) == 0


def test_a_formula_as_column_name_is_released_when_asked_for():
    plan = plan_of(["q"], "[export]\nformulas = 'keep'", exact=["=1+1"])
    assert released("q,=1+1\nx,1\nx,2\n", plan).csv.startswith(b"q,=1+1\n")


@pytest.mark.parametrize("number", ["-5", "+5", "-2.5", "-1,5", "-1e3"])
def test_signed_numbers_are_no_formulas(number):
    assert neutralised(number) == number


@TECHNIQUES
def test_markup_is_text_like_any_other(technique):
    mark = "<script>alert(1)</script>"
    table = f"<b>a</b>,c\n{mark},1\n{mark},2\n<i>x,1\n<i>x,2\n"
    result = released(table, plan_of(["<b>a</b>"], technique=technique, exact=["c"]))
    assert rows_of(result.csv)[0] == ["<b>a</b>", "c"]
    assert {row[0] for row in rows_of(result.csv)[1:]} == {mark, "<i>x"}


# ---- a population that is odd, but can be used ---------------------------------------------------


def among(people: str, table: str = GOOD, **types: str):
    """Run k-anonymity on a table among people."""
    plan = replace(Plan.from_toml(RECIPE), types=types)
    result = run(
        plan, read_table(table.encode(), kinds=types), population=read_table(people.encode())
    )
    assert result.verification.holds
    return result


def membership_of(result):
    return next(a for a in result.attacks if a.attack == "membership")


def test_numbers_of_the_population_may_be_spelled_otherwise():
    twice = GOOD + GOOD.split("\n", 1)[1]
    bare = among(twice)
    spelled = among(twice.replace("30", "30.0").replace("31", "+31"))
    assert spelled.cautions == bare.cautions == ()
    assert membership_of(spelled).succeeded == membership_of(bare).succeeded


def test_codes_of_the_population_are_read_as_text_where_the_tables_are():
    codes = GOOD.replace("30", "030").replace("31", "031")
    result = among(codes, codes, age="text")
    assert result.cautions == ()
    # Read as numbers, as the other table looks, 30 is another code than 030.
    other = among(GOOD, codes, age="text")
    assert "12 of 12 rows have no person of their own" in other.cautions[0]


def test_rows_that_are_not_in_the_population_are_told_and_never_called_absent():
    """T ⊄ P is infeasible: no claim is made of those who fit such a bucket, least of all δ = 0."""
    people = GOOD.replace("F,30", "F,44", 2)
    result = among(people)
    (cautions,) = result.cautions
    assert "2 of 12 rows have no person of their own in the population table" in cautions
    assert "Give the whole population table" in cautions
    assert figures_of(result)["cautions"] == [cautions]
    attack = membership_of(result)
    assert "not part of the public one" in attack.sentence
    # The one who fits counts as exposed, since nothing is known of them.
    assert (attack.succeeded, attack.at_risk) == (9, 10)


def test_rows_that_are_not_in_the_population_are_told_on_the_command_line(desk, capsys):
    (desk / "table.toml").write_text(PEOPLE)
    (desk / "table.csv").write_text(GOOD)
    (desk / "people.csv").write_text(GOOD.replace("F,30", "F,44"))
    capsys.readouterr()
    out = desk / "other"
    status = main(
        ["run", str(desk / "table.toml"), "--data", str(desk / "table.csv"), "--out", str(out)]
    )
    assert status == 0
    assert "Caution: 3 of 12 rows have no person of their own" in capsys.readouterr().out


def test_a_bucket_too_large_to_count_is_labelled(monkeypatch):
    """Exact chances of a large bucket are out of reach; who is certain is decided all the same."""
    monkeypatch.setattr(membership, "_STATES", 1)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 6, (60, 3)), columns=["a", "b", "c"]).astype(str)
    plan = Plan.from_toml(
        '[roles]\nquasi = ["a", "b", "c"]\n[algorithm]\nname = "one-attribute-slicing"\n'
        '[[models]]\nname = "bucket-size"\nk = 20\n'
    )
    table = Dataset.from_frame(frame.iloc[:30])
    result = run(plan, table, population=Dataset.from_frame(frame))
    attack = membership_of(result)
    assert attack.succeeded == attack.at_risk == 0
    assert attack.worst == 1.0
    assert "too many to count: none of them is certain" in attack.sentence


# ---- the same through Python ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: Dataset.from_frame(pd.DataFrame({"a": []})), BadInput),
        (lambda: Dataset.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"])), BadInput),
        (lambda: Plan.from_toml(""), BadPlan),
        (lambda: Plan.from_toml("[roles"), BadPlan),
        (lambda: Roles(identifier=("a",), sensitive=("a",)), BadPlan),
        (
            lambda: released("a\nx\ny\n", plan_of(["a"]), {"a": [["x", "*"], ["x", "*"]]}),
            BadHierarchy,
        ),
        (lambda: released("a\nx\ny\n", plan_of(["a"], k=3)), Infeasible),
        (lambda: read_table("nowhere.csv"), BadInput),
    ],
)
def test_python_raises_one_kind_of_error_with_a_remedy(make: Callable[[], object], kind):
    with pytest.raises(kind) as caught:
        make()
    assert isinstance(caught.value, AnonError)
    assert caught.value.remedy
    assert str(caught.value).endswith(caught.value.remedy)
