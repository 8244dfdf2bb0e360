"""Every check of the reader: damage to exactly one field is named."""

import gc
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from fuzz.damage import change, editing, put, remove, set_attribute

from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.mdp.objectives.solver import solve
from punish_fast.play.punish.punish_player import PunishPlayer
from punish_fast.punish.codes import encode
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.errors import ReadError
from punish_fast.store.checked_file import OldFormatError
from punish_fast.store.checksum import SIZE, seal_of
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import SolutionFile, load, require_states
from punish_fast.store.schema import ATTRIBUTES, DATASETS
from punish_fast.store.tensors import save
from punish_fast.store.writer import new_file

EVERY_KIND = ("tensor", "agent", "strategy")
REQUIRED = [
    (kind, name)
    for name, attribute in ATTRIBUTES.items()
    for kind in attribute.kinds
    if kind in EVERY_KIND and not attribute.is_optional
]
OF_AGENT = [
    name
    for name in DATASETS
    if name.startswith(
        ("/states", "/rows", "/transitions", "/solution/v", "/solution/q", "/log/residual", "/log/seconds")
    )
]
OF_FILES = [*(("agent", name) for name in OF_AGENT), ("strategy", "/strategy/state"), ("strategy", "/strategy/p")]


GOLDEN = Path(__file__).parent / "golden"
KIND_OF = {name: kind for kind, name in OF_FILES}


def named(path, field, problem=""):
    """The one line of an error that names a file, its field and the problem."""
    return pytest.raises(ReadError, match=rf"\A{re.escape(f'{path}: {field}: ')}[^\n]*{problem}[^\n]*\Z")


def read(path):
    file = load(path)
    if file.kind == "strategy":
        return file.strategy()
    parts = [file.enemy, file.code, file.mdp()]
    return [*parts, file.solution()] if file.kind == "agent" else parts


def test_seals_of_older_versions_and_locked_files_are_read(copies):
    # These had a signature below the checksum.
    path, content = copies["agent"], copies["agent"].read_bytes()
    path.write_bytes(seal_of(path, b"data 2560-5350\nsigned 0f\n") + content[SIZE:])
    read(path)
    path.write_bytes(path.read_bytes().replace(b"signed 0f", b"signed 1f", 1))
    with pytest.raises(ReadError, match=r"agent\.h5: damaged"):
        load(path)
    fcntl = pytest.importorskip("fcntl")
    with copies["tensor"].open("rb") as file:
        # HDF5 cannot have the lock, as in network folders that support none.
        fcntl.flock(file, fcntl.LOCK_EX)
        read(copies["tensor"])
        load(copies["tensor"]).row(0)


def test_attributes_that_are_missing_or_of_another_type_are_named(copies, originals):
    for kind, name in REQUIRED:
        with h5py.File(originals[kind]) as file:
            is_text = isinstance(file.attrs[name], str | bytes)
        for value, problem in ((None, "missing"), (7 if is_text else 1.5j, "is not (a|two) ")):
            shutil.copy(originals[kind], copies[kind])
            set_attribute(copies[kind], name, value)
            with named(copies[kind], name, problem):
                load(copies[kind])


NOT_A_NOTE = ("", "naive", "[]", "{}", '{"file": "x.h5"}', "null", '{"kind": 3}', '{"kind": "agent", "file": [1]}')


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("format", ["another-format"], "is unknown"),
        ("format_version", [0, 3], "is not allowed; it must be from 1 to 2"),
        ("kind", ["Agent"], "it must be one of tensor, agent, strategy"),
        ("discount", [1.01, np.nan], "is not allowed; it must be from 0 to 1"),
        ("objective", ["draw"], "'draw' is unknown; it must be one of discounted, reach-probability"),
        ("error_bound", [-1.0, np.nan], "is not allowed"),
        ("method", ["sideways"], "is unknown"),
        ("sweeps", [-1], "-1 is not allowed; it must be at least 0"),
        ("rules", ["", "{", "[]", "null", '{"luck": 3}', '{"hp": 0}', '{"hp": "3"}', '{"hp": NaN}'], ""),
        ("enemy", [*NOT_A_NOTE], "not a JSON object"),
        ("enemy", ['{"kind": "agent", "temperature": "hot"}', '{"kind": "agent", "temperature": 0}'], "above 0"),
        ("information", ["telepathy"], "'telepathy' is unknown; it must be one of memoryless, memory"),
        ("terminal_values", [1.0, "20", [1, 2], [1.0, 2.0, 3.0]], "is not two numbers"),
        ("terminal_values", [[np.nan, -1.0], [np.inf, -1.0]], "is not allowed; it must be from -1e.100 to 1e.100"),
        ("origin", ["", "[1]", "null", "{", "[" * 50_000], "not a JSON object"),
    ],
)
def test_attributes_that_cannot_be(copies, name, values, problem):
    path = copies["strategy" if name in ("origin", "information") else "agent"]
    for value in values:
        with editing(path) as file:
            file.attrs[name] = value
        with named(path, name, problem):
            read(path)


