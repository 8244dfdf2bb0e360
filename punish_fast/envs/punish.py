"""Punish as environments of Gymnasium and PettingZoo."""

from functools import lru_cache

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from pettingzoo import ParallelEnv

from punish_fast.arena.players import Player, PlayerError, require_support
from punish_fast.duel.batch import GameBatch
from punish_fast.duel.graph import GameGraph
from punish_fast.envs.batch import BatchEnv, Info, OneGameEnv, SeveralLearners
from punish_fast.punish.encoding import Encoding, encode
from punish_fast.punish.rules import Rules, load_rules, true_rules
from punish_fast.punish.states.space import StateSpace
from punish_fast.runtime.errors import ArgumentError, check_allowed, shown


@lru_cache(maxsize=2)
def _tables(rules: Rules, information: str) -> tuple[GameGraph, Encoding, spaces.Box]:
    """Return the graph of a game, the encoding of its states and the space of observations."""
    encoding = encode(StateSpace(rules, information))
    return GameGraph(encoding.space), encoding, spaces.Box(0, encoding.maximum, dtype=np.uint8)


def _rules_of(rules: Rules | str | None, player: Player) -> Rules:
    """Return the rules of a game with the true redeal. Raise an error if the player does not support them."""
    given = load_rules(rules) if isinstance(rules, str) else rules
    chosen = true_rules(given or player.rules or load_rules("tabletop"))
    require_support(player, chosen)
    return chosen


class PunishVectorEnv(BatchEnv):
    """Many simultaneous games of Punish against one opponent.

    `punish_fast.encode` describes the observations and the actions.

    Attributes:
        encoding: Names of the columns of observations and of the actions.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str = "veteran",
        rules: Rules | str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Build the games.

        Args:
            num_envs: Number of games.
            opponent: Built-in player, or file of an agent or strategy. The suffix ``@T`` sets a temperature.
            rules: Rules, the name of a preset, or a file. By default, the rules of the opponent's file, otherwise
                ``"tabletop"``.
            autoreset_mode: Automatic reset: ``"NextStep"``, ``"SameStep"`` or ``"Disabled"``.

        Raises:
            ArgumentError: If ``num_envs`` or ``autoreset_mode`` is invalid.
            PlayerError: If the opponent is unknown or not a text.
            ReadError: If the opponent's file is invalid or does not match the rules.
            RulesError: If the rules are invalid or the opponent does not support them.

        Examples:
            >>> from punish_fast.envs import PunishVectorEnv
            >>> games = PunishVectorEnv(num_envs=3, opponent="naive", rules="tiny")
            >>> observations, info = games.reset(seed=0)
            >>> observations.shape, info["action_mask"].shape
            ((3, 18), (3, 11))
            >>> observations, rewards, over, _, info = games.step(info["action_mask"].argmax(axis=1))
        """
        kind, allowed = type(opponent).__name__, "a built-in player or a file"
        check_allowed(isinstance(opponent, str), PlayerError, "opponent", kind, allowed)
        player = Player(opponent)
        self._graph, self.encoding, observations = _tables(_rules_of(rules, player), player.information)
        self._policy = player.policy(self._graph.space)
        super().__init__(num_envs, observations, len(self.encoding.actions), autoreset_mode)

    def _begin(self, seed: int) -> None:
        self._games = GameBatch(self._graph, self.num_envs, seed)

    def _restart(self, which: np.ndarray) -> None:
        self._games.deal(which)

    def _advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._games.step(actions, self._games.sample(self._policy, seat=1))
        return self._games.is_over, self._games.result

    def _observe(self) -> tuple[np.ndarray, np.ndarray]:
        states = self._games.observe(seat=0)
        return self.encoding.features[states], self.encoding.mask[states]


class PunishEnv(OneGameEnv):
    """One game of Punish against an opponent."""

    def __init__(self, opponent: str = "veteran", rules: Rules | str | None = None) -> None:
        """Build the game.

        Args:
            opponent: Built-in player, or file of an agent or strategy. The suffix ``@T`` sets a temperature.
            rules: Rules, the name of a preset, or a file. By default, the rules of the opponent's file, otherwise
                ``"tabletop"``.

        Raises:
            PlayerError: If the opponent is unknown or not a text.
            ReadError: If the opponent's file is invalid or does not match the rules.
            RulesError: If the rules are invalid or the opponent does not support them.

        Examples:
            >>> from punish_fast.envs import PunishEnv
            >>> game, is_over = PunishEnv("naive", rules="tiny"), False
            >>> observation, info = game.reset(seed=0)
            >>> while not is_over:
            ...     observation, reward, is_over, _, info = game.step(int(info["action_mask"].argmax()))
            >>> reward
            -1.0
        """
        super().__init__(PunishVectorEnv(1, opponent, rules, AutoresetMode.DISABLED))


