"""A command on a small table imports what it uses, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
_RUN = """
import sys
from anon_core.__main__ import main
status = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(status)
"""
_RECIPE = """
version = 3
[roles]
quasi = ["age", "sex"]
sensitive = ["ill"]
[algorithm]
name = "TECHNIQUE"
[[models]]
name = "k-anonymity"
k = 5
"""
#: Packages that a run of CSV to CSV and Parquet has no use for; tables of pairs begin SciPy.
_UNUSED = {
    *("pandas", "duckdb", "jsonschema", "networkx", "sklearn", "streamlit", "ibis", "statistics"),
    *("scipy.sparse", "scipy.optimize", "scipy.linalg", "scipy.stats", "scipy.special"),
    "numba.np.linalg",
    *("anon_core.data.reading.spreadsheet", "anon_core.engines.out_of_core"),
    *("anon_core.techniques.attacks.minimality", "anon_core.techniques.attacks.refinement"),
}
#: Modules of the core that such a run imports at most; a third of all.
_MOST = 370


@pytest.mark.parametrize("technique", ["mondrian", "optimal"])
def test_a_small_run_imports_what_it_uses(technique: str, tmp_path: Path) -> None:
    lines = [f"{20 + n % 40},{'fm'[n % 2]},{'abc'[n % 3]}" for n in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["age,sex,ill", *lines]) + "\n")
    (tmp_path / "r.toml").write_text(_RECIPE.replace("TECHNIQUE", technique))
    recipe, data, out = (str(tmp_path / name) for name in ("r.toml", "t.csv", "out"))
    given = ["run", recipe, "--data", data, "--out", out]
    for _ in range(2):  # first loops may be compiled
        done = subprocess.run(
            [sys.executable, "-c", _RUN, *given],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        imported = set(done.stderr.split())
        if not _UNUSED & imported:
            break
    assert sorted(_UNUSED & imported) == []
    assert "numba" not in imported or technique != "optimal"  # its loops have twins in arrays
    own = {name for name in imported if name.split(".")[0] == "anon_core"}
    assert 250 < len(own) <= _MOST, len(own)
