"""δ-presence on the examples of Toth (2015): T-05, T-08, T-09, T-17, T-18, T-19."""

from __future__ import annotations

from fractions import Fraction

from anon_core.algorithms.optimal import Optimal
from anon_core.context import Context
from anon_core.membership.exact import count, shares
from anon_core.membership.view import published_buckets
from anon_core.models.delta_presence import DeltaPresence
from anon_core.models.k_anonymity import KAnonymity
from tests.golden.test_toth import AGE, PRIVATE, PUBLIC, ZIP, classes_of
from tests.presence_cases import chances_by_listing

CONTEXT = Context()
ASKED = DeltaPresence(delta_min=0.1, delta_max=0.9)
PROBLEM = PRIVATE.problem(PUBLIC.dataset)


def deltas(release, problem=PROBLEM):  # type: ignore[no-untyped-def]
    """Return δ by name of the public table."""
    joint = published_buckets(release.view, problem.population, CONTEXT).joint
    found = shares(joint, count(joint.system).mean)
    tuples = {tuple(c): d for c, d in zip(problem.population.codes.tolist(), found, strict=True)}
    codes = [
        [problem.hierarchies[n].code[str(v)] for v in PUBLIC.columns[n]] for n in problem.quasi
    ]
    return {
        name: float(tuples[key])
        for name, key in zip(PUBLIC.columns["Name"], zip(*codes, strict=True), strict=True)
    }


def test_t_05_delta_presence_of_a_generalization() -> None:
    release = Optimal().run(PROBLEM, [KAnonymity(k=2)], CONTEXT).release
    (verdict,) = ASKED.measure(PROBLEM, release.view, CONTEXT)
    assert verdict.state == "holds"
    assert verdict.reached == 5 / 6
    assert sorted(verdict.per_class.tolist()) == [3 / 4, 5 / 6]
    assert deltas(release)["Sara"] == 3 / 4
    assert set(chances_by_listing(PROBLEM, release.view)) == {Fraction(3, 4), Fraction(5, 6)}
    # The bounds belong to what is allowed; a hair inside of them does not.
    for low, high, state in (
        (3 / 4, 0.84, "holds"),
        (0.76, 0.84, "broken"),
        (3 / 4, 0.83, "broken"),
    ):
        (verdict,) = DeltaPresence(delta_min=low, delta_max=high).measure(
            PROBLEM, release.view, CONTEXT
        )
        assert verdict.state == state


def test_the_search_finds_figure_2_3_for_its_delta_presence() -> None:
    outcome = Optimal().run(PROBLEM, [ASKED], CONTEXT)
    assert outcome.account.node == {"Zip": 1, "Age": 0}
    assert set(classes_of(PRIVATE, outcome.release, "Name")) == {("537*", "25"), ("537*", "27")}
    assert ZIP[0] == ("5370", "537*")
    assert AGE[0] == ("25", "20-30")
