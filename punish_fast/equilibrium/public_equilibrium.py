"""Equilibrium strategies that remember public information from one measure to the next.

A strategy over the information states of one measure forgets everything that happened before the last deal. But at the
end of a measure, both players know which cards are left (``duel/public_states.py``), so an opponent with a better
memory often knows the player's kept hand. Here, the player has a separate strategy for each of some public states.

All strategies begin with one *base* strategy. Then they are learned again, one public state after another. The measure
after a public state is a game of its own: it begins with the deals after nodes that the current strategies reach, and
ends with the values of the current strategies at its last nodes. Each player learns as in ``solver.py``, against the
other player's strategy and a best response to its own. After an unequal public state, in which players kept hands of
different sizes, they have different strategies. A *round* learns the strategies after all public states, in order of
their reach probabilities, and finally the strategy for the first measure, which is also used after all public states
that are not listed. The values and reach probabilities of earlier rounds are not exact for the strategies of a later
round, so a second round can be better than the first.
"""

from typing import Any
from weakref import proxy

import numpy as np

from punish_fast.duel.evaluation import head_to_head
from punish_fast.duel.graph import GameGraph, must_be_graph, redeal_after
from punish_fast.duel.public_states import PublicPolicy, PublicStates, every_public_state
from punish_fast.equilibrium.exploitation.best_response import best_response
from punish_fast.equilibrium.regret_iteration import CounterfactualResponse, RegretIteration
from punish_fast.equilibrium.regret_minimizers import Hedge
from punish_fast.equilibrium.solver import Equilibrium
from punish_fast.mdp.arrays.policy import check_policy
from punish_fast.punish.strategy import policy_of, uniform_policy
from punish_fast.runtime.deadline import time_limit
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.parallel import cumulated

