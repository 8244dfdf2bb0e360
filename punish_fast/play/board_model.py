"""Agents at games without secrets, as a server offers them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.retrograde import OUTCOMES, PerfectPlay, move_values, solve_game
from punish_fast.play.board_face import BoardFace
from punish_fast.play.board_match import BoardMatch, BoardView
from punish_fast.play.model import NoAnswerError
from punish_fast.play.seats import Agent
from punish_fast.punish.identity import identity

# How much each level plays at random.
LEVELS = {"random": 1.0, "casual": 0.3, "perfect": 0.0}
# Perfect players may go on for ever.
_MOST_MOVES = 200


class BoardModel:
    """An agent that plays perfectly, or at random in some of its moves, or in all.

    Attributes:
        name: Its name.
        face: How its game looks.
        file: None: it is built in.
    """

    file = None

    def __init__(self, game: TableGame, level: str) -> None:
        """Name the agent.

        Args:
            game: The game.
            level: One of `LEVELS`.
        """
        self.name = f"{level}-{game.name}"
        self.face = BoardFace(game)
        self._game, self._random = game, LEVELS[level]

    def facts(self) -> dict[str, Any]:
        """What it is, JSON-like; the keys are those of `Model.facts`."""
        answers = dict.fromkeys(("coaches", "values", "explains", "judges"), False)
        nothing = dict.fromkeys(("information", "enemy", "objective", "discount", "against"))
        often = "" if self._random == 1 else f" {self._random:.0%} of the time"
        return {
            "name": self.name,
            "about": f"plays at random{often}" if self._random else "plays perfectly",
            "game": self.face.game,
            "rules": self._game.variant_text(),
            "rules_digest": None,
            "temperatures": [],
            "plays": True,
            **answers,
            "hints": True,
            **nothing,
        }

    @cached_property
    def positions(self) -> Positions:
        """The positions of its game."""
        return enumerate_positions(self._game)

    @property
    def n_states(self) -> int:
        """The number of positions."""
        return len(self.positions)

    @cached_property
    def strategy(self) -> np.ndarray:
        """How it plays, float64 ``[n_rows]``."""
        return (1 - self._random) * self._perfect.policy() + self._random * self.positions.uniform()

    @cached_property
    def _perfect(self) -> PerfectPlay:
        return solve_game(self.positions)

    def hint(self, view: BoardView) -> dict[str, Any]:
        """What perfect play knows of a position, JSON-like: the outcome of each move, and which are the best."""
        moves = move_values(self._perfect, view.state)
        return {
            "moves": [
                {
                    "action": move.action,
                    "name": self._game.action_text(view.state, move.action),
                    "outcome": OUTCOMES[move.value],
                    "plies": move.plies,
                    "best": move.is_best,
                }
                for move in moves
            ]
        }

    @cached_property
    def identity(self) -> str:
        """Its identity (``punish/identity.py``), by the numbers of positions and its probabilities."""
        positions = self.positions
        return identity(np.arange(len(positions)), positions.state_ptr, positions.action, self.strategy)

    def open(self) -> None:
        """Do what takes longer now."""
        _ = self.identity

    def is_ready(self, temperature: float | None) -> bool:  # noqa: ARG002 - it plays in one way alone
        """Whether `agent` answers at once: it does once it is open."""
        return True

    def agent(self, temperature: float | None) -> Agent:
        """It as a player.

        Raises:
            NoAnswerError: a temperature is asked for, at which it does not play.
        """
        if temperature is not None:
            raise NoAnswerError(f"temperature: {self.name} does not play at {temperature:g}, allowed is none")
        return Agent(self.name, self.strategy)

    def match(self, seed: int) -> BoardMatch:
        """A match of its game."""
        return BoardMatch(self.positions, np.random.default_rng(seed), _MOST_MOVES)
