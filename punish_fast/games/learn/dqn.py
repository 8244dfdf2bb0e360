"""Deep Q-networks: one network learns a game by playing all seats against itself.

Learning goes in *rounds*. In each, the network plays a number of games at once, epsilon-greedy; their samples
(``replay.py``) join those of the latest rounds; and the network takes a number of steps of Adam (Kingma and Ba, 2015)
on the squared errors of batches drawn from them. Epsilon falls in a line from 1 to its last value.

Where players decide at once or hide cards, equal greedy players chase each other: what is best against the latest
network is soon the worst. With a temperature they play a mixed policy instead (softmax), and settle near what is best
against itself.

The target-network form (*td*) follows V. Mnih et al., "Human-level control through deep reinforcement learning",
Nature 518, 2015: the values of successors are those of a copy of the network that is renewed every few rounds. The
Monte-Carlo form (*mc*) has no such copy.

All random numbers of a round follow from the random seed and the number of the round. Between rounds, a `DqnLearner`
holds everything that later training depends on, so a saved learner resumes to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.learn.episodes import NONE, play
from punish_fast.games.learn.hyperparameters import TINY, CheckedMethod, LearnError, hyperparameter
from punish_fast.games.learn.movers import GreedyMover, MixedMover, Values
from punish_fast.games.learn.q_network import Architecture, action_values, evaluate, first_weights, on_processor
from punish_fast.games.learn.replay import MC, TARGETS, TD, Samples, drawn_samples, samples_of
from punish_fast.games.learn.trainer import NetworkTrainer, check_seed, n_plies_of, padded, progress_of, stream_of
from punish_fast.games.registry import GAMES
from punish_fast.runtime.interrupts import uninterrupted

MASK, PUNISH = "mask", "punish"
ILLEGAL = (MASK, PUNISH)
_PLAY, _LEARN, _BEGIN = range(3)
# After so many, Adam no longer corrects its means.
_MOST_STEPS = 1_000_000_000
# Planes, rows and columns; a board with a shorter side needs no filters.
_N_AXES, _LEAST_SIDE = 3, 4
# What boards have instead of the defaults of `DqnMethod`: as strong as larger ones, and faster.
_OF_BOARDS: dict[str, Any] = {"filters": (24, 24), "hidden": (64,)}


@dataclass(frozen=True)
class DqnMethod(CheckedMethod):
    """Hyperparameters of a deep Q-network."""

    target: str = hyperparameter(MC, TARGETS, "Learn from the ends of games, or from the values of a target network.")
    illegal: str = hyperparameter(MASK, ILLEGAL, "Consider legal actions only, or lose the game by an illegal one.")
    filters: tuple[int, ...] = hyperparameter((), 512, "Filters of each convolution; none if features have no places.")
    hidden: tuple[int, ...] = hyperparameter((128, 128), 4096, "Units of each hidden layer.")
    epsilon: float = hyperparameter(0.2, (0.0, 1.0), "Last probability of a random action (epsilon-greedy).")
    decay: int = hyperparameter(50_000, (1, 1 << 48), "Number of games over which epsilon falls from 1.")
    temperature: float = hyperparameter(
        0.0, (0.0, 100.0), "Draw actions by softmax of their values at this temperature; 0 takes the best."
    )
    rate: float = hyperparameter(0.001, (TINY, 1.0), "Learning rate of Adam.")
    discount: float = hyperparameter(0.95, (0.01, 1.0), "Discount of each move; below 1, fast wins are better.")
    games: int = hyperparameter(256, (1, 16_384), "Games of a round.")
    memory: int = hyperparameter(60, (1, 1000), "Rounds whose games are remembered.")
    steps: int = hyperparameter(32, (0, 1024), "Steps of the optimiser after each round.")
    batch: int = hyperparameter(256, (1, 4096), "Samples of a step.")
    renewal: int = hyperparameter(10, (1, 10_000), "Rounds between renewals of the target network.")
    max_plies: int = hyperparameter(200, (1, 1000), "Longer games stop as draws.")

    def __str__(self) -> str:
        layers = [*(f"{n} filters" for n in self.filters), *(f"{n} units" for n in self.hidden)]
        moves = {MASK: "legal moves only", PUNISH: "illegal moves punished"}[self.illegal]
        mixed = f", temperature {self.temperature:g}" * (self.temperature > 0)
        numbers = f"epsilon {self.epsilon:g}{mixed}, rate {self.rate:g}, discount {self.discount:g}"
        return f"target {self.target}, {moves}, {', '.join(layers) or 'no hidden layer'}, {numbers}"

    def epsilon_after(self, n_games: int) -> float:
        """Return the probability of a random action after a number of games."""
        return max(1 - (1 - self.epsilon) * n_games / self.decay, self.epsilon)


@dataclass(eq=False, repr=False, kw_only=True)
class DqnLearner(NetworkTrainer):
    """A deep Q-network that learns; `new_dqn` makes one.

    ``memory`` holds the actions of the games of the latest rounds, int16 ``[games, n_plies]`` each.
    """

    kind: ClassVar[str] = "network"

    target: np.ndarray  # float32 [n_weights], the weights of the target network

    def __post_init__(self) -> None:
        self._samples = [self._samples_of(action) for action in self.memory]

    @property
    def name(self) -> str:
        """For example ``"dqn-mc-mask"``."""
        return f"dqn-{self.method.target}-{self.method.illegal}"

    @property
    def architecture(self) -> Architecture:
        """The shape of the network."""
        return check_method(self.vector, self.method)

    @property
    def keeps_rules(self) -> bool:
        """Whether it considers legal actions only."""
        return bool(self.method.illegal == MASK)

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""
        return float(self.method.epsilon_after(self.games))

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The arrays to save."""
        action = padded(self.memory, self.method.games, NONE, (), np.int16)
        return {**super().arrays, "target": self.target, "action": action}

    def values_of(self, weights: np.ndarray) -> Values:
        """Return the values of actions by other weights of its shape."""
        return values_of(self.vector, self.architecture, weights)

    def _hashed(self) -> Iterable[tuple[np.ndarray, str]]:
        for array in (self.weights, self.target, self.momentum, self.variance):
            yield array, "<f4"
        for action in self.memory:
            yield action, "<i2"

    def learn_round(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before."""
        method = self.method
        movers = [self._mover()] * self.vector.game.n_players
        played = play(self.vector, movers, method.games, self._random(_PLAY), method.max_plies)
        samples = [*self._samples[-method.memory + 1 :], self._samples_of(played)][-method.memory :]
        state = self._updated(samples)
        if not all(np.isfinite(array).all() for array in state):
            raise LearnError(f"rate: {method.rate:g} is too high, the weights have left all bounds")
        with uninterrupted():
            self.weights, self.momentum, self.variance = state
            self.rounds += 1
            if self.rounds % method.renewal == 0:
                self.target = self.weights
            self.memory, self._samples = [*self.memory, played][-method.memory :], samples

    def _mover(self) -> Mover:
        """How it plays to learn."""
        values, temperature = self.values_of(self.weights), self.method.temperature
        if temperature > 0:
            return MixedMover(values, temperature, self.epsilon, self.keeps_rules)
        return GreedyMover(values, self.epsilon, self.keeps_rules)

    def _updated(self, memory: list[Samples]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, momentum and variance after the steps of a round."""
        method, vector = self.method, self.vector
        shape, n_samples = (method.steps, method.batch), sum(len(part.state) for part in memory)
        samples = drawn_samples(memory, self._random(_LEARN).integers(n_samples, size=shape).ravel())

        def features(states: np.ndarray) -> np.ndarray:
            return vector.features(states).reshape(*shape, -1)

        batches = {
            "x": features(samples.state),
            "action": samples.action.astype(np.int32).reshape(shape),
            "value": samples.value.reshape(shape),
        }
        if method.target == TD:
            is_compared = vector.legal(samples.after) | (method.illegal == PUNISH)
            batches |= {
                "sign": samples.sign.astype(np.float32).reshape(shape),
                "after": features(samples.after),
                "is_compared": is_compared.reshape(*shape, -1),
            }
        with on_processor():
            update = _update(self.architecture, method.rate, method.discount)
            count = np.int32(min(self.rounds * method.steps, _MOST_STEPS))
            weights, momentum, variance = update(
                self.weights, self.target, self.momentum, self.variance, count, batches
            )
            return np.array(weights), np.array(momentum), np.array(variance)

    def _samples_of(self, action: np.ndarray) -> Samples:
        return samples_of(self.vector, action, self.method.target, self.method.discount)


def values_of(vector: VectorGame, architecture: Architecture, weights: np.ndarray) -> Values:
    """The values of actions by a network, as a function of states."""
    return lambda states: evaluate(architecture, weights, vector.features(states))


def method_for(vector: VectorGame, **given: Any) -> DqnMethod:
    """Return a method; arguments that are missing have the defaults of the game, such as filters for large boards."""
    is_board = len(vector.feature_shape) == _N_AXES and min(vector.feature_shape[1:]) >= _LEAST_SIDE
    entry = GAMES.get(vector.game.name)
    of_game = {} if entry is None else dict(entry.learning)
    return DqnMethod(**(_OF_BOARDS if is_board else {}) | of_game | given)


def check_method(vector: VectorGame, method: DqnMethod) -> Architecture:
    """Return the shape of the network for a game, if the method fits it."""
    game = vector.game
    if method.filters and len(vector.feature_shape) != _N_AXES:
        raise LearnError(f"filters: {method.filters} are impossible, the features of {game.name} have no places")
    if method.target == TD and not (game.n_players == 2 and game.is_zero_sum and not hasattr(vector, "probabilities")):
        raise LearnError(
            f"target: 'td' is impossible, {game.name} is not a zero-sum game of two players without chance"
        )
    return Architecture(tuple(vector.feature_shape), method.filters, method.hidden, vector.n_moves)


def new_dqn(vector: VectorGame, method: DqnMethod, seed: int = 0) -> DqnLearner:
    """Return a learner with random weights."""
    check_seed(seed)
    weights = first_weights(check_method(vector, method), stream_of(seed, 0, _BEGIN))
    nothing = np.zeros_like(weights)
    networks = {"weights": weights, "target": weights, "momentum": nothing, "variance": nothing}
    return DqnLearner(vector=vector, method=method, seed=seed, **networks)  # type: ignore[arg-type]


def dqn_of(vector: VectorGame, learner: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> DqnLearner:
    """Return the learner of a mapping from `DqnLearner.to_mapping` and of its arrays."""
    method = DqnMethod.of(learner["method"])
    n_weights = check_method(vector, method).n_weights
    progress = progress_of(vector, learner, arrays, method, n_weights)
    action, target = arrays["action"], arrays["target"]
    if target.shape != (n_weights,):
        raise LearnError(f"target: it has {len(target):,} weights, its method {n_weights:,}")
    rounds = action.reshape(min(progress["rounds"], method.memory), method.games, action.shape[1])
    memory = [played[:, : n_plies_of(played)] for played in rounds]
    return DqnLearner(vector=vector, method=method, target=target, memory=memory, **progress)


@lru_cache(maxsize=16)
def _update(architecture: Architecture, rate: float, discount: float) -> Callable[..., Any]:
    """The compiled steps of a round: weights, target, momentum, variance, count and batches to the new ones."""
    import jax
    import jax.numpy as jnp
    import optax

    optimiser = optax.adam(rate)

    def loss(weights: jax.Array, target: jax.Array, batch: dict[str, jax.Array]) -> jax.Array:
        values = action_values(architecture, weights, batch["x"])
        value = jnp.take_along_axis(values, batch["action"][:, jnp.newaxis], axis=1)[:, 0]
        wanted = batch["value"]
        if "after" in batch:
            later = action_values(architecture, target, batch["after"])
            best = jnp.where(batch["is_compared"], later, -jnp.inf).max(axis=1)
            wanted += jnp.where(batch["sign"] == 0, 0, batch["sign"] * discount * best)
        return jnp.mean((value - wanted) ** 2)

    def update(weights: Any, target: Any, momentum: Any, variance: Any, count: Any, batches: Any) -> Any:
        first, *rest = optimiser.init(weights)

        def step(state: Any, batch: Any) -> tuple[Any, None]:
            weights, memory = state
            updates, memory = optimiser.update(jax.grad(loss)(weights, target, batch), memory, weights)
            return (optax.apply_updates(weights, updates), memory), None

        memory = (first._replace(count=count, mu=momentum, nu=variance), *rest)
        (weights, memory), _ = jax.lax.scan(step, (weights, memory), batches)
        return weights, memory[0].mu, memory[0].nu

    return jax.jit(update)
