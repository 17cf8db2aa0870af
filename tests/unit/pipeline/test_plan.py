"""Plans and recipes: the same thing in two forms, and what is refused of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import anon_core
from anon_core import Plan, load_hierarchies, read_plan
from anon_core.base import registry
from anon_core.base.errors import BadHierarchy, BadPlan
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack
from anon_core.contracts.model import PrivacyModel
from anon_core.recipe.old_recipes import renewed
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.verification import registry as second
from anon_core.verification.registry import recomputes

SMALL: dict[str, Any] = {
    "roles": {"quasi": ["age"]},
    "algorithm": {"name": "optimal"},
    "models": [{"name": "k-anonymity", "k": 4}],
}
FULL: dict[str, Any] = {
    "seed": 7,
    "data": {"missing": "drop"},
    "types": {"zip": "ordered"},
    "roles": {"identifier": ["name"], "quasi": ["age", "zip"], "sensitive": ["illness"]},
    "hierarchies": {"age": "age.csv"},
    "algorithm": {"name": "optimal", "metric": "ncp", "max_suppression": 0.02},
    "models": [
        {"name": "k-anonymity", "k": 4},
        {"name": "l-diversity", "l": 3, "column": "illness"},
    ],
    "metrics": [{"name": "query-error", "queries": 50, "predicates": 2}],
    "attacks": [{"name": "prosecutor", "threshold": 0.1}],
    "population": {"size": 1000},
    "export": {"formulas": "keep"},
}


@pytest.mark.parametrize(
    "given",
    [
        SMALL,
        FULL,
        {**FULL, "population": {"file": "people.csv"}},
        {**FULL, "algorithm": {"name": "mondrian"}},
    ],
)
def test_a_plan_comes_back_from_its_recipe(given: dict[str, Any]) -> None:
    plan = Plan.from_mapping(given)
    assert Plan.from_mapping(plan.as_mapping()).as_mapping() == plan.as_mapping()
    assert Plan.from_toml(plan.as_toml()) == plan
    assert Plan.from_mapping(plan.completed()) == plan
    again = plan.as_mapping()
    for section, value in given.items():
        if isinstance(value, dict):
            assert value.items() <= again[section].items()
        else:
            assert len(again[section]) == len(value) if isinstance(value, list) else True


#: Recipes that together say everything which a recipe can say, each thing unlike its default.
EVERYTHING: list[dict[str, Any]] = [
    {
        **FULL,
        "data": {
            "separator": ";", "missing": "drop", "missing_values": ["?"], "encoding": "latin-1",
            "sample": 0.5, "sheet": "Data", "header_row": 3, "value_labels": "codes",
            "dates": {"day": "dmy"}, "decimals": {"zip": ","}, "missing_in": {"age": ["-"]},
            "kinds_found": ["zip"], "where": "age > 30",
        },
        "roles": {
            "identifier": ["name"], "quasi": ["age", "zip"], "sensitive": ["illness", "pay"],
            "insensitive": ["note"], "person": "who", "household": "home", "weight": "times",
        },
        "hierarchies": {"age": "age.csv", "zip": "zip.csv", "illness": "illness.csv"},
        "labels": {"age": "rename", "zip": {"names": "the form's own"}},
        "level_bounds": {"age": {"least": 1, "most": 2}},
        "sensitive_levels": {"illness": 1},
        "redacted": {"note": ["name"]},
        "changes": [{"name": "rank-swapping", "columns": ["pay"]}],
        "confirmed": [{"column": "note", "what": "text", "rows": 2, "found": "addresses"}],
        "population": {"file": "people.csv"},
        "earlier": {"file": "out.csv", "people": "all", "sha256": "0" * 64},
        "export": {
            "formulas": "keep", "parts": 1, "formats": ["sav"],
            "dialect": {
                "separator": ";", "decimal": ",", "bom": True, "line_end": "crlf", "quotes": "all",
            },
        },
        "accept": [
            {"rows": 0.5},
            {"metric": "discernibility", "most": 9.0},
            {"attack": "prosecutor", "most": 0.5, "at": "average"},
        ],
        "engine": {"name": "memory", "memory": "4GB"},
    },
    {
        **FULL,
        "roles": {**FULL["roles"], "weight": "times"},
        "export": {"class_weights": True},
    },
    {
        **FULL,
        "data": {"where": "age > 30", "rest": "population"},
        "population": {},
        "export": {"csv": False, "parts": 3},
    },
    {
        **FULL,
        "data": {"benchmark": 20},
        "population": {},
        "algorithm": {"name": "fixed-levels", "levels": {"age": 1, "zip": 0}},
        "reuse": {"mode": "fixed", "unseen": "top"},
    },
    FULL,
]  # fmt: skip
#: The key is never written; what is shown of hidden columns follows from the changes.
UNWRITTEN = {"Plan.key", "Roles.shown"}


def unlike_default(said: Any) -> Iterator[tuple[str, bool]]:
    """Yield every field of a plan and of what it consists of, and whether it was given a value."""
    for field in dataclasses.fields(said):
        value = getattr(said, field.name)
        made = field.default
        if field.default_factory is not dataclasses.MISSING:
            made = field.default_factory()
        yield f"{type(said).__name__}.{field.name}", value != made
        for part in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(part) and type(part).__module__.startswith(OWN):
                yield from unlike_default(part)


OWN = ("anon_core.recipe", "anon_core.data.reading", "anon_core.data.roles")


def test_nothing_that_a_recipe_can_say_is_lost() -> None:
    given: dict[str, bool] = {}
    for recipe in EVERYTHING:
        plan = Plan.from_mapping(recipe)
        for field, is_given in unlike_default(plan):
            given[field] = given.get(field, False) or is_given
        assert Plan.from_toml(plan.as_toml()) == plan
        assert Plan.from_mapping(plan.as_mapping()) == plan
    assert {field for field, is_given in given.items() if not is_given} == UNWRITTEN


def test_defaults_of_a_small_recipe() -> None:
    plan = Plan.from_mapping(SMALL)
    assert (plan.formulas, plan.population_size, plan.population_file) == ("neutralise", None, "")
    assert plan.models == (KAnonymity(k=4),)
    recipe = plan.as_mapping()
    assert not {"types", "hierarchies", "metrics", "attacks", "population"} & set(recipe)
    assert recipe["roles"] == {
        "identifier": [],
        "quasi": ["age"],
        "sensitive": [],
        "insensitive": [],
    }


def test_every_attack_runs_with_the_plans_parameters_where_it_gives_some() -> None:
    attacks = {a.name: a.as_mapping() for a in Plan.from_mapping(FULL).all_attacks()}
    usual = [n for n, a in family("attack").items() if cast(type[Attack], a).use.by_default]
    assert list(attacks) == usual
    assert {"homogeneity", "journalist", "membership", "prosecutor"} <= set(usual)
    assert attacks["prosecutor"] == {"threshold": 0.1}
    assert attacks["journalist"] == {"threshold": 0.2}


def test_every_metric_measures_with_the_plans_parameters_where_it_gives_some() -> None:
    metrics = {m.name: m.as_mapping() for m in Plan.from_mapping(FULL).all_metrics()}
    usual = {n for n, m in family("metric").items() if m.use.by_default}
    assert set(metrics) == usual
    assert "model-utility" not in usual, "it is measured when asked for"
    assert (metrics["query-error"]["queries"], metrics["query-error"]["predicates"]) == (50, 2)
    assert metrics["query-error"]["spread"] == "leaves"
    assert metrics["average-class-size"] == {"k": 4}, "in units of what is promised"
    own = Plan.from_mapping({**FULL, "metrics": [{"name": "average-class-size", "k": 7}]})
    assert {m.name: m.as_mapping() for m in own.all_metrics()}["average-class-size"] == {"k": 7}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"algorithmn": {}}, "The recipe has the unknown key 'algorithmn'"),
        ({"roles": None}, "The recipe has no [roles]"),
        ({"algorithm": None}, "The recipe has no [algorithm]"),
        ({"models": None}, "The recipe has no [models]"),
        ({"models": []}, "names no privacy model, so it protects no one"),
        ({"models": {"name": "k-anonymity"}}, "[[models]] is not a list of tables"),
        ({"models": ["k-anonymity"]}, "The recipe's model is not a table with a name"),
        ({"models": [{"k": 2}]}, "The recipe's model is not a table with a name"),
        ({"models": [{"name": "k-anon"}]}, "Unknown model 'k-anon'"),
        ({"models": [{"name": "k-anonymity", "k": 1}]}, "k-anonymity: parameter 'k' is 1"),
        ({"models": [{"name": "k-anonymity", "l": 2}]}, "unknown parameter 'l'"),
        ({"algorithm": "optimal"}, "The recipe's algorithm is not a table with a name"),
        ({"algorithm": {"name": "optimum"}}, "Unknown algorithm 'optimum'"),
        ({"algorithm": {"name": 3}}, "Unknown algorithm '3'"),
        ({"algorithm": {"name": "optimal", "metric": "x"}}, "parameter 'metric' is 'x'"),
        ({"metrics": {"name": "loss"}}, "[[metrics]] is not a list of tables"),
        ({"metrics": [{"name": "lost"}]}, "Unknown metric 'lost'"),
        (
            {"metrics": [{"name": "query-error", "query": 5}]},
            "query-error: unknown parameter 'query'",
        ),
        ({"metrics": [{"name": "query-error", "queries": 0}]}, "parameter 'queries' is 0"),
        ({"metrics": [{"name": "loss"}] * 2}, "[[metrics]] names 'loss' more than once"),
        ({"attacks": [{"name": "prosecutor"}] * 2}, "[[attacks]] names 'prosecutor' more than"),
        ({"attacks": {"name": "prosecutor"}}, "[[attacks]] is not a list of tables"),
        ({"attacks": [{"name": "guess"}]}, "Unknown attack 'guess'"),
        ({"seed": -1}, "The recipe's seed is neither"),
        ({"seed": 1.5}, "The recipe's seed is neither"),
        ({"seed": True}, "The recipe's seed is neither"),
        ({"seed": None}, "The recipe's seed is neither"),
        ({"seed": ""}, "The recipe's seed is neither"),
        ({"seed": "0x7"}, "The recipe's seed is neither"),
        ({"seed": "f" * 65}, "The recipe's seed is neither"),
        ({"seed": 1 << 256}, "The recipe's seed is neither"),
        ({"roles": []}, "[roles] is not a table"),
        ({"roles": {"quasi": "age"}}, "[roles] quasi is not a list of column names"),
        ({"roles": {"sensitive": [1]}}, "[roles] sensitive is not a list of column names"),
        ({"roles": {"quasis": ["age"]}}, "[roles] has the unknown key 'quasis'"),
        ({"roles": {"quasi": ["age", "age"]}}, "Role quasi names 'age' more than once"),
        ({"roles": {"quasi": ["age"], "identifier": ["age"]}}, "is an identifier and also"),
        ({"types": {"age": "numeric"}}, "[types] 'age' is 'numeric'; allowed are"),
        ({"types": {"age": ["number"]}}, "[types] 'age' is ['number']"),
        ({"types": "number"}, "[types] is not a table"),
        ({"hierarchies": {"age": 3}}, "[hierarchies] age is 3"),
        ({"hierarchies": ["age.csv"]}, "[hierarchies] is not a table"),
        ({"data": {"mising": "drop"}}, "mising"),
        ({"data": {"missing": "guess"}}, "guess"),
        ({"population": {"size": 0}}, "[population] size is 0"),
        ({"population": {"size": True}}, "[population] size is True"),
        ({"population": {"size": "many"}}, "[population] size is 'many'"),
        ({"population": {"file": 5}}, "[population] file is 5"),
        ({"population": {"size": 5, "file": "p.csv"}}, "gives both a size and a file"),
        ({"population": {"number": 5}}, "[population] has the unknown key 'number'"),
        ({"population": 5}, "[population] is not a table"),
        ({"export": {"formulas": "drop"}}, "[export] formulas is 'drop'"),
        ({"export": {"formula": "keep"}}, "[export] has the unknown key 'formula'"),
    ],
)
def test_what_is_refused(change: dict[str, Any], words: str) -> None:
    given = {k: v for k, v in (SMALL | change).items() if v is not None or k == "seed"}
    with pytest.raises(BadPlan) as refused:
        Plan.from_mapping(given)
    assert words in refused.value.message
    assert refused.value.remedy


def test_near_names_are_offered() -> None:
    with pytest.raises(BadPlan, match="Did you mean 'algorithm'"):
        Plan.from_mapping(SMALL | {"algoritm": {}})
    with pytest.raises(BadPlan, match="Did you mean 'quasi'"):
        Plan.from_mapping(SMALL | {"roles": {"quasis": []}})


@pytest.mark.parametrize(
    "given",
    [
        {"seed": -1},
        {"seed": 1.5},
        {"population_size": 0},
        {"population_size": 5, "population_file": "p"},
        {"formulas": "drop"},
    ],
)
def test_a_plan_made_in_python_is_checked_too(given: dict[str, Any]) -> None:
    whole = Plan.from_mapping(SMALL)
    with pytest.raises(BadPlan):
        Plan(roles=whole.roles, algorithm=whole.algorithm, models=whole.models, **given)
    with pytest.raises(BadPlan, match="names no privacy model"):
        Plan(roles=whole.roles, algorithm=whole.algorithm, models=())


def test_text_that_is_no_toml() -> None:
    with pytest.raises(BadPlan, match=r"not valid TOML.*line 1"):
        Plan.from_toml("seed = = 3")


def test_recipe_files(tmp_path: Path) -> None:
    plan = Plan.from_mapping(FULL)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("\ufeff" + plan.as_toml(), encoding="utf-8")
    assert read_plan(recipe) == plan
    assert read_plan(str(recipe)) == plan
    with pytest.raises(BadPlan, match=r"The recipe nothing\.toml cannot be read"):
        read_plan(tmp_path / "nothing.toml")
    recipe.write_bytes(b"seed = 1 # \xff")
    with pytest.raises(BadPlan, match=r"not UTF-8 text \(byte 11\)"):
        read_plan(recipe)


def test_hierarchies_are_read_beside_the_recipe(tmp_path: Path) -> None:
    plan = Plan.from_mapping(FULL)
    (tmp_path / "age.csv").write_text("20;young;*\n40;old;*\n")
    assert load_hierarchies(plan, tmp_path) == {"age": [["20", "young", "*"], ["40", "old", "*"]]}
    assert load_hierarchies(Plan.from_mapping(SMALL), tmp_path) == {}
    (tmp_path / "age.csv").unlink()
    with pytest.raises(BadHierarchy, match=r"age\.csv"):
        load_hierarchies(plan, tmp_path)


def test_a_model_that_speaks_of_the_whole_release_cannot_steer_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Whole(PrivacyModel):
        name, title, summary = "whole", "Whole", "Looks at the release as one."

        def measure(self, view, audience, reference, context):  # type: ignore[no-untyped-def]
            return []

    family("model")
    monkeypatch.setitem(registry._found["model"], "whole", Whole)
    monkeypatch.setattr(second, "_found", dict(second.second_computations()))
    recomputes("whole", forms=())(lambda evidence: [])
    with pytest.raises(BadPlan, match="'whole' cannot steer a search"):
        Plan.from_mapping(SMALL | {"models": [{"name": "whole"}]})


def test_the_public_names() -> None:
    assert anon_core.Plan is Plan
    assert not hasattr(anon_core, "nothing_of_the_kind")
    with pytest.raises(AttributeError, match="has no attribute 'nothing_of_the_kind'"):
        _ = anon_core.nothing_of_the_kind


def test_a_part_is_told_in_a_table_of_its_own() -> None:
    recipe = """
