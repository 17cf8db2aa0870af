"""Homogeneity, background, skewness, similarity: what a class tells, and which promise stops it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.release.attack_result import AttackResult
from anon_core.teaching.learn.attack_findings import attacked
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import Choice, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.seen import published
from anon_core.teaching.learn.text import (
    class_bars,
    least_of,
    listed,
    number_question,
    people_of,
    release_table,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Run, Trace

_K2 = {"name": "k-anonymity", "k": 2}
_ATTACKS = ("homogeneity", "background", "skewness", "similarity")


def _asked(*models: dict[str, object]) -> dict[str, object]:
    return {"algorithm": {"name": "mondrian"}, "models": [_K2, *models]}


#: Run → its promise, what it asks of every class, and what it does not see.
_PROMISES = {
    "l": (
        "Distinct l-diversity",
        "every class shows at least 2 different values",
        "It counts values, and neither how often they occur nor what they mean.",
    ),
    "entropy": (
        "Entropy l-diversity",
        "the values of every class are as evenly spread as 2 equally frequent ones",
        "It sees how often values occur, and not what they mean.",
    ),
    "recursive": (
        "Recursive (c, l)-diversity",
        "in every class the commonest value has fewer rows than c = 2 times all others together",
        "It bounds the most common value by the rare ones, and does not see what they mean.",
    ),
    "t": (
        "t-closeness",
        "the shares of values in every class are within t = 0.2 of those in the whole table",
        "What the whole table reveals about everyone, a class reveals too.",
    ),
}


def _slide_59() -> Material:
    diseases = ("hypertension", "obesity", "chest pain", "obesity", "obesity")
    diseases += ("short breath", "short breath", "chest pain", "short breath")
    kinds = {"hypertension": "circulation", "obesity": "metabolism"}
    kinds |= dict.fromkeys(("chest pain", "short breath"), "complaint of the chest")
    slides = Example(
        name="", title="", sample="samarati", quasi=("Race", "DOB", "Sex", "ZIP")
    ).material
    frame = sample("samarati").frame().astype(object)
    frame["Disease"] = diseases
    return replace(
        slides,
        dataset=Dataset.from_frame(frame),
        levels={**slides.levels, "Disease": [[own, kind, "*"] for own, kind in kinds.items()]},
    )


class HomogeneityLesson(Lesson):
    """One class, what is learned of it; then one promise after the other."""

    name = "homogeneity"
    number = 9
    title = "Homogeneity, background, skewness, similarity"
    summary = (
        "No one's row is known, and yet the class reveals the sensitive value: all rows have the "
        "same, one can be ruled out, it is far more common there, or all are alike."
    )
    source = Source(
        author="Samarati",
        year=2008,
        title="k-Anonymity, slides of the FOSAD school",
        where="slides 59 to 64",
    )
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, diseases of slide 59",
            made=_slide_59,
            names=(*("",) * 6, "Carol", "Hellen"),
            person="Carol",
        ),
        Example(name="toth", title="Toth's eight people", sample="toth-private", person="Ada"),
    )
    runs = {
        "k": _asked(),
        "l": _asked({"name": "l-diversity", "l": 2}),
        "entropy": _asked({"name": "entropy-l-diversity", "l": 2}),
        "recursive": _asked({"name": "recursive-l-diversity", "c": 2, "l": 2}),
        "t": _asked({"name": "t-closeness", "t": 0.2}),
    }
    may_refuse = frozenset(_PROMISES)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a release, four attacks on it, four promises, what each stops."""
        run = trace["k"]
        found = [
            Step(
                title="A release that keeps k",
                words=f"Every class has at least k = {least_of(run)} rows: no one can say "
                f"which row is whose. {trace.sensitive[0]} stays unchanged. The question is no "
                "longer which row belongs to a person, but what all rows of their class reveal.",
                pictures=(
                    release_table(trace, "k", "What is published"),
                    class_bars(trace, run.together, least_of(run)),
                ),
                together=run.together,
                seen=published(run),
            ),
            _homogeneity(trace),
            _background(trace),
            _skewness(trace),
        ]
        alike = attacked(run, "similarity")
        if alike is not None:
            found.append(_similarity(trace, alike))
        for name in _PROMISES:
            found.append(_refused(trace, name) if name in trace.refused else _promised(trace, name))
        found.append(_compared(trace))
        return found

    def exercises(self, trace: Trace) -> Sequence[Exercise]:
        """Return questions about what classes tell."""
        values = _values(trace, trace.person)
        certain = _certain(attacked(trace["k"], "homogeneity"))
        return (
            Exercise(
                question=number_question(
                    f"How many different values of {trace.sensitive[0]} does the class of "
                    f"{trace.names[trace.person]} show under k alone?",
                    len(values),
                    f"The class shows {listed(values)}.",
                )
            ),
            Exercise(
                question=number_question(
                    "For how many people does the release that meets only k make the value "
                    "certain?",
                    certain,
                    "They are in classes that show a single value.",
                )
            ),
        )


