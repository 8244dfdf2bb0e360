"""The notebook's files: nothing is lost on the way there and back, and nothing wrong is believed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from exact import random_table
from houses import house_rules
from hypothesis import given, settings
from hypothesis import strategies as st

from punish_fast.mdp.solver import SolveError, solve
from punish_fast.punish.decimals import decimals_of
from punish_fast.punish.rules import PRESETS
from punish_fast.punish.space import StateSpace
from punish_fast.punish.strategy import StrategyTable, naive
from punish_fast.punish.transitions import build
from punish_fast.store import notebook
from punish_fast.store.files import OutputError, ReadError
from punish_fast.store.notebook import Values, content_of, export_notebook, import_notebook, read_notebook
from punish_fast.store.reader import load
from punish_fast.store.writer import save

# Rush and strike in hand, punish revealed, all HP.
KNOWN = "101010200220000001"


@pytest.fixture
def values(game):
    return Values(game.solution.q, (20.0, -20.0))


@pytest.fixture
def written(game, values, tmp_path):
    """Values as a Python object, and where they stand as a file."""
    path = tmp_path / "q.json"
    export_notebook(path, game.space, values)
    return json.loads(path.read_text()), path


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_state_and_action_has_its_value(game, written):
    content, _ = written
    space = game.space
    assert list(content)[:-2] == [str(decimal) for decimal in decimals_of(space).tolist()]
    assert content["-1"] == {"90": 20.0}
    assert content["-2"] == {"90": -20.0}
    for row, actions in zip(range(space.n_states), content.values(), strict=False):
        rows = slice(*space.state_ptr[row : row + 2])
        assert list(actions) == [str(action) for action in space.action[rows]]
        assert list(actions.values()) == game.solution.q[rows].tolist()


def test_values_come_back_to_the_bit(game, values, written):
    back = read_notebook(written[1], game.space)
    assert isinstance(back, Values)
    assert back.q.tobytes() == values.q.tobytes()
    assert back.terminals == values.terminals


@given(
    st.lists(st.floats(-19.9, 19.9, allow_subnormal=True), min_size=1, max_size=20),
    st.floats(0, 20),
    st.floats(-20, -1e-300),
)
@settings(max_examples=10)
def test_all_numbers_come_back_to_the_bit(tmp_path_factory, numbers, win, loss):
    space = StateSpace(PRESETS["tiny"])
    path = tmp_path_factory.mktemp("numbers") / "q.json"
    q = np.resize(numbers, len(space.action))
    export_notebook(path, space, Values(q, (win, loss)))
    back = read_notebook(path, space)
    assert back.q.tobytes() == q.tobytes()
    assert back.terminals == (win, loss)


@settings(max_examples=8)
@given(house_rules(), st.integers(0, 99), st.floats(0, 1))
def test_strategies_of_house_rules_come_back_to_the_bit(tmp_path_factory, rules, seed, covered):
    space = StateSpace(rules)
    table = random_table(space, seed, covered)
    path = tmp_path_factory.mktemp("house") / "some.json"
    export_notebook(path, space, table)
    back = read_notebook(path, space)
    assert isinstance(back, StrategyTable)
    assert (back.state.tobytes(), back.p.tobytes()) == (table.state.tobytes(), table.p.tobytes())
    assert (back.name, back.rules_digest) == ("some", rules.digest)


def test_a_strategy_has_all_legal_actions_of_the_states_it_covers(game, tmp_path):
    table = random_table(game.space, 3)
    export_notebook(tmp_path / "s.json", game.space, table)
    content = json.loads((tmp_path / "s.json").read_text())
    assert [int(key) for key in content] == decimals_of(game.space, table.state).tolist()
    for state, actions in zip(table.state.tolist(), content.values(), strict=True):
        rows = slice(*game.space.state_ptr[state : state + 2])
        assert [int(action) for action in actions] == game.space.action[rows].tolist()


def test_the_naive_enemy_is_an_empty_object(game, tmp_path):
    export_notebook(tmp_path / "naive.json", game.space, naive())
    assert json.loads((tmp_path / "naive.json").read_text()) == {}
    assert read_notebook(tmp_path / "naive.json", game.space).is_naive


def test_agents_come_back_from_the_notebook(game, tmp_path):
    save(tmp_path / "a.h5", game.space, game.mdp, game.solution)
    export_notebook(tmp_path / "a.json", game.space, content_of(load(tmp_path / "a.h5"), game.space))
    assert isinstance(import_notebook(tmp_path / "a.json", tmp_path / "b.h5", game.space.rules), Values)
    first, second = load(tmp_path / "a.h5"), load(tmp_path / "b.h5")
    assert second.solution().fingerprint == first.solution().fingerprint
    assert second.solution().q.tobytes() == first.solution().q.tobytes()
    assert np.array_equal(second.solution().choice, first.solution().choice)
    assert np.array_equal(second.code, first.code)
    assert second.enemy == {"kind": "unknown", "imported_from": "a.json"}
    assert second.solution().error_bound == np.inf
    assert np.isnan(second.rows[2]).all()
    assert not second.has_transitions
    export_notebook(tmp_path / "b.json", game.space, content_of(second, game.space))
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_an_imported_agent_plays_and_starts_others(game, written, tmp_path):
    import_notebook(written[1], tmp_path / "b.h5", game.space.rules)
    file = load(tmp_path / "b.h5")
    answer = solve(build(game.space, file.table(game.space)))
    assert answer.converged
    again = solve(game.mdp, start=file.solution_for(game.space.rules).v)
    assert again.sweeps <= game.solution.sweeps


@pytest.mark.parametrize("sweeps", [1, 2, 17])
def test_terminals_of_published_sweeps_are_worth_what_they_were(game, tmp_path, sweeps):
    """After ``n`` sweeps that begin with the reward, a win is worth ``1 + g + ... + g^n``."""
    save(tmp_path / "a.h5", game.space, game.mdp, solve(game.mdp, schedule="jacobi", sweeps=sweeps))
    win, loss = load(tmp_path / "a.h5").terminal_values
    assert win == pytest.approx((1 - 0.95 ** (sweeps + 1)) / 0.05, rel=1e-14)
    assert loss == -win
    export_notebook(tmp_path / "a.json", game.space, content_of(load(tmp_path / "a.h5"), game.space))
    import_notebook(tmp_path / "a.json", tmp_path / "b.h5", game.space.rules)
    assert load(tmp_path / "b.h5").terminal_values == (win, loss)


@pytest.mark.parametrize("schedule", ["layered", "jacobi"])
def test_undiscounted_agents_come_back(game, tmp_path, schedule):
    save(tmp_path / "a.h5", game.space, game.mdp, solve(game.mdp, discount=1, schedule=schedule, tolerance=1e-6))
    content = content_of(load(tmp_path / "a.h5"), game.space)
    assert content.terminals == (1.0, -1.0)
    export_notebook(tmp_path / "a.json", game.space, content)
    import_notebook(tmp_path / "a.json", tmp_path / "b.h5", game.space.rules, discount=1)
    assert load(tmp_path / "b.h5").solution().q.tobytes() == content.q.tobytes()
    assert load(tmp_path / "b.h5").attributes["objective"] == "undiscounted"


def test_strategies_come_back_from_the_notebook(game, tmp_path):
    export_notebook(tmp_path / "soft.json", game.space, game.strategy)
    assert isinstance(import_notebook(tmp_path / "soft.json", tmp_path / "soft.h5", game.space.rules), StrategyTable)
    assert load(tmp_path / "soft.h5").origin == {"method": "imported", "file": "soft.json"}
    state, p = load(tmp_path / "soft.h5").strategy()
    assert (state.tobytes(), p.tobytes()) == (game.strategy.state.tobytes(), game.strategy.p.tobytes())


@pytest.mark.parametrize("indent", [None, 0, 4])
def test_any_layout_and_order_is_read(game, values, written, indent, tmp_path):
    content, _ = written
    shuffled = dict(reversed([(key, dict(reversed(actions.items()))) for key, actions in content.items()]))
    path = write(tmp_path / "x.json", "\n " + json.dumps(shuffled, indent=indent) + "\t\n")
    assert read_notebook(path, game.space).q.tobytes() == values.q.tobytes()


@pytest.mark.parametrize("size", [97, 128, 1000, 4096])
def test_pieces_of_any_size_make_the_same_whole(game, values, written, size, monkeypatch):
    monkeypatch.setattr(notebook, "_PIECE", size)
    assert read_notebook(written[1], game.space).q.tobytes() == values.q.tobytes()
    pretty = write(written[1].with_name("pretty.json"), json.dumps(written[0], indent=1).replace("},", "}\n ,"))
    assert read_notebook(pretty, game.space).q.tobytes() == values.q.tobytes()


def test_whole_numbers_are_numbers(game, written, tmp_path):
    content, _ = written
    content[KNOWN]["20"] = 3
    q = read_notebook(write(tmp_path / "x.json", content), game.space).q
    assert 3.0 in q


@pytest.mark.parametrize("kind", [None, "strategy"])
def test_a_strategy_may_hold_the_terminals(game, tmp_path, kind):
    content = {"-1": {"90": 1.0}, KNOWN: {"20": 1}, "-2": {"90": 1}}
    table = read_notebook(write(tmp_path / "x.json", content), game.space, kind)
    assert table.p.tolist() == [[0, 0, 1.0, *[0] * 8]]


def changed(*path_and_value):
    """Content with a value put somewhere, or taken away if it is None."""

    def change(content):
        *path, last, value = path_and_value
        for key in path:
            content = content[key]
        if value is None:
            del content[last]
        else:
            content[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (changed(KNOWN, None), f"state {KNOWN}: action 20: missing"),
        (changed(KNOWN, "41", None), f"state {KNOWN}: action 41: missing"),
        (changed(KNOWN, {}), f"state {KNOWN}: action 20: missing"),
        (changed(KNOWN, "10", 1.0), f"state {KNOWN}: action 10 is not legal there"),
        (changed(KNOWN, "90", 0.0), f"state {KNOWN}: action 90 is not legal there"),
        (changed(KNOWN, "60", 1.0), f"state {KNOWN}: action '60', allowed are 10, 11, 20"),
        (changed(KNOWN, "rush", 1.0), f"state {KNOWN}: action 'rush', allowed are 10"),
        (changed(KNOWN, "20", "1.0"), f"state {KNOWN}: action 20: '1.0' is no finite number"),
        (changed(KNOWN, "20", True), f"state {KNOWN}: action 20: True is no finite number"),
        (changed(KNOWN, "20", [1.0]), f"state {KNOWN}: action 20: [1.0] is no finite number"),
        (changed(KNOWN, "20", {"x": 1}), f"state {KNOWN}: action 20: an object is no finite number"),
        (changed(KNOWN, "20", 20.1), f"state {KNOWN}: action 20: 20.1, allowed are -20 to 20 at discount 0.95"),
        (changed(KNOWN, 1.0), f"state {KNOWN}: 1.0 is no object"),
        (changed(KNOWN, [["20", 1.0]]), f"state {KNOWN}: [['20', 1.0]] is no object"),
        (changed("999999999999999999", {"90": 1.0}), "more than the 558 states"),
        (changed("10", {"90": 1.0}), "state '10': allowed are 18 digits, and -1 and -2"),
        (changed("+01010200220000001", {"90": 1.0}), "state '+01010200220000001': allowed are 18 digits"),
        (changed("\uff1101010200220000001", {"90": 1.0}), "allowed are 18 digits"),
        (changed("-3", {"90": 1.0}), "state '-3': allowed are"),
        (changed("x" * 10_000, {"90": 1.0}), "allowed are 18 digits"),
        (changed("-1", None), "state -1: missing"),
        (changed("-1", "90", -21.0), "state -1: action 90: -21.0, allowed are -20 to 20"),
        (changed("-1", {"10": 1.0}), "state -1: allowed is an object with the action 90 alone"),
        (changed("-1", {}), "state -1: allowed is an object"),
        (changed("-1", 20.0), "state -1: allowed is an object"),
        (changed("-1", "90", "x"), "state -1: action 90: 'x' is no finite number"),
        (changed("-2", "90", 0.5), "state -1: action 90: 20.0, allowed is 1 in a strategy"),
    ],
)
def test_what_does_not_fit_is_named(game, written, tmp_path, change, text):
    content, _ = written
    change(content)
    with pytest.raises(ReadError) as caught:
        read_notebook(write(tmp_path / "x.json", content), game.space)
    assert str(caught.value).startswith(f"{tmp_path / 'x.json'}: ")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_state_that_no_game_reaches_is_named(game, written, tmp_path):
    content, _ = written
    content["101010200220000002"] = content.pop(KNOWN)
    with pytest.raises(ReadError, match="state 101010200220000002: no game by these rules reaches it"):
        read_notebook(write(tmp_path / "x.json", content), game.space)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'{{"{KNOWN}":{{"20":0.5,"20":0.5}}}}', f"state {KNOWN}: action 20 stands twice"),
        (f'{{"{KNOWN}":{{"20":1}},"{KNOWN}":{{"20":1}}}}', f"state {KNOWN} stands twice"),
        ('{"-1":{"90":1},"-1":{"90":1}}', "state -1 stands twice"),
        (f'{{"{KNOWN}":{{"20":1e999}}}}', f"state {KNOWN}: action 20: inf is no finite number"),
        (f'{{"{KNOWN}":{{"20":{"9" * 5000}}}}}', f"state {KNOWN}: action 20: inf is no finite number"),
        (f'{{"{KNOWN}":{{"20":NaN}}}}', "not JSON near byte 0 (NaN is no JSON)"),
        (f'{{"{KNOWN}":{{"20":-Infinity}}}}', "-Infinity is no JSON"),
        (f'{{"{KNOWN}":{{"20":0.9}}}}', f"state {KNOWN} has probabilities that add up to 0.9"),
        (f'{{"{KNOWN}":{{"20":2,"21":-1}}}}', f"state {KNOWN} has a probability below 0"),
        (f'{{"{KNOWN}":{{"50":1}}}}', f"state {KNOWN} plays 50, which is not legal there"),
        (f'{{"{KNOWN}":{{"20":1}},}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}}}}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}}} {{}}', "not JSON"),
        (f"{{'{KNOWN}':1}}", "not JSON"),
        ("", "not JSON, Expecting value near byte 0"),
        ("   ", "not JSON"),
        ("null", "allowed is an object of states"),
        ("[]", "allowed is an object of states"),
        ('[{"a":1}]', "allowed is an object of states"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
)
@pytest.mark.parametrize("piece", [40, 1 << 18])
def test_what_is_no_such_json_is_refused(game, tmp_path, text, problem, piece, monkeypatch):
    whole = piece == 1 << 18
    monkeypatch.setattr(notebook, "_PIECE", piece)
    path = tmp_path / "x.json"
    path.write_bytes(text.encode())
    with pytest.raises(ReadError) as caught:
        read_notebook(path, game.space)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert not whole or problem in str(caught.value)


def test_bytes_that_are_no_text_are_refused(game, tmp_path):
    (tmp_path / "x.json").write_bytes(b'{"\xff\xfe":1}')
    with pytest.raises(ReadError, match="not JSON near byte 0"):
        read_notebook(tmp_path / "x.json", game.space)


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_refused_or_says_the_same(game, written, tmp_path, seed, monkeypatch):
    """Whatever is read from a file is what a JSON library reads, in pieces or not."""
    monkeypatch.setattr(notebook, "_PIECE", 997)
    generator = np.random.default_rng(seed)
    text = bytearray(written[1].read_bytes())
    where = int(generator.integers(len(text)))
    match seed % 4:
        case 0:
            del text[where:]
        case 1:
            text[where] = generator.integers(256)
        case 2:
            del text[where : where + int(generator.integers(1, 40))]
        case 3:
            text[where:where] = b'{}[],:"0e-'[generator.integers(10) :]
    path = tmp_path / "x.json"
    path.write_bytes(text)
    try:
        back = read_notebook(path, game.space, "agent")
    except ReadError:
        return
    content = json.loads(text)
    numbers = [number for key, actions in content.items() if key[0] != "-" for number in actions.values()]
    assert sorted(back.q.tolist()) == sorted(numbers)


def test_a_file_of_too_many_states_is_left_early(game, tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "_PIECE", 1000)
    text = ",".join(f'"{10**17 + k}":{{"90":1}}' for k in range(2000))
    (tmp_path / "x.json").write_text("{" + text + ", and no JSON from here")
    with pytest.raises(ReadError, match="more than the 558 states that the game has"):
        read_notebook(tmp_path / "x.json", game.space)


def test_a_file_without_states_is_left_early(game, tmp_path):
    (tmp_path / "x.json").write_text("{" + " " * (1 << 20) + "}")
    with pytest.raises(ReadError, match="none ends in the 65536 bytes before"):
        read_notebook(tmp_path / "x.json", game.space)


@pytest.mark.parametrize("name", ["no.json", ".", "a\0b"])
def test_what_is_no_file_is_refused(game, tmp_path, name):
    with pytest.raises(ReadError, match=r"there is no such file|cannot be read"):
        read_notebook(tmp_path / name, game.space)


def test_values_of_another_discount_have_other_bounds(game, written):
    with pytest.raises(ReadError, match=r"allowed are -10 to 10 at discount 0\.9"):
        read_notebook(written[1], game.space, discount=0.9)
    assert read_notebook(written[1], game.space, discount=0.99).terminals == (20.0, -20.0)
    with pytest.raises(ReadError, match="allowed are -1 to 1 at discount 1"):
        read_notebook(written[1], game.space, discount=1)
    with pytest.raises(SolveError, match=r"discount: 1\.1 is not allowed"):
        read_notebook(written[1], game.space, discount=1.1)


def test_values_of_another_game_are_refused(game, written, tmp_path):
    other = StateSpace(PRESETS["tiny"]._replace(copies=(0, 2, 1, 2, 2)))
    with pytest.raises(ReadError, match=r"x\.json: |q\.json: "):
        read_notebook(written[1], other)
    with pytest.raises(ValueError, match="shape of the values"):
        export_notebook(tmp_path / "x.json", game.space, Values(np.zeros(3), (1.0, -1.0)))
    with pytest.raises(ValueError, match="a strategy for rules"):
        export_notebook(tmp_path / "x.json", other, game.strategy)
    assert not (tmp_path / "x.json").exists()


def test_nothing_is_written_of_a_file_that_is_refused(game, tmp_path):
    write(tmp_path / "x.json", {"1": {}})
    (tmp_path / "x.h5").write_bytes(b"old")
    with pytest.raises(ReadError):
        import_notebook(tmp_path / "x.json", tmp_path / "x.h5", game.space.rules)
    assert (tmp_path / "x.h5").read_bytes() == b"old"
    with pytest.raises(OutputError):
        export_notebook(tmp_path / "no" / "x.json", game.space, naive())


@pytest.mark.full
def test_values_of_the_whole_notebook_come_back_to_the_bit(notebook, tmp_path):
    q = np.random.default_rng(1).uniform(-20, 20, len(notebook.action))
    export_notebook(tmp_path / "q.json", notebook, Values(q, (20.0, -20.0)))
    assert read_notebook(tmp_path / "q.json", notebook).q.tobytes() == q.tobytes()
