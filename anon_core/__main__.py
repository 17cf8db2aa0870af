"""The command line: list what there is, run a recipe, verify a release.

Exit status: 0 released and verified, or the release holds; 1 error; 2 infeasible (with the best
value reached); 3 the release breaks a promise; 4 the input changed against the recipe; 130
stopped with Ctrl+C. What is asked for goes to standard output, messages to standard error.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from .errors import (
    AnonError,
    BadInput,
    BadPlan,
    Infeasible,
    InputChanged,
    listing,
    nearest,
)
from .registry import FAMILIES, family

if TYPE_CHECKING:
    import pyarrow as pa

    from .plan import Plan
    from .runner import Result
    from .table import Dataset
    from .verification.checks import Verification

OK, ERROR, INFEASIBLE, BROKEN, CHANGED, STOPPED = 0, 1, 2, 3, 4, 130
_WORDS = {
    ERROR: "error",
    INFEASIBLE: "infeasible",
    CHANGED: "input changed",
    STOPPED: "stopped",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; errors are told on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json, show_values = "--json" in given, "--show-values" in given
    try:
        options = _parser().parse_args(given)
        status = int(options.command(options))
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return _fail(STOPPED, "Stopped; nothing was released.", as_json=as_json)
    except AnonError as error:
        return _fail(
            _status(error),
            error.full_text(show_values=show_values),
            as_json=as_json,
            **(
                {"best": error.best, "best_of": error.best_of}
                if isinstance(error, Infeasible)
                else {}
            ),
        )
    except BrokenPipeError:
        # Whoever read the output has gone; at exit Python would complain that it cannot flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ERROR
    except OSError as error:
        place, why = (
            error.filename or "Standard output or a file",
            error.strerror or type(error).__name__,
        )
        return _fail(
            ERROR,
            f"{place} cannot be used: {why}. Check the path and the space left.",
            as_json=as_json,
        )
    except MemoryError:
        text = "There is not enough memory for this table. Use fewer columns or a larger machine."
        return _fail(ERROR, text, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the last door: a traceback could show cell values
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = (
            f"An error of the workbench itself: {type(error).__name__} in "
            f"{Path(where.filename).name}, line {where.lineno}. Nothing was released; please "
            f"report it with the recipe."
        )
        return _fail(ERROR, text, as_json=as_json)


def _fail(status: int, text: str, *, as_json: bool, **facts: object) -> int:
    sys.stderr.write(text + "\n")
    if as_json:
        from . import VERSION

        with suppress(OSError):  # standard output may be what failed; the message is out
            _write_json(
                {
                    "schema": 1,
                    "version": VERSION,
                    "status": _WORDS[status],
                    "verified": False,
                    "error": text,
                    **facts,
                }
            )
    return status


def _status(error: AnonError) -> int:
    if isinstance(error, Infeasible):
        return INFEASIBLE
    return CHANGED if isinstance(error, InputChanged) else ERROR


class _Parser(argparse.ArgumentParser):
    """Argparse would leave with status 2, which here says that a recipe is infeasible."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise BadPlan(f"{self.prog}: {message}.", remedy=f"See {self.prog} --help.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m anon_core", description="Anonymize a table and keep the evidence."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    show = commands.add_parser("list", help="every algorithm, privacy model, metric and attack")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(command=_list)
    carry = commands.add_parser("run", help="carry out a recipe and write the verified release")
    carry.add_argument("recipe", type=Path, help="what to do, as TOML")
    carry.add_argument("--data", type=Path, required=True, help="table: CSV, CSV.gz or Parquet")
    carry.add_argument("--out", type=Path, required=True, help="folder the release is written to")
    carry.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    carry.add_argument("--progress", action="store_true", help="name each stage as it begins")
    carry.set_defaults(command=_run)
    check = commands.add_parser("verify", help="recompute every promise from a published release")
    check.add_argument("recipe", type=Path, help="the recipe the release was made with")
    check.add_argument("--data", type=Path, required=True, help="the private table")
    check.add_argument("--release", type=Path, required=True, help="folder with the release")
    check.add_argument("--json", action="store_true", help="print the checks as one JSON object")
    check.set_defaults(command=_verify)
    ahead = commands.add_parser(
        "warm", help="compile the fast routines once, so that no run has to wait for them"
    )
    ahead.set_defaults(command=_warm)
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
        from . import VERSION

        found = {f"{which}s": techniques for which, techniques in known.items()}
        _write_json({"schema": 1, "version": VERSION, **found})
        return OK
    for which, found in known.items():
        sys.stdout.write(f"{which}s\n")
        for technique in found:
            sys.stdout.write(f"  {technique['name']}: {technique['summary']}\n")
            for p in cast(list[dict[str, Any]], technique["parameters"]):
                sys.stdout.write(f"      {p['name']} (default {p['default']!r}): {p['help']}\n")
    return OK


