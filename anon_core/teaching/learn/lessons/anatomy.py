"""Anatomy, permutation, slicing: exact values are published, and links between them are cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.methods.queries.count_queries import by_hand, in_words
from anon_core.methods.queries.query_answers import counts
from anon_core.teaching.learn.count_query import (
    answers,
    asked_of,
    box_texts,
    most_diverse,
    source_groups,
    ways,
)
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.permuted_tables import (
    numbered,
    published_table,
    shuffled_exact,
    shuffled_found,
    shuffled_possible,
)
from anon_core.teaching.learn.pictures import (
    Bar,
    Bars,
    Cell,
    Head,
    Line,
    Links,
    Row,
    Table,
    Tone,
    group_tone,
)
from anon_core.teaching.learn.text import least_of, listed, number_question, rows_said, table
from anon_core.teaching.learn.trace import Trace, texts_of

_DEALT, _PERMUTED, _SLICED = "anatomy", "permutation", "slicing"
_TITLES = {_DEALT: "Anatomy", _PERMUTED: "Permutation anonymization", _SLICED: "Slicing"}
_BY_CUTS = {"name": "slicing", "partition": "mondrian"}


class AnatomyLesson(Lesson):
    """Values dealt to groups, then the links cut one by one."""

    name = "anatomy"
    number = 10
    title = "Anatomy, permutation, slicing"
    summary = (
        "Links are cut instead of values. Rows are in groups, and within a group it is not shown "
        "which value belongs to which."
    )
    minutes = 5
    about = ("anatomy", "permutation", "slicing", "anatomize", "frequency-l-diversity")
    source = Source(
        author="Li, He, Cao and Chen",
        year=2015,
        title="Permutation anonymization",
        where="tables 1, 3 and 4",
    )
    dial = Dial(label="l", values=(2, 3, 4), sets=("l", "k"))
    examples = (
        Example(
            name="li",
            title="Li's nine patients",
            sample="li-microdata",
            person="Bob",
            runs={_SLICED: {"algorithm": {**_BY_CUTS, "sets": [["Age"], ["Sex", "Disease"]]}}},
        ),
        TOTH,
    )
    runs = {
        _DEALT: {
            "algorithm": {"name": "anatomy", "partition": "anatomize"},
            "models": [{"name": "frequency-l-diversity", "l": 4}],
        },
        _PERMUTED: {
            "algorithm": {"name": "permutation"},
            "models": [{"name": "frequency-l-diversity", "l": 4}],
        },
        _SLICED: {
            "algorithm": _BY_CUTS,
            "models": [{"name": "bucket-size", "k": 4}],
        },
    }

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: l is what the table allows, up to 4, and sets are of its columns."""
        asked, l = self.runs[run], most_diverse(material)  # noqa: E741
        if run != _SLICED:
            return {**asked, "models": [{"name": "frequency-l-diversity", "l": l}]}
        # The column with most values is shuffled separately: one that a group shares would not be
        # cut.
        first = max(material.roles.quasi, key=lambda name: len(set(texts_of(material, name))))
        rest = [name for name in material.roles.quasi if name != first]
        sets = [[first], [*rest, *material.roles.sensitive]]
        algorithm = {**asked["algorithm"], "sets": [part for part in sets if part]}
        return {"algorithm": algorithm, "models": [{"name": "bucket-size", "k": l}]}

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: values dealt, two tables, columns permuted, sets of columns."""
        found = [_three_links(trace), *_dealt(trace)]
        found += [_anatomy(trace), _permuted(trace), _sliced(trace)]
        if trace.sensitive:
            found += [_queried(trace), _lost(trace)]
        return [*found, _compared(trace)]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about chances."""
        run = trace[_DEALT]
        sizes = [run.together.count(group) for group in set(run.together) - {-1}]
        exact = sum(shuffled_exact(trace, _PERMUTED, row) > 0 for row in range(trace.rows))
        return (
            Exercise(
                question=number_question(
                    "How many rows has the largest group that Anatomy formed?",
                    max(sizes),
                    f"Groups have {listed(map(str, sorted(sizes)))} rows: what is left over once "
                    "values are dealt joins a group that lacks its value.",
                    among=trace.rows,
                    least=1,
                    mistakes=(least_of(run), min(sizes), trace.rows % least_of(run)),
                )
            ),
            Exercise(
                question=number_question(
                    f"For how many people are {listed(trace.quasi)} still in one row of their "
                    "group after the permutation?",
                    exact,
                    "By chance: a value returned to one that belongs to it.",
                    among=trace.rows,
                    mistakes=(0, trace.rows),
                )
            ),
        )

    def refuses(self, trace: Trace) -> str:
        """Ask for two quasi-identifiers, of which one can be cut off."""
        return "" if len(trace.quasi) > 1 else "This lesson needs two quasi-identifiers."


