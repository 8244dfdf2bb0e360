"""The examples in docstrings."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import punish_fast

PACKAGE = Path(punish_fast.__file__).parent
MODULES = [
    ".".join(("punish_fast", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if re.search("^ *>>> ", path.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_hold(module):
    found = doctest.testmod(import_module(module))
    assert (found.failed, found.attempted > 0) == (0, True)
