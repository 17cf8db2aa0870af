"""Two or three techniques for a release, best first, with models, settings and threshold set.

What a technique is good for, its class says; here it is only ranked by that, and by whether the
table has what the technique needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast, get_args

from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.registry import family
from anon_core.base.thresholds import RELEASE_MODELS, USUAL_THRESHOLDS, ReleaseModel, why_this_size
from anon_core.contracts.algorithm import (
    Algorithm,
    Purpose,
    Service,
    counted_in_people,
    refuse_unsteered,
    with_usual_budget,
)
from anon_core.contracts.model import GroupModel, Stops
from anon_core.explain.advice.table_facts import Facts
from anon_core.pipeline.measure.thresholds import every


def required(
    technique: Algorithm, concealed: Sequence[Stops], chance: float, facts: Facts
) -> tuple[GroupModel, ...] | None:
    """Return the models, or None where the technique cannot stop all that has to be stopped.

    For each thing to be stopped the privacy model that is offered first and fits technique and
    table. A way of releasing that protects by chance satisfies none about values with its own.

    Parameters
    ----------
    chance : float
        The highest that is acceptable.
    """
    found: list[GroupModel] = []
    for stops in sorted(concealed, key=lambda one: one != "presence"):  # a mechanism needs its own
        if stops == "attribute":
            if technique.shape.mechanism or not facts.shares:
                continue
            by_column = {
                name: _first(technique, stops, found, chance, share, facts)
                for name, share in facts.shares.items()
            }
            if None in by_column.values():
                return None
            found += _merged(cast(dict[str, GroupModel], by_column))
            continue
        known = Fraction(facts.rows, facts.public) if facts.public else Fraction(0)
        share = known if stops == "presence" else Fraction(0)
        model = _first(technique, stops, found, chance, share, facts)
        if model is None:
            return None
        found.append(model)
    return tuple(sorted(found, key=lambda model: list(_ORDER).index(model.aim.stops))) or None


_ORDER: tuple[Stops, ...] = ("identity", "attribute", "presence")


def first_offered(stops: Stops) -> type[GroupModel]:
    """Return the privacy model that is offered first against something."""
    known = (k for k in family("model").values() if issubclass(k, GroupModel) and k.aim.offered_at)
    return min((k for k in known if k.aim.stops == stops), key=lambda k: k.aim.offered_at)


def _first(
    technique: Algorithm,
    stops: Stops,
    others: Sequence[GroupModel],
    chance: float,
    share: Fraction,
    facts: Facts,
) -> GroupModel | None:
    for kind in _offered(technique, stops):
        model = kind.at_chance(chance, share)
        if model is None or (model.scope.public and not facts.public):
            continue
        try:
            refuse_unsteered(technique, [*others, model])
            counted_in_people(technique, [*others, model], facts.person)
        except BadPlan:
            continue
        return model
    return None


def _offered(technique: Algorithm, stops: Stops) -> list[type[GroupModel]]:
    """Return the models to try, in order: where columns are permuted, those made for groups."""
    known = [
        k for k in family("model").values() if issubclass(k, GroupModel) and k.aim.stops == stops
    ]
    if technique.shape.permutes and stops != "presence":
        return sorted((k for k in known if k.aim.replaces_whole_rows), key=lambda k: k.title)
    return sorted((k for k in known if k.aim.offered_at), key=lambda k: k.aim.offered_at)


def _merged(by_column: dict[str, GroupModel]) -> list[GroupModel]:
    """Return one privacy model of all columns where they are alike, else one of each."""
    models = list(by_column.values())
    if all(model == models[0] for model in models):
        return models[:1]
    return [
        type(model)(**{**model.as_mapping(), "column": name}) for name, model in by_column.items()
    ]


#: What a release is for, in words.
PURPOSES: Mapping[Purpose, str] = {
    "statistics": "Statistics: counts and averages",
    "training": "Training a model",
    "sharing": "Sharing the rows themselves",
    "teaching": "Teaching",
}
#: What must not be learned of a person, in words.
CONCEALED: Mapping[Stops, str] = {
    "identity": "Which row is theirs",
    "attribute": "What they have (the sensitive value)",
    "presence": "Whether they are in it at all",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the release is for, what must not be learned from it, and who gets it.

    Attributes
    ----------
    chance : float or None
        The highest acceptable chance; None for what is usual for the recipient.
    """

    purpose: Purpose
    concealed: tuple[Stops, ...]
    recipient: ReleaseModel
    chance: float | None = None

    def __post_init__(self) -> None:
        """Refuse words that are none of those known, and a chance that is none.

        Raises
        ------
        BadPlan
        """
        _refuse_other("purpose", (self.purpose,), get_args(Purpose))
        _refuse_other("what must not be learned", self.concealed, get_args(Stops))
        _refuse_other("recipient", (self.recipient,), tuple(RELEASE_MODELS))
        if not self.concealed:
            raise BadPlan(
                "No threat was listed, so nothing would be protected.",
                remedy=f"Name at least one of {listing(get_args(Stops))}.",
            )
        if self.chance is not None and not 0 < self.chance <= 1:
            raise BadPlan(
                f"No release keeps a chance of at most {self.chance:g}.",
                remedy="Give a threshold above 0, and at most 1.",
            )

    @property
    def threshold(self) -> float:
        """The highest acceptable chance: what was said, or what is usual for the recipient."""
        usual = USUAL_THRESHOLDS[self.recipient].chance
        return usual if self.chance is None else self.chance

    @property
    def threshold_source(self) -> str:
        """Where the threshold comes from; empty where a person gave it."""
        return USUAL_THRESHOLDS[self.recipient].source if self.chance is None else ""


