"""Networks of another library learn, become strategy files, and are measured."""

import json

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed (extra train)")

from bench import train
from punish_fast.arena.players import Player
from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import uniform_policy

pytestmark = pytest.mark.filterwarnings("default")  # of PyTorch


def test_three_agents_are_trained_and_measured(tmp_path, capsys):
    options = ["--rules", "tiny", "--steps", "2000", "--opponents", "naive", "random"]
    assert train.main([str(tmp_path), *options]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in table[2:]] == ["| against naive", "| against random", "| by self-play"]
    points = json.loads((tmp_path / "training.json").read_text(encoding="utf-8"))
    assert {point["agent"] for point in points} == {"naive", "random", "self-play"}
    assert (tmp_path / "training.png").stat().st_size > 0
    # A second run keeps all measurements under the same rules.
    stored = [point | {"lower": 0.25} for point in points if point["agent"] != "self-play"]
    stored += [point | {"lower": 0.25, "rules": "tabletop"} for point in points if point["agent"] == "self-play"]
    (tmp_path / "training.json").write_text(json.dumps(stored), encoding="utf-8")
    assert train.main([str(tmp_path), *options]) == 0
    lowest = [line.split(" | ")[-2] for line in capsys.readouterr().out.splitlines()[2:]]
    assert lowest == ["25.00", "25.00", f"{100 * points[-1]['lower']:.2f}"]
    graph = GameGraph(StateSpace(true_rules(PRESETS["tiny"])))
    last = points[-1]
    policy = Player(str(tmp_path / "by-self-play.h5")).policy(graph.space)
    for name in ("naive", "random"):
        won = head_to_head(graph, policy, Player(name).policy(graph.space)).win_probability
        assert last["wins"][name] == pytest.approx(won, abs=1e-9)
        # The best opponent wins at least as often as any opponent.
        assert last["upper"] >= 1 - won
    assert 0.5 <= last["lower"] <= last["upper"] <= last["lower"] + 0.005


def test_games_report_ends_and_begin_again():
    graph = GameGraph(StateSpace(true_rules(PRESETS["tiny"])))
    games = train._Games(graph, 64, uniform_policy(graph.space))
    seen, ended = games.reset(), 0
    assert seen.min() >= 0
    assert seen.max() <= 1
    for _ in range(20):
        masks = np.stack(games.env_method("action_masks"))
        seen, rewards, over, infos = games.step(masks.argmax(axis=1))
        assert ((rewards != 0) == over).all()
        assert [("terminal_observation" in info) for info in infos] == over.tolist()
        ended += int(over.sum())
    assert ended > 64
    with pytest.raises(AttributeError, match="close_all"):
        games.env_method("close_all")
