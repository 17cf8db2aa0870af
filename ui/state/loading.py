"""What happens when a person opens something: a sample, a file, a recipe, a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath, PurePosixPath
from typing import Any, cast

from anon_core.base.errors import (
    AnonError,
    BadHierarchy,
    BadInput,
    BadPlan,
    InputChanged,
    listing,
    nearest,
)
from anon_core.data.hierarchy import Hierarchy, flat, from_rows, parse_levels, read_levels
from anon_core.data.reading import MOST_BYTES, DataOptions, read_table
from anon_core.data.reading.spreadsheet import named_sheets
from anon_core.data.roles.roles import Roles
from anon_core.data.samples import Sample, hierarchy_folder, sample
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline.measure import thresholds
from anon_core.recipe.hierarchy_folder import EVERY_OTHER, with_names
from anon_core.recipe.plan import LevelTable, Plan
from anon_core.recipe.reuse import met, read_unseen
from ui.journal import here
from ui.state import drafts, limits, population_tables, state

#: What of the reading options decides how a file's text becomes cells.
_READING = (
    "separator",
    "missing_values",
    "missing_in",
    "encoding",
    "sheet",
    "header_row",
    "value_labels",
    "dates",
    "decimals",
)


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A file that a person hands over: its name and content."""

    name: str
    content: bytes


def sheets_of(opened: Opened) -> Sequence[str]:
    """Return the sheets among which a person has to choose; none where there is no choice.

    Raises
    ------
    BadInput
        If it is not a workbook that can be read.
    """
    key = (len(opened.content), hash(opened.content))
    return state.once("sheets", key, lambda: named_sheets(opened.content, opened.name))


def shipped_levels(one: Sample) -> dict[str, list[list[str]]]:
    """Return the level tables that come with a sample.

    Raises
    ------
    BadHierarchy
        If a file is missing or empty.
    """
    return {
        column: read_levels(hierarchy_folder() / path, column)
        for column, path in one.hierarchies.items()
    }


def load_sample(name: str) -> None:
    """Start work on a sample with its roles, hierarchies and k.

    Raises
    ------
    AnonError
        If it is not available.
    """
    one = sample(name)
    data = sample_table(name)
    state.set_dataset(
        data,
        roles=one.roles,
        left_out=one.roles.left_out(data),
        levels=shipped_levels(one),
        types=one.types,
        title=one.title,
        attribution=one.attribution,
        k=one.k,
        sample=one.name,
    )
    # The source's own privacy model is the threshold too, until a person chooses another one.
    state.begin_with(
        algorithm=one.algorithm,
        attacks=thresholds.tables(1 / one.k),
        **({"models": one.models} if one.models else {}),
    )


def sample_table(name: str) -> Dataset:
    """Return a sample's table as `load_sample` loads it.

    Raises
    ------
    AnonError
        If there is no such sample, or it is not available.
    """
    one = sample(name)
    return Dataset.from_frame(one.frame(), kinds=one.types, source=one.title)


def load_file(opened: Opened, options: DataOptions) -> None:
    """Read a table and start work on it; where it cannot be read, everything stays as it was.

    Raises
    ------
    BadInput
        Naming the place in the file and what to do.
    TooMuch
        If the host takes no table of this size.
    """
    if len(opened.content) > MOST_BYTES:
        raise BadInput(
            f"The file has {len(opened.content) / 2**30:.1f} GiB; at most "
            f"{MOST_BYTES / 2**30:.0f} GiB are read here.",
            remedy="Use the command line for a table of this size.",
        )
    limits.check_size(opened.content)
    data = read_table(opened.content, options, name=opened.name)
    limits.check_rows(data.rows)
    here().note("open", rows=data.rows, columns=len(data.columns))
    state.set_dataset(
        data,
        roles=None,
        levels={},
        types={},
        title=opened.name,
        reading=options.as_mapping(),
        file=opened.content,
    )


def read_again(options: DataOptions) -> None:
    """Read the kept file with other options; roles and hierarchies of columns still there stay.

    Raises
    ------
    BadInput
        If the file was not kept, or cannot be read so.
    """
    content = state.file()
    if content is None:
        raise BadInput(
            "The file was too large to be kept, so it cannot be read again.",
            remedy="Load it once more on Start, with these options.",
        )
    data = read_table(content, options, name=state.dataset_title())
    roles, draft = state.roles(), state.draft()
    draft["data"] = options.as_mapping()
    draft["types"] = {n: kind for n, kind in draft["types"].items() if n in data.names}
    levels = {n: rows for n, rows in state.levels().items() if n in data.names}
    kept = {
        role: tuple(n for n in cast(tuple[str, ...], names) if n in data.names)
        for role, names in asdict(roles).items()
        if role not in ("person", "household", "weight")
    }
    person = roles.person if roles.person in data.names else ""
    household = roles.household if roles.household in data.names else ""
    weight = roles.weight if roles.weight in data.names else ""
    left_out = [n for n in state.left_out() if n in data.names]
    state.set_dataset(
        data,
        roles=Roles(**kept, person=person, household=household, weight=weight),
        left_out=left_out,
        levels=levels,
        types=draft["types"],
        title=state.dataset_title(),
        attribution=state.attribution(),
        file=content,
        draft=draft,
    )


