"""MuZero: networks learn a model of a game by self-play, and a search plans with the model.

Training proceeds in *rounds*. In each round, the learner plays a batch of games by search. It optionally repeats the
searches of some earlier games with its current weights (*reanalysis*, J. Schrittwieser et al., "Online and offline
reinforcement learning by planning with a learned model", NeurIPS 2021). Then it takes a number of optimizer steps on
samples from the replay buffer (``replay.py``, ``network.py``).

At the beginning of a game, and later with probability epsilon, a random action replaces the action of the search, so
that training includes states that good play avoids. Random openings avoid actions that end the game, so that games
with long openings also reach later states. Searches are compiled by JAX. Between searches, kernels apply the rules.

With the model *rules*, the search uses the rules of the game, and the dynamics network is not trained. This is
AlphaZero (D. Silver et al., Science 362, 2018). There are no other differences, so a comparison of the two models shows
the cost of learning the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.contract import VectorGame
from punish_fast.games.episodes import NONE, Values, random_mover
from punish_fast.games.learn.hyperparameters import MuZeroMethod
from punish_fast.games.learn.muzero.network import muzero_steps
from punish_fast.games.learn.muzero.replay import Remembered, SearchedGames, draw, empty_games, remember, targets_of
from punish_fast.games.learn.muzero.search import SearchPlan, plan_of, policy_logits, search
from punish_fast.games.learn.trainer import NETWORK_LAYOUT, REANALYZE, NetworkTrainer, located, stream_of

# Numbers of simulations with which MuZero is evaluated. For 0, the policy network plays without a search.
EVALUATED_SIMULATIONS = (0, 25, 100)
_LAST_SEED = 2**31 - 1


@dataclass(eq=False, repr=False, kw_only=True)
class MuZeroLearner(NetworkTrainer):
    """MuZero networks in training. ``replay`` contains the latest rounds as `Remembered`."""

    kind: ClassVar[str] = "muzero"
    layout: ClassVar[dict[str, tuple[str, int]]] = NETWORK_LAYOUT | {
        "is_random": ("uint8", 2),
        "value": ("float32", 2),
        "policy": ("float16", 3),
    }
    method_type: ClassVar[Any] = MuZeroMethod

    def values_of(self, weights: np.ndarray, simulations: int | None = None) -> Values:
        """Return a function that computes action values with the given weights, float32 ``[n_weights]``.

        The action chosen by the search has value 2. The value of every other action is its probability in the policy
        target of the search. If ``simulations`` is 0, there is no search, and values are the policy logits. By default,
        ``simulations`` is the method's number of simulations.
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

    def value_functions(self) -> dict[int | None, Values]:
        """Return the action-value functions to evaluate, keyed by each of `EVALUATED_SIMULATIONS`."""
        return {simulations: self.values_of(self.weights, simulations) for simulations in EVALUATED_SIMULATIONS}

    def _empty_games(self, n: int, n_plies: int) -> SearchedGames:
        return empty_games(n, n_plies, self.vector.n_moves)

    def _play(self, generator: np.random.Generator) -> SearchedGames:
        plan = plan_of(self.vector, self.method, is_noisy=True)
        return play_searched(plan, self.vector, self.weights, self.method, generator)

    def _remember(self, games: SearchedGames) -> Remembered:
        return remember(self.vector, games, self.method)

    def _draw(self, replay: list[Remembered], n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = draw(replay, n, self.method, generator)._asdict()
        return {"features": self.vector.features(drawn.pop("state"))} | drawn

    def _step(self, count: np.int32, batches: dict[str, np.ndarray]) -> Sequence[Any]:
        steps = muzero_steps(self.shape, self.method.rate, self.method.decay)
        return steps(self.weights, self.momentum, self.variance, count, batches)

    def _kept(self) -> list[Remembered]:
        """Return the replay buffer after repeating the searches of some random games with the current weights."""
        method = self.method
        if not method.reanalyzed:
            return self.replay
        generator = stream_of(self.seed, self.rounds, REANALYZE)
        plan, sizes = plan_of(self.vector, method, is_noisy=True), [len(part.length) for part in self.replay]
        n_drawn = min(round(method.reanalyzed * method.games), sum(sizes))
        drawn = np.sort(generator.choice(sum(sizes), n_drawn, replace=False))
        return [
            self._searched_again(plan, part, rows, generator) if len(rows) else part
            for part, (_, rows) in zip(self.replay, located(drawn, sizes), strict=True)
        ]

    def _searched_again(
        self, plan: SearchPlan, part: Remembered, rows: np.ndarray, generator: np.random.Generator
    ) -> Remembered:
        """Repeat the searches of the games ``rows`` in a round with the current weights, and return the new round."""
        renewed = ("is_random", "value", "policy")
        games = part.games._replace(**{name: getattr(part.games, name).copy() for name in renewed})
        places, plies = np.nonzero(games.action[rows] != NONE)
        row, ply = rows[places], plies
        found = search(plan, self.vector, self.weights, part.state[row, ply], int(generator.integers(_LAST_SEED)))
        games.value[row, ply], games.policy[row, ply] = found.value, found.policy
        # Update ``is_random`` by the new search, because targets are cut where actions deviate from the search.
        games.is_random[row, ply] = games.action[row, ply] != found.action
        target = targets_of(games, part.length, part.is_over, part.result, self.method)
        return part._replace(games=games, target=target)


def play_searched(
    plan: SearchPlan, vector: VectorGame, weights: np.ndarray, method: MuZeroMethod, generator: np.random.Generator
) -> SearchedGames:
    """Play ``method.games`` games by search with the network weights, float32 ``[n_weights]``."""
    games = empty_games(method.games, method.max_plies, vector.n_moves)
    states, live = vector.initial(method.games), np.arange(method.games)
    opening = generator.integers(method.opening + 1, size=method.games)
    for ply in range(method.max_plies):
        found = search(plan, vector, weights, states, int(generator.integers(_LAST_SEED)))
        legal, opens = vector.legal(states), ply < opening[live]
        if opens.any():
            legal[opens] = without_ends(vector, states[opens])
        random = random_mover(states, legal, generator)
        explores = opens | (generator.random(len(live)) < method.epsilon)
        chosen = np.where(explores, random, found.action)
        games.action[live, ply], games.is_random[live, ply] = chosen, chosen != found.action
        games.value[live, ply], games.policy[live, ply] = found.value, found.policy
        states, _, ended = vector.advance(states, chosen)
        live, states = live[~ended], states[~ended]
        if not len(live):
            break
    return games


def without_ends(vector: VectorGame, states: np.ndarray) -> np.ndarray:
    """Return a mask of the legal actions that do not end the game, bool ``[n, n_moves]``.

    If all legal actions of a state end the game, the mask is True for all of them.
    """
    legal = vector.legal(states)
    goes_on = legal.copy()
    for action in range(vector.n_moves):
        rows = np.flatnonzero(legal[:, action])
        _, _, ended = vector.advance(states[rows], np.full(len(rows), action))
        goes_on[rows, action] = ~ended
    return np.where(goes_on.any(axis=1, keepdims=True), goes_on, legal)
