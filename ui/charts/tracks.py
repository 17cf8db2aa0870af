"""Classes as tracks over one axis: their rows, the chance of a guess, and their loss.

The axis is the share of classes, smallest first, so that runs of different numbers of classes lie
over each other. No more than `MOST` bins are drawn; a click on one chooses all of its classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anon_core.explain.text.tiles import loss_metric
from ui.charts import class_values
from ui.charts.chart_frame import Chart, Palette, Series, kept, shortened, signs_of
from ui.charts.metric_plots import title_of
from ui.charts.vega import SMALL, Vega, form, named
from ui.state.result_view import Facts

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Values = npt.NDArray[np.float64]
#: Bins of a run, about four pixels each in the narrowest panel.
MOST = 160
#: The selection that a click makes, and the field whose value identifies a bin.
PICKED = "picked"
_BIN = "bin"
#: A click with Shift adds a bin or takes it away; one on the only chosen bin takes that away.
_TOGGLES = (
    f"event.shiftKey || (length(data('{PICKED}_store')) == 1 && datum"
    f" && data('{PICKED}_store')[0].values[0] == datum.{_BIN})"
)
#: What a bar is drawn from.
_DRAWN = [_BIN, "x0", "x1", "colour", "chosen", "low", "y", "key"]
#: Share of a track's height that its title takes.
_TITLE = 0.27
#: Least pixels of three tracks, and those of several runs over each other.
_HEIGHT, _TALL = 190, 330
#: Those of each further track.
_MORE = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Track:
    """What one track says of the bins of one run.

    Attributes
    ----------
    name : str
        Of the values, in the table of numbers.
    title : str
        With unit and direction.
    values : float64 array of shape (bins,)
    rooted : bool
        Whether heights are square roots, so that small ones are seen next to large ones.
    percent : bool
    """

    name: str
    title: str
    values: Values
    rooted: bool = False
    percent: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Binned:
    """The classes of a run in bins, smallest first.

    Attributes
    ----------
    edges : int64 array of shape (bins + 1,)
        Places in the order of sizes.
    tracks : tuple of Track
    people : int64 array of shape (bins,)
    """

    edges: npt.NDArray[np.int64]
    tracks: tuple[Track, ...]
    people: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def groups(self, facts: Facts, at: int) -> npt.NDArray[np.int64]:
        """Return the classes of a bin, as `View` numbers them."""
        return facts.by_size[self.edges[at] : self.edges[at + 1]]

    def holds(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which bins hold a chosen class, of classes in the order of sizes."""
        if not len(self):
            return np.zeros(0, dtype=np.bool_)
        return np.logical_or.reduceat(chosen, self.edges[:-1])


def offered(facts: Facts) -> list[str]:
    """Return what else can be drawn as a track: what metrics, values and attacks say of classes."""
    names = {t.name for t in binned([_alone(facts)]).tracks}
    return [name for name in _further(facts) if name not in names]


def _further(facts: Facts) -> dict[str, tuple[Values, bool]]:
    """Return values of each class by name, and whether they are chances, of which the worst counts.

    Attacks and metrics may go by one name; the attack has it first.
    """
    found = {name: (values, True) for name, values in class_values.attacks(facts)}
    for name, values in class_values.metrics(facts):
        found.setdefault(name, (values, False))
    for column, values in class_values.differences(facts):
        found.setdefault(f"{shortened(column, 24)} against the whole", (values, False))
    return found


def _alone(facts: Facts) -> Series:
    return Series(letter="", title="", facts=facts, colour="")


