"""What the documents say is so: their examples run, their tables match, their paths exist."""

from __future__ import annotations

import ast
import importlib.util
import random
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from functools import cache
from pathlib import Path

import pandas
import pytest

import anon_core
from anon_core.__main__ import _parser, main
from anon_core.base import registry
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.data.reading import DataOptions
from anon_core.recipe import plan
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from anon_core.verification import registry as second
from anon_core.verification.checks import verify
from tests.contract import test_registry_contracts as contracts
from tests.making import PATIENTS
from ui.panels import page_frame

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLE = CHECKOUT / "docs" / "examples" / "hide_all.py"
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
README = (CHECKOUT / "README.md").read_text()
TECHNIQUES = CHECKOUT / "docs" / "techniques.md"
PYTHON = (CHECKOUT / "docs" / "python.md").read_text()
SPEED = (CHECKOUT / "docs" / "speed.md").read_text()
CONTRIBUTING = (CHECKOUT / "CONTRIBUTING.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


#: A block of a guide: its language, the file it is written to or appended to, and its text.
STEP = re.compile(
    r"^```(\w+)(?: (title|append)=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
#: A tutorial, and guides that go on in the folder it leaves: each block is carried out.
FIRST = "first-release.md"


def carry_out(page: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Write the files of a page, run its commands and its Python; return what was printed."""
    printed = ""
    for language, how, file, text in STEP.findall((CHECKOUT / "docs" / page).read_text()):
        if file:
            Path(file).parent.mkdir(exist_ok=True)
            before = Path(file).read_text() if how == "append" else ""
            Path(file).write_text(before + text)
        elif language == "python":
            exec(compile(text, page, "exec"), {})
        elif language == "sh":
            for line in text.splitlines():
                command, _, status = line.partition("  # status ")
                command, _, target = command.partition(" > ")
                assert command.startswith("python -m anon_core "), line
                assert main(shlex.split(command)[3:]) == int(status or 0), capsys.readouterr().err
                out = capsys.readouterr().out
                if target:
                    Path(target).write_text(out)
                printed += out
        else:
            raise AssertionError(f"{page}: a block of {language} that nothing is done with")
    return printed


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the first release, as the tutorial makes it; made when first asked for."""
    return tmp_path_factory.mktemp("first")


@pytest.fixture
def after_first(first, tmp_path, monkeypatch, capsys) -> Path:
    if not any(first.iterdir()):
        monkeypatch.chdir(first)
        (first / "printed.txt").write_text(carry_out(FIRST, capsys))
    shutil.copytree(first, tmp_path / "desk")
    monkeypatch.chdir(tmp_path / "desk")
    head, *rows = Path("stays.csv").read_text().splitlines(keepends=True)
    Path("november.csv").write_text("".join([head, *rows[1000:]]))
    return tmp_path / "desk"


def test_the_first_release_is_as_the_tutorial_says(after_first):
    printed = Path("printed.txt").read_text()
    for figure in ("4,174 of 5,000 rows", "77 rows are suppressed", "(84%) are unique over all"):
        assert figure in printed


#: What each guide says of the output of its commands.
SAID = {
    "monthly": "Since then",
    "check-a-release": "NOT CHECKED",
    "arx-hierarchies": "k = 5 holds",
    "build-a-hierarchy": "k = 5 holds",
    "several-rows": "k = 5 people holds",
    "networks": "3 new vertices and 3 new edges, at least 2 people share each number of ties",
    "places": "quadtree: fewest people in a box 2; fewest who could have sent it 1; exposed 2 of 4",
    "several-releases": "k over the join: 1.\nFewest persons who have one row of ages.csv: 2.",
    "table-of-counts": "112 cells, 24 of them sensitive.\n25 suppressed, 1 of them to hide others",
}


@pytest.mark.parametrize("guide", SAID)
def test_every_command_of_a_guide_runs(after_first, guide, capsys):
    assert SAID[guide] in carry_out(f"{guide}.md", capsys)


def test_every_command_of_the_docs_is_one_that_there_is():
    pages = {page.name: page.read_text() for page in (CHECKOUT / "docs").glob("*.md")}
    pages["README.md"] = README
    found = [
        (name, line)
        for name, text in pages.items()
        for block in blocks(text, r"(?:sh)?")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("python -m anon_core ")
    ]
    assert len({name for name, _ in found}) >= 9
    for name, line in found:
        command = line.partition("#")[0].partition(" > ")[0]
        try:
            _parser("anon_core", ()).parse_args(shlex.split(command)[3:])
        except SystemExit:
            pytest.fail(f"docs/{name}: {line}")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the README's recipe and a table it fits."""
    (tmp_path / "recipe.toml").write_text(blocks(README, "toml")[0])
    drawn = random.Random(5)
    lines = [
        f"{drawn.choice('MF')};{drawn.randint(17, 90)};0{drawn.randint(1, 9)};{drawn.choice('ab')}"
        for _ in range(300)
    ]
    (tmp_path / "table.csv").write_text("\n".join(["sex;age;zip;occupation", *lines]) + "\n")
    text = blocks((CHECKOUT / "docs" / "report.md").read_text(), "toml")[0]
    (tmp_path / "context.toml").write_text(text)
    (tmp_path / "hierarchies").symlink_to(CHECKOUT / "hierarchies", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_readme_run(desk, capsys):
    (block,) = (one for one in blocks(README, "sh") if one.startswith("python"))
    commands = [line.split() for line in block.splitlines()]
    assert [c[3] for c in commands] == ["suggest", "run", "verify", "list", "sweep", "report"]
    for command in commands:
        assert command[:3] == ["python", "-m", "anon_core"]
        assert main(command[3:]) == 0


def test_the_python_of_the_documents_runs(desk, capsys):
    (code,) = blocks(PYTHON, "python")
    exec(compile(code, "python.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1] == "True"
    (code,) = blocks(README, "python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(CHECKOUT), "PATH": ""},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "True"


def added(monkeypatch):
    """Enter the example of CONTRIBUTING into the registry for as long as a test lasts."""
    known = dict(registry.family("algorithm"))
    monkeypatch.setitem(registry._found, "algorithm", known)
    spec = importlib.util.spec_from_file_location("hide_all", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "hide_all", module)
    spec.loader.exec_module(module)
    return module.HideAll


def test_contributing_shows_the_example_as_it_is():
    code, _, lesson = blocks(CONTRIBUTING, "python")
    assert code == EXAMPLE.read_text()
    assert lesson == EXAMPLE.with_name("hide_all_lesson.py").read_text()


def test_the_example_keeps_what_every_algorithm_has_to(monkeypatch):
    added(monkeypatch)
    contracts.test_words.of("algorithm", "hide-all")
    contracts.test_techniques_are_values.of("algorithm", "hide-all")
    contracts.test_an_unknown_parameter_is_refused.of("algorithm", "hide-all")
    contracts.test_the_second_computation_reads_what_a_release_looks_like("hide-all")
    contracts.test_every_algorithm_can_be_cancelled("hide-all")
    contracts.test_an_algorithm_leaves_the_problem_alone("hide-all")
    for model in ("k-anonymity", "l-diversity", "delta-presence"):
        contracts.test_every_algorithm_keeps_every_promise_or_says_so("hide-all", model)


def test_the_example_tests_its_promises(monkeypatch):
    example = added(monkeypatch)()
    problem = PATIENTS.problem()
    with pytest.raises(Infeasible, match="Hiding every value does not satisfy the privacy models"):
        example.run(problem, [DistinctLDiversity(l=4)], Context())
    assert example.run(problem, [DistinctLDiversity(l=3)], Context()).account.node == {
        "age": 2,
        "zip": 2,
    }


def test_the_algorithm_of_contributing_works(desk, monkeypatch, capsys):
    added(monkeypatch)
    recipe = (desk / "recipe.toml").read_text()
    start, stop = recipe.index("[algorithm]"), recipe.index("[[models]]")
    recipe = f'{recipe[:start]}[algorithm]\nname = "hide-all"\n{recipe[stop:]}'
    (desk / "recipe.toml").write_text(recipe + '[[models]]\nname = "l-diversity"\nl = 2\n')
    arguments = ["recipe.toml", "--data", "table.csv"]
    assert main(["run", *arguments, "--out", "release"]) == 0
    assert main(["verify", *arguments, "--release", "release"]) == 0
    assert "loss: 1\n" in capsys.readouterr().out


def recomputed(folder, monkeypatch):
    """Enter the second computation of CONTRIBUTING for as long as a test lasts."""
    _, code, _ = blocks(CONTRIBUTING, "python")
    (folder / "share_limit.py").write_text(code)
    monkeypatch.setattr(second, "_found", dict(second.second_computations()))
    spec = importlib.util.spec_from_file_location(
        "anon_core.verification.models.share_limit", folder / "share_limit.py"
    )
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_second_computation_of_contributing_works(tmp_path, monkeypatch):
    recomputed(tmp_path, monkeypatch)
    frame = pandas.DataFrame({"zip": list("aaaab"), "ill": list("uuvvx")})
    release = b"zip,ill\na,u\na,u\na,v\na,v\nb,x\n"
    for share, holds in ((0.5, False), (1.0, True)):
        found = verify(
            {
                "roles": {"quasi": ["zip"], "sensitive": ["ill"]},
                "models": [{"name": "share-limit", "share": share}],
            },
            frame,
            {},
            {"release.csv": release},
        )
        (check,) = (check for check in found.checks if check.name == "share-limit")
        assert (check.holds, found.holds, check.reached) == (holds, holds, 1.0)
        assert check.rows == (() if holds else (5,))


def test_the_model_of_contributing_works_with_its_second_computation(desk, monkeypatch, capsys):
    monkeypatch.setitem(registry._found, "model", dict(registry.family("model")))
    spec = importlib.util.spec_from_file_location("share_limit", EXAMPLE.parent / "share_limit.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "share_limit", module)
    spec.loader.exec_module(module)
    recipe = (desk / "recipe.toml").read_text()
    start = recipe.index("[algorithm]")
    recipe = f'{recipe[:start]}[algorithm]\nname = "optimal"\n[[models]]\nname = "share-limit"\n'
    (desk / "recipe.toml").write_text(recipe)
    arguments = ["recipe.toml", "--data", "table.csv"]
    assert main(["run", *arguments, "--out", "release"]) != 0
    assert "'share-limit' (share_limit) has no second computation" in capsys.readouterr().err
    recomputed(desk, monkeypatch)
    contracts.test_words.of("model", "share-limit")
    contracts.test_what_is_promised_of_sensitive_values_does_not_stop_identity("share-limit")
    contracts.test_techniques_are_values.of("model", "share-limit")
    assert main(["run", *arguments, "--out", "release"]) == 0
    assert main(["verify", *arguments, "--release", "release"]) == 0
    assert "share-limit: Recomputed from the published file: share = 0.7" in capsys.readouterr().out


@pytest.mark.parametrize(
    "place", ["techniques/algorithms/hide_all.py", "verification/models/share_limit.py"]
)
def test_what_contributing_shows_keeps_the_style(place):
    code = blocks(CONTRIBUTING, "python")[place.startswith("verification")]
    body = code[code.index("def run") :].splitlines() if "def run" in code else []
    assert len(body) <= 10
    for command in (["check"], ["format", "--check"]):
        values = ["--no-cache", "--stdin-filename", f"anon_core/{place}", "-"]
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *values],
            cwd=CHECKOUT,
            input=code,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


#: What a recipe calls a technique that a field of another one holds.
WORDS = {"partitioner": "partition"}


def techniques_table() -> str:
    """Return the table of techniques in the docs as the registry has it."""
    lines = ["| kind | name in a recipe | what it does |", "|---|---|---|"]
    for which in registry.FAMILIES:
        for technique in registry.family(which).values():
            lines.append(
                f"| {WORDS.get(which, which)} | `{technique.name}` | {technique.summary} |"
            )
    return "\n".join(lines)


def test_the_public_names_are_listed_and_there():
    rows = re.findall(r"^\| (`.*?) \|", PYTHON, re.MULTILINE)
    listed = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(listed) == sorted(anon_core.__all__) == sorted(anon_core._HOME)
    for name in listed:
        assert getattr(anon_core, name).__doc__, name


def test_readme_and_changelog_are_short():
    assert len(README.splitlines()) <= 150
    # Of one release; an older one moves to the end and may be as long.
    text = (CHECKOUT / "CHANGELOG.md").read_text()
    assert all(len(part.splitlines()) <= 120 for part in re.split(r"^## \[", text, flags=re.M))


def test_every_setting_of_a_recipe_is_described():
    page = (CHECKOUT / "docs" / "recipe.md").read_text()
    source = (CHECKOUT / "anon_core" / "recipe" / "plan.py").read_text()
    keys = {*plan._SECTIONS, *plan._ROLES, *(field.name for field in fields(DataOptions))}
    for line in re.findall(r'refuse_unknown_keys\("\[\w+\]", \w+, \{(.*?)\}\)', source):
        keys |= set(re.findall(r'"(\w+)"', line))
    missing = {key for key in keys if not re.search(rf"\b{key}\b", page)}
    assert not missing


MARKS = re.compile(r"(?<=<!-- techniques -->\n).*?(?=\n?<!-- /techniques -->)", flags=re.DOTALL)


def test_the_table_of_techniques_is_the_registrys():
    found = MARKS.search(TECHNIQUES.read_text())
    assert found is not None
    assert found[0] == techniques_table(), "`python -m tests.unit.test_docs` writes it anew"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_and_make_target_exists(document):
    text = (CHECKOUT / document).read_text()
    named = set(re.findall(r"\]\(([\w./-]+)\)", text))
    named |= set(re.findall(r"`([\w.-]+/[\w./-]*)`", text))
    named |= set(re.findall(r"(?:src|srcset)=\"([\w./-]+)\"", text))
    for path in named:
        assert (CHECKOUT / path).exists(), path
    makefile = (CHECKOUT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^)make ([a-z]+)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_every_link_of_the_docs_leads_somewhere():
    pages = [*(CHECKOUT / "docs").glob("*.md"), *(CHECKOUT / "hierarchies").glob("*.md")]
    assert len(pages) > 20
    for page in pages:
        for path in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", page.read_text()):
            assert (page.parent / path).exists(), (page.name, path)


#: What the table of kernels calls a family.
FAMILY = {"technique": "algorithm", "groups": "partitioner", "privacy model": "model"}


@cache
def named_by(module: str) -> frozenset[str]:
    """Return what a module of the core imports of it, and perhaps names that are no modules."""
    path = CHECKOUT / Path(*module.split("."))
    package = path / "__init__.py"  # the folder of one that is gone may be left
    file = package if package.exists() else path.with_suffix(".py")
    if not file.exists():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (base := node.module or "").startswith("anon_core"):
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def imported(module: str) -> set[str]:
    """Return every module of the core that one imports, itself or through others."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += named_by(name)
    return seen


def test_the_table_of_kernels_is_true_and_names_everything():
    table = SPEED[SPEED.index("| kind | technique | its kernels |") :].splitlines()[2:]
    kernels = {path.stem for path in (CHECKOUT / "anon_core" / "kernels").glob("*.py")}
    used: set[str] = set()
    listed: set[tuple[str, str]] = set()
    for line in table:
        kind, techniques, values = (cell.strip() for cell in line.strip("|").split("|"))
        which = FAMILY.get(kind, kind)
        for name in re.findall(r"`([\w-]+)`", techniques):
            listed.add((which, name))
            # SPALM runs the optimal search, which the registry hands it.
            of = registry.find(which, "optimal" if name == "spalm" else name)
            reached = imported(of.__module__)
            for kernel in re.findall(r"`(\w+)`", values):
                assert f"anon_core.kernels.{kernel}" in reached, (name, kernel)
                used.add(kernel)
    for which in ("algorithm", "partitioner"):
        missing = sorted(set(registry.family(which)) - {n for w, n in listed if w == which})
        kind = next((word for word, means in FAMILY.items() if means == which), which)
        assert not missing, (
            f"docs/speed.md: the table of kernels needs a row of kind '{kind}' for "
            f"{', '.join(missing)}, with the files of anon_core/kernels/ it runs, or none. "
            "docs/models_and_techniques.md needs it as well: run "
            "`python scripts/models_and_techniques.py`."
        )
    # What compiles them is no kernel, and with `lines` every table is counted and written.
    assert kernels - used == {"__init__", "compilation", "machine_code", "lines"}


def test_every_page_is_a_step_and_a_row_of_the_readme():
    steps = {step.page: step.label for step in (*page_frame.STEPS, *page_frame.FURTHER)}
    pages = [f"pages/{page.name}" for page in (CHECKOUT / "pages").glob("[0-9]*.py")]
    assert {*pages, "app.py"} == set(steps)
    for label in steps.values():
        assert f"| {label} |" in README


def test_every_command_is_described():
    page = (CHECKOUT / "docs" / "command-line.md").read_text()
    (choices,) = (one.choices for one in _parser("anon_core", ())._actions if one.choices)
    assert not [name for name in choices if f"| `{name}` |" not in page]


if __name__ == "__main__":
    TECHNIQUES.write_text(MARKS.sub(lambda _: techniques_table(), TECHNIQUES.read_text()))
