"""The texts of core, pages and documents say things plainly: no word that reads as translated.

Each of these words has a plainer one: *an attacker who*, *reported*, *shows*, *is*, *next to*,
*again*, *instead of*, *separately*, *no one*, *someone*, *depends on*, *privacy model*.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from anon_core.base import terms

CHECKOUT = Path(__file__).resolve().parents[2]
#: The words, but within names: of a style such as ``learn-told``, or of a path.
WORDS = re.compile(
    r"(?<![-/_.\w])(whoever|told|tells|stands|beside|anew|in place of|apart|nobody|somebody|"
    r"hangs? on|promis\w+)(?![-/_\w])",
    re.IGNORECASE,
)
#: Labels of `anon_core.base.terms`; in small letters too.
LABELS = {text for name, text in vars(terms).items() if name.isupper() and name[0] != "_"}
LABELS |= {text.lower() for text in LABELS} - {"loss", terms.SUPPRESSED}
#: Where a source may have one of them: a text can begin after an escape, and go on in a next line.
SUSPECT = re.compile(
    WORDS.pattern.replace("(?<![-/_.\\w])", r"(?:(?<![-/_.\w])|(?<=\\[nt]))").replace(
        " ", r"[\s\"'rf]+"
    )
    + f"|[\"'](?:{'|'.join(map(re.escape, sorted(LABELS)))})[\"']",
    re.IGNORECASE,
)
CORE, DASHBOARD = CHECKOUT / "anon_core", CHECKOUT / "ui"
#: Globs of modules, by folder.
FOLDERS = [
    "anon_core/*.py",
    "anonymity_workbench/*.py",
    *sorted(f"anon_core/{p.name}/**/*.py" for p in CORE.iterdir() if any(p.glob("**/*.py"))),
    "app.py",
    "pages/*.py",
    "ui/*.py",
    *sorted(f"ui/{p.name}/**/*.py" for p in DASHBOARD.iterdir() if any(p.glob("**/*.py"))),
]
PAGES = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{p.name}" for p in (CHECKOUT / "docs").glob("*.md")),
]
#: Folders and pages that still hold such words. Only ever take out of these.
FOLDERS_TO_DO: tuple[str, ...] = ()
PAGES_TO_DO: tuple[str, ...] = ()


@cache
def read(path: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return texts and docstrings of a module, which several tests look at.

    Few modules have such words or labels anywhere: the others are not parsed.
    """
    source = path.read_text(encoding="utf-8")
    if not SUSPECT.search(source):
        return [], []
    tree = ast.parse(source)
    return list(texts(tree)), list(docstrings(tree))


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return a module's string constants, but docstrings, by line."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from [(node.lineno, node.value)] * (id(node) not in docstrings)


def found_in(folder: str) -> list[str]:
    found: list[str] = []
    for path in sorted(CHECKOUT.glob(folder)):
        for line, text in read(path)[0]:
            words = WORDS.findall(text) if " " in text else []
            found += [f"{path.relative_to(CHECKOUT)}:{line}: {word}" for word in words]
    return found


#: In docstrings, what lies far apart lies far apart; verification is written by itself.
DOCSTRING_WORDS = re.compile(WORDS.pattern.replace("apart|", ""), re.IGNORECASE)


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return the docstrings with such words of a module and of its public names.

    Examples and fields are left out of them.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if getattr(node, "name", "").startswith("_"):
            continue
        text = ast.get_docstring(node, clean=False) or ""
        if not DOCSTRING_WORDS.search(text):
            continue
        text = re.sub(r"^ *>>>.*?(?:\n\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"^ *[\w, *]+ : .*$", "", text, flags=re.MULTILINE)
        yield getattr(node, "lineno", 1), re.sub(r"``?[^`]*``?", "", text)


@pytest.mark.parametrize("folder", [f for f in FOLDERS if "/verification/" not in f])
def test_docstrings_of_public_names_are_plain(folder: str) -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}:{line}: {word}"
        for path in sorted(CHECKOUT.glob(folder))
        for line, text in read(path)[1]
        for word in DOCSTRING_WORDS.findall(text)
    ]
    assert not found, found


def test_a_docstring_of_a_public_name_is_read() -> None:
    source = 'def f():\n    """Told.\n\n    >>> told\n    """\ndef _g():\n    """Told."""\n'
    assert [DOCSTRING_WORDS.findall(text) for _, text in docstrings(ast.parse(source))] == [
        ["Told"]
    ]


def found_on(page: str) -> list[str]:
    """Return the words on a page, but in blocks of code and in names set as code."""
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [f"{page}: {word}" for word in WORDS.findall(re.sub(r"`[^`\n]*`", "", text))]


def test_a_module_with_such_a_word_is_parsed() -> None:
    for source in ('A = "is\\ntold"', "in place of", 'B = ("in "\n    "place of")', "'Told'"):
        assert SUSPECT.search(source), source
    assert not SUSPECT.search("untold = 'style-told'")


def test_docstrings_are_left_out() -> None:
    source = (
        '"""Told apart."""\nA = "who is told"\ndef f():\n    """Beside."""\n    return "told"\n'
    )
    assert [(line, text) for line, text in texts(ast.parse(source)) if " " in text] == [
        (2, "who is told")
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_texts_of_modules_are_plain(folder: str) -> None:
    found = found_in(folder)
    assert bool(found) == (folder in FOLDERS_TO_DO), found or "take the folder out of the list"


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_plain(page: str) -> None:
    found = found_on(page)
    assert bool(found) == (page in PAGES_TO_DO), found or "take the page out of the list"


#: Folders in which a label is a literal: verification shares no text with the core, `loss` names a
#: metric there, and lessons and benchmarks are texts of their own.
OWN = ("anon_core/verification/", "anon_core/teaching/", "anon_core/techniques/metrics/")


def test_a_label_is_one_line() -> None:
    found: list[str] = []
    for folder in FOLDERS:
        for path in sorted(CHECKOUT.glob(folder)):
            place = str(path.relative_to(CHECKOUT))
            if place.startswith(OWN) or place == "anon_core/base/terms.py":
                continue
            found += [
                f"{place}:{line}: {text}"
                for line, text in read(path)[0]
                if text in LABELS and text != terms.SUPPRESSED
            ]
    assert not found, found


def test_what_is_to_do_exists() -> None:
    assert set(FOLDERS_TO_DO) <= set(FOLDERS)
    assert set(PAGES_TO_DO) <= set(PAGES)
