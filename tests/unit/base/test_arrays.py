"""The short names of arrays stand in one place."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from anon_core import base
from anon_core.base import arrays

CORE = Path(base.__file__).parents[1]
OWN = CORE / "base" / "arrays.py"


def test_no_other_file_names_these_arrays_anew() -> None:
    known = {"I64", "I32", "I8", "U8", "F64", "B1"}
    assert known <= set(vars(arrays))
    for file in CORE.rglob("*.py"):
        if file == OWN or CORE / "verification" in file.parents:  # which shares no code
            continue
        source = file.read_text(encoding="utf-8")
        if not re.search(rf"^(?:.*[=,(]\s*)?(?:{'|'.join(known)})\b.*=", source, re.MULTILINE):
            continue  # no line gives one of them a value
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign):
                names = {ast.unparse(target) for target in node.targets}
                assert not names & known, file
