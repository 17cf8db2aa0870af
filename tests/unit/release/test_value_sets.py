"""Value sets that nobody could read are published as the whole column, and a run says so."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core import Dataset, run
from anon_core.base.errors import Infeasible
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.hierarchy import Hierarchy, from_rows
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import Plan
from anon_core.release import vocabulary
from anon_core.release.vocabulary import LONGEST_SET, of_boxes, of_cells, quoted, too_long
from tests.asked import lost
from tests.making import Case

CHECKOUT = Path(__file__).resolve().parents[3]
# These publish boxes over values without an order; the rest publish nodes, leaves or exact cells.
WITH_SETS = [
    "k-member",
    "k-optimize",
    "matching",
    "microaggregation",
    "mondrian",
    "r-gather",
    "rtree",
    "single-dimension",
    "spatial-order",
    "utility-halving",
]


def i32(*values: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(values, dtype=np.int32)


def column_of(values: list[str | None], kind: ColumnKind = "text", **more: Any) -> Hierarchy:
    case = Case(columns={"x": values}, quasi=("x",), kinds={"x": kind}, **more)
    return case.problem().quasi_hierarchies[0]


WORDS = [f"w{i:03d}" for i in range(400)]  # 166 of them are a set of 996 characters, 167 of 1,002


# ---- vocabularies ----------------------------------------------------------------------------


@pytest.mark.parametrize("members", [166, 167])
def test_a_set_is_written_up_to_its_longest(members: int) -> None:
    h = column_of(list(WORDS))
    for found, code in (
        of_boxes(h, "text", i32(3), i32(2 + members), as_nodes=False),
        of_cells(h, "text", i32(3), i32(2 + members), i32(-1)),
    ):
        text = found.texts[code[0]]
        whole = members == 167
        assert found.shortened == whole
        ends = (found.lo[code[0]], found.hi[code[0]])
        if whole:
            assert (text, ends) == ("*", (0, 399))
        else:
            assert text == "{" + ", ".join(WORDS[3 : 3 + members]) + "}"
            assert len(text) <= LONGEST_SET
            assert ends == (3, 2 + members)


def test_lengths_are_those_of_the_texts() -> None:
    values = ["a", "b, c", 'say "d"', " e", "{f}", "g" * 30]
    h = column_of(list(values))
    lo, hi = (i.astype(np.int32).ravel() for i in np.triu_indices(len(values)))
    texts = vocabulary.range_texts(h, "text")
    for longest in (5, 12, 20, 45):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(vocabulary, "LONGEST_SET", longest)
            for a, b, long in zip(
                lo.tolist(), hi.tolist(), too_long(h, "text", lo, hi), strict=True
            ):
                set_text = "{" + ", ".join(quoted(v) for v in h.leaves[a : b + 1]) + "}"
                assert long == (a < b and len(set_text) > longest)
                if not long and 0 < a < b:
                    assert texts(a, b) == set_text


def test_several_long_sets_are_one_entry_beside_the_short_ones() -> None:
    h = column_of(list(WORDS))
    found, code = of_boxes(h, "text", i32(0, 1, 5, 0, 7), i32(300, 399, 6, 399, 7), as_nodes=False)
    assert [found.texts[c] for c in code] == ["*", "*", "{w005, w006}", "*", "w007"]
    assert len(found.texts) == 3


def test_the_whole_column_has_the_name_its_hierarchy_gives_it() -> None:
    levels = [(w, "all words") for w in WORDS]
    column = Dataset.from_frame(pd.DataFrame({"x": WORDS}), kinds={"x": "text"}).column("x")
    found, code = of_boxes(from_rows(column, levels), "text", i32(1), i32(390), as_nodes=False)
    assert found.texts[code[0]] == "all words"
    assert found.shortened


def test_missing_values_stand_below_the_whole_column_too() -> None:
    h = column_of([*WORDS, None])
    found, code = of_boxes(h, "text", i32(1, 400), i32(390, 400), as_nodes=False)
    assert [found.texts[c] for c in code] == ["*", ""]
    assert found.hi[code[0]] == 400


def test_ordered_values_are_sets_and_numbers_are_ranges() -> None:
    h = column_of(list(WORDS), "ordered")
    assert of_boxes(h, "ordered", i32(1), i32(300), as_nodes=False)[0].texts == ("*",)
    h = column_of([str(i) for i in range(4000)], "number")
    found, _ = of_boxes(h, "number", i32(1), i32(3000), as_nodes=False)
    assert (found.texts, found.shortened) == (("[1, 3000]",), False)


def test_nodes_keep_their_labels_however_many_values_they_hold() -> None:
    levels = [(w, "first" if w < "w300" else "second", "*") for w in WORDS]
    column = Dataset.from_frame(pd.DataFrame({"x": WORDS}), kinds={"x": "text"}).column("x")
    h = from_rows(column, levels)
    for found, _ in (
        of_boxes(h, "text", i32(0), i32(299), as_nodes=True),
        of_cells(h, "text", i32(0), i32(299), i32(1)),
    ):
        assert (found.texts, found.shortened) == (("first",), False)


# ---- runs ------------------------------------------------------------------------------------


def small() -> Case:
    drawn = np.random.default_rng(1)
    return Case(
        columns={
            "word": [f"w{i:03d}" for i in drawn.permutation(60)],
            "job": [f"j{i:02d}" for i in drawn.integers(0, 25, 60)],
            "age": [str(v) for v in drawn.integers(20, 60, 60)],
            "ill": [str(v) for v in drawn.choice(list("abcd"), 60)],
        },
        quasi=("word", "job", "age"),
        sensitive=("ill",),
        kinds={"word": "text", "job": "text", "age": "number", "ill": "text"},
    )


def longest(result: Result) -> int:
    return max(
        len(t)
        for table in result.tables.values()
        for c in table.columns
        for t in c.unique().to_pylist()
    )


def shortened(result: Result) -> list[str]:
    return [n for n, v in result.release.vocabularies.items() if v.shortened]


@pytest.mark.parametrize("name", WITH_SETS)
def test_every_technique_with_sets_verifies_with_short_ones(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "LONGEST_SET", 12)
    case = small()
    if name == "k-optimize":  # of how many columns and values, it takes long
        few = [i for i, job in enumerate(case.columns["job"]) if str(job) < "j16"]
        case = Case(
            columns={n: [case.columns[n][i] for i in few] for n in ("job", "ill")},
            quasi=("job",), sensitive=("ill",), kinds={"job": "text", "ill": "text"},
        )  # fmt: skip
    promised = [{"name": "k-anonymity", "k": 4}]
    result = run(case.plan(algorithm={"name": name}, models=promised), case.dataset, assess=False)
    assert result.verification.holds
    assert longest(result) <= 12
    assert shortened(result)
    cautions = " ".join(result.cautions)
    for column in case.quasi:
        assert (f"sets of '{column}'" in cautions) == (column in shortened(result))
    monkeypatch.setattr(vocabulary, "LONGEST_SET", 10_000)
    whole = run(case.plan(algorithm={"name": name}, models=promised), case.dataset, assess=False)
    assert not [cautions for cautions in whole.cautions if "value sets of" in cautions.lower()]
    assert longest(whole) > 12
    assert lost(whole) < lost(result)


def test_no_other_technique_publishes_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a new technique with sets finds its way into the list above."""
    calls: list[str] = []
    ran: list[str] = []
    genuine = vocabulary.range_texts

    def counted(hierarchy: Hierarchy, kind: ColumnKind) -> Any:
        write = genuine(hierarchy, kind)

        def written(lo: int, hi: int) -> str:
            text = write(lo, hi)
            if text.startswith("{"):
                calls.append(text)
            return text

        return written

    monkeypatch.setattr(vocabulary, "range_texts", counted)
    case = small()
    for name, found in family("algorithm").items():
        algorithm = cast(type[Algorithm], found)
        slow = name in ("anytime", "cell-suppression", "k-optimize")  # whole columns, or cells
        other = algorithm.shape.permutes or algorithm.needs.public or algorithm.shape.mechanism
        if name in WITH_SETS or other or slow:
            continue
        promised = [{"name": "k-anonymity", "k": 4}]
        plan = case.plan(algorithm={"name": name}, models=promised)
        with suppress(Infeasible):
            run(plan, case.dataset, assess=False)
            ran.append(name)
        assert calls == [], name
    assert len(ran) > 8


