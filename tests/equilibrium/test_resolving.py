"""Resolving: ranges compared with enumeration, and the quality of solutions of a measure."""

from collections import defaultdict
from functools import cache

import duel_twin
import numpy as np
import pytest
from houses import TINY
from policies import mixed

from bench import reference
from bench.resolving import Gains, LocalResponse
from punish_fast.arena.players import PolicyPlayer
from punish_fast.arena.tournament import round_robin
from punish_fast.duel.evaluation import simulate
from punish_fast.duel.graph import DuelError, GameGraph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.equilibrium import resolving
from punish_fast.equilibrium.measure_graph import Play
from punish_fast.equilibrium.public_equilibrium import likely_public_states
from punish_fast.equilibrium.regret_iteration import Reach
from punish_fast.equilibrium.resolving import _TREMBLE, PublicMeasure, Resolver
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import PolicyError
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import PunishMatch, play_games
from punish_fast.play.session import PlaySession
from punish_fast.punish.codes import State
from punish_fast.punish.states.information import InformationError
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import to_finer_model, uniform_policy

# Players keep at least one of three cards, and lose HP slowly.
KEEPING = TINY._replace(copies=(2, 2, 1, 2, 2), hand_size=3, hp=3, healing=0)


@cache
def blueprint():
    """A graph and a hardly trained strategy."""
    graph = GameGraph(StateSpace(KEEPING))
    learner = Equilibrium(graph, share=0.9)
    for _ in range(8):
        learner.iterate()
    return graph, learner.average


@cache
def resolver(is_safe=False, iterations=60):
    return Resolver(*blueprint(), iterations=iterations, is_safe=is_safe)


class Unchanged(Resolver):
    """A resolver that plays its blueprint."""

    def _solution(self, past, revealed):
        solution = super()._solution(past, revealed)
        solution.own = to_finer_model(solution.graph.space, self.graph.space, self.blueprint)
        return solution


def played(player, seed, seat=0, game=0, enemy=None):
    """A finished game of a player against an enemy, by default the uniform policy."""
    space = player.graph.space
    enemy = uniform_policy(space) if enemy is None else enemy
    seats = [PolicyPlayer("resolving", player), PolicyPlayer("enemy", enemy)]
    match = PunishMatch(GameData(space), seed, game)
    session = PlaySession(match, seats[:: 1 - 2 * seat])
    session.begin()
    while session.is_on:
        session.reveal()
    return match


@cache
def long_game():
    """The measures of a game with at least three measures, from the point of view of seat 1."""
    games = (played(resolver(), 1, seat=1, game=game) for game in range(100))
    match = next(match for match in games if match.measure >= 3)
    return [measure.seen_by(1) for measure in match.measures]


def solved(player, history, n):
    """The solution of the ``n``-th measure."""
    return player._solution(tuple(history[: n - 1]), history[n - 1].revealed)


def probability(space, policy, view, plays, action):
    """The probability of an action in a state after plays."""
    rows = space.rows(State(*view), plays)
    return float(policy[rows][space.action[rows] == action].sum())


def after_play(solution, weights, plays, play):
    """Weights of positions, or of nodes, after a play."""
    space, law = solution.graph.space, defaultdict(float)
    enemy = (1 - _TREMBLE) * solution.enemy + _TREMBLE * uniform_policy(space)
    mirrored = tuple(each.mirrored for each in plays)
    for position, weight in weights.items():
        view = duel_twin.enemy_view(position)
        legal = reference.legal_actions(KEEPING, position.view), reference.legal_actions(KEEPING, view)
        if play.own not in legal[0] or play.enemy not in legal[1]:
            continue
        p_own = probability(space, solution.own, position.view, plays, play.own)
        p_enemy = probability(space, enemy, view, mirrored, play.enemy)
        for own, other, p in reference.clashes(play.own, play.enemy, duel_twin.deck_of(KEEPING, position)):
            if (own.drawn, other.drawn) == ((play.own_drawn + 1) % 6, (play.enemy_drawn + 1) % 6):
                law[duel_twin.after(KEEPING, position, own, other)] += weight * p_own * p_enemy * float(p)
    return law


