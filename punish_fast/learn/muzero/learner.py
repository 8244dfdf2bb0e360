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

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np

from punish_fast.games.contract import VectorBoardGame, VectorGame
from punish_fast.learn.episodes import NONE
from punish_fast.learn.movers import Values
from punish_fast.learn.muzero.method import MuZeroMethod, check_game
from punish_fast.learn.muzero.network import ModelShape
from punish_fast.learn.muzero.replay import Remembered, draw, remember, targets_of
from punish_fast.learn.muzero.search import SearchPlan, plan_of, policy_logits, search, shape_of
from punish_fast.learn.muzero.self_play import LAST_SEARCH_SEED, SearchedGames, play_searched
from punish_fast.learn.muzero.update import Optimiser, compiled_update
from punish_fast.learn.q_network import on_device
from punish_fast.learn.qlearning import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.learn.random_streams import stream_of
from punish_fast.runtime.interrupts import uninterrupted

_PLAY, _LEARN, _BEGIN, _REANALYSE = range(4)
# After so many, AdamW no longer corrects its means, and its rate falls no further.
_MOST_STEPS = 1_000_000_000


@dataclass(eq=False, repr=False)
class MuZeroLearner:
    """Networks that learn a model of a game; `new_muzero` makes one.

    Attributes:
        vector: The game.
        method: Its hyperparameters.
        seed: Its random seed.
        weights: float32 ``[n_weights]``.
        momentum: The same, the optimiser's mean of gradients.
        variance: The same, its mean of squared gradients.
        rounds: Rounds finished.
        wanted: Rounds to finish in all.
        memory: The games of the latest rounds, the oldest first.
        curve: The learning curve: mappings with ``games`` and measures of strength.
        snapshots: The weights at the points of the curve.
        device: Where JAX computes, such as ``"cpu"``; another device rounds otherwise.
    """

    vector: VectorGame
    method: MuZeroMethod
    seed: int
    weights: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray
    rounds: int = 0
    wanted: int = 0
    memory: list[SearchedGames] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[np.ndarray] = field(default_factory=list)
    device: str = "cpu"

    def __post_init__(self) -> None:
        self._remembered = [remember(self.vector, games, self.method) for games in self.memory]

    def __repr__(self) -> str:
        return f"<MuZeroLearner {self.name}: {self.games:,} games of {self.vector.game.name}>"

    @property
    def name(self) -> str:
        """``"muzero"``, or ``"alphazero"`` where it plans in the rules."""
        return "muzero" if self.method.is_learned else "alphazero"

    @property
    def games(self) -> int:
        """Games played in all."""
        return self.rounds * self.method.games

    @property
    def board(self) -> VectorBoardGame:
        """The game, whose players see all of its state."""
        return cast(VectorBoardGame, self.vector)

    @property
    def shape(self) -> ModelShape:
        """The shape of its networks."""
        return shape_of(self.vector, self.method)

    @property
    def keeps_rules(self) -> bool:
        """That it considers legal actions only."""
        return True

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""
        return self.method.epsilon

    @property
    def digest(self) -> str:
        """A fingerprint: learners of the same digest continue alike."""
        digest = hashlib.sha256(repr((self.method, self.seed, self.rounds)).encode())
        for array in (self.weights, self.momentum, self.variance):
            digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        for games in self.memory:
            for array, kind in zip(games, ("<i2", "?", "<f4", "<f2"), strict=True):
                digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return digest.hexdigest()[:16]

    def plan(self, n_games: int) -> None:
        """Plan further games, in whole rounds.

        Raises:
            LearnError: The number is out of range.
        """
        if not 1 <= n_games <= MAX_GAMES:
            raise LearnError(f"games: {n_games} is not allowed, it must be from 1 to {MAX_GAMES}")
        self.wanted += -(-n_games // self.method.games)

    def to_mapping(self) -> dict[str, Any]:
        """Everything but arrays and the game, as JSON values."""
        names = ("seed", "rounds", "wanted", "curve")
        return {"method": asdict(self.method)} | {name: getattr(self, name) for name in names}

    def add_snapshot(self, point: dict[str, Any]) -> None:
        """Keep the weights as those of a new point of the learning curve."""
        with uninterrupted():
            self.curve.append(point)
            self.snapshots.append(self.weights)

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
        plan = plan_of(self.vector, self.method, simulations, device=self.device)

        def values(states: np.ndarray) -> np.ndarray:
            found = search(plan, self.vector, weights, states)
            rated = found.policy.copy()
            rated[np.arange(len(rated)), found.action] = 2
            return rated

        return values

    def learn(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before.

        Raises:
            LearnError: The weights have left all bounds, a player moved twice, or the device is not here.
            ExtraError: JAX, Optax or mctx is not installed.
        """
        method = self.method
        played = play_searched(
            plan_of(self.vector, method, is_noisy=True, device=self.device),
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
        with on_device(self.device):
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
        plan, renewed, begin = plan_of(self.vector, method, is_noisy=True, device=self.device), [], 0
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

    def _random(self, stream: int) -> np.random.Generator:
        return stream_of(self.seed, self.rounds, stream)


def new_muzero(vector: VectorGame, method: MuZeroMethod, seed: int = 0) -> MuZeroLearner:
    """A learner with random weights.

    Raises:
        LearnError: The seed is out of range, or the method does not fit the game.
    """
    if not 0 <= seed <= LAST_SEED:
        raise LearnError(f"seed: {seed} is not allowed, it must be from 0 to {LAST_SEED}")
    check_game(vector, method)
    weights = shape_of(vector, method).first_weights(stream_of(seed, 0, _BEGIN))
    nothing = np.zeros_like(weights)
    return MuZeroLearner(vector, method, seed, weights, nothing, nothing)
