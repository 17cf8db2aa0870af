"""What a technique is good for: said by its class, in order of use, and only ranked elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
