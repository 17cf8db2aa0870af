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

from anon_core.base.errors import clipped
from anon_core.verification.evidence import CannotTell
from anon_core.verification.files import statistics_files as typed
from anon_core.verification.files.bounded_reading import MOST_TEXT_BYTES, read_bytes
from anon_core.verification.files.published import PublishedTable, check_formulas, check_identifiers
from anon_core.verification.files.reading_options import read_options
from anon_core.verification.files.recipe_files import columns_named, read_hierarchies, read_recipe
from anon_core.verification.files.release_files import (
    CLASS_WEIGHTS,
    check_folder,
    check_other_formats,
    check_writing,
    file_names,
    read_checked,
    read_files,
    refuse_unfinished,
)
from anon_core.verification.files.writing import check_dialect, check_presence, names_of
from anon_core.verification.findings import Check, Verification, named, not_checked
from anon_core.verification.recipe import Terms, completed, read_terms, section
from anon_core.verification.registry import judge_all
from anon_core.verification.rows.averages import check_class_weights
from anon_core.verification.rows.coverage import bounds_of, links_of
from anon_core.verification.rows.groups import Grouped, Lines, group_name, parts, table_names
from anon_core.verification.rows.permutation import check_boxes
from anon_core.verification.rows.recipe_changes import relabelled
from anon_core.verification.text.kinds import kind_of
from anon_core.verification.text.texts import EVERYTHING, Spelling, members_of

if TYPE_CHECKING:
    from anon_core.verification.rows.tables import PrivateTable

_NEEDS_TABLE = {
    "rows": "How many rows of the table are not published was not checked.",
    "coverage": "Whether each published row is true of a row of the table was not checked.",
    "spelling": "Whether values are written as in the table was not checked.",
    "order": "Whether the rows are in canonical order was not checked.",
}

_EVERYONE = "Whether everyone fits a group that shows all their values was not checked."
_WHICH = "Whether the suppressed rows are those that the privacy models ask for was not checked."
_BOUNDS = "Whether every column is at a level that [level_bounds] allows was not checked."
_LINKS = "Whether columns are blanked with those that they follow was not checked."
_AVERAGES = "Whether each number is the average of its class was not checked."


class _NoTable:
    """In the place of the private table: what asks for it cannot be checked."""

    def __init__(self, terms: Terms, kinds: Mapping[str, str]) -> None:
        self._terms, self._kinds = terms, kinds

    def spelling(self, name: str) -> Spelling:
        """Return how cells of a column are read: as the recipe says, or as they look."""
        kind = self._terms.kinds.get(name) or self._kinds.get(name, "text")
        return Spelling(kind=kind, neutralised=self._terms.neutralised)

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
    refuse_unfinished(release_folder)
    content = read_bytes(recipe_path, "The recipe", MOST_TEXT_BYTES)
    recipe = read_recipe(content, clipped(recipe_path.name))
    recipe = recipe if decided is None else completed(recipe, decided)
    levels = read_hierarchies(recipe, recipe_path.parent)
    names = dict.fromkeys([*columns_named(recipe), *section(recipe, "types")])
    terms = read_terms(recipe, [name for name in names if name])
    asked = {
        **({"level-bounds": _BOUNDS} if bounds_of(recipe, terms) else {}),
        **({"linked": _LINKS} if links_of(recipe, terms.quasi) else {}),
    }
    levels = relabelled(recipe, levels, partial(_spelling_of, terms, levels))
    tables, export = table_names(terms), section(recipe, "export")
    files = read_files(release_folder, tables, export)
    # A column that is published at a level of its hierarchy shows labels.
    labels = dict.fromkeys(section(recipe, "sensitive_levels"), "text")
    terms = replace(terms, kinds={**terms.kinds, **labels})
    kinds: dict[str, str] = {}  # what the published texts and hierarchies look like
    table = _NoTable(terms, kinds)
    published: dict[str, PublishedTable] = {}
    for name in tables:
        read = read_checked(name, files, export, terms.quasi, table.spelling)
        if isinstance(read, Check):
            return Verification(checks=(read,), unchecked=_unchecked(terms, (), asked=asked))
        published[name] = read
    kinds |= {
        column: kind_of([text for text in texts if text])
        for shown in published.values()
        for column, texts in zip(shown.header, shown.texts, strict=True)
        if column in terms.exact
    }
    missing = read_options(section(recipe, "data")).missing
    for name in terms.quasi:
        if name in levels:
            values = dict.fromkeys(line[0].strip() for line in levels[name] if line)
            kinds[name] = kind_of([value for value in values if value not in missing])
    checks = _of_columns(terms, published)
    if terms.neutralised:
        checks += [check_formulas(shown) for shown in published.values()]
    for name, shown in published.items():
        checks += _of_labels(terms, shown.lines, levels)
        if not shown.file:
            checks.append(check_writing(shown, [f"{name}.csv"], files))
    checks += check_other_formats(published, files)
    checks += check_dialect(export, published, files) + check_presence(export, list(tables), files)
    lines = next(iter(published.values())).lines
    of_weights = check_class_weights(recipe, terms, lines, None, files.get(CLASS_WEIGHTS))
    checks += [check for check in of_weights if not check.unchecked]
    known = [*file_names(tables, export), *names_of(list(tables)), *typed.names_of(tables)]
    checks.append(check_folder(release_folder, [*known, CLASS_WEIGHTS]))
    whole = _grouped(terms, published)
    if terms.permuted and whole and next(iter(whole.values())).table.has(terms.quasi):
        checks += check_boxes(terms, next(iter(whole.values())).table)
    found = judge_all(terms, whole, cast("PrivateTable", table), levels, lambda: None)
    checks += [check for check in found if not check.undecided]
    left = [check for check in (*found, *of_weights) if check.undecided]
    facts: dict[str, float] = {"rows": float(lines.rows)}
    for group in whole.values():
        facts["classes"] = float(len(group.sizes))
        facts["smallest_class"] = float(group.sizes.min()) if len(group.sizes) else 0.0
    return Verification(
        checks=tuple(checks), facts=facts, unchecked=_unchecked(terms, left, asked=asked)
    )


