"""Small processes of textbooks, and a large grid and a random process for comparison, each with its discount.

Most processes without a file of their own are built from lists: for each state the actions, with their rewards and the
probabilities of their successors. `PROBLEMS` contains all processes.

forest 10
    The forest of ``forest.py`` with ten age classes.
lake 64, grid 99,856
    A slippery frozen lake: moves may turn left or right, an eighth to a sixth of the cells are holes, and reaching the
    last cell pays 1. Holes and the last cell are absorbing.
gambler 101
    Bet on a coin that shows heads with probability 0.4, until 0 or 100 coins are reached [Sutton and Barto 2018, ex.
    4.3].
bus 175
    Replace a bus engine, whose running costs grow with its mileage [Rust 1987, Econometrica 55].
inventory 201
    The inventory of ``inventory.py`` with 200 places and orders in units of five.
search 400
    Accept a wage for good, or draw another one tomorrow [McCall 1970, Q. J. Econ. 84].
cars 441
    Move up to five cars between two rental locations overnight [Sutton and Barto 2018, ex. 4.2].
growth 500
    Choose next year's capital on a grid, with logarithmic utility of what is consumed [Stokey and Lucas 1989, ch. 2].
queue 1,001
    Choose the service rate of a queue with room for 1,000 customers [Puterman 1994, sec. 11.5].
random 20,000
    The random process of ``random_sparse.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import poisson

from bench.processes import forest, inventory, random_sparse
from punish_fast.mdp import MDP

Actions = Iterable[tuple[float, dict[int, float]]]


def _process(n_states: int, actions: Callable[[int], Actions]) -> MDP:
    """Return the process whose state ``s`` has the rewards and successors ``actions(s)``."""
    reward: list[float] = []
    columns: list[int] = []
    data: list[float] = []
    indptr, state_ptr = [0], [0]
    for state in range(n_states):
        for paid, successors in actions(state):
            reward.append(paid)
            columns += successors.keys()
            data += successors.values()
            indptr.append(len(data))
        state_ptr.append(len(reward))
    matrix = csr_array((data, columns, indptr), shape=(len(reward), n_states))
    return MDP.from_scipy(matrix, reward, state_ptr, normalize=True)


def _merged(outcomes: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Add up the probabilities of equal successors."""
    merged: dict[int, float] = {}
    for state, p in outcomes:
        merged[state] = merged.get(state, 0.0) + p
    return merged


def lake(side: int, slip: float) -> MDP:
    """Return the frozen lake with ``side ** 2`` cells. A move turns left or right with probability ``slip`` each."""
    is_hole, goal = np.random.default_rng(1).random(side * side) < 0.15, side * side - 1
    is_hole[[0, goal]] = False
    moves = ((0, -1), (1, 0), (0, 1), (-1, 0))

    def moved(cell: int, direction: int) -> int:
        down, right = moves[direction % 4]
        row, column = divmod(cell, side)
        return min(max(row + down, 0), side - 1) * side + min(max(column + right, 0), side - 1)

    def actions(cell: int) -> Actions:
        if is_hole[cell] or cell == goal:
            yield 0.0, {cell: 1.0}
            return
        for action in range(4):
            chances = ((action - 1, slip), (action, 1 - 2 * slip), (action + 1, slip))
            to = _merged((moved(cell, direction), p) for direction, p in chances)
            yield to.get(goal, 0.0), to

    return _process(side * side, actions)


def gambler(goal: int) -> MDP:
    """Return the gambler's process with ``goal + 1`` states."""

    def actions(coins: int) -> Actions:
        if coins in (0, goal):
            return [(0.0, {coins: 1.0})]
        bets = range(1, min(coins, goal - coins) + 1)
        return [(0.4 * (coins + bet == goal), {coins + bet: 0.4, coins - bet: 0.6}) for bet in bets]

    return _process(goal + 1, actions)


