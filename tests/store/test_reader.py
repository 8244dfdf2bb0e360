"""Every check of the reader: damage to exactly one field is named."""

from __future__ import annotations

import gc
import json
import os
import random
import re
import signal
import time

import h5py
import numpy as np
import pytest
from fuzz.damage import change, editing, put, remove, set_attribute, swap_first_two

from punish_fast.mdp.policy import PolicyError
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import encode
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.runtime.files import ReadError
from punish_fast.store.checksum import SIZE, seal_of
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import Artefact, load
from punish_fast.store.schema import ATTRIBUTES, DATASETS
from punish_fast.store.tensors import save

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
    if name.startswith(("/states", "/rows", "/transitions", "/solution", "/log/residual", "/log/seconds"))
]
OF_FILES = [*(("agent", name) for name in OF_AGENT), ("strategy", "/strategy/state"), ("strategy", "/strategy/p")]


def named(path, field, problem=""):
    """The one line of an error that names a file, its field and the problem."""
    return pytest.raises(ReadError, match=rf"\A{re.escape(f'{path}: {field}: ')}[^\n]*{problem}[^\n]*\Z")


def read(path):
    """Read all parts of a file."""
    file = load(path)
    if file.kind == "strategy":
        return file.strategy()
    parts = [file.enemy, file.code, file.mdp()]
    return [*parts, file.solution()] if file.kind == "agent" else parts


def test_seals_of_older_versions_are_valid(copies):
    """These had a signature below the checksum."""
    path, content = copies["agent"], copies["agent"].read_bytes()
    path.write_bytes(seal_of(path, b"data 2560-5350\nsigned 0f\n") + content[SIZE:])
    read(path)
    path.write_bytes(path.read_bytes().replace(b"signed 0f", b"signed 1f", 1))
    with pytest.raises(ReadError, match=r"agent\.h5: damaged"):
        load(path)


def test_files_are_read_without_locks(copies):
    fcntl = pytest.importorskip("fcntl")
    with copies["agent"].open("rb") as file:
        # HDF5 cannot have the lock, as in network folders that support none.
        fcntl.flock(file, fcntl.LOCK_EX)
        read(copies["agent"])
        load(copies["agent"]).row(0)


@pytest.mark.parametrize(("kind", "name"), REQUIRED)
def test_missing_attribute(copies, kind, name):
    set_attribute(copies[kind], name, None)
    with named(copies[kind], name, "missing"):
        load(copies[kind])


@pytest.mark.parametrize(("kind", "name"), REQUIRED)
def test_attribute_of_another_type(copies, kind, name):
    with h5py.File(copies[kind]) as file:
        is_text = isinstance(file.attrs[name], str | bytes)
    set_attribute(copies[kind], name, 1.5j if not is_text else 7)
    with named(copies[kind], name, "is not (a|two) "):
        load(copies[kind])


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("format", "another-format", "is not known"),
        ("format_version", 2, "2 is not allowed, it must be 1"),
        ("kind", "Agent", "allowed are tensor, agent, strategy"),
        ("discount", 1.01, "is not allowed, it must be from 0 to 1"),
        ("discount", np.nan, "is not allowed"),
        ("objective", "draw", "'draw' is not known, allowed are discounted, win-probability"),
        ("error_bound", -1.0, "is not allowed"),
        ("error_bound", np.nan, "is not allowed"),
        ("schedule", "sideways", "is not known"),
    ],
)
def test_attributes_that_cannot_be(copies, name, value, problem):
    set_attribute(copies["agent"], name, value)
    with named(copies["agent"], name, problem):
        load(copies["agent"])


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '{"luck": 3}', '{"hp": 0}', '{"hp": "3"}', '{"hp": NaN}'])
def test_rules_that_name_no_game(copies, text):
    set_attribute(copies["tensor"], "rules", text)
    with named(copies["tensor"], "rules"):
        load(copies["tensor"])


@pytest.mark.parametrize("text", ["", "naive", "[]", "{}", '{"file": "x.h5"}', "null"])
def test_enemy_that_is_no_note(copies, text):
    set_attribute(copies["agent"], "enemy", text)
    with named(copies["agent"], "enemy", "not a JSON object"):
        read(copies["agent"])


