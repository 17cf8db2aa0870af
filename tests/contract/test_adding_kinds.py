"""Another kind of column is one row on either side: read, grouped, searched, published, verified.

The toy kind is a time of day. What it gets is what a kind gets that only says how its texts are
read and written: nothing in between may take its values for numbers or dates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_core.__main__ import main
from anon_core.base.errors import AnonError, BadHierarchy, BadInput, BadPlan
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import from_rows, read_levels
from anon_core.data.hierarchy.edit.draft import draft_of, draft_of_rows, to_rows
from anon_core.data.hierarchy.edit.editing import apply
from anon_core.data.hierarchy.edit.operations import Place, Reorder
from anon_core.data.hierarchy.intervals import Cuts, cut
from anon_core.data.hierarchy.label_truth import false_labels
from anon_core.data.hierarchy.propose.proposals import offer
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.profile import distribution
from anon_core.data.roles.suggestions import suggest_roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, Kind, detect_kind, kind_that_writes
from anon_core.techniques.metrics.squared_error import SquaredError
from anon_core.verification.recipe import read_terms
from anon_core.verification.text import kinds as recomputed
from anon_core.verification.text.labels import untrue
from anon_core.verification.text.texts import Spelling
from ui.panels.hierarchies.cut_panel import can_be_cut

TIMES = [f"{hour:02}:{minute:02}" for hour in range(8, 18) for minute in (0, 20, 40)]
LEVELS = [(t, f"{t[:2]}:00 to {t[:2]}:59", "morning" if t < "12" else "later", "*") for t in TIMES]


def minutes(text: str) -> float:
    hour, sign, minute = text.strip().partition(":")
    good = sign and hour.isdecimal() and minute.isdecimal() and len(minute) == 2
    return int(hour) * 60.0 + int(minute) if good else float("nan")


def minutes_again(text: str) -> int | None:
    hour, sign, minute = text.strip().partition(":")
    good = sign and hour.isdecimal() and minute.isdecimal() and len(minute) == 2
    return int(hour) * 60 + int(minute) if good else None


def clock(value: Any) -> str:
    return f"{int(value) // 60:02}:{int(value) % 60:02}"


def all_times(texts: Sequence[str], *_: object) -> bool:
    return all(minutes_again(text) is not None for text in texts)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(
        title="time of day", several="times", read=minutes, write=clock, tick=clock, fits=all_times
    )
    monkeypatch.setitem(KINDS, "time", kind)
    again = recomputed.Kind(read=minutes_again, write=clock, fits=all_times)
    monkeypatch.setitem(recomputed.KINDS, "time", again)


def column(cells: Sequence[str] = TIMES) -> Column:
    return encode("at", np.arange(len(cells), dtype=np.int32), cells, kind="time")


def test_both_sides_know_the_same_kinds() -> None:
    assert set(KINDS) == set(recomputed.KINDS)
    for name, kind in KINDS.items():
        again = recomputed.KINDS[name]
        assert kind.measured == (again.read is not None)
        assert (kind.amount, kind.marks) == (again.averaged, again.thousands)


# ---- reading -----------------------------------------------------------------------------------


def test_texts_are_found_out_to_be_of_the_kind_on_both_sides() -> None:
    assert detect_kind(TIMES) == recomputed.kind_of(TIMES) == "time"
    assert detect_kind([*TIMES, "noon"]) == recomputed.kind_of([*TIMES, "noon"]) == "text"


def test_values_stand_in_the_order_of_their_measure_and_spellings_are_merged() -> None:
    found = encode("at", np.arange(4, dtype=np.int32), ["10:00", "9:30", "09:30", "8:00"])
    assert (found.kind, found.values) == ("time", ("8:00", "9:30", "10:00"))
    assert found.measure is not None
    assert found.measure.tolist() == [480, 570, 600]
    assert found.notes == ("1 spellings of equal times were merged (1.0 and 1 are one).",)


def test_a_value_that_is_not_of_the_declared_kind_is_refused() -> None:
    with pytest.raises(BadInput, match="1 distinct value is not a time"):
        column([*TIMES, "40"])


def test_charts_and_suggestions_do_not_take_it_for_numbers_or_dates() -> None:
    frame = pd.DataFrame({"at": TIMES * 4})
    (found,) = suggest_roles(Dataset.from_frame(frame, kinds={"at": "time"}))
    assert "Dates" not in found.reason
    assert "ages" not in found.reason
    bars = distribution(column(), most=5).bars
    assert all(minutes(end) == minutes(end) for bar in bars for end in bar.label.split(" – "))
    assert not can_be_cut(column())  # the browser cannot write its places


# ---- hierarchies ---------------------------------------------------------------------------------


def test_intervals_are_written_as_the_kind_is() -> None:
    rows = cut(column(), Cuts(levels=((540.0, 720.0), (720.0,))))
    assert {row[1] for row in rows} == {"08:00 to 08:59", "09:00 to 11:59", "12:00 to 17:40"}
    assert read_range("09:00 to 11:59", "time") == (540, 719)
    assert read_range("9*", "time") is None  # a form of numbers
    assert read_range("2024-Q1", "time") is None  # a form of dates
    assert kind_that_writes("09:00", 540.0) == "time"


def test_proposals_part_it_by_rows_and_are_true_on_both_sides() -> None:
    found = offer(column())
    assert [one.builder for one in found.proposals] == ["quantiles", "flat"]
    assert "Its times are cut" in found.proposals[0].reason
    rows = found.proposals[0].rows
    assert false_labels(rows, "time") == []
    labels = {label for row in rows for label in row[1:]}
    assert untrue(rows, Spelling(kind="time", neutralised=False), labels) == set()


def test_a_false_label_is_found_on_both_sides() -> None:
    rows = [("08:00", "08:00 to 09:00", "*"), ("09:30", "08:00 to 09:00", "*")]
    (found,) = false_labels(rows, "time")
    assert (found.outside, found.instead) == (("09:30",), "08:00-09:30")
    spelling = Spelling(kind="time", neutralised=False)
    assert untrue(rows, spelling, {"08:00 to 09:00"}) == {"08:00 to 09:00"}


def test_a_hierarchy_keeps_the_kind_and_its_order_while_it_is_edited() -> None:
    hierarchy = from_rows(column(), LEVELS[::-1])
    assert hierarchy.leaves == tuple(TIMES)
    draft = draft_of(hierarchy)
    assert draft.kind == "time"
    assert draft_of_rows(column(), to_rows(draft)) == draft
    with pytest.raises(BadHierarchy, match="has the order of its times"):
        apply(draft, Reorder(level=0, nodes=(0,), beside=2))
    with pytest.raises(BadHierarchy, match="is one of times, and 1 of the values are not"):
        apply(draft, Place(values=("noon",), onto=1, to=draft.levels[0][0].id))


# ---- runs and verification -----------------------------------------------------------------------

RECIPE = """\
[roles]
quasi = ["at", "age"]
sensitive = ["ill"]
[types]
at = "time"
[hierarchies]
at = "at.csv"
[algorithm]
{algorithm}
[[models]]
name = "k-anonymity"
k = 3
"""


class Desk:
    def __init__(self, folder: Path) -> None:
        self.recipe, self.data, self.out = (folder / n for n in ("r.toml", "t.csv", "out"))
        drawn = np.random.default_rng(5)
        cells = zip(drawn.choice(TIMES, 90), drawn.integers(20, 60, 90), strict=True)
        rows = [f"{at},{age},{'flu' if age % 2 else 'gout'}" for at, age in cells]
        self.data.write_text("\n".join(["at,age,ill", *rows]) + "\n")
        (folder / "at.csv").write_text("".join(";".join(row) + "\n" for row in LEVELS))

    def run(self, algorithm: str, more: str = "") -> str:
        self.recipe.write_text(RECIPE.format(algorithm=algorithm) + more)
        given = [str(self.recipe), "--data", str(self.data), "--out", str(self.out)]
        assert main(["run", *given]) == 0
        return (self.out / "release.csv").read_text()

    def verify(self) -> int:
        given = [str(self.recipe), "--data", str(self.data), "--release", str(self.out)]
        return main(["verify", *given])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("algorithm", "shown"),
    [
        ('name = "optimal"', "to "),
        ('name = "mondrian"', "["),
        ('name = "microaggregation"', "["),
        ('name = "top-bottom-coding"\nlimits = {at = {low = "09:10", high = "16:30"}}', "≤09:10"),
    ],
)
def test_a_release_is_made_and_verified(desk: Desk, algorithm: str, shown: str) -> None:
    published = desk.run(algorithm)
    cells = {line.rsplit(",", 2)[0] for line in published.splitlines()[1:]}
    assert any(shown in cell for cell in cells)
    assert desk.verify() == 0


def test_a_cell_that_covers_another_time_breaks_the_release(desk: Desk) -> None:
    published = desk.run('name = "mondrian"')
    cell = next(c for c in published.splitlines()[1].split('"') if c.startswith("["))
    assert cell != "[08:00, 08:00]"
    (desk.out / "release.csv").write_text(published.replace(cell, "[23:00, 23:40]"))
    (desk.out / "release.parquet").unlink()
    assert desk.verify() == 3


def test_a_population_is_read_as_the_table_is(desk: Desk) -> None:
    people = desk.data.parent / "people.csv"
    lines = [",".join(line.split(",")[:2]) for line in desk.data.read_text().splitlines()]
    people.write_text("\n".join([*lines, "8:10,33", "16:50,41"]) + "\n")
    presence = (
        '[population]\nfile = "people.csv"\n[[models]]\nname = "delta-presence"\ndelta_max = 1.0\n'
    )
    desk.run('name = "mondrian"', presence)
    assert desk.verify() == 0


def test_limits_that_are_no_times_are_refused(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    algorithm = 'name = "top-bottom-coding"\nlimits = {at = {low = "40"}}'
    desk.recipe.write_text(RECIPE.format(algorithm=algorithm))
    given = [str(desk.recipe), "--data", str(desk.data), "--out", str(desk.out)]
    assert main(["run", *given]) == 1
    assert "the limits of 'at' are" in capsys.readouterr().err


def test_squared_errors_are_those_of_amounts() -> None:
    from tests.making import Case

    case = Case(columns={"at": [*TIMES]}, quasi=("at",), kinds={"at": "time"})
    problem = case.problem()
    assert SquaredError().reason_not_applicable(problem)


def test_the_second_computation_refuses_a_kind_it_does_not_know() -> None:
    recipe = {"roles": {"quasi": ["at"]}, "types": {"at": "moment"}, "models": []}
    with pytest.raises(BadPlan, match="\\[types\\] 'at' is 'moment'"):
        read_terms(recipe, ["at"])


def test_a_level_file_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "at.csv"
    path.write_text("".join(";".join(row) + "\n" for row in LEVELS))
    assert [tuple(row) for row in read_levels(path, "at")] == LEVELS
    with pytest.raises(AnonError, match="1 values are not a time"):
        from_rows(column(), [*LEVELS, ("noon", "12:00 to 12:59", "later", "*")])
