"""Charts of what a release lost: every metric from 0 to 1, and column by column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from anon_core.base.registry import family
from anon_core.base.terms import SCALE
from anon_core.contracts.metric import Metric, headline
from anon_core.release.outcome import Measure
from ui.charts.bullets import Bullet, Heads, Tone, against, bullets, changed, turned
from ui.charts.chart_frame import Chart, Palette, Series, readable, signs_of
from ui.charts.vega import SMALL, Vega, form, named
from ui.state.result_view import Facts

#: Columns of numbers next to each other that have room for all their letters, and for some.
_ROOMY, _CROWDED = 10, 14
#: Letters of a unit that has room behind its value.
_UNIT = 5
#: Below this a value is what rounding leaves of nothing.
_NOTHING = 1e-12
#: Below this a value is drawn with a power of ten: its zeros have no room.
_MINUTE = 1e-6
#: From here on a value is drawn in millions: all its digits have no room in a line.
_MILLIONS = 1e7
_CELL = 22


def title_of(metric: str) -> str:
    """Return a metric's name for people."""
    return family("metric")[metric].title


def loss_of_cells(runs: Sequence[Series]) -> dict[str, str]:
    """Return a name for the loss of cells, by its metric, where the strip's is that of links."""
    metric = headline("cells")
    return {metric: f"{title_of(metric)} of cells"} if any(r.facts.permuted for r in runs) else {}


def amount(value: float, digits: int = 4) -> str:
    """Return a metric's own value, large ones without digits after the point.

    Examples
    --------
    >>> amount(25_000_000.0), amount(0.123456), amount(1e-17)  # the last is a sum's rounding
    ('25,000,000', '0.1235', '0')
    """
    if abs(value) < _NOTHING:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if _MINUTE <= abs(value) < 0.0001:  # Python would write a power of ten
        return f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:.{digits}g}"


def _in_a_line(metric: str, measure: Measure) -> str:
    """Return a metric's value in three digits; millions as such."""
    if _metric(metric).scale.unit == "share":
        return f"{measure.share:.3f}"
    if 0.001 <= measure.value <= 1:
        return f"{measure.value:.3f}"
    if abs(measure.value) >= _MILLIONS:
        return f"{measure.value / 1e6:,.1f} M"
    return amount(measure.value, 3)


def unit_of(metric: str, facts: Facts) -> str:
    """Return what one unit of a metric's own value is in a run."""
    kind = _metric(metric)
    if kind.scale.unit == "share":
        return "on a scale from 0 to 1"
    if kind.scale.size_parameter and not any(m.size_asked for m in facts.result.plan.models):
        return kind.scale.unit.replace("× k ", "")  # no k was asked for, so it counts single rows
    return kind.scale.unit


def _same_unit(metric: str, facts: Facts, before: Facts) -> bool:
    """Say whether two runs count a metric in the same unit: some count in the k asked for."""
    if not _metric(metric).scale.size_parameter:
        return True
    asked = (max((m.size_asked for m in f.result.plan.models), default=0) for f in (facts, before))
    return len(set(asked)) == 1


def _briefly(metric: str, measure: Measure, facts: Facts) -> str:
    """Return a metric's value in few letters: with its unit, where that is short."""
    value, unit = _in_a_line(metric, measure), unit_of(metric, facts)
    return f"{value} {unit}" if len(unit) <= _UNIT else value


def metric_names(runs: Sequence[Series]) -> list[str]:
    """Return the metrics in the order they are reported: what cut links cost first, if any are cut.

    Where none are cut, the groups lose what their cells do, and that is reported once.
    """
    met = dict.fromkeys(n for r in runs for n in r.facts.result.measures)
    known = list(family("metric"))  # what was measured last is shown in its place
    names = sorted(met, key=known.index)
    if not any(r.facts.permuted for r in runs):
        return [n for n in names if _metric(n).scale.headline != "groups"]
    return sorted(names, key=lambda n: not _metric(n).scale.counts_links)


def _metric(name: str) -> type[Metric]:
    return cast(type[Metric], family("metric")[name])


