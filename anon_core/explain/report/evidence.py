"""The evidence of a release as plain values: what `docs/report.schema.json` describes.

Its keys follow what a release has to be judged by (ISO/IEC 27559:2022; WP216, opinion 05/2014):
context and threats, data, roles, technique, privacy models, thresholds, risk before and after, the
three questions, utility, who pays, what was rejected, who decides, and what no one can say.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anon_core.base.errors import listing
from anon_core.base.installation import VERSION
from anon_core.base.plain_values import finite
from anon_core.base.registry import family
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.base.thresholds import RELEASE_MODELS, least_size, why_this_size
from anon_core.contracts.attack import Attack
from anon_core.contracts.metric import Metric
from anon_core.explain.report.checks import Check, checks
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.text import phrases
from anon_core.explain.text.plan_words import intention, made_by
from anon_core.pipeline.measure.assessment import evidence as by_question
from anon_core.pipeline.measure.column_statistics import STATISTICS, column_statistics
from anon_core.pipeline.measure.value_breakdown import listed_columns, who_pays
from anon_core.pipeline.publish.file_formats import part_names, published_formats
from anon_core.pipeline.result import Result
from anon_core.release.knowledge.person_counts import crowd_of
from anon_core.release.release import raw_view

if TYPE_CHECKING:
    from anon_core.explain.report.checks import Check

# What a report cannot say, and what someone has yet to say.


def limits(result: Result) -> list[str]:
    """Return what the figures rest on, and what they say nothing about."""
    found = [
        "Privacy models cover the quasi-identifiers you named: anyone who knows other published "
        "columns knows more.",
        "Only the attacks listed above were tested; an attack that was not run proves nothing.",
        "Risk figures are for this release by itself. Other releases of the same "
        "people, and later publications, add to what is known.",
    ]
    if result.exact:
        found.append(
            f"No privacy model covers columns published unchanged: {listing(result.exact)}."
        )
    if any(a.estimated for a in result.attacks):
        found.append("Figures marked as estimated rest on a statistical model, not on counting.")
    if any(a.undecided for a in result.attacks):
        found.append("People whom an attack could not decide in time count as exposed.")
    dataset = result.problem.dataset
    if dataset.outside:
        found.append(
            "Anyone who knows the condition that chose the rows knows that it holds for "
            "everyone in the release; a narrow condition reveals who is in it."
        )
    if dataset.dropped or dataset.undrawn or dataset.unseen:
        found.append("No figure counts rows left out before the search.")
    if result.problem.population is None and result.plan.population_size is None:
        found.append(
            "No population was given, so risk is that of a person known to be in the "
            "table. It is never higher for someone who may not be in it."
        )
    return [*found, *result.cautions]


def open_questions(context: ReleaseContext, every: Sequence[Check]) -> list[str]:
    """Return what has to be said before the report can be filed, in the order of its sections."""
    decision = context.decision
    wanted = {
        "the purpose": context.purpose,
        "the recipient": context.recipient,
        "how it is released": context.model or "",
        "who may try to find people": context.adversaries,
        "plausible outside sources": context.outside_sources,
        "the harm to people": context.harms,
        "where the threshold comes from": context.threshold_source,
        "the author": decision.author,
        "a second person who approves": decision.approver,
        "the expert": decision.expert,
        "the expert's qualification": decision.qualification,
        "the date": decision.date,
        "until when it is valid": decision.valid_until,
        "what asks for a review": decision.review_triggers,
    }
    found = [f"Not stated: {name}." for name, given in wanted.items() if not given]
    return found + [f"No reason is filed for: {c.item.sentence}" for c in every if c.open]


SCHEMA = 1
#: Values of a column that the report lists; longer lists are in the files next to it.
_LISTED = 40
#: Rows of each published table that the report shows.
_HEAD = 5
#: Sizes of classes that are reported together: the smallest and the largest of each.
_BINS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))
_ROLES = {
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "identifier": "identifier",
    "person": "person",
    "household": "household",
    "weight": "weight",
    "insensitive": "published as it is",
}


def evidence(
    result: Result,
    context: ReleaseContext,
    *,
    command: str = "",
    suggested: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return everything that a report says, as plain values.

    Parameters
    ----------
    command : str
        The command that makes the report again; empty where it was made on the pages.
    suggested : mapping of str to str
        By column the reason for which its role was suggested; what a person wrote goes first.

    Returns
    -------
    dict
        JSON values only, with the keys of `docs/report.schema.json`.
    """
    every = checks(result, context)
    waiting = open_questions(context, every)
    report = {
        "schema": SCHEMA,
        "status": "open" if waiting else "complete",
        "open": waiting,
        "context": _context(context),
        "data": _data(result),
        "roles": _roles(result, context, suggested or {}),
        "technique": _technique(result),
        "promises": _models(result),
        "thresholds": _thresholds(result, context),
        "risk": _risk(result),
        "questions": [e.as_json() | {"title": _title(e.attack)} for e in by_question(result)],
        "utility": _utility(result),
        "statistics": _statistics(result),
        "suppression": _suppression(result),
        "alternatives": [asdict(one) for one in context.alternatives],
        "decision": _decision(context, every),
        "limits": limits(result),
        "software": {
            "name": "Anonymity Workbench",
            "version": VERSION,
            "python": ".".join(map(str, sys.version_info[:3])),
            "command": command or None,
            "recipe": result.plan.as_mapping(),
            "output_sha256": result.sha256,
            "seconds": dict(result.seconds),
        },
    }
    return cast(dict[str, Any], finite(report))


