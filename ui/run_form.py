"""The choices of a run: technique, population, threshold, and what is rarely changed."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from anon_core.errors import AnonError
from anon_core.kinds import Algorithm, Attack
from anon_core.params import Technique
from anon_core.registry import family
from anon_core.samples import sample
from ui import column_form, population, state, technique_picker, thresholds
from ui.explain import plain, what_is_this
from ui.forms import follow, parameter_form, place
from ui.shell import show_error

#: Thresholds that are in use, offered both ways because they differ: 1 in 11 is not quite 0.09.
_USUAL: dict[str, float] = {
    "1 in 2 (k = 2)": 0.5,
    "1 in 3 (k = 3)": 1 / 3,
    "1 in 4 (k = 4)": 0.25,
    "1 in 5 (k = 5)": 0.2,
    "1 in 10 (k = 10)": 0.1,
    "1 in 11 (k = 11)": 1 / 11,
    "0.09 (k = 12)": 0.09,
    "1 in 20 (k = 20)": 0.05,
    "1 in 33 (k = 33)": 1 / 33,
}
_OTHER = "Another"
_KEPT = "run_form/parameters"


def technique(draft: dict[str, Any]) -> dict[str, Any]:
    """Draw the choice of technique with its parameters; return the recipe's table."""
    present = draft["algorithm"].get("name", "optimal")
    chosen = technique_picker.pick(present)
    name = chosen.name
    kept: dict[str, dict[str, Any]] = st.session_state.setdefault(_KEPT, {})
    values = draft["algorithm"] if name == present else kept.get(name, {})
    quasi = state.roles().quasi
    by_column = _by_column(chosen) if column_form.can_be_drawn(quasi) else {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = dict(
            parameter_form(
                chosen,
                values,
                key="run_form/algorithm",
                sensitive=state.roles().sensitive,
                without=by_column,
            )
        )
    for parameter, draw in by_column.items():
        key = f"run_form/algorithm/{name}/{parameter}"
        given[parameter] = draw(str(values.get(parameter, "")), quasi, key)
    if "sets" in given:
        _column_sets(str(given["sets"]))
    if not chosen.parameters():
        st.caption(f"{chosen.title} needs no settings of its own.")
    what_is_this(chosen)
    kept[name] = given
    return {"name": name, **given}


def _by_column(technique: type[Technique]) -> dict[str, column_form.Draw]:
    """Return what draws the parameters that say something of every quasi-identifier."""
    names = {p.name for p in technique.parameters()}
    found: dict[str, column_form.Draw] = {}
    if "weights" in names:
        found["weights"] = column_form.weights
    # Elsewhere levels may be left open, for the search to find.
    if technique.name == "fixed-levels":
        found["levels"] = column_form.levels
    return found


def _column_sets(written: str) -> None:
    """Say what column sets written by hand come to, and which columns can be named."""
    data = state.dataset()
    names = state.roles().published(data) if data is not None else ()
    if not written.strip():
        st.caption(plain(f"Columns that can be named: {', '.join(names)}."))
        return
    sets = [[n.strip() for n in part.split("+") if n.strip()] for part in written.split("|")]
    named = [n for part in sets for n in part]
    linked = [" + ".join(part) for part in sets if len(part) > 1]
    alone = [n for n in names if n not in {m for part in sets if len(part) > 1 for m in part}]
    st.caption(
        plain(
            f"Linked row by row: {'; '.join(linked) or 'none'}. "
            f"By themselves: {', '.join(alone) or 'none'}."
        )
    )
    unknown = [n for n in named if n not in names]
    if unknown:
        st.warning(
            plain(f"Not a published column: {', '.join(unknown)}. Columns are: {', '.join(names)}.")
        )


def kept_parameters(name: str) -> dict[str, Any]:
    """Return what was last set for a technique, chosen now or not."""
    kept: dict[str, dict[str, Any]] = st.session_state.get(_KEPT, {})
    return dict(kept.get(name, {}))


def people(draft: dict[str, Any], rows: int) -> dict[str, Any]:
    """Draw the population for journalist risk; return the recipe's table."""
    present: dict[str, Any] = draft["population"]
    kinds = ["None", "Its size", "A table of it"]
    now = 2 if present.get("file") else 1 if present.get("size") else 0
    # A segmented control would keep Ctrl+Enter to itself while it has the focus.
    kind = st.radio(
        "Population",
        kinds,
        index=place(kinds, follow("population-kind", kinds[now])),
        key="population-kind",
        horizontal=True,
    )
    st.caption(
        "For an attacker who does not know who is in the table: with a population, the risk of "
        "journalist and marketer attacks is measured against everyone the table was drawn from; "
        "with a table of it, the membership attack looks for people proven to be in yours."
    )
    if kind == kinds[1]:
        size = st.number_input(
            "People in the population",
            min_value=rows,
            value=follow("population-size", max(int(present.get("size") or 0), rows)),
            step=1,
            key="population-size",
            help=f"At least the {rows:,} rows of the table.",
        )
        return {"size": int(size)}
    if kind == kinds[2]:
        file = st.file_uploader(
            "Population table (CSV or Parquet) with the same quasi-identifiers",
            type=["csv", "gz", "parquet"],
            key="population-file",
        )
        if file is not None:
            try:
                return {"file": population.add(file.name, file.getvalue()).path}
            except AnonError as error:
                show_error(error, where=file.name)
                return {}
        _offer_public_table()
        kept = population.find(str(present.get("file", "")))
        if kept is not None:
            st.caption(f"Loaded: {plain(kept.title)}, {kept.table.rows:,} people.")
            return {"file": kept.path}
        st.caption("No table is loaded yet; without one the run goes on without a population.")
    return {}


def _offer_public_table() -> None:
    """Offer the public table that belongs to the sample which is loaded, if there is one."""
    present = state.sample_name()
    public = sample(present).public if present else ""
    if not public:
        return
    st.button(
        plain(f"Use “{sample(public).title}” ({sample(public).rows:,} people)"),
        key="use-public-table",
        on_click=_use_public_table,
        args=(public,),
    )


def _use_public_table(name: str) -> None:
    one = sample(name)
    table = one.frame().to_csv(index=False).encode()
    state.update_draft(population={"file": population.add(one.title, table).path})


def attacks(
    draft: dict[str, Any], technique: type[Algorithm], *, public: bool
) -> list[dict[str, Any]]:
    """Draw the thresholds; return the tables of the attacks that differ from their defaults.

    Parameters
    ----------
    draft : dict of str to object
    technique : type of Algorithm
        Settings of attacks that it leaves nothing to do are kept, but not drawn.
    public : bool
        Whether there is a table of the population.
    """
    given = {a["name"]: a for a in draft.get("attacks", [])}
    known = {n: a for n, a in family("attack").items() if issubclass(a, Attack) and a.parameters()}
    personal = thresholds.personal()
    tables: dict[str, dict[str, Any]] = {}
    if personal:
        default = next(p.default for p in known[personal[0]].parameters() if p.name == "threshold")
        value = float(cast(float, given.get(personal[0], {}).get("threshold", default)))
        usual = next((t for t, v in _USUAL.items() if abs(v - value) < 1e-12), _OTHER)
        choices = [*_USUAL, _OTHER]
        words = st.selectbox(
            "Your threshold: the highest acceptable chance of picking a person",
            choices,
            index=place(choices, follow("threshold-usual", usual)),
            key="threshold-usual",
            help="Results compares the worst case with it. '1 in 11' is met by k = 11, '0.09' "
            "only by k = 12.",
        )
        if words == _OTHER:
            value = st.number_input(
                "Chance",
                min_value=0.0,
                max_value=1.0,
                value=follow("threshold-own", value),
                step=0.01,
                format="%g",
                key="threshold-own",
            )
        else:
            value = _USUAL[words]
        for name in personal:
            tables[name] = {"threshold": value}
    for name, attack in known.items():
        idle = (attack.needs_permuted and not technique.permutes) or (
            attack.needs_public and not public
        )
        if idle and name in given:
            tables[name] = {key: value for key, value in given[name].items() if key != "name"}
        elif not idle and name not in personal:
            st.markdown(f"**{plain(attack.title)}**")
            tables[name] = dict(parameter_form(attack, given.get(name, {}), key="run_form/attack"))
            what_is_this(attack)
    return [
        {"name": name, **table}
        for name, table in tables.items()
        if table != {p.name: p.default for p in known[name].parameters()}
    ]


def advanced(draft: dict[str, Any]) -> tuple[int, dict[str, str]]:
    """Draw seed and formulas; return them."""
    seed = st.number_input(
        "Seed",
        min_value=0,
        value=follow("seed", int(draft.get("seed", 0))),
        step=1,
        key="seed",
        help="Start of every random choice. The same plan and seed give the same bytes. It belongs "
        "to the internal edition: whoever knows it could undo a permutation.",
    )
    options = {
        "neutralise": "Put an apostrophe before them (neutralise)",
        "keep": "Leave them as they are (keep)",
    }
    formulas = st.selectbox(
        "Cells that a spreadsheet would execute (=, +, -, @)",
        list(options),
        index=place(
            list(options), follow("formulas", draft["export"].get("formulas", "neutralise"))
        ),
        format_func=options.__getitem__,
        key="formulas",
        help="A cell such as =HYPERLINK(…) runs when the published CSV is opened in a spreadsheet. "
        "Neutralise writes '=HYPERLINK(…) instead; plain numbers such as -5 stay. Keep only for "
        "programs that need the exact text.",
    )
    return int(seed), {"formulas": formulas}
