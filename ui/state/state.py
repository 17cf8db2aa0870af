"""What a session works on: the table, and the choices made on it.

What a person chose is plain JSON, so that it can be compared, undone and written as a recipe; the
table is kept whole. What came out is kept by `results`, pinned runs by `pinning`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

import streamlit as st

from anon_core.base import secret
from anon_core.base.errors import AnonError, BadPlan, listing
from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm, met_first, with_usual_budget
from anon_core.contracts.change import Change
from anon_core.data.reading import DataOptions
from anon_core.data.reading.columns import Keeping
from anon_core.data.reading.row_filter import filtered
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.methods.changes.keyed import parse_key
from anon_core.recipe.old_recipes import renewed
from anon_core.recipe.plan import LevelTable, Plan
from ui.state import kept_fields

_T = TypeVar("_T")

#: Changes that can be undone; more are forgotten, the oldest first.
STEPS = 50
#: A file up to this size is kept, so that it can be read again with other options.
MOST_KEPT_BYTES = 32 * 2**20

_DATA = "state/dataset"
_FILE = "state/file"
_WORK = "state/work"
_PAST = "state/past"
#: Kept by `ui.state.results`; they belong to the table, and go and come back with it.
RESULT = "state/result"
MADE_OF = "state/result_made_of"
RESULT_BEFORE = "state/result_before"
#: The run that figures are compared with, the runs made on this table, and since when one is shown.
BASELINE = "state/baseline"
RUNS = "state/runs"
SHOWN_SINCE = "state/shown_since"
#: Whether someone chose the run that figures are compared with; the runs in the order in which
#: they were shown, and which of them is shown now.
BASELINE_PINNED = "state/baseline_pinned"
SHOWN_IN_TURN, SHOWN_AT = "state/shown_in_turn", "state/shown_at"
#: First figures of a run, drawn while the rest of it is under way.
FIRST = "state/first"
_BEFORE = "state/before"
_TYPED = "state/typed"
#: The secret key of pseudonyms, as it was typed.
_KEY = "state/key"
#: The column whose hierarchy is being edited, as long as nothing else is changed.
_GOING_ON = "state/going_on"
_WHOLE = (
    _DATA, _FILE, _WORK, _PAST, _KEY, RESULT, MADE_OF, RESULT_BEFORE, BASELINE, RUNS, SHOWN_SINCE,
    FIRST, BASELINE_PINNED, SHOWN_IN_TURN, SHOWN_AT, _TYPED, _GOING_ON,
)  # fmt: skip


# ---- the table -----------------------------------------------------------------------------


def dataset() -> Dataset | None:
    """Return the table as it was read, or None before one is chosen."""
    return st.session_state.get(_DATA)


def typed_dataset() -> Dataset | None:
    """Return the table with the chosen kinds of its columns, and the values their levels keep.

    Raises
    ------
    BadInput
        If a column holds values that are not of its kind.
    """
    data = dataset()
    if data is None:
        return None
    kinds = cast(dict[str, ColumnKind], draft()["types"])
    named = {**levels(), **kinds}
    # Few tables have both: what is said of missing values is asked only there.
    keep = keeping() if any(c.missing and c.name in named for c in data.columns) else None
    kept = st.session_state.get(_TYPED)
    if kept is None or kept[0] != kinds or kept[1] is not data or kept[3] != keep:
        own = data if keep is None else keep.table(data)
        kept = (kinds, data, own.with_kinds(kinds), keep)
        st.session_state[_TYPED] = kept
    return cast(Dataset, kept[2])


def released_dataset() -> Dataset | None:
    """Return the typed table with the rows that are published: all, or those of the condition.

    Raises
    ------
    AnonError
        If a column holds values that are not of its kind, or the condition chooses no row.
    """
    data, where = typed_dataset(), str(draft()["data"].get("where", ""))
    if data is None or not where.strip():
        return data
    return once("released rows", (data.fingerprint, where), lambda: filtered(data, where))


def keeping(more: Mapping[str, LevelTable] = MappingProxyType({})) -> Keeping:
    """Return which texts are values by the choices, and by `more` level tables."""
    present = draft()
    return Keeping(
        data=DataOptions.from_mapping(present["data"]),
        types=present["types"],
        coarsened=roles().quasi,
        hierarchies={**levels(), **more},
    )


def set_dataset(
    data: Dataset,
    *,
    roles: Roles | None,
    left_out: Sequence[str] = (),
    levels: Mapping[str, LevelTable],
    types: Mapping[str, str],
    title: str,
    attribution: str = "",
    k: int = 5,
    reading: Mapping[str, object] | None = None,
    file: bytes | None = None,
    sample: str = "",
    draft: Mapping[str, Any] | None = None,
) -> None:
    """Start work on a table; the result goes, pinned runs stay, `undo_dataset` brings all back.

    Parameters
    ----------
    data : Dataset
    roles : Roles or None
        None leaves every column undecided.
    left_out : sequence of str
        Columns that were decided to be left out.
    levels : mapping of str to level table
    types : mapping of str to str
        Kinds of columns that are not to be found out.
    title, attribution : str
    k : int
    reading : mapping of str to object, optional
        How the file was read (`DataOptions.as_mapping`).
    file : bytes, optional
        The file itself; kept only up to `MOST_KEPT_BYTES`.
    sample : str, optional
        Name of the sample, where the table is one.
    draft : mapping of str to object, optional
        The recipe's tables to start from, instead of `types`, `k` and `reading`.
    """
    before = {key: st.session_state[key] for key in _WHOLE if key in st.session_state}
    for key in _WHOLE:
        st.session_state.pop(key, None)
    fields = kept_fields.forget_table()
    if _DATA in before:
        st.session_state[_BEFORE] = before, fields
    st.session_state[_DATA] = data
    if file is not None and len(file) <= MOST_KEPT_BYTES:
        st.session_state[_FILE] = file
    st.session_state[_PAST] = []
    st.session_state[_WORK] = {
        "title": title,
        "attribution": attribution,
        "sample": sample,
        "roles": _role_names(roles or Roles(), left_out),
        "levels": {name: _entry(rows) for name, rows in levels.items()},
        "draft": json.loads(json.dumps(draft))
        if draft is not None
        else {
            "seed": secret.spell(secret.draw()),
            "data": dict(reading or {"missing": "keep"}),
            "types": dict(types),
            "algorithm": _begun(),
            "models": [{"name": "k-anonymity", "k": k}],
            "population": {},
            "export": {"formulas": "neutralise"},
        },
    }


def undo_dataset() -> bool:
    """Bring back the table and the work that `set_dataset` replaced; return if there was any."""
    if _BEFORE not in st.session_state:
        return False
    before, fields = st.session_state.pop(_BEFORE)
    for key in _WHOLE:
        st.session_state.pop(key, None)
    for key, kept in before.items():
        st.session_state[key] = kept
    kept_fields.forget_table()
    kept_fields.take_over(fields)
    return True


def forget_dataset_before() -> None:
    """Let the table and the work go that `undo_dataset` would bring back."""
    st.session_state.pop(_BEFORE, None)


def can_undo_dataset() -> bool:
    """Return whether an earlier table can be brought back."""
    return _BEFORE in st.session_state


def file() -> bytes | None:
    """Return the uploaded file where it was small enough to keep."""
    return st.session_state.get(_FILE)


def dataset_title() -> str:
    """Return the name of the table for headings."""
    return str(_work()["title"])


def attribution() -> str:
    """Return where the table comes from, or an empty text."""
    return str(_work()["attribution"])


def sample_name() -> str:
    """Return the name of the sample, or an empty text for a table that was loaded."""
    return str(_work()["sample"])


def once(name: str, of: object, make: Callable[[], _T]) -> _T:
    """Return what `make` gives, made again only when `of` has changed since.

    Parameters
    ----------
    name : str
        Under which the session keeps it; there is one of each.
    of : object
        Everything the outcome depends on, such as fingerprints; compared with ``==``.
    make : callable
    """
    key = f"once/{name}"
    kept = st.session_state.get(key)
    if kept is None or kept[0] != of:
        kept = (of, make())
        st.session_state[key] = kept
    return cast(_T, kept[1])


# ---- what was chosen -----------------------------------------------------------------------


def roles() -> Roles:
    """Return the roles of the columns."""
    named = cast(dict[str, list[str]], _work()["roles"])
    return Roles(
        identifier=tuple(named["identifier"]),
        quasi=tuple(named["quasi"]),
        sensitive=tuple(named["sensitive"]),
        insensitive=tuple(named["insensitive"]),
        person=next(iter(named["person"]), ""),
        household=next(iter(named.get("household", [])), ""),
        weight=next(iter(named.get("weight", [])), ""),
    )


def left_out() -> tuple[str, ...]:
    """Return the columns that were decided to be left out of the release."""
    return tuple(cast(list[str], _work()["roles"]["left_out"]))


def undecided() -> tuple[str, ...]:
    """Return the table's columns that are neither given a role nor left out."""
    data = dataset()
    decided = {*roles().named, *left_out()}
    return () if data is None else tuple(n for n in data.names if n not in decided)


