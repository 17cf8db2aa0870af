"""A hierarchy is built once for what it is built from, and again where any of that differs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import hierarchy_cache as module
from anon_core.data.hierarchy.construction import from_rows
from anon_core.data.hierarchy.hierarchy_cache import prepared, refuse_untrue

_ROWS = [["1", "1-2", "*"], ["2", "1-2", "*"], ["3", "3-4", "*"]]


def _column(codes: list[int], values: list[str], name: str = "n") -> Column:
    return encode(name, np.array(codes, dtype=np.int32), values)


def test_the_same_is_not_built_again() -> None:
    first = prepared(_column([0, 1], ["1", "2"]), _ROWS)
    again = prepared(_column([1, 0, 0], ["1", "2"]), [list(row) for row in _ROWS])
    assert again is first


def test_whatever_differs_builds_anew() -> None:
    column = _column([0, 1], ["1", "2"])
    first = prepared(column, _ROWS)
    others = [
        (_column([0, 1], ["1", "2"], "m"), _ROWS),
        (_column([0, 1], ["1", "3"]), _ROWS),
        (_column([0, 1, -1], ["1", "2"]), _ROWS),
        (replace(column, kind="text", measure=None), _ROWS),
        (column, [[*_ROWS[0][:1], "1–2", "*"], ["2", "1–2", "*"], _ROWS[2]]),
    ]
    for own, rows in others:
        made, plain = prepared(own, rows), from_rows(own, rows)
        assert made is not first
        assert (made.column, made.leaves, made.labels) == (plain.column, plain.leaves, plain.labels)
        assert made.has_missing == plain.has_missing


def test_a_table_changed_in_place_is_looked_at_again() -> None:
    rows = [list(row) for row in _ROWS]
    column = _column([0, 1], ["1", "2"])
    prepared(column, rows)
    refuse_untrue(column, rows)
    rows[0][1] = "3-4"
    with pytest.raises(BadHierarchy):
        prepared(column, rows)
    rows[1][1] = "3-4"
    for _ in range(2):
        with pytest.raises(BadHierarchy, match="is not true of"):
            refuse_untrue(column, rows)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_kept", module._Kept())
    monkeypatch.setattr(module, "_MOST_CELLS", 15)
    column = _column([0, 1], ["1", "2"])
    first = prepared(column, _ROWS)
    assert prepared(column, _ROWS) is first
    prepared(_column([0, 1], ["1", "2"], "m"), _ROWS)
    assert prepared(column, _ROWS) is not first
