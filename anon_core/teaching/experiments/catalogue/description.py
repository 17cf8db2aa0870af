"""What the experiments that only describe a table share: printed numbers next to counted ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_core.teaching.experiments.experiment import Claim, Figure, Point, Printed
from anon_core.teaching.experiments.points import Found


def figure(name: str, title: str, y: str, names: Sequence[str], *, log: bool = False) -> Figure:
    """Return axes with a place for each name."""
    return Figure(name=name, title=title, x="", y=y, places=tuple(names), log=log)


def printed(figure: str, numbers: Mapping[str, float]) -> tuple[Printed, ...]:
    """Return printed numbers, one a place."""
    return tuple(
        Printed(figure=figure, series=name, low=value, high=value, at=place, words=f"{value:,g}")
        for place, (name, value) in enumerate(numbers.items())
    )


def counted(figure: str, numbers: Sequence[float]) -> list[Point]:
    """Return counted numbers, one a place."""
    return [
        Point(figure=figure, series="counted", x=place, y=float(value))
        for place, value in enumerate(numbers)
    ]


def agree(
    found: Found,
    name: str,
    numbers: Mapping[str, float],
    says: str,
    *,
    digits: int = 0,
    own: bool = True,
    error: str = "",
    reason: str = "",
) -> Claim:
    """Claim that counted numbers are the printed ones, to the printed digits.

    Parameters
    ----------
    name : str
        The figure.
    numbers : mapping of str to float
        What is printed, in order of the places.
    digits : int
        Digits after the point that are printed.
    own : bool
        Whether other numbers refute the source where the table is its own.
    error, reason : str
        The known error, and what is known of its reason.
    """
    there = [found.series(name, series) for series in found.names(name)]
    measured = {x: y for line in there for x, y in line.items()}
    if len(measured) < len(numbers):
        return Claim(says=says, holds=None, measured="Not measured yet.", error=error)
    other: list[str] = []
    for place, (column, value) in enumerate(numbers.items()):
        if abs(measured[place] - value) >= 10.0**-digits:  # rounded or cut off
            other.append(f"{column} {measured[place]:,.{digits}f}, not {value:,.{digits}f}")
    count = f"{len(numbers) - len(other)} of {len(numbers)} agree."
    generated = " This is a generated table." if found.generated else f" {reason}".rstrip()
    return Claim(
        says=says,
        holds=not other,
        measured=count,
        because=f"Here: {'; '.join(other)}.{generated}" if other else "",
        wrong=bool(other) and own and not found.generated,
        error=error,
    )
