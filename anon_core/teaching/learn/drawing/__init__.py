"""Pictures of lessons as HTML and SVG: one renderer for the page, the sheet and the static file.

Nothing is drawn by a script, so that a picture can be printed, read aloud and kept as it is. All
text is escaped in one place, `marks.element`.
"""

from anon_core.teaching.learn.drawing.draw import View, draw
from anon_core.teaching.learn.drawing.style import style

__all__ = ["View", "draw", "style"]
