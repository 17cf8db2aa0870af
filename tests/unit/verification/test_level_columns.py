"""A level table's columns, put together once for all who ask."""

from __future__ import annotations

from anon_core.verification.text.texts import LevelTable, level_columns


def test_columns_are_put_together_once() -> None:
    table = LevelTable([["a ", "A", "*"], [" b", "A"]])
    assert level_columns(table) is level_columns(table)
    assert level_columns(table) == level_columns(list(table)) == [["a", "b"], ["A", "A"], ["*", ""]]


def test_no_lines_have_no_columns() -> None:
    assert level_columns(LevelTable()) == []
