"""Base classes of the environments: many simultaneous games for one learner, a single game, and several learners."""

from abc import abstractmethod
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from punish_fast.runtime.errors import ArgumentError, check_allowed, is_whole, shown

Info = dict[str, Any]


class BatchEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many simultaneous games for one learner. Subclasses implement the rules."""

    def __init__(
        self,
        num_envs: int,
        observation_space: spaces.Box,
        n_actions: int,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        modes = [mode.value for mode in AutoresetMode]
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        check_allowed(mode in modes, ArgumentError, "autoreset_mode", shown(mode), " or ".join(modes))
        check_allowed(is_whole(num_envs, 1, 2**31), ArgumentError, "num_envs", shown(num_envs), "an integer from 1")
        self.num_envs, self._mode = num_envs, AutoresetMode(mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = observation_space, spaces.Discrete(n_actions)
        self.observation_space = batch_space(observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begin(int(self.np_random.integers(2**63)))
        self._was_over = np.zeros(num_envs, dtype=np.bool_)  # games that ended in an earlier step

    @abstractmethod
    def _begin(self, seed: int) -> None:
        """Begin new games with a random seed."""

    @abstractmethod
    def _restart(self, which: np.ndarray) -> None:
        """Replace the games in ``which``, bool ``[num_envs]``."""

    @abstractmethod
    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Advance all games that are not over to the learner's next decision.

        Return a new mask of the games that are over, bool ``[num_envs]``, and the learner's rewards in these games,
        ``[num_envs]``.
        """

    @abstractmethod
    def _observe(self) -> tuple[np.ndarray, np.ndarray]:
        """Return new observations and a new mask of the learner's legal actions, bool ``[num_envs, n_actions]``."""

    def action_masks(self) -> np.ndarray:
        """Return a mask of the learner's legal actions, bool ``[num_envs, n_actions]``."""
        return self._observe()[1]

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[np.ndarray, Info]:
        """Begin new games.

        Args:
            seed: Random seed. By default, continue the random numbers of the previous games, as always if only some
                games are replaced.
            options: ``{"reset_mask": mask}`` replaces only the games in ``mask``, bool ``[num_envs]``.

        Returns:
            Observations, and a dictionary whose entry ``"action_mask"`` is a mask of the legal actions, int8
            ``[num_envs, n_actions]``.

        Raises:
            ArgumentError: If the mask is invalid.
        """
        which = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        is_mask = which.shape == (self.num_envs,) and which.dtype == np.bool_
        check_allowed(is_mask, ArgumentError, "reset_mask", f"{which.dtype} {which.shape}", f"bool ({self.num_envs},)")
        super().reset(seed=seed)
        if seed is not None and which.all():
            self._begin(int(self.np_random.integers(2**63)))
        else:
            self._restart(which)
        self._was_over &= ~which
        return self._seen()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Info]:
        """Take an action in each game.

        Args:
            actions: Integer ``[num_envs]``. Entries of games that this step resets are ignored.

        Returns:
            Observations, rewards (1 for a win, -1 for a loss, otherwise 0), masks of the games that have ended and of
            truncated games (none), and the masks of legal actions as in `reset`.

        Raises:
            ArgumentError: If a game is over and not reset automatically.
            ValueError: If an action is illegal. The message contains the game, the action and the legal actions.
        """
        was_over, info = self._was_over, {}
        if self._mode is AutoresetMode.DISABLED and was_over.any():
            raise ArgumentError(f"step: game {was_over.argmax()} is over; call reset first")
        over, rewards = self._advance(actions)
        over &= ~was_over
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            (last, _), final = self._observe(), np.full(self.num_envs, None, dtype=object)
            for game in np.flatnonzero(over):
                final[game] = last[game]
            info = {"final_obs": final, "_final_obs": over.copy(), "final_info": {}, "_final_info": over.copy()}
            self._restart(over)
        elif was_over.any():
            self._restart(was_over)
        self._was_over = over & (self._mode is not AutoresetMode.SAME_STEP)
        observations, masks = self._seen()
        return observations, np.where(over, rewards, 0.0), over, np.zeros_like(over), info | masks

    def _seen(self) -> tuple[np.ndarray, Info]:
        observations, masks = self._observe()
        return observations, {"action_mask": masks.view(np.int8)}


class OneGameEnv(gymnasium.Env[np.ndarray, int]):
    """One game for one learner.

    Subclasses pass a `BatchEnv` of a single game without automatic reset.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - an instance attribute of gymnasium.Env

    def __init__(self, games: BatchEnv) -> None:
        self.games = games
        self.observation_space, self.action_space = games.single_observation_space, games.single_action_space

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[np.ndarray, Info]:
        """Begin a new game.

        Args:
            seed: Random seed. By default, continue the random numbers of the previous game.
            options: Not used.

        Returns:
            Observation, and a dictionary whose entry ``"action_mask"`` is a mask of the legal actions, int8
            ``[n_actions]``.
        """
        super().reset(seed=seed, options=options)
        observations, info = self.games.reset(seed=seed)
        return observations[0], {"action_mask": info["action_mask"][0]}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, Info]:
        """Take an action.

        Args:
            action: A legal action.

        Returns:
            Observation, reward (1 for a win, -1 for a loss, otherwise 0), True if the game is over, False (games are
            not truncated), and the mask of legal actions as in `reset`.

        Raises:
            ArgumentError: If the game is over.
            ValueError: If the action is illegal. The message contains the action and the legal actions.
        """
        observations, rewards, over, _, info = self.games.step(np.asarray(action)[np.newaxis])
        return observations[0], float(rewards[0]), bool(over[0]), False, {"action_mask": info["action_mask"][0]}

    def action_masks(self) -> np.ndarray:
        """Return a mask of the legal actions, bool ``[n_actions]``."""
        return np.asarray(self.games.action_masks()[0])


class SeveralLearners:
    """Names and spaces of the players in an environment of PettingZoo.

    Observations are dictionaries with an ``"observation"`` and an ``"action_mask"``.
    """

    possible_agents: list[str]
    agents: list[str]
    render_mode: str | None = None

    def _name_players(self, n_players: int, observation: spaces.Box, n_actions: int) -> None:
        self.possible_agents, self.agents = [f"player_{seat}" for seat in range(n_players)], []
        masked = spaces.Dict({"observation": observation, "action_mask": spaces.MultiBinary(n_actions)})
        # Each player has spaces of its own, because users seed spaces separately.
        self._spaces = {name: (deepcopy(masked), spaces.Discrete(n_actions)) for name in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of a player's observations.

        Args:
            agent: Name of the player.

        Returns:
            The space.
        """
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of a player's actions.

        Args:
            agent: Name of the player.

        Returns:
            The space.
        """
        return self._spaces[agent][1]
