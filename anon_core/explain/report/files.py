"""A report as files: JSON for machines, HTML to be read anywhere, PDF to be filed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.base.errors import BadPlan
from anon_core.data.roles.suggestions import suggested
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.report.evidence import evidence
from anon_core.explain.report.sections import NOT_STATED, sections

if TYPE_CHECKING:
    import jinja2

    from anon_core.pipeline.result import Result

# The two editions of a report: what the house keeps, and what may go with the release.


#: Of every part of the evidence what the public edition shows; the rest stays in the house.
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


def public_edition(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of the evidence may go with the release.

    Left out are the secret seed and the recipe, the file's name and hash, figures of the private
    table that the release does not show (suppressed rows and by whom, people at risk, the raw
    table's risk), threats, alternatives, and the reasons the house gave itself.

    Parameters
    ----------
    report : mapping
        The evidence; see `evidence.evidence`.
    """
    found: dict[str, Any] = {"edition": "public"}
    for key, names in _PUBLIC.items():
        found[key] = report[key] if names is None else _only(report[key], names)
    found["technique"] = _only(report["technique"], _TECHNIQUE)
    found["technique"]["tables"] = [
        _only(t, ("file", "rows", "columns")) for t in report["technique"]["tables"]
    ]
    found["roles"] = [
        _only(r, _ROLE) for r in report["roles"] if r["distinct_published"] is not None
    ]
    found["thresholds"] = {
        "source": report["thresholds"]["source"],
        "attacks": [_only(t, _THRESHOLD) for t in report["thresholds"]["attacks"]],
    }
    risk = report["risk"]
    found["risk"] = {
        "counted": risk["counted"],
        "after": risk["after"],
        "why_no_after": risk["why_no_after"],
        "attacks": [_only(a, _ATTACK) for a in risk["attacks"] if a["eligible"]],
        "not_run": risk["not_run"],
    }
    found["decision"] = _only(report["decision"], _DECISION)
    software = report["software"]
    found["software"] = _only(software, ("name", "version", "output_sha256"))
    return found


def internal_edition(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence as the house keeps it."""
    return {"edition": "internal", **report}


def _only(table: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: table[name] for name in names if name in table}


_TEMPLATES = Path(__file__).parent / "templates"
#: Cells that say that something is open or not met.
_FLAGGED = (NOT_STATED, "not met", "does not hold", "broken", "undecided")


def edition_of(
    result: Result,
    context: ReleaseContext | None = None,
    *,
    public: bool = False,
    command: str = "",
) -> dict[str, Any]:
    """Return an edition of a release's evidence, with the reasons of suggestions that were taken.

    Parameters
    ----------
    context : ReleaseContext, optional
        What people state; nothing, if it is not given.
    public : bool
        The edition that may go with the release, else the internal one.
    command : str
        The command that makes the report again.
    """
    # A reason for another role than the one it has is no reason for it.
    roles = result.plan.roles
    known_roles = {part.name for part in fields(roles)}  # being left out is no part of them
    reasons = {
        one.name: one.reason
        for one in suggested(result.problem.dataset)
        if one.name in _columns(getattr(roles, one.role, ()) if one.role in known_roles else ())
    }
    report = evidence(result, context or ReleaseContext(), command=command, suggested=reasons)
    return public_edition(report) if public else internal_edition(report)


def _columns(named: str | Sequence[str]) -> Sequence[str]:
    return (named,) if isinstance(named, str) else named


def as_json(edition: Mapping[str, Any]) -> str:
    """Return an edition of the evidence as JSON, as `docs/report.schema.json` describes it."""
    return json.dumps(edition, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_html(edition: Mapping[str, Any], *, recipe: str = "") -> str:
    """Return an edition as one HTML file that opens without a network.

    Parameters
    ----------
    edition : mapping
        An edition of the evidence; see `editions`.
    recipe : str
        The recipe's text, for the internal edition.
    """
    return _environment().get_template("report.html.jinja").render(**_read(edition), recipe=recipe)


def makes_pdf() -> bool:
    """Return whether the extra that sets PDF is installed."""
    return find_spec("typst") is not None


def as_pdf(edition: Mapping[str, Any]) -> bytes:
    """Return an edition as PDF, through Typst.

    Raises
    ------
    BadPlan
        If the extra `pdf` is not installed.
    """
    try:
        import typst
    except ImportError as error:
        raise BadPlan(
            "A report as PDF is set by Typst, which is not installed.",
            remedy="Install the extra: pip install 'anonymity-workbench[pdf]'; or print the HTML.",
        ) from error
    words = json.dumps(_read(edition), ensure_ascii=False, allow_nan=False)
    template = (_TEMPLATES / "report.typ").read_bytes()
    return typst.compile(template, format="pdf", sys_inputs={"report": words})


def _read(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what both templates draw."""
    software = report["software"]
    return {
        "title": report["context"].get("title") or "A release",
        "edition": report["edition"],
        "status": report["status"],
        "open": len(report.get("open", ())),
        "software": f"{software['name']} {software['version']}",
        "flagged": list(_FLAGGED),
        "not_stated": NOT_STATED,
        "sections": [one.as_json() for one in sections(report)],
    }


def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=False,
    )
