"""The core of the Anonymity Workbench."""
