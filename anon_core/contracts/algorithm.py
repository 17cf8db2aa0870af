"""What an algorithm must offer: a release that keeps the privacy models, or a refusal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import Technique
from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

#: What is changed: whole columns by level, cells group by group, single cells, the links between
#: columns, or values themselves.
Approach = Literal["levels", "ranges", "cells", "links", "values"]
#: What stays linked where columns are permuted separately: nothing, so that every column is alone;
#: the columns of each role; or the sets of columns that a technique names or forms.
Linked = Literal["nothing", "roles", "sets"]
#: What a release is for.
Purpose = Literal["statistics", "training", "sharing", "teaching"]


@dataclass(frozen=True, kw_only=True)
class Service:
    """What a technique does for one purpose.

    Attributes
    ----------
    place : int
        Order of use for the purpose, from 1.
    why : str
        The reason, one sentence.
    settings : mapping of str to object
        Parameters to set for it; the others stay as they are at first.
    most_nodes : int
        Choices of levels up to which it ends soon; 0 where that plays no part.
    most_rows : int
        Rows up to which it ends soon; 0 where that plays no part.
    """

    place: int
    why: str
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    most_nodes: int = 0
    most_rows: int = 0


@dataclass(frozen=True, kw_only=True)
class Offer:
    """How a technique is offered to a person.

    Attributes
    ----------
    when : str
        One line: when to choose this one.
    met_at : int
        Place among the few that a person meets first, from 1 for what a new plan starts with; 0
        for all others.
    serves : mapping of purpose to Service
        What it is good for; empty for what is chosen by those who look for it.
    for_study : bool
        Whether it is of use for teaching and comparison rather than for releases.
    asks_first : str
        What a person has to confirm before it can be used, as a sentence.
    """

    when: str = ""
    met_at: int = 0
    serves: Mapping[Purpose, Service] = field(default_factory=dict[Purpose, Service])
    for_study: bool = False
    asks_first: str = ""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the releases of a technique come about, and what they look like.

    Attributes
    ----------
    approach : {'levels', 'ranges', 'cells', 'links', 'values'}
        What it changes; techniques are offered together by it. Those that permute cut links.
    permutes : bool
        Whether columns are permuted separately, so that models of whole rows are not defined.
    linked : {'nothing', 'roles', 'sets'}
        What stays linked row by row, where columns are permuted separately.
    coarsens : bool
        Whether a technique that permutes columns also coarsens their cells.
    averages : bool
        Whether numbers of quasi-identifiers are replaced by averages of their group.
    forms_ranges : bool
        Whether a column without a hierarchy is published in ranges or sets; else exactly or not.
    rounded : mapping of str to object
        Settings with which it publishes groups of hierarchies instead of ranges cut to the rows.
    one_level : bool
        Whether it publishes every column at one level of its hierarchy.
    codes_tails : bool
        Whether it publishes the smallest and the largest values as ≤ and ≥ a limit.
    tables : tuple of str
        Names of the tables it publishes.
    by_chance : bool
        Whether its search draws, or it is drawn which of equal rows goes where; see
        `Algorithm.draws`.
    mechanism : bool
        Whether chance is what protects: it satisfies models about the way a release is made, and
        such about the sizes of classes next to them.
    """

    approach: Approach = "ranges"
    permutes: bool = False
    linked: Linked = "nothing"
    coarsens: bool = False
    averages: bool = False
    forms_ranges: bool = False
    rounded: Mapping[str, object] = field(default_factory=dict[str, object])
    one_level: bool = False
    codes_tails: bool = False
    tables: tuple[str, ...] = ("release",)
    by_chance: bool = False
    mechanism: bool = False


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a technique needs, and what it can count.

    Attributes
    ----------
    models : bool
        Whether a privacy model has to steer it; else it may be carried out without any.
    public : bool
        Whether it works only with a public table.
    levels_parameter : str
        The parameter that names a level for every column; empty where a search finds them.
    earlier_parts : bool
        Whether it searches nothing and takes the parts of an earlier release over.
    counts_public : bool
        Whether it counts the public people of its groups, so that privacy models about them steer
        it; else its finished releases are tested.
    merges_by_public : bool
        Whether it merges groups until privacy models about public people hold of what they would
        publish; its finished releases are tested all the same, and larger groups asked for where
        they fail.
    counts_people : bool
        Whether privacy models counted in distinct persons steer it, where a column distinguishes
        them.
    merges : bool
        Whether it takes for granted that classes which keep a privacy model keep it when merged.
    from_counts : bool
        Whether it works from distinct tuples and their counts alone, so that it runs on tables
        which no memory holds. Where it draws which of equal rows goes where, the published columns
        must fit as numbers.
    """

    models: bool = True
    public: bool = False
    levels_parameter: str = ""
    earlier_parts: bool = False
    counts_public: bool = False
    merges_by_public: bool = False
    counts_people: bool = False
    merges: bool = False
    from_counts: bool = False


class Algorithm(Technique):
    """A way to build a release that satisfies the privacy models."""

    offer: ClassVar[Offer] = Offer()
    shape: ClassVar[Shape] = Shape()
    needs: ClassVar[Needs] = Needs()

    @property
    def cuts_in_pieces(self) -> bool:
        """Whether, as it is set, it cuts tables whose distinct tuples fit no memory; see `Pieces`.

        Privacy models have to be such as limits describe.
        """
        return False

    @property
    def draws(self) -> bool:
        """Whether, as it is set, what it publishes depends on chance, and so on a secret."""
        parts = (getattr(self, p.name) for p in self.parameters() if p.kind == "technique")
        within = any(part.draws for part in parts if isinstance(part, Algorithm))
        return self.shape.permutes or self.shape.by_chance or self.shape.mechanism or within

    def release_shape(self) -> dict[str, Any]:
        """Return what its releases look like: all that verification knows of the technique.

        A table of plain values, written into the completed recipe as ``[release]``.
        """
        exact = self.shape.permutes and not self.shape.coarsens
        return {
            "tables": len(self.shape.tables),
            "linked": self.shape.linked if self.shape.permutes else "rows",
            "insensitive_with": "quasi",
            "sets": [],
            "cells": "averaged" if self.shape.averages else "exact" if exact else "coarsened",
            "levels": "one" if self.shape.one_level else "any",
            "tails": "coded" if self.shape.codes_tails else "none",
            "rows": "drawn" if self.shape.mechanism else "all",
        }

    def keeps_level_bounds(self) -> bool:
        """Whether, as it is set, it keeps every column within the levels that a plan allows.

        What it publishes is checked all the same; see `LevelBounds`.
        """
        return self.shape.one_level and self.needs.models and not self.shape.mechanism

    def best_levels(self) -> tuple[Metric, float] | None:
        """Return the metric and suppression limit by which it proves its levels to be the best.

        It then chooses, of the levels that keep the privacy models, those of least cost by the
        metric; None where it searches anything else.
        """
        return None

    @abstractmethod
    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Build a release.

        Raises
        ------
        Infeasible
            If none keeps the privacy models; carries the best value reached.
        Cancelled
            If the person stopped it.
        """


