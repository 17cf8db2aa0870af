"""`run`: carry out a recipe, and write the release only where it verifies."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.base.errors import BadInput, BadPlan, clipped, listing
from anon_core.cli.key import declare_key, with_key
from anon_core.cli.output import LEFT_OVER, OK, Stages, note, remove_left_over, tell, write_json

if TYPE_CHECKING:
    import pyarrow as pa

    from anon_core.data.reading.stored import Stored
    from anon_core.data.table import Meaning
    from anon_core.pipeline.input_tables import Reader
    from anon_core.pipeline.publish.release_folder import Staged
    from anon_core.pipeline.result import Result
    from anon_core.recipe.plan import Plan
    from anon_core.verification.checks import Verification
    from anon_core.verification.rows.membership import Witness


#: Bytes of a table up to which memory is worth more than the time that Arrow's allocator saves.
_SMALL = 32 << 20


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("recipe", type=Path, help="the recipe (TOML)")
    parser.add_argument(
        "--data", type=Path, required=True, help="the table, or a folder of its parts"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the release")
    parser.add_argument(
        "--recipe-out",
        type=Path,
        help="write the complete recipe, with the secret seed, to this file; keep it private, "
        "since it reproduces the release and reverses its permutation",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print all figures as one JSON object, the secret seed included",
    )
    parser.add_argument(
        "--decided-out",
        type=Path,
        help="write a recipe that repeats this decision on the next table, without a search and "
        "without the secret",
    )
    parser.add_argument(
        "--then",
        type=Path,
        help="JSON of an earlier run (from --json); report what changed since then",
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "memory", "duckdb", "spark"),
        help="engine that holds the table; auto (default) chooses by size, and the release is "
        "identical",
    )
    parser.add_argument("--memory", metavar="SIZE", help='memory limit, such as "4GB"')
    parser.add_argument("--progress", action="store_true", help="name each stage as it begins")
    declare_key(parser)
    parser.set_defaults(command=run_recipe, reads_there=runs_there)


def run_recipe(options: argparse.Namespace) -> int:
    """Carry out a recipe, verify and write the release, and tell of it; return the exit status."""
    begun: list[Staged] = []
    try:
        return _carried_out(options, begun)
    except KeyboardInterrupt as error:
        if any(staged.in_place for staged in begun):
            place = clipped(str(options.out))
            error.args = (f"Stopped after the release was verified and written to {place}.",)
        raise


def _keep_little(data: Path) -> None:
    """Let Arrow give back what it frees, where a table is small: else it keeps some 30 MB."""
    import pyarrow as pa

    if data.is_file() and data.stat().st_size < _SMALL:
        pa.set_memory_pool(pa.system_memory_pool())


def _carried_out(options: argparse.Namespace, begun: list[Staged]) -> int:
    from anon_core.base.context import Context
    from anon_core.data.reading.stored import on_this_machine
    from anon_core.engines.engine_choice import chosen, opened
    from anon_core.pipeline.changes import refuse_no_key
    from anon_core.pipeline.figures import figures_of
    from anon_core.pipeline.input_tables import (
        read_alongside,
        read_as_declared,
        read_earlier,
        read_population,
        unchanged,
    )
    from anon_core.pipeline.measure.drift import drift
    from anon_core.pipeline.publish.file_formats import (
        file_names,
        in_one_piece,
        in_parts,
        published_formats,
        written,
    )
    from anon_core.pipeline.publish.release_folder import writing
    from anon_core.pipeline.publish.table_files import CLASS_WEIGHTS, digest_of, write_table
    from anon_core.pipeline.runner import run
    from anon_core.recipe.dialect import ENDING, spreadsheet_files
    from anon_core.recipe.plan import load_hierarchies, read_plan
    from anon_core.recipe.reuse import refuse_undecidable
    from anon_core.recipe.statistics_files import TYPED, typed_files
    from anon_core.verification.checks import verify_files
    from anon_core.verification.files.reading import read_table

    plan = with_key(_plan_of(options), options)
    plan.refuse_guessable()
    refuse_no_key(plan)
    engine = chosen(plan, options.data)
    if engine.name != "memory" or options.progress:
        sys.stderr.write(f"Engine: {engine.name}. {engine.why}\n")
    names = file_names(plan.algorithm.shape.tables, csv=plan.csv, parts=plan.parts)
    names += [
        f"{table}.{ending}" for table in plan.algorithm.shape.tables for ending in (ENDING, *TYPED)
    ]
    names += [CLASS_WEIGHTS]
    endings = published_formats(csv=plan.csv)
    folder = options.recipe.parent
    read = [
        options.recipe,
        on_this_machine(getattr(options, "address", options.data)),
        *(folder / path for path in plan.files),
    ]
    _refuse_overwriting(options.out, read, names)
    then = _figures_of(options.then)
    if options.decided_out is not None:
        refuse_undecidable(plan.algorithm, plan.parts)
        _refuse_recipe_out(options.decided_out, options.out, read, _DECIDED)
    if options.recipe_out is not None:
        _refuse_recipe_out(options.recipe_out, options.out, read, _COMPLETED)
    with writing(options.out, names) as staged:
        begun.append(staged)
        if staged.restored:
            sys.stderr.write(
                "An earlier run was stopped while it replaced the release in "
                f"{options.out}; that release was put back first.\n"
            )
        if remove_left_over() or staged.cleared:
            sys.stderr.write(LEFT_OVER)
        population = read_population(plan, folder)
        context = Context(progress=Stages()) if options.progress else Context()

        meanings: dict[str, Meaning] = {}
        hashed: list[Path] = []

        def verifier(
            tables: Mapping[str, pa.Table],
            decided: Mapping[str, Any],
            witness: Witness | None,
            extra: Mapping[str, bytes],
            read: Reader = read_table,
        ) -> Verification:
            folder_of_all = staged.emptied() if tables else staged.new
            hashed.clear()
            for title, table in tables.items():
                rows = table.num_rows
                found = write_table(
                    title, iter([table]), rows, folder_of_all, parts=plan.parts, endings=endings
                )
                hashed.extend(folder_of_all / f"{name}.{endings[0]}" for name in found)
            if tables:
                staged.write(
                    {
                        **written(in_parts(tables, plan.parts), in_one_piece(endings)),
                        **spreadsheet_files(plan.dialect, tables),
                        **typed_files(plan.formats, tables, meanings),
                        **extra,
                    }
                )
            with ThreadPoolExecutor(1) as disk:  # which takes its time for hundreds of megabytes
                flushed = disk.submit(staged.flush)
                found = verify_files(
                    options.recipe,
                    options.data,
                    folder_of_all,
                    seed=plan.seed,
                    decided=decided,
                    witness=witness,
                    key=plan.key,
                    read=read,
                )
                flushed.result()
            return found

        carry = partial(
            run,
            population=population,
            earlier=read_earlier(plan, folder),
            context=context,
            verifier=verifier,
        )
        levels = load_hierarchies(plan, folder)
        with unchanged(options.data):
            if engine.name != "memory":
                from anon_core.engines.out_of_core import AtScale

                table = opened(engine, options.data, staged.spill)
                with closing(AtScale(plan, table, levels)) as held:
                    result = carry(
                        plan,
                        held.dataset,
                        levels,
                        fit=held.fit,
                        writing=lambda release, chance, guarded: held.write(
                            release,
                            chance,
                            staged.new,
                            neutralise=guarded,
                            csv=plan.csv,
                            parts=plan.parts,
                        ),
                    )
            else:
                _keep_little(options.data)
                with read_alongside(plan, options.recipe, options.data) as read:
                    dataset = read_as_declared(plan, options.data)
                    meanings |= dataset.meanings
                    result = carry(plan, dataset, levels, verifier=partial(verifier, read=read))
        if hashed and options.json:
            result = replace(result, written_sha256=digest_of(hashed))
        changed = drift(then, figures_of(result), result) if then is not None else ()
        decided = None
        if options.decided_out is not None:
            file = "release.csv" if plan.csv else "release.parquet"
            lies = os.path.relpath((options.out / file).resolve(), folder.resolve())
            digest = ""
            if not plan.algorithm.shape.one_level:
                with (staged.new / file).open("rb") as made:
                    digest = hashlib.file_digest(made, "sha256").hexdigest()
            decided = result.decided(Path(lies).as_posix(), digest)
        if options.recipe_out is None:
            staged.publish()
        else:  # the recipe before the release, which is never without its secret
            whole = result.recipe.moved(folder, options.recipe_out.parent)
            place = options.recipe_out.resolve()
            with staged.replacing(place, whole.as_toml(), _write_secret):
                staged.publish()
    if decided is not None and options.decided_out is not None:
        place = options.decided_out.resolve()
        text = decided.moved(folder, place.parent).as_recipe_for_others()
        _write_secret(place, text)
    note(plan.notes)
    if options.json:
        changes = {"drift": [one.as_json() for one in changed]} if then is not None else {}
        write_json({**figures_of(result), **changes})
    else:
        _tell(result, options.out)
        for one in changed:
            tell(f"Since then – {one.sentence}")
        kept = options.recipe_out is not None or read_plan(options.recipe).seed == plan.seed
        if plan.draws and not kept:
            sys.stderr.write(
                "The random seed was not kept: this release cannot be made again, nor a sample "
                "verified. --recipe-out FILE keeps it.\n"
            )
    return OK


def runs_there(options: argparse.Namespace, stored: Stored) -> bool:
    """Return whether a run reads Parquet in object storage where it lies: whether DuckDB does."""
    from anon_core.engines.engine_choice import chosen

    return chosen(_plan_of(options), stored).name == "duckdb"


def _plan_of(options: argparse.Namespace) -> Plan:
    """Return the recipe's plan with the engine that the command asks for."""
    from anon_core.recipe.plan import read_plan

    plan = read_plan(options.recipe)
    asked = {"name": options.engine, "memory": options.memory}
    given = {key: value for key, value in asked.items() if value is not None}
    return replace(plan, engine=replace(plan.engine, **given))


