"""Training: rounds, learning curves, snapshots and resuming, the same for all methods.

A `Trainer` learns in rounds. Between rounds it holds everything that later training depends on, so an agent that is
saved and loaded continues to the same bits. After some rounds its strength is measured and added to the learning curve.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from punish_fast.games.contract import TableGame, VectorGame
from punish_fast.games.learn.episodes import NONE
from punish_fast.games.learn.hyperparameters import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.games.learn.movers import Values
from punish_fast.games.learn.strength import SEATS
from punish_fast.runtime.interrupts import uninterrupted
from punish_fast.runtime.json_values import brief, is_number, is_whole

# Games at the first point of a network's learning curve; each later point doubles them, and the last game has one.
_FIRST_POINT = 1000
_STREAM_BITS = 2
# Shares are sums, so they may be off by rounding.
_SHARE = 1 + 1e-9
_ENDINGS = dict.fromkeys(("win", "draw", "loss", "illegal"), _SHARE)


class Trainer(ABC):
    """An agent that learns a game by a method."""

    kind: ClassVar[str]  # of the agent's file
    method: Any  # hyperparameters
    seed: int
    curve: list[dict[str, Any]]  # learning curve: games and measures of strength

    @property
    @abstractmethod
    def game(self) -> TableGame:
        """The game."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A name for people."""

    @property
    @abstractmethod
    def games(self) -> int:
        """Number of games played."""

    @property
    @abstractmethod
    def games_wanted(self) -> int:
        """Number of games when all planned training is done."""

    @property
    @abstractmethod
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The arrays to save."""

    @property
    @abstractmethod
    def is_point(self) -> bool:
        """True if the learning curve has a point at the current number of games."""

    @abstractmethod
    def learn_round(self) -> None:
        """Play some games and learn from them. An interrupt leaves the agent between two updates."""

    @abstractmethod
    def add_point(self, strength: Any) -> None:
        """Measure the strength and add it to the learning curve."""

    @abstractmethod
    def to_mapping(self) -> dict[str, Any]:
        """Everything but arrays and the game, as JSON values."""

    @abstractmethod
    def _hashed(self) -> Iterable[tuple[np.ndarray, str]]:
        """Arrays of the digest, with their dtypes."""

    @property
    @abstractmethod
    def _progress(self) -> tuple[Any, ...]:
        """Progress, as a part of the digest."""

    @property
    def digest(self) -> str:
        """Fingerprint of the training state: training continues identically for agents with the same digest."""
        digest = hashlib.sha256(repr((self.method, self.seed, *self._progress)).encode())
        for array, dtype in self._hashed():
            digest.update(np.ascontiguousarray(array, dtype=dtype).tobytes())
        return digest.hexdigest()[:16]

    def prepare(self) -> None:  # noqa: B027 - networks need no preparation
        """Compile what training needs, before the clock starts."""


def train(trainer: Trainer, strength: Any, on_round: Callable[[], None] | None = None) -> float:
    """Do all training that is planned.

    An exception from ``on_round`` or an interrupt ends training; calling again resumes it.

    Args:
        strength: What `Trainer.add_point` needs: perfect play for a table, `strength.Strength` for a network.
        on_round: Called after each round, for progress and checkpoints.

    Returns:
        Seconds spent in rounds, without measurements and ``on_round``.
    """
    trainer.prepare()
    seconds = 0.0
    _settle(trainer, strength)
    while trainer.games < trainer.games_wanted:
        begin = time.perf_counter()
        trainer.learn_round()
        seconds += time.perf_counter() - begin
        _settle(trainer, strength)
        if on_round is not None:
            on_round()
    return seconds


def _settle(trainer: Trainer, strength: Any) -> None:
    """Add a point to the learning curve if one is due and missing."""
    if trainer.is_point and not (trainer.curve and trainer.curve[-1]["games"] == trainer.games):
        trainer.add_point(strength)


def stream_of(seed: int, number: int, stream: int) -> np.random.Generator:
    """Return the random numbers of one use, from 0 to 3, in one round of an agent."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number << _STREAM_BITS | stream], dtype=np.uint64)))


def check_games(n_games: int) -> None:
    """Check a number of games."""
    if not 1 <= n_games <= MAX_GAMES:
        raise LearnError(f"games: {n_games} is not allowed, it must be from 1 to {MAX_GAMES}")


