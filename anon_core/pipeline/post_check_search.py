"""Models that a technique does not look at: its finished release is tested, group size by size.

δ-presence and k-map are about the people of a public table, whom most techniques do not count, and
what people ask for themselves can be recomputed only where it is plain who is where. Any
technique can still give such a privacy model: groups are formed by the other privacy models, the
release is measured, and where it does not keep the privacy model groups are asked to be twice as
large. In larger groups the share |G ∩ T| / |G ∩ P| comes closer to |T| / |P|, though not at every
step, so what is found need not be the best, and where nothing is found nothing is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from anon_core.base.context import Context, part_of
from anon_core.base.errors import BadPlan, Infeasible, NotFound, listing
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.permuted_release import made_for_shares
from anon_core.release.outcome import Outcome, Verdict
from anon_core.release.problem import Problem


def fitted_to(technique: type[Algorithm], recipe: dict[str, Any]) -> tuple[str, ...]:
    """Put models about groups in the place of those about whole rows, where columns are permuted.

    Of a size of classes the same size of groups is in; a privacy model without a size, or one that
    is given already, stays as it is, so that the run says itself why it is not defined. Where the
    technique's way to form groups is made for a privacy model that is not given, one that takes any
    privacy model forms them.

    Parameters
    ----------
    recipe : dict
        A plan's tables, which are changed.

    Returns
    -------
    tuple of str
        A sentence for each thing that was changed.
    """
    if not technique.shape.permutes:
        return ()
    known = cast(dict[str, type[GroupModel]], family("model"))
    by_size = next(
        (m for m in known.values() if m.aim.replaces_whole_rows and m.size_parameter), None
    )
    notes: list[str] = []
    for place, model in enumerate(recipe["models"]):
        own = known.get(model["name"])
        if own is None or by_size is None or not own.scope.whole_rows or not own.size_parameter:
            continue
        if any(m["name"] == by_size.name for m in recipe["models"]):
            continue
        default = next(p.default for p in own.parameters() if p.name == own.size_parameter)
        size = model.get(own.size_parameter, default)
        recipe["models"][place] = {"name": by_size.name, by_size.size_parameter: size}
        notes.append(
            f"{by_size.title} of {size} replaces {own.title}, which is about whole rows and "
            "not defined where columns are permuted separately."
        )
    return (*notes, *_groups_for_any(technique, recipe))


def _groups_for_any(technique: type[Algorithm], recipe: dict[str, Any]) -> tuple[str, ...]:
    """Let a partitioner that takes any privacy model form the groups, where the one set cannot."""
    models = cast(dict[str, type[GroupModel]], family("model"))
    own = [models[m["name"]] for m in recipe["models"] if m["name"] in models]
    if any(m.most_share is not GroupModel.most_share for m in own):
        return ()
    known = cast(dict[str, type[Partitioner]], family("partitioner"))
    other = next(kind for kind in known.values() if kind.way.takes_any_model)
    notes: list[str] = []
    for parameter in technique.parameters():
        if parameter.options_of != "partitioner":
            continue
        if made_for_shares(
            parameter.part(recipe["algorithm"].get(parameter.name, parameter.default))
        ):
            recipe["algorithm"][parameter.name] = other.name
            notes.append(
                f"{other.title} forms the groups, since no model limits the share of a "
                "sensitive value."
            )
    return tuple(notes)


Measure = Callable[[GroupModel, Outcome], Sequence[Verdict]]
Recomputable = Callable[[GroupModel, Outcome], bool]


def search(
    algorithm: Algorithm,
    problem: Problem,
    models: Sequence[GroupModel],
    measure: Measure,
    recomputable: Recomputable,
    context: Context,
) -> Outcome:
    """Run a technique; test what it does not count, and ask for larger groups where that fails.

    Parameters
    ----------
    models : sequence of GroupModel
        All privacy models. Those about public people are tested where the technique does not count
        them.
    measure : callable
        Measures a privacy model on a finished release.
    recomputable : callable
        Says whether the second computation can decide a privacy model that holds.

    Raises
    ------
    NotFound
        If no size of groups gave a release that keeps them; whether there is one is open.
    Infeasible, BadPlan
        If the technique refuses the other privacy models.
    """
    people = problem.population
    beyond = [] if algorithm.needs.counts_public else [m for m in models if m.counts_public(people)]
    unseen = [m for m in beyond if m.scope.public]
    try:
        return _search(algorithm, problem, models, unseen, measure, recomputable, context)
    except Infeasible:
        if len(beyond) == len(unseen):
            raise
        # By rows alone it cannot be kept; with the people of the public table it may be.
        return _search(algorithm, problem, models, beyond, measure, recomputable, context)


def _search(
    algorithm: Algorithm,
    problem: Problem,
    models: Sequence[GroupModel],
    unseen: list[GroupModel],
    measure: Measure,
    recomputable: Recomputable,
    context: Context,
) -> Outcome:
    """Run a technique, and test the privacy models about people that it does not see."""
    tested = [*unseen, *(m for m in models if m.private_columns())]
    if not tested:
        return algorithm.run(problem, models, context)
    if algorithm.needs.merges_by_public and any(m.scope.public for m in unseen):
        found = _merged(algorithm, problem, models, tested, measure, recomputable, context)
        if found is not None:
            return found
    steering = [m for m in models if m not in unseen]
    own = [m for m in steering if m.private_columns()]
    nearest: Verdict | None = None
    uncertain = False
    tries = sizes(problem.rows, begin=not steering)
    for turn, size in enumerate(tries):
        context.check()
        within = part_of(context, turn / len(tries), (turn + 1) / len(tries))
        asked = [*steering, _groups_of(size)] if size > 1 else steering
        try:
            outcome = algorithm.run(problem, asked, within)
        except (Infeasible, BadPlan) as error:
            if isinstance(error, BadPlan) and own:  # it cannot be steered by what people ask for
                steering, own, unseen = [m for m in steering if m not in own], [], [*unseen, *own]
                continue
            if not turn and (steering or isinstance(error, BadPlan)):
                raise
            break  # larger groups than the technique can form
        verdicts = [v for model in tested for v in measure(model, outcome)]
        broken = [v for v in verdicts if not v.holds]
        if broken:
            nearest = min([broken[0], *([nearest] if nearest else [])], key=_distance)
        elif all(recomputable(model, outcome) for model in tested):
            return outcome
        else:
            uncertain = True
        if context.out_of_time():
            break
    what = f"The nearest: {nearest.sentence} " if nearest else ""
    if uncertain:
        what += "Others keep it, which cannot be recomputed from what is published. "
    raise NotFound(
        f"Not found: {algorithm.title} does not look at {_beyond(unseen)}, and of the releases it "
        f"formed, with ever larger groups, none keeps {listing(m.title for m in tested)}. {what}"
        "Another technique may find one.",
        remedy="Choose the optimal search, or another technique that searches for models of this "
        "kind, or ask for less.",
        best=nearest.reached if nearest else None,
        best_of=f"nearest value of {nearest.model}" if nearest else "",
    )


def _merged(
    algorithm: Algorithm,
    problem: Problem,
    models: Sequence[GroupModel],
    tested: Sequence[GroupModel],
    measure: Measure,
    recomputable: Recomputable,
    context: Context,
) -> Outcome | None:
    """Run a technique that merges groups by the public people they cover; None where that fails."""
    try:
        outcome = algorithm.run(problem, models, context)
    except (Infeasible, NotFound, BadPlan):
        return None
    holds = all(v.holds for model in tested for v in measure(model, outcome))
    return outcome if holds and all(recomputable(m, outcome) for m in tested) else None


def _beyond(unseen: Sequence[GroupModel]) -> str:
    if any(model.scope.public or model.scope.may_count_public for model in unseen):
        return "the people of the public table"
    return "what people ask for themselves" if unseen else "whom else a published row may be of"


def sizes(rows: int, *, begin: bool) -> list[int]:
    """Return the sizes of groups that are tried: 1 is no size of its own, and the last is all rows.

    `begin` leaves out 1, where no other privacy model forms groups.

    Examples
    --------
    >>> sizes(20, begin=False), sizes(5, begin=True)
    ([1, 2, 4, 8, 16, 20], [2, 4, 5])
    """
    most = max(rows, 2)
    doubled = (1 << step for step in range(1 if begin else 0, most.bit_length()))
    return [size for size in doubled if size < most] + [most]


def _groups_of(size: int) -> GroupModel:
    return cast(GroupModel, find("model", "bucket-size").from_mapping({"k": size}))


def _distance(verdict: Verdict) -> float:
    """Return how far a verdict is from its bound."""
    return abs(verdict.reached - verdict.bound)
