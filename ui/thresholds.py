"""The threshold of a person's chance of being picked, which several attacks share."""

from __future__ import annotations

from typing import Any

from anon_core.kinds import Attack
from anon_core.params import Technique
from anon_core.registry import family


def personal() -> list[str]:
    """Return the attacks whose threshold is a person's chance, not a share of everyone."""
    return [n for n, a in family("attack").items() if issubclass(a, Attack) and _is_chance(a)]


def tables(chance: float) -> list[dict[str, Any]]:
    """Return the recipe's tables that set this threshold; none where it is every attack's own."""
    default = {n: _default(family("attack")[n]) for n in personal()}
    return [{"name": n, "threshold": chance} for n in default if default[n] != chance]


def _default(attack: type[Technique]) -> object:
    return next(p.default for p in attack.parameters() if p.name == "threshold")


def _is_chance(attack: type[Technique]) -> bool:
    return any(p.name == "threshold" and "chance" in p.label.lower() for p in attack.parameters())
