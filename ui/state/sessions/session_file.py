"""A session as a file: plain JSON that names its table by fingerprint and holds no row of it.

Results are kept as what they were made of, recipe and secret, and are carried out and verified
again when the file is opened; see `again`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from weakref import WeakKeyDictionary

from anon_core.base.errors import AnonError, BadInput, InputChanged
from anon_core.base.installation import VERSION
from anon_core.data.hierarchy import history_of_dict
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.explain.report.context import ReleaseContext
from anon_core.pipeline.result import Result
from ui.state import (
    drafts,
    kept_fields,
    loading,
    noise_budget,
    pinning,
    release_context,
    release_context_answers,
    results,
    state,
)
from ui.state.sessions import session_reruns

FORMAT = "anonymity-workbench-session"
#: Grows when an older workbench could not open the file any more.
FORMAT_VERSION = 1
MOST_BYTES = 256 * 2**20
_ALONE = ("person", "household", "weight")
_ROLES = ("identifier", "quasi", "sensitive", "insensitive", *_ALONE, "left_out")
_made: WeakKeyDictionary[Result, dict[str, Any]] = WeakKeyDictionary()


# ---- saving --------------------------------------------------------------------------------


def content() -> dict[str, Any]:
    """Return the session as plain JSON values.

    Raises
    ------
    BadInput
        If there is no table yet.
    """
    data = state.dataset()
    if data is None:
        raise BadInput("There is no table yet, so no session to save.", remedy="Load a table.")
    made_of = results.made_of()
    last = results.last()
    runs = [_run(last, "", made_of)] if last is not None else []
    runs += [_run(pin.result, pin.letter, None) for pin in pinning.pins()]
    there = {run["letter"] for run in runs}
    runs += [run for run in session_reruns.waiting() if run["letter"] not in there]
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "software": VERSION,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "table": {
            "fingerprint": data.fingerprint,
            "title": state.dataset_title(),
            "rows": data.rows,
            "columns": list(data.names),
        },
        "choices": state.choices(),
        "drafts": drafts.all_kept(),
        "context": release_context.stated().as_mapping(),
        "asked": release_context_answers.answers(),
        "fields": kept_fields.values(),
        "runs": runs,
        "spent": noise_budget.totals(),
    }


def as_bytes(whole: Mapping[str, Any]) -> bytes:
    """Return the `content` of a session as a file."""
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def _run(result: Result, letter: str, made_of: results.MadeOf | None) -> dict[str, Any]:
    """Return all that is needed to repeat a run, and to check that it came out alike."""
    if result not in _made:
        _made[result] = {
            "plan": result.plan.as_mapping(),
            "levels": {name: result.level_rows(name) for name in result.plan.hierarchies},
            "released": session_reruns.hash_of(result),
        }
    present = made_of is not None and made_of["choices"] is state.choices()
    return {
        **_made[result],
        "letter": letter,
        "made_of": None if made_of is None or present else made_of,
        "judgement": release_context.judgement(result),
        "reasons": dict(release_context.reasons(result)),
    }


# ---- opening -------------------------------------------------------------------------------


def parse(content: bytes) -> dict[str, Any]:
    """Return what a session file shows, with its outer form checked.

    Raises
    ------
    BadInput
        If it is no session file, is damaged, or was saved by a later version.
    """
    if len(content) > MOST_BYTES:
        raise BadInput(
            f"The session file has more than {MOST_BYTES // 2**20} MiB.",
            remedy="Choose the file that Save session made.",
        )
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damaged("it is not JSON") from error
    if not isinstance(found, dict) or cast(dict[str, Any], found).get("format") != FORMAT:
        raise BadInput(
            "This is not a session file of the workbench.",
            remedy="Choose the file that Save session made.",
        )
    whole = cast(dict[str, Any], found)
    version = whole.get("version")
    if version != FORMAT_VERSION:
        raise BadInput(
            f"The session was saved in form {version}, by version {whole.get('software')}; this "
            f"version ({VERSION}) reads form {FORMAT_VERSION}.",
            remedy="Open it with the version that saved it; the file is unchanged.",
        )
    for key, kind in {"table": dict, "choices": dict, "runs": list, "drafts": dict}.items():
        if not isinstance(whole.get(key), kind):
            raise _damaged(f"its {key} are not there")
    return whole


def restore(whole: Mapping[str, Any], content: bytes | None = None, *, fresh: bool = False) -> str:
    """Put a session instead of the present one, and carry its runs out again.

    Parameters
    ----------
    whole : mapping
        From `parse`.
    content : bytes, optional
        The table's file; else the file that is loaded, or the sample.
    fresh : bool
        Whether this session has no table yet, so that nothing is to be undone.

    Returns
    -------
    str
        What was restored, in a sentence.

    Raises
    ------
    AnonError
        If the table is not here or has changed, or the file is damaged; nothing changes then.
    """
    try:
        work = dict(whole["choices"])
        named = {role: _names(work["roles"].get(role, [])) for role in _ROLES}
        draft = _checked_draft(work["draft"])
        levels = {str(n): session_reruns.level_table(e["rows"]) for n, e in work["levels"].items()}
        for plain in whole["drafts"].values():
            history_of_dict(plain["history"])
        context = ReleaseContext.from_mapping(whole.get("context", {}))
        answers = release_context_answers.checked(whole.get("asked", {}))
        fields = kept_fields.checked(whole.get("fields", {}))
        runs = [session_reruns.checked(run) for run in whole["runs"]]
        title, sample = str(work["title"]), str(work.get("sample", ""))
        drawn = noise_budget.checked(whole.get("spent", {}))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, AnonError):
            raise
        raise _damaged(type(error).__name__) from error
    kept = state.file() if content is None else content
    data = _table(whole["table"], draft, title, sample, content)
    if data is state.dataset():  # what it came from here is where it is found again
        sample = sample or state.sample_name()
    roles = Roles(
        identifier=named["identifier"],
        quasi=named["quasi"],
        sensitive=named["sensitive"],
        insensitive=named["insensitive"],
        person=next(iter(named["person"]), ""),
        household=next(iter(named["household"]), ""),
        weight=next(iter(named["weight"]), ""),
    )
    for name in (*roles.named, *named["left_out"]):
        data.column(name)
    data.with_kinds(draft.get("types", {}))
    state.set_dataset(
        data,
        roles=roles,
        left_out=named["left_out"],
        levels=levels,
        types={},
        title=title,
        attribution=str(work.get("attribution", "")),
        sample=sample,
        file=None if sample else kept,
        draft=draft,
    )
    if fresh:
        state.forget_dataset_before()
    drafts.take_over(whole["drafts"])
    release_context.state_it(context)
    release_context_answers.take_over(answers)
    kept_fields.take_over(fields)
    noise_budget.take_over(drawn)
    pinning.clear()
    session_reruns.begin(runs)
    many = len(runs)
    if not many:
        return f"The session on {title} was restored."
    if not session_reruns.is_under_way():  # why, a warning says
        waits = "1 run waits" if many == 1 else f"{many} runs wait"
        return f"The session on {title} was restored; its {waits}."
    runs_are = "1 run is" if many == 1 else f"{many} runs are"
    return f"The session on {title} was restored; its {runs_are} carried out and verified again."


def _table(
    given: Mapping[str, Any], draft: Mapping[str, Any], title: str, sample: str, own: bytes | None
) -> Dataset:
    """Return the table with the session's fingerprint."""
    wanted = given.get("fingerprint")
    present = state.dataset()
    if own is None and present is not None and present.fingerprint == wanted:
        return present
    found = None
    if own is None and sample:
        found = loading.sample_table(sample)
    elif (content := state.file() if own is None else own) is not None:
        try:
            options = DataOptions.from_mapping(draft["data"])
            found = read_table(content, options, name=title)
        except AnonError:
            found = None  # another file, which cannot be read as the session's was
    if found is None and present is None:
        raise BadInput(
            f"The session needs the table “{title}”, which is not loaded.",
            remedy="Load that table on Start to open the session.",
        )
    if found is None or found.fingerprint != wanted:
        rows, columns = given.get("rows"), given.get("columns")
        many = f"{len(columns):,} columns" if isinstance(columns, list) else "columns"
        raise InputChanged(
            f"The table is not the one the session was saved with: “{title}” with {rows:,} rows "
            f"and {many}, or it has changed since.",
            remedy="Load the file as it was then. To go on with a changed table, open the recipe "
            "that Export made; the session file is unchanged.",
        )
    return found


def _checked_draft(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return a draft whose parts have the form that pages rely on."""
    for key in ("data", "types", "algorithm"):
        if not isinstance(draft[key], dict):
            raise TypeError(key)
    techniques = [draft["algorithm"]]
    for key in ("models", "metrics", "attacks"):
        techniques += list(draft.get(key, []))
    if not all(isinstance(one["name"], str) for one in techniques):
        raise TypeError("name")
    DataOptions.from_mapping(draft["data"])
    return dict(draft)


def _names(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(n, str) for n in cast(list[Any], given)):
        raise TypeError("names")
    return tuple(cast(list[str], given))


def _damaged(why: str) -> BadInput:
    return BadInput(
        f"The session file is damaged ({why}).",
        remedy="Choose another copy of it; what you have is unchanged.",
    )


def is_session(name: str, content: bytes) -> bool:
    """Return whether a chosen file says that it is a session."""
    return name.lower().endswith(".json") and FORMAT.encode() in content[:200]
