"""A decided recipe on next month's table: nothing is searched, and what changed is shown."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import tomli_w

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan
from anon_core.recipe.plan import Plan
from anon_core.verification.checks import verify

_CITIES = {"Bonn": "West", "Köln": "West", "Jena": "East", "Gera": "East"}
RECIPE: dict[str, Any] = {
    "version": 3,
    "roles": {"quasi": ["age", "city"], "sensitive": ["illness"]},
    "hierarchies": {"age": "age.csv", "city": "city.csv"},
    "algorithm": {"name": "optimal", "max_suppression": 0.1},
    "models": [{"name": "k-anonymity", "k": 2}],
}
ROWS = [(age, city, "flu") for age in (21, 25, 41, 45) for city in ("Bonn", "Jena")] * 2


class Desk:
    """A folder with last month's table, its recipe and what was decided."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        ages = [f"{a};{a // 10 * 10}-{a // 10 * 10 + 9};*" for a in range(20, 50)]
        (folder / "age.csv").write_text("\n".join(ages), encoding="utf-8")
        cities = [f"{city};{side};*" for city, side in _CITIES.items()]
        (folder / "city.csv").write_text("\n".join(cities), encoding="utf-8")
        self.write("recipe", RECIPE)

    def write(self, name: str, recipe: dict[str, Any]) -> Path:
        place = self.folder / f"{name}.toml"
        place.write_text(tomli_w.dumps(recipe), encoding="utf-8")
        return place

    def table(self, rows: list[tuple[int, str, str]]) -> Path:
        place = self.folder / "table.csv"
        lines = [f"{age},{city},{illness}" for age, city, illness in rows]
        place.write_text("\n".join(["age,city,illness", *lines]) + "\n", encoding="utf-8")
        return place

    def run(self, recipe: str, rows: list[tuple[int, str, str]], *more: str) -> int:
        asked = [str(self.folder / f"{recipe}.toml"), "--data", str(self.table(rows))]
        return main(["run", *asked, "--out", str(self.out), "--json", *more])

    def verified(self, recipe: str) -> int:
        asked = [str(self.folder / f"{recipe}.toml"), "--data", str(self.folder / "table.csv")]
        return main(["verify", *asked, "--release", str(self.out)])

    def decide(self, **more: Any) -> dict[str, Any]:
        """Decide on last month's table, and return the decided recipe."""
        place = self.folder / "decided.toml"
        assert self.run("recipe", ROWS, "--decided-out", str(place)) == 0
        decided = tomllib.loads(place.read_text(encoding="utf-8")) | more
        self.write("decided", decided)
        return decided


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_what_was_decided_is_carried_out_without_a_search_or_a_secret(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    decided = desk.decide()
    figures = capsys.readouterr().out
    assert "seed" not in decided
    assert decided["algorithm"]["levels"] == json.loads(figures)["node"]
    assert decided["reuse"] == {"mode": "fixed", "unseen": "fail"}
    (desk.folder / "then.json").write_text(figures, encoding="utf-8")
    rows = [row for row in ROWS if row[1] == "Bonn"] + [(33, "Gera", "cold")] * 4
    assert desk.run("decided", rows, "--then", str(desk.folder / "then.json")) == 0
    printed = json.loads(capsys.readouterr().out)
    drift = {(one["kind"], one["what"], one["text"]): one for one in printed["drift"]}
    assert drift["figure", "rows", None]["then"] == 16
    assert drift["figure", "rows", None]["now"] == 12
    gone, new = (next(n for k, _, n in drift if k == kind) for kind in ("gone", "new"))
    before, after = (json.loads(text)["published_texts"] for text in (figures, json.dumps(printed)))
    assert any(gone in texts for texts in before.values())
    assert any(new in texts for texts in after.values())
    assert desk.verified("decided") == 0


@pytest.mark.parametrize(("unseen", "published"), [("suppress", 16), ("top", 18)])
def test_a_city_no_hierarchy_has(
    desk: Desk, capsys: pytest.CaptureFixture[str], unseen: str, published: int
) -> None:
    rows = [*ROWS, (21, "Atlantis", "cold"), (21, "Atlantis", "flu")]
    levels = {"age": 1, "city": 1}
    decided = desk.decide()
    decided["algorithm"]["levels"] = levels
    desk.write("decided", decided)
    assert desk.run("decided", rows) == 4
    said = capsys.readouterr().err
    assert "lacks 1 of the column's 3 values" in said
    assert "Or set unseen = 'top' or 'suppress' under [reuse]." in said
    desk.write("decided", decided | {"reuse": {"mode": "fixed", "unseen": unseen}})
    capsys.readouterr()
    assert desk.run("decided", rows) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"] - printed["suppressed"] == published
    assert printed["unseen_rows"] == 18 - published
    assert printed["published_texts"]["city"].get("*", 0) == published - 16
    assert "Atlantis" not in (desk.out / "release.csv").read_text(encoding="utf-8")
    assert desk.verified("decided") == 0
    assert "2 rows hold a value that no hierarchy has, and" in capsys.readouterr().out


@pytest.mark.parametrize("unseen", ["suppress", "top"])
def test_a_city_that_is_written_as_a_group_is_refused(
    desk: Desk, capsys: pytest.CaptureFixture[str], unseen: str
) -> None:
    desk.decide(reuse={"mode": "fixed", "unseen": unseen})
    before = (desk.out / "release.csv").read_bytes()
    capsys.readouterr()
    assert desk.run("decided", [*ROWS, (21, "West", "flu")]) == 4
    error = capsys.readouterr().err
    assert "Column 'city' has a value that its hierarchy does not know" in error
    assert "give the hierarchy's groups other labels" in error
    assert "West" not in error
    assert (desk.out / "release.csv").read_bytes() == before


def test_a_number_no_hierarchy_has_cannot_be_the_top(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.decide(reuse={"mode": "fixed", "unseen": "top"})
    capsys.readouterr()
    assert desk.run("decided", [*ROWS, (99, "Bonn", "flu")] * 2) == 4
    error = capsys.readouterr().err
    assert "'age' lacks 1" in error
    assert "99" not in error


def test_verification_reads_for_itself_which_rows_were_left_out(desk: Desk) -> None:
    decided = desk.decide(reuse={"mode": "fixed", "unseen": "suppress"})
    assert desk.run("decided", [*ROWS, (21, "Atlantis", "cold"), (99, "Bonn", "flu")]) == 0
    private = pd.read_csv(desk.folder / "table.csv", dtype=str)
    levels = {
        name: [line.split(";") for line in (desk.folder / f"{name}.csv").read_text().split("\n")]
        for name in ("age", "city")
    }
    files = {"release.csv": (desk.out / "release.csv").read_bytes()}
    found = verify(decided, private, levels, files)
    assert found.holds
    (checks,) = [check for check in found.checks if check.name == "unseen"]
    assert (checks.reached, checks.bound) == (2.0, 18.0)
    # Without the word of the recipe they count as suppressed; with fewer rows they are missed.
    whole = {n: v for n, v in decided.items() if n != "reuse"}
    loud = {**whole, "algorithm": {**whole["algorithm"], "max_suppression": 0.0}}
    assert not verify(loud, private, levels, files).holds
    assert not verify(decided, private.iloc[2:], levels, files).holds


@pytest.mark.parametrize(
    ("gate", "sentence"),
    [
        ({"rows": 0.95}, "published is 0.888889; at least 0.95 is accepted."),
        ({"metric": "average-class-size", "most": 0.5}, "; at most 0.5 is accepted."),
        ({"attack": "prosecutor", "most": 0.01}, ", at worst is "),
        ({"attack": "membership", "most": 1.0}, " was not measured, so that the gate"),
    ],
)
def test_a_gate_that_is_missed_releases_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str], gate: dict[str, Any], sentence: str
) -> None:
    rows = [*ROWS, (21, "Atlantis", "cold"), (99, "Bonn", "flu")]
    desk.decide(reuse={"mode": "fixed", "unseen": "suppress"}, accept=[gate, {"rows": 0.5}])
    (desk.out / "release.csv").unlink()
    capsys.readouterr()
    assert desk.run("decided", rows) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert json.loads(printed.out)["status"] == "not accepted"
    assert not (desk.out / "release.csv").exists()


