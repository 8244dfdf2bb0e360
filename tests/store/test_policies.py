import h5py
import numpy as np
import pytest
from policies import mixed

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.mdp.arrays.policy import PolicyError, first_best
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import to_finer_model
from punish_fast.runtime.errors import OutputError, ReadError
from punish_fast.store.bundles import header_of, load_bundle, save_bundle
from punish_fast.store.checksum import seal
from punish_fast.store.policies import save_policy
from punish_fast.store.reader import load

RULES = PRESETS["tiny"]._replace(redeal="reshuffle")


@pytest.fixture(scope="module")
def memory():
    return StateSpace(RULES, "memory")


def test_a_policy_of_a_finer_model_is_rounded_within_the_bound(tmp_path, memory):
    policy, enemy = mixed(memory, 1), mixed(memory, 2)
    save_policy(tmp_path / "a.h5", memory, policy)
    file = load(tmp_path / "a.h5")
    assert (file.kind, file.information) == ("strategy", "memory")
    found = file.policy(memory)
    off = np.add.reduceat(np.abs(found - policy), memory.state_ptr[:-1])
    n_actions = np.diff(memory.state_ptr)
    assert (off <= n_actions / 65535).all()
    assert off.max() > 0
    graph = GameGraph(memory)
    one, other = head_to_head(graph, policy, enemy), head_to_head(graph, found, enemy)
    assert abs(one.win_probability - other.win_probability) <= 11 * one.length / 65535


def test_what_is_not_reached_plays_alike_and_is_compressed(tmp_path, memory):
    policy = mixed(memory, 1)
    reached = np.arange(memory.n_states) % 3 > 0
    save_policy(tmp_path / "a.h5", memory, policy, support=reached)
    found = load(tmp_path / "a.h5").policy(memory)
    lengths = np.diff(memory.state_ptr)
    kept = np.repeat(reached, lengths)
    assert np.array_equal(found[~kept], np.repeat(1 / lengths, lengths)[~kept])
    assert found[kept] == pytest.approx(policy[kept], abs=1e-3)
    # What is compressed may be larger than its file.
    rules = PRESETS["tabletop"]._replace(copies=(2, 2, 2, 2, 2), hand_size=3, reveal_size=2, hp=1, breaths=2)
    space = StateSpace(rules, "memory")
    policy, path = mixed(space, 1), tmp_path / "a.h5"
    save_policy(path, space, policy, support=np.arange(space.n_states) == 0)
    assert path.stat().st_size < 2 * len(space.action)
    found = load(path).policy(space)
    lengths = np.diff(space.state_ptr)
    assert found[lengths[0] :] == pytest.approx(np.repeat(1 / lengths, lengths)[lengths[0] :], abs=1e-15)
    assert found[: lengths[0]] == pytest.approx(policy[: lengths[0]], abs=1e-3)


def test_policies_of_other_models_are_lifted_or_refused(tmp_path, memory):
    path = tmp_path / "a.h5"
    save_policy(path, memory, mixed(memory, 1))
    with pytest.raises(ReadError, match=r"a\.h5: information model memory; it must be memoryless here"):
        load(path).policy(StateSpace(RULES))
    space = StateSpace(RULES)
    policy = mixed(space, 3)
    save_policy(tmp_path / "a.h5", space, policy)
    assert np.array_equal(load(tmp_path / "a.h5").policy(memory), to_finer_model(memory, space, policy))


def test_what_is_no_policy_is_not_written(tmp_path, memory):
    policy = mixed(memory, 1)
    for wrong, message in (
        (policy[:3], r"policy: float64 \(3,\); it must be"),
        (2 * policy, "policy: the probabilities of state 0 do not add up to 1"),
        (policy - 0.1, "policy: a probability is below 0 or not a number"),
    ):
        with pytest.raises(PolicyError, match=message):
            save_policy(tmp_path / "a.h5", memory, wrong)
    assert not list(tmp_path.iterdir())


