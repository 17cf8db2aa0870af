"""Homogeneity, background, skewness, similarity: what a class shows, and which model stops it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.model import PrivacyModel
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import sample
from anon_core.data.table import Dataset
from anon_core.release.attack_result import AttackResult
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.private_reference import reference_of
from anon_core.teaching.learn.example import Example, Material
from anon_core.teaching.learn.lesson import Choice, Dial, Exercise, Lesson, Question, Source, Step
from anon_core.teaching.learn.lesson_run import attacked
from anon_core.teaching.learn.pictures import Bar, Bars, Cell, Head, Row, Table, group_tone
from anon_core.teaching.learn.readings import published
from anon_core.teaching.learn.text import (
    class_bars,
    least_of,
    listed,
    number_question,
    people_of,
    release_table,
    rows_listed,
    table,
    yes_or_no,
)
from anon_core.teaching.learn.trace import Run, Trace

_K2 = {"name": "k-anonymity", "k": 2}
_ATTACKS = ("homogeneity", "background", "skewness", "similarity")


def _asked(*models: dict[str, object]) -> dict[str, object]:
    return {"algorithm": {"name": "mondrian"}, "models": [_K2, *models]}


#: Run → its privacy model, what it asks of every class, and what it does not see.
_MODELS = {
    "l": (
        "Distinct l-diversity",
        "every class shows at least {l} different values",
        "It counts values, and neither how often they occur nor what they mean.",
    ),
    "entropy": (
        "Entropy l-diversity",
        "the values of every class are as evenly spread as {l} equally frequent ones",
        "It sees how often values occur, and not what they mean.",
    ),
    "recursive": (
        "Recursive (c, l)-diversity",
        "in every class the commonest value has fewer rows than c = 2 times {rest} together",
        "It bounds the most common value by the rare ones, and does not see what they mean.",
    ),
    "t": (
        "t-closeness",
        "the distance (EMD) from every class to the whole table is at most t = {t:g}",
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


def _slides_63_and_64() -> Material:
    import pandas as pd

    stomach, chest = "stomach disease", "complaint of the chest"
    kinds = {"stomach ulcer": stomach, "gastritis": stomach, "diabetes": "metabolism"}
    kinds |= {"obesity": "metabolism", "short breath": chest, "chest pain": chest}
    classes = {
        ("black", "64"): ["diabetes", "short breath", "diabetes", "diabetes"],
        ("black", "65"): ["stomach ulcer", "stomach ulcer", "gastritis"],
        ("asian", "64"): ["obesity", "chest pain", "short breath", "gastritis"],
        ("asian", "65"): ["diabetes", "obesity", "chest pain", "short breath"],
        ("white", "64"): ["chest pain", "obesity", "gastritis", "short breath", "chest pain"],
    }
    rows = [(*own, disease) for own, diseases in classes.items() for disease in diseases]
    columns = ("Race", "Year of birth", "Disease")
    return Material(
        dataset=Dataset.from_frame(pd.DataFrame(rows, columns=columns, dtype=object)),
        roles=Roles(quasi=columns[:2], sensitive=("Disease",)),
        types={"Race": "text", "Year of birth": "number", "Disease": "text"},
        levels={"Disease": [[own, kind, "*"] for own, kind in kinds.items()]},
    )


class HomogeneityLesson(Lesson):
    """One class, what is learned of it; then one privacy model after the other."""

    name = "homogeneity"
    number = 9
    title = "Homogeneity, background, skewness, similarity"
    summary = (
        "A class can reveal a value without revealing a row. All rows have the same value, one can "
        "be ruled out, it is far more common there, or all values are alike."
    )
    about = (
        "l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
        "homogeneity",
        "background",
        "skewness",
        "similarity",
    )
    source = Source(
        author="Samarati",
        year=2008,
        title="k-Anonymity, slides of the FOSAD school",
        where="slides 59 to 64",
    )
    dial = Dial(label="l", values=(2, 3, 4), runs=("l", "entropy", "recursive"))
    examples = (
        Example(
            name="patients",
            title="Samarati's nine patients, diseases of slide 59",
            made=_slide_59,
            names=(*("",) * 6, "Carol", "Hellen"),
            person="Carol",
        ),
        Example(
            name="slides",
            title="Twenty people, with the classes of slides 63 and 64",
            made=_slides_63_and_64,
        ),
        Example(
            name="toth",
            title="Toth's eight people",
            sample="toth-private",
            person="Ada",
            runs={"t": _asked({"name": "t-closeness", "t": 0.5})},
        ),
    )
    runs = {
        "k": _asked(),
        "l": _asked({"name": "l-diversity", "l": 2}),
        "entropy": _asked({"name": "entropy-l-diversity", "l": 2}),
        "recursive": _asked({"name": "recursive-l-diversity", "c": 2, "l": 2}),
        "t": _asked({"name": "t-closeness", "t": 0.35}),
    }
    may_refuse = frozenset(_MODELS)

    def steps(self, trace: Trace) -> Sequence[Step]:
        """Return the steps: a release, four attacks on it, four privacy models, what each stops."""
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
        for name in _MODELS:
            if name == "t":
                found.append(_distances(trace))
            found.append(_refused(trace, name) if name in trace.refused else _required(trace, name))
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
                    among=len(set(trace.texts(trace.sensitive[0]))),
                    least=1,
                    mistakes=(trace["k"].together.count(trace["k"].together[trace.person]),),
                )
            ),
            Exercise(
                question=number_question(
                    "For how many people does the release that meets only k make the value "
                    "certain?",
                    certain,
                    "They are in classes that show a single value.",
                    among=trace.rows,
                    mistakes=(0, certain // 2, _certain(attacked(trace["k"], "background"))),
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


def _rows(trace: Trace, group: int) -> str:
    """Return the rows of a class under k."""
    return rows_listed(people_of(trace["k"].together, group))


def _which(
    trace: Trace, asks: str, right: set[int], why: str, none: str, groups: Sequence[int]
) -> Question:
    """Return a question for a class; each of several right ones is accepted."""
    choices = [Choice(id=f"part:{group}", label=_rows(trace, group)) for group in groups]
    return Question(
        asks=asks,
        choices=(*choices, Choice(id="none", label=none)),
        answer=f"part:{min(right)}" if right else "none",
        also=frozenset(f"part:{group}" for group in right),
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
        f"{listed(_rows(trace, group) for group in sorted(right))} have one {column} each."
        if right
        else f"Every class shows at least two values of {column}."
    )
    printed = ""
    if trace.as_printed("patients"):
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
    if trace.as_printed("patients"):
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
            "One value other than the own can be ruled out of anybody. Of how many people is "
            f"{column} then certain?",
            number,
            "They are in classes of at most two values.",
            among=trace.rows,
            mistakes=(_certain(attacked(run, "homogeneity")), trace.rows),
        ),
        together=run.together,
        seen=published(run),
    )


def _grown(trace: Trace, group: int, most: float) -> str:
    return f"{_rows(trace, group)} show {_said(trace, 'k', group)}, and a share grows by {most:.2f}"


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
        f"changes that. {result.sentence} Even where nothing is certain, much is learned."
        + (
            " Slide 63: 20 % of all have diabetes, and 75 % of rows 1 to 4."
            if trace.as_printed("slides")
            else ""
        ),
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
            f"{listed(_grown(trace, group, most) for group in sorted(right))}.",
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
    if trace.as_printed("patients"):
        words += " The kinds of diseases are added here, chest pain and short breath being one."
    if trace.as_printed("slides"):
        words += " Slide 64: rows 5 to 7 have stomach ulcer or gastritis, a stomach disease."
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
            among=trace.rows,
            mistakes=(added, number - added),
        ),
        together=run.together,
        seen=published(run),
    )


def _t(trace: Trace) -> float:
    """Return the t that is asked for, on whichever table."""
    own = trace.example.runs.get("t") or HomogeneityLesson.runs["t"]
    return float(next(m["t"] for m in own["models"] if m["name"] == "t-closeness"))


def _model(trace: Trace, name: str) -> tuple[str, str, str]:
    """Return a privacy model's name, what it asks of every class, and what it does not see."""
    title, asks, blind = _MODELS[name]
    l = int(trace.example.setting or 2)  # noqa: E741
    rest = "all others" if l == 2 else f"those from number {l} on"
    return title, asks.format(t=_t(trace), l=l, rest=rest), blind


