"""Slicing's diversity check: the buckets that match someone, and p(t, s) added up over them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import (
    Choice,
    Dial,
    Exercise,
    Lesson,
    Pseudocode,
    Question,
    Source,
    Step,
)
from anon_core.teaching.learn.permuted_tables import (
    blocks_shown,
    chances,
    numbered,
    published_table,
)
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table
from anon_core.teaching.learn.text import (
    listed,
    number_question,
    offered,
    people_of,
    rows_said,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Trace, rows_of_tuples, texts_of

_RUN, _L = "slicing", 2


_CODE = Pseudocode(
    lines=(
        "Put all rows in one bucket.",
        "Take a bucket, and halve it at a median.",
        "f(t, B): the product of the shares of rows that show t's sets.",
        "p(t, B) = f(t, B) / the sum over all buckets.",
        "p(t, s) = the sum of p(t, B) · p(s | t, B).",
        "Keep the halves if p(t, s) ≤ 1/l for everyone.",
        "No bucket can be halved: shuffle the sets in each, and publish.",
    )
)


class SlicingCheckLesson(Lesson):
    """Buckets are halved while no one's value becomes likelier than 1 in l."""

    name = "slicing-check"
    number = 11
    title = "Slicing's diversity check"
    summary = (
        "A person's shuffled values may be in several buckets. The chance of each value adds up "
        "over all of them: p(t, s)."
    )
    minutes = 5
    about = ("slicing-l-diversity", "tuple-partition")
    source = Source(
        author="Li, Li, Zhang and Molloy",
        year=2012,
        title="Slicing: a new approach for privacy preserving data publishing",
        doi="10.1109/TKDE.2010.236",
        where="as presented by Toth 2015, figure 3.9, algorithms 3 and 4",
    )
    dial = Dial(label="l", values=(2, 3, 4))
    examples = (
        Example(name="toth", title="Toth's eight people", sample="toth-private", person="Sara"),
        Example(name="li", title="Li's nine patients", sample="li-microdata", person="Lily"),
    )
    runs = {
        _RUN: {
            "algorithm": {"name": "slicing", "partition": "tuple-partition"},
            "models": [{"name": "slicing-l-diversity", "l": _L}],
        }
    }

    def asked(self, run: str, material: Material) -> Mapping[str, Any]:
        """Return what is run: the sensitive column is linked with one that allows it."""
        asked, roles = self.runs[run], material.roles
        secret = roles.sensitive[:1]
        linked = [q for q in reversed(roles.quasi) if secret and _allows(material, q, secret[0])]
        sets = [[*linked[:1], *secret]] if linked else [[roles.quasi[0]]]
        return {**asked, "algorithm": {**asked["algorithm"], "sets": sets}}

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: buckets halved, then one person's chances, then everyone's."""
        run = trace[_RUN]
        whole = (0,) * trace.rows
        return [
            Step(
                title="Sets of columns, one bucket",
                code=_CODE.at(1),
                words=f"The sets are {_sets_said(trace)}. Within a bucket sets are shuffled "
                f"against each other. All rows are one bucket at first; it is halved as long as "
                f"no one's {trace.sensitive[0]} becomes likelier than 1 in l = {_l(trace)}, over "
                "all buckets together.",
                pictures=(table(trace, "The table as it is held", together=whole),),
            ),
            *_halved(trace),
            Step(
                title="The sliced table",
                code=_CODE.at(7),
                words=f"{_buckets_said(trace)} are published, each with its sets shuffled. Values "
                "of "
                "one original row need not be in one published row.",
                pictures=(published_table(trace, _RUN, 0, "What is published"),),
                question=number_question(
                    f"How many buckets does the release have, with {trace.rows} rows?",
                    len(set(run.together)),
                    "As many as are left once no bucket can be halved.",
                    among=trace.rows,
                    least=1,
                    mistakes=(
                        len(run.events_of("cut")),
                        trace.rows // _l(trace),
                        len(run.events_of("part")),
                    ),
                ),
                found=_found(trace),
            ),
            _matches(trace),
            _shares(trace),
            _added(trace),
            _everyone(trace),
        ]

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about matching buckets."""
        everyone = [chances(trace, _RUN, row) for row in range(trace.rows)]
        several = sum(len(one.buckets) > 1 for one in everyone)
        return (
            Exercise(
                question=number_question(
                    "How many people match more than one bucket?",
                    several,
                    "Their values occur in several buckets, in every set of columns.",
                    among=trace.rows,
                    mistakes=(0, trace.rows, len(set(trace[_RUN].together))),
                )
            ),
            Exercise(
                question=_share_question(
                    "What is the highest p(t, s) of anyone?",
                    max(max(one.value.values()) for one in everyone),
                    f"It may be 1/{_l(trace)} at most.",
                )
            ),
        )


