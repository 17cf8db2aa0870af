"""`counts`: noisy counts by columns of a recipe instead of rows, into a folder that is new."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.base.errors import BadInput, BadPlan, brief, clipped, listing
from anon_core.cli.output import OK, write_json

if TYPE_CHECKING:
    from anon_core.counts.counting import Counts
    from anon_core.counts.ledger import Ledger


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "recipe", type=Path, help="how the table is read, and its hierarchies; nothing else is used"
    )
    parser.add_argument("--data", type=Path, required=True, help="table: CSV, CSV.gz or Parquet")
    parser.add_argument(
        "--by",
        action="append",
        required=True,
        metavar="COLUMN[=LEVEL],…",
        help="columns to count by, each at a level of its hierarchy; again for another table",
    )
    parser.add_argument(
        "--epsilon", type=float, required=True, help="budget, split evenly among the tables"
    )
    parser.add_argument(
        "--delta",
        type=float,
        default=0.0,
        help="only for columns without a hierarchy, whose categories come from the table",
    )
    parser.add_argument("--clip", action="store_true", help="raise counts below 0 to 0")
    parser.add_argument("--out", type=Path, required=True, help="folder that is not there yet")
    parser.add_argument(
        "--ledger",
        type=Path,
        help="file that adds up what all releases of this table spend; entered before the draw",
    )
    parser.add_argument(
        "--cap",
        metavar="EPSILON[,DELTA]",
        help="most that the releases of one table may spend, for a ledger that is new",
    )
    parser.add_argument("--json", action="store_true", help="print all of it as one JSON object")
    parser.set_defaults(command=counts)


def counts(options: argparse.Namespace) -> int:
    """Publish counts and tell of them; return the exit status."""
    found, lines, left = _carry_out(options)
    if options.json:
        from anon_core.base.installation import VERSION

        write_json(
            {"schema": 1, "version": VERSION, "status": "released", **found.as_json(), **left}
        )
        return OK
    for line in lines:
        sys.stdout.write(line + "\n")
    return OK


def _carry_out(options: argparse.Namespace) -> tuple[Counts, list[str], dict[str, Any]]:
    """Draw the counts and write them; return them, the lines that tell of them, and the ledger's.

    Raises
    ------
    BadInput, BadPlan
        If the folder is there: another draw is another release, and spends its budget again.
    """
    from anon_core.counts.counting import noisy_counts
    from anon_core.counts.ledger import Budget, enter
    from anon_core.data.reading import MOST_BYTES_OF_COMMANDS, read_table
    from anon_core.data.reading.row_filter import filtered
    from anon_core.pipeline.changes import canonical
    from anon_core.recipe.plan import load_hierarchies, read_plan

    if options.out.exists():
        raise BadInput(
            f"{clipped(str(options.out))} is there already; counts that are drawn again are "
            "another release of the same rows, and spend their budget again.",
            remedy="Name a folder that is not there yet.",
        )
    if options.cap and options.ledger is None:
        raise BadPlan("--cap is kept in a ledger.", remedy="Name its file with --ledger.")
    cap = Budget.of(*[*options.cap.split(",", 1), "0"][:2]) if options.cap else None
    plan = read_plan(options.recipe)
    by, levels = _by(options.by)
    dataset = read_table(options.data, plan.data, most_bytes=MOST_BYTES_OF_COMMANDS)
    if plan.data.rest == "population":
        raise BadPlan(
            "[data] rest is 'population', and counts have none.", remedy="Leave rest out."
        )
    # By content: whatever order a file has its rows in, they are the same rows.
    whose = canonical(dataset, dataset.names)[1] if options.ledger else ""
    kept: list[Ledger] = []

    def spend() -> None:
        if options.ledger is not None:
            budget = Budget.of(options.epsilon, options.delta)
            what = f"counts by {'; '.join(options.by)}"
            kept.append(enter(options.ledger, whose, what, budget, cap))

    dataset = filtered(dataset.with_kinds(plan.types), plan.data.where)
    if plan.data.missing == "drop":
        dataset = dataset.without_missing(tuple(dict.fromkeys(n for names in by for n in names)))
    named = {name for names in by for name in names}
    hierarchies = load_hierarchies(plan, options.recipe.parent)
    found = noisy_counts(
        dataset,
        by,
        epsilon=options.epsilon,
        delta=options.delta,
        hierarchies={name: rows for name, rows in hierarchies.items() if name in named},
        levels=levels,
        clip=options.clip,
        spend=spend,
    )
    _write(found, options.out)
    lines = [found.sentence]
    for number, table in enumerate(found.tables, 1):
        extra = f", δ = {table.delta:g}, threshold {table.threshold}" if table.threshold else ""
        lines.append(
            f"counts-{number}.csv: {len(table.cells):,} counts by {listing(table.by)}, "
            f"ε = {table.epsilon:g}{extra}"
        )
    answer: dict[str, Any] = {}
    for ledger in kept:
        left, spent = ledger.left(whose), ledger.spent(whose).as_json()
        answer["ledger"] = {"spent": spent, "left": None if left is None else left.as_json()}
        lines.append(
            "Spent of this table so far: "
            + " and ".join(f"{name} = {value}" for name, value in spent.items())
            + ("." if left is None else f"; ε = {left.as_json()['epsilon']} is left.")
        )
    return found, lines, answer


def _by(given: Sequence[str]) -> tuple[list[list[str]], dict[str, int]]:
    """Return the columns of each table, and the level of each that names one."""
    levels: dict[str, int] = {}
    by: list[list[str]] = []
    for text in given:
        names: list[str] = []
        for part in text.split(","):
            name, mark, level = part.strip().rpartition("=")
            name = name if mark else level
            names.append(name)
            if not mark:
                continue
            if not level.isdecimal():
                raise BadPlan(
                    f"--by {clipped(part)}: the level is {brief(level)}; allowed are whole "
                    "numbers from 0 up.",
                    remedy="Write it as age=2.",
                )
            if levels.setdefault(name, int(level)) != int(level):
                raise BadPlan(
                    f"--by gives '{clipped(name)}' two levels.",
                    remedy="Counts at two levels add no information: sum up the finer ones.",
                )
        by.append(names)
    return by, levels


def _write(found: Counts, folder: Path) -> None:
    """Write the tables and what is guaranteed of them. The exact counts are written nowhere."""
    from anon_core.counts.counting import files_of

    folder.mkdir(parents=True)
    for name, content in files_of(found).items():
        (folder / name).write_bytes(content)
