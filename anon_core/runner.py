"""Carry out a plan: search, measure, attack, publish, and verify before anything is returned."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .context import Context, part_of
from .errors import BadPlan, InputChanged, NotVerified, listing, nearest
from .hierarchy import from_rows
from .kinds import Metric, in_units_of, refuse_unsteered
from .plan import LevelTable, Plan
from .problem import Problem, build_problem
from .publish import Edition, as_csv, as_parquet, is_formula, public_edition
from .registry import family
from .release import Release
from .results import AttackResult, Measure, SearchAccount, Verdict
from .sampling import sampled
from .table import Dataset
from .verification.averages import check_groups
from .verification.checks import Verification, verify

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = "0.1.0"
SCHEMA = 1
_T = TypeVar("_T")
#: Recomputes the promises from the CSV files by name and the Arrow tables they were made of.
Verifier = Callable[[Mapping[str, bytes], Mapping[str, "pa.Table"]], Verification]


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """A verified release with everything that was measured on it.

    Attributes
    ----------
    plan : Plan
    problem : Problem
        The table as it was searched (after dropping rows with missing values and drawing a sample,
        where asked).
    release : Release
    account : SearchAccount
    verdicts : tuple of Verdict
    measures : mapping of str to Measure
        By metric name.
    attacks : tuple of AttackResult
    tables : mapping of str to pyarrow.Table
        The public edition, in canonical order.
    files : dict of str to bytes
        The public edition as it is written: CSV files by file name.
    member : int64 array of shape (published rows,)
        Group of each row of the first table, as `View` numbers groups.
    row_group : int64 array of shape (rows,)
        Group of each row of the private table, -1 where it is hidden.
    verification : Verification
    seconds : mapping of str to float
        Wall time per stage.
    """

    plan: Plan
    problem: Problem
    release: Release
    account: SearchAccount
    verdicts: tuple[Verdict, ...]
    measures: Mapping[str, Measure]
    attacks: tuple[AttackResult, ...]
    tables: Mapping[str, pa.Table]
    files: dict[str, bytes]
    member: npt.NDArray[np.int64]
    row_group: npt.NDArray[np.int64]
    verification: Verification
    seconds: Mapping[str, float]

    @property
    def published(self) -> pa.Table:
        """The first published table; the only one unless links are cut between two."""
        return next(iter(self.tables.values()))

    @property
    def csv(self) -> bytes:
        """The first published table as CSV."""
        return next(iter(self.files.values()))

    @cached_property
    def parquet_files(self) -> dict[str, bytes]:
        """The public edition as Parquet files by file name."""
        return {f"{name}.parquet": as_parquet(table) for name, table in self.tables.items()}

    @property
    def parquet(self) -> bytes:
        """The first published table as Parquet."""
        return next(iter(self.parquet_files.values()))

    @property
    def sha256(self) -> str:
        """SHA-256 over the CSV files, one after the other."""
        return hashlib.sha256(b"".join(self.files.values())).hexdigest()

    @property
    def class_sizes(self) -> npt.NDArray[np.int64]:
        """Rows per equivalence class as an attacker sees them, shape (classes,)."""
        return self.release.view.group_size

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the figures lean on and should not; an attacker does not know it."""
        strangers, rows = self.problem.strangers, self.problem.rows
        if not strangers:
            return ()
        return (
            f"{strangers:,} of {rows:,} rows have no person of their own in the population table, "
            "so the table was not drawn from it, and the figures of attacks that use it are not to "
            "be relied on. Give the whole population table, with values written as in the table.",
        )

    def as_json(self, input_sha256: str = "") -> dict[str, Any]:
        """Return the figures as plain values (`run --json`)."""
        sizes = self.class_sizes
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "input_sha256": input_sha256 or self.problem.dataset.fingerprint,
            "output_sha256": self.sha256,
            "status": "released",
            "verified": self.verification.holds,
            "rows": self.problem.rows,
            "dropped": self.problem.dataset.dropped,
            "not_drawn": self.problem.dataset.undrawn,
            "suppressed": self.release.suppressed,
            "classes": len(sizes),
            "smallest_class": int(sizes.min()) if len(sizes) else 0,
            "node": dict(self.account.node) if self.account.node is not None else None,
            "partition": dict(self.account.partition) if self.account.partition else None,
            "search": {
                "proven": self.account.proven,
                "cost": self.account.cost,
                "minimal_nodes": [list(n) for n in self.account.minimal],
                "nodes": self.account.nodes,
                "checked": self.account.checked,
                "inferred": self.account.inferred,
                "bounded": self.account.bounded,
                "bound": self.account.bound,
                "steps": [dict(step) for step in self.account.steps],
            },
            "metrics": {name: m.value for name, m in self.measures.items()},
            "metric_forms": {name: dict(m.also) for name, m in self.measures.items() if m.also},
            "models": [
                {
                    "name": v.model,
                    **dict(v.parameters),
                    "column": v.column or None,
                    "bound": v.bound,
                    "value": v.reached,
                    "holds": v.holds,
                }
                for v in self.verdicts
            ],
            "attacks": [
                {
                    "name": a.attack,
                    "column": a.column or None,
                    "attempted": a.attempted,
                    "eligible": a.eligible,
                    "succeeded": a.succeeded,
                    "rate": a.rate,
                    "worst": a.worst,
                    "baseline": a.baseline,
                    "raw": a.raw,
                    "at_risk": a.at_risk,
                    "threshold": a.threshold,
                    "estimated": a.estimated,
                    "upper_bound": a.upper_bound,
                }
                for a in self.attacks
            ],
            "cautions": list(self.cautions),
            "facts": dict(self.verification.facts),
            "seconds": dict(self.seconds),
        }


