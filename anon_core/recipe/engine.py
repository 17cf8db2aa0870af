"""What a recipe says of the engine that holds the table: ``[engine]``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from anon_core.base.errors import BadPlan, brief

EngineName = Literal["auto", "memory", "duckdb", "spark"]
_LEAST_MEMORY = 3 << 29
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What a recipe says of the engine: ``[engine]``.

    Attributes
    ----------
    name : {'auto', 'memory', 'duckdb', 'spark'}
        'auto' takes memory where the table fits, else DuckDB; Spark is taken where it is asked for.
    memory : str
        What a run may take, such as ``"4GB"``; empty for half of what the machine has.
    """

    name: EngineName = "auto"
    memory: str = ""

    def __post_init__(self) -> None:
        """Refuse other names, and sizes that are none or too small.

        Raises
        ------
        BadPlan
        """
        if self.name not in get_args(EngineName):
            raise BadPlan(
                f"The engine is {brief(self.name)}.",
                remedy="Use 'auto', 'memory', 'duckdb' or 'spark'.",
            )
        if self.memory and self.bytes < _LEAST_MEMORY:
            raise BadPlan(
                f"The memory of the engine is {brief(self.memory)}.",
                remedy="Give at least 1.7GB: 1 GB of it is kept for everything but the table.",
            )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Engine:
        """Read ``[engine]``; its keys are known.

        Raises
        ------
        BadPlan
        """
        return cls(name=given.get("name", "auto"), memory=given.get("memory", ""))

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table; empty where nothing is said."""
        fields = {"name": self.name, "memory": self.memory}
        return {} if self == Engine() else {key: value for key, value in fields.items() if value}

    @property
    def bytes(self) -> int:
        """Bytes that a run may take."""
        if not self.memory:
            return max(_machine() // 2, _LEAST_MEMORY)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]B|)", str(self.memory).strip().upper())
        if found is None:
            raise BadPlan(
                f"The memory of the engine is {brief(self.memory)}.",
                remedy='Write a number and a unit, such as "4GB".',
            )
        return int(float(found[1]) * _UNITS[found[2]])


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return 8 << 30
