"""The runs that `docs/experiments.md` tells of: shown before anything is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from anon_core.base.plain_values import finite
from anon_core.teaching.experiments.execution import Report, read_again
from anon_core.teaching.experiments.experiment import Experiment

#: A file for each experiment, written by `scripts/experiments_table.py`.
FOLDER = Path(__file__).parent / "documented"
_KEPT = ("settings", "table", "generated", "steps")


@cache
def documented(experiment: Experiment) -> Report | None:
    """Return the documented run of an experiment; None where there is none."""
    path = FOLDER / f"{experiment.id}.json"
    if not path.is_file():
        return None
    return read_again(json.loads(path.read_text(encoding="utf-8")), experiment)


def size_of(report: Report) -> str:
    """Return with which settings a run was made."""
    experiment = report.experiment
    return "full settings" if report.settings == experiment.full else "small settings"


def run_said(report: Report) -> str:
    """Return with what a run was made, and how long it took."""
    return f"{size_of(report)}, {report.table}, {report.seconds:.0f} s"


def document(told: Mapping[str, Any], id: str) -> None:
    """Keep what an experiment left as its documented run."""
    FOLDER.mkdir(exist_ok=True)
    kept = finite({name: told[name] for name in _KEPT})
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    (FOLDER / f"{id}.json").write_text(text + "\n", encoding="utf-8")
