"""A run: verified or nothing."""

from __future__ import annotations

import dataclasses
import errno
import gzip
import hashlib
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import anon_core.pipeline.result as result_module
import anon_core.pipeline.runner as runner
from anon_core import Dataset, Roles, run
from anon_core.base.context import Context
from anon_core.base.errors import (
    BadHierarchy,
    BadPlan,
    Cancelled,
    Infeasible,
    InputChanged,
    NotVerified,
)
from anon_core.base.installation import VERSION
from anon_core.base.private_file import FilesOnDisk
from anon_core.data.reading import read_table
from anon_core.explain.report.files import as_html, edition_of
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.prepare import prepare
from anon_core.pipeline.publish.file_formats import FORMATS
from anon_core.recipe.plan import Plan
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import PATIENTS, Case, random_case

STAGES = ("encode", "search", "measure", "attack", "publish", "verify")


def test_a_result_holds_everything_that_was_measured() -> None:
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert result.csv.decode() == (
        "age,zip,illness,note\n"
        "20,10*,cold,c\n"
        "20,10*,flu,a\n"
        "20,10*,flu,b\n"
        "40,20*,angina,e\n"
        "40,20*,cold,f\n"
        "40,20*,flu,d\n"
    )
    assert result.class_sizes.tolist() == [3, 3]
    assert result.member.tolist() == [0, 0, 0, 1, 1, 1]
    assert [v.holds for v in result.verdicts] == [True]
    assert result.verification.holds
    assert set(result.seconds) == set(STAGES)
    assert all(seconds >= 0 for seconds in result.seconds.values())
    ran = {a.attack for a in result.attacks}
    assert ran >= {"attribute-inference", "homogeneity", "marketer", "prosecutor"}
    assert not ran & set(result.not_run)


@pytest.mark.parametrize("packed", [False, True])
def test_the_hash_is_that_of_the_file_that_was_read(packed: bool) -> None:
    text = b"age,zip,ill\r\n30,1,x\r\n30,1,y\r\n31,2,x\r\n31,,y\r\n30,1,x\r\n31,2,y\r\n"
    content = gzip.compress(text) if packed else text
    plan = Plan.from_mapping(
        {
            "data": {"missing": "drop"},
            "types": {"zip": "text"},
            "roles": {"quasi": ["age", "zip"]},
            "algorithm": {"name": "mondrian"},
            "models": [{"name": "k-anonymity", "k": 2}],
        }
    )
    result = run(plan, read_table(content, kinds={"zip": "text"}))
    figures = figures_of(result)
    digest = hashlib.sha256(content).hexdigest()
    assert (figures["input_sha256"], figures["input_sha256_of"]) == (digest, "file")
    page = as_html(edition_of(result))
    assert f"<dt>SHA-256 of the file</dt><dd>{digest}</dd>" in page
    bare = as_html(edition_of(run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)))
    assert "SHA-256 of the table&#39;s values" in bare


def test_the_figures_as_plain_values() -> None:
    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    figures = figures_of(result)
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert figures["version"] == VERSION
    assert figures["output_sha256"] == hashlib.sha256(result.csv).hexdigest()
    assert (figures["status"], figures["verified"]) == ("released", True)
    assert (figures["rows"], figures["dropped"], figures["suppressed"]) == (6, 0, 0)
    assert (figures["classes"], figures["smallest_class"]) == (2, 3)
    assert figures["node"] == {"age": 0, "zip": 1}
    assert figures["partition"] is None
    assert figures["search"]["minimal_nodes"] == [[0, 1]]
    assert figures["metrics"]["discernibility"] == 18
    (model,) = figures["models"]
    assert model == {
        "name": "k-anonymity",
        "k": 2,
        "column": None,
        "bound": 2,
        "value": 3,
        "holds": True,
        "state": "holds",
        "sentence": "The smallest class has 3 rows; at least 2 were asked for.",
    }
    (attack,) = [a for a in figures["attacks"] if a["name"] == "prosecutor"]
    assert attack["rate"] == pytest.approx(1 / 3)
    # The table came from no file.
    assert figures["input_sha256"] == result.problem.dataset.fingerprint
    assert figures["input_sha256_of"] == "values"
    partition = figures_of(
        run(PATIENTS.plan(algorithm={"name": "mondrian"}), PATIENTS.dataset, PATIENTS.levels)
    )
    assert partition["node"] is None
    assert partition["partition"] == {"parts": 2, "smallest": 3, "largest": 3, "mean": 3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"roles": {"quasi": ["agee"]}}, "no column 'agee'"),
        ({"roles": {"quasi": ["age"], "sensitive": ["salary"]}}, "no column 'salary'"),
        ({"roles": {"quasi": ["age"], "identifier": ["id"]}}, "no column 'id'"),
        ({"types": {"heigth": "number"}}, "no column 'heigth'"),
    ],
)
def test_a_column_that_is_gone(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputChanged) as refused:
        run(PATIENTS.plan(**change), PATIENTS.dataset)
    assert words in refused.value.message
    assert "it has 'name', 'age'" in refused.value.message


