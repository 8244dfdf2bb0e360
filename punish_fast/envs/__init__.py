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

# Registered names, and arguments of the environments.
_GAMES = {"Punish": {}, "TapnSwap": {"game": "tapnswap"}, "TicTacToe": {"game": "tictactoe"}}
_GAMES |= {"Connect4": {"game": "connect4"}, "IncanGold": {"game": "incan-gold"}, "Gwent": {"game": "gwent"}}

_find = on_first_use(__name__)


def __getattr__(name: str) -> object:
    if name in _NEEDS_GYMNASIUM:
        require("gymnasium", "pettingzoo")
    return _find(name)


if are_installed("gymnasium"):
    from gymnasium.envs.registration import register as _register

    for _name, _options in _GAMES.items():
        _kind = "Game" if _options else "Punish"
        # `__getattr__` reports missing packages.
        _single, _vector = f"{__name__}:{_kind}Env", f"{__name__}:{_kind}VectorEnv"
        _register(f"punish_fast/{_name}-v0", _single, vector_entry_point=_vector, kwargs=_options)
