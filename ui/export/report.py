"""The report: one HTML file with the verdicts, the plan, the figures and the charts.

It opens offline and asks nobody for anything; every name and value in it is escaped.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from anon_core.base.plain_values import finite
from anon_core.job.result import Result
from anon_core.job.version import VERSION
from anon_core.words import checklist
from anon_core.words import phrases as words
from anon_core.words.plan_words import intention, made_by

from ..charts.attack_plots import attack_dots, name_of, risk_chart
from ..charts.attack_plots import title_of as title_of_attack
from ..charts.chart_frame import Chart, Series, light_palette
from ..charts.class_plots import most_different, sensitive_chart, size_chart
from ..charts.metric_plots import column_heat, metric_bars
from ..charts.sensitive_heatmap import group_chart
from ..panels.group_panel import title_of
from ..session.result_view import MISSING_TEXT, Facts

if TYPE_CHECKING:
    import pandas as pd

_STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #F4F6F8; color: #0F1720;
  font: 16px/1.5 "Source Sans", system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; background: #FFFFFF; }
h1 { font-size: 28px; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 40px 0 12px; border-bottom: 1px solid #D5DBE1; padding-bottom: 4px; }
h3 { font-size: 16px; margin: 24px 0 4px; }
.edition { background: #FFF4E5; border-left: 4px solid #9A5F00; padding: 10px 14px;
  margin: 16px 0; }
.verdicts { display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px; }
.verdicts section { border: 1px solid #D5DBE1; border-radius: 6px; padding: 12px 16px; }
.verdicts h3 { margin-top: 0; } .unmet { color: #B3261E; }
.wide { overflow-x: auto; }
.quiet { color: #4B5563; font-size: 14px; } .note { white-space: pre-wrap; }
table { border-collapse: collapse; font-size: 14px; margin: 8px 0; min-width: 40%; }
th, td { border-bottom: 1px solid #D5DBE1; padding: 4px 28px 4px 0; text-align: left;
  vertical-align: top; overflow-wrap: break-word; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: #F4F6F8; padding: 12px; overflow-x: auto; font-size: 13px; }
details { margin: 4px 0 16px; } summary { cursor: pointer; color: #005A8C; }
figure { margin: 0; }
@media (max-width: 800px) { .verdicts { grid-template-columns: 1fr; } }
@media print { body { background: #FFFFFF; } figure, tr { break-inside: avoid; } }
"""


#: Of every published table, the groups and at most the rows that a report shows.
_GROUPS_SHOWN, _ROWS_SHOWN = 3, 30


def report(result: Result, *, title: str, judgement: str = "") -> str:
    """Return the report's HTML.

    Parameters
    ----------
    result : Result
    title : str
        Name of the table.
    judgement : str
        What the person wrote.
    """
    from plotly.offline import get_plotlyjs

    facts = Facts(result=result)
    charts = list(_charts(facts))
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Nothing may be asked for from anywhere, whatever a value in the table says.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">",
        f"<title>{_text(title)} – anonymization report</title><style>{_STYLE}</style>",
        f"<script>{get_plotlyjs()}</script></head><body><main>",
        f"<h1>{_text(title)}</h1>",
        f'<p class="quiet">Report of the Anonymity Workbench {_text(VERSION)}: '
        f"{_text(words.outcome(result))}</p>",
        '<p class="edition"><strong>Internal edition.</strong> This report holds the recipe with '
        "its secret seed and figures of the private table. Do not publish it with the release.</p>",
        _verdicts(result, judgement),
        _cautions(result),
        "<h2>What was done</h2>",
        f"<p><strong>{_text(made_by(result.plan))}</strong></p>",
        f"<p>{_text(intention(result.plan, result.problem.dataset))}</p>",
        f"<p>{_text(words.hidden(result))}</p>",
        _roles(result),
        _heads(facts),
        "<h2>Figures</h2>",
        _figures(facts),
        "<h2>Charts</h2>",
        *(_chart(place, chart) for place, chart in enumerate(charts)),
        "<h2>Recipe</h2>",
        f"<pre>{_text(result.plan.as_toml())}</pre>",
        "<h2>All figures as JSON</h2>",
        f"<details><summary>Show</summary><pre>{_text(_json(result.as_json()))}</pre></details>",
        "</main></body></html>",
    ]
    return "\n".join(parts)


def report_json(result: Result, *, title: str, judgement: str = "") -> str:
    """Return the report for programs: its verdicts, the judgement, the recipe and all figures."""
    told = {
        "title": title,
        "verdicts": {
            "promises": [asdict(item) for item in checklist.promises(result)],
            "thresholds": [asdict(item) for item in checklist.thresholds(result)],
            "published": [asdict(item) for item in checklist.published(result)],
            "judgement": judgement.strip(),
        },
        "recipe": result.plan.as_mapping(),
        "figures": result.as_json(),
    }
    return _json(told) + "\n"


def _json(value: object) -> str:
    return json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False)


def _items(found: Iterable[checklist.Item]) -> str:
    lines = (
        f'<li class="{"unmet" if item.mark == "warning" else ""}">{_text(item.sentence)}</li>'
        for item in found
    )
    return f"<ul>{''.join(lines)}</ul>"


def _verdicts(result: Result, judgement: str) -> str:
    kept = _items(checklist.promises(result))
    permuted = result.release.grouping.published
    lines = [words.against_threshold(a, permuted=permuted) for a in words.in_order(result.attacks)]
    told = _list(line.sentence for line in lines)
    written = _text(judgement.strip()) or "No judgement was written down."
    return (
        '<h2>Verdicts</h2><div class="verdicts">'
        f"<section><h3>1 · Promises, recomputed</h3>{kept}"
        f"<details><summary>What else was recomputed</summary>{_list(words.other_checks(result))}"
        "</details></section>"
        f"<section><h3>2 · Threshold</h3>{_items(checklist.thresholds(result))}"
        f"<details><summary>What it means</summary>{told}</details></section>"
        f'<section><h3>3 · Judgement</h3><p class="note">{written}</p></section></div>'
        f"<h3>What is published</h3>{_items(checklist.published(result))}"
    )


