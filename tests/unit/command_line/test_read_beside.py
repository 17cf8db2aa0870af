"""A release is read from Parquet where its CSV file says the same; else the CSV file counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.pipeline.verify.verify_release import verify_release
from anon_core.verification import checks
from tests.making import secret

TABLE = "age,sex,illness\n" + "".join(
    f"{30 + n % 7},{'FM'[n % 2]},{('flu', 'cold', 'gout')[n % 3]}\n" for n in range(120)
)


@pytest.fixture(params=["optimal", "anatomy"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder with a table, its recipe and its release."""
    model = (
        "name = 'k-anonymity'\nk = 3"
        if request.param == "optimal"
        else "name = 'frequency-l-diversity'\nl = 2"
    )
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "r.toml").write_text(
        f"seed = '{secret(5):064x}'\n[roles]\nquasi = ['age', 'sex']\nsensitive = ['illness']\n"
        f"[algorithm]\nname = '{request.param}'\n[[models]]\n{model}\n"
    )
    out = tmp_path / "out"
    given = ["run", str(tmp_path / "r.toml"), "--data", str(tmp_path / "t.csv"), "--out", str(out)]
    assert main(given) == 0
    return tmp_path


def faults(place: Path) -> list[str]:
    found = verify_release(place / "r.toml", place / "t.csv", place / "out")
    return [check.sentence for check in found.broken if "is missing, which" not in check.sentence]


def test_both_are_compared_and_the_csv_file_counts(place: Path) -> None:
    assert not faults(place)
    file = sorted((place / "out").glob("*.csv"))[-1]
    text = file.read_text()
    assert "flu" in text
    file.write_text(text.replace("flu", "FLU", 1))
    with_parquet = faults(place)
    for parquet in (place / "out").glob("*.parquet"):
        parquet.unlink()
    alone = faults(place)
    assert alone
    assert set(alone) <= set(with_parquet)  # and Parquet is not the CSV file's besides


def test_a_file_that_cannot_be_read_is_told_in_the_words_for_csv(place: Path) -> None:
    first, *_, last = [*sorted((place / "out").glob("*.csv")), *((place / "out").glob("*.parquet"))]
    first.write_text(first.read_text() + "one cell more,than,the,header,has,and,more\n")
    last.unlink()
    # A permuted release is also carried out again, and the files are no longer those of that run.
    (sentence,) = (one for one in faults(place) if not one.startswith("Carried out again"))
    assert "differ in length" in sentence or "row" in sentence


def test_a_header_alone_breaks_the_release_and_is_no_error(place: Path) -> None:
    for file in (place / "out").glob("*.csv"):
        file.write_text(file.read_text().partition("\n")[0] + "\n")
    assert faults(place)
    for parquet in (place / "out").glob("*.parquet"):
        parquet.unlink()
    assert faults(place)


def test_whoever_interrupts_it_is_heard_whatever_the_files_say(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = sorted((place / "out").glob("*.csv"))[-1]
    file.write_text(file.read_text().replace("flu", "FLU", 1))
    begun: list[int] = []

    def interrupted(*given: object, **named: object) -> object:
        begun.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(checks, "_check_whole", interrupted)
    monkeypatch.setattr(checks, "check_permuted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        faults(place)
    assert begun == [1]
