"""What lessons say of their sources' examples is what the sources' vectors say."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.explain.answers.fitting import fitting_view
from anon_core.methods.bucketized.slice_chances import matching, sliced_posteriors
from anon_core.teaching.learn import Step, find_lesson, traced
from anon_core.teaching.learn.count_query import in_groups
from anon_core.teaching.learn.pictures import Bars, Lattice, Links, Table, Tree, branches
from anon_core.teaching.learn.text import attack_said


def steps_of(name: str, example: int = 0) -> tuple[Step, ...]:
    lesson = find_lesson(name)
    return tuple(lesson.steps(traced(lesson, lesson.examples[example])))


def lattice_of(step: Step) -> Lattice:
    return next(p for p in step.pictures if isinstance(p, Lattice))


def test_linking_finds_one_row_for_sue() -> None:
    """K-01: by birth date, sex and ZIP code one row fits her."""
    lesson = find_lesson("linking")
    trace = traced(lesson, lesson.examples[0])
    steps = lesson.steps(trace)
    known = next(step for step in steps if step.title == "Known: Sex, Race, ZIP and DOB")
    (links,) = known.pictures
    assert isinstance(links, Links)
    assert [one.right for one in links.lines if one.left == "person:0"] == ["row:0"]
    assert "Disease is hypertension." in attack_said(trace, known, trace.person)
    first = next(step for step in steps if step.title == "Known: Sex")
    assert "who knows Sex of Sue J. Doe finds 7 rows" in attack_said(trace, first, trace.person)
    forgotten = next(step for step in steps if step.title == "A role forgotten: DOB")
    assert forgotten.question is not None
    alone = [g for g in forgotten.together if forgotten.together.count(g) == 1]
    assert forgotten.question.answer == f"number:{len(alone)}"


def test_incognito_prunes_what_slides_48_and_49_prune() -> None:
    """K-15: the candidates of pairs and of all three."""
    steps = steps_of("incognito")
    joined = {s.title: lattice_of(s) for s in steps if s.title.startswith("Join")}
    kept = {
        title.removeprefix("Join and prune: "): {
            node.label for node in picture.nodes if node.state == "candidate"
        }
        for title, picture in joined.items()
    }
    assert kept == {
        "Race and Marital": {"R0 M1", "R0 M2", "R1 M1", "R1 M2"},
        "Sex and Marital": {"S0 M1", "S0 M2", "S1 M1", "S1 M2"},
        "Race, Sex and Marital": {
            *("R0 S0 M2", "R0 S1 M2", "R1 S0 M1", "R1 S0 M2", "R1 S1 M1", "R1 S1 M2")
        },
    }
    looked = {s.title: lattice_of(s) for s in steps if s.title.startswith("Look")}
    pair = looked["Look at Race and Marital"]
    assert {n.label: n.state for n in pair.nodes if n.state != "pruned"} == {
        "R0 M1": "fails",
        "R0 M2": "holds",
        "R1 M1": "holds",
        "R1 M2": "must hold",
    }
    assert "R0 S0 M2 and R1 S0 M1" in steps[-2].words


def test_k_optimize_prices_sets_as_enumerated() -> None:
    """K-14: what sets cost, and the best of them."""
    steps = steps_of("k-optimize")
    ones = next(step for step in steps if step.title == "A first result: sets of 1")
    (bars,) = ones.pictures
    assert isinstance(bars, Bars)
    assert {bar.label: bar.value for bar in bars.bars} == {
        "{2}": 41,
        "{3}": 53,
        "{5}": 73,
        "{6}": 45,
        "{7}": 73,
    }
    opened = [step for step in steps if step.title.startswith("Open ")]
    trees = [picture for step in opened for picture in step.pictures if isinstance(picture, Tree)]
    assert len(trees) == len(opened) == 14
    labels = [branch.label for branch in branches(trees[-1].root)]
    assert len(set(labels)) == len(labels) == 14  # each set is met once
    (best,) = [branch for branch in branches(trees[-2].root) if branch.state == "chosen"]
    assert (best.label, best.note.split(",")[0]) == ("{2, 6}", "cost 31")
    assert "optimum" in steps[-1].words


def test_suppression_needs_fewer_cells_than_printed() -> None:
    """K-11, K-12, K-13 and K-09: nothing by rows, 18 by columns, 12 and 7 by cells."""
    steps = {step.title.split(":")[0]: step for step in steps_of("suppression")}
    assert steps["TS"].title == "TS: nothing can be published"
    blank = {
        name: step.question.answer
        for name, step in steps.items()
        if step.question and name in ("AS", "CS", "AG_CS")
    }
    assert blank == {"AS": "number:18", "CS": "number:12", "AG_CS": "number:7"}
    assert "14 cells" in steps["CS"].printed
    assert "8 cells" in steps["AG_CS"].printed


def test_one_dimension_at_a_time_loses_more() -> None:
    steps = steps_of("single-dimension")
    assert steps[-1].question is not None
    assert steps[-1].question.answer == "single"
    whole = [step for step in steps if step.title.endswith("stays whole")]
    for step in whole:
        assert step.question is not None
        assert step.question.answer == "none"
    assert len(whole) == 2


def test_hierarchies_go_up_node_by_node() -> None:
    """K-03: the smallest classes on the way to the top."""
    steps = steps_of("hierarchies")
    way = [step for step in steps if step.title.startswith(("The bottom", "One step"))]
    smallest = [min(step.together.count(g) for g in step.together) for step in way]
    assert smallest == [1, 1, 3, 9]
    assert [node.state for node in lattice_of(way[-1]).nodes].count("now") == 1


def test_classes_tell_what_slides_59_to_64_tell() -> None:
    """K-18, K-19, K-21: two classes of one disease, Hellen's of two, and what stops them."""
    steps = {step.title.split(":")[0]: step for step in steps_of("homogeneity")}
    (bars, _) = steps["Homogeneity"].pictures
    assert isinstance(bars, Bars)
    assert {bar.label: bar.value for bar in bars.bars}.items() >= {
        ("Rows 4 and 5", 1.0),
        ("Rows 6 and 7", 1.0),
        ("Rows 8 and 9", 0.5),
    }
    (bars, _) = steps["Background"].pictures
    assert isinstance(bars, Bars)
    assert [bar.value for bar in bars.bars if 7 in bar.people] == [1.0]
    (table, _) = steps["What each of them stops"].pictures
    assert isinstance(table, Table)
    assert [(row.cells[1].text, row.cells[4].text) for row in table.rows] == [
        *(("4", "6"), ("0", "4"), ("0", "0"), ("0", "0"), ("0", "0"))
    ]


