"""Comparison of the package with the model in plain Python, and the extrapolated time of that model.

`check` compares rows of the package's tensor with those of ``reference.py``: the same legal actions, the same
successors, and each probability and reward to 1e-12. The two share no code but the names of the rules; a policy reaches
the reference as a function of the state.

`extrapolate` times the reference on a sample of states and scales the times up to the whole game. Within a breath all
states are equally likely to be sampled, so

    sum over breaths of (states of the breath / sampled states) * seconds for the sampled states

is an unbiased estimate of the time for all. (Following random states from breath to breath is biased: it favours states
with many predecessors, and in the notebook's game overestimates the nonzeros by a fifth.) The same sum over rows and
nonzeros instead of seconds, compared with the true numbers, shows how good a sample is.

The reference has one thread and never waits, so its times are processor seconds, which equal elapsed ones on an idle
machine. The estimate ignores that gigabytes of a whole game spoil the caches, and that tables filled once
for all states are also filled once for the sample.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from bench import reference
from punish_fast.mdp.model import MDP
from punish_fast.mdp.solver import solve
from punish_fast.punish.codes import ACTIONS, State, StateError, to_decimal
from punish_fast.punish.rules import REDEALS, Rules, load_rules
from punish_fast.punish.space import Progress, StateSpace
from punish_fast.punish.strategy import policy_of_table
from punish_fast.punish.tensor import build

ENEMIES = ("random", "table")
MAX_DIFFERENCE = 1e-12
DISCOUNT = 0.95
TOLERANCE = 1e-9
TIMED_EPISODES = 5

# Shares of a random table: covered states, and actions there with probability 0.
COVERED = 0.5
NEVER_PLAYED = 0.2

T = TypeVar("T")


class Disagreement(Exception):  # noqa: N818 -- a finding, not a failure
    """The package and the reference differ; the message says where and shows both."""


class Agreement(NamedTuple):
    """Numbers of what was compared without a difference.

    Attributes:
        states: States whose rows were compared.
        rows: Rows of these states.
        successors: Nonzeros of these rows.
        max_difference: Largest difference of a probability or an expected reward.
    """

    states: int
    rows: int
    successors: int
    max_difference: float


class Extrapolation(NamedTuple):
    """Time of the reference for a whole game against the random player, in processor seconds.

    Attributes:
        states: Sampled states of each breath, those between measures last.
        rows: Rows of the sampled states, likewise.
        sample_seconds: For the sample: successors, maps and timed episodes.
        enumeration_seconds: Extrapolated: enumerating all states.
        maps_seconds: Extrapolated: all transition maps, and numbering their states.
        episode_seconds: Extrapolated: one episode of value iteration, the median of `TIMED_EPISODES` in each breath.
        episodes: Episodes until every value is within ``TOLERANCE`` of the optimal one, by the certified bound of the
            package's Jacobi sweeps, which are the same updates.
        total_seconds: Extrapolated: enumeration, maps and all episodes.
        rows_ratio: Rows extrapolated from the sample, over the true number.
        nonzeros_ratio: Nonzeros extrapolated from the sample, over the true number.
    """

    states: tuple[int, ...]
    rows: tuple[int, ...]
    sample_seconds: float
    enumeration_seconds: float
    maps_seconds: float
    episode_seconds: float
    episodes: int
    total_seconds: float
    rows_ratio: float
    nonzeros_ratio: float


class LayerSample(NamedTuple):
    """Durations, in seconds, and sizes of the states sampled from one breath."""

    states: int
    rows: int
    nonzeros: int
    enumeration_seconds: float
    maps_seconds: float
    episode_seconds: float
    sample_seconds: float


@dataclass(frozen=True)
class Game:
    """A game in the forms of package and reference.

    Attributes:
        name: Rules, enemy and redeal, for messages.
        space: The package's states.
        mdp: The package's tensor.
        rules: The reference's rules.
        strategy: The enemy in the reference's form.
    """

    name: str
    space: StateSpace
    mdp: MDP
    rules: reference.Rules
    strategy: reference.Strategy

    def state(self, row: int) -> reference.State:
        """A state of the package in the reference's form."""
        return reference.State(*self.space.state(row))