def _l(trace: Trace) -> int:
    """Return the l that no one's value may be likelier than 1 in."""
    return int(trace.example.setting or _L)


def _allows(material: Material, column: str, secret: str) -> bool:
    """Say whether no value of a column shows more than 1 in l of the secret to begin with."""
    seen_with: dict[str, Counter[str]] = defaultdict(Counter)
    for own, said in zip(texts_of(material, column), texts_of(material, secret), strict=True):
        seen_with[own][said] += 1
    return all(max(one.values()) * _L <= one.total() for one in seen_with.values())


def _sets_said(trace: Trace) -> str:
    return listed(_set_said(block) for block in trace[_RUN].release.blocks)


def _set_said(block: Sequence[str]) -> str:
    return f"{{{', '.join(block)}}}"


def _buckets_said(trace: Trace) -> str:
    number = len(set(trace[_RUN].together))
    return f"{number} bucket{'' if number == 1 else 's'}"


def _found(trace: Trace) -> tuple[str, ...]:
    """Return what is found of every person."""
    said: list[str] = []
    for row in range(trace.rows):
        shares = chances(trace, _RUN, row)
        number, (most, p) = len(shares.buckets), next(iter(shares.value.items()))
        said.append(
            f"Someone who knows {listed(trace.quasi)} of {trace.names[row]} finds "
            f"{number} bucket{'' if number == 1 else 's'} that may hold the row. "
            f"{trace.sensitive[0]} is one of {len(shares.value)} values; {most} has a chance "
            f"of {p}."
        )
    return tuple(said)


def _share_question(asks: str, right: Fraction, why: str) -> Question:
    """Return a question for a share."""
    likely = [
        o for o in dict.fromkeys((1 - right, right / 2, right * 2)) if 0 < o <= 1 and o != right
    ]
    near = sorted((Fraction(1, n) for n in range(1, 6)), key=lambda o: abs(o - right))
    others = [o for o in near if o != right and o not in likely]
    shares = offered(asks, right, likely, others, 4)
    return Question(
        asks=asks,
        choices=tuple(Choice(id=f"share:{one}", label=str(one)) for one in shares),
        answer=f"share:{right}",
        why=why,
    )


# ---- steps -------------------------------------------------------------------------------------


def _halved(trace: Trace) -> list[Step]:
    """Return a step for every bucket that was looked at."""
    run = trace[_RUN]
    behind = rows_of_tuples(run)
    together, found = [0] * trace.rows, list[Step]()
    events = run.events_of("part", "cut")
    for place, event in enumerate(events):
        if event.kind != "part":
            continue
        facts: Mapping[str, Any] = event.facts
        rows = _rows(behind, facts["tuples"])
        cut = place + 1 < len(events) and events[place + 1].kind == "cut"
        before = tuple(together)
        said = f"rows {listed(str(row + 1) for row in rows)}"
        if cut:
            pieces: Mapping[str, Any] = events[place + 1].facts
            halves = [_rows(behind, piece) for piece in pieces["pieces"]]
            for row in halves[1]:
                together[row] = max(before) + 1
            why = (
                f"Halves of {listed(str(len(half)) for half in halves)} rows leave everybody at "
                f"1 in {_l(trace)} or below."
            )
        else:
            why = (
                f"Every cut at a median would make a person's value likelier than 1 in {_l(trace)}."
                if len(rows) > 1
                else "A single row cannot be halved."
            )
        found.append(
            Step(
                title=f"A bucket of {rows_said(len(rows))} is {'halved' if cut else 'left whole'}",
                code=_CODE.at(2, 6),
                words=f"The bucket of {said} is looked at. {why}",
                pictures=(table(trace, "The buckets now", together=tuple(together)),),
                question=yes_or_no(
                    f"Can the bucket of {said} be halved, so that no one's value becomes "
                    f"likelier than 1 in {_l(trace)}?",
                    cut,
                    why,
                ),
            )
        )
    return found


