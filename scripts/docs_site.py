"""A hook of MkDocs: the documents of the checkout's top folder become pages of the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

CHECKOUT = Path(__file__).resolve().parents[1]
#: Pages of the site that lie outside of docs/, by their name there.
PAGES = {
    "README.md": "README.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "hierarchies.md": "hierarchies/README.md",
}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages; the README is the first."""
    for name, path in PAGES.items():
        text = (CHECKOUT / path).read_text(encoding="utf-8")
        shown = "index.md" if name == "README.md" else name
        files.append(File.generated(config, shown, content=linked(text)))
    return files


def on_page_markdown(markdown: str, **_more: Any) -> str:
    """Let links lead to pages of the site."""
    return linked(markdown)


def linked(text: str) -> str:
    """Return a document with the links that hold within the site.

    Examples
    --------
    >>> linked("[a](docs/files.md) [b](../CONTRIBUTING.md#style) [c](LICENSE)")
    '[a](files.md) [b](CONTRIBUTING.md#style) c'
    """
    text = re.sub(r"(?<=\]\()docs/", "", text)
    text = re.sub(r"((?:src|srcset)=\")docs/", r"\1", text)
    for name, path in PAGES.items():
        shown = "index.md" if name == "README.md" else name
        text = re.sub(rf"(?<=\]\()(\.\./)?{re.escape(path)}(?=[)#])", shown, text)
    # What is a file of the checkout and no page is named, not linked.
    return re.sub(
        r"\[([^\]]+)\]\((?:\.\./)*(?:LICENSE|[\w/.-]+/[\w.-]*\.(?:py|toml))\)", r"\1", text
    )
