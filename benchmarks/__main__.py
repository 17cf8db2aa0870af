"""Measure speed, and check on the way that the answers are right.

The exit status is 1 where an answer is wrong, and never because something was slow.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from anon_core.kernels.compilation import use_machine_code
from benchmarks import (
    exhaustive,
    identities,
    large_lattices,
    models,
    mondrian,
    optimal,
    peers,
    protected_tables,
    scale,
    secrets,
    seeds,
    sizes,
    stops,
    tables,
    together,
    whole,
)
from benchmarks.bench import Bench
from benchmarks.timing import shown


def main() -> int:
    """Run every measurement; see the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with adult/ and census/")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, small tables only")
    parser.add_argument("--large", action="store_true", help="tables of up to 100M rows as well")
    parser.add_argument(
        "--sizes", action="store_true", help="whole jobs on tables of a million rows and more only"
    )
    parser.add_argument(
        "--pages", action="store_true", help="the pages with a million rows, in a browser, only"
    )
    parser.add_argument(
        "--what-if", action="store_true", help="one change on Results, in a browser, only"
    )
    parser.add_argument(
        "--officer", action="store_true", help="ten what-ifs of a privacy officer, likewise, only"
    )
    parser.add_argument(
        "--first-minute",
        action="store_true",
        help="make run in a fresh clone, the first result, warm pages and memory, only",
    )
    parser.add_argument(
        "--lattices", action="store_true", help="a million nodes and a hundred thousand leaves only"
    )
    parser.add_argument(
        "--exhaustive",
        action="store_true",
        help="also compare the optimal search with every node of the whole lattice",
    )
    options = parser.parse_args()
    use_machine_code()
    bench = Bench(times=3 if options.quick else 5, quick=options.quick)
    began = time.perf_counter()
    print(
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"{bench.times} repeats after warming up; every figure is wall time."
    )
    with tempfile.TemporaryDirectory(prefix="anonymity-workbench-") as scratch:
        folder = Path(scratch)
        if options.what_if:
            from benchmarks import what_if  # a browser is driven for this alone

            what_if.what_if(bench, folder)
            return bench.exit_status()
        if options.first_minute:
            from benchmarks import first_minute  # as above

            first_minute.first_minute(bench, folder)
            return bench.exit_status()
        if options.officer:
            from benchmarks import officer  # as above

            officer.officer(bench, folder)
            return bench.exit_status()
        if options.sizes or options.pages or options.lattices:
            source = tables.census(options.data, folder)
            if isinstance(source, str):
                print(f"\n{source}")
                return 1
            if options.sizes:
                sizes.sizes(bench, source, large=options.large)
            if options.lattices:
                large_lattices.large_lattices(bench, source)
            if options.pages:
                from benchmarks import pages  # a browser is driven for this alone

                pages.pages(bench, source)
            return bench.exit_status()
        adult = tables.adult(options.data, folder)
        if isinstance(adult, str):
            print(f"\nAdult is not measured. {adult}")
        else:
            optimal.optimal(bench, adult)
            exhaustive.every_optimum(
                bench, adult, adult.quasi if options.exhaustive else adult.small
            )
            optimal.searches(bench, adult)
            mondrian.mondrian(bench, adult)
            mondrian.quality(bench, adult)
            models.local(bench, adult)
            models.optima(bench, adult)
            identities.attacks(bench, adult)
            secrets.attacks(bench, adult)
            together.together(bench, adult)
            stops.stops(bench, adult)
            scale.adult(bench, adult)
            if options.data is not None:  # other tools were measured on that table
                peers.peers(bench, adult)
            whole.whole(bench, adult, "optimal", "adult")
        census = tables.census(options.data, folder)
        if isinstance(census, str) or options.quick:
            print(
                f"\n{census}" if isinstance(census, str) else "\nLarge tables: left out by --quick."
            )
        else:
            whole.large(bench, census)
            large_lattices.large_lattices(bench, census)
            sizes.sizes(bench, census, large=options.large)
    if options.quick:
        print("\nMondrian at scale: left out by --quick.")
    else:
        scale.synthetic_tables(bench, large=options.large)
    protected_tables.protected_tables(bench)
    seeds.seeds(bench)
    whole.start(bench)
    print(f"\nTook {shown(time.perf_counter() - began)}.")
    return bench.exit_status()


if __name__ == "__main__":
    sys.exit(main())
