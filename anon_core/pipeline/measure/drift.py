"""A run next to the figures of an earlier one: what grew, what became rare, what is new.

The earlier run is known by what ``run --json`` printed, so that nothing else has to be kept of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from anon_core.base.errors import BadInput, clipped
from anon_core.base.terms import SHARE_SUPPRESSED, SMALLEST_CLASS

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result

#: Published texts of a column that the figures list, the most frequent first.
MOST_TEXTS = 1000
#: A text is reported where its share of the rows halved or doubled, and was or is this large at
#: least.
_FACTOR, _LEAST_SHARE = 2.0, 0.01
#: Texts of a column listed one by one that are new or gone, and the least share of these;
#: others are counted.
_LISTED, _LEAST_LISTED = 5, 0.001

Kind = Literal["figure", "new", "gone", "rarer", "more"]


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One thing that differs from the earlier run.

    Attributes
    ----------
    kind : {'figure', 'new', 'gone', 'rarer', 'more'}
        A figure of the whole release, or what became of a published text.
    what : str
        The figure; or the column.
    text : str
        What the column's cells say; empty for figures, and where several are counted.
    texts : int
        How many texts it is about; 0 of figures.
    then, now : float or None
        Of texts the share of published rows; None where there is none.
    """

    kind: Kind
    what: str
    text: str = ""
    texts: int = 0
    then: float | None
    now: float | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kind": self.kind,
            "what": self.what,
            "text": self.text or None,
            "texts": self.texts,
            "then": self.then,
            "now": self.now,
        }

    @property
    def sentence(self) -> str:
        """The drift as a sentence."""
        then, now = (_figure(value, self.kind) for value in (self.then, self.now))
        if self.kind == "figure":
            return f"{self.what}: {then} then, {now} now."
        if self.texts > 1:
            words = {"new": "are new", "gone": "are gone"}
            several = f"{self.texts} other texts {words[self.kind]}"
            return f"{self.what}: {several} ({then} then, {now} now)."
        words = {"new": "is new", "gone": "is gone", "rarer": "became rarer", "more": "grew"}
        return f"{self.what}: '{clipped(self.text)}' {words[self.kind]} ({then} then, {now} now)."


def published_texts(result: Result) -> dict[str, dict[str, int]]:
    """Return how many published rows show each text of each quasi-identifier, most first.

    No more than `MOST_TEXTS` of a column: what is published, and nothing else.
    """
    view = result.release.view
    found: dict[str, dict[str, int]] = {}
    for name in result.problem.quasi:
        texts, rows = view.vocabularies[name].texts, view.rows_of_cells(name)
        most = np.argsort(-rows, kind="stable")[:MOST_TEXTS]
        own: dict[str, int] = {}
        for at in most[rows[most] > 0].tolist():
            own[texts[at]] = own.get(texts[at], 0) + int(rows[at])
        found[name] = own
    return found


def drift(then: object, figures: Mapping[str, Any], result: Result) -> tuple[Drift, ...]:
    """Return what differs from an earlier run: figures first, then texts column by column.

    Parameters
    ----------
    then : object
        What ``run --json`` printed of the earlier run.
    figures : mapping
        What it prints of this one.

    Raises
    ------
    BadInput
        If it is something else.
    """
    (was, earlier_texts), is_ = read_figures(then), _figures(figures)
    found = [
        Drift(kind="figure", what=name, then=was.get(name), now=is_.get(name))
        for name in dict.fromkeys([*was, *is_])
    ]
    for name, texts in published_texts(result).items():
        found += _of_column(name, earlier_texts.get(name, {}), texts)
    return tuple(found)


def read_figures(then: object) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
    """Return the figures of an earlier run by name, and the rows of each text by column.

    Parameters
    ----------
    then : object
        What ``run --json`` printed of it.

    Raises
    ------
    BadInput
        If it is something else.
    """
    if not isinstance(then, Mapping) or cast(Mapping[str, Any], then).get("status") != "released":
        raise BadInput(
            "The figures of the earlier run are not those of a release.",
            remedy="Choose the file that 'run --json' wrote.",
        )
    before = cast(Mapping[str, Any], then)
    try:
        published = cast(Mapping[str, Mapping[str, object]], before["published_texts"])
        return _figures(before), {
            name: {text: int(cast(int, rows)) for text, rows in texts.items()}
            for name, texts in published.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(
            "The figures of the earlier run lack some that every run has.",
            remedy="Give the file that 'run --json' of this version wrote.",
        ) from error


def _figures(figures: Mapping[str, Any]) -> dict[str, float]:
    rows = float(figures["rows"])
    found = {
        "rows": rows,
        "rows left out for values no hierarchy has": float(figures.get("unseen_rows", 0)),
        SHARE_SUPPRESSED: float(figures["suppressed"]) / rows if rows else 0.0,
        "classes": float(figures["classes"]),
        SMALLEST_CLASS.lower(): float(figures["smallest_class"]),
    }
    found |= {str(name): float(value) for name, value in figures["metrics"].items()}
    for one in figures["attacks"]:
        of = f"{one['name']} ({one['column']})" if one["column"] else str(one["name"])
        found[f"{of}, at worst"] = float(one["worst"])
    return found


def _of_column(name: str, then: Mapping[str, int], now: Mapping[str, int]) -> list[Drift]:
    """Return the texts whose share changed, that are new or gone; of each the largest first."""
    before, after = max(sum(then.values()), 1), max(sum(now.values()), 1)
    found: list[Drift] = []
    for text in dict.fromkeys([*then, *now]):
        was, is_ = then.get(text, 0) / before, now.get(text, 0) / after
        large = max(was, is_) >= _LEAST_SHARE
        kind: Kind | None = None
        if text not in then:
            kind = "new" if len(then) < MOST_TEXTS else None
        elif text not in now:
            kind = "gone" if len(now) < MOST_TEXTS else None
        elif large and was >= _FACTOR * is_:
            kind = "rarer"
        elif large and is_ >= _FACTOR * was:
            kind = "more"
        if kind is not None:
            found.append(
                Drift(kind=kind, what=name, text=text, texts=1, then=was or None, now=is_ or None)
            )
    found.sort(key=lambda one: -max(one.then or 0.0, one.now or 0.0))
    shown = [one for one in found if one.kind in ("rarer", "more")]
    for kind in ("new", "gone"):
        own = [one for one in found if one.kind == kind]
        few = sum(max(one.then or 0.0, one.now or 0.0) >= _LEAST_LISTED for one in own[:_LISTED])
        few += len(own) == few + 1  # a single other one is listed as well
        shown += own[:few]
        if rest := own[few:]:
            then_, now_ = sum(one.then or 0.0 for one in rest), sum(one.now or 0.0 for one in rest)
            shown.append(
                Drift(kind=kind, what=name, texts=len(rest), then=then_ or None, now=now_ or None)
            )
    return shown


def _figure(value: float | None, kind: Kind) -> str:
    if value is None:
        return "none"
    return f"{value:,.6g}" if kind == "figure" else f"{value:.1%}"
