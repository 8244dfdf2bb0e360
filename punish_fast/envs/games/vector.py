"""Other games as environments of Gymnasium: one learner against opponents, in many games or in one."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from punish_fast.envs.batch import BatchEnv, OneGameEnv
from punish_fast.games.contract import Game, GameError, Mover, VectorGame
from punish_fast.games.episodes import random_mover
from punish_fast.games.registry import make_game, vector_game
from punish_fast.games.running_games import RunningGames
from punish_fast.runtime.errors import check_allowed, is_whole, shown


def features_space(vector: VectorGame) -> spaces.Box:
    """Return the space of a game's features. Most features are at most 1."""
    return spaces.Box(0.0, 2.0, vector.feature_shape, np.float32)


def _mover(opponent: Mover | str, game: Game) -> Mover:
    if not isinstance(opponent, str):
        return opponent
    from punish_fast.games.evaluated_agents import agents_of
    from punish_fast.games.learn.agent_file import load_as
    from punish_fast.games.learn.dqn import DqnLearner

    movers = agents_of(
        opponent, game, {"random": random_mover}.__getitem__, "random", lambda path: load_as(path, DqnLearner, game)
    )
    # Networks play at first greedily, then by softmax.
    return movers[0 if game.is_open else -1][1]


class GameVectorEnv(BatchEnv):
    """Many simultaneous games of one learner against opponents.

    Opponents and chance move until the learner is to move. Observations are the features of the game for the learner
    or, in a game that is over, for the player who would move next.

    Attributes:
        game: Rules of the game.
    """

    def __init__(
        self,
        num_envs: int = 1,
        game: str = "connect4",
        opponent: Mover | str = "random",
        seat: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        """Build the games.

        Args:
            num_envs: Number of games.
            game: ``"tapnswap"``, ``"tictactoe"``, ``"connect4"``, ``"incan-gold"`` or ``"gwent"``.
            opponent: Player in all other seats: ``"random"``, ``"trained"`` (the network in the package), the file of a
                Q-network, or a function of encoded states, masks of legal actions and a random generator that returns
                actions.
            seat: Seat of the learner, from 0. By default, the seats are drawn at random.
            autoreset_mode: Automatic reset: ``"NextStep"``, ``"SameStep"`` or ``"Disabled"``.
            **options: Options of the rules, such as ``limit`` for TapnSwap.

        Raises:
            ArgumentError: If ``num_envs`` or ``autoreset_mode`` is invalid.
            GameError: If the game, an option, the opponent or the seat is invalid.
            ReadError: If the opponent's file is invalid or is for another game.

        Examples:
            >>> from punish_fast.envs import GameVectorEnv
            >>> games = GameVectorEnv(num_envs=3, game="tictactoe", seat=0)
            >>> observations, info = games.reset(seed=0)
            >>> observations.shape, info["action_mask"][0].tolist()
            ((3, 2, 3, 3), [1, 1, 1, 1, 1, 1, 1, 1, 1])
        """
        self.game = make_game(game, options)
        vector, self._seat = vector_game(self.game), seat
        self._opponent = _mover(opponent, self.game)
        last = self.game.n_players - 1
        is_seat = seat is None or is_whole(seat, 0, last)
        check_allowed(is_seat, GameError, "seat", shown(seat), f"an integer from 0 to {last}")
        super().__init__(num_envs, features_space(vector), vector.n_moves, autoreset_mode)

    def _begin(self, seed: int) -> None:
        self._random = np.random.default_rng([seed, 1])  # not the random numbers of chance events
        self._games = RunningGames(self.game, self.num_envs, seed)
        self._seats = np.zeros(self.num_envs, dtype=np.int8)
        self._restart(np.ones(self.num_envs, dtype=np.bool_))

    def _restart(self, which: np.ndarray) -> None:
        self._games.restart(which)
        n, n_players = int(which.sum()), self.game.n_players
        self._seats[which] = self._random.integers(n_players, size=n) if self._seat is None else self._seat
        self._move_opponents()

    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._games.step(actions)
        self._move_opponents()
        return self._games.is_over, self._games.returns[np.arange(self.num_envs), self._seats]

    def _move_opponents(self) -> None:
        """Move for the opponents until the learner is to move in all games that are not over."""
        games = self._games
        while (waits := (games.player != self._seats) & ~games.is_over).any():
            actions = np.zeros(self.num_envs, dtype=np.int64)
            actions[waits] = self._opponent(games.states[waits], games.legal[waits], self._random)
            games.step(actions, waits)

    def _observe(self) -> tuple[np.ndarray, np.ndarray]:
        return self._games.features().reshape(self.observation_space.shape), self._games.legal


class GameEnv(OneGameEnv):
    """One game of one learner against opponents.

    Attributes:
        games: The game, as an environment of one game.
    """

    def __init__(
        self, game: str = "connect4", opponent: Mover | str = "random", seat: int | None = None, **options: Any
    ) -> None:
        """Build the game.

        Args:
            game: ``"tapnswap"``, ``"tictactoe"``, ``"connect4"``, ``"incan-gold"`` or ``"gwent"``.
            opponent: Player in all other seats: ``"random"``, ``"trained"`` (the network in the package), the file of a
                Q-network, or a function of encoded states, masks of legal actions and a random generator that returns
                actions.
            seat: Seat of the learner, from 0. By default, the seats are drawn at random.
            **options: Options of the rules, such as ``limit`` for TapnSwap.

        Raises:
            GameError: If the game, an option, the opponent or the seat is invalid.
            ReadError: If the opponent's file is invalid or is for another game.

        Examples:
            >>> from punish_fast.envs import GameEnv
            >>> game = GameEnv("tapnswap", limit=3)
            >>> observation, info = game.reset(seed=1)
            >>> observation.shape, info["action_mask"].tolist()
            ((12,), [0, 1, 0, 0, 1, 0])
        """
        super().__init__(GameVectorEnv(1, game, opponent, seat, AutoresetMode.DISABLED, **options))