def _rows(behind: Sequence[Any], tuples: Sequence[int]) -> list[int]:
    return sorted(int(row) for one in tuples for row in behind[int(one)])


def _matches(trace: Trace) -> Step:
    run, person = trace[_RUN], trace.person
    who, shares = trace.names[person], chances(trace, _RUN, person)
    number = dict(zip(run.together, numbered(trace, _RUN), strict=True))
    rows = tuple(
        Row(
            id=f"bucket:{number[group]}",
            label=str(number[group] + 1),
            tone="good" if group in shares.buckets else "quiet",
            people=people_of(run.together, group),
            cells=(
                *(Cell(text=f"{n} of {size}") for n, size in shows),
                Cell(text=str(prod((Fraction(n, size) for n, size in shows), start=Fraction(1)))),
            ),
        )
        for group, shows in sorted(shares.shows.items(), key=lambda one: number[one[0]])
    )
    heads = (
        *(Head(name=_set_said(block)) for block in blocks_shown(trace, _RUN)),
        Head(name="f(t, B)"),
    )
    likely = number[max(shares.buckets, key=lambda group: (shares.buckets[group], -number[group]))]
    apart = [number[group] for group in shares.shows if group not in shares.buckets]
    matched = listed(
        str(number[group] + 1) for group in sorted(shares.buckets, key=number.__getitem__)
    )
    return Step(
        title=f"Which buckets match {who}?",
        code=_CODE.at(3),
        words=f"A bucket matches if each set of columns shows what {who} shows somewhere in it: "
        f"here {matched}. f(t, B) is the product of the shares of rows that do.",
        pictures=(
            Table(
                title=f"Rows that show what {who} does", columns=heads, rows=rows, corner="bucket"
            ),
            published_table(trace, _RUN, 0, "What is published"),
        ),
        question=Question(
            asks=f"{who} has {listed(f'{q} {trace.texts(q)[person]}' for q in trace.quasi)}. Which "
            "of these buckets may hold the row?",
            choices=tuple(
                Choice(id=f"bucket:{n}", label=f"Bucket {n + 1}") for n in sorted([likely, *apart])
            )
            + ((Choice(id="bucket:none", label="None"),) if not apart else ()),
            answer=f"bucket:{likely}",
            why="All values have to occur in a bucket, but not in one row of it.",
        ).on(published_table(trace, _RUN, 0, "What is published", by_group=True)),
        found=_found(trace),
    )


def _shares(trace: Trace) -> Step:
    run, person = trace[_RUN], trace.person
    who, shares = trace.names[person], chances(trace, _RUN, person)
    number = dict(zip(run.together, numbered(trace, _RUN), strict=True))
    order = sorted(shares.buckets, key=lambda group: number[group])
    bars = tuple(
        Bar(
            id=f"bucket:{number[group]}",
            label=f"Bucket {number[group] + 1}",
            value=float(shares.buckets[group]),
            text=str(shares.buckets[group]),
            tone="now",
            people=people_of(run.together, group),
        )
        for group in order
    )
    most = max(shares.buckets.values())
    first = [group for group in order if shares.buckets[group] == most]
    question = _share_question(
        f"How likely is {who} in bucket {number[order[0]] + 1}?",
        shares.buckets[order[0]],
        "Its f(t, B) divided by the sum of all.",
    )
    if len(first) == 1 < len(order):
        question = Question(
            asks=f"In which bucket is {who} likeliest?",
            choices=tuple(
                Choice(id=f"bucket:{number[g]}", label=f"Bucket {number[g] + 1}") for g in order
            ),
            answer=f"bucket:{number[first[0]]}",
            why=f"Its f(t, B) is the largest: {most} of the sum of all.",
        )
    return Step(
        title="How likely is each bucket?",
        code=_CODE.at(4),
        words=f"p(t, B) is the share that f(t, B) has in the sum over all buckets. {who} is in one "
        "of those that match; the others are out of the question.",
        pictures=(Bars(title=f"p(t, B) of {who}", bars=bars, unit="chance"),),
        question=question,
        found=_found(trace),
    )