def set_roles(roles: Roles, left_out: Sequence[str] = ()) -> None:
    """Give the columns these roles, and leave others undecided; can be undone."""
    _change({**_work(), "roles": _role_names(roles, left_out)})


def levels() -> dict[str, list[list[str]]]:
    """Return the level tables by column, also of columns that have no role now."""
    return {name: entry["rows"] for name, entry in _work()["levels"].items()}


def set_levels(column: str, rows: LevelTable | None, *, going_on: bool = False) -> None:
    """Give a column this level table, or none; can be undone.

    Parameters
    ----------
    column : str
    rows : level table or None
    going_on : bool
        Whether this is one of many small edits of the column: `undo` takes them back together.
    """
    present = dict(_work()["levels"])
    present.pop(column, None)
    if rows is not None:
        present[column] = _entry(rows)
    work = {**_work(), "levels": present}
    if going_on and st.session_state.get(_GOING_ON) == column:
        st.session_state[_WORK] = work
        return
    _change(work)
    if going_on and st.session_state.get(_WORK) is work:
        st.session_state[_GOING_ON] = column


def level_fingerprint(column: str) -> str:
    """Return a hash of a column's level table, or an empty text where it has none."""
    entry = _work()["levels"].get(column)
    return str(entry["sha256"]) if entry else ""


