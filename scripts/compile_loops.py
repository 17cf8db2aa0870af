"""Compile every loop before tests start, in two processes that begin at either end of the list.

Tests that start before would each compile the same loops; here, what one process has compiled, the
other loads.
"""

from __future__ import annotations

import subprocess
import sys

from anon_core.base.registry import family
from anon_core.pipeline.compilation import is_warm


def main() -> None:
    if is_warm():
        return
    backwards = "\n".join(reversed(family("algorithm")))
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "anon_core", "warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for _ in range(2)
    ]
    for process, asked in zip(started, ("", backwards), strict=True):
        assert process.stdin is not None
        process.stdin.write(asked)
        process.stdin.close()
    for process in started:
        process.wait()


if __name__ == "__main__":
    main()
