"""The lowest and the highest level that each column may be published at: ``[level_bounds]``.

They are a preference of those who read the release, not of a technique: a technique keeps them, or
is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadPlan, brief, listing, nearest

if TYPE_CHECKING:
    from anon_core.contracts.algorithm import Algorithm
    from anon_core.data.roles.roles import Roles
    from anon_core.release.problem import Problem

_ENDS = ("least", "most")
_NAMES = {"least": "lowest", "most": "highest"}


@dataclass(frozen=True, kw_only=True)
class LevelBounds:
    """The levels of single columns, as a recipe bounds them.

    Attributes
    ----------
    least, most : mapping of str to int
        Columns with a lowest, and with a highest level; 0 are the values themselves.

    Raises
    ------
    BadPlan
        Naming the column, if a level is none, or the lowest is above the highest.
    """

    least: Mapping[str, int] = field(default_factory=dict[str, int])
    most: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        """Refuse what is no level, and a lowest level above the highest."""
        for end in _ENDS:
            for name, level in cast(Mapping[str, object], getattr(self, end)).items():
                if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                    raise BadPlan(
                        f"[level_bounds] {name}: {end} is {brief(level)}.",
                        remedy="Use a whole number from 0 up; level 0 is the values themselves.",
                    )
        for name, low in self.least.items():
            if name in self.most and low > self.most[name]:
                raise BadPlan(
                    f"[level_bounds] {name}: the lowest level, {low}, is above the highest, "
                    f"{self.most[name]}.",
                    remedy="Lower least, or raise most.",
                )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> LevelBounds:
        """Read the recipe's ``[level_bounds]``.

        Raises
        ------
        BadPlan
        """
        ends: dict[str, dict[str, int]] = {end: {} for end in _ENDS}
        for name, bounds in given.items():
            if not isinstance(bounds, Mapping) or not bounds:
                raise BadPlan(
                    f"[level_bounds] {name} is {brief(bounds)}.",
                    remedy="Write { least = 1, most = 2 }, or one of the two.",
                )
            for key, level in cast(Mapping[str, int], bounds).items():
                if key not in _ENDS:
                    raise BadPlan(
                        f"[level_bounds] {name} has the unknown key '{key}'; known are least and "
                        "most.",
                        remedy=f"Remove or rename it.{nearest(key, _ENDS)}",
                    )
                ends[key][name] = level
        return cls(**ends)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are bounded."""
        return tuple(dict.fromkeys((*self.least, *self.most)))

    def as_mapping(self) -> dict[str, dict[str, int]]:
        """Return the recipe's table; empty where nothing is bounded."""
        return {
            name: {end: own[name] for end in _ENDS if name in (own := getattr(self, end))}
            for name in self.columns
        }

    def refuse_others(self, roles: Roles) -> None:
        """Refuse bounds of columns whose level no search chooses.

        Raises
        ------
        BadPlan
        """
        for name in self.columns:
            if name not in roles.quasi:
                raise BadPlan(
                    f"A lowest or highest level is set for '{name}', which is not a "
                    f"quasi-identifier; they are {listing(roles.quasi)}.",
                    remedy=f"Remove or rename it.{nearest(name, roles.quasi)}",
                )

    def refuse_unkept(self, algorithm: Algorithm) -> None:
        """Refuse a technique that does not choose among levels within bounds.

        Raises
        ------
        BadPlan
            Naming the technique.
        """
        if self.columns and not algorithm.keeps_level_bounds():
            raise BadPlan(
                f"{algorithm.title}, as it is set, does not keep the lowest and highest levels "
                f"that are set for {listing(self.columns)}.",
                remedy="Remove these levels, or choose a technique with one level per column, such "
                "as the optimal search.",
            )

    def of(self, problem: Problem) -> Mapping[str, tuple[int, int]]:
        """Return lowest and highest level by column, the open ends filled in.

        Raises
        ------
        BadPlan
            If a hierarchy lacks a level.
        """
        found: dict[str, tuple[int, int]] = {}
        for name in self.columns:
            height = problem.hierarchies[name].height
            ends = self.least.get(name, 0), self.most.get(name, height)
            for end, level in zip(_ENDS, ends, strict=True):
                if level > height:
                    raise BadPlan(
                        f"The {_NAMES[end]} level set for '{name}' is {level}; its hierarchy has "
                        f"the levels 0 to {height}.",
                        remedy="Use one of these, or give the column a hierarchy with more levels.",
                    )
            if ends != (0, height):
                found[name] = ends
        return found