def _title(attack: str) -> str:
    return family("attack")[attack].title


def _context(context: ReleaseContext) -> dict[str, Any]:
    earlier = context.earlier_releases
    return {
        "title": context.title or None,
        "purpose": context.purpose or None,
        "recipient": context.recipient or None,
        "release_model": context.model,
        "release_model_means": RELEASE_MODELS[context.model] if context.model else None,
        "controls": list(context.controls),
        "adversaries": list(context.adversaries),
        "outside_sources": list(context.outside_sources),
        "harms": list(context.harms),
        "earlier_releases": None if earlier is None else [asdict(one) for one in earlier],
    }


def _data(result: Result) -> dict[str, Any]:
    dataset, crowd = result.problem.dataset, result.crowd
    return {
        "file": dataset.source or None,
        "sha256": dataset.file_sha256 or dataset.fingerprint,
        "sha256_of": "file" if dataset.file_sha256 else "values",
        "rows": result.problem.rows,
        "columns": len(dataset.names),
        "people": result.problem.rows if crowd is None else crowd.total,
        "person_column": result.problem.person or None,
        "weight_column": result.problem.roles.weight or None,
        "rows_left_out_for_missing_values": dataset.dropped,
        "rows_not_drawn": dataset.undrawn,
        "condition": result.plan.data.where.strip() or None,
        "rows_outside": dataset.outside,
        "notes": list(dataset.notes),
    }


def _roles(
    result: Result, context: ReleaseContext, suggested: Mapping[str, str]
) -> list[dict[str, Any]]:
    roles = result.plan.roles
    of: dict[str, list[str]] = {}
    for role, title in _ROLES.items():
        named = getattr(roles, role)
        for name in (named,) if isinstance(named, str) else named:
            of.setdefault(name, []).append(title) if name else None
    vocabularies = result.release.view.vocabularies
    published = {name: len(v.texts) for name, v in vocabularies.items()}
    return [
        {
            "column": column.name,
            "kind": column.kind,
            "role": " and ".join(of.get(column.name, ["left out"])),
            "reason": context.role_reasons.get(column.name) or suggested.get(column.name) or None,
            "distinct": len(column.values),
            "distinct_published": published.get(column.name),
        }
        for column in result.problem.dataset.columns
    ]


