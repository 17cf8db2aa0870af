"""Print every module with the first line of its docstring, folder by folder, from the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
#: What else a checkout holds, top to bottom as `ARCHITECTURE.md` has it.
ROOTS = ("anonymity_workbench", "app.py", "pages", "ui", "anon_core", "benchmarks", "scripts")


@cache
def first_line(module: Path) -> str:
    """Return the first line of a module's docstring; empty where it has none."""
    source = module.read_text(encoding="utf-8")
    mark = '"""'
    if source.startswith(mark):  # nothing below it is parsed
        source = source[: source.find(mark, len(mark)) + len(mark)]
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def modules() -> Iterator[Path]:
    """Yield every module, those of a folder one after the other, the folder's own first."""
    for root in ROOTS:
        place = CHECKOUT / root
        if place.is_file():
            yield place
            continue
        folders = sorted({file.parent for file in place.rglob("*.py")})
        for folder in folders:
            yield from sorted(folder.glob("*.py"), key=lambda f: (f.name != "__init__.py", f.name))


def lines() -> Iterator[str]:
    """Yield the map, a heading before each folder."""
    before: Path | None = None
    for module in modules():
        folder = module.parent.relative_to(CHECKOUT)
        own = module.name == "__init__.py"
        if folder != before:
            before = folder
            yield ""
            if folder != Path():
                yield f"{folder}/" + (f"  {first_line(module)}" if own else "")
        if not own:
            yield f"    {module.name:30}  {first_line(module)}"


def main() -> None:
    """Print the map."""
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
