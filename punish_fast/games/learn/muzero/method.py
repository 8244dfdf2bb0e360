"""Hyperparameters of MuZero, and a check that MuZero supports a game."""

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

    See ``search.py`` for ``search``, ``replay.py`` for ``trace``, and Loshchilov and Hutter, 2019, for ``decay``. The
    number of random actions at the beginning of a game is uniformly distributed from 0 to ``opening``; these actions do
    not end the game unless all legal actions do. Hidden layers have ``2 * width`` units.
    """

    of_boards: ClassVar[dict[str, Any]] = {"filters": (32, 32), "width": 128}
    of_games: ClassVar[str] = "planning"
    keeps_rules: ClassVar[bool] = True  # True because the search considers only legal actions

    model: str = hyperparameter(
        LEARNED, MODELS, "Model used by the search: learned, or the rules of the game (AlphaZero)."
    )
    search: str = hyperparameter(GUMBEL, SEARCHES, "Search algorithm.")
    simulations: int = hyperparameter(25, (1, 1000), "Simulations per search.")
    considered: int = hyperparameter(16, (2, 1024), "Maximum number of actions at the root of a Gumbel search.")
    filters: tuple[int, ...] = hyperparameter((), 512, "Filters of each convolution; none if features are not planes.")
    width: int = hyperparameter(64, (2, 1024), "Size of a hidden state.")
    opening: int = hyperparameter(0, (0, 1000), "Maximum number of random actions at the start of a game.")
    epsilon: float = hyperparameter(0.2, (0.0, 1.0), "Probability of a random action after the opening.")
    discount: float = hyperparameter(1.0, (0.01, 1.0), "Discount of each move; below 1, fast wins are better.")
    trace: float = hyperparameter(0.9, (0.0, 1.0), "Lambda of value targets: 1 for results of games, 0 for one step.")
    unroll: int = hyperparameter(5, (0, 20), "Number of actions that the model unrolls in training.")
    rate: float = hyperparameter(0.003, (TINY, 1.0), "Initial learning rate; it decreases slowly.")
    decay: float = hyperparameter(0.0001, (0.0, 1.0), "Weight decay.")
    games: int = hyperparameter(512, (1, 16_384), "Games per round.")
    memory: int = hyperparameter(40, (1, 1000), "Number of latest rounds in the replay buffer.")
    steps: int = hyperparameter(64, (0, 1024), "Optimizer steps after each round.")
    batch: int = hyperparameter(256, (1, 4096), "States per optimizer step.")
    priority: float = hyperparameter(0.0, (0.0, 2.0), "Exponent of prioritized sampling; 0 for uniform sampling.")
    reanalysed: float = hyperparameter(0.0, (0.0, 1.0), "Number of old games searched again per new game.")
    max_plies: int = hyperparameter(100, (1, 1000), "Maximum plies; longer games have the value of the last search.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_learned and self.unroll < 1:
            raise LearnError(f"unroll: {self.unroll} is not allowed with a learned model; it must be from 1 to 20")

    @property
    def is_learned(self) -> bool:
        """True if the search uses a learned model, False if it uses the rules."""
        return self.model == LEARNED

    @property
    def n_unrolled(self) -> int:
        """Number of actions that the model unrolls in training; 0 if the search uses the rules."""
        return self.unroll if self.is_learned else 0

    @property
    def name(self) -> str:
        """Short name: ``"muzero"``, or ``"alphazero"`` if the search uses the rules."""
        return "muzero" if self.is_learned else "alphazero"

    def epsilon_after(self, _n_games: int) -> float:
        """Return the probability of a random action after the opening, which does not depend on the number of games."""
        return self.epsilon

    def shape_for(self, vector: VectorGame) -> ModelShape:
        """Return the shape of the networks for a game; raise `LearnError` if the method does not support the game."""
        if not is_duel(vector):
            raise LearnError(f"muzero: {vector.game.name} is not a zero-sum game of two players without chance")
        if not hasattr(vector, "pack"):
            raise LearnError(f"muzero: players of {vector.game.name} do not see its whole state")
        self.check_filters(vector)
        return ModelShape(tuple(vector.feature_shape), self.filters, self.width, vector.n_moves)
