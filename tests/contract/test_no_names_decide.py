"""Nothing is decided by a technique's name: what matters of a technique, its class says."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from anon_core.base.registry import FAMILIES, family

ROOT = Path(__file__).parents[2]
PLACES = ("anon_core", "anonymity_workbench", "ui", "pages", "app.py")
#: Folders in which names stand for themselves.
APART = {
    "anon_core/teaching/experiments/catalogue": "an experiment names what it measures",
    "anon_core/data/samples": "a sample names what it is shown with",
    "anon_core/teaching/learn/lessons": "a lesson names what it shows",
    "anon_core/verification": "the second computation shares nothing, so it reads names in recipes",
}
#: Names in other files than the technique's own, each with the reason.
ALLOWED = {
    ("anon_core/cli/table.py", "optimal"): "whether a pattern of suppression is",
    ("anon_core/tables/publication.py", "optimal"): "a way to protect a table, no technique",
    ("anon_core/tables/recipe.py", "optimal"): "a way to protect a table, no technique",
    ("ui/panels/protected_table.py", "optimal"): "a way to protect a table, no technique",
    ("anon_core/counts/counting.py", "composition"): "how budgets add up",
    ("anon_core/recipe/old_recipes.py", "annealing"): "as old recipes were written",
    ("anon_core/recipe/old_recipes.py", "genetic"): "as old recipes were written",
    ("anon_core/recipe/old_recipes.py", "k-optimize"): "as old recipes were written",
    ("anon_core/recipe/old_recipes.py", "classification"): "as old recipes were written",
    (
        "anon_core/pipeline/compilation.py",
        "k-anonymity",
    ): "a run that is made to compile its kernels",
    (
        "anon_core/pipeline/compilation.py",
        "frequency-l-diversity",
    ): "a run made to compile its kernels",
    (
        "anon_core/pipeline/compilation.py",
        "slicing-l-diversity",
    ): "a run made to compile its kernels",
    ("anon_core/techniques/metrics/group_loss.py", "loss"): "the prices a hull is shown by",
    ("anon_core/techniques/metrics/group_loss.py", "ncp"): "the prices a hull is shown by",
    ("ui/charts/curve_plot.py", "loss"): "heading of a column of figures",
    ("ui/charts/frontier_plot.py", "loss"): "heading of a column of figures",
    ("ui/charts/run_series.py", "loss"): "heading of an axis",
    ("ui/state/work/jobs.py", "background"): "work that gives way to other work",
    ("ui/state/state.py", "k-anonymity"): "the promise a new plan starts with",
}
#: Calls that build one technique from another, or declare what a parameter is by default.
BUILDS = ("find", "partition_choice")


@cache
def owners() -> dict[str, set[str]]:
    """Return the files that each name of the registry belongs to."""
    found: dict[str, set[str]] = {}
    for which in FAMILIES:
        for name, kind in family(which).items():
            path = Path(inspect.getfile(kind)).relative_to(ROOT)
            found.setdefault(name, set()).add(str(path))
    return found


def files() -> list[str]:
    found = [p for place in PLACES for p in ([ROOT / place], (ROOT / place).rglob("*.py"))]
    return sorted(
        str(path.relative_to(ROOT)) for paths in found for path in paths if path.suffix == ".py"
    )


def called(function: ast.expr) -> str:
    """Return the last name of what is called."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the texts of a file that are no docstrings, no defaults and build nothing."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Call) and called(node.func) in BUILDS:
            left_out |= {id(given) for given in node.args}
        elif isinstance(node, ast.keyword) and node.arg == "default":
            left_out.add(id(node.value))
        elif isinstance(node, ast.arguments):
            left_out |= {id(given) for given in (*node.defaults, *node.kw_defaults)}
    for node in ast.walk(tree):
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if text and id(node) not in left_out:
            yield node


@cache
def named() -> dict[tuple[str, str], list[int]]:
    """Return where a name of the registry is outside its technique's own file, with lines."""
    own = owners()
    quoted = re.compile(f"[\"'](?:{'|'.join(map(re.escape, own))})[\"']")
    found: dict[tuple[str, str], list[int]] = {}
    for file in files():
        if any(file.startswith(f"{folder}/") for folder in APART):
            continue
        source = (ROOT / file).read_text(encoding="utf-8")
        for node in texts(ast.parse(source)) if quoted.search(source) else ():
            name = str(node.value)
            if name in own and file not in own[name]:
                found.setdefault((file, name), []).append(node.lineno)
    return found


def test_nothing_is_decided_by_a_name() -> None:
    assert {place: lines for place, lines in named().items() if place not in ALLOWED} == {}


@pytest.mark.parametrize("place", ALLOWED, ids=" ".join)
def test_every_exception_is_still_needed(place: tuple[str, str]) -> None:
    assert place in named()


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("if model.name == 'k-anonymity': pass", True),
        ("first = ('optimal',)", True),
        ("'''optimal'''", False),
        ("find('algorithm', 'optimal')", False),
        ("def search(metric='loss'): pass", False),
    ],
)
def test_what_is_taken_for_a_decision(written: str, seen: bool) -> None:
    assert any(str(node.value) in owners() for node in texts(ast.parse(written))) == seen


def test_no_mapping_of_parameters_is_searched_for_a_size() -> None:
    """What size a promise asks for, it says itself; see `PrivacyModel.size_asked`."""
    fishing = re.compile(
        r"""(as_mapping\(\)|values|parameters\(\)).*["'][kl]["']|["'][kl]["'] in """
    )
    for file in files():
        if any(file.startswith(f"{folder}/") for folder in APART):
            continue
        for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
            assert not fishing.search(line), f"{file}: {line.strip()}"
