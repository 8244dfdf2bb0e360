"""Deep Q-networks: one network learns a game by self-play in all seats.

Training proceeds in *rounds*. In each round, the network plays a batch of games epsilon-greedily. Samples of the games
are added to the replay buffer, which contains the latest rounds. The weights are then updated by a number of Adam steps
(Kingma and Ba, 2015) on the squared errors of batches drawn from the buffer. Epsilon decreases linearly from 1 to its
final value.

If players decide simultaneously or hide cards, greedy self-play cycles, because the best response to one network soon
becomes a bad response to its successors. With a temperature above 0, the players use a mixed policy (softmax) instead.
This policy becomes approximately a best response to itself.

The target-network form (*td*) follows V. Mnih et al., "Human-level control through deep reinforcement learning", Nature
518, 2015. A copy of the network, which is updated every few rounds, evaluates successor states. The Monte Carlo form
(*mc*) does not need a copy.

A sample consists of a state, an action, and a target for the action's value,

    value + sign discount max over b of Q(after, b)

where ``after`` is the state after the action, and ``sign`` is -1 if the turn passed, 1 if the mover kept the turn, and
0 if the target is only ``value``.

*td* (temporal difference). Every action is a sample. ``value`` is the return of the mover if the action ended the game,
otherwise 0. The target assumes a zero-sum game of two players.

*mc* (Monte Carlo). ``value`` is the return of the mover at the end of the game, discounted once for each later action
of the same player, and ``sign`` is 0. This form also supports general-sum games, more than two players and chance,
because each player of a game has a separate trajectory.

Chance events are not samples. An illegal action ends the game and has the value -1. Under *mc*, the illegal action is
the only sample of the game.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from punish_fast.games.contract import CHANCE, VectorGame
from punish_fast.games.episodes import NONE, ValueMover, Values, play, retrace
from punish_fast.games.learn.hyperparameters import TINY, LearnError, NetworkMethod, hyperparameter, is_duel
from punish_fast.games.learn.networks import Architecture, action_values, compiled_steps, evaluate
from punish_fast.games.learn.trainer import NETWORK_LAYOUT, NetworkTrainer, located, trimmed
from punish_fast.runtime.lazy_modules import jnp, optax

MC, TD = "mc", "td"
TARGETS = (MC, TD)
# Value of an illegal action.
_ILLEGAL = -1.0


class Samples(NamedTuple):
    """Training samples. See the docstring of this module for ``value`` and ``sign``."""

    state: np.ndarray  # uint64 [k, n_words]
    action: np.ndarray  # int16 [k]
    value: np.ndarray  # float32 [k]
    sign: np.ndarray  # int8 [k]
    after: np.ndarray  # uint64 [k, n_words], state after the action, or [k, 0] under *mc*


def samples_of(vector: VectorGame, action: np.ndarray, target: str, discount: float) -> Samples:
    """Return the training samples of games.

    Args:
        vector: Rules of the game.
        action: Actions of the games, int16 ``[n, n_plies]`` (see ``episodes.py``).
        target: ``"mc"`` or ``"td"``.
        discount: Discount of each move. Only *mc* uses it.
    """
    played = retrace(vector, action)
    n_games, n_plies = action.shape
    is_move = (action != NONE) & (played.player != CHANCE)
    illegal = is_move & ~played.is_legal
    # Return of each action's player at the end of the game.
    result = np.take_along_axis(played.returns, played.player.astype(np.int64), axis=1)
    before, after = played.state[:, :-1], played.state[:, 1:]
    if target == MC:
        taken = illegal | (is_move & ~illegal.any(axis=1, keepdims=True))
        sign, after = np.zeros_like(played.player), after[..., :0]
        value = result * np.float32(discount) ** _own_moves_left(played.player, is_move, vector.game.n_players)
    else:
        taken = is_move
        is_last = np.arange(n_plies) == is_move.sum(axis=1, keepdims=True) - 1
        mover_after = vector.player(after.reshape(-1, vector.n_words)).reshape(n_games, n_plies)
        is_end = illegal | (is_last & played.is_over[:, np.newaxis])
        sign = np.where(is_end, 0, np.where(mover_after == played.player, 1, -1)).astype(np.int8)
        value = np.where(is_last, result, 0)
    value = np.where(illegal, _ILLEGAL, value).astype(np.float32)
    return Samples(before[taken], action[taken], value[taken], sign[taken], after[taken])


def drawn_samples(parts: Sequence[Samples], drawn: np.ndarray) -> Samples:
    """Return the samples with indices ``drawn`` in the concatenation of ``parts``, without concatenating ``parts``."""
    found = Samples(*(np.empty((len(drawn), *field.shape[1:]), field.dtype) for field in parts[0]))
    for part, (places, rows) in zip(parts, located(drawn, [len(part.state) for part in parts]), strict=True):
        for into, field in zip(found, part, strict=True):
            into[places] = field[rows]
    return found


def _own_moves_left(player: np.ndarray, is_move: np.ndarray, n_players: int) -> np.ndarray:
    """Return, for each move, the number of later moves by the same player, int64 ``[n, n_plies]``."""
    left = np.zeros(player.shape, dtype=np.int64)
    for each in range(n_players):
        own = is_move & (player == each)
        left += own * (own[:, ::-1].cumsum(axis=1)[:, ::-1] - 1)
    return left


MASK, PUNISH = "mask", "punish"
ILLEGAL = (MASK, PUNISH)


@dataclass(frozen=True)
class DqnMethod(NetworkMethod):
    """Hyperparameters of a deep Q-network."""

    # Networks of this size are as strong as larger networks, but faster.
    of_boards: ClassVar[dict[str, Any]] = {"filters": (24, 24), "hidden": (64,)}
    of_games: ClassVar[str] = "learning"

    target: str = hyperparameter(MC, TARGETS, "Learn from results of games, or from the values of a target network.")
    illegal: str = hyperparameter(MASK, ILLEGAL, "Mask illegal actions, or punish them with a loss of the game.")
    filters: tuple[int, ...] = hyperparameter((), 512, "Filters of each convolution; none if features are not planes.")
    hidden: tuple[int, ...] = hyperparameter((128, 128), 4096, "Units of each hidden layer.")
    epsilon: float = hyperparameter(0.2, (0.0, 1.0), "Final probability of a random action (epsilon-greedy).")
    decay: int = hyperparameter(50_000, (1, 1 << 48), "Number of games over which epsilon decreases from 1.")
    temperature: float = hyperparameter(0.0, (0.0, 100.0), "Softmax temperature of play; 0 for the best action.")
    rate: float = hyperparameter(0.001, (TINY, 1.0), "Learning rate of Adam.")
    discount: float = hyperparameter(0.95, (0.01, 1.0), "Discount of each move; below 1, fast wins are better.")
    games: int = hyperparameter(256, (1, 16_384), "Games per round.")
    replay_size: int = hyperparameter(60, (1, 1000), "Number of latest rounds in the replay buffer.")
    steps: int = hyperparameter(32, (0, 1024), "Optimizer steps after each round.")
    batch: int = hyperparameter(256, (1, 4096), "Samples per optimizer step.")
    renewal: int = hyperparameter(10, (1, 10_000), "Rounds between updates of the target network.")
    max_plies: int = hyperparameter(200, (1, 1000), "Maximum number of plies; longer games are stopped.")

    @property
    def name(self) -> str:
        """Short name, such as ``"dqn-mc-mask"``."""
        return f"dqn-{self.target}-{self.illegal}"

    @property
    def keeps_rules(self) -> bool:
        """True if the network considers only legal actions."""
        return self.illegal == MASK

    def epsilon_after(self, n_games: int) -> float:
        """Return the probability of a random action after ``n_games`` games."""
        return max(1 - (1 - self.epsilon) * n_games / self.decay, self.epsilon)

    def shape_for(self, vector: VectorGame) -> Architecture:
        """Return the shape of the network for a game. Raise `LearnError` if the method does not support the game."""
        self.check_filters(vector)
        if self.target == TD and not is_duel(vector):
            raise LearnError(
                f"target: 'td' is impossible; {vector.game.name} is not a zero-sum game of two players without chance"
            )
        return Architecture(tuple(vector.feature_shape), self.filters, self.hidden, vector.n_moves)


class Games(NamedTuple):
    """Games of a round."""

    action: np.ndarray  # int16 [n, n_plies], actions of the games


class DqnRound(NamedTuple):
    """Games of a round and their training samples."""

    games: Games
    samples: Samples


@dataclass(eq=False, repr=False, kw_only=True)
class DqnLearner(NetworkTrainer):
    """Deep Q-network in training. ``replay`` contains a `DqnRound` for each of the latest rounds."""

    kind: ClassVar[str] = "network"
    layout: ClassVar[dict[str, tuple[str, int]]] = NETWORK_LAYOUT | {"target": ("float32", 1)}
    method_type: ClassVar[Any] = DqnMethod
    networks: ClassVar[tuple[str, ...]] = ("weights", "target", "momentum", "variance")

    target: np.ndarray  # float32 [n_weights], weights of the target network

    def values_of(self, weights: np.ndarray) -> Values:
        """Return a function that computes action values with the given weights, float32 ``[n_weights]``."""
        return values_of(self.vector, self.shape, weights)

    def _empty_games(self, n: int, n_plies: int) -> Games:
        return Games(np.full((n, n_plies), NONE, dtype=np.int16))

    def _play(self, generator: np.random.Generator) -> Games:
        method = self.method
        epsilon = method.epsilon_after(self.games)
        mover = ValueMover(self.values_of(self.weights), method.temperature, epsilon, self.keeps_rules)
        movers = [mover] * self.vector.game.n_players
        return Games(play(self.vector, movers, method.games, generator, method.max_plies))

    def _remember(self, games: Games) -> DqnRound:
        games = trimmed(games)
        return DqnRound(games, samples_of(self.vector, games.action, self.method.target, self.method.discount))

    def _draw(self, replay: list[DqnRound], n: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        parts, vector = [part.samples for part in replay], self.vector
        samples = drawn_samples(parts, generator.integers(sum(len(part.state) for part in parts), size=n))
        drawn = {"x": vector.features(samples.state), "action": samples.action.astype(np.int32), "value": samples.value}
        if self.method.target == TD:
            drawn |= {
                "sign": samples.sign.astype(np.float32),
                "after": vector.features(samples.after),
                "is_compared": vector.legal(samples.after) | (not self.keeps_rules),
            }
        return drawn

    def _step(self, count: np.int32, batches: dict[str, np.ndarray]) -> Sequence[Any]:
        steps = _steps(self.shape, self.method.rate, self.method.discount)
        return steps(self.weights, self.momentum, self.variance, count, batches, self.target)

    def _renew(self) -> None:
        if self.rounds % self.method.renewal == 0:
            self.target = self.weights


def values_of(vector: VectorGame, architecture: Architecture, weights: np.ndarray) -> Values:
    """Return a function that computes action values with the given network weights, float32 ``[n_weights]``."""
    return lambda states: evaluate(architecture, weights, vector.features(states))


@lru_cache(maxsize=16)
def _steps(architecture: Architecture, rate: float, discount: float) -> Callable[..., Sequence[Any]]:
    """Return a compiled function that takes a round's optimizer steps.

    Its last argument is the target network's weights.
    """

    def loss(weights: Any, batch: dict[str, Any], target: Any) -> Any:
        values = action_values(architecture, weights, batch["x"])
        value = jnp.take_along_axis(values, batch["action"][:, jnp.newaxis], axis=1)[:, 0]
        wanted = batch["value"]
        if "after" in batch:
            later = action_values(architecture, target, batch["after"])
            best = jnp.where(batch["is_compared"], later, -jnp.inf).max(axis=1)
            wanted += jnp.where(batch["sign"] == 0, 0, batch["sign"] * discount * best)
        return jnp.mean((value - wanted) ** 2)

    return compiled_steps(loss, optax.adam(rate))
