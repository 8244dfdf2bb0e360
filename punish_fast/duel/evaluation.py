"""Probability that one policy beats another in the two-player game: exact evaluation and simulated games.

**Exact evaluation.** The backward computation is linear. A sweep through a measure maps the values ``x`` of the nodes
between measures to ``g(x) = c + M x``. The matrix ``M`` contains the transition probabilities between nodes. Sweeps are
accelerated (``anderson.py``). After a sweep with residual ``r``, the error is at most ``r`` times the maximum expected
number of measures, ``N = (I - M)^-1 1``. Every completed measure has ``b`` breaths, so ``N`` is at most ``1 + (L - 1) /
b``, where ``L`` is the expected length of a game in breaths. The sweeps also compute ``L``. The error of ``L`` is at
most ``N`` times the residual of ``L``.

The forward computation propagates the distribution of full states from breath to breath. It yields the probability
that the game ends in each breath of each measure. Both computations must agree.

**Simulated games.** The two games of a pair have the same cards and random numbers but swapped seats, so the luck of
the cards largely cancels out. These games are dependent. Therefore, the standard error is computed from the variance of
``w / 2`` over pairs, where ``w`` is the player's number of wins in a pair.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from punish_fast.duel import _passes
from punish_fast.duel.graph import DuelError, GameGraph, Policy, empty_graph, must_be_graph
from punish_fast.duel.public_states import PublicPolicy
from punish_fast.duel.simulator import Simulator
from punish_fast.mdp.methods.anderson import Anderson
from punish_fast.punish.strategy import policy_of
from punish_fast.runtime.compilation.kernel_files import KernelGroup
from punish_fast.runtime.results import html_table

_MAX_SWEEPS = 1000
# If an error bound below this value stops decreasing, only rounding errors are left.
_FLOOR = 1e-9
# Maximum estimate of the expected number of breaths. A game with an estimate above half of it counts as endless.
_LONGEST = 1e6


@dataclass(frozen=True)
class Duel:
    """Exact evaluation of one policy against another.

    Attributes:
        win_probability: Probability that the player wins, before the cards are dealt.
        length: Expected length of a game in breaths.
        error_bound: Bound on the error of all probabilities and lengths.
        v: float64 ``[n_values, 2]``, win probability and expected remaining breaths from each full state, node and
            result of the `GameGraph`.
        sweeps: Number of sweeps.
    """

    win_probability: float
    length: float
    error_bound: float
    v: np.ndarray = field(repr=False)
    sweeps: int

    def _repr_html_(self) -> str:
        found = {name: value for name, value in vars(self).items() if name != "v"}
        return html_table("Duel", {"quantity": found, "value": found.values()})


def head_to_head(
    graph: GameGraph, own: Any, enemy: Any, tolerance: float = 1e-12, initial_values: np.ndarray | None = None
) -> Duel:
    """Evaluate two policies against each other exactly.

    Args:
        graph: Graph of the game.
        own: Player: a policy (float64 ``[n_rows]``), a `PublicPolicy`, a `Solution`, a `SolutionFile`, a `Player`, or
            the name of a built-in player or a file.
        enemy: Enemy, in one of the same forms.
        tolerance: Error bound at which the evaluation stops. The limit of rounding also stops the evaluation.
        initial_values: float64 ``[n_nodes, 2]``, initial win probabilities and initial expected remaining breaths of
            the nodes between measures.

    Returns:
        Win probability of the player, expected length of a game, and their error bound.

    Raises:
        PolicyError: If a policy is invalid or does not belong to the game.
        PlayerError: If a name is unknown.
        ReadError: If a file is missing, invalid, or unsuitable for the game.
        RulesError: If a player does not support the rules.
        DuelError: If 1,000 sweeps do not converge, because the game might never end.

    Examples:
        >>> from punish_fast import GameGraph, StateSpace, head_to_head, load_rules
        >>> graph = GameGraph(StateSpace(load_rules("tiny")))
        >>> duel = head_to_head(graph, "naive", "random")
        >>> round(duel.win_probability, 4), round(duel.length, 4)
        (0.7259, 2.1076)
    """
    must_be_graph(graph)
    own, enemy = (policy_in(graph, player) for player in (own, enemy))
    v = np.zeros((graph.n_values, 2))
    v[-2, 0] = 1.0
    nodes = v[graph.nodes]
    nodes[:] = [0.5, 0.0] if initial_values is None else initial_values
    accelerations = Anderson(), Anderson()
    best = np.inf
    for sweeps in range(1, _MAX_SWEEPS + 1):
        image = graph.back_up(own, enemy, v)
        error = _error_bound(image, nodes, graph.n_breaths)
        if error <= tolerance or best <= error <= _FLOOR:
            nodes[:] = image
            numbers, p = graph.opening
            # `einsum` does not call BLAS, whose number of threads would change the last bits.
            win_probability, length = np.einsum("i,ik->k", p, v[numbers]).tolist()
            return Duel(win_probability, length, error, v, sweeps)
        best = min(best, error)
        for k, acceleration in enumerate(accelerations):
            nodes[:, k] = acceleration.next(nodes[:, k].copy(), image[:, k].copy())
        np.clip(nodes, 0.0, [1.0, _LONGEST], out=nodes)
    raise DuelError(f"duel: not converged after {_MAX_SWEEPS} sweeps; with these policies, games may never end")


def _error_bound(image: np.ndarray, nodes: np.ndarray, breaths: int) -> float:
    """Return a bound on the error of the probabilities and lengths in ``image``."""
    residual = np.abs(image - nodes).max(axis=0, initial=0.0)
    slack = residual[1] / breaths
    if slack >= 1 or image[:, 1].max(initial=0.0) > _LONGEST / 2:
        return np.inf
    measures = (1 + (float(image[:, 1].max(initial=1.0)) - 1) / breaths) / (1 - slack)
    return float(residual.max() * measures)


def policy_in(graph: GameGraph, player: Any) -> Policy:
    """Return the policy of a player in one of the forms that `head_to_head` accepts."""
    return player if isinstance(player, PublicPolicy) else policy_of(player, graph.space)


def outcome_distribution(graph: GameGraph, own: Any, enemy: Any, rest: float = 1e-15) -> np.ndarray:
    """Return the probabilities of a win and of a loss in each breath, float64 ``[measures, breaths, 2]``.

    Measures are added until the probability of an undecided game is at most ``rest``. Raise `DuelError` if 1,000
    measures are not sufficient.
    """
    own, enemy = (policy_in(graph, player) for player in (own, enemy))
    nodes, measures = None, []
    for _ in range(_MAX_SWEEPS):
        nodes, ended = graph.play_measure(own, enemy, nodes)
        measures.append(ended)
        if nodes.sum() <= rest:
            return np.array(measures)
    raise DuelError(f"duel: undecided after {_MAX_SWEEPS} measures; with these policies, games may never end")


# Maximum number of deals per simulator call. Python handles interrupts only between calls of kernels.
_DEALS_AT_ONCE = 1 << 18
_MOST_GAMES = 1 << 48

_simulators: WeakKeyDictionary[GameGraph, Simulator] = WeakKeyDictionary()


class SimulationResult(NamedTuple):
    """Results of simulated games, played in pairs with swapped seats.

    Attributes:
        games: Number of games.
        wins: Number of games that the player won.
        split: Number of pairs with one win for each policy.
        lengths: int64 ``[longest + 1]``, number of games by length in breaths.
    """

    games: int
    wins: int
    split: int
    lengths: np.ndarray

    @property
    def win_probability(self) -> float:
        """Share of games that the player won."""
        return self.wins / self.games

    @property
    def standard_error(self) -> float:
        """Standard error of `win_probability`, infinite for a single pair of games."""
        n_pairs = self.games // 2
        # The score of a split pair is 1/2, and its square is 1/4.
        variance = (self.wins - self.split / 2) / self.games - self.win_probability**2
        return float(np.sqrt(max(variance, 0.0) / (n_pairs - 1))) if n_pairs > 1 else np.inf

    @property
    def length(self) -> float:
        """Mean length of a game in breaths."""
        return float(self.lengths @ np.arange(len(self.lengths))) / self.games


def simulate(graph: GameGraph, own: Any, enemy: Any, n_games: int, seed: int = 0) -> SimulationResult:
    """Simulate games in pairs with the same cards and swapped seats, and count the results.

    Args:
        graph: Graph of the game.
        own: Player: a policy (float64 ``[n_rows]``), a `PublicPolicy`, a `Solution`, a `SolutionFile`, a `Player`, or
            the name of a built-in player or a file. Probabilities are rounded to multiples of 2^-31.
        enemy: Enemy, in one of the same forms.
        n_games: Number of games, including both games of each pair.
        seed: Random seed, 0 to 2^64 - 1. Results do not depend on the number of threads.

    Returns:
        Number of wins, and the lengths of the games.

    Raises:
        PolicyError: If a policy is invalid or does not belong to the game.
        PlayerError: If a name is unknown.
        ReadError: If a file is missing, invalid, or unsuitable for the game.
        RulesError: If a player does not support the rules.
        DuelError: If ``n_games`` or ``seed`` is out of range, ``n_games`` is odd, or a game is undecided after 100,000
            breaths.

    Examples:
        >>> from punish_fast import GameGraph, StateSpace, load_rules, simulate
        >>> graph = GameGraph(StateSpace(load_rules("tiny")))
        >>> result = simulate(graph, "naive", "random", n_games=1000)
        >>> result.win_probability, round(result.standard_error, 3), result.length
        (0.716, 0.013, 2.039)
    """
    must_be_graph(graph)
    check_numbers(n_games, seed)
    simulator = simulator_of(graph)
    own, enemy = (simulator.thresholds(policy_in(graph, player)) for player in (own, enemy))
    wins, split, lengths = 0, 0, np.zeros(1, dtype=np.int64)
    n_deals = n_games // 2
    for first in range(0, n_deals, _DEALS_AT_ONCE):
        numbers = first, min(_DEALS_AT_ONCE, n_deals - first), seed
        one, swapped = simulator.play(own, enemy, *numbers), simulator.play(enemy, own, *numbers)
        wins += len(swapped.won) + int(one.won.sum()) - int(swapped.won.sum())
        # If the same seat wins both games, each policy has won once.
        split += int(np.count_nonzero(one.won == swapped.won))
        for games in (one, swapped):
            lengths = added(lengths, np.bincount(games.breaths))
    return SimulationResult(n_games, wins, split, lengths)


def added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Add two arrays with numbers of games by length, int64 ``[longest + 1]`` each."""
    lengths = np.zeros(max(len(one), len(other)), dtype=np.int64)
    for counts in (one, other):
        lengths[: len(counts)] += counts
    return lengths


def simulator_of(graph: GameGraph) -> Simulator:
    """Return the simulator of a graph, created on first use."""
    if graph not in _simulators:
        _simulators[graph] = Simulator(graph)
    return _simulators[graph]


def check_numbers(n_games: int, seed: int) -> None:
    """Raise `DuelError` if the number of games or the seed is invalid."""
    if not 1 <= n_games <= _MOST_GAMES or n_games % 2:
        raise DuelError(f"games: {n_games} is not an even number from 2 to {_MOST_GAMES}")
    if not 0 <= seed < 1 << 64:
        raise DuelError(f"seed: {seed} is not from 0 to {(1 << 64) - 1}")


def compile_evaluation() -> None:
    """Compile the kernels that evaluate two policies exactly."""
    graph, nothing = empty_graph(), np.zeros(0)
    head_to_head(graph, nothing, nothing)
    outcome_distribution(graph, nothing, nothing)
    graph.deal_again(nothing)


_PASSES = (_passes.back_up_full, _passes.back_up_nodes, _passes.propagate_full, _passes.propagate_nodes)
EVALUATION = KernelGroup(compile_evaluation, _PASSES)