def settle(column: str, what: str, choice: str) -> None:
    """Read a column's dates or decimals as someone says, from the file that was kept.

    Raises
    ------
    BadInput
        If the file was not kept, or the column is not written so.
    """
    options = state.draft()["data"]
    settled = {**options.get(what, {}), column: choice}
    read_again(DataOptions.from_mapping({**options, what: settled}))


def set_kind(column: str, kind: ColumnKind) -> None:
    """Read a column as another kind; can be undone.

    Raises
    ------
    BadInput
        If the column has values that are not of the kind.
    """
    data = state.dataset()
    if data is None:
        return
    types = state.draft()["types"] | {column: kind}
    data.with_kinds(types)
    if data.column(column).kind == kind and not data.column(column).replaced:
        del types[column]
    options = state.draft()["data"]
    found = [name for name in options.get("kinds_found", ()) if name != column]
    state.update_draft(types=types, data={**options, "kinds_found": found})


def hierarchy_of(column: str) -> Hierarchy:
    """Return a column's hierarchy as the choices make it: the given one, or value and ``*``.

    Raises
    ------
    AnonError
        If the column's level table does not fit the column.
    """
    data = state.typed_dataset()
    if data is None:
        raise BadInput("There is no table yet.", remedy="Choose one on Start.")
    of = data.column(column)
    rows = state.levels().get(column)
    unseen = read_unseen(state.draft().get("reuse", {}).get("unseen", "fail"))

    def made() -> Hierarchy:
        if rows is None:
            return flat(of)
        known = met(unseen, data, {column: rows}, (column,))
        return from_rows(known.table.column(column), known.hierarchies[column])

    return state.once(
        "hierarchy", (data.fingerprint, column, state.level_fingerprint(column), unseen), made
    )


def load_levels(column: str, opened: Opened) -> None:
    """Take over the hierarchy of a file; where it cannot be one, everything stays as it was.

    Values of the column that the file lacks wait in the builder for a place.

    Raises
    ------
    BadHierarchy
        Naming the line or the level, and what to do.
    """
    data = state.typed_dataset()
    if data is not None:
        drafts.put(data.column(column), parse_levels(text_of(opened), column))


def table_csv(data: Dataset) -> bytes:
    """Return a table as it was read, as CSV; a missing value is an empty cell."""
    return data.frame().to_csv(index=False, lineterminator="\n").encode()


def reading_of(recipe: Opened) -> DataOptions:
    """Return how a recipe reads its table.

    Raises
    ------
    BadPlan
        If it is no recipe.
    """
    return Plan.from_toml(text_of(recipe)).data


def recipe_reading(recipe: Opened) -> DataOptions | None:
    """Return how a recipe reads the table's file, where that is another way than it was read.

    None where the file was not kept, or the recipe cannot be read.
    """
    try:
        wanted = reading_of(recipe)
    except AnonError:
        return None
    present = DataOptions.from_mapping(state.draft()["data"])
    reading = {key: getattr(wanted, key) for key in _READING}
    if state.file() is None or replace(present, **reading) == present:
        return None
    return replace(present, **reading)


