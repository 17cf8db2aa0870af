"""Who writes files, and that private ones are their owner's and follow no link."""

from __future__ import annotations

import ast
import stat
from pathlib import Path

import pytest

from anon_core.__main__ import main
from anon_core.base.errors import BadInput
from anon_core.base.private_file import new_private, refuse_link, write_private, write_public
from anon_core.cli.report import attached_names

ROOT = Path(__file__).parents[3]

#: Everything that writes a file: its module, the function, and what it writes. A new one is to be
#: entered; what holds a secret or private rows goes through `base/private_file.py`.
WRITERS = {
    ("anon_core/teaching/experiments/execution.py", "document"): "public: figures of papers",
    ("anon_core/base/file_lock.py", "alone"): "nothing: the file stays empty",
    ("anon_core/base/private_file.py", "__init__"): "public: files of a result, without a name",
    ("anon_core/base/private_file.py", "_write"): "private; public where that is asked for",
    ("anon_core/base/private_file.py", "new_private"): "private",
    ("anon_core/base/private_file.py", "for_owner"): "private",
    ("anon_core/cli/experiment.py", "experiment"): "figures of the literature",
    ("anon_core/cli/suggest.py", "suggest"): "a new recipe without any secret",
    ("anon_core/cli/counts.py", "_write"): "public: counts with noise, in a new folder",
    ("anon_core/data/reading/stored.py", "brought"): "private, opened by for_owner",
    ("anon_core/teaching/experiments/result_files.py", "write"): "figures of the literature",
    ("anon_core/cli/warm.py", "_give_way"): "the priority of a session of processes",
    ("anon_core/pipeline/compilation.py", "warm"): "which kernels are compiled",
    (
        "anon_core/pipeline/publish/release_folder.py",
        "_write",
    ): "public, new, in a folder of mode 0700",
    ("anon_core/engines/spark_table.py", "session"): "settings, in a folder of mode 0700",
    (
        "anon_core/pipeline/publish/table_files.py",
        "_write",
    ): "public, new, in a folder of mode 0700",
    ("ui/journal.py", "_open"): "what happens on a host, without values; its owner's",
}
_METHODS = {"write_bytes", "write_text", "to_csv", "to_parquet", "to_excel", "mkstemp"}
_CALLS = {"copyfile", "copy", "copy2", "move", "NamedTemporaryFile", "TemporaryFile", "mkstemp"}


