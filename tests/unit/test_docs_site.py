"""The documentation builds into a site whose pages load nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What a browser fetches by itself, unlike a link.
LOADED = re.compile(
    r"<(?:script|img|source|iframe)[^>]+src(?:set)?=.?https?:[^>]*>|<link[^>]+rel=.?(?:stylesheet|preconnect|icon)[^>]+href=.?https?:[^>]*>"
)


def test_the_site_builds_without_a_warning_and_asks_nobody(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    pages = list(tmp_path.rglob("*.html"))
    named = {page.name for page in pages}
    assert {"index.html", "recipe.html", "techniques.html", "CONTRIBUTING.html"} <= named
    for page in pages:
        assert not LOADED.search(page.read_text(encoding="utf-8")), page.name
