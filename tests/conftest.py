"""What every test shares."""

from __future__ import annotations

from hypothesis import settings

# Speed is measured by the benchmarks; a busy machine must not fail a test. The same examples are
# tried every time, so that a failure can be repeated.
settings.register_profile("workbench", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("workbench")
