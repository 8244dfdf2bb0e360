"""Training of networks by any method: rounds, learning curves, snapshots and resuming.

A network learns in rounds of games against itself. All random numbers of a round are derived from the random seed and
the index of the round. Files contain all data on which later rounds depend, so the results after resuming from a file
are bitwise identical. After some rounds, the strength of the network is measured and added to the learning curve.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from punish_fast.games.contract import Game, VectorGame
from punish_fast.games.episodes import NONE, SEATS, Values
from punish_fast.games.learn.hyperparameters import LAST_SEED, MAX_GAMES, LearnError
from punish_fast.games.learn.networks import n_weights_of, on_processor, random_weights
from punish_fast.games.learn.strength import Strength
from punish_fast.runtime.errors import brief, check_allowed, is_number, is_whole
from punish_fast.runtime.interrupts import uninterrupted

# Number of games at the first point of a learning curve. It doubles from point to point. The last point is at the end.
_FIRST_POINT = 1000
_STREAM_BITS = 2
# Random streams of a round: games, replay sampling, initial weights and reanalysis.
PLAY, LEARN, BEGIN, REANALYZE = range(4)
# Maximum number of steps passed to the optimizer, so that it fits int32. After it, the learning rate is constant.
_MOST_STEPS = 1_000_000_000
# Maximum valid share. Shares are sums, so rounding errors can make them greater than 1.
_SHARE = 1 + 1e-9
_ENDINGS = dict.fromkeys(("win", "draw", "loss", "illegal"), _SHARE)
_PROGRESS = ("seed", "rounds", "wanted", "curve")

NETWORK_LAYOUT = dict.fromkeys(("weights", "momentum", "variance"), ("float32", 1)) | {
    "snapshots": ("float32", 2),
    "action": ("int16", 2),  # actions of the latest games, oldest first, or -1 after the end
}


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkTrainer(ABC):
    """Base class of networks that learn by self-play in rounds."""

    vector: VectorGame
    method: Any  # hyperparameters
    seed: int
    weights: np.ndarray  # float32 [n_weights]
    momentum: np.ndarray  # float32 [n_weights], the optimizer's moving average of gradients
    variance: np.ndarray  # float32 [n_weights], the optimizer's moving average of squared gradients
    rounds: int = 0  # number of finished rounds
    wanted: int = 0  # number of rounds when all planned training is finished
    # Replay buffer: the latest rounds, oldest first. Each round has a field ``games``.
    replay: list[Any] = field(default_factory=list)
    # Learning curve: numbers of games (``games``) and measures of strength.
    curve: list[dict[str, Any]] = field(default_factory=list)
    snapshots: list[np.ndarray] = field(default_factory=list)  # weights at the points of the curve

    kind: ClassVar[str]  # kind of the agent file
    layout: ClassVar[dict[str, tuple[str, int]]]  # dtype and number of dimensions per array in the file
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
        """Rebuild a learner from `to_mapping` and `arrays`. Raise `LearnError` if they are invalid."""
        method = cls.method_type.of(learner["method"])
        n_weights = n_weights_of(method.shape_for(vector).shapes)
        progress = {name: learner[name] for name in _PROGRESS}
        seed, rounds, wanted, curve = progress.values()
        if not (is_whole(seed, 0, LAST_SEED) and is_whole(wanted, 0, MAX_GAMES) and is_whole(rounds, 0, wanted)):
            raise LearnError("learner: seed, rounds or wanted are out of range")
        for name in (*cls.networks, "snapshots"):
            if arrays[name].shape[-1] != n_weights:
                raise LearnError(f"{name}: it has {arrays[name].shape[-1]:,} weights; its method needs {n_weights:,}")
        point = dict.fromkeys(("epsilon", "win_share", "draw_share", "loss_share", "perfect"), _SHARE)
        seats = dict.fromkeys(SEATS[: vector.game.n_players], _ENDINGS)
        check_curve(curve, point | seats | {"games": rounds * method.games, "mistakes": MAX_GAMES, "earlier": [_SHARE]})
        snapshots = list(arrays["snapshots"])
        if len(curve) != len(snapshots):
            raise LearnError(f"curve: {len(curve)} points for {len(snapshots)} snapshots")
        n_remembered, (n_games, n_plies) = min(rounds, method.replay_size), arrays["action"].shape
        if n_games != n_remembered * method.games or n_plies > method.max_plies:
            raise LearnError(f"action: {n_games:,} games of {n_plies} plies do not match the latest rounds")
        networks = {name: arrays[name] for name in cls.networks}
        trainer = cls(vector=vector, method=method, snapshots=snapshots, **networks, **progress)  # type: ignore[arg-type]
        games = trainer._empty_games(n_games, n_plies)
        for name, array in games._asdict().items():
            if arrays[name].shape != array.shape:
                raise LearnError(f"{name}: its shape is {arrays[name].shape}, not {array.shape}")
            array[:] = arrays[name]
        for begin in range(0, n_games, method.games):
            trainer.replay.append(trainer._remember(type(games)(*(a[begin : begin + method.games] for a in games))))
        return trainer

    @property
    def game(self) -> Game:
        """Game that the network learns."""
        return self.vector.game

    @property
    def name(self) -> str:
        """Short name, such as ``"dqn-mc-mask"``."""
        return str(self.method.name)

    @property
    def shape(self) -> Any:
        """Shape of the networks."""
        return self.method.shape_for(self.vector)

    @property
    def keeps_rules(self) -> bool:
        """True if the network considers only legal actions."""
        return bool(self.method.keeps_rules)

    @property
    def games(self) -> int:
        """Number of games played."""
        return int(self.rounds * self.method.games)

    @property
    def games_wanted(self) -> int:
        """Number of games when all planned training is finished."""
        return int(self.wanted * self.method.games)

    @property
    def digest(self) -> str:
        """Digest of the training state. Agents with equal digests continue training identically."""
        arrays = [getattr(self, name) for name in self.networks]
        return digest_of(
            (self.method, self.seed, self.rounds), [*arrays, *(a for part in self.replay for a in part.games)]
        )

    @property
    def arrays(self) -> Mapping[str, np.ndarray]:
        """Arrays to save, by name."""
        found = {name: getattr(self, name) for name in self.networks}
        found["snapshots"] = np.array(self.snapshots, dtype=np.float32).reshape(-1, len(self.weights))
        n, n_plies = self.method.games, max((part.games.action.shape[1] for part in self.replay), default=0)
        joined = self._empty_games(n * len(self.replay), n_plies)
        for number, part in enumerate(self.replay):
            for into, array in zip(joined, part.games, strict=True):
                into[number * n : (number + 1) * n, : array.shape[1]] = array
        return found | {name: a.view(np.uint8) if a.dtype == np.bool_ else a for name, a in joined._asdict().items()}

    def to_mapping(self) -> dict[str, Any]:
        """Return all data except arrays and the game, as JSON values."""
        return {"method": asdict(self.method)} | {name: getattr(self, name) for name in _PROGRESS}

    def plan(self, n_games: int) -> None:
        """Plan at least ``n_games`` further games, in whole rounds."""
        check_games(n_games)
        self.wanted += -(-n_games // self.method.games)

    def drop_plans(self) -> None:
        """Drop all planned games that have not been played."""
        self.wanted = self.rounds

    def learn_round(self) -> None:
        """Play a round and update the weights. Raise `LearnError` if the weights diverge.

        An interrupt before the end of the round does not change the learner.
        """
        method = self.method
        played = self._remember(self._play(stream_of(self.seed, self.rounds, PLAY)))
        replay = [*self._kept(), played][-method.replay_size :]
        drawn = self._draw(replay, method.steps * method.batch, stream_of(self.seed, self.rounds, LEARN))
        batches = {name: array.reshape(method.steps, method.batch, *array.shape[1:]) for name, array in drawn.items()}
        count = np.int32(min(self.rounds * method.steps, _MOST_STEPS))
        with on_processor():
            state = [np.array(each) for each in self._step(count, batches)]
        if not all(np.isfinite(array).all() for array in state):
            raise LearnError(f"rate: {method.rate:g} is too high; the weights have diverged")
        with uninterrupted():
            self.weights, self.momentum, self.variance = state
            self.rounds += 1
            self.replay = replay
            self._renew()

    def _kept(self) -> list[Any]:
        """Return the replay buffer before the new round is added. Subclasses may update earlier rounds."""
        return self.replay

    def _renew(self) -> None:  # noqa: B027 - most methods have nothing to renew
        """Update copies of the weights, such as a target network, after a round."""

    @abstractmethod
    def values_of(self, weights: np.ndarray) -> Values:
        """Return a function that computes action values with the given weights, float32 ``[n_weights]``."""

    def value_functions(self) -> dict[int | None, Values]:
        """Return the action-value functions to evaluate, keyed by number of simulations (0 or None for no search)."""
        return {None: self.values_of(self.weights)}

    @abstractmethod
    def _empty_games(self, n: int, n_plies: int) -> Any:
        """Return ``n`` games without actions, as a named tuple of arrays whose first field is ``action``."""

    @abstractmethod
    def _play(self, generator: np.random.Generator) -> Any:
        """Play the games of a round, and return a named tuple with the fields of `_empty_games`."""

    @abstractmethod
    def _remember(self, games: Any) -> Any:
        """Return a round for the replay buffer, with the trimmed games and the data for training samples."""

    @abstractmethod
    def _draw(self, replay: list[Any], n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw ``n`` training samples from the replay buffer ``replay``, and return arrays ``[n, ...]`` by name."""

    @abstractmethod
    def _step(self, count: np.int32, batches: dict[str, np.ndarray]) -> Sequence[Any]:
        """Take a round's optimizer steps after ``count`` earlier steps. Return new weights, momentum and variance."""

    @property
    def is_point(self) -> bool:
        """True if the learning curve has a point at the current number of games."""
        if self.rounds == 0:
            return False
        doublings = max(self.games // _FIRST_POINT, 1).bit_length() - 1
        return self.rounds in (self.wanted, -(-(_FIRST_POINT << doublings) // self.method.games))

    def add_point(self, strength: Strength) -> None:
        """Measure the network's strength, add a point to the learning curve, and store the weights as a snapshot."""
        own = self.values_of(self.weights)
        measures = strength.measure(own, self.keeps_rules)
        earlier = strength.points(own, [self.values_of(weights) for weights in self.snapshots])
        with uninterrupted():
            epsilon = self.method.epsilon_after(self.games)
            self.curve.append({"games": self.games, "epsilon": epsilon} | measures | {"earlier": earlier})
            self.snapshots.append(self.weights)


def stream_of(seed: int, number: int, stream: int) -> np.random.Generator:
    """Return the random generator of a stream, such as `PLAY`, in round ``number`` of training."""
    return np.random.Generator(np.random.Philox(key=np.array([seed, number << _STREAM_BITS | stream], dtype=np.uint64)))


def digest_of(progress: tuple[Any, ...], arrays: Iterable[np.ndarray]) -> str:
    """Return the first 16 hex digits of the SHA-256 hash of a training state."""
    digest = hashlib.sha256(repr(progress).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def check_games(n_games: int) -> None:
    """Raise `LearnError` unless ``n_games`` is from 1 to `MAX_GAMES`."""
    check_allowed(1 <= n_games <= MAX_GAMES, LearnError, "games", n_games, f"from 1 to {MAX_GAMES}")


def check_seed(seed: Any) -> None:
    """Raise `LearnError` unless ``seed`` is an integer from 0 to `LAST_SEED`."""
    check_allowed(is_whole(seed, 0, LAST_SEED), LearnError, "seed", brief(seed), f"from 0 to {LAST_SEED}")


def check_curve(curve: Any, point: Mapping[str, Any]) -> None:
    """Raise `LearnError` if a learning curve is invalid. ``point`` contains the maximum of each measure."""
    for each in curve if isinstance(curve, list) else [curve]:
        if not _is_like(each, point):
            raise LearnError(f"curve: {brief(each)} is not a point of a learning curve")


def _is_like(value: Any, most: Any) -> bool:
    """Return True if a value has the structure of ``most`` and its numbers are from 0 to the numbers in ``most``.

    The measures in `_MAY_MISS` may be None, but only together.
    """
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


def located(drawn: np.ndarray, sizes: Sequence[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Find the entries of concatenated arrays, given the array sizes and the indices ``drawn`` in the concatenation.

    For each array, yield the places of its entries in ``drawn``, and their indices in the array.
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    owner = np.searchsorted(ends, drawn, side="right")
    for number, size in enumerate(sizes):
        places = np.flatnonzero(owner == number)
        yield places, drawn[places] - (ends[number] - size)


def trimmed(games: Any) -> Any:
    """Remove trailing plies that no game reaches from games, a named tuple of arrays ``[n, n_plies, ...]``."""
    n_plies = int((games.action != NONE).sum(axis=1).max(initial=0))
    return type(games)(*(array[:, :n_plies] for array in games))
