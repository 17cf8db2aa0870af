"""The reproducing script: the same release from Python, through the core's public names."""

from __future__ import annotations

from anon_core.base.installation import VERSION
from anon_core.pipeline.result import Result

_SCRIPT = '''"""Make the release again. Internal edition: its recipe holds the secret.

    python reproduce.py TABLE FOLDER

TABLE is the private table (CSV or Parquet) and FOLDER takes the release. Run it where the
Anonymity Workbench {version} can be imported, with recipe.toml and hierarchies/ in this folder.
"""

import argparse
from pathlib import Path

from anon_core import DataOptions, Plan, load_hierarchies, read_table, run, write_release

HERE = Path(__file__).resolve().parent
#: What the release was, so that a difference does not go unnoticed.
EXPECTED_SHA256 = "{digest}"


def main() -> None:
    arguments = argparse.ArgumentParser(description="Make the release again.")
    arguments.add_argument("table", type=Path, help="the private table")
    arguments.add_argument("folder", type=Path, help="where the release goes")
    given = arguments.parse_args()

    plan = Plan.from_toml((HERE / "recipe.toml").read_text(encoding="utf-8"))
    table = read_table(given.table, plan.data)
    inputs = DataOptions(missing_values=plan.data.missing_values, missing_in=plan.data.missing_in)
    people = read_table(HERE / plan.population_file, inputs) if plan.population_file else None
    earlier = read_table(HERE / plan.earlier.file, inputs) if plan.earlier.file else None
    result = run(plan, table, load_hierarchies(plan, HERE), population=people, earlier=earlier)

    write_release(given.folder, result.all_files)
    for check in result.verification.checks:
        print(check.sentence)
    same = result.sha256 == EXPECTED_SHA256
    print("The same bytes as before." if same else "Not the same bytes: table or version differ.")


if __name__ == "__main__":
    main()
'''


def script(result: Result) -> str:
    """Return the script's text; it expects the recipe and its hierarchies next to it."""
    return _SCRIPT.format(version=VERSION, digest=result.sha256)
