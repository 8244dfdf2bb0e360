"""Compare the learned model of a MuZero agent with the rules: ``python -m bench.muzero_model tictactoe muzero.h5``.

The first table follows random legal actions from states of the game, both in the game and in the model, which sees
only the first state. After each action it compares the predicted reward, value and policy with perfect play. After the
end of a game, any action is followed; rewards and values should then be 0. Later states may be easier, so the table
also has the errors of a model that sees the same states; the difference is the error of unrolling.

The second table counts nodes of search trees. A search masks illegal actions only at its root; the rules decide whether
the actions that lead to a node are legal, and whether the game had ended before.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bench.tables import Table, markdown
from punish_fast.games.connect4_sets import position_sets
from punish_fast.games.contract import GameError, VectorBoardGame
from punish_fast.games.oracle import Oracle
from punish_fast.games.positions import enumerate_positions
from punish_fast.games.registry import make_game, oracle_of
from punish_fast.learn.muzero.checkpoint import load_muzero
from punish_fast.learn.muzero.learner import MuZeroLearner
from punish_fast.learn.muzero.network import ModelShape, mean_of, networks_of
from punish_fast.learn.muzero.search import SearchPlan, plan_of, search_tree
from punish_fast.learn.q_network import on_device
from punish_fast.learn.qlearning import LearnError

if TYPE_CHECKING:
    import jax

# Set of positions for games that cannot be enumerated: late positions, which are solved quickly.
_LATE = "easy-ends"
# Kinds of nodes of a search tree.
LEGAL, PAST, ILLEGAL = range(3)


class UnrolledErrors(NamedTuple):
    """Errors after a number of actions; NaN if there is nothing to compare.

    Attributes:
        actions: Number of actions.
        states: Number of games that have not ended.
        value: Mean error of the predicted value in games that have not ended; exact values are discounted with the
            learner's discount.
        value_if_seen: Mean error of the value if the model sees the state itself.
        reward: Mean error of the reward of the last action, if the game had not ended before it.
        keeps_value: Share of states whose most probable legal action keeps the exact value.
        keeps_value_if_seen: Share of these states if the model sees the state itself.
        illegal: Mean probability of illegal actions.
        illegal_if_uniform: Mean probability of illegal actions if all actions are equally probable.
        past_value: Mean absolute value predicted for games that have ended.
        past_reward: Mean absolute reward predicted for actions after the end.
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
    """Nodes of search trees at one depth.

    Attributes:
        depth: Number of actions from the root.
        nodes: Number of nodes.
        illegal: Share of nodes that are reached by an illegal action.
        past: Share of nodes that are reached by an action after the end of the game.
    """

    depth: int
    nodes: int
    illegal: float
    past: float


class Trees(NamedTuple):
    """Search trees, int32 ``[n, simulations + 1]`` each; node 0 is the root, and simulation ``k`` adds node ``k``."""

    parent: np.ndarray
    action: np.ndarray


class _Predictions(NamedTuple):
    """Predictions after each number of actions: arrays ``[n_actions + 1, n, ...]``, rewards ``[n_actions, n]``."""

    policy: np.ndarray
    value: np.ndarray
    reward: np.ndarray


def sampled_states(vector: VectorBoardGame, n: int, generator: np.random.Generator) -> list[Any]:
    """Return at most ``n`` different states before the end of a game; of Connect Four, ones that are easy to solve."""
    try:
        positions = enumerate_positions(vector.game, is_folded=False)
        states = [positions.states[number] for number in positions.live.tolist()]
    except GameError:
        states = list(position_sets()[_LATE].states)
    return [states[k] for k in generator.permutation(len(states))[:n]]


def unrolled_errors(
    learner: MuZeroLearner, oracle: Oracle, states: Sequence[Any], n_actions: int, generator: np.random.Generator
) -> list[UnrolledErrors]:
    """Return the errors of the model after 0 to ``n_actions`` actions; `LearnError` if the learner has no model."""
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
    """Return states along random legal actions, and the actions, int32 ``[n, n_actions]``; the last state repeats."""
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
    """Return the discounted value of a state under perfect play, and whether each action keeps it and is legal."""
    keeps, legal = [False] * game.n_actions, [False] * game.n_actions
    if game.is_terminal(state):
        return 0.0, keeps, legal
    moves = oracle.move_values(state)
    best = next(move for move in moves if move.is_best)
    for move in moves:
        legal[move.action], keeps[move.action] = True, move.value == best.value
    return best.value * discount ** ((best.plies or 1) - 1), keeps, legal


def _mean(numbers: np.ndarray) -> float:
    """Return the mean, NaN for an empty array."""
    return float(numbers.mean()) if len(numbers) else float("nan")


def _seen(learner: MuZeroLearner, states: Sequence[Any]) -> _Predictions:
    """Return the predictions of the model for states that it sees."""
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
    """Classify the nodes of searches from some states, by depth."""
    vector = learner.board
    words = vector.pack(states)
    plan = plan_of(vector, learner.method, device=learner.device)
    kind, depth = node_kinds(vector, words, _grown_trees(plan, vector, learner.weights, words))
    found = []
    for each in range(1, int(depth.max()) + 1):
        at_depth = kind[depth == each]
        found.append(SearchedNodes(each, len(at_depth), _mean(at_depth == ILLEGAL), _mean(at_depth == PAST)))
    return found


def _grown_trees(plan: SearchPlan, vector: VectorBoardGame, weights: np.ndarray, words: np.ndarray) -> Trees:
    import jax

    with on_device(plan.device):
        arguments = vector.features(words), vector.legal(words), np.ascontiguousarray(words).view(np.uint32)
        tree = jax.jit(partial(search_tree, plan))(weights, jax.random.key(0), *arguments).search_tree
        return Trees(np.asarray(tree.parents), np.asarray(tree.action_from_parent))


def node_kinds(vector: VectorBoardGame, words: np.ndarray, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Return the kind of each node (`LEGAL`, `PAST` or `ILLEGAL`) and its depth, both int64 ``[n, simulations + 1]``.

    Nodes below an illegal action are illegal. The final state of a game is legal.

    Args:
        vector: The game.
        words: Roots, uint64 ``[n, n_words]``.
        trees: Search trees.
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


def table_of(rows: Sequence[UnrolledErrors] | Sequence[SearchedNodes]) -> Table:
    """Table with a column for each field; NaN is shown as ``-``."""
    return [[name.replace("_", " ") for name in rows[0]._fields], *([_text(number) for number in row] for row in rows)]


def _text(number: float) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    return "-" if math.isnan(number) else f"{number:.3f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables for an agent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("game", help="tictactoe, tapnswap or connect4, under its standard rules")
    parser.add_argument("file", type=Path, help="an agent written by games train --method muzero")
    parser.add_argument("--states", type=int, default=500, help="number of initial states (500)")
    parser.add_argument("--actions", type=int, default=10, help="number of actions to follow (10)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (0)")
    options = parser.parse_args(arguments)
    game, generator = make_game(options.game, {}), np.random.default_rng(options.seed)
    learner = load_muzero(options.file, game)
    states = sampled_states(learner.board, options.states, generator)
    unrolled = unrolled_errors(learner, oracle_of(game), states, options.actions, generator)
    for table in (table_of(unrolled), table_of(searched_nodes(learner, states))):
        print("\n".join(markdown(table)), end="\n\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