def binned(runs: Sequence[Series], more: Sequence[str] = ()) -> Binned:
    """Return the classes of the first of some runs in bins.

    Parameters
    ----------
    runs : sequence of Series
    more : sequence of str
        What is reported next to rows, guess and loss, of what is `offered`.
    """
    facts = runs[0].facts
    classes = len(facts.by_size)
    bins = min(classes, MOST)
    edges = np.linspace(0, classes, bins + 1).astype(np.int64)
    order, weight = facts.by_size, facts.hiding.astype(np.float64)
    if not bins:
        return Binned(edges=edges, tracks=(), people=np.zeros(0, dtype=np.int64))

    def mean(values: Values) -> Values:
        total = np.add.reduceat(weight[order], edges[:-1])
        return np.add.reduceat((values * weight)[order], edges[:-1]) / total

    one = facts.noun[0]
    counted = facts.result.counted
    tracks = [
        Track(
            name=counted,
            title=f"{counted} in the {one} (square-root scale) – more hide better",
            values=np.add.reduceat(weight[order], edges[:-1]) / np.diff(edges),
            rooted=True,
        )
    ]
    guessed = guess_of(facts)
    if guessed is not None:
        name, chance = guessed
        tracks.append(
            Track(
                name="chance of a guess",
                title=f"chance of guessing {name} – less is better",
                values=np.maximum.reduceat(chance[order], edges[:-1]),
                percent=True,
            )
        )
    metric = loss_metric(facts.result)
    measure = facts.result.measures.get(metric)
    lost = None if measure is None else measure.per_class
    if lost is not None and len(lost) == classes:
        title = title_of(metric)
        tracks.append(
            Track(
                name=title,
                title=f"{title.lower()}, 0 unchanged to 1 suppressed – less is better",
                values=mean(np.nan_to_num(lost)),
            )
        )
    known = _further(facts) if more else {}
    for name in (name for name in more if name in known):
        values, chances = known[name]
        finite = np.nan_to_num(values)
        tracks.append(
            Track(
                name=name,
                title=f"{name}, {'chance' if chances else '0 to 1'} – less is better",
                values=np.maximum.reduceat(finite[order], edges[:-1]) if chances else mean(finite),
                percent=chances,
            )
        )
    people = np.add.reduceat(facts.hiding[order], edges[:-1])
    return Binned(edges=edges, tracks=tuple(tracks), people=people)


def guess_of(facts: Facts) -> tuple[str, Values] | None:
    """Return what is guessed of a person, and the highest chance of it in each class.

    Of several sensitive columns the one that is guessed most surely counts, class by class.
    """
    problem = facts.result.problem
    names = [c for c in problem.sensitive if c not in problem.quasi]
    if not names or not len(facts.sizes):
        return None
    chance = np.max([facts.surest(column)[0] for column in names], axis=0)
    label = shortened(names[0], 24) if len(names) == 1 else f"one of {len(names)} sensitive values"
    return label, chance


def height(more: Sequence[str]) -> int:
    """Return the least pixels of the tracks of one run, with further ones."""
    return _HEIGHT + _MORE * len(more)


def tracks(
    runs: Sequence[Series],
    colours: Palette,
    base: Facts | None = None,
    chosen: npt.NDArray[np.bool_] | None = None,
    turn: object = 0,
    more: tuple[str, ...] = (),
) -> Chart:
    """Return the classes of runs as tracks: bars of one run and its baseline, or a line each.

    Parameters
    ----------
    runs : sequence of Series
    colours : Palette
    base : Facts or None
        The baseline, drawn as a line over the bars of a single run.
    chosen : bool array of shape (classes,), optional
        Of a single run, the classes that are chosen.
    turn : object
        Goes into the names of bins: a click that was made at another turn marks nothing.
    more : tuple of str
        Further tracks, of what is `offered`.
    """
    alone = len(runs) == 1
    parts = [binned_of(run, colours, more) for run in runs]
    ghosts = [] if alone else list(zip(runs, parts, strict=True))
    if alone and base is not None:
        run = Series(letter="baseline", title="", facts=base, colour=colours.sensitive)
        ghosts = [(run, binned_of(run, colours, more))]
    every = [*parts, *(part for _, part in ghosts)]
    names = list(dict.fromkeys(t.name for part in parts for t in part.tracks))
    tops = {
        name: max(
            (float(t.values.max(initial=0)) for p in every for t in p.tracks if t.name == name),
            default=0.0,
        )
        for name in names
    }
    form_of = {t.name: t for part in parts[::-1] for t in part.tracks}
    boxes = {n: _Box.of(form_of[n], tops[n], at, len(names)) for at, n in enumerate(names)}
    _, many = runs[0].facts.noun if alone else nouns(runs)
    bins = _bins(runs[0], parts[0], boxes, chosen, turn, bars=alone)
    hits = bins.slice(0, len(parts[0]) if alone else 0)  # those of the first track
    figure = Vega(
        spec=_spec(colours, f"{many}, smallest first", tuple(names), alone),
        data={
            "bars": bins.select(_DRAWN),  # what is said of a bin is with what answers
            "hits": hits,
            "lines": _lines(ghosts, boxes),
            "ticks": _ticks(boxes),
            "titles": _titles(boxes),
            "limits": _limits(runs, boxes),
        },
        height=height(more) if alone else _TALL + _MORE * len(more),
        stretches=alone,
        picked=PICKED if alone else "",
    )
    meaning = (
        "Rows of a group share one published number, among which links are cut."
        if runs[0].facts.permuted
        else "A class is a set of rows with identical quasi-identifiers."
    )
    return Chart(
        title=f"{many.capitalize()}, smallest first",
        figure=figure,
        signs=signs_of(runs),
        numbers=_numbers(runs, parts),
        note=meaning,
        formats=dict.fromkeys(names[1:], "%.4f"),
    )