def set_work(
    *,
    roles: Roles,
    levels: Mapping[str, LevelTable],
    draft: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> None:
    """Replace roles, hierarchies and draft together, as one change that can be undone.

    Columns that no role names are left out, as a recipe leaves them out.

    Parameters
    ----------
    roles, levels, draft
    notes : sequence of str
        What was renewed in the recipe that they come from.
    """
    data = dataset()
    rest = () if data is None else roles.left_out(data)
    _change(
        {
            **_work(),
            "roles": _role_names(roles, rest),
            "levels": {name: _entry(rows) for name, rows in levels.items()},
            "draft": json.loads(json.dumps(draft)),
            "notes": list(notes),
        }
    )


def notes() -> tuple[str, ...]:
    """Return what was renewed in the recipe that was opened; empty unless that was an older one."""
    return tuple(cast(list[str], _work().get("notes", [])))


def draft() -> dict[str, Any]:
    """Return the recipe's tables as plain JSON, without roles and hierarchies.

    A draft that was written for an older version is put as it is written now.
    """
    return _draft_of(_work())


def _draft_of(work: dict[str, Any]) -> dict[str, Any]:
    return renewed(json.loads(json.dumps(work["draft"])))[0]


def begin_with(**tables: Any) -> None:
    """Replace tables of the recipe a table starts with; nothing that could be undone."""
    _work()["draft"] |= json.loads(json.dumps(tables))


def update_draft(**tables: Any) -> None:
    """Replace whole tables of the draft; can be undone."""
    plain = json.loads(json.dumps(tables))
    _change({**_work(), "draft": {**_work()["draft"], **plain}})


def settle_draft(**tables: Any) -> bool:
    """Replace whole tables of the draft by how a form spells them out; say whether that changed.

    It can be undone if it means something else: each drawing would spell it out again.
    """
    before = _work()
    work = {**before, "draft": {**before["draft"], **json.loads(json.dumps(tables))}}
    if work != before and _same_plan(before, work):
        st.session_state[_WORK] = work
    else:
        _change(work)
    return work != before


def _same_plan(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two works make the same plan; where one makes none, they do not."""
    try:
        return Plan.from_mapping(_recipe(one)) == Plan.from_mapping(_recipe(other))
    except AnonError:
        return False


def draw_seed() -> None:
    """Draw a new secret for chance to start from; can be undone."""
    update_draft(seed=secret.spell(secret.draw()))


def plan() -> Plan:
    """Return the plan that the choices make.

    Raises
    ------
    AnonError
        Where the choices contradict each other, or a column is undecided.
    """
    open_ = undecided()
    if open_:
        verb = "has" if len(open_) == 1 else "have"
        raise BadPlan(
            f"Column {listing(open_)} {verb} no role yet: publish "
            f"{'it' if len(open_) == 1 else 'them'} or not?",
            remedy="Decide on Roles: give each a role, or leave it out.",
        )
    found = Plan.from_mapping(_recipe())
    held = secret_key()
    asks = any(one.change.effect.needs_key for one in found.changes)
    return replace(found, key=parse_key(held)) if held and asks else found


def secret_key() -> str:
    """Return the secret key as it was typed: the browser's session holds it, and no file."""
    return cast(str, st.session_state.get(_KEY) or "")


def hold_key(typed: str) -> None:
    """Hold the secret key for as long as the session lasts; no session that is kept has it."""
    st.session_state[_KEY] = typed


def recipe() -> dict[str, Any]:
    """Return the recipe that the choices make, whether it is a plan or not."""
    return _recipe()


def undo() -> bool:
    """Take back the last change of roles, hierarchies or draft; return whether there was one."""
    past = cast(list[dict[str, Any]], st.session_state.get(_PAST) or [])
    if not past:
        return False
    st.session_state[_WORK] = past[-1]
    st.session_state[_PAST] = past[:-1]
    st.session_state.pop(_GOING_ON, None)
    return True


@contextmanager
def one_change() -> Generator[None]:
    """Let everything that is changed inside be undone together."""
    before, past = _work(), cast(list[dict[str, Any]], st.session_state.get(_PAST) or [])
    try:
        yield
    finally:
        if _work() is not before and st.session_state.get(_WORK) is not None:
            st.session_state[_PAST] = [*past, before][-STEPS:]


def can_undo() -> bool:
    """Return whether a change can be taken back."""
    return bool(st.session_state.get(_PAST))


def choices() -> dict[str, Any]:
    """Return everything chosen, for `set_choices`; nothing in it may be edited."""
    return _work()


def set_choices(chosen: dict[str, Any]) -> None:
    """Go back to what was chosen once, as one change that can be undone."""
    _change(chosen)


def fingerprint() -> str:
    """Return a hash of the table's full content and of everything chosen."""
    data = dataset()
    work = _work()
    quasi = set(work["roles"]["quasi"])
    parts = [
        data.fingerprint if data is not None else "",
        _recipe(),
        {name: entry["sha256"] for name, entry in work["levels"].items() if name in quasi},
    ]
    if held := secret_key():
        parts.append(hashlib.sha256(held.encode()).hexdigest())
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


# ---- inside --------------------------------------------------------------------------------


def _begun() -> dict[str, object]:
    """Return the technique that a table is begun with."""
    return with_usual_budget(cast(type[Algorithm], family("algorithm")[met_first()[0]]))


def _work() -> dict[str, Any]:
    work = st.session_state.get(_WORK)
    if work is None:
        return {
            "title": "",
            "attribution": "",
            "sample": "",
            "roles": _role_names(Roles(), ()),
            "levels": {},
            "draft": {"data": {}, "types": {}, "algorithm": {}, "models": [], "population": {}},
        }
    return cast(dict[str, Any], work)


def _change(work: dict[str, Any]) -> None:
    """Put new work instead of the old, which is kept; nothing in a kept work is ever edited."""
    if work == _work():
        return
    st.session_state.pop(_GOING_ON, None)
    past = cast(list[dict[str, Any]], st.session_state.get(_PAST) or [])
    st.session_state[_PAST] = [*past, _work()][-STEPS:]
    st.session_state[_WORK] = work


def _recipe(work: dict[str, Any] | None = None) -> dict[str, Any]:
    work = _work() if work is None else work
    roles: Mapping[str, Sequence[str]] = work["roles"]
    coarser = dict.fromkeys((*roles["quasi"], *roles["sensitive"]))
    files = {name: f"hierarchies/{name}.csv" for name in coarser if name in work["levels"]}
    apart = ("left_out", "person", "household", "weight")
    named = {role: names for role, names in work["roles"].items() if role not in apart}
    for role in apart[1:]:
        if columns := work["roles"].get(role):
            (named[role],) = columns
    made = {**_draft_of(work), "roles": named, "hierarchies": files}
    _only_of_these(made, roles)
    levels = cast(dict[str, int | str], made.pop("sensitive_levels", {}))
    bounds = cast(dict[str, Any], made.pop("level_bounds", {}))
    if bounds := {n: ends for n, ends in bounds.items() if n in roles["quasi"]}:
        made["level_bounds"] = bounds
    secret_only = [n for n in roles["sensitive"] if n not in roles["quasi"]]
    if kept := {n: level for n, level in levels.items() if n in secret_only and n in files}:
        made["sensitive_levels"] = kept
    labels_of = cast(dict[str, Any], made.pop("labels", {}))
    if labelled := {n: labels for n, labels in labels_of.items() if n in files}:
        made["labels"] = labelled
    return made


def _only_of_these(made: dict[str, Any], roles: Mapping[str, Sequence[str]]) -> None:
    """Keep what was confirmed and redacted of columns that still have the roles for it."""
    hidden = {*roles["identifier"], *roles["person"], *roles.get("household", [])}
    shown = {*roles["insensitive"], *roles["sensitive"]} - {*roles["quasi"]}
    given = cast(dict[str, list[str]], made.pop("redacted", {}))
    redacted = {n: [by for by in names if by in hidden] for n, names in given.items() if n in shown}
    if redacted := {n: names for n, names in redacted.items() if names}:
        made["redacted"] = redacted
    changes = cast(list[dict[str, Any]], made.pop("changes", []))
    fitting = [{**one, "columns": _allowed(one, roles)} for one in changes]
    if fitting := [one for one in fitting if one["columns"]]:
        made["changes"] = fitting
    confirmed = cast(list[dict[str, Any]], made.pop("confirmed", []))
    if confirmed := [one for one in confirmed if one["column"] in hidden | shown]:
        made["confirmed"] = confirmed


def _allowed(one: Mapping[str, Any], roles: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns of a change whose role still allows it."""
    kind = cast("type[Change] | None", family("change").get(str(one.get("name"))))
    allowed = () if kind is None else kind.of_roles
    named = {n: [r for r, names in roles.items() if n in names] for n in one.get("columns", [])}
    return [n for n, own in named.items() if own and all(role in allowed for role in own)]


def labels() -> dict[str, Any]:
    """Return by column what becomes of labels that are not true of their values."""
    return cast(dict[str, Any], _recipe().get("labels", {}))


def redacted() -> dict[str, list[str]]:
    """Return by column the identifiers whose words are taken out of it."""
    return cast(dict[str, list[str]], _recipe().get("redacted", {}))


def confirmed() -> list[dict[str, Any]]:
    """Return what was confirmed of columns that are published as they are."""
    return cast(list[dict[str, Any]], _recipe().get("confirmed", []))


def _role_names(roles: Roles, left_out: Sequence[str]) -> dict[str, list[str]]:
    return {
        "identifier": list(roles.identifier),
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
        "insensitive": list(roles.insensitive),
        "person": [roles.person] if roles.person else [],
        "household": [roles.household] if roles.household else [],
        "weight": [roles.weight] if roles.weight else [],
        "left_out": [n for n in left_out if n not in roles.named],
    }


def _entry(rows: LevelTable) -> dict[str, Any]:
    copied = [list(row) for row in rows]
    return {"rows": copied, "sha256": hashlib.sha256(json.dumps(copied).encode()).hexdigest()}
