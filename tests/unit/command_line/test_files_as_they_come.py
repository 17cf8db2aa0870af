"""Releases from files that are no CSV, on the command line: run, verified from the original."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from anon_core.__main__ import main

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


@pytest.mark.parametrize(("shown", "told"), [("labels", "Female"), ("codes", "2")])
def test_labels_or_codes_are_published_and_verified(
    tmp_path: Path, shown: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"sex": [1, 1, 2, 2] * 2, "age": [30, 30, 40, 40] * 2})
    pyreadstat.write_sav(frame, "s.sav", variable_value_labels={"sex": {1: "Male", 2: "Female"}})
    Path("recipe.toml").write_text(RECIPE.format(shown=shown))
    asked = ["recipe.toml", "--data", "s.sav"]
    assert main(["run", *asked, "--out", "release"]) == 0
    assert set(pd.read_csv("release/release.csv", dtype=str)["sex"]) >= {told}
    assert main(["verify", *asked, "--release", "release"]) == 0
    other = "codes" if shown == "labels" else "labels"
    Path("recipe.toml").write_text(RECIPE.format(shown=other))
    assert main(["verify", *asked, "--release", "release"]) != 0
