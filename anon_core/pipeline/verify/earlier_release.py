"""This release next to an earlier one of the same people: the attack on both, from their files.

A privacy model that each keeps is not kept by both together. What two releases leave open is found
by the attack `composition` (`anon_core/methods/matching/composition.py`); here both are read from
what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, BadInput, clipped
from anon_core.methods.matching.composition import (
    Bits,
    classes_of_earlier,
    holds,
    how_many,
    left_by_both,
)
from anon_core.pipeline.input_tables import read_as_declared, read_population
from anon_core.pipeline.prepare import prepare
from anon_core.recipe.earlier_release import with_meanings
from anon_core.recipe.plan import Plan, load_hierarchies
from anon_core.release.knowledge.earlier_groups import LinkedColumns, encode_groups
from anon_core.release.knowledge.earlier_release import Today
from anon_core.release.problem import Problem
from anon_core.verification.files.bounded_reading import Content, FileBytes
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.files.release_files import (
    READ,
    is_part,
    part_names,
    parts_said,
    parts_there,
    read_files,
    read_release,
    table_of,
)
from anon_core.verification.findings import Check, undecided
from anon_core.verification.recipe import Terms, read_terms, section
from anon_core.verification.rows.groups import blocks, group_name, sets_are_formed, table_names
from anon_core.verification.text.texts import Spelling

# Which published files of an earlier release there are: of a folder, or named by one of them.


#: What the tables of a release are called: of one, and of two.
TABLES = (("release",), ("quasi", "sensitive"))
_ENDINGS = (READ, "parquet")


def previous_files(place: Path) -> dict[str, Content]:
    """Return the published files of an earlier release by name: of a folder, or one file.

    A CSV file is taken before a Parquet file of the same rows, and one file before several that
    make up the table. Of two tables that a group number joins either one may be named.

    Raises
    ------
    BadInput
        If there is no whole set of them, or both one table and two, or one part is named.
    """
    tables: tuple[tuple[str, ...], ...] = TABLES
    if not place.is_dir():
        if is_part(place.name):
            raise BadInput(
                f"{clipped(place.name)} is a part of the earlier release, which has several.",
                remedy="Name the folder that holds all of them.",
            )
        if place.stem not in TABLES[1] or place.suffix[1:] not in _ENDINGS:
            ending = "parquet" if place.suffix.lower() == ".parquet" else READ
            return {f"release.{ending}": FileBytes(place, "The earlier release")}
        place, tables = place.parent, (TABLES[1],)
    sets = [[_files_of(place, name) for name in names] for names in tables]
    whole = [found for found in sets if all(found)]
    if len(whole) > 1:
        raise BadInput(
            "The folder of the earlier release holds one table and two tables as well.",
            remedy="Name the file of the one that was published.",
        )
    if not whole:
        raise BadInput(
            "The earlier release has no published table: neither a release nor quasi and "
            "sensitive, as .csv or .parquet.",
            remedy="Name its folder, or the file that was published.",
        )
    return {
        file.name: FileBytes(file, "The earlier release") for files in whole[0] for file in files
    }


def _files_of(folder: Path, name: str) -> list[Path]:
    """Return the file of a published table, or all that make it up; empty where none is there.

    Raises
    ------
    BadInput
        If one of several is missing.
    """
    for ending in _ENDINGS:
        if (folder / f"{name}.{ending}").is_file():
            return [folder / f"{name}.{ending}"]
    names = [file.name for file in folder.iterdir() if file.is_file()]
    found = ((ending, parts_there(name, names, ending)) for ending in _ENDINGS)
    ending, there = next(((e, own) for e, own in found if own), ("", []))
    if not there:
        return []
    wanted = part_names(name, parts_said(there[0]), ending)
    gone = [part for part in wanted if part not in there]
    if gone or there != wanted:
        raise BadInput(
            f"The earlier release lacks {gone[0]}."
            if gone
            else f"The earlier release has parts of several releases, {there[-1]} among them.",
            remedy="Name a folder with all of its parts and nothing else.",
        )
    return [folder / part for part in there]


_NAME = "previous"


@dataclass(frozen=True, kw_only=True)
class _Side:
    """A release as linked columns in groups, and what is taken to be so of it."""

    parts: tuple[LinkedColumns, ...]
    groups: int
    rows: int
    taken: str = ""

    def shows(self, name: str) -> bool:
        return any(name in part.shown for part in self.parts)


def check_previous(
    plan: Plan, folder: Path, data: Path, release: Path, files: Mapping[str, Content]
) -> list[Check]:
    """Count whose sensitive value is certain from both releases and from neither alone.

    Everyone of the table is taken to be in both with the values they have now. Of people who do
    not fit the earlier release this one alone shows what it shows.

    Parameters
    ----------
    folder : Path
        The recipe's.
    files : mapping of str to bytes or FileBytes
        The earlier release, as `previous_files` names it.
    """
    if plan.algorithm.shape.averages:
        return [undecided(_NAME, "Averages do not show which values they cover.")]
    if plan.roles.unit:
        return [undecided(_NAME, "A person may have several rows, and none says which.")]
    try:
        levels = load_hierarchies(plan, folder)
        dataset = read_as_declared(plan, data)
        problem = prepare(plan, dataset, levels, read_population(plan, folder))
        problem = with_meanings(plan.sensitive_levels, problem, levels)
        recipe = plan.completed()
        terms = read_terms(recipe, dataset.names, levels)
        shown = read_files(release, table_names(terms), section(recipe, "export"))
        here = _this_side(terms, _tables(terms, shown))
        sides = _earlier_sides(terms, _tables(terms, files))
        return _laid_together(problem, here, sides)
    except AnonError as error:
        return [undecided(_NAME, f"The two releases cannot be laid together. {error.message}")]
    except OSError:
        return [undecided(_NAME, "The two releases cannot be laid together: a file is not read.")]


def _laid_together(problem: Problem, here: _Side, sides: Sequence[_Side]) -> list[Check]:
    today = Today(
        dataset=problem.dataset,
        roles=problem.roles,
        hierarchies=problem.hierarchies,
        meant=problem.meant,
    )
    quasi = [n for n in problem.quasi if sides[0].shows(n)]
    columns = [n for n in problem.sensitive if n not in problem.quasi and sides[0].shows(n)]
    if not quasi or not columns:
        what = "sensitive column" if quasi else "quasi-identifier"
        return [undecided(_NAME, f"The earlier release has no {what} of this one.")]
    for side in sides:
        _refuse_averages(problem, side)
    checks: list[Check] = []
    for name in columns:
        found = [_together(problem, today, name, here, side) for side in sides]
        most = max(found, key=lambda one: (one.only, one.certain))
        taken = sides[0].taken
        if len(sides) > 1:
            taken = "; whether the earlier release's columns stay linked, the worse of both counts"
        checks.append(_of_column(name, most, problem.rows, sides[0].rows, taken))
    return checks


@dataclass(frozen=True, kw_only=True)
class _Together:
    """People who fit the earlier release and both, are certain, and certain from both only."""

    earlier: int
    fits: int
    certain: int
    only: int


def _together(problem: Problem, today: Today, name: str, here: _Side, side: _Side) -> _Together:
    """Count people by the attack's own functions."""
    one, two = (
        classes_of_earlier(encode_groups(s.parts, s.groups, today, name), problem.quasi, name)
        for s in (here, side)
    )
    frequency = problem.frequency
    value = frequency.codes[:, frequency.columns.index(name)].astype(np.int32)
    values = 1 + max(int(v.max(initial=0)) for v in (one.value, two.value, value))
    people, context = frequency.run_codes, Context()
    candidates = [classes.candidates(people, values, context) for classes in (one, two)]
    run, count = frequency.run, frequency.count
    hierarchy = problem.hierarchies[name]
    known = value != (hierarchy.missing_leaf if hierarchy.has_missing else -1)

    def right(bits: Bits) -> np.ndarray:
        return (how_many(bits)[run] == 1) & holds(bits[run], value) & known

    both = right(left_by_both(candidates[0], candidates[1]))
    fits = [how_many(bits)[run] > 0 for bits in candidates]
    return _Together(
        earlier=int(count[fits[1]].sum()),
        fits=int(count[fits[0] & fits[1]].sum()),
        certain=int(count[both].sum()),
        only=int(count[both & ~right(candidates[0]) & ~right(candidates[1])].sum()),
    )