def what_is_lost(runs: Sequence[Series]) -> str:
    """Return how metrics of cells are to be read where links are cut; empty where none are."""
    cut = [r.facts.permuted for r in runs]
    if any(r.facts.permuted and r.facts.result.plan.algorithm.shape.coarsens for r in runs):
        return (
            "Where links are cut, loss and NCP count coarsened cells only, not the links; query "
            "error and the loss of the groups count both."
        )
    if not any(cut):
        return ""
    asked = {n for r in runs for n in r.facts.result.measures}
    seen = any(
        _metric(n).scale.counts_links and _metric(n).scale.headline != "groups" for n in asked
    )
    if all(cut):
        tail = "query error and the loss of the groups" if seen else "the loss of the groups"
        return f"Cells are exact, so loss and NCP are 0; what is lost is the links – see {tail}."
    return (
        "If links are cut, cells are exact: loss and NCP are 0 and do not separate these runs. "
        + ("Query error and the loss of the groups are" if seen else "The loss of the groups is")
        + " on a scale that they share."
    )


def metric_bullets(
    runs: Sequence[Series],
    colours: Palette,
    without: tuple[str, ...] = (),
    base: Facts | None = None,
    chosen: Mapping[str, float] | None = None,
) -> Chart:
    """Return a line for every metric, brought to 0 to 1, with its value in its own unit.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    without : tuple of str
        Metrics that are reported elsewhere.
    base : Facts or None
        The baseline of a single run: its values are marked, and what changed since is reported.
        Several runs are reported against the first of them.
    chosen : mapping of str to float, optional
        What is chosen lost, by the metric's title.
    """
    import pandas as pd

    alone = len(runs) == 1
    pending = alone and runs[0].facts.result.pending
    first = base if alone else runs[0].facts
    coming = [replace(runs[0], facts=base)] if pending and base is not None else []
    names = [n for n in metric_names([*runs, *coming]) if n not in without]
    lines: list[Bullet] = []
    rows: list[dict[str, object]] = []
    other = "the baseline" if alone else runs[0].letter
    apart = loss_of_cells(runs)
    for name in names:
        for run in runs:
            m = run.facts.result.measures.get(name)
            title, lane = title_of(name), "" if alone else run.letter
            short = apart.get(name, "")
            if m is None:
                lines.append(
                    Bullet(
                        name=title,
                        short=short,
                        value="…" if pending else "not measured",
                        colour=run.colour,
                        lane=lane,
                    )
                )
                continue
            before = (
                None if first is None or run.facts is first else first.result.measures.get(name)
            )
            alike = before is None or first is None or _same_unit(name, run.facts, first)
            change, tone = _since(name, m, before) if alike else ("–", "")
            unit = unit_of(name, run.facts)
            lines.append(
                Bullet(
                    name=title,
                    short=short,
                    value=_briefly(name, m, run.facts),
                    share=m.share,
                    before=before.share if alone and before is not None else None,
                    chosen=(chosen or {}).get(title),
                    change=turned(change, tone) if lane else change,
                    tone=tone,
                    colour=run.colour,
                    lane=lane,
                    note=f"{m.share:.4f} of 1; in its own unit {amount(m.value)} {unit}"
                    + ("" if alike else f"; {other} counts it in another k"),
                )
            )
    for run in runs:
        for name in names:
            m = run.facts.result.measures.get(name)
            if m is None:
                continue
            row: dict[str, object] = {} if alone else {"run": run.letter}
            row |= {
                "metric": title_of(name),
                "0 to 1": m.share,
                "value": m.value,
                "unit": unit_of(name, run.facts),
            }
            before = None if base is None else base.result.measures.get(name)
            if base is not None:
                row["value in the baseline"] = None if before is None else before.value
            rows.append(row)
            rows += [
                row | {"metric": f"{title_of(name)}: {other}", "0 to 1": None, "value": value}
                | ({"value in the baseline": None if before is None else before.also.get(other)}
                   if base is not None else {})
                for other, value in m.also.items()
            ]  # fmt: skip
    heads = Heads(
        value="value",
        change=against(runs, base),
        axis="0 unchanged to 1 suppressed – less is better",
    )
    return Chart(
        title="What was lost",
        figure=bullets(lines, heads, colours, runs=len(runs)),
        signs=signs_of(runs),
        numbers=pd.DataFrame(rows),
        note="Less is better. A suppressed row counts as fully lost.",
        formats={"0 to 1": "%.4f", "value": "localized", "value in the baseline": "localized"},
    )


