"""Places that people ask from: boxes by each technique, inverted side by side, and published."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.data.reading.any_format import read_table
from anon_core.methods.other_data import cloaks
from anon_core.methods.other_data.cloaks import Asked, Cloaked
from anon_core.methods.other_data.places import METHODS
from ui.charts.chart_frame import palette, show, table
from ui.charts.other_data import places_plot
from ui.components.downloads import download
from ui.components.guard import panel
from ui.panels.other_releases import TABLES
from ui.state import state
from ui.state.kept_fields import last_number, remembered

PANEL = "Places"
#: People whose boxes are computed as soon as they are there.
_MOST = 3_000
_EXAMPLE_AREA, _EXAMPLE_TOLERANCE = "0,0,10,10", 1.0
_TITLES = {
    "quadtree": "Quadtree",
    "pyramid": "Pyramid",
    "nearest": "Nearest neighbours",
    "reciprocal": "Reciprocal",
    "cliques": "Cliques",
}


def draw() -> None:
    """Draw the tab."""
    with st.container(key="form-places"):
        form, shown = st.columns([1, 3], gap="large")
    with form:
        st.caption(
            "Use it for requests sent at one moment, if a box is enough for the answer. "
            "Never use it for tracks: the boxes of one person over time intersect."
        )
        file = st.file_uploader(
            "Places: person, x, y",
            type=TABLES,
            key="other/places",
            help="One row per person. Add the columns k and tolerance if people choose their "
            "own. Without a file, places in an invented town are drawn.",
        )
        content, name = (file.getvalue(), file.name) if file else (b"", "")
        people = (
            60
            if file
            else int(
                st.number_input(
                    "People", 2, 500, last_number("other/people", 60), **remembered("other/people")
                )
            )
        )
        asked = state.once(
            "other/asked",
            (content, name, people),
            lambda: (
                cloaks.read_asked(read_table(content, name=name), f"'{name}'")
                if content
                else cloaks.drawn(people)
            ),
        )
        own = bool(asked.requests)
        k = (
            0
            if own
            else int(
                st.number_input(
                    "k",
                    2,
                    100,
                    last_number("other/places/k", 4),
                    **remembered("other/places/k"),
                    help=_K_HELP,
                )
            )
        )
        area = tolerance = None
        if not own:
            text = st.text_input(
                "Area",
                _EXAMPLE_AREA if not file else "",
                **remembered(f"other/area/{bool(file)}"),
                placeholder="left, lower, right, upper",
                help="The area that quadtree and pyramid divide. An area computed from the "
                "people's places reveals them.",
            )
            area = cloaks.read_area(text, "The area") if text.strip() else None
            typed = st.number_input(
                "Tolerance of cliques",
                min_value=0.0,
                value=last_number("other/tolerance", _EXAMPLE_TOLERANCE),
                **remembered("other/tolerance"),
                help="How far the others in a box may be, along each axis.",
            )
            tolerance = Fraction(str(typed))
    with shown, panel(PANEL):
        if len(asked.texts) > _MOST:
            raise BadInput(
                f"The page takes {_MOST:,} people; there are {len(asked.texts):,}.",
                remedy="Use `python -m anon_core cloak`.",
            )
        names = ["cliques"] if own else [n for n in cloaks.TECHNIQUES if area or not _divides(n)]
        made = state.once(
            "other/cloaked",
            (asked, k, area, tolerance),
            lambda: {n: cloaks.cloaked(asked, n, k, area=area, tolerance=tolerance) for n in names},
        )
        one = _picture(asked, made, k)
        _side_by_side(made, missing=not own and area is None)
        _published(asked, one, k)


_K_HELP = "The fewest people who could have sent a box."


def _divides(technique: str) -> bool:
    return technique in METHODS and METHODS[technique][1]


def _side_by_side(made: dict[str, Cloaked], *, missing: bool) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        [
            {
                "Technique": _TITLES[name],
                "Exposed": one.attack.exposed,
                "Fewest inside": one.attack.inside,
                "Fewest senders": one.attack.least,
                "Mean chance": 100 * float(one.attack.mean) if one.boxes else None,
                "Mean area": float(one.attack.area) if one.boxes else None,
                "Boxes": len({*one.boxes.values()}),
                "Expired": one.expired,
            }
            for name, one in made.items()
        ]
    )
    formats = {"Mean chance": "%.1f%%", "Mean area": "%.2f"}
    table(frame, key="other/techniques", formats=formats, width="content")
    st.caption(
        (
            "Someone who knows all places and the technique computes everyone's box, and "
            "rules out people with another box. The mean chance is that of finding a "
            "sender. People are exposed if fewer than k could have sent their box, even "
            "with more people inside it."
        )
        + (" Quadtree and pyramid need an area: enter it." if missing else "")
    )


def _picture(asked: Asked, made: dict[str, Cloaked], k: int) -> Cloaked:
    """Draw the boxes of the technique that is chosen, and return them."""
    chosen = st.segmented_control(
        "Technique",
        list(made),
        default="reciprocal" if "reciprocal" in made else next(iter(made)),
        format_func=_TITLES.__getitem__,
        required=True,
        **remembered(f"other/technique/{len(made)}"),
    )
    one = made[chosen]
    if len(asked.texts) > places_plot.MOST:
        st.caption(f"Places of more than {places_plot.MOST} people are not drawn.")
    else:
        colours = palette()
        chart = state.once(
            "other/picture",
            (asked, k, one, colours),
            lambda: places_plot.places_chart(asked, one, k, colours, title=_TITLES[chosen]),
        )
        show(chart, key="other-places")
    return one


def _published(asked: Asked, one: Cloaked, k: int) -> None:
    """Draw what is published of the boxes, or why nothing is."""
    if not one.holds:
        st.warning(
            f"{one.attack.exposed:,} of {len(one.boxes):,} people are exposed, so these boxes are "
            "not published. Choose another technique: k people could have sent each box of "
            "Reciprocal."
            if one.boxes
            else "No request found others within its tolerance. Raise the tolerance, or lower k."
        )
        return
    text, names = state.once(
        "other/boxes", (asked, one, k), lambda: cloaks.published(asked, one, k)
    )
    with st.container(horizontal=True):
        download("Boxes", text, file="cloaks.csv", mime="text/csv", key="other/cloaks")
        download(
            "Who has which (private)",
            names,
            file="boxes.csv",
            mime="text/csv",
            key="other/cloaks/names",
            help="It undoes the release.",
        )
    st.caption(
        "Recomputed: each request has one line, every person is inside their box, and "
        "at least k people have each box."
    )