def _of_column(name: str, found: _Together, rows: int, earlier: int, taken: str) -> Check:
    """Judge one sensitive column; the check holds where no one is certain only from both."""
    if rows and not found.fits:
        return undecided(
            _NAME, "No one in the table fits both releases: one of them is of other people."
        )
    if not found.only and found.earlier < min(rows, earlier):
        return undecided(
            _NAME,
            f"{found.earlier:,} of the {rows:,} people of the table fit the earlier release, which "
            f"has {earlier:,} rows: it is of other people, or shows them otherwise.",
        )
    return Check(
        name=_NAME,
        holds=not found.only,
        column=name,
        bound=0.0,
        reached=float(found.only),
        sentence=f"With the earlier release, the value of '{name}' is certain for "
        f"{found.certain:,} of {rows:,} people, and for {found.only:,} of them from neither "
        f"release alone; {found.fits:,} fit both. Everyone is assumed to be in both as they are "
        f"now{taken}.",
    )


def _refuse_averages(problem: Problem, side: _Side) -> None:
    """Refuse numbers that are finer than any of the table: averages represent no value.

    Raises
    ------
    BadInput
    """
    for part in side.parts:
        for name in (n for n in problem.quasi if n in part.shown):
            if problem.dataset.column(name).kind != "number":
                continue
            own = max((_decimals(text) for text in problem.hierarchies[name].leaves), default=0)
            if any(_decimals(text) > own for text in part.shown[name][1]):
                raise BadInput(
                    f"The earlier release shows numbers of '{name}' that are finer than the "
                    "table's: averages do not show which values they cover."
                )


