"""The internal edition as files: recipe, hierarchies, and both in one archive that runs."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

from anon_core.base.errors import BadPlan
from anon_core.base.plain_values import finite
from anon_core.data.hierarchy.files.level_files import rows_csv
from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.report.files import as_html, as_json, as_pdf, edition_of
from anon_core.pipeline.figures import figures_of
from anon_core.pipeline.result import Result
from anon_core.recipe.plan import LevelTable, Plan
from anon_core.recipe.reuse import refuse_undecidable
from anon_core.tables.publication import files_of
from anon_core.tables.recipe import TableRecipe
from ui.export.script import script
from ui.state.population_tables import Population
from ui.state.table_work import Out

ReportFormat = Literal["html", "json", "pdf"]
#: Archives hold this moment for every file, so that the same result gives the same bytes.
_THEN = (1980, 1, 1, 0, 0, 0)


def recipe_plan(result: Result) -> Plan:
    """Return the result's plan with paths that any file system can hold."""
    return replace(result.recipe, hierarchies=_paths(result.plan.hierarchies))


def _paths(columns: Iterable[str]) -> dict[str, str]:
    """Return where the hierarchy of each column lies in a zip."""
    taken: set[str] = set()
    paths: dict[str, str] = {}
    for column in columns:
        stem = re.sub(r"[^\w-]+", "_", column).strip("_") or "column"
        name, count = stem, 1
        while name.lower() in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name.lower())
        paths[column] = f"hierarchies/{name}.csv"
    return paths


def recipe(result: Result) -> str:
    """Return the recipe's text: all that determines the release, the secret seed included."""
    return recipe_plan(result).as_toml()


def decided(result: Result) -> str:
    """Return the recipe of what was decided, without its secret; empty where there is none."""
    try:
        refuse_undecidable(result.plan.algorithm, result.plan.parts)
        file = "release.csv" if result.plan.csv else "release.parquet"
        digest = ""
        if not result.plan.algorithm.shape.one_level:
            digest = hashlib.sha256(result.file(file)).hexdigest()
        made = result.decided(file, digest)
    except BadPlan:
        return ""
    paths = recipe_plan(result).hierarchies
    return replace(made, hierarchies=paths).as_recipe_for_others()


def figures(result: Result) -> str:
    """Return all figures of a run, as the command line prints them."""
    return json.dumps(finite(figures_of(result)), allow_nan=False)


def report(
    result: Result, context: ReleaseContext, ending: ReportFormat, *, public: bool
) -> str | bytes:
    """Return an edition of the report as a file.

    Parameters
    ----------
    result : Result
    context : ReleaseContext
        What people state.
    ending : {'html', 'json', 'pdf'}
    public : bool
        The edition that may go with the release, else the internal one.
    """
    edition = edition_of(result, context, public=public)
    if ending == "json":
        return as_json(edition)
    if ending == "pdf":
        return as_pdf(edition)
    return as_html(edition, recipe="" if public else result.recipe.as_toml())


def archive(
    result: Result, people: Population | None = None, earlier: Population | None = None
) -> bytes:
    """Return recipe, hierarchies, script and a note as a zip that runs where it is unpacked."""
    plan = recipe_plan(result)
    files: dict[str, str | bytes] = {"recipe.toml": plan.as_toml()}
    for column, path in plan.hierarchies.items():
        files[path] = rows_csv(result.level_rows(column), column)
    if people is not None and plan.population_file == people.path:
        files[people.path] = people.content
    if earlier is not None and plan.earlier.file == earlier.path:
        files[earlier.path] = earlier.content
    files["reproduce.py"] = script(result)
    files["README.txt"] = _README
    return _packed(files)


def table_archive(
    recipe: TableRecipe, levels: Mapping[str, LevelTable], before: Out | None = None
) -> bytes:
    """Return the recipe of a protected table and the hierarchies it names, as a zip that runs.

    A table that was out `before`, and that this one was protected with, is in ``earlier``, as
    ``table --earlier`` reads it.
    """
    files = _recipe_files(recipe, levels)
    if before is not None:
        done = before.published
        files["earlier/table.csv"] = files_of(done)["table.csv"]
        inner = "earlier/internal/recipe.toml"
        files |= _recipe_files(done.judged.recipe, before.levels, recipe_at=inner, below="earlier/")
    return _packed(files)


def _recipe_files(
    recipe: TableRecipe,
    levels: Mapping[str, LevelTable],
    *,
    recipe_at: str = "recipe.toml",
    below: str = "",
) -> dict[str, str | bytes]:
    named = replace(recipe, hierarchies={n: below + path for n, path in _paths(levels).items()})
    return {
        recipe_at: named.as_toml(),
        **{path: rows_csv(levels[name], name) for name, path in named.hierarchies.items()},
    }


def public_archive(result: Result) -> bytes:
    """Return every published table, in the formats asked for, in a zip that holds nothing else."""
    return _packed(result.all_files)


def _packed(files: Mapping[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive_:
        for name, content in files.items():
            archive_.writestr(zipfile.ZipInfo(name, _THEN), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


_README = """Internal edition: do not publish. The recipe holds the secret seed: anyone who has it
can undo the random choices.

Run it here, on its own table. Where the Anonymity Workbench is installed:

    anonymity-workbench run recipe.toml --data FILE --out DIR
    anonymity-workbench verify recipe.toml --data FILE --release DIR

From a checkout, PYTHON is .venv/bin/python in its folder, once "make run" has made it. Without
make, set PYTHONPATH to that folder first.

    PYTHON -m anon_core run recipe.toml --data FILE --out DIR
    PYTHON -m anon_core verify recipe.toml --data FILE --release DIR

or with the script in this folder:

    PYTHON reproduce.py FILE DIR
"""