def test_a_gate_that_is_met_lets_it_through(desk: Desk) -> None:
    gates = [{"rows": 1.0}, {"metric": "loss", "most": 1.0}]
    decided = desk.decide(accept=[*gates, {"attack": "prosecutor", "most": 1, "at": "average"}])
    assert desk.run("decided", ROWS) == 0
    plan = Plan.from_mapping(decided)
    assert Plan.from_toml(plan.as_toml()).accept == plan.accept


_FIXED = {"mode": "fixed"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"reuse": _FIXED}, "mode is 'fixed', but "),
        ({"reuse": {"mode": "often"}}, "mode is 'often'"),
        ({"reuse": {"unseen": "guess"}}, "unseen is 'guess'"),
        ({"reuse": {"unsen": "fail"}}, "unknown key 'unsen'"),
        ({"accept": [{"rows": 2}]}, "rows is 2"),
        ({"accept": [{"metric": "loss"}]}, "has no limit"),
        ({"accept": [{"metric": "loss", "most": 1, "least": 0}]}, "has no limit"),
        ({"accept": [{"metric": "los", "most": 1}]}, "Unknown metric 'los'"),
        ({"accept": [{"attack": "prosecutor", "most": "low"}]}, "most is 'low'"),
        ({"accept": [{"attack": "prosecutor", "most": True}]}, "most is True"),
        ({"accept": [{"attack": "prosecutor", "most": 1, "at": "best"}]}, "at is 'best'"),
        ({"accept": [{"metric": "loss", "attack": "prosecutor", "most": 1}]}, "has the keys"),
        ({"accept": ["rows"]}, "other than tables"),
    ],
)
def test_what_is_no_reuse_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(BadPlan, match=message):
        Plan.from_mapping({**RECIPE, **more})


