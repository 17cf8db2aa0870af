"""A pinned run opened again: it becomes the result, with the choices that it was made of."""

from __future__ import annotations

from anon_core.base.errors import BadPlan
from ui.state import results, state
from ui.state.pinning import Pin


def open_pin(pin: Pin) -> None:
    """Make a pinned run the result; what was the result before is one click away.

    Raises
    ------
    BadPlan
        If another table is loaded.
    """
    table = state.dataset()
    if table is None or pin.table not in ("", table.fingerprint):
        raise BadPlan(
            f"Run {pin.letter} is of another table than the one that is loaded.",
            remedy="Load that table on Start, then open the run.",
        )
    if pin.result is results.last() and results.is_current():
        return
    if pin.choices is not None:
        state.set_choices(dict(pin.choices))
    recipe = pin.result.plan.as_mapping()
    state.update_draft(algorithm=recipe["algorithm"], models=recipe["models"])
    # Of a run that came out of a session file the choices are not known: its roles may be others.
    made_of = results.now()
    if pin.choices is None and state.plan().roles != pin.result.plan.roles:
        made_of = results.MadeOf(fingerprint="", choices=state.choices())
    if pin.result is not results.last():
        results.keep(pin.result, made_of=made_of)
    else:
        results.renew(made_of)