def check(
    rules: str, enemy: str, redeal: str, per_breath: int | None, seed: int, progress: Progress | None = None
) -> Agreement:
    """Compare the package's tensor with the reference.

    All states of breath 1 are compared, and those of all breaths if ``per_breath`` is None.

    Args:
        rules: A preset's name or a TOML file.
        enemy: ``"random"``, uniform play, or ``"table"``, a table of random probabilities.
        redeal: ``"discard"`` or ``"reshuffle"``, instead of that of the rules.
        per_breath: Randomly chosen states of each breath whose rows are compared; None for all.
        seed: Seed of the sample and of the table.
        progress: Called as ``progress("agreement", breath, breaths)`` after each breath.

    Raises:
        Disagreement: the two differ.
        ValueError: an argument is not allowed.
    """
    _check_options(enemy, redeal, per_breath)
    generator = np.random.default_rng(seed)
    game = make_game(load_rules(rules)._replace(redeal=redeal), enemy, generator, name=rules)
    return compare(game, per_breath, generator, progress)


def make_game(rules: Rules, enemy: str, generator: np.random.Generator, name: str) -> Game:
    """Build a game in both forms; ``enemy`` is one of `ENEMIES`, and a table is drawn from ``generator``."""
    theirs = reference.Rules(**rules._asdict())
    space = StateSpace(rules)
    name = f"rules {name}, enemy {enemy}, redeal {rules.redeal}"
    if enemy == "random":
        return Game(name, space, build(space), theirs, reference.uniform(theirs, 1.0))
    state, p = random_table(space, generator)
    mdp = build(space, policy_of_table(space, state, p))
    return Game(name, space, mdp, theirs, strategy_of(space, theirs, state, p))


def compare(
    game: Game, per_breath: int | None, generator: np.random.Generator, progress: Progress | None = None
) -> Agreement:
    """Compare package and reference on a game, as `check` does.

    Raises:
        Disagreement: the two differ.
    """
    everything = per_breath is None
    _compare_states(
        game, reference.enumerate_states(game.rules) if everything else [reference.breath_1_states(game.rules)]
    )
    comparison = _Comparison(game)
    samples = sample_rows(game.space, per_breath, generator)
    for breath, rows in enumerate(samples, start=1):
        for row in rows.tolist():
            comparison.compare_state(row)
        if progress is not None:
            progress("agreement", breath, len(samples))
    return comparison.agreement


def extrapolate(per_breath: int, seed: int, rules: str = "notebook", progress: Progress | None = None) -> Extrapolation:
    """Time the reference on a sample and extrapolate to the whole game against the random player.

    Args:
        per_breath: States sampled from each breath.
        seed: Seed of the sample.
        rules: A preset's name or a TOML file.
        progress: Called as ``progress("reference", breath, breaths)`` after each breath.

    Raises:
        ValueError: an argument is not allowed.
    """
    ours = load_rules(rules)
    _check_options("random", ours.redeal, per_breath)
    generator = np.random.default_rng(seed)
    game = make_game(ours, "random", generator, name=rules)
    _, opening_seconds = timed(lambda: sorted(reference.breath_1_states(game.rules)))
    layers = []
    for number, rows in enumerate(sample_rows(game.space, per_breath, generator), start=1):
        layers.append(_time_layer(game, [game.state(row) for row in rows.tolist()]))
        if progress is not None:
            progress("reference", number, game.mdp.n_layers)
    episodes = solve(game.mdp, DISCOUNT, "jacobi", TOLERANCE).sweeps
    return _scale_up(game, layers, opening_seconds, episodes)


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Call ``function``; return its result and the processor seconds of this thread."""
    begin = time.thread_time()
    result = function()
    return result, time.thread_time() - begin


def sample_rows(space: StateSpace, per_breath: int | None, generator: np.random.Generator) -> list[np.ndarray]:
    """Sample states of each layer uniformly without replacement: int64 ``[per_breath]``, or all if there are fewer."""
    samples = []
    for begin, size in zip(space.layer_ptr, space.states_by_breath, strict=False):
        wanted = size if per_breath is None else min(per_breath, size)
        samples.append(begin + np.sort(generator.choice(size, wanted, replace=False)))
    return samples


def random_table(space: StateSpace, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Some states and a table of random probabilities there, as `COVERED` and `NEVER_PLAYED` say."""
    weight = generator.exponential(size=len(space.action))
    weight[generator.random(len(weight)) < NEVER_PLAYED] = 0.0
    counts = np.diff(space.state_ptr)
    sums = np.add.reduceat(weight, space.state_ptr[:-1])
    # States whose weights are all 0 are played uniformly.
    weight = np.where(np.repeat(sums, counts) > 0, weight, 1.0)
    weight /= np.repeat(np.where(sums > 0, sums, counts), counts)
    p = np.zeros((space.n_states, len(ACTIONS)))
    p[np.repeat(np.arange(space.n_states), counts), np.searchsorted(ACTIONS, space.action)] = weight
    covered = np.flatnonzero(generator.random(space.n_states) < COVERED)
    return covered, p[covered]