def _classes_said(run: Run) -> str:
    """Return the number of classes in words."""
    number = len(set(run.together) - {-1})
    return f"{number} class{'' if number == 1 else 'es'}"


def _certain(result: AttackResult | None) -> int:
    """Return of how many people an attack is certain."""
    return 0 if result is None else int(result.at_risk)


def _values(trace: Trace, person: int) -> tuple[str, ...]:
    """Return what the class of a person shows, each value once."""
    run, texts = trace["k"], trace.texts(trace.sensitive[0])
    return tuple(dict.fromkeys(texts[row] for row in people_of(run.together, run.together[person])))


def _said(trace: Trace, name: str, group: int) -> str:
    """Return the values of a class with their rows."""
    texts = trace.texts(trace.sensitive[0])
    counts = Counter(texts[row] for row in people_of(trace[name].together, group))
    return listed(f"{text} {n}×" for text, n in counts.most_common())


def _of_classes(
    trace: Trace, name: str, result: AttackResult, title: str, *, most: float = 1.0
) -> Bars:
    """Return what an attack finds in every class, red where it is the most there is."""
    run = trace[name]
    bars: list[Bar] = []
    for group in sorted(set(run.together) - {-1}):
        mine, figure = people_of(run.together, group), float(result.per_class[group])
        bars.append(
            Bar(
                id=f"part:{group}",
                label=f"Rows {listed(str(row + 1) for row in mine)}",
                value=figure,
                text=f"{figure:.2f}: {_said(trace, name, group)}",
                tone="bad" if figure >= most - 1e-9 else group_tone(group),
                people=mine,
            )
        )
    return Bars(title=title, bars=tuple(bars), unit="share")


def _first(trace: Trace, right: set[int]) -> int:
    """Return one of some classes: that of whoever is followed, where it is among them."""
    own = trace["k"].together[trace.person]
    return own if own in right else min(right, default=-1)


def _which(
    trace: Trace, asks: str, right: set[int], why: str, none: str, bars: Sequence[int]
) -> Question:
    """Return a question for a class; of several right ones one is offered."""
    answer = _first(trace, right)
    offered = [group for group in bars if group == answer or group not in right]
    said = [people_of(trace["k"].together, group) for group in offered]
    choices = [
        Choice(id=f"part:{group}", label=f"Rows {listed(str(row + 1) for row in mine)}")
        for group, mine in zip(offered, said, strict=True)
    ]
    return Question(
        asks=asks,
        choices=(*choices, Choice(id="none", label=none)),
        answer=f"part:{answer}" if right else "none",
        why=why,
        pictures=(
            release_table(trace, "k", "What is published"),
            class_bars(trace, trace["k"].together, least_of(trace["k"])),
        ),
    )