def test_links_are_cut_and_chances_stay() -> None:
    """P-08 and P-10: who knows the group guesses as well, whether columns are permuted or not."""
    lesson = find_lesson("anatomy")
    trace = traced(lesson, lesson.examples[0])
    steps = {step.title.split(":")[0]: step for step in lesson.steps(trace)}
    bob = trace.person
    sizes = {name: run.together.count(run.together[bob]) for name, run in trace.runs.items()}
    for title, name in (("Anatomy", "anatomy"), ("Permutation", "permutation")):
        attacked = attack_said(trace, steps[title], bob)
        assert f"one of {sizes[name]} values" in attacked
        assert f"has 1 of {sizes[name]} rows" in attacked
    linked = attack_said(trace, steps["Slicing"], bob)
    assert "one of 4 values" in linked  # men of the group; his age is shuffled apart
    dealt = [step for step in lesson.steps(trace) if step.title.startswith("Dealt")]
    assert len(dealt) == len(trace["anatomy"].events_of("bucket")) == 2
    (bars, table) = dealt[-1].pictures
    assert isinstance(bars, Bars)
    assert [bar.label for bar in bars.bars if bar.tone == "now"]
    assert isinstance(table, Table)
    tones = [row.tone for row in table.rows]
    groups = trace["anatomy"].together
    assert {(tone, g) for tone, g in zip(tones, groups, strict=True) if tone != "plain"} in (
        {("a", 0), ("b", 1)},
        {("a", 1), ("b", 0)},
    )


def test_chances_are_added_up_over_matching_buckets() -> None:
    """T-21: Sara is in one of two buckets, 2 to 1; each of three salaries has a chance of 1/3."""
    lesson = find_lesson("slicing-check")
    trace = traced(lesson, lesson.examples[0])
    steps = {step.title: step for step in lesson.steps(trace)}
    (bars,) = steps["How likely is each bucket?"].pictures
    assert isinstance(bars, Bars)
    assert sorted(bar.text for bar in bars.bars) == ["1/3", "2/3"]
    added = steps["Added up for Sara"].pictures[0]
    assert isinstance(added, Table)
    assert [row.cells[-1].text for row in added.rows] == ["1/3"] * 3
    # Everyone's is what the promise is measured by.
    (bars, _) = steps["The check: everyone"].pictures
    assert isinstance(bars, Bars)
    run = trace["slicing"]
    frequency = run.result.problem.frequency
    index = matching(run.release.view, frequency.run_codes, "Salary")
    found = sliced_posteriors(index, 7, 2, Context()).highest[frequency.run[frequency.row_key]]
    assert [bar.value for bar in bars.bars] == pytest.approx(found.tolist())
    halved = [step for step in steps if step.startswith("A bucket of")]
    assert len(run.events_of("cut")) == len(set(run.together)) - 1
    assert len(halved) <= len(run.events_of("part"))


