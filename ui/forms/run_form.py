"""The choices of a run: technique, population, metrics, and what is rarely changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import AnonError, BadPlan, listing
from anon_core.base.params import Technique
from anon_core.base.registry import family, find
from anon_core.base.secret import is_secret, parse
from anon_core.contracts.algorithm import Algorithm, met_first
from anon_core.contracts.metric import Metric, in_units_of
from anon_core.contracts.model import PrivacyModel
from anon_core.data.samples import sample
from ui.components.guard import handled, show_error
from ui.forms import technique_picker
from ui.forms.draft_sync import follow, place
from ui.forms.parameter_forms import further_forms, label_of, parameter_form, usual
from ui.state import population_tables, state
from ui.state.work.what_if import BUDGET
from ui.words.escaping import changed, explained, plain, what_is_this

_KEPT = "run_form/parameters"
#: Pixels of the suppression budget's field.
_WIDE = 228


def technique(draft: dict[str, Any]) -> dict[str, Any]:
    """Draw the choice of technique with its parameters; return the recipe's table."""
    present = draft["algorithm"].get("name", met_first()[0])
    shown = technique_picker.chosen(present)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        with st.popover(plain(shown.title), icon=":material/schema:", key="run/techniques"):
            chosen = technique_picker.pick(present)
        name = chosen.name
        values = draft["algorithm"] if name == present else switched(chosen, draft["algorithm"])
        budget = [p.name for p in chosen.parameters() if p.name == BUDGET]
        rest = [p.name for p in chosen.parameters() if p.name != BUDGET]
        sensitive, given = state.roles().sensitive, dict[str, Any]()
        if budget:
            with st.container(width=_WIDE):
                given = parameter_form(
                    chosen, values, key="run_form/algorithm", sensitive=sensitive, without=rest
                )
        differ = [
            label_of(p) for p in chosen.parameters() if p.name in rest and not usual(p, values)
        ]
        with st.popover(
            f"Settings · {changed(differ)}" if rest else "What is this?",
            type="tertiary",
            key="run/settings",
        ):
            explained(chosen)
            given |= parameter_form(
                chosen, values, key="run_form/algorithm", sensitive=sensitive, without=budget
            )
    given = {p.name: given[p.name] for p in chosen.parameters() if p.name in given}
    if waiting := _not_kept(chosen):
        st.caption(
            f":material/history: {plain(chosen.title)} has no setting for {plain(waiting)}; it "
            "comes back with a technique that has."
        )
    st.session_state.setdefault(_KEPT, {})[name] = given
    if name == present:
        _remember(chosen, values, given)
    return {"name": name, **given}


def as_set(table: Mapping[str, Any]) -> Algorithm:
    """Return the technique of a recipe's table; as it is by itself where a setting is refused."""
    kind = cast(type[Algorithm], find("algorithm", str(table["name"])))
    with suppress(BadPlan):
        return kind.from_mapping({n: v for n, v in table.items() if n != "name"})
    return kind()