def _homogeneity(trace: Trace) -> Step:
    run, column = trace["k"], trace.sensitive[0]
    result = attacked(run, "homogeneity")
    assert result is not None
    groups = sorted(set(run.together) - {-1})
    right = {group for group in groups if result.per_class[group] >= 1}
    number = _certain(result)
    why = (
        f"All rows of the class have the same {column}."
        if right
        else f"Every class shows at least two values of {column}."
    )
    printed = ""
    if trace.example.name == "patients":
        printed = (
            "Printed: slide 19 gives rows 5 and 7 other diseases than slide 59. Corrected: the "
            "attack needs those of slide 59; with those of slide 19 no class is homogeneous."
        )
    return Step(
        title="Homogeneity: all have the same",
        words="Where a class shows only one value, it reveals that value of everyone in it, "
        "though "
        f"no row is known. {column} is certain for {number} of {trace.rows} people.",
        pictures=(
            _of_classes(trace, "k", result, "Share of the commonest value"),
            release_table(trace, "k", "What is published"),
        ),
        question=_which(
            trace, f"Which class reveals {column} of everyone in it?", right, why, "None", groups
        ),
        together=run.together,
        seen=published(run),
        printed=printed,
    )


def _background(trace: Trace) -> Step:
    run, column = trace["k"], trace.sensitive[0]
    result = attacked(run, "background")
    assert result is not None
    number = _certain(result)
    words = (
        "Someone who knows something about a person can rule values out. If one value other than "
        f"the person's own is ruled out, {column} is certain for {number} of {trace.rows} people: "
        "where a class shows one value or two."
    )
    if trace.example.name == "patients":
        words += (
            " Hellen's class shows chest pain and short breath; she runs two hours a day, so it is "
            "not short breath."
        )
    return Step(
        title="Background: one value ruled out",
        words=words,
        pictures=(
            _of_classes(trace, "k", result, "Share once one value is ruled out"),
            release_table(trace, "k", "What is published"),
        ),
        question=number_question(
            "One value besides the own can be ruled out of anybody. Of how many people is "
            f"{column} then certain?",
            number,
            "They are in classes of at most two values.",
        ),
        together=run.together,
        seen=published(run),
    )


def _skewness(trace: Trace) -> Step:
    run = trace["k"]
    result = attacked(run, "skewness")
    assert result is not None
    groups = sorted(set(run.together) - {-1})
    most = max(float(result.per_class[group]) for group in groups)
    right = {group for group in groups if result.per_class[group] >= most - 1e-9}
    return Step(
        title="Skewness: far commoner than elsewhere",
        words="Before, an attacker believes of everyone what the whole table says. The class "
        f"changes that. {result.sentence} Even where nothing is certain, much is learned.",
        pictures=(
            _of_classes(
                trace,
                "k",
                result,
                "By how much the share of a value grows at most",
                most=most,
            ),
            release_table(trace, "k", "What is published"),
        ),
        question=_which(
            trace,
            "In which class does the share of a value grow most compared with the whole table?",
            right,
            f"It grows by {most:.2f}: the class shows {_said(trace, 'k', _first(trace, right))}.",
            "In none does any grow",
            groups,
        ),
        together=run.together,
        seen=published(run),
    )


def _similarity(trace: Trace, result: AttackResult) -> Step:
    run, column = trace["k"], trace.sensitive[0]
    number = _certain(result)
    added = _certain(attacked(run, "homogeneity"))
    words = f"Different values may mean the same. {result.sentence}"
    if trace.example.name == "patients":
        words += " The kinds of diseases are added here, chest pain and short breath being one."
    return Step(
        title="Similarity: different, yet alike",
        words=words,
        pictures=(
            _of_classes(trace, "k", result, "Share of the commonest kind"),
            release_table(trace, "k", "What is published"),
        ),
        question=number_question(
            f"{column} itself is certain for {added} people. For how many is at least its kind "
            "certain?",
            number,
            "Everyone in their class has a value of one kind.",
        ),
        together=run.together,
        seen=published(run),
    )


