"""Win rate of an agent that solves each measure again: ``python -m bench.resolving AGENT [ENEMY] [--games N]``.

The enemy is a policy, by default the agent itself without resolving. The name *exploiter* stands for the best response
to the agent with the same memory (`best_response` with exact beliefs). The agent's win rate without resolving is exact.
Let ``U`` be its values. Each measure that the agent solves again changes the win probability by

    gain = sum over deals of p(deal) (R(deal) - U(deal)),

where ``R`` is the value of the solved measure against the enemy, with the values ``U`` at the end of the measure. The
sum contains all deals that agree with both kept hands and the revealed cards. The win rate with resolving is the exact
win rate plus the expected sum of the gains in a game. Games are sampled, but gains vary much less than results.

The name *local* stands for an opponent that responds to the solution of each measure (`LocalResponse`). ``U`` are then
the values of the agent without resolving against itself. A better opponent might exist.
"""

import argparse
import time
from copy import copy
from functools import lru_cache

import numpy as np

from bench.harness import say
from punish_fast.arena.players import Player, PolicyPlayer
from punish_fast.duel.evaluation import head_to_head
from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, Reach
from punish_fast.equilibrium.resolving import MeasureSolution, PublicMeasure, Resolver, deals_showing
from punish_fast.play.game_data import GameData
from punish_fast.play.punish.match import PunishMatch
from punish_fast.play.session import PlaySession
from punish_fast.punish.codes import join_pairs
from punish_fast.punish.rules import PRESETS, Five
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.strategy import policy_of, to_finer_model


class LocalResponse(Resolver):
    """Opponent that plays a best response to a resolver's solution of each measure.

    The opponent has the resolver's ranges and the information model ``memory``, and assumes the blueprint's values at
    the end of the measure (V. Lisý and M. Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots",
    2017).
    """

    def __init__(self, resolver: Resolver) -> None:
        super().__init__(resolver.graph, resolver.blueprint)
        self.resolver = resolver

    def _solve(self, past: tuple[PublicMeasure, ...], revealed: Five) -> MeasureSolution:
        """Return the resolver's solution, with the response in place of the player's strategy."""
        solution = copy(self.resolver._solution(tuple(measure.seen_by(1) for measure in past), revealed))
        graph, v = solution.graph, np.zeros((solution.graph.n_values, 2))
        v[graph.nodes, 0] = self.values[graph.whole_nodes]
        dealt = np.empty_like(solution.dealt)
        dealt[graph.mirror] = solution.dealt
        response, reach = CounterfactualResponse(graph, v, dealt), Reach(graph)
        response.has_fixed_nodes = True
        reach.propagate_all(dealt, (response.policy, solution.own))
        response.choose(solution.own, reach.table[:, OTHERS])
        solution.own = response.policy
        return solution


class Gains:
    """Gains of a resolver in games against a policy or a `LocalResponse`, compared with the blueprint.

    The blueprint plays against the same policy, or against itself if the enemy is a `LocalResponse`.

    Attributes:
        win_probability: Win probability of the blueprint.
        seconds: Processor time of each solved measure, in the order of the games: first and later measures.
    """

    def __init__(self, resolver: Resolver, enemy: np.ndarray | LocalResponse) -> None:
        """Evaluate the blueprint. ``enemy`` is a policy, float64 ``[n_rows]``, or a response to ``resolver``."""
        self.resolver, self.enemy, graph = resolver, enemy, resolver.graph
        blueprint = policy_of(resolver.blueprint, graph.space)
        base = enemy if isinstance(enemy, np.ndarray) else blueprint
        duel = head_to_head(graph, blueprint, base, 1e-9)
        self.win_probability, self._v = duel.win_probability, duel.v
        graph.back_up_full(blueprint, base, self._v)
        self._data = GameData(graph.space)
        self.seconds: tuple[list[float], list[float]] = ([], [])
        self._after_first = lru_cache(None)(self._after)

    def play(self, seed: int, game: int) -> float:
        """Play a game, and return the sum of the gains in its measures."""
        match = PunishMatch(self._data, seed, game)
        session = PlaySession(match, (PolicyPlayer("agent", self.resolver), PolicyPlayer("enemy", self.enemy)))
        session.begin()
        gain, measure = 0.0, 0
        while session.is_on:
            if match.measure > measure:
                measure = match.measure
                gain += self._gain(match)
            session.reveal()
        return gain

    def _gain(self, match: PunishMatch) -> float:
        """Return the gain in the measure that begins now."""
        *past, current = match.measures
        if not past:
            return self._after_first(-1, (), current.revealed)
        graph = self.resolver.graph
        state, hp = match.view(0).state, graph.space.layout.hp
        cards = join_pairs(graph.space.layout, match._kept[:1], match._kept[1:])
        key = (int(cards[0]) * hp + state.own_hp - 1) * hp + state.enemy_hp - 1
        return self._after(int(np.searchsorted(graph.node_keys, key)), tuple(past), current.revealed)

    def _after(self, node: int, past: tuple[PublicMeasure, ...], revealed: Five) -> float:
        """Return the gain in a measure after a node, or in a first measure."""
        graph, v = self.resolver.graph, self._v
        begun = time.process_time()
        solution = self.resolver._solution(past, revealed)
        self.seconds[bool(past)].append(time.process_time() - begun)
        dealt = graph.deal_again(np.eye(1, graph.n_nodes, node)[0]) if past else graph.initial_reach
        dealt = deals_showing(graph, dealt, revealed)
        measure = solution.graph
        values = np.zeros((measure.n_values, 2))
        values[measure.nodes] = v[graph.nodes][measure.whole_nodes]
        values[-2, 0] = 1.0
        if isinstance(self.enemy, np.ndarray):
            enemy = to_finer_model(measure.space, graph.space, self.enemy)
        else:
            enemy = self.enemy._solution(tuple(each.seen_by(1) for each in past), revealed).own
        measure.back_up_full(solution.own, enemy, values)
        own = measure.take_deals(dealt)
        return float(own @ values[: len(own), 0] - dealt @ v[: len(dealt), 0])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("enemy", nargs="?", help="player, exploiter or local, by default the agent without resolving")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    agent = Player(f"{args.agent}@resolve")
    space = StateSpace(agent.rules or PRESETS["tabletop"])
    resolver = agent.resolver(space)
    enemy: np.ndarray | LocalResponse
    if args.enemy == "local":
        enemy = LocalResponse(resolver)
    elif args.enemy == "exploiter":
        enemy = best_response(resolver.graph, resolver.blueprint, "belief").policy
    else:
        enemy = Player(args.enemy or args.agent).policy(space)
    gains = Gains(resolver, enemy)
    if args.enemy != "local":
        say(f"without resolving {gains.win_probability:.2%}")
    found: list[float] = []
    for game in range(args.games):
        found.append(gains.play(args.seed, game))
        if (game + 1) % 10 == 0 or game + 1 == args.games:
            error = 1.96 * float(np.std(found)) / len(found) ** 0.5
            times = " and ".join(f"{np.median(each or [0.0]):.2f} s ({len(each)})" for each in gains.seconds)
            say(f"{game + 1} games: {gains.win_probability + np.mean(found):.2%} +- {error:.2%}; {times} a measure")


if __name__ == "__main__":
    main()
