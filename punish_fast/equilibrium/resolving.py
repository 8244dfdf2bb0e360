"""Play that solves every measure again, from exact ranges and with the values of a blueprint after the measure.

A blueprint is a strategy for the whole game. At each deal, a `Resolver` solves a game of one measure
(``equilibrium.measure_graph.py``). It begins with the *ranges*: the joint probability of both hands and the deck, given
everything that both players have seen since the beginning of the game. It ends in the nodes after the measure, with the
win probabilities of the blueprint against itself. Both players learn by predictive regret matching+
(``_regret_matching.py``) against each other, under the information model ``memory``. Updates alternate between the
players, because simultaneous updates need about twice as many iterations. The average strategy is played. This method
is known as depth-limited resolving (M. Moravčík et al., "DeepStack: Expert-Level Artificial Intelligence in Heads-Up
No-Limit Poker", Science 356, 2017).

Ranges follow from the solutions of earlier measures by Bayes' rule. The enemy might not play these solutions, so a
tremble gives every legal action of the enemy a positive probability. A player remembers who played which cards in this
measure, and earlier measures determine the ranges. Within a measure, players forget only the order of the cards and
which cards they kept.

*Safe* resolving (N. Burch, M. Johanson and M. Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI
2014) does not trust the enemy's range. After the deal, the enemy chooses between the measure and the value that the
same hand has under the blueprint. The player therefore learns a strategy that leaves no hand of the enemy, as far as
possible, better off than the blueprint does. Plain resolving is better against enemies whose ranges are as expected.

Nothing is proved about the exploitability of a resolver, because it plays no table that could be enumerated.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.evaluation import EVALUATION, head_to_head
from punish_fast.duel.graph import GRAPH, GameGraph, Policy, empty_graph, must_be_graph
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.equilibrium import _regret_matching
from punish_fast.equilibrium._reach import OTHERS
from punish_fast.equilibrium._restricted_game import INSIDE, OUTSIDE, Marks
from punish_fast.equilibrium.measure_graph import MeasureGraph, Play
from punish_fast.equilibrium.regret_iteration import RESPONSES, Reach, RegretIteration
from punish_fast.equilibrium.regret_minimizers import RegretMatching
from punish_fast.equilibrium.restricted_game import RestrictedGame, restrict
from punish_fast.equilibrium.solver import LEARNING
from punish_fast.punish.codes import State, split_statuses
from punish_fast.punish.rules import Five
from punish_fast.punish.states.space import require_memoryless
from punish_fast.punish.strategy import policy_of, uniform_policy
from punish_fast.runtime.compilation.kernel_files import KernelGroup

# Probability that the enemy plays a random legal action instead of its solution, in each breath.
_TREMBLE = 0.01
# Error bound of the blueprint's win probabilities.
_TOLERANCE = 1e-6
# Deals and states with a smaller weight are skipped. It is the smallest normal number.
_LEAST_REACH = float(np.finfo(float).tiny)
# Maximum numbers of solutions in memory: of first measures, which many games share, and of later measures. The standard
# rules have 35 first measures, and a solution needs about 35 MB.
_MAX_FIRST, _MAX_LATER = 40, 24


class PublicMeasure(NamedTuple):
    """Public information about a measure so far.

    Attributes:
        revealed: Counts of the revealed cards.
        plays: Plays of all breaths so far.
    """

    revealed: Five
    plays: tuple[Play, ...] = ()

    def seen_by(self, seat: int) -> "PublicMeasure":
        """Return the measure from the point of view of a seat, if this is the point of view of seat 0.

        Args:
            seat: 0 for the player, 1 for the enemy.

        Returns:
            The measure, for the enemy with both sides of each play exchanged.

        Examples:
            >>> from punish_fast import PublicMeasure
            >>> PublicMeasure((0, 0, 0, 0, 1)).seen_by(1).revealed
            (0, 0, 0, 0, 1)
        """
        return self if seat == 0 else PublicMeasure(self.revealed, tuple(play.mirrored for play in self.plays))


class Resolver:
    """A player that solves every measure again.

    Attributes:
        graph: Graph of the game.
        blueprint: Policy for the whole game, float64 ``[n_rows]`` or a `PublicPolicy`.
        iterations: Number of iterations for each measure.
        is_safe: True for safe resolving.
        values: Win probability of the blueprint against itself at each node of ``graph``, float64 ``[n_nodes]``.
    """

    def __init__(self, graph: GameGraph, blueprint: Any, iterations: int = 30, is_safe: bool = False) -> None:
        """Evaluate the blueprint.

        Args:
            graph: Graph of the game, under ``memoryless``. It must distinguish the public states of the blueprint.
            blueprint: Strategy for the whole game: a `PublicPolicy` or another form of a player that `head_to_head`
                accepts.
            iterations: Number of iterations for each measure.
            is_safe: True for safe resolving.

        Raises:
            InformationError: If the information model of ``graph`` is not ``memoryless``.
            PolicyError: If ``blueprint`` does not belong to the game.
            ValueError: If the number of iterations is not positive.

        Examples:
            >>> from punish_fast import GameGraph, Resolver, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> resolver = Resolver(graph, uniform_policy(graph.space), iterations=50)
            >>> resolver.iterations
            50
        """
        must_be_graph(graph)
        require_memoryless(graph.space)
        if iterations < 1:
            raise ValueError(f"iterations: {iterations} is not positive")
        self.graph, self.iterations, self.is_safe = graph, iterations, is_safe
        self.blueprint: Policy = blueprint if isinstance(blueprint, PublicPolicy) else policy_of(blueprint, graph.space)
        duel = head_to_head(graph, self.blueprint, self.blueprint, _TOLERANCE)
        self.values = duel.v[graph.nodes, 0].copy()
        self._solutions = [lru_cache(n)(self._solve) for n in (_MAX_FIRST, _MAX_LATER)]

    def weights(self, history: Sequence[PublicMeasure], state: State) -> np.ndarray:
        """Return the probabilities of the legal actions in a state.

        Args:
            history: All measures of the game so far, from the player's point of view. Plays of the current measure
                end before the current breath.
            state: Information state of the player.

        Returns:
            float64 ``[n]``, probability of each legal action in ascending order.

        Examples:
            >>> from punish_fast import GameGraph, PublicMeasure, Resolver, StateSpace, load_rules, position
            >>> rules = load_rules("tiny")
            >>> resolver = Resolver(GameGraph(StateSpace(rules)), "naive", iterations=50)
            >>> history = [PublicMeasure(revealed=(0, 0, 0, 0, 1))]
            >>> resolver.weights(history, position("rs", discard="p", rules=rules)).round(2).tolist()
            [0.0, 0.0, 1.0, 0.0]
        """
        *past, current = history
        solution = self._solution(tuple(past), current.revealed)
        return solution.own[solution.graph.space.rows(state, tuple(current.plays))]

    def _solution(self, past: tuple[PublicMeasure, ...], revealed: Five) -> "MeasureSolution":
        """Return the solution of the measure after completed measures and revealed cards."""
        return self._solutions[bool(past)](past, revealed)

    def _solve(self, past: tuple[PublicMeasure, ...], revealed: Five) -> "MeasureSolution":
        graph = self.graph
        if past:
            before = self._solution(past[:-1], past[-1].revealed)
            nodes = before.nodes_after(past[-1].plays)
            dealt = graph.deal_again(nodes)
        else:
            dealt = graph.initial_reach
        dealt = deals_showing(graph, dealt, revealed)
        if not dealt.any():
            raise ValueError(f"revealed: {revealed} cannot be dealt after these measures")
        # All possible full states have the same HP and public state.
        state = np.searchsorted(graph.full.ptr, np.argmax(dealt), side="right") - 1
        status = split_statuses(graph.space.layout, graph.space.layers[0].status[state])
        measure = MeasureGraph(graph, revealed, (int(status.own_hp), int(status.enemy_hp)))
        weight = measure.take_deals(dealt)
        alternative = None
        if self.is_safe and past:
            public = int(graph.node_public[np.argmax(nodes)])
            alternative = measure.take_deals(dealt * (1.0 - self._deal_values(public)))
        return MeasureSolution(measure, weight, self.values[measure.whole_nodes], self.iterations, alternative)

    def _deal_values(self, public: int) -> np.ndarray:
        """Return the blueprint's win probabilities after deals that follow a public state, float64 ``[n]``."""
        graph, policies = self.graph, (self.blueprint, self.blueprint)
        if isinstance(self.blueprint, PublicPolicy):
            by_index = self.blueprint.by_index(graph.public)
            policies = by_index[public], by_index[graph.public.mirror[public]]
        v = np.zeros((graph.n_values, 2))
        v[graph.nodes, 0], v[-2, 0] = self.values, 1.0
        graph.back_up(*policies, v)
        return v[: len(graph.initial_reach), 0]


