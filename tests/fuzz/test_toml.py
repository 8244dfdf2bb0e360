"""Rules files, changed by value and by bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cli.commands import HOUSE

from fuzz.trial import attempt, contents, faults_of_folder, nothing_found
from punish_fast.punish.rules import Rules, RulesError, load_rules

pytestmark = pytest.mark.slow

VALUES = [
    *("0", "1", "2", "3", "9", "10", "-1", "99", "1.0", "1e400", "nan", "true", "''", "'x'", "[]", "[[]]", "{}", "0x3"),
    *("[1, 2, 1, 2, 1]", "[0, 0, 0, 0, 0]", "[9, 9, 9, 9, 9]", "[1, 2]", "{ rush = 1 }", "{ rush = {} }", "{ x = 1 }"),
    *("['rush']", "['rush', 'rush']", "['x', [1]]", "[{}]", "'reshuffle'", "'discard'", "2026-01-01", "07:05:00"),
    "9" * 4400,
    *("['rest', 'guard', 'rush', 'dodge', 'strike', 'punish']", '"\\u0000"', '"\\u001b[31m"', "'''\n\n'''", "[" * 900),
]
KEYS = [*Rules._fields, "x", "'a b'", '"\\n"', "a.b.c", "hp.x", '""', "a" + ".a" * 2000, "é"]


def changed(generator: random.Random) -> bytes:
    """A rules file with other values, keys or bytes."""
    lines = HOUSE.splitlines()
    for _ in range(generator.choice([1, 1, 2, 3])):
        kind = generator.random()
        where = generator.randrange(len(lines) + 1)
        if kind < 0.5:
            line = f"{generator.choice(KEYS)} = {generator.choice(VALUES)}"
            key = line.partition(" ")[0]
            lines = [each for each in lines if not each.startswith(key + " ") or generator.random() < 0.05] + [line]
        elif kind < 0.65 and lines:
            del lines[min(where, len(lines) - 1)]
        elif kind < 0.75:
            lines.insert(
                where, generator.choice(["[table]", "[[hp]]", "# \x07", "\ufeff", "= 3", "hp", "[hp", '"""', ""])
            )
    content = bytearray("\n".join(lines).encode())
    for _ in range(generator.choice([0, 0, 0, 1, 3, 10])):
        at = generator.randrange(len(content) + 1)
        content[at : at + generator.choice([0, 1, 5])] = generator.randbytes(generator.choice([0, 1, 2]))
    return bytes(content) * (1 if generator.random() < 0.98 else 50)


def is_small(path: Path) -> bool:
    """Whether the rules are allowed, and their game is solved in a moment."""
    try:
        rules = load_rules(path)
    except RulesError:
        return False
    return rules.n_cards <= 8 and rules.breaths <= 3 and rules.hp <= 3 and rules.feints <= 1


def test_changed_rules(run, folder, request):
    seed, number = request.config.getoption("--fuzz-seed"), request.config.getoption("--fuzz-files")
    generator, wrong, n_small = random.Random(seed), [], 0
    path = folder / "house.toml"
    for trial in range(number):
        path.write_bytes(changed(generator))
        before = contents(folder)
        # The enemy is looked for after the rules are read.
        done, faults = attempt(run, ["build", "--rules", "house.toml", "--enemy", "none.h5", "-q"])
        faults += [] if done.code == 2 else [f"exit code {done.code}"]
        faults += faults_of_folder(folder, before, before)
        if is_small(path):
            n_small += 1
            done, more = attempt(run, ["solve", "--rules", "house.toml", "-q", "-o", "out.h5"])
            faults += more + faults_of_folder(folder, before, before)
        if faults:
            wrong.append((trial, path.read_bytes(), done.code, done.err[-600:], faults))
        (folder / "out.h5").unlink(missing_ok=True)
    nothing_found(wrong)
    assert n_small > number // 20
