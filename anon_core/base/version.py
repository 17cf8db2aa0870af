"""The version of the workbench, shown in every result, report and script."""

VERSION = "0.1.0"
