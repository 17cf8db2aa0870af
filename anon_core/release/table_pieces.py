"""A table whose distinct tuples no memory holds, cut in pieces by anyone who holds it.

A partition asks for what decides a cut, and says where it is; pieces that fit are finished by
themselves. Tuples are leaf numbers: of quasi-identifiers first, then of sensitive columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from anon_core.base.arrays import I32, I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A piece of the table.

    Attributes
    ----------
    low, high : int32 arrays of shape (quasi,)
        The smallest and largest leaf of its tuples.
    """

    name: str
    tuples: int
    rows: int
    low: I32
    high: I32


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """Distinct tuples of some columns in a piece.

    Attributes
    ----------
    codes : int32 array of shape (tuples, columns)
    count : int64 array of shape (tuples,)
        Rows.
    """

    codes: I32
    count: I64


class Pieces(ABC):
    """The tuples of a table, piece by piece.

    Attributes
    ----------
    room : int
        Tuples of a piece that may be held in memory.
    """

    room: int

    @abstractmethod
    def whole(self) -> Piece:
        """Return the table as one piece."""

    @abstractmethod
    def counted(self, piece: Piece, columns: Sequence[int]) -> Counted:
        """Return the distinct tuples of some columns of a piece; of all, each as it is held."""

    @abstractmethod
    def cut(self, piece: Piece, column: int, ends: Sequence[tuple[int, int]]) -> list[Piece]:
        """Cut a piece, which is no more, by the leaves of a column, first and last of each."""

    @abstractmethod
    def settle(self, piece: Piece, codes: I32, part: I64) -> None:
        """Note the part of each of a piece's tuples of quasi-identifiers; the piece is no more."""

    @abstractmethod
    def finish(self, key: I64) -> None:
        """Note a key of the frequency set for each part, shape (parts,).

        Raises
        ------
        BadInput
            If memory has no room for what classes show.
        """
