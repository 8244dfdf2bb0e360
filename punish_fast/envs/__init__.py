"""Environments of Gymnasium and PettingZoo, and games of OpenSpiel: Punish against a player, and all other games.

Importing this package registers the environments ``punish_fast/Punish-v0``, ``TapnSwap-v0``, ``TicTacToe-v0``,
``Connect4-v0``, ``IncanGold-v0`` and ``Gwent-v0`` of the same namespace with Gymnasium.
"""

from punish_fast.runtime.errors import are_installed, require
from punish_fast.runtime.exports import on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from punish_fast.envs.games.open_spiel import load_game
    from punish_fast.envs.games.turns import GameAECEnv
    from punish_fast.envs.games.vector import GameEnv, GameVectorEnv
    from punish_fast.envs.open_spiel import load_punish, spiel_policy
    from punish_fast.envs.punish import PunishEnv, PunishParallelEnv, PunishVectorEnv

__all__ = ["GameAECEnv", "GameEnv", "GameVectorEnv", "PunishEnv", "PunishParallelEnv", "PunishVectorEnv"]
_NEEDS_GYMNASIUM = tuple(__all__)
__all__ += ["load_game", "load_punish", "spiel_policy"]

# Registered names, and the names of the games in `punish_fast.games`.
_GAMES = {"TapnSwap": "tapnswap", "TicTacToe": "tictactoe", "Connect4": "connect4"}
_GAMES |= {"IncanGold": "incan-gold", "Gwent": "gwent"}

_find = on_first_use(__name__)


def __getattr__(name: str) -> object:
    if name in _NEEDS_GYMNASIUM:
        require("gymnasium", "pettingzoo")
    return _find(name)


def _register(name: str, kind: str, **options: str) -> None:
    from gymnasium.envs.registration import register

    # `__getattr__` reports missing packages.
    single, vector = f"{__name__}:{kind}Env", f"{__name__}:{kind}VectorEnv"
    register(f"punish_fast/{name}-v0", single, vector_entry_point=vector, kwargs=options)


if are_installed("gymnasium"):
    _register("Punish", "Punish")
    for _name, _game in _GAMES.items():
        _register(_name, "Game", game=_game)
