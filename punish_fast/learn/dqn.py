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

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from punish_fast.games.contract import Mover, VectorGame
from punish_fast.games.registry import GAMES
from punish_fast.learn.episodes import play
from punish_fast.learn.hyperparameters import check_choices, check_layers, check_ranges
from punish_fast.learn.movers import GreedyMover, MixedMover, Values
from punish_fast.learn.q_network import Architecture, action_values, evaluate, first_weights, on_processor
from punish_fast.learn.qlearning import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.learn.random_streams import stream_of
from punish_fast.learn.replay import MC, TARGETS, TD, Samples, drawn_samples, samples_of
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
_LARGEST_LAYER = {"filters": 512, "hidden": 4096}
# Whole numbers between whole ones.
_RANGES: dict[str, tuple[Any, Any]] = {
    "epsilon": (0.0, 1.0),
    "temperature": (0.0, 100.0),
    "decay": (1, 1 << 48),
    "rate": (1e-9, 1.0),
    "discount": (0.01, 1.0),
    "games": (1, 16_384),
    "memory": (1, 1000),
    "steps": (0, 1024),
    "batch": (1, 4096),
    "renewal": (1, 10_000),
    "max_plies": (1, 1000),
}


@dataclass(frozen=True)
class DqnMethod:
    """Hyperparameters of a deep Q-network.

    Attributes:
        target: ``"mc"`` or ``"td"``, see ``replay.py``.
        illegal: ``"mask"``: only legal actions are taken and compared; ``"punish"``: an illegal action ends its game.
        filters: Filters of each convolution; empty if the features have no places.
        hidden: Units of each hidden layer.
        epsilon: The last probability of a random action (epsilon-greedy).
        decay: The number of games over which epsilon falls from 1.
        temperature: Above 0, actions that are not random are drawn by softmax of this temperature; 0 takes the best.
        rate: The learning rate of Adam.
        discount: Above 0 and at most 1; below 1, fast wins are better than slow ones.
        games: Games of a round.
        memory: Rounds whose games are remembered.
        steps: Steps of the optimiser after each round.
        batch: Samples of a step.
        renewal: Rounds between renewals of the target network.
        max_plies: Longer games stop as draws.

    Raises:
        LearnError: A hyperparameter is out of range.
    """

    target: str = MC
    illegal: str = MASK
    filters: tuple[int, ...] = ()
    hidden: tuple[int, ...] = (128, 128)
    epsilon: float = 0.2
    decay: int = 50_000
    temperature: float = 0.0
    rate: float = 0.001
    discount: float = 0.95
    games: int = 256
    memory: int = 60
    steps: int = 32
    batch: int = 256
    renewal: int = 10
    max_plies: int = 200

    def __post_init__(self) -> None:
        check_choices(self, {"target": TARGETS, "illegal": ILLEGAL})
        check_layers(self, _LARGEST_LAYER)
        check_ranges(self, _RANGES)

    def __str__(self) -> str:
        layers = [*(f"{n} filters" for n in self.filters), *(f"{n} units" for n in self.hidden)]
        moves = {MASK: "legal moves only", PUNISH: "illegal moves punished"}[self.illegal]
        mixed = f", temperature {self.temperature:g}" * (self.temperature > 0)
        numbers = f"epsilon {self.epsilon:g}{mixed}, rate {self.rate:g}, discount {self.discount:g}"
        return f"target {self.target}, {moves}, {', '.join(layers) or 'no hidden layer'}, {numbers}"

    def epsilon_after(self, n_games: int) -> float:
        """The probability of a random action after a number of games."""
        return max(1 - (1 - self.epsilon) * n_games / self.decay, self.epsilon)


