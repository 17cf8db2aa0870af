"""What the documents say is so: their examples run, their tables match, their paths exist."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anon_core import registry
from anon_core.__main__ import main

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
README = (CHECKOUT / "README.md").read_text()
CONTRIBUTING = (CHECKOUT / "CONTRIBUTING.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


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
    (tmp_path / "hierarchies").symlink_to(CHECKOUT / "hierarchies", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_readme_run(desk, capsys):
    commands = [
        line.split() for line in blocks(README, "sh")[1].splitlines() if line.startswith("python")
    ]
    assert [c[3] for c in commands] == ["run", "verify", "list"]
    for command in commands:
        assert command[:3] == ["python", "-m", "anon_core"]
        assert main(command[3:]) == 0


def test_the_python_of_the_readme_runs(desk):
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


def test_the_algorithm_of_contributing_works(desk, monkeypatch, capsys):
    (code,) = blocks(CONTRIBUTING, "python")
    (desk / "hide_all.py").write_text(code)
    monkeypatch.syspath_prepend(desk)
    known = dict(registry.family("algorithm"))
    monkeypatch.setitem(registry._found, "algorithm", known)
    monkeypatch.delitem(sys.modules, "hide_all", raising=False)
    __import__("hide_all")
    recipe = (desk / "recipe.toml").read_text()
    start, stop = recipe.index("[algorithm]"), recipe.index("[[models]]")
    recipe = f'{recipe[:start]}[algorithm]\nname = "hide-all"\n{recipe[stop:]}'
    (desk / "recipe.toml").write_text(recipe + '[[models]]\nname = "l-diversity"\nl = 2\n')
    arguments = ["recipe.toml", "--data", "table.csv"]
    assert main(["run", *arguments, "--out", "release"]) == 0
    assert main(["verify", *arguments, "--release", "release"]) == 0
    assert "loss: 1\n" in capsys.readouterr().out


def test_the_algorithm_of_contributing_keeps_the_style():
    (code,) = blocks(CONTRIBUTING, "python")
    body = code[code.index("def run") :].splitlines()
    assert len(body) <= 10
    for command in (["check"], ["format", "--check"]):
        place = ["--no-cache", "--stdin-filename", "anon_core/algorithms/hide_all.py", "-"]
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *place],
            cwd=CHECKOUT,
            input=code,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def techniques_table() -> str:
    """Return the README's table of techniques as the registry has it."""
    lines = ["| kind | name in a recipe | what it does |", "|---|---|---|"]
    words = {
        "algorithm": "technique",
        "partitioner": "groups",
        "model": "promise",
        "metric": "what is lost",
        "attack": "attack",
    }
    for which in registry.FAMILIES:
        for technique in registry.family(which).values():
            lines.append(f"| {words[which]} | `{technique.name}` | {technique.summary} |")
    return "\n".join(lines)


MARKS = re.compile(r"(?<=<!-- techniques -->\n).*?(?=\n?<!-- /techniques -->)", flags=re.DOTALL)


def test_the_table_of_techniques_is_the_registrys():
    found = MARKS.search(README)
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


def test_every_page_stands_in_the_readme():
    for page in (CHECKOUT / "pages").glob("[0-9]*.py"):
        assert f"| {page.stem.split('_', 1)[1]} |" in README


if __name__ == "__main__":
    (CHECKOUT / "README.md").write_text(MARKS.sub(lambda _: techniques_table(), README))
