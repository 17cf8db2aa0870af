"""The second computation of protected tables: it agrees with what was made, and finds tampering."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence

import pytest

from anon_core.tables.publication import files_of, judge, protect
from anon_core.tables.recipe import TableRecipe
from anon_core.verification.protected_table import verify_table
from tests.tabulated import CHILDREN, dataset_of

FIRMS: Mapping[str, Sequence[object]] = {
    "place": ["n"] * 6 + ["s"] * 6 + ["e"] * 6,
    "kind": ["a", "a", "b", "b", "c", "c"] * 3,
    "firm": [f"f{n}" for n in range(18)],
    "turnover": [90, 5, 40, 30, 20, 25, 30, 35, 10, 12, 80, 70, 25, 30, 33, 41, 12, 14],
}
COUNTS = 'columns = ["education", "race"]\n[[rules]]\nname = "threshold"\nn = 3\n'
SUMS = (
    'columns = ["place", "kind"]\nvalue = "turnover"\nrespondent = "firm"\n'
    '[[rules]]\nname = "p-percent"\np = 10\n[protect]\nlevels = "cap"\n'
)


def made(
    columns: Mapping[str, Sequence[object]], text: str
) -> tuple[bytes, dict[str, object], list[dict[str, str]]]:
    recipe = TableRecipe.from_toml(f"[table]\n{text}")
    content = files_of(protect(judge(dataset_of(columns), recipe, {})))["table.csv"]
    rows = [
        dict(zip(columns, map(str, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return content, tomllib.loads(recipe.as_toml()), rows


@pytest.mark.parametrize(("columns", "text"), [(CHILDREN, COUNTS), (FIRMS, SUMS)])
def test_what_was_protected_is_confirmed(
    columns: Mapping[str, Sequence[object]], text: str
) -> None:
    content, recipe, rows = made(columns, text)
    assert content.count("×".encode()) > 3
    checks = verify_table(content, recipe, rows, {})
    assert [check.name for check in checks] == ["values", "sensitive cells", "protection"]
    assert all(check.holds for check in checks)


@pytest.mark.parametrize(("columns", "text"), [(CHILDREN, COUNTS), (FIRMS, SUMS)])
def test_each_cell_that_is_printed_after_all_is_found(
    columns: Mapping[str, Sequence[object]], text: str
) -> None:
    # Every pattern found is optimal: with one cell less, some sensitive cell is exposed.
    content, recipe, rows = made(columns, text)
    true, _, _ = made(
        columns, text + ("" if "[protect]" in text else "[protect]\n") + 'method = "none"\n'
    )
    lines = list(csv.reader(io.StringIO(content.decode())))
    whole = list(csv.reader(io.StringIO(true.decode())))
    hidden = [at for at, line in enumerate(lines) if line[-1] == "×"]
    for at in hidden:
        out = io.StringIO()
        changed = [whole[n] if n == at else line for n, line in enumerate(lines)]
        csv.writer(out).writerows(changed)
        assert not all(c.holds for c in verify_table(out.getvalue().encode(), recipe, rows, {}))


def test_a_changed_number_is_found() -> None:
    content, recipe, rows = made(CHILDREN, COUNTS)
    changed = content.replace(b"Total,Total,20", b"Total,Total,21")
    assert changed != content
    (values, *_) = verify_table(changed, recipe, rows, {})
    assert (values.name, values.holds) == ("values", False)


@pytest.mark.parametrize("method", ["random-rounding", "controlled-rounding", "small-cells"])
def test_rounded_tables(method: str) -> None:
    content, recipe, rows = made(CHILDREN, f'{COUNTS}[protect]\nmethod = "{method}"\nbase = 3\n')
    assert all(check.holds for check in verify_table(content, recipe, rows, {}))
    line = next(one for one in content.splitlines() if one.startswith(b"low,black,"))
    changed = content.replace(line, b"low,black,13")
    assert not all(check.holds for check in verify_table(changed, recipe, rows, {}))
