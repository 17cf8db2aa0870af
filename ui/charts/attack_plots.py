"""Charts of attacks: what an attacker gets right, against guessing and against the raw table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from anon_core.base.registry import family
from anon_core.base.terms import PEOPLE_AT_RISK, nearly, one_in
from anon_core.contracts.attack import Attack
from anon_core.explain.text.phrases import limited, share
from anon_core.explain.text.tiles import proven
from anon_core.release.attack_result import AttackResult
from ui.charts.bullets import Bullet, Heads, Tone, against, bullets, changed, turned
from ui.charts.chart_frame import Chart, Palette, Series, shortened, signs_of
from ui.state.result_view import Facts

#: An attack, and the sensitive column it is on, if any.
Key = tuple[str, str]


def title_of(attack: str, column: str = "") -> str:
    """Return an attack's name for people, with the sensitive column where it has one."""
    short = family("attack")[attack].title.removesuffix(" re-identification")
    return f"{short}: {column}" if column else short


def name_of(result: AttackResult) -> str:
    """Return the name of a result's attack for people."""
    return title_of(result.attack, result.column)


def odds(value: float) -> str:
    """Return a chance in few letters.

    Examples
    --------
    >>> odds(0.2), odds(0.4), odds(0.98), odds(0.996), odds(1.0), odds(0)
    ('1 in 5', '1 in 2.5', '1 in 1.02', 'over 99%', 'certain', 'never')
    """
    if value <= 0:
        return "never"
    if value >= 1:
        return "certain"
    return nearly(value) or f"1 in {one_in(value, whole_from=10)}"


def _short(key: Key, one_column: str) -> str:
    """Return an attack's name without its column, where all attacks of runs are on that one."""
    return title_of(key[0]) if one_column else ""


def _only_column(keys: Sequence[Key]) -> str:
    """Return the sensitive column that all attacks on one are on; empty where there are more."""
    columns = {column for _, column in keys if column}
    return next(iter(columns)) if len(columns) == 1 else ""


def _keys(runs: Sequence[Series]) -> list[Key]:
    """Return the attacks of runs, from the top; those that none was attacked with have no line."""
    return list(dict.fromkeys((a.attack, a.column) for r in runs for a in r.facts.attacks))


def _in_order(keys: Sequence[Key]) -> list[Key]:
    """Return attacks of several results in the order in which those of one are reported."""
    known = cast(dict[str, type[Attack]], family("attack"))
    return sorted(dict.fromkeys(keys), key=lambda key: (known[key[0]].report.place, *key))


def _idle(key: Key, run: Series) -> tuple[str, str]:
    """Return what is said where an attack has no figure in a run, and why."""
    found = next((a for a in run.facts.attacks if (a.attack, a.column) == key), None)
    if found is not None:  # where nobody could be attacked a bar of 0 would look like protection
        return "no one to attack", found.sentence
    return "not run", run.facts.not_run.get(key[0], "It has no result in this run.")


def _absent(runs: Sequence[Series], run: Series) -> list[dict[str, object]]:
    """Return rows of numbers that say why an attack has none in a run."""
    known = {(a.attack, a.column) for a in run.facts.attacks if not a.idle}
    rows: list[dict[str, object]] = []
    for key in _keys(runs):
        if key not in known:
            what, why = _idle(key, run)
            rows.append({"attack": title_of(*key), what: why})
    return rows + [
        {"attack": title_of(name), "not run": run.facts.not_run[name]}
        for name in untried(runs)
        if name in run.facts.not_run
    ]


def untried(runs: Sequence[Series]) -> list[str]:
    """Return the names of the attacks that none of the runs was attacked with."""
    ran = {a.attack for r in runs for a in r.facts.attacks}
    return list(dict.fromkeys(n for r in runs for n in r.facts.not_run if n not in ran))