def check_seed(seed: Any) -> None:
    """Check a random seed."""
    if not is_whole(seed, 0, LAST_SEED):
        raise LearnError(f"seed: {brief(seed)} is not allowed, it must be from 0 to {LAST_SEED}")


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkTrainer(Trainer):
    """A network that learns in rounds of games against itself; base class of `DqnLearner` and `MuZeroLearner`.

    All random numbers of a round follow from the random seed and the number of the round.
    """

    vector: VectorGame
    method: Any
    seed: int
    weights: np.ndarray  # float32 [n_weights]
    momentum: np.ndarray  # float32 [n_weights], the optimiser's mean of gradients
    variance: np.ndarray  # float32 [n_weights], the optimiser's mean of squared gradients
    rounds: int = 0  # finished
    wanted: int = 0  # rounds to finish in all
    memory: list[Any] = field(default_factory=list)  # games of the latest rounds, the oldest first
    curve: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[np.ndarray] = field(default_factory=list)  # weights at the points of the curve

    kind: ClassVar[str] = "network"
    keeps_rules: ClassVar[Any] = True  # whether it considers legal actions only

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.games:,} games of {self.vector.game.name}>"

    @property
    def game(self) -> TableGame:
        """The game."""
        return self.vector.game  # type: ignore[return-value]

    @property
    def games(self) -> int:
        """Number of games played."""
        return int(self.rounds * self.method.games)

    @property
    def games_wanted(self) -> int:
        """Number of games when all planned training is done."""
        return int(self.wanted * self.method.games)

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The probability of a random action in self-play."""

    @abstractmethod
    def values_of(self, weights: np.ndarray) -> Values:
        """Return the values of actions by the networks with some weights, float32 ``[n_weights]``."""

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """The arrays to save, but for the memory."""
        snapshots = np.array(self.snapshots, dtype=np.float32).reshape(-1, len(self.weights))
        names = ("weights", "momentum", "variance")
        return {name: getattr(self, name) for name in names} | {"snapshots": snapshots}

    def plan(self, n_games: int) -> None:
        """Plan further games, in whole rounds."""
        check_games(n_games)
        self.wanted += -(-n_games // self.method.games)

    def to_mapping(self) -> dict[str, Any]:
        """Everything but arrays and the game, as JSON values."""
        return {"method": asdict(self.method)} | {name: getattr(self, name) for name in _PROGRESS}

    @property
    def _progress(self) -> tuple[Any, ...]:
        return (self.rounds,)

    @property
    def is_point(self) -> bool:
        """True if the learning curve has a point at the current number of games."""
        if self.rounds == 0:
            return False
        doublings = max(self.games // _FIRST_POINT, 1).bit_length() - 1
        return self.rounds in (self.wanted, -(-(_FIRST_POINT << doublings) // self.method.games))

    def add_point(self, strength: Any) -> None:
        """Measure the strength, also against all earlier snapshots, and keep the weights as a snapshot."""
        own = self.values_of(self.weights)
        measures = strength.measure(own, self.keeps_rules)
        earlier = strength.points(own, [self.values_of(weights) for weights in self.snapshots])
        with uninterrupted():
            self.curve.append({"games": self.games, "epsilon": self.epsilon} | measures | {"earlier": earlier})
            self.snapshots.append(self.weights)

    def _random(self, stream: int) -> np.random.Generator:
        return stream_of(self.seed, self.rounds, stream)


_PROGRESS = ("seed", "rounds", "wanted", "curve")


def progress_of(
    vector: VectorGame, learner: Mapping[str, Any], arrays: Mapping[str, np.ndarray], method: Any, n_weights: int
) -> dict[str, Any]:
    """Return the arguments of a `NetworkTrainer` from a file, without the memory.

    Args:
        learner: The mapping of `NetworkTrainer.to_mapping`.
        arrays: The arrays of the file.
        n_weights: The number of weights of its network.
    """
    progress = {name: learner[name] for name in _PROGRESS}
    seed, rounds, wanted, curve = progress.values()
    if not (is_whole(seed, 0, LAST_SEED) and is_whole(wanted, 0, MAX_GAMES) and is_whole(rounds, 0, wanted)):
        raise LearnError("learner: its numbers are impossible")
    weights, snapshots = arrays["weights"], arrays["snapshots"]
    shapes = {arrays[name].shape for name in ("weights", "momentum", "variance")} | {snapshots.shape[1:]}
    if shapes != {(n_weights,)}:
        raise LearnError(f"learner: it has {len(weights):,} weights, its method {n_weights:,}")
    point = dict.fromkeys(("epsilon", "win_share", "draw_share", "loss_share", "perfect"), _SHARE)
    seats = dict.fromkeys(SEATS[: vector.game.n_players], _ENDINGS)
    check_curve(curve, point | seats | {"games": rounds * method.games, "mistakes": MAX_GAMES, "earlier": [_SHARE]})
    if len(curve) != len(snapshots):
        raise LearnError(f"curve: {len(curve)} points for {len(snapshots)} snapshots")
    n_remembered, (n_games, n_plies) = min(rounds, method.memory), arrays["action"].shape
    if n_games != n_remembered * method.games or n_plies > method.max_plies:
        raise LearnError(f"action: {n_games:,} games of {n_plies} plies are not those of the latest rounds")
    names = ("weights", "momentum", "variance")
    return progress | {name: arrays[name] for name in names} | {"snapshots": list(snapshots)}


def check_curve(curve: Any, point: Mapping[str, Any]) -> None:
    """Check a learning curve; ``point`` has the largest number for each of its measures, from which None may miss."""
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


def padded(parts: Sequence[np.ndarray], n_rows: int, fill: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return the games of rounds as one array ``[n_rounds * n_rows, n_plies, ...]``.

    Args:
        parts: An array ``[n_rows, n_plies, ...]`` for each round, with different numbers of plies.
        fill: The value after the end of a game.
        shape: The shape of an entry.
    """
    n_plies = max((part.shape[1] for part in parts), default=0)
    joined = np.full((len(parts), n_rows, n_plies, *shape), fill, dtype=dtype)
    for into, part in zip(joined, parts, strict=True):
        into[:, : part.shape[1]] = part
    return joined.reshape(len(parts) * n_rows, n_plies, *shape)


def n_plies_of(action: np.ndarray) -> int:
    """Return the number of plies of the longest game."""
    return int((action != NONE).sum(axis=1).max(initial=0))