def strategy_of(space: StateSpace, rules: reference.Rules, states: np.ndarray, p: np.ndarray) -> reference.Strategy:
    """A table as a function for the reference; states without an entry are played uniformly."""
    entry = np.full(space.n_states, -1)
    entry[states] = np.arange(len(states))
    uniform = reference.uniform(rules, 1.0)

    @lru_cache(maxsize=1 << 16)
    def look_up(state: reference.State) -> reference.Distribution:
        try:
            number = entry[space.row(State(*state))]  # type: ignore[arg-type]
        except StateError:
            return uniform(state)
        if number < 0:
            return uniform(state)
        return {action: q for action, q in zip(ACTIONS, p[number].tolist(), strict=True) if q > 0}

    return look_up


def _check_options(enemy: str, redeal: str, per_breath: int | None) -> None:
    if enemy not in ENEMIES:
        raise ValueError(f"enemy: {enemy!r} is not allowed, it must be one of {', '.join(ENEMIES)}")
    if redeal not in REDEALS:
        raise ValueError(f"redeal: {redeal!r} is not allowed, it must be one of {', '.join(REDEALS)}")
    if per_breath is not None and per_breath < 1:
        raise ValueError(f"per_breath: {per_breath} is not allowed, it must be 1 or more")


def _compare_states(game: Game, layers: Iterable[Iterable[reference.State]]) -> None:
    """Check that the first layers of the package have exactly the reference's states."""
    for number, states in enumerate(layers):
        ours = {game.state(row) for row in range(*game.space.layer_ptr[number : number + 2])}
        for state in ours.symmetric_difference(states):
            owner = "package" if state in ours else "reference"
            raise Disagreement(f"{game.name}, state {_name(state)}: only the {owner} has this state")


