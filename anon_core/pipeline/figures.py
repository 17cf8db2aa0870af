"""The figures of a result as plain values: what `run --json` writes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from anon_core.base.installation import VERSION
from anon_core.base.registry import find
from anon_core.base.secret import spell
from anon_core.contracts.attack import Attack
from anon_core.pipeline.measure.assessment import evidence
from anon_core.pipeline.measure.cautions import read_as_missing
from anon_core.pipeline.measure.column_statistics import column_statistics
from anon_core.pipeline.measure.drift import published_texts
from anon_core.pipeline.measure.value_breakdown import distribution, listed_columns, who_pays
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.link_strength import links

SCHEMA = 1
#: Classes and people that an attack lists in the figures.
LISTED = 100


def figures_of(result: Result) -> dict[str, Any]:
    """Return the figures as plain values (`run --json`): internal, they hold the seed.

    ``input_sha256`` is that of the file that was read, or, where the table came from none, of
    its columns' names, kinds and values; ``input_sha256_of`` says which.
    """
    dataset = result.problem.dataset
    sizes = result.class_sizes
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "input_sha256": dataset.file_sha256 or dataset.fingerprint,
        "input_sha256_of": "file" if dataset.file_sha256 else "values",
        "output_sha256": "" if result.pending else result.sha256,
        "status": "released",
        "seed": spell(result.plan.seed),
        "verified": result.verification.holds,
        "rows": result.problem.rows,
        **_people(result),
        "dropped": dataset.dropped,
        "not_drawn": dataset.undrawn,
        "rows_outside": dataset.outside,
        "where": result.plan.data.where,
        "unseen_rows": dataset.unseen,
        "suppressed": result.release.suppressed,
        **_weights(result),
        "published_as_they_are": list(result.exact),
        "left_out": list(result.left_out),
        "notes": list(result.plan.notes),
        "unique_over_all_columns": result.unique_over_all_columns,
        "classes": len(sizes),
        "smallest_class": int(sizes.min()) if len(sizes) else 0,
        "node": dict(result.account.node) if result.account.node is not None else None,
        "counted_from": dict(result.problem.floors),
        "counted_by_class": result.problem.by_class,
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
        "optimum": _optimum(result),
        "level_bounds": result.plan.level_bounds.as_mapping(),
        "sensitive_levels": dict(result.plan.sensitive_levels),
        "level_search": _level_search(result),
        "metrics": {name: m.value for name, m in result.measures.items()},
        "metric_forms": {name: dict(m.also) for name, m in result.measures.items() if m.also},
        "metric_shares": {name: m.share for name, m in result.measures.items()},
        "metric_columns": {
            name: dict(m.per_column) for name, m in result.measures.items() if m.per_column
        },
        "metric_details": {
            name: [_details(d) for d in m.details]
            for name, m in result.measures.items()
            if m.details
        },
        "published_texts": published_texts(result),
        "by_value": _by_value(result),
        "before_and_after": [
            asdict(column_statistics(result, name)) for name in listed_columns(result.problem)
        ],
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
        "attacks": [_attack(a) for a in result.attacks],
        "attacks_not_run": result.not_run,
        "links": links_as_rows(result),
        "questions": [e.as_json() for e in evidence(result)],
        "cautions": list(result.cautions),
        "read_as_missing": read_as_missing(result.plan, result.problem),
        "facts": dict(result.verification.facts),
        "seconds": dict(result.seconds),
    }


def _optimum(result: Result) -> dict[str, Any] | None:
    found = result.optimum
    if found is None:
        return None
    return {
        "cost": found.cost,
        "release": found.release,
        "metric": found.metric,
        "of": found.of(),
        "cells": dict(found.cells),
        "removable": found.removable,
    }


def _level_search(result: Result) -> dict[str, Any] | None:
    found = result.level_search
    if found is None:
        return None
    return {
        "levels": dict(found.levels),
        "proven": found.proven,
        "tried": [{"levels": dict(levels), "ended": word} for levels, word in found.tried],
    }


def links_as_rows(result: Result) -> list[dict[str, Any]]:
    """Return what is left of each kind of link, next to the attacks of the run that go along it."""
    ran = {a.attack: cast(type[Attack], find("attack", a.attack)) for a in result.attacks}
    return [
        {
            "link": link.name,
            "kept": [list(pair) for pair in link.kept],
            "weakened": [list(pair) for pair in link.weakened],
            "cut": [list(pair) for pair in link.cut],
            "attacks": [name for name, kind in ran.items() if link.name in kind.links_used()],
        }
        for link in links(result.release.view)
    ]


def _attack(found: AttackResult) -> dict[str, Any]:
    """Return the figures of an attack, and whom it names: no more than `LISTED` of them."""
    kind = cast(type[Attack], find("attack", found.attack))
    hits = found.hits
    return {
        "name": found.attack,
        "column": found.column or None,
        "discloses": kind.aim.discloses,
        "answers": list(kind.aim.answers),
        "attempted": found.attempted,
        "eligible": found.eligible,
        "succeeded": found.succeeded,
        "undecided": found.undecided,
        "exposed": found.exposed,
        "rate": found.rate,
        "interval": list(found.interval) if found.interval is not None else None,
        "worst": found.worst,
        "baseline": found.baseline,
        "raw": found.raw,
        "control": found.control,
        "corrected": found.corrected,
        "at_risk": found.at_risk,
        "threshold": found.threshold,
        "threshold_met": _met(found),
        "estimated": found.estimated,
        "upper_bound": found.upper_bound,
        "sentence": found.sentence,
        "classes_hit": found.classes_hit[:LISTED].tolist(),
        "people_hit": [] if hits is None else hits.row[:LISTED].tolist(),
        "details": [_details(d) for d in found.details],
    }


def _by_value(result: Result) -> dict[str, Any]:
    """Return who pays and how columns are spread; nothing where losses were not measured."""
    found: dict[str, Any] = {}
    for name in listed_columns(result.problem):
        pays = who_pays(result, name)
        if pays is not None:
            spread = distribution(result, name)
            found[name] = {
                "who_pays": [dict(row) for row in pays.rows],
                "distribution": [dict(row) for row in spread.rows],
            }
    return found


def _details(details: Details) -> dict[str, Any]:
    return {
        "title": details.title,
        "note": details.note,
        "rows": [dict(row) for row in details.rows],
    }


def _people(result: Result) -> dict[str, Any]:
    """Return the persons next to the rows; nothing where a row is a person."""
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


def _weights(result: Result) -> dict[str, Any]:
    """Return what the survey's weights say; nothing where rows have none."""
    if result.suppressed_weight is None:
        return {}
    return {
        "weight": result.problem.roles.weight,
        "sum_of_weights": result.problem.weighed_people,
        "suppressed_weight_share": result.suppressed_weight,
    }


def _met(attack: AttackResult) -> bool | None:
    """Return whether an attack stays within its threshold; None where it has none."""
    names = {p.name for p in find("attack", attack.attack).parameters()}
    if "threshold" not in names or attack.idle:
        return None
    return attack.worst <= attack.threshold
