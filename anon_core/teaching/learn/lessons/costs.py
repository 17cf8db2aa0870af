"""What a release costs, by hand: AG, DM, C_AVG, NCP, GCP, precision, class by class."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.teaching.learn.example import TOTH, Example
from anon_core.teaching.learn.lesson import DIAL_K, Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.lesson_run import measured
from anon_core.teaching.learn.pictures import Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    least_of,
    listed,
    number_question,
    people_of,
    release_table,
    rows_listed,
    table,
)
from anon_core.teaching.learn.trace import Trace

_LEVELS, _CUTS = "levels", "cuts"
_TITLES = {_LEVELS: "Whole columns", _CUTS: "Mondrian"}


class CostsLesson(Lesson):
    """One release measured by hand, then another one next to it."""

    name = "costs"
    number = 17
    title = "What a release costs: AG, DM, C_AVG, NCP, GCP"
    summary = (
        "Six figures say what a release costs, and need not agree. Some count rows that look "
        "alike, others how much of a column a cell covers."
    )
    about = ("generalization-height", "discernibility", "average-class-size", "ncp", "precision")
    source = Source(
        author="Toth",
        year=2015,
        title="Data anonymization",
        where="section 6.2 on figures 2.3 and 2.4; C_AVG, NCP and GCP as in Aalborg group 3 2022",
    )
    dial = DIAL_K
    examples = (
        TOTH,
        Example(
            name="samarati",
            title="Samarati's nine patients",
            sample="samarati",
            quasi=("Race", "ZIP"),
        ),
    )
    runs = {
        _LEVELS: {
            "algorithm": {"name": "optimal", "max_suppression": 0.0},
            "models": [{"name": "k-anonymity", "k": 2}],
        },
        _CUTS: {"algorithm": {"name": "mondrian"}, "models": [{"name": "k-anonymity", "k": 2}]},
    }

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a release, each cost by hand, two releases compared."""
        return [
            _begin(trace),
            _discernibility(trace),
            _class_size(trace),
            _height(trace),
            _certainty(trace),
            _compared(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about the worst discernibility, and about precision."""
        rows = trace.rows
        question = number_question(
            f"All {rows} rows are one class. What is DM?",
            rows * rows,
            f"Every row looks like {rows} rows: {rows}².",
            among=rows * rows + rows,
            least=1,
            mistakes=(rows, 2 * rows, rows * (rows - 1), rows * rows + rows),
        )
        return (Exercise(question=question), Exercise(question=_precision(trace)))


def _precision(trace: Trace) -> Question:
    run = trace[_LEVELS]
    heights = [h.height for h in trace.problem.quasi_hierarchies]
    levels = [(run.result.account.node or {})[name] for name in trace.quasi]
    said = listed(
        f"{name} at level {level} of {height}"
        for name, level, height in zip(trace.quasi, levels, heights, strict=True)
    )
    right = round(100 * measured(run, "precision").value)
    shares = " + ".join(f"{one}/{top}" for one, top in zip(levels, heights, strict=True))
    return number_question(
        f"{said} are published, no row suppressed. What is precision, in hundredths?",
        right,
        f"1 - ({shares}) / {len(levels)} = {right / 100:.2f}: each column counts alike, however "
        "tall its hierarchy.",
        among=100,
        mistakes=(
            100 - right,
            round(100 * (1 - sum(levels) / max(sum(heights), 1))),
            round(100 * sum(levels) / max(sum(heights), 1)),
            round(100 * measured(run, "ncp").value),
            round(100 - 100 * measured(run, "ncp").value),
            0,
            100,
        ),
    )


def _groups(trace: Trace, name: str) -> list[int]:
    return sorted(set(trace[name].together) - {-1})


def _by_class(trace: Trace, title: str, heads: Sequence[str], cells: dict[int, list[str]]) -> Table:
    """Return what every class adds to a cost."""
    together = trace[_LEVELS].together
    rows = tuple(
        Row(
            id=f"part:{group}",
            label=rows_listed(people_of(together, group)),
            tone=group_tone(group),
            people=people_of(together, group),
            cells=tuple(Cell(text=text) for text in cells[group]),
        )
        for group in _groups(trace, _LEVELS)
    )
    return Table(
        title=title, columns=tuple(Head(name=name) for name in heads), rows=rows, corner="class"
    )


def _step(trace: Trace, title: str, words: str, shown: Table, question: Question) -> Step:
    return Step(
        title=title,
        words=words,
        pictures=(shown, release_table(trace, _LEVELS, "What is published")),
        question=question.on(release_table(trace, _LEVELS, "What is published")),
        together=trace[_LEVELS].together,
        seen=published(trace[_LEVELS]),
    )


def _sizes(trace: Trace, name: str) -> dict[int, int]:
    together = trace[name].together
    return {group: together.count(group) for group in _groups(trace, name)}


def _begin(trace: Trace) -> Step:
    run = trace[_LEVELS]
    return Step(
        title="A release and its table",
        words=f"The release keeps k = {least_of(run)}: every column is published at one level of "
        "its hierarchy, those that lose least. What was lost? Each figure that follows answers "
        "that in its own way; all are summed over classes.",
        pictures=(
            release_table(trace, _LEVELS, "What is published"),
            table(trace, "The table as it is held"),
        ),
        together=run.together,
        seen=published(run),
    )


def _discernibility(trace: Trace) -> Step:
    sizes = _sizes(trace, _LEVELS)
    found = round(measured(trace[_LEVELS], "discernibility").value)
    total = " + ".join(f"{n}²" for n in sizes.values())
    why = f"{total} = {found}."
    return _step(
        trace,
        "DM: how many rows look alike",
        "Discernibility charges every row with the rows that look like it, so a class of n rows "
        f"costs n². {why} A suppressed row costs as much as the table has rows; none is "
        "suppressed here.",
        _by_class(
            trace,
            "DM by class",
            ("rows n", "n²"),
            {group: [str(n), str(n * n)] for group, n in sizes.items()},
        ),
        number_question(
            f"Classes have {listed(map(str, sizes.values()))} rows. What is DM?",
            found,
            why,
            among=trace.rows**2,
            least=1,
            mistakes=(
                trace.rows,
                sum(sizes.values()) * len(sizes),
                trace.rows**2,
                max(sizes.values()) ** 2,
            ),
        ),
    )


def _class_size(trace: Trace) -> Step:
    sizes, k = _sizes(trace, _LEVELS), least_of(trace[_LEVELS])
    found = measured(trace[_LEVELS], "average-class-size", k=k).value
    why = f"{trace.rows} / ({len(sizes)} · {k}) = {found:.3g}."
    return _step(
        trace,
        "C_AVG: classes larger than asked for",
        f"C_AVG is the average number of rows of a class in units of k: rows / (classes · k). "
        f"{why} 1 is the best there can be.",
        _by_class(
            trace,
            "Rows by class",
            ("rows", "rows / k"),
            {group: [str(n), f"{n / k:.3g}"] for group, n in sizes.items()},
        ),
        number_question(
            f"{trace.rows} rows are in {len(sizes)} classes, and k = {k}. What is C_AVG, in "
            "hundredths?",
            round(100 * found),
            why,
            among=100 * trace.rows,
            least=1,
            mistakes=(
                round(100 * trace.rows / len(sizes)),
                round(100 * len(sizes) / k),
                100,
                100 * k,
            ),
        ),
    )


def _height(trace: Trace) -> Step:
    run, sizes = trace[_LEVELS], _sizes(trace, _LEVELS)
    found = measured(run, "generalization-height")
    levels = run.result.account.node or {}
    total = round(found.also["levels climbed (AG)"])
    climbed = sum(levels.values())
    said = listed(f"{name} {level}" for name, level in levels.items())
    precision = measured(run, "precision").value
    some = "1 level" if climbed == 1 else f"{climbed} levels"
    why = f"{some} for each of {trace.rows} rows: {total}."
    return _step(
        trace,
        "AG: how many levels were climbed",
        f"The amount of generalization adds up the level of every cell: {said}. {why} Precision "
        "divides each by the height of its hierarchy and counts what is left: "
        f"{precision:.3g}, where 1 is unchanged.",
        _by_class(
            trace,
            "AG by class",
            ("rows", "levels a row", "AG"),
            {group: [str(n), str(climbed), str(n * climbed)] for group, n in sizes.items()},
        ),
        number_question(
            f"Columns are published at level {said}. What is AG, the levels of all cells together?",
            total,
            why,
            among=trace.rows * sum(h.height for h in trace.problem.quasi_hierarchies),
            mistakes=(climbed, trace.rows, len(sizes) * climbed, trace.rows * len(levels)),
        ),
    )


def _certainty(trace: Trace) -> Step:
    run, sizes = trace[_LEVELS], _sizes(trace, _LEVELS)
    found = measured(run, "ncp")
    columns = len(trace.quasi)
    per_class = found.per_class
    assert per_class is not None
    share = {group: float(per_class[group]) * columns for group in sizes}
    whole = found.also["NCP of the table"]
    by_column = listed(f"{name} {value:.3g}" for name, value in (found.per_column or {}).items())
    why = f"{whole:.3g} / ({columns} · {trace.rows}) = {found.value:.3g}."
    return _step(
        trace,
        "NCP and GCP: how much a cell covers",
        "NCP of a cell is the share of its column that it covers: numbers by their range, "
        f"categories by their values, and 0 for a single one. On average {by_column}. Summed over "
        f"all rows and columns it is {whole:.3g}; GCP divides by the number of cells: {why}",
        _by_class(
            trace,
            "NCP by class",
            ("rows", "NCP of a row", "of the class"),
            {
                group: [str(n), f"{share[group]:.3g}", f"{n * share[group]:.3g}"]
                for group, n in sizes.items()
            },
        ),
        number_question(
            f"NCP of the table is {whole:.3g}, with {trace.rows} rows and {columns} columns. What "
            "is GCP, in hundredths?",
            round(100 * found.value),
            why,
            among=100,
            mistakes=(
                min(100, round(100 * whole / trace.rows)),
                round(100 * found.value / columns),
                100 - round(100 * found.value),
                *(round(100 * value) for value in (found.per_column or {}).values()),
                25,
                75,
            ),
        ),
    )


def _compared(trace: Trace) -> Step:
    k = least_of(trace[_LEVELS])
    figures = {
        "DM": [measured(trace[n], "discernibility").value for n in _TITLES],
        "C_AVG": [measured(trace[n], "average-class-size", k=k).value for n in _TITLES],
        "AG": [
            measured(trace[n], "generalization-height").also["levels climbed (AG)"] for n in _TITLES
        ],
        "GCP": [measured(trace[n], "ncp").value for n in _TITLES],
        "precision": [measured(trace[n], "precision").value for n in _TITLES],
    }
    better: dict[str, int] = {}
    rows: list[Row] = []
    for name, (one, two) in figures.items():
        sign = -1 if name == "precision" else 1  # more of it is left, the higher it is
        better[name] = 0 if abs(one - two) < 1e-9 else 1 if sign * two < sign * one else -1
        cells = (
            Cell(text=f"{one:.3g}", tone="good" if better[name] < 0 else "plain"),
            Cell(text=f"{two:.3g}", tone="good" if better[name] > 0 else "plain"),
        )
        rows.append(Row(id=f"cost:{name}", label=name, cells=cells))
    cheaper = sum(one > 0 for one in better.values())
    why = f"{cheaper} of {len(figures)} figures are better by Mondrian."
    return Step(
        title="Two releases compared",
        words=f"Mondrian cuts the same table part by part. {why} Compare releases by the figure "
        "that fits your use: classes for counting, covered ranges for reading values.",
        pictures=(
            Table(
                title="Costs of both releases",
                columns=tuple(Head(name=title) for title in _TITLES.values()),
                rows=tuple(rows),
                corner="figure",
                note="Higher is worse, but for precision.",
            ),
            release_table(trace, _CUTS, "What Mondrian publishes"),
        ),
        question=Question(
            asks=f"By how many of the {len(figures)} figures is Mondrian's release better?",
            choices=tuple(Choice(id=f"number:{n}", label=str(n)) for n in range(len(figures) + 1)),
            answer=f"number:{cheaper}",
            why=why,
            pictures=(
                release_table(trace, _LEVELS, "Whole columns"),
                release_table(trace, _CUTS, "Mondrian"),
            ),
        ),
        together=trace[_CUTS].together,
        seen=published(trace[_CUTS]),
    )
