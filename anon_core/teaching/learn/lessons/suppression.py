"""Suppression models, from whole rows to single cells: the same table, cells going blank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.methods.lattice.recoding_models import MATRIX
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import DIAL_K, Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    columns_shown,
    head,
    least_of,
    listed,
    number_question,
    release_table,
    rows_said,
    table,
)
from anon_core.teaching.learn.trace import Trace

#: Rows that the exact search takes.
_MOST_EXACT = 16
_K2 = [{"name": "k-anonymity", "k": 2}]


def _levels(model: str, rows: float = 0.0) -> dict[str, object]:
    algorithm = {"name": "samarati", "transformation": model, "max_suppression": rows}
    return {"algorithm": algorithm, "models": _K2}


def _cells(model: str, levels: Mapping[str, int] | None = None) -> dict[str, object]:
    given = {"levels": dict(levels)} if levels else {}
    algorithm = {"name": "cell-suppression", "transformation": model, "method": "exact"}
    return {"algorithm": {**algorithm, **given}, "models": _K2}


#: Model → what it may change.
_MODELS = {
    "AG": "Whole columns are generalized (AG).",
    "TS": "Only whole rows are suppressed (TS).",
    "AS": "Only whole columns are blanked (AS).",
    "AG_TS": "Columns are generalized, and a few rows suppressed (AG_TS).",
    "CS": "Single cells are blanked (CS).",
    "AG_CS": "Columns are generalized first, then single cells blanked (AG_CS).",
    "CG": "Single cells are generalized (CG).",
}

#: Models that AG_AS is taken for, the right one among them.
_SAME = ("AS", "AG", "AG_TS")


class SuppressionLesson(Lesson):
    """From whole columns and rows to single cells, on one table."""

    name = "suppression"
    number = 8
    title = "Suppression models, from TS to CS"
    summary = (
        "Suppress rows, columns or cells. The finer the choice, the more of the table survives, "
        "and the harder the best is to find."
    )
    about = ("cell-suppression",)
    source = Source(
        author="Samarati",
        year=2008,
        title="k-Anonymity, slides of the FOSAD school",
        where="slides 32 to 37",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, slides 34 to 37",
            sample="samarati",
            quasi=("Race", "DOB", "Sex", "ZIP"),
            runs={"AG_CS": _cells("AG_CS", {"DOB": 1, "ZIP": 1})},
        ),
        TOTH,
    )
    runs = {
        "AG": _levels("AG"),
        "TS": _levels("TS", 1.0),
        "AS": _levels("AS"),
        "AG_TS": _levels("AG_TS", 0.12),
        "CS": _cells("CS"),
        "AG_CS": _cells("AG_CS"),
        "CG": _cells("CG"),
    }
    may_refuse = frozenset({"TS", "AS", "AG_TS"})

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: large tables are grouped by an approximation."""
        asked = self.runs[run]
        algorithm: Mapping[str, Any] = asked["algorithm"]
        if "method" not in algorithm or material.dataset.rows <= _MOST_EXACT:
            return asked
        return {**asked, "algorithm": {**algorithm, "method": "forest"}}

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: the table, then every model from the coarsest to the finest."""
        least = least_of(trace["AG"])
        found = [
            Step(
                title="What may be changed",
                words=f"All these tables keep k = {least} in {listed(trace.quasi)}. They differ in "
                "what may be changed: rows, columns or cells, and whether a value is replaced by a "
                "more general one or by nothing. A cell at the top of its hierarchy says nothing, "
                "and counts as blank.",
                pictures=(table(trace, "The table as it is held"),),
            )
        ]
        found.append(_matrix(trace))
        order = ("TS", "AS", "AG", "AG_TS", "AG_CS", "CS", "CG")
        for name in order:
            found.append(_refused(trace, name) if name in trace.refused else _shown(trace, name))
        found.append(_counted(trace, [name for name in order if name in trace.runs]))
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what is blank."""
        cells = {name: _changed(trace, name) for name in trace.runs}
        return (
            Exercise(
                question=number_question(
                    "How many cells are blank under CS?",
                    cells["CS"][0],
                    "Rows are grouped so that they differ in as few cells as possible.",
                    among=trace.rows * len(trace.quasi),
                    mistakes=(*(blank for blank, _ in cells.values()), sum(cells["CS"])),
                )
            ),
            Exercise(
                question=number_question(
                    "How many cells are changed at all under AG?",
                    sum(cells["AG"]),
                    "A column is raised for everyone, also for those who were not rare.",
                    among=trace.rows * len(trace.quasi),
                    mistakes=(*cells["AG"], sum(cells["CG"]), trace.rows * len(trace.quasi)),
                )
            ),
        )


