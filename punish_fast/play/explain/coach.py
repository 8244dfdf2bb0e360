"""Advice in a game: win probabilities of the legal moves, and probabilities of the enemy's actions.

The enemy's policy must be known. The probability of a hand follows from a uniform distribution of the unseen cards. Win
probabilities assume optimal play against this enemy after the move (``mdp/objectives/solver.py``).
"""

from collections.abc import Iterator
from itertools import product
from math import comb, prod

import numpy as np

from punish_fast.mdp.arrays.policy import best_values, first_best
from punish_fast.mdp.model.results import ModelRows, rows_of
from punish_fast.mdp.model.solution import Log, Solution
from punish_fast.mdp.objectives.solver import evaluate, solve
from punish_fast.play.game_data import View, rows_of_state
from punish_fast.punish.codes import State
from punish_fast.punish.rules import Five
from punish_fast.punish.states.space import StateSpace
from punish_fast.punish.transitions.tensor import build
from punish_fast.store.solution_cache import cached_solution

# Maximum error of the win probabilities of a fixed policy.
_TOLERANCE = 1e-9


def win_solution(space: StateSpace, enemy: np.ndarray) -> Solution:
    """Return the win probability of every row against an enemy, assuming optimal play afterwards.

    Solutions of large games are stored in the user's cache folder.

    Args:
        enemy: The enemy's policy, float64 ``[n_rows]``.
    """

    def compute() -> Solution:
        return solve(build(space, enemy), objective="reach-probability")

    rows = ModelRows(space.state_ptr, space.action)
    return cached_solution(rows, enemy, (space.rules.digest, "reach-probability"), compute)


def policy_solution(space: StateSpace, policy: np.ndarray, enemy: np.ndarray) -> Solution:
    """Return the win probability of every row against an enemy, assuming that a given policy chooses afterwards.

    The array ``v`` holds the largest ``q`` of each state. Solutions of large games are stored in the user's cache
    folder.

    Args:
        policy: Policy to evaluate, float64 ``[n_rows]``.
        enemy: The enemy's policy, float64 ``[n_rows]``.
    """

    def compute() -> Solution:
        mdp = build(space, enemy)
        v = (1 + evaluate(mdp, policy, discount=1.0, tolerance=_TOLERANCE)) / 2
        q = np.asarray(mdp.to_scipy() @ np.append(v, np.maximum(mdp.terminal_reward, 0)))
        best = best_values(space.state_ptr, q)
        return Solution(
            *(best, q, "reach-probability", 1.0, "layered", _TOLERANCE, 0, 0.0, _TOLERANCE),
            *(first_best(space.state_ptr, q), Log(), rows_of(mdp)),
        )

    settings = space.rules.digest, "evaluation"
    rows = ModelRows(space.state_ptr, space.action)
    return cached_solution(rows, np.concatenate([policy, enemy]), settings, compute)


def subsets(cards: Five, n: int) -> Iterator[tuple[Five, float]]:
    """Yield each set of ``n`` of the cards, as five counts, and the probability of drawing it."""
    ways = comb(sum(cards), n)
    guard, rush, dodge, strike, punish = (range(min(copies, n) + 1) for copies in cards)
    for drawn in product(guard, rush, dodge, strike, punish):
        if sum(drawn) == n:
            yield drawn, prod(map(comb, cards, drawn)) / ways


def enemy_choices(space: StateSpace, enemy: np.ndarray, view: View) -> Iterator[tuple[Five, float, dict[int, float]]]:
    """Yield each possible hand of the enemy, its probability, and the probability of each action with this hand."""
    for hand, p in subsets(view.unseen, view.state.enemy_hand):
        rows = rows_of_state(space, mirrored(view.state, hand))
        choices = zip(space.action[rows].tolist(), enemy[rows].tolist(), strict=True)
        yield hand, p, {action: weight for action, weight in choices if weight > 0}


def mirrored(state: State, hand: Five) -> State:
    """Return the position from the view of the enemy, if the enemy holds ``hand``."""
    own = state.own_hp, sum(state.hand), state.own_exhausted, state.own_feinted
    enemy = state.enemy_hp, state.enemy_exhausted, state.enemy_feinted
    return State(state.breath, hand, *enemy, *own, state.discard)
