"""Techniques are found by family and name; a name is given once."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import pytest

import anon_core.base.registry as registry
from anon_core.base.errors import AnonError, BadPlan
from anon_core.base.params import Parameter, Technique
from anon_core.base.registry import family, find, option_title, register
from anon_core.contracts.attack import Attack


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    family("metric")
    before = dict(registry._found["metric"])
    yield
    registry._found["metric"].clear()
    registry._found["metric"].update(before)


def make(name: str, module: str, path: str = "Made") -> type[Technique]:
    @dataclass(frozen=True, kw_only=True)
    class Made(Technique):
        """A technique."""

        name: ClassVar[str] = ""
        title: ClassVar[str] = "Made"
        summary: ClassVar[str] = "Made for a test."

    Made.name = name
    Made.__module__, Made.__qualname__ = module, path
    return Made


def test_a_registered_technique_is_found() -> None:
    made = register("metric")(make("made", "one"))
    assert find("metric", "made") is made
    assert "made" in family("metric")
    assert "made" not in family("model")


@pytest.mark.parametrize(("module", "path"), [("two", "Made"), ("one", "Other")])
def test_a_second_of_the_same_name_is_refused(module: str, path: str) -> None:
    register("metric")(make("made", "one"))
    with pytest.raises(AnonError) as refused:
        register("metric")(make("made", module, path))
    assert refused.value.message == (
        f"{module}: {path}: the metric 'made' is registered twice; the other is Made in one."
    )


@pytest.mark.parametrize("attribute", ["name", "title", "summary"])
@pytest.mark.parametrize(("value", "found"), [(None, "missing"), ("", "empty"), (3, "no text")])
def test_what_every_technique_needs_is_asked_for(attribute: str, value: Any, found: str) -> None:
    made = make("made", __name__)
    setattr(made, attribute, value)
    with pytest.raises(AnonError) as refused:
        register("metric")(made)
    assert refused.value.message == (
        f"{__file__}: Made: the class attribute '{attribute}' of this metric is {found}."
    )
    assert "made" not in family("metric")


def test_an_attribute_that_was_never_written_is_missing() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Nameless(Technique):
        """A technique without words."""

    with pytest.raises(AnonError, match="Nameless: the class attribute 'name' of this metric is m"):
        register("metric")(Nameless)


def test_an_unknown_family_lists_them() -> None:
    with pytest.raises(AnonError) as refused:
        register(cast(Any, "metrik"))(make("made", "one"))
    assert refused.value.message.startswith("one: Made is registered as 'metrik'; families are '")
    assert "Did you mean 'metric'?" in refused.value.remedy


def test_a_reloaded_module_replaces_its_own() -> None:
    register("metric")(make("made", "one"))
    newer = register("metric")(make("made", "one"))
    assert find("metric", "made") is newer


def test_an_option_is_told_in_words() -> None:
    own = Parameter(
        name="a", kind="choice", default="x_y", help="", options=("x_y", "z"), titles={"z": "last"}
    )
    assert [option_title(own, o) for o in own.options] == ["x y", "last"]
    naming = Parameter(
        name="b",
        kind="technique",
        default="average-class-size",
        help="",
        options=("average-class-size", "ncp"),
        parts=lambda: family("metric"),
    )
    assert [option_title(naming, o) for o in naming.options] == [
        "Average class size",
        find("metric", "ncp").title,
    ]


def test_another_familys_name_is_free() -> None:
    register("metric")(make("k-anonymity", "one"))
    assert find("metric", "k-anonymity") is not find("model", "k-anonymity")


def test_an_unknown_name_lists_the_known_and_the_nearest() -> None:
    with pytest.raises(BadPlan) as refused:
        find("model", "k-anonimity")
    assert "Unknown model 'k-anonimity'; known are '" in str(refused.value)
    assert f"and {len(family('model')) - 12} more." in str(refused.value)
    assert "Did you mean 'k-anonymity'?" in refused.value.remedy


_ALONE = """
import sys
from anon_core.base.registry import find
find("algorithm", "datafly"), find("model", "k-anonymity")
shelves = "anon_core.techniques.algorithms.", "anon_core.techniques.models."
print(*sorted(module for module in sys.modules if module.startswith(shelves)))
"""


def test_a_technique_is_found_without_the_others_of_its_family() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ALONE], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [
        "anon_core.techniques.algorithms.datafly",
        "anon_core.techniques.models.k_anonymity",
    ]


@pytest.mark.parametrize("which", ["attack", "metric"])
def test_what_runs_use_by_default_is_told_by_files_as_by_classes(which: registry.Family) -> None:
    folder = importlib.import_module(f"anon_core.techniques.{which}s")
    for name, technique in family(which).items():
        asked_for = registry._is_asked_for(folder, name.replace("-", "_"))
        assert asked_for != cast(type[Attack], technique).use.by_default, name
    named = next(
        n for n, kind in family(which).items() if not cast(type[Attack], kind).use.by_default
    )
    expected = [n for n, k in family(which).items() if cast(type[Attack], k).use.by_default]
    assert [*registry.by_default(which)] == expected
    assert [*registry.by_default(which, [named])] == sorted([*expected, named])


@pytest.mark.parametrize("which", registry.FAMILIES)
def test_the_file_of_a_technique_bears_its_name(which: registry.Family) -> None:
    for name, technique in family(which).items():
        assert technique.__module__.split(".")[3] == name.replace("-", "_")


def test_the_returned_mapping_is_a_copy() -> None:
    family("metric").clear()
    assert "loss" in family("metric")
