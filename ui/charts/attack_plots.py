"""Charts of attacks: what an attacker gets right, against guessing and against the raw table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anon_core.base.registry import family
from anon_core.release.attack_result import AttackResult
from anon_core.words.phrases import share
from anon_core.words.tiles import proven

from .chart_frame import Chart, Palette, Series, heading_of
from .rows_chart import Bar, Item, Mark, Plot, Rows, Span, Words

#: An attack, and the sensitive column it is on, if any.
Key = tuple[str, str]
_AXIS = (-0.03, 1.05)  # of shares, with room for marks at both ends
_OPEN = "not decided in time; treated as exposed"


def title_of(attack: str, column: str = "") -> str:
    """Return an attack's name for people, with the sensitive column where it has one."""
    short = family("attack")[attack].title.removesuffix(" re-identification")
    return f"{short}: {column}" if column else short


def name_of(result: AttackResult) -> str:
    """Return the name of a result's attack for people."""
    return title_of(result.attack, result.column)


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """The lines of a chart of attacks, from the top.

    Attacks that no run could be attacked with have no line, but stand among the numbers.
    """

    keys: Sequence[Key]
    untried: Sequence[str]  # attacks that no run was attacked with
    told: bool  # one run has room for the reason

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(title_of(*key) for key in self.keys)

    def absent(self, run: Series) -> tuple[dict[str, list[Item]], list[dict[str, object]]]:
        """Return why each attack was not run: what its line says, and rows of numbers."""
        found = {(a.attack, a.column): a for a in run.facts.attacks}
        rows: list[dict[str, object]] = []
        lines: dict[str, list[Item]] = {}
        for key in self.keys:
            own = found.get(key)
            if own is not None and not own.idle:
                continue
            # Where nobody could be attacked a mark at 0 would look like protection.
            what = "not run" if own is None else "nobody to attack"
            why = run.facts.not_run.get(key[0], "It has no result in this run.")
            why = why if own is None else own.sentence
            said = f"{what}: {why}" if self.told else what
            lines[title_of(*key)] = [Words(text=said, tip="" if self.told else why)]
            rows.append({"attack": title_of(*key), what: why})
        whys = {n: run.facts.not_run[n] for n in self.untried if n in run.facts.not_run}
        return lines, rows + [{"attack": title_of(n), "not run": why} for n, why in whys.items()]


def _lines(runs: Sequence[Series], *, told: bool) -> _Lines:
    keys = dict.fromkeys((a.attack, a.column) for r in runs for a in r.facts.attacks)
    return _Lines(keys=tuple(keys), untried=untried(runs), told=told and len(runs) == 1)


def untried(runs: Sequence[Series]) -> list[str]:
    """Return the names of the attacks that none of the runs was attacked with."""
    ran = {a.attack for r in runs for a in r.facts.attacks}
    return list(dict.fromkeys(n for r in runs for n in r.facts.not_run if n not in ran))