# Share of the deals after a measure that do not depend on strategies: all nodes of the public state are equally likely.
_TREMBLE = 0.01
# Dtype and number of dimensions of the arrays of `PublicEquilibrium.state_dict`.
LAYOUT = {"rounds": ("int64", 1), "values": ("float64", 2)}
LAYOUT |= {f"{name}{part}": ("int64", 1) for name in ("policy", "visits") for part in ("_ptr", "_index")}
LAYOUT |= dict.fromkeys(("policy", "visits"), ("float64", 1))
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
        if not 0 < share <= 1:
            raise ValueError(f"share is {share}; it must be above 0 and at most 1")
        self.graph, self._share, base = graph, share, policy_of(base, graph.space)
        mirror = graph.public.mirror
        with_nodes = [k for k in range(1, len(graph.public)) if k <= mirror[k] and len(graph.nodes_after(k))]
        self.order = [*with_nodes, 0]
        self.rounds, self._policies = np.zeros(len(graph.public), dtype=np.int64), [base] * len(graph.public)
        if state is not None:
            self._resume(state)
            return
        response = best_response(graph, base, "belief")
        # Win probabilities at the nodes: of the strategies against themselves, and of a response to them.
        self._values = head_to_head(graph, base, base).v[graph.nodes, 0].copy()
        self._response_values = response.duel.v[graph.nodes, 0].copy()
        # Expected visits per game to each node from the measures after each public state, by index.
        self._visits = self._visits_from(base, base)
        self._response_visits = self._visits_from(response.policy, base)

    @property
    def policy(self) -> PublicPolicy:
        """Current strategy."""
        return PublicPolicy(self.graph.public, list(self._policies))

    @property
    def unlearned(self) -> list[int]:
        """Indices in `order` whose strategies have not been learned in the current round."""
        return [index for index in self.order if self.rounds[index] == self.rounds[self.order].min()]

    def state_dict(self) -> dict[str, np.ndarray]:
        """Return the state of the learner as arrays.

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
        learned = np.flatnonzero(self.rounds).tolist()
        policies = _packed("policy", [self._policies[index] for index in learned], uniform_policy(self.graph.space))
        visits = [*self._visits.values(), *self._response_visits.values()]
        values = np.stack([self._values, self._response_values])
        packed_visits = _packed("visits", visits, np.zeros(self.graph.n_nodes))
        return {"rounds": self.rounds.copy(), "values": values, **policies, **packed_visits}

    def _resume(self, state: dict[str, np.ndarray]) -> None:
        graph, keys, rounds = self.graph, self._learned_indices(), state["rounds"]
        learned = np.flatnonzero(rounds).tolist()
        if rounds.shape != self.rounds.shape or (rounds < 0).any() or not set(learned) <= set(keys):
            raise ValueError(f"rounds: must contain {len(self.rounds)} counts, 0 for public states without nodes")
        self.rounds = rounds.copy()
        values = state["values"].copy()
        # Win probabilities are sums, so rounding errors can move them slightly outside [0, 1].
        if values.shape != (2, graph.n_nodes) or not (np.abs(values - 0.5) <= 0.5 + 1e-9).all():
            raise ValueError(f"values: must have the shape (2, {graph.n_nodes}) and entries from 0 to 1")
        self._values, self._response_values = values
        policies = _unpacked("policy", state, len(learned), uniform_policy(graph.space))
        for index, policy in zip(learned, policies, strict=True):
            check_policy(graph.space.state_ptr, policy)
            self._policies[index] = policy
        visits = _unpacked("visits", state, 2 * len(keys), np.zeros(graph.n_nodes))
        self._visits, self._response_visits = (
            dict(zip(keys, part, strict=True)) for part in (visits[: len(keys)], visits[len(keys) :])
        )

    def _learned_indices(self) -> list[int]:
        """Return the indices in `order`, each with the index of its mirrored public state."""
        mirror = self.graph.public.mirror
        return list(dict.fromkeys(k for index in self.order for k in (index, int(mirror[index]))))

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
        seats = [self._seat(k) for k in dict.fromkeys([index, int(self.graph.public.mirror[index])])]
        for seat, partner in zip(seats, reversed(seats), strict=True):
            seat.begin(partner)
        for _ in range(iterations if index else iterations * _OF_FIRST_MEASURE):
            for seat in seats:
                seat.iterate()
        # The state is valid before and after this block, but not within.
        with uninterrupted(), time_limit(np.inf):
            for seat in seats:
                self._policies[seat.index] = seat.average
                self.rounds[seat.index] += 1
            for seat in seats:
                self._evaluate(seat)

    def _seat(self, index: int) -> "_Seat":
        mirrored = int(self.graph.public.mirror[index])
        dealt, response_dealt = self._deals(index, self._visits), self._deals(mirrored, self._response_visits)
        return _Seat(self.graph, self._share, index, (dealt, response_dealt), (self._values, self._response_values))

    def _deals(self, index: int, visits: dict[int, np.ndarray]) -> np.ndarray:
        """Return the probabilities of the full states after a public state, float64 ``[n]``, with a tremble."""
        graph, nodes = self.graph, self.graph.node_public == index
        reach = np.where(nodes, sum(visits.values()), 0.0)
        dealt = graph.deal_again(reach)
        if index == 0:
            dealt[: len(graph.initial_reach)] += graph.initial_reach
        total = dealt.sum()
        if nodes.any():
            dealt = dealt / max(total, _LEAST_REACH) + _TREMBLE * graph.deal_again(nodes / nodes.sum())
        return dealt

    def _visits_from(self, own: np.ndarray, enemy: np.ndarray) -> dict[int, np.ndarray]:
        graph, visits = self.graph, _visits(self.graph, own, enemy)
        return {
            index: _after(graph, np.where(graph.node_public == index, visits, 0.0), own, enemy, index)
            for index in self._learned_indices()
        }

    def _evaluate(self, seat: "_Seat") -> None:
        """Compute the values and visits of a new strategy."""
        graph, index, mirrored = self.graph, seat.index, int(self.graph.public.mirror[seat.index])
        own, enemy, response = self._policies[index], self._policies[mirrored], seat.response_policy
        for player, opponent, values, visits, k in (
            (own, enemy, self._values, self._visits, index),
            (response, own, self._response_values, self._response_visits, mirrored),
        ):
            v = np.zeros((graph.n_values, 2))
            v[graph.nodes, 0], v[-2, 0] = values, 1.0
            nodes = graph.nodes_after(k)
            graph.back_up_full(player, opponent, v)
            values[nodes] = graph.back_up_nodes(v, redeal_after(graph.redeal, nodes))[:, 0]
            reach = np.where(graph.node_public == k, sum(visits.values()), 0.0)
            visits[k] = _after(graph, reach, player, opponent, k)


class _Seat(Equilibrium):
    """One player of the measure after a public state."""

    def __init__(
        self,
        graph: GameGraph,
        share: float,
        index: int,
        dealt: tuple[np.ndarray, np.ndarray],
        nodes: tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Begin with uniform strategies.

        Args:
            index: Index of the public state.
            dealt: Probabilities of full states of the first breath: for the player, and for a response to the player.
            nodes: Win probabilities at the nodes: of the player, and of the response.
        """
        self.index, self._dealt, self._fixed = index, dealt, nodes
        super().__init__(graph, share)

    @property
    def response_policy(self) -> np.ndarray:
        """Response to the player, float64 ``[n_rows]``."""
        assert self._whole.response is not None
        self._merge()
        return self._whole.response.policy

    def begin(self, partner: "_Seat") -> None:
        """Set the player of the other seat, or the same object if both seats have the same strategy."""
        # A strong reference would form a cycle, which keeps the tables in memory until a garbage collection.
        other = proxy(partner)
        self._whole.learn_measure(lambda: other.next_policy)

    def _begin(self) -> RegretIteration:
        graph, (dealt, response_dealt) = self.graph, self._dealt
        v, response_v = (np.zeros(graph.n_values) for _ in range(2))
        v[graph.nodes], response_v[graph.nodes] = self._fixed
        v[-2] = 1.0
        response = CounterfactualResponse(graph, response_v[:, None], response_dealt)
        return RegretIteration(graph, Hedge(graph.state_ptr, self._marks.row), dealt, v, self.share, response)

    def _deal(self) -> None:
        """Keep the deals."""


