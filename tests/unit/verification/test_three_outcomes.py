"""Every check holds, is broken or is undecided: the table in the docs, and each outcome tried."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.pipeline.verify.verify_release import verify_release
from anon_core.verification.checks import verify_files
from anon_core.verification.findings import PENDING, Verification

ROOT = Path(__file__).parents[3]
#: One row of the table represents all promises, which are named as their models are.
PROMISE = "k-anonymity"
OPEN = ("not checked", "counts as broken")


def table() -> dict[str, list[str]]:
    """Return the outcomes of each check as the docs list them."""
    text = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    part = text.partition("## What each check can end in")[2]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return {row[0].strip("`"): row[1:] for row in rows[1:]}


TABLE = table()


def named() -> set[str]:
    """Return the names that the code gives to checks."""
    found: set[str] = set()
    folder = ROOT / "anon_core" / "verification"
    # Protected tables, networks and boxes of places are no releases of rows: their checks are in
    # `test_protected_table.py`, `test_networks.py` and `test_places.py`.
    apart = ("models", "protected_table", "table_cells", "table_readers", "other_data")
    files = [f for f in folder.rglob("*.py") if not {f.parent.name, f.stem} & set(apart)]
    verify = ROOT / "anon_core" / "pipeline" / "verify"
    files += [verify / name for name in ("repeated_run.py", "earlier_release.py")]
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            given = [k.value for k in node.keywords if k.arg == "name"]
            if node.func.id in ("undecided", "not_checked", "judged", "broken"):
                given += node.args[:1]
            elif node.func.id != "Check":
                continue
            for value in given:
                known = value.value if isinstance(value, ast.Constant) else None
                known = constants.get(value.id) if isinstance(value, ast.Name) else known
                found |= {known} if isinstance(known, str) else set()
    return found


def test_the_table_names_every_check() -> None:
    assert named() == {name for name in TABLE if name != "a privacy model"} - {"labels"} | {
        "labels"
    }


# ---- releases ------------------------------------------------------------------------------------

ROWS = [
    ("n1", "20", "F", "10115", "flu", "1"),
    ("n2", "21", "F", "10117", "cold", "2"),
    ("n3", "22", "M", "10115", "flu", "3"),
    ("n4", "23", "M", "10119", "gout", "4"),
    ("n5", "30", "F", "20095", "cold", "5"),
    ("n6", "31", "F", "20097", "flu", "6"),
    ("n7", "32", "M", "20095", "gout", "7"),
    ("n8", "33", "M", "20097", "=1+1", "8"),
]
HEAD = ("name", "age", "sex", "zip", "ill", "note")
ZIPS = [(z, z[:3] + "**", "*") for z in sorted({row[3] for row in ROWS})]
AGES = [(a, f"{a[0]}0-{a[0]}9", "*") for a in sorted({row[1] for row in ROWS})]
ROLES = """[types]
zip = "text"
[roles]
identifier = ["name"]
quasi = ["age", "sex", "zip"]
sensitive = ["ill"]
insensitive = []
[hierarchies]
age = "age.csv"
zip = "zip.csv"
"""
WHOLE = f"""version = 3
accept = [{{rows = 0.5}}, {{metric = "loss", most = 0.99}}]
{ROLES}
[algorithm]
name = "fixed-levels"
levels = {{age = 1, sex = 1, zip = 2}}
[[models]]
name = "k-anonymity"
k = 2
[export]
formats = ["xlsx"]
[export.dialect]
separator = ";"
"""
MIXED = WHOLE.replace("fixed-levels", "mondrian").replace(
    "levels = {age = 1, sex = 1, zip = 2}", ""
)
SLICING = 'name = "one-attribute-slicing"'
PERMUTED = f"""version = 3
{ROLES}
[algorithm]
{SLICING}
[[models]]
name = "frequency-l-diversity"
l = 2
"""
BOXED = PERMUTED.replace(SLICING, 'name = "angel"\nk = 2')
AVERAGED = f"""version = 3
{ROLES}
[algorithm]
name = "microaggregation"
[[models]]
name = "k-anonymity"
k = 2
"""
SAMPLED = MIXED.replace("[types]", "[data]\nsample = 0.75\n[types]")
FEWER = WHOLE.replace("zip = 2}", "zip = 0}\nmax_suppression = 0.3")
BOUNDED = WHOLE.replace("[algorithm]", "[level_bounds]\nage = { most = 1 }\n[algorithm]")
LINKED = MIXED.replace('name = "mondrian"', 'name = "cell-suppression"\nlinked = [["age", "sex"]]')
CHANGED = f"""version = 3
{ROLES}
[algorithm]
name = "as-is"
[[changes]]
name = "swapping"
columns = ["age", "zip"]
"""
WEIGHED = WHOLE.replace("insensitive = []", 'insensitive = []\nweight = "note"').replace(
    "[export]", "[export]\nclass_weights = true"
)
UNSEEN = MIXED.replace("zip.csv", "few.csv").replace(
    "[types]", '[reuse]\nunseen = "suppress"\n[types]'
)


@dataclass
class Desk:
    """A table, a recipe that was completed, and its release; `seen` is what came of verifying."""

    folder: Path
    seen: set[tuple[str, str, str]] = field(default_factory=set)
    _made: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @cached_property
    def data(self) -> Path:
        with (self.folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *ROWS])
        for name, lines in (("zip", ZIPS), ("age", AGES), ("few", ZIPS[1:])):
            text = "\n".join(";".join(line) for line in lines)
            (self.folder / f"{name}.csv").write_text(text, encoding="utf-8")
        return self.folder / "t.csv"

    @property
    def recipe(self) -> Path:
        return self.folder / "completed.toml"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def release(self, recipe: str) -> None:
        """Put the release of a recipe there, and the recipe as the run completed it."""
        if recipe not in self._made:
            given = self.folder / "given.toml"
            given.write_text(recipe, encoding="utf-8")
            asked = ["run", str(given), "--data", str(self.data), "--out", str(self.out)]
            assert main([*asked, "--recipe-out", str(self.recipe)]) == 0
            self._made[recipe] = {file.name: file.read_bytes() for file in self.out.iterdir()}
            self._made[recipe][self.recipe.name] = self.recipe.read_bytes()
        self.out.mkdir(exist_ok=True)
        for file in self.out.iterdir():
            file.unlink()
        for name, content in self._made[recipe].items():
            (self.folder if name == self.recipe.name else self.out).joinpath(name).write_bytes(
                content
            )

    def verify(self, *, table: bool = True, previous: Path | None = None) -> Verification:
        """Verify what is there, and note what came of it."""
        data = self.data if table else None
        return self.note(verify_release(self.recipe, data, self.out, previous=previous))

    def note(self, found: Verification) -> Verification:
        """Note what came of verifying; nothing that is listed as not checked counts as holding."""
        for where, checks in (("checks", found.checks), ("unchecked", found.unchecked)):
            for check in checks:
                self.seen.add((check.name, check.outcome, where))
        assert all(check.outcome == "undecided" for check in found.unchecked)
        assert found.holds == (not found.broken and not found.unchecked)
        return found

    def change(self, change: Callable[[list[list[str]]], object], name: str = "release") -> None:
        """Change the rows of a CSV file, and leave other files of the release out."""
        for file in self.out.iterdir():
            if file.suffix != ".csv" or "spreadsheet" in file.name:
                file.unlink()
        file = self.out / f"{name}.csv"
        rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))
        change(rows)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        file.write_text(text.getvalue(), encoding="utf-8")

    def edit_recipe(self, old: str, new: str) -> None:
        """Change what the completed recipe says."""
        text = self.recipe.read_text(encoding="utf-8")
        assert re.search(old, text), old
        self.recipe.write_text(re.sub(old, new, text, count=1), encoding="utf-8")


def cell(row: int, column: int, value: str) -> Callable[[list[list[str]]], object]:
    return lambda rows: rows[row].__setitem__(column, value)


def _whole(desk: Desk) -> Iterator[None]:
    yield desk.release(WHOLE)
    desk.verify()
    desk.verify(table=False)
    for change in (
        cell(1, 0, "20-29 "),
        cell(1, 3, "plague"),
        cell(8, 3, "=1+1"),
        cell(1, 0, "20"),
        cell(0, 0, "years"),
        lambda rows: rows.insert(1, rows[2]),
        lambda rows: rows.__delitem__(slice(2, None)),
        lambda rows: rows.reverse() or rows.insert(0, rows.pop()),
        lambda rows: [row.append(row[0]) for row in rows],
        lambda rows: [row.append("name" if i == 0 else f"n{i}") for i, row in enumerate(rows)],
        lambda rows: [row.append("note" if i == 0 else str(i)) for i, row in enumerate(rows)],
    ):
        yield desk.release(WHOLE)
        desk.change(change)
        desk.verify()
        desk.verify(table=False)
    for name, content in (
        ("release.parquet", b"PAR1"),
        ("release.spreadsheet.csv", b"other"),
        ("release.xlsx", b"other"),
        ("readme.txt", b"hello"),
        ("release.csv", b'a,"b\n'),
    ):
        yield desk.release(WHOLE)
        (desk.out / name).write_bytes(content)
        desk.verify()
    yield desk.release(WHOLE)
    content = (desk.out / "release.csv").read_bytes().replace(b"\n", b"\r\n")
    (desk.out / "release.csv").write_bytes(content)
    desk.verify()
    yield desk.release(WHOLE)
    desk.edit_recipe("rows = 0.5", "rows = 1.0")
    desk.change(lambda rows: rows.pop())
    desk.verify()


def _alone(desk: Desk) -> Iterator[None]:
    """What the reading of a recipe refuses before: the second computation alone is asked."""
    yield desk.release(MIXED)
    desk.change(cell(1, 0, "[20, 40]"))
    desk.verify()
    yield desk.release(PERMUTED)
    desk.edit_recipe('seed = "[0-9a-f]+"', "seed = 7")
    desk.note(verify_files(desk.recipe, desk.data, desk.out))
    yield desk.release(SAMPLED)
    desk.verify()
    desk.edit_recipe("sample = 0.75", "sample = 0.1")
    desk.note(verify_files(desk.recipe, desk.data, desk.out))
    yield desk.release(SAMPLED)
    desk.edit_recipe('seed = "[0-9a-f]+"', "")
    for table in (True, False):
        found = desk.verify(table=table)
        assert not found.broken
        assert "sample" in {check.name for check in found.unchecked} or not table
    verified = desk.verify(previous=desk.out)
    assert not verified.broken
    assert {"sample", "previous"} <= {check.name for check in verified.unchecked}
    assert (
        main(["verify", str(desk.recipe), "--data", str(desk.data), "--release", str(desk.out)])
        == 5
    )
    yield desk.release(AVERAGED)
    desk.edit_recipe("mean", "mode")
    desk.note(verify_files(desk.recipe, desk.data, desk.out))
    yield desk.release(WHOLE)
    desk.edit_recipe("k = 2", 'k = "two"')
    desk.note(verify_files(desk.recipe, desk.data, desk.out))
    yield desk.release(UNSEEN)
    desk.verify()
    desk.note(PENDING)  # what is known of a release before anything is recomputed


def _permuted(desk: Desk) -> Iterator[None]:
    yield desk.release(PERMUTED)
    desk.verify()
    desk.verify(table=False)
    for change in (
        exchanged,
        lambda rows: [row.__setitem__(0, "7") for row in rows[1:]],
        lambda rows: rows.__setitem__(slice(1, None), rows[:0:-1]),
        cell(1, 4, "plague"),
        lambda rows: rows.pop(),
        swapped,
    ):
        yield desk.release(PERMUTED)
        desk.change(change)
        desk.verify()
    yield desk.release(PERMUTED)
    desk.edit_recipe('seed = "[0-9a-f]+"', "")
    with pytest.MonkeyPatch.context() as few:
        few.setattr("anon_core.verification.rows.membership.MOST_PAIRS", 2)
        assert [c.name for c in desk.verify().unchecked] == ["membership"]
    # A time box may end elsewhere the next time: another release proves nothing then.
    yield desk.release(PERMUTED.replace(SLICING, f'{SLICING}\npartition = {{name = "genetic"}}'))
    desk.change(swapped)
    assert "drawn-again" in {c.name for c in desk.verify().unchecked}


def _boxed(desk: Desk) -> Iterator[None]:
    yield desk.release(BOXED)
    desk.verify()
    desk.verify(table=False)
    desk.change(cell(1, 1, "*"))  # the box of one row says more than that of the others
    desk.verify()
    desk.verify(table=False)


def exchanged(rows: list[list[str]]) -> None:
    """Exchange the numbers of two groups."""
    for row in rows[1:]:
        row[0] = {"1": "2", "2": "1"}.get(row[0], row[0])
    in_order(rows)


def swapped(rows: list[list[str]]) -> None:
    """Exchange the sexes of two people of different groups."""
    one = next(r for r in rows[1:] if r[0] == "1")
    other = next(r for r in rows[1:] if r[0] != "1" and r[2] != one[2])
    one[2], other[2] = other[2], one[2]
    in_order(rows)


def in_order(rows: list[list[str]]) -> None:
    rows[1:] = sorted(rows[1:], key=lambda r: (int(r[0]), r[1:]))


def _averaged(desk: Desk) -> Iterator[None]:
    yield desk.release(AVERAGED)
    desk.verify()
    desk.verify(table=False)
    yield desk.release(AVERAGED)
    desk.change(cell(1, 0, "99.0"))
    desk.verify()


def _previous(desk: Desk) -> Iterator[None]:
    for lines in (
        ["*,*,*," + row[4].replace("=", "'=") for row in ROWS],
        ["21,*,*,cold", "21,*,*,fever", *["30-39,*,*,flu"] * 6],  # who is 21 has no fever now
        ["middle,*,*,flu"],
    ):
        yield desk.release(WHOLE)
        earlier = desk.folder / "earlier.csv"
        earlier.write_text("\n".join(["age,sex,zip,ill", *lines, ""]), encoding="utf-8")
        desk.verify(previous=earlier)


def _weighed(desk: Desk) -> Iterator[None]:
    yield desk.release(WEIGHED)  # the last: another run would refuse a folder with its file
    assert "class-weights" in {check.name for check in desk.verify().checks}
    desk.verify(table=False)
    file = desk.out / "weights.csv"
    file.write_bytes(file.read_bytes().replace(b"2.5", b"2.6"))
    desk.verify()


def _bounded(desk: Desk) -> Iterator[None]:
    yield desk.release(BOUNDED)
    desk.verify()
    desk.verify(table=False)
    desk.change(lambda rows: [row.__setitem__(0, "*") for row in rows[1:]])
    desk.verify()
    yield desk.release(LINKED)
    desk.verify()
    desk.verify(table=False)
    desk.change(lambda rows: [row.__setitem__(1, "F") for row in rows[1:]])
    desk.verify()
    for change in (
        lambda rows: None,
        cell(0, 0, "years"),
        lambda rows: rows.pop(),
    ):
        yield desk.release(FEWER)
        desk.change(change)
        desk.verify()
    yield desk.release(WHOLE.replace("[types]", '[data]\nwhere = "age < 33"\n[types]'))
    desk.verify()
    desk.change(lambda rows: None)
    yield desk.release(CHANGED)
    desk.verify()
    desk.edit_recipe('seed = "[0-9a-f]+"', "")
    assert "changes" in {check.name for check in desk.verify().unchecked}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    found = Desk(folder=tmp_path_factory.mktemp("desk"))
    for way in (_whole, _permuted, _boxed, _averaged, _alone, _previous, _bounded, _weighed):
        for _ in way(found):
            pass
    return found


@pytest.mark.parametrize("name", TABLE)
def test_each_outcome_of_the_table_comes_about(desk: Desk, name: str) -> None:
    holds, broken, undecided = TABLE[name]
    own = PROMISE if name == "a privacy model" else name
    seen = {(outcome, where) for case, outcome, where in desk.seen if case == own}
    assert (("holds", "checks") in seen) == (holds != "–")
    assert (("broken", "checks") in seen) == (broken != "–")
    ends = {"checks" if "broken" in w else "unchecked" for w in OPEN if w in undecided.lower()}
    if own in ("order", "rows", "spelling", "coverage", "truth"):
        seen.discard(("undecided", "unchecked" if "checks" in ends else ""))
    assert {where for outcome, where in seen if outcome == "undecided"} <= ends or name == PROMISE
    assert bool(ends) == (undecided != "–")
    assert any(outcome == "undecided" for outcome, _ in seen) == bool(ends)


@pytest.mark.parametrize(
    ("change", "status"),
    [(None, 0), (swapped, 3), ("no secret", 0), ("no secret, too many", 5), ("no table", 5)],
)
def test_statuses_of_a_permuted_release(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: object, status: int
) -> None:
    desk.release(PERMUTED)
    if callable(change):
        desk.change(change)
    elif change and "secret" in str(change):
        desk.edit_recipe('seed = "[0-9a-f]+"', "")
        if "many" in str(change):
            monkeypatch.setattr("anon_core.verification.rows.membership.MOST_PAIRS", 2)
    asked = ["verify", str(desk.recipe), "--release", str(desk.out)]
    asked += ["--release-only"] if change == "no table" else ["--data", str(desk.data)]
    assert main(asked) == status
