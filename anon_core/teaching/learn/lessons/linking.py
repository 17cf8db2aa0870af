"""Linking: two tables, lines drawn between rows, and which columns let them be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from anon_core.data.roles.roles import Roles
from anon_core.explain.answers.fitting import known_combinations
from anon_core.teaching.learn.example import TOTH, Example, Material
from anon_core.teaching.learn.lesson import DIAL_K, Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Line, Links, Row, Table
from anon_core.teaching.learn.readings import Seen, as_held, published
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

_RUN, _FORGOTTEN = "release", "forgotten"
#: Censuses of 1990 (Sweeney) and 2000 (Golle): what is known of the birth, and who is unique.
PRINTED = (
    ("year of birth, 2000", 0.002),
    ("month of birth, 2000", 0.042),
    ("date of birth, 2000", 0.633),
    ("date of birth, 1990", 0.87),
)
_NAMES = (
    *("Sue J. Doe", "Mai Chen", "Ana Ito", "Ken Mori", "Ben Sato"),
    *("Grace Hill", "Carol", "Hellen", "Emma Reed"),
)


class LinkingLesson(Lesson):
    """A register with names is laid next to a table without."""

    name = "linking"
    number = 1
    title = "Linking: Carol, the governor"
    summary = (
        "A rare combination of values links two tables. A table without names is compared with a "
        "register with names, and a person is found."
    )
    about = ("k-anonymity", "linking", "uniqueness")
    source = Source(
        author="Samarati and Sweeney",
        year=1998,
        title="Protecting privacy when disclosing information",
        where="SRI-CSL-98-04",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, slides 17 to 19",
            sample="samarati",
            quasi=("Race", "DOB", "Sex", "ZIP"),
            names=_NAMES,
            person="Sue J. Doe",
        ),
        TOTH,
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
        },
        _FORGOTTEN: {
            "algorithm": {"name": "optimal"},
            "models": [{"name": "k-anonymity", "k": 2}],
        },
    }

    def roles(self, run: str, material: Material) -> Roles:
        """Return the roles; in one run the column with most values is taken for a secret."""
        roles = material.roles
        if run != _FORGOTTEN or len(roles.quasi) < 2:
            return roles
        taken = _by_values(material)[-1]
        quasi = tuple(name for name in roles.quasi if name != taken)
        return replace(roles, quasi=quasi, sensitive=(*roles.sensitive, taken))

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: what is known, column by column; the release; a role forgotten."""
        known = _by_values(trace.material)
        found = [_two_tables(trace)]
        found += [_known(trace, known[: n + 1]) for n in range(len(known))]
        found.append(_unique(trace, known))
        if len(known) > 1:
            found.append(_forgotten(trace, known))
        found.append(_released(trace))
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about who is unique."""
        fits = _fits(trace, trace.quasi)
        alone = sum(count == 1 for count in fits)
        first = _fits(trace, _by_values(trace.material)[:1])
        return (
            Exercise(
                question=number_question(
                    f"How many of the {trace.rows} people are unique in {listed(trace.quasi)}?",
                    alone,
                    "For each of them exactly one row fits.",
                    among=trace.rows,
                    mistakes=(trace.rows, len(set(fits))),
                )
            ),
            Exercise(
                question=number_question(
                    f"If only {_by_values(trace.material)[0]} is known, how many rows fit at "
                    "least?",
                    min(first),
                    "It is the rarest value of that column.",
                    among=trace.rows,
                    least=1,
                    mistakes=(1, max(first), len(set(trace.texts(_by_values(trace.material)[0])))),
                )
            ),
        )


def _by_values(material: Material) -> tuple[str, ...]:
    """Return the quasi-identifiers, those with fewest values first."""
    many = {
        name: len(set(material.dataset.column(name).texts().tolist()))
        for name in material.roles.quasi
    }
    return tuple(sorted(many, key=lambda name: many[name]))


def _fits(trace: Trace, columns: Sequence[str]) -> tuple[int, ...]:
    """Return how many rows of the table fit what is known of every person."""
    _, rows, of_key = known_combinations(trace.problem, columns)
    key = trace.problem.frequency.row_key
    return tuple(rows[of_key[key]].tolist())


def _alike(trace: Trace, columns: Sequence[str]) -> tuple[int, ...]:
    """Return the combination of every row."""
    _, _, of_key = known_combinations(trace.problem, columns)
    return tuple(of_key[trace.problem.frequency.row_key].tolist())


def _register(trace: Trace, columns: Sequence[str]) -> Table:
    """Return what is known of everyone: their names, and some columns."""
    rows = tuple(
        Row(
            id=f"person:{row}",
            people=(row,),
            cells=(
                Cell(text=trace.names[row]),
                *(Cell(text=trace.texts(name)[row]) for name in columns),
            ),
        )
        for row in range(trace.rows)
    )
    heads = (Head(name="who"), *(head(trace, name) for name in columns))
    return Table(title="Register: who it is", columns=heads, rows=rows)


def _links(trace: Trace, columns: Sequence[str], right: Table, seen: Seen, title: str) -> Links:
    """Return the register next to a table, with a line wherever a row fits a person."""
    fits = [seen.fits(row) for row in range(trace.rows)]
    lines = tuple(
        Line(
            left=f"person:{row}",
            right=f"row:{other}",
            tone="bad" if len(own) == 1 else "now",
            people=(row,),
        )
        for row, own in enumerate(fits)
        for other in own
    )
    return Links(
        title=title,
        left=_register(trace, columns),
        right=right,
        lines=lines,
        note="Lines of the selected person are bold; red is a single one.",
    )


def _bare(trace: Trace, known: Sequence[str] = ()) -> Table:
    heads = dict.fromkeys(known, "now")
    return table(trace, "Table: what they have", identifier=False, heads=heads)  # type: ignore[arg-type]


def _two_tables(trace: Trace) -> Step:
    printed = ""
    words = (
        "On the right is a table without names, as it might be published. On the left is a "
        "register, such as a voter list: names, and some columns of the table. Draw a line "
        "wherever two rows agree. In 1997 the record of the governor of Massachusetts was "
        "found this way, by ZIP code, birth date and sex."
    )
    if trace.as_printed("patients"):
        words += " The register's line of Sue J. Doe is the source's; the others are made up."
        printed = (
            "Printed: slide 18 leaves sex out of the columns, and 87 % and 63.3 % of the people "
            "of the United States are both given as unique. Corrected: both count ZIP code, birth "
            "date and sex; 87 % is Sweeney's figure for the census of 1990, 63.3 % that of a "
            "later study for the census of 2000."
        )
    return Step(
        title="Two tables",
        words=words,
        pictures=(
            Links(
                title="A register and a table",
                left=_register(trace, ()),
                right=_bare(trace),
                lines=(),
            ),
        ),
        printed=printed,
    )


def _known(trace: Trace, known: Sequence[str]) -> Step:
    fits, together = _fits(trace, known), _alike(trace, known)
    seen = as_held(trace, known)
    alone = [trace.names[row] for row, count in enumerate(fits) if count == 1]
    said = listed(known)
    words = f"Of {said}, the register holds as much as the table. "
    if alone:
        verb = "has" if len(alone) == 1 else "have"
        words += f"{len(alone)} of {trace.rows} people {verb} one line only: they are found."
    else:
        words += f"No one has one line only; the fewest are {min(fits)}."
    person = trace.person
    question = number_question(
        f"Known: {said}. To how many rows can a line be drawn from {trace.names[person]}?",
        fits[person],
        f"{rows_said(fits[person])} {'has' if fits[person] == 1 else 'have'} the same {said}.",
        among=trace.rows,
        least=1,
        mistakes=(1, trace.rows, *_fits(trace, known[:-1] or known)[person : person + 1]),
    )
    before = Links(
        title="Which rows fit?", left=_register(trace, known), right=_bare(trace, known), lines=()
    )
    return Step(
        title=f"Known: {said}",
        words=words,
        pictures=(_links(trace, known, _bare(trace, known), seen, f"Lines by {said}"),),
        question=question.on(before),
        together=together,
        seen=seen,
    )


def _unique(trace: Trace, known: Sequence[str]) -> Step:
    """Return the step that counts who is unique, by every number of known columns."""
    found: dict[int, tuple[int, tuple[str, ...]]] = {}
    for size in range(1, len(known) + 1):
        sets = list(combinations(known, size))
        alone = [sum(n == 1 for n in _fits(trace, columns)) for columns in sets]
        found[size] = max(zip(alone, sets, strict=True), key=lambda one: one[0])
    first = next((size for size, (alone, _) in found.items() if 2 * alone >= trace.rows), 0)
    bars = tuple(
        Bar(
            id=f"known:{size}",
            label=listed(columns),
            value=alone / trace.rows,
            text=f"{alone} of {trace.rows}",
            tone="bad" if 2 * alone >= trace.rows else "plain",
        )
        for size, (alone, columns) in found.items()
    )
    why = (
        f"By {listed(found[first][1])}, {found[first][0]} of {trace.rows} people are unique."
        if first
        else "Not even all columns together make half of the people unique."
    )
    asks = "How many columns are enough to make half of the people unique?"
    printed = Bars(
        title="Unique among the people of the United States",
        bars=tuple(
            Bar(id=f"printed:{place}", label=label, value=share, text=f"{share:.1%}")
            for place, (label, share) in enumerate(PRINTED)
        ),
        unit="share, with ZIP code and sex",
    )
    shown = Bars(title="Unique, by the columns known", bars=bars, unit="share of the people")
    return Step(
        title="Who is unique, and by how much knowledge",
        words="A person is unique if no one else has the same values. For each number of columns, "
        f"the set is shown that makes most people unique. {why} A small table makes people unique "
        "sooner than a country does; still a few columns are enough there as well.",
        pictures=(shown, printed),
        question=Question(
            asks=asks,
            choices=(
                *(Choice(id=f"known:{size}", label=str(size)) for size in found),
                Choice(id="known:none", label="All are not enough"),
            ),
            answer=f"known:{first}" if first else "known:none",
            why=why,
            pictures=(_bare(trace, known),),
        ),
        together=_alike(trace, known),
        seen=as_held(trace, known),
    )


def _forgotten(trace: Trace, known: Sequence[str]) -> Step:
    """Return the step in which a column of the register is not marked as one."""
    run, taken = trace[_FORGOTTEN], known[-1]
    texts = trace.texts(taken)
    pairs = [(group, texts[row]) for row, group in enumerate(run.together)]
    places = list(dict.fromkeys(pair for pair in pairs if pair[0] >= 0))
    together = tuple(places.index(pair) if pair[0] >= 0 else -1 for pair in pairs)
    seen = published(run, known)
    alone = sum(seen.fits(row) == (row,) for row in range(trace.rows))
    required = [name for name in trace.quasi if name != taken]
    why = (
        f"{taken} is published as it is, and the register has it: {alone} of {trace.rows} people "
        "are found."
    )
    question = number_question(
        f"{taken} is marked as sensitive, not as quasi-identifier, and k = {least_of(run)} is kept "
        f"in {listed(required)}. How many people are found by all columns?",
        alone,
        why,
        among=trace.rows,
        mistakes=(0, least_of(run), trace.rows),
    )
    return Step(
        title=f"A role forgotten: {taken}",
        words=f"The run meets k = {least_of(run)} in {listed(required)}, as configured. {why} A "
        "privacy model covers the marked columns, and no others.",
        pictures=(
            _links(
                trace,
                known,
                _published(trace, _FORGOTTEN, required),
                seen,
                f"Lines by {listed(known)}",
            ),
        ),
        question=question.on(_published(trace, _FORGOTTEN, required)),
        together=together,
        seen=seen,
    )


def _published(trace: Trace, name: str, required: Sequence[str]) -> Table:
    """Return what a run publishes, in the order of the table."""
    run = trace[name]
    cells = {column: run.published(column) for column in required}
    return table(
        trace,
        "Table: what is published",
        cells=cells,
        together=run.together,
        order=range(trace.rows),
        identifier=False,
        release=name,
    )


def _released(trace: Trace) -> Step:
    run = trace[_RUN]
    seen = published(run)
    least = min(len(seen.fits(row)) for row, group in enumerate(run.together) if group >= 0)
    return Step(
        title="The release: no single line",
        words=f"With {listed(trace.quasi)} marked, the run meets k = {least_of(run)}: from "
        f"everyone who is in it at least {least} lines start, and no one can say which is right. "
        "What the rows have in common is learned all the same.",
        pictures=(
            _links(
                trace,
                trace.quasi,
                release_table(trace, _RUN, "Table: what is published"),
                seen,
                f"Lines by {listed(trace.quasi)}",
            ),
        ),
        question=number_question(
            "How many lines go out from the person with the fewest?",
            least,
            f"The smallest class has {rows_said(least)}.",
            among=trace.rows,
            least=1,
            mistakes=(least_of(run), 1, len(set(run.together) - {-1})),
        ).on(_bare(trace, columns_shown(trace, identifier=False))),
        together=run.together,
        seen=seen,
    )