def test_classes_that_come_to_overlap_are_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part that the whole public fits is no part that δ-presence was decided for."""
    values = [f"w{i:02d}" for i in range(30)]
    shown = [*values[:15] * 2, *values[15:], *values[15::2] * 3]
    people = Case(columns={"word": values * 4}, quasi=("word",), kinds={"word": "ordered"})
    case = Case(
        columns={"word": shown, "ill": ["a"] * len(shown)},
        quasi=("word",), sensitive=("ill",), kinds={"word": "ordered", "ill": "text"},
    )  # fmt: skip
    promised = [{"name": "delta-presence", "delta_min": 0.45, "delta_max": 0.85}]
    plan = case.plan(algorithm={"name": "mpalm"}, models=promised)
    held = run(plan, case.dataset, population=people.dataset, assess=False)
    assert "{w20, w21}" in held.published["word"].unique().to_pylist()
    monkeypatch.setattr(vocabulary, "LONGEST_SET", 9)
    with pytest.raises(Infeasible, match="'word' would be longer") as caught:
        run(plan, case.dataset, population=people.dataset, assess=False)
    assert "Build a hierarchy" in caught.value.remedy


def plan_of_words(**algorithm: Any) -> Plan:
    return Plan.from_mapping(
        {
            "types": {"word": "text"},
            "roles": {"quasi": ["word", "age", "zip"], "sensitive": ["ill"]},
            "algorithm": {"name": "mondrian", **algorithm},
            "models": [{"name": "k-anonymity", "k": 5}],
        }
    )


def words(rows: int) -> pd.DataFrame:
    drawn = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "word": [f"value-{i:07d}" for i in drawn.permutation(rows)],
            "age": drawn.integers(0, 100, rows).astype(str),
            "zip": drawn.integers(10_000, 99_999, rows).astype(str),
            "ill": drawn.choice(list("abcdefgh"), rows),
        }
    )


@pytest.mark.parametrize("relaxed", [False, True])
def test_five_thousand_values_do_not_fill_the_file(relaxed: bool) -> None:
    result = run(
        plan_of_words(cuts="relaxed" if relaxed else "strict"),
        Dataset.from_frame(words(5_000)),
        assess=False,
    )
    assert result.verification.holds
    assert longest(result) <= LONGEST_SET
    assert len(result.csv) < 5_000 * 300
    (cautions,) = (one for one in result.cautions if "sets of" in one)
    assert "'word'" in cautions
    assert "hierarchy" in cautions


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="Windows tells no peak of memory")
def test_half_a_million_values_are_released_in_six_gigabytes(tmp_path: Path) -> None:
    words(500_000).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "recipe.toml").write_text(plan_of_words().as_toml())
    script = (
        "import resource, sys\n"
        "from anon_core.__main__ import main\n"
        "status = main(sys.argv[1:])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(status)\n"
    )
    given = ["run", "recipe.toml", "--data", "table.csv", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", script, *given],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    peak = int(done.stderr.split()[-1]) / (1 << 20 if sys.platform != "darwin" else 1 << 30)
    assert peak < 6
    assert (tmp_path / "out" / "release.csv").stat().st_size < 500_000 * 300
    assert "Caution: Value sets of 'word'" in done.stdout
