"""What a recipe names: the table as it declares it, the population and an earlier release."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from anon_core.base.errors import (
    AnonError,
    BadInput,
    BadPlan,
    Cancelled,
    InputChanged,
    clipped,
    listing,
    nearest,
)
from anon_core.data.column import Column
from anon_core.data.reading import MOST_BYTES_OF_COMMANDS, DataOptions, read_table
from anon_core.data.reading.any_format import file_kind
from anon_core.data.reading.loading import GZIP_MARK, load, unpack
from anon_core.data.reading.stored import is_address, located, name_of
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan
from anon_core.verification.files.reading import read_table as read_by_itself
from anon_core.verification.files.reading_options import Reading, read_options
from anon_core.verification.files.recipe_files import read_plan as read_recipe
from anon_core.verification.recipe import section
from anon_core.verification.text.cells import TextTable

#: Bytes of a file that say what kind it is.
_HEAD = 600
#: By what is undecided: the question, and what a recipe says of it.
_QUESTIONS = {
    "dates": (
        "writes dates that may be day/month/year or month/day/year",
        '[data.dates] "{}" = "dmy" or "mdy"',
    ),
    "decimals": (
        "writes numbers with marks that may separate decimals or thousands",
        '[data.decimals] "{}" = "," or "."',
    ),
}


def undecided_columns(plan: Plan, dataset: Dataset) -> Sequence[Column]:
    """Return the columns of a release that may be read in two ways."""
    named = dict.fromkeys((*plan.roles.quasi, *plan.roles.sensitive, *plan.roles.insensitive))
    columns = [dataset.column(name) for name in named]
    return [c for c in columns if c.undecided and c.name not in plan.types]


def refuse_undecided(plan: Plan, dataset: Dataset) -> None:
    """Refuse a table whose columns may be read in two ways, or settings of columns it lacks.

    Raises
    ------
    BadPlan
        If dates or decimals are settled of a column that the table lacks.
    BadInput
        Naming the columns and what to write into the recipe.
    """
    settled = (*plan.data.dates, *plan.data.decimals)
    gone = [name for name in settled if name not in dataset.names]
    if gone:
        raise BadPlan(
            f"[data] says how {listing(gone)} is written, but the table has "
            f"{listing(dataset.names)}.",
            remedy=f"Use one of the table's column names.{nearest(gone[0], dataset.names)}",
        )
    found = undecided_columns(plan, dataset)
    if found:
        what = [f"'{c.name}' {_QUESTIONS[c.undecided][0]}" for c in found[:5]]
        more = f", and {len(found) - 5} more columns do" if len(found) > 5 else ""
        asked = "; ".join(_QUESTIONS[c.undecided][1].format(c.name) for c in found[:5])
        raise BadInput(
            f"Column {'; column '.join(what)}{more}, and no value decides it.",
            remedy=f"Say which on Data, or in the recipe: {asked}.",
        )


def read_as_declared(plan: Plan, path: Path) -> Dataset:
    """Read the table with the recipe's types; where they no longer fit, the input has changed.

    Raises
    ------
    InputChanged
        If the table lacks a column for which the recipe declares a type, or its values do not fit.
    BadInput
        If the file cannot be read.
    """
    dataset = read_table(path, plan.data, most_bytes=MOST_BYTES_OF_COMMANDS)
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


def read_population(plan: Plan, folder: Path) -> Dataset | None:
    """Read the table of the population that a recipe names, relative to its folder, if it does.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    return _read_near(plan, folder, plan.population_file)


