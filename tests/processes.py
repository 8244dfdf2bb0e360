"""Small Markov decision processes, written as lists, and their exact optimal values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from punish_fast.mdp.model import MDP, check

# A row is its reward and its probabilities by column; a state is a list of rows.
Row = tuple[float, dict[int, float]]
States = Sequence[Sequence[Row]]


def process(states: States, layers: Sequence[int] | None = None, terminals: Sequence[float] = ()) -> MDP:
    """A checked process; ``layers`` are numbers of states, one layer for all if None."""
    rows = [row for state in states for row in state]
    entries = [sorted(successors.items()) for _, successors in rows]
    return check(
        MDP(
            state_ptr=np.cumsum([0, *map(len, states)]),
            indptr=np.cumsum([0, *map(len, entries)]),
            indices=np.array([column for row in entries for column, _ in row], dtype=np.int32),
            data=np.array([p for row in entries for _, p in row], dtype=np.float64),
            reward=np.array([reward for reward, _ in rows], dtype=np.float64),
            terminal_reward=np.array(terminals, dtype=np.float64),
            layer_ptr=np.cumsum([0, *([len(states)] if layers is None else layers)]),
            action=np.array([action for state in states for action in range(len(state))], dtype=np.uint8),
        )
    )


def exact_values(states: States, terminals: Sequence[float], discount: float) -> list[Fraction]:
    """Optimal values by policy iteration in fractions; with discount 1, play must end under every policy."""
    g = Fraction(discount)
    settled = [Fraction(reward) / (1 - g) if g < 1 else Fraction(0) for reward in terminals]
    policy = [0] * len(states)
    while True:
        values = _policy_values([state[k] for state, k in zip(states, policy, strict=True)], settled, g)
        q = [[_worth(row, values + settled, g) for row in state] for state in states]
        better = [max(range(len(worth)), key=worth.__getitem__) for worth in q]
        switches = [i for i, worth in enumerate(q) if worth[better[i]] > worth[policy[i]]]
        if not switches:
            return values
        for i in switches:
            policy[i] = better[i]


def _worth(row: Row, values: list[Fraction], g: Fraction) -> Fraction:
    reward, successors = row
    return Fraction(reward) + g * sum(Fraction(p) * values[column] for column, p in successors.items())


def _policy_values(rows: list[Row], settled: list[Fraction], g: Fraction) -> list[Fraction]:
    """Solve ``v = r + g P v`` by elimination; every pivot outweighs the rest of its row."""
    n = len(rows)
    matrix = []
    for i, (reward, successors) in enumerate(rows):
        equation = [Fraction(0)] * n + [Fraction(reward)]
        equation[i] += 1
        for column, p in successors.items():
            if column < n:
                equation[column] -= g * Fraction(p)
            else:
                equation[n] += g * Fraction(p) * settled[column - n]
        matrix.append(equation)
    for k in range(n):
        matrix[k] = [x / matrix[k][k] for x in matrix[k]]
        for i in range(n):
            if i != k and matrix[i][k]:
                matrix[i] = [x - matrix[i][k] * y for x, y in zip(matrix[i], matrix[k], strict=True)]
    return [equation[n] for equation in matrix]