class PunishParallelEnv(SeveralLearners, ParallelEnv[str, Info, int]):
    """One game of Punish for two learners, ``"player_0"`` and ``"player_1"``.

    Observations are dictionaries with the ``"observation"`` and the ``"action_mask"`` of a player.

    Attributes:
        encoding: Names of the columns of observations and of the actions.
    """

    metadata = {"name": "punish_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(self, rules: Rules | str = "tabletop", information: str = "memoryless") -> None:
        """Build the game.

        Args:
            rules: Rules, the name of a preset, or a file.
            information: Name of the information model of both players, such as ``"memory"``.

        Raises:
            RulesError: If the rules are invalid.
            InformationError: If the information model is unknown.

        Examples:
            >>> from punish_fast.envs import PunishParallelEnv
            >>> game = PunishParallelEnv("tiny")
            >>> observations, _ = game.reset(seed=0)
            >>> len(observations), len(game.encoding.action_names)
            (2, 11)
        """
        self._graph, self.encoding, observations = _tables(_rules_of(rules, Player("random")), information)
        self._name_players(2, observations, len(self.encoding.actions))
        self._games = GameBatch(self._graph, 1, seed=int(np.random.default_rng().integers(2**63)))

    def reset(self, seed: int | None = None, options: Info | None = None) -> tuple[Info, Info]:  # noqa: ARG002
        """Begin a new game.

        Args:
            seed: Random seed. By default, continue the random numbers of the previous game.
            options: Not used.

        Returns:
            Observation of each player, and dictionaries with the mask of legal actions, int8 ``[11]``, as
            ``"action_mask"``.

        Examples:
            >>> from punish_fast.envs import PunishParallelEnv
            >>> game = PunishParallelEnv("tiny")
            >>> observations, infos = game.reset(seed=0)
            >>> observations["player_0"]["observation"].shape
            (18,)
        """
        self.agents = self.possible_agents.copy()
        if seed is None:
            self._games.deal()
        else:
            self._games = GameBatch(self._graph, 1, seed)
        return self._observe()

    def step(self, actions: dict[str, int]) -> tuple[Info, Info, Info, Info, Info]:
        """Play a breath.

        Args:
            actions: Legal action of each player.

        Returns:
            Dictionaries of observations, rewards (1 for a win, -1 for a loss, otherwise 0), flags of the end, flags of
            truncation (always False), and masks as in `reset`.

        Raises:
            ArgumentError: If the game is over or has not begun, or an action is missing or illegal.

        Examples:
            >>> from punish_fast.envs import PunishParallelEnv
            >>> game = PunishParallelEnv("tiny")
            >>> observations, infos = game.reset(seed=0)
            >>> actions = {name: int(info["action_mask"].argmax()) for name, info in infos.items()}
            >>> observations, rewards, ends, _, infos = game.step(actions)
            >>> ends
            {'player_0': False, 'player_1': False}
        """
        names = self.possible_agents
        if not self.agents:
            raise ArgumentError("step: the game is over or has not begun; call reset first")
        is_complete = isinstance(actions, dict) and actions.keys() == set(names)
        check_allowed(is_complete, ArgumentError, "actions", shown(actions), f"a dictionary of {' and '.join(names)}")
        self._games.step(*(np.array([actions[name]]) for name in names))
        result, is_over = float(self._games.result[0]), bool(self._games.is_over[0])
        observations, infos = self._observe()
        self.agents = [] if is_over else self.agents
        ends = dict.fromkeys(names, is_over), dict.fromkeys(names, False)
        return observations, dict(zip(names, (result, -result), strict=True)), *ends, infos

    def _observe(self) -> tuple[Info, Info]:
        observations, infos = {}, {}
        for seat, name in enumerate(self.possible_agents):
            row = int(self._games.observe(seat)[0])
            mask = self.encoding.mask[row].astype(np.int8)
            observations[name] = {"observation": self.encoding.features[row].copy(), "action_mask": mask}
            infos[name] = {"action_mask": mask.copy()}
        return observations, infos

    def render(self) -> None:
        """Do nothing, because the game has only observations.

        Examples:
            >>> from punish_fast.envs import PunishParallelEnv
            >>> PunishParallelEnv("tiny").render()
        """
