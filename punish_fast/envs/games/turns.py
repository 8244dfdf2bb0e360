"""Other games as environments of PettingZoo, in which all players take turns."""

from typing import Any

import numpy as np
from pettingzoo import AECEnv

from punish_fast.envs.batch import Info, SeveralLearners
from punish_fast.envs.games.vector import features_space
from punish_fast.games.contract import CHANCE, GameError
from punish_fast.games.registry import make_game, vector_game
from punish_fast.runtime.errors import check_allowed, shown


class GameAECEnv(SeveralLearners, AECEnv[str, Info, Any]):
    """A game of learners ``"player_0"``, ``"player_1"`` and so on, who move one after another.

    Observations are dictionaries with the ``"observation"`` and the ``"action_mask"`` of the player to move, and zeros
    for all other players. Simultaneous decisions are made one after another, without knowing the others.

    Attributes:
        game: Rules of the game.
    """

    metadata = {"name": "punish_fast_games_v0", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, game: str, render_mode: str | None = None, **options: Any) -> None:
        """Build the game, and begin it with a random seed.

        Args:
            game: ``"tapnswap"``, ``"tictactoe"``, ``"connect4"``, ``"incan-gold"`` or ``"gwent"``.
            render_mode: ``"ansi"`` for `render` to return the state as text, including hidden cards.
            **options: Options of the rules, such as ``limit`` for TapnSwap.

        Raises:
            GameError: If the game, the render mode or an option is invalid.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> game = GameAECEnv("tictactoe", render_mode="ansi")
            >>> game.reset(seed=0)
            >>> for square in (4, 0):
            ...     game.step(square)
            >>> game.agent_selection, game.render()
            ('player_0', 'O../.X./...')
        """
        check_allowed(render_mode in (None, "ansi"), GameError, "render_mode", shown(render_mode), "None or 'ansi'")
        self.game, self.render_mode = make_game(game, options), render_mode
        vector = vector_game(self.game)
        self._n_actions, self._shape = vector.n_moves, vector.feature_shape
        self._name_players(self.game.n_players, features_space(vector), self._n_actions)
        self._random = np.random.default_rng()
        self.reset()

    def reset(self, seed: int | None = None, options: Info | None = None) -> None:  # noqa: ARG002
        """Begin a new game.

        Args:
            seed: Random seed of chance events. By default, continue the random numbers of the previous game.
            options: Not used.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> game = GameAECEnv("connect4")
            >>> game.reset(seed=0)
            >>> game.agent_selection
            'player_0'
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents = self.possible_agents.copy()
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self._state = self.game.initial()
        self._draw_chance()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return the features and the mask of legal actions of the player to move, and zeros for all other players.

        Args:
            agent: Name of the player.

        Returns:
            ``"observation"``, float32, and ``"action_mask"``, int8 ``[n_actions]``.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> game = GameAECEnv("connect4")
            >>> game.reset(seed=0)
            >>> game.observe("player_0")["action_mask"].tolist(), game.observe("player_1")["action_mask"].tolist()
            ([1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0])
        """
        features, mask = np.zeros(self._shape, np.float32), np.zeros(self._n_actions, np.int8)
        if agent == self.agent_selection and not self.terminations[agent]:
            features[:] = self.game.features(self._state).reshape(self._shape)
            mask[list(self.game.actions(self._state))] = 1
        return {"observation": features, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Take an action for the player to move.

        Args:
            action: A legal action. After the end of the game, None.

        Raises:
            GameError: If the action is illegal. No state is changed.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> game = GameAECEnv("connect4")
            >>> game.reset(seed=0)
            >>> game.step(3)
            >>> game.agent_selection
            'player_1'
        """
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.game.check_action(self._state, -1 if action is None else action)
        self._state = self.game.apply(self._state, int(action or 0))
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self._draw_chance()
        if self.game.is_terminal(self._state):
            returns = map(float, self.game.returns(self._state))
            self.rewards = dict(zip(self.possible_agents, returns, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def _draw_chance(self) -> None:
        """Draw chance events, and select the player to move."""
        game = self.game
        while game.player(self._state) == CHANCE and not game.is_terminal(self._state):
            p = np.asarray(game.probabilities(self._state))
            self._state = game.apply(self._state, int(self._random.choice(game.actions(self._state), p=p / p.sum())))
        self.agent_selection = self.possible_agents[max(game.player(self._state), 0)]
        masks = {name: self.observe(name)["action_mask"] for name in self.agents}
        self.infos = {name: {"action_mask": mask} for name, mask in masks.items()}

    def render(self) -> str | None:
        """Return the state as text if the render mode is ``"ansi"``, otherwise None.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> game = GameAECEnv("connect4", render_mode="ansi")
            >>> game.reset(seed=0)
            >>> game.render()[:15]
            '......./.......'
        """
        return self.game.text(self._state) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing, because the game holds no resources. PettingZoo requires this method of games with `render`.

        Examples:
            >>> from punish_fast.envs import GameAECEnv
            >>> GameAECEnv("connect4").close()
        """
