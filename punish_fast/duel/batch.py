"""Many games of Punish that are played simultaneously, breath by breath, for learners and other programs."""

from typing import Any

import numpy as np

from punish_fast.duel import _batch
from punish_fast.duel._batch import BatchedGames
from punish_fast.duel.evaluation import simulator_of
from punish_fast.duel.graph import GameGraph, must_be_graph
from punish_fast.punish.codes import ACTIONS, action_name
from punish_fast.runtime.errors import ArgumentError, check_allowed, is_whole
from punish_fast.runtime.limits import require_memory
from punish_fast.runtime.parallel import for_each

# The calling thread plays smaller batches, because distributing the work takes longer.
_MANY = 1 << 15


class GameBatch:
    """Games between seat 0 and seat 1 that are played simultaneously.

    Actions are columns of the mask of `encode`. The seed, the number of a game and its actions determine the game, so
    results do not depend on the number of threads. Games have the same deals and draws as in `simulate`.

    Attributes:
        graph: Graph of the game.
        seed: Random seed.
    """

    def __init__(self, graph: GameGraph, n_games: int, seed: int = 0) -> None:
        """Deal the first hands of all games. Their numbers are 0 to ``n_games - 1``.

        Args:
            graph: Graph of the game.
            n_games: Number of games, at least 1.
            seed: Random seed, 0 to 2^64 - 1.

        Raises:
            ArgumentError: If a number is out of range.
            MemoryError: If the games do not fit in memory.

        Examples:
            >>> import numpy as np
            >>> from punish_fast import GameBatch, GameGraph, Player, StateSpace, encode, load_rules
            >>> space, random = StateSpace(load_rules("tiny")), np.random.default_rng(0)
            >>> mask, naive = encode(space).mask, Player("naive").policy(space)
            >>> games = GameBatch(GameGraph(space), n_games=1000)
            >>> while not games.is_over.all():
            ...     legal = mask[games.observe(seat=0)]
            ...     own = (legal * random.random(legal.shape)).argmax(axis=1)
            ...     games.step(own, games.sample(naive, seat=1))
            >>> int((games.result == 1).sum())
            277
        """
        must_be_graph(graph)
        check_allowed(is_whole(n_games, 1, 2**31), ArgumentError, "n_games", n_games, "an integer from 1 to 2^31")
        check_allowed(is_whole(seed, 0, 2**64 - 1), ArgumentError, "seed", seed, "an integer from 0 to 2^64 - 1")
        require_memory(32 * n_games, f"{n_games:,} games")
        self.graph, self.seed = graph, seed
        self._simulator = simulator_of(graph)
        numbers = np.arange(n_games) - n_games
        zeros = np.zeros(n_games, dtype=np.int64)
        self._games = BatchedGames(zeros, numbers, zeros.copy(), np.zeros(n_games, dtype=np.int8))
        self.deal()

    def __len__(self) -> int:
        return len(self._games.result)

    @property
    def result(self) -> np.ndarray:
        """Results of the games, int8 ``[n_games]``: 1 if seat 0 has won, -1 if seat 1 has won, otherwise 0."""
        return self._games.result.copy()

    @property
    def is_over(self) -> np.ndarray:
        """Mask of the games that are over, bool ``[n_games]``."""
        return np.asarray(self._games.result != 0)

    @property
    def length(self) -> np.ndarray:
        """Number of breaths played in each game, int64 ``[n_games]``."""
        return self._games.length.copy()

    def deal(self, which: np.ndarray | None = None) -> None:
        """Begin new games. Their numbers are the previous numbers plus ``n_games``.

        Args:
            which: bool ``[n_games]``, True for each game to replace. By default, replace all games.

        Raises:
            ArgumentError: If the mask is invalid.

        Examples:
            >>> from punish_fast import GameBatch, GameGraph, StateSpace, load_rules, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> games, policy = GameBatch(GameGraph(space), n_games=4), uniform_policy(space)
            >>> for _ in range(2):
            ...     games.step(games.sample(policy, seat=0), games.sample(policy, seat=1))
            >>> games.is_over.tolist()
            [True, False, True, True]
            >>> games.deal(games.is_over)
            >>> games.length.tolist()
            [0, 2, 0, 0]
        """
        is_new = np.ones(len(self), dtype=np.bool_) if which is None else np.asarray(which)
        is_mask = is_new.shape == (len(self),) and is_new.dtype == np.bool_
        check_allowed(is_mask, ArgumentError, "which", f"{is_new.dtype} {is_new.shape}", f"bool ({len(self)},)")
        self._games.number[is_new] += len(self)
        self._run(_batch.deal_games, np.uint64(self.seed), self.graph.space.first_status, self._simulator.deals, is_new)

    def observe(self, seat: int) -> np.ndarray:
        """Return the information state of a seat in each game.

        Args:
            seat: 0 or 1.

        Returns:
            int32 ``[n_games]``, indices of states: rows of ``features`` and ``mask`` in `encode`. In a game that is
            over, the state is that before the last breath.

        Raises:
            ArgumentError: If the seat is neither 0 nor 1.

        Examples:
            >>> from punish_fast import GameBatch, GameGraph, StateSpace, encode, load_rules
            >>> space = StateSpace(load_rules("tiny"))
            >>> games = GameBatch(GameGraph(space), n_games=2)
            >>> encode(space).features[games.observe(seat=0)].shape
            (2, 18)
        """
        _check_seat(seat)
        return np.asarray((self._simulator.state if seat == 0 else self.graph.full.enemy_row)[self._games.full])

    def sample(self, policy: np.ndarray, seat: int) -> np.ndarray:
        """Draw an action from a policy for a seat in each game.

        Args:
            policy: float64 ``[n_rows]``, probability of each action in ``space.action``, such as ``Player.policy``.
                Only its shape is checked.
            seat: 0 or 1.

        Returns:
            int64 ``[n_games]``, columns of the actions. Entries of games that are over are meaningless.

        Raises:
            ArgumentError: If the seat is neither 0 nor 1, or the policy has the wrong shape.

        Examples:
            >>> from punish_fast import GameBatch, GameGraph, StateSpace, load_rules, uniform_policy
            >>> space = StateSpace(load_rules("tiny"))
            >>> GameBatch(GameGraph(space), n_games=5).sample(uniform_policy(space), seat=1).tolist()
            [7, 3, 3, 3, 2]
        """
        _check_seat(seat)
        policy = np.asarray(policy, dtype=np.float64)
        n_rows, actions = self.graph.action.shape, np.empty(len(self), dtype=np.int64)
        check_allowed(policy.shape == n_rows, ArgumentError, "policy", f"shape {policy.shape}", str(n_rows))
        walk, column = self._simulator.walk, self._simulator.column
        self._run(_batch.sample_actions, np.uint64(self.seed), seat, walk.place, column, policy, actions)
        return actions

    def step(self, own: np.ndarray, enemy: np.ndarray) -> None:
        """Play a breath in each game that is not over.

        Args:
            own: int ``[n_games]``, column of the action of seat 0 in each game. Entries of games that are over are
                ignored.
            enemy: int ``[n_games]``, columns of the actions of seat 1.

        Raises:
            ArgumentError: If an array has the wrong shape or type, or an action is illegal. No game is changed.

        Examples:
            >>> from punish_fast import GameBatch, GameGraph, StateSpace, encode, load_rules
            >>> space = StateSpace(load_rules("tiny"))
            >>> games, mask = GameBatch(GameGraph(space), n_games=3), encode(space).mask
            >>> own, enemy = (mask[games.observe(seat)].argmax(axis=1) for seat in (0, 1))
            >>> games.step(own, enemy)
            >>> games.length.tolist()
            [1, 1, 1]
        """
        chosen, is_on = np.empty((len(self), 2), dtype=np.int64), self._games.result == 0
        for seat, (name, given) in enumerate({"own": own, "enemy": enemy}.items()):
            actions, form = np.asarray(given), f"int ({len(self)},)"
            fits = actions.shape == (len(self),) and actions.dtype.kind in "iu"
            check_allowed(fits, ArgumentError, name, f"{actions.dtype} {actions.shape}", form)
            column = actions.clip(0, len(ACTIONS) - 1)
            chosen[:, seat] = self._simulator.choice[self.observe(seat), column]
            wrong = np.flatnonzero(is_on & ((chosen[:, seat] < 0) | (column != actions)))
            if len(wrong):
                self._refuse(seat, int(wrong[0]), int(actions[wrong[0]]))
        numbers = np.uint64(self.seed), self.graph.n_full, self.graph.n_values - 2
        self._run(_batch.step_games, numbers, self._simulator.walk, self._simulator.deals, chosen)

    def _run(self, kernel: Any, *args: Any) -> None:
        for_each(kernel, len(self), self._games, *args, alone=len(self) < _MANY)

    def _refuse(self, seat: int, game: int, action: int) -> None:
        """Raise `ArgumentError` for an illegal action."""
        legal = np.flatnonzero(self._simulator.choice[self.observe(seat)[game]] >= 0).tolist()
        texts = [f"{k} ({action_name(ACTIONS[k])})" for k in legal]
        shown = f"{action} ({action_name(ACTIONS[action])})" if 0 <= action < len(ACTIONS) else action
        raise ArgumentError(f"action: {shown} of seat {seat} is illegal in game {game}; use {', '.join(texts)}")


def _check_seat(seat: int) -> None:
    check_allowed(seat in (0, 1), ArgumentError, "seat", seat, "0 or 1")
