"""Document the runs that `experiment all` left in a folder: figures and summary table."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from anon_core.teaching.experiments import all_experiments
from anon_core.teaching.experiments.execution import document, documented, run_said
from anon_core.teaching.experiments.experiment import Experiment

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "experiments.md"
BEGIN, END = "<!-- begin: summary -->\n", "<!-- end: summary -->\n"
HEAD = ("experiment", "what", "verdict", "why", "source", "run")


def row(experiment: Experiment) -> list[str]:
    """Return one row from an experiment's documented run."""
    report = documented(experiment)
    assert report is not None, f"{experiment.id} has no documented run"
    verdict = report.verdict
    return [
        experiment.id,
        experiment.title,
        verdict.outcome,
        verdict.why,
        experiment.source.short,
        run_said(report),
    ]


def table() -> str:
    """Return the table as Markdown."""
    rows = [list(HEAD), ["---"] * len(HEAD), *(row(one) for one in all_experiments())]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in one)} |\n" for one in rows)


def main(folder: Path) -> None:
    """Keep what is there, and write the table into the document, instead of the one there."""
    for one in all_experiments():
        path = folder / one.id / "experiment.json"
        if path.is_file():
            document(json.loads(path.read_text(encoding="utf-8")), one.id)
    documented.cache_clear()
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
