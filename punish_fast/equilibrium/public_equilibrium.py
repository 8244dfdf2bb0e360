"""Equilibrium strategies that remember public information from one measure to the next.

A strategy over the information states of one measure forgets everything that happened before the last deal. But at the
end of a measure, both players know which cards are left (``duel/public_states.py``), so an opponent with a better
memory often knows the player's kept hand. Here, the player has a separate strategy for each of some public states.

All strategies begin with one *base* strategy. Then they are learned again, one public state after another. The measure
after a public state is a game of its own: it begins with the deals after nodes that the current strategies reach, and
ends with the values of the current strategies at its last nodes. Each player learns (``measure_seat.py``) against the
other player's strategy and a best response to its own. After an unequal public state, in which players kept hands of
different sizes, they have different strategies. A *round* learns the strategies after all public states, in order of
their reach probabilities, and finally the strategy for the first measure, which is also used after all public states
that are not listed. The values and reach probabilities of earlier rounds are not exact for the strategies of a later
round, so a second round can be better than the first. A strategy after a public state contains only the information
states that are likely enough after it, rounded (`PolicyPart`). Elsewhere it agrees with the strategy for the first
measure.
"""

from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph, must_be_graph, redeal_after
from punish_fast.duel.public_states import (
    UNITS,
    LazyPolicies,
    PolicyPart,
    PublicPolicy,
    PublicStates,
    every_public_state,
    rows_of,
)
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.measure_seat import MeasureSeat, visits_after
from punish_fast.equilibrium.regret_iteration import RegretIteration
from punish_fast.mdp.arrays.policy import check_policy, first_best, taking
from punish_fast.punish.strategy import policy_of
from punish_fast.runtime.errors import ArgumentError, check_allowed
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.parallel import cumulated

# Share of the deals after a measure that do not depend on strategies: all nodes of the public state are equally likely.
_TREMBLE = 0.01
# Dtype and number of dimensions of the arrays of `PublicEquilibrium.state_dict`.
LAYOUT = {"rounds": ("int64", 1), "values": ("float64", 2), "visits": ("float64", 2), "after": ("float64", 3)}
LAYOUT |= {"response": ("uint8", 1), "first": ("float64", 1), "part_ptr": ("int64", 1)}
LAYOUT |= {"part_state": ("int32", 1), "part_units": ("uint8", 1)}
# Reach probabilities are summed over measures until a game continues with a lower probability.
_LEAST_REACH = 1e-9
_MAX_MEASURES = 1000
# The strategy for the first measure is used in every game, so it is learned with this multiple of the iterations.
_OF_FIRST_MEASURE = 5


def likely_public_states(graph: GameGraph, policy: np.ndarray, n: int) -> PublicStates:
    """Return the public states that games of a policy against itself reach most often.

    Args:
        graph: Graph of the game.
        policy: The policy, float64 ``[n_rows]``.
        n: Number of public states, where a public state and its mirrored public state count as one.

    Returns:
        Reachable public states, most likely first.

    Examples:
        >>> from punish_fast import GameGraph, StateSpace, likely_public_states, load_rules, uniform_policy
        >>> graph = GameGraph(StateSpace(load_rules("tiny")))
        >>> likely_public_states(graph, uniform_policy(graph.space), 2).rows.tolist()
        [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0]]
    """
    whole = GameGraph(graph.space, public=every_public_state(graph.space.layout))
    visits = np.bincount(whole.node_public, _visits(whole, policy, policy), minlength=len(whole.public))
    mirror = whole.public.mirror
    visits += visits[mirror]
    order = np.argsort(-visits, kind="stable")
    first = order[(order <= mirror[order]) & (order > 0) & (visits[order] > 0)][:n]
    both = np.stack([first, mirror[first]], axis=1).ravel()
    return PublicStates(whole.public.rows[both[np.append(True, both[1:] != both[:-1])[: len(both)]] - 1])


class Learned(NamedTuple):
    """Learned strategies after a public state and its mirrored public state, by index."""

    policies: dict[int, PolicyPart | np.ndarray]  # whole policy, float64 ``[n_rows]``, for index 0
    # Visits to the nodes after the measure, with the old and with the new strategy, float64 ``[2, n_nodes]`` each.
    visits: dict[int, tuple[np.ndarray, np.ndarray]]
    values: np.ndarray  # float64 ``[2, n_nodes]``, win probabilities, new at the nodes of these public states


