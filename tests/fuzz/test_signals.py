"""Signals at random instants of every verb that writes: files are old or whole, and nothing else is left."""

import json
import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from cli.commands import EXAMPLES, all_verbs, make_files
from cli.killing import WITH_JIT, end, start_announced

from fuzz.test_arguments import is_output
from fuzz.trial import contents, faults_of_ending, nothing_found, restore
from punish_fast.runtime.errors import StoreError
from punish_fast.store.checked_file import CheckedFile

pytestmark = [pytest.mark.slow, WITH_JIT]

OLD = b"the old file\n" * 99
# Outputs of every verb that writes, instead of its default ones.
WRITES = {
    "solve": ("-o", "out.h5"),
    "build": ("-o", "out.h5"),
    "export": ("-o", "out.json"),
    "import": ("-o", "out.h5"),
    "arena": ("--db", "new.db"),
    "equilibrium": ("-o", "out.h5", "--resume", "new.h5"),
    "openings": ("--plot", "out.png"),
    "lessons": ("--plot", "out.svg"),
    "survey": ("--csv", "out.csv", "--plot", "out.png"),
    "balance": ("--plot", "out.png"),
    "enemy parless": ("-o", "out.h5"),
    "enemy logit": ("-o", "out.h5"),
    "enemy import-flux": ("-o", "out.h5"),
    "enemy pawnn": ("-o", "out.h5"),
    "records import": (),
    "records plot": ("-o", "out.png"),
    "records player": (),
    "games train": ("-o", "out.h5", "--plot", "out.png"),
    "games league": (),
    "games decks": ("-o", "out.json"),
}
# Verbs that write no file of the user: a printed result, and the cache of solutions.
WITHOUT_FILES = {"enemy validate", "doctor"}
ENDINGS = {
    signal.SIGINT: (0, 130, -signal.SIGINT),
    signal.SIGTERM: (0, 143, -signal.SIGTERM),
    signal.SIGKILL: (0, -signal.SIGKILL),
}
# What a verb changes on purpose.
CHANGES = {"records import": "games.db", "records player": "games.db"} | {"games league": "agents"}


def test_every_verb_that_writes_is_ended():
    writing = {name for name, verb in all_verbs().items() if any(map(is_output, verb.params))}
    assert writing <= WRITES.keys() | WITHOUT_FILES


def flaw_of(path: Path) -> str | None:
    """What is wrong with a file; None if it is old or whole."""
    content = path.read_bytes()
    if content == OLD:
        return None
    try:
        if path.suffix == ".h5":
            CheckedFile(path)
        elif path.suffix == ".json":
            json.loads(content)
        elif path.suffix == ".db":
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        elif path.suffix == ".png":
            assert content.endswith(b"IEND\xaeB`\x82")
        elif path.suffix == ".svg":
            assert content.rstrip().endswith(b"</svg>")
    except (StoreError, ValueError, AssertionError, sqlite3.Error) as error:
        return f"{path.name} is neither old nor whole: {error}"
    return None


def faults_of_files(folder: Path, before: dict[str, bytes], own: str, number: int) -> list[str]:
    after = contents(folder)
    faults = [
        f"changed {name}" for name in before if not name.startswith((own, "out.")) and after.get(name) != before[name]
    ]
    faults += [flaw for name in after if (flaw := flaw_of(folder / name))]
    if number != signal.SIGKILL:
        faults += [f"left {name}" for name in after if Path(name).name.startswith(".") or "-journal" in name]
    return faults


def test_signals_at_random_instants(_files, folder, tmp_path_factory, request):
    pytest.importorskip("matplotlib")
    made = tmp_path_factory.mktemp("made")
    make_files(_files, tmp_path_factory, made)
    shutil.copytree(made, folder, symlinks=True, dirs_exist_ok=True)
    for suffix in ("h5", "json", "png", "svg"):
        (folder / f"out.{suffix}").write_bytes(OLD)
    pristine = contents(folder)
    generator = random.Random(request.config.getoption("--fuzz-seed"))
    names = [name for name in WRITES if name != "enemy pawnn"]
    durations: dict[str, float] = {}
    wrong, endings = [], {}
    for trial in range(request.config.getoption("--fuzz-signals")):
        name = names[trial % len(names)]
        command = [*name.split(), *EXAMPLES[name], *WRITES[name], "-q"]
        if name not in durations:
            # If this compiles kernels, signals come too late at first.
            child, begin = start_announced(*command), time.perf_counter()
            code, err = end(child, seconds=600)
            durations[name] = time.perf_counter() - begin
            assert code == 0, (name, err)
            restore(folder, pristine)
        number = generator.choice(list(ENDINGS))
        delay = generator.random() * 1.05 * durations[name]
        child, begin = start_announced(*command), time.perf_counter()
        time.sleep(delay)
        child.send_signal(number)
        code, err = end(child)
        faults = faults_of_ending(code, err, ENDINGS[number])
        faults += faults_of_files(folder, pristine, CHANGES.get(name, " "), number)
        if code in (130, 143) and not err.endswith("no file is damaged or incomplete\n"):
            faults.append("does not say how it ended")
        if code == 0:
            durations[name] = min(durations[name], time.perf_counter() - begin)
        if faults:
            wrong.append((trial, name, number.name, round(delay, 3), code, err[-600:], faults))
        endings[code] = endings.get(code, 0) + 1
        restore(folder, pristine)
    print(endings)
    nothing_found(wrong)
