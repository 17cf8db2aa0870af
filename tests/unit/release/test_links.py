"""Links by hand: what recoding, two tables and permuted columns leave of each."""

from __future__ import annotations

from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.runner import run
from anon_core.release.link_strength import Link, links
from anon_core.release.release import raw_view
from tests.making import PATIENTS, by_hand

PROBLEM = PATIENTS.problem()
PAIRS = (("age", "illness"), ("zip", "illness"))


def of(found: tuple[Link, ...]) -> dict[str, Link]:
    return {link.name: link for link in found}


def test_the_table_as_it_is_keeps_every_link() -> None:
    found = of(links(raw_view(PROBLEM)))
    assert found["identity–quasi"].kept == (("age",), ("zip",))
    assert found["quasi–sensitive"].kept == PAIRS
    assert found["quasi–quasi"].kept == (("age", "zip"),)
    assert not any(link.cut or link.weakened for link in found.values())


def test_two_tables_cut_the_link_to_the_secret() -> None:
    release = by_hand(PROBLEM, [0, 0, 0, 1, 1, 1], (("age", "zip"), ("illness",)))
    found = of(links(release.view))
    assert found["quasi–sensitive"] == Link(name="quasi–sensitive", kept=(), cut=PAIRS)
    assert found["quasi–quasi"].kept == (("age", "zip"),)


def test_permuted_columns_cut_those_among_quasi_identifiers_too() -> None:
    release = by_hand(PROBLEM, [0, 0, 0, 1, 1, 1], (("age",), ("zip", "illness")))
    found = of(links(release.view))
    assert found["quasi–quasi"].cut == (("age", "zip"),)
    assert (found["quasi–sensitive"].cut, found["quasi–sensitive"].kept) == (PAIRS[:1], PAIRS[1:])


def test_recoding_weakens_the_link_to_the_person() -> None:
    at = {"name": "fixed-levels", "levels": {"age": 2, "zip": 1}}
    result = run(PATIENTS.plan(algorithm=at), PATIENTS.dataset, PATIENTS.levels)
    found = of(links(result.release.view))["identity–quasi"]
    assert (found.kept, found.weakened, found.cut) == ((), (("zip",),), (("age",),))
    figures = {row["link"]: row for row in figures_of(result)["links"]}
    assert figures["identity–quasi"]["weakened"] == [["zip"]]
    assert "prosecutor" in figures["identity–quasi"]["attacks"]
    assert "homogeneity" in figures["quasi–sensitive"]["attacks"]
    assert "homogeneity" not in figures["quasi–quasi"]["attacks"]