class PublicEquilibrium:
    """Approximation of an equilibrium by strategies for each public state.

    Attributes:
        graph: Graph of the game, with public states.
        order: Indices of public states, in the order of a round. Mirrored public states are learned together, so only
            one of them is listed.
        rounds: int64 ``[len(graph.public)]``, number of times that the strategy for each index was learned.
    """

    def __init__(
        self, graph: GameGraph, base: Any, share: float = 0.9, state: dict[str, np.ndarray] | None = None
    ) -> None:
        """Begin with the same strategy for all public states, or continue from the state of another learner.

        Args:
            graph: Graph of the game, with public states.
            base: Strategy, float64 ``[n_rows]``, or another form of a player that `head_to_head` accepts.
            share: Share of games against a best response, above 0 and at most 1.
            state: Result of `state_dict` of a learner with the same arguments. By default, begin anew.

        Raises:
            PolicyError: If ``base`` does not belong to the game.
            ValueError: If ``share`` is out of range, or if ``state`` cannot belong to this game.

        Examples:
            >>> from punish_fast import GameGraph, PublicEquilibrium, StateSpace, bracket, likely_public_states
            >>> from punish_fast import load_rules, uniform_policy
            >>> plain = GameGraph(StateSpace(load_rules("tiny")))
            >>> base = uniform_policy(plain.space)
            >>> graph = GameGraph(plain.space, public=likely_public_states(plain, base, 2))
            >>> learner = PublicEquilibrium(graph, base)
            >>> learner.learn_all(20)
            >>> bracket(graph, learner.policy, 0.01).upper < bracket(graph, base, 0.01).lower
            True
        """
        must_be_graph(graph)
        check_allowed(0 < share <= 1, ArgumentError, "share", share, "above 0 and at most 1")
        self.graph, self._share = graph, share
        mirror = graph.public.mirror
        with_nodes = [k for k in range(1, len(graph.public)) if k <= mirror[k] and len(graph.nodes_after(k))]
        self.order = [*with_nodes, 0]
        self.rounds = np.zeros(len(graph.public), dtype=np.int64)
        # Strategy for the first measure, float64 ``[n_rows]``, and a `PolicyPart` for each learned public state.
        self._policies: dict[int, Any] = {0: policy_of(base, graph.space)}
        # Visits to nodes from the measure after each learned public state, float64 ``[2, n_nodes]``.
        self._after: dict[int, np.ndarray] = {}
        if state is not None:
            self._resume(state)
            return
        base, state_ptr = self._policies[0], graph.space.state_ptr
        found = best_response(graph, base, "belief").policy
        self._response = (first_best(state_ptr, found) - state_ptr[:-1]).astype(np.uint8)
        # Win probabilities at the nodes and visits to them: of the strategies against themselves, and of the response.
        players = base, self._response_policy
        self._values = np.array([head_to_head(graph, own, base, 1e-6).v[graph.nodes, 0] for own in players])
        self._visits = np.array([_visits(graph, own, base) for own in players])

    @property
    def policy(self) -> PublicPolicy:
        """Current strategy."""
        return self._policy_with({})

    def _policy_with(self, learned: dict[int, PolicyPart | np.ndarray]) -> PublicPolicy:
        policies, state_ptr = self._policies | learned, self.graph.space.state_ptr

        def policy_after(index: int) -> np.ndarray:
            part = policies.get(index)
            return part.policy(state_ptr, policies[0]) if isinstance(part, PolicyPart) else policies[0]

        return PublicPolicy(self.graph.public, LazyPolicies(len(self.graph.public), policy_after))

    @property
    def _response_policy(self) -> np.ndarray:
        """Response to the base strategy, float64 ``[n_rows]``."""
        return taking(len(self.graph.action), self.graph.space.state_ptr[:-1] + self._response)

    def state_dict(self, index: int | None = None) -> dict[str, np.ndarray]:
        """Return the state of the learner as arrays.

        Args:
            index: Index of a public state. If it is given, omit all strategies except for this public state and its
                mirrored public state. By default, return the whole state.

        Returns:
            Arrays by name, for another learner with the same public states, base and share.

        Examples:
            >>> from punish_fast import GameGraph, PublicEquilibrium, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> base = uniform_policy(graph.space)
            >>> learner = PublicEquilibrium(graph, base)
            >>> learner.learn(0, 2)
            >>> again = PublicEquilibrium(graph, base, state=learner.state_dict())
            >>> bool((again.policy[0] == learner.policy[0]).all())
            True
        """
        learned = self._learned_indices(self.order if index is None else [index])
        parts, after = [self._policies[index] for index in learned if index], [self._after[index] for index in learned]
        return {
            "rounds": np.where(np.isin(np.arange(len(self.rounds)), learned), self.rounds, 0),
            "values": self._values.copy(),
            "visits": self._visits.copy(),
            "after": np.array(after).reshape(-1, *self._visits.shape),
            "response": self._response,
            "first": self._policies[0][: None if 0 in learned else 0],
            "part_ptr": cumulated(np.array([len(part.state) for part in parts], dtype=np.int64)),
            "part_state": np.concatenate([np.zeros(0, dtype=np.int32), *(part.state for part in parts)]),
            "part_units": np.concatenate([np.zeros(0, dtype=np.uint8), *(part.units for part in parts)]),
        }

    def _resume(self, state: dict[str, np.ndarray]) -> None:
        lengths, shape = np.diff(self.graph.space.state_ptr), (2, self.graph.n_nodes)

        def valid(name: str, shape: tuple[int, ...], least: float, most: Any = np.inf) -> np.ndarray:
            array = state[name]
            if array.shape != shape or not ((array >= least) & (array <= most)).all():
                raise ValueError(f"{name}: must have the shape {shape} and entries from {least} to {np.max(most)}")
            return array.copy()

        self.rounds = valid("rounds", self.rounds.shape, 0)
        learned = self._learned_indices(self.order)
        # Win probabilities are sums, so rounding errors can move them slightly outside [0, 1].
        self._values = valid("values", shape, -1e-9, 1 + 1e-9)
        self._visits = valid("visits", shape, 0)
        self._after = dict(zip(learned, valid("after", (len(learned), *shape), 0), strict=True))
        self._response = valid("response", lengths.shape, 0, lengths - 1)
        first = valid("first", (len(self._policies[0]) if 0 in learned else 0,), 0, 1)
        if len(first):
            self._policies[0] = check_policy(self.graph.space.state_ptr, first)
        later = [index for index in learned if index]
        ptr = valid("part_ptr", (len(later) + 1,), 0)
        states = valid("part_state", (int(ptr[-1]),), 0, len(lengths) - 1)
        row_ptr = cumulated(lengths[states])
        units = valid("part_units", (int(row_ptr[-1]),), 0)
        if ptr[0] or (np.diff(ptr) < 0).any():
            raise ValueError("part_ptr: must begin with 0 and not descend")
        if len(units) and (np.add.reduceat(units, row_ptr[:-1], dtype=np.int64) != UNITS).any():
            raise ValueError(f"part_units: must add up to {UNITS} in each state")
        for index, begin, end in zip(later, ptr, ptr[1:], strict=False):
            self._policies[index] = PolicyPart(states[begin:end], units[row_ptr[begin] : row_ptr[end]])

    def _learned_indices(self, order: list[int]) -> list[int]:
        """Return the learned indices in a list, each with the index of its mirrored public state."""
        mirror = self.graph.public.mirror
        indices = dict.fromkeys(k for index in order for k in (index, int(mirror[index])))
        return [index for index in indices if self.rounds[index] > 0]

    def learn_all(self, iterations: int) -> None:
        """Learn all strategies again.

        Args:
            iterations: Number of iterations for each public state, see `learn`.

        Examples:
            >>> from punish_fast import GameGraph, PublicEquilibrium, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> learner = PublicEquilibrium(graph, uniform_policy(graph.space))
            >>> learner.learn_all(2)
            >>> len(learner.policy.states)
            1
        """
        for index in self.order:
            self.learn(index, iterations)

    def learn(self, index: int, iterations: int) -> None:
        """Learn the strategies for a public state and its mirrored public state.

        Args:
            index: Index of the public state.
            iterations: Number of iterations. The strategy for the first measure, with index 0, is learned with five
                times as many iterations.

        Examples:
            >>> from punish_fast import GameGraph, PublicEquilibrium, StateSpace, load_rules, uniform_policy
            >>> graph = GameGraph(StateSpace(load_rules("tiny")))
            >>> learner = PublicEquilibrium(graph, uniform_policy(graph.space))
            >>> learner.learn(0, 2)
            >>> len(learner.policy[0]) == len(graph.action)
            True
        """
        self._apply(self._learned(index, iterations))

    def _learned(self, index: int, iterations: int) -> Learned:
        """Return the result of `learn` for `_apply`, and change nothing."""
        before, visits = self.policy, self._visits
        seats = [self._seat(k, before[k]) for k in dict.fromkeys([index, int(self.graph.public.mirror[index])])]
        for seat, partner in zip(seats, reversed(seats), strict=True):
            seat.begin(partner)
        for _ in range(iterations if index else iterations * _OF_FIRST_MEASURE):
            for seat in seats:
                seat.iterate()
        # Strategies are computed later, because this drops the restricted games of the seats.
        last = {seat.index: seat.iteration for seat in seats}
        learned = Learned({seat.index: self._strategy(seat) for seat in seats}, {}, self._values.copy())
        policies = [self._policy_with(learned.policies), before]
        for k, iteration in last.items():
            learned.visits[k] = self._evaluate(k, iteration, policies, visits, learned.values)
            visits = _replaced(visits, *learned.visits[k])
        return learned

    def _apply(self, learned: Learned) -> None:
        """Replace strategies, values and visits by a result of `_learned`."""
        # The state is valid before and after this block, but not within.
        with uninterrupted():
            self._policies |= learned.policies
            for index, (before, after) in learned.visits.items():
                self._visits, self._after[index] = _replaced(self._visits, before, after), after
                nodes = self.graph.nodes_after(index)
                self._values[:, nodes] = learned.values[:, nodes]
                self.rounds[index] += 1

    def _strategy(self, seat: MeasureSeat) -> PolicyPart | np.ndarray:
        state_ptr, average, learned = self.graph.space.state_ptr, seat.average, seat.learned
        if seat.index:
            return PolicyPart.rounded(state_ptr, average, learned)
        policy, (rows, _) = self._policies[0].copy(), rows_of(state_ptr, learned)
        policy[rows] = average[rows]
        return np.asarray(policy)

    def _seat(self, index: int, policy: np.ndarray) -> MeasureSeat:
        mirrored, state_ptr = int(self.graph.public.mirror[index]), self.graph.space.state_ptr
        dealt = self._deals(index, self._visits[0]), self._deals(mirrored, self._visits[1])
        choice = (state_ptr[:-1] + self._response)[: len(self.graph.state_ptr) - 1]
        return MeasureSeat(self.graph, self._share, index, (policy, choice), dealt, self._values)

    def _deals(self, index: int, visits: np.ndarray) -> np.ndarray:
        """Return the probabilities of the full states after a public state, float64 ``[n]``, with a tremble."""
        nodes, dealt = self.graph.node_public == index, self._dealt(index, visits)
        if nodes.any():
            dealt = dealt / max(dealt.sum(), _LEAST_REACH) + _TREMBLE * self.graph.deal_again(nodes / nodes.sum())
        return dealt

    def _dealt(self, index: int, visits: np.ndarray) -> np.ndarray:
        """Return the expected visits to full states of the first breath after a public state, float64 ``[n]``."""
        graph, opening = self.graph, (index == 0) * self.graph.initial_reach
        return np.asarray(graph.deal_again(np.where(graph.node_public == index, visits, 0.0)) + opening)

    def _evaluate(
        self, index: int, iteration: RegretIteration, policies: list[PublicPolicy], visits: np.ndarray, out: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate a new strategy on the game in which it was learned.

        ``policies`` contains the new and the old strategies. Write the values of nodes to ``out``, float64
        ``[2, n_nodes]``. Return the visits after the measure with the old and with the new strategy.
        """
        graph, game, both = self.graph, iteration.graph, (index, int(self.graph.public.mirror[index]))
        assert iteration.response is not None
        (own, enemy), (mine, theirs) = ([policy[k][iteration.rows] for k in both] for policy in policies)
        pairs = [(own, enemy), (iteration.response.policy, own)]
        if index not in self._after:
            pairs += [(mine, theirs), (self._response_policy[iteration.rows], mine)]
        dealt = [self._dealt(k, each) for k, each in zip(both, visits, strict=True)]
        found = [visits_after(game, *each) for each in zip(dealt * 2, pairs, strict=False)]
        for k, values in enumerate((iteration.v, iteration.response.v[:, 0])):
            nodes, v = graph.nodes_after(both[k]), np.column_stack([values, values])
            game.back_up_full(*pairs[k], v)
            out[k, nodes] = graph.back_up_nodes(v, redeal_after(graph.redeal, nodes))[:, 0]
        return np.array(found[2:] or self._after[index]), np.array(found[:2])


def _replaced(visits: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the visits after one strategy is replaced, float64 ``[2, n_nodes]``."""
    return np.asarray(np.maximum(visits + after - before, 0.0))


def _visits(graph: GameGraph, own: np.ndarray, enemy: np.ndarray) -> np.ndarray:
    """Return the expected visits per game to each node, float64 ``[n_nodes]``."""
    after, total = None, np.zeros(graph.n_nodes)
    for _ in range(_MAX_MEASURES):
        after, _ = graph.play_measure(own, enemy, after)
        total += after
        if after.sum() < _LEAST_REACH:
            break
    return total
