"""Runs that permute: every combination verifies, draws are fair, and a seed undoes them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from anon_core.__main__ import main
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.table import Dataset
from anon_core.methods.bucketized.permuted_release import forms_groups
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.publish.published_table import draw_rows
from anon_core.pipeline.random_streams import chances
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.release.knowledge.audience import audience_of
from anon_core.verification.checks import verify
from tests.attacker import drawn_places
from tests.making import PATIENTS, Case, by_hand, random_case
from tests.often import EVERY, crossed, times

PERMUTING = [
    name
    for name, found in family("algorithm").items()
    if cast(type[Algorithm], found).shape.permutes
]
PARTITIONERS = list(family("partitioner"))


def one_sensitive(rng: np.random.Generator, rows: int = 24, values: str = "abcdef") -> Case:
    """Draw a table with one sensitive column, one without a role, and an identifier."""
    case = random_case(rng, rows=rows, quasi=2)
    columns = dict(case.columns)
    del columns["s1"]
    columns["s0"] = [str(v) for v in rng.choice(list(values), rows)]
    columns["free"] = [str(v) for v in rng.choice(list("xyz"), rows)]
    columns["name"] = [f"person {i}" for i in range(rows)]
    kinds = {n: k for n, k in case.kinds.items() if n != "s1"}
    return replace(case, columns=columns, sensitive=("s0",), identifier=("name",), kinds=kinds)


def carried_out(
    case: Case, name: str, models: list[dict[str, Any]], *, assess: bool = False, **more: Any
) -> Result:
    seed = more.pop("seed", 0)
    plan = case.plan(algorithm={"name": name, **more}, models=models, seed=seed)
    doubles = None
    if name == "combined" or more.get("partition") == "mpalm":  # these need a public table
        frame = pd.concat([case.frame, case.frame])
        doubles = Dataset.from_frame(frame, kinds=case.kinds)
    return run(plan, case.dataset, case.levels, population=doubles, assess=assess)


@pytest.mark.often
@pytest.mark.parametrize("name", PERMUTING)
@pytest.mark.parametrize("partition", PARTITIONERS)
def test_every_partition_of_every_algorithm_verifies(name: str, partition: str) -> None:
    rng = np.random.default_rng(251)
    released = assessed = 0
    l2 = {"name": "frequency-l-diversity", "l": 2}
    for turn in range(times(4, share=4)):
        case = one_sensitive(rng)
        for models in (
            [l2],
            [l2, {"name": "bucket-size", "k": 2}],
            [{"name": "frequency-l-diversity", "l": 3}, {"name": "l-diversity", "l": 3}],
            *([[{"name": "bucket-size", "k": 3}]] if partition == "mondrian" else []),
        ):
            try:
                result = carried_out(case, name, models, partition=partition, assess=not turn)
            except Infeasible:
                continue
            released += 1
            assert result.verification.holds
            assert all(v.holds for v in result.verdicts)
            assert sum(result.class_sizes) == 24
            assert np.bincount(result.member).tolist() == result.class_sizes.tolist()
            assert np.bincount(result.row_group).tolist() == result.class_sizes.tolist()
            assert b"person" not in b"".join(result.files.values())
            assert "name" not in [n for t in result.tables.values() for n in t.column_names]
            assert set(result.parquet_files) == {f.replace("csv", "parquet") for f in result.files}
            assert result.release.suppressed == 0
            json.dumps(figures_of(result), allow_nan=False)
            if turn:
                continue
            assessed += 1
            exact = name != "angel"  # its boxes coarsen what is published
            for metric in ("loss", "ncp"):
                assert (result.measures[metric].value == 0) == exact
            attacked = {a.attack for a in result.attacks}
            whole = name in ("angel", "anatomy", "bucketization")
            assert ("prosecutor" in attacked) == ("marketer" in attacked) == whole
    assert released > times(4, share=4)
    assert assessed


@pytest.mark.often
@pytest.mark.parametrize("name", PERMUTING)
@pytest.mark.parametrize("partition", PARTITIONERS)
def test_the_same_bytes_whatever_the_order_of_rows(name: str, partition: str) -> None:
    rng = np.random.default_rng(257)
    case = one_sensitive(rng)
    models = [{"name": "frequency-l-diversity", "l": 2}]
    result = carried_out(case, name, models, partition=partition)
    if EVERY:  # what the same rows in another order show as well
        assert carried_out(case, name, models, partition=partition).files == result.files
    for _ in range(times(3, share=3)):
        order = rng.permutation(24).tolist()
        columns = {n: [cells[i] for i in order] for n, cells in case.columns.items()}
        shuffled = replace(case, columns=columns)
        assert carried_out(shuffled, name, models, partition=partition).files == result.files
    # Seeds are tried until two releases differ.
    seeds = (carried_out(case, name, models, partition=partition, seed=s) for s in range(1, 9))
    one = next(seeds).sha256
    differ = any(other.sha256 != one for other in seeds)
    parts = result.account.partition
    assert parts is not None
    # Groups that depend on no draw, in tables that show none either, are always the same.
    assert differ or (name == "anatomy" and partition in ("mondrian", "mpalm"))


@pytest.mark.parametrize("name", PERMUTING)
def test_the_order_of_columns_is_no_matter(name: str) -> None:
    """The first column of a block may be no quasi-identifier."""
    case = one_sensitive(np.random.default_rng(269))
    turned = replace(case, columns=dict(reversed(case.columns.items())))
    models = [{"name": "frequency-l-diversity", "l": 2}]
    assert next(iter(turned.frame)) == "name"
    found = [carried_out(one, name, models).class_sizes.tolist() for one in (case, turned)]
    assert sorted(found[0]) == sorted(found[1])


def test_every_column_of_a_block_is_held_against_its_rows() -> None:
    case = one_sensitive(np.random.default_rng(271))
    result = carried_out(case, "angel", [{"name": "frequency-l-diversity", "l": 2}], k=2)
    assert result.witness is not None

    def possible(files: dict[str, bytes]) -> bool:
        found = verify(
            result.recipe.completed(),
            case.dataset.frame(),
            case.levels,
            files,
            witness=result.witness,
        )
        return next(c.holds for c in found.checks if c.name == "membership")

    files = {n: b for n, b in result.files.items() if n.endswith(".csv")}
    assert possible(files)
    (name, content), *_ = files.items()
    rows = list(csv.reader(io.StringIO(content.decode())))
    group = rows[0].index(next(n for n in rows[0] if n not in case.columns))
    for column in range(len(rows[0])):
        if column == group:
            continue
        swapped = [list(row) for row in rows]
        one, other = next(
            (a, b)
            for a in range(1, len(rows))
            for b in range(a, len(rows))
            if rows[a][group] != rows[b][group] and rows[a][column] != rows[b][column]
        )
        swapped[one][column], swapped[other][column] = rows[other][column], rows[one][column]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(swapped)
        assert not possible({**files, name: text.getvalue().encode()}), rows[0][column]


def test_a_model_of_whole_rows_is_refused_before_the_search() -> None:
    for name in PERMUTING:
        with pytest.raises(BadPlan, match="permuted separately") as refused:
            carried_out(PATIENTS, name, [{"name": "k-anonymity", "k": 2}])
        assert "bucket size" in refused.value.remedy


def test_nothing_sensitive_is_nothing_to_part() -> None:
    case = replace(PATIENTS, sensitive=())
    for name in ("anatomy", "bucketization", "permutation"):
        with pytest.raises(BadPlan, match="No column is marked as sensitive only"):
            carried_out(case, name, [{"name": "bucket-size", "k": 2}], partition="mondrian")


def test_why_an_attack_is_not_run() -> None:
    models = [{"name": "bucket-size", "k": 3}]
    result = carried_out(PATIENTS, "permutation", models, partition="mondrian")
    reasons = {
        a.name: a.reason_not_applicable(result.release.view, audience_of(result.problem))
        for a in result.plan.all_attacks()
    }
    assert reasons["homogeneity"] == ""
    assert "permuted separately" in reasons["prosecutor"]
    assert "permuted separately" in reasons["marketer"]


# ---- slicing -------------------------------------------------------------------------------------


def test_slicing_keeps_sensitive_columns_apart() -> None:
    rng = np.random.default_rng(263)
    for sets in (1, 2, 3, 50):
        case = one_sensitive(rng)
        # As dependent as can be: the sensitive column is a quasi-identifier's copy.
        columns = case.columns | {"s0": case.columns["q0"], "free": case.columns["q0"]}
        case = replace(case, columns=columns)
        models = [{"name": "bucket-size", "k": 3}]
        result = carried_out(case, "slicing", models, column_sets=sets)
        blocks = result.release.blocks
        assert ("s0",) in blocks
        assert sorted(n for block in blocks for n in block) == ["free", "q0", "q1", "s0"]
        assert len(blocks) == min(sets, 3) + 1
        if sets == 2:
            assert ("q0", "free") in blocks


def test_slicing_by_hand() -> None:
    models = [{"name": "bucket-size", "k": 3}]
    result = carried_out(PATIENTS, "slicing", models, sets=[["age", "note"], ["illness"]])
    assert result.release.blocks == (("age", "note"), ("illness",), ("zip",))
    rows = list(csv.reader(io.StringIO(result.csv.decode())))[1:]
    pairs = zip(PATIENTS.columns["age"], PATIENTS.columns["note"], strict=True)
    assert sorted((r[1], r[4]) for r in rows) == sorted(pairs)


@pytest.mark.parametrize(
    ("sets", "words", "remedy"),
    [
        ([["age", "ilness"]], "names 'ilness', which is not published", "'illness'"),
        ([["age", "name"]], "names 'name', which is not published", "published"),
        ([["age", "zip"], ["zip"]], "allowed is a list of lists of columns, none .* twice", "sets"),
        (
            [["age", "illness"], ["zip"]],
            "'illness' says nothing where .* linked to 'age'",
            "'illness'",
        ),
    ],
)
def test_column_sets_that_cannot_be(sets: list[list[str]], words: str, remedy: str) -> None:
    models = [{"name": "l-diversity", "l": 2}]
    with pytest.raises(BadPlan, match=words) as refused:
        carried_out(PATIENTS, "slicing", models, sets=sets)
    assert remedy in refused.value.remedy


# ---- draws ---------------------------------------------------------------------------------------


def test_every_permutation_is_equally_likely() -> None:
    """Six ways to link three rows to three values, over 6,000 fixed seeds."""
    case = Case(
        columns={"q": list("abc"), "s": list("xyz")},
        quasi=("q",),
        sensitive=("s",),
        kinds={"q": "text", "s": "text"},
    )
    release = by_hand(case.problem(), [0, 0, 0], (("q",), ("s",)))
    seen: Counter[frozenset[tuple[int, int]]] = Counter()
    for seed in range(6000):
        drawn = draw_rows(release, np.random.default_rng(seed))
        pairs = zip(drawn.codes["q"].tolist(), drawn.codes["s"].tolist(), strict=True)
        seen[frozenset(pairs)] += 1
    assert len(seen) == 6
    statistic = sum((count - 1000) ** 2 / 1000 for count in seen.values())
    assert statistic < chi2.isf(1e-6, 5)


def test_blocks_are_permuted_independently() -> None:
    case = replace(PATIENTS, columns=PATIENTS.columns | {"age": list("123456")}, levels={})
    release = by_hand(case.problem(), [0] * 6, (("age",), ("zip",), ("illness",)))
    sources = [draw_rows(release, np.random.default_rng(seed)).source for seed in range(50)]
    same = sum(np.array_equal(s["age"], s["zip"]) for s in sources)
    assert same <= 2
    assert all(sorted(s[n].tolist()) == list(range(6)) for s in sources for n in s)


def test_whoever_knows_the_seed_undoes_the_permutation() -> None:
    """From the published file and the seed alone, every row gets its own value back."""
    rows = 40
    rng = np.random.default_rng(269)
    case = Case(
        columns={
            "age": [str(v) for v in rng.permutation(rows)],
            "illness": [f"illness {v}" for v in rng.integers(0, 9, rows)],
        },
        quasi=("age",),
        sensitive=("illness",),
        kinds={"age": "number", "illness": "text"},
    )
    models = [{"name": "bucket-size", "k": 8}]
    result = carried_out(case, "bucketization", models, partition="mondrian", seed=12345)
    published = [
        (int(a), s, int(g))
        for g, a, s in csv.reader(io.StringIO(result.csv.decode()))
        if a != "age"
    ]
    true = {int(a): s for a, s in zip(case.columns["age"], case.columns["illness"], strict=True)}  # type: ignore[arg-type]
    as_published = sum(true[a] == s for a, s, _ in published)
    # The attacker orders the published rows as the run did, and draws as it did.
    published.sort()
    group = np.array([g for _, _, g in published])
    drawn = chances(result.plan, result.problem).publish
    taken = [drawn_places(group, drawn) for _ in ("age", "illness")]
    position = {int(p): i for i, p in enumerate(taken[0])}
    undone = {
        published[int(taken[1][position[i]])][0]: value for i, (_, value, _) in enumerate(published)
    }
    assert undone == true
    assert as_published < rows / 2


def test_running_again_with_the_seed_gives_the_links() -> None:
    rng = np.random.default_rng(271)
    case = one_sensitive(rng)
    models = [{"name": "frequency-l-diversity", "l": 2}]
    result = carried_out(case, "permutation", models, seed=5)
    plan = result.plan
    problem = prepare(plan, case.dataset, case.levels)
    chance = chances(plan, problem)
    release = plan.algorithm.run(problem, plan.models, Context(generator=chance.search)).release
    drawn = draw_rows(release, chance.publish)
    assert release.seen_group[drawn.member].tolist() == result.row_group.tolist()
    texts = release.vocabularies["s0"].texts
    shown = [texts[c] for c in drawn.codes["s0"]]
    assert shown == [case.columns["s0"][int(row)] for row in drawn.source["s0"]]
    values = list(csv.reader(io.StringIO(result.files["sensitive.csv"].decode())))[1:]
    assert sorted(shown) == sorted(value for _, value in values)


# ---- the command line ----------------------------------------------------------------------------

RECIPE = """\
[types]
age = "number"
zip = "text"
[roles]
identifier = ["name"]
quasi = ["age", "zip"]
sensitive = ["illness"]
insensitive = ["note"]
[algorithm]
name = "anatomy"
[[models]]
name = "frequency-l-diversity"
l = 2
"""


def test_anatomy_from_recipe_to_verified_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    PATIENTS.frame.to_csv(tmp_path / "table.csv", index=False)
    given = [str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "table.csv")]
    out = tmp_path / "out"
    assert main(["run", *given, "--out", str(out)]) == 0
    names = ["quasi.csv", "quasi.parquet", "sensitive.csv", "sensitive.parquet"]
    assert sorted(file.name for file in out.iterdir()) == names
    assert (out / "quasi.csv").read_text().startswith("group,age,zip,note\n")
    assert (out / "sensitive.csv").read_text().startswith("group,illness\n")
    assert main(["verify", *given, "--release", str(out)]) == 0
    capsys.readouterr()
    text = (out / "sensitive.csv").read_text()
    (out / "sensitive.csv").write_text(text.replace("angina", "flu"))
    assert main(["verify", *given, "--release", str(out)]) == 3
    assert "BROKEN  truth" in capsys.readouterr().out
    (out / "sensitive.csv").unlink()
    assert main(["verify", *given, "--release", str(out)]) == 1
    (tmp_path / "table.csv").rename(out / "quasi.csv")
    given[2] = str(out / "quasi.csv")
    assert main(["run", *given, "--out", str(out)]) == 1
    assert "would overwrite" in capsys.readouterr().err


def test_the_largest_l_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("l = 2", "l = 3"))
    PATIENTS.frame.to_csv(tmp_path / "table.csv", index=False)
    given = [str(tmp_path / "recipe.toml"), "--data", str(tmp_path / "table.csv")]
    assert main(["run", *given, "--out", str(tmp_path / "out"), "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["best"] == 2
    assert "Choose l of at most 2 or choose a technique that removes rows" in found["error"]


FORMING = [n for n, a in family("algorithm").items() if forms_groups(a) and n not in PARTITIONERS]


@crossed("partition, name", FORMING, ["permutation", "slicing", "combined"], share=2)
def test_the_classes_of_every_technique_can_be_permuted(name: str, partition: str) -> None:
    case = one_sensitive(np.random.default_rng(263))
    models = [{"name": "bucket-size", "k": 3}, {"name": "l-diversity", "l": 2}]
    if partition == "k-optimize":  # its bounds lean on classes that stay whole
        models = models[:1]
    result = carried_out(case, name, models, partition=partition)
    assert result.verification.holds
    assert all(v.holds for v in result.verdicts)
    assert result.release.suppressed == 0
    assert result.class_sizes.sum() == 24
    assert result.class_sizes.min() >= 3


def test_what_the_groups_are_told_reaches_them() -> None:
    case = one_sensitive(np.random.default_rng(263))
    models = [{"name": "bucket-size", "k": 2}]
    # All rows are one class at the top; clusters have k rows.
    assert carried_out(case, "anatomy", models, partition="fixed-levels").class_sizes[0] == 24
    assert len(carried_out(case, "anatomy", models, partition="k-member").class_sizes) > 6
    cut = {"name": "mondrian", "tries": 3}
    with pytest.raises(BadPlan, match="anatomy: partition: mondrian: unknown parameter 'tries'"):
        carried_out(case, "anatomy", models, partition=cut)
    l2 = [{"name": "frequency-l-diversity", "l": 2}]
    one = carried_out(case, "anatomy", l2, partition={"name": "bisection", "tries": 1})
    many = carried_out(case, "anatomy", l2, partition={"name": "bisection", "tries": 60})
    assert one.plan.algorithm.partition.tries == 1
    assert len(many.class_sizes) >= len(one.class_sizes)
    assert many.plan.as_mapping()["algorithm"]["partition"] == {"name": "bisection", "tries": 60}


def test_rows_that_a_search_removes_stand_in_a_group() -> None:
    rng = np.random.default_rng(263)
    models = [{"name": "bucket-size", "k": 3}]
    search = {"name": "top-bottom-coding", "bottom": 0.3, "top": 0.3}
    removed = 0
    for _ in range(6):
        case = one_sensitive(rng)
        try:
            alone = run(case.plan(algorithm=search, models=models), case.dataset, case.levels)
        except Infeasible:  # every row stays rare
            continue
        removed += alone.release.suppressed
        result = carried_out(case, "permutation", models, partition=search)
        assert result.release.suppressed == 0
        assert result.class_sizes.sum() == 24
        assert result.class_sizes.min() >= 3
    assert removed
