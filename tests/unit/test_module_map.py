"""`make map`: every module says in its first line what it is for, and is in the map."""

from __future__ import annotations

import re
import subprocess
import sys

from scripts.module_map import CHECKOUT, ROOTS, first_line, lines, modules

MODULES = list(modules())


def test_every_module_says_what_it_is_for() -> None:
    """Asked of all at once: a test of its own for each takes longer to begin than to ask."""
    text = {str(module.relative_to(CHECKOUT)): first_line(module) for module in MODULES}
    assert text
    assert not [name for name, line in text.items() if len(line) <= 10]
    assert not [name for name, line in text.items() if line[-1:] not in (".", "?", ":")], (
        "the first line is one sentence"
    )


def test_the_map_leaves_no_module_out() -> None:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:  # not a checkout: nothing tells which files belong to it
        assert MODULES
        return
    there = [name for name in done.stdout.splitlines() if (CHECKOUT / name).exists()]
    mapped = {str(module.relative_to(CHECKOUT)) for module in MODULES}
    assert {name for name in there if not name.startswith(("tests/", "docs/"))} == mapped
    assert {name.partition("/")[0] for name in mapped} == set(ROOTS)


def test_a_module_stands_under_its_folder() -> None:
    values = list(lines())
    place = next(
        i for i, line in enumerate(values) if line.startswith("anon_core/techniques/metrics/  ")
    )
    below = values[place + 1 : values.index("", place)]
    assert [line.split()[0] for line in below] == sorted(
        file.name for file in (CHECKOUT / "anon_core/techniques/metrics").glob("[!_]*.py")
    )


def test_the_script_prints_it() -> None:
    script = CHECKOUT / "scripts" / "module_map.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == list(lines())
    assert re.search(r"^map: .*## ", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
