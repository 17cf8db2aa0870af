"""The rules of the pages' look: what a browser asks of every element is asked at every change."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: A selector that asks what any element holds, before it asks what the element is.
_ANY_HOLDS = re.compile(r"(?:^|[\s>+~,}])(?:\*|:not\([^)]*\))*(?::not\()?:has\(", re.MULTILINE)


def test_no_rule_looks_into_every_element() -> None:
    """Say which elements a rule is for first: one that did not took 12 ms at each change."""
    read = 0
    for path in sorted((ROOT / "ui").rglob("*.py")):
        source = path.read_text("utf-8")
        if "has(" not in source:
            continue
        read += 1
        tree = ast.walk(ast.parse(source))
        texts = [n.value for n in tree if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert not [rule for text in texts for rule in _ANY_HOLDS.findall(text)], path
    assert read


def test_such_a_rule_is_found() -> None:
    assert _ANY_HOLDS.search("<style>.a > :has(.b) {gap: 0;}</style>")
    assert _ANY_HOLDS.search(".a\n  > :not(:has(.b)) {gap: 0;}")
    assert not _ANY_HOLDS.search(".a > [data-testid]:has(.b), .c:not(:has(.d)) {gap: 0;}")
