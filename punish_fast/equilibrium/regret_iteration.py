"""One iteration of regret minimization: forward pass of reach, backward pass of regrets, update, and best response.

An iteration runs on the whole graph, or on a restricted game with the same deals.

**Counterfactual best response.** In an information state ``s`` the enemy's hand ``e`` has the weight

    C(s, e) = sum over all paths from the deal to (s, e) of the probability of the chance and enemy moves on the path.

This weight is the *counterfactual reach*. It omits the player's moves, because they carry no information about the
enemy's hand. With these weights, an iteration goes backward through a measure, starting from the values of the nodes,
and finds the best actions (``duel/_best_response.py``). Node values and the distribution of deals depend on the
response itself, because hands are kept from measure to measure. As in policy iteration, both are computed from the
response and used in the next iteration.

Under perfect recall, an iteration finds the best response within a measure. With imperfect recall, the paths to
``(s, e)`` also differ in the player's moves, and paths that the last response would not take should have little weight.
Moves of the player therefore have weight 1 if the last response chooses them. Other moves have a small weight, so that
beliefs are defined even in states that the response avoids. Under perfect recall, these weights cancel out. Under
imperfect recall, an iteration might not improve the response.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from punish_fast.duel import _best_response
from punish_fast.duel.graph import empty_graph
from punish_fast.duel.layered_graph import LayeredGraph
from punish_fast.equilibrium import _reach, _regret_matching
from punish_fast.equilibrium._reach import OTHERS, RESPONSE_OTHERS, RESPONSE_OWN
from punish_fast.equilibrium.regret_minimizers import OFF_POLICY_WEIGHT, RegretMinimizer
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.parallel import for_chunks, for_each

Strategies = tuple[np.ndarray, np.ndarray]
# Full states with a smaller reach are skipped. Under the model ``memory``, all skipped states together occur in less
# than one game in a million.
_LEAST_REACH = 1e-12
# Deals have converged when their total change, in measures per game, is below this tolerance.
_SAME_DEALS = 1e-9


class Reach:
    """Reaches R and C of full states and nodes (``_reach.py``). C has a minimum weight for the player's choices."""

    def __init__(self, graph: LayeredGraph, has_response: bool = False) -> None:
        """Allocate the tables. ``has_response`` adds columns for the reaches of a response to the player."""
        self.graph = graph
        n_columns = 4 if has_response else 2
        self.table = np.zeros((graph.n_full, n_columns))  # columns are defined in ``_reach.py``
        self.nodes = np.empty((graph.n_nodes, n_columns))  # reaches of nodes at the end of the measure
        # Buffers for the parts of a breath. All breaths use the same buffers. All elements are zero between breaths.
        self._shapes = [(*graph.room_after(number), n_columns) for number in range(graph.n_breaths)]
        self._room = np.zeros(max((math.prod(shape) for shape in self._shapes if shape[0] > 1), default=0))

    def begin(self, dealt: np.ndarray, response_dealt: np.ndarray | None = None) -> None:
        """Set both reaches of the first breath's full states to ``dealt``, float64 ``[n]``.

        If ``response_dealt`` is given, set the reaches of the response to it.
        """
        self.table[: len(dealt), :2] = dealt[:, None]
        if response_dealt is not None:
            self.table[: len(dealt), 2:] = response_dealt[:, None]

    def propagate(
        self,
        number: int,
        strategies: Strategies,
        off_policy_weight: float = 1.0,
        choice: np.ndarray | None = None,
        least: float = 0.0,
    ) -> None:
        """Pass on the reach of a breath to the full states of the next breath, or to the nodes.

        Args:
            number: Index of the breath.
            strategies: The player's and the enemy's strategy, float64 ``[n_rows]``.
            off_policy_weight: Minimum weight of the player's choices in C. For 1, C is the counterfactual reach.
            choice: int64 ``[n_states]``, row that a response to the player chooses in each state, or None.
            least: Full states whose C is lower are skipped.
        """
        graph, shape = self.graph, self._shapes[number]
        parts, targets = graph.parts[number], graph.targets_of(number)
        is_last = number == len(self._shapes) - 1
        into = self.nodes if is_last else self.table[targets[0] : targets[0] + shape[1]]
        if shape[0] == 1:
            out = into[None]
            for_each(_reach.sum_buffers, shape[1], out[:0], into)
        else:
            out = self._room[: math.prod(shape)].reshape(shape)
        rows, weights, tables = (graph.state_ptr, graph.action), (off_policy_weight, least), (self.table, targets, out)
        args = (graph.full, graph.draws, rows, strategies, choice, weights, tables)
        for_chunks(_reach.propagate_reach, graph.part_weights[number], parts, *args)
        if shape[0] > 1:
            for_each(_reach.sum_buffers, shape[1], out, into)

    def propagate_all(
        self, dealt: np.ndarray, strategies: Strategies, off_policy_weight: float = 1.0, least: float = 0.0
    ) -> None:
        """Propagate reach from the deals through all breaths of the measure. See `begin` and `propagate`."""
        self.begin(dealt)
        for number in range(len(self._shapes)):
            self.propagate(number, strategies, off_policy_weight, least=least)

    def deal_again(self, column: int = 0) -> np.ndarray:
        """Return the reach of the full states after the next deal, float64 ``[n]``, given a column of ``nodes``."""
        return self.graph.deal_again(np.ascontiguousarray(self.nodes[:, column]))


