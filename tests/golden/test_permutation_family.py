"""Worked examples of permuted releases: Toth (2015) and Li et al. (2015), by their list ids."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.methods.partition.mondrian_cuts import deal
from anon_core.pipeline.publish.file_formats import as_csv
from anon_core.pipeline.publish.published_table import public_edition
from anon_core.pipeline.runner import run
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.verification.checks import verify
from anon_core.verification.findings import Verification
from tests.asked import measured
from tests.making import Case, by_hand

Rows = list[tuple[str, ...]]

FIRST = pd.DataFrame(  # figure 2.1 of Toth
    {
        "Name": ["Clara", "Julie", "Ada", "Sara", "Bob", "Taylor", "Ashley", "Amanda"],
        "Zip": ["5370", "5370", "5370", "5371", "5371", "5372", "5372", "5373"],
        "Age": ["25", "25", "27", "27", "27", "25", "25", "25"],
        "Salary": ["30k", "15k", "30k", "40k", "42k", "25k", "45k", "9k"],
    }
)
SECOND = pd.DataFrame(  # figure 2.5
    {
        "Name": ["Julie", "Sara", "James", "Barbara"],
        "Zip": ["5370", "5371", "5372", "5376"],
        "Age": ["21", "27", "32", "39"],
        "Salary": ["15k", "40k", "42k", "50k"],
    }
)
LI = Case(  # table 1 of Li et al.
    columns={
        "Name": ["Bob", "Alex", "Jane", "Lily", "Andy", "Mary", "Linda", "Lucy", "Sarah"],
        "Age": ["65", "50", "70", "55", "90", "45", "50", "40", "10"],
        "Sex": list("MMFFFMFFM"),
        "Disease": [
            "Emphysema",
            "Cancer",
            "Flu",
            "Gastritis",
            "Dyspepsia",
            "Flu",
            "Pneumonia",
            "Gastritis",
            "Bronchitis",
        ],
    },
    identifier=("Name",),
    quasi=("Age", "Sex"),
    sensitive=("Disease",),
    kinds={"Age": "number", "Sex": "text", "Disease": "text"},
)
GROUPS = [0, 0, 0, 0, 0, 1, 1, 1, 1]  # tables 2 and 3


def written(header: tuple[str, ...], groups: list[Rows]) -> bytes:
    """Write rows of groups as a release: rows sorted, groups numbered by what they say."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for number, rows in enumerate(sorted(sorted(rows) for rows in groups), start=1):
        writer.writerows((str(number), *row) for row in rows)
    return text.getvalue().encode()


def checked(
    private: pd.DataFrame, k: int, groups: list[Rows], name: str, **settings: Any
) -> Verification:
    technique = cast(Algorithm, find("algorithm", name).from_mapping(settings))
    recipe = {
        "roles": {"identifier": ["Name"], "quasi": ["Zip", "Age"], "sensitive": ["Salary"]},
        "algorithm": {"name": name, **settings},
        "models": [{"name": "bucket-size", "k": k}],
        "release": technique.release_shape(),
    }
    header = ("group", "Zip", "Age", "Salary")
    return verify(recipe, private, {}, {"release.csv": written(header, groups)})


def test_t_10_a_published_permutation_of_the_first_table() -> None:
    """Figure 3.1; figure 3.3 prints the same rows as a one-attribute-per-column slicing."""
    shown = [
        [
            ("5370", "25", "9k"),
            ("5370", "25", "45k"),
            ("5372", "25", "25k"),
            ("5372", "25", "15k"),
            ("5373", "25", "30k"),
        ],
        [("5370", "27", "42k"), ("5371", "27", "30k"), ("5371", "27", "40k")],
    ]
    for name in ("bucketization", "one-attribute-slicing"):
        assert checked(FIRST, 3, shown, name=name).holds
        assert not checked(FIRST, 4, shown, name=name).holds
    columns = [[Counter(column) for column in zip(*group, strict=True)] for group in shown]
    assert columns[0][0] == Counter({"5370": 2, "5372": 2, "5373": 1})
    assert columns[0][1] == Counter({"25": 5})
    assert columns[0][2] == Counter(["15k", "25k", "30k", "45k", "9k"])
    assert columns[1][0] == Counter({"5370": 1, "5371": 2})
    assert columns[1][1] == Counter({"27": 3})
    assert columns[1][2] == Counter(["30k", "40k", "42k"])
    # Bucketization holds, so the pairs of ZIP and age are those of the table; other pairs break it.
    shown[0][4], shown[1][1] = ("5371", "25", "30k"), ("5373", "27", "30k")
    assert not checked(FIRST, 3, shown, name="bucketization").holds
    # Nobody of ZIP 5371 is 25 years old, so no row of the table can stand for it in that group.
    found = checked(FIRST, 3, shown, name="one-attribute-slicing")
    assert {check.name for check in found.broken} == {"membership"}


def test_t_11_permutations_of_the_second_table() -> None:
    figure_3_2 = [
        [("5370", "21", "40k"), ("5371", "27", "15k")],
        [("5372", "32", "50k"), ("5376", "39", "42k")],
    ]
    figure_3_4 = [
        [("5370", "27", "15k"), ("5371", "21", "40k")],
        [("5372", "39", "42k"), ("5376", "32", "50k")],
    ]
    assert checked(SECOND, 2, figure_3_2, name="bucketization").holds
    assert checked(SECOND, 2, figure_3_4, name="one-attribute-slicing").holds
    broken = checked(SECOND, 2, figure_3_4, name="bucketization")
    assert {check.name for check in broken.broken} == {"truth"}