def _technique(result: Result) -> dict[str, Any]:
    plan, account = result.plan, result.account
    algorithm = plan.algorithm
    return {
        "name": algorithm.name,
        "title": made_by(plan),
        "summary": algorithm.summary,
        "source": algorithm.source,
        "parameters": algorithm.as_mapping(),
        "what_was_done": intention(plan, result.problem.dataset),
        "links": phrases.links(result),
        "levels": dict(account.node) if account.node is not None else None,
        "proven_optimal": account.proven,
        "published": [_labels(result, name) for name in result.problem.quasi],
        "hierarchies": dict(plan.hierarchies),
        "tables": [
            {
                "file": file,
                "rows": table.num_rows,
                "columns": list(table.column_names),
                "head": [
                    ["" if cell is None else str(cell) for cell in row.values()]
                    for row in table.slice(0, _HEAD).to_pylist()
                ],
            }
            for file, table in zip(_files(result), result.tables.values(), strict=True)
        ],
    }


def _files(result: Result) -> list[str]:
    """Return the name of the file that each published table is read from, or of its first part."""
    ending = published_formats(csv=result.plan.csv)[0]
    return [f"{part_names(name, result.plan.parts)[0]}.{ending}" for name in result.tables]


def _labels(result: Result, column: str) -> dict[str, Any]:
    """Return what a column publishes: its labels, the most frequent ones where there are many."""
    view = result.release.view
    vocabulary, shown = view.vocabularies[column], view.rows_of_cells(column)
    used = np.flatnonzero(shown)
    order = used[np.lexsort((used, -shown[used]))]
    return {
        "column": column,
        "labels": len(used),
        "most_frequent": [
            {"label": vocabulary.texts[at], "rows": int(shown[at])}
            for at in order[:_LISTED].tolist()
        ],
    }


def _models(result: Result) -> list[dict[str, Any]]:
    known = family("model")
    return [
        {
            "name": v.model,
            "title": known[v.model].title,
            "column": v.column or None,
            "parameters": dict(v.parameters),
            "asked": v.bound,
            "reached": v.reached,
            "state": v.state,
            "recomputed": result.verification.holds,
            "sentence": v.sentence,
            "source": known[v.model].source,
        }
        for v in result.verdicts
    ]


def _thresholds(result: Result, context: ReleaseContext) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for attack in phrases.in_order(result.attacks):
        kind = phrases.kind_of(attack)
        line = phrases.against_threshold(attack, permuted=result.release.grouping.published)
        limited = "threshold" in {p.name for p in kind.parameters()}
        if not limited or attack.idle:
            continue
        sized = (
            kind.aim.discloses == "identity"
            and not kind.report.of_the_release
            and attack.threshold < 1
        )
        found.append(
            {
                "attack": attack.attack,
                "title": kind.title,
                "column": attack.column or None,
                "threshold": attack.threshold,
                "worst": attack.worst,
                "met": attack.worst <= attack.threshold,
                "at_risk": attack.at_risk,
                "least_class": least_size(attack.threshold) if sized else None,
                "why_this_class": why_this_size(attack.threshold) or None if sized else None,
                "sentence": line.sentence,
            }
        )
    return {"source": context.threshold_source or None, "attacks": found}


