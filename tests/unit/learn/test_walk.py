"""Every step of every lesson says what an attack finds, and shows it: on its examples and others.

The sentence on the person who is followed is held against three things: the attack of the workbench
on what is read there, the rows that the pictures show, and, where columns are shuffled, a count of
the published texts by plain code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadInput, Infeasible, NotFound
from anon_core.methods.bucketized.slice_chances import matching, sliced_posteriors
from anon_core.pipeline.runner import run as carried_out
from anon_core.release.ground_truth import Truth, truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.teaching.learn import Example, Lesson, Step, Trace, all_lessons, traced
from anon_core.teaching.learn.example import Material, own_example
from anon_core.teaching.learn.lesson_run import attacked, moved, settings_of, shuffles
from anon_core.teaching.learn.pictures import Links, Picture, Plane, Row, Table
from anon_core.teaching.learn.public_people import public_people, public_table
from anon_core.teaching.learn.readings import Seen
from anon_core.teaching.learn.text import attack_said
from anon_core.teaching.learn.trace import Run
from anon_core.techniques.attacks.linking import Linking
from anon_core.techniques.attacks.membership import Membership
from anon_core.techniques.models.slicing_l_diversity import SlicingLDiversity
from tests.making import random_case
from tests.often import EVERY, times

pytestmark = pytest.mark.often

LESSONS = {lesson.name: lesson for lesson in all_lessons()}
#: Own tables that every lesson is read on, and how many may be drawn to find as many.
TABLES = times(20, share=20)
DRAWN = 12 * times(20, share=8)
#: Lessons in which no row is published as a whole.
SHUFFLED = ("anatomy", "slicing-check", "presence", "mpalm", "queries", "dealing", "changes")
FITS = re.compile(r"finds (no|\d+) rows?(?: \(([^)]*)\))?")


def own_table(seed: int) -> Example:
    """Draw a table of 6 to 14 rows with two or three quasi-identifiers."""
    rng = np.random.default_rng([2008, seed])
    rows, quasi = int(rng.integers(6, 15)), int(rng.integers(2, 4))
    case = random_case(rng, rows=rows, quasi=quasi, missing=seed % 3 == 0)
    if seed % 2:  # values that no one of four fills half of, so that more promises can be kept
        case = replace(case, columns={**case.columns, "s0": list(rng.choice([*"uvwxyz"], rows))})
    material = Material(
        dataset=case.dataset,
        roles=case.roles,
        types=case.kinds,
        levels={name: [list(row) for row in rows] for name, rows in case.levels.items()},
    )
    return own_example(material, f"Table {seed}")


@cache
def read_on_own_tables(name: str) -> tuple[tuple[Trace, tuple[Step, ...]], ...]:
    """Return a lesson on random tables, those left out that it refuses or that cannot be kept."""
    found: list[tuple[Trace, tuple[Step, ...]]] = []
    for seed in range(DRAWN):
        if len(found) == TABLES:
            break
        try:
            trace = traced(LESSONS[name], own_table(seed))
        except (BadInput, Infeasible, NotFound):
            continue
        found.append((trace, tuple(LESSONS[name].steps(trace))))
    return tuple(found)


@cache
def read_on_examples(name: str) -> tuple[tuple[Trace, tuple[Step, ...]], ...]:
    lesson = LESSONS[name]
    traces = [traced(lesson, example) for example in lesson.examples]
    for number, example in enumerate(lesson.examples):
        places = settings_of(lesson, example)
        if not EVERY:  # one place of the slider in three, another one for each example
            places = places[number % 3 :: 3]
        turned = [moved(lesson, example, place) for place in places]
        turned += [moved(lesson, example, None, 1)] * shuffles(lesson, example)
        for one in turned:
            with suppress(BadInput, Infeasible, NotFound):
                traces.append(traced(lesson, one))
    return tuple((trace, tuple(lesson.steps(trace))) for trace in traces)


def walked(name: str) -> Iterator[tuple[Trace, Step]]:
    for trace, steps in (*read_on_examples(name), *read_on_own_tables(name)):
        for step in steps:
            yield trace, step


every = pytest.mark.parametrize("name", LESSONS)
#: The sentence on a person, by what is walked: that is kept for as long as this module.
_SAID: dict[tuple[int, int, int], str] = {}


def said(trace: Trace, step: Step, person: int) -> str:
    """Return the sentence on a person; several tests read it."""
    key = (id(trace), id(step), person)
    if key not in _SAID:
        _SAID[key] = attack_said(trace, step, person)
    return _SAID[key]


def people(trace: Trace, step: Step) -> range:
    """Return who is looked at: at every change one person of four, from step to step others."""
    apart = 1 if EVERY else 4
    return range(len(step.words) % apart, trace.rows, apart)


@every
def test_enough_tables_are_walked(name: str) -> None:
    assert len(read_on_own_tables(name)) == TABLES


@every
def test_a_sentence_is_said_of_everyone_or_of_no_one(name: str) -> None:
    count = 0
    for trace, step in walked(name):
        sentences = {person: said(trace, step, person) for person in people(trace, step)}
        assert all(sentences.values()) or not any(sentences.values())
        for person, sentence in sentences.items():
            if sentence:
                assert trace.names[person] in sentence
                count += 1
    assert count


# ---- rows that fit ---------------------------------------------------------------------------


def rows_said(sentence: str) -> tuple[int, ...]:
    """Return the rows that a sentence names."""
    found = FITS.search(sentence)
    assert found is not None
    rows = tuple(int(text) - 1 for text in re.findall(r"\d+", found[2] or ""))
    assert len(rows) == (0 if found[1] == "no" else int(found[1]))
    return rows


@every
def test_the_attack_picks_the_right_row_as_often_as_is_said(name: str) -> None:
    """Linking with a register, which joins people to the release by code of its own."""
    tried = set[tuple[int, tuple[str, ...], int]]()
    for trace, step in walked(name):
        seen = step.seen
        if seen is None or step.found or set(seen.known) - set(seen.problem.quasi):
            continue
        truth = (
            truth_of(seen.problem, seen.release) if seen.release else Truth(_problem=seen.problem)
        )
        for person in people(trace, step)[:: 1 if EVERY else 2]:
            same = (id(seen), seen.known, person)  # what several steps show is attacked once
            if not EVERY and same in tried:
                continue
            tried.add(same)
            attack = Linking(columns=seen.known, row=person + 1)
            (found,) = attack.run(seen.view, audience_of(seen.problem), truth, Context())
            sentence = said(trace, step, person)
            rows = rows_said(sentence)
            if seen.rows[person] < 0:
                assert "is suppressed" in sentence
                assert person not in rows
                continue
            assert person in rows
            assert found.worst == pytest.approx(1 / len(rows))
            often = re.search(r"the right one (for certain|1 time in (\d+))", sentence)
            assert often is not None
            assert int(often[2] or 1) == len(rows)


def tables_of(pictures: Sequence[Picture]) -> list[Table]:
    both = [(p.left, p.right) if isinstance(p, Links) else (p,) for p in pictures]
    return [table for pair in both for table in pair if isinstance(table, Table)]


def shows_what_is_read(table: Table, step: Step, trace: Trace) -> bool:
    """Say whether a table is what somebody reads at a step, row by row."""
    assert step.seen is not None
    names = {head.name for head in table.columns}
    if not set(step.seen.known) <= names or not all(r.id.startswith("row:") for r in table.rows):
        return False
    if not step.seen.published:
        return table.title.startswith("The table at")
    return bool(table.release) and trace[table.release].release is step.seen.release


@every
def test_the_rows_of_the_picture_that_fit_are_those_that_are_named(name: str) -> None:
    compared = 0
    for trace, step in walked(name):
        seen = step.seen
        if seen is None or step.found:
            continue
        for table in tables_of(step.pictures):
            if not shows_what_is_read(table, step, trace):
                continue
            for person in people(trace, step):
                fit = [row for row in table.rows if fits(seen, table, row, person)]
                sentence = said(trace, step, person)
                assert sorted(int(row.id[4:]) for row in fit) == sorted(rows_said(sentence))
                if seen.rows[person] >= 0:
                    assert_values(trace, seen, sentence, [int(row.id[4:]) for row in fit])
                compared += 1
    assert compared or name in SHUFFLED


def fits(seen: Seen, table: Table, row: Row, person: int) -> bool:
    """Say whether a row of a picture covers what is known of a person, by its texts."""
    shown = dict(zip((h.name for h in table.columns), (c.text for c in row.cells), strict=True))
    if "suppressed" in shown.values():
        return False
    for name in seen.known:
        pool = seen.view.vocabularies[name]
        at = pool.texts.index(shown[name])
        own = seen.problem.leaf_codes(name)[person]
        if not pool.lo[at] <= own <= pool.hi[at]:
            return False
    return True


def assert_values(trace: Trace, seen: Seen, sentence: str, rows: Sequence[int]) -> None:
    """Hold what is said of sensitive columns against what the rows have."""
    for column in seen.secret:
        texts = Counter(trace.texts(column)[row] for row in rows)
        if len(texts) > 1:
            message = re.search(
                rf"{column} is one of (\d+) values; (.+?) has (\d+) of (\d+)", sentence
            )
            assert message is not None
            assert int(message[1]) == len(texts)
            assert texts[message[2]] == int(message[3]) == max(texts.values())
            assert int(message[4]) == texts.total()
        else:
            known = " in all of them" if len(rows) > 1 else "."
            assert f"{column} is {next(iter(texts))}{known}" in sentence


@every
def test_lines_go_to_the_rows_that_are_named(name: str) -> None:
    compared = 0
    for trace, step in walked(name):
        if step.seen is None or step.found:
            continue
        for picture in step.pictures:
            if not isinstance(picture, Links) or not picture.lines:
                continue
            for person in people(trace, step):
                drawn = [int(line.right[4:]) for line in picture.lines if person in line.people]
                assert tuple(sorted(drawn)) == rows_said(said(trace, step, person))
                compared += 1
    assert bool(compared) == (name in ("linking", "consistency"))


@every
def test_the_boxes_that_hold_a_person_hold_the_rows_that_are_named(name: str) -> None:
    """In the plane of both quasi-identifiers, where neither is published by its hierarchy."""
    compared = 0
    for trace, step in walked(name):
        if step.seen is None or step.found or len(step.seen.known) != 2:
            continue
        kinds = {trace.problem.dataset.column(q).kind for q in step.seen.known}
        for plane in (p for p in step.pictures if isinstance(p, Plane)):
            if not plane.boxes or "text" in kinds or any(h.has_missing for h in trees(step.seen)):
                continue
            for point in plane.points:
                (person,) = point.people
                holds = [
                    box.people
                    for box in plane.boxes
                    if box.x[0] < point.x < box.x[1] and box.y[0] < point.y < box.y[1]
                ]
                rows = sorted(row for people in holds for row in people)
                assert tuple(rows) == rows_said(said(trace, step, person))
                compared += 1
    assert bool(compared) == (name in ("mondrian", "single-dimension", "ties"))


def trees(seen: Seen) -> list:  # type: ignore[type-arg]
    return [seen.problem.hierarchies[name] for name in seen.known]


# ---- columns that are shuffled ---------------------------------------------------------------


#: The published tables of a run, by the run: what is walked is kept for as long as this module.
_TEXTS: dict[int, list[tuple[tuple[str, ...], list[tuple[str, ...]]]]] = {}


def published_texts(run: Run) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    if id(run) not in _TEXTS:
        frames = [table.to_pandas().astype(str) for table in run.result.tables.values()]
        _TEXTS[id(run)] = [
            (tuple(f.columns), list(f.itertuples(index=False, name=None))) for f in frames
        ]
    return _TEXTS[id(run)]


def expected_by_texts(trace: Trace, run: Run, person: int) -> tuple[set[str], dict[str, float]]:
    """Return the groups that show all values of a person, and rows expected of each secret.

    Of a group's N rows m of a block fit: N · Π m / N of them in all, put together by chance.
    """
    column, tables = trace.sensitive[0], published_texts(run)
    number = tables[0][0][0]
    groups: dict[str, dict[tuple[str, ...], Counter[tuple[str, ...]]]] = {}
    for columns, rows in tables:
        for block in run.release.blocks:
            names = tuple(name for name in block if name in columns)
            for row in rows if names else ():
                line = dict(zip(columns, row, strict=True))
                of = groups.setdefault(line[number], {}).setdefault(names, Counter())
                of[tuple(line[name] for name in names)] += 1
    fitting, shown = set[str](), dict[str, float]()
    for group, blocks in groups.items():
        size = next(iter(blocks.values())).total()
        shares, secret = list[float](), Counter[str]()
        for names, counted in blocks.items():
            known = [
                (texts, n)
                for texts, n in counted.items()
                if all(
                    trace.texts(name)[person] == text
                    for name, text in zip(names, texts, strict=True)
                    if name in trace.quasi
                )
            ]
            if column in names:
                for texts, n in known:
                    secret[texts[names.index(column)]] += n
            else:
                shares.append(sum(n for _, n in known) / size)
        if all(shares) and secret:
            fitting.add(group)
            for text, n in secret.items():
                shown[text] = shown.get(text, 0.0) + n * prod(shares)
    return fitting, shown


def test_groups_and_chances_of_shuffled_columns_are_those_of_the_texts() -> None:
    checked = 0
    for trace, step in (*walked("anatomy"), *walked("queries"), *walked("dealing")):
        own = [r for r in trace.runs.values() if step.together in ((), r.together)]
        run = next((r for r in own if step.found and step.title in _of(r)), None)
        if run is None:
            continue
        truth = truth_of(run.result.problem, run.release)
        for person, sentence in enumerate(step.found):
            groups, shown = expected_by_texts(trace, run, person)
            message = re.search(
                r"finds (one|\d+) groups? that can hold them: ([\d, and]+?), of (\d+)", sentence
            )
            assert message is not None
            assert set(re.findall(r"\d+", message[2])) == groups
            (found,) = Linking(row=person + 1).run(
                run.release.view, audience_of(run.result.problem), truth, Context()
            )
            rows = int(message[3])
            if run.release.view.whole_quasi() is not None:  # whose row it is can be read
                rows = sum(
                    all(
                        dict(zip(columns, row, strict=True)).get(q) == trace.texts(q)[person]
                        for q in trace.quasi
                    )
                    for columns, table in published_texts(run)
                    for row in table
                )
            assert found.worst == pytest.approx(1 / rows)
            total = sum(shown.values())
            chance = re.search(r"(\S+) has a chance of ([\d.]+)%", sentence)
            if chance is not None:
                assert float(chance[2]) / 100 == pytest.approx(
                    max(shown.values()) / total, abs=6e-3
                )
                assert shown[chance[1]] == pytest.approx(max(shown.values()))
                assert f"one of {len(shown)} values; {chance[1]} has a" in sentence
            else:
                assert f"{trace.sensitive[0]} is {next(iter(shown))}." in sentence
                assert len(shown) == 1
            checked += 1
        result = attacked(run, "attribute-inference")
        assert result is not None
        assert known_by_group(step.found) == pytest.approx(result.succeeded)
    assert checked


def _of(run: Run) -> tuple[str, ...]:
    name = run.result.plan.algorithm.name
    return {
        "anatomy": ("Anatomy: two tables",),
        "permutation": (
            "Permutation: every column by itself",
            "What the workbench publishes",
        ),
        "slicing": ("Slicing: sets of columns", "Which link each of them cuts"),
    }[name]


def known_by_group(found: Sequence[str]) -> float:
    """Return the people of whom a guess is right, by who knows everyone's group."""
    right = 0.0
    for sentence in found:
        _, _, own = sentence.partition("With the group known, ")
        answer = re.search(r"has (\d+) of (\d+) rows", own)
        right += int(answer[1]) / int(answer[2]) if answer else 1.0
    return right