def refuse_unsteered(algorithm: Algorithm, models: Sequence[GroupModel]) -> None:
    """Refuse privacy models that a technique can't host, whatever the table.

    Privacy models about whole rows need one that does not permute columns separately, privacy
    models about public people one whose cells cover values, so that it can be determined who fits
    them, and privacy models about the way a release is made one that is such a way.

    Raises
    ------
    BadPlan
    """
    _refuse_other_chance(algorithm, models)
    for model in models:
        if model.scope.whole_rows and algorithm.shape.permutes:
            raise BadPlan(
                f"{model.title} is not defined where columns are permuted separately.",
                remedy="Require a bucket size or frequency l-diversity instead, or choose a "
                "technique that generalizes.",
            )
        if model.scope.by_cells and not algorithm.shape.one_level:
            raise BadPlan(
                f"{model.title} depends on the loss of each class, which {algorithm.title} knows "
                "only once its classes are formed.",
                remedy="Choose a technique that publishes one level per column, such as the "
                "optimal search.",
            )
        if (model.scope.public or model.private_columns()) and algorithm.shape.averages:
            raise BadPlan(
                f"{model.title} is not defined for averages: no one fits an average for certain.",
                remedy="Choose a technique that publishes ranges or groups, or remove the model.",
            )


def _refuse_other_chance(algorithm: Algorithm, models: Sequence[GroupModel]) -> None:
    """Refuse models about the way a release is made where it is no such way, and the reverse.

    Raises
    ------
    BadPlan
    """
    for model in models:
        if model.scope.mechanism and not algorithm.shape.mechanism:
            ways = [cast(type[Algorithm], a) for a in family("algorithm").values()]
            raise BadPlan(
                f"{model.title} is a property of the way a release is made, not of the release: "
                f"{algorithm.title} decides by the rows themselves, so one row more or less can "
                "change the whole release. No later check can make up for that.",
                remedy=f"Choose {listing(way.title for way in ways if way.shape.mechanism)}, or "
                "require another model.",
            )
        of_sizes = model.logic.class_sizes and not model.of_release()
        if algorithm.shape.mechanism and not (model.scope.mechanism or of_sizes):
            raise BadPlan(
                f"{algorithm.title} cannot be steered by {model.title}: the choice of classes to "
                "remove may depend only on their sizes, or the guarantee is void.",
                remedy="Remove the model, or choose another technique.",
            )
    if algorithm.shape.mechanism and not any(model.scope.mechanism for model in models):
        raise BadPlan(
            f"{algorithm.title} needs the budget of differential privacy that it may spend.",
            remedy="Require differential-privacy with its epsilon and delta.",
        )