def run(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    *,
    population: Dataset | None = None,
    context: Context | None = None,
    verifier: Verifier | None = None,
    assess: bool = True,
) -> Result:
    """Carry out a plan on a table.

    Parameters
    ----------
    plan : Plan
    dataset : Dataset
        The table as it was read.
    hierarchies : mapping of str to level table, optional
        By column (see `load_hierarchies`); columns without one are published exactly or not at all.
    population : Dataset, optional
        A table of the population, for journalist risk; else the plan's stated size is used.
    context : Context, optional
        Progress, cancellation and deadline. Its generator is replaced by one with the plan's seed.
    verifier : callable, optional
        Verifies the published tables in another way, for example as written to a disk; given their
        CSV files by name and their Arrow tables by title. By default the CSV files are verified
        from memory against the table as it was read.
    assess : bool
        Whether metrics and attacks are measured. Promises are verified either way.

    Returns
    -------
    Result
        Verified: the promises were recomputed from the published text.

    Raises
    ------
    InputChanged
        If the table lacks a column of the plan, or a hierarchy a value of the table.
    Infeasible
        If no release keeps the promises; carries the best value reached.
    Cancelled
        If the person stopped it; nothing is returned.
    NotVerified
        If the recomputation does not confirm a promise. Please report it: it is an error of ours.
    BadPlan, BadInput, BadHierarchy
        If plan and table do not fit each other otherwise.
    """
    context = replace(context or Context(), generator=np.random.default_rng(plan.seed))
    clock = _Clock(context)
    problem = clock.time(
        "encode", 0.0, "Reading", lambda: prepare(plan, dataset, hierarchies, population)
    )
    refuse_unsteered(plan.algorithm, plan.models)
    for model in plan.models:
        model.check(problem)
    outcome = clock.time(
        "search",
        0.05,
        "Searching",
        lambda: plan.algorithm.run(problem, plan.models, part_of(context, 0.05, 0.6)),
    )
    release = outcome.release
    view = release.view

    def measured() -> tuple[tuple[Verdict, ...], dict[str, Measure]]:
        verdicts = [v for model in plan.models for v in model.measure(problem, view, context)]
        metrics = {
            name: in_units_of(cast(type[Metric], m), plan.models)
            for name, m in family("metric").items()
        }
        return tuple(verdicts), {
            n: m.measure(problem, release, context)
            for n, m in metrics.items()
            if assess and not m.applies(problem)
        }

    verdicts, measures = clock.time("measure", 0.62, "Measuring", measured)
    attacks = clock.time(
        "attack",
        0.68,
        "Attacking",
        lambda: tuple(
            found
            for attack in (plan.all_attacks() if assess else ())
            if not attack.applies(problem, view)
            for found in attack.run(problem, view, part_of(context, 0.68, 0.75))
        ),
    )

    def publish() -> tuple[Edition, dict[str, bytes]]:
        neutralise = plan.formulas == "neutralise"
        made = public_edition(release, context.generator, neutralise=neutralise)
        return made, {f"{name}.csv": as_csv(table) for name, table in made.tables.items()}

    edition, files = clock.time("publish", 0.75, "Writing", publish)

    def verified() -> Verification:
        recipe, levels = plan.as_mapping(), dict(hierarchies or {})
        if verifier is not None:
            found = verifier(files, edition.tables)
        else:
            asks = any(model.needs_public for model in plan.models)
            public = population.frame() if population is not None and asks else None
            found = verify(recipe, dataset.frame(coded=True), levels, files, public)
        if not release.replaced:
            return found
        # Groups of averages are not in the files: here it is known which row is in which.
        content = next(iter(files.values()))
        groups = check_groups(recipe, dataset.frame(coded=True), levels, content, edition.place)
        return replace(found, checks=(*found.checks, *groups))

    verification = clock.time("verify", 0.8, "Recomputing the promises", verified)
    broken = [v.model for v in verdicts if not v.holds]
    if broken or not verification.holds:
        failed = [check.sentence for check in verification.broken]
        raise NotVerified(
            "The release was found, but recomputing it did not confirm it: "
            + " ".join(failed or [f"{listing(broken)} does not hold."]),
            remedy="Nothing was released. This is an error of the workbench; please report it with "
            "the recipe.",
        )
    context.report(1.0, "Done")
    return Result(
        plan=plan,
        problem=problem,
        release=release,
        account=outcome.account,
        verdicts=verdicts,
        measures=measures,
        attacks=attacks,
        tables=edition.tables,
        files=files,
        member=edition.member,
        row_group=edition.row_group,
        verification=verification,
        seconds=clock.seconds,
    )


