"""The two editions of a report: what the house keeps, and what may go with the release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Of every part of the evidence what the public edition tells; the rest stays in the house.
_PUBLIC: Mapping[str, tuple[str, ...] | None] = {
    "schema": None,
    "status": None,
    "context": ("title", "purpose", "release_model", "release_model_means", "controls"),
    "data": ("people", "person_column"),
    "technique": None,
    "promises": None,
    "utility": None,
    "limits": None,
}
_TECHNIQUE = ("name", "title", "summary", "source", "links", "levels", "published")
_DECISION = ("approver", "date", "valid_until", "review_triggers", "approved")
_ROLE = ("column", "kind", "role", "distinct_published")
_THRESHOLD = ("attack", "title", "column", "threshold", "met", "least_class", "why_this_class")
_ATTACK = ("attack", "title", "column", "discloses", "rate", "worst", "baseline", "undecided",
           "interval", "estimated", "upper_bound")  # fmt: skip


def public_edition(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of the evidence may go with the release.

    Left out are the secret seed and the recipe, the file's name and hash, figures of the private
    table that the release does not show (suppressed rows and by whom, people at risk, the raw
    table's risk), threats, alternatives, and the reasons the house gave itself.

    Parameters
    ----------
    told : mapping
        The evidence; see `evidence.evidence`.
    """
    found: dict[str, Any] = {"edition": "public"}
    for key, names in _PUBLIC.items():
        found[key] = told[key] if names is None else _only(told[key], names)
    found["technique"] = _only(told["technique"], _TECHNIQUE)
    found["technique"]["tables"] = [
        _only(t, ("file", "rows", "columns")) for t in told["technique"]["tables"]
    ]
    found["roles"] = [_only(r, _ROLE) for r in told["roles"] if r["distinct_published"] is not None]
    found["thresholds"] = {
        "source": told["thresholds"]["source"],
        "attacks": [_only(t, _THRESHOLD) for t in told["thresholds"]["attacks"]],
    }
    risk = told["risk"]
    found["risk"] = {
        "counted": risk["counted"],
        "after": risk["after"],
        "why_no_after": risk["why_no_after"],
        "attacks": [_only(a, _ATTACK) for a in risk["attacks"] if a["eligible"]],
        "not_run": risk["not_run"],
    }
    found["decision"] = _only(told["decision"], _DECISION)
    software = told["software"]
    found["software"] = _only(software, ("name", "version", "output_sha256"))
    return found


def internal_edition(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence as the house keeps it."""
    return {"edition": "internal", **told}


def _only(table: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}
