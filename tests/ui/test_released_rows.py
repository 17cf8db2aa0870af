"""A condition on rows holds on every page: what is counted are the rows that are published."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.__main__ import main as command
from anon_core.data.samples import sample
from tests.ui.sessions import load, open_page, wait_for, words


@pytest.fixture(scope="module")
def women() -> int:
    return int((sample("hospital").frame()["sex"] == "F").sum())


def opened(page: str, **data: str) -> AppTest:
    app = open_page(page, load("hospital", data={"where": "sex = 'F'", **data}))
    assert not app.exception
    return app


def test_roles_counts_the_rows_that_are_published(women: int) -> None:
    app = opened("pages/2_Roles.py")
    assert f" of {women:,})" in words(app)
    assert f"{women:,} of 5,000 rows" in "".join(one.value for one in app.sidebar.caption)


def test_hierarchies_counts_the_rows_that_are_published() -> None:
    whole = open_page("pages/3_Hierarchies.py", load("hospital"))
    numbers, fewer = (
        next(one.value for one in app.dataframe if "Unique rows" in one.value)
        for app in (whole, opened("pages/3_Hierarchies.py"))
    )
    # A row is unique among the published at the least where it is among all.
    assert (fewer["Unique rows"] != numbers["Unique rows"]).any()


def test_a_condition_that_chooses_no_row_is_said_where_it_is_met() -> None:
    for page in ("pages/2_Roles.py", "pages/3_Hierarchies.py"):
        app = open_page(page, load("hospital", data={"where": "sex = 'X'"}))
        assert not app.exception
        assert "true of none of" in words(app)


def test_tables_counts_them_and_its_recipe_gives_the_same_bytes(
    women: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Any] = {}
    monkeypatch.setattr(
        "ui.panels.protected_table.download",
        lambda label, content, **answer: offered.__setitem__(
            answer["file"], content() if callable(content) else content
        ),
    )
    app = opened("pages/10_Tables.py")
    wait_for(app.button(key="tables/protect").click().run(), "protect-table")
    assert not app.exception
    with zipfile.ZipFile(io.BytesIO(offered["table.zip"])) as packed:
        packed.extractall(tmp_path)
    private = tmp_path / "private.csv"
    sample("hospital").frame().to_csv(private, index=False)
    out = tmp_path / "out"
    asked = ["table", str(tmp_path / "recipe.toml"), "--data", str(private), "--out", str(out)]
    assert command(asked) == 0
    assert (out / "table.csv").read_bytes() == offered["table.csv"]
    assert f"{women}" in offered["table.csv"].decode()
