"""Hyperparameters of learning methods, declared with defaults, allowed values and descriptions."""

from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Self

from punish_fast.games.contract import VectorGame
from punish_fast.games.registry import GAMES
from punish_fast.runtime.errors import PunishFastError, brief, is_number, is_whole

MAX_GAMES = 1 << 48
LAST_SEED = (1 << 63) - 1
_MAX_LAYERS = 8
# Lower limit of ranges that exclude 0.
TINY = 1e-9
# Number of axes of board features (planes, rows and columns), and minimum number of rows and columns of a large board,
# for which networks have filters by default.
_N_AXES, _LEAST_SIDE = 3, 4


class LearnError(PunishFastError, ValueError):
    """Raised for an invalid hyperparameter, plan or learner. The message states the reason."""


def hyperparameter(default: Any, allowed: Any, about: str) -> Any:
    """Declare a field of a `CheckedMethod`.

    Args:
        default: Default value.
        allowed: For a string, a tuple of the allowed strings. For a number, the inclusive limits (two integers for an
            integer), followed by None if the value may be None. For a tuple of layer sizes, the maximum size.
        about: Description, printed by `games methods`.
    """
    return field(default=default, metadata={"allowed": allowed, "about": about})


@dataclass(frozen=True)
class CheckedMethod:
    """Base class of learning methods; raises `LearnError` on construction if a hyperparameter is not allowed."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not _is_allowed(value, each.metadata["allowed"]):
                raise LearnError(f"{each.name}: {brief(value)} is not allowed; it must be {allowed_text(each)}")

    @classmethod
    def of(cls, mapping: Any) -> Self:
        """Build a method from a mapping, as returned by `dataclasses.asdict`; lists are converted to tuples."""
        names = [each.name for each in fields(cls)]
        if not isinstance(mapping, dict) or sorted(mapping) != sorted(names):
            raise LearnError(f"method: {brief(mapping)} is not allowed; it must have {', '.join(names)}")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in mapping.items()})


class NetworkMethod(CheckedMethod):
    """Base class of learning methods that train networks."""

    of_boards: ClassVar[dict[str, Any]]  # default hyperparameters for games with large boards
    of_games: ClassVar[str]  # name of the field of `GameEntry` with default hyperparameters for a game
    filters: Any

    @classmethod
    def for_game(cls, vector: VectorGame, **given: Any) -> Self:
        """Return a method with the given values; the others have the game's defaults, such as filters for large boards.

        Defaults in the game's `GameEntry` take precedence over those for large boards.
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
    return vector.game.n_players == 2 and vector.game.is_zero_sum and not hasattr(vector, "probabilities")


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
