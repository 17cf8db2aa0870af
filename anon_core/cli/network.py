"""`network`: what a known number of ties finds, and a network with vertices that hide it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.cli.output import OK, tell, write_json

if TYPE_CHECKING:  # what a command needs is loaded when it is given
    from anon_core.data.table import Dataset


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("edges", type=Path, help="edge list: two columns, a tie in each line")
    parser.add_argument(
        "--people", type=Path, help="everyone, in the first column; needed for who has no tie"
    )
    parser.add_argument("--k", type=int, help="people who share each degree, at least")
    parser.add_argument("--out", type=Path, help="folder for the published edge list")
    parser.add_argument(
        "--names",
        type=Path,
        help="write who has which published number; keep it private, since it undoes the release",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def network(options: argparse.Namespace) -> int:
    """Attack a network by its degrees, and publish one that hides them; return the exit status."""
    import secrets
    from dataclasses import asdict

    from anon_core.base.errors import BadPlan
    from anon_core.base.private_file import write_private
    from anon_core.methods.other_data import networks as found_by
    from anon_core.pipeline.publish.release_folder import write_release

    k = 0 if options.k is None else int(options.k)
    if bool(options.out) != (options.k is not None) or (options.names and not options.out):
        raise BadPlan(
            "--k and --out belong together, and --names to them.",
            remedy="Name both to publish, or neither to attack the network as it is.",
        )
    if options.out and k < 2:
        raise BadPlan(f"k is {k}; 1 hides no one.", remedy="Use k = 2 or more.")
    lines = _columns(options.edges, 2)
    people = [row[0] for row in _columns(options.people, 1)] if options.people else []
    given = found_by.read_edges([(one, other) for one, other in lines], people)
    everyone = len(given.names)
    before = found_by.degree_attack(given.degrees(), everyone)
    told = {
        "people": everyone,
        "ties": len(given.edges),
        "loops_dropped": given.loops,
        "repeats_dropped": given.repeats,
        "before": {n: _plain(v) for n, v in asdict(before).items()},
    }
    say = [
        f"{everyone:,} people, {len(given.edges):,} ties; {given.loops:,} loops and "
        f"{given.repeats:,} repeats were dropped.",
        f"Someone who knows a person's number of ties finds {before.unique:,} for certain, and "
        f"anyone with a chance of {float(before.mean):.1%} on average.",
    ]
    if options.out:
        pairs = [(one, other) for one, other in lines]
        made = found_by.publish(given, pairs, k, secrets.SystemRandom().shuffle)
        after, names = made.after, made.names
        write_release(options.out, {"edges.csv": made.text.encode()})
        if options.names:
            write_private(options.names, written([("name", "number"), *names.items()]).encode())
        new = len(made.grown.network.names) - everyone
        guess = made.guess
        liu = found_by.targets(given.degrees(), k, by_total=True)
        told |= {
            "new_vertices": new,
            "new_edges": len(made.grown.network.edges) - len(given.edges),
            "after": {n: _plain(v) for n, v in asdict(after).items()},
            "accusation": _plain(guess),
            "liu_terzi": {"cost": liu.total, "graphical": found_by.is_graphical(liu.of)},
            "verified": True,
        }
        say += [
            f"With {new:,} new vertices and {told['new_edges']:,} new edges each degree is that of "
            f"{after.least:,} people at least, and the chance is {float(after.mean):.1%}.",
            f"New vertices share one degree: that such a vertex is new is right with a chance of "
            f"{float(guess):.1%}. Neighbourhoods of more than one person are not hidden.",
        ]
    if options.json:
        write_json({"schema": 1, **told})
        return OK
    for line in say:
        tell(line)
    return OK


def _plain(value: object) -> object:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value


def written(lines: Sequence[Sequence[str]]) -> str:
    """Return lines as CSV."""
    import csv
    import io

    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


def _columns(path: Path, wide: int) -> list[tuple[str, ...]]:
    from anon_core.base.errors import BadInput
    from anon_core.data.reading.any_format import read_table

    table = read_table(path)
    if len(table.columns) < wide:
        raise BadInput(
            f"{path} has {len(table.columns)} column; {wide} are needed.",
            remedy="Use a table with a header and a tie in each line.",
        )
    return columns_of(table, path, wide)


def columns_of(table: Dataset, path: Path, wide: int) -> list[tuple[str, ...]]:
    """Return the lines of the first columns as they were read; none may be missing."""
    from anon_core.base.errors import BadInput

    for column in table.columns[:wide]:
        if column.missing:
            raise BadInput(
                f"Missing values of '{column.name}' of {path}: {column.missing:,}.",
                remedy="Fill in every cell; a person without ties is listed with --people.",
            )
    return table.lines(table.names[:wide])
