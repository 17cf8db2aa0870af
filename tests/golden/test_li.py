"""Worked examples of Li, He, Cao and Chen (2015), Permutation anonymization."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.release.grouping import group_runs
from anon_core.release.release import Release, one_block, raw_view
from anon_core.release.vocabulary import of_boxes
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import attacked, measured
from tests.making import by_hand, sample_case

# The hierarchy of ages is the paper's domain, 10 to 90 in steps of 5.
CASE = sample_case(
    "li-microdata",
    {
        "Age": [(str(a), "*") for a in range(10, 91, 5)],
        "Sex": [("F", "*"), ("M", "*")],
    },
)
NAMES = CASE.columns["Name"]
# Group of every person in tables 2 and 3.
FIRST = ("Bob", "Alex", "Jane", "Lily", "Andy")
GROUPS = [0 if n in FIRST else 1 for n in NAMES]
CONTEXT = Context()


def generalized() -> Release:
    """Table 2: the partition's boxes."""
    problem = CASE.problem()
    runs = problem.frequency.run[problem.frequency.row_key]
    group_of_run = np.empty(len(problem.frequency.run_count), dtype=np.int64)
    group_of_run[runs] = GROUPS
    vocabularies, cells = {}, {}
    for d, name in enumerate(problem.quasi):
        codes = problem.frequency.run_codes[:, d]
        lo = np.array([codes[group_of_run == g].min() for g in (0, 1)], dtype=np.int32)
        hi = np.array([codes[group_of_run == g].max() for g in (0, 1)], dtype=np.int32)
        vocabularies[name], cells[name] = of_boxes(
            problem.hierarchies[name],
            problem.dataset.column(name).kind,
            lo,
            hi,
            as_nodes=False,
        )
    return one_block(problem, group_runs(problem.frequency, group_of_run, 2), vocabularies, cells)


def anatomy() -> Release:
    """Table 3: QIT and ST, linked by the group only."""
    return by_hand(CASE.problem(), GROUPS, (("Age", "Sex"), ("Disease",)))


def test_p_01_the_count_on_the_microdata() -> None:
    view = raw_view(CASE.problem())
    (block,) = view.blocks
    texts = [
        [view.vocabularies[n].texts[c] for c in column]
        for n, column in zip(block.columns, block.codes.T, strict=True)
    ]
    rows = zip(*texts, block.count.tolist(), strict=True)
    matching = [
        n for age, sex, ill, n in rows if 40 <= int(age) <= 70 and (sex, ill) == ("F", "Flu")
    ]
    assert sum(matching) == 1


def test_p_02_the_boxes_of_table_2() -> None:
    release = generalized()
    shown = [
        tuple(release.vocabularies[n].texts[release.cells[n][c]] for n in ("Age", "Sex"))
        for c in (0, 1)
    ]
    assert shown == [("[50, 90]", "*"), ("[10, 50]", "*")]
    assert release.view.group_size.tolist() in ([5, 4], [4, 5])
    # The span of a number's range is in its leaves, for estimators that need its length.
    ages = release.vocabularies["Age"]
    measure = release.problem.hierarchies["Age"].measure
    assert measure is not None
    spans = [measure[ages.hi[c]] - measure[ages.lo[c]] for c in release.cells["Age"]]
    assert spans == [40.0, 40.0]


def test_p_05_and_a_11_the_certainty_penalty_of_table_2() -> None:
    release = generalized()
    found = CertaintyPenalty().measure(release.problem, release, CONTEXT)
    assert found.also["NCP of the table"] == pytest.approx(13.5)
    assert found.value == found.share == pytest.approx(3 / 4)
    assert found.per_class is not None
    # Per class 3/2 in the sum over both columns; E-36: the mean over columns is what is shown.
    assert (found.per_class * 2).tolist() == pytest.approx([1.5, 1.5])
    assert found.per_column == pytest.approx({"Age": 0.5, "Sex": 1.0})


def test_table_3_as_two_tables() -> None:
    release = anatomy()
    table, sensitive = release.view.blocks
    assert table.count.sum() == sensitive.count.sum() == 9
    assert release.view.whole_quasi() is table
    pool = release.vocabularies["Disease"].texts
    values = sorted(
        (g, pool[c], n)
        for g, (c,), n in zip(
            sensitive.group.tolist(),
            sensitive.codes.tolist(),
            sensitive.count.tolist(),
            strict=True,
        )
    )
    assert values == sorted(
        [(0, d, 1) for d in ("Emphysema", "Flu", "Cancer", "Dyspepsia", "Gastritis")]
        + [(1, d, 1) for d in ("Flu", "Bronchitis", "Gastritis", "Pneumonia")]
    )


def test_p_10_what_anatomy_tells_of_bob() -> None:
    """Anyone who knows Bob's row knows his group; every disease of it has c(v)/N."""
    view = anatomy().view
    table, sensitive = view.blocks
    ages, sexes = view.vocabularies["Age"].texts, view.vocabularies["Sex"].texts
    (bob,) = [
        g
        for g, (a, s) in zip(table.group.tolist(), table.codes.tolist(), strict=True)
        if (ages[a], sexes[s]) == ("65", "M")
    ]
    pool = view.vocabularies["Disease"].texts
    share = {
        pool[c]: Fraction(n, int(view.group_size[g]))
        for g, (c,), n in zip(
            sensitive.group.tolist(),
            sensitive.codes.tolist(),
            sensitive.count.tolist(),
            strict=True,
        )
        if g == bob
    }
    assert share["Emphysema"] == Fraction(1, 5)
    assert sum(share.values()) == 1
    (verdict,) = DistinctLDiversity(l=4).measure(*measured(CASE.problem(), view), CONTEXT)
    assert (verdict.reached, verdict.holds) == (4, True)
    (result,) = Homogeneity().run(*attacked(CASE.problem(), view), CONTEXT)
    assert (result.succeeded, result.worst) == (0, 1 / 4)
