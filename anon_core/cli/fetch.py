"""`fetch`: keep what a database query finds as a file, to be released and verified from."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from anon_core.base.errors import BadPlan, clipped
from anon_core.cli.output import OK


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--database",
        required=True,
        help="SQLAlchemy URL of the database, such as sqlite:///file.db; set the password in "
        "ANONYMITY_DATABASE_PASSWORD",
    )
    parser.add_argument("--sql", required=True, help="the query, or @FILE to read it from a file")
    parser.add_argument("--out", type=Path, required=True, help="Parquet file to create")
    parser.set_defaults(command=fetch)


def fetch(options: argparse.Namespace) -> int:
    """Carry out the query, write a file that its owner alone can read; return the exit status."""
    from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
    from anon_core.base.private_file import new_private
    from anon_core.data.reading.database import queried

    sql: str = options.sql
    if sql.startswith("@"):
        sql = read_regular(Path(sql[1:]), MOST_TEXT_BYTES).decode("utf-8-sig")
    _refuse_present(options.out)
    content, rows = queried(options.database, sql)
    try:
        new_private(options.out, content)
    except FileExistsError:
        _refuse_present(options.out)
        raise
    sys.stdout.write(f"{rows:,} rows written to {clipped(str(options.out))}.\n")
    return OK


def _refuse_present(out: Path) -> None:
    if os.path.lexists(out):
        raise BadPlan(
            f"{clipped(str(out))} is there already.",
            remedy="Name a new file: a release is verified from the one it was made of.",
        )
