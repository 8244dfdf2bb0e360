"""Best responses to a policy: agents that exploit just that policy, and their exact win probability.

An exploiter knows the policy ``p`` it meets, but not the enemy's hand. It holds one of two beliefs about it:

*uniform*: every possible hand is equally likely, as in the model of one player. The exploiter is the undiscounted
solution of that model with ``p`` as the enemy.

*true*: as likely as ``p`` and the deals make it. A counterfactual response is improved until it converges
(``counterfactual_response.py``), then a duel evaluates it exactly. The first one starts from the uniform exploiter, and
the best one is returned. An iteration changes all choices at once, although the best choice in one state may depend on
that in another. So if responses do not converge, as in games with short measures, the search continues in small steps,
each evaluated by a duel. A given start is not evaluated itself. The result is the win probability of an actual agent,
and so a lower bound on that of the best one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.duel.policies import policy_of
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT, CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.solver import solve
from punish_fast.punish.tensor import build_compact

BELIEFS = ("uniform", "true")

# Responses evaluated, and iterations for each.
_MAX_RESPONSES = 8
_MAX_ITERATIONS = 24
# Then steps, each in a random share of the states in which another choice is better.
_MAX_STEPS = 40
_MOST_SHARE, _LEAST_SHARE = 1 / 2, 1 / 16
# A response that gains less is the last one, and iterations that change less have converged.
_LEAST_GAIN = 1e-6
_LEAST_CHANGE = 1e-7
# A step takes longer than an iteration; one that gains less is the last one.
_LEAST_STEP = 1e-5
# Of the win probabilities that responses are compared by.
_TOLERANCE = 1e-10

Progress = Callable[[str, int, float], None]


class Start(NamedTuple):
    """A start for the search for an exploiter.

    Attributes:
        policy: float64 ``[n_rows]``, a response.
        nodes: float64 ``[n_nodes, 2]``, win probabilities and expected breaths from the nodes between measures.
    """

    policy: np.ndarray
    nodes: np.ndarray


@dataclass(frozen=True)
class Exploiter:
    """An agent that exploits a policy.

    Attributes:
        policy: float64 ``[n_rows]``, one action in each state.
        duel: Its exact duel against the policy.
        win_probabilities: Win probabilities of all responses evaluated, in their order.
    """

    policy: np.ndarray
    duel: Duel
    win_probabilities: list[float]

    @property
    def win_probability(self) -> float:
        """Probability that it wins, before the cards are dealt."""
        return self.duel.win_probability


def best_response(
    graph: Graph,
    policy: Any,
    beliefs: str = "uniform",
    progress: Progress | None = None,
    start: Start | None = None,
    off_policy_weight: float = OFF_POLICY_WEIGHT,
) -> Exploiter:
    """Find the agent that wins most often against a policy.

    Args:
        graph: The game under any information model, which holds for both sides. The uniform exploiter is computed
            under the redeal of the rules, everything else under the true one.
        policy: The policy to exploit, float64 ``[n_rows]``, or another player that `policy_of` takes.
        beliefs: Beliefs about the enemy's hand, ``"uniform"`` or ``"true"``.
        progress: Called as ``progress(beliefs, responses, win_probability)`` after every response.
        start: Start for true beliefs, instead of the uniform exploiter.
        off_policy_weight: Weight of the exploiter's own off-policy moves in its beliefs, above 0 and at most 1; 1 is
            counterfactual reach, which is right under perfect recall.

    Raises:
        DuelError: ``beliefs`` is neither, ``off_policy_weight`` is out of range, or the
            game may never end.
        SolveError: the game of one player may never end.
        InformationError: the uniform exploiter needs the model ``view``, and the graph has another.
    """
    if beliefs not in BELIEFS:
        raise DuelError(f"beliefs: {beliefs!r} is not allowed, it must be one of {', '.join(BELIEFS)}")
    if not 0 < off_policy_weight <= 1:
        raise DuelError(f"off_policy_weight: {off_policy_weight} is not allowed, it must be above 0 and at most 1")
    policy = policy_of(policy, graph.space)
    search = _Search(graph, policy, progress, off_policy_weight)
    if start is None or beliefs == "uniform":
        search.begin(_uniform_choice(graph, policy))
        search.evaluate("uniform")
    else:
        search.begin(first_best(graph.space.state_ptr, start.policy), start.nodes)
    if beliefs == "true" and not search.iterate():
        search.step()
    search.begin(search.choice)
    return Exploiter(search.response.policy, search.duel, search.win_probabilities)


def _uniform_choice(graph: Graph, policy: np.ndarray) -> np.ndarray:
    """The rows that the uniform exploiter chooses, int64 ``[n_states]``."""
    space = graph.view
    solution = solve(build_compact(space, policy), discount=1.0)
    return first_best(space.state_ptr, solution.q)


class _Search:
    """A search for the best response.

    Attributes:
        graph: The game.
        response: The response being improved.
        choice: int64 ``[n_states]``, the rows of the best one so far.
        duel: Its duel.
        win_probabilities: Win probabilities of all responses evaluated.
    """

    choice: np.ndarray
    duel: Duel

    def __init__(self, graph: Graph, enemy: np.ndarray, progress: Progress | None, off_policy_weight: float) -> None:
        v = np.zeros((graph.n_values, 2))
        v[:, 0] = 0.5
        self.graph = graph
        self.response = CounterfactualResponse(graph, v, graph.dealt)
        self._reach = Reach(graph)
        self.enemy = enemy
        self.progress = progress
        self.off_policy_weight = off_policy_weight
        self.win_probabilities: list[float] = []

    def begin(self, choice: np.ndarray, nodes: np.ndarray | None = None) -> None:
        """Start at a choice of rows, and values of the nodes, without a duel."""
        self.response.choice[:] = choice[: len(self.response.choice)]
        if nodes is not None:
            self.response.nodes[:] = nodes

    def evaluate(self, beliefs: str) -> float:
        """Keep the response if it is the best one; return its gain over the best before."""
        response = self.response
        duel = head_to_head(self.graph, response.policy, self.enemy, _TOLERANCE, response.nodes)
        gain = duel.win_probability - max(self.win_probabilities, default=0.0)
        if not self.win_probabilities or gain > 0:
            self.choice, self.duel = response.choice.copy(), duel
            # Values of nodes, and of full states that the next response skips.
            response.v[:] = duel.v
        self.win_probabilities.append(duel.win_probability)
        if self.progress is not None:
            self.progress(beliefs, len(self.win_probabilities), max(self.win_probabilities))
        return gain

    def iterate(self) -> bool:
        """Iterate responses until one gains nothing or achieves its expected value.

        Returns whether the last one is a fixed point and the best found.
        """
        for _ in range(_MAX_RESPONSES):
            expected = self._converge()
            gain = self.evaluate("true")
            if abs(self.win_probabilities[-1] - expected) < _LEAST_GAIN:
                return gain > -_LEAST_GAIN
            if gain < _LEAST_GAIN:
                return False
        return False

    def step(self) -> None:
        """Change the best response in some of the states where another choice is better, while that helps.

        A step that does not help is halved: two changes that help alone may hurt together.
        """
        share, generator = _MOST_SHARE, np.random.default_rng(0)
        better = self._better()
        for _ in range(_MAX_STEPS):
            states = np.flatnonzero(better != self.choice)
            if len(states) == 0:
                return
            taken = states[generator.random(len(states)) < share]
            if len(taken) == 0:
                taken = generator.choice(states, 1)
            self.response.choice[:] = self.choice
            self.response.choice[taken] = better[taken]
            gain = self.evaluate("true")
            if gain >= _LEAST_STEP:
                share, better = min(2 * share, _MOST_SHARE), self._better()
            elif gain > 0 or share <= _LEAST_SHARE:
                return
            else:
                share /= 2

    def _better(self) -> np.ndarray:
        """The best choice in each state if all others stay those of the best response, int64 ``[n_states]``."""
        response = self.response
        response.choice[:], response.v[:] = self.choice, self.duel.v
        response.improve(self.enemy, self._reach, self.off_policy_weight, _MAX_ITERATIONS)
        return response.choice.copy()

    def _converge(self) -> float:
        """Iterate until the expected win probability settles, and return it; NaN if it does not."""
        numbers, p = self.graph.opening
        before = np.inf
        for _ in range(_MAX_ITERATIONS):
            self.response.improve(self.enemy, self._reach, self.off_policy_weight)
            value = float(p @ self.response.v[numbers, 0])
            if abs(value - before) < _LEAST_CHANGE:
                return value
            before = value
        return np.nan
