"""Every compiled kernel has a plain twin, and a test that compares both."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import anon_core
from tests.twins import TWINS

CORE = Path(anon_core.__file__).parent
FILES = sorted([*(CORE / "kernels").glob("*.py"), *(CORE / "verification").rglob("*.py")])
TESTS = Path(__file__).resolve().parents[1]
HINT = "Add it to tests/twins.py, with a twin and a test marked `kernels`."


@dataclass(frozen=True)
class Kernel:
    """A compiled function, and what the names in its file stand for."""

    body: ast.FunctionDef
    names: Mapping[str, str]


def compiled_functions() -> dict[str, Kernel]:
    """Return every function below `@compiled`, by file and name."""
    found: dict[str, Kernel] = {}
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        if "compiled" not in text:  # most have no loop, and reading all takes a second
            continue
        tree = ast.parse(text)
        own = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        names = {node.name: f"{file.stem}.{node.name}" for node in own}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_core."):
                home = str(node.module).rpartition(".")[2]
                names |= {a.asname or a.name: f"{home}.{a.name}" for a in node.names}
        for node in own:
            if any(re.search(r"\bcompiled\b", ast.unparse(d)) for d in node.decorator_list):
                found[names[node.name]] = Kernel(body=node, names=names)
    return found


KERNELS = compiled_functions()


@cache
def called(kernel: str) -> set[str]:
    """Return the kernels that a kernel calls, and those that these call."""
    found: set[str] = set()
    waiting = [kernel]
    while waiting:
        here = KERNELS[waiting.pop()]
        for node in ast.walk(here.body):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                new = here.names.get(node.func.id, "")
                if new in KERNELS and new not in found:
                    found.add(new)
                    waiting.append(new)
    return found


@cache
def compared() -> str:
    """Return the text of every test module that compares kernels."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(TESTS.rglob("test_*.py"))]
    return "\n".join(t for t in texts if "mark.kernels" in t)


def test_no_kernel_is_without_a_twin() -> None:
    assert len(KERNELS) > 40
    assert set(TWINS) <= set(KERNELS), "tests/twins.py names kernels that are gone."
    covered = {*TWINS, *(part for kernel in TWINS for part in called(kernel))}
    assert not sorted(set(KERNELS) - covered), HINT


def test_a_kernel_that_nothing_with_a_twin_calls_would_be_found() -> None:
    assert "forest.root_of" in called("forest.grow_forest")
    assert "cuts.side_holds" in called("best_gain_split.split_by_gain")  # in another file
    assert "forest.part_forest" not in called("forest.grow_forest")
    alone = {k for k in KERNELS if not any(k in called(other) for other in KERNELS)}
    assert alone <= set(TWINS)
    assert len(alone) > 20


def test_a_kernel_takes_eight_arguments_at_most() -> None:
    """What belongs together is handed over under one name; longer lists are mixed up."""
    for kernel, found in KERNELS.items():
        given = found.body.args
        assert given.vararg is None, kernel
        assert given.kwarg is None, kernel
        assert len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) <= 8, kernel


def test_a_twin_is_there_and_is_compared() -> None:
    for kernel, twin in TWINS.items():
        module, name = twin.split(".")
        assert callable(getattr(importlib.import_module(f"tests.{module}"), name)), kernel
        assert f"{module}.{name}(" in compared(), f"No test marked `kernels` calls {twin}."
