"""Many states of Gwent Lite at once, on kernels.

The first of the 13 words holds what players see on the table: of both players the totals (7 bits each), rounds won (2),
whether they are out (1) and the cards to draw (4), then the round (2), the player who began the first round (2; 0 for
none, else 1 or 2) and whose turn it is (1). Six words of each player follow: two each for the deck, the pile and the
hand. Cards are bits, a row of 100 points that is cut behind each card.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from punish_fast.games import _vector_gwent
from punish_fast.games.contract import Game, GameError
from punish_fast.games.gwent import MAX_TOTAL, N_MOVES, N_ROUNDS, Gwent
from punish_fast.games.gwent_decks import MAX_SUM, MIN_CARDS, deal_probabilities
from punish_fast.games.gwent_state import GwentState
from punish_fast.games.packed_states import room_for_steps, signed

_SIZE = (MIN_CARDS, MAX_TOTAL, MAX_SUM, N_ROUNDS)


class VectorGwent:
    """Gwent Lite; see `contract.VectorChanceGame`."""

    n_words = _vector_gwent.N_WORDS
    n_moves = N_MOVES
    feature_shape: tuple[int, ...] = (Gwent.n_features,)

    def __init__(self, game: Game) -> None:
        """Remember the game.

        Raises:
            GameError: It is another game.
        """
        if not isinstance(game, Gwent):
            raise GameError(f"game: {type(game).__name__} is not Gwent Lite")
        self.game: Game = game
        self._n_dealt = game.n_dealt
        self._rules = (game.variant.hand_size, game.variant.draws, game.n_dealt)
        self._initial = words_of(game.initial())

    def initial(self, n: int) -> np.ndarray:
        """``n`` states before the first card is drawn."""
        return np.tile(self._initial, (n, 1))

    def player(self, states: np.ndarray) -> np.ndarray:
        """The player to move, or `CHANCE`."""
        player = np.empty(len(states), dtype=np.int8)
        _vector_gwent.find_gwent_players(signed(states), player)
        return player

    def legal(self, states: np.ndarray) -> np.ndarray:
        """To pass, and the slots with cards."""
        legal = np.empty((len(states), N_MOVES), dtype=np.bool_)
        _vector_gwent.find_gwent_moves(signed(states), legal)
        return legal

    def probabilities(self, states: np.ndarray) -> np.ndarray:
        """The probability of each card to draw, or of each player to begin."""
        shares = np.empty((len(states), Gwent.n_actions))
        _vector_gwent.find_gwent_shares(signed(states), self._n_dealt, _deals(self._n_dealt), shares)
        return shares

    def features(self, states: np.ndarray) -> np.ndarray:
        """What the player to move knows."""
        features = np.empty((len(states), Gwent.n_features), dtype=np.float32)
        _vector_gwent.find_gwent_features(signed(states), _SIZE, features)
        return features

    def step(self, states: np.ndarray, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw a card, let a player begin, or move in each state."""
        after, returns, ended = room_for_steps(len(states), self.n_words, 2)
        actions = np.ascontiguousarray(actions, np.int64)
        _vector_gwent.step_gwent(signed(states), actions, self._rules, after, returns, ended)
        return after.view(np.uint64), returns, ended


def words_of(state: GwentState) -> np.ndarray:
    """The words of a state, uint64 ``[13]``."""
    fields = (
        *state.totals,
        *state.wins,
        *map(int, state.out),
        *state.due,
        state.round,
        state.beginner + 1,
        state.turn,
    )
    table = sum(field << int(shift) for field, shift in zip(fields, _vector_gwent.SHIFTS, strict=True))
    cards = [
        half for player in range(2) for kind in (state.decks, state.piles, state.hands) for half in _cut(kind[player])
    ]
    return np.array([table, *cards], dtype=np.uint64)


def _cut(cards: Sequence[int]) -> tuple[int, int]:
    """The two words of some cards."""
    bits = sum(1 << (end - 1) for end in accumulate(cards))
    return bits % (1 << _vector_gwent.HALF), bits >> _vector_gwent.HALF


@lru_cache(maxsize=4)
def _deals(n_dealt: int) -> np.ndarray:
    """The probabilities of the next card of a random deck, as `_vector_gwent.find_gwent_shares` takes them."""
    deals = np.zeros((n_dealt + 1, MAX_SUM - n_dealt + 1, Gwent.n_actions)) if n_dealt else np.zeros((0, 0, 0))
    for n_cards in range(1, n_dealt + 1):
        for spare in range(MAX_SUM - n_dealt + 1):
            shares = deal_probabilities(n_cards, n_cards + spare)
            deals[n_cards, spare, 1 : len(shares) + 1] = shares
    return deals