def _two_tables(trace: Trace, name: str, titles: tuple[str, str], title: str) -> Links:
    left, right = (
        published_table(trace, name, 0, titles[0]),
        published_table(trace, name, 1, titles[1]),
    )
    lines = tuple(
        Line(left=one.id, right=other.id, tone="now", people=one.people)
        for one in left.rows
        for other in right.rows
        if one.cells[0].text == other.cells[0].text
    )
    return Links(
        title=title,
        left=left,
        right=right,
        lines=lines,
        note="Lines go wherever rows may belong together.",
    )


# ---- steps -------------------------------------------------------------------------------------


def _three_links(trace: Trace) -> Step:
    printed = ""
    if trace.as_printed("li"):
        printed = (
            "Printed: section 5 swaps the numbers of the second and third link, and calls Anatomy "
            "an improvement of Anatomy. Corrected: Anatomy cuts between quasi-identifiers and "
            "sensitive values; permutation cuts that too, and those among quasi-identifiers."
        )
    return Step(
        title="Three links",
        words=f"A row links three things: a person with {listed(trace.quasi)}; these with "
        f"each other; and these with {trace.sensitive[0]}. Generalization blurs values and keeps "
        "all links. The techniques here keep all values exact, and cut links.",
        pictures=(table(trace, "The table as it is held"),),
        printed=printed,
    )


def _rows_dealt(trace: Trace) -> list[tuple[int, list[str], list[int]]]:
    """Return group, values and rows of every bucket that was reported, in the order dealt."""
    run, column = trace[_DEALT], trace.sensitive[0]
    leaves = trace.problem.hierarchies[column].leaves
    key = run.result.problem.frequency.row_key.tolist()
    free = set(range(trace.rows))
    found: list[tuple[int, list[str], list[int]]] = []
    number = numbered(trace, _DEALT)
    for event in run.events_of("bucket"):
        facts: Mapping[str, Any] = event.facts
        keys: list[int] = list(facts["keys"])
        groups = Counter(run.together[row] for row in free if key[row] in keys)
        rows: list[int] = []
        own = max(groups, key=lambda g: (_held(keys, key, free, run.together, g), -g))
        for wanted in keys:
            fits = [row for row in sorted(free) if key[row] == wanted]
            row = next((r for r in fits if run.together[r] == own), fits[0])
            free.remove(row)
            rows.append(row)
        found.append((number[rows[0]], [leaves[code] for code in facts["values"]], rows))
    return found


def _held(
    keys: Sequence[int], key: Sequence[int], free: set[int], together: Sequence[int], group: int
) -> int:
    """Return how many of a bucket's keys a group of the release has."""
    has = Counter(key[row] for row in free if together[row] == group)
    return sum((Counter(keys) & has).values())


def _left(values: Counter[str], taken: Sequence[str]) -> Bars:
    """Return how many rows of each value are left; those that are dealt next are out."""
    most = sorted(values, key=lambda text: (-values[text], text))
    return Bars(
        title="Rows left of each value",
        bars=tuple(
            Bar(
                id=f"dealt:{text}",
                label=text,
                value=values[text],
                text=rows_said(values[text]),
                tone="now" if text in taken else "plain",
            )
            for text in most
        ),
        unit="rows",
    )


