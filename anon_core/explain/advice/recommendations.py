"""Two or three techniques for a release, best first, with promises, settings and threshold set.

What a technique is good for, its class says; here it is only ranked by that, and by whether the
table has what the technique needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from anon_core.base.registry import family
from anon_core.base.thresholds import why_this_size
from anon_core.contracts.algorithm import Algorithm, with_usual_budget
from anon_core.contracts.model import GroupModel
from anon_core.contracts.purposes import Purpose, Service
from anon_core.explain.advice.promises import promised
from anon_core.explain.advice.request import Request
from anon_core.explain.advice.table_facts import Facts
from anon_core.pipeline.measure.thresholds import every

#: As many as are shown.
MOST = 3


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """One technique with everything set, ready to run.

    Attributes
    ----------
    models : tuple of GroupModel
    reason : str
        Why this one, one sentence.
    notes : tuple of str
        How promises follow from the threshold, and what they do not reach.
    asks_first : str
        What a person has to confirm before it can run; mostly empty.
    obstacles : tuple of str
        Why the table cannot keep the promises, each with what to do; mostly none.
    """

    algorithm: Algorithm
    models: tuple[GroupModel, ...]
    threshold: float
    reason: str
    notes: tuple[str, ...] = ()
    asks_first: str = ""
    obstacles: tuple[str, ...] = field(default=())

    def tables(self) -> dict[str, Any]:
        """Return the recipe's tables: algorithm, models, and attacks with the one threshold."""
        return {
            "algorithm": {"name": self.algorithm.name, **self.algorithm.as_mapping()},
            "models": [{"name": m.name, **m.as_mapping()} for m in self.models],
            "attacks": [{"name": name, "threshold": self.threshold} for name in every()],
        }


def recommended(request: Request, facts: Facts, most: int = MOST) -> tuple[Recommendation, ...]:
    """Return the techniques that suit, best first; none where nothing stops all that was named.

    Parameters
    ----------
    most : int
        At most as many.
    """
    found: list[Recommendation] = []
    secret = "presence" in request.concealed
    # What is made for presence first, and what states values of people last where anyone may read
    # them; the order of use stays within.
    for kind in sorted(
        ranked(request.purpose, facts),
        key=lambda one: (
            secret and not one.needs_public,
            not facts.lacking and _states_values(one, request, facts),
        ),
    ):
        if not _suits(kind, request, facts):
            continue
        service = kind.serves[request.purpose]
        round_groups = _publishes_round_groups(kind, request, facts)
        begun = {n: v for n, v in with_usual_budget(kind).items() if n != "name"}
        algorithm = kind(**{**begun, **service.settings, **(kind.rounded if round_groups else {})})
        models = promised(algorithm, request.concealed, request.threshold, facts)
        if models is None:
            continue
        found.append(
            Recommendation(
                algorithm=algorithm,
                models=models,
                threshold=request.threshold,
                reason=service.why,
                notes=_notes(kind, models, request, facts, round_groups=round_groups),
                asks_first=kind.asks_first,
                obstacles=_obstacles(models, facts),
            )
        )
        if len(found) == most:
            break
    return tuple(found)


def ranked(purpose: Purpose, facts: Facts) -> Sequence[type[Algorithm]]:
    """Return the techniques that serve a purpose, in order of use.

    Where columns lack a hierarchy, those that form ranges by themselves come first: the others can
    publish such a column exactly or not at all.
    """
    known = cast(Mapping[str, type[Algorithm]], family("algorithm")).values()
    serving = [kind for kind in known if purpose in kind.serves]

    def place(kind: type[Algorithm]) -> tuple[bool, int, str]:
        return bool(facts.lacking) and _by_hierarchy(kind), kind.serves[purpose].place, kind.name

    return sorted(serving, key=place)