def _promised(trace: Trace, name: str) -> Step:
    run, (title, asks, blind) = trace[name], _PROMISES[name]
    found = {attack: attacked(run, attack) for attack in _ATTACKS}
    same, known, alike = (_certain(found[a]) for a in ("homogeneity", "background", "similarity"))
    grown = found["skewness"]
    assert grown is not None
    by_kind = name in ("l", "t") and found["similarity"] is not None
    left = alike if by_kind else known
    asked = (
        "the kind of value of anybody still certain"
        if by_kind
        else "anybody's value still certain once one other is ruled out"
    )
    facts = (
        f"Homogeneity reveals {same} people, and {known} once a value is ruled out; a share grows "
        f"by {grown.worst:.2f} at most"
        + (f", and the kind is certain for {alike}." if found["similarity"] else ".")
    )
    printed = ""
    if trace.example.name == "patients":
        printed = {
            "entropy": "Printed (Aalborg 2022, algorithm 7): shares are of the whole table's rows. "
            "Corrected: of the class's rows, or a class of 7 and 5 would pass for two values.",
            "recursive": "Printed (Aalborg 2022, formula 3.3): the sum begins at the commonest "
            "value, with ≤. Corrected: it begins at the l-th commonest, with <.",
        }.get(name, "")
    homogeneous = found["homogeneity"]
    assert homogeneous is not None
    return Step(
        title=f"{title}: {_classes_said(run)}",
        words=f"{title} asks that {asks}. {facts} {blind}",
        pictures=(
            _of_classes(trace, name, homogeneous, "Share of the commonest value"),
            release_table(trace, name, "What is published"),
        ),
        question=yes_or_no(
            f"{title}: {asks}. Is {asked}?",
            left > 0,
            f"It is for {left} of {trace.rows} people." if left else "It is for no one.",
        ).on(table(trace, "The table as it is held", identifier=False)),
        together=run.together,
        seen=published(run),
        printed=printed,
    )


def _refused(trace: Trace, name: str) -> Step:
    title, asks, _ = _PROMISES[name]
    return Step(
        title=f"{title}: nothing can be published",
        words=f"{title} asks that {asks}. {trace.refused[name]}",
        pictures=(table(trace, "The table as it is held", identifier=False),),
        question=yes_or_no(
            f"{title}: {asks}. Can this table be published so?",
            False,
            trace.refused[name],
        ),
    )


def _compared(trace: Trace) -> Step:
    titles = {"k": "k-anonymity alone", **{name: one[0] for name, one in _PROMISES.items()}}
    rows: list[Row] = []
    safe: list[str] = []
    for name in (name for name in titles if name in trace.runs):
        found = [attacked(trace[name], attack) for attack in _ATTACKS]
        cells: list[Cell] = []
        for attack, result in zip(_ATTACKS, found, strict=True):
            if result is None:
                cells.append(Cell(text="not measured", tone="quiet"))
            elif attack == "skewness":
                cells.append(Cell(text=f"{result.worst:.2f}"))
            else:
                people = _certain(result)
                cells.append(Cell(text=f"{people}", tone="bad" if people else "good"))
        classes = len(set(trace[name].together) - {-1})
        if not any(cell.tone == "bad" for cell in cells):
            safe.append(name)
        rows.append(
            Row(
                id=f"run:{name}",
                label=titles[name],
                cells=(Cell(text=str(classes)), *cells),
            )
        )
    heads = ("classes", "homogeneity", "one ruled out", "share grows by", "kind")
    last = next(name for name in reversed(titles) if name in trace.runs)
    first = safe[0] if safe else "none"
    return Step(
        title="What each of them stops",
        words="People whose value is certain by each attack, and how much a share grows at most. "
        "What stops more leaves fewer classes, and so less detail. None of these promises hides "
        "what the whole table says, and all are about one column with one value of each person.",
        pictures=(
            Table(
                title="What attacks still find",
                columns=tuple(Head(name=name) for name in heads),
                rows=tuple(rows),
                corner="promise",
                note="Numbers of people, but for classes and shares.",
            ),
            release_table(trace, last, f"What is published with {titles[last]}"),
        ),
        question=Question(
            asks="Which is the first of them that leaves no one's value or kind certain, even "
            "where one value is ruled out?",
            choices=(
                *(Choice(id=f"run:{row.id[4:]}", label=row.label) for row in rows),
                Choice(id="run:none", label="None"),
            ),
            answer=f"run:{first}",
            why=(f"{titles[first]} leaves no one." if safe else "Each of them leaves someone."),
        ),
        together=trace[last].together,
        seen=published(trace[last]),
    )
