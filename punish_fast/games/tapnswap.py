"""TapnSwap: the finger game Chopsticks with a cutoff.

Each of two players has two hands, with one finger on each hand at the start. The players move alternately:

* *Tap*: add the fingers of one of your live hands to a live hand of the opponent. A hand that reaches the ``limit`` of
  5 dies and has 0 fingers. The hand that taps keeps its fingers.
* *Swap*: move fingers between your hands, leaving fewer fingers than the limit on each hand. The new pair must not be
  the old pair or its mirror image. A swap can revive a dead hand or empty a live hand.

A player with two dead hands has lost. An endless game is a draw.

Left and right are symmetric, so a position consists of the mover's pair of hands and the opponent's pair, each with the
higher hand first. A state distinguishes left from right, so that players can follow the game. Actions specify numbers
of fingers, not hands. If two hands are equal, the left hand taps or is tapped. A swap leaves the higher hand on the
same side. If the hands were equal, the right hand becomes the higher hand.

With at most ``m`` fingers on a hand, tapping a hand of ``b`` fingers with a hand of ``a`` fingers is action
``(a - 1) m + b - 1``, and the swap that leaves ``b`` fingers on the lower hand is action ``m^2 + b``.

Variants change the limit, let fingers roll over (with a limit of 5, 6 fingers become 1, and only a hand with exactly 5
dies), forbid swaps that empty a hand, or forbid all swaps.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import Game, GameError
from punish_fast.games.enumeration.positions import enumerate_positions

# Maximum limit. It bounds the number of positions.
_MAX_LIMIT = 16
# Space between the two hands in a drawing, and width of the column of names in characters.
_GAP = "     "
_LABEL = 12

Pair = tuple[int, int]


class TapnSwapState(NamedTuple):
    """A state of TapnSwap."""

    own: Pair  # Fingers on the left and right hand of the player to move.
    other: Pair  # Fingers on the opponent's left and right hand.
    player: int  # The player to move, 0 or 1.


class Variant(NamedTuple):
    """Variant of the rules."""

    limit: int = 5  # Number of fingers, 2 to 16, at which a hand dies.
    # True if ``limit`` is subtracted from larger numbers of fingers, so that only a hand with exactly ``limit`` dies.
    rolls_over: bool = False
    may_empty: bool = True  # True if a swap may empty a hand.
    swaps: bool = True  # True if swaps are legal.


class TapnSwap(Game):
    """TapnSwap (see `contract.Game`)."""

    name = "tapnswap"
    n_players = 2
    is_zero_sum = True

    def __init__(self, variant: Variant | None = None) -> None:
        self.variant = variant or Variant()
        if not 2 <= self.variant.limit <= _MAX_LIMIT:
            raise GameError(f"limit: {self.variant.limit} is not allowed; it must be from 2 to {_MAX_LIMIT}")
        self.max_fingers = self.variant.limit - 1  # Maximum number of fingers on a hand.
        self.n_actions = self.max_fingers**2 + self.max_fingers
        self.n_features = 4 * self.variant.limit

    def initial(self) -> TapnSwapState:
        """Return the state with one finger on every hand and player 0 to move."""
        return TapnSwapState((1, 1), (1, 1), 0)

    def player(self, state: TapnSwapState) -> int:
        """Return the player to move."""
        return state.player

    def is_terminal(self, state: TapnSwapState) -> bool:
        """Return True if a player has two dead hands."""
        return not (any(state.own) and any(state.other))

    def actions(self, state: TapnSwapState) -> list[int]:
        """Return the legal actions in ascending order, taps before swaps."""
        if self.is_terminal(state):
            return []
        taps = {(a - 1) * self.max_fingers + b - 1 for a in state.own if a for b in state.other if b}
        return sorted(taps) + [self.max_fingers**2 + low for low in self._splits(state.own)]

    def apply(self, state: TapnSwapState, action: int) -> TapnSwapState:
        """Return the state after a tap or a swap."""
        self.check_action(state, action)
        if action < self.max_fingers**2:
            return TapnSwapState(self._tapped(state.other, *self._tap(action)), state.own, 1 - state.player)
        return TapnSwapState(state.other, _swapped(state.own, action - self.max_fingers**2), 1 - state.player)

    def returns(self, state: TapnSwapState) -> tuple[float, float]:
        """Return 1 for the winner and -1 for the loser, or 0 for both before the end of the game."""
        if not self.is_terminal(state):
            return 0.0, 0.0
        winner = state.player if any(state.own) else 1 - state.player
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    def position(self, state: TapnSwapState) -> tuple[Pair, Pair]:
        """Return both pairs of hands, each with the higher hand first.

        Actions specify numbers of fingers, not hands, so the symmetry does not renumber actions.
        """
        return max(state.own, state.own[::-1]), max(state.other, state.other[::-1])

    def text(self, state: TapnSwapState) -> str:
        """Return the mover's hands, the opponent's hands and the mover, for example ``"3-1 2-4 player 1"``."""
        return f"{_pair_text(state.own)} {_pair_text(state.other)} player {state.player + 1}"

    def action_text(self, state: TapnSwapState, action: int) -> str:
        """Describe an action, for example as ``"tap 3 on 2"`` or ``"swap to 2-2"``."""
        if action < self.max_fingers**2:
            return "tap {} on {}".format(*self._tap(action))
        return f"swap to {_pair_text(_swapped(state.own, action - self.max_fingers**2))}"

    def features(self, state: TapnSwapState) -> np.ndarray:
        """Return one-hot encodings of the four hands, in the order of `position`, float32 ``[4 * limit]``."""
        hands = [hand for pair in self.position(state) for hand in pair]
        return np.eye(self.variant.limit, dtype=np.float32)[hands].ravel()

    def state_of(self, text: str) -> TapnSwapState:
        """Parse the hands of the first and second player, such as ``"3-1 2-4"`` or ``"31/24"``.

        The first player is to move.
        """
        numbers = [int(number) for number in re.findall(r"[0-9]+" if "-" in text else r"[0-9]", text)]
        shape = r"\s*\d+\s*-\s*\d+[\s/:,]+\d+\s*-\s*\d+\s*|\s*\d\d[\s/:,]*\d\d\s*"
        if not re.fullmatch(shape, text, re.ASCII) or max(numbers) > self.max_fingers or not any(numbers):
            raise GameError(
                f"position: {text!r} is wrong; use the mover's hands and the opponent's, each with 0 to "
                f'{self.max_fingers} fingers, such as "3-1 2-4"'
            )
        return TapnSwapState((numbers[0], numbers[1]), (numbers[2], numbers[3]), 0)

    def variant_text(self) -> str:
        """Return the name of the game and its variant, for example ``"TapnSwap, limit 5, fingers roll over"``."""
        variant = self.variant
        words = ["TapnSwap", f"limit {variant.limit}"] + ["fingers roll over"] * variant.rolls_over
        words += (["no emptying"] if not variant.may_empty else []) if variant.swaps else ["taps only"]
        return ", ".join(words)

    def rules_text(self) -> str:
        """Describe the rules in a few lines."""
        variant, limit = self.variant, self.variant.limit
        death = "dies: it has 0 fingers and cannot tap or be tapped."
        lines = [
            "Both players have two hands, with one finger on each.",
            "On your turn, tap: add the fingers of one of your hands to one of your opponent's.",
            f"A hand with exactly {limit} fingers {death}\nMore fingers count from 0 again: {limit + 1} become 1."
            if variant.rolls_over
            else f"A hand that reaches {limit} fingers {death}",
        ]
        if variant.swaps:
            emptying = (
                "You may empty a hand, or revive a dead one." if variant.may_empty else "You must not empty a hand."
            )
            lines.append(f"Or swap: move fingers between your hands, but not to the mirror image.\n{emptying}")
        else:
            lines.append("There are no swaps.")
        return "\n".join([*lines, "A player with two dead hands has lost."])

    def draw(self, state: TapnSwapState, viewer: int, names: Sequence[str]) -> str:
        """Draw the hands of both players, the viewer's at the bottom."""
        near, far = _near_and_far(state, viewer)
        far_rows, near_rows = self._hand_rows(far), self._hand_rows(near)
        picture = [self._label(names[1 - viewer], far), *reversed(far_rows), "", *near_rows]
        return "\n".join([*picture, self._label(names[viewer], near)])

    def board(self, state: TapnSwapState, viewer: int) -> dict[str, Any]:
        """Return the numbers of fingers on the hands of ``viewer`` (``own``) and of the opponent, and the limit."""
        near, far = _near_and_far(state, viewer)
        return {"own": list(near), "other": list(far), "limit": self.variant.limit}

    def counts(self) -> dict[str, int]:
        """Return the number of reachable combinations of ``own`` and ``other``, as ``raw_states``."""
        states = enumerate_positions(self, is_folded=False).states
        return {"raw_states": len({(state.own, state.other) for state in states})}

    def _tap(self, action: int) -> Pair:
        """Return the number of fingers on the hand that taps and on the hand that is tapped."""
        return action // self.max_fingers + 1, action % self.max_fingers + 1

    def _splits(self, pair: Pair) -> list[int]:
        """Return the number of fingers on the lower hand after each legal swap."""
        if not self.variant.swaps:
            return []
        total = sum(pair)
        lowest = max(total - self.max_fingers, 0 if self.variant.may_empty else 1)
        return [low for low in range(lowest, total // 2 + 1) if low != min(pair)]

    def _tapped(self, pair: Pair, fingers: int, target: int) -> Pair:
        total = target + fingers
        if total >= self.variant.limit:
            total = total - self.variant.limit if self.variant.rolls_over else 0
        return (total, pair[1]) if pair[0] == target else (pair[0], total)

    def _hand_rows(self, pair: Pair) -> list[str]:
        """Draw the fingertips, fingers and knuckles of two hands."""
        fingers = range(self.max_fingers)
        rows = [[" ".join("|" if k < raised else folded for k in fingers) for raised in pair] for folded in " n"]
        hands = [*([f" {hand} " for hand in row] for row in rows), ["(" + "=" * (2 * self.max_fingers - 1) + ")"] * 2]
        return [(" " * _LABEL + _GAP.join(row)).rstrip() for row in hands]

    def _label(self, name: str, pair: Pair) -> str:
        counts = [str(fingers) if fingers else "dead" for fingers in pair]
        width = 2 * self.max_fingers + 1
        return (name[: _LABEL - 1].ljust(_LABEL) + _GAP.join(count.center(width) for count in counts)).rstrip()


def _near_and_far(state: TapnSwapState, viewer: int) -> tuple[Pair, Pair]:
    return (state.own, state.other) if state.player == viewer else (state.other, state.own)


def _swapped(pair: Pair, low: int) -> Pair:
    high = sum(pair) - low
    return (high, low) if pair[0] > pair[1] else (low, high)


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]}-{pair[1]}"
