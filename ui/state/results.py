"""The last good result of a session, the one before it, the baseline, and the runs of its table."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

import streamlit as st

from ui.state import pinning, state

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result
    from anon_core.recipe.dialect import Dialect


class MadeOf(TypedDict):
    """What was chosen when a run began: its fingerprint, and the choices themselves."""

    fingerprint: str
    choices: dict[str, Any]


#: Runs that a session keeps; going back to one of them computes nothing.
MOST_RUNS = 12
#: Rows of all of them together: a release of a million rows takes some hundred megabytes.
MOST_ROWS = 2_000_000
#: Steps back that a session knows; one whose run is not kept any more is run again.
MOST_STEPS = 100
#: Seconds that a result is looked at before the next one is compared with it.
STOOD = 2.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Kept:
    """A result that the session keeps, with the choices that it was made of.

    Attributes
    ----------
    result : Result
    made_of : MadeOf
    """

    result: Result
    made_of: MadeOf


def now() -> MadeOf:
    """Return what is chosen now."""
    return {"fingerprint": state.fingerprint(), "choices": state.choices()}


def last() -> Result | None:
    """Return the last good result; it stays until another one replaces it."""
    return st.session_state.get(state.RESULT)


def show_first(kept: Kept | None) -> None:
    """Show the first figures of a run, which are no result yet; None where there are none.

    What is shown until then may become what they are compared with.
    """
    st.session_state[state.FIRST] = kept
    shown, shown_of = last(), st.session_state.get(state.MADE_OF)
    if kept is not None and shown is not None and shown_of is not None:
        _compare_with(Kept(result=shown, made_of=shown_of), kept)


def first() -> Kept | None:
    """Return the first figures that are shown while the rest of their run is under way."""
    return st.session_state.get(state.FIRST)


def shown() -> Result | None:
    """Return what Results draws: the last good result, or the first figures of the next one."""
    figures = first()
    return last() if figures is None else figures.result


def keep(result: Result, *, made_of: MadeOf | None = None) -> None:
    """Keep a result, and the one that it replaces.

    Parameters
    ----------
    result : Result
    made_of : MadeOf, optional
        `now()` when the run began; now, if it is not given.
    """
    made = now() if made_of is None else made_of
    shown, shown_of = last(), st.session_state.get(state.MADE_OF)
    if shown is not None and shown_of is not None and shown is not result:
        st.session_state[state.RESULT_BEFORE] = (shown, shown_of)
        _compare_with(Kept(result=shown, made_of=shown_of), Kept(result=result, made_of=made))
    st.session_state[state.FIRST] = None
    st.session_state[state.RESULT] = result
    st.session_state[state.MADE_OF] = made
    st.session_state[state.SHOWN_SINCE] = time.monotonic()
    _note_turn(made)
    _remember()


def _compare_with(shown: Kept, coming: Kept) -> None:
    """Make the result that is shown the baseline, unless it was only passed on the way.

    A baseline that someone pinned stays, and the same settings run again are compared with what
    they were compared with before.
    """
    if is_baseline_pinned() or shown.made_of["fingerprint"] == coming.made_of["fingerprint"]:
        return
    base = baseline()
    stood = time.monotonic() - st.session_state.get(state.SHOWN_SINCE, 0.0) >= STOOD
    pinned = any(pin.result is shown.result for pin in pinning.pins())
    if base is None or base.result is coming.result or stood or pinned:
        st.session_state[state.BASELINE] = shown


def pin_baseline() -> None:
    """Compare with the result that is shown until another one is pinned, or none is."""
    result, made = last(), made_of()
    if result is not None and made is not None:
        st.session_state[state.BASELINE] = Kept(result=result, made_of=made)
        st.session_state[state.BASELINE_PINNED] = True


def unpin_baseline() -> None:
    """Compare with the result that was looked at before again."""
    st.session_state[state.BASELINE_PINNED] = False


def is_baseline_pinned() -> bool:
    """Say whether someone chose the run that figures are compared with."""
    return bool(st.session_state.get(state.BASELINE_PINNED))


def can_step(by: Literal[-1, 1]) -> bool:
    """Say whether a run was shown before, or after, the one that is shown."""
    line, at = _in_turn()
    return 0 <= at + by < len(line)


def step(by: Literal[-1, 1]) -> MadeOf | None:
    """Go to what was shown before or after; return what it was made of, to be shown again."""
    if not can_step(by):
        return None
    line, at = _in_turn()
    st.session_state[state.SHOWN_AT] = at + by
    return line[at + by]


def _in_turn() -> tuple[list[MadeOf], int]:
    line: list[MadeOf] = st.session_state.get(state.SHOWN_IN_TURN, [])
    return line, int(st.session_state.get(state.SHOWN_AT, len(line) - 1))


def _note_turn(made: MadeOf) -> None:
    """Note what is shown now; after a step back, what came later is given up."""
    line, at = _in_turn()
    if line and line[at]["fingerprint"] == made["fingerprint"]:
        return
    line = [*line[: at + 1], made][-MOST_STEPS:]
    st.session_state[state.SHOWN_IN_TURN] = line
    st.session_state[state.SHOWN_AT] = len(line) - 1


def _remember() -> None:
    """Keep the last result among the runs of the table, the oldest forgotten beyond the bound.

    A run that is shown again stays in its place, which numbers it on Results.
    """
    result, made = last(), made_of()
    if result is None or made is None:
        return
    now, line = Kept(result=result, made_of=made), runs()
    others = [
        kept
        for kept in line
        if kept.result is not result and kept.made_of["fingerprint"] != made["fingerprint"]
    ]
    place = next((at for at, kept in enumerate(line) if kept not in others), len(others))
    line = [*others[:place], now, *others[place:]]
    while len(line) > MOST_RUNS or (
        len(line) > 1 and sum(kept.result.problem.rows for kept in line) > MOST_ROWS
    ):
        line.remove(next(kept for kept in line if kept is not now))
    st.session_state[state.RUNS] = line


def runs() -> list[Kept]:
    """Return the runs that the session keeps of this table, in the order they were made in."""
    return list(st.session_state.get(state.RUNS, []))


def held() -> list[Result]:
    """Return every result that the session can go back to or compare with."""
    before = st.session_state.get(state.RESULT_BEFORE)
    some = [last(), shown(), None if before is None else before[0]]
    kept = [*runs(), *(one for one in (baseline(),) if one is not None)]
    pinned = (pin.result for pin in pinning.pins())
    return [one for one in (*some, *(k.result for k in kept), *pinned) if one is not None]


def of_choices(fingerprint: str) -> Kept | None:
    """Return the run that was made of these choices, if the session still keeps it."""
    return next((k for k in runs() if k.made_of["fingerprint"] == fingerprint), None)


def baseline() -> Kept | None:
    """Return the baseline: the run that figures are compared with; None while there is only one."""
    kept: Kept | None = st.session_state.get(state.BASELINE)
    return None if kept is None or kept.result is shown() else kept


def restore(kept: Kept) -> None:
    """Show a kept result again, and go back to the choices that it was made of."""
    keep(kept.result, made_of=kept.made_of)
    state.set_choices(kept.made_of["choices"])


def renew(made_of: MadeOf) -> None:
    """Say what the last result was made of."""
    st.session_state[state.MADE_OF] = made_of
    _remember()


def exchange(before: Result, now: Result) -> None:
    """Put a result of which more is known now in the place of itself, pinned or not."""
    if last() is before:
        st.session_state[state.RESULT] = now
    st.session_state[state.RUNS] = [
        replace(kept, result=now) if kept.result is before else kept for kept in runs()
    ]
    compared: Kept | None = st.session_state.get(state.BASELINE)
    if compared is not None and compared.result is before:
        st.session_state[state.BASELINE] = replace(compared, result=now)
    pinning.exchange(before, now)


def with_export(result: Result, dialect: Dialect | None, formats: tuple[str, ...]) -> Result:
    """Return the result with other files next to the release, and keep it as the last.

    What is published stays the same, so nothing is run again.
    """
    current = is_current()
    made = replace(result, plan=replace(result.plan, dialect=dialect, formats=formats))
    exchange(result, made)
    state.update_draft(export=made.plan.as_mapping()["export"])
    if current:
        renew(now())
    return made


def made_of() -> MadeOf | None:
    """Return what was chosen when the run of the last result began."""
    return st.session_state.get(state.MADE_OF)


def is_current() -> bool:
    """Return whether the result belongs to the table and the choices as they are now."""
    made_of = cast(MadeOf | None, st.session_state.get(state.MADE_OF))
    return (
        last() is not None and made_of is not None and made_of["fingerprint"] == state.fingerprint()
    )


def before() -> Result | None:
    """Return the result that the last one replaced."""
    kept = st.session_state.get(state.RESULT_BEFORE)
    return None if kept is None else kept[0]
