"""Recommendations: they run and verify or say what speaks against them, on every shipped sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import family
from anon_core.base.thresholds import RELEASE_MODELS, USUAL_THRESHOLDS
from anon_core.cli.output import INFEASIBLE
from anon_core.contracts.algorithm import Algorithm, Purpose
from anon_core.contracts.model import Stops
from anon_core.data.hierarchy import read_levels
from anon_core.data.samples import SAMPLES, Sample, hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.explain.advice.recommendations import Recommendation, Request, recommended
from anon_core.explain.advice.table_facts import Facts, facts_of
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan, read_plan
from tests.making import secret

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
FACTS = Facts(
    rows=1000,
    people=1000,
    quasi=("age", "zip"),
    numbers=("age",),
    nodes=20,
    shares={"disease": Fraction(1, 30)},
)


def asked(*concealed: Stops, purpose: Purpose = "statistics", **more: Any) -> Request:
    return Request(purpose=purpose, concealed=concealed, **{"recipient": "public", **more})


@cache
def loaded(name: str) -> tuple[Dataset, Mapping[str, Any], Facts]:
    one = sample(name)
    data = Dataset.from_frame(one.frame(), kinds=dict(one.types))
    levels = {c: read_levels(hierarchy_folder() / p, c) for c, p in one.hierarchies.items()}
    public = sample(one.public).rows if one.public else 0
    return data, levels, facts_of(data, one.roles, levels, public)


def plan_of(one: Sample, advice: Recommendation) -> Plan:
    roles = one.roles
    return Plan.from_mapping(
        {
            "seed": f"{secret(5):064x}",
            "roles": {
                "identifier": list(roles.identifier),
                "quasi": list(roles.quasi),
                "sensitive": list(roles.sensitive),
                "insensitive": list(roles.insensitive),
            },
            "types": dict(one.types),
            "hierarchies": dict(one.hierarchies),
            **({"population": {"file": "public.csv"}} if one.public else {}),
            **advice.tables(),
        }
    )


def carried_out(name: str, request: Request) -> list[str]:
    """Carry out all that is recommended; what a table cannot keep must be said before."""
    one = sample(name)
    data, levels, facts = loaded(name)
    public = None
    if one.public:
        public = Dataset.from_frame(sample(one.public).frame())
    values: list[str] = []
    found = recommended(request, facts)
    assert found
    for advice in found:
        assert advice.reason.endswith(".")
        if advice.asks_first:
            with pytest.raises(BadPlan, match=r"made without|Confirm|fixed_rules"):
                run(plan_of(one, advice), data, levels, population=public)
            values.append("asks first")
            continue
        try:
            result = run(plan_of(one, advice), data, levels, population=public)
        except Infeasible:
            assert advice.obstacles
            values.append("infeasible")
        else:
            assert not advice.obstacles
            assert result.verification.holds
            values.append("holds")
    return values


@pytest.mark.parametrize("name", [s.name for s in SAMPLES if s.rows < 100])
def test_what_is_recommended_for_small_samples_runs_and_verifies(name: str) -> None:
    for purpose in ("statistics", "sharing"):
        ways: list[tuple[Stops, ...]] = [("identity", "attribute")]
        if sample(name).sensitive:
            ways.append(("attribute",))
        for concealed in ways:
            request = asked(*concealed, purpose=purpose, recipient="secure environment")
            assert "holds" in carried_out(name, request)
    assert set(carried_out(name, asked("identity"))) == {"infeasible"}  # 12 of 10 rows


def test_presence_is_kept_secret_with_a_public_table_and_asks_first_without() -> None:
    assert carried_out("toth-private", asked("presence", purpose="sharing")) == ["holds"] * 3
    assert carried_out("samarati", asked("presence")) == ["asks first"]


@pytest.mark.long
@pytest.mark.parametrize("name", [s.name for s in SAMPLES if s.rows >= 100 and s.available()])
@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_is_recommended_for_large_samples_runs_and_verifies(
    name: str, purpose: Purpose
) -> None:
    for concealed in (("identity", "attribute"), ("attribute",)):
        request = asked(*cast(tuple[Stops, ...], concealed), purpose=purpose)
        assert set(carried_out(name, request)) == {"holds"}


def test_the_threshold_sets_k_and_says_why() -> None:
    for recipient, k in (("public", 12), ("agreement", 5), ("secure environment", 4)):
        for advice in recommended(asked("identity", recipient=recipient), FACTS):
            assert advice.models[0].size_asked == k
            assert {a["threshold"] for a in advice.tables()["attacks"]} == {advice.threshold}
    (note, *_) = recommended(asked("identity"), FACTS)[0].notes
    assert note == "0.09 needs groups of at least 12: 1 in 11 is 0.0909, which is above it."
    assert recommended(asked("identity", chance=0.05), FACTS)[0].models[0].size_asked == 20


def test_two_or_three_are_recommended_for_whatever_is_asked() -> None:
    for purpose in PURPOSES:
        for concealed in (("identity",), ("identity", "attribute"), ("attribute",)):
            request = asked(*cast(tuple[Stops, ...], concealed), purpose=purpose)
            assert 2 <= len(recommended(request, FACTS)) <= 3
        both = asked("identity", "presence", purpose=purpose)
        assert all(
            a.algorithm.needs.counts_public for a in recommended(both, replace(FACTS, public=9000))
        )


def test_a_technique_needs_what_the_table_lacks() -> None:
    def first(facts: Facts, *concealed: Stops) -> type[Algorithm]:
        return type(recommended(asked(*concealed), facts)[0].algorithm)

    assert not first(FACTS, "identity").shape.averages
    assert first(replace(FACTS, numbers=FACTS.quasi), "identity").shape.averages
    assert first(FACTS, "attribute").shape.permutes
    assert not first(FACTS, "identity", "attribute").shape.permutes
    assert first(replace(FACTS, lacking=("zip",)), "identity").shape.forms_ranges
    assert first(FACTS, "identity").shape.one_level
    assert not first(replace(FACTS, nodes=10**7), "identity").shape.one_level
    person = recommended(asked("identity", "attribute"), replace(FACTS, person="id"))
    assert person
    assert all(advice.algorithm.needs.counts_people for advice in person)


def test_values_too_common_for_the_threshold_are_told() -> None:
    def advised(share: Fraction) -> tuple[str, str]:
        facts = replace(FACTS, shares={"disease": share})
        advice = recommended(asked("attribute"), facts)[0]
        return advice.models[0].settings()[0], " ".join(advice.notes)

    assert advised(Fraction(1, 30)) == ("l = 12", "")
    settings, note = advised(Fraction(1, 15))
    assert settings == "l = 7"
    assert "would need l = 12 for sensitive values; the table allows only l = 7" in note
    settings, note = advised(Fraction(3, 4))
    assert settings.startswith("t = 0.2")
    assert "has one value in 75% of its rows" in note


def test_ends_of_ranges_are_told_where_anyone_may_see_them() -> None:
    facts = replace(FACTS, measured=("age",), bare=("age",))
    for recipient in ("public", "agreement"):
        request = asked("identity", purpose="sharing", recipient=recipient)
        for advice in recommended(request, facts):
            text = "Ranges of “age” end at values" in " ".join(advice.notes)
            assert text == (recipient == "public" and advice.algorithm.shape.forms_ranges)


def test_the_public_gets_round_groups_where_hierarchies_have_them() -> None:
    facts = replace(FACTS, measured=("age",))
    for recipient in ("public", "agreement"):
        request = asked("identity", purpose="sharing", recipient=recipient)
        for advice in recommended(request, facts):
            rounded, given = advice.algorithm.shape.rounded, advice.algorithm.as_mapping()
            text = "“age” is published as groups" in " ".join(advice.notes)
            assert text == (recipient == "public" and bool(rounded))
            if text:
                assert given == {**given, **rounded}
                assert "end at real values of people: check" not in " ".join(advice.notes)


def test_several_rows_a_person_get_classes_that_cannot_overlap() -> None:
    for lacking in ((), ("age",)):
        facts = replace(FACTS, measured=("age",), person="id", bare=lacking, lacking=lacking)
        for purpose in PURPOSES:
            found = recommended(asked("identity", "attribute", purpose=purpose), facts)
            assert len(found) >= 2
            assert all(a.algorithm.shape.one_level or a.algorithm.shape.forms_ranges for a in found)
            assert not any(a.algorithm.as_mapping().get("output") == "node" for a in found)
            assert found[0].algorithm.shape.one_level != bool(lacking)


def test_every_purpose_has_places_of_its_own() -> None:
    for purpose in PURPOSES:
        kinds = cast(Mapping[str, type[Algorithm]], family("algorithm")).values()
        places = [
            k.offer.serves[purpose].place
            for k in kinds
            if purpose in k.offer.serves and not k.shape.mechanism
        ]
        assert len(set(places)) == len(places) >= 5


def test_each_recipient_has_a_usual_threshold() -> None:
    assert set(USUAL_THRESHOLDS) == set(RELEASE_MODELS)
    with pytest.raises(BadPlan, match="unknown for recipient"):
        asked("identity", recipient="everyone")
    with pytest.raises(BadPlan, match="No threat was listed"):
        asked()
    with pytest.raises(BadPlan, match="at most 0"):
        asked("identity", chance=0.0)


def test_the_command_writes_a_recipe_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample("li-microdata").frame().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        '[roles]\nidentifier = ["Name"]\nquasi = ["Age", "Sex"]\nsensitive = ["Disease"]\n'
    )
    given = ["--data", str(tmp_path / "t.csv"), "--roles", str(tmp_path / "roles.toml")]
    given += ["--purpose", "training", "--recipient", "agreement"]
    recipe = tmp_path / "recipe.toml"
    assert main(["suggest", *given, "--threshold", "0.25", "--out", str(recipe), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["threshold"] == 0.25
    assert printed["recommended"][0]["tried"]["thresholds_missed"] == []
    plan = read_plan(recipe)
    assert plan.algorithm.name == printed["recommended"][0]["algorithm"]["name"]
    assert plan.models[0].size_asked == 4
    done = main(
        ["run", str(recipe), "--data", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
    )
    assert done == 0
    assert main(["suggest", *given]) == 0
    shown = capsys.readouterr().out
    assert "1 in 4 is 0.25" in shown
    assert "Tried on this table: loss" in shown
    public = [*given[:-1], "public"]
    assert main(["suggest", *public]) == INFEASIBLE
    assert "No suitable technique finds a release" in capsys.readouterr().out


def test_the_command_says_why_nothing_was_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["plate,age,ill", *(f"B-AB {n % 27},{n % 9},{'xyz'[n % 3]}" for n in range(54))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "roles.toml").write_text(
        '[roles]\nidentifier = ["plate"]\nquasi = ["age"]\nsensitive = ["ill"]\n'
    )
    given = ["--data", str(tmp_path / "t.csv"), "--roles", str(tmp_path / "roles.toml")]
    given += ["--purpose", "sharing", "--recipient", "agreement"]
    assert main(["suggest", *given]) == 0
    shown = capsys.readouterr().out
    assert "Nothing was tried on this table" in shown
    assert "mark the column that identifies persons as person" in shown
    assert main(["suggest", *given, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["tried_on_rows"], printed["recommended"][0]["tried"]) == (0, None)
    assert "'plate'" in printed["not_tried"]
