"""MuZero: networks learn a model of a game by playing it against themselves, and search in that model.

Learning goes in *rounds*. In each, the learner plays a number of games, every action found by a search; it may search
some of the games of earlier rounds again with its present weights (*reanalysis*, J. Schrittwieser et al., "Online and
offline reinforcement learning by planning with a learned model", NeurIPS 2021); and its networks take a number of steps
on draws from all games that are remembered (``replay.py``, ``update.py``).

With the model *rules* the search plans in the rules of the game, and the dynamics learns nothing: AlphaZero (D. Silver
et al., Science 362, 2018). All else stays the same, so that the two show what it costs to learn the rules.

All random numbers of a round follow from the random seed and the number of the round, so a saved learner resumes to the
same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from punish_fast.games.contract import VectorBoardGame, VectorGame
from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.hyperparameters import LearnError
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.muzero.method import MuZeroMethod, check_game
from punish_fast.games.learn.muzero.network import ModelShape
from punish_fast.games.learn.muzero.replay import Remembered, draw, remember, targets_of
from punish_fast.games.learn.muzero.search import SearchPlan, plan_of, policy_logits, search, shape_of
from punish_fast.games.learn.muzero.self_play import LAST_SEARCH_SEED, SearchedGames, empty_games, play_searched
from punish_fast.games.learn.muzero.update import Optimiser, compiled_update
from punish_fast.games.learn.q_network import on_processor
from punish_fast.games.learn.trainer import NetworkTrainer, check_seed, n_plies_of, padded, progress_of, stream_of
from punish_fast.runtime.interrupts import uninterrupted

_PLAY, _LEARN, _BEGIN, _REANALYSE = range(4)
# After so many, AdamW no longer corrects its means, and its rate falls no further.
_MOST_STEPS = 1_000_000_000


@dataclass(eq=False, repr=False, kw_only=True)
class MuZeroLearner(NetworkTrainer):
    """Networks that learn a model of a game; `new_muzero` makes one. ``memory`` holds `SearchedGames` of the rounds."""

    kind: ClassVar[str] = "muzero"

    def __post_init__(self) -> None:
        self._remembered = [remember(self.vector, games, self.method) for games in self.memory]

    @property
    def name(self) -> str:
        """``"muzero"``, or ``"alphazero"`` if it plans in the rules."""
        return "muzero" if self.method.is_learned else "alphazero"

    @property
    def board(self) -> VectorBoardGame:
        """The game, whose players see all of its state."""
        return cast(VectorBoardGame, self.vector)

    @property
    def shape(self) -> ModelShape:
        """The shape of its networks."""
        return shape_of(self.vector, self.method)

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""
        return float(self.method.epsilon)

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The arrays to save."""
        found = dict(super().arrays)
        for name, empty in empty_games(0, 0, self.vector.n_moves)._asdict().items():
            parts, fill = [getattr(games, name) for games in self.memory], NONE if name == "action" else 0
            found[name] = padded(parts, self.method.games, fill, empty.shape[2:], empty.dtype)
        return found | {"is_random": found["is_random"].astype(np.uint8)}

    def _hashed(self) -> Iterable[tuple[np.ndarray, str]]:
        for array in (self.weights, self.momentum, self.variance):
            yield array, "<f4"
        for games in self.memory:
            yield from zip(games, ("<i2", "?", "<f4", "<f2"), strict=True)

    def values_of(self, weights: np.ndarray, simulations: int | None = None) -> Values:
        """How its networks with some weights rate actions.

        Args:
            weights: float32 ``[n_weights]``.
            simulations: Of a search; 0 for the prediction alone, None for the method's number.

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

    def learn_round(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before."""
        method = self.method
        played = play_searched(
            plan_of(self.vector, method, is_noisy=True),
            self.vector,
            self.weights,
            method,
            self._random(_PLAY),
        )
        kept = self._reanalysed() if method.reanalysed else self._remembered
        remembered = [*kept, remember(self.vector, played, method)][-method.memory :]
        state = self._updated(remembered)
        if not all(np.isfinite(array).all() for array in state):
            raise LearnError(f"rate: {method.rate:g} is too high, the weights have left all bounds")
        with uninterrupted():
            self.weights, self.momentum, self.variance = state
            self.rounds += 1
            self._remembered = remembered
            self.memory = [part.games for part in remembered]

    def _updated(self, memory: list[Remembered]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, momentum and variance after the steps of a round."""
        method = self.method
        draws = draw(memory, method.steps * method.batch, method, self._random(_LEARN))
        fields = {"features": self.vector.features(draws.state)} | draws._asdict()
        del fields["state"]
        batches = {name: array.reshape(method.steps, method.batch, *array.shape[1:]) for name, array in fields.items()}
        with on_processor():
            update = compiled_update(self.shape, Optimiser(method.rate, method.decay))
            count = np.int32(min(self.rounds * method.steps, _MOST_STEPS))
            weights, momentum, variance = update(self.weights, self.momentum, self.variance, count, batches)
            return np.array(weights), np.array(momentum), np.array(variance)

    def _reanalysed(self) -> list[Remembered]:
        """The games that are remembered, some of them searched again."""
        method, generator = self.method, self._random(_REANALYSE)
        n_games = sum(len(part.length) for part in self._remembered)
        n_drawn = min(round(method.reanalysed * method.games), n_games)
        drawn = np.sort(generator.choice(n_games, n_drawn, replace=False))
        plan, renewed, begin = plan_of(self.vector, method, is_noisy=True), [], 0
        for part in self._remembered:
            rows = drawn[(drawn >= begin) & (drawn < begin + len(part.length))] - begin
            begin += len(part.length)
            renewed.append(self._searched_again(plan, part, rows, generator) if len(rows) else part)
        return renewed

    def _searched_again(
        self, plan: SearchPlan, part: Remembered, rows: np.ndarray, generator: np.random.Generator
    ) -> Remembered:
        """Games of which some rows have what a search finds now."""
        renewed = ("is_random", "value", "policy")
        games = part.games._replace(**{name: getattr(part.games, name).copy() for name in renewed})
        places, plies = np.nonzero(games.action[rows] != NONE)
        row, ply = rows[places], plies
        found = search(plan, self.vector, self.weights, part.state[row, ply], int(generator.integers(LAST_SEARCH_SEED)))
        games.value[row, ply], games.policy[row, ply] = found.value, found.policy
        # What an old search found says nothing about the play of today.
        games.is_random[row, ply] = games.action[row, ply] != found.action
        target = targets_of(games, part.length, part.is_over, part.result, self.method)
        return part._replace(games=games, target=target)


def new_muzero(vector: VectorGame, method: MuZeroMethod, seed: int = 0) -> MuZeroLearner:
    """Return a learner with random weights."""
    check_seed(seed)
    check_game(vector, method)
    weights = shape_of(vector, method).first_weights(stream_of(seed, 0, _BEGIN))
    nothing = np.zeros_like(weights)
    return MuZeroLearner(vector=vector, method=method, seed=seed, weights=weights, momentum=nothing, variance=nothing)


def muzero_of(vector: VectorGame, learner: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> MuZeroLearner:
    """Return the learner of a mapping from `MuZeroLearner.to_mapping` and of its arrays."""
    method = MuZeroMethod.of(learner["method"])
    check_game(vector, method)
    progress = progress_of(vector, learner, arrays, method, shape_of(vector, method).n_weights)
    games = SearchedGames(*(arrays[name] for name in SearchedGames._fields))
    shape = games.action.shape
    if not games.is_random.shape == games.value.shape == shape or games.policy.shape != (*shape, vector.n_moves):
        raise LearnError(f"policy: its shape is {games.policy.shape}, not {(*shape, vector.n_moves)}")
    games = games._replace(is_random=games.is_random.astype(np.bool_))
    rounds = [slice(begin, begin + method.games) for begin in range(0, len(games.action), method.games)]
    memory = [_trimmed(SearchedGames(*(array[rows] for array in games))) for rows in rounds]
    return MuZeroLearner(vector=vector, method=method, memory=memory, **progress)


def _trimmed(games: SearchedGames) -> SearchedGames:
    """Return games without the plies that none of them has."""
    n_plies = n_plies_of(games.action)
    return SearchedGames(*(array[:, :n_plies] for array in games))
