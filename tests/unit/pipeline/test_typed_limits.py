"""What a format has no room for is refused, and not cut: cells of Excel, labels of SPSS."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from anon_core.base.errors import BadPlan
from anon_core.data.table import Meaning
from anon_core.pipeline.runner import run
from anon_core.recipe.statistics_files import as_excel, as_spss, as_stata, typed
from anon_core.verification.files import writing as second
from anon_core.verification.files.published import PublishedTable, split_release
from anon_core.verification.files.release_files import read_release
from anon_core.verification.files.writing import check_typed
from anon_core.verification.text.texts import Spelling
from tests.making import PATIENTS

AS_TEXT = Spelling(kind="text", neutralised=False)
#: Letters beyond 16 bits count twice.
FITS = ["x" * 32_767, "é" * 32_767, "\U0001f600" * 16_383]
TOO_LONG = ["x" * 32_768, "\U0001f600" * 16_384, "x" * 100_000]


@pytest.mark.parametrize("text", FITS)
def test_a_cell_that_fits_is_whole(text: str) -> None:
    assert as_excel([typed("note", [text, "a"], Meaning())])


@pytest.mark.parametrize("text", TOO_LONG)
def test_a_cell_that_excel_would_cut_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadPlan, match=r"32,767 characters, and column .*note.* in row 2"):
        as_excel([typed("note", ["a", text], Meaning())])
    with pytest.raises(BadPlan, match="in its name"):
        as_excel([typed(text, ["a"], Meaning())])


@pytest.mark.parametrize("text", TOO_LONG)
def test_the_second_computation_finds_a_cell_that_was_cut(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "release.csv").write_text(f"note\n{text}\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("note\n", encoding="utf-8")
    monkeypatch.setattr(second, "_WIDEST", 10**9)  # as one would write that looks at nothing
    found = split_release(f"note\n{text[:16_000]}\n".encode())
    cut = second._typed("xlsx", PublishedTable(found, (), lambda _: AS_TEXT), {})
    monkeypatch.undo()
    for content in (cut, b""):
        (tmp_path / "release.xlsx").write_bytes(content)
        files = {"release.csv": (tmp_path / "release.csv").read_bytes()}
        export, data = {"formats": ["xlsx"]}, tmp_path / "t.csv"
        read = partial(read_release, files=files, quasi=(), spelling=lambda _: AS_TEXT)
        (check,) = check_typed(export, ["release"], tmp_path, data, read)
        assert check.outcome == "broken"


def test_too_many_columns_are_refused() -> None:
    columns = [typed(f"c{n}", ["a"], Meaning()) for n in range(16_385)]
    with pytest.raises(BadPlan, match="16,384 columns"):
        as_excel(columns)


@pytest.mark.parametrize(
    "meaning",
    [Meaning(labels={"1": "é" * 61, "2": "b"}), Meaning(title="t" * 257)],
)
def test_what_spss_would_cut_is_refused(meaning: Meaning) -> None:
    column = typed("sex", ["1", "2"], meaning)
    with pytest.raises(BadPlan, match="SPSS keeps"):
        as_spss([column])


def test_what_stata_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    column = typed("sex", ["1", "2"], Meaning(title="t" * 200))
    with pytest.raises(BadPlan, match="cannot be written for SPSS or Stata"):
        as_stata([column])


@pytest.mark.parametrize("csv", [True, False])
@pytest.mark.parametrize("parts", [1, 2])
def test_parquet_alone_is_parquet_alone_from_python_too(csv: bool, parts: int) -> None:
    export = {"csv": csv, "parts": parts}
    result = run(PATIENTS.plan(export=export), PATIENTS.dataset, PATIENTS.levels, assess=False)
    endings = {name.rpartition(".")[2] for name in result.all_files}
    assert endings == ({"csv", "parquet"} if csv else {"parquet"})
    assert len(result.all_files) == parts * len(endings)
