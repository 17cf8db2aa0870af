"""Labels that are not true: refused with both ways on, renamed, or confirmed as names."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadHierarchy, BadPlan, NotVerified
from anon_core.data.hierarchy.label_truth import with_true_labels
from anon_core.data.table import Dataset
from anon_core.explain.text.checklist import published
from anon_core.pipeline import prepare
from anon_core.recipe.plan import Plan
from anon_core.verification.rows.recipe_changes import relabelled
from anon_core.verification.text.texts import Spelling
from tests.often import times

#: As a well-known file of the field has it: 5 is under 0-4.
AGES = [[str(a), f"{(a - 1) // 5 * 5}-{(a - 1) // 5 * 5 + 4}", "*"] for a in range(1, 16)]
REASON = "the groups of the agency's own form"


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": [str(a) for a in range(1, 16)] * 2, "ill": (["flu", "cold", "gout"] * 10)}
    )


def recipe(**more: Any) -> dict[str, Any]:
    return {
        "types": {"age": "number"},
        "roles": {"quasi": ["age"], "sensitive": ["ill"]},
        "hierarchies": {"age": "age.csv"},
        "algorithm": {"name": "fixed-levels", "levels": {"age": 1}},
        "models": [{"name": "k-anonymity", "k": 3}],
        **more,
    }


def released(**more: Any) -> Any:
    plan = Plan.from_mapping(recipe(**more))
    return run(plan, Dataset.from_frame(table(), kinds=plan.types), {"age": AGES})


def test_a_refusal_names_both_ways_on_as_lines_of_the_recipe() -> None:
    with pytest.raises(BadHierarchy, match="'0-4' is not true of 1 of its 5 values") as refused:
        released()
    assert 'age = "rename"' in refused.value.remedy
    assert 'age = { names = "the reason why" }' in refused.value.remedy


def test_groups_are_renamed_to_what_they_hold() -> None:
    result = released(labels={"age": "rename"})
    assert set(result.published.column("age").to_pylist()) == {"1-5", "6-10", "11-15"}
    assert result.verification.holds
    assert result.plan.as_mapping()["labels"] == {"age": "rename"}
    assert any("renamed" in item.sentence for item in published(result))


def test_names_are_published_as_they_are_with_the_reason_on_file() -> None:
    result = released(labels={"age": {"names": REASON}})
    assert set(result.published.column("age").to_pylist()) == {"0-4", "5-9", "10-14"}
    assert result.verification.holds
    (coverage,) = [c for c in result.verification.checks if c.name == "coverage"]
    assert "Labels of 'age' are names" in coverage.sentence
    assert "is not checked" in coverage.sentence
    assert any(REASON in item.sentence for item in published(result))


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ({"age": "renamed"}, r"\[labels\] 'age' is 'renamed'"),
        ({"age": {"names": ""}}, r"\[labels\] 'age' is"),
        ({"age": {"names": "x", "more": 1}}, r"\[labels\] 'age' is"),
        ({"age": {"reason": "x"}}, r"\[labels\] 'age' is"),
        ({"aeg": "rename"}, "no hierarchy for it"),
        ({"ill": "rename"}, "no hierarchy for it"),
    ],
)
def test_what_is_not_understood_is_refused(labels: dict[str, Any], match: str) -> None:
    with pytest.raises(BadPlan, match=match):
        released(labels=labels)


def test_texts_have_no_range_to_be_named_after() -> None:
    frame = pd.DataFrame({"zip": ["01090", "01091", "02625", "02626"] * 3})
    plan = Plan.from_mapping(
        {
            "types": {"zip": "text"},
            "roles": {"quasi": ["zip"]},
            "hierarchies": {"zip": "zip.csv"},
            "labels": {"zip": "rename"},
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    )
    levels = [[z, "0109*", "*"] for z in ("01090", "01091", "02625", "02626")]
    with pytest.raises(BadPlan, match="has none"):
        run(plan, Dataset.from_frame(frame, kinds=plan.types), {"zip": levels})


@pytest.mark.parametrize("labels", ['age = "rename"', f'age = {{ names = "{REASON}" }}'])
def test_from_the_command_line_to_every_file_that_comes_out(
    tmp_path: Path, labels: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "age.csv").write_text("\n".join(";".join(row) for row in AGES), encoding="utf-8")
    (tmp_path / "r.toml").write_text(
        f"""
