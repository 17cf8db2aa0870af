"""What can be checked of a release by somebody who does not have the private table.

Whether its rows are true, how many were suppressed, and models that are defined against the table
cannot: these are named as not checked, and the release does not count as verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from anon_core.verification.evidence import CannotTell
from anon_core.verification.files import release_files
from anon_core.verification.files.published import PublishedTable, check_formulas, check_identifiers
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.files.recipe_files import columns_named, read_hierarchies, read_plan
from anon_core.verification.files.writing import check_presence
from anon_core.verification.findings import Check, Verification, judged, named, not_checked
from anon_core.verification.recipe import Levels, Terms, read_terms, section
from anon_core.verification.registry import judge_all
from anon_core.verification.rows.averages import check_class_weights
from anon_core.verification.rows.groups import (
    Grouped,
    Lines,
    group_name,
    parts,
    table_names,
    whole_classes,
)
from anon_core.verification.rows.permutation import check_boxes, numbers_of
from anon_core.verification.rows.recipe_changes import relabelled
from anon_core.verification.text.kinds import kind_of
from anon_core.verification.text.texts import EVERYTHING, Spelling, members_of, range_of

if TYPE_CHECKING:
    from anon_core.verification.rows.tables import PrivateTable

_NEEDS_TABLE = {
    "rows": "How many rows of the table are not published",
    "coverage": "Whether each published row is true of a row of the table",
    "spelling": "Whether values are written as in the table",
    "order": "Whether the rows are in canonical order",
    "level-bounds": "Whether every column is at a level that [level_bounds] allows",
    "linked": "Whether columns are blanked with those that they follow",
    "membership": "Whether everyone fits a group that shows all their values",
    "suppressed-rows": "Whether the suppressed rows are those that the privacy models ask for",
    "groups": "Whether each number is the average of its class",
}


class _NoTable:
    """In the place of the private table: what asks for it cannot be checked."""

    def __init__(self, terms: Terms, levels: Levels, kinds: Mapping[str, str]) -> None:
        self.terms, self.levels, self._kinds = terms, levels, kinds

    def spelling(self, name: str) -> Spelling:
        """Return how cells of a column are read: as the recipe says, or as they look."""
        kind = self.terms.kinds.get(name) or self._kinds.get(name, "text")
        return Spelling(kind=kind, neutralised=self.terms.neutralised)

    def __getattr__(self, name: str) -> NoReturn:
        raise CannotTell("it needs the private table")


def verify_release_only(
    recipe_path: Path, release_folder: Path, *, decided: Mapping[str, Any] | None = None
) -> Verification:
    """Check what follows from the published files and the recipe alone.

    Parameters
    ----------
    decided : mapping, optional
        The recipe's tables in full; see `verify_files`.

    Returns
    -------
    Verification
        It never holds as a whole: `unchecked` names what nobody looked at.

    Raises
    ------
    BadInput, BadPlan, BadHierarchy
        As `verify_files` does.
    """
    release_files.refuse_unfinished(release_folder)
    recipe = read_plan(recipe_path, decided)
    levels = read_hierarchies(recipe, recipe_path.parent)
    names = dict.fromkeys([*columns_named(recipe), *section(recipe, "types")])
    terms = read_terms(recipe, [name for name in names if name])
    levels = relabelled(recipe, levels, partial(_spelling_of, terms, levels))
    tables, export = table_names(terms), section(recipe, "export")
    files = release_files.read_files(release_folder, tables, export)
    # A column that is published at a level of its hierarchy shows labels.
    labels = dict.fromkeys(section(recipe, "sensitive_levels"), "text")
    terms = replace(terms, kinds={**terms.kinds, **labels})
    kinds: dict[str, str] = {}  # what the published texts and hierarchies look like
    table = cast("PrivateTable", _NoTable(terms, levels, kinds))
    published: dict[str, PublishedTable] = {}
    for name in tables:
        read = release_files.read_checked(name, files, export, table)
        if isinstance(read, Check):
            return Verification(checks=(read,), unchecked=_unchecked(terms, ()))
        published[name] = read
    kinds |= {
        column: kind_of([text for text in texts if text])
        for shown in published.values()
        for column, texts in zip(shown.header, shown.texts, strict=True)
        if column in terms.exact
    }
    missing = read_options(section(recipe, "data")).missing
    for name in (name for name in terms.quasi if name in levels):
        values = dict.fromkeys(line[0].strip() for line in levels[name] if line)
        kinds[name] = kind_of([value for value in values if value not in missing])
    checks = _of_columns(terms, published)
    if terms.neutralised:
        checks += [check_formulas(shown) for shown in published.values()]
    for shown in published.values():
        checks += _of_labels(terms, shown.lines, levels)
    checks += release_files.check_formats(export, published, files) + check_presence(
        export, list(tables), files
    )
    lines = next(iter(published.values())).lines
    of_weights = check_class_weights(
        recipe, terms, lines, None, files.get(release_files.CLASS_WEIGHTS)
    )
    checks += [check for check in of_weights if not check.unchecked]
    checks.append(
        release_files.check_folder(release_folder, release_files.names_of_release(tables, export))
    )
    whole = _grouped(terms, published)
    first = next(iter(whole.values()), None)
    if terms.permuted and first and first.table.has(terms.quasi):
        checks += check_boxes(terms, first.table)
    found = judge_all(whole, table, lambda: None)
    checks += [check for check in found if not check.undecided]
    left = [check for check in (*found, *of_weights) if check.undecided]
    facts: dict[str, float] = {"rows": float(lines.rows)}
    for group in whole.values():
        facts["classes"] = float(len(group.sizes))
        facts["smallest_class"] = float(group.sizes.min()) if len(group.sizes) else 0.0
    return Verification(checks=tuple(checks), facts=facts, unchecked=_unchecked(terms, left))


def _unchecked(terms: Terms, left: Sequence[Check]) -> tuple[Check, ...]:
    asked = {
        "level-bounds": terms.bounds,
        "linked": terms.links,
        "membership": terms.permuted,
        "suppressed-rows": terms.shape.levels == "one" and terms.shape.rows == "all",
        "groups": terms.averaged,
    }
    said = [one.sentence.removesuffix(" Treated as broken.") for one in left]
    others = [(name, what) for name, what in _NEEDS_TABLE.items() if asked.get(name, True)]
    return (
        *(not_checked(one.name, own, one.column) for one, own in zip(left, said, strict=True)),
        *(not_checked(name, f"{what} was not checked.") for name, what in others),
    )


def _of_columns(terms: Terms, published: Mapping[str, PublishedTable]) -> list[Check]:
    """Check that the columns of the recipe are published, each once, and no others."""
    group = {group_name(terms.published)} if terms.permuted else set[str]()
    shown = [n for table in published.values() for n in table.header if n not in group]
    odd, wrong = (
        sorted(shown) != sorted(terms.published),
        "The published columns are not the recipe's.",
    )
    kept = f"The {len(shown)} published columns are those the recipe names for it."
    return [check_identifiers(terms, [shown]), judged("columns", odd, wrong, kept)]


def _spelling_of(terms: Terms, levels: Levels, column: str) -> Spelling:
    """Return how values of a column are read: as the recipe says, or as its level table looks."""
    values = [line[0].strip() for line in levels[column] if line and line[0].strip()]
    return Spelling(kind=terms.kinds.get(column) or kind_of(values), neutralised=False)


def _of_labels(terms: Terms, release: Lines, levels: Levels) -> list[Check]:
    """Check that every text of a quasi-identifier with a hierarchy is one that can stand there."""
    found: list[Check] = []
    for name in terms.quasi if terms.coarsened or terms.permuted else ():
        if name not in levels or not release.has((name,)):
            continue
        known = {cell.strip() for line in levels[name] for cell in line} | {"", EVERYTHING}
        spelling = release.spelling(name)
        keys = {spelling.key(line[0].strip()) for line in levels[name] if line}
        odd = [
            place
            for place, text in enumerate(release.texts_of(name))
            if text not in known
            and spelling.key(text) not in keys
            and not _is_group(text, spelling)
        ]
        rows = release.rows_of(np.isin(release.codes_of(name), odd))
        words = f"Column '{name}' shows texts that neither its hierarchy nor a range explains "
        kept = f"Every text of '{name}' is a value or a group of its hierarchy, or a range."
        found.append(judged("labels", rows, f"{words}{named(rows)}.", kept, column=name))
    return found


def _is_group(text: str, spelling: Spelling) -> bool:
    """Say whether a text is a range, a tail or a value set."""
    if not spelling.measured:
        return members_of(text) is not None
    tail = text[:1] in ("≤", "≥") and not isinstance(spelling.key(text[1:]), str)
    return tail or range_of(text, spelling) is not None


def _grouped(terms: Terms, published: Mapping[str, PublishedTable]) -> dict[str, Grouped]:
    """Return the published tables in classes, or in the groups they number; none where unclear."""
    if not terms.permuted:
        return whole_classes(published["release"].lines)
    found: dict[str, Grouped] = {}
    group, columns = group_name(terms.published), parts(terms)
    for name, shown in published.items():
        own = numbers_of(shown.lines, group) if shown.lines.has((group,)) else None
        if own is None:
            return {}
        found[name] = Grouped(table=shown.lines, columns=columns[name], group=own)
    return found
