"""Exact solutions of the first round of Incan Gold, if players maximize their expected points.

The state of a round consists of the treasures seen, the number of hazards seen (all kinds are equivalent) and the
location of the artifact. If no player has left, the state determines everything else: each of the ``n`` players inside
holds ``sum(v // n)``, and ``sum(v % n)`` is on the board. A single leaver receives the points held, the treasure on the
board and any artifact there. Without the artifact, the payoff of a single player is the sum of all treasures seen. The
payoff of a player against two opponents who never leave is a third of each treasure, rounded down, plus all remainders.
Backward induction compares leaving and staying in every state, starting with the states with the most drawn cards.

The optimal rule consists of thresholds: leave at a number of points that decreases with the number of hazards seen.

A symmetric subgame-perfect equilibrium of three players is computed in the same order. In each state, all players stay
with the same probability ``p``, which is a best response to itself: 1 if staying is optimal against two players who
stay, 0 if leaving is optimal against two players who leave, or a root of the gain from staying, which is a quadratic
polynomial in ``p``. There is at least one equilibrium: if neither pure strategy is an equilibrium, the gain from
staying is positive at ``p = 0`` and negative at ``p = 1``. If there are several equilibria, the equilibrium with the
highest or the lowest payoff is selected.

With three players inside, the state consists of the treasures, the number of hazards and the location of the artifact.
After one player has left with all cards on the board, the state also includes the points that each of the other players
holds, and the treasure placed on the board since then. For the last player, these two numbers are replaced by the
payoff of leaving.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.incan_gold import _rounds as kernels
from punish_fast.games.incan_gold.state import COPIES, HAZARD_COPIES, HAZARDS, N_PLAYERS, TREASURES
from punish_fast.runtime.parallel import cumulated, for_each


class RoundDeck(NamedTuple):
    """The cards of a round."""

    values: tuple[int, ...] = TREASURES  # Distinct values of treasures.
    copies: tuple[int, ...] = COPIES  # Copies of each treasure.
    n_hazards: int = len(HAZARDS)  # Number of hazards.
    hazard_copies: int = HAZARD_COPIES  # Copies of each hazard, at least 2.
    n_artifacts: int = 1  # Number of artifacts, 0 or 1.


class RoundSets:
    """All sets of treasures from a deck, and array indices of states."""

    def __init__(self, deck: RoundDeck = RoundDeck()) -> None:  # noqa: B008 - immutable
        self.deck = deck
        sizes = np.array(deck.copies, dtype=np.int64) + 1
        strides = np.cumprod([1, *sizes[:-1]])
        # int64 ``[n_sets, n_kinds]``, copies of each treasure in each set
        self.counts = np.arange(np.prod(sizes))[:, np.newaxis] // strides % sizes
        numbers = np.array([deck.n_hazards, deck.hazard_copies, deck.n_artifacts], dtype=np.int64)
        # The deck in the form of the kernels' argument ``deck``
        self.arrays = (np.array(deck.values, dtype=np.int64), sizes - 1, strides, numbers)
        size = self.counts.sum(axis=1)
        # For each size in descending order, an array of all sets with this size
        self.layers = [np.flatnonzero(size == n) for n in range(int(size.max()), -1, -1)]
        # int64 ``[n_sets, 6]``. For one player inside: minimum payoff, first index, and number of possible payoffs. For
        # two players: first index, number of possible holdings, and number of possible treasures on the board.
        self.places = self._places()

    def _places(self) -> np.ndarray:
        values, n_hazards = self.arrays[0], self.deck.n_hazards + 1
        least, most, half = (self.counts @ each for each in (values // N_PLAYERS, values, values // 2))
        n_pays = most - least + 1 + kernels.ARTIFACT_WORTH * self.deck.n_artifacts
        n_held, n_rests = half - least + 1, self.counts @ (values % 2) + 1
        of_last, of_pair = cumulated(2 * n_hazards * n_pays), cumulated(3 * n_hazards * n_held * n_rests)
        # Numbers of states with one player and with two players inside
        self.n_last, self.n_pair = int(of_last[-1]), int(of_pair[-1])
        return np.stack([least, of_last[:-1], n_pays, of_pair[:-1], n_held, n_rests], axis=1)

    @cached_property
    def draws(self) -> list[tuple[np.ndarray, Any]]:
        """Transitions by the draw of a card, while the number of players inside does not change.

        The states form an array ``[n_sets, n_hazards + 1, 2]``. The last index is 1 if the artifact is in the deck. For
        each number of cards left, in ascending order, an item contains the indices of the states with this number,
        int64 ``[n]``, and the probabilities of the states after a draw that does not end the round, as a sparse
        matrix, float64 ``[n, n_states]``.
        """
        from scipy.sparse import csr_array

        n_hazards, left = self.deck.n_hazards, self.arrays[1] - self.counts
        hazards, in_deck = np.arange(n_hazards + 1)[:, np.newaxis], np.arange(2)
        n_left = left.sum(axis=1)[:, np.newaxis, np.newaxis] + self.deck.hazard_copies * n_hazards - hazards + in_deck
        state = np.arange(n_left.size).reshape(n_left.shape)
        # For a new hazard, the artifact and each treasure: states before and after the draw, and numbers of cards.
        moves = [(state[:, :-1], state[:, 1:], self.deck.hazard_copies * (n_hazards - hazards[:-1]))]
        moves.append((state[..., 1], state[..., 0], np.array(1)))
        for stride, copies in zip(self.arrays[2], left.T, strict=True):
            sets = np.flatnonzero(copies)
            moves.append((state[sets], state[sets + stride], copies[sets, np.newaxis, np.newaxis]))
        broadcast = [np.stack(np.broadcast_arrays(*move)).reshape(3, -1) for move in moves]
        before, after, n_cards = np.concatenate(broadcast, axis=1)
        draws = csr_array((n_cards / n_left.ravel()[before], (before, after)), shape=(state.size, state.size))
        layers = [np.flatnonzero(n_left == n) for n in np.unique(n_left)]
        return [(layer, draws[layer]) for layer in layers]

    def reach(self, stay: np.ndarray) -> np.ndarray:
        """Return the probability of reaching each state before any player leaves, float64 with the shape of ``stay``.

        ``stay``, float64 ``[n_sets, n_hazards + 1, 2]``, is the probability that all players stay. The last index is 1
        if the artifact is in the deck. The entry of the state before the first card is ignored, because players cannot
        leave in this state.
        """
        first, stay, reach = self.deck.n_artifacts, stay.flatten(), np.zeros(stay.size)
        stay[first] = reach[first] = 1
        for layer, draws in reversed(self.draws):
            reach += (stay * reach)[layer] @ draws
        return reach.reshape(-1, self.deck.n_hazards + 1, 2)

    def thresholds(self, n_inside: int, stay: np.ndarray) -> list[tuple[int, int]]:
        """Return two thresholds for leaving for each number of hazards seen, with 1 or 3 players inside.

        ``stay``, float64 ``[n_sets, n_hazards + 1, 2]``, is the probability that a player stays. The thresholds apply
        to the payoff of a single leaver in reachable states: the minimum payoff at which a player leaves with positive
        probability, and the minimum payoff from which a player always leaves.
        """
        pay, is_reached = self.pay(n_inside), self.reach(stay) > 0
        is_reached[0, 0, self.deck.n_artifacts] = False
        found = []
        for hazards in range(self.deck.n_hazards + 1):
            points, p = (each[:, hazards][is_reached[:, hazards]] for each in (pay, stay))
            surely = int(points[p > 0].max(initial=-1)) + 1
            found.append((int(points[p < 1].min(initial=surely)), surely))
        return found

    def pay(self, n_inside: int) -> np.ndarray:
        """Return the payoff of a single leaver among ``n_inside`` players, int64 ``[n_sets, n_hazards + 1, 2]``."""
        values = self.arrays[0]
        worth = self.counts @ (values // n_inside + values % n_inside)
        artifact = kernels.ARTIFACT_WORTH * np.maximum(self.deck.n_artifacts - np.arange(2), 0)
        shape = (len(worth), self.deck.n_hazards + 1, 2)
        return np.broadcast_to(worth[:, np.newaxis, np.newaxis] + artifact, shape)


@dataclass(frozen=True)
class SoloRound:
    """Solution of a round for a single player, or for one player against two opponents who never leave."""

    sets: RoundSets
    n_inside: int  # Number of players inside, 1 or 3.
    # Points at which the player leaves, by number of hazards seen, or None for the optimal rule.
    leave_at: tuple[int, ...] | None
    # float64 ``[n_sets, n_hazards + 1, 2]``, the expected points of staying. The last index is 1 if the artifact is in
    # the deck.
    go_on: np.ndarray

    @property
    def points(self) -> float:
        """Expected points of the player in the round."""
        return float(self.go_on[0, 0, self.sets.deck.n_artifacts])

    def stay(self) -> np.ndarray:
        """Return the probability of staying, 0 or 1, as a float64 array with the shape of `go_on`."""
        pay = self.sets.pay(self.n_inside)
        limit = self.go_on if self.leave_at is None else np.array(self.leave_at)[:, np.newaxis]
        return np.asarray(pay < limit, dtype=np.float64)

    def thresholds(self) -> list[tuple[int, int]]:
        """Return thresholds for leaving (see `RoundSets.thresholds`)."""
        return self.sets.thresholds(self.n_inside, self.stay())


def solve_solo(sets: RoundSets, n_inside: int = 1, leave_at: Sequence[int] | None = None) -> SoloRound:
    """Solve the round for a single player, or for one player against two opponents who never leave (``n_inside`` 3).

    ``leave_at`` contains the points at which the player leaves, by number of hazards seen. By default, the player
    follows the optimal rule.
    """
    pay, rule = sets.pay(n_inside), None if leave_at is None else tuple(leave_at)
    leaves = None if rule is None else (pay >= np.array(rule)[:, np.newaxis]).ravel()
    pay, go_on, worth = pay.ravel(), np.zeros(pay.size), np.zeros(pay.size)
    for layer, draws in sets.draws:
        go_on[layer] = draws @ worth
        stops = pay[layer] >= go_on[layer] if leaves is None else leaves[layer]
        worth[layer] = np.where(stops, pay[layer], go_on[layer])
    return SoloRound(sets, n_inside, rule, go_on.reshape(-1, sets.deck.n_hazards + 1, 2))


def best_single_threshold(best: SoloRound) -> SoloRound:
    """Return the best rule with one threshold for all numbers of hazards, for the round of ``best``."""
    n_hazards, most = best.sets.deck.n_hazards + 1, int(best.sets.pay(best.n_inside).max())
    rules = (solve_solo(best.sets, best.n_inside, [points] * n_hazards) for points in range(1, most + 1))
    return max(rules, key=lambda rule: rule.points)


@dataclass(frozen=True)
class RoundEquilibrium:
    """A symmetric equilibrium of three players in a round."""

    sets: RoundSets
    last: np.ndarray  # float64, indexed by `last_place`, expected points of staying for the last player.
    pair: np.ndarray  # float64, indexed by `pair_place`, expected points of each player if two are inside.
    pair_stay: np.ndarray  # float64, indexed by `pair_place`, probability that a player stays if two are inside.
    # float64 ``[n_sets, n_hazards + 1, 3, 2]``, expected points of each player with three players inside: if all stay
    # (last index 0) and in equilibrium (last index 1).
    three: np.ndarray
    three_stay: np.ndarray  # float64 ``[n_sets, n_hazards + 1, 3]``, probability of staying with three inside.

    @property
    def points(self) -> float:
        """Expected points of each player in the round."""
        begin = kernels.IN_DECK if self.sets.deck.n_artifacts else kernels.TAKEN
        return float(self.three[0, 0, begin, 0])

    def stay(self) -> np.ndarray:
        """Return the probability that each of three players stays, float64 ``[n_sets, n_hazards + 1, 2]``.

        The last index is 1 if the artifact is in the deck.
        """
        begin = kernels.ON_BOARD if self.sets.deck.n_artifacts else kernels.TAKEN
        return self.three_stay[..., begin : begin + 2]

    def all_stay(self) -> float:
        """Return the probability that all players are inside when the second hazard is drawn."""
        stay = self.stay() ** N_PLAYERS
        leaves = self.sets.reach(stay) * (1 - stay)
        leaves[0, 0, self.sets.deck.n_artifacts] = 0
        return float(1 - leaves.sum())


def solve_equilibrium(sets: RoundSets, is_best: bool = True) -> RoundEquilibrium:
    """Find a symmetric equilibrium by backward induction.

    In states with several equilibria, select the best equilibrium if ``is_best``, otherwise the worst.
    """
    shape, best = (len(sets.counts), sets.deck.n_hazards + 1, 3), 1 if is_best else -1
    last, pair, pair_stay = (np.zeros(n) for n in (sets.n_last, sets.n_pair, sets.n_pair))
    three, three_stay = np.zeros((*shape, 2)), np.zeros(shape)
    common = (sets.arrays, sets.places)
    for layer in sets.layers:
        for_each(kernels.solve_last, len(layer), layer, *common, last)
        for_each(kernels.solve_pair, len(layer), layer, *common, best, last, pair, pair_stay)
        for_each(kernels.solve_three, len(layer), layer, *common, best, (last, pair, three), three_stay)
    return RoundEquilibrium(sets, last, pair, pair_stay, three, three_stay)
