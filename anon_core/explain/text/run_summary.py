"""How a run stands, in a few figures: what a report says of a run that was not released."""

from __future__ import annotations

from anon_core.base.terms import PRIVACY_MODELS
from anon_core.explain.text import phrases
from anon_core.explain.text.tiles import Tile, tiles, title_of
from anon_core.pipeline.result import Result


def standing(result: Result) -> dict[str, str]:
    """Return a run's figures by name: the three tiles, promises, suppression, thresholds met."""
    chance, people, lost = tiles(result)
    limited = [a for a in phrases.in_order(result.attacks) if phrases.limited(a) and not a.idle]
    missed = [title_of(a) for a in limited if a.worst > a.threshold]
    met = f"{len(limited) - len(missed)} of {len(limited)}"
    return {
        chance.name: _told(chance),
        people.name: _told(people),
        lost.name: lost.figure,
        PRIVACY_MODELS: " ".join(phrases.promises(result)),
        "Suppression": phrases.hidden(result),
        "Thresholds met": f"{met}; missed: {', '.join(missed)}" if missed else met,
    }


def _told(tile: Tile) -> str:
    by = f" ({tile.attacker})" if tile.attacker else ""
    return f"{tile.figure}{by}, {tile.word}"
