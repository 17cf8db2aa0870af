"""Worked examples of Samarati (2008), k-Anonymity (slides of the FOSAD school).

K-01 to K-08, K-11, K-12, K-15, K-16, K-18 and K-24 are here; K-09, K-10 and K-13, which change
single cells, in `test_samarati_cells`; K-14 in `test_k_optimize`; K-17 in `test_consistency`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.data.hierarchy import Hierarchy, from_rows
from anon_core.data.hierarchy.propose import codes
from anon_core.data.table import Dataset
from anon_core.methods.lattice.lattice import Lattice
from anon_core.methods.lattice.lattice_decisions import SATISFIED, Classification
from anon_core.methods.lattice.nodes import CRITERIA, Nodes, criterion
from anon_core.methods.lattice.recoding_models import LEVEL_MODELS, MATRIX
from anon_core.release.outcome import SearchAccount
from anon_core.release.private_reference import reference_of
from anon_core.release.release import Release, raw_view
from anon_core.techniques.algorithms.fixed_levels import FixedLevels
from anon_core.techniques.algorithms.incognito import BySize, Incognito
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.algorithms.samarati import Samarati, distance_matrix
from anon_core.techniques.attacks.homogeneity import Homogeneity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import attacked, measured
from tests.making import Case, sample_case

ZIPS = ("94138", "94139", "94141", "94142")
MARITAL = ("single", "married", "divorced", "widow")
DAYS = ("63/03/13", "63/03/18", "64/04/12", "64/04/15", "64/09/13", "64/09/27")
PATIENTS = sample_case(
    "samarati",
    {
        "Race": [(r, "person") for r in ("asian", "black", "white")],
        "DOB": [(d, d[:5], d[:2], "*") for d in DAYS],
        "Sex": [("F", "*"), ("M", "*")],
        "ZIP": [(z, f"{z[:4]}*", "941**") for z in ZIPS],
        "Marital": [
            (m, "never_married" if m == "single" else "been_married", "not_released")
            for m in MARITAL
        ],
    },
)
CONTEXT = Context()


def of_columns(*quasi: str, disease: list[str] | None = None) -> Case:
    columns = dict(PATIENTS.columns)
    if disease:
        columns["Disease"] = list(disease)
    return dataclasses.replace(PATIENTS, quasi=quasi, columns=columns)


def rows_by_class(release: Release) -> dict[tuple[str, ...], list[int]]:
    """Return the rows (t1..t9) of every class by its published cells."""
    member = release.grouping.of_rows(release.problem.frequency, np.random.default_rng(0))
    found: dict[tuple[str, ...], list[int]] = {}
    for number, c in enumerate(member.tolist(), start=1):
        if c >= 0:
            cells = tuple(
                release.vocabularies[n].texts[release.cells[n][c]] for n in release.problem.quasi
            )
            found.setdefault(cells, []).append(number)
    return found


def test_k_01_a_register_finds_one_row() -> None:
    case = of_columns("DOB", "Sex", "ZIP", "Marital")
    view = raw_view(case.problem())
    (block,) = view.blocks
    texts = [
        tuple(view.vocabularies[n].texts[c] for n, c in zip(block.columns, row, strict=True))
        for row in block.codes.tolist()
    ]
    matching = [t for t in texts if t[:4] == ("64/04/12", "F", "94142", "divorced")]
    assert matching == [("64/04/12", "F", "94142", "divorced", "hypertension")]
    assert block.count[texts.index(matching[0])] == 1
    frequency = case.problem().frequency
    own = view.vocabularies["ZIP"].texts.index("94142")
    zips = frequency.codes[frequency.row_key, case.quasi.index("ZIP")]
    assert (np.flatnonzero(zips == own) + 1).tolist() == [1]  # the first row, by her ZIP code alone


def test_k_02_one_step_hides_one_digit() -> None:
    zips = Dataset.from_frame(
        pd.DataFrame({"ZIP": ["20222", "20223", "20238", "20239"]}), kinds={"ZIP": "text"}
    ).column("ZIP")
    h = from_rows(zips, codes.mask(zips))
    assert [text_of(h, 1, leaf) for leaf in range(4)] == ["2022*", "2022*", "2023*", "2023*"]


# Node of (Race, ZIP) → rows suppressed for 2-anonymity, classes that stay.
K_03 = {
    (0, 0): (6, {"asian|94139": 3}),
    (0, 1): (2, {"asian|9414*": 2, "asian|9413*": 3, "black|9413*": 2}),
    (0, 2): (0, {"asian|941**": 5, "black|941**": 2, "white|941**": 2}),
    (1, 0): (2, {"person|94141": 2, "person|94139": 5}),
    (1, 1): (0, {"person|9414*": 3, "person|9413*": 6}),
    (1, 2): (0, {"person|941**": 9}),
}


def text_of(h: Hierarchy, level: int, leaf: int) -> str:
    return h.labels[level][h.node(level)[leaf]]


def test_k_03_the_whole_lattice() -> None:
    lattice = Lattice(of_columns("Race", "ZIP").problem())
    found = {}
    for node in lattice.nodes():
        classes, stats = lattice.stats(node)
        keep = KAnonymity(k=2).per_group(stats, reference_of(lattice.problem))
        fields = [lattice.field(classes, d) for d in range(2)]
        kept = {
            "|".join(
                text_of(h, n, f[i])
                for h, n, f in zip(lattice.hierarchies, node, fields, strict=True)
            ): int(stats.sizes[i])
            for i in np.flatnonzero(keep)
        }
        found[node] = (9 - sum(kept.values()), kept)
    assert found == K_03


def at_node(levels: dict[str, int], *quasi: str, spare: int = 0) -> Release:
    """Publish a node that is named, with 2-anonymity and so many rows to spare."""
    search = FixedLevels.from_mapping({"levels": levels, "max_suppression": spare / 9})
    return search.run(of_columns(*quasi).problem(), [KAnonymity(k=2)], CONTEXT).release


@pytest.mark.parametrize(
    ("levels", "node"), [({"Race": 1, "ZIP": 0}, (1, 0)), ({"Race": 0, "ZIP": 1}, (0, 1))]
)
def test_k_03_both_generalized_tables(levels: dict[str, int], node: tuple[int, int]) -> None:
    release = at_node(levels, "Race", "ZIP", spare=2)
    removed, kept = K_03[node]
    assert {"|".join(c): len(r) for c, r in rows_by_class(release).items()} == kept
    assert release.suppressed == removed


def test_k_03_heights() -> None:
    nodes = Classification(of_columns("Race", "ZIP").problem(), [KAnonymity(k=2)], 2, CONTEXT)
    heights = dict(zip(K_03, nodes.heights().tolist(), strict=True))
    assert heights == {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 0): 1, (1, 1): 2, (1, 2): 3}
    distinct = {n: len(nodes.release(n).grouping.sizes) for n in K_03}
    assert distinct == {(0, 0): 1, (0, 1): 3, (0, 2): 3, (1, 0): 2, (1, 1): 2, (1, 2): 1}


def test_k_03_the_minimal_nodes_with_two_rows_to_spare() -> None:
    search = Optimal(max_suppression=2 / 9, list_minimal=True)
    outcome = search.run(of_columns("Race", "ZIP").problem(), [KAnonymity(k=2)], CONTEXT)
    assert set(outcome.account.minimal) == {(1, 0), (0, 1)}
    assert outcome.account.nodes == 6


def test_k_03_the_minimal_table_that_loses_less() -> None:
    search = Optimal(metric="loss", max_suppression=2 / 9)
    outcome = search.run(of_columns("Race", "ZIP").problem(), [KAnonymity(k=2)], CONTEXT)
    sizes = {"|".join(cells): len(rows) for cells, rows in rows_by_class(outcome.release).items()}
    assert sizes == K_03[0, 1][1]
    assert outcome.release.suppressed == 2
    # Seven ZIP codes stay with one more of three leaves, two rows lose everything.
    assert outcome.account.cost == pytest.approx((7 / 3 + 2 * 2) / (9 * 2))


def found_nodes(search: Algorithm, *quasi: str, k: int = 2) -> SearchAccount:
    return search.run(of_columns(*quasi).problem(), [KAnonymity(k=k)], CONTEXT).account


def test_k_04_which_minimal_table_is_preferred() -> None:
    problem = of_columns("Race", "ZIP").problem()
    nodes = Nodes(problem, [KAnonymity(k=2)], 2, CONTEXT)
    values = {w: [criterion(nodes, n, w) for n in ((1, 0), (0, 1))] for w in CRITERIA}
    assert values == {
        "absolute distance": [1, 1],
        "relative distance": [1, 1 / 2],
        "distinct tuples": [-2, -3],
        "suppression": [2, 2],  # seven of nine rows stay
    }
    # Which of (1, 0) and (0, 1) each criterion prefers; of equals ours takes the first in order.
    preferred = {w: [v == min(values[w]) for v in values[w]] for w in CRITERIA}
    assert preferred == {
        "absolute distance": [True, True],
        "relative distance": [False, True],
        "distinct tuples": [False, True],
        "suppression": [True, True],
    }
    for search in (Samarati, Incognito):
        for which in CRITERIA:
            account = found_nodes(search(prefer=which, max_suppression=2 / 9), "Race", "ZIP")
            assert account.node == {"Race": 0, "ZIP": 1}
            assert set(account.minimal) == {(1, 0), (0, 1)}


def test_k_05_the_heights_that_are_visited() -> None:
    account = found_nodes(Samarati(max_suppression=2 / 9), "Race", "ZIP")
    assert [(s["height"], s["solution"]) for s in account.steps] == [(1, "yes"), (0, "no")]
    assert account.nodes == 6
    assert sum((account.node or {}).values()) == 1
    assert sum(Lattice(of_columns("Race", "ZIP").problem()).heights) == 3


def test_k_06_the_distance_vectors() -> None:
    problem = of_columns("Race", "ZIP").problem()
    matrix = distance_matrix(problem, 2)
    tuples = [
        tuple(h.leaves[c] for h, c in zip(problem.quasi_hierarchies, row, strict=True))
        for row in problem.frequency.run_codes.tolist()
    ]
    printed = [  # t1, t2, t3 = t4 = t5, t6, t7, t8, t9
        ("asian", "94142"),
        ("asian", "94141"),
        ("asian", "94139"),
        ("black", "94138"),
        ("black", "94139"),
        ("white", "94139"),
        ("white", "94141"),
    ]
    place = [tuples.index(t) for t in printed]
    outliers = matrix.outliers.tolist()
    rows = [outliers.index(place[i]) for i in (0, 1, 3, 4, 5, 6)]
    assert len(outliers) == 6
    assert matrix.vectors[np.ix_(rows, place)].tolist() == [
        [[0, 0], [0, 1], [0, 2], [1, 2], [1, 2], [1, 2], [1, 1]],
        [[0, 1], [0, 0], [0, 2], [1, 2], [1, 2], [1, 2], [1, 0]],
        [[1, 2], [1, 2], [1, 1], [0, 0], [0, 1], [1, 1], [1, 2]],
        [[1, 2], [1, 2], [1, 0], [0, 1], [0, 0], [1, 0], [1, 2]],
        [[1, 2], [1, 2], [1, 0], [1, 1], [1, 0], [0, 0], [0, 2]],
        [[1, 1], [1, 0], [1, 2], [1, 2], [1, 2], [0, 2], [0, 0]],
    ]
    assert {n: matrix.removed(n) for n in K_03} == {n: gone for n, (gone, _) in K_03.items()}


FOUR = ("Race", "DOB", "Sex", "ZIP")


def texts(release: Release) -> list[tuple[str, ...]]:
    return sorted(c for c, rows in rows_by_class(release).items() for _ in rows)


def test_k_07_generalized_columns_and_one_row_removed() -> None:
    problem = of_columns(*FOUR).problem()
    nodes = Nodes(problem, [KAnonymity(k=2)], 1, CONTEXT)
    release = nodes.release((0, 1, 0, 2))
    member = release.grouping.of_rows(problem.frequency, np.random.default_rng(0))
    assert (np.flatnonzero(member < 0) + 1).tolist() == [2]
    assert texts(release) == sorted(
        [
            ("asian", "64/04", "F", "941**"),
            ("asian", "63/03", "M", "941**"),
            ("black", "64/09", "F", "941**"),
            ("white", "64/09", "F", "941**"),
        ]
        * 2
    )
    account = found_nodes(Optimal(max_suppression=1 / 9, list_minimal=True), *FOUR)
    assert (0, 1, 0, 2) in account.minimal
    by_search = at_node({"Race": 0, "DOB": 1, "Sex": 0, "ZIP": 2}, *FOUR, spare=1)
    assert by_search.grouping.sizes.tolist() == [2, 2, 2, 2]
    assert texts(by_search) == texts(release)


def test_k_08_columns_only_is_the_same_with_or_without_blanked_columns() -> None:
    for search in (Optimal, Samarati, Incognito):
        # AG takes no row, whatever the budget; AG_AS is the same since the top level blanks.
        account = found_nodes(search(max_suppression=0.5, transformation="AG"), *FOUR)
        assert (0, 2, 0, 2) in account.minimal


def test_k_11_rows_only_leaves_no_table() -> None:
    for search in (Optimal, Samarati, Incognito):
        with pytest.raises(Infeasible) as refused:
            found_nodes(search(max_suppression=1.0, transformation="TS"), *FOUR)
        assert refused.value.best == 1.0
    # The slide's empty table: all nine rows are suppressed. Ours is refused instead of published.
    nodes = Nodes(of_columns(*FOUR).problem(), [KAnonymity(k=2)], 9, CONTEXT, "TS")
    assert nodes.removed(nodes.lattice.top) == 9


def test_k_12_whole_columns_blanked() -> None:
    for search in (Optimal, Samarati, Incognito):
        outcome = search(transformation="AS").run(
            of_columns(*FOUR).problem(), [KAnonymity(k=2)], CONTEXT
        )
        assert outcome.account.minimal == ((0, 3, 0, 2),)
        assert outcome.account.node == {"Race": 0, "DOB": 3, "Sex": 0, "ZIP": 2}
        top = outcome.release.problem.hierarchies["ZIP"].labels[-1][0]
        classes = {c: len(rows) for c, rows in rows_by_class(outcome.release).items()}
        assert classes == {
            ("asian", "*", "F", top): 3,
            ("asian", "*", "M", top): 2,
            ("black", "*", "F", top): 2,
            ("white", "*", "F", top): 2,
        }


def test_k_24_the_model_matrix() -> None:
    assert dict(MATRIX) == {
        "AG_TS": "distinct",
        "AG_AS": "equivalent to AG",
        "AG_CS": "distinct",
        "AG": "equivalent to AG_AS",
        "CG_TS": "not applicable",
        "CG_AS": "not applicable",
        "CG_CS": "equivalent to CG",
        "CG": "equivalent to CG_CS",
        "TS": "distinct",
        "AS": "distinct",
        "CS": "distinct",
        "none": "not interesting",
    }
    assert all(MATRIX[m] == "distinct" or m == "AG" for m in LEVEL_MODELS)


@pytest.mark.parametrize(
    ("technique", "said", "meant"),
    [
        ("optimal", "AG_AS", "AG"),
        ("samarati", "AG_AS", "AG"),
        ("incognito", "AG_AS", "AG"),
        ("cell-suppression", "CG_CS", "CG"),
    ],
)
def test_models_that_equal_another_are_taken_for_it(technique: str, said: str, meant: str) -> None:
    assert MATRIX[said] == f"equivalent to {meant}"
    made = find("algorithm", technique)
    asked = made.from_mapping({"transformation": said})
    assert asked == made.from_mapping({"transformation": meant})
    assert asked.as_mapping()["transformation"] == meant
    for none in (model for model, what in MATRIX.items() if what == "not applicable"):
        with pytest.raises(BadPlan, match="allowed is one of"):
            made.from_mapping({"transformation": none})


def test_k_08_birth_year_and_first_digits() -> None:
    case = of_columns("Race", "DOB", "Sex", "ZIP")
    outcome = Optimal(metric="loss").run(case.problem(), [KAnonymity(k=2)], CONTEXT)
    assert (0, 2, 0, 2) in outcome.account.minimal
    release = at_node({"Race": 0, "DOB": 2, "Sex": 0, "ZIP": 2}, *FOUR)
    assert release.suppressed == 0
    assert rows_by_class(release) == {
        ("asian", "64", "F", "941**"): [1, 2, 3],
        ("asian", "63", "M", "941**"): [4, 5],
        ("black", "64", "F", "941**"): [6, 7],
        ("white", "64", "F", "941**"): [8, 9],
    }


def test_k_15_the_minimal_nodes_of_three_columns() -> None:
    case = of_columns("Race", "Sex", "Marital")
    outcome = Optimal().run(case.problem(), [KAnonymity(k=2)], CONTEXT)
    assert set(outcome.account.minimal) == {(0, 0, 2), (1, 0, 1)}


def test_k_15_incognito_by_size_of_subset() -> None:
    account = found_nodes(Incognito(), "Race", "Sex", "Marital")
    assert set(account.minimal) == {(0, 0, 2), (1, 0, 1)}
    counted = [(s["columns"], s["nodes"], s["candidates"], s["held"]) for s in account.steps]
    # R0 R1 S0 S1 M1 M2 of seven; of pairs all but R0,M1; six of three columns, all of which hold.
    assert counted == [(1, 7, 7, 6), (2, 16, 12, 11), (3, 12, 6, 6)]


def test_k_15_every_list_of_the_slides() -> None:
    problem = of_columns("Race", "Sex", "Marital").problem()
    # The slides draw Marital without its exact values (M0), which single columns already rule out.
    search = BySize(Classification(problem, [KAnonymity(k=2)], 0, CONTEXT))
    search.survivors()

    def listed(masks: dict[tuple[int, ...], npt.NDArray[np.bool_]], size: int) -> dict[str, str]:
        return {
            "".join("RSM"[d] for d in subset): " ".join(
                ",".join(f"{'RSM'[d]}{n}" for d, n in zip(subset, node, strict=True))
                for node in np.argwhere(mask).tolist()
            )
            for subset, mask in masks.items()
            if len(subset) == size
        }

    assert listed(search.held, 1) == {"R": "R0 R1", "S": "S0 S1", "M": "M1 M2"}
    assert listed(search.candidates, 2) == {
        "RS": "R0,S0 R0,S1 R1,S0 R1,S1",
        "RM": "R0,M1 R0,M2 R1,M1 R1,M2",
        "SM": "S0,M1 S0,M2 S1,M1 S1,M2",
    }
    assert listed(search.held, 2) == {
        "RS": "R0,S0 R0,S1 R1,S0 R1,S1",
        "RM": "R0,M2 R1,M1 R1,M2",
        "SM": "S0,M1 S0,M2 S1,M1 S1,M2",
    }
    three = {"RSM": "R0,S0,M2 R0,S1,M2 R1,S0,M1 R1,S0,M2 R1,S1,M1 R1,S1,M2"}
    assert listed(search.candidates, 3) == three
    assert listed(search.held, 3) == three


def test_k_15_incognito_survivors() -> None:
    nodes = Classification(
        of_columns("Race", "Sex", "Marital").problem(), [KAnonymity(k=2)], 0, CONTEXT
    )
    nodes.decide()
    held = {n for n in nodes.lattice.nodes() if nodes.status[n] == SATISFIED}
    assert held == {(0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 0, 2), (1, 1, 1), (1, 1, 2)}


def test_k_16_mondrian_on_an_order_that_is_not_the_alphabet() -> None:
    """The order of a column of kind 'ordered' is that of its hierarchy's lines.

    The slides write 9414* and 9413* for the two pairs of ZIP codes, and "divorced or widow". Ours
    names the values of both, or publishes nodes of both: the slides' mix is not offered.
    """
    case = of_columns("Marital", "ZIP")
    release = Mondrian().run(case.problem(), [KAnonymity(k=3)], CONTEXT).release
    assert release.problem.hierarchies["Marital"].leaves == MARITAL
    assert rows_by_class(release) == {
        ("{divorced, widow}", "{94141, 94142}"): [1, 2, 9],
        ("married", "94139"): [3, 4, 5],
        ("single", "{94138, 94139}"): [6, 7, 8],
    }
    nodes = Mondrian(output="node").run(case.problem(), [KAnonymity(k=3)], CONTEXT).release
    assert rows_by_class(nodes) == {
        ("been_married", "9414*"): [1, 2, 9],
        ("married", "94139"): [3, 4, 5],
        ("single", "9413*"): [6, 7, 8],
    }


SLIDE_59 = [
    "hypertension",
    "obesity",
    "chest pain",
    "obesity",
    "obesity",
    "short breath",
    "short breath",
    "chest pain",
    "short breath",
]


@pytest.mark.parametrize(
    ("disease", "carol", "certain", "distinct"),
    [(SLIDE_59, {"short breath"}, 4, 1), (None, {"obesity", "short breath"}, 0, 2)],
    ids=["slide 59", "slide 19"],
)
def test_k_18_what_is_known_of_carol(
    disease: list[str] | None, carol: set[str], certain: int, distinct: int
) -> None:
    """E-21: two diseases differ between the slides; only one of the columns shows the attack."""
    case = of_columns("Race", "DOB", "Sex", "ZIP", disease=disease)
    # The slides' table is one of the minimal ones; with these levels it is the only one.
    levels = case.levels | {
        "DOB": [(d, d[:2]) for d in DAYS],
        "ZIP": [(z, "941**") for z in ZIPS],
        "Race": [(r, r, "*") for r in ("asian", "black", "white")],
    }
    levels["DOB"] = [(*line, "*") for line in levels["DOB"]]
    case = dataclasses.replace(case, levels=levels)
    release = (
        Optimal(metric="discernibility").run(case.problem(), [KAnonymity(k=2)], CONTEXT).release
    )
    classes = rows_by_class(release)
    assert sorted(map(len, classes.values())) == [2, 2, 2, 3]
    diseases = {
        cells: {case.columns["Disease"][n - 1] for n in rows} for cells, rows in classes.items()
    }
    assert diseases["black", "64", "F", "941**"] == carol
    (result,) = Homogeneity().run(*attacked(case.problem(), release.view), CONTEXT)
    assert result.succeeded == certain
    homogeneous = {cells for cells, values in diseases.items() if len(values) == 1}
    assert homogeneous == (
        {("asian", "63", "M", "941**"), ("black", "64", "F", "941**")} if certain else set()
    )
    (verdict,) = DistinctLDiversity(l=2).measure(*measured(case.problem(), release.view), CONTEXT)
    assert (verdict.reached, verdict.holds) == (distinct, distinct >= 2)