version = 3
[types]
age = "number"
[roles]
quasi = ["age"]
sensitive = ["ill"]
[hierarchies]
age = "age.csv"
[labels]
{labels}
[algorithm]
name = "fixed-levels"
levels = {{ age = 1 }}
[[models]]
name = "k-anonymity"
k = 3
""",
        encoding="utf-8",
    )
    at, data, out = (str(tmp_path / n) for n in ("r.toml", "t.csv", "out"))
    done = str(tmp_path / "done.toml")
    assert main(["run", at, "--data", data, "--out", out, "--recipe-out", done, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["verified"]
    for one in (at, done):
        assert main(["verify", one, "--data", data, "--release", out]) == 0
        assert main(["verify", one, "--release", out, "--release-only"]) == 5
    capsys.readouterr()
    folder = tmp_path / "report"
    asked = ["--data", data, "--release", out, "--out", str(folder), "--format", "json"]
    assert main(["report", done, *asked]) == 0
    (made,) = folder.glob("*.json")
    text = made.read_text(encoding="utf-8")
    assert ("renamed to the range" if "rename" in labels else REASON) in text


def test_labels_with_digits_that_state_no_range_are_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = [[row[0], f"g{(int(row[0]) - 1) // 5}", "*"] for row in AGES]

    def made(**more: Any) -> Any:
        plan = Plan.from_mapping(recipe(**more))
        data = Dataset.from_frame(table(), kinds=plan.types)
        return run(plan, data, {"age": named})

    said = "level 1: label 'g0', first in line 1, seems to state a number"
    with pytest.raises(BadHierarchy, match=said) as refused:
        made()
    assert 'age = { names = "the reason why" }' in refused.value.remedy
    assert "\n" not in refused.value.remedy
    assert made(labels={"age": {"names": REASON}}).verification.holds
    monkeypatch.setattr(prepare, "refuse_untrue", Mock())
    with pytest.raises(NotVerified, match="labels that seem to state a number or a time"):
        made()


@pytest.mark.often
@pytest.mark.parametrize("kind", ["number", "date"])
def test_both_computations_rename_alike(kind: str) -> None:
    """On level tables of random intervals with labels that are off by some values."""
    spelling = Spelling(kind=kind, neutralised=False)
    renamed = 0
    for number in range(times(200, share=3)):
        rng = random.Random(number)
        values = sorted(rng.sample(range(-30 if kind == "number" else 1, 60), rng.randint(2, 9)))
        texts = [
            str(v)
            if kind == "number"
            else (pd.Timestamp("2024-01-01") + pd.Timedelta(v, "D")).date().isoformat()
            for v in values
        ]
        rows, cut = [[text] for text in texts], 0
        for _ in range(rng.randint(1, 2)):
            cut = rng.randint(1, len(rows))
            for place, row in enumerate(rows):
                own = texts[:cut] if place < cut else texts[cut:]
                low, high = own[0], own[-1]
                off = rng.random() < 0.4 and place in (0, cut)
                row.append(f"{low} to {own[0] if off else high}" if rng.random() < 2 else high)
            first = {True: rows[0][-1], False: rows[-1][-1]}
            for place, row in enumerate(rows):  # one label a group
                row[-1] = first[place < cut]
        rows = [[*row, "*"] for row in rows]
        rng.shuffle(rows)
        ours = with_true_labels(rows, kind)
        theirs = relabelled({"labels": {"x": "rename"}}, {"x": rows}, lambda _: spelling)["x"]
        assert [list(row) for row in theirs] == ours
        renamed += ours != rows
    assert renamed > times(30, share=3)
