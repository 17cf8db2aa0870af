"""Every lesson is a story of its own run: what it draws, asks and ends with is the run's."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from anon_core.base.errors import BadInput
from anon_core.teaching.learn import (
    Example,
    Lesson,
    Question,
    Step,
    Trace,
    all_lessons,
    find_lesson,
    traced,
)
from anon_core.teaching.learn.drawing import View, draw, mentioned, numbered
from anon_core.teaching.learn.example import FOLDER_VARIABLE, Material, own_example
from anon_core.teaching.learn.handout import handout, zoom_to_fit
from anon_core.teaching.learn.lesson import examples_of
from anon_core.teaching.learn.lesson_run import (
    moved,
    plan_of,
    quiet_run,
    setting_of,
    settings_of,
)
from anon_core.teaching.learn.pictures import Bar, Bars, Head, Links, Row, Table, ids
from anon_core.teaching.learn.public_people import public_people
from anon_core.teaching.learn.text import attack_said, number_question
from anon_core.teaching.learn.trace import Run
from tests.making import Case, random_case
from tests.often import EVERY

#: Lessons whose words may name nothing that is drawn.
NO_PART_NAMED = ("consistency", "hide-all", "t-closeness")
NUMBERS = ["11", "12", "14", "20", "21", "25", "33", "34", "36", "41", "42", "49"]
LETTERS = ["a", "b", "b", "c", "a", "d", "c", "b", "d", "a", "a", "c"]
OWN = Case(
    columns={"who": list("ABCDEFGHIJKL"), "n": NUMBERS, "q": LETTERS, "s": list("xyxyxyzzxxyz")},
    quasi=("n", "q"),
    sensitive=("s",),
    identifier=("who",),
    kinds={"n": "number", "q": "ordered"},
    levels={
        "n": [(n, f"{n[0]}0-{n[0]}9", "*") for n in NUMBERS],
        "q": [(q, "ab" if q in "ab" else "cd", "*") for q in "abcd"],
    },
)


def own() -> Example:
    material = Material(
        dataset=OWN.dataset,
        roles=OWN.roles,
        types=OWN.kinds,
        levels={name: [list(row) for row in rows] for name, rows in OWN.levels.items()},
    )
    return own_example(material, "Twelve people")


def lesson_of_contributing() -> Lesson:
    """Return the lesson that CONTRIBUTING shows in full."""
    file = Path(__file__).parents[3] / "docs" / "examples" / "hide_all_lesson.py"
    return cast(Lesson, runpy.run_path(str(file))["HideAllLesson"]())


LESSONS = (*all_lessons(), lesson_of_contributing())
PAIRS = [
    *((lesson, example) for lesson in LESSONS for example in lesson.examples),
    *((lesson, own()) for lesson in LESSONS),
]
NAMED = [f"{lesson.name}-{example.name}" for lesson, example in PAIRS]
every = pytest.mark.parametrize("pair", PAIRS, ids=NAMED)


@cache
def traced_steps(pair: tuple[Lesson, Example]) -> tuple[Trace, tuple[Step, ...]]:
    lesson, example = pair
    trace = traced(lesson, example)
    return trace, tuple(lesson.steps(trace))


def shown(table: Table) -> Counter[tuple[str, ...]]:
    """Return the rows of a table as texts, those that are suppressed left out."""
    rows = [tuple(cell.text for cell in row.cells) for row in table.rows]
    return Counter(row for row in rows if "suppressed" not in row)


def published(run: Run, columns: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    """Return the rows of the table that a run publishes these columns in."""
    frames = [table.to_pandas().astype(str) for table in run.result.tables.values()]
    (frame,) = (frame for frame in frames if set(columns) <= set(frame.columns))
    return Counter(frame[list(columns)].itertuples(index=False, name=None))


@pytest.mark.often
@every
def test_the_last_step_shows_the_release_that_a_run_gives(pair: tuple[Lesson, Example]) -> None:
    lesson, example = pair
    trace, steps = traced_steps(pair)
    both = [(p.left, p.right) if isinstance(p, Links) else (p,) for p in steps[-1].pictures]
    releases = [p for pair in both for p in pair if isinstance(p, Table) and p.release]
    assert releases
    for name in {table.release for table in releases}:  # a release of two tables is shown whole
        assert sum(table.release == name for table in releases) == len(trace[name].result.tables)
    for table in releases:
        heard = not EVERY and PAIRS.index(pair) % 2  # then it is run as it was traced
        alone = trace[table.release] if heard else quiet_run(lesson, example, table.release)
        assert alone.together == trace[table.release].together
        names = tuple(head.name for head in table.columns)
        assert shown(table) == published(alone, names)


@every
def test_every_step_can_be_drawn_and_every_answer_given(pair: tuple[Lesson, Example]) -> None:
    trace, steps = traced_steps(pair)
    asked = [step.question for step in steps if step.question]
    asked += [exercise.question for exercise in pair[0].exercises(trace)]
    assert asked
    for question in asked:
        offered = [choice.id for choice in question.choices]
        assert question.answer in offered
        assert len(set(offered)) == len(offered) > 1
        assert question.why
    for number, step in enumerate(steps):
        assert step.title
        assert step.words
        assert step.pictures
        assert len(step.together) in (0, trace.rows)
        before = step.question.pictures if step.question else ()
        for picture in (*step.pictures, *before):
            drawn = draw(picture, View(chosen=trace.person, picks=ids(picture)))
            assert drawn.count("<figure") == drawn.count("</figure>") == 1
        if step.question and not before:
            assert number
    assert any(attack_said(trace, step, trace.person) for step in steps)


@pytest.mark.often
@every
def test_the_person_who_is_followed_is_marked(pair: tuple[Lesson, Example]) -> None:
    trace, steps = traced_steps(pair)
    ends = (0, trace.rows - 1)
    for person in ends if EVERY else ends[:: 1 if len(steps) % 2 else -1][:1]:
        drawn = [draw(p, View(chosen=person)) for step in steps for p in step.pictures]
        assert sum(bool(re.search(r'class="[^"]*\bchosen\b', one)) for one in drawn) > 1


def test_words_point_to_parts_that_are_drawn_and_say_what_they_said() -> None:
    for pair in PAIRS:
        trace, steps = traced_steps(pair)
        pointing = 0
        for step in steps:
            words = mentioned(step.words, step.pictures, trace.names)
            assert unescape(re.sub(r"</?span[^>]*>", "", words)) == step.words
            texts = re.findall(r'points="([^"]*)"', words)
            named = [json.loads(unescape(found)) for found in texts]
            drawn = frozenset[str]().union(*(ids(picture) for picture in step.pictures))
            assert all(set(one) <= drawn for one in named)
            pointing += len(named)
        assert pointing or pair[0].name in NO_PART_NAMED


def test_rows_are_pointed_to_one_by_one_unless_a_part_is_called_so() -> None:
    heads = (Head(name="Age", role="quasi"), Head(name="rows"))
    rows = [Row(id=f"row:{n}", cells=(), label=str(n + 1), people=(n,)) for n in range(3)]
    table = Table(title="", columns=heads, rows=tuple(rows))
    bar = Bar(id="part:0", label="Rows 1 and 2", value=1, text="1", people=(0, 1))
    bars = Bars(title="", bars=(bar,), unit="rows")
    said = "Rows 1 and 2, not rows 2, 3 and 9: Age of Ada <b>, 3 rows."
    words = mentioned(said, [table, bars], ("Ada", "Bob", "Cem"))
    found = re.findall(r'<span data-points="([^"]*)">([^<]*)<', words)
    assert [(text, json.loads(unescape(points))) for points, text in found] == [
        ("Rows 1 and 2", ["part:0"]),
        ("2", ["row:1", "part:0"]),
        ("3", ["row:2"]),
        ("Age", ["column:Age"]),
        ("Ada", ["row:0", "part:0"]),
    ]
    assert "<b>" not in words


def test_a_step_carries_out_lines_that_its_algorithm_has() -> None:
    every_step = (step for pair in PAIRS for step in traced_steps(pair)[1])
    for code in (step.code for step in every_step if step.code is not None):
        assert set(code.now) <= set(range(1, len(code.lines) + 1))
        assert numbered(code).count('aria-current="step"') == len(code.now) > 0


def test_every_line_of_an_algorithm_is_carried_out_in_some_step() -> None:
    met: dict[tuple[str, ...], set[int]] = {}
    for code in (
        step.code for pair in PAIRS for step in traced_steps(pair)[1] if step.code is not None
    ):
        met.setdefault(code.lines, set()).update(code.now)
    assert len(met) > 10
    for lines, now in met.items():
        assert now == set(range(1, len(lines) + 1)), lines


def test_mondrian_cuts_where_the_run_did() -> None:
    lesson = find_lesson("mondrian")
    trace, steps = traced_steps((lesson, lesson.examples[0]))
    cuts = [step for step in steps if step.title.startswith("Cut along")]
    assert len(cuts) == sum(len(run.events_of("cut")) for run in trace.runs.values())
    before = {step.title: step for step in steps}
    assert "Corrected" in before["The strict release"].printed
    for one, two in pairwise(steps):
        if two in cuts:
            question = one.question
            assert question is not None
            column = question.answer.removeprefix("column:")
            assert two.title == f"Cut along {column}"
            sides = {g for g in two.together if two.together.count(g) != one.together.count(g)}
            texts = [
                {trace.texts(column)[r] for r, g in enumerate(two.together) if g == s}
                for s in sides
            ]
            assert max(texts[0]) <= min(texts[1]) or max(texts[1]) <= min(texts[0])


def test_parts_that_publish_the_same_are_one_class() -> None:
    """Relaxed cuts deal equal rows to parts that then publish the same."""
    case = random_case(np.random.default_rng([5, 0]), rows=20, quasi=2)
    material = Material(dataset=case.dataset, roles=case.roles, types=case.kinds)
    lesson = find_lesson("mondrian")
    trace = traced(lesson, own_example(material, "Twenty"))
    steps = lesson.steps(trace)
    assert len(trace["relaxed"].events_of("cut")) + 1 > len(set(trace["relaxed"].together))
    for step in steps:
        assert all(step.together.count(group) >= 2 for group in step.together)


@pytest.mark.parametrize("example", [0, 1])
def test_samarati_counts_at_every_node_what_the_search_counted(example: int) -> None:
    lesson = find_lesson("samarati")
    trace, steps = traced_steps((lesson, lesson.examples[example]))
    nodes = [step for step in steps if step.title.startswith("Node ")]
    facts = [event.facts for event in trace["search"].events_of("node")]
    assert len(nodes) == len(facts)
    for step, fact in zip(nodes, facts, strict=True):
        assert step.together.count(-1) == fact["removed"]
        assert step.title.endswith("holds" if fact["holds"] else "fails")


def test_samarati_shows_the_matrix_of_slide_44() -> None:
    lesson = find_lesson("samarati")
    _, steps = traced_steps((lesson, lesson.examples[0]))
    (matrix,) = next(step for step in steps if step.title == "Distance vectors").pictures
    assert isinstance(matrix, Table)
    assert [head.name for head in matrix.columns] == ["1", "2", "3=4=5", "6", "7", "8", "9"]
    assert [row.label for row in matrix.rows] == ["1", "2", "6", "7", "8", "9"]
    assert [cell.text for cell in matrix.rows[2].cells] == [
        *("[1,2]", "[1,2]", "[1,1]", "[0,0]", "[0,1]", "[1,1]", "[1,2]")
    ]


def test_a_table_with_markup_in_it_is_shown_letter_by_letter() -> None:
    evil = "<script>x</script>"
    case = Case(
        columns={"q": [evil, evil, "b", "b"], "r": list("1122")},
        quasi=("q", "r"),
        kinds={"q": "ordered", "r": "number"},
    )
    material = Material(dataset=case.dataset, roles=case.roles, types=case.kinds)
    lesson = find_lesson("mondrian")
    made = handout(lesson, traced(lesson, own_example(material, evil)), 0)
    assert "<script" not in made
    assert "&lt;script&gt;x" in made


def test_a_handout_asks_for_nothing_from_elsewhere() -> None:
    lesson = all_lessons()[0]
    trace, steps = traced_steps((lesson, lesson.examples[0]))
    for sheet in (False, True):
        made = handout(lesson, trace, trace.person, sheet=sheet)
        assert made.count('<section id="step-') == len(steps)
        assert not re.findall(r"""(?:src|href)=["'](?!#)|url\(|<script|@import""", made)


