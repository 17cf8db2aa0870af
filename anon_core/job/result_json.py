"""The figures of a result as plain values: what `run --json` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.registry import family
from ..base.secret import spell
from ..release.results import AttackResult
from .version import VERSION

if TYPE_CHECKING:
    from .result import Result

SCHEMA = 1


def as_json(result: Result) -> dict[str, Any]:
    """Return the figures as plain values; see `Result.as_json`."""
    dataset = result.problem.dataset
    sizes = result.class_sizes
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "input_sha256": dataset.file_sha256 or dataset.fingerprint,
        "input_sha256_of": "file" if dataset.file_sha256 else "values",
        "output_sha256": result.sha256,
        "status": "released",
        "seed": spell(result.plan.seed),
        "verified": result.verification.holds,
        "rows": result.problem.rows,
        **_people(result),
        "dropped": dataset.dropped,
        "not_drawn": dataset.undrawn,
        "suppressed": result.release.suppressed,
        "published_as_they_are": list(result.exact),
        "left_out": list(result.left_out),
        "notes": list(result.plan.notes),
        "unique_over_all_columns": result.unique_over_all_columns,
        "classes": len(sizes),
        "smallest_class": int(sizes.min()) if len(sizes) else 0,
        "node": dict(result.account.node) if result.account.node is not None else None,
        "partition": dict(result.account.partition) if result.account.partition else None,
        "search": {
            "proven": result.account.proven,
            "cost": result.account.cost,
            "minimal_nodes": [list(n) for n in result.account.minimal],
            "locally_minimal_nodes": [list(n) for n in result.account.locally_minimal],
            "nodes": result.account.nodes,
            "checked": result.account.checked,
            "inferred": result.account.inferred,
            "bounded": result.account.bounded,
            "bound": result.account.bound,
            "steps": [dict(step) for step in result.account.steps],
        },
        "metrics": {name: m.value for name, m in result.measures.items()},
        "metric_forms": {name: dict(m.also) for name, m in result.measures.items() if m.also},
        "models": [
            {
                "name": v.model,
                **dict(v.parameters),
                "column": v.column or None,
                "bound": v.bound,
                "value": v.reached,
                "holds": v.holds,
                "state": v.state,
                "sentence": v.sentence,
            }
            for v in result.verdicts
        ],
        "attacks": [
            {
                "name": a.attack,
                "column": a.column or None,
                "attempted": a.attempted,
                "eligible": a.eligible,
                "succeeded": a.succeeded,
                "undecided": a.undecided,
                "exposed": a.exposed,
                "rate": a.rate,
                "interval": list(a.interval) if a.interval is not None else None,
                "worst": a.worst,
                "baseline": a.baseline,
                "raw": a.raw,
                "at_risk": a.at_risk,
                "threshold": a.threshold,
                "threshold_met": _met(a),
                "estimated": a.estimated,
                "upper_bound": a.upper_bound,
                "sentence": a.sentence,
            }
            for a in result.attacks
        ],
        "attacks_not_run": result.not_run,
        "cautions": list(result.cautions),
        "facts": dict(result.verification.facts),
        "seconds": dict(result.seconds),
    }


def _people(result: Result) -> dict[str, Any]:
    """Return the persons beside the rows; nothing where a row is a person."""
    crowd = result.crowd
    if crowd is None:
        return {}
    smallest = int(crowd.sizes.min()) if crowd.classes else 0
    return {
        "people": crowd.total,
        "published_people": crowd.published,
        "smallest_class_people": smallest,
        "unique_people_over_all_columns": result.unique_of[1],
    }


def _met(attack: AttackResult) -> bool | None:
    """Return whether an attack stays within its threshold; None where it has none."""
    names = {p.name for p in family("attack")[attack.attack].parameters()}
    if "threshold" not in names or attack.idle:
        return None
    return attack.worst <= attack.threshold