def switched(technique: type[Technique], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a technique's settings when it takes the place of another one.

    Parameters
    ----------
    technique : type of Technique
    before : mapping of str to object
        The recipe's table of the one that was chosen.
    """
    return {**kept_parameters(technique.name), **_shared(technique, before)}


def _remember(
    technique: type[Technique], shown: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Remember what a person set, for the next technique that has the same parameter."""
    for parameter in technique.parameters():
        now = given.get(parameter.name)
        if now != shown.get(parameter.name, parameter.default):
            _set_by_hand()[parameter.name] = now


def _shared(technique: type[Technique], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was set for other techniques that this one has as well, and would accept."""
    own = family("algorithm")[str(before["name"])] if "name" in before else None
    default = {p.name: p.default for p in own.parameters()} if own is not None else {}
    wanted = {n: v for n, v in before.items() if n in default and v != default[n]}
    wanted |= {n: before.get(n, v) for n, v in _set_by_hand().items()}
    found: dict[str, Any] = {}
    for parameter in technique.parameters():
        if parameter.name in wanted:
            with suppress(BadPlan):
                parameter.accept(wanted[parameter.name], technique.name)
                found[parameter.name] = wanted[parameter.name]
    return found


def _not_kept(technique: type[Technique]) -> str:
    """Return what a person set that this technique has no parameter for, or an empty text."""
    own = {parameter.name for parameter in technique.parameters()}
    labels = {p.name: p.label for kind in family("algorithm").values() for p in kind.parameters()}
    return listing(f"“{labels[n]}”" for n in _set_by_hand() if n in labels and n not in own)


def _set_by_hand() -> dict[str, Any]:
    """Return the parameters that a person set on this table, by name."""
    data = state.dataset()
    return state.once("set-by-hand", data.fingerprint if data else "", dict[str, Any])


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
            "Population table (CSV or Parquet)",
            type=["csv", "gz", "parquet"],
            key="population-file",
            help="It needs the quasi-identifiers that an attacker with this table knows, named and "
            "written as in your table. Missing values, dates and decimals are read as in your "
            "table. Models that count people, such as k-map, need all quasi-identifiers.",
        )
        if file is not None:
            try:
                added = population_tables.add(file.name, file.getvalue())
            except AnonError as error:
                show_error(error, where=file.name)
                return {}
            _population_note(added)
            return {"file": added.path}
        _offer_public_table()
        kept = population_tables.find(str(present.get("file", "")))
        if kept is not None:
            _population_note(kept)
            return {"file": kept.path}
        st.caption("No table is loaded yet. Without one, the run has no population.")
    return {}


def people_held(draft: dict[str, Any], rows: int) -> dict[str, Any]:
    """Return what `people` returns where no one changes anything."""
    present: dict[str, Any] = draft["population"]
    kept = population_tables.find(str(present.get("file", "")))
    if present.get("file"):
        return {} if kept is None else {"file": kept.path}
    return {"size": max(int(present["size"]), rows)} if present.get("size") else {}


def people_title(draft: dict[str, Any]) -> str:
    """Return what is on the drawer of the population: what is known of it."""
    present: dict[str, Any] = draft["population"]
    kept = population_tables.find(str(present.get("file", "")))
    if kept is not None:
        return f"{kept.title}, {kept.table.rows:,} people"
    return f"{int(present['size']):,} people" if present.get("size") else "none"


def _population_note(people: population_tables.Population) -> None:
    """Say what was read, and which quasi-identifiers it has: attackers go by these."""
    quasi, there = state.roles().quasi, people.table.names
    known = [name for name in quasi if name in there]
    lacks = [name for name in quasi if name not in there]
    sentence = f"Loaded: {people.title}, {people.table.rows:,} people. "
    if not known:
        sentence += "It has no column that is named like a quasi-identifier of your table."
    elif lacks:
        sentence += (
            f"It has {listing(known)} but not {listing(lacks)}: attacks use the columns it has."
        )
    else:
        sentence += "It has all quasi-identifiers."
    st.caption(plain(sentence))


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


@handled("Choices")
def _use_public_table(name: str) -> None:
    one = sample(name)
    table = one.frame().to_csv(index=False).encode()
    state.update_draft(population={"file": population_tables.add(one.title, table).path})


def metrics(draft: dict[str, Any], models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Draw the settings of metrics; return the tables of those that differ from their defaults.

    And of those that a run measures only where it is asked to.

    Parameters
    ----------
    draft : dict of str to object
    models : sequence of mapping
        The privacy models' tables: class sizes are counted in the size they ask for.
    """
    given = {m["name"]: m for m in draft.get("metrics", [])}
    required = _required(models)
    found: list[dict[str, Any]] = []
    for name, metric in family("metric").items():
        if not metric.parameters() or not issubclass(metric, Metric) or not metric.use.by_default:
            continue
        usual = in_units_of(metric, required).as_mapping()
        st.markdown(f"**{plain(metric.title)}**")
        table = parameter_form(
            metric,
            usual | given.get(name, {}),
            key="run_form/metric",
            sensitive=state.roles().sensitive,
        )
        what_is_this(metric)
        if table != usual:
            found.append({"name": name, **table})
    return [*found, *_further_metrics(given)]


def metrics_held(
    draft: dict[str, Any], models: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what `metrics` returns where no one changes anything."""
    required = _required(models)
    known = family("metric")
    return [
        table
        for table in draft.get("metrics", [])
        if not (metric := cast(type[Metric], known[table["name"]])).use.by_default
        or table != {"name": table["name"], **in_units_of(metric, required).as_mapping()}
    ]


def metrics_changed(draft: dict[str, Any], models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the titles of the metrics that differ from their defaults, or are measured further."""
    known = family("metric")
    return [known[table["name"]].title for table in metrics_held(draft, models)]


def advanced_changed(draft: dict[str, Any]) -> list[str]:
    """Return what of `advanced` differs from its default."""
    kept = draft["export"].get("formulas", "neutralise") != "neutralise"
    means = ["mean weights"] if draft["export"].get("class_weights") else []
    seed = [] if is_secret(parse(draft["seed"])) else ["seed"]
    return [*seed, *(["formulas"] if kept else []), *means]


def _further_metrics(given: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Draw the metrics that a run measures only where it is asked to; return those chosen."""
    known = {
        n: m for n, m in family("metric").items() if issubclass(m, Metric) and not m.use.by_default
    }
    return further_forms(
        known,
        given,
        kind="metric",
        label="Measure further",
        help="Slow. You can also measure them later, on Results.",
    )


def _required(models: Sequence[Mapping[str, Any]]) -> list[PrivacyModel]:
    """Return the models that are well-formed; the plan says what is wrong with the others."""
    found: list[PrivacyModel] = []
    for table in models:
        values = {key: value for key, value in table.items() if key != "name"}
        with suppress(AnonError):
            found.append(cast(PrivacyModel, find("model", str(table["name"])).from_mapping(values)))
    return found


def advanced(draft: dict[str, Any]) -> dict[str, Any]:
    """Draw what chance starts from, and what else is written; return the latter."""
    with st.container(key="secret"):
        st.markdown(
            "**Secret seed.** 256 random bits from the operating system. The same plan and secret "
            "give the same bytes, and anyone who has the secret can undo a permutation: only the "
            "internal edition contains it."
            if is_secret(parse(draft["seed"]))
            else (
                "**Seed from an old recipe.** It is short or regular enough to be guessed, so "
                "techniques that draw from it are refused."
            )
        )
        st.button(
            "Draw a new one",
            key="draw-seed",
            on_click=handled("Run")(state.draw_seed),
            help="Recipes exported earlier keep theirs.",
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
    export = {**draft["export"], "formulas": formulas}
    export.pop("class_weights", None)
    weight = state.roles().weight
    if weight and st.checkbox(
        f"Publish the mean of '{plain(weight)}' in each class",
        value=follow("class-weights", bool(draft["export"].get("class_weights"))),
        key="class-weights",
        help="In a file of its own, weights.csv. The weight itself distinguishes rows that are "
        "otherwise alike; its class mean does not, and keeps the sum of weights.",
    ):
        export["class_weights"] = True
    return export