seed = 7
[roles]
quasi = ["age"]
sensitive = ["illness"]
[algorithm]
name = "permutation"
[algorithm.partition]
name = "bisection"
tries = 8
[[models]]
name = "frequency-l-diversity"
"""
    plan = Plan.from_toml(recipe)
    assert plan.as_mapping()["algorithm"]["partition"] == {"name": "bisection", "tries": 8}
    assert Plan.from_toml(plan.as_toml()) == plan
    inline = recipe.replace("[algorithm.partition]\nname", "partition = {name").replace(
        '"bisection"\ntries = 8', '"bisection", tries = 8}'
    )
    assert Plan.from_toml(inline) == plan
    usual = Plan.from_toml(recipe.replace("tries = 8", ""))
    assert usual.as_mapping()["algorithm"]["partition"] == "bisection"


def test_labels_of_an_older_recipe_are_the_metrics() -> None:
    for name in ("genetic", "annealing", "k-optimize"):
        old = {"name": name, "metric": "classification", "labels": "illness"}
        recipe = Plan.from_mapping({**FULL, "algorithm": old}).as_mapping()["algorithm"]
        assert recipe["metric"] == {"name": "classification", "column": "illness"}
        other = Plan.from_mapping({**FULL, "algorithm": {"name": name, "labels": ""}})
        assert other == Plan.from_mapping({**FULL, "algorithm": {"name": name}})
        _, notes = renewed({**FULL, "algorithm": old})
        assert "labels" in notes[-1]
    with pytest.raises(BadPlan, match="unknown parameter 'labels'"):
        Plan.from_mapping({**FULL, "algorithm": {"name": "optimal", "labels": "illness"}})


def test_a_search_that_begins_with_one_by_chance_draws_too() -> None:
    def draws(first: str) -> bool:
        algorithm = {"name": "local-recoding", "first": first}
        return Plan.from_mapping({**SMALL, "algorithm": algorithm}).draws

    assert not draws("optimal")
    assert draws("annealing")


def test_a_recipe_tells_what_the_release_looks_like_and_nothing_else() -> None:
    recipe = Plan.from_mapping(FULL).completed()
    for key, bad in (
        ("tables", 2),
        ("tables", True),
        ("linked", "roles"),
        ("cells", "averaged"),
        ("rows", "drawn"),
    ):
        with pytest.raises(BadPlan, match=rf"\[release\] {key} is .*publishes") as refused:
            Plan.from_mapping({**recipe, "release": {key: bad}})
        assert "Remove [release]" in refused.value.remedy
    with pytest.raises(BadPlan, match="unknown key 'pages'"):
        Plan.from_mapping({**recipe, "release": {"pages": 3}})
    assert Plan.from_mapping({**recipe, "release": {}}) == Plan.from_mapping(recipe)