@pytest.mark.parametrize("kind", [*EVERY_KIND, "equilibrium", "checkpoint"])
def test_files_of_an_earlier_format_are_refused_with_the_command_that_makes_them_again(kind, tmp_path):
    path = tmp_path / "old.h5"
    shutil.copy(GOLDEN / f"{kind}.h5", path)
    load(path)
    set_attribute(path, "format_version", 1)
    text = f"{path}: this version cannot read the format 1 of kind '{kind}'; remove it and make it again: punish-fast "
    with pytest.raises(OldFormatError, match=rf"\A{re.escape(text)}(build|solve|equilibrium)[^\n]*\Z"):
        load(path)


def test_datasets_that_are_missing_or_of_another_dtype_or_shape_are_named(copies, originals):
    flaws = {
        "missing": remove,
        "it must be {dtype}": lambda path, name: change(path, name, lambda array: array.astype(">f8")),
        "shape is": lambda path, name: change(path, name, lambda array: array[..., np.newaxis]),
    }
    for kind, name in OF_FILES:
        for problem, damage in flaws.items():
            shutil.copy(originals[kind], copies[kind])
            damage(copies[kind], name)
            with named(copies[kind], name, problem.format(dtype=DATASETS[name].dtype)):
                read(copies[kind])
    for name in ("/states/code", "/rows/action", "/transitions/data", "/solution/q", "/strategy/p"):
        path = shutil.copy(originals[KIND_OF[name]], copies[KIND_OF[name]])
        change(path, name, lambda array: np.concatenate([array, array[-1:]]))
        with pytest.raises(ReadError, match="shape is"):
            read(path)


def test_values_that_cannot_be(copies, originals):
    for name, damage, problem in (
        ("/states/layer_ptr", put(0, 1), "must begin with 0, not descend"),
        ("/states/layer_ptr", put(1, 10**9), "must begin with 0, not descend"),
        ("/states/code", lambda code: put(1, code[0])(code), "must ascend"),
        ("/states/code", put(-1, np.uint64(2**64 - 1)), "must ascend, up to"),
        ("/rows/state_ptr", put(0, 1), "must begin with 0, ascend"),
        ("/rows/state_ptr", lambda ptr: put(1, ptr[2])(ptr), "must begin with 0, ascend"),
        ("/rows/reward", put(3, np.nan), "not finite"),
        ("/rows/reward", put(3, -np.inf), "not finite"),
        ("/rows/action", put(0, 0), "it must be from 10 to 90"),
        ("/rows/action", put(0, 12), "must be actions"),
        ("/transitions/indptr", put(0, 1), ""),
        ("/transitions/indptr", put(1, -5), ""),
        ("/transitions/indptr", lambda ptr: put(1, ptr[2])(ptr), ""),
        ("/transitions/indptr", put(1, 10**12), ""),
        ("/transitions/indices", put(5, -1), ""),
        ("/transitions/indices", put(5, 10**9), ""),
        ("/transitions/data", put(5, -0.25), ""),
        ("/transitions/data", put(5, 1.25), ""),
        ("/transitions/data", put(5, np.nan), ""),
        ("/transitions/data", put(5, 0.3), "the probabilities of .* add up to"),
        ("/solution/v", put(7, np.nan), "not finite"),
        ("/solution/q", put(7, np.inf), "not finite"),
        ("/log/residual", put(0, -0.5), "a number is -0.5; it must be at least 0"),
        ("/log/seconds", put(0, np.nan), "not finite"),
    ):
        path = shutil.copy(originals["agent"], copies["agent"])
        change(path, name, damage)
        with named(path, name, problem):
            read(path)
    for name, damage, field in (
        (
            "/rows/reward",
            lambda reward: reward * np.nan,
            r"/transitions/reward: row 0 .* has nan; it must be a",
        ),
        ("/solution/q", lambda q: q * 3, "/solution/v: must be the largest `q` of each state"),
    ):
        path = shutil.copy(originals["agent"], copies["agent"])
        change(path, name, damage)
        with pytest.raises(ReadError, match=field):
            read(path)