def _emd(trace: Trace, name: str) -> tuple[float, ...]:
    """Return how far every class of a run is from the table, as t-closeness measures it."""
    asked: dict[str, object] = {"t": _t(trace)}
    model = cast(PrivacyModel, find("model", "t-closeness")(**asked))
    problem = trace[name].result.problem
    verdict = model.measure(
        trace[name].release.view, audience_of(problem), reference_of(problem), Context()
    )[0]
    return tuple(float(distance) for distance in verdict.per_class)


def _distances(trace: Trace) -> Step:
    """Return the step that measures how far every class is from the table, one by hand."""
    column, texts, run = trace.sensitive[0], trace.texts(trace.sensitive[0]), trace["k"]
    distance = _emd(trace, "k")
    groups = sorted(set(run.together) - {-1})
    far = max(groups, key=lambda group: distance[group])
    everyone, own = Counter(texts), Counter(texts[r] for r in people_of(run.together, far))
    rows: list[Row] = []
    for value, n in everyone.most_common():
        share = n / trace.rows
        mine = own[value] / own.total()
        rows.append(
            Row(
                id=f"share:{value}",
                label=value,
                cells=(
                    Cell(text=f"{own[value]}/{own.total()} = {mine:.3f}"),
                    Cell(text=f"{n}/{trace.rows} = {share:.3f}"),
                    Cell(text=f"{abs(mine - share):.3f}", tone="bad" if mine > share else "plain"),
                ),
            )
        )
    most = max(distance)
    right = {group for group in groups if distance[group] >= most - 1e-9}
    bars = tuple(
        Bar(
            id=f"part:{group}",
            label=_rows(trace, group),
            value=distance[group],
            text=f"{distance[group]:.3f}",
            tone="good" if distance[group] <= _t(trace) + 1e-9 else "bad",
            people=people_of(run.together, group),
        )
        for group in groups
    )
    limit = (_t(trace), f"t = {_t(trace):g}")
    return Step(
        title="How far is a class from the table? (EMD)",
        words=f"t-closeness compares the shares of {column} in a class with those in the whole "
        "table. The earth mover's distance is how much of a share has to be moved, times how far. "
        "All values are equally far from each other here, so that it is half the sum of the "
        f"differences: for {_rows(trace, far).lower()} {distance[far]:.3f}.",
        pictures=(
            Bars(title="EMD of every class under k", bars=bars, unit="distance", limit=limit),
            Table(
                title=f"{_rows(trace, far)}: half the sum of the last column is the EMD",
                columns=(Head(name="class"), Head(name="table"), Head(name="difference")),
                rows=tuple(rows),
                corner=column,
            ),
        ),
        question=_which(
            trace,
            f"Which class is farthest from the whole table in {column}?",
            right,
            f"{listed(_rows(trace, group) for group in sorted(right))}: {most:.3f}.",
            "All are equally far",
            groups,
        )
        if len(right) < len(groups)
        else None,
        together=run.together,
        seen=published(run),
        printed="Printed (slide 65): the distance has to be lower than t. Corrected: at most t, as "
        "t-closeness is defined."
        if trace.as_printed("patients")
        else "",
    )


def _required(trace: Trace, name: str) -> Step:
    run, (title, asks, blind) = trace[name], _model(trace, name)
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
    if trace.as_printed("patients"):
        printed = {
            "entropy": "Printed (Aalborg 2022, algorithm 7): shares are of the whole table's rows. "
            "Corrected: of the class's rows, or a class of 7 and 5 would pass for two values.",
            "recursive": "Printed (Aalborg 2022, formula 3.3): the sum begins at the commonest "
            "value, with ≤. Corrected: it begins at the l-th commonest, with <.",
        }.get(name, "")
    if name == "t":
        facts += f" The farthest class has EMD {max(_emd(trace, name)):.3f}."
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
    title, asks, _ = _model(trace, name)
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
    titles = {"k": "k-anonymity alone", **{name: one[0] for name, one in _MODELS.items()}}
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
        "What stops more leaves fewer classes, and so less detail. None of these models hides "
        "what the whole table says, and all are about one column with one value of each person.",
        pictures=(
            Table(
                title="What attacks still find",
                columns=tuple(Head(name=name) for name in heads),
                rows=tuple(rows),
                corner="privacy model",
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
