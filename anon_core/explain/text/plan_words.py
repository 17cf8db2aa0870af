"""What a plan will do, in plain words: its privacy models, what it cuts, and what is against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import Technique
from anon_core.base.registry import family, option_title
from anon_core.contracts.algorithm import counted_in_people, refuse_unsteered
from anon_core.contracts.model import GroupModel, PrivacyModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.contracts.search_cost import BEST_BY
from anon_core.explain.text.phrases import count, in_a_sentence, share, symbol
from anon_core.recipe.plan import Plan
from anon_core.recipe.readers import SEARCH

if TYPE_CHECKING:
    from anon_core.data.table import Dataset


def not_defined(plan: Plan) -> str:
    """Return which models the plan's technique cannot give, or an empty text."""
    if plan.algorithm.shape.mechanism or any(m.scope.mechanism for m in plan.models):
        try:
            refuse_unsteered(plan.algorithm, plan.models)
        except BadPlan as error:
            return str(error)
    try:
        plan.level_bounds.refuse_unkept(plan.algorithm)
        counted_in_people(plan.algorithm, plan.models, plan.roles.unit)
    except BadPlan as error:
        return str(error)
    public = [m.title for m in plan.models if m.scope.public]
    unfit = [m.title for m in plan.models if m.scope.public or m.private_columns()]
    if unfit and plan.algorithm.shape.averages:
        return (
            f"{plan.algorithm.title} publishes averages, and an average matches no person for "
            "sure, so "
            f"it does not support {listing(unfit)}. Choose another technique, or remove the model."
        )
    asking = [plan.algorithm.title] if plan.algorithm.needs.public else []
    if (public or asking) and not plan.population_file:
        return (
            f"{listing([*asking, *public])} needs a public table: a table of everyone of whom one "
            "could ask whether they are in yours. Load it under Population."
        )
    crossed = [m.title for m in plan.models if _crossed(m)]
    if crossed:
        return f"{listing(crossed)}: δ min lies above δ max, so no chance lies between them."
    if not plan.algorithm.shape.permutes:
        return ""
    titles = [m.title for m in plan.models if m.scope.whole_rows]
    if not titles:
        return ""
    return (
        f"{listing(titles)} is not defined where columns are permuted separately: no published row "
        "belongs to a person. Replace it with a model about groups."
    )


def shares(model: type[Technique]) -> bool:
    """Say whether a privacy model limits the share of a sensitive value in a group."""
    return issubclass(model, GroupModel) and model.most_share is not GroupModel.most_share


def of_several(model: GroupModel, columns: Sequence[str], secret: int) -> str:
    """Return what it means for several sensitive columns whether the others are known.

    Parameters
    ----------
    columns : sequence of str
        Those that the privacy model is about.
    secret : int
        Number of sensitive columns that are not quasi-identifiers.
    """
    if secret < 2 or not columns:
        return ""
    if model.by_itself() is not model:
        return (
            f"{listing(columns)} {'is' if len(columns) == 1 else 'are'} protected even from an "
            "attacker who knows all other sensitive values of a person: of two rows (a, x) and "
            "(b, y) "
            "each column shows two values, but an attacker who knows a would be sure of x."
        )
    if len(columns) == 1:
        return ""
    return (
        f"Each of {listing(columns)} is protected by itself. That is weaker than it looks: one "
        "sensitive value of a person may reveal the others. In a class of two rows (a, x) "
        "and (b, y) each column shows two values, but an attacker who knows a is sure of x. If one "
        "may be known, turn on “Other sensitive values are known”, if the model has it."
    )


def any_model() -> type[Partitioner]:
    """Return what forms groups for whatever is required of them."""
    known = cast(dict[str, type[Partitioner]], family("partitioner"))
    return next(kind for kind in known.values() if kind.way.takes_any_model)


def _crossed(model: GroupModel) -> bool:
    low, high = model.presence_bounds()
    return low > high


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
        low, high = model.presence_bounds()
        if high < chance - 1e-9:
            return f"{said}: δ max = {high:g} cannot be kept as long as every row is published."
        if low > chance + 1e-9:
            return f"{said}: δ min = {low:g} cannot be kept."
    return ""


def cut(plan: Plan) -> str:
    """Return which links a permuting technique cuts, and within how many rows."""
    least = max((m.least_size() for m in plan.models if not m.scope.whole_rows), default=1)
    within = f"Within a group of at least {count(least, 'row')}" if least > 1 else "Within a group"
    alone = [n for n in plan.roles.sensitive if n not in plan.roles.quasi]
    if plan.algorithm.as_mapping().get("sets"):
        return f"{within} the link between the column sets is cut."
    if not alone:
        return f"{within} the links between columns permuted separately are cut."
    return f"{within} nothing links a person to a value of {listing(alone)}."


def gathered(plan: Plan) -> list[str]:
    """Return how a technique that leaves this open gathers rows into groups."""
    return [way.summary for way in _ways(plan)]


def made_by(plan: Plan) -> str:
    """Return the title of a plan's technique, and of what forms its groups where it has one."""
    ways = [way.title for way in _ways(plan)]
    return f"{plan.algorithm.title} (groups: {', '.join(ways)})" if ways else plan.algorithm.title


