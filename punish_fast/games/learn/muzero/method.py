"""Hyperparameters of MuZero, and checks of the games that it supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from punish_fast.games.contract import VectorGame
from punish_fast.games.learn.hyperparameters import TINY, LearnError, NetworkMethod, hyperparameter, is_duel
from punish_fast.games.learn.muzero.network import ModelShape

LEARNED, RULES = "learned", "rules"
GUMBEL, PUCT = "gumbel", "puct"
MODELS, SEARCHES = (LEARNED, RULES), (GUMBEL, PUCT)


@dataclass(frozen=True)
class MuZeroMethod(NetworkMethod):
    """Hyperparameters of MuZero.

    ``search``: see ``search.py``. ``decay``: Loshchilov and Hutter, 2019. ``trace``: see ``replay.py``. The number of
    random actions at the beginning of a game is uniform from 0 to ``opening``; actions that end the game are avoided if
    possible. Hidden layers have ``2 * width`` units.
    """

    of_boards: ClassVar[dict[str, Any]] = {"filters": (32, 32), "width": 128}
    of_games: ClassVar[str] = "planning"
    keeps_rules: ClassVar[bool] = True  # only legal actions are considered

    model: str = hyperparameter(LEARNED, MODELS, "Search in the model that is learned, or in the rules (AlphaZero).")
    search: str = hyperparameter(GUMBEL, SEARCHES, "The search.")
    simulations: int = hyperparameter(25, (1, 1000), "Simulations of a search.")
    considered: int = hyperparameter(16, (2, 1024), "Maximum number of actions at the root of a Gumbel search.")
    filters: tuple[int, ...] = hyperparameter((), 512, "Filters of each convolution; none if features have no places.")
    width: int = hyperparameter(64, (2, 1024), "Numbers of a hidden state.")
    opening: int = hyperparameter(0, (0, 1000), "Games begin with up to this many random actions.")
    epsilon: float = hyperparameter(0.2, (0.0, 1.0), "Probability of a random action after that.")
    discount: float = hyperparameter(1.0, (0.01, 1.0), "Discount of each move; below 1, fast wins are better.")
    trace: float = hyperparameter(0.9, (0.0, 1.0), "Lambda of values: 1 for the end of the game, 0 for one action.")
    unroll: int = hyperparameter(5, (0, 20), "Actions that the model learns to follow from a state.")
    rate: float = hyperparameter(0.003, (TINY, 1.0), "Learning rate at the beginning; it falls slowly.")
    decay: float = hyperparameter(0.0001, (0.0, 1.0), "Decay of weights.")
    games: int = hyperparameter(512, (1, 16_384), "Games of a round.")
    memory: int = hyperparameter(40, (1, 1000), "Rounds whose games are remembered.")
    steps: int = hyperparameter(64, (0, 1024), "Steps of the optimiser after each round.")
    batch: int = hyperparameter(256, (1, 4096), "States of a step.")
    priority: float = hyperparameter(
        0.0, (0.0, 2.0), "Draw states in proportion to this power of the error of their value."
    )
    reanalysed: float = hyperparameter(0.0, (0.0, 1.0), "Old games to search again for each new one.")
    max_plies: int = hyperparameter(100, (1, 1000), "Longer games stop, with the value that their last search found.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_learned and self.unroll < 1:
            raise LearnError(f"unroll: {self.unroll} is not allowed with a learned model, it must be from 1 to 20")

    @property
    def is_learned(self) -> bool:
        """True if the model is learned."""
        return self.model == LEARNED

    @property
    def n_unrolled(self) -> int:
        """Number of actions unrolled in training; 0 if the search uses the rules."""
        return self.unroll if self.is_learned else 0

    @property
    def name(self) -> str:
        """``"muzero"``, or ``"alphazero"`` if the search uses the rules."""
        return "muzero" if self.is_learned else "alphazero"

    def epsilon_after(self, _n_games: int) -> float:
        """Return the probability of a random action after the opening, the same for any number of games."""
        return self.epsilon

    def shape_for(self, vector: VectorGame) -> ModelShape:
        """Return the shape of the networks for a game; raise `LearnError` if the method does not support the game."""
        if not is_duel(vector):
            raise LearnError(f"muzero: {vector.game.name} is not a zero-sum game of two players without chance")
        if not hasattr(vector, "pack"):
            raise LearnError(f"muzero: players of {vector.game.name} do not see all of its state")
        self.check_filters(vector)
        return ModelShape(tuple(vector.feature_shape), self.filters, self.width, vector.n_moves)
