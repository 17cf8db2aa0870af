"""Loops that the disk does not keep yet: interpreted while somebody else compiles them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.kernels import compilation as compiling

pytestmark = pytest.mark.usefixtures("nobody_compiles_ahead")

TEXT = """
def double(values):
    total = 0
    for i in range(values.shape[0]):
        total += 2 * values[i]
    return total
"""


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a loop that nobody has compiled, kept in a folder of its own."""
    return _loop(tmp_path)


def _loop(folder: Path, **more: Any) -> Any:
    file = folder / "double.py"
    file.write_text(TEXT)
    made: dict[str, Any] = {"__name__": "double"}
    exec(compile(TEXT, str(file), "exec"), made)
    return compiling.compiled(made["double"], **more)


VALUES = np.arange(5)


def test_a_loop_is_compiled_where_nobody_asks_for_less(loop: Any) -> None:
    assert loop(VALUES) == 20
    assert loop.signatures


def test_a_loop_that_is_not_kept_is_interpreted(loop: Any) -> None:
    with compiling.interpreting():
        assert loop(VALUES) == 20
        assert not loop.signatures
    assert loop(VALUES) == 20
    assert loop.signatures


def test_what_the_disk_keeps_is_taken(loop: Any, tmp_path: Path) -> None:
    loop(VALUES)
    again = _loop(tmp_path)
    with compiling.interpreting():
        assert again(VALUES) == 20
    assert again.signatures
    assert sum(again.stats.cache_hits.values()) == 1


def test_what_another_process_compiled_meanwhile_is_taken(
    loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_LOOK_EVERY", 0.0)
    with compiling.interpreting():
        loop(VALUES)
    other = _loop(tmp_path)
    other(VALUES)
    with compiling.interpreting():
        loop(VALUES)
    assert sum(loop.stats.cache_hits.values()) == 1


def test_calls_that_would_take_long_are_compiled(
    loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "MOST_CELLS", 4)
    with compiling.interpreting():
        loop(VALUES)
        assert loop.signatures
    monkeypatch.setattr(compiling, "MOST_CELLS", 10)
    monkeypatch.setattr(compiling, "_LONGEST", 0.0)
    second = tmp_path / "second"
    second.mkdir()
    slow = _loop(second)
    with compiling.interpreting():
        slow(VALUES)
        assert not slow.signatures
        slow(VALUES)
        assert slow.signatures


def test_whole_arrays_are_used_while_loops_are_interpreted(tmp_path: Path) -> None:
    loop = _loop(tmp_path, in_arrays=lambda values: "instead")
    with compiling.interpreting():
        assert loop(VALUES) == "instead"
    assert loop(VALUES) == 20
