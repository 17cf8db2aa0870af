"""The product of the hierarchies, and when a search of it is refused."""

from __future__ import annotations

import pytest

import anon_core.methods.lattice.lattice_decisions as classify
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.methods.lattice.lattice import Lattice
from anon_core.methods.lattice.lattice_decisions import Classification
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.making import PATIENTS


def test_facts_of_a_lattice() -> None:
    lattice = Lattice(PATIENTS.problem())
    assert lattice.heights == lattice.top == (2, 2)
    assert lattice.shape == (3, 3)
    assert lattice.size == 9
    assert len(list(lattice.nodes())) == 9
    assert lattice.names((0, 2)) == {"age": 0, "zip": 2}


def test_entries_part_by_sensitive_value_and_classes_do_not() -> None:
    lattice = Lattice(PATIENTS.problem(), ("illness",))
    assert sorted(lattice.at((0, 0)).count.tolist()) == [1] * 6
    classes, stats = lattice.stats((0, 1))
    assert stats.sizes.tolist() == classes.count.tolist() == [3, 3]
    histogram = dict(
        zip(stats.sizes.tolist(), stats.histograms["illness"].distinct.tolist(), strict=True)
    )
    assert histogram == {3: 3}
    assert sorted(stats.histograms["illness"].distinct.tolist()) == [2, 3]


def test_numbers_of_classes_follow_their_cells() -> None:
    lattice = Lattice(PATIENTS.problem())
    member, first = lattice.runs_at((0, 1))
    assert member.tolist() == [0, 0, 1, 1]
    assert member[first].tolist() == [0, 1]


def test_a_lattice_too_large_to_search_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classify, "MOST_NODES", 8)
    with pytest.raises(BadPlan) as refused:
        Classification(PATIENTS.problem(), [KAnonymity(k=2)], 0, Context())
    assert "The lattice of 'age', 'zip' has 9 nodes" in refused.value.message
    assert "Mondrian" in refused.value.remedy


def test_classification_accounts_for_every_node() -> None:
    nodes = Classification(PATIENTS.problem(), [KAnonymity(k=2)], 0, Context())
    nodes.decide()
    satisfied = {n for n in nodes.lattice.nodes() if nodes.status[n] == classify.SATISFIED}
    assert satisfied == {n for n in nodes.lattice.nodes() if n[1] > 0}
    assert nodes.minimal() == ((0, 1),)
    assert 0 < nodes.checked < 9
    assert nodes.monotone


def test_refusing_says_what_the_best_node_removes() -> None:
    models = [KAnonymity(k=2), DistinctLDiversity(l=4)]
    nodes = Classification(PATIENTS.problem(), models, 0, Context())
    with pytest.raises(Infeasible) as refused:
        nodes.decide()
    assert refused.value.best == 1.0
    assert "at most 0 of 6 rows suppressed; the best removes 6 (100.0%" in refused.value.message
