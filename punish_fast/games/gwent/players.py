"""Players of Gwent Lite that need no learning, and millions of games between them: random play and a rule of thumb.

The rule looks at its own hand, the totals, whether the other is out, and the rounds that the other has won:

1. The other is out. If the own total is higher, pass: the round is won. If not even all cards of the hand would make it
   higher, pass, too. Else play the lowest card that makes it higher, or the highest card if no single one does.
2. The other is in. If the other has not won a round yet and leads by more than 6, pass: the round is not worth its
   cards. Else play the lowest card after which the own total is higher (the lowest of all if it is already), or the
   highest card if there is none.

With the default deck for both, it wins 96.3 % of games against random play from either seat, and 0.2 % are ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import GameError, Mover
from punish_fast.games.gwent import _playouts as _gwent_playouts
from punish_fast.games.gwent.decks import MAX_CARD, MAX_SUM, MIN_CARDS
from punish_fast.games.gwent.game import DRAWS, HAND_SIZE, N_PLAYERS
from punish_fast.games.gwent.state import GwentState, words_of
from punish_fast.games.random_play import random_mover
from punish_fast.games.solve.packed_states import filled
from punish_fast.runtime.parallel import for_each

# The players of `play_games`: every legal action with the same probability, and the rule of thumb.
POLICIES = ("random", "rule")


def rule_player(states: np.ndarray, _legal: np.ndarray, _generator: np.random.Generator) -> np.ndarray:
    """Follow the rule of thumb in many states; a `contract.Mover`."""
    return filled(_gwent_playouts.choose_by_gwent_rule, states, np.int64)


def rule_of_thumb(state: GwentState) -> int:
    """Return the action of the player to move; no card is to be drawn."""
    return int(filled(_gwent_playouts.choose_by_gwent_rule, words_of(state)[np.newaxis], np.int64)[0])


PLAYERS: dict[str, Mover] = {"random": random_mover, "rule-of-thumb": rule_player}


class GwentGames(NamedTuple):
    """The results of games."""

    wins: np.ndarray  # Rounds won by each player, int16 ``[n_games, 2]``.
    moves: np.ndarray  # Moves of both players, int16 ``[n_games]``; a pass for want of cards is none.

    @property
    def returns(self) -> np.ndarray:
        """1, 0 or -1 for a win, a tie or a loss of the first player, int8 ``[n_games]``."""
        result: np.ndarray = np.sign(self.wins[:, 0] - self.wins[:, 1]).astype(np.int8)
        return result


def play_games(decks: np.ndarray, policies: Sequence[str], n_games: int, seed: int = 0) -> GwentGames:
    """Play games.

    Args:
        decks: Integers ``[n, 2, width]``, the decks of both players, with zeros behind the last card; game ``k`` is
            played with decks ``k % n``.
        policies: Of each player, one of `POLICIES`.
    """
    decks = _checked(decks)
    unknown = [policy for policy in policies if policy not in POLICIES]
    if unknown or len(policies) != N_PLAYERS:
        raise GameError(f"policies: {policies} are not allowed, only two of {', '.join(POLICIES)}")
    has_rule = np.array([policy == POLICIES[1] for policy in policies])
    results = np.empty((n_games, N_PLAYERS + 1), dtype=np.int16)
    for_each(_gwent_playouts.play_gwent_games, n_games, np.uint64(seed), decks, (HAND_SIZE, DRAWS), has_rule, results)
    return GwentGames(results[:, :N_PLAYERS], results[:, N_PLAYERS])


def _checked(decks: np.ndarray) -> np.ndarray:
    """Decks as the kernel takes them."""
    is_sound = decks.ndim == 3 and decks.shape[1] == N_PLAYERS and len(decks) and np.issubdtype(decks.dtype, np.integer)
    if not is_sound or ((decks < 0) | (decks > MAX_CARD)).any():
        allowed = f"only integers up to {MAX_CARD} of shape (n, 2, width)"
        raise GameError(f"decks: {decks.dtype} {decks.shape} is not allowed, {allowed}")
    n_cards, sums = (decks > 0).sum(axis=2), decks.sum(axis=2, dtype=np.int64)
    if n_cards.min() < MIN_CARDS or sums.max() > MAX_SUM:
        raise GameError(f"decks: each must have at least {MIN_CARDS} cards, and a sum of at most {MAX_SUM}")
    # A copy, since kernels are compiled anew for arrays that may not be written.
    return np.array(decks, dtype=np.int8, order="C")
