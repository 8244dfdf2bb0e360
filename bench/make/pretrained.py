"""Add a trained network to the package: ``python -m bench.make.pretrained connect4.h5``.

The following commands trained the networks::

    punish-fast games train connect4 --method dqn --games 450000
    punish-fast games train incan-gold --method dqn --games 2000000
    punish-fast games train gwent:decks=random --method dqn --games 1000000
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from punish_fast.games.learn import networks
from punish_fast.games.learn.agent_file import load_as
from punish_fast.games.learn.dqn import DqnLearner
from punish_fast.games.registry import describe, game_of


def save_pretrained(learner: DqnLearner, path: Path) -> None:
    """Write the network of a learner to an NPZ file, with weights in half precision."""
    filters, hidden = (np.array(layers, dtype=np.int64) for layers in (learner.method.filters, learner.method.hidden))
    np.savez_compressed(path, filters=filters, hidden=hidden, weights=learner.weights.astype(np.float16))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the network of a checkpoint to the package."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("file", type=Path, help="a checkpoint")
    learner = load_as(parser.parse_args(arguments).file, DqnLearner)
    path = networks.file_of(game_of(describe(learner.vector.game)))
    save_pretrained(learner, path)
    print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