def _ways(plan: Plan) -> list[Technique]:
    return [
        getattr(plan.algorithm, parameter.name)
        for parameter in plan.algorithm.parameters()
        if parameter.options_of == "partitioner"
    ]


def intention(plan: Plan, data: Dataset) -> str:
    """Return in plain words what carrying out a plan will do."""
    return " ".join(sentence for part in intentions(plan, data) for sentence in part)


def _counted(plan: Plan) -> list[str]:
    """Return of whom the privacy models are, where rows are not people, and what weights count."""
    return [*_whom(plan), *_weighted(plan)]


def _weighted(plan: Plan) -> list[str]:
    if not plan.roles.weight:
        return []
    means = "published as the mean of each class" if plan.class_weights else "not published"
    return [
        f"The weights in “{plan.roles.weight}” are {means}. They count in individual risk, in "
        "query error, in the share of weight that is suppressed, and in privacy models that name "
        "them; everything else counts without them."
    ]


def _whom(plan: Plan) -> list[str]:
    if plan.roles.household:
        return [
            f"People of one household count as one, identified by “{plan.roles.household}”: the "
            "others are of other households."
        ]
    if plan.roles.person:
        return [f"People are counted, not rows: “{plan.roles.person}” identifies the person."]
    return []


def changing(plan: Plan) -> list[str]:
    """Return what is changed before rows are grouped, in a sentence each."""
    return [f"{one.change.title} for {listing(one.columns)}." for one in plan.changes]


def intentions(plan: Plan, data: Dataset) -> tuple[list[str], list[str], list[str]]:
    """Return what a plan will do, in sentences: how, what is required, what becomes of the rows."""
    permutes = plan.algorithm.shape.permutes
    parts = [plan.algorithm.summary, *gathered(plan)]
    if permutes:
        parts.append(cut(plan))
    together = "group" if permutes else "class"
    required = [
        model.in_words(len(plan.roles.quasi), together)
        for model in plan.models
        if not (permutes and (model.scope.whole_rows or model.size_parameter))
    ]
    required += _counted(plan)
    how, parts = parts, []
    values = plan.algorithm.as_mapping()
    budget = values.get("max_suppression")
    if isinstance(budget, float) and plan.models:
        most = int(budget * data.rows + 1e-9)
        parts.append(
            f"Up to {share(budget)} of rows ({most:,}) may be suppressed."
            if budget
            else "No row may be suppressed."
        )
    elif permutes and plan.algorithm.shape.coarsens:
        parts.append("Cells are coarsened group by group where needed; no row is suppressed.")
    elif permutes:
        exact = "Every other value" if plan.sensitive_levels else "Every value"
        parts.append(f"{exact} stays exact and no row is suppressed.")
    for parameter in plan.algorithm.parameters():
        if parameter.label == BEST_BY:
            chosen = values.get(parameter.name, parameter.default)
            title = option_title(parameter, parameter.named(chosen))
            parts.append(f"The best by {in_a_sentence(title)} wins.")
    if plan.data.where.strip():
        rest = " The whole table is the population." if plan.data.rest == "population" else ""
        parts.append(f"Only rows are published of which {plan.data.where.strip()}.{rest}")
    if plan.data.missing == "drop":
        parts.append("Rows with a missing value in a column with a role are dropped first.")
    if plan.data.benchmark:
        parts.append(
            f"{plan.data.benchmark:,} of the complete rows are drawn at random; all complete rows "
            "are the public table."
        )
    if plan.data.sample < 1:
        parts.append(f"A random sample of {share(plan.data.sample)} of the rows is drawn first.")
    for name, ends in plan.level_bounds.as_mapping().items():
        least, most = ends.get("least", 0), ends.get("most")
        if least == most:
            where = f"at level {least}"
        elif most is None:
            where = f"at level {least} or above"
        else:
            where = f"at levels {least} to {most}"
        parts.append(f"'{name}' is published {where} of its hierarchy.")
    for name, level in plan.sensitive_levels.items():
        where = (
            "unchanged, or the lowest level of its hierarchy at which the privacy models can hold"
            if level == SEARCH
            else f"level {level} of its hierarchy"
        )
        parts.append(f"'{name}' is published at {where}; privacy models count what is published.")
    parts += changing(plan)
    shown = {name for one in plan.changes for name in one.columns}
    gone = len([name for name in plan.roles.identifier if name not in shown])
    if gone:
        named = count(gone, "identifier") if gone > 1 else "identifier"
        parts.append(f"The {named} will not be published.")
    return how, required, parts


def numbers_asked(models: Sequence[PrivacyModel]) -> list[tuple[str, int | float]]:
    """Return the numbers that privacy models ask for, each by the letter of its formula."""
    found: list[tuple[str, int | float]] = []
    for model in models:
        values = model.as_mapping()
        for parameter in type(model).parameters():
            value = values.get(parameter.name, parameter.default)
            usual = parameter.quiet and value == parameter.default
            if parameter.kind in ("integer", "number") and not usual:
                name = symbol(parameter.label or parameter.name)
                found.append((name, cast(int | float, value)))
    return found


def short_name(plan: Plan) -> str:
    """Return a run's name in a few words, such as 'Mondrian k 12 l 8'."""
    numbers = [f"{name} {value:g}" for name, value in numbers_asked(plan.models)]
    return " ".join([plan.algorithm.title, *numbers])
