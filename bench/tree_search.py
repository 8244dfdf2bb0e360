"""Tree search in a model, one root at a time and one object per node: the slow twin of the search by ``mctx``.

Both searches grow a tree by simulations. A simulation walks from the root along chosen actions to one that nobody took
before, asks the model what follows it, adds that as a node, and backs up what it found: the return of a node is its
value as predicted, and that of its parent is ``reward + discount * return``. A discount is negative where the other
player is to move, and 0 where the game is over. The value of a node is the mean of its own prediction and of all
returns that came through it; ``q = reward + discount * value`` of the child is the value of an action.

`search_gumbel` follows I. Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022. At the root,
sequential halving compares ``gumbel + logits + sigma(q)`` of fewer and fewer actions, each of them tried more often.
Below, a node takes the action furthest behind its share of ``softmax(logits + sigma(q))``. There ``sigma`` stretches
the values of a node to [0, 1], and scales them by 5 and a tenth of the visits of the action visited most; actions never
tried count as the *mixed value*, between what was predicted for the node and what its tried actions are worth.

`search_puct` follows J. Schrittwieser et al., "Mastering Atari, Go, chess and shogi by planning with a learned model",
Nature 588, 2020: every node takes the best of its stretched value plus a bonus for a likely and rarely tried action.

Numbers are float64. Where two choices were as good as equal, rounding decides; `Found.margin` tells how close it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

# Prior logits of all actions, value, and hidden state.
Root = tuple[Any, float, Any]
# The reward of an action, the discount of what follows, and logits, value and hidden state of the state after it.
Step = tuple[float, float, Any, float, Any]
# Of an action and a hidden state.
Model = Callable[[int, Any], Step]

# As in the appendix of either paper.
_VALUE_SCALE, _VISITS_AT_FIRST = 0.1, 50
_BONUS_AT_FIRST, _BONUS_BASE = 1.25, 19652
# Values closer than this are not stretched.
_LEAST_RANGE = 1e-8
# The worst score of an action under consideration.
_WORST = -1e9


@dataclass(frozen=True)
class Found:
    """What a search says of its root."""

    visits: np.ndarray  # int64 ``[n_actions]``, simulations through each action
    q: np.ndarray  # float64 ``[n_actions]``, values of actions, 0 where there was no visit
    value: float  # the mean of the root's own value and the returns of all simulations
    action: int  # the action to take
    weights: np.ndarray  # float64 ``[n_actions]``, the improved policy; its sum is 1
    margin: float  # by how much the best score was ahead of the next, at the closest choice within the tree


class Node:
    """A state of the model, the action that led to it, and what simulations found below."""

    def __init__(self, logits: Any, prediction: float, hidden: Any, reward: float = 0, discount: float = 0) -> None:
        self.logits = np.asarray(logits, dtype=np.float64)
        self.prior = softmax(self.logits)
        self.prediction = float(prediction)
        self.hidden = hidden
        self.reward, self.discount = float(reward), float(discount)
        self.returns = [self.prediction]
        self.children: dict[int, Node] = {}

    @property
    def value(self) -> float:
        """The mean return."""
        return math.fsum(self.returns) / len(self.returns)

    @property
    def q(self) -> float:
        """The value of the action that led here, for the player who took it."""
        return self.reward + self.discount * self.value

    def visits(self) -> np.ndarray:
        """Visits of each action: int64 ``[n_actions]``."""
        counts = np.zeros(len(self.logits), dtype=np.int64)
        for action, child in self.children.items():
            counts[action] = len(child.returns)
        return counts

    def values(self, missing: float) -> np.ndarray:
        """The value of each action, ``missing`` for those never tried: float64 ``[n_actions]``."""
        values = np.full(len(self.logits), missing, dtype=np.float64)
        for action, child in self.children.items():
            values[action] = child.q
        return values


class Tree:
    """A tree that grows by one node with each simulation."""

    def __init__(self, root: Root, step: Model, legal: Any = None) -> None:
        logits, value, hidden = root
        self.legal = np.ones(len(logits), dtype=bool) if legal is None else np.asarray(legal, dtype=bool)
        if not self.legal.any():
            raise ValueError("no action is legal, the search needs one at least")
        self.root = Node(np.where(self.legal, logits, -np.inf), value, hidden)
        self.step = step
        self.margin = math.inf

    def best(self, scores: np.ndarray) -> int:
        """The first action with the best score."""
        if len(scores) > 1:
            second, first = np.partition(scores, -2)[-2:]
            self.margin = min(self.margin, float(first - second))
        return int(np.argmax(scores))

    def simulate(self, choose_at_root: Callable[[Node], int], choose: Callable[[Node], int]) -> None:
        """Add a node, and back up the return from it to the root."""
        path, action = [self.root], choose_at_root(self.root)
        while action in path[-1].children:
            path.append(path[-1].children[action])
            action = choose(path[-1])
        reward, discount, logits, value, hidden = self.step(action, path[-1].hidden)
        leaf = Node(logits, value, hidden, reward, discount)
        path[-1].children[action] = leaf
        found, below = leaf.prediction, leaf
        for node in reversed(path):
            found = below.reward + below.discount * found
            node.returns.append(found)
            below = node

    def summary(self, action: int, weights: np.ndarray) -> Found:
        """What was found, with the action to take."""
        root = self.root
        return Found(root.visits(), root.values(0), root.value, action, weights, self.margin)


def search_gumbel(
    root: Root, step: Model, simulations: int, gumbel: Any, legal: Any = None, considered: int = 16
) -> Found:
    """Search with sequential halving at the root, which tries at most ``considered`` actions.

    ``gumbel`` is the noise of each action, float ``[n_actions]``, zeros for none. ``legal`` marks the actions that are
    legal at the root, bool ``[n_actions]``; None for all. Below the root, all actions are legal.
    """
    tree = Tree(root, step, legal)
    noise = np.asarray(gumbel, dtype=np.float64)
    plan = halving(min(considered, int(tree.legal.sum())), simulations)

    def choose_with(tried: int) -> Callable[[Node], int]:
        def choose(node: Node) -> int:
            scores = np.maximum(noise + relative(node.logits) + scaled_values(node), _WORST)
            return tree.best(np.where(tree.legal & (node.visits() == tried), scores, -np.inf))

        return choose

    def choose_below(node: Node) -> int:
        visits = node.visits()
        return tree.best(softmax(node.logits + scaled_values(node)) - visits / (1 + visits.sum()))

    for tried in plan:
        tree.simulate(choose_with(tried), choose_below)
    action = choose_with(int(tree.root.visits().max()))(tree.root)
    return tree.summary(action, softmax(tree.root.logits + scaled_values(tree.root)))


def search_puct(root: Root, step: Model, simulations: int, legal: Any = None) -> Found:
    """Search with a bonus for likely and rarely tried actions; the policy is the shares of visits.

    Noise is in the logits of the root already; ``legal`` is as in `search_gumbel`.
    """
    tree = Tree(root, step, legal)

    def scores_of(node: Node) -> np.ndarray:
        count = len(node.returns)
        bonus = _BONUS_AT_FIRST + math.log((count + _BONUS_BASE + 1) / _BONUS_BASE)
        return np.asarray(stretched_values(node) + math.sqrt(count) * bonus * node.prior / (node.visits() + 1))

    for _ in range(simulations):
        tree.simulate(
            lambda node: tree.best(np.where(tree.legal, scores_of(node), -np.inf)),
            lambda node: tree.best(scores_of(node)),
        )
    visits = tree.root.visits()
    return tree.summary(int(np.argmax(visits)), visits / simulations)


def halving(considered: int, simulations: int) -> list[int]:
    """The plan of sequential halving: how often the action of each simulation has been tried before it.

    Phases follow each other until the simulations are used up. In each, all actions that are left are tried equally
    often; then the better half is left, but no fewer than two.
    """
    return list(islice(_endless_halving(considered, simulations), simulations))


def _endless_halving(considered: int, simulations: int) -> Iterator[int]:
    phases, tried = (considered - 1).bit_length(), 0
    while True:
        for _ in range(max(1, simulations // (max(phases, 1) * considered))):
            yield from [tried] * considered
            tried += 1
        considered = min(considered, max(2, considered // 2))


def scaled_values(node: Node) -> np.ndarray:
    """What values of actions add to their logits: float64 ``[n_actions]``."""
    values = node.values(missing=mixed_value(node))
    reach = max(float(np.ptp(values)), _LEAST_RANGE)
    scale = _VALUE_SCALE * (_VISITS_AT_FIRST + int(node.visits().max()))
    return np.asarray(scale * (values - values.min()) / reach)


def mixed_value(node: Node) -> float:
    """The value of a node by its own prediction and, weighted by visits, by the prior mean of its tried actions."""
    if not node.children:
        return node.prediction
    tiny = float(np.finfo(np.float32).tiny)
    share = {action: max(float(node.prior[action]), tiny) for action in node.children}
    mean = sum(share[action] * child.q for action, child in node.children.items()) / sum(share.values())
    count = len(node.returns) - 1
    return (node.prediction + count * mean) / (1 + count)


def stretched_values(node: Node) -> np.ndarray:
    """Values of actions from 0 to 1, the range of them and of the node's own: float64 ``[n_actions]``."""
    known = [node.value, *(child.q for child in node.children.values())]
    least, reach = min(known), max(max(known) - min(known), _LEAST_RANGE)
    return np.asarray((node.values(missing=least) - least) / reach)


def relative(logits: np.ndarray) -> np.ndarray:
    """Logits below that of the likeliest action."""
    return np.asarray(logits - logits.max())


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of logits."""
    weights = np.exp(relative(logits))
    return np.asarray(weights / weights.sum())
