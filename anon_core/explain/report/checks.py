"""What is to be settled before a release goes out: every check, and the reason filed for a miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from anon_core.base.registry import family
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.attack import Attack
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.text import checklist
from anon_core.explain.text.checklist import Item
from anon_core.pipeline.measure.value_breakdown import listed_columns, who_pays
from anon_core.pipeline.result import Result
from anon_core.release.outcome import per_cent

#: A value of fewer rows says nothing of its people; from this share suppressed, and this many
#: times the share of all rows, one value pays for the others.
_ROWS, _SHARE, _TIMES = 20, 0.1, 2.0
_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check, and why the release goes out all the same where it does not hold.

    Attributes
    ----------
    reason : str
        What was filed for it; empty where nothing was.
    """

    item: Item
    reason: str = ""

    @property
    def open(self) -> bool:
        """Whether someone has to give a reason yet."""
        return self.item.mark == "warning" and not self.reason.strip()

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        fields = {"about": self.item.about, "mark": self.item.mark, "sentence": self.item.sentence}
        return {**fields, "reason": self.reason or None, "open": self.open}


def checks(result: Result, context: ReleaseContext) -> Sequence[Check]:
    """Return every check of a release, in the order in which they are looked at."""
    items = (
        *checklist.models(result),
        *checklist.thresholds(result),
        *checklist.published(result),
        suppressed_by_subgroup(result),
        _earlier(result, context),
        _judgement(context),
    )
    return [Check(item=i, reason=context.reasons.get(i.about, "")) for i in items]


def suppressed_by_subgroup(result: Result) -> Item:
    """Return whether the rows of single values were suppressed far more often than others."""
    about, total = "subgroups", result.problem.rows
    overall = result.release.suppressed / total if total else 0.0
    if not overall:
        return Item(about=about, sentence="No subgroup has suppressed rows.", mark="holds")
    found: list[tuple[float, str]] = []
    for column in listed_columns(result.problem):
        pays = who_pays(result, column)
        for row in () if pays is None else pays.rows:
            part = float(row[ROWS_SUPPRESSED])
            if int(row["rows"]) >= _ROWS and part >= max(_SHARE, _TIMES * overall):
                found.append((part, f"{column} = {row['value']} ({per_cent(part)})"))
    if not found:
        sentence = (
            f"No subgroup of {_ROWS} rows or more lost at least {per_cent(_SHARE)} and "
            f"{_TIMES:g} times the overall {per_cent(overall)}."
        )
        return Item(about=about, sentence=sentence, mark="holds")
    found.sort(key=lambda one: (-one[0], one[1]))
    subgroups = "; ".join(name for _, name in found[:_LISTED])
    more = f"; and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    sentence = (
        f"Far more rows than in the table as a whole ({per_cent(overall)}) are suppressed where "
        f"{subgroups}{more}. Statistics about these people will be off."
    )
    return Item(about=about, sentence=sentence, mark="warning")


def _earlier(result: Result, context: ReleaseContext) -> Item:
    """Return what is known of earlier releases: what one shows next to this one, where it is given.

    Of several that are out, one at most was laid next to this one.
    """
    about, earlier = "earlier releases", context.earlier_releases
    known = cast(dict[str, type[Attack]], family("attack"))
    tested = [a for a in result.attacks if known[a.attack].needs.earlier]
    if tested:
        sentences = " ".join(a.sentence for a in tested)
        several = len(earlier or ()) > 1
        left = " Other published releases were not compared with it." * several
        safe = not several and not any(a.at_risk for a in tested)
        return Item(about=about, sentence=sentences + left, mark="holds" if safe else "warning")
    if result.problem.earlier is not None:
        sentence = "An earlier release was given, but no attack on both applies to this release."
        return Item(about=about, sentence=sentence, mark="warning")
    if earlier is None:
        sentence = "Not stated: earlier releases of the same people."
        return Item(about=about, sentence=sentence, mark="warning")
    if not earlier:
        sentence = "No earlier release of the same people is out, as stated."
        return Item(about=about, sentence=sentence, mark="holds")
    names = ", ".join(one.name for one in earlier)
    sentence = (
        f"Earlier releases of the same people: {names}. What they reveal together with this one "
        "was not tested: each meets its privacy models by itself."
    )
    return Item(about=about, sentence=sentence, mark="warning")


def _judgement(context: ReleaseContext) -> Item:
    written = bool(context.judgement.strip())
    sentence = (
        "A judgement is written: whether people are identifiable in this context."
        if written
        else "Not written: your judgement whether people are identifiable."
    )
    return Item(about="judgement", sentence=sentence, mark="holds" if written else "warning")
