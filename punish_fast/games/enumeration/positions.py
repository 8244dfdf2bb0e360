"""Enumeration of a game's positions and of the successors of all actions.

Positions (law 9 of ``contract.py``) are numbered in breadth-first order from the initial position, number 0. Each
action of position ``p`` has a row ``r``, with ``state_ptr[p] <= r < state_ptr[p + 1]``. Rows are sorted by the action
numbers of the position. `Positions.rows_of` finds the row of each action in a state. A game must have two players, no
chance and zero-sum returns, so the value of a position is one number, from the perspective of the player to move. The
sign of the value changes with an action that passes the turn, but not with an action that keeps the turn.
"""

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError
from punish_fast.runtime.parallel import cumulated

# Maximum number of positions. Enumerating more positions takes minutes.
_MAX_POSITIONS = 2_000_000


@dataclass(frozen=True, eq=False)
class Positions:
    """The positions of a game, built by `enumerate_positions`."""

    game: Game
    states: list[Any]  # One state for each position.
    number: dict[Hashable, int]  # Index of each position, by `Game.position` if ``is_folded``, otherwise by state.
    state_ptr: np.ndarray  # int64 ``[n + 1]``, the first row of each position, followed by ``n_rows``.
    # int32 ``[n_rows]``, the action number in the position (`Game.position_actions`), ascending in each position.
    action: np.ndarray
    after: np.ndarray  # int32 ``[n_rows]``, the index of the position after the action.
    sign: np.ndarray  # int8 ``[n_rows]``, -1 if the action passes the turn, 1 if the player moves again.
    payoff: np.ndarray  # float64 ``[n]``, the return of the player who would move next, or 0 if not terminal.
    is_folded: bool  # True if equivalent states share a position, False if each state is a position.

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<Positions of {self.game.name} {self.game.parameters()}: {len(self):,} with {self.n_rows:,} actions>"

    @property
    def n_rows(self) -> int:
        """Number of rows, one for each action of each position."""
        return len(self.action)

    @cached_property
    def is_terminal(self) -> np.ndarray:
        """Mask of terminal positions, bool ``[n]``."""
        return np.asarray(np.diff(self.state_ptr) == 0)

    @cached_property
    def live(self) -> np.ndarray:
        """Indices of the nonterminal positions, int64 ``[n_live]``."""
        return np.flatnonzero(~self.is_terminal)

    @cached_property
    def live_ptr(self) -> np.ndarray:
        """First row of each nonterminal position, followed by ``n_rows``, int64 ``[n_live + 1]``."""
        return np.asarray(self.state_ptr[np.append(self.live, len(self))])

    @cached_property
    def position_of_row(self) -> np.ndarray:
        """Index of each row's position, int64 ``[n_rows]``."""
        return np.repeat(np.arange(len(self)), np.diff(self.state_ptr))

    def find(self, state: Any) -> int:
        """Return the index of a state's position. Raise `GameError` if there is no such position."""
        number = self.number.get(_key(self.game, state, self.is_folded))
        if number is None:
            raise GameError(f"position: {self.game.text(state)} cannot be reached from the initial position")
        return number

    def rows(self, number: int) -> range:
        """Return the rows of a position."""
        return range(int(self.state_ptr[number]), int(self.state_ptr[number + 1]))

    def rows_of(self, state: Any) -> list[int]:
        """Return the row of each legal action of a state, in the order of ``game.actions``."""
        rows = self.rows(self.find(state))
        row_of = dict(zip(self.action[rows.start : rows.stop].tolist(), rows, strict=True))
        return [row_of[number] for number in _numbers(self.game, state, self.is_folded)]

    def uniform(self) -> np.ndarray:
        """Return the uniform policy, float64 ``[n_rows]``."""
        lengths = np.diff(self.state_ptr)
        return np.repeat(1 / np.maximum(lengths, 1), lengths)

    @cached_property
    def digest(self) -> str:
        """Hash of the game and of the rows, 16 hexadecimal digits."""
        digest = hashlib.sha256(json.dumps([self.game.name, self.game.parameters()], sort_keys=True).encode())
        for array, dtype in ((self.state_ptr, "<i8"), (self.action, "<i4"), (self.after, "<i4")):
            digest.update(np.ascontiguousarray(array, dtype=dtype).tobytes())
        return digest.hexdigest()[:16]


def _key(game: Game, state: Any, is_folded: bool) -> Hashable:
    return game.position(state) if is_folded else cast(Hashable, state)


def _numbers(game: Game, state: Any, is_folded: bool) -> Sequence[int]:
    return game.position_actions(state) if is_folded else game.actions(state)


def enumerate_positions(game: Game, first: Any = None, is_folded: bool = True) -> Positions:
    """Enumerate the positions of a game in breadth-first order.

    Args:
        first: State from which positions are enumerated. By default, the initial state.
        is_folded: True if equivalent states share a position, False if each state is a position.

    Raises:
        GameError: If the game is not a zero-sum game of two players without chance, or has too many positions.
    """
    if game.n_players != 2 or not game.is_zero_sum:
        raise GameError(f"{game.name}: only zero-sum games of two players can be enumerated")
    # Known number of positions, or 0. If it is too large, the loop ends after the first state.
    n_known = game.n_positions if first is None else 0
    states = [game.initial() if first is None else first]
    number = {_key(game, states[0], is_folded): 0}
    actions, after, sign, payoff, counts = [], [], [], [], []
    for state in states:
        if game.player(state) == CHANCE:
            raise GameError(f"{game.name}: games with chance states cannot be enumerated")
        legal = sorted(zip(_numbers(game, state, is_folded), game.actions(state), strict=True))
        counts.append(len(legal))
        payoff.append(0.0 if legal else game.returns(state)[game.player(state)])
        for named, action in legal:
            successor = game.apply(state, action)
            found = number.setdefault(_key(game, successor, is_folded), len(states))
            if found == len(states):
                states.append(successor)
            actions.append(named)
            after.append(found)
            sign.append(1 if game.player(successor) == game.player(state) else -1)
        if max(len(states), n_known) > _MAX_POSITIONS:
            raise GameError(f"{game.name}: has more than {_MAX_POSITIONS:,} positions")
    return Positions(
        game=game,
        states=states,
        number=number,
        state_ptr=cumulated(np.array(counts)),
        action=np.array(actions, dtype=np.int32),
        after=np.array(after, dtype=np.int32),
        sign=np.array(sign, dtype=np.int8),
        payoff=np.array(payoff, dtype=np.float64),
        is_folded=is_folded,
    )