def enumerated(player, history):
    """The ranges after the last deal, by enumeration of all positions."""
    nodes = {duel_twin.begin(KEEPING): 1.0}
    for number, measure in enumerate(history):
        weights = defaultdict(float)
        for node, weight in nodes.items():
            for position, p in duel_twin.deal(KEEPING, node).items():
                if position.view.discard == measure.revealed:
                    weights[position] += weight * float(p)
        if number == len(history) - 1:
            return {(position.view.hand, position.enemy): w / sum(weights.values()) for position, w in weights.items()}
        solution, nodes = solved(player, history, number + 1), weights
        for k, play in enumerate(measure.plays):
            nodes = after_play(solution, nodes, measure.plays[:k], play)
    raise AssertionError


def ranges(solution):
    """The ranges of a solution, by both hands."""
    graph, layer = solution.graph, solution.graph.space.layers[0]
    found = {}
    for number in np.flatnonzero(solution.dealt).tolist():
        block = (
            np.searchsorted(layer.first, np.searchsorted(graph.full.ptr, number, side="right") - 1, side="right") - 1
        )
        hand, discard = layer.piles[block].astype(int)
        enemy = np.array(KEEPING.copies) - hand - discard - graph.draws.copies[graph.full.deck[number]]
        found[tuple(hand.tolist()), tuple(enemy.tolist())] = float(solution.dealt[number])
    return found


def best_values(solution, own, player):
    """Weight and win probability of each deal for the enemy, and the enemy's states, for a best response to ``own``."""
    graph = solution.graph
    mirrored = np.empty_like(solution.dealt)
    mirrored[graph.mirror] = solution.dealt
    reach = Reach(graph)
    reach.propagate_all(mirrored, (uniform_policy(graph.space), own))
    v = np.zeros((graph.n_values, 2))
    v[graph.nodes, 0], v[-2, 0] = player.values[graph.whole_nodes], 1.0
    graph.respond(own, np.ascontiguousarray(reach.table[:, 1]), v, graph.state_ptr[:-1].astype(np.int64))
    states = graph.full.enemy_row[graph.mirror]
    return mirrored, v[: len(mirrored), 0], states


def test_ranges_follow_from_everything_that_both_players_saw():
    history = long_game()
    assert any(play.own % 10 == 1 or play.enemy % 10 == 1 for measure in history[:-1] for play in measure.plays)
    for n in (1, 2, 3):
        expected = {hands: p for hands, p in enumerated(resolver(), history[:n]).items() if p > 0}
        found = ranges(solved(resolver(), history, n))
        assert found.keys() == expected.keys()
        assert all(found[hands] == pytest.approx(p, rel=1e-9) for hands, p in expected.items())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_solved_measure_is_harder_to_exploit_than_the_blueprint(n):
    (graph, policy), history = blueprint(), long_game()
    solution = solved(resolver(), history, n)
    coarse = to_finer_model(solution.graph.space, graph.space, policy)
    dealt, resolved, _ = best_values(solution, solution.own, resolver())
    _, forgetful, _ = best_values(solution, coarse, resolver())
    assert dealt @ resolved < dealt @ forgetful


def test_safe_resolving_leaves_the_enemy_less_reason_to_choose_the_measure():
    history, safe, gains = long_game(), resolver(is_safe=True), np.zeros(2)
    for n in (2, 3):
        solution, *_ = solutions = [solved(player, history, n) for player in (safe, resolver())]
        for i, own in enumerate(each.own for each in solutions):
            dealt, v, states = best_values(solution, own, safe)
            taken = np.empty_like(dealt)
            taken[solution.graph.mirror] = solution.alternative
            gains[i] += np.maximum(np.bincount(states, dealt * v - taken), 0).sum()
    assert gains[0] < gains[1]


def test_the_gain_of_a_measure_is_zero_if_its_solution_is_the_blueprint():
    gains = Gains(Unchanged(*blueprint(), iterations=1), mixed(blueprint()[0].space, 4))
    assert [gains.play(1, game) for game in range(12)] == pytest.approx([0.0] * 12, abs=1e-7)
    assert len(gains.seconds[1]) > 2


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_local_response_wins_more_than_other_enemies_in_a_measure(n):
    (coarse, policy), history, player = blueprint(), long_game(), resolver()
    solution, graph = solved(player, history, n), solved(player, history, n).graph
    response = solved(LocalResponse(player), [measure.seen_by(1) for measure in history], n).own
    lost = []
    for enemy in (response, solution.enemy, to_finer_model(graph.space, coarse.space, policy)):
        v = np.zeros((graph.n_values, 2))
        v[graph.nodes, 0], v[-2, 0] = player.values[graph.whole_nodes], 1.0
        graph.back_up_full(solution.own, enemy, v)
        lost.append(1.0 - solution.dealt @ v[: len(solution.dealt), 0])
    dealt, best, _ = best_values(solution, solution.own, player)
    assert lost[0] == pytest.approx(dealt @ best, abs=1e-12)
    assert lost[0] > lost[1] > lost[2]