def _cautions(result: Result) -> str:
    """Return what figures lean on and should not, and what the release says beyond its promises."""
    if not result.cautions:
        return ""
    return f"<h3>Cautions</h3>{_list(result.cautions)}"


def _roles(result: Result) -> str:
    roles = result.plan.roles
    said = {
        "identifiers (removed)": roles.identifier,
        **({"tells persons apart (removed)": (roles.person,)} if roles.person else {}),
        "quasi-identifiers": roles.quasi,
        "sensitive": roles.sensitive,
        "published as they are": result.exact,
        "left out of the release": result.left_out,
    }
    rows = [[name, ", ".join(columns) or "none"] for name, columns in said.items()]
    return _table(["role", "columns"], rows)


def _figures(facts: Facts) -> str:
    told = facts.result.as_json()
    plain = {
        "rows in the table": told["rows"],
        "rows dropped for missing values": told["dropped"],
        "rows not drawn into the sample": told["not_drawn"],
        "rows suppressed": told["suppressed"],
        facts.noun[1]: told["classes"],
        f"smallest {facts.noun[0]}": told["smallest_class"],
        "SHA-256 of the file that was loaded"
        if told["input_sha256_of"] == "file"
        else "SHA-256 of the table's values (it came from no file)": told["input_sha256"],
        "SHA-256 of the published CSV files": told["output_sha256"],
    }
    parts = [_table(["figure", "value"], plain.items())]
    models = [[m["name"], m["column"] or "", m["bound"], m["value"]] for m in told["models"]]
    parts.append(
        "<h3>Promises</h3>" + _table(["promise", "column", "asked for", "reached"], models)
    )
    parts.append("<h3>Metrics</h3>" + _table(["metric", "value"], told["metrics"].items()))
    heads = ["name", "column", "attempted", "eligible", "succeeded", "undecided", "rate", "worst",
             "baseline", "raw", "at_risk", "threshold"]  # fmt: skip
    attacks = [[a[h] if a[h] is not None else "" for h in heads] for a in told["attacks"]]
    parts.append("<h3>Attacks</h3>" + _table([h.replace("_", " ") for h in heads], attacks))
    parts += [
        f"<p>{_text(name_of(a))}: {_text(a.open_words)}.</p>" for a in facts.attacks if a.undecided
    ]
    not_run: Mapping[str, str] = told["attacks_not_run"]
    parts += [
        f'<p class="quiet">Not run – {_text(title_of_attack(name))}: {_text(why)}</p>'
        for name, why in not_run.items()
    ]
    node: Mapping[str, int] | None = told["node"]
    if node:
        parts.append("<h3>Levels</h3>" + _table(["column", "level"], node.items()))
    return "\n".join(parts)


def _heads(facts: Facts) -> str:
    """Return the first groups of every table of a permuted release; empty for others."""
    if not facts.permuted or not len(facts.sizes):
        return ""
    starts = facts.page_starts
    stop = int(starts[min(_GROUPS_SHOWN, len(starts) - 1)])
    parts = ["<h2>What is published</h2>", f"<p>{_text(words.links(facts.result))}</p>"]
    for name, frame in facts.tables.items():
        shown = frame.iloc[: min(stop, _ROWS_SHOWN)]
        shown = shown.astype(object)
        filled = shown.where(shown.notna() & (shown != ""), MISSING_TEXT)
        parts.append(
            f"<h3>{_text(title_of(name))}: the first rows, smallest groups first</h3>"
            + _frame(filled)
        )
    return "\n".join(parts)


def _charts(facts: Facts) -> Iterable[Chart]:
    colours = light_palette()
    run = Series(letter="", title="", facts=facts, colour=colours.quasi)
    yield size_chart([run], colours)
    yield group_chart([run], colours)
    for column in facts.result.problem.sensitive:
        if column not in facts.result.problem.quasi and len(facts.sizes):
            number = most_different(run, column, 1)[0][0]
            yield sensitive_chart([run], colours, column, number)
    yield metric_bars([run], colours)
    heat = None if facts.permuted else column_heat([run], colours)
    if heat is not None:
        yield heat
    yield attack_dots([run], colours)
    yield risk_chart([run], colours)


def _chart(place: int, chart: Chart) -> str:
    figure = chart.figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"chart-{place}",
        config={"displaylogo": False, "displayModeBar": False, "responsive": True},
    )
    return (
        f"<figure><h3>{_text(chart.title)}</h3>{figure}"
        f'<figcaption class="quiet">{_text(chart.note)}</figcaption></figure>'
        f"<details><summary>Numbers</summary>{_frame(chart.numbers)}</details>"
    )


def _frame(frame: pd.DataFrame) -> str:
    rows = [list(row) for row in frame.itertuples(index=False, name=None)]
    return _table([str(name) for name in frame.columns], rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{_text(h)}</th>" for h in heads)
    body = "".join(f"<tr>{''.join(_cell(v) for v in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "<td></td>"
    if isinstance(value, bool | str):
        return f"<td>{_text(str(value))}</td>"
    return f'<td class="number">{_text(_number(value))}</td>'


def _number(value: object) -> str:
    """Return a number; its every digit is in the JSON at the end."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) >= 1000 else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _list(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(s)}</li>' for s in sentences)}</ul>"


def _text(text: str) -> str:
    return html.escape(text, quote=True)
