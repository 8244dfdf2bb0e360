"""Games other than Punish: rules, exact solvers, players and learners."""

from punish_fast.runtime.exports import on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from punish_fast.games.contract import Game, GameError, MoveValue
    from punish_fast.games.enumeration.retrograde import RetrogradeOracle
    from punish_fast.games.registry import make_game
    from punish_fast.games.running_games import RunningGames
    from punish_fast.runtime.events import Event

__all__ = ["Event", "Game", "GameError", "MoveValue", "RetrogradeOracle", "RunningGames", "make_game"]

__getattr__ = on_first_use(__name__)