def test_a_layer_but_not_the_whole_model_may_be_empty(copies, game, tmp_path):
    change(copies["tensor"], "/states/layer_ptr", lambda ptr: put(1, ptr[2])(ptr))
    assert len(load(copies["tensor"]).code) == game.space.n_states
    path, rules = tmp_path / "empty.h5", game.space.rules
    with new_file(path, "tensor", rules, enemy='{"kind": "unknown"}') as out:
        for name, size in (("states/layer_ptr", rules.breaths + 2), ("states/code", 0), ("rows/state_ptr", 1)):
            out.array(f"/{name}", np.zeros(size))
        out.array("/rows/action", np.zeros(0))
    with named(path, "/states/layer_ptr", "must begin with 0"):
        _ = load(path).code


def test_logs_of_another_length_are_refused(copies, game, tmp_path):
    for sweeps in (0, 1000):
        set_attribute(copies["agent"], "sweeps", sweeps)
        with named(copies["agent"], "/log/residual", "shape is"):
            load(copies["agent"])
    path = tmp_path / "jacobi.h5"
    for name in ("/log/rmse", "/log/choice_changes"):
        save(path, game.space, game.mdp, solve(game.mdp, method="jacobi", sweeps=4))
        change(path, name, lambda array: array[1:])
        with named(path, name, "shape is"):
            load(path).solution()


def test_one_row_is_checked_when_read_alone(copies, originals):
    for name, damage in (
        ("/transitions/indptr", put(18, 0)),
        ("/transitions/indptr", put(18, 10**12)),
        ("/transitions/indices", put(slice(None), -1)),
        ("/transitions/indices", put(slice(None), 10**6)),
        ("/transitions/data", put(slice(None), 0.1)),
        ("/transitions/data", put(slice(None), np.nan)),
    ):
        path = shutil.copy(originals["tensor"], copies["tensor"])
        change(path, name, damage)
        with named(path, "/transitions", "row 17"):
            load(path).row(17)


def test_strategies_that_are_none(copies, originals, game):
    for name, damage, problem in (
        ("p", put((3, 0), -0.5), "a number is -0.5; it must be at least 0"),
        ("p", put((3, 0), np.nan), "not finite"),
        ("p", put(3, 0.0), "add up to"),
        ("p", put(3, 1 / 11), "not legal"),
        ("state", put(3, -1), "a number is -1; it must be at least 0"),
        ("state", put(3, 0), "is listed twice"),
        ("state", put(3, 10**6), "states must be indices from 0"),
    ):
        path = shutil.copy(originals["strategy"], copies["strategy"])
        change(path, f"/strategy/{name}", damage)
        with pytest.raises(ReadError, match=rf"\A{re.escape(str(path))}: [^\n]*{problem}"):
            load(path).policy(game.space)


def test_an_enemy_of_another_redeal_plays_and_one_of_another_game_does_not(originals, game):
    rules = game.space.rules
    message = r"made for rules tiny, not house-\w+; only the redeal may differ"
    for kind in ("agent", "strategy"):
        file = load(originals[kind])
        assert np.array_equal(file.policy(StateSpace(rules._replace(redeal="reshuffle"))), file.policy(game.space))
        with pytest.raises(ReadError, match=message):
            file.policy(StateSpace(rules._replace(hp=1)))


