"""Families import a verb when it is asked for, and no other."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.conftest import clean_environment

_VERBS_IMPORTED = """
import sys
from punish_fast.cli.app import run
code = run(sys.argv[1:])
verbs = ("solving.solve", "strategies.arena", "records", "records.plot", "enemy", "enemy.show", "enemy.pawnn", "games")
print(*[verb for verb in verbs if f"punish_fast.cli.{verb}" in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def imported(*arguments: str) -> list[str]:
    """The verbs and families, of a few, that a command imports."""
    command = [sys.executable, "-c", _VERBS_IMPORTED, *arguments]
    child = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), timeout=60, check=False)
    return child.stderr.splitlines()[-1].split()


@pytest.mark.parametrize(
    ("line", "verbs"),
    [
        ("solv", []),
        pytest.param("solve --help", ["solving.solve"], marks=pytest.mark.slow),
        ("enemy show --help", ["enemy", "enemy.show"]),
    ],
)
def test_a_verb_is_imported_alone(line, verbs):
    assert imported(*line.split()) == verbs