class CounterfactualResponse:
    """Response to an enemy, with the values of full states and nodes."""

    def __init__(self, graph: LayeredGraph, v: np.ndarray, opening: np.ndarray) -> None:
        """Start with the first action of every state, on the whole graph or a restricted game.

        Args:
            v: float64 ``[n_values, k]``, initial win probabilities in the first column, updated in place.
            opening: float64 ``[n]``, initial `dealt`: on the whole graph, the probability that a game begins in each
                full state of the first breath.
        """
        self.graph = graph
        self.v = v  # An iteration does not change the values of full states that it skips.
        self.v[-2:, 0] = 1.0, 0.0
        self.nodes = v[graph.nodes]  # view of the node values
        self.choice = graph.state_ptr[:-1].astype(np.int64)  # row chosen in each information state
        self._opening = opening
        self.dealt = opening.copy()  # float64 ``[n]``, expected visits per game to each full state of the first breath
        self.has_fixed_nodes = False  # True if iterations must not change the values of nodes

    @property
    def policy(self) -> np.ndarray:
        """Deterministic policy that plays the rows `choice`, float64 ``[n_rows]``."""
        policy = np.ones(len(self.graph.action))
        policy[: self.graph.state_ptr[-1]] = 0.0
        policy[self.choice] = 1.0
        return policy

    def improve(self, enemy: np.ndarray, reach: Reach, max_passes: int = 1) -> None:
        """Run one iteration against the policy ``enemy``, float64 ``[n_rows]``.

        ``reach`` is working memory for the same graph. Before the actions are chosen, up to ``max_passes`` forward
        passes are run until the deals converge. Each pass uses the deals from the previous pass.
        """
        strategies = (self.policy, enemy)
        for _ in range(max_passes):
            before = self.dealt.copy()
            reach.propagate_all(before, strategies, OFF_POLICY_WEIGHT, _LEAST_REACH)
            self.deal_again(reach.deal_again())
            if np.abs(self.dealt - before).sum() < _SAME_DEALS:
                break
        self.choose(enemy, reach.table[:, OTHERS], _LEAST_REACH)

    def deal_again(self, again: np.ndarray) -> None:
        """Set `dealt` for the next iteration. ``again``, float64 ``[n]``, is the reach of deals after a measure."""
        self.dealt[:] = self._opening + again

    def choose(self, enemy: np.ndarray, belief: np.ndarray, least: float = 0.0) -> None:
        """Choose the best actions under ``belief``, float64 ``[n_full]``.

        Full states whose belief is below ``least`` are skipped.
        """
        self.graph.respond(enemy, belief, self.v, self.choice, least)
        if not self.has_fixed_nodes:
            self.nodes[:, 0] = self.graph.back_up_nodes(self.v)[:, 0]