def _writes(node: ast.Call) -> bool:
    """Say whether a call writes a file by its path, as far as its text tells."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    owner = getattr(getattr(node.func, "value", None), "id", "")
    if name in ("to_csv", "to_parquet"):
        return bool(node.args)
    if name in _METHODS or (name in _CALLS and owner in ("shutil", "tempfile")):
        return True
    texts = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if _is_text(a)]
    if name == "open" and owner == "os":
        return "O_CREAT" in ast.dump(node) or "flags" in ast.dump(node)
    return name == "open" and any(set(t) & set("wxa") and len(t) < 4 for t in texts)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def writers() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for top in ("anon_core", "ui", "pages", "anonymity_workbench"):
        for file in sorted((ROOT / top).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            if not any(f"{name}(" in text for name in (*_METHODS, *_CALLS, "open")):
                continue
            tree = ast.parse(text)
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                    calls = (n for n in ast.walk(function) if isinstance(n, ast.Call))
                    if any(map(_writes, calls)):
                        found.add((file.relative_to(ROOT).as_posix(), function.name))
    return found


def test_every_writer_is_entered() -> None:
    assert writers() == set(WRITERS)


def owners_alone(place: Path) -> bool:
    return not place.is_symlink() and stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_private_file_takes_the_place_of_a_link(tmp_path: Path) -> None:
    other, place = tmp_path / "other", tmp_path / "recipe.toml"
    other.write_text("kept", encoding="utf-8")
    place.symlink_to(other)
    write_private(place, b"secret")
    assert other.read_text(encoding="utf-8") == "kept"
    assert place.read_bytes() == b"secret"
    assert owners_alone(place)
    write_private(place, b"again")
    assert place.read_bytes() == b"again"
    write_public(place, b"for all")
    assert stat.S_IMODE(place.stat().st_mode) & 0o044
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other", "recipe.toml"]


def test_a_new_private_file_is_written_over_nothing(tmp_path: Path) -> None:
    place = tmp_path / "rows.parquet"
    place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        new_private(place, b"rows")
    with pytest.raises(BadInput, match="is a link"):
        refuse_link(place)
    place.unlink()
    new_private(place, b"rows")
    assert owners_alone(place)


RECIPE = """version = 3
[types]
zip = "text"
[roles]
quasi = ["age", "zip"]
sensitive = ["ill"]
[hierarchies]
age = "a/h.csv"
zip = "b/h.csv"
[algorithm]
name = "anatomy"
[[models]]
name = "frequency-l-diversity"
l = 2
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return a folder with a release that was permuted, and the recipe that undoes it."""
    rows = [f"{20 + n},{10 + n % 2},ill {n % 3}" for n in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["age,zip,ill", *rows]), encoding="utf-8")
    for folder, values in (("a", range(20, 29)), ("b", (10, 11))):
        (tmp_path / folder).mkdir()
        lines = "\n".join(f"{value};*" for value in values)
        (tmp_path / folder / "h.csv").write_text(lines, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def run(desk: Path, *more: str) -> int:
    given = [str(desk / "r.toml"), "--data", str(desk / "t.csv"), "--out", str(desk / "out")]
    return main(["run", *given, *more])


def test_a_report_is_its_owners_and_goes_through_no_link(desk: Path) -> None:
    made, other = desk / "made.toml", desk / "other"
    assert run(desk, "--recipe-out", str(made)) == 0
    assert owners_alone(made)
    other.write_text("kept", encoding="utf-8")
    report = desk / "report"
    report.mkdir()
    for name in ("report.html", ".report.json.part", ".report.html.part"):
        (report / name).symlink_to(other)
    asked = ["report", str(made), "--data", str(desk / "t.csv"), "--release", str(desk / "out")]
    asked += ["--format", "html", "--format", "json"]
    assert main([*asked, "--out", str(report)]) == 0
    seed = made.read_text(encoding="utf-8").split('seed = "')[1][:64]
    assert seed in (report / "report.html").read_text(encoding="utf-8")
    assert other.read_text(encoding="utf-8") == "kept"
    for file in (report / "report.html", report / "report.json"):
        assert owners_alone(file)
    # Two hierarchies whose files are called the same are two.
    copies = {file.name: file.read_bytes() for file in (report / "hierarchies").iterdir()}
    assert sorted(copies) == ["age-h.csv", "zip-h.csv"]
    assert copies["age-h.csv"] == (desk / "a" / "h.csv").read_bytes()
    assert copies["zip-h.csv"] == (desk / "b" / "h.csv").read_bytes()
    assert all(owners_alone(file) for file in (report / "hierarchies").iterdir())
    # What is public is for others, and holds no secret.
    assert main([*asked, "--public", "--out", str(desk / "public")]) == 0
    shown = desk / "public" / "report.html"
    assert stat.S_IMODE(shown.stat().st_mode) & 0o044
    assert seed not in shown.read_text(encoding="utf-8")
    # A folder behind a link is not written to.
    (desk / "elsewhere").mkdir()
    (desk / "third").mkdir()
    (desk / "third" / "hierarchies").symlink_to(desk / "elsewhere", target_is_directory=True)
    assert main([*asked, "--out", str(desk / "third")]) == 1
    assert not list((desk / "elsewhere").iterdir())


def test_a_recipe_is_written_through_no_link(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (desk / "other.toml").write_text("kept", encoding="utf-8")
    (desk / "link.toml").symlink_to(desk / "other.toml")
    assert run(desk, "--recipe-out", str(desk / "link.toml")) == 1
    assert "is a link" in capsys.readouterr().err
    assert (desk / "other.toml").read_text(encoding="utf-8") == "kept"
    assert not (desk / "out").exists()


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ({"a": "x/h.csv", "b": "y/h.csv"}, ["a-h.csv", "b-h.csv"]),
        ({"a": "x/h.csv", "b": "y/H.csv"}, ["a-h.csv", "b-H.csv"]),
        ({"a": "x/h.csv", "b": "./x/h.csv"}, ["h.csv", "h.csv"]),
        ({"a/b": "x/h.csv", "a b": "y/h.csv"}, ["a_b-h.csv", "_a_b-h.csv"]),
        ({"a": "x/h.csv", "b": "y/h.csv", "c": "a-h.csv"}, ["a-h.csv", "b-h.csv", "_a-h.csv"]),
    ],
)
def test_each_hierarchy_keeps_a_copy_of_its_own(paths: dict[str, str], names: list[str]) -> None:
    assert list(attached_names(paths).values()) == names
