"""Carry out a plan, stage by stage: what is returned at the end was verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.base.concurrency import run_alongside
from anon_core.base.context import Context, part_of, silent
from anon_core.base.errors import BadPlan, Infeasible, NeedsRows, NotFound, NotVerified, listing
from anon_core.contracts.algorithm import counted_in_people, refuse_unsteered
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric, not_measured
from anon_core.contracts.model import GroupModel
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.methods.lattice.nodes import rows_removable
from anon_core.methods.partition.exhaustive_partition import Optimum, optimum
from anon_core.pipeline.changes import refuse_no_key
from anon_core.pipeline.level_search import at_least_levels
from anon_core.pipeline.post_check_search import search
from anon_core.pipeline.prepare import decided_kinds, keeping, prepare
from anon_core.pipeline.publish.file_formats import READ, written
from anon_core.pipeline.publish.published_table import Edition, public_edition, witness_of
from anon_core.pipeline.publish.table_files import class_means
from anon_core.pipeline.random_streams import Chances, chances
from anon_core.pipeline.result import Result
from anon_core.recipe.earlier_release import with_earlier, with_meanings
from anon_core.recipe.plan import Plan
from anon_core.recipe.reuse import refuse_unaccepted
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import Audience, audience_of
from anon_core.release.outcome import Measure, Outcome, Verdict
from anon_core.release.private_reference import Reference, reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.release.vocabulary import LONGEST_SET
from anon_core.verification.checks import Verification, verify
from anon_core.verification.findings import PENDING, Check
from anon_core.verification.registry import GATES
from anon_core.verification.rows.membership import Witness
from anon_core.verification.text.cells import Cells, TextTable, narrow

if TYPE_CHECKING:
    import pyarrow as pa

#: Fits a plan to a table, as `prepare` does.
Fit = Callable[
    [Plan, Dataset, Mapping[str, LevelTable] | None, Dataset | None],
    Problem,
]
#: Writes a release as files, drawn by a generator and neutralised or not; returns their SHA-256,
#: and which row is where, if the files do not tell it.
Writing = Callable[[Release, np.random.Generator, bool], tuple[str, Witness | None]]
#: Writes the published tables, where they are given, and recomputes the privacy models from the
#: files; is handed the completed recipe, and which row is where, if the files do not tell it.
#: Further published files, by name, come last.
Verifier = Callable[
    [Mapping[str, "pa.Table"], Mapping[str, Any], Witness | None, Mapping[str, bytes]], Verification
]
#: Is handed the first figures of a run, and may wait until they are drawn.
First = Callable[[Result], None]
#: Rows from which a thread saves more than it costs to start.
_WORTH_THREADS = 1 << 12


def run(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    *,
    population: Dataset | None = None,
    earlier: Dataset | None = None,
    context: Context | None = None,
    verifier: Verifier | None = None,
    assess: bool = True,
    fit: Fit = prepare,
    writing: Writing | None = None,
    first: First | None = None,
    known: Result | None = None,
) -> Result:
    """Carry out a plan on a table.

    Parameters
    ----------
    plan : Plan
        Where it searches the level of a sensitive column, that of the result names the one found.
    dataset : Dataset
        The table as it was read.
    hierarchies : mapping of str to level table, optional
        By column (see `load_hierarchies`); columns without one are published exactly or not at all.
    population : Dataset, optional
        A table of the population, for journalist risk; else the plan's stated size is used.
    earlier : Dataset, optional
        The published table of an earlier release, which the plan names.
    context : Context, optional
        Progress, cancellation and deadline. Its generator is replaced by what the seed gives.
    verifier : callable, optional
        Verifies the published tables in another way, for example as written to a disk; given their
        Arrow tables by title, and the completed recipe. `Result` holds no files then. By default
        the CSV files are verified from memory against the table as it was read.
    assess : bool
        Whether metrics and attacks are measured. Privacy models are verified either way.
    fit : callable
        Fits the plan to the table; for many plans on one table an `EncodedOnce`.
    writing : callable, optional
        Writes the release in another way than from memory, for `verifier` to verify; `Result`
        holds no published table then.
    first : callable, optional
        Handed the first figures as soon as there are some: what was found with what is measured
        `at_once`, to be looked at while the rest is measured and the privacy models are recomputed,
        which begins when it returns. They are `pending`: no release yet, and they may come to
        none. A plan with gates has no first figures, nor one whose levels are searched.
    known : Result, optional
        What `foresee` found for this very plan on this table, fitted by the same `fit`: it is not
        searched again.

    Returns
    -------
    Result
        Verified: the privacy models were recomputed from the published text.

    Raises
    ------
    InputChanged
        If the table lacks a column of the plan, or a hierarchy a value of the table.
    Infeasible
        If no release keeps the privacy models; carries the best value reached.
    NotFound
        If the technique found none, and it is open whether there is one.
    Cancelled
        If the person stopped it; nothing is returned.
    NotAccepted
        If it misses a gate of the plan.
    NotVerified
        If the recomputation does not confirm a privacy model. Please report it: it is an error of
        ours.
    BadPlan, BadInput, BadHierarchy
        If plan and table do not fit each other otherwise.
    """
    refuse_no_key(plan)
    if plan.searched_levels:

        def attempt(one: Plan, within: Context) -> Result:
            return run(
                one,
                dataset,
                hierarchies,
                population=population,
                earlier=earlier,
                context=within,
                verifier=verifier,
                assess=assess,
                fit=fit,
            )

        found, levels = at_least_levels(plan, hierarchies or {}, attempt, context or Context())
        return replace(found, level_search=levels)
    job = _Job.of(plan, dataset, hierarchies, population, earlier, fit)
    job.verifier, job.writing = verifier, writing
    job.assess = assess or bool(plan.accept)  # gates are never left out
    job.known = known if known is not None and known.plan == plan else None
    context = context or Context()
    began_all, elsewhere = time.perf_counter(), 0.0
    seconds: dict[str, float] = {}

    def carry_out(stages: Sequence[_Stage], within: Context) -> None:
        _carry_out(job, stages, within, seconds)

    if job.writing is not None:  # what an engine holds leaves no memory for two things at a time
        carry_out(_IN_TURN, context)
    elif first is None or plan.accept:
        carry_out(_FIND, context)
        worth = dataset.rows >= _WORTH_THREADS
        with run_alongside(lambda own: carry_out(_ASSESS, own), context, threads=worth):
            carry_out(_RECOMPUTE, replace(context, progress=silent))
    else:
        carry_out(_FIND_AND_SHOW, context)
        if all(verdict.holds for verdict in job.verdicts):
            began = time.perf_counter()
            first(_result(job, seconds, began - began_all))
            elsewhere = time.perf_counter() - began
        with run_alongside(lambda own: carry_out(_ASSESS_THE_REST, own), context):
            carry_out(_RECOMPUTE[1:], replace(context, progress=silent))
    gates = tuple(check for check in job.verification.broken if check.name == GATES)
    _refuse_broken(job, but=gates, late=context.out_of_time())
    context.report(1.0, "Done")
    result = _result(job, seconds, time.perf_counter() - began_all - elsewhere)
    refuse_unaccepted(plan.accept, result.reached)
    if gates:  # both computations of a gate have to agree
        _refuse_broken(job)
    return result


def foresee(
    plan: Plan,
    dataset: Dataset,
    hierarchies: Mapping[str, LevelTable] | None = None,
    *,
    population: Dataset | None = None,
    earlier: Dataset | None = None,
    context: Context | None = None,
    fit: Fit = prepare,
) -> Result:
    """Search only: return what a plan would come to, with its loss and the chance to be found.

    Nothing of it is published or recomputed, and no other figure is measured: it is `pending`.
    For parameters and errors see `run`.

    Raises
    ------
    BadPlan
        If the plan has levels searched, which takes a run for each.
    """
    if plan.searched_levels:
        raise BadPlan(
            "What a plan comes to is not foreseen where the level of a sensitive column is "
            "searched.",
            remedy="Choose the level, or carry out the plan.",
        )
    job = _Job.of(plan, dataset, hierarchies, population, earlier, fit)
    context, seconds = context or Context(), dict[str, float]()
    began = time.perf_counter()
    _carry_out(job, (*_FIND, _FORESEE), context, seconds)
    return _result(job, seconds, time.perf_counter() - began)


def _carry_out(
    job: _Job, stages: Sequence[_Stage], within: Context, seconds: dict[str, float]
) -> None:
    for stage in stages:
        within.report(stage.begins, stage.words)
        began = time.perf_counter()
        stage.work(job, part_of(within, stage.begins, stage.ends))
        took = time.perf_counter() - began
        seconds[stage.name] = seconds.get(stage.name, 0.0) + took


def _result(job: _Job, seconds: Mapping[str, float], took: float) -> Result:
    """Return what was found so far; pending until the privacy models are recomputed."""
    pending = job.verification is PENDING
    return Result(
        plan=job.plan,
        problem=job.problem,
        release=job.outcome.release,
        account=job.outcome.account,
        verdicts=job.verdicts,
        measures={m.name: job.measures[m.name] for m in job.metrics if m.name in job.measures},
        attacks=tuple(found for one in job.attackers for found in job.attacks.get(one.name, ())),
        tables=job.edition.tables,
        files={} if pending else job.files,
        member=job.edition.member,
        row_group=job.edition.row_group,
        verification=job.verification,
        seconds=dict(seconds),
        took=took,
        optimum=job.optimum,
        written_sha256=job.digest,
        needing_rows=dict(job.needing_rows),
        kinds=job.kinds,
        meanings=job.dataset.meanings,
        levels=dict(job.given_levels),
        witness=job.witness,
        class_weights=job.class_weights,
        pending=pending,
    )


@dataclass(kw_only=True)
class _Job:
    """What `run` was given, and what its stages found so far: each sets what is named there."""

    plan: Plan
    dataset: Dataset
    hierarchies: dict[str, LevelTable]
    given_levels: Mapping[str, LevelTable]
    population: Dataset | None
    earlier: Dataset | None
    fit: Fit
    verifier: Verifier | None = None
    assess: bool = True
    writing: Writing | None = None
    known: Result | None = None
    digest: str = ""
    needing_rows: dict[str, str] = field(default_factory=dict[str, str])
    models: tuple[GroupModel, ...] = field(init=False)  # read: the plan's, in rows or people
    kinds: Mapping[str, ColumnKind] = field(init=False)  # read
    problem: Problem = field(init=False)  # read
    audience: Audience = field(init=False)  # read
    reference: Reference = field(init=False)  # read
    chance: Chances = field(init=False)  # read
    outcome: Outcome = field(init=False)  # search
    verdicts: tuple[Verdict, ...] = field(init=False)  # measure
    measures: dict[str, Measure] = field(default_factory=dict[str, Measure])  # measure
    optimum: Optimum | None = None  # measure
    attacks: dict[str, Sequence[AttackResult]] = field(
        default_factory=dict[str, "Sequence[AttackResult]"]
    )  # attack, by name
    edition: Edition = field(init=False)  # publish
    files: dict[str, bytes] = field(init=False)  # publish
    class_weights: dict[str, bytes] = field(default_factory=dict[str, bytes])  # publish
    witness: Witness | None = field(init=False)  # publish
    verification: Verification = PENDING  # verify

    @classmethod
    def of(
        cls,
        plan: Plan,
        dataset: Dataset,
        hierarchies: Mapping[str, LevelTable] | None,
        population: Dataset | None,
        earlier: Dataset | None,
        fit: Fit,
    ) -> _Job:
        """Return a job on tables as far as the plan keeps them."""
        kept = keeping(plan, hierarchies)
        return cls(
            plan=plan,
            dataset=kept.table(dataset),
            hierarchies=dict(hierarchies or {}),
            given_levels=dict(hierarchies or {}),
            population=population and kept.table(population),
            earlier=earlier and kept.table(earlier),
            fit=fit,
        )

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """What is measured of the release."""
        return self.plan.all_metrics() if self.assess else ()

    @cached_property
    def attackers(self) -> tuple[Attack, ...]:
        """What attacks the release."""
        return self.plan.all_attacks() if self.assess else ()


def _read(job: _Job, context: Context) -> None:
    """Fit the plan to the table, and refuse what no search could keep."""
    plan = job.plan
    job.models = counted_in_people(plan.algorithm, plan.models, plan.roles.unit)
    if plan.labels.renamed:
        typed = job.dataset.with_kinds(plan.types)
        job.hierarchies = dict(plan.labels.applied(typed, job.hierarchies))
    plan.level_bounds.refuse_unkept(plan.algorithm)
    job.problem = job.fit(plan, job.dataset, job.hierarchies, job.population)
    job.problem = replace(job.problem, level_bounds=plan.level_bounds.of(job.problem))
    job.kinds = decided_kinds(plan, job.dataset)
    job.problem = with_meanings(plan.sensitive_levels, job.problem, job.hierarchies)
    if job.assess or job.earlier is not None:
        job.problem = with_earlier(plan.earlier, job.problem, job.earlier)
    job.audience, job.reference = audience_of(job.problem), reference_of(job.problem)
    job.chance = chances(plan, job.problem)
    refuse_unsteered(plan.algorithm, plan.models)
    removable = rows_removable(job.problem, plan.algorithm)
    for model in job.models:
        model.check(job.problem, removable)


def _search(job: _Job, context: Context) -> None:
    """Find a release, unless it is known."""
    if job.known is not None and job.known.problem.frequency is job.problem.frequency:
        job.outcome = Outcome(release=job.known.release, account=job.known.account)
        _found(job, context)
        return
    searching = replace(context, generator=job.chance.search, secret=job.chance.secret)
    known = job.audience
    job.outcome = search(
        job.plan.algorithm,
        job.problem,
        job.models,
        lambda model, found: model.measure(
            found.release.view, known, job.reference.behind(found.release), searching
        ),
        lambda model, found: model.recomputable(
            found.release.view, known, job.reference.behind(found.release), searching
        ),
        searching,
    )
    if job.problem.floors:  # what is best, or minimal, may lie below the levels that were counted
        account = replace(
            job.outcome.account, proven=False, bound=None, minimal=(), locally_minimal=()
        )
        job.outcome = replace(job.outcome, account=account)
    _found(job, context)


def _found(job: _Job, context: Context) -> None:
    job.problem = job.outcome.release.problem  # what was cut elsewhere is known by its classes now
    job.audience, job.reference = audience_of(job.problem), reference_of(job.problem)
    context.so_far.standing = None  # it is over: there is nothing left to take


def _measure(job: _Job, context: Context) -> None:
    """Measure the privacy models, and what the release lost."""
    _verdicts(job, part_of(context, 0.0, 0.2))
    _measures(job, job.metrics, part_of(context, 0.2, 1.0))


def _measure_at_once(job: _Job, context: Context) -> None:
    """Measure the privacy models, and what the release lost by metrics that take no time."""
    _verdicts(job, part_of(context, 0.0, 0.2))
    _measures(job, [m for m in job.metrics if m.use.at_once], part_of(context, 0.2, 1.0))


def _measure_the_rest(job: _Job, context: Context) -> None:
    """Measure what the release lost by the other metrics."""
    _measures(job, [m for m in job.metrics if not m.use.at_once], context)


def _verdicts(job: _Job, context: Context) -> None:
    """Measure the privacy models, and what the best partition of a few rows costs."""
    problem, release = job.problem, job.outcome.release
    behind = job.reference.behind(release)
    measuring = replace(context, generator=job.chance.measure)
    verdicts: list[Verdict] = []
    for number, model in enumerate(job.models):
        own = part_of(measuring, number / len(job.models), (number + 1) / len(job.models))
        verdicts += model.measure(release.view, job.audience, behind, own)
    job.verdicts = tuple(verdicts)
    with suppress(NeedsRows):
        if job.assess:
            removable = rows_removable(problem, job.plan.algorithm)
            job.optimum = optimum(problem, job.models, release, removable, measuring)


def _measures(job: _Job, metrics: Sequence[Metric], context: Context) -> None:
    """Measure what the release lost; what one metric measures depends on no other."""
    problem, release = job.problem, job.outcome.release
    measuring = replace(context, generator=job.chance.measure)
    for number, metric in enumerate(metrics):
        own = part_of(measuring, number / len(metrics), (number + 1) / len(metrics))
        try:
            if not_measured(metric, problem, release):
                continue
            _refuse_finer(problem, metric)
            job.measures[metric.name] = metric.measure(problem, release, own)
        except NeedsRows as error:
            job.needing_rows[metric.name] = error.message


def _attack(job: _Job, context: Context) -> None:
    """Attack the view as an attacker would."""
    _attacks(job, job.attackers, context)


def _attack_at_once(job: _Job, context: Context) -> None:
    """Carry out the attacks that take no time."""
    _attacks(job, [a for a in job.attackers if a.use.at_once], context)


def _attack_the_rest(job: _Job, context: Context) -> None:
    """Carry out the other attacks."""
    _attacks(job, [a for a in job.attackers if not a.use.at_once], context)


def _attacks(job: _Job, attackers: Sequence[Attack], context: Context) -> None:
    view, audience = job.outcome.release.view, job.audience
    truth = truth_of(job.problem, job.outcome.release)
    chosen: list[Attack] = []
    for attack in attackers:
        try:
            if not not_applicable(attack, view, audience):
                _refuse_finer(job.problem, attack)
                chosen.append(attack)
        except NeedsRows as error:
            job.needing_rows[attack.name] = error.message
    for number, attack in enumerate(chosen):
        own = part_of(context, number / len(chosen), (number + 1) / len(chosen))
        own = replace(own, generator=job.chance.attack(attack.name))
        try:
            job.attacks[attack.name] = attack.run(view, audience, truth, own)
        except NeedsRows as error:
            job.needing_rows[attack.name] = error.message


def _refuse_finer(problem: Problem, technique: Metric | Attack) -> None:
    """Refuse what needs more detail than the table was counted in.

    Raises
    ------
    NeedsRows
    """
    if problem.is_coarse and not technique.needs.from_groups:
        raise NeedsRows(
            "It looks at values in more detail than the table was counted in.",
            remedy="Run it with more memory, or with engine = 'memory', if the table fits.",
        )


def _foresee(job: _Job, context: Context) -> None:
    """Measure what was lost and how surely someone is found, and publish nothing."""
    _verdicts(job, part_of(context, 0.0, 0.3))
    _measures(job, [m for m in job.metrics if m.scale.headline], part_of(context, 0.3, 0.6))
    finding = [
        a for a in job.attackers if a.use.at_once and a.aim.discloses in ("identity", "presence")
    ]
    _attacks(job, finding, part_of(context, 0.6, 1.0))
    nothing = np.empty(0, dtype=np.int64)
    job.edition = Edition(tables={}, member=nothing, row_group=nothing, place=nothing)
    job.files, job.witness = {}, None


def _publish(job: _Job, context: Context) -> None:
    """Make the public edition."""
    neutralise = job.plan.formulas == "neutralise"
    if job.writing is not None:
        nothing = np.empty(0, dtype=np.int64)
        job.digest, job.witness = job.writing(job.outcome.release, job.chance.publish, neutralise)
        job.edition = Edition(tables={}, member=nothing, row_group=nothing, place=nothing)
        job.files = {}
        return
    job.edition = public_edition(job.outcome.release, job.chance.publish, neutralise=neutralise)
    job.witness = witness_of(job.outcome.release, job.edition)


def _write(job: _Job, context: Context) -> None:
    """Write the public edition as files."""
    job.files = {} if job.verifier is not None else written(job.edition.tables, [READ])
    if job.plan.class_weights:
        (table,) = job.edition.tables.values()
        job.class_weights = class_means(
            job.problem, table, job.edition.member, job.edition.row_group
        )


def _verify(job: _Job, context: Context) -> None:
    """Recompute the privacy models from what was written."""
    job.verification = _recomputed(job)


def _refuse_broken(job: _Job, but: Sequence[Check] = (), *, late: bool = False) -> None:
    """Refuse the release unless all models hold, as they were measured and as recomputed.

    `late` says that time is up: a model that was not measured to the end counts as broken.
    """
    broken = [v.model for v in job.verdicts if not v.holds]
    found = (*job.verification.broken, *job.verification.unchecked)
    doubtful = [check for check in found if check not in but]
    if not broken and not doubtful:
        return
    _refuse_overlaps(job)
    if late and not doubtful:
        raise NotFound(
            "A release was found, but time was up before the workbench had measured "
            f"{listing(broken)} on it.",
            remedy="Nothing was released. Allow more time.",
            timed_out=True,
        )
    if not broken and all(check.undecided for check in doubtful):
        raise NotFound(
            "The result meets the privacy models, but the independent check cannot confirm it: "
            "where classes overlap or rows were removed, more rows of the table fit a class than "
            "it has, so the published files do not show whose rows these are. "
            + " ".join(check.sentence for check in doubtful),
            remedy="Nothing was released. Choose a technique whose classes do not overlap, such as "
            "the optimal search or Mondrian with strict cuts at the median.",
        )
    failed = [check.sentence for check in doubtful]
    raise NotVerified(
        "Verification failed: a release was found, but the independent check disagrees: "
        + " ".join(failed or [f"{listing(broken)} does not hold."]),
        remedy="Nothing was released. This is an error of the workbench; please report it with "
        "the recipe.",
    )


def _recomputed(job: _Job) -> Verification:
    recipe = job.plan.of_kinds(job.kinds).completed()
    if job.verifier is not None:
        return job.verifier(job.edition.tables, recipe, job.witness, job.class_weights)
    asks = any(m.counts_public(job.problem.population) for m in job.plan.models)
    public = texts_of(job.population) if job.population is not None and asks else None
    files = {**job.files, **job.class_weights}
    given = recipe, texts_of(job.dataset), job.hierarchies, files, public
    return verify(*given, witness=job.witness, key=job.plan.key)


def texts_of(dataset: Dataset) -> TextTable:
    """Return the texts of a table as they were read, which is all that verification is given."""
    columns = [column.as_read for column in dataset.columns]
    cells = [Cells(codes=narrow(codes, len(texts)), texts=texts) for codes, texts in columns]
    return TextTable.of(dataset.names, cells, dataset.rows)


def _refuse_overlaps(job: _Job) -> None:
    """Refuse classes that came to overlap since sets too long to write became the whole column.

    More people fit a class then, which privacy models about the public alone do not survive.
    """
    vocabularies = job.outcome.release.vocabularies
    shortened = [name for name, vocabulary in vocabularies.items() if vocabulary.shortened]
    if shortened and any(model.scope.public for model in job.plan.models):
        raise Infeasible(
            f"Value sets of {listing(shortened)} would be longer than {LONGEST_SET:,} characters. "
            "Published as the whole column instead, they make classes overlap, so that "
            "δ-presence does not hold or cannot be recomputed.",
            remedy="Build a hierarchy of the column, or give it another role.",
        )


@dataclass(frozen=True)
class _Stage:
    """A stage of a run.

    Attributes
    ----------
    name : str
        Names its seconds.
    begins, ends : float
        Shares of the progress bar.
    words : str
        Shown next to the bar.
    work : callable
        Sets what it finds; its context's progress 0..1 is its part of the bar.
    """

    name: str
    begins: float
    ends: float
    words: str
    work: Callable[[_Job, Context], None]


_FIND = (
    _Stage("encode", 0.0, 0.05, "Reading", _read),
    _Stage("search", 0.05, 0.62, "Searching", _search),
)
#: The release is written and the privacy models are recomputed meanwhile, with nothing that this
#: sets.
_ASSESS = (
    _Stage("measure", 0.62, 0.72, "Measuring, and recomputing the privacy models", _measure),
    _Stage("attack", 0.72, 0.98, "Attacking, and recomputing the privacy models", _attack),
)
_RECOMPUTE = (
    _Stage("publish", 0.62, 0.64, "Writing", _publish),
    _Stage("publish", 0.64, 0.66, "Writing", _write),
    _Stage("verify", 0.66, 1.0, "Recomputing the privacy models", _verify),
)
#: What takes no time is measured first, and shown; what takes longer is measured meanwhile.
_FIND_AND_SHOW = (
    *_FIND,
    _Stage("measure", 0.62, 0.64, "Measuring", _measure_at_once),
    _Stage("attack", 0.64, 0.66, "Attacking", _attack_at_once),
    _Stage("publish", 0.66, 0.68, "Writing", _publish),
)
_ASSESS_THE_REST = (
    _Stage(
        "measure", 0.68, 0.74, "Measuring, and recomputing the privacy models", _measure_the_rest
    ),
    _Stage("attack", 0.74, 0.98, "Attacking, and recomputing the privacy models", _attack_the_rest),
)
_FORESEE = _Stage("measure", 0.62, 1.0, "Measuring", _foresee)
_IN_TURN = (
    *_FIND,
    _Stage("measure", 0.62, 0.68, "Measuring", _measure),
    _Stage("attack", 0.68, 0.75, "Attacking", _attack),
    _Stage("publish", 0.75, 0.8, "Writing", _publish),
    _Stage("verify", 0.8, 1.0, "Recomputing the privacy models", _verify),
)