def _after(graph: GameGraph, nodes: np.ndarray, own: np.ndarray, enemy: np.ndarray, index: int) -> np.ndarray:
    """Return the visits to nodes at the end of the measure after the given nodes, or of the first measure for 0."""
    after, _ = graph.play_measure(own, enemy, nodes)
    return after + graph.play_measure(own, enemy)[0] if index == 0 else after


def _visits(graph: GameGraph, own: np.ndarray, enemy: np.ndarray) -> np.ndarray:
    """Return the expected visits per game to each node, float64 ``[n_nodes]``."""
    after, _ = graph.play_measure(own, enemy)
    total = after
    for _ in range(_MAX_MEASURES):
        after, _ = graph.play_measure(own, enemy, after)
        total = total + after
        if after.sum() < _LEAST_REACH:
            break
    return total


def _packed(name: str, vectors: list[np.ndarray], usual: np.ndarray) -> dict[str, np.ndarray]:
    """Return the entries of vectors that differ from their usual values: pointers, indices and entries."""
    indices = [np.flatnonzero(vector != usual) for vector in vectors]
    entries = [vector[index] for vector, index in zip(vectors, indices, strict=True)]
    return {
        f"{name}_ptr": cumulated(np.array([len(index) for index in indices], dtype=np.int64)),
        f"{name}_index": np.concatenate([np.zeros(0, dtype=np.int64), *indices]),
        name: np.concatenate([np.zeros(0), *entries]),
    }


def _unpacked(name: str, state: dict[str, np.ndarray], n: int, usual: np.ndarray) -> list[np.ndarray]:
    """Return ``n`` vectors from the arrays of `_packed`. Raise ValueError if the arrays are invalid."""
    ptr, index, entries = state[f"{name}_ptr"], state[f"{name}_index"], state[name]
    if len(ptr) != n + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any() or not ptr[-1] == len(index) == len(entries):
        raise ValueError(f"{name}_ptr: must begin with 0, not descend, and have {n + 1} entries")
    if not ((index >= 0) & (index < len(usual)) & (entries >= 0)).all():
        raise ValueError(f"{name}: must contain indices below {len(usual)}, and entries of at least 0")
    vectors = [usual.copy() for _ in range(n)]
    for vector, begin, end in zip(vectors, ptr, ptr[1:], strict=False):
        vector[index[begin:end]] = entries[begin:end]
    return vectors