def _added(trace: Trace) -> Step:
    run, person = trace[_RUN], trace.person
    who, shares = trace.names[person], chances(trace, _RUN, person)
    number = dict(zip(run.together, numbered(trace, _RUN), strict=True))
    order = sorted(shares.buckets, key=lambda group: number[group])
    most = max(shares.value.values())
    rows = tuple(
        Row(
            id=f"secret:{text}",
            label=text,
            tone="now" if p == most else "plain",
            cells=(
                *(
                    Cell(
                        text=f"{shares.buckets[g]} · {shares.seen_with[g][text]}"
                        if text in shares.seen_with[g]
                        else "0"
                    )
                    for g in order
                ),
                Cell(text=str(p)),
            ),
        )
        for text, p in shares.value.items()
    )
    heads = (*(Head(name=f"bucket {number[g] + 1}") for g in order), Head(name="p(t, s)"))
    return Step(
        title=f"Added up for {who}",
        code=_CODE.at(5),
        words=f"In each bucket only rows count that show the same columns next to "
        f"{trace.sensitive[0]}. p(t, s) is the sum of p(t, B) · p(s | t, B) over the buckets: "
        f"{most} at most, and 1/{_l(trace)} is allowed.",
        pictures=(
            Table(title="p(t, B) · p(s | t, B)", columns=heads, rows=rows, corner="value"),
            published_table(trace, _RUN, 0, "What is published"),
        ),
        question=_share_question(
            f"How likely is the likeliest value of {trace.sensitive[0]} for {who}?",
            most,
            "It is the largest of the sums over all buckets that match.",
        ),
        found=_found(trace),
    )


def _everyone(trace: Trace) -> Step:
    highest = [max(chances(trace, _RUN, row).value.values()) for row in range(trace.rows)]
    limit = Fraction(1, _l(trace))
    reach = sum(p == limit for p in highest)
    bars = tuple(
        Bar(
            id=f"row:{row}",
            label=trace.names[row],
            value=float(p),
            text=str(p),
            tone="bad" if p > limit else "now" if p == limit else "good",
            people=(row,),
        )
        for row, p in enumerate(highest)
    )
    printed = ""
    if trace.as_printed("toth"):
        printed = (
            "Printed: line 10 of algorithm 4 rejects a cut where p(t, s) = 1/l. Corrected: the "
            "definition allows 1/l, and only what is above is rejected."
        )
    return Step(
        title="The check: everyone",
        code=_CODE.at(6),
        words=f"A cut is accepted if this holds for everyone: max p(t, s) ≤ 1/{_l(trace)}. "
        f"{reach} of {trace.rows} reach it exactly, which is allowed. The check weighs all buckets "
        "together: one bucket may show too much of a value, if people may be elsewhere as well.",
        pictures=(
            Bars(
                title="max p(t, s)",
                bars=bars,
                unit="chance",
                limit=(float(limit), f"1/{_l(trace)}"),
            ),
            published_table(trace, _RUN, 0, "What is published"),
        ),
        question=number_question(
            f"Of how many people is a value exactly as likely as 1/{_l(trace)}?",
            reach,
            f"For the others every value is less likely than 1/{_l(trace)}.",
            among=trace.rows,
            mistakes=(0, trace.rows, trace.rows // _l(trace)),
        ),
        found=_found(trace),
        printed=printed,
    )
