"""The page that says which technique hosts which model is what the registry says now."""

from __future__ import annotations

import subprocess
import sys

from anon_core.base.registry import family
from scripts.models_and_techniques import CHECKOUT, PAGE, page, table


def test_the_page_is_current() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "`python scripts/models_and_techniques.py` updates it"


def test_the_table_holds_every_pair_and_every_reason() -> None:
    found, reasons = table()
    assert set(found) == {(m, a) for m in family("model") for a in family("algorithm")}
    assert set(found.values()) == {"●", "◐", "○", *reasons}
    assert found["k-anonymity", "anatomy"] in reasons
    assert found["t-closeness", "anatomy"] == "●"
    assert found["k-map", "mondrian"] == "○"


def test_the_script_runs_from_anywhere(tmp_path) -> None:
    before = PAGE.read_bytes()
    script = CHECKOUT / "scripts" / "models_and_techniques.py"
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True)
    assert PAGE.read_bytes() == before
