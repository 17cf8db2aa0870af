"""A hierarchy as it stands in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

#: One row a value, the value first, then a label per level.
LevelTable: TypeAlias = Sequence[Sequence[str]]
