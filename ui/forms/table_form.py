"""The form of a protected table: everything its recipe can say, and what a rule means in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import streamlit as st

from anon_core.data.reading import DataOptions
from anon_core.data.table import Dataset
from anon_core.recipe.plan import LevelTable
from anon_core.tables.recipe import (
    COSTS,
    METHODS,
    ROUNDS,
    SUPPRESSES,
    Known,
    Method,
    Protection,
    TableRecipe,
)
from anon_core.tables.sensitivity import Dominance, PPercent, Rule, Threshold, ZeroCells
from anon_core.tables.suppression import Cost
from anon_core.tables.table import Layout
from ui.state import state, table_work
from ui.state.kept_fields import last_number, remembered
from ui.words.escaping import plain

COUNT = "Count rows"
_NONE = "–"
_COSTS: Mapping[Cost, str] = {
    "value": "their values",
    "cells": "their number",
    "log": "the logarithm of their values",
    "respondents": "their respondents",
}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the form says."""

    recipe: TableRecipe
    levels: Mapping[str, LevelTable]


def draw(data: Dataset) -> Chosen | None:
    """Draw the form; None as long as no column is chosen."""
    own = state.levels()
    offered = [c.name for c in data.columns if c.name in own or len(c.values) <= 60]
    quasi = [name for name in state.roles().quasi if name in offered]
    columns = st.multiselect(
        "Columns of the table",
        offered,
        default=(quasi or offered)[:2],
        max_selections=4,
        **remembered("tables/columns"),
        help="The last one runs across the top. Columns with a hierarchy get its subtotals.",
    )
    if not columns:
        st.info("Choose at least one column.", icon=":material/info:")
        return None
    numbers = [c.name for c in data.columns if c.kind == "number"]
    value = st.selectbox(
        "Content", [COUNT, *numbers], **remembered("tables/value"), format_func=_content
    )
    value = "" if value == COUNT else value
    whose, who = _whose(data, numbers, value)
    levels = {name: own[name] for name in columns if name in own}
    shown = _levels(levels)
    rules = _rules(value)
    known = _known(whose)
    protection = _protection(value)
    draft = state.draft()
    left_out = {"rest", "sample", "benchmark"}  # a table counts all rows
    recipe = TableRecipe(
        layout=Layout(columns=tuple(columns), levels=shown, value=value, **whose),
        rules=rules,
        known=known,
        protection=protection,
        who=who,
        data=DataOptions.from_mapping(
            {k: v for k, v in draft["data"].items() if k not in left_out}
        ),
        types=draft["types"],
        seed=table_work.seed(),
    )
    return Chosen(recipe=recipe, levels=levels)


def methods_for(value: str) -> list[Method]:
    """Return the methods that suit a table of counts, or of the sums of a column."""
    return [m for m in METHODS if not value or m not in ROUNDS]


def _content(name: str) -> str:
    return name if name == COUNT else f"Sum of {name}"


def _changed(name: str, said: Sequence[str]) -> str:
    """Return the name of a fold, with what in it differs from the default."""
    return f"{name}: {', '.join(said)}" if said else name


def _column(label: str, offered: Sequence[str], key: str, help: str) -> str:
    found = st.selectbox(label, [_NONE, *offered], **remembered(key), help=help)
    return "" if found == _NONE else found


def _held(key: str) -> str:
    found = st.session_state.get(key, _NONE)
    return "" if found == _NONE else str(found)


def _whose(data: Dataset, numbers: Sequence[str], value: str) -> tuple[dict[str, Any], str]:
    """Draw whose a row is, and how many it represents; what respondents are called comes last."""
    keys = {name: f"tables/{name}" for name in ("respondent", "holding", "weight", "waiver")}
    said = [f"{name} {plain(held)}" for name, key in keys.items() if (held := _held(key))]
    with st.popover(_changed("Respondents, weights", said), width="stretch", key="tables/whose"):
        who = st.text_input("Respondents are called", "respondents", **remembered("tables/who"))
        respondent = _column(
            "Respondent",
            data.names,
            keys["respondent"],
            "Who a row belongs to. By default, each row is a respondent of its own.",
        )
        holding = ""
        if respondent:
            holding = _column(
                "Holding",
                data.names,
                keys["holding"],
                "The group of firms or the household that respondents belong to.",
            )
        weight = _column(
            "Weight",
            numbers,
            keys["weight"],
            "How many members of the population a row represents.",
        )
        expanded = False
        if weight and not holding:
            expanded = st.toggle(
                "Rules count by weight",
                **remembered("tables/expanded"),
                help="A contribution then counts as often as its whole weight says.",
            )
        waiver = _column(
            "Agreed to be published",
            data.names,
            keys["waiver"],
            "Filled in for respondents who agreed; p % then protects the largest of the others.",
        )
        negatives: Literal["refused", "absolute"] = "refused"
        if value and st.toggle(
            "Amounts may be negative",
            **remembered("tables/negatives"),
            help="Rules then go by the size of each contribution.",
        ):
            negatives = "absolute"
    layout = {
        "respondent": respondent, "holding": holding, "weight": weight, "expanded": expanded,
        "waiver": waiver, "negatives": negatives,
    }  # fmt: skip
    return layout, who.strip() or "respondents"


