"""Compare our solver of Connect Four with BitBully: ``python -m bench.connect4 VERB``.

* ``compare`` solves sets of positions with both solvers and compares all scores. Each solver uses one thread, no
  opening book and an empty transposition table for each set. Times are processor times.
* ``empty`` computes which player wins from the empty board, and with which first moves. ``empty --exact`` also computes
  the scores. Both fail if the opening book disagrees.

The dependency group ``bench`` includes BitBully, the package ``bitbully`` on PyPI.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench.report import markdown
from punish_fast.games.connect4.game import N_SQUARES, WIDTH, Connect4, Connect4State
from punish_fast.games.connect4.known_scores import SETS, position_sets
from punish_fast.games.connect4.oracle import opening_book
from punish_fast.games.connect4.search import Connect4Solver, compile_search, value_of
from punish_fast.runtime._jit import set_threads

_GAME = Connect4()
# Size of the transposition table for the empty board, in MB.
_MEMORY = 2048


def timed(solve: Callable[[], list[int]]) -> tuple[list[int], float]:
    """Call ``solve`` and return its scores and the processor time in seconds."""
    begin = time.process_time()
    scores = solve()
    return scores, time.process_time() - begin


def our_solver(states: Sequence[Connect4State]) -> Callable[[], list[int]]:
    """Return a function that solves positions with our solver."""
    solver = Connect4Solver()

    def solve() -> list[int]:
        scores: list[int] = solver.solve_many(states).score.tolist()
        return scores

    return solve


def bitbully_solver(states: Sequence[Connect4State]) -> Callable[[], list[int]]:
    """Return a function that solves positions with BitBully."""
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
    """Return the cells of each column from the bottom: 1 or 2 for a stone of that player, 0 for an empty cell."""
    rows = list(reversed([_GAME.board(state, 0)["cells"][row : row + WIDTH] for row in range(0, N_SQUARES, WIDTH)]))
    return [list(column) for column in zip(*rows, strict=True)]


def compare(names: Sequence[str], size: int) -> int:
    """Print the times of both solvers and return the number of scores that differ."""
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
    """Print the value of a position and of each move. Return the number of values that differ from the opening book."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code: 1 if scores differ from BitBully or the book, otherwise 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("verb", choices=("compare", "empty"))
    parser.add_argument("names", nargs="*", default=list(SETS), metavar="SET", help="the sets to compare")
    parser.add_argument("--size", type=int, default=1000, help="positions of each set")
    parser.add_argument("--exact", action="store_true", help="the exact score of the empty board")
    options = parser.parse_args(arguments)
    set_threads(1)
    # Compile now, so that compiling is not timed.
    compile_search()
    if options.verb == "compare":
        return int(compare(options.names, options.size) > 0)
    return int(report(_GAME.initial(), options.exact) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