def binned_of(run: Series, colours: Palette, more: tuple[str, ...] = ()) -> Binned:
    """Return the bins of a run, from the session where they were made before."""
    return kept(_binned, [run], colours, more)


def picked_bins(ids: Sequence[str], turn: object) -> list[int]:
    """Return the places of the bins that were clicked at this turn, in the order of clicks."""
    bins = [one.rpartition("/") for one in ids]
    return [int(at) for when, _, at in bins if when == str(turn) and at.isdecimal()]


def nouns(runs: Sequence[Series]) -> tuple[str, str]:
    """Return what rows that are together are called in these runs, one and many."""
    found = dict.fromkeys(r.facts.noun for r in runs)
    if len(found) == 1:
        return next(iter(found))
    return ("class or group", "classes or groups")


def _binned(runs: Sequence[Series], colours: Palette, more: tuple[str, ...]) -> Binned:
    del colours  # `kept` tells charts apart by it
    return binned(runs, more)


@dataclass(frozen=True, kw_only=True)
class _Box:
    """Where a track lies in the chart, whose height is 1 from the bottom."""

    title: str
    low: float
    high: float
    top: float
    rooted: bool
    percent: bool

    @classmethod
    def of(cls, track: Track, top: float, at: int, among: int) -> _Box:
        """Return the box of a track, counted from the top, with the value at its upper end."""
        each = 1 / among
        low = 1 - (at + 1) * each
        return cls(
            title=track.title,
            low=low,
            high=low + each * (1 - _TITLE),
            top=top or 1.0,
            rooted=track.rooted,
            percent=track.percent,
        )

    def height(self, values: Any) -> Any:
        """Return where values lie."""
        part = np.clip(np.asarray(values, dtype=np.float64) / self.top, 0, 1)
        return self.low + (np.sqrt(part) if self.rooted else part) * (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round values to be marked: 0, the largest below the top, one between."""
        most = _round_below(self.top, (5, 4, 2, 1) if self.rooted else (8, 6, 5, 4, 3, 2, 1.5, 1))
        between = most / ((4 if most % 4 == 0 else 5) if self.rooted else 2)
        return [0.0, most] if self.rooted and between < 1 else [0.0, between, most]

    def written(self, value: float) -> str:
        """Return a value as its tick shows it."""
        if self.percent:
            return f"{100 * value:g}%"
        return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,g}"


def _round_below(value: float, digits: Sequence[float]) -> float:
    """Return the largest number of one of these digits, falling, and zeros not above a value.

    Examples
    --------
    >>> _round_below(70, (5, 2, 1)), _round_below(0.4, (4, 2, 1)), _round_below(3, (5, 1))
    (50.0, 0.4, 1.0)
    """
    if value <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(value))
    return float(round(next(m * scale for m in digits if m * scale <= value * 1.0001), 12))


def _columns(columns: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(columns)


def _bins(
    run: Series,
    part: Binned,
    boxes: dict[str, _Box],
    chosen: npt.NDArray[np.bool_] | None,
    turn: object,
    *,
    bars: bool,
) -> pa.Table:
    """Return a row for each bin of each track, track by track."""
    facts, many, tracks = run.facts, len(part) if bars else 0, len(part.tracks)
    share = part.edges / max(part.edges[-1], 1)
    mine = np.zeros(len(facts.by_size), dtype=np.bool_) if chosen is None else chosen
    texts_of_track = {f"track{at}": _texts(t) for at, t in enumerate(part.tracks)}
    names = [track.name for track in part.tracks]
    which = _which(facts, part)
    said = [
        "; ".join([bin_, *(f"{name} {text}" for name, text in zip(names, texts, strict=True))])
        for bin_, *texts in zip(which, *texts_of_track.values(), strict=True)
    ]
    one: dict[str, list[Any]] = {
        _BIN: [f"{turn}/{at}" for at in range(many)],
        "x0": share[:-1].tolist(),
        "x1": share[1:].tolist(),
        "colour": [run.colour] * many,
        "chosen": part.holds(mine[facts.by_size]).tolist(),
        "classes": which,
        "said": said,
        **texts_of_track,
    }
    return _columns(
        {
            **{name: values[:many] * tracks for name, values in one.items()},
            "key": list(range(many * tracks)),
            "low": [boxes[t.name].low for t in part.tracks for _ in range(many)],
            "y": [y for t in part.tracks for y in boxes[t.name].height(t.values)[:many].tolist()],
        }
    )


def _texts(track: Track) -> list[str]:
    if track.percent:
        return [f"{100 * v:.1f}%" for v in track.values.tolist()]
    return [f"{v:,.4g}" if v < 1000 else f"{v:,.0f}" for v in track.values.tolist()]


def _which(facts: Facts, part: Binned) -> list[str]:
    """Return which classes are in each bin, in words."""
    one, many = facts.noun
    found: list[str] = []
    for low, high in zip(part.edges[:-1].tolist(), part.edges[1:].tolist(), strict=True):
        if high - low == 1:
            found.append(f"{one} {facts.numbers[facts.by_size[low]]:,}")
        elif facts.permuted:  # published numbers say nothing of sizes
            found.append(f"{high - low:,} {many}")
        else:
            found.append(f"{many} {low + 1:,} to {high:,} ({high - low:,})")
    return found


def words_of(facts: Facts, part: Binned, at: int) -> str:
    """Return which classes a bin holds, in words."""
    return _which(facts, part)[at]


def _lines(ghosts: Sequence[tuple[Series, Binned]], boxes: dict[str, _Box]) -> pa.Table:
    found: dict[str, list[Any]] = {"x": [], "y": [], "of": [], "colour": []}
    for run, part in ghosts:
        share = part.edges / max(part.edges[-1], 1)
        for track in part.tracks:
            if track.name not in boxes:
                continue
            y = boxes[track.name].height(track.values)
            found["x"] += share.tolist()
            found["y"] += [*y.tolist(), *y[-1:].tolist()]
            found["of"] += [f"{run.letter} {track.name}"] * len(share)
            found["colour"] += [run.colour] * len(share)
    return _columns(found)


def _ticks(boxes: dict[str, _Box]) -> pa.Table:
    rows = [(box.height(v).item(), box.written(v)) for box in boxes.values() for v in box.ticks()]
    return _columns({"y": [y for y, _ in rows], "text": [text for _, text in rows]})


def _titles(boxes: dict[str, _Box]) -> pa.Table:
    return _columns(
        {"y": [b.high for b in boxes.values()], "text": [b.title for b in boxes.values()]}
    )


def _limits(runs: Sequence[Series], boxes: dict[str, _Box]) -> pa.Table:
    """Return the least sizes that the models allow, where the track of rows reaches them."""
    asked: dict[int, list[str]] = {}
    for facts in (run.facts for run in runs):
        if facts.least > 1:
            asked.setdefault(facts.least, []).append(f"{facts.least_name} = {facts.least:,}")
    box = next(iter(boxes.values()), None)
    labels = {size: " · ".join(dict.fromkeys(names)) for size, names in asked.items()}
    lines = [] if box is None else [(v, t) for v, t in labels.items() if v <= box.top]
    found = [] if box is None else [(box.height(v).item(), t) for v, t in lines]
    return _columns(
        {
            "y": [y for y, _ in found],
            "text": [text for _, text in found],
            "x0": [1 - 0.1 * at for at in range(len(found))],  # words are next to each other
        }
    )


def _numbers(runs: Sequence[Series], parts: Sequence[Binned]) -> pd.DataFrame:
    import pandas as pd

    found: list[pd.DataFrame] = []
    for run, part in zip(runs, parts, strict=True):
        one, many = run.facts.noun
        found.append(
            pd.DataFrame(
                {
                    **({"run": run.letter} if len(runs) > 1 else {}),
                    one: _which(run.facts, part),
                    many: np.diff(part.edges),
                    "people": part.people,
                    **{t.name: t.values for t in part.tracks},
                }
            )
        )
    return pd.concat(found, ignore_index=True)


@lru_cache(maxsize=32)
def _spec(colours: Palette, axis: str, names: tuple[str, ...], answers: bool) -> dict[str, Any]:
    import altair as alt

    # What answers no click has no marks, and nothing to tell of them.
    spoken = {"description": "said:N"} if answers else {}

    pick = alt.selection_point(
        name=PICKED, fields=[_BIN], on="click", toggle=_TOGGLES, clear="dblclick",
        empty=False,
    )  # fmt: skip
    hover = alt.selection_point(
        name="hovered", fields=[_BIN], on="pointerover", clear="pointerout", empty=False
    )
    chosen = {"or": [{"param": PICKED, "empty": False}, "datum.chosen"]}
    whole = alt.Scale(domain=[0, 1], nice=False)
    shares = alt.Axis(
        format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1], grid=False, title=axis, titlePadding=2
    )

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=whole, axis=shares)

    y = alt.Y("y:Q", scale=whole, axis=None)
    ink = colours.ink
    layers = [
        named("ticks").mark_rule(color=colours.grid).encode(y=y),
        named("ticks")
        .mark_text(align="right", baseline="middle", dx=-5, fontSize=SMALL)
        .encode(x=alt.value(0), y=y, text="text:N", color=alt.value(colours.muted)),
        named("bars").properties(name="bars")
        .mark_rect()
        .encode(
            x=x("x0"),
            x2="x1:Q",
            y=alt.Y("low:Q", scale=whole, axis=None),
            y2="y:Q",
            key="key:O",  # marks stay when other data come, and only what differs is drawn
            color={
                "condition": {"test": chosen, "value": ink},
                "field": "colour",
                "type": "nominal",
                "scale": None,
                "legend": None,
            },
            opacity={"condition": [
                {"test": chosen, "value": 1},
                {"test": {"param": "hovered", "empty": False}, "value": 0.8},
            ], "value": 0.45},
        ),
        named("limits").mark_rule(color=colours.warning, strokeDash=[4, 3]).encode(y=y),
        named("lines").properties(name="lines")
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=x("x"),
            y=y,
            detail="of:N",
            color=alt.Color("colour:N", scale=None, legend=None),
        ),
        named("limits")
        .mark_text(
            align="right", baseline="bottom", dx=-2, dy=-2, fontSize=SMALL,
            stroke=colours.paper, strokeWidth=3,
        )
        .encode(x=x("x0"), y=y, text="text:N"),
        named("limits")
        .mark_text(align="right", baseline="bottom", dx=-2, dy=-2, fontSize=SMALL)
        .encode(x=x("x0"), y=y, text="text:N", color=alt.value(colours.warning)),
        named("titles")
        .mark_text(align="left", baseline="bottom", dy=-3, fontSize=SMALL)
        .encode(x=alt.value(0), y=y, text="text:N", color=alt.value(colours.muted)),
        # Low bars are hard to hit: each bin answers over the whole height.
        named("hits").properties(name="hits")
        .mark_rect(cursor="pointer")
        .encode(
            x=x("x0"),
            x2="x1:Q",
            y=alt.value(0),
            y2=alt.value("height"),
            key="key:O",
            color=alt.value(ink),
            opacity={
                "condition": {"test": {"or": [chosen, {"param": "hovered", "empty": False}]},
                              "value": 0.08},
                "value": 0,
            },
            tooltip=[alt.Tooltip("classes:N", title="a click chooses"),
                     *(alt.Tooltip(f"track{at}:N", title=n) for at, n in enumerate(names))],
            **spoken,
        )
        .add_params(pick, hover),
    ]  # fmt: skip
    chart = alt.layer(*layers).resolve_scale(color="independent", opacity="independent")
    return form(chart, colours, right=8)
