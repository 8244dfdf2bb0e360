"""Games and policies for OpenSpiel, compared with exact duels and with proven bounds."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph
from punish_fast.envs.games.open_spiel import load_game
from punish_fast.envs.open_spiel import load_punish, spiel_policy
from punish_fast.equilibrium.exploitation.bracket import bracket
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.games.contract import GameError
from punish_fast.games.registry import GAMES
from punish_fast.punish.encoding import encode
from punish_fast.punish.rules import RulesError, load_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.errors import ArgumentError, ExtraError

# All cards differ and all clashes cost HP, so a game ends after at most three measures.
BRIEF = """
copies = [1, 1, 1, 1, 1]
hand_size = 2
reveal_size = 1
hp = 2
healing = 0
breaths = 1
feints = 0
damage = [1, 2, 1, 2, 3]
redeal = "reshuffle"
"""
FEINTS = BRIEF.replace("hand_size = 2", "hand_size = 1").replace("feints = 0", "feints = 1").replace("hp = 2", "hp = 1")


@pytest.fixture(scope="module")
def spiel():
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


@pytest.fixture
def brief(tmp_path: Path) -> str:
    path = tmp_path / "brief.toml"
    path.write_text(BRIEF, encoding="utf-8")
    return str(path)


def win_rate(spiel, game, *policies) -> float:
    """Win rate of player 0 if player 1 has the second policy, or by default if it is the best response."""
    from open_spiel.python.algorithms import best_response, expected_game_score

    turns = spiel.convert_to_turn_based(game)
    root = turns.new_initial_state()
    if len(policies) == 2:
        return (1 + expected_game_score.policy_value(root, policies)[0]) / 2
    return (1 - best_response.BestResponsePolicy(turns, 1, policies[0]).value(root)) / 2


@pytest.mark.parametrize("name", ["punish", *GAMES])
def test_random_games_pass_the_checks_of_open_spiel(spiel, name):
    game = load_punish("tiny") if name == "punish" else load_game(name)
    spiel.random_sim_test(game, 3, False, False)
    assert game.get_type().short_name == f"punish_fast_{name.replace('-', '_')}"
    state = spiel.load_game(str(game)).new_initial_state()
    while not state.is_simultaneous_node() and state.current_player() < 0:
        state.apply_action(state.legal_actions()[0])
    player = max(state.current_player(), 0)
    assert state.observation_string(player) == state.information_state_string(player)


@pytest.mark.usefixtures("spiel")
def test_a_repeated_game_has_no_utility_after_the_last_measure():
    state = load_punish("tiny", measures=1).new_initial_state()
    while not state.is_terminal():
        assert state.returns() == [0, 0]
        if state.is_chance_node():
            state.apply_action(state.chance_outcomes()[-1][0])
        else:
            state.apply_actions([state.legal_actions(0)[0], state.legal_actions(1)[0]])
    assert set(state.returns()) in ({0}, {1, -1})
    assert state.legal_actions() == []


@pytest.mark.parametrize("rules", [BRIEF, FEINTS])
@pytest.mark.parametrize("information", ["memoryless", "memory"])
def test_two_players_win_as_often_as_in_an_exact_duel(spiel, tmp_path, rules, information):
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    game = load_punish(str(tmp_path / "rules.toml"), information)
    graph = GameGraph(StateSpace(load_rules(tmp_path / "rules.toml")))
    policy = spiel_policy(game, "random", "naive")
    assert win_rate(spiel, game, policy, policy) == pytest.approx(
        head_to_head(graph, "random", "naive").win_probability, abs=1e-12
    )


@pytest.mark.parametrize("player", ["random", "naive", "aggressive"])
def test_the_best_response_lies_within_the_bracket(spiel, brief, player):
    game = load_punish(brief)
    bounds = bracket(GameGraph(StateSpace(load_rules(brief))), player, width=1e-6)
    assert bounds.lower <= 1 - win_rate(spiel, game, spiel_policy(game, player)) <= bounds.upper
    assert bounds.width <= 1e-6


@pytest.mark.slow
def test_counterfactual_regret_agrees_with_equilibria(spiel, brief):
    from open_spiel.python.algorithms import cfr, exploitability

    turns = spiel.convert_to_turn_based(load_punish(brief))
    solver = cfr.CFRPlusSolver(turns)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    learned = solver.average_policy()
    loss = exploitability.exploitability(turns, learned) / 2
    assert loss < 0.02
    for information, share in (("memoryless", 0.9), ("memory", 0.8)):
        game = load_punish(brief, information)
        equilibrium = Equilibrium(GameGraph(StateSpace(load_rules(brief), information)), share)
        for _ in range(400):
            equilibrium.iterate()
        bounds = bracket(equilibrium.graph, equilibrium.average, width=1e-6)
        policy = spiel_policy(game, equilibrium.average)
        assert bounds.lower <= 1 - win_rate(spiel, game, policy) <= bounds.upper < 0.501
        # The average of both seats, since exploitability is an average of both seats, too.
        won = (win_rate(spiel, game, learned, policy) + 1 - win_rate(spiel, game, policy, learned)) / 2
        assert 0.5 - loss <= won <= bounds.upper


@pytest.mark.usefixtures("spiel")
def test_information_states_name_rows_of_the_state_space(brief):
    state = load_punish(brief).new_initial_state()
    state.apply_action(0)
    encoding = encode(StateSpace(load_rules(brief)))
    index = int(state.information_state_string(0).split()[-1])
    assert state.legal_actions(0) == np.flatnonzero(encoding.mask[index]).tolist()
    assert state.action_to_string(0, state.legal_actions(0)[0]) in encoding.action_names


@pytest.mark.usefixtures("spiel")
def test_wrong_arguments_are_refused():
    with pytest.raises(RulesError, match="neither a preset"):
        load_punish("missing.toml")
    for measures in (0, -1):
        with pytest.raises(ArgumentError, match=f"^measures: {measures} is not allowed; it must be at least 1"):
            load_punish("tiny", measures=measures)
    with pytest.raises(GameError, match="unknown"):
        load_game("chess")
    with pytest.raises(GameError, match="unknown option 'size'"):
        load_game("tictactoe", size=4)


@pytest.mark.parametrize("load", [load_punish, partial(load_game, "gwent")])
def test_a_missing_package_is_named(monkeypatch, load):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(ExtraError, match=r'pip install "punish-fast\[openspiel\]"'):
        load()
