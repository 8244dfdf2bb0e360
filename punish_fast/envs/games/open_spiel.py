"""Other games of this package as games of OpenSpiel.

In games with simultaneous decisions, players decide one after another without seeing each other's decisions. An
information state string is the text of `Game.known_to`, followed by the player to move. It does not contain past states
that no longer matter, so games with hidden cards have imperfect recall. The observation tensor of a player who is not
to move contains zeros.
"""

import inspect
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from punish_fast.envs.open_spiel import TERMINAL, SpielGame, import_pyspiel, register
from punish_fast.games.contract import Game, VectorChanceGame
from punish_fast.games.registry import entry_of, make_game, vector_game

# Maximum number of actions in a game, far above the length of random games.
_MOST_ACTIONS = 10_000


class _GamePosition(NamedTuple):
    """State of a game."""

    game: Game
    state: Any

    def __deepcopy__(self, memo: object) -> "_GamePosition":
        return self

    @property
    def player(self) -> int:
        return TERMINAL if self.game.is_terminal(self.state) else self.game.player(self.state)

    def legal(self, player: int) -> list[int]:
        return list(self.game.actions(self.state)) if player == self.player else []

    def probabilities(self) -> list[float]:
        return [float(p) for p in self.game.probabilities(self.state)]

    def after(self, *actions: int) -> "_GamePosition":
        return self._replace(state=self.game.apply(self.state, actions[0]))

    def returns(self) -> list[float]:
        return [float(value) for value in self.game.returns(self.state)]

    def information(self, player: int) -> str:
        state = self.state if player < 0 else self.game.known_to(self.state, player)
        return f"{self.game.text(state)} {self.player}"

    def features(self, player: int) -> np.ndarray:
        if player != self.player:
            return np.zeros(self.game.n_features, dtype=np.float32)
        return self.game.features(self.game.known_to(self.state, player))

    def action_text(self, player: int, action: int) -> str:  # noqa: ARG002 - a state has one player to move
        return self.game.action_text(self.state, action)


def _describe(name: str, **options: Any) -> SpielGame:
    game = make_game(name, options)
    return SpielGame(
        title=game.variant_text(),
        start=_GamePosition(game, game.initial()),
        n_players=game.n_players,
        n_actions=game.n_actions,
        n_outcomes=game.n_actions if isinstance(vector_game(game), VectorChanceGame) else 0,
        n_features=game.n_features,
        most_actions=_MOST_ACTIONS,
        is_open=game.is_open,
        is_zero_sum=game.is_zero_sum,
    )


@cache
def _register(name: str) -> str:
    options = inspect.signature(entry_of(name).variant_of).parameters.values()
    short = f"punish_fast_{name.replace('-', '_')}"
    register(short, {each.name: each.default for each in options}, partial(_describe, name))
    return short


def load_game(name: str, **options: Any) -> Any:
    """Return a game of `punish_fast.games` as a game of OpenSpiel.

    The game is also registered with OpenSpiel under its name after ``punish_fast_``, such as
    ``punish_fast_incan_gold``.

    Args:
        name: Name of the game, such as ``"tictactoe"`` or ``"incan-gold"``.
        **options: Options of the game, such as ``limit=4`` for ``"tapnswap"``.

    Returns:
        The game, a ``pyspiel.Game`` with sequential moves.

    Raises:
        ExtraError: If OpenSpiel is not installed.
        GameError: If the game or an option is unknown, or a value is not allowed.

    Examples:
        >>> from punish_fast.envs.games.open_spiel import load_game
        >>> state = load_game("tictactoe").new_initial_state()  # needs OpenSpiel
        >>> state.apply_action(4)
        >>> state.current_player(), state.legal_actions()
        (1, [0, 1, 2, 3, 5, 6, 7, 8])
    """
    make_game(name, options)  # Raises errors with the names of the options
    return import_pyspiel().load_game(_register(name), options)
