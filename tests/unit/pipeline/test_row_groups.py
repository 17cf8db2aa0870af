"""Row groups of a Parquet file: each carries dictionaries and statistics of its own rows alone."""

from __future__ import annotations

import errno
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from anon_core import Dataset, Plan, run
from anon_core.pipeline.publish import file_formats, table_files
from anon_core.pipeline.publish.file_formats import as_csv, as_parquet
from anon_core.pipeline.publish.table_files import write_table
from anon_core.pipeline.result import Result
from anon_core.verification.checks import Verification, verify
from anon_core.verification.files import writing as rewriting
from tests.making import Case

PEOPLE = Case(
    columns={
        "name": [f"n{i}" for i in range(12)],
        "age": ["20", "21", "22", "23", "30", "31", "32", "33", "40", "41", "42", "43"],
        "job": list("aabbaabbaabb"),
        "illness": ["flu", "cold", "gout", "flu", "cold", "gout"] * 2,
        "city": list("xyzxyzxyzxyz"),
    },
    identifier=("name",),
    quasi=("age", "job"),
    sensitive=("illness",),
    kinds={"age": "number", "job": "text", "illness": "text", "city": "text"},
)
K2: list[dict[str, Any]] = [{"name": "k-anonymity", "k": 2}]
L3: list[dict[str, Any]] = [{"name": "frequency-l-diversity", "l": 3}]
PROMISED = {
    "mondrian": K2,
    "k-member": K2,
    "microaggregation": K2,
    "optimal": K2,
    "anatomy": L3,
    "bucketization": L3,
    "one-attribute-slicing": L3,
    "permutation": L3,
    "slicing": L3,
}
TWO_TABLES = ("anatomy", "permutation")


