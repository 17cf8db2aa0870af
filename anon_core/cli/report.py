"""`report`: the evidence for one release as JSON, HTML and PDF, internal or public edition."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.errors import BadInput, BadPlan, clipped
from anon_core.base.private_file import refuse_link, write_private, write_public
from anon_core.cli.key import declare_key, with_key
from anon_core.cli.output import BROKEN, NOT_FOUND, OK, Stages, note, tell

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result
    from anon_core.recipe.plan import Plan

FORMATS = ("json", "html", "pdf")
_NO_NAME = re.compile(r"[^\w.-]+")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("recipe", type=Path, help="the completed recipe the release was made with")
    parser.add_argument("--data", type=Path, required=True, help="the private table")
    parser.add_argument("--release", type=Path, required=True, help="folder with the release")
    parser.add_argument("--context", type=Path, help="purpose, recipients and judgement (TOML)")
    parser.add_argument("--out", type=Path, required=True, help="folder for the report")
    parser.add_argument(
        "--public",
        action="store_true",
        help="write the edition that may accompany the release; the default is internal",
    )
    parser.add_argument(
        "--format",
        action="append",
        choices=FORMATS,
        help="json, html, pdf; all by default",
    )
    parser.add_argument("--progress", action="store_true", help="name each stage as it begins")
    declare_key(parser)
    parser.set_defaults(command=report_release)


def report_release(options: argparse.Namespace) -> int:
    """Verify a release, measure it again, and write its report; return the exit status."""
    from anon_core.explain.report.context import ReleaseContext, read_context
    from anon_core.explain.report.files import as_html, as_json, as_pdf, edition_of, makes_pdf
    from anon_core.pipeline.verify.repeated_run import AGAIN
    from anon_core.pipeline.verify.verify_release import verify_release
    from anon_core.recipe.plan import read_plan

    context = ReleaseContext() if options.context is None else read_context(options.context)
    wanted = tuple(dict.fromkeys(options.format or FORMATS))
    if options.format is None and not makes_pdf():
        wanted = tuple(one for one in wanted if one != "pdf")
        note(["No PDF: the extra 'pdf' is not installed."])
    _refuse_published(options.out, options.release)
    plan = with_key(read_plan(options.recipe), options)
    found = verify_release(options.recipe, options.data, options.release, key=plan.key)
    # Another secret, or recipe, is refused in words of its own below.
    broken = [check for check in found.broken if check.name != AGAIN]
    if broken or found.unchecked:
        for check in broken:
            tell(f"BROKEN  {check.name}: {check.sentence}")
        for check in found.unchecked:
            tell(f"NOT CHECKED  {check.name}: {check.sentence}")
        return BROKEN if broken else NOT_FOUND
    result = _measured(plan, options)
    _refuse_other(result, options.release)
    command = f"python -m anon_core report {options.recipe.name} --data {options.data.name} "
    command += f"--release {options.release.name} --out {options.out.name}"
    if options.context is not None:
        command += f" --context {options.context.name}"
    edition = edition_of(result, context, public=options.public, command=command)
    recipe = "" if options.public else result.recipe.as_toml()
    made: dict[str, bytes] = {}
    for one in wanted:
        if one == "json":
            made["report.json"] = as_json(edition).encode()
        elif one == "html":
            made["report.html"] = as_html(edition, recipe=recipe).encode()
        else:
            made["report.pdf"] = as_pdf(edition)
    options.out.mkdir(parents=True, exist_ok=True)
    write = write_public if options.public else write_private
    for name, content in made.items():
        write(options.out / name, content)
    if not options.public:
        _attach_hierarchies(plan, options.recipe.parent, options.out)
    if edition["status"] == "complete":
        tell(f"{', '.join(made)} written to {options.out}: complete.")
        return OK
    waiting = edition.get("open", ())
    tell(f"{', '.join(made)} written to {options.out}: a draft.")
    for line in waiting:
        tell(f"  {line}")
    return OK


def _measured(plan: Plan, options: argparse.Namespace) -> Result:
    """Carry the recipe out again, to measure and attack what it publishes."""
    from anon_core.base.context import Context
    from anon_core.pipeline.input_tables import read_as_declared, read_earlier, read_population
    from anon_core.pipeline.runner import run
    from anon_core.recipe.plan import load_hierarchies

    folder = options.recipe.parent
    return run(
        plan,
        read_as_declared(plan, options.data),
        load_hierarchies(plan, folder),
        population=read_population(plan, folder),
        earlier=read_earlier(plan, folder),
        context=Context(progress=Stages()) if options.progress else Context(),
    )


def _refuse_published(out: Path, release: Path) -> None:
    """Refuse to write an evidence of the private table into what is published."""
    if out.resolve().is_relative_to(release.resolve()):
        raise BadPlan(
            f"The report would be written into the release, {clipped(str(release))}.",
            remedy="Name another folder; a public edition can be copied there.",
        )


def _refuse_other(result: Result, release: Path) -> None:
    """Refuse a release that the recipe does not make: its figures would be another one's."""
    files = result.csv_files if result.plan.csv else result.parquet_files
    for name, content in files.items():
        place = release / name
        if place.exists() and place.read_bytes() != content:
            raise BadInput(
                f"The recipe does not make {clipped(name)} as it is in the release: it is "
                "another recipe, or has another random seed.",
                remedy="Name the completed recipe that the run wrote with --recipe-out.",
            )


def attached_names(paths: Mapping[str, str]) -> dict[str, str]:
    """Return what the copy of each column's hierarchy is called: as its file is.

    Where files of several folders are called the same, the column goes before.

    Parameters
    ----------
    paths : mapping of str to str
        The file of each column.

    Examples
    --------
    >>> attached_names({"age": "a/h.csv", "job": "b/H.csv", "zip": "zip.csv"})
    {'age': 'age-h.csv', 'job': 'job-H.csv', 'zip': 'zip.csv'}
    """
    whole = {column: os.path.normpath(path) for column, path in paths.items()}
    shared = Counter(Path(path).name.casefold() for path in set(whole.values()))
    found: dict[str, str] = {}
    of: dict[str, str] = {}  # whose each name is, by its file
    for column, path in whole.items():
        name = Path(path).name
        if shared[name.casefold()] > 1:
            name = "-".join([_NO_NAME.sub("_", column)[:100], name])
        while of.setdefault(name.casefold(), path) != path:
            name = f"_{name}"
        found[column] = name
    return found


def _attach_hierarchies(plan: Plan, folder: Path, out: Path) -> None:
    """Copy the hierarchies next to the report; long ones would make it unreadable."""
    place = out / "hierarchies"
    refuse_link(place)
    place.mkdir(parents=True, exist_ok=True)
    for column, name in attached_names(plan.hierarchies).items():
        try:
            write_private(place / name, (folder / plan.hierarchies[column]).read_bytes())
        except OSError as error:
            raise BadInput(
                f"The hierarchy of '{column}' cannot be copied ({error.strerror}).",
                remedy="Check the path in the recipe and the space left.",
            ) from error