def _changed(trace: Trace, name: str) -> tuple[int, int]:
    """Return how many cells a run blanks, and how many it generalizes."""
    run, blank, coarser = trace[name], 0, 0
    for column in trace.quasi:
        top = trace.problem.hierarchies[column].labels[-1][0]
        for own, said in zip(trace.texts(column), run.published(column), strict=True):
            blank += said in ("*", top) and said != own
            coarser += said != own and said not in ("*", top)
    return blank, coarser


def _blanked(trace: Trace, name: str, title: str) -> Table:
    """Return what a run publishes, its changed cells coloured."""
    run = trace[name]
    names = columns_shown(trace, identifier=False)
    rows: list[Row] = []
    said = {c: run.published(c) if c in trace.quasi else trace.texts(c) for c in names}
    tops = {c: trace.problem.hierarchies[c].labels[-1][0] for c in trace.quasi}
    for row in range(trace.rows):
        gone = run.together[row] < 0
        cells: list[Cell] = []
        for column in names:
            own, text = trace.texts(column)[row], said[column][row]
            if gone:
                cells.append(Cell(text="suppressed", tone="bad"))
            elif text == own:
                cells.append(Cell(text=text))
            else:
                blank = column in tops and text in ("*", tops[column])
                cells.append(Cell(text=text, tone="bad" if blank else "now", was=own))
        rows.append(Row(id=f"row:{row}", label=str(row + 1), people=(row,), cells=tuple(cells)))
    heads = tuple(head(trace, column) for column in names)
    return Table(title=title, columns=heads, rows=tuple(rows), release=name)


def _shown(trace: Trace, name: str) -> Step:
    run = trace[name]
    blank, coarser = _changed(trace, name)
    removed = run.together.count(-1)
    words = f"{_MODELS[name]} {blank} cells are blank, {coarser} more say less than before"
    words += f"; {rows_said(removed)} suppressed." if removed else "."
    why = f"{blank} are blank, {coarser} generalized."
    printed = ""
    if trace.as_printed("patients") and name == "CS":
        printed = f"Printed: slide 37 suppresses 14 cells. Corrected: {blank} are enough."
    if trace.as_printed("patients") and name == "AG_CS":
        printed = (
            "Printed: slide 35 suppresses 8 cells at month of birth and four digits. Corrected: "
            f"{blank} are enough at these levels."
        )
    return Step(
        title=f"{name}: {_MODELS[name].split('.')[0].split(' (')[0].lower()}",
        words=words,
        pictures=(_blanked(trace, name, f"What {name} publishes"),),
        question=number_question(
            f"{_MODELS[name]} How many cells of the quasi-identifiers are blank?",
            blank,
            why,
            among=trace.rows * len(trace.quasi),
            mistakes=(coarser, blank + coarser, trace.rows, 0),
        ).on(table(trace, "The table as it is held", identifier=False)),
        together=run.together,
        seen=published(run),
        printed=printed,
    )