def _unchecked(
    terms: Terms, left: Sequence[Check], *, asked: Mapping[str, str]
) -> tuple[Check, ...]:
    models = [
        not_checked(check.name, check.sentence.removesuffix(" Treated as broken."), check.column)
        for check in left
    ]
    needs = {**_NEEDS_TABLE, **asked}
    if terms.permuted:
        needs["membership"] = _EVERYONE
    if terms.shape.levels == "one" and terms.shape.rows == "all":
        needs["suppressed-rows"] = _WHICH
    if terms.averaged:
        needs["groups"] = _AVERAGES
    others = [not_checked(name, sentence) for name, sentence in needs.items()]
    return (*models, *others)


def _of_columns(terms: Terms, published: Mapping[str, PublishedTable]) -> list[Check]:
    """Check that the columns of the recipe are published, each once, and no others."""
    group = {group_name(terms.published)} if terms.permuted else set[str]()
    shown = [n for table in published.values() for n in table.header if n not in group]
    same = sorted(shown) == sorted(terms.published)
    return [
        check_identifiers(terms, [shown]),
        Check(
            name="columns",
            holds=same,
            sentence=f"The {len(shown)} published columns are those the recipe names for it."
            if same
            else "The published columns are not the recipe's.",
        ),
    ]


def _spelling_of(
    terms: Terms, levels: Mapping[str, Sequence[Sequence[str]]], column: str
) -> Spelling:
    """Return how values of a column are read: as the recipe says, or as its level table looks."""
    values = [line[0].strip() for line in levels[column] if line and line[0].strip()]
    return Spelling(kind=terms.kinds.get(column) or kind_of(values), neutralised=False)


def _of_labels(
    terms: Terms, release: Lines, levels: Mapping[str, Sequence[Sequence[str]]]
) -> list[Check]:
    """Check that every text of a quasi-identifier with a hierarchy is one that can stand there."""
    found: list[Check] = []
    if not terms.coarsened and not terms.permuted:
        return []
    for name in terms.quasi:
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
        found.append(
            Check(
                name="labels",
                holds=not odd,
                column=name,
                rows=rows.first,
                sentence=f"Column '{name}' shows texts that neither its hierarchy nor a range "
                f"explains {named(rows)}."
                if odd
                else f"Every text of '{name}' is a value or a group of its hierarchy, or a range.",
            )
        )
    return found


def _is_group(text: str, spelling: Spelling) -> bool:
    """Say whether a text is a range, a tail or a value set."""
    if not spelling.measured:
        return members_of(text) is not None
    ends = text[1:-1].split(", ") if text[:1] == "[" and text[-1:] == "]" else [text[1:]]
    tail = text[:1] in ("≤", "≥") and len(ends) == 1
    return (tail or len(ends) == 2) and not any(isinstance(spelling.key(e), str) for e in ends)


def _grouped(terms: Terms, published: Mapping[str, PublishedTable]) -> dict[str, Grouped]:
    """Return the published tables in classes, or in the groups they number; none where unclear."""
    if not terms.permuted:
        release = published["release"].lines
        classes = release.classes
        if classes is None:
            return {}
        return {"release": Grouped(table=release, columns=release.header, group=classes)}
    found: dict[str, Grouped] = {}
    group, columns = group_name(terms.published), parts(terms)
    for name, shown in published.items():
        lines = shown.lines
        if not lines.has((group,)) or not all(t.isdecimal() for t in lines.texts_of(group)):
            return {}
        number = np.array([int(t) - 1 for t in lines.texts_of(group)], dtype=np.int64)
        own = number[lines.codes_of(group)]
        if sorted(set(own.tolist())) != list(range(len(number))):
            return {}
        found[name] = Grouped(table=lines, columns=columns[name], group=own)
    return found