def attack_bullets(
    runs: Sequence[Series],
    colours: Palette,
    base: Facts | None = None,
    chosen: Mapping[str, float] | None = None,
) -> Chart:
    """Return a line for every attack: the worst chance and the average, against the threshold.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    base : Facts or None
        The baseline of a single run; several are reported against the first of them.
    chosen : mapping of str to float, optional
        The highest chance among what is chosen, by the attack's name.
    """
    import pandas as pd

    alone = len(runs) == 1
    pending = alone and runs[0].facts.result.pending
    coming = [replace(runs[0], facts=base)] if pending and base is not None else []
    keys = _keys(runs) if not coming else _in_order([*_keys(runs), *_keys(coming)])
    one_column = _only_column(keys)
    of = f" ({shortened(one_column, 20)})" if one_column else ""
    first = base if alone else runs[0].facts
    old = [] if first is None else first.attacks
    before = {(a.attack, a.column): a for a in old if not a.idle}
    lines: list[Bullet] = []
    for key in keys:
        for run in runs:
            found = {(a.attack, a.column): a for a in run.facts.attacks if not a.idle}
            lane = "" if alone else run.letter
            one = found.get(key)
            if one is None:
                what, why = _idle(key, run)
                what = "…" if pending else what
                lines.append(
                    Bullet(
                        name=title_of(*key),
                        short=_short(key, one_column),
                        value=what,
                        note=why,
                        colour=run.colour,
                        lane=lane,
                    )
                )
                continue
            of_chosen = (chosen or {}).get(name_of(one))
            known = None if run.facts is first else before.get(key)
            line = _bullet(one, run, known, of_chosen, lane)
            lines.append(replace(line, short=_short(key, one_column)))
    rows: list[dict[str, object]] = []
    order = {key: place for place, key in enumerate(keys)}
    for run in runs:
        tried = [a for a in run.facts.attacks if not a.idle]
        tried.sort(key=lambda a: order[a.attack, a.column])
        of_run: list[dict[str, object]] = [_row(a) for a in tried]
        for row, a in zip(of_run, tried, strict=True):
            old = before.get((a.attack, a.column))
            if base is not None:
                row["worst in the baseline"] = None if old is None else old.worst
        of_run += _absent(runs, run)
        rows += [({} if alone else {"run": run.letter}) | row for row in of_run]
    heads = Heads(
        value="worst",
        change=against(runs, base),
        more="at risk",
        axis=f"chance of success{of} – less is better",
        percent=True,
        widths=(60, 70, 44),
    )
    return Chart(
        title="What an attacker gets right",
        figure=bullets(lines, heads, colours, runs=len(runs)),
        signs=signs_of(runs),
        numbers=pd.DataFrame(rows),
        note="The pale bar ends at the most exposed person, the full one at the average; the ring "
        "is guessing without the release. People not decided in time count as exposed.",
        formats=dict.fromkeys(
            ("rate", "worst", "worst in the baseline", "guessing", "raw copy", "at risk above"),
            "percent",
        ),
    )


def _bullet(
    a: AttackResult, run: Series, before: AttackResult | None, chosen: float | None, lane: str
) -> Bullet:
    change: tuple[str, Tone] = ("", "")
    if before is not None:
        worse = None if a.worst == before.worst else a.worst > before.worst
        change = changed(a.worst, before.worst, odds(before.worst), worse=worse)
    said = [
        f"on average {share(a.rate)}, by guessing {share(a.baseline)}, "
        f"from a raw copy {share(a.raw)}",
        f"{a.at_risk:,} of {a.attempted:,} people at risk",
        *(["certain for someone"] if proven(a) else []),
        *([a.open_words] if a.undecided else []),
    ]
    return Bullet(
        name=name_of(a),
        value=f"{odds(a.worst)}" + (" ?" if a.undecided else ""),
        share=a.worst,
        mean=a.rate,
        before=None if before is None or lane else before.worst,
        chosen=chosen,
        limit=a.threshold if limited(a) else None,
        guess=a.baseline,
        change=turned(*change) if lane else change[0],
        tone=change[1],
        more=f"{a.at_risk:,}",
        colour=run.colour,
        lane=lane,
        note="; ".join(said),
    )


def risk_bullets(runs: Sequence[Series], colours: Palette) -> Chart:
    """Return how many people are exposed beyond the threshold, attack by attack."""
    import pandas as pd

    alone = len(runs) == 1
    lines: list[Bullet] = []
    rows: list[dict[str, object]] = []
    keys = _keys(runs)
    one_column = _only_column(keys)
    for key in keys:
        for run in runs:
            lane = "" if alone else run.letter
            a = next(
                (a for a in run.facts.attacks if (a.attack, a.column) == key and not a.idle), None
            )
            if a is None:
                what, why = _idle(key, run)
                lines.append(
                    Bullet(
                        name=title_of(*key),
                        short=_short(key, one_column),
                        value=what,
                        note=why,
                        colour=run.colour,
                        lane=lane,
                    )
                )
                continue
            part = a.at_risk / max(a.attempted, 1)
            lines.append(
                Bullet(
                    name=name_of(a),
                    short=_short(key, one_column),
                    value=f"{a.at_risk:,} ({share(part)})",
                    share=part,
                    colour=run.colour,
                    lane=lane,
                    note=f"{a.at_risk:,} of {a.attempted:,} people"
                    + (f"; {a.open_words}" if a.undecided else ""),
                )
            )
    for run in runs:
        of_run: list[dict[str, object]] = [
            {
                "attack": name_of(a),
                PEOPLE_AT_RISK.lower(): a.at_risk,
                "of": a.attempted,
                "share": a.at_risk / max(a.attempted, 1),
                "not decided": a.undecided,
            }
            for a in run.facts.attacks
            if not a.idle
        ]
        of_run += _absent(runs, run)
        rows += [({} if alone else {"run": run.letter}) | row for row in of_run]
    heads = Heads(value="people", axis="share of people – less is better", percent=True)
    return Chart(
        title=PEOPLE_AT_RISK,
        figure=bullets(lines, heads, colours, runs=len(runs)),
        signs=signs_of(runs),
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