def test_the_papers_groups_answer_the_papers_query() -> None:
    """P-01 to P-05, E-01: 1 in the table, 3/8 by boxes, 0.9 by Anatomy, 0.855 by permutation."""
    steps = {step.title: step for step in steps_of("anatomy")}
    (rows, groups) = steps["A count query on each of them"].pictures
    assert isinstance(rows, Table)
    assert [(row.label, *(cell.text for cell in row.cells)) for row in rows.rows] == [
        ("The table itself", "", "1"),
        ("Generalization", "0.25 + 0.125", "0.375"),
        ("Anatomy", "0.4 + 0.5", "0.9"),
        ("Permutation", "0.48 + 0.375", "0.855"),
    ]
    assert isinstance(groups, Table)
    assert [row.tone for row in groups.rows] == ["a"] * 5 + ["b"] * 4
    assert "3/4 × 2/4" in steps["A count query on each of them"].printed
    lost = steps["What is lost: NCP"]
    assert "13.5, of 18 at most, so GCP is 0.75" in lost.words
    boxes = lost.pictures[1]
    assert isinstance(boxes, Table)
    assert {row.cells[0].text for row in boxes.rows} == {"[50, 90]", "[10, 50]"}


@pytest.mark.parametrize("name", ["anatomy", "slicing-check"])
def test_what_is_shuffled_is_not_the_same_in_the_whole_group(name: str) -> None:
    """A set of columns that shows one value in each group is cut off from nothing."""
    lesson = find_lesson(name)
    for example in lesson.examples:
        trace = traced(lesson, example)
        for run in trace.runs.values():
            blocks = [b for b in run.release.blocks if not set(b) & set(trace.sensitive)]
            for block in blocks if len(run.release.blocks) > 1 else ():
                shown = {
                    (group, *(trace.texts(column)[row] for column in block))
                    for row, group in enumerate(run.together)
                }
                assert len(shown) > len(set(run.together))


def test_mondrian_is_said_to_lose_less_for_the_reason_it_does() -> None:
    """On Toth's table both form the same classes; on Li's Mondrian forms others."""
    toth, _, li = (steps_of("single-dimension", n)[-1].words for n in range(3))
    assert "0.25, Mondrian 0.19: both form the same classes" in toth
    assert "row 1 says {5370, 5371} of Zip, Mondrian 5370" in toth
    assert "cuts each part by itself" in li


def test_skewness_and_similarity_are_those_of_the_slides() -> None:
    """K-20 and K-21: diabetes from 20 % to 75 %; ulcer and gastritis are one kind."""
    steps = {step.title.split(":")[0]: step for step in steps_of("homogeneity", 1)}
    (bars, _) = steps["Skewness"].pictures
    assert isinstance(bars, Bars)
    assert {bar.label: bar.value for bar in bars.bars}["Rows 1, 2, 3 and 4"] == pytest.approx(0.55)
    (bars, _) = steps["Similarity"].pictures
    assert isinstance(bars, Bars)
    assert [bar.label for bar in bars.bars if bar.value == 1] == ["Rows 5, 6 and 7"]
    lesson = find_lesson("homogeneity")
    texts = traced(lesson, lesson.examples[1]).texts("Disease")
    assert texts.count("diabetes") / len(texts) == 0.2
    assert texts[:4].count("diabetes") / 4 == 0.75


def test_the_distance_by_hand_is_the_one_that_is_measured() -> None:
    for number in range(3):
        steps = {step.title.split(":")[0]: step for step in steps_of("homogeneity", number)}
        (bars, shares) = steps["How far is a class from the table? (EMD)"].pictures
        assert isinstance(bars, Bars)
        assert isinstance(shares, Table)
        half = sum(float(row.cells[2].text) for row in shares.rows) / 2
        assert half == pytest.approx(max(bar.value for bar in bars.bars), abs=2e-3)
        assert any(title.startswith("t-closeness") for title in steps)
        assert not steps["t-closeness"].title.endswith("1 class")


def test_sets_are_listed_as_slide_46_lists_them() -> None:
    """K-14: the tree over 5, 6 and 7, before the search orders indices by their bounds."""
    step = next(s for s in steps_of("k-optimize") if s.title == "A tree that lists every set once")
    (tree,) = step.pictures
    assert isinstance(tree, Tree)
    below = {b.label: [child.label for child in b.below] for b in branches(tree.root) if b.below}
    assert below == {
        "{}": ["{5}", "{6}", "{7}"],
        "{5}": ["{5, 6}", "{5, 7}"],
        "{5, 6}": ["{5, 6, 7}"],
        "{6}": ["{6, 7}"],
    }


def test_the_band_is_at_the_height_that_is_looked_at() -> None:
    for example in (0, 1):
        nodes = [s for s in steps_of("samarati", example) if s.title.startswith("Node ")]
        for step in nodes:
            lattice = lattice_of(step)
            label = step.title.split(" ", 1)[1].rsplit(" ", 1)[0]
            (own,) = [node.height for node in lattice.nodes if node.label == label]
            assert lattice.probe == own