def test_a_response_is_kept_with_the_strategy(tmp_path, memory):
    for space in (StateSpace(RULES), memory):
        policy = mixed(space, 1)
        response = np.zeros(len(policy))
        response[first_best(space.state_ptr, mixed(space, 2))] = 1.0
        save_policy(tmp_path / "a.h5", space, policy, response=response)
        assert np.array_equal(load(tmp_path / "a.h5").response(space), response)
    # It is of no use under another model.
    assert load(tmp_path / "a.h5").response(StateSpace(RULES)) is None
    save_policy(tmp_path / "b.h5", memory, policy)
    assert load(tmp_path / "b.h5").response(memory) is None


def test_a_response_with_actions_that_are_not_there_is_refused(tmp_path, memory, monkeypatch):
    wrong = np.full(memory.n_states, 11) + memory.state_ptr[:-1]
    monkeypatch.setattr("punish_fast.store.policies.first_best", lambda *_: wrong)
    save_policy(tmp_path / "a.h5", memory, mixed(memory, 1), response=mixed(memory, 1))
    with pytest.raises(ReadError, match="/response/choice: an action is not legal in its state"):
        load(tmp_path / "a.h5").response(memory)


HEADER = {"game": {"name": "a game"}, "seed": 2**60}
LAYOUTS = {"thing": {"q": ("float64", 2), "policy": ("float16", 3)}}


def arrays():
    generator = np.random.default_rng(1)
    return {"q": generator.random((2, 7)), "policy": generator.random((2, 3, 4)).astype(np.float16)}


@pytest.fixture
def path(tmp_path):
    save_bundle(tmp_path / "x.h5", "thing", HEADER, arrays())
    return tmp_path / "x.h5"


def test_round_trip(path):
    found = load_bundle(path, LAYOUTS)
    assert found.header == header_of(path) == {"kind": "thing"} | HEADER
    for name, array in arrays().items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)


def put(name, array, **options):
    def edit(file):
        del file[name]
        file.create_dataset(name, data=array, **options)

    return edit


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_arrays_that_another_program_compressed_are_read(path, compression):
    with h5py.File(path, "r+") as file:
        put("/arrays/q", np.ones((9, 2270)), compression=compression)(file)
    seal(path)
    assert np.array_equal(load_bundle(path, LAYOUTS).arrays["q"], np.ones((9, 2270)))


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda file: file.attrs.modify("kind", "tensors"), "kind: 'tensors' is unknown"),
        (lambda file: file.attrs.modify("header", "{"), "header: is not a JSON object"),
        (lambda file: file.attrs.modify("header", '{"kind": "other"}'), "kind: 'other'; it must be thing"),
        (lambda file: file.attrs.modify("header", '{"kind": ["thing"]}'), "kind: .*; it must be thing"),
        (lambda file: file.pop("/arrays/q"), "/arrays/q: missing"),
        (lambda file: file.pop("/arrays"), "/arrays/q: missing"),
        (put("/arrays/q", np.zeros((2, 7), np.float32)), "/arrays/q: dtype is float32; it must be float64"),
        (put("/arrays/q", np.zeros(7)), r"/arrays/q: shape is \(7,\); it must be i x j"),
        (put("/arrays/q", None, shape=(1 << 20, 1 << 20), dtype="f8"), "/arrays/q: shape is .*, larger than the file"),
        (put("/arrays/q", np.full((2, 7), np.inf)), "/arrays/q: a number is not finite"),
    ],
)
def test_what_is_not_a_bundle_is_refused_with_the_name_of_the_field(path, edit, text):
    with h5py.File(path, "r+") as file:
        edit(file)
    seal(path)
    with pytest.raises(ReadError, match=rf"x\.h5: {text}"):
        load_bundle(path, LAYOUTS)


def test_other_files_are_refused(originals, path, tmp_path):
    with pytest.raises(ReadError, match=r"agent\.h5: is of kind 'agent', for Punish"):
        load_bundle(originals["agent"], LAYOUTS)
    with pytest.raises(ReadError, match="no such file"):
        load_bundle(tmp_path / "none.h5", LAYOUTS)
    with pytest.raises(ReadError, match=r"x\.h5: is a .* of .*, not a file of Punish"):
        load(path)


def test_a_bundle_is_written_whole_or_not_at_all(path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr("punish_fast.store.writer.seal", lambda _path: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save_bundle(path, "thing", {}, {"q": np.ones((1, 1))})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(OutputError, match="there is no folder"):
        save_bundle(path / "nowhere" / "x.h5", "thing", {}, {})