def _dealt(trace: Trace) -> list[Step]:
    """Return a step for every group that is dealt, and one for what is left over."""
    run, column = trace[_DEALT], trace.sensitive[0]
    least = least_of(run)
    left = Counter(trace.texts(column))
    together = [-1] * trace.rows
    found: list[Step] = []
    tones: dict[int, Tone]
    for number, values, rows in _rows_dealt(trace):
        for row in rows:
            together[row] = number
        tones = {row: group_tone(together[row]) for row in range(trace.rows) if together[row] >= 0}
        others = [text for text in left if text not in values and left[text]]
        rare = [text for text in others if left[text] < left[values[0]]]
        top = max(values, key=lambda text: left[text])
        question = (
            Question(
                asks=f"The next group takes one row each of the {least} values with most rows "
                "left. Which of these is surely among them?",
                choices=tuple(Choice(id=f"dealt:{t}", label=t) for t in sorted({top, *rare[:3]})),
                answer=f"dealt:{top}",
                why=f"{rows_said(left[top])} of {top} are left, more than of the others offered.",
            )
            if rare and left[top] > max(left[t] for t in rare[:3])
            else number_question(
                f"The next group takes one row each of the {least} values with most rows left. "
                f"How many of the {trace.rows} rows are in no group then?",
                together.count(-1),
                f"{least} rows are dealt each time.",
                among=trace.rows - 1,
                mistakes=(together.count(-1) + least, together.count(-1) + 1, least),
            )
        )
        found.append(
            Step(
                title=f"Dealt: group {number + 1}",
                words=f"One row each of {listed(values)}: rows "
                f"{listed(str(row + 1) for row in sorted(rows))}. Which row of a value is taken is "
                f"left to chance, and {listed(trace.quasi)} have no part in it.",
                pictures=(
                    _left(left, values),
                    table(trace, "Rows that have a group", tones=dict(tones)),
                ),
                question=question.on(_left(left, ())),
            )
        )
        left.subtract(values)
    rest = [row for row in range(trace.rows) if together[row] < 0]
    if rest:
        found.append(_left_over(trace, rest))
    return found


def _left_over(trace: Trace, rest: Sequence[int]) -> Step:
    run, column = trace[_DEALT], trace.sensitive[0]
    said = [f"row {row + 1} ({trace.texts(column)[row]})" for row in rest]
    largest = max(run.together.count(group) for group in run.together)
    return Step(
        title="What is left over",
        words=f"Fewer than {least_of(run)} values have rows left: {listed(said)}. Each of these "
        "joins a group that lacks its value.",
        pictures=(table(trace, "The groups", together=numbered(trace, _DEALT)),),
        question=number_question(
            f"{rows_said(len(rest))} {'is' if len(rest) == 1 else 'are'} in no group. How many "
            "rows has the largest group at last?",
            largest,
            "A row that is left over joins a group that lacks its value.",
            among=trace.rows,
            least=1,
            mistakes=(least_of(run), len(rest), least_of(run) + len(rest)),
        ),
    )


def _anatomy(trace: Trace) -> Step:
    run, person = trace[_DEALT], trace.person
    who, size = trace.names[person], run.together.count(run.together[person])
    often = max(shuffled_possible(trace, _DEALT, person).values())
    return Step(
        title="Anatomy: two tables",
        words=f"One table has {listed(trace.quasi)} of every row unchanged, the other "
        f"{trace.sensitive[0]}; only the group joins them. Presence in the table can be "
        f"seen: the first link is whole. For {who} {size} rows of the second table are left, and "
        f"the most common value among them is right {often} time{'' if often == 1 else 's'} in "
        f"{size}.",
        pictures=(
            _two_tables(
                trace,
                _DEALT,
                ("First table: what is known", "Second table: what is secret"),
                "Only the group joins the two tables",
            ),
        ),
        question=number_question(
            f"The row of {who} is unchanged in the first table. To how many rows of the second "
            "may it belong?",
            size,
            f"To every row of its group, which has {size}.",
            among=trace.rows,
            least=1,
            mistakes=(1, trace.rows),
        ),
        found=shuffled_found(trace, _DEALT),
    )


def _permuted(trace: Trace) -> Step:
    run, person = trace[_PERMUTED], trace.person
    who, exact = trace.names[person], shuffled_exact(trace, _PERMUTED, trace.person)
    printed = ""
    if trace.as_printed("li"):
        printed = (
            "Printed: theorem 1 gives 1/50 for Bob's disease and example 3 gives 1/5; lemma 1 "
            "takes 2/25 for the largest chance that his age and sex are in one row. Corrected: "
            "the rows of a value / the rows of the group, 1/5 in the paper's group of 5, as by "
            "Anatomy; and 2/5 that they are together in some row, 2/25 being one given row's."
        )
    return Step(
        title="Permutation: every column by itself",
        words=f"New groups are formed of similar rows, and every column of a group is "
        f"shuffled by itself. {listed(trace.quasi)} of one published row need not be one person's: "
        "the link among them is cut as well, and with it the certainty that a person is there. "
        f"{rows_said(exact)} of the group of {who} {'shows' if exact == 1 else 'show'} all of "
        f"{who}'s values together, and it stays open whether such a row is a person's.",
        pictures=(
            _two_tables(
                trace,
                _PERMUTED,
                ("First table, each column shuffled", "Second table"),
                "No row of the first table is a person's",
            ),
        ),
        question=number_question(
            f"{listed(trace.quasi)} are shuffled as well. Among how many rows of the second table "
            f"is the {trace.sensitive[0]} of {who} now, once the group is known?",
            run.together.count(run.together[person]),
            "Among all of the group, as by Anatomy: what is shuffled hides who is there, and not "
            "what they have.",
            among=trace.rows,
            least=1,
            mistakes=(1, trace.rows, run.together.count(run.together[person]) ** 2),
        ).on(table(trace, "The groups", together=numbered(trace, _PERMUTED))),
        found=shuffled_found(trace, _PERMUTED),
        printed=printed,
    )