class _Comparison:
    """Compare states one by one, and count."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._successor = cache(self._name_column)
        self.agreement = Agreement(0, 0, 0, 0.0)

    def compare_state(self, number: int) -> None:
        """Compare all rows of a state.

        Raises:
            Disagreement: the two differ.
        """
        game = self._game
        state = game.state(number)
        rows = range(*game.mdp.state_ptr[number : number + 2].tolist())
        actions = game.mdp.action[rows.start : rows.stop].tolist()
        expected = reference.legal_actions(game.rules, state)
        if actions != expected:
            raise Disagreement(
                f"{game.name}, state {_name(state)}: package has actions {actions}, reference {expected}"
            )
        for row, (action, transition) in zip(
            rows, reference.transitions(game.rules, state, game.strategy, 1.0).items(), strict=True
        ):
            self._compare_row(row, f"{game.name}, state {_name(state)}, action {action}", transition)
        self.agreement = self.agreement._replace(states=self.agreement.states + 1)

    def _compare_row(self, row: int, place: str, expected: reference.Transition) -> None:
        entries = slice(*self._game.mdp.indptr[row : row + 2])
        columns, data = self._game.mdp.indices[entries].tolist(), self._game.mdp.data[entries].tolist()
        found = {self._successor(column): p for column, p in zip(columns, data, strict=True)}
        if len(found) != len(columns):
            raise Disagreement(f"{place}: package lists a successor twice")
        largest = self.agreement.max_difference
        for successor in found.keys() | expected.keys():
            pair = found.get(successor, 0.0), expected.get(successor, 0.0)
            # An entry with probability 0 differs from no entry.
            same_support = successor in found and successor in expected
            largest = max(largest, _difference(f"{place}, successor {_name(successor)}", *pair, same_support))
        reward = float(self._game.mdp.reward[row]), reference.expected_reward(expected)
        largest = max(largest, _difference(f"{place}, reward", *reward))
        states, rows, successors, _ = self.agreement
        self.agreement = Agreement(states, rows + 1, successors + len(expected), largest)

    def _name_column(self, column: int) -> reference.Successor:
        if column < self._game.space.n_states:
            return self._game.state(column)
        return (reference.WIN, reference.LOSS)[column - self._game.space.n_states]


def _difference(place: str, ours: float, theirs: float, same_support: bool = True) -> float:
    difference = abs(ours - theirs)
    if not (same_support and difference <= MAX_DIFFERENCE):
        raise Disagreement(f"{place}: package has {ours!r}, reference {theirs!r}")
    return difference


def _name(successor: reference.Successor) -> str:
    return successor if isinstance(successor, str) else str(to_decimal(State(*successor)))  # type: ignore[arg-type]


def _time_layer(game: Game, states: list[reference.State]) -> LayerSample:
    """Time the reference on states of one breath."""
    is_last = states[0].breath > game.rules.breaths
    # The successors of the last layer are the states of breath 1, already known.
    _, enumeration_seconds = (
        (None, 0.0) if is_last else timed(lambda: sorted(reference.next_breath(game.rules, states)))
    )
    process, maps_seconds = timed(
        lambda: reference.Game(states, lambda state: reference.transitions(game.rules, state, game.strategy, 1.0))
    )
    # A median, since a run of the garbage collector in one episode would be scaled up.
    episodes = [timed(lambda: process.episode(DISCOUNT))[1] for _ in range(TIMED_EPISODES)]
    return LayerSample(
        states=len(states),
        rows=process.n_rows,
        nonzeros=process.n_nonzeros,
        enumeration_seconds=enumeration_seconds,
        maps_seconds=maps_seconds,
        episode_seconds=statistics.median(episodes),
        sample_seconds=enumeration_seconds + maps_seconds + sum(episodes),
    )


def _scale_up(game: Game, layers: list[LayerSample], opening_seconds: float, episodes: int) -> Extrapolation:
    """Extrapolate from the samples of all breaths to all states."""
    scale = [size / layer.states for size, layer in zip(game.space.states_by_breath, layers, strict=True)]

    def whole(part: Iterable[float]) -> float:
        return sum(factor * value for factor, value in zip(scale, part, strict=True))

    enumeration = opening_seconds + whole(layer.enumeration_seconds for layer in layers)
    maps = whole(layer.maps_seconds for layer in layers)
    episode = whole(layer.episode_seconds for layer in layers)
    return Extrapolation(
        states=tuple(layer.states for layer in layers),
        rows=tuple(layer.rows for layer in layers),
        sample_seconds=opening_seconds + sum(layer.sample_seconds for layer in layers),
        enumeration_seconds=enumeration,
        maps_seconds=maps,
        episode_seconds=episode,
        episodes=episodes,
        total_seconds=enumeration + maps + episodes * episode,
        rows_ratio=whole(layer.rows for layer in layers) / game.mdp.n_rows,
        nonzeros_ratio=whole(layer.nonzeros for layer in layers) / game.mdp.n_entries,
    )