class MeasureSolution:
    """Solution of a measure after a deal.

    Attributes:
        graph: Graph of the measure.
        dealt: Ranges: probability of each full state in the first breath, float64 ``[n]``.
        alternative: Win probabilities of the enemy under the blueprint, times ``dealt``, float64 ``[n]``. None if
            resolving is not safe, or in the first measure.
        own: Player's strategy, float64 ``[n_rows]``. It is uniform in impossible states.
        enemy: Enemy's strategy, float64 ``[n_rows]``.
    """

    def __init__(
        self,
        graph: MeasureGraph,
        dealt: np.ndarray,
        values: np.ndarray,
        iterations: int,
        alternative: np.ndarray | None = None,
    ) -> None:
        """Solve the measure.

        Args:
            graph: Graph of the measure.
            dealt: Probability of each full state in the first breath, float64 ``[n]``.
            values: Win probability at each node, float64 ``[n_nodes]``.
            iterations: Number of iterations.
            alternative: float64 ``[n]``, win probabilities of the enemy without resolving, times ``dealt``. By default,
                plain resolving.
        """
        self.graph, self.dealt, self.alternative = graph, dealt, alternative
        mirror, theirs = graph.mirror, np.empty_like(dealt)
        theirs[mirror] = dealt
        games = _possible_parts(graph, (dealt, theirs))
        first, enemy_first = (game.numbers[: game.full.ptr[game.layer_ptr[1]]] for game in games)
        mirror = np.searchsorted(enemy_first, mirror[first])
        dealt, theirs = dealt[first], theirs[enemy_first]
        choice = _Choice(
            games[0].full.enemy_row[: len(first)], dealt, alternative if alternative is None else alternative[first]
        )
        seats = [_seat(game, each, values) for game, each in zip(games, (dealt.copy(), theirs), strict=True)]
        for seat, other in zip(seats, reversed(seats), strict=True):
            seat.enemy = other.strategy
        for iteration in range(1, iterations + 1):
            np.multiply(dealt, choice.follow, out=seats[0].dealt)
            for seat in seats:
                seat.run(iteration)
            choice.learn(seats[1].v[mirror])
        policies = [uniform_policy(graph.space) for _ in seats]
        for policy, seat, game in zip(policies, seats, games, strict=True):
            policy[game.rows] = seat.average
        self.own, self.enemy = policies

    def nodes_after(self, plays: tuple[Play, ...]) -> np.ndarray:
        """Return the ranges after the measure: weights of the nodes of the whole game, float64 ``[n]``, of any sum."""
        enemy = (1.0 - _TREMBLE) * self.enemy + _TREMBLE * uniform_policy(self.graph.space)
        return self.graph.nodes_after_plays(self.own, enemy, self.dealt, plays)


