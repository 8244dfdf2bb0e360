"""Networks that come with the package, for games that take minutes to learn.

``bench/make/pretrained.py`` writes their files from checkpoints, which hold much more.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from punish_fast.games.contract import TableGame
from punish_fast.games.learn.dqn import DqnLearner
from punish_fast.games.learn.q_network import Architecture
from punish_fast.games.registry import vectorise

FOLDER = Path(__file__).parent


class PretrainedNetwork(NamedTuple):
    """A network that has learned a game."""

    architecture: Architecture
    weights: np.ndarray  # float32 [n_weights]


def pretrained_network(game: TableGame) -> PretrainedNetwork | None:
    """The network that comes with the package for a game, or None if there is none."""
    path = file_of(game)
    if not path.exists():
        return None
    with np.load(path) as file:
        filters, hidden = (tuple(file[name].tolist()) for name in ("filters", "hidden"))
        weights = file["weights"].astype(np.float32)
    vector = vectorise(game)
    return PretrainedNetwork(Architecture(tuple(vector.feature_shape), filters, hidden, vector.n_moves), weights)


def save_pretrained(learner: DqnLearner, path: Path) -> None:
    """Write the network of a learner, with weights of half the precision."""
    filters, hidden = (np.array(layers, dtype=np.int64) for layers in (learner.method.filters, learner.method.hidden))
    np.savez_compressed(path, filters=filters, hidden=hidden, weights=learner.weights.astype(np.float16))


def file_of(game: TableGame) -> Path:
    """Where the network of a game is, if there is one."""
    return FOLDER / f"{game.name}_network.npz"
