from __future__ import annotations

import json
import multiprocessing

import numpy as np
import pytest

from punish_fast.arena.match_log import MatchLog, MatchLogError, digest_of
from punish_fast.duel.simulated_evaluation import Batch
from punish_fast.runtime.files import OutputError

RULES = "0123456789abcdef"
PAIR = ("aaaa", "bbbb")
BATCH = Batch(6, 4, 2, np.array([0, 2, 4]), np.zeros((3, 2), dtype=np.int64), True)


def test_results_are_found_again(tmp_path):
    path = tmp_path / "x.json"
    log = MatchLog(RULES, path)
    assert log.exact(PAIR) is None
    assert log.sampled(PAIR, 7) is None
    assert not path.exists()
    log.add_exact(PAIR, 1 / 3, 4.1, 1e-13)
    log.put_sampled(PAIR, 7, BATCH)
    for again in (log, MatchLog(RULES, path)):
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
    log = MatchLog(RULES, tmp_path / "x.json")
    assert log.last_seed is None
    log.add_exact(PAIR, 0.5, 4.1, 1e-13)
    assert log.last_seed is None
    for seed in (7, 1 << 63):
        log.put_sampled(PAIR, seed, BATCH)
        assert MatchLog(RULES, tmp_path / "x.json").last_seed == seed
    log.put_sampled(PAIR, 7, BATCH)
    assert MatchLog(RULES, tmp_path / "x.json").last_seed == 7
    log.put_sampled(PAIR, 1 << 63, BATCH)
    (tmp_path / "x.json").write_text((tmp_path / "x.json").read_text().replace(str(1 << 63), "x"))
    assert MatchLog(RULES, tmp_path / "x.json").last_seed is None
    text = (tmp_path / "x.json").read_text()
    for wrong in (str(1 << 64), "9" * 400, "\u0663"):
        (tmp_path / "x.json").write_text(text.replace(" x", f" {wrong}"), encoding="utf-8")
        assert MatchLog(RULES, tmp_path / "x.json").last_seed is None


def test_tournaments_that_share_a_file_lose_no_match(tmp_path):
    path = tmp_path / "x.json"
    one, other = (MatchLog(RULES, path) for _ in range(2))
    one.add_exact(PAIR, 0.5, 4.0, 0.0)
    other.add_exact(("aaaa", "cccc"), 0.25, 3.0, 0.0)
    other.put_sampled(PAIR, 7, BATCH)
    twice = Batch(12, 8, 4, np.array([0, 4, 8]), np.zeros((3, 2), dtype=np.int64), True)
    one.put_sampled(PAIR, 7, twice)
    other.put_sampled(PAIR, 7, BATCH)
    other.put_sampled(PAIR, 8, BATCH)
    for log in (MatchLog(RULES, path), other):
        assert (log.exact(PAIR), log.exact(("aaaa", "cccc"))) == ((0.5, 4.0), (0.25, 3.0))
        assert (log.sampled(PAIR, 7).games, log.sampled(PAIR, 8).games, log.last_seed) == (12, 6, 8)


@pytest.mark.slow
def test_processes_that_share_a_file_lose_no_match(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=add_matches, args=(tmp_path / "x.json", number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    log = MatchLog(RULES, tmp_path / "x.json")
    assert all(log.exact((str(number), str(k))) is not None for number in range(3) for k in range(30))
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def add_matches(path, number):
    log = MatchLog(RULES, path)
    for k in range(30):
        log.add_exact((str(number), str(k)), 0.5, 4.0, 0.0)


def test_a_file_that_another_one_replaced_is_left_alone(tmp_path):
    log = MatchLog(RULES, tmp_path / "x.json")
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(MatchLogError, match="not a match log"):
        log.add_exact(PAIR, 0.5, 4.0, 0.0)
    assert (tmp_path / "x.json").read_text() == "[]"


def test_a_log_without_a_file_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = MatchLog(RULES)
    log.add_exact(PAIR, 0.5, 4.0, 0.0)
    assert log.exact(PAIR) == (0.5, 4.0)
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
        ("", "not a match log of the arena"),
        ("{", "not a match log of the arena"),
        ("[" * 100_000, "not a match log of the arena"),
        ("[]", "not a match log of the arena"),
        ('{"format": "other"}', "not a match log of the arena"),
        (content(format_version=2), "format_version is 2, allowed is 1"),
        (content(rules_digest="other"), f"made under rules 'other', but this game's rules are '{RULES}'"),
        (content(exact=None), "exact is missing"),
        (content(sampled=[]), "sampled is missing"),
        (content(exact={"a b": {"win": 1.1, "breaths": 3}}), "exact: match 'a b' has impossible numbers"),
        (content(exact={"a b": {"win": 0.5}}), "impossible numbers"),
        (content(exact={"a b": {"win": 0.5, "breaths": float("nan")}}), "impossible numbers"),
        (content(exact={"a b": [0.5, 3]}), "impossible numbers"),
        (content(exact={"a b": {"win": 0.5, "breaths": 10**400}}), "impossible numbers"),
        (content(exact={"a b": {"win": -(10**400), "breaths": 2}}), "impossible numbers"),
        (content(exact={"a b": {"win": 0.5, "breaths": 2, "error_bound": "x"}}), "impossible numbers"),
        (content(format_version="x" * 10**5), "format_version is 'xxx.*, allowed is 1$"),
        (content(rules_digest=["\n"] * 10**5), r"made under rules \['\\n', "),
        (content(sampled=game(games=10**400, wins=0, split=0, lengths=[10**400])), "impossible numbers"),
        (content(sampled=game(games=2**60, wins=0, split=0, lengths=[2**60])), "impossible numbers"),
        (content(sampled=game(games=5)), "sampled: match 'a b 1' has impossible numbers"),
        (content(sampled=game(games=8)), "impossible numbers"),
        (content(sampled=game(wins=5)), "impossible numbers"),
        (content(sampled=game(wins=6)), "impossible numbers"),
        (content(sampled=game(wins=-2)), "impossible numbers"),
        (content(sampled=game(split=-1)), "impossible numbers"),
        (content(sampled=game(lengths=[0, 7, -1])), "impossible numbers"),
        (content(sampled=game(lengths=None)), "impossible numbers"),
        (content(sampled=game(wins=None)), "impossible numbers"),
        (content(sampled=game(games=6.0)), "impossible numbers"),
        (content(sampled=game(games=True)), "impossible numbers"),
        (content(sampled={"a b 1": {}}), "impossible numbers"),
    ],
)
def test_other_files_are_refused_and_left_alone(tmp_path, text, message):
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MatchLogError, match=message):
        MatchLog(RULES, path)
    assert path.read_text(encoding="utf-8") == text


def test_files_that_cannot_be_read_or_written_are_refused(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MatchLogError, match="not a match log"):
        MatchLog(RULES, tmp_path / "x.json")
    with pytest.raises(OutputError, match="is a folder"):
        MatchLog(RULES, tmp_path)
    with pytest.raises(OutputError, match="there is no folder"):
        MatchLog(RULES, tmp_path / "none" / "x.json")
