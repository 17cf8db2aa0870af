"""Every compiled kernel has a plain twin, and a test that compares both."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from anon_core import kernels
from tests.twins import PARTS, TWINS

FOLDER = Path(kernels.__file__).parent
TESTS = Path(__file__).resolve().parents[1]
HINT = "Add it to TWINS or PARTS in tests/twins.py, with a twin and a test marked `kernels`."


def compiled_functions() -> dict[str, ast.FunctionDef]:
    """Return every function below `@compiled`, by file and name."""
    return {
        f"{file.stem}.{node.name}": node
        for file in sorted(FOLDER.glob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(d).split(".")[-1] == "compiled" for d in node.decorator_list)
    }


KERNELS = compiled_functions()


def called(kernel: str) -> set[str]:
    """Return the kernels whose names a kernel calls, and those that these call."""
    by_name: dict[str, list[str]] = {}
    for other in KERNELS:
        by_name.setdefault(other.split(".")[1], []).append(other)
    found: set[str] = set()
    waiting = [kernel]
    while waiting:
        for node in ast.walk(KERNELS[waiting.pop()]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                new = set(by_name.get(node.func.id, ())) - found
                found |= new
                waiting += new
    return found


def compared() -> str:
    """Return the text of every test module that compares kernels."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(TESTS.glob("*/test_*.py"))]
    return "\n".join(t for t in texts if "mark.kernels" in t)


def test_no_kernel_is_without_a_twin() -> None:
    assert len(KERNELS) > 40
    assert not set(TWINS) & set(PARTS)
    assert sorted(KERNELS) == sorted({*TWINS, *PARTS}), HINT


@pytest.mark.parametrize("kernel", TWINS)
def test_a_twin_is_there_and_is_compared(kernel: str) -> None:
    module, name = TWINS[kernel].split(".")
    assert callable(getattr(importlib.import_module(f"tests.{module}"), name))
    assert f"{module}.{name}(" in compared(), f"No test marked `kernels` calls {TWINS[kernel]}."


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_reached_through_its_kernel(part: str) -> None:
    assert PARTS[part] in TWINS
    assert part in called(PARTS[part])
