"""The thresholds of attacks: that of a person's chance of being picked is shared by several."""

from __future__ import annotations

from typing import Any

from anon_core.base.params import Technique
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack


def personal() -> list[str]:
    """Return the attacks whose threshold is a person's chance, not a share of everyone."""
    return [n for n, a in family("attack").items() if issubclass(a, Attack) and _is_chance(a)]


def tables(chance: float) -> list[dict[str, Any]]:
    """Return a recipe's tables that set all thresholds alike, those of shares of everyone too."""
    return [
        {"name": name, "threshold": chance}
        for name, attack in family("attack").items()
        for parameter in attack.parameters()
        if parameter.name == "threshold" and parameter.default != chance
    ]


def _is_chance(attack: type[Technique]) -> bool:
    return any(p.name == "threshold" and "chance" in p.label.lower() for p in attack.parameters())
