"""What a plan will do, in plain words: its promises, what it cuts, and what stands against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anon_core.errors import listing
from anon_core.kinds import GroupModel, Partitioner
from anon_core.params import Technique
from anon_core.plan import Plan
from anon_core.registry import find, option_title
from ui.words import count, in_a_sentence, share, times

if TYPE_CHECKING:
    from anon_core.table import Dataset


def promise(model: GroupModel, quasi: int, *, together: str = "class") -> str:
    """Return what a model promises, with its numbers; `together` names rows that stand together."""
    values = model.as_mapping()
    k = values.get("k")
    if model.name == "k-anonymity" and isinstance(k, int):
        return (
            f"Everyone will share their {count(quasi, 'quasi-identifier')} with at least "
            f"{count(k - 1, 'other person', 'others')}."
        )
    if model.name == "bucket-size" and isinstance(k, int):
        return f"Every {together} will have at least {count(k, 'row')}."
    least, column = values.get("l"), values.get("column")
    of = f"'{column}'" if column else "every sensitive column"
    if model.name == "l-diversity" and isinstance(least, int):
        return f"Every {together} will show at least {count(least, 'different value')} of {of}."
    if model.name == "frequency-l-diversity" and isinstance(least, int):
        return (
            f"Whoever finds a person's {together} will guess the value of {of} right at most "
            f"{times(1 / least)}."
        )
    low, high = values.get("delta_min"), values.get("delta_max")
    if model.name == "delta-presence" and isinstance(low, float) and isinstance(high, float):
        least = f" and at least {share(low)}" if low > 0 else ""
        return (
            "Whoever asks of someone in the public table whether they are in this one will find a "
            f"chance of at most {share(high)}{least}."
        )
    if model.name == "slicing-l-diversity" and isinstance(least, int):
        several = "classes" if together == "class" else f"{together}s"
        return (
            f"Whoever weighs all {several} a person may be in will guess the value of {of} right "
            f"at most {times(1 / least)}."
        )
    named = ", ".join(f"{k} = {v}" for k, v in values.items() if v != "")
    return (
        f"{model.title} ({named}): {model.summary}" if named else f"{model.title}: {model.summary}"
    )


def not_defined(plan: Plan) -> str:
    """Return which promises the plan's technique cannot give, or an empty text."""
    public = [m.title for m in plan.models if m.needs_public]
    if public and not plan.algorithm.counts_public:
        return (
            f"{plan.algorithm.title} does not count the people of a public table, so it cannot "
            f"give {listing(public)}. Choose a technique that does, or remove the promise."
        )
    asking = [plan.algorithm.title] if plan.algorithm.needs_public else []
    if (public or asking) and not plan.population_file:
        return (
            f"{listing([*asking, *public])} needs a public table: a table of everyone of whom one "
            "could ask whether they are in yours. Load it under Population."
        )
    crossed = [m.title for m in plan.models if _crossed(m)]
    if crossed:
        return f"{listing(crossed)}: δ min lies above δ max, so no chance lies between them."
    if not plan.algorithm.permutes:
        return ""
    titles = [m.title for m in plan.models if m.needs_whole_rows]
    if not titles:
        return _unpromised(plan)
    return (
        f"{listing(titles)} is not defined where columns are permuted apart: no published row is a "
        "person's. Replace it by a promise about groups."
    )


def shares(model: type[Technique]) -> bool:
    """Say whether a promise limits the share of a sensitive value in a group."""
    return issubclass(model, GroupModel) and model.most_share is not GroupModel.most_share


def made_for_shares(partitioner: str) -> bool:
    """Say whether a way of forming groups is made for one sensitive column's shares."""
    kind = find("partitioner", partitioner)
    return issubclass(kind, Partitioner) and kind.by_sensitive


def _columns(model: GroupModel, alone: list[str]) -> list[str]:
    column = str(model.as_mapping().get("column", ""))
    return [column] if column else alone