def test_averages_decide_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.write("recipe", {**RECIPE, "algorithm": {"name": "microaggregation"}})
    assert desk.run("recipe", ROWS, "--decided-out", str(desk.folder / "decided.toml")) == 1
    assert "neither a level for each column" in capsys.readouterr().err
    assert not desk.out.exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda figures: "no JSON",
        lambda figures: json.dumps([figures]),
        lambda figures: json.dumps({**figures, "status": "error"}),
        lambda figures: json.dumps({n: v for n, v in figures.items() if n != "attacks"}),
        lambda figures: json.dumps({**figures, "published_texts": 3}),
        lambda figures: json.dumps({**figures, "metrics": {"loss": "low"}}),
    ],
)
def test_figures_that_are_none_release_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str], spoil: Callable[[dict[str, Any]], str]
) -> None:
    desk.decide()
    printed = json.loads(capsys.readouterr().out)
    (desk.out / "release.csv").unlink()
    (desk.folder / "then.json").write_text(spoil(printed), encoding="utf-8")
    assert desk.run("decided", ROWS, "--then", str(desk.folder / "then.json")) == 1
    assert "earlier run" in capsys.readouterr().err
    assert not (desk.out / "release.csv").exists()


def test_both_engines_carry_decided_parts_out_alike(desk: Desk) -> None:
    desk.write("recipe", RECIPE | {"algorithm": {"name": "mondrian"}})
    desk.decide()
    rows = [(age, city, "cold") for age, city, _ in ROWS if age != 21] + [(22, "Gera", "flu")] * 2
    found: list[dict[str, bytes]] = []
    for engine in ("memory", "duckdb"):
        desk.out = desk.folder / engine
        assert desk.run("decided", rows, "--engine", engine) == 0
        found.append({file.name: file.read_bytes() for file in desk.out.iterdir()})
    assert found[0] == found[1]
