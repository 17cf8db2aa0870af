"""Slicing's tuple partition against algorithms 3 and 4 with plain loops and fractions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, NotFound
from anon_core.contracts.model import GroupModel
from anon_core.job.runner import run
from anon_core.kernels import tuple_partition as kernels
from anon_core.models.bucket_size import BucketSize
from anon_core.models.slicing_l_diversity import SlicingLDiversity
from anon_core.partition.mondrian_cuts import rows_of_keys
from anon_core.partitioners.tuple_partition import bucket_halving as tuple_partition
from anon_core.partitioners.tuple_partition.bucket_halving import diverse_buckets
from tests import naive_kernels
from tests.making import Case, random_case
from tests.property.test_sliced import Blocks, random_blocks


def drawn(rng: np.random.Generator) -> tuple[Case, Blocks]:
    case = random_case(
        rng,
        rows=int(rng.integers(4, 18)),
        quasi=int(rng.integers(1, 4)),
        missing=rng.random() < 0.3,
    )
    rows = len(case.rows)
    columns = case.columns | {"s0": [str(v) for v in rng.choice(list("abcdef"), rows)]}
    del columns["s1"]
    kinds = {n: k for n, k in case.kinds.items() if n != "s1"}
    case = replace(case, columns=columns, kinds=kinds, sensitive=("s0",))
    return case, random_blocks(rng, case)


def compare(rng: np.random.Generator) -> tuple[int, int]:
    """Compare one partition; return its buckets, and whether buckets by themselves break 1/l."""
    case, blocks = drawn(rng)
    problem = case.problem()
    least, size = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    seed = int(rng.integers(1 << 30))
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


def test_buckets_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(112)
    told = [compare(rng) for _ in range(60)]
    assert sum(buckets > 1 for buckets, _ in told) > 10
    assert sum(alone for _, alone in told) > 0


def test_room_and_work_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuple_partition, "_WORK", 1)
    rng = np.random.default_rng(1120)
    assert sum(compare(rng)[0] > 1 for _ in range(12)) > 1


@pytest.mark.kernels
def test_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("count_side", "on_side", "mean_holds", "still_diverse", "replace_nodes"):
        kernel = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, getattr(kernel, "py_func", kernel))
    whole = getattr(kernels.tuple_partition, "py_func", kernels.tuple_partition)
    monkeypatch.setattr(tuple_partition, "tuple_partition", whole)
    rng = np.random.default_rng(1121)
    assert sum(compare(rng)[0] > 1 for _ in range(12)) > 1


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
        result = run(case.plan(algorithm=algorithm, models=models, seed=seed), case.dataset)
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        assert len(result.class_sizes) > 1
        groups.add(tuple(result.row_group.tolist()))
        order = np.random.default_rng(seed).permutation(8).tolist()
        columns = {n: [c[i] for i in order] for n, c in case.columns.items()}
        shuffled = replace(case, columns=columns)
        again = run(shuffled.plan(algorithm=algorithm, models=models, seed=seed), shuffled.dataset)
        assert again.files == result.files
    assert len(groups) > 1
    with pytest.raises(BadPlan, match="says nothing where the column stays linked"):
        run(case.plan(algorithm=algorithm | {"partition": "mondrian"}, models=models), case.dataset)
    with pytest.raises(NotFound, match="whole table as one bucket") as refused:
        run(case.plan(algorithm=algorithm, models=[models[0] | {"l": 4}]), case.dataset)
    assert refused.value.best == 3
    assert "at most 3" in refused.value.remedy
