"""X-01: how many people are proven to be in a release, by technique and k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.presence import drawn, toth
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Point,
    Printed,
    Settings,
    Step,
    Value,
)
from anon_core.teaching.experiments.points import Found, mean, per_cent

_BUCKETS, _ONE, _SLICES = "Bucketization", "One-attribute slicing", "Slicing"
_MONDRIAN, _COMBINED, _MPALM = "K-Mondrian", "CombinedAlg", "MPALM"
_PERMUTED = (_BUCKETS, _SLICES, _ONE)
#: The columns that the source's slicing keeps together.
_TOGETHER = [["native-country", "race"], ["workclass", "occupation", "income"]]
_GROUPS = {"name": "mondrian"}
#: What bucketization shuffles; the attacker does not know it.
_SHUFFLED = ("relationship",)
#: δ that is nowhere 1: what the source calls not re-identified.
_UNSURE = {"name": "delta-presence", "delta_min": 0.0, "delta_max": 0.99}
_ALGORITHMS: Mapping[str, Mapping[str, Any]] = {
    _BUCKETS: {"name": "bucketization", "partition": _GROUPS},
    _SLICES: {"name": "slicing", "partition": _GROUPS, "sets": _TOGETHER},
    _ONE: {"name": "one-attribute-slicing", "partition": _GROUPS},
    _MONDRIAN: {"name": "mondrian"},
    _COMBINED: {"name": "combined", "partition": _GROUPS},
    _MPALM: {"name": "mpalm"},
}
_BY_K, _BY_PUBLIC, _MOST = "k", "public", "most"
_PRINTED = 0.9395
#: Public rows of the second figure, as shares of the public table.
_SHARES = (0.07, 0.09, 0.2, 0.5, 1.0)


class Reidentified(Experiment):
    """Six techniques against an attacker who has the public table."""

    id = "X-01"
    title = "Who is proven to be in the table"
    source = toth("section 6.1, figure 6.2")
    shows = (
        "Permuting alone hides no one's presence from someone with the public table; generalizing "
        "does. The share of the private rows whose δ is 1, by technique and k."
    )
    table = "adult-train"
    figures = (
        Figure(
            name=_BY_K,
            title="Private rows with δ = 1, by k",
            x="k",
            y="share of the private rows",
            unit="share",
        ),
        Figure(
            name=_BY_PUBLIC,
            title="The same under bucketization, by the size of the public table",
            x="rows of the public table",
            y="share of the private rows",
            unit="share",
        ),
        Figure(
            name=_MOST,
            title="Private rows with δ = 1 at the most, those not decided in time included, by k",
            x="k",
            y="share of the private rows",
            unit="share",
        ),
    )
    printed = (
        Printed(
            figure=_BY_K, series=_BUCKETS, low=_PRINTED, high=_PRINTED, words="93.95 %, flat in k"
        ),
        Printed(figure=_BY_K, series=_MONDRIAN, low=0.0, high=0.0, at=4, words="0 % at k = 4"),
        Printed(figure=_BY_K, series=_COMBINED, low=0.0, high=0.0, at=4, words="0 % at k = 4"),
        Printed(
            figure=_BY_PUBLIC,
            series=_BUCKETS,
            low=_PRINTED,
            high=_PRINTED,
            words="93.95 % with 30,161 public rows",
        ),
    )
    remarks = (
        "The source names no sensitive column. Bucketization shuffles the relationship here, which "
        "the attacker does not know; the nine quasi-identifiers stay together row by row.",
        "CombinedAlg and MPALM require δ of at most 0.99; at a k where no group reaches that, "
        "CombinedAlg releases nothing.",
        "CombinedAlg is run up to k = 16: beyond, it takes very long, as X-03 shows.",
        "The first figure counts whose presence is proven within the time box; the third adds the "
        "people of whom nothing was decided, as far as there are private rows left for them. The "
        "source counted subsets, which ends at small buckets.",
    )
    small = Settings(rows=2_000, at=(2, 4), size=4, seconds=5.0)
    full = Settings(rows=2_000, at=(2, 4, 8, 16, 32), size=16, seconds=600.0)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a technique and k; those that take longest come last."""
        found = [
            Step(key=f"{_BUCKETS}, {share:g} of the public table", given={"share": share})
            for share in _SHARES
        ]
        found += [
            Step(key=f"{name}, k = {k:g}", given=_given(name, k))
            for name in (_BUCKETS, _MONDRIAN, _ONE, _SLICES)
            for k in settings.at
        ]
        found.append(Step(key=_MPALM, given=_given(_MPALM, 0)))
        sizes = [k for k in settings.at if k <= settings.size]
        return [
            *found,
            *[Step(key=f"{_COMBINED}, k = {k:g}", given=_given(_COMBINED, k)) for k in sizes],
        ]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release and attack."""
        settings = bench.settings
        if "share" in step.given:
            everyone = settings.public or len(bench.table(self.table))
            people = max(int(float(step.given["share"]) * everyone), settings.rows)
            data = drawn(bench, public=people, sensitive=_SHUFFLED)
            size = {"name": "bucket-size", "k": 2}
            result = bench.released(data, _ALGORITHMS[_BUCKETS], [size], context)
            share, _ = self._proven(bench, result, context)
            return [Point(figure=_BY_PUBLIC, series=_BUCKETS, x=people, y=share)]
        name, k = str(step.given["technique"]), int(step.given["k"])
        models: list[Mapping[str, Any]] = []
        if name == _MONDRIAN:
            models.append({"name": "k-anonymity", "k": k})
        elif k:
            models.append({"name": "bucket-size", "k": k})
        if name in (_COMBINED, _MPALM):
            models.append(_UNSURE)
        given = dict(_ALGORITHMS[name])
        if name == _COMBINED:
            given["seconds"] = settings.seconds
        data = drawn(bench, sensitive=_SHUFFLED if name == _BUCKETS else ())
        result = bench.released(data, given, models, context)
        share, most = self._proven(bench, result, context)
        late = most > share
        places = [k] if k else [int(x) for x in settings.at]
        return [
            *(Point(figure=_BY_K, series=name, x=x, y=share, timed_out=late) for x in places),
            *(Point(figure=_MOST, series=name, x=x, y=most, beyond=True) for x in places),
        ]

    def _proven(self, bench: Bench, result: Any, context: Context) -> tuple[float, float]:
        """Return the shares of the private rows that are proven to be there, at least and most.

        Anyone who is proven is a private row; people who were not decided are of the public table,
        and may be more than there are private rows.
        """
        found = bench.attacked(
            result, "membership", context, seconds=bench.settings.seconds, graded=0.0
        )
        rows = bench.settings.rows
        proven = found.succeeded / rows
        return proven, min((found.succeeded + found.undecided) / rows, 1.0)

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 6.2."""
        return [_printed(found), _flat(found), _slicing(found), _generalizing(found)]


