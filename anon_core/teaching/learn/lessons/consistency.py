"""(k, 1), (k, k), global (1, k): who fits which row, and which lines a matching leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anon_core.base.context import Context
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.matching.matching import matches
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import DIAL_K, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Cell, Head, Line, Links, Row, Table, Tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import head, least_of, listed, number_question, rows_said, table
from anon_core.teaching.learn.trace import Trace

_CLASSES, _ROWS, _BOTH, _GLOBAL = "classes", "k-one", "k-k", "global"
_TITLES = {
    _CLASSES: "k-anonymity",
    _ROWS: "(k, 1)-anonymity",
    _BOTH: "(k, k)-anonymity",
    _GLOBAL: "global (1, k)-anonymity",
}


def _slide_57() -> Material:
    import pandas as pd

    columns = {
        "Race": ["White", "Black", "Asian", "Asian", "Asian"],
        "ZIP": ["94138", "94139", "94141", "94141", "94142"],
    }
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(columns, dtype=object)),
        roles=Roles(quasi=("Race", "ZIP")),
        types={"Race": "text", "ZIP": "text"},
        levels={
            "Race": [[race, "Person"] for race in ("White", "Black", "Asian")],
            "ZIP": [
                [code, f"{code[:4]}*", f"{code[:3]}**"] for code in dict.fromkeys(columns["ZIP"])
            ],
        },
    )


def _by_matches(model: str) -> Mapping[str, Any]:
    return {"algorithm": {"name": "matching"}, "models": [{"name": model, "k": 2}]}


class ConsistencyLesson(Lesson):
    """People on one side, published rows on the other, a line wherever one fits the other."""

    name = "consistency"
    number = 21
    title = "(k, k) and global (1, k): lines and matchings"
    summary = (
        "Rows need not be equal to hide people. It is enough that several rows fit everyone. Which "
        "lines count decides what the model is worth."
    )
    about = (
        "k-one-anonymity",
        "one-k-anonymity",
        "k-k-anonymity",
        "global-one-k-anonymity",
        "matching",
    )
    source = Source(
        author="Gionis, Mazza and Tassa",
        year=2008,
        title="k-Anonymization revisited",
        doi="10.1109/ICDE.2008.4497483",
        where="as presented by Samarati 2008, slides 56 and 57",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="slides",
            title="The five people of slide 57",
            made=_slide_57,
            names=("Ann", "Bea", "Chi", "Dao", "Eri"),
            person="Eri",
        ),
        TOTH,
    )
    runs = {
        _CLASSES: _by_matches("k-anonymity"),
        _ROWS: _by_matches("k-one-anonymity"),
        _BOTH: _by_matches("k-k-anonymity"),
        _GLOBAL: _by_matches("global-one-k-anonymity"),
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: classes, one side, both sides, a matching, lines that survive it."""
        return [_classes(trace), _rows(trace), _both(trace), _ruled_out(trace), _global(trace)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return a question about classes as graphs."""
        question = number_question(
            "Three people fit the same three published rows, and no others. How many perfect "
            "matchings are there?",
            6,
            "The first takes one of 3 rows, the second one of 2, the last what is left: 3 · 2 · 1.",
            among=27,
            least=1,
            mistakes=(3, 9, 1, 27),
        )
        return (Exercise(question=question),)


def _graph(trace: Trace, name: str, tones: Mapping[tuple[int, int], Tone], title: str) -> Links:
    """Return people and the rows of a run, with a line wherever a row fits, each with its tone."""
    run = trace[name]
    people = tuple(
        Row(
            id=f"person:{row}",
            people=(row,),
            cells=(
                Cell(text=trace.names[row]),
                *(Cell(text=trace.texts(column)[row]) for column in trace.quasi),
            ),
        )
        for row in range(trace.rows)
    )
    left = Table(
        title="People",
        columns=(Head(name="who"), *(head(trace, column) for column in trace.quasi)),
        rows=people,
    )
    right = table(
        trace,
        "What is published",
        cells={column: run.published(column) for column in trace.quasi},
        together=run.together,
        order=range(trace.rows),
        identifier=False,
        release=name,
    )
    lines = tuple(
        Line(left=f"person:{one}", right=f"row:{other}", tone=tone, people=(one,))
        for (one, other), tone in tones.items()
    )
    return Links(title=title, left=left, right=right, lines=lines)


def _pairs(trace: Trace, name: str) -> list[tuple[int, int]]:
    """Return who fits which row of a run."""
    seen = published(trace[name])
    return [(one, other) for one in range(trace.rows) for other in seen.fits(one)]


def _fewest(trace: Trace, name: str) -> tuple[int, int]:
    """Return the fewest rows that fit a person, and the fewest people who fit a row."""
    pairs = _pairs(trace, name)
    shown = [row for row, group in enumerate(trace[name].together) if group >= 0]
    return (
        min(sum(one == who for one, _ in pairs) for who in shown),
        min(sum(other == row for _, other in pairs) for row in shown),
    )


def _lines(trace: Trace, name: str) -> Links:
    pairs = _pairs(trace, name)
    alone = {who for who in range(trace.rows) if sum(one == who for one, _ in pairs) == 1}
    tones: dict[tuple[int, int], Tone] = {p: "bad" if p[0] in alone else "now" for p in pairs}
    return _graph(trace, name, tones, "Lines go wherever a row fits")


def in_matchings(trace: Trace, name: str) -> frozenset[tuple[int, int]]:
    """Return the pairs of a person and a published row that lie in a perfect matching."""
    run, problem = trace[name], trace[name].result.problem
    view, frequency = run.release.view, problem.frequency
    block = view.whole_quasi()
    assert block is not None
    persons = view.persons(block)
    pools = [view.vocabularies[column] for column in problem.quasi]
    codes = persons.codes[:, [persons.columns.index(column) for column in problem.quasi]]
    low, high = (
        np.stack([getattr(pool, end)[codes[:, d]] for d, pool in enumerate(pools)], axis=1)
        for end in ("lo", "hi")
    )
    found = matches(frequency.run_codes, frequency.run_count, low, high, persons.sizes, Context())
    assert found is not None
    said = list(zip(*(run.published(column) for column in problem.quasi), strict=True))
    shown = [tuple(p.texts[c] for p, c in zip(pools, own, strict=True)) for own in codes.tolist()]
    of_row = frequency.run[frequency.row_key].tolist()
    return frozenset(
        (one, other)
        for place in np.flatnonzero(found.perfect).tolist()
        for one in range(trace.rows)
        for other in range(trace.rows)
        if of_row[one] == found.tuple[place]
        and run.together[other] >= 0
        and said[other] == shown[found.box[place]]
    )


def _step(
    trace: Trace, name: str, title: str, words: str, question: Question | None, note: str = ""
) -> Step:
    return Step(
        title=title,
        words=words,
        pictures=(_lines(trace, name),),
        question=question,
        together=trace[name].together,
        seen=published(trace[name]),
        printed=note,
    )


def _classes(trace: Trace) -> Step:
    rows, _ = _fewest(trace, _CLASSES)
    return _step(
        trace,
        _CLASSES,
        "Classes: everyone with everyone",
        f"k = {least_of(trace[_CLASSES])}. People are on the left, published rows on the right, "
        "and a line goes wherever a row can be a person's. In a class all rows are equal, so that "
        f"all its lines are there: {rows_said(rows)} at least for everyone. Are all needed?",
        None,
    )


def _rows(trace: Trace) -> Step:
    fits, people = _fewest(trace, _ROWS)
    k = least_of(trace[_ROWS])
    found = sum(len(published(trace[_ROWS]).fits(one)) == 1 for one in range(trace.rows))
    why = f"Each row fits {people} people or more; the person with fewest lines has {fits}."
    return _step(
        trace,
        _ROWS,
        "(k, 1): each row fits k people",
        f"Now rows may differ, as long as each fits at least k = {k} people. {why} An attacker "
        "starts from the person, though, and so sees the other end of the lines: "
        + (f"{found} of {trace.rows} are found." if found else "no one is found here, by luck."),
        number_question(
            f"Each published row fits at least {k} people. How many lines has the person with the "
            "fewest?",
            fits,
            why,
            among=trace.rows,
            least=1,
            mistakes=(k, 1, people, trace.rows),
        ).on(_graph(trace, _ROWS, {}, "Which rows fit?")),
    )


def _both(trace: Trace) -> Step:
    fits, people = _fewest(trace, _BOTH)
    k = least_of(trace[_BOTH])
    texts = list(zip(*(trace[_BOTH].published(c) for c in trace.quasi), strict=True))
    smallest = min(texts.count(one) for one in texts)
    why = f"{fits} for the person with fewest, {people} for such a row."
    return _step(
        trace,
        _BOTH,
        "(k, k): and each person fits k rows",
        f"(k, k)-anonymity counts both ends: {why} {rows_said(smallest)} of the rarest kind "
        f"{'is' if smallest == 1 else 'are'} published, so k-anonymity "
        f"{'does not hold' if smallest < k else 'holds as well'}. What is published is narrower "
        "than classes are, or the same.",
        number_question(
            f"(k, k) with k = {k}: how many rows fit the person with fewest now?",
            fits,
            why,
            among=trace.rows,
            least=1,
            mistakes=(1, k, smallest, trace.rows),
        ).on(_graph(trace, _BOTH, {}, "Which rows fit?")),
    )


def _ruled_out(trace: Trace) -> Step:
    pairs, kept = _pairs(trace, _BOTH), in_matchings(trace, _BOTH)
    tones: dict[tuple[int, int], Tone] = {p: "good" if p in kept else "bad" for p in pairs}
    gone = len(pairs) - len(kept)
    left = [sorted(other for one, other in kept if one == who) for who in range(trace.rows)]
    shown = [who for who, group in enumerate(trace[_BOTH].together) if group >= 0]
    fewest = min(len(left[who]) for who in shown)
    lines = f"{gone} line{'' if gone == 1 else 's'}"
    why = (
        f"{lines} of {len(pairs)} {'is' if gone == 1 else 'are'} in no perfect matching."
        if gone
        else f"All {len(pairs)} lines are in some perfect matching."
    )
    return Step(
        title="A matching rules lines out",
        words="Someone who knows everyone's values knows more: each row belongs to one person, so "
        "a line counts only if all others can have a row at the same time, that is, if it is in a "
        f"perfect matching. {why} {rows_said(fewest)} {'is' if fewest == 1 else 'are'} left for "
        "the person with fewest.",
        pictures=(_graph(trace, _BOTH, tones, "Green lines are in a perfect matching"),),
        question=number_question(
            f"All have a row of their own. How many of the {len(pairs)} lines are impossible then?",
            gone,
            why,
            among=len(pairs),
            mistakes=(0, 1, 2, len(pairs) - trace.rows, trace.rows),
        ),
        together=trace[_BOTH].together,
        found=tuple(_left_said(trace, who, left[who]) for who in range(trace.rows)),
    )


def _left_said(trace: Trace, who: int, rows: Sequence[int]) -> str:
    known = f"Someone who knows {listed(trace.quasi)} of everyone"
    if trace[_BOTH].together[who] < 0:
        return f"{known} finds that {trace.names[who]} is suppressed."
    numbers = listed(str(row + 1) for row in rows)
    return (
        f"{known} finds {rows_said(len(rows))} ({numbers}) that can be that of "
        f"{trace.names[who]}" + (", so it is known." if len(rows) == 1 else ".")
    )


def _global(trace: Trace) -> Step:
    fits, _ = _fewest(trace, _GLOBAL)
    kept = in_matchings(trace, _GLOBAL)
    shown = [who for who, group in enumerate(trace[_GLOBAL].together) if group >= 0]
    fewest = min(sum(one == who for one, _ in kept) for who in shown)
    k = least_of(trace[_GLOBAL])
    why = f"At least {fewest} lines of everyone are in a perfect matching; {fits} fit at all."
    return _step(
        trace,
        _GLOBAL,
        "Global (1, k): lines that no one rules out",
        f"Global (1, k)-anonymity counts only lines of perfect matchings, k = {k} for everyone. "
        f"{why} It protects against the attacker of the last step, and need not form classes; "
        "where classes lose no more, they are published.",
        number_question(
            f"Global (1, k) with k = {k} is required. Impossible lines are left out. How many has "
            "the person with fewest?",
            fewest,
            why,
            among=trace.rows,
            least=1,
            mistakes=(1, k, trace.rows),
        ).on(_graph(trace, _GLOBAL, {}, "Which rows fit?")),
    )
