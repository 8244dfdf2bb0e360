"""Many games that are played simultaneously, from decision to decision, for learners and other programs."""

from typing import Any, cast

import numpy as np

from punish_fast.games.contract import CHANCE, Game, GameError, VectorChanceGame
from punish_fast.games.enumeration.vector_games import as_array, checked_actions
from punish_fast.games.episodes import drawn_actions
from punish_fast.games.registry import vector_game
from punish_fast.runtime.errors import check_allowed, is_whole, shown
from punish_fast.runtime.limits import require_memory


class RunningGames:
    """Games that run simultaneously. Chance events are drawn, so a player is to move in each game that is not over.

    The seed and the actions determine all games.

    Attributes:
        game: Rules of the game.
    """

    def __init__(self, game: Game, n_games: int, seed: int = 0) -> None:
        """Begin all games.

        Args:
            game: Game from `make_game`.
            n_games: Number of games, at least 1.
            seed: Random seed of the chance events, 0 to 2^64 - 1.

        Raises:
            GameError: If a number is out of range.
            MemoryError: If the games do not fit in memory.

        Examples:
            >>> import numpy as np
            >>> from punish_fast.games import RunningGames, make_game
            >>> games = RunningGames(make_game("connect4"), n_games=3)
            >>> games.step(np.array([3, 3, 0]))
            >>> games.player.tolist(), games.legal[0].all().item(), games.is_over.any().item()
            ([1, 1, 1], True, False)
        """
        check_allowed(is_whole(n_games, 1, 2**31), GameError, "n_games", shown(n_games), "an integer from 1 to 2^31")
        check_allowed(is_whole(seed, 0, 2**64 - 1), GameError, "seed", shown(seed), "an integer from 0 to 2^64 - 1")
        self.game, self._vector = game, vector_game(game)
        require_memory(8 * self._vector.n_words * n_games, f"{n_games:,} games")
        self._states = self._vector.initial(n_games)
        self._generator = np.random.default_rng(seed)
        self._player = np.zeros(len(self), dtype=np.int8)
        self._legal = np.zeros((len(self), self._vector.n_moves), dtype=np.bool_)
        self._is_over = np.zeros(len(self), dtype=np.bool_)
        self._returns = np.zeros((len(self), game.n_players), dtype=np.float32)
        self.restart()

    def __len__(self) -> int:
        return len(self._states)

    @property
    def states(self) -> np.ndarray:
        """Encoded states, uint64 ``[n_games, n_words]``."""
        return self._states.copy()

    @property
    def player(self) -> np.ndarray:
        """Player to move in each game, int8 ``[n_games]``. Meaningless for games that are over."""
        return self._player.copy()

    @property
    def legal(self) -> np.ndarray:
        """Mask of the legal actions, bool ``[n_games, n_moves]``, all False in games that are over."""
        return self._legal.copy()

    @property
    def is_over(self) -> np.ndarray:
        """Mask of the games that are over, bool ``[n_games]``."""
        return self._is_over.copy()

    @property
    def returns(self) -> np.ndarray:
        """Returns of all players, float32 ``[n_games, n_players]``, 0 in games that are not over."""
        return self._returns.copy()

    def features(self) -> np.ndarray:
        """Return the features of the states for the players to move, float32 ``[n_games, n_features]``.

        Examples:
            >>> from punish_fast.games import RunningGames, make_game
            >>> RunningGames(make_game("tictactoe"), n_games=2).features().sum().item()
            0.0
        """
        return self._vector.features(self._states)

    def restart(self, which: np.ndarray | None = None) -> None:
        """Begin new games.

        Args:
            which: bool ``[n_games]``, True for each game to replace. By default, replace all games.

        Raises:
            GameError: If the mask is invalid.

        Examples:
            >>> import numpy as np
            >>> from punish_fast.games import RunningGames, make_game
            >>> games = RunningGames(make_game("connect4"), n_games=2)
            >>> games.step([3, 3])
            >>> games.restart(np.array([True, False]))
            >>> games.player.tolist()
            [0, 1]
        """
        rows = np.flatnonzero(self._mask(which, np.ones(len(self), dtype=np.bool_)))
        self._states[rows] = self._vector.initial(len(rows))
        self._is_over[rows], self._returns[rows] = False, 0.0
        self._draw_chance(rows)

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Take an action in each game, then draw chance events until a player is to move.

        Args:
            actions: Integer ``[n_games]``, action of the player to move in each game. Entries of games that do not move
                are ignored.
            which: bool ``[n_games]``, True for each game that moves. By default, all games that are not over move.

        Raises:
            GameError: If an argument has the wrong shape or type, or an action is illegal. No game is changed.

        Examples:
            >>> from punish_fast.games import RunningGames, make_game
            >>> games = RunningGames(make_game("gwent"), n_games=2, seed=0)
            >>> games.step([0, 0])  # pass
            >>> games.legal.sum(axis=1).tolist()
            [11, 11]
        """
        moves = self._mask(which, ~self._is_over)
        chosen = checked_actions(actions, self._legal, "game", ~moves)
        rows = np.flatnonzero(moves)
        self._advance(rows, chosen[rows])
        self._draw_chance(rows)

    def _mask(self, which: Any, default: np.ndarray) -> np.ndarray:
        mask = default if which is None else as_array(which)
        if mask.shape != (len(self),) or mask.dtype != np.bool_:
            raise GameError(f"which: {mask.dtype} {mask.shape} is not allowed; it must be bool ({len(self)},)")
        return mask

    def _advance(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self._states[rows], self._returns[rows], self._is_over[rows] = self._vector.advance(self._states[rows], actions)

    def _draw_chance(self, rows: np.ndarray) -> None:
        """Draw chance events in the given games, then update the players to move and the legal actions."""
        drawn = rows
        while len(drawn):
            self._player[drawn] = player = self._vector.player(self._states[drawn])
            drawn = drawn[(player == CHANCE) & ~self._is_over[drawn]]
            if len(drawn):
                shares = cast(VectorChanceGame, self._vector).probabilities(self._states[drawn])
                self._advance(drawn, drawn_actions(shares, self._generator))
        self._legal[rows] = self._vector.legal(self._states[rows])
