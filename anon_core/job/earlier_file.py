"""What a recipe says of a release of the same people that is out already: ``[earlier]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from ..base.errors import BadPlan, brief
from ..data.table import Dataset
from ..release.earlier import Overlap, encode_earlier
from ..release.problem import Problem

if TYPE_CHECKING:
    from .plan import Plan


@dataclass(frozen=True, kw_only=True)
class EarlierFile:
    """What a recipe says of an earlier release.

    Attributes
    ----------
    file : str
        The published table, relative to the recipe; empty if there is none.
    people : {'unknown', 'all', 'grown'}
        Who stood in both with the values they have now: nobody says it; everyone of the table; or
        everyone of the earlier release, to whom others have come since.
    """

    file: str = ""
    people: Overlap = "unknown"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> EarlierFile:
        """Read ``[earlier]``; its keys are known.

        Raises
        ------
        BadPlan
        """
        file, people = given.get("file", ""), given.get("people", "unknown")
        if not isinstance(file, str):
            raise BadPlan("[earlier] file is no text.", remedy="Quote the path.")
        if people not in get_args(Overlap):
            raise BadPlan(
                f"[earlier] people is {brief(people)}.", remedy="Use 'unknown', 'all' or 'grown'."
            )
        return cls(file=file, people=people)

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table; empty where there is no file."""
        return {"file": self.file, "people": self.people} if self.file else {}


def beside_earlier(
    plan: Plan,
    problem: Problem,
    table: Dataset | None,
) -> Problem:
    """Return a problem beside the earlier release that a plan names.

    Raises
    ------
    BadPlan
        If the plan names one, and it was not given; or the other way round.
    BadInput
        If its texts cannot be read.
    """
    if (table is None) != (not plan.earlier.file):
        raise BadPlan(
            "The plan names no earlier release, but one was given."
            if table is not None
            else f"The plan names the earlier release {brief(plan.earlier.file)}, which was not "
            "given.",
            remedy="Name it as [earlier] file in the recipe, and pass its table.",
        )
    if table is None:
        return problem
    found = encode_earlier(
        table, problem.dataset, problem.roles, problem.hierarchies, plan.earlier.people
    )
    return replace(problem, earlier=found)