def _run(options: argparse.Namespace) -> int:
    from .context import Context
    from .plan import load_hierarchies, read_plan
    from .publish import as_parquet
    from .reading import DataOptions, read_table
    from .runner import run

    plan = read_plan(options.recipe)
    _refuse_out(options.out, options.data, plan.algorithm.publishes)
    folder = options.recipe.parent
    dataset = _read_as_declared(plan, options.data)
    population = None
    if plan.population_file:
        tokens = DataOptions(missing_values=plan.data.missing_values)
        population = read_table(folder / plan.population_file, tokens)
    context = Context(progress=_Stages()) if options.progress else Context()
    files: dict[str, bytes] = {}

    def verifier(texts: Mapping[str, bytes], tables: Mapping[str, pa.Table]) -> Verification:
        files.update(texts)
        files.update({f"{title}.parquet": as_parquet(table) for title, table in tables.items()})
        return _verify_written(options, files)

    result = run(
        plan,
        dataset,
        load_hierarchies(plan, folder),
        population=population,
        context=context,
        verifier=verifier,
    )
    _write_whole(options.out, files)
    if options.json:
        with options.data.open("rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        _write_json(result.as_json(digest))
    else:
        _tell(result, options.out)
    return OK


def _refuse_out(out: Path, data: Path, tables: Sequence[str]) -> None:
    """Refuse before the work what could not be written after it."""
    names = [f"{name}.{kind}" for name in tables for kind in ("csv", "parquet")]
    if out.exists() and not out.is_dir():
        raise BadPlan(f"{out} is a file, not a folder.", remedy="Name a folder for the release.")
    if data.resolve().parent == out.resolve() and data.name in names:
        raise BadPlan(
            f"The release would overwrite the table {data}.", remedy="Name another folder."
        )


def _read_as_declared(plan: Plan, path: Path) -> Dataset:
    """Read the table with the recipe's types; where they no longer fit, the input has changed."""
    from .reading import read_table

    dataset = read_table(path, plan.data)
    gone = [name for name in plan.types if name not in dataset.names]
    if gone:
        raise InputChanged(
            f"The table has no column {listing(gone)}, for which the recipe declares a type; it "
            f"has {listing(dataset.names)}.",
            remedy=f"Restore the column or change [types].{nearest(gone[0], dataset.names)}",
        )
    try:
        return dataset.with_kinds(plan.types)
    except BadInput as error:
        raise InputChanged(error.message, remedy=error.remedy, values=error.values) from error


def _verify_written(options: argparse.Namespace, files: Mapping[str, bytes]) -> Verification:
    """Verify the files as `verify` will, from the disk and with its own reader of the table."""
    from .verification.checks import verify_files

    with tempfile.TemporaryDirectory(prefix="anonymity-workbench-") as scratch:
        for name, content in files.items():
            (Path(scratch) / name).write_bytes(content)
        return verify_files(options.recipe, options.data, Path(scratch))


def _write_whole(out: Path, files: Mapping[str, bytes]) -> None:
    """Write every file beside its place, then put all in place: a release is never half new."""
    out.mkdir(parents=True, exist_ok=True)
    parts = {name: out / f".{name}.{os.getpid()}.part" for name in files}
    try:
        for name, part in parts.items():
            part.write_bytes(files[name])
        for name, part in parts.items():
            part.replace(out / name)
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _tell(result: Result, out: Path) -> None:
    for check in result.verification.checks:
        sys.stdout.write(check.sentence + "\n")
    for measure in result.measures.values():
        sys.stdout.write(f"{measure.metric}: {measure.value:.6g}\n")
    for attack in result.attacks:
        sys.stdout.write(f"{attack.attack}: {attack.sentence}\n")
    for caution in result.cautions:
        sys.stdout.write(f"Caution: {caution}\n")
    sys.stdout.write(f"{result.release.view.rows} rows written to {out}.\n")


class _Stages:
    """Progress for people: one line a stage on standard error."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, share: float, stage: str) -> None:
        if stage != self.last:
            self.last = stage
            sys.stderr.write(f"{share:4.0%} {stage}\n")


def _verify(options: argparse.Namespace) -> int:
    from .verification.checks import verify_files

    found = verify_files(options.recipe, options.data, options.release)
    if options.json:
        from . import VERSION

        status = "holds" if found.holds else "broken"
        _write_json({"schema": 1, "version": VERSION, "status": status, **found.as_json()})
    else:
        for check in found.checks:
            word = "holds " if check.holds else "BROKEN"
            sys.stdout.write(f"{word}  {check.name}: {check.sentence}\n")
    return OK if found.holds else BROKEN


def _warm(_options: argparse.Namespace) -> int:
    from .warming import tell_ahead

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()  # whoever started this waits for the line

    tell_ahead(write)
    return OK


def _write_json(value: Mapping[str, Any]) -> None:
    json.dump(_finite(value), sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


def _finite(value: object) -> object:
    """Return plain values with null for what JSON cannot say (infinite, not a number)."""
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in cast(Mapping[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in cast(Sequence[object], value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a console may not know '≥'
            cast(Any, stream).reconfigure(errors="backslashreplace")
    status = main()
    if status == STOPPED:
        # Where the interrupt fell into code that was compiled from text, Python remembers it as
        # unhandled and would leave with another status.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
