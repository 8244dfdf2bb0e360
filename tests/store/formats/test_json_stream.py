"""Whatever is read in pieces is what a JSON library reads, and nothing else is read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from punish_fast.runtime.files import ReadError
from punish_fast.store.formats import json_stream
from punish_fast.store.formats.notebook_json import read_notebook
from store.conftest import KNOWN, write


@pytest.mark.parametrize("indent", [None, 0, 4])
def test_any_layout_and_order_is_read(game, values, written, indent, tmp_path):
    content, _ = written
    shuffled = dict(reversed([(key, dict(reversed(actions.items()))) for key, actions in content.items()]))
    path = write(tmp_path / "x.json", "\n " + json.dumps(shuffled, indent=indent) + "\t\n")
    assert read_notebook(path, game.space).q.tobytes() == values.q.tobytes()


@pytest.mark.parametrize("size", [97, 128, 1000, 4096])
def test_pieces_of_any_size_make_the_same_whole(game, values, written, size, monkeypatch):
    monkeypatch.setattr(json_stream, "_PIECE", size)
    assert read_notebook(written[1], game.space).q.tobytes() == values.q.tobytes()
    pretty = write(written[1].with_name("pretty.json"), json.dumps(written[0], indent=1).replace("},", "}\n ,"))
    assert read_notebook(pretty, game.space).q.tobytes() == values.q.tobytes()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f'{{"{KNOWN}":{{"20":0.5,"20":0.5}}}}', f"state {KNOWN}: action 20 appears twice"),
        (f'{{"{KNOWN}":{{"20":1}},"{KNOWN}":{{"20":1}}}}', f"state {KNOWN} appears twice"),
        ('{"-1":{"90":1},"-1":{"90":1}}', "state -1 appears twice"),
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
        ("null", "allowed is one object of states"),
        ("[]", "allowed is one object of states"),
        ('[{"a":1}]', "allowed is one object of states"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
)
@pytest.mark.parametrize("piece", [40, 1 << 18])
def test_what_is_no_such_json_is_refused(game, tmp_path, text, problem, piece, monkeypatch):
    whole = piece == 1 << 18
    monkeypatch.setattr(json_stream, "_PIECE", piece)
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
    monkeypatch.setattr(json_stream, "_PIECE", 997)
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
        back = read_notebook(path, game.space)
    except ReadError:
        return
    content = json.loads(text)
    numbers = [number for key, actions in content.items() if key[0] != "-" for number in actions.values()]
    assert sorted(back.q.tolist()) == sorted(numbers)


def test_a_file_without_states_is_left_early(game, tmp_path):
    (tmp_path / "x.json").write_text("{" + " " * (1 << 20) + "}")
    with pytest.raises(ReadError, match="none ends in the 65536 bytes before"):
        read_notebook(tmp_path / "x.json", game.space)


@pytest.mark.parametrize(
    ("name", "text"), [("no.json", "there is no such file"), (".", "is a folder"), ("a\0b", "there is no such file")]
)
def test_what_is_no_file_is_refused(game, tmp_path, name, text):
    with pytest.raises(ReadError, match=text):
        read_notebook(tmp_path / name, game.space)
