"""What experiments measure with: the product's own run, metrics and attacks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack
from anon_core.contracts.metric import Metric
from anon_core.data.table import Dataset
from anon_core.pipeline.measure.extra_attacks import attack, measured_further
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.release.outcome import Measure
from anon_core.teaching.experiments.points import Settings
from anon_core.teaching.experiments.tables import Table, Tables, Which

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """A table as it is released: its rows, and who else is known of.

    Attributes
    ----------
    table : Table
        What it was drawn from.
    """

    dataset: Dataset
    table: Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    public: Dataset | None = None
    fit: EncodedOnce = field(default_factory=EncodedOnce, repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """The tables and settings of one experiment, and what is run on them."""

    tables: Tables
    settings: Settings
    _made: dict[Any, Data] = field(default_factory=dict[Any, Data], repr=False)

    def table(self, which: Which) -> Table:
        """Return a table as it is."""
        return self.tables.get(which, self.settings.seed)

    def data(
        self,
        which: Which,
        quasi: Sequence[str],
        sensitive: Sequence[str] = (),
        *,
        rows: int = 0,
        public: int | None = None,
    ) -> Data:
        """Return rows of a table, drawn by the seed; the same on every call.

        Parameters
        ----------
        rows : int
            0 for all.
        public : int, optional
            Rows of the public table that holds them, 0 for all; without it there is none.
        """
        key = which, tuple(quasi), tuple(sensitive), rows, public
        if key not in self._made:
            self._made[key] = self._drawn(which, tuple(quasi), tuple(sensitive), rows, public)
        return self._made[key]

    def _drawn(
        self,
        which: Which,
        quasi: tuple[str, ...],
        sensitive: tuple[str, ...],
        rows: int,
        public: int | None,
    ) -> Data:
        table = self.table(which)
        rng = np.random.default_rng([self.settings.seed, 16])
        columns = [*quasi, *sensitive]
        everyone = table.frame[columns]
        if public:
            everyone = _part(everyone, public, rng)
        kinds = {name: kind for name, kind in table.kinds.items() if name in columns}
        own = _part(everyone, rows, rng) if rows else everyone
        return Data(
            dataset=Dataset.from_frame(own, kinds=kinds),
            table=table,
            quasi=quasi,
            sensitive=sensitive,
            public=None if public is None else Dataset.from_frame(everyone, kinds=kinds),
        )

    def released(
        self,
        data: Data,
        algorithm: Mapping[str, Any],
        models: Sequence[Mapping[str, Any]],
        context: Context,
    ) -> Result:
        """Carry out a plan on a table, verified as any run is; metrics and attacks come after.

        Raises
        ------
        AnonError
            As `run` does.
        """
        named = {name: rows for name, rows in data.table.levels.items() if name in data.quasi}
        recipe: dict[str, Any] = {
            "roles": {"quasi": list(data.quasi), "sensitive": list(data.sensitive)},
            "types": {n: k for n, k in data.table.kinds.items() if n in data.dataset.names},
            "hierarchies": {name: f"{name}.csv" for name in named},
            "algorithm": dict(algorithm),
            "models": [dict(model) for model in models],
            "seed": self._secret(algorithm, models),
        }
        if data.public is not None:
            recipe["population"] = {"file": "public.csv"}
        return run(
            Plan.from_mapping(recipe),
            data.dataset,
            named,
            population=data.public,
            context=context,
            assess=False,
            fit=data.fit,
        )

    def measured(self, result: Result, name: str, context: Context, **given: Any) -> Measure:
        """Measure a release by a metric, as a run does."""
        metric = cast(Metric, find("metric", name)(**given))
        return measured_further(result, metric, context).measures[name]

    def attacked(self, result: Result, name: str, context: Context, **given: Any) -> AttackResult:
        """Attack a release, as a run does."""
        [found] = attack(result, cast(Attack, find("attack", name)(**given)), context)[:1]
        return found

    def _secret(self, *what: object) -> str:
        """Return a seed of 256 bits made from the settings': runs refuse short ones."""
        return hashlib.sha256(repr((self.settings.seed, what)).encode()).hexdigest()


def _part(frame: pd.DataFrame, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    if rows >= len(frame):
        return frame
    return frame.iloc[np.sort(rng.choice(len(frame), rows, replace=False))]