def _matrix(trace: Trace) -> Step:
    """Return every way to generalize with every way to suppress, as slide 33 classifies them."""
    kinds = {"AG": "columns (AG)", "CG": "cells (CG)", "": "nothing"}
    columns = {"TS": "rows (TS)", "AS": "columns (AS)", "CS": "cells (CS)", "": "nothing"}
    rows = tuple(
        Row(
            id=f"generalized:{kind}",
            label=label,
            cells=tuple(_classified(kind, column) for column in columns),
        )
        for kind, label in kinds.items()
    )
    why = (
        "A blank column is one at the top of its hierarchy, so that suppressing columns adds "
        "nothing to generalizing them."
    )
    same = MATRIX["AG_AS"].removeprefix("equivalent to ")
    return Step(
        title="Generalize × suppress",
        words=f"Each model generalizes columns, cells or nothing, and suppresses rows, columns, "
        f"cells or nothing. {why} The same goes for cells, CG_CS. Where cells are generalized one "
        "by one, suppressing whole rows or columns does not apply: their cells can be blanked "
        "where needed.",
        pictures=(
            Table(
                title="Generalized (down) and suppressed (across)",
                columns=tuple(Head(name=label) for label in columns.values()),
                rows=rows,
                corner="generalized",
            ),
            table(trace, "The table as it is held", identifier=False),
        ),
        question=Question(
            asks="AG_AS may generalize columns, and suppress columns too. Which model is it?",
            choices=(
                *(Choice(id=f"run:{name}", label=f"The same as {name}") for name in _SAME),
                Choice(id="new", label="One of its own, between AG and AS"),
                Choice(id="none", label="None: the two do not go together"),
            ),
            answer=f"run:{same}",
            why=why,
            pictures=(table(trace, "The table as it is held", identifier=False),),
        ),
    )


def _classified(kind: str, column: str) -> Cell:
    """Return what one way to generalize is with one way to suppress."""
    name = "_".join(part for part in (kind, column) if part)
    verdict = MATRIX[name or "none"]
    if verdict == "not applicable":
        return Cell(text=verdict, tone="quiet")
    if verdict == "not interesting":
        return Cell(text="the table itself", tone="quiet")
    if kind and column and verdict.startswith("equivalent to "):
        return Cell(text=f"{name} = {verdict.removeprefix('equivalent to ')}", tone="now")
    return Cell(text=name, tone="good")


def _refused(trace: Trace, name: str) -> Step:
    least = least_of(trace["AG"])
    return Step(
        title=f"{name}: nothing can be published",
        words=f"{_MODELS[name]} Here that leaves no table: {trace.refused[name]}",
        pictures=(
            table(
                trace,
                "All of it would be suppressed",
                identifier=False,
                tones=dict.fromkeys(range(trace.rows), "quiet"),
            ),
        ),
        question=Question(
            asks=f"{_MODELS[name]} Can k = {least} be kept so, with any row left?",
            choices=(Choice(id="yes", label="Yes"), Choice(id="no", label="No")),
            answer="no",
            why=f"{trace.refused[name]}",
            pictures=(table(trace, "The table as it is held", identifier=False),),
        ),
    )


def _counted(trace: Trace, order: Sequence[str]) -> Step:
    counts = {name: _changed(trace, name) for name in order}
    fewest = min(order, key=lambda name: counts[name][0])
    bars = tuple(
        Bar(
            id=f"run:{name}",
            label=name,
            value=sum(counts[name]),
            text=f"{counts[name][0]} blank, {counts[name][1]} generalized",
            tone="good" if name == fewest else "plain",
        )
        for name in order
    )
    return Step(
        title="All of them counted",
        words="CG and AG are what generalizes cells and columns; suppressing cells or columns "
        "as well (CG_CS, AG_AS) adds nothing, since the top of a hierarchy is blank. Fewer cells "
        "are changed, the finer what may be changed; but cells of one column then say different "
        "things in different rows, and the best table is hard to find.",
        pictures=(
            Bars(title="Changed cells", bars=bars, unit="cells of the quasi-identifiers"),
            release_table(trace, "CG", "What CG publishes"),
        ),
        question=Question(
            asks="Which model leaves the fewest cells blank?",
            choices=tuple(Choice(id=f"run:{name}", label=name) for name in order),
            answer=f"run:{fewest}",
            why=f"It blanks {counts[fewest][0]}.",
            pictures=(table(trace, "The table as it is held", identifier=False),),
        ),
        together=trace["CG"].together,
        seen=published(trace["CG"]),
    )
