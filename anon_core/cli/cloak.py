"""`cloak`: boxes instead of the places that people ask from, and who could have sent each."""

from __future__ import annotations

import argparse
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.cli.output import OK, tell, write_json

if TYPE_CHECKING:  # what a command needs is loaded when it is given
    from anon_core.methods.other_data.places import Box, InversionAttack, Place, Request

_METHODS = ("quadtree", "pyramid", "nearest", "reciprocal", "cliques")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "places",
        type=Path,
        help="table of person, x and y; for cliques also the person's own k and tolerance",
    )
    parser.add_argument("--k", type=int, help="people who could have sent each box, at least")
    parser.add_argument(
        "--method", choices=_METHODS, help="one alone; else each that the table allows is attacked"
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


def cloak(options: argparse.Namespace) -> int:
    """Compute boxes, invert them, and publish those of one method; return the exit status."""
    from anon_core.base.errors import Infeasible, NotVerified
    from anon_core.base.private_file import write_private
    from anon_core.cli.network import written
    from anon_core.methods.other_data import places as found_by
    from anon_core.pipeline.publish.release_folder import write_release
    from anon_core.verification.other_data import cloak_checks

    texts, requests = _requests(options.places, options)
    area = _area(options.area) if options.area is not None else None
    levels = found_by.LEVELS if options.levels is None else int(options.levels)
    _refuse_contradictions(options, cliques=bool(requests))
    places = {name: _place(own) for name, own in texts.items()}
    asked = {n: r.k for n, r in requests.items()} or dict.fromkeys(places, int(options.k or 0))
    made: dict[str, dict[str, Box]] = {}
    attacks: dict[str, InversionAttack] = {}
    if requests:
        made["cliques"] = found_by.cliques(requests)
    for name, (method, needs_area) in found_by.METHODS.items() if not requests else ():
        if options.method not in (None, name) or (needs_area and area is None):
            continue
        more = {} if name == "nearest" else {"area": area, "levels": levels}
        made[name] = method(places, int(options.k), **more)
    told: dict[str, object] = {"people": len(places), "methods": {}}
    say: list[str] = []
    for name, boxes in made.items():
        attack = attacks[name] = found_by.inversion_attack(boxes, places, asked)
        facts: dict[str, object] = {
            "boxes": len({*boxes.values()}),
            "expired": len(places) - len(boxes),
            "fewest_inside": attack.inside,
            "fewest_senders": attack.least,
            "boxes_of_one_sender": attack.found,
            "exposed": attack.exposed,
            "mean_chance": str(attack.mean),
            "mean_area": float(attack.area),
        }
        if options.show_values:
            facts["cloaks"] = {n: _texts(box) for n, box in boxes.items()}
            facts["senders"] = [
                {"box": _texts(box), "people": people}
                for box, people in found_by.senders(boxes).items()
            ]
        told["methods"] |= {name: facts}  # type: ignore[operator]
        gone = f"; requests that expired: {facts['expired']:,}" if requests else ""
        say.append(
            f"{name}: fewest people in a box {attack.inside:,}; fewest who could have sent it "
            f"{attack.least:,}; exposed {attack.exposed:,} of {len(boxes):,}; a guess of the "
            f"sender is right with a chance of {float(attack.mean):.1%}{gone}."
        )
    if options.out:
        ((name, boxes),) = made.items()
        attack = attacks[name]
        if attack.exposed or not boxes:
            raise Infeasible(
                f"Boxes of {name} have {attack.inside:,} people or more inside, but the fewest "
                f"who could have sent one are {attack.least:,}; exposed: {attack.exposed:,} of "
                f"{len(boxes):,}. Nothing was released."
                if boxes
                else "No request found others within its tolerance. Nothing was released.",
                remedy="Use --method reciprocal, whose boxes k people could have sent."
                if boxes
                else "Raise tolerances, or lower k.",
                best=float(attack.least),
                best_of="possible senders",
            )
        own = {n: tuple(_texts(box)) for n, box in boxes.items()}
        text = written([("left", "lower", "right", "upper"), *sorted(own.values())])
        broken = [c.sentence for c in cloak_checks(text, texts, own, asked) if not c.holds]
        if broken:
            raise NotVerified(
                f"Verification failed: {' '.join(broken)} Nothing was released.",
                remedy="Please report it; this is an error of the workbench.",
            )
        write_release(options.out, {"cloaks.csv": text.encode()})
        if options.names:
            head = ("name", "left", "lower", "right", "upper")
            rows = [(n, *box) for n, box in sorted(own.items())]
            write_private(options.names, written([head, *rows]).encode())
        told["verified"] = True
        say.append("Boxes are published in their order, one a request, and were recomputed.")
    if options.json:
        write_json({"schema": 1, **told})
        return OK
    for line in say:
        tell(line)
    if not requests and options.method is None and area is None:
        tell("quadtree and pyramid divide an area: name it with --area.")
    return OK


def _refuse_contradictions(options: argparse.Namespace, *, cliques: bool) -> None:
    from anon_core.base.errors import BadPlan

    method = options.method or ("cliques" if cliques else None)
    why = remedy = ""
    if options.out and method is None:
        why, remedy = "--out publishes one method's boxes.", "Name it with --method."
    elif options.names and not options.out:
        why, remedy = "--names belongs to --out.", "Name both, or neither."
    elif method in ("quadtree", "pyramid") and options.area is None:
        why = f"{method} divides an area, and none is named."
        remedy = "Name one with --area, such as 0,0,8,8; one taken from the people betrays them."
    elif method in ("nearest", "cliques") and (options.area or options.levels is not None):
        why, remedy = f"{method} has no area and no levels.", "Leave them out."
    elif not cliques and (options.k is None or options.k < 2):
        found = "is missing" if options.k is None else f"is {options.k}, which hides no one"
        why, remedy = f"--k {found}.", "Use k = 2 or more."
    elif options.levels is not None and not 1 <= options.levels <= 30:
        why, remedy = f"--levels is {options.levels}; 1 to 30 are allowed.", "Use 16."
    if why:
        raise BadPlan(why, remedy=remedy)


def _requests(
    path: Path, options: argparse.Namespace
) -> tuple[dict[str, tuple[str, str]], dict[str, Request]]:
    """Return each person's place as text, and the requests where everyone has a k of their own."""
    from anon_core.base.errors import BadInput, BadPlan
    from anon_core.cli.network import columns_of
    from anon_core.data.reading.any_format import read_table
    from anon_core.methods.other_data.places import Request

    table = read_table(path)
    wide = len(table.columns)
    if wide not in (3, 5):
        raise BadInput(
            f"{path} has {wide} columns; 3 are needed (person, x, y), or 5 (also k, tolerance).",
            remedy="Leave out other columns.",
        )
    own_k = wide == 5
    if own_k and (options.k is not None or options.method not in (None, "cliques")):
        raise BadPlan(
            "The table gives everyone a k and a tolerance, which cliques alone read.",
            remedy="Leave out --k and other methods, or the last two columns.",
        )
    if options.method == "cliques" and not own_k:
        raise BadPlan(
            "Cliques need a k and a tolerance for every request.",
            remedy="Use a table of person, x, y, k and tolerance.",
        )
    lines = columns_of(table, path, wide)
    rows = Counter(line[0] for line in lines)
    if len(rows) < len(lines):
        raise BadInput(
            f"{path} has {len(lines) - len(rows):,} rows too many: its persons are to be "
            "different, since boxes of one person intersect.",
            remedy="Use a table of one moment, with a row for each person.",
            values=sorted(name for name, number in rows.items() if number > 1),
        )
    for place, column in enumerate(table.names):
        if place:
            bad = sorted({line[place] for line in lines if _number(line[place]) is None})
            if bad:
                raise BadInput(
                    f"Values of '{column}' of {path} that are no number: {len(bad):,}.",
                    remedy="Write coordinates as plain numbers with a point.",
                    values=bad,
                )
    texts = {line[0]: (line[1], line[2]) for line in lines}
    found: dict[str, Request] = {}
    for name, x, y, *more in lines if own_k else ():
        k, tolerance = map(Fraction, more)
        if k.denominator != 1 or k < 2 or tolerance < 0:
            raise BadInput(
                f"A request has k = {k} and the tolerance {tolerance}; k is a whole number from 2 "
                "up, and a tolerance is not negative.",
                remedy="Correct the table.",
            )
        found[name] = Request(at=_place((x, y)), k=int(k), tolerance=tolerance)
    return texts, found


def _number(text: str) -> Fraction | None:
    import re

    return Fraction(text) if re.fullmatch(r"[+-]?\d{1,15}(\.\d{1,15})?", text) else None


def _place(own: tuple[str, str]) -> Place:
    return Fraction(own[0]), Fraction(own[1])


def _area(text: str) -> Box:
    from anon_core.base.errors import BadPlan, brief

    ends = [_number(part.strip()) for part in text.split(",")]
    left, lower, right, upper = ends if len(ends) == 4 else (None,) * 4
    if left is None or lower is None or right is None or upper is None:
        raise BadPlan(f"--area is {brief(text)}; four numbers are needed.", remedy="Use 0,0,8,8.")
    if left >= right or lower >= upper:
        raise BadPlan(f"--area {brief(text)} is empty.", remedy="Name left, lower, right, upper.")
    return left, lower, right, upper


def _texts(box: Box) -> list[str]:
    """Return edges as decimals, which they are: coordinates of the table, or halves of the area."""
    from decimal import Decimal, localcontext

    with localcontext(prec=80):
        return [f"{(Decimal(e.numerator) / e.denominator).normalize():f}" for e in box]