def test_a_column_with_a_hierarchy_that_is_gone_names_the_nearest() -> None:
    with pytest.raises(InputChanged) as refused:
        run(PATIENTS.plan(), PATIENTS.dataset, {"zipp": [["1", "*"]]})
    assert "Did you mean 'zip'?" in refused.value.remedy


def test_a_value_the_hierarchy_lacks() -> None:
    with pytest.raises(InputChanged) as refused:
        run(PATIENTS.plan(), PATIENTS.dataset, {"zip": [["101", "*"], ["102", "*"]]})
    assert refused.value.values == ("201", "202")
    assert "201" not in str(refused.value)


def test_a_hierarchy_that_does_not_nest() -> None:
    lines = [["20", "a", "*"], ["40", "a", "**"]]
    with pytest.raises(BadHierarchy):
        run(PATIENTS.plan(), PATIENTS.dataset, {"age": lines})


def test_hierarchies_of_columns_that_are_no_quasi_identifiers_play_no_part() -> None:
    plain = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    more = {**PATIENTS.levels, "illness": [("flu", "cold", "*")]}
    assert run(PATIENTS.plan(), PATIENTS.dataset, more).csv == plain.csv


def test_no_quasi_identifier() -> None:
    with pytest.raises(BadPlan, match="No column is marked as quasi-identifier"):
        run(PATIENTS.plan(roles={"sensitive": ["illness"]}), PATIENTS.dataset)


def test_dropping_rows_leaves_nothing() -> None:
    case = dataclasses.replace(PATIENTS, columns=PATIENTS.columns | {"age": [None] * 6})
    with pytest.raises(BadPlan) as refused:
        run(case.plan(data={"missing": "drop"}), case.dataset, case.levels)
    assert "Every one of the 6 rows misses a value" in refused.value.message
    assert "missing = 'keep'" in refused.value.remedy


def test_rows_are_dropped_for_missing_sensitive_values_too() -> None:
    columns = PATIENTS.columns | {
        "illness": ["flu", None, "cold", "flu", "angina", "cold"],
        "note": [None] * 6,
    }
    case = dataclasses.replace(PATIENTS, columns=columns)
    result = run(case.plan(data={"missing": "drop"}), case.dataset, case.levels)
    assert (result.problem.rows, result.problem.dataset.dropped) == (5, 1)
    assert figures_of(result)["dropped"] == 1


@pytest.mark.parametrize(
    ("models", "kind", "words", "best"),
    [
        ([{"name": "k-anonymity", "k": 7}], Infeasible, "needs at least 7 rows", 6),
        ([{"name": "l-diversity", "l": 4}], Infeasible, "only 3 distinct values", 3),
        ([{"name": "l-diversity", "column": "note"}], BadPlan, "not marked as sensitive", None),
        ([{"name": "l-diversity", "column": "zip"}], BadPlan, "not marked as sensitive", None),
    ],
)
@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_promises_out_of_reach(
    models: list[dict[str, Any]], kind: type[Exception], words: str, best: float, algorithm: str
) -> None:
    plan = PATIENTS.plan(models=models, algorithm={"name": algorithm})
    with pytest.raises(kind, match=words) as refused:
        run(plan, PATIENTS.dataset, PATIENTS.levels)
    if best is not None:
        assert refused.value.best == best  # type: ignore[attr-defined]


def test_no_sensitive_column_for_l_diversity() -> None:
    bare = dataclasses.replace(PATIENTS, sensitive=())
    with pytest.raises(BadPlan, match="needs a sensitive column, and none is marked"):
        run(bare.plan(models=[{"name": "l-diversity"}]), bare.dataset, bare.levels)


