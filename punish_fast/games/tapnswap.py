"""TapnSwap: the finger game Chopsticks with a cut-off.

Two players have two hands each, with 1 and 1 fingers in the beginning, and move in turns:

* *Tap*: add the fingers of one of your live hands to one live hand of the opponent. A hand that reaches the ``limit``
  of 5 is dead and has 0 fingers; your own hand keeps its fingers.
* *Swap*: move fingers between your own hands, to any other split of their sum with less than the limit on each hand.
  The mirror image is no other split. A dead hand may come back to life, and a hand may be emptied.

Whoever leaves the opponent with two dead hands wins. Play may go on for ever, which nobody wins.

Which hand is which does not matter, so a position is the mover's pair of hands and the opponent's, the higher hand
first. A state keeps the hands in place all the same, so that people can follow the game. Where actions name fingers
rather than hands, a tap is made by the left one of two equal hands, on the left one of two equal ones; a swap leaves
the higher hand on its side, and of two equal hands the right one becomes the higher.

An action is a number: with ``m`` fingers at the most on a hand, a tap with ``a`` on ``b`` is ``(a - 1) m + b - 1``, and
a swap that leaves ``b`` fingers on the lower hand is ``m^2 + b``.

Variants: hands may roll over instead (6 fingers are 1 again, and only 5 are dead), the limit may be another, no hand
may be emptied by its owner, or there may be no swaps.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import GameError

# Beyond this, tables no longer fit.
_MOST_LIMIT = 16

Pair = tuple[int, int]


class Hands(NamedTuple):
    """A state.

    Attributes:
        own: Fingers of the mover's left and right hand.
        other: Those of the opponent.
        player: Who is to move, 0 or 1.
    """

    own: Pair
    other: Pair
    player: int


class Variant(NamedTuple):
    """The rules.

    Attributes:
        limit: A hand with so many fingers is dead, 2 to 16.
        rolls_over: Whether fingers beyond the limit count from 0 again, so that only a hand that hits it dies.
        may_empty: Whether a swap may empty a hand.
        swaps: Whether there are swaps at all.
    """

    limit: int = 5
    rolls_over: bool = False
    may_empty: bool = True
    swaps: bool = True


class TapnSwap:
    """TapnSwap behind the contract of games.

    Attributes:
        variant: The rules.
        name: ``"tapnswap"``.
        n_players: 2.
        n_actions: Taps and swaps of any state.
        n_features: One for every number of fingers on each of the four hands.
        is_zero_sum: Yes.
    """

    name = "tapnswap"
    n_players = 2
    is_zero_sum = True

    def __init__(self, variant: Variant | None = None) -> None:
        """Make the game.

        Raises:
            GameError: the limit is out of range.
        """
        self.variant = variant or Variant()
        if not 2 <= self.variant.limit <= _MOST_LIMIT:
            raise GameError(f"limit: {self.variant.limit} is not allowed, it must be from 2 to {_MOST_LIMIT}")
        self.most = self.variant.limit - 1
        self.n_actions = self.most**2 + self.most
        self.n_features = 4 * self.variant.limit

    def parameters(self) -> dict[str, Any]:
        """The fields of the variant."""
        return self.variant._asdict()

    def initial(self) -> Hands:
        """One finger on every hand, player 0 to move."""
        return Hands((1, 1), (1, 1), 0)

    def player(self, state: Hands) -> int:
        """Who is to move; at the end, the loser, unless hands were set up otherwise."""
        return state.player

    def is_terminal(self, state: Hands) -> bool:
        """Whether somebody has two dead hands."""
        return not (any(state.own) and any(state.other))

    def actions(self, state: Hands) -> list[int]:
        """Taps by fingers, then swaps by the lower hand."""
        if self.is_terminal(state):
            return []
        taps = {self._tap(a, b) for a in state.own if a for b in state.other if b}
        return sorted(taps) + [self.most**2 + low for low in self._splits(state.own)]

    def chances(self, state: Hands) -> list[float]:  # noqa: ARG002 - the contract's
        """Nothing is left to chance."""
        return []

    def apply(self, state: Hands, action: int) -> Hands:
        """The state after a tap or a swap, with the other player to move.

        Raises:
            GameError: the action is not legal.
        """
        if action not in self.actions(state):
            raise GameError(f"action: {action} is not legal in {self.text(state)}, legal are {self.actions(state)}")
        if action < self.most**2:
            fingers, target = self._fingers(action)
            return Hands(self._tapped(state.other, target, fingers), state.own, 1 - state.player)
        return Hands(state.other, self._swapped(state.own, action - self.most**2), 1 - state.player)

    def returns(self, state: Hands) -> tuple[float, float]:
        """1 for the winner and -1 for the loser."""
        if not self.is_terminal(state):
            return 0.0, 0.0
        winner = state.player if any(state.own) else 1 - state.player
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    def position(self, state: Hands) -> tuple[Pair, Pair]:
        """Both pairs, the higher hand first."""
        return _sorted(state.own), _sorted(state.other)

    def text(self, state: Hands) -> str:
        """For example ``"3-1 2-4 player 1"``: the mover's hands, the opponent's, and who is to move, from 1 on."""
        return f"{_pair_text(state.own)} {_pair_text(state.other)} player {state.player + 1}"

    def action_text(self, state: Hands, action: int) -> str:
        """For example ``"tap 3 on 2"`` or ``"swap to 2-2"``."""
        if action < self.most**2:
            fingers, target = self._fingers(action)
            return f"tap {fingers} on {target}"
        return f"swap to {_pair_text(self._swapped(state.own, action - self.most**2))}"

    def features(self, state: Hands) -> np.ndarray:
        """For each hand, own ones first and higher ones first, a 1 at its number of fingers."""
        hands = [hand for pair in self.position(state) for hand in pair]
        return np.eye(self.variant.limit, dtype=np.float32)[hands].ravel()

    def state_of(self, text: str) -> Hands:
        """A state from text such as ``"3-1 2-4"`` or ``"31/24"``: the mover's hands, then the opponent's.

        Raises:
            GameError: it is no state.
        """
        numbers = [int(number) for number in re.findall(r"[0-9]+" if "-" in text else r"[0-9]", text)]
        shape = r"\s*\d+\s*-\s*\d+[\s/:,]+\d+\s*-\s*\d+\s*|\s*\d\d[\s/:,]*\d\d\s*"
        if not re.fullmatch(shape, text) or max(numbers) > self.most or not any(numbers):
            raise GameError(
                f"state: {text!r} is none, allowed are your two hands and the opponent's, each with 0 to {self.most} "
                'fingers, such as "3-1 2-4"'
            )
        return Hands((numbers[0], numbers[1]), (numbers[2], numbers[3]), 0)

    def _tap(self, fingers: int, target: int) -> int:
        return (fingers - 1) * self.most + target - 1

    def _fingers(self, action: int) -> Pair:
        """With how many fingers a tap is made, and on how many."""
        return action // self.most + 1, action % self.most + 1

    def _splits(self, pair: Pair) -> list[int]:
        """What a swap may leave on the lower hand."""
        if not self.variant.swaps:
            return []
        total = sum(pair)
        lowest = max(total - self.most, 0 if self.variant.may_empty else 1)
        return [low for low in range(lowest, total // 2 + 1) if low != min(pair)]

    def _tapped(self, pair: Pair, target: int, fingers: int) -> Pair:
        total = target + fingers
        if total >= self.variant.limit:
            total = total - self.variant.limit if self.variant.rolls_over else 0
        return (total, pair[1]) if pair[0] == target else (pair[0], total)

    def _swapped(self, pair: Pair, low: int) -> Pair:
        high = sum(pair) - low
        return (high, low) if pair[0] > pair[1] else (low, high)


def count_layouts(game: TapnSwap) -> int:
    """How many different pairs of hands come up, those of the mover and of the opponent, left and right told apart."""
    begin = game.initial()._replace(player=0)
    found, seen = [begin], {begin}
    for state in found:
        for action in game.actions(state):
            after = game.apply(state, action)._replace(player=0)
            if after not in seen:
                seen.add(after)
                found.append(after)
    return len(found)


def _sorted(pair: Pair) -> Pair:
    return (pair[0], pair[1]) if pair[0] >= pair[1] else (pair[1], pair[0])


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]}-{pair[1]}"
