"""Small Markov decision processes, written as lists or at random, and their exact optimal values."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, pairwise, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from punish_fast.mdp.model.mdp import MDP
from punish_fast.runtime.parallel import cumulated
from tests.mdp.exact_policies import Chain, backed_up, expected, totals
from tests.mdp.exact_policies import Row as ExactRow

# A row is its reward and its probabilities by column; a state is a list of rows.
Row = tuple[float, dict[int, float]]
States = Sequence[Sequence[Row]]


def compacted(mdp: MDP) -> MDP:
    """The same process, with equal probabilities of rows stored once."""
    places: dict[bytes, int] = {}
    stored: list[float] = []
    begins = []
    for begin, end in pairwise(mdp.indptr.tolist()):
        row = mdp.data[begin:end]
        begins.append(places.setdefault(row.tobytes(), len(stored)))
        if begins[-1] == len(stored):
            stored += row.tolist()
    return replace(mdp, data_ptr=np.array(begins, dtype=np.int64), data=np.array(stored, dtype=np.float64))


def with_zeros(mdp: MDP) -> MDP:
    """Return the process with an entry for every column in each row."""
    shape = (mdp.n_rows, mdp.n_columns)
    indices = np.broadcast_to(np.arange(mdp.n_columns, dtype=np.int32), shape).ravel()
    data = mdp.to_scipy().toarray().ravel()
    return replace(mdp, indptr=np.arange(mdp.n_rows + 1) * mdp.n_columns, indices=indices, data=data)


def marks(columns: set[int], n: int) -> np.ndarray:
    """A set of columns as an array, bool ``[n]``."""
    return np.isin(np.arange(n), list(columns))


def empty_process(terminals: Sequence[float] = ()) -> MDP:
    """A process without states, in one layer."""
    begin, nothing = np.zeros(1, dtype=np.int64), np.zeros(0)
    columns, labels, layer_ptr = nothing.astype(np.int32), nothing.astype(np.uint8), np.zeros(2, dtype=np.int64)
    return MDP(begin, begin, columns, nothing, nothing, np.array(terminals, dtype=np.float64), layer_ptr, labels)


def exact_values(states: States, terminals: Sequence[float], discount: float) -> list[Fraction]:
    """Optimal values by policy iteration in fractions; with discount 1, play must end under every policy."""
    g, n = Fraction(discount), len(states)
    settled = [Fraction(reward) / (1 - g if g < 1 else 1) for reward in terminals]
    rows = [list(map(_exact, state)) for state in states]
    policy = [0] * n
    while True:
        values = expected([state[k] for state, k in zip(rows, policy, strict=True)], dict(enumerate(settled, n)), g)
        q = [[backed_up(row, values + settled, g) for row in state] for state in rows]
        better = [max(range(len(worth)), key=worth.__getitem__) for worth in q]
        switches = [i for i, worth in enumerate(q) if worth[better[i]] > worth[policy[i]]]
        if not switches:
            return values
        for i in switches:
            policy[i] = better[i]


def _exact(row: Row) -> ExactRow:
    return Fraction(row[0]), {column: Fraction(p) for column, p in row[1].items()}


def error(values, exact):
    """The largest error, in fractions."""
    return max(abs(Fraction(v) - x) for v, x in zip(values.tolist(), exact, strict=True))


def arrivals(states: States, terminals: Sequence[float]) -> States:
    """The same process, in which only the arrival at a terminal with a positive reward pays, once."""
    wins = [len(states) + k for k, reward in enumerate(terminals) if reward > 0]
    return [[(sum(successors.get(win, 0.0) for win in wins), successors) for _, successors in rows] for rows in states]


def valued(sample: Any, objective: str) -> tuple[States, Sequence[float]]:
    """Rows and terminals whose total rewards are the values of an objective."""
    states, _, terminals = sample
    return (states, terminals) if objective == "discounted" else (arrivals(states, terminals), [0.0] * len(terminals))


def end_components(states: States) -> list[set[int]]:
    """The maximal sets of states that some policy can stay in for ever and visit all of, by trying every set."""
    subsets = chain.from_iterable(combinations(range(len(states)), k) for k in range(len(states), 0, -1))
    found: list[set[int]] = []
    for subset in map(set, subsets):
        to = {s: set().union(*(set(row) for _, row in states[s] if set(row) <= subset)) for s in subset}
        if all(to.values()) and all(_reached(to, s) == subset for s in subset) and not any(subset < m for m in found):
            found.append(subset)
    return found


def _reached(to: dict[int, set[int]], first: int) -> set[int]:
    """What can be reached from a state, itself included."""
    reached, left = {first}, [first]
    while left:
        new = to.get(left.pop(), set()) - reached
        reached |= new
        left += new
    return reached


def endless_values(states: States, terminals: Sequence[float]) -> list[Fraction] | None:
    """Largest total rewards by trying every policy; None if play can be paid for ever. Play need not end."""
    for component in end_components(states):
        if any(reward for s in component for reward, row in states[s] if set(row) <= component):
            return None
    values = [total_rewards(list(rows), terminals) for rows in product(*states)]
    return [max(column) for column in zip(*values, strict=True)]


def total_rewards(rows: list[Row], terminals: Sequence[float]) -> list[Fraction]:
    """The total rewards of a policy, which must not be paid for ever, and of the terminal reached."""
    values = totals(Chain(list(map(_exact, rows)), list(map(Fraction, terminals)), [Fraction(0)] * len(terminals)))
    assert values is not None
    return values


def gambler(n: int, p: float) -> States:
    """Coins of a gambler, from 1 to n - 1, who bets one at a time for a reward of 1; terminals: no coins, n coins."""
    columns = [n - 1, *range(n - 1), n]
    return [[(1.0, {columns[k + 2]: p, columns[k]: 1 - p})] for k in range(n - 1)]


def gambler_wins(n: int, p: float) -> list[Fraction]:
    """Win probabilities of the gambler [Feller 1968, XIV.2]."""
    ratio = (1 - Fraction(p)) / Fraction(p)
    return [Fraction(i, n) if ratio == 1 else (1 - ratio**i) / (1 - ratio**n) for i in range(1, n)]


@st.composite
def random_processes(draw):
    """States with dyadic probabilities, numbers of states in layers, and terminals.

    Layers may form a cycle, lead anywhere, or be a single one.
    """
    n_layers = draw(st.integers(1, 3))
    layers = draw(st.lists(st.integers(1, 2), min_size=n_layers, max_size=n_layers))
    n_states = sum(layers)
    terminals = draw(st.lists(st.integers(-2, 2).map(float), max_size=2))
    ends = np.cumsum(layers).tolist()
    is_cycle = draw(st.booleans())
    settled = list(range(n_states, n_states + len(terminals)))

    def columns(layer):
        if not is_cycle:
            return list(range(n_states)) + settled
        return (list(range(ends[layer], n_states)) or list(range(ends[0]))) + settled

    def row(layer):
        cuts = draw(st.lists(st.integers(0, 16), max_size=3).map(sorted))
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, 16], strict=True)]
        successors: dict[int, float] = {}
        for part in parts:
            column = draw(st.sampled_from(columns(layer)))
            successors[column] = successors.get(column, 0.0) + part / 16
        return draw(st.integers(-16, 16)) / 8, {column: p for column, p in successors.items() if p}

    states = [
        [row(layer) for _ in range(draw(st.integers(1, 3)))] for layer, size in enumerate(layers) for _ in range(size)
    ]
    return states, layers, terminals


def endless_states(states: States) -> set[int]:
    """The states from which some policy can go on for ever for sure."""
    stay = set(range(len(states)))
    while True:
        still = {s for s in stay if any(set(successors) <= stay for _, successors in states[s])}
        if still == stay:
            return stay
        stay = still


@st.composite
def slow_processes(draw):
    """Processes whose play can last very long or for ever: some of their probabilities are as small as 1e-9."""
    n_states, n_terminals = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    columns = st.integers(0, n_states + n_terminals - 1)
    rewards = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.625])

    def row():
        left, successors = 1.0, {}
        for column, halvings in draw(st.dictionaries(columns, st.integers(1, 30), max_size=2)).items():
            # At most 52 binary digits, so no float is rounded.
            p = min(2.0**-halvings, left / 2)
            successors[column] = p
            left -= p
        column = draw(columns)
        successors[column] = successors.get(column, 0.0) + left
        return draw(rewards), successors

    states = [[row() for _ in range(draw(st.integers(1, 3)))] for _ in range(n_states)]
    return (
        states,
        [n_states],
        draw(st.lists(st.sampled_from([1.0, 0.0, -1.0]), min_size=n_terminals, max_size=n_terminals)),
    )


@st.composite
def ending_processes(draw):
    """Processes in which every step may end play."""
    states, layers, terminals = draw(random_processes().filter(lambda sample: sample[2]))
    end = sum(layers)

    def row(reward, successors):
        share = draw(st.integers(1, 8)) / 16
        successors = {column: p * (1 - share) for column, p in successors.items()}
        return reward, successors | {end: successors.get(end, 0.0) + share}

    return [[row(*old) for old in rows] for rows in states], layers, terminals


def sparse_process(n_states: int, n_actions: int = 3, n_successors: int = 4, reach: int | None = None) -> MDP:
    """A random process; successors are at most ``reach`` states away, or anywhere."""
    draw = np.random.default_rng(7)
    n_rows = n_states * n_actions
    state = np.repeat(np.arange(n_states), n_actions)[:, None]
    step = draw.integers(-(reach or n_states), (reach or n_states) + 1, (n_rows, n_successors))
    p = draw.random((n_rows, n_successors))
    return MDP(
        state_ptr=np.arange(n_states + 1) * n_actions,
        indptr=cumulated(np.full(n_rows, n_successors)),
        indices=np.clip(state + step, 0, n_states - 1).astype(np.int32).ravel(),
        data=(p / p.sum(axis=1, keepdims=True)).ravel(),
        reward=draw.random(n_rows),
        terminal_reward=np.zeros(0),
        layer_ptr=np.array([0, n_states]),
        action=np.tile(np.arange(n_actions, dtype=np.uint8), n_states),
    )
