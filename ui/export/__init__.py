"""What leaves the workbench: recipe, report, script, archive."""
