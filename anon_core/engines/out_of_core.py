"""A plan carried out on a table that an engine counts, joins and orders, for any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, listing
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.partitioner import Partitioner
from anon_core.data.counted_rows import Keys, counted_set
from anon_core.data.hierarchy import Hierarchy, flat
from anon_core.data.hierarchy.hierarchy_cache import prepared, refuse_untrue
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.engines.counted_table import CountedTable
from anon_core.engines.memory_needs import needs
from anon_core.engines.pieces import (
    ASSIGNED,
    Coarsened,
    EnginePieces,
    can_cut,
    pieces_of,
    roles_looked_at,
    that_fits,
)
from anon_core.engines.sql_release import (
    ClassOfRow,
    class_of_tuples,
    drawn_edition,
    published_parts,
    refuse_many_rows,
)
from anon_core.pipeline.input_tables import refuse_undecided
from anon_core.pipeline.prepare import keeping, named_besides, refuse_formula_names, refuse_lacking
from anon_core.pipeline.publish.file_formats import published_formats
from anon_core.pipeline.publish.table_files import digest_of, write_table
from anon_core.recipe.plan import Plan
from anon_core.release.knowledge.people import encode_population
from anon_core.release.problem import Problem, leaf_codes
from anon_core.release.release import Release
from anon_core.release.reserved_texts import refuse_look_alikes
from anon_core.verification.rows.membership import Witness

if TYPE_CHECKING:
    import pyarrow as pa


def refuse_at_scale(plan: Plan) -> None:
    """Refuse what needs single rows, before anything is read.

    Raises
    ------
    BadPlan
        Naming all of it.
    """
    why = why_not_at_scale(plan)
    if why:
        raise BadPlan(
            f"DuckDB and Spark keep only counts of the table, which do not support {listing(why)}.",
            remedy="Choose another technique or leave that out, or run with engine = 'memory', "
            "which takes about 160 bytes of memory a cell.",
        )


def why_not_at_scale(plan: Plan) -> tuple[str, ...]:
    """Return what of a plan needs single rows, each as part of a sentence; empty where nothing."""
    roles = plan.roles
    asks = {
        f"what {plan.algorithm.title} looks at": not from_counts(plan.algorithm),
        "who has several rows": bool(roles.unit),
        "weights of rows": bool(roles.weight),
        "a sample": plan.data.draws,
        "a condition on rows": bool(plan.data.where.strip()),
        "levels of sensitive columns": bool(plan.sensitive_levels),
        "columns that are changed": bool(plan.changes),
        "words that are taken out of texts": bool(plan.redacted),
        "what becomes of values that no hierarchy has": plan.reuse.unseen != "fail",
        "an encoding other than UTF-8": not plan.data.is_utf8,
        "a file for spreadsheets": plan.dialect is not None,
        "files for SPSS, Stata or Excel": bool(plan.formats),
        "a table of the population": bool(plan.population_file),
        "private columns or combinations that a privacy model needs": any(
            model.private_columns() or model.needs_combined(roles) for model in plan.models
        ),
        "who of a table of the public is in it": any(model.scope.public for model in plan.models),
    }
    return tuple(words for words, needed in asks.items() if needed)


def from_counts(technique: Algorithm | Partitioner) -> bool:
    """Return whether a technique, as it is set, works from distinct tuples and their counts."""
    parts = (getattr(technique, p.name) for p in technique.parameters() if p.kind == "technique")
    own = technique.needs if isinstance(technique, Algorithm) else technique
    return own.from_counts and all(
        from_counts(part) for part in parts if isinstance(part, Algorithm | Partitioner)
    )


class AtScale:
    """A table in an engine on which a plan is carried out: it fits the plan, writes the release."""

    table: CountedTable
    _keys: Keys
    _tuples: list[npt.NDArray[np.int64]]
    _coarsened: Coarsened
    _pieces: EnginePieces | None = None

    def __init__(
        self,
        plan: Plan,
        held: CountedTable,
        hierarchies: Mapping[str, LevelTable] | None = None,
    ) -> None:
        """Read the columns that a plan publishes from a table that was opened."""
        refuse_at_scale(plan)
        self.table = held
        roles = plan.roles
        wanted = tuple(dict.fromkeys((*roles.quasi, *roles.sensitive, *roles.insensitive)))
        complete = (*roles.quasi, *roles.sensitive) if plan.data.missing == "drop" else ()
        try:
            self.table.read(
                plan.data,
                plan.types,
                wanted,
                complete,
                roles.identifier,
                keep=keeping(plan, hierarchies).column,
            )
        except BaseException:
            self.table.close()
            raise

    def close(self) -> None:
        """Let go of the table."""
        self.table.close()

    @property
    def dataset(self) -> Dataset:
        """The table by its counts."""
        return self.table.dataset

    def fit(
        self,
        plan: Plan,
        dataset: Dataset,
        hierarchies: Mapping[str, LevelTable] | None = None,
        population: Dataset | None = None,
    ) -> Problem:
        """Fit the plan to the table, as `prepare` does; see `run` for parameters and errors."""
        refuse_at_scale(plan)
        whole = self.table.whole
        plan.roles.check(whole)
        refuse_lacking(named_besides(plan, hierarchies), whole)
        if plan.formulas == "neutralise":
            refuse_formula_names(plan, whole)
        refuse_undecided(plan, whole)
        plan.refuse_unconfirmed(whole)
        every: dict[str, Hierarchy] = {}
        trees: dict[str, Hierarchy] = {}
        rows_of = {
            n for m in (*plan.models, *plan.all_attacks()) for n in m.needs_trees(plan.roles)
        }
        for name in plan.roles.published(dataset):
            column = dataset.column(name)
            rows = (hierarchies or {}).get(name)
            every[name] = flat(column)
            if rows is None or (name not in plan.roles.quasi and name not in rows_of):
                continue
            if name in plan.roles.quasi:
                every[name] = prepared(column, rows)
                if name not in plan.labels.names:
                    refuse_untrue(column, rows)
            else:
                trees[name] = prepared(column, rows)
        for name in plan.roles.quasi:
            refuse_look_alikes(dataset.column(name), every[name])
        names = _looked_at(plan.roles)
        published = plan.roles.published(dataset)
        needed = needs(self.table, names, published)
        needed.refuse(0)  # what rows take to be verified is taken in any case
        people = encode_population(
            plan.population_size, dataset, plan.roles, every, people=dataset.rows
        )
        problem = partial(
            Problem,
            dataset=dataset,
            roles=plan.roles,
            hierarchies=every,
            population=people,
            trees=trees,
        )
        tuples = self.table.how_many(names)
        if can_cut(plan) and not needed.fits(tuples):
            roles = roles_looked_at(plan)
            names = _looked_at(roles)
            needed = replace(needed, columns=len(names))
            pieces = self._pieces = pieces_of(self.table, roles, every, names, needed)
            found = problem(frequency=pieces.sensitive(), by_class=True, pieces=pieces)
            return replace(found, roles=roles)
        coarsened = self._coarsened = that_fits(self.table, plan, every, names, needed, tuples)
        if plan.algorithm.draws:
            refuse_many_rows(self.table, len(published))
        self._tuples, count = self.table.counted(names, coarsened.groups)
        leaf = {
            n: coarsened.leaf.get(n, leaf_codes(self.table.coded[n].column, every[n]))
            for n in names
        }
        self._keys = counted_set(
            names,
            [leaf[n][t] for n, t in zip(names, self._tuples, strict=True)],
            [len(every[n].leaves) for n in names],
            count,
            quasi=len(plan.roles.quasi),
        )
        return problem(frequency=self._keys.frequency, floors=coarsened.floors)

    def write(
        self,
        release: Release,
        generator: np.random.Generator,
        folder: Path,
        *,
        neutralise: bool,
        csv: bool = True,
        parts: int = 1,
    ) -> tuple[str, Witness | None]:
        """Write the release in every format, with CSV or without, in one pass; let the table go.

        Parameters
        ----------
        generator : numpy.random.Generator
            Draws which of equal rows goes where, and permutations.
        parts : int
            How many files of each format a table is written in.

        Returns
        -------
        digest : str
            The SHA-256 over its CSV files; over the Parquet files where there are no others.
        witness : Witness or None
            Which row is where, if the files do not tell it.

        Raises
        ------
        BadPlan
            If averages are published, which counts do not tell.
        BadInput
            If disk or memory are short.
        """
        if release.replaced:
            raise BadPlan(
                "The result publishes averages of rows, which counts do not contain.",
                remedy="Run with engine = 'memory'.",
            )
        endings = published_formats(csv=csv)
        names: list[str] = []
        witness: Witness | None = None

        def write(title: str, tables: Iterator[pa.Table], rows: int) -> None:
            names.extend(write_table(title, tables, rows, folder, parts=parts, endings=endings))

        if is_drawn(release):
            drawn, witness = drawn_edition(self.table, release, generator, neutralise=neutralise)
            for title, table in drawn.tables.items():
                write(title, iter([table]), table.num_rows)
        else:
            quasi = release.problem.quasi
            if self._pieces is not None:
                rows_of = ClassOfRow(
                    groups=self._pieces.leaf,
                    keys={"part": np.arange(len(self._pieces.key), dtype=np.int64)},
                    member=release.grouping.member[self._pieces.key],
                    through=ASSIGNED,
                )
            else:
                rows_of = class_of_tuples(
                    self._tuples[: len(quasi)],
                    [len(self.table.coded[name].tally) for name in quasi],
                    release.grouping.member[self._keys.of_tuple],
                    self._coarsened.groups,
                )
            ordered = published_parts(self.table, release, rows_of, neutralise=neutralise)
            write("release", ordered, release.view.rows)
        self.table.close()  # what is verified next needs the memory
        return digest_of(folder / f"{name}.{endings[0]}" for name in names), witness


def _looked_at(roles: Roles) -> tuple[str, ...]:
    """Return the columns whose distinct tuples are counted: quasi-identifiers, then sensitive."""
    return (*roles.quasi, *(name for name in roles.sensitive if name not in roles.quasi))


def is_drawn(release: Release) -> bool:
    """Return whether equal rows part in a release, or links between its columns are cut."""
    if len(release.blocks) > 1 or len(release.tables) > 1 or release.grouping.published:
        return True
    return not release.grouping.whole_keys or _parts_equals(release)


def _parts_equals(release: Release) -> bool:
    """Return whether rows with equal quasi-identifiers are in several classes.

    A relaxed partition parts them by sensitive values, though all rows of a key stay together.
    """
    if release.problem.pieces is not None:  # these are of strict cuts
        return False
    frequency, member = release.problem.frequency, release.grouping.member
    return not np.array_equal(member[frequency.run_start][frequency.run], member)
