"""Exact and simulated duels of Punish: ``python -m bench.rates``.

The table contains seconds of exact evaluation, and simulated games per second on all cores. The simulated share of wins
must be within four standard errors of the exact probability. The standard error is computed from pairs of games with
the same cards and swapped seats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from bench.report import Table, markdown
from punish_fast.arena.players import Player
from punish_fast.duel.evaluation import head_to_head, simulate
from punish_fast.duel.graph import GameGraph
from punish_fast.punish.rules import load_rules
from punish_fast.punish.states.space import StateSpace

DUELS = (("random", "naive"), ("naive", "naive@0.1"), ("naive@0.5", "random"), ("careful", "punisher"))
LIMIT = 4.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Return 1 if simulated and exact duels disagree, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.rates", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--games", type=int, default=1_000_000, metavar="N", help="simulated games of each duel")
    parser.add_argument("--rules", default="tabletop", metavar="R", help="rules (default: tabletop)")
    options = parser.parse_args(arguments)
    graph, errors = GameGraph(StateSpace(load_rules(options.rules)._replace(redeal="reshuffle"))), []
    rows: Table = [["duel", "s, exact", "games/s, simulated", "wins, exact", "simulated", "standard errors"]]
    for number, names in enumerate(DUELS):
        own, enemy = (Player(name).policy(graph.memoryless_space) for name in names)
        simulate(graph, own, enemy, 1000, number)
        times = [time.perf_counter()]
        exact = head_to_head(graph, own, enemy).win_probability
        times.append(time.perf_counter())
        batch = simulate(graph, own, enemy, options.games, number)
        first, second = np.diff([*times, time.perf_counter()])
        errors.append((batch.win_probability - exact) / batch.standard_error)
        wins = [f"{exact:.6f}", f"{batch.win_probability:.6f}", f"{errors[-1]:+.2f}"]
        rows.append([" - ".join(names), f"{first:.3f}", f"{options.games / second:,.0f}", *wins])
    print("\n".join(markdown(rows)))
    return 0 if np.abs(errors).max() <= LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())
