"""Parts of the pages that are drawn by JavaScript of our own: plain files, nothing is built."""

from ui.components.editor import Editor

#: The hierarchy builder; it draws what `ui.state.drafts.message` returns.
TREE = Editor(
    name="tree",
    scripts=(
        "model.js",
        "view.js",
        "choosing.js",
        "pointer.js",
        "keys.js",
        "names.js",
        "main.js",
    ),
)

#: Cut points of numbers and dates: a histogram, and under it each level with draggable cuts; it
#: draws what `ui.panels.hierarchies.cut_panel.message` returns.
CUTS = Editor(name="cuts", scripts=("view.js", "hands.js", "main.js"))

#: The table of roles; it draws what `ui.forms.role_table.message` returns.
ROLES = Editor(name="roles", scripts=("main.js",), panel="Roles")

__all__ = ["CUTS", "ROLES", "TREE"]