def prepare(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    population: Dataset | None = None,
) -> Problem:
    """Fit a plan to a table: kinds, missing values, hierarchies, encoding. See `run` for errors."""
    named = (
        *plan.roles.identifier,
        *plan.roles.quasi,
        *plan.roles.sensitive,
        *plan.types,
        *(hierarchies or {}),
    )
    gone = [n for n in dict.fromkeys(named) if n not in dataset.names]
    if gone:
        raise InputChanged(
            f"The table has no column {listing(gone)}, which the recipe names; it has "
            f"{listing(dataset.names)}.",
            remedy=f"Restore the column or change the recipe.{nearest(gone[0], dataset.names)}",
        )
    ungiven = [n for n in plan.hierarchies if n not in (hierarchies or {})]
    if ungiven:
        raise BadPlan(
            f"The plan names hierarchies for {listing(ungiven)}, but their level tables were not "
            "given.",
            remedy="Pass them, for example with load_hierarchies(plan, folder).",
        )
    plan.roles.check(dataset)
    if plan.formulas == "neutralise":
        _refuse_formula_names(plan, dataset)
    table = dataset.with_kinds(plan.types)
    if plan.data.missing == "drop":
        table = table.without_missing((*plan.roles.quasi, *plan.roles.sensitive))
        if table.rows == 0:
            raise BadPlan(
                f"Every one of the {dataset.rows} rows misses a value in a quasi-identifier or "
                "sensitive column, so dropping them leaves nothing.",
                remedy="Set missing = 'keep', or give the empty column another role.",
            )
    whole = table
    table = sampled(table, plan.roles.published(table), plan.data.sample, plan.seed)
    built = {
        name: from_rows(table.column(name), rows)
        for name, rows in (hierarchies or {}).items()
        if name in plan.roles.quasi
    }
    people = population if population is not None else plan.population_size
    if people is None and table is not whole and not _asks_for_public(plan):
        people = whole  # nobody outside knows who was drawn
    return build_problem(table, plan.roles, built, population=people)


def _asks_for_public(plan: Plan) -> bool:
    """Say whether a plan needs a table of its own for the public, and must be told if it lacks."""
    return plan.algorithm.needs_public or any(model.needs_public for model in plan.models)


def _refuse_formula_names(plan: Plan, dataset: Dataset) -> None:
    """Refuse names that a spreadsheet would execute: a name can't be changed as a cell can."""
    for place, name in enumerate(dataset.names, start=1):
        if name not in plan.roles.identifier and is_formula(name):
            raise BadPlan(
                f"The name of column {place} starts like a formula, which a spreadsheet would "
                "execute when it opens the release.",
                remedy="Rename the column, or set formulas = 'keep' under [export].",
            )


class _Clock:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.seconds: dict[str, float] = {}

    def time(self, stage: str, share: float, words: str, work: Callable[[], _T]) -> _T:
        self.context.report(share, words)
        began = time.perf_counter()
        found = work()
        self.seconds[stage] = time.perf_counter() - began
        return found
