"""The files of a release compared with each other, while its promises are recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from typing import Any

from anon_core.verification.cells import TextTable
from anon_core.verification.file_formats import check_other_formats, check_writing, compare_csv
from anon_core.verification.findings import Check
from anon_core.verification.inputs import BothSides, UnlikeCsv
from anon_core.verification.opening import Content
from anon_core.verification.part_files import parts_told
from anon_core.verification.spelling import check_spelling
from anon_core.verification.tables import Promise


class Comparison:
    """What is begun in threads of a pool, and what it comes to.

    Whether CSV files say what was read from Parquet is looked at from the start; the rest from
    `begin` on.
    """

    def __init__(
        self,
        pool: Executor,
        promise: Promise,
        sides: BothSides,
        levels: Mapping[str, Sequence[Sequence[str]]],
        files: Mapping[str, Content],
        export: Mapping[str, Any],
        public: TextTable | None,
    ) -> None:
        self._pool, self._promise, self._sides = pool, promise, sides
        self._levels, self._files, self._export, self._public = levels, files, export, public
        self._same = [
            pool.submit(compare_csv, sides.published[name], name, files) for name in sides.unsure
        ]
        self._spelled: list[Future[Check]] = []
        self._others: Future[list[Check]] | None = None

    def begin(self) -> None:
        """Let spellings and files of other formats be looked at."""
        self._spelled = [
            self._pool.submit(
                check_spelling,
                self._promise,
                own,
                own.called(name),
                self._sides.table,
                self._levels,
                self._public,
            )
            for name, own in self._sides.published.items()
        ]
        self._others = self._pool.submit(self._check_others)

    def refuse_unlike(self) -> None:
        """Wait until it is known whether CSV files say what was read.

        Raises
        ------
        UnlikeCsv
            If one does not.
        """
        if not all(one.result() for one in self._same):
            self._pool.shutdown(wait=False, cancel_futures=True)
            raise UnlikeCsv

    def checks(self) -> list[Check]:
        """Return what was found; it is begun where it was not yet."""
        if self._others is None:
            self.begin()
        assert self._others is not None
        found: list[Check] = []
        for (name, own), spelled in zip(self._sides.published.items(), self._spelled, strict=True):
            file = own.called(name)
            if not own.file:
                found.append(check_writing(own, self._files[file], file))
            found.append(spelled.result())
        return [*found, *self._others.result()]

    def _check_others(self) -> list[Check]:
        if parts_told(self._export) > 1:  # of which CSV is one that is looked at again otherwise
            wait(self._same)
        return check_other_formats(self._sides.published, self._files)