def test_t_22_slicing_of_the_second_table() -> None:
    """Figure 3.10: ZIP by itself, age and salary linked."""
    shown = [
        [("5370", "27", "40k"), ("5371", "21", "15k")],
        [("5372", "39", "50k"), ("5376", "32", "42k")],
    ]
    assert checked(SECOND, 2, shown, name="slicing", sets=[["Zip"], ["Age", "Salary"]]).holds
    linked = checked(SECOND, 2, shown, name="slicing", sets=[["Zip", "Age"]])
    assert {check.name for check in linked.broken} == {"truth"}


def anatomized() -> tuple[Rows, Rows]:
    """Return the tables QIT and ST of table 3, as they would be published."""
    release = by_hand(LI.problem(), GROUPS, (("Age", "Sex"), ("Disease",)))
    tables = public_edition(
        replace(release, tables=release.blocks), np.random.default_rng(0)
    ).tables
    return tuple(  # type: ignore[return-value]
        [tuple(row) for row in csv.reader(io.StringIO(as_csv(tables[n]).decode()))][1:]
        for n in ("quasi", "sensitive")
    )


def test_p_03_counting_on_anatomy() -> None:
    """Women from 40 to 70 with flu: 2/5 + 1/2."""
    quasi, sensitive = anatomized()
    terms: dict[str, Fraction] = {}
    for group in sorted({row[0] for row in quasi}):
        people = sum(g == group and 40 <= int(a) <= 70 and s == "F" for g, a, s in quasi)
        matching = [value for g, value in sensitive if g == group]
        terms[group] = people * Fraction(matching.count("Flu"), len(matching))
    assert sorted(terms.values()) == [Fraction(2, 5), Fraction(1, 2)]
    assert sum(terms.values()) == Fraction(9, 10)


def test_p_10_what_anatomy_tells_of_bob() -> None:
    quasi, sensitive = anatomized()
    (group,) = {g for g, age, sex in quasi if (age, sex) == ("65", "M")}
    matching = [value for g, value in sensitive if g == group]
    assert Fraction(matching.count("Emphysema"), len(matching)) == Fraction(1, 5)


def test_p_06_frequency_l_of_the_groups() -> None:
    release = by_hand(LI.problem(), GROUPS, (("Age", "Sex"), ("Disease",)))
    (verdict,) = FrequencyLDiversity(l=4).measure(
        *measured(release.problem, release.view), Context()
    )
    assert verdict.per_class.tolist() == [5, 4]
    assert (verdict.state, verdict.reached) == ("holds", 4)
    (broken,) = FrequencyLDiversity(l=5).measure(
        *measured(release.problem, release.view), Context()
    )
    assert broken.state == "broken"


def test_p_07_the_largest_eligible_l() -> None:
    FrequencyLDiversity(l=4).check(LI.problem())
    with pytest.raises(Infeasible) as refused:
        FrequencyLDiversity(l=5).check(LI.problem())
    assert refused.value.best == 4
    assert "2 of 9 rows" in refused.value.message
    assert "at most 4" in refused.value.remedy
    # Equality is legal: two of eight rows are exactly a quarter.
    eight = replace(LI, columns={name: cells[1:] for name, cells in LI.columns.items()})
    FrequencyLDiversity(l=4).check(eight.problem())
    result = run(
        eight.plan(
            algorithm={"name": "anatomy", "partition": "balanced"},
            models=[{"name": "frequency-l-diversity", "l": 4}],
        ),
        eight.dataset,
    )
    assert result.class_sizes.tolist() == [4, 4]


class AsTheyStand(np.random.Generator):
    """Draws nothing: rows stay in their order."""

    def permutation(self, x: int, axis: int = 0) -> np.ndarray:  # type: ignore[override]
        return np.arange(x)


def test_p_14_dealing_the_microdata() -> None:
    problem = LI.problem()
    value = problem.leaf_codes("Disease").astype(np.int64)
    for seed in range(20):
        group = deal(value, 4, np.random.default_rng(seed))
        assert sorted(np.bincount(group).tolist()) == [4, 5]
        assert all(len(set(value[group == g].tolist())) == sum(group == g) for g in (0, 1))
    # The paper's own groups: diseases in order of first appearance, their rows as they stand.
    diseases = list(dict.fromkeys(LI.columns["Disease"]))
    order = np.array([diseases.index(d) for d in LI.columns["Disease"]])
    group = deal(order, 4, AsTheyStand(np.random.PCG64()))
    names = [
        [n for n, g in zip(LI.columns["Name"], group, strict=True) if g == at] for at in (1, 0)
    ]
    assert [set(n) for n in names if n] == [
        {"Alex", "Mary", "Lucy", "Linda"},
        {"Bob", "Jane", "Lily", "Andy", "Sarah"},
    ]


def test_p_14_groups_of_l_to_2l_less_1_rows_with_no_value_twice() -> None:
    rng = np.random.default_rng(14)
    for _ in range(300):
        least = int(rng.integers(2, 6))
        groups = int(rng.integers(1, 8))
        rows = least * groups + int(rng.integers(0, least))
        value: list[int] = []
        while len(value) < rows:  # eligible: no value in more than n/l rows
            value += [len(set(value))] * min(
                int(rng.integers(1, rows // least + 1)), rows - len(value)
            )
        own = rng.permutation(value)
        group = deal(own, least, rng)
        sizes = np.bincount(group)
        assert len(sizes) == groups == rows // least
        assert least <= sizes.min() <= sizes.max() < 2 * least
        assert len(set(zip(group.tolist(), own.tolist(), strict=True))) == rows