def met_first() -> tuple[str, ...]:
    """Return the names of the techniques that a person meets first, in order."""
    known = {n: cast(type[Algorithm], a).offer.met_at for n, a in family("algorithm").items()}
    return tuple(sorted((name for name, place in known.items() if place), key=known.__getitem__))


_BUDGET = "max_suppression"
#: Share of rows that may be suppressed where no one set it; why: docs/suppression.md.
USUAL_BUDGET = 0.02


def order_of_use(technique: type[Algorithm]) -> tuple[object, ...]:
    """Return what techniques are listed by: how commonly they are needed, not the alphabet.

    First those met first, then those that serve a purpose, then those that someone looks for, and
    last those for study.
    """
    place = min((service.place for service in technique.offer.serves.values()), default=99)
    return (
        technique.offer.met_at or 99,
        technique.offer.for_study,
        place,
        technique.title.casefold(),
    )


def with_usual_budget(technique: type[Algorithm]) -> dict[str, object]:
    """Return the recipe's table of a technique as it is begun with where no one set anything.

    Recipes that say nothing suppress nothing; a person begins with what saves most for the fewest
    rows.
    """
    declared = {p.name: p.default for p in technique.parameters()}
    begun = {_BUDGET: USUAL_BUDGET} if declared.get(_BUDGET) == 0 else {}
    return {"name": technique.name, **begun}


def by_levels(levels: Mapping[str, int], max_suppression: float) -> dict[str, object]:
    """Return the recipe's table of the technique that publishes every column at a given level."""
    for name, found in family("algorithm").items():
        if parameter := cast(type[Algorithm], found).needs.levels_parameter:
            return {"name": name, parameter: dict(levels), "max_suppression": max_suppression}
    raise LookupError("no technique takes levels")


def by_parts() -> dict[str, object]:
    """Return the recipe's table of the technique that takes over an earlier release's parts."""
    for name, found in family("algorithm").items():
        if cast(type[Algorithm], found).needs.earlier_parts:
            return {"name": name}
    raise LookupError("no technique takes parts over")


def counted_in_people(
    algorithm: Algorithm, models: Sequence[GroupModel], person: str
) -> tuple[GroupModel, ...]:
    """Return the models as they are counted: of distinct persons, where a column identifies them.

    Parameters
    ----------
    person : str
        The person column; empty where a row is a person, and the privacy models stay as they are.

    Raises
    ------
    BadPlan
        If the technique or a privacy model can only count rows.
    """
    if not person:
        return tuple(models)
    counting = [
        (algorithm, algorithm.needs.counts_people),
        *((m, m.scope.counts_people) for m in models),
    ]
    for owner, counts in counting:
        if not counts:
            raise BadPlan(
                f"{owner.title} counts rows, and '{person}' says that a person may have several: "
                "what it gives would be less than it says.",
                remedy="Choose one that counts people"
                + (
                    ", such as the optimal search or Mondrian"
                    if owner is algorithm
                    else ", such as k-anonymity or l-diversity"
                )
                + ", or make a table with one row a person.",
            )
    counted = tuple(model.in_people(person) for model in models)
    for model in counted:
        if algorithm.needs.merges and not (
            model.logic.monotone_merge or model.logic.closed_under_union
        ):
            raise BadPlan(
                f"{algorithm.title} merges classes, and that may break {model.title} where people "
                "are counted: a person of both may have another value in each.",
                remedy="Choose a technique that tries levels one by one, such as the optimal "
                "search, or remove the model.",
            )
    return counted
