"""Whether simulated games agree with exact duels: ``python -m bench.simulation``.

Both know the rules from the same graph, but one walks it game by game with random numbers, the other works with
probabilities. For each of a dozen pairs of policies, among them softmax ones and tables of random numbers, some ten
million games are played. Then the share of wins, and the share of games of each length, may be off by four standard
errors at the most,

    |k / n - p|  <=  4 sqrt(p (1 - p) / n),

and so may Pearson's chi-square of the lengths by four of its standard deviations. Games are not paired, so all of
them are independent. Lengths that are rare are counted together.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.tables import markdown
from punish_fast.arena.players import Player
from punish_fast.duel.exact_evaluation import head_to_head, outcome_distribution
from punish_fast.duel.graph import Graph
from punish_fast.duel.simulated_evaluation import simulate
from punish_fast.punish.rules import load_rules
from punish_fast.punish.space import StateSpace

LIMIT = 4.0
PAIRS = (
    ("random", "random"),
    ("random", "naive"),
    ("naive", "naive@0.1"),
    ("naive@0.02", "punisher"),
    ("naive@0.1", "aggressive"),
    ("naive@0.5", "random"),
    ("careful", "punisher"),
    ("table 1", "table 2"),
    ("table 2", "table 3"),
    ("table 3", "naive"),
    ("table 1", "naive@0.1"),
    ("aggressive", "table 2"),
)
# Fewer games than this are expected of lengths that are counted together.
_FEW = 25
_REST = 1e-9
# The smaller, the more a table of random numbers prefers few of the actions.
_SHAPE = 0.4


@dataclass(frozen=True)
class Agreement:
    """How games of two policies compare with their exact duel.

    Attributes:
        exact: The exact chance to win.
        played: The share of games won.
        wins: How far these are apart, in standard errors.
        length: How far the share of the games of some length is off at the most, in standard errors.
        chi_square: Of the lengths.
        freedom: Its degrees of freedom.
        seconds: How long the games took.
    """

    exact: float
    played: float
    wins: float
    length: float
    chi_square: float
    freedom: int
    seconds: float

    @property
    def surprise(self) -> float:
        """How far the chi-square is above its mean, in standard deviations."""
        return (self.chi_square - self.freedom) / float(np.sqrt(2 * max(self.freedom, 1)))

    @property
    def ok(self) -> bool:
        """Whether nothing is further off than chance allows."""
        return max(abs(self.wins), self.length, self.surprise) <= LIMIT


def agreement(graph: Graph, own: np.ndarray, enemy: np.ndarray, n_games: int, seed: int) -> Agreement:
    """Play games of two policies and compare.

    Args:
        graph: The game.
        own: float64 ``[n_rows]``, the own policy.
        enemy: float64 ``[n_rows]``, the enemy's.
        n_games: How many games.
        seed: From 0 to 2^64 - 1.

    Raises:
        DuelError: a policy is none, or a game may never end.
    """
    begin = time.perf_counter()
    batch = simulate(graph, own, enemy, n_games, seed, paired=False)
    seconds = time.perf_counter() - begin
    exact = head_to_head(graph, own, enemy).win_probability
    law = outcome_distribution(graph, own, enemy, _REST).sum(axis=2).ravel()
    found, p = _classes(batch.lengths[1:], law, n_games)
    off = (found / n_games - p) / np.sqrt(p * (1 - p) / n_games)
    return Agreement(
        exact=exact,
        played=batch.win_probability,
        wins=float((batch.win_probability - exact) / np.sqrt(exact * (1 - exact) / n_games)),
        length=float(np.abs(off).max()),
        chi_square=float(((found - n_games * p) ** 2 / (n_games * p)).sum()),
        freedom=len(p) - 1,
        seconds=seconds,
    )


def _classes(lengths: np.ndarray, law: np.ndarray, n_games: int) -> tuple[np.ndarray, np.ndarray]:
    """Games by length and their probabilities; rare lengths make one class."""
    size = max(len(lengths), len(law))
    found, p = (np.pad(array, (0, size - len(array))).astype(np.float64) for array in (lengths, law))
    often = n_games * p >= _FEW
    rest_found, rest = found[~often].sum(), 1 - p[often].sum()
    if n_games * rest < _FEW:
        # Too rare even together: they join the rarest class that is not.
        last = np.flatnonzero(often)[np.argmin(p[often])]
        found[last] += rest_found
        p[last] += rest
        return found[often], p[often]
    return np.append(found[often], rest_found), np.append(p[often], rest)


def policy(space: StateSpace, name: str) -> np.ndarray:
    """What plays under a name: a table of random numbers, or one of the arena's opponents."""
    kind, _, seed = name.partition(" ")
    if kind != "table":
        return Player(name).policy(space)
    weight = np.random.default_rng(int(seed)).gamma(_SHAPE, size=len(space.action))
    return np.asarray(weight / np.repeat(np.add.reduceat(weight, space.state_ptr[:-1]), np.diff(space.state_ptr)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 if games and duels do not agree."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulation", description="Simulated games and exact duels.")
    parser.add_argument("--games", type=int, default=10_000_000, metavar="N", help="for each pair (default: 10000000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="(default: 1)")
    parser.add_argument("--rules", default="tabletop", metavar="R", help="a preset or a TOML file (default: tabletop)")
    options = parser.parse_args(arguments)
    graph = Graph(StateSpace(load_rules(options.rules)._replace(redeal="reshuffle")))
    policies = {name: policy(graph.view, name) for pair in PAIRS for name in pair}
    table = [["", "wins, exact", "played", "off by", "lengths off by", "chi-square", "of", "games/s"]]
    ok = True
    for k, (own, enemy) in enumerate(PAIRS):
        found = agreement(graph, policies[own], policies[enemy], options.games, options.seed + k)
        ok = ok and found.ok
        table.append(_row(f"{own}, {enemy}", found, options.games))
        print(" ".join(table[-1]), file=sys.stderr, flush=True)
    print("\n".join(markdown(table)))
    print(f"\n{options.games:,} games a pair: {'all agree' if ok else 'NOT all agree'}, by {LIMIT:g} standard errors")
    return 0 if ok else 1


def _row(name: str, found: Agreement, n_games: int) -> list[str]:
    return [
        name,
        f"{found.exact:.6f}",
        f"{found.played:.6f}",
        f"{found.wins:+.2f}",
        f"{found.length:.2f}",
        f"{found.chi_square:.1f}",
        f"{found.freedom}",
        f"{n_games / found.seconds:,.0f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
