"""Results as the charts draw them: each with its letter, colour and symbol."""

from __future__ import annotations

from anon_core.pipeline.result import Result
from ui.charts import theme
from ui.charts.chart_frame import Palette, Series
from ui.state import pinning
from ui.state.result_view import facts


def of_pins(pins: list[pinning.Pin]) -> list[Series]:
    """Return the pinned runs as series, in their own colours."""
    found: list[Series] = []
    for pin in pins:
        _, _, sign, symbol = theme.RUN_STYLE[pin.letter]
        found.append(
            Series(
                letter=pin.letter,
                title=pin.title,
                facts=facts(pin.result),
                colour=theme.run_colour(pin.letter),
                symbol=symbol,
                sign=sign,
            )
        )
    return found


def pin_of(result: Result) -> pinning.Pin | None:
    """Return the pin that holds a result."""
    return next((p for p in pinning.pins() if p.result is result), None)


def of_result(result: Result, colours: Palette) -> Series:
    """Return one result as a series: in its pin's colour, or in the page's own."""
    pin = pin_of(result)
    if pin is not None:
        return of_pins([pin])[0]
    return Series(letter="", title="", facts=facts(result), colour=colours.quasi)
