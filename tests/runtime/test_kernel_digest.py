import importlib
import sys
from itertools import count
from pathlib import Path

import pytest
from numba import config

from punish_fast.runtime.compilation import kernel_digest
from punish_fast.runtime.compilation.kernel_digest import digest_of_kernel

_numbers = count()

# A package with a kernel in _kernels.py, and other files that it needs or does not need.
SOURCES = {
    "__init__.py": "",
    "_kernels.py": """
from punish_fast.runtime._jit import kernel
from .settings import LIMIT, TABLE, Pair
from ._routines import add

@kernel
def count(numbers):
    return add(Pair(numbers[0], LIMIT), TABLE)
""",
    "_routines.py": """
from punish_fast.runtime._jit import routine
from ._inner import double

@routine
def add(pair, table):
    return double(pair.first) + pair.second + table[0]
""",
    "_inner.py": """
from punish_fast.runtime._jit import inlined_routine

@inlined_routine
def double(number):
    return 2 * number
""",
    "_others.py": "",
    "settings.py": """
from typing import NamedTuple
import numpy as np
LIMIT = np.int64(7)
TABLE = np.arange(3)

class Pair(NamedTuple):
    first: int
    second: int
""",
}


def digest_with(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: tuple[str, str]) -> bytes:
    """The digest of the kernel if a text is replaced in some files; an empty text adds a line at the end."""
    name = f"made_up_{next(_numbers)}"
    (folder / name).mkdir()
    for file, source in SOURCES.items():
        old, new = changes.get(file.removesuffix(".py"), ("", ""))
        assert old in source
        (folder / name / file).write_text(source.replace(old, new) if old else source + new)
    monkeypatch.syspath_prepend(folder)
    kernel = importlib.import_module(f"{name}._kernels").count
    for module in [module for module in sys.modules if module.startswith(name)]:
        del sys.modules[module]
    return digest_of_kernel(getattr(kernel, "py_func", kernel))


def test_a_digest_covers_the_kernel_and_what_it_reaches_and_nothing_else(tmp_path, monkeypatch):
    before = digest_with(tmp_path, monkeypatch)
    comment = ("", "# edited\n")
    for file in ("__init__", "_others", "settings"):
        assert digest_with(tmp_path, monkeypatch, **{file: comment}) == before
    changed = [digest_with(tmp_path, monkeypatch, **{file: comment}) for file in ("_kernels", "_routines", "_inner")]
    edits = [("int64(7)", "int64(8)"), ("int64(7)", "int32(7)"), ("arange(3)", "arange(3.0)"), ("arange(3)", "ones(3)")]
    order = ("first: int\n    second: int", "second: int\n    first: int")
    changed += [digest_with(tmp_path, monkeypatch, settings=edit) for edit in (*edits, order)]
    assert len({before, *changed}) == 1 + len(changed)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_an_edit_after_the_import_does_not_change_the_digest(tmp_path, monkeypatch):
    name = f"made_up_{next(_numbers)}"
    (tmp_path / name).mkdir()
    for file, source in SOURCES.items():
        (tmp_path / name / file).write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    kernel = importlib.import_module(f"{name}._kernels").count
    (tmp_path / name / "_routines.py").write_text(SOURCES["_routines.py"] + "# edited\n")
    assert digest_of_kernel(getattr(kernel, "py_func", kernel)) == digest_with(tmp_path, monkeypatch)


def test_digests_change_with_the_options_of_kernels(monkeypatch):
    before = digest_of_kernel(digest_with)
    monkeypatch.setitem(kernel_digest.OPTIONS, "fastmath", True)
    assert digest_of_kernel(digest_with) != before


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_digests_change_with_settings_of_the_compiler(monkeypatch, setting):
    before = digest_of_kernel(digest_with)
    monkeypatch.setattr(config, setting, "something else")
    assert digest_of_kernel(digest_with) != before
