"""Best responses to a policy: agents that exploit just that policy, and their exact win probability.

An exploiter knows the policy ``p`` it meets, but not the enemy's hand. It holds one of two beliefs about it:

*uniform*: every possible hand is equally likely, as in the model of one player. The exploiter is the undiscounted
solution of that model with ``p`` as the enemy.

*true*: as likely as ``p`` and the deals make it. A counterfactual response is improved until it converges
(``counterfactual_response.py``), then a duel evaluates it exactly. An iteration changes all choices simultaneously,
although the best choice in one state may depend on the choice in another. So if responses do not converge, as in games
with short measures, the search continues in small steps, each evaluated by a duel.

The end of a search depends on its start. So there is one from each of several starts, which are evaluated too,
and the best response of all is returned; or the policy itself if all lose, since a copy wins half of the games. The
result is the win probability of an actual agent, and so a lower bound on the win probability of the best agent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, head_to_head
from punish_fast.duel.graph import Graph, must_be_graph
from punish_fast.duel.policies import policy_of
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT, CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.mdp.policy import first_best, greedy
from punish_fast.mdp.solver import solve
from punish_fast.punish.transitions.tensor import build_compact

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
# Error bound of the win probabilities by which responses are compared.
_TOLERANCE = 1e-10
# Win probability of a copy of the policy against it.
_COPY = 0.5

Progress = Callable[[str, int, float], None]


class Start(NamedTuple):
    """A start for the search for an exploiter."""

    policy: np.ndarray  # float64 ``[n_rows]``, a response
    # float64 ``[n_nodes, 2]``, estimates of win probabilities and expected breaths from the nodes between measures;
    # None if there are none.
    nodes: np.ndarray | None = None
    name: str = "true"  # what progress calls it


@dataclass(frozen=True)
class Exploiter:
    """An agent that exploits a policy."""

    policy: np.ndarray  # float64 ``[n_rows]``: one action in each state, or the policy itself
    duel: Duel  # its exact duel against the policy
    win_probabilities: list[float]  # win probabilities of all responses evaluated, in their order

    @property
    def win_probability(self) -> float:
        """Probability that it wins, before the cards are dealt."""
        return self.duel.win_probability


def best_response(
    graph: Graph,
    policy: Any,
    beliefs: str = "uniform",
    progress: Progress | None = None,
    starts: Sequence[Start] | None = None,
    off_policy_weight: float = OFF_POLICY_WEIGHT,
) -> Exploiter:
    """Find the agent that wins most often against a policy.

    Args:
        graph: The game under any information model, which holds for both sides. The uniform exploiter is computed
            under the redeal of the rules, everything else under the true one.
        policy: The policy to exploit, float64 ``[n_rows]``, or another player that `policy_of` takes.
        beliefs: Beliefs about the enemy's hand, ``"uniform"`` or ``"true"``.
        progress: Called as ``progress(beliefs, responses, win_probability)`` after every response.
        starts: Starts of the searches for true beliefs; `usual_starts` if None.
        off_policy_weight: Weight of the exploiter's own off-policy moves in its beliefs, above 0 and at most 1; 1 is
            counterfactual reach, which is right under perfect recall.

    Raises:
        DuelError: ``beliefs`` is neither, ``off_policy_weight`` is out of range, or the
            game may never end.
        SolveError: the game of one player lasts too long to solve.
        InformationError: the uniform exploiter needs the model ``view``, and the graph has another.
    """
    if beliefs not in BELIEFS:
        raise DuelError(f"beliefs: {beliefs!r} is not allowed, it must be one of {', '.join(BELIEFS)}")
    if not 0 < off_policy_weight <= 1:
        raise DuelError(f"off_policy_weight: {off_policy_weight} is not allowed, it must be above 0 and at most 1")
    must_be_graph(graph)
    policy = policy_of(policy, graph.space)
    told: list[float] = []

    def tell(name: str, win_probability: float) -> None:
        told.append(win_probability)
        if progress is not None:
            progress(name, len(told), max(told))

    search = _Search(graph, policy, off_policy_weight, tell)
    if beliefs == "uniform":
        search.begin(_uniform_start(graph, policy))
        return Exploiter(search.policy, search.duel, told)
    found: Exploiter | None = None
    for start in usual_starts(graph, policy) if starts is None else starts:
        search.begin(start)
        if not search.iterate():
            search.step()
        if found is None or search.duel.win_probability > found.win_probability:
            found = Exploiter(search.policy, search.duel, told)
    if found is None or found.win_probability < _COPY:
        duel = head_to_head(graph, policy, policy, _TOLERANCE)
        tell("copy", duel.win_probability)
        # Rounding may separate two halves.
        if found is None or duel.win_probability >= found.win_probability:
            return Exploiter(policy, duel, told)
    return found


def usual_starts(graph: Graph, policy: np.ndarray) -> list[Start]:
    """The policy itself and, under the view, before it the uniform exploiter."""
    return ([_uniform_start(graph, policy)] if graph.space.is_view else []) + [Start(policy)]


def _uniform_start(graph: Graph, policy: np.ndarray) -> Start:
    """The uniform exploiter."""
    space = graph.view
    solution = solve(build_compact(space, policy), discount=1.0)
    return Start(greedy(space.state_ptr, solution.q), name="uniform")


class _Search:
    """A search for the best response from one start, then from another."""

    response: CounterfactualResponse  # the response being improved
    choice: np.ndarray  # int64 ``[n_states]``, the rows of the best one so far
    duel: Duel

    def __init__(
        self, graph: Graph, enemy: np.ndarray, off_policy_weight: float, tell: Callable[[str, float], None]
    ) -> None:
        self.graph = graph
        self._reach = Reach(graph)
        self.enemy = enemy
        self.off_policy_weight = off_policy_weight
        self._tell = tell

    @property
    def policy(self) -> np.ndarray:
        """The best response so far, float64 ``[n_rows]``."""
        self.response.choice[:] = self.choice
        return self.response.policy

    def begin(self, start: Start) -> None:
        """Begin at a start, and evaluate it."""
        graph = self.graph
        v = np.zeros((graph.n_values, 2))
        v[:, 0] = 0.5
        self.response = CounterfactualResponse(graph, v, graph.dealt)
        choice = first_best(graph.space.state_ptr, start.policy)
        self.response.choice[:] = choice[: len(self.response.choice)]
        self.response.nodes[:] = graph.indifferent if start.nodes is None else start.nodes
        self._keep(self._evaluate(start.name))

    def evaluate(self) -> float:
        """Keep the response if it is the best one; return its gain over the best before."""
        duel = self._evaluate("true")
        gain = duel.win_probability - self.duel.win_probability
        if gain > 0:
            self._keep(duel)
        return gain

    def _evaluate(self, name: str) -> Duel:
        duel = head_to_head(self.graph, self.response.policy, self.enemy, _TOLERANCE, self.response.nodes)
        self._tell(name, duel.win_probability)
        return duel

    def _keep(self, duel: Duel) -> None:
        self.choice, self.duel = self.response.choice.copy(), duel
        # Values of nodes, and of full states that the next response skips.
        self.response.v[:] = duel.v

    def iterate(self) -> bool:
        """Iterate responses until one gains nothing or achieves its expected value.

        Returns whether the last one is a fixed point and the best found.
        """
        for _ in range(_MAX_RESPONSES):
            expected = self._converge()
            before = self.duel.win_probability
            gain = self.evaluate()
            if abs(before + gain - expected) < _LEAST_GAIN:
                return gain > -_LEAST_GAIN
            if gain < _LEAST_GAIN:
                return False
        return False

    def step(self) -> None:
        """Change the best response in some of the states where another choice is better, while that helps.

        A step that does not help is halved: two changes may help separately and hurt together.
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
            gain = self.evaluate()
            if gain >= _LEAST_STEP:
                share, better = min(2 * share, _MOST_SHARE), self._better()
            elif gain > 0 or share <= _LEAST_SHARE:
                return
            else:
                share /= 2

    def _better(self) -> np.ndarray:
        """The best choice in each state while the best response chooses in all others, int64 ``[n_states]``."""
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