def test_local_responses_win_more_than_half_and_are_played():
    player = Unchanged(*blueprint(), iterations=1)
    local = LocalResponse(player)
    gains = Gains(player, local)
    assert gains.win_probability == pytest.approx(0.5, abs=1e-9)
    assert np.mean([gains.play(1, game) for game in range(10)]) < -0.02
    for game in range(10):
        measures = played(player, 1, game=game, enemy=local).measures
        assert gains._after_first(-1, (), measures[0].revealed) < 0
        for n, measure in enumerate(measures[:-1], 1):
            solution = solved(player, measures, n)
            response = solved(local, [each.seen_by(1) for each in measures], n).own
            assert solution.graph.nodes_after_plays(solution.own, response, solution.dealt, measure.plays).any()


def test_the_same_seed_gives_the_same_play():
    fresh = Resolver(*blueprint(), iterations=60)
    for seat in (0, 1):
        games = [played(player, 5, seat, game) for player in (resolver(), fresh) for game in range(5)]
        assert [game.breaths for game in games[:5]] == [game.breaths for game in games[5:]]
    assert len({tuple(game.breaths) for game in games}) == 5


def test_a_blueprint_can_depend_on_public_states():
    graph, base = blueprint()
    public = likely_public_states(graph, base, 4)
    policies = [base, *(mixed(graph.space, seed) for seed in range(1, len(public)))]
    player = Resolver(GameGraph(graph.space, public=public), PublicPolicy(public, policies), 20, is_safe=True)
    assert played(player, 1).breaths
    assert len(player.values) > graph.n_nodes
    same = Resolver(GameGraph(graph.space, public=public), PublicPolicy(public, [base] * len(public)), 20)
    plain = Resolver(graph, base, 20)
    first = long_game()[0].revealed
    np.testing.assert_allclose(same._solution((), first).own, plain._solution((), first).own, atol=1e-9)


def test_first_measures_are_solved_only_once(monkeypatch):
    monkeypatch.setattr(resolving, "_MAX_LATER", 2)
    player = Resolver(*blueprint(), iterations=1)
    games = [played(player, 3, game=game) for game in (*range(12), *range(12))]
    first, later = (cache.cache_info() for cache in player._solutions)
    assert first.misses == len({game.measures[0].revealed for game in games})
    assert later.currsize == 2


def test_invalid_arguments_are_refused():
    graph, policy = blueprint()
    with pytest.raises(ValueError, match="iterations: 0 is not positive"):
        Resolver(graph, policy, iterations=0)
    with pytest.raises(InformationError, match="'memory' is not allowed here"):
        Resolver(GameGraph(StateSpace(TINY, "memory")), policy)
    with pytest.raises(ValueError, match=r"revealed: \(0, 0, 0, 0, 0\) cannot be dealt"):
        resolver()._solution((), (0, 0, 0, 0, 0))
    impossible = PublicMeasure(long_game()[0].revealed, (Play(90, 90, 5, 5),) * 2)
    with pytest.raises(ValueError, match="cannot be dealt after these measures"):
        resolver()._solution((impossible,), (0, 0, 0, 0, 1))


def test_games_one_by_one_equal_simulated_games():
    graph, policy = blueprint()
    uniform = uniform_policy(graph.space)
    one, all_at_once = (play(graph, policy, uniform, 50, seed=2) for play in (play_games, simulate))
    assert one[:3] == all_at_once[:3]
    np.testing.assert_array_equal(one.lengths, all_at_once.lengths)
    assert play_games(graph, uniform, "random", 2).games == 2
    with pytest.raises(DuelError, match="games: 3 is not an even number"):
        play_games(graph, policy, uniform, 3)
    with pytest.raises(PolicyError, match="it must be float64"):
        play_games(graph, policy[1:], uniform, 2)


def test_tournaments_omit_games_of_a_resolver_against_itself():
    (graph, policy), steps = blueprint(), []
    players = [PolicyPlayer("resolving", resolver()), PolicyPlayer("blueprint", policy)]
    found = round_robin(graph, players, 4, progress=lambda *step: steps.append(step), play=play_games)
    assert steps == [("arena pairs", done, 3) for done in (1, 2, 3)]
    assert np.isnan(found.breaths).tolist() == [[True, False], [False, False]]
