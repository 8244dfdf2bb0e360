"""MuZero: networks learn a model of a game by playing it against themselves, and search in that model.

Learning goes in *rounds*. In each, the learner plays a number of games, every action found by a search; it may search
some of the games of earlier rounds again with its present weights (*reanalysis*, J. Schrittwieser et al., "Online and
offline reinforcement learning by planning with a learned model", NeurIPS 2021); and its networks take a number of steps
on draws from all games that are remembered (``replay.py``, ``update.py``).

With the model *rules* the search plans in the rules of the game, and the dynamics learns nothing: AlphaZero (D. Silver
et al., Science 362, 2018). All else stays the same, so that the two show what it costs to learn the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.muzero.method import MuZeroMethod
from punish_fast.games.learn.muzero.replay import Remembered, draw, remember, targets_of
from punish_fast.games.learn.muzero.search import SearchPlan, plan_of, policy_logits, search
from punish_fast.games.learn.muzero.self_play import LAST_SEARCH_SEED, SearchedGames, empty_games, play_searched
from punish_fast.games.learn.muzero.update import muzero_steps
from punish_fast.games.learn.trainer import NETWORK_LAYOUT, REANALYSE, NetworkTrainer, stream_of

# Simulations of the searches by which MuZero is judged; 0 is the policy alone.
JUDGED_SIMULATIONS = (0, 25, 100)


@dataclass(eq=False, repr=False, kw_only=True)
class MuZeroLearner(NetworkTrainer):
    """Networks that learn a model of a game; ``memory`` holds `Remembered` rounds."""

    kind: ClassVar[str] = "muzero"
    layout: ClassVar[dict[str, tuple[str, int]]] = NETWORK_LAYOUT | {
        "is_random": ("uint8", 2),
        "value": ("float32", 2),
        "policy": ("float16", 3),
    }
    method_type: ClassVar[Any] = MuZeroMethod

    def values_of(self, weights: np.ndarray, simulations: int | None = None) -> Values:
        """Return the values of actions by its networks with some weights.

        Args:
            weights: float32 ``[n_weights]``.
            simulations: Simulations of a search; 0 for the prediction alone, None for the method's number.

        Returns:
            A function of states. The action of a search has the value 2, and others have their probability; without a
            search, all have the logits of the prediction.
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
        """Return the values by which the agent is judged, by `JUDGED_SIMULATIONS`."""
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
        """Return the games that are remembered, some of them searched again."""
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
        """Return games some of whose rows have the results of a search with the present weights."""
        renewed = ("is_random", "value", "policy")
        games = part.games._replace(**{name: getattr(part.games, name).copy() for name in renewed})
        places, plies = np.nonzero(games.action[rows] != NONE)
        row, ply = rows[places], plies
        found = search(plan, self.vector, self.weights, part.state[row, ply], int(generator.integers(LAST_SEARCH_SEED)))
        games.value[row, ply], games.policy[row, ply] = found.value, found.policy
        # The result of an old search says nothing about today's play.
        games.is_random[row, ply] = games.action[row, ply] != found.action
        target = targets_of(games, part.length, part.is_over, part.result, self.method)
        return part._replace(games=games, target=target)
