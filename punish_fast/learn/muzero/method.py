"""Hyperparameters of MuZero, and the games that it can learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from punish_fast.games.contract import VectorGame
from punish_fast.games.registry import GAMES
from punish_fast.learn.hyperparameters import check_choices, check_layers, check_ranges
from punish_fast.learn.qlearning import LearnError

LEARNED, RULES = "learned", "rules"
GUMBEL, PUCT = "gumbel", "puct"
MODELS, SEARCHES = (LEARNED, RULES), (GUMBEL, PUCT)
_RANGES: dict[str, tuple[Any, Any]] = {
    "simulations": (1, 1000),
    "considered": (2, 1024),
    "width": (2, 1024),
    "opening": (0, 1000),
    "epsilon": (0.0, 1.0),
    "discount": (0.01, 1.0),
    "trace": (0.0, 1.0),
    "unroll": (0, 20),
    "rate": (1e-9, 1.0),
    "decay": (0.0, 1.0),
    "games": (1, 16_384),
    "memory": (1, 1000),
    "steps": (0, 1024),
    "batch": (1, 4096),
    "priority": (0.0, 2.0),
    "reanalysed": (0.0, 1.0),
    "max_plies": (1, 1000),
}
_LARGEST_LAYER = {"filters": 512}
# Planes, rows and columns; a board with a shorter side needs no filters.
_N_AXES, _LEAST_SIDE = 3, 4
_OF_BOARDS: dict[str, Any] = {"filters": (32, 32), "width": 128}


@dataclass(frozen=True)
class MuZeroMethod:
    """Hyperparameters of MuZero.

    Attributes:
        model: What the search plans in: ``"learned"``, the model that the network learns (MuZero), or ``"rules"``, the
            rules of the game (AlphaZero).
        search: ``"gumbel"`` or ``"puct"``, see ``search.py``.
        simulations: Simulations of a search.
        considered: Actions that a Gumbel search considers at the root, at most.
        filters: Filters of each convolution of the representation; empty if the features have no places.
        width: Numbers of a hidden state; hidden layers have twice as many units.
        opening: Games of self-play begin with up to so many random actions, each number as often as the others; none
            of these ends the game if another would not.
        epsilon: The probability of a random action after that.
        discount: Above 0 and at most 1; below 1, fast wins are better than slow ones.
        trace: How far values follow what happened (lambda), see ``replay.py``: 1 to the end of the game, 0 one action.
        unroll: Actions that the model follows from each state that it learns from.
        rate: The learning rate at the beginning; it falls slowly, see ``update.py``.
        decay: The decay of weights (Loshchilov and Hutter, 2019).
        games: Games of a round.
        memory: Rounds whose games are remembered.
        steps: Steps of the optimiser after each round.
        batch: States of a step.
        priority: Above 0, states are drawn in proportion to this power of the error of their value; 0 draws all alike.
        reanalysed: How many games of the memory are searched again in each round, as a share of the games of a round.
        max_plies: Longer games stop there, and have the value that their last search found.

    Raises:
        LearnError: A hyperparameter is out of range.
    """

    model: str = LEARNED
    search: str = GUMBEL
    simulations: int = 25
    considered: int = 16
    filters: tuple[int, ...] = ()
    width: int = 64
    opening: int = 0
    epsilon: float = 0.2
    discount: float = 1.0
    trace: float = 0.9
    unroll: int = 5
    rate: float = 0.003
    decay: float = 0.0001
    games: int = 512
    memory: int = 40
    steps: int = 64
    batch: int = 256
    priority: float = 0.0
    reanalysed: float = 0.0
    max_plies: int = 100

    def __post_init__(self) -> None:
        check_choices(self, {"model": MODELS, "search": SEARCHES})
        check_layers(self, _LARGEST_LAYER)
        check_ranges(self, _RANGES)
        if self.is_learned and self.unroll < 1:
            raise LearnError(f"unroll: {self.unroll} is not allowed with a learned model, it must be from 1 to 20")

    def __str__(self) -> str:
        model = {LEARNED: f"learned model, unrolled {self.unroll} actions", RULES: "the rules as model"}[self.model]
        layers = [*(f"{n} filters" for n in self.filters), f"{self.width} hidden numbers"]
        opening = f"up to {self.opening} random actions, then " * (self.opening > 0)
        numbers = f"epsilon {self.epsilon:g}, rate {self.rate:g}, discount {self.discount:g}, trace {self.trace:g}"
        search = f"{self.search} search of {self.simulations} simulations"
        return f"{model}, {search}, {', '.join(layers)}, {opening}{numbers}"

    @property
    def is_learned(self) -> bool:
        """Whether the model is learned."""
        return self.model == LEARNED

    @property
    def n_unrolled(self) -> int:
        """Actions that the model follows while it learns; the rules need none."""
        return self.unroll if self.is_learned else 0


def muzero_method_for(vector: VectorGame, **given: Any) -> MuZeroMethod:
    """A method with the defaults of a game for what is not given: with filters on boards of four and more a side.

    Raises:
        LearnError: A hyperparameter is out of range.
    """
    is_board = len(vector.feature_shape) == _N_AXES and min(vector.feature_shape[1:]) >= _LEAST_SIDE
    entry = GAMES.get(vector.game.name)
    of_game = {} if entry is None else dict(entry.planning)
    return MuZeroMethod(**(_OF_BOARDS if is_board else {}) | of_game | given)


def check_game(vector: VectorGame, method: MuZeroMethod) -> None:
    """Check that MuZero can learn a game.

    Raises:
        LearnError: It has chance, hidden cards, or not two players with opposite returns; or the method does not fit.
    """
    game = vector.game
    if not (game.n_players == 2 and game.is_zero_sum) or hasattr(vector, "probabilities"):
        raise LearnError(f"muzero: {game.name} is not a zero-sum game of two players without chance")
    if not hasattr(vector, "pack"):
        raise LearnError(f"muzero: players of {game.name} do not see all of its state")
    if method.filters and len(vector.feature_shape) != _N_AXES:
        raise LearnError(f"filters: {method.filters} are impossible, the features of {game.name} have no places")
