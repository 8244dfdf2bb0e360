"""Other games of this package as games of OpenSpiel.

In games with simultaneous decisions, players decide one after another without seeing each other's decisions. An
information state string is the text of `Game.known_to`, followed by the player to move. It does not contain past states
that no longer matter, so games with hidden cards have imperfect recall.
"""

from functools import partial
from typing import Any

from punish_fast.envs.open_spiel import TERMINAL, SpielGame, load_registered
from punish_fast.games.contract import VectorChanceGame
from punish_fast.games.registry import entry_of, make_game, vector_game

# Maximum number of actions in a game, far above the length of random games.
_MOST_ACTIONS = 10_000


class _GameState:
    """Methods of OpenSpiel for a state of a game."""

    def begin(self, game: SpielGame) -> None:
        self._game, self._now = game, game.rules.initial()

    def current_player(self) -> int:
        return TERMINAL if self._game.rules.is_terminal(self._now) else self._game.rules.player(self._now)

    def _legal_actions(self, player: int) -> list[int]:
        return list(self._game.rules.actions(self._now)) if player == self.current_player() else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        shares = [float(p) for p in self._game.rules.probabilities(self._now)]
        return list(zip(self._game.rules.actions(self._now), shares, strict=True))

    def _apply_action(self, action: int) -> None:
        self._now = self._game.rules.apply(self._now, action)

    def returns(self) -> list[float]:
        return [float(value) for value in self._game.rules.returns(self._now)]

    def information_state_string(self, player: int) -> str:
        return f"{self._game.rules.text(self._game.rules.known_to(self._now, player))} {self.current_player()}"

    def _action_to_string(self, player: int, action: int) -> str:  # noqa: ARG002 - a state has one player to move
        return str(self._game.rules.action_text(self._now, action))


def _describe(name: str, **options: Any) -> SpielGame:
    game = make_game(name, options)
    n_outcomes = game.n_actions if isinstance(vector_game(game), VectorChanceGame) else 0
    known = {"is_open": game.is_open, "is_zero_sum": game.is_zero_sum}
    return SpielGame(game.variant_text(), game, game.n_players, game.n_actions, n_outcomes, _MOST_ACTIONS, **known)


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
    short = f"punish_fast_{name.replace('-', '_')}"
    return load_registered(short, entry_of(name).options, options, partial(_describe, name), _GameState)
