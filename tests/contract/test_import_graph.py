"""Who imports whom: only downwards, and never in a circle, annotations and functions included."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("anon_core", "anonymity_workbench", "ui", "pages")


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name; a package by its `__init__`."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a module and those within them; expressions hold none."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):  # of a conditional expression it is one more
                yield from statements(inner)


@cache
def imports_of(name: str, path: Path) -> set[str]:
    """Return the modules that a file imports anywhere; its own parts aside."""
    within = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = within[: len(within) + 1 - node.level] if node.level else []
            base = ".".join([*above, *(node.module.split(".") if node.module else [])])
            whole = {f"{base}.{alias.name}" for alias in node.names}
            found |= {one if one in modules() else base for one in whole}
    return {one for one in found & set(modules()) if one != name and not name.startswith(f"{one}.")}


def test_the_rules_on_imports_in_pyproject_are_kept() -> None:
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-logo"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " kept, 0 broken" in done.stdout


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {name: imports_of(name, path) for name, path in modules().items()}
    assert len(graph) > 500
    assert sum(map(len, graph.values())) > 3000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))