def _risk(result: Result) -> dict[str, Any]:
    """Return risk before and after: what a class hides, and what every attack achieves."""
    before = crowd_of(result.problem)
    raw = raw_view(result.problem).group_size if before is None else before.sizes
    permuted = result.release.grouping.published
    return {
        "counted": result.counted,
        "before": _of_sizes(raw),
        "after": None if permuted else _of_sizes(result.hiding),
        "why_no_after": (
            "Links are cut: no published row is a person's, and risk is what the attacks achieve."
            if permuted
            else None
        ),
        "unique_over_all_published_columns": result.unique_of[1],
        "attacks": [
            {
                "attack": a.attack,
                "title": _title(a.attack),
                "column": a.column or None,
                "discloses": cast(type[Attack], family("attack")[a.attack]).aim.discloses,
                "attempted": a.attempted,
                "eligible": a.eligible,
                "succeeded": a.succeeded,
                "undecided": a.undecided,
                "rate": a.rate,
                "worst": a.worst,
                "baseline": a.baseline,
                "raw": a.raw,
                "control": a.control,
                "interval": list(a.interval) if a.interval is not None else None,
                "at_risk": a.at_risk,
                "estimated": a.estimated,
                "upper_bound": a.upper_bound,
                "sentence": a.sentence,
            }
            for a in phrases.in_order(result.attacks)
        ],
        "not_run": [
            {"attack": name, "title": _title(name), "why": why}
            for name, why in result.not_run.items()
        ],
    }


def _of_sizes(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Any]:
    """Return the highest and the mean chance 1 / size over the people of classes of these sizes."""
    total = int(sizes.sum())
    return {
        "classes": len(sizes),
        "smallest": int(sizes.min()) if len(sizes) else None,
        "maximum": 1 / int(sizes.min()) if len(sizes) else None,
        "average": len(sizes) / total if total else None,
        "unique": int(np.count_nonzero(sizes == 1)),
        "people_by_size": [
            {
                "least": low,
                "most": high,
                "people": int(sizes[(sizes >= low) & (sizes <= top)].sum()),
            }
            for low, high in _BINS
            for top in [total if high is None else high]
        ],
    }


def _utility(result: Result) -> dict[str, Any]:
    known = cast(dict[str, type[Metric]], family("metric"))
    return {
        "metrics": [
            {
                "name": name,
                "title": known[name].title,
                "value": m.value,
                "unit": known[name].scale.unit,
                "share": m.share,
                "better": "higher" if known[name].scale.more_is_better else "lower",
                "summary": known[name].summary,
            }
            for name, m in result.measures.items()
        ],
        "columns": {n: dict(m.per_column) for n, m in result.measures.items() if m.per_column},
    }


def _statistics(result: Result) -> list[dict[str, Any]]:
    """Return what an analyst still works out of each column; bounds where cells are ranges."""
    found: list[dict[str, Any]] = []
    for name in listed_columns(result.problem):
        one = column_statistics(result, name)
        lines = [
            {"statistic": title, "before": _said(tell(one.before)), "after": _said(tell(one.after))}
            for title, tell in STATISTICS.items()
            if tell(one.before) is not None
        ]
        found.append({"column": name, "suppressed": one.removed, "statistics": lines})
    return found


def _said(value: object) -> str | None:
    return None if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _suppression(result: Result) -> dict[str, Any]:
    """Return what was suppressed, and whose rows: the values that lost most."""
    found: dict[str, Any] = {}
    for column in listed_columns(result.problem):
        pays = who_pays(result, column)
        if pays is not None:
            rows = sorted(pays.rows, key=lambda r: (-float(r[ROWS_SUPPRESSED]), str(r["value"])))
            found[column] = [
                {
                    "value": str(row["value"]),
                    "rows": row["rows"],
                    "share_suppressed": row[ROWS_SUPPRESSED],
                    "mean_loss": row["mean loss"],
                }
                for row in rows[:_LISTED]
            ]
    rows = result.problem.rows
    return {
        "rows": result.release.suppressed,
        "share": result.release.suppressed / rows if rows else 0.0,
        "share_of_weight": result.suppressed_weight,
        "sentence": phrases.hidden(result),
        "by_subgroup": found,
    }


def _decision(context: ReleaseContext, every: Sequence[Check]) -> dict[str, Any]:
    decision = asdict(context.decision)
    return {
        "checks": [check.as_json() for check in every],
        "judgement": context.judgement.strip() or None,
        **{key: list(v) if isinstance(v, tuple) else v or None for key, v in decision.items()},
        "approved": bool(context.decision.approver),
    }