def in_row_groups(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for writer in (file_formats, table_files, rewriting):
        monkeypatch.setattr(writer, "ROW_GROUP", rows)


def carried_out(name: str) -> Result:
    return run(
        PEOPLE.plan(algorithm={"name": name}, models=PROMISED[name]), PEOPLE.dataset, assess=False
    )


def again(result: Result, files: Mapping[str, bytes]) -> Verification:
    return verify(result.plan.completed(), PEOPLE.frame, {}, files)


def dictionaries(content: bytes) -> list[dict[str, set[str]]]:
    """Return by row group and column the texts of the dictionary."""
    names = parquet.read_schema(io.BytesIO(content)).names
    file = parquet.ParquetFile(io.BytesIO(content), read_dictionary=names)
    groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
    return [
        {n: {t for chunk in g[n].chunks for t in chunk.dictionary.to_pylist()} for n in names}
        for g in groups
    ]


@pytest.mark.parametrize("name", PROMISED)
@pytest.mark.parametrize("size", [1, 5, 12])
def test_a_release_in_small_row_groups_holds(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_row_groups(size, monkeypatch)
    result = carried_out(name)
    assert len(result.parquet_files) == 1 + (name in TWO_TABLES)
    for content in result.parquet_files.values():
        assert len(dictionaries(content)) == -(-12 // size)
    found = again(result, {**result.files, **result.parquet_files})
    assert [c.sentence for c in found.broken] == []
    assert [c.name for c in found.checks].count("parquet") == len(result.files)


def test_every_row_group_says_what_its_rows_say(monkeypatch: pytest.MonkeyPatch) -> None:
    in_row_groups(2, monkeypatch)
    rows = [(str(30 + i % 3), f"ill {i % 3}") for i in range(60)]
    rows.append(("97", "RAREDISEASE"))
    plan = Plan.from_mapping(
        {
            "roles": {"quasi": ["age"], "sensitive": ["ill"]},
            "algorithm": {"name": "optimal", "max_suppression": 0.05},
            "models": [{"name": "k-anonymity", "k": 5}],
        }
    )
    result = run(plan, Dataset.from_frame(pd.DataFrame(rows, columns=["age", "ill"])), assess=False)
    assert result.release.suppressed == 1
    cells = result.published.to_pydict()
    for i, held in enumerate(dictionaries(result.parquet)):
        assert held == {n: set(cells[n][2 * i : 2 * i + 2]) for n in cells}
    assert b"RAREDISEASE" not in result.parquet
    back = parquet.read_table(io.BytesIO(result.parquet))
    assert back.to_pydict() == cells


def test_a_table_without_rows_and_one_of_many_chunks_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_row_groups(2, monkeypatch)
    table = pa.table({"a": pa.array(["x", "y", "z"]).dictionary_encode()})
    for part in (table.slice(0, 0), pa.concat_tables([table.slice(2), table.slice(0, 2)]), table):
        back = parquet.read_table(io.BytesIO(as_parquet(part)))
        assert back.to_pydict() == part.to_pydict()


def planted(result: Result, group: int) -> bytes:
    """Return the release with a value of nobody's in the dictionaries of one row group."""
    genuine, written = file_formats._with_sorted_dictionary, []

    def with_one_more(column: Any) -> Any:
        own: Any = genuine(column)
        written.append(own)
        if (len(written) - 1) // result.published.num_columns != group:
            return own
        texts = pa.concat_arrays([own.dictionary, pa.array(["RARE"])])
        return pa.DictionaryArray.from_arrays(own.indices, texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_formats, "_with_sorted_dictionary", with_one_more)
        return as_parquet(result.published)


@pytest.mark.parametrize("group", [0, 1, 2])
def test_a_value_planted_in_the_dictionary_of_a_row_group_is_found(
    group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_row_groups(4, monkeypatch)
    result = carried_out("optimal")
    assert again(result, {**result.files, "release.parquet": planted(result, 9)}).holds
    content = planted(result, group)
    assert b"RARE" in content
    (broken,) = again(result, {**result.files, "release.parquet": content}).broken
    assert (broken.name, broken.holds) == ("parquet", False)
    assert "what else it holds could mark a person" in broken.sentence
    assert "RARE" not in broken.sentence


def test_a_value_of_another_row_group_is_found_in_a_dictionary() -> None:
    """The dictionary of the whole file is more than a row group shows."""
    result = carried_out("optimal")
    sink = io.BytesIO()
    parquet.write_table(result.published, sink, row_group_size=4)
    assert not again(result, {**result.files, "release.parquet": sink.getvalue()}).holds


@pytest.mark.parametrize("kind", ["least", "greatest"])
def test_a_value_planted_in_the_statistics_of_a_row_group_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_row_groups(4, monkeypatch)
    result = carried_out("mondrian")
    content = result.parquet
    footer = parquet.ParquetFile(io.BytesIO(content)).metadata
    column = footer.row_group(2).column(0).statistics
    value = {"least": column.min, "greatest": column.max}[kind].encode()
    other = {"least": b"A" + value[1:], "greatest": b"z" + value[1:]}[kind]
    place = content.rfind(value)  # the footer's last word on that column
    changed = content[:place] + other + content[place + len(value) :]
    column = parquet.ParquetFile(io.BytesIO(changed)).metadata.row_group(2).column(0).statistics
    assert {"least": column.min, "greatest": column.max}[kind].encode() == other
    files = {**result.files, "release.parquet": content}
    assert again(result, files).holds
    (broken,) = again(result, {**files, "release.parquet": changed}).broken
    assert broken.name == "parquet"
    assert "not byte for byte" in broken.sentence


def test_a_release_that_tells_the_extremes_of_every_column_holds_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_row_groups(4, monkeypatch)
    result = carried_out("mondrian")
    writer = parquet.ParquetWriter
    values: list[Any] = []

    def of_all(*given: Any, **options: Any) -> Any:
        values.append(options.pop("write_statistics"))
        return writer(*given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ParquetWriter", of_all)
        before = as_parquet(result.published)
    assert values == [["age"]]
    assert before != result.parquet
    assert again(result, {**result.files, "release.parquet": before}).holds


def test_csv_does_not_depend_on_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = carried_out("mondrian")
    in_row_groups(3, monkeypatch)
    assert as_csv(whole.published) == carried_out("mondrian").csv


def test_both_files_are_written_at_once_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_row_groups(4, monkeypatch)
    table = carried_out("mondrian").published
    names = write_table(
        "release", iter([table]), table.num_rows, tmp_path, parts=1, endings=("csv", "parquet")
    )
    assert names == ["release"]
    assert (tmp_path / "release.csv").read_bytes() == as_csv(table)
    assert (tmp_path / "release.parquet").read_bytes() == as_parquet(table)


@pytest.mark.parametrize("kind", ["_IntoCsv", "_IntoParquet"])
def test_what_a_file_fails_with_is_raised_when_the_other_is_written(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_row_groups(4, monkeypatch)
    table = carried_out("mondrian").published

    def full(self: object, part: pa.Table) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(getattr(file_formats, kind), "add", full)
    with pytest.raises(OSError, match="full"):
        write_table(
            "release", iter([table]), table.num_rows, tmp_path, parts=1, endings=("csv", "parquet")
        )
