"""Editing a hierarchy: drafts, operations, undo."""
