"""A run without machine code releases the same bytes, measures and attacks as with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core.base.registry import family
from tests.often import EVERY

ROOT = Path(__file__).parents[3]
#: Run in a process of its own, since a loop that is compiled once is not interpreted again.
PROGRAM = """
import hashlib, json, sys
from contextlib import nullcontext
from anon_core import run
from anon_core.kernels import compilation as loops
from anon_core.base.errors import AnonError
from anon_core.data.hierarchy import read_levels
from anon_core.pipeline import compilation
from anon_core.data.samples import hierarchy_folder, sample

if sys.argv[1] == "compiled":
    loops.use_machine_code()
elif sys.argv[1] == "in arrays":
    loops._is_little = lambda args: True
given = sample("toth-private")
table, public = compilation._table(given.name), compilation._table(given.public)
levels = {c: read_levels(hierarchy_folder() / p, c) for c, p in given.hierarchies.items()}
results = {}
for name in compilation._algorithms()[:: int(sys.argv[2])]:
    plan = next(iter(compilation._plans(name, given)))
    recipe = {**plan.as_mapping(), "seed": hashlib.sha256(name.encode()).hexdigest()}
    try:
        with loops.interpreting() if sys.argv[1] == "interpreted" else nullcontext():
            result = run(type(plan).from_mapping(recipe), table, levels, population=public)
    except AnonError as error:
        results[name] = error.message
        continue
    results[name] = [
        {file: hashlib.sha256(bytes(data)).hexdigest() for file, data in result.files.items()},
        {key: repr(measure.value) for key, measure in result.measures.items()},
        [repr((a.as_json() if hasattr(a, "as_json") else a)) for a in result.attacks],
    ]
print(json.dumps(results))
"""


def carried_out(how: str, cache: Path | None = None) -> dict[str, object]:
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        given["NUMBA_CACHE_DIR"] = str(cache)
    asked = [sys.executable, "-c", PROGRAM, how, "1" if EVERY else "3"]
    return json.loads(subprocess.run(asked, env=given, check=True, capture_output=True).stdout)


@pytest.mark.often
def test_every_technique_comes_to_the_same_without_machine_code(tmp_path: Path) -> None:
    interpreted, compiled = carried_out("interpreted", tmp_path), carried_out("compiled")
    assert set(compiled) <= set(family("algorithm"))
    assert len(compiled) == len(family("algorithm")) or not EVERY
    released = [name for name, entry in compiled.items() if isinstance(entry, list)]
    assert len(released) > 0.8 * len(compiled)
    assert interpreted == compiled
    assert carried_out("in arrays") == compiled
