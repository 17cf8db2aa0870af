"""`table`: publish a table of counts or sums instead of rows, protected and audited."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from anon_core.base.errors import BadInput, BadPlan, clipped
from anon_core.cli.output import OK, tell, write_json


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("recipe", type=Path, help="the recipe of the table (TOML)")
    parser.add_argument("--data", type=Path, required=True, help="the private rows")
    parser.add_argument("--out", type=Path, required=True, help="folder that is not there yet")
    parser.add_argument("--progress", action="store_true", help="name each stage as it begins")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")


def table(options: argparse.Namespace) -> int:
    """Build, protect, audit, recompute and write a table; return the exit status."""
    from anon_core.base.context import Context
    from anon_core.base.private_file import write_private, write_public
    from anon_core.data.hierarchy import read_levels
    from anon_core.data.reading import MOST_BYTES_OF_COMMANDS, read_table
    from anon_core.data.reading.row_filter import filtered
    from anon_core.tables.publication import files_of, judge, protect, report_of
    from anon_core.tables.recipe import read_recipe
    from anon_core.verification.files.recipe_files import read_hierarchies
    from anon_core.verification.protected_table import private_rows, refuse_broken, verify_table

    if options.out.exists():
        raise BadInput(
            f"{clipped(str(options.out))} is there already.",
            remedy="Name a folder that is not there yet.",
        )
    recipe = read_recipe(options.recipe)
    dataset = read_table(options.data, recipe.data, most_bytes=MOST_BYTES_OF_COMMANDS)
    if recipe.data.rest == "population":
        raise BadPlan(
            "[data] rest is 'population', and a table of counts has none.",
            remedy="Leave rest out.",
        )
    dataset = filtered(dataset.with_kinds(recipe.types), recipe.data.where)
    if recipe.data.missing == "drop":
        dataset = dataset.without_missing(recipe.layout.columns)
    levels = {
        column: read_levels(options.recipe.parent / path, column)
        for column, path in recipe.hierarchies.items()
    }
    stages: set[str] = set()

    def shown(_share: float, stage: str) -> None:
        if options.progress and stage not in stages:
            stages.add(stage)
            sys.stderr.write(f"{stage}…\n")

    judged = judge(dataset, recipe, levels)
    publication = protect(judged, Context(progress=shown))
    files = files_of(publication)
    given = recipe.as_mapping()
    checks = verify_table(
        files["table.csv"],
        given,
        private_rows(options.data, given),
        read_hierarchies(given, options.recipe.parent),
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
        from anon_core.base.version import VERSION

        write_json({"schema": 1, "version": VERSION, "status": "released", **report})
        return OK
    tell(f"{len(judged.table.values):,} cells, {len(judged.findings):,} of them sensitive.")
    if publication.pattern is not None:
        pattern = publication.pattern
        known = "optimal" if pattern.optimal else f"bound {pattern.bound}"
        tell(
            f"{len(pattern.cells):,} suppressed, {len(pattern.secondary):,} of them to hide "
            f"others: cost {pattern.cost:,} ({known})."
        )
        tell(
            f"Audited for {1 + len(publication.insiders):,} readers: every sensitive cell is safe."
        )
    for check in checks:
        tell(f"{'Recomputed' if check.holds else 'Not checked'}: {check.sentence}")
    for note in publication.notes:
        tell(note)
    return OK
