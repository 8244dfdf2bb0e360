"""Speed of games and duels: ``python -m bench.rates [GAME ...] [duels]``.

*Games* are games per second on one core, with random moves. They are played in batches, as during training, by
``legal`` and ``step`` of a `VectorGame`. New games replace finished games, and a batch fits into the cache. Whole games
of Gwent Lite run in one kernel, with the default deck, at random and also by the rule of thumb. Rates are per second of
processor time of all threads, and the best of three runs is reported.

*Duels* are duels of Punish: seconds of exact evaluation, and simulated games per second on all cores. The simulated
share of wins must be within four standard errors of the exact probability. The standard error is computed from pairs of
games with the same cards and swapped seats.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from bench import _rates
from bench.report import Table, markdown
from punish_fast.arena.players import Player
from punish_fast.duel.evaluation import head_to_head, simulate
from punish_fast.duel.graph import GameGraph
from punish_fast.games.contract import VectorGame
from punish_fast.games.gwent.decks import DEFAULT_DECK, deck_rows
from punish_fast.games.gwent.movers import play_games
from punish_fast.games.registry import make_game, vector_game
from punish_fast.punish.rules import load_rules
from punish_fast.punish.states.space import StateSpace

GAMES = ("tictactoe", "connect4", "gwent")
DUELS = (("random", "naive"), ("naive", "naive@0.1"), ("naive@0.5", "random"), ("careful", "punisher"))
LIMIT = 4.0
# Number of games in a batch.
_BATCH = 4096

# Numbers of finished games, of moves, and of games that the first player won.
Counts = tuple[int, int, int]


def vector_games(vector: VectorGame) -> Callable[[int], Counts]:
    """Return a function that plays one random move in each game of a batch."""
    generator, begin = np.random.default_rng(0), vector.initial(_BATCH)
    states, action = begin.copy(), np.empty(_BATCH, dtype=np.int64)
    share = np.empty(_BATCH, dtype=np.float32)

    def step(_: int) -> Counts:
        nonlocal states
        generator.random(out=share, dtype=np.float32)
        _rates.choose(vector.legal(states), share, action)
        states, returns, ended = vector.step(states, action)
        states[ended] = begin[ended]
        return int(np.count_nonzero(ended)), _BATCH, int(np.count_nonzero(returns[:, 0] > 0))

    return step


def gwent_games(policy: str, seed: int) -> Counts:
    """Play a batch of Gwent Lite games between two players with the same policy."""
    batch = play_games(deck_rows([DEFAULT_DECK] * 2)[np.newaxis], [policy] * 2, _BATCH, seed)
    return len(batch.moves), int(batch.moves.sum()), int(np.count_nonzero(batch.returns > 0))


def runs_of(name: str) -> dict[str, Callable[[int], Counts]]:
    """Return the functions to measure for a game, by title of the row."""
    if name == "gwent":
        titles = {"at random": "random", "rule of thumb": "rule-of-thumb"}
        return {f"{name}, {how}": partial(gwent_games, policy) for how, policy in titles.items()}
    return {name: vector_games(vector_game(make_game(name, {})))}


def row_of(title: str, run: Callable[[int], Counts], seconds: float) -> list[str]:
    """Return the table's row with the best of three measurements, after a first call that compiles."""
    run(0)
    best, first = [0.0, 0.0], 0.0
    for number in range(3):
        totals, clock = np.zeros(3), time.process_time()
        while (passed := time.process_time() - clock) < seconds:
            totals += run((number << 32) + int(totals[0]))
        rates = (totals[:2] / passed / 1e6).tolist()
        if rates >= best:
            best, first = rates, totals[2] / max(totals[0], 1)
    return [title, *(f"{rate:.2f}" if rate else "-" for rate in best), f"{first:.3f}"]


def measure_duels(rules: str, n_games: int) -> tuple[Table, bool]:
    """Time exact and simulated duels. Return the table, and True if their win probabilities agree."""
    graph = GameGraph(StateSpace(load_rules(rules)._replace(redeal="reshuffle")))
    rows: Table = [["duel", "s, exact", "games/s, simulated", "wins, exact", "simulated", "standard errors"]]
    agrees = True
    for number, names in enumerate(DUELS):
        own, enemy = (Player(name).policy(graph.memoryless_space) for name in names)
        simulate(graph, own, enemy, 1000, number)
        times = [time.perf_counter()]
        exact = head_to_head(graph, own, enemy).win_probability
        times.append(time.perf_counter())
        batch = simulate(graph, own, enemy, n_games, number)
        times.append(time.perf_counter())
        error = (batch.win_probability - exact) / batch.standard_error
        agrees = agrees and abs(error) <= LIMIT
        first, second = np.diff(times)
        wins = [f"{exact:.6f}", f"{batch.win_probability:.6f}", f"{error:+.2f}"]
        rows.append([" - ".join(names), f"{first:.3f}", f"{n_games / second:,.0f}", *wins])
    return rows, agrees


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurements and print their tables. Return 1 if simulated and exact duels disagree, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("names", nargs="*", default=[*GAMES, "duels"], metavar="NAME", help="games, or duels")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of each run of a game")
    parser.add_argument("--games", type=int, default=1_000_000, metavar="N", help="simulated games of each duel")
    parser.add_argument("--rules", default="tabletop", metavar="R", help="rules of the duels (default: tabletop)")
    options = parser.parse_args(arguments)
    games, agrees = [name for name in options.names if name != "duels"], True
    if games:
        rows = [row_of(title, run, options.seconds) for name in games for title, run in runs_of(name).items()]
        head = ["game", "million games/s", "million moves/s", "won by the first player"]
        print("\n".join(markdown([head, *rows])), end="\n\n")
    if "duels" in options.names:
        table, agrees = measure_duels(options.rules, options.games)
        print("\n".join(markdown(table)))
    return 0 if agrees else 1


if __name__ == "__main__":
    raise SystemExit(main())
