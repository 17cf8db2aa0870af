"""Write the summary table of `docs/experiments.md` from what `experiment all` left in a folder."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from anon_core.teaching.experiments import all_experiments
from anon_core.teaching.experiments.experiment import Experiment

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "experiments.md"
BEGIN, END = "<!-- begin: summary -->\n", "<!-- end: summary -->\n"
HEAD = ("experiment", "what", "verdict", "why", "source", "run")


def row(experiment: Experiment, folder: Path) -> list[str]:
    """Return one row from what an experiment left in a folder of its number."""
    told = json.loads((folder / experiment.id / "experiment.json").read_text(encoding="utf-8"))
    own = {**told["settings"], "seed": experiment.full.seed}
    full = own == {
        k: list(v) if isinstance(v, tuple) else v for k, v in asdict(experiment.full).items()
    }
    size = "full" if full else "small"
    return [
        experiment.id,
        experiment.title,
        told["verdict"],
        told["why"],
        experiment.source.short,
        f"{size} settings, {told['table']}, {told['seconds']:.0f} s",
    ]


def table(folder: Path) -> str:
    """Return the table as Markdown."""
    rows = [list(HEAD), ["---"] * len(HEAD), *(row(one, folder) for one in all_experiments())]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in one)} |\n" for one in rows)


def main(folder: Path) -> None:
    """Write the table into the document, in place of the one that stands there."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(folder)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
