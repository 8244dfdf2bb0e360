"""How badly a policy can be beaten: agents made to beat just that one, and their exact chance to do so.

An exploiter knows the policy ``p`` it meets, but not the hand that goes with it. What it takes for likely is one of:

*uniform*: every possible hand alike, as in the model of one player. The exploiter is the undiscounted solution of that
model with ``p`` as the enemy.

*true*: as likely as ``p`` and the deals make it. An answer is improved round by round until it settles
(``answer.py``); a duel then tells exactly what it is worth. The first one is the uniform exploiter, and the best one is
kept. A round changes all choices at once, and what is best in one state may depend on what is chosen in another. So if
answers do not settle, as where measures are short, the search goes on in small steps, each judged by a duel. If it
begins with an answer that is given, that one itself is not judged. What is found is no more than what it was measured
to be: a chance to win that is reached, a lower bound on the best one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punish_fast.duel.exact_evaluation import Duel, DuelError, check_policy, head_to_head
from punish_fast.duel.graph import Graph
from punish_fast.equilibrium.counterfactual_response import OFF_POLICY_WEIGHT, CounterfactualResponse
from punish_fast.equilibrium.reach import Reach
from punish_fast.mdp.policy import first_best
from punish_fast.mdp.solver import solve
from punish_fast.punish.tensor import build_compact

BELIEFS = ("uniform", "true")

# Answers that are tried, and rounds for each.
_MOST_ANSWERS = 8
_MOST_ROUNDS = 24
# Then steps are tried, each in a random share of the states in which another choice is better.
_MOST_STEPS = 40
_MOST_SHARE, _LEAST_SHARE = 1 / 2, 1 / 16
# An answer that gains less is the last one, and rounds that change less have settled.
_LEAST_GAIN = 1e-6
_LEAST_CHANGE = 1e-7
# A step takes longer than a round; one that gains less is the last one.
_LEAST_STEP = 1e-5
# Of the chances to win that rounds are compared by.
_TOLERANCE = 1e-10
Progress = Callable[[str, int, float], None]


class Start(NamedTuple):
    """Where the search for an exploiter begins.

    Attributes:
        policy: float64 ``[n_rows]``, an answer.
        nodes: float64 ``[n_nodes, 2]``, chances to win and expected breaths from the nodes between measures.
    """

    policy: np.ndarray
    nodes: np.ndarray


@dataclass(frozen=True)
class Exploiter:
    """An agent made to beat a policy.

    Attributes:
        policy: float64 ``[n_rows]``, what it plays: one action in each state.
        duel: Its exact duel against the policy.
        win_probabilities: Chances to win of all answers that were tried, in their order.
    """

    policy: np.ndarray
    duel: Duel
    win_probabilities: list[float]

    @property
    def win_probability(self) -> float:
        """How likely it wins a game, from before the cards are dealt."""
        return self.duel.win_probability


def best_response(
    graph: Graph,
    policy: np.ndarray,
    beliefs: str = "uniform",
    progress: Progress | None = None,
    start: Start | None = None,
    off_policy_weight: float = OFF_POLICY_WEIGHT,
) -> Exploiter:
    """The agent that wins most often against a policy.

    Args:
        graph: The game, of any model of information; both sides know what it tells apart. The uniform exploiter takes
            the redeal of its rules, all else is by the true one.
        policy: float64 ``[n_rows]``, the policy to beat: the probability of each row of the state space in its state.
        beliefs: What the exploiter takes for likely of the enemy's hand: ``"uniform"`` or ``"true"``.
        progress: Called as ``progress(beliefs, answers, win_probability)`` after every answer.
        start: What true beliefs begin with instead of the uniform exploiter.
        off_policy_weight: Weight of the exploiter's own off-policy moves in its beliefs, above 0 and at most 1; 1 is
            counterfactual reach, which is right under perfect recall.

    Raises:
        DuelError: ``beliefs`` is neither, ``policy`` is no policy, ``off_policy_weight`` is out of range, or the
            game may never end.
        SolveError: the game of one player may never end.
        InformationError: the uniform exploiter is asked for, but the graph's model is not the view.
    """
    if beliefs not in BELIEFS:
        raise DuelError(f"beliefs: {beliefs!r} is not allowed, it must be one of {', '.join(BELIEFS)}")
    if not 0 < off_policy_weight <= 1:
        raise DuelError(f"off_policy_weight: {off_policy_weight} is not allowed, it must be above 0 and at most 1")
    check_policy(graph, policy)
    search = _Search(graph, policy, progress, off_policy_weight)
    if start is None or beliefs == "uniform":
        search.begin(_uniform_choice(graph, policy))
        search.judge("uniform")
    else:
        search.begin(first_best(graph.space.state_ptr, start.policy), start.nodes)
    if beliefs == "true" and not search.leap():
        search.creep()
    search.begin(search.choice)
    return Exploiter(search.answer.policy, search.duel, search.win_probabilities)


def _uniform_choice(graph: Graph, policy: np.ndarray) -> np.ndarray:
    """The rows that the uniform exploiter chooses, int64 ``[n_states]``."""
    space = graph.view
    solution = solve(build_compact(space, policy), discount=1.0)
    return first_best(space.state_ptr, solution.q)


class _Search:
    """A search for the best answer.

    Attributes:
        graph: The game.
        answer: The best one so far, or one that is being worked out from it.
        choice: int64 ``[n_states]``, the rows that the best one takes.
        duel: Its duel.
        win_probabilities: Chances to win of all answers tried.
    """

    choice: np.ndarray
    duel: Duel

    def __init__(self, graph: Graph, enemy: np.ndarray, progress: Progress | None, off_policy_weight: float) -> None:
        v = np.zeros((graph.n_values, 2))
        # Nothing is known yet.
        v[:, 0] = 0.5
        self.graph = graph
        self.answer = CounterfactualResponse(graph, v, graph.dealt)
        self._reach = Reach(graph)
        self.enemy = enemy
        self.progress = progress
        self.off_policy_weight = off_policy_weight
        self.win_probabilities: list[float] = []

    def begin(self, choice: np.ndarray, nodes: np.ndarray | None = None) -> None:
        """Take over an answer, and what is known of the nodes, without a duel."""
        self.answer.choice[:] = choice[: len(self.answer.choice)]
        if nodes is not None:
            self.answer.nodes[:] = nodes

    def judge(self, beliefs: str) -> float:
        """Keep the answer if it is the best one; return how much it gains."""
        answer = self.answer
        duel = head_to_head(self.graph, answer.policy, self.enemy, _TOLERANCE, answer.nodes)
        gain = duel.win_probability - max(self.win_probabilities, default=0.0)
        if not self.win_probabilities or gain > 0:
            self.choice, self.duel = answer.choice.copy(), duel
            # Of nodes, and of full states that the next answer passes over.
            answer.v[:] = duel.v
        self.win_probabilities.append(duel.win_probability)
        if self.progress is not None:
            self.progress(beliefs, len(self.win_probabilities), max(self.win_probabilities))
        return gain

    def leap(self) -> bool:
        """Answers from the last one, until one gains nothing, or is worth what it was expected to be.

        Then the values it was made for are its own, and it answers itself: True if that is the best one.
        """
        for _ in range(_MOST_ANSWERS):
            expected = self._settle()
            gain = self.judge("true")
            if abs(self.win_probabilities[-1] - expected) < _LEAST_GAIN:
                return gain > -_LEAST_GAIN
            if gain < _LEAST_GAIN:
                return False
        return False

    def creep(self) -> None:
        """Change the best answer so far in some of the states in which another choice is better, as long as it helps.

        What is better in each of two states need not be if both change. So after a step in vain the next is smaller.
        """
        share, generator = _MOST_SHARE, np.random.default_rng(0)
        better = self._better()
        for _ in range(_MOST_STEPS):
            states = np.flatnonzero(better != self.choice)
            if len(states) == 0:
                return
            taken = states[generator.random(len(states)) < share]
            if len(taken) == 0:
                taken = generator.choice(states, 1)
            self.answer.choice[:] = self.choice
            self.answer.choice[taken] = better[taken]
            gain = self.judge("true")
            if gain >= _LEAST_STEP:
                share, better = min(2 * share, _MOST_SHARE), self._better()
            elif gain > 0 or share <= _LEAST_SHARE:
                return
            else:
                share /= 2

    def _better(self) -> np.ndarray:
        """What is best in each state for whoever else plays the best answer so far, int64 ``[n_states]``."""
        answer = self.answer
        answer.choice[:], answer.v[:] = self.choice, self.duel.v
        answer.improve(self.enemy, self._reach, self.off_policy_weight, _MOST_ROUNDS)
        return answer.choice.copy()

    def _settle(self) -> float:
        """Rounds, each for the deals and values of the one before, until they change little; return the chance to win.

        It is what the last round expects of its answer; not a number if they went on changing.
        """
        numbers, p = self.graph.opening
        before = np.inf
        for _ in range(_MOST_ROUNDS):
            self.answer.improve(self.enemy, self._reach, self.off_policy_weight)
            value = float(p @ self.answer.v[numbers, 0])
            if abs(value - before) < _LEAST_CHANGE:
                return value
            before = value
        return np.nan
