"""Counts with noise: categories, budgets, the noise itself, and what is refused.

Noise is drawn by OpenDP from the operating system and cannot be seeded. Tests of what it looks like
therefore fail by chance; each does in fewer than one of 10**7 runs.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from anon_core.__main__ import main
from anon_core.base.errors import AnonError, BadInput, BadPlan, InputChanged
from anon_core.counts import counting, noise
from anon_core.counts.counting import noisy_counts
from anon_core.data.column import encode
from anon_core.data.table import Dataset
from tests.making import Case

FALSE_ALARM = 1e-9
AGES = [(str(a), f"[{a // 10}*]", "*") for a in range(40)]
PEOPLE = Case(
    columns={
        "age": ["3", "5", "12", None, "31", "31"],
        "sex": ["F", "F", "M", "M", "F", "M"],
        "town": ["a", "b", "a", "c", "a", "a"],
    },
    quasi=("age", "sex"),
    kinds={"age": "number", "sex": "text", "town": "text"},
    levels={"age": AGES, "sex": [("F", "*"), ("M", "*"), ("X", "*")]},
)


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Leave the noise out, to see what is counted; the budgets that were asked for come back."""
    asked: list[float] = []

    def exact(counts: list[int], epsilon: float) -> list[int]:
        asked.append(epsilon)
        return list(counts)

    monkeypatch.setattr(counting, "with_noise", exact)
    return asked


def chi_square(drawn: list[int], epsilon: float, reach: int) -> float:
    """Return the chance of draws at least as far from P(x) ∝ e^(−ε |x|); tails are one bin each."""
    alpha = math.exp(-epsilon)
    inside = [(1 - alpha) / (1 + alpha) * alpha ** abs(x) for x in range(-reach, reach + 1)]
    tail = alpha ** (reach + 1) / (1 + alpha)
    expected = np.array([tail, *inside, tail]) * len(drawn)
    assert expected.sum() == pytest.approx(len(drawn))
    seen = Counter(min(max(x, -reach - 1), reach + 1) for x in drawn)
    found = np.array([seen[x] for x in range(-reach - 1, reach + 2)])
    return float(chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1))


@pytest.mark.parametrize(
    ("epsilon", "reach"),
    [(0.2, 20), pytest.param(math.log(2), 8, marks=pytest.mark.long), (2.0, 3)],
)
def test_noise_is_two_sided_geometric(epsilon: float, reach: int) -> None:
    """Of 60,000 draws; the rarest bin then expects 18.

    By importance sampling a right noise is called wrong once in 10**8 runs at most (ε = 2, where
    bins are rarest; 2 · 10**-10 and less at ε = ln 2 and 0.2): the level of 10**-9 is that of the
    χ² curve, which the statistic follows only nearly. A scale that is 1.2 times the right one is
    missed less than once in 10**80 runs, and one of 1.1 less than once in 10**20. With 20,000 draws
    the latter was missed once in 10,000 runs at ε = 0.2.
    """
    drawn = noise.with_noise([0] * 60_000, epsilon)
    assert chi_square(drawn, epsilon, reach) > FALSE_ALARM
    # The test can fail: it would see a budget that is a tenth or a fifth off.
    for factor in (1.1, 1.2, 1 / 1.2):
        assert chi_square(drawn, factor * epsilon, reach) < FALSE_ALARM
    assert len(set(noise.with_noise([0] * 200, epsilon))) > 1


def test_noise_at_ln_2_is_what_the_books_say() -> None:
    """A third of zeros: of 20,000 the share is off by more than 0.021 once in 10**9 runs."""
    drawn = noise.with_noise([7] * 20_000, math.log(2))
    assert drawn.count(7) / len(drawn) == pytest.approx(1 / 3, abs=0.021)


def test_categories_are_those_of_the_hierarchy(silent: list[float]) -> None:
    found = noisy_counts(
        PEOPLE.dataset, [["age", "sex"]], epsilon=1, hierarchies=PEOPLE.levels, levels={"age": 1}
    )
    (table,) = found.tables
    groups = ["[0*]", "[1*]", "[2*]", "[3*]", ""]
    assert list(table.cells) == [(a, s) for a in groups for s in ("F", "M", "X", "")]
    assert {cell: n for cell, n in table.cells.items() if n} == {
        ("[0*]", "F"): 2,
        ("[1*]", "M"): 1,
        ("[3*]", "F"): 1,
        ("[3*]", "M"): 1,
        ("", "M"): 1,
    }


