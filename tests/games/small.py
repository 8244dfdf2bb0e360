"""Small games for tests of the contract and the code that uses it."""

from typing import Any, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError


class Heap(NamedTuple):
    """The size of the heap, the limit that the coin shows (0 for none), and the next player."""

    size: int
    shown: int
    player: int


class Nim(Game):
    """Take one or two from a heap; whoever takes the last wins. With ``dice``, a coin first limits the number."""

    n_players = 2
    n_actions = 3
    is_zero_sum = True

    def __init__(self, size: int = 5, dice: bool = False) -> None:
        self.size, self.dice = size, dice
        self.name = "coin-nim" if dice else "nim"
        self.n_features = 3 if dice else 2

    def parameters(self) -> dict[str, Any]:
        return {"size": self.size, "dice": self.dice}

    def initial(self) -> Heap:
        return Heap(self.size, 0, 0)

    def player(self, state: Heap) -> int:
        return CHANCE if self.dice and not state.shown and state.size else state.player

    def is_terminal(self, state: Heap) -> bool:
        return state.size == 0

    def actions(self, state: Heap) -> list[int]:
        if state.size == 0:
            return []
        if self.player(state) == CHANCE:
            return [1, 2]
        return [n for n in (1, 2) if n <= min(state.size, state.shown or 2)]

    def probabilities(self, state: Heap) -> list[float]:
        return [0.25, 0.75] if self.player(state) == CHANCE else []

    def apply(self, state: Heap, action: int) -> Heap:
        if action not in self.actions(state):
            raise GameError(f"action: {action} is not legal")
        if self.player(state) == CHANCE:
            return state._replace(shown=action)
        return Heap(state.size - action, 0, 1 - state.player)

    def returns(self, state: Heap) -> tuple[float, float]:
        if state.size:
            return 0.0, 0.0
        return (-1.0, 1.0) if state.player == 0 else (1.0, -1.0)

    def position(self, state: Heap) -> Any:
        return state if self.dice else state.size

    def text(self, state: Heap) -> str:
        return f"{state.size} left, {state.shown} shown, player {state.player + 1} moves"

    def action_text(self, state: Heap, action: int) -> str:  # noqa: ARG002
        return f"take {action}"

    def features(self, state: Heap) -> np.ndarray:
        return np.array([state.size, state.shown, state.player][: 3 if self.dice else 2], dtype=np.float32)


class Corridor(Game):
    """A walk on a ring, with kept turns, draws and endless play.

    Both players move one piece over the places 0 to 5, starting at 0. From even places the mover steps on or stays, and
    keeps the turn if ``keeps``; from odd places it steps on or back. ``ends`` maps terminal places to the payoff of the
    player who would move next.
    """

    n_players = 2
    n_actions = 2
    n_features = 7
    is_zero_sum = True
    name = "corridor"

    def __init__(self, ends: dict[int, float], keeps: bool = False) -> None:
        self.ends, self.keeps = ends, keeps

    def parameters(self) -> dict[str, Any]:
        return {"ends": self.ends, "keeps": self.keeps}

    def initial(self) -> tuple[int, int]:
        return 0, 0

    def player(self, state: tuple[int, int]) -> int:
        return state[1]

    def is_terminal(self, state: tuple[int, int]) -> bool:
        return state[0] in self.ends

    def actions(self, state: tuple[int, int]) -> list[int]:
        return [] if state[0] in self.ends else [0, 1]

    def apply(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        if action not in self.actions(state):
            raise GameError(f"action: {action} is not legal")
        place, player = state
        step = action if place % 2 == 0 else (1, -1)[action]
        return (place + step) % 6, player if self.keeps and place % 2 == 0 else 1 - player

    def returns(self, state: tuple[int, int]) -> tuple[float, float]:
        worth = self.ends.get(state[0], 0.0)
        return (worth, -worth) if state[1] == 0 else (-worth, worth)

    def position(self, state: tuple[int, int]) -> int:
        return state[0]

    def text(self, state: tuple[int, int]) -> str:
        return f"player {state[1] + 1} at {state[0]}"

    def action_text(self, state: tuple[int, int], action: int) -> str:  # noqa: ARG002
        return ("first", "second")[action]

    def features(self, state: tuple[int, int]) -> np.ndarray:
        return np.eye(7, dtype=np.float32)[state[0]]
