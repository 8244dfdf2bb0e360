"""What a file of the notebook says fits the game, or is named."""

import json

import numpy as np
import pytest

from punish_fast.mdp.model.limits import SolveError
from punish_fast.runtime.errors import ReadError
from punish_fast.store.formats.notebook_json import read_notebook
from store.conftest import KNOWN, write


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
        (changed(KNOWN, "10", 1.0), f"state {KNOWN}: action 10 is not legal there"),
        (changed(KNOWN, "90", 0.0), f"state {KNOWN}: action 90 is not legal there"),
        (changed(KNOWN, "60", 1.0), f"state {KNOWN}: action '60'; actions are 10, 11, 20"),
        (changed(KNOWN, "20", "1.0"), f"state {KNOWN}: action 20: '1.0' is not a finite number"),
        (changed(KNOWN, "20", True), f"state {KNOWN}: action 20: True is not a finite number"),
        (changed(KNOWN, "20", {"x": 1}), f"state {KNOWN}: action 20: an object is not a finite number"),
        (changed(KNOWN, "20", 20.1), f"state {KNOWN}: action 20: 20.1; it must be from -20 to 20 at discount 0.95"),
        (changed(KNOWN, [["20", 1.0]]), f"state {KNOWN}: [['20', 1.0]] is not an object"),
        (changed("999999999999999999", {"90": 1.0}), "but the game has only 558"),
        (changed("10", {"90": 1.0}), "state '10': must be 18 digits, or -1 or -2"),
        (changed("+01010200220000001", {"90": 1.0}), "state '+01010200220000001': must be 18 digits"),
        (changed("\uff1101010200220000001", {"90": 1.0}), "must be 18 digits"),
        (changed("x" * 10_000, {"90": 1.0}), "must be 18 digits"),
        (changed("-1", None), "state -1: missing"),
        (changed("-1", "90", -21.0), "state -1: action 90: -21.0; it must be from -20 to 20"),
        (changed("-1", {"10": 1.0}), "state -1: must be an object with only the action 90"),
        (changed("-1", 20.0), "state -1: must be an object"),
        (changed("-1", "90", "x"), "state -1: action 90: 'x' is not a finite number"),
        (changed("-2", "90", 0.5), "state -1: action 90: 20.0; it must be 1 in a strategy"),
    ],
)
def test_what_does_not_fit_is_named(game, written, tmp_path, change, text):
    content, _ = written
    change(content)
    refused(write(tmp_path / "x.json", content), text, game.space)


def refused(path, text, space):
    with pytest.raises(ReadError) as caught:
        read_notebook(path, space)
    assert str(caught.value).startswith(f"{path}: ")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_state_that_no_game_reaches_is_named_and_whole_numbers_are_read(game, written, tmp_path):
    content, _ = written
    content[KNOWN]["20"] = 3
    assert 3.0 in read_notebook(write(tmp_path / "x.json", content), game.space).q
    content["101010200220000002"] = content.pop(KNOWN)
    refused(
        write(tmp_path / "x.json", content),
        "state 101010200220000002: no game under these rules reaches it",
        game.space,
    )


def test_a_strategy_may_hold_the_terminals(game, tmp_path):
    content = {"-1": {"90": 1.0}, KNOWN: {"20": 1}, "-2": {"90": 1}}
    found = read_notebook(write(tmp_path / "x.json", content), game.space)
    (state,) = np.flatnonzero(found.support)
    rows = slice(*game.space.state_ptr[state : state + 2])
    assert dict(zip(game.space.action[rows], found.policy[rows], strict=True)) == {20: 1, 21: 0, 40: 0, 41: 0}


def test_what_is_no_such_json_is_refused(game, tmp_path):
    path = tmp_path / "x.json"
    for text, problem in (
        (f'{{"{KNOWN}":{{"20":0.5,"20":0.5}}}}', "not JSON, '20' appears twice in an object"),
        (f'{{"{KNOWN}":{{"20":1}},"{KNOWN}":{{"20":1}}}}', f"not JSON, '{KNOWN}' appears twice in an object"),
        ('{"-1":{"90":1},"-1":{"90":1}}', "not JSON, '-1' appears twice in an object"),
        (f'{{"{KNOWN}":{{"20":1e999}}}}', f"state {KNOWN}: action 20: inf is not a finite number"),
        (f'{{"{KNOWN}":{{"20":NaN}}}}', "not JSON, NaN is not allowed"),
        (f'{{"{KNOWN}":{{"20":-Infinity}}}}', "-Infinity is not allowed"),
        (f'{{"{KNOWN}":{{"20":0.9}}}}', f"state {KNOWN} has probabilities that add up to 0.9"),
        (f'{{"{KNOWN}":{{"20":2,"21":-1}}}}', f"state {KNOWN} has a negative or non-finite probability"),
        (f'{{"{KNOWN}":{{"50":1}}}}', f"state {KNOWN} plays 50, which is not legal there"),
        (f'{{"{KNOWN}":{{"20":1}},}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}}}}}', "not JSON"),
        (f'{{"{KNOWN}":{{"20":1}}}} {{}}', "not JSON"),
        (f"{{'{KNOWN}':1}}", "not JSON"),
        ("", "not JSON, Expecting value: line 1 column 1"),
        ("null", "must be one object of states"),
        ("[]", "must be one object of states"),
        ("[" * 100_000, "not JSON"),
        ("\ufeff{}", "not JSON"),
        ("[" * 600_000, "larger than 560,000 bytes, which is too much for the states of the game"),
    ):
        path.write_bytes(text.encode())
        refused(path, problem, game.space)
    path.write_bytes(b'{"\xff\xfe":1}')
    refused(path, "not JSON, 'utf-8' codec", game.space)
    refused(tmp_path, "is a folder", game.space)


@pytest.mark.parametrize("indent", [None, 4])
def test_any_layout_and_order_is_read(game, values, written, indent, tmp_path):
    content, _ = written
    shuffled = dict(reversed([(key, dict(reversed(actions.items()))) for key, actions in content.items()]))
    path = write(tmp_path / "x.json", "\n " + json.dumps(shuffled, indent=indent) + "\t\n")
    assert read_notebook(path, game.space).q.tobytes() == values.q.tobytes()


def test_values_of_another_discount_have_other_bounds(game, written):
    with pytest.raises(ReadError, match=r"it must be from -10 to 10 at discount 0\.9"):
        read_notebook(written[1], game.space, discount=0.9)
    assert read_notebook(written[1], game.space, discount=0.99).terminals == (20.0, -20.0)
    with pytest.raises(ReadError, match="it must be from -1 to 1 at discount 1"):
        read_notebook(written[1], game.space, discount=1)
    with pytest.raises(SolveError, match=r"discount: 1\.1 is not allowed"):
        read_notebook(written[1], game.space, discount=1.1)
