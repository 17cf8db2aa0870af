"""`experiment`: carry out experiments of the literature, next to the source's figures."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled
from anon_core.cli.output import OK, STOPPED, tell, write_json

if TYPE_CHECKING:
    from anon_core.teaching.experiments import Experiment, Report, Tables


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("id", help='number of an experiment, such as X-05; "all", or "list"')
    parser.add_argument(
        "--out", type=Path, help="folder for the figures as CSV and JSON, and a page with the chart"
    )
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with the source's tables, or one table; default: a table generated with the "
        "same domains",
    )
    parser.add_argument(
        "--full", action="store_true", help="use the full settings, which can take long"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed for rows, queries and generated tables"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        help="time limit of each search or attack; results that an earlier run left undecided are "
        "measured again",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=experiment)


def experiment(options: argparse.Namespace) -> int:
    """Carry out one experiment or all; return the exit status.

    What a folder already holds of the same settings on the same table is taken up.
    """
    from anon_core.teaching.experiments import Tables, all_experiments, find_experiment
    from anon_core.teaching.experiments.result_files import summary_html, summary_markdown

    asked = str(options.id).lower()
    if asked == "list":
        for one in all_experiments():
            tell(f"{one.id}  {one.title} ({one.source.author} {one.source.year})")
        return OK
    if options.out is None and not options.json:
        raise BadPlan(
            "There is no folder for the figures.", remedy="Name one with --out, or print --json."
        )
    if options.seconds is not None and options.seconds <= 0:
        raise BadPlan("--seconds is not above 0.", remedy="Use a number of seconds above 0.")
    if options.seed < 0:
        raise BadPlan("--seed is negative.", remedy="Use 0 or a larger whole number.")
    chosen = all_experiments() if asked == "all" else (find_experiment(options.id),)
    tables = Tables(data=options.data)
    reports: list[Report] = []
    for one in chosen:
        report = _carried_out(one, options, tables, alone=asked != "all")
        if report is None:
            return STOPPED
        reports.append(report)
    if options.json or options.out is None:
        write_json({"schema": 1, "experiments": [report.as_mapping() for report in reports]})
        return OK
    for report in reports:
        verdict = report.verdict
        tell(f"{report.experiment.id}  {report.experiment.title}: {verdict.outcome}. {verdict.why}")
    if asked == "all":
        (options.out / "summary.md").write_text(summary_markdown(reports), encoding="utf-8")
        (options.out / "index.html").write_text(summary_html(reports), encoding="utf-8")
    return OK


def _carried_out(
    one: Experiment, options: argparse.Namespace, tables: Tables, *, alone: bool
) -> Report | None:
    """Carry out one experiment, writing what it has come to after every step."""
    from anon_core.teaching.experiments import carry_out
    from anon_core.teaching.experiments.result_files import earlier, write

    settings = replace(one.settings("full" if options.full else "small"), seed=options.seed)
    if options.seconds is not None:
        settings = replace(settings, seconds=options.seconds)
    folder = None if options.out is None else options.out if alone else options.out / one.id
    table = tables.get(one.table, settings.seed).title
    kept = () if folder is None else earlier(folder, settings, table)

    def found(report: Report) -> None:
        if folder is not None:
            write(report, folder)

    watched = sys.stderr.isatty() and not options.json

    def progress(share: float, stage: str) -> None:
        if watched:
            sys.stderr.write(f"\r{one.id} {share:4.0%} {stage[:60]:60}")

    try:
        report = carry_out(
            one, settings, tables, Context(progress=progress), kept=kept, found=found
        )
    except (Cancelled, KeyboardInterrupt):
        sys.stderr.write("\nStopped. What was finished is kept; run it again to go on.\n")
        return None
    if watched:
        sys.stderr.write("\r" + " " * 76 + "\r")
    return report
