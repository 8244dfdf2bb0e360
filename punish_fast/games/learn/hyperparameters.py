"""Hyperparameters of learning methods, declared with defaults, allowed values and descriptions."""

from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Self

from punish_fast.games.contract import VectorBoardGame, VectorChanceGame, VectorGame
from punish_fast.games.learn.muzero.network import ModelShape
from punish_fast.games.registry import GAMES
from punish_fast.runtime.errors import PunishFastError, brief, is_number, is_whole

MAX_GAMES = 1 << 48
LAST_SEED = (1 << 63) - 1
_MAX_LAYERS = 8
# Current names of hyperparameters that have other names in older agent files.
_RENAMED = {"memory": "replay_size", "reanalysed": "reanalyzed"}
# Lower limit of ranges that exclude 0.
TINY = 1e-9
# Number of axes in board features (planes, rows and columns), and minimum rows and columns of a large board. Networks
# for large boards have filters by default.
_N_AXES, _LEAST_SIDE = 3, 4


class LearnError(PunishFastError, ValueError):
    """Raised if a hyperparameter, plan or learner is invalid."""


def hyperparameter(default: Any, allowed: Any, about: str) -> Any:
    """Declare a field of a `CheckedMethod`.

    Args:
        default: Default value.
        allowed: For a string, a tuple of the allowed strings. For a number, the inclusive limits, which are integers if
            the number is an integer, followed by None if the value may be None. For a tuple of layer sizes, the maximum
            size.
        about: Description, printed by `games methods`.
    """
    return field(default=default, metadata={"allowed": allowed, "about": about})


@dataclass(frozen=True)
class CheckedMethod:
    """Base class of learning methods. Raises `LearnError` on construction if a hyperparameter is not allowed."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not _is_allowed(value, each.metadata["allowed"]):
                raise LearnError(f"{each.name}: {brief(value)} is not allowed; it must be {allowed_text(each)}")

    @classmethod
    def of(cls, mapping: Any) -> Self:
        """Build a method from a mapping, as returned by `dataclasses.asdict`. Lists are converted to tuples."""
        names = [each.name for each in fields(cls)]
        if isinstance(mapping, dict):
            mapping = {_RENAMED.get(name, name): value for name, value in mapping.items()}
        if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
            raise LearnError(f"method: {brief(mapping)} is not allowed; it must have {', '.join(names)}")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in mapping.items()})


class NetworkMethod(CheckedMethod):
    """Base class of learning methods that train networks."""

    of_boards: ClassVar[dict[str, Any]]  # default hyperparameters for games with large boards
    of_games: ClassVar[str]  # name of the `GameEntry` field with default hyperparameters for a game
    filters: Any

    @classmethod
    def for_game(cls, vector: VectorGame, **given: Any) -> Self:
        """Return a method with the given values.

        Other values are the game's defaults, such as filters for large boards.

        Defaults in the game's `GameEntry` take precedence over defaults for large boards.
        """
        is_board = len(vector.feature_shape) == _N_AXES and min(vector.feature_shape[1:]) >= _LEAST_SIDE
        of_game = getattr(GAMES.get(vector.game.name), cls.of_games, {})
        return cls(**(cls.of_boards if is_board else {}) | dict(of_game) | given)

    def check_filters(self, vector: VectorGame) -> None:
        """Raise `LearnError` if the method has filters but the features do not have planes, rows and columns."""
        if self.filters and len(vector.feature_shape) != _N_AXES:
            raise LearnError(
                f"filters: {self.filters} are impossible; the features of {vector.game.name} are not planes"
            )


def is_duel(vector: VectorGame) -> bool:
    """Return True if a game is a zero-sum game of two players without chance."""
    return vector.game.n_players == 2 and vector.game.is_zero_sum and not isinstance(vector, VectorChanceGame)


def _is_allowed(value: Any, allowed: Any) -> bool:
    if isinstance(allowed, int):
        return isinstance(value, tuple) and len(value) <= _MAX_LAYERS and all(is_whole(n, 1, allowed) for n in value)
    if isinstance(allowed[0], str):
        return isinstance(value, str) and value in allowed
    if value is None:
        return None in allowed
    return (is_whole if isinstance(allowed[0], int) else is_number)(value, allowed[0], allowed[1])


def allowed_text(declared: Field[Any]) -> str:
    """Describe the allowed values of a hyperparameter."""
    allowed = declared.metadata["allowed"]
    if isinstance(allowed, int):
        return f"up to {_MAX_LAYERS} numbers from 1 to {allowed}"
    if isinstance(allowed[0], str):
        return f"one of {', '.join(allowed)}"
    kind = "a whole number" if isinstance(allowed[0], int) else "a number"
    return f"{kind} from {allowed[0]:g} to {allowed[1]:g}" + " or none" * (None in allowed)


LEARNED, RULES = "learned", "rules"
GUMBEL, PUCT = "gumbel", "puct"
MODELS, SEARCHES = (LEARNED, RULES), (GUMBEL, PUCT)


@dataclass(frozen=True)
class MuZeroMethod(NetworkMethod):
    """Hyperparameters of MuZero.

    For ``search`` see ``muzero/search.py``, for ``trace`` see ``muzero/replay.py``, and for ``decay`` see Loshchilov
    and Hutter, 2019. The number of random actions at the beginning of a game is uniformly distributed from 0 to
    ``opening``. These actions do not end the game unless all legal actions do. Hidden layers have ``2 * width`` units.
    """

    of_boards: ClassVar[dict[str, Any]] = {"filters": (32, 32), "width": 128}
    of_games: ClassVar[str] = "planning"
    keeps_rules: ClassVar[bool] = True  # always True, because the search considers only legal actions

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
    replay_size: int = hyperparameter(40, (1, 1000), "Number of latest rounds in the replay buffer.")
    steps: int = hyperparameter(64, (0, 1024), "Optimizer steps after each round.")
    batch: int = hyperparameter(256, (1, 4096), "States per optimizer step.")
    priority: float = hyperparameter(0.0, (0.0, 2.0), "Exponent of prioritized sampling; 0 for uniform sampling.")
    reanalyzed: float = hyperparameter(0.0, (0.0, 1.0), "Number of old games searched again per new game.")
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
        """Number of actions that the model unrolls in training, or 0 if the search uses the rules."""
        return self.unroll if self.is_learned else 0

    @property
    def name(self) -> str:
        """Short name: ``"muzero"``, or ``"alphazero"`` if the search uses the rules."""
        return "muzero" if self.is_learned else "alphazero"

    def epsilon_after(self, _n_games: int) -> float:
        """Return the probability of a random action after the opening. It does not depend on the number of games."""
        return self.epsilon

    def shape_for(self, vector: VectorGame) -> ModelShape:
        """Return the shape of the networks for a game. Raise `LearnError` if the method does not support the game."""
        if not is_duel(vector):
            raise LearnError(f"muzero: {vector.game.name} is not a zero-sum game of two players without chance")
        if not isinstance(vector, VectorBoardGame):
            raise LearnError(f"muzero: players of {vector.game.name} do not see its whole state")
        self.check_filters(vector)
        return ModelShape(tuple(vector.feature_shape), self.filters, self.width, vector.n_moves)
