"""What a change must offer: other cells for some columns, made before rows are grouped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import Technique, integer
from anon_core.data.column import Column
from anon_core.data.roles.roles import Role, Roles
from anon_core.data.table import Dataset


@dataclass(frozen=True, kw_only=True, eq=False)
class Chance:
    """What a change draws from, and the key of one that is keyed.

    Attributes
    ----------
    order : int64 array of shape (rows,)
        Rows by their content: what is drawn for the first of them must not depend on the file.
    key : bytes
        32 bytes that the person was asked for; empty where no change asks.
    """

    generator: np.random.Generator
    order: npt.NDArray[np.int64]
    key: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a change does to cells, and with what.

    Attributes
    ----------
    needs_key : bool
        Whether it asks for a secret key of 32 bytes, which no recipe holds.
    draws : bool
        Whether it draws, so that the seed undoes it.
    replaces : bool
        Whether a cell may be another person's, or no one's: equal cells are no crowd then.
    joins_rows : bool
        Whether its cells tell which rows are of one person.
    """

    needs_key: bool = False
    draws: bool = False
    replaces: bool = True
    joins_rows: bool = False


class Change(Technique):
    """Gives some columns other cells; whatever follows sees the changed table alone."""

    #: One sentence: when to use it, and when never.
    when: ClassVar[str] = ""
    #: What it leaves to a reader of the release, as a sentence.
    leaves: ClassVar[str] = ""
    #: Roles that its columns may have.
    of_roles: ClassVar[tuple[Role, ...]] = ("quasi", "sensitive", "insensitive")
    effect: ClassVar[Effect] = Effect()

    @abstractmethod
    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns changed; rows stay where they are, missing values missing.

        Raises
        ------
        BadPlan, BadInput
            If the columns cannot be changed so.
        """

    def asks_of(self) -> tuple[str, ...]:
        """Return further columns that it looks at and does not change."""
        return ()

    def guarantee(self) -> str:
        """Return what it is proven to guarantee, in a sentence; empty where that is nothing."""
        return ""


def more_decimals() -> int:
    """Declare the parameter of changes that make numbers of their own."""
    return integer(
        default=0,
        low=0,
        high=6,
        help="Decimals published beyond those that the column's own values have.",
        label="More decimals",
    )


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A change and the columns it is made of, as a recipe lists it under ``[[changes]]``."""

    change: Change
    columns: tuple[str, ...]

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table."""
        own = {"name": self.change.name, "columns": list(self.columns)}
        return {**own, **self.change.as_mapping()}

    def refuse_roles(self, roles: Roles) -> None:
        """Refuse columns whose role does not allow the change.

        Raises
        ------
        BadPlan
        """
        for name in self.columns:
            own = roles.of(name)
            if not own or any(role not in self.change.of_roles for role in own):
                raise BadPlan(
                    f"{self.change.title} is asked for of '{name}', which is "
                    f"{' and '.join(own) or 'named by no role'}.",
                    remedy=f"Name a column that is {listing(self.change.of_roles)}, or take the "
                    "column out of the change.",
                )
        lacking = [n for n in self.change.asks_of() if n not in roles.named]
        if lacking:
            raise BadPlan(
                f"{self.change.title} looks at {listing(lacking)}, which no role names.",
                remedy="Name a column that has a role.",
            )
