"""Make the file of the built-in opponent *veteran*: ``python -m bench.make.veteran EQ.h5``.

A strategy file of 668,882 states is too large for a wheel. `make` selects the states that self-play visits often
enough. `thinned` keeps these states, and rounds the probabilities of their actions to fifteenths. Compute the strategy
first, in about a minute::

    punish-fast equilibrium --rules tabletop --output eq.h5
    python -m bench.make.veteran eq.h5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.harness import say
from punish_fast.arena import veteran
from punish_fast.cli.frame.errors import guarded
from punish_fast.duel.graph import GameGraph
from punish_fast.mdp.arrays.policy import first_best
from punish_fast.punish.states.space import StateSpace
from punish_fast.store.reader import load
from punish_fast.study.selfplay import self_play

# Minimum expected visits per game. The veteran plays uniformly in states with fewer visits.
LEAST_VISITS = 1e-7


def thinned(space: StateSpace, policy: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the uint8 arrays of the file, ``covered`` and ``units``.

    The bits of ``covered`` mark the states in ``support``. ``units`` contains the probabilities of their rows in
    fifteenths.
    """
    begins = space.state_ptr[:-1]
    units = np.rint(policy * veteran.UNITS)
    # Adjust the most probable action, so that the probabilities of each state sum to one.
    units[first_best(space.state_ptr, policy)] += veteran.UNITS - np.add.reduceat(units, begins)
    rows = np.repeat(support, np.diff(space.state_ptr))
    return np.packbits(support), units[rows].astype(np.uint8)


def make(strategy: Path) -> None:
    """Write the file of the veteran from a strategy file."""
    file = load(strategy)
    veteran.must_support(file.rules)
    space = StateSpace(file.rules)
    policy = file.policy(space)
    visits = self_play(GameGraph(space), policy).state_visits
    # The graph omits the states after the last breath, because they have a single action.
    support = np.zeros(space.n_states, dtype=np.bool_)
    support[: len(visits)] = visits >= LEAST_VISITS
    bits, units = thinned(space, policy, support)
    np.savez_compressed(veteran.FILE, covered=bits, units=units)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.make.veteran",
        description="Make the opponent that comes with the package from a strategy.",
    )
    parser.add_argument("file", type=Path, metavar="EQ.h5", help="a memoryless strategy file")
    options = parser.parse_args(arguments)

    def run() -> None:
        make(options.file)
        say(f"wrote {veteran.FILE}")

    return guarded(run)


if __name__ == "__main__":
    sys.exit(main())