def _unpromised(plan: Plan) -> str:
    """Return why groups cannot be formed as chosen, or an empty text."""
    values = plan.algorithm.as_mapping()
    chosen = [
        str(values[p.name])
        for p in plan.algorithm.parameters()
        if p.options_of == "partitioner" and made_for_shares(str(values[p.name]))
    ]
    alone = [n for n in plan.roles.sensitive if n not in plan.roles.quasi]
    named = {
        name for model in plan.models if shares(type(model)) for name in _columns(model, alone)
    }
    if not chosen or len(named) == 1:
        return ""
    lacking = "no promise names one" if not named else f"the promises name {listing(named)}"
    return (
        f"{find('partitioner', chosen[0]).title} forms groups for the frequency l-diversity of one "
        f"sensitive column, and {lacking}. Promise it of one column, or choose "
        f"{find('partitioner', 'mondrian').title} under “Groups by”."
    )


def _crossed(model: GroupModel) -> bool:
    values = model.as_mapping()
    low, high = values.get("delta_min"), values.get("delta_max")
    return isinstance(low, float) and isinstance(high, float) and low > high


def out_of_reach(plan: Plan, rows: int, people: int) -> str:
    """Return which bound on presence no grouping of all rows can keep, or an empty text.

    Over everyone in the public table the chance is rows / people, so in some group it is at least
    that, and in some at most.
    """
    if not 0 < rows <= people or "max_suppression" in plan.algorithm.as_mapping():
        return ""
    chance = rows / people
    said = (
        f"{rows:,} of the public table's {people:,} people are in yours, so over everyone the "
        f"chance is {chance:.3g}"
    )
    for model in plan.models:
        low, high = (model.as_mapping().get(name) for name in ("delta_min", "delta_max"))
        if isinstance(high, float) and high < chance - 1e-9:
            return f"{said}: δ max = {high:g} cannot be kept as long as every row is published."
        if isinstance(low, float) and low > chance + 1e-9:
            return f"{said}: δ min = {low:g} cannot be kept."
    return ""


def cut(plan: Plan) -> str:
    """Return which links a permuting technique cuts, and within how many rows."""
    least = max((m.least_size() for m in plan.models if not m.needs_whole_rows), default=1)
    within = f"Within a group of at least {count(least, 'row')}" if least > 1 else "Within a group"
    alone = [n for n in plan.roles.sensitive if n not in plan.roles.quasi]
    if str(plan.algorithm.as_mapping().get("sets", "")).strip():
        return f"{within} the column sets stand in no relation to each other."
    if not alone:
        return f"{within} the columns permuted apart stand in no relation to each other."
    return f"{within} nothing links a person to a value of {listing(alone)}."


def gathered(plan: Plan) -> list[str]:
    """Return how a technique that leaves this open gathers rows into groups."""
    values = plan.algorithm.as_mapping()
    return [
        find("partitioner", str(values[parameter.name])).summary
        for parameter in plan.algorithm.parameters()
        if parameter.options_of == "partitioner"
    ]


def intention(plan: Plan, data: Dataset) -> str:
    """Return in plain words what carrying out a plan will do."""
    permutes = plan.algorithm.permutes
    parts = [plan.algorithm.summary, *gathered(plan)]
    if permutes:
        parts.append(cut(plan))
    together = "group" if permutes else "class"
    parts += [
        promise(model, len(plan.roles.quasi), together=together)
        for model in plan.models
        if not (permutes and (model.needs_whole_rows or model.name == "bucket-size"))
    ]
    values = plan.algorithm.as_mapping()
    budget = values.get("max_suppression")
    if isinstance(budget, float):
        most = int(budget * data.rows + 1e-9)
        parts.append(
            f"Up to {share(budget)} of rows ({most:,}) may be removed."
            if budget
            else "No row may be removed."
        )
    elif permutes and plan.algorithm.coarsens:
        parts.append("Cells are coarsened group by group, where it takes that; no row is removed.")
    elif permutes:
        parts.append("Every value stays exact and no row is removed.")
    for parameter in plan.algorithm.parameters():
        chosen = values[parameter.name]
        if parameter.options_of == "metric":
            title = option_title(parameter, str(chosen))
            parts.append(f"The best by {in_a_sentence(title)} wins.")
    if plan.data.missing == "drop":
        parts.append("Rows that miss a value in a column with a role are dropped first.")
    if plan.data.sample < 1:
        parts.append(f"A random sample of {share(plan.data.sample)} of rows is drawn before.")
    gone = len(plan.roles.identifier)
    if gone:
        named = count(gone, "identifier") if gone > 1 else "identifier"
        parts.append(f"The {named} will not be published.")
    return " ".join(parts)
