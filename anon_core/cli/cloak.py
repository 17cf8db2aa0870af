"""`cloak`: boxes instead of the places that people ask from, and who could have sent each."""

from __future__ import annotations

import argparse
from pathlib import Path

from anon_core.cli.output import OK, tell, write_json


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from anon_core.methods.other_data.cloaks import TECHNIQUES

    parser.add_argument(
        "places",
        type=Path,
        help="table of person, x and y; for cliques, also each person's k and tolerance",
    )
    parser.add_argument("--k", type=int, help="least number of people who could have sent each box")
    parser.add_argument(
        "--method",
        choices=TECHNIQUES,
        help="one method; by default, every method that the table allows is attacked",
    )
    parser.add_argument(
        "--area",
        metavar="X,Y,X,Y",
        help="left, lower, right and upper edge of the area that quadtree and pyramid divide",
    )
    parser.add_argument("--levels", type=int, help="how often the area is halved (default 16)")
    parser.add_argument("--out", type=Path, help="folder for the boxes, without names")
    parser.add_argument(
        "--names",
        type=Path,
        help="write who has which box; keep it private, since it undoes the release",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=cloak)


def cloak(options: argparse.Namespace) -> int:
    """Compute boxes, invert them, and publish those of one method; return the exit status."""
    from anon_core.base.private_file import write_private
    from anon_core.data.reading.any_format import read_table
    from anon_core.methods.other_data import cloaks, places
    from anon_core.pipeline.publish.release_folder import write_release

    asked = cloaks.read_asked(read_table(options.places), str(options.places))
    area = cloaks.read_area(options.area, "--area") if options.area is not None else None
    own = bool(asked.requests)
    _refuse_contradictions(options, cliques=own)
    k = int(options.k or 0)
    made: list[cloaks.Cloaked] = []
    for name in ["cliques"] if own else places.METHODS:
        if options.method in (None, name) and (own or area or not places.METHODS[name][1]):
            levels = places.LEVELS if options.levels is None else int(options.levels)
            made.append(cloaks.cloaked(asked, name, k, area=area, levels=levels))
    methods: dict[str, object] = {}
    say: list[str] = []
    for one in made:
        attack, name = one.attack, one.technique
        facts: dict[str, object] = {
            "boxes": len({*one.boxes.values()}),
            "expired": one.expired,
            "fewest_inside": attack.inside,
            "fewest_senders": attack.least,
            "boxes_of_one_sender": attack.found,
            "exposed": attack.exposed,
            "mean_chance": str(attack.mean),
            "mean_area": float(attack.area),
        }
        if options.show_values:
            facts["cloaks"] = {n: cloaks.edges(box) for n, box in one.boxes.items()}
            facts["senders"] = [
                {"box": cloaks.edges(box), "people": people}
                for box, people in places.senders(one.boxes).items()
            ]
        methods[name] = facts
        gone = f"; requests that expired: {one.expired:,}" if own else ""
        say.append(
            f"{name}: fewest people in a box {attack.inside:,}; fewest who could have sent it "
            f"{attack.least:,}; exposed {attack.exposed:,} of {len(one.boxes):,}; a guess of the "
            f"sender is right with a chance of {float(attack.mean):.1%}{gone}."
        )
    more: dict[str, object] = {}
    if options.out:
        text, names = cloaks.published(asked, made[0], k)
        write_release(options.out, {"cloaks.csv": text.encode()})
        if options.names:
            write_private(options.names, names.encode())
        more = {"verified": True}
        say.append("One box per request is published, in order. All were recomputed.")
    if options.json:
        write_json({"schema": 1, "people": len(asked.texts), "methods": methods, **more})
        return OK
    for line in say:
        tell(line)
    if not own and options.method is None and area is None:
        tell("quadtree and pyramid need an area: set it with --area.")
    return OK


def _refuse_contradictions(options: argparse.Namespace, *, cliques: bool) -> None:
    from anon_core.base.errors import BadPlan

    method = options.method or ("cliques" if cliques else None)
    why = remedy = ""
    if cliques and (options.k is not None or method != "cliques"):
        why = "The table gives everyone a k and a tolerance, which only cliques use."
        remedy = "Leave out --k and other methods, or the last two columns."
    elif method == "cliques" and not cliques:
        why = "Cliques need a k and a tolerance for every request."
        remedy = "Use a table of person, x, y, k and tolerance."
    elif options.out and method is None:
        why, remedy = "--out publishes one method's boxes.", "Name it with --method."
    elif options.names and not options.out:
        why, remedy = "--names belongs to --out.", "Name both, or neither."
    elif method in ("quadtree", "pyramid") and options.area is None:
        why = f"{method} divides an area, and none is named."
        remedy = (
            "Set one with --area, such as 0,0,8,8; an area computed from the people reveals them."
        )
    elif method in ("nearest", "cliques") and (options.area or options.levels is not None):
        why, remedy = f"{method} has no area and no levels.", "Leave them out."
    elif not cliques and (options.k is None or options.k < 2):
        found = "is missing" if options.k is None else f"is {options.k}, which hides no one"
        why, remedy = f"--k {found}.", "Use k = 2 or more."
    elif options.levels is not None and not 1 <= options.levels <= 30:
        why, remedy = f"--levels is {options.levels}; 1 to 30 are allowed.", "Use 16."
    if why:
        raise BadPlan(why, remedy=remedy)
