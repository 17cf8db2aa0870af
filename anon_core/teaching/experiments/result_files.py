"""An experiment's figures as files: CSV, JSON, and a page that needs nothing else."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
from anon_core.base.errors import BadInput
from anon_core.base.plain_values import finite
from anon_core.teaching.experiments.chart import chart, shown
from anon_core.teaching.experiments.execution import Done, Report, kept_steps
from anon_core.teaching.experiments.experiment import Figure
from anon_core.teaching.experiments.points import Settings
from anon_core.teaching.learn.drawing import style

JSON, CSV, HTML = "experiment.json", "figures.csv", "experiment.html"
#: What a figure is: the source's, ours, or an addition that the source has not.
BY = ("source", "measured", "beyond the source")


def rows_of(report: Report, figure: Figure) -> list[dict[str, Any]]:
    """Return a figure's numbers as a table: the source's first, then ours in order."""
    rows = [
        {
            "series": one.series,
            "x": "all" if one.at is None else one.at,
            "low": one.low,
            "high": one.high,
            "by": BY[0],
            "words": one.words,
            "seconds": None,
        }
        for one in report.experiment.printed
        if one.figure == figure.name
    ]
    return rows + [
        {
            "series": p.series,
            "x": figure.places[int(p.x)] if figure.places else p.x,
            "low": p.y,
            "high": p.y,
            "by": BY[2] if p.beyond else BY[1],
            "words": p.note,
            "seconds": round(one.seconds, 3),
        }
        for one in report.done
        for p in one.points
        if p.figure == figure.name
    ]


def figures_of(report: Report) -> list[Figure]:
    """Return the figures of which something was measured."""
    there = {p.figure for p in report.points}
    return [figure for figure in report.experiment.figures if figure.name in there]


def summary_row(report: Report) -> dict[str, str]:
    """Return one row of the summary table."""
    verdict = report.verdict
    table = f"{report.table}; " if report.generated else ""
    return {
        "experiment": report.experiment.id,
        "what": report.experiment.title,
        "verdict": verdict.outcome,
        "why": verdict.why,
        "source": report.experiment.source.short,
        "run": f"{table}{report.seconds:.0f} s",
    }


def write(report: Report, folder: Path) -> None:
    """Write an experiment's files into a folder, instead of those of an earlier run.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(finite(report.as_mapping()), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / JSON).write_text(text + "\n", encoding="utf-8")
    (folder / CSV).write_text(as_csv(report), encoding="utf-8")
    (folder / HTML).write_text(as_html(report), encoding="utf-8")


def earlier(folder: Path, settings: Settings, table: str) -> tuple[Done, ...]:
    """Return the finished steps that a folder holds; none where settings or table were others.

    Raises
    ------
    BadInput
        If the file is there and is none of ours.
    """
    path = folder / JSON
    if not path.is_file():
        return ()
    try:
        content = json.loads(read_regular(path, MOST_TEXT_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{JSON} cannot be read.", remedy="Name another folder, or delete the file."
        ) from error
    return kept_steps(content, settings, table)


def as_csv(report: Report) -> str:
    """Return all figures as one CSV text; each says of which experiment, rows and seed it is."""
    out = io.StringIO()
    of = {
        "experiment": report.experiment.id,
        "rows": report.settings.rows or "",
        "seed": report.settings.seed,
    }
    own = ("figure", "series", "x", "low", "high", "by", "words", "seconds")
    writer = csv.DictWriter(out, (*of, *own), lineterminator="\n")
    writer.writeheader()
    for figure in report.experiment.figures:
        rows = rows_of(report, figure)
        writer.writerows({**of, "figure": figure.name, **row} for row in rows)
    return out.getvalue()


def as_html(report: Report) -> str:
    """Return an experiment as a page that needs nothing else."""
    experiment = report.experiment
    drawn = [
        {
            "title": figure.title,
            "x": figure.x,
            "y": figure.y,
            "chart": chart(
                figure,
                [p for p in report.points if p.figure == figure.name],
                [one for one in experiment.printed if one.figure == figure.name],
            ),
            "rows": [_written(row, figure) for row in rows_of(report, figure)],
        }
        for figure in figures_of(report)
    ]
    return _page(
        title=f"{experiment.id}: {experiment.title}",
        report={**report.as_mapping(), "shows": experiment.shows},
        figures=drawn,
        settings=[(n, v) for n, v in asdict(report.settings).items() if v],
        remarks=experiment.remarks,
    )


def summary_html(reports: Sequence[Report]) -> str:
    """Return the summary table as a page that links to the experiments'."""
    return _page(title="Experiments", summary=[summary_row(report) for report in reports])


def summary_markdown(reports: Sequence[Report]) -> str:
    """Return the summary table as Markdown."""
    rows = [summary_row(report) for report in reports]
    names = list(rows[0]) if rows else []
    lines = [names, ["---"] * len(names), *([row[n] for n in names] for row in rows)]
    return "".join(f"| {' | '.join(v.replace('|', '/') for v in line)} |\n" for line in lines)


def _written(row: dict[str, Any], figure: Figure) -> dict[str, str]:
    low, high = (shown(row[end], figure.unit) for end in ("low", "high"))
    x = row["x"] if isinstance(row["x"], str) else shown(row["x"], "")
    return {**row, "x": x, "y": low if low == high else f"{low} to {high}"}


def _page(**given: Any) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("anon_core.teaching.experiments", "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
    )
    content = {"report": None, "summary": None, **given}
    page = environment.get_template("experiment.html.jinja")
    return page.render(style=Markup(style("system")), **content)