def _levels(levels: Mapping[str, LevelTable]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for name, rows in levels.items():
        height = len(rows[0]) - 1
        if height > 1:
            finest = st.slider(
                f"Finest level of {plain(name)}", 0, height - 1, height - 1,
                **remembered(f"tables/level/{name}"),
            )  # fmt: skip
            found[name] = tuple(range(finest, height))
    return found


def _rules(value: str) -> tuple[Rule, ...]:
    """Draw the rules as sentences: each move shows at once how many cells turn red."""
    st.markdown("**A cell is sensitive if**")
    rules: list[Rule] = []
    if st.checkbox("it has few respondents", True, **remembered("tables/with-n")):
        rules.append(Threshold(n=st.slider("fewer than", 2, 20, 3, **remembered("tables/n"))))
    if not value:
        return tuple(rules)
    if st.checkbox("others can estimate the largest (p %)", True, **remembered("tables/with-p")):
        p = st.slider("to within p %", 1, 60, 10, **remembered("tables/p"))
        left, right = st.columns(2, gap="small")
        with left:
            q = st.number_input(
                "known to q %", p, 1_000, max(p, last_number("tables/q", 100)),
                **remembered("tables/q"), help="What others know of each contribution beforehand.",
            )  # fmt: skip
        with right:
            many = st.number_input(
                "by", 1, 20, last_number("tables/coalition", 1), **remembered("tables/coalition"),
                help="Others who put together what they know.",
            )  # fmt: skip
        rules.append(PPercent(p=p, q=q, coalition=many))
    if st.checkbox("a few make most of it (m, k)", **remembered("tables/with-k")):
        left, right = st.columns(2, gap="small")
        with left:
            m = st.number_input(
                "the largest m", 1, 20, last_number("tables/m", 2), **remembered("tables/m")
            )
        with right:
            k = st.number_input(
                "make over k %", 1.0, 99.9, last_number("tables/k", 85.0), 0.5,
                **remembered("tables/k"),
            )  # fmt: skip
        rules.append(Dominance(m=m, k=Fraction(str(k))))
    if st.checkbox("all contribute 0", **remembered("tables/with-zero")):
        rules.append(ZeroCells())
    return tuple(rules)


def _known(whose: Mapping[str, Any]) -> Known:
    """Draw what a reader knows; it is part of what is proven."""
    asked = (
        ("tables/zeros", True, "empty cells may be suppressed"),
        ("tables/signed", False, "values may be negative"),
        ("tables/single", True, "no single respondent"),
    )
    said = [w for key, usual, w in asked if bool(st.session_state.get(key, usual)) != usual]
    with st.popover(_changed("What a reader knows", said), width="stretch", key="tables/reader"):
        zeros = st.toggle(
            "Empty cells are always printed",
            True,
            **remembered("tables/zeros"),
            help="A suppressed cell is then known to be at least 1.",
        )
        signed = st.toggle(
            "Cells may be negative",
            whose["negatives"] == "absolute",
            **remembered("tables/signed"),
            help="A reader then knows no lower bound.",
        )
        single = st.toggle(
            "A lone respondent may be reading",
            True,
            **remembered("tables/single"),
            help="The only respondent of a suppressed cell knows its value.",
        )
    return Known(zeros_printed=zeros, signed=signed, single_respondents=single)


def _protection(value: str) -> Protection:
    offer = methods_for(value)
    method = st.selectbox(
        "Protection",
        offer,
        index=offer.index(Protection().method),
        format_func=lambda m: METHODS[m],
        **remembered(f"tables/method/{bool(value)}"),
    )
    given: dict[str, Any] = {"seconds": 30, "levels": "cap"}
    if method != "none":
        with st.popover("Settings of the protection", width="stretch", key="tables/settings"):
            given |= _settings(method)
    return Protection(method=method, **given)


def _settings(method: Method) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if method in SUPPRESSES:
        given["cost"] = st.selectbox(
            "Suppress as little as possible of", COSTS, **remembered("tables/cost"),
            format_func=lambda c: _COSTS[c],
        )  # fmt: skip
    if method in (*SUPPRESSES, "adjust"):
        refuse = not st.toggle(
            "Lower a level that no table can reach", True, **remembered("tables/cap"),
            help="Otherwise such a table is refused. The report names the cells.",
        )  # fmt: skip
        given["levels"] = "refuse" if refuse else "cap"
        names = st.text_area(
            "Cells that must be published, one per line", **remembered("tables/published"),
            help="Labels joined by |, such as north|Total.",
        )  # fmt: skip
        given["published"] = tuple(line.strip() for line in names.splitlines() if line.strip())
    if method in ROUNDS:
        given["base"] = st.slider("Base", 2, 10, 5, **remembered("tables/base"))
    if method == "controlled-rounding":
        given["steps"] = st.number_input(
            "Further steps", 0, 5, last_number("tables/steps", 0), **remembered("tables/steps"),
            help="Lets a cell move by more multiples if no table rounds to the nearest ones.",
        )  # fmt: skip
    if method == "cell-key":
        noise = st.slider("Largest noise", 1, 10, 2, **remembered("tables/noise"))
        given["noise"] = noise
        key = f"tables/variance/{noise}"
        given["variance"] = st.number_input(
            "Variance", 0.05, float(noise * noise),
            last_number(key, min(1.05, 0.5 * noise * noise)), 0.05, **remembered(key),
        )  # fmt: skip
    given["seconds"] = st.slider("Seconds at most", 5, 600, 30, **remembered("tables/seconds"))
    return given
