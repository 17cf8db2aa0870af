"""Cuts that ask models, against compiled cuts, and what they promise for models without limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import find
from anon_core.contracts.model import GroupModel
from anon_core.methods.partition import mondrian_cuts
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import measured
from tests.making import Case
from tests.often import often
from tests.property.test_spread_searches import PROMISES
from tests.strategies import cases, numbered_cases


def never(models: Sequence[GroupModel]) -> bool:
    return False


@often(200)
@given(case=cases(rows=(4, 60)), k=st.integers(2, 4), data=st.data())
def test_asked_cuts_are_the_compiled_ones(case: Case, k: int, data: st.DataObject) -> None:
    problem = case.problem()
    ways: list[list[GroupModel]] = [
        [KAnonymity(k=k)],
        [KAnonymity(k=k), DistinctLDiversity(l=2)],
        [FrequencyLDiversity(l=2)],
    ]
    models = data.draw(st.sampled_from(ways))
    many = len(problem.quasi)
    weights = np.array(data.draw(st.lists(st.floats(0.2, 2), min_size=many, max_size=many)))
    trees = data.draw(st.lists(st.booleans(), min_size=many, max_size=many))
    try:
        one = mondrian_cuts.strict_parts(problem, models, Context(), by_tree=trees, weights=weights)
    except Infeasible:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian_cuts, "by_limits", never)
        other = mondrian_cuts.strict_parts(
            problem, models, Context(), by_tree=trees, weights=weights
        )
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize(
    "settings",
    [{}, {"cuts": "relaxed"}, {"cut_at": "quartiles"}, {"cut_at": "best-gain"}],
    ids=["median", "relaxed", "quartiles", "best gain"],
)
@often(40)
@given(case=numbered_cases())
def test_every_part_keeps_what_is_asked(settings: dict[str, str], case: Case) -> None:
    problem = case.problem()
    search = Mondrian(**settings)  # type: ignore[arg-type]
    for name, (asked, judge) in PROMISES.items():
        kind = find("model", name.split(",")[0])
        model: GroupModel = kind.from_mapping({"column": "s0", **asked})  # type: ignore[assignment]
        values = [int(v) for v in case.column("s0")]
        try:
            release = search.run(problem, [model], Context()).release
        except Infeasible:  # all rows as one part do not keep it, and so no parts of all do
            assert not judge(values, values)
            assert model.unions_keep()
            continue
        except NotFound:
            assert not model.unions_keep()
            continue
        assert release.suppressed == 0
        (verdict,) = model.measure(*measured(problem, release.view), Context())
        assert verdict.holds
