"""What a run returns: the verified release, and everything that was measured on it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, NotVerified
from anon_core.base.private_file import FilesOnDisk
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import headline
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.table import MISSING, Meaning
from anon_core.data.values.kinds import ColumnKind
from anon_core.pipeline.level_search import LevelSearch
from anon_core.pipeline.measure.cautions import cautions
from anon_core.pipeline.publish.file_formats import READ, in_parts, other_formats, written
from anon_core.recipe.dialect import spreadsheet_files
from anon_core.recipe.plan import Plan
from anon_core.recipe.reuse import Reached, refuse_undecidable
from anon_core.recipe.statistics_files import typed_files
from anon_core.release.attack_result import AttackResult
from anon_core.release.knowledge.audience import Audience, audience_of
from anon_core.release.knowledge.person_counts import (
    Crowd,
    alone_over_all,
    crowd_of,
    suppressed_weight,
)
from anon_core.release.outcome import Measure, SearchAccount, Verdict
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.verification.checks import Verification
from anon_core.verification.rows.membership import Witness

if TYPE_CHECKING:
    import pyarrow as pa

    from anon_core.methods.partition.exhaustive_partition import Optimum

#: Bytes of a result's files from which they are better kept on the disk.
_LARGE = 1 << 23
#: Why an attack that applies was not run.
ASKED_FOR = "It is run when asked for."


@dataclass(frozen=True, kw_only=True, eq=False)
class Result:
    """A verified release with everything that was measured on it.

    Attributes
    ----------
    problem : Problem
        The table as it was searched (after dropping rows with missing values and drawing a sample,
        where asked).
    measures : mapping of str to Measure
        By metric name.
    tables : mapping of str to pyarrow.Table
        The public edition, in canonical order.
    files : mapping of str to bytes
        The public edition as it is written: CSV files by file name.
    member : int64 array of shape (published rows,)
        Group of each row of the first table, as `View` numbers groups.
    row_group : int64 array of shape (rows,)
        Group of each row of the private table, -1 where it is suppressed.
    seconds : mapping of str to float
        Wall time per stage; stages overlap.
    took : float
        Seconds from the first stage's begin to the last one's end.
    optimum : Optimum or None
        Of a table of a few rows, what the best of all partitions costs.
    level_search : LevelSearch or None
        What was tried where the level of a sensitive column was searched.
    written_sha256 : str
        SHA-256 of the CSV file, where the files lie on a disk and are not held here.
    needing_rows : mapping of str to str
        Metrics and attacks that counts do not tell, by name, each with the reason.
    meanings : mapping of str to Meaning
        What the file of the table says of its columns.
    kinds : mapping of str to str
        What kind each column of the release is, as it was declared or found out.
    levels : mapping of str to level table
        Hierarchies as they were given, by column.
    witness : Witness or None
        Which row is where, if the files do not tell it; not for publication.
    class_weights : dict of str to bytes
        The verified file of each class's mean survey weight, by name; empty unless the plan asks.
    pending : bool
        Whether these are the first figures of a run: nothing of them is recomputed yet, what takes
        longer is not measured, and no file can be made of them.
    """

    plan: Plan
    problem: Problem
    release: Release
    account: SearchAccount
    verdicts: tuple[Verdict, ...]
    measures: Mapping[str, Measure]
    attacks: tuple[AttackResult, ...]
    tables: Mapping[str, pa.Table]
    files: Mapping[str, bytes]
    member: npt.NDArray[np.int64]
    row_group: npt.NDArray[np.int64]
    verification: Verification
    seconds: Mapping[str, float]
    took: float
    optimum: Optimum | None = None
    level_search: LevelSearch | None = None
    written_sha256: str = ""
    needing_rows: Mapping[str, str] = field(default_factory=dict[str, str])
    meanings: Mapping[str, Meaning] = field(default_factory=dict[str, Meaning])
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict[str, ColumnKind])
    levels: Mapping[str, LevelTable] = field(default_factory=dict[str, LevelTable])
    witness: Witness | None = None
    class_weights: dict[str, bytes] = field(default_factory=dict[str, bytes])
    pending: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether its quasi-identifiers say nothing: all are at the top of hierarchies, or gone."""
        loss, made = self.measures.get(headline("cells")), self.plan.algorithm
        return (
            loss is not None
            and loss.share >= 1
            and (made.shape.coarsens or not made.shape.permutes)
        )

    def level_rows(self, column: str) -> list[list[str]]:
        """Return a column's hierarchy as it was given, or as it was made where none was.

        A sensitive column is published exactly or at one level, so that the release itself needs
        no more of its levels than that; privacy models, attacks and a run of the recipe do.
        """
        given = self.levels.get(column)
        if given is not None:
            return [list(row) for row in given]
        return [list(row) for row in self.problem.hierarchies[column].rows() if row[0] != MISSING]

    @property
    def recipe(self) -> Plan:
        """The plan as a recipe of this release states it: with the kinds that were decided."""
        return self.plan.of_kinds(self.kinds)

    def decided(self, released: str = "", sha256: str = "") -> Plan:
        """Return the plan that does to another table what was decided on this one.

        Parameters
        ----------
        released : str
            Where the published table lies, for techniques that decide parts; relative to the
            recipe.
        sha256 : str
            Of that file, so that no other one is taken for it.

        Raises
        ------
        BadPlan
            If what was decided is neither a level for each column nor parts that cover values.
        """
        refuse_undecidable(self.plan.algorithm, self.plan.parts)
        if not self.plan.algorithm.shape.one_level:
            return self.recipe.decided_parts(released, sha256)
        if self.account.node is None:
            raise BadPlan("The levels of this release are not known.", remedy="Run it again.")
        share = getattr(self.plan.algorithm, "max_suppression", 0.0)
        return self.recipe.decided(self.account.node, float(share))

    @property
    def published(self) -> pa.Table:
        """The first published table; the only one unless links are cut between two."""
        return next(iter(self.tables.values()))

    @property
    def csv(self) -> bytes:
        """The first published table as CSV."""
        return next(iter(self.files.values()))

    def file(self, name: str) -> bytes:
        """Return one published file by its name; files that no one asked for are not made."""
        return self.files[name] if name in self.files else self.all_files[name]

    def on_disk(self) -> Result:
        """Return this result with its files on the disk, where they are large; a page keeps that.

        The files of a million rows take three quarters of the memory of all that is known of them.
        """
        if sum(map(len, self.files.values())) < _LARGE:
            return self
        try:
            return replace(self, files=FilesOnDisk(self.files))
        except OSError:  # there is no room
            return self

    @cached_property
    def all_files(self) -> Mapping[str, bytes]:
        """The public edition in every format that the plan asks for, by file name: CSV first.

        Raises
        ------
        NotVerified
            If the privacy models are not recomputed yet.
        """
        self._refuse_pending()
        made = {
            **(self.csv_files if self.plan.csv else {}),
            **written(in_parts(self.tables, self.plan.parts), other_formats()),
            **spreadsheet_files(self.plan.dialect, self.tables),
            **self.class_weights,
            **typed_files(self.plan.formats, self.tables, self.meanings),
        }
        return FilesOnDisk(made) if isinstance(self.files, FilesOnDisk) else made

    @cached_property
    def csv_files(self) -> Mapping[str, bytes]:
        """The public edition as CSV files by file name, in parts where the plan asks for these.

        Raises
        ------
        NotVerified
            If the privacy models are not recomputed yet.
        """
        self._refuse_pending()
        if self.plan.parts == 1 or not self.plan.csv:
            return self.files
        return written(in_parts(self.tables, self.plan.parts), [READ])

    def _refuse_pending(self) -> None:
        if self.pending:
            raise NotVerified(
                "The second computation has not ended yet, so this is not a release yet.",
                remedy="Wait for the result of the run.",
            )

    @property
    def parquet_files(self) -> dict[str, bytes]:
        """The public edition as Parquet files by file name."""
        every = self.all_files
        return {name: every[name] for name in every if name.endswith(".parquet")}

    @property
    def parquet(self) -> bytes:
        """The first published table as Parquet."""
        return next(iter(self.parquet_files.values()))

    @cached_property
    def sha256(self) -> str:
        """SHA-256 over the CSV files, one after the other; over Parquet where there are none."""
        if self.written_sha256:
            return self.written_sha256
        files = self.csv_files if self.plan.csv else self.parquet_files
        return hashlib.sha256(b"".join(files.values())).hexdigest()

    @property
    def class_sizes(self) -> npt.NDArray[np.int64]:
        """Rows per equivalence class as an attacker sees them, shape (classes,)."""
        return self.release.view.group_size

    @cached_property
    def crowd(self) -> Crowd | None:
        """The distinct persons behind the classes; None where a row is a person."""
        return crowd_of(self.problem, self.release)

    @property
    def hiding(self) -> npt.NDArray[np.int64]:
        """What hides a person in each class: its persons, or its rows where a row is a person."""
        return self.class_sizes if self.crowd is None else self.crowd.sizes

    @property
    def counted(self) -> str:
        """What models and attacks count: ``people`` if a column identifies them, else ``rows``."""
        return "rows" if self.crowd is None else "people"

    @cached_property
    def audience(self) -> Audience:
        """What an adversary may know next to the release."""
        return audience_of(self.problem)

    @property
    def not_run(self) -> dict[str, str]:
        """Which attacks were not run, and why, by name."""
        ran = {a.attack for a in self.attacks}
        view = self.release.view
        planned = {attack.name: attack for attack in self.plan.all_attacks()}
        known = cast(dict[str, type[Attack]], family("attack"))

        def waiting(name: str) -> str:
            return "It is under way." if self.pending and name in planned else ""

        return {
            name: self.needing_rows.get(name)
            or not_applicable(planned.get(name) or attack(), view, self.audience)
            or waiting(name)
            or ("Attacks were not asked for." if name in planned else ASKED_FOR)
            for name, attack in known.items()
            if name not in ran
        }

    @property
    def on_request(self) -> tuple[str, ...]:
        """Names of the attacks that apply to what is published, and are run when asked for."""
        return tuple(name for name, why in self.not_run.items() if why == ASKED_FOR)

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns published as they are, in the table's order."""
        changed = {name for one in self.plan.changes for name in one.columns}
        exact = self.plan.roles.exact(self.problem.dataset)
        return tuple(name for name in exact if name not in changed)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that no role names, in the table's order: they are not published."""
        return self.plan.roles.left_out(self.problem.dataset)

    @cached_property
    def suppressed_weight(self) -> float | None:
        """Share of all rows' weight that suppressed rows have; None where rows have no weight."""
        return suppressed_weight(self.problem, self.release)

    @cached_property
    def unique_of(self) -> tuple[int, int | None]:
        """Those published, and those alone with what one of their rows says in all columns.

        Rows, or persons where a column distinguishes them; None as `unique_over_all_columns`.
        """
        if self.crowd is None or self.pending:
            return self.release.view.rows, self.unique_over_all_columns
        return self.crowd.published, alone_over_all(self.problem, self.row_group)

    @property
    def unique_over_all_columns(self) -> int | None:
        """Published rows that no other equals.

        None where cells of a row are not one person's, and while nothing is recomputed.
        """
        if self.release.grouping.published or self.pending:
            return None
        return int(self.verification.facts["unique_over_all_columns"])

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What the figures lean on and should not; an attacker does not know it."""
        return cautions(self.plan, self.problem, self.release)

    @property
    def reached(self) -> Reached:
        """What the gates of a recipe look at."""
        dataset = self.problem.dataset
        whole = dataset.rows + dataset.dropped + dataset.undrawn + dataset.unseen
        published = (dataset.rows - self.release.suppressed) / whole if whole else None
        return Reached(published=published, measures=self.measures, attacks=self.attacks)
