"""Let this environment's Python import the workbench from every folder, not only from here."""

from __future__ import annotations

import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def main(packages: Path) -> None:
    """Write the checkout's path where Python looks for paths; a moved checkout writes it again."""
    (packages / "anonymity-workbench.pth").write_text(f"{HERE}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sysconfig.get_path("purelib")))
