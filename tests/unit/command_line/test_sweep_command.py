"""`sweep` on the command line: every combination is shown, and the answer names one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anon_core.__main__ import main
from anon_core.pipeline.sweep import sweep as sweep_module

RECIPE = """\
version = 5
[types]
zip = "text"
[roles]
quasi = ["age", "zip"]
sensitive = ["illness"]
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
k = 2
"""
TABLE = (
    "age,zip,illness\n20,101,flu\n20,102,flu\n20,101,cold\n40,201,flu\n40,202,cold\n40,202,flu\n"
)


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    recipe, data = tmp_path / "recipe.toml", tmp_path / "table.csv"
    recipe.write_text(RECIPE.removeprefix("version = 5\n"), encoding="utf-8")
    data.write_text(TABLE, encoding="utf-8")
    return ["sweep", str(recipe), "--data", str(data)]


def test_points_and_answer_as_json(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "algorithm=mondrian,optimal", "--vary", "models.k=2,3,9"]
    assert main([*asked, *vary, "--at-most", "prosecutor=0.4", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    points = printed["points"]
    assert [p["choices"]["models.k"] for p in points] == [2, 3, 9] * 2
    assert [p["status"] for p in points] == ["released", "released", "infeasible"] * 2
    within = [p for p in points if p["verified"] and p["risks"]["prosecutor"]["worst"] <= 0.4]
    best = points[printed["answer"]["point"]]
    assert printed["answer"]["within"] == len(within)
    assert best["metrics"]["group-loss"] == min(p["metrics"]["group-loss"] for p in within)
    assert "seed" not in json.dumps(printed)


def test_a_sweep_that_is_stopped_tells_what_is_ready(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    carried_out = sweep_module.run
    sizes: list[int] = []

    def stopped_at_three(plan: Any, *given: Any, **named: Any) -> object:
        sizes.append(plan.models[0].k)
        if sizes[-1] == 3:
            raise KeyboardInterrupt
        return carried_out(plan, *given, **named)

    monkeypatch.setattr(sweep_module, "run", stopped_at_three)
    sweep = [*asked, "--vary", "algorithm=mondrian", "--vary"]
    assert main([*sweep, "models.k=2,3,4", "--json"]) == 130
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["status"] == "stopped"
    assert [p["choices"]["models.k"] for p in found["points"]] == [2]
    assert "Stopped after 1 of 3 points" in printed.err
    assert main([*sweep, "models.k=3,2", "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert "points" not in found
    assert "nothing was released" in found["error"]
    assert sizes == [2, 3, 3]


def test_points_in_words(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "algorithm=mondrian,permutation", "--vary", "models.k=3"]
    assert main([*asked, *vary, "--at-most", "prosecutor=0.4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "prosecutor not run" in lines[1]
    assert lines[2].startswith("Least group-loss with prosecutor (worst) at most 0.4: Mondrian")


def test_statuses(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*asked, "--vary", "models.k=9,10"]) == 2
    assert main([*asked, "--vary", "models.depth=2"]) == 1
    assert main([*asked, "--vary", "models.k=2", "--at-most", "prosecutor"]) == 1
    assert "not a limit of a risk" in capsys.readouterr().err


def test_more_precision_is_better(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "algorithm=optimal", "--vary", "models.k=2,3,4"]
    limit = ["--at-most", "prosecutor=0.5", "--loss", "precision"]
    assert main([*asked, *vary, *limit, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    reached = [p["metrics"]["precision"] for p in printed["points"]]
    assert reached[printed["answer"]["point"]] == max(reached) > min(reached)
    assert main([*asked, *vary, *limit]) == 0
    assert "Most precision with prosecutor" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--loss", "mind"], "Unknown metric 'mind'"),
        (["--at-most", "burglar:ill=0.5"], "Unknown attack 'burglar'"),
    ],
)
def test_names_that_are_none_are_refused_before_the_work(
    asked: list[str], more: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, "--vary", "models.k=2", *more]) == 1
    written = capsys.readouterr()
    assert text in written.err
    assert not written.out


def test_a_loss_that_is_not_measured_is_no_answer(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    limit = ["--at-most", "prosecutor=0.5", "--loss", "model-utility"]
    assert main([*asked, "--vary", "models.k=2", *limit]) == 1
    assert "No release of this sweep is measured by 'model-utility'" in capsys.readouterr().err
