"""Random games a second on one core: ``python -m bench.playouts [GAME ...]``.

Plays many games at once the way a learner does, by ``legal`` and ``step`` of a `VectorGame`; a game that ends begins
anew. The batch fits the cache. Time is that of the process, which has one thread; the best of three runs counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench import _playouts
from bench.tables import markdown
from punish_fast.games.contract import VectorGame
from punish_fast.games.registry import make_game, vectorise

GAMES = ("tictactoe", "connect4")
# Games at once.
_BATCH = 4096


@dataclass(frozen=True)
class Speed:
    """Random games.

    Attributes:
        games: Games finished.
        moves: Moves made.
        seconds: The time of one core that they took.
        first: The share of games that the first player won.
    """

    games: int
    moves: int
    seconds: float
    first: float


def play(vector: VectorGame, seconds: float, seed: int = 0) -> Speed:
    """Play random games for some seconds."""
    generator = np.random.default_rng(seed)
    begin = vector.initial(_BATCH)
    states, action = begin.copy(), np.empty(_BATCH, dtype=np.int64)
    share = np.empty(_BATCH, dtype=np.float32)
    games = moves = won = 0
    clock = time.process_time()
    while (passed := time.process_time() - clock) < seconds:
        generator.random(out=share, dtype=np.float32)
        _playouts.choose(vector.legal(states), share, action)
        states, returns, ended = vector.step(states, action)
        games += int(np.count_nonzero(ended))
        won += int(np.count_nonzero(returns[:, 0] > 0))
        moves += _BATCH
        states[ended] = begin[ended]
    return Speed(games, moves, passed, won / max(games, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure games, three times each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME", help="names of games")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of each run")
    options = parser.parse_args(arguments)
    rows = [["game", "million games/s", "million moves/s", "won by the first player"]]
    for name in options.games:
        vector = vectorise(make_game(name, {}))
        play(vector, 0.01)
        runs = [play(vector, options.seconds, seed) for seed in range(3)]
        best = max(runs, key=lambda run: run.games / run.seconds)
        millions = [count / best.seconds / 1e6 for count in (best.games, best.moves)]
        rows.append([name, *(f"{number:.2f}" for number in millions), f"{best.first:.3f}"])
    print("\n".join(markdown(rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