def test_a_search_that_fails_says_how_far_it_came() -> None:
    columns = PATIENTS.columns | {"illness": ["flu", "flu", "flu", "flu", "flu", "cold"]}
    case = dataclasses.replace(PATIENTS, columns=columns, levels={})
    plan = case.plan(
        models=[{"name": "k-anonymity", "k": 2}, {"name": "l-diversity", "l": 2}],
        algorithm={"name": "optimal", "max_suppression": 0.0},
    )
    assert run(plan, case.dataset).account.node == {"age": 1, "zip": 1}
    with pytest.raises(Infeasible) as refused:
        run(dataclasses.replace(plan, models=(KAnonymity(k=6), *plan.models[1:])), _five(case))
    assert refused.value.best == 5


def _five(case: Case) -> Dataset:
    return dataclasses.replace(
        case, columns={n: cells[1:] for n, cells in case.columns.items()}
    ).dataset


def test_progress_rises_from_0_to_1() -> None:
    case = random_case(np.random.default_rng(163), rows=150, quasi=4, kinds=("number", "ordered"))
    for algorithm in ("optimal", "mondrian"):
        seen: list[tuple[float, str]] = []
        context = Context(progress=lambda share, stage, seen=seen: seen.append((share, stage)))
        plan = case.plan(algorithm={"name": algorithm}, population={"size": 500})
        run(plan, case.dataset, case.levels, context=context)
        shares = [share for share, _ in seen]
        assert (shares[0], shares[-1]) == (0, 1)
        assert seen[-1][1] == "Done"
        assert all(0 <= a <= b <= 1 for a, b in pairwise(shares))
        assert len({stage for _, stage in seen}) >= 7


def test_what_a_promise_reports_while_measured_stays_in_its_part_of_the_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    genuine = KAnonymity.measure

    def telling(*given: Any) -> Any:
        given[-1].report(0.0, "Counting")
        given[-1].report(1.0, "Counted")
        return genuine(*given)

    monkeypatch.setattr(KAnonymity, "measure", telling)
    shares: list[float] = []
    context = Context(progress=lambda share, _: shares.append(share))
    run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels, context=context)
    assert all(a <= b for a, b in pairwise(shares))


class StopAt:
    """A person who asks to stop at the n-th report of progress."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.reports = 0
        self.context = dataclasses.replace(Context(), progress=self.report)

    def report(self, share: float, stage: str) -> None:
        self.reports += 1
        if self.reports == self.at:
            self.context.cancel.set()


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_a_run_can_be_cancelled_at_every_report(algorithm: str) -> None:
    plan = PATIENTS.plan(algorithm={"name": algorithm})
    never = StopAt(0)
    run(plan, PATIENTS.dataset, PATIENTS.levels, context=never.context)
    assert never.reports > 6
    # What is wished for during the very last report comes too late: all is done.
    for at in range(1, never.reports):
        person = StopAt(at)
        with pytest.raises(Cancelled):
            run(plan, PATIENTS.dataset, PATIENTS.levels, context=person.context)
        assert person.reports == at


def test_a_run_that_is_cancelled_before_it_begins() -> None:
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        run(PATIENTS.plan(), PATIENTS.dataset, context=context)


def test_nothing_is_returned_that_was_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = runner.verify

    def doubtful(*given: Any, **more: Any) -> Any:
        found = genuine(*given, **more)
        first = dataclasses.replace(found.checks[0], holds=False, sentence="It is not so.")
        return dataclasses.replace(found, checks=(first, *found.checks[1:]))

    monkeypatch.setattr(runner, "verify", doubtful)
    with pytest.raises(NotVerified) as refused:
        run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert "independent check disagrees: It is not so." in refused.value.message
    assert refused.value.remedy.startswith("Nothing was released.")


def test_nothing_is_returned_of_which_a_model_says_it_is_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    genuine = KAnonymity.measure

    def broken(self: KAnonymity, *given: Any) -> Any:
        return [dataclasses.replace(v, state="broken") for v in genuine(self, *given)]

    monkeypatch.setattr(KAnonymity, "measure", broken)
    with pytest.raises(NotVerified, match="'k-anonymity' does not hold"):
        run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)


def test_an_undecided_promise_is_not_a_kept_one(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = KAnonymity.measure

    def undecided(self: KAnonymity, *given: Any) -> Any:
        return [dataclasses.replace(v, state="undecided") for v in genuine(self, *given)]

    monkeypatch.setattr(KAnonymity, "measure", undecided)
    with pytest.raises(NotVerified):
        run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)


def test_a_tampered_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second pair of eyes reads the bytes that would be published."""
    csv = FORMATS["csv"]
    wrong = dataclasses.replace(
        csv, write=lambda table: csv.write(table).replace(b"10*", b"101", 1)
    )
    monkeypatch.setitem(FORMATS, "csv", wrong)
    with pytest.raises(NotVerified, match="independent check disagrees"):
        run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)


