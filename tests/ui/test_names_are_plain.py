"""Names of columns are shown letter by letter: none becomes a link, a formula or an emphasis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from anon_core.base import secret
from anon_core.base.errors import AnonError
from anon_core.base.registry import family
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from tests.often import crossed
from tests.ui.sessions import (
    ATTACKS,
    CHECKOUT,
    CLASSES,
    METRICS,
    PATIENCE,
    SEED,
    carried_out,
    open_page,
)
from ui.panels import page_frame
from ui.state import state

#: What a name must not become; behind a number that tells columns apart.
NAME = "{}[a](http://x) $x$ *b* `c` <i>d</i>"
AGE, ZIP, BORN, SEX, ILL, PAY, NOTE, WARD = (NAME.format(i) for i in range(8))
MARKS = ("[a](http://x)", "$x$", "*b*", "`c`")
#: What HTML and Plotly would make of it.
TAG = "<i>d</i>"
#: Fields of elements that Streamlit does not read as markdown.
LITERAL = {
    ("Selectbox", "options"), ("MultiSelect", "options"), ("TextInput", "placeholder"),
    ("TextArea", "placeholder"), ("Selectbox", "placeholder"), ("MultiSelect", "placeholder"),
    ("DownloadButton", "file_name"), ("Code", "code_text"), ("Text", "body"), ("Html", "body"),
    ("Selectbox", "raw_value"), ("MultiSelect", "raw_values"), ("TextInput", "value"),
    ("TextArea", "value"), ("TextInput", "default"), ("TextArea", "default"),
    ("Radio", "raw_value"), ("ButtonGroup", "raw_values"), ("ArrowData", "data"),
    ("Heading", "anchor"), ("BidiComponent", "json"), ("PlotlyChart", "alt"),
    ("VegaLiteChart", "alt"),
}  # fmt: skip
PAGES = tuple(step.page for step in (*page_frame.STEPS, *page_frame.FURTHER))
RUNS: dict[str, dict[str, Any]] = {
    "mondrian": {"algorithm": {"name": "mondrian", "output": "set"}},
    "optimal": {"algorithm": {"name": "optimal", "max_suppression": 0.2}},
    "permutation": {
        "algorithm": {"name": "permutation"},
        "models": [{"name": "bucket-size", "k": 4}],
    },
}


@cache
def people() -> Dataset:
    """Return the table, made once: nobody can change it."""
    many = 48
    frame = pd.DataFrame(
        {
            AGE: [str(20 + i % 17) for i in range(many)],
            ZIP: [f"10{i % 7}" for i in range(many)],
            BORN: [f"19{60 + i % 30}-0{1 + i % 9}-11" for i in range(many)],
            SEX: ["m", "f"] * (many // 2),
            ILL: ["flu", "cold", "gout", "asthma"] * (many // 4),
            PAY: [str(1000 + i % 5) for i in range(many)],
            NOTE: [f"note {i}" for i in range(many)],
            WARD: ["A", "B", "C"] * (many // 3),
        }
    )
    return Dataset.from_frame(frame, kinds={AGE: "number", BORN: "date", PAY: "number"})


def session(
    run: str = "", *, roles: Roles | None = None, left_out: tuple[str, ...] = (NOTE,)
) -> Any:
    """Return a session with a table of such names, and with a result of the run that is named."""
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held), patch.object(secret, "draw", lambda: SEED):
        state.set_dataset(
            people(),
            roles=roles
            or Roles(quasi=(AGE, ZIP, BORN, SEX), sensitive=(ILL, PAY), insensitive=(WARD,)),
            left_out=left_out,
            levels={ZIP: [[f"10{i}", f"Group {i // 4}", "*"] for i in range(7)]},
            types={},
            title=NAME.format("T"),
            k=4,
        )
        if run:
            state.update_draft(**{"models": [{"name": "k-anonymity", "k": 4}], **RUNS[run]})
    if run:
        carried_out(held, pinned=1)
    return held


def texts(message: Message) -> Iterator[tuple[str, str, str]]:
    """Return every text of an element: the kind of its message, the field, and what it says."""
    for field, value in message.ListFields():
        many = value if field.is_repeated else [value]
        if field.type == FieldDescriptor.TYPE_STRING:
            for one in many:
                yield message.DESCRIPTOR.name, field.name, one
        elif field.type == FieldDescriptor.TYPE_MESSAGE and hasattr(many[0], "ListFields"):
            for one in many:
                yield from texts(one)


def words_of(app: AppTest) -> Iterator[tuple[str, str, str]]:
    def every(node: Any) -> Iterator[Any]:
        if getattr(node, "proto", None) is not None:
            yield node.proto
        for child in getattr(node, "children", {}).values():
            yield from every(child)

    for proto in every(app._tree):
        if isinstance(proto, Message):
            yield from texts(proto)


def spoilt(app: AppTest) -> list[tuple[str, str, str]]:
    """Return what a page shows in which a name would become something else."""
    assert not app.exception
    found: list[tuple[str, str, str]] = []
    for kind, field, text in words_of(app):
        if (kind, field) in (("Html", "body"), ("PlotlyChart", "spec")):
            if TAG in text.replace("\\u003c", "<").replace("\\u003e", ">"):
                found.append((kind, field, text))
        elif (kind, field) not in LITERAL and not field.endswith(("id", "key")):
            found += [(kind, field, text)] * any(mark in text for mark in (*MARKS, TAG))
    return found


def test_a_name_that_is_not_made_harmless_is_found() -> None:
    def page() -> None:
        import streamlit as st

        st.caption("of 0[a](http://x) $x$ *b* `c`")
        st.button("Go", help="of 0[a](http://x)")
        st.selectbox("Column", ["0[a](http://x) $x$ *b* `c`"])

    found = spoilt(AppTest.from_function(page).run())
    assert [field for _, field, _ in found] == ["body", "help"]


@crossed("page, run", PAGES, ["", *RUNS], share=2)
def test_names_of_columns_stay_names_on_every_page(page: str, run: str) -> None:
    assert spoilt(open_page(page, session(run))) == []


@pytest.mark.parametrize("view", ["One by one", "Questions", "Attack further", "Two releases"])
def test_names_of_columns_stay_names_in_every_view_of_attacks(view: str) -> None:
    held = {**session("mondrian"), "attack-view": view}
    assert spoilt(open_page("pages/5_Results.py", held, tab=ATTACKS)) == []


@crossed(
    "run, tab",
    ["mondrian", "optimal", "permutation"],
    ["Questions", "The search", "Value by value", METRICS],
    share=2,
)
def test_names_of_columns_stay_names_in_every_drawer(run: str, tab: str) -> None:
    assert spoilt(open_page("pages/5_Results.py", session(run), tab=tab)) == []


@pytest.mark.parametrize("page", PAGES[1:5])
def test_names_stay_names_where_columns_are_undecided_or_tell_persons(page: str) -> None:
    held = session(left_out=())
    assert spoilt(open_page(page, held)) == []
    roles = Roles(quasi=(AGE, SEX), sensitive=(ILL,), insensitive=(NOTE, BORN), person=ZIP)
    assert spoilt(open_page(page, session(roles=roles, left_out=(PAY, WARD)))) == []


def test_names_stay_names_in_what_a_run_is_refused_with() -> None:
    held = session()
    with patch.object(st, "session_state", held):
        state.update_draft(models=[{"name": "k-anonymity", "k": 49}])
        state.set_levels(ZIP, [["100", "*"]])
    app = open_page("pages/4_Run.py", held)
    assert spoilt(app) == []
    with pytest.raises(AnonError):
        carried_out(held)
    app.button(key="run").click().run()
    assert spoilt(app) == []


def test_names_stay_names_in_a_lesson_on_ones_own_table() -> None:
    app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=PATIENCE)
    for key, value in session("mondrian").items():
        app.session_state[key] = value
    app.switch_page("pages/8_Learn.py")
    app.query_params["lesson"] = "mondrian"
    app.query_params["example"] = "own"
    assert spoilt(app.run()) == []


@pytest.mark.parametrize("view", ["Sensitive values", "Privacy models"])
def test_names_stay_names_in_every_view_of_classes(view: str) -> None:
    held = session("mondrian")
    with patch.object(st, "session_state", held):
        state.update_draft(
            models=[{"name": "k-anonymity", "k": 4}, {"name": "t-closeness", "t": 0.9}]
        )
    carried_out(held)
    app = open_page("pages/5_Results.py", {**held, "classes": view}, tab=CLASSES)
    assert spoilt(app) == []


@pytest.mark.parametrize("technique", sorted(family("algorithm")))
def test_names_stay_names_in_the_form_of_every_technique(technique: str) -> None:
    held = session()
    with patch.object(st, "session_state", held):
        state.update_draft(algorithm={"name": technique})
    assert spoilt(open_page("pages/4_Run.py", held)) == []


@pytest.mark.parametrize("model", sorted(family("model")))
def test_names_stay_names_in_the_form_of_every_privacy_model(model: str) -> None:
    held = session()
    with patch.object(st, "session_state", held):
        state.update_draft(models=[{"name": "k-anonymity", "k": 4}, {"name": model}])
    assert spoilt(open_page("pages/4_Run.py", held)) == []
