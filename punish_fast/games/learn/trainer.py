"""Training of networks: rounds, learning curves, snapshots and resuming, the same for all methods.

A network learns in rounds of games against itself. All random numbers of a round follow from the random seed and the
number of the round, and between rounds a trainer holds everything that later training depends on, so an agent that is
saved and loaded continues to the same bits. After some rounds its strength is measured and added to the learning curve.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from punish_fast.games.contract import TableGame, VectorGame
from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.hyperparameters import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.networks import n_weights_of, on_processor, random_weights
from punish_fast.games.learn.strength import SEATS, Strength
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.json_values import brief, is_number, is_whole

# Games at the first point of a network's learning curve; each later point doubles them, and the last game has one.
_FIRST_POINT = 1000
_STREAM_BITS = 2
# The random numbers of a round: games, draws of samples, initial weights, and reanalysis.
PLAY, LEARN, BEGIN, REANALYSE = range(4)
# After this number of steps, the optimiser no longer corrects its means, and its rate falls no further.
_MOST_STEPS = 1_000_000_000
# Shares are sums, so they may be off by rounding.
_SHARE = 1 + 1e-9
_ENDINGS = dict.fromkeys(("win", "draw", "loss", "illegal"), _SHARE)
_PROGRESS = ("seed", "rounds", "wanted", "curve")

NETWORK_LAYOUT = dict.fromkeys(("weights", "momentum", "variance"), ("float32", 1)) | {
    "snapshots": ("float32", 2),
    "action": ("int16", 2),  # actions of the latest games, the oldest first; -1 after the end
}


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkTrainer(ABC):
    """A network that learns in rounds of games against itself."""

    vector: VectorGame
    method: Any  # hyperparameters
    seed: int
    weights: np.ndarray  # float32 [n_weights]
    momentum: np.ndarray  # float32 [n_weights], the optimiser's mean of gradients
    variance: np.ndarray  # float32 [n_weights], the optimiser's mean of squared gradients
    rounds: int = 0  # finished
    wanted: int = 0  # rounds to finish in all
    memory: list[Any] = field(default_factory=list)  # the latest rounds, the oldest first, each with its `games`
    curve: list[dict[str, Any]] = field(default_factory=list)  # learning curve: games and measures of strength
    snapshots: list[np.ndarray] = field(default_factory=list)  # weights at the points of the curve

    kind: ClassVar[str]  # of the agent's file
    layout: ClassVar[dict[str, tuple[str, int]]]  # dtype and number of dimensions of each array of the file
    method_type: ClassVar[Any]  # class of the hyperparameters
    networks: ClassVar[tuple[str, ...]] = ("weights", "momentum", "variance")

    @classmethod
    def new(cls, vector: VectorGame, method: Any, seed: int = 0) -> Self:
        """Return a learner with random weights."""
        check_seed(seed)
        weights = random_weights(method.shape_for(vector).shapes, stream_of(seed, 0, BEGIN))
        nothing = np.zeros_like(weights)
        networks = dict.fromkeys(cls.networks, weights) | {"momentum": nothing, "variance": nothing}
        return cls(vector=vector, method=method, seed=seed, **networks)  # type: ignore[arg-type]

    @classmethod
    def of(cls, vector: VectorGame, learner: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Self:
        """Return the learner of a mapping from `to_mapping` and of its arrays."""
        method = cls.method_type.of(learner["method"])
        n_weights = n_weights_of(method.shape_for(vector).shapes)
        progress = {name: learner[name] for name in _PROGRESS}
        seed, rounds, wanted, curve = progress.values()
        if not (is_whole(seed, 0, LAST_SEED) and is_whole(wanted, 0, MAX_GAMES) and is_whole(rounds, 0, wanted)):
            raise LearnError("learner: its numbers are impossible")
        for name in (*cls.networks, "snapshots"):
            if arrays[name].shape[-1] != n_weights:
                raise LearnError(f"{name}: it has {arrays[name].shape[-1]:,} weights, its method {n_weights:,}")
        point = dict.fromkeys(("epsilon", "win_share", "draw_share", "loss_share", "perfect"), _SHARE)
        seats = dict.fromkeys(SEATS[: vector.game.n_players], _ENDINGS)
        check_curve(curve, point | seats | {"games": rounds * method.games, "mistakes": MAX_GAMES, "earlier": [_SHARE]})
        snapshots = list(arrays["snapshots"])
        if len(curve) != len(snapshots):
            raise LearnError(f"curve: {len(curve)} points for {len(snapshots)} snapshots")
        n_remembered, (n_games, n_plies) = min(rounds, method.memory), arrays["action"].shape
        if n_games != n_remembered * method.games or n_plies > method.max_plies:
            raise LearnError(f"action: {n_games:,} games of {n_plies} plies are not those of the latest rounds")
        networks = {name: arrays[name] for name in cls.networks}
        trainer = cls(vector=vector, method=method, snapshots=snapshots, **networks, **progress)  # type: ignore[arg-type]
        games = trainer._empty_games(n_games, n_plies)
        for name, array in games._asdict().items():
            if arrays[name].shape != array.shape:
                raise LearnError(f"{name}: its shape is {arrays[name].shape}, not {array.shape}")
            array[:] = arrays[name]
        for begin in range(0, n_games, method.games):
            trainer.memory.append(trainer._remember(type(games)(*(a[begin : begin + method.games] for a in games))))
        return trainer

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.games:,} games of {self.vector.game.name}>"

    @property
    def game(self) -> TableGame:
        """The game."""
        return self.vector.game  # type: ignore[return-value]

    @property
    def name(self) -> str:
        """Short name, for example ``"dqn-mc-mask"``."""
        return str(self.method.name)

    @property
    def shape(self) -> Any:
        """The shape of the networks."""
        return self.method.shape_for(self.vector)

    @property
    def keeps_rules(self) -> bool:
        """Whether it considers legal actions only."""
        return bool(self.method.keeps_rules)

    @property
    def games(self) -> int:
        """Number of games played."""
        return int(self.rounds * self.method.games)

    @property
    def games_wanted(self) -> int:
        """Number of games when all planned training is done."""
        return int(self.wanted * self.method.games)

    @property
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""
        return float(self.method.epsilon_after(self.games))

    @property
    def digest(self) -> str:
        """Fingerprint of the training state: training continues identically for agents with the same digest."""
        arrays = [getattr(self, name) for name in self.networks]
        return digest_of(
            (self.method, self.seed, self.rounds), [*arrays, *(a for part in self.memory for a in part.games)]
        )

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The arrays to save."""
        found = {name: getattr(self, name) for name in self.networks}
        found["snapshots"] = np.array(self.snapshots, dtype=np.float32).reshape(-1, len(self.weights))
        n, n_plies = self.method.games, max((part.games.action.shape[1] for part in self.memory), default=0)
        joined = self._empty_games(n * len(self.memory), n_plies)
        for number, part in enumerate(self.memory):
            for into, array in zip(joined, part.games, strict=True):
                into[number * n : (number + 1) * n, : array.shape[1]] = array
        return found | {name: a.view(np.uint8) if a.dtype == np.bool_ else a for name, a in joined._asdict().items()}

    def to_mapping(self) -> dict[str, Any]:
        """Return everything but arrays and the game, as JSON values."""
        return {"method": asdict(self.method)} | {name: getattr(self, name) for name in _PROGRESS}

    def plan(self, n_games: int) -> None:
        """Plan further games, in whole rounds."""
        check_games(n_games)
        self.wanted += -(-n_games // self.method.games)

    def learn_round(self) -> None:
        """Play a round and learn from it. An interrupt leaves the learner as it was before."""
        method = self.method
        played = self._remember(self._play(stream_of(self.seed, self.rounds, PLAY)))
        memory = [*self._kept(), played][-method.memory :]
        drawn = self._draw(memory, method.steps * method.batch, stream_of(self.seed, self.rounds, LEARN))
        batches = {name: array.reshape(method.steps, method.batch, *array.shape[1:]) for name, array in drawn.items()}
        count = np.int32(min(self.rounds * method.steps, _MOST_STEPS))
        with on_processor():
            state = [np.array(each) for each in self._step(count, batches)]
        if not all(np.isfinite(array).all() for array in state):
            raise LearnError(f"rate: {method.rate:g} is too high, the weights have left all bounds")
        with uninterrupted():
            self.weights, self.momentum, self.variance = state
            self.rounds += 1
            self.memory = memory
            self._renew()

    def _kept(self) -> list[Any]:
        """Return the rounds that are remembered."""
        return self.memory

    def _renew(self) -> None:  # noqa: B027 - most methods have nothing to renew
        """Finish a round."""

    @abstractmethod
    def values_of(self, weights: np.ndarray) -> Values:
        """Return the values of actions by the networks with some weights, float32 ``[n_weights]``."""

    def judged(self) -> dict[int | None, Values]:
        """Return the values by which the agent is judged, by the number of simulations of its search, if any."""
        return {None: self.values_of(self.weights)}

    @abstractmethod
    def _empty_games(self, n: int, n_plies: int) -> Any:
        """Return arrays for games, a named tuple whose first field is ``action``."""

    @abstractmethod
    def _play(self, generator: np.random.Generator) -> Any:
        """Return the games of a round, as in `_empty_games`."""

    @abstractmethod
    def _remember(self, games: Any) -> Any:
        """Return a round of the memory: its games without empty plies, and what samples are drawn from."""

    @abstractmethod
    def _draw(self, memory: list[Any], n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        """Return ``n`` samples, arrays ``[n, ...]``."""

    @abstractmethod
    def _step(self, count: np.int32, batches: dict[str, np.ndarray]) -> Sequence[Any]:
        """Return weights, momentum and variance after the steps of a round; ``count`` is the number of earlier ones."""

    @property
    def is_point(self) -> bool:
        """True if the learning curve has a point at the current number of games."""
        if self.rounds == 0:
            return False
        doublings = max(self.games // _FIRST_POINT, 1).bit_length() - 1
        return self.rounds in (self.wanted, -(-(_FIRST_POINT << doublings) // self.method.games))

    def add_point(self, strength: Strength) -> None:
        """Measure the strength, also against all earlier snapshots, and keep the weights as a snapshot."""
        own = self.values_of(self.weights)
        measures = strength.measure(own, self.keeps_rules)
        earlier = strength.points(own, [self.values_of(weights) for weights in self.snapshots])
        with uninterrupted():
            self.curve.append({"games": self.games, "epsilon": self.epsilon} | measures | {"earlier": earlier})
            self.snapshots.append(self.weights)


def stream_of(seed: int, number: int, stream: int) -> np.random.Generator:
    """Return the random numbers of one use, from 0 to 3, in one round of an agent."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number << _STREAM_BITS | stream], dtype=np.uint64)))


def digest_of(progress: tuple[Any, ...], arrays: Iterable[np.ndarray]) -> str:
    """Return the fingerprint of a training state."""
    digest = hashlib.sha256(repr(progress).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def check_games(n_games: int) -> None:
    """Check a number of games."""
    if not 1 <= n_games <= MAX_GAMES:
        raise LearnError(f"games: {n_games} is not allowed, it must be from 1 to {MAX_GAMES}")


def check_seed(seed: Any) -> None:
    """Check a random seed."""
    if not is_whole(seed, 0, LAST_SEED):
        raise LearnError(f"seed: {brief(seed)} is not allowed, it must be from 0 to {LAST_SEED}")


def check_curve(curve: Any, point: Mapping[str, Any]) -> None:
    """Check a learning curve; ``point`` has the largest number for each measure, from which None may be missing."""
    for each in curve if isinstance(curve, list) else [curve]:
        if not _is_like(each, point):
            raise LearnError(f"curve: {brief(each)} is not a point of a learning curve")


def _is_like(value: Any, most: Any) -> bool:
    """Return True if a value has the structure of ``most``, and each number is between 0 and its counterpart."""
    if isinstance(most, Mapping):
        return (
            isinstance(value, dict)
            and sorted(value) == sorted(most)
            and (value.get("perfect", 0) is None) == (value.get("mistakes", 0) is None)
            and all((each is None and name in _MAY_MISS) or _is_like(each, most[name]) for name, each in value.items())
        )
    if isinstance(most, list):
        return isinstance(value, list) and all(_is_like(each, most[0]) for each in value)
    return is_number(value, 0, most)


_MAY_MISS = ("perfect", "mistakes")


def trimmed(games: Any) -> Any:
    """Return games, a named tuple of arrays ``[n, n_plies, ...]``, without the plies that none of them has."""
    n_plies = int((games.action != NONE).sum(axis=1).max(initial=0))
    return type(games)(*(array[:, :n_plies] for array in games))
