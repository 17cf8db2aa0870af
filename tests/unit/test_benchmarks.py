"""The benchmarks' plain baselines give the workbench's own answers on a table one can look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_core import Plan, load_hierarchies, read_table, run
from anon_core.data.samples import hierarchy_folder, sample
from benchmarks import baseline, exhaustive, histograms, models, optimal, tables, timing
from benchmarks.bench import Bench

QUASI = ("Race", "DOB", "Sex", "ZIP", "Marital")


@pytest.mark.parametrize("budget", [0.0, 0.25, 1.0])
def test_brute_force_and_the_search_agree(tmp_path, budget):
    found = sample("samarati")
    found.frame().to_csv(tmp_path / "t.csv", index=False)
    plan = Plan.from_mapping(
        {
            "types": dict.fromkeys(QUASI, "text"),
            "roles": {"quasi": list(QUASI)},
            "hierarchies": {n: str(hierarchy_folder() / found.hierarchies[n]) for n in QUASI},
            "algorithm": {"name": "optimal", "max_suppression": budget},
            "models": [{"name": "k-anonymity", "k": 3}],
        }
    )
    table = read_table(tmp_path / "t.csv", plan.data, kinds=plan.types)
    levels = load_hierarchies(plan, ".")
    best = baseline.brute_force(table.frame()[list(QUASI)], levels, 3, [budget])
    result = run(plan, table, levels)
    assert best.loss[budget] == pytest.approx(result.measures["loss"].value, abs=1e-12)
    assert len(best.seconds) == best.nodes == result.account.nodes


def samarati_source(folder: Path) -> tables.Source:
    found = sample("samarati")
    found.frame().to_csv(folder / "t.csv", index=False)
    return tables.Source(
        title="Samarati",
        data=folder / "t.csv",
        folder=folder,
        quasi=QUASI[:4],
        hierarchies={n: hierarchy_folder() / found.hierarchies[n] for n in QUASI},
        known={},
    )


def test_every_node_is_priced_as_by_brute_force(tmp_path, monkeypatch, capsys):
    source = samarati_source(tmp_path)
    frame = sample("samarati").frame()[list(source.quasi)]
    levels = source.load(source.recipe("r", "optimal"))[1]
    for k in (2, 3):
        every = exhaustive.every_node(frame, levels, (k,))
        best = baseline.brute_force(frame, levels, k, [0.0, 0.25, 1.0])
        for budget, loss in best.loss.items():
            assert every.best(k, "loss", budget) == pytest.approx(loss, abs=1e-12)
            assert every.removed[k][every.nodes.index(best.node[budget])] <= budget * 9
    monkeypatch.setattr(exhaustive, "KS", (2, 3))
    bench = Bench(times=1, quick=True)
    exhaustive.every_optimum(bench, source, source.quasi)
    assert not bench.wrong
    # Every search, and rows and costs of the pass over the lattice.
    assert capsys.readouterr().out.count("right: k = ") == 2 * 3 * 3 + 2 * (1 + 3)
    # A wrong enumeration is distinguished.
    monkeypatch.setattr(exhaustive.EveryNode, "best", lambda *_: 0.0)
    exhaustive.every_optimum(bench, source, source.quasi)
    assert len(bench.wrong) == 2 * 3 * 3


def test_the_pass_over_the_lattice_is_measured_and_checked(tmp_path, monkeypatch, capsys):
    source = samarati_source(tmp_path)
    bench = Bench(times=1, quick=True)
    optimal._whole_lattice(bench, source)
    printed = capsys.readouterr().out
    assert not bench.wrong
    assert "one pass, 1 thread" in printed
    assert "one pass, 2 threads" in printed
    assert "192 verdicts" in printed  # 48 nodes
    # A wrong price is distinguished.
    monkeypatch.setattr(
        "anon_core.methods.lattice.size_sweep.SizeSweep.cost", lambda s, _: s.loss + 1e-6
    )
    optimal._whole_lattice(bench, source)
    assert len(bench.wrong) == 2


def test_optima_under_promises_are_compared_with_every_node(tmp_path, monkeypatch, capsys):
    source = replace(samarati_source(tmp_path), quasi=QUASI)
    asked = {
        "distinct": models.Asked(
            model={"name": "l-diversity", "l": 2}, plainly=histograms.distinct(2), loss=0
        ),
        "entropy": models.Asked(
            model={"name": "entropy-l-diversity", "l": 2}, plainly=histograms.entropy(2), loss=0
        ),
        "recursive": models.Asked(
            model={"name": "recursive-l-diversity", "c": 3, "l": 2},
            plainly=histograms.recursive(3, 2),
            loss=0,
        ),
        "near": models.Asked(
            model={"name": "t-closeness", "t": 0.3},
            plainly=histograms.near(30, ordered=False),
            loss=0,
        ),
    }
    own = {what: replace(one, sensitive="Marital") for what, one in asked.items()}
    monkeypatch.setattr(models, "_OPTIMA", own)
    monkeypatch.setattr(models, "BUDGET", 0.25)
    source = replace(source, small=QUASI)
    bench = Bench(times=1, quick=True)
    models.optima(bench, source)
    assert not bench.wrong
    assert capsys.readouterr().out.count("what every node shows") == 4
    # A promise that plain code takes for a weaker one is distinguished.
    weaker = {what: replace(one, plainly=histograms.distinct(1)) for what, one in own.items()}
    monkeypatch.setattr(models, "_OPTIMA", weaker)
    models.optima(bench, source)
    assert len(bench.wrong) == 4


def test_plain_promises_by_hand():
    table = np.array([2, 2, 2])
    shown = np.array([[1, 1, 1], [2, 2, 0], [2, 1, 0]])
    assert histograms.entropy(3)(shown, table).tolist() == [True, False, False]
    assert histograms.entropy(2)(shown, table).tolist() == [True, True, False]
    assert histograms.recursive(2, 2)(shown, table).tolist() == [True, True, False]
    # ½(⅓ + ⅓ + 0) and so on; by order, sums of what is carried, over 2.
    assert histograms.near(33, ordered=False)(shown, table).tolist() == [True, False, False]
    assert histograms.near(34, ordered=False)(shown, table).tolist() == [True, True, True]
    assert histograms.near(25, ordered=True)(shown, table).tolist() == [True, True, False]
    assert histograms.near(24, ordered=True)(shown, table).tolist() == [True, False, False]


def test_a_sample_of_nodes_is_of_the_size_asked_for():
    frame = pd.DataFrame({"a": ["x", "y"] * 3, "b": ["u", "v"] * 3})
    levels = {"a": [["x", "*"], ["y", "*"]], "b": [["u", "*"], ["v", "*"]]}
    found = baseline.brute_force(frame, levels, 3, [0.0], most=2)
    assert (len(found.seconds), found.nodes) == (2, 4)
    assert baseline.brute_force(frame, levels, 3, [0.0]).loss == {0.0: 0.0}


def test_the_recursion_cuts_below_the_median_where_ties_block_it():
    frame = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]})
    parts = baseline.mondrian(frame, 2)
    assert [part["a"].tolist() for part in parts] == [[1.0, 1.0], [2.0, 2.0, 2.0, 2.0]]


def test_mondrian_makes_the_same_parts_as_the_recursion():
    drawn = np.random.default_rng(4)
    frame = pd.DataFrame({n: drawn.integers(0, 9, 200).astype(float) for n in "abc"})
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": list("abc")},
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": 5}],
        }
    )
    result = run(plan, read_table(frame.to_csv(index=False).encode()))
    sizes = sorted(len(part) for part in baseline.mondrian(frame, 5))
    assert sizes == sorted(result.class_sizes.tolist())


def test_figures_are_shown_in_the_unit_that_suits_them():
    assert [timing.shown(s) for s in (0.00123, 0.0123, 0.123, 1.23, 12.3, 123.4)] == [
        "1.23 ms",
        "12.3 ms",
        "123 ms",
        "1.23 s",
        "12.3 s",
        "123 s",
    ]
    seconds, found = timing.repeated(lambda: 7, times=5)
    assert (len(seconds), found) == (5, 7)
    text = timing.table("Title", [timing.Row(what="a", seconds=(1.0, 3.0, 2.0), note="n")])
    assert "1.00 s  2.00 s  3.00 s" in " ".join(text.split("\n")[3].split("   "))


def test_a_folder_without_the_tables_is_named(tmp_path: Path):
    answer = tables.adult(tmp_path, tmp_path)
    assert isinstance(answer, str)
    assert "adult_arx_30162.csv.gz is missing" in answer
    assert "need --data" in str(tables.census(None, tmp_path))