def test_categories_are_the_same_without_any_row_of_them(silent: list[float]) -> None:
    """Also where the table writes a number in a way of its own, or has nothing missing."""
    other = Case(
        columns={"age": ["3.0"], "sex": ["M"]},
        quasi=("age", "sex"),
        kinds={"age": "number", "sex": "text"},
    )
    for level in (0, 1, 2):
        both = [
            noisy_counts(
                case.dataset, [["age"]], epsilon=1, hierarchies=PEOPLE.levels, levels={"age": level}
            ).tables[0]
            for case in (PEOPLE, other)
        ]
        assert list(both[0].cells) == list(both[1].cells)
        assert both[1].cells[("3",) if level == 0 else ("[0*]",) if level == 1 else ("*",)] == 1
    assert dict(both[0].cells) == {("*",): 6}  # the missing value hangs under the root


def test_the_budget_is_split_and_never_exceeded(silent: list[float]) -> None:
    found = noisy_counts(
        PEOPLE.dataset, [["age"], ["sex"], ["age", "sex"]], epsilon=1, hierarchies=PEOPLE.levels
    )
    assert silent == [t.epsilon for t in found.tables] == [pytest.approx(1 / 3)] * 3
    assert sum(map(Fraction, silent)) <= 1
    content = found.as_json()
    assert (content["epsilon"], content["delta"]) == (1, 0)
    assert content["neighbours"] == "one row added or removed"
    assert "split among 3 tables" in found.sentence
    assert [t["epsilon"] for t in content["tables"]] == silent


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 1.0, 2.7])
def test_the_library_confirms_the_budget(epsilon: float) -> None:
    """Its privacy map, rounded up, is asked for every scale: 1 / (1/3) alone would exceed 1/3."""
    dp = noise._opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scales: list[float] = []
    made = dp.m.make_geometric

    def watched(*space: object, scale: float) -> object:
        scales.append(scale)
        return made(*space, scale=scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp.m, "make_geometric", watched)
        noise.with_noise([1, 2], epsilon)
    assert made(*space, scale=scales[-1]).map(1) <= epsilon


def test_exact_counts_are_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "with_noise", lambda counts, epsilon: [n + 5000 for n in counts])
    found = noisy_counts(PEOPLE.dataset, [["sex"]], epsilon=1, hierarchies=PEOPLE.levels)
    assert dict(found.tables[0].cells) == {("F",): 5003, ("M",): 5003, ("X",): 5000, ("",): 5000}
    assert "3" not in json.dumps(found.as_json()["tables"]).replace("5003", "")
    assert "6" not in repr(found).replace("e-06", "")


def test_clipping_raises_what_is_below_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "with_noise", lambda counts, epsilon: [n - 2 for n in counts])
    for clip, least in ((False, -2), (True, 0)):
        found = noisy_counts(
            PEOPLE.dataset, [["sex"]], epsilon=1, hierarchies=PEOPLE.levels, clip=clip
        )
        assert min(found.tables[0].cells.values()) == least
        assert found.as_json()["clipped"] == clip


def test_categories_of_the_table_need_delta_and_a_threshold() -> None:
    with pytest.raises(BadPlan, match="'town' would name categories that the table itself gives"):
        noisy_counts(PEOPLE.dataset, [["town"]], epsilon=1)
    crowd = Dataset(
        columns=(
            encode("town", np.array([0] * 400 + [1], dtype=np.int32), ["big", "tiny"], kind="text"),
        ),
        rows=401,
    )
    found = noisy_counts(crowd, [["town"]], epsilon=1, delta=1e-12)
    (table,) = found.tables
    # A count of one is above the threshold once in 10**12 runs, one of 400 nearly always.
    assert list(table.cells) == [("big",)]
    assert 20 < table.threshold < 60
    assert table.cells[("big",)] >= table.threshold
    assert table.cells[("big",)] == pytest.approx(400, abs=30)
    assert found.as_json()["tables"][0]["delta"] == 1e-12


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"epsilon": 0}, "epsilon is 0; allowed is a number above 0"),
        ({"epsilon": -1.0}, "epsilon is -1.0"),
        ({"epsilon": 11}, "up to 10"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"epsilon": True}, "epsilon is True"),
        ({"epsilon": "1"}, "epsilon is '1'"),
        ({"delta": 1}, "delta is 1; allowed is a number from 0 to below 1"),
        ({"delta": -1e-9}, "delta is -1e-09"),
        ({"delta": 1e-6}, "all categories are fixed"),
        ({"by": []}, "No column is named"),
        ({"by": [[]]}, "No column is named"),
        ({"by": [["sex", "sex"]]}, "name a column twice"),
        ({"levels": {"age": 1}}, "by which nothing is counted"),
        ({"levels": {"sex": -1}}, "level of 'sex' is -1"),
        ({"levels": {"sex": True}}, "level of 'sex' is True"),
        ({"levels": {"sex": 2}}, "levels 0 to 1"),
        ({"by": [["town"]], "levels": {"town": 1}}, "Level 1 of 'town' needs a hierarchy"),
    ],
)
def test_what_cannot_be_counted_is_refused(given: dict[str, object], text: str) -> None:
    usual = {"by": [["sex"]], "epsilon": 1, "hierarchies": PEOPLE.levels}
    with pytest.raises(BadPlan) as refused:
        noisy_counts(PEOPLE.dataset, **usual | given)  # type: ignore[arg-type]
    assert text in refused.value.message
    assert refused.value.remedy


