"""Values made of several: one for each column, and sets of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Generic, TypeVar, cast

_V = TypeVar("_V", covariant=True)
_ENDS = ("low", "high")


class FrozenMap(Mapping[str, _V], Generic[_V]):
    """A mapping that cannot be changed, and equals any other with the same entries.

    Examples
    --------
    >>> FrozenMap({"age": 2}) == {"age": 2}
    True
    >>> hash(FrozenMap({"a": 1, "b": 2})) == hash(FrozenMap({"b": 2, "a": 1}))
    True
    """

    def __init__(self, given: Mapping[str, _V] | Iterable[tuple[str, _V]] = ()) -> None:
        self._entries = dict(given)

    def __getitem__(self, key: str) -> _V:
        """Return one entry."""
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys, in the order they were given."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __hash__(self) -> int:
        """Return a hash that does not depend on the order."""
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        """Return the entries as a dict writes them."""
        return repr(self._entries)


def column_sets(value: object) -> tuple[tuple[str, ...], ...] | None:
    """Return sets of columns as tuples of names; None where the value is not a list of such sets.

    No set is empty, and no column is in two.
    """
    if not isinstance(value, list | tuple):
        return None
    found: list[tuple[str, ...]] = []
    for one in cast(Iterable[object], value):
        if not isinstance(one, list | tuple):
            return None
        names = tuple(cast(Iterable[object], one))
        if not names or not all(isinstance(name, str) and name for name in names):
            return None
        found.append(cast(tuple[str, ...], names))
    named = [name for names in found for name in names]
    return tuple(found) if len(set(named)) == len(named) else None


def columns(value: object) -> tuple[str, ...] | None:
    """Return names of columns as a tuple; None where the value is not a list of different names."""
    if not isinstance(value, list | tuple):
        return None
    names = tuple(cast(Iterable[object], value))
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        return None
    return cast(tuple[str, ...], names)


def limits(value: object) -> FrozenMap[float | str] | None:
    """Return a lower and an upper limit, or one of them; None where the value is none.

    Numbers stay numbers; dates are texts, as a table writes them.
    """
    if not isinstance(value, Mapping) or not value:
        return None
    found: dict[str, float | str] = {}
    for key, end in cast(Mapping[object, object], value).items():
        if key not in _ENDS:
            return None
        limit = end.isoformat() if isinstance(end, date) else end
        if isinstance(limit, bool) or not isinstance(limit, int | float | str):
            return None
        if limit == "" or (isinstance(limit, float) and not math.isfinite(limit)):
            return None
        found[str(key)] = limit
    return FrozenMap({key: found[key] for key in _ENDS if key in found})


def queries(
    value: object,
) -> tuple[FrozenMap[FrozenMap[float | str] | tuple[str, ...]], ...] | None:
    """Return count queries; None where the value is none.

    Each is a mapping of columns to what a row must show there: limits, see `limits`, or a list of
    values, none of them twice.
    """
    if not isinstance(value, list | tuple):
        return None
    found: list[FrozenMap[FrozenMap[float | str] | tuple[str, ...]]] = []
    for one in cast(Iterable[object], value):
        if not isinstance(one, Mapping) or not one:
            return None
        asked: dict[str, FrozenMap[float | str] | tuple[str, ...]] = {}
        for column, condition in cast(Mapping[object, object], one).items():
            predicate = limits(condition) if isinstance(condition, Mapping) else columns(condition)
            if not isinstance(column, str) or not column or not predicate:
                return None
            asked[column] = predicate
        found.append(FrozenMap(asked))
    return tuple(found)


def plain_queries(value: object) -> list[dict[str, object]]:
    """Return accepted queries as a recipe has them."""
    made = cast(tuple[FrozenMap[FrozenMap[float | str] | tuple[str, ...]], ...], value)
    return [
        {column: dict(p) if isinstance(p, FrozenMap) else list(p) for column, p in one.items()}
        for one in made
    ]
