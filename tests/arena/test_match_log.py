from __future__ import annotations

import json

import numpy as np
import pytest

from punish_fast.arena.match_log import Ledger, LedgerError, digest_of
from punish_fast.duel.sampled import Batch
from punish_fast.runtime.files import OutputError

RULES = "0123456789abcdef"
PAIR = ("aaaa", "bbbb")
BATCH = Batch(6, 4, 2, np.array([0, 2, 4]), np.zeros((3, 2), dtype=np.int64), True)


def test_what_was_entered_is_found_again(tmp_path):
    path = tmp_path / "x.json"
    ledger = Ledger(RULES, path)
    assert ledger.exact(PAIR) is None
    assert ledger.sampled(PAIR, 7) is None
    assert not path.exists()
    ledger.keep_exact(PAIR, 1 / 3, 4.1, 1e-13)
    ledger.keep_sampled(PAIR, 7, BATCH)
    for again in (ledger, Ledger(RULES, path)):
        assert again.exact(PAIR) == (1 / 3, 4.1)
        batch = again.sampled(PAIR, 7)
        assert (batch.games, batch.wins, batch.split, batch.lengths.tolist(), batch.paired) == (
            6,
            4,
            2,
            [0, 2, 4],
            True,
        )
        assert batch.standard_error == BATCH.standard_error
        assert again.sampled(PAIR, 8) is None
        assert again.exact(PAIR[::-1]) is None
    assert not list(tmp_path.glob(".*"))


def test_the_last_seed_is_known(tmp_path):
    ledger = Ledger(RULES, tmp_path / "x.json")
    assert ledger.last_seed is None
    ledger.keep_exact(PAIR, 0.5, 4.1, 1e-13)
    assert ledger.last_seed is None
    for seed in (7, 1 << 63):
        ledger.keep_sampled(PAIR, seed, BATCH)
        assert Ledger(RULES, tmp_path / "x.json").last_seed == seed
    (tmp_path / "x.json").write_text((tmp_path / "x.json").read_text().replace(str(1 << 63), "x"))
    assert Ledger(RULES, tmp_path / "x.json").last_seed is None


def test_without_a_file_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger(RULES)
    ledger.keep_exact(PAIR, 0.5, 4.0, 0.0)
    assert ledger.exact(PAIR) == (0.5, 4.0)
    assert not list(tmp_path.iterdir())


def test_policies_have_digests():
    weight = np.array([0.25, 0.75, 1.0])
    assert digest_of(weight) == digest_of(weight.copy())
    assert digest_of(weight) != digest_of(weight[::-1])
    assert len(digest_of(weight)) == 16


def content(**changes):
    whole = {"format": "punish-fast arena", "format_version": 1, "rules_digest": RULES, "exact": {}, "sampled": {}}
    return json.dumps(whole | changes)


def game(**changes):
    return {"a b 1": {"games": 6, "wins": 4, "split": 2, "lengths": [0, 2, 4]} | changes}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no file of an arena's results"),
        ("{", "is no file of an arena's results"),
        ("[" * 100_000, "is no file of an arena's results"),
        ("[]", "is no file of an arena's results"),
        ('{"format": "other"}', "is no file of an arena's results"),
        (content(format_version=2), "format_version is 2, allowed is 1"),
        (content(rules_digest="other"), f"made by rules other, but the game's are {RULES}"),
        (content(exact=None), "exact is missing"),
        (content(sampled=[]), "sampled is missing"),
        (content(exact={"a b": {"win": 1.1, "breaths": 3}}), "exact: the match 'a b' has numbers that cannot be"),
        (content(exact={"a b": {"win": 0.5}}), "numbers that cannot be"),
        (content(exact={"a b": {"win": 0.5, "breaths": float("nan")}}), "numbers that cannot be"),
        (content(exact={"a b": [0.5, 3]}), "numbers that cannot be"),
        (content(sampled=game(games=5)), "sampled: the match 'a b 1' has numbers that cannot be"),
        (content(sampled=game(games=8)), "numbers that cannot be"),
        (content(sampled=game(wins=5)), "numbers that cannot be"),
        (content(sampled=game(wins=6)), "numbers that cannot be"),
        (content(sampled=game(wins=-2)), "numbers that cannot be"),
        (content(sampled=game(split=-1)), "numbers that cannot be"),
        (content(sampled=game(lengths=[0, 7, -1])), "numbers that cannot be"),
        (content(sampled=game(lengths=None)), "numbers that cannot be"),
        (content(sampled=game(wins=None)), "numbers that cannot be"),
        (content(sampled=game(games=6.0)), "numbers that cannot be"),
        (content(sampled=game(games=True)), "numbers that cannot be"),
        (content(sampled={"a b 1": {}}), "numbers that cannot be"),
    ],
)
def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LedgerError, match=message):
        Ledger(RULES, path)
    assert path.read_text(encoding="utf-8") == text


def test_files_that_cannot_be_read_or_written_are_refused(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LedgerError, match="is no file"):
        Ledger(RULES, tmp_path / "x.json")
    with pytest.raises(OutputError, match="is a folder"):
        Ledger(RULES, tmp_path)
    with pytest.raises(OutputError, match="there is no folder"):
        Ledger(RULES, tmp_path / "none" / "x.json")
