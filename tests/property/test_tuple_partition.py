"""Slicing's tuple partition against algorithms 3 and 4 with plain loops and fractions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, NotFound
from anon_core.contracts.model import GroupModel
from anon_core.kernels import tuple_partition as kernels
from anon_core.methods.partition.mondrian_cuts import rows_of_keys
from anon_core.pipeline.runner import run
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.slicing_l_diversity import SlicingLDiversity
from anon_core.techniques.partitioners import tuple_partition
from anon_core.techniques.partitioners.tuple_partition import diverse_buckets
from tests import naive_kernels
from tests.making import Case
from tests.often import quarter as times
from tests.strategies import Blocks, blocks_of, cases, with_column


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Case, Blocks]:
    """Draw a table of one sensitive column of six values, and link blocks."""
    case = draw(cases(rows=(4, 17), quasi=(1, 3), sensitive="abcdef"))
    case = with_column(case, "s0", case.columns["s0"], alone=True)
    return case, draw(blocks_of(case))


def compare(case: Case, blocks: Blocks, least: int, size: int, seed: int) -> tuple[int, int]:
    """Compare one partition; return its buckets, and whether buckets by themselves break 1/l."""
    problem = case.problem()
    models: list[GroupModel] = [SlicingLDiversity(l=least, column="s0")]
    models += [BucketSize(k=size)] if size > 1 else []
    keys = np.random.default_rng(seed).permutation(rows_of_keys(problem)).tolist()
    row_of = {int(k): i for i, k in enumerate(problem.frequency.row_key)}
    at = [row_of[key] for key in keys]
    s = [case.column("s0")[i] for i in at]
    cells = {n: case.column(n) for n in case.quasi}
    known = [b for b in blocks if "s0" in b or any(n in case.quasi for n in b)]
    star = next(i for i, b in enumerate(known) if "s0" in b)
    shown = [[tuple(cells[n][i] for n in b if n in case.quasi) for i in at] for b in known]
    context = Context(generator=np.random.default_rng(seed))
    whole = [list(range(len(at)))]
    if naive_kernels.highest_posterior(whole, shown, star, s) * least > 1 or len(at) < size:
        with pytest.raises(NotFound):
            diverse_buckets(problem, models, blocks, context)
        return 0, 0
    found = diverse_buckets(problem, models, blocks, context)
    expected = naive_kernels.tuple_partition(
        case.attributes, [case.rows[i] for i in at], shown, star, s, least, size
    )
    parts: dict[int, Counter[int]] = {}
    for key, group, count in zip(found.key, found.group, found.count, strict=True):
        parts.setdefault(int(group), Counter())[int(key)] += int(count)
    ours = sorted(sorted(part.elements()) for part in parts.values())
    assert ours == sorted(sorted(keys[i] for i in part) for part in expected)
    alone = sum(
        naive_kernels.highest_posterior([part], [shown[star]], 0, s) * least > 1
        for part in expected
    )
    return len(ours), alone


def compared(examples: int) -> list[tuple[int, int]]:
    """Compare drawn partitions; return what came of each."""
    values = list[tuple[int, int]]()

    @settings(max_examples=times(examples))
    @given(asked=drawn(), least=st.integers(2, 3), size=st.integers(1, 3), seed=st.integers(0, 99))
    def tried(asked: tuple[Case, Blocks], least: int, size: int, seed: int) -> None:
        values.append(compare(*asked, least, size, seed))

    tried()
    return values


@pytest.mark.often
def test_buckets_are_those_of_the_paper() -> None:
    answer = compared(240)
    assert sum(buckets > 1 for buckets, _ in answer) > 8
    assert sum(alone for _, alone in answer) > 0


@pytest.mark.often
def test_room_and_work_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuple_partition, "_WORK", 1)
    assert sum(buckets > 1 for buckets, _ in compared(60)) > 1


@pytest.mark.kernels
@pytest.mark.often
def test_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("count_side", "on_side", "mean_holds", "still_diverse", "replace_nodes"):
        kernel = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, getattr(kernel, "py_func", kernel))
    whole = getattr(kernels.tuple_partition, "py_func", kernels.tuple_partition)
    monkeypatch.setattr(tuple_partition, "tuple_partition", whole)
    assert sum(buckets > 1 for buckets, _ in compared(60)) > 1


def test_a_sensitive_column_may_stay_linked() -> None:
    """Figure 2.1 of Toth, Age linked with Salary: the release verifies at l = 2."""
    rows = ["5370 25 30k", "5370 25 15k", "5370 27 30k", "5371 27 40k", "5371 27 42k"]
    rows += ["5372 25 25k", "5372 25 45k", "5373 25 9k"]
    case = Case(
        columns={n: [r.split()[i] for r in rows] for i, n in enumerate(("Zip", "Age", "Salary"))},
        quasi=("Zip", "Age"),
        sensitive=("Salary",),
        kinds={"Zip": "number", "Age": "number", "Salary": "text"},
    )
    algorithm = {
        "name": "slicing",
        "sets": [["Zip"], ["Age", "Salary"]],
        "partition": "tuple-partition",
    }
    models = [{"name": "slicing-l-diversity", "l": 2}]
    groups = set()
    for seed in range(8):
        result = run(
            case.plan(algorithm=algorithm, models=models, seed=seed), case.dataset, assess=False
        )
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        assert len(result.class_sizes) > 1
        groups.add(tuple(result.row_group.tolist()))
        order = np.random.default_rng(seed).permutation(8).tolist()
        columns = {n: [c[i] for i in order] for n, c in case.columns.items()}
        shuffled = replace(case, columns=columns)
        again = run(
            shuffled.plan(algorithm=algorithm, models=models, seed=seed),
            shuffled.dataset,
            assess=False,
        )
        assert again.files == result.files
    assert len(groups) > 1
    with pytest.raises(BadPlan, match="says nothing where the column stays linked"):
        run(
            case.plan(algorithm=algorithm | {"partition": "mondrian"}, models=models),
            case.dataset,
            assess=False,
        )
    with pytest.raises(NotFound, match="whole table as one bucket") as refused:
        run(
            case.plan(algorithm=algorithm, models=[models[0] | {"l": 4}]),
            case.dataset,
            assess=False,
        )
    assert refused.value.best == 3
    assert "at most 3" in refused.value.remedy
