"""`network`: what a known number of ties finds, and a network with vertices that hide it."""

from __future__ import annotations

import argparse
from pathlib import Path

from anon_core.cli.output import OK, tell, write_json


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("edges", type=Path, help="edge list: two columns, one tie per line")
    parser.add_argument(
        "--people",
        type=Path,
        help="all people, in the first column; needed for people without ties",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        help="people and their labels, in two columns: others know labels, and those of neighbours",
    )
    parser.add_argument("--k", type=int, help="least number of people who share each degree")
    parser.add_argument("--out", type=Path, help="folder for the published edge list")
    parser.add_argument(
        "--names",
        type=Path,
        help="write who has which published number; keep it private, since it undoes the release",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=network)


def network(options: argparse.Namespace) -> int:
    """Attack a network by its degrees, and publish one that hides them; return the exit status."""
    import secrets
    from dataclasses import asdict

    from anon_core.base.errors import BadPlan
    from anon_core.base.private_file import write_private
    from anon_core.methods.other_data import networks as found_by
    from anon_core.methods.other_data import shared_degrees, written
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
    label_of: dict[str, str] = {}
    if options.labels:
        said = [(name, label) for name, label in _columns(options.labels, 2)]
        label_of = found_by.read_labels(said, str(options.labels))
    given = found_by.read_edges([(one, other) for one, other in lines], [*people, *label_of])
    everyone = len(given.names)
    labels = found_by.labels_of(given, label_of) if label_of else []
    before = found_by.degree_attack(found_by.classes_of(given, labels), everyone)
    known = "label and those of neighbours" if labels else "number of ties"
    summary = {
        "people": everyone,
        "ties": len(given.edges),
        "loops_dropped": given.loops,
        "repeats_dropped": given.repeats,
        "before": {n: _plain(v) for n, v in asdict(before).items()},
    }
    say = [
        f"{everyone:,} people, {len(given.edges):,} ties; {given.loops:,} loops and "
        f"{given.repeats:,} repeats were dropped.",
        f"Someone who knows a person's {known} finds {before.unique:,} for certain, and "
        f"anyone with a chance of {float(before.mean):.1%} on average.",
    ]
    if options.out:
        pairs = [(one, other) for one, other in lines]
        made = found_by.publish(given, pairs, k, secrets.SystemRandom().shuffle, label_of)
        after, names = made.after, made.names
        write_release(options.out, {n: text.encode() for n, text in made.files.items()})
        if options.names:
            write_private(options.names, written([("name", "number"), *names.items()]).encode())
        new = len(made.grown.network.names) - everyone
        guess = made.guess
        liu = shared_degrees.targets(given.degrees(), k, by_total=True)
        summary |= {
            "new_vertices": new,
            "new_edges": len(made.grown.network.edges) - len(given.edges),
            "after": {n: _plain(v) for n, v in asdict(after).items()},
            "accusation": _plain(guess),
            "liu_terzi": {"cost": liu.total, "graphical": shared_degrees.is_graphical(liu.of)},
            "recognised": made.recognised,
            "verified": True,
        }
        say += [
            f"With {new:,} new vertices and {summary['new_edges']:,} new edges, at least "
            f"{after.least:,} people share each {known}, and the chance is "
            f"{float(after.mean):.1%}.",
            f"That a vertex is new whose {known} a new one has is right with a chance of "
            f"{float(guess):.1%}. Neighbourhoods of more than one person are not hidden.",
        ]
        if made.recognised:
            say.append(
                f"{made.recognised:,} new vertices are recognised, since fewer than {k:,} are like "
                "them. Without these, people are less alike."
            )
    if options.json:
        write_json({"schema": 1, **summary})
        return OK
    for line in say:
        tell(line)
    return OK


def _plain(value: object) -> object:
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value


def _columns(path: Path, wide: int) -> list[tuple[str, ...]]:
    from anon_core.base.errors import BadInput
    from anon_core.data.reading.any_format import read_table
    from anon_core.methods.other_data import complete_lines

    table = read_table(path)
    if len(table.columns) < wide:
        raise BadInput(
            f"{path} has {len(table.columns)} column; {wide} are needed.",
            remedy="Use a table with a header, and two columns of it.",
        )
    return complete_lines(
        table, str(path), wide, remedy="Fill in every cell; list people without ties with --people."
    )