def _seat(game: LayeredGraph, dealt: np.ndarray, values: np.ndarray) -> RegretIteration:
    """Return a player who learns by predictive regret matching+ with the node values ``values``, float64 ``[n]``."""
    v = np.concatenate([np.zeros(game.n_full), values, [1.0, 0.0]])
    seat = RegretIteration(game, RegretMatching(game.state_ptr), dealt, v, least=_LEAST_REACH)
    seat.has_fixed_nodes = True
    return seat


class _Choice:
    """Choice of the enemy after a deal, to play the measure or to take an alternative value (safe resolving)."""

    def __init__(self, state: np.ndarray, dealt: np.ndarray, alternative: np.ndarray | None) -> None:
        """Begin with equal probabilities, or always play the measure if ``alternative`` is None.

        ``state``, int ``[n]``, is the enemy's information state after each deal, and ``dealt`` the weight of the deal.
        ``alternative`` contains win probabilities times ``dealt``.
        """
        self._state, self._dealt, self._alternative = state, dealt, alternative
        self._regret = np.zeros((2, int(state.max()) + 1))
        self.follow = np.full(len(state), 1.0 if alternative is None else 0.5)

    def learn(self, v: np.ndarray) -> None:
        """Learn from the win probabilities of the enemy after each deal, float64 ``[n]``, by regret matching+."""
        if self._alternative is None:
            return
        weights = self._dealt, self._dealt * v, self._alternative
        mass, *totals = (np.bincount(self._state, weight) for weight in weights)
        values = np.array(totals) / np.maximum(mass, _LEAST_REACH)
        p = np.zeros(len(mass))
        p[self._state] = self.follow
        mean = p * values[0] + (1.0 - p) * values[1]
        self._regret = np.maximum(0.0, self._regret + values - mean)
        total = self._regret.sum(axis=0)
        self.follow = np.divide(self._regret[0], total, out=np.full(len(total), 0.5), where=total > 0)[self._state]


