"""What every measurement works with: repeats, checks and a table read by a recipe."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anon_core import Dataset, read_table
from benchmarks.tables import Source
from benchmarks.timing import Row, repeated


@dataclass
class Bench:
    """What a run measures with, and what it found wrong."""

    times: int
    quick: bool
    wrong: list[str] = field(default_factory=list)

    def check(self, holds: bool, sentence: str) -> None:
        """Keep a sentence that does not hold."""
        print(f"  {'right' if holds else 'WRONG'}: {sentence}")
        if not holds:
            self.wrong.append(sentence)

    def exit_status(self) -> int:
        """Tell what was wrong, and return the exit status."""
        for sentence in self.wrong:
            print(f"WRONG: {sentence}", file=sys.stderr)
        return 1 if self.wrong else 0

    def time(
        self,
        what: str,
        work: Callable[[], Any],
        note: str = "",
        *,
        warm: int = 1,
        once: bool = False,
    ) -> tuple[Row, Any]:
        """Measure one line of a table."""
        seconds, found = repeated(work, times=1 if once else self.times, warm=0 if once else warm)
        return Row(what=what, seconds=seconds, note=note), found


def read(source: Source, recipe: Path) -> tuple[Any, Dataset, dict[str, list[list[str]]]]:
    plan, levels = source.load(recipe)
    return plan, read_table(source.data, plan.data), levels