def _suits(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether a technique stops what was named, and the table has what it needs."""
    secret = "presence" in request.concealed
    if kind.permutes and "identity" in request.concealed:
        return False  # exact values tell the row, whatever they are permuted with
    if (kind.needs_public or kind.is_mechanism) and not secret:
        return False
    if kind.needs_public and not facts.public:
        return False
    if secret and not (kind.counts_public or kind.is_mechanism):
        return False
    if kind.averages and len(facts.numbers) < len(facts.quasi):
        return False
    if facts.bare == facts.quasi and _by_hierarchy(kind):
        return False
    # Whose rows a class has follows from what is published only where classes do not overlap.
    if facts.person and not (kind.one_level or kind.forms_ranges):
        return False
    if not facts.quasi:
        return False
    return _ends_soon(kind.serves[request.purpose], facts)


def _by_hierarchy(kind: type[Algorithm]) -> bool:
    """Say whether a technique coarsens columns by their hierarchies alone."""
    return not (kind.forms_ranges or kind.permutes)


def _ends_soon(service: Service, facts: Facts) -> bool:
    return not (
        (service.most_nodes and facts.nodes > service.most_nodes)
        or (service.most_rows and facts.rows > service.most_rows)
    )


def _publishes_round_groups(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether anyone gets the rows, and groups can stand for people's own values."""
    if request.recipient != "public" or not kind.rounded or not facts.measured or facts.person:
        return False
    return not set(facts.measured) & set(facts.bare)


def _states_values(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether ranges that anyone may read end at values that somebody has."""
    return (
        request.recipient == "public"
        and kind.forms_ranges
        and not kind.averages
        and bool(facts.measured)
        and not _publishes_round_groups(kind, request, facts)
    )


def _notes(
    kind: type[Algorithm],
    models: Sequence[GroupModel],
    request: Request,
    facts: Facts,
    *,
    round_groups: bool,
) -> tuple[str, ...]:
    told: list[str] = []
    why = why_this_size(request.threshold)
    if why and any(model.size_asked for model in models):
        told.append(f"{why}.")
    if "attribute" in request.concealed:
        told += _of_values(kind, models, request, facts)
    if facts.lacking and _by_hierarchy(kind):
        named = ", ".join(f"“{name}”" for name in facts.lacking)
        told.append(
            f"Without a hierarchy, {named} can only be published unchanged or fully suppressed."
        )
    ends = ", ".join(f"“{name}”" for name in facts.measured)
    if round_groups:
        told.append(
            f"{ends} are published as groups of their hierarchies, since ranges would end at "
            "real values of people."
            if len(facts.measured) > 1
            else f"{ends} is published as groups of its hierarchy, since ranges would end at "
            "real values of people."
        )
    elif _states_values(kind, request, facts):
        told.append(
            f"Ranges of {ends} end at real values of people: check the warning about them "
            "before you publish."
        )
    return tuple(told)


def _of_values(
    kind: type[Algorithm], models: Sequence[GroupModel], request: Request, facts: Facts
) -> list[str]:
    """Say what is not promised of sensitive values, and why."""
    if not facts.shares:
        return ["No column is marked as sensitive, so no privacy model protects values."]
    if kind.is_mechanism:
        return ["Next to its own guarantee it supports no model of sensitive values."]
    found = [
        f"“{name}” has one value in {float(share):.0%} of its rows. Guessing it is "
        "right that often without any release: no privacy model brings that down to "
        f"{request.threshold:g}."
        for name, share in facts.shares.items()
        if float(share) > request.threshold
    ]
    if found:
        return found
    for model in models:
        wanted = model.at_chance(request.threshold, Fraction(0))
        if model.stops == "attribute" and wanted is not None and _apart(model, wanted):
            found.append(
                f"For sensitive values the threshold would take {_apart(wanted, model)}; "
                f"{_apart(model, wanted)} is what the table leaves room for."
            )
    return found


def _apart(model: GroupModel, other: GroupModel) -> str:
    """Return what a promise is set to where another of its kind is set to something else."""
    theirs = other.as_mapping()
    named = (n for n in model.as_mapping() if n != "column")
    own = model.as_mapping()
    return ", ".join(f"{name} = {own[name]}" for name in named if own[name] != theirs[name])


def _obstacles(models: Sequence[GroupModel], facts: Facts) -> tuple[str, ...]:
    """Tell before the run which promise no release of the table can keep, and what would."""
    asked = max((model.size_asked for model in models), default=0)
    if asked <= facts.people:
        return ()
    whom = "people" if facts.person else "rows"
    return (
        f"The table has {facts.people:,} {whom}, and a class of {asked:,} is asked for: no release "
        f"keeps that. With all {whom} in one class the chance is {1 / max(facts.people, 1):.3g}; "
        "accept a higher chance, or give it to a recipient who is bound.",
    )
