"""A run loads no part of its libraries that it never uses, and they are still there."""

from __future__ import annotations

import subprocess
import sys

_TOLD = """
import sys
from anon_core.cli.lean import load_without_unused_parts
load_without_unused_parts()
import pyarrow
pyarrow.array([1]).to_numpy()
print(sorted({"pandas", "scipy.linalg", "cffi", "coverage"} & set(sys.modules)))
import scipy.sparse
print("numpy.f2py.crackfortran" in sys.modules)
import numpy.f2py.crackfortran
print(numpy.f2py.get_include()[-3:], numpy.f2py.crackfortran.__name__)
import pandas, scipy.linalg
print(pandas.DataFrame({"a": ["x"]}).shape, len(sys.meta_path))
"""


def test_what_a_run_never_uses_is_not_loaded_and_can_still_be_imported() -> None:
    told = subprocess.run([sys.executable, "-c", _TOLD], capture_output=True, text=True, check=True)
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print(len(sys.meta_path))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines()[0] == "[]"
    assert told.stdout.splitlines()[1] == "False"
    assert told.stdout.splitlines()[2] == "src numpy.f2py.crackfortran"
    assert told.stdout.splitlines()[3].startswith("(1, 1) ")
    assert int(told.stdout.split()[-1]) <= int(plain.stdout) + 1  # six, which pandas loads, has one
