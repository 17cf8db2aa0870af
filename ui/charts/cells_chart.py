"""Charts of cells: a grid of shares for every run, the stronger the colour the larger the share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .plain_look import Look, Pick, framed, tip, written


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one cell tells: its colour, the colour of its text, its text and its words.

    A cell with a `dot` of so many pixels shows that in place of its text.
    """

    colour: str
    ink: str
    text: str = ""
    tip: str = ""
    pick: Pick | None = None
    dot: int = 0


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of one run by row and column, None where nothing is drawn, and its heading."""

    cells: Sequence[Sequence[Cell | None]]
    heading: str = ""
    colour: str = ""


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A chart of cells.

    Attributes
    ----------
    names : tuple of str
        Of the rows, from the top.
    heads : tuple of str
        Of the columns; empty ones are not written.
    grids : tuple of Grid
        Beside each other.
    axis : str
        What the columns are.
    height : int
        Pixels of a row.
    steep : bool
        Whether columns are too narrow for words, so that the heads are written upwards.
    dots : str
        The colour of dots.
    """

    names: tuple[str, ...]
    heads: tuple[str, ...]
    grids: tuple[Grid, ...]
    axis: str = ""
    height: int = 25
    steep: bool = False
    dots: str = ""

    def html(self, title: str, look: Look) -> str:
        """Return the chart as HTML."""
        across, many = len(self.heads), len(self.grids)
        # Between the runs a narrow column is left empty.
        columns = " .5rem ".join([f"repeat({across},minmax(0,1fr))"] * many)
        found: list[str] = []
        row = 1
        if any(grid.heading for grid in self.grids):
            found += [
                f'<div class="aw-head" style="grid-area:{row} / {self._column(place, 0)} / auto / '
                f'span {across};color:{grid.colour}">{written(grid.heading)}</div>'
                for place, grid in enumerate(self.grids)
            ]
            row += 1
        if any(self.heads):
            steep = " aw-steep" if self.steep else ""
            found += [
                f'<div class="aw-top{steep}" style="grid-area:{row} / {self._column(place, at)}">'
                f"<span>{written(head)}</span></div>"
                for place in range(many)
                for at, head in enumerate(self.heads)
            ]
            row += 1
        for line, name in enumerate(self.names):
            found.append(
                f'<div class="aw-name" style="grid-area:{row + line} / 1">{written(name)}</div>'
            )
            for place, grid in enumerate(self.grids):
                found += [
                    self._cell(cell, row + line, place, at, low=not line)
                    for at, cell in enumerate(grid.cells[line])
                    if cell is not None
                ]
        if self.axis:
            found.append(
                f'<div class="aw-axis" style="grid-area:{row + len(self.names)} / 2 / auto / -1">'
                f"{written(self.axis)}</div>"
            )
        # Many columns are parted by less, or the gaps would take the place of the cells.
        gap = ";column-gap:1px" if across > 30 else ""
        style = f"grid-template-columns:fit-content(45%) {columns}{gap}"
        body = f'<div class="aw-cells" style="{style}">{"".join(found)}</div>'
        return framed(body, title=title, look=look)

    def _column(self, place: int, at: int) -> int:
        """Return the column of the layout, counted from 1; the first one holds the names."""
        return 2 + place * (len(self.heads) + 1) + at

    def _cell(self, cell: Cell, row: int, place: int, at: int, *, low: bool) -> str:
        right = at * 3 >= len(self.heads)  # the names take room at the left
        more, told = tip(cell.tip, right=right, low=low)
        style = (
            f"grid-area:{row} / {self._column(place, at)};min-height:{self.height}px;"
            f"background:{cell.colour};color:{cell.ink}"
        )
        drawn = written(cell.text)
        if cell.dot:
            size = f"width:{cell.dot}px;height:{cell.dot}px;background:{self.dots}"
            drawn = f'<i class="aw-dot" style="{size}"></i>'
        if cell.pick is not None:
            return f"{cell.pick.opened(f'aw-cell{more}', told, cell.tip, style)}{drawn}</button>"
        return f'<div class="aw-cell{more}"{told} style="{style}">{drawn}</div>'
