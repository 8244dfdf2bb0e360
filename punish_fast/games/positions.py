"""All positions of a game, numbered, and where every action leads.

Positions are those of law 9 of the contract, and stand in the order in which they are found from the beginning, breadth
first: 0 is the beginning. Row ``r`` of position ``p``, for ``state_ptr[p] <= r < state_ptr[p + 1]``, is an action. What
follows is for two players, one of whom wins what the other loses, and without chance, so a position needs one number:
what it is worth to whoever is to move. An action that keeps the turn, which few games have, carries the worth of the
next position over; all others turn its sign.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError
from punish_fast.runtime.parallel import cumulated

# More would take minutes to enumerate, and tables that nobody wants.
_MOST = 2_000_000


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of a game. Get them from `enumerate_positions`.

    Attributes:
        game: The game.
        states: One state of each position.
        state_ptr: int64 ``[n + 1]``, where the rows of each position begin; none at the end of play.
        action: int32 ``[n_rows]``, ascending in each position.
        after: int32 ``[n_rows]``, the position that follows.
        sign: int8 ``[n_rows]``, -1 if the turn passes and 1 if it is kept.
        worth: float64 ``[n]``, what the end is worth to who would be next; 0 before it.
    """

    game: Game
    states: list[Any]
    state_ptr: np.ndarray
    action: np.ndarray
    after: np.ndarray
    sign: np.ndarray
    worth: np.ndarray

    def __len__(self) -> int:
        return len(self.states)

    @property
    def n_rows(self) -> int:
        """Actions of all positions."""
        return len(self.action)

    @cached_property
    def is_terminal(self) -> np.ndarray:
        """Where play has ended, bool ``[n]``."""
        return np.asarray(np.diff(self.state_ptr) == 0)

    @cached_property
    def position_of_row(self) -> np.ndarray:
        """int64 ``[n_rows]``: the position that each row belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.state_ptr))

    @cached_property
    def number(self) -> dict[Hashable, int]:
        """The number of every position."""
        return {self.game.position(state): number for number, state in enumerate(self.states)}

    def find(self, state: Any) -> int:
        """The number of a state's position.

        Raises:
            GameError: it cannot come up.
        """
        number = self.number.get(self.game.position(state))
        if number is None:
            raise GameError(f"state: {self.game.text(state)} cannot come up from the beginning")
        return number

    def rows(self, number: int) -> range:
        """The rows of a position."""
        return range(int(self.state_ptr[number]), int(self.state_ptr[number + 1]))

    def uniform(self) -> np.ndarray:
        """The policy that plays every action alike, float64 ``[n_rows]``."""
        lengths = np.diff(self.state_ptr)
        return np.repeat(1 / np.maximum(lengths, 1), lengths)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the game and its numbers: tables of one fit another if it is the same."""
        digest = hashlib.sha256(json.dumps([self.game.name, self.game.parameters()], sort_keys=True).encode())
        for array, dtype in ((self.state_ptr, "<i8"), (self.action, "<i4"), (self.after, "<i4")):
            digest.update(np.ascontiguousarray(array, dtype=dtype).tobytes())
        return digest.hexdigest()[:16]


def enumerate_positions(game: Game, begin: Any = None) -> Positions:
    """All positions that can come up.

    Args:
        game: The game.
        begin: The state to begin with; the game's own beginning if None.

    Raises:
        GameError: the game is one of chance, not for two, not zero-sum, or too large.
    """
    if game.n_players != 2 or not game.is_zero_sum:
        raise GameError(f"{game.name}: only games of two players can be solved, where one wins what the other loses")
    states = [game.initial() if begin is None else begin]
    number = {game.position(states[0]): 0}
    actions, after, sign, worth, counts = [], [], [], [], []
    for state in states:
        if game.player(state) == CHANCE:
            raise GameError(f"{game.name}: games of chance cannot be solved backwards")
        legal = game.actions(state)
        counts.append(len(legal))
        worth.append(0.0 if legal else game.returns(state)[game.player(state)])
        for action in legal:
            follower = game.apply(state, action)
            found = number.setdefault(game.position(follower), len(states))
            if found == len(states):
                states.append(follower)
            actions.append(action)
            after.append(found)
            sign.append(1 if game.player(follower) == game.player(state) else -1)
        if len(states) > _MOST:
            raise GameError(f"{game.name}: there are more than {_MOST:,} positions")
    return Positions(
        game=game,
        states=states,
        state_ptr=cumulated(np.array(counts)),
        action=np.array(actions, dtype=np.int32),
        after=np.array(after, dtype=np.int32),
        sign=np.array(sign, dtype=np.int8),
        worth=np.array(worth, dtype=np.float64),
    )
