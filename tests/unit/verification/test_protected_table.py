"""The second computation of protected tables: it agrees with what was made, and finds tampering."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest

from anon_core.tables import audit, suppressed
from anon_core.tables.publication import Labels, files_of, protect
from anon_core.tables.recipe import TableRecipe
from anon_core.tables.suppressed import judge
from anon_core.verification import table_readers
from anon_core.verification.protected_table import private_rows, verify_table
from anon_core.verification.text.cells import Cells, TextTable
from tests.often import times
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


#: What was protected, by the columns and the recipe; several tests look at it.
_MADE: dict[str, tuple[bytes, dict[str, object], list[dict[str, str]]]] = {}


def made(
    columns: Mapping[str, Sequence[object]], text: str
) -> tuple[bytes, dict[str, object], list[dict[str, str]]]:
    """Return the file of a protected table, its recipe and the rows, for a test of its own."""
    asked = f"{columns} {text}"
    if asked not in _MADE:
        _MADE[asked] = _made(columns, text)
    return deepcopy(_MADE[asked])


def _made(
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
    assert [check.name for check in checks] == ["values", "sensitive cells", "protection", "sums"]
    assert all(check.holds for check in checks)


ALIKE: Mapping[str, Sequence[str]] = {
    "a total": ["Total", "Total", "Total", "q", "q"],
    "what the other is called": ["Total", "Total", "Total", "Total of Total", "Total of Total"],
    "a missing value": ["(missing)", "(missing)", "", "r", "r"],
    "its group": ["q", "q", "q", "p", "r"],
}


@pytest.mark.parametrize("labels", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("method", ["small-cells", "random-rounding"])
def test_labels_that_are_alike_are_told_apart_by_both(labels: Sequence[str], method: str) -> None:
    levels = {"a": [["q", "q", "*"], ["p", "q", "*"], ["r", "H", "*"]]} if "p" in labels else {}
    recipe = TableRecipe.from_toml(
        f'[table]\ncolumns = ["a"]\n[protect]\nmethod = "{method}"\nbase = 2\n'
    )
    judged = judge(dataset_of({"a": labels, "b": labels}), recipe, levels)
    content = files_of(protect(judged))["table.csv"]
    rows = [{"a": text} for text in labels]
    checks = verify_table(content, recipe.as_mapping(), rows, levels)
    assert [check.sentence for check in checks if not check.holds] == []


#: Two cells that one firm fills: each by itself is hidden well, their sum is not.
ONE_FIRM: Mapping[str, Sequence[object]] = {
    "place": ["n"] * 3 + ["s"] * 3 + ["e"] * 3 + ["w"] * 3,
    "firm": ["f1", "f2", "f3", "f1", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11"],
    "turnover": [90, 5, 3, 80, 4, 2, 50, 50, 50, 60, 60, 60],
}
OF_FIRMS = (
    'columns = ["place"]\nvalue = "turnover"\nrespondent = "firm"\n'
    '[[rules]]\nname = "p-percent"\np = 10\n[protect]\nlevels = "cap"\n'
)


def test_two_cells_of_one_firm_are_protected_as_one() -> None:
    recipe = TableRecipe.from_toml(f"[table]\n{OF_FIRMS}")
    done = protect(judge(dataset_of(ONE_FIRM), recipe, {}))
    assert {done.table.names[c] for c in done.judged.findings} == {"n", "s"}
    assert [one.value for one in done.sums] == [184]
    # Without the sum, the two cells would hide each other and the total would say 184.
    assert {done.table.names[c] for c in done.suppressed} == {"n", "s", "e"}
    content, written, rows = made(ONE_FIRM, OF_FIRMS)
    assert all(check.holds for check in verify_table(content, written, rows, {}))
    printed = content.replace("e,×".encode(), b"e,150")
    assert printed != content
    broken = [c.name for c in verify_table(printed, written, rows, {}) if not c.holds]
    assert broken == ["sums"]


def test_two_cells_of_one_firm_are_protected_from_all_readers_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (audit, suppressed):
        monkeypatch.setattr(module, "MOST_PROGRAMS", 0)
    text = OF_FIRMS.replace("[protect]\n", '[protect]\nmethod = "heuristic"\n')
    done = protect(judge(dataset_of(ONE_FIRM), TableRecipe.from_toml(f"[table]\n{text}"), {}))
    assert [one.value for one in done.sums] == [184]
    assert done.audit is not None
    assert len(done.audit.judgements) == 3  # two cells and their sum, each once
    content, written, rows = made(ONE_FIRM, text)
    checks = verify_table(content, written, rows, {}, done.proposals)
    assert all(check.holds for check in checks)


@pytest.mark.often
def test_no_sum_of_suppressed_cells_is_sensitive_in_any_table() -> None:
    draw = np.random.default_rng(8)
    protected = 0
    for _ in range(times(12)):
        rows = 60
        firms = draw.integers(0, 25, rows)
        columns = {
            "place": draw.choice(list("nesw"), rows).tolist(),
            "kind": draw.choice(list("abc"), rows).tolist(),
            # A few firms have most of the turnover, so that cells of one are sensitive together.
            "firm": [f"f{n}" for n in firms],
            "turnover": [int(v) for v in draw.integers(1, 20, rows) * (1 + 30 * (firms < 2))],
        }
        content, written, given = made(columns, SUMS)
        assert all(check.holds for check in verify_table(content, written, given, {}))
        recipe = TableRecipe.from_toml(f"[table]\n{SUMS}")
        protected += len(protect(judge(dataset_of(columns), recipe, {})).sums)
    assert protected


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


@pytest.mark.parametrize(("columns", "text"), [(CHILDREN, COUNTS), (FIRMS, SUMS)])
def test_adjusted_tables(columns: Mapping[str, Sequence[object]], text: str) -> None:
    own = text if "[protect]" in text else f"{text}[protect]\n"
    content, recipe, rows = made(columns, f'{own}method = "adjust"\n')
    checks = verify_table(content, recipe, rows, {})
    assert [check.name for check in checks] == ["sums", "levels", "kept cells", "negative"]
    assert all(check.holds for check in checks)
    assert b"\xc3\x97" not in content
    # Each cell of it that changes alone breaks a total.
    lines = content.splitlines()
    for at in range(1, len(lines)):
        head, _, value = lines[at].rpartition(b",")
        changed = [*lines[:at], b"%s,%d" % (head, int(value) + 1), *lines[at + 1 :]]
        broken = [
            c.name for c in verify_table(b"\n".join(changed), recipe, rows, {}) if not c.holds
        ]
        assert "sums" in broken
    # The true table adds up, and moves no sensitive cell.
    true, _, _ = made(columns, f'{own}method = "none"\n')
    broken = [c.name for c in verify_table(true, recipe, rows, {}) if not c.holds]
    assert broken == ["levels"]


AGREED = {
    **FIRMS,
    "agreed": ["yes" if turnover in (90, 80) else "" for turnover in FIRMS["turnover"]],
}
SIGNED = {
    **FIRMS,
    "turnover": [
        -x if n % 5 == 2 else x for n, x in enumerate(map(int, map(str, FIRMS["turnover"])))
    ],
}


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (AGREED, SUMS.replace("[[rules]]", 'waiver = "agreed"\n[[rules]]', 1)),
        (
            SIGNED,
            SUMS.replace("[[rules]]", 'negatives = "absolute"\n[[rules]]', 1)
            + "[reader]\nsigned = true\n",
        ),
        (
            {**SIGNED, "weight": ["1.5", "2", "1"] * 6},
            SUMS.replace(
                "[[rules]]", 'negatives = "absolute"\nweight = "weight"\n[[rules]]', 1
            ).replace("p = 10", "p = 80")
            + "[reader]\nsigned = true\n",
        ),
        (
            {**SIGNED, "weight": ["1", "2", "4"] * 6},
            SUMS.replace(
                "[[rules]]",
                'negatives = "absolute"\nweight = "weight"\nweights = "expanded"\n[[rules]]',
                1,
            ).replace("p = 10", "p = 80")
            + "[reader]\nsigned = true\n",
        ),
    ],
)
def test_waivers_and_negative_amounts_are_recomputed(
    columns: Mapping[str, Sequence[object]], text: str
) -> None:
    content, recipe, rows = made(columns, text)
    checks = verify_table(content, recipe, rows, {})
    assert [check.name for check in checks] == ["values", "sensitive cells", "protection", "sums"]
    assert all(check.holds for check in checks)
    true, _, _ = made(columns, text.replace("[protect]\n", '[protect]\nmethod = "none"\n'))
    judged = judge(dataset_of(columns), TableRecipe.from_toml(f"[table]\n{text}"), {})
    bare = verify_table(true, recipe, rows, {})[1]
    assert bare.sentence.endswith(f"Not so for {len(judged.findings)} cells.")
    assert 0 < len(judged.findings) < len(judged.table.values)


NOISE = '[protect]\nmethod = "cell-key"\nnoise = 2\nvariance = 1.05\n'


@pytest.mark.parametrize(
    ("columns", "text"),
    [(CHILDREN, COUNTS), (FIRMS, SUMS.replace('[protect]\nlevels = "cap"\n', ""))],
)
def test_the_noise_of_cell_keys_is_recomputed(
    columns: Mapping[str, Sequence[object]], text: str
) -> None:
    content, recipe, rows = made(columns, text + NOISE)
    (check,) = verify_table(content, recipe, rows, {})
    assert (check.name, check.holds) == ("noise", True)
    # Some cell did get noise, and another secret gives other noise.
    true, _, _ = made(columns, text + '[protect]\nmethod = "none"\n')
    assert true != content
    other = verify_table(content, {**recipe, "seed": "ab" * 32}, rows, {})
    assert not other[0].holds
    assert not verify_table(true, recipe, rows, {})[0].holds
    without = {key: value for key, value in recipe.items() if key != "seed"}
    (open_one,) = verify_table(content, without, rows, {})
    assert (open_one.holds, open_one.unchecked) == (False, True)
    # Each cell that is changed alone is found.
    lines = content.splitlines()
    for at in range(1, len(lines)):
        head, _, value = lines[at].rpartition(b",")
        changed = [*lines[:at], b"%s,%d" % (head, int(value) + 5), *lines[at + 1 :]]
        (check,) = verify_table(b"\n".join(changed), recipe, rows, {})
        assert check.sentence.endswith("Not so for 1 cells.")


def test_a_cell_has_the_same_noise_whichever_other_rows_are_left_out() -> None:
    draw = np.random.default_rng(3)
    columns = {
        "place": draw.choice(list("nesw"), 80).tolist(),
        "kind": draw.choice(list("ab"), 80).tolist(),
    }
    seed = f'seed = "{"9f" * 32}"\n'
    text = f'[table]\ncolumns = ["place", "kind"]\n{NOISE}'
    whole = TableRecipe.from_toml(seed + text)
    part = TableRecipe.from_toml(f"{seed}{text}[data]\nwhere = \"place <> 'n'\"\n")
    found: list[dict[bytes, bytes]] = []
    for recipe in (whole, part):
        content = files_of(protect(judge(dataset_of(columns), recipe, {})))["table.csv"]
        text_table = TextTable.of(
            list(columns), [Cells.of(map(str, own)) for own in columns.values()], 80
        )
        given = tomllib.loads(recipe.as_toml())
        rows = private_rows(text_table, given, {})
        assert all(c.holds for c in verify_table(content, given, rows, {}))
        found.append({line.rpartition(b",")[0]: line for line in content.splitlines()})
    inner = {key for key in found[1] if b"Total" not in key and b"place" not in key}
    assert len(inner) == 6
    assert {key: found[0][key] for key in inner} == {key: found[1][key] for key in inner}


WEIGHTED = {**FIRMS, "weight": ["1.5", "2", "1"] * 6}
EXPANDED = {**FIRMS, "weight": ["1", "2", "4"] * 6}


@pytest.mark.parametrize(
    ("columns", "more", "value"),
    [
        (WEIGHTED, 'weight = "weight"\n', 'value = "turnover"\n'),
        (EXPANDED, 'weight = "weight"\nweights = "expanded"\n', 'value = "turnover"\n'),
        (WEIGHTED, 'weight = "weight"\n', ""),
    ],
)
def test_tables_with_weights_are_recomputed(
    columns: Mapping[str, Sequence[object]], more: str, value: str
) -> None:
    rule = 'name = "p-percent"\np = 80\n' if value else 'name = "threshold"\nn = 3\n'
    text = f'columns = ["place", "kind"]\n{value}{more}[[rules]]\n{rule}[protect]\nlevels = "cap"\n'
    content, recipe, rows = made(columns, text)
    checks = verify_table(content, recipe, rows, {})
    assert [check.name for check in checks] == ["values", "sensitive cells", "protection", "sums"]
    assert all(check.holds for check in checks), [c.sentence for c in checks]
    true, _, _ = made(columns, text.replace("[protect]\n", '[protect]\nmethod = "none"\n'))
    judged = judge(dataset_of(columns), TableRecipe.from_toml(f"[table]\n{text}"), {})
    assert 0 < len(judged.findings) < len(judged.table.values)
    bare = verify_table(true, recipe, rows, {})[1]
    assert bare.sentence.endswith(f"Not so for {len(judged.findings)} cells.")
    without = [{**row, "weight": "1"} for row in rows]
    assert not verify_table(content, recipe, without, {})[0].holds


def test_changes_are_proposals_that_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """With them no linear program is needed; with others than these it is."""
    text = SUMS.replace("p = 10\n[protect]\n", 'p = 10\n[protect]\nmethod = "heuristic"\n')
    recipe = TableRecipe.from_toml(f"[table]\n{text}")
    done = protect(judge(dataset_of(FIRMS), recipe, {}))
    content, given, rows = made(FIRMS, text)

    def none(*_args: object, **_more: object) -> object:
        return SimpleNamespace(status=4)

    monkeypatch.setattr(table_readers, "linprog", none)
    proposals = done.proposals
    assert len(proposals) > 5

    def exposed(changes: Mapping[Labels, Mapping[Labels, int]]) -> int:
        checks = verify_table(content, given, rows, {}, changes)
        (one,) = (check for check in checks if check.name == "protection")
        return 0 if one.holds else int(one.sentence.split()[-2])

    # All but those without a proposal are proven by theirs.
    assert exposed(proposals) == len(done.judged.findings) - len(proposals)
    assert exposed({}) == len(done.judged.findings)
    for cell, change in proposals.items():
        least = exposed({**proposals, cell: {}})
        assert least == exposed(proposals) + 1
        for other in change:
            less = {key: by for key, by in change.items() if key != other}
            assert exposed({**proposals, cell: less}) == least
        assert exposed({**proposals, cell: {**change, ("Total", "Total"): 1}}) == least
