"""MuZero: networks learn a model of a game by self-play and search in that model.

Training proceeds in *rounds*. In each round, the learner plays a batch of games by search; it optionally repeats the
searches of some earlier games with its current weights (*reanalysis*, J. Schrittwieser et al., "Online and offline
reinforcement learning by planning with a learned model", NeurIPS 2021); and its networks take a number of steps on
samples from the replay buffer (``replay.py``, ``network.py``).

With the model *rules*, the search uses the rules of the game and the dynamics is not trained: this is AlphaZero (D.
Silver et al., Science 362, 2018). Everything else is equal, so a comparison shows the cost of learning the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.network import muzero_steps
from punish_fast.games.learn.muzero.replay import Remembered, draw, remember, targets_of
from punish_fast.games.learn.muzero.search import SearchPlan, plan_of, policy_logits, search
from punish_fast.games.learn.muzero.self_play import LAST_SEARCH_SEED, SearchedGames, empty_games, play_searched
from punish_fast.games.learn.trainer import NETWORK_LAYOUT, REANALYSE, NetworkTrainer, stream_of

# Numbers of simulations with which MuZero is judged; 0 uses the policy without a search.
JUDGED_SIMULATIONS = (0, 25, 100)


@dataclass(eq=False, repr=False, kw_only=True)
class MuZeroLearner(NetworkTrainer):
    """MuZero networks in training; ``memory`` holds `Remembered` rounds."""

    kind: ClassVar[str] = "muzero"
    layout: ClassVar[dict[str, tuple[str, int]]] = NETWORK_LAYOUT | {
        "is_random": ("uint8", 2),
        "value": ("float32", 2),
        "policy": ("float16", 3),
    }
    method_type: ClassVar[Any] = MuZeroMethod

    def values_of(self, weights: np.ndarray, simulations: int | None = None) -> Values:
        """Return the action values of the networks with the given weights.

        Args:
            weights: float32 ``[n_weights]``.
            simulations: Number of simulations per search; 0 to use the prediction without a search. The method's number
                by default.

        Returns:
            A function of states. The action chosen by the search has the value 2, other actions their probability;
            without a search, values are the policy logits.
        """
        if simulations == 0:
            return lambda states: policy_logits(self.shape, weights, self.vector.features(states))
        plan = plan_of(self.vector, self.method, simulations)

        def values(states: np.ndarray) -> np.ndarray:
            found = search(plan, self.vector, weights, states)
            rated = found.policy.copy()
            rated[np.arange(len(rated)), found.action] = 2
            return rated

        return values

    def judged(self) -> dict[int | None, Values]:
        """Return the action values to judge, for each of `JUDGED_SIMULATIONS`."""
        return {simulations: self.values_of(self.weights, simulations) for simulations in JUDGED_SIMULATIONS}

    def _empty_games(self, n: int, n_plies: int) -> SearchedGames:
        return empty_games(n, n_plies, self.vector.n_moves)

    def _play(self, generator: np.random.Generator) -> SearchedGames:
        plan = plan_of(self.vector, self.method, is_noisy=True)
        return play_searched(plan, self.vector, self.weights, self.method, generator)

    def _remember(self, games: SearchedGames) -> Remembered:
        return remember(self.vector, games, self.method)

    def _draw(self, memory: list[Remembered], n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = draw(memory, n, self.method, generator)._asdict()
        return {"features": self.vector.features(drawn.pop("state"))} | drawn

    def _step(self, count: np.int32, batches: dict[str, np.ndarray]) -> Sequence[Any]:
        steps = muzero_steps(self.shape, self.method.rate, self.method.decay)
        found: Sequence[Any] = steps(self.weights, self.momentum, self.variance, count, batches)
        return found

    def _kept(self) -> list[Remembered]:
        """Return the replay buffer, with the searches of some games repeated."""
        method = self.method
        if not method.reanalysed:
            return self.memory
        generator = stream_of(self.seed, self.rounds, REANALYSE)
        n_games = sum(len(part.length) for part in self.memory)
        n_drawn = min(round(method.reanalysed * method.games), n_games)
        drawn = np.sort(generator.choice(n_games, n_drawn, replace=False))
        plan, renewed, begin = plan_of(self.vector, method, is_noisy=True), [], 0
        for part in self.memory:
            rows = drawn[(drawn >= begin) & (drawn < begin + len(part.length))] - begin
            begin += len(part.length)
            renewed.append(self._searched_again(plan, part, rows, generator) if len(rows) else part)
        return renewed

    def _searched_again(
        self, plan: SearchPlan, part: Remembered, rows: np.ndarray, generator: np.random.Generator
    ) -> Remembered:
        """Return a round with the searches of the games ``rows`` repeated with the current weights."""
        renewed = ("is_random", "value", "policy")
        games = part.games._replace(**{name: getattr(part.games, name).copy() for name in renewed})
        places, plies = np.nonzero(games.action[rows] != NONE)
        row, ply = rows[places], plies
        found = search(plan, self.vector, self.weights, part.state[row, ply], int(generator.integers(LAST_SEARCH_SEED)))
        games.value[row, ply], games.policy[row, ply] = found.value, found.policy
        # Compare with the action of the new search, since targets are cut where play deviates from it.
        games.is_random[row, ply] = games.action[row, ply] != found.action
        target = targets_of(games, part.length, part.is_over, part.result, self.method)
        return part._replace(games=games, target=target)