@pytest.mark.parametrize(("kind", "name"), OF_FILES)
def test_missing_dataset(copies, kind, name):
    remove(copies[kind], name)
    with named(copies[kind], name, "missing"):
        read(copies[kind])


@pytest.mark.parametrize("dtype", ["int16", ">f8"])
@pytest.mark.parametrize(("kind", "name"), OF_FILES)
def test_dataset_of_another_dtype(copies, kind, name, dtype):
    change(copies[kind], name, lambda array: array.astype(dtype))
    with named(copies[kind], name, f"allowed is {DATASETS[name].dtype}"):
        read(copies[kind])


@pytest.mark.parametrize("name", [name for _, name in OF_FILES if name != "/strategy/state"])
def test_dataset_one_too_long(copies, name):
    kind = {name: kind for kind, name in OF_FILES}[name]
    change(copies[kind], name, lambda array: np.concatenate([array, array[-1:]]))
    with pytest.raises(ReadError, match="shape is"):
        read(copies[kind])


@pytest.mark.parametrize(("kind", "name"), OF_FILES)
def test_dataset_with_a_dimension_too_many(copies, kind, name):
    change(copies[kind], name, lambda array: array[..., np.newaxis])
    with named(copies[kind], name, "shape is"):
        read(copies[kind])


def test_dataset_larger_than_its_file(copies):
    path = copies["strategy"]
    remove(path, "/strategy/state")
    with editing(path) as file:
        file.create_dataset("/strategy/state", shape=(1 << 40,), dtype="int32", chunks=(1 << 20,))
    with named(path, "/strategy/state", "larger than the file"):
        read(path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("/states/layer_ptr", put(0, 1)),
        ("/states/layer_ptr", put(1, 10**9)),
        ("/states/code", swap_first_two),
        ("/states/code", lambda code: put(1, code[0])(code)),
        ("/states/code", put(-1, np.uint64(2**64 - 1))),
        ("/rows/state_ptr", put(0, 1)),
        ("/rows/state_ptr", swap_first_two),
        ("/rows/state_ptr", lambda ptr: put(1, ptr[2])(ptr)),
        ("/rows/reward", put(3, np.nan)),
        ("/rows/reward", put(3, -np.inf)),
        ("/rows/action", put(0, 0)),
        ("/rows/action", put(0, 255)),
        ("/transitions/indptr", put(0, 1)),
        ("/transitions/indptr", put(1, -5)),
        ("/transitions/indptr", lambda ptr: put(1, ptr[2])(ptr)),
        ("/transitions/indptr", put(1, 10**12)),
        ("/transitions/indices", put(5, -1)),
        ("/transitions/indices", put(5, 10**9)),
        ("/transitions/data", put(5, -0.25)),
        ("/transitions/data", put(5, 1.25)),
        ("/transitions/data", put(5, np.nan)),
        ("/transitions/data", lambda data: data * 0.5),
        ("/solution/v", put(7, np.nan)),
        ("/solution/q", put(7, np.inf)),
    ],
)
def test_values_that_cannot_be(copies, name, damage):
    change(copies["agent"], name, damage)
    with named(copies["agent"], name):
        read(copies["agent"])


@pytest.mark.parametrize(
    ("sweeps", "field", "problem"),
    [
        (0, "/log/residual", "shape is"),
        (-1, "sweeps", "-1 is not allowed, it must be from 0"),
        (1000, "/log/residual", "shape is"),
    ],
)
def test_sweeps_that_the_log_does_not_have(copies, sweeps, field, problem):
    set_attribute(copies["agent"], "sweeps", sweeps)
    with named(copies["agent"], field, problem):
        load(copies["agent"])