def _decimals(text: str) -> int:
    try:
        exponent = Decimal(text).normalize().as_tuple().exponent
    except InvalidOperation:
        return 0
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


# ---- what stays linked ---------------------------------------------------------------------------


def _tables(terms: Terms, files: Mapping[str, Content]) -> dict[str, PublishedTable]:
    """Read the published tables of a release.

    Raises
    ------
    BadInput
    """
    spelled = Spelling(kind="text", neutralised=False)
    names = [n for n in dict.fromkeys(map(table_of, files)) if any(n in own for own in TABLES)]
    found = {name: read_release(name, files, terms.quasi, lambda _: spelled) for name in names}
    if any(table.ragged for table in found.values()):
        raise BadInput("Rows of a published table differ in length.")
    if any(len(set(table.header)) < len(table.header) for table in found.values()):
        raise BadInput("Columns of a published table have the same name.")
    return found


def _this_side(terms: Terms, tables: Mapping[str, PublishedTable]) -> _Side:
    if not terms.permuted:
        (table,) = tables.values()
        return _whole(table, terms.published)
    found = list(tables.values())
    return _permuted(found, group_name(terms.published), _linked_blocks(terms))


def _earlier_sides(terms: Terms, releases: Mapping[str, PublishedTable]) -> list[_Side]:
    """Return an earlier release, by what its files say: one side for each way it may be linked.

    Group numbers do not tell what stays linked. Where this recipe publishes as many tables with
    groups, its word is taken for both releases; else two tables may have the columns of each
    linked, or none, and both are looked at.

    Raises
    ------
    BadInput
        If nothing says what stays linked.
    """
    tables = list(releases.values())
    group = group_name((*terms.published, *(n for t in tables for n in t.header[1:])))
    if len(tables) == 1 and tables[0].header[:1] != [group]:
        return [_whole(tables[0], tables[0].header)]
    if any(table.header[:1] != [group] for table in tables):
        raise BadInput(f"The tables of the earlier release do not begin with the column '{group}'.")
    if terms.permuted and terms.shape.tables == len(tables):
        shown = {name for table in tables for name in table.header}
        links = [[name for name in block if name in shown] for block in _linked_blocks(terms)]
        also = "; the earlier release's columns are taken to be linked as the recipe links them"
        return [_permuted(tables, group, [block for block in links if block], also)]
    if len(tables) > 1:
        ways = [t.header[1:] for t in tables], [[n] for t in tables for n in t.header[1:]]
        return [_permuted(tables, group, links) for links in ways]
    raise BadInput(
        "The earlier release shows group numbers, and neither it nor the recipe says which of "
        "its columns stay linked."
    )


def _linked_blocks(terms: Terms) -> Sequence[Sequence[str]]:
    if sets_are_formed(terms):
        raise BadInput("Which columns stay linked was decided by the run: the recipe does not say.")
    return blocks(terms)


def _whole(table: PublishedTable, names: Sequence[str]) -> _Side:
    one = np.zeros(table.rows, dtype=np.int64)
    return _Side(parts=(_linked(table, names, one),), groups=1, rows=table.rows)


def _permuted(
    tables: Sequence[PublishedTable], group: str, links: Sequence[Sequence[str]], taken: str = ""
) -> _Side:
    place: dict[str, int] = {}
    number: list[np.ndarray] = []
    for table in tables:
        if group not in table.header:
            raise BadInput(f"A table has no column '{group}'.")
        at = table.header.index(group)
        own = [place.setdefault(text, len(place)) for text in table.texts[at]]
        number.append(np.array(own, dtype=np.int64)[np.asarray(table.codes[at])])
    parts: list[LinkedColumns] = []
    for block in links:
        which = [i for i, table in enumerate(tables) if set(block) <= set(table.header)]
        if not which:
            raise BadInput("Columns that stay linked are not in one published table.")
        parts.append(_linked(tables[which[0]], block, number[which[0]]))
    return _Side(parts=tuple(parts), groups=len(place), rows=tables[0].rows, taken=taken)


def _linked(table: PublishedTable, names: Sequence[str], group: np.ndarray) -> LinkedColumns:
    gone = [name for name in names if name not in table.header]
    if gone:
        raise BadInput("Columns of the recipe are not published.")
    places = [table.header.index(name) for name in names]
    return LinkedColumns(
        shown={
            name: (np.asarray(table.codes[at]).astype(np.int32), table.texts[at])
            for name, at in zip(names, places, strict=True)
        },
        group=group,
    )
