"""Named results, each with what it is uncertain about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.release.attack_result import Details
from anon_core.release.release import Release

State = Literal["holds", "broken", "undecided"]

#: What sums of many rounded terms may be off by.
_ROUNDING = 1e-12


def per_cent(share: float) -> str:
    """Return a share as per cent; what is not all or nothing does not look so.

    Examples
    --------
    >>> per_cent(0.2), per_cent(0.0178), per_cent(0.00001), per_cent(0), per_cent(0.99999)
    ('20%', '1.8%', 'under 0.01%', '0%', 'over 99.9%')
    """
    if 0 < share < 0.0001:
        return "under 0.01%"
    if 0.9995 <= share < 1:
        return "over 99.9%"
    digits = 1 if share >= 0.001 else 2
    return f"{100 * share:.{digits}f}".rstrip("0").rstrip(".") + "%"


def figure(value: float) -> str:
    """Return a number with four digits, and a larger one with every digit of its whole part.

    Examples
    --------
    >>> figure(32_561), figure(90.447), figure(0.39651), figure(86_185_415.2), figure(0.00001234)
    ('32,561', '90.45', '0.3965', '86,185,415', '1.234e-05')
    """
    if abs(value) >= 1000 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def share_of(lost: float, whole: float) -> float:
    """Return what was lost as a share of what can be, at most 1.

    Where there is nothing to lose, whatever is lost all the same fills the scale.

    Examples
    --------
    >>> share_of(1, 4), share_of(5, 4), share_of(0, 0), share_of(1, 0)
    (0.25, 1.0, 0.0, 1.0)
    """
    if lost <= _ROUNDING:
        return 0.0
    return min(lost / whole, 1.0) if whole > _ROUNDING else 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """Whether a privacy model holds on a view.

    Attributes
    ----------
    model : str
        The model's name.
    state : {'holds', 'broken', 'undecided'}
    bound, reached : float
        What was asked and the worst value found, in the model's own unit.
    per_class : float64 array of shape (classes,)
        Value of every class.
    column : str
        Sensitive column concerned; empty for models of identity.
    sentence : str
        The verdict in plain words.
    """

    model: str
    parameters: Mapping[str, object]
    state: State
    bound: float
    reached: float
    per_class: npt.NDArray[np.float64]
    sentence: str
    column: str = ""

    @property
    def holds(self) -> bool:
        """True only where the model was decided and holds."""
        return self.state == "holds"


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """One utility metric of a release.

    Attributes
    ----------
    value : float
        In the metric's own unit.
    share : float
        The same brought to [0, 1]: 0 is unchanged, 1 is everything suppressed.
    per_class : float64 array of shape (classes,) or None
    per_column : mapping of str to float
        Where the metric can be given by column, each in [0, 1].
    also : mapping of str to float
        Other published forms of the same metric, by name.
    details : tuple of Details
        What lies behind the figure, where there is more to look at.
    """

    metric: str
    value: float
    share: float
    per_class: npt.NDArray[np.float64] | None = None
    per_column: Mapping[str, float] = field(default_factory=dict[str, float])
    also: Mapping[str, float] = field(default_factory=dict[str, float])
    details: tuple[Details, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchAccount:
    """What an algorithm did to find its release.

    Attributes
    ----------
    proven : bool
        Whether the result is proven best by the cost asked for.
    cost : float or None
        Cost of the release found.
    node : mapping of str to int, or None
        Column → level, for full-domain results.
    partition : mapping of str to float, or None
        Summary, for partitions: number of parts, smallest, largest, mean.
    minimal : tuple of tuples of int
        Every k-minimal node (full-domain results).
    locally_minimal : tuple of tuples of int
        The lowest node that holds of every path from the bottom to the top, where all minimal nodes
        were asked for; the minimal ones are among them.
    nodes, checked, inferred, bounded : int
        Size of the lattice; nodes evaluated; nodes decided by monotonicity; nodes that a bound
        excluded.
    bound : float or None
        No release of the kind searched costs less; None where nothing was proven.
    looked : mapping of tuple of int to int
        Nodes whose classes were looked at, by the levels of the hierarchies as given, with the rows
        that would have to go there; the first of very many.
    steps : tuple of mappings
        What the search did, one row a step, all with the same keys: heights, sizes of subsets,
        or improvements, as the technique counts them.
    """

    proven: bool
    cost: float | None = None
    node: Mapping[str, int] | None = None
    partition: Mapping[str, float] | None = None
    minimal: tuple[tuple[int, ...], ...] = ()
    locally_minimal: tuple[tuple[int, ...], ...] = ()
    nodes: int = 0
    checked: int = 0
    inferred: int = 0
    bounded: int = 0
    bound: float | None = None
    looked: Mapping[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    steps: tuple[Mapping[str, int | float | str], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """A release with the account of the search that found it."""

    release: Release
    account: SearchAccount