def test_kinds_are_not_taken_for_each_other(originals, game):
    for kind, ask, problem in (
        ("tensor", lambda file: file.policy(game.space), "is a tensor, not an agent"),
        ("tensor", SolutionFile.solution, r"is a tensor, not an agent\. Solve it first: punish-fast solve "),
        (
            "tensor",
            lambda file: file.terminal_values,
            r"is a tensor, not an agent\. Solve it first: punish-fast solve ",
        ),
        ("strategy", SolutionFile.solution, r"is a strategy, not an agent\. It has no values\."),
        ("strategy", SolutionFile.mdp, r"strategy\.h5 is a strategy, not a tensor"),
        ("strategy", lambda file: file.enemy, "enemy: .*not a JSON object"),
        ("agent", SolutionFile.strategy, "kind: .*it must be 'strategy'"),
    ):
        with pytest.raises(ReadError, match=problem):
            ask(load(originals[kind]))
    with pytest.raises(PolicyError, match="is a strategy; only agents have values"):
        load(originals["strategy"]).policy(game.space, temperature=1.0)


def test_files_of_older_versions_and_their_terminals(copies, originals, game, tmp_path):
    for value, enemy in (
        (np.bytes_(b'{"kind": "unknown"}'), {"kind": "unknown"}),
        ('{"kind": "naive"}', {"kind": "built-in", "name": "random"}),
    ):
        set_attribute(copies["agent"], "enemy", value)
        assert load(copies["agent"]).enemy == enemy
    assert load(originals["agent"]).terminal_values == pytest.approx((20, -20), rel=1e-15)
    save(tmp_path / "jacobi.h5", game.space, game.mdp, solve(game.mdp, method="jacobi", sweeps=2))
    assert load(tmp_path / "jacobi.h5").terminal_values == pytest.approx((2.8525, -2.8525), rel=1e-15)


def test_the_hash_of_an_agent_does_not_depend_on_what_else_the_file_says(tmp_path):
    rules = true_rules(PRESETS["tiny"])
    space = StateSpace(rules)
    mdp = build(space)
    for name, enemy in (("one.h5", {"kind": "built-in", "name": "random"}), ("other.h5", None)):
        save(tmp_path / name, space, mdp, solve(mdp, discount=1.0), enemy)
        assert load(tmp_path / name).player_digest() == PunishPlayer("naive", rules).digest
    save(tmp_path / "tensor.h5", space, mdp)
    assert load(tmp_path / "tensor.h5").player_digest() is None
    for information, wanted in (("memoryless", PunishPlayer("random", rules).digest), ("memory", None)):
        space = StateSpace(rules, information)
        save_policy(tmp_path / f"{information}.h5", space, uniform_policy(space))
        assert load(tmp_path / f"{information}.h5").player_digest() == wanted


def test_states_that_no_game_reaches(copies, game):
    """The first position with 1 HP each: it is lawful, but a game begins with 2."""
    first = game.space.state(0)._replace(own_hp=1, enemy_hp=1)
    require_states(load(copies["agent"]), game.space)
    change(copies["agent"], "/states/code", put(0, np.uint64(encode(game.space.layout, first))))
    for ask in (require_states, SolutionFile.policy):
        with named(copies["agent"], "/states/code", "does not match a game under rules tiny"):
            ask(load(copies["agent"]), game.space)


@pytest.mark.skipif(os.name == "nt", reason="needs a timer of POSIX systems")
def test_an_interrupt_waits_until_a_file_is_read(tmp_path, monkeypatch):
    space = StateSpace(PRESETS["tiny"])
    save(tmp_path / "a.h5", space, build(space))
    load(tmp_path / "a.h5").mdp()
    begin = time.perf_counter()
    load(tmp_path / "a.h5").mdp()
    duration = time.perf_counter() - begin
    # Garbage of other tests must not be finalized in between: an interrupt in a finalizer is lost.
    gc.collect()
    previous = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr("sys.unraisablehook", lambda lost: swallowed.append(lost.exc_value))
    generator, swallowed, interrupted = random.Random(1), [], 0
    try:
        # The number that come in time depends on how busy the machine is.
        for _ in range(1000):
            # Anything other than an interrupt, such as an error of a file that cannot be read, fails here.
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-4, duration))
                    load(tmp_path / "a.h5").mdp()
                finally:
                    # An interrupt may still arrive here, before the timer is stopped.
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            if interrupted == 20:
                break
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert (swallowed, interrupted) == ([], 20)