@dataclass(eq=False, repr=False)
class DqnLearner:
    """A network that learns; `new_dqn` makes one.

    Attributes:
        vector: The game.
        method: Its hyperparameters.
        seed: Its random seed.
        weights: float32 ``[n_weights]``.
        target: The same of the target network.
        momentum: The same, Adam's mean of gradients.
        variance: The same, Adam's mean of squared gradients.
        rounds: Rounds finished.
        wanted: Rounds to finish in all.
        memory: The actions of the games of the latest rounds, int16 ``[games, n_plies]`` each, the oldest first.
        curve: The learning curve: mappings with ``games`` and measures of strength.
        snapshots: The weights at the points of the curve.
    """

    vector: VectorGame
    method: DqnMethod
    seed: int
    weights: np.ndarray
    target: np.ndarray
    momentum: np.ndarray
    variance: np.ndarray
    rounds: int = 0
    wanted: int = 0
    memory: list[np.ndarray] = field(default_factory=list)
    curve: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._samples = [self._samples_of(action) for action in self.memory]

    def __repr__(self) -> str:
        return f"<DqnLearner {self.name}: {self.games:,} games of {self.vector.game.name}>"

    @property
    def name(self) -> str:
        """For example ``"dqn-mc-mask"``."""
        return f"dqn-{self.method.target}-{self.method.illegal}"

    @property
    def games(self) -> int:
        """Games played in all."""
        return self.rounds * self.method.games

    @property
    def architecture(self) -> Architecture:
        """The shape of the network."""
        return check_method(self.vector, self.method)

    @property
    def keeps_rules(self) -> bool:
        """Whether it considers legal actions only."""
        return self.method.illegal == MASK

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""
        return self.method.epsilon_after(self.games)

    def values_of(self, weights: np.ndarray) -> Values:
        """The values of actions by other weights of its shape."""
        return values_of(self.vector, self.architecture, weights)

    @property
    def digest(self) -> str:
        """A fingerprint: learners of the same digest continue alike."""
        digest = hashlib.sha256(repr((self.method, self.seed, self.rounds)).encode())
        for array in (self.weights, self.target, self.momentum, self.variance):
            digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        for action in self.memory:
            digest.update(np.ascontiguousarray(action, dtype="<i2").tobytes())
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

    def learn(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before.

        Raises:
            LearnError: The weights have left all bounds.
            ExtraError: JAX or Optax is not installed.
        """
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

    def _random(self, stream: int) -> np.random.Generator:
        return stream_of(self.seed, self.rounds, stream)


def values_of(vector: VectorGame, architecture: Architecture, weights: np.ndarray) -> Values:
    """The values of actions by a network, as a function of states."""
    return lambda states: evaluate(architecture, weights, vector.features(states))


def method_for(vector: VectorGame, **given: Any) -> DqnMethod:
    """A method with the defaults of a game for what is not given: with filters on boards of four and more a side.

    Raises:
        LearnError: A hyperparameter is out of range.
    """
    is_board = len(vector.feature_shape) == _N_AXES and min(vector.feature_shape[1:]) >= _LEAST_SIDE
    entry = GAMES.get(vector.game.name)
    of_game = {} if entry is None else dict(entry.learning)
    return DqnMethod(**(_OF_BOARDS if is_board else {}) | of_game | given)


def check_method(vector: VectorGame, method: DqnMethod) -> Architecture:
    """The shape of the network that a method has for a game.

    Raises:
        LearnError: The method does not fit the game.
    """
    game = vector.game
    if method.filters and len(vector.feature_shape) != _N_AXES:
        raise LearnError(f"filters: {method.filters} are impossible, the features of {game.name} have no places")
    if method.target == TD and not (game.n_players == 2 and game.is_zero_sum and not hasattr(vector, "probabilities")):
        raise LearnError(
            f"target: 'td' is impossible, {game.name} is not a zero-sum game of two players without chance"
        )
    return Architecture(tuple(vector.feature_shape), method.filters, method.hidden, vector.n_moves)


def new_dqn(vector: VectorGame, method: DqnMethod, seed: int = 0) -> DqnLearner:
    """A learner with random weights.

    Raises:
        LearnError: The seed is out of range, or the method does not fit the game.
    """
    if not 0 <= seed <= LAST_SEED:
        raise LearnError(f"seed: {seed} is not allowed, it must be from 0 to {LAST_SEED}")
    weights = first_weights(check_method(vector, method), stream_of(seed, 0, _BEGIN))
    nothing = np.zeros_like(weights)
    return DqnLearner(vector, method, seed, weights, weights, nothing, nothing)


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
