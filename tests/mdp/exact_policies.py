"""Small random processes, and the exact values of their policies in fractions.

This is the slow, obvious model of the solver: every deterministic stationary policy induces a Markov chain, linear
equations determine its values, and the optimal value of a state is the best value of all policies. Finite values are
fractions; infinite ones are floats.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from random import Random
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from punish_fast.mdp.model.mdp import MDP, from_rows
from punish_fast.runtime.parallel import cumulated

# A row as it is given: its reward, and columns with probabilities, which may be repeated and zero.
GivenRow = tuple[float, list[tuple[int, float]]]
# A row in fractions: its reward, and the positive probability of each successor.
Row = tuple[Fraction, dict[int, Fraction]]
Value = Fraction | float

_MOST_POLICIES = 64
# Rewards and values of terminals.
_EXTREMES = [5e-324, -5e-324, 1e-310, -3e-308, 1e-300, 1e-20, 1e20, -1e100, -sys.float_info.max]
_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Chain:
    """The Markov chain of a policy: one row for each state, and the rewards and values of terminals, in fractions."""

    rows: list[Row]
    terminals: list[Fraction]
    values: list[Fraction]

    @property
    def ends(self) -> range:
        """The columns of terminals."""
        return range(len(self.rows), len(self.rows) + len(self.terminals))

    @property
    def absolute(self) -> Chain:
        """The chain with absolute rewards."""
        rows = [(abs(reward), row) for reward, row in self.rows]
        return Chain(rows, list(map(abs, self.terminals)), list(map(abs, self.values)))

    def settled(self, discount: Fraction = _ZERO) -> dict[int, Fraction]:
        """The values of the columns of terminals."""
        values = [reward / (1 - discount) + value for reward, value in zip(self.terminals, self.values, strict=True)]
        return dict(zip(self.ends, values, strict=True))


@dataclass(frozen=True)
class Process:
    """A process in fractions."""

    rows: list[list[Row]]
    terminals: list[Fraction]
    values: list[Fraction]

    @cached_property
    def policies(self) -> list[Chain]:
        """The chains of all deterministic policies."""
        return [Chain(list(rows), self.terminals, self.values) for rows in product(*self.rows)]

    @property
    def absolute(self) -> Process:
        """The process with absolute rewards."""
        rows = [[(abs(reward), row) for reward, row in rows] for rows in self.rows]
        return Process(rows, list(map(abs, self.terminals)), list(map(abs, self.values)))

    def chain(self, choice: Iterable[int]) -> Chain:
        """The chain of the policy that takes row ``choice[s]`` of the process in state ``s``."""
        flat = [row for rows in self.rows for row in rows]
        return Chain([flat[row] for row in choice], self.terminals, self.values)

    def mixture(self, weight: Iterable[float]) -> Chain:
        """The chain of a policy that takes each row with a probability; weights of a state are normalized."""
        shares, mixed = iter(map(Fraction, weight)), []
        for rows in self.rows:
            share = [next(shares) for _ in rows]
            reward, successors = _ZERO, dict[int, Fraction]()
            for w, (paid, row) in zip(share, rows, strict=True):
                reward += w / sum(share) * paid
                for t, p in row.items():
                    successors[t] = successors.get(t, _ZERO) + w / sum(share) * p
            mixed.append((reward, {t: p for t, p in successors.items() if p}))
        return Chain(mixed, self.terminals, self.values)


@dataclass(frozen=True)
class Sample:
    """A random process in floats, as the library receives it.

    Attributes:
        states: The rows of each state.
        terminals: The reward of each terminal.
        layers: Number of states of each layer; None if all states are in one layer.
        is_sparse: Whether to build the MDP from a sparse matrix, which may repeat entries, or from lists of rows.
        values: The value of each terminal at which play ends.
    """

    states: list[list[GivenRow]]
    terminals: list[float]
    layers: list[int] | None = None
    is_sparse: bool = False
    values: list[float] | None = None

    @cached_property
    def mdp(self) -> MDP:
        """The process as an MDP of the library."""
        if not self.is_sparse:
            lists = [[(reward, dict(entries)) for reward, entries in rows] for rows in self.states]
            return from_rows(lists, self.layers, self.terminals, terminal_value=self.values or ())
        rows = [row for state in self.states for row in state]
        entries = [(r, column, p) for r, (_, row) in enumerate(rows) for column, p in row]
        r, column, p = map(np.array, zip(*entries, strict=True))
        matrix = coo_array((p, (r, column)), shape=(len(rows), len(self.states) + len(self.terminals)))
        pointer = cumulated(np.array([len(state) for state in self.states]))
        rewards = [reward for reward, _ in rows]
        return MDP.from_scipy(matrix, rewards, pointer, self.terminals, terminal_value=self.values or ())

    @property
    def ending(self) -> Sample:
        """The process in which each terminal ends the episode with its reward or value."""
        values = [a or b for a, b in zip(self.terminals, self.values or self.terminals, strict=True)]
        return replace(self, terminals=[0.0] * len(values), values=values)

    def by_name(self, rng: Random, names: Sequence[Hashable], actions: Sequence[Sequence[Hashable]]) -> MDP:
        """Build the process, whose terminals have values, from a function of named states with named actions."""
        pays = [rng.random() < 0.5 for _ in names]

        def model(state: Hashable) -> Any:
            s = names.index(state)
            if s >= len(self.states):
                return (self.values or [])[s - len(self.states)]
            return {a: _described(row, names, pays[s]) for a, row in zip(actions[s], self.states[s], strict=True)}

        return MDP.from_function(model, rng.sample(names, len(names)))

    def in_order(self, order: Sequence[int]) -> MDP:
        """Build the process, whose terminals have values, from lists in another order of columns."""
        place = {column: k for k, column in enumerate(order)}
        n = len(self.states)
        lists = [
            [(reward, {place[t]: float(p) for t, p in _summed(entries).items()}) for reward, entries in self.states[s]]
            for s in order[:n]
        ]
        return from_rows(lists, terminal_value=[(self.values or [])[t - n] for t in order[n:]])

    @cached_property
    def exact(self) -> Process:
        """The process in fractions. Each row is divided by its exact sum, which is 1 only up to rounding."""
        rows = [[(Fraction(reward), _normalized(entries)) for reward, entries in state] for state in self.states]
        values = self.values or [0.0] * len(self.terminals)
        return Process(rows, list(map(Fraction, self.terminals)), list(map(Fraction, values)))


def _described(row: GivenRow, names: Sequence[Hashable], has_rewards: bool) -> tuple[float, Any]:
    """A row in one of the forms that `MDP.from_function` accepts."""
    reward, entries = row
    if has_rewards and len(entries) == 1:
        return 0.0, [(names[column], p, reward) for column, p in entries]
    named = [(names[column], p) for column, p in entries]
    return reward, dict(named) if len(dict(named)) == len(named) else named


def _summed(entries: list[tuple[int, float]]) -> dict[int, Fraction]:
    row: dict[int, Fraction] = {}
    for column, p in entries:
        if p:
            row[column] = row.get(column, _ZERO) + Fraction(p)
    return row


def _normalized(entries: list[tuple[int, float]]) -> dict[int, Fraction]:
    row = _summed(entries)
    return {column: p / sum(row.values()) for column, p in row.items()}


# --- Values of a chain ------------------------------------------------------------------------------------------------


def expected(rows: Sequence[Row], worth: dict[int, Fraction], discount: Fraction = _ONE) -> list[Fraction]:
    """Solve ``v = r + discount P v`` for the states that are not in ``worth``, which maps columns to known values.

    With discount 1, play must reach a column of ``worth`` from every other state.
    """
    states = [s for s in range(len(rows)) if s not in worth]
    place = {s: i for i, s in enumerate(states)}
    matrix = []
    for s in states:
        reward, row = rows[s]
        equation = [_ZERO] * len(states)
        equation[place[s]] = _ONE
        for t, p in row.items():
            if t in place:
                equation[place[t]] -= discount * p
            else:
                reward += discount * p * worth[t]
        matrix.append([*equation, reward])
    found = dict(zip(states, eliminate(matrix), strict=True))
    return [worth[s] if s in worth else found[s] for s in range(len(rows))]


def eliminate(matrix: list[list[Fraction]]) -> list[Fraction]:
    """Solve linear equations, each given as its coefficients followed by its right-hand side.

    The coefficients are those of a transient or discounted chain, so no pivot is zero.
    """
    rows = list(matrix)
    for k in range(len(rows)):
        pivot = rows[k]
        for i, row in enumerate(rows):
            if i != k and row[k]:
                factor = row[k] / pivot[k]
                rows[i] = [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def reached(chain: Chain, stops: Collection[int]) -> list[set[int]]:
    """The columns that play may visit from each state, the state included. Play stops at ``stops``."""
    found = []
    for s in range(len(chain.rows)):
        seen, left = {s}, [s]
        while left:
            t = left.pop()
            if t not in stops:
                new = chain.rows[t][1].keys() - seen
                seen |= new
                left += new
        found.append(seen)
    return found


def recurrent(chain: Chain, stops: Collection[int]) -> list[frozenset[int]]:
    """The recurrent classes of a chain in which play stops at ``stops``, which include all terminals."""
    to = reached(chain, stops)
    classes = {frozenset(seen) for seen in to if not seen & set(stops)}
    return [members for members in classes if all(to[t] == members for t in members)]


def class_gain(chain: Chain, members: frozenset[int]) -> Fraction:
    """The average reward of a recurrent class: the reward until play returns to a state over the time it takes."""
    first = min(members)
    outside = dict.fromkeys(set(range(len(chain.rows))) - members | {first}, _ZERO)
    means = []
    for rows in (chain.rows, [(_ONE, row) for _, row in chain.rows]):
        after = expected(rows, outside)
        means.append(backed_up(rows[first], after))
    return means[0] / means[1]


def discounted(chain: Chain, discount: Fraction) -> list[Fraction]:
    """Discounted values."""
    return expected(chain.rows, chain.settled(discount), discount)


def totals(chain: Chain, sign: int = 1) -> list[Value] | None:
    """Total rewards, including the reward or value of the terminal reached.

    The value of a recurrent class is infinite if it costs: if its gain is negative and rewards are maximized (``sign``
    is 1), or if its gain is positive and they are minimized. The result is None if a class has rewards otherwise.
    """
    worth, costly = chain.settled(), set[int]()
    for members in recurrent(chain, chain.ends):
        if any(chain.rows[s][0] for s in members):
            if sign * class_gain(chain, members) >= 0:
                return None
            costly |= members
        worth |= dict.fromkeys(members, _ZERO)
    finite = expected(chain.rows, worth)
    seen_from = reached(chain, chain.ends)
    return [-sign * math.inf if seen & costly else v for v, seen in zip(finite, seen_from, strict=True)]


def gains(chain: Chain) -> list[Fraction]:
    """Average rewards per step."""
    worth = dict(zip(chain.ends, chain.terminals, strict=True))
    for members in recurrent(chain, chain.ends):
        worth |= dict.fromkeys(members, class_gain(chain, members))
    return expected([(_ZERO, row) for _, row in chain.rows], worth)


def biases(chain: Chain, fixed: dict[int, Fraction]) -> list[Fraction]:
    """Bias of each state, given the bias of one state of each recurrent class. Terminals have the bias 0."""
    rows = [(reward - gain, row) for (reward, row), gain in zip(chain.rows, gains(chain), strict=True)]
    return expected(rows, fixed | dict.fromkeys(chain.ends, _ZERO))


def reach_probabilities(chain: Chain, goal: set[int], avoid: set[int]) -> list[Fraction]:
    """Probabilities of reaching the goal before a state to avoid."""
    stops = {*goal, *avoid, *chain.ends}
    worth = {t: Fraction(t in goal) for t in stops}
    for members in recurrent(chain, stops):
        worth |= dict.fromkeys(members, _ZERO)
    return expected([(_ZERO, row) for _, row in chain.rows], worth)


def goal_totals(chain: Chain, goal: set[int], sure: set[int] | None = None) -> list[Value]:
    """Total rewards until the goal, plus infinity if play may miss it, but minus infinity if it costs to do so.

    If rewards are minimized, ``sure`` holds the states from which some policy almost surely reaches the goal. A class
    of such states with a negative gain is worth minus infinity, because a policy can leave it for the goal at any time.
    """
    stops = {*goal, *chain.ends}
    falling, missing = set[int](), stops - goal
    for members in recurrent(chain, stops):
        if (sure is None or members <= sure) and class_gain(chain, members) < 0:
            falling |= members
        else:
            missing |= members
    worth = dict.fromkeys(stops | falling | missing, _ZERO) | dict(zip(chain.ends, chain.values, strict=True))
    finite = expected(chain.rows, worth)
    values: list[Value] = []
    for v, seen in zip(finite, reached(chain, stops), strict=True):
        values.append(math.inf if seen & missing else -math.inf if seen & falling else v)
    return values


def steps(
    process: Process,
    pick: Callable[[int, int, list[Fraction]], int],
    n_steps: int,
    discount: Fraction,
    last: Sequence[Fraction],
) -> list[list[Fraction]]:
    """Values before each step and after the last one; ``pick(step, state, q)`` returns the index of the row to take.

    ``last`` holds the values of all columns after the last step, except for terminals that have a value.
    """
    ends = zip(process.values, last[len(process.rows) :], strict=True)
    v = [*last[: len(process.rows)], *(value or x for value, x in ends)]
    values = [v[: len(process.rows)]]
    for step in reversed(range(n_steps)):
        q = [[backed_up(row, v, discount) for row in rows] for rows in process.rows]
        ends = v[len(process.rows) :]
        v = [worth[pick(step, s, worth)] for s, worth in enumerate(q)]
        paid = zip(process.terminals, process.values, ends, strict=True)
        v += [value or reward + discount * x for reward, value, x in paid]
        values.insert(0, v[: len(process.rows)])
    return values


def backed_up(row: Row, values: Sequence[Fraction] | dict[int, Fraction], discount: Fraction = _ONE) -> Fraction:
    """The value of a row, from the values of its successors."""
    return row[0] + discount * sum((p * values[t] for t, p in row[1].items()), _ZERO)


# --- Random processes -------------------------------------------------------------------------------------------------


def random_sample(seed: int) -> Sample:
    """A process of 2 to 6 states with at most 64 policies."""
    rng = Random(seed)
    n, n_terminals = rng.randint(2, 6), rng.choice([0, 1, 1, 2])
    counts = [rng.choice([1, 1, 2, 2, 3]) for _ in range(n)]
    while math.prod(counts) > _MOST_POLICIES:
        counts[rng.randrange(n)] = 1
    paid, ends = rng.choice(_REWARDS), n_terminals > 0 and rng.random() < 0.25
    states = [
        [
            (paid(rng, r), _ending(rng, row, n) if ends else row)
            for r, row in enumerate(_row(rng, s, n, n + n_terminals) for _ in range(count))
        ]
        for s, count in enumerate(counts)
    ]
    _tie(rng, states)
    terminals = [0.0 if rng.random() < 0.4 else paid(rng, 1) for _ in range(n_terminals)]
    # Another generator, so that the other numbers of a seed do not depend on extreme terminals.
    if n_terminals and (size := (extreme := Random(-seed - 2)).random()) < 0.2:
        huge = extreme.choice([-1, 1]) * extreme.uniform(1, 1.7) * 10.0 ** extreme.randint(285, 308)
        terminals[-1] = huge if size < 0.1 else extreme.choice(_EXTREMES)
    # Some rewards of terminals become values.
    ended = Random(-seed - 3)
    is_value = [ended.random() < 0.4 for _ in terminals]
    values = [x if is_end else 0.0 for x, is_end in zip(terminals, is_value, strict=True)] if any(is_value) else None
    terminals = [0.0 if is_end else x for x, is_end in zip(terminals, is_value, strict=True)]
    is_sparse = rng.random() < 0.5
    for rows in states if is_sparse or rng.random() < 0.1 else []:
        rows[:] = [(reward, _stored(rng, entries, n + n_terminals, is_sparse)) for reward, entries in rows]
    return Sample(states, terminals, None if is_sparse or rng.random() < 0.8 else _layers(rng, n), is_sparse, values)


def _row(rng: Random, state: int, n: int, n_columns: int) -> list[tuple[int, float]]:
    """Entries of a row. The first one often leads to the state itself or to the next state."""
    columns = rng.sample(range(n_columns), min(n_columns, rng.randint(1, 3)))
    first = rng.choice([state, (state + 1) % n, columns[0], columns[0]])
    columns = [first, *(t for t in columns if t != first)][:3]
    return list(zip(columns, _probabilities(rng, len(columns)), strict=True))


def _probabilities(rng: Random, m: int) -> list[float]:
    """One to three probabilities. Their sum is 1 up to rounding; in one kind, up to the accepted tolerance."""
    if m == 1:
        return [1.0]
    decimals = rng.choice([[0.9, 0.1], [0.3, 0.7]] if m == 2 else [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    cuts = sorted(rng.sample(range(1, 16), m - 1))
    kinds = {
        "leak": _leak(rng, 2.0 ** -rng.randint(1, 50), m),
        "decimal leak": _leak(rng, 10.0 ** -rng.randint(1, 15), m),
        "dyadic": [(b - a) / 16 for a, b in zip([0, *cuts], [*cuts, 16], strict=True)],
        "decimal": decimals,
        "thirds": [1 / 3, 2 / 3] if m == 2 else [1 / 3] * 3,
        "hardly a leak": [1.0, *[rng.choice([1e-17, 1e-20, 1e-100, 5e-324])] * (m - 1)],
        "off": [p * (1 + rng.choice([-9e-13, -1e-13, 4e-13])) for p in decimals],
    }
    return kinds[rng.choices(list(kinds), [4, 2, 2, 2, 2, 1, 1])[0]]


def _leak(rng: Random, e: float, m: int) -> list[float]:
    rest = [e] if m == 2 else rng.choice([[e / 2, e / 2], [e / 4, 3 * e / 4], [e, e * e]])
    return [1 - sum(rest), *rest]


def _ending(rng: Random, row: list[tuple[int, float]], end: int) -> list[tuple[int, float]]:
    """The row with a dyadic probability of ending play added."""
    share = 2.0 ** -rng.randint(1, 8)
    scaled = {column: p * (1 - share) for column, p in row}
    return list((scaled | {end: scaled.get(end, 0.0) + share}).items())


def _tie(rng: Random, states: list[list[GivenRow]]) -> None:
    """Copy rows, exactly or with a slightly different reward, and make one state the mirror image of another."""
    for rows in states:
        if len(rows) > 1 and rng.random() < 0.3:
            a, b = rng.sample(range(len(rows)), 2)
            near = rng.choice([1.0, 1.0, 1 + 2.0**-52, 1 - 1e-13, 1 - 1e-9])
            rows[b] = (rows[a][0] * near, rows[a][1])
    if rng.random() < 0.25:
        a, b = rng.sample(range(len(states)), 2)
        if len(states[a]) == len(states[b]):
            swap = {a: b, b: a}
            states[b] = [(reward, [(swap.get(t, t), p) for t, p in row]) for reward, row in states[a]]


def _stored(rng: Random, entries: list[tuple[int, float]], n_columns: int, is_sparse: bool) -> list[tuple[int, float]]:
    """The entries with an explicit zero. For a sparse matrix, also split some entries in halves and shuffle them."""
    stored = []
    for column, p in entries:
        halves = is_sparse and rng.random() < 0.2 and p / 2 * 2 == p
        stored += [(column, p / 2)] * 2 if halves else [(column, p)]
    column = rng.randrange(n_columns)
    if rng.random() < 0.3 and (is_sparse or column not in dict(entries)):
        stored.append((column, 0.0))
    if is_sparse:
        rng.shuffle(stored)
    return stored


def _layers(rng: Random, n: int) -> list[int]:
    cuts = sorted(rng.sample(range(n + 1), rng.randint(1, 2)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def _penalty(rng: Random, row: int) -> float:
    """A small reward, or often, except in the first row of a state, a large penalty."""
    if rng.random() < (0.5 if row else 0.05):
        return -(10.0 ** rng.randint(6, 15))
    return rng.randint(-3, 3) / rng.choice([1, 10])


# Functions of a random generator and the index of a row.
_REWARDS: list[Callable[[Random, int], float]] = [
    *[lambda rng, _row: float(rng.randint(-3, 3))] * 2,
    *[lambda rng, _row: float(rng.choice([0, 0, 0, 0, 1, -1]))] * 2,
    *[_penalty] * 2,
    lambda rng, _row: rng.choice([-1, 0, 1, 1]) * rng.uniform(1, 10) * 10.0 ** rng.randint(-300, 299),
    lambda rng, _row: rng.choice([-1, 0, 1, 1]) * rng.uniform(1, 10) * 10.0 ** rng.randint(-7, 7),
    lambda rng, _row: rng.choice([0.1, 0.2, 0.3, 1 / 3, 2 / 3, -0.1, 0.7]),
    lambda rng, _row: rng.choice([0.0, 5e-324, 1e-310, -3e-308, 1e-300]),
    lambda rng, _row: float(rng.choice([0, 1, 1, 2, 5])),
]
