"""The thresholds of attacks: that of a person's chance of being picked is shared by several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.params import Technique
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack


def personal() -> list[str]:
    """Return the attacks whose threshold is a person's chance, not a share of everyone."""
    return [n for n, a in family("attack").items() if _in_every_run(a) and _is_chance(a)]


def every() -> list[str]:
    """Return the attacks of every run that have a threshold: those of `personal`, then shares."""
    first = personal()
    return first + [
        name
        for name, attack in family("attack").items()
        if name not in first
        and _in_every_run(attack)
        and any(p.name == "threshold" for p in attack.parameters())
    ]


def tables(chance: float) -> list[dict[str, Any]]:
    """Return a recipe's tables that set all thresholds alike, those of shares of everyone too."""
    return [
        {"name": name, "threshold": chance}
        for name, attack in family("attack").items()
        if _in_every_run(attack)
        for parameter in attack.parameters()
        if parameter.name == "threshold" and parameter.default != chance
    ]


def _in_every_run(attack: type[Technique]) -> bool:
    """Say whether an attack is run unasked: to set its threshold would be to ask for it."""
    return issubclass(attack, Attack) and attack.use.by_default


def _is_chance(attack: type[Technique]) -> bool:
    return any(p.name == "threshold" and "chance" in p.label.lower() for p in attack.parameters())


def own(tables: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the one threshold of a person's chance that tables of attacks set, or their default.

    None where they set several.
    """
    known, given = family("attack"), {str(t["name"]): t for t in tables}
    found = {
        float(given.get(name, {}).get("threshold", parameter.default))
        for name in personal()
        for parameter in known[name].parameters()
        if parameter.name == "threshold"
    }
    return found.pop() if len(found) == 1 else None
