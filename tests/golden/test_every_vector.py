"""Every worked example of five sources has a test that names it.

T are those of Toth (2015), P of Li et al. (2015), K of Samarati (2008), A of Aalborg (2022), PE of
what ARX, sdcMicro and Amnesia have. A test names an example in its own name, its docstring or its
parameters.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = (
    *("golden", "property"),
    *("unit/learn", "unit/hierarchy", "unit/counts", "unit/pipeline"),
)
VECTORS = [
    f"{source}-{n:02d}"
    for source, last in (("T", 24), ("P", 16), ("K", 25), ("A", 21), ("PE", 60))
    for n in range(1, last + 1)
]
#: What has no test, and why.
LACKING = {
    "K-23": "magnitude tables, of which the margins are sums, are not in the product yet",
    "PE-21": "class sizes of ARX by a Poisson model, one too high; ours are PE-19",
    "PE-59": "Grassberger's estimate of entropy is not offered: docs/other-tools.md says why",
}


@cache
def named_by_tests() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for file in (f for folder in FOLDERS for f in sorted((TESTS / folder).glob("test_*.py"))):
        if file == Path(__file__):
            continue
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marks = node.decorator_list
                above = lines[marks[0].lineno - 1 : marks[-1].end_lineno] if marks else []
                sentence = " ".join([node.name.upper(), ast.get_docstring(node) or "", *above])
                sentence = re.sub(r"PE_(\d\d)_AND_(?=\d\d)", r"PE_\1_PE_", sentence)
                for source, number in re.findall(
                    r"(?<![A-Z])(PE|[TPKA])[-_](\d\d)(?!\d)", sentence
                ):
                    found[f"{source}-{number}"].append(f"{file.name}::{node.name}")
    return found


def test_it_is_named_by_a_test() -> None:
    assert {one for one in VECTORS if not named_by_tests().get(one)} == set(LACKING)


def test_no_test_names_one_that_there_is_not() -> None:
    assert set(named_by_tests()) <= set(VECTORS)
    assert len(VECTORS) == 146
