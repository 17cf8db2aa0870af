"""One lesson a file, found by itself; `docs/lessons.md` says what a trace shows."""