def _given(name: str, k: float) -> dict[str, Value]:
    return {"technique": name, "k": int(k)}


def _printed(found: Found) -> Claim:
    says = "Bucketization re-identifies 93.95 %."
    values = list(found.series(_BY_K, _BUCKETS).values())
    by_public = found.series(_BY_PUBLIC, _BUCKETS)
    if not values or len(by_public) < len(_SHARES):
        return Claim(says=says, holds=None, measured="Not measured yet.", error="E-38")
    reached = mean(values)
    measured = f"It re-identifies {per_cent(reached)}."
    holds = abs(reached - _PRINTED) < 0.02
    nearest = min(by_public, key=lambda x: abs(by_public[x] - _PRINTED))
    own_table = not found.generated and not found.settings.public
    because = (
        f"{measured} A row is proven to be there exactly if all public rows that are equal to it "
        f"are private, which depends on the two tables alone. Of the public tables tried, the one "
        f"with {nearest:,.0f} rows comes nearest, with {per_cent(by_public[nearest])}; the source "
        "has 30,161."
    )
    return Claim(
        says=says,
        holds=holds,
        measured=measured,
        because="" if holds else because,
        wrong=not holds and own_table,
        error="E-38",
    )


def _flat(found: Found) -> Claim:
    says = "Bucketization's share does not change with k."
    values = found.series(_BY_K, _BUCKETS)
    if len(values) < 2:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    holds = max(values.values()) == min(values.values())
    measured = f"It is {per_cent(min(values.values()))} to {per_cent(max(values.values()))}."
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else measured)


def _slicing(found: Found) -> Claim:
    says = "Slicing in either form re-identifies nearly as many, and only a little less at large k."
    whole = found.series(_BY_K, _BUCKETS)
    lines = {name: found.series(_BY_K, name) for name in (_SLICES, _ONE)}
    if not whole or any(len(line) < len(found.settings.at) for line in lines.values()):
        return Claim(says=says, holds=None, measured="Not measured yet.")
    shares = [
        f"{name} {', '.join(f'{per_cent(y)} at k = {x:g}' for x, y in line.items())}"
        for name, line in lines.items()
    ]
    measured = f"{'; '.join(shares)}."
    # Hidden is at the most what is not proven, and at the least what is surely not.
    most = max(1 - line[max(line)] / whole[max(whole)] for line in lines.values())
    tops = {name: found.series(_MOST, name) for name in lines}
    least = max(1 - line[max(line)] / whole[max(whole)] for line in tops.values())
    if least < 0.2 <= most:
        return Claim(
            says=says,
            holds=None,
            measured=f"{measured} Not decided: at the largest k between {per_cent(max(least, 0))} "
            f"and {per_cent(most)} of what bucketization gives away is hidden, since the time box "
            "ended before everyone was decided.",
        )
    holds = most < 0.2
    because = (
        f"{measured} At the largest k {per_cent(max(least, 0))} to {per_cent(most)} of what "
        "bucketization gives away is hidden."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)


def _generalizing(found: Found) -> Claim:
    says = "K-Mondrian and CombinedAlg re-identify no one from k = 4 on."
    lines = {name: found.series(_BY_K, name) for name in (_MONDRIAN, _COMBINED)}
    late = {name: {x: y for x, y in line.items() if x >= 4} for name, line in lines.items()}
    if not found.whole or not late[_MONDRIAN]:
        return Claim(says=says, holds=None, measured="Not measured yet.")
    shares = [
        f"{name} {', '.join(f'{per_cent(y)} at k = {x:g}' for x, y in line.items())}"
        if line
        else f"{name} releases nothing"
        for name, line in lines.items()
    ]
    measured = f"{'; '.join(shares)}."
    holds = all(line and not any(line.values()) for line in late.values())
    open_ = [y for name in late for x, y in found.series(_MOST, name).items() if x >= 4]
    if holds and any(open_):
        return Claim(
            says=says,
            holds=None,
            measured=f"{measured} Not decided: up to {per_cent(max(open_))} were open when the "
            "time box ended.",
        )
    because = (
        f"{measured} Which public rows fit a class depends on which rows were drawn and on where "
        "Mondrian cuts, so the k from which all are safe differs from draw to draw."
    )
    return Claim(says=says, holds=holds, measured=measured, because="" if holds else because)
