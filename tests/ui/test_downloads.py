"""Files that are made when they are asked for: outside of any session, from values at hand."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.elements.widgets import button as buttons
from streamlit.runtime.state import session_state_proxy
from streamlit.testing.v1 import AppTest

from anon_core.explain.report.context import ReleaseContext
from anon_core.explain.report.files import makes_pdf
from tests.ui.sessions import CHECKOUT, EXPORT, PATIENCE, carried_out, load, open_page
from tests.ui.sessions import wait_for as ended
from ui.state import release_context

DOOR = "ui/components/downloads.py"
DATA, HIERARCHIES, LEARN, EXPERIMENTS, TABLES = (
    f"pages/{name}.py"
    for name in ("1_Data", "3_Hierarchies", "8_Learn", "9_Experiments", "10_Tables")
)
Made = str | bytes


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A file that was offered: what makes it, what it made in the session, and who offered it."""

    make: Callable[[], Made]
    inside: Made
    by: str


@contextmanager
def seen() -> Iterator[dict[str, Offered]]:
    """Note every file that a page offers, by its name, with what makes it."""
    found: dict[str, Offered] = {}
    marshall = buttons.marshall_file

    def noting(coordinates: str, data: Any, proto: Any, *args: Any, **more: Any) -> None:
        by = next(
            path
            for frame in inspect.stack()
            if (path := frame.filename).startswith(str(CHECKOUT))
            and not path.endswith((DOOR, Path(__file__).name, "export.py"))
            and ".venv" not in path
        )
        name = args[1] if len(args) > 1 else more.get("file_name")
        make = data if callable(data) else lambda: data
        by = str(Path(by).relative_to(CHECKOUT))
        found[str(name)] = Offered(make=make, inside=make(), by=by)
        marshall(coordinates, data, proto, *args, **more)

    with patch.object(buttons, "marshall_file", noting):
        yield found


def outside(make: Callable[[], Made]) -> Made:
    """Make a file as Streamlit does when it is asked for: in a thread that has no session."""

    def none_there() -> Any:
        raise AssertionError("what makes a file reads the session, which is empty then")

    with (
        patch.object(session_state_proxy, "get_session_state", none_there),
        ThreadPoolExecutor(max_workers=1) as thread,
    ):
        return thread.submit(make).result()


def stated() -> dict[str, Any]:
    """Return a session with a result of which something was said."""
    held = load()
    carried_out(held, pinned=1)
    with patch.object(st, "session_state", held):
        release_context.state_it(ReleaseContext(title="Cardiology", recipient="One unit"))
    return held


#: An experiment that is carried out at once.
QUICK = "X-11"


def experiment_page() -> AppTest:
    app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=PATIENCE)
    app.switch_page(EXPERIMENTS).run()
    app.button(key=f"experiments/open/{QUICK}").click().run()
    app.button(key="experiments/run").click().run()
    return ended(app, "experiment")


def learn_page() -> AppTest:
    app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=PATIENCE).switch_page(LEARN)
    app.query_params["lesson"] = "mondrian"
    app.query_params["step"] = "99"
    return app.run()


def tables_page() -> AppTest:
    app = open_page(TABLES, load("hospital"))
    return ended(app.button(key="tables/protect").click().run(), "protect-table")


def saving() -> AppTest:
    return open_page(DATA, {**stated(), "session/popover": True})


#: Files that hand something to be made later to the door, and what opens a page that they draw.
PAGES: Mapping[str, Callable[[], AppTest]] = {
    "pages/1_Data.py": lambda: open_page(DATA, load()),
    "pages/7_Export.py": lambda: open_page(EXPORT, stated()),
    "ui/panels/protected_table.py": tables_page,
    "ui/panels/session_panel.py": saving,
    "ui/panels/hierarchies/hierarchy_files.py": lambda: open_page(HIERARCHIES, load("hospital")),
    "ui/panels/teaching/lesson_panel.py": learn_page,
    "ui/panels/teaching/experiment_panel.py": experiment_page,
}


@pytest.mark.parametrize("source", PAGES)
def test_every_file_is_the_same_when_it_is_made_outside_of_the_session(source: str) -> None:
    with seen() as offered:
        app = PAGES[source]()
    assert not app.exception
    assert any(one.by == source for one in offered.values())
    for name, one in offered.items():
        came = outside(one.make)
        assert came, name
        if name.endswith(".pdf"):  # it states when it was set
            assert len(came) == pytest.approx(len(one.inside), abs=64)
        else:
            assert came == one.inside, name


def called(source: Path) -> set[str]:
    """Return the names of what a file of ours calls."""
    calls = [
        node.func for node in ast.walk(ast.parse(source.read_text())) if type(node) is ast.Call
    ]
    return {
        func.attr if isinstance(func, ast.Attribute) else func.id
        for func in calls
        if isinstance(func, ast.Attribute | ast.Name)
    }


def test_every_file_goes_through_the_one_door_and_each_that_is_made_later_is_tried() -> None:
    ours = [
        CHECKOUT / "app.py",
        *(CHECKOUT / "pages").glob("*.py"),
        *(CHECKOUT / "ui").rglob("*.py"),
    ]
    by = {str(one.relative_to(CHECKOUT)): called(one) for one in ours}
    assert [one for one, names in by.items() if "download_button" in names] == [DOOR]
    assert {one for one, names in by.items() if "later" in names} == set(PAGES)


def test_a_function_that_reads_the_session_is_caught() -> None:
    with pytest.raises(AssertionError, match="which is empty then"):
        outside(lambda: str(st.session_state.get("state/context", "")))


def test_the_reports_on_export_say_what_was_stated() -> None:
    held = stated()
    with seen() as offered:
        app = open_page(EXPORT, held)
        app.text_area(key="judgement-export").input("Judged under contract.").run()
    for name in ("report.html", "report.json"):
        text = str(outside(offered[name].make))
        for word in ("Cardiology", "One unit", "Judged under contract."):
            assert word in text, name
        assert "Cardiology" in str(outside(offered[f"public-{name}"].make))
    assert makes_pdf() == ("report.pdf" in offered)
