"""The version of the workbench, told in every result, report and script."""

VERSION = "0.1.0"
