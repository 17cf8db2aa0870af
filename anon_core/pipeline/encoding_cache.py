"""One table fitted to many plans: what they share is encoded once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.table import Dataset
from anon_core.pipeline.prepare import prepare
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem

#: Tables of a recipe that `prepare` reads.
_READ = (
    *("data", "types", "roles", "hierarchies", "sensitive_levels", "population", "export"),
    *("labels", "redacted", "changes", "confirmed", "reuse"),
)
#: Encodings that are kept, the oldest of them forgotten.
_MOST = 8


class EncodedOnce:
    """Fits plans to one table; plans that ask for the same encoding get the same problem.

    What is kept with a problem, such as the view of the table as it is, is then made once, too. An
    object of this class belongs to one table, one set of level tables and one population.
    """

    def __init__(self) -> None:
        self._made: dict[str, Problem] = {}

    def __call__(
        self,
        plan: Plan,
        dataset: Dataset,
        hierarchies: Mapping[str, LevelTable] | None = None,
        population: Dataset | None = None,
    ) -> Problem:
        """Fit a plan to the table; see `prepare` for parameters and errors."""
        plan.refuse_guessable()
        key = _asked(plan)
        found = self._made.get(key)
        if found is None:
            while len(self._made) >= _MOST:
                self._made.pop(next(iter(self._made)))
            found = self._made[key] = prepare(plan, dataset, hierarchies, population)
        return found


def _asked(plan: Plan) -> str:
    """Return all that `prepare` reads of a plan, as a text."""
    told = plan.as_mapping()
    kept = [told.get(n) for n in _READ]
    promises = [
        (
            model.needs_trees(plan.roles),
            model.private_columns(),
            model.needs_public,
            model.needs_combined(plan.roles),
        )
        for model in plan.models
    ]
    public = plan.algorithm.needs_public or any(m.may_count_public for m in plan.models)
    drawn = plan.data.sample < 1 or any(one.change.draws for one in plan.changes)
    seed = str(plan.seed) if drawn else ""
    keyed = hashlib.sha256(plan.key).hexdigest() if plan.key else ""
    return json.dumps([kept, [list(map(repr, p)) for p in promises], public, seed, keyed])
