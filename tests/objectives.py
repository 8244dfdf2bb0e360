"""Exact values of objectives in small processes, by trying every policy, in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from processes import Row, States, random_processes, slow_processes, total_rewards


def reach_probabilities(rows: list[Row], goal: set[int], avoid: set[int]) -> list[Fraction]:
    """The probabilities with which a policy, given by its rows, reaches the goal."""

    def arriving(state, row):
        end = len(rows)
        if state in goal or state in avoid:
            return float(state in goal), {end: 1.0}
        successors = {}
        for t, p in row[1].items():
            to = t if t < end and t not in goal and t not in avoid else end
            successors[to] = successors.get(to, 0) + Fraction(p)
        return sum((Fraction(p) for t, p in row[1].items() if t in goal), Fraction(0)), successors

    return total_rewards([arriving(state, row) for state, row in enumerate(rows)], 1)


def gains(rows: list[Row], terminals: list[float]) -> list[Fraction]:
    """The average rewards of a policy, given by its rows."""
    n, classes = len(rows), recurrent(rows)
    onward = []
    for s, (_, row) in enumerate(rows):
        if s in classes:
            onward.append((class_gain(rows, classes[s]), {n: 1.0}))
        else:
            arrival = sum((Fraction(p) * Fraction(terminals[t - n]) for t, p in row.items() if t >= n), Fraction(0))
            onward.append((arrival, to_one_end(row, n)))
    return total_rewards(onward, 1)


def recurrent(rows: list[Row]) -> dict[int, set[int]]:
    """The states that a policy visits for ever, each with those of its recurrent class."""
    n = len(rows)
    to = {s: set(row) & set(range(n)) for s, (_, row) in enumerate(rows)}
    reached = {s: reached_from(to, s) for s in to}
    return {s: reached[s] for s in to if all(set(rows[t][1]) <= set(to) and s in reached[t] for t in reached[s])}


def class_gain(rows: list[Row], states: set[int]) -> Fraction:
    """The average reward of a recurrent class: what is earned until play returns to a state, over the time it takes."""
    end, first = len(rows), min(states)
    cut = [(reward, {end if t == first else t: p for t, p in row.items()}) for reward, row in rows]
    idle = [row if s in states else (0.0, {end: 1.0}) for s, row in enumerate(cut)]
    earned = total_rewards(idle, 1)[first]
    return earned / total_rewards([(1.0, row) for _, row in idle], 1)[first]


def to_one_end(row: dict[int, float], end: int) -> dict[int, Fraction]:
    """A row in which all terminals are one."""
    successors: dict[int, Fraction] = {}
    for t, p in row.items():
        successors[min(t, end)] = successors.get(min(t, end), Fraction(0)) + Fraction(p)
    return successors


def reached_from(to: dict[int, set[int]], first: int) -> set[int]:
    """What can be reached from a state, itself included."""
    reached, left = {first}, [first]
    while left:
        new = to[left.pop()] - reached
        reached |= new
        left += new
    return reached


def best_of(maximize: bool, values: list[list]) -> list:
    """The largest or smallest value of each state over policies."""
    return [(max if maximize else min)(column) for column in zip(*values, strict=True)]


def policies(states: States) -> list[list[Row]]:
    """The rows of every policy that takes one row in each state."""
    return [list(rows) for rows in product(*states)]


def rows_of(states: States, choice: np.ndarray) -> list[Row]:
    """The rows of the policy with these choices."""
    rows = [row for state in states for row in state]
    return [rows[row] for row in choice]


@st.composite
def processes_with_goals(draw):
    """A process of up to 200 policies, a goal, and states to avoid, as sets of columns."""
    few = (random_processes() | slow_processes()).filter(lambda sample: np.prod([len(s) for s in sample[0]]) <= 200)
    sample = draw(few)
    n_columns = len(sample[0]) + len(sample[2])
    columns = st.sets(st.integers(0, n_columns - 1), max_size=2)
    goal = draw(columns)
    return sample, goal, draw(columns) - goal


def marks(columns: set[int], n: int) -> np.ndarray:
    """A set of columns as an array, bool ``[n]``."""
    return np.isin(np.arange(n), list(columns))
