"""Start."""

from __future__ import annotations

from ui import shell

shell.page("Start", "🛡️")
