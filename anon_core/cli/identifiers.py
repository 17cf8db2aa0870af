"""`identifiers` and `safe-harbor`: what identifies in a table, before any column has a role."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from anon_core.base.errors import listing
from anon_core.cli.output import OK, tell, write_json


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--data", type=Path, required=True, help="the table")
    parser.add_argument(
        "--person", default="", metavar="COLUMN", help="ID column if a person has several rows"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time limit; the sets found by then are listed"
    )
    parser.add_argument(
        "--roles", action="store_true", help="add a suggested role for each column, with the reason"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=identifiers)


def identifiers(options: argparse.Namespace) -> int:
    """List the smallest sets of columns that identify; return the exit status."""
    from anon_core.base.context import Context, now
    from anon_core.data.identifying_sets import SEPARATES, identifying_sets
    from anon_core.data.reading.any_format import read_table
    from anon_core.data.roles.suggestions import suggested

    table = read_table(options.data)
    roles = suggested(table) if options.roles else ()
    context = Context(deadline=now() + options.seconds)
    found = identifying_sets(table, person=options.person, context=context)
    if options.json:
        suggestions = {"suggested_roles": [asdict(one) for one in roles]} if options.roles else {}
        write_json({"schema": 1, **asdict(found), **suggestions})
        return OK
    for one in found.sets:
        idle = f"; {', '.join(one.adds_nothing)} adds nothing" if one.adds_nothing else ""
        among = f" of {table.rows:,}" if found.counted == "rows" else ""
        tell(
            f"{', '.join(one.columns)}: distinguishes {one.separation or 0:.1%} of all pairs of "
            f"{found.counted}; {one.uniques:,}{among} {found.counted} are unique{idle}."
        )
    if not found.sets:
        tell(f"No set of columns distinguishes {SEPARATES:.0%} of all pairs of {found.counted}.")
    tell(f"{found.looked:,} sets were looked at; every set of up to {found.size} columns is known.")
    for one in roles:
        tell(f"{one.name}: {one.role}. {one.reason}")
    return OK


def declare_safe_harbor(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--data", type=Path, required=True, help="the table, or a release")
    parser.add_argument(
        "--year", type=int, help="the year up to which ages are counted; else the present one"
    )
    parser.add_argument(
        "--small-areas",
        metavar="ZIP3,...",
        help="three-digit ZIP areas of 20,000 people or fewer, instead of the list of 2000",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=list_safe_harbor)


def list_safe_harbor(options: argparse.Namespace) -> int:
    """List the 18 kinds of identifiers with what the table shows; return the exit status."""
    from datetime import UTC, datetime

    from anon_core.data.reading.any_format import read_table
    from anon_core.data.roles.safe_harbor import FREE, SMALL_AREAS, free_texts, safe_harbor

    year = options.year or datetime.now(UTC).year
    areas = options.small_areas.split(",") if options.small_areas else sorted(SMALL_AREAS)
    table = read_table(options.data)
    kinds, free = safe_harbor(table, year=year, small_areas=areas), free_texts(table)
    if options.json:
        listed = [asdict(kind) for kind in kinds]
        about = {"schema": 1, "year": year, "small_areas": list(areas), "free_texts": list(free)}
        write_json({**about, "kinds": listed})
        return OK
    for kind in kinds:
        named = ", ".join(f"{c.column} (by {c.by}, {c.share:.0%} of values)" for c in kind.columns)
        tell(f"{kind.letter}. {kind.title}: {kind.state}{f': {named}' if named else ''}")
    if free:
        tell(f"{FREE}: {listing(free)}.")
    tell("A list of what is found, not a judgement; expert knowledge of the data goes beyond it.")
    return OK