def bus(most: int) -> MDP:
    """Return the bus engine with ``most`` classes of mileage."""
    wear = ((0, 0.39), (1, 0.6), (2, 0.01))
    renewed = -10.0, _merged(wear)
    return _process(most, lambda age: [(-0.002 * age, _merged((min(age + k, most - 1), p) for k, p in wear)), renewed])


def search(n_wages: int) -> MDP:
    """Return the job search. The last ``n_wages`` states are accepted wages."""
    wages, draw = np.linspace(10.0, 60.0, n_wages), dict.fromkeys(range(n_wages), 1 / n_wages)

    def actions(state: int) -> Actions:
        if state >= n_wages:
            return [(wages[state - n_wages], {state: 1.0})]
        return [(25.0, draw), (wages[state], {n_wages + state: 1.0})]

    return _process(2 * n_wages, actions)


def cars(most: int, moved: int) -> MDP:
    """Return the car rental with at most ``most`` cars in each location. At most ``moved`` are moved in a night."""

    def day(rented: float, returned: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the distribution of cars in the evening (columns) and the income, by number in the morning (rows)."""
        evening, income = np.zeros((most + 1, most + 1)), np.zeros(most + 1)
        for cars in range(most + 1):
            demand = np.append(poisson.pmf(np.arange(cars), rented), poisson.sf(cars - 1, rented))
            income[cars] = 10 * demand @ np.arange(cars + 1)
            for wanted, p in enumerate(demand):
                left = cars - wanted
                back = np.append(poisson.pmf(np.arange(most - left), returned), poisson.sf(most - left - 1, returned))
                evening[cars, left:] += p * back
        return evening, income

    (first, earned), (second, also) = day(3, 3), day(4, 2)
    rows, reward, state_ptr = [], [], [0]
    for here in range(most + 1):
        for there in range(most + 1):
            for shift in range(-min(there, moved), min(here, moved) + 1):
                a, b = min(here - shift, most), min(there + shift, most)
                rows.append(np.outer(first[a], second[b]).ravel())
                reward.append(earned[a] + also[b] - 2 * abs(shift))
            state_ptr.append(len(reward))
    return MDP.from_scipy(csr_array(np.array(rows)), reward, state_ptr, normalize=True)


def growth(n_levels: int) -> MDP:
    """Return the growth model with ``n_levels`` levels of capital."""
    capital = np.linspace(0.05, 5.0, n_levels)
    consumed = 3 * capital[:, None] ** 0.4 - capital
    state, level = np.nonzero(consumed > 0)
    matrix = csr_array((np.ones(len(level)), (np.arange(len(level)), level)), shape=(len(level), n_levels))
    pointers = np.append(0, np.cumsum(np.bincount(state)))
    return MDP.from_scipy(matrix, np.log(consumed[state, level]), pointers)


def queue(room: int) -> MDP:
    """Return the queue. Its states are 0 to ``room`` customers."""
    arrival, rates = 0.45, ((0.3, 0.0), (0.4, 2.0), (0.5, 5.0))

    def actions(n: int) -> Actions:
        for rate, cost in rates:
            chances = (min(n + 1, room), arrival), (max(n - 1, 0), rate), (n, 1 - arrival - rate)
            yield -0.1 * n - cost, _merged(chances)

    return _process(room + 1, actions)


# Constructor and discount by name.
PROBLEMS: dict[str, tuple[Callable[[], MDP], float]] = {
    "forest 10": (partial(forest.make, 10), 0.96),
    "lake 64": (partial(lake, 8, 1 / 3), 0.99),
    "gambler 101": (partial(gambler, 100), 0.999999),
    "bus 175": (partial(bus, 175), 0.9999),
    "inventory 201": (partial(inventory.make, 200, 5, 20.0, 60), 0.95),
    "search 400": (partial(search, 200), 0.99),
    "cars 441": (partial(cars, 20, 5), 0.9),
    "growth 500": (partial(growth, 500), 0.95),
    "queue 1,001": (partial(queue, 1000), 0.999),
    "random 20,000": (partial(random_sparse.make, 20_000, n_successors=10), 0.99),
    "grid 99,856": (partial(lake, 316, 0.1), 0.99),
}
