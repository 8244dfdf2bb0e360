"""Random games a second on one core: ``python -m bench.playouts [GAME ...]``.

Plays many games at once the way a learner does, by ``legal`` and ``step`` of a `VectorGame`; a game that ends begins
anew. The batch fits the cache. Whole games of Incan Gold run in one kernel, at random and with a threshold, and those
of Gwent Lite with the default deck, at random and by the rule of thumb. Time is that of all threads of the process
together; the best of three runs counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench import _playouts
from bench.tables import markdown
from punish_fast.games import gwent_playouts
from punish_fast.games.contract import VectorGame
from punish_fast.games.gwent_decks import DEFAULT_DECK, deck_rows
from punish_fast.games.incan_gold_playouts import play_games, random_policy, threshold_policy
from punish_fast.games.registry import make_game, vectorise

GAMES = ("tictactoe", "connect4", "incan-gold", "gwent")
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


def play_incan_gold(policy: np.ndarray, seconds: float, seed: int = 0) -> Speed:
    """Play games of Incan Gold between three players of a policy for some seconds; moves are not counted."""
    games = won = 0
    clock = time.process_time()
    while (passed := time.process_time() - clock) < seconds:
        points = play_games([policy] * 3, 16 * _BATCH, seed + games)
        games += len(points)
        won += int(np.count_nonzero(points[:, 0] > points[:, 1:].max(axis=1)))
    return Speed(games, 0, passed, won / max(games, 1))


def play_gwent(policy: str, seconds: float, seed: int = 0) -> Speed:
    """Play games of Gwent Lite between two players of a policy for some seconds."""
    decks = deck_rows([DEFAULT_DECK] * 2)[np.newaxis]
    games = moves = won = 0
    clock = time.process_time()
    while (passed := time.process_time() - clock) < seconds:
        # No two runs have a seed in common.
        batch = gwent_playouts.play_games(decks, [policy] * 2, _BATCH, (seed << 32) + games)
        games += len(batch.moves)
        moves += int(batch.moves.sum())
        won += int(np.count_nonzero(batch.returns > 0))
    return Speed(games, moves, passed, won / max(games, 1))


def _runs(name: str, seconds: float) -> dict[str, Callable[[int], Speed]]:
    """What to measure of a game, by the name of its row."""
    if name == "incan-gold":
        policies = {"at random": random_policy(), "leave at 8": threshold_policy(8)}
        play_incan_gold(policies["at random"], 0.01)
        return {f"{name}, {how}": partial(play_incan_gold, policy, seconds) for how, policy in policies.items()}
    if name == "gwent":
        play_gwent("random", 0.01)
        titles = {f"{name}, at random": "random", f"{name}, rule of thumb": "rule"}
        return {title: partial(play_gwent, policy, seconds) for title, policy in titles.items()}
    vector = vectorise(make_game(name, {}))
    play(vector, 0.01)
    return {name: partial(play, vector, seconds)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure games, three times each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME", help="names of games")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of each run")
    options = parser.parse_args(arguments)
    rows = [["game", "million games/s", "million moves/s", "won by the first player"]]
    for name in options.games:
        for title, run in _runs(name, options.seconds).items():
            best = max((run(seed) for seed in range(3)), key=lambda speed: speed.games / speed.seconds)
            millions = [count / best.seconds / 1e6 for count in (best.games, best.moves)]
            rows.append([title, *(f"{number:.2f}" if number else "-" for number in millions), f"{best.first:.3f}"])
    print("\n".join(markdown(rows)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
