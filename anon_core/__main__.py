"""The command line: list what there is, run a recipe, verify a release.

Exit status: 0 released and verified, or the release holds; 1 error; 2 infeasible (with the best
value reached); 3 the release breaks a promise; 4 the input changed against the recipe.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import AnonError, Infeasible, InputChanged
from .registry import FAMILIES, family

OK, ERROR, INFEASIBLE, BROKEN, CHANGED = 0, 1, 2, 3, 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors go to standard error, without traceback."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except AnonError as error:
        sys.stderr.write(error.full_text(show_values=getattr(options, "show_values", False)) + "\n")
        status = _status(error)
        if getattr(options, "json", False):
            _write_json({"schema": 1, "status": _STATUS_WORDS[status], "error": str(error)} | _best(error))
        return status
    except OSError as error:
        sys.stderr.write(f"{error.filename or 'A file'} cannot be used: {error.strerror}. Check the path.\n")
        return ERROR
    except Exception as error:  # noqa: BLE001 - the last door: a traceback could show cell values
        where = traceback.extract_tb(error.__traceback__)[-1]
        sys.stderr.write(
            f"An error of the workbench itself: {type(error).__name__} in {Path(where.filename).name}, "
            f"line {where.lineno}. Nothing was released; please report it with the recipe.\n"
        )
        return ERROR


_STATUS_WORDS = {ERROR: "error", INFEASIBLE: "infeasible", CHANGED: "input changed"}


def _status(error: AnonError) -> int:
    if isinstance(error, Infeasible):
        return INFEASIBLE
    return CHANGED if isinstance(error, InputChanged) else ERROR


def _best(error: AnonError) -> dict[str, Any]:
    return {"best": error.best} if isinstance(error, Infeasible) else {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m anon_core", description="Anonymize a table and keep the evidence."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    show = commands.add_parser("list", help="every algorithm, privacy model, metric and attack")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(command=_list)
    carry = commands.add_parser("run", help="carry out a recipe and write the verified release")
    carry.add_argument("recipe", type=Path)
    carry.add_argument("--data", type=Path, required=True, help="table: CSV, CSV.gz or Parquet")
    carry.add_argument("--out", type=Path, required=True, help="folder the release is written to")
    carry.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    carry.set_defaults(command=_run)
    check = commands.add_parser("verify", help="recompute every promise from a published release")
    check.add_argument("recipe", type=Path)
    check.add_argument("--data", type=Path, required=True, help="the private table")
    check.add_argument("--release", type=Path, required=True, help="folder with the release")
    check.add_argument("--json", action="store_true", help="print the checks as one JSON object")
    check.set_defaults(command=_verify)
    for command in (carry, check):
        command.add_argument(
            "--show-values", action="store_true", help="let messages show cell values"
        )
    return parser


def _list(options: argparse.Namespace) -> int:
    known = {
        which: [
            {
                "name": technique.name,
                "title": technique.title,
                "summary": technique.summary,
                "formula": technique.formula,
                "source": technique.source,
                "parameters": [p.as_json() for p in technique.parameters()],
            }
            for technique in family(which).values()
        ]
        for which in FAMILIES
    }
    if options.json:
        _write_json({"schema": 1, **{f"{which}s": found for which, found in known.items()}})
        return OK
    for which, found in known.items():
        sys.stdout.write(f"{which}s\n")
        for technique in found:
            sys.stdout.write(f"  {technique['name']}: {technique['summary']}\n")
            for p in technique["parameters"]:
                sys.stdout.write(f"      {p['name']} (default {p['default']!r}): {p['help']}\n")
    return OK


def _run(options: argparse.Namespace) -> int:
    from .plan import load_hierarchies, read_plan
    from .reading import read_table
    from .runner import run

    plan = read_plan(options.recipe)
    folder = options.recipe.parent
    dataset = read_table(options.data, plan.data)
    population = read_table(folder / plan.population_file) if plan.population_file else None
    result = run(plan, dataset, load_hierarchies(plan, folder), population=population)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, content in (("release.csv", result.csv), ("release.parquet", result.parquet)):
        part = options.out / f".{name}.part"
        part.write_bytes(content)
        part.replace(options.out / name)  # a reader sees the whole file or none
    if options.json:
        digest = hashlib.sha256(options.data.read_bytes()).hexdigest()
        _write_json(result.as_json(digest))
    else:
        for check in result.verification.checks:
            sys.stdout.write(check.sentence + "\n")
        sys.stdout.write(f"{result.release.view.rows} rows written to {options.out}.\n")
    return OK


def _verify(options: argparse.Namespace) -> int:
    from .verify import verify_files

    found = verify_files(options.recipe, options.data, options.release)
    if options.json:
        _write_json({"schema": 1, **found.as_json()})
    else:
        for check in found.checks:
            sys.stdout.write(f"{'holds ' if check.holds else 'BROKEN'}  {check.name}: {check.sentence}\n")
    return OK if found.holds else BROKEN


def _write_json(value: dict[str, Any]) -> None:
    json.dump(value, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    sys.exit(main())
