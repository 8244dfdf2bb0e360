"""One small run of everything that calls a kernel, so that all of them are compiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from punish_fast.duel.exact_evaluation import outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import simulate
from punish_fast.equilibrium.bayes import bayes_response
from punish_fast.equilibrium.best_response import Start, best_response
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.equilibrium.upper_bound import upper_bound
from punish_fast.games.connect4 import Connect4
from punish_fast.games.connect4_solver import Connect4Solver
from punish_fast.games.gwent import Gwent
from punish_fast.games.gwent_decks import DEFAULT_DECK, deck_rows
from punish_fast.games.gwent_players import rule_player
from punish_fast.games.gwent_playouts import play_games as play_gwent
from punish_fast.games.incan_gold import IncanGold
from punish_fast.games.incan_gold_equilibrium import RoundEquilibrium, solve_equilibrium
from punish_fast.games.incan_gold_players import EquilibriumMover, PolicyMover
from punish_fast.games.incan_gold_playouts import play_games, random_policy
from punish_fast.games.incan_gold_rounds import RoundDeck, RoundSets, solve_solo
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.retrograde import solve_game
from punish_fast.games.tapnswap import TapnSwap
from punish_fast.games.vector_connect4 import VectorConnect4
from punish_fast.games.vector_gwent import VectorGwent
from punish_fast.games.vector_incan_gold import VectorIncanGold
from punish_fast.learn.qlearning import Hyperparameters, learn, new_learner
from punish_fast.mdp.component_brackets import bracketed
from punish_fast.mdp.elimination import Elimination
from punish_fast.mdp.exact_iteration import Double, Payoff, Rows
from punish_fast.mdp.methods import GENERAL_METHODS
from punish_fast.mdp.model import MDP, check
from punish_fast.mdp.policy import greedy, softmax
from punish_fast.mdp.reachability import reach_probability
from punish_fast.mdp.rounding import rounding_of_backup
from punish_fast.mdp.solve_options import Effort
from punish_fast.mdp.solver import evaluate, solve
from punish_fast.mdp.total_reward import total_reward
from punish_fast.play.game_data import GameData
from punish_fast.play.players import PolicyPlayer
from punish_fast.play.punish_match import PunishMatch
from punish_fast.play.session import PlaySession
from punish_fast.punish.information import MODELS
from punish_fast.punish.lifting import lift
from punish_fast.punish.refillable_tensor import Refillable
from punish_fast.punish.rules import PRESETS, true_rules
from punish_fast.punish.space import StateSpace
from punish_fast.punish.tensor import build
from punish_fast.study.lessons import lessons
from punish_fast.study.selfplay import self_play

_RULES = PRESETS["tiny"]
# A position of Connect Four that is solved in milliseconds.
_LATE = "444444326555553233322676235"


def rehearse() -> None:
    """Call every kernel once."""
    _solve()
    for model in MODELS:
        _meet(model)
    _play_small_games()


def _solve() -> None:
    """The one-player model."""
    space = StateSpace(_RULES)
    mdp = check(build(space))
    # Two entries in one column.
    MDP.from_scipy(csr_array((np.full(2, 0.5), np.zeros(2, dtype=np.int32), [0, 2]), shape=(1, 1)), [0.0], [0, 1])
    solution = solve(mdp)
    solve(mdp, method="jacobi", sweeps=1)
    solve(mdp, discount=1.0)
    for method in GENERAL_METHODS:
        solve(mdp, method=method, tolerance=1e-3)
    won = np.repeat([False, True, False], [mdp.n_states, 1, 1])
    for maximize in (True, False):
        reach_probability(mdp, won, maximize)
    total_reward(replace(mdp, reward=np.abs(mdp.reward)), won, maximize=False)
    bracketed(replace(mdp, layer_ptr=np.array([0, mdp.n_states])), Payoff(mdp.reward, np.zeros(2)), Effort(1e-3))
    # Two states that lead to each other.
    cycle = csr_array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    elimination = Elimination(cycle)
    elimination.solve(np.ones(2))
    elimination.weights()
    values = np.zeros(mdp.n_columns)
    Rows.of(mdp, mdp.reward).gains(Double(values, values))
    rounding_of_backup(mdp, values, 1.0)
    policy = softmax(mdp.state_ptr, solution.q, 1.0)
    evaluate(mdp, policy)
    enemy = greedy(mdp.state_ptr, solution.q)
    build(space, enemy)
    compact = Refillable(space).fill(enemy)
    compact.count_nonzeros()
    solve(compact)
    evaluate(compact, policy)
    for row in (0, space.n_states - 1):
        space.row(space.state(row))


def _meet(name: str) -> None:
    """The real game, under an information model."""
    view = StateSpace(true_rules(_RULES))
    space = view if name == "view" else StateSpace(view.rules, name)
    graph = Graph(space)
    policy = _learn(graph)
    if name == "view":
        best_response(graph, policy, "uniform")
    else:
        lift(space, view, np.ones(len(view.action)))
    exploiter = best_response(graph, policy, "true", starts=[Start(policy)])
    bayes_response(graph, policy, exploiter.duel, n_games=2)
    upper_bound(graph, policy)
    simulate(graph, policy, policy, 2)
    _sit_down(space, policy)
    outcome_distribution(graph, policy, policy)
    play = self_play(graph, policy)
    lessons(play)
    graph.action_values(policy, play.beliefs, play.duel.v)


def _sit_down(space: StateSpace, policy: np.ndarray) -> None:
    """Games at the table."""
    table = GameData(space)
    player = PolicyPlayer("agent", table.thresholds(policy))
    # Some of these games have a feint.
    for game in range(4):
        session = PlaySession(PunishMatch(table, 0, game), (player, player))
        session.begin()
        while session.is_on:
            session.reveal()


def _learn(graph: Graph) -> np.ndarray:
    """Self-play without and with responses; return the average policy."""
    for share in (0.0, 0.5):
        learning = Equilibrium(graph, share=share)
        learning.iterate()
    learning.compile_kernels()
    return learning.average


def _play_small_games() -> None:
    """Other games."""
    positions = enumerate_positions(TapnSwap())
    solve_game(positions)
    learner = new_learner(positions, Hyperparameters())
    learner.plan("self", 2)
    learn(positions, [learner], 2)
    temples = VectorIncanGold(IncanGold())
    temples.probabilities(temples.initial(1))
    for vector in (VectorConnect4(Connect4()), temples):
        states, _, _ = vector.step(vector.initial(1), np.zeros(1, dtype=np.int64))
        for describe in (vector.player, vector.legal, vector.features):
            describe(states)
    _play_incan_gold()
    _play_gwent_lite()
    Connect4Solver(memory=1).solve(Connect4().state_of(_LATE))


def _play_gwent_lite() -> None:
    play_gwent(deck_rows([DEFAULT_DECK] * 2)[np.newaxis], ("random", "rule"), 1)
    vector = VectorGwent(Gwent())
    states, _, _ = vector.step(vector.initial(1), np.ones(1, dtype=np.int64))
    for describe in (vector.player, vector.legal, vector.features, vector.probabilities):
        describe(states)
    rule_player(states, np.zeros((1, vector.n_moves), dtype=np.bool_), np.random.default_rng())


def _play_incan_gold() -> None:
    play_games([random_policy()] * 3, 1)
    sets = RoundSets(RoundDeck((4,), (1,), n_hazards=1))
    solve_solo(sets)
    solve_equilibrium(sets).all_stay()
    temples = VectorIncanGold(IncanGold())
    states, _, _ = temples.step(temples.initial(1), np.zeros(1, dtype=np.int64))
    PolicyMover(random_policy()).stay(states)
    whole = RoundSets()
    last, pair, three = np.zeros(whole.n_last), np.zeros(whole.n_pair), np.zeros((len(whole.counts), 1, 3))
    EquilibriumMover(RoundEquilibrium(whole, last, pair, pair, three[..., np.newaxis], three)).stay(states)