@pytest.mark.parametrize("name", ["/log/rmse", "/log/choice_changes"])
def test_log_of_a_jacobi_run(game, tmp_path, name):
    path = tmp_path / "jacobi.h5"
    save(path, game.space, game.mdp, solve(game.mdp, method="jacobi", sweeps=4))
    change(path, name, lambda array: array[1:])
    with named(path, name, "shape is"):
        load(path).solution()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("/transitions/indptr", put(18, 0)),
        ("/transitions/indptr", put(18, 10**12)),
        ("/transitions/indices", put(slice(None), -1)),
        ("/transitions/indices", put(slice(None), 10**6)),
        ("/transitions/data", put(slice(None), 0.1)),
        ("/transitions/data", put(slice(None), np.nan)),
    ],
)
def test_one_row_is_checked_when_read_alone(copies, name, damage):
    change(copies["tensor"], name, damage)
    with named(copies["tensor"], "/transitions", "row 17"):
        load(copies["tensor"]).row(17)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (put((3, 0), -0.5), "a number is -0.5, allowed are those from 0"),
        (put((3, 0), np.nan), "not finite"),
        (put(3, 0.0), "add up to"),
        (put(3, 1 / 11), "not legal"),
    ],
)
def test_strategy_that_is_none(copies, game, damage, problem):
    change(copies["strategy"], "/strategy/p", damage)
    with pytest.raises(ReadError, match=rf"\A{re.escape(str(copies['strategy']))}: [^\n]*{problem}"):
        load(copies["strategy"]).policy(game.space)


@pytest.mark.parametrize(
    ("row", "problem"),
    [(-1, "a number is -1, allowed are those from 0"), (0, "is listed twice"), (10**6, "states must be rows from 0")],
)
def test_strategy_of_states_that_are_none(copies, game, row, problem):
    change(copies["strategy"], "/strategy/state", put(3, row))
    with pytest.raises(ReadError, match=problem):
        load(copies["strategy"]).policy(game.space)


@pytest.mark.parametrize("kind", ["agent", "strategy"])
def test_enemy_of_another_game(originals, game, kind):
    other = StateSpace(game.space.rules._replace(hp=1))
    with pytest.raises(
        ReadError, match=r"made for rules tiny, but the game's are house-\w+; they may differ in redeal"
    ):
        load(originals[kind]).policy(other)


@pytest.mark.parametrize("kind", ["agent", "strategy"])
def test_an_enemy_may_have_another_redeal(originals, game, kind):
    true = StateSpace(game.space.rules._replace(redeal="reshuffle"))
    file = load(originals[kind])
    assert np.array_equal(file.policy(true), file.policy(game.space))


def test_kinds_are_not_taken_for_each_other(originals, game):
    with pytest.raises(ReadError, match="is a tensor, allowed are agents and strategies"):
        load(originals["tensor"]).policy(game.space)
    with pytest.raises(PolicyError, match="is a strategy, only agents have values"):
        load(originals["strategy"]).policy(game.space, temperature=1.0)
    with named(originals["tensor"], "kind", "has no solution"):
        load(originals["tensor"]).solution()
    with named(originals["strategy"], "kind", "has no solution"):
        load(originals["strategy"]).solution()
    with named(originals["agent"], "kind", "a strategy is needed"):
        load(originals["agent"]).strategy()
    with pytest.raises(ReadError):
        load(originals["strategy"]).mdp()


def test_a_strategy_has_no_enemy(originals):
    with pytest.raises(ReadError):
        load(originals["strategy"]).enemy  # noqa: B018


def test_bytes_of_attributes_may_be_of_fixed_length(copies):
    note = json.dumps({"kind": "unknown"})
    set_attribute(copies["agent"], "enemy", np.bytes_(note))
    assert load(copies["agent"]).enemy == {"kind": "unknown"}


def test_an_older_file_against_naive_is_one_against_uniform_play(copies):
    set_attribute(copies["agent"], "enemy", json.dumps({"kind": "naive"}))
    assert load(copies["agent"]).enemy == {"kind": "built-in", "name": "random"}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (1.0, "is not two numbers"),
        ("20", "is not two numbers"),
        ([1, 2], "is not two numbers"),
        ([1.0, 2.0, 3.0], "is not two numbers"),
        ([np.nan, -1.0], "nan is not allowed, it must be from -1e+100 to 1e+100"),
        ([np.inf, -1.0], "inf is not allowed, it must be from -1e+100 to 1e+100"),
    ],
)
def test_terminal_values_that_are_none(copies, value, problem):
    set_attribute_of_any_kind(copies["agent"], "terminal_values", value)
    with named(copies["agent"], "terminal_values", re.escape(problem)):
        _ = load(copies["agent"]).terminal_values


