"""Exact optimal values of small games, by policy iteration in fractions on the rows of ``bench/reference.py``."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from bench import reference
from bench.reference import LOSS, WIN, State, Strategy, Successor, Transition

Table = list[dict[State, dict[int, Transition]]]
Values = dict[State, Fraction]
Policy = dict[State, int]


def q_values(rules: Any, values: Values, state: State, discount: Fraction) -> dict[int, Fraction]:
    """The value of each legal action against uniform play, given the values of the successors."""
    rows = reference.transitions(rules, state)
    return {action: _worth(row, values, discount) for action, row in rows.items()}


def solve(rules: Any, discount: Fraction, enemy: Strategy | None = None) -> Values:
    """The optimal value of every state; with discount 1, win probability less loss probability of a game that ends.

    Policy iteration: value the policy exactly, switch wherever another action is strictly better, repeat. The first
    policy comes from floats. It decides the number of rounds and nothing else, since the loop ends only when the values
    satisfy the optimality equation exactly.
    """
    table = [
        {state: reference.transitions(rules, state, enemy) for state in layer}
        for layer in reference.enumerate_states(rules)
    ]
    policy = _float_policy(table, discount)
    while True:
        values = _policy_values(table, policy, discount)
        better = _improve(table, policy, values, discount)
        if not better:
            return values
        policy.update(better)


def _total(terms: Iterable[Fraction]) -> Fraction:
    """Add fractions over one common denominator, much faster than in pairs when they are long."""
    listed = list(terms)
    denominator = lcm(*(term.denominator for term in listed))
    return Fraction(sum(term.numerator * (denominator // term.denominator) for term in listed), denominator)


def _worth(row: Transition, values: Values, discount: Fraction) -> Fraction:
    """The value of a row: a decided game counts in full, any other successor is discounted."""
    later = (p * values[successor] for successor, p in row.items() if isinstance(successor, State))
    return _settled(row, discount) + discount * _total(later)


def _settled(row: Transition, discount: Fraction) -> Fraction:
    """The part of a row's value from games it decides; without a discount a win counts once."""
    reward = Fraction(reference.expected_reward(row))
    return reward if discount == 1 else reward / (1 - discount)


def _improve(table: Table, policy: Policy, values: Values, discount: Fraction) -> Policy:
    """Switches to strictly better actions; none means that the values are optimal."""
    switches = {}
    for layer in table:
        for state, rows in layer.items():
            q = {action: _worth(row, values, discount) for action, row in rows.items()}
            if q[policy[state]] != values[state]:
                raise ArithmeticError(f"the policy was not valued exactly in {state}")
            best = max(q, key=q.__getitem__)
            if q[best] > values[state]:
                switches[state] = best
    return switches


def _float_row(row: Transition, discount: Fraction) -> list[tuple[Successor, float]]:
    """A row in floats, discounted unless the game is decided."""
    return [(t, float(p * discount if isinstance(t, State) else p)) for t, p in row.items()]


def _float_policy(table: Table, discount: Fraction, n_sweeps: int = 60) -> Policy:
    """A policy that is optimal or nearly so, by sweeping the layers backwards in floats."""
    value: dict[Successor, float] = {state: 0.0 for layer in table for state in layer}
    value.update({WIN: 1.0, LOSS: -1.0})
    backwards = [
        (state, [(action, _float_row(row, discount)) for action, row in rows.items()])
        for layer in reversed(table)
        for state, rows in layer.items()
    ]
    policy = {}
    for _ in range(n_sweeps):
        for state, rows in backwards:
            worth = [(sum(p * value[t] for t, p in row), action) for action, row in rows]
            value[state], policy[state] = max(worth)
    return policy


def _policy_values(table: Table, policy: Policy, discount: Fraction) -> Values:
    """Value a policy: the states of breath 1 by elimination, then the other breaths from the last back."""
    chosen = {state: rows[policy[state]] for layer in table for state, rows in layer.items()}
    # With low HP first the elimination is shorter, because most measures cost HP.
    firsts = sorted(table[0], key=lambda state: (state.own_hp + state.enemy_hp, state))
    values = _first_values(firsts, chosen, discount)
    for layer in reversed(table[1:]):
        values.update({state: _worth(chosen[state], values, discount) for state in layer})
    return values


def _first_values(firsts: list[State], chosen: dict[State, Transition], discount: Fraction) -> Values:
    """The values of breath 1, the only ones that a measure takes from the next."""
    column = {state: i for i, state in enumerate(firsts)}
    matrix = []
    for i, state in enumerate(firsts):
        constant, weights = _one_measure(state, chosen, discount)
        equation = [Fraction(0)] * len(firsts) + [constant]
        equation[i] = Fraction(1)
        for successor, weight in weights.items():
            equation[column[successor]] -= weight
        matrix.append(equation)
    return dict(zip(firsts, eliminate(matrix), strict=True))


def _one_measure(
    start: State, chosen: dict[State, Transition], discount: Fraction
) -> tuple[Fraction, dict[State, Fraction]]:
    """Follow a policy from breath 1 to the next: the reward, and the discounted law of the end."""
    constant, weights = Fraction(0), {start: Fraction(1)}
    while True:
        onward: defaultdict[State, Fraction] = defaultdict(Fraction)
        for state, weight in weights.items():
            constant += weight * _settled(chosen[state], discount)
            for successor, p in chosen[state].items():
                if isinstance(successor, State):
                    onward[successor] += weight * discount * p
        weights = onward
        if all(state.breath == 1 for state in weights):
            return constant, weights


def eliminate(matrix: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations, each given as its coefficients followed by its right-hand side.

    The work is done on integer rows, kept short by dividing out common factors. In the equations of a discounted policy
    the diagonal dominates, so no pivot is zero and no rows are swapped.
    """
    rows = [_integers(equation) for equation in matrix]
    for k, pivot_row in enumerate(rows):
        for i in range(k + 1, len(rows)):
            if rows[i][k]:
                shared = gcd(pivot_row[k], rows[i][k])
                up, down = pivot_row[k] // shared, rows[i][k] // shared
                rows[i] = _reduced([up * x - down * y for x, y in zip(rows[i], pivot_row, strict=True)])
    solution: list[Fraction] = []
    for k in reversed(range(len(rows))):
        known = zip(rows[k][k + 1 : -1], reversed(solution), strict=True)
        solution.append((rows[k][-1] - _total(a * x for a, x in known)) / rows[k][k])
    return solution[::-1]


def _integers(equation: list[Fraction]) -> list[int]:
    """Multiply an equation out to the smallest integers."""
    scale = lcm(*(x.denominator for x in equation))
    return _reduced([x.numerator * (scale // x.denominator) for x in equation])


def _reduced(row: list[int]) -> list[int]:
    """Divide integers, not all zero, by their greatest common divisor."""
    divisor = gcd(*row)
    return [x // divisor for x in row]
