"""What only a person can say of a release: purpose, recipient, threats, and who decides.

A table measures none of it. It is written into a file next to the recipe (`context.toml`) or into
the forms of the Export page, and what is left open is as open in the report.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast, get_args

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.base.thresholds import RELEASE_MODELS, ReleaseModel
from anon_core.recipe.readers import read_tables, refuse_unknown_keys, table_of, text_of_file


@dataclass(frozen=True, kw_only=True)
class EarlierRelease:
    """A release of overlapping people that is out already.

    Attributes
    ----------
    name, date, overlap : str
        What it is called, when it went out (ISO 8601), and whom both are about.
    """

    name: str
    date: str = ""
    overlap: str = ""


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """What was tried and not released.

    Attributes
    ----------
    figures : mapping of str to str
        What it reached, in words, by what was measured.
    """

    name: str
    reason: str = ""
    figures: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Who decides, and for how long.

    Attributes
    ----------
    author, approver : str
        Two persons: who wrote the report, and who approved the release.
    date, valid_until : str
        ISO 8601, as 2026-11-22; empty where open.
    review_triggers : tuple of str
        What asks for a new assessment before that.
    """

    author: str = ""
    approver: str = ""
    expert: str = ""
    qualification: str = ""
    date: str = ""
    valid_until: str = ""
    review_triggers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse dates that are none, in an order that cannot be, and an author who approves.

        Raises
        ------
        BadPlan
        """
        of = {
            key: _date(f"[decision] {key}", getattr(self, key)) for key in ("date", "valid_until")
        }
        if of["date"] and of["valid_until"] and of["valid_until"] < of["date"]:
            raise BadPlan(
                f"[decision] valid_until, {self.valid_until}, lies before date, {self.date}.",
                remedy="Give a later day.",
            )
        if self.approver and self.approver.strip().casefold() == self.author.strip().casefold():
            raise BadPlan(
                f"[decision] names {brief(self.author)} as author and as approver.",
                remedy="Have a second person approve the release, or leave approver out.",
            )


@dataclass(frozen=True, kw_only=True)
class ReleaseContext:
    """What a report says next to what was computed.

    Attributes
    ----------
    model : ReleaseModel or None
        How it is released; None where no one said so.
    controls : tuple of str
        What binds the recipient next to the data.
    adversaries, outside_sources, harms : tuple of str
        Who may try, what they could join, and what it would do to the people (ISO/IEC 27559:2022,
        6.2 and 6.3).
    earlier_releases : tuple of EarlierRelease or None
        None where no one said whether there are any.
    threshold_source : str
        Where the threshold comes from.
    role_reasons : mapping of str to str
        Why a column has its role, by column.
    judgement : str
        Whether people are identifiable in this context, in words.
    reasons : mapping of str to str
        Why the release goes out although a check does not hold, by the check's id.
    """

    title: str = ""
    purpose: str = ""
    recipient: str = ""
    model: ReleaseModel | None = None
    controls: tuple[str, ...] = ()
    adversaries: tuple[str, ...] = ()
    outside_sources: tuple[str, ...] = ()
    harms: tuple[str, ...] = ()
    earlier_releases: tuple[EarlierRelease, ...] | None = None
    threshold_source: str = ""
    role_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    alternatives: tuple[Alternative, ...] = ()
    judgement: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    decision: Decision = field(default_factory=Decision)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> ReleaseContext:
        """Build a context from the tables of a context file.

        Raises
        ------
        BadPlan
            Naming the table and key, what is allowed, and the nearest known name.
        """
        refuse_unknown_keys("The context", given, _TABLES)
        release = _table(given, "release", ("title", "purpose", "recipient", "model", "controls"))
        threats = _table(given, "threats", ("adversaries", "outside_sources", "harms"))
        threshold = _table(given, "threshold", ("source",))
        judgement = _table(given, "judgement", ("text",))
        named = tuple(f.name for f in fields(Decision))
        decision = _table(given, "decision", named)
        model = release.get("model")
        if model is not None and model not in get_args(ReleaseModel):
            raise BadPlan(
                f"[release] model is {brief(model)}; allowed are {listing(RELEASE_MODELS)}.",
                remedy="Use one of these, or leave it out where it is open.",
            )
        earlier = given.get("earlier_releases")
        return cls(
            title=_text("[release] title", release.get("title", "")),
            purpose=_text("[release] purpose", release.get("purpose", "")),
            recipient=_text("[release] recipient", release.get("recipient", "")),
            model=cast(ReleaseModel | None, model),
            controls=_texts("[release] controls", release.get("controls", [])),
            **{
                key: _texts(f"[threats] {key}", threats.get(key, []))
                for key in ("adversaries", "outside_sources", "harms")
            },
            earlier_releases=None
            if earlier is None
            else tuple(_earlier(one) for one in _tables("earlier_releases", earlier)),
            threshold_source=_text("[threshold] source", threshold.get("source", "")),
            role_reasons=_texts_by_name(given, "roles"),
            alternatives=tuple(
                _alternative(one) for one in _tables("alternatives", given.get("alternatives", []))
            ),
            judgement=_text("[judgement] text", judgement.get("text", "")),
            reasons=_texts_by_name(given, "reasons"),
            decision=Decision(
                review_triggers=_texts(
                    "[decision] review_triggers", decision.get("review_triggers", [])
                ),
                **{
                    key: _text(f"[decision] {key}", value)
                    for key, value in decision.items()
                    if key != "review_triggers"
                },
            ),
        )

    def as_mapping(self) -> dict[str, Any]:
        """Return the tables of a context file; what is open is left out."""
        release = {
            "title": self.title,
            "purpose": self.purpose,
            "recipient": self.recipient,
            "model": self.model or "",
            "controls": list(self.controls),
        }
        threats = {
            "adversaries": list(self.adversaries),
            "outside_sources": list(self.outside_sources),
            "harms": list(self.harms),
        }
        decision = {f.name: getattr(self.decision, f.name) for f in fields(Decision)}
        decision["review_triggers"] = list(self.decision.review_triggers)
        answers: dict[str, Any] = {
            "release": _said(release),
            "threats": _said(threats),
            "threshold": _said({"source": self.threshold_source}),
            "roles": dict(self.role_reasons),
            "alternatives": [
                _said({"name": a.name, "reason": a.reason, "figures": dict(a.figures)})
                for a in self.alternatives
            ],
            "judgement": _said({"text": self.judgement}),
            "reasons": dict(self.reasons),
            "decision": _said(decision),
        }
        answers = _said(answers)
        if self.earlier_releases is not None:
            answers["earlier_releases"] = [
                _said({"name": e.name, "date": e.date, "overlap": e.overlap})
                for e in self.earlier_releases
            ]
        return answers

    def as_toml(self) -> str:
        """Return the text of a context file."""
        import tomli_w

        return tomli_w.dumps(self.as_mapping())


_TABLES = (
    "release",
    "threats",
    "earlier_releases",
    "threshold",
    "roles",
    "alternatives",
    "judgement",
    "reasons",
    "decision",
)


def read_context(path: str | Path) -> ReleaseContext:
    """Read a context file.

    Raises
    ------
    BadPlan
        If it cannot be read, or is no context; names the place.
    """
    return ReleaseContext.from_mapping(read_tables(text_of_file(Path(path), "context"), "context"))


def _said(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value}


def _table(given: Mapping[str, Any], key: str, known: Sequence[str]) -> Mapping[str, Any]:
    table = table_of(given, key)
    refuse_unknown_keys(f"[{key}]", table, known)
    return table


def _tables(key: str, given: object) -> Sequence[Mapping[str, Any]]:
    entries = cast(list[object], given) if isinstance(given, list) else None
    if entries is None or not all(isinstance(one, Mapping) for one in entries):
        raise BadPlan(
            f"[[{key}]] is not a list of tables.",
            remedy=f"Write [[{key}]] with two brackets; {key} = [] says that there are none.",
        )
    return cast(Sequence[Mapping[str, Any]], entries)


def _earlier(given: Mapping[str, Any]) -> EarlierRelease:
    place = "[[earlier_releases]]"
    refuse_unknown_keys(place, given, ("name", "date", "overlap"))
    date = _text(f"{place} date", given.get("date", ""))
    _date(f"{place} date", date)
    return EarlierRelease(
        name=_named(place, given),
        date=date,
        overlap=_text(f"{place} overlap", given.get("overlap", "")),
    )


def _alternative(given: Mapping[str, Any]) -> Alternative:
    place = "[[alternatives]]"
    refuse_unknown_keys(place, given, ("name", "reason", "figures"))
    return Alternative(
        name=_named(place, given),
        reason=_text(f"{place} reason", given.get("reason", "")),
        figures=_texts_by_name(given, "figures"),
    )


def _named(place: str, given: Mapping[str, Any]) -> str:
    name = _text(f"{place} name", given.get("name", ""))
    if not name.strip():
        raise BadPlan(f"An entry of {place} has no name.", remedy='Write name = "...".')
    return name


def _texts_by_name(given: Mapping[str, Any], key: str) -> dict[str, str]:
    return {name: _text(f"[{key}] {name}", value) for name, value in table_of(given, key).items()}


def _text(place: str, value: object) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    if not isinstance(value, str):
        raise BadPlan(
            f"{place} is {brief(value)}, which is not a text.", remedy="Put it in quotes."
        )
    return value


def _texts(place: str, value: object) -> tuple[str, ...]:
    entries = cast(list[object], value) if isinstance(value, list) else None
    if entries is None or not all(isinstance(one, str) for one in entries):
        raise BadPlan(
            f"{place} is {brief(value)}, which is not a list of texts.",
            remedy='Write ["...", "..."].',
        )
    return tuple(cast(list[str], entries))


def _date(place: str, value: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(value) if value else None
    except ValueError:
        raise BadPlan(
            f"{place} is {brief(value)}, which is not a date.", remedy="Write it as 2026-11-22."
        ) from None