def set_attribute_of_any_kind(path, name, value):
    """Write an attribute that was not there."""
    with editing(path) as file:
        file.attrs[name] = value


def test_terminals_of_an_agent_are_worth_what_they_pay_for_ever(copies):
    assert load(copies["agent"]).terminal_values == pytest.approx((20, -20), rel=1e-15)
    with named(copies["tensor"], "kind", "no solution"):
        _ = load(copies["tensor"]).terminal_values


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        *((text, "not a JSON object") for text in ("", "[1]", "null", "{", "[" * 50_000)),
        (7, "is not a JSON object"),
    ],
)
def test_origin_that_is_no_note(copies, value, problem):
    set_attribute_of_any_kind(copies["strategy"], "origin", value)
    with named(copies["strategy"], "origin", problem):
        _ = load(copies["strategy"]).origin


def test_origin_is_kept(game, tmp_path):
    save_policy(tmp_path / "a.h5", game.space, game.policy)
    assert load(tmp_path / "a.h5").origin is None
    save_policy(tmp_path / "b.h5", game.space, game.policy, origin={"method": "by hand", "seed": 3})
    assert load(tmp_path / "b.h5").origin == {"method": "by hand", "seed": 3}


def test_states_that_no_game_reaches(copies, game):
    """The first position with 1 HP each: it is lawful, but a game begins with 2."""
    first = game.space.state(0)._replace(own_hp=1, enemy_hp=1)
    load(copies["agent"]).must_have_states(game.space)
    change(copies["agent"], "/states/code", put(0, np.uint64(encode(game.space.layout, first))))
    for ask in (Artefact.must_have_states, Artefact.policy):
        with named(copies["agent"], "/states/code", "is not that of a game under rules tiny"):
            ask(load(copies["agent"]), game.space)


@pytest.mark.parametrize(
    ("name", "damage", "law"),
    [
        ("/transitions/data", put(5, 0.3), "the probabilities of .* add up to"),
        ("/transitions/reward", lambda reward: reward * np.nan, "a value is not finite"),
        ("/solution/q", lambda q: q * 3, "must be the largest `q` of each state"),
        ("/log/residual", put(0, -0.5), "a number is -0.5, allowed are those from 0"),
        ("/log/seconds", put(0, np.nan), "a number is not finite"),
    ],
)
def test_relations_that_do_not_hold(copies, name, damage, law):
    change(copies["agent"], name.replace("/transitions/reward", "/rows/reward"), damage)
    with pytest.raises(ReadError, match=rf"agent\.h5: (/solution/v|{name}): ({law})"):
        read(copies["agent"])


@pytest.mark.parametrize(
    "note", [{"kind": 3}, {"kind": "agent", "file": [1]}, {"kind": "agent", "file": "a", "temperature": "hot"}]
)
def test_enemy_of_another_type(copies, note):
    set_attribute(copies["agent"], "enemy", json.dumps(note))
    with named(copies["agent"], "enemy", "not a JSON object with a kind in words|is not a number above 0"):
        read(copies["agent"])


@pytest.mark.skipif(os.name == "nt", reason="needs a timer of POSIX systems")
def test_an_interrupt_waits_until_a_file_is_read(tmp_path, monkeypatch):
    space = StateSpace(PRESETS["tiny"])
    save(tmp_path / "a.h5", space, build(space))

    def read():
        load(tmp_path / "a.h5").mdp()

    read()
    duration = min(_seconds(read) for _ in range(5))
    # Garbage of other tests must not be finalized in between: an interrupt in a finalizer is lost.
    gc.collect()
    previous = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr("sys.unraisablehook", lambda lost: swallowed.append(lost.exc_value))
    generator, swallowed, interrupted = random.Random(1), [], 0
    try:
        # How many come in time depends on how busy the machine is.
        for _ in range(2000):
            # Anything else than an interrupt, such as an error of a file that cannot be read, fails here.
            try:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-4, duration))
                read()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if interrupted == 50:
                break
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert swallowed == []
    assert interrupted == 50


def _seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