def _sets_said(trace: Trace) -> str:
    return listed(f"{{{', '.join(block)}}}" for block in trace[_SLICED].release.blocks)


def _sliced(trace: Trace) -> Step:
    person = trace.person
    who, values = trace.names[person], shuffled_possible(trace, _SLICED, person)
    size = trace[_SLICED].together.count(trace[_SLICED].together[person])
    return Step(
        title="Slicing: sets of columns",
        words=f"Slicing publishes one table. Columns of one set stay linked row by row, here "
        f"{_sets_said(trace)}; sets are shuffled against each other. What is linked stays true for "
        f"statistics, and can be read by attackers: {len(values)} "
        f"value{'' if len(values) == 1 else 's'} of {trace.sensitive[0]} "
        f"{'is' if len(values) == 1 else 'are'} left for {who}, of {size} rows. A "
        "least size of groups does not see that; slicing's own privacy model does.",
        pictures=(
            published_table(trace, _SLICED, 0, "The sliced table"),
            table(trace, "The groups", together=numbered(trace, _SLICED)),
        ),
        question=number_question(
            f"The sets are {_sets_said(trace)}. How many values of {trace.sensitive[0]} may be "
            f"those of {who}, once the group is known?",
            len(values),
            "Only rows of the group count that show the same in the columns linked to it.",
            among=size,
            least=1,
            mistakes=(size, 1),
        ).on(table(trace, "The groups", together=numbered(trace, _SLICED))),
        found=shuffled_found(trace, _SLICED),
    )


def _queried(trace: Trace) -> Step:
    groups, asked = source_groups(trace, _DEALT), by_hand(trace.problem, [asked_of(trace)])[0]
    together = answers(trace, groups)
    exact = int(counts(trace.problem, asked).sum())
    terms = [
        answers(trace, [0 if own == group else -1 for own in groups])
        for group in sorted(set(groups) - {-1})
    ]
    rows = [
        Row(id="way:table", label="The table itself", cells=(Cell(text=""), Cell(text=str(exact))))
    ]
    rows += [
        Row(
            id=f"way:{title}",
            label=title,
            cells=(
                Cell(text=" + ".join(f"{one[title]:.3g}" for one in terms)),
                Cell(text=f"{answer:.3g}"),
            ),
        )
        for title, answer in together.items()
    ]
    near = min(together, key=lambda title: abs(together[title] - exact))
    tied = [
        t for t in together if abs(abs(together[t] - exact) - abs(together[near] - exact)) < 1e-9
    ]
    why = f"The table answers {exact}; {listed(f'{t} {a:.3g}' for t, a in together.items())}."
    source = trace.example.name == "li"
    return Step(
        title="A count query on each of them",
        words=f"How many rows have {in_words(asked_of(trace))}? {why} In a box, values are taken "
        "to be evenly spread. By Anatomy rows that match are counted, times the share of the value "
        "in their group. Shuffled columns are multiplied: rows of the group, times the share of "
        "every column.",
        pictures=(
            Table(
                title="Answers of the groups, and their sum",
                columns=(Head(name="by group"), Head(name="answer")),
                rows=tuple(rows),
                corner="published by",
            ),
            table(trace, "The source's groups" if source else "The groups", together=groups),
        ),
        question=Question(
            asks=f"How many rows have {in_words(asked_of(trace))}? Which of them comes closest to "
            f"{exact}?",
            choices=(
                *(Choice(id=f"way:{t}", label=t) for t in together if t == near or t not in tied),
                *((Choice(id="way:none", label="All the same"),) if len(tied) == 3 else ()),
            ),
            answer="way:none" if len(tied) == 3 else f"way:{near}",
            why=why,
            pictures=(table(trace, "The groups", together=groups),),
        ),
        printed="Printed: example 2 gives 3/5 × 2/4 for the second group, which would make 0.78. "
        "Corrected: three of its four ages are asked for, 3/4 × 2/4, and 0.855 together."
        if source
        else "",
    )