def test_the_population_of_the_call_goes_before_the_stated_size() -> None:
    plan = PATIENTS.plan(population={"size": 600})
    stated = run(plan, PATIENTS.dataset, PATIENTS.levels)
    (journalist,) = [a for a in stated.attacks if a.attack == "journalist"]
    assert journalist.estimated
    columns = {n: cells * 4 for n, cells in PATIENTS.columns.items()}
    people = dataclasses.replace(PATIENTS, columns=columns).dataset
    counted = run(plan, PATIENTS.dataset, PATIENTS.levels, population=people)
    (journalist,) = [a for a in counted.attacks if a.attack == "journalist"]
    assert not journalist.estimated
    assert journalist.per_class.tolist() == [1 / 12, 1 / 12]


def test_metrics_measure_as_the_plan_says() -> None:
    usual = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    set_ = [{"name": "average-class-size", "k": 1}, {"name": "query-error", "sanity": 1.0}]
    asked = run(PATIENTS.plan(metrics=set_), PATIENTS.dataset, PATIENTS.levels)
    assert usual.measures["average-class-size"].value == 1.5
    assert asked.measures["average-class-size"].value == 3.0
    assert asked.measures["query-error"].value < usual.measures["query-error"].value
    assert asked.measures["loss"].value == usual.measures["loss"].value
    assert asked.csv == usual.csv


def test_the_seed_of_the_plan_is_the_only_randomness() -> None:
    rng = np.random.default_rng(5)
    context = Context(generator=rng)
    one = run(PATIENTS.plan(seed=3), PATIENTS.dataset, PATIENTS.levels, context=context)
    assert rng.bit_generator.state == np.random.default_rng(5).bit_generator.state
    two = run(PATIENTS.plan(seed=3), PATIENTS.dataset, PATIENTS.levels)
    assert (one.csv, one.parquet) == (two.csv, two.parquet)


def test_types_of_the_plan_are_applied() -> None:
    columns: dict[str, list[str | None]] = {"q": ["1", "1.0", "2", "2.0"]}
    case = Case(columns=columns, quasi=("q",), kinds={"q": "text"})
    text = prepare(case.plan(), case.dataset)
    assert text.hierarchies["q"].leaves == ("1", "1.0", "2", "2.0")
    number = prepare(case.plan(types={"q": "number"}), case.dataset)
    assert number.hierarchies["q"].leaves == ("1", "2")
    assert number.roles == Roles(quasi=("q",))


def test_a_column_name_that_is_a_formula_is_refused_unless_formulas_are_kept() -> None:
    case = Case(columns={"=A1": ["a", "a"], "b": ["x", "y"]}, quasi=("=A1",))
    with pytest.raises(BadPlan):
        run(case.plan(), case.dataset)
    result = run(case.plan(export={"formulas": "keep"}), case.dataset)
    assert result.csv.startswith(b"=A1,b\n")


@pytest.mark.parametrize("csv", [True, False])
def test_files_on_the_disk_are_those_in_memory(csv: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_module, "_LARGE", 1)
    plan = dataclasses.replace(PATIENTS.plan(), csv=csv, parts=2)
    held = run(plan, PATIENTS.dataset, PATIENTS.levels)
    lies = held.on_disk()
    assert isinstance(lies.files, FilesOnDisk)
    assert isinstance(lies.all_files, FilesOnDisk)
    assert len(lies.all_files) == (4 if csv else 2)
    assert dict(lies.all_files) == held.all_files
    assert lies.parquet_files == held.parquet_files
    assert (lies.sha256, lies.csv) == (held.sha256, held.csv)


def test_files_stay_in_memory_where_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(files: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    result = run(PATIENTS.plan(), PATIENTS.dataset, PATIENTS.levels)
    assert result.on_disk() is result  # too small to matter
    monkeypatch.setattr(result_module, "_LARGE", 1)
    monkeypatch.setattr(result_module, "FilesOnDisk", full)
    assert result.on_disk() is result
