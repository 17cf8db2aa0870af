"""What is installed: the version, and where pages, hierarchies and settings lie."""

from __future__ import annotations

from pathlib import Path

#: Shown in every result, report and script.
VERSION = "0.1.0"
_CHECKOUT = Path(__file__).resolve().parents[2]
#: The wheel packs them into this folder, whose name nothing else has; see pyproject.toml.
_PACKED = _CHECKOUT / "anonymity_workbench"


def shipped() -> Path:
    """Return the folder of ``app.py``, ``pages/``, ``ui/`` and ``hierarchies/``.

    It is the checkout, or where the workbench is installed a folder next to the core.
    """
    return _PACKED if (_PACKED / "app.py").is_file() else _CHECKOUT