def test_other_refusals() -> None:
    with pytest.raises(BadInput, match="nothing"):
        noisy_counts(PEOPLE.dataset, [["nothing"]], epsilon=1)
    with pytest.raises(InputChanged):
        noisy_counts(PEOPLE.dataset, [["sex"]], epsilon=1, hierarchies={"sex": [("F", "*")]})
    wide = {
        "age": AGES + [(str(a), "*", "*") for a in range(40, 440)],
        "sex": PEOPLE.levels["sex"] + [(f"x{i}", "*") for i in range(300)],
    }
    with pytest.raises(BadPlan, match="at most 100,000"):
        noisy_counts(PEOPLE.dataset, [["age", "sex"]], epsilon=1, hierarchies=wide)
    spelled = Case(columns={"n": ["1", "1.0"]}, quasi=("n",), kinds={"n": "number"}).dataset
    with pytest.raises(BadPlan, match="several spellings"):
        noisy_counts(spelled, [["n"]], epsilon=1, delta=1e-6)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(AnonError) as refused:
        noisy_counts(PEOPLE.dataset, [["sex"]], epsilon=1, hierarchies=PEOPLE.levels)
    assert "is not installed" in refused.value.message
    assert "anonymity-workbench[dp]" in refused.value.remedy


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a recipe, its hierarchies and a table."""
    (tmp_path / "table.csv").write_text("age,sex,town\n3,F,a\n5,F,b\n12,M,a\n31,F,=x\n")
    (tmp_path / "age.csv").write_text("".join(";".join(row) + "\n" for row in AGES))
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n=X;*\n")
    (tmp_path / "recipe.toml").write_text(
        """
[types]
age = "number"
[roles]
quasi = ["age", "sex"]
[hierarchies]
age = "age.csv"
sex = "sex.csv"
[algorithm]
name = "optimal"
[[models]]
name = "k-anonymity"
"""
    )
    return tmp_path


def arguments(desk: Path, *more: str, epsilon: str = "1") -> list[str]:
    usual = ["counts", str(desk / "recipe.toml"), "--data", str(desk / "table.csv")]
    return [*usual, "--out", str(desk / "out"), "--epsilon", epsilon, *more]


def test_the_command_writes_counts_and_what_is_guaranteed(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(desk, "--by", "age=1,sex", "--by", "sex", "--clip")) == 0
    printed = capsys.readouterr()
    assert "ε = 1 and δ = 0, split among 2 tables" in printed.out
    assert sorted(p.name for p in (desk / "out").iterdir()) == [
        "counts-1.csv",
        "counts-2.csv",
        "guarantee.json",
    ]
    rows = list(csv.reader((desk / "out" / "counts-2.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["sex", "F", "M", "'=X", ""]
    assert all(int(row[1]) >= 0 for row in rows[1:])
    guarantee = json.loads((desk / "out" / "guarantee.json").read_text())
    assert guarantee["epsilon"] == 1
    assert len(guarantee["tables"][0]["cells"]) == 5 * 4


def test_the_command_draws_no_second_time_into_a_folder(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(desk, "--by", "sex", "--json")) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["status"] == "released"
    assert main(arguments(desk, "--by", "sex")) == 1
    assert "spend their budget again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--by", "age=x"], "the level is 'x'"),
        (["--by", "age=1", "--by", "age=2"], "gives 'age' two levels"),
        (["--by", "town"], "'town' would name categories"),
        (["--by", "height"], "height"),
        (["--by", "age", "--delta", "0.1"], "no δ is spent"),
    ],
)
def test_the_command_says_what_is_wrong(
    desk: Path, capsys: pytest.CaptureFixture[str], more: list[str], text: str
) -> None:
    assert main(arguments(desk, *more)) == 1
    assert text in capsys.readouterr().err
    assert not (desk / "out").exists()