def test_bobs_age_and_sex_meet_in_two_of_five_shuffles() -> None:
    """P-09, E-03: the lemma's 2/25 is the chance of one fixed row; in the group it is 2/5."""
    lesson = find_lesson("anatomy")
    trace = traced(lesson, lesson.examples[0])
    groups = [0] * 5 + [-1] * 4
    blocks = (("Age",), ("Sex",), ("Disease",))
    release = in_groups(trace.problem, groups, blocks)
    known = np.array([[trace.problem.leaf_codes(q)[0] for q in trace.quasi]], dtype=np.int32)
    assert trace.names[0] == "Bob"
    found = fitting_view(release.view, trace.quasi, known)
    assert found.rows[0] == pytest.approx(2 / 5)  # expected rows: 5 · 1/5 · 2/5
    ages, sexes = (trace.texts(q)[:5] for q in trace.quasi)
    together = [("65", "M") in zip(ages, own, strict=True) for own in permutations(sexes)]
    assert Fraction(sum(together), len(together)) == Fraction(2, 5)
    printed = next(s.printed for s in lesson.steps(trace) if s.title.startswith("Permutation"))
    assert "2/5 that they are together in some row, 2/25 being one given row's" in printed


def test_a_tie_stops_strict_cuts_and_is_dealt_by_relaxed_ones() -> None:
    """Of LeFevre's patients one has 53710, three 53711 and two 53712: 4|2 or 1|5, and k = 3."""
    lesson = find_lesson("ties")
    trace = traced(lesson, lesson.examples[0])
    steps = {step.title: step for step in lesson.steps(trace)}
    assert trace["strict"].together == (0,) * 6
    assert set(trace["strict"].published("Zipcode")) == {"[53710, 53712]"}
    assert set(trace["relaxed"].published("Zipcode")) == {"[53710, 53711]", "[53711, 53712]"}
    sides = steps["Strict: equal rows stay together"].pictures[0]
    assert isinstance(sides, Bars)
    assert [(bar.value, bar.tone) for bar in sides.bars] == [
        (4, "good"),
        (2, "bad"),
        (1, "bad"),
        (5, "good"),
    ]
    dealt = steps["Relaxed: equal rows are dealt"]
    assert sorted(dealt.together) == [0, 0, 0, 1, 1, 1]
    assert {dealt.together[row] for row in (0, 2, 5)} == {0, 1}


def test_the_matrix_of_models_is_that_of_slide_33() -> None:
    """K-24: 7 models, two of which have a second name, and two that do not apply."""
    step = next(s for s in steps_of("suppression") if s.title == "Generalize × suppress")
    matrix = step.pictures[0]
    assert isinstance(matrix, Table)
    assert [[cell.text for cell in row.cells] for row in matrix.rows] == [
        ["AG_TS", "AG_AS = AG", "AG_CS", "AG"],
        ["not applicable", "not applicable", "CG_CS = CG", "CG"],
        ["TS", "AS", "CS", "the table itself"],
    ]
    assert step.question is not None
    assert step.question.right.label == "The same as AG"


def test_datafly_leaves_out_the_two_patients_that_sweeney_leaves_out() -> None:
    """Birth dates become years, and the two rows that are still alone are suppressed."""
    lesson = find_lesson("searches")
    trace = traced(lesson, lesson.examples[0])
    run = trace["datafly"]
    assert run.result.account.node == {"Birth": 1, "Gender": 0, "ZIP": 0}
    assert [row for row, group in enumerate(run.together) if group < 0] == [6, 7]
    raised = next(s for s in lesson.steps(trace) if s.title == "Datafly raises Birth")
    assert raised.words.startswith("At B0 G0 Z0, 12 rows would have to be suppressed: too many.")


def test_searches_on_one_lattice_are_said_to_miss_the_best_where_they_do() -> None:
    for place, answer in enumerate(("no", "no", "yes")):
        steps = {step.title: step for step in steps_of("searches", place)}
        asked = steps["Datafly's release"].question
        assert asked is not None
        assert asked.answer == answer
        compared = steps["Four searches compared"]
        costs = compared.pictures[0]
        assert isinstance(costs, Table)
        loss = {row.label: float(row.cells[-1].text) for row in costs.rows}
        levels = {row.label for row in costs.rows if row.cells[0].text != "between nodes"}
        assert min(loss[label] for label in levels) == loss["Best node"]
        assert (loss["Datafly"] > loss["Best node"]) == (answer == "no")
        asked = compared.question
        assert asked is not None
        four = {label: cost for label, cost in loss.items() if label != "Best node"}
        right = {c.label for c in asked.choices if asked.accepts(c.id)}
        assert right == {label for label, cost in four.items() if cost == min(four.values())}
