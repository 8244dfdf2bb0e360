"""Millions of games of Gwent Lite between random play and a rule of thumb, with decks of their own for every game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import GameError
from punish_fast.games.gwent import _playouts as _gwent_playouts
from punish_fast.games.gwent.decks import MAX_CARD, MAX_SUM
from punish_fast.games.gwent.game import N_PLAYERS, Gwent, GwentVariant
from punish_fast.runtime.parallel import for_each

# Every legal action with the same probability, and `gwent_players.rule_of_thumb`.
POLICIES = ("random", "rule")
_STANDARD = GwentVariant()


class GwentGames(NamedTuple):
    """The results of games."""

    wins: np.ndarray  # Rounds won by each player, int16 ``[n_games, 2]``.
    moves: np.ndarray  # Moves of both players, int16 ``[n_games]``; a pass for want of cards is none.

    @property
    def returns(self) -> np.ndarray:
        """1, 0 or -1 for a win, a tie or a loss of the first player, int8 ``[n_games]``."""
        result: np.ndarray = np.sign(self.wins[:, 0] - self.wins[:, 1]).astype(np.int8)
        return result


def play_games(
    decks: np.ndarray,
    policies: Sequence[str],
    n_games: int,
    seed: int = 0,
    variant: GwentVariant = _STANDARD,
) -> GwentGames:
    """Play games.

    Args:
        decks: Integers ``[n, 2, width]``, the decks of both players, with zeros behind the last card; game ``k`` is
            played with decks ``k % n``.
        policies: Of each player, one of `POLICIES`.
        variant: The numbers of the rules; its decks do not matter.
    """
    # The game checks the numbers.
    rules = Gwent(variant).variant
    decks = _checked(decks, rules.min_cards)
    unknown = [policy for policy in policies if policy not in POLICIES]
    if unknown or len(policies) != N_PLAYERS:
        raise GameError(f"policies: {policies} are not allowed, only two of {', '.join(POLICIES)}")
    has_rule = np.array([policy == POLICIES[1] for policy in policies])
    results = np.empty((n_games, N_PLAYERS + 1), dtype=np.int16)
    numbers = (rules.hand_size, rules.draws)
    for_each(_gwent_playouts.play_gwent_games, n_games, np.uint64(seed), decks, numbers, has_rule, results)
    return GwentGames(results[:, :N_PLAYERS], results[:, N_PLAYERS])


def _checked(decks: np.ndarray, min_cards: int) -> np.ndarray:
    """Decks as the kernel takes them."""
    if decks.ndim != 3 or decks.shape[1] != N_PLAYERS or not len(decks):
        raise GameError(f"decks: their shape is {decks.shape}, it must be (n, {N_PLAYERS}, width) with n above 0")
    if not np.issubdtype(decks.dtype, np.integer):
        raise GameError(f"decks: {decks.dtype} is not allowed, they must be integers")
    if ((decks < 0) | (decks > MAX_CARD)).any():
        raise GameError(f"decks: a card is out of range, they must be from 1 to {MAX_CARD}, or 0 behind the last")
    n_cards, sums = (decks > 0).sum(axis=2), decks.sum(axis=2, dtype=np.int64)
    if n_cards.min() < min_cards:
        raise GameError(f"decks: one has {n_cards.min()} cards, it must have at least {min_cards}")
    if sums.max() > MAX_SUM:
        raise GameError(f"decks: one has the sum {sums.max()}, it must be at most {MAX_SUM}")
    # A copy, since kernels are compiled anew for arrays that may not be written.
    return np.array(decks, dtype=np.int8, order="C")