def read_earlier(plan: Plan, folder: Path) -> Dataset | None:
    """Read the earlier release that a recipe names, relative to its folder, if it does.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    return _read_near(plan, folder, plan.earlier.file)


def refuse_absent(plan: Plan, folder: Path) -> None:
    """Refuse a recipe whose population or earlier release is not where it says, read or not.

    Raises
    ------
    BadInput
    """
    for place in (plan.population_file, plan.earlier.file):
        path = folder / place
        if place and not is_address(path) and not path.exists():
            raise BadInput(
                f"There is no file '{clipped(str(path))}'.",
                remedy="Check the path and its spelling.",
            )


def refuse_idle(plan: Plan, path: Path) -> None:
    """Refuse what the recipe says of files of another kind than the table's; see `DataOptions`.

    Raises
    ------
    BadInput, BadPlan
    """
    own = plan.data
    said = own.separator or own.encoding or own.sheet or own.header_row
    if (said or own.value_labels != "labels") and path.is_file():
        with path.open("rb") as file:
            data = file.read(_HEAD)
        if data.startswith((GZIP_MARK, b"PK")):  # of these alone, more than the head has to be read
            data = load(path, path.name, MOST_BYTES_OF_COMMANDS)
        if data.startswith(GZIP_MARK):
            data = unpack(data, path.name, MOST_BYTES_OF_COMMANDS)
        own.refuse_idle(file_kind(data), path.name)


def _read_near(plan: Plan, folder: Path, place: str) -> Dataset | None:
    if not place:
        return None
    options = plan.data
    tokens = DataOptions(
        missing_values=options.missing_values,
        missing_in=options.missing_in,
        dates=options.dates,
        decimals=options.decimals,
    )
    return read_table(folder / place, tokens, most_bytes=MOST_BYTES_OF_COMMANDS)


# The private table, which the second computation reads with its own reader.


#: Reads the private table, as `verify_files` asks for it.
Reader = Callable[[Path, Reading], TextTable]
#: Bytes of a file from which a thread of its own reads it.
_WORTH_A_THREAD = 32 << 20
#: Begins of files that are unpacked in memory, which holds one of them at a time: gzip, workbooks.
_PACKED = (GZIP_MARK, b"PK", b"\xd0\xcf\x11\xe0")


@contextmanager
def read_alongside(plan: Plan, recipe: Path, data: Path) -> Generator[Reader]:
    """Let the second computation read the private table while the block carries out the plan.

    What is wrong with the file is raised where the table is asked for, and not before. Where the
    block ends without that, so does the reading. A small file is read when it is asked for, and so
    is one that has to be unpacked first.

    Yields
    ------
    callable
        What `verify_files` takes as `read`. The block has to see to it that the file stays as it
        is (`unchanged`).
    """
    if not _is_worth_a_thread(data):
        yield read_by_itself
        return
    stopped = Event()

    def go_on() -> None:
        if stopped.is_set():
            raise Cancelled("The table is no longer read.")

    names = (*plan.roles.quasi, *plan.roles.sensitive, *plan.roles.insensitive)

    def begin() -> tuple[Reading, TextTable]:
        reading = read_options(section(read_recipe(recipe, plan.completed()), "data"))
        table = read_by_itself(data, replace(reading, go_on=go_on))
        table.prefetch(names)
        return reading, table

    def read(path: Path, reading: Reading) -> TextTable:
        as_read, table = early.result()
        return table if (path, reading) == (data, as_read) else read_by_itself(path, reading)

    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(begin)
        try:
            yield read
        finally:
            stopped.set()


def _is_worth_a_thread(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size < _WORTH_A_THREAD:
            return False
        with path.open("rb") as file:
            return not file.read(_HEAD).startswith(_PACKED)
    except (OSError, ValueError):  # reported by those who read it
        return False


# A file that must stay as it is while it is read more than once.


#: What is known of the files: their names, places on the disk, sizes and times.
_State = tuple[tuple[str | int, ...], ...]


@contextmanager
def unchanged(*paths: Path) -> Generator[None]:
    """Refuse what the block finds where someone wrote to a file, or put another there, meanwhile.

    Whatever the block refuses then is reported as that change, since it is no fault of anything
    else.

    Parameters
    ----------
    *paths : Path
        Files, or folders of files; one that is not there is reported by anyone who reads it.

    Raises
    ------
    InputChanged
    """
    before = [_state(path) for path in paths]
    try:
        yield
    except (AnonError, OSError, ValueError) as error:
        _refuse_changed(paths, before, error)
        raise
    _refuse_changed(paths, before, None)


def _refuse_changed(paths: tuple[Path, ...], before: list[_State], error: Exception | None) -> None:
    for path, state in zip(paths, before, strict=True):
        if _state(path) != state:
            raise InputChanged(
                f"{clipped(name_of(path))} was changed while it was read.",
                remedy="Nothing was released or confirmed. Try again when no program writes to it.",
            ) from error


def _state(path: Path) -> _State:
    if is_address(path):
        try:
            return tuple((one.place, one.size, one.mark) for one in located(path).files)
        except BadInput:
            return ()
    try:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        found = [(str(file), file.stat()) for file in files]
    except (OSError, ValueError):
        return ()
    return tuple((name, own.st_ino, own.st_size, own.st_mtime_ns) for name, own in found)
