"""Row techniques on Adult: what each loses, and how many people someone links; republication.

``python -m benchmarks.row_techniques`` prints the tables of docs/changes.md and
docs/several-releases.md.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from anon_core import AnonError, Dataset, Plan, run
from anon_core.data.hierarchy import read_levels
from anon_core.data.samples import hierarchy_folder, sample
from anon_core.methods.bucketized.m_invariance import Kept, Republication
from anon_core.methods.queries.count_queries import workload
from anon_core.release.problem import Problem

_NUMBERS = ("age", "hours-per-week")
_TEXTS = ("gender", "race", "marital-status", "education")
_SENSITIVE = "occupation"
_SEED = 20_26
#: The replaced columns get each technique's own strength; grouped ones the same k.
_K = 5
_QUERIES, _PREDICATES, _SANITY = 500, 3, 0.001


def adult(rows: int) -> pd.DataFrame:
    """Return rows of Adult, drawn with a fixed seed, complete in the columns used."""
    frame = sample("adult").load().dropna(subset=[*_NUMBERS, *_TEXTS, _SENSITIVE])
    return frame.sample(rows, random_state=_SEED)[[*_NUMBERS, *_TEXTS, _SENSITIVE]]


def techniques() -> dict[str, dict[str, Any]]:
    """Return the part of a recipe that each technique is."""
    both = [*_NUMBERS, *_TEXTS]

    def changed(*changes: Mapping[str, Any]) -> dict[str, Any]:
        return {"algorithm": {"name": "as-is"}, "models": [], "changes": list(changes)}

    numbers = list(_NUMBERS)
    diverse = {"name": "frequency-l-diversity", "l": 3, "column": _SENSITIVE}
    crowd = {"name": "k-anonymity", "k": _K}
    return {
        "swapping, 10 % of each column": changed(
            *({"name": "swapping", "columns": [n], "share": 0.1} for n in both)
        ),
        "swapping, all of each column": changed(
            *({"name": "swapping", "columns": [n], "share": 1.0} for n in both)
        ),
        "rank swapping, p = 5": changed(
            *({"name": "rank-swapping", "columns": [n]} for n in numbers)
        ),
        "additive noise, α = 0.1": changed(
            {"name": "additive-noise", "columns": numbers, "alpha": 0.1}
        ),
        "additive noise, α = 1": changed(
            {"name": "additive-noise", "columns": numbers, "alpha": 1.0}
        ),
        "multiplicative noise, v = 0.04": changed(
            {"name": "multiplicative-noise", "columns": numbers}
        ),
        "PRAM, 0.8 kept": changed(*({"name": "pram", "columns": [n]} for n in _TEXTS)),
        "condensation, k = 10": changed({"name": "condensation", "columns": numbers, "k": 10}),
        f"k-anonymity, k = {_K} (Mondrian)": {
            "algorithm": {"name": "mondrian"}, "models": [crowd],
        },
        f"r-gather, r = {_K}": {"algorithm": {"name": "r-gather"}, "models": [crowd]},
        "permutation, l = 3": {"algorithm": {"name": "permutation"}, "models": [diverse]},
        f"ANGEL, k = {_K}, l = 3": {
            "algorithm": {"name": "angel", "k": _K}, "models": [diverse],
        },
    }  # fmt: skip


def frontier(rows: int) -> None:
    """Print loss, query error and linkage of each technique."""
    frame = adult(rows)
    dataset = Dataset.from_frame(frame)
    problem: Problem | None = None
    folder = hierarchy_folder()
    levels = {n: read_levels(folder / f"adult/{n}.csv", n) for n in (*_NUMBERS, *_TEXTS)}
    print("| technique | numbers moved (IL1s) | loss | query error | rows linked | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    # Those that replace nothing come first: their problem says what is asked of the others.
    for title, part in sorted(techniques().items(), key=lambda one: "changes" in one[1]):
        begun = time.process_time()
        replaced = "changes" in part
        questions = {"queries": _QUERIES, "predicates": _PREDICATES, "sanity": _SANITY}
        plan = Plan.from_mapping(
            {
                "seed": int.from_bytes(hashlib.sha256(b"row techniques").digest()),
                "roles": {"quasi": [*_NUMBERS, *_TEXTS], "sensitive": [_SENSITIVE]},
                "metrics": [
                    {"name": "query-error", **questions},
                    {"name": "il1s"},
                    {"name": "loss"},
                ],
                "attacks": [{"name": "distance-linkage"}, {"name": "marketer"}],
                **part,
            }
        )
        try:
            result = run(plan, dataset, levels)
        except AnonError as error:
            print(f"| {title} | {error} | | | | |", flush=True)
            continue
        linked = next(
            (
                f"{attack.rate:.2%}"
                for name in (["distance-linkage"] if replaced else ["marketer"])
                for attack in result.attacks
                if attack.attack == name
            ),
            "–",
        )
        shown = [
            f"{one.value:.3f}"
            if (one := result.measures.get(name)) is not None and math.isfinite(one.value)
            else "–"
            for name in ("il1s", "loss", "query-error")
        ]
        if not replaced:
            problem = result.problem
        elif problem is not None:
            shown[-1] = f"{counted_error(problem, frame, result.published.to_pandas()):.3f}"
        seconds = time.process_time() - begun
        print(f"| {title} | {' | '.join(shown)} | {linked} | {seconds:.1f} |", flush=True)


def counted_error(problem: Problem, true: pd.DataFrame, published: pd.DataFrame) -> float:
    """Return the mean relative error of counts in replaced rows, for the metric's own questions."""
    asked = workload(
        problem, queries=_QUERIES, predicates=_PREDICATES, generator=np.random.default_rng(1)
    )

    def counts(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
        rank: dict[str, npt.NDArray[np.float64]] = {}
        for name in asked.columns:
            tree = problem.hierarchies[name]
            texts = frame[name].astype(str)
            if tree.measure is None:
                place = {leaf: at for at, leaf in enumerate(tree.leaves)}
                found = [place.get(text, -1) for text in texts.tolist()]
                rank[name] = np.array(found, dtype=np.float64)
            else:  # a number between two leaves counts as the nearer one
                ends = np.array([float(v) for v in tree.leaves if v], dtype=float)
                middles = (ends[1:] + ends[:-1]) / 2
                own = np.searchsorted(middles, [float(text) for text in texts.tolist()])
                rank[name] = own.astype(np.float64)
        fits = np.ones((asked.queries, len(frame)), dtype=np.bool_)
        for query in range(asked.queries):
            for at, lo, hi in zip(
                asked.column[query], asked.lo[query], asked.hi[query], strict=True
            ):
                if at >= 0:
                    own = rank[asked.columns[at]]
                    fits[query] &= (own >= lo) & (own <= hi)
        return fits.sum(axis=1).astype(np.float64)

    actual, published_counts = counts(true), counts(published)
    return float(
        (np.abs(actual - published_counts) / np.maximum(actual, _SANITY * len(true))).mean()
    )


def republications(rows: int, releases: int = 10) -> None:
    """Print what ten releases of a table cost in which a tenth leaves each time, and as many come.

    Next to each m: the same tables published each by itself, with groups of m different values.
    """
    frame = adult(rows * 2).reset_index(drop=True)
    every: list[dict[str, str]] = [
        {"id": f"p{n}", **{str(name): str(value) for name, value in line.items()}}
        for n, line in enumerate(frame.to_dict("records"))
    ]
    quasi = (*_NUMBERS, "gender", "race")
    print("| m | rows published | counterfeits | most in one release | surest guess | "
          "persons found without memory | seconds |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for m in (2, 4, 6):
        asked = Republication(person="id", sensitive=_SENSITIVE, quasi=quasi, m=m)
        rng, begun = np.random.default_rng(_SEED), time.process_time()
        here = list(range(rows))
        come = rows
        kept = fresh = asked.kept("", "none")
        open_values: dict[str, set[str]] = {}
        counterfeits: list[int] = []
        published, surest = 0, 0.0
        for number in range(releases):
            if number:
                gone = set(rng.choice(here, rows // 10, replace=False).tolist())
                here = [n for n in here if n not in gone] + list(range(come, come + rows // 10))
                come += rows // 10
            table = [every[n] for n in here]
            made = asked.publish(table, kept)
            kept, surest = made.state, max(surest, made.surest)
            counterfeits.append(made.rows - len(table))
            published += made.rows
            for person, signature in _alone(asked, table, fresh).items():
                open_values[person] = open_values.get(person, signature) & signature
        found = sum(len(values) == 1 for values in open_values.values()) / len(open_values)
        print(
            f"| {m} | {published:,} | {sum(counterfeits):,} | {max(counterfeits):,} | "
            f"{surest:.1%} | {found:.1%} of {len(open_values):,} | "
            f"{time.process_time() - begun:.0f} |",
            flush=True,
        )


def _alone(
    asked: Republication, table: Sequence[Mapping[str, str]], fresh: Kept
) -> dict[str, set[str]]:
    """Return the values that are open for each person where a table is published by itself."""
    return {
        person: set(values)
        for person, values in asked.publish(table, fresh).state.signatures.items()
    }


if __name__ == "__main__":
    given = Counter(sys.argv[1:])
    if not given or "frontier" in given:
        frontier(5_000)
    if not given or "republications" in given:
        republications(3_000)
