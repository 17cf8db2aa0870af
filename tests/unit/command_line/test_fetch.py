"""`fetch`: a query's rows become a file, and no message holds the password."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.data.reading import read_table
from anon_core.data.reading.database import PASSWORD

SECRET = "p@ss wörd/1"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("f.db") as made:
        made.execute("create table people (age integer, name text, mixed, big integer, raw blob)")
        rows = [(30, "Ann", 1, 2**60 + 1, b"x"), (None, "Bö", "one", None, None)]
        made.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    return tmp_path


def fetch(sql: str, out: str = "t.parquet", database: str = "sqlite:///f.db", *more: str) -> int:
    return main(["fetch", "--database", database, "--sql", sql, "--out", out, *more])


def test_a_query_becomes_a_table_with_its_types(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("q.sql").write_text("select age, name, mixed, big from people")
    assert fetch("@q.sql") == 0
    assert "2 rows written to t.parquet" in capsys.readouterr().out
    assert (desk / "t.parquet").stat().st_mode & 0o077 == 0
    found = read_table("t.parquet")
    assert found.column("age").texts().tolist() == ["30", None]
    assert found.column("mixed").texts().tolist() == ["1", "one"]
    assert found.column("big").texts().tolist() == [str(2**60 + 1), None]
    assert found.column("name").texts().tolist() == ["Ann", "Bö"]
    assert fetch("select 1 as a") == 1
    assert "t.parquet is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("select * from people", "Column 'raw' of the query's result holds raw bytes"),
        ("select age, age from people", "Two columns are called 'age'"),
        ("select age from people where age > 90", "finds no rows"),
        ("select age from Ann", "refused the query or cannot be reached (OperationalError)"),
        ("delete from people", "returns no rows"),
    ],
)
def test_what_is_wrong_with_a_query_is_told(
    desk: Path, capsys: pytest.CaptureFixture[str], sql: str, says: str
) -> None:
    assert fetch(sql) == 1
    assert says in capsys.readouterr().err
    assert not (desk / "t.parquet").exists()
    with sqlite3.connect("f.db") as made:
        assert made.execute("select count(*) from people").fetchone() == (2,)


@pytest.mark.parametrize(
    "database", ["postgresql+nowhere://me:{0}@x/y", "nodb://me:{0}@x/y", ":{0}"]
)
@pytest.mark.parametrize("inside", [True, False])
def test_no_message_holds_the_password(
    desk: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    database: str,
    inside: bool,
) -> None:
    quoted = "p%40ss+w%C3%B6rd%2F1"
    if not inside:
        monkeypatch.setenv(PASSWORD, SECRET)
    place = database.format(quoted) if inside else database.replace(":{0}", "")
    assert fetch("select 1", "t.parquet", place, "--show-values") == 1
    said = "".join(capsys.readouterr())
    assert said
    assert SECRET not in said
    assert quoted not in said
    assert "p%40ss" not in said


def test_a_driver_that_quotes_the_password_is_not_quoted(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlalchemy

    def refused(url: sqlalchemy.URL, **_: object) -> None:
        raise sqlalchemy.exc.OperationalError(f"no way, {url.password}", {}, ValueError("dsn"))

    monkeypatch.setattr(sqlalchemy, "create_engine", refused)
    monkeypatch.setenv(PASSWORD, SECRET)
    assert fetch("select 1", "t.parquet", "sqlite://me@x/y", "--show-values") == 1
    said = capsys.readouterr().err
    assert "no way, ***" in said
    assert SECRET not in said


def test_decimals_stay_what_they_are() -> None:
    from anon_core.data.reading.database import _parquet

    found = read_table(_parquet(["cost"], [(Decimal("12.50"),), (None,)]))
    assert found.column("cost").texts().tolist() == ["12.50", None]