def test_the_chance_of_a_sliced_value_is_what_the_promise_is_measured_by() -> None:
    for trace, step in walked("slicing-check"):
        if not step.found:
            continue
        run, column = trace["slicing"], trace.sensitive[0]
        frequency = run.result.problem.frequency
        index = matching(run.release.view, frequency.run_codes, column)
        values = len(run.release.view.vocabularies[column].texts)
        (model,) = run.result.plan.models
        assert isinstance(model, SlicingLDiversity)
        highest = sliced_posteriors(index, values, model.l, Context()).highest
        for person, sentence in enumerate(step.found):
            message = re.search(r"has a chance of (\d+(?:/\d+)?)\.$", sentence)
            assert message is not None
            own = highest[frequency.run[frequency.row_key[person]]]
            assert float(Fraction(message[1])) == pytest.approx(own)


@pytest.mark.parametrize("name", ["presence", "mpalm"])
def test_who_is_certainly_in_the_table_is_who_the_attack_proves_to_be(name: str) -> None:
    lesson, certain = LESSONS[name], 0
    of_run: dict[int, list[bool]] = {}  # several steps show one run
    for trace, step in walked(name):
        if not step.found or step.found[0].startswith("If"):
            continue
        found = [re.search(r"in the table (for certain|with .*)\.$", s) for s in step.found]
        runs = [run for run in trace.runs.values() if run.together == step.together]
        assert runs
        matching = [one is not None and one[1] == "for certain" for one in found]
        for run in runs:
            if id(run) not in of_run:
                of_run[id(run)] = proven(lesson, trace, run)
        assert matching in [of_run[id(run)] for run in runs]
        certain += sum(matching)
    assert certain or name == "mpalm"


def proven(lesson: Lesson, trace: Trace, run: Run) -> list[bool]:
    """Say of everyone in the table whether the membership attack proves it."""
    named = {*run.result.problem.quasi, *run.result.problem.sensitive}
    again = carried_out(
        run.result.plan,
        trace.material.dataset,
        {n: rows for n, rows in trace.material.levels.items() if n in named},
        population=public_table(trace.material),
        assess=False,
    )
    problem = again.problem
    truth = truth_of(problem, again.release)
    (found,) = Membership().run(again.release.view, audience_of(problem), truth, Context())
    assert found.hits is not None
    assert found.undecided == 0
    _, public = public_people(trace)
    certain = {public[row] for row in found.hits.row[found.hits.proven].tolist()}
    everyone = zip(*(trace.texts(q) for q in trace.quasi), strict=True)
    return [values in certain for values in everyone]


def test_two_releases_leave_what_the_attack_counts() -> None:
    for _, step in walked("afterwards"):
        if not step.title.startswith("Composition"):
            continue
        certain = sum(" is one of " not in sentence for sentence in step.found)
        question = step.question
        assert question is not None  # whose answer is what the attack counts
        assert question.answer == f"number:{certain}"