def _figures_of(place: Path | None) -> object | None:
    """Read the figures of an earlier run, as `--json` wrote them."""
    from anon_core.base.bounded_reading import MOST_TEXT_BYTES, read_regular
    from anon_core.pipeline.measure.drift import read_figures

    if place is None:
        return None
    try:
        found = json.loads(read_regular(place, MOST_TEXT_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{clipped(str(place))} cannot be read as the figures of an earlier run.",
            remedy="Choose the file that 'run --json' wrote.",
        ) from error
    read_figures(found)  # what is none is refused before the run
    return found


def _refuse_overwriting(out: Path, read: Sequence[Path], names: Sequence[str]) -> None:
    """Refuse to put a release in the place of what it is made of: recipe, table, other files."""
    for path in read:
        try:
            inside = path.resolve().parent == out.resolve() and path.name in names
            inside = inside or (path.is_dir() and out.resolve().is_relative_to(path.resolve()))
        except (ValueError, RuntimeError) as error:  # a NUL character, or a link to itself
            raise BadInput(
                f"{clipped(str(path))} or {clipped(str(out))} is not a path to a file and a "
                "folder.",
                remedy="Check both for links to themselves and characters that no path may hold.",
            ) from error
        if inside:
            raise BadPlan(
                f"The release would overwrite {clipped(str(path))}, which the run reads.",
                remedy="Name another folder.",
            )


_COMPLETED = (
    "The completed recipe holds the secret that undoes the release",
    "Name a file elsewhere, readable only by those who may see the table.",
)
_DECIDED = ("The decided recipe is not part of the release", "Name a file elsewhere.")


def _refuse_recipe_out(place: Path, out: Path, read: Sequence[Path], why: tuple[str, str]) -> None:
    """Refuse to put a recipe into what will be published, or over what the run reads."""
    from anon_core.base.private_file import refuse_link

    shown = clipped(str(place))
    try:
        target, published = place.resolve(), out.resolve()
        same = any(target == path.resolve() for path in read)
        folder = target.is_dir()
        nowhere = not target.parent.is_dir()
        odd = target.exists() and not target.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL, a link to itself
        raise BadInput(
            f"{shown}, or a file that the recipe names, is not a path to a file.",
            remedy="Check them for links to themselves and characters that no path may hold.",
        ) from error
    if target.is_relative_to(published):
        raise BadPlan(
            f"{why[0]}, and {shown} lies in the folder {clipped(str(out))}, which is published.",
            remedy=why[1],
        )
    if same:
        raise BadPlan(
            f"The recipe would overwrite {shown}, which the run reads.",
            remedy="Name another file.",
        )
    if folder or nowhere:
        raise BadPlan(
            f"{shown} is a folder." if folder else f"There is no folder for {shown}.",
            remedy="Name a file in a folder that is there.",
        )
    if odd:
        raise BadPlan(
            f"{shown} is a pipe, a device or a socket, not a file.",
            remedy="Name a file; leave the option out if the recipe is not to be kept.",
        )
    refuse_link(place)


def _write_secret(place: Path, text: str) -> None:
    """Write a recipe that only its owner may read, whole or not at all."""
    from anon_core.base.private_file import write_private
    from anon_core.pipeline.publish.release_folder import waiting

    _, part = waiting(place, os.getpid())
    try:
        write_private(place, text.encode(), part)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _tell(result: Result, out: Path) -> None:
    for check in result.verification.checks:
        tell(check.sentence)
    for measure in result.measures.values():
        tell(f"{measure.metric}: {measure.value:.6g}")
    for attack in result.attacks:
        tell(f"{attack.attack}: {attack.sentence}")
    for name in (a.name for a in result.plan.attacks):
        if name in result.not_run and name not in result.needing_rows:
            tell(f"{name}: not tested. {result.not_run[name]}")
    for name, why in result.needing_rows.items():
        tell(f"{name}: not run. {why}")
    if result.level_search is not None:
        tell(result.level_search.sentence)
    if result.suppressed_weight is not None:
        tell(
            f"The rows represent {result.problem.weighed_people:,.10g} people by their weights; "
            f"suppressed rows have {result.suppressed_weight:.1%} of the weight."
        )
    if result.exact:
        tell(f"Published as they are: {listing(result.exact)}.")
    for one in result.plan.changes:
        tell(f"Changed: {listing(one.columns)} ({one.change.title}).")
    if result.left_out:
        tell(f"Left out, as no role of the recipe names them: {listing(result.left_out)}.")
    for caution in result.cautions:
        tell(f"Caution: {caution}")
    of = f" of {result.crowd.published} people" if result.crowd is not None else ""
    tell(f"{result.release.view.rows} rows{of} written to {out}.")