def deals_showing(graph: GameGraph, dealt: np.ndarray, revealed: Five) -> np.ndarray:
    """Return the probabilities of deals, given revealed cards: zeros if these cards cannot be dealt.

    ``dealt``, float64 ``[n]``, contains weights of the full states in the first breath of a ``memoryless`` graph.
    """
    layer = graph.space.layers[0]
    states = np.repeat(np.arange(layer.first[-1]), np.diff(graph.full.ptr[: layer.first[-1] + 1]))
    blocks = np.searchsorted(layer.first, states, side="right") - 1
    shown = np.where((layer.piles[blocks, 1] == revealed).all(axis=1), dealt, 0.0)
    return np.asarray(shown / max(shown.sum(), _LEAST_REACH))


def _possible_parts(graph: MeasureGraph, deals: Sequence[np.ndarray]) -> list[RestrictedGame]:
    """Return the part of a graph for each seat that is possible after its deals, float64 ``[n]``.

    Both parts have the same information states and rows.
    """
    reach, uniform = Reach(graph), uniform_policy(graph.space)
    state, parts = np.zeros(len(graph.state_ptr) - 1, dtype=np.uint8), []
    for dealt in deals:
        reach.propagate_all(dealt, (uniform, uniform))
        full = np.where(reach.table[:, OTHERS] > 0, INSIDE, OUTSIDE).astype(np.uint8)
        np.maximum.at(state, np.repeat(np.arange(len(state)), np.diff(graph.full.ptr)), full)
        parts.append(full)
    row = np.repeat(state, np.diff(graph.state_ptr))
    return [game for full in parts if (game := restrict(graph, Marks(state, row, full), must_pay=False)) is not None]


def compile_seat() -> None:
    """Compile the kernels of regret matching."""
    _seat(empty_graph(), np.zeros(0), np.zeros(0)).run(1)


_MATCHING = KernelGroup(compile_seat, (_regret_matching.sum_regrets, _regret_matching.match_regrets))
# Kernel groups needed by resolvers.
RESOLVING = [*GRAPH, EVALUATION, LEARNING, RESPONSES, _MATCHING]