def _lost(trace: Trace) -> Step:
    groups, metric = source_groups(trace, _DEALT), cast(Metric, find("metric", "ncp")())
    boxes = ways(trace, groups)["Generalization"]
    measured = metric.measure(trace.problem, boxes, Context())
    whole, share = measured.also["NCP of the table"], float(measured.share or 0.0)
    columns = measured.per_column or {}
    said = listed(f"{name} {value:.3g}" for name, value in columns.items())
    return Step(
        title="What is lost: NCP",
        words=f"NCP of a cell is the share of its column that it covers: for these boxes {said} on "
        f"average. Over all cells that is {whole:.3g}, of {trace.rows * len(columns)} at most, so "
        f"GCP is {share:.3g}. Cells of Anatomy and of permutation cover one value and lose "
        "nothing: what they lose is which values belong together.",
        pictures=(
            Bars(
                title="NCP of a cell, by column",
                bars=tuple(
                    Bar(id=f"column:{name}", label=name, value=value, text=f"{value:.3g}")
                    for name, value in columns.items()
                ),
                unit="share of the column",
            ),
            table(
                trace,
                "The boxes of the groups",
                together=groups,
                cells=box_texts(trace, groups, boxes),
                identifier=False,
            ),
        ),
        question=number_question(
            f"Each of {trace.rows} rows has {len(columns)} cells of quasi-identifiers. What is NCP "
            "of the table at most?",
            trace.rows * len(columns),
            "A cell that covers its whole column has 1.",
            among=trace.rows**2 + trace.rows,
            mistakes=(len(columns), trace.rows, trace.rows**2, trace.rows + len(columns)),
        ),
    )


def _compared(trace: Trace) -> Step:
    column = trace.sensitive[0]
    rows: list[Row] = []
    certain: dict[str, int] = {}
    for name, title in _TITLES.items():
        blocks = trace[name].release.blocks
        seen = sum(shuffled_exact(trace, name, row) > 0 for row in range(trace.rows))
        among = any(set(trace.quasi) <= set(block) for block in blocks)
        (own,) = (block for block in blocks if column in block)
        linked = [q for q in trace.quasi if q in own]
        certain[name] = sum(
            len(shuffled_possible(trace, name, row)) == 1 for row in range(trace.rows)
        )
        rows.append(
            Row(
                id=f"run:{name}",
                label=title,
                cells=(
                    Cell(text=f"{seen} of {trace.rows}", tone="bad" if among else "plain"),
                    Cell(text="whole" if among else "cut", tone="bad" if among else "good"),
                    Cell(
                        text=f"{listed(linked)} linked" if linked else "cut",
                        tone="bad" if linked else "good",
                    ),
                    Cell(text=str(certain[name]), tone="bad" if certain[name] else "good"),
                ),
            )
        )
    whole = [n for n in _TITLES if any(set(trace.quasi) <= set(b) for b in trace[n].release.blocks)]
    heads = ("in one row", "quasi–quasi", "quasi–sensitive", "certain")
    return Step(
        title="Which link each of them cuts",
        words="In one row: for how many people all quasi-identifiers are still together in their "
        "group, where the link is cut by chance only. Certain: for how many the sensitive value is "
        "known to an attacker who knows their group. A link that is cut protects; a link that is "
        "whole keeps what is learned from it exact.",
        pictures=(
            Table(
                title="What is left of the links",
                columns=tuple(Head(name=name) for name in heads),
                rows=tuple(rows),
                corner="technique",
            ),
            published_table(trace, _PERMUTED, 0, "Permutation, first table"),
            published_table(trace, _PERMUTED, 1, "Permutation, second table"),
            published_table(trace, _SLICED, 0, "Slicing"),
        ),
        question=Question(
            asks="Which of them publishes everyone's quasi-identifiers together as they are?",
            choices=tuple(Choice(id=f"run:{n}", label=t) for n, t in _TITLES.items()),
            answer=f"run:{whole[0]}",
            why="Its first table has whole rows; the others shuffle columns separately.",
        ),
        found=shuffled_found(trace, _SLICED),
    )