def open_recipe(recipe: Opened, others: Sequence[Opened] = ()) -> tuple[str, ...]:
    """Set everything a recipe says, if it fits the table; otherwise nothing changes.

    Parameters
    ----------
    recipe : Opened
    others : sequence of Opened
        Hierarchy files and the population table that the recipe names; where a hierarchy is
        missing, the column keeps the one it has, or takes the sample's.

    Returns
    -------
    tuple of str
        What a person should know about it.

    Raises
    ------
    AnonError
        If it is no recipe, or does not fit the table.
    """
    data = state.dataset()
    if data is None:
        raise BadInput(
            "A recipe needs a table, and none is loaded.",
            remedy="Choose a sample or load a file first.",
        )
    plan = named_among(Plan.from_toml(text_of(recipe)), [one.name for one in others])
    gone = [n for n in dict.fromkeys((*plan.roles.named, *plan.types)) if n not in data.names]
    if gone:
        raise InputChanged(
            f"The table has no column {listing(gone)}, which the recipe names; it has "
            f"{listing(data.names)}.",
            remedy=f"Load the table that the recipe belongs to.{nearest(gone[0], data.names)}",
        )
    plan.roles.check(data)
    typed = data.with_kinds(plan.types)
    levels = _recipe_levels(plan, others)
    own = tuple(column for column in levels if column in plan.roles.quasi)
    known = met(plan.reuse.unseen, typed, levels, own)
    for column in own:
        from_rows(known.table.column(column), known.hierarchies[column])
    tables = plan.as_mapping()
    draft: dict[str, Any] = {"types": {}, "population": {}, "earlier": {}} | {
        key: value for key, value in tables.items() if key not in ("roles", "hierarchies")
    }
    notes = [f"The recipe is of an older version. {note}" for note in plan.notes]
    unnamed = plan.roles.left_out(data)
    if unnamed:
        notes.append(
            f"No role of the recipe names {listing(unnamed)}, so the release leaves "
            f"{'it' if len(unnamed) == 1 else 'them'} out. To publish a column as it is, mark it "
            "as insensitive on Roles."
        )
    reading = state.draft()["data"]
    known = _READING if "separator" in reading else [key for key in _READING if key in reading]
    present = DataOptions.from_mapping(reading)
    if any(getattr(plan.data, key) != getattr(present, key) for key in known):
        notes.append(
            "The recipe uses other import settings than this table was read with. The "
            "table stays as it was read until it is read again."
        )
    kept = {key: getattr(present, key) for key in known}
    draft["data"] = replace(plan.data, **kept).as_mapping()
    if plan.population_file:
        name = PurePath(plan.population_file).name
        own = next((one for one in others if PurePath(one.name).name == name), None)
        draft["population"] = {"file": population_tables.add(name, own.content).path} if own else {}
        if own is None:
            notes.append(
                f"The recipe names the population table {name}, which is not here. Choose it "
                "together with the recipe, or on Run; until then there is no population."
            )
    if plan.earlier.file:
        name = PurePath(plan.earlier.file).name
        own = next((one for one in others if PurePath(one.name).name == name), None)
        kept_earlier = population_tables.add(name, own.content, "earlier").path if own else ""
        earlier = replace(plan.earlier, file=kept_earlier)
        draft["earlier"] = earlier.as_mapping() or (
            {"sha256": earlier.sha256} if earlier.sha256 else {}
        )
        if own is None:
            parts = plan.reuse.mode == "fixed" and plan.algorithm.needs.earlier_parts
            until = "its parts cannot be carried out" if parts else "nothing is compared with it"
            notes.append(
                f"The recipe names the earlier release {name}, which is not here. Choose it "
                f"together with the recipe, or on Run; until then {until}."
            )
    state.set_work(roles=plan.roles, levels=levels, draft=draft, notes=plan.notes)
    return tuple(notes)


def _recipe_levels(plan: Plan, others: Sequence[Opened]) -> dict[str, LevelTable]:
    by_name = {PurePath(one.name).name: one for one in others}
    present = state.levels()
    shipped = shipped_levels(sample(state.sample_name())) if state.sample_name() else {}
    found: dict[str, LevelTable] = {}
    lacking: list[str] = []
    for column, path in plan.hierarchies.items():
        own = by_name.get(PurePath(path).name)
        if own is not None:
            found[column] = parse_levels(text_of(own), column)
        elif column in present or column in shipped:
            found[column] = present.get(column) or shipped[column]
        else:
            lacking.append(PurePath(path).name)
    if lacking:
        raise BadHierarchy(
            f"The recipe needs the hierarchy files {listing(lacking)}, which are not here.",
            remedy="Choose the recipe and its hierarchy files together.",
        )
    return found


def text_of(opened: Opened) -> str:
    """Return the text of a file.

    Raises
    ------
    BadPlan
        If it is not UTF-8.
    """
    try:
        return opened.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlan(
            f"The file is not UTF-8 text (byte {error.start + 1}).", remedy="Save it as UTF-8."
        ) from error


def named_among(plan: Plan, names: Sequence[str]) -> Plan:
    """Return a recipe's plan with the files of its folder of hierarchies, as far as they are here.

    A zip shows what lies in the folder; of files that were chosen one by one those that are named
    like a column are taken.

    Raises
    ------
    BadHierarchy
        If several files fit one column, or none fits any.
    """
    folder = plan.hierarchies.get(EVERY_OTHER)
    if folder is None:
        return plan
    paths = [PurePosixPath(name) for name in names]
    inside = [path.name for path in paths if path.parent == PurePosixPath(folder)]
    loose = [path.name for path in paths if path.name not in map(_base_name, plan.files)]
    found = with_names(plan.hierarchies, plan.roles, inside or loose, strict=bool(inside))
    return replace(plan, hierarchies=found)


def _base_name(path: str) -> str:
    return PurePosixPath(path).name