def test_on_a_sheet_pictures_are_as_small_as_it_takes() -> None:
    lesson = all_lessons()[0]
    trace, steps = traced_steps((lesson, lesson.examples[0]))
    made = handout(lesson, trace, trace.person, sheet=True)
    zooms = [float(found) for found in re.findall(r'style="zoom: ([\d.]+)"', made)]
    assert len(zooms) == len(steps)
    pictures = steps[-1].pictures
    drawn = [draw(picture, View(chosen=0)) for picture in pictures]
    alone = zoom_to_fit(pictures, drawn, "", ())
    assert alone > zoom_to_fit(pictures * 4, drawn * 4, "", ())
    assert alone > zoom_to_fit(pictures, drawn, "", ("word " * 250,)) > 0.2


def test_a_lecturers_folder_adds_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "my-class"
    place.mkdir()
    (place / "table.csv").write_text("Age,Sex,Grade\n20,F,1\n21,F,2\n30,M,2\n31,M,3\n")
    (place / "recipe.toml").write_text(
        "version = 2\n[types]\nSex = 'ordered'\n[roles]\nquasi = ['Age', 'Sex']\n"
        "sensitive = ['Grade']\n[algorithm]\nname = 'mondrian'\n"
        "[[models]]\nname = 'k-anonymity'\nk = 2\n"
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    lesson = find_lesson("mondrian")
    added = examples_of(lesson)[-1]
    assert added.title == "My class"
    trace = traced(lesson, added)
    assert trace["strict"].together == (0, 0, 1, 1)
    assert added not in examples_of(find_lesson("samarati"))
    (place / "table.csv").write_text("")
    with pytest.raises(BadInput, match="my-class"):
        examples_of(lesson)


def test_every_lesson_has_a_slider() -> None:
    assert not [lesson.name for lesson in all_lessons() if lesson.dial is None]


@pytest.mark.often
def test_a_dial_sets_what_is_run_and_a_shuffle_draws_again() -> None:
    for lesson in all_lessons():
        for example in lesson.examples:
            own, places = setting_of(lesson, example), settings_of(lesson, example)
            assert (own in places) == (own is not None)
            assert moved(lesson, example, own).as_given
            for place in places if EVERY else places[:: max(1, len(places) - 1)]:  # the two ends
                turned = moved(lesson, example, place)
                plans = {name: plan_of(lesson, turned, name).as_mapping() for name in lesson.runs}
                assert lesson.dial is not None
                at = {name: lesson.dial.at(name, plan) for name, plan in plans.items()}
                texts = {value for value in at.values() if value is not None}
                assert (texts or {turned.setting or lesson.dial.begins}) == {place}
            with pytest.raises(BadInput, match="cannot be read with 99"):
                moved(lesson, example, 99)
    lesson = find_lesson("anatomy")
    again = [moved(lesson, lesson.examples[0], None, n) for n in range(4)]
    shown = {str(lesson.steps(traced(lesson, one))[-1].pictures) for one in again}
    assert len(shown) > 1
    assert str(lesson.steps(traced(lesson, again[1]))[-1].pictures) in shown


def test_what_a_source_prints_is_said_of_its_own_settings_only() -> None:
    lesson = find_lesson("homogeneity")
    for example in lesson.examples[:2]:
        for place in settings_of(lesson, example):
            turned = moved(lesson, example, place)
            said = [s.words + s.printed for s in lesson.steps(traced(lesson, turned))]
            assert turned.as_given == any("lide" in one for one in said)


def test_what_cannot_be_read_is_refused_with_a_remedy() -> None:
    with pytest.raises(BadInput, match="no lesson 'mondrain'") as found:
        find_lesson("mondrain")
    assert "mondrian" in found.value.remedy
    many = Case(columns={"q": [str(n) for n in range(31)]}, quasi=("q",), kinds={"q": "number"})
    with pytest.raises(BadInput, match="at most 30"):
        own_example(Material(dataset=many.dataset, roles=many.roles), "Many")
    deep = Case(
        columns={f"q{d}": ["a", "b", "c", "d"] for d in range(6)},
        quasi=tuple(f"q{d}" for d in range(6)),
    )
    material = Material(dataset=deep.dataset, roles=deep.roles)
    with pytest.raises(BadInput, match="64 nodes"):
        traced(find_lesson("samarati"), own_example(material, "Deep"))


def test_a_lesson_waits_for_no_compiler(tmp_path: Path) -> None:
    """Loops that the disk does not keep are interpreted: the first step is there in seconds."""
    code = (
        "from anon_core.teaching.learn import find_lesson, read\n"
        "lesson = find_lesson('slicing-check')\n"
        "trace, steps = read(lesson, lesson.examples[0])\n"
        "print(len(steps))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(output.stdout) > 10
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix == ".nbc"]


# ---- questions give nothing away: any answer could be right, at any place ---------------------


def asked() -> Iterator[tuple[str, Trace, Question]]:
    """Yield every question of every lesson on each of its examples."""
    for lesson in all_lessons():
        for example in lesson.examples:
            trace, steps = traced_steps((lesson, example))
            yield from ((lesson.name, trace, step.question) for step in steps if step.question)
            yield from ((lesson.name, trace, own.question) for own in lesson.exercises(trace))


def numbers_of(question: Question) -> list[int]:
    return [int(c.id.removeprefix("number:")) for c in question.choices if "number:" in c.id]


def test_the_right_number_is_at_every_place_about_as_often() -> None:
    """Of questions with five numbers no place has more than a third, none less than a tenth."""
    places: Counter[int] = Counter()
    for _, _, question in asked():
        numbers = numbers_of(question)
        if len(numbers) == 5:
            assert numbers == sorted(numbers)
            places[numbers.index(int(question.answer.removeprefix("number:")))] += 1
    assert places.total() > 50
    assert set(places) == {0, 1, 2, 3, 4}
    assert max(places.values()) <= places.total() / 3
    assert min(places.values()) >= places.total() / 10


def test_every_number_that_is_offered_is_possible() -> None:
    """By what is counted: people and rows of the table, public people, nodes or cells."""
    bounded = 0
    for lesson, trace, question in asked():
        numbers = numbers_of(question)
        if not numbers:
            continue
        assert min(numbers) >= 0
        most = most_possible(lesson, trace, question.asks)
        if most is not None:
            assert max(numbers) <= most, question.asks
            bounded += 1
    assert bounded > 60


def most_possible(lesson: str, trace: Trace, asks: str) -> int | None:
    """Return the most there can be of what a question counts, read from its words."""
    if asks.startswith("A "):  # about a class or group that is made up
        return None
    last = [sentence for sentence in re.split(r"(?<=[.?]) ", asks) if sentence.endswith("?")][-1]
    among = re.search(r"[Oo]f (?:the )?(\d+) (?:people|public|rows|nodes|subsets)", last)
    if among is not None:
        return int(among[1])
    if "public people" in last:
        everyone = len(public_people(trace)[0])
        return (
            everyone - trace.rows if "not in the table" in last or "no group" in last else everyone
        )
    if re.search(r"[Hh]ow many (?:different )?(people|rows|classes|buckets|lines)", last):
        return trace.rows
    if re.search(r"how many people|how many rows", last):
        return trace.rows
    if "cells" in last and lesson == "suppression":
        return trace.rows * len(trace.quasi)
    return None


def test_mistakes_are_offered_before_other_numbers() -> None:
    question = number_question("How many?", 8, "So.", among=40, mistakes=(3, 4, 16, 20))
    others = [n for n in numbers_of(question) if n != 8]
    assert len(others) == 4
    assert len(set(others) & {3, 4, 16, 20}) >= 2
    few = number_question("How many?", 1, "So.", among=2)
    assert numbers_of(few) == [0, 1, 2]


def test_a_class_of_several_right_ones_is_accepted() -> None:
    several = 0
    for _, _, question in asked():
        offered = {choice.id for choice in question.choices}
        assert question.accepts(question.answer)
        assert question.also <= offered
        assert not all(question.accepts(choice) for choice in offered)
        several += len(question.also) > 1
    assert several
