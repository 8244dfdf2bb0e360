"""Agents at games without secrets, as a server offers them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.positions import Positions, enumerate_positions
from punish_fast.games.retrograde import solve_game
from punish_fast.play.board_face import BoardFace
from punish_fast.play.board_match import BoardMatch
from punish_fast.play.model import NoAnswerError
from punish_fast.play.seats import Agent
from punish_fast.punish.identity import identity

# How much each level plays at random.
LEVELS = {"casual": 0.3, "perfect": 0.0}
# Perfect players may go on for ever.
_MOST_MOVES = 200


class BoardModel:
    """An agent that plays perfectly, or nearly so.

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
        return {
            "name": self.name,
            "about": f"plays at random {self._random:.0%} of the time" if self._random else "plays perfectly",
            "game": self.face.game,
            "rules": self._game.variant_text(),
            "rules_digest": None,
            "temperatures": [],
            "plays": True,
            **answers,
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
        perfect, uniform = solve_game(self.positions).policy(), self.positions.uniform()
        return (1 - self._random) * perfect + self._random * uniform

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
