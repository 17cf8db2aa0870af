"""What a file says of a column next to its cells: a title, and labels of its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What an SPSS, Stata or SAS file says of one column.

    Attributes
    ----------
    title : str
        The column's label: often the question that was asked.
    labels : mapping of str to str
        By code, its label.
    """

    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
