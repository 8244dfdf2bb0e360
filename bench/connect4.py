"""Our solver of Connect Four beside another: ``python -m bench.connect4 VERB``.

* ``sets`` makes the position sets of ``punish_fast/games/connect4_sets.py`` anew: by random play, scored by our solver.
* ``compare`` solves them with our solver and with BitBully, one thread and one core each, without books, one set after
  the other, and compares all scores. Time is that of the process. Both start each set with an empty table.
* ``empty`` proves who wins on the empty board, and by which first move; ``empty --exact`` finds the scores too. Either
  fails if the opening book says anything else.
* ``moves`` tells how long a perfect player takes for its first move after the opening book, with an empty table.

BitBully (``bitbully`` on PyPI, of the extra ``bench``) is another program, and no part of this one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.tables import markdown
from punish_fast.games import connect4_sets
from punish_fast.games.connect4 import N_SQUARES, WIDTH, Connect4, Connect4State
from punish_fast.games.connect4_book import opening_book
from punish_fast.games.connect4_oracle import Connect4Oracle
from punish_fast.games.connect4_sets import FULL, SETS, STONES, PositionSet, position_sets, set_of
from punish_fast.games.connect4_solver import Connect4Solver, compile_search, plies_to_end, value_of
from punish_fast.runtime._jit import set_threads

_GAME = Connect4()
_SIZE = 1000
# MB of the table for the empty board.
_MEMORY = 2048


def random_position(generator: random.Random, n_stones: int) -> Connect4State | None:
    """A position after random moves; None if the game is over then, or won with the next stone."""
    state = _GAME.initial()
    while state.n_stones < n_stones and not _GAME.is_terminal(state):
        state = _GAME.apply(state, generator.choice(_GAME.actions(state)))
    is_won = any(_GAME.is_win(state, action) for action in _GAME.actions(state))
    return None if state.n_stones < n_stones or _GAME.is_terminal(state) or is_won else state


def make_sets(size: int = _SIZE, seed: int = 0) -> dict[str, PositionSet]:
    """Sets of different positions."""
    generator, solver = random.Random(seed), Connect4Solver()
    found: dict[str, dict[Connect4State, list[int]]] = {name: {} for name in SETS}
    ranges = list(STONES.values())
    while any(len(each) < size for each in found.values()):
        state = random_position(generator, generator.randint(*generator.choice(ranges)))
        if state is None:
            continue
        name = set_of(state.n_stones, plies_to_end(state, solver.solve(state)[0]))
        if name is not None and len(found[name]) < size and state not in found[name]:
            found[name][state] = [FULL if each is None else each for each in solver.score_moves(state).scores]
    return {
        name: PositionSet(np.array(list(each), dtype=np.uint64), np.array(list(each.values()), dtype=np.int8))
        for name, each in found.items()
    }


def save_sets(sets: dict[str, PositionSet], path: Path = connect4_sets.FILE) -> None:
    """Write the sets where `position_sets` reads them."""
    arrays: dict[str, Any] = {}
    for name, each in sets.items():
        arrays |= {f"{name}/boards": each.boards, f"{name}/scores": each.scores}
    np.savez_compressed(path, **arrays)


def timed(solve: Callable[[], list[int]]) -> tuple[list[int], float]:
    """Scores, and the seconds of this process that they took."""
    begin = time.process_time()
    scores = solve()
    return scores, time.process_time() - begin


def our_solver(states: Sequence[Connect4State]) -> Callable[[], list[int]]:
    """Our solver on positions."""
    solver = Connect4Solver()

    def solve() -> list[int]:
        scores: list[int] = solver.solve_many(states).score.tolist()
        return scores

    return solve


def bitbully_solver(states: Sequence[Connect4State]) -> Callable[[], list[int]]:
    """BitBully on positions, which it is given as lists of stones by column from the bottom."""
    from bitbully import bitbully_core

    boards = []
    for state in states:
        board = bitbully_core.BoardCore()
        if not board.setBoard(columns_of(state)):
            raise ValueError(f"{_GAME.text(state)}: BitBully takes no such position")
        boards.append(board)
    core = bitbully_core.BitBullyCore()
    return lambda: [core.mtdf(board, first_guess=0) for board in boards]


def columns_of(state: Connect4State) -> list[list[int]]:
    """The stones of each column from the bottom: 1 for the first player, 2 for the second, 0 for none."""
    rows = list(reversed([_GAME.board(state, 0)["cells"][row : row + WIDTH] for row in range(0, N_SQUARES, WIDTH)]))
    return [list(column) for column in zip(*rows, strict=True)]


def compare(names: Sequence[str], size: int) -> int:
    """Print a table of both solvers; return how many scores differ."""
    rows = [["set", "positions", "other scores", "ours, ms", "BitBully, ms", "ratio"]]
    different = 0
    for name in names:
        states = position_sets()[name].states[:size]
        scores, other_seconds = timed(bitbully_solver(states))
        ours, seconds = timed(our_solver(states))
        wrong = sum(a != b for a, b in zip(ours, scores, strict=True))
        different += wrong
        means = [each / len(states) * 1000 for each in (seconds, other_seconds)]
        ratio = f"{seconds / other_seconds:.3f}"
        rows.append([name, str(len(states)), str(wrong), *(f"{mean:.4f}" for mean in means), ratio])
    print("\n".join(markdown(rows)))
    return different


def report(state: Connect4State, exact: bool) -> int:
    """Print the value of a position, and of each move; return how many of them the opening book has otherwise."""
    solver = Connect4Solver(_MEMORY)
    begin = time.process_time()
    score, nodes = solver.solve(state, exact)
    seconds = time.process_time() - begin
    print(f"{_GAME.text(state)}: {score if exact else value_of(score)}, {nodes:,} nodes, {seconds:.1f} s of one core")
    scores, nodes = solver.score_moves(state, exact)
    words = ["-" if each is None else str(each) if exact else value_of(each) for each in scores]
    seconds = time.process_time() - begin
    print(f"columns 1 to 7: {', '.join(words)}, {nodes:,} nodes more, {seconds:.1f} s in all")
    after = {action: _GAME.apply(state, action) for action in _GAME.actions(state)}
    found = [(state, score), *((after[action], -score) for action, score in enumerate(scores) if score is not None)]
    known = [(opening_book().score(each), score) for each, score in found]
    return sum(a is not None and (a if exact else np.sign(a)) != b for a, b in known)


def time_moves(size: int, seed: int = 0) -> None:
    """Print how long the moves after the opening book take, in both seats."""
    generator, book = random.Random(seed), opening_book()
    for seat in range(_GAME.n_players):
        last = max(state.n_stones for state in book.columns if state.n_stones % 2 == seat)
        edge = sorted(state for state in book.columns if state.n_stones == last)
        seconds = []
        for state in generator.sample(edge, min(size, len(edge))):
            answer = _GAME.apply(state, book.columns[state])
            if _GAME.is_terminal(answer):
                continue
            after = _GAME.apply(answer, generator.choice(_GAME.actions(answer)))
            if not _GAME.is_terminal(after):
                oracle, begin = Connect4Oracle(_GAME), time.perf_counter()
                oracle.best_action(after)
                seconds.append(time.perf_counter() - begin)
        mean, most = sum(seconds) / max(len(seconds), 1), max(seconds, default=0)
        print(f"player {seat + 1}, {last + 2} stones: {len(seconds):,} moves, {mean:.3f} s each, {most:.2f} s at most")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; 1 if scores differ from those of another solver or the book."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("verb", choices=("sets", "compare", "empty", "moves"))
    parser.add_argument("names", nargs="*", default=list(SETS), metavar="SET", help="the sets to compare")
    parser.add_argument("--size", type=int, default=_SIZE, help="positions of each set")
    parser.add_argument("--exact", action="store_true", help="the exact score of the empty board")
    options = parser.parse_args(arguments)
    set_threads(1)
    # Before the clock runs.
    compile_search()
    if options.verb == "sets":
        save_sets(make_sets(options.size))
    elif options.verb == "compare":
        return int(compare(options.names, options.size) > 0)
    elif options.verb == "moves":
        time_moves(options.size)
    else:
        return int(report(_GAME.initial(), options.exact) > 0)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