def _refuse_other(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for one in given:
        if one not in known:
            raise BadPlan(
                f"'{one}' is unknown for {what}; known are {listing(known)}.",
                remedy=f"Use one of these.{nearest(one, known)}",
            )


#: As many as are shown.
MOST = 3


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """One technique with everything set, ready to run.

    Attributes
    ----------
    reason : str
        Why this one, one sentence.
    notes : tuple of str
        How privacy models follow from the threshold, and what they do not reach.
    asks_first : str
        What a person has to confirm before it can run; mostly empty.
    obstacles : tuple of str
        Why the table cannot keep the privacy models, each with what to do; mostly none.
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
            secret and not one.needs.public,
            not facts.lacking and _states_values(one, request, facts),
        ),
    ):
        if not _suits(kind, request, facts):
            continue
        service = kind.offer.serves[request.purpose]
        round_groups = _publishes_round_groups(kind, request, facts)
        begun = {n: v for n, v in with_usual_budget(kind).items() if n != "name"}
        algorithm = kind(
            **{**begun, **service.settings, **(kind.shape.rounded if round_groups else {})}
        )
        models = required(algorithm, request.concealed, request.threshold, facts)
        if models is None:
            continue
        found.append(
            Recommendation(
                algorithm=algorithm,
                models=models,
                threshold=request.threshold,
                reason=service.why,
                notes=_notes(kind, models, request, facts, round_groups=round_groups),
                asks_first=kind.offer.asks_first,
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
    serving = [kind for kind in known if purpose in kind.offer.serves]

    def place(kind: type[Algorithm]) -> tuple[bool, int, str]:
        return (
            bool(facts.lacking) and _by_hierarchy(kind),
            kind.offer.serves[purpose].place,
            kind.name,
        )

    return sorted(serving, key=place)


def _suits(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether a technique stops what was named, and the table has what it needs."""
    secret = "presence" in request.concealed
    if kind.shape.permutes and "identity" in request.concealed:
        return False  # exact values tell the row, whatever they are permuted with
    if (kind.needs.public or kind.shape.mechanism) and not secret:
        return False
    if kind.needs.public and not facts.public:
        return False
    if secret and not (kind.needs.counts_public or kind.shape.mechanism):
        return False
    if kind.shape.averages and len(facts.numbers) < len(facts.quasi):
        return False
    if facts.bare == facts.quasi and _by_hierarchy(kind):
        return False
    # Whose rows a class has follows from what is published only where classes do not overlap.
    if facts.person and not (kind.shape.one_level or kind.shape.forms_ranges):
        return False
    if not facts.quasi:
        return False
    return _ends_soon(kind.offer.serves[request.purpose], facts)


def _by_hierarchy(kind: type[Algorithm]) -> bool:
    """Say whether a technique coarsens columns by their hierarchies alone."""
    return not (kind.shape.forms_ranges or kind.shape.permutes)


def _ends_soon(service: Service, facts: Facts) -> bool:
    return not (
        (service.most_nodes and facts.nodes > service.most_nodes)
        or (service.most_rows and facts.rows > service.most_rows)
    )


def _publishes_round_groups(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether anyone gets the rows, and groups can represent people's own values."""
    if (
        request.recipient != "public"
        or not kind.shape.rounded
        or not facts.measured
        or facts.person
    ):
        return False
    return not set(facts.measured) & set(facts.bare)


def _states_values(kind: type[Algorithm], request: Request, facts: Facts) -> bool:
    """Say whether ranges that anyone may read end at values that someone has."""
    return (
        request.recipient == "public"
        and kind.shape.forms_ranges
        and not kind.shape.averages
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
    notes: list[str] = []
    why = why_this_size(request.threshold)
    if why and any(model.size_asked for model in models):
        notes.append(f"{why}.")
    if "attribute" in request.concealed:
        notes += _of_values(kind, models, request, facts)
    if facts.lacking and _by_hierarchy(kind):
        named = ", ".join(f"“{name}”" for name in facts.lacking)
        notes.append(
            f"Without a hierarchy, {named} can only be published unchanged or fully suppressed."
        )
    ends = ", ".join(f"“{name}”" for name in facts.measured)
    if round_groups:
        notes.append(
            f"{ends} are published as groups of their hierarchies, since ranges would end at "
            "real values of people."
            if len(facts.measured) > 1
            else f"{ends} is published as groups of its hierarchy, since ranges would end at "
            "real values of people."
        )
    elif _states_values(kind, request, facts):
        notes.append(
            f"Ranges of {ends} end at real values of people: check the warning about them "
            "before you publish."
        )
    return tuple(notes)


def _of_values(
    kind: type[Algorithm], models: Sequence[GroupModel], request: Request, facts: Facts
) -> list[str]:
    """Say what is not required of sensitive values, and why."""
    if not facts.shares:
        return ["No column is marked as sensitive, so no privacy model protects values."]
    if kind.shape.mechanism:
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
        if model.aim.stops == "attribute" and wanted is not None and _apart(model, wanted):
            found.append(
                f"The threshold would need {_apart(wanted, model)} for sensitive values; the "
                f"table allows only {_apart(model, wanted)}."
            )
    return found


def _apart(model: GroupModel, other: GroupModel) -> str:
    """Return what a privacy model is set to where another of its kind is set to something else."""
    theirs = other.as_mapping()
    named = (n for n in model.as_mapping() if n != "column")
    own = model.as_mapping()
    return ", ".join(f"{name} = {own[name]}" for name in named if own[name] != theirs[name])


def _obstacles(models: Sequence[GroupModel], facts: Facts) -> tuple[str, ...]:
    """Tell before the run which privacy model no release of the table can keep, and what would."""
    asked = max((model.size_asked for model in models), default=0)
    if asked <= facts.people:
        return ()
    whom = "people" if facts.person else "rows"
    return (
        f"The table has {facts.people:,} {whom}, and a class of {asked:,} is asked for: "
        f"no release keeps that. With all {whom} in one class the chance is "
        f"{1 / max(facts.people, 1):.3g}; accept a higher chance, or choose a recipient "
        "bound by contract.",
    )