class RegretIteration:
    """Regret minimization for the strategies of a player and its enemy, one measure per iteration."""

    def __init__(
        self,
        graph: LayeredGraph,
        minimizer: RegretMinimizer,
        dealt: np.ndarray,
        v: np.ndarray,
        share: float = 0.0,
        response: CounterfactualResponse | None = None,
        least: float = 0.0,
    ) -> None:
        """Start with the strategy given by the minimizer's tables.

        Args:
            dealt: float64 ``[n]``, expected visits per game to each full state of the first breath, updated in place
                by `run`.
            v: float64 ``[n_values]``, win probabilities, updated in place.
            share: Share of games against the response.
            response: Response to the player, or None.
            least: Full states whose C is lower are skipped in the forward pass.
        """
        n_rows = len(minimizer.regret)
        self.graph, self.minimizer, self.share, self.response = graph, minimizer, share, response
        self.rows: Any = slice(None)  # rows of ``graph`` in the whole graph
        self.dealt, self.v, self._least = dealt, v, least
        self.reach = Reach(graph, has_response=response is not None)
        self.strategy = np.empty(n_rows)
        self.enemy = self.strategy if response is None else np.empty(n_rows)
        # Function that returns the strategy that the enemy mixes with the response. By default, the player's strategy.
        self.partner: Callable[[], np.ndarray] | None = None
        self.has_fixed_nodes = False  # True if iterations must not change the values of nodes
        # R and C (``_reach.py``) of each information state in the last iteration
        self.state_reach = np.zeros((len(graph.state_ptr) - 1, 2))
        self.play()

    @property
    def nodes(self) -> np.ndarray:
        """Win probabilities at the nodes, float64 ``[n_nodes]``, a view of ``v``."""
        return self.v[self.graph.nodes]

    @property
    def average(self) -> np.ndarray:
        """Average strategy, float64 ``[n_rows]``. In states with a total weight of 0, the last strategy.

        Actions whose probability is below ``minimizer.least_probability`` are dropped.
        """
        total, least = self.minimizer.tables["strategy_sum"], self.minimizer.least_probability
        mass = self._by_state(total)
        average: np.ndarray = np.divide(total, mass, out=self.strategy.copy(), where=mass > 0)
        if least > 0:
            average[average < least] = 0.0
            average /= self._by_state(average)
        return average

    def _by_state(self, rows: np.ndarray) -> np.ndarray:
        """Return for each row the sum of ``rows`` over all rows of its information state."""
        state_ptr = self.graph.state_ptr
        return np.repeat(np.add.reduceat(rows, state_ptr[:-1]), np.diff(state_ptr))

    def learn_measure(self, partner: Callable[[], np.ndarray]) -> None:
        """Learn a single measure from now on: keep the values of the nodes, and play against another strategy.

        ``partner`` returns the strategy that the enemy mixes with the response, float64 ``[n_rows]``.
        """
        assert self.response is not None
        self.partner, self.has_fixed_nodes, self.response.has_fixed_nodes = partner, True, True

    def play(self) -> None:
        """Compute both strategies from the tables."""
        self.minimizer.play(self.strategy)
        self._mix()

    def run(self, iteration: int, opening: np.ndarray | None = None) -> None:
        """Run an iteration.

        ``opening``, float64 ``[n]``, contains the deals at the beginning of a game. For the next iteration, the deals
        after the measure are added to them. If it is None, the deals are reused.
        """
        graph, response, strategies = self.graph, self.response, (self.strategy, self.enemy)
        choice = None if response is None else response.choice
        self.reach.begin(self.dealt, None if response is None else response.dealt)
        for number in range(graph.n_breaths if opening is not None else graph.n_breaths - 1):
            self.reach.propagate(number, strategies, self.minimizer.off_policy_weight, choice, self._least)
        if opening is not None:
            self.dealt[:] = opening + self.reach.deal_again()
            if response is not None:
                response.deal_again(self.reach.deal_again(int(RESPONSE_OWN)))
        args = (graph.full, graph.draws, (graph.state_ptr, graph.action), strategies)
        tables = (self.reach.table, self.v, self.minimizer.regret, self.state_reach)
        for number in reversed(range(graph.n_breaths)):
            graph.for_states(number, _regret_matching.regret_full, *args, *tables)
        if not self.has_fixed_nodes:
            self.nodes[:] = graph.back_up_nodes(self.v[:, None])[:, 0]
        self.minimizer.learn(iteration, self.state_reach, self.strategy)
        if response is not None:
            # Use the beliefs under the previous, similar strategy, to save another forward pass.
            response.choose(self.strategy, self.reach.table[:, RESPONSE_OTHERS])
            self._mix()

    def _mix(self) -> None:
        if self.response is not None:
            strategy = self.strategy if self.partner is None else self.partner()
            np.multiply(strategy, 1.0 - self.share, out=self.enemy)
            self.enemy[self.response.choice] += self.share


def compile_responses() -> None:
    """Compile the kernels that compute a counterfactual best response."""
    graph = empty_graph()
    response = CounterfactualResponse(graph, np.zeros((graph.n_values, 2)), graph.initial_reach)
    Reach(graph).propagate_all(response.dealt, (response.policy, response.policy))
    # The column must not be contiguous, unlike a column of an empty table.
    response.choose(response.policy, np.zeros((2, 2))[:, OTHERS])


_KERNELS = (_best_response.respond_full, _reach.propagate_reach, _reach.sum_buffers)
RESPONSES = KernelGroup(compile_responses, _KERNELS)
