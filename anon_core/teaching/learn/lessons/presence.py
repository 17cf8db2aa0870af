"""Presence: who of a public table is in a permuted release, counted subset by subset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb, isnan, prod

from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import DIAL_K, Exercise, Lesson, Pseudocode, Source, Step
from anon_core.teaching.learn.permuted_tables import numbered, published_table
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, Tone, group_tone
from anon_core.teaching.learn.public_people import (
    made_up,
    own_rows,
    people_table,
    people_who_fit,
    presence,
    presence_found,
    public_people,
)
from anon_core.teaching.learn.text import head, listed, number_question, rows_said, table
from anon_core.teaching.learn.trace import Trace

_STRICT, _RELAXED = "strict", "relaxed"
#: Subsets of people that are listed, of the group that has fewest.
_LISTED = 60
#: People of a subset who are named with their values; of more, those who are left out are.
_NAMED = 4


def _asked(partition: str, least: int) -> dict[str, object]:
    return {
        "algorithm": {"name": "permutation", "partition": partition},
        "models": [{"name": "bucket-size", "k": least}],
    }


def _four_people() -> Material:
    import pandas as pd

    held = {
        "Name": ["Julie", "Sara", "James", "Barbara"],
        "Zip": ["5370", "5371", "5372", "5376"],
        "Age": ["21", "27", "32", "39"],
        "Salary": ["15k", "40k", "42k", "50k"],
    }
    public = {
        "Name": ["Julie", "Ada", "Sara", "James", "Mary", "Barbara"],
        "Zip": ["5370", "5370", "5371", "5372", "5376", "5376"],
        "Age": ["21", "27", "27", "32", "38", "39"],
    }
    kinds = {"Name": "text", "Zip": "ordered", "Age": "number", "Salary": "text"}
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(held, dtype=object)),
        roles=Roles(identifier=("Name",), quasi=("Zip", "Age"), sensitive=("Salary",)),
        types=kinds,
        population=Dataset.from_frame(pd.DataFrame(public, dtype=object)),
    )


_CODE = Pseudocode(
    lines=(
        "Find the public people who fit the group.",
        "List the subsets of them that are as large as the group.",
        "Keep those that yield exactly its columns.",
        "δ of a person: the share of kept subsets that hold them.",
    )
)


class PresenceLesson(Lesson):
    """Columns are permuted, a public table is at hand, and who is in it is counted."""

    name = "presence"
    number = 12
    title = "Presence: lemma, GetDelta, union and joint"
    summary = (
        "Permuted groups can still show who is in the table. Only some subsets of the people in a "
        "public table yield the published columns; counting them gives everyone's chance of "
        "presence."
    )
    about = ("membership", "bucket-size")
    source = Source(
        author="Toth",
        year=2015,
        title="Data anonymization",
        where="sections 3.1.2.2 and 4.1, algorithm 5",
    )
    dial = DIAL_K
    examples = (
        Example(
            name="four",
            title="Toth's four people, figures 2.5 and 2.6",
            made=_four_people,
            person="Sara",
            runs={_STRICT: _asked("mondrian", 2), _RELAXED: _asked("relaxed-mondrian", 2)},
        ),
        Example(
            name="toth",
            title="Toth's eight people, figures 4.4 to 4.9",
            sample="toth-private",
            person="Sara",
        ),
    )
    runs = {_STRICT: _asked("mondrian", 4), _RELAXED: _asked("relaxed-mondrian", 4)}

    def refuses(self, trace: Trace) -> str:
        """Ask for two quasi-identifiers, so that there is a link to cut."""
        return "" if len(trace.quasi) > 1 else "This lesson needs two quasi-identifiers."

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: two tables, who fits, the lemma, subsets, δ, union and joint."""
        return [
            _tables(trace),
            _released(trace),
            _fitting(trace),
            _lemma(trace),
            _subsets(trace),
            _everyone(trace),
            _both(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about who is in the table."""
        found = presence(trace, _STRICT)
        out = sum(delta == 0 for delta in found.joint)
        return (
            Exercise(
                question=number_question(
                    "Of how many public people is it certain that they are not in the table?",
                    out,
                    "They fit no group, or no subset that yields its columns holds them.",
                    among=len(found.joint) - trace.rows,
                    mistakes=(sum(not fits for fits in found.fits), len(found.joint) - trace.rows),
                )
            ),
        )


def _columns(trace: Trace, name: str, group: int) -> list[Counter[str]]:
    """Return what a published group shows in every quasi-identifier."""
    mine = [row for row, own in enumerate(numbered(trace, name)) if own == group]
    return [Counter(trace.texts(q)[row] for row in mine) for q in trace.quasi]


def _quietest(trace: Trace) -> tuple[int, list[int]]:
    """Return the group of which the fewest subsets are possible, and the public people who fit."""
    found = presence(trace, _STRICT)
    sizes = Counter(numbered(trace, _STRICT))
    own = {g: [p for p, fits in enumerate(found.fits) if g in fits] for g in sizes if g >= 0}

    def subsets(group: int) -> tuple[bool, int, int]:
        number = comb(len(own[group]), sizes[group])
        return number < 2, number, group

    group = min(own, key=subsets)
    return group, own[group]


# ---- steps -------------------------------------------------------------------------------------


def _release(trace: Trace, name: str) -> tuple[Table, ...]:
    tables = trace[name].result.tables
    return tuple(
        published_table(
            trace,
            name,
            number,
            f"What is published: {title}",
            fit=people_who_fit(trace, name),
        )
        for number, title in enumerate(tables)
    )


def _tables(trace: Trace) -> Step:
    names, _ = public_people(trace)
    words = (
        f"The table has {rows_said(trace.rows)}; being in it is itself the secret. An attacker "
        f"has a public table of {len(names)} people with {listed(trace.quasi)}, and knows that "
        "it contains everyone in the table."
    )
    words += made_up(trace)
    return Step(
        title="A private and a public table",
        words=words,
        pictures=(
            table(trace, "The table as it is held"),
            people_table(trace, "The public table", (), [()] * len(names)),
        ),
    )


def _released(trace: Trace) -> Step:
    return Step(
        title="Columns are permuted within groups",
        words="Every value is published exactly, and within a group each column is shuffled by "
        "itself: it is no longer said which values belong to one person.",
        pictures=_release(trace, _STRICT),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
    )


def _fitting(trace: Trace) -> Step:
    found = presence(trace, _STRICT)
    out = [place for place, fits in enumerate(found.fits) if not fits]
    cells = [
        (
            Cell(
                text=", ".join(str(g + 1) for g in fits) or "none",
                tone=group_tone(fits[0]) if fits else "quiet",
            ),
        )
        for fits in found.fits
    ]
    why = f"{len(out)} {'fits' if len(out) == 1 else 'fit'} no group."
    return Step(
        title="Who fits a group?",
        code=_CODE.at(1),
        words="A person fits a group if each of their values occurs in its column. A person who "
        f"fits none is certainly not in the table. {why}",
        pictures=(
            people_table(trace, "Groups that everyone fits", ("fits group",), cells),
            *_release(trace, _STRICT),
        ),
        question=number_question(
            "How many public people fit no group?",
            len(out),
            why,
            among=len(cells) - trace.rows,
            mistakes=(0, len(cells) - trace.rows),
        ).on(
            people_table(trace, "The public table", (), [()] * len(cells)),
            *_release(trace, _STRICT),
        ),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
    )


def _lemma(trace: Trace) -> Step:
    group, _ = _quietest(trace)
    names, public = public_people(trace)
    columns, found = _columns(trace, _STRICT, group), presence(trace, _STRICT)
    size = sum(columns[0].values())
    values = [
        prod(column[text] / size for column, text in zip(columns, row, strict=True))
        for row in public
    ]
    cells = [
        (
            Cell(text=f"{value:.3g}" if value else "0"),
            Cell(text=f"{value * size:.3g}" if value else "0"),
            Cell(text=_delta(found.joint[place]), tone=_tone(found.joint[place])),
        )
        for place, value in enumerate(values)
    ]
    own = public.index(tuple(trace.texts(q)[trace.person] for q in trace.quasi))
    shown = [place for place, value in enumerate(values) if value]
    first = own if own in shown else max(shown, key=lambda p: found.joint[p])
    return Step(
        title="The lemma, and what it does not say",
        words=f"By the lemma a published row of group {group + 1} shows all values of "
        f"{names[first]} with a chance of {values[first]:.3g}: the product of the shares of each "
        f"value in its column. That is the chance of one row. The group has {rows_said(size)}, so "
        f"{values[first] * size:.3g} of them are expected to; and with the public table being in "
        "the table may be certain.",
        pictures=(
            people_table(
                trace,
                f"Group {group + 1}: the lemma's value, rows expected, and the chance of being in "
                "the table",
                ("lemma", "rows", "chance (δ)"),
                cells,
            ),
            *_release(trace, _STRICT),
        ),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
        printed="Printed: the lemma's value is an upper bound of presence. Corrected: it is the "
        "chance that one fixed row shows these values; the pair occurs in the group more often, "
        "and with a public table presence can be certain.",
    )


def _delta(value: float) -> str:
    return "not counted" if isnan(value) else f"{value:.3g}"


def _tone(value: float) -> Tone:
    return "bad" if value >= 1 else "quiet" if value <= 0 else "plain"


def _subsets(trace: Trace) -> Step:
    group, fit = _quietest(trace)
    names, public = public_people(trace)
    columns = _columns(trace, _STRICT, group)
    size = sum(columns[0].values())
    every = comb(len(fit), size)
    if every > _LISTED:
        return _too_many(trace, group, len(fit), size, every)
    yields = {
        chosen: all(
            Counter(public[place][d] for place in chosen) == column
            for d, column in enumerate(columns)
        )
        for chosen in combinations(fit, size)
    }
    number = sum(yields.values())
    rows_of, most = own_rows(trace), size > _NAMED and 2 * size > len(fit)
    rows: list[Row] = []
    for place, (chosen, right) in enumerate(yields.items()):
        people = [p for p in fit if p not in chosen] if most else chosen
        rows.append(
            Row(
                id=f"subset:{place}",
                label=str(place + 1),
                people=tuple(rows_of[names[p]] for p in chosen if names[p] in rows_of),
                tone="good" if right else "quiet",
                cells=(
                    Cell(text=listed(names[p] for p in people) or "nobody"),
                    *(
                        Cell(
                            text=", ".join(sorted(public[p][d] for p in chosen)),
                            tone="plain"
                            if Counter(public[p][d] for p in chosen) == column
                            else "bad",
                        )
                        for d, column in enumerate(columns)
                        if not most
                    ),
                    Cell(text="yes" if right else "no", tone="good" if right else "quiet"),
                ),
            )
        )
    by_yield = sorted(rows, key=lambda row: row.tone != "good")
    why = (
        f"Of {every} subsets of {size} of the {len(fit)} people who fit, {number} "
        f"{'yields' if number == 1 else 'yield'} exactly the columns of the group."
    )
    listing = Table(
        title=f"Group {group + 1}: every subset of {size} of the {len(fit)} people who fit",
        columns=(
            Head(name="all but" if most else "subset"),
            *(head(trace, q) for q in trace.quasi if not most),
            Head(name="yields the columns"),
        ),
        rows=tuple(by_yield),
        corner="no.",
    )
    asked = Table(
        title=listing.title,
        columns=listing.columns[:1],
        rows=tuple(Row(id=r.id, label=r.label, cells=r.cells[:1]) for r in rows),
    )
    return Step(
        title="GetDelta: subsets counted",
        code=_CODE.at(2, 3),
        words=f"The group holds {rows_said(size)}, so {size} of those who fit are in it. {why} "
        "The share of these subsets that hold a person is the chance that they are in the table.",
        pictures=(listing, *_release(trace, _STRICT)),
        question=number_question(
            f"How many of the {every} subsets yield exactly the columns of group {group + 1}?",
            number,
            why,
            among=every,
            mistakes=(1, every, size, len(fit)),
        ).on(asked, *_release(trace, _STRICT)),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
    )


def _too_many(trace: Trace, group: int, fit: int, size: int, every: int) -> Step:
    """Return the step where even the group with fewest subsets has too many to be listed."""
    return Step(
        title="GetDelta: subsets counted",
        code=_CODE.at(2, 3),
        words=f"{size} of the {fit} people who fit group {group + 1} are in it: {every:,} subsets, "
        "too many to be listed. They are counted without listing them, by how many people of each "
        "kind a subset takes.",
        pictures=_release(trace, _STRICT),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
    )


def _everyone(trace: Trace) -> Step:
    found, (names, _) = presence(trace, _STRICT), public_people(trace)
    rows_of = own_rows(trace)
    sure = sum(delta >= 1 for delta in found.joint)
    bars = tuple(
        Bar(
            id=f"public:{place}",
            label=name,
            value=0.0 if isnan(delta) else delta,
            text=_delta(delta),
            tone=_tone(delta),
            people=(rows_of[name],) if name in rows_of else (),
        )
        for place, (name, delta) in enumerate(zip(names, found.joint, strict=True))
    )
    why = f"{sure} are in every choice of people that yields the release."
    return Step(
        title="Everyone's chance to be in the table",
        code=_CODE.at(4),
        words=f"Counted for all groups together. {why} Their presence is certain, however the "
        "columns were shuffled.",
        pictures=(Bars(title="Chance of being in the table (δ)", bars=bars, unit="chance"),),
        question=number_question(
            "Of how many public people is it certain that they are in the table?",
            sure,
            why,
            among=trace.rows,
            mistakes=(0, trace.rows, sum(len(fits) == 1 for fits in found.fits)),
        ).on(*_release(trace, _STRICT)),
        together=trace[_STRICT].together,
        found=presence_found(trace, presence(trace, _STRICT)),
    )


def _both(trace: Trace) -> Step:
    found = presence(trace, _RELAXED)
    cells = [
        (Cell(text=_delta(union), tone=_tone(union)), Cell(text=_delta(joint), tone=_tone(joint)))
        for union, joint in zip(found.union, found.joint, strict=True)
    ]
    apart = sum(
        abs(u - j) > 1e-9 for u, j in zip(found.union, found.joint, strict=True)
    )  # fmt: skip
    said = f"Of {apart} people the two differ." if apart else "Here both say the same of everyone."
    return Step(
        title="Groups that overlap: union and joint",
        words="Relaxed cuts deal equal values to either side, so a person may fit two groups. "
        "United, such groups say less: which of them a value belonged to is lost. "
        f"Kept separate, they are counted jointly. {said}",
        pictures=(
            people_table(
                trace, "Chance by the union of overlapping groups, and jointly",
                ("union", "joint"), cells,
            ),
            *_release(trace, _RELAXED),
        ),
        together=trace[_RELAXED].together,
        found=presence_found(trace, presence(trace, _RELAXED)),
        printed="Printed: overlapping groups are taken for their union. Corrected: the union "
        "understates; the attacker keeps the groups separate and counts them jointly."
        if trace.as_printed("toth")
        else "",
    )  # fmt: skip
