"""Cells that spreadsheets would carry out: both computations guard the same ones, and no others."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_core.data.values.formulas import is_formula, may_be_formula, neutralised, plain
from anon_core.pipeline.runner import run
from anon_core.verification.checks import verify
from anon_core.verification.text import texts as second
from tests.making import Case
from tests.often import often

CELLS = st.text(alphabet="=+-@＝＋－＠';,\t\r\n\"ab15. x|", max_size=9)


def as_read(text: str, separator: str) -> list[str]:
    """Return the cells that a program makes of a line with a cell, by its own separator."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(["20", text])
    rows = csv.reader(io.StringIO(line.getvalue(), newline=""), delimiter=separator)
    return [cell for row in rows for cell in row]


def carried_out(cell: str) -> bool:
    """Say whether a spreadsheet takes a cell for a formula; a plain number is none."""
    if not cell.startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")):
        return False
    # A number before the quote that closes the cell parses as no formula: it is read as a text.
    number = cell.removesuffix('"').replace(",", ".", 1)
    try:
        float(number)
    except ValueError:
        return True
    return "_" in number or not set(number) <= set("+-0123456789.")


@often(600)
@given(CELLS)
@example("a;=x")
@example("＝x")
@example("a;'=x")
@example("a\n=x")
@example('a;"=x')
@example("a;-5")
@example("'\t=x")
@example("\n-1")
def test_no_part_of_a_guarded_cell_is_carried_out(text: str) -> None:
    shown = neutralised(text)
    assert plain(shown) == text
    assert shown == text or is_formula(text) or "'" in text
    assert not is_formula(shown)
    assert (shown == text) or may_be_formula([text])
    for separator in ",;\t":
        assert not any(map(carried_out, as_read(shown, separator))), (shown, separator)
    # The second computation, which shares nothing with the first.
    assert second.guarded(text) == shown
    assert second.unguarded(shown) == text
    assert second.is_formula(text) == is_formula(text)
    assert shown == text or second.may_be_guarded([text])


@often(300)
@given(CELLS, CELLS)
def test_different_cells_stay_different(one: str, other: str) -> None:
    assert (neutralised(one) == neutralised(other)) == (one == other)


@pytest.mark.parametrize("text", ["＝1+1", "＋x", "－x", "＠x", "a;=x", "a;＝x", "b\t=x", "'=x"])
def test_a_release_holds_no_formula_and_one_that_does_is_refused(text: str) -> None:
    case = Case(
        columns={"age": ["20", "20", "30", "30"], "note": [text, "plain", "x;y", text]},
        quasi=("age",),
        kinds={"age": "number", "note": "text"},
    )
    result = run(case.plan(), case.dataset, case.levels, assess=False)
    files = result.files
    assert neutralised(text) in {row[1] for row in csv.reader(io.StringIO(result.csv.decode()))}
    assert verify(result.plan.completed(), case.frame, {}, files).holds
    rows = [[plain(c) for c in r] for r in csv.reader(io.StringIO(result.csv.decode()))]
    again = io.StringIO()
    csv.writer(again, lineterminator="\n").writerows([rows[0], *sorted(rows[1:])])
    found = verify(
        result.plan.completed(), case.frame, {}, {"release.csv": again.getvalue().encode()}
    )
    if text != "'=x":
        assert "formulas" in {check.name for check in found.broken}
    assert not found.holds
