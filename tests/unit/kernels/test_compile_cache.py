"""Compiled kernels are kept whole, however many processes start at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.often import EVERY

CHECKOUT = Path(__file__).resolve().parents[3]

_MODULE = """
from anon_core.kernels.compilation import compiled

@compiled
def doubled(x):
    return x + x
"""
#: Calls the kernel once everyone is here, and is slow between reading the index and writing it.
_START = """
import sys, time
from pathlib import Path
from numba.core import caching

genuine = caching.IndexDataCacheFile._load_index

def slow(self):
    found = genuine(self)
    time.sleep(0.4)
    return found

caching.IndexDataCacheFile._load_index = slow
from small import doubled
doubled._cache._cache_file.load = lambda key: None  # each starts before anything is kept

mine, other = Path(sys.argv[1]), Path(sys.argv[2])
mine.touch()
while not other.exists():
    time.sleep(0.005)
print(doubled(eval(sys.argv[3])))
"""
_AFTER = """
from small import doubled
print(doubled(2), doubled(2.5), sum(doubled.stats.cache_hits.values()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.py").write_text(_MODULE)
    return tmp_path


def started(folder: Path, script: str, *given: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(folder), str(CHECKOUT)])
    text = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "kept")}
    return subprocess.Popen(
        [sys.executable, "-c", script, *given],
        env={**os.environ, **text}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_two_first_starts_keep_both_of_their_signatures(folder: Path) -> None:
    a, b = str(folder / "a"), str(folder / "b")
    both = [started(folder, _START, a, b, "21"), started(folder, _START, b, a, "1.25")]
    assert [p.communicate(timeout=120)[0] for p in both] == ["42\n", "2.5\n"]
    after = started(folder, _AFTER)
    assert after.communicate(timeout=120)[0] == "4 5.0 2\n"


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_what_an_index_names_is_written_before_it(folder: Path) -> None:
    """Killed in between, a start would leave a name for code that is older, or for none."""
    script = """
import os
from numba.core import caching
from small import doubled
for name in ("_save_data", "_save_index"):
    genuine = getattr(caching.IndexDataCacheFile, name)
    def counted(self, *given, name=name, genuine=genuine):
        print(name)
        return genuine(self, *given)
    setattr(caching.IndexDataCacheFile, name, counted)
doubled(1)
"""
    output = started(folder, script).communicate(timeout=120)[0]
    assert output.split() == ["_save_data", "_save_index"]


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_types_of_an_older_version_that_are_gone_are_compiled_anew(folder: Path) -> None:
    (folder / "older.py").write_text("class Gone:\n    pass\n")
    keep = f"""
import pickle, sys
sys.path.insert(0, {str(folder)!r})
from older import Gone
from small import doubled
file = doubled._cache._cache_file
file._save_index({{Gone(): "small.1.nbc"}})
"""
    assert started(folder, keep).wait(timeout=120) == 0
    (folder / "older.py").unlink()
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    after = started(folder, "from small import doubled; print(doubled(4))")
    assert after.communicate(timeout=120)[0] == "8\n"


_ONE_KEPT = """
import numpy as np
from anon_core.kernels.pair_counts import count_linked
one = np.zeros(1, dtype=np.int32)
count_linked(one, one, np.ones(1, dtype=np.int64), np.zeros((1, 1)))
"""
#: Loads all machine code that is kept of the core's loops, a few of them in a process of its own.
_ALL_KEPT = """
import importlib, os, pkgutil, sys
import anon_core.kernels
from numba.core.runtime.nrt import rtsys
kept, seen = [], set()
for module in pkgutil.iter_modules(anon_core.kernels.__path__):
    for kernel in vars(importlib.import_module(f"anon_core.kernels.{module.name}")).values():
        if id(kernel) in seen or not hasattr(getattr(kernel, "_cache", None), "_cache_file"):
            continue
        seen.add(id(kernel))
        cache, context = kernel._cache, kernel.targetctx
        rtsys.initialize(context)  # once, as before the first of any process
        keys = cache._cache_file._load_index()
        # Those of this machine and source.
        keys = [k for k in keys if k == cache._index_key(k[0], context.codegen())]
        kept += [(cache, context, keys)] * bool(keys)
few = int(sys.argv[1])
for first in range(0, len(kept), few):
    child = os.fork()
    if child == 0:
        for cache, context, keys in kept[first : first + few]:
            if any(cache.load_overload(key[0], context) is None for key in keys):
                os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, [cache for cache, _, _ in kept[first : first + few]]
assert "numba.np.arraymath" not in sys.modules
print(sum(len(keys) for _, _, keys in kept))
"""


@pytest.mark.often
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_what_is_kept_is_loaded_without_all_that_compiling_needs() -> None:
    """A name that machine code needs and nobody gave ends the process."""
    subprocess.run([sys.executable, "-c", _ONE_KEPT], check=True, cwd=CHECKOUT)
    done = subprocess.run(
        [sys.executable, "-c", _ALL_KEPT, "1" if EVERY else "6"],
        capture_output=True,
        text=True,
        check=True,
        cwd=CHECKOUT,
    )
    assert int(done.stdout) > 0
