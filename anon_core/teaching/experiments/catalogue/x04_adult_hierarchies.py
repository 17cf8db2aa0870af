"""X-04: Adult's columns and their hierarchies as a source lists them, counted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.description import agree, counted, figure, printed
from anon_core.teaching.experiments.catalogue.presence import QUASI, toth
from anon_core.teaching.experiments.experiment import Claim, Experiment, Point, Settings, Step
from anon_core.teaching.experiments.points import Found

_VALUES: Mapping[str, float] = {
    "age": 74,
    "gender": 2,
    "race": 5,
    "workclass": 7,
    "income": 2,
    "marital-status": 7,
    "education": 16,
    "occupation": 14,
    "native-country": 41,
}
_LEVELS: Mapping[str, float] = {
    "age": 5,
    "gender": 1,
    "race": 1,
    "workclass": 2,
    "income": 1,
    "marital-status": 2,
    "education": 3,
    "occupation": 2,
    "native-country": 2,
}
_ROWS: Mapping[str, float] = {"rows": 32_561, "complete rows": 30_161}


class AdultHierarchies(Experiment):
    """Rows, distinct values, and heights of hierarchies of the training part."""

    id = "X-04"
    title = "Adult, training part, with its hierarchies"
    source = toth("section 6, figure 6.1")
    shows = "How many values each quasi-identifier has, and how high its hierarchy is."
    table = "adult-train"
    figures = (
        figure("rows", "Rows", "rows", tuple(_ROWS)),
        figure("values", "Distinct values of complete rows", "values", QUASI),
        figure("levels", "Height of the hierarchy", "levels above the values", QUASI),
    )
    printed = (
        *printed("rows", _ROWS),
        *printed("values", _VALUES),
        *printed("levels", _LEVELS),
    )
    remarks = ("Heights are those of the hierarchies that are shipped with this workbench.",)
    small = Settings()
    full = Settings()

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return one step: everything is counted at once."""
        return [Step(key="counted")]

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Count."""
        data = bench.data(self.table, QUASI)
        heights = [len(data.table.levels[name][0]) - 1 for name in QUASI]
        return [
            *counted("rows", [data.table.raw_rows, data.dataset.rows]),
            *counted("values", [len(data.dataset.column(name).values) for name in QUASI]),
            *counted("levels", heights),
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source's figure 6.1 says."""
        return [
            agree(
                found,
                "rows",
                _ROWS,
                "32,561 rows, of which 30,161 are complete.",
                error="E-38",
                reason="One row more is complete than the source says.",
            ),
            agree(
                found,
                "values",
                _VALUES,
                "Figure 6.1 gives the numbers of values.",
                error="E-38",
                reason="74 ages is what training and test part have together; the complete rows "
                "of the training part have fewer.",
            ),
            agree(
                found,
                "levels",
                _LEVELS,
                "Figure 6.1 gives the heights of the hierarchies.",
                own=False,
                reason="The source does not print its hierarchies; the shipped ones are others.",
            ),
        ]