def attack_dots(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return rate, worst case, guessing and raw copy of every attack on one axis."""
    import pandas as pd

    lines = _lines(runs, told=True)
    plots: list[Plot] = []
    rows: list[dict[str, Any]] = []
    for run in runs:
        found = [a for a in run.facts.attacks if not a.idle]
        words, absent = lines.absent(run)
        marks = {name_of(a): _marks(a, run, colours) for a in found}
        plots.append(Plot(lines=words | marks, heading=heading_of(run, runs), colour=run.colour))
        order = {key: place for place, key in enumerate(lines.keys)}
        found.sort(key=lambda a: order[a.attack, a.column])
        told = [_row(a) for a in found] + absent
        rows += [({"run": run.letter} if len(runs) > 1 else {}) | row for row in told]
    return Chart(
        title="What an attacker gets right",
        figure=Rows(
            names=lines.names,
            plots=tuple(plots),
            low=_AXIS[0],
            high=_AXIS[1],
            ticks={0: "0%", 0.25: "25%", 0.5: "50%", 0.75: "75%", 1: "100%"},
            axis="share of people the attacker gets right",
            legend=_legend(runs, colours),
        ),
        numbers=pd.DataFrame(rows),
        note="Compare the release with guessing (nothing learned from it) and with a raw copy "
        "(nothing protected). The diamond is the person who is placed worst, full where the "
        "attacker is certain. Whoever was not decided in time is treated as exposed, and counts.",
        formats=dict.fromkeys(
            ("rate", "worst", "guessing", "raw copy", "at risk above"), "percent"
        ),
    )


def _marks(a: AttackResult, run: Series, colours: Palette) -> list[Item]:
    """Return what stands on the line of an attack, what hides others last."""
    ends = [a.baseline, a.rate, a.raw, a.worst]
    # A thin line marks the row; rows that hold words in place of marks have none.
    found: list[Item] = [
        Span(low=_AXIS[0], high=_AXIS[1], colour=colours.grid),
        Span(low=min(ends), high=max(ends), colour=colours.grid, width=2),
    ]
    if a.undecided and a.interval is not None:
        low, high = a.interval
        found.append(Span(low=low, high=high, colour=run.colour, dashed=True, tip=a.open_words))

    def mark(value: float, title: str, shape: str, colour: str) -> Mark:
        return Mark(at=value, shape=shape, colour=colour, tip=f"{title}: {value:.4%}")

    worst = (  # whatever the run's colour is, what is certain is no neutral outcome
        mark(a.worst, "certain for someone", "diamond", colours.warning)
        if proven(a)
        else mark(a.worst, "worst-placed person", "diamond-open", run.colour)
    )
    return [
        *found,
        mark(a.raw, "raw copy", "x", colours.original),
        worst,
        mark(a.rate, "this release", run.symbol, run.colour),
        mark(a.baseline, "guessing", "circle-open", colours.original),
    ]


def _legend(runs: Sequence[Series], colours: Palette) -> tuple[tuple[str, str, str], ...]:
    """Return the marks that are drawn for any of the runs, in the colour of the first."""
    attacks = [a for r in runs for a in r.facts.attacks if not a.idle]
    first = runs[0]
    found = [
        (
            any(a.undecided and a.interval is not None for a in attacks),
            ("dashed", first.colour, _OPEN),
        ),
        (True, ("x", colours.original, "raw copy")),
        (
            not all(proven(a) for a in attacks),
            ("diamond-open", first.colour, "worst-placed person"),
        ),
        (
            any(proven(a) for a in attacks),
            ("diamond", colours.warning, "certain for someone"),
        ),
        (True, (first.symbol, first.colour, "this release")),
        (True, ("circle-open", colours.original, "guessing")),
    ]
    return tuple(one for drawn, one in found if drawn)


def risk_chart(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people are exposed beyond the threshold, attack by attack."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    lines = _lines(runs, told=False)
    plots: list[Plot] = []
    for run in runs:
        found = {(a.attack, a.column): a for a in run.facts.attacks if not a.idle}
        attacks = [found[key] for key in lines.keys if key in found]
        words, absent = lines.absent(run)
        shares = [a.at_risk / max(a.attempted, 1) for a in attacks]
        bars: dict[str, list[Item]] = {
            name_of(a): [
                Bar(
                    to=s,
                    colour=run.colour,
                    text=(f"{a.at_risk:,} ({share(s)})" if len(runs) == 1 else share(s))
                    + (f"\n{a.undecided:,} not decided" if a.undecided else ""),
                    tip=f"{a.at_risk:,} of {a.attempted:,} people"
                    + (f"; {a.open_words}" if a.undecided else ""),
                )
            ]
            for a, s in zip(attacks, shares, strict=True)
        }
        plots.append(Plot(lines=words | bars, heading=heading_of(run, runs), colour=run.colour))
        told: list[dict[str, object]] = [
            {
                "attack": name_of(a),
                "people at risk": a.at_risk,
                "of": a.attempted,
                "share": s,
                "not decided": a.undecided,
            }
            for a, s in zip(attacks, shares, strict=True)
        ]
        rows += [({"run": run.letter} if len(runs) > 1 else {}) | row for row in told + absent]
    return Chart(
        title="People at risk",
        figure=Rows(
            names=lines.names,
            plots=tuple(plots),
            low=0,
            high=1.75,
            ticks={0: "0%", 0.5: "50%", 1: "100%"},
            axis="share of people",
            height=32,
        ),
        numbers=pd.DataFrame(rows),
        note="People whose chance of being picked exceeds your threshold; marketer: everyone, if "
        "the share of right links does; homogeneity and attribute inference: people whose value is "
        "certain; fake tuples: people of groups that could hold no fake one; membership: people "
        "proven to be in the table, or not decided in time.",
        formats={"share": "percent"},
    )


def _row(attack: AttackResult) -> dict[str, object]:
    return {
        "attack": name_of(attack),
        "attempted": attack.attempted,
        "eligible": attack.eligible,
        "succeeded": attack.succeeded,
        "not decided": attack.undecided,
        "rate": attack.rate,
        "worst": attack.worst,
        "guessing": attack.baseline,
        "raw copy": attack.raw,
        "at risk": attack.at_risk,
        "at risk above": attack.threshold,
        "estimated": attack.estimated,
        "upper bound": attack.upper_bound,
    }