def _since(name: str, now: Measure, before: Measure | None) -> tuple[str, Tone]:
    """Return how a metric is against the baseline: about the same where no digit differs.

    The arrow follows the value that is shown; better and worse follow the share, less of which is
    better in every metric, also where more of the value is.
    """
    if before is None:
        return "", ""
    earlier = _in_a_line(name, before)
    if earlier == _in_a_line(name, now):
        return "=" if now.value == before.value else "≈", "same"
    worse = None if now.share == before.share else now.share > before.share
    return changed(now.value, before.value, earlier, worse=worse)


def _short(value: float | None) -> str:
    """Return a share from 0 to 1 in as few letters as two digits take."""
    if value is None:
        return "–"
    return "1" if value >= 0.995 else "0" if value < 0.005 else f"{value:.2f}"[1:]


def column_heat(runs: Sequence[Series], colours: Palette) -> Chart | None:
    """Return the loss of every column; None where no metric has a value for each column."""
    import pandas as pd
    import pyarrow as pa

    by_column = {n for r in runs for n, m in r.facts.result.measures.items() if m.per_column}
    names = [n for n in metric_names(runs) if n in by_column]
    if not names:
        return None
    shown = list(dict.fromkeys(c for r in runs for c in r.facts.result.problem.quasi))
    across = len(runs) * len(names)
    rows: list[dict[str, object]] = []
    cells: list[dict[str, object]] = []
    for run in runs:
        by_name = {n: m.per_column for n, m in run.facts.result.measures.items()}
        for column in shown:
            line = {n: by_name[n].get(column) if n in by_name else None for n in names}
            cells += [
                {"run": run.letter, "column": column, "metric": title_of(n)}
                | _lost(v, colours, across)
                | {"said": f"{run.letter} {column}, {title_of(n)}: {_lost_words(v)}".strip()}
                for n, v in line.items()
            ]
            row: dict[str, object] = {"run": run.letter} if len(runs) > 1 else {}
            rows.append(row | {"column": column} | {title_of(n): v for n, v in line.items()})
    return Chart(
        title="Where it was lost: column by column",
        figure=Vega(
            spec=_heat_spec(colours, len(runs)),
            data={"cells": pa.Table.from_pylist(cells)},
            height=70 + _CELL * len(shown),
        ),
        signs=signs_of(runs),
        numbers=pd.DataFrame(rows),
        note=f"{SCALE} in that column."
        + (" Each cell shows all runs side by side." if len(runs) > 1 else ""),
        formats={title_of(n): "%.4f" for n in names},
    )


def _lost_words(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f} of 1"


def _lost(value: float | None, colours: Palette, across: int) -> dict[str, object]:
    """Return a cell; of many next to each other colour alone has room, and words come on hover."""
    if value is None:
        text = "–"
        return {
            "colour": colours.paper, "ink": colours.muted, "text": text, "lost": _lost_words(value)
        }  # fmt: skip
    colour = colours.scale[round(4 * min(max(value, 0.0), 1.0))]
    text = "" if across > _CROWDED else _short(value) if across > _ROOMY else f"{value:.2f}"
    return {
        "colour": colour, "ink": readable(colour), "text": text, "lost": _lost_words(value)
    }  # fmt: skip


@lru_cache(maxsize=16)
def _heat_spec(colours: Palette, runs: int) -> dict[str, Any]:
    import altair as alt

    plain = alt.Axis(
        labelOverlap=False, labelFlush=False, labelColor=colours.ink, title=None, labelLimit=190
    )
    steep = alt.Axis(
        orient="top", labelAngle=-30, labelOverlap=False, labelFlush=False, title=None,
        labelColor=colours.ink, labelLimit=150,
    )  # fmt: skip
    place: dict[str, Any] = {
        "x": alt.X("metric:N", sort=None, axis=steep, scale=alt.Scale(paddingInner=0.06)),
        "y": alt.Y("column:N", sort=None, axis=plain, scale=alt.Scale(paddingInner=0.1)),
        "tooltip": ["column:N", "metric:N", *(["run:N"] if runs > 1 else []),
                    alt.Tooltip("lost:N", title="lost")],
    }  # fmt: skip
    if runs > 1:
        place["xOffset"] = alt.XOffset("run:N", sort=None)
    cells = named("cells")
    chart = alt.layer(
        cells.mark_rect().encode(
            **place, color=alt.Color("colour:N", scale=None, legend=None), description="said:N"
        ),
        cells.mark_text(fontSize=SMALL).encode(
            **place, text="text:N", color=alt.Color("ink:N", scale=None, legend=None)
        ),
    ).resolve_scale(color="independent")
    return form(chart, colours, right=28)  # the last name reaches over its column
