"""Everything that determines a release, and its file."""
