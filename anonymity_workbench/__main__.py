"""The command `anonymity-workbench`: it serves the dashboard, and does what the core's does."""

from __future__ import annotations

import sys
from typing import NoReturn

from anon_core.__main__ import finish
from anonymity_workbench.serving import SERVE


def main() -> NoReturn:
    """Carry out one command, `serve` where none is named, and end the program."""
    finish(sys.argv[1:] or [SERVE.name], prog="anonymity-workbench", more=(SERVE,))


if __name__ == "__main__":
    main()
