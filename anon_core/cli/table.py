"""`table`: publish a table of counts or sums instead of rows, protected and audited."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_core.base.errors import BadInput, clipped
from anon_core.cli.output import OK, tell, write_json

if TYPE_CHECKING:
    from anon_core.data.table import Dataset
    from anon_core.tables.differencing import Earlier
    from anon_core.tables.recipe import TableRecipe


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("recipe", type=Path, help="the recipe of the table (TOML)")
    parser.add_argument("--data", type=Path, required=True, help="the private rows")
    parser.add_argument("--out", type=Path, required=True, help="folder that is not there yet")
    parser.add_argument(
        "--earlier",
        type=Path,
        help="what this command wrote of an earlier table of the same rows: both are safe together",
    )
    parser.add_argument("--progress", action="store_true", help="name each stage as it begins")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    parser.set_defaults(command=table)


def table(options: argparse.Namespace) -> int:
    """Build, protect, audit, recompute and write a table; return the exit status."""
    from anon_core.base.context import Context
    from anon_core.base.private_file import write_private, write_public
    from anon_core.base.terms import in_figures
    from anon_core.data.reading import MOST_BYTES_OF_COMMANDS, read_table
    from anon_core.tables.differencing import Together
    from anon_core.tables.publication import files_of, protect, refuse_bare, report_of
    from anon_core.tables.recipe import read_recipe
    from anon_core.tables.suppressed import judge
    from anon_core.verification.files.reading import read_table as read_again
    from anon_core.verification.files.reading_options import read_options
    from anon_core.verification.files.recipe_files import read_hierarchies
    from anon_core.verification.protected_table import private_rows, refuse_broken, verify_table

    if options.out.exists():
        raise BadInput(
            f"{clipped(str(options.out))} is there already.",
            remedy="Name a folder that is not there yet.",
        )
    recipe = read_recipe(options.recipe)
    dataset = read_table(options.data, recipe.data, most_bytes=MOST_BYTES_OF_COMMANDS)
    levels = _levels(recipe, options.recipe.parent)
    stages: set[str] = set()

    def shown(_share: float, stage: str) -> None:
        if options.progress and stage not in stages:
            stages.add(stage)
            sys.stderr.write(f"{stage}…\n")

    context = Context(progress=shown)
    shown(0, "Building the table")
    judged = judge(dataset, recipe, levels)
    if options.earlier is None:
        publication = protect(judged, context)
        refuse_bare(publication)
    else:
        earlier = _earlier(options.earlier, options.recipe.parent, dataset)
        publication = Together(earlier, judged).protected(context)
    shown(0, "Writing the files")
    files = files_of(publication)
    given = recipe.as_mapping()
    trees = read_hierarchies(given, options.recipe.parent)
    shown(0, "Reading the rows again")
    rows = private_rows(read_again(options.data, read_options(given.get("data", {}))), given, trees)
    checks = verify_table(
        files["table.csv"], given, rows, trees, publication.proposals, partial(shown, 1)
    )
    refuse_broken(checks)
    report: dict[str, Any] = report_of(publication)
    report["recomputed"] = [check.as_json() for check in checks]
    options.out.mkdir(parents=True)
    for name, content in files.items():
        write_public(options.out / name, content)
    internal = options.out / "internal"
    internal.mkdir(mode=0o700)
    write_private(internal / "recipe.toml", recipe.as_toml().encode())
    text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
    write_private(internal / "report.json", text.encode())
    if options.json:
        from anon_core.base.installation import VERSION

        write_json({"schema": 1, "version": VERSION, "status": "released", **report})
        return OK
    tell(f"{len(judged.table.values):,} cells, {len(judged.findings):,} of them sensitive.")
    if publication.pattern is not None and publication.audit is not None:
        pattern = publication.pattern
        known = "optimal" if pattern.optimal else f"bound {pattern.bound}"
        known = "heuristic" if pattern.bound is None else known
        tell(
            f"{len(pattern.cells):,} suppressed, {len(pattern.secondary):,} of them to hide "
            f"others: cost {pattern.cost:,} ({known})."
        )
        readers = in_figures(publication.audit.readers, "reader")
        tell(f"Audited for {readers}: every sensitive cell is safe.")
    for check in checks:
        tell(f"{'Recomputed' if check.holds else 'Not checked'}: {check.sentence}")
    for note in publication.notes:
        tell(note)
    return OK


def _levels(recipe: TableRecipe, folder: Path) -> dict[str, list[list[str]]]:
    from anon_core.data.hierarchy import read_levels

    return {
        column: read_levels(folder / path, column) for column, path in recipe.hierarchies.items()
    }


def _earlier(folder: Path, hierarchies: Path, dataset: Dataset) -> Earlier:
    """Return an earlier table from what this command wrote of it; its hierarchies are the same."""
    from anon_core.base.bounded_reading import read_regular
    from anon_core.tables.differencing import Earlier
    from anon_core.tables.recipe import read_recipe
    from anon_core.tables.suppressed import judge

    recipe = read_recipe(folder / "internal" / "recipe.toml")
    judged = judge(dataset, recipe, _levels(recipe, hierarchies))
    return Earlier.read(judged, read_regular(folder / "table.csv", 1 << 26))
