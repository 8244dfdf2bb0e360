"""What the model of a MuZero learner has learned, against the rules and perfect play.

*Unrolled*: from states of the game, random legal actions are followed both in the game and in the model, which sees the
first state alone. After each action the predicted reward, value and policy are held against the truth. Past the end of
a game any action is followed; rewards and values should then be 0. Later states may be easier, so errors after a number
of actions stand beside those of the same states where the model sees them; the difference is what unrolling costs.

*In searches*: a search masks illegal actions at its root alone. Each simulation adds a node to the tree; the rules say
whether the actions that lead there are legal, and whether the game was over before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from punish_fast.games.connect4_sets import position_sets
from punish_fast.games.contract import GameError, VectorBoardGame
from punish_fast.games.oracle import Oracle
from punish_fast.games.positions import enumerate_positions
from punish_fast.learn.muzero.learner import MuZeroLearner
from punish_fast.learn.muzero.network import ModelShape, mean_of, networks_of
from punish_fast.learn.muzero.search import Trees, grown_trees, plan_of
from punish_fast.learn.q_network import on_device
from punish_fast.learn.qlearning import LearnError

if TYPE_CHECKING:
    import jax

# Where positions of games that cannot be enumerated come from: late ones, which are solved at once.
_LATE = "easy-ends"
# What a node of a search tree is.
LEGAL, PAST, ILLEGAL = range(3)


class UnrolledErrors(NamedTuple):
    """Errors after a number of actions; NaN where there is nothing to compare.

    Attributes:
        actions: The number of actions.
        states: The number of games that go on.
        value: Mean distance of the predicted value from that of perfect play, discounted as the learner discounts,
            where games go on.
        value_if_seen: The same if the model sees the state itself.
        reward: The same of the reward of the last action, where it was taken before the end.
        keeps_value: The share of states whose most probable legal action keeps the exact value.
        keeps_value_if_seen: The same if the model sees the state itself.
        illegal: The mean probability of illegal actions.
        illegal_if_uniform: The same if all actions were equally probable.
        past_value: Mean distance of the predicted value from 0 where games are over.
        past_reward: The same of rewards of actions past the end.
    """

    actions: int
    states: int
    value: float
    value_if_seen: float
    reward: float
    keeps_value: float
    keeps_value_if_seen: float
    illegal: float
    illegal_if_uniform: float
    past_value: float
    past_reward: float


class SearchedNodes(NamedTuple):
    """The nodes of search trees at one depth.

    Attributes:
        depth: The number of actions from the root.
        nodes: The number of nodes.
        illegal: The share that illegal actions lead to.
        past: The share that legal actions lead to, but past the end of the game.
    """

    depth: int
    nodes: int
    illegal: float
    past: float


class _Predictions(NamedTuple):
    """What the model says after each number of actions: arrays ``[n_actions + 1, n, ...]``, rewards one fewer."""

    policy: np.ndarray
    value: np.ndarray
    reward: np.ndarray


def sampled_states(vector: VectorBoardGame, n: int, generator: np.random.Generator) -> list[Any]:
    """Different states of a game before its end, at most ``n``; of Connect Four, ends that are easy to solve."""
    try:
        positions = enumerate_positions(vector.game, is_folded=False)
        states = [positions.states[number] for number in positions.live.tolist()]
    except GameError:
        states = list(position_sets()[_LATE].states)
    return [states[k] for k in generator.permutation(len(states))[:n]]


def unrolled_errors(
    learner: MuZeroLearner, oracle: Oracle, states: Sequence[Any], n_actions: int, generator: np.random.Generator
) -> list[UnrolledErrors]:
    """Errors of the model after 0 to ``n_actions`` actions.

    Args:
        learner: The learner.
        oracle: Perfect play.
        states: States of the game to begin from.
        n_actions: How many actions to follow.
        generator: Random numbers.

    Raises:
        LearnError: The learner has no model of its own.
    """
    if not learner.method.is_learned:
        raise LearnError("model: it plans in the rules of the game, so there is no model to judge")
    vector, game = learner.board, learner.vector.game
    lines, action = _random_lines(game, states, n_actions, generator)
    said = _predicted(learner, vector.features(vector.pack(states)), action)
    found = []
    for k in range(n_actions + 1):
        now = [line[k] for line in lines]
        live = np.array([not game.is_terminal(state) for state in now])
        before = live if k == 0 else np.array([not game.is_terminal(line[k - 1]) for line in lines])
        exact = [_exact(game, oracle, state, learner.method.discount) for state in now]
        value, keeps, legal = (np.array(part) for part in zip(*exact, strict=True))
        policy, row, seen = said.policy[k], np.arange(len(now)), _seen(learner, now)
        best, best_if_seen = (np.where(legal, each, -1).argmax(axis=1) for each in (policy, seen.policy[0]))
        reward, truth = np.zeros(len(now)), np.zeros(len(now))
        if k:
            reward = said.reward[k - 1]
            truth = np.array([game.returns(line[k])[game.player(line[k - 1])] for line in lines]) * before
        found.append(
            UnrolledErrors(
                k,
                int(live.sum()),
                _mean(np.abs(said.value[k] - value)[live]),
                _mean(np.abs(seen.value[0] - value)[live]),
                _mean(np.abs(reward - truth)[before & (k > 0)]),
                _mean(keeps[row, best][live]),
                _mean(keeps[row, best_if_seen][live]),
                _mean((policy * ~legal).sum(axis=1)[live]),
                _mean((~legal).mean(axis=1)[live]),
                _mean(np.abs(said.value[k])[~live]),
                _mean(np.abs(reward)[~before]),
            )
        )
    return found


def _random_lines(
    game: Any, states: Sequence[Any], n_actions: int, generator: np.random.Generator
) -> tuple[list[list[Any]], np.ndarray]:
    """The states along random legal actions, and the actions, int32 ``[n, n_actions]``; the last state repeats."""
    action, luck = np.empty((len(states), n_actions), dtype=np.int32), generator.random((len(states), n_actions))
    lines = [[state] for state in states]
    for row, line in enumerate(lines):
        for k in range(n_actions):
            legal = list(game.actions(line[-1]))
            allowed = legal or range(game.n_actions)
            action[row, k] = allowed[int(luck[row, k] * len(allowed))]
            line.append(game.apply(line[-1], int(action[row, k])) if legal else line[-1])
    return lines, action


def _exact(game: Any, oracle: Oracle, state: Any, discount: float) -> tuple[float, list[bool], list[bool]]:
    """The discounted value of a state with perfect play; of each action, whether it keeps value, and is legal."""
    keeps, legal = [False] * game.n_actions, [False] * game.n_actions
    if game.is_terminal(state):
        return 0.0, keeps, legal
    moves = oracle.move_values(state)
    best = next(move for move in moves if move.is_best)
    for move in moves:
        legal[move.action], keeps[move.action] = True, move.value == best.value
    return best.value * discount ** ((best.plies or 1) - 1), keeps, legal


def _mean(numbers: np.ndarray) -> float:
    """The mean, NaN of nothing."""
    return float(numbers.mean()) if len(numbers) else float("nan")


def _seen(learner: MuZeroLearner, states: Sequence[Any]) -> _Predictions:
    """What the model says of states that it sees."""
    features = learner.vector.features(learner.board.pack(states))
    return _predicted(learner, features, np.empty((len(states), 0), dtype=np.int32))


def _predicted(learner: MuZeroLearner, features: np.ndarray, action: np.ndarray) -> _Predictions:
    with on_device(learner.device):
        said = _compiled(learner.shape)(learner.weights, features, action)
        return _Predictions(*(np.asarray(part, dtype=np.float64) for part in said))


@lru_cache(maxsize=4)
def _compiled(shape: ModelShape) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def run(weights: jax.Array, features: jax.Array, action: jax.Array) -> Any:
        networks = networks_of(shape, weights)
        hidden = networks.represent(features)
        policies, values, rewards = [], [], []
        for k in range(action.shape[1] + 1):
            logits, value = networks.predict(hidden)
            policies.append(jax.nn.softmax(logits))
            values.append(mean_of(value))
            if k < action.shape[1]:
                hidden, reward = networks.advance(hidden, action[:, k])
                rewards.append(mean_of(reward))
        return jnp.stack(policies), jnp.stack(values), jnp.array(rewards)

    return jax.jit(run)


def searched_nodes(learner: MuZeroLearner, states: Sequence[Any]) -> list[SearchedNodes]:
    """What the nodes of searches from some states are, by depth.

    Args:
        learner: The learner, whose method says how to search.
        states: States of the game to search from.
    """
    vector = learner.board
    words = vector.pack(states)
    plan = plan_of(vector, learner.method, device=learner.device)
    kind, depth = node_kinds(vector, words, grown_trees(plan, vector, learner.weights, words))
    found = []
    for each in range(1, int(depth.max()) + 1):
        at_depth = kind[depth == each]
        found.append(
            SearchedNodes(each, len(at_depth), _mean(at_depth == ILLEGAL), _mean(at_depth == PAST)),
        )
    return found


def node_kinds(vector: VectorBoardGame, words: np.ndarray, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """What each node is, `LEGAL`, `PAST` (the end) or `ILLEGAL`, and how deep, both int64 ``[n, simulations + 1]``.

    What follows an illegal action is illegal. The end of a game itself is legal.

    Args:
        vector: The game.
        words: uint64 ``[n, n_words]``, the roots.
        trees: The trees.
    """
    n, n_nodes = trees.parent.shape
    kind, depth = np.full((n, n_nodes), LEGAL), np.zeros((n, n_nodes), dtype=np.int64)
    state = np.repeat(words[:, np.newaxis], n_nodes, axis=1)
    is_over, rows = np.zeros((n, n_nodes), dtype=np.bool_), np.arange(n)
    for node in range(1, n_nodes):
        parent, action = trees.parent[:, node], trees.action[:, node]
        before, over = state[rows, parent], is_over[rows, parent]
        goes_on = (kind[rows, parent] == LEGAL) & ~over & vector.legal(before)[rows, action]
        was_legal = kind[rows, parent] != ILLEGAL
        ends = over | (kind[rows, parent] == PAST)
        kind[:, node] = np.where(goes_on, LEGAL, np.where(was_legal & ends, PAST, ILLEGAL))
        depth[:, node] = depth[rows, parent] + 1
        live = np.flatnonzero(goes_on)
        if len(live):
            state[live, node], _, is_over[live, node] = vector.step(before[live], action[live].astype(np.int64))
    return kind, depth
