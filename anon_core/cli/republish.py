"""`views` and `republish`: a table that is published more than once."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.cli.output import NOT_FOUND, OK, tell, write_json

if TYPE_CHECKING:  # what a command needs is loaded when it is given
    from anon_core.methods.consistent_tables.views import Projection


def declare_views(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("views", type=Path, nargs="+", help="the published tables")
    parser.add_argument("--person", default="", metavar="COLUMN", help="column that names persons")
    parser.add_argument(
        "--about", default="", metavar="COLUMN", help="column whose values must not be learned"
    )
    parser.add_argument(
        "--joined-by",
        default="",
        metavar="COLUMN",
        help="pseudonym that the tables share: count the persons who fit all of its rows",
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time limit; what is left is undecided"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=views)


def views(options: argparse.Namespace) -> int:
    """Say what views of one table leave open together; return the exit status."""
    from anon_core.base.context import Context, now
    from anon_core.base.errors import BadPlan
    from anon_core.methods.consistent_tables.views import candidates, joined_by

    both = bool(options.person) and bool(options.about)
    if bool(options.joined_by) == both or bool(options.person) != bool(options.about):
        raise BadPlan(
            "Either --person and --about, or --joined-by, is needed.",
            remedy="Name the person's column and the one to protect, or the shared pseudonym.",
        )
    given = [_projection(path) for path in options.views]
    if options.joined_by:
        joined = joined_by(given, options.joined_by)
        if options.json:
            write_json({"schema": 1, "by_row": dict(joined.by_row), "joined": joined.all_rows})
            return OK
        for name, least in joined.by_row.items():
            tell(f"Fewest persons who have one row of {name}: {least:,}.")
        tell(f"Fewest persons who have all rows of one pseudonym: {joined.all_rows:,}.")
        return OK
    context = Context(deadline=now() + options.seconds)
    found = candidates(given, options.person, options.about, context)
    left = sum(map(len, found.open.values()))
    sizes = Counter(map(len, found.possible.values()))
    if options.json:
        write_json(
            {
                "schema": 1,
                "k": {"least": found.least, "most": found.most},
                "persons_by_values": {str(n): sizes[n] for n in sorted(sizes)},
                "undecided": left,
                "one_table": found.one_table,
                **(
                    {"possible": {p: sorted(v) for p, v in sorted(found.possible.items())}}
                    if options.show_values
                    else {}
                ),
            }
        )
        return NOT_FOUND if left else OK
    if found.one_table:
        tell(f"Only one table fits all {len(given)} views: everything is disclosed.")
    for size in sorted(sizes):
        who = "1 person has" if sizes[size] == 1 else f"{sizes[size]:,} persons have"
        tell(f"{who} {size:,} possible value{'s' * (size > 1)} of '{options.about}'.")
    if options.show_values:
        for person, own in sorted(found.possible.items()):
            tell(f"{person}: {', '.join(sorted(own))}")
    if left:
        tell(f"Of {left:,} values it was not decided in time whether a person may have them.")
    upto = "" if found.most == found.least else f" to {found.most}"
    tell(f"k over the join: {found.least}{upto}.")
    return NOT_FOUND if left else OK


def _projection(path: Path) -> Projection:
    from anon_core.data.reading.any_format import read_table
    from anon_core.methods.consistent_tables.views import Projection

    table = read_table(path)
    rows = Counter(table.lines(table.names))
    return Projection(name=path.name, columns=table.names, rows=rows)


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--data", type=Path, required=True, help="the table as it is now")
    parser.add_argument("--person", required=True, metavar="COLUMN", help="column of persons")
    parser.add_argument("--sensitive", required=True, metavar="COLUMN", help="column to protect")
    parser.add_argument(
        "--quasi", required=True, metavar="COLUMN,...", help="columns that others know"
    )
    parser.add_argument(
        "--m", type=int, default=3, help="least number of different values in a group"
    )
    parser.add_argument(
        "--state",
        type=Path,
        required=True,
        help="file that keeps everyone's signature from release to release; keep it private",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the release")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=republish)


def republish(options: argparse.Namespace) -> int:
    """Publish a table again with m-invariance; return the exit status."""
    from anon_core.base.private_file import write_private
    from anon_core.methods.bucketized.m_invariance import Republication
    from anon_core.pipeline.publish.release_folder import write_release

    quasi = [name for name in options.quasi.split(",") if name]
    asked = Republication(
        person=options.person, sensitive=options.sensitive, quasi=tuple(quasi), m=options.m
    )
    before = asked.read(options.state)
    rows = _rows(options.data, [options.person, options.sensitive, *quasi])
    made = asked.publish(rows, before)
    staged = options.state.with_name(options.state.name + ".new")
    write_private(staged, made.state.as_json().encode())
    write_release(options.out, {n: text.encode() for n, text in made.files.items()})
    staged.replace(options.state)
    facts = {
        "release": made.state.releases,
        "rows": made.rows,
        "persons": len(rows),
        "counterfeits": made.rows - len(rows),
        "groups": len({*made.group_of.values()}),
        "returned": sum(r[options.person] in before.signatures for r in rows),
        "surest": made.surest,
    }
    if options.json:
        write_json({"schema": 1, "verified": True, **facts})
        return OK
    tell(
        f"Release {facts['release']}: {facts['persons']:,} persons in {facts['groups']:,} groups, "
        f"{facts['counterfeits']:,} counterfeit rows; {facts['returned']:,} persons were published "
        "before and keep their values."
    )
    tell(
        "Over all releases, no one's value is guessed with a chance above "
        f"{made.surest:.1%}, even by someone who knows who is in which group, as long "
        "as no one's value changes."
    )
    return OK


def _rows(path: Path, names: list[str]) -> list[dict[str, str]]:
    from anon_core.base.errors import BadPlan, listing
    from anon_core.data.reading.any_format import read_table

    table = read_table(path)
    lacking = [n for n in names if n not in table.names]
    if lacking or len({*names}) < len(names):
        raise BadPlan(
            f"The table lacks {listing(lacking)}; it has {listing(table.names)}."
            if lacking
            else "A column is named twice.",
            remedy="Name different columns of the table.",
        )
    return [dict(zip(names, row, strict=True)) for row in table.lines(names)]
